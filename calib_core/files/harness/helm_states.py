"""What does a HELM scenario_state.json say of each question?  What was asked of the model, and what it gave.

Methods: generation and multiple_choice_joint ask once; multiple_choice_separate_* ask once for each choice,
in the calibrated form once more without the question, which is subtracted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, cast

from calib_core.files.harness.helm_items import HelmInstance
from calib_core.files.harness.helm_spec import OUTCOME_METRICS, perturbation_name, trial_number
from calib_core.files.harness.json_values import (
    as_list,
    as_logprob,
    as_name,
    as_finite_number,
    as_object,
    as_text,
    as_integer,
    is_invalid_logprob,
)
from calib_core.files.harness.logged import LogRecord
from calib_core.files.tables.raw import BrokenRecord

InstanceKey = tuple[str | None, int, str | None]
"""Id, trial and perturbation of an instance."""

SEPARATE_METHOD: Final = "multiple_choice_separate"
CALIBRATION_MODE: Final = "calibration"

_TOKENIZER_SPACES: Final = str.maketrans({"\u2581": " ", "\u0120": " ", "\u010a": "\n"})


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


def _single_request_instance(state: Mapping[str, object], means: Mapping[str, object] | None, outcome: str | None) -> HelmInstance:
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
    key: InstanceKey, states: Sequence[Mapping[str, object]], means: Mapping[str, object] | None, outcome: str | None
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
        end = (as_text(token.get("text")) or "").translate(_TOKENIZER_SPACES) + end
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
