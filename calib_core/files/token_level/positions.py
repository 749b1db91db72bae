"""What do the distributions of one run come to, read block by block beside their targets?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.files.reading import Reading
from calib_core.files.tables.raw import ReadProgress
from calib_core.files.tables.runs import Origin
from calib_core.files.token_level.alignment import DenseAlignment
from calib_core.files.token_level.arrays import BLOCK_BYTES, MAX_CLASSES, StoredArray
from calib_core.problems import BadCell, Problem, Refused, shorten
from calib_core.records import RowCounts, TokenRun
from calib_core.tokens.dense import DenseReducer
from calib_core.tokens.faults import PositionProblem
from calib_core.tokens.scales import ProbabilityScale

MAX_ALL_BAD_BYTES: Final = 64 * 2**20
"""Where all of so many bytes are bad, the rest is not read."""


@dataclass(frozen=True, slots=True, eq=False)
class DensePositions:
    """One run's arrays. values: floats of shape (T, K); target: whole numbers of shape (T,).

    scale: what the values are; origin: where they come from; label: what the run is called if nothing is
    known of it; columns, unused: the arrays of the file, and those of them that nothing is read from.
    """

    values: StoredArray
    target: StoredArray
    scale: ProbabilityScale
    origin: Origin
    label: str
    columns: tuple[str, ...]
    unused_columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raises Refused where the arrays cannot be such, or do not belong together."""
        _check_values(self.values)
        _check_target(self.target, self.values.shape[0])

    @property
    def n_positions(self) -> int:
        """T."""
        return self.values.shape[0]

    @property
    def n_classes(self) -> int:
        """K."""
        return self.values.shape[1]


def read_dense_positions(positions: DensePositions, progress: ReadProgress, notes: Sequence[str] = ()) -> Reading:
    """The one run of a file. notes: what is known already and has to be said with its numbers.

    Raises Refused where the arrays end early, or not one position is good.
    """
    reducer, alignment = _reduce_blocks(positions, progress)
    file, rows = positions.origin.file, positions.n_positions
    problems = _problems(positions, reducer.problems)
    if reducer.n_bad_rows + reducer.padding == rows:
        raise _nothing_usable(file, f"all {rows:,} positions are bad", problems)
    progress(1.0, f"{rows:,} positions read")
    ledger = RowCounts(
        n_rows=rows - reducer.padding,
        n_left_out=reducer.n_bad_rows,
        clipped=MappingProxyType({positions.values.name: reducer.clipped} if reducer.clipped else {}),
        n_off_sum=reducer.off_sum,
        notes=(*notes, *_position_notes(reducer.padding, alignment.shift_note)),
    )
    info = positions.origin.info
    run = TokenRun(
        file, positions.origin.format, info.label(positions.label), info, reducer.result(), ledger
    )
    return Reading(
        file=file,
        format=positions.origin.format,
        n_rows=rows,
        n_bad_rows=reducer.n_bad_rows,
        problems=problems,
        good_runs=(run,),
        columns=positions.columns,
        unused_columns=positions.unused_columns,
        proposed_mapping=MappingProxyType({}),
        notes=ledger.notes,
    )


def _reduce_blocks(positions: DensePositions, progress: ReadProgress) -> tuple[DenseReducer, DenseAlignment]:
    """Every block, added up. Memory holds one block, whatever the size of the file."""
    at_once = max(1, BLOCK_BYTES // positions.values.row_bytes)
    alignment, reducer, done = DenseAlignment(positions.scale), None, 0
    blocks = zip(positions.values.blocks(at_once), positions.target.blocks(at_once), strict=True)
    for values, stored in blocks:
        target = _as_int64(stored)
        if reducer is None:
            reducer = DenseReducer(positions.n_classes, scale=positions.scale)
        alignment.add(values, target)
        reducer.add(values, target)
        done += len(target)
        if reducer.n_bad_rows == done < positions.n_positions and done * positions.values.row_bytes >= MAX_ALL_BAD_BYTES:
            reason = f"the first {done:,} positions are all bad, and no more were read"
            raise _nothing_usable(positions.origin.file, reason, _problems(positions, reducer.problems))
        progress(done / positions.n_positions, f"{done:,} of {positions.n_positions:,} positions read")
    if reducer is None:
        raise Refused(f"{positions.origin.file} holds no positions: its arrays are empty.")
    return reducer, alignment


def _as_int64(stored: NDArray[Any]) -> NDArray[np.int64]:
    """Targets as int64; what is too large for it is as wrong as its largest."""
    if stored.dtype == np.uint64:
        stored = np.minimum(stored, np.uint64(np.iinfo(np.int64).max))
    return stored.astype(np.int64)


def _check_values(values: StoredArray) -> None:
    said, dtype = f"{values.file}: {values.name!r}", values.dtype
    if len(values.shape) != 2:
        hint = f" Save {values.name}.reshape(-1, {values.shape[-1]})." if len(values.shape) > 2 else ""
        raise Refused(
            f"{said} has the shape {values.shape}, and one row a position, one column a class is expected "
            f"(T × K).{hint}"
        )
    if dtype.kind != "f" or dtype.itemsize > 8:
        raise Refused(f"{said} holds {_dtype_text(dtype)}, and float16, float32 or float64 are expected.")
    if values.is_fortran and min(values.shape) > 1:
        raise Refused(
            f"{said} is stored column by column (Fortran order), so that no position can be read without "
            f"the others. Save numpy.ascontiguousarray({values.name})."
        )
    rows, classes = values.shape
    if not rows:
        raise Refused(f"{said} holds no positions: its shape is {values.shape}.")
    if not 2 <= classes <= MAX_CLASSES:
        raise Refused(
            f"{said} has {classes:,} classes (the second number of its shape {values.shape}), and 2 to "
            f"{MAX_CLASSES:,} are expected. Perhaps rows and columns are exchanged."
        )


def _check_target(target: StoredArray, rows: int) -> None:
    said = f"{target.file}: {target.name!r}"
    if target.dtype.kind not in "iu":
        raise Refused(
            f"{said} holds {_dtype_text(target.dtype)}, and whole numbers (the class that is right at each "
            f"position) are expected. Save {target.name}.astype('int64')."
        )
    if target.shape != (rows,):
        raise Refused(
            f"{said} has the shape {target.shape}, and one class for each of the {rows:,} positions is "
            f"expected: the shape ({rows},)."
        )


def _dtype_text(dtype: np.dtype[Any]) -> str:
    """What an array holds, and how it may have come to that."""
    if dtype.names:
        return "records of several fields"
    if (dtype.kind == "V" and dtype.itemsize == 2) or dtype == np.uint16:
        return f"{dtype} (perhaps bfloat16, which NumPy does not have: save it as float32)"
    return "complex numbers" if dtype.kind == "c" else f"{dtype}"


def _problems(positions: DensePositions, faults: Sequence[PositionProblem]) -> tuple[Problem, ...]:
    """The bad values by kind, the kind that comes first in the file first."""
    found = (_problem_of_fault(positions, fault) for fault in faults)
    return tuple(sorted(found, key=lambda problem: problem.first[0].row))


def _problem_of_fault(positions: DensePositions, fault: PositionProblem) -> Problem:
    column = positions.target.name if "target" in fault.kind else positions.values.name
    cells = (
        BadCell(positions.origin.file, row + 1, None, column, fault.expected, found, fault.fix)
        for row, found in fault.first
    )
    return Problem(fault.kind, fault.count, tuple(cells))


def _nothing_usable(file: str, reason: str, problems: Sequence[Problem]) -> Refused:
    listed = "".join(f"\n{shorten(str(cell), 300)}" for part in problems for cell in part.first[:2])
    return Refused(f"{file}: {reason}, so nothing in it can be used.{listed}")


def _position_notes(padding: int, shift_note: str | None) -> tuple[str, ...]:
    notes: list[str] = [] if shift_note is None else [shift_note]
    if padding:
        notes.append(f"{padding:,} targets are −100, which is padding: these rows are no positions.")
    return tuple(notes)
