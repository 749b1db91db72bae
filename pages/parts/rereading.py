"""Is a file to be read otherwise than it says itself?  The controls of format, columns, right answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from calib_core.analysis.check import FileReport
from calib_core.files import FORMATS
from calib_core.files.tables.columns import LISTS
from calib_core.files.tables.names import likeliest
from calib_core.records import INFO_COLUMNS
from pages.parts import keeping
from pages.parts.cache import File
from pages.parts.literal import literal
from pages.parts.meanings import MEANINGS
from pages.parts.wishes import Wish, fingerprint

ARRAYS: Final = frozenset({"npz", "topk", "sums"})
"""Formats whose columns have names of their own, and that hold the right classes themselves."""
TABLES: Final = frozenset({"table", "canonical"})
ASIDE: Final = frozenset({"id", "question", "subject", "gold", "prediction", *INFO_COLUMNS})
"""Names that alone make nothing of a file."""
MOST: Final = 60
"""Columns that can be spoken of at a time."""
OFFERED: Final = 2_000
"""Columns among which those are chosen."""

GOLDS: Final = frozenset({"gold", "gold_index", "gold_all"})
RIGHT_ANSWERS: Final = "needs right answers"
NAMES: Final = "columns to be named"

AS_IT_IS: Final = "as it is"
LEFT_OUT: Final = "left out"


def wanted(file: File, files: Sequence[File], key: str) -> None:
    """What was said of the file, and the controls to say something else."""
    keeping.said(file, files, key)
    base = file.unwished or file.report
    mapped = base is not None and base.format not in ARRAYS and bool(base.columns)
    if not (mapped or file.refusal is not None or file.wish):
        return
    proposed = likeliest(base.proposals) if base else {}
    if proposed and not file.wish:
        st.caption(f"Proposed, and not read so until you apply it: {keeping.pairs(proposed)}.")
    asked = _asks(file, files, proposed)
    if not st.toggle(
        "Read it otherwise: columns, right answers, format", value=asked, key=f"reread_{key}",
        help="Say what its columns mean, where its right answers are, or which format it has.",
    ):
        return
    with st.container(border=True, key=f"rereading_{key}"):
        format_ = _format(file, key)
        gold = _gold(file, base, files, key)
        if format_ != file.wish.format:
            st.caption("Its columns can be named once it is read so: apply this first.")
        columns = _columns(file, base, key) if mapped and base and format_ == file.wish.format else {}
        seen = fingerprint(base.columns) if columns and base else ""
        _buttons(file, Wish(format_, tuple(columns.items()), gold, seen), files, key)


def _asks(file: File, files: Sequence[File], proposed: Mapping[str, str]) -> bool:
    """Whether the controls begin open: of a refused file of which a person has something to say."""
    if file.refusal is None or file.wish or answers_for(file, files):
        return False
    base = file.unwished or file.report
    # Where rows are bad its columns were understood, and the values in them are to be mended.
    unsaid = base is not None and base.format in TABLES and not base.bad_rows
    return bool(proposed) or unsaid or (needs(file) == RIGHT_ANSWERS and bool(_tables(file, files)))


def needs(file: File) -> str | None:
    """What a refused file wants that a person can likely say here; None where that is not known."""
    if file.refusal is None or file.wish:
        return None
    if "--gold" in file.refusal.split():
        return RIGHT_ANSWERS
    base = file.unwished or file.report
    proposed = likeliest(base.proposals) if base else {}
    return None if ASIDE.issuperset(proposed.values()) else NAMES


def answers_for(file: File, files: Sequence[File]) -> bool:
    """Whether a refused table seems to hold the right answers that some other file wants."""
    base = file.report
    if file.refusal is None or file.wish or base is None or base.format not in TABLES:
        return False
    read_as = {*base.read_as.values(), *likeliest(base.proposals).values()}
    if not read_as & GOLDS or not read_as <= ASIDE | GOLDS:
        return False
    return any(needs(other) == RIGHT_ANSWERS and keeping.real_path(file) in _tables(other, files)
               for other in files)  # fmt: skip


def _tables(file: File, files: Sequence[File]) -> dict[str, str]:
    """Real path → name of the tables its right answers may come from: for the folder's files no upload."""
    return {
        keeping.real_path(other): f"{other.name} · uploaded" if other.uploaded else other.name
        for other in files
        if other is not file and (file.uploaded or not other.uploaded) and _is_table(other)
    }


def _format(file: File, key: str) -> str | None:
    """What it is read as; asked where that is in doubt."""
    if file.refusal is None and not file.wish.format:
        return None
    options = [None, *FORMATS]
    held = file.wish.format if file.wish.format in FORMATS else None
    return st.selectbox(
        "Read as",
        options,
        index=options.index(held),
        key=f"format_{key}",
        format_func=lambda id_: FORMATS[id_].title if id_ else "what it is recognised as",
        help="The format of the file, where it is not what it was taken for.",
    )


def _gold(file: File, base: FileReport | None, files: Sequence[File], key: str) -> str | None:
    """The table that its right answers come from; asked of a log in which nothing can be used."""
    log = base is not None and base.format not in ARRAYS | TABLES
    if not file.wish.gold and (file.refusal is None or not log):
        return None
    tables = _tables(file, files)
    options = [None, *tables]
    draft = file.wish.gold or _likely(file, files)
    return st.selectbox(
        "Right answers from",
        options,
        index=options.index(draft) if draft in options else 0,
        key=f"gold_{key}",
        format_func=lambda real: tables[real] if real else "the file itself",
        help="A table of this folder, or an uploaded one, with a column of ids and one of right answers.",
    )


def _likely(file: File, files: Sequence[File]) -> str | None:
    """The real path of the table whose name is most like the log's; None without one that seems to fit."""
    own = _words(file.name)
    found = {keeping.real_path(other): _words(other.name) for other in files if answers_for(other, files)}
    found = {real: words for real, words in found.items() if real in _tables(file, files)}
    return max(found, key=lambda real: (len(own & found[real]), -len(found[real])), default=None)


def _words(name: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z0-9]+", name.lower()))


def _is_table(file: File) -> bool:
    report = file.unwished or file.report
    return report is not None and report.format in TABLES


def _columns(file: File, base: FileReport, key: str) -> dict[str, str]:
    """File column → what it is to be read as, in the file's order, without those left as they are."""
    said = {column: name for column, name in file.wish.columns if column in base.columns}
    draft = said or likeliest(base.proposals)
    chosen = st.multiselect(
        "Columns",
        base.columns[:OFFERED],
        default=[column for column in base.columns[:OFFERED] if column in draft][:MOST],
        key=f"columns_{key}",
        max_selections=MOST,
        placeholder="Choose the columns that mean something else",
        help="Those to be read under another name, or not at all; the others stay as they are.",
    )
    places = {column: f"as_{key}_{base.columns.index(column)}" for column in chosen}
    if len(chosen) > 1:
        _all_as(places, key)
    options = [AS_IT_IS, LEFT_OUT, *MEANINGS]
    columns: dict[str, str] = {}
    with st.grid(3, min_column_width=220):
        for column, place in places.items():
            name = draft.get(column, None)
            start = AS_IT_IS if name is None else name or LEFT_OUT
            now = base.read_as.get(column) if column not in said else None
            columns[column] = st.selectbox(
                literal(column),
                options,
                index=options.index(start) if start in options else 0,
                key=place,
                format_func=lambda name, now=now: _option(name, now),
                help="What the column means.",
            )
    ordered = sorted(columns, key=base.columns.index)
    return {column: "" if columns[column] == LEFT_OUT else columns[column] for column in ordered
            if columns[column] != AS_IT_IS}


def _option(name: str, now: str | None) -> str:
    if name == AS_IT_IS:
        return f"{AS_IT_IS} ({now})" if now else AS_IT_IS
    return name if name == LEFT_OUT else f"{name}: {MEANINGS[name]}"


def _all_as(places: Mapping[str, str], key: str) -> None:
    """One control for the chosen columns that are nothing else: the elements of a list are often many."""
    widget = f"all_{key}"

    def set_all() -> None:
        for place in places.values():
            if st.session_state.get(place) in {AS_IT_IS, *LISTS}:
                st.session_state[place] = st.session_state[widget]
        st.session_state[widget] = None

    st.selectbox(
        "All of these that are nothing else: parts of one list",
        sorted(LISTS),
        index=None,
        key=widget,
        format_func=lambda name: _option(name, None),
        placeholder="no: each as chosen below",
        help="Sets the columns below at once, such as the samples of a question that have a column each.",
        on_change=set_all,
    )


def _buttons(file: File, wish: Wish, files: Sequence[File], key: str) -> None:
    """Apply, to all files with the same columns if wanted, or back to what is kept or proposed."""
    times = Counter(name for _, name in wish.columns if name and name not in LISTS)
    twice = [name for name, count in times.items() if count > 1]
    if twice:
        st.warning(f"Two columns are to be read as {', '.join(map(literal, twice))}: choose one of them.")
    with st.container(horizontal=True):
        st.button(
            "Apply", key=f"apply_{key}", type="primary", disabled=bool(twice) or (wish == file.wish),
            on_click=keeping.apply, args=(file, wish, key),
        )
        alike = keeping.alike(file, files) if wish.columns and not wish.gold else ()
        if len(alike) > 1:
            st.button(
                f"Apply to all {len(alike)} files with these columns", key=f"apply_all_{key}",
                disabled=bool(twice), on_click=keeping.apply_to_all, args=(alike, wish, key),
            )
        st.button("Reset", key=f"reset_{key}", on_click=keeping.reset, args=(key,))
    st.caption(
        "It is forgotten when the session ends." if file.uploaded
        else "It is kept in your cache folder and used again at the next start; the file stays as it is."
    )
