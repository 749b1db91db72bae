"""Which questions are in the bin somebody clicked?"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import streamlit as st

from calib_core.analysis.questions import MAX_SHOWN_QUESTIONS
from calib_core.analysis.questions import questions_in_bin as questions_of
from calib_core.analysis.reliability import Reliability
from calib_core.wording import plural
from pages.parts import cache, picking, tables
from pages.parts.address import warn_not_available, url_text_input
from pages.parts.choice import RunChoice
from pages.parts.exporting import Export, make_file_stem
from pages.parts.literal import escape_markdown


def selected_bin(table: pl.DataFrame) -> int | None:
    """The number of the selected bin (from 1), as the address has it; None where there is no such bin."""
    wanted = st.query_params.get("bin", "")
    found = next((number for number in table["bin"].to_list() if str(number) == wanted), None)
    if wanted and found is None:
        warn_not_available("bin", "which is empty here, or not there.")
    return found


def select_bin(bin_number: int | None) -> None:
    """Selects a bin: it goes into the address, so a link shows the same questions."""
    if bin_number is None:
        st.query_params.pop("bin", None)
        st.query_params.pop("search", None)
    else:
        st.query_params["bin"] = str(bin_number)


def select_bin_from_figure(key: str) -> None:
    """A click in the figure: the bin's number is the first value of the point's custom data."""
    if data := picking.clicked_point_data(key):
        select_bin(int(data[0]))


def select_bin_from_table(key: str, numbers: Sequence[int]) -> None:
    """A click on a row of the per-bin table, or a second one that takes it back."""
    select_bin(picking.selected_row_value(key, numbers))


def show_questions(choice: RunChoice, result: Reliability, bin_number: int | None) -> None:
    """The questions of the bin, searchable, the first thousand shown, all of them downloadable."""
    if bin_number is None:
        return
    if reason := choice.evidence.no_questions_reason:
        st.info(escape_markdown(reason))
        return
    place = result.table.row(by_predicate=pl.col("bin") == bin_number, named=True)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.header(f"Questions in {escape_markdown(place['interval'])}", anchor=False, width="content")
        st.button("Close", key="close_bin", on_click=select_bin, args=(None,), icon=":material/close:")
    search = url_text_input("search", "Search", "id, question, answer or gold contains …")
    found = cache.cached_result(
        ("questions", *choice.cache_key(), bin_number, search),
        lambda: questions_of(choice.evidence, choice.metric, choice.scheme, bin_number=bin_number, search=search),
        max_results=cache.MAX_LARGE_RESULTS,
    )
    right = int(found.frame["right"].sum())
    st.caption(
        f"{found.frame.height:,} of {plural(found.n_before_search, result.pair_unit.removesuffix('s'))}, "
        f"{right:,} of them right"
        + (
            f"; the first {MAX_SHOWN_QUESTIONS:,} are shown, the download has them all."
            if found.frame.height > MAX_SHOWN_QUESTIONS
            else "."
        )
    )
    shown = found.preview.with_columns(right=pl.when("right").then(pl.lit("right")).otherwise(pl.lit("wrong")))
    export = Export(
        make_file_stem(choice.file_stem, "bin", bin_number, *([search] if search else [])), lambda: found.frame, result.recipe,
        "Questions", f"{choice.description}, confidence in {place['interval']}", excerpt=True,
    )
    tables.show_table(
        shown, key="question_rows", alt=f"{plural(found.frame.height, 'question')} of the selected bin",
        export=export,
    )
