"""What does a HELM run hold?  Its scenario_state.json, or per_instance_stats.json, with the others beside.

Of one run's folder either file can be read. The states say more, and take the outcomes from the statistics.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from calib_core.readers.eval_logs import LogTable, read_log_records, read_log_table
from calib_core.readers.format import Format, Head, Reading
from calib_core.readers.helm.instances import (
    OUTCOME_METRICS,
    HelmInstance,
    InstanceKey,
    RunSpec,
    add_outcome,
    instance_entries,
    instance_means,
    instance_notes,
    instances_of_states,
    main_split,
    outcome_metric,
    parse_run_spec,
    perturbation_name,
    read_companion,
    refuse_without_logprobs,
    reported_means,
    trial_number,
)
from calib_core.readers.json_values import as_integer, as_list, as_name, as_object
from calib_core.readers.table.raw import BrokenRecord, ReadProgress
from calib_core.readers.table.run_split import file_stem
from calib_core.runs import ReportedMetric

STATE_KEYS: Final = frozenset({"adapter_spec", "request_states"})
STATS_KEYS: Final = frozenset({"instance_id", "stats"})

_COLUMN_ROLES: Final = {
    "instance_id": "id",
    "max_prob": "confidence",
    "tokens": "path_logprobs",
    "logprobs": "choice_logprobs",
}
_REFERENCE_OUTCOME: Final = "as references"
"""The outcome where HELM's own is not beside: the answer is one of the right references."""


def recognises(head: Head) -> bool:
    """Whether the file is a HELM run's states or statistics of its instances."""
    if _is_scenario_state(head):
        return True
    return head.kind in ("json list", "json lines") and any(
        each.keys() >= STATS_KEYS and isinstance(each["stats"], list) for each in head.first_objects
    )


def _is_scenario_state(head: Head) -> bool:
    """Whether the file is one object, on one line or several, with the states of requests."""
    one = head.kind in ("json object", "json lines") and len(head.first_objects) == 1
    return one and head.first_objects[0].keys() >= STATE_KEYS


def read(head: Head, mapping: Mapping[str, str], progress: ReadProgress) -> Reading:
    """The runs of a HELM file. See `format.Read`."""
    run_spec = as_object(read_companion(head.companions, "run_spec.json"))
    if _is_scenario_state(head):
        head = replace(head, kind="json object")
        spec = parse_run_spec(run_spec, as_object(head.first_objects[0].get("adapter_spec")))
        found, outcome = _read_states(head, spec)
        spec = _with_shots(spec, head)
    else:
        spec = parse_run_spec(run_spec, {})
        found, outcome = _read_stats(head, spec)
    columns = _COLUMN_ROLES | {outcome or _REFERENCE_OUTCOME: "correct"}
    if outcome is not None:
        for item in found:
            item.fields.pop(_REFERENCE_OUTCOME, None)
    log = LogTable(
        instance_entries(found, spec), columns, spec.info, _reported_metrics(head, spec, found, outcome)
    )
    reading = read_log_table(head, HELM.id, log, mapping, progress)
    told = (*reading.notes, *instance_notes(found, spec, outcome))
    return refuse_without_logprobs(replace(reading, notes=told), found)


def _read_states(head: Head, spec: RunSpec) -> tuple[list[HelmInstance], str | None]:
    """The instances of scenario_state.json, and the metric that says right or wrong, if it is beside."""
    means: dict[InstanceKey, Mapping[str, object]] = {}
    for record in map(as_object, as_list(read_companion(head.companions, "per_instance_stats.json"))):
        key = _stats_key(record)
        means[key], _ = instance_means(record.get("stats"), key[2])
    outcome = outcome_metric(
        spec, {metric for told in means.values() for metric in told} & {*OUTCOME_METRICS}
    )
    records = read_log_records(head, "request_states")
    return list(instances_of_states(records, spec.method, means, outcome)), outcome


def _read_stats(head: Head, spec: RunSpec) -> tuple[list[HelmInstance], str | None]:
    """The instances of per_instance_stats.json, and the metric that says right or wrong."""
    records = [record.value for record in read_log_records(head)]
    told = [
        None if isinstance(value, BrokenRecord) else instance_means(value.get("stats"), _stats_key(value)[2])
        for value in records
    ]
    outcome = outcome_metric(
        spec, {metric for each in told if each for metric in each[0]} & {*OUTCOME_METRICS}
    )
    return list(_stats_instances(records, told, outcome)), outcome


def _stats_instances(
    records: list[Mapping[str, object] | BrokenRecord],
    means_and_splits: list[tuple[dict[str, object], str | None] | None],
    outcome: str | None,
) -> Iterator[HelmInstance]:
    for value, each in zip(records, means_and_splits, strict=True):
        if isinstance(value, BrokenRecord) or each is None:
            yield HelmInstance(
                None, 0, None, None, {}, broken=value if isinstance(value, BrokenRecord) else None
            )
            continue
        means, split = each
        row, tied = add_outcome({}, means, outcome)
        if "max_prob" in means:
            row["max_prob"] = means["max_prob"]
        alone = 0.0 if "logprob" not in means and means.get("max_prob") == 1 else means.get("logprob")
        yield HelmInstance(*_stats_key(value), split, row, alone, tied)


def _stats_key(record: Mapping[str, object]) -> InstanceKey:
    return (
        as_name(record.get("instance_id")),
        trial_number(record.get("train_trial_index")),
        perturbation_name(record.get("perturbation")),
    )


def _with_shots(spec: RunSpec, head: Head) -> RunSpec:
    """The specification with the number of examples that the prompts do hold, where it is one number."""
    states = map(as_object, as_list(head.first_objects[0].get("request_states")))
    told = {as_integer(state.get("num_train_instances")) for state in states}
    held = sorted(shots for shots in told if shots is not None)
    if not held:
        return spec
    if len(held) == 1:
        return replace(spec, info=replace(spec.info, shots=held[0]))
    return replace(spec, differing_shots=f"The prompts hold from {held[0]} to {held[-1]} examples.")


def _reported_metrics(
    head: Head, spec: RunSpec, instances: list[HelmInstance], outcome: str | None
) -> dict[str, tuple[ReportedMetric, ...]]:
    """HELM's own figure, under the label of the run that it speaks of."""
    split = main_split(instances)
    own = [item for item in instances if item.split == split and item.perturbation is None]
    ties = any(item.is_tied for item in own)
    figures = reported_means(
        read_companion(head.companions, "stats.json"), outcome, split, n_rows=len(own), has_ties=ties
    )
    return {spec.info.label(file_stem(head.file)): tuple(figures)}


HELM: Final = Format(
    "helm",
    "HELM run (scenario_state.json, per_instance_stats.json)",
    "request_states, or instance_id with stats",
    recognises,
    read,
)
