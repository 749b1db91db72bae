"""Which columns hold the labels of a judge, and which those of people?

A judge's labels are proposed only beside people's: alone, they may be the outcome of answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from calib_core.errors import shorten
from calib_core.readers.format import Candidate
from calib_core.readers.table.column_values import ColumnValues
from calib_core.readers.table.columns import CONFIDENCE_SOURCES, MappedName, role_of
from calib_core.readers.table.names import JUDGES, LABELS, name_words, says_who_labels
from calib_core.readers.table.one_column import NO_VALUES, RIGHT_VALUES, YES_VALUES

MAX_LABELS: Final = 20
"""Different values of a column of labels."""
MAX_LABEL_CHARS: Final = 40
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_.-]+")


def judge_candidates(
    found: Sequence[Candidate], columns: Sequence[ColumnValues], read_as: Mapping[str, str]
) -> list[Candidate]:
    """Return the candidates with those for a judge's labels and people's, where a table has both.

    Parameters
    ----------
    found : sequence of Candidate
        What the columns may be read as otherwise; a column of labels is nothing else.
    columns : sequence of ColumnValues
    read_as : Mapping[str, str]
        Column → the name that it is read as already.
    """
    confidences = {
        column
        for one in found
        for column in one.names
        if one.clarity == "said" and role_of(one.name) in CONFIDENCE_SOURCES
    } | {column for column, name in read_as.items() if role_of(name) in CONFIDENCE_SOURCES}
    if any(JUDGES.isdisjoint(name_words(column)) for column in confidences):
        return [*found]  # what people say is then the outcome, as always
    systems = _names_of_judges(columns, read_as)
    read_as = {column: name for column, name in read_as.items() if column not in systems}
    known = {who for name in read_as.values() if (who := role_of(name)) in ("judge", "human")}
    free = [one for one in columns if one.name not in {*read_as, *systems} and _are_labels(one)]
    free += [
        column
        for column in columns
        if "judge" not in known and read_as.get(column.name) == "judge_score" and _are_labels(column)
    ]
    said = {column.name: who for column in free if (who := says_who_labels(column.name))}
    new = list(_candidates(free, said, known))
    if any(MappedName.parse(name).lacks_numbers for one in found for name in one.names.values()):
        new = [one for one in new if one.clarity == "said"]  # beside a confidence in words, an outcome
    new = [Candidate({name: "model"}, "said", "values that are no labels") for name in systems] + new
    if not any(who == "judge" for who in (*known, *said.values())):
        new += _probabilities_of_what_people_say(columns, read_as)
    roles = {*known, *(role_of(name) for one in new for name in one.names.values())}
    if not (roles >= {"judge", "human"} or roles >= {"event_prob", "event"}):
        return [*found]
    taken = {column for one in new for column in one.names}
    return [*new, *(one for one in found if taken.isdisjoint(one.names))]


def _names_of_judges(columns: Sequence[ColumnValues], read_as: Mapping[str, str]) -> list[str]:
    """Return the columns of judges' names: they have none of people's labels, and another column all."""

    def labels_of(who: str) -> list[tuple[ColumnValues, set[str]]]:
        named = [one for one in columns if read_as.get(one.name, says_who_labels(one.name)) == who]
        return [(one, {text for text in one.lowered if text}) for one in named]

    given = {text for _, labels in labels_of("human") for text in labels}
    others = [
        column
        for column in columns
        if read_as.get(column.name, says_who_labels(column.name)) != "human"
        and {*column.lowered} - {None} == given
    ]
    judges = labels_of("judge") if others else []
    return [column.name for column, names in judges if names.isdisjoint(given) and column not in others]


def _are_labels(column: ColumnValues) -> bool:
    """Return whether values are a few short texts, or grades."""
    return len({*column.present}) <= MAX_LABELS and max(map(len, column.present)) <= MAX_LABEL_CHARS


def _candidates(
    free: Sequence[ColumnValues], said: Mapping[str, str], known: set[str]
) -> Iterator[Candidate]:
    people = [column for column, who in said.items() if who == "human"]
    alone = len(people) == 1 and "human" not in known
    for column in people:
        name = "human" if alone else f"human.{_NOT_IN_NAMES.sub('_', column)[:40]}"
        yield Candidate({column: name}, "said", "its name, which says who gave the labels")
    judges = [column for column, who in said.items() if who == "judge"]
    for column in () if "judge" in known else judges:
        yield Candidate({column: "judge"}, "said", "its name, beside the labels of people")
    lacking = [name for name in ("judge", "human") if name not in {*known, *said.values()}]
    if len(lacking) == 1:
        other = {text for column in free if column.name in said for text in column.lowered if text}
        for column in free:
            values = {text for text in column.lowered if text}
            are_flags = values <= YES_VALUES | NO_VALUES and LABELS.isdisjoint(name_words(column.name))
            if column.name not in said and len(values) > 1 and values <= other and not are_flags:
                why = "the same values as the labels beside it; its name does not say who gave them"
                yield Candidate({column.name: lacking[0]}, "hinted", why)


def _probabilities_of_what_people_say(
    columns: Sequence[ColumnValues], read_as: Mapping[str, str]
) -> Iterator[Candidate]:
    """Yield a judge's scores from 0 to 1 as probabilities of one of the two labels that people give."""

    def says(column: ColumnValues) -> str | None:
        own = read_as.get(column.name)
        return says_who_labels(column.name) if own is None else role_of(own).removesuffix("_score")

    scores = [column for column in columns if column.are_shares and says(column) == "judge"]
    of_two = [column for column in columns if len({*column.lowered} - {None}) == 2]
    people = [column for column in of_two if says(column) == "human"]
    for score in scores[:1]:
        for column in people[:1]:
            said = shorten(column.name, 40)
            why = f"no column has its labels, and nothing says which of {said!r} it is the probability of"
            labels = sorted({*column.present}, key=lambda text: text.lower() not in YES_VALUES | RIGHT_VALUES)
            for label in labels:
                yield Candidate({score.name: "event_prob", column.name: f"event:{label}"}, "hinted", why)
