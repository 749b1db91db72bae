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
from calib_core.files.harness.lm_eval_docs import Doc
from calib_core.files.harness.lm_eval_filters import folded, is_wrapped
from calib_core.files.harness.lm_eval_gold import Golds, golds_of
from calib_core.files.harness.lm_eval_results import Results, info_of, is_sampled, notes_of, results_of
from calib_core.files.harness.lm_eval_rows import Task, columns_of, entries
from calib_core.files.harness.lm_eval_scores import reported_of
from calib_core.files.harness.translated import Translated, read_translated
from calib_core.files.reading import Reading
from calib_core.files.tables.raw import Progress
from calib_core.wording import count

_MARKS: Final = frozenset({"doc_id", "resps"})
_JUDGES: Final = ("exact_match", "acc", "em", "pass@1", "mc1")
_LITTLE: Final = 0.01
"""With less probability on the choices than this, the share of one among them says little."""
_READ: Final = 0.5
"""Share of the work that is done once every record has been looked at."""


def recognises(head: Head) -> bool:
    """Whether the file is a samples log: lines, one list (older versions), or the `logs` of lmms-eval."""
    if is_wrapped(head):
        return any(as_object(part).keys() >= _MARKS for part in as_list(head.objects[0]["logs"])[:1])
    return head.kind != "parquet" and any(record.keys() >= _MARKS for record in head.objects)


def read(head: Head, mapping: Mapping[str, str], progress: Progress) -> Reading:
    """The run of a samples log. See `format.Read`."""
    results = results_of(head.file, head.beside, _document(head))
    docs, records = folded(head, results.delimiter, lambda done, text: progress(_READ * done, text))
    filters = tuple(dict.fromkeys(name for doc in docs for name in doc.filters))
    golds = golds_of([doc for doc in docs if doc.kind == "choice"])
    golds = replace(golds, right=tuple(_spread(docs, golds)))
    task = _task(docs, golds, results, filters)
    ids, told_apart = _ids(docs)
    settings = next((doc.settings for doc in docs if doc.settings), as_object(None))
    notes = (
        *notes_of(results, len(docs)),
        *_folding(docs, filters, records),
        *told_apart,
        *_reading(docs, golds, task),
    )
    log = Translated(
        entries=entries(docs, ids, golds, task),
        columns=columns_of(docs, task),
        info=info_of(results, settings),
        reported={"": reported_of(docs, results, filters, task.judged, given=task.share)},
        notes=notes,
        part_of=results.group,
        records=records,
    )

    def second_half(done: float, text: str) -> None:
        progress(_READ + (1 - _READ) * done, text)

    return read_translated(head, LM_EVAL.id, log, mapping, second_half)


def _document(head: Head) -> Mapping[str, object]:
    """The first document's own fields."""
    return next((doc for record in head.objects if (doc := as_object(record.get("doc")))), as_object(None))


def _spread(docs: Sequence[Doc], golds: Golds) -> Iterator[tuple[int, ...] | None]:
    """The right choices of every document, None of one without choices."""
    found = iter(golds.right)
    for doc in docs:
        yield next(found) if doc.kind == "choice" else None


def _task(docs: Sequence[Doc], golds: Golds, results: Results, filters: Sequence[str]) -> Task:
    choices = [doc for doc in docs if doc.kind == "choice" and doc.broken is None]
    several = any(right is not None and len(right) > 1 for right in golds.right)
    two = bool(choices) and all(sorted(map(_bare, doc.choices)) == ["false", "true"] for doc in choices)
    scored = {score for doc in choices if (score := doc.score("acc")) is not None}
    binary = scored <= {0.0, 1.0}
    share = several or (bool(golds.against) and bool(scored) and binary)
    return Task(
        subject=results.subject,
        several_filters=len(filters) > 1,
        judged=None if choices else _judged(docs, results),
        share=share,
        by_acc=share and bool(scored) and binary,
        true_false=two and not share,
    )


def _bare(text: str) -> str:
    return text.strip().lower()


def _judged(docs: Sequence[Doc], results: Results) -> str | None:
    """The "metric,filter" that says whether the one greedy answer is right: not one where less is better."""
    if any(is_sampled(doc.settings) for doc in docs):
        return None
    keys = dict.fromkeys(key for doc in docs for key in doc.scores)
    keys = [key for key in keys if not results.is_loss(key.partition(",")[0])]
    usable = [key for key in keys if all(doc.scores.get(key, 0.0) in (0.0, 1.0) for doc in docs)]
    known = (key for metric in _JUDGES for key in usable if key.partition(",")[0] == metric)
    return next(known, usable[0] if usable else None)


def _ids(docs: Sequence[Doc]) -> tuple[list[str | None], tuple[str, ...]]:
    """The id of each document: its doc_id, unless that may be wrong or is taken by another document."""
    numbers = [int(doc.id) for doc in docs if doc.id is not None and doc.id.isdecimal() and len(doc.id) < 16]
    hashed = all(doc.sha for doc in docs if doc.id is not None)
    picked = numbers != sorted(numbers) and set(numbers) != set(range(len(set(numbers))))
    if picked and hashed and len({doc.sha for doc in docs}) == len(docs):
        why = "doc_id is not in order and may name other documents (--samples): doc_hash is the id."
        return [doc.sha if doc.id is not None else None for doc in docs], (why,)
    shas: dict[str | None, set[str]] = {}
    for doc in docs:
        shas.setdefault(doc.id, set()).add(doc.sha)
    again = sum(len(found) > 1 for found in shas.values())
    ids = [f"{doc.id} ({doc.sha})" if doc.id and len(shas[doc.id]) > 1 else doc.id for doc in docs]
    why = f"{again:,} doc_ids name several documents, which doc_hash tells apart."
    return ids, (why,) if again else ()


def _folding(docs: Sequence[Doc], filters: Sequence[str], records: int) -> Iterator[str]:
    if records > len(docs):
        listed = ", ".join(filters[:5]) + (", …" if len(filters) > 5 else "")
        yield f"{records:,} records are {len(docs):,} documents by {len(filters)} filters ({listed})."


def _reading(docs: Sequence[Doc], golds: Golds, task: Task) -> Iterator[str]:
    """How the right choice was found, and what follows where it is not known."""
    judged = "acc" if task.by_acc else "whether it is one of them"
    if golds.against:
        so = "the top label's share of the choices is judged by acc, and " if task.share else ""
        yield (
            f"No reading of target agrees with acc in every document (the first contradicts it in "
            f"{golds.against:,}): {so}the right choice is not known."
        )
    elif task.share:
        yield f"Several choices are right: the top label's share of the choices is judged by {judged}."
    elif any(doc.contexts_differ for doc in docs) and not any(golds.right):
        yield "The choices stand in the context, and no acc tells which of them is right."
    if golds.how:
        yield f"The right choice is read {golds.how}, which agrees with acc in {golds.agreed:,} documents."
    if any(doc.unconditional for doc in docs):
        yield (
            "The log-probabilities without the question (of acc_mutual_info) are left out: no confidence "
            "here subtracts them, and choice_softmax is of those with the question."
        )
    if task.true_false:
        yield "The choices are True and False: p(True) is of True, and right where True is the right choice."
    inside = [sum(map(exp, doc.numeric)) for doc in docs if doc.best is not None]
    if inside and median(inside) < _LITTLE:
        yield (
            f"Before the softmax the choices' probabilities sum to {median(inside):.1g} (median): nearly all "
            f"of the mass lies outside the choices."
        )
    copies = sum(len(doc.samples) > 1 and is_sampled(doc.settings) is False for doc in docs)
    if copies:
        told = "the answers are copies of one greedy answer, which is no sampling"
        yield f"In {count(copies, 'document')} {told}."


LM_EVAL: Final = Format(
    "lm_eval", "lm-evaluation-harness samples", "records with 'doc_id' and 'resps'", recognises, read
)
