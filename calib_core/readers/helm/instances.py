"""What does a HELM scenario_state.json say of each question?  What was asked of the model, and what it gave.

Methods: generation and multiple_choice_joint ask once; multiple_choice_separate_* ask once for each choice,
in the calibrated form once more without the question, which is subtracted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, cast

from calib_core.readers.choice_letters import TOKENIZER_SPACES
from calib_core.readers.eval_logs import LogEntry, LogRecord
from calib_core.readers.file_access import read_bytes
from calib_core.readers.format import Reading
from calib_core.readers.json_values import (
    as_finite_number,
    as_integer,
    as_list,
    as_logprob,
    as_name,
    as_object,
    as_text,
    is_invalid_logprob,
)
from calib_core.readers.table.json_reader import RepeatedKeyError, parse_json
from calib_core.readers.table.raw import BrokenRecord
from calib_core.runs import AnswerRun, ReportedMetric, RunInfo
from calib_core.wording import plural

# MERGED helm_spec: What is known of a whole HELM run: its model, its questions, its main metric, and its own figures?

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


# MERGED helm_items: Which rows do the instances of a HELM run become, and which of its log-probabilities were never recorded?
#
# HELM writes 0.0 where a model's interface gives no log-probability. Where all of a run are exactly 0.0 there
# are none; a single one among others may be a rounding or a lost value, which nobody can tell.

LOGPROB_FIELDS: Final = ("max_prob", "tokens", "logprobs", "choice_token_counts", "choice_probs")
"""Fields that are made from log-probabilities."""

CONFIDENCE_COLUMNS: Final = ("choice_logprobs", "choice_probs", "path_logprobs", "confidence", "samples")
"""Columns of which a method may make a confidence."""


@dataclass(frozen=True, slots=True, eq=False)
class HelmInstance:
    """One instance of a run: a question, as asked in one trial, perturbed or not.

    fields: further ones; logprob: of what was generated, as in the file, None where there is none; tied:
    whether the outcome lies between 0 and 1; broken: why it cannot be read.
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
    """Whether the run has log-probabilities and all of them are exactly 0."""
    there = [item.logprob for item in instances if item.logprob is not None]
    return bool(there) and all(value == 0 for value in there)


def main_split(instances: Sequence[HelmInstance]) -> str | None:
    """The split whose rows are the run's: test, else valid, else the first one there is."""
    there = list(dict.fromkeys(item.split for item in instances if item.split))
    return next((split for split in ("test", "valid", *there) if split in there), None)


def instance_entries(instances: Sequence[HelmInstance], spec: RunSpec) -> Iterator[LogEntry]:
    """A row for each item. Copies (perturbed, of another split) are runs of their own."""
    none, split = has_no_logprobs(instances), main_split(instances)
    trials = len({item.trial for item in instances}) > 1
    for at, item in enumerate(instances, 1):
        share = at / len(instances)
        if item.broken is not None:
            yield LogEntry({}, share=share, broken=item.broken)
            continue
        fields = {name: value for name, value in item.fields.items() if not (none and name in LOGPROB_FIELDS)}
        fields["dataset"] = spec.dataset_name(item.perturbation, item.split if item.split != split else None)
        again = f" (trial {item.trial})" if item.trial else ""
        fields["instance_id"] = None if item.id is None else f"{item.id}{again}"
        fields["trial_of"] = item.id if trials else None
        fields["subject"] = spec.subject
        yield LogEntry(fields, share=share, broken=None if none else _logprob_fault(item.logprob))


def _logprob_fault(logprob: object) -> BrokenRecord | None:
    """What is wrong with a single log-probability, which is exactly 0 or none at all."""
    if logprob is None or not (is_invalid_logprob(logprob) or as_finite_number(logprob) == 0):
        return None
    if is_invalid_logprob(logprob):
        expected = "a natural logarithm of a probability, at most 0"
        return BrokenRecord(0, "out of range", "logprob", expected, str(logprob), "Take the instance out.")
    fix = "If the model was certain write a number just below 0; else leave the instance out."
    expected = "a log-probability below 0: exactly 0.0 is what HELM writes where it was not recorded"
    return BrokenRecord(0, "log-probability 0.0", "logprob", expected, "0.0", fix)


def instance_notes(instances: Sequence[HelmInstance], spec: RunSpec, outcome: str | None) -> Iterator[str]:
    """What a reader of the numbers has to know of the run."""
    if has_no_logprobs(instances):
        yield "logprob is exactly 0.0 in every row, which means: not recorded. No confidence comes from it."
    if outcome is not None:
        yield f"Right or wrong is read from {outcome}; another of the metrics: --map METRIC=correct."
        if ties := sum(1 for item in instances if item.is_tied):
            tied = f"{outcome} lies between 0 and 1 (a tie among choices)"
            yield f"In {plural(ties, 'row')} {tied}: no outcome there."
    perturbed = Counter(item.perturbation for item in instances if item.perturbation)
    for name, count in perturbed.items():
        yield f"{count:,} rows are copies perturbed by {name}: a run of their own."
    split = main_split(instances)
    for name, count in Counter(item.split for item in instances).items():
        if name is not None and name != split:
            yield f"{count:,} rows are of the split {name}, not {split}: a run of their own."
    if (trials := len({item.trial for item in instances})) > 1:
        yield (
            f"Questions come {trials:,} times, once for each train_trial_index: an interval takes all rows "
            f"of a question together, while p counts each row by itself."
        )
    if (differing := spec.differing_shots) is not None:
        yield differing


def refuse_without_logprobs(reading: Reading, instances: Sequence[HelmInstance]) -> Reading:
    """The reading, refused where no log-probability was recorded and nothing else gives a confidence."""
    runs = [run for run in reading.good_runs if isinstance(run, AnswerRun)]
    if not has_no_logprobs(instances) or any(_has_other_confidence(run) for run in runs):
        return reading
    right = [value for run in runs for value in _outcomes_of_run(run)]
    told = f"Accuracy of the {len(right):,} with an outcome: {sum(right) / len(right):.4f}. " if right else ""
    if right and len(runs) > 1 and (first := _outcomes_of_run(runs[0])):
        told = f"{told[:-2]} ({sum(first) / len(first):.4f} of the {len(first):,} of {runs[0].label}). "
    return replace(
        reading,
        refusal=(
            f"{reading.file}: read as {reading.format}, {reading.n_rows:,} rows. {told}logprob is exactly 0.0 "
            f"in every row, which means that none was recorded (HELM writes 0.0 where a model's interface "
            f"gives none): there is no confidence in the file, so nothing in it can be calibrated. Run it on "
            f"a model that gives log-probabilities."
        ),
    )


def _outcomes_of_run(run: AnswerRun) -> list[bool]:
    return run.rows["correct"].drop_nulls().to_list() if "correct" in run.rows.columns else []


def _has_other_confidence(run: AnswerRun) -> bool:
    """Whether a run has something else to make a confidence of than one log-probability a row."""
    return any(run.has_columns(name) for name in CONFIDENCE_COLUMNS)


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
    """The instances in the file's order.

    means: of each instance, by per_instance_stats.json where it is there; outcome: the metric that says right
    or wrong.
    """
    together: dict[InstanceKey, list[Mapping[str, object]]] = {}
    for record in records:
        state = record.value
        if isinstance(state, BrokenRecord):
            yield HelmInstance(None, 0, None, None, {}, broken=state)
        elif method is not None and method.startswith(SEPARATE_METHOD):
            together.setdefault(_state_key(state), []).append(state)
        else:
            yield _single_request_instance(state, means.get(_state_key(state)), outcome)
    for key, states in together.items():
        yield _per_choice_instance(key, states, means.get(key), outcome)


def _state_key(state: Mapping[str, object]) -> InstanceKey:
    instance = as_object(state.get("instance"))
    return (
        as_name(instance.get("id")),
        trial_number(state.get("train_trial_index")),
        perturbation_name(instance.get("perturbation")),
    )


def _question_fields(instance: Mapping[str, object]) -> dict[str, object]:
    """The question, its choices and the right ones, which are the references that are tagged so."""
    references = [as_object(reference) for reference in as_list(instance.get("references"))]
    choices = [as_text(as_object(reference.get("output")).get("text")) or "" for reference in references]
    right = [at for at, reference in enumerate(references) if "correct" in as_list(reference.get("tags"))]
    told: dict[str, object] = {"question": as_text(as_object(instance.get("input")).get("text"))}
    if right:
        told["gold_all"] = list(dict.fromkeys(choices[at] for at in right))
    if len(choices) > 1 and len(right) < len(choices):
        told["choices"] = choices
        if len(right) == 1:
            told["gold_index"] = right[0]
    return told


def add_outcome(
    fields: dict[str, object], means: Mapping[str, object] | None, outcome: str | None
) -> tuple[dict[str, object], bool]:
    """The fields with the instance's metrics, and whether the outcome is a tie, which is none."""
    found = {metric: means[metric] for metric in OUTCOME_METRICS if metric in (means or {})} if means else {}
    value = as_finite_number(found.get(outcome or ""))
    tied = value is not None and 0 < value < 1
    if tied and outcome is not None:
        found[outcome] = None
    return fields | found, tied


def _single_request_instance(
    state: Mapping[str, object], means: Mapping[str, object] | None, outcome: str | None
) -> HelmInstance:
    instance, result = as_object(state.get("instance")), as_object(state.get("result"))
    given = [as_object(completion) for completion in as_list(result.get("completions"))]
    given = sorted(given, key=lambda completion: -(as_finite_number(completion.get("logprob")) or 0.0))
    told = _question_fields(instance)
    mapping = as_object(state.get("output_mapping"))
    if not mapping:
        told.pop("choices", None)
        told.pop("gold_index", None)
    best = given[0] if given and result.get("success") is not False else None
    if best is None:
        told["status"] = "error"
    else:
        told |= _answer_fields(best, mapping, cast("Sequence[str]", told.get("gold_all", ())))
    if len(given) > 1:  # as they were sampled; the likeliest alone is judged
        sampled = map(as_object, as_list(result.get("completions")))
        told["samples"] = [_choice_text(as_text(each.get("text")) or "", mapping) for each in sampled]
    told, tied = add_outcome(told, means, outcome)
    raw = None if best is None or _is_blank_completion(best) else best.get("logprob")
    id_, trial, perturbation = _state_key(state)
    return HelmInstance(id_, trial, perturbation, as_name(instance.get("split")), told, raw, tied)


def _is_blank_completion(completion: Mapping[str, object]) -> bool:
    return not completion.get("tokens") and not (as_text(completion.get("text")) or "").strip()


def _answer_fields(
    completion: Mapping[str, object], mapping: Mapping[str, object], references: Sequence[str]
) -> dict[str, object]:
    """The answer, whether it is one of the right ones as HELM compares them, and how probable it is."""
    said = as_text(completion.get("text")) or ""
    told: dict[str, object] = {"prediction_text": said, "prediction": _choice_text(said, mapping)}
    answer = as_text(mapping.get(said.strip())) if mapping else said
    if references:
        told["as references"] = answer is not None and answer.strip() in [one.strip() for one in references]
    total = as_logprob(completion.get("logprob"))
    if total is not None and not _is_blank_completion(completion):
        told["max_prob"] = math.exp(total)
    if tokens := [as_object(token) for token in as_list(completion.get("tokens"))]:
        raw = [token.get("logprob") for token in tokens]
        told["tokens"] = [value if is_invalid_logprob(value) else as_logprob(value) for value in raw]
    return told


def _choice_text(text: str, mapping: Mapping[str, object]) -> str:
    """The text of the choice whose letter was said, else what was said."""
    return as_text(mapping.get(text.strip())) or text


def _per_choice_instance(
    key: InstanceKey,
    states: Sequence[Mapping[str, object]],
    means: Mapping[str, object] | None,
    outcome: str | None,
) -> HelmInstance:
    instance = as_object(states[0].get("instance"))
    told = _question_fields(instance)
    choices = cast("list[str]", told.get("choices") or [])
    asked: dict[bool, list[tuple[float | None, int]]] = {}
    for calibration in (False, True):
        own = {
            as_integer(state.get("reference_index")): state
            for state in states
            if (state.get("request_mode") == CALIBRATION_MODE) is calibration
        }
        if own:
            asked[calibration] = [_choice_logprob(own.get(at), choice) for at, choice in enumerate(choices)]
    sums, counts = zip(*asked.get(False, ()), strict=True) if asked.get(False) else ((), ())
    if True in asked:
        told["choice_probs"] = _calibrated_probs(sums, [value for value, _ in asked[True]])
    elif any(value is not None for value in sums):
        told["logprobs"] = list(sums)
        if all(counts):
            told["choice_token_counts"] = list(counts)
    told, tied = add_outcome(told, means, outcome)
    known = [value for value in sums if value is not None]
    doubtful = next(_invalid_token_logprobs(states), 0.0 if 0.0 in known else min(known, default=None))
    return HelmInstance(*key, as_name(instance.get("split")), told, doubtful, tied)


def _invalid_token_logprobs(states: Iterable[Mapping[str, object]]) -> Iterator[object]:
    """Values of the tokens that are no log-probabilities."""
    for state in states:
        for completion in map(as_object, as_list(as_object(state.get("result")).get("completions"))):
            logs = [as_object(token).get("logprob") for token in as_list(completion.get("tokens"))]
            yield from filter(is_invalid_logprob, logs)


def _choice_logprob(state: Mapping[str, object] | None, choice: str) -> tuple[float | None, int]:
    """The sum over the choice's own tokens, the last ones that make up its text, and how many they are."""
    given = as_list(as_object((state or {}).get("result")).get("completions"))
    tokens = [as_object(token) for token in as_list(as_object(given[0]).get("tokens"))] if given else []
    end, total = "", 0.0
    for count, token in enumerate(reversed(tokens), 1):
        end = (as_text(token.get("text")) or "").translate(TOKENIZER_SPACES) + end
        value = as_logprob(token.get("logprob"))
        if value is None:
            return None, 0
        total += value
        said, wanted = end.strip(), choice.strip()
        if said == wanted or (len(said) > len(wanted) and said.endswith(wanted)):
            return total, count
    return None, 0


def _calibrated_probs(sums: Sequence[float | None], baselines: Sequence[float | None]) -> list[float] | None:
    """The softmax of log-probability with the question minus that without; None where one is not known."""
    pairs = zip(sums, baselines, strict=True)
    gains = [one - other for one, other in pairs if one is not None and other is not None]
    if not gains or len(gains) < len(sums):
        return None
    weights = [math.exp(gain - max(gains)) for gain in gains]
    return [weight / math.fsum(weights) for weight in weights]
