"""What does one method say of one run?  The pairs and their sums, computed once, read by every result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Final, Literal, Self, overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.bins import MAX_NATURAL_BINS, Binned, BinSums, Sums
from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.inference.clusters import cluster_numbers, design_effect
from calib_core.inference.null import (
    BinnedNullDraws,
    BinomialDraws,
    CategoricalDraws,
    ConfidenceMoments,
    sum_draws,
    sum_sparse_draws,
)
from calib_core.methods import METHODS
from calib_core.methods.method import Confidences, Method, MethodOptions
from calib_core.methods.token_level import TOKENS
from calib_core.metrics import METRICS
from calib_core.metrics.metric import Metric
from calib_core.pairs import Distribution, Pairs
from calib_core.runs import AnswerRun, RowCounts, Run, TokenRun
from calib_core.tokens.bounds import full_ece_bounds, largest_exact_bins
from calib_core.tokens.grid import GRID_CELLS, GridSums, unserved_reason
from calib_core.tokens.sums import N_CLASS_DRAWS

# MERGED basis: What may every result ask of one run seen by one method, whatever the run holds?

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


# MERGED answer_evidence: What does one method say of one run of answers?


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
        cells = self.top_label.sums.distinct
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


# MERGED token_evidence: What does a token-level run say?  Everything is read off the sums that were kept of its positions.

NO_ANSWER_METHODS: Final = (
    "a token-level run holds the distribution at each position of a text, and no answers"
)
"""Why a token-level run gives none of the methods for answers."""

NO_SQUARED_SUMS: Final = (
    "Only the largest entries of each position are stored, and the squares of the others cannot be told "
    "from their sum."
)

NO_ALL_LABELS: Final = (
    "Only the largest entries of each position are stored: pooling all labels needs every one of them."
)


@dataclass(frozen=True, eq=False)
class TokenEvidence(Evidence):
    """The sums of a token-level run; one pair a position is its top label, K pairs are all its classes."""

    run: TokenRun

    def __post_init__(self) -> None:
        """Raises Unavailable where there is no position, or all labels are asked of the largest entries."""
        if not self.run.sums.rows:
            raise Unavailable("the run has no positions")
        if self.options.labels == "all" and self.run.sums.unstored is not None:
            raise Unavailable(NO_ALL_LABELS)

    @property
    def unit(self) -> RowUnit:
        """Positions of a text."""
        return "positions"

    @property
    def n_used(self) -> int:
        """Positions with a distribution and a right token."""
        return self.run.sums.rows

    @property
    def judged(self) -> str:
        """The most probable token of each position."""
        return "its own top label"

    @property
    def recipe_parts(self) -> tuple[str, ...]:
        """That not every entry is stored, where it is so."""
        unseen = self.run.sums.unstored
        return () if unseen is None else (f"the {unseen.min_stored:,} largest or more stored",)

    @property
    def missing(self) -> Mapping[str, int]:
        """None: a position without a right token is a bad row, and padding is no position."""
        return MappingProxyType({})

    @property
    def remarks(self) -> tuple[str, ...]:
        """Of the file's positions."""
        return self.run.row_counts.notes

    @property
    def has_distribution(self) -> bool:
        """Whether every entry is stored."""
        return self.run.sums.unstored is None

    @property
    def no_questions_reason(self) -> str:
        """Positions are added up as they are read."""
        return "Of a token-level run only sums are kept, so there are no single positions behind a bin."

    @cached_property
    def sums(self) -> GridSums:
        """One pair a position, its top label, or one a class where all labels are pooled."""
        return self.run.sums.top_label if self.options.labels == "top" else self.run.sums.all_labels

    @cached_property
    def pooled_class_sums(self) -> GridSums:
        """Every class of every position in one pool."""
        return self.run.sums.all_labels

    def class_sums_for(self, metric: Metric) -> GridSums:
        """By class where the metric keeps them apart; raises Unavailable where they were not kept."""
        if metric.required_sums != "classes":
            return self.run.sums.all_labels
        if self.run.sums.by_class is None:
            raise Unavailable(self.run.sums.no_class_sums_reason or "")
        return self.run.sums.by_class

    def data_shortfall(self, metric: Metric, scheme: Scheme) -> str | None:
        """What the grid does not keep, and what a list of the largest entries does not tell."""
        sums = self.run.sums
        if metric.required_sums == "values":
            return (
                f"{metric.title} needs every single confidence, and token-level sums are kept on a fixed "
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
        """There is always more than one class."""
        if not all_classes and self.options.labels == "top":
            return "top label"
        return f"{'all classes' if all_classes else 'all labels'}, K={self.run.sums.classes}"

    @cached_property
    def n_distinct(self) -> None:
        """Not known: the grid keeps no single confidences."""
        return

    def value_counts(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Cells in which all confidences are one value, to a millionth, and the positions there."""
        cells = self.run.sums.top_label.binned(Scheme("width", GRID_CELLS))
        alone = cells.has_single_value
        return (cells.confidence / cells.count)[alone], cells.count[alone]

    def share_at(self, value: float) -> None:
        """Not known: the grid keeps no single confidences."""
        del value

    def bounds(self, metric: Metric, scheme: Scheme) -> tuple[float, float] | None:
        """Of Full-ECE, where entries that are not stored may lie outside the first bin."""
        ambiguous = self._n_ambiguous(metric, scheme)
        return full_ece_bounds(self.run.sums, scheme.bins) if ambiguous else None

    def exactness_note(self, metric: Metric, scheme: Scheme) -> str | None:
        """Up to which M Full-ECE is exact where not every entry is stored."""
        if self.run.sums.unstored is None or metric.needs != "distribution" or not metric.binned:
            return None
        known = largest_exact_bins(self.run.sums)
        upto = f"Exact up to M = {known}."
        ambiguous = self._n_ambiguous(metric, scheme)
        if not ambiguous:
            return upto
        return (
            f"{upto} At M = {scheme.bins} only an interval is known: in {ambiguous:,} of {self.n_used:,} "
            "positions, entries that are not stored may lie above the first bin."
        )

    def _n_ambiguous(self, metric: Metric, scheme: Scheme) -> int:
        """Positions whose unstored entries may change this number."""
        unseen = self.run.sums.unstored
        if unseen is None or not bins_all_classes(metric) or unserved_reason(scheme):
            return 0
        return unseen.n_ambiguous[scheme.bins]

    def binned(self, metric: Metric, scheme: Scheme) -> Binned:
        """As for answers; raises Unavailable, too, where only an interval of the number is known."""
        if self._n_ambiguous(metric, scheme) and not self.unavailable_reason(metric, scheme):
            raise Unavailable(f"The bins cannot be drawn. {self.exactness_note(metric, scheme)}")
        return super().binned(metric, scheme)

    def null_draws(self, metric: Metric, scheme: Scheme) -> BinnedNullDraws | None:
        """Of every metric with bins whose value is known; the draws were made as the positions were read."""
        draws = self.run.sums.draws
        if draws is None or not metric.binned or self._n_ambiguous(metric, scheme):
            return None
        if metric.required_sums == "classes":
            return self._null_draws_by_class(scheme)
        pooled = metric.needs == "distribution" or self.options.labels == "all"
        grid, drawn = (
            (self.run.sums.all_labels, draws.all_labels)
            if pooled
            else (self.run.sums.top_label, draws.top_label)
        )
        binned = grid.binned(scheme)
        place = np.searchsorted(binned.index, grid.cell // (GRID_CELLS // scheme.bins))
        likely = ConfidenceMoments.from_sums(grid.count, grid.confidence, grid.squared)
        return sum_draws(binned, grid, draws.seed, drawn[:, grid.cell], place, likely)

    def _null_draws_by_class(self, scheme: Scheme) -> BinnedNullDraws | None:
        grid, draws = self.run.sums.by_class, self.run.sums.draws
        if grid is None or draws is None or draws.by_class is None:
            return None
        binned, bins = grid.binned(scheme), np.int64(scheme.bins)
        cell_place = np.searchsorted(
            binned.group * bins + binned.index, grid.group * bins + grid.cell // (GRID_CELLS // scheme.bins)
        )
        draw, right = draws.by_class[:, 0], draws.by_class[:, 3]
        place = cell_place[self._drawn_cells]
        return sum_sparse_draws(binned, grid, draws.seed, N_CLASS_DRAWS, draw, place, right)

    @cached_property
    def _drawn_cells(self) -> NDArray[np.intp]:
        """Where in the sums by class each drawn (class, cell) stands."""
        grid, draws = self.run.sums.by_class, self.run.sums.draws
        if grid is None or draws is None or draws.by_class is None:
            return np.zeros(0, np.intp)
        group, cell = draws.by_class[:, 1], draws.by_class[:, 2]
        return np.searchsorted(
            grid.group * np.int64(GRID_CELLS) + grid.cell, group * np.int64(GRID_CELLS) + cell
        )


def get_method(method_id: str) -> Method:
    """The registered method; raises Unavailable for an id that does not exist."""
    if method_id not in METHODS:
        raise Unavailable(f"There is no method {method_id!r}. Methods: {', '.join(METHODS)}.")
    return METHODS[method_id]


def get_metric(metric_id: str) -> Metric:
    """The registered metric; raises Unavailable for an id that does not exist."""
    if metric_id not in METRICS:
        raise Unavailable(f"There is no metric {metric_id!r}. Metrics: {', '.join(METRICS)}.")
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
    """What the method says of the run; raises Unavailable with the reason where it cannot."""
    method = get_method(method_id)
    options = options or MethodOptions()
    if isinstance(run, TokenRun):
        if method is not TOKENS:
            raise Unavailable(NO_ANSWER_METHODS)
        return TokenEvidence(run, method, options)
    evidence = AnswerEvidence(run, method, options, method.compute(run, options))
    _ = evidence.pairs  # all labels of a method without choices is refused here, not at the first number
    return evidence


@dataclass(frozen=True, slots=True, eq=False)
class MethodSurvey:
    """Which methods a run can give (evidence by id), and why it cannot give the others."""

    usable: Mapping[str, Evidence]
    unavailable: Mapping[str, str]


def survey_methods(run: Run, options: MethodOptions | None = None) -> MethodSurvey:
    """Every registered method tried on the run, in the registry's order."""
    usable: dict[str, Evidence] = {}
    refused: dict[str, str] = {}
    for method_id in METHODS:
        try:
            usable[method_id] = gather_evidence(run, method_id, options)
        except Unavailable as reason:
            refused[method_id] = str(reason)
    return MethodSurvey(usable, refused)


# MERGED restricted: What does one method say of some rows of a run?  Evidence → evidence of fewer (or repeated) rows.

NOT_USABLE = "no confidence or outcome"
"""Why a row of the part is not used: which reason it was is known of the whole run only."""


def restrict_rows(evidence: AnswerEvidence, positions: NDArray[np.intp]) -> AnswerEvidence:
    """The evidence of the rows at these positions of `evidence.run.rows`; one may be named twice.

    The confidences are those of the whole run: nothing about them is computed anew. `n_total` is the
    number of rows named here; bad rows that were left out of the run are of no part.
    """
    whole, said = evidence.run, evidence.confidences
    pair_of = np.full(whole.rows.height, -1, np.intp)
    pair_of[said.pairs.rows] = np.arange(said.pairs.n)
    pairs = pair_of[positions]
    used = np.flatnonzero(pairs >= 0)
    pairs = pairs[used]
    lacking = positions.size - used.size
    run = replace(
        whole,
        rows=whole.rows[pl.Series(positions, dtype=pl.UInt32)],
        group_columns=whole.group_columns[pl.Series(positions, dtype=pl.UInt32)]
        if whole.group_columns.width
        else whole.group_columns,
        row_counts=RowCounts(n_rows=positions.size, notes=whole.row_counts.notes),
    )
    confidences = replace(
        said,
        pairs=replace(said.pairs.take(pairs), rows=used),
        missing=MappingProxyType({NOT_USABLE: lacking} if lacking else {}),
        remarks=(),
        distribution=said.distribution and replace(said.distribution.take(pairs), rows=used),
        answers=None if said.answers is None else said.answers[pl.Series(pairs, dtype=pl.UInt32)],
    )
    return AnswerEvidence(run, evidence.method, evidence.options, confidences)
