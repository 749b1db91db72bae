"""What may every result ask of one run seen by one method, whatever the run holds?"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from calib_core.analysis.redrawn import BinnedNullDraws
from calib_core.binned import Sums
from calib_core.bins import MAX_NATURAL_BINS, Binned, Scheme
from calib_core.confidence.method import Method, MethodOptions
from calib_core.metrics import METRICS
from calib_core.metrics.metric import Metric
from calib_core.problems import Unavailable
from calib_core.records import Run

RowUnit = Literal["rows", "positions"]
"""What is counted: questions (rows of a file) or positions of a text."""


@dataclass(frozen=True, eq=False)
class Evidence(ABC):
    """One run seen by one method under one set of options.

    Every sum is computed when first asked for and kept, so choosing another metric or another M never
    goes back to the rows.
    """

    run: Run
    method: Method
    options: MethodOptions

    @property
    @abstractmethod
    def unit(self) -> RowUnit:
        """What `n_used` counts."""

    @property
    @abstractmethod
    def n_used(self) -> int:
        """Rows or positions with a confidence and an outcome."""

    @cached_property
    def design_effect(self) -> float:
        """How many of the rows or positions may say the same (`trials.alike`): 1 where all are asked once."""
        return 1.0

    @property
    def n_total(self) -> int:
        """Rows or positions of the run in its file."""
        return self.run.n_total

    @property
    @abstractmethod
    def judged(self) -> str:
        """Whose outcome it is: "greedy answer", "its own top label"."""

    @property
    @abstractmethod
    def recipe_parts(self) -> tuple[str, ...]:
        """What the method adds to a recipe."""

    @property
    @abstractmethod
    def missing(self) -> Mapping[str, int]:
        """Reason → rows without this confidence."""

    @property
    @abstractmethod
    def remarks(self) -> tuple[str, ...]:
        """What a reader of any number made from this has to know: of the method's rows, and of the file's."""

    @property
    @abstractmethod
    def has_distribution(self) -> bool:
        """Whether the probability of every class of every row is there, so that labels can be chosen."""

    @property
    @abstractmethod
    def no_questions_reason(self) -> str | None:
        """Why there are no single questions to look up, or None."""

    @cached_property
    @abstractmethod
    def sums(self) -> Sums:
        """Sums of the pairs that metrics of one confidence pool: the top label's, or every label's."""

    @abstractmethod
    def class_sums_for(self, metric: Metric) -> Sums:
        """Sums of every class of every row, as this metric reads them; raises Unavailable without them."""

    @cached_property
    @abstractmethod
    def pooled_class_sums(self) -> Sums:
        """Sums of every class of every row in one pool."""

    @abstractmethod
    def labels_text(self, *, all_classes: bool) -> str | None:
        """Which labels are pooled, of how many: "top label", "all classes, K=4"; None without choices."""

    @cached_property
    @abstractmethod
    def n_distinct(self) -> int | None:
        """How many different confidences `sums` holds; None where single ones are not kept."""

    @abstractmethod
    def value_counts(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Top-label confidences that are known one by one, and the rows at each; shape (n,) both."""

    @abstractmethod
    def share_at(self, value: float) -> float | None:
        """Share of rows whose top label has exactly this confidence; None where that is not known."""

    @abstractmethod
    def null_draws(self, metric: Metric, scheme: Scheme) -> BinnedNullDraws | None:
        """The bins of this metric with outcomes drawn from the confidences; None where there is no null."""

    def bounds(self, metric: Metric, scheme: Scheme) -> tuple[float, float] | None:
        """The interval in which the metric lies where its value cannot be known, else None."""
        del metric, scheme
        return None

    def exactness_note(self, metric: Metric, scheme: Scheme) -> str | None:
        """What has to be said of a number that is exact for some M only, or None."""
        del metric, scheme
        return None

    @abstractmethod
    def data_shortfall(self, metric: Metric, scheme: Scheme) -> str | None:
        """Why what the file holds cannot give this metric under this scheme, or None."""

    def unavailable_reason(self, metric: Metric, scheme: Scheme) -> str | None:
        """Why this metric cannot be given under this scheme, or None; costs no pass over the rows."""
        if metric.binning not in (None, scheme.binning):
            return f"{metric.title} is defined on equal-{metric.binning} bins only."
        all_labels = metric.needs == "pairs" and self.options.labels == "all"
        if all_labels and not metric.all_labels:
            return f"{metric.title} is a number of the top label: it has no all-labels form."
        return self.data_shortfall(metric, scheme)

    def sums_for(self, metric: Metric, scheme: Scheme) -> Sums:
        """The sums this metric is read off; raises Unavailable with the reason."""
        if reason := self.unavailable_reason(metric, scheme):
            raise Unavailable(reason)
        return self.class_sums_for(metric) if metric.needs == "distribution" else self.sums

    @cached_property
    def null_cache(self) -> dict[tuple[str, Scheme], tuple[int, NDArray[np.float64]]]:
        """What `null` has drawn of this: by metric and scheme, the seed and the value of each draw."""
        return {}

    @property
    def offers_natural_bins(self) -> bool:
        """Whether one bin a distinct value is offered."""
        return self.n_distinct is not None and self.n_distinct <= MAX_NATURAL_BINS

    @cached_property
    def top_label(self) -> Self:
        """The same rows seen by their top label alone, whichever labels are pooled here."""
        if self.options.labels == "top":
            return self
        return replace(self, options=replace(self.options, labels="top"))

    @property
    def top_label_sums(self) -> Sums:
        """Sums of one pair a row, whichever labels are pooled: accuracy and mean confidence."""
        return self.top_label.sums

    @cached_property
    def accuracy(self) -> float | None:
        """Share of rows whose top label is right, in [0, 1]; None without rows."""
        return METRICS["accuracy"].compute(self.top_label_sums, Scheme())

    @cached_property
    def mean_confidence(self) -> float | None:
        """Mean confidence of the top label, in [0, 1]; None without rows."""
        top = self.top_label_sums
        return top.confidence_sum / top.n_pairs if top.n_pairs else None

    @cached_property
    def brier(self) -> float | None:
        """Brier score of the top label, in [0, 1]; None without rows."""
        return METRICS["brier"].compute(self.top_label_sums, Scheme())

    def diagram_sums(self, metric: Metric) -> Sums:
        """The sums a reliability diagram of this metric draws: every class of every row, or `sums`."""
        return self.pooled_class_sums if bins_all_classes(metric) else self.sums

    def binned(self, metric: Metric, scheme: Scheme) -> Binned:
        """The bins of that diagram; raises Unavailable where the metric or the bins cannot be given."""
        if reason := self.unavailable_reason(metric, scheme):
            raise Unavailable(reason)
        binned = self.diagram_sums(metric).binned(scheme)
        if scheme.binning == "natural" and binned.size > MAX_NATURAL_BINS:
            raise Unavailable(
                f"Natural bins, one a distinct value, are offered up to {MAX_NATURAL_BINS} values; "
                f"“{self.method.title}” has {binned.size:,} here. Choose equal-width or equal-mass bins."
            )
        return binned


def bins_all_classes(metric: Metric) -> bool:
    """Whether the bins behind this metric hold one pair a class."""
    return metric.needs == "distribution" and metric.binned
