"""Small group results, put together by hand, for the tests of the dot plot."""

from __future__ import annotations

from calib_core.edges import Scheme
from calib_core.inference.verdict import Verdict, judge
from calib_core.results.groups import Group, GroupBy, GroupResults, RestDifference


def make_group(  # noqa: PLR0913 - one argument a field
    name: str,
    value: float | None,
    *,
    run: str = "r",
    series: str | None = None,
    n: int = 100,
    low: float | None = None,
    high: float | None = None,
    null: float | None = None,
    verdict: Verdict | None = None,
    q: float | None = None,
    rest: RestDifference | None = None,
    gap: float = 0.1,
) -> Group:
    """One dot; its interval only where both ends are given; the verdict is on too few rows by default."""
    return Group(
        run=run,
        series=series or run,
        name=name,
        value=value,
        low=low,
        high=high,
        interval_method=None if low is None else "basic bootstrap 95 %",
        n_used=n,
        n_total=n,
        accuracy=0.5,
        mean_confidence=0.5 + gap,
        bias=gap,
        bias_low=gap - 0.05,
        bias_high=gap + 0.05,
        null_median=null,
        debiased=None,
        verdict=verdict or judge([0.5], [1]),
        q=q,
        rest=rest,
        has_few_rows=n < 30,
        recipe="ECE-L1",
    )


def make_groups(
    *groups: Group, metric: str = "ece", of: str = "rows", overall: dict[str, float | None] | None = None
) -> GroupResults:
    """A result of these dots, its series in their order."""
    series = {group.series: group.series for group in groups}
    return GroupResults(
        metric=metric,
        scheme=Scheme(),
        group_by=GroupBy("subject", "subject", "rows" if of == "rows" else "runs"),
        series=series,
        groups=groups,
        overall=overall or {},
        n_ungrouped={},
        unavailable={},
        contrasts=(),
        headline="Both groups by subject are over-confident.",
    )
