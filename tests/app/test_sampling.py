"""The page Sampling shows metrics against N', how many samples are enough, and one worked question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from streamlit.testing.v1 import AppTest

import screens
from calib_core.api import load
from calib_core.methods import METHODS
from calib_core.methods.answers.subsample import sample_matrix
from calib_core.methods.method import MethodOptions
from calib_core.metrics import METRICS
from calib_core.results import sampling
from calib_core.results.question_clusters import question_clusters, sampled_question_titles, typical_question
from calib_core.results.sampling import METHOD_SYMBOLS, SampleSizeSweep, SamplingPlan, sample_size_sweep
from calib_core.runs import AnswerRun
from calib_core.wording import format_interval
from export_menus import open_menus
from predictions import quiz, write_csv, write_jsonl
from predictions import samples as sampled_rows
from screens import ShowFolder, Visit, choose, figure, page_text, tiles


@pytest.fixture(scope="module")
def folder_of_samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of one file."""
    made = tmp_path_factory.mktemp("samples")
    write_ten(made)
    return made


@pytest.fixture
def ten_samples(show_folder: ShowFolder, folder_of_samples: Path) -> Path:
    """Ten samples a question, with p(True) and an outcome of the greedy answer."""
    return show_folder(folder_of_samples) / "ten.jsonl"


def write_ten(data: Path) -> Path:
    rows = [
        {**row, "p_true": 0.1 + 0.01 * number, "correct": int(number % 3 > 0)}
        for number, row in enumerate(sampled_rows())
    ]
    return write_jsonl(data / "ten.jsonl", rows)


def load_run(path: Path) -> AnswerRun:
    (run,) = load(path)
    assert isinstance(run, AnswerRun)
    return run


def expected_sweep(path: Path, plan: SamplingPlan | None = None, rule: Any = "own") -> SampleSizeSweep:
    return sample_size_sweep(load_run(path), plan or SamplingPlan(), MethodOptions(unparseable=rule))


def drawn_points(at: AppTest) -> dict[tuple[str, int], float]:
    """(method, N') → height of its point in the upper panel."""
    return {
        (trace["meta"][0]["method"], size): height
        for trace in figure(at, "sampling")["data"]
        if "method" in trace.get("meta", [{}])[0] and "markers" in trace["mode"]
        for size, height in zip(trace["x"], trace["y"], strict=True)
    }


def test_figure_tiles_and_tables_are_the_sweep(ten_samples: Path, visit: Visit) -> None:
    at, result = visit("sampling"), expected_sweep(ten_samples)
    assert result.sizes == (2, 4, 8)
    assert set(result.spread_caveats) == {8}
    for method in METHOD_SYMBOLS:
        mean = result.curve(method, "brier").mean
        assert [drawn_points(at)[method, size] for size in (2, 4, 8)] == pytest.approx(mean, abs=1e-6)
    assert at.header[0].value.replace("\\", "").replace("\u2060", "") == result.headline
    assert tiles(at) == {}
    assert "60 of 60 rows" in page_text(at)
    assert at.text[0].value.startswith("Brier, N'=2, 4, 8 of N=10, answers compared as numbers, unparseable")
    assert "100 repeats, seed 0" in at.text[0].value
    table = screens.table(at, "N'", "Draws")
    curve = result.curve("pairwise", "brier")
    own = table[table["Method"] == METHODS["pairwise"].heading]
    assert own[METRICS["brier"].title].to_list() == list(curve.mean)
    assert own["SD"].to_list() == list(curve.std)
    p_true = table[table["Method"] == METHODS["p_true"].heading]
    assert p_true[METRICS["brier"].title].to_list() == [
        one.value for one in result.baselines if one.metric == "brier"
    ]
    drawn = figure(at, "sampling")["data"]
    (most,) = [trace["y"] for trace in drawn if trace.get("meta", [{}])[0].get("ceiling")]
    assert most == [0.5, 0.75, 0.875]
    assert own["Draws"].to_list() == [100, 100, 100]
    assert result.sufficiency_definition.startswith(
        "“Enough” means a Brier score within ±0.005 of that at N' = 4 (paired"
    )
    assert result.sufficiency_definition in page_text(at)
    assert "N' = 8 is more than half of 10 samples: subsets overlap" in page_text(at)
    assert "Right or wrong: Scored on the majority answer of the drawn samples." in page_text(at)
    assert "Without samples: Dashed lines, scored on the greedy answer, on the same questions." in page_text(
        at
    )
    assert "Logit w/ Path: " in page_text(at)


def test_only_the_shown_metric_is_computed_and_every_one_is_saved(
    ten_samples: Path, visit: Visit, offered: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[list[str]] = []
    real = sampling.draw_subsamples

    def draw(code: Any, correct: Any, sizes: Any, metrics: Any, *more: Any) -> Any:
        computed.append([metric.id for metric in metrics])
        return real(code, correct, sizes, metrics, *more)

    monkeypatch.setattr(sampling, "draw_subsamples", draw)
    open_menus(visit("sampling", metric="auroc", sizes="2,4"))
    assert computed == [["auroc", "brier"]]
    expected = expected_sweep(ten_samples, SamplingPlan((2, 4))).to_frame()
    saved = pl.read_csv(offered["save_table_sizes_table_csv"][1](), infer_schema_length=None)
    assert set(saved["metric"]) == set(sampling.DEFAULT_METRICS)
    assert saved["mean"].to_list() == expected["mean"].to_list()


def test_what_is_enough_is_a_table_and_can_be_chosen(ten_samples: Path, visit: Visit) -> None:
    at = visit("sampling", sizes="2,4,5", repeats="20")
    result = expected_sweep(ten_samples, SamplingPlan((2, 4, 5), 20))
    table = screens.table(at, "Method", "Enough")
    gaps = table[table["Enough"].notna()]
    own = gaps[["Method", "N'"]].to_numpy().tolist()
    assert own == [[METHODS[m].heading, n] for m in METHOD_SYMBOLS for n in (2, 4)]
    gap = result.brier_differences["cluster_number"][2]
    assert gaps["Brier difference"].iloc[0] == gap.value
    assert gaps["95 %"].iloc[0] == format_interval(gap.low, gap.high, "+.4f")
    assert "“Enough” means a Brier score within ±0.005 of that at N' = 5" in page_text(at)
    choose(at, "within_typed", 0.5)
    assert screens.address(at)["within"] == "0.5"
    enough = screens.table(at, "Method", "Enough")["Enough"].dropna()
    assert enough.to_list() == ["yes"] * 6
    assert (
        screens.plain(at.header[0].value)
        == "By the Brier score, 2 samples are enough for F_CN, F_CS and F_PC."
    )
    assert "“Enough” means a Brier score within ±0.5 of that at N' = 5" in page_text(at)
    again = visit("sampling", sizes="2,4,5", repeats="20", within="0.5")
    assert screens.control(again, "within_typed").value == 0.5


def test_the_metric_is_read_off_the_same_draws(ten_samples: Path, visit: Visit) -> None:
    at = choose(visit("sampling"), "metric", "ece")
    assert screens.address(at) == {"metric": "ece"}
    curve = expected_sweep(ten_samples).curve("cluster_size", "ece")
    assert drawn_points(at)["cluster_size", 4] == pytest.approx(curve.mean[1], abs=1e-6)
    assert at.text[0].value.startswith("ECE-L1, equal width, M=10, right-closed, N'=2, 4, 8")
    table = screens.table(at, "Method", "Metric")
    compared = table[table["Brier difference"].notna()]
    assert set(table["Metric"]) == {METRICS["ece"].title, METRICS["brier"].title}
    assert set(compared["Metric"]) == {METRICS["brier"].title}


def test_sizes_repeats_and_seed_are_chosen_and_go_into_the_address(ten_samples: Path, visit: Visit) -> None:
    at = choose(visit("sampling"), "sizes", "5; 2 ,3,5")
    assert screens.address(at) == {"sizes": "2,3,5"}
    assert screens.control(at, "sizes").value == "2, 3, 5"
    choose(at, "repeats_typed", 7)
    choose(at, "seed_typed", 11)
    assert screens.address(at) == {"sizes": "2,3,5", "repeats": "7", "seed": "11"}
    curve = expected_sweep(ten_samples, SamplingPlan((2, 3, 5), 7, 11)).curve("cluster_number", "brier")
    assert [drawn_points(at)["cluster_number", size] for size in (2, 3, 5)] == pytest.approx(
        curve.mean, abs=1e-6
    )
    again = visit("sampling", sizes="2,3,5", repeats="7", seed="11")
    assert drawn_points(again) == drawn_points(at)
    assert screens.control(again, "repeats_typed").value == 7
    choose(at, "sizes", "")
    assert "sizes" not in screens.address(at)
    assert {size for _, size in drawn_points(at)} == {2, 4, 8}


def test_an_invalid_size_is_reported_and_a_too_large_one_refused(ten_samples: Path, visit: Visit) -> None:
    assert ten_samples.exists()
    at = visit("sampling", sizes="four,-2,4,64")
    assert {size for _, size in drawn_points(at)} == {4}
    assert "Not a number of samples: four, -2" in screens.plain("".join(c.value for c in at.sidebar.caption))
    assert "N' = 64: no question has that many samples; choose up to 10." in page_text(at)


def test_unavailable_sizes_leave_the_example_question(ten_samples: Path, visit: Visit) -> None:
    assert ten_samples.exists()
    at = visit("sampling", sizes="64")
    assert "no question has that many samples" in page_text(at)
    assert at.get("plotly_chart")[0].key == "clusters"


def test_samples_that_do_not_parse_count_as_chosen(ten_samples: Path, visit: Visit) -> None:
    at = choose(visit("sampling", sizes="4"), "unparseable", "drop")
    result = expected_sweep(ten_samples, SamplingPlan((4,)), "drop")
    assert drawn_points(at)["cluster_number", 4] == pytest.approx(
        result.curve("cluster_number", "brier").mean[0], abs=1e-6
    )
    assert "unparseable samples left out" in at.text[0].value


def test_one_question_is_worked_out(ten_samples: Path, visit: Visit) -> None:
    run = load_run(ten_samples)
    at = visit("sampling", place="3")
    result = question_clusters(run, sample_matrix(run, MethodOptions()), 2)
    (bars,) = figure(at, "clusters")["data"]
    sizes = [each.size for each in result.clusters] + [result.n_unparsed] * (result.n_unparsed > 0)
    assert bars["x"] == sizes
    lines = at.main.text[-1].value.splitlines()
    assert lines == [result.sizes_text, *result.derivations.values()]
    assert result.headline in page_text(at)
    assert "The right answer is 2." in page_text(at)
    table = screens.table(at, "Sampled answer", "Samples")
    assert table["Samples"].to_list() == sizes
    choose(at, "_place", 1)
    assert screens.address(at)["place"] == "1"
    assert (
        at.main.text[-1].value.splitlines()[0]
        == question_clusters(run, sample_matrix(run, MethodOptions()), 0).sizes_text
    )


def test_it_opens_on_a_question_of_average_agreement(ten_samples: Path, visit: Visit) -> None:
    run = load_run(ten_samples)
    coded = sample_matrix(run, MethodOptions())
    places, titles = sampled_question_titles(run, coded)
    at = visit("sampling", sizes="2")
    agreed = [int(title.rpartition(" · ")[2].split()[0]) / 10 for title in titles]
    mean = sum(agreed) / len(agreed)
    wanted = min(range(len(agreed)), key=lambda place: (abs(agreed[place] - mean), place))
    assert wanted
    assert at.main.text[-1].value.splitlines()[0] == question_clusters(run, coded, places[wanted]).sizes_text
    assert "place" not in screens.address(at)


def test_only_runs_with_samples_are_offered(data: Path, visit: Visit) -> None:
    write_ten(data)
    write_csv(data / "quiz.csv", quiz(50, model="red"))
    write_jsonl(data / "more.jsonl", [{**row, "model": "more"} for row in sampled_rows(20, 9)])
    at = visit("sampling")
    assert screens.control(at, "run").options == ["more", "ten"]
    choose(at, "run", "ten")
    assert "60 of 60 rows" in page_text(at)
    lost = visit("sampling", run="red")
    assert len(screens.unmet_link_warnings(lost, "run", "red")) == 1


def test_it_opens_on_a_run_with_all_methods_of_the_paper(data: Path, visit: Visit) -> None:
    of_paper = {"p_true": 0.5, "path_mean_prob": 0.7, "answer_mean_prob": 0.8, "prediction": "7"}
    made = [{**row, "model": "a-panel"} for row in sampled_rows(60)]
    made += [{**row, **of_paper, "model": "sampled"} for row in sampled_rows(60)]
    write_jsonl(data / "both.jsonl", made)
    assert screens.control(visit("sampling"), "run").value == "sampled"
    assert screens.control(visit("sampling", run="a-panel"), "run").value == "a-panel"


def test_without_samples_it_says_what_is_needed(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(50))
    assert "No run here has several sampled answers per question" in page_text(visit("sampling"))


def test_an_unknown_choice_is_reported(ten_samples: Path, visit: Visit) -> None:
    assert ten_samples.exists()
    at = visit("sampling", repeats="0", seed="x", within="2", metric="full_ece", place="999")
    for key, value in {"repeats": "0", "seed": "x", "within": "2", "metric": "full_ece"}.items():
        assert len(screens.unmet_link_warnings(at, key, value)) == 1
    assert "100 repeats, seed 0" in at.text[0].value


def test_an_overlong_number_is_reported(ten_samples: Path, visit: Visit) -> None:
    assert ten_samples.exists()
    digits = "9" * 5000
    at = visit("sampling", place=digits, sizes=f"{digits},4", seed=digits)
    coded = sample_matrix(load_run(ten_samples), MethodOptions())
    shown = 1 + typical_question(coded, sampled_question_titles(load_run(ten_samples), coded)[0])
    assert f"Shown: {shown}." in page_text(at)
    assert {size for _, size in drawn_points(at)} == {4}
    assert len(screens.unmet_link_warnings(at, "seed", "999")) == 1


def test_hostile_names_and_answers_are_text(data: Path, visit: Visit) -> None:
    nasty = "![x](http://calib.invalid/a.png) <b>y</b> $z$"
    same = dict.fromkeys(("question", "gold", "model"), nasty)
    rows = [{"id": f"q{n}", **same, "samples": [nasty, nasty, f"other {n}"]} for n in range(6)]
    write_jsonl(data / "nasty.jsonl", rows)
    at = visit("sampling")
    texts = [element.value for element in (*at.markdown, *at.caption, *at.header)]
    assert not any("![x](" in text for text in texts)
    assert nasty.replace("\n", " ") in page_text(at)
    assert "<b>y" not in str(figure(at, "clusters"))


def test_the_page_alone_shows_the_same(ten_samples: Path, visit: Visit) -> None:
    assert ten_samples.exists()
    alone, whole = screens.open_single_page("sampling", {"sizes": "2,4"}), visit("sampling", sizes="2,4")
    assert drawn_points(alone) == drawn_points(whole)
