"""The numbers of a position are uniform, its own, and those of the published generator."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.null_draws import mix64, stratified_draws, stream_states


def test_the_published_numbers() -> None:
    # First outputs of SplitMix64 from state 1234567.
    steps = (np.arange(1, 4, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) + np.uint64(1234567)
    assert mix64(steps).tolist() == [6457827717110365317, 3203168211198807973, 9817491932198370423]
    numbers, draw = stratified_draws(np.array([1234567], np.uint64), 7)
    shift = (6457827717110365317 >> 19) / 2**45
    step = 1 + ((3203168211198807973 >> 32) * 6 >> 32)
    first = (3203168211198807973 & 0xFFFF_FFFF) * 7 >> 32
    np.testing.assert_allclose(numbers[0], (np.arange(7) + shift) / 7, rtol=1e-15)
    assert draw[0].tolist() == [(first + step * place) % 7 for place in range(7)]


def of_draws(n_positions: int, n_draws: int) -> NDArray[np.float64]:
    """The number that each draw gets at each position."""
    states = stratified_draws(stream_states(0, np.arange(n_positions), np.zeros(n_positions)), n_draws)
    numbers = np.empty((n_positions, n_draws))
    np.put_along_axis(numbers, states[1], states[0], axis=1)
    return numbers


def test_uniform_and_unrelated_between_positions() -> None:
    numbers = of_draws(4000, 53)
    assert numbers.min() >= 0
    assert numbers.max() < 1
    for draw in (0, 1, 52):
        counted = np.bincount((numbers[:, draw] * 20).astype(np.int64), minlength=20)
        assert float(((counted - 200) ** 2 / 200).sum()) < 45  # chi-squared, 19 degrees: p < 0.001
        assert abs(np.corrcoef(numbers[:-1, draw], numbers[1:, draw])[0, 1]) < 0.05


def test_any_two_draws_get_any_two_numbers() -> None:
    """So that two draws have the correlation of drawing without replacement, whichever two they are."""
    n_positions, n_draws = 40_000, 5
    strata = (of_draws(n_positions, n_draws) * n_draws).astype(np.int64)
    assert (np.sort(strata, axis=1) == np.arange(n_draws)).all()
    expected = n_positions / (n_draws * (n_draws - 1))
    for one, other in combinations(range(n_draws), 2):
        counted = np.bincount(strata[:, one] * n_draws + strata[:, other], minlength=n_draws**2)
        apart = counted.reshape(n_draws, n_draws)[~np.eye(n_draws, dtype=np.bool_)]
        assert float(((apart - expected) ** 2 / expected).sum()) < 44  # chi-squared, 19 degrees: p < 0.001


def test_every_fact_begins_another_stream() -> None:
    rows, told = np.array([3]), np.array([0.25])
    here = stream_states(1, rows, told)
    others = [
        stream_states(2, rows, told),
        stream_states(1, rows + 1, told),
        stream_states(1, rows, told + 2.0**-50),
    ]
    assert all(other[0] != here[0] for other in others)
