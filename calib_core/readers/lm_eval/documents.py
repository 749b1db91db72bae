"""One record of a samples log of lm-evaluation-harness: the request, the response and its scores.

Prompts are discarded at once: they are repeated for every choice and make up most of such a file.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final, Literal, cast

from calib_core.errors import shorten
from calib_core.readers.json_values import (
    BadValueError,
    as_finite_number,
    as_float,
    as_list,
    as_object,
    optional_list,
    optional_name,
    optional_object,
    optional_text,
    require_text,
)
from calib_core.readers.table.raw import BrokenRecord, as_json_text

DocumentKind = Literal["choice", "generation", "single", "nothing"]
"""Choices with one log-likelihood each; generated text; the log-likelihood of a single text; no response."""

NO_FILTER: Final = "none"
INVALID_ANSWER: Final = "[invalid]"
"""The text that the tool's filters write where they find no answer."""

_OPTION_KEYS: Final = ("choices", "options", "endings", "opts", "candidates", "entities")
_QUESTION_KEYS: Final = (
    "question",
    "query",
    "problem",
    "goal",
    "sentence",
    "ctx",
    "premise",
    "input",
    "left",
)
_GROUP_KEYS: Final = ("subject", "category", "subcategory", "level", "difficulty", "type", "topic", "domain")
_ANSWER_KEYS: Final = ("answer", "label", "gold", "gold_index", "answerKey", "correct", "target")
_ANSWER_LIST_KEYS: Final = (*_ANSWER_KEYS, "answers", "references", "correct_answers")
_NON_METRIC_KEYS: Final = frozenset(
    {
        "doc_id",
        "doc",
        "target",
        "arguments",
        "resps",
        "filtered_resps",
        "filter",
        "metrics",
        "doc_hash",
        "prompt_hash",
        "target_hash",
        "input",
        "submission",
        "task",
        "index",
    }
)
_MAX_QUESTION_CHARACTERS: Final = 2_000
"""Characters of the prompt's end that stand in for a question the document does not name."""


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """One request to the model.

    Attributes
    ----------
    context : object
        What the model is given, as stored.
    continuation : object
        What is scored after it, or the settings of a generation; None where a whole text is scored.
    context_path, continuation_path : str
        Where they stand in the record.
    """

    context: object
    continuation: object
    context_path: str
    continuation_path: str


@dataclass(slots=True, eq=False)
class Document:
    """One document (question) of a task, without its prompts.

    Attributes
    ----------
    kind : DocumentKind
        How the document is asked.
    id : str or None
        ``doc_id`` as text.
    doc_hash : str
        ``doc_hash``; "" in old logs.
    line : int or None
        Line of the record, from 1; None in formats without lines.
    share : float
        Share of the file read up to this record, in [0, 1].
    question : str or None
        The question's text.
    group_fields : Mapping[str, object]
        Fields by which questions are grouped, such as a subject or a level.
    target : object
        The right answer as stored.
    choices : list[str]
        The choices as the model was scored on them, without the delimiter.
    is_delimited : bool
        Whether every choice began with the delimiter.
    contexts_differ : bool
        Whether the choices are part of the context, as in a cloze task.
    options : list[str]
        The texts that the document itself has for the choices.
    loglikelihoods : list[object]
        One raw log-likelihood (nats) per choice, as stored.
    n_unconditional : int
        Number of requests that scored a choice without the question.
    loglikelihood_field : str
        The field from which the log-likelihoods were read.
    answer_fields : Mapping[str, object]
        Fields of the document that may name the right choice.
    answer_lists : Mapping[str, frozenset[str]]
        Fields of the document that list the texts of its right choices, without white space around them.
    marked_choices : Mapping[str, tuple[int, ...]]
        Field → positions of the choices it marks as right.
    samples : list[str or None]
        Generated texts in sampling order; None where one is missing.
    filtered_samples : list[str] or None
        The answers that a filter extracted from the samples.
    generation_settings : Mapping[str, object]
        Settings of the generation request.
    filtered_answers : dict[str, str or None]
        Filter → its one answer.
    scores : dict[str, float]
        "metric,filter" → value.
    filters : list[str]
        Names of the filters, in the file's order.
    broken : BrokenRecord or None
        Why the record cannot be used.
    """

    kind: DocumentKind
    id: str | None
    doc_hash: str
    line: int | None
    share: float
    question: str | None = None
    group_fields: Mapping[str, object] = field(default_factory=dict[str, object])
    target: object = None
    choices: list[str] = field(default_factory=list[str])
    is_delimited: bool = False
    contexts_differ: bool = False
    options: list[str] = field(default_factory=list[str])
    loglikelihoods: list[object] = field(default_factory=list[object])
    n_unconditional: int = 0
    loglikelihood_field: str = "filtered_resps"
    answer_fields: Mapping[str, object] = field(default_factory=dict[str, object])
    answer_lists: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    marked_choices: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    samples: list[str | None] = field(default_factory=list[str | None])
    filtered_samples: list[str] | None = None
    generation_settings: Mapping[str, object] = field(default_factory=dict[str, object])
    filtered_answers: dict[str, str | None] = field(default_factory=dict[str, str | None])
    scores: dict[str, float] = field(default_factory=dict[str, float])
    filters: list[str] = field(default_factory=list[str])
    broken: BrokenRecord | None = None

    def score(self, metric: str) -> float | None:
        """Value of a metric by the first filter that has it; None where no filter does."""
        keys = (f"{metric},{name}" for name in self.filters)
        return next((self.scores[key] for key in keys if key in self.scores), None)

    @property
    def best_choice(self) -> int | None:
        """Position of the largest log-likelihood, the first of ties; None where one is invalid."""
        values = self.valid_loglikelihoods
        return values.index(max(values)) if values and max(values) > -math.inf else None

    @property
    def valid_loglikelihoods(self) -> list[float]:
        """The log-likelihoods as numbers ≤ 0; [] where any of them is invalid."""
        numbers = [parse_float(value) for value in self.loglikelihoods]
        if any(value is None or math.isnan(value) or value > 0 for value in numbers):
            return []
        return cast("list[float]", numbers)


def differing_parts(contexts: Sequence[str]) -> list[str]:
    """The part of each context that the others do not share, in whole words.

    Examples
    --------
    >>> differing_parts(["The cat sat down.", "The old dog sat down."])
    ['cat', 'old dog']
    """

    def n_shared_words(texts: Sequence[list[str]]) -> int:
        return sum(1 for _ in takewhile(lambda words: len(set(words)) == 1, zip(*texts, strict=False)))

    words = [context.split(" ") for context in contexts]
    before = n_shared_words(words)
    after = n_shared_words([list(reversed(part[before:])) for part in words])
    return [" ".join(part[before : len(part) - after]) for part in words]


def document_options(fields: Mapping[str, object], n_choices: int) -> list[str]:
    """The document's own texts of its choices; [] unless there is one text per choice."""
    for key in _OPTION_KEYS:
        value = fields.get(key)
        texts = as_list(value) or as_list(as_object(value).get("text"))  # ARC: {"text": […], "label": […]}
        if (
            n_choices
            and len(texts) == n_choices
            and all(isinstance(text, str | int | float) for text in texts)
        ):
            return [as_json_text(text) or "" for text in texts]
    return []


def marked_choices(
    fields: Mapping[str, object], choices: Sequence[str]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The fields that mark some choices as right, each with the positions of these choices.

    TruthfulQA, for example, has ``{"choices": […], "labels": [1, 0, …]}``.
    """
    for key, value in fields.items():
        marks = as_object(value)
        labels = as_list(marks.get("labels"))
        texts = [as_json_text(text) for text in as_list(marks.get("choices"))]
        is_marked = len(labels) == len(texts) > 0 and all(label in (0, 1) for label in labels)
        if is_marked and texts == list(choices):
            yield key, tuple(at for at, label in enumerate(labels) if label == 1)


def parse_float(value: object) -> float | None:
    """The value as a float, also from text; None where it is not a number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def parse_document(
    record: Mapping[str, object], line: int | None, share: float, delimiter: str | None
) -> Document:
    """One record as a document with a single filter.

    Parameters
    ----------
    record : Mapping[str, object]
        The parsed record.
    line : int or None
        Line of the record, from 1.
    share : float
        Share of the file read up to this record, in [0, 1].
    delimiter : str or None
        Text between context and choice; None where it is not known.
    """
    try:
        return _parse_document(record, line, share, delimiter)
    except BadValueError as wrong:
        return Document("nothing", None, "", line, share, broken=wrong.broken)


def _parse_document(
    record: Mapping[str, object], line: int | None, share: float, delimiter: str | None
) -> Document:
    requests = _parse_requests(record.get("arguments"))
    resps = [
        optional_list(part, f"resps.{at}")
        for at, part in enumerate(optional_list(record.get("resps"), "resps"))
    ]
    doc = Document(
        _document_kind(requests, resps),
        optional_name(record.get("doc_id"), "doc_id"),
        optional_text(record.get("doc_hash"), "doc_hash") or "",
        line,
        share,
    )
    filter_name = optional_text(record.get("filter"), "filter") or NO_FILTER
    doc.filters.append(filter_name)
    doc.scores.update(_parse_scores(record, filter_name))
    doc.target = record.get("target")
    fields = as_object(record.get("doc"))
    doc.question = _question_text(fields, requests)
    doc.group_fields = {key: fields[key] for key in _GROUP_KEYS if isinstance(fields.get(key), str | int)}
    if doc.kind == "choice":
        _fill_choices(doc, requests, resps, record, delimiter)
        doc.options = document_options(fields, len(doc.choices))
        doc.marked_choices = dict(marked_choices(fields, doc.choices))
        doc.answer_fields = {
            key: fields[key] for key in _ANSWER_KEYS if isinstance(fields.get(key), str | int)
        }
        doc.answer_lists = dict(_answer_lists(fields))
    elif doc.kind == "generation":
        _fill_samples(doc, requests, resps, record, filter_name)
    return doc


def mark_odd_targets(docs: Sequence[Document]) -> None:
    """Makes the documents bad whose target is of another type than most: a task writes one type of them."""
    types = Counter(kind for doc in docs if (kind := _target_type(doc.target)) is not None)
    usual = max(types, key=lambda kind: types[kind], default=None)
    for doc in docs:
        if doc.broken is None and doc.target is not None and _target_type(doc.target) != usual:
            doc.broken = BadValueError(
                "target", f"{usual or 'a text'}, as in the other records", doc.target
            ).broken


def _target_type(target: object) -> str | None:
    """What a target is, in words; None where it is missing or no number."""
    if as_float(target) is not None:
        return None if as_finite_number(target) is None else "a number"
    words: dict[type, str] = {str: "a text", bool: "true or false", list: "a list", dict: "an object"}
    return words.get(type(target))


def _answer_lists(fields: Mapping[str, object]) -> Iterator[tuple[str, frozenset[str]]]:
    """The fields that list right answers as texts, each with the texts."""
    for key in _ANSWER_LIST_KEYS:
        texts = [text.strip() for text in as_list(fields.get(key)) if isinstance(text, str)]
        if texts and len(texts) == len(as_list(fields.get(key))):
            yield key, frozenset(texts)


def _parse_requests(stored: object) -> list[Request]:
    """Requests to the model: `{"gen_args_0": {"arg_0": …, "arg_1": …}}`, or old logs' `[[…, …]]`."""
    parts = _by_name(stored, "arguments")
    requests: list[Request] = []
    for at, name in enumerate(sorted(parts, key=lambda name: (len(name), name))):
        path = f"arguments.{name}"
        if name.removeprefix("gen_args_") != str(at):
            raise BadValueError(path, f"the key gen_args_{at}, counted from 0", name, "wrong key")
        first, second = ("0", "1") if isinstance(parts[name], list) else ("arg_0", "arg_1")
        values = _by_name(parts[name], path)
        requests.append(Request(values.get(first), values.get(second), f"{path}.{first}", f"{path}.{second}"))
    return requests


def _by_name(stored: object, path: str) -> Mapping[str, object]:
    """An object, or a list as an object of its elements by position."""
    if isinstance(stored, list):
        return {str(at): part for at, part in enumerate(as_list(cast("object", stored)))}
    return optional_object(stored, path)


def _document_kind(requests: Sequence[Request], resps: Sequence[Sequence[object]]) -> DocumentKind:
    first = next((value for part in resps for value in part if value is not None), None)
    if first is None:
        return "nothing"
    if isinstance(first, list):
        return "choice" if len(resps) > 1 else "single"
    is_rolling = bool(requests) and all(request.continuation is None for request in requests)
    return "single" if is_rolling else "generation"  # the number of a whole text, or a text


def _fill_choices(
    doc: Document,
    requests: Sequence[Request],
    resps: Sequence[Sequence[object]],
    record: Mapping[str, object],
    delimiter: str | None,
) -> None:
    """Fills in the choices and log-likelihoods, leaving out requests made without the question."""
    filtered = [as_list(part) for part in as_list(record.get("filtered_resps"))]
    pairs = filtered
    if len(filtered) != len(resps) or not all(filtered):
        firsts = [part[0] if part else None for part in resps]
        pairs = [optional_list(pair, f"resps.{at}.0") for at, pair in enumerate(firsts)]
        doc.loglikelihood_field = "resps"
    for at, pair in enumerate(pairs):
        if len(pair) > 2:
            path = f"{doc.loglikelihood_field}.{at}"
            raise BadValueError(path, "a log-likelihood and whether its text is the likeliest", pair)
    doc.loglikelihoods = [pair[0] if pair else None for pair in pairs]
    if requests and len(requests) != len(pairs):
        found = (
            f"{len(pairs):,}: {', '.join(as_json_text(value) or 'null' for value in doc.loglikelihoods[:8])}"
        )
        expected = f"one log-likelihood for each of the {len(requests):,} requests in arguments"
        fix = "The record may be half written: run it again, or leave it out."
        doc.broken = BrokenRecord(
            0, "too few or too many numbers", doc.loglikelihood_field, expected, shorten(found), fix
        )
        return
    contexts = [require_text(request.context, request.context_path) for request in requests]
    continuations = [require_text(request.continuation, request.continuation_path) for request in requests]
    conditional = [at for at, context in enumerate(contexts) if context]
    if conditional and 2 * len(conditional) == len(requests) and conditional == list(range(len(conditional))):
        doc.n_unconditional = len(conditional)
        contexts, continuations = contexts[: len(conditional)], continuations[: len(conditional)]
        doc.loglikelihoods = doc.loglikelihoods[: len(conditional)]
    doc.contexts_differ = len(set(contexts)) > 1 and len(set(continuations)) == 1
    if doc.contexts_differ:
        doc.choices = differing_parts(contexts)
        return
    prefix = " " if delimiter is None else delimiter
    doc.is_delimited = (
        bool(prefix)
        and bool(continuations)
        and all(continuation.startswith(prefix) for continuation in continuations)
    )
    doc.choices = (
        [continuation.removeprefix(prefix) for continuation in continuations]
        if doc.is_delimited
        else continuations
    )


def _fill_samples(
    doc: Document,
    requests: Sequence[Request],
    resps: Sequence[Sequence[object]],
    record: Mapping[str, object],
    filter_name: str,
) -> None:
    """Fills in the generated texts, the filter's answers and the sampling settings."""
    doc.samples = [optional_text(text, f"resps.0.{at}") for at, text in enumerate(resps[0])]
    filtered = optional_list(record.get("filtered_resps"), "filtered_resps")
    first = filtered[0] if filtered else None
    if isinstance(first, list):
        answers = [
            optional_text(text, f"filtered_resps.0.{at}")
            for at, text in enumerate(as_list(cast("object", first)))
        ]
        if len(answers) == len(doc.samples) > 1:
            doc.filtered_samples = [INVALID_ANSWER if text is None else text for text in answers]
    elif filtered:
        doc.filtered_answers[filter_name] = optional_text(first, "filtered_resps.0")
    if requests:
        doc.generation_settings = _generation_settings(requests[0])


def _generation_settings(request: Request) -> Mapping[str, object]:
    """The settings of a generation; whether it samples hangs on two of them, so their types are checked."""
    path = request.continuation_path
    if isinstance(request.continuation, str):
        return {}
    settings = optional_object(request.continuation, path)
    if not isinstance(settings.get("do_sample"), bool | None):
        raise BadValueError(f"{path}.do_sample", "true or false", settings["do_sample"])
    if settings.get("temperature") is not None and as_finite_number(settings["temperature"]) is None:
        raise BadValueError(f"{path}.temperature", "a number", settings["temperature"])
    return settings


def _question_text(fields: Mapping[str, object], requests: Sequence[Request]) -> str | None:
    named = next(
        (fields[key] for key in _QUESTION_KEYS if isinstance(fields.get(key), str) and fields[key]), None
    )
    if named is not None or not requests:
        return cast("str | None", named)
    prompt = as_json_text(requests[0].context) or ""
    return prompt.strip().rsplit("\n\n", 1)[-1][-_MAX_QUESTION_CHARACTERS:] or None


def _parse_scores(record: Mapping[str, object], filter_name: str) -> dict[str, float]:
    """The document's scores as the tool computed them, by metric and filter."""
    metrics = [as_json_text(metric) or "" for metric in as_list(record.get("metrics"))]
    names = metrics or [key for key in record if key not in _NON_METRIC_KEYS]
    values = {metric: _parse_score(record.get(metric)) for metric in names}
    return {f"{metric},{filter_name}": value for metric, value in values.items() if value is not None}


def _parse_score(value: object) -> float | None:
    number = parse_float(int(value) if isinstance(value, bool) else value)
    return number if number is not None and math.isfinite(number) else None
