"""Maps from a confidence to the accuracy it stands for: temperature, Platt, beta, isotonic and histogram.

A map is fitted to pairs (confidence, outcome) and is a handful of numbers. It is never judged on rows it was
fitted on: `out_of_fold` gives every row the value of a map fitted to the other folds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from calib_core.edges import FINEST_BINS, Floats64, Scheme, bin_between, bin_by_rank
from calib_core.inference.clusters import deal_folds
from calib_core.metrics.brier_decomposition import recalibrated_accuracy
from calib_core.pairs import Distribution

EPSILON: Final = 0.5 / FINEST_BINS
"""How far logistic maps keep from 0 and 1, before the logarithm and after: the centre of the finest bin."""

CHOICE_FLOOR: Final = 1e-12
"""Least probability of a choice before a logarithm is taken."""

TEMPERATURE_RANGE: Final = (0.05, 20.0)
"""Between these a temperature is searched: at either end answers are all but certain, or all but equal."""

PENALTY: Final = 1e-3
"""Weight of the ridge penalty towards the map that changes nothing, which makes every fit unique."""

_MAX_NEWTON_STEPS: Final = 100

HISTOGRAM_MAP_BINS: Final = 10
"""Bins of equal mass of the histogram."""

MAX_KNOTS: Final = 100_000
"""Most numbers in one list of a map that is read."""

Parameters: TypeAlias = Mapping[str, float | tuple[float, ...]]
"""The numbers of a map by name."""


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """Pairs counted by distinct confidence.

    Attributes
    ----------
    value : NDArray[np.float64], shape (k,)
        Distinct confidences, ascending; at least one.
    count, correct : NDArray[np.int64], shape (k,)
        Number of pairs at each, and of right ones among them.
    """

    value: Floats64
    count: NDArray[np.int64]
    correct: NDArray[np.int64]

    @classmethod
    def from_pairs(cls, confidence: Floats64, correct: NDArray[np.bool_]) -> Levels:
        """The levels of pairs, at least one."""
        value, level = np.unique(confidence, return_inverse=True)
        return cls(
            value,
            np.bincount(level, minlength=value.size),
            np.bincount(level[correct], minlength=value.size),
        )

    @property
    def n(self) -> int:
        """Number of pairs."""
        return int(self.count.sum())


@dataclass(frozen=True, slots=True)
class MapKind:
    """A family of maps.

    Attributes
    ----------
    id, title : str
    meaning : str
        In one sentence, for help texts.
    source : str
    formula : str
        Of the recalibrated probability p, by the names of the parameters.
    scalars : Mapping[str, tuple[float, float]]
        Parameter → its least and largest value, of those that are one number.
    lists : tuple of str
        Names of the parameters that are lists.
    fit : Callable[[Levels], Parameters]
    apply : Callable[[Parameters, NDArray[np.float64]], NDArray[np.float64]]
        Parameters and confidences, shape (n,) → probabilities in [0, 1], shape (n,).
    """

    id: str
    title: str
    meaning: str
    source: str
    formula: str
    scalars: Mapping[str, tuple[float, float]]
    lists: tuple[str, ...]
    fit: Callable[[Levels], Parameters]
    apply: Callable[[Parameters, Floats64], Floats64]


# --- The maps -----------------------------------------------------------------------------------------------


def _scalar(parameters: Parameters, name: str) -> float:
    value = parameters[name]
    return value if isinstance(value, float) else float(value[0])  # type: ignore[index]


def _list(parameters: Parameters, name: str) -> Floats64:
    return np.asarray(parameters[name], np.float64)


def _logit(confidence: Floats64) -> Floats64:
    clipped = np.clip(confidence, EPSILON, 1 - EPSILON)
    return np.log(clipped) - np.log1p(-clipped)


def _sigmoid(logit: Floats64) -> Floats64:
    return np.exp(-np.logaddexp(0.0, -logit))


def _logistic(z: Floats64) -> Floats64:
    """1/(1 + exp(−z)), cut at ε and 1 − ε."""
    return np.clip(_sigmoid(z), EPSILON, 1 - EPSILON)


def _fit_temperature(levels: Levels) -> Parameters:
    logit, wrong = _logit(levels.value), levels.count - levels.correct

    def loss(log_temperature: float) -> float:
        scaled = logit / np.exp(log_temperature)
        return float(levels.correct @ np.logaddexp(0, -scaled) + wrong @ np.logaddexp(0, scaled))

    return {"temperature": _best_temperature(loss)}


def _best_temperature(loss: Callable[[float], float]) -> float:
    """The temperature of least loss plus a penalty on its logarithm; `loss` takes the logarithm."""
    from scipy.optimize import minimize_scalar  # noqa: PLC0415 - slow to import, and rarely needed

    found = minimize_scalar(
        lambda log_t: loss(log_t) + PENALTY / 2 * log_t**2,
        bounds=tuple(np.log(TEMPERATURE_RANGE)),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return float(np.exp(found.x))


def _platt_targets(levels: Levels) -> Floats64:
    """Sums of Platt's targets at each level: (N₊ + 1)/(N₊ + 2) if right, 1/(N₋ + 2) if wrong."""
    n_right = int(levels.correct.sum())
    n_wrong = levels.n - n_right
    wrong = levels.count - levels.correct
    return levels.correct * ((n_right + 1) / (n_right + 2)) + wrong / (n_wrong + 2)


def _fit_logistic(levels: Levels, features: Floats64, origin: Floats64) -> tuple[Floats64, float]:
    """Weights of a logistic regression to Platt's targets, and their loss, by Newton's method.

    The targets keep the fit finite where all answers are right, or none is; the penalty towards `origin`
    makes it unique.
    """
    target = _platt_targets(levels)

    def loss_of(weights: Floats64) -> float:
        z, away = features @ weights, weights - origin
        return float(levels.count @ np.logaddexp(0, z) - target @ z + PENALTY / 2 * away @ away)

    weights = origin
    loss = loss_of(weights)
    for _ in range(_MAX_NEWTON_STEPS):
        p = _sigmoid(features @ weights)
        slope = features.T @ (levels.count * p - target) + PENALTY * (weights - origin)
        curvature = (features.T * (levels.count * p * (1 - p))) @ features + PENALTY * np.eye(weights.size)
        step = np.linalg.solve(curvature, slope)
        size = 1.0
        while (next_loss := loss_of(weights - size * step)) > loss and size > 1e-10:
            size /= 2
        if loss - next_loss <= 1e-12 * (1 + abs(loss)):
            break
        weights, loss = weights - size * step, next_loss
    return weights, loss


def _fit_platt(levels: Levels) -> Parameters:
    features = np.column_stack([_logit(levels.value), np.ones(levels.value.size)])
    weights, _ = _fit_logistic(levels, features, np.array([1.0, 0.0]))
    return dict(zip(("slope", "intercept"), weights.tolist(), strict=True))


def _apply_platt(parameters: Parameters, confidence: Floats64) -> Floats64:
    return _logistic(_scalar(parameters, "slope") * _logit(confidence) + _scalar(parameters, "intercept"))


def _beta_features(confidence: Floats64) -> Floats64:
    clipped = np.clip(confidence, EPSILON, 1 - EPSILON)
    return np.column_stack([np.log(clipped), -np.log1p(-clipped), np.ones(clipped.size)])


def _fit_beta(levels: Levels) -> Parameters:
    """The best fit with a, b ≥ 0, found among those in which either, both or neither is held at 0."""
    features, origin = _beta_features(levels.value), np.array([1.0, 1.0, 0.0])
    best, least = origin, np.inf
    for kept in ([0, 1, 2], [1, 2], [0, 2], [2]):
        of_kept, loss = _fit_logistic(levels, features[:, kept], origin[kept])
        loss += PENALTY / 2 * float((origin**2).sum() - (origin[kept] ** 2).sum())
        weights = np.zeros(3)
        weights[kept] = of_kept
        if (weights[:2] >= 0).all() and loss < least:
            best, least = weights, loss
        if len(kept) == 3 and np.isfinite(least):
            break  # no bound is active
    return dict(zip(("a", "b", "intercept"), best.tolist(), strict=True))


def _apply_beta(parameters: Parameters, confidence: Floats64) -> Floats64:
    weights = np.array([_scalar(parameters, name) for name in ("a", "b", "intercept")])
    return _logistic(_beta_features(confidence) @ weights)


def _never_certain(probability: Floats64, n: int) -> Floats64:
    """Probabilities cut at 1/(n + 2) and (n + 1)/(n + 2), n being the rows of the fit."""
    return np.clip(probability, 1 / (n + 2), (n + 1) / (n + 2))


def _fit_isotonic(levels: Levels) -> Parameters:
    fitted = _never_certain(recalibrated_accuracy(levels.count, levels.correct), levels.n)
    differs = np.diff(fitted) != 0
    knots = np.concatenate([[True], differs]) | np.concatenate([differs, [True]])
    return {
        "confidence": tuple(levels.value[knots].tolist()),
        "probability": tuple(fitted[knots].tolist()),
    }


def _apply_isotonic(parameters: Parameters, confidence: Floats64) -> Floats64:
    return np.interp(confidence, _list(parameters, "confidence"), _list(parameters, "probability"))


def _fit_histogram(levels: Levels) -> Parameters:
    index = bin_by_rank(levels.value, levels.count, Scheme("mass", HISTOGRAM_MAP_BINS), round_ties=False)
    _, bin_ = np.unique(index, return_inverse=True)
    count, correct = (np.bincount(bin_, weights) for weights in (levels.count, levels.correct))
    last = np.flatnonzero(np.diff(bin_))
    edges = (levels.value[last] + levels.value[last + 1]) / 2
    return {
        "edges": tuple(edges.tolist()),
        "probability": tuple(_never_certain(correct / count, levels.n).tolist()),
    }


def _apply_histogram(parameters: Parameters, confidence: Floats64) -> Floats64:
    return _list(parameters, "probability")[bin_between(confidence, _list(parameters, "edges"), "right")]


_ANY: Final = (-1e9, 1e9)

MAP_KINDS: Final[Mapping[str, MapKind]] = MappingProxyType(
    {
        kind.id: kind
        for kind in (
            MapKind(
                "temperature",
                "Temperature",
                "One number that makes all probabilities more or less extreme; their order stays the same.",
                "Guo et al. 2017, arXiv:1706.04599",
                "p = σ(logit(c) / temperature)",
                {"temperature": TEMPERATURE_RANGE},
                (),
                _fit_temperature,
                lambda parameters, c: _logistic(_logit(c) / _scalar(parameters, "temperature")),
            ),
            MapKind(
                "platt",
                "Platt",
                "A logistic curve: a level and a spread.",
                "Platt 1999, Advances in Large Margin Classifiers; on the logit of the probability",
                "p = σ(slope · logit(c) + intercept)",
                {"slope": _ANY, "intercept": _ANY},
                (),
                _fit_platt,
                _apply_platt,
            ),
            MapKind(
                "beta",
                "Beta",
                "A curve of three numbers that may bend differently near 0 and near 1.",
                "Kull, Silva Filho, Flach 2017, doi:10.1214/17-EJS1338SI",
                "p = σ(a · ln c − b · ln(1 − c) + intercept)",
                {"a": (0.0, 1e9), "b": (0.0, 1e9), "intercept": _ANY},
                (),
                _fit_beta,
                _apply_beta,
            ),
            MapKind(
                "isotonic",
                "Isotonic",
                "The best-fitting curve that never falls.",
                "Zadrozny, Elkan 2002, doi:10.1145/775047.775151",
                "p linear between the knots (confidence, probability)",
                {},
                ("confidence", "probability"),
                _fit_isotonic,
                _apply_isotonic,
            ),
            MapKind(
                "histogram",
                "Histogram",
                f"The share that came true in each of {HISTOGRAM_MAP_BINS} bins of equal mass.",
                "Zadrozny, Elkan 2001, ICML",
                "p = probability of the bin, closed on the right, between the edges",
                {},
                ("edges", "probability"),
                _fit_histogram,
                _apply_histogram,
            ),
        )
    }
)
"""Every map by id."""


# --- Out of fold --------------------------------------------------------------------------------------------


def out_of_fold(
    kind: MapKind,
    confidence: Floats64,
    correct: NDArray[np.bool_],
    cluster: NDArray[np.intp] | None,
    folds: int,
    seed: int,
) -> Floats64:
    """Recalibrates each row by a map fitted to the rows of the other folds.

    Parameters
    ----------
    kind : MapKind
    confidence : NDArray[np.float64], shape (n,)
        In [0, 1].
    correct : NDArray[np.bool_], shape (n,)
    cluster : NDArray[np.intp] or None, shape (n,)
        Question of each row, numbered from 0, whose rows share a fold; None if each row is its own.
    folds, seed : int
        Number of folds, at least 2, and the seed by which questions are dealt into them.

    Returns
    -------
    NDArray[np.float64], shape (n,)
        In [0, 1].

    Raises
    ------
    ValueError
        With fewer questions than folds.
    """
    fold = deal_folds(confidence.size, cluster, folds, seed)
    recalibrated = np.empty_like(confidence)
    for number in range(folds):
        held_out = fold == number
        parameters = kind.fit(Levels.from_pairs(confidence[~held_out], correct[~held_out]))
        recalibrated[held_out] = kind.apply(parameters, confidence[held_out])
    return recalibrated


# --- Temperature of whole distributions ---------------------------------------------------------------------


def fit_choice_temperature(distribution: Distribution) -> Parameters:
    """The temperature of p_k^(1/T) / Σ_j p_j^(1/T) with the least log-loss of the right choices."""
    log_prob = _log_choices(distribution)
    target = distribution.row_starts + distribution.target

    def loss(log_temperature: float) -> float:
        scaled = log_prob / np.exp(log_temperature)
        return float((_log_sums(scaled, distribution) - scaled[target]).sum())

    return {"temperature": _best_temperature(loss)}


def tempered_choices(distribution: Distribution, temperature: float) -> Floats64:
    """Probabilities p_k^(1/T) / Σ_j p_j^(1/T) of every choice, shape (Σ sizes,)."""
    scaled = _log_choices(distribution) / temperature
    return np.exp(scaled - np.repeat(_log_sums(scaled, distribution), distribution.sizes))


def out_of_fold_choices(
    distribution: Distribution, cluster: NDArray[np.intp] | None, folds: int, seed: int
) -> Floats64:
    """As `out_of_fold`, with one temperature for all choices of the held-out rows; shape (Σ sizes,)."""
    fold = deal_folds(distribution.n, cluster, folds, seed)
    probs = np.empty(distribution.probs.size)
    for number in range(folds):
        held_out, others = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        temperature = _scalar(fit_choice_temperature(distribution.take(others)), "temperature")
        of_choices = np.repeat(fold == number, distribution.sizes)
        probs[of_choices] = tempered_choices(distribution.take(held_out), temperature)
    return probs


def _log_choices(distribution: Distribution) -> Floats64:
    return np.log(np.maximum(distribution.probs.astype(np.float64), CHOICE_FLOOR))


def _log_sums(scaled: Floats64, distribution: Distribution) -> Floats64:
    """Ln Σ exp over the choices of each row, shape (n,)."""
    starts = distribution.row_starts
    largest = np.maximum.reduceat(scaled, starts)
    return largest + np.log(np.add.reduceat(np.exp(scaled - np.repeat(largest, distribution.sizes)), starts))
