"""Which questions are in the bin somebody clicked?"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import streamlit as st

from calib_core.analysis.questions import SHOWN
from calib_core.analysis.questions import questions as questions_of
from calib_core.analysis.reliability import Reliability
from calib_core.wording import count
from pages.parts import cache, picking, tables
from pages.parts.address import not_here, typed
from pages.parts.choice import Choice
from pages.parts.exporting import Export, named
from pages.parts.literal import literal


def selected(table: pl.DataFrame) -> int | None:
    """The number of the selected bin (from 1), as the address has it; None where there is no such bin."""
    wanted = st.query_params.get("bin", "")
    found = next((number for number in table["bin"].to_list() if str(number) == wanted), None)
    if wanted and found is None:
        not_here("bin", "which is empty here, or not there.")
    return found


def select(bin_: int | None) -> None:
    """Selects a bin: it goes into the address, so a link shows the same questions."""
    if bin_ is None:
        st.query_params.pop("bin", None)
        st.query_params.pop("search", None)
    else:
        st.query_params["bin"] = str(bin_)


def from_figure(key: str) -> None:
    """A click in the figure: the bin's number is the first value of the point's custom data."""
    if data := picking.clicked(key):
        select(int(data[0]))


def from_table(key: str, numbers: Sequence[int]) -> None:
    """A click on a row of the per-bin table, or a second one that takes it back."""
    select(picking.of_row(key, numbers))


def questions(choice: Choice, result: Reliability, bin_: int | None) -> None:
    """The questions of the bin, searchable, the first thousand shown, all of them downloadable."""
    if bin_ is None:
        return
    if reason := choice.evidence.no_questions:
        st.info(literal(reason))
        return
    place = result.table.row(by_predicate=pl.col("bin") == bin_, named=True)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.header(f"Questions in {literal(place['interval'])}", anchor=False, width="content")
        st.button("Close", key="close_bin", on_click=select, args=(None,), icon=":material/close:")
    search = typed("search", "Search", "id, question, answer or gold contains …")
    found = cache.kept(
        ("questions", *choice.key(), bin_, search),
        lambda: questions_of(choice.evidence, choice.metric, choice.scheme, bin_number=bin_, search=search),
        most=cache.LARGE_RESULTS,
    )
    right = int(found.frame["right"].sum())
    st.caption(
        f"{found.frame.height:,} of {count(found.total, result.of_pairs.removesuffix('s'))}, "
        f"{right:,} of them right"
        + (
            f"; the first {SHOWN:,} are shown, the download has them all."
            if found.frame.height > SHOWN
            else "."
        )
    )
    shown = found.shown.with_columns(right=pl.when("right").then(pl.lit("right")).otherwise(pl.lit("wrong")))
    export = Export(
        named(choice.slug, "bin", bin_, *([search] if search else [])), lambda: found.frame, result.recipe,
        "Questions", f"{choice.of}, confidence in {place['interval']}", excerpt=True,
    )
    tables.plain(
        shown, key="question_rows", alt=f"{count(found.frame.height, 'question')} of the selected bin",
        export=export,
    )
