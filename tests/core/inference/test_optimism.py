"""Is a gap split into optimism and the rest, and is it said what is about the model?"""

from __future__ import annotations

from fractions import Fraction
from statistics import mean

import numpy as np
import pytest

from calib_core.inference.intervals import t_975
from calib_core.inference.optimism import MIN_QUESTIONS, Optimism, score_note, split_gap
from calib_core.pairs import Pairs

N = 40
RANDOM = np.random.default_rng(7)


def pairs(confidence: list[float], correct: list[bool], rows: range | list[int]) -> Pairs:
    return Pairs(np.array(confidence), np.array(correct), np.array(rows, np.intp), computed=True)


SHARES = [int(share) for share in RANDOM.integers(2, 5, N)]
HELD = [int(share) for share in RANDOM.integers(0, 3, N)]
RIGHT = [bool(right) for right in RANDOM.random(N) < 0.6]
RIGHT_HELD = [bool(right) for right in RANDOM.random(N) < 0.5]
OWN = pairs([share / 4 for share in SHARES], RIGHT, range(N))
OTHER = pairs([share / 2 for share in HELD], RIGHT_HELD, range(N))


def found(own: Pairs, other: Pairs, cluster: np.ndarray | None = None) -> Optimism:
    optimism = split_gap(own, other, cluster)
    assert optimism is not None
    return optimism


def test_the_parts_are_exact_and_add_up_to_the_gap() -> None:
    gaps = [Fraction(share, 4) - right for share, right in zip(SHARES, RIGHT, strict=True)]
    rests = [Fraction(share, 2) - right for share, right in zip(HELD, RIGHT_HELD, strict=True)]
    optimism = found(OWN, OTHER)
    assert optimism.gap == pytest.approx(float(mean(gaps)), abs=1e-12)
    assert optimism.held_out_gap.value == pytest.approx(float(mean(rests)), abs=1e-12)
    assert optimism.optimism.value + optimism.held_out_gap.value == pytest.approx(optimism.gap, abs=1e-12)
    assert optimism.n == N
    variance = sum((rest - mean(rests)) ** 2 for rest in rests) / (N - 1) / N
    assert optimism.held_out_gap.high == pytest.approx(
        float(mean(rests)) + t_975(N - 1) * float(variance) ** 0.5
    )


def test_rows_with_one_share_only_are_left_out() -> None:
    shifted = pairs([0.5] * N, [True] * N, range(5, N + 5))
    optimism = found(OWN, shifted)
    assert optimism.n == N - 5
    gaps = [share / 4 - right for share, right in zip(SHARES[5:], RIGHT[5:], strict=True)]
    assert optimism.gap == pytest.approx(mean(gaps))


def test_rows_of_a_question_count_together() -> None:
    twice = [pairs(list(one.confidence) * 2, list(one.correct) * 2, range(2 * N)) for one in (OWN, OTHER)]
    cluster = np.tile(np.arange(N), 2)
    once, repeated = found(OWN, OTHER), found(twice[0], twice[1], cluster)
    assert repeated.held_out_gap.low == pytest.approx(once.held_out_gap.low)
    assert found(twice[0], twice[1]).held_out_gap.low > once.held_out_gap.low + 0.01


def test_too_few_questions_have_no_parts() -> None:
    few = [pairs([0.5] * n, [True] * n, range(n)) for n in (MIN_QUESTIONS - 1, MIN_QUESTIONS)]
    assert split_gap(few[0], few[0], None) is None
    assert split_gap(few[1], few[1], None) is not None
    assert split_gap(few[1], few[1], np.arange(MIN_QUESTIONS) // 2) is None


def test_the_note_says_what_is_about_the_model() -> None:
    optimism = found(OWN, OTHER)
    own = score_note("F_CS", optimism, is_share=True, held_out=False)
    assert "as a score, not about the model" in own
    assert str(optimism.optimism) in own
    assert str(optimism.held_out_gap) in own
    assert "too high" in score_note("F_CS", None, is_share=True, held_out=False)
    held_out = score_note("F_CS", optimism, is_share=True, held_out=True)
    assert f"The gap of the mean is {optimism.held_out_gap}." in held_out
    assert "The gap" not in score_note("F_CS", None, is_share=True, held_out=True)
    assert score_note("F_PC", None, is_share=False, held_out=True) == (
        "This is about F_PC as a score: it does not estimate how probable the answer is."
    )
