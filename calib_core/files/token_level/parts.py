"""Which token-level runs are parts of one run, and what do they come to together?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import MappingProxyType

from calib_core.files.tables.runs import unique_label
from calib_core.problems import Refused
from calib_core.records import RowCounts, RunInfo, TokenRun


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
    return replace(merged, run=replace(merged.run, label=label, ledger=ledger))


def _add_part(merged: MergedTokenRun, part: TokenRun) -> MergedTokenRun:
    """The whole and one part more."""
    one, other = merged.run.sums, part.sums
    if one.classes != other.classes:
        raise Refused(
            f"{merged.files[0]} and {part.file} are parts of the run {part.label!r}, and one has "
            f"{one.classes:,} classes, the other {other.classes:,}. If they are different runs, give each "
            f"its own metadata."
        )
    run = replace(merged.run, sums=one.merge(other), ledger=_add_ledgers(merged.run.row_counts, part.row_counts))
    return MergedTokenRun(run, tuple(dict.fromkeys((*merged.files, part.file))))


def _add_ledgers(first: RowCounts, second: RowCounts) -> RowCounts:
    return RowCounts(
        n_rows=first.n_rows + second.n_rows,
        n_left_out=first.n_left_out + second.n_left_out,
        clipped=MappingProxyType(dict(Counter(first.clipped) + Counter(second.clipped))),
        n_off_sum=first.n_off_sum + second.n_off_sum,
        notes=tuple(dict.fromkeys((*first.notes, *second.notes))),
    )
