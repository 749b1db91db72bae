"""Which classes are off? Classwise ECE taken apart: the ECE of each class, and one class's diagram."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.bins import Binned
from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.inference.verdict import top_label_verdict
from calib_core.metrics import METRICS
from calib_core.results.columns import Column
from calib_core.results.display import Displayable
from calib_core.results.evidence import Evidence, RowUnit, get_metric, refuse_weights
from calib_core.results.pooling import choice_mark
from calib_core.results.reliability import Reliability, bin_table, reading_of_bin
from calib_core.results.score import Score, score
from calib_core.runs import TokenRun
from calib_core.wording import ROUNDING_TOLERANCE, format_percent, format_short, plural

MIN_NAMED_SHARE: Final = 0.1
"""Least part of a class's gap for which its headline names the bin."""

HALF: Final = 0.5
"""The headline says how many classes carry this share of the sum."""


CLASS_COLUMNS: Final = (
    Column("name", "Class"),
    Column("ece", "class-k-ECE", "mixed", "The gaps of this class over its bins, a row."),
    Column("share", "Part of sum", "part", "Its share of the sum over the classes."),
    Column("right", "Right", "count", "Rows or positions for which it is the right class."),
    Column("frequency", "Share right", "mixed"),
    Column("mean_probability", "Mean probability", "mixed"),
)
"""The columns of the table of classes that are shown."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Classwise(Displayable):
    """Classwise ECE, class by class.

    Attributes
    ----------
    run, method : str
        The run's label and the method's id.
    score : Score
        The metric, which is the mean or the sum of the classes' numbers.
    scheme : Scheme
    table : pl.DataFrame
        One row per class, the largest number first (ties by class): rank (from 1), class (from 0), name,
        ece (Σ_b |Y_kb − C_kb| / N), share (its part of the sum over the classes), cumulative (share of this
        and all larger ones), right (rows of which it is the right class), frequency (right / N) and
        mean_probability (Σ_b C_kb / N).
    n_rows : int
        N.
    unit : {"rows", "positions"}
    headline, recipe, judged : str
    remarks : tuple[str, ...]
    bins : Binned
        The bins of every class.
    design_effect : float
        Of repeated questions; widens the intervals.

    References
    ----------
    Liu et al. (2024), Full-ECE, arXiv:2406.11345: class-k-ECE, eq. 4 and 6; its mean over the classes, eq. 7.
    """

    run: str
    method: str
    score: Score
    scheme: Scheme
    table: pl.DataFrame
    n_rows: int
    unit: RowUnit
    headline: str
    recipe: str
    judged: str
    remarks: tuple[str, ...]
    bins: Binned
    design_effect: float = 1.0

    @property
    def n_classes(self) -> int:
        """K."""
        return self.table.height

    def to_frame(self) -> pl.DataFrame:
        """The table, with run, method and recipe repeated in every row."""
        return self.table.with_columns(
            run=pl.lit(self.run), method=pl.lit(self.method), recipe=pl.lit(self.recipe)
        )

    def row_of(self, class_index: int) -> dict[str, Any]:
        """The row of a class in the table.

        Raises
        ------
        Unavailable
            Where there is no such class.
        """
        row = self.table.filter(pl.col("class") == class_index)
        if row.is_empty():
            raise Unavailable(f"There is no class {class_index}; the classes are 0 to {self.n_classes - 1}.")
        return row.row(0, named=True)

    def diagram_of(self, class_index: int) -> Reliability:
        """The reliability diagram of one class: its probability in each row against how often it is right.

        Each row has one pair, so the pairs of a class don't exclude one another as those of a row do, and
        the bins have intervals.

        Raises
        ------
        Unavailable
            Where there is no such class.
        """
        row = self.row_of(class_index)
        binned = _bins_of_class(self.bins, class_index)
        return Reliability(
            run=self.run,
            method=self.method,
            score=replace(self.score, value=row["ece"], p=None, null_median=None, draws=None),
            brier=None,
            accuracy=None,
            mean_confidence=None,
            scheme=self.scheme,
            table=bin_table(binned, with_intervals=True, design_effect=self.design_effect),
            pair_unit=self.unit,
            headline=_class_headline(row, binned, self.unit),
            recipe=f"{self.recipe}, {row['name']}",
            judged=self.judged,
            remarks=self.remarks,
            part=row["name"],
        )


def classwise(evidence: Evidence, metric_id: str = "cw_ece", scheme: Scheme | None = None) -> Classwise:
    """The ECE of every class behind a classwise metric.

    Parameters
    ----------
    evidence : Evidence
    metric_id : {"cw_ece", "cw_ece_sum"}
    scheme : Scheme, optional
        Ten bins of equal width where omitted.

    Raises
    ------
    Unavailable
        Where the evidence has no sums by class, or not for these bins.
    ValueError
        For a metric that is not classwise.
    """
    metric, scheme = get_metric(metric_id), scheme or Scheme()
    if not is_classwise(metric_id):
        raise ValueError(f"{metric_id} is not computed class by class")
    refuse_weights(evidence, "The table of classes")
    metric_score = score(evidence, metric_id, scheme)
    sums = evidence.sums_for(metric, scheme)
    binned = sums.binned(scheme)
    names = _class_names(evidence, sums.n_groups)
    n_rows = int(sums.n_rows)
    table = class_table(binned, n_rows, names)
    return Classwise(
        run=evidence.run.label,
        method=evidence.method.id,
        score=metric_score,
        scheme=scheme,
        table=table,
        n_rows=n_rows,
        unit=evidence.unit,
        headline=_headline(table, n_rows, evidence.unit)
        + (f" {top_label_verdict(evidence.verdict)}" if n_rows else ""),
        recipe=metric_score.recipe,
        judged=evidence.judged,
        remarks=evidence.remarks,
        bins=binned,
        design_effect=evidence.design_effect,
    )


def is_classwise(metric_id: str) -> bool:
    """Whether the metric bins every class by itself."""
    return METRICS[metric_id].binned and METRICS[metric_id].required_sums == "classes"


def class_table(binned: Binned, n_rows: int, names: list[str]) -> pl.DataFrame:
    """The table of `Classwise`.

    Parameters
    ----------
    binned : Binned
        Bins by class.
    n_rows : int
        N.
    names : list of str
        One per class.
    """

    def per_class(values: NDArray[Any]) -> NDArray[np.float64]:
        return np.bincount(binned.group, weights=values, minlength=len(names)) / max(n_rows, 1)

    ece, right, probability = (
        per_class(values) for values in (binned.absolute_gap, binned.correct, binned.confidence)
    )
    total = float(ece.sum())
    order = np.argsort(-ece, kind="stable")
    share = ece[order] / total if total > 0 else np.zeros(order.size)
    columns: dict[str, Any] = {
        "rank": np.arange(1, order.size + 1),
        "class": order,
        "name": [names[index] for index in order.tolist()],
        "ece": ece[order],
        "share": share,
        "cumulative": np.cumsum(share),
        "right": np.rint(right[order] * n_rows).astype(np.int64),
        "frequency": right[order],
        "mean_probability": probability[order],
    }
    return pl.DataFrame(
        columns,
        schema_overrides={"name": pl.String, "class": pl.Int64, "rank": pl.Int64},
    )


def _class_names(evidence: Evidence, n_classes: int) -> list[str]:
    """What each class is called: "token 17", as a file of distributions has ids alone, or "choice B"."""
    if isinstance(evidence.run, TokenRun):
        return [f"token {index}" for index in range(n_classes)]
    return [f"choice {choice_mark(index, n_classes)}" for index in range(n_classes)]


def _bins_of_class(binned: Binned, class_index: int) -> Binned:
    """The bins of one class alone."""
    of_class = binned.group == class_index
    return replace(
        binned,
        group=binned.group[of_class],
        numbers=binned.index[of_class],
        count=binned.count[of_class],
        correct=binned.correct[of_class],
        confidence=binned.confidence[of_class],
        sum_products=lambda: binned.correct_confidence[of_class],
        sum_squares=lambda: binned.squared_confidence[of_class],
        find_limits=None,
    )


def _headline(table: pl.DataFrame, n_rows: int, unit: RowUnit) -> str:
    """Which class is farthest off, and how many carry half of the sum."""
    if not n_rows:
        return f"No {unit[:-1]} has both a confidence and an outcome."
    if float(table["ece"].sum()) <= ROUNDING_TOLERANCE:
        return f"All {table.height:,} classes are right as often as their probability says, in every bin."
    first = table.row(0, named=True)
    never = int((table["right"] == 0).sum())
    half = int((table["cumulative"] < HALF).sum()) + 1
    carried = f"{half:,} of {table.height:,} classes {'makes' if half == 1 else 'make'} up half of the sum"
    rare = f"; {never:,} are never right" if never else ""
    return (
        f"Farthest off: {first['name']}, class-k-ECE {format_short(first['ece'])} (right in "
        f"{first['right']:,} of {plural(n_rows, unit[:-1])}). {carried}{rare}."
    )


def _class_headline(row: dict[str, Any], binned: Binned, unit: RowUnit) -> str:
    """The class's probability beside how often it is right, and the bin with the largest part of its gap."""
    text = (
        f"{row['name'][0].upper()}{row['name'][1:]}: average probability "
        f"{format_short(row['mean_probability'])}, right in {format_short(row['frequency'])} of all {unit}"
    )
    gaps = binned.absolute_gap
    if binned.n_bins < 2 or float(gaps.sum()) <= ROUNDING_TOLERANCE:
        return f"{text}."
    widest = int(np.argmax(gaps))
    share = float(gaps[widest] / gaps.sum())
    if share < MIN_NAMED_SHARE:
        return f"{text}."
    part = "most" if share > HALF else "the largest part"
    return f"{text}; {part} of its gap ({format_percent(share)}) is in {reading_of_bin(binned, widest)}."
