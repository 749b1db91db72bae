"""The page Comparison: which model is both accurate and well calibrated?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
import streamlit as st

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.figures.comparison import comparison_figure, describe_comparison
from calib_core.methods import METHODS
from calib_core.metrics import DEFAULT_METRIC, METRICS
from calib_core.results.comparison import (
    BASE_METRICS,
    Comparison,
    ComparisonPoint,
    MetricEstimate,
    compare_runs,
)
from calib_core.results.defaults import default_compared_methods
from calib_core.results.evidence import Evidence
from calib_core.results.judged_answer import JudgedChoice, judged_by
from calib_core.results.score import metric_availability
from calib_core.results.uncertainty import missing_statistics_note
from calib_core.results.view_caption import ViewCaption, bins_caption, view_caption
from calib_core.views.comparison import (
    BEST_BY_HELP,
    TRENDS_TITLE,
    comparison_caption,
    comparison_tiles,
    no_trend_reason,
    trend_rows,
    trend_sentences,
)
from calib_core.views.view import file_parts
from calib_core.wording import format_interval, plural
from pages.state.cache import cached_result
from pages.state.markdown import escape_markdown
from pages.state.progress import progress_bar
from pages.state.runs import LoadedRun, cached_measure
from pages.state.url import UrlState
from pages.widgets.binning import pick_binning
from pages.widgets.export import Export, make_file_stem, table_export_menu
from pages.widgets.figure import figure_and_detail, show_figure
from pages.widgets.pages import PAGES
from pages.widgets.pickers import (
    ROW_CLICKS,
    rows_key,
    select_box,
    select_point_from_figure,
    select_point_from_table,
    selected_point,
)
from pages.widgets.reliability_diagram import show_reliability_diagram
from pages.widgets.run_choice import RunChoice
from pages.widgets.run_selection import (
    RunEvidence,
    RunSelection,
    pick_judged_answer,
    pick_run_selection,
    show_not_drawn,
)
from pages.widgets.shell import shell
from pages.widgets.summary import (
    show_headline,
    show_provenance,
    show_remarks,
    show_tiles,
    show_warnings_of_runs,
)
from pages.widgets.table import COLUMN_CONFIG, drop_constant_columns, show_table


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonChoice:
    """What the page Comparison shows.

    Attributes
    ----------
    selection : RunSelection
        The compared runs and methods.
    x, y : str
        Ids of the metrics on the two axes.
    scheme : Scheme
        Binning of those metrics that are binned.
    judged_choice : {"own", "greedy", "majority"}
        Which answer the methods are judged by.
    """

    selection: RunSelection
    x: str
    y: str
    scheme: Scheme
    judged_choice: JudgedChoice

    @property
    def evidence_by_point(self) -> dict[str, RunEvidence]:
        """Each run scored by one method, by the key of its point."""
        return {point_key(scored): scored for scored in self.selection.run_evidences}

    @property
    def style_indices(self) -> dict[str, int]:
        """The style index of each point's run, by the key of the point."""
        return {key: scored.run.style_index for key, scored in self.evidence_by_point.items()}


def point_key(run_evidence: RunEvidence) -> str:
    """Return the key of a point as the address has it, "run:method"."""
    return f"{run_evidence.run.id}:{run_evidence.evidence.method.id}"


def choose_comparison(url_state: UrlState, runs: Sequence[LoadedRun]) -> ComparisonChoice:
    """Draw the sidebar controls: data set, runs, methods and the metric of each axis.

    Raises
    ------
    Unavailable
        Where no run gives one of the methods.
    """
    selection = pick_run_selection(url_state, runs, default_methods=default_compared_methods)
    judged_choice = pick_judged_answer(url_state, selection)
    available = {
        id_
        for scored in selection.run_evidences
        if (evidence := cached_judged_evidence(scored, judged_choice))
        for id_, reason in metric_availability(evidence, Scheme()).items()
        if not reason
    }
    allowed = [id_ for id_ in METRICS if id_ in available]
    x, y = (
        _pick_axis(url_state, axis, allowed, default)
        for axis, default in zip(("x", "y"), BASE_METRICS, strict=True)
    )
    url_state.carry_body_value("at", [point_key(scored) for scored in selection.run_evidences])
    scheme = Scheme()
    if METRICS[x].binned or METRICS[y].binned:
        scheme = pick_binning(url_state, selection.run_evidences[0].evidence)
    return ComparisonChoice(selection, x, y, scheme, judged_choice)


def cached_judged_evidence(scored: RunEvidence, judged_choice: JudgedChoice) -> Evidence | None:
    """Return the evidence judged by the chosen answer, made once; None where no row has its outcome."""

    def judge() -> Evidence | None:
        try:
            return judged_by(scored.evidence, judged_choice)
        except Unavailable:  # the comparison gives the reason
            return None

    if judged_choice == "own":
        return scored.evidence
    run, evidence = scored.run, scored.evidence
    source = (run.id, run.file.name, run.file.stamp, evidence.method.id, evidence.options)
    return cached_result(("judged_evidence", *source, judged_choice), judge)


def _pick_axis(url_state: UrlState, key: str, allowed: Sequence[str], default: str) -> str:
    picked = url_state.pick(key, allowed, default)
    select_box(
        "X axis" if key == "x" else "Y axis",
        allowed,
        picked,
        key=key,
        title_of=lambda id_: METRICS[id_].title,
        help_=METRICS[picked].help,
    )
    return picked


def cached_comparison(choice: ComparisonChoice) -> Comparison:
    """Return the comparison, with a progress bar while missing intervals are computed."""

    def compute() -> Comparison:
        n_done = 0
        estimate = cached_measure(
            {scored.evidence.run: scored.run for scored in choice.selection.run_evidences}
        )
        with progress_bar("Computing intervals …") as show:

            def estimate_with_progress(evidence: Evidence, metric: str, scheme: Scheme) -> MetricEstimate:
                nonlocal n_done
                n_done += 1
                show(n_done / (4 * len(choice.selection.run_evidences)), "Computing intervals …")
                return estimate(evidence, metric, scheme)

            return compare_runs(
                {key: scored.evidence for key, scored in choice.evidence_by_point.items()},
                choice.x,
                choice.y,
                choice.scheme,
                titles={key: scored.run.title for key, scored in choice.evidence_by_point.items()},
                available_methods=available_methods,
                judged_choice=choice.judged_choice,
                estimator=estimate_with_progress,
                on_progress=lambda share: show(share, "Comparing every pair …"),
            )

    available_methods = frozenset(id_ for run in choice.selection.runs for id_ in run.report.survey.usable)
    shown = (choice.x, choice.y, choice.scheme, choice.judged_choice)
    return cached_result(("comparison", *choice.selection.cache_key(), available_methods, *shown), compute)


def comparison_view_caption(choice: ComparisonChoice, result: Comparison) -> ViewCaption:
    """Return the caption that says which runs and methods the points are of."""
    drawn = [choice.evidence_by_point[point.key] for point in result.points]
    binned = METRICS[choice.x].binned or METRICS[choice.y].binned
    judged = [cached_judged_evidence(scored, choice.judged_choice) for scored in drawn]
    evidences = [evidence for evidence in judged if evidence]
    caption = view_caption(
        plural(len(drawn), "point"),
        [scored.run.title for scored in drawn],
        evidences,
        bins_caption(choice.scheme) if binned else "",
    )
    missing = missing_statistics_note(evidences, [choice.x, choice.y], choice.scheme, intervals=True)
    return replace(caption, missing_note=missing)


def show_comparison_tiles(result: Comparison) -> None:
    """Draw the tiles: number of points, the best by each metric, and how many beat a constant confidence."""
    if result.points:
        show_tiles([tile._replace(below=escape_markdown(tile.below)) for tile in comparison_tiles(result)])


def comparison_export(result: Comparison) -> Export:
    """Return the export of every point with its intervals."""
    binned = any(METRICS[id_].binned for id_ in (result.x, result.y))
    bins = (result.scheme.binning, result.scheme.bins) if binned else ()
    datasets = {trend.dataset for trend in result.trends}
    methods = file_parts((point.method for point in result.points), "methods")
    return Export(
        make_file_stem("comparison", *methods, result.x, result.y, *bins),
        result.to_frame,
        result.recipe,
        "Comparison",
        ", ".join(sorted(filter(None, datasets))),
        headline=result.headline,
        tiles=comparison_tiles(result) if result.points else (),
    )


def show_comparison_caption(result: Comparison) -> None:
    """Draw the caption that says how to read the figure."""
    st.caption(f"{comparison_caption(result)} Click a point or a row to see its reliability diagram.")


def show_trends(result: Comparison) -> None:
    """Draw the rank correlation of each method: a sentence for one method, a table for several."""
    if len(result.trends) == 1 or no_trend_reason(result):
        st.markdown(escape_markdown(trend_sentences(result)[0]))
    elif result.trends:
        rows = trend_rows(result)
        st.subheader(TRENDS_TITLE, anchor=False)
        show_table(
            pl.DataFrame(rows, infer_schema_length=None),
            key="trends",
            alt=plural(len(rows), "method"),
            export=replace(comparison_export(result), content="Table of trends"),
        )


def show_points_table(result: Comparison, chosen: str | None) -> None:
    """Draw one row per point, highest skill first; a click selects a point, a second click clears it.

    Parameters
    ----------
    result : Comparison
    chosen : str or None
        Key of the selected point.
    """
    keys = [point.key for point in result.points_by_skill]
    widget = rows_key("points", chosen, *keys)
    rows = [
        {"number": number, **_point_row(point, result)}
        for number, point in enumerate(result.points_by_skill, 1)
    ]
    shown = drop_constant_columns(pl.DataFrame(rows, infer_schema_length=None), "judged", "used")
    st.dataframe(
        shown,
        key=widget,
        hide_index=True,
        column_config=_point_columns(result),
        placeholder="–",
        height="content" if len(keys) <= 12 else 460,
        on_select=lambda: select_point_from_table(widget, keys),
        selection_mode=ROW_CLICKS,
        selection_default={"selection": {"rows": [keys.index(chosen)], "columns": [], "cells": []}}
        if chosen in keys
        else None,
        alt=f"{plural(len(keys), 'point')}, the highest skill first",
    )
    table_export_menu(
        replace(comparison_export(result), content="Table of points"),
        "points",
        shown=shown,
        columns=_point_columns(result),
    )


def _point_row(point: ComparisonPoint, result: Comparison) -> dict[str, Any]:
    estimates = {estimate.metric: estimate for estimate in (point.x, point.y)}
    other_columns: dict[str, Any] = {}
    for id_ in _other_metrics(result):
        other_columns |= {
            id_: estimates[id_].value,
            f"{id_}_": format_interval(estimates[id_].low, estimates[id_].high),
        }
    return {
        "run": point.name,
        "title": METHODS[point.method].title,
        "judged": point.judged,
        **other_columns,
        "skill": point.brier_skill,
        "best_by": result.best_by_text(point.key),
        "accuracy": 100 * point.accuracy.value,
        "accuracy_": format_interval(point.accuracy.low, point.accuracy.high, ".1f", 100),
        "brier": point.brier.value,
        "brier_": format_interval(point.brier.low, point.brier.high),
        "ece_10": point.ece_10,
        "used": f"{point.n_used:,} / {point.n_total:,}",
    }


def _other_metrics(result: Comparison) -> list[str]:
    """Return the metrics on the axes that have no column of their own in every table."""
    return [id_ for id_ in dict.fromkeys((result.x, result.y)) if id_ not in BASE_METRICS]


def _point_columns(result: Comparison) -> dict[str, Any]:
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    others = [METRICS[id_] for id_ in _other_metrics(result)]
    return {
        "number": number(
            "No.", width=38, help="The number of the point in the figure, where names do not fit."
        ),
        "run": text("Run", help=_full_name_help(result)),
        "title": text("Confidence method"),
        **{metric.id: number(metric.title, format="%.4f", help=metric.help) for metric in others},
        **{f"{metric.id}_": text(f"{metric.title} 95 %") for metric in others},
        "skill": number(
            "Skill",
            format="%+.3f",
            width=54,
            help="Brier skill score: 1 − Brier/(a(1−a)), where a is the accuracy.",
        ),
        "best_by": text("Best by", width=132, help=BEST_BY_HELP),
        "accuracy": COLUMN_CONFIG["accuracy"],
        "accuracy_": text("Accuracy 95 %", width=90, help="Wilson interval."),
        "brier": number("Brier", format="%.4f", width=58, help=METRICS["brier"].help),
        "brier_": text("Brier 95 %", width=114, help="Student’s t interval of the mean."),
        "ece_10": number(
            "ECE, M = 10" if METRICS["ece"] in others else "ECE",
            format="%.4f",
            help=f"M = 10 bins of equal width. {METRICS['ece'].help}",
        ),
        "used": text("Rows used / total", width=108),
        "judged": text("Judged"),
    }


def _full_name_help(result: Comparison) -> str | None:
    """Return the help that gives the first run's full name; None where names are not shortened."""
    first = next(iter(result.points_by_skill), None)
    if first is None or first.name == first.run:
        return None
    return f"Short names that differ between runs. Full name of the first: {escape_markdown(first.run)}."


def show_refused_points(choice: ComparisonChoice, result: Comparison) -> None:
    """List the runs that lack a method or one of the two numbers, each with its reason."""
    refused = {
        (choice.evidence_by_point[key].run.id, choice.evidence_by_point[key].evidence.method.id): reason
        for key, reason in result.unavailable.items()
    }
    show_not_drawn(replace(choice.selection, unavailable={**choice.selection.unavailable, **refused}))


def show_point_diagram(comparison_choice: ComparisonChoice, key: str, script: str) -> None:
    """Draw the reliability diagram of one point.

    The diagram uses the metric of the y axis, or ECE where that metric is not available for the point.

    Parameters
    ----------
    comparison_choice : ComparisonChoice
    key : str
        Key of the point.
    script : str
        Script of the page that the link below the diagram opens.
    """
    scored = comparison_choice.evidence_by_point[key]
    evidence = cached_judged_evidence(scored, comparison_choice.judged_choice) or scored.evidence
    reasons = metric_availability(evidence, comparison_choice.scheme)
    metric = comparison_choice.y if reasons.get(comparison_choice.y) is None else DEFAULT_METRIC
    title = f"{scored.run.title}, {METHODS[evidence.method.id].title}"
    choice = RunChoice(scored.run, evidence, metric, comparison_choice.scheme)
    show_reliability_diagram(choice, title, "Open this run on the page Reliability", script)


def page() -> None:
    """Draw the page."""
    choice = shell("comparison", choose_comparison).choice
    result = cached_comparison(choice)
    chosen = selected_point([point.key for point in result.points])
    show_headline(result.headline)
    show_comparison_tiles(result)
    show_warnings_of_runs((scored.run.title, scored.evidence) for scored in choice.selection.run_evidences)
    figure, detail = figure_and_detail(has_detail=chosen is not None)
    with figure:
        show_figure(
            lambda theme: comparison_figure(
                result, theme, selected=chosen, style_indices=choice.style_indices
            ),
            key="comparison",
            alt=describe_comparison(result),
            export=comparison_export(result),
            on_select=lambda: select_point_from_figure("comparison"),
        )
    if chosen is not None:
        with detail:
            show_point_diagram(choice, chosen, PAGES["reliability"].script)
    show_points_table(result, chosen)
    show_provenance(comparison_view_caption(choice, result), result.recipe)
    show_comparison_caption(result)
    show_remarks(*result.caveats)
    show_trends(result)
    show_refused_points(choice, result)


if __name__ == "__main__":
    page()
