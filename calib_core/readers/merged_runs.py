"""Which token-level runs are parts of one run, and what do they come to together?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import polars as pl

from calib_core.errors import Refused
from calib_core.readers.table.run_split import unique_label
from calib_core.runs import AnswerRun, ReportedMetric, RowCounts, Run, RunInfo, TokenRun

# MERGED united: Which runs of several files are parts of one evaluation, and what is it as a whole?  MMLU is 57 files.

FILE_COLUMN: Final = "file"
"""The column of a united run's rows that says which file each is from; `row` is its record there."""

_NUMBER_PATTERN: Final = re.compile(r"[0-9][0-9.,e-]*")

EvaluationKey = tuple[str, str, RunInfo]


def merge_runs(runs: Iterable[Run]) -> tuple[Run, ...]:
    """The runs in the order of their first part, those that are parts of one evaluation as one run each.

    Parts are runs with the same `part_of` and the same description. One that repeats a question of those
    before it (id and subject), or stores its numbers in another dtype, stays a run by itself.
    """
    return tuple(merge_parts(parts) for parts in group_parts(runs))


def group_parts(runs: Iterable[Run]) -> tuple[tuple[Run, ...], ...]:
    """The runs, those that `united` makes one side by side."""
    found: list[list[Run]] = []
    places: dict[EvaluationKey, int] = {}
    for run in runs:
        if not isinstance(run, AnswerRun) or run.evaluation is None:
            found.append([run])
            continue
        at = places.setdefault((run.evaluation, run.format, run.info), len(found))
        if at == len(found):
            found.append([run])
        elif _can_join(run, found[at]):
            found[at].append(run)
        else:
            found.append([run])
    return tuple(map(tuple, found))


def merge_parts(parts: Sequence[Run], *notes: str) -> Run:
    """Several parts as one run; one alone as it is. notes: what else has to be known of the whole."""
    runs = [part for part in parts if isinstance(part, AnswerRun)]
    if len(runs) < 2:
        return parts[0]
    first = runs[0]
    rows = [part.rows.with_columns(pl.lit(part.file).alias(FILE_COLUMN)) for part in runs]
    return replace(
        first,
        file=f"{first.file} and {len(runs) - 1:,} other{'s' if len(runs) > 2 else ''}",
        rows=pl.concat(rows, how="diagonal_relaxed"),
        group_columns=_merge_group_columns(runs),
        row_counts=_merge_ledgers(runs, notes),
        reported_metrics=tuple(_merge_reported(runs)),
    )


def _can_join(run: AnswerRun, parts: Sequence[Run]) -> bool:
    """Whether a run can be one more part: no question again, no number stored otherwise."""
    for part in parts:
        if not isinstance(part, AnswerRun):
            return False
        shared = run.rows.columns & part.rows.schema.keys()
        if any(not _is_same_dtype(run.rows.schema[name], part.rows.schema[name]) for name in shared):
            return False
        names = [name for name in ("subject", "id") if name in shared]
        if not names or run.rows.select(names).join(part.rows.select(names), on=names, how="semi").height:
            return False
    return True


def _is_same_dtype(first: pl.DataType, second: pl.DataType) -> bool:
    empty = (pl.Null(), pl.List(pl.Null()))
    return first == second or first in empty or second in empty


def _merge_group_columns(parts: Sequence[AnswerRun]) -> pl.DataFrame:
    """The columns that sort the rows into groups, null where a part has no such column."""
    names = dict.fromkeys(name for part in parts for name in part.group_columns.columns)
    columns: list[pl.Series] = []
    for name in names:
        texts = pl.concat([_column_as_text(part, name) for part in parts])
        kinds = texts.drop_nulls().unique(maintain_order=True)
        columns.append(texts.cast(pl.Enum(kinds)).alias(name))
    return pl.DataFrame(columns)


def _column_as_text(part: AnswerRun, name: str) -> pl.Series:
    if name in part.group_columns.columns:
        return part.group_columns[name].cast(pl.String)
    return pl.Series([None], dtype=pl.String).new_from_index(0, part.rows.height)


def _merge_ledgers(parts: Sequence[AnswerRun], notes: Sequence[str]) -> RowCounts:
    ledgers = [part.row_counts for part in parts]
    named = [_single_subject(part) or part.file for part in parts]
    shown = ", ".join(named[:5]) + (", …" if len(named) > 5 else "")
    clipped = sum((Counter(ledger.clipped) for ledger in ledgers), Counter[str]())
    return RowCounts(
        n_rows=sum(ledger.n_rows for ledger in ledgers),
        n_left_out=sum(ledger.n_left_out for ledger in ledgers),
        clipped=MappingProxyType(dict(clipped)),
        n_off_sum=sum(ledger.n_off_sum for ledger in ledgers),
        notes=(
            f"One run of {len(parts):,} files: {shown}.",
            *notes,
            *_merge_notes(ledgers),
        ),
    )


def _merge_notes(ledgers: Sequence[RowCounts]) -> Iterable[str]:
    """What is said of the parts, once where it differs in its numbers alone."""
    said: dict[str, list[str]] = {}
    for ledger in ledgers:
        for note in dict.fromkeys(ledger.notes):
            said.setdefault(_NUMBER_PATTERN.sub("#", note), []).append(note)
    for notes in said.values():
        if len(set(notes)) == 1 and len(notes) == len(ledgers):
            yield notes[0]
        else:
            such = "" if len(set(notes)) == 1 else ", such as"
            yield f"In {len(notes):,} of {len(ledgers):,} files{such}: {notes[0]}"


def _merge_reported(parts: Sequence[AnswerRun]) -> Iterable[ReportedMetric]:
    """Each of the tool's numbers over all parts, weighted by their rows, and then each part's own."""
    own: dict[tuple[str, str | None, str], list[ReportedMetric]] = {}
    for part in parts:
        for one in part.reported_metrics:
            own.setdefault((one.name, one.method, one.why), []).append(one)
    for (name, method, why), numbers in own.items():
        rows = sum(one.rows or 0 for one in numbers)
        if len(numbers) == len(parts) and all(one.rows for one in numbers):
            mean = sum(one.value * (one.rows or 0) for one in numbers) / rows
            yield ReportedMetric(f"{name}, of all by rows", mean, rows, method, why)
    for part in parts:
        subject = _single_subject(part)
        if subject is not None:
            yield from (replace(one, subject=subject) for one in part.reported_metrics)


def _single_subject(part: AnswerRun) -> str | None:
    """The subject of all rows of a part; None where they have several or none."""
    if "subject" not in part.rows.columns:
        return None
    names = part.rows["subject"].unique()
    return names.item() if names.len() == 1 else None


@dataclass(frozen=True, slots=True, eq=False)
class MergedTokenRun:
    """A run that was added up. files: the files of its parts, in the order given."""

    run: TokenRun
    files: tuple[str, ...]


def merge_token_runs(token_runs: Iterable[TokenRun]) -> tuple[MergedTokenRun, ...]:
    """The runs, those with one description and one label added up, each with a label of its own.

    Raises Refused where the parts of a run differ in their number of classes.
    """
    found: dict[tuple[RunInfo, str], MergedTokenRun] = {}
    for run in token_runs:
        key = (run.info, run.label)
        found[key] = _add_part(found[key], run) if key in found else MergedTokenRun(run, (run.file,))
    labels: set[str] = set()
    return tuple(_with_label(whole, unique_label(whole.run.label, labels)) for whole in found.values())


def _with_label(merged: MergedTokenRun, label: str) -> MergedTokenRun:
    """The whole under its own label, with a note on the files of its parts."""
    ledger, number = merged.run.row_counts, len(merged.files)
    if number > 1:
        shown = ", ".join(merged.files[:5]) + (", …" if number > 5 else "")
        ledger = replace(ledger, notes=(*ledger.notes, f"Added up from {number:,} files: {shown}."))
    return replace(merged, run=replace(merged.run, label=label, row_counts=ledger))


def _add_part(merged: MergedTokenRun, part: TokenRun) -> MergedTokenRun:
    """The whole and one part more."""
    one, other = merged.run.sums, part.sums
    if one.classes != other.classes:
        raise Refused(
            f"{merged.files[0]} and {part.file} are parts of the run {part.label!r}, and one has "
            f"{one.classes:,} classes, the other {other.classes:,}. If they are different runs, give each "
            f"its own metadata."
        )
    run = replace(
        merged.run, sums=one.merge(other), row_counts=_add_ledgers(merged.run.row_counts, part.row_counts)
    )
    return MergedTokenRun(run, tuple(dict.fromkeys((*merged.files, part.file))))


def _add_ledgers(first: RowCounts, second: RowCounts) -> RowCounts:
    return RowCounts(
        n_rows=first.n_rows + second.n_rows,
        n_left_out=first.n_left_out + second.n_left_out,
        clipped=MappingProxyType(dict(Counter(first.clipped) + Counter(second.clipped))),
        n_off_sum=first.n_off_sum + second.n_off_sum,
        notes=tuple(dict.fromkeys((*first.notes, *second.notes))),
    )
