"""What is known of many groups: one number each, with its interval, on how many rows?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Final, Literal

import polars as pl

from calib_core.analysis.contrasts import Contrast
from calib_core.analysis.groupings import GroupBy
from calib_core.analysis.groups_reading import ChanceExpectation
from calib_core.bins import Scheme

GroupOrder = Literal["value", "name", "n"]


@dataclass(frozen=True, slots=True)
class Group:
    """One dot.

    run: key of the run; series: key in `Groups.series` (the run, or the level of a fact); name: of the group,
    or what the run is called for short; value: the metric, None where it is not defined; low, high: its
    interval, None where there is none, how: of what kind; n_used: rows, n_total: of them in the file;
    accuracy, mean_confidence, bias: of the top label; null_median, p, draws: as in `score.Score`; small:
    fewer than FEW rows.
    """

    run: str
    series: str
    name: str
    value: float | None
    low: float | None
    high: float | None
    how: str | None
    n_used: int
    n_total: int
    accuracy: float | None
    mean_confidence: float | None
    bias: float | None
    null_median: float | None
    p: float | None
    draws: int | None
    small: bool
    recipe: str


@dataclass(frozen=True, slots=True, eq=False)
class GroupResults:
    """The metric of every group.

    series: key → title, in order; groups: sorted, those of one name together; overall: run → the metric of
    the whole run, of a grouping of rows; without: run → rows in no group; refused: run → why it has no dots;
    contrasts: of a grouping of runs; chance: None where nothing can be said of it; reading: one sentence.
    """

    metric: str
    scheme: Scheme
    group_by: GroupBy
    series: Mapping[str, str]
    groups: tuple[Group, ...]
    overall: Mapping[str, float | None]
    n_ungrouped: Mapping[str, int]
    unavailable: Mapping[str, str]
    contrasts: tuple[Contrast, ...]
    chance_expectation: ChanceExpectation | None
    headline: str

    def sorted_by(self, group_order: GroupOrder) -> GroupResults:
        """The same groups in another order, those of one name together, placed by the first of them.

        sort: the largest number first ("value"), the most rows first ("n"), or by name.
        """
        first: dict[str, Group] = {}
        for group in self.groups:
            first.setdefault(group.name, group)
        order = sorted(self.groups, key=lambda group: _sort_key(first[group.name], group_order))
        return replace(self, groups=tuple(order))

    @property
    def recipe(self) -> str:
        """How all numbers were made: what their recipes share, on how many rows, and what differs."""
        made = [group.recipe.split(", ") for group in self.groups]
        if len(made) < 2:
            return self.groups[0].recipe if self.groups else ""
        bare = [[part.partition(" (")[0] for part in parts] for parts in made]
        told: list[str] = []
        for part, short in zip(made[0], bare[0], strict=True):
            if all(part in parts for parts in made):
                told.append(part)
            elif all(short in parts for parts in bare):
                told.append(short)
            elif short.startswith("n="):
                used = [group.n_used for group in self.groups]
                told.append(f"n={min(used)} to {max(used)}" if min(used) < max(used) else f"n={used[0]}")
        differing = dict.fromkeys(
            part for parts in made for part in parts
            if part not in told and part.partition(" (")[0] not in told and not part.startswith("n=")
        )
        tail = f"; differing: {', '.join(differing)}" if differing else ""
        return f"each {'group' if self.group_by.target == 'rows' else 'run'}: {', '.join(told)}{tail}"

    def group_key(self, group: Group) -> str:
        """What a dot is of: the group by its name, or the run by its key where runs are what is sorted."""
        return group.name if self.group_by.target == "rows" else group.run

    def highest_groups(self, limit: int) -> list[str]:
        """At most so many, each by its `key`, the largest number first, those of few rows last."""
        best: dict[str, tuple[bool, float]] = {}
        for group in self.groups:
            if group.value is not None and not math.isnan(group.value):
                key = self.group_key(group)
                best[key] = min(best.get(key, (True, math.inf)), (group.small, -group.value))
        return sorted(best, key=best.__getitem__)[:limit]

    def to_frame(self) -> pl.DataFrame:
        """One row a group: the fields of `Group`, series by its title."""
        rows = [asdict(group) | {"series": self.series[group.series]} for group in self.groups]
        return pl.DataFrame(rows, schema=_GROUP_SCHEMA)


def _sort_key(leader: Group, order: GroupOrder) -> tuple[float, str]:
    if order == "name":
        return 0.0, leader.name.casefold()
    number = leader.value if order == "value" else float(leader.n_used)
    undefined = number is None or math.isnan(number)
    return (math.inf if undefined else -float(number or 0)), leader.name.casefold()


_GROUP_SCHEMA: Final[Mapping[str, type[pl.DataType]]] = {
    "run": pl.String, "series": pl.String, "name": pl.String, "value": pl.Float64, "low": pl.Float64,
    "high": pl.Float64, "how": pl.String, "n_used": pl.Int64, "n_total": pl.Int64, "accuracy": pl.Float64,
    "mean_confidence": pl.Float64, "bias": pl.Float64, "null_median": pl.Float64, "p": pl.Float64,
    "draws": pl.Int64, "small": pl.Boolean, "recipe": pl.String,
}
