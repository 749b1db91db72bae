"""How many labels are needed: the curve, and the number that it takes."""

from __future__ import annotations

import numpy as np
import pytest

from calib_core.inference.intervals import Z_975
from calib_core.inference.labels_needed import LabelsNeeded, labels_for_pass_rate, labels_for_share
from calib_core.inference.pass_rate import prediction_powered


def test_the_number_is_where_the_curve_reaches_the_width() -> None:
    for needed in (LabelsNeeded(0.2, 0.0, 5000, 100), LabelsNeeded(0.16, 0.6, 2000, 100)):
        for within in (0.03, 0.05, 0.1):
            count = needed.needed(within)
            assert count is not None
            around = needed.half_width(np.array([count - 1.0, count]))
            assert around[1] <= within < around[0]


def test_all_rows_may_be_too_few() -> None:
    assert LabelsNeeded(0.25, 0.0, 300, 100).needed(0.05) is None
    assert LabelsNeeded(0.25, 0.9, 300, 100).needed(0.05) is None
    assert LabelsNeeded(0.25, 0.0, 400, 100).needed(0.05) == 385


def test_the_curve_goes_through_the_interval_at_hand() -> None:
    random = np.random.default_rng(1)
    human = random.random(1500) < 0.7
    judge = human ^ (random.random(1500) < 0.15)
    labelled = np.arange(1500) < 300
    curve = labels_for_pass_rate(judge[labelled], human[labelled], 1500)
    rate = prediction_powered(judge, human, labelled)
    assert curve.half_width(np.array([300.0]))[0] == pytest.approx(rate.width / 2, rel=0.05)
    alone = labels_for_share(human[labelled], 1500)
    assert alone.half_width(np.array([300.0]))[0] == pytest.approx(
        Z_975 * (human[labelled].mean() * (1 - human[labelled].mean()) / 300) ** 0.5, rel=0.02
    )


def test_a_judge_that_contradicts_people_explains_nothing() -> None:
    human = np.arange(100) < 60
    assert labels_for_pass_rate(~human, human, 1000).explained == 0
    assert labels_for_pass_rate(human, human, 1000).explained > 0.9


def test_repeated_questions_need_more_labels() -> None:
    human = np.repeat(np.arange(40) < 25, 5)
    question = np.repeat(np.arange(40), 5)
    for needed in (labels_for_share, lambda hit, n, cluster=None: labels_for_pass_rate(hit, hit, n, cluster)):
        ratio = needed(human, 1000, question).variance / needed(human, 1000).variance
        assert ratio == pytest.approx(5 * 40 / 39, rel=1e-6)
