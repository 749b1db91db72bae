"""What does a HELM run hold?  Its scenario_state.json, or per_instance_stats.json, with the others beside.

Of one run's folder either file can be read. The states say more, and take the outcomes from the statistics.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from calib_core.files.format import Format, Head
from calib_core.files.harness.helm_items import Item, entries, judged, main_split, notes
from calib_core.files.harness.helm_spec import (
    OUTCOMES,
    Spec,
    means_of,
    outcome_of,
    partner,
    perturbation_of,
    reported,
    spec_of,
    trial_of,
)
from calib_core.files.harness.helm_states import Key, items_of, with_outcome
from calib_core.files.harness.json_values import as_list, as_name, as_object, as_whole
from calib_core.files.harness.logged import records_of
from calib_core.files.harness.translated import Translated, read_translated
from calib_core.files.reading import Reading
from calib_core.files.tables.raw import Broken, Progress
from calib_core.files.tables.runs import stem_of
from calib_core.records import Reported

STATE: Final = frozenset({"adapter_spec", "request_states"})
STATS: Final = frozenset({"instance_id", "stats"})

_COLUMNS: Final = {
    "instance_id": "id",
    "max_prob": "confidence",
    "tokens": "path_logprobs",
    "logprobs": "choice_logprobs",
}
_OWN: Final = "as references"
"""The outcome where HELM's own is not beside: the answer is one of the right references."""


def recognises(head: Head) -> bool:
    """Whether the file is a HELM run's states or statistics of its instances."""
    if _is_state(head):
        return True
    return head.kind in ("json list", "json lines") and any(
        each.keys() >= STATS and isinstance(each["stats"], list) for each in head.objects
    )


def _is_state(head: Head) -> bool:
    """Whether the file is one object, on one line or several, with the states of requests."""
    one = head.kind in ("json object", "json lines") and len(head.objects) == 1
    return one and head.objects[0].keys() >= STATE


def read(head: Head, mapping: Mapping[str, str], progress: Progress) -> Reading:
    """The runs of a HELM file. See `format.Read`."""
    run_spec = as_object(partner(head.beside, "run_spec.json"))
    if _is_state(head):
        head = replace(head, kind="json object")
        spec = spec_of(run_spec, as_object(head.objects[0].get("adapter_spec")))
        found, outcome = _of_states(head, spec)
        spec = _with_shots(spec, head)
    else:
        spec = spec_of(run_spec, {})
        found, outcome = _of_stats(head, spec)
    columns = _COLUMNS | {outcome or _OWN: "correct"}
    if outcome is not None:
        for item in found:
            item.fields.pop(_OWN, None)
    log = Translated(entries(found, spec), columns, spec.info, _reported(head, spec, found, outcome))
    reading = read_translated(head, HELM.id, log, mapping, progress)
    told = (*reading.notes, *notes(found, spec, outcome))
    return judged(replace(reading, notes=told), found)


def _of_states(head: Head, spec: Spec) -> tuple[list[Item], str | None]:
    """The instances of scenario_state.json, and the metric that says right or wrong, if it is beside."""
    means: dict[Key, Mapping[str, object]] = {}
    for record in map(as_object, as_list(partner(head.beside, "per_instance_stats.json"))):
        key = _key(record)
        means[key], _ = means_of(record.get("stats"), key[2])
    outcome = outcome_of(spec, {metric for told in means.values() for metric in told} & {*OUTCOMES})
    records = records_of(head, "request_states")
    return list(items_of(records, spec.method, means, outcome)), outcome


def _of_stats(head: Head, spec: Spec) -> tuple[list[Item], str | None]:
    """The instances of per_instance_stats.json, and the metric that says right or wrong."""
    records = [record.value for record in records_of(head)]
    told = [
        None if isinstance(value, Broken) else means_of(value.get("stats"), _key(value)[2])
        for value in records
    ]
    outcome = outcome_of(spec, {metric for each in told if each for metric in each[0]} & {*OUTCOMES})
    return list(_instances(records, told, outcome)), outcome


def _instances(
    records: list[Mapping[str, object] | Broken],
    told: list[tuple[dict[str, object], str | None] | None],
    outcome: str | None,
) -> Iterator[Item]:
    for value, each in zip(records, told, strict=True):
        if isinstance(value, Broken) or each is None:
            yield Item(None, 0, None, None, {}, broken=value if isinstance(value, Broken) else None)
            continue
        means, split = each
        row, tied = with_outcome({}, means, outcome)
        if "max_prob" in means:
            row["max_prob"] = means["max_prob"]
        alone = 0.0 if "logprob" not in means and means.get("max_prob") == 1 else means.get("logprob")
        yield Item(*_key(value), split, row, alone, tied)


def _key(record: Mapping[str, object]) -> Key:
    return (
        as_name(record.get("instance_id")),
        trial_of(record.get("train_trial_index")),
        perturbation_of(record.get("perturbation")),
    )


def _with_shots(spec: Spec, head: Head) -> Spec:
    """The specification with the number of examples that the prompts do hold, where it is one number."""
    states = map(as_object, as_list(head.objects[0].get("request_states")))
    told = {as_whole(state.get("num_train_instances")) for state in states}
    held = sorted(shots for shots in told if shots is not None)
    if not held:
        return spec
    if len(held) == 1:
        return replace(spec, info=replace(spec.info, shots=held[0]))
    return replace(spec, differing_shots=f"The prompts hold from {held[0]} to {held[-1]} examples.")


def _reported(
    head: Head, spec: Spec, found: list[Item], outcome: str | None
) -> dict[str, tuple[Reported, ...]]:
    """HELM's own figure, under the label of the run that it speaks of."""
    split = main_split(found)
    own = [item for item in found if item.split == split and item.perturbation is None]
    ties = any(item.tied for item in own)
    figures = reported(partner(head.beside, "stats.json"), outcome, split, rows=len(own), ties=ties)
    return {spec.info.label(stem_of(head.file)): tuple(figures)}


HELM: Final = Format(
    "helm",
    "HELM run (scenario_state.json, per_instance_stats.json)",
    "request_states, or instance_id with stats",
    recognises,
    read,
)
