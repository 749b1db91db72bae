"""Which subjects, categories, runs are off?  Runs and a grouping → the metric of every group.

The questions of the MMLU replication after Kadavath et al. 2022: by subject, shots, size and tuning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from calib_core.analysis.bootstrap import metric_interval
from calib_core.analysis.contrasts import paired_contrasts
from calib_core.analysis.evidence import AnswerEvidence, get_metric
from calib_core.analysis.families import name_with_model, short_run_names
from calib_core.analysis.groupings import GroupBy, fact_level, ordered_levels, row_groups
from calib_core.analysis.groups_reading import chance_expectation, contrasts_headline, groups_headline
from calib_core.analysis.groups_result import Group, GroupResults, GroupOrder
from calib_core.analysis.limits import MIN_ROWS
from calib_core.analysis.restricted import restrict_rows
from calib_core.analysis.score import effective_scheme, score
from calib_core.bins import Scheme
from calib_core.metrics.metric import Metric
from calib_core.problems import Unavailable

__all__ = ["Group", "Groups", "Sort", "by_rows", "by_runs", "parts_of"]

ShareProgress = Callable[[float], None]
"""Told the share of the work that is done, in [0, 1]."""


def _no_progress(_share: float) -> None:
    """Tells nobody."""


def groups_of_rows(
    evidences: Mapping[str, AnswerEvidence],
    group_by: GroupBy,
    metric_id: str,
    scheme: Scheme | None = None,
    *,
    titles: Mapping[str, str] | None = None,
    order: GroupOrder = "value",
    progress: ShareProgress = _no_progress,
) -> GroupResults:
    """The groups of the rows of each run; a run is a series.

    titles: key → what the run is called in full, its label if not said. Raises Unavailable for an unknown
    metric.
    """
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    names = _group_run_names(evidences, titles)
    groups: list[Group] = []
    overall: dict[str, float | None] = {}
    without: dict[str, int] = {}
    refused: dict[str, str] = {}
    for at, (key, evidence) in enumerate(evidences.items()):
        try:
            own = _groups_of_one_run(
                key, evidence, group_by, (metric, scheme),
                lambda share, at=at: progress((at + share) / len(evidences)),
            )
        except Unavailable as why:
            refused[key] = str(why)
            continue
        groups += own
        overall[key] = metric.compute(evidence.sums_for(metric, scheme), scheme)
        without[key] = evidence.n_used - sum(group.n_used for group in own)
    series = {key: names[key] for key in evidences if key not in refused}
    return GroupResults(
        metric_id, scheme, group_by, series, tuple(groups), overall, without, refused, (),
        chance_expectation(metric, [(group.low, group.high, overall[group.run]) for group in groups]),
        _row_groups_headline(metric, group_by, _names_with_models(series, evidences), groups, overall),
    ).sorted_by(order)


def groups_of_runs(
    evidences: Mapping[str, AnswerEvidence],
    group_by: GroupBy,
    metric_id: str,
    scheme: Scheme | None = None,
    *,
    titles: Mapping[str, str] | None = None,
    order: GroupOrder = "value",
    reference: str | None = None,
    progress: ShareProgress = _no_progress,
) -> GroupResults:
    """One dot a run; a level of the fact is a series. titles, errors: as in `by_rows`."""
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    infos = {key: evidence.run.info for key, evidence in evidences.items()}
    names = _group_run_names(evidences, titles)
    groups: list[Group] = []
    refused: dict[str, str] = {}
    for key, evidence in evidences.items():
        level, reason = fact_level(infos[key], group_by.id), evidence.unavailable_reason(metric, scheme)
        if level is None or reason:
            refused[key] = reason or f"Its file says nothing of its {group_by.title}."
            continue
        try:
            groups.append(_measure_group(key, level, names[key], evidence, metric, scheme))
        except Unavailable as why:
            refused[key] = str(why)
        progress((len(groups) + len(refused)) / (len(evidences) + 1))
    shown = {group.run: evidences[group.run] for group in groups}
    levels = ordered_levels({key: infos[key] for key in shown}, group_by.id)
    compared = paired_contrasts(shown, group_by.id, metric_id, scheme, reference=reference)
    return GroupResults(
        metric_id, scheme, group_by, {level: level for level in levels}, tuple(groups), {},
        {}, refused, compared, None,
        contrasts_headline(metric, compared, {infos[key].model or names[key] for key in shown}),
    ).sorted_by(order)


def _row_groups_headline(
    metric: Metric,
    group_by: GroupBy,
    titles: Mapping[str, str],
    groups: Sequence[Group],
    overall: Mapping[str, float | None],
) -> str:
    """The smallest and the largest number, in one sentence."""
    dots = {key: [(one.name, one.value, one.n_used) for one in groups if one.run == key] for key in titles}
    return groups_headline(metric, group_by.title, titles, dots, overall)


def _group_run_names(evidences: Mapping[str, AnswerEvidence], titles: Mapping[str, str] | None) -> dict[str, str]:
    """What each run is called for short."""
    infos = {key: evidence.run.info for key, evidence in evidences.items()}
    return short_run_names(infos, titles or {key: evidence.run.label for key, evidence in evidences.items()})


def _names_with_models(names: Mapping[str, str], evidences: Mapping[str, AnswerEvidence]) -> dict[str, str]:
    """What each run is called in a sentence."""
    return {key: name_with_model(name, evidences[key].run.info) for key, name in names.items()}


def _groups_of_one_run(
    run: str,
    evidence: AnswerEvidence,
    group_by: GroupBy,
    metric_and_scheme: tuple[Metric, Scheme],
    progress: ShareProgress,
) -> list[Group]:
    """The groups of one run's rows; raises Unavailable with the reason where there are none."""
    if reason := evidence.unavailable_reason(*metric_and_scheme):
        raise Unavailable(reason)
    parts = split_by_group(evidence, group_by)
    if not parts:
        raise Unavailable(f"Its rows have no {group_by.title}.")
    groups: list[Group] = []
    for at, (name, part) in enumerate(parts.items()):
        groups.append(_measure_group(run, run, name, part, *metric_and_scheme))
        progress((at + 1) / len(parts))
    return groups


def split_by_group(evidence: AnswerEvidence, group_by: GroupBy) -> dict[str, AnswerEvidence]:
    """Group → the evidence of its rows, in the order in which groups occur; rows in no group are in none."""
    rows = row_groups(evidence.run, group_by).to_frame("group").with_row_index("at").drop_nulls("group")
    return {
        str(name): restrict_rows(evidence, part["at"].to_numpy().astype(np.intp))
        for (name,), part in rows.partition_by("group", as_dict=True, maintain_order=True).items()
    }


def _measure_group(
    run: str, series: str, name: str, evidence: AnswerEvidence, metric: Metric, scheme: Scheme
) -> Group:
    number = score(evidence, metric.id, scheme)
    ends = metric_interval(evidence, metric.id, scheme)
    said, right = evidence.mean_confidence, evidence.accuracy
    return Group(
        run=run, series=series, name=name, value=number.value,
        low=None if ends is None else ends.low,
        high=None if ends is None else ends.high,
        how=None if ends is None else ends.interval_method,
        n_used=evidence.n_used, n_total=evidence.n_total, accuracy=right, mean_confidence=said,
        bias=None if said is None or right is None else said - right,
        null_median=number.null_median,
        p=number.p,
        draws=number.draws,
        small=evidence.n_used < MIN_ROWS,
        recipe=number.recipe,
    )
