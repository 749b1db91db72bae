"""The Python interface in a notebook: tables and arrays go in, results show themselves."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import polars as pl
import pyarrow as pa
import pytest

import calib_core
from calib_core import notebook
from calib_core.errors import BadRowsFound, Refused, Unavailable
from calib_core.methods import METHODS
from calib_core.results.display import Displayable
from calib_core.results.evidence import gather_evidence
from calib_core.results.overview import summarise_runs
from calib_core.runs import Run, TokenRun
from core.cli_calls import Call
from core.run_builders import make_answer_run

ROWS = [
    {"id": "a", "confidence": 0.95, "correct": 1},
    {"id": "b", "confidence": 0.9, "correct": 0},
    {"id": "c", "confidence": 0.55, "correct": 1},
]
PROBS = {"probs": np.array([[0.5, 0.5], [0.25, 0.75], [0.9, 0.1]]), "target": np.array([0, 1, 1])}
TOP_TWO = pl.DataFrame(
    {
        "top_logprobs": [[-0.1, -3.0], [-0.5, -1.5]],
        "top_ids": [[3, 4], [1, 2]],
        "target": [3, 2],
        "vocab_size": [10, 10],
    }
)
ECE = (0.05 + 0.9 + 0.45) / 3  # 0.95 and 0.9 lie in different bins, (0.9, 1] and (0.8, 0.9]


def columns(kind: Callable[[list[Any]], Any] = list) -> dict[str, Any]:
    return {name: kind([row[name] for row in ROWS]) for name in ROWS[0]}


@pytest.mark.parametrize(
    "source",
    [
        ROWS,
        iter(ROWS),
        columns(),
        columns(np.array),
        pd.DataFrame(ROWS, index=["x", "y", "z"]),
        pl.DataFrame(ROWS),
        pa.table(columns()),
    ],
    ids=["dicts", "iterator", "lists", "arrays", "pandas", "polars", "arrow"],
)
def test_a_table_is_read_as_a_file_is(source: Any) -> None:
    (run,) = calib_core.load(source, name="quiz")
    assert run.label == "quiz"
    assert calib_core.score(run, metric="ece").value == pytest.approx(ECE)
    assert calib_core.score(run, metric="ece").n_used == 3


@pytest.mark.parametrize(
    ("given", "suffix", "write"),
    [
        (ROWS, "jsonl", lambda rows, path: path.write_text("\n".join(map(json.dumps, rows)))),
        (pl.DataFrame(ROWS), "parquet", lambda frame, path: frame.write_parquet(path)),
        (PROBS, "npz", lambda arrays, path: np.savez(path, **arrays)),
        (TOP_TWO, "parquet", lambda frame, path: frame.write_parquet(path)),
    ],
    ids=["dicts", "frame", "arrays", "top entries"],
)
def test_what_is_in_memory_is_read_in_this_process_as_a_file_is(
    given: Any,
    suffix: str,
    write: Callable[[Any, Path], object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / f"data.{suffix}"
    write(given, path)
    (of_file,) = calib_core.load(path)
    monkeypatch.setattr("calib_core.readers.read_in_worker", None)
    monkeypatch.setattr("calib_core.api.TemporaryDirectory", None)
    (run,) = calib_core.load(given)
    assert of_file.info == run.info
    assert calib_core.score(run, metric="brier") == replace(
        calib_core.score(of_file, metric="brier"), run=run.label
    )
    if not isinstance(run, TokenRun):
        assert not isinstance(of_file, TokenRun)
        assert run.rows.equals(of_file.rows)


def test_arrays_go_in_by_name_and_keep_their_type() -> None:
    (run,) = calib_core.load(confidence=np.array([0.9, 0.1], dtype=np.float32), correct=[True, False])
    assert not isinstance(run, TokenRun)
    assert run.rows["confidence"].dtype == pl.Float32
    assert run.label == "data"


def test_lists_in_a_column_are_choices() -> None:
    probs = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]])
    (run,) = calib_core.load({"choice_probs": probs, "gold": [0, 2]})
    assert calib_core.score(run, metric="accuracy").value == 0.5
    assert calib_core.score(run, metric="cw_ece").n_used == 2


@pytest.mark.parametrize("name", ["probs", "logprobs", "logits"])
def test_distributions_over_classes_are_a_token_level_run(name: str) -> None:
    probs = np.array([[0.5, 0.5], [0.25, 0.75]])
    values = probs if name == "probs" else np.log(probs)
    (run,) = calib_core.load({name: values, "target": np.array([0, 1])})
    assert isinstance(run, TokenRun)
    assert calib_core.score(run, metric="nll").value == pytest.approx(-np.log([0.5, 0.75]).mean(), abs=1e-6)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (5, "cannot be read as a table: 'int' object is not iterable"),
        ([1, 2], "cannot be read as a table: 'int' object is not iterable"),
        (
            {"confidence": [0.5], "correct": [1, 0]},
            "the columns differ in length: confidence 1 and correct 2",
        ),
        ([{"confidence": object(), "correct": 1}], "object is not a number, text, list or dict"),
        (
            pd.DataFrame({"confidence": [0.5, 0.5], "correct": [1, True]}),
            "The column 'correct' cannot be read",
        ),
        ([], "is empty"),
    ],
)
def test_what_is_no_table_is_refused(source: Any, message: str) -> None:
    with pytest.raises(Refused, match=re.escape(message)):
        calib_core.load(source)


@pytest.mark.parametrize(
    ("source", "keywords"),
    [
        ({"sure": [0.5, 0.7, 0.9], "fine": [1, 0, 1]}, 'columns={"COLUMN": "confidence"}'),
        (
            {"confidence": [50.0, 70.0, 90.0], "correct": [1, 0, 1]},
            'columns={"confidence": "confidence/100"}',
        ),
        (
            {"probs": np.full((4, 3), 1 / 3), "labels": [0, 1, 2, 0]},
            'columns={"labels": "target"} or columns=',
        ),
        ([{"a": {"b": 0.5}, "ok": 1}], 'columns={"COLUMN": "confidence"}'),
    ],
)
def test_a_refusal_names_keywords_and_no_options(source: Any, keywords: str) -> None:
    with pytest.raises(Refused, match=re.escape(keywords)) as refused:
        calib_core.load(source)
    assert " --" not in str(refused.value)


def test_a_reading_that_is_proposed_can_be_pasted() -> None:
    rows = [{"my confidence": 0.1 + 0.02 * at, "is ok": at % 2} for at in range(40)]
    with pytest.raises(Refused) as refused:
        calib_core.load(rows)
    (proposed,) = re.findall(r"With columns=(\{.*?\}) it loads", str(refused.value))
    (run,) = calib_core.load(rows, columns=json.loads(proposed))
    assert calib_core.score(run, metric="ece").n_used == 40


def test_a_bad_cell_is_found_as_in_a_file() -> None:
    rows = [*ROWS, {"id": "d", "confidence": "high", "correct": 1}]
    with pytest.raises(BadRowsFound, match=r"good rows only \(skip_bad_rows=True\)\.\n.*row 4") as refused:
        calib_core.load(rows)
    assert (refused.value.n_bad_rows, refused.value.n_rows) == (1, 4)
    (run,) = calib_core.load(rows, skip_bad_rows=True)
    assert calib_core.score(run, metric="ece").n_used == 3


@pytest.mark.parametrize("sources", [(), (ROWS, [0.5])])
def test_one_source_is_given(sources: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match="exactly one"):
        calib_core.load(*sources[:1], **({"confidence": sources[1]} if sources else {}))


def test_a_name_is_no_path(tmp_path: Path) -> None:
    (run,) = calib_core.load(ROWS, name=f"../{tmp_path.name}/x")
    assert list(tmp_path.iterdir()) == []
    assert run.label == f".._{tmp_path.name}_x"


# --- Results ------------------------------------------------------------------------------------------------


def answers(model: str, shift: float, n: int = 120) -> list[dict[str, Any]]:
    """Questions of two subjects with a stated and a sampled confidence."""
    rng = random.Random(model)  # noqa: S311  no secret
    return [
        {
            "id": f"q{number}",
            "model": model,
            "dataset": "quiz",
            "subject": "law" if number % 2 else "art",
            "verbal_confidence": round(0.5 + 0.5 * rng.random(), 2),
            "gold": "yes",
            "prediction": "yes",
            "correct": rng.random() < 0.7 - shift,
            "samples": ["yes"] * (3 + number % 5) + ["no"] * (5 - number % 5),
        }
        for number in range(n)
    ]


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    return calib_core.load([*answers("small", 0.2), *answers("large", 0.0)])


@pytest.fixture(scope="module")
def checkpoints() -> list[Run]:
    rng = np.random.default_rng(0)
    return [
        calib_core.load(
            [
                {"confidence": float(c), "correct": int(o), "model": "gpt", "checkpoint": f"step{step}"}
                for c, o in zip(rng.random(60), rng.random(60) < 0.5, strict=True)
            ]
        )[0]
        for step in (100, 200)
    ]


QUESTIONS: dict[str, Callable[[list[Run]], Displayable]] = {
    "score": lambda runs: calib_core.score(runs[0], metric="ece"),
    "verdict": lambda runs: calib_core.verdict(runs[0]),
    "reliability": lambda runs: calib_core.reliability(runs[0], bins=7),
    "concentration": lambda runs: calib_core.concentration(runs[0]),
    "sweep": lambda runs: calib_core.sweep(runs[0], metric="ece"),
    "audit": lambda runs: calib_core.audit(runs[0]),
    "recalibrate": lambda runs: calib_core.recalibrate(runs[0], by="platt"),
    "threshold": lambda runs: calib_core.threshold(runs[0], accuracy=0.4),
    "threshold_cost": lambda runs: calib_core.threshold_cost(runs[0], cost_wrong=10, cost_handed_on=1),
    "abstention": lambda runs: calib_core.abstention(runs[0]),
    "sampling": lambda runs: calib_core.sampling(runs[0], sizes=(2, 4), repeats=5),
    "compare": calib_core.compare,
    "compare_methods": calib_core.compare_methods,
    "groups": lambda runs: calib_core.groups(runs, by="subject"),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_result_shows_its_numbers_figures_and_recipe(question: str, runs: list[Run]) -> None:
    result = QUESTIONS[question](runs)
    html = result._repr_html_()  # pyright: ignore[reportPrivateUsage]  what Jupyter calls
    assert html is not None
    assert 'class="recipe"' in html
    assert result.to_frame().height > 0  # pyright: ignore[reportAttributeAccessIssue]
    headline = getattr(result, "headline", "")
    assert isinstance(headline, str)
    assert headline.replace("“", "").split(" ")[0] in html
    if question in ("score", "verdict", "compare_methods"):
        assert "canvas" not in html.partition("<article")[2].partition("</article>")[0]
        with pytest.raises(Unavailable, match="no figure"):
            result.figure()
        return
    assert 'class="canvas"' in html
    light, dark = result.figure(), result.figure("dark")
    assert isinstance(light, go.Figure)
    assert light.data
    assert light.layout.font.color != dark.layout.font.color


def test_checkpoints_are_followed(checkpoints: list[Run]) -> None:
    result = calib_core.training(checkpoints)
    assert result.metric == "ece"
    assert [point.label for line in result.lines for point in line.points] == ["step100", "step200"]
    assert "step200" in (result._repr_html_() or "")  # pyright: ignore[reportPrivateUsage]


def test_a_choice_reaches_its_result(runs: list[Run]) -> None:
    assert calib_core.reliability(runs[0], bins=7).scheme.bins == 7
    assert calib_core.reliability(runs[0], method="cluster_size").method == "cluster_size"
    assert calib_core.reliability(runs[0]).method == "verbal"
    assert calib_core.concentration(runs[0], bins=4).n_bins == 4
    assert calib_core.compare(runs, methods=["verbal"]).points[0].method == "verbal"
    assert len(calib_core.compare(runs, methods=["verbal"]).points) == 2
    assert calib_core.compare_methods(runs[0]).runs == ("small",)
    assert calib_core.groups(runs).group_by.title == "subject"
    assert calib_core.groups(runs, by="model").series.keys() == {"small", "large"}
    assert calib_core.sampling(runs[0], sizes=(2, 4), repeats=5).sizes == (2, 4)


def test_what_is_not_there_says_what_is(runs: list[Run]) -> None:
    with pytest.raises(Unavailable, match="no grouping “age” for these runs"):
        calib_core.groups(runs, by="age")
    with pytest.raises(Unavailable, match="No run has"):
        calib_core.compare(runs, methods=["p_true"])
    with pytest.raises(Unavailable, match="no figure 3: there are 1"):
        calib_core.reliability(runs[0]).figure(index=3)
    with pytest.raises(ValueError, match="light, dark"):
        calib_core.reliability(runs[0]).figure(cast("Any", "sepia"))


def test_runs_of_one_name_are_told_apart() -> None:
    first, second = (calib_core.load(ROWS)[0] for _ in range(2))
    result = calib_core.compare([first, second])
    assert len({point.key for point in result.points}) == 2


def test_the_verdict_is_that_of_the_page_and_of_the_command_line(
    runs: list[Run], tmp_path: Path, call: Call
) -> None:
    path = tmp_path / "quiz.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in answers("small", 0.2)))
    words = ("score", path, "--method", "verbal", "--json", "--metric")
    for tolerance in (0.02, 0.9):
        verdict = calib_core.verdict(runs[0], tolerance=tolerance)
        element = call(*words, "verdict", "--tolerance", str(tolerance)).element
        frame = verdict.to_frame().to_dicts()[0]
        assert {**frame, "remarks": element["remarks"]}.items() <= element.items()
        assert (verdict.kind, verdict.reason) == (element["value"], element["reason"])
        assert verdict.kind == ("over" if tolerance < 0.1 else "tolerable")
        assert str(verdict) == f"{verdict.headline} {verdict.reason}"
    overview = summarise_runs({"small · quiz": [gather_evidence(runs[0], "verbal")]})
    assert calib_core.verdict(runs[0]).headline == overview.headline
    assert escape(verdict.reason) in (verdict._repr_html_() or "")  # pyright: ignore[reportPrivateUsage]
    (few,) = calib_core.load(ROWS)
    assert calib_core.verdict(few).headline.startswith("data has too few rows: states 80.0 %")
    with pytest.raises(ValueError, match="0 to 1"):
        calib_core.verdict(runs[0], tolerance=2)


def test_a_score_has_the_interval_of_the_command_line(runs: list[Run], tmp_path: Path, call: Call) -> None:
    path = tmp_path / "quiz.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in answers("small", 0.2)))
    score = calib_core.score(runs[0], metric="ece")
    element = call("score", path, "--method", "verbal", "--metric", "ece", "--json").element
    assert score.metric == "ece"
    assert score.interval is not None
    assert element["interval"] == [score.interval.low, score.interval.high]
    row = score.to_frame().row(0, named=True)
    assert [row["interval_low"], row["interval_high"]] == element["interval"]
    assert row["interval_method"] == element["interval_method"]
    assert "95 % interval" in (score._repr_html_() or "")  # pyright: ignore[reportPrivateUsage]
    without = calib_core.score(runs[0], metric="mce")
    assert without.interval is None
    assert without.to_frame()["interval_low"].item() is None


def test_only_the_method_asked_for_is_computed(runs: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """Sampled answers, which take long to cluster, are left alone where the stated confidence is scored."""

    def fail(*_arguments: object) -> None:
        raise AssertionError("another method was computed")

    for id_ in ("cluster_number", "cluster_size", "pairwise"):
        monkeypatch.setitem(METHODS, id_, replace(METHODS[id_], compute=fail))
    for method in (None, "verbal"):
        assert calib_core.score(runs[0], method=method, metric="brier").method == "verbal"
    assert calib_core.compare_methods(runs[0], methods=["verbal"]).runs == ("small",)


def test_a_run_without_a_confidence_says_why() -> None:
    run = make_answer_run({"correct": [True, False]})
    with pytest.raises(Unavailable, match="no method has a usable row"):
        calib_core.verdict(run)


def test_text_of_the_file_is_shown_literally() -> None:
    name = "<script>alert(1)</script>"
    (run,) = calib_core.load([{**row, "model": name} for row in ROWS])
    html = calib_core.score(run, metric="brier")._repr_html_() or ""  # pyright: ignore[reportPrivateUsage]
    assert name not in html
    assert "&lt;script&gt;" in html


def test_plotly_is_written_once(monkeypatch: pytest.MonkeyPatch, runs: list[Run]) -> None:
    monkeypatch.setattr(notebook, "_FIRST_ONLY", {})
    result = calib_core.reliability(runs[0])
    first, second = (result._repr_html_() or "" for _ in range(2))  # pyright: ignore[reportPrivateUsage]
    assert 'class="calib-plotly"' in first
    assert 'class="calib-plotly"' not in second
