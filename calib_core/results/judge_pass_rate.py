"""How many answers truly pass, by a judge's labels of all rows and people's of some?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import Unavailable
from calib_core.inference.group_contrasts import GroupContrast, contrast_groups
from calib_core.inference.labels_needed import LabelsNeeded, labels_for_pass_rate
from calib_core.inference.pass_rate import PASS_RATE_TITLES, PassRate, PassRateMethod, pass_rates, shortest
from calib_core.results.columns import Column, frame_of
from calib_core.results.display import Displayable
from calib_core.results.judge_labels import JudgeLabels, labels_text, passing_advice, quantile_groups
from calib_core.wording import (
    NO_VALUE,
    format_interval,
    format_percent,
    format_points,
    join_names,
    p_value_phrase,
    plural,
)

PASS_RATE_COLUMNS: Final = (
    Column("run"),
    Column("group"),
    Column("method"),
    Column("title", "Method"),
    Column("value", "Passes", "share"),
    Column("low", "95 %", "share", upper="high"),
    Column("high", kind="share"),
    Column("n", "Judged", "count"),
    Column("n_labelled", "Labelled", "count"),
    Column("weight", "Weight of the judge", "number", "λ of PPI++: 0 leaves the judge out.", digits=2),
    Column("chosen", dtype=pl.Boolean),
    Column("note", "Remark"),
    Column("recipe"),
)
"""The columns of the pass rate by each method."""

LABELLED_PART_COLUMNS: Final = (
    Column("column", "By"),
    Column("group", "Group"),
    Column("n", "Rows", "count"),
    Column("difference", "Labelled more often by", "points", "Against all rows outside the group."),
    Column("low", "95 %", "points", upper="high"),
    Column("high", kind="points"),
    Column("p", "p", "p"),
    Column("p_holm", "p, corrected", "p", "For all groups that were tried (Holm)."),
)
"""The columns of the groups that are labelled more often than other rows, or less often."""

JUDGES_LABEL: Final = "judge's label"
JUDGES_SCORE: Final = "judge's score"
"""What the labelled rows are compared by, besides columns of the file."""

SCORE_GROUPS: Final = 5
"""Groups into which rows are sorted by the judge's score."""

CURVE_POINTS: Final = 60
"""Points of the curve of labels needed."""


@dataclass(frozen=True, eq=False)
class PassRates(Displayable):
    """The pass rate by each method, whether it can be believed, and what more labels would bring.

    Attributes
    ----------
    labels : JudgeLabels
    rates : tuple of PassRate
        In the order of `PASS_RATE_TITLES`.
    parts : tuple of GroupContrast
        How often groups are labelled, smallest p first; () where no group is large enough.
    needed : LabelsNeeded
        For PPI++.
    needed_alone : LabelsNeeded
        For the labelled rows alone.
    """

    labels: JudgeLabels
    rates: tuple[PassRate, ...]
    parts: tuple[GroupContrast, ...]
    needed: LabelsNeeded
    needed_alone: LabelsNeeded

    def rate(self, method: PassRateMethod) -> PassRate:
        """The rate by one method."""
        return next(rate for rate in self.rates if rate.method == method)

    @property
    def labels_look_random(self) -> bool:
        """Whether no group is labelled more or less often than others beyond chance."""
        return not any(part.is_clear for part in self.parts)

    @property
    def chosen(self) -> PassRate | None:
        """The shorter of PPI++ and the labelled rows alone; None where the labels do not look random."""
        return shortest(self.rates) if self.labels_look_random else None

    @property
    def caveat(self) -> str:
        """What the rates rest on: that the labelled rows are a random part of all."""
        clear = next((part for part in self.parts if part.is_clear), None)
        if clear is not None:
            return (
                f"People labelled rows with {clear.column} “{clear.group}” "
                f"{'more' if clear.difference > 0 else 'less'} often than others "
                f"({format_points(clear.difference)} points, {p_value_phrase(clear.p_holm, None)} for "
                f"{plural(len(self.parts), 'group')} tried): they are not a random sample, so all rates "
                "may be off."
            )
        if self.labels.n_labelled == self.labels.n:
            return "People labelled every row, so the judge adds nothing to the pass rate."
        if not self.parts:
            return (
                "All rates assume that a random sample of the rows was labelled, which cannot be tested here."
            )
        if all(part.column == JUDGES_LABEL for part in self.parts):
            return (
                "All rates assume that a random sample of the rows was labelled. By the judge's own "
                "label, all that can be compared here, people labelled no rows clearly more often than "
                "others."
            )
        columns = dict.fromkeys(part.column for part in self.parts)
        return (
            "All rates assume that a random sample of the rows was labelled; nothing here speaks against "
            f"it ({plural(len(self.parts), 'group')} by {join_names(list(columns))} compared)."
        )

    @property
    def recipe(self) -> str:
        """How the rates were computed."""
        by_question = "by question, " if self.labels.cluster is not None else ""
        return (
            f"passing: {self.labels.passing}; Rogan–Gladen with the interval of Lang & Reiczigel, PPI++ with "
            f"power tuning, Wilson 95 %; {by_question}{labels_text(self.labels)}"
        )

    @property
    def headline(self) -> str:
        """The chosen rate beside the judge's own."""
        judged = f"The judge passes {format_percent(self.rate('judged').value)} of {self.labels.n:,} rows"
        chosen = self.chosen
        if chosen is None:
            return f"{judged}. These labels cannot tell how many truly pass."
        by = "corrected by" if chosen.method == "ppi" else "by"
        return (
            f"{judged}; {by} {self.labels.n_labelled:,} labels of people, "
            f"{format_percent(chosen.value)} pass ({_interval_text(chosen)})."
        )

    @property
    def shortest_text(self) -> str:
        """Which interval is the shortest that holds, against the labelled rows alone."""
        chosen, alone = self.chosen, self.rate("labelled")
        if chosen is None:
            return self.caveat
        if chosen.method == "labelled":
            return "The judge's labels do not make the interval shorter than that of the labelled rows alone."
        as_good = self.as_good_alone(chosen)
        more = f": as short as {as_good:,} labels without the judge would make it" if as_good else ""
        halves = [50 * chosen.width, 50 * alone.width]
        digits = 1 if f"{halves[0]:.1f}" != f"{halves[1]:.1f}" else 2
        of_chosen, of_alone = (f"± {half:.{digits}f}" for half in halves)
        return (
            f"The shortest interval that holds is that of {PASS_RATE_TITLES[chosen.method]}, {of_chosen} "
            f"points against {of_alone} from the labelled rows alone{more}."
        )

    def as_good_alone(self, rate: PassRate) -> int | None:
        """Labels that the labelled rows alone would need for an interval as short as that of a rate."""
        alone = self.rate("labelled")
        if rate.interval is None or alone.interval is None or not rate.width > 0:
            return None
        return round(alone.n_labelled * (alone.width / rate.width) ** 2)

    def half_widths(self, n_labels: NDArray[np.float64]) -> dict[PassRateMethod, NDArray[np.float64]]:
        """Half the length of the interval of PPI++ and of labelled rows alone with so many labels, about."""
        return {
            "ppi": self.needed.half_width(n_labels),
            "labelled": self.needed_alone.half_width(n_labels),
        }

    def curve(self) -> pl.DataFrame:
        """Numbers of labels against `half_widths`."""
        counts = np.unique(np.geomspace(min(10, self.needed.n), self.needed.n, CURVE_POINTS).round())
        return pl.DataFrame({"labels": counts.astype(np.int64), **self.half_widths(counts)})

    def to_frame(self) -> pl.DataFrame:
        """One row for each method, with `PASS_RATE_COLUMNS`."""
        chosen = self.chosen
        return frame_of(
            PASS_RATE_COLUMNS,
            (
                {
                    "run": self.labels.run,
                    "group": self.labels.group or None,
                    "method": rate.method,
                    "title": PASS_RATE_TITLES[rate.method],
                    "value": rate.value,
                    **dict(zip(("low", "high"), rate.interval or (None, None), strict=True)),
                    "n": rate.n,
                    "n_labelled": rate.n_labelled,
                    "weight": rate.weight,
                    "chosen": rate is chosen or rate == chosen,
                    "note": rate.reason,
                    "recipe": self.recipe,
                }
                for rate in self.rates
            ),
        )

    def parts_frame(self) -> pl.DataFrame:
        """One row for each group that was compared, with `LABELLED_PART_COLUMNS`."""
        return frame_of(
            LABELLED_PART_COLUMNS,
            ({name: getattr(part, name) for name in part.__slots__} for part in self.parts),
        )


def judge_pass_rates(labels: JudgeLabels) -> PassRates:
    """Estimate how many answers truly pass.

    Raises
    ------
    Unavailable
        Where it is not known which labels pass, or with fewer than two labelled rows.
    """
    if labels.passes is None:
        raise Unavailable(f"Which label passes is not known: {passing_advice()}.")
    if labels.n_labelled < 2:
        raise Unavailable("Fewer than two rows have labels of both judge and people.")
    labelled = labels.labelled
    judge, human = labels.passes[labels.judge], labels.passes[np.maximum(labels.human, 0)] & labelled
    return PassRates(
        labels,
        pass_rates(judge, human, labelled, labels.cluster),
        _labelled_parts(labels, labelled),
        *labels_for_pass_rate(judge, human, labelled, labels.cluster),
    )


def _labelled_parts(labels: JudgeLabels, labelled: NDArray[np.bool_]) -> tuple[GroupContrast, ...]:
    """How often the rows of each group are labelled; () where all are."""
    if labelled.all():
        return ()
    groups = {JUDGES_LABEL: (labels.names, labels.judge)}
    fifths = None if labels.score is None else quantile_groups(labels.score, SCORE_GROUPS)
    if fifths is not None:
        groups[JUDGES_SCORE] = fifths
    groups |= labels.grouped()
    return contrast_groups(labelled, groups, cluster=labels.cluster)


def _interval_text(rate: PassRate) -> str:
    if rate.interval is None:
        return NO_VALUE
    return f"{format_interval(*rate.interval, '.1f', 100)} %"
