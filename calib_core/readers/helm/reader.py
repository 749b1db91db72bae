"""Reads HELM runs: scenario_state.json or per_instance_stats.json, with the other files of the folder.

Either file of a run's folder can be read. The states hold more; their outcomes come from the statistics.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from calib_core.advice import option_name
from calib_core.errors import Refused
from calib_core.readers.eval_logs import LogTable, read_log_records, read_log_table
from calib_core.readers.format import JSON_KINDS, Format, Head, Reading, ReadOptions
from calib_core.readers.helm.instances import (
    OUTCOME_METRICS,
    HelmInstance,
    InstanceKey,
    RunSpec,
    add_outcome,
    bad_values_broken,
    check_stats,
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
from calib_core.readers.table.columns import column_list_text
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
"""The outcome where HELM's own is missing: whether the answer is one of the right references."""


def recognises(head: Head) -> bool:
    """Whether the file holds a HELM run's request states or the statistics of its instances."""
    if _is_scenario_state(head):
        return True
    return head.kind != "json object" and any(
        record.keys() >= STATS_KEYS and isinstance(record["stats"], list) for record in head.first_objects
    )


def _is_scenario_state(head: Head) -> bool:
    """Whether the file is a single object with request states."""
    is_single = head.kind in ("json object", "json lines") and len(head.first_objects) == 1
    return is_single and head.first_objects[0].keys() >= STATE_KEYS


def read(head: Head, options: ReadOptions, progress: ReadProgress) -> Reading:
    """The runs of a HELM file. See `Format.read`."""
    if not recognises(head):
        keys = dict.fromkeys(key for record in head.first_objects for key in record)
        raise Refused(
            f"{head.file} cannot be read as {HELM.title}: expected {HELM.recognised_by}, found records "
            f"with {column_list_text(list(keys))}. Leave {option_name('format')} out."
        )
    run_spec = as_object(read_companion(head.companions, "run_spec.json"))
    if _is_scenario_state(head):
        head = replace(head, kind="json object")
        spec = parse_run_spec(run_spec, as_object(head.first_objects[0].get("adapter_spec")))
        instances, outcome = _read_states(head, spec)
        spec = _with_shots(spec, head)
    else:
        spec = parse_run_spec(run_spec, {})
        instances, outcome = _read_stats(head, spec)
    columns = _COLUMN_ROLES | {outcome or _REFERENCE_OUTCOME: "correct"}
    if outcome is not None:
        for instance in instances:
            instance.fields.pop(_REFERENCE_OUTCOME, None)
    log = LogTable(
        instance_entries(instances, spec),
        columns,
        spec.info,
        _reported_metrics(head, spec, instances, outcome),
    )
    reading = read_log_table(head, HELM.id, log, options, progress)
    notes = (*reading.notes, *instance_notes(instances, spec, outcome))
    return refuse_without_logprobs(replace(reading, notes=notes), instances)


def _read_states(head: Head, spec: RunSpec) -> tuple[list[HelmInstance], str | None]:
    """The instances of scenario_state.json, and the outcome metric if per_instance_stats.json is there."""
    means: dict[InstanceKey, Mapping[str, object]] = {}
    for record in map(as_object, as_list(read_companion(head.companions, "per_instance_stats.json"))):
        key = _stats_key(record)
        means[key], _ = instance_means(record.get("stats"), key[2])
    outcome = outcome_metric(
        spec, {metric for metrics in means.values() for metric in metrics} & {*OUTCOME_METRICS}
    )
    records = read_log_records(head, "request_states")
    return list(instances_of_states(records, spec.method, means, outcome)), outcome


def _read_stats(head: Head, spec: RunSpec) -> tuple[list[HelmInstance], str | None]:
    """The instances of per_instance_stats.json, and the outcome metric."""
    records = [bad_values_broken(record.value, check_stats) for record in read_log_records(head)]
    means_and_splits = [
        None if isinstance(value, BrokenRecord) else instance_means(value.get("stats"), _stats_key(value)[2])
        for value in records
    ]
    outcome = outcome_metric(
        spec, {metric for parsed in means_and_splits if parsed for metric in parsed[0]} & {*OUTCOME_METRICS}
    )
    return list(_stats_instances(records, means_and_splits, outcome)), outcome


def _stats_instances(
    records: list[Mapping[str, object] | BrokenRecord],
    means_and_splits: list[tuple[dict[str, object], str | None] | None],
    outcome: str | None,
) -> Iterator[HelmInstance]:
    for value, mean_and_split in zip(records, means_and_splits, strict=True):
        if isinstance(value, BrokenRecord) or mean_and_split is None:
            yield HelmInstance(
                None, 0, None, None, {}, broken=value if isinstance(value, BrokenRecord) else None
            )
            continue
        means, split = mean_and_split
        fields, is_tied = add_outcome({}, means, outcome)
        if "max_prob" in means:
            fields["max_prob"] = means["max_prob"]
        logprob = 0.0 if "logprob" not in means and means.get("max_prob") == 1 else means.get("logprob")
        yield HelmInstance(*_stats_key(value), split, fields, logprob, is_tied)


def _stats_key(record: Mapping[str, object]) -> InstanceKey:
    return (
        as_name(record.get("instance_id")),
        trial_number(record.get("train_trial_index")),
        perturbation_name(record.get("perturbation")),
    )


def _with_shots(spec: RunSpec, head: Head) -> RunSpec:
    """The specification with the number of examples in the prompts, where all prompts agree."""
    states = map(as_object, as_list(head.first_objects[0].get("request_states")))
    counts = {as_integer(state.get("num_train_instances")) for state in states}
    known = sorted(shots for shots in counts if shots is not None)
    if not known:
        return spec
    if len(known) == 1:
        return replace(spec, info=replace(spec.info, shots=known[0]))
    return replace(spec, differing_shots=f"The prompts hold from {known[0]} to {known[-1]} examples.")


def _reported_metrics(
    head: Head, spec: RunSpec, instances: list[HelmInstance], outcome: str | None
) -> dict[str, tuple[ReportedMetric, ...]]:
    """HELM's own mean, under the label of the run it belongs to."""
    split = main_split(instances)
    rows = [instance for instance in instances if instance.split == split and instance.perturbation is None]
    has_ties = any(instance.is_tied for instance in rows)
    means = reported_means(
        read_companion(head.companions, "stats.json"), outcome, split, n_rows=len(rows), has_ties=has_ties
    )
    return {spec.info.label(file_stem(head.file)): tuple(means)}


HELM: Final = Format(
    "helm",
    "HELM run (scenario_state.json, per_instance_stats.json)",
    "request_states, or instance_id with stats",
    JSON_KINDS,
    recognises,
    read,
)
