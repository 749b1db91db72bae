"""Which run and which confidence methods are shown where nobody has chosen and not all can be?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods import METHODS

METHOD_PREFERENCE: Final = tuple(sorted(METHODS, key=lambda id_: METHODS[id_].display_rank))
"""Every method, those that differ most in how they come about first."""

MAX_DEFAULT_METHODS: Final = 3
"""So many at first: more are a tangle."""


def default_methods(
    usable: Collection[str], preference: Sequence[str] = METHOD_PREFERENCE, limit: int = MAX_DEFAULT_METHODS
) -> list[str]:
    """The first `most` of `among` that are usable, in the registry's order."""
    able = [id_ for id_ in dict.fromkeys(preference) if id_ in usable][:limit]
    return [id_ for id_ in METHODS if id_ in able]


def default_run(n_used: Mapping[str, int]) -> str:
    """The first run with rows enough to be judged, or else the one with the most rows.

    used: by run, in order, the rows with a confidence and an outcome; one run or more.
    """
    enough = (run for run, rows in n_used.items() if rows >= MIN_ROWS)
    return next(enough, max(n_used, key=n_used.__getitem__))
