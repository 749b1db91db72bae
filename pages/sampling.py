"""The page Sampling: how many samples per question are enough?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import polars as pl
import streamlit as st

from calib_core.errors import Unavailable
from calib_core.methods.answers.subsample import SampleMatrix, sample_matrix
from calib_core.methods.method import MethodOptions
from calib_core.metrics import METRICS
from calib_core.results.published import PAPER_METHODS
from calib_core.results.question_clusters import (
    question_clusters,
    sampled_question_titles,
    typical_question,
)
from calib_core.results.sampling import (
    BRIER_TOLERANCE,
    DEFAULT_METRICS,
    SampleSizeSweep,
    SamplingPlan,
    sample_size_sweep,
    subsample_sizes,
)
from calib_core.results.view_caption import ViewCaption, method_titles, rows_used_text
from calib_core.runs import AnswerRun
from calib_core.views.sampling import (
    EXAMPLE_TITLE,
    NO_SAMPLES,
    SAMPLED_METHOD,
    metrics_beside_brier,
    question_view,
    sampling_view,
)
from pages.state.cache import MAX_LARGE_RESULTS, cached_result
from pages.state.markdown import escape_markdown
from pages.state.progress import progress_bar
from pages.state.runs import LoadedRun
from pages.state.url import UrlState
from pages.widgets.copyable_text import show_copyable_text
from pages.widgets.figure import side_by_side
from pages.widgets.number_inputs import (
    NumberListSpec,
    decimal_input,
    number_list_input,
    whole_number_input,
)
from pages.widgets.pickers import pick_run, pick_unparseable_rule, select_box, usual_run
from pages.widgets.shell import shell
from pages.widgets.summary import show_warnings_of_runs
from pages.widgets.url_inputs import url_selectbox
from pages.widgets.view import show_view, show_view_figure, show_view_table

MAX_SIZES: Final = 12
MAX_SAMPLES: Final = 10**9 - 1
MAX_REPEATS: Final = 1000
MAX_DRAW_SEED: Final = 10**9 - 1


@dataclass(frozen=True, slots=True, eq=False)
class SamplingChoice:
    """What the page Sampling shows.

    Attributes
    ----------
    run : LoadedRun
    answers : AnswerRun
        The run's rows with their samples.
    metric : str
    plan : SamplingPlan
        Sizes, repeats and seed of the draws; the metrics that are shown of them.
    options : MethodOptions
    tolerance : float
        Largest difference of the Brier score that counts as none.
    """

    run: LoadedRun
    answers: AnswerRun
    metric: str
    plan: SamplingPlan
    options: MethodOptions
    tolerance: float

    def cache_key(self) -> tuple[object, ...]:
        """Return what determines the curves; the tolerance only chooses what is said of them."""
        return (*self.run.source, self.options, self.plan)

    def sample_codes(self) -> SampleMatrix:
        """Return the samples as integer codes, equal for equal answers.

        Raises
        ------
        Unavailable
            As `sample_matrix`.
        """
        return _cached_codes(self.run, self.answers, self.options)


def _cached_codes(run: LoadedRun, answers: AnswerRun, options: MethodOptions) -> SampleMatrix:
    key = ("codes", *run.source, options)
    return cached_result(key, lambda: sample_matrix(answers, options), max_results=MAX_LARGE_RESULTS)


def choose_sampling(url_state: UrlState, runs: Sequence[LoadedRun]) -> SamplingChoice:
    """Draw the sidebar controls: run, metric, sizes, repeats, seed, options and tolerance.

    The page begins with a run that has all methods of the self-consistency paper, where there is one.

    Raises
    ------
    Unavailable
        Where no run has samples.
    """
    sampled = {
        run.id: (run, answers)
        for run in runs
        if isinstance(answers := run.report.run, AnswerRun) and SAMPLED_METHOD in run.report.survey.usable
    }
    if not sampled:
        raise Unavailable(NO_SAMPLES)
    n_used = {id_: run.report.survey.usable[SAMPLED_METHOD].n_used for id_, (run, _) in sampled.items()}
    sampled_runs = {id_: run for id_, (run, _) in sampled.items()}
    whole = [id_ for id_, run in sampled_runs.items() if {*PAPER_METHODS} <= {*run.report.survey.usable}]
    run = pick_run(url_state, sampled_runs, usual_run(sampled_runs, n_used, whole))
    answers = sampled[run.id][1]
    metric = select_box(
        url_state,
        "metric",
        "Metric",
        DEFAULT_METRICS,
        DEFAULT_METRICS[0],
        title_of=lambda id_: METRICS[id_].title,
        help_=lambda id_: METRICS[id_].help,
    )
    sizes = _sizes_input(url_state, _default_sizes_text(run, answers))
    left, right = st.columns(2)
    with left:
        repeats = whole_number_input(
            url_state, "repeats", "Repeats", (100, 1, MAX_REPEATS), "Number of subsets drawn of each size."
        )
    with right:
        seed = whole_number_input(
            url_state, "seed", "Seed", (0, 0, MAX_DRAW_SEED), "The same seed draws the same subsets."
        )
    options = MethodOptions(unparseable=pick_unparseable_rule(url_state))
    tolerance = decimal_input(
        url_state,
        "within",
        "Brier tolerance ±",
        (BRIER_TOLERANCE, 0.000001, 0.999999),
        "N' is enough if the 95 % interval of the paired difference from the largest N' that is not greyed "
        "lies within this tolerance.",
        step=0.001,
    )
    plan = SamplingPlan(sizes, repeats, seed, metrics=metrics_beside_brier(metric))
    return SamplingChoice(run, answers, metric, plan, options, tolerance)


def _sizes_input(url_state: UrlState, placeholder: str) -> tuple[int, ...] | None:
    """Draw the field of the sample sizes N'; None, for the default sizes, where nothing is typed."""
    return (
        number_list_input(
            url_state,
            "sizes",
            NumberListSpec(
                "Numbers of samples N'",
                "a number of samples",
                MAX_SAMPLES,
                MAX_SIZES,
                (
                    "Whole numbers separated by commas, up to the samples per question. Empty: the grey "
                    "defaults."
                ),
                placeholder=placeholder,
            ),
        )
        or None
    )


def _default_sizes_text(run: LoadedRun, answers: AnswerRun) -> str:
    """Return the sizes drawn where none is typed, as in "4, 8, 16"."""
    codes = _cached_codes(run, answers, MethodOptions())
    try:
        return ", ".join(map(str, subsample_sizes(codes.n_samples, codes.usable_rows).sizes))
    except Unavailable:  # the page gives the reason in place of the figure
        return ""


def cached_samples(choice: SamplingChoice) -> SampleSizeSweep:
    """Return the sweep over sample sizes, with a progress bar while it is computed.

    Raises
    ------
    Unavailable
        Where no part of the samples can be drawn.
    """

    def compute() -> SampleSizeSweep:
        with progress_bar("Drawing subsets of the samples …") as show:
            return sample_size_sweep(
                choice.answers,
                choice.plan,
                choice.options,
                samples=choice.sample_codes(),
                progress=lambda share, text: show(share, f"Drawing subsets: {text}"),
            )

    return cached_result(("samples", *choice.cache_key()), compute).with_tolerance(choice.tolerance)


def _sampling_view_caption(choice: SamplingChoice, result: SampleSizeSweep) -> ViewCaption:
    """Return the caption that says which run, metric and sample sizes the curves are of."""
    title = METRICS[choice.metric].title
    return ViewCaption(
        f"{title} of subsets of the samples",
        (choice.run.title,),
        method_titles(list(result.mean_confidence)),
        f"N' in {{{', '.join(map(str, result.sizes))}}}",
        rows_used_text([(result.n_used, result.n_total)], "rows"),
    )


def show_sizes(choice: SamplingChoice, result: SampleSizeSweep) -> None:
    """Draw the metric over N'; files have every metric, also those that are not shown."""

    def all_metrics() -> pl.DataFrame:
        plan = replace(choice.plan, metrics=DEFAULT_METRICS)
        sweep = sample_size_sweep(choice.answers, plan, choice.options, tolerance=choice.tolerance)
        return sweep.to_frame()

    def show_warnings() -> None:
        show_warnings_of_runs(
            (choice.run.title, evidence)
            for id_, evidence in choice.run.report.survey.usable.items()
            if id_ in result.mean_confidence
        )

    show_view(
        sampling_view(result, choice.plan.metrics, title=choice.run.title, in_full=all_metrics),
        _sampling_view_caption(choice, result),
        controls=show_warnings,
    )


def show_question(choice: SamplingChoice) -> None:
    """Draw one question: its clusters of equal answers, and the three confidences derived step by step."""
    st.header(EXAMPLE_TITLE, anchor=False)
    codes = choice.sample_codes()
    rows, titles = sampled_question_titles(choice.answers, codes)
    index = url_selectbox(
        "place",
        "Question",
        titles,
        f"The first {len(titles):,} questions with samples. Type to search, also for “tie” or “not parse”.",
        typical_question(codes, rows),
    )
    result = question_clusters(choice.answers, codes, rows[index], choice.options.unparseable)
    view = question_view(result, title=EXAMPLE_TITLE, run=choice.run.title)
    place, derivation = side_by_side()
    with place:
        for figure in view.figures:
            show_view_figure(view, figure)
    with derivation:
        st.markdown(escape_markdown(view.headline))
        show_copyable_text("\n".join(view.recipes))
        for table in view.tables:
            show_view_table(view, table)


def page() -> None:
    """Draw the page."""
    choice = shell("sampling", choose_sampling).choice
    try:
        result = cached_samples(choice)
    except Unavailable as reason:
        st.info(escape_markdown(str(reason)))
    else:
        show_sizes(choice, result)
    show_question(choice)


if __name__ == "__main__":
    page()
