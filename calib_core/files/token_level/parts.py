"""Which token-level runs are parts of one run, and what do they come to together?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import MappingProxyType

from calib_core.files.tables.runs import unique
from calib_core.problems import Refused
from calib_core.records import Ledger, RunInfo, TokenRun


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """A run that was added up. files: the files of its parts, in the order given."""

    run: TokenRun
    files: tuple[str, ...]


def wholes(runs: Iterable[TokenRun]) -> tuple[Whole, ...]:
    """The runs, those with one description and one label added up, each with a label of its own.

    Raises Refused where the parts of a run differ in their number of classes.
    """
    found: dict[tuple[RunInfo, str], Whole] = {}
    for run in runs:
        key = (run.info, run.label)
        found[key] = _with(found[key], run) if key in found else Whole(run, (run.file,))
    labels: set[str] = set()
    return tuple(_named(whole, unique(whole.run.label, labels)) for whole in found.values())


def _named(whole: Whole, label: str) -> Whole:
    """The whole under its own label, with a note on the files of its parts."""
    ledger, number = whole.run.ledger, len(whole.files)
    if number > 1:
        shown = ", ".join(whole.files[:5]) + (", …" if number > 5 else "")
        ledger = replace(ledger, notes=(*ledger.notes, f"Added up from {number:,} files: {shown}."))
    return replace(whole, run=replace(whole.run, label=label, ledger=ledger))


def _with(whole: Whole, part: TokenRun) -> Whole:
    """The whole and one part more."""
    one, other = whole.run.sums, part.sums
    if one.classes != other.classes:
        raise Refused(
            f"{whole.files[0]} and {part.file} are parts of the run {part.label!r}, and one has "
            f"{one.classes:,} classes, the other {other.classes:,}. If they are different runs, give each "
            f"its own metadata."
        )
    run = replace(whole.run, sums=one.merge(other), ledger=_together(whole.run.ledger, part.ledger))
    return Whole(run, tuple(dict.fromkeys((*whole.files, part.file))))


def _together(one: Ledger, other: Ledger) -> Ledger:
    return Ledger(
        read=one.read + other.read,
        left_out=one.left_out + other.left_out,
        clipped=MappingProxyType(dict(Counter(one.clipped) + Counter(other.clipped))),
        off_sum=one.off_sum + other.off_sum,
        notes=tuple(dict.fromkeys((*one.notes, *other.notes))),
    )
