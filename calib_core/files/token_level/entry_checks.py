"""Can these be the largest entries of a distribution over this vocabulary, and this its target?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.files.tables.judged import CellFault
from calib_core.files.tables.lists import SUM_TOLERANCE
from calib_core.files.token_level.entries import TopKMetadata
from calib_core.files.token_level.entry_lists import TopLists
from calib_core.problems import MAX_CELLS_SHOWN

_DECIMAL_ROUNDING: Final = 1e-12
"""What adding a few decimals may lose."""


@dataclass(frozen=True, slots=True)
class PositionCheck:
    """One way in which a position can be bad.

    kind, expected, fix: as in `BadCell`; column: the contract name it is blamed on; wrong: which positions
    are, shape (n,); found: the number that shows it, shape (n,).
    """

    kind: str
    column: str
    expected: str
    fix: str
    is_wrong: Callable[[TopLists], NDArray[np.bool_]]
    shown_value: Callable[[TopLists], NDArray[np.float64] | NDArray[np.int64]]


def _positions_with(lists: TopLists, entries: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which positions have such an entry."""
    wrong = np.zeros(lists.records.size, np.bool_)
    wrong[lists.owner[entries]] = True
    return wrong


def _repeated_entries(lists: TopLists) -> NDArray[np.bool_]:
    """Which entries have the class of another one of their position, but for the first."""
    order = np.lexsort((lists.ids, lists.owner))
    owner, ids = lists.owner[order], lists.ids[order]
    again = np.zeros(ids.size, np.bool_)
    again[order[1:]] = (owner[1:] == owner[:-1]) & (ids[1:] == ids[:-1])
    return again


def _first_class(lists: TopLists, entries: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The class of the first such entry of each position; 0 where there is none."""
    shown = np.zeros(lists.records.size, np.int64)
    at = np.flatnonzero(entries)[::-1]
    shown[lists.owner[at]] = lists.ids[at]
    return shown


def _outside_vocabulary(lists: TopLists) -> NDArray[np.bool_]:
    return lists.ids >= lists.n_classes[lists.owner]


ID_CHECKS: Final = (
    PositionCheck(
        "target outside the vocabulary",
        "target",
        "a class from 0 to vocab_size − 1, or -100 for padding",
        "Write the token's id, and as vocab_size the number of columns of the output layer.",
        lambda lists: (lists.target < 0) | (lists.target >= lists.n_classes),
        lambda lists: lists.target,
    ),
    PositionCheck(
        "class outside the vocabulary",
        "top_ids",
        "classes from 0 to vocab_size − 1, or -1 for padding",
        "Write as vocab_size the number of columns of the output layer.",
        lambda lists: _positions_with(lists, _outside_vocabulary(lists)),
        lambda lists: _first_class(lists, _outside_vocabulary(lists)),
    ),
    PositionCheck(
        "repeated class",
        "top_ids",
        "each class once a position",
        "Keep one entry of each class; a target that was added to the list belongs in target_logprob.",
        lambda lists: _positions_with(lists, _repeated_entries(lists)),
        lambda lists: _first_class(lists, _repeated_entries(lists)),
    ),
)
"""What must hold of ids before their probabilities are looked at."""

MASS_CHECKS: Final = (
    PositionCheck(
        "target without a probability",
        "target",
        "a class of top_ids, or its log-probability in target_logprob",
        "Store target_logprob at every position: without it nothing is known of the right class.",
        lambda lists: np.isnan(lists.stored_mass),
        lambda lists: lists.target,
    ),
    PositionCheck(
        "more than all the probability",
        "top_logprobs",
        "stored probabilities that add up to at most 1.001, the target's included",
        "Store natural logarithms of the model's probabilities.",
        lambda lists: lists.stored_mass > 1 + SUM_TOLERANCE + _DECIMAL_ROUNDING,
        lambda lists: lists.stored_mass,
    ),
    PositionCheck(
        "target above the list",
        "target_logprob",
        "a target that is not in the list to be no more probable than the smallest of the list",
        "Take the list and the target's log-probability from the same position and distribution.",
        lambda lists: np.isnan(lists.listed_target_prob) & (lists.target_prob > lists.smallest_prob + SUM_TOLERANCE),
        lambda lists: lists.target_prob,
    ),
    PositionCheck(
        "two probabilities of the target",
        "target_logprob",
        "the same probability as in the list, within 0.001",
        "Take both from the same position and distribution.",
        lambda lists: np.abs(lists.listed_target_prob - lists.target_prob) > SUM_TOLERANCE,
        lambda lists: lists.target_prob,
    ),
    PositionCheck(
        "less than all the probability",
        "top_logprobs",
        "a list whose smallest entry, given to every other class, makes up what is left to 1",
        "Store the largest entries of the whole distribution (not cut by top-p, not of another temperature), "
        "and the right vocab_size.",
        lambda lists: lists.stored_mass + lists.n_unstored * lists.smallest_prob < 1 - SUM_TOLERANCE - _DECIMAL_ROUNDING,
        lambda lists: lists.stored_mass,
    ),
    PositionCheck(
        "another rest",
        "rest_mass",
        "1 minus the probabilities of the list, within 0.001",
        "Compute it from the list that is stored.",
        lambda lists: np.minimum(
            np.abs(1 - lists.list_mass - lists.rest_mass), np.abs(1 - lists.stored_mass - lists.rest_mass)
        ) > SUM_TOLERANCE + _DECIMAL_ROUNDING,
        lambda lists: lists.rest_mass,
    ),
)
"""What must hold of the probabilities."""


def check_positions(lists: TopLists, metadata: TopKMetadata) -> tuple[TopLists, tuple[tuple[str, CellFault], ...]]:
    """The positions that pass, an appended target taken out of the list; and (contract name, fault)."""
    faults: list[tuple[str, CellFault]] = []
    for check in ID_CHECKS:
        lists = _apply_check(lists, check, faults)
    lists = _remove_appended_targets(lists, metadata)
    for check in MASS_CHECKS:
        lists = _apply_check(lists, check, faults)
    return lists, tuple(faults)


def _apply_check(lists: TopLists, check: PositionCheck, faults: list[tuple[str, CellFault]]) -> TopLists:
    wrong = check.is_wrong(lists)
    if not wrong.any():
        return lists
    shown = tuple(f"{value:.6g}" for value in check.shown_value(lists)[wrong][:MAX_CELLS_SHOWN].tolist())
    fault = CellFault(check.kind, check.expected, check.fix, lists.records[wrong], shown)
    faults.append((check.column, fault))
    return lists.select(~wrong)


def _remove_appended_targets(lists: TopLists, metadata: TopKMetadata) -> TopLists:
    """The target as no part of a list that it was added to: one longer than others, and its smallest entry.

    It is not one of the k largest, so nothing that is not stored is bounded by it (spec, section 7).
    """
    if not lists.records.size:
        return lists
    longer = lists.sizes > (lists.sizes.min() if metadata.k is None else metadata.k)
    appended = longer & (lists.sizes > 1) & (lists.listed_target_prob <= lists.smallest_prob)
    own = np.where(appended, lists.listed_target_prob, lists.target_prob)
    kept = ~(lists.is_target & appended[lists.owner])
    return replace(lists, own=own).keep_entries(kept)
