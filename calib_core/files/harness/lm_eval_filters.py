"""Which records are the same document seen by several filters?  They are one question, and count once."""

from __future__ import annotations

from calib_core.files.format import Head
from calib_core.files.harness.lm_eval_docs import Document, parse_document
from calib_core.files.harness.logged import read_log_records
from calib_core.files.tables.raw import BrokenRecord, ReadProgress

DocumentKey = tuple[str | None, str]


def is_lmms_eval_object(head: Head) -> bool:
    """Whether the file is one object, as lmms-eval writes it, whose `logs` are the records."""
    return len(head.first_objects) == 1 and head.first_objects[0].keys() >= {"args", "logs"}


def fold_filters(head: Head, delimiter: str | None, progress: ReadProgress) -> tuple[list[Document], int]:
    """The documents, each with all its filters, and how many records there were.

    delimiter: as in `doc_of`; progress: told the share of the file. A record of a document that was there
    before is another filter of it where it holds the same responses and another filter's name. Old logs name
    none: there the other filters have other scores, or every document comes equally often. Else a record is
    the same document again, which is for others to judge.
    """
    docs: list[Document] = []
    first: dict[DocumentKey, Document] = {}
    times: dict[DocumentKey, int] = {}
    alike: list[tuple[int, Document, Document, int]] = []
    records = 0
    for records, record in enumerate(read_log_records(head, "logs" if is_lmms_eval_object(head) else None), 1):
        if records % 4_096 == 0:
            progress(record.share, f"{records:,} records read")
        if isinstance(record.value, BrokenRecord):
            docs.append(Document("nothing", None, "", record.line, record.share, broken=record.value))
            continue
        doc = parse_document(record.value, record.line, record.share, delimiter)
        key = (doc.id, doc.doc_hash)
        before = first.setdefault(key, doc)
        times[key] = times.get(key, 0) + 1
        named = "filter" in record.value
        if before is doc or not _same_responses(doc, before) or (named and doc.filters[0] in before.filters):
            docs.append(doc)
        elif named or _filter_outcome(doc) != _filter_outcome(before):
            _add_filter(doc, before, doc.filters[0] if named else str(times[key]))
        else:
            alike.append((len(docs), doc, before, times[key]))
    as_often = len(set(times.values())) == 1
    for at, doc, before, number in reversed(alike):
        if as_often:
            _add_filter(doc, before, str(number))
        else:
            docs.insert(at, doc)
    return docs, records


def _same_responses(doc: Document, earlier: Document) -> bool:
    return doc.id is not None and (doc.samples, doc.loglikelihoods) == (earlier.samples, earlier.loglikelihoods)


def _filter_outcome(doc: Document) -> tuple[list[float], list[object]]:
    """What the first filter made of a document."""
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
