"""What does a samples log of lm-evaluation-harness hold?  Choices with log-likelihoods, or generated answers.

One record a document and filter; the results file of the same time says of which model, task and shots.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import exp
from statistics import median
from typing import Final

from calib_core.files.format import Format, Head
from calib_core.files.harness.json_values import as_list, as_object
from calib_core.files.harness.lm_eval_docs import Document
from calib_core.files.harness.lm_eval_filters import fold_filters, is_lmms_eval_object
from calib_core.files.harness.lm_eval_gold import GoldChoices, match_gold_choices
from calib_core.files.harness.lm_eval_results import TaskResults, run_info_from_results, is_sampled, results_notes, find_results
from calib_core.files.harness.lm_eval_rows import TaskTraits, column_roles, document_entries
from calib_core.files.harness.lm_eval_scores import reported_task_metrics
from calib_core.files.harness.translated import LogTable, read_log_table
from calib_core.files.reading import Reading
from calib_core.files.tables.raw import ReadProgress
from calib_core.wording import plural

_RECORD_KEYS: Final = frozenset({"doc_id", "resps"})
_OUTCOME_METRICS: Final = ("exact_match", "acc", "em", "pass@1", "mc1")
_LOW_CHOICE_MASS: Final = 0.01
"""With less probability on the choices than this, the share of one among them says little."""
_PARSED_SHARE: Final = 0.5
"""Share of the work that is done once every record has been looked at."""


def recognises(head: Head) -> bool:
    """Whether the file is a samples log: lines, one list (older versions), or the `logs` of lmms-eval."""
    if is_lmms_eval_object(head):
        return any(as_object(part).keys() >= _RECORD_KEYS for part in as_list(head.first_objects[0]["logs"])[:1])
    return head.kind != "parquet" and any(record.keys() >= _RECORD_KEYS for record in head.first_objects)


def read(head: Head, mapping: Mapping[str, str], progress: ReadProgress) -> Reading:
    """The run of a samples log. See `format.Read`."""
    results = find_results(head.file, head.companions, _first_document(head))
    docs, records = fold_filters(head, results.delimiter, lambda done, text: progress(_PARSED_SHARE * done, text))
    filters = tuple(dict.fromkeys(name for doc in docs for name in doc.filters))
    golds = match_gold_choices([doc for doc in docs if doc.kind == "choice"])
    golds = replace(golds, right=tuple(_gold_per_document(docs, golds)))
    task = _describe_task(docs, golds, results, filters)
    ids, told_apart = _document_ids(docs)
    settings = next((doc.generation_settings for doc in docs if doc.generation_settings), as_object(None))
    notes = (
        *results_notes(results, len(docs)),
        *_folding_notes(docs, filters, records),
        *told_apart,
        *_gold_notes(docs, golds, task),
    )
    log = LogTable(
        entries=document_entries(docs, ids, golds, task),
        column_roles=column_roles(docs, task),
        info=run_info_from_results(results, settings),
        reported={"": reported_task_metrics(docs, results, filters, task.outcome_score, uses_top_share=task.uses_top_share)},
        notes=notes,
        part_of=results.evaluation_id,
        n_records=records,
    )

    def second_half(done: float, text: str) -> None:
        progress(_PARSED_SHARE + (1 - _PARSED_SHARE) * done, text)

    return read_log_table(head, LM_EVAL.id, log, mapping, second_half)


def _first_document(head: Head) -> Mapping[str, object]:
    """The first document's own fields."""
    return next((doc for record in head.first_objects if (doc := as_object(record.get("doc")))), as_object(None))


def _gold_per_document(docs: Sequence[Document], golds: GoldChoices) -> Iterator[tuple[int, ...] | None]:
    """The right choices of every document, None of one without choices."""
    found = iter(golds.positions)
    for doc in docs:
        yield next(found) if doc.kind == "choice" else None


def _describe_task(docs: Sequence[Document], golds: GoldChoices, results: TaskResults, filters: Sequence[str]) -> TaskTraits:
    choices = [doc for doc in docs if doc.kind == "choice" and doc.broken is None]
    several = any(right is not None and len(right) > 1 for right in golds.positions)
    two = bool(choices) and all(sorted(map(_stripped_lower, doc.choices)) == ["false", "true"] for doc in choices)
    scored = {score for doc in choices if (score := doc.score("acc")) is not None}
    binary = scored <= {0.0, 1.0}
    share = several or (bool(golds.n_contradicting) and bool(scored) and binary)
    return TaskTraits(
        subject=results.subject,
        has_several_filters=len(filters) > 1,
        outcome_score=None if choices else _outcome_score(docs, results),
        uses_top_share=share,
        is_judged_by_acc=share and bool(scored) and binary,
        is_true_false=two and not share,
    )


def _stripped_lower(text: str) -> str:
    return text.strip().lower()


def _outcome_score(docs: Sequence[Document], results: TaskResults) -> str | None:
    """The "metric,filter" that says whether the one greedy answer is right: not one where less is better."""
    if any(is_sampled(doc.generation_settings) for doc in docs):
        return None
    keys = dict.fromkeys(key for doc in docs for key in doc.scores)
    keys = [key for key in keys if not results.is_lower_better(key.partition(",")[0])]
    usable = [key for key in keys if all(doc.scores.get(key, 0.0) in (0.0, 1.0) for doc in docs)]
    known = (key for metric in _OUTCOME_METRICS for key in usable if key.partition(",")[0] == metric)
    return next(known, usable[0] if usable else None)


def _document_ids(docs: Sequence[Document]) -> tuple[list[str | None], tuple[str, ...]]:
    """The id of each document: its doc_id, unless that may be wrong or is taken by another document."""
    numbers = [int(doc.id) for doc in docs if doc.id is not None and doc.id.isdecimal() and len(doc.id) < 16]
    hashed = all(doc.doc_hash for doc in docs if doc.id is not None)
    picked = numbers != sorted(numbers) and set(numbers) != set(range(len(set(numbers))))
    if picked and hashed and len({doc.doc_hash for doc in docs}) == len(docs):
        why = "doc_id is not in order and may name other documents (--samples): doc_hash is the id."
        return [doc.doc_hash if doc.id is not None else None for doc in docs], (why,)
    shas: dict[str | None, set[str]] = {}
    for doc in docs:
        shas.setdefault(doc.id, set()).add(doc.doc_hash)
    again = sum(len(found) > 1 for found in shas.values())
    ids = [f"{doc.id} ({doc.doc_hash})" if doc.id and len(shas[doc.id]) > 1 else doc.id for doc in docs]
    why = f"{again:,} doc_ids name several documents, which doc_hash tells apart."
    return ids, (why,) if again else ()


def _folding_notes(docs: Sequence[Document], filters: Sequence[str], n_records: int) -> Iterator[str]:
    if n_records > len(docs):
        listed = ", ".join(filters[:5]) + (", …" if len(filters) > 5 else "")
        yield f"{n_records:,} records are {len(docs):,} documents by {len(filters)} filters ({listed})."


def _gold_notes(docs: Sequence[Document], golds: GoldChoices, task: TaskTraits) -> Iterator[str]:
    """How the right choice was found, and what follows where it is not known."""
    judged = "acc" if task.is_judged_by_acc else "whether it is one of them"
    if golds.n_contradicting:
        so = "the top label's share of the choices is judged by acc, and " if task.uses_top_share else ""
        yield (
            f"No reading of target agrees with acc in every document (the first contradicts it in "
            f"{golds.n_contradicting:,}): {so}the right choice is not known."
        )
    elif task.uses_top_share:
        yield f"Several choices are right: the top label's share of the choices is judged by {judged}."
    elif any(doc.contexts_differ for doc in docs) and not any(golds.positions):
        yield "The choices stand in the context, and no acc tells which of them is right."
    if golds.reading:
        yield f"The right choice is read {golds.reading}, which agrees with acc in {golds.n_agreeing:,} documents."
    if any(doc.n_unconditional for doc in docs):
        yield (
            "The log-probabilities without the question (of acc_mutual_info) are left out: no confidence "
            "here subtracts them, and choice_softmax is of those with the question."
        )
    if task.is_true_false:
        yield "The choices are True and False: p(True) is of True, and right where True is the right choice."
    inside = [sum(map(exp, doc.valid_loglikelihoods)) for doc in docs if doc.best_choice is not None]
    if inside and median(inside) < _LOW_CHOICE_MASS:
        yield (
            f"Before the softmax the choices' probabilities sum to {median(inside):.1g} (median): nearly all "
            f"of the mass lies outside the choices."
        )
    copies = sum(len(doc.samples) > 1 and is_sampled(doc.generation_settings) is False for doc in docs)
    if copies:
        told = "the answers are copies of one greedy answer, which is no sampling"
        yield f"In {plural(copies, 'document')} {told}."


LM_EVAL: Final = Format(
    "lm_eval", "lm-evaluation-harness samples", "records with 'doc_id' and 'resps'", recognises, read
)
