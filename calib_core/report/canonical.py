"""How do runs of any format become one file of the project's own, which reads back to the same numbers?

What was observed is written as it was read: raw, in the file's own order and dtypes. One run says of itself
in the metadata which run it is, several say it row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import polars as pl

from calib_core.files.tables.canonical import ANSWERS, GROUPS, KEY, NOTES, PART_OF, SOURCE_ROW, VERSION
from calib_core.files.tables.columns import COLUMNS
from calib_core.files.tables.group_columns import MOST_COLUMNS, MOST_GROUPS
from calib_core.files.tables.told_numbers import IN_FULL, REPORTED
from calib_core.problems import Refused, shorten
from calib_core.records import ANSWER_SCHEMA, INFO_COLUMNS, RUN_COLUMNS, AnswerRun, Reported, Run, TokenRun
from calib_core.report.canonical_file import Canonical
from calib_core.report.made import hashed

_TAKEN: Final = frozenset((*COLUMNS, SOURCE_ROW, KEY))
"""Names that a column of groups cannot keep."""

_INFO_TYPES: Final[Mapping[str, pl.DataType]] = {
    "model": pl.String(), "dataset": pl.String(), "shots": pl.Int32(), "checkpoint": pl.String(),
    "params_b": pl.Float64(), "tuning": pl.String(), "temperature": pl.Float64(), "tokens_seen": pl.Int64(),
}  # fmt: skip

_OF_THE_FILE: Final = ("path_of", "p_true_of", "answer_normaliser")
"""What the format says once a file, and no row can say."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file that was converted. rows: its records, bad ones included; sha256: of its bytes, in hex."""

    name: str
    sha256: str
    rows: int


@dataclass(frozen=True, slots=True, eq=False)
class Converted:
    """What one file gives to a canonical one. unused: its columns that nothing is read from."""

    runs: tuple[Run, ...]
    source: Source
    notes: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()


def source_of(path: Path, name: str, rows: int) -> Source:
    """A file as it is on disk now; raises Refused where it is not there any more."""
    return Source(name, hashed(path, name).sha256, rows)


def canonical(runs: Sequence[Run], sources: Sequence[Source], notes: Sequence[str] = ()) -> Canonical:
    """One file of these runs. notes: what else a reader of the numbers has to know.

    Raises Refused where a run is token-level, where two runs would be one in the same file, or where they
    differ in what a file says once: which answer a confidence speaks of, or the dtype of a column.
    """
    answers = [_of_answers(run) for run in runs]
    _check_apart(answers)
    for name in _OF_THE_FILE:
        _check_same(name, [(run, getattr(run.info, name)) for run in answers])
    several = len(answers) > 1
    frames = [_frame(run, several=several) for run in answers]
    for name in dict.fromkeys(name for frame in frames for name in frame.columns):
        dtypes = [(run, str(frame.schema[name])) for run, frame in zip(answers, frames, strict=True)
                  if name in frame.columns]  # fmt: skip
        _check_same(f"the dtype of {name}", dtypes)
    rows = pl.concat(frames, how="diagonal")
    groups, lost = _groups(answers, rows)
    told = dict.fromkeys((*_notes(answers), *notes, *lost))
    return Canonical(
        rows.select(_ordered(rows, groups)),
        {
            "format": ANSWERS,
            "version": VERSION,
            "logprob_base": "e",
            **_told(answers),
            "created_by": "Calib",
            "sources": [asdict(source) for source in sources],
            **_reported(answers),
            NOTES: list(told),
            GROUPS: groups,
        },
        tuple(told),
    )


def _of_answers(run: Run) -> AnswerRun:
    if isinstance(run, TokenRun):
        raise Refused(
            f"{run.file}: {run.label} is token-level: its positions are added up while they are read, and "
            f"none is kept. Save the sums instead: python -m calib_core reduce FILE -o SUMS.parquet"
        )
    return run


def _check_apart(runs: Sequence[AnswerRun]) -> None:
    found: dict[tuple[object, ...], AnswerRun] = {}
    for run in runs:
        key = tuple(getattr(run.info, name) for name in RUN_COLUMNS)
        if key in found:
            said = shorten(run.info.label("none of them"))
            raise Refused(
                f"{found[key].file} and {run.file} say the same of their model, dataset, shots and "
                f"checkpoint ({said}), so in one file they would be one run. Convert each apart."
            )
        found[key] = run


def _check_same(what: str, said: Sequence[tuple[AnswerRun, str]]) -> None:
    first, word = said[0]
    for run, other in said[1:]:
        if other != word:
            raise Refused(
                f"{first.file} and {run.file} differ in {what} ({word}, {other}), which a file says once. "
                f"Convert each to a file of its own."
            )


def _frame(run: AnswerRun, *, several: bool) -> pl.DataFrame:
    """The rows of one run as they are written, without columns that say nothing."""
    info = _INFO_TYPES if several else {}
    own = run.rows.select(
        *(name for name in ANSWER_SCHEMA if name != "row" and run.has(name)),
        (pl.col("row") - 1).alias(SOURCE_ROW),
        *(
            pl.lit(value, dtype).alias(name)
            for name, dtype in info.items()
            if (value := getattr(run.info, name)) is not None
        ),
    )
    names = _group_names(run)
    return own.hstack([run.others[name].cast(pl.String).alias(names[name]) for name in names])


def _group_names(run: AnswerRun) -> dict[str, str]:
    """Each column of groups and the name it is written under, where the format has its own already."""
    names: dict[str, str] = {}
    for column in run.others.columns:
        name = column
        while name in _TAKEN or name in names.values() or (name != column and name in run.others.columns):
            name += " (group)"
        names[column] = name
    return names


def _groups(runs: Sequence[AnswerRun], rows: pl.DataFrame) -> tuple[list[str], tuple[str, ...]]:
    """The columns of groups that can be read again, and a sentence on each other one."""
    names = dict.fromkeys(name for run in runs for name in _group_names(run).values())
    many = [name for name in names if rows[name].drop_nulls().n_unique() > MOST_GROUPS]
    kept = [name for name in names if name not in many]
    return kept[:MOST_COLUMNS], tuple(
        f"The column {name!r} is not written: together the runs have more groups than are read."
        for name in (*many, *kept[MOST_COLUMNS:])
    )


def _ordered(rows: pl.DataFrame, groups: Sequence[str]) -> list[str]:
    order = (*ANSWER_SCHEMA, SOURCE_ROW, *INFO_COLUMNS, *groups)
    return [name for name in dict.fromkeys(order) if name in rows.columns]


def _told(runs: Sequence[AnswerRun]) -> dict[str, object]:
    """What the metadata says of the runs: of one all that is known, of several what they have in common."""
    names = (*INFO_COLUMNS, *_OF_THE_FILE) if len(runs) == 1 else _OF_THE_FILE
    told: dict[str, object] = {
        name: value for name in names if (value := getattr(runs[0].info, name)) is not None
    }
    parts = {run.part_of for run in runs}
    return told | ({PART_OF: part} if len(parts) == 1 and (part := parts.pop()) else {})


def _reported(runs: Sequence[AnswerRun]) -> dict[str, object]:
    """The tool's own numbers: metric → value, for each run by its label where there are several; in full."""
    told = {
        run.label: {each.name: each.value for each in run.reported if each.subject is None}
        for run in runs
        if run.reported
    }
    if not told:
        return {}
    in_full = [_in_full(each, run) for run in runs for each in run.reported]
    return {REPORTED: told if len(runs) > 1 else next(iter(told.values())), IN_FULL: in_full}


def _in_full(each: Reported, run: AnswerRun) -> dict[str, object]:
    """One number with all that is known of it, and of which run it is.

    Rows that are left out cannot be told from those that are here any more, so it is said that they were.
    """
    left_out = run.ledger.left_out if each.rows is not None and each.subject is None else 0
    gone = f"{left_out:,} bad row{'s were' if left_out > 1 else ' was'} left out when it was converted."
    why = " ".join(part for part in (each.why, gone if left_out else "") if part)
    told: dict[str, object] = {name: getattr(run.info, name) for name in RUN_COLUMNS}
    told |= asdict(each) | {"why": why or None}
    return {name: value for name, value in told.items() if value is not None}


def _notes(runs: Sequence[AnswerRun]) -> Iterator[str]:
    """What happened to the rows between their file and this one."""
    for run in runs:
        of = f"{run.info.label('')}: " if len(runs) > 1 and run.info.label("") else ""
        ledger = run.ledger
        if ledger.left_out:
            yield f"{of}{ledger.left_out:,} of {ledger.read:,} rows were bad and are left out."
        for column, count in ledger.clipped.items():
            yield f"{of}{count:,} values of {column} were moved onto the edge of their range."
        yield from (f"{of}{note}" for note in ledger.notes)
