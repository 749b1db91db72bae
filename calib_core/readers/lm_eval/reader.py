"""Reads samples logs of lm-evaluation-harness: choices with log-likelihoods, or generated answers.

A log has one record per document and filter. The results file with the same timestamp says which model,
task and number of shots the records belong to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from statistics import median
from typing import Final

from calib_core.advice import Advice
from calib_core.errors import shorten
from calib_core.readers.eval_logs import LogEntry, LogTable, read_log_records, read_log_table
from calib_core.readers.format import JSON_KINDS, Format, Head, Reading, ReadOptions
from calib_core.readers.json_values import as_list, as_object
from calib_core.readers.lm_eval.documents import (
    INVALID_ANSWER,
    Document,
    mark_odd_targets,
    parse_document,
)
from calib_core.readers.lm_eval.gold_match import ChoicePositions, GoldChoices, match_gold_choices
from calib_core.readers.lm_eval.results import (
    TaskResults,
    find_results,
    is_sampled,
    reported_task_metrics,
    results_notes,
    run_info_from_results,
)
from calib_core.readers.table.raw import BrokenRecord, ReadProgress, as_json_text
from calib_core.wording import join_names, plural

# --- Records of one document under several filters ----------------------------

DocumentKey = tuple[str | None, str]
"""Id and hash of a document."""


def is_lmms_eval_object(head: Head) -> bool:
    """Whether the file is a single object as lmms-eval writes it, with the records in `logs`."""
    return len(head.first_objects) == 1 and head.first_objects[0].keys() >= {"args", "logs"}


def fold_filters(head: Head, delimiter: str | None, progress: ReadProgress) -> tuple[list[Document], int]:
    """The documents, each with all its filters, and the number of records.

    A record of a document that came before is another filter of it if it holds the same responses under
    another filter's name. Old logs do not name filters: there, a record counts as another filter if its
    scores differ, or if every document occurs equally often. Otherwise the document is repeated, and both are
    kept.

    Parameters
    ----------
    head : Head
        The beginning of the file.
    delimiter : str or None
        As in `parse_document`.
    progress : ReadProgress
        Called with the share of the file that has been read.

    Returns
    -------
    docs : list[Document]
        The documents in the file's order.
    n_records : int
        Number of records in the file.
    """
    docs: list[Document] = []
    first: dict[DocumentKey, Document] = {}
    n_seen: dict[DocumentKey, int] = {}
    ambiguous: list[tuple[int, Document, Document, int]] = []
    n_records = 0
    for n_records, record in enumerate(
        read_log_records(head, "logs" if is_lmms_eval_object(head) else None), 1
    ):
        if n_records % 4_096 == 0:
            progress(record.share, f"{n_records:,} records read")
        if isinstance(record.value, BrokenRecord):
            docs.append(Document("nothing", None, "", record.line, record.share, broken=record.value))
            continue
        doc = parse_document(record.value, record.line, record.share, delimiter)
        key = (doc.id, doc.doc_hash)
        earlier = first.setdefault(key, doc)
        n_seen[key] = n_seen.get(key, 0) + 1
        has_filter = "filter" in record.value
        if (
            earlier is doc
            or not _same_responses(doc, earlier)
            or (has_filter and doc.filters[0] in earlier.filters)
        ):
            docs.append(doc)
        elif has_filter or _filter_outcome(doc) != _filter_outcome(earlier):
            _add_filter(doc, earlier, doc.filters[0] if has_filter else str(n_seen[key]))
        else:
            ambiguous.append((len(docs), doc, earlier, n_seen[key]))
    equally_often = len(set(n_seen.values())) == 1
    for at, doc, earlier, number in reversed(ambiguous):
        if equally_often:
            _add_filter(doc, earlier, str(number))
        else:
            docs.insert(at, doc)
    return docs, n_records


def _same_responses(doc: Document, earlier: Document) -> bool:
    return doc.id is not None and (doc.samples, doc.loglikelihoods) == (
        earlier.samples,
        earlier.loglikelihoods,
    )


def _filter_outcome(doc: Document) -> tuple[list[float], list[object]]:
    """Scores and answer of the document's first filter."""
    first = doc.filters[0]
    scores = [value for key, value in doc.scores.items() if key.partition(",")[2] == first]
    return scores, [doc.filtered_answers.get(first)]


def _add_filter(doc: Document, earlier: Document, filter_name: str) -> None:
    """Adds another filter to the document it belongs to."""
    if filter_name not in earlier.filters:
        earlier.filters.append(filter_name)
    earlier.scores |= {f"{key.partition(',')[0]},{filter_name}": value for key, value in doc.scores.items()}
    if doc.filtered_answers:
        earlier.filtered_answers[filter_name] = next(iter(doc.filtered_answers.values()))
    earlier.filtered_samples = earlier.filtered_samples or doc.filtered_samples


# --- Documents as rows, under the log's own field names -----------------------

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
    """Facts that hold for every document of a file.

    Attributes
    ----------
    subject : str or None
        The task's subject within its benchmark.
    has_several_filters : bool
        Whether the columns of scores carry their filter's name.
    outcome_score : str or None
        The "metric,filter" that is the outcome of the greedy answer.
    uses_top_share : bool
        Whether the top label's share is the confidence, because no single right choice is known.
    judging_metric : str or None
        The stored outcome that says whether the top label is right, if it is taken from there.
    is_true_false : bool
        Whether all choices are True and False.
    """

    subject: str | None
    has_several_filters: bool
    outcome_score: str | None
    uses_top_share: bool = False
    judging_metric: str | None = None
    is_true_false: bool = False


def column_roles(docs: Sequence[Document], task: TaskTraits) -> dict[str, str]:
    """Field of the rows → the column it is read as."""
    columns = dict(FIELD_ROLES)
    kinds = {doc.kind for doc in docs}
    if "choice" in kinds:
        del columns["filtered_resps"]
        columns[_loglikelihood_field(docs)] = "choice_logprobs"
        columns |= {"target": "gold_index", SEVERAL_GOLD_FIELD: "gold_all"}
        if task.uses_top_share:
            columns |= {TOP_SHARE_FIELD: "confidence", _judging_field(docs, task): "correct"}
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


def _judging_field(docs: Sequence[Document], task: TaskTraits) -> str:
    """The field that says whether the top label is right."""
    if task.judging_metric is None:
        return TOP_CORRECT_FIELD
    keys = (key for doc in docs for key in doc.scores if key.partition(",")[0] == task.judging_metric)
    return _score_field(next(keys), task)


def document_entries(
    docs: Sequence[Document], ids: Sequence[str | None], golds: GoldChoices, task: TaskTraits
) -> Iterator[LogEntry]:
    """One entry per document.

    Parameters
    ----------
    docs : Sequence[Document]
        The documents.
    ids : Sequence[str or None]
        The id of each document; None where it has none.
    golds : GoldChoices
        The right choices, one entry per document.
    task : TaskTraits
        Facts that hold for all documents.
    """
    golds_are_letters = all(
        _PLAIN_LETTER.fullmatch((as_json_text(doc.target) or "A").strip()) for doc in docs
    )
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
                if task.judging_metric is None and right and doc.best_choice is not None:
                    fields[TOP_CORRECT_FIELD] = doc.best_choice in right
            elif task.is_true_false:
                fields |= _true_false_fields(doc, right)
        elif doc.kind == "generation":
            fields |= _sample_row_fields(doc, task, golds_are_letters=golds_are_letters)
        yield LogEntry(fields, doc.line, doc.share, broken)


def _loglikelihood_field(docs: Sequence[Document]) -> str:
    """The field from which the log-likelihoods of all documents are read."""
    choices = [doc for doc in docs if doc.kind == "choice"]
    return "resps" if any(doc.loglikelihood_field == "resps" for doc in choices) else "filtered_resps"


def _score_field(key: str, task: TaskTraits) -> str:
    """A score's column: the metric, with its filter where the file has several."""
    return key if task.has_several_filters else key.partition(",")[0]


def _choice_row_fields(doc: Document, column: str) -> dict[str, object]:
    """Texts, log-likelihoods and lengths; in a cloze task all choices share one ending and have no length."""
    are_letters = all(_PLAIN_LETTER.fullmatch(text.strip()) for text in doc.choices)
    texts = doc.options if are_letters and doc.options else doc.choices
    n_characters: list[int | None] = [None if doc.contexts_differ else len(text) for text in doc.choices]
    n_bytes: list[int | None] = [
        None if doc.contexts_differ else len(text.encode("utf-8", "replace")) for text in doc.choices
    ]
    lengths = {"characters": n_characters or None, "bytes": n_bytes or None}
    return {"choices": texts or None, column: doc.loglikelihoods, **lengths}


def _fill_gold(
    doc: Document, positions: ChoicePositions | None, fields: dict[str, object]
) -> BrokenRecord | None:
    """Fills in the right choice; returns the fault where the target names none."""
    if positions is None:
        return None
    if not positions or not 0 <= min(positions) <= max(positions) < len(doc.loglikelihoods):
        expected = (
            f"one of the {len(doc.loglikelihoods)} choices: its text, its position from 0, or its letter"
        )
        found = shorten(as_json_text(doc.target) or "")
        return BrokenRecord(
            0, "label outside the classes", "target", expected, found, "Leave the document out."
        )
    if len(positions) == 1:
        fields["target"] = positions[0]
    else:
        fields[SEVERAL_GOLD_FIELD] = [
            doc.choices[at] if at < len(doc.choices) else str(at) for at in positions
        ]
    return None


def _top_share(doc: Document) -> float | None:
    """The most likely choice's probability among the choices."""
    if doc.best_choice is None:
        return None
    return 1 / sum(
        exp(value - doc.valid_loglikelihoods[doc.best_choice]) for value in doc.valid_loglikelihoods
    )


def _true_false_fields(doc: Document, right: ChoicePositions | None) -> dict[str, object]:
    """The choices True and False as p(True) and p(False), and whether True is right."""
    true = next(at for at, text in enumerate(doc.choices) if text.strip().lower() == "true")
    probs = [exp(value) for value in doc.valid_loglikelihoods] or [None, None]
    return {
        P_TRUE_FIELD: probs[true],
        P_FALSE_FIELD: probs[1 - true],
        GOLD_IS_TRUE_FIELD: (true in right) if right else None,
    }


def _sample_row_fields(doc: Document, task: TaskTraits, *, golds_are_letters: bool) -> dict[str, object]:
    """The generated answers: a list where several were sampled, else the one greedy answer."""
    fields: dict[str, object] = {
        "target": as_json_text(doc.target),
        "answers are": "choice" if golds_are_letters else None,
    }
    if len(doc.samples) > 1 and is_sampled(doc.generation_settings) is not False:
        fields["resps"] = doc.samples
        if doc.filtered_samples is not None:
            fields["filtered_resps"] = [
                None if text == INVALID_ANSWER else text for text in doc.filtered_samples
            ]
        return fields
    fields["response"] = doc.samples[0] if doc.samples else None
    judging_filter = (task.outcome_score or "").partition(",")[2] or next(iter(doc.filtered_answers), "")
    answer = doc.filtered_answers.get(judging_filter)
    if answer is not None and answer != INVALID_ANSWER and is_sampled(doc.generation_settings) is not True:
        fields["answer"] = answer
    return fields


# --- The format ---------------------------------------------------------------

_RECORD_KEYS: Final = frozenset({"doc_id", "resps"})
_OUTCOME_METRICS: Final = ("exact_match", "acc", "em", "pass@1", "mc1")
_LOW_CHOICE_MASS: Final = 0.01
"""With less probability than this on all choices together, one choice's share of it says little."""
_MAX_FILTERS_SHOWN: Final = 5
_PARSED_SHARE: Final = 0.5
"""Share of the work that is done once every record has been parsed."""


def recognises(head: Head) -> bool:
    """Whether the file is a samples log: JSON lines, a list (older versions), or the `logs` of lmms-eval."""
    if is_lmms_eval_object(head):
        return any(
            as_object(part).keys() >= _RECORD_KEYS for part in as_list(head.first_objects[0]["logs"])[:1]
        )
    return any(record.keys() >= _RECORD_KEYS for record in head.first_objects)


def read(head: Head, options: ReadOptions, progress: ReadProgress) -> Reading:
    """The run of a samples log. See `Format.read`."""
    results = find_results(head.file, head.companions, _first_document(head))
    docs, n_records = fold_filters(
        head, results.delimiter, lambda done, text: progress(_PARSED_SHARE * done, text)
    )
    mark_odd_targets(docs)
    filters = tuple(dict.fromkeys(name for doc in docs for name in doc.filters))
    golds = match_gold_choices([doc for doc in docs if doc.kind == "choice"])
    golds = replace(golds, positions=tuple(_gold_per_document(docs, golds)))
    chosen = next((field for field, name in options.columns.items() if name == "correct"), None)
    task = _describe_task(docs, golds, results, filters, chosen)
    ids, id_notes = _document_ids(docs)
    settings = next((doc.generation_settings for doc in docs if doc.generation_settings), as_object(None))
    notes = (
        *results_notes(results, len(docs)),
        *_folding_notes(docs, filters, n_records),
        *_filter_notes(docs, filters, task),
        *id_notes,
        *_gold_notes(docs, golds, task),
    )
    log = LogTable(
        entries=document_entries(docs, ids, golds, task),
        column_roles=column_roles(docs, task),
        info=run_info_from_results(results, settings),
        reported_metrics={
            "": reported_task_metrics(
                docs,
                results,
                filters,
                task.outcome_score,
                stored_outcomes=golds.metrics,
                judging_metric=task.judging_metric,
                uses_top_share=task.uses_top_share,
            )
        },
        notes=notes,
        evaluation=results.evaluation_id,
        n_records=n_records,
    )

    def second_half(done: float, text: str) -> None:
        progress(_PARSED_SHARE + (1 - _PARSED_SHARE) * done, text)

    return read_log_table(head, LM_EVAL.id, log, options, second_half)


def _first_document(head: Head) -> Mapping[str, object]:
    """The first document's own fields."""
    return next(
        (doc for record in head.first_objects if (doc := as_object(record.get("doc")))), as_object(None)
    )


def _gold_per_document(docs: Sequence[Document], golds: GoldChoices) -> Iterator[tuple[int, ...] | None]:
    """The right choices of every document; None for one without choices."""
    positions = iter(golds.positions)
    for doc in docs:
        yield next(positions) if doc.kind == "choice" else None


def _describe_task(
    docs: Sequence[Document],
    golds: GoldChoices,
    results: TaskResults,
    filters: Sequence[str],
    chosen_score: str | None,
) -> TaskTraits:
    choices = [doc for doc in docs if doc.kind == "choice" and doc.broken is None]
    has_several_gold = any(right is not None and len(right) > 1 for right in golds.positions)
    is_true_false = bool(choices) and all(
        sorted(map(_stripped_lower, doc.choices)) == ["false", "true"] for doc in choices
    )
    judging_metric = next((metric for metric in golds.metrics if _is_binary(choices, metric)), None)
    uses_top_share = has_several_gold or (bool(golds.n_contradicting) and judging_metric is not None)
    return TaskTraits(
        subject=results.subject,
        has_several_filters=len(filters) > 1,
        outcome_score=None if choices else _outcome_score(docs, results, chosen_score),
        uses_top_share=uses_top_share,
        judging_metric=judging_metric if uses_top_share else None,
        is_true_false=is_true_false and not uses_top_share,
    )


def _is_binary(docs: Sequence[Document], metric: str) -> bool:
    """Whether a stored metric is 0 or 1 in every document, and not a share."""
    return all(doc.score(metric) in (None, 0.0, 1.0) for doc in docs)


def _stripped_lower(text: str) -> str:
    return text.strip().lower()


def _outcome_score(docs: Sequence[Document], results: TaskResults, chosen: str | None) -> str | None:
    """The "metric,filter" that says whether the greedy answer is right: the chosen one, if it is one.

    Otherwise never one where lower is better.
    """
    if any(chosen in doc.scores for doc in docs):
        return chosen
    if any(is_sampled(doc.generation_settings) for doc in docs):
        return None
    keys = dict.fromkeys(key for doc in docs for key in doc.scores)
    keys = [key for key in keys if not results.is_lower_better(key.partition(",")[0])]
    usable = [key for key in keys if all(doc.scores.get(key, 0.0) in (0.0, 1.0) for doc in docs)]
    known = (key for metric in _OUTCOME_METRICS for key in usable if key.partition(",")[0] == metric)
    return next(known, usable[0] if usable else None)


def _document_ids(docs: Sequence[Document]) -> tuple[list[str | None], tuple[str, ...]]:
    """The id of each document (its doc_id, unless wrong or shared by several), and notes on the ids."""
    numbers = [int(doc.id) for doc in docs if doc.id is not None and doc.id.isdecimal() and len(doc.id) < 16]
    all_hashed = all(doc.doc_hash for doc in docs if doc.id is not None)
    may_be_renumbered = numbers != sorted(numbers) and set(numbers) != set(range(len(set(numbers))))
    if may_be_renumbered and all_hashed and len({doc.doc_hash for doc in docs}) == len(docs):
        note = "doc_id is not in order and may name other documents (--samples): doc_hash is the id."
        return [doc.doc_hash if doc.id is not None else None for doc in docs], (note,)
    hashes_of: dict[str | None, set[str]] = {}
    for doc in docs:
        hashes_of.setdefault(doc.id, set()).add(doc.doc_hash)
    n_shared = sum(len(hashes) > 1 for hashes in hashes_of.values())
    ids = [f"{doc.id} ({doc.doc_hash})" if doc.id and len(hashes_of[doc.id]) > 1 else doc.id for doc in docs]
    note = f"{n_shared:,} doc_ids name several documents, which doc_hash tells apart."
    return ids, (note,) if n_shared else ()


def _folding_notes(docs: Sequence[Document], filters: Sequence[str], n_records: int) -> Iterator[str]:
    if n_records > len(docs):
        listed = ", ".join(filters[:_MAX_FILTERS_SHOWN]) + (
            ", …" if len(filters) > _MAX_FILTERS_SHOWN else ""
        )
        yield f"{n_records:,} records are {len(docs):,} documents by {len(filters)} filters ({listed})."


def _filter_notes(docs: Sequence[Document], filters: Sequence[str], task: TaskTraits) -> Iterator[str]:
    """Which of several filters judges, and how to choose another."""
    if task.outcome_score is None or len(filters) < 2:
        return
    metric, _, judging = task.outcome_score.partition(",")
    keys = [
        key
        for name in filters
        if name != judging and any((key := f"{metric},{name}") in doc.scores for doc in docs)
    ]
    options = " or ".join(str(Advice(columns={key: "correct"})) for key in keys[:_MAX_FILTERS_SHOWN])
    other = f" Another filter: {options}" if keys else ""
    yield f"Outcomes are {metric} by the filter {judging}.{other}"


def _gold_notes(docs: Sequence[Document], golds: GoldChoices, task: TaskTraits) -> Iterator[str]:
    """How the right choice was found, and what follows where it is not known."""
    judge = task.judging_metric or "whether it is one of them"
    stored = join_names(golds.metrics) if golds.metrics else "acc"
    if golds.n_contradicting:
        consequence = (
            f"the top label's share of the choices is judged by {judge}, and " if task.uses_top_share else ""
        )
        yield (
            f"No reading of target agrees with {stored} in every document (the first contradicts it in "
            f"{golds.n_contradicting:,}): {consequence}the right choice is not known."
        )
    elif task.uses_top_share:
        yield f"Several choices are right: the top label's share of the choices is judged by {judge}."
    elif any(doc.contexts_differ for doc in docs) and not any(golds.positions):
        yield "The choices are in the context, and no acc tells which of them is right."
    if golds.interpretation:
        yield (
            f"The right choice is read {golds.interpretation}, which agrees with {stored} in "
            f"{golds.n_agreeing:,} documents."
        )
    if any(doc.n_unconditional for doc in docs):
        yield (
            "The log-probabilities without the question (of acc_mutual_info) are left out: no confidence "
            "here subtracts them, and choice_softmax is of those with the question."
        )
    if task.is_true_false:
        yield "The choices are True and False: p(True) is of True, and right where True is the right choice."
    masses = [sum(map(exp, doc.valid_loglikelihoods)) for doc in docs if doc.best_choice is not None]
    if masses and median(masses) < _LOW_CHOICE_MASS:
        yield (
            f"Before the softmax the choices' probabilities sum to {median(masses):.1g} (median): nearly all "
            f"of the mass lies outside the choices."
        )
    n_copied = sum(len(doc.samples) > 1 and is_sampled(doc.generation_settings) is False for doc in docs)
    if n_copied:
        note = "the answers are copies of one greedy answer, not samples"
        yield f"In {plural(n_copied, 'document')} {note}."


LM_EVAL: Final = Format(
    "lm_eval",
    "lm-evaluation-harness samples",
    "records with 'doc_id' and 'resps'",
    JSON_KINDS,
    recognises,
    read,
)
