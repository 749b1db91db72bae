"""What does one method say of one run of answers?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calib_core.analysis.basis import Evidence, RowUnit, bins_all_classes
from calib_core.analysis.pair_draws import BinomialDraws
from calib_core.analysis.redrawn import BinnedNullDraws
from calib_core.analysis.row_draws import CategoricalDraws
from calib_core.analysis.trials import design_effect, cluster_numbers
from calib_core.bins import BinSums, Scheme
from calib_core.confidence.method import Confidences
from calib_core.metrics.metric import Metric
from calib_core.pairs import Distribution, Pairs
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun


@dataclass(frozen=True, eq=False)
class AnswerEvidence(Evidence):
    """The pairs of a run of answers, and their sums. confidences: what the method says of every row."""

    run: AnswerRun
    confidences: Confidences

    @property
    def unit(self) -> RowUnit:
        """Rows: one question each."""
        return "rows"

    @property
    def n_used(self) -> int:
        """Rows with a confidence and an outcome."""
        return self.confidences.pairs.n

    @cached_property
    def design_effect(self) -> float:
        """By the questions that are asked again."""
        return design_effect(cluster_numbers(self.run, self.confidences.pairs.rows))

    @property
    def judged(self) -> str:
        """As the method says."""
        return self.confidences.judged

    @property
    def recipe_parts(self) -> tuple[str, ...]:
        """As the method says."""
        return self.confidences.recipe

    @property
    def missing(self) -> Mapping[str, int]:
        """Reason → rows without this confidence."""
        return self.confidences.missing

    @property
    def remarks(self) -> tuple[str, ...]:
        """Of the method's rows, and of the file's."""
        return (*self.confidences.remarks, *self.run.row_counts.notes)

    @property
    def has_distribution(self) -> bool:
        """Whether the rows have choices with a probability each, summing to 1 or not."""
        return self.confidences.distribution is not None

    @property
    def no_questions_reason(self) -> None:
        """Every pair is of a question that can be looked up."""
        return

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs that metrics of one confidence pool: the top label's, or every label's."""
        if self.options.labels == "top":
            return self.confidences.pairs
        if self.confidences.distribution is None:
            one = (
                f"“{self.method.title}” gives one confidence a question: "
                "pooling all labels needs the probability of every choice."
            )
            raise Unavailable(self.confidences.no_distribution_reason or one)
        return self.confidences.distribution.all_label_pairs()

    @cached_property
    def sums(self) -> BinSums:
        """Sums of `pairs`."""
        return self.pairs.sums()

    @cached_property
    def class_sums(self) -> BinSums:
        """Sums of every class of every row, by class; raises Unavailable without a whole distribution."""
        return self._full_distribution.sums()

    @cached_property
    def pooled_class_sums(self) -> BinSums:
        """`class_sums` with all classes in one pool."""
        return self.class_sums.pooled()

    def class_sums_for(self, metric: Metric) -> BinSums:
        """`class_sums`, or pooled where the metric does not keep classes apart."""
        return self.class_sums if metric.required_sums == "classes" else self.pooled_class_sums

    @property
    def _full_distribution(self) -> Distribution:
        distribution = self.confidences.distribution
        if distribution is None or not distribution.normalised:
            raise Unavailable(self.no_distribution_reason or "")
        return distribution

    @property
    def no_distribution_reason(self) -> str | None:
        """Why there is no whole distribution to speak of, or None."""
        distribution = self.confidences.distribution
        if distribution is None:
            whole = f"“{self.method.title}” gives one number a question, not a whole distribution."
            return self.confidences.no_distribution_reason or whole
        if not distribution.normalised:
            return (
                "Unrenormalised choices are no distribution: "
                "metrics of all classes need them renormalised (--renormalise)."
            )
        return None

    def data_shortfall(self, metric: Metric, scheme: Scheme) -> str | None:
        """A whole distribution, where the metric needs one; every scheme can be served."""
        del scheme
        return self.no_distribution_reason if metric.needs == "distribution" else None

    def labels_text(self, *, all_classes: bool) -> str | None:
        """Of a row without choices, which has one confidence, nothing is said."""
        distribution = self.confidences.distribution
        if distribution is None:
            return None
        if not all_classes and self.options.labels == "top":
            return "top label"
        low, high = int(distribution.sizes.min()), distribution.n_classes
        choices = f"K={low}" if low == high else f"K={low}–{high}"
        return f"{'all classes' if all_classes else 'all labels'}, {choices}"

    @cached_property
    def n_distinct(self) -> int:
        """How many different confidences `sums` holds."""
        return self.sums.natural_bins().size

    def value_counts(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Every distinct confidence of the top label, and the rows at each."""
        cells = self.top_label.sums.cells
        return cells.value, cells.count

    def share_at(self, value: float) -> float | None:
        """Share of rows whose top label has exactly this confidence; None without rows."""
        confidence = self.confidences.pairs.confidence
        return float(np.count_nonzero(confidence == value)) / confidence.size if confidence.size else None

    def diagram_pairs(self, metric: Metric) -> Pairs:
        """The pairs behind `diagram_sums`."""
        distribution = self.confidences.distribution
        if distribution is None or not bins_all_classes(metric):
            return self.pairs
        return distribution.all_label_pairs()

    def null_draws(self, metric: Metric, scheme: Scheme) -> BinnedNullDraws | None:
        """Of every metric with bins, where the choices, if they are pooled, sum to 1."""
        if not metric.binned or not self.n_used:
            return None
        if metric.needs == "distribution":
            return self._categorical_draws.null_draws(self.class_sums_for(metric), scheme)
        if self.options.labels == "top":
            return self._binomial_draws.null_draws(scheme)
        if self.no_distribution_reason or scheme.binning != "width":
            return None
        return self._categorical_draws.null_draws(self.sums, scheme)

    @cached_property
    def _binomial_draws(self) -> BinomialDraws:
        return BinomialDraws(self.sums)

    @cached_property
    def _categorical_draws(self) -> CategoricalDraws:
        return CategoricalDraws(self._full_distribution)
