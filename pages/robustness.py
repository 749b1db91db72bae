"""The page Robustness: does the number depend on the number of bins M?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from calib_core.errors import Unavailable
from calib_core.metrics import METRICS
from calib_core.results.audit import ConventionAudit, PublishedFigure, audit_conventions
from calib_core.results.pooling import (
    PairPools,
    poolable_question_titles,
    pools_of_position,
    pools_of_question,
)
from calib_core.results.published import compare_rsd
from calib_core.results.question_clusters import MAX_OFFERED_QUESTIONS
from calib_core.results.robustness import Sweep, sweep_bins
from calib_core.results.uncertainty import missing_statistics_note
from calib_core.results.view_caption import ViewCaption, names_or_count, view_caption
from calib_core.runs import TokenRun
from calib_core.views.robustness import (
    AUDIT_TITLE,
    EXAMPLE_BINS,
    POOLING_TITLE,
    audit_view,
    bin_counts_text,
    occurrences_view,
    pooling_view,
    sweep_view,
)
from pages.state.cache import cached_result
from pages.state.markdown import escape_markdown
from pages.state.progress import with_progress
from pages.widgets.figure import side_by_side
from pages.widgets.published import published_area, show_published
from pages.widgets.run_choice import RunChoice, choose_sweep
from pages.widgets.shell import shell
from pages.widgets.summary import show_warnings
from pages.widgets.url_inputs import is_url_toggle_on, url_labelled_text, url_selectbox, url_toggle
from pages.widgets.view import show_part, show_view


def cached_sweeps(choice: RunChoice) -> list[Sweep]:
    """Return the sweep of each chosen run, each computed once, with progress over the runs."""
    sweep = choice.required_sweep
    return [
        cached_result(
            ("sweep", *choice.cache_key(evidence, run), sweep.bin_counts, sweep.metrics, sweep.ddof),
            lambda evidence=evidence: sweep_bins(evidence, sweep.metrics, sweep.bin_counts, ddof=sweep.ddof),
        )
        for run, evidence in with_progress(
            ((choice.run, choice.evidence), *sweep.other_runs), "Simulating noise:"
        )
    ]


def _sweep_view_caption(choice: RunChoice, results: Sequence[Sweep]) -> ViewCaption:
    """Return the caption that says which runs and metrics the curves are of."""
    sweep = choice.required_sweep
    metrics = dict.fromkeys(METRICS[curve.metric].title for result in results for curve in result.curves)
    evidences = [choice.evidence, *(evidence for _, evidence in sweep.other_runs)]
    caption = view_caption(
        f"{names_or_count(list(metrics), 'metrics')} over M",
        [choice.run.title, *(run.title for run, _ in sweep.other_runs)],
        evidences,
        f"M in {{{bin_counts_text(sweep.bin_counts)}}}",
    )
    return replace(caption, missing_note=missing_statistics_note(evidences, sweep.metrics, intervals=False))


def show_paper(choice: RunChoice, results: Sequence[Sweep]) -> None:
    """Draw the paper's Table 1 beside the swept runs."""
    titles = [choice.run.title, *(run.title for run, _ in choice.required_sweep.other_runs)]
    sweeps = dict(zip(titles, results, strict=True))
    comparison = compare_rsd(sweeps)
    with published_area(comparison):
        show_published(comparison, "rsd")


def cached_audit(choice: RunChoice) -> ConventionAudit:
    """Return the run's ECE under every convention, computed once."""
    return cached_result(
        ("audit", *choice.cache_key(choice.evidence, choice.run)), lambda: audit_conventions(choice.evidence)
    )


def show_audit(choice: RunChoice) -> None:
    """Draw the ECE under every convention, and which of them give a figure that was published."""
    st.subheader(AUDIT_TITLE, anchor=False)
    try:
        audit = cached_audit(choice)
    except Unavailable as reason:
        st.caption(escape_markdown(str(reason)))
        return
    st.markdown(f"**{escape_markdown(audit.headline)}**")
    text = url_labelled_text(
        "published",
        "Published ECE",
        "0.037 or 3.7 %",
        "Type an ECE as it was published, with all its digits, to see which conventions give it.",
    )
    if text:
        st.markdown(escape_markdown(audit.published_sentence(text)))
    view = audit_view(audit, title=choice.run.title, published=PublishedFigure.parse(text))
    show_part(view, "conventions")


def show_pooling(choice: RunChoice, bins: tuple[int, ...]) -> None:
    """Draw which pairs of one position or question go into which bin.

    Parameters
    ----------
    choice : RunChoice
    bins : tuple of int
        The swept numbers of bins; M = 10 is drawn where it is among them, else the first.
    """
    st.subheader(POOLING_TITLE, anchor=False)
    try:
        result = _chosen_pools(choice, EXAMPLE_BINS if EXAMPLE_BINS in bins else bins[0])
    except Unavailable as reason:
        st.caption(escape_markdown(str(reason)))
        return
    if result is None:
        st.caption("This file keeps sums only, no single positions.")
        return
    show_part(pooling_view(result, title=choice.run.title), "pools")


def _chosen_pools(choice: RunChoice, bins: int) -> PairPools | None:
    """Draw the control of the position or question and return its pools; None where none is stored."""
    run = choice.evidence.run
    if isinstance(run, TokenRun):
        examples = run.sums.examples
        if not examples:
            return None
        titles = [f"{example.row + 1:,}: right token {example.target}" for example in examples]
        index = url_selectbox("place", "Position", titles, "The first positions of the file.")
        return pools_of_position(run.label, examples[index], bins)
    titles = poolable_question_titles(choice.evidence)[:MAX_OFFERED_QUESTIONS]
    index = url_selectbox("place", "Question", titles, f"Of the first {MAX_OFFERED_QUESTIONS} questions.")
    return pools_of_question(choice.evidence, index, bins)


def show_occurrences(choice: RunChoice) -> None:
    """Draw how many classes of the vocabulary never, seldom and often occur."""
    if isinstance(choice.evidence.run, TokenRun):
        show_part(occurrences_view(choice.evidence.run, title=choice.run.title), "occurrences")


def above_the_figure(choice: RunChoice) -> None:
    """Draw what suggests that the file was misread, and the switch between values and their ratios."""
    show_warnings(*choice.evidence.warnings)
    help_ = "Divide each curve by its own mean over M: the RSD is the spread of what is then drawn."
    url_toggle("relative", "Relative to own mean", help_)


def page() -> None:
    """Draw the page."""
    choice = shell("robustness", choose_sweep).choice
    result, *others = results = cached_sweeps(choice)
    show_view(
        sweep_view(
            result,
            others,
            title=choice.run.title,
            style_indices=choice.style_indices,
            relative=is_url_toggle_on("relative"),
        ),
        _sweep_view_caption(choice, results),
        controls=lambda: above_the_figure(choice),
    )
    show_paper(choice, results)
    show_audit(choice)
    pooling, occurrences = side_by_side()
    with pooling:
        show_pooling(choice, choice.required_sweep.bin_counts)
    with occurrences:
        show_occurrences(choice)


if __name__ == "__main__":
    page()
