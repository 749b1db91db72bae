"""What does a token-level run say?  Everything is read off the sums that were kept of its positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.analysis.basis import Evidence, RowUnit, bins_all_classes
from calib_core.analysis.redrawn import ConfidenceMoments, BinnedNullDraws, sum_draws, sum_sparse_draws
from calib_core.bins import Binned, Scheme
from calib_core.metrics.metric import Metric
from calib_core.problems import Unavailable
from calib_core.records import TokenRun
from calib_core.tokens.bounds import largest_exact_bins, full_ece_bounds
from calib_core.tokens.grid import GRID_CELLS, GridSums, unserved_reason
from calib_core.tokens.sums import N_CLASS_DRAWS

NO_ANSWER_METHODS: Final = "a token-level run holds the distribution at each position of a text, and no answers"
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
        if metric.required_sums == "classes" and sums.unstored is not None and sums.unstored.n_ambiguous[scheme.bins]:
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
        grid, drawn = (self.run.sums.all_labels, draws.all_labels) if pooled else (self.run.sums.top_label, draws.top_label)
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
        return np.searchsorted(grid.group * np.int64(GRID_CELLS) + grid.cell, group * np.int64(GRID_CELLS) + cell)
