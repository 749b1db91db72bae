"""Merges runs that are parts of one evaluation, such as the 57 subject files of MMLU.

Answer runs are concatenated (`merge_runs`); the sums of token-level runs are added (`merge_token_runs`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from os.path import commonprefix
from types import MappingProxyType
from typing import Final

import polars as pl

from calib_core.errors import Refused
from calib_core.readers.table.run_split import file_stem, unique_label
from calib_core.runs import (
    FILE_COLUMN,
    AnswerRun,
    Corrections,
    ReportedMetric,
    RowCounts,
    Run,
    RunInfo,
    TokenRun,
)

_TABLES: Final = "tables with the columns "
"""How the evaluation of plain tables that are merged begins."""

QUESTIONS: Final = "questions about the same inputs"
"""The evaluation of runs that are one question each, such as those of decisions."""

DECISION_COLUMN: Final = "decision"
"""The group column of several questions that are one run."""

_QUESTION_COLUMNS: Final = ("subject", "id")
"""Together they identify a question."""

MAX_NAMED_PARTS: Final = 5
"""Number of parts, or of kinds of them, that the note on a merged run names."""
_NUMBER_PATTERN: Final = re.compile(r"[0-9][0-9.,e-]*")

EvaluationKey = tuple[str, str, RunInfo]
"""Evaluation, format and description of a run: parts of one evaluation agree in all three."""

# --- Answer runs ------------------------------------------------------------------------------------------


def merge_runs(runs: Iterable[Run], *, with_tables: bool = False) -> tuple[Run, ...]:
    """Merge runs that are parts of one evaluation; the others stay as they are.

    Parts are runs with the same `evaluation`, format and description. A run that repeats a question (id and
    subject) of the parts before it, or stores its numbers in another dtype, stays separate.

    Parameters
    ----------
    runs
        The runs.
    with_tables
        Whether the questions about the same inputs are one run, and plain tables, which name no evaluation,
        are parts of one if they have the same description and columns. If the ids of these repeat, the name
        of its file becomes the subject of each.

    Returns
    -------
    tuple of Run
        In the order of their first parts.
    """
    parts_of_runs = questions_as_parts(tables_as_parts(runs)) if with_tables else runs
    return tuple(merge_parts(parts) for parts in group_parts(parts_of_runs))


def questions_as_parts(runs: Iterable[Run]) -> list[Run]:
    """Make the questions that one model answers the parts of one run.

    The rows of one input are those of one `trial_of`, so that they are resampled together.
    """
    every = list(runs)
    answered: dict[tuple[str, RunInfo], set[str]] = {}
    for run in every:
        if isinstance(run, AnswerRun) and run.evaluation == QUESTIONS:
            answered.setdefault((run.format, _info_of_all(run)), set()).add(run.info.dataset or run.label)
    return [
        _as_question(run)
        if isinstance(run, AnswerRun)
        and run.evaluation == QUESTIONS
        and len(answered[run.format, _info_of_all(run)]) > 1
        else run
        for run in every
    ]


def _info_of_all(run: AnswerRun) -> RunInfo:
    return replace(run.info, dataset=None, choices_are="options")


def _as_question(run: AnswerRun) -> AnswerRun:
    """One question as a part of all: its name goes into the ids, and becomes a group."""
    name, info = run.info.dataset or run.label, _info_of_all(run)
    rows = run.rows
    if "id" in rows.columns:
        rows = rows.with_columns(pl.col("id").alias("trial_of"), pl.col("id") + f"/{name}")
    group = pl.Series(DECISION_COLUMN, [name]).cast(pl.Enum([name])).new_from_index(0, rows.height)
    return replace(
        run,
        info=info,
        rows=rows,
        label=info.label(file_stem(run.file)),
        group_columns=run.group_columns.hstack([group]) if run.group_columns.width else group.to_frame(),
    )


def tables_as_parts(runs: Iterable[Run], label: str = "") -> list[Run]:
    """Make plain tables with the same columns and description the parts of one evaluation.

    Parameters
    ----------
    runs
        The runs; those that name an evaluation stay as they are.
    label
        What the merged run is called, if its description is empty; by default, the common beginning of the
        files' names. Runs of different labels are never parts of one.
    """
    parts = [
        replace(run, evaluation=_evaluation_of_table(run) + (f", as {label}" if label else ""))
        if isinstance(run, AnswerRun) and run.evaluation is None
        else run
        for run in runs
    ]
    tables: dict[tuple[str, RunInfo], list[AnswerRun]] = {}
    for run in parts:
        if isinstance(run, AnswerRun) and (run.evaluation or "").startswith(_TABLES):
            tables.setdefault((run.evaluation or "", run.info), []).append(run)
    described = {id(run): part for group in tables.values() for run, part in _with_subjects(group, label)}
    return [described.get(id(run), run) for run in parts]


def _evaluation_of_table(run: AnswerRun) -> str:
    return _TABLES + ", ".join(sorted(name for name in run.rows.columns if run.has_columns(name)))


def _with_subjects(tables: Sequence[AnswerRun], label: str) -> Iterable[tuple[AnswerRun, AnswerRun]]:
    """Pair each table with itself under a common label; its file is its subject if ids repeat without one."""
    stems = [file_stem(run.file) for run in tables]
    info = tables[0].info
    called_as_file = info.label("") in ("", info.dataset) and tables[0].label != info.dataset
    if not called_as_file or len(tables) < 2:
        label = ""
    elif not label:
        label = commonprefix(stems).rstrip(" _-.")  # noqa: RUF071  the names' common beginning, not folders
    if label and info.dataset:
        label = f"{label} · {info.dataset}"
    ids = [run.rows["id"] for run in tables if "id" in run.rows.columns]
    is_numbered = bool(ids) and pl.concat(ids).is_duplicated().any()
    for run, stem in zip(tables, stems, strict=True):
        rows = run.rows
        if is_numbered and "subject" not in rows.columns:
            rows = rows.with_columns(pl.lit(stem).alias("subject"))
        yield run, replace(run, rows=rows, label=label or run.label)


def group_parts(runs: Iterable[Run]) -> tuple[tuple[Run, ...], ...]:
    """Group the runs that `merge_runs` merges into one; other runs are groups of their own."""
    groups: list[list[Run]] = []
    group_by_key: dict[EvaluationKey, list[Run]] = {}
    parts_by_key: dict[EvaluationKey, list[_KnownQuestions]] = {}
    for run in runs:
        if isinstance(run, AnswerRun) and run.evaluation is not None:
            key = (run.evaluation, run.format, run.info)
            if _join(run, parts_by_key.setdefault(key, [])):
                if key not in group_by_key:
                    groups.append(group_by_key.setdefault(key, []))
                group_by_key[key].append(run)
                continue
        groups.append([run])
    return tuple(map(tuple, groups))


def merge_parts(parts: Sequence[Run], *notes: str) -> Run:
    """Merge several parts into one run, with further `notes`; return a single part unchanged."""
    runs = [part for part in parts if isinstance(part, AnswerRun)]
    if len(runs) < 2:
        return parts[0]
    first, n_others = runs[0], len({part.file for part in runs}) - 1
    frames = [part.rows.with_columns(pl.lit(part.file).alias(FILE_COLUMN)) for part in runs]
    return replace(
        first,
        file=f"{first.file} and {n_others:,} other{'s' if n_others > 1 else ''}" if n_others else first.file,
        rows=pl.concat(frames, how="diagonal_relaxed"),
        group_columns=_merge_group_columns(runs),
        row_counts=_merge_row_counts(runs, notes),
        reported_metrics=tuple(_merge_reported(runs)),
        corrections=_merge_corrections(runs),
    )


def _merge_corrections(parts: Sequence[AnswerRun]) -> Corrections | None:
    """Merge what the parts' tables of corrections changed; None where no part had one."""
    given = [(part.file, part.corrections) for part in parts if part.corrections is not None]
    if not given:
        return None
    frames = [
        [frame.with_columns(pl.lit(file).alias(FILE_COLUMN)) for frame in (one.changes, one.original_rows)]
        for file, one in given
    ]
    changes, originals = (pl.concat(parts, how="diagonal_relaxed") for parts in zip(*frames, strict=True))
    return Corrections(
        file=", ".join(dict.fromkeys(one.file for _, one in given)),
        n_left_out=sum(one.n_left_out for _, one in given),
        n_corrected=sum(one.n_corrected for _, one in given),
        changes=changes.drop(FILE_COLUMN),
        original_rows=originals,
        added_columns=tuple(dict.fromkeys(name for _, one in given for name in one.added_columns)),
    )


@dataclass(slots=True)
class _KnownQuestions:
    """The questions of the parts of an evaluation that have one schema.

    Attributes
    ----------
    schema
        The schema of these parts.
    frames
        For each part, the columns of `_QUESTION_COLUMNS` that it has.
    subjects
        The subjects of the parts.
    """

    schema: pl.Schema
    frames: list[pl.DataFrame] = field(default_factory=list[pl.DataFrame])
    subjects: set[str] = field(default_factory=set[str])

    def add(self, rows: pl.DataFrame) -> None:
        """Add the questions of a part."""
        self.frames.append(pl.DataFrame([rows[name] for name in _QUESTION_COLUMNS if name in rows.columns]))
        self.subjects |= _subjects(rows)

    def has_any_of(self, rows: pl.DataFrame, names: Sequence[str]) -> bool:
        """Return whether these columns say that one of the rows asks a known question."""
        if "subject" in names and self.subjects.isdisjoint(_subjects(rows)):
            return False
        return bool(rows.select(names).join(pl.concat(self.frames), on=names, how="semi").height)


def files_of_run(run: Run) -> tuple[str, ...]:
    """Return the names of the files that a run has rows of, in the order of the rows."""
    if isinstance(run, TokenRun) or FILE_COLUMN not in run.rows.columns:
        return (run.file,)
    return tuple(run.rows[FILE_COLUMN].unique(maintain_order=True).to_list())


def _subjects(rows: pl.DataFrame) -> set[str]:
    return set(rows["subject"].to_list()) - {None} if "subject" in rows.columns else set()


def _join(run: AnswerRun, parts: list[_KnownQuestions]) -> bool:
    """Add a run to the parts of an evaluation if it repeats no question of theirs and has the same dtypes.

    Parameters
    ----------
    run
        The run that may join.
    parts
        The questions of the parts, by schema; the run's are added if it joins.
    """
    rows, schema = run.rows, run.rows.schema  # a frame makes its schema anew each time
    for part in parts:
        shared = schema.keys() & part.schema.keys()
        if any(not _is_same_dtype(schema[name], part.schema[name]) for name in shared):
            return False
        names = [name for name in _QUESTION_COLUMNS if name in shared]
        if not names and (run.evaluation or "").startswith(_TABLES):
            continue
        if not names or part.has_any_of(rows, names):
            return False
    known = next((part for part in parts if part.schema == schema), None)
    if known is None:
        parts.append(known := _KnownQuestions(schema))
    known.add(rows)
    return True


def _is_same_dtype(first: pl.DataType, second: pl.DataType) -> bool:
    without_values = (pl.Null(), pl.List(pl.Null()))
    return first == second or first in without_values or second in without_values


def _merge_group_columns(parts: Sequence[AnswerRun]) -> pl.DataFrame:
    """Concatenate the group columns; null for the rows of a part without the column."""
    names = dict.fromkeys(name for part in parts for name in part.group_columns.columns)
    columns: list[pl.Series] = []
    for name in names:
        texts = pl.concat([_column_as_text(part, name) for part in parts])
        categories = texts.drop_nulls().unique(maintain_order=True)
        columns.append(texts.cast(pl.Enum(categories)).alias(name))
    return pl.DataFrame(columns)


def _column_as_text(part: AnswerRun, name: str) -> pl.Series:
    if name in part.group_columns.columns:
        return part.group_columns[name].cast(pl.String)
    return pl.Series([None], dtype=pl.String).new_from_index(0, part.rows.height)


def _merge_row_counts(parts: Sequence[AnswerRun], notes: Sequence[str]) -> RowCounts:
    all_counts = [part.row_counts for part in parts]
    names = [_single_subject(part) or part.file for part in parts]
    what = "files"
    if all(DECISION_COLUMN in part.group_columns.columns and part.rows.height for part in parts):
        names, what = [str(part.group_columns[DECISION_COLUMN][0]) for part in parts], "questions"
    clipped = sum((Counter(counts.clipped) for counts in all_counts), Counter[str]())
    return RowCounts(
        n_rows=sum(counts.n_rows for counts in all_counts),
        n_left_out=sum(counts.n_left_out for counts in all_counts),
        clipped=MappingProxyType(dict(clipped)),
        n_inexact_sums=sum(counts.n_inexact_sums for counts in all_counts),
        notes=(
            f"One run of {len(parts):,} {what}: {_names_text(names)}.",
            *notes,
            *_merge_notes(all_counts),
        ),
    )


def _names_text(names: Sequence[str]) -> str:
    """Name the parts; where several kinds of names have several parts each, one of every kind.

    Examples
    --------
    >>> _names_text(["law", "art"])
    'law, art'
    >>> _names_text(["red-1", "red-2", "blue-1", "blue-2", "blue-3"])
    'red-1 and 1 like it, blue-1 and 2 like it. If these are several models, read each separately'
    """
    kinds: dict[str, list[str]] = {}
    for name in names:
        kinds.setdefault(_NUMBER_PATTERN.sub("#", name), []).append(name)
    alike = [(kind[0], len(kind) - 1) for kind in kinds.values()]
    are_kinds = len(alike) > 1 and all(n_others for _, n_others in alike)
    shown = [f"{first} and {n_others:,} like it" for first, n_others in alike] if are_kinds else names
    advice = ". If these are several models, read each separately" if are_kinds else ""
    return ", ".join(shown[:MAX_NAMED_PARTS]) + (", …" if len(shown) > MAX_NAMED_PARTS else "") + advice


def _merge_notes(row_counts: Sequence[RowCounts]) -> Iterable[str]:
    """Merge the notes of the parts; notes that differ only in their numbers become one."""
    notes_by_pattern: dict[str, list[str]] = {}
    for counts in row_counts:
        for note in dict.fromkeys(counts.notes):
            notes_by_pattern.setdefault(_NUMBER_PATTERN.sub("#", note), []).append(note)
    for notes in notes_by_pattern.values():
        if len(set(notes)) == 1 and len(notes) == len(row_counts):
            yield notes[0]
        else:
            such_as = "" if len(set(notes)) == 1 else ", such as"
            yield f"In {len(notes):,} of {len(row_counts):,} files{such_as}: {notes[0]}"


def _merge_reported(parts: Sequence[AnswerRun]) -> Iterable[ReportedMetric]:
    """Yield the mean of each metric that all parts report, weighted by rows; then each part's own values."""
    by_metric: dict[tuple[str, str | None, str], list[ReportedMetric]] = {}
    for part in parts:
        for metric in part.reported_metrics:
            by_metric.setdefault((metric.name, metric.method, metric.difference_reason), []).append(metric)
    for (name, method, why), metrics in by_metric.items():
        n_rows = sum(metric.n_rows or 0 for metric in metrics)
        if len(metrics) == len(parts) and all(metric.n_rows for metric in metrics):
            mean = sum(metric.value * (metric.n_rows or 0) for metric in metrics) / n_rows
            yield ReportedMetric(f"{name}, of all by rows", mean, n_rows, method, why)
    for part in parts:
        subject = _single_subject(part)
        if subject is not None:
            yield from (replace(metric, subject=subject) for metric in part.reported_metrics)


def _single_subject(part: AnswerRun) -> str | None:
    """Return the subject of all rows of a part; None if there are several or none."""
    if "subject" not in part.rows.columns:
        return None
    names = part.rows["subject"]
    return names[0] if names.n_unique() == 1 else None


# --- Token-level runs -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class MergedTokenRun:
    """A token-level run that was added up from parts.

    Attributes
    ----------
    run
        The run, with the sums of all parts.
    files
        The files of the parts, in the order given.
    """

    run: TokenRun
    files: tuple[str, ...]


def merge_token_runs(token_runs: Iterable[TokenRun]) -> tuple[MergedTokenRun, ...]:
    """Add up the runs that have the same description and label, and give each result a unique label.

    Raises
    ------
    Refused
        The parts of a run differ in their number of classes.
    """
    merged: dict[tuple[RunInfo, str], MergedTokenRun] = {}
    for run in token_runs:
        key = (run.info, run.label)
        merged[key] = _add_part(merged[key], run) if key in merged else MergedTokenRun(run, (run.file,))
    labels: set[str] = set()
    return tuple(_with_label(total, unique_label(total.run.label, labels)) for total in merged.values())


def _with_label(merged: MergedTokenRun, label: str) -> MergedTokenRun:
    """Relabel a merged run and add a note that lists its files."""
    row_counts, n_files = merged.run.row_counts, len(merged.files)
    if n_files > 1:
        shown = ", ".join(merged.files[:5]) + (", …" if n_files > 5 else "")
        row_counts = replace(
            row_counts, notes=(*row_counts.notes, f"Added up from {n_files:,} files: {shown}.")
        )
    return replace(merged, run=replace(merged.run, label=label, row_counts=row_counts))


def _add_part(merged: MergedTokenRun, part: TokenRun) -> MergedTokenRun:
    """Add one more part to a merged run."""
    total, other = merged.run.sums, part.sums
    if total.n_classes != other.n_classes:
        raise Refused(
            f"{merged.files[0]} and {part.file} are parts of the run {part.label!r}, and one has "
            f"{total.n_classes:,} classes, the other {other.n_classes:,}. If they are different runs, give "
            f"each its own metadata."
        )
    run = replace(
        merged.run,
        sums=total.merge(other),
        row_counts=_add_row_counts(merged.run.row_counts, part.row_counts),
    )
    return MergedTokenRun(run, tuple(dict.fromkeys((*merged.files, part.file))))


def _add_row_counts(first: RowCounts, second: RowCounts) -> RowCounts:
    return RowCounts(
        n_rows=first.n_rows + second.n_rows,
        n_left_out=first.n_left_out + second.n_left_out,
        clipped=MappingProxyType(dict(Counter(first.clipped) + Counter(second.clipped))),
        n_inexact_sums=first.n_inexact_sums + second.n_inexact_sums,
        notes=tuple(dict.fromkeys((*first.notes, *second.notes))),
    )
