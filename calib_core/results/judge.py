"""Can a judge's verdict be believed? Everything that its labels and people's say of one run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import polars as pl

from calib_core.errors import Unavailable
from calib_core.inference.pass_rate import PASS_RATE_TITLES
from calib_core.results.columns import Column, frame_of
from calib_core.results.display import Displayable
from calib_core.results.judge_agreement import MEASURE_TITLES, JudgeAgreement, judge_agreement
from calib_core.results.judge_fairness import JudgeFairness, LabelsName, judge_fairness
from calib_core.results.judge_labels import JudgeLabels, judge_labels, refuse_weighted_labels
from calib_core.results.judge_pass_rate import PassRates, judge_pass_rates
from calib_core.runs import Run

JUDGE_METRICS: Final[tuple[str, ...]] = (*MEASURE_TITLES, "pass_rate")
"""What `judge` computes, by id, in the order in which it is printed."""


def judge_metric_title(metric: str) -> str:
    """What a metric in `JUDGE_METRICS` is called; the id itself for any other.

    Examples
    --------
    >>> judge_metric_title("kappa"), judge_metric_title("pass_rate")
    ("Cohen's κ", 'Pass rate')
    """
    titles: Mapping[str, str] = {**MEASURE_TITLES, "pass_rate": "Pass rate"}
    return titles.get(metric, metric)


JUDGE_COLUMNS: Final = (
    Column("run"),
    Column("by"),
    Column("group", "Group"),
    Column("metric"),
    Column("method"),
    Column("title", "Measure"),
    Column("value", kind="exact"),
    Column("low", kind="exact"),
    Column("high", kind="exact"),
    Column("n", "Judged", "count"),
    Column("n_labelled", "Labelled", "count"),
    Column("chosen", dtype=pl.Boolean),
    Column("reason", "Remark"),
    Column("recipe"),
)
"""The columns of everything that is measured, one row for each number."""


@dataclass(frozen=True, eq=False)
class JudgeResult(Displayable):
    """A judge against people, on one run.

    Attributes
    ----------
    agreement : JudgeAgreement
    pass_rates : PassRates or None
        None where it is not known which labels pass.
    fairness : JudgeFairness
    missing : Mapping[str, str]
        Id of what these labels do not have → why.
    by : str or None
        The column by whose groups it is measured, too.
    groups : tuple of JudgeResult
        One for each of its groups that has two labelled rows, largest first.
    left_out : tuple of str
        Which groups have fewer.
    """

    agreement: JudgeAgreement
    pass_rates: PassRates | None
    fairness: JudgeFairness
    missing: Mapping[str, str]
    by: str | None = None
    groups: tuple[JudgeResult, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def labels(self) -> JudgeLabels:
        """The labels behind it."""
        return self.agreement.labels

    @property
    def headline(self) -> str:
        """How often judge and people agree, in two sentences."""
        return self.agreement.headline

    def numbers(self, metrics: Collection[str] = JUDGE_METRICS) -> Iterator[dict[str, Any]]:
        """Every number as the command line prints it, those of the groups last.

        Parameters
        ----------
        metrics : collection of str
            Ids in `JUDGE_METRICS`.
        """
        labels = self.labels
        common = {"run": labels.run, "by": self.by if labels.group else None, "group": labels.group or None}
        for one in self.agreement.measures:
            if one.metric in metrics:
                yield {
                    **common,
                    "metric": one.metric,
                    "method": one.method,
                    "title": one.title,
                    "value": one.value,
                    "interval": one.interval,
                    "n": labels.n,
                    "n_labelled": one.n,
                    "chosen": None,
                    "reason": one.note or None,
                    "recipe": self.agreement.recipe,
                }
        if self.pass_rates is not None and "pass_rate" in metrics:
            chosen = self.pass_rates.chosen
            for rate in self.pass_rates.rates:
                yield {
                    **common,
                    "metric": "pass_rate",
                    "method": rate.method,
                    "title": f"Pass rate, {PASS_RATE_TITLES[rate.method]}",
                    "value": rate.value,
                    "interval": rate.interval,
                    "n": rate.n,
                    "n_labelled": rate.n_labelled,
                    "chosen": rate == chosen,
                    "reason": rate.reason or None,
                    "recipe": self.pass_rates.recipe,
                }
        for group in self.groups:
            yield from group.numbers(metrics)

    def to_frame(self) -> pl.DataFrame:
        """One row for each number, with `JUDGE_COLUMNS`."""
        return frame_of(
            JUDGE_COLUMNS,
            (
                {**each, **dict(zip(("low", "high"), each["interval"] or (None, None), strict=True))}
                for each in self.numbers()
            ),
        )


def judge_result(
    run: Run, passing: Sequence[str] = (), by: str | None = None, labels_name: LabelsName | None = None
) -> JudgeResult:
    """Compare the judge of a run with people.

    Parameters
    ----------
    run : Run
    passing : sequence of str
        The labels that pass, as in `judge_labels`.
    by : str, optional
        A column by whose groups it is measured, too.
    labels_name : {"place", "answer"}, optional
        As in `judge_fairness`.

    Raises
    ------
    Unavailable
        As `judge_labels` and `judge_agreement` say, and if nothing called `by` groups the rows.
    """
    refuse_weighted_labels(run)
    labels = judge_labels(run, passing)
    whole = _result_of(labels, labels_name)
    if by is None:
        return whole
    found: list[JudgeResult] = []
    left_out: list[str] = []
    for group in labels.by(by).values():
        try:
            found.append(_result_of(group, labels_name, by))
        except Unavailable as reason:
            left_out.append(str(reason))
    return JudgeResult(
        whole.agreement,
        whole.pass_rates,
        whole.fairness,
        whole.missing,
        by,
        tuple(found),
        tuple(left_out),
    )


def _result_of(labels: JudgeLabels, labels_name: LabelsName | None, by: str | None = None) -> JudgeResult:
    agreement = judge_agreement(labels)
    missing: dict[str, str] = {**agreement.missing}
    rates: PassRates | None = None
    try:
        rates = judge_pass_rates(labels)
    except Unavailable as reason:
        missing["pass_rate"] = str(reason).rstrip(".")
    fairness = judge_fairness(labels, labels_name)
    return JudgeResult(agreement, rates, fairness, MappingProxyType(missing), by)
