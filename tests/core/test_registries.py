"""One registry line is enough for a new metric, a new method and a new file format."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import calib_core
from calib_core import readers
from calib_core.bins import Sums
from calib_core.edges import Scheme
from calib_core.figures.marks import metric_line_style
from calib_core.figures.palette import LIGHT, method_style
from calib_core.methods import METHODS
from calib_core.methods.method import Confidences, MethodOptions
from calib_core.methods.stored_confidence import GIVEN
from calib_core.metrics import METRICS
from calib_core.metrics.metric import Metric
from calib_core.readers.format import Format, Head, Reading, ReadOptions
from calib_core.readers.table.raw import ReadProgress
from calib_core.readers.table.reader import open_and_read_table
from calib_core.readers.table.run_split import Origin
from calib_core.results.evidence import gather_evidence
from calib_core.results.score import score
from calib_core.runs import AnswerRun, RunInfo
from core.cli_calls import GOOD, Call, write


def mean_square_gap(sums: Sums, scheme: Scheme) -> float | None:
    """Σ_b n_b · (gap of b)² / n."""
    binned = sums.binned(scheme)
    return float((binned.absolute_gap**2 / binned.count).sum()) / sums.n_pairs if sums.n_pairs else None


def doubted(run: AnswerRun, options: MethodOptions) -> Confidences:
    """The confidence of the file, halved."""
    rows = run.rows.with_columns(confidence=run.rows["confidence"] / 2)
    return GIVEN.confidences(
        AnswerRun(run.file, run.format, run.label, run.info, rows, run.row_counts), options
    )


METRIC = Metric(
    id="mean_square_gap",
    title="Mean square gap",
    title_in_sentence="mean square gap",
    recipe_name="mean square gap",
    meaning="The squared gap of a bin, averaged over the rows; lower is better.",
    source="a trial",
    needs="pairs",
    low=0.0,
    high=1.0,
    direction="lower",
    binned=True,
    compute=mean_square_gap,
)
METHOD = replace(GIVEN, id="doubted", title="half of it", meaning="A trial.", compute=doubted, style=None)


def read_trial(head: Head, options: ReadOptions, progress: ReadProgress) -> Reading:
    """A table below one line of its own."""
    return open_and_read_table(
        head, options, progress, Origin(head.file, FORMAT.id, RunInfo(model="trial")), skip_lines=1
    )


FORMAT = Format(
    "trial",
    "a trial",
    "a first line about the trial",
    frozenset({"json lines"}),
    lambda head: bool(head.first_objects) and "trial" in head.first_objects[0],
    read_trial,
)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trial metric, a trial method and a trial format in the registries."""
    monkeypatch.setitem(METRICS, METRIC.id, METRIC)
    monkeypatch.setitem(METHODS, METHOD.id, METHOD)
    monkeypatch.setattr(readers, "FORMATS", {FORMAT.id: FORMAT, **readers.FORMATS})


def test_the_command_line_lists_them_by_default(call: Call, tmp_path: Path) -> None:
    elements = call("score", write(tmp_path, "quiz.csv", GOOD), "--json").elements
    given = {(element["method"], element["metric"]): element["value"] for element in elements}
    assert {method for method, _ in given} == {"given", METHOD.id}
    assert {metric for method, metric in given if method == "given"} == {"verdict"} | {
        id_ for id_, metric in METRICS.items() if metric.needs == "pairs"
    }
    # Every row of GOOD has a bin of its own: 0.1², 0.8², 0.4² and 0.3².
    assert given["given", METRIC.id] == pytest.approx((0.01 + 0.64 + 0.16 + 0.09) / 4)
    assert given[METHOD.id, "bias"] == pytest.approx(2.6 / 8 - 0.5)


def test_every_command_takes_them_by_name(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, "quiz.csv", GOOD)
    for verb in ("score", "sweep", "bins", "compare"):
        answer = call(verb, path, "--method", METHOD.id, "--metric", METRIC.id, "--json")
        assert (answer.code, answer.element["method"]) == (0, METHOD.id), verb


def test_the_python_interface_gives_them(tmp_path: Path) -> None:
    (run,) = calib_core.load(write(tmp_path, "quiz.csv", GOOD))
    number = calib_core.score(run, method=METHOD.id, metric=METRIC.id)
    assert number.value == pytest.approx((0.55**2 + 0.4**2 + 0.7**2 + 0.15**2) / 4)
    assert number.recipe.startswith("mean square gap, equal width, M=10")


def test_the_figures_give_them_a_look_of_their_own() -> None:
    assert len({method_style(id_, LIGHT).symbol for id_ in METHODS}) == len(METHODS)
    named = [f"given.{name}" for name in "abcd"]
    without_style = [method_style(id_, LIGHT, named) for id_ in (METHOD.id, *named)]
    for look in ("colour", "dash", "symbol"):
        assert len({getattr(style, look) for style in without_style}) == len(without_style)
    lines = [metric_line_style(id_, LIGHT) for id_ in METRICS]
    assert len({(line["color"], line["dash"]) for line in lines}) == len(METRICS)


def test_a_file_is_read_in_the_new_format(tmp_path: Path) -> None:
    path = tmp_path / "quiz.log"
    rows = [{"id": "a", "confidence": 0.9, "correct": 1}, {"id": "b", "confidence": 0.8, "correct": 0}]
    path.write_text("\n".join(map(json.dumps, [{"trial": 1}, *rows])))
    reading = readers.read_in_this_process(path, file="quiz.log")
    assert (reading.format, reading.n_rows, reading.n_bad_rows) == (FORMAT.id, 2, 0)
    (run,) = reading.good_runs
    assert run.info.model == "trial"
    assert score(gather_evidence(run, "given"), METRIC.id).value == pytest.approx((0.01 + 0.64) / 2)


def test_other_files_are_read_as_before(tmp_path: Path) -> None:
    path = write(tmp_path, "quiz.csv", GOOD)
    assert readers.read_in_this_process(Path(path), file="quiz.csv").format == "table"
