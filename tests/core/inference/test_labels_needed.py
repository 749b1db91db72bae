"""How many labels are needed: the curve, and the number that it takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calib_core.inference.intervals import Z_975
from calib_core.inference.labels_needed import LabelsNeeded, labels_for_pass_rate, labels_for_share
from calib_core.inference.pass_rate import prediction_powered

Bools = np.ndarray[Any, np.dtype[np.bool_]]


def test_the_number_is_where_the_curve_reaches_the_width() -> None:
    for needed in (LabelsNeeded(0.0, 0.2, 5000, 100), LabelsNeeded(0.00004, 0.07, 2000, 100)):
        for within in (0.03, 0.05, 0.1):
            count = needed.needed(within)
            assert count is not None
            around = needed.half_width(np.array([count - 1.0, count]))
            assert around[1] <= within < around[0]


def test_all_rows_may_be_too_few() -> None:
    assert LabelsNeeded(0.0, 0.25, 300, 100).needed(0.05) is None
    assert LabelsNeeded(0.001, 0.001, 300, 100).needed(0.05) is None
    assert LabelsNeeded(0.0, 0.25, 400, 100).needed(0.05) == 385


def drawn(n: int = 1500) -> tuple[Bools, Bools, Bools]:
    """Judge, people, and which rows are labelled."""
    random = np.random.default_rng(1)
    human = random.random(n) < 0.7
    return human ^ (random.random(n) < 0.15), human, np.arange(n) < n // 5


def test_the_curve_goes_through_the_interval_at_hand() -> None:
    judge, human, labelled = drawn()
    curve, alone = labels_for_pass_rate(judge, human, labelled)
    rate = prediction_powered(judge, human, labelled)
    assert curve.half_width(np.array([300.0]))[0] == pytest.approx(rate.width / 2, rel=0.05)
    share = human[labelled].mean()
    assert alone.half_width(np.array([300.0]))[0] == pytest.approx(
        Z_975 * (share * (1 - share) / 300) ** 0.5, rel=0.02
    )
    # With all rows labelled, the judge no longer matters.
    ends = [each.half_width(np.array([1500.0]))[0] for each in (curve, alone)]
    assert ends[0] == pytest.approx(ends[1], rel=0.02)


def test_a_judge_that_contradicts_people_brings_nothing() -> None:
    human, labelled = np.arange(100) < 60, np.arange(100) % 2 == 0
    contrary, alone = labels_for_pass_rate(~human, human, labelled)
    assert contrary == alone
    agreeing, _ = labels_for_pass_rate(human, human, labelled)
    assert agreeing.by_label < 0.15 * alone.by_label


def test_whole_questions_count_once_however_many_are_labelled() -> None:
    """Five equal rows a question: five times as many labels are needed."""
    judge, human, labelled = (np.repeat(each, 5) for each in drawn())
    question = np.repeat(np.arange(1500), 5)
    pairs = zip(
        (
            *labels_for_pass_rate(judge[::5], human[::5], labelled[::5]),
            labels_for_share(human[::5], labelled[::5]),
        ),
        (
            *labels_for_pass_rate(judge, human, labelled, question),
            labels_for_share(human, labelled, question),
        ),
        strict=True,
    )
    for once, repeated in pairs:
        assert repeated.by_label == pytest.approx(5 * once.by_label, rel=0.02)
        assert repeated.fixed == pytest.approx(once.fixed, rel=0.02, abs=1e-12)


def test_scattered_labels_come_to_repeat_questions() -> None:
    """Of equal rows, one labelled in each question: more labels tell less and less."""
    human = np.repeat(drawn()[1], 5)
    question, labelled = np.repeat(np.arange(1500), 5), np.tile(np.arange(5) == 0, 1500)
    _, needed = labels_for_pass_rate(human, human, labelled, question)
    first, last = needed.half_width(np.array([1500.0, 7500.0]))
    assert last == pytest.approx(first, rel=0.02)
    assert needed.needed(first - 0.001) is None
