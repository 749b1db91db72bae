"""One run as seen by one confidence method: the pairs of confidence and outcome, and their sums.

The sums are computed once and read by every result.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import cached_property
from types import MappingProxyType
from typing import Final, Literal, Self, overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.bins import MAX_NATURAL_BINS, Binned, BinSums, Sums
from calib_core.edges import Scheme
from calib_core.errors import Suspicion, Unavailable
from calib_core.inference.calibration_test import FINEST, CalibrationSums, stated_ends, within_rounding
from calib_core.inference.cluster_draws import (
    ClusterDraws,
    WeightedDraws,
    correlated_uniforms,
    shared_probability,
    too_few_clusters,
)
from calib_core.inference.clusters import cluster_numbers, design_effect, effective_number
from calib_core.inference.fitted_null import FittedNull
from calib_core.inference.missingness import Missingness, compare_missing
from calib_core.inference.null import (
    BinnedNullDraws,
    BinomialDraws,
    CategoricalDraws,
    ConfidenceMoments,
    sum_draws,
    sum_sparse_draws,
)
from calib_core.inference.optimism import Optimism, score_note, split_gap
from calib_core.inference.suspicion import suspicions
from calib_core.inference.text_test import DEPENDENT_POSITIONS
from calib_core.inference.verdict import (
    DEFAULT_TOLERANCE,
    MIN_ROWS,
    Verdict,
    judge,
    judge_texts,
    untested_reason,
)
from calib_core.methods import METHOD_IDS, METHODS, methods_of
from calib_core.methods.answers.outcomes import JUDGED_ANSWER_NAMES
from calib_core.methods.choice import CHOICE, at_least_pairs, no_levels_reason
from calib_core.methods.method import Confidences, Method, MethodOptions
from calib_core.methods.self_consistency import HELD_OUT_JUDGED
from calib_core.methods.token_level import TOKENS
from calib_core.metrics import METRICS
from calib_core.metrics.metric import ORDERED_SUMS, Metric
from calib_core.pairs import Distribution, Pairs, UnpairedOutcomes, unequal
from calib_core.runs import AnswerRun, RowCounts, Run, TokenRun
from calib_core.terms import ProbabilityOf, Terms
from calib_core.tokens.bounds import full_ece_bounds, largest_exact_bins
from calib_core.tokens.grid import GRID_CELLS, GridSums, unserved_reason
from calib_core.tokens.sums import N_CLASS_DRAWS
from calib_core.wording import format_count, plural

RowUnit = Literal["rows", "positions"]
"""What is counted: questions (rows of a file) or positions of a text."""

NO_ANSWER_METHODS: Final = (
    "a token-level run holds the distribution at each position of a text, and no answers"
)
"""Why no method for answers applies to a token-level run."""

NO_SQUARED_SUMS: Final = (
    "Only the largest entries of each position are stored, so the squares of the others are not known."
)
"""Why metrics that need squared probabilities are unavailable for truncated distributions."""

NO_ALL_LABELS: Final = "Only the largest entries of each position are stored: all labels need every entry."
"""Why all labels cannot be pooled for truncated distributions."""

NOT_FITTED_TO_SUMS: Final = "a model is fitted to rows, and a token-level run keeps sums only"
"""Why no model is fitted to a token-level run."""

NOT_FITTED_TO_WEIGHTS: Final = "the model that would be fitted counts every row alike, and rows have weights"
"""Why no model is fitted to rows with weights."""

INDEPENDENT_DRAWS: Final = (
    "Values of a calibrated model are those of independent positions; as positions of a text depend on one "
    "another, chance may make them larger."
)
"""What null draws of a token-level run don't show."""

NOT_USABLE: Final = "no confidence or outcome"
"""Why a row of a subset is not used; the exact reason is known for the whole run only."""


@dataclass(frozen=True, eq=False)
class Evidence(ABC):
    """One run as seen by one method under one set of options.

    Each sum is computed on first use and cached, so that choosing another metric or another M never goes
    back to the rows.

    Attributes
    ----------
    run : Run
    method : Method
    options : MethodOptions
        Among them which labels are pooled (the top label of each row, or every label), and the tolerance of
        the verdict.
    """

    run: Run
    method: Method
    options: MethodOptions

    def __getstate__(self) -> dict[str, object]:
        """What is pickled: not what was computed from it, which is computed again."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @property
    @abstractmethod
    def unit(self) -> RowUnit:
        """What `n_used` counts."""

    @property
    @abstractmethod
    def n_used(self) -> int:
        """Number of rows or positions with a confidence and an outcome."""

    @property
    def weight(self) -> NDArray[np.float64] | None:
        """How many cases each usable row stands for, shape (n_used,); None where all count alike."""
        return None

    @cached_property
    def n_effective(self) -> float:
        """Number of rows of equal weight worth as much as these, (Σ w)² / Σ w² (Kish 1965)."""
        return self.n_used if self.weight is None else effective_number(self.weight)

    @property
    def weights_text(self) -> str | None:
        """How rows are weighted, for recipes: "weighted by column weight, effective n=870.3"; None if not."""
        return None

    @cached_property
    def design_effect(self) -> float:
        """Design effect (Kish 1965) of repeated questions in the worst case, or of positions of a text.

        1 where each question is asked once; infinite where it is not known how positions depend.
        """
        return 1.0

    @cached_property
    @abstractmethod
    def verdict(self) -> Verdict:
        """The verdict on the run as seen by this method, by its top label: the same wherever it is shown."""

    @property
    @abstractmethod
    def untested_reason(self) -> str | None:
        """Why the verdict is not tested, as a sentence; None where it is."""

    @cached_property
    @abstractmethod
    def moved_ends(self) -> tuple[float, float]:
        """How much larger Σ c of the top label is at what 0, and what 1, stands for; see `stated_ends`."""

    @cached_property
    def missingness(self) -> Missingness | None:
        """Accuracy of rows without a confidence beside that of the others; None where no row lacks one."""
        return None

    @cached_property
    def every_outcome(self) -> Self:
        """The same rows, and those that have an outcome alone: for accuracy, which needs no confidence."""
        return self

    @property
    def terms(self) -> Terms:
        """The words for these probabilities and outcomes."""
        return self.method.terms

    @property
    def tolerance(self) -> float:
        """Mean of |c − P(right)|, in [0, 1], up to which the verdict calls miscalibration tolerable."""
        return DEFAULT_TOLERANCE if self.options.tolerance is None else self.options.tolerance

    def with_tolerance(self, tolerance: float | None) -> Self:
        """The same rows, judged with this tolerance; None for the default."""
        other = replace(self, options=replace(self.options, tolerance=tolerance))
        return other.with_verdict(self.verdict) if "verdict" in vars(self) else other

    def with_verdict(self, verdict: Verdict) -> Self:
        """The same rows, with their verdict computed before, whatever tolerance it has."""
        same = replace(self)
        vars(same)["verdict"] = verdict.with_tolerance(self.tolerance)  # where cached_property keeps it
        return same

    @cached_property
    def no_null_reason(self) -> str | None:
        """Why no outcomes are drawn for any metric, so that nothing has a p-value; None where they are."""
        return None

    @property
    def no_p_reason(self) -> str | None:
        """Why metrics have no p-value though outcomes are drawn; None where they have one."""
        return None

    def no_fitted_reason(self, metric: Metric) -> str | None:
        """Why no outcomes are drawn from a fitted model for this metric; None where they are."""
        if metric.needs != "pairs" or self.options.labels != "top":
            return "a fitted model has one confidence per row"
        if not metric.binned or metric.divisor is None:
            return "a fitted model is compared with a sum of gaps only"
        return None

    def fitted_null(self, widest: Scheme) -> FittedNull:
        """Draws from a model that fits the run and whose gaps cancel within no bin of `widest`.

        Raises
        ------
        Unavailable
            With the reason, where there is no such model.
        """
        del widest
        raise Unavailable(NOT_FITTED_TO_SUMS)

    @property
    def n_total(self) -> int:
        """Number of rows or positions of the run in its file."""
        return self.run.n_total

    @property
    @abstractmethod
    def judged(self) -> str:
        """Which answer the outcome belongs to: "greedy answer", "its own top label"."""

    @cached_property
    def optimism(self) -> Optimism | None:
        """The gap of F_CS and of its held-out share; None for another method, or where not known."""
        return None

    @property
    def score_note(self) -> str | None:
        """Whether the numbers are about a score or about the model; None where they are about the model."""
        if self.method.score_name is None:
            return None
        return score_note(
            self.method.score_name,
            self.optimism,
            is_share=self.method.holds_out,
            held_out=self.options.held_out,
        )

    @property
    @abstractmethod
    def recipe_parts(self) -> tuple[str, ...]:
        """The method's own part of a recipe."""

    @property
    def corrections_text(self) -> str:
        """What a table of corrections changed, to stand before the rows in a recipe; "" without one."""
        corrections = None if isinstance(self.run, TokenRun) else self.run.corrections
        return "" if corrections is None else f"{corrections.recipe}, "

    @property
    @abstractmethod
    def missing(self) -> Mapping[str, int]:
        """Reason → number of rows without this confidence."""

    @property
    def suspicions(self) -> tuple[Suspicion, ...]:
        """What suggests that the file means something else than it was taken for."""
        return ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """The suspicions in words; part of `remarks`."""
        return tuple(suspicion.text for suspicion in self.suspicions)

    @property
    @abstractmethod
    def remarks(self) -> tuple[str, ...]:
        """What a reader of any number from this evidence has to know about its rows and its file."""

    @property
    @abstractmethod
    def has_distribution(self) -> bool:
        """Whether every class of every row has a probability, so that the labels can be chosen."""

    @property
    @abstractmethod
    def no_questions_reason(self) -> str | None:
        """Why single questions cannot be looked up; None where they can."""

    @cached_property
    @abstractmethod
    def sums(self) -> Sums:
        """Sums of the pairs that metrics of one confidence pool: the top label's, or every label's."""

    @abstractmethod
    def class_sums_for(self, metric: Metric) -> Sums:
        """Sums over every class of every row, grouped the way this metric needs.

        Raises
        ------
        Unavailable
            Where the run has no complete distribution.
        """

    @cached_property
    @abstractmethod
    def pooled_class_sums(self) -> Sums:
        """Sums over every class of every row, in one pool."""

    @abstractmethod
    def labels_text(self, *, all_classes: bool) -> str | None:
        """Pooled labels and their number: "top label", "all classes, K=4"; None without choices."""

    @cached_property
    @abstractmethod
    def n_distinct(self) -> int | None:
        """Number of distinct confidences in `sums`; None where single confidences are not kept."""

    @abstractmethod
    def value_counts(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Top-label confidences known individually, and how many rows have each.

        Returns
        -------
        confidence : NDArray[np.float64], shape (n_values,)
        count : NDArray[np.int64], shape (n_values,)
        """

    @abstractmethod
    def share_at(self, value: float) -> float | None:
        """Share of rows whose top label has exactly this confidence; None where that is not known."""

    @abstractmethod
    def null_draws(self, metric: Metric, scheme: Scheme) -> BinnedNullDraws | None:
        """The bins of this metric with outcomes drawn from the confidences themselves.

        Returns None where there is no null distribution.
        """

    def bounds(self, metric: Metric, scheme: Scheme) -> tuple[float, float] | None:
        """Lower and upper bound of the metric where its exact value cannot be known; None where it can."""
        del metric, scheme
        return None

    def exactness_note(self, metric: Metric, scheme: Scheme) -> str | None:
        """A remark on a number that is exact only for some M; None where there is nothing to say."""
        del metric, scheme
        return None

    @abstractmethod
    def data_shortfall(self, metric: Metric, scheme: Scheme) -> str | None:
        """What the file lacks for this metric under this scheme; None where it lacks nothing."""

    def unavailable_reason(self, metric: Metric, scheme: Scheme) -> str | None:
        """Why this metric is unavailable under this scheme, or None; needs no pass over the rows."""
        if metric.binning not in (None, scheme.binning):
            return f"{metric.title} is defined on equal-{metric.binning} bins only."
        all_labels = metric.needs == "pairs" and self.options.labels == "all"
        if all_labels and not metric.all_labels:
            return f"{metric.title} uses the top label only and has no all-labels form."
        return self.data_shortfall(metric, scheme)

    def sums_for(self, metric: Metric, scheme: Scheme) -> Sums:
        """The sums from which this metric is computed.

        Raises
        ------
        Unavailable
            With the reason from `unavailable_reason`.
        """
        if reason := self.unavailable_reason(metric, scheme):
            raise Unavailable(reason)
        return self.class_sums_for(metric) if metric.needs == "distribution" else self.sums

    @cached_property
    def null_cache(self) -> dict[tuple[str, Scheme], tuple[int, NDArray[np.float64]]]:
        """Null draws already made for this evidence: metric and scheme → seed and value of each draw."""
        return {}

    @cached_property
    def offers_natural_bins(self) -> bool:
        """Whether natural bins (one bin for each distinct value) are offered; never for sums on a grid."""
        return False

    @cached_property
    def top_label(self) -> Self:
        """The same rows, using only their top label, whichever labels are pooled here."""
        if self.options.labels == "top":
            return self
        return replace(self, options=replace(self.options, labels="top"))

    @property
    def top_label_sums(self) -> Sums:
        """Sums of one pair a row, for accuracy and mean confidence, whichever labels are pooled."""
        return self.top_label.sums

    @cached_property
    def accuracy(self) -> float | None:
        """Share of rows whose top label is right, in [0, 1]; None without rows."""
        return METRICS["accuracy"].compute(self.top_label_sums, Scheme())

    @cached_property
    def mean_confidence(self) -> float | None:
        """Mean confidence of the top label, in [0, 1], weighted where rows are; None without rows."""
        top = self.top_label_sums
        return top.confidence_sum / top.n_pairs if top.n_pairs else None

    @cached_property
    def brier(self) -> float | None:
        """Brier score of the top label, in [0, 1]; None without rows."""
        return METRICS["brier"].compute(self.top_label_sums, Scheme())

    def diagram_sums(self, metric: Metric) -> Sums:
        """The sums behind this metric's reliability diagram: every class of every row, or `sums`."""
        return self.pooled_class_sums if bins_all_classes(metric) else self.sums

    def binned(self, metric: Metric, scheme: Scheme) -> Binned:
        """The bins of this metric's reliability diagram.

        Raises
        ------
        Unavailable
            Where the evidence does not support the metric, or there are more than `MAX_NATURAL_BINS`
            natural bins.
        """
        if reason := self.unavailable_reason(metric, scheme):
            raise Unavailable(reason)
        binned = self.diagram_sums(metric).binned(scheme)
        if scheme.binning == "natural" and binned.n_bins > MAX_NATURAL_BINS:
            raise Unavailable(
                f"Natural bins, one per distinct value, are available up to {MAX_NATURAL_BINS} values; "
                f"“{self.method.title}” has {binned.n_bins:,}. Choose equal-width or equal-mass bins."
            )
        return binned


def refuse_weights(evidence: Evidence, what: str) -> None:
    """Raise Unavailable for rows with weights; `what` counts every row alike, and begins the sentence."""
    if evidence.weight is not None:
        raise Unavailable(weights_refusal(what))


def weights_refusal(what: str) -> str:
    """Why something is not computed for rows with weights.

    Examples
    --------
    >>> weights_refusal("A cascade")
    'A cascade counts every row alike, and these rows have weights (column weight).'
    """
    return f"{what} counts every row alike, and these rows have weights (column weight)."


def weights_remark(n_used: int, n_effective: float) -> str:
    """What a reader of numbers of weighted rows has to know.

    Examples
    --------
    >>> weights_remark(100, 64.25)
    'Rows are weighted by the column weight: 100 rows are worth 64.2 of equal weight.'
    """
    worth = f"{plural(n_used, 'row')} are worth {format_count(n_effective)} of equal weight"
    return f"Rows are weighted by the column weight: {worth}."


def bins_all_classes(metric: Metric) -> bool:
    """Whether the bins behind this metric hold one pair for each class of each row."""
    return metric.needs == "distribution" and metric.binned


# --- Runs of answers ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class AnswerEvidence(Evidence):
    """The pairs of a run of answers, and their sums.

    Attributes
    ----------
    run : AnswerRun
    confidences : Confidences
        What the method computed for each row.
    """

    run: AnswerRun
    confidences: Confidences

    @property
    def unit(self) -> RowUnit:
        """Rows, one question each."""
        return "rows"

    @property
    def n_used(self) -> int:
        """Number of rows with a confidence and an outcome, and a weight above 0 where rows have weights."""
        return self.confidences.pairs.n

    @property
    def weight(self) -> NDArray[np.float64] | None:
        """As in `Evidence.weight`."""
        return self.confidences.pairs.weight

    @property
    def weights_text(self) -> str | None:
        """As in `Evidence.weights_text`."""
        if not self.run.has_columns("weight"):
            return None
        if self.weight is None:
            return "weighted by column weight, all equal"
        return f"weighted by column weight, effective n={format_count(self.n_effective)}"

    @cached_property
    def cluster(self) -> NDArray[np.intp] | None:
        """Question of each usable row, numbered from 0, shape (n_used,); None where none is repeated."""
        return cluster_numbers(self.run, self.confidences.pairs.used_rows)

    @cached_property
    def last_split(self) -> dict[Hashable, dict[str, AnswerEvidence]]:
        """How the rows were last split: by what → group → its evidence."""
        return {}

    @cached_property
    def design_effect(self) -> float:
        """Design effect of the questions that are asked more than once."""
        return design_effect(self.cluster, self.weight)

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict by the top label of each row, or its only confidence."""
        pairs = self.confidences.pairs
        verdict = judge(
            pairs.confidence,
            pairs.correct,
            self.cluster,
            tolerance=self.tolerance,
            sums=self.top_label.sums,
            of=self.method.probability_of,
            weight=pairs.weight,
        )
        return verdict if self.missingness is None else replace(verdict, scope=self.missingness.scope)

    @property
    def untested_reason(self) -> str | None:
        """As in `Evidence.untested_reason`, without the test."""
        return untested_reason(self.n_used, self.cluster, self.weight)

    @cached_property
    def moved_ends(self) -> tuple[float, float]:
        """As in `Evidence.moved_ends`; in weights, where rows have them."""
        pairs = self.confidences.pairs
        at_zero, at_one = stated_ends(pairs.confidence, pairs.correct, pairs.weight)
        return at_zero.moved, at_one.moved

    @cached_property
    def missingness(self) -> Missingness | None:
        """As in `Evidence.missingness`, for the outcome of the judged answer."""
        if self.confidences.unpaired is None:
            return None
        every = self.every_outcome
        pairs = every.confidences.pairs
        has_confidence = np.isin(pairs.rows, self.confidences.pairs.rows, assume_unique=True)
        return compare_missing(
            pairs.correct,
            has_confidence,
            every.cluster,
            of=self.method.probability_of,
            weight=pairs.weight,
        )

    @cached_property
    def every_outcome(self) -> AnswerEvidence:
        """As in `Evidence.every_outcome`; confidences are 0 in rows that have none."""
        confidences, unpaired = self.confidences, self.confidences.unpaired
        if unpaired is None:
            return self
        rows = np.concatenate([confidences.pairs.rows, unpaired.rows])
        order = np.argsort(rows, kind="stable")
        pairs = Pairs(
            np.append(
                confidences.pairs.confidence,
                np.zeros_like(unpaired.correct, confidences.pairs.confidence.dtype),
            )[order],
            np.concatenate([confidences.pairs.correct, unpaired.correct])[order],
            rows[order],
            confidences.pairs.computed,
            run_weights(self.run, rows[order]),
        )
        every = Confidences(
            pairs, confidences.judged, confidences.recipe, probability_of=confidences.probability_of
        )
        return AnswerEvidence(self.run, self.method, replace(self.options, labels="top"), every)

    @cached_property
    def no_null_reason(self) -> str | None:
        """Too few different questions, where some are repeated."""
        return None if self.cluster is None else too_few_clusters(self.cluster, self.weight)

    def no_fitted_reason(self, metric: Metric) -> str | None:
        """As in `Evidence.no_fitted_reason`; also where the rows or questions are too few to judge."""
        if self.weight is not None:
            return NOT_FITTED_TO_WEIGHTS
        few = (
            self.verdict.reason.removeprefix("Not judged: ").rstrip(".")
            if self.verdict.kind == "few"
            else None
        )
        return super().no_fitted_reason(metric) or few

    def fitted_null(self, widest: Scheme) -> FittedNull:
        """As in `Evidence.fitted_null`; the model and its draws are made once for each widest scheme."""
        if self.weight is not None:
            raise Unavailable(NOT_FITTED_TO_WEIGHTS)
        if widest not in self._fitted_nulls:
            pairs = self.confidences.pairs
            self._fitted_nulls[widest] = FittedNull(
                self.top_label.sums, pairs.confidence, pairs.correct, self.cluster, widest
            )
        return self._fitted_nulls[widest]

    @cached_property
    def _fitted_nulls(self) -> dict[Scheme, FittedNull]:
        return {}

    @property
    def judged(self) -> str:
        """As given by the method."""
        return self.confidences.judged

    @cached_property
    def optimism(self) -> Optimism | None:
        """As in `Evidence.optimism`; None where another answer is judged, or only the file's majority."""
        held_out = self.options.held_out
        judged = HELD_OUT_JUDGED if held_out else JUDGED_ANSWER_NAMES["majority"]
        if not self.method.holds_out or self.judged != judged or self.weight is not None:
            return None
        try:
            other = self.method.confidences(self.run, replace(self.options, held_out=not held_out)).pairs
        except Unavailable:
            return None
        both = (other, self.confidences.pairs) if held_out else (self.confidences.pairs, other)
        return split_gap(*both, cluster_numbers(self.run, both[0].rows))

    @property
    def recipe_parts(self) -> tuple[str, ...]:
        """As given by the method, and what was corrected."""
        corrections = self.run.corrections
        return (*self.confidences.recipe, *([] if corrections is None else [corrections.recipe]))

    @property
    def missing(self) -> Mapping[str, int]:
        """Reason → number of rows without this confidence."""
        return self.confidences.missing

    @property
    def remarks(self) -> tuple[str, ...]:
        """Warnings, what weights do, then remarks on the method's rows, then those on the file's."""
        weighted = () if self.weight is None else (weights_remark(self.n_used, self.n_effective),)
        return (*self.warnings, *weighted, *self.confidences.remarks, *self.run.row_counts.notes)

    @property
    def suspicions(self) -> tuple[Suspicion, ...]:
        """What suggests that the file means something else than it was taken for."""
        return self.confidences.suspicions

    @property
    def has_distribution(self) -> bool:
        """Whether the rows have a probability for each choice, summing to 1 or not."""
        return self.confidences.distribution is not None

    @property
    def no_questions_reason(self) -> None:
        """None: every pair belongs to a question that can be looked up."""
        return

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs that metrics of one confidence pool: the top label's, or every label's."""
        if self.options.labels == "top":
            return self.confidences.pairs
        if self.confidences.distribution is None:
            single_label_reason = (
                f"“{self.method.title}” gives one confidence per question; all labels need the probability "
                "of every choice."
            )
            raise Unavailable(self.confidences.no_distribution_reason or single_label_reason)
        return self.confidences.distribution.all_label_pairs()

    @cached_property
    def sums(self) -> BinSums:
        """Sums of `pairs`."""
        return self.pairs.sums()

    @cached_property
    def class_sums(self) -> BinSums:
        """Sums over every class of every row, by class; Unavailable without a complete distribution."""
        return self._full_distribution.sums()

    @cached_property
    def pooled_class_sums(self) -> BinSums:
        """`class_sums` with all classes in one pool."""
        return self.class_sums.pooled()

    def class_sums_for(self, metric: Metric) -> BinSums:
        """`class_sums`, pooled unless the metric needs sums by class; or those of what a decision has."""
        if metric.required_sums in ("cuts", "ranks"):
            return self.pairs_for(metric).sums()
        if metric.required_sums == "distances":
            pairs = self.pairs_for(metric)
            return BinSums.from_pairs(
                pairs.confidence,
                pairs.correct,
                n_groups=self.length_of_scale + 1,
                computed=True,
                copy=False,
                weight=pairs.weight,
            )
        return self.class_sums if metric.required_sums == "classes" else self.pooled_class_sums

    def pairs_for(self, metric: Metric) -> Pairs:
        """The pairs that a metric is computed from.

        One for each row, or for each class of each row. For "cuts", one for each row and cut of the scale.
        For "distances", one for each row: how far the expected level is from the right one, as a share of
        the scale's length, with the outcome 0. For "ranks", the place of each row among the distinct values
        of the server's confidence, from 0 to 1, so that only their order is left.
        """
        if metric.required_sums == "ranks":
            top = self.confidences.pairs
            of_server = self.run.rows["server_confidence"].to_numpy()[top.rows]
            place = np.unique(of_server, return_inverse=True)[1]
            return replace(top, confidence=place / max(int(place.max()), 1), computed=False)
        if metric.needs == "pairs":
            return self.pairs
        distribution = self._full_distribution
        if metric.required_sums not in ORDERED_SUMS:
            return distribution.all_label_pairs()
        pairs = at_least_pairs(distribution, np.arange(1, distribution.n_classes))
        if metric.required_sums == "cuts":
            return pairs
        gap = (pairs.confidence - pairs.correct).reshape(distribution.n, -1)
        share = np.minimum(np.abs(gap.mean(axis=1)), 1.0)
        never = np.zeros(share.size, np.bool_)
        return Pairs(share, never, distribution.rows, computed=True, weight=distribution.weight)

    @property
    def length_of_scale(self) -> int:
        """K − 1, the number of steps from the lowest of K levels to the highest."""
        return self._full_distribution.n_classes - 1

    @property
    def _full_distribution(self) -> Distribution:
        distribution = self.confidences.distribution
        if distribution is None or not distribution.normalised:
            raise Unavailable(self.no_distribution_reason or "")
        return distribution

    @property
    def no_distribution_reason(self) -> str | None:
        """Why the method has no complete distribution; None where it does."""
        distribution = self.confidences.distribution
        if distribution is None:
            single_value_reason = (
                f"“{self.method.title}” gives one number per {self.terms.question}, not a whole distribution."
            )
            return self.confidences.no_distribution_reason or single_value_reason
        if not distribution.normalised:
            return (
                "Choices that are not renormalised are not a distribution: metrics of all classes need "
                "them renormalised."
            )
        return None

    def data_shortfall(self, metric: Metric, scheme: Scheme) -> str | None:
        """The lack of a complete distribution, where the metric needs one; every scheme is possible."""
        del scheme
        if self.weight is not None and not metric.takes_weights:
            return f"{metric.title} is not defined for rows with weights."
        if metric.required_sums in ORDERED_SUMS and (reason := no_levels_reason(self.run)):
            return f"{metric.title} needs a scale with one order of levels: {reason}."
        if metric.required_sums == "ranks" and (reason := self._no_ranks_reason):
            return f"{metric.worded(self.terms).title} is not known: {reason}."
        return self.no_distribution_reason if metric.needs == "distribution" else None

    @property
    def _no_ranks_reason(self) -> str | None:
        """Why there is no server's confidence to rank these rows by; None where there is."""
        if self.method is not CHOICE:
            return f"a server ranks decisions as “{CHOICE.title}” has them"
        if not self.run.has_columns("server_confidence"):
            return "no row has a number as server_confidence"
        of_server = self.run.rows["server_confidence"].gather(pl.Series(self.confidences.pairs.rows))
        n_lacking = of_server.null_count()
        return f"{plural(n_lacking, 'row')} without server_confidence" if n_lacking else None

    def labels_text(self, *, all_classes: bool) -> str | None:
        """As in `Evidence.labels_text`; None for rows without choices, which have one confidence each."""
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
        """Number of distinct confidences in `sums`."""
        return self.sums.n_natural_bins

    @cached_property
    def offers_natural_bins(self) -> bool:
        """Up to `MAX_NATURAL_BINS` distinct confidences."""
        return not self.sums.has_more_natural_bins(MAX_NATURAL_BINS)

    def value_counts(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Every distinct confidence of the top label, and how many rows have each."""
        cells = self.top_label.sums.distinct
        return cells.value, np.asarray(cells.count if cells.pairs is None else cells.pairs, np.int64)

    def share_at(self, value: float) -> float | None:
        """Share of rows whose top label has exactly this confidence; None without rows."""
        confidence = self.confidences.pairs.confidence
        if self.weight is not None:
            return float(self.weight[confidence == value].sum() / self.weight.sum())
        return float(np.count_nonzero(confidence == value)) / confidence.size if confidence.size else None

    def diagram_pairs(self, metric: Metric) -> Pairs:
        """The pairs behind `diagram_sums`."""
        distribution = self.confidences.distribution
        if distribution is None or not bins_all_classes(metric):
            return self.pairs
        return distribution.all_label_pairs()

    def has_null(self, metric: Metric, scheme: Scheme) -> bool:
        """Whether outcomes are drawn for a metric, without drawing any.

        They are for every metric with bins; where all labels are pooled, only if the choices sum to 1.
        """
        if not metric.binned or self.n_effective < MIN_ROWS or self.no_null_reason:
            return False
        if metric.needs == "pairs" and self.options.labels == "top":
            return True
        if self.weight is not None:  # draws of a class are counted, not weighted
            return False
        return metric.needs == "distribution" or (
            not self.no_distribution_reason and scheme.binning == "width"
        )

    def null_draws(self, metric: Metric, scheme: Scheme) -> BinnedNullDraws | None:
        """As `has_null` says.

        Outcomes of repeated questions are drawn as alike as they are in the data; see `cluster_draws`.
        """
        if not self.has_null(metric, scheme):
            return None
        if metric.needs == "distribution":
            return self._categorical_draws.null_draws(self.class_sums_for(metric), scheme)
        if self.options.labels == "top":
            return self._top_label_draws.null_draws(scheme)
        return self._categorical_draws.null_draws(self.sums, scheme)

    @cached_property
    def _top_label_draws(self) -> BinomialDraws | ClusterDraws | WeightedDraws:
        """Draws at the confidences, and at what 0 and 1 stand for, as in the verdict."""
        said, correct, weight = self.pairs.confidence, self.pairs.correct, self.weight
        if weight is not None:
            chance = within_rounding(said, correct, weight)[0]
            return WeightedDraws(self.sums, said, correct, weight, self.cluster, chance)
        if self.cluster is not None:
            return ClusterDraws(self.sums, said, correct, self.cluster, within_rounding(said, correct)[0])
        return BinomialDraws(self.sums, self.moved_ends)

    @cached_property
    def _categorical_draws(self) -> CategoricalDraws:
        distribution = self._full_distribution
        cluster = cluster_numbers(self.run, distribution.rows)
        if cluster is None:
            return CategoricalDraws(distribution)
        top = distribution.top_label_pairs()
        shared = shared_probability(top.confidence.astype(np.float64), top.correct, cluster)
        return CategoricalDraws(distribution, lambda random: correlated_uniforms(random, cluster, shared))


# --- Token-level runs -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TokenEvidence(Evidence):
    """The sums of a token-level run.

    A position contributes one pair (its top label), or K pairs where all classes are pooled.

    Attributes
    ----------
    run : TokenRun

    Raises
    ------
    Unavailable
        Where the run has no positions, or all labels are requested but only the largest entries of each
        position are stored.
    """

    run: TokenRun

    def __post_init__(self) -> None:
        """Check that the requested labels can be pooled."""
        if not self.run.sums.n_rows:
            raise Unavailable("the run has no positions")
        if self.options.labels == "all" and self.run.sums.unstored is not None:
            raise Unavailable(NO_ALL_LABELS)

    def no_fitted_reason(self, metric: Metric) -> str:
        """As in `Evidence.no_fitted_reason`; sums cannot be cross-fitted in any case."""
        return super().no_fitted_reason(metric) or NOT_FITTED_TO_SUMS

    @property
    def unit(self) -> RowUnit:
        """Positions of a text."""
        return "positions"

    @cached_property
    def design_effect(self) -> float:
        """Design effect of positions of one text, as they correlate; infinite where that is not known."""
        texts, test = self.run.sums.texts, self.verdict.test
        if texts is None or test is None:
            return math.inf
        return 1 + test.correlation * (float((texts.sizes**2).sum()) / self.n_used - 1)

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict by the top label of each position, tested by text."""
        return judge_texts(self._by_cell, self.run.sums.texts, tolerance=self.tolerance)

    @property
    def untested_reason(self) -> str | None:
        """As in `Evidence.untested_reason`."""
        return None if self.verdict.is_tested else self.verdict.reason

    @cached_property
    def moved_ends(self) -> tuple[float, float]:
        """As in `Evidence.moved_ends`, of the first and the last cell of the finest grid."""
        return self._by_cell.moved

    @cached_property
    def _by_cell(self) -> CalibrationSums:
        return CalibrationSums.from_bins(self.top_label_sums.binned(FINEST))

    @property
    def no_p_reason(self) -> str:
        """The draws are of independent positions; what is tested by text, where it is."""
        tested = "; the verdict, tested by text, has one" if self.verdict.is_tested else ""
        return f"{DEPENDENT_POSITIONS}{tested}"

    @property
    def n_used(self) -> int:
        """Number of positions with a distribution and a correct token."""
        return self.run.sums.n_rows

    @property
    def judged(self) -> str:
        """The most probable token of each position."""
        return "its own top label"

    @property
    def recipe_parts(self) -> tuple[str, ...]:
        """How many entries are stored, where that is not all of them."""
        unstored = self.run.sums.unstored
        return () if unstored is None else (f"the {unstored.min_stored:,} largest or more stored",)

    @property
    def missing(self) -> Mapping[str, int]:
        """Empty: a note on the run counts its incomplete positions, and padding is not a position."""
        return MappingProxyType({})

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the values of a calibrated model and the verdict stand on, then remarks on the positions."""
        test = self.verdict.test
        by_text = () if test is None else (f"The verdict is tested by text, over {test.n_clusters:,} texts.",)
        return INDEPENDENT_DRAWS, *by_text, *self.run.row_counts.notes

    @property
    def has_distribution(self) -> bool:
        """Whether every entry is stored."""
        return self.run.sums.unstored is None

    @property
    def no_questions_reason(self) -> str:
        """Positions are summed as they are read, so none can be looked up."""
        return "Token-level runs keep sums only, so a bin has no single positions to show."

    @cached_property
    def sums(self) -> GridSums:
        """One pair a position (its top label), or one a class where all labels are pooled."""
        return self.run.sums.top_label if self.options.labels == "top" else self.run.sums.all_labels

    @cached_property
    def pooled_class_sums(self) -> GridSums:
        """Every class of every position, in one pool."""
        return self.run.sums.all_labels

    def class_sums_for(self, metric: Metric) -> GridSums:
        """Sums by class if the metric needs them; raises Unavailable if they were not kept."""
        if metric.required_sums != "classes":
            return self.run.sums.all_labels
        if self.run.sums.by_class is None:
            raise Unavailable(self.run.sums.no_class_sums_reason or "")
        return self.run.sums.by_class

    def data_shortfall(self, metric: Metric, scheme: Scheme) -> str | None:
        """What the grid does not keep, or a list of the largest entries does not contain."""
        sums = self.run.sums
        if metric.required_sums in ("values", "ranks", *ORDERED_SUMS):
            return (
                f"{metric.title} needs every single confidence, but token-level runs keep sums on a fixed "
                f"grid of {GRID_CELLS:,} cells."
            )
        if metric.binned and (reason := unserved_reason(scheme)):
            return reason
        if metric.required_sums == "classes" and sums.by_class is None:
            return sums.no_class_sums_reason
        if (
            metric.required_sums == "classes"
            and sums.unstored is not None
            and sums.unstored.n_ambiguous[scheme.bins]
        ):
            return (
                f"Entries that are not stored may lie above the first of {scheme.bins} bins; sums by class "
                f"are exact up to M = {largest_exact_bins(sums)}."
            )
        if metric.needs == "distribution" and metric.required_sums == "squares" and sums.unstored is not None:
            return NO_SQUARED_SUMS
        return None

    def labels_text(self, *, all_classes: bool) -> str:
        """As in `Evidence.labels_text`; never None, as there is always more than one class."""
        if not all_classes and self.options.labels == "top":
            return "top label"
        return f"{'all classes' if all_classes else 'all labels'}, K={self.run.sums.n_classes}"

    @cached_property
    def n_distinct(self) -> None:
        """None: the grid keeps no single confidences."""
        return

    def value_counts(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Grid cells whose confidences all agree to a millionth, and how many positions are in each."""
        cells = self.run.sums.top_label.binned(Scheme("width", GRID_CELLS))
        single_valued = cells.has_single_value
        return (cells.confidence / cells.count)[single_valued], np.asarray(
            cells.count[single_valued], np.int64
        )

    def share_at(self, value: float) -> None:
        """None: the grid keeps no single confidences."""
        del value

    def bounds(self, metric: Metric, scheme: Scheme) -> tuple[float, float] | None:
        """Bounds of Full-ECE, where entries that are not stored may lie outside the first bin."""
        ambiguous = self._n_ambiguous(metric, scheme)
        return full_ece_bounds(self.run.sums, scheme.bins) if ambiguous else None

    def exactness_note(self, metric: Metric, scheme: Scheme) -> str | None:
        """The largest M for which Full-ECE is exact, where not every entry is stored."""
        if self.run.sums.unstored is None or metric.needs != "distribution" or not metric.binned:
            return None
        max_exact_bins = largest_exact_bins(self.run.sums)
        range_note = f"Exact up to M = {max_exact_bins}."
        ambiguous = self._n_ambiguous(metric, scheme)
        if not ambiguous:
            return range_note
        return (
            f"{range_note} At M = {scheme.bins} only an interval is known: in {ambiguous:,} of "
            f"{self.n_used:,} positions, entries that are not stored may lie above the first bin."
        )

    def _n_ambiguous(self, metric: Metric, scheme: Scheme) -> int:
        """Number of positions whose unstored entries may change this number."""
        unstored = self.run.sums.unstored
        if unstored is None or not bins_all_classes(metric) or unserved_reason(scheme):
            return 0
        return unstored.n_ambiguous[scheme.bins]

    def binned(self, metric: Metric, scheme: Scheme) -> Binned:
        """As for answers; also raises Unavailable where only bounds of the metric are known."""
        if self._n_ambiguous(metric, scheme) and not self.unavailable_reason(metric, scheme):
            raise Unavailable(f"The bins cannot be drawn. {self.exactness_note(metric, scheme)}")
        return super().binned(metric, scheme)

    def null_draws(self, metric: Metric, scheme: Scheme) -> BinnedNullDraws | None:
        """For every metric with bins and a known value; the draws were made as the positions were read."""
        draws = self.run.sums.draws
        if draws is None or not metric.binned or self._n_ambiguous(metric, scheme):
            return None
        if metric.required_sums == "classes":
            return self._null_draws_by_class(scheme)
        pooled = metric.needs == "distribution" or self.options.labels == "all"
        grid, cell_draws = (
            (self.run.sums.all_labels, draws.all_labels)
            if pooled
            else (self.run.sums.top_label, draws.top_label)
        )
        binned = grid.binned(scheme)
        bin_positions = np.searchsorted(binned.index, grid.cell // (GRID_CELLS // scheme.bins))
        moments = ConfidenceMoments.from_sums(grid.count, grid.confidence, grid.squared_confidence)
        return sum_draws(binned, grid, draws.seed, cell_draws[:, grid.cell], bin_positions, moments)

    def _null_draws_by_class(self, scheme: Scheme) -> BinnedNullDraws | None:
        grid, draws = self.run.sums.by_class, self.run.sums.draws
        if grid is None or draws is None or draws.by_class is None:
            return None
        binned, bins = grid.binned(scheme), np.int64(scheme.bins)
        bin_of_cell = np.searchsorted(
            binned.group * bins + binned.index, grid.group * bins + grid.cell // (GRID_CELLS // scheme.bins)
        )
        draw, n_correct = draws.by_class[:, 0], draws.by_class[:, 3]
        bin_positions = bin_of_cell[self._drawn_cells]
        return sum_sparse_draws(binned, grid, draws.seed, N_CLASS_DRAWS, draw, bin_positions, n_correct)

    @cached_property
    def _drawn_cells(self) -> NDArray[np.intp]:
        """Index of each drawn (class, cell) in the sums by class."""
        grid, draws = self.run.sums.by_class, self.run.sums.draws
        if grid is None or draws is None or draws.by_class is None:
            return np.zeros(0, np.intp)
        group, cell = draws.by_class[:, 1], draws.by_class[:, 2]
        return np.searchsorted(
            grid.group * np.int64(GRID_CELLS) + grid.cell, group * np.int64(GRID_CELLS) + cell
        )


# --- Gathering evidence ---------------------------------------------------------------------------


def get_method(method_id: str) -> Method:
    """The method with this id; raises Unavailable for an unknown id."""
    try:
        return METHODS[method_id]
    except KeyError:
        raise Unavailable(f"There is no method {method_id!r}. Methods: {METHOD_IDS}.") from None


def kind_of(evidences: Iterable[Evidence]) -> ProbabilityOf:
    """What the probabilities of evidences of one kind are of; of none, that of an answer."""
    return "event" if any(one.method.probability_of == "event" for one in evidences) else "answer"


def get_metric(metric_id: str) -> Metric:
    """The registered metric with this id; raises Unavailable for an unknown id."""
    if metric_id not in METRICS:
        likely = get_close_matches(metric_id.lower().replace("-", "_"), METRICS, 1)
        hint = f" Is {likely[0]!r} meant?" if likely else ""
        raise Unavailable(f"There is no metric {metric_id!r}.{hint} Metrics: {', '.join(METRICS)}.")
    return METRICS[metric_id]


@overload
def gather_evidence(
    run: AnswerRun, method_id: str, options: MethodOptions | None = None
) -> AnswerEvidence: ...
@overload
def gather_evidence(run: TokenRun, method_id: str, options: MethodOptions | None = None) -> TokenEvidence: ...
@overload
def gather_evidence(run: Run, method_id: str, options: MethodOptions | None = None) -> Evidence: ...
def gather_evidence(run: Run, method_id: str, options: MethodOptions | None = None) -> Evidence:
    """What a method computes for a run.

    Parameters
    ----------
    run : Run
    method_id : str
    options : MethodOptions, optional
        The defaults where omitted.

    Returns
    -------
    Evidence
        `AnswerEvidence` of a run of answers, `TokenEvidence` of a token-level run.

    Raises
    ------
    Unavailable
        With the reason, where the method does not exist or the run does not support it.
    """
    method = get_method(method_id)
    options = options or MethodOptions()
    if isinstance(run, TokenRun):
        if method is not TOKENS:
            raise Unavailable(NO_ANSWER_METHODS)
        return TokenEvidence(run, method, options)
    confidences = method.confidences(run, options)
    confidences = replace(confidences, suspicions=suspicions(run, confidences))
    confidences = with_weights(run, confidences)
    evidence = AnswerEvidence(run, method, options, confidences)
    # Raises here rather than at the first number, if all labels are requested and there are no choices.
    _ = evidence.pairs
    return evidence


@dataclass(frozen=True, slots=True, eq=False)
class MethodSurvey:
    """Which methods a run supports.

    Attributes
    ----------
    usable : Mapping[str, Evidence]
        Method id → evidence.
    unavailable : Mapping[str, str]
        Method id → why the run does not support it.
    """

    usable: Mapping[str, Evidence]
    unavailable: Mapping[str, str]

    def with_tolerance(self, tolerance: float | None) -> MethodSurvey:
        """The same evidence, judged with this tolerance; None for the default."""
        usable = {id_: evidence.with_tolerance(tolerance) for id_, evidence in self.usable.items()}
        return replace(self, usable=usable)

    def with_verdicts(self, verdicts: Mapping[str, Verdict]) -> MethodSurvey:
        """The same evidence, with the verdicts of some methods computed before: method id → verdict."""
        judged = {id_: self.usable[id_].with_verdict(verdict) for id_, verdict in verdicts.items()}
        return replace(self, usable={**self.usable, **judged})


def survey_methods(
    run: Run, options: MethodOptions | None = None, *, only: Collection[str] | None = None
) -> MethodSurvey:
    """Try every method on the run, or `only` some, in the registry's order."""
    usable: dict[str, Evidence] = {}
    unavailable: dict[str, str] = {}
    for method_id in methods_of(run):
        if only is not None and method_id not in only:
            continue
        try:
            usable[method_id] = gather_evidence(run, method_id, options)
        except Unavailable as reason:
            unavailable[method_id] = str(reason)
    return MethodSurvey(usable, unavailable)


def restored_survey(
    run: AnswerRun,
    confidences: Mapping[str, Confidences],
    unavailable: Mapping[str, str],
    verdicts: Mapping[str, Verdict],
) -> MethodSurvey:
    """The survey of a run with default options, from what its methods and their verdicts were before."""
    options = MethodOptions()
    usable = {
        method_id: AnswerEvidence(run, METHODS[method_id], options, of_method)
        for method_id, of_method in confidences.items()
    }
    return MethodSurvey(usable, unavailable).with_verdicts(verdicts)


# --- Weights of rows (decision 0018) ------------------------------------------------------------

NO_WEIGHT: Final = "no weight"
"""Why a row is not used that lacks a weight where others have one."""

ZERO_WEIGHT: Final = "weight 0"
"""Why a row is not used that stands for no case."""


def run_weights(run: AnswerRun, rows: NDArray[np.intp]) -> NDArray[np.float64] | None:
    """The weights of some rows, all of which have one above 0; None where all count alike."""
    weight = run.weights(rows)
    return None if weight is None else unequal(weight)


def with_weights(run: AnswerRun, confidences: Confidences) -> Confidences:
    """The confidences with the weights of their rows; rows without a weight, or with 0, are not used.

    Raises
    ------
    Unavailable
        If no row with a confidence and an outcome has a weight above 0.
    """
    pairs, distribution, unpaired = confidences.pairs, confidences.distribution, confidences.unpaired
    weight = run.weights(pairs.used_rows)
    if weight is None:
        return confidences
    kept = np.flatnonzero(weight > 0)
    if not kept.size:
        raise Unavailable("no row with a confidence and an outcome has a weight above 0")
    counts = {NO_WEIGHT: int(np.isnan(weight).sum()), ZERO_WEIGHT: int((weight == 0).sum())}
    if kept.size < weight.size:
        pairs, distribution = pairs.take(kept), distribution and distribution.take(kept)
    if unpaired is not None and (of_unpaired := run.weights(unpaired.rows)) is not None:
        counted = of_unpaired > 0
        unpaired = UnpairedOutcomes(unpaired.correct[counted], unpaired.rows[counted])
    answers = confidences.answers
    own = unequal(weight[kept])
    return replace(
        confidences,
        pairs=replace(pairs, weight=own),
        distribution=distribution and replace(distribution, weight=own),
        unpaired=unpaired if unpaired is not None and unpaired.rows.size else None,
        answers=answers if answers is None else answers[pl.Series(kept, dtype=pl.UInt32)],
        missing=MappingProxyType(
            {**confidences.missing, **{reason: count for reason, count in counts.items() if count}}
        ),
    )


# --- Subsets of rows ------------------------------------------------------------------------------


def restrict_rows(evidence: AnswerEvidence, positions: NDArray[np.intp]) -> AnswerEvidence:
    """The evidence of some rows of a run.

    The confidences are those computed on the whole run; nothing about them is recomputed.

    Parameters
    ----------
    evidence : AnswerEvidence
    positions : NDArray[np.intp], shape (n,)
        Row positions in `evidence.run.rows`; a position may occur more than once.

    Returns
    -------
    AnswerEvidence
        Its `n_total` is `n`; bad rows that were left out of the run belong to no subset.
    """
    run, confidences = evidence.run, evidence.confidences
    used, pairs = _found_at(confidences.pairs.rows, positions, run.rows.height)
    n_missing = positions.size - used.size
    subset = replace(
        run,
        rows=run.rows[pl.Series(positions, dtype=pl.UInt32)],
        group_columns=run.group_columns[pl.Series(positions, dtype=pl.UInt32)]
        if run.group_columns.width
        else run.group_columns,
        row_counts=RowCounts(n_rows=positions.size, notes=run.row_counts.notes),
    )
    subset_confidences = replace(
        confidences,
        pairs=replace(confidences.pairs.take(pairs), used_rows=used),
        missing=MappingProxyType({NOT_USABLE: n_missing} if n_missing else {}),
        remarks=(),
        suspicions=(),
        unpaired=_restrict_unpaired(confidences.unpaired, positions, run.rows.height),
        distribution=confidences.distribution and replace(confidences.distribution.take(pairs), rows=used),
        answers=None
        if confidences.answers is None
        else confidences.answers[pl.Series(pairs, dtype=pl.UInt32)],
    )
    return AnswerEvidence(subset, evidence.method, evidence.options, subset_confidences)


def _restrict_unpaired(
    unpaired: UnpairedOutcomes | None, positions: NDArray[np.intp], n_rows: int
) -> UnpairedOutcomes | None:
    if unpaired is None:
        return None
    found, places = _found_at(unpaired.rows, positions, n_rows)
    return UnpairedOutcomes(unpaired.correct[places], found) if found.size else None


def _found_at(
    rows: NDArray[np.intp], positions: NDArray[np.intp], n_rows: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which of the positions are among the rows, and where each of those stands there."""
    place_of_row = np.full(n_rows, -1, np.intp)
    place_of_row[rows] = np.arange(rows.size)
    places = place_of_row[positions]
    found = np.flatnonzero(places >= 0)
    return found, places[found]
