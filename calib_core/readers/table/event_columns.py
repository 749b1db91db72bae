"""Which column may be the probability of an event, and which one whether it happened?

No name of such columns rules out that they are a confidence and whether the answer is right: both are asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from calib_core.readers.format import Candidate
from calib_core.readers.table.column_values import ColumnValues
from calib_core.readers.table.columns import CONFIDENCE_SOURCES, MappedName, role_of
from calib_core.readers.table.names import NEUTRAL, NO_SHARE, OF_ONE_CLASS, WORDS, Meaning, name_words
from calib_core.readers.table.one_column import UNJUDGED_VALUES, as_outcome
from calib_core.readers.table.plans import is_judged

PROBABILITY_WORDS: Final = OF_ONE_CLASS | {"likelihood", "forecast", "forecasts", "forecasted"}
"""Words of columns that may hold the probability of any event …"""
_IN_ANSWERS: Final = "top max min mean avg average token seq sequence path value answer margin"
EVENT_WORDS: Final = PROBABILITY_WORDS | {"risk", "score"}
"""… or of the one that they name, if they name any …"""
ANSWER_WORDS: Final = (
    frozenset(_IN_ANSWERS.split())
    | (WORDS["confidence"] - OF_ONE_CLASS - {"likelihood", "probabilities"})
    | WORDS["confidence:inverted"]
    | WORDS["confidence:log"]
    | WORDS["confidence:nll"]
    | NO_SHARE
)
"""… and of those that do not: a confidence is in an answer, whatever it is."""
_OTHER_PROBABILITIES: Final = CONFIDENCE_SOURCES - {"confidence", "p_true"}
LIKELIEST: Final = ("said", "hinted", "possible")


def event_candidates(
    found: Sequence[Candidate], columns: Sequence[ColumnValues], read_as: Mapping[str, str]
) -> Iterator[Candidate]:
    """Yield pairs of columns as an event's probability and whether it happened, to be asked about.

    Parameters
    ----------
    found : sequence of Candidate
        What the columns may be read as otherwise. A number that may be nothing but an event's probability, by
        its name, is asked about as a confidence beside it.
    columns : sequence of ColumnValues
    read_as : Mapping[str, str]
        Column → the name that it is read as already.
    """
    clarity = _clarity_of_roles(found, read_as)
    said = {role for (_, role), clear in clarity.items() if clear == "said"}
    is_complete = bool(said & CONFIDENCE_SOURCES) and is_judged(said)
    if is_complete or {"event", "event_prob", "judge", "human", "prediction"} & {role for _, role in clarity}:
        return
    outcomes = _outcomes(clarity, columns)
    directions = [one for one in found if role_of(one.name) == "correct"]
    for column in columns:
        words = frozenset(name_words(column.name))
        is_other = {role for name, role in clarity if name == column.name} & _OTHER_PROBABILITIES
        if not column.are_shares or is_other or not words & EVENT_WORDS or words & ANSWER_WORDS:
            continue
        topic = words - NEUTRAL - EVENT_WORDS
        own = [one for one in outcomes if _share_topic(topic, name_words(one.name))]
        is_of_any = topic.isdisjoint(WORDS["correct:not"]) and (not topic or bool(words & PROBABILITY_WORDS))
        for outcome in own or (outcomes if is_of_any else ()):
            if outcome is not column:
                is_unasked = (column.name, "p_true") not in clarity
                is_unasked &= clarity.get((column.name, "confidence")) == "possible"
                is_outcome = is_unasked and (outcome.name, "correct") in clarity
                clear = ("said", "possible") if "risk" in words else ("said",)
                rights = [
                    one.name for one in directions if outcome.name in one.names and one.clarity in clear
                ]
                yield from _readings(column, outcome, words, rights, as_answers=is_outcome)


def _share_topic(ours: Collection[str], theirs: Collection[str]) -> bool:
    """Whether two names have a word in common, or the beginning of one: "pass" and "passed"."""
    return any(
        one == other or (min(len(one), len(other)) > 3 and (one.startswith(other) or other.startswith(one)))
        for one in ours
        for other in theirs
    )


def _readings(
    column: ColumnValues,
    outcome: ColumnValues,
    words: frozenset[str],
    rights: Sequence[str],
    *,
    as_answers: bool,
) -> Iterator[Candidate]:
    """Yield how two columns may be read together: as of an event and, where nothing else asks, an answer.

    `rights` are the directions of the outcome: what its name says, or both where it says nothing; () where it
    hints at one. A number beside one that is turned round, or a risk, may be the probability of being right,
    or of being wrong.
    """
    events = list(_as_events(outcome, words))
    if as_answers and len(events) == 1:
        why = "they may be a confidence and whether the answer is right"
        for right in rights or [events[0].name.replace("event", "correct", 1)]:
            may_be_of_wrong = "risk" in words or MappedName.parse(right).is_inverted
            for sure in ("confidence", "confidence:inverted")[: 2 if may_be_of_wrong else 1]:
                yield Candidate({column.name: sure, outcome.name: right}, "hinted", why, events[0].missing)
    for one in events:
        value = one.name.partition(":")[2]
        event = f"that {outcome.name!r} is {value!r}" if value else "of an event"
        why = f"they may be the probability {event}, and whether it happened"
        yield Candidate({column.name: "event_prob", **one.names}, "hinted", why, one.missing)


def _clarity_of_roles(found: Sequence[Candidate], read_as: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """Column and what it may be read as → how clearly."""
    clarity = {(column, role_of(name)): "said" for column, name in read_as.items()}
    for one in sorted(found, key=lambda one: LIKELIEST.index(one.clarity)):
        for column, name in one.names.items():
            clarity.setdefault((column, role_of(name)), one.clarity)
    return clarity


def _outcomes(clarity: Mapping[tuple[str, str], str], columns: Sequence[ColumnValues]) -> list[ColumnValues]:
    """The columns of two values that are called outcomes or right answers, or else could be one."""
    not_judged = {None, *UNJUDGED_VALUES}
    of_two = [column for column in columns if len({*column.lowered} - not_judged) == 2]
    for clear in (LIKELIEST[:2], LIKELIEST[2:]):
        found = [
            column
            for column in of_two
            if any(clarity.get((column.name, role)) in clear for role in ("correct", "gold"))
        ]
        if found:
            return found
    return []


def _as_events(column: ColumnValues, words: frozenset[str]) -> Iterator[Candidate]:
    """Yield what yes may mean in a column: one value of yes and no, or of two labels each one."""
    of_flags = list(as_outcome(column, (Meaning("event", "said"),)))
    if of_flags:
        yield from of_flags
        return
    labels = sorted({*column.present})
    named = [label for label in labels if words & {*name_words(label)}]
    for label in named if len(named) == 1 else labels:
        yield Candidate({column.name: f"event:{label}"}, "hinted", "")
