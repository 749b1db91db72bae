"""From what columns may be read as to the mappings that are tried."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import polars as pl

from calib_core.errors import shorten
from calib_core.readers.format import Candidate
from calib_core.readers.table.columns import (
    CHOICE_SCORES,
    CONFIDENCE_SOURCES,
    MappedName,
    role_of,
)
from calib_core.readers.table.names import (
    further_confidence,
    meanings,
    name_words,
)
from calib_core.readers.table.rows import GOLD_COLUMNS, OUTCOME_COLUMNS, TRUTH_COLUMNS
from calib_core.wording import join_names


@dataclass(frozen=True, slots=True)
class Plan:
    """A mapping to be tried.

    Attributes
    ----------
    columns
        Column → what it is read as.
    missing
        Values that count as missing.
    unsaid
        Why only a person can know that it is meant, with the columns in question; () where names say it.
    """

    columns: Mapping[str, str]
    missing: tuple[str, ...] = ()
    unsaid: tuple[str, ...] = ()

    def adding(self, one: Candidate) -> Plan:
        """Return the plan with what a candidate reads, in place of columns of the same names."""
        names = {MappedName.parse(name).name for name in one.names.values()}
        kept = {c: name for c, name in self.columns.items() if MappedName.parse(name).name not in names}
        missing = (*self.missing, *(text for text in one.missing if text not in self.missing))
        why = f"{join_names([repr(shorten(column, 40)) for column in one.names])}: {one.why}"
        unsaid = self.unsaid if one.clarity == "said" else (*self.unsaid, why)
        return Plan({**kept, **one.names}, missing, unsaid)


_PAIRS: Final = ({"event_prob", "event"}, {"confidence", "correct"})
"""What two columns are asked about together."""
MAX_ASKED_BEFORE_PAIRS: Final = 4
"""Plans of single columns that are tried before those of two."""
_ESSENTIAL: Final = CONFIDENCE_SOURCES | TRUTH_COLUMNS | {"prediction", "prediction_index", "judge"}


def plans(candidates: Sequence[Candidate], read_as: Mapping[str, str]) -> list[Plan]:
    """List the mappings that follow from candidates, the likeliest first.

    Parameters
    ----------
    candidates : Sequence of Candidate
        As `find_candidates` returns them.
    read_as : Mapping[str, str]
        Column → the name that it is read as already.

    Returns
    -------
    list of Plan
        Each has the likeliest column of every name that is said. Rivals for what decides on the numbers make
        further plans. Where no confidence or no outcome is said, there is a plan for each that is hinted at,
        and for each direction that an outcome may have; and one for each pair that may be an event's
        probability and whether it happened.
    """
    base, rivals = _base_and_rivals(candidates, read_as)
    known = {*map(role_of, {**read_as, **base.columns}.values())}
    pairs = [base.adding(one) for one in candidates if {*map(role_of, one.names.values())} in _PAIRS]
    unread = [one for one in candidates if not one.names.keys() & base.columns.keys()]
    asked = [base]
    if known >= {"judge", "human"}:
        return [plan for plan in (base, *_with_rivals(base, rivals)) if plan.columns]
    if missing := _hinted_labels(candidates, known):
        return [base.adding(one) for one in missing]
    unread = [one for one in unread if {*map(role_of, one.names.values())} not in _PAIRS]
    if not known & CONFIDENCE_SOURCES:
        asked = [plan.adding(one) for plan in asked for one in _hinted_confidences(unread)]
    elif reread := [one for one in unread if one.clarity == "hinted" and one.names.keys() & read_as.keys()]:
        asked = [base.adding(one) for one in reread]
    if not is_judged(known):
        options = [one for one in unread if role_of(one.name) in {*TRUTH_COLUMNS, "prediction"}]
        asked = [plan.adding(one) for plan in asked for one in _clearest(options)] or asked
    if asked == [base]:
        asked += _with_rivals(base, rivals)
    at = min(len(asked), MAX_ASKED_BEFORE_PAIRS)
    return [plan for plan in (*asked[:at], *pairs, *asked[at:]) if plan.columns]


def _hinted_labels(candidates: Sequence[Candidate], known: Collection[str]) -> list[Candidate]:
    """Return what may be the labels of the judge or of people."""
    names = {"judge", "human"} if {"judge", "human"}.intersection(known) else set[str]()
    return [one for one in candidates if one.clarity == "hinted" and role_of(one.name) in names]


def is_judged(names: Collection[str]) -> bool:
    """Return whether columns of these names say which answers are right."""
    answers = {"prediction", "prediction_index", *CHOICE_SCORES, "samples", "samples_parsed"}
    has_both = not (GOLD_COLUMNS.isdisjoint(names) or answers.isdisjoint(names))
    return has_both or not OUTCOME_COLUMNS.isdisjoint(names)


def _base_and_rivals(
    candidates: Sequence[Candidate], read_as: Mapping[str, str]
) -> tuple[Plan, list[Candidate]]:
    """Return the likeliest column of every name that is said, and the others that are said."""
    base, rivals = Plan({}), list[Candidate]()
    taken = {*map(role_of, read_as.values())}
    for one in candidates:
        roles = {role_of(name) for name in one.names.values()} - {"human"}  # each of several people
        if one.clarity != "said" or one.names.keys() & base.columns.keys():
            continue
        if one.names.keys() & read_as.keys() or not roles & {*taken, *map(role_of, base.columns.values())}:
            base = base.adding(one)
        else:
            rivals.append(one)
    return _with_further_confidences(base, rivals, candidates, taken), rivals


def said_columns(candidates: Sequence[Candidate], read_as: Mapping[str, str]) -> Mapping[str, str]:
    """Return the likeliest column of every name that is said → what it may be read as."""
    return _base_and_rivals(candidates, read_as)[0].columns


def _with_rivals(base: Plan, rivals: Sequence[Candidate]) -> Iterator[Plan]:
    """Yield the plan with each rival for what decides on numbers; those that belong together as one."""
    essential = [one for one in rivals if {*map(role_of, one.names.values())} & _ESSENTIAL]
    own = [_own_words(one, base) for one in essential]
    for at, one in enumerate(essential):
        others = [
            other
            for other, words in zip(essential, own, strict=True)
            if words and words == own[at] and role_of(other.name) != role_of(one.name)
        ]
        if any(role_of(other.name) < role_of(one.name) for other in others):
            continue  # as the rival of that one
        plan = base
        for rival in (one, *others):
            plan = plan.adding(rival)
        yield plan


def _own_words(one: Candidate, base: Plan) -> frozenset[str]:
    """Return the words of a rival's columns that those of the plan with the same name do not have."""
    rivals = [column for column, name in base.columns.items() if role_of(name) == role_of(one.name)]
    theirs = frozenset(word for column in rivals for word in name_words(column))
    return frozenset(word for column in one.names for word in name_words(column)) - theirs


def _clearest(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that are said or hinted at, or else those that are possible."""
    return [one for one in candidates if one.clarity != "possible"] or list(candidates)


def _hinted_confidences(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the confidences that a name hints at; those that only values allow are listed, not asked."""
    return [
        one
        for one in candidates
        if one.clarity == "hinted" and {*map(role_of, one.names.values())} & CONFIDENCE_SOURCES
    ]


def _with_further_confidences(
    base: Plan, rivals: list[Candidate], candidates: Sequence[Candidate], taken: Collection[str]
) -> Plan:
    """Add columns whose names say what kind of confidence they are, as methods beside the others."""
    roles = {*taken, *map(role_of, base.columns.values())}
    if not roles & TRUTH_COLUMNS or not roles & CONFIDENCE_SOURCES:
        return base
    columns = dict(base.columns)
    for one in candidates:
        column = next(iter(one.names))
        name = further_confidence(column)
        is_free = column not in columns and one.clarity != "possible" and one.name.startswith("confidence")
        if is_free and name and ":" not in one.name and name not in columns.values():
            columns[column] = name + one.name.removeprefix("confidence")
            if one in rivals:
                rivals.remove(one)
    return Plan(columns, base.missing, base.unsaid)


def pattern_plans(candidates: Sequence[Candidate]) -> list[Plan]:
    """List the choices of one pattern for each name, the likeliest first."""
    by_role: dict[str, list[Candidate]] = {}
    for one in candidates:
        by_role.setdefault(role_of(one.name), []).append(one)
    found: list[Plan] = []
    for choice in product(*by_role.values()) if by_role else ():
        plan = Plan({})
        for one in choice:
            plan = plan.adding(one)
        found.append(plan)
    return found


def unique_within(ids: pl.Series, groups: pl.DataFrame) -> tuple[str, ...]:
    """Return the group columns within whose values no id repeats, those of a telling name first.

    Parameters
    ----------
    ids : pl.Series, shape (n,)
        The ids; null where missing.
    groups : pl.DataFrame
        Columns of few values, one row for each id.
    """
    known = ids.is_not_null()

    def is_unique(name: str) -> bool:
        pairs = pl.DataFrame({"id": ids, "group": groups[name]}).filter(known & groups[name].is_not_null())
        return pairs.height > 0 and pairs.height == int(known.sum()) and not pairs.is_duplicated().any()

    found = [name for name in groups.columns if is_unique(name)]
    return tuple(sorted(found, key=lambda name: (not meanings(name), groups[name].n_unique(), name)))
