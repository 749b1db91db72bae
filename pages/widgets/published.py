"""A paper's numbers beside those of the runs on the page, and its findings judged on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calib_core.results.published import FindingKind, PublishedComparison
from calib_core.views.published_table import PUBLISHED_BESIDE_TITLE, published_view
from calib_core.wording import both_or_all
from pages.state.markdown import escape_markdown
from pages.widgets.url_inputs import url_selectbox
from pages.widgets.view import show_view_table

_ICONS: Final[Mapping[FindingKind, str]] = {
    "holds": ":material/check_circle:",
    "fails": ":material/cancel:",
    "mixed": ":material/rule:",
    "unknown": ":material/help:",
    "none": ":material/remove:",
}


def pick_reference(key: str, models: Sequence[str]) -> str:
    """Draw the control of the paper's model that differences are from, and return the model."""
    help_ = "The paper's model whose numbers on the same data set are subtracted from your runs'."
    return models[url_selectbox(key, "Differences from", models, help_)]


def published_area(comparison: PublishedComparison) -> DeltaGenerator:
    """The place of a paper beside the runs: folded where it is inconclusive on all of its findings."""
    if not any(finding.kind in ("holds", "fails", "mixed") for finding in comparison.findings):
        return st.expander(f"{PUBLISHED_BESIDE_TITLE}: {_nothing_decided(comparison)}", key="paper_folded")
    area = st.container(key="paper_open")
    area.subheader(PUBLISHED_BESIDE_TITLE, anchor=False)
    return area


def _nothing_decided(comparison: PublishedComparison) -> str:
    """Return why the comparison is folded: "inconclusive on all 3 findings"."""
    n = len(comparison.findings)
    return f"inconclusive on {'the finding' if n == 1 else f'{both_or_all(n)} findings'}"


def show_published(comparison: PublishedComparison, page: str) -> None:
    """Draw what the paper found and whether it holds here, then its table with the runs as further columns.

    Parameters
    ----------
    comparison : PublishedComparison
    page : str
        Beginning of the name of an exported file.
    """
    n_runs = max((len(table.own_columns) for table in comparison.tables), default=1)
    view = published_view(comparison, page, max_own_columns=max(1, n_runs))
    with st.container(key="findings"):
        for finding, (verdict, sentence) in zip(comparison.findings, view.facts, strict=True):
            st.markdown(f"{_ICONS[finding.kind]} **{escape_markdown(verdict)}.** {escape_markdown(sentence)}")
    for table in view.tables:
        show_view_table(view, table)
    st.caption(escape_markdown(" ".join((view.how_to_read, *view.left_out))))
