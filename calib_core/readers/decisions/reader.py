"""Reads responses of decision servers: System One, OpenAI Decisions, and what resembles them.

Each question is a run of its own, and each of its rows is one request. What has no distribution is counted
by its reason and never guessed. Right answers come from a table that the user names, or from the records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from calib_core.errors import Refused, shorten
from calib_core.readers.decisions.gold import (
    GoldAnswer,
    Golds,
    inside_gold,
    logged_outcome,
    read_gold,
    right_choice,
    yes_or_no,
)
from calib_core.readers.decisions.shapes import (
    ID_FIELDS,
    DecisionAnswer,
    DecisionResponse,
    Option,
    is_decision,
    parse_response,
)
from calib_core.readers.eval_logs import LogEntry, LogRecord, LogTable, read_log_records, read_log_table
from calib_core.readers.format import JSON_KINDS, Format, Head, Reading, ReadOptions
from calib_core.readers.json_values import BadValueError, as_list, as_object
from calib_core.readers.merged_runs import QUESTIONS
from calib_core.readers.table.columns import AS_PRINTED
from calib_core.readers.table.gold_table import refuse_without_gold
from calib_core.readers.table.json_reader import value_at
from calib_core.readers.table.raw import BrokenRecord, ReadProgress
from calib_core.readers.table.reader import sole_object
from calib_core.wording import format_number, join_names, plural

AS_CHOICE: Final = "choice"
"""What a question is mapped to whose levels have no order: `--map QUESTION=choice`."""

_ROWS: Final = ("results.results", "results")
"""Where the responses may be in a file that is one object, as Promptfoo writes it."""

_STATUS_TEXTS: Final[Mapping[str, str]] = {
    "error": "of a failed request",
    "blocked": "blocked",
    "refused": "refused",
    "missing": "missing",
    "box": "a box, which has no distribution",
    "unknown type": "of an unknown type",
}


@dataclass(frozen=True, slots=True)
class _Located:
    """A response, where it stands, and why it cannot be read, if so."""

    response: DecisionResponse
    number: int
    line: int | None
    share: float
    broken: BrokenRecord | None = None

    @property
    def id(self) -> str:
        """The caller's id, or else the number of the line or record."""
        return self.response.id or str(self.line or self.number)


@dataclass(slots=True)
class _Questions:
    """What all records together say of each question.

    Attributes
    ----------
    options : dict
        Question → its options, each with its type, in the order of the first request or answer.
    labels : dict
        Question → labels of its levels.
    judged : set of str
        Questions of which at least one answer has a distribution.
    """

    options: dict[str, dict[tuple[type, Option], None]] = field(
        default_factory=dict[str, dict[tuple[type, Option], None]]
    )
    labels: dict[str, tuple[Option, ...]] = field(default_factory=dict[str, tuple[Option, ...]])
    judged: set[str] = field(default_factory=set[str])

    @classmethod
    def of(cls, responses: Sequence[_Located]) -> _Questions:
        """Gather them."""
        found = cls()
        for located in responses:
            for question in located.response.asked:
                order = found.options.setdefault(question.name, {})
                order.update(dict.fromkeys((type(option), option) for option in question.options))
                if question.options:
                    found.labels.setdefault(question.name, question.options)
            for name, answer in located.response.answers:
                if isinstance(answer, BrokenRecord) or answer.kind is None:
                    continue
                found.judged.add(name)
                order = found.options.setdefault(name, {})
                order.update(dict.fromkeys((type(option), option) for option in answer.options))
                if answer.kind == "score" and answer.options:
                    found.labels[name] = answer.options
        return found

    def in_order(self, name: str, answer: DecisionAnswer) -> DecisionAnswer:
        """The answer with its options in the question's order, and its levels with their labels."""
        if answer.kind == "score":
            labels = self.labels.get(name, ())
            is_labelled = bool(answer.options) or len(labels) == len(answer.probs) == len(set(labels))
            return replace(answer, options=(answer.options or labels) if is_labelled else ())
        if answer.kind != "choice":
            return answer
        places = {key: at for at, key in enumerate(self.options[name])}
        pairs = sorted(
            zip(answer.options, answer.probs, strict=True), key=lambda one: places[type(one[0]), one[0]]
        )
        return replace(answer, options=tuple(one for one, _ in pairs), probs=tuple(p for _, p in pairs))


@dataclass(slots=True)
class _DecisionRows:
    """Makes the rows of a file of responses."""

    responses: Sequence[_Located]
    questions: _Questions
    golds: Golds
    as_choices: frozenset[str]
    counts: Counter[str] = field(default_factory=Counter[str])
    label_masses: list[float] = field(default_factory=list[float])
    used_golds: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    number_labels: set[str] = field(default_factory=set[str])
    model: str | None = None

    def entries(self) -> Iterator[LogEntry]:
        """One row for each question of each request, and one for each right answer without a row."""
        for located in self.responses:
            if located.broken is not None:
                yield LogEntry({}, located.line, located.share, located.broken)
                continue
            for fields in self._rows(located):
                if isinstance(fields, BrokenRecord):
                    yield LogEntry({}, located.line, located.share, fields)
                else:
                    yield LogEntry(fields, located.line, located.share)
        for (id_, question), gold in self.golds.items():
            if (id_, question) not in self.used_golds:
                expected = "the id and the question of an answer"
                found = f"{id_}, {question}"
                fix = "Remove it from the table of right answers, or correct its id or question."
                column = f"{shorten(question, 40)} in {gold.place}"
                yield LogEntry(
                    {}, None, 1.0, BrokenRecord(0, "gold without a row", column, expected, found, fix)
                )

    def _rows(self, located: _Located) -> Iterator[dict[str, object] | BrokenRecord]:
        response = located.response
        self.counts["answers"] += len(response.answers)
        names = [name for name, _ in response.answers]
        own = {question.name for question in response.asked} | set(names)
        inside = inside_gold(response.gold, own, f"record {located.number:,}")
        for name, answer in response.answers:
            if isinstance(answer, BrokenRecord):
                self.used_golds.add((located.id, name))
                yield answer
            elif answer.kind is not None or name in self.questions.judged:
                yield self._row(located, name, answer, inside)
            else:
                self.used_golds.add((located.id, name))
                self.counts[answer.status] += 1
        asked = dict.fromkeys(
            [*(question.name for question in response.asked)]
            + [question for id_, question in self._golds_of(located.id) if id_ == located.id]
        )
        status = response.failure or "missing"
        for name in asked:
            if name not in names:
                missing = DecisionAnswer(None, status)
                if name in self.questions.judged:
                    yield self._row(located, name, missing, inside)
                elif question_is_asked(response, name):
                    self.used_golds.add((located.id, name))
                    self.counts[status] += 1
        if response.failure:
            self.counts[f"{response.failure} request"] += 1

    def _golds_of(self, id_: str) -> Sequence[tuple[str, str]]:
        return [(id_, name) for name in self.questions.judged if (id_, name) in self.golds]

    def _row(
        self, located: _Located, name: str, answer: DecisionAnswer, inside: Mapping[str, GoldAnswer]
    ) -> dict[str, object] | BrokenRecord:
        response, key = located.response, (located.id, name)
        self.used_golds.add(key)
        dataset = name if response.dataset is None else f"{response.dataset}, {name}"
        row: dict[str, object] = {"id": located.id, "model": response.model or self.model, "dataset": dataset}
        if answer.kind is None:
            self.counts[answer.status] += 1
            return {**row, "status": answer.status}
        gold = self.golds.get(key, inside.get(name))
        self.counts["confidence"] += answer.confidence is not None
        row["server_confidence"] = answer.confidence
        if answer.label_mass is not None:
            self.label_masses.append(answer.label_mass)
        answer = self.questions.in_order(name, answer)
        if answer.kind == "yes_no":
            event = None if gold is None else yes_or_no(gold.value)
            if gold is not None and event is None:
                return _bad_gold(name, gold, "true or false")
            return {**row, "choices_are": "options", "event_prob": answer.probs[0], "event": event}
        choices = _choice_names(answer)
        right = None if gold is None else right_choice(answer, gold.value)
        if gold is not None and right is None:
            return _bad_gold(name, gold, f"one of {join_names(choices, 'or')}")
        if answer.kind == "score" and any(label.isdecimal() for label in map(str, answer.options)):
            self.number_labels.add(name)
        is_scale = answer.kind == "score" and name not in self.as_choices
        chosen = None if answer.chosen is None else right_choice(answer, answer.chosen)
        return {
            **row,
            "choices_are": "levels" if is_scale else "options",
            "choices": choices,
            "choice_probs": list(answer.probs),
            "prediction": None if chosen is None else choices[chosen],
            "gold": None if right is None else choices[right],
        }

    def notes(self) -> Iterator[str]:
        """Yield notes on all rows; complete once every row has been made."""
        counts = self.counts
        n_failed = {kind: counts[f"{kind} request"] for kind in ("error", "blocked")}
        texts = [f"{counts[status]:,} {text}" for status, text in _STATUS_TEXTS.items() if counts[status]]
        if texts:
            yield f"Questions without a distribution, which are not judged: {', '.join(texts)}."
        if any(n_failed.values()):
            yield (
                f"{plural(len(self.responses), 'request')}: {n_failed['error']:,} failed, "
                f"{n_failed['blocked']:,} blocked."
            )
        if counts["confidence"]:
            yield (
                f"{plural(counts['confidence'], 'answer')} have a field confidence, which the server "
                "derives from the probabilities by its own formula: it is not a probability, and is read "
                "as a rank only."
            )
        if self.label_masses:
            least = format_number(min(self.label_masses), ".3g")
            yield (
                f"The options have at least {least} of the probability of the whole vocabulary (label_mass); "
                "their shares among the options are read, not multiplied by it."
            )
        if any(located.response.id is None for located in self.responses):
            yield f"Records without an id ({', '.join(ID_FIELDS)}) get the number of their line as id."
        for name in sorted(self.number_labels):
            yield (
                f"Labels of the levels of {shorten(name, 40)!r} are numbers, too: a right answer that is a "
                "number is the number of the level, from 0."
            )


def question_is_asked(response: DecisionResponse, name: str) -> bool:
    """Whether the request in the record asks a question."""
    return any(question.name == name for question in response.asked)


def _choice_names(answer: DecisionAnswer) -> list[str]:
    """The options as distinct texts; the text "true" is in quotes where `true` is an option, too."""
    options = answer.options or tuple(str(level) for level in range(len(answer.probs)))
    booleans = {str(option).lower() for option in options if isinstance(option, bool)}
    return [
        str(option).lower() if isinstance(option, bool) else f'"{option}"' if option in booleans else option
        for option in options
    ]


def _bad_gold(name: str, gold: GoldAnswer, expected: str) -> BrokenRecord:
    column = f"{shorten(name, 40)} in {gold.place}"
    fix = "Write the text of an option, or the number or label of a level."
    return BrokenRecord(0, "label outside the classes", column, expected, shorten(str(gold.value)), fix)


# --- The format ---------------------------------------------------------------------------------------------


def recognises(head: Head) -> bool:
    """Whether one of the first records holds an answer of a known type."""
    return any(map(is_decision, head.first_objects)) or any(
        is_decision(as_object(record)) for record in _rows_of_object(head)[:20]
    )


def _rows_of_object(head: Head) -> Sequence[object]:
    lone = sole_object(head)
    if lone is None:
        return ()
    return next((rows for path in _ROWS if (rows := as_list(value_at(lone, path)))), ())


def _log_records(head: Head) -> Iterator[LogRecord]:
    rows = _rows_of_object(head) or (head.first_objects if head.kind == "json object" else ())
    if not rows:
        yield from read_log_records(head)
        return
    for number, row in enumerate(rows, 1):
        yield LogRecord(as_object(row), None, number / len(rows))


def read(head: Head, options: ReadOptions, progress: ReadProgress) -> Reading:
    """The runs of a file of responses, one for each question and model. See `Format.read`."""
    responses: list[_Located] = []
    outcomes: Golds = {}
    for number, record in enumerate(_log_records(head), 1):
        if (outcome := logged_outcome(record.value, f"record {number:,}")) is not None:
            outcomes.update(outcome)
            continue
        responses.append(_located(record, number))
        progress(0.5 * record.share, f"{number:,} responses read")
    questions = _Questions.of(responses)
    mapped = {name for name, to in options.columns.items() if to == AS_CHOICE}
    if unknown := sorted(mapped - questions.judged):
        known = ", ".join(repr(shorten(name, 40)) for name in sorted(questions.judged)[:20])
        raise Refused(f"{head.file} answers no question {shorten(unknown[0], 40)!r}. Its questions: {known}.")
    columns = {name: to for name, to in options.columns.items() if to != AS_CHOICE}
    models = {located.response.model for located in responses} - {None}
    rows = _DecisionRows(
        responses,
        questions,
        outcomes | read_gold(head, questions.judged | questions.options.keys()),
        frozenset(mapped),
        model=next(iter(models)) if len(models) == 1 else None,
    )
    log = LogTable(
        rows.entries(),
        {"choice_probs": f"choice_probs:{AS_PRINTED}"} if _has_choices(responses) else {},
        notes=(notes := list[str]()),
        evaluation=QUESTIONS,
    )
    log = replace(log, entries=_then(log.entries, rows, notes))
    reading = read_log_table(
        replace(head, gold_path=None), DECISIONS.id, log, replace(options, columns=columns), progress
    )
    ids = list(dict.fromkeys(located.id for located in responses))
    id_name = next((name for name in ID_FIELDS if any(name in one for one in head.first_objects)), "id")
    return refuse_without_gold(reading, ids, id_name)


def _then(entries: Iterable[LogEntry], rows: _DecisionRows, notes: list[str]) -> Iterator[LogEntry]:
    """The entries; once they are read, what there is to note about them."""
    yield from entries
    notes += rows.notes()


def _has_choices(responses: Sequence[_Located]) -> bool:
    answers = (answer for located in responses for _, answer in located.response.answers)
    return any(
        isinstance(answer, DecisionAnswer) and answer.kind in ("choice", "score") for answer in answers
    )


def _located(record: LogRecord, number: int) -> _Located:
    if isinstance(record.value, BrokenRecord):
        return _Located(DecisionResponse(), number, record.line, record.share, record.value)
    try:
        return _Located(parse_response(record.value), number, record.line, record.share)
    except BadValueError as bad:
        return _Located(DecisionResponse(), number, record.line, record.share, bad.broken)


DECISIONS: Final = Format(
    "decisions",
    "responses of a decision server (System One, OpenAI Decisions)",
    "answers with a type such as choice, score, noul or predicate",
    JSON_KINDS,
    recognises,
    read,
)
