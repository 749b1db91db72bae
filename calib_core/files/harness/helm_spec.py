"""What is known of a whole HELM run: its model, its questions, its main metric, and its own figures?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from calib_core.files.folder import read_bytes
from calib_core.files.harness.json_values import as_list, as_name, as_finite_number, as_object, as_text, as_integer
from calib_core.files.tables.json_lines import RepeatedKeyError, parse_json
from calib_core.records import ReportedMetric, RunInfo

OUTCOME_METRICS: Final = (
    "exact_match",
    "quasi_exact_match",
    "prefix_exact_match",
    "quasi_prefix_exact_match",
    "exact_match_indicator",
    "final_number_exact_match",
    "math_equiv",
    "math_equiv_chain_of_thought",
)
"""Metrics of an instance that say right or wrong."""

MAIN_METRICS: Final[Mapping[str, str]] = MappingProxyType({
    "boolq": "quasi_exact_match",
    "imdb": "quasi_exact_match",
    "raft": "quasi_exact_match",
    "civil_comments": "quasi_exact_match",
    "legalbench": "quasi_exact_match",
    "med_qa": "quasi_exact_match",
    "babi_qa": "quasi_exact_match",
    "gsm": "final_number_exact_match",
    "math": "math_equiv_chain_of_thought",
})
"""Scenario → its main metric, where that is not exact_match."""


@dataclass(frozen=True, slots=True)
class RunSpec:
    """A run, by its run_spec.json or by the adapter_spec of its states.

    info: what is known of the run; subject: of its questions; scenario: its name, as in the run's name;
    method: how choices are asked; differing_shots: a remark where prompts hold differently many examples.
    """

    info: RunInfo
    subject: str | None
    scenario: str | None
    method: str | None
    differing_shots: str | None = None

    def dataset_name(self, perturbation: str | None, split: str | None) -> str | None:
        """The data set of a row; split: where it is not the run's."""
        more = [f"perturbed: {perturbation}"] if perturbation else []
        more += [f"split {split}"] if split else []
        return f"{self.info.dataset or 'questions'} ({', '.join(more)})" if more else self.info.dataset


def parse_run_spec(run_spec: Mapping[str, object], adapter: Mapping[str, object]) -> RunSpec:
    """What the specifications say; each may be empty."""
    adapter = adapter or as_object(run_spec.get("adapter_spec"))
    title, _, described = (as_text(run_spec.get("name")) or "").partition(":")
    arguments = dict(_parse_argument(part) for part in described.split(",") if "=" in part)
    of_scenario = as_object(as_object(run_spec.get("scenario_spec")).get("args"))
    inner = arguments.get("dataset") or as_name(of_scenario.get("dataset"))
    dataset = " ".join(part for part in (title, inner) if part) or None
    info = RunInfo(
        model=as_name(adapter.get("model")) or as_name(adapter.get("model_deployment")),
        dataset=dataset,
        shots=as_integer(adapter.get("max_train_instances")),
        temperature=as_finite_number(adapter.get("temperature")),
    )
    subject = arguments.get("subject") or as_name(of_scenario.get("subject"))
    return RunSpec(info, subject, title or None, as_name(adapter.get("method")))


def _parse_argument(part: str) -> tuple[str, str]:
    key, _, value = part.partition("=")
    return key.strip(), value.strip()


def outcome_metric(spec: RunSpec, available: set[str]) -> str | None:
    """The metric that says right or wrong: the scenario's main one, else the first of `OUTCOMES` there is."""
    wished = MAIN_METRICS.get(spec.scenario or "", OUTCOME_METRICS[0])
    return next((metric for metric in (wished, *OUTCOME_METRICS) if metric in available), None)


def read_companion(companions: Mapping[str, Path], file: str) -> object:
    """What a file of the run's folder holds; None where it is not there, or cannot be read.

    Such a file only adds to what is read: damaged, it is passed over.
    """
    if file not in companions:
        return None
    try:
        return parse_json(read_bytes(companions[file], file).decode("utf-8-sig"))
    except (ValueError, RecursionError, RepeatedKeyError):
        return None


def reported_means(
    stats: object, metric: str | None, split: str | None, *, n_rows: int, has_ties: bool
) -> Iterator[ReportedMetric]:
    """The run's own mean of the metric, over the instances of the split that are not perturbed.

    rows: how many these are; ties: whether the metric is a part of 1 in some of them.
    """
    for stat in map(as_object, as_list(stats)):
        called = as_object(stat.get("name"))
        if called.get("name") != metric or called.get("split") != split or "perturbation" in called:
            continue
        value = as_finite_number(stat.get("mean"))
        if value is not None and metric is not None:
            why = "HELM counts a tie among choices as a part of a right answer; here it is no outcome."
            yield ReportedMetric(metric, value, n_rows, "", why if has_ties else "")


def instance_means(stats: object, perturbation: str | None) -> tuple[dict[str, object], str | None]:
    """Metric → mean of one instance as in the file, and its split."""
    means: dict[str, object] = {}
    split: str | None = None
    for stat in map(as_object, as_list(stats)):
        called = as_object(stat.get("name"))
        metric, other = as_name(called.get("name")), as_object(called.get("perturbation")).get("name")
        if metric is None or (other is not None and other != perturbation):
            continue
        split = split or as_name(called.get("split"))
        means.setdefault(metric, stat.get("mean"))
    return means, split


def perturbation_name(value: object) -> str | None:
    """The name of a perturbation; None where there is none."""
    called = as_object(value)
    return (as_name(called.get("name")) or "something") if called else None


def trial_number(value: object) -> int:
    """The number of the trial, 0 where none is said."""
    return as_integer(value) or 0
