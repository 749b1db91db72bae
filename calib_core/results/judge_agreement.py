"""How often does a judge agree with people, beyond what chance and a constant judge would?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import Unavailable
from calib_core.inference.agreement import (
    AlphaLevel,
    KappaWeights,
    Measure,
    clusters_within,
    cohen_kappa,
    confusion,
    constant_agreement,
    kappa_weights,
    krippendorff_alpha,
    mean_bias,
    share_of,
    share_within,
)
from calib_core.inference.labels_needed import LabelsNeeded, labels_for_share
from calib_core.results.columns import Column, frame_of
from calib_core.results.display import Displayable
from calib_core.results.judge_labels import JudgeLabels, labels_text, passing_advice
from calib_core.wording import format_interval, format_number, format_percent, plural

MeasureId: TypeAlias = Literal[
    "agreement", "constant", "kappa", "sensitivity", "specificity", "base_rate", "bias", "alpha"
]
"""What is measured: agreement, that of a judge that always gives people's most frequent label, Cohen's κ, how
often the judge passes what people pass and fails what they fail, the share that people pass, the mean of
judge − people, and Krippendorff's α between people."""

MEASURE_TITLES: Final[Mapping[MeasureId, str]] = MappingProxyType(
    {
        "agreement": "Agreement",
        "constant": "Always saying the same",
        "kappa": "Cohen's κ",
        "sensitivity": "Sensitivity",
        "specificity": "Specificity",
        "base_rate": "People pass",
        "bias": "Judge − people",
        "alpha": "Krippendorff's α between people",
    }
)
"""Measure → its name on screen."""

MEASURE_HELP: Final[Mapping[MeasureId, str]] = MappingProxyType(
    {
        "agreement": "Share of the labelled rows on which judge and people give the same label.",
        "constant": "Agreement of a judge that gives people's most frequent label to every row.",
        "kappa": "1 − disagreement / the disagreement expected of independent labels with the same "
        "frequencies.",
        "sensitivity": "Of the rows that people pass, the share that the judge passes.",
        "specificity": "Of the rows that people do not pass, the share that the judge does not pass.",
        "base_rate": "Of the labelled rows, the share that people pass.",
        "bias": "Mean difference of the labels as numbers; above 0 the judge is more lenient than people.",
        "alpha": "How well people agree with each other: a judge can hardly agree with them better.",
    }
)
"""Measure → what it says."""

SHARES: Final[frozenset[MeasureId]] = frozenset(
    {"agreement", "constant", "sensitivity", "specificity", "base_rate"}
)
"""Measures in percent."""

MEASURE_COLUMNS: Final = (
    Column("run"),
    Column("group"),
    Column("metric"),
    Column("method"),
    Column("measure", "Measure"),
    Column("value", kind="exact"),
    Column("low", kind="exact"),
    Column("high", kind="exact"),
    Column("shown", "Value"),
    Column("interval", "95 %"),
    Column("n", "Rows", "count", "Labelled rows used."),
    Column("note", "Remark"),
    Column("recipe"),
)
"""The columns of the measures of a judge."""

DISAGREEMENT_COLUMNS: Final = (
    Column("row", "Row", "count", "Record number in the file."),
    Column("id", "Id"),
    Column("judge", "Judge"),
    Column("human", "People"),
    Column("score", "Judge's score", "mixed"),
    Column("question", "Question"),
)
"""The columns of a list of rows with both labels."""

WEIGHT_TITLES: Final[Mapping[KappaWeights, str]] = MappingProxyType(
    {"none": "unweighted", "linear": "linear", "quadratic": "quadratic"}
)


@dataclass(frozen=True, slots=True, eq=False)
class JudgeMeasure:
    """One measure of a judge.

    Attributes
    ----------
    metric : MeasureId
    method : str
        For κ its weights, for α what labels are to it, otherwise "labelled": on labelled rows.
    title : str
    value : float
    interval : (float, float) or None
        Of 95 %.
    n : int
        Rows that it is about.
    note : str
        Why there is no interval, or what has to be known besides; "" for nothing.
    """

    metric: MeasureId
    method: str
    title: str
    value: float
    interval: tuple[float, float] | None
    n: int
    note: str = ""

    @property
    def shown(self) -> str:
        """The value as it is read."""
        if self.metric in SHARES:
            return format_percent(self.value)
        return format_number(self.value, "+.2f" if self.metric == "bias" else ".2f")

    @property
    def shown_interval(self) -> str:
        """The interval as it is read; "–" where there is none."""
        low, high = self.interval or (None, None)
        if self.metric in SHARES:
            return format_interval(low, high, ".1f", 100) + (" %" if low is not None else "")
        return format_interval(low, high, "+.2f" if self.metric == "bias" else ".2f")


@dataclass(frozen=True, eq=False)
class JudgeAgreement(Displayable):
    """A judge against people, on the rows that both labelled.

    Attributes
    ----------
    labels : JudgeLabels
        At least two labelled rows.
    measures : tuple of JudgeMeasure
        In the order of `MEASURE_TITLES`, those that these labels have.
    missing : Mapping[MeasureId, str]
        Measure → why these labels do not have it.
    """

    labels: JudgeLabels
    measures: tuple[JudgeMeasure, ...]
    missing: Mapping[MeasureId, str]

    @cached_property
    def table(self) -> NDArray[np.int64]:
        """Labelled rows by label of the judge (first axis) and of people; shape (labels, labels)."""
        known = self.labels.labelled
        return confusion(self.labels.judge[known], self.labels.human[known], len(self.labels.names))

    @property
    def needed(self) -> LabelsNeeded:
        """How many labels the agreement needs to be known to ± x."""
        labels = self.labels
        return labels_for_share(labels.judge == labels.human, labels.labelled, labels.cluster)

    @property
    def n_labelled(self) -> int:
        """Rows that judge and people labelled."""
        return self.labels.n_labelled

    @property
    def most_frequent(self) -> str:
        """The label that people give most often."""
        return self.labels.names[int(self.table.sum(axis=0).argmax())]

    def measure(self, metric: MeasureId, method: str | None = None) -> JudgeMeasure | None:
        """The measure of this id, and method where several have one; None where there is none."""
        return next(
            (one for one in self.measures if one.metric == metric and method in (None, one.method)), None
        )

    @property
    def recipe(self) -> str:
        """How the measures were computed."""
        return (
            "judge against people; shares: Wilson 95 %; κ and α: delta method with 4 rows added; "
            f"{'by question, ' if self.labels.cluster is not None else ''}{labels_text(self.labels)}"
        )

    @property
    def headline(self) -> str:
        """Agreement, that of a constant judge, and κ, in two sentences."""
        agreement, constant, kappa = (self.measure(id_) for id_ in ("agreement", "constant", "kappa"))
        if agreement is None or constant is None:
            return "No row has labels of both judge and people."
        sentence = (
            f"The judge agrees with people on {agreement.shown} of {plural(agreement.n, 'labelled row')} "
            f"({agreement.shown_interval}); always saying “{self.most_frequent}” would on {constant.shown}."
        )
        if kappa is None:
            return sentence
        interval = f" ({kappa.shown_interval})" if kappa.interval else ""
        return f"{sentence} Cohen's κ is {kappa.shown}{interval}."

    @property
    def caveat(self) -> str:
        """Rows without a reference, as people tie on them; "" where there are none."""
        ties = self.labels.n_undecided
        if not ties:
            return ""
        are = "is" if ties == 1 else "are"
        return f"{plural(ties, 'row')} on which people tie {are} left out, which may flatter the judge."

    def to_frame(self) -> pl.DataFrame:
        """One row for each measure, with `MEASURE_COLUMNS`."""
        return frame_of(
            MEASURE_COLUMNS,
            (
                {
                    "run": self.labels.run,
                    "group": self.labels.group or None,
                    "metric": one.metric,
                    "method": one.method,
                    "measure": one.title,
                    "value": one.value,
                    **dict(zip(("low", "high"), one.interval or (None, None), strict=True)),
                    "shown": one.shown,
                    "interval": one.shown_interval,
                    "n": one.n,
                    "note": one.note,
                    "recipe": self.recipe,
                }
                for one in self.measures
            ),
        )

    def confusion_columns(self) -> tuple[Column, ...]:
        """The columns of `confusion_frame`: the judge's label, a count for each of people's, their sum."""
        names = self.labels.names
        return (
            Column("judge", "Judge \\ people"),
            *(Column(f"people_{at}", name, "count") for at, name in enumerate(names)),
            Column("sum", "All", "count"),
        )

    def confusion_frame(self) -> pl.DataFrame:
        """Counts, one row for each label of the judge, and one for the sums."""
        table = np.vstack([self.table, self.table.sum(axis=0)])
        return frame_of(
            self.confusion_columns(),
            (
                {
                    "judge": name,
                    **{f"people_{at}": int(count) for at, count in enumerate(counts)},
                    "sum": int(counts.sum()),
                }
                for name, counts in zip((*self.labels.names, "All"), table, strict=True)
            ),
        )

    def cell_rows(self, judge: str | None = None, human: str | None = None) -> NDArray[np.intp]:
        """Positions in the run's rows with these labels, the most confident first.

        Parameters
        ----------
        judge, human : str, optional
            One of `labels.names` each; rows on which they differ where both are omitted.

        Returns
        -------
        NDArray[np.intp]
            By the judge's score, highest first, where there is one; otherwise in the order of the file.
        """
        labels = self.labels
        keep = labels.labelled
        if judge is None and human is None:
            keep = keep & (labels.judge != labels.human)
        if judge is not None:
            keep = keep & (labels.judge == labels.names.index(judge))
        if human is not None:
            keep = keep & (labels.human == labels.names.index(human))
        rows = np.flatnonzero(keep)
        if labels.score is not None:
            rows = rows[np.argsort(-np.nan_to_num(labels.score[rows], nan=-np.inf), kind="stable")]
        return labels.row[rows]

    def rows_frame(self, rows: pl.DataFrame, at: NDArray[np.intp]) -> pl.DataFrame:
        """What `cell_rows` found, with `DISAGREEMENT_COLUMNS`.

        Parameters
        ----------
        rows : pl.DataFrame
            Rows of the run.
        at : NDArray[np.intp]
            Positions in them.
        """
        labels = self.labels
        place = np.full(rows.height, -1, np.intp)
        place[labels.row] = np.arange(labels.n)
        texts = {name: rows[name] if name in rows.columns else None for name in ("id", "question")}
        return frame_of(
            DISAGREEMENT_COLUMNS,
            (
                {
                    "row": rows["row"][row],
                    "judge": labels.names[labels.judge[of_label]],
                    "human": labels.names[labels.human[of_label]],
                    "score": _known(labels.score, of_label),
                    **{name: None if values is None else values[row] for name, values in texts.items()},
                }
                for row, of_label in zip(at.tolist(), place[at].tolist(), strict=True)
            ),
        )


def judge_agreement(labels: JudgeLabels) -> JudgeAgreement:
    """Compare a judge with people.

    Raises
    ------
    Unavailable
        With fewer than two labelled rows.
    """
    known = labels.labelled
    if labels.n_labelled < 2:
        where = f" in “{labels.group}”" if labels.group else ""
        raise Unavailable(
            f"{plural(labels.n_labelled, 'row')}{where} with labels of both judge and people: 2 are needed."
        )
    judge, human = labels.judge[known], labels.human[known]
    cluster = clusters_within(labels.cluster, known)
    most = int(np.bincount(human).argmax())
    constant = JudgeMeasure(
        "constant",
        "labelled",
        f"Always saying “{labels.names[most]}”",
        constant_agreement(human),
        None,
        human.size,
    )
    found = [_shown("agreement", share_of(judge == human, cluster)), constant]
    missing: dict[MeasureId, str] = {}
    weightings: tuple[KappaWeights, ...] = (
        ("none",) if labels.values is None else ("none", "linear", "quadratic")
    )
    values = np.arange(len(labels.names), dtype=np.float64) if labels.values is None else labels.values
    for weights in weightings:
        kappa = cohen_kappa(judge, human, kappa_weights(values, weights), cluster)
        if kappa is None:
            missing["kappa"] = f"judge and people say “{labels.names[most]}” throughout"
            break
        title = "" if weights == "none" else f", {WEIGHT_TITLES[weights]} weights"
        found.append(_shown("kappa", kappa, WEIGHT_TITLES[weights], title))
    found += _of_passing(labels, judge, human, cluster, missing)
    if labels.values is not None:
        found.append(_shown("bias", mean_bias(values[judge], values[human], cluster)))
    else:
        missing["bias"] = "the labels are not three or more numbers"
    found += _between_people(labels, values, missing)
    return JudgeAgreement(labels, tuple(found), MappingProxyType(missing))


def _of_passing(
    labels: JudgeLabels,
    judge: NDArray[np.intp],
    human: NDArray[np.intp],
    cluster: NDArray[np.intp] | None,
    missing: dict[MeasureId, str],
) -> list[JudgeMeasure]:
    """Sensitivity, specificity and base rate, where it is known which labels pass."""
    of_passing: Mapping[MeasureId, Callable[[NDArray[np.bool_], NDArray[np.bool_]], Measure | None]] = {
        "sensitivity": lambda says, is_: share_within(says, is_, cluster) if is_.any() else None,
        "specificity": lambda says, is_: share_within(~says, ~is_, cluster) if not is_.all() else None,
        "base_rate": lambda _, is_: share_of(is_, cluster),
    }
    if labels.passes is None:
        missing.update(dict.fromkeys(of_passing, f"which label passes is not known: {passing_advice()}"))
        return []
    found: list[JudgeMeasure] = []
    for metric, measure_of in of_passing.items():
        measure = measure_of(labels.passes[judge], labels.passes[human])
        if measure is None:
            missing[metric] = f"people {'pass' if metric == 'sensitivity' else 'fail'} no row"
        else:
            found.append(_shown(metric, measure))
    return found


def _between_people(
    labels: JudgeLabels, values: NDArray[np.float64], missing: dict[MeasureId, str]
) -> list[JudgeMeasure]:
    """Krippendorff's α."""
    if len(labels.people) < 2:
        missing["alpha"] = "the file has labels of only one person per row"
        return []
    levels: tuple[AlphaLevel, ...] = ("nominal",) if labels.values is None else ("ordinal", "interval")
    found: list[JudgeMeasure] = []
    for level in levels:
        alpha = krippendorff_alpha(labels.by_person, values, level, labels.cluster)
        if alpha is None:
            missing["alpha"] = "fewer than two rows have labels of two people, or all are the same"
            return []
        found.append(_shown("alpha", alpha, level, "" if level == "nominal" else f", {level}"))
    return found


def _shown(metric: MeasureId, measure: Measure, method: str = "labelled", title: str = "") -> JudgeMeasure:
    return JudgeMeasure(
        metric,
        method,
        f"{MEASURE_TITLES[metric]}{title}",
        measure.value,
        measure.interval,
        measure.n,
        measure.no_interval,
    )


def _known(values: NDArray[np.float64] | None, at: int) -> float | None:
    """A value that is there and not NaN."""
    return None if values is None or np.isnan(values[at]) else float(values[at])
