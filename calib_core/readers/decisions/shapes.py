"""One response of a decision server, whatever its shape: which questions it answers, and how probably.

System One's answers are an object by question, OpenAI's a list; others mix the two. What is printed as
`confidence` is derived from the probabilities by a formula of each server's own: it orders answers, and is no
probability.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from calib_core.readers.json_values import (
    BadValueError,
    as_float,
    as_integer,
    as_list,
    as_name,
    as_object,
    as_text,
    is_list,
    is_object,
    optional_object,
    require_object,
)
from calib_core.readers.table.json_reader import RepeatedKeyError, parse_json
from calib_core.readers.table.list_cells import printed_tolerance
from calib_core.readers.table.raw import BrokenRecord

Option = str | bool
"""A choice; `true` and the text "true" are two."""

YES_NO_TYPES: Final = ("noul", "predicate", "yes_no", "boolean")
ANSWER_TYPES: Final = frozenset({"choice", "score", "refusal", "box", *YES_NO_TYPES})
"""What the field `type` of an answer may be."""

ID_FIELDS: Final = ("custom_id", "case_id", "item_id", "state_hash", "requestId")
"""Where the caller's id of a request may be; a server's own `id` is none."""

GOLD_FIELDS: Final = ("gold", "expected", "expect")
"""Where right answers may be inside a record."""

NO_ANSWER: Final[Mapping[str, str]] = {"refusal": "refused", "box": "box"}
"""Type of an answer without a distribution → the status of its row."""

_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class DecisionAnswer:
    """The answer to one question.

    Attributes
    ----------
    kind : {"choice", "score", "yes_no"} or None
        None for an answer without a distribution.
    status : str
        Why there is none: "refused", "box" or "unknown type"; "" where there is one.
    options : tuple of str or bool
        The options of a choice, or the labels of a scale; () where the levels have none.
    probs : tuple of float
        In [0, 1], for each option or level; of a yes-or-no question, that of yes.
    chosen : str, bool or None
        The choice that the server names.
    label_mass : float or None
        Share of the options in the whole vocabulary.
    confidence : float or None
        What the server derived from the probabilities.
    """

    kind: Literal["choice", "score", "yes_no"] | None
    status: str = ""
    options: tuple[Option, ...] = ()
    probs: tuple[float, ...] = ()
    chosen: Option | None = None
    label_mass: float | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """What a request says of a question: its options in their order, or the labels of its levels."""

    name: str
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class DecisionResponse:
    """The response to one request.

    Attributes
    ----------
    id : str or None
        The caller's.
    model, dataset : str or None
    answers : tuple of (str, DecisionAnswer or BrokenRecord)
        By question, in their order.
    asked : tuple of AskedQuestion
        What the request asks; () where it is not in the record.
    failure : str
        "error" for a failed request, "blocked" for a blocked one; "" else.
    gold : object
        Right answers inside the record; None without.
    """

    id: str | None = None
    model: str | None = None
    dataset: str | None = None
    answers: tuple[tuple[str, DecisionAnswer | BrokenRecord], ...] = ()
    asked: tuple[AskedQuestion, ...] = ()
    failure: str = ""
    gold: object = field(default=None)


def is_decision(record: Mapping[str, object]) -> bool:
    """Whether a record holds at least one answer of a type that is known."""
    return any(
        as_object(answer).get("type") in ANSWER_TYPES or _mediapipe_type(answer)
        for _, body in _bodies(record)
        for _, answer in _typed_answers(body)
    )


def parse_response(record: Mapping[str, object]) -> DecisionResponse:
    """The response in one record.

    Raises
    ------
    BadValueError
        A value that numbers rest on has the wrong type.
    """
    found = list(_bodies(record))
    path, body = next(
        ((path, body) for path, body in found if "answers" in as_object(body) or _typed_answers(body)),
        found[-1],
    )
    fields = as_object(body)
    request = as_object(record.get("request"))
    request = as_object(request.get("body")) or request
    asked = tuple(_asked(request.get("questions")))
    logged = as_object(record.get("result"))  # of jevcal
    known = (fields, as_object(record.get("response")), request, logged, record)
    model, dataset = (
        next((name for one in known if (name := as_name(one.get(key)))), None) for key in ("model", "dataset")
    )
    id_ = next(
        (name for one in (record, request, logged) for key in ID_FIELDS if (name := as_name(one.get(key)))),
        None,
    )
    blocked = any(as_object(one.get("prompt_feedback")).get("block_reason") for one in known)
    answers = tuple(_answers(body, path, asked, as_object(fields.get("diagnostics"))))
    failure = "blocked" if blocked else "error" if _is_failed(record, fields) and not answers else ""
    gold = next((record[key] for key in GOLD_FIELDS if record.get(key) is not None), None)
    return DecisionResponse(id_, model, dataset, () if failure else answers, asked, failure, gold)


def _bodies(record: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Where the answers may be, with the path of each place: within, below or beside the envelope."""
    response = record.get("response")
    for path, value in (
        ("response.body.", as_object(response).get("body")),
        ("response.output.", as_object(response).get("output")),
        ("response.", response),
        ("output.", record.get("output")),
        ("body.", record.get("body")),
        ("result.raw.", as_object(record.get("result")).get("raw")),
    ):
        if isinstance(value, str):
            try:
                value = parse_json(value)  # noqa: PLW2901  promptfoo writes the response as text
            except (ValueError, RecursionError, RepeatedKeyError):
                continue
        if is_object(value) or is_list(value):
            yield path, value
    if breakdown := as_list(record.get("score_breakdown")):
        yield "score_breakdown.", {"answers": [*map(_of_breakdown, map(as_object, breakdown))]}
    question, answer = as_name(record.get("question")), record.get("answer")
    if question is not None and is_object(answer):  # a line of jev-eval
        yield "", {**record, "answers": {question: answer}}
    yield "", record


def _of_breakdown(outcome: Mapping[str, object]) -> Mapping[str, object]:
    """An outcome of DeepEval's JevEval as an answer.

    Levels have their texts alone there, in no order that can be relied on, so that they are options.
    """
    type_ = "choice" if outcome.get("type") == "score" else outcome.get("type")
    return {**outcome, "name": outcome.get("question"), "type": type_}


def _is_failed(record: Mapping[str, object], body: Mapping[str, object]) -> bool:
    status = as_integer(as_object(record.get("response")).get("status_code"))
    is_empty = "response" in record and record["response"] is None
    return bool(record.get("error") or body.get("error") or is_empty or status not in (None, 200))


def _typed_answers(body: object) -> list[tuple[str | None, object]]:
    """(name, answer) of each answer in a response; a name may lack."""
    if is_list(body):  # MediaPipe's JavaScript
        return [(as_name(as_object(one).get("id")), one) for one in as_list(body) if _mediapipe_type(one)]
    answers = as_object(body).get("answers")
    if answers is None:  # its Python
        answers = {name: answer for name, answer in as_object(body).items() if _mediapipe_type(answer)}
    if is_object(answers):
        return [*as_object(answers).items()]
    return [(as_name(as_object(one).get("name")), one) for one in as_list(answers)]


def _mediapipe_type(answer: object) -> Literal["choice", "score", "yes_no"] | None:
    """What an answer of MediaPipe is, which has no type: of a list in JavaScript, or a result in Python.

    None for any other answer.
    """
    fields = as_object(answer)
    stated = fields.get("probabilities")
    if "type" in fields:
        return None
    if {"value", "probability_true"} <= fields.keys():
        return "yes_no"
    if "selected_key" in fields and (is_object(stated) or (is_list(stated) and "expected_score" in fields)):
        return "choice" if is_object(stated) else "score"
    is_listed = bool(as_list(stated)) and all(
        {"label", "probability"} <= as_object(one).keys() for one in as_list(stated)
    )
    if not ({"id", "label"} <= fields.keys() and is_listed):
        return None
    return "score" if "expectedScore" in fields else "choice"


def _asked(questions: object) -> Iterator[AskedQuestion]:
    """The questions of a request, in their order."""
    if is_object(questions):
        named: list[tuple[str | None, object]] = [*as_object(questions).items()]
    else:
        named = [(as_name(as_object(one).get("name")), one) for one in as_list(questions)]
    for number, (name, question) in enumerate(named, 1):
        fields = as_object(question)
        listed = next(
            (
                fields[key]
                for key in ("choices", "levels", "criteria")
                if (is_object(fields.get(key)) or is_list(fields.get(key)))
            ),
            (),
        )
        options: Sequence[object] = list(as_object(listed)) if is_object(listed) else as_list(listed)
        plain = [_plain_option(option) for option in options]
        kept = tuple(option for option in plain if option is not None)
        yield AskedQuestion(name or f"#{number}", kept if len(kept) == len(plain) else ())


def _plain_option(option: object) -> Option | None:
    """An option as it stands, or the value or label of one with further fields."""
    if is_object(option):
        fields = as_object(option)
        option = fields["value"] if isinstance(fields.get("value"), str | bool) else fields.get("label")
    return option if isinstance(option, str | bool) else None


def _answers(
    body: object, path: str, asked: Sequence[AskedQuestion], diagnostics: Mapping[str, object]
) -> Iterator[tuple[str, DecisionAnswer | BrokenRecord]]:
    """Each answer under the name of its question; a second one of a name is broken."""
    seen: set[str] = set()
    typed = _typed_answers(body)
    for number, (given, answer) in enumerate(typed, 1):
        in_order = len(asked) == len(typed)
        name = given or (asked[number - 1].name if in_order else f"#{number}")
        own = f"{path}answers.{name}"
        if name in seen:
            fix = "Keep one of them."
            yield name, BrokenRecord(0, "repeated question", own, "one answer to a question", repr(name), fix)
            continue
        seen.add(name)
        try:
            yield name, _answer(require_object(answer, own), own, as_object(diagnostics.get(name)))
        except BadValueError as bad:
            yield name, bad.broken


def _answer(answer: Mapping[str, object], path: str, diagnostics: Mapping[str, object]) -> DecisionAnswer:
    type_ = _mediapipe_type(answer) or as_text(answer.get("type"))
    mass = as_float(answer.get("label_mass", diagnostics.get("label_mass")))
    confidence = as_float(answer.get("confidence"))
    stated = answer.get("probabilities")
    if type_ in NO_ANSWER:
        return DecisionAnswer(None, NO_ANSWER[type_])
    if type_ in YES_NO_TYPES:
        probs = (_yes_probability(answer, path),)
        return DecisionAnswer("yes_no", probs=probs, label_mass=mass, confidence=confidence)
    if type_ not in ("choice", "score"):
        return DecisionAnswer(None, "unknown type")
    if not stated:
        found = "none" if confidence is None else "only a confidence, which is not a probability"
        raise BadValueError(
            f"{path}.probabilities", "the probability of every option", found, "no probabilities"
        )
    if type_ == "score":
        options, probs = _levels(answer, path)
        return DecisionAnswer("score", "", options, probs, None, mass, confidence)
    options, probs = _options(stated, f"{path}.probabilities")
    chosen = next((answer[key] for key in ("choice", "label", "selected_key") if key in answer), None)
    chosen = chosen if isinstance(chosen, str | bool) else None
    return DecisionAnswer("choice", "", options, probs, chosen, mass, confidence)


def _yes_probability(answer: Mapping[str, object], path: str) -> float:
    for key in ("noul", "probability", "probability_true"):
        if answer.get(key) is not None:
            return _probability(answer[key], f"{path}.{key}")
    stated = optional_object(answer.get("probabilities"), f"{path}.probabilities")
    for keys in (("yes", "no"), ("true", "false")):
        if set(stated) == {*keys}:
            probs = [_probability(stated[key], f"{path}.probabilities.{key}") for key in keys]
            _check_sum(probs, f"{path}.probabilities")
            return probs[0]
    found = (
        "only a confidence, which is not a probability" if answer.get("confidence") is not None else "none"
    )
    raise BadValueError(path, "the probability of yes", found, "no probabilities")


def _options(stated: object, path: str) -> tuple[tuple[Option, ...], tuple[float, ...]]:
    """The options of a choice, with the type they have in JSON, and their probabilities."""
    if is_object(stated):
        pairs: list[tuple[object, object]] = [*as_object(stated).items()]
    else:
        listed = [require_object(one, f"{path}.{at}") for at, one in enumerate(as_list(stated))]
        pairs = [(one.get("value", one.get("label")), one.get("probability")) for one in listed]
    options: dict[tuple[type, Option], float] = {}
    for option, probability in pairs:
        if not isinstance(option, str | bool):
            raise BadValueError(path, "options that are texts, true or false", option)
        key = (type(option), option)
        if key in options:
            raise BadValueError(path, "each option once", option, "repeated option")
        options[key] = _probability(probability, f"{path}.{option}")
    probs = tuple(options.values())
    _check_sum(probs, path)
    return tuple(option for _, option in options), probs


def _levels(answer: Mapping[str, object], path: str) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """The labels of a scale's levels, () where it has none, and their probabilities, the lowest first."""
    stated, own = answer.get("probabilities"), f"{path}.probabilities"
    labels: dict[int, str] = {}
    by_level: dict[int, float] = {}
    if is_object(stated):
        entries: list[tuple[object, object, object]] = [
            (key, value, as_object(answer.get("legend")).get(key)) for key, value in as_object(stated).items()
        ]
    else:
        entries = [
            (as_object(one).get("value", at), as_object(one).get("probability"), as_object(one).get("label"))
            if is_object(one)
            else (at, one, None)
            for at, one in enumerate(as_list(stated))
        ]
    for key, value, label in entries:
        level = int(key) if isinstance(key, str) and key.isdecimal() and len(key) < 5 else as_integer(key)
        if level is None or level in by_level:
            raise BadValueError(own, "levels numbered from 0, each once", key, "unknown level")
        by_level[level] = _probability(value, f"{own}.{level}")
        if (name := as_name(label)) is not None:
            labels[level] = name
    n = len(by_level)
    if sorted(by_level) != list(range(n)):
        raise BadValueError(own, "levels numbered from 0 without a gap", sorted(by_level), "unknown level")
    probs = tuple(by_level[level] for level in range(n))
    _check_sum(probs, own)
    for key in ("expectedScore", "expected_score"):
        _check_expectation(answer.get(key), probs, f"{path}.{key}")
    is_labelled = len(labels) == n == len(set(labels.values()))
    return (tuple(labels[level] for level in range(n)) if is_labelled else ()), probs


def _check_expectation(stated: object, probs: Sequence[float], path: str) -> None:
    """Refuse levels in another order than the one that the server's expectation is of."""
    score = as_float(stated)
    if score is None:
        return
    expected = math.fsum(level * p for level, p in enumerate(probs))
    if abs(score - expected) > 0.01 * sum(range(len(probs))) + _ROUNDING:  # as printed with two decimals
        raise BadValueError(path, f"Σ level · p, which is {expected:.3g}", stated, "score of another order")


def _probability(value: object, path: str) -> float:
    number = as_float(value)
    if number is None or not -_ROUNDING <= number <= 1 + _ROUNDING:
        raise BadValueError(path, "a probability from 0 to 1", value, "not a probability")
    return min(max(number, 0.0), 1.0)


def _check_sum(probs: Sequence[float], path: str) -> None:
    total, tolerance = math.fsum(probs), printed_tolerance(probs)
    if not abs(total - 1) <= tolerance + _ROUNDING:
        raise BadValueError(
            path,
            f"probabilities that sum to 1 within {tolerance:.3g}",
            round(total, 6),
            "distribution does not sum to 1",
        )
