"""What does one method say of one run?  The pairs and their sums, computed once, read by every result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from calib_core.bins import MAX_NATURAL, Binned, BinSums, Scheme
from calib_core.confidence import METHODS
from calib_core.confidence.method import Confidences, Method, Options
from calib_core.metrics import METRICS
from calib_core.metrics.metric import Metric
from calib_core.pairs import Pairs
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun


def method_of(method_id: str) -> Method:
    """The registered method; raises Unavailable for an id that does not exist."""
    if method_id not in METHODS:
        raise Unavailable(f"There is no method {method_id!r}. Methods: {', '.join(METHODS)}.")
    return METHODS[method_id]


def metric_of(metric_id: str) -> Metric:
    """The registered metric; raises Unavailable for an id that does not exist."""
    if metric_id not in METRICS:
        raise Unavailable(f"There is no metric {metric_id!r}. Metrics: {', '.join(METRICS)}.")
    return METRICS[metric_id]


@dataclass(frozen=True, eq=False)
class Evidence:
    """One run seen by one method under one set of options.

    Every sum is computed when first asked for and kept, so choosing another metric or another M never
    goes back to the rows.
    """

    run: AnswerRun
    method: Method
    options: Options
    confidences: Confidences

    @property
    def n_used(self) -> int:
        """Rows with a confidence and an outcome."""
        return self.confidences.pairs.n

    @property
    def n_total(self) -> int:
        """Rows of the run in its file."""
        return self.run.n_total

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs that metrics of one confidence pool: the top label's, or every label's."""
        if self.options.labels == "top":
            return self.confidences.pairs
        if self.confidences.distribution is None:
            raise Unavailable(
                f"{self.method.title} gives one confidence a question: "
                "pooling all labels needs the probability of every choice."
            )
        return self.confidences.distribution.every_label()

    @cached_property
    def sums(self) -> BinSums:
        """Sums of `pairs`."""
        return self.pairs.sums()

    @cached_property
    def of_top(self) -> Evidence:
        """The same rows seen by their top label alone, whichever labels are pooled here."""
        if self.options.labels == "top":
            return self
        return replace(self, options=replace(self.options, labels="top"))

    @property
    def top_sums(self) -> BinSums:
        """Sums of one pair a row, whichever labels are pooled: accuracy and mean confidence."""
        return self.of_top.sums

    @cached_property
    def distinct(self) -> int:
        """How many different confidences `sums` holds: natural bins are offered for a few."""
        return self.sums.levels().size

    @cached_property
    def accuracy(self) -> float | None:
        """Share of rows whose top label is right, in [0, 1]; None without rows."""
        return METRICS["accuracy"].of(self.top_sums, Scheme())

    @cached_property
    def mean_confidence(self) -> float | None:
        """Mean confidence of the top label, in [0, 1]; None without rows."""
        top = self.top_sums
        return float((top.value * top.count).sum()) / top.pairs if top.pairs else None

    @cached_property
    def brier(self) -> float | None:
        """Brier score of the top label, in [0, 1]; None without rows."""
        return METRICS["brier"].of(self.top_sums, Scheme())

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader of any number made from this has to know: of the method's rows, and of the file's."""
        return (*self.confidences.remarks, *self.run.ledger.notes)

    @cached_property
    def class_sums(self) -> BinSums:
        """Sums of every class of every row, by class; raises Unavailable without a whole distribution."""
        distribution = self.confidences.distribution
        if distribution is None or not distribution.normalised:
            raise Unavailable(self.no_distribution or "")
        return distribution.sums()

    @property
    def no_distribution(self) -> str | None:
        """Why there is no whole distribution to speak of, or None."""
        distribution = self.confidences.distribution
        if distribution is None:
            return f"{self.method.title} gives one number a question, not a whole distribution."
        if not distribution.normalised:
            return (
                "Unrenormalised choices are no distribution: "
                "metrics of all classes need them renormalised (--renormalise)."
            )
        return None

    @cached_property
    def pooled_class_sums(self) -> BinSums:
        """`class_sums` with all classes in one pool."""
        return self.class_sums.pooled()

    def refusal(self, metric: Metric, scheme: Scheme) -> str | None:
        """Why this metric cannot be given under this scheme, or None; costs no pass over the rows."""
        if metric.binning not in (None, scheme.binning):
            return f"{metric.title} is defined on equal-{metric.binning} bins only."
        if metric.needs == "distribution":
            return self.no_distribution
        if self.options.labels == "all" and metric.id not in ALL_LABEL_METRICS:
            return f"{metric.title} is a number of the top label: it has no all-labels form."
        return None

    def sums_for(self, metric: Metric, scheme: Scheme) -> BinSums:
        """The sums this metric is read off; raises Unavailable with the reason."""
        if reason := self.refusal(metric, scheme):
            raise Unavailable(reason)
        return self.class_sums if metric.needs == "distribution" else self.sums

    def diagram_pairs(self, metric: Metric) -> Pairs:
        """The pairs a reliability diagram of this metric draws: every class of every row, or `pairs`."""
        distribution = self.confidences.distribution
        if distribution is None or not draws_all_classes(metric):
            return self.pairs
        return distribution.every_label()

    def diagram_sums(self, metric: Metric) -> BinSums:
        """The sums of `diagram_pairs`."""
        return self.pooled_class_sums if draws_all_classes(metric) else self.sums

    def binned(self, metric: Metric, scheme: Scheme) -> Binned:
        """The bins of that diagram; raises Unavailable where the metric or the bins cannot be given."""
        if reason := self.refusal(metric, scheme):
            raise Unavailable(reason)
        binned = self.diagram_sums(metric).binned(scheme)
        if scheme.binning == "natural" and binned.size > MAX_NATURAL:
            raise Unavailable(
                f"Natural bins, one a distinct value, are offered up to {MAX_NATURAL} values; "
                f"{self.method.title} has {binned.size:,} here. Choose equal-width or equal-mass bins."
            )
        return binned


ALL_LABEL_METRICS = ("ece", "mce", "ace", "brier")
"""Metrics of pairs that keep a meaning when every label of a row is a pair."""


def draws_all_classes(metric: Metric) -> bool:
    """Whether the bins behind this metric hold one pair a class."""
    return metric.needs == "distribution" and metric.binned


def gather(run: AnswerRun, method_id: str, options: Options | None = None) -> Evidence:
    """What the method says of the run; raises Unavailable with the reason where it cannot."""
    method = method_of(method_id)
    options = options or Options()
    evidence = Evidence(run, method, options, method.of(run, options))
    _ = evidence.pairs  # all labels of a method without choices is refused here, not at the first number
    return evidence


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """Which methods a run can give (evidence by id), and why it cannot give the others."""

    usable: Mapping[str, Evidence]
    refused: Mapping[str, str]


def survey(run: AnswerRun, options: Options | None = None) -> Survey:
    """Every registered method tried on the run, in the registry's order."""
    usable: dict[str, Evidence] = {}
    refused: dict[str, str] = {}
    for method_id in METHODS:
        try:
            usable[method_id] = gather(run, method_id, options)
        except Unavailable as reason:
            refused[method_id] = str(reason)
    return Survey(usable, refused)
