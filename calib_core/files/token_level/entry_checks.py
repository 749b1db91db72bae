"""Can these be the largest entries of a distribution over this vocabulary, and this its target?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.files.tables.judged import Fault
from calib_core.files.tables.lists import SUM_TOLERANCE
from calib_core.files.token_level.entries import Told
from calib_core.files.token_level.entry_lists import Lists
from calib_core.problems import FIRST

_ROUNDING: Final = 1e-12
"""What adding a few decimals may lose."""


@dataclass(frozen=True, slots=True)
class Check:
    """One way in which a position can be bad.

    kind, expected, fix: as in `BadCell`; column: the contract name it is blamed on; wrong: which positions
    are, shape (n,); found: the number that shows it, shape (n,).
    """

    kind: str
    column: str
    expected: str
    fix: str
    wrong: Callable[[Lists], NDArray[np.bool_]]
    found: Callable[[Lists], NDArray[np.float64] | NDArray[np.int64]]


def _any_of(lists: Lists, entries: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which positions have such an entry."""
    wrong = np.zeros(lists.at.size, np.bool_)
    wrong[lists.owner[entries]] = True
    return wrong


def _again(lists: Lists) -> NDArray[np.bool_]:
    """Which entries have the class of another one of their position, but for the first."""
    order = np.lexsort((lists.ids, lists.owner))
    owner, ids = lists.owner[order], lists.ids[order]
    again = np.zeros(ids.size, np.bool_)
    again[order[1:]] = (owner[1:] == owner[:-1]) & (ids[1:] == ids[:-1])
    return again


def _first_of(lists: Lists, entries: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The class of the first such entry of each position; 0 where there is none."""
    shown = np.zeros(lists.at.size, np.int64)
    at = np.flatnonzero(entries)[::-1]
    shown[lists.owner[at]] = lists.ids[at]
    return shown


def _outside(lists: Lists) -> NDArray[np.bool_]:
    return lists.ids >= lists.classes[lists.owner]


STRUCTURE: Final = (
    Check(
        "target outside the vocabulary",
        "target",
        "a class from 0 to vocab_size − 1, or -100 for padding",
        "Write the token's id, and as vocab_size the number of columns of the output layer.",
        lambda lists: (lists.target < 0) | (lists.target >= lists.classes),
        lambda lists: lists.target,
    ),
    Check(
        "class outside the vocabulary",
        "top_ids",
        "classes from 0 to vocab_size − 1, or -1 for padding",
        "Write as vocab_size the number of columns of the output layer.",
        lambda lists: _any_of(lists, _outside(lists)),
        lambda lists: _first_of(lists, _outside(lists)),
    ),
    Check(
        "repeated class",
        "top_ids",
        "each class once a position",
        "Keep one entry of each class; a target that was added to the list belongs in target_logprob.",
        lambda lists: _any_of(lists, _again(lists)),
        lambda lists: _first_of(lists, _again(lists)),
    ),
)
"""What must hold of ids before their probabilities are looked at."""

MASS: Final = (
    Check(
        "target without a probability",
        "target",
        "a class of top_ids, or its log-probability in target_logprob",
        "Store target_logprob at every position: without it nothing is known of the right class.",
        lambda lists: np.isnan(lists.stored),
        lambda lists: lists.target,
    ),
    Check(
        "more than all the probability",
        "top_logprobs",
        "stored probabilities that add up to at most 1.001, the target's included",
        "Store natural logarithms of the model's probabilities.",
        lambda lists: lists.stored > 1 + SUM_TOLERANCE + _ROUNDING,
        lambda lists: lists.stored,
    ),
    Check(
        "target above the list",
        "target_logprob",
        "a target that is not in the list to be no more probable than the smallest of the list",
        "Take the list and the target's log-probability from the same position and distribution.",
        lambda lists: np.isnan(lists.listed) & (lists.own > lists.smallest + SUM_TOLERANCE),
        lambda lists: lists.own,
    ),
    Check(
        "two probabilities of the target",
        "target_logprob",
        "the same probability as in the list, within 0.001",
        "Take both from the same position and distribution.",
        lambda lists: np.abs(lists.listed - lists.own) > SUM_TOLERANCE,
        lambda lists: lists.own,
    ),
    Check(
        "less than all the probability",
        "top_logprobs",
        "a list whose smallest entry, given to every other class, makes up what is left to 1",
        "Store the largest entries of the whole distribution (not cut by top-p, not of another temperature), "
        "and the right vocab_size.",
        lambda lists: lists.stored + lists.left * lists.smallest < 1 - SUM_TOLERANCE - _ROUNDING,
        lambda lists: lists.stored,
    ),
    Check(
        "another rest",
        "rest_mass",
        "1 minus the probabilities of the list, within 0.001",
        "Compute it from the list that is stored.",
        lambda lists: np.minimum(
            np.abs(1 - lists.top - lists.rest), np.abs(1 - lists.stored - lists.rest)
        ) > SUM_TOLERANCE + _ROUNDING,
        lambda lists: lists.rest,
    ),
)
"""What must hold of the probabilities."""


def checked(lists: Lists, told: Told) -> tuple[Lists, tuple[tuple[str, Fault], ...]]:
    """The positions that pass, an appended target taken out of the list; and (contract name, fault)."""
    faults: list[tuple[str, Fault]] = []
    for check in STRUCTURE:
        lists = _passed(lists, check, faults)
    lists = _without_appended(lists, told)
    for check in MASS:
        lists = _passed(lists, check, faults)
    return lists, tuple(faults)


def _passed(lists: Lists, check: Check, faults: list[tuple[str, Fault]]) -> Lists:
    wrong = check.wrong(lists)
    if not wrong.any():
        return lists
    shown = tuple(f"{value:.6g}" for value in check.found(lists)[wrong][:FIRST].tolist())
    fault = Fault(check.kind, check.expected, check.fix, lists.at[wrong], shown)
    faults.append((check.column, fault))
    return lists.where(~wrong)


def _without_appended(lists: Lists, told: Told) -> Lists:
    """The target as no part of a list that it was added to: one longer than others, and its smallest entry.

    It is not one of the k largest, so nothing that is not stored is bounded by it (spec, section 7).
    """
    if not lists.at.size:
        return lists
    longer = lists.sizes > (lists.sizes.min() if told.k is None else told.k)
    appended = longer & (lists.sizes > 1) & (lists.listed <= lists.smallest)
    own = np.where(appended, lists.listed, lists.own)
    kept = ~(lists.is_target & appended[lists.owner])
    return replace(lists, own=own).keep(kept)
