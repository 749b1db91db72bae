"""Where is something more frequent than elsewhere, over all groups of several columns?

Each group of rows is compared with all rows outside it by `group_difference`, and p is corrected for all
groups that were tried. Whether a row is labelled is an outcome like any other, as is whether a judge agrees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calib_core.inference.group_difference import GroupDifferences, compare_groups
from calib_core.inference.multiplicity import holm
from calib_core.inference.verdict import SIGNIFICANCE_LEVEL


@dataclass(frozen=True, slots=True)
class GroupContrast:
    """How often something is so in one group of rows, against all rows outside it.

    Attributes
    ----------
    column, group : str
        What sorts the rows into groups, and the group.
    n : int
        Rows in the group.
    difference, low, high : float
        Share in the group minus that in the other rows, and its 95 % interval.
    p, p_holm : float
        Two-sided, of no difference; corrected for all groups of all columns.
    """

    column: str
    group: str
    n: int
    difference: float
    low: float
    high: float
    p: float
    p_holm: float

    @property
    def is_clear(self) -> bool:
        """Whether the group differs beyond chance, given how many groups were tried."""
        return self.p_holm <= SIGNIFICANCE_LEVEL


Groups = Mapping[str, tuple[tuple[str, ...], NDArray[np.intp]]]
"""Column → names of its groups, and the group of each row, −1 for none."""


def contrast_groups(
    outcome: NDArray[np.bool_],
    groups: Groups,
    stratum: NDArray[np.intp] | None = None,
    cluster: NDArray[np.intp] | None = None,
) -> tuple[GroupContrast, ...]:
    """Compare each group of each column with all rows outside it.

    Parameters
    ----------
    outcome : NDArray[np.bool_], shape (n,)
        What is compared, such as whether a row is labelled.
    groups : Mapping
        As `Groups`.
    stratum : NDArray[np.intp], shape (n,), optional
        Rows are compared within strata, numbered from 0; all in one where omitted.
    cluster : NDArray[np.intp], shape (n,), optional
        Question of each row, numbered from 0; None where none is repeated.

    Returns
    -------
    tuple of GroupContrast
        Of groups with enough rows, smallest p first. Of two groups that hold all rows only the first is
        compared, as the second differs by as much the other way.
    """
    strata = np.zeros(outcome.size, np.intp) if stratum is None else stratum
    found: list[tuple[str, str, int, GroupDifferences, int]] = []
    for column, (names, group) in groups.items():
        placed = np.where(group < 0, len(names), group)
        count, differences = compare_groups(strata, outcome, placed, len(names), cluster)
        found += [
            (column, name, int(count[at]), differences, at)
            for at, name in enumerate(names[:1] if len(names) == 2 and (group >= 0).all() else names)
            if np.isfinite(differences.p[at])
        ]
    corrected = holm([float(of.p[at]) for _, _, _, of, at in found])
    contrasts = [
        GroupContrast(
            column,
            name,
            n,
            float(of.difference[at]),
            float(of.low[at]),
            float(of.high[at]),
            float(of.p[at]),
            p_holm,
        )
        for (column, name, n, of, at), p_holm in zip(found, corrected, strict=True)
    ]
    return tuple(sorted(contrasts, key=lambda one: one.p))
