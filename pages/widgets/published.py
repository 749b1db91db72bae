"""A paper's numbers beside those of the runs on the page, and its findings judged on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import polars as pl
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calib_core.results.published import Finding, FindingKind, PublishedComparison
from calib_core.views.published_table import (
    PUBLISHED_BESIDE_TITLE,
    published_rows,
    published_source,
)
from calib_core.wording import both_or_all, plural
from pages.state.markdown import escape_markdown
from pages.widgets.export import Export, make_file_stem, table_export_menu
from pages.widgets.table import fit_column_widths
from pages.widgets.url_inputs import url_selectbox

_ICONS: Final[Mapping[FindingKind, str]] = {
    "holds": ":material/check_circle:",
    "fails": ":material/cancel:",
    "mixed": ":material/rule:",
    "unknown": ":material/help:",
    "none": ":material/remove:",
}


def pick_reference(key: str, columns: Iterable[str], default: int = 0) -> str:
    """Draw the control of the published column that differences are from, and return the column."""
    names = list(columns)
    index = url_selectbox(
        key,
        "Differences from",
        names,
        "The paper's column that is subtracted from your runs.",
        default,
    )
    return names[index]


def published_area(comparison: PublishedComparison) -> DeltaGenerator:
    """The place of a paper beside the runs: folded where all of its findings are undecided."""
    if not any(finding.kind in ("holds", "fails", "mixed") for finding in comparison.findings):
        return st.expander(f"{PUBLISHED_BESIDE_TITLE}: {_nothing_decided(comparison)}", key="paper_folded")
    area = st.container(key="paper_open")
    area.subheader(PUBLISHED_BESIDE_TITLE, anchor=False)
    return area


def _nothing_decided(comparison: PublishedComparison) -> str:
    """Return why the comparison is folded: "the finding is undecided", "all 4 findings are undecided"."""
    n = len(comparison.findings)
    return "the finding is undecided" if n == 1 else f"{both_or_all(n)} findings are undecided"


def show_published(comparison: PublishedComparison, stem: str) -> None:
    """Draw what the paper found and whether it holds here, then its table with the runs as further columns.

    Parameters
    ----------
    comparison : PublishedComparison
    stem : str
        Beginning of the name of an exported file.
    """
    with st.container(key="findings"):
        for finding in comparison.findings:
            st.markdown(_finding_text(finding))
    if comparison.rows:
        rows = published_rows(comparison)
        # Polars passes no NUL in a column's name on to pandas
        frame = pl.DataFrame(rows, infer_schema_length=None)
        shown = frame.rename(lambda name: name.replace("\0", "\N{SYMBOL FOR NULL}"))
        columns = fit_column_widths({"Number": st.column_config.TextColumn(pinned=True)}, shown, "Number")
        st.dataframe(
            shown,
            key="paper_table",
            hide_index=True,
            column_config=columns,
            height="content" if len(rows) <= 12 else 460,
            alt=f"{comparison.source}, beside {plural(len(comparison.own_columns), 'run')}",
        )
        export = Export(
            make_file_stem(stem, "published"),
            comparison.to_frame,
            published_source(comparison),
            PUBLISHED_BESIDE_TITLE,
        )
        table_export_menu(export, "paper_table", shown=shown)
    st.caption(escape_markdown(" ".join([published_source(comparison), *comparison.remarks])))


def _finding_text(finding: Finding) -> str:
    """Return the finding as Markdown: its judgement in bold, what was published, and the runs' numbers."""
    verdict = f"{finding.verdict[0].upper()}{finding.verdict[1:]}"
    details = f" Here: {finding.details}." if finding.details else ""
    return (
        f"{_ICONS[finding.kind]} **{escape_markdown(verdict)}.** "
        f"{escape_markdown(f'Published: {finding.published}.{details}')}"
    )
