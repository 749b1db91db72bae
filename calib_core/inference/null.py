"""How large would a metric be if every confidence were exactly right?

Outcomes are drawn from the confidences, one set of draws for all M, and the metric is computed from each draw
as it is from the data: independent binomial outcomes for one pair per row (`BinomialDraws`), one class per
row for whole distributions (`CategoricalDraws`). A token-level run draws its outcomes while it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import Binned, BinSums, Counts, CutBins, Sums
from calib_core.edges import BINNINGS, FINEST_BINS, Scheme, bin_of
from calib_core.errors import Unavailable
from calib_core.metrics.metric import Metric
from calib_core.pairs import Distribution
from calib_core.tokens.sums import N_DRAWS
from calib_core.wording import ROUNDING_TOLERANCE

NULL_SEED: Final = 0
"""Seed of the draws."""

MAX_DENSE_CLASSES: Final = 64
"""Up to this many classes per row, each is compared with the random number in turn."""

MAX_TABLE_KEYS: Final = 1_000_000
"""Up to this many possible keys, distinct keys are found with a table instead of by sorting."""

NULL_QUANTILES: Final = (0.5, 0.05, 0.95)
"""Median, lower and upper end of the null band."""

MAX_INVERTED_PAIRS: Final = 10
"""Up to this many pairs in each cell, the outcomes of all cells are drawn together: four times as fast."""

MAX_MISSING_SPREAD: Final = 0.1
"""A mass-weighted metric has no null if its draws may lack more than this share of its median in spread."""


# --- Draws as sums ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class NullDrawSums:
    """One draw as `Sums` of one scheme: the bins of the data with drawn outcomes.

    Attributes
    ----------
    bins : Binned
        The bins.
    rows, groups, n_pairs : int
        As in `Sums`.
    """

    bins: Binned
    n_rows: float
    n_groups: int
    n_pairs: float

    @property
    def n_correct(self) -> float:
        """Σ y of this draw."""
        return self.bins.correct.sum().item()

    @property
    def confidence_sum(self) -> float:
        """Σ c."""
        return float(self.bins.confidence.sum())

    @property
    def squared_error_sum(self) -> float:
        """Σ (c − y)² of this draw."""
        return max(
            0.0,
            float((self.bins.squared_confidence - 2 * self.bins.correct_confidence).sum()) + self.n_correct,
        )

    @property
    def log_loss_sum(self) -> float:
        """Raises Unavailable, since a draw does not keep single confidences."""
        raise Unavailable("A draw keeps no single confidence.")

    @property
    def n_infinite_losses(self) -> int:
        """Always 0, since an outcome with probability 0 is never drawn."""
        return 0

    def binned(self, scheme: Scheme) -> Binned:
        """The bins; raises Unavailable for any other scheme than that of the draw."""
        if scheme != self.bins.scheme:
            raise Unavailable("A draw is added up for one scheme.")
        return self.bins

    def pooled(self) -> NullDrawSums:
        """The draw itself, which was summed over the classes or by class from the start."""
        return self

    def natural_bins(self) -> Binned:
        """Raises Unavailable, since a draw does not keep single confidences."""
        raise Unavailable("A draw keeps no single confidence.")


@dataclass(frozen=True, slots=True, eq=False)
class ConfidenceMoments:
    """Confidence of the pairs that are drawn as right, by cell.

    Attributes
    ----------
    mean : NDArray[np.float64], shape (cells,)
        Mean confidence.
    variance_bound : NDArray[np.float64], shape (cells,)
        Upper bound of the variance.
    """

    mean: NDArray[np.float64]
    variance_bound: NDArray[np.float64]

    @classmethod
    def from_sums(
        cls,
        n: Counts,
        confidence_sum: NDArray[np.float64],
        squared_confidence_sum: NDArray[np.float64],
    ) -> ConfidenceMoments:
        """The moments of each cell of the finest grid, from n, Σ c and Σ c².

        A pair is drawn as right with probability c, so the mean is Σ c²/Σ c. Confidences of one cell differ
        by at most 1/FINEST_BINS; hence the variance is at most the unweighted one times the largest
        confidence over the mean, and at most 1/(2·FINEST_BINS)².
        """
        unweighted_mean = confidence_sum / n
        nonzero = unweighted_mean >= np.finfo(np.float64).tiny
        mean = np.divide(squared_confidence_sum, confidence_sum, out=np.zeros(nonzero.size), where=nonzero)
        variance = squared_confidence_sum / n - unweighted_mean**2
        variance[variance < 1e-13 * unweighted_mean**2] = 0.0  # rounding error of equal confidences
        largest_over_mean = np.divide(
            unweighted_mean + 1 / FINEST_BINS, unweighted_mean, out=np.ones(nonzero.size), where=nonzero
        )
        return cls(mean, np.minimum(variance * largest_over_mean, 0.25 / FINEST_BINS**2))


@dataclass(frozen=True, slots=True, eq=False)
class BinnedNullDraws:
    """Draws for the bins of one scheme; iterating yields each draw as `NullDrawSums`.

    Attributes
    ----------
    data_bins : Binned
        The bins of the data.
    n_rows, n_groups : int
        As in `Sums`.
    n_draws, seed : int
        Number R and seed of the draws.
    bins_of_draw : callable
        Number of a draw → `data_bins` with the outcomes of that draw.
    outcomes : pair of arrays, optional
        Σ y and Σ c·y of all draws at once, both of shape (R, bins); None if they are too many for that.
    missing_spread : float
        Upper bound of the standard deviation that Σ c·y of the draws lacks because all confidences of a cell
        are replaced by their mean, summed over the bins and divided by the rows.
    """

    data_bins: Binned
    n_rows: float
    n_groups: int
    n_draws: int
    seed: int
    bins_of_draw: Callable[[int], Binned]
    outcomes: tuple[Counts, NDArray[np.float64]] | None = None
    missing_spread: float = 0.0

    def __iter__(self) -> Iterator[NullDrawSums]:
        pairs = self.data_bins.count.sum().item()
        for number in range(self.n_draws):
            yield NullDrawSums(self.bins_of_draw(number), self.n_rows, self.n_groups, pairs)

    def values(self, metric: Metric) -> NDArray[np.float64]:
        """The metric in every draw, shape (R,): NaN where it is not defined.

        A sum of |gap| is computed for all draws at once, to the same last bit.
        """
        bins = self.data_bins
        if metric.divisor is None or self.outcomes is None or not bins.n_bins:
            return np.array([metric.compute(sums, bins.scheme) for sums in self], np.float64)
        correct, correct_confidence = self.outcomes
        gaps = (
            correct_confidence - bins.squared_confidence
            if metric.weighted_by_confidence
            else correct - bins.confidence
        )
        return np.abs(gaps).sum(axis=1) / metric.divisor(next(iter(self)))


def sum_draws(
    binned: Binned,
    sums: Sums,
    seed: int,
    correct_counts: NDArray[np.int16 | np.int32],
    bin_position: NDArray[np.intp],
    moments: ConfidenceMoments | None = None,
) -> BinnedNullDraws:
    """Sum draws of every cell into bins.

    Parameters
    ----------
    binned : Binned
        The bins of the data.
    sums : Sums
        The sums of the data.
    seed : int
        Seed of the draws.
    correct_counts : NDArray[np.int32], shape (R, cells)
        Number of right outcomes in each draw and cell.
    bin_position : NDArray[np.intp], shape (cells,)
        Position in `binned` of each cell's bin; every bin has a cell.
    moments : ConfidenceMoments, optional
        Confidence of the pairs drawn as right; not needed if only their number matters.
    """
    moments = moments or ConfidenceMoments(np.zeros(bin_position.size), np.zeros(bin_position.size))
    order = np.argsort(bin_position, kind="stable")
    start = np.searchsorted(bin_position[order], np.arange(binned.n_bins))
    correct_counts = correct_counts[:, order]
    right = np.add.reduceat(correct_counts, start, axis=1) if binned.n_bins else correct_counts[:, :0]
    correct_confidence = (
        np.add.reduceat(correct_counts * moments.mean[order], start, axis=1) if binned.n_bins else right * 1.0
    )
    # Each draw in one piece, so that its sums round as those of the data do.
    outcomes = right.astype(np.int64, "C"), np.ascontiguousarray(correct_confidence, np.float64)
    missing_variance = np.bincount(
        bin_position[order],
        correct_counts.mean(axis=0) * moments.variance_bound[order],
        minlength=binned.n_bins,
    )
    missing_spread = float(np.sqrt(missing_variance).sum()) / max(sums.n_rows, 1)
    n_draws = correct_counts.shape[0]
    return BinnedNullDraws(
        binned,
        sums.n_rows,
        sums.n_groups,
        n_draws,
        seed,
        lambda draw: binned.with_outcomes(outcomes[0][draw], outcomes[1][draw]),
        outcomes,
        missing_spread,
    )


def sum_sparse_draws(
    binned: Binned,
    sums: Sums,
    seed: int,
    n_draws: int,
    draw_index: NDArray[np.int32],
    bin_position: NDArray[np.intp],
    correct_counts: NDArray[np.int32],
) -> BinnedNullDraws:
    """Sum draws that are stored only where something was drawn.

    Parameters
    ----------
    binned, sums, seed
        As in `sum_draws`.
    n_draws : int
        Number of draws R.
    draw_index : NDArray[np.int32], shape (n,)
        Draw of each entry, ascending.
    bin_position : NDArray[np.intp], shape (n,)
        Position in `binned` of each entry's bin; may repeat within a draw.
    correct_counts : NDArray[np.int32], shape (n,)
        Number of right outcomes of each entry.
    """
    start = np.searchsorted(draw_index, np.arange(n_draws + 1))

    def bins_of_draw(draw: int) -> Binned:
        part = slice(int(start[draw]), int(start[draw + 1]))
        correct = np.bincount(bin_position[part], correct_counts[part], minlength=binned.n_bins).astype(
            np.int64
        )
        return binned.with_outcomes(correct, np.full(binned.n_bins, np.nan))

    return BinnedNullDraws(binned, sums.n_rows, sums.n_groups, n_draws, seed, bins_of_draw)


# --- One pair per row: binomial draws -----------------------------------------------------------------------
#
# The draws are made once, on the finest grid, for all M. Confidences of one cell differ by less than 1/3000,
# so a binomial draw at their mean has the right mean and, to one part in millions, the right variance.


class BinomialDraws:
    """Draws for independent pairs of one class.

    Parameters
    ----------
    sums : BinSums
        Sums of the pairs.
    moved : (float, float)
        How much larger the sum of the probabilities of being right is than that of the confidences: of those
        that are exactly 0, and exactly 1.
    seed : int
        Seed of the draws.
    """

    def __init__(
        self, sums: BinSums, moved: tuple[float, float] = (0.0, 0.0), *, seed: int = NULL_SEED
    ) -> None:
        self._sums = sums
        self._moved = moved
        self._seed = seed
        self._fine = sums.binned(Scheme("width", FINEST_BINS))

    def null_draws(self, scheme: Scheme) -> BinnedNullDraws:
        """The draws in the bins of any scheme.

        Cells cut by a bin edge are drawn again in parts, each at its own mean; the draws of all other cells
        are the same for every scheme.
        """
        binned = self._sums.binned(scheme)
        if scheme.binning == "width" and FINEST_BINS % scheme.bins == 0:
            bin_ = self._fine.index // (FINEST_BINS // scheme.bins)
            place = np.searchsorted(binned.index, bin_)
            return sum_draws(binned, self._sums, self._seed, self._fine_draws, place, self._fine_moments)
        return self._draws_with_cut_cells(scheme)

    @cached_property
    def _fine_expected(self) -> NDArray[np.float64]:
        """Expected number of right outcomes in each of the finest bins."""
        return self._with_ends_moved(self._fine.confidence)

    def _expected_in_pieces(self, cut: CutBins) -> NDArray[np.float64]:
        """Expected number of right outcomes in each part of a finest bin that is cut."""
        return self._with_ends_moved(cut.pieces.confidence)

    def _with_ends_moved(self, expected: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of confidences by ascending cell, of which the first holds all that are 0, the last all 1."""
        if not any(self._moved):
            return expected
        moved = expected.copy()
        moved[0] += self._moved[0]
        moved[-1] += self._moved[1]
        return moved

    @cached_property
    def _fine_draws(self) -> NDArray[np.int32]:
        return _draw_binomial(np.random.default_rng(self._seed), self._fine.count, self._fine_expected)

    @cached_property
    def _fine_moments(self) -> ConfidenceMoments:
        fine = self._fine
        return ConfidenceMoments.from_sums(fine.count, fine.confidence, fine.squared_confidence)

    def _draws_with_cut_cells(self, scheme: Scheme) -> BinnedNullDraws:
        binned, cut = self._sums.binned(scheme), self._sums.cut_bins(scheme)
        pieces = cut.pieces
        cell = np.searchsorted(self._fine.index, pieces.index)
        whole = np.bincount(cell, minlength=self._fine.n_bins)[cell] == 1
        drawn = np.empty((N_DRAWS, cell.size), np.int32)
        drawn[:, whole] = self._fine_draws[:, cell[whole]]
        anew = np.random.default_rng([self._seed, BINNINGS.index(scheme.binning), scheme.bins])
        expected = self._expected_in_pieces(cut)
        drawn[:, ~whole] = _draw_binomial(anew, pieces.count[~whole], expected[~whole])
        place = np.searchsorted(binned.index, cut.bin_index)
        moments = ConfidenceMoments.from_sums(pieces.count, pieces.confidence, pieces.squared_confidence)
        return sum_draws(binned, self._sums, self._seed, drawn, place, moments)


def _draw_binomial(
    rng: np.random.Generator, n_pairs: Counts, expected: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Number of right outcomes among the pairs of each cell, shape (N_DRAWS, cells)."""
    chance, n = np.clip(expected / n_pairs, 0.0, 1.0), np.asarray(n_pairs, np.int64)
    if n.max(initial=0) > MAX_INVERTED_PAIRS:
        return rng.binomial(n, chance, size=(N_DRAWS, n.size)).astype(np.int32)
    return _draw_by_inversion(rng, n, chance)


def _draw_by_inversion(
    rng: np.random.Generator, n_pairs: NDArray[np.int64], chance: NDArray[np.float64]
) -> NDArray[np.int32]:
    """The numbers that `rng.binomial` draws for cells of few pairs, of all cells together.

    Each is how often a uniform number still exceeds the next of the probabilities of 0, 1, 2 … right answers
    after those before it were subtracted; of wrong answers, where these are the fewer.
    """
    drawn = np.zeros((N_DRAWS, n_pairs.size), np.int32)
    cell = np.flatnonzero(chance > 0)  # where nothing can be right, no number is taken
    n, is_flipped = n_pairs[cell], chance[cell] > 0.5
    p = np.where(is_flipped, 1 - chance[cell], chance[cell])
    rest, term = rng.random((N_DRAWS, cell.size)), np.exp(n * np.log(1 - p))
    exceeds = rest > term
    n_exceeded, place = exceeds.astype(np.int32), np.arange(cell.size)
    for number in range(1, int(n.max(initial=0))):
        more = np.flatnonzero(n[place] > number)
        place, rest, exceeds = place[more], rest[:, more] - term[more], exceeds[:, more]
        term = (n[place] - number + 1) * p[place] * term[more] / (number * (1 - p[place]))
        exceeds &= rest > term
        n_exceeded[:, place] += exceeds
    n_exceeded *= np.where(is_flipped, -1, 1).astype(np.int32)
    n_exceeded += np.where(is_flipped, n, 0).astype(np.int32)
    drawn[:, cell] = n_exceeded
    return drawn


# --- Whole distributions: one class per row (decision 0009) -------------------------------------------------
#
# The classes of a row exclude one another, so independent draws for each cell would spread too far.


@dataclass(frozen=True, slots=True, eq=False)
class CellDraws:
    """How often each cell was drawn.

    Attributes
    ----------
    group, bin_index : NDArray[np.intp], shape (cells,)
        Class and bin of each cell.
    draw_index, drawn_cell, count : NDArray[np.int32], shape (n,)
        Draw, cell and number of rows, for cells drawn at least once; sorted by draw.
    pooled_counts : NDArray[np.int32], shape (N_DRAWS, pieces)
        Number of rows drawn in each piece of [0, 1], over all classes.
    piece_bin_index : NDArray[np.intp], shape (pieces,)
        Bin of each piece.
    moments : ConfidenceMoments
        Probabilities of the drawn classes, by piece.
    """

    group: NDArray[np.intp]
    bin_index: NDArray[np.intp]
    draw_index: NDArray[np.int32]
    drawn_cell: NDArray[np.int32]
    count: NDArray[np.int32]
    pooled_counts: NDArray[np.int32]
    piece_bin_index: NDArray[np.intp]
    moments: ConfidenceMoments


Uniforms: TypeAlias = Callable[[np.random.Generator], NDArray[np.float32]]
"""Random generator → a uniform number in [0, 1) for each row, shape (rows,)."""


class CategoricalDraws:
    """Draws of the right class of each row, from its probabilities divided by their sum.

    Parameters
    ----------
    distribution : Distribution
        The rows.
    uniforms : callable, optional
        The uniform numbers that choose the classes; independent ones if omitted, and correlated ones for
        clustered rows (`cluster_draws.correlated_uniforms`).
    """

    def __init__(self, distribution: Distribution, uniforms: Uniforms | None = None) -> None:
        self._rows = distribution
        self._uniforms = uniforms
        self._latest: dict[int, CellDraws] = {}

    def null_draws(self, sums: Sums, scheme: Scheme) -> BinnedNullDraws:
        """The draws in equal-width bins, by class if `sums` are, otherwise over all classes.

        All M that divide FINEST_BINS share one set of counted draws; any other M counts the same draws again.
        """
        on_grid = FINEST_BINS % scheme.bins == 0
        tally = self._fine_draws if on_grid else self._cell_draws_for(scheme.bins)
        step = FINEST_BINS // scheme.bins if on_grid else 1
        binned = sums.binned(scheme)
        if sums.n_groups == 1:
            place = np.searchsorted(binned.index, tally.piece_bin_index // step)
            return sum_draws(binned, sums, NULL_SEED, tally.pooled_counts, place, tally.moments)
        key = binned.group * np.int64(scheme.bins) + binned.index
        place = np.searchsorted(key, tally.group * np.int64(scheme.bins) + tally.bin_index // step)
        return sum_sparse_draws(
            binned, sums, NULL_SEED, N_DRAWS, tally.draw_index, place[tally.drawn_cell], tally.count
        )

    @cached_property
    def _fine_draws(self) -> CellDraws:
        return self._cell_draws(bin_of(self._rows.probs, FINEST_BINS), FINEST_BINS)

    def _cell_draws_for(self, bins: int) -> CellDraws:
        """Draws for an M that does not divide FINEST_BINS; those of the last M are cached."""
        tally = self._latest.get(bins)
        if tally is None:
            tally = self._cell_draws(bin_of(self._rows.probs, bins), bins)
            self._latest = {bins: tally}
        return tally

    def _cell_draws(self, bin_: NDArray[np.intp], bins: int) -> CellDraws:
        # Both indices rise with the confidence, so their sum identifies each combination of the two.
        piece = bin_ if bins == FINEST_BINS else bin_ + bin_of(self._rows.probs, FINEST_BINS)
        pieces = FINEST_BINS if bins == FINEST_BINS else FINEST_BINS + bins
        bin_of_piece = np.zeros(pieces, np.intp)
        bin_of_piece[piece] = bin_
        occupied, cell = _factorize(self._rows.class_index * pieces + piece, self._rows.n_classes * pieces)
        draw, drawn, count, pooled = self._count_draws(cell, occupied % pieces, pieces)
        probs = self._rows.probs.astype(np.float64)
        mass = np.bincount(piece, probs, minlength=pieces).astype(np.float64)
        square = np.bincount(piece, probs * probs, minlength=pieces).astype(np.float64)
        pairs = np.bincount(piece, minlength=pieces)
        used = np.flatnonzero(pairs)
        return CellDraws(
            group=occupied // pieces,
            bin_index=bin_of_piece[occupied % pieces],
            draw_index=draw,
            drawn_cell=drawn,
            count=count,
            pooled_counts=pooled[:, used],
            piece_bin_index=bin_of_piece[used],
            moments=ConfidenceMoments.from_sums(pairs[used], mass[used], square[used]),
        )

    def _count_draws(
        self, cell: NDArray[np.int32], cell_piece: NDArray[np.intp], pieces: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """The fields `draw_index`, `drawn_cell`, `count` and `pooled_counts` of `CellDraws`."""
        pooled = np.empty((N_DRAWS, pieces), np.int32)
        drawn: list[NDArray[np.intp]] = []
        counts: list[NDArray[np.int32]] = []
        for number, chosen in enumerate(self._drawn_classes()):
            times = np.bincount(cell[chosen], minlength=cell_piece.size)
            pooled[number] = np.bincount(cell_piece, times, minlength=pieces)
            drawn.append(np.flatnonzero(times))
            counts.append(times[drawn[-1]].astype(np.int32))
        draw = np.repeat(np.arange(N_DRAWS, dtype=np.int32), [part.size for part in drawn])
        return draw, np.concatenate(drawn).astype(np.int32), np.concatenate(counts), pooled

    def _drawn_classes(self) -> Iterator[NDArray[np.int64]]:
        """For each draw, index in `probs` of each row's drawn class, shape (rows,); always the same draws."""
        random = np.random.default_rng(NULL_SEED)
        start, classes = self._rows.row_starts, self._rows.n_classes
        upto = _cumulative_probabilities(self._rows)
        if classes > MAX_DENSE_CLASSES:
            line = upto + np.repeat(np.arange(self._rows.n), self._rows.sizes)
            rows = np.arange(self._rows.n)
            last = start + self._rows.sizes - 1
            for _ in range(N_DRAWS):
                point = self._uniforms(random) if self._uniforms else random.random(rows.size)
                yield np.minimum(np.searchsorted(line, rows + point, side="right"), last)
            return
        edges = np.full((classes, self._rows.n), np.inf, np.float32)
        edges[self._rows.class_index, np.repeat(np.arange(self._rows.n), self._rows.sizes)] = upto
        for _ in range(N_DRAWS):
            point = self._uniforms(random) if self._uniforms else random.random(self._rows.n, np.float32)
            passed = np.zeros(self._rows.n, np.uint8)
            for edge in edges[:-1]:
                passed += point >= edge
            yield start + passed


def _cumulative_probabilities(distribution: Distribution) -> NDArray[np.float64]:
    """Cumulative probabilities within each row over the row's sum, so that each row ends in exactly 1."""
    total = np.cumsum(distribution.probs, dtype=np.float64)
    last = distribution.row_starts + distribution.sizes - 1
    before = total[distribution.row_starts] - distribution.probs[distribution.row_starts]
    within = total - np.repeat(before, distribution.sizes)
    return within / np.repeat(within[last], distribution.sizes)


def _factorize(keys: NDArray[np.int64], n_keys: int) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """The distinct keys, ascending, and the index of each key among them; all keys are below `n_keys`."""
    if n_keys > max(keys.size, MAX_TABLE_KEYS):
        different, number = np.unique(keys, return_inverse=True)
        return different.astype(np.intp), number.astype(np.int32)
    occurs = np.bincount(keys, minlength=n_keys) > 0
    return np.flatnonzero(occurs), (np.cumsum(occurs, dtype=np.int32) - 1)[keys]


# --- The null distribution of a metric ----------------------------------------------------------------------


class NullSource(Protocol):
    """Anything whose outcomes can be drawn; the part of `results.evidence` that a null distribution needs."""

    @cached_property
    def null_cache(self) -> dict[tuple[str, Scheme], tuple[int, NDArray[np.float64]]]:
        """Metric and scheme → seed, and value of each draw; filled by this module."""
        ...

    @property
    def no_p_reason(self) -> str | None:
        """Why draws of independent rows give no p-value; None where they give one."""
        ...

    def null_draws(self, metric: Metric, scheme: Scheme) -> BinnedNullDraws | None:
        """The metric's bins with outcomes drawn from the confidences; None if there is no null."""
        ...


@dataclass(frozen=True, slots=True)
class NullDistribution:
    """Null distribution of one metric at several M.

    Attributes
    ----------
    n_draws, seed : int
        Number R and seed of the draws.
    median, low, high : tuple of float
        Median, 5th and 95th percentile, for each M.
    p : tuple of float or None
        (1 + draws at least as large as the observed value) / (1 + R), for each M; None if there is no value,
        or the draws are of independent rows and the rows are not.
    rsd_median, rsd_low, rsd_high : float or None
        Median, 5th and 95th percentile of the relative standard deviation over these M, since each draw
        covers all M; None if it is not defined.
    rsd_p : float or None
        p-value of the observed relative standard deviation.
    change_median, change_low, change_high : float or None
        Median, 5th and 95th percentile of the increase from the first M to the last.
    change_p : float or None
        p-value of the observed increase from the first M to the last.
    has_p : bool
        Whether an observed value has a p-value.
    """

    n_draws: int
    seed: int
    median: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    p: tuple[float | None, ...]
    rsd_median: float | None = None
    rsd_low: float | None = None
    rsd_high: float | None = None
    rsd_p: float | None = None
    change_median: float | None = None
    change_low: float | None = None
    change_high: float | None = None
    change_p: float | None = None
    has_p: bool = True

    @property
    def recipe_text(self) -> str:
        """The recipe's phrase, "p over R=199 draws, seed 0"."""
        if self.has_p:
            return p_recipe(self.n_draws, self.seed)
        return f"calibrated values {_draws_text(self.n_draws, self.seed)}, of independent positions"


def p_recipe(n_draws: int = N_DRAWS, seed: int = NULL_SEED) -> str:
    """How a p-value is made, for recipes: "p over R=199 draws, seed 0"."""
    return f"p {_draws_text(n_draws, seed)}"


def _draws_text(n_draws: int, seed: int) -> str:
    return f"over R={n_draws} draws, seed {seed}"


def null_distribution(
    evidence: NullSource,
    metric: Metric,
    schemes: Sequence[Scheme],
    observed: Sequence[float | None],
) -> NullDistribution | None:
    """The null distribution of a metric under each scheme.

    Parameters
    ----------
    evidence : NullSource
        The confidences to draw outcomes from.
    metric : Metric
        The metric.
    schemes : sequence of Scheme
        Bins.
    observed : sequence of float or None
        Values of the metric under each scheme; None where it is not defined.

    Returns
    -------
    NullDistribution or None
        None if the metric has no null distribution under any one of the schemes.
    """
    draws = metric_draws(evidence, metric, schemes)
    if draws is None:
        return None
    seed, table = draws
    median, low, high = np.quantile(table, NULL_QUANTILES, axis=1)
    return NullDistribution(
        n_draws=table.shape[1],
        seed=seed,
        median=tuple(median.tolist()),
        low=tuple(low.tolist()),
        high=tuple(high.tolist()),
        p=tuple(
            None if value is None or evidence.no_p_reason else monte_carlo_p_value(scheme_draws, value)
            for scheme_draws, value in zip(table, observed, strict=True)
        ),
        has_p=evidence.no_p_reason is None,
    )


def metric_draws(
    evidence: NullSource, metric: Metric, schemes: Sequence[Scheme]
) -> tuple[int, NDArray[np.float64]] | None:
    """Seed, and the metric in every draw under each scheme, shape (schemes, R); None if any has no null."""
    drawn: list[NDArray[np.float64]] = []
    seed = 0
    for scheme in schemes:
        values = _draws_of_scheme(evidence, metric, scheme)
        if values is None:
            return None
        seed, draws = values
        drawn.append(draws)
    # Either there is no scheme, or draws by class are fewer for some M.
    if len({draws.size for draws in drawn}) != 1:
        return None
    return seed, np.array(drawn)


def monte_carlo_p_value(draws: NDArray[np.float64], observed: float) -> float:
    """Monte Carlo p-value (1 + draws at least as large) / (1 + R).

    It is never 0, since under the null hypothesis the data are one more draw.
    """
    return (1 + int(np.count_nonzero(draws >= observed - ROUNDING_TOLERANCE))) / (1 + draws.size)


def _draws_of_scheme(
    evidence: NullSource, metric: Metric, scheme: Scheme
) -> tuple[int, NDArray[np.float64]] | None:
    """Seed, and the metric in every draw; cached with the evidence."""
    key = (metric.id, scheme)
    if key not in evidence.null_cache:
        draws = evidence.null_draws(metric, scheme)
        if draws is None:
            return None
        values = draws.values(metric)
        if metric.needs == "distribution" and metric.required_sums == "squares":
            max_missing_spread = MAX_MISSING_SPREAD * np.median(values)
            if draws.missing_spread > max_missing_spread:
                return None
        values.flags.writeable = False
        evidence.null_cache[key] = (draws.seed, values)
    return evidence.null_cache[key]
