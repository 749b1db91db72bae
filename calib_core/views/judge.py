"""May a judge's verdict be believed? Its agreement with people, the true pass rate, and its fairness."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from calib_core.results.judge import JUDGE_METRICS, JudgeResult
from calib_core.results.judge_agreement import MEASURE_COLUMNS, MEASURE_HELP, JudgeAgreement
from calib_core.results.judge_comparison import JUDGE_COMPARISON_COLUMNS, JudgeComparison
from calib_core.results.judge_fairness import FAIRNESS_COLUMNS, JudgeFairness
from calib_core.results.judge_pass_rate import LABELLED_PART_COLUMNS, PASS_RATE_COLUMNS, PassRates
from calib_core.views.view import Fact, Numbers, View, ViewTable
from calib_core.wording import plural

MAX_GROUPS_SHOWN = 10
"""Groups of the tables of fairness, those that differ most clearly."""


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
    shown = tuple(column for column in MEASURE_COLUMNS if column.title)
    if not any(shown_rows["note"]):
        shown = tuple(column for column in shown if column.name != "note")
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
    kept = [one for one in result.measures if one.metric in metrics]
    titles = {one.metric: one.title for one in reversed(kept)}
    return View(
        title=result.labels.run,
        headline=result.headline,
        tables=tuple(tables),
        facts=tuple(Fact(titles[id_], MEASURE_HELP[id_]) for id_ in reversed(titles)),
        recipes=(result.recipe,),
        subject=result.labels.run,
    )


def pass_rate_view(result: PassRates) -> View:
    """How many answers truly pass."""
    frame = result.to_frame()
    shown = tuple(column for column in PASS_RATE_COLUMNS if column.title)
    tables = [
        ViewTable(
            "How many truly pass",
            frame,
            shown,
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
        title="How many truly pass",
        headline=result.headline,
        caveat=result.caveat,
        tables=tuple(tables),
        facts=(Fact("The shortest interval", result.shortest_text),) if result.labels_look_random else (),
        recipes=(result.recipe,),
        subject=result.labels.run,
    )


def fairness_view(result: JudgeFairness) -> View:
    """To whom the judge is fair, and whether its verdicts turn with the order."""
    shown = tuple(column for column in FAIRNESS_COLUMNS if column.title)
    tables = (
        (
            ViewTable(
                "Groups",
                result.to_frame().sort("p").head(MAX_GROUPS_SHOWN),
                shown,
                id="fairness",
                numbers=Numbers(result.to_frame, result.recipe, ("fairness",)),
            ),
        )
        if result.n_compared
        else ()
    )
    order = (Fact("Both orders", result.order_headline),) if result.labels.swaps.size else ()
    return View(
        title="Is it fair?",
        headline=result.headline,
        tables=tables,
        facts=order,
        recipes=(result.recipe,) if result.n_compared else (),
        subject=result.labels.run,
    )


def judges_view(result: JudgeComparison) -> View:
    """Which of two judges agrees better with people."""
    shown = tuple(column for column in JUDGE_COMPARISON_COLUMNS if column.title)
    numbers = Numbers(result.to_frame, result.recipe, ("judges",))
    table = ViewTable(
        f"{result.first} and {result.second}", result.to_frame(), shown, id="judges", numbers=numbers
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
