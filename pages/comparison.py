"""Which model is both accurate and honest?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
import streamlit as st

from calib_core.edges import Scheme
from calib_core.figures.comparison import comparison_figure, describe_comparison
from calib_core.methods import METHODS
from calib_core.metrics import DEFAULT_METRIC, METRICS
from calib_core.report.sections.comparison import (
    TRENDS_TITLE,
    comparison_caption,
    comparison_tiles,
    no_trend_reason,
    trend_rows,
    trend_sentences,
)
from calib_core.results.comparison import (
    BASE_METRICS,
    Comparison,
    ComparisonPoint,
    MetricEstimate,
    compare_runs,
)
from calib_core.results.evidence import Evidence
from calib_core.results.score import metric_availability
from calib_core.results.view_caption import ViewCaption, bins_caption, view_caption
from calib_core.wording import format_interval, plural
from pages.state.cache import cached_result
from pages.state.markdown import escape_markdown
from pages.state.runs import LoadedRun, cached_measure
from pages.state.url import UrlState
from pages.widgets.binning import pick_binning
from pages.widgets.export import Export, make_file_stem, stem_parts, table_export_menu
from pages.widgets.figure import show_figure
from pages.widgets.pickers import select_point_from_figure, select_point_from_table, selected_point
from pages.widgets.reliability_diagram import show_reliability_diagram
from pages.widgets.run_choice import RunChoice
from pages.widgets.run_selection import RunEvidence, RunSelection, pick_run_selection, show_not_drawn
from pages.widgets.shell import PAGES, shell
from pages.widgets.summary import show_headline, show_recipe, show_remarks, show_tiles
from pages.widgets.table import COLUMN_CONFIG, drop_constant_columns, show_table

# MERGED comparing: Which runs are compared on which two metrics?  The Comparison page's controls, and its result.


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonChoice:
    """many: runs and methods; x, y: metrics of the axes; scheme: of those that are binned."""

    selection: RunSelection
    x: str
    y: str
    scheme: Scheme

    @property
    def evidence_by_point(self) -> dict[str, RunEvidence]:
        """Each run seen by one method, by the point's key."""
        return {point_key(one): one for one in self.selection.run_evidences}

    @property
    def style_indices(self) -> dict[str, int]:
        """The place of each point's run among all runs at hand, by the point's key."""
        return {key: one.run.style_index for key, one in self.evidence_by_point.items()}


def point_key(run_evidence: RunEvidence) -> str:
    """The point's key: "run:method", as in the address."""
    return f"{run_evidence.run.id}:{run_evidence.evidence.method.id}"


def choose_comparison(url_state: UrlState, runs: Sequence[LoadedRun]) -> ComparisonChoice:
    """Data set, runs, methods, and the metric of each axis. Raises Unavailable where nothing fits."""
    many = pick_run_selection(url_state, runs)
    possible = {
        id_
        for one in many.run_evidences
        for id_, why in metric_availability(one.evidence, Scheme()).items()
        if not why
    }
    allowed = [id_ for id_ in METRICS if id_ in possible]
    x, y = (
        _pick_axis(url_state, axis, allowed, default)
        for axis, default in zip(("x", "y"), BASE_METRICS, strict=True)
    )
    url_state.carry_body_value("at", [point_key(one) for one in many.run_evidences])
    scheme = Scheme()
    if METRICS[x].binned or METRICS[y].binned:
        scheme = pick_binning(url_state, many.run_evidences[0].evidence)
    return ComparisonChoice(many, x, y, scheme)


def _pick_axis(url_state: UrlState, key: str, allowed: Sequence[str], default: str) -> str:
    picked = url_state.pick(key, allowed, default)
    st.selectbox(
        "Across" if key == "x" else "Upward",
        allowed,
        key=key,
        format_func=lambda id_: METRICS[id_].title,
        help=METRICS[picked].help,
    )
    return picked


def cached_comparison(choice: ComparisonChoice) -> Comparison:
    """The comparison, with progress while intervals are drawn that nobody has asked for yet."""

    def compute() -> Comparison:
        bar, done = st.progress(0.0, "Drawing intervals …"), 0
        stored = cached_measure({one.evidence.run: one.run for one in choice.selection.run_evidences})

        def telling(evidence: Evidence, metric: str, scheme: Scheme) -> MetricEstimate:
            nonlocal done
            done += 1
            bar.progress(min(1.0, done / (4 * len(choice.selection.run_evidences))), "Drawing intervals …")
            return stored(evidence, metric, scheme)

        made = compare_runs(
            {key: one.evidence for key, one in choice.evidence_by_point.items()},
            choice.x,
            choice.y,
            choice.scheme,
            titles={key: one.run.title for key, one in choice.evidence_by_point.items()},
            available_methods=possible,
            estimator=telling,
        )
        bar.empty()
        return made

    possible = frozenset(id_ for run in choice.selection.runs for id_ in run.report.survey.usable)
    return cached_result(
        ("comparison", *choice.selection.cache_key(), possible, choice.x, choice.y, choice.scheme), compute
    )


def comparison_view_caption(choice: ComparisonChoice, result: Comparison) -> ViewCaption:
    """The points, of which runs and by which methods."""
    seen = [choice.evidence_by_point[point.key] for point in result.points]
    binned = METRICS[choice.x].binned or METRICS[choice.y].binned
    return view_caption(
        plural(len(seen), "point"),
        [one.run.title for one in seen],
        [one.evidence for one in seen],
        bins_caption(choice.scheme) if binned else "",
    )


def show_refused_points(choice: ComparisonChoice, result: Comparison) -> None:
    """Runs that do not give a method, or not both numbers, each with the reason."""
    refused = {
        (choice.evidence_by_point[key].run.id, choice.evidence_by_point[key].evidence.method.id): why
        for key, why in result.unavailable.items()
    }
    show_not_drawn(replace(choice.selection, unavailable={**choice.selection.unavailable, **refused}))


# MERGED compared: What does a comparison come to?  Tiles, sentences and the table of the Comparison page.


def show_comparison_tiles(result: Comparison) -> None:
    """How many points, the best of each kind, and how many beat a constant."""
    if result.points:
        show_tiles([tile._replace(below=escape_markdown(tile.below)) for tile in comparison_tiles(result)])


def show_comparison_caption(result: Comparison) -> None:
    """How the picture is read."""
    st.caption(f"{comparison_caption(result)} Click a point or a row to see its reliability diagram.")


def show_trends(result: Comparison) -> None:
    """The ranks and the share of a(1−a), method by method: a sentence, or a row each."""
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
    """One row a point, the lowest Brier score first; a click on one selects it, a second takes it back."""
    keys = [point.key for point in result.points_by_brier]
    widget = f"points_{chosen}"
    rows = [{"number": at, **_point_row(point, result)} for at, point in enumerate(result.points_by_brier, 1)]
    shown = drop_constant_columns(pl.DataFrame(rows, infer_schema_length=None), "judged", "used")
    st.dataframe(
        shown,
        key=widget,
        hide_index=True,
        column_config=_point_columns(result),
        placeholder="–",
        height="content" if len(keys) <= 12 else 460,
        on_select=lambda: select_point_from_table(widget, keys),
        selection_mode="single-row",
        selection_default={"selection": {"rows": [keys.index(chosen)], "columns": [], "cells": []}}
        if chosen in keys
        else None,
        alt=f"{plural(len(keys), 'point')}, the lowest Brier score first",
    )
    table_export_menu(
        replace(comparison_export(result), content="Table of points"),
        "points",
        shown=shown,
        columns=_point_columns(result),
    )


def comparison_export(result: Comparison) -> Export:
    """Every point with its intervals."""
    binned = any(METRICS[id_].binned for id_ in (result.x, result.y))
    bins = (result.scheme.binning, result.scheme.bins) if binned else ()
    sets = {trend.dataset for trend in result.trends}
    methods = stem_parts((point.method for point in result.points), "methods")
    return Export(
        make_file_stem("comparison", *methods, result.x, result.y, *bins),
        result.to_frame,
        result.recipe,
        "Comparison",
        ", ".join(sorted(filter(None, sets))),
    )


def _other_metrics(result: Comparison) -> list[str]:
    return [id_ for id_ in dict.fromkeys((result.x, result.y)) if id_ not in BASE_METRICS]


def _point_row(point: ComparisonPoint, result: Comparison) -> dict[str, Any]:
    axes = {one.metric: one for one in (point.x, point.y)}
    more: dict[str, Any] = {}
    for id_ in _other_metrics(result):
        more |= {id_: axes[id_].value, f"{id_}_": format_interval(axes[id_].low, axes[id_].high)}
    return {
        "run": point.name,
        "title": METHODS[point.method].title,
        "judged": point.judged,
        **more,
        "accuracy": 100 * point.accuracy.value,
        "accuracy_": format_interval(point.accuracy.low, point.accuracy.high, ".1f", 100),
        "brier": point.brier.value,
        "brier_": format_interval(point.brier.low, point.brier.high),
        "skill": point.brier_skill,
        "ece_10": point.ece_10,
        "used": f"{point.n_used:,} / {point.n_total:,}",
    }


def _full_name_help(result: Comparison) -> str | None:
    """What the first run is called in full, where that is not what it is called here."""
    first = next(iter(result.points_by_brier), None)
    if first is None or first.name == first.run:
        return None
    return f"What tells runs apart; in full, the first is {escape_markdown(first.run)}."


def _point_columns(result: Comparison) -> dict[str, Any]:
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    others = [METRICS[id_] for id_ in _other_metrics(result)]
    return {
        "number": number("No.", width=38, help="Its number in the figure where names have no room."),
        "run": text("Run", help=_full_name_help(result)),
        "title": text("Confidence method"),
        **{own.id: number(own.title, format="%.4f", help=own.help) for own in others},
        **{f"{own.id}_": text(f"{own.title} 95 %") for own in others},
        "accuracy": COLUMN_CONFIG["accuracy"],
        "accuracy_": text("Accuracy 95 %", width=96, help="Wilson."),
        "brier": number("Brier", format="%.4f", width=62, help=METRICS["brier"].help),
        "brier_": text("Brier 95 %", width=122, help="Basic bootstrap, approximate."),
        "skill": number("Skill", format="%+.3f", width=60, help="1 − Brier/(a(1−a)), a the accuracy."),
        "ece_10": number(
            "ECE, M = 10" if METRICS["ece"] in others else "ECE",
            format="%.4f",
            help=f"M = 10 bins of equal width. {METRICS['ece'].help}",
        ),
        "used": text("Rows used / total", width=114),
        "judged": text("Judged"),
    }


# MERGED comparing_point: What does one point of a comparison look like, bin by bin?


def show_point_diagram(comparison_choice: ComparisonChoice, key: str, script: str) -> None:
    """The reliability diagram of one point; script: of the page that has more of it.

    By the metric upward if the point can be drawn by it, else by ECE.
    """
    one = comparison_choice.evidence_by_point[key]
    possible = metric_availability(one.evidence, comparison_choice.scheme)
    metric = comparison_choice.y if possible.get(comparison_choice.y) is None else DEFAULT_METRIC
    title = f"{one.run.title}, {METHODS[one.evidence.method.id].title}"
    choice = RunChoice(one.run, one.evidence, metric, comparison_choice.scheme)
    show_reliability_diagram(choice, title, "Open this run on the page Reliability", script)


def page() -> None:
    """Draws the page."""
    wanted = shell("comparison", choose_comparison).choice
    result = cached_comparison(wanted)
    chosen = selected_point([point.key for point in result.points])
    show_headline(result.headline, comparison_view_caption(wanted, result))
    show_comparison_tiles(result)
    show_recipe(result.recipe)
    show_remarks(*result.caveats)
    show_figure(
        lambda theme: comparison_figure(result, theme, selected=chosen, style_indices=wanted.style_indices),
        key="comparison",
        alt=describe_comparison(result),
        export=comparison_export(result),
        on_select=lambda: select_point_from_figure("comparison"),
    )
    show_comparison_caption(result)
    show_trends(result)
    show_points_table(result, chosen)
    show_refused_points(wanted, result)
    if chosen is not None:
        st.divider()
        show_point_diagram(wanted, chosen, PAGES["reliability"].script)


if __name__ == "__main__":
    page()
