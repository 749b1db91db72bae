"""How large would the number be if every confidence were exactly right?

Outcomes are drawn from the confidences, once for every M together (`pair_draws`, `row_draws`; of a
token-level run as its positions are read), and each draw is put to the metric as the data is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import Binned, BinSums, Sums, segment_starts
from calib_core.edges import BINNINGS, FINEST_BINS, Scheme, bin_of
from calib_core.errors import Unavailable
from calib_core.metrics.metric import Metric
from calib_core.pairs import Distribution
from calib_core.tokens.sums import N_DRAWS
from calib_core.wording import ROUNDING_TOLERANCE

# MERGED redrawn: What would the bins hold if the outcomes were drawn from the confidences themselves?
#
# Draws are kept cell by cell; here they are added up into the bins of one scheme, so that a metric is read
# off a draw by the very function that reads it off the data.


@dataclass(frozen=True, slots=True, eq=False)
class NullDrawSums:
    """One draw as sums of one scheme: the bins of the data, with outcomes drawn anew."""

    bins: Binned
    rows: int
    groups: int
    n_pairs: int

    @property
    def n_correct(self) -> int:
        """Σ y of this draw."""
        return int(self.bins.correct.sum())

    @property
    def confidence_sum(self) -> float:
        """Σ c."""
        return float(self.bins.confidence.sum())

    @property
    def squared_error_sum(self) -> float:
        """Σ (c − y)² of this draw."""
        return max(0.0, float((self.bins.squared - 2 * self.bins.confident_correct).sum()) + self.n_correct)

    @property
    def log_loss(self) -> float:
        """Raises Unavailable: a draw keeps no single confidence."""
        raise Unavailable("A draw keeps no single confidence.")

    @property
    def impossible(self) -> int:
        """None: what has probability 0 is never drawn."""
        return 0

    def binned(self, scheme: Scheme) -> Binned:
        """The bins; raises Unavailable for another scheme than the draw was added up for."""
        if scheme != self.bins.scheme:
            raise Unavailable("A draw is added up for one scheme.")
        return self.bins

    def pooled(self) -> NullDrawSums:
        """Itself: a draw is added up over the classes or by class, as it was asked for."""
        return self

    def natural_bins(self) -> Binned:
        """Raises Unavailable: a draw keeps no single confidence."""
        raise Unavailable("A draw keeps no single confidence.")


@dataclass(frozen=True, slots=True, eq=False)
class ConfidenceMoments:
    """The pairs of each cell that are drawn right: mean, and at most the variance, of their confidence."""

    mean: NDArray[np.float64]
    variance_bound: NDArray[np.float64]

    @classmethod
    def from_sums(
        cls,
        n: NDArray[np.int64],
        confidence_sum: NDArray[np.float64],
        squared_confidence_sum: NDArray[np.float64],
    ) -> ConfidenceMoments:
        """From n, Σc and Σc² of each cell of the finest grid: drawn is a pair as often as it is confident.

        Its mean confidence is then Σc²/Σc. With confidences within 1/FINEST of one another their variance
        is no more than the plain one times the largest over the mean, and no more than 1/(2·FINEST)².
        """
        some = confidence_sum > 0
        mean = np.divide(squared_confidence_sum, confidence_sum, out=np.zeros(some.size), where=some)
        plain = confidence_sum / n
        variance = squared_confidence_sum / n - plain**2
        variance[variance < 1e-13 * plain**2] = 0.0  # what rounding leaves of equal confidences
        most = variance * np.divide(plain + 1 / FINEST_BINS, plain, out=np.ones(some.size), where=some)
        return cls(mean, np.minimum(most, 0.25 / FINEST_BINS**2))


@dataclass(frozen=True, slots=True, eq=False)
class BinnedNullDraws:
    """Draws for the bins of one scheme; iterating gives each draw as sums.

    binned: of the data; rows, groups: as in `Sums`; draws: R; seed: of the draws; bins: number of a draw
    → `binned` with its outcomes; blur: what the Σcy of the draws may lack of their spread, added up over the
    bins and divided by the rows: within a cell every confidence counts as their mean.
    """

    data_bins: Binned
    rows: int
    groups: int
    n_draws: int
    seed: int
    bins_of_draw: Callable[[int], Binned]
    missing_spread: float = 0.0

    def __iter__(self) -> Iterator[NullDrawSums]:
        pairs = int(self.data_bins.count.sum())
        for number in range(self.n_draws):
            yield NullDrawSums(self.bins_of_draw(number), self.rows, self.groups, pairs)


def sum_draws(
    binned: Binned,
    sums: Sums,
    seed: int,
    correct_counts: NDArray[np.int32],
    bin_position: NDArray[np.intp],
    moments: ConfidenceMoments | None = None,
) -> BinnedNullDraws:
    """Draws kept for every cell.

    drawn: right outcomes, shape (R, cells); place: bin of each cell, as a position in `binned`, each bin
    having a cell, shape (cells,); likely: the pairs that are drawn right there, None where nothing but
    their number is asked for.
    """
    moments = moments or ConfidenceMoments(np.zeros(bin_position.size), np.zeros(bin_position.size))
    order = np.argsort(bin_position, kind="stable")
    start = np.searchsorted(bin_position[order], np.arange(binned.size))
    correct_counts = correct_counts[:, order]
    right = np.add.reduceat(correct_counts, start, axis=1) if binned.size else correct_counts[:, :0]
    weighed = (
        np.add.reduceat(correct_counts * moments.mean[order], start, axis=1) if binned.size else right * 1.0
    )

    def bins_of_draw(draw: int) -> Binned:
        correct = right[draw].astype(np.int64)
        return binned.with_outcomes(correct, weighed[draw])

    lacking = np.bincount(
        bin_position[order],
        correct_counts.mean(axis=0) * moments.variance_bound[order],
        minlength=binned.size,
    )
    blur = float(np.sqrt(lacking).sum()) / max(sums.rows, 1)
    return BinnedNullDraws(binned, sums.rows, sums.groups, correct_counts.shape[0], seed, bins_of_draw, blur)


def sum_sparse_draws(
    binned: Binned,
    sums: Sums,
    seed: int,
    n_draws: int,
    draw_index: NDArray[np.int32],
    bin_position: NDArray[np.intp],
    correct_counts: NDArray[np.int32],
) -> BinnedNullDraws:
    """Draws kept only where something was drawn: `right` outcomes of draw `draw` in bin `place`.

    draw: ascending; place: a position in `binned`, which may come again; shape (n,) each.
    """
    start = np.searchsorted(draw_index, np.arange(n_draws + 1))

    def bins_of_draw(draw: int) -> Binned:
        part = slice(int(start[draw]), int(start[draw + 1]))
        correct = np.bincount(bin_position[part], correct_counts[part], minlength=binned.size).astype(
            np.int64
        )
        return binned.with_outcomes(correct, np.full(binned.size, np.nan))

    return BinnedNullDraws(binned, sums.rows, sums.groups, n_draws, seed, bins_of_draw)


# MERGED pair_draws: Which rows would be right if every confidence were exactly right?  One pair a row: binomial draws.
#
# Drawn once, on the finest grid, for every M together: within a cell the confidences differ by less than
# 1/3000, so that a binomial draw at their mean has their mean and, to one part in millions, their variance.

NULL_SEED: Final = 0
"""Of the draws."""


class BinomialDraws:
    """Draws for pairs of one class that do not depend on one another."""

    def __init__(self, sums: BinSums) -> None:
        self._sums = sums
        self._fine = sums.binned(Scheme("width", FINEST_BINS))

    def null_draws(self, scheme: Scheme) -> BinnedNullDraws:
        """The draws in the bins of any scheme.

        The cells that an edge of the scheme cuts are drawn anew in their parts, each at its own mean;
        all others are the same draws whatever the scheme.
        """
        binned = self._sums.binned(scheme)
        if scheme.binning == "width" and FINEST_BINS % scheme.bins == 0:
            bin_ = self._fine.index // (FINEST_BINS // scheme.bins)
            place = np.searchsorted(binned.index, bin_)
            return sum_draws(binned, self._sums, NULL_SEED, self._fine_draws, place)
        return self._draws_with_cut_cells(scheme)

    @cached_property
    def _fine_draws(self) -> NDArray[np.int32]:
        return _draw_binomial(np.random.default_rng(NULL_SEED), self._fine.count, self._fine.confidence)

    @cached_property
    def _fine_cell(self) -> NDArray[np.intp]:
        """The finest bin of each distinct confidence, as a position in `_fine`."""
        return np.searchsorted(self._fine.index, self._sums.bin_index(Scheme("width", FINEST_BINS)))

    def _draws_with_cut_cells(self, scheme: Scheme) -> BinnedNullDraws:
        binned, cells = self._sums.binned(scheme), self._sums.distinct
        index = self._sums.bin_index(scheme)
        start = segment_starts(self._fine_cell, index)
        part, bin_ = self._fine_cell[start], index[start]
        whole = np.bincount(part, minlength=self._fine.size)[part] == 1
        count = np.add.reduceat(cells.count, start)
        confidence = np.add.reduceat(cells.value * cells.count, start)
        drawn = np.empty((N_DRAWS, part.size), np.int32)
        drawn[:, whole] = self._fine_draws[:, part[whole]]
        anew = np.random.default_rng([NULL_SEED, BINNINGS.index(scheme.binning), scheme.bins])
        drawn[:, ~whole] = _draw_binomial(anew, count[~whole], confidence[~whole])
        place = np.searchsorted(binned.index, bin_)
        return sum_draws(binned, self._sums, NULL_SEED, drawn, place)


def _draw_binomial(
    rng: np.random.Generator, n_pairs: NDArray[np.int64], confidence_sum: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Right ones of `count` pairs whose confidences add up to `confidence`; shape (DRAWS, cells)."""
    chance = np.clip(confidence_sum / n_pairs, 0.0, 1.0)
    return rng.binomial(n_pairs, chance, size=(N_DRAWS, n_pairs.size)).astype(np.int32)


# MERGED row_draws: Which class would be right if every distribution were exactly right?  One class a row, drawn from it.
#
# Never one outcome a cell: the classes of a row exclude one another, and draws that forget it spread too far.

MAX_DENSE_CLASSES: Final = 64
"""Up to so many classes a row, each is compared with the random number in turn."""

MAX_TABLE_KEYS: Final = 1_000_000
"""Up to so many keys are told apart by a table, without sorting."""


@dataclass(frozen=True, slots=True, eq=False)
class CellDraws:
    """How often each cell was drawn.

    group, bin: class and bin of each cell, shape (cells,); draw, cell, count: cells that were drawn, by
    draw, shape (n,); pooled: drawn classes of all groups in each piece of [0, 1], shape (DRAWS, pieces);
    piece_bin: bin of each piece; likely: the classes that are drawn there.
    """

    group: NDArray[np.intp]
    bin: NDArray[np.intp]
    draw_index: NDArray[np.int32]
    drawn_cell: NDArray[np.int32]
    count: NDArray[np.int32]
    pooled_counts: NDArray[np.int32]
    piece_bin: NDArray[np.intp]
    moments: ConfidenceMoments


class CategoricalDraws:
    """Draws of the right class of each row, from its probabilities divided by their sum."""

    def __init__(self, distribution: Distribution) -> None:
        self._rows = distribution
        self._latest: dict[int, CellDraws] = {}

    def null_draws(self, sums: Sums, scheme: Scheme) -> BinnedNullDraws:
        """The draws in equal-width bins: by class where `sums` are kept so, else all classes together.

        An M that divides FINEST is read off draws that are kept; any other draws the same classes again.
        """
        on_grid = FINEST_BINS % scheme.bins == 0
        tally = self._fine_draws if on_grid else self._cell_draws_for(scheme.bins)
        step = FINEST_BINS // scheme.bins if on_grid else 1
        binned = sums.binned(scheme)
        if sums.groups == 1:
            place = np.searchsorted(binned.index, tally.piece_bin // step)
            return sum_draws(binned, sums, NULL_SEED, tally.pooled_counts, place, tally.moments)
        key = binned.group * np.int64(scheme.bins) + binned.index
        place = np.searchsorted(key, tally.group * np.int64(scheme.bins) + tally.bin // step)
        return sum_sparse_draws(
            binned, sums, NULL_SEED, N_DRAWS, tally.draw_index, place[tally.drawn_cell], tally.count
        )

    @cached_property
    def _fine_draws(self) -> CellDraws:
        return self._cell_draws(bin_of(self._rows.probs, FINEST_BINS), FINEST_BINS)

    def _cell_draws_for(self, bins: int) -> CellDraws:
        """Draws in the bins of an M that the grid does not serve, cut by the grid, too; the last is kept."""
        tally = self._latest.get(bins)
        if tally is None:
            tally = self._cell_draws(bin_of(self._rows.probs, bins), bins)
            self._latest = {bins: tally}
        return tally

    def _cell_draws(self, bin_: NDArray[np.intp], bins: int) -> CellDraws:
        # Both rise with the confidence, so their sum tells every pair of them apart.
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
            bin=bin_of_piece[occupied % pieces],
            draw_index=draw,
            drawn_cell=drawn,
            count=count,
            pooled_counts=pooled[:, used],
            piece_bin=bin_of_piece[used],
            moments=ConfidenceMoments.from_sums(pairs[used], mass[used], square[used]),
        )

    def _count_draws(
        self, cell: NDArray[np.int32], cell_piece: NDArray[np.intp], pieces: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """Tally.draw, .cell, .count and .pooled; cell: of each pair; piece: of each cell."""
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
        """Per draw, where in `probs` the drawn class of each row stands, shape (rows,); ever the same."""
        random = np.random.default_rng(NULL_SEED)
        start, classes = self._rows.row_starts, self._rows.n_classes
        upto = _cumulative_probabilities(self._rows)
        if classes > MAX_DENSE_CLASSES:
            line = upto + np.repeat(np.arange(self._rows.n), self._rows.sizes)
            rows = np.arange(self._rows.n)
            last = start + self._rows.sizes - 1
            for _ in range(N_DRAWS):
                yield np.minimum(np.searchsorted(line, rows + random.random(rows.size), side="right"), last)
            return
        edges = np.full((classes, self._rows.n), np.inf, np.float32)
        edges[self._rows.class_index, np.repeat(np.arange(self._rows.n), self._rows.sizes)] = upto
        for _ in range(N_DRAWS):
            point = random.random(self._rows.n, np.float32)
            passed = np.zeros(self._rows.n, np.uint8)
            for edge in edges[:-1]:
                passed += point >= edge
            yield start + passed


def _cumulative_probabilities(distribution: Distribution) -> NDArray[np.float64]:
    """Σ of the probabilities of a row up to and with each class, over their sum; ends with exactly 1."""
    total = np.cumsum(distribution.probs, dtype=np.float64)
    last = distribution.row_starts + distribution.sizes - 1
    before = total[distribution.row_starts] - distribution.probs[distribution.row_starts]
    within = total - np.repeat(before, distribution.sizes)
    return within / np.repeat(within[last], distribution.sizes)


def _factorize(keys: NDArray[np.int64], n_keys: int) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """The different keys in order, and which of them each key is; keys are below `most`, shape (pairs,)."""
    if n_keys > max(keys.size, MAX_TABLE_KEYS):
        different, number = np.unique(keys, return_inverse=True)
        return different.astype(np.intp), number.astype(np.int32)
    occurs = np.bincount(keys, minlength=n_keys) > 0
    return np.flatnonzero(occurs), (np.cumsum(occurs, dtype=np.int32) - 1)[keys]


NULL_QUANTILES: Final = (0.5, 0.05, 0.95)
"""Middle, low and high end of the null band."""

MAX_MISSING_SPREAD: Final = 0.1
"""Draws of a mass-weighted metric that may lack more of their spread than this share are no null."""


class NullSource(Protocol):
    """What outcomes can be drawn for: evidence, as far as a null distribution needs it."""

    @cached_property
    def null_cache(self) -> dict[tuple[str, Scheme], tuple[int, NDArray[np.float64]]]:
        """Metric and scheme → seed and value of each draw; empty at first, filled here."""
        ...

    def null_draws(self, metric: Metric, scheme: Scheme) -> BinnedNullDraws | None:
        """The bins of this metric with outcomes drawn from the confidences; None where there is no null."""
        ...


@dataclass(frozen=True, slots=True)
class NullDistribution:
    """One metric at several M, over draws of the outcomes from the confidences themselves.

    draws: R; seed: of the draws; median, low, high: per M, the middle and the 5th and 95th percentile;
    p: per M, (1 + draws at least as large as the observed value) / (1 + R), None where nothing was observed;
    rsd_median, rsd_low, rsd_high: the same of the RSD over these M, since one draw serves all M; None
    where the RSD is not defined; rsd_p: share of draws with an RSD at least as large, counted likewise;
    change_p: likewise, of draws in which the number rises at least as much from the first M to the last.
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
    change_p: float | None = None

    @property
    def recipe_text(self) -> str:
        """What a recipe says of it: "p over R=199 draws, seed 0"."""
        return f"p over R={self.n_draws} draws, seed {self.seed}"


def null_distribution(
    evidence: NullSource,
    metric: Metric,
    schemes: Sequence[Scheme],
    observed: Sequence[float | None],
) -> NullDistribution | None:
    """The null of the metric under each scheme; None where one of them has none.

    observed: the metric's values there, None where there is none.
    """
    found = metric_draws(evidence, metric, schemes)
    if found is None:
        return None
    seed, table = found
    median, low, high = np.quantile(table, NULL_QUANTILES, axis=1)
    return NullDistribution(
        n_draws=table.shape[1],
        seed=seed,
        median=tuple(median.tolist()),
        low=tuple(low.tolist()),
        high=tuple(high.tolist()),
        p=tuple(
            None if value is None else monte_carlo_p_value(own, value)
            for own, value in zip(table, observed, strict=True)
        ),
    )


def metric_draws(
    evidence: NullSource, metric: Metric, schemes: Sequence[Scheme]
) -> tuple[int, NDArray[np.float64]] | None:
    """Seed and the metric of every draw under each scheme, shape (schemes, R); None where one has no null."""
    drawn: list[NDArray[np.float64]] = []
    seed = 0
    for scheme in schemes:
        values = _draws_of_scheme(evidence, metric, scheme)
        if values is None:
            return None
        seed, kept = values
        drawn.append(kept)
    if len({kept.size for kept in drawn}) != 1:  # no scheme, or some M of draws by class, which are fewer
        return None
    return seed, np.array(drawn)


def monte_carlo_p_value(draws: NDArray[np.float64], observed: float) -> float:
    """(1 + draws at least as large) / (1 + R): never 0, since the data is one of the draws under the null."""
    return (1 + int(np.count_nonzero(draws >= observed - ROUNDING_TOLERANCE))) / (1 + draws.size)


def _draws_of_scheme(
    evidence: NullSource, metric: Metric, scheme: Scheme
) -> tuple[int, NDArray[np.float64]] | None:
    """Seed and the metric of every draw; kept with the evidence."""
    key = (metric.id, scheme)
    if key not in evidence.null_cache:
        redrawn = evidence.null_draws(metric, scheme)
        if redrawn is None:
            return None
        values = np.array([metric.compute(outcome, scheme) for outcome in redrawn], np.float64)
        if metric.required_sums == "squares" and redrawn.missing_spread > MAX_MISSING_SPREAD * np.median(
            values
        ):
            return None
        values.flags.writeable = False
        evidence.null_cache[key] = (redrawn.seed, values)
    return evidence.null_cache[key]
