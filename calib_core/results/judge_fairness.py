"""Is a judge fair: to every group of answers, and to both places in which an answer is shown?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.advice import worded
from calib_core.inference.agreement import clusters_within
from calib_core.inference.group_contrasts import GroupContrast, contrast_groups
from calib_core.inference.multiplicity import holm
from calib_core.inference.order_effect import OrderEffect, mcnemar_p, order_effect
from calib_core.inference.verdict import MIN_ROWS, SIGNIFICANCE_LEVEL
from calib_core.results.columns import Column, frame_of
from calib_core.results.display import Displayable
from calib_core.results.judge_labels import JudgeLabels, labels_text, quantile_groups
from calib_core.wording import format_percent, format_points, join_names, p_value_phrase, plural

FairnessId: TypeAlias = Literal["agrees", "favours"]
"""What is compared between groups: how often the judge agrees with people, and how often it passes what
people label alike."""

LabelsName: TypeAlias = Literal["place", "answer"]
"""What a label such as A names in swapped pairs: the answer shown first, or the same one in both orders."""

FAIRNESS_TITLES: Final[Mapping[FairnessId, str]] = MappingProxyType(
    {"agrees": "Agrees with people", "favours": "Passes, at equal labels of people"}
)
"""What is compared → its name on screen."""

FAIRNESS_COLUMNS: Final = (
    Column("run"),
    Column("compared"),
    Column("column", "By"),
    Column("group", "Group"),
    Column("n", "Labelled rows", "count"),
    Column("title", "How often the judge …"),
    Column("difference", "More often by", "points", "Against all labelled rows outside the group."),
    Column("low", "95 %", "points", upper="high"),
    Column("high", kind="points"),
    Column("p", "p", "p"),
    Column("p_holm", "p, corrected", "p", "For all comparisons in this table (Holm)."),
    Column("recipe"),
)
"""The columns of the groups to which a judge is fair or not."""

LENGTH: Final = "length of the answer, in characters"
LENGTH_GROUPS: Final = 4
"""Answers are sorted into so many groups by their length."""

PLACES: Final[Mapping[str, int]] = MappingProxyType(
    {
        **dict.fromkeys(("a", "model_a", "response_a", "answer a", "assistant a", "first", "left"), 1),
        **dict.fromkeys(("b", "model_b", "response_b", "answer b", "assistant b", "second", "right"), -1),
        **dict.fromkeys(("tie", "draw", "equal", "both", "neither", "none", "c", "tie (bothbad)"), 0),
    }
)
"""Labels of pairs of answers, in the form in which labels are compared → 1 for the first, −1 for the second,
0 for neither."""


@dataclass(frozen=True, eq=False)
class JudgeFairness(Displayable):
    """Whether a judge treats groups, and both orders of a pair, alike.

    Attributes
    ----------
    labels : JudgeLabels
    contrasts : Mapping[FairnessId, tuple of GroupContrast]
        By what is compared, smallest p first; the corrected p is that for all of both.
    order : OrderEffect or None
    labels_name : {"place", "answer"} or None
        What labels name in swapped pairs; None where they name neither, such as pass and fail.
    no_order : str
        Why there is no order effect; "" where there is one.
    """

    labels: JudgeLabels
    contrasts: Mapping[FairnessId, tuple[GroupContrast, ...]]
    order: OrderEffect | None
    labels_name: LabelsName | None
    no_order: str

    @property
    def n_compared(self) -> int:
        """Number of comparisons that p is corrected for."""
        return sum(map(len, self.contrasts.values()))

    @property
    def clear(self) -> tuple[tuple[FairnessId, GroupContrast], ...]:
        """The comparisons that are clear beyond chance, smallest p first."""
        found: list[tuple[FairnessId, GroupContrast]] = [
            (id_, one) for id_, all_ in self.contrasts.items() for one in all_ if one.is_clear
        ]
        return tuple(sorted(found, key=lambda each: each[1].p))

    @property
    def recipe(self) -> str:
        """How groups were compared."""
        return (
            "each group against all rows outside it, Mantel–Haenszel, exact where few, Holm over "
            f"{plural(self.n_compared, 'comparison')}; {labels_text(self.labels)}"
        )

    @property
    def headline(self) -> str:
        """Whether the judge is fair to both orders, where there are pairs in both, and to groups."""
        if not self.labels.swaps.size:
            return self.groups_headline
        both = self.order_headline, self.groups_headline
        return " ".join(both if self.order is not None else both[::-1])

    @property
    def groups_headline(self) -> str:
        """Which groups the judge treats otherwise, in a sentence."""
        if not self.n_compared:
            columns = [*self.labels.groups, *([LENGTH] if self.labels.answer_length is not None else [])]
            if not columns:
                return "The file has no column that divides its rows into groups, so none are compared."
            by = join_names(columns, "or")
            return f"No two groups by {by} have {MIN_ROWS} labelled rows each, so none are compared."
        if not self.clear:
            return (
                f"In none of {plural(self.n_compared, 'comparison')} between groups does the judge clearly "
                "differ."
            )
        id_, one = self.clear[0]
        does = "agrees with people" if id_ == "agrees" else "passes answers, at equal labels of people,"
        others = f", one of {len(self.clear)} clear differences" if len(self.clear) > 1 else ""
        return (
            f"The judge {does} {format_points(abs(one.difference)).lstrip('+')} points "
            f"{'more' if one.difference > 0 else 'less'} often where {one.column} is “{one.group}” "
            f"({p_value_phrase(one.p_holm, None)} for {plural(self.n_compared, 'comparison')}){others}."
        )

    @property
    def order_headline(self) -> str:
        """Whether verdicts turn with the order, in a sentence; why it isn't known, otherwise."""
        order = self.order
        if order is None:
            return self.no_order
        sentence = (
            f"The verdict stays the same in both orders for {format_percent(order.consistent)} of "
            f"{plural(order.n_pairs, 'swapped pair')}"
        )
        if self.labels_name is None:
            return f"{sentence}."
        if order.p > SIGNIFICANCE_LEVEL:
            chance = p_value_phrase(order.p, None)
            return f"{sentence}; the others do not clearly favour either place ({chance})."
        place, n = ("first", order.n_first) if order.n_first > order.n_second else ("second", order.n_second)
        others = order.n_first + order.n_second
        which = f"all {n:,} others" if n == others else f"of the {others:,} others, {n:,}"
        return f"{sentence}; {which} favour the answer shown {place} ({p_value_phrase(order.p, None)})."

    def to_frame(self) -> pl.DataFrame:
        """One row for each comparison, with `FAIRNESS_COLUMNS`."""
        return frame_of(
            FAIRNESS_COLUMNS,
            (
                {
                    "run": self.labels.run,
                    "compared": id_,
                    "title": FAIRNESS_TITLES[id_],
                    "recipe": self.recipe,
                    **{name: getattr(one, name) for name in one.__slots__},
                }
                for id_, all_ in self.contrasts.items()
                for one in all_
            ),
        )


def judge_fairness(labels: JudgeLabels, labels_name: LabelsName | None = None) -> JudgeFairness:
    """Compare a judge's labels with people's between groups, and with its own in the other order.

    Parameters
    ----------
    labels : JudgeLabels
    labels_name : {"place", "answer"}, optional
        What a label such as A names in swapped pairs; by default what people's labels of those pairs show.
    """
    order, named, reason = _order(labels, labels_name)
    return JudgeFairness(labels, MappingProxyType(_contrasts(labels)), order, named, reason)


def _contrasts(labels: JudgeLabels) -> dict[FairnessId, tuple[GroupContrast, ...]]:
    known = labels.labelled
    if not known.any():
        return {"agrees": (), "favours": ()}
    groups = {column: (names, number[known]) for column, (names, number) in labels.grouped().items()}
    if labels.answer_length is not None:
        by_length = quantile_groups(labels.answer_length[known], LENGTH_GROUPS)
        groups |= {} if by_length is None else {LENGTH: by_length}
    judge, human = labels.judge[known], labels.human[known]
    cluster = clusters_within(labels.cluster, known)
    found: dict[FairnessId, tuple[GroupContrast, ...]] = {
        "agrees": contrast_groups(judge == human, groups, cluster=cluster),
        "favours": (),
    }
    if labels.passes is not None:
        at_equal = np.unique(human, return_inverse=True)[1]
        found["favours"] = contrast_groups(labels.passes[judge], groups, at_equal, cluster)
    corrected = iter(holm([one.p for all_ in found.values() for one in all_]))
    return {id_: tuple(replace(one, p_holm=next(corrected)) for one in all_) for id_, all_ in found.items()}


def _order(
    labels: JudgeLabels, labels_name: LabelsName | None
) -> tuple[OrderEffect | None, LabelsName | None, str]:
    """The order effect, what labels name, and why there is none."""
    if not labels.swaps.size:
        return None, None, "The file has no pairs in both orders (swap_of)."
    one, other = labels.judge[labels.swaps].T
    places = [PLACES.get(name.casefold()) for name in labels.names]
    if any(place is None for place in places):
        return order_effect(*_by_label(labels, one, other)), None, ""
    place = np.array([place or 0 for place in places])
    named = labels_name or _named_by_people(labels, place)
    if named is None:
        return (
            None,
            None,
            (
                "Whether a label such as “A” names the answer shown first, or the same one in both orders, "
                f"is not known: {_ask_what_labels_name()}."
            ),
        )
    return order_effect(place[one], place[other] if named == "place" else -place[other]), named, ""


def _by_label(
    labels: JudgeLabels, one: NDArray[np.intp], other: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Labels that name no place: 1 and −1 where they are equal, otherwise a lean by their number."""
    rank = np.arange(len(labels.names)) if labels.passes is None else labels.passes.astype(np.intp)
    lean = np.sign(rank[one] - rank[other])
    lean[(lean == 0) & (one != other)] = 1
    return lean, np.zeros_like(lean)


def _named_by_people(labels: JudgeLabels, place: NDArray[np.intp]) -> LabelsName | None:
    """What labels name, by whether people's turn when a pair is swapped; None where that is not clear."""
    both = labels.swaps[(labels.human[labels.swaps] >= 0).all(axis=1)]
    product = place[labels.human[both]].prod(axis=1)
    same, turned = int((product > 0).sum()), int((product < 0).sum())
    if mcnemar_p(same, turned) > SIGNIFICANCE_LEVEL:
        return None
    return "place" if turned > same else "answer"


def _ask_what_labels_name() -> str:
    return worded(
        "say so with --labels-name place or --labels-name answer",
        in_python='say so with labels_name="place" or labels_name="answer"',
        on_page="choose it above",
    )
