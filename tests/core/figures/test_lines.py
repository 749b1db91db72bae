"""Each line is drawn at its numbers, distinguishable, and pale where it rests on few rows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from calib_core.edges import Scheme
from calib_core.figures.layout import Figure
from calib_core.figures.lines import (
    MAX_BINS_AS_BARS,
    allows_bars,
    describe_lines,
    lines_figure,
    styles_by_line,
)
from calib_core.figures.palette import DARK, LIGHT, method_style, run_style
from calib_core.results.evidence import Evidence, gather_evidence
from calib_core.results.lines import ReliabilityLines, reliability_lines
from core.comparison_runs import model_run
from core.run_builders import block_evidence, given_evidence, make_answer_run

TWO = {
    "a": block_evidence((0.95, 100, 60), (0.55, 80, 50), (0.15, 10, 3)),
    "b": block_evidence((0.45, 50, 20), (0.75, 40, 30)),
}


def two_lines(**more: Any) -> ReliabilityLines:
    return reliability_lines(TWO, titles={"a": "first", "b": "second"}, **more)


def marks(figure: Figure, key: str) -> list[dict[str, Any]]:
    return [trace for trace in figure["data"] if trace.get("meta", {}).get("line") == key]


def shares(figure: Figure, key: str) -> dict[str, Any]:
    return next(trace for trace in figure["data"] if trace.get("meta", {}).get("shares") == key)


def test_one_point_per_bin_at_confidence_and_accuracy_and_the_hover_counts() -> None:
    lines = two_lines()
    figure = lines_figure(lines, LIGHT)
    for line in lines.lines:
        points = {
            (own[1], x, y)
            for trace in marks(figure, line.key)
            for own, x, y in zip(trace["customdata"], trace["x"], trace["y"], strict=True)
        }
        table = line.result.table
        assert points == {
            (bin_, round(confidence, 5), round(accuracy, 5))
            for bin_, confidence, accuracy in table.select("bin", "confidence", "accuracy").iter_rows()
        }
    text = "\n".join(marks(figure, "a")[0]["hovertext"])
    assert "<b>first</b>" in text
    assert "90–100 % (0.9, 1]: 100 rows" in text


def test_thin_bins_are_hollow_small_and_the_line_to_them_is_pale() -> None:
    figure = lines_figure(two_lines(), LIGHT)
    full, thin = marks(figure, "a")
    assert [trace["meta"]["thin"] for trace in (full, thin)] == [False, True]
    assert thin["marker"]["symbol"] == f"{full['marker']['symbol']}-open"
    assert thin["marker"]["size"] < full["marker"]["size"]
    assert [own[1] for own in thin["customdata"]] == [2]
    paths = [
        trace
        for trace in figure["data"]
        if trace.get("mode") == "lines" and 0.15 in trace["x"] and trace.get("yaxis") != "y2"
    ]
    (pale,) = paths
    assert pale["line"]["color"] != full["marker"]["color"]
    strong = [
        trace for trace in figure["data"] if trace.get("mode") == "lines" and trace["x"][:2] == [0.55, 0.95]
    ]
    assert strong[0]["line"]["color"] == full["marker"]["color"]
    assert strong[0]["line"]["width"] > pale["line"]["width"]


def test_the_shares_of_each_line_are_of_its_own_pairs_and_fall_to_zero_between() -> None:
    trace = shares(lines_figure(two_lines(), LIGHT), "b")
    assert trace["x"] == [0.4, 0.4, 0.5, 0.5, 0.7, 0.7, 0.8, 0.8]
    assert trace["y"] == pytest.approx([0, 50 / 90, 50 / 90, 0, 0, 40 / 90, 40 / 90, 0], abs=1e-6)


def test_the_legend_has_what_differs_and_the_number() -> None:
    figure = lines_figure(two_lines(), LIGHT)
    names = [trace["name"] for trace in figure["data"] if trace.get("showlegend", True)]
    values = {line.key: line.result.score.value for line in two_lines().lines}
    assert names == [
        "perfect calibration",
        *(f"{title} · ECE {values[key]:.4f}" for key, title in (("a", "first"), ("b", "second"))),
    ]


def test_runs_look_as_these_runs_do_and_methods_as_these_methods_do() -> None:
    by_run = reliability_lines({f"m{right}": model_run(f"m{right}", right) for right in (60, 140)})
    looks = styles_by_line(by_run, {"m60": 4, "m140": 11}, DARK)
    assert looks == {"m60": run_style(4, DARK), "m140": run_style(11, DARK)}
    run = make_answer_run(
        {"confidence": [0.4] * 40, "verbal_confidence": [0.6] * 40, "correct": [True, False] * 20}
    )
    both = ("given", "verbal")
    of_one = reliability_lines({id_: gather_evidence(run, id_) for id_ in both})
    for id_, own in styles_by_line(of_one, dict.fromkeys(both, 4), DARK).items():
        method = method_style(id_, DARK)
        assert (own.colour, own.dash, own.symbol) == (method.colour, method.dash, method.symbol)


def test_confidences_that_a_file_names_look_different() -> None:
    columns = {f"confidence.{name}": [0.4] * 40 for name in "abcd"}
    run = make_answer_run({**columns, "correct": [True, False] * 20})
    lines = reliability_lines({name: gather_evidence(run, f"given.{name}") for name in "abcd"})
    assert len({(own.colour, own.dash, own.symbol) for own in styles_by_line(lines, {}, LIGHT).values()}) == 4


def test_where_both_differ_the_run_has_colour_and_dash_and_the_method_the_symbol() -> None:
    columns = {"confidence": [0.4] * 40, "verbal_confidence": [0.6] * 40, "correct": [True, False] * 20}
    seen: dict[str, Evidence] = {}
    for name in ("a", "b"):
        run = make_answer_run(columns, label=name)
        seen |= {f"{name}~{id_}": gather_evidence(run, id_) for id_ in ("given", "verbal")}
    looks = styles_by_line(reliability_lines(seen), {key: 2 if key < "b" else 9 for key in seen}, LIGHT)
    assert len({(own.colour, own.dash, own.symbol) for own in looks.values()}) == 4
    assert looks["a~given"].colour == looks["a~verbal"].colour == run_style(2, LIGHT).colour
    assert looks["a~given"].symbol == looks["b~given"].symbol == method_style("given", LIGHT).symbol
    assert looks["b~given"].dash == run_style(9, LIGHT).dash


def test_a_chosen_line_is_broader() -> None:
    plain, chosen = (lines_figure(two_lines(), LIGHT, selected=key) for key in (None, "b"))
    widths = [
        [t["line"]["width"] for t in figure["data"] if t.get("mode") == "lines+markers"]
        for figure in (plain, chosen)
    ]
    assert widths[0][0] == widths[0][1] == widths[1][0] < widths[1][1]


@pytest.mark.parametrize("scheme", [Scheme(bins=1), Scheme(bins=500), Scheme("mass"), Scheme("natural")])
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_every_binning_is_drawn_as_plain_data(scheme: Scheme, theme: Any) -> None:
    figure = lines_figure(two_lines(scheme=scheme), theme)
    assert json.loads(json.dumps(figure)) == figure
    for key in TWO:
        across = shares(figure, key)["x"]
        assert across == sorted(across)
        assert 0 <= across[0] <= across[-1] <= 1


def test_no_lines_and_undefined_numbers_are_described() -> None:
    nothing = lines_figure(reliability_lines({}), LIGHT)
    assert "None of the" in nothing["layout"]["annotations"][0]["text"]
    assert describe_lines(reliability_lines({})).endswith("None of the chosen runs can be drawn.")
    assert ".." not in describe_lines(reliability_lines({}))
    right = reliability_lines({"right": given_evidence([0.5] * 40, [1] * 40), **TWO}, "auroc")
    assert any(trace.get("name", "").endswith("AUROC –") for trace in lines_figure(right, LIGHT)["data"])
    assert "AUROC –, accuracy 100.0 %" in describe_lines(right)


def test_the_sentence_has_each_line_s_numbers() -> None:
    description = describe_lines(two_lines())
    assert description.startswith("Reliability diagram of 2 lines, confidence in the file. first: ECE ")
    assert "second: ECE" in description
    assert "accuracy 55.6 %, mean confidence 58.3 %, 90 used, 2 bins" in description


def test_names_from_files_are_drawn_letter_by_letter() -> None:
    hostile = reliability_lines(TWO, titles={"a": "<b>x</b>", "b": "y&z"})
    words = json.dumps(lines_figure(hostile, LIGHT))
    assert "<b>x</b>" not in words.replace("<b>&lt;b&gt;x", "")
    assert "&lt;b&gt;x&lt;/b&gt;" in words
    assert "y&amp;z" in words


def test_bars_of_one_bin_stand_side_by_side_within_it() -> None:
    lines = two_lines()
    figure = lines_figure(lines, LIGHT, as_bars=True)
    spans: list[tuple[float, float]] = []
    for line in lines.lines:
        (bars,) = marks(figure, line.key)
        table = line.result.table
        assert (bars["type"], bars["y"]) == ("bar", [round(value, 5) for value in table["accuracy"]])
        assert bars["x"] == [round(value, 5) for value in table["low"]]
        assert [own[1] for own in bars["customdata"]] == table["bin"].to_list()
        spans.append((bars["offset"], bars["offset"] + bars["width"]))
    (first, second) = spans
    assert 0 < first[0] < first[1] == pytest.approx(second[0])
    assert second[1] < 0.1
    (a,), (b,) = marks(figure, "a"), marks(figure, "b")
    assert a["marker"]["pattern"]["shape"] != b["marker"]["pattern"]["shape"]
    thin, *_, full = a["marker"]["color"]
    assert thin != full
    assert shares(figure, "a")["y"] == shares(lines_figure(lines, LIGHT), "a")["y"]


def test_bars_need_shared_bins_and_not_too_many() -> None:
    assert allows_bars(two_lines())
    assert not allows_bars(two_lines(scheme=Scheme("mass")))
    assert not allows_bars(two_lines(scheme=Scheme("width", MAX_BINS_AS_BARS + 1)))
