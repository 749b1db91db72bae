"""Are the maps the best of their family, and is no row judged by a map that has seen its question?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from calib_core.inference.clusters import deal_folds
from calib_core.inference.recalibration import (
    EPSILON,
    MAP_KINDS,
    PENALTY,
    Levels,
    fit_choice_temperature,
    out_of_fold,
    out_of_fold_choices,
    tempered_choices,
)
from calib_core.pairs import Distribution

Pairs = tuple[NDArray[np.float64], NDArray[np.bool_]]


def drawn(seed: int, n: int = 300) -> Pairs:
    """Over-confident in steps of 1/40, with 0 and 1 among them."""
    random = np.random.default_rng(seed)
    c = np.round(random.beta(3, 1.2, n) * 40) / 40
    c[:3] = [0.0, 1.0, 1.0]
    return c, random.random(n) < 0.1 + 0.7 * c


def mean_loss(p: NDArray[np.float64], target: NDArray[np.float64]) -> float:
    return float(-(target * np.log(p) + (1 - target) * np.log(1 - p)).sum())


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    ("by", "origin", "bounds"),
    [("platt", (1, 0), (None, None)), ("beta", (1, 1, 0), (0, 0, None)), ("temperature", (1,), (0.05,))],
)
def test_the_logistic_maps_have_the_least_penalised_loss(
    by: str, origin: tuple[float, ...], bounds: tuple[float | None, ...], seed: int
) -> None:
    c, y = drawn(seed)
    kind = MAP_KINDS[by]
    fitted = kind.fit(Levels.from_pairs(c, y))
    names = list(fitted)
    n_right = int(y.sum())
    smooth = np.where(y, (n_right + 1) / (n_right + 2), 1 / (y.size - n_right + 2))
    target = y.astype(float) if by == "temperature" else smooth

    def loss(values: NDArray[np.float64]) -> float:
        p = kind.apply(dict(zip(names, values.tolist(), strict=True)), c)
        away = np.log(values) if by == "temperature" else values - np.array(origin)
        return mean_loss(p, target) + PENALTY / 2 * float(away @ away)

    best = minimize(
        loss, np.array(origin, float), bounds=[(low, None) for low in bounds], options={"ftol": 1e-14}
    )
    ours = np.array([fitted[name] for name in names], float)
    assert loss(ours) <= best.fun + 1e-7
    assert ours == pytest.approx(best.x, abs=2e-2)


def test_the_curves_are_their_formulas() -> None:
    c = np.array([0.0, 0.2, 0.9, 1.0])
    x = np.clip(c, EPSILON, 1 - EPSILON)
    logit = np.log(x / (1 - x))
    applied = MAP_KINDS["platt"].apply({"slope": 0.5, "intercept": -0.3}, c)
    assert applied == pytest.approx(1 / (1 + np.exp(0.3 - 0.5 * logit)))
    applied = MAP_KINDS["temperature"].apply({"temperature": 2.0}, c)
    assert applied == pytest.approx(1 / (1 + np.exp(-logit / 2)))
    applied = MAP_KINDS["beta"].apply({"a": 2.0, "b": 0.5, "intercept": 0.1}, c)
    uncut = 1 / (1 + np.exp(-(2 * np.log(x) - 0.5 * np.log(1 - x) + 0.1)))
    assert applied == pytest.approx(np.maximum(uncut, EPSILON))
    assert uncut[0] < EPSILON


def isotonic_oracle(levels: Levels) -> list[Fraction]:
    """Max over starts of the min over ends of the mean from start to end, in fractions."""
    k = levels.value.size
    means = {
        (i, j): Fraction(int(levels.correct[i : j + 1].sum()), int(levels.count[i : j + 1].sum()))
        for i in range(k)
        for j in range(i, k)
    }
    return [max(min(means[i, j] for j in range(at, k)) for i in range(at + 1)) for at in range(k)]


def test_isotonic_is_the_least_squares_curve_that_never_falls() -> None:
    c, y = drawn(3, 60)
    levels = Levels.from_pairs(c, y)
    kind = MAP_KINDS["isotonic"]
    fitted = kind.fit(levels)
    expected = np.clip([float(p) for p in isotonic_oracle(levels)], 1 / 62, 61 / 62)
    assert kind.apply(fitted, levels.value) == pytest.approx(expected)
    assert len(fitted["confidence"]) < levels.value.size  # type: ignore[arg-type]
    # Between two knots the curve is a line, beyond the outer ones it is flat.
    knots, heights = np.array(fitted["confidence"]), np.array(fitted["probability"])
    middle = (knots[1:] + knots[:-1]) / 2
    assert kind.apply(fitted, middle) == pytest.approx((heights[1:] + heights[:-1]) / 2)


def test_the_histogram_holds_the_accuracy_of_its_bins() -> None:
    c = np.repeat(np.arange(20) / 20, 5)
    y = np.arange(100) % 20 >= 8
    kind = MAP_KINDS["histogram"]
    fitted = kind.fit(Levels.from_pairs(c, y))
    assert fitted["edges"] == pytest.approx(np.arange(1.5, 19, 2) / 20)
    expected = np.clip(y.reshape(10, 10).mean(axis=1), 1 / 102, 101 / 102)
    assert fitted["probability"] == pytest.approx(expected)
    assert kind.apply(fitted, np.array([0.0, 0.05, 0.075, 0.1, 1.0])) == pytest.approx(
        expected[[0, 0, 0, 1, 9]]
    )


@pytest.mark.parametrize("by", MAP_KINDS)
@pytest.mark.parametrize(
    ("confidence", "right"),
    [
        ([0.0, 1.0], [0, 1]),
        ([1.0, 1.0], [1, 0]),
        ([0.3, 0.8], [1, 1]),
        ([0.0, 1.0], [0, 0]),
        ([0.7, 0.7], [1, 1]),
    ],
    ids=["certain", "constant 1", "all right", "all wrong", "constant, all right"],
)
def test_extreme_rows_never_become_certain(by: str, confidence: list[float], right: list[int]) -> None:
    c, y = np.tile(confidence, 20), np.tile(np.array(right, np.bool_), 20)
    kind = MAP_KINDS[by]
    fitted = kind.fit(Levels.from_pairs(c, y))
    applied = kind.apply(fitted, np.array([0.0, 0.3, 0.7, 1.0]))
    assert np.isfinite(applied).all()
    assert ((applied > 0) & (applied < 1)).all()


@pytest.mark.parametrize("by", MAP_KINDS)
def test_a_row_s_own_question_never_decides_its_value(by: str) -> None:
    c, y = drawn(4, 100)
    cluster = np.repeat(np.arange(25), 4)
    before = out_of_fold(MAP_KINDS[by], c, y, cluster, 5, 0)
    fold = deal_folds(100, cluster, 5, 0)
    flipped = y ^ (cluster == 7)
    after = out_of_fold(MAP_KINDS[by], c, flipped, cluster, 5, 0)
    same_fold = fold == fold[cluster == 7][0]
    assert (fold[cluster == 7] == fold[cluster == 7][0]).all()
    assert np.array_equal(before[same_fold], after[same_fold])
    assert not np.array_equal(before[~same_fold], after[~same_fold])
    assert not np.array_equal(before, out_of_fold(MAP_KINDS[by], c, y, cluster, 5, 1))


def test_fewer_questions_than_folds_are_refused() -> None:
    c, y = drawn(5, 12)
    with pytest.raises(ValueError, match="5 folds need as many clusters, not 3"):
        out_of_fold(MAP_KINDS["platt"], c, y, np.repeat(np.arange(3), 4), 5, 0)


def choices(seed: int, n: int = 200) -> Distribution:
    """Two to four choices a row, three times too extreme."""
    random = np.random.default_rng(seed)
    sizes = random.integers(2, 5, n)
    probs, target = [], []
    for size in sizes:
        logits = random.standard_normal(size)
        chance = np.exp(logits) / np.exp(logits).sum()
        target.append(random.choice(size, p=chance))
        sharp = np.exp(3 * logits)
        probs += (sharp / sharp.sum()).tolist()
    return Distribution(
        np.array(probs), sizes, np.array(target), np.arange(n), computed=True, normalised=True
    )


def test_the_temperature_of_choices_undoes_a_known_one() -> None:
    distribution = choices(6, 2_000)
    (found,) = fit_choice_temperature(distribution).values()
    assert isinstance(found, float)
    assert found == pytest.approx(3.0, rel=0.08)
    right = distribution.row_starts + distribution.target
    losses = [
        -np.log(tempered_choices(distribution, t)[right]).sum() for t in (found * 0.98, found, found * 1.02)
    ]
    assert losses[1] == min(losses)
    tempered = tempered_choices(distribution, 3.0)
    assert np.add.reduceat(tempered, distribution.row_starts) == pytest.approx(np.ones(distribution.n))
    first = slice(0, int(distribution.sizes[0]))
    powers = distribution.probs[first] ** (1 / 3)
    assert tempered[first] == pytest.approx(powers / powers.sum())


def test_choices_are_tempered_by_other_questions() -> None:
    distribution = choices(7, 60)
    cluster = np.repeat(np.arange(20), 3)
    fold = deal_folds(60, cluster, 4, 0)
    probs = out_of_fold_choices(distribution, cluster, 4, 0)
    for number in range(4):
        others, own = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        temperature = fit_choice_temperature(distribution.take(others))["temperature"]
        expected = tempered_choices(distribution.take(own), temperature)  # type: ignore[arg-type]
        assert probs[np.repeat(fold == number, distribution.sizes)] == pytest.approx(expected)
