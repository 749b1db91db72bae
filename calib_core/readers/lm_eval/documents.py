"""What does one record of lm-evaluation-harness say?  What was asked and answered, and how it was scored.

Prompts are let go at once: repeated for every choice, they are most of such a file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final, Literal, cast

from calib_core.errors import shorten
from calib_core.readers.json_values import as_list, as_object
from calib_core.readers.table.raw import BrokenRecord, as_json_text

# MERGED lm_eval_choices: What do the choices of a document say: by the prompts that differ, and by the document's own fields?

_OPTION_KEYS: Final = ("choices", "options", "endings", "opts", "candidates")


def differing_parts(contexts: Sequence[str]) -> list[str]:
    """The part of each context that the others do not share, in whole words."""

    def n_shared_words(texts: Sequence[list[str]]) -> int:
        return sum(1 for _ in takewhile(lambda words: len(set(words)) == 1, zip(*texts, strict=False)))

    words = [context.split(" ") for context in contexts]
    before = n_shared_words(words)
    after = n_shared_words([list(reversed(part[before:])) for part in words])
    return [" ".join(part[before : len(part) - after]) for part in words]


def document_options(fields: Mapping[str, object], n_choices: int) -> list[str]:
    """The document's own texts of the choices, where it has as many as there are choices."""
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
    """What marks some of the choices as right: TruthfulQA has {"choices": […], "labels": [1, 0, …]}."""
    for key, value in fields.items():
        told = as_object(value)
        labels = as_list(told.get("labels"))
        texts = [as_json_text(text) for text in as_list(told.get("choices"))]
        marked = len(labels) == len(texts) > 0 and all(label in (0, 1) for label in labels)
        if marked and texts == list(choices):
            yield key, tuple(at for at, label in enumerate(labels) if label == 1)


DocumentKind = Literal["choice", "generation", "single", "nothing"]
"""Choices with a log-likelihood each; generated text; the log-likelihood of one text alone; none of these."""

NO_FILTER: Final = "none"
INVALID_ANSWER: Final = "[invalid]"
"""What the tool's filters write where they find no answer."""

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
"""Characters of a question kept where the document does not name it and the prompt's end has to do."""

RequestPair = tuple[str, object]
"""Context and continuation (or, of a generation, its settings) of one request."""


@dataclass(slots=True, eq=False)
class Document:
    """One document (question): what its records say, without the prompts.

    id: doc_id as text; sha: doc_hash, "" in old logs; choices: as the model was scored on them, without the
    delimiter; contexts_differ: a cloze task, in which the choices stand in the context; options: the texts
    that the document itself has for the choices; numbers: raw log-likelihoods, one a choice, as stored;
    column: the field they were read from; answers: what of the document may name the right choice; marks: of
    what field the positions are that it marks as right; samples: generated texts in sampling order; parsed:
    the same as a filter read them; chosen: filter → its one answer; scores: "metric,filter" → value; filters:
    in the file's order.
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
    marked_choices: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    samples: list[str] = field(default_factory=list[str])
    filtered_samples: list[str] | None = None
    generation_settings: Mapping[str, object] = field(default_factory=dict[str, object])
    filtered_answers: dict[str, object] = field(default_factory=dict[str, object])
    scores: dict[str, float] = field(default_factory=dict[str, float])
    filters: list[str] = field(default_factory=list[str])
    broken: BrokenRecord | None = None

    def score(self, metric: str) -> float | None:
        """A metric of this document by the first filter that has it."""
        keys = (f"{metric},{name}" for name in self.filters)
        return next((self.scores[key] for key in keys if key in self.scores), None)

    @property
    def best_choice(self) -> int | None:
        """The position of the largest log-likelihood, the first of equals; None where one is no number."""
        known = self.valid_loglikelihoods
        return known.index(max(known)) if known and max(known) > -math.inf else None

    @property
    def valid_loglikelihoods(self) -> list[float]:
        """The log-likelihoods as numbers, at most 0; [] where one of them is none."""
        numbers = [parse_float(value) for value in self.loglikelihoods]
        if any(value is None or math.isnan(value) or value > 0 for value in numbers):
            return []
        return cast("list[float]", numbers)


def parse_float(value: object) -> float | None:
    """A number, also one written as text; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def parse_document(
    record: Mapping[str, object], line: int | None, share: float, delimiter: str | None
) -> Document:
    """One record as a document with one filter; delimiter: between context and choice, None = not known."""
    requests = _parse_requests(record.get("arguments"))
    resps = as_list(record.get("resps"))
    sha = as_json_text(record.get("doc_hash")) or ""
    doc = Document(_document_kind(requests, resps), as_json_text(record.get("doc_id")), sha, line, share)
    name = as_json_text(record.get("filter")) or NO_FILTER
    doc.filters.append(name)
    doc.scores.update(_parse_scores(record, name))
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
    elif doc.kind == "generation":
        _fill_samples(doc, requests, resps, record, name)
    return doc


def _parse_requests(value: object) -> list[RequestPair]:
    """What was asked of the model: `{"gen_args_0": {"arg_0": …, "arg_1": …}}`, or old logs' `[[…, …]]`."""
    if isinstance(value, dict):
        asked = as_object(cast("object", value))
        parts = [asked[key] for key in sorted(asked, key=lambda key: (len(key), key))]
        named = [as_object(part) for part in parts]
        pairs = [
            as_list(part) or (each.get("arg_0"), each.get("arg_1"))
            for part, each in zip(parts, named, strict=True)
        ]
    else:
        pairs = [as_list(part) for part in as_list(value)]
    return [
        (as_json_text(pair[0]) or "" if pair else "", pair[1] if len(pair) > 1 else None) for pair in pairs
    ]


def _document_kind(requests: Sequence[RequestPair], resps: Sequence[object]) -> DocumentKind:
    first = next((as_list(part)[0] for part in resps if as_list(part)), None)
    if first is None:
        return "nothing"
    if isinstance(first, str):  # without a second argument the number is of a whole text (rolling)
        return "generation" if any(more is not None for _, more in requests) or not requests else "single"
    return "choice" if len(resps) > 1 and len(as_list(first)) >= 1 else "single"


def _fill_choices(
    doc: Document,
    requests: Sequence[RequestPair],
    resps: Sequence[object],
    record: Mapping[str, object],
    delimiter: str | None,
) -> None:
    """Texts and log-likelihoods of the choices, those asked without the question set apart."""
    filtered = [as_list(part) for part in as_list(record.get("filtered_resps"))]
    pairs = filtered
    if len(filtered) != len(resps) or not all(filtered):
        pairs, doc.loglikelihood_field = [as_list(_first_element(part)) for part in resps], "resps"
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
    asked = [at for at, (context, _) in enumerate(requests) if context]
    if asked and 2 * len(asked) == len(requests) and asked == list(range(len(asked))):
        doc.n_unconditional = len(asked)
        requests, doc.loglikelihoods = requests[: len(asked)], doc.loglikelihoods[: len(asked)]
    contexts = [context for context, _ in requests]
    ends = [as_json_text(more) or "" for _, more in requests]
    doc.contexts_differ = len(set(contexts)) > 1 and len(set(ends)) == 1
    if doc.contexts_differ:
        doc.choices = differing_parts(contexts)
        return
    cut = " " if delimiter is None else delimiter
    doc.is_delimited = bool(cut) and bool(ends) and all(end.startswith(cut) for end in ends)
    doc.choices = [end.removeprefix(cut) for end in ends] if doc.is_delimited else ends


def _fill_samples(
    doc: Document,
    requests: Sequence[RequestPair],
    resps: Sequence[object],
    record: Mapping[str, object],
    filter_name: str,
) -> None:
    """The generated texts, what the filter made of them, and how they were drawn."""
    doc.samples = [as_json_text(text) or "" for text in as_list(resps[0])]
    filtered = as_list(record.get("filtered_resps"))
    kept = as_list(filtered[0]) if filtered else ()
    if len(kept) == len(doc.samples) > 1:
        doc.filtered_samples = [as_json_text(text) or INVALID_ANSWER for text in kept]
    elif filtered and not kept:
        doc.filtered_answers[filter_name] = filtered[0]
    doc.generation_settings = as_object(requests[0][1]) if requests else {}


def _first_element(value: object) -> object:
    parts = as_list(value)
    return parts[0] if parts else None


def _question_text(fields: Mapping[str, object], requests: Sequence[RequestPair]) -> str | None:
    named = next(
        (fields[key] for key in _QUESTION_KEYS if isinstance(fields.get(key), str) and fields[key]), None
    )
    if named is not None or not requests:
        return cast("str | None", named)
    return requests[0][0].strip().rsplit("\n\n", 1)[-1][-_MAX_QUESTION_CHARACTERS:] or None


def _parse_scores(record: Mapping[str, object], filter_name: str) -> dict[str, float]:
    """The numbers that the tool gave the document, by metric and filter."""
    listed = [as_json_text(metric) or "" for metric in as_list(record.get("metrics"))]
    names = listed or [key for key in record if key not in _NON_METRIC_KEYS]
    values = {metric: _parse_score(record.get(metric)) for metric in names}
    return {f"{metric},{filter_name}": value for metric, value in values.items() if value is not None}


def _parse_score(value: object) -> float | None:
    found = parse_float(int(value) if isinstance(value, bool) else value)
    return found if found is not None and math.isfinite(found) else None
