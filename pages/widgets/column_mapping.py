"""Controls of the page Files that say how a file is read: its format, columns and right answers."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

import polars as pl
import streamlit as st

from calib_core.errors import CalibError, shorten, single_line
from calib_core.methods import METHODS
from calib_core.readers import FORMATS
from calib_core.readers.table.columns import (
    CHOICE_MASSES,
    CONFIDENCE_SOURCES,
    LIST_COLUMNS,
    MAJORITY,
    PROBABILITY_COLUMNS,
    ROW_NUMBER,
    MappedName,
    in_order_of_suffix,
    split_pair,
)
from calib_core.readers.table.corrections import LEAVE_OUT
from calib_core.readers.table.names import normalise_name
from calib_core.readers.table.one_column import ANSWERS, SUPPORTING
from calib_core.readers.table.rows import GOLD_COLUMNS
from calib_core.readers.table.run_split import MAX_DATASET_LENGTH
from calib_core.results.files import FileReport, Proposal, RunFigures, run_figures
from calib_core.runs import confidence_name, schema_name
from calib_core.views.files import names_or_more
from calib_core.wording import format_percent, join_names, plural
from pages.state.cache import LoadedFile, mapping_store, tried_report
from pages.state.mappings import FileMapping, fingerprint
from pages.state.markdown import escape_markdown
from pages.state.runs import file_id
from pages.widgets.table import as_arrow
from pages.widgets.uploader import last_uploaded

COLUMN_MEANINGS: Final = MappingProxyType[str, str](
    {
        "confidence": "confidence of the model, 0 to 1",
        "correct": "whether the answer is right",
        "server_confidence": "what a server derived from its probabilities: a rank, and no probability",
        "event_prob": "probability of yes, of an event, 0 to 1",
        "event": "whether the event came true",
        "weight": "how many cases the row stands for",
        "judge": "the label that a judge gives",
        "judge_score": "the number that a judge gives",
        "human": "the label that a person gives",
        "swap_of": "the id of the same pair in the other order",
        "gold": "the right answer: text, letter or index from 0",
        "gold_index": "the right choice, counted from 0",
        "gold_all": "list: every right answer",
        "prediction": "the model's answer",
        "prediction_index": "the model's choice, counted from 0",
        "prediction_text": "the model's whole output",
        "verbal_confidence": "the confidence the model states",
        "p_true": "probability of “true” for the model's own answer",
        "p_false": "probability of “false”",
        "p_true_norm": "how p_true was computed from both",
        "trial_of": "the question that a row repeats",
        "choices": "list: the choices' texts",
        "choice_logprobs": "list: one log-probability per choice",
        "choice_logits": "list: one unnormalised score per choice",
        "choice_probs": "list: one probability per choice",
        "choice_logprob_floor": "upper bound of an unlisted choice's probability",
        "choice_other_mass": "probability of anything other than the choices",
        "choice_token_counts": "list: tokens of each choice",
        "choice_char_counts": "list: characters of each choice",
        "choice_byte_counts": "list: bytes of each choice",
        "samples": "list: sampled answers, or whole outputs",
        "samples_parsed": "list: sampled answers, already extracted",
        "sample_correct": "list: whether each sample is right (1 or 0)",
        "sample_cluster": "list: one cluster number per sample; equal numbers mean the same (open text)",
        "correct_majority": "whether the majority's answer is right",
        "path_logprobs": "list: one log-probability per token of the output",
        "path_mean_prob": "mean probability of the output's tokens",
        "answer_start": "first token of the answer in the output",
        "answer_end": "first token after the answer",
        "answer_logprobs": "list: one log-probability per token of the answer",
        "answer_mean_prob": "mean probability of the answer's tokens",
        "id": "the question's id",
        "question": "the question's text",
        "subject": "the question's subject",
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
        "choices_are": "options, or levels in their order",
    }
)
"""Contract name → its meaning, most common names first."""

ARRAY_FORMATS: Final = frozenset({"npz", "topk", "sums"})
"""Formats whose columns have fixed names and that hold the right classes themselves."""
TABLE_FORMATS: Final = frozenset({"table", "canonical"})
SUPPORTING_COLUMNS: Final = SUPPORTING | ANSWERS
"""Names that alone do not make a file usable."""
MAX_MAPPED_COLUMNS: Final = 60
"""Number of columns that can be mapped at a time."""
MAX_OFFERED_COLUMNS: Final = 2_000
"""Number of columns that can be chosen from."""

NEEDS_GOLD: Final = "needs right answers"
NEEDS_COLUMN_NAMES: Final = "name the columns"
NEEDS_CONSENT: Final = "confirm the columns"
NEEDS_NUMBERS: Final = "give each word a number"

UNCHANGED: Final = "as it is"
IGNORED: Final = "left out"

DATASET_HELP: Final = "Runs of one data set are listed together, and compared with each other."

_PREVIEW_ROW_HEIGHT: Final = 30
"""Pixels, so that preview, columns and button are on one screen of 900."""
_DECIDED_KEY: Final = "_decided"
_ACCEPTED_PATH: Final = "_accepted_path"
_CONTROLS: Final = (
    *("reading", "role", "form"),
    *("format", "gold", "corrections", "columns", "all", "as", "order", "row_numbers", "majority"),
    *("shape", "rows", "missing", "wide", "on", "gold_columns", "data_set"),
)
"""What the keys of the controls that say how a file is read begin with."""
_TROUBLE_WITH_ALL: Final = "trouble_with_all"


def show_mapping_controls(
    file: LoadedFile, files: Sequence[LoadedFile], key: str, *, is_shown_above: bool = False
) -> FileMapping | None:
    """Draw the file's mapping and the controls to change it, where the file may need one.

    Parameters
    ----------
    file : LoadedFile
    files : Sequence of LoadedFile
        Every file, since right answers may come from another one.
    key : str
        Suffix of the keys of the file's widgets.
    is_shown_above : bool
        Whether `show_suggested_mapping` is drawn elsewhere on the page.

    Returns
    -------
    FileMapping or None
        What `show_suggested_mapping` returns, where it is drawn here.
    """
    show_kept_mapping(file, files, key)
    base = file.report_without_mapping or file.report
    can_map_columns = base is not None and base.format not in ARRAY_FORMATS and bool(base.columns)
    if not (can_map_columns or file.refusal is not None or file.mapping or lacks_dataset(file)):
        return None
    suggested = None
    if has_suggested_mapping(file) and not is_shown_above:
        suggested = show_suggested_mapping(file, key)
    opens, opened = _opens_by_default(file, files), f"_opened_{key}"
    if opens and not st.session_state.get(opened, True):  # a table came that may hold the right answers
        st.session_state[f"reread_{key}"] = True
    st.session_state[opened] = opens
    if lacks_dataset(file) and not last_uploaded([file]):  # those have a field above all files
        show_dataset_field({file: key})
    if not st.toggle(
        "Change how this file is read: columns, right answers, corrections, format",
        value=opens,
        key=f"reread_{key}",
        help="Set the meaning of the columns, the source of right answers, a table of corrections, or the "
        "format.",
    ):
        return suggested
    with st.container(border=True, key=f"rereading_{key}"):
        format_ = _pick_format(file, key)
        gold = _pick_gold_table(file, base, files, key)
        corrections = _pick_corrections(file, base, files, key)
        if format_ != file.mapping.format:
            st.caption("Apply this first; then the columns can be named.")
        columns = (
            _pick_columns(file, base, key)
            if can_map_columns and base and format_ == file.mapping.format
            else {}
        )
        mapping = replace(
            _pick_shape(file, key),
            format=format_,
            columns=tuple(columns.items()),
            gold=gold,
            corrections=corrections,
            run_name=file.mapping.run_name,
            dataset=file.mapping.dataset,
        )
        if base and (mapping.columns or mapping.wide):
            mapping = replace(mapping, columns_fingerprint=fingerprint(base.columns))
        _mapping_buttons(file, mapping, files, key)
    return suggested


def has_suggested_mapping(file: LoadedFile) -> bool:
    """Return whether a file is not loaded because what its columns were taken for is to be accepted."""
    base = file.report_without_mapping or file.report
    return (
        base is not None
        and base.status == "refused"
        and not file.mapping
        and (base.proposal is not None or _needs_numbers(base))
    )


def show_suggested_mapping(file: LoadedFile, key: str) -> FileMapping | None:
    """Draw what a file's columns were taken for, with a preview, and the button that accepts it.

    Each of them can be changed. Where several readings are as likely, none is chosen. No page uses the file
    until its mapping is accepted; what it comes to is shown.

    Parameters
    ----------
    file : LoadedFile
        A file without a mapping that has a proposal or suggestions.
    key : str
        Suffix of the keys of the file's widgets.

    Returns
    -------
    FileMapping or None
        The mapping as the controls are set; None while it cannot be accepted.
    """
    base = file.report_without_mapping or file.report
    if base is None:
        return None
    with st.container(border=True, key=f"suggested_{key}"):
        st.markdown(f"**{escape_markdown(file.name)}** · suggested mapping (not applied yet)")
        if base.preview:
            _show_preview(base, key)
        draft = _pick_roles(base, key)
        if not _names_dataset(base, draft):
            show_dataset_field({file: key}, is_draft=True)
        figures, trouble = _try_draft(file, base, draft)
        mapping = _mapping_of(file, base, draft)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                "Accept",
                key=f"accept_{key}",
                type="primary",
                disabled=figures is None,
                on_click=accept_mapping,
                args=(file, mapping, key),
            )
            outcome = escape_markdown(trouble) if figures is None else figures_text(figures)
            st.markdown(outcome)
        st.caption("Calib uses the file once you accept.")
    return None if figures is None else mapping


def show_repeats_button(file: LoadedFile, report: FileReport, key: str) -> None:
    """Draw the button that reads repeated ids as the question that their rows ask, where that is proposed."""
    if report.proposal is not None:
        st.button(
            f"Load all {report.n_rows:,} rows: equal ids ask one question",
            key=f"repeats_{key}",
            type="primary",
            on_click=accept_mapping,
            args=(file, _mapping_of(file, report, report.proposal), key),
        )


@dataclass(frozen=True, slots=True)
class _Draft:
    """What the controls of a suggested mapping are set to.

    Attributes
    ----------
    columns, wide : Mapping[str, str]
    rows : str
    row_columns, missing : tuple of str
        As in `Proposal`.
    unanswered : str
        A sentence on what is still to be chosen; "" if nothing is.
    """

    columns: Mapping[str, str]
    wide: Mapping[str, str]
    unanswered: str = ""
    rows: str = ""
    row_columns: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


ROLE_LABELS: Final = MappingProxyType(
    {
        "confidence": "Confidence",
        "correct": "Right or wrong",
        "prediction": "Model's answer",
        "gold": "Right answer",
        "id": "Question id",
        "subject": "Subject",
    }
)
"""Contract name → its label where a suggested mapping is shown, in this order."""


def _show_preview(base: FileReport, key: str) -> None:
    """Draw the first rows of a file; cells and headings of a table show text as it is."""
    frame = pl.DataFrame({name: list(texts) for name, texts in base.preview.items()})
    st.dataframe(
        as_arrow(frame),
        key=f"preview_{key}",
        hide_index=True,
        height="content",
        row_height=_PREVIEW_ROW_HEIGHT,
        alt=f"The first {plural(frame.height, 'row')} of {plural(frame.width, 'column')}",
    )


def _pick_roles(base: FileReport, key: str) -> _Draft:
    """Draw a control for each role: the column that has it, how its values are read, and why.

    Of the only reading that may be meant, nothing is chosen that a person has to say.
    """
    readings = base.proposal.readings if base.proposal else ()
    chosen = 0
    if base.proposal is not None and base.proposal.is_question:
        position = _pick_reading(base.proposal, key)
        if position is None:
            return _Draft({}, {}, "Choose what is meant.")
        chosen = position
    reading = readings[chosen] if readings else None
    if reading is not None and reading.rows:
        named = columns_text({**reading.mapping, **reading.wide})
        named = named or escape_markdown(names_or_more(reading.row_columns))
        several = ", each key a separate run" if "*" in reading.rows else ""
        st.caption(f"Rows at {escape_markdown(reading.rows)}{several}{f': {named}' if named else ''}.")
        return _Draft(reading.mapping, reading.wide, "", reading.rows, reading.row_columns, reading.missing)
    initial = base.said_columns if reading is None else reading.mapping
    column_by_role = {
        _role_name(name): column for column, name in (*base.column_roles.items(), *initial.items())
    }
    fixed = {column: name for column, name in initial.items() if _role_name(name) not in ROLE_LABELS}
    names_by_role = _names_by_role(base, initial)
    read_as: dict[str, str] = dict(fixed)
    lacking: list[str] = []
    for role in _shown_roles(base, column_by_role, fixed):
        names = names_by_role.get(role, {})
        column, name = _pick_column(base, role, names, column_by_role.get(role), f"{key}_{chosen}")
        if column is not None:
            read_as[column] = name
        elif role in _NEEDED_ROLES:
            lacking.append(ROLE_LABELS[role].lower())
    if fixed:
        st.caption(f"Also: {columns_text(fixed)}.")
    wide: Mapping[str, str] = {} if reading is None else reading.wide
    if wide:
        st.caption(f"Systems side by side: {columns_text(wide)}.")
    columns = {**fixed, **{column: name for column, name in read_as.items() if name != column}}
    asked = (
        {}
        if reading is None
        else {column: name for column, name in reading.mapping.items() if name != column}
    )
    is_as_asked = reading is not None and (bool(wide) or columns == asked)
    missing = reading.missing if reading is not None and is_as_asked else _missing_values(base, read_as)
    if missing:
        st.caption(f"Read as missing: {escape_markdown(', '.join(missing))}.")
    return _Draft(columns, wide, _unanswered(lacking, read_as), missing=missing)


def _unanswered(lacking: Sequence[str], read_as: Mapping[str, str]) -> str:
    """Return what is still to be chosen; "" if nothing is. lacking: labels of roles without a column."""
    if unread := [column for column, name in read_as.items() if not name]:
        return f"Choose how {escape_markdown(join_names(unread))} is read."
    if lacking:
        return f"Choose the {join_names(lacking)} column{'s' * (len(lacking) > 1)}."
    wordy = [column for column, name in read_as.items() if MappedName.parse(name).lacks_numbers]
    return f"Give each word of {escape_markdown(wordy[0])} a number from 0 to 1." if wordy else ""


def _missing_values(base: FileReport, read_as: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values that have to count as missing where these columns are read so."""
    roles = {column: _role_name(name) for column, name in read_as.items()}
    read = (
        one
        for one in base.candidates
        if any(roles.get(column) == _role_name(name) for column, name in one.names.items())
    )
    return tuple(dict.fromkeys(text for one in read for text in one.missing))


def _pick_reading(proposal: Proposal, key: str) -> int | None:
    """Draw the question which reading is meant; return its position, None until it is chosen.

    The only one is shown as it is: what a person has to say of its columns is asked at each.
    """
    readings = proposal.readings
    if len(readings) == 1:
        st.markdown(escape_markdown(proposal.question))
        return 0
    shared = frozenset.intersection(*(frozenset(one.mapping.items()) for one in readings))

    def label(position: int) -> str:
        reading = readings[position]
        own = {column: name for column, name in reading.mapping.items() if (column, name) not in shared}
        place = f"rows at {escape_markdown(reading.rows)}" if reading.rows else ""
        parts = ", ".join(filter(None, (place, columns_text({**own, **reading.wide}))))
        return f"{parts}: {figures_text(reading.figures, with_rows=False, with_auroc=bool(reading.unsaid))}"

    return st.radio(
        escape_markdown(proposal.question),
        range(len(readings)),
        index=None,
        key=f"reading_{key}",
        format_func=label,
    )


def _pick_column(
    base: FileReport,
    role: str,
    names: Mapping[str, Sequence[str]],
    current: str | None,
    key: str,
) -> tuple[str | None, str]:
    """Draw the control of one role, and return its column and the name that the column is read as.

    The name is "" until it is chosen, where a person has to say how the column is read.

    Parameters
    ----------
    base : FileReport
    role : str
        A key of `ROLE_LABELS`.
    names : Mapping[str, Sequence[str]]
        Likely columns → the names that each may be read as, the likeliest first.
    current : str or None
        The column that has the role at first.
    key : str
        Suffix of the keys of the controls.
    """
    options = [
        *dict.fromkeys((*names, *base.columns[:MAX_OFFERED_COLUMNS], *((current,) if current else ())))
    ]
    label, control, form, why = st.columns([1.3, 2, 1.6, 2.2], vertical_alignment="center", gap="small")
    label.markdown(f"**{ROLE_LABELS[role]}**")
    column = control.selectbox(
        ROLE_LABELS[role],
        options,
        index=None if current is None else options.index(current),
        key=f"role_{key}_{role}",
        label_visibility="collapsed",
        placeholder="choose a column" if role in _NEEDED_ROLES else "none",
    )
    if column is None:
        return None, role
    forms = [*dict.fromkeys((*names.get(column, ()), *_FORMS.get(role, ())))] or [role]
    name: str | None = forms[0]
    if role in _FORMS:
        name = form.selectbox(
            f"How {ROLE_LABELS[role].lower()} is read",
            forms,
            index=None if _is_to_be_said(base, column, name) else 0,
            key=f"form_{key}_{fingerprint([role, column])[:8]}",
            label_visibility="collapsed",
            placeholder="choose how it is read",
            format_func=form_label,
        )
    if name is None:
        return column, ""
    if reason := _reason(base, column, name):
        (why if role in _FORMS else form).caption(escape_markdown(f"from {reason}"))
    return column, _pick_numbers(name, key) if MappedName.parse(name).lacks_numbers else name


def _is_to_be_said(base: FileReport, column: str, name: str) -> bool:
    """Return whether nothing says that a column is read so, and there is no other reading to choose."""
    is_question = base.proposal is not None and base.proposal.is_question and not base.proposal.alternatives
    return is_question and any(
        one.clarity != "said" and one.names.get(column) == name for one in base.candidates
    )


def _pick_numbers(name: str, key: str) -> str:
    """Draw a field for each word of a confidence in words, and return the name with what is typed."""
    numbers: list[str] = []
    words = [word for word, _ in MappedName.parse(name).word_numbers]
    with st.container(horizontal=True):
        for position, word in enumerate(words):
            number = st.number_input(
                f"“{escape_markdown(word)}” means",
                0.0,
                1.0,
                value=None,
                step=0.05,
                format="%.2f",
                key=f"form_{key}_word_{position}",
                placeholder="0 to 1",
                width=140,
            )
            numbers.append(f"{word}={'…' if number is None else f'{number:g}'}")
    return f"confidence:{'|'.join(numbers)}"


_FORMS: Final = MappingProxyType(
    {
        "confidence": tuple(
            f"confidence{form}" for form in ("", "/100", "/10", "/5", ":inverted", "/100:inverted")
        ),
        "correct": ("correct", "correct:not"),
    }
)
"""Role → how its values may be read, apart from what the file suggests."""


def form_label(name: str) -> str:
    """Return how values are read, in a few words, as Markdown.

    Examples
    --------
    >>> form_label("confidence/100"), form_label("confidence:inverted"), form_label("correct:not")
    ('in percent', '1 − x', 'yes means wrong')
    """
    mapped = MappedName.parse(name)
    special = {
        f"right: {escape_markdown(', '.join(sorted(mapped.right_values)))}": bool(mapped.right_values),
        f"of class {escape_markdown(mapped.of_class)}": bool(mapped.of_class),
        "in words": bool(mapped.word_numbers),
        "yes means wrong": name == "correct:not",
        "yes means right": name == "correct",
        f"{mapped.divisor} − x": mapped.is_inverted,
        "logarithm": mapped.is_log,
        "negative log-likelihood": mapped.is_negative_log,
        "decimal commas": mapped.has_commas,
    }
    scale = {1: "0 to 1", 100: "in percent"}.get(mapped.divisor, f"out of {mapped.divisor}")
    return next((label for label, is_meant in special.items() if is_meant), scale)


_NEEDED_ROLES: Final = frozenset({"confidence", "correct", "prediction", "gold"})


def _role_name(name: str) -> str:
    """Return the contract name of what a column is mapped to."""
    return MappedName.parse(name).name


def _names_by_role(base: FileReport, mapping: Mapping[str, str]) -> dict[str, dict[str, list[str]]]:
    """Return role → its likely columns → the names that each may be read as, the likeliest first."""
    names: dict[str, dict[str, list[str]]] = {}
    for columns in (mapping, *(one.names for one in base.candidates)):
        for column, name in columns.items():
            names.setdefault(_role_name(name), {}).setdefault(column, []).append(name)
    return names


def _shown_roles(base: FileReport, column_by_role: Mapping[str, str], fixed: Mapping[str, str]) -> list[str]:
    """Return the roles that have a control: those that some column has, and those that are needed."""
    if base.proposal is not None and base.proposal.wide:
        return []
    roles = set(column_by_role)
    if base.proposal is not None:  # it needs no other column
        return [role for role in ROLE_LABELS if role in roles]
    others = {schema_name(_role_name(name)) for name in (*fixed.values(), *base.column_roles.values())}
    if not others & CONFIDENCE_SOURCES:
        roles.add("confidence")
    if not roles & {"correct", "prediction"} and not others & (GOLD_COLUMNS | {"event"}):
        roles.add("correct")
    return [role for role in ROLE_LABELS if role in roles]


def _reason(base: FileReport, column: str, name: str) -> str:
    """Return what speaks for a column that is read so; "" where nothing is known to."""
    known = "its name" if base.column_roles.get(column) == name else ""
    return next((one.why for one in base.candidates if one.names.get(column) == name), known)


def _try_draft(file: LoadedFile, base: FileReport, draft: _Draft) -> tuple[RunFigures | None, str]:
    """Return what a draft comes to, or what is wrong with it; what was tried before is not tried again."""
    if draft.unanswered:
        return None, draft.unanswered
    for tried in base.proposal.readings if base.proposal else ():
        parts = (dict(tried.mapping), dict(tried.wide), tried.rows, tried.missing)
        if parts == (dict(draft.columns), dict(draft.wide), draft.rows, draft.missing):
            return tried.figures, ""
    if len(set(map(_role_name, draft.columns.values()))) < len(draft.columns) and not draft.wide:
        counts = Counter(
            name for text in draft.columns.values() if (name := _role_name(text)) not in LIST_COLUMNS
        )
        if any(count > 1 for count in counts.values()):
            return None, "Two columns have the same meaning: choose one of them."
    try:
        report = tried_report(file, _mapping_of(file, base, draft))
    except CalibError as refused:
        return None, _first_reason(str(refused), file)
    return (
        (None, _first_reason(report.message, file))
        if report.status == "refused"
        else (run_figures(report), "")
    )


def _first_reason(message: str, file: LoadedFile) -> str:
    """Return the first line of a refusal without the file's name."""
    line = message.partition("\n")[0].removeprefix(f"{file.name}: ")
    return f"{line[:1].upper()}{line[1:]}"


def figures_text(figures: RunFigures, *, with_rows: bool = True, with_auroc: bool = False) -> str:
    """Return the numbers that a file would give, as Markdown."""
    bad = f", {figures.n_bad_rows:,} of them bad" if figures.n_bad_rows else ""
    parts = [f"**{plural(figures.n_rows, 'row')}**{bad}"] if with_rows else []
    facts: list[str] = []
    terms = METHODS[figures.method].terms
    if figures.accuracy is not None:
        facts.append(f"{terms.accuracy} **{format_percent(figures.accuracy)}**")
    if figures.mean_confidence is not None:
        facts.append(f"mean {terms.confidence} **{format_percent(figures.mean_confidence)}**")
    if with_auroc and figures.auroc is not None:
        facts.append(f"AUROC **{figures.auroc:.2f}**")
    if figures.n_judged_by_people:
        facts.append(f"**{figures.n_judged_by_people:,}** labelled by a judge and by people")
    if figures.n_runs > 1:
        of_first = f", the first of them: {facts[0]}" if facts else ""
        facts = [f"{figures.n_runs:,} runs{of_first}", *facts[1:]]
    return " · ".join((*parts, *facts))


def accept_mapping(file: LoadedFile, mapping: FileMapping, key: str) -> None:
    """Keep a mapping and have the page open the diagram of the file's first run.

    What was typed as the name of its data is taken at the click, since it may not have been drawn yet.
    """
    typed = _typed_dataset(_dataset_field_key([key]))
    save_mapping(file, replace(mapping, dataset=typed or mapping.dataset), key)
    st.session_state[_ACCEPTED_PATH] = file.listing.path


def take_accepted_path() -> Path | None:
    """Return the file whose mapping was accepted by the last click, once."""
    return st.session_state.pop(_ACCEPTED_PATH, None)


def needs_columns(file: LoadedFile, files: Sequence[LoadedFile]) -> bool:
    """Return whether a file is not loaded because its columns are to be confirmed or named.

    Those of a table that another file needs are not.
    """
    base = file.report_without_mapping or file.report
    if is_gold_table(file, files) or is_corrections_table(file):
        return False
    return (
        file.refusal is not None
        and not file.mapping
        and base is not None
        and base.format in TABLE_FORMATS
        and bool(base.proposal or base.preview)
        and missing_information(file) != NEEDS_GOLD
        and (not base.n_bad_rows or _has_other_reading(base))
    )


def _has_other_reading(base: FileReport) -> bool:
    """Return whether a column may be read otherwise than as its name says, such as in percent."""
    reread = (one for one in base.candidates if one.clarity != "possible")
    is_reread = any(one.names.keys() & base.column_roles for one in reread)
    return base.proposal is not None or is_reread or _needs_numbers(base)


def _needs_numbers(base: FileReport) -> bool:
    """Return whether the confidence is in words, each of which needs a number."""
    return any(MappedName.parse(one.name).lacks_numbers for one in base.candidates)


def show_accept_all(files: Sequence[LoadedFile], shown: Mapping[LoadedFile, FileMapping | None]) -> None:
    """Draw a button that accepts the suggested mappings of all files, where several can be accepted.

    Parameters
    ----------
    files : Sequence of LoadedFile
    shown : Mapping of LoadedFile to FileMapping or None
        What `show_suggested_mapping` returned for each file that is drawn; of others their proposals count.
    """
    if error := st.session_state.pop(_TROUBLE_WITH_ALL, None):
        st.error(escape_markdown(error), icon=":material/save:")
    mappings = {file: shown[file] if file in shown else _proposed_mapping(file) for file in files}
    proposed = {file: mapping for file, mapping in mappings.items() if mapping is not None}
    if len(proposed) < 2:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f":material/lightbulb: **{len(proposed):,} files can be loaded** once you accept their column "
            "mappings, as they are set below."
        )
        st.button(
            f"Accept all {len(proposed):,} files",
            key="accept_all",
            type="primary",
            on_click=_keep_mappings,
            args=(proposed,),
        )


def _proposed_mapping(file: LoadedFile) -> FileMapping | None:
    """Return what is proposed for a file that is not loaded; None for nothing, or for a question."""
    base = file.report_without_mapping or file.report
    if file.mapping or file.refusal is None or base is None or base.proposal is None:
        return None
    return None if base.proposal.is_question else _mapping_of(file, base, base.proposal)


def _mapping_of(file: LoadedFile, base: FileReport, chosen: _Draft | Proposal) -> FileMapping:
    columns = chosen.columns if isinstance(chosen, _Draft) else chosen.mapping
    return FileMapping(
        file.mapping.format,
        tuple(columns.items()),
        rows=chosen.rows,
        wide=tuple(chosen.wide.items()),
        missing=chosen.missing,
        dataset=file.mapping.dataset,
        columns_fingerprint=fingerprint(chosen.row_columns if chosen.rows else base.columns),
    )


def _keep_mappings(mappings: Mapping[LoadedFile, FileMapping]) -> None:
    """Keep each file's mapping, with the name typed for its data; report the first that cannot be kept."""
    try:
        for file, mapping in mappings.items():
            typed = _typed_dataset(_dataset_field_key([file_id(file)]))
            mapping_store(file).save(file.listing.path, replace(mapping, dataset=typed or mapping.dataset))
    except OSError as error:
        st.session_state[_TROUBLE_WITH_ALL] = f"The mappings cannot be saved: {error.strerror}."


def show_kept_mapping(file: LoadedFile, files: Sequence[LoadedFile], key: str) -> None:
    """Draw the file's mapping, the button that deletes it, and whether it still applies."""
    if error := st.session_state.pop(f"trouble_{key}", None):
        st.error(escape_markdown(error), icon=":material/save:")
    if not file.mapping:
        return
    where = "for this session" if file.is_uploaded else "on this machine"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f":material/push_pin: **Your mapping, saved {where}**: {_mapping_text(file.mapping, files)}."
        )
        st.button(
            "Remove mapping", key=f"forget_{key}", on_click=save_mapping, args=(file, FileMapping(), key)
        )
    if file.mapping_is_stale:
        st.warning(
            "The columns of this file have changed since you saved the mapping, so Calib does not use the "
            "mapping. Apply a new mapping below, or remove the old one.",
            icon=":material/difference:",
        )
    if file.mapping.gold and file.listing.gold is None:
        st.warning("The table of right answers is no longer loaded, so Calib takes no right answers from it.")
    if file.mapping.corrections and file.listing.corrections is None:
        st.warning("The table of corrections is no longer loaded, so nothing is corrected.")


def _mapping_text(mapping: FileMapping, files: Sequence[LoadedFile]) -> str:
    """Return the mapping in words, as Markdown."""
    parts = [f"read as {escape_markdown(FORMATS[mapping.format].title)}"] if mapping.format in FORMATS else []
    if mapping.columns:
        parts.append(columns_text(dict(mapping.columns)))
    if mapping.rows:
        parts.append(f"rows at {escape_markdown(mapping.rows)}")
    if mapping.wide:
        parts.append(f"systems side by side: {columns_text(dict(mapping.wide))}")
    if mapping.missing:
        parts.append(f"{escape_markdown(', '.join(mapping.missing))} as missing")
    if mapping.dataset:
        parts.append(f"data set {escape_markdown(mapping.dataset)}")
    if mapping.run_name:
        parts.append(f"a part of the run {escape_markdown(mapping.run_name)}")
    if mapping.gold:
        name = next((file.name for file in files if real_path(file) == mapping.gold), "a missing table")
        on = f", joined on {escape_markdown(mapping.gold_on)}" if mapping.gold_on else ""
        named = f" ({columns_text(dict(mapping.gold_columns))})" if mapping.gold_columns else ""
        parts.append(f"right answers from {escape_markdown(name)}{named}{on}")
    if mapping.corrections:
        name = next(
            (file.name for file in files if real_path(file) == mapping.corrections), "a missing table"
        )
        parts.append(f"corrections from {escape_markdown(name)}")
    return "; ".join(parts)


def columns_text(columns: Mapping[str, str], max_parts: int = 8) -> str:
    """Return a column mapping as in "conf as confidence, …", with the columns of one list together."""
    by_name: dict[str, list[str]] = {}
    for column, name in columns.items():
        by_name.setdefault(name, []).append(escape_markdown(shorten(column, 40)))
    parts: list[str] = []
    for name, shortened in by_name.items():
        shown = (
            f"{shortened[0]} … {shortened[-1]} ({len(shortened)} columns)"
            if len(shortened) > 3
            else ", ".join(shortened)
        )
        mapped = MappedName.parse(name)
        meaning = "the question that rows repeat" if name == "trial_of" else escape_markdown(name)
        if name != mapped.name and not mapped.word_numbers and form_label(name) != form_label(mapped.name):
            meaning = f"{escape_markdown(mapped.name)} ({form_label(name)})"
        parts.append(f"{shown} as {meaning}" if name else f"{shown} left out")
    more = f" and {len(parts) - max_parts} more" if len(parts) > max_parts else ""
    return ", ".join(parts[:max_parts]) + more


def _opens_by_default(file: LoadedFile, files: Sequence[LoadedFile]) -> bool:
    """Return whether the controls start open: for a refused file that only they are likely to fix."""
    base = file.report_without_mapping or file.report
    is_proposed = base is not None and (base.proposal is not None or _needs_numbers(base))
    if file.refusal is None or file.mapping or is_proposed or is_gold_table(file, files):
        return False
    # A file with bad rows has the right columns; its values need fixing, not its mapping.
    may_need_columns = base is not None and base.format in TABLE_FORMATS and not base.n_bad_rows
    return may_need_columns or (missing_information(file) == NEEDS_GOLD and bool(_gold_tables(file, files)))


def missing_information(file: LoadedFile) -> str | None:
    """Return what a refused file needs that a mapping can add; None where that is not known."""
    if file.refusal is None or file.mapping:
        return None
    base = file.report_without_mapping or file.report
    if base is not None and base.needs_gold:
        return NEEDS_GOLD
    if base is not None and base.proposal is not None:
        return NEEDS_CONSENT
    if base is not None and _needs_numbers(base):
        return NEEDS_NUMBERS
    said = base.said_columns if base else {}
    return None if SUPPORTING_COLUMNS.issuperset(said.values()) else NEEDS_COLUMN_NAMES


def is_gold_table(file: LoadedFile, files: Sequence[LoadedFile]) -> bool:
    """Return whether a refused table seems to hold the right answers that another file needs."""
    base = file.report
    if file.refusal is None or file.mapping or base is None or base.format not in TABLE_FORMATS:
        return False
    if base.proposal is not None:  # it has answers of its own
        return False
    read_as = {*base.column_roles.values(), *base.said_columns.values()}
    if not read_as & GOLD_COLUMNS or not read_as <= SUPPORTING_COLUMNS | GOLD_COLUMNS:
        return False
    return any(missing_information(other) == NEEDS_GOLD and real_path(file) in _gold_tables(other, files)
               for other in files)  # fmt: skip


def is_corrections_table(file: LoadedFile) -> bool:
    """Return whether a refused table says which questions to leave out."""
    base = file.report
    return (
        file.refusal is not None
        and not file.mapping
        and base is not None
        and base.format in TABLE_FORMATS
        and any(normalise_name(column) == normalise_name(LEAVE_OUT) for column in base.columns)
    )


def _gold_tables(file: LoadedFile, files: Sequence[LoadedFile]) -> dict[str, str]:
    """Return real path → name of the tables that may hold the file's right answers.

    An upload is never offered to a file of the folder.
    """
    return {
        real_path(other): f"{other.name} · uploaded" if other.is_uploaded else other.name
        for other in files
        if other is not file and (file.is_uploaded or not other.is_uploaded) and _is_table(other)
    }


def _is_table(file: LoadedFile) -> bool:
    report = file.report_without_mapping or file.report
    return report is not None and report.format in TABLE_FORMATS


def real_path(file: LoadedFile) -> str:
    """Return the file's path with links followed; it is never shown."""
    return os.path.realpath(file.listing.path)


def _pick_format(file: LoadedFile, key: str) -> str | None:
    """Draw the control of the format, where it is in doubt, and return the format."""
    if file.refusal is None and not file.mapping.format:
        return None
    options = [None, *FORMATS]
    current = file.mapping.format if file.mapping.format in FORMATS else None
    return st.selectbox(
        "Read as",
        options,
        index=options.index(current),
        key=f"format_{key}",
        format_func=lambda id_: FORMATS[id_].title if id_ else "as recognised",
        help="The format of the file, if Calib recognised the wrong one.",
    )


def lacks_dataset(file: LoadedFile) -> bool:
    """Return whether a run of a readable file has no data set, or only the one that a person named."""
    if file.refusal is not None or file.report is None:
        return False
    named_by_file = all(report.run.info.dataset is not None for report in file.report.runs)
    return bool(file.mapping.dataset) or not named_by_file


def show_dataset_field(files: Mapping[LoadedFile, str], place: str = "", *, is_draft: bool = False) -> None:
    """Draw the field that names the data of files which name none themselves; nothing without a file.

    Parameters
    ----------
    files : Mapping of LoadedFile to str
        Each with the suffix of its widget keys.
    place : str
        Distinguishes the field from another one of the same files on the page.
    is_draft : bool
        Whether what is typed is kept once a suggested mapping is accepted. Otherwise it is kept at once.
    """
    if not files:
        return
    key = _dataset_field_key(files.values(), place)
    dataset = next(iter(files)).mapping.dataset
    if not is_draft and st.session_state.get(key) != dataset:  # named elsewhere meanwhile
        st.session_state[key] = dataset
    st.text_input(
        "Data set" if len(files) == 1 else f"Data set of these {len(files):,} files",
        max_chars=MAX_DATASET_LENGTH,
        key=key,
        placeholder="its name, if you like",
        help=DATASET_HELP,
        width=360,
        on_change=None if is_draft else _name_datasets,
        args=None if is_draft else (files, key),
    )


def _dataset_field_key(keys: Iterable[str], place: str = "") -> str:
    """Return the key of the field that names the data of the files with these keys."""
    return "_".join(filter(None, ("data_set", place, *keys)))


def _typed_dataset(field: str) -> str:
    return single_line(st.session_state.get(field) or "", MAX_DATASET_LENGTH)


def _name_datasets(files: Mapping[LoadedFile, str], field: str) -> None:
    """Keep what is typed in a field as the name of the data of these files; their controls stay as set."""
    for file, key in files.items():
        _keep_mapping(file, replace(file.mapping, dataset=_typed_dataset(field)), key)


def _names_dataset(base: FileReport, draft: _Draft) -> bool:
    """Return whether a column of a suggested mapping names the data set."""
    return "dataset" in {_role_name(name) for name in (*base.column_roles.values(), *draft.columns.values())}


def _pick_gold_table(
    file: LoadedFile, base: FileReport | None, files: Sequence[LoadedFile], key: str
) -> str | None:
    """Draw the control of the table of right answers, for a file without usable rows; return its path."""
    tables = _gold_tables(file, files)
    may_take_one = file.refusal is not None and base is not None and base.format not in ARRAY_FORMATS
    if not file.mapping.gold and not (may_take_one and tables):
        return None
    needs_gold = base is not None and base.needs_gold
    current = file.mapping.gold or (_likely_gold_table(file, files) if needs_gold else None)
    otherwise = "" if needs_gold else "the file itself"
    help_ = "A table in this folder, or an uploaded one, with ids and right answers."
    return _pick_table("Right answers from", tables, current, f"gold_{key}", otherwise, help_)


def _pick_corrections(
    file: LoadedFile, base: FileReport | None, files: Sequence[LoadedFile], key: str
) -> str | None:
    """Draw the control of the table of corrections, where there may be one; return its path."""
    tables = _gold_tables(file, files)
    if base is None or base.format in ARRAY_FORMATS or not (tables or file.mapping.corrections):
        return None
    help_ = (
        "A table in this folder, or an uploaded one, of questions to leave out (id, leave_out) or whose "
        "right answer (gold) or outcome (correct) is corrected."
    )
    current = file.mapping.corrections
    return _pick_table("Corrections from", tables, current, f"corrections_{key}", "none", help_)


def _pick_table(
    label: str, tables: Mapping[str, str], current: str | None, key: str, otherwise: str, help_: str
) -> str | None:
    """Draw the choice of a table beside the file, given as path → name; return its path.

    `otherwise` stands for no table; "" where the file needs one.
    """
    options = [*((None,) if otherwise else ()), *tables]
    first = 0 if otherwise else None
    return st.selectbox(
        label,
        options,
        index=options.index(current) if current in options else first,
        key=key,
        format_func=lambda path: tables[path] if path else otherwise,
        placeholder="choose a table",
        help=help_,
    )


def _likely_gold_table(file: LoadedFile, files: Sequence[LoadedFile]) -> str | None:
    """Return the real path of the gold table whose name is most like the log's; None where there is none."""
    file_words = _name_words(file.name)
    words_by_path = {
        real_path(other): _name_words(other.name) for other in files if is_gold_table(other, files)
    }
    words_by_path = {
        path: words for path, words in words_by_path.items() if path in _gold_tables(file, files)
    }
    return max(
        words_by_path,
        key=lambda path: (len(file_words & words_by_path[path]), -len(words_by_path[path])),
        default=None,
    )


def _name_words(name: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z0-9]+", name.lower()))


def _pick_columns(file: LoadedFile, base: FileReport, key: str) -> dict[str, str]:
    """Draw the controls of the columns, and return file column → the name it is to be read as.

    The columns of one list are in the order chosen: at first that of their letters or numbers, otherwise
    that of the mapping or the file. Columns left as they are do not occur.
    """
    mapped = {
        column: name for column, name in file.mapping.columns if column in base.columns or "." in column
    }
    proposed = base.proposal.mapping if base.proposal else base.said_columns
    initial = mapped or proposed
    offered = [*dict.fromkeys((*base.columns[:MAX_OFFERED_COLUMNS], *initial))]
    chosen = st.multiselect(
        "Columns",
        offered,
        default=[column for column in offered if column in initial][:MAX_MAPPED_COLUMNS],
        key=f"columns_{key}",
        max_selections=MAX_MAPPED_COLUMNS,
        accept_new_options=True,
        placeholder="Choose columns to rename or skip, or type the path of a nested field",
        help="Columns to read under another name, or to skip. Name a nested field by its path, such as "
        "signals.stated or results.0.score.",
    )
    order = {column: number for number, column in enumerate(dict.fromkeys((*offered, *chosen)))}
    widget_keys = {column: f"as_{key}_{order[column]}" for column in chosen}
    if len(chosen) > 1:
        _pick_for_all_columns(widget_keys, key)
    options = [UNCHANGED, IGNORED, *COLUMN_MEANINGS, "correct:not", CHOICE_MASSES]
    options += [f"{name}{form}" for name in sorted(PROBABILITY_COLUMNS) for form in ("/100", ":inverted")]
    columns: dict[str, str] = {}
    with st.grid(3, min_column_width=220):
        for column, widget_key in widget_keys.items():
            name = initial.get(column, None)
            initial_name = UNCHANGED if name is None else name or IGNORED
            column_options = [*options, *_named_confidences(column, initial_name)]
            if initial_name not in column_options:
                column_options.append(initial_name)
            current_name = base.column_roles.get(column) if column not in mapped else None
            columns[column] = st.selectbox(
                escape_markdown(column),
                column_options,
                index=column_options.index(initial_name),
                key=widget_key,
                accept_new_options=True,
                format_func=lambda name, current_name=current_name: _option_label(name, current_name),
                help="What the column means. Type correct:Yes|Mostly if these values mean right, "
                "confidence/10 if the scale is 0 to 10, or confidence:high=0.9|low=0.3 for words.",
            )
    ordered = sorted(columns, key=order.__getitem__)
    mapping = {
        column: "" if columns[column] == IGNORED else columns[column]
        for column in ordered
        if columns[column] != UNCHANGED
    }
    elements = {
        name: iter(_pick_order([column for column in mapping if mapping[column] == name], name, file, key))
        for name in sorted(LIST_COLUMNS)
    }
    in_order = [next(elements[name]) if name in elements else column for column, name in mapping.items()]
    in_order = {column: mapping[column] for column in in_order}
    return in_order | _pick_row_numbers(file, base, mapping, key) | _pick_majority(file, base, mapping, key)


def _pick_row_numbers(
    file: LoadedFile, base: FileReport, mapping: Mapping[str, str], key: str
) -> dict[str, str]:
    """Draw the control that makes the number of a row its id, for a file without ids; return its mapping."""
    numbers_rows = {ROW_NUMBER: "id"}
    has_ids = "id" in base.column_roles.values() or "id" in mapping.values()
    if has_ids or ROW_NUMBER in base.columns:
        return {}
    is_chosen = st.toggle(
        "Row number as question id",
        value=numbers_rows.items() <= dict(file.mapping.columns).items(),
        key=f"row_numbers_{key}",
        help="Only if another file lists the same questions in the same order: runs are then paired row by "
        "row. Right answers that differ are found; without right answers, a different order goes unnoticed.",
    )
    return numbers_rows if is_chosen else {}


def _pick_majority(
    file: LoadedFile, base: FileReport, mapping: Mapping[str, str], key: str
) -> dict[str, str]:
    """Draw the control that has the majority of the samples judged, where there is none; return that."""
    judges_majority = {MAJORITY: "prediction"}
    names = {*base.column_roles.values(), *mapping.values()}
    if not names & {"samples", "samples_parsed"} or names & {"prediction", "correct"}:
        return {}
    is_chosen = st.toggle(
        "Judge confidences by the majority of the samples",
        value=judges_majority.items() <= dict(file.mapping.columns).items(),
        key=f"majority_{key}",
        help="For p(True), stated confidences and others that need an answer, where the file has none.",
    )
    return judges_majority if is_chosen else {}


def _pick_order(columns: Sequence[str], name: str, file: LoadedFile, key: str) -> list[str]:
    """Draw the control of the order of a list's columns, if there are several, and return them in order."""
    kept = [column for column, mapped in file.mapping.columns if mapped == name]
    ordered = kept if set(kept) == set(columns) else in_order_of_suffix(columns)
    if len(ordered) < 2:
        return ordered
    chosen = st.multiselect(
        f"Order of {name}",
        ordered,
        default=ordered,
        key=f"order_{key}_{name}_{fingerprint(ordered)[:8]}",
        help="The order of the list. To change the order, remove columns and choose them again.",
    )
    return [*chosen, *(column for column in ordered if column not in chosen)]


def _named_confidences(column: str, chosen: str) -> list[str]:
    """Return the names for a column as one of several confidences: after its own name, and the chosen one."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", column.removeprefix("confidence."))[:40]
    names = [f"confidence.{name}", f"confidence.{name}/100", chosen]
    return [name for name in dict.fromkeys(names) if confidence_name(MappedName.parse(name).name) is not None]


def _option_label(name: str, current_name: str | None) -> str:
    """Return the label of a name; `current_name` is what the column is read as now."""
    if name == UNCHANGED:
        return f"{UNCHANGED} ({current_name})" if current_name else UNCHANGED
    if name == IGNORED:
        return name
    mapped = MappedName.parse(name)
    meaning = COLUMN_MEANINGS.get(mapped.name)
    if meaning is None and confidence_name(mapped.name):
        meaning = "one of several confidences of the same answer, 0 to 1"
    return f"{name}: {meaning}{', in percent' if mapped.divisor == 100 else ''}" if meaning else name


def _pick_shape(file: LoadedFile, key: str) -> FileMapping:
    """Draw the controls for rows below a key, systems side by side, missing values and joins; return them."""
    kept = file.mapping
    has_some = bool(kept.rows or kept.wide or kept.missing or kept.gold_on or kept.gold_columns)
    if not st.toggle(
        "Nested rows, systems side by side, missing values, joins",
        value=has_some,
        key=f"shape_{key}",
    ):
        return FileMapping()
    with st.grid(2, min_column_width=280):
        rows = st.text_input(
            "Rows at",
            kept.rows,
            key=f"rows_{key}",
            placeholder="results.items, or * for every key",
            help="The path of the rows in JSON. A star matches every key there: the rows below each become "
            "a run. Keys may also be those of data sets: {dataset}.",
        )
        missing = st.text_input(
            "Values that count as missing",
            " | ".join(kept.missing),
            key=f"missing_{key}",
            placeholder="Unparseable | N/A",
            help="Separate several by |.",
        )
        wide = st.text_area(
            "Systems side by side, one pattern per line",
            "\n".join(f"{pattern}={name}" for pattern, name in kept.wide),
            key=f"wide_{key}",
            placeholder="*-confidence_levels=confidence\n*-evals=correct",
            help="The star stands for the system. Each system becomes a run.",
        )
        gold_on = st.text_input(
            "Join the right answers on",
            kept.gold_on,
            key=f"on_{key}",
            placeholder="qid, or question=prompt",
            help="A column that both files have, or THIS=THAT. Empty: the ids.",
        )
        gold_columns = st.text_area(
            "Columns of the table of right answers, one per line",
            "\n".join(f"{column}={name}" for column, name in kept.gold_columns),
            key=f"gold_columns_{key}",
            placeholder="label=correct",
            help="What they are: id, gold, gold_index, correct, choices, subject or question.",
        )
    return FileMapping(
        rows=(rows or "").strip(),
        wide=_typed_pairs(wide),
        missing=tuple(value.strip() for value in (missing or "").split("|") if value.strip()),
        gold_on=(gold_on or "").strip(),
        gold_columns=_typed_pairs(gold_columns),
    )


def _typed_pairs(text: str | None) -> tuple[tuple[str, str], ...]:
    """Return the pairs of what is typed, a column or pattern and its name on each line."""
    pairs = (split_pair(line.strip()) for line in (text or "").splitlines() if line.strip())
    return tuple((column.strip(), name.strip()) for column, name in pairs)


def _pick_for_all_columns(widget_keys: Mapping[str, str], key: str) -> None:
    """Draw one control for all chosen columns that are parts of one list, which often has many."""
    widget = f"all_{key}"

    def set_all() -> None:
        for widget_key in widget_keys.values():
            if st.session_state.get(widget_key) in {UNCHANGED, *LIST_COLUMNS}:
                st.session_state[widget_key] = st.session_state[widget]
        st.session_state[widget] = None

    st.selectbox(
        "Combine the unassigned columns into one list",
        sorted(LIST_COLUMNS),
        index=None,
        key=widget,
        format_func=lambda name: _option_label(name, None),
        placeholder="no: read each as chosen below",
        help="Assigns all these columns at once, for example one column per sample.",
        on_change=set_all,
    )


def _mapping_buttons(file: LoadedFile, mapping: FileMapping, files: Sequence[LoadedFile], key: str) -> None:
    """Draw the buttons that apply the mapping (to all files with the same columns, too) or reset it."""
    names = (MappedName.parse(text).name for _, text in mapping.columns)
    counts = Counter(name for name in names if name and name not in LIST_COLUMNS)
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        st.warning(
            f"Two columns would be read as {', '.join(map(escape_markdown, repeated))}: choose one of them."
        )
    with st.container(horizontal=True):
        st.button(
            "Apply",
            key=f"apply_{key}",
            type="primary",
            disabled=bool(repeated) or (mapping == file.mapping),
            on_click=apply_mapping,
            args=(file, mapping, key),
        )
        same_columns = files_with_same_columns(file, files) if mapping.columns and not mapping.gold else ()
        if len(same_columns) > 1:
            st.button(
                f"Apply to all {len(same_columns)} files with these columns",
                key=f"apply_all_{key}",
                disabled=bool(repeated),
                on_click=save_mapping_for_all,
                args=(same_columns, mapping, key),
            )
        st.button("Reset", key=f"reset_{key}", on_click=reset_controls, args=(key,))
    st.caption(
        "The mapping is removed when the session ends."
        if file.is_uploaded
        else (
            "The mapping is saved in your cache folder and used at the next start. The file itself does not "
            "change."
        )
    )


# --- Keeping a mapping ----------------------------------------------------------------------------


def files_with_same_columns(file: LoadedFile, files: Sequence[LoadedFile]) -> tuple[LoadedFile, ...]:
    """Return the file and all refused files with the same columns that have no mapping yet."""
    columns = _file_columns(file)
    return (
        file,
        *(
            other
            for other in files
            if other is not file
            and other.refusal is not None
            and not other.mapping
            and other.is_uploaded == file.is_uploaded
            and columns
            and _file_columns(other) == columns
        ),
    )


def _file_columns(file: LoadedFile) -> Sequence[str]:
    base = file.report_without_mapping or file.report
    return base.columns if base else ()


def apply_mapping(file: LoadedFile, mapping: FileMapping, key: str) -> None:
    """Keep a mapping with which the file can be used; otherwise say why not, and leave the controls as set.

    What is read only once it is kept, another format or table beside the file, is kept untried.
    """
    untried = (mapping.format, mapping.gold, mapping.corrections)
    if mapping and untried == (file.mapping.format, file.mapping.gold, file.mapping.corrections):
        try:
            report = tried_report(file, mapping)
            refusal = report.message if report.status == "refused" else ""
        except CalibError as refused:
            refusal = str(refused)
        if refusal:
            st.session_state[f"trouble_{key}"] = f"Not applied: {_first_reason(refusal, file)}"
            mark_decided(key)
            return
    save_mapping(file, mapping, key)


def save_mapping(file: LoadedFile, mapping: FileMapping, key: str) -> None:
    """Keep a mapping in place of the one before, and fold the controls; an empty one deletes it."""
    if _keep_mapping(file, mapping, key):
        _close_controls(key)


def _keep_mapping(file: LoadedFile, mapping: FileMapping, key: str) -> bool:
    """Keep a mapping, and the block of its file open; return whether it can be kept, or say why not."""
    store = mapping_store(file)
    try:
        if mapping:
            store.save(file.listing.path, mapping)
        else:
            store.delete(file.listing.path)
    except OSError as error:
        st.session_state[f"trouble_{key}"] = (
            f"The mapping cannot be {'saved' if mapping else 'removed'}: {error.strerror}."
        )
        return False
    mark_decided(key)
    return True


def save_mapping_for_all(files: Sequence[LoadedFile], mapping: FileMapping, key: str) -> None:
    """Keep the mapping for each of the files.

    Parameters
    ----------
    files : Sequence of LoadedFile
    mapping : FileMapping
    key : str
        Suffix of the widget keys of the file at which it was set.
    """
    for file in files:
        save_mapping(file, mapping, key)


def _close_controls(key: str) -> None:
    """Fold the controls of a file whose mapping was changed."""
    reset_controls(key)
    st.session_state[f"reread_{key}"] = False


def mark_decided(key: str) -> None:
    """Mark a file that the person decided on in this session, so that its block stays open."""
    st.session_state[_DECIDED_KEY] = decided_keys() | {key}


def decided_keys() -> frozenset[str]:
    """Return the keys of the files that the person decided on in this session."""
    return st.session_state.get(_DECIDED_KEY, frozenset())


def reset_controls(key: str) -> None:
    """Reset the controls of a file to how they are first drawn."""
    is_control = re.compile(rf"({'|'.join(_CONTROLS)})_{re.escape(key)}(_|$)").match
    for name in [str(name) for name in st.session_state]:
        if is_control(name):
            del st.session_state[name]
