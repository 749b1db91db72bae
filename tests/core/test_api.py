"""The public interface: `calib_core.load`, `calib_core.score`, `calib_core.bins.BinSums`."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import calib_core
from app_server import ROOT
from calib_core.bins import BinSums
from calib_core.errors import BadRowsFound, Refused, Unavailable
from calib_core.results.judged_answer import JudgedChoice
from calib_core.runs import AnswerRun, TokenRun
from core.cli_calls import BAD, GOOD, NOTHING, write
from core.run_builders import make_answer_run
from core.token_run_builders import random_rows


def test_the_example_in_the_docstring_runs() -> None:
    result = doctest.testmod(calib_core)
    assert result.attempted >= 5
    assert result.failed == 0


def test_load_and_score(tmp_path: Path) -> None:
    path = write(tmp_path, "quiz.csv", GOOD)
    for given in (path, str(path)):
        (run,) = calib_core.load(given)
        assert isinstance(run, AnswerRun)
        number = calib_core.score(run, method="given", metric="ece")
        assert number.value == pytest.approx(0.4)
        assert number.bins == 10


def test_every_choice_reaches_the_number(tmp_path: Path) -> None:
    text = (
        '{"choice_logprobs": [-2.0, -1.0], "choice_token_counts": [2, 1], "gold": "0"}\n'
        '{"choice_logprobs": [-0.5, -3.0], "choice_token_counts": [1, 3], "gold": "0"}\n'
    )
    (run,) = calib_core.load(write(tmp_path, "quiz.jsonl", text))
    method, metric = "choice_length_normalised", "ece"
    default = calib_core.score(run, method=method, metric=metric)
    changed = (
        calib_core.score(run, method=method, metric=metric, bins=7),
        calib_core.score(run, method=method, metric=metric, binning="mass"),
        calib_core.score(run, method=method, metric=metric, labels="all"),
        calib_core.score(run, method=method, metric=metric, renormalise=False),
    )
    assert len({default.recipe, *(number.recipe for number in changed)}) == 5


def test_columns_and_format_are_passed_on(tmp_path: Path) -> None:
    path = write(tmp_path, "quiz.csv", GOOD.replace("confidence", "sure"))
    (run,) = calib_core.load(path, format="table", columns={"sure": "confidence"})
    assert calib_core.score(run, method="given", metric="accuracy").value == 0.5
    with pytest.raises(Refused):
        calib_core.load(path, format="nonsense")


def test_bad_rows_are_a_choice(tmp_path: Path) -> None:
    path = write(tmp_path, "quiz.csv", BAD)
    with pytest.raises(BadRowsFound):
        calib_core.load(path)
    (run,) = calib_core.load(path, skip_bad_rows=True)
    assert calib_core.score(run, method="given", metric="accuracy").n_total == 3


@pytest.mark.parametrize(
    ("name", "called"), [("data", "the table"), ("", "the table"), ("gpt-4.1", "gpt-4.1")]
)
@pytest.mark.parametrize("confidence", [[0.5, 1.4], [40, 50]])
def test_a_refusal_of_data_in_memory_names_no_file(name: str, called: str, confidence: list[float]) -> None:
    table = {"confidence": confidence, "correct": [1, 0]}
    for source in (table, [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]):
        with pytest.raises((BadRowsFound, Refused), match=rf"^{called}: ") as found:
            calib_core.load(source, name=name)
        assert ".parquet" not in str(found.value)
        assert ".jsonl" not in str(found.value)
        if isinstance(found.value, BadRowsFound):
            (problem,) = found.value.problems
            assert {found.value.file, *(cell.file for cell in problem.first_cells)} == {called}


@pytest.mark.parametrize(("name", "file"), [("data", "data"), ("gpt-4.1", "gpt-4.1"), ("a/b", "a_b")])
def test_a_run_from_memory_is_of_no_file(name: str, file: str) -> None:
    columns = {"confidence": [0.5, 0.75], "correct": [1, 0]}
    rows = [{"confidence": 0.5, "correct": 1}, {"confidence": 0.75, "correct": 0}]
    assert [calib_core.load(source, name=name)[0].file for source in (columns, rows)] == [file, file]


def test_a_refusal_of_the_gold_file_names_it(tmp_path: Path) -> None:
    rows = [{"id": 1, "prediction": "x", "confidence": 0.5}]
    for name in ("a", "data"):
        with pytest.raises(Refused, match=r"data\.jsonl") as found:
            calib_core.load(rows, name=name, gold=write(tmp_path, "data.jsonl", '{"no": 1}\n'))
        assert "the table" not in str(found.value)


def test_a_refusal_of_a_file_names_it(tmp_path: Path) -> None:
    with pytest.raises(BadRowsFound, match=r"^quiz\.csv: "):
        calib_core.load(write(tmp_path, "quiz.csv", BAD), name="mine")


def test_invalid_arguments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused):
        calib_core.load(tmp_path / "gone.csv")
    with pytest.raises(Refused, match="no row has both a confidence and an outcome"):
        calib_core.load(write(tmp_path, "nothing.csv", NOTHING))
    (run,) = calib_core.load(write(tmp_path, "quiz.csv", GOOD))
    with pytest.raises(Unavailable):
        calib_core.score(run, method="verbal", metric="ece")
    with pytest.raises(Unavailable):
        calib_core.score(run, method="given", metric="nll")
    with pytest.raises(ValueError, match="1 to 1000"):
        calib_core.score(run, method="given", metric="ece", bins=0)
    with pytest.raises(ValueError, match="labels must be one of top, all, not 'foo'"):
        calib_core.score(run, labels=cast("Any", "foo"))
    with pytest.raises(ValueError, match="renormalise must be one of None, True, False, not 'x'"):
        calib_core.score(run, renormalise=cast("Any", "x"))
    for accuracy in (90, -1):
        with pytest.raises(ValueError, match="accuracy must be from 0 to 1"):
            calib_core.threshold(run, accuracy=accuracy)
    for sizes in ([0, 5], []):
        with pytest.raises(ValueError, match="each at least 1"):
            calib_core.sampling(run, sizes=sizes)


def test_anything_but_a_run_is_refused(tmp_path: Path) -> None:
    runs = calib_core.load(write(tmp_path, "quiz.csv", GOOD))
    calls = (
        calib_core.score,
        calib_core.verdict,
        calib_core.reliability,
        calib_core.sampling,
        calib_core.judge,
    )
    for call in calls:
        with pytest.raises(TypeError, match="expected a run, not list: choose one from the list"):
            call(cast("Any", runs))
        with pytest.raises(TypeError, match=r"expected a run, not str: make runs with calib_core\.load"):
            call(cast("Any", "quiz.csv"))
    with pytest.raises(TypeError, match="expected a run, not str"):
        calib_core.compare(cast("Any", ["quiz.csv"]))
    with pytest.raises(ValueError, match="at least one run is needed"):
        calib_core.compare([])


def test_bin_sums_are_additive() -> None:
    first, second = BinSums.from_pairs([0.9, 0.8], [1, 0]), BinSums.from_pairs([0.6], [1])
    table = first.merge(second).table(10)
    assert {"low", "high", "count", "confidence", "accuracy"} <= set(table.columns)
    assert table["count"].sum() == 3


def test_importing_it_draws_in_no_command_line_and_no_pages() -> None:
    code = (
        "import sys, calib_core; print(sorted({'streamlit', 'typer', 'plotly', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_metric_over_m(tmp_path: Path) -> None:
    (run,) = calib_core.load(write(tmp_path, "quiz.csv", GOOD))
    swept = calib_core.sweep(run, method="given", metric="ece", bins=(5, 10), ddof=1)
    (curve,) = swept.curves
    assert (swept.method, swept.bins, swept.ddof) == ("given", (5, 10), 1)
    assert curve.values[1] == calib_core.score(run, method="given", metric="ece").value
    assert [each.metric for each in calib_core.sweep(run, method="given").curves] == ["ece"]
    with pytest.raises(Unavailable, match="not a whole distribution"):
        calib_core.sweep(run, method="given", metric=("full_ece", "cw_ece"))
    with pytest.raises(Unavailable, match="No metric was named"):
        calib_core.sweep(run, method="given", metric=())


def test_token_level_runs_are_runs(tmp_path: Path) -> None:
    probs, target = random_rows(30, 5)
    np.savez(tmp_path / "text.npz", probs=probs, target=target)
    (run,) = calib_core.load(tmp_path / "text.npz")
    assert isinstance(run, TokenRun)
    number = calib_core.score(run, method="tokens", metric="full_ece")
    swept = calib_core.sweep(run, method="tokens", metric="full_ece", bins=(10,))
    assert swept.curves[0].values == (number.value,)
    with pytest.raises(Unavailable, match="no answers"):
        calib_core.score(run, method="given", metric="ece")


def test_all_methods_are_compared_by_the_answer_asked_for() -> None:
    """The greedy answer is right in one row of two, the majority of the samples in both."""
    run = make_answer_run(
        {
            "gold": ["7", "7"],
            "prediction": ["7", "8"],
            "samples": [["7", "7", "9"]] * 2,
            "confidence": [0.8, 0.8],
        }
    )
    accuracies: dict[JudgedChoice, float] = {"greedy": 0.5, "majority": 1.0}
    for judged, accuracy in accuracies.items():
        points = calib_core.compare(run, methods=["given", "cluster_size"], judged=judged).points
        cells = calib_core.compare_methods(run, judged=judged).cells.values()
        assert [point.accuracy.value for point in points] == [accuracy] * 2
        assert {cell.accuracy for cell in cells} == {accuracy}


def test_a_misspelled_keyword_is_named_with_the_one_that_is_meant(tmp_path: Path) -> None:
    path = tmp_path / "quiz.csv"
    path.write_text("confidence,correct\n0.9,1\n")
    with pytest.raises(TypeError, match=r"no keyword 'skipbadrows' .* Is skip_bad_rows meant\?"):
        calib_core.load(path, skipbadrows=True)
    with pytest.raises(TypeError, match=r"no keyword 'zebra' for a file or table\. Its keywords are name, "):
        calib_core.load(path, zebra=1)


def test_what_to_do_about_bad_rows_is_a_keyword_not_an_option(tmp_path: Path) -> None:
    path = tmp_path / "again.csv"
    path.write_text("id,confidence,correct\na,0.5,1\na,0.6,0\n")
    with pytest.raises(BadRowsFound, match=r'have the column say so: columns=\{"id": "trial_of"\}'):
        calib_core.load(path)
