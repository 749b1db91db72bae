"""What models and people say of one thing, as tools for traces keep it: an annotation a record, or lists.

An annotation names what it is of, what is judged, and what kind of annotator gave it. A judge's and people's
of one name on one thing make a row; each name is a run. What a program gave is no judge's, and is counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from calib_core.errors import Refused, shorten
from calib_core.readers.eval_logs import LogEntry, LogRecord, LogTable, read_log_records, read_log_table
from calib_core.readers.format import JSON_KINDS, Format, Head, Reading, ReadOptions
from calib_core.readers.json_values import (
    as_finite_number,
    as_list,
    as_name,
    as_object,
    as_text,
)
from calib_core.readers.table.json_reader import parse_text, value_at
from calib_core.readers.table.raw import BrokenRecord, ReadProgress
from calib_core.readers.table.reader import sole_object
from calib_core.readers.table.shape import as_rows
from calib_core.wording import join_names

_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_.-]+")
MAX_NAME_CHARS: Final = 40


@dataclass(frozen=True, slots=True)
class Annotation:
    """What one annotator says of one thing.

    Attributes
    ----------
    of : str
        Id of the thing.
    name : str
        What is judged.
    kind : {"judge", "human"} or str
        Who gave it; any other word of the tool for what is neither.
    who : str or None
        The judge or the person, where that is known.
    label : str or None
    score : float or None
        What the judge gave beside the label, or in its place.
    question : str or None
        What the thing was asked.
    """

    of: str
    name: str
    kind: str
    who: str | None = None
    label: str | None = None
    score: float | None = None
    question: str | None = None


_AnnotationsOf: TypeAlias = Callable[[Mapping[str, object]], Iterator[Annotation]]
_DATA_TYPES: Final = ("NUMERIC", "BOOLEAN", "CATEGORICAL")
"""Types of Langfuse's scores that judge; the others are free text and corrections."""


@dataclass(frozen=True, slots=True)
class AnnotationTool:
    """A tool that keeps annotations.

    Attributes
    ----------
    id, title, recognised_by
        As in `Format`.
    signatures
        Paths of which a record has a value at all of one of the sets.
    annotations
        Record → its annotations.
    lists
        Keys of an object under which the records may be.
    """

    id: str
    title: str
    recognised_by: str
    signatures: tuple[tuple[str, ...], ...]
    annotations: _AnnotationsOf
    lists: tuple[str, ...] = ("data",)

    def format(self) -> Format:
        """The format of such files."""
        return Format(self.id, self.title, self.recognised_by, JSON_KINDS, self.recognises, self.read)

    def recognises(self, head: Head) -> bool:
        """Whether one of the first records has a value at each path of a signature."""
        lone = sole_object(head)
        first = head.first_objects if lone is None else (self._rows_of(lone) or head.first_objects)[:20]
        return any(
            all(value_at(record, path) is not None for path in paths)
            for record in first
            for paths in self.signatures
        )

    def read(self, head: Head, options: ReadOptions, progress: ReadProgress) -> Reading:
        """One run for each name and judge. See `Format.read`."""
        records = list(self._records(head))
        rows, notes = _Rows(), list[str]()
        entries = list(rows.entries(records, self.annotations))
        if not entries:
            given = join_names(sorted(rows.others)) or "nobody"
            raise Refused(
                f"{head.file} was recognised as {self.title}, but no annotation in it is by a model or a "
                f"person: they are by {given}."
            )
        if rows.others:
            counts = ", ".join(f"{n:,} of {kind}" for kind, n in sorted(rows.others.items()))
            notes.append(f"Annotations that are neither a judge's nor a person's are not read: {counts}.")
        log = LogTable(entries, {}, notes=notes, n_records=len(records))
        return read_log_table(head, self.id, log, options, progress)

    def _rows_of(self, lone: Mapping[str, object]) -> tuple[Mapping[str, object], ...]:
        return next((rows for key in self.lists if (rows := as_rows(lone.get(key))) is not None), ())

    def _records(self, head: Head) -> Iterator[LogRecord]:
        lone = sole_object(head)
        if lone is None:
            yield from read_log_records(head)
            return
        rows = self._rows_of(lone) or (lone,)
        for number, row in enumerate(rows, 1):
            yield LogRecord(row, None, number / len(rows))


@dataclass(slots=True)
class _Rows:
    """Makes a row of the annotations of one name and judge on one thing.

    Attributes
    ----------
    people
        Thing and name → column of the person → label.
    judges
        Thing and name → judge → what it gave; in the order of the first annotation of any kind.
    others
        Kind of other annotators → number of their annotations.
    """

    people: dict[tuple[str, str], dict[str, str]] = field(
        default_factory=dict[tuple[str, str], dict[str, str]]
    )
    judges: dict[tuple[str, str], dict[str | None, Annotation]] = field(
        default_factory=dict[tuple[str, str], dict[str | None, Annotation]]
    )
    others: Counter[str] = field(default_factory=Counter[str])
    _questions: dict[str, str] = field(default_factory=dict[str, str])

    def entries(self, records: Iterable[LogRecord], annotations: _AnnotationsOf) -> Iterator[LogEntry]:
        """One entry a row, and one for each record or annotation that is bad."""
        for record in records:
            if isinstance(record.value, BrokenRecord):
                yield LogEntry({}, record.line, record.share, record.value)
                continue
            for one in annotations(record.value):
                if (contradicted := self._add(one)) is not None:
                    found = f"{shorten(contradicted, 20)} and {shorten(_said(one), 20)}"
                    expected = f"one annotation of {shorten(one.of, 40)} by each annotator"
                    kind, fix = "repeated annotation", "Keep the one that counts."
                    broken = BrokenRecord(0, kind, one.name, expected, found, fix)
                    yield LogEntry({}, record.line, record.share, broken)
        for (of, name), by_judge in self.judges.items():
            labels = self.people.get((of, name), {})
            shared = {"id": of, "dataset": name, "question": self._questions.get(of), **labels}
            for judge in [*by_judge.values()] or [None]:
                own = {} if judge is None else _of_judge(judge)
                yield LogEntry({**shared, **own}, None, 1.0)

    def _add(self, one: Annotation) -> str | None:
        """Take in an annotation; returns what the same annotator said before, if that is something else."""
        if one.question is not None:
            self._questions.setdefault(one.of, one.question)
        key = (one.of, one.name)
        if one.kind not in ("judge", "human"):
            self.others[one.kind] += 1
            return None
        if one.label is None and (one.kind == "human" or one.score is None):
            return None
        judges = self.judges.setdefault(key, {})
        if one.kind == "judge":
            before = _said(judges.setdefault(one.who, one))
        else:
            before = self.people.setdefault(key, {}).setdefault(_column_of(one.who), _said(one))
        return None if before == _said(one) else before


def _said(one: Annotation) -> str:
    return one.label if one.label is not None else str(one.score)


def _column_of(who: str | None) -> str:
    name = _NOT_IN_NAMES.sub("_", who or "").strip("_")[:MAX_NAME_CHARS]
    return f"human.{name}" if name else "human"


def _of_judge(judge: Annotation) -> dict[str, object]:
    return {"model": judge.who, "judge": judge.label, "judge_score": judge.score}


def label_and_score(value: object) -> tuple[str | None, float | None]:
    """A text, a truth or a whole number as a label; any other number as a score.

    Examples
    --------
    >>> label_and_score(True), label_and_score("good"), label_and_score(4.0), label_and_score(0.25)
    (('true', None), ('good', None), ('4', None), (None, 0.25))
    """
    if isinstance(value, bool):
        return str(value).lower(), None
    if isinstance(value, int | float) and (number := as_finite_number(value)) is not None:
        return (f"{number:.0f}", None) if number.is_integer() else (None, number)
    text = as_text(value)
    return (text if text and text.strip() else None), None


# --- The tools ------------------------------------------------------------------------------------


def mlflow_annotations(record: Mapping[str, object]) -> Iterator[Annotation]:
    """The valid feedback on a trace of MLflow; a later one makes the one that it overrides invalid."""
    info = as_object(record.get("info")) or record
    of = as_name(info.get("trace_id"))
    question = as_text(info.get("request_preview")) or as_text(record.get("request"))
    listed = info.get("assessments")
    for one in map(as_object, as_list(parse_text(listed) if isinstance(listed, str) else listed)):
        name, source = as_name(one.get("assessment_name")), as_object(one.get("source"))
        if of is None or name is None or "feedback" not in one or one.get("valid") is False:
            continue
        kind = as_text(source.get("source_type")) or "an unknown source"
        label, score = label_and_score(value_at(one, "feedback.value"))
        kind = {"LLM_JUDGE": "judge", "AI_JUDGE": "judge", "HUMAN": "human"}.get(kind, kind)
        yield Annotation(of, name, kind, as_name(source.get("source_id")), label, score, question)


def phoenix_annotations(record: Mapping[str, object]) -> Iterator[Annotation]:
    """An annotation of a span in Phoenix, whose label or else its score is what is said."""
    of, name = as_name(record.get("span_id")), as_name(record.get("name", record.get("annotation_name")))
    if of is not None and name is not None:
        kind = as_text(record.get("annotator_kind")) or "an unknown kind"
        label = as_text(value_at(record, "result.label"))
        found, score = label_and_score(value_at(record, "result.score"))
        if label is not None:
            score = as_finite_number(value_at(record, "result.score"))
        who = as_name(record.get("user_id")) or as_name(record.get("identifier"))
        kind = {"LLM": "judge", "HUMAN": "human"}.get(kind, kind)
        yield Annotation(of, name, kind, who, found if label is None else label, score)


def langfuse_annotations(record: Mapping[str, object]) -> Iterator[Annotation]:
    """A score of Langfuse; what its interface gives now, or gave before with `stringValue`."""
    of = as_name(value_at(record, "subject.id")) or next(
        (id_ for key in ("observationId", "traceId", "sessionId") if (id_ := as_name(record.get(key)))), None
    )
    name, value = as_name(record.get("name")), record.get("value")
    if of is not None and name is not None and record.get("dataType") in _DATA_TYPES:
        if record["dataType"] == "BOOLEAN" and value in (0, 1):
            value = bool(value)
        elif record["dataType"] == "CATEGORICAL":
            value = record.get("stringValue", value)
        source = as_text(record.get("source")) or "an unknown source"
        label, score = label_and_score(value)
        kind = {"EVAL": "judge", "ANNOTATION": "human"}.get(source, source)
        yield Annotation(of, name, kind, as_name(record.get("authorUserId")), label, score)


ANNOTATION_TOOLS: Final = (
    AnnotationTool(
        "mlflow_traces",
        "traces of MLflow with assessments",
        "traces with a list of assessments, each with its source",
        (("info.trace_id", "info.assessments"), ("trace_id", "trace_metadata", "assessments")),
        mlflow_annotations,
        ("traces",),
    ),
    AnnotationTool(
        "phoenix",
        "annotations of Phoenix",
        "annotations of spans with the kind of their annotator",
        (("span_id", "annotator_kind", "name"), ("span_id", "annotator_kind", "annotation_name")),
        phoenix_annotations,
    ),
    AnnotationTool(
        "langfuse",
        "scores of Langfuse",
        "scores with a data type, a source and what they are of",
        (
            ("name", "source", "dataType", "subject.id"),
            ("name", "source", "dataType", "traceId"),
            ("name", "source", "dataType", "observationId"),
        ),
        langfuse_annotations,
    ),
)
"""The tools, each of which becomes a format."""
