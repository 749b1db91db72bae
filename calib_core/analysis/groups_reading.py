"""What do the numbers of many groups say, and how much of it would chance alone say?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from calib_core.analysis.contrasts import Contrast
from calib_core.analysis.intervals import interval_contains
from calib_core.metrics.metric import Metric
from calib_core.wording import plural, format_number, format_signed, format_interval

NOMINAL_COVERAGE: Final = (95, 95)
"""Percent of intervals that hold the true value, where they hold what they promise; Wilson's do."""


@dataclass(frozen=True, slots=True)
class ChanceExpectation:
    """outside: intervals that do not hold the value of their whole run; of: how many there are."""

    metric: Metric
    n_outside: int
    n_intervals: int

    @property
    def expected_range(self) -> tuple[float, float]:
        """How many would not if all groups were alike: the fewest and the most, by simulations."""
        least, most = self.metric.bootstrap_coverage or NOMINAL_COVERAGE
        return (100 - most) / 100 * self.n_intervals, (100 - least) / 100 * self.n_intervals

    @property
    def sentence(self) -> str:
        """Both counts in one sentence."""
        verb = "does" if self.n_outside == 1 else "do"
        return (
            f"{self.n_outside} of {self.n_intervals} intervals {verb} not hold the value of the whole run; if all "
            f"groups were alike, {self._expectation_clause}."
        )

    @property
    def _expectation_clause(self) -> str:
        fewest, most = self.expected_range
        if held := self.metric.bootstrap_coverage:
            return (
                f"about {fewest:.1f} to {most:.1f} of {self.n_intervals} would not by chance alone: in simulations "
                f"intervals of {self.metric.title_in_sentence} held the truth in {held[0]} to {held[1]} % of data "
                "sets"
            )
        wilson = self.metric.interval_method == "wilson"
        sure = "" if wilson else ", and more where intervals hold less than they promise"
        return f"about {most:.1f} of {self.n_intervals} would not by chance alone (5 %{sure})"


def chance_expectation(
    metric: Metric, groups: Sequence[tuple[float | None, float | None, float | None]]
) -> ChanceExpectation | None:
    """groups: (low, high, value of the whole run) of each group; None with fewer than two intervals."""
    known = [
        (low, high, whole) for low, high, whole in groups
        if low is not None and high is not None and whole is not None
    ]
    if len(known) < 2:
        return None
    outside = sum(not interval_contains(low, high, whole) for low, high, whole in known)
    return ChanceExpectation(metric, outside, len(known))


def groups_headline(
    metric: Metric,
    group_title: str,
    titles: Mapping[str, str],
    groups: Mapping[str, Sequence[tuple[str, float | None, int]]],
    overall: Mapping[str, float | None],
) -> str:
    """The smallest and the largest number.

    By key of the run, titles: what it is called; groups: (name, value, n) of each; overall: the value of the
    whole run.
    """
    known = [
        (value, name, titles[key], n) for key, own in groups.items() for name, value, n in own
        if value is not None
    ]
    if not known:
        return f"No group here has a defined {metric.title_in_sentence}."
    ends = [
        f"{format_number(value)} ({name}{f' of {title}' if len(groups) > 1 else ''}, n = {n:,})"
        for value, name, title, n in (min(known), max(known))
    ]
    told = f"{metric.title} by {group_title}{f' in {len(groups)} runs' if len(groups) > 1 else ''}"
    whole = next(iter(overall.values())) if len(overall) == 1 else None
    tail = "" if whole is None else f"; of the whole run {format_number(whole)}"
    if len(known) == 1:
        return f"{told}: {ends[0]}{tail}."
    shown = {format_number(value) for value, *_ in known}
    if len(shown) == 1:
        return f"{told}: {shown.pop()} throughout{tail}."
    return f"{told}: from {ends[0]} to {ends[1]}{tail}."


def contrasts_headline(metric: Metric, contrasts: Sequence[Contrast], models: Collection[str]) -> str:
    """Every paired difference with its interval, and whether that holds 0.

    models: those of all runs, of which a single one is named.
    """
    of = f" of {next(iter(models))}" if len(models) == 1 else ""
    told = [
        f"{contrast.level} − {contrast.reference}{of}: {metric.title} {format_signed(found.value)} "
        f"({format_interval(found.low, found.high, '+.4f')}) on {plural(found.n_questions, 'question')}; "
        + ("the interval holds 0." if interval_contains(found.low, found.high, 0) else "the interval does not hold 0.")
        for contrast in contrasts
        if (found := contrast.difference) is not None
    ]
    return " ".join(told) or "No two runs here can be compared question by question."
