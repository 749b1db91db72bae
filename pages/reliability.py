"""The page Reliability: is the model right as often as it says?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, cast

import polars as pl
import streamlit as st

from calib_core.errors import Unavailable
from calib_core.figures.classwise import classwise_figure, describe_classwise
from calib_core.figures.layout import Figure
from calib_core.figures.lines import describe_lines, lines_figure, styles_by_line
from calib_core.figures.palette import LIGHT, SYMBOL_CHARACTERS, Theme
from calib_core.figures.reliability import describe_reliability, reliability_figure
from calib_core.figures.reliability_log import log_reliability_figure
from calib_core.figures.reliability_without_bins import (
    corp_figure,
    describe_corp,
    describe_smooth,
    smooth_figure,
)
from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods import METHODS, in_order
from calib_core.metrics import METRICS
from calib_core.results.classwise import Classwise, classwise, is_classwise
from calib_core.results.defaults import METHOD_PREFERENCE
from calib_core.results.evidence import Evidence
from calib_core.results.lines import MAX_LINES, TOO_MANY_LINES, ReliabilityLines, reliability_lines
from calib_core.results.questions import MAX_SHOWN_QUESTIONS, Outcome, Questions, questions_in_bin
from calib_core.results.reliability import Reliability, pools_labels, reliability_diagram
from calib_core.results.reliability_without_bins import (
    CorpReliability,
    SmoothReliability,
    corp_reliability,
    smooth_reliability,
    unavailable_without_bins,
)
from calib_core.results.run_names import shorten_in_middle
from calib_core.results.score import score
from calib_core.results.uncertainty import missing_statistics_note
from calib_core.results.view_caption import ViewCaption, bins_caption, metric_caption, view_caption
from calib_core.views.inputs import applicable_options
from calib_core.views.reliability import (
    CLASSES_TITLE,
    CLASSWISE_CAPTION,
    metric_tile,
    reliability_caption,
    reliability_tiles,
)
from calib_core.wording import BinReading, format_number, format_short, p_value_phrase, plural
from pages.state.cache import MAX_LARGE_RESULTS, cached_result, run_evidence
from pages.state.markdown import escape_markdown
from pages.state.runs import LoadedRun
from pages.state.url import BIN_KEYS, UrlState, encode_ids, parse_whole_number
from pages.widgets.export import Export, make_file_stem, table_export_menu
from pages.widgets.figure import show_figure, side_by_side
from pages.widgets.mmlu_preset import mmlu_preset_button
from pages.widgets.multiselect import MultiselectOffer, limited_multiselect
from pages.widgets.pickers import ROW_CLICKS, clicked_point_data, rows_key, selected_row_value
from pages.widgets.reliability_diagram import bins_export
from pages.widgets.run_choice import RunChoice, choose_run
from pages.widgets.run_selection import RunEvidence, short_names_by_id
from pages.widgets.shell import shell
from pages.widgets.summary import (
    show_headline,
    show_provenance,
    show_reasons,
    show_recipe,
    show_remarks,
    show_tiles,
    show_view_caption,
    show_warnings,
)
from pages.widgets.table import COLUMN_CONFIG, fit_bars, fit_column_widths, show_table
from pages.widgets.url_inputs import url_segment, url_text_input, url_toggle, warn_not_available

LINES_HELP: Final = (
    f"Draw up to {MAX_LINES} runs on one diagram, with the metric and bins chosen above. Type to search."
)


COMPARE_KEY: Final = "_compare_with"
MAX_RIVAL_LENGTH: Final = 30
"""Letters of a run's name that fit into the control that compares with it."""

BINS_VIEW: Final = "bins"
VIEWS: Final = {BINS_VIEW: "Bins", "isotonic": "Isotonic (CORP)", "smooth": "Smooth"}
NO_BINS_HINT: Final = (
    "This view has no bins: metric, binning and M change only the headline and the tiles above."
)
VIEWS_HELP: Final = (
    "Bins: as chosen in the sidebar. Isotonic: fitted accuracy that never falls as the confidence rises. "
    "Smooth: averaged accuracy around each confidence. Isotonic and Smooth need no bins and show the top "
    "label."
)

CORP_CAPTION: Final = (
    "Line: fitted accuracy that never falls as the confidence rises; below the diagonal: over-confident. "
    "Lower panel: rows in 50 equal bins. Brier score = miscalibration − discrimination + uncertainty."
)
SMOOTH_CAPTION: Final = (
    "Line: each confidence plus the gap accuracy − confidence around it, averaged with a Gaussian kernel "
    "(width: the smooth ECE); below the diagonal: over-confident. No line: no rows nearby. Lower panel: "
    "density of rows."
)


SMALLEST_WITH_DECIMALS: Final = 0.00095
"""A smaller value would lose its digits to four decimals."""

MAX_SHOWN_CLASSES: Final = 1000
"""Number of classes in the table; a download holds all of them."""
CLASS_TABLE_ROWS: Final = 5
CLASS_TABLE_HEIGHT: Final = 220
"""Rows up to which the table of classes is as high as they are, and its height in pixels beyond."""

CLASS_COLUMNS: Final = {
    "name": st.column_config.TextColumn("Class"),
    "ece": st.column_config.NumberColumn(
        "class-k-ECE",
        format="%.3g",
        help="The gaps of this class over its bins, a row.",
    ),
    "share": st.column_config.ProgressColumn(
        "Part of sum", format="%.1f %%", min_value=0, max_value=100, help="Its part of the sum over classes."
    ),
    "n_right": st.column_config.NumberColumn(
        "Right", format="localized", help="Rows or positions of which it is the right class."
    ),
    "frequency": st.column_config.NumberColumn("Share right", format="%.3g"),
}


@dataclass(frozen=True, slots=True)
class Axes:
    """Which axes of the diagram are logarithmic.

    Attributes
    ----------
    log_probability : bool
        Both axes of the square; the lower panel then holds each bin's part of the sum.
    log_counts : bool
        That of the counts in the lower panel.
    """

    log_probability: bool
    log_counts: bool


@dataclass(frozen=True, slots=True, eq=False)
class LinesChoice:
    """What the page Reliability shows: one run and method in detail, and several as lines on one diagram.

    Attributes
    ----------
    choice : RunChoice
        The run and method shown in detail.
    run_evidences : Mapping of str to RunEvidence
        Key of a line, "run~method" → what is drawn.
    unavailable : Mapping of str to str
        Key → why that line cannot be drawn.
    titles : Mapping of str to str
        Key → run and method in words, for every possible line.
    rivals : Mapping of str to str
        Two lines as the address has them, the page's own and another → what the other is called.
    """

    choice: RunChoice
    run_evidences: Mapping[str, RunEvidence]
    unavailable: Mapping[str, str]
    titles: Mapping[str, str]
    rivals: Mapping[str, str]

    @property
    def page_line(self) -> str:
        """The key of the run and method shown in detail."""
        return line_key(self.choice.run, self.choice.evidence.method.id)

    @property
    def style_indices(self) -> dict[str, int]:
        """The style index of each line's run, by the line's key."""
        return {key: scored.run.style_index for key, scored in self.run_evidences.items()}

    def cached_lines(self) -> ReliabilityLines:
        """Return the lines, computed once."""
        scheme, metric = self.choice.scheme, self.choice.metric
        sources = tuple(
            (key, scored.run.title, scored.run.file.name, scored.run.file.stamp, scored.evidence.options)
            for key, scored in self.run_evidences.items()
        )
        return cached_result(
            ("lines", sources, metric, scheme),
            lambda: reliability_lines(
                {key: scored.evidence for key, scored in self.run_evidences.items()},
                metric,
                scheme,
                titles={key: scored.run.title for key, scored in self.run_evidences.items()},
            ),
        )


def line_key(run: LoadedRun, method: str) -> str:
    """Return the key of a line, "run~method"; no id contains a tilde."""
    return f"{run.id}~{method}"


def choose_lines(url_state: UrlState, runs: Sequence[LoadedRun]) -> LinesChoice:
    """Draw the sidebar controls: run, method, metric and binning, and the lines on one diagram.

    Raises
    ------
    Unavailable
        As `choose_run`.
    """
    mmlu_preset = st.container()
    choice = choose_run(url_state, runs)
    with mmlu_preset:
        mmlu_preset_button(choice.run.report.survey.usable)
    names = short_names_by_id(runs)
    pairs = {line_key(run, id_): (run, id_) for run in runs for id_ in run.report.survey.usable}
    titles = {key: f"{names[run.id]} · {METHODS[id_].title}" for key, (run, id_) in pairs.items()}
    with st.expander("Lines on one diagram", key="lines_control", expanded="lines" in st.query_params):
        chosen = limited_multiselect(
            url_state,
            MultiselectOffer("lines", list(pairs), _url_names(runs), (MAX_LINES, TOO_MANY_LINES)),
            label="Runs and methods",
            title_of=lambda key: titles[key],
            help_=LINES_HELP,
            placeholder="none chosen",
        )
        _quick_choices(choice, runs, list(pairs))
    run_evidences: dict[str, RunEvidence] = {}
    unavailable: dict[str, str] = {}
    for key in chosen:
        run, method = pairs[key]
        try:
            run_evidences[key] = RunEvidence(run, _line_evidence(choice, run, method))
        except Unavailable as reason:
            unavailable[key] = str(reason)
    return LinesChoice(choice, run_evidences, unavailable, titles, _find_rivals(choice, runs, list(pairs)))


def _find_rivals(choice: RunChoice, runs: Sequence[LoadedRun], allowed: Sequence[str]) -> dict[str, str]:
    """Return what the page's run can be compared with: its other methods, and other runs by this method.

    Runs of the same data set, which have the same questions, come before others.
    """
    run, method = choice.run, choice.evidence.method.id
    dataset = run.report.run.info.dataset
    others = sorted(
        (other for other in runs if other is not run and method in other.report.survey.usable),
        key=lambda other: other.report.run.info.dataset != dataset,
    )
    labels = {
        **{line_key(run, id_): METHODS[id_].title for id_ in run.report.survey.usable if id_ != method},
        **{line_key(other, method): other.title for other in others},
    }
    own, url_names = line_key(run, method), _url_names(runs)
    names = shorten_in_middle(list(labels.values()), MAX_RIVAL_LENGTH)
    return {encode_ids([own, key], allowed, url_names): name for key, name in zip(labels, names, strict=True)}


def _url_names(runs: Sequence[LoadedRun]) -> dict[str, str]:
    """Return what each line is called in the address: the run alone where the method is the run's default."""
    return {
        line_key(run, id_): line_key(run, id_) if position else run.id
        for run in runs
        for position, id_ in enumerate(run.report.survey.usable)
    }


def _line_evidence(choice: RunChoice, run: LoadedRun, method: str) -> Evidence:
    """Return the run's evidence by the method, under those of the page's options that apply to it.

    Raises
    ------
    Unavailable
        Where the method is not available under these options.
    """
    default = run.report.survey.usable[method]
    return run_evidence(
        run.report, run.file.stamp, method, applicable_options(choice.evidence.options, default)
    )


def _quick_choices(choice: RunChoice, runs: Sequence[LoadedRun], allowed: Sequence[str]) -> None:
    """Draw two buttons that choose several lines at once: the runs of one method, the methods of one run."""
    run, method = choice.run, choice.evidence.method.id
    usable = run.report.survey.usable
    candidates = [other for other in runs if method in other.report.survey.usable]
    by_similarity = sorted(
        candidates,
        key=lambda other: (
            other is not run,
            other.report.run.info.dataset != run.report.run.info.dataset,
        ),
    )
    methods = [method, *(id_ for id_ in in_order(usable, METHOD_PREFERENCE) if id_ != method)]
    quick_choices = {
        "runs": (
            [line_key(other, method) for other in by_similarity],
            "This run and similar runs, with this method.",
        ),
        "methods": ([line_key(run, id_) for id_ in methods], "This run with each of its methods."),
    }
    with st.container(horizontal=True):
        for noun, (keys, help_) in quick_choices.items():
            value = encode_ids(keys[:MAX_LINES], allowed, _url_names(runs))
            if len(keys) > 1:
                st.button(
                    f"Draw {min(len(keys), MAX_LINES)} {noun}",
                    key=f"lines_{noun}",
                    on_click=_use_lines,
                    args=(value,),
                    help=f"{help_} {MAX_LINES} at most.",
                )


def show_compare_with(choice: LinesChoice) -> None:
    """Draw the control that puts another run or method beside the page's own, as two lines."""
    if choice.rivals:
        with st.container(width=250):
            st.selectbox(
                "Compare with",
                list(choice.rivals),
                index=None,
                key=COMPARE_KEY,
                format_func=lambda value: choice.rivals[value],
                placeholder="Compare with …",
                label_visibility="collapsed",
                on_change=_compare,
            )


def _compare() -> None:
    if value := st.session_state[COMPARE_KEY]:
        _use_lines(value)
    st.session_state[COMPARE_KEY] = None


def _use_lines(value: str) -> None:
    st.query_params["lines"] = value


# --- Several lines on one diagram -----------------------------------------------------------------


def show_lines(choice: LinesChoice) -> None:
    """Draw the lines above the detailed diagram; nothing where none is chosen."""
    if not choice.run_evidences and not choice.unavailable:
        return
    result = choice.cached_lines()
    chosen = choice.page_line if choice.page_line in result.labels else None
    show_headline(result.headline)
    if result.difference_sentence:
        st.markdown(escape_markdown(result.difference_sentence))
    diagram, table = side_by_side()
    with diagram:
        st.markdown(
            f"**On one diagram**{': ' + escape_markdown(result.shared_label) if result.shared_label else ''}"
        )
        show_figure(
            lambda theme: lines_figure(result, theme, style_indices=choice.style_indices, selected=chosen),
            key="lines_figure",
            alt=describe_lines(result),
            export=_lines_export(result, "Lines on one diagram"),
            on_select=lambda: _select_line_from_figure("lines_figure"),
        )
    with table:
        _show_lines_table(choice, result, chosen)
        st.caption(_lines_caption(result))
        _show_lines_not_drawn(choice, result)
    show_view_caption(_lines_view_caption(choice, result).sentence, key="looking_lines")
    show_remarks(*result.caveats)
    st.divider()


def _lines_view_caption(choice: LinesChoice, result: ReliabilityLines) -> ViewCaption:
    """Return the caption that says which runs and methods the lines are of.

    Where no line can be drawn, the caption names those that were chosen.
    """
    drawn = [choice.run_evidences[line.key] for line in result.lines] or list(choice.run_evidences.values())
    return view_caption(
        "Reliability lines",
        [scored.run.title for scored in drawn],
        [scored.evidence for scored in drawn],
        metric_caption(result.metric, result.scheme),
    )


def _show_lines_table(choice: LinesChoice, result: ReliabilityLines, chosen: str | None) -> None:
    """Draw one row per line; a click on a row shows its run and method in detail."""
    st.subheader("Lines", anchor=False)
    styles = styles_by_line(result, choice.style_indices, LIGHT)
    keys = [line.key for line in result.lines]
    widget = rows_key("line_rows", chosen, *keys)
    frame = result.summary()
    rows = [
        {"mark": SYMBOL_CHARACTERS[styles[line.key].symbol], "line": result.labels[line.key], **row}
        for line, row in zip(result.lines, frame.iter_rows(named=True), strict=True)
    ]
    shown = pl.DataFrame([_line_row(row, result) for row in rows], infer_schema_length=None)
    st.dataframe(
        shown,
        key=widget,
        hide_index=True,
        column_config=_line_columns(result),
        placeholder="–",
        height="content",
        on_select=lambda: _select_line_from_table(widget, keys, chosen),
        selection_mode=ROW_CLICKS,
        selection_default={"selection": {"rows": [keys.index(chosen)], "columns": [], "cells": []}}
        if chosen
        else None,
        alt=plural(len(keys), "line"),
    )
    table_export_menu(
        replace(_lines_export(result, "Table of lines"), frame=result.summary),
        "lines_table",
        shown=shown.drop("mark", "recipe"),
        columns=_line_columns(result),
    )


def _line_row(row: dict[str, Any], result: ReliabilityLines) -> dict[str, Any]:
    """Return the cells of a line's row; the metric has no cell of its own where another column holds it."""
    percentages = {
        name: None if row[name] is None else 100 * row[name] for name in ("accuracy", "mean_confidence")
    }
    metric = {} if result.metric in ("brier", "accuracy") else {"value": row["value"]}
    return {
        "mark": row["mark"],
        "line": row["line"],
        **metric,
        "brier": row["brier"],
        **percentages,
        "used": f"{row['n_used']:,} / {row['n_total']:,}",
        "p": row["p"],
        "says": row["reading"],
        "judged": row["judged"],
        "recipe": row["recipe"],
        "remarks": row["remarks"],
    }


def _line_columns(result: ReliabilityLines) -> dict[str, Any]:
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    metric = METRICS[result.metric]
    return {
        "mark": text("", width=34, help="The line's symbol."),
        "line": text("Line"),
        "value": number(metric.title, format=_value_format(result), width=72, help=metric.help),
        "p": number(
            "p",
            format="%.3f",
            width=56,
            help="The probability of a value this large for a perfectly calibrated model.",
        ),
        "brier": number("Brier", format="%.4f", width=68, help=METRICS["brier"].help),
        **{name: COLUMN_CONFIG[name] for name in ("accuracy", "mean_confidence")},
        "used": text("Rows used / total"),
        "says": text("Verdict"),
        "judged": text("Judged"),
        "recipe": text("Recipe"),
        "remarks": text("Remarks"),
    }


def _value_format(result: ReliabilityLines) -> str:
    """Return the format of the metric: four decimals, or significant digits where a value is tiny."""
    values = [line.result.score.value for line in result.lines]
    return "%.3g" if any(value and abs(value) < SMALLEST_WITH_DECIMALS for value in values) else "%.4f"


def _lines_caption(result: ReliabilityLines) -> str:
    """Return the text that says how to read the diagram."""
    thin = sum(line.result.n_thin_bins for line in result.lines)
    bins = sum(line.result.table.height for line in result.lines)
    return (
        "Below the diagonal: over-confident. Each point is a bin; small hollow points have fewer than "
        f"{MIN_ROWS} pairs ({thin} of {bins} bins). Lower panel: share of each line's pairs. Click a point "
        "or a row to open that run below."
    )


def _lines_export(result: ReliabilityLines, content: str) -> Export:
    bins = (result.scheme.binning, result.scheme.bins)
    return Export(
        make_file_stem("lines", len(result.lines), result.metric, *bins),
        result.to_frame,
        result.recipe,
        content,
        result.shared_label,
        headline=result.headline,
    )


def _select_line_from_figure(key: str) -> None:
    """Show the line of the clicked point in detail and select its bin; custom data: line key, bin."""
    if data := clicked_point_data(key):
        line, bin_ = data
        _make_page_run(str(line))
        st.query_params["bin"] = str(bin_)


def _select_line_from_table(widget: str, keys: list[str], chosen: str | None) -> None:
    key = selected_row_value(widget, keys, chosen)
    if key is not None:
        _make_page_run(key)


def _make_page_run(key: str) -> None:
    """Show the run and method of this line in detail."""
    run, _, method = key.partition("~")
    st.query_params["run"], st.query_params["method"] = run, method
    st.query_params.pop("bin", None)


def _show_lines_not_drawn(choice: LinesChoice, result: ReliabilityLines) -> None:
    """List the chosen lines that cannot be drawn, each with its reason."""
    reasons = {
        choice.titles[key]: reason for key, reason in {**choice.unavailable, **result.unavailable}.items()
    }
    show_reasons("Lines not shown", reasons, key="lines_not_drawn", expanded=not result.lines)


# --- One run in detail ----------------------------------------------------------------------------


def cached_reliability(choice: RunChoice) -> Reliability:
    """Return the reliability result, computed once; raises Unavailable where its bins cannot be drawn."""
    return cached_result(
        ("reliability", *choice.cache_key()),
        lambda: reliability_diagram(choice.evidence, choice.metric, choice.scheme),
    )


def show_reliability_summary(choice: RunChoice, result: Reliability) -> None:
    """Draw what stands above the diagram: headline, tiles and warnings."""
    show_headline(cached_classwise(choice).headline if is_classwise(choice.metric) else result.headline)
    *first, rows = reliability_tiles(choice.evidence, result)
    # The help of the last tile quotes texts of the file.
    show_tiles([*first, rows._replace(help=escape_markdown(rows.help))])
    show_warnings(*choice.evidence.warnings)


def show_reliability_remarks(choice: RunChoice, result: Reliability) -> None:
    """Draw what stands below the diagram: what it shows, the recipe and the remarks."""
    number, warnings = result.score, choice.evidence.warnings
    # The recipe of a binned metric says how p was computed; a metric without bins gets the diagram's recipe.
    recipe = number.recipe if METRICS[choice.metric].binned else result.recipe
    show_provenance(reliability_view_caption(choice), recipe)
    show_remarks(number.remark, *(remark for remark in result.remarks if remark not in warnings))


def reliability_view_caption(choice: RunChoice) -> ViewCaption:
    """Return the caption that says which run, method and metric the diagram is of."""
    caption = view_caption(
        "Reliability diagram",
        [choice.run.title],
        [choice.evidence],
        # A metric without bins does not describe the diagram, so the caption adds the diagram's own bins.
        ", ".join(dict.fromkeys((metric_caption(choice.metric, choice.scheme), bins_caption(choice.scheme))))
        if not METRICS[choice.metric].binned
        else metric_caption(choice.metric, choice.scheme),
    )
    missing = missing_statistics_note([choice.evidence], [choice.metric], choice.scheme, intervals=False)
    return replace(caption, missing_note=missing)


def show_bounds(choice: RunChoice, reason: Unavailable) -> None:
    """Draw a score whose bins cannot be drawn: its interval, and why there is no diagram."""
    bounds = score(choice.evidence, choice.metric, choice.scheme)
    show_tiles([metric_tile(bounds)])
    st.info(escape_markdown(str(reason)), icon=":material/straighten:")
    show_provenance(reliability_view_caption(choice), bounds.recipe)


# --- One run without bins -------------------------------------------------------------------------


def choose_view(choice: RunChoice) -> str:
    """Draw the choice of the diagram and return its id; only bins where single confidences are not kept."""
    if no_views_reason(choice):
        if st.query_params.get("view"):
            warn_not_available("view", "which needs the single confidence of each row.")
        return BINS_VIEW
    return url_segment("view", "View", VIEWS, VIEWS_HELP)


def no_views_reason(choice: RunChoice) -> str | None:
    """Return why there are only bins: single confidences are not kept, or all labels are pooled."""
    if choice.evidence.options.labels == "all":
        return "they show the top label, and all labels are pooled here."
    return unavailable_without_bins(choice.evidence)


def show_corp(choice: RunChoice) -> None:
    """Draw the isotonic diagram, the parts of the Brier score, and the bins that the fit finds."""
    result = cached_result(("corp", *choice.cache_key()), lambda: corp_reliability(choice.evidence))
    show_tiles(corp_tiles(result))
    diagram, table = side_by_side()
    with diagram:
        st.subheader("Isotonic reliability diagram (CORP)", anchor=False)
        show_figure(
            lambda theme: corp_figure(result, theme),
            key="corp",
            alt=describe_corp(result),
            export=_export_without_bins(choice, "corp", result, "Isotonic reliability diagram"),
        )
    with table:
        st.subheader("Bins found by the fit", anchor=False)
        st.markdown(escape_markdown(result.headline))
        ends = result.blocks.select("low", "high").iter_rows()
        blocks = result.blocks.select(
            pl.Series("interval", [f"{low:.3f} to {high:.3f}" for low, high in ends], dtype=pl.String),
            "count",
            mean_confidence=pl.col("confidence") * 100,
            accuracy=pl.col("accuracy") * 100,
            gap="gap",
        )
        export = _export_without_bins(choice, "corp-bins", result, "Bins found by the fit")
        show_table(
            blocks,
            key="blocks",
            alt=f"Isotonic fit: {plural(blocks.height, 'bin')} of equal fitted accuracy",
            export=replace(export, frame=lambda: result.blocks.with_columns(recipe=pl.lit(result.recipe))),
        )
        st.caption(f"{CORP_CAPTION} {_band_caption(result.no_null_reason)} {NO_BINS_HINT}")
        show_recipe(result.recipe)


def corp_tiles(result: CorpReliability) -> list[tuple[str, str, str, str]]:
    """Return the tiles of the three parts of the Brier score, the first with what chance would give."""
    chance = ""
    if result.miscalibration.null_median is not None:
        p = p_value_phrase(result.miscalibration.p, result.miscalibration.draws)
        chance = f"calibrated model {format_short(result.miscalibration.null_median)}, {p}"
    parts = {
        "Miscalibration": (result.miscalibration, chance),
        "Discrimination": (result.discrimination, ""),
        "Uncertainty": (result.uncertainty, ""),
    }
    return [
        (title, format_number(part.value), METRICS[part.metric].help, below)
        for title, (part, below) in parts.items()
    ]


def show_smooth(choice: RunChoice) -> None:
    """Draw the smooth diagram, its error and its bandwidth."""
    result = cached_result(("smooth", *choice.cache_key()), lambda: smooth_reliability(choice.evidence))
    diagram, text = side_by_side()
    with diagram:
        st.subheader("Smooth reliability diagram", anchor=False)
        show_figure(
            lambda theme: smooth_figure(result, theme),
            key="smooth",
            alt=describe_smooth(result),
            export=_export_without_bins(choice, "smooth", result, "Smooth reliability diagram"),
        )
    with text:
        st.subheader("Smooth ECE", anchor=False)
        help_ = METRICS[result.smooth_ece.metric].help
        show_tiles([("Smooth ECE", format_number(result.smooth_ece.value), help_)])
        st.markdown(escape_markdown(result.headline))
        st.caption(f"{SMOOTH_CAPTION} {_band_caption(result.no_null_reason)} {NO_BINS_HINT}")
        show_recipe(result.recipe)


def _band_caption(no_null_reason: str | None) -> str:
    """Return what the band is, or why there is none."""
    if no_null_reason:
        return f"No band: {escape_markdown(no_null_reason)}."
    return "Grey band: 5–95 % range of a perfectly calibrated model."


def _export_without_bins(
    choice: RunChoice, view: str, result: CorpReliability | SmoothReliability, content: str
) -> Export:
    run_and_method = make_file_stem(choice.run.id, choice.evidence.method.id, view)
    return Export(
        run_and_method,
        result.to_frame,
        result.recipe,
        content,
        choice.description,
        headline=result.headline,
    )


# --- Bins -----------------------------------------------------------------------------------------


def choose_axes(choice: RunChoice) -> Axes:
    """Draw the switches of the axes: those of the square, where all labels are pooled, or the counts'."""
    if pools_labels(choice.evidence, choice.metric) and url_toggle(
        "logx",
        "Log probability",
        "Both axes logarithmic, and below them each bin's part of the sum.",
        default=choice.first_bin_dominates,
    ):
        return Axes(log_probability=True, log_counts=False)
    log_counts = url_toggle(
        "log", "Log counts", "A logarithmic axis in the lower panel.", default=choice.first_bin_dominates
    )
    return Axes(log_probability=False, log_counts=log_counts)


def draw_reliability(result: Reliability, theme: Theme, axes: Axes, selected: int | None) -> Figure:
    """Return the diagram on the chosen axes."""
    if axes.log_probability:
        return log_reliability_figure(result, theme, selected=selected)
    return reliability_figure(result, theme, log_counts=axes.log_counts, selected=selected)


def show_diagram(choice: RunChoice, result: Reliability, selected: int | None, axes: Axes) -> None:
    """Draw the reliability diagram; a click on a bar selects its bin."""
    show_figure(
        lambda theme: draw_reliability(result, theme, axes, selected),
        key="reliability",
        alt=describe_reliability(result),
        export=bins_export(choice, result, "Reliability diagram"),
        on_select=lambda: select_bin_from_figure("reliability"),
    )


def show_bins(choice: RunChoice, result: Reliability, selected: int | None) -> None:
    """Draw the per-bin table, the questions of the selected bin, how to read both, and the export menu."""
    show_warnings(*([result.warning] if result.warning else []))
    st.subheader("Per-bin table", anchor=False)
    show_bin_table(choice, result, selected)
    show_questions(choice, result, selected)
    questions_hint = (
        escape_markdown(choice.evidence.no_questions_reason or "")
        or "Click a bar or a row to see its questions."
    )
    st.caption(f"{reliability_caption(result)} {questions_hint} {_views_hint(choice)}".strip())
    table_export_menu(
        bins_export(choice, result, "Per-bin table"),
        "bins",
        shown=bin_table_frame(result),
        columns=_bin_columns(choice),
    )


def _views_hint(choice: RunChoice) -> str:
    """Return why there is no view without bins, where there is none."""
    reason = no_views_reason(choice)
    return f"Isotonic and smooth views are not available: {escape_markdown(reason)}" if reason else ""


def _bin_columns(choice: RunChoice) -> dict[str, Any]:
    """Return the columns of the per-bin table, with significant digits where a vocabulary is pooled."""
    small = choice.first_bin_dominates
    columns: dict[str, Any] = {
        **COLUMN_CONFIG,
        "mean_confidence": {**COLUMN_CONFIG["mean_confidence"], "label": "Mean conf.", "width": 76},
        "share": {**COLUMN_CONFIG["share"], "label": "Part", "width": 72},
    }
    if METRICS[choice.metric].weighted_by_confidence:
        columns["count"] = st.column_config.NumberColumn(
            "n", format="%.1f", help="Expected count in this bin if one answer is sampled per row."
        )
    if not small:
        return columns
    significant = {"mean_confidence": "%.3g %%", "accuracy": "%.3g %%", "gap": "%+.2g"}
    formats = {
        name: {**columns[name], "type_config": {**columns[name]["type_config"], "format": format_}}
        for name, format_ in significant.items()
    }
    return {**columns, **formats}


def show_bin_table(choice: RunChoice, result: Reliability, selected: int | None) -> None:
    """Draw the per-bin table; a click on a row selects its bin."""
    shown, columns = bin_table_frame(result), _bin_columns(choice)
    numbers = result.table["bin"].to_list()
    key = rows_key("bin_rows", selected, *numbers)
    column_config: dict[str, Any] = {
        **fit_column_widths(columns, shown, "percent", "interval"),
        "count": {**columns["count"], "width": _count_column_width(shown["count"])},
        "share": fit_bars(columns["share"], shown["share"]),
    }
    st.dataframe(
        shown,
        key=key,
        hide_index=True,
        column_config=column_config,
        placeholder="–",
        height=_bin_table_height(shown.height, has_questions=selected is not None),
        on_select=lambda: select_bin_from_table(key, numbers),
        selection_mode=ROW_CLICKS,
        selection_default={"selection": {"rows": [numbers.index(selected)], "columns": [], "cells": []}}
        if selected in numbers
        else None,
        alt=f"Per-bin table, {plural(shown.height, 'non-empty bin')}",
    )


def bin_table_frame(result: Reliability) -> pl.DataFrame:
    """Return the per-bin table as it is displayed, with shares in percent."""
    return result.table.select(
        "percent",
        "interval",
        "count",
        mean_confidence=pl.col("confidence") * 100,
        accuracy=pl.col("accuracy") * 100,
        gap="gap",
        share=pl.col("share") * 100,
    )


def _bin_table_height(n_rows: int, *, has_questions: bool) -> int | Literal["content"]:
    """Return the table's height in pixels, low where the questions of a bin are below it."""
    max_rows, height = (5, 196) if has_questions else (12, 480)
    return "content" if n_rows <= max_rows else height


def _count_column_width(counts: pl.Series) -> int:
    """Return the pixels that the largest count needs with its thousands separators."""
    return max(48, 20 + 7 * len(f"{counts.max() or 0:,.0f}"))


# --- Class by class -------------------------------------------------------------------------------


def cached_classwise(choice: RunChoice) -> Classwise:
    """Return the ECE of every class, computed once."""
    return cached_result(
        ("classwise", *choice.cache_key()),
        lambda: classwise(choice.evidence, choice.metric, choice.scheme),
        max_results=MAX_LARGE_RESULTS,
    )


def show_classwise(choice: RunChoice, axes: Axes) -> None:
    """Draw every class's number, largest first, and the reliability diagram of one class beside it."""
    result = cached_classwise(choice)
    selected = selected_class(result)
    classes, diagram = side_by_side()
    with classes:
        st.subheader(CLASSES_TITLE, anchor=False)
        show_figure(
            lambda theme: classwise_figure(result, theme, selected=selected),
            key="classes",
            alt=describe_classwise(result),
            export=_classwise_export(choice, result, CLASSES_TITLE),
            on_select=lambda: select_class_from_figure("classes"),
        )
        show_class_table(choice, result, selected)
        st.caption(f"{CLASSWISE_CAPTION} {_views_hint(choice)}".strip())
    with diagram:
        show_class_diagram(choice, result.diagram_of(selected), axes)


def show_class_table(choice: RunChoice, result: Classwise, selected: int) -> None:
    """Draw the classes farthest off; a click on a row shows its diagram."""
    first = result.table.head(MAX_SHOWN_CLASSES)
    numbers = first["class"].to_list()
    shown = first.select("name", "ece", share=pl.col("share") * 100, n_right="right", frequency="frequency")
    key = rows_key("class_rows", selected, *numbers)
    columns: dict[str, Any] = {
        **CLASS_COLUMNS,
        "share": fit_bars(CLASS_COLUMNS["share"], shown["share"]),
    }
    st.dataframe(
        shown,
        key=key,
        hide_index=True,
        column_config=columns,
        placeholder="–",
        height=CLASS_TABLE_HEIGHT if shown.height > CLASS_TABLE_ROWS else "content",
        on_select=lambda: select_class_from_table(key, numbers, selected),
        selection_mode=ROW_CLICKS,
        selection_default={"selection": {"rows": [numbers.index(selected)], "columns": [], "cells": []}}
        if selected in numbers
        else None,
        alt=f"ECE of {plural(shown.height, 'class')}, largest first",
    )
    table_export_menu(
        _classwise_export(choice, result, CLASSES_TITLE), "classes_table", shown=shown, columns=CLASS_COLUMNS
    )


def show_class_diagram(choice: RunChoice, result: Reliability, axes: Axes) -> None:
    """Draw the reliability diagram of one class."""
    st.subheader(f"Reliability of {escape_markdown(result.part)}", anchor=False)
    show_figure(
        lambda theme: draw_reliability(result, theme, axes, None),
        key="class",
        alt=describe_reliability(result),
        export=Export(
            make_file_stem(choice.file_stem, result.part),
            result.to_frame,
            result.recipe,
            "Reliability diagram",
            f"{choice.description}, {result.part}",
        ),
    )
    st.markdown(escape_markdown(result.headline))
    st.caption(reliability_caption(result))


def _classwise_export(choice: RunChoice, result: Classwise, content: str) -> Export:
    stem = make_file_stem(choice.file_stem, "classes")
    return Export(stem, result.to_frame, result.recipe, content, choice.description)


def selected_class(result: Classwise) -> int:
    """Return the class in the address; the one farthest off where none is named, or not one of these."""
    farthest = int(result.table["class"][0])
    wanted = st.query_params.get("class", "")
    selected = parse_whole_number(wanted, 0, result.n_classes - 1)
    if wanted and selected is None:
        warn_not_available("class", f"which is not here. Shown: {result.table['name'][0]}.")
    return farthest if selected is None else selected


def select_class(class_index: int | None) -> None:
    """Put the class into the address; None clears it."""
    if class_index is None:
        st.query_params.pop("class", None)
    else:
        st.query_params["class"] = str(class_index)


def select_class_from_figure(key: str) -> None:
    """Select the class whose point or bar was clicked."""
    if data := clicked_point_data(key):
        select_class(int(data[0]))


def select_class_from_table(key: str, numbers: Sequence[int], selected: int) -> None:
    """Select the class of the clicked row; a second click clears it."""
    select_class(selected_row_value(key, numbers, selected))


# --- Selected bin and its questions ---------------------------------------------------------------


def selected_bin(table: pl.DataFrame) -> int | None:
    """Return the number (from 1) of the selected bin in the address; None where there is no such bin."""
    wanted = st.query_params.get("bin", "")
    selected = next((number for number in table["bin"].to_list() if str(number) == wanted), None)
    if wanted and selected is None:
        warn_not_available("bin", "which is empty or does not exist.")
    return selected


def select_bin(bin_number: int | None) -> None:
    """Put the selected bin into the address, so that a link shows the same questions; None clears it."""
    if bin_number is None:
        for key in BIN_KEYS:
            st.query_params.pop(key, None)
    else:
        st.query_params["bin"] = str(bin_number)


def select_bin_from_figure(key: str) -> None:
    """Select the bin that was clicked in the figure: the first value of the point's custom data."""
    if data := clicked_point_data(key):
        select_bin(int(data[0]))


def select_bin_from_table(key: str, numbers: Sequence[int]) -> None:
    """Select the bin of the clicked row; a second click clears it."""
    selected = next((number for number in numbers if str(number) == st.query_params.get("bin")), None)
    select_bin(selected_row_value(key, numbers, selected))


def show_questions(choice: RunChoice, result: Reliability, bin_number: int | None) -> None:
    """Draw the questions of the selected bin, searchable; the download holds all of them."""
    if bin_number is None:
        return
    if reason := choice.evidence.no_questions_reason:
        st.info(escape_markdown(reason))
        return
    bin_row = result.table.row(by_predicate=pl.col("bin") == bin_number, named=True)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        bin_text = str(BinReading(bin_row["percent"], bin_row["interval"]))
        st.header(f"Questions in {escape_markdown(bin_text)}", anchor=False, width="content")
        st.button("Close", key="close_bin", on_click=select_bin, args=(None,), icon=":material/close:")
    search = url_text_input("search", "Search", "id, question, answer or gold contains …")
    found = cached_result(
        ("questions", *choice.cache_key(), bin_number, search),
        lambda: questions_in_bin(
            choice.evidence, choice.metric, choice.scheme, bin_number=bin_number, search=search
        ),
        max_results=MAX_LARGE_RESULTS,
    )
    outcome = choose_outcome(found)
    questions = found.only(outcome)
    st.caption(
        f"{questions.frame.height:,} of "
        f"{plural(questions.n_before_search, result.pair_unit.removesuffix('s'))}"
        + (
            f"; the first {MAX_SHOWN_QUESTIONS:,} are shown, the download has all."
            if questions.frame.height > MAX_SHOWN_QUESTIONS
            else "."
        )
    )
    shown = questions.preview.with_columns(
        right=pl.when("right").then(pl.lit("right")).otherwise(pl.lit("wrong"))
    )
    export = Export(
        make_file_stem(choice.file_stem, "bin", bin_number, *(part for part in (outcome, search) if part)),
        lambda: questions.frame,
        result.recipe,
        "Questions",
        f"{choice.description}, confidence in {bin_text}",
        excerpt=True,
    )
    show_table(
        shown,
        key="question_rows",
        alt=f"{plural(questions.frame.height, 'question')} of the selected bin",
        export=export,
    )


def choose_outcome(questions: Questions) -> Outcome | None:
    """Draw the filter of right and wrong answers, with how many there are; None where both are listed."""
    titles = {
        "all": f"All {questions.frame.height:,}",
        "right": f"Right {questions.n_right:,}",
        "wrong": f"Wrong {questions.n_wrong:,}",
    }
    picked = url_segment("outcome", "Outcome", titles, "Whether the judged answer is right.")
    return None if picked == "all" else cast("Outcome", picked)


def page() -> None:
    """Draw the page."""
    lines = shell("reliability", choose_lines).choice
    choice = lines.choice
    show_lines(lines)
    try:
        result = cached_reliability(choice)
    except Unavailable as reason:
        show_bounds(choice, reason)
        st.stop()
    show_reliability_summary(choice, result)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="view_controls"):
        view = choose_view(choice)
        axes = choose_axes(choice) if view == BINS_VIEW else None
        show_compare_with(lines)
    if axes is None:
        {"isotonic": show_corp, "smooth": show_smooth}[view](choice)
        show_reliability_remarks(choice, result)
        return
    if is_classwise(choice.metric):
        show_classwise(choice, axes)
        show_reliability_remarks(choice, result)
        return
    selected = selected_bin(result.table)
    diagram, table = side_by_side()
    with diagram:
        show_diagram(choice, result, selected, axes)
    with table:
        show_bins(choice, result, selected)
    show_reliability_remarks(choice, result)


if __name__ == "__main__":
    page()
