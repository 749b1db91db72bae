"""The instances of a HELM run: requests, answers, outcomes and log-probabilities of each question.

The methods generation and multiple_choice_joint send one request per question. multiple_choice_separate_*
sends one per choice and, if calibrated, another one without the question, whose log-probability is
subtracted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, cast

from calib_core.advice import Advice
from calib_core.readers.choice_letters import TOKENIZER_SPACES
from calib_core.readers.eval_logs import LogEntry, LogRecord
from calib_core.readers.file_access import read_bytes
from calib_core.readers.format import Reading
from calib_core.readers.json_values import (
    BadValueError,
    as_finite_number,
    as_integer,
    as_list,
    as_logprob,
    as_name,
    as_object,
    as_text,
    is_invalid_logprob,
    optional_list,
    optional_name,
    optional_object,
    optional_objects,
    optional_text,
    require_text,
)
from calib_core.readers.table.json_reader import RepeatedKeyError, parse_json
from calib_core.readers.table.raw import BrokenRecord
from calib_core.runs import AnswerRun, ReportedMetric, RunInfo
from calib_core.wording import plural

# --- The run's specification and metrics --------------------------------------

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
"""Metrics of an instance that are an outcome (right or wrong)."""

MAIN_METRICS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "boolq": "quasi_exact_match",
        "imdb": "quasi_exact_match",
        "raft": "quasi_exact_match",
        "civil_comments": "quasi_exact_match",
        "legalbench": "quasi_exact_match",
        "med_qa": "quasi_exact_match",
        "babi_qa": "quasi_exact_match",
        "gsm": "final_number_exact_match",
        "math": "math_equiv_chain_of_thought",
    }
)
"""Scenario → its main metric, where this is not exact_match."""


@dataclass(frozen=True, slots=True)
class RunSpec:
    """A run, as described by its run_spec.json or by the adapter_spec of its states.

    Attributes
    ----------
    info : RunInfo
        Model, data set, shots and temperature.
    subject : str or None
        Subject of the questions.
    scenario : str or None
        Name of the scenario, as in the run's name.
    method : str or None
        The adapter's method, which decides how choices are asked.
    differing_shots : str or None
        A note if prompts hold different numbers of examples.
    """

    info: RunInfo
    subject: str | None
    scenario: str | None
    method: str | None
    differing_shots: str | None = None

    def dataset_name(self, perturbation: str | None, split: str | None) -> str | None:
        """The data set of a row, with its perturbation and, where it is not the run's own, its split."""
        qualifiers = [f"perturbed: {perturbation}"] if perturbation else []
        qualifiers += [f"split {split}"] if split else []
        return (
            f"{self.info.dataset or 'questions'} ({', '.join(qualifiers)})"
            if qualifiers
            else self.info.dataset
        )


def parse_run_spec(run_spec: Mapping[str, object], adapter: Mapping[str, object]) -> RunSpec:
    """The run as its two specifications describe it; each may be empty."""
    adapter = adapter or as_object(run_spec.get("adapter_spec"))
    scenario, _, description = (as_text(run_spec.get("name")) or "").partition(":")
    arguments = dict(_parse_argument(part) for part in description.split(",") if "=" in part)
    scenario_arguments = as_object(as_object(run_spec.get("scenario_spec")).get("args"))
    inner_dataset = arguments.get("dataset") or as_name(scenario_arguments.get("dataset"))
    dataset = " ".join(part for part in (scenario, inner_dataset) if part) or None
    info = RunInfo(
        model=as_name(adapter.get("model")) or as_name(adapter.get("model_deployment")),
        dataset=dataset,
        shots=as_integer(adapter.get("max_train_instances")),
        temperature=as_finite_number(adapter.get("temperature")),
    )
    subject = arguments.get("subject") or as_name(scenario_arguments.get("subject"))
    return RunSpec(info, subject, scenario or None, as_name(adapter.get("method")))


def _parse_argument(part: str) -> tuple[str, str]:
    key, _, value = part.partition("=")
    return key.strip(), value.strip()


def outcome_metric(spec: RunSpec, available: set[str]) -> str | None:
    """The outcome metric: the scenario's main one, else the first available one of `OUTCOME_METRICS`."""
    main = MAIN_METRICS.get(spec.scenario or "", OUTCOME_METRICS[0])
    return next((metric for metric in (main, *OUTCOME_METRICS) if metric in available), None)


def read_companion(companions: Mapping[str, Path], file: str) -> object:
    """The JSON value of another file of the run's folder; None where it is missing or unreadable.

    Such files only add to what is read, so a damaged one is ignored.
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
    """HELM's own mean of the metric over the split's unperturbed instances.

    Parameters
    ----------
    stats : object
        The content of stats.json.
    metric : str or None
        The outcome metric.
    split : str or None
        The run's main split.
    n_rows : int
        Number of unperturbed instances of the split.
    has_ties : bool
        Whether some of them have an outcome strictly between 0 and 1.
    """
    for stat in map(as_object, as_list(stats)):
        name = as_object(stat.get("name"))
        if name.get("name") != metric or name.get("split") != split or "perturbation" in name:
            continue
        value = as_finite_number(stat.get("mean"))
        if value is not None and metric is not None:
            why = "HELM counts a tie among choices as partly right; here it is not an outcome."
            yield ReportedMetric(metric, value, n_rows, "", why if has_ties else "")


def instance_means(stats: object, perturbation: str | None) -> tuple[dict[str, object], str | None]:
    """Metric → mean for one instance, as stored, and the instance's split."""
    means: dict[str, object] = {}
    split: str | None = None
    for stat in map(as_object, as_list(stats)):
        name = as_object(stat.get("name"))
        metric, stat_perturbation = as_name(name.get("name")), as_object(name.get("perturbation")).get("name")
        if metric is None or (stat_perturbation is not None and stat_perturbation != perturbation):
            continue
        split = split or as_name(name.get("split"))
        means.setdefault(metric, stat.get("mean"))
    return means, split


def perturbation_name(value: object) -> str | None:
    """The name of a perturbation; None where the instance is not perturbed."""
    perturbation = as_object(value)
    return (as_name(perturbation.get("name")) or "unnamed") if perturbation else None


def trial_number(value: object) -> int:
    """The number of the trial; 0 where none is given."""
    return as_integer(value) or 0


# --- Instances as rows --------------------------------------------------------
#
# HELM writes 0.0 where a model's interface returns no log-probability. If all of a run's are exactly 0.0,
# none was recorded; a single 0.0 among others may be a rounded or a lost value.

LOGPROB_FIELDS: Final = ("max_prob", "tokens", "logprobs", "choice_token_counts", "choice_probs")
"""Fields that are computed from log-probabilities."""

METHOD_INPUT_COLUMNS: Final = ("choice_logprobs", "choice_probs", "path_logprobs", "confidence", "samples")
"""Columns from which a method can compute a confidence."""


@dataclass(frozen=True, slots=True, eq=False)
class HelmInstance:
    """One instance of a run: a question as asked in one trial, perturbed or not.

    Attributes
    ----------
    id : str or None
        Id of the instance.
    trial : int
        Index of the trial.
    perturbation : str or None
        Name of the perturbation; None for the original question.
    split : str or None
        Split of the data set.
    fields : dict[str, object]
        Further fields of the row.
    logprob : object
        Log-probability (nats) of the generated text, as stored; None where there is none.
    is_tied : bool
        Whether the outcome lies strictly between 0 and 1.
    broken : BrokenRecord or None
        Why the instance cannot be read.
    """

    id: str | None
    trial: int
    perturbation: str | None
    split: str | None
    fields: dict[str, object]
    logprob: object = None
    is_tied: bool = False
    broken: BrokenRecord | None = None


def has_no_logprobs(instances: Sequence[HelmInstance]) -> bool:
    """Whether all of the run's log-probabilities are exactly 0, which means that none was recorded."""
    logprobs = [instance.logprob for instance in instances if instance.logprob is not None]
    return bool(logprobs) and all(value == 0 for value in logprobs)


def main_split(instances: Sequence[HelmInstance]) -> str | None:
    """The split whose rows form the run: test, else valid, else the first that occurs."""
    splits = list(dict.fromkeys(instance.split for instance in instances if instance.split))
    return next((split for split in ("test", "valid", *splits) if split in splits), None)


def instance_entries(instances: Sequence[HelmInstance], spec: RunSpec) -> Iterator[LogEntry]:
    """One row per instance. Perturbed copies and other splits become runs of their own."""
    no_logprobs, split = has_no_logprobs(instances), main_split(instances)
    has_trials = len({instance.trial for instance in instances}) > 1
    for number, instance in enumerate(instances, 1):
        share = number / len(instances)
        if instance.broken is not None:
            yield LogEntry({}, share=share, broken=instance.broken)
            continue
        fields = {
            name: value
            for name, value in instance.fields.items()
            if not (no_logprobs and name in LOGPROB_FIELDS)
        }
        fields["dataset"] = spec.dataset_name(
            instance.perturbation, instance.split if instance.split != split else None
        )
        suffix = f" (trial {instance.trial})" if instance.trial else ""
        fields["instance_id"] = None if instance.id is None else f"{instance.id}{suffix}"
        fields["trial_of"] = instance.id if has_trials else None
        fields["subject"] = spec.subject
        yield LogEntry(fields, share=share, broken=None if no_logprobs else _logprob_fault(instance.logprob))


def _logprob_fault(logprob: object) -> BrokenRecord | None:
    """The fault of a log-probability that is invalid, or exactly 0 in a run where others are not."""
    if logprob is None or not (is_invalid_logprob(logprob) or as_finite_number(logprob) == 0):
        return None
    if is_invalid_logprob(logprob):
        expected = "a natural logarithm of a probability, at most 0"
        return BrokenRecord(0, "out of range", "logprob", expected, str(logprob), "Take the instance out.")
    fix = "If the model was certain write a number just below 0; else leave the instance out."
    expected = "a log-probability below 0: exactly 0.0 is what HELM writes where it was not recorded"
    return BrokenRecord(0, "log-probability 0.0", "logprob", expected, "0.0", fix)


def instance_notes(instances: Sequence[HelmInstance], spec: RunSpec, outcome: str | None) -> Iterator[str]:
    """Notes on outcomes, ties, perturbations, splits and trials of the run."""
    if has_no_logprobs(instances):
        yield (
            "logprob is exactly 0.0 in every row, which means that it was not recorded. It gives no "
            "confidence."
        )
    if outcome is not None:
        other = Advice(columns={"METRIC": "correct"})
        yield f"Outcomes are read from {outcome}. For another metric: {other}."
        if ties := sum(1 for instance in instances if instance.is_tied):
            tie_text = f"{outcome} lies between 0 and 1 (a tie among choices)"
            yield f"In {plural(ties, 'row')} {tie_text}: no outcome there."
    perturbed = Counter(instance.perturbation for instance in instances if instance.perturbation)
    for name, count in perturbed.items():
        yield f"{count:,} rows are copies perturbed by {name}: a separate run."
    split = main_split(instances)
    for name, count in Counter(instance.split for instance in instances).items():
        if name is not None and name != split:
            yield f"{count:,} rows are of the split {name}, not {split}: a separate run."
    if (n_trials := len({instance.trial for instance in instances})) > 1:
        yield (
            f"Questions occur {n_trials:,} times, once for each train_trial_index: an interval takes all "
            "rows of a question together, while p counts each row separately."
        )
    if (note := spec.differing_shots) is not None:
        yield note


def refuse_without_logprobs(reading: Reading, instances: Sequence[HelmInstance]) -> Reading:
    """The reading, with a refusal if no log-probability was recorded and no other confidence exists."""
    runs = [run for run in reading.good_runs if isinstance(run, AnswerRun)]
    if not has_no_logprobs(instances) or any(_has_other_confidence(run) for run in runs):
        return reading
    outcomes = [value for run in runs for value in _outcomes_of_run(run)]
    accuracy = (
        f"Accuracy of the {len(outcomes):,} with an outcome: {sum(outcomes) / len(outcomes):.4f}. "
        if outcomes
        else ""
    )
    if outcomes and len(runs) > 1 and (first := _outcomes_of_run(runs[0])):
        accuracy = (
            f"{accuracy[:-2]} ({sum(first) / len(first):.4f} of the {len(first):,} of {runs[0].label}). "
        )
    return replace(
        reading,
        refusal=(
            f"{reading.file}: read as {reading.format}, {reading.n_rows:,} rows. {accuracy}logprob is "
            f"exactly 0.0 in every row, which means that none was recorded (HELM writes 0.0 where a model's "
            f"interface gives none): there is no confidence in the file, so nothing in it can be calibrated. "
            f"Run it on a model that gives log-probabilities."
        ),
    )


def _outcomes_of_run(run: AnswerRun) -> list[bool]:
    return run.rows["correct"].drop_nulls().to_list() if "correct" in run.rows.columns else []


def _has_other_confidence(run: AnswerRun) -> bool:
    """Whether a run has a column from which a confidence can be computed."""
    return any(run.has_columns(name) for name in METHOD_INPUT_COLUMNS)


# --- Instances from request states --------------------------------------------

InstanceKey = tuple[str | None, int, str | None]
"""Id, trial and perturbation of an instance."""

SEPARATE_METHOD: Final = "multiple_choice_separate"
CALIBRATION_MODE: Final = "calibration"


def instances_of_states(
    records: Iterable[LogRecord],
    method: str | None,
    means: Mapping[InstanceKey, Mapping[str, object]],
    outcome: str | None,
) -> Iterator[HelmInstance]:
    """The instances in the file's order; those asked once per choice come last.

    Parameters
    ----------
    records : Iterable[LogRecord]
        The request states.
    method : str or None
        The adapter's method.
    means : Mapping[InstanceKey, Mapping[str, object]]
        Metric → mean of each instance, from per_instance_stats.json; {} without it.
    outcome : str or None
        The metric that is the outcome.
    """
    by_instance: dict[InstanceKey, list[Mapping[str, object]]] = {}
    for record in records:
        state = bad_values_broken(record.value, check_state)
        if isinstance(state, BrokenRecord):
            yield HelmInstance(None, 0, None, None, {}, broken=state)
        elif method is not None and method.startswith(SEPARATE_METHOD):
            by_instance.setdefault(_state_key(state), []).append(state)
        else:
            yield _single_request_instance(state, means.get(_state_key(state)), outcome)
    for key, states in by_instance.items():
        yield _per_choice_instance(key, states, means.get(key), outcome)


def bad_values_broken(
    record: Mapping[str, object] | BrokenRecord, check: Callable[[Mapping[str, object]], None]
) -> Mapping[str, object] | BrokenRecord:
    """The record, or why it cannot be used where it does not pass the check."""
    if not isinstance(record, BrokenRecord):
        try:
            check(record)
        except BadValueError as bad:
            return bad.broken
    return record


def check_state(state: Mapping[str, object]) -> None:
    """Raises BadValueError where a value that a number rests on has the wrong type."""
    instance = optional_object(state.get("instance"), "instance")
    for name in ("id", "split"):
        optional_name(instance.get(name), f"instance.{name}")
    optional_object(instance.get("perturbation"), "instance.perturbation")
    for reference, path in optional_objects(instance.get("references"), "instance.references"):
        output = optional_object(reference.get("output"), f"{path}.output")
        optional_text(output.get("text"), f"{path}.output.text")
        for at, tag in enumerate(optional_list(reference.get("tags"), f"{path}.tags")):
            require_text(tag, f"{path}.tags.{at}")
    for name, text in optional_object(state.get("output_mapping"), "output_mapping").items():
        require_text(text, f"output_mapping.{name}")
    for name in ("train_trial_index", "reference_index"):
        if state.get(name) is not None and as_integer(state[name]) is None:
            raise BadValueError(name, "a whole number", state[name])
    optional_text(state.get("request_mode"), "request_mode")
    _check_result(optional_object(state.get("result"), "result"))


def _check_result(result: Mapping[str, object]) -> None:
    if not isinstance(result.get("success"), bool | None):
        raise BadValueError("result.success", "true or false", result["success"])
    completions = optional_objects(result.get("completions"), "result.completions")
    for completion, path in completions:
        optional_text(completion.get("text"), f"{path}.text")
        if len(completions) > 1 and is_invalid_logprob(completion.get("logprob")):  # by which one is chosen
            raise BadValueError(f"{path}.logprob", "a number, at most 0", completion["logprob"])
        for token, own in optional_objects(completion.get("tokens"), f"{path}.tokens"):
            optional_text(token.get("text"), f"{own}.text")


def check_stats(record: Mapping[str, object]) -> None:
    """Raises BadValueError where a value that a number rests on has the wrong type."""
    optional_name(record.get("instance_id"), "instance_id")
    optional_object(record.get("perturbation"), "perturbation")
    for stat, path in optional_objects(record.get("stats"), "stats"):
        name = optional_object(stat.get("name"), f"{path}.name")
        for part in ("name", "split"):
            optional_name(name.get(part), f"{path}.name.{part}")


def _state_key(state: Mapping[str, object]) -> InstanceKey:
    instance = as_object(state.get("instance"))
    return (
        as_name(instance.get("id")),
        trial_number(state.get("train_trial_index")),
        perturbation_name(instance.get("perturbation")),
    )


def _question_fields(instance: Mapping[str, object]) -> dict[str, object]:
    """The question, its choices and its right answers: the references tagged as correct."""
    references = [as_object(reference) for reference in as_list(instance.get("references"))]
    choices = [as_text(as_object(reference.get("output")).get("text")) or "" for reference in references]
    right = [at for at, reference in enumerate(references) if "correct" in as_list(reference.get("tags"))]
    fields: dict[str, object] = {"question": as_text(as_object(instance.get("input")).get("text"))}
    if right:
        fields["gold_all"] = list(dict.fromkeys(choices[at] for at in right))
    if len(choices) > 1 and len(right) < len(choices):
        fields["choices"] = choices
        if len(right) == 1:
            fields["gold_index"] = right[0]
    return fields


def add_outcome(
    fields: dict[str, object], means: Mapping[str, object] | None, outcome: str | None
) -> tuple[dict[str, object], bool]:
    """The fields with the instance's metrics, and whether the outcome is a tie and so missing."""
    metrics = (
        {metric: means[metric] for metric in OUTCOME_METRICS if metric in (means or {})} if means else {}
    )
    value = as_finite_number(metrics.get(outcome or ""))
    is_tied = value is not None and 0 < value < 1
    if is_tied and outcome is not None:
        metrics[outcome] = None
    return fields | metrics, is_tied


def _single_request_instance(
    state: Mapping[str, object], means: Mapping[str, object] | None, outcome: str | None
) -> HelmInstance:
    instance, result = as_object(state.get("instance")), as_object(state.get("result"))
    completions = [as_object(completion) for completion in as_list(result.get("completions"))]
    completions = sorted(completions, key=_log_probability_or_last, reverse=True)
    fields = _question_fields(instance)
    mapping = as_object(state.get("output_mapping"))
    if not mapping:
        fields.pop("choices", None)
        fields.pop("gold_index", None)
    best = completions[0] if completions and result.get("success") is not False else None
    if best is None:
        fields["status"] = "error"
    else:
        fields |= _answer_fields(best, mapping, cast("Sequence[str]", fields.get("gold_all", ())))
    if len(completions) > 1:  # in sampling order; only the most likely is judged
        sampled = map(as_object, as_list(result.get("completions")))
        fields["samples"] = [
            _choice_text(as_text(completion.get("text")) or "", mapping) for completion in sampled
        ]
    fields, is_tied = add_outcome(fields, means, outcome)
    raw = None if best is None or _is_blank_completion(best) else best.get("logprob")
    id_, trial, perturbation = _state_key(state)
    return HelmInstance(id_, trial, perturbation, as_name(instance.get("split")), fields, raw, is_tied)


def _log_probability_or_last(completion: Mapping[str, object]) -> float:
    """The log-probability of a completion; −∞ where it has none, so that such a one is not the likeliest."""
    value = as_finite_number(completion.get("logprob"))
    return -math.inf if value is None else value


def _is_blank_completion(completion: Mapping[str, object]) -> bool:
    return not completion.get("tokens") and not (as_text(completion.get("text")) or "").strip()


def _answer_fields(
    completion: Mapping[str, object], mapping: Mapping[str, object], references: Sequence[str]
) -> dict[str, object]:
    """The answer, whether it is one of the right references by HELM's comparison, and its probability."""
    text = as_text(completion.get("text")) or ""
    fields: dict[str, object] = {"prediction_text": text, "prediction": _choice_text(text, mapping)}
    answer = as_text(mapping.get(text.strip())) if mapping else text
    if references:
        fields["as references"] = answer is not None and answer.strip() in [
            reference.strip() for reference in references
        ]
    total = as_logprob(completion.get("logprob"))
    if total is not None and not _is_blank_completion(completion):
        fields["max_prob"] = math.exp(total)
    if tokens := [as_object(token) for token in as_list(completion.get("tokens"))]:
        raw = [token.get("logprob") for token in tokens]
        fields["tokens"] = [value if is_invalid_logprob(value) else as_logprob(value) for value in raw]
    return fields


def _choice_text(text: str, mapping: Mapping[str, object]) -> str:
    """The text of the choice whose letter was generated, else the generated text."""
    return as_text(mapping.get(text.strip())) or text


def _per_choice_instance(
    key: InstanceKey,
    states: Sequence[Mapping[str, object]],
    means: Mapping[str, object] | None,
    outcome: str | None,
) -> HelmInstance:
    instance = as_object(states[0].get("instance"))
    fields = _question_fields(instance)
    choices = cast("list[str]", fields.get("choices") or [])
    scored: dict[bool, list[tuple[float | None, int]]] = {}
    for calibration in (False, True):
        by_choice = {
            as_integer(state.get("reference_index")): state
            for state in states
            if (state.get("request_mode") == CALIBRATION_MODE) is calibration
        }
        if by_choice:
            scored[calibration] = [
                _choice_logprob(by_choice.get(at), choice) for at, choice in enumerate(choices)
            ]
    sums, counts = zip(*scored.get(False, ()), strict=True) if scored.get(False) else ((), ())
    if True in scored:
        fields["choice_probs"] = _calibrated_probs(sums, [value for value, _ in scored[True]])
    elif any(value is not None for value in sums):
        fields["logprobs"] = list(sums)
        if all(counts):
            fields["choice_token_counts"] = list(counts)
    fields, is_tied = add_outcome(fields, means, outcome)
    known = [value for value in sums if value is not None]
    logprob = next(_invalid_token_logprobs(states), 0.0 if 0.0 in known else min(known, default=None))
    return HelmInstance(*key, as_name(instance.get("split")), fields, logprob, is_tied)


def _invalid_token_logprobs(states: Iterable[Mapping[str, object]]) -> Iterator[object]:
    """Values of the tokens that are not valid log-probabilities."""
    for state in states:
        for completion in map(as_object, as_list(as_object(state.get("result")).get("completions"))):
            logs = [as_object(token).get("logprob") for token in as_list(completion.get("tokens"))]
            yield from filter(is_invalid_logprob, logs)


def _choice_logprob(state: Mapping[str, object] | None, choice: str) -> tuple[float | None, int]:
    """Sum of log-probabilities over the last tokens that make up the choice's text, and their number."""
    completions = as_list(as_object((state or {}).get("result")).get("completions"))
    tokens = (
        [as_object(token) for token in as_list(as_object(completions[0]).get("tokens"))]
        if completions
        else []
    )
    end, total = "", 0.0
    for count, token in enumerate(reversed(tokens), 1):
        end = (as_text(token.get("text")) or "").translate(TOKENIZER_SPACES) + end
        value = as_logprob(token.get("logprob"))
        if value is None:
            return None, 0
        total += value
        text, choice_text = end.strip(), choice.strip()
        if text == choice_text or (len(text) > len(choice_text) and text.endswith(choice_text)):
            return total, count
    return None, 0


def _calibrated_probs(sums: Sequence[float | None], baselines: Sequence[float | None]) -> list[float] | None:
    """Softmax of the log-probability with minus without the question; None if one is missing."""
    pairs = zip(sums, baselines, strict=True)
    gains = [
        conditional - baseline
        for conditional, baseline in pairs
        if conditional is not None and baseline is not None
    ]
    if not gains or len(gains) < len(sums):
        return None
    weights = [math.exp(gain - max(gains)) for gain in gains]
    return [weight / math.fsum(weights) for weight in weights]
