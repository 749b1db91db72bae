"""`import calib_core` as a user's script and an editor see it."""

from __future__ import annotations

import inspect
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import polars as pl
import pytest

import calib_core
from app_server import ROOT
from calib_core import AnswerRun, Refused, Unavailable
from core.cli_calls import BAD, GOOD, write

CONFIDENCE, CORRECT = [0.9, 0.8, 0.6, 0.3], [1, 0, 1, 0]

SCRIPT = """
import calib_core as cc
from calib_core import BadRowsFound, Recalibration, Refused, Score

runs = cc.load("quiz.csv")
run = runs[0]
score: Score = cc.score(run, metric="ece")
number: float = float(score)
every = cc.score(run)
value: float | None = every["brier"].value
try:
    fitted: Recalibration = cc.recalibrate(run, by="platt")
    column = fitted.map([0.9, 0.6]).tolist()
    later: cc.AnswerRun = fitted.apply(run)
except (BadRowsFound, Refused, cc.Unavailable) as reason:
    print(reason)
passed: bool = cc.gate(runs, max={"ece": 0.1}, baseline=runs).passed
html: str = cc.report(runs).html
status: str = cc.check("quiz.csv").status
figure = cc.reliability(run).figure("dark")
figure.update_layout(title="Reliability")
metric: float = cc.metric_value([0.9, 0.6], [1, 0], "brier")
sums = cc.bins.BinSums.from_pairs([0.9], [1])
"""
WRONG = """
import calib_core as cc

cc.scores_of(1)
(run,) = cc.load("quiz.csv")
cc.reliability(run).figure("pink")
cc.score(run, metric=3)
cc.score(run, metric="ece").valu
"""


def _pyright(folder: Path) -> list[dict[str, Any]]:
    config = folder / "pyrightconfig.json"
    config.write_text(json.dumps({"strict": ["*.py"], "extraPaths": [str(ROOT)]}), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(config)],
        capture_output=True,
        text=True,
        check=False,
    )
    return cast("list[dict[str, Any]]", json.loads(done.stdout)["generalDiagnostics"])


def test_a_users_script_is_checked_strictly(tmp_path: Path) -> None:
    write(tmp_path, "right.py", SCRIPT)
    write(tmp_path, "wrong.py", WRONG)
    errors = [one for one in _pyright(tmp_path) if one["severity"] == "error"]
    assert [one["message"] for one in errors if one["file"].endswith("right.py")] == []
    lines = {one["range"]["start"]["line"] for one in errors if one["file"].endswith("wrong.py")}
    assert lines == {3, 5, 6, 7}


def test_every_name_of_the_interface_is_there_and_nothing_else_is_listed() -> None:
    for name in calib_core.__all__:
        assert getattr(calib_core, name) is not None
    code = "import calib_core; print(*dir(calib_core))"
    listed = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert listed.stdout.split() == sorted(calib_core.__all__)
    with pytest.raises(AttributeError, match="no attribute 'scores_of'"):
        calib_core.scores_of  # type: ignore[attr-defined]  # noqa: B018


def _section(documented: object, heading: str) -> dict[str, str]:
    """The entries of one section of a numpydoc docstring: name → its type and description."""
    text = inspect.getdoc(documented) or ""
    _, _, rest = text.partition(f"{heading}\n{'-' * len(heading)}\n")
    body, *_ = re.split(r"^.+\n-+$", rest, maxsplit=1, flags=re.MULTILINE)
    entries = re.findall(r"^(\S.*?)((?: :.*)?\n(?:(?: .*)?\n?)*)", f"{body}\n", re.MULTILINE)
    return {name.strip("* "): said for names, said in entries for name in names.split(",")}


NAMES = [getattr(calib_core, name) for name in calib_core.__all__]
FUNCTIONS = [one for one in NAMES if inspect.isfunction(one)]
RESULTS = [one for one in NAMES if inspect.isclass(one) and is_dataclass(one)]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_a_function_says_what_it_takes_gives_and_raises(function: Callable[..., Any]) -> None:
    parameters = inspect.signature(function).parameters
    assert parameters.keys() == _section(function, "Parameters").keys()
    assert _section(function, "Returns")
    assert _section(function, "Raises")


@pytest.mark.parametrize("result", RESULTS, ids=lambda one: one.__name__)
def test_a_result_says_what_it_holds_with_shapes(result: type) -> None:
    said = _section(result, "Attributes")
    hints = {field.name: str(field.type) for field in fields(result) if not field.name.startswith("_")}
    assert hints.keys() <= said.keys()
    assert [name for name, hint in hints.items() if "NDArray" in hint and "shape" not in said[name]] == []
    methods = [part for name, part in vars(result).items() if callable(part) and not name.startswith("_")]
    assert [part.__name__ for part in methods if not inspect.getdoc(part)] == []


def test_the_verb_report_is_not_hidden_by_a_module(tmp_path: Path) -> None:
    runs = calib_core.load(write(tmp_path, "quiz.csv", GOOD))
    written = tmp_path / "report.html"
    report = calib_core.report(runs, written, title="Ours <b>")
    assert written.read_text(encoding="utf-8") == report.html
    assert "Ours &lt;b&gt;" in report.html
    assert re.fullmatch(r"<Report summary: [\d,]+ characters of HTML>", repr(report))
    assert callable(calib_core.report)
    with pytest.raises(Refused, match="there is no page 'nothing'"):
        calib_core.report(runs, pages=["nothing"])


def test_all_metrics_are_computed_where_none_is_named() -> None:
    (run,) = calib_core.load(CONFIDENCE, CORRECT)
    scores = calib_core.score(run)
    assert {"ece", "brier", "accuracy", "auroc"} <= set(scores)
    for metric, score in scores.items():
        assert score == calib_core.score(run, metric=metric)
    assert scores.keys().isdisjoint(scores.unavailable)
    assert scores.keys() | scores.unavailable.keys() == set(calib_core.metrics.METRICS)
    assert scores.to_frame()["metric"].to_list() == list(scores)
    assert "<table" in scores._repr_html_()  # type: ignore[operator]
    assert repr(scores).startswith("<Scores ece=")


def test_check_says_what_a_file_holds(tmp_path: Path) -> None:
    report = calib_core.check(write(tmp_path, "bad.csv", BAD))
    assert (report.status, report.n_bad_rows, report.file) == ("asks", 1, "bad.csv")
    assert repr(report).startswith("<FileReport asks: bad.csv")
    frame = pl.DataFrame({"confidence": CONFIDENCE, "correct": CORRECT})
    report = calib_core.check(frame)
    assert (report.status, report.file) == ("loads", "the table")
    assert "parquet" not in report.full_message
    assert is_dataclass(report)


def test_rules_are_checked_as_on_the_command_line() -> None:
    rows = [
        {"id": f"q{at}", "confidence": 0.9 if at % 2 else 0.6, "correct": int(at % 3 > 0)} for at in range(60)
    ]
    runs = calib_core.load(rows)
    worse = calib_core.load([{**row, "confidence": 1 - row["confidence"]} for row in rows])  # type: ignore[operator]
    gate = calib_core.gate(runs, max={"ece": 0.5}, min={"accuracy": 0.6}, min_n=60)
    assert gate
    assert gate.passed
    assert gate.summary == "All 3 checks passed."
    gate = calib_core.gate(worse, baseline=runs, worse_by={"brier": 0.01})
    assert not gate.passed
    assert gate.to_frame()["held"].to_list() == [True, False]
    assert gate.checks[1].value == pytest.approx(
        calib_core.metric_value(
            [1 - row["confidence"] for row in rows], [row["correct"] for row in rows], "brier"
        )  # type: ignore[operator]
        - float(calib_core.score(runs[0], metric="brier"))
    )
    gate = calib_core.gate(runs, max={"full_ece": 0.5})
    assert [check.held for check in gate.checks] == [None]
    assert not gate
    assert not gate.passed
    with pytest.raises(ValueError, match="at least one rule"):
        calib_core.gate(runs)
    with pytest.raises(ValueError, match="needs a baseline"):
        calib_core.gate(runs, worse_by={"ece": 0.1})
    with pytest.raises(Unavailable, match="Is 'ece' meant"):
        calib_core.gate(runs, max={"ECE": 0.1})


def test_a_value_of_two_arrays_takes_one_line() -> None:
    assert calib_core.metric_value(CONFIDENCE, CORRECT, "brier") == pytest.approx(
        0.01 / 4 + (0.64 + 0.16 + 0.09) / 4
    )
    assert calib_core.metric_value(np.array(CONFIDENCE)[:, None], CORRECT, "ece", bins=5) == pytest.approx(
        float(calib_core.score(*calib_core.load(CONFIDENCE, CORRECT), metric="ece", bins=5))
    )
    probs = np.array([[0.7, 0.2, 0.1], [0.3, 0.4, 0.3]])
    assert calib_core.metric_value(probs, [0, 2], "accuracy") == 0.5
    assert calib_core.metric_value(probs, [0, 2], "nll") == pytest.approx(-np.log([0.7, 0.3]).mean())
    assert np.isnan(calib_core.metric_value([0.9], [1], "auroc"))
    with pytest.raises(Unavailable, match="There is no metric 'Brier_'"):
        calib_core.metric_value(CONFIDENCE, CORRECT, "Brier_")


# --- What is in memory ----------------------------------------------------------------------------------


def _rows(run: calib_core.Run) -> pl.DataFrame:
    assert isinstance(run, AnswerRun)
    return run.rows


def test_rows_that_a_metric_leaves_out_are_told() -> None:
    confidence, correct = [0.9, np.nan, 0.6, 0.5], [1, 1, 1, None]
    with pytest.warns(UserWarning, match="2 of 4 rows left out: empty confidence") as told:
        value = calib_core.metric_value(confidence, correct, "brier")
    assert value == pytest.approx((0.1**2 + 0.4**2) / 2)
    assert told[0].filename == __file__


@pytest.mark.parametrize(("probability", "outcome"), [("confidence", "correct"), ("event_prob", "event")])
def test_arrays_that_are_swapped_are_asked_about(probability: str, outcome: str) -> None:
    shares, flags = [0.9, 0.4, 0.6], [1, 0, 1]
    found = f"'{probability}' holds only 0 and 1, and '{outcome}' numbers in between: they seem to be swapped"
    with pytest.raises(Refused, match=found):
        calib_core.load(**{probability: flags, outcome: shares})
    for others in ([0.5, 0.4, 1], [1, 1, 1]):
        with pytest.raises(Refused) as refused:
            calib_core.load(**{probability: others, outcome: shares})
        assert "swapped" not in str(refused.value)


def test_named_levels_of_an_index_are_columns() -> None:
    frame = pd.DataFrame({"confidence": CONFIDENCE, "correct": CORRECT})
    ids = ["a", "b", "c", "d"]
    for named in (
        frame.set_index(pd.Index(ids, name="id")),
        frame.set_index(pd.MultiIndex.from_arrays([ids, ["x", "x", "y", "y"]], names=["id", "subject"])),
    ):
        (run,) = calib_core.load(named)
        assert _rows(run)["id"].to_list() == ids
    assert _rows(run)["subject"].to_list() == ["x", "x", "y", "y"]
    (run,) = calib_core.load(named["confidence"], named["correct"])
    assert _rows(run)["id"].to_list() == ids
    (run,) = calib_core.load(frame)
    assert "id" not in _rows(run).columns
    with pytest.raises(Refused, match="'correct' names both a level of the index and a column"):
        calib_core.load(frame.set_index(pd.Index(ids, name="correct")))


def test_series_are_paired_by_their_index_or_refused() -> None:
    confidence = pd.Series(CONFIDENCE, index=[10, 11, 12, 13])
    correct = pd.Series(CORRECT, index=[10, 11, 12, 13])
    expected = calib_core.metric_value(CONFIDENCE, CORRECT, "brier")
    for shuffled in (correct, correct.sample(frac=1, random_state=1), correct[::-1]):
        (run,) = calib_core.load(confidence=confidence, correct=shuffled)
        assert float(calib_core.score(run, metric="brier")) == pytest.approx(expected)
    for other in (correct.iloc[:3], correct.set_axis([10, 11, 12, 14]), correct.set_axis([10, 10, 12, 13])):
        with pytest.raises(
            Refused, match=r"'confidence' and 'correct' have different indexes.*\.to_numpy\(\)"
        ):
            calib_core.load({"confidence": confidence, "correct": other})
    (run,) = calib_core.load(confidence=confidence, correct=CORRECT)  # arrays go by position
    assert float(calib_core.score(run, metric="brier")) == pytest.approx(expected)


NAN = float("nan")


@pytest.mark.parametrize(
    "source",
    [
        {"confidence": [0.9, NAN, 0.6], "correct": [1, 0, 1]},
        {"confidence": np.array([0.9, NAN, 0.6]), "correct": np.array([1.0, 0.0, 1.0])},
        {"confidence": np.array([0.9, -1.0, 0.6], np.float32), "correct": np.array([1, 0, 1])},
        pd.DataFrame({"confidence": [0.9, NAN, 0.6], "correct": [1, 0, 1]}),
        pl.DataFrame({"confidence": [0.9, NAN, 0.6], "correct": [1, 0, 1]}),
        pl.DataFrame({"confidence": [0.9, None, 0.6], "correct": [1, 0, 1]}).lazy(),
        pl.DataFrame({"confidence": [0.9, -1.0, 0.6], "correct": [1, 0, 1]}).to_arrow(),
        [
            {"confidence": 0.9, "correct": 1},
            {"confidence": NAN, "correct": 0},
            {"confidence": 0.6, "correct": 1},
        ],
        [
            {"confidence": 0.9, "correct": 1},
            {"confidence": -1, "correct": 0},
            {"confidence": 0.6, "correct": 1},
        ],
        [
            {"confidence": np.float64(0.9), "correct": np.True_},
            {"correct": 0},
            {"confidence": 0.6, "correct": 1},
        ],
    ],
)
def test_one_rule_for_what_is_missing_in_memory(source: Any) -> None:
    for missing in (["-1"], [-1]):
        (run,) = calib_core.load(source, missing=missing)
        assert _rows(run)["confidence"].is_null().to_list() == [False, True, False]
        assert calib_core.score(run, metric="accuracy").n_used == 2


def test_a_list_with_a_missing_element_is_missing_as_in_a_file() -> None:
    frame = pl.DataFrame({"choice_probs": [[0.7, NAN], [0.4, 0.6]], "gold_index": [0, 1]})
    rows = [{"choice_probs": [0.7, NAN], "gold_index": 0}, {"choice_probs": [0.4, 0.6], "gold_index": 1}]
    for source in (frame, rows):
        values = _rows(calib_core.load(source)[0])["choice_probs"].to_list()
        assert values == [None, [0.4, 0.6]]


def test_arrays_come_in_the_shapes_that_libraries_have() -> None:
    (run,) = calib_core.load(np.array(CONFIDENCE, np.longdouble)[:, None], np.array(CORRECT)[:, None])
    assert _rows(run)["confidence"].to_list() == CONFIDENCE
    logits = np.random.default_rng(1).normal(size=(2, 3, 5))
    target = np.arange(6).reshape(2, 3) % 5
    (tokens,) = calib_core.load(logits=logits, target=target)
    (flat,) = calib_core.load(logits=logits.reshape(6, 5), target=target.ravel())
    assert tokens == flat
    with pytest.raises(Refused, match=r"'confidence' has the shape \(1, 2, 2\)"):
        calib_core.load(confidence=np.full((1, 2, 2), 0.5), correct=[1])


def test_what_is_nearly_right_is_answered_with_what_is_meant() -> None:
    (run,) = calib_core.load(CONFIDENCE, CORRECT)
    assert (
        calib_core.score(run, metric="ece", bins=cast("int", 10.0)).recipe
        == calib_core.score(run, metric="ece").recipe
    )
    with pytest.raises(ValueError, match=r"bins .M. must be a whole number from 1 to 1000, not '10'"):
        calib_core.score(run, metric="ece", bins=cast("int", "10"))
    with pytest.raises(ValueError, match=r"not 2\.5"):
        calib_core.score(run, metric="ece", bins=cast("int", 2.5))
    with pytest.raises(Unavailable, match=r"There is no metric 'ECE'\. Is 'ece' meant\?"):
        calib_core.score(run, metric="ECE")
    with pytest.raises(TypeError, match=r"score has no keyword 'n_bins'\. Is bins meant\?"):
        calib_core.score(run, n_bins=10)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"recalibrate has no keyword 'fold'\. Is folds meant\?"):
        calib_core.recalibrate(run, fold=3)  # type: ignore[call-arg]
    said = r"compare takes runs by position, and here are 2 .* several runs in a list: compare\(\[a, b\]\)"
    with pytest.raises(TypeError, match=said):
        calib_core.compare(run, run)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"sweep takes run by position, and here are 2 arguments\. Its"):
        calib_core.sweep(run, "ece")  # type: ignore[call-arg]
    with pytest.raises(Refused, match="Several paths are given: load one file at a time"):
        calib_core.load(["a.csv", Path("b.csv")])  # type: ignore[list-item]
    with pytest.raises(Refused, match="An open file is given: give its path"):
        calib_core.load(io.StringIO("confidence,correct\n0.9,1\n"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="correct as an array needs confidence as an array"):
        calib_core.load("quiz.csv", CORRECT)
