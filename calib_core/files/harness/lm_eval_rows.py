"""How does a document of lm-evaluation-harness become a row?  Under the log's own field names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Final

from calib_core.files.harness.lm_eval_docs import INVALID, Doc
from calib_core.files.harness.lm_eval_gold import Golds, Positions
from calib_core.files.harness.lm_eval_results import is_sampled
from calib_core.files.harness.translated import Entry
from calib_core.files.tables.raw import Broken, as_text
from calib_core.problems import shorten

COLUMNS: Final[Mapping[str, str]] = {
    "doc_id": "id",
    "doc.question": "question",
    "choices": "choices",
    "filtered_resps": "choice_logprobs",
    "characters": "choice_char_counts",
    "bytes": "choice_byte_counts",
}
SEVERAL: Final = "target (several)"
SHARE: Final = "share of the top label"
IS_RIGHT: Final = "top label is right"
TRUE, FALSE, IS_TRUE = "p(True)", "p(False)", "target is True"

_PLAIN_LETTER: Final = re.compile(r"[(\[]?[A-Z][)\].:]?")


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What holds for every document of a file.

    subject: None where the task is none; several_filters: whether scores carry their filter's name; judged:
    the "metric,filter" that is the greedy answer's outcome; share: whether the top label's share is written
    down, as the right choice is not known alone; by_acc: whether it is judged by acc;
    true_false: whether all choices are True and False.
    """

    subject: str | None
    several_filters: bool
    judged: str | None
    share: bool = False
    by_acc: bool = False
    true_false: bool = False


def columns_of(docs: Sequence[Doc], task: Task) -> dict[str, str]:
    """Which field of the rows is which column."""
    columns = dict(COLUMNS)
    kinds = {doc.kind for doc in docs}
    if "choice" in kinds:
        del columns["filtered_resps"]
        columns[_numbers_in(docs)] = "choice_logprobs"
        columns |= {"target": "gold_index", SEVERAL: "gold_all"}
        if task.share:
            acc = next((key for doc in docs for key in doc.scores if key.startswith("acc,")), "acc")
            columns |= {SHARE: "confidence", _named(acc, task) if task.by_acc else IS_RIGHT: "correct"}
        elif task.true_false:
            columns |= {TRUE: "p_true", FALSE: "p_false", IS_TRUE: "correct"}
        return columns
    for name in ("filtered_resps", "choices", "characters", "bytes"):
        del columns[name]
    columns |= {"target": "gold", "filtered_resps": "samples_parsed", "resps": "samples"}
    columns |= {"answer": "prediction", "response": "prediction_text", "answers are": "answer_kind"}
    if task.judged is not None:
        columns[_named(task.judged, task)] = "correct"
    return columns


def entries(docs: Sequence[Doc], ids: Sequence[str | None], golds: Golds, task: Task) -> Iterator[Entry]:
    """One entry a document. ids: of each, None where it has none."""
    letters = all(_PLAIN_LETTER.fullmatch((as_text(doc.target) or "A").strip()) for doc in docs)
    column = _numbers_in(docs)
    for doc, id_, right in zip(docs, ids, golds.right, strict=True):
        fields: dict[str, object] = {"doc_id": id_, "doc.question": doc.question, "subject": task.subject}
        fields |= {f"doc.{key}": value for key, value in doc.sorts.items() if value != task.subject}
        fields |= {_named(key, task): value for key, value in doc.scores.items()}
        broken = doc.broken
        if doc.kind == "choice":
            fields |= _of_choices(doc, column)
            broken = broken or _take_gold(doc, right, fields)
            if task.share:
                fields[SHARE] = _share(doc)
                if not task.by_acc and right and doc.best is not None:
                    fields[IS_RIGHT] = doc.best in right
            elif task.true_false:
                fields |= _of_two(doc, right)
        elif doc.kind == "generation":
            fields |= _of_samples(doc, letters=letters)
        yield Entry(fields, doc.line, doc.share, broken)


def _numbers_in(docs: Sequence[Doc]) -> str:
    """The field from which the log-likelihoods of all documents are read."""
    choices = [doc for doc in docs if doc.kind == "choice"]
    return "resps" if any(doc.column == "resps" for doc in choices) else "filtered_resps"


def _named(key: str, task: Task) -> str:
    """A score's field: the metric, with its filter where the file has several."""
    return key if task.several_filters else key.partition(",")[0]


def _of_choices(doc: Doc, column: str) -> dict[str, object]:
    """Texts, log-likelihoods and lengths. A cloze task scores one ending: its choices have no length."""
    letters = all(_PLAIN_LETTER.fullmatch(text.strip()) for text in doc.choices)
    shown = doc.options if letters and doc.options else doc.choices
    scored: list[int | None] = [None if doc.contexts_differ else len(text) for text in doc.choices]
    size: list[int | None] = [
        None if doc.contexts_differ else len(text.encode("utf-8", "replace")) for text in doc.choices
    ]
    lengths = {"characters": scored or None, "bytes": size or None}
    return {"choices": shown or None, column: doc.numbers, **lengths}


def _take_gold(doc: Doc, right: Positions | None, fields: dict[str, object]) -> Broken | None:
    """Writes down the right choice, or says why the target names none."""
    if right is None:
        return None
    if not right or not 0 <= min(right) <= max(right) < len(doc.numbers):
        expected = f"one of the {len(doc.numbers)} choices: its text, its position from 0, or its letter"
        found = shorten(as_text(doc.target) or "")
        return Broken(0, "label outside the classes", "target", expected, found, "Leave the document out.")
    if len(right) == 1:
        fields["target"] = right[0]
    else:
        fields[SEVERAL] = [doc.choices[at] if at < len(doc.choices) else str(at) for at in right]
    return None


def _share(doc: Doc) -> float | None:
    """The most likely choice's probability among the choices."""
    if doc.best is None:
        return None
    return 1 / sum(exp(value - doc.numeric[doc.best]) for value in doc.numeric)


def _of_two(doc: Doc, right: Positions | None) -> dict[str, object]:
    """The choices True and False as p(True) and p(False); right where True is the right choice."""
    true = next(at for at, text in enumerate(doc.choices) if text.strip().lower() == "true")
    probs = [exp(value) for value in doc.numeric] or [None, None]
    return {TRUE: probs[true], FALSE: probs[1 - true], IS_TRUE: (true in right) if right else None}


def _of_samples(doc: Doc, *, letters: bool) -> dict[str, object]:
    """The generated answers: samples where several were drawn, else the one answer."""
    fields: dict[str, object] = {"target": as_text(doc.target), "answers are": "choice" if letters else None}
    if len(doc.samples) > 1 and is_sampled(doc.settings) is not False:
        fields["resps"] = doc.samples
        if doc.parsed is not None:
            fields["filtered_resps"] = [None if text == INVALID else text for text in doc.parsed]
        return fields
    fields["response"] = doc.samples[0] if doc.samples else None
    chosen = as_text(next(iter(doc.chosen.values()), None))
    if chosen is not None and chosen != INVALID and is_sampled(doc.settings) is not True:
        fields["answer"] = chosen
    return fields
