"""Which run and which confidence methods are shown where nobody has chosen and not all can be?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from calib_core.analysis.limits import FEW
from calib_core.confidence import METHODS

PREFERRED: Final = tuple(sorted(METHODS, key=lambda id_: METHODS[id_].rank))
"""Every method, those that differ most in how they come about first."""

MOST: Final = 3
"""So many at first: more are a tangle."""


def preferred(usable: Collection[str], among: Sequence[str] = PREFERRED, most: int = MOST) -> list[str]:
    """The first `most` of `among` that are usable, in the registry's order."""
    able = [id_ for id_ in dict.fromkeys(among) if id_ in usable][:most]
    return [id_ for id_ in METHODS if id_ in able]


def telling(used: Mapping[str, int]) -> str:
    """The first run with rows enough to be judged, or else the one with the most rows.

    used: by run, in order, the rows with a confidence and an outcome; one run or more.
    """
    enough = (run for run, rows in used.items() if rows >= FEW)
    return next(enough, max(used, key=used.__getitem__))
