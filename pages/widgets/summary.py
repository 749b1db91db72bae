"""Headline, tiles, remarks, and the line below a figure that says what it shows, the same on every page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import streamlit as st

from calib_core.errors import Suspicion, single_line
from calib_core.results.evidence import Evidence
from calib_core.results.view_caption import ViewCaption
from calib_core.terms import ANSWER_TERMS, Terms
from calib_core.views.glossary import Term, terms_in
from calib_core.views.view import Fact
from calib_core.wording import join_names, plural
from pages.state.markdown import escape_markdown
from pages.state.progress import with_partial_note
from pages.widgets.copyable_text import show_copyable_text

MAX_RUN_WARNINGS: Final = 3
"""Warnings that a page of several runs shows; the others are counted."""

MAX_WARNING_TITLE: Final = 110
"""Letters of the first warning in the line that unfolds all of them."""


def show_tiles(values: Sequence[tuple[str, str, str] | tuple[str, str, str, str]]) -> None:
    """Draw tiles of (label, value, help, optional text below) in even rows of at most five.

    On a narrow page they fold to two columns. Texts of a file must be escaped by the caller, since tiles read
    Markdown.
    """
    per_row = math.ceil(len(values) / max(1, math.ceil(len(values) / 5)))
    with st.grid(max(3, per_row), min_column_width=150):  # a single tile does not fill the page's width
        for label, value, help_, *below in values:
            note = below[0] if below and below[0] else None
            st.metric(
                label,
                value,
                note,
                help=help_,
                border=True,
                height="stretch",
                delta_color="off",
                delta_arrow="off",
            )


def terms_help(*texts: str, terms: Terms = ANSWER_TERMS) -> str | None:
    """Return what the terms in these texts mean, as a tooltip; None where there are none."""
    return "\n\n".join(map(_explained, terms_in(*texts, terms=terms))) or None


def _explained(term: Term) -> str:
    return f"**{escape_markdown(term.name)}**: {escape_markdown(term.meaning)}"


def show_headline(sentence: str, *, terms: Terms = ANSWER_TERMS) -> None:
    """Draw the main finding."""
    st.header(escape_markdown(sentence), anchor=False, help=terms_help(sentence, terms=terms))


def show_view_caption(text: str) -> None:
    """Draw the line that says which runs, methods, metric and rows are shown."""
    with st.container(key="looking"):
        st.caption(f":material/visibility: {escape_markdown(text)}")


def show_provenance(
    view: ViewCaption | None,
    *recipes: str,
    facts: Sequence[Fact] = (),
    key: str = "looking",
    terms: Terms = ANSWER_TERMS,
) -> None:
    """Draw the line below a figure: which runs, methods, metric and rows it shows, where that is given.

    The line opens to how the numbers were computed, one box to copy for each of the recipes, and
    to the facts, and to why an interval or a p-value is missing, where one is.
    """
    sentence = "How this was computed"
    if view is not None:
        sentence = f":material/visibility: {escape_markdown(view.sentence)}"
    with st.expander(sentence, key=key, type="compact"):
        show_computation(*recipes, facts=facts, terms=terms)
        show_remarks(view and view.missing_note)


def show_computation(*recipes: str, facts: Sequence[Fact] = (), terms: Terms = ANSWER_TERMS) -> None:
    """Draw how numbers were computed: a box to copy for each recipe, the facts, and what their terms mean."""
    for recipe in recipes:
        show_recipe(recipe)
    for name, text in facts:
        st.caption(f"**{escape_markdown(name)}**: {escape_markdown(text)}")
    if explained := terms_in(*recipes, *(text for _, text in facts), terms=terms):
        with st.popover("Terms", icon=":material/menu_book:", type="tertiary"):
            for term in explained:
                st.caption(_explained(term))


def show_recipe(text: str) -> None:
    """Draw how the numbers above were computed, as monospaced lines that wrap."""
    show_copyable_text(with_partial_note(text))


def show_remarks(*texts: str | None) -> None:
    """Draw what a reader should know besides, on one line; empty texts are left out."""
    line = " · ".join(escape_markdown(text) for text in texts if text)
    if line:
        st.caption(f":material/info: {line}")


def show_warnings(*texts: str) -> None:
    """Draw what suggests that a file was read otherwise than it was meant; several texts are folded."""
    if len(texts) > 1:
        _show_folded_warnings(texts, len(texts))
    else:
        _draw_warnings(texts)


def _draw_warnings(texts: Iterable[str]) -> None:
    for text in texts:
        st.warning(escape_markdown(text), icon=":material/help:")


def _show_folded_warnings(texts: Sequence[str], n_warnings: int) -> None:
    """Draw a line with the number of warnings and the beginning of the first, which opens to the texts."""
    beginning = single_line(texts[0], MAX_WARNING_TITLE)
    with (
        st.container(key="warnings"),
        st.expander(
            f"**{plural(n_warnings, 'warning')}** {escape_markdown(beginning)}", icon=":material/warning:"
        ),
    ):
        _draw_warnings(texts)


def show_warnings_of_runs(evidences: Iterable[tuple[str, Evidence]]) -> None:
    """Draw, folded, what suggests that runs were read otherwise than meant: each message once, by its runs.

    Parameters
    ----------
    evidences : iterable of (str, Evidence)
        Title of a run, and what one of its methods gives.
    """
    titles_by_suspicion: dict[Suspicion, dict[str, None]] = {}
    for title, evidence in evidences:
        for suspicion in evidence.suspicions:
            titles_by_suspicion.setdefault(suspicion, {})[title] = None
    shown = [f"{join_names(list(titles))}: {one.text}" for one, titles in titles_by_suspicion.items()]
    if hidden := len(shown[MAX_RUN_WARNINGS:]):
        shown[MAX_RUN_WARNINGS:] = [f"{plural(hidden, 'further warning')} on the page Files."]
    if shown:
        _show_folded_warnings(shown, len(titles_by_suspicion))


def show_reasons(title: str, reasons: Mapping[str, str], key: str) -> None:
    """Draw a folded list of what is not available (name → reason); nothing where the list is empty."""
    if reasons:
        with st.expander(f"{title} ({len(reasons)})", key=key):
            for name, reason in reasons.items():
                st.caption(f"**{escape_markdown(name)}**: {escape_markdown(reason)}")
