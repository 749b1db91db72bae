"""The page Reliability: is the model right as often as it says?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

import polars as pl
import streamlit as st

from calib_core.errors import Unavailable
from calib_core.figures.lines import allows_bars
from calib_core.methods import METHODS, in_order
from calib_core.metrics import METRICS
from calib_core.results.classwise import Classwise, classwise, is_classwise
from calib_core.results.defaults import METHOD_PREFERENCE
from calib_core.results.evidence import Evidence
from calib_core.results.lines import MAX_LINES, TOO_MANY_LINES, ReliabilityLines, reliability_lines
from calib_core.results.questions import MAX_SHOWN_QUESTIONS, Outcome, Questions, questions_in_bin
from calib_core.results.reliability import Reliability, pools_labels, reliability_diagram
from calib_core.results.reliability_without_bins import (
    corp_reliability,
    smooth_reliability,
    unavailable_without_bins,
)
from calib_core.results.run_names import shorten_in_middle
from calib_core.results.score import score
from calib_core.results.uncertainty import missing_statistics_note
from calib_core.results.view_caption import ViewCaption, bins_caption, metric_caption, view_caption
from calib_core.terms import Terms
from calib_core.views.inputs import applicable_options
from calib_core.views.reliability import (
    Axes,
    classwise_view,
    corp_view,
    lines_view,
    reliability_view,
    smooth_view,
)
from calib_core.views.score import score_view
from calib_core.views.view import View, reasons_by_title, text_lines
from calib_core.wording import BinReading, plural
from pages.state.cache import MAX_LARGE_RESULTS, cached_result, run_evidence
from pages.state.markdown import escape_markdown
from pages.state.runs import LoadedRun
from pages.state.url import BIN_KEYS, UrlState, encode_ids, parse_whole_number
from pages.widgets.export import Export, make_file_stem
from pages.widgets.figure import side_by_side
from pages.widgets.mmlu_preset import mmlu_preset_button
from pages.widgets.multiselect import MultiselectOffer, limited_multiselect
from pages.widgets.pickers import select_point
from pages.widgets.run_choice import RunChoice, choose_run
from pages.widgets.run_selection import RunEvidence, short_names_by_id
from pages.widgets.shell import shell
from pages.widgets.summary import show_warnings
from pages.widgets.table import question_columns, show_table
from pages.widgets.url_inputs import url_segment, url_text_input, url_toggle, warn_not_available
from pages.widgets.view import (
    MAX_ROWS_ABOVE_DETAIL,
    show_beside,
    show_how_computed,
    show_how_to_read,
    show_left_out,
    show_opening,
    show_view_figure,
    show_view_table,
    show_view_tiles,
)

LINES_HELP: Final = (
    f"Draw up to {MAX_LINES} runs on one diagram, with the metric and bins chosen above. Type to search."
)

COMPARE_KEY: Final = "_compare_with"
MAX_RIVAL_LENGTH: Final = 30
"""Letters of a run's name that fit into the control that compares with it."""

LINE_FORMS: Final = {"lines": "Lines", "bars": "Bars"}
BINS_VIEW: Final = "bins"
DIAGRAM_VIEWS: Final = {BINS_VIEW: "Bins", "isotonic": "Isotonic", "smooth": "Smooth"}
MAX_SHOWN_CLASSES: Final = 1000
"""Number of classes in the table; a download holds all of them."""


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
    def terms(self) -> Terms:
        """The words for the run shown in detail."""
        return self.choice.evidence.terms

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
            (key, scored.run.title, *scored.run.source, scored.evidence.options)
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
        **{line_key(run, id_): METHODS[id_].heading for id_ in run.report.survey.usable if id_ != method},
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
    unavailable = {**choice.unavailable, **result.unavailable}
    view = lines_view(
        result,
        style_indices=choice.style_indices,
        chosen=chosen,
        as_bars=st.query_params.get("form") == "bars",
        left_out=reasons_by_title({choice.titles[key]: why for key, why in unavailable.items()}),
    )
    show_opening(view)
    if allows_bars(result):
        url_segment(
            "form", "Draw", LINE_FORMS, f"Bars: the {result.terms.accuracy} in each bin, side by side."
        )
    show_beside(view, selectable=("lines_figure", "line_rows"), chosen=chosen, select=select_line)
    show_how_computed(view, _lines_view_caption(choice, result), key="looking_lines")
    show_left_out(view, key="lines_not_drawn")
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
        metric_caption(result.metric, result.scheme, result.terms),
    )


def select_line(clicked: Sequence[Any]) -> None:
    """Show the run and method of a clicked line in detail, and select its bin where a point was clicked."""
    if not clicked:
        return
    line, *bins = clicked
    st.query_params["run"], _, st.query_params["method"] = str(line).partition("~")
    select_bin(bins)


# --- One run in detail ----------------------------------------------------------------------------


def cached_reliability(choice: RunChoice) -> Reliability:
    """Return the reliability result, computed once; raises Unavailable where its bins cannot be drawn."""
    return cached_result(
        ("reliability", *choice.cache_key()),
        lambda: reliability_diagram(choice.evidence, choice.metric, choice.scheme),
    )


def reliability_view_caption(choice: RunChoice) -> ViewCaption:
    """Return the caption that says which run, method and metric the diagram is of."""
    metric_text = metric_caption(choice.metric, choice.scheme, choice.evidence.terms)
    if not METRICS[choice.metric].binned:  # it does not describe the diagram, which has bins of its own
        metric_text = f"{metric_text}, {bins_caption(choice.scheme)}"
    caption = view_caption("Reliability diagram", [choice.run.title], [choice.evidence], metric_text)
    missing = missing_statistics_note([choice.evidence], [choice.metric], choice.scheme, intervals=False)
    return replace(caption, missing_note=missing)


def show_bounds(choice: RunChoice, reason: Unavailable) -> None:
    """Draw a score whose bins cannot be drawn: its interval, and why there is no diagram."""
    view = score_view(score(choice.evidence, choice.metric, choice.scheme))
    show_view_tiles(view)
    st.info(escape_markdown(str(reason)), icon=":material/straighten:")
    show_how_computed(view, reliability_view_caption(choice))


# --- One run without bins -------------------------------------------------------------------------


def choose_view(choice: RunChoice) -> str:
    """Draw the choice of the diagram and return its id; only bins where single confidences are not kept."""
    if no_views_reason(choice):
        if st.query_params.get("view"):
            warn_not_available("view", "which needs the single confidence of each row.")
        return BINS_VIEW
    return url_segment("view", "View", DIAGRAM_VIEWS)


def no_views_reason(choice: RunChoice) -> str | None:
    """Return why there are only bins: single confidences are not kept, or all labels are pooled."""
    if choice.evidence.options.labels == "all":
        return "they show the top label, and all labels are pooled here."
    return unavailable_without_bins(choice.evidence)


def show_without_bins(choice: RunChoice, view_id: str) -> None:
    """Draw the isotonic diagram with the bins that the fit finds, or the smooth one."""
    key, title = (view_id, *choice.cache_key()), choice.run.title
    if view_id == "isotonic":
        view = corp_view(cached_result(key, lambda: corp_reliability(choice.evidence)), title=title)
    else:
        view = smooth_view(cached_result(key, lambda: smooth_reliability(choice.evidence)), title=title)
    show_beside(view, is_further=True)


# --- Bins -----------------------------------------------------------------------------------------


def choose_axes(choice: RunChoice, result: Reliability) -> Axes:
    """Draw the switches of the axes: those of the square, where all labels are pooled, or the counts'."""
    if pools_labels(choice.evidence, choice.metric) and url_toggle(
        "logx",
        "Log probability",
        "Both axes logarithmic, and below them each bin's part of the sum.",
        default=result.pools_vocabulary,
    ):
        return Axes(log_probability=True, log_counts=False)
    log_counts = url_toggle(
        "log", "Log counts", "A logarithmic axis in the lower panel.", default=result.pools_vocabulary
    )
    return Axes(log_probability=False, log_counts=log_counts)


def show_bins(choice: RunChoice, view: View, result: Reliability, selected: int | None) -> None:
    """Draw the diagram, and beside it its bins and the questions of the selected one."""
    show_beside(
        view,
        selectable=() if choice.evidence.no_questions_reason else ("reliability", "bins"),
        chosen=None if selected is None else str(selected),
        select=select_bin,
        detail=None if selected is None else lambda: show_questions(choice, result, selected),
    )


# --- Class by class -------------------------------------------------------------------------------


def cached_classwise(choice: RunChoice) -> Classwise:
    """Return the ECE of every class, computed once."""
    return cached_result(
        ("classwise", *choice.cache_key()),
        lambda: classwise(choice.evidence, choice.metric, choice.scheme),
        max_results=MAX_LARGE_RESULTS,
    )


def show_classes(view: View, selected: int | None) -> None:
    """Draw every class's number, largest first, and the reliability diagram of one class beside it."""
    classes, diagram = side_by_side()
    of_all, of_one = view.figures
    with classes:
        st.subheader(of_all.title, anchor=False)
        show_view_figure(view, of_all, select=select_class)
        (table,) = view.tables
        show_view_table(
            view,
            table,
            chosen=str(selected),
            select=select_class,
            max_rows=MAX_ROWS_ABOVE_DETAIL,
            narrow=True,
        )
    with diagram:
        st.subheader(escape_markdown(of_one.title), anchor=False)
        show_view_figure(view, of_one)
        st.markdown(escape_markdown(of_one.note))
        show_how_to_read(view, is_selectable=True)


def select_class(clicked: Sequence[Any]) -> None:
    """Put the clicked class into the address; nothing clears it."""
    select_point(clicked, "class")


def selected_class(result: Classwise) -> int:
    """Return the class in the address; the one farthest off where none is named, or not one of these."""
    farthest = int(result.table["class"][0])
    wanted = st.query_params.get("class", "")
    selected = parse_whole_number(wanted, 0, result.n_classes - 1)
    if wanted and selected is None:
        warn_not_available("class", f"which is not here. Shown: {result.table['name'][0]}.")
    return farthest if selected is None else selected


# --- Selected bin and its questions ---------------------------------------------------------------


def selected_bin(table: pl.DataFrame) -> int | None:
    """Return the number (from 1) of the selected bin in the address; None where there is no such bin."""
    wanted = st.query_params.get("bin", "")
    selected = next((number for number in table["bin"].to_list() if str(number) == wanted), None)
    if wanted and selected is None:
        warn_not_available("bin", "which is empty or does not exist.")
    return selected


def select_bin(clicked: Sequence[Any] = ()) -> None:
    """Put the clicked bin into the address, so that a link shows the same questions; nothing clears it."""
    if clicked:
        select_point(clicked, "bin")
        return
    for key in BIN_KEYS:
        st.query_params.pop(key, None)


def show_questions(choice: RunChoice, result: Reliability, bin_number: int) -> None:
    """Draw the questions of the selected bin, searchable; the download holds all of them."""
    if reason := choice.evidence.no_questions_reason:
        st.info(escape_markdown(reason))
        return
    bin_row = result.table.row(by_predicate=pl.col("bin") == bin_number, named=True)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        bin_text = str(BinReading(bin_row["percent"], bin_row["interval"]))
        st.header(f"Questions in {escape_markdown(bin_text)}", anchor=False, width="content")
        st.button("Close", key="close_bin", on_click=select_bin, icon=":material/close:")
    search = url_text_input("search", "Search", "id, question, answer or gold contains …")
    found = cached_result(
        ("questions", *choice.cache_key(), bin_number, search),
        lambda: questions_in_bin(
            choice.evidence, choice.metric, choice.scheme, bin_number=bin_number, search=search
        ),
        max_results=MAX_LARGE_RESULTS,
    )
    terms = choice.evidence.terms
    outcome = choose_outcome(found, terms)
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
        right=pl.when("right").then(pl.lit(terms.right)).otherwise(pl.lit(terms.wrong))
    )
    export = Export(
        make_file_stem(choice.file_stem, "bin", bin_number, *(part for part in (outcome, search) if part)),
        lambda: questions.frame,
        result.recipe,
        "Questions",
        f"{choice.description}, {terms.confidence} in {bin_text}",
        excerpt=True,
    )
    show_table(
        shown,
        key="question_rows",
        alt=f"{plural(questions.frame.height, 'question')} of the selected bin",
        export=export,
        columns=question_columns(terms),
    )


def choose_outcome(questions: Questions, terms: Terms) -> Outcome | None:
    """Draw the filter of outcomes, with how many there are of each; None where both are listed."""
    titles = {
        "all": f"All {questions.frame.height:,}",
        "right": f"{terms.right.capitalize()} {questions.n_right:,}",
        "wrong": f"{terms.wrong.capitalize()} {questions.n_wrong:,}",
    }
    picked = url_segment("outcome", "Outcome", titles, terms.outcome_help)
    return None if picked == "all" else cast("Outcome", picked)


def chosen_view(choice: RunChoice, result: Reliability, axes: Axes | None, selected: int | None) -> View:
    """Return the view of the run: by class where the metric is, with the selected class or bin."""
    left_out = text_lines(
        (reason := no_views_reason(choice)) and f"Isotonic and smooth views are not available: {reason}",
        choice.evidence.no_questions_reason,
    )
    if is_classwise(choice.metric):
        return classwise_view(
            cached_classwise(choice),
            result,
            evidence=choice.evidence,
            title=choice.run.title,
            axes=axes,
            chosen=selected,
            max_classes=MAX_SHOWN_CLASSES,
            left_out=left_out,
        )
    return reliability_view(
        result,
        evidence=choice.evidence,
        title=choice.run.title,
        axes=axes,
        chosen=selected,
        left_out=left_out,
    )


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
    opening = st.container(gap="xsmall")
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="view_controls"):
        view_id = choose_view(choice)
        axes = choose_axes(choice, result) if view_id == BINS_VIEW else None
        show_compare_with(lines)
    by_class = is_classwise(choice.metric)
    selected = selected_class(cached_classwise(choice)) if by_class else selected_bin(result.table)
    view = chosen_view(choice, result, axes, selected)
    with opening:
        show_opening(view, with_tiles=by_class or view_id != BINS_VIEW)
        show_warnings(*choice.evidence.warnings)
    if view_id != BINS_VIEW:
        show_without_bins(choice, view_id)
    elif by_class:
        show_classes(view, selected)
    else:
        show_bins(choice, view, result, selected)
    show_how_computed(view, reliability_view_caption(choice))
    show_left_out(view)


if __name__ == "__main__":
    page()
