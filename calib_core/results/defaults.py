"""Which run and which methods does a page show before anyone has chosen?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from calib_core.errors import Unavailable
from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods import METHODS, in_order, methods_of
from calib_core.methods.self_consistency import PAIRWISE
from calib_core.results.evidence import Evidence, gather_evidence
from calib_core.runs import Run
from calib_core.wording import join_names

METHOD_PREFERENCE: Final = tuple(sorted(METHODS, key=lambda id_: METHODS[id_].display_rank))
"""Every method, starting with those that differ most in how they are obtained."""

MAX_DEFAULT_METHODS: Final = 3
"""Number of methods shown at first; more would clutter a diagram."""


MAX_DEFAULT_POINTS: Final = 40
"""Number of runs by methods that a comparison shows at first; more could not be told apart."""


def default_methods(usable: Collection[str], preference: Sequence[str] = METHOD_PREFERENCE) -> list[str]:
    """The first usable methods of one kind by preference, returned in the registry's order."""
    return in_order(in_order(by_kind(usable)[0], preference)[:MAX_DEFAULT_METHODS]) if usable else []


def by_kind(ids: Collection[str]) -> list[list[str]]:
    """Methods by what their probabilities are of; those of the kind of the default method come first.

    Probabilities of an answer and of an event stand for different things, and never share a picture.

    Examples
    --------
    >>> by_kind(["p_true", "given", "event"]), by_kind([])
    ([['event'], ['p_true', 'given']], [])
    """
    kinds: dict[str, list[str]] = {METHODS[default_method(ids)].probability_of: []} if ids else {}
    for id_ in ids:
        kinds.setdefault(METHODS[id_].probability_of, []).append(id_)
    return list(kinds.values())


def other_kind_note(ids: Collection[str]) -> str:
    """Which of these methods are not shown beside the others, as their kind is another; "" for one kind.

    Examples
    --------
    >>> other_kind_note(["given", "event"])
    'confidence in the file: the probability of an answer, not of an event. Choose it alone to see it.'
    """
    if len(kinds := by_kind(ids)) < 2:
        return ""
    shown, other = (METHODS[of[0]].probability_of for of in kinds)
    names = join_names([METHODS[id_].title for id_ in kinds[1]])
    return f"{names}: the probability of an {other}, not of an {shown}. Choose it alone to see it."


def default_compared_methods(usable: Collection[str], n_runs: int) -> list[str]:
    """The methods that a comparison of runs opens with: all, unless their points would not fit the figure.

    F_PC, which is the last by preference, is kept.

    Parameters
    ----------
    usable : collection of str
        Ids of the methods that any of the runs has.
    n_runs : int

    Examples
    --------
    >>> len(default_compared_methods(["cluster_number", "cluster_size", "pairwise", "p_true"], 6))
    4
    >>> default_compared_methods(["verbal", "p_true", "logit_path", "cluster_size", "pairwise"], 20)
    ['p_true', 'cluster_size', 'pairwise']
    """
    limit = max(MAX_DEFAULT_METHODS, MAX_DEFAULT_POINTS // max(n_runs, 1))
    kept = in_order(usable, METHOD_PREFERENCE)[:limit]
    if PAIRWISE.id in usable and PAIRWISE.id not in kept:
        kept[-1] = PAIRWISE.id
    return in_order(kept)


def default_method(usable: Iterable[str]) -> str:
    """The method that stands for a run: of its usable methods, that of the lowest `Method.headline_rank`.

    Parameters
    ----------
    usable : iterable of str
        Ids of the methods that the run has; at least one.

    Examples
    --------
    >>> default_method(["cluster_number", "cluster_size"]), default_method(["logit_path", "given", "verbal"])
    ('cluster_size', 'verbal')
    """
    return min(in_order(usable), key=lambda id_: METHODS[id_].headline_rank)


def default_evidence(run: Run) -> Evidence:
    """The run as seen by the method that stands for it (`default_method`); no other usable one is computed.

    Raises
    ------
    Unavailable
        With the reasons, where the run supports no method.
    """
    reasons: dict[str, None] = {}
    for id_ in sorted(methods_of(run), key=lambda id_: METHODS[id_].headline_rank):
        try:
            return gather_evidence(run, id_)
        except Unavailable as reason:
            reasons[str(reason)] = None
    raise Unavailable(f"{run.label}: no method has a usable row. {' '.join(reasons)}")


def default_run(n_used: Mapping[str, int]) -> str:
    """The first run with enough rows to be judged, otherwise the one with the most rows.

    Parameters
    ----------
    n_used : Mapping[str, int]
        Run key → rows with a confidence and an outcome, in order; at least one run.
    """
    enough = (run for run, rows in n_used.items() if rows >= MIN_ROWS)
    return next(enough, max(n_used, key=n_used.__getitem__))
