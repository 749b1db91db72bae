"""Which files beside each other are one pair of arrays: `X.probs.npy`, `X.target.npy`, `X.meta.json`?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from calib_core.problems import Refused
from calib_core.tokens.scales import Scale

SCALES: Final[tuple[Scale, ...]] = ("probs", "logprobs", "logits")
"""What an array of distributions may hold, and so is called."""

TARGET: Final = "target.npy"
META: Final = "meta.json"
COLUMNS: Final = "columns.npy"
"""Sums by class of a file of top lists, named in its metadata."""

_SAVE: Final = (
    "Save the distributions as X.probs.npy (or X.logprobs.npy, X.logits.npy) and the right classes as "
    "X.target.npy beside it, or both in one archive: numpy.savez(file, probs=…, target=…)."
)


@dataclass(frozen=True, slots=True)
class Pair:
    """The files of one pair. scale: what the values are; meta: None where there is none."""

    scale: Scale
    values: Path
    target: Path
    meta: Path | None


def is_partner(path: Path) -> bool:
    """Whether a file is only the target, the metadata or the sums by class of a file beside it."""
    return main_of(path) is not None or _stem(path, COLUMNS) is not None


def main_of(path: Path) -> Path | None:
    """The array that this file is the target or the metadata of; None where it is none, or stands alone."""
    for ending in (TARGET, META):
        if (stem := _stem(path, ending)) is not None:
            names = (path.with_name(f"{stem}{scale}.npy") for scale in SCALES)
            return next((name for name in names if name.is_file()), None)
    return None


def companions(path: Path) -> tuple[Path, ...]:
    """The other files that are read with this one, if it begins a pair; () where it stands alone."""
    for scale in SCALES:
        if (stem := _stem(path, f"{scale}.npy")) is not None:
            return (path.with_name(stem + TARGET), path.with_name(stem + META))
    return ()


def pair_of(path: Path, file: str) -> Pair:
    """The pair that an array's file begins. file: as messages call it.

    Raises Refused where its name says nothing of what it holds, or where its target is not there or is a
    link that leads to another folder than the array's own.
    """
    for scale in SCALES:
        if (stem := _stem(path, f"{scale}.npy")) is not None:
            target, meta = path.with_name(stem + TARGET), path.with_name(stem + META)
            if not beside(path, target):
                raise Refused(f"{file} needs the file {target.name} beside it, which is not there. {_SAVE}")
            return Pair(scale, path, target, meta if beside(path, meta) else None)
    if (main := main_of(path)) is not None:
        raise Refused(f"{file} belongs to {main.name}: open that file, and this one is read with it.")
    raise Refused(f"{file} is one NumPy array, and nothing says what it holds. {_SAVE}")


def _stem(path: Path, ending: str) -> str | None:
    """What stands before the ending, with the full stop after it; None where the name ends otherwise."""
    name = path.name
    if name.lower() == ending:
        return ""
    return name[: -len(ending)] if name.lower().endswith(f".{ending}") else None


def beside(path: Path, partner: Path) -> bool:
    """Whether the partner is a file in the array's folder, links followed: none may lead elsewhere."""
    try:
        folders = (path.parent.resolve(), path.resolve().parent)
        return partner.is_file() and partner.resolve().parent in folders
    except (OSError, RuntimeError):
        return False
