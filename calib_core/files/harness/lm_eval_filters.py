"""Which records are the same document seen by several filters?  They are one question, and count once."""

from __future__ import annotations

from calib_core.files.format import Head
from calib_core.files.harness.lm_eval_docs import Doc, doc_of
from calib_core.files.harness.logged import records_of
from calib_core.files.tables.raw import Broken, Progress

Key = tuple[str | None, str]


def is_wrapped(head: Head) -> bool:
    """Whether the file is one object, as lmms-eval writes it, whose `logs` are the records."""
    return len(head.objects) == 1 and head.objects[0].keys() >= {"args", "logs"}


def folded(head: Head, delimiter: str | None, progress: Progress) -> tuple[list[Doc], int]:
    """The documents, each with all its filters, and how many records there were.

    delimiter: as in `doc_of`; progress: told the share of the file. A record of a document that was there
    before is another filter of it where it holds the same responses and another filter's name. Old logs name
    none: there the other filters have other scores, or every document comes equally often. Else a record is
    the same document again, which is for others to judge.
    """
    docs: list[Doc] = []
    first: dict[Key, Doc] = {}
    times: dict[Key, int] = {}
    alike: list[tuple[int, Doc, Doc, int]] = []
    records = 0
    for records, record in enumerate(records_of(head, "logs" if is_wrapped(head) else None), 1):
        if records % 4_096 == 0:
            progress(record.share, f"{records:,} records read")
        if isinstance(record.value, Broken):
            docs.append(Doc("nothing", None, "", record.line, record.share, broken=record.value))
            continue
        doc = doc_of(record.value, record.line, record.share, delimiter)
        key = (doc.id, doc.sha)
        before = first.setdefault(key, doc)
        times[key] = times.get(key, 0) + 1
        named = "filter" in record.value
        if before is doc or not _same_responses(doc, before) or (named and doc.filters[0] in before.filters):
            docs.append(doc)
        elif named or _said(doc) != _said(before):
            _add(doc, before, doc.filters[0] if named else str(times[key]))
        else:
            alike.append((len(docs), doc, before, times[key]))
    as_often = len(set(times.values())) == 1
    for at, doc, before, number in reversed(alike):
        if as_often:
            _add(doc, before, str(number))
        else:
            docs.insert(at, doc)
    return docs, records


def _same_responses(doc: Doc, before: Doc) -> bool:
    return doc.id is not None and (doc.samples, doc.numbers) == (before.samples, before.numbers)


def _said(doc: Doc) -> tuple[list[float], list[object]]:
    """What the first filter made of a document."""
    first = doc.filters[0]
    scores = [value for key, value in doc.scores.items() if key.partition(",")[2] == first]
    return scores, [doc.chosen.get(first)]


def _add(doc: Doc, before: Doc, name: str) -> None:
    """Adds another filter to the document it belongs to."""
    if name not in before.filters:
        before.filters.append(name)
    before.scores |= {f"{key.partition(',')[0]},{name}": value for key, value in doc.scores.items()}
    if doc.chosen:
        before.chosen[name] = next(iter(doc.chosen.values()))
    before.parsed = before.parsed or doc.parsed
