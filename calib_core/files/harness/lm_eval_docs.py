"""What does one record of lm-evaluation-harness say?  What was asked and answered, and how it was scored.

Prompts are let go at once: repeated for every choice, they are most of such a file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, cast

from calib_core.files.harness.json_values import as_list, as_object
from calib_core.files.harness.lm_eval_choices import differing, marks_of, options_of
from calib_core.files.tables.raw import Broken, as_text
from calib_core.problems import shorten

Kind = Literal["choice", "generation", "single", "nothing"]
"""Choices with a log-likelihood each; generated text; the log-likelihood of one text alone; none of these."""

UNFILTERED: Final = "none"
INVALID: Final = "[invalid]"
"""What the tool's filters write where they find no answer."""

_ASKED: Final = ("question", "query", "problem", "goal", "sentence", "ctx", "premise", "input", "left")
_SORTS: Final = ("subject", "category", "subcategory", "level", "difficulty", "type", "topic", "domain")
_ANSWERS: Final = ("answer", "label", "gold", "gold_index", "answerKey", "correct", "target")
_NO_METRICS: Final = frozenset({
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash",
    "prompt_hash", "target_hash", "input", "submission", "task", "index",
})
_QUESTION: Final = 2_000
"""Characters of a question kept where the document does not name it and the prompt's end has to do."""

Pair = tuple[str, object]
"""Context and continuation (or, of a generation, its settings) of one request."""


@dataclass(slots=True, eq=False)
class Doc:
    """One document (question): what its records say, without the prompts.

    id: doc_id as text; sha: doc_hash, "" in old logs; choices: as the model was scored on them, without the
    delimiter; contexts_differ: a cloze task, in which the choices stand in the context; options: the texts
    that the document itself has for the choices; numbers: raw log-likelihoods, one a choice, as stored;
    column: the field they were read from; answers: what of the document may name the right choice; marks: of
    what field the positions are that it marks as right; samples: generated texts in sampling order; parsed:
    the same as a filter read them; chosen: filter → its one answer; scores: "metric,filter" → value; filters:
    in the file's order.
    """

    kind: Kind
    id: str | None
    sha: str
    line: int | None
    share: float
    question: str | None = None
    sorts: Mapping[str, object] = field(default_factory=dict[str, object])
    target: object = None
    choices: list[str] = field(default_factory=list[str])
    delimited: bool = False
    contexts_differ: bool = False
    options: list[str] = field(default_factory=list[str])
    numbers: list[object] = field(default_factory=list[object])
    unconditional: int = 0
    column: str = "filtered_resps"
    answers: Mapping[str, object] = field(default_factory=dict[str, object])
    marks: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    samples: list[str] = field(default_factory=list[str])
    parsed: list[str] | None = None
    settings: Mapping[str, object] = field(default_factory=dict[str, object])
    chosen: dict[str, object] = field(default_factory=dict[str, object])
    scores: dict[str, float] = field(default_factory=dict[str, float])
    filters: list[str] = field(default_factory=list[str])
    broken: Broken | None = None

    def score(self, metric: str) -> float | None:
        """A metric of this document by the first filter that has it."""
        keys = (f"{metric},{name}" for name in self.filters)
        return next((self.scores[key] for key in keys if key in self.scores), None)

    @property
    def best(self) -> int | None:
        """The position of the largest log-likelihood, the first of equals; None where one is no number."""
        known = self.numeric
        return known.index(max(known)) if known and max(known) > -math.inf else None

    @property
    def numeric(self) -> list[float]:
        """The log-likelihoods as numbers, at most 0; [] where one of them is none."""
        numbers = [number(value) for value in self.numbers]
        if any(value is None or math.isnan(value) or value > 0 for value in numbers):
            return []
        return cast("list[float]", numbers)


def number(value: object) -> float | None:
    """A number, also one written as text; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def doc_of(record: Mapping[str, object], line: int | None, share: float, delimiter: str | None) -> Doc:
    """One record as a document with one filter; delimiter: between context and choice, None = not known."""
    requests = _requests(record.get("arguments"))
    resps = as_list(record.get("resps"))
    sha = as_text(record.get("doc_hash")) or ""
    doc = Doc(_kind(requests, resps), as_text(record.get("doc_id")), sha, line, share)
    name = as_text(record.get("filter")) or UNFILTERED
    doc.filters.append(name)
    doc.scores.update(_scores(record, name))
    doc.target = record.get("target")
    fields = as_object(record.get("doc"))
    doc.question = _question(fields, requests)
    doc.sorts = {key: fields[key] for key in _SORTS if isinstance(fields.get(key), str | int)}
    if doc.kind == "choice":
        _take_choices(doc, requests, resps, record, delimiter)
        doc.options = options_of(fields, len(doc.choices))
        doc.marks = dict(marks_of(fields, doc.choices))
        doc.answers = {key: fields[key] for key in _ANSWERS if isinstance(fields.get(key), str | int)}
    elif doc.kind == "generation":
        _take_samples(doc, requests, resps, record, name)
    return doc


def _requests(value: object) -> list[Pair]:
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
    return [(as_text(pair[0]) or "" if pair else "", pair[1] if len(pair) > 1 else None) for pair in pairs]


def _kind(requests: Sequence[Pair], resps: Sequence[object]) -> Kind:
    first = next((as_list(part)[0] for part in resps if as_list(part)), None)
    if first is None:
        return "nothing"
    if isinstance(first, str):  # without a second argument the number is of a whole text (rolling)
        return "generation" if any(more is not None for _, more in requests) or not requests else "single"
    return "choice" if len(resps) > 1 and len(as_list(first)) >= 1 else "single"


def _take_choices(
    doc: Doc,
    requests: Sequence[Pair],
    resps: Sequence[object],
    record: Mapping[str, object],
    delimiter: str | None,
) -> None:
    """Texts and log-likelihoods of the choices, those asked without the question set apart."""
    filtered = [as_list(part) for part in as_list(record.get("filtered_resps"))]
    pairs = filtered
    if len(filtered) != len(resps) or not all(filtered):
        pairs, doc.column = [as_list(_first(part)) for part in resps], "resps"
    doc.numbers = [pair[0] if pair else None for pair in pairs]
    if requests and len(requests) != len(pairs):
        found = f"{len(pairs):,}: {', '.join(as_text(value) or 'null' for value in doc.numbers[:8])}"
        expected = f"one log-likelihood for each of the {len(requests):,} requests in arguments"
        fix = "The record may be half written: run it again, or leave it out."
        doc.broken = Broken(0, "too few or too many numbers", doc.column, expected, shorten(found), fix)
        return
    asked = [at for at, (context, _) in enumerate(requests) if context]
    if asked and 2 * len(asked) == len(requests) and asked == list(range(len(asked))):
        doc.unconditional = len(asked)
        requests, doc.numbers = requests[: len(asked)], doc.numbers[: len(asked)]
    contexts = [context for context, _ in requests]
    ends = [as_text(more) or "" for _, more in requests]
    doc.contexts_differ = len(set(contexts)) > 1 and len(set(ends)) == 1
    if doc.contexts_differ:
        doc.choices = differing(contexts)
        return
    cut = " " if delimiter is None else delimiter
    doc.delimited = bool(cut) and bool(ends) and all(end.startswith(cut) for end in ends)
    doc.choices = [end.removeprefix(cut) for end in ends] if doc.delimited else ends


def _take_samples(
    doc: Doc, requests: Sequence[Pair], resps: Sequence[object], record: Mapping[str, object], name: str
) -> None:
    """The generated texts, what the filter made of them, and how they were drawn."""
    doc.samples = [as_text(text) or "" for text in as_list(resps[0])]
    filtered = as_list(record.get("filtered_resps"))
    kept = as_list(filtered[0]) if filtered else ()
    if len(kept) == len(doc.samples) > 1:
        doc.parsed = [as_text(text) or INVALID for text in kept]
    elif filtered and not kept:
        doc.chosen[name] = filtered[0]
    doc.settings = as_object(requests[0][1]) if requests else {}


def _first(value: object) -> object:
    parts = as_list(value)
    return parts[0] if parts else None


def _question(fields: Mapping[str, object], requests: Sequence[Pair]) -> str | None:
    named = next((fields[key] for key in _ASKED if isinstance(fields.get(key), str) and fields[key]), None)
    if named is not None or not requests:
        return cast("str | None", named)
    return requests[0][0].strip().rsplit("\n\n", 1)[-1][-_QUESTION:] or None


def _scores(record: Mapping[str, object], name: str) -> dict[str, float]:
    """The numbers that the tool gave the document, by metric and filter."""
    listed = [as_text(metric) or "" for metric in as_list(record.get("metrics"))]
    names = listed or [key for key in record if key not in _NO_METRICS]
    values = {metric: _score(record.get(metric)) for metric in names}
    return {f"{metric},{name}": value for metric, value in values.items() if value is not None}


def _score(value: object) -> float | None:
    found = number(int(value) if isinstance(value, bool) else value)
    return found if found is not None and math.isfinite(found) else None
