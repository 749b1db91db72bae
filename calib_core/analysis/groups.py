"""Which subjects, categories, runs are off?  Runs and a grouping → the metric of every group.

The questions of the MMLU replication after Kadavath et al. 2022: by subject, shots, size and tuning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from calib_core.analysis.bootstrap import interval
from calib_core.analysis.contrasts import contrasts
from calib_core.analysis.evidence import AnswerEvidence, metric_of
from calib_core.analysis.families import in_full, short_names
from calib_core.analysis.groupings import Grouping, level_of, level_order, row_groups
from calib_core.analysis.groups_reading import chance_of, read_contrasts, read_range
from calib_core.analysis.groups_result import Group, Groups, Sort
from calib_core.analysis.limits import FEW
from calib_core.analysis.restricted import restricted
from calib_core.analysis.score import scheme_for, score
from calib_core.bins import Scheme
from calib_core.metrics.metric import Metric
from calib_core.problems import Unavailable

__all__ = ["Group", "Groups", "Sort", "by_rows", "by_runs", "parts_of"]

Progress = Callable[[float], None]
"""Told the share of the work that is done, in [0, 1]."""


def _silent(_share: float) -> None:
    """Tells nobody."""


def by_rows(
    seen: Mapping[str, AnswerEvidence],
    grouping: Grouping,
    metric_id: str,
    scheme: Scheme | None = None,
    *,
    titles: Mapping[str, str] | None = None,
    sort: Sort = "value",
    progress: Progress = _silent,
) -> Groups:
    """The groups of the rows of each run; a run is a series.

    titles: key → what the run is called in full, its label if not said. Raises Unavailable for an unknown
    metric.
    """
    metric = metric_of(metric_id)
    scheme = scheme_for(metric, scheme or Scheme())
    names = _names(seen, titles)
    groups: list[Group] = []
    overall: dict[str, float | None] = {}
    without: dict[str, int] = {}
    refused: dict[str, str] = {}
    for at, (key, evidence) in enumerate(seen.items()):
        try:
            own = _of_rows(
                key, evidence, grouping, (metric, scheme),
                lambda share, at=at: progress((at + share) / len(seen)),
            )
        except Unavailable as why:
            refused[key] = str(why)
            continue
        groups += own
        overall[key] = metric.of(evidence.sums_for(metric, scheme), scheme)
        without[key] = evidence.n_used - sum(group.n_used for group in own)
    series = {key: names[key] for key in seen if key not in refused}
    return Groups(
        metric_id, scheme, grouping, series, tuple(groups), overall, without, refused, (),
        chance_of(metric, [(group.low, group.high, overall[group.run]) for group in groups]),
        _range_of(metric, grouping, _in_full(series, seen), groups, overall),
    ).sorted(sort)


def by_runs(
    seen: Mapping[str, AnswerEvidence],
    grouping: Grouping,
    metric_id: str,
    scheme: Scheme | None = None,
    *,
    titles: Mapping[str, str] | None = None,
    sort: Sort = "value",
    against: str | None = None,
    progress: Progress = _silent,
) -> Groups:
    """One dot a run; a level of the fact is a series. titles, errors: as in `by_rows`."""
    metric = metric_of(metric_id)
    scheme = scheme_for(metric, scheme or Scheme())
    infos = {key: evidence.run.info for key, evidence in seen.items()}
    names = _names(seen, titles)
    groups: list[Group] = []
    refused: dict[str, str] = {}
    for key, evidence in seen.items():
        level, reason = level_of(infos[key], grouping.id), evidence.refusal(metric, scheme)
        if level is None or reason:
            refused[key] = reason or f"Its file says nothing of its {grouping.title}."
            continue
        try:
            groups.append(_group(key, level, names[key], evidence, metric, scheme))
        except Unavailable as why:
            refused[key] = str(why)
        progress((len(groups) + len(refused)) / (len(seen) + 1))
    shown = {group.run: seen[group.run] for group in groups}
    levels = level_order({key: infos[key] for key in shown}, grouping.id)
    compared = contrasts(shown, grouping.id, metric_id, scheme, against=against)
    return Groups(
        metric_id, scheme, grouping, {level: level for level in levels}, tuple(groups), {},
        {}, refused, compared, None,
        read_contrasts(metric, compared, {infos[key].model or names[key] for key in shown}),
    ).sorted(sort)


def _range_of(
    metric: Metric,
    grouping: Grouping,
    titles: Mapping[str, str],
    groups: Sequence[Group],
    overall: Mapping[str, float | None],
) -> str:
    """The smallest and the largest number, in one sentence."""
    dots = {key: [(one.name, one.value, one.n_used) for one in groups if one.run == key] for key in titles}
    return read_range(metric, grouping.title, titles, dots, overall)


def _names(seen: Mapping[str, AnswerEvidence], titles: Mapping[str, str] | None) -> dict[str, str]:
    """What each run is called for short."""
    infos = {key: evidence.run.info for key, evidence in seen.items()}
    return short_names(infos, titles or {key: evidence.run.label for key, evidence in seen.items()})


def _in_full(names: Mapping[str, str], seen: Mapping[str, AnswerEvidence]) -> dict[str, str]:
    """What each run is called in a sentence."""
    return {key: in_full(name, seen[key].run.info) for key, name in names.items()}


def _of_rows(
    run: str,
    evidence: AnswerEvidence,
    grouping: Grouping,
    number: tuple[Metric, Scheme],
    progress: Progress,
) -> list[Group]:
    """The groups of one run's rows; raises Unavailable with the reason where there are none."""
    if reason := evidence.refusal(*number):
        raise Unavailable(reason)
    parts = parts_of(evidence, grouping)
    if not parts:
        raise Unavailable(f"Its rows have no {grouping.title}.")
    groups: list[Group] = []
    for at, (name, part) in enumerate(parts.items()):
        groups.append(_group(run, run, name, part, *number))
        progress((at + 1) / len(parts))
    return groups


def parts_of(evidence: AnswerEvidence, grouping: Grouping) -> dict[str, AnswerEvidence]:
    """Group → the evidence of its rows, in the order in which groups occur; rows in no group are in none."""
    rows = row_groups(evidence.run, grouping).to_frame("group").with_row_index("at").drop_nulls("group")
    return {
        str(name): restricted(evidence, part["at"].to_numpy().astype(np.intp))
        for (name,), part in rows.partition_by("group", as_dict=True, maintain_order=True).items()
    }


def _group(
    run: str, series: str, name: str, part: AnswerEvidence, metric: Metric, scheme: Scheme
) -> Group:
    number = score(part, metric.id, scheme)
    ends = interval(part, metric.id, scheme)
    said, right = part.mean_confidence, part.accuracy
    return Group(
        run=run, series=series, name=name, value=number.value,
        low=None if ends is None else ends.low,
        high=None if ends is None else ends.high,
        how=None if ends is None else ends.how,
        n_used=part.n_used, n_total=part.n_total, accuracy=right, mean_confidence=said,
        bias=None if said is None or right is None else said - right,
        null_median=number.null_median,
        p=number.p,
        draws=number.draws,
        small=part.n_used < FEW,
        recipe=number.recipe,
    )
