"""The registry of confidence methods: how a run becomes pairs of (confidence, outcome).

`METHODS` is the only list of methods: pages, command line, report and tests derive theirs from it. A run may
have further ones, one for each confidence that its file names: `METHODS[...]` finds them like the others,
`methods_of` lists all that may apply to a run, and `in_order` sorts any of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from calib_core.methods.choice import AT_LEAST, CHOICE, at_least, cut_of, cuts_of
from calib_core.methods.choice_probabilities import CHOICE_LENGTH_NORMALISED, CHOICE_SOFTMAX
from calib_core.methods.event import EVENT
from calib_core.methods.mean_token_probability import LOGIT_ANSWER, LOGIT_PATH
from calib_core.methods.method import Method
from calib_core.methods.p_true import P_TRUE
from calib_core.methods.self_consistency import CLUSTER_NUMBER, CLUSTER_SIZE, PAIRWISE
from calib_core.methods.stored_confidence import GIVEN, VERBAL, named_given
from calib_core.methods.token_level import TOKENS
from calib_core.runs import AnswerRun, Run, confidence_name


class _Methods(dict[str, Method]):
    """Methods by id; `methods["given.NAME"]` and `methods["at_least.2"]` are made, and are no items."""

    def __missing__(self, id_: str) -> Method:
        if (cut := cut_of(id_)) is not None:
            return at_least(cut)
        name = _confidence_name(id_)
        if name is None:
            raise KeyError(id_)
        return named_given(name)


METHODS: Final[dict[str, Method]] = _Methods({
    CHOICE_SOFTMAX.id: CHOICE_SOFTMAX,
    CHOICE_LENGTH_NORMALISED.id: CHOICE_LENGTH_NORMALISED,
    LOGIT_PATH.id: LOGIT_PATH,
    LOGIT_ANSWER.id: LOGIT_ANSWER,
    P_TRUE.id: P_TRUE,
    CLUSTER_NUMBER.id: CLUSTER_NUMBER,
    CLUSTER_SIZE.id: CLUSTER_SIZE,
    PAIRWISE.id: PAIRWISE,
    VERBAL.id: VERBAL,
    GIVEN.id: GIVEN,
    EVENT.id: EVENT,
    CHOICE.id: CHOICE,
    TOKENS.id: TOKENS,
})  # fmt: skip
"""Every method by id, in the order in which they are shown; "given.NAME" and "at_least.LEVEL" are made."""

METHOD_IDS: Final = ", ".join([*METHODS, f"{GIVEN.id}.NAME", f"{AT_LEAST}.LEVEL"])
"""The ids for messages and help texts."""


def methods_of(run: Run) -> list[str]:
    """The ids of all methods that may apply to a run, in the order in which they are shown."""
    names = map(confidence_name, run.rows.columns) if isinstance(run, AnswerRun) else ()
    cuts = cuts_of(run) if isinstance(run, AnswerRun) else ()
    return in_order([*METHODS, *(f"{GIVEN.id}.{name}" for name in names if name is not None), *cuts])


def in_order(ids: Iterable[str], order: Collection[str] = METHODS) -> list[str]:
    """Sort ids of methods, each once.

    Parameters
    ----------
    ids
        Ids, also of named confidences; those that are not in `order` are dropped.
    order
        Ids of `METHODS`, in the order wanted; "given" is followed by the named confidences, by name, and
        "choice" by the levels.
    """
    places = {id_: place for place, id_ in enumerate(order)}
    known = [id_ for id_ in set(ids) if _registered_id(id_) in places]
    return sorted(known, key=lambda id_: (places[_registered_id(id_)], cut_of(id_) or 0, id_))


def _registered_id(id_: str) -> str:
    """The id whose place in `METHODS` a method takes: that of its family, or else its own."""
    if cut_of(id_) is not None:
        return CHOICE.id
    return id_ if _confidence_name(id_) is None else GIVEN.id


def _confidence_name(id_: str) -> str | None:
    """The NAME of a method "given.NAME"; None for any other id."""
    head, _, name = id_.partition(".")
    return confidence_name(f"confidence.{name}") if head == GIVEN.id else None
