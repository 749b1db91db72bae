"""Can a judge's verdict be believed? Its agreement with people, the true pass rate, and its fairness."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

import numpy as np

from calib_core.advice import Advice, worded
from calib_core.errors import Unavailable
from calib_core.figures.judge import (
    cell_key,
    confusion_figure,
    describe_confusion,
    describe_fairness,
    describe_labels_needed,
    describe_pass_rate,
    fairness_figure,
    labels_needed_figure,
    pass_rate_figure,
)
from calib_core.results.judge import JUDGE_METRICS, JudgeResult, judge_result
from calib_core.results.judge_agreement import (
    DISAGREEMENT_COLUMNS,
    MEASURE_COLUMNS,
    MEASURE_HELP,
    JudgeAgreement,
    MeasureId,
)
from calib_core.results.judge_comparison import JUDGE_COMPARISON_COLUMNS, JudgeComparison
from calib_core.results.judge_fairness import FAIRNESS_COLUMNS, JudgeFairness
from calib_core.results.judge_pass_rate import LABELLED_PART_COLUMNS, PASS_RATE_COLUMNS, PassRates
from calib_core.runs import AnswerRun
from calib_core.views.inputs import ReportInput, ReportRun
from calib_core.views.view import (
    Fact,
    Numbers,
    ProgressCallback,
    Section,
    View,
    ViewFigure,
    ViewTable,
    not_drawn_views,
)
from calib_core.wording import plural

ID, TITLE, QUESTION = "judge", "Judge", "Can a judge's verdict be believed?"

NO_JUDGE: Final = (
    "A judge is compared with people where a file has a column of its labels (judge) and one of people's "
    "(human, or several human.NAME); most rows may lack a person's."
)
"""What a run needs for the page."""

DISAGREEMENTS: Final = "disagreements"
"""Stands for the rows of all cells in which judge and people differ."""

TRUE_RATE: Final = "How many truly pass"
FAIRNESS_TITLE: Final = "Is it fair?"

HOW_TO_READ: Final = "Blue: both say the same. Percent: of the rows with that label from people."

HOW_TO_READ_GROUPS: Final = (
    "Right of 0: more often than on the labelled rows outside the group. Filled: clear, corrected for all "
    "that were tried."
)

MAX_GROUPS_SHOWN = 10
"""Groups of the tables of fairness, those that differ most clearly."""


def judged_runs(report_input: ReportInput) -> tuple[ReportRun, ...]:
    """The runs with a judge's labels beside people's."""
    return tuple(run for run in report_input.runs if run.report.has_judge_and_people)


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Build the views of every run with a judge; raises Unavailable if there is none."""
    runs = judged_runs(report_input)
    if not runs:
        raise Unavailable(NO_JUDGE)
    views: list[View] = []
    refused: list[str] = []
    for index, run in enumerate(runs):
        progress(index / len(runs), run.title)
        try:
            views += page_views(judge_result(run.report.run), title=run.title)
        except Unavailable as reason:
            refused.append(f"{run.title}: {reason}")
    if not views:
        raise Unavailable(refused[0])
    return Section(ID, TITLE, QUESTION, (*views, *not_drawn_views(refused)))


def page_views(result: JudgeResult, *, title: str = "", chosen: str | None = None) -> tuple[View, ...]:
    """The parts of the page: agreement, the true pass rate where it is known which labels pass, fairness.

    Parameters
    ----------
    result : JudgeResult
    title : str
        The run's title; its label where omitted.
    chosen : str, optional
        Key of the chosen cell of the confusion.
    """
    agreement = agreement_view(result.agreement)
    agreement = replace(
        agreement,
        title=title or agreement.title,
        figures=(confusion_view_figure(result.agreement, chosen),),
        tables=tuple(replace(table, title="") for table in agreement.tables if table.id == "agreement"),
        how_to_read=HOW_TO_READ,
    )
    rates = () if result.pass_rates is None else (_without_tables(pass_rate_view(result.pass_rates)),)
    fairness = fairness_view(result.fairness)
    shows_fairness = result.fairness.n_compared or result.labels.swaps.size
    return agreement, *rates, *((fairness,) if shows_fairness else ())


def _without_tables(view: View) -> View:
    """The view of the pass rate without its table, as the figure has all of it."""
    return replace(view, tables=tuple(table for table in view.tables if table.id != "pass_rates"))


def score_text(result: JudgeResult, run: AnswerRun) -> str:
    """How to ask whether the judge's scores are probabilities; "" where it has none from 0 to 1."""
    if run.has_columns("event_prob", "event"):
        return "The page Reliability compares the score with what people say."
    score = result.labels.score
    if score is None or not 0 <= np.nanmin(score) <= np.nanmax(score) <= 1 or len(result.labels.names) != 2:
        return ""
    human = next(name for name in run.human_columns)
    passing = (result.labels.passing_names or result.labels.names)[0]
    options = Advice(columns={"judge_score": "event_prob", human: f"event:{passing}"})
    as_columns = worded(f"read the file with {options}", on_page=f"read {options} on Files")
    return f"To see its score against what people say, {as_columns}."


def judge_view(result: JudgeResult, metrics: Collection[str] = JUDGE_METRICS) -> View:
    """Everything that is said of a judge, as one view.

    Parameters
    ----------
    result : JudgeResult
    metrics : collection of str
        Ids of what is shown.
    """
    views = [agreement_view(result.agreement, metrics)]
    if result.pass_rates is not None and "pass_rate" in metrics:
        views.append(pass_rate_view(result.pass_rates))
    views += [
        _named(agreement_view(group.agreement, metrics), f"{result.by}: {group.labels.group}")
        for group in result.groups
    ]
    if not result.by and set(metrics) == set(JUDGE_METRICS):
        views.append(fairness_view(result.fairness))
    return View(
        title=result.labels.run,
        headline=views[0].headline,
        caveat=views[0].caveat,
        tables=tuple(table for view in views for table in view.tables),
        facts=tuple(fact for view in views for fact in _with_headline(view, first=view is views[0])),
        recipes=tuple(dict.fromkeys(recipe for view in views for recipe in view.recipes)),
        left_out=result.left_out,
        subject=result.labels.run,
    )


def agreement_view(result: JudgeAgreement, metrics: Collection[str] = JUDGE_METRICS) -> View:
    """How often judge and people agree."""
    frame = result.to_frame()
    shown_rows = frame.filter(frame["metric"].is_in(list(metrics)))
    has_notes = any(shown_rows["note"])
    shown = tuple(column for column in MEASURE_COLUMNS if has_notes or column.name != "note")
    numbers = Numbers(result.to_frame, result.recipe, ("judge",))
    tables = (
        [ViewTable("Judge against people", shown_rows, shown, id="agreement", numbers=numbers)]
        if shown_rows.height
        else []
    )
    if "agreement" in metrics:
        confusion = result.confusion_frame()
        tables.append(
            ViewTable(
                "Labelled rows by label",
                confusion,
                result.confusion_columns(),
                id="confusion",
                numbers=Numbers(result.confusion_frame, result.recipe, ("confusion",)),
            )
        )
    kept = [one for one in result.measures if str(one.metric) in metrics]
    titles: dict[MeasureId, str] = {one.metric: one.title for one in reversed(kept)}
    return View(
        title=result.labels.run,
        headline=result.headline,
        caveat=result.caveat,
        figures=(confusion_view_figure(result),) if "agreement" in metrics else (),
        tables=tuple(tables),
        facts=tuple(Fact(titles[id_], MEASURE_HELP[id_]) for id_ in reversed(titles)),
        recipes=(result.recipe,),
        subject=result.labels.run,
        name=(result.labels.run,),
    )


def confusion_view_figure(result: JudgeAgreement, chosen: str | None = None) -> ViewFigure:
    """Labelled rows by label of judge and people; the chosen cell is outlined."""
    return ViewFigure(
        lambda theme: confusion_figure(result, theme, chosen=chosen),
        describe_confusion(result),
        "Labelled rows by label",
        narrow=True,
        id="confusion_figure",
        numbers=Numbers(result.confusion_frame, result.recipe, ("confusion",)),
    )


def cell_keys(result: JudgeAgreement) -> dict[str, tuple[str, str]]:
    """The key of each cell of the confusion → the judge's label and people's."""
    names = result.labels.names
    return {
        cell_key(judge, human): (names[judge], names[human])
        for judge in range(len(names))
        for human in range(len(names))
    }


def rows_view(result: JudgeAgreement, run: AnswerRun, chosen: str | None = None) -> View:
    """The rows of one cell of the confusion, or all on which judge and people differ.

    Parameters
    ----------
    result : JudgeAgreement
    run : AnswerRun
        The run that it is of.
    chosen : str, optional
        A key of `cell_keys`; the rows on which they differ where omitted.
    """
    cell = cell_keys(result).get(chosen or "")
    at = result.cell_rows(*(cell or (None, None)))
    frame = result.rows_frame(run.rows, at)
    columns = tuple(
        column
        for column in DISAGREEMENT_COLUMNS
        if column.name in ("row", "judge", "human") or frame[column.name].null_count() < frame.height
    )
    what = f"judge “{cell[0]}”, people “{cell[1]}”" if cell else "judge and people differ"
    name = ("rows", chosen or DISAGREEMENTS)
    order = ", highest score first" if "score" in (column.name for column in columns) else ""
    return View(
        title=result.labels.run,
        tables=(
            ViewTable(
                f"{plural(frame.height, 'row')}: {what}{order}",
                frame,
                columns,
                id="judge_rows",
                numbers=Numbers(lambda: frame, result.recipe, name),
            ),
        ),
        subject=result.labels.run,
        name=(result.labels.run,),
    )


def pass_rate_view(result: PassRates) -> View:
    """How many answers truly pass."""
    frame = result.to_frame()
    tables = [
        ViewTable(
            "How many truly pass",
            frame,
            PASS_RATE_COLUMNS,
            id="pass_rates",
            numbers=Numbers(result.to_frame, result.recipe, ("pass_rate",)),
        )
    ]
    if not result.labels_look_random:
        tables.append(
            ViewTable(
                "Which rows people labelled",
                result.parts_frame().head(MAX_GROUPS_SHOWN),
                LABELLED_PART_COLUMNS,
                id="labelled_part",
                numbers=Numbers(result.parts_frame, result.recipe, ("labelled",)),
            )
        )
    return View(
        title=TRUE_RATE,
        headline=result.headline,
        caveat=result.caveat,
        figures=(
            ViewFigure(
                lambda theme: pass_rate_figure(result, theme),
                describe_pass_rate(result),
                "Answers that pass, 95 %",
                narrow=True,
                id="pass_rate_figure",
                numbers=Numbers(result.to_frame, result.recipe, ("pass_rate",)),
            ),
            ViewFigure(
                lambda theme: labels_needed_figure(result, theme),
                describe_labels_needed(result),
                "Labels needed",
                narrow=True,
                id="labels_needed",
                numbers=Numbers(result.curve, result.recipe, ("labels_needed",)),
            ),
        ),
        tables=tuple(tables),
        how_to_read=result.shortest_text if result.labels_look_random else "",
        facts=(Fact("The shortest interval", result.shortest_text),) if result.labels_look_random else (),
        recipes=(result.recipe,),
        subject=result.labels.run,
        name=(result.labels.run,),
    )


def fairness_view(result: JudgeFairness) -> View:
    """To whom the judge is fair, and whether its verdicts turn with the order."""
    tables = (
        (
            ViewTable(
                "Groups",
                result.to_frame().sort("p").head(MAX_GROUPS_SHOWN),
                FAIRNESS_COLUMNS,
                id="fairness",
                numbers=Numbers(result.to_frame, result.recipe, ("fairness",)),
            ),
        )
        if result.n_compared
        else ()
    )
    figures = (
        ViewFigure(
            lambda theme: fairness_figure(result, theme),
            describe_fairness(result),
            "How much more often than elsewhere",
            id="fairness_figure",
            numbers=Numbers(result.to_frame, result.recipe, ("fairness",)),
        ),
    )
    return View(
        title=FAIRNESS_TITLE,
        headline=result.headline,
        figures=figures if result.n_compared else (),
        tables=tables,
        how_to_read=HOW_TO_READ_GROUPS if result.n_compared else "",
        recipes=(result.recipe,) if result.n_compared else (),
        subject=result.labels.run,
        name=(result.labels.run,),
    )


def judges_view(result: JudgeComparison) -> View:
    """Which of two judges agrees better with people."""
    numbers = Numbers(result.to_frame, result.recipe, ("judges",))
    table = ViewTable(
        f"{result.first} and {result.second}",
        result.to_frame(),
        JUDGE_COMPARISON_COLUMNS,
        id="judges",
        numbers=numbers,
    )
    only = (
        f"Of {plural(result.n, 'labelled row')} the first alone agrees with people on {result.only_first:,}, "
        f"the second alone on {result.only_second:,}."
    )
    return View(
        title="Two judges",
        headline=result.headline,
        tables=(table,),
        facts=(Fact("Where they differ", only),),
        recipes=(result.recipe,),
        subject=result.first,
        name=(result.first, result.second),
    )


def _named(view: View, title: str) -> View:
    return replace(
        view,
        title=title,
        tables=tuple(replace(table, title=f"{title}: {table.title}") for table in view.tables),
        facts=(),
    )


def _with_headline(view: View, *, first: bool) -> tuple[Fact, ...]:
    """The facts of a view, behind its headline and caveat where they do not stand above all."""
    if first:
        return view.facts
    said = " ".join(filter(None, (view.headline, view.caveat)))
    return (Fact(view.title, said), *view.facts)
