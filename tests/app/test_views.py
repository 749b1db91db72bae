"""Every view says the same numbers on a page, in a report, in a cell of a notebook and in the terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

import pytest
from streamlit.testing.v1 import AppTest

import calib_core
import shown_view
from app_server import ROOT
from calib_core.cli.rendering import ResultPrinter
from calib_core.notebook import ViewDisplay
from calib_core.reporting.document import BodyWriter
from calib_core.results.classwise import classwise
from calib_core.results.columns import column_texts
from calib_core.results.evidence import gather_evidence
from calib_core.results.judge_comparison import compare_judges
from calib_core.runs import AnswerRun, Run
from calib_core.views.registry import VIEWS
from calib_core.views.view import View, ViewTable
from calib_core.wording import NO_VALUE
from pages.widgets.export import as_displayed
from pages.widgets.view import screen_table
from report_html import read

DATA: Final = ROOT / "data"


@cache
def runs(name: str) -> list[Run]:
    return calib_core.load(DATA / name)


def chains() -> list[Run]:
    return runs("chains-choice.answers.parquet")


def checkpoints() -> list[Run]:
    return runs("code-gpt.sums.parquet")


def judge() -> AnswerRun:
    (run,) = runs("5-mmlu-redux-judge.answers.parquet")
    assert isinstance(run, AnswerRun)
    return run


RESULTS: Final[dict[str, Callable[[], Any]]] = {
    "score": lambda: calib_core.score(chains()[0], metric="ece"),
    "scores": lambda: calib_core.score(chains()[0]),
    "verdict": lambda: calib_core.verdict(chains()[0]),
    "reliability": lambda: calib_core.reliability(chains()[0]),
    "reliability of tokens": lambda: calib_core.reliability(checkpoints()[-1], metric="full_ece"),
    "classwise": lambda: classwise(gather_evidence(chains()[0], "choice_softmax"), "cw_ece"),
    "concentration": lambda: calib_core.concentration(chains()[0]),
    "sweep": lambda: calib_core.sweep(chains()[0]),
    "audit": lambda: calib_core.audit(chains()[0]),
    "recalibrate": lambda: calib_core.recalibrate(chains()[0]),
    "abstention": lambda: calib_core.abstention(chains()[0]),
    "threshold": lambda: calib_core.threshold(chains()[0], accuracy=0.6),
    "threshold_cost": lambda: calib_core.threshold_cost(chains()[0], cost_wrong=10, cost_handed_on=1),
    "compare": lambda: calib_core.compare(chains()),
    "compare_methods": lambda: calib_core.compare_methods(chains()),
    "sampling": lambda: calib_core.sampling(chains()[0], sizes=(2, 4), repeats=3),
    "groups": lambda: calib_core.groups(runs("facts.answers.parquet")),
    "training": lambda: calib_core.training(checkpoints()),
    "judge": lambda: calib_core.judge(judge()),
    "agreement": lambda: result_of("judge").agreement,
    "pass rates": lambda: result_of("judge").pass_rates,
    "fairness": lambda: result_of("judge").fairness,
    "two judges": lambda: compare_judges(judge(), judge()),
}


@cache
def result_of(question: str) -> Any:
    return RESULTS[question]()


@cache
def view_of(question: str) -> View:
    result = result_of(question)
    return VIEWS[type(result)](result)


def numbers_of(table: ViewTable) -> Iterator[list[str]]:
    """The texts of the columns that hold no words."""
    for column in table.columns:
        if not column.has_words:
            yield [text for text in column_texts(column, table.frame) if text not in ("", NO_VALUE)]


def drawn(view: View) -> AppTest:
    shown_view.shown[:] = [view]
    at = AppTest.from_file(shown_view.__file__, default_timeout=60).run()
    assert [element.message for element in at.exception] == []
    return at


def test_every_class_of_results_with_a_view_is_tried() -> None:
    assert {type(result_of(question)) for question in RESULTS} == set(VIEWS)


HTML: Final[dict[str, Callable[[View], str]]] = {
    "report": lambda view: BodyWriter().view_html(view, "a"),
    "notebook": lambda view: ViewDisplay(view).html(),
}


@pytest.mark.parametrize("question", RESULTS)
@pytest.mark.parametrize("where", HTML)
def test_html_has_the_numbers_of_the_view(where: str, question: str) -> None:
    view = view_of(question)
    document = read(HTML[where](view))
    assert {tile.label: tile.value for tile in view.tiles} == document.tiles
    cells = {cell for row in document.rows for cell in row}
    for table in view.tables:
        for texts in numbers_of(table):
            assert cells.issuperset(texts)
    assert view.headline in document.text


@pytest.mark.parametrize("question", RESULTS)
def test_the_terminal_has_the_numbers_of_the_view(
    question: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    view = view_of(question)
    printer = ResultPrinter()
    monkeypatch.setattr(printer._console, "width", 1000)
    printer.print_view(view)
    printed = capsys.readouterr().out
    cells = {cell.strip() for line in printed.splitlines() for cell in re.split("[│┃]", line)}
    for table in view.tables:
        for texts in numbers_of(table):
            assert cells.issuperset(texts)
    assert view.headline in printed


@pytest.mark.parametrize("question", RESULTS)
def test_a_page_has_the_numbers_of_the_view(question: str) -> None:
    view = view_of(question)
    at = drawn(view)
    assert [tile.value for tile in view.tiles] == [metric.value for metric in at.metric]
    assert len(at.dataframe) == sum(table.frame.height > 0 for table in view.tables)
    for table in view.tables:
        shown = as_displayed(*screen_table(table))
        for column, heading in zip(table.columns, table.headings, strict=True):
            if not column.has_words and column.kind != "amount":
                said = [text for text in column_texts(column, table.frame) if text != NO_VALUE]
                on_page = [text for text in shown[heading].to_list() if text not in (None, NO_VALUE)]
                assert on_page == said, column
