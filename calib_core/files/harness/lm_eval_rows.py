"""How does a document of lm-evaluation-harness become a row?  Under the log's own field names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Final

from calib_core.files.harness.lm_eval_docs import INVALID_ANSWER, Document
from calib_core.files.harness.lm_eval_gold import GoldChoices, ChoicePositions
from calib_core.files.harness.lm_eval_results import is_sampled
from calib_core.files.harness.translated import LogEntry
from calib_core.files.tables.raw import BrokenRecord, as_json_text
from calib_core.problems import shorten

FIELD_ROLES: Final[Mapping[str, str]] = {
    "doc_id": "id",
    "doc.question": "question",
    "choices": "choices",
    "filtered_resps": "choice_logprobs",
    "characters": "choice_char_counts",
    "bytes": "choice_byte_counts",
}
SEVERAL_GOLD_FIELD: Final = "target (several)"
TOP_SHARE_FIELD: Final = "share of the top label"
TOP_CORRECT_FIELD: Final = "top label is right"
P_TRUE_FIELD, P_FALSE_FIELD, GOLD_IS_TRUE_FIELD = "p(True)", "p(False)", "target is True"

_PLAIN_LETTER: Final = re.compile(r"[(\[]?[A-Z][)\].:]?")


@dataclass(frozen=True, slots=True, eq=False)
class TaskTraits:
    """What holds for every document of a file.

    subject: None where the task is none; several_filters: whether scores carry their filter's name; judged:
    the "metric,filter" that is the greedy answer's outcome; share: whether the top label's share is written
    down, as the right choice is not known alone; by_acc: whether it is judged by acc;
    true_false: whether all choices are True and False.
    """

    subject: str | None
    has_several_filters: bool
    outcome_score: str | None
    uses_top_share: bool = False
    is_judged_by_acc: bool = False
    is_true_false: bool = False


def column_roles(docs: Sequence[Document], task: TaskTraits) -> dict[str, str]:
    """Which field of the rows is which column."""
    columns = dict(FIELD_ROLES)
    kinds = {doc.kind for doc in docs}
    if "choice" in kinds:
        del columns["filtered_resps"]
        columns[_loglikelihood_field(docs)] = "choice_logprobs"
        columns |= {"target": "gold_index", SEVERAL_GOLD_FIELD: "gold_all"}
        if task.uses_top_share:
            acc = next((key for doc in docs for key in doc.scores if key.startswith("acc,")), "acc")
            columns |= {TOP_SHARE_FIELD: "confidence", _score_field(acc, task) if task.is_judged_by_acc else TOP_CORRECT_FIELD: "correct"}
        elif task.is_true_false:
            columns |= {P_TRUE_FIELD: "p_true", P_FALSE_FIELD: "p_false", GOLD_IS_TRUE_FIELD: "correct"}
        return columns
    for name in ("filtered_resps", "choices", "characters", "bytes"):
        del columns[name]
    columns |= {"target": "gold", "filtered_resps": "samples_parsed", "resps": "samples"}
    columns |= {"answer": "prediction", "response": "prediction_text", "answers are": "answer_kind"}
    if task.outcome_score is not None:
        columns[_score_field(task.outcome_score, task)] = "correct"
    return columns


def document_entries(docs: Sequence[Document], ids: Sequence[str | None], golds: GoldChoices, task: TaskTraits) -> Iterator[LogEntry]:
    """One entry a document. ids: of each, None where it has none."""
    letters = all(_PLAIN_LETTER.fullmatch((as_json_text(doc.target) or "A").strip()) for doc in docs)
    column = _loglikelihood_field(docs)
    for doc, id_, right in zip(docs, ids, golds.positions, strict=True):
        fields: dict[str, object] = {"doc_id": id_, "doc.question": doc.question, "subject": task.subject}
        fields |= {f"doc.{key}": value for key, value in doc.group_fields.items() if value != task.subject}
        fields |= {_score_field(key, task): value for key, value in doc.scores.items()}
        broken = doc.broken
        if doc.kind == "choice":
            fields |= _choice_row_fields(doc, column)
            broken = broken or _fill_gold(doc, right, fields)
            if task.uses_top_share:
                fields[TOP_SHARE_FIELD] = _top_share(doc)
                if not task.is_judged_by_acc and right and doc.best_choice is not None:
                    fields[TOP_CORRECT_FIELD] = doc.best_choice in right
            elif task.is_true_false:
                fields |= _true_false_fields(doc, right)
        elif doc.kind == "generation":
            fields |= _sample_row_fields(doc, golds_are_letters=letters)
        yield LogEntry(fields, doc.line, doc.share, broken)


def _loglikelihood_field(docs: Sequence[Document]) -> str:
    """The field from which the log-likelihoods of all documents are read."""
    choices = [doc for doc in docs if doc.kind == "choice"]
    return "resps" if any(doc.loglikelihood_field == "resps" for doc in choices) else "filtered_resps"


def _score_field(key: str, task: TaskTraits) -> str:
    """A score's field: the metric, with its filter where the file has several."""
    return key if task.has_several_filters else key.partition(",")[0]


def _choice_row_fields(doc: Document, column: str) -> dict[str, object]:
    """Texts, log-likelihoods and lengths. A cloze task scores one ending: its choices have no length."""
    letters = all(_PLAIN_LETTER.fullmatch(text.strip()) for text in doc.choices)
    shown = doc.options if letters and doc.options else doc.choices
    scored: list[int | None] = [None if doc.contexts_differ else len(text) for text in doc.choices]
    size: list[int | None] = [
        None if doc.contexts_differ else len(text.encode("utf-8", "replace")) for text in doc.choices
    ]
    lengths = {"characters": scored or None, "bytes": size or None}
    return {"choices": shown or None, column: doc.loglikelihoods, **lengths}


def _fill_gold(doc: Document, positions: ChoicePositions | None, fields: dict[str, object]) -> BrokenRecord | None:
    """Writes down the right choice, or says why the target names none."""
    if positions is None:
        return None
    if not positions or not 0 <= min(positions) <= max(positions) < len(doc.loglikelihoods):
        expected = f"one of the {len(doc.loglikelihoods)} choices: its text, its position from 0, or its letter"
        found = shorten(as_json_text(doc.target) or "")
        return BrokenRecord(0, "label outside the classes", "target", expected, found, "Leave the document out.")
    if len(positions) == 1:
        fields["target"] = positions[0]
    else:
        fields[SEVERAL_GOLD_FIELD] = [doc.choices[at] if at < len(doc.choices) else str(at) for at in positions]
    return None


def _top_share(doc: Document) -> float | None:
    """The most likely choice's probability among the choices."""
    if doc.best_choice is None:
        return None
    return 1 / sum(exp(value - doc.valid_loglikelihoods[doc.best_choice]) for value in doc.valid_loglikelihoods)


def _true_false_fields(doc: Document, right: ChoicePositions | None) -> dict[str, object]:
    """The choices True and False as p(True) and p(False); right where True is the right choice."""
    true = next(at for at, text in enumerate(doc.choices) if text.strip().lower() == "true")
    probs = [exp(value) for value in doc.valid_loglikelihoods] or [None, None]
    return {P_TRUE_FIELD: probs[true], P_FALSE_FIELD: probs[1 - true], GOLD_IS_TRUE_FIELD: (true in right) if right else None}


def _sample_row_fields(doc: Document, *, golds_are_letters: bool) -> dict[str, object]:
    """The generated answers: samples where several were drawn, else the one answer."""
    fields: dict[str, object] = {"target": as_json_text(doc.target), "answers are": "choice" if golds_are_letters else None}
    if len(doc.samples) > 1 and is_sampled(doc.generation_settings) is not False:
        fields["resps"] = doc.samples
        if doc.filtered_samples is not None:
            fields["filtered_resps"] = [None if text == INVALID_ANSWER else text for text in doc.filtered_samples]
        return fields
    fields["response"] = doc.samples[0] if doc.samples else None
    chosen = as_json_text(next(iter(doc.filtered_answers.values()), None))
    if chosen is not None and chosen != INVALID_ANSWER and is_sampled(doc.generation_settings) is not True:
        fields["answer"] = chosen
    return fields
