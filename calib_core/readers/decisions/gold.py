"""Right answers to the questions of decisions: from a table, long or wide, or from the records themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from calib_core.errors import Refused, shorten
from calib_core.readers.decisions.shapes import GOLD_FIELDS, ID_FIELDS, DecisionAnswer, Option
from calib_core.readers.detect import read_head
from calib_core.readers.eval_logs import read_log_records
from calib_core.readers.format import Head
from calib_core.readers.json_values import as_integer, as_name, as_object, is_object
from calib_core.readers.table.gold_table import ID_NAMES, gold_file_name, gold_frame, join_columns
from calib_core.readers.table.names import SPELLINGS, normalise_name
from calib_core.readers.table.raw import BrokenRecord

_QUESTION: Final = "question"
_WORDS: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("true", "yes", "1"), True),
    **dict.fromkeys(("false", "no", "0"), False),
}
"""How gold tables write the answer to a yes-or-no question."""


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """The right answer to one question of one request.

    Attributes
    ----------
    value : object
        As it stands in the table or the record; never missing.
    place : str
        Where it stands: "gold.csv, row 7".
    """

    value: object
    place: str


Golds = dict[tuple[str, str], GoldAnswer]
"""(id of the request, question) → its right answer."""


def logged_outcome(record: object, place: str) -> Golds | None:
    """The right answer that a line of jevcal adds to an earlier decision; None for any other record."""
    fields = as_object(record)
    id_, outcome = as_name(fields.get("requestId")), as_object(fields.get("outcome"))
    question = as_name(outcome.get("field"))
    if fields.get("kind") != "outcome" or id_ is None or question is None:
        return None
    value = outcome.get("actualValue")
    return {} if value is None else {(id_, question): GoldAnswer(value, place)}


def read_gold(head: Head, questions: Collection[str]) -> Golds:
    """Read the table of right answers that the user named; empty without one.

    A long table has a column of ids, `question` and one of answers; a wide one a column for each question.

    Parameters
    ----------
    head : Head
        The file of the responses; it names the table.
    questions : collection of str
        The questions that the file answers.

    Raises
    ------
    Refused
        The table has no ids or no answers, or two answers to one question.
    """
    if head.gold_path is None:
        return {}
    file = gold_file_name(head.gold_path)
    golds: Golds = {}
    for number, record in _records(head):
        id_, answers = _answers_in(record, head, file, questions)
        for question, value in answers.items():
            if value is None or (isinstance(value, str) and not value.strip()):
                continue
            place, key = f"{file}, row {number:,}", (id_, question)
            if key in golds and golds[key].value != value:
                raise Refused(
                    f"{place}: {shorten(question, 40)!r} of {shorten(id_, 40)!r} has another answer than in "
                    f"{golds[key].place}. Keep one."
                )
            golds[key] = GoldAnswer(value, place)
    return golds


def _records(head: Head) -> Iterator[tuple[int, Mapping[str, object]]]:
    path = head.gold_path
    if path is None:
        return
    gold_head = read_head(path, gold_file_name(path))
    if gold_head.kind not in ("json lines", "json list"):
        yield from enumerate(gold_frame(path).iter_rows(named=True), 1)
        return
    for number, record in enumerate(read_log_records(gold_head), 1):
        if isinstance(record.value, BrokenRecord):
            raise Refused(
                f"{gold_head.file}, row {number:,}: expected {record.value.expected}. {record.value.fix}"
            )
        yield number, record.value


def _answers_in(
    record: Mapping[str, object], head: Head, file: str, questions: Collection[str]
) -> tuple[str, Mapping[str, object]]:
    """The id of a record of the table, and question → answer."""
    columns = list(record)
    mapped = {name: column for column, name in head.gold_columns.items()}
    _, key = join_columns(head.gold_on)
    id_column = key or mapped.get("id") or _named(columns, (*ID_FIELDS, *ID_NAMES), questions)
    question_column = mapped.get(_QUESTION) or (_QUESTION if _QUESTION in columns else None)
    answer_column = mapped.get("gold") or _named(columns, ("answer", *SPELLINGS["gold"]), questions)
    id_ = as_name(record.get(id_column)) if id_column else None
    if question_column and answer_column:
        question = as_name(record.get(question_column))
        answers = {} if question is None else {question: record.get(answer_column)}
    else:
        inside = next(
            (as_object(record[field]) for field in GOLD_FIELDS if as_object(record.get(field))), record
        )
        answers = {name: value for name, value in inside.items() if inside is not record or name in questions}
    if id_column is None or (not answers and question_column is None and not questions & record.keys()):
        shown = ", ".join(repr(shorten(name, 40)) for name in columns[:20])
        raise Refused(
            f"{file} cannot be used for right answers to decisions: its columns are {shown}. It needs the "
            "ids of the requests (custom_id …), and either the columns question and answer or one column "
            f"for each question: {', '.join(repr(shorten(name, 40)) for name in sorted(questions)[:20])}."
        )
    return id_ or "", answers if id_ is not None else {}


def _named(columns: Collection[str], names: Collection[str], questions: Collection[str]) -> str | None:
    """The first column with one of these names, in their order, that is no question of its own."""
    by_form = {normalise_name(column): column for column in columns if column not in questions}
    return next((by_form[form] for name in names if (form := normalise_name(name)) in by_form), None)


def inside_gold(gold: object, questions: Collection[str], place: str) -> Mapping[str, GoldAnswer]:
    """Question → right answer, where a record holds them: by question, or the answer to its only question."""
    found = (
        as_object(gold) if is_object(gold) else dict.fromkeys(questions, gold) if len(questions) == 1 else {}
    )
    return {name: GoldAnswer(value, place) for name, value in found.items() if value not in (None, "")}


def yes_or_no(value: object) -> bool | None:
    """The right answer to a yes-or-no question; None where it is neither."""
    return value if isinstance(value, bool) else _WORDS.get(_text(value).lower())


def right_choice(answer: DecisionAnswer, value: object) -> int | None:
    """Position of the right option or level; None where the answer names none, or several.

    An option is named with its own type, or by its text. A level is named by its number, or else its label.
    """
    if answer.kind == "score":
        level = as_integer(value)
        text = _text(value)
        if level is None and text.removesuffix(".0").isdecimal() and len(text) < 8:
            level = int(text.removesuffix(".0"))
        if level is not None:
            return level if 0 <= level < len(answer.probs) else None
    exact = [at for at, option in enumerate(answer.options) if _is_same(option, value)]
    if len(exact) == 1 and not isinstance(value, str):
        return exact[0]
    by_text = [at for at, option in enumerate(answer.options) if _text(option) == _text(value)]
    if not by_text:  # True as pandas writes it
        lowered = _text(value).lower()
        by_text = [
            at
            for at, option in enumerate(answer.options)
            if isinstance(option, bool) and _text(option) == lowered
        ]
    return by_text[0] if len(by_text) == 1 else None


def _is_same(option: Option, value: object) -> bool:
    return type(option) is type(value) and option == value


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value).strip()
