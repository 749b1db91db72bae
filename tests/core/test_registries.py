"""One registry line is enough: command line and Python interface give a new metric and a new method."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import calib_core
from calib_core.bins import Sums
from calib_core.edges import Scheme
from calib_core.figures.marks import metric_line_style
from calib_core.figures.palette import LIGHT, method_style
from calib_core.methods import METHODS
from calib_core.methods.given import GIVEN
from calib_core.methods.method import Confidences, MethodOptions
from calib_core.metrics import METRICS
from calib_core.metrics.metric import Metric
from calib_core.runs import AnswerRun
from core.cli_words import GOOD, Call, write


def mean_square_gap(sums: Sums, scheme: Scheme) -> float | None:
    """Σ_b n_b · (gap of b)² / n."""
    binned = sums.binned(scheme)
    return float((binned.absolute_gap**2 / binned.count).sum()) / sums.n_pairs if sums.n_pairs else None


def doubted(run: AnswerRun, options: MethodOptions) -> Confidences:
    """The confidence of the file, halved."""
    rows = run.rows.with_columns(confidence=run.rows["confidence"] / 2)
    return GIVEN.compute(AnswerRun(run.file, run.format, run.label, run.info, rows, run.row_counts), options)


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


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trial metric and a trial method in the registries."""
    monkeypatch.setitem(METRICS, METRIC.id, METRIC)
    monkeypatch.setitem(METHODS, METHOD.id, METHOD)


def test_the_command_line_gives_them_unasked(call: Call, tmp_path: Path) -> None:
    elements = call("score", write(tmp_path, "quiz.csv", GOOD), "--json").elements
    given = {(element["method"], element["metric"]): element["value"] for element in elements}
    assert {method for method, _ in given} == {"given", METHOD.id}
    assert {metric for method, metric in given if method == "given"} == {
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


def test_the_figures_draw_them_as_nothing_else() -> None:
    assert len({method_style(id_, LIGHT).symbol for id_ in METHODS}) == len(METHODS)
    lines = [metric_line_style(id_, LIGHT) for id_ in METRICS]
    assert len({(line["color"], line["dash"]) for line in lines}) == len(METRICS)
