"""Is a file to be read otherwise than it says itself?  The controls of format, columns, right answers."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import streamlit as st

from calib_core.errors import shorten
from calib_core.readers import FORMATS
from calib_core.readers.table.columns import LIST_COLUMNS, likeliest_columns
from calib_core.results.files import FileReport
from calib_core.runs import INFO_COLUMNS
from pages.state.cache import LoadedFile, mapping_store
from pages.state.mappings import FileMapping, fingerprint
from pages.state.markdown import escape_markdown

# MERGED meanings: What does each name that a column can be read as stand for, in a few words?  For the mapping on Files.

COLUMN_MEANINGS: Final = MappingProxyType[str, str](
    {
        "confidence": "how sure the model is, 0 to 1",
        "correct": "whether the answer is right",
        "gold": "the right answer: text, letter or index from 0",
        "gold_index": "the right choice, counted from 0",
        "gold_all": "list: every right answer",
        "prediction": "the model's answer",
        "prediction_index": "the choice it takes, counted from 0",
        "prediction_text": "the whole output it answers with",
        "verbal_confidence": "the confidence it states",
        "p_true": "probability of “true” for its own answer",
        "p_false": "probability of “false”",
        "p_true_norm": "how p_true was made from both",
        "trial_of": "the question that a row asks again",
        "choices": "list: the choices' texts",
        "choice_logprobs": "list: a log-probability a choice",
        "choice_probs": "list: a probability a choice",
        "choice_logprob_floor": "what an unlisted choice has at most",
        "choice_other_mass": "probability of anything but the choices",
        "choice_token_counts": "list: tokens of each choice",
        "choice_char_counts": "list: characters of each choice",
        "choice_byte_counts": "list: bytes of each choice",
        "samples": "list: sampled answers, or whole outputs",
        "samples_parsed": "list: sampled answers, found already",
        "sample_correct": "list: whether each sample is right",
        "sample_cluster": "list: which samples are equal",
        "correct_majority": "whether the majority's answer is right",
        "path_logprobs": "list: a log-probability a token of the output",
        "path_mean_prob": "mean probability of its tokens",
        "answer_start": "first token of the answer in the output",
        "answer_end": "first token after the answer",
        "answer_logprobs": "list: a log-probability a token of the answer",
        "answer_mean_prob": "mean probability of the answer's tokens",
        "id": "which question it is",
        "question": "the question's text",
        "subject": "its subject",
        "status": "whether the request failed",
        "answer_kind": "number, text or choice",
        "model": "which model answered",
        "dataset": "which data set",
        "shots": "examples in the prompt",
        "checkpoint": "step of the training",
        "params_b": "size in billions of parameters",
        "tuning": "base, instruct …",
        "temperature": "of the sampling",
        "tokens_seen": "tokens trained on so far",
    }
)
"""Contract name → its meaning; what is asked for most comes first."""


# MERGED keeping: What did a person say of a file, and how is that kept, shown and forgotten?

_DECIDED_KEY: Final = "_decided"


def show_kept_mapping(file: LoadedFile, files: Sequence[LoadedFile], key: str) -> None:
    """The wish as it is kept, with what has become of it."""
    if trouble := st.session_state.pop(f"trouble_{key}", None):
        st.error(escape_markdown(trouble), icon=":material/save:")
    if not file.mapping:
        return
    where = "for this session" if file.is_uploaded else "on this machine"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f":material/push_pin: **Your mapping, kept {where}**: {_mapping_text(file.mapping, files)}."
        )
        st.button("Forget it", key=f"forget_{key}", on_click=delete_mapping, args=(file, key))
    if file.mapping_is_stale:
        st.warning(
            "The file has other columns now than when you said this, so the columns are read as they are. "
            "Look at them below and apply again, or forget it.",
            icon=":material/difference:",
        )
    if file.mapping.gold and file.listing.gold is None:
        st.warning("The table of right answers is no longer here, so none are taken from it.")


def _mapping_text(mapping: FileMapping, files: Sequence[LoadedFile]) -> str:
    parts = [f"read as {escape_markdown(FORMATS[mapping.format].title)}"] if mapping.format in FORMATS else []
    if mapping.columns:
        parts.append(columns_text(dict(mapping.columns)))
    if mapping.gold:
        name = next((file.name for file in files if real_path(file) == mapping.gold), "a table that is gone")
        parts.append(f"right answers from {escape_markdown(name)}")
    return "; ".join(parts)


def columns_text(columns: Mapping[str, str], max_parts: int = 8) -> str:
    """As "conf as confidence, …" with the columns of one list together."""
    by_name: dict[str, list[str]] = {}
    for column, name in columns.items():
        by_name.setdefault(name, []).append(escape_markdown(shorten(column, 40)))
    told: list[str] = []
    for name, own in by_name.items():
        shown = f"{own[0]} … {own[-1]} ({len(own)} columns)" if len(own) > 3 else ", ".join(own)
        told.append(f"{shown} as {escape_markdown(name)}" if name else f"{shown} left out")
    more = f" and {len(told) - max_parts} more" if len(told) > max_parts else ""
    return ", ".join(told[:max_parts]) + more


def save_mapping(file: LoadedFile, mapping: FileMapping, key: str) -> None:
    """Keeps it in place of what was said before; an empty one is forgotten."""
    if not mapping:
        delete_mapping(file, key)
        return
    try:
        mapping_store(file).save(file.listing.path, mapping)
    except OSError as error:
        st.session_state[f"trouble_{key}"] = f"It cannot be kept: {error.strerror}."
        return
    _close_controls(key)


def files_with_same_columns(file: LoadedFile, files: Sequence[LoadedFile]) -> tuple[LoadedFile, ...]:
    """The file and others that were refused with the very same columns, and of which nothing was said yet."""
    own = _file_columns(file)
    return (
        file,
        *(
            other
            for other in files
            if other is not file
            and other.refusal is not None
            and not other.mapping
            and other.is_uploaded == file.is_uploaded
            and own
            and _file_columns(other) == own
        ),
    )


def _file_columns(file: LoadedFile) -> Sequence[str]:
    base = file.report_without_mapping or file.report
    return base.columns if base else ()


def save_mapping_for_all(files: Sequence[LoadedFile], mapping: FileMapping, key: str) -> None:
    """Keeps it for each of these; key: of the one at which it was said."""
    for file in files:
        save_mapping(file, mapping, key)


def delete_mapping(file: LoadedFile, key: str) -> None:
    """The file is read as it says itself."""
    try:
        mapping_store(file).delete(file.listing.path)
    except OSError as error:
        st.session_state[f"trouble_{key}"] = f"It cannot be forgotten: {error.strerror}."
        return
    _close_controls(key)


def _close_controls(key: str) -> None:
    reset_controls(key)
    mark_decided(key)
    st.session_state[f"reread_{key}"] = False


def mark_decided(key: str) -> None:
    """Marks a file of which something was said in this session: what came of it stays in sight."""
    st.session_state[_DECIDED_KEY] = decided_keys() | {key}


def decided_keys() -> frozenset[str]:
    """The keys of those files."""
    return st.session_state.get(_DECIDED_KEY, frozenset())


def reset_controls(key: str) -> None:
    """The controls as they are drawn first."""
    own = {f"{kind}_{key}" for kind in ("format", "gold", "columns", "all")}
    for name in [str(name) for name in st.session_state]:
        if name in own or name.startswith(f"as_{key}_"):
            del st.session_state[name]


def real_path(file: LoadedFile) -> str:
    """Where the file lies, links followed; never shown."""
    return os.path.realpath(file.listing.path)


ARRAY_FORMATS: Final = frozenset({"npz", "topk", "sums"})
"""Formats whose columns have names of their own, and that hold the right classes themselves."""
TABLE_FORMATS: Final = frozenset({"table", "canonical"})
SUPPORTING_COLUMNS: Final = frozenset({"id", "question", "subject", "gold", "prediction", *INFO_COLUMNS})
"""Names that alone make nothing of a file."""
MAX_MAPPED_COLUMNS: Final = 60
"""Columns that can be spoken of at a time."""
MAX_OFFERED_COLUMNS: Final = 2_000
"""Columns among which those are chosen."""

GOLD_COLUMNS: Final = frozenset({"gold", "gold_index", "gold_all"})
NEEDS_GOLD: Final = "needs right answers"
NEEDS_COLUMN_NAMES: Final = "columns to be named"

UNCHANGED: Final = "as it is"
IGNORED: Final = "left out"


def show_mapping_controls(file: LoadedFile, files: Sequence[LoadedFile], key: str) -> None:
    """What was said of the file, and the controls to say something else."""
    show_kept_mapping(file, files, key)
    base = file.report_without_mapping or file.report
    mapped = base is not None and base.format not in ARRAY_FORMATS and bool(base.columns)
    if not (mapped or file.refusal is not None or file.mapping):
        return
    proposed = likeliest_columns(base.proposals) if base else {}
    if proposed and not file.mapping:
        st.caption(f"Proposed, and not read so until you apply it: {columns_text(proposed)}.")
    asked = _opens_by_default(file, files, proposed)
    if not st.toggle(
        "Read it otherwise: columns, right answers, format",
        value=asked,
        key=f"reread_{key}",
        help="Say what its columns mean, where its right answers are, or which format it has.",
    ):
        return
    with st.container(border=True, key=f"rereading_{key}"):
        format_ = _pick_format(file, key)
        gold = _pick_gold_table(file, base, files, key)
        if format_ != file.mapping.format:
            st.caption("Its columns can be named once it is read so: apply this first.")
        columns = _pick_columns(file, base, key) if mapped and base and format_ == file.mapping.format else {}
        seen = fingerprint(base.columns) if columns and base else ""
        _mapping_buttons(file, FileMapping(format_, tuple(columns.items()), gold, seen), files, key)


def _opens_by_default(file: LoadedFile, files: Sequence[LoadedFile], proposed: Mapping[str, str]) -> bool:
    """Whether the controls begin open: of a refused file of which a person has something to say."""
    if file.refusal is None or file.mapping or is_gold_table(file, files):
        return False
    base = file.report_without_mapping or file.report
    # Where rows are bad its columns were understood, and the values in them are to be mended.
    unsaid = base is not None and base.format in TABLE_FORMATS and not base.bad_rows
    return (
        bool(proposed)
        or unsaid
        or (missing_information(file) == NEEDS_GOLD and bool(_gold_tables(file, files)))
    )


def missing_information(file: LoadedFile) -> str | None:
    """What a refused file wants that a person can likely say here; None where that is not known."""
    if file.refusal is None or file.mapping:
        return None
    if "--gold" in file.refusal.split():
        return NEEDS_GOLD
    base = file.report_without_mapping or file.report
    proposed = likeliest_columns(base.proposals) if base else {}
    return None if SUPPORTING_COLUMNS.issuperset(proposed.values()) else NEEDS_COLUMN_NAMES


def is_gold_table(file: LoadedFile, files: Sequence[LoadedFile]) -> bool:
    """Whether a refused table seems to hold the right answers that some other file wants."""
    base = file.report
    if file.refusal is None or file.mapping or base is None or base.format not in TABLE_FORMATS:
        return False
    read_as = {*base.read_as.values(), *likeliest_columns(base.proposals).values()}
    if not read_as & GOLD_COLUMNS or not read_as <= SUPPORTING_COLUMNS | GOLD_COLUMNS:
        return False
    return any(missing_information(other) == NEEDS_GOLD and real_path(file) in _gold_tables(other, files)
               for other in files)  # fmt: skip


def _gold_tables(file: LoadedFile, files: Sequence[LoadedFile]) -> dict[str, str]:
    """Real path → name of the tables its right answers may come from: for the folder's files no upload."""
    return {
        real_path(other): f"{other.name} · uploaded" if other.is_uploaded else other.name
        for other in files
        if other is not file and (file.is_uploaded or not other.is_uploaded) and _is_table(other)
    }


def _pick_format(file: LoadedFile, key: str) -> str | None:
    """What it is read as; asked where that is in doubt."""
    if file.refusal is None and not file.mapping.format:
        return None
    options = [None, *FORMATS]
    held = file.mapping.format if file.mapping.format in FORMATS else None
    return st.selectbox(
        "Read as",
        options,
        index=options.index(held),
        key=f"format_{key}",
        format_func=lambda id_: FORMATS[id_].title if id_ else "what it is recognised as",
        help="The format of the file, where it is not what it was taken for.",
    )


def _pick_gold_table(
    file: LoadedFile, base: FileReport | None, files: Sequence[LoadedFile], key: str
) -> str | None:
    """The table that its right answers come from; asked of a log in which nothing can be used."""
    log = base is not None and base.format not in ARRAY_FORMATS | TABLE_FORMATS
    if not file.mapping.gold and (file.refusal is None or not log):
        return None
    tables = _gold_tables(file, files)
    options = [None, *tables]
    draft = file.mapping.gold or _likely_gold_table(file, files)
    return st.selectbox(
        "Right answers from",
        options,
        index=options.index(draft) if draft in options else 0,
        key=f"gold_{key}",
        format_func=lambda real: tables[real] if real else "the file itself",
        help="A table of this folder, or an uploaded one, with a column of ids and one of right answers.",
    )


def _likely_gold_table(file: LoadedFile, files: Sequence[LoadedFile]) -> str | None:
    """The real path of the table whose name is most like the log's; None without one that seems to fit."""
    own = _name_words(file.name)
    found = {real_path(other): _name_words(other.name) for other in files if is_gold_table(other, files)}
    found = {real: words for real, words in found.items() if real in _gold_tables(file, files)}
    return max(found, key=lambda real: (len(own & found[real]), -len(found[real])), default=None)


def _name_words(name: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z0-9]+", name.lower()))


def _is_table(file: LoadedFile) -> bool:
    report = file.report_without_mapping or file.report
    return report is not None and report.format in TABLE_FORMATS


def _pick_columns(file: LoadedFile, base: FileReport, key: str) -> dict[str, str]:
    """File column → what it is to be read as, in the file's order, without those left as they are."""
    said = {column: name for column, name in file.mapping.columns if column in base.columns}
    draft = said or likeliest_columns(base.proposals)
    chosen = st.multiselect(
        "Columns",
        base.columns[:MAX_OFFERED_COLUMNS],
        default=[column for column in base.columns[:MAX_OFFERED_COLUMNS] if column in draft][
            :MAX_MAPPED_COLUMNS
        ],
        key=f"columns_{key}",
        max_selections=MAX_MAPPED_COLUMNS,
        placeholder="Choose the columns that mean something else",
        help="Those to be read under another name, or not at all; the others stay as they are.",
    )
    places = {column: f"as_{key}_{base.columns.index(column)}" for column in chosen}
    if len(chosen) > 1:
        _pick_for_all_columns(places, key)
    options = [UNCHANGED, IGNORED, *COLUMN_MEANINGS]
    columns: dict[str, str] = {}
    with st.grid(3, min_column_width=220):
        for column, place in places.items():
            name = draft.get(column, None)
            start = UNCHANGED if name is None else name or IGNORED
            now = base.read_as.get(column) if column not in said else None
            columns[column] = st.selectbox(
                escape_markdown(column),
                options,
                index=options.index(start) if start in options else 0,
                key=place,
                format_func=lambda name, now=now: _option_label(name, now),
                help="What the column means.",
            )
    ordered = sorted(columns, key=base.columns.index)
    return {
        column: "" if columns[column] == IGNORED else columns[column]
        for column in ordered
        if columns[column] != UNCHANGED
    }


def _option_label(name: str, now: str | None) -> str:
    if name == UNCHANGED:
        return f"{UNCHANGED} ({now})" if now else UNCHANGED
    return name if name == IGNORED else f"{name}: {COLUMN_MEANINGS[name]}"


def _pick_for_all_columns(widget_keys: Mapping[str, str], key: str) -> None:
    """One control for the chosen columns that are nothing else: the elements of a list are often many."""
    widget = f"all_{key}"

    def set_all() -> None:
        for place in widget_keys.values():
            if st.session_state.get(place) in {UNCHANGED, *LIST_COLUMNS}:
                st.session_state[place] = st.session_state[widget]
        st.session_state[widget] = None

    st.selectbox(
        "All of these that are nothing else: parts of one list",
        sorted(LIST_COLUMNS),
        index=None,
        key=widget,
        format_func=lambda name: _option_label(name, None),
        placeholder="no: each as chosen below",
        help="Sets the columns below at once, such as the samples of a question that have a column each.",
        on_change=set_all,
    )


def _mapping_buttons(file: LoadedFile, mapping: FileMapping, files: Sequence[LoadedFile], key: str) -> None:
    """Apply, to all files with the same columns if wanted, or back to what is kept or proposed."""
    times = Counter(name for _, name in mapping.columns if name and name not in LIST_COLUMNS)
    twice = [name for name, count in times.items() if count > 1]
    if twice:
        st.warning(
            f"Two columns are to be read as {', '.join(map(escape_markdown, twice))}: choose one of them."
        )
    with st.container(horizontal=True):
        st.button(
            "Apply",
            key=f"apply_{key}",
            type="primary",
            disabled=bool(twice) or (mapping == file.mapping),
            on_click=save_mapping,
            args=(file, mapping, key),
        )
        alike = files_with_same_columns(file, files) if mapping.columns and not mapping.gold else ()
        if len(alike) > 1:
            st.button(
                f"Apply to all {len(alike)} files with these columns",
                key=f"apply_all_{key}",
                disabled=bool(twice),
                on_click=save_mapping_for_all,
                args=(alike, mapping, key),
            )
        st.button("Reset", key=f"reset_{key}", on_click=reset_controls, args=(key,))
    st.caption(
        "It is forgotten when the session ends."
        if file.is_uploaded
        else "It is kept in your cache folder and used again at the next start; the file stays as it is."
    )
