"""Agreement, κ and α, compared with scikit-learn and krippendorff, and their intervals."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import product
from typing import Any, Final, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app_server import ROOT
from calib_core.inference.agreement import (
    AlphaLevel,
    KappaWeights,
    _added_rows,  # pyright: ignore[reportPrivateUsage] - its sum is the claim
    cohen_kappa,
    confusion,
    constant_agreement,
    few_questions,
    kappa_weights,
    krippendorff_alpha,
    mean_bias,
    share_of,
    share_within,
)
from calib_core.inference.intervals import share_interval, t_975

OTHERS: Final[dict[str, list[dict[str, Any]]]] = json.loads(
    (ROOT / "tests" / "fixtures" / "judge.json").read_text(encoding="utf-8")
)
UNWEIGHTED: Final = 1 - np.eye(2)


@pytest.mark.parametrize("case", OTHERS["kappa"], ids=lambda case: str(len(case["judge"])))
def test_kappa_is_scikit_learns(case: dict[str, Any]) -> None:
    judge, human = np.array(case["judge"]), np.array(case["human"])
    values = np.arange(judge.max() + 1, dtype=np.float64)
    for weights, expected in case["kappa"].items():
        found = cohen_kappa(judge, human, kappa_weights(values, cast("KappaWeights", weights)))
        assert found is not None
        assert found.value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("case", OTHERS["alpha"], ids=lambda case: str(len(case["labels"])))
def test_alpha_is_krippendorffs(case: dict[str, Any]) -> None:
    labels, values = np.array(case["labels"]), np.array(case["values"], float)
    for level, expected in case["alpha"].items():
        found = krippendorff_alpha(labels, values, cast("AlphaLevel", level))
        assert found is not None
        assert found.value == pytest.approx(expected, abs=1e-9)
        assert found.interval is not None
        assert found.interval[0] <= found.value <= found.interval[1]
        assert found.n == int(((labels >= 0).sum(axis=1) >= 2).sum())


LABELS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=60)


@given(LABELS)
def test_kappa_in_exact_fractions(rows: list[tuple[int, int]]) -> None:
    judge, human = np.array(rows).T
    n = len(rows)
    observed = Fraction(sum(one == other for one, other in rows), n)
    expected = sum(
        Fraction(int((judge == label).sum()) * int((human == label).sum()), n * n) for label in range(3)
    )
    found = cohen_kappa(judge, human, kappa_weights(np.arange(3.0), "none"))
    if expected == 1:
        assert found is None
        return
    assert found is not None
    assert found.value == pytest.approx(float((observed - expected) / (1 - expected)), abs=1e-12)
    assert found.interval is not None
    assert -1 <= found.interval[0] <= found.value + 1e-12
    assert found.value - 1e-12 <= found.interval[1] <= 1
    assert found.influence.mean() == pytest.approx(0, abs=1e-9)


def test_the_influence_is_the_derivative() -> None:
    """Of κ, of α, and of a share within: what a little more weight on one row changes."""
    random = np.random.default_rng(1)
    judge, human = random.integers(0, 3, 40), random.integers(0, 3, 40)
    judge[:20] = human[:20]
    weights = kappa_weights(np.arange(3.0), "linear")
    n, copies = 40, 5000
    whole = cohen_kappa(judge, human, weights)
    assert whole is not None
    for row in (3, 25, 38):
        more = np.concatenate([np.tile(np.arange(n), copies), [row]])
        heavier = cohen_kappa(judge[more], human[more], weights)
        assert heavier is not None
        assert (heavier.value - whole.value) * more.size == pytest.approx(whole.influence[row], rel=1e-2)
    hit, within = judge == human, human == 1
    share = share_within(hit, within)
    row = int(np.flatnonzero(within)[0])
    more = np.concatenate([np.tile(np.arange(n), copies), [row]])
    heavier_share = share_within(hit[more], within[more]).value
    assert (heavier_share - share.value) * more.size == pytest.approx(share.influence[row], rel=1e-2)


def test_the_interval_of_kappa_by_hand() -> None:
    """1.96 standard errors (Fleiss, Cohen & Everitt 1969) about κ of the table with one row added a cell."""
    table = np.array([[41, 6], [8, 15]])
    judge, human = (np.repeat(at, table.ravel()) for at in np.indices((2, 2)).reshape(2, 4))
    p = (table + 1) / (table.sum() + 4)
    row, column, agreed = p.sum(axis=1), p.sum(axis=0), float(np.trace(p))
    chance = float(row @ column)
    kappa = (agreed - chance) / (1 - chance)
    # Their formula, cell by cell.
    diagonal = sum(p[i, i] * (1 - (row[i] + column[i]) * (1 - kappa)) ** 2 for i in range(2))
    off = (1 - kappa) ** 2 * sum(
        p[i, j] * (column[i] + row[j]) ** 2 for i, j in product(range(2), repeat=2) if i != j
    )
    variance = (diagonal + off - (kappa - chance * (1 - kappa)) ** 2) / (1 - chance) ** 2 / (table.sum() + 4)
    found = cohen_kappa(judge, human, UNWEIGHTED)
    assert found is not None
    half = t_975(table.sum() - 1) * variance**0.5
    assert found.interval == pytest.approx((kappa - half, kappa + half), abs=1e-12)


def test_confusion_counts_by_judge_and_person() -> None:
    table = confusion(np.array([0, 0, 0, 1, 2]), np.array([0, 1, 1, 1, 0]), 3)
    assert table.tolist() == [[1, 2, 0], [0, 1, 0], [1, 0, 0]]


def test_a_constant_judge_gives_the_most_frequent_label() -> None:
    assert constant_agreement(np.array([0, 2, 2, 1, 2])) == 0.6


def test_shares_have_wilsons_interval() -> None:
    hit = np.array([True] * 8 + [False] * 2)
    assert share_of(hit).interval == share_interval(hit)
    within = np.array([True] * 5 + [False] * 5)
    inside = share_within(hit, within)
    assert (inside.value, inside.n) == (1.0, 5)
    assert inside.interval == share_interval(np.ones(5, bool))


def test_repeated_questions_widen_every_interval() -> None:
    random = np.random.default_rng(2)
    human, right = random.integers(0, 2, 60), random.random(60) < 0.8
    judge = np.where(right, human, 1 - human)
    question = np.repeat(np.arange(60), 5)
    judge_5, human_5 = judge[question], human[question]
    once, repeated = (
        cohen_kappa(judge, human, UNWEIGHTED),
        cohen_kappa(judge_5, human_5, UNWEIGHTED, question),
    )
    naive = cohen_kappa(judge_5, human_5, UNWEIGHTED)
    assert once is not None and repeated is not None and naive is not None  # noqa: PT018
    widths = [np.diff(one.interval or (0, 0))[0] for one in (once, repeated, naive)]
    # Identical rows of a question say what one row says, but for the rows added.
    assert widths[1] == pytest.approx(widths[0], rel=0.05)
    assert widths[2] < 0.55 * widths[1]
    two = np.stack([judge_5, human_5], axis=1)
    alphas = [krippendorff_alpha(two, np.arange(2.0), cluster=each) for each in (question, None)]
    ends = [one.interval for one in alphas if one is not None and one.interval is not None]
    assert ends[0][1] - ends[0][0] > 1.8 * (ends[1][1] - ends[1][0])


def test_alpha_counts_a_row_once_however_many_people_label_it() -> None:
    """Twelve people who always say the same say no more of other rows than two of them."""
    random = np.random.default_rng(3)
    truth = random.integers(0, 2, 80)
    one = np.where(random.random(80) < 0.2, 1 - truth, truth)
    twice = krippendorff_alpha(np.stack([truth, one], axis=1), np.arange(2.0))
    often = krippendorff_alpha(np.stack([truth, one] * 6, axis=1), np.arange(2.0))
    assert twice is not None and often is not None  # noqa: PT018
    assert twice.interval is not None and often.interval is not None  # noqa: PT018
    assert often.interval[1] - often.interval[0] > 0.5 * (twice.interval[1] - twice.interval[0])


def test_few_questions_have_no_interval() -> None:
    judge, human = np.array([0, 1] * 40), np.array([0, 1, 1, 1] * 20)
    few = np.arange(80) // 4
    found = cohen_kappa(judge, human, UNWEIGHTED, few)
    assert found is not None
    assert found.interval is None
    assert "20 different questions" in found.no_interval
    rare = np.array([1] * 72 + [0] * 8)
    found = cohen_kappa(judge, rare, UNWEIGHTED, np.arange(80) // 2)
    assert found is not None
    assert found.interval is None
    assert "4 of 40 different questions" in found.no_interval
    assert few_questions(np.arange(80) // 2) == few_questions(None) == ""


def test_bias_is_the_mean_difference() -> None:
    judge, human = np.array([5.0, 4, 3, 3, 5, 2]), np.array([4.0, 4, 3, 2, 5, 1])
    found = mean_bias(judge, human)
    assert found.value == 0.5
    assert found.interval is not None
    assert found.interval[0] < 0.5 < found.interval[1]
    same = mean_bias(judge, judge)
    assert same.interval is not None
    assert same.interval[0] < 0 < same.interval[1]  # six equal labels do not show that all are


def test_what_is_not_defined() -> None:
    ones = np.ones(10, np.intp)
    assert cohen_kappa(ones, ones, UNWEIGHTED) is None
    assert krippendorff_alpha(np.ones((10, 2), np.intp), np.arange(2.0)) is None
    assert krippendorff_alpha(np.array([[0, 1], [1, -1], [-1, -1]]), np.arange(2.0)) is None


def test_added_rows_of_five_labels_disagree_as_much_as_agree() -> None:
    """Half a row each way; of five labels, near ones and frequent ones differ most often."""
    two = _added_rows(np.array([[90.0, 3], [2, 5]]), UNWEIGHTED)
    assert two == pytest.approx(np.full((2, 2), 0.25))
    table = np.diag([1.0, 1, 1, 7, 90])
    for weights in ("none", "linear", "quadratic"):
        disagreement = kappa_weights(np.arange(5.0), cast("KappaWeights", weights))
        added = _added_rows(table, disagreement)
        assert np.trace(added) == pytest.approx(0.5)
        assert added.sum() == pytest.approx(1)
        assert np.diag(added) == pytest.approx(np.full(5, 0.1))
        # Σ p is 1, and 1/5 is added to each: (.07 + .2)(.9 + .2) against (.01 + .2)².
        ratio = added[3, 4] / added[0, 1] / (0.27 * 1.1 / 0.21**2)
        assert ratio == pytest.approx(1)
        assert added[0, 1] / added[0, 2] == pytest.approx(disagreement[0, 2] / disagreement[0, 1])
    assert _added_rows(table, None) == pytest.approx(added)


@pytest.mark.parametrize(("weights", "n_added"), [("none", 4), ("linear", 4), ("quadratic", 2)])
def test_squared_distances_have_the_scale_of_fishers_z(weights: KappaWeights, n_added: int) -> None:
    """By the centre and the spread of the table with its added rows."""
    random = np.random.default_rng(6)
    human = random.integers(0, 5, 80)
    judge = np.clip(human + random.integers(-1, 2, 80), 0, 4)
    disagreement = kappa_weights(np.arange(1.0, 6.0), weights)
    found = cohen_kappa(judge, human, disagreement)
    assert found is not None
    assert found.interval is not None
    table = confusion(judge, human, 5).astype(float)
    table += n_added * _added_rows(table, disagreement)
    n = table.sum()
    observed = (disagreement * table).sum() / n
    first, second = table.sum(axis=1) / n, table.sum(axis=0) / n
    expected = first @ disagreement @ second
    centre = 1 - observed / expected
    of_pair = (disagreement @ second)[:, None] + (first @ disagreement)[None, :] - 2 * expected
    influence = -(disagreement - observed) / expected + observed / expected**2 * of_pair
    half = t_975(79) * math.sqrt((table * influence**2).sum()) / n
    ends = (centre - half, centre + half)
    if weights == "quadratic":
        z, half = math.atanh(centre), half / (1 - centre**2)
        ends = (math.tanh(z - half), math.tanh(z + half))
    assert found.interval == pytest.approx(ends)


def test_of_repeated_questions_the_interval_lies_about_the_centre() -> None:
    random = np.random.default_rng(7)
    human = np.repeat(random.integers(0, 5, 60), 2)
    judge = np.clip(human + random.integers(-1, 2, 120), 0, 4)
    found = cohen_kappa(judge, human, kappa_weights(np.arange(5.0), "quadratic"), np.arange(120) // 2)
    assert found is not None
    assert found.interval is not None
    disagreement = kappa_weights(np.arange(5.0), "quadratic")
    table = confusion(judge, human, 5).astype(float)
    table += 4 * _added_rows(table, disagreement)
    expected = table.sum(axis=1) @ disagreement @ table.sum(axis=0) / table.sum()
    centre = 1 - (disagreement * table).sum() / expected
    assert sum(found.interval) / 2 == pytest.approx(centre)


def test_of_two_labels_all_weights_and_levels_have_one_interval() -> None:
    random = np.random.default_rng(8)
    human = random.integers(0, 2, 60)
    judge = np.where(random.random(60) < 0.2, 1 - human, human)
    all_weights: tuple[KappaWeights, ...] = ("none", "linear", "quadratic")
    kappas = [cohen_kappa(judge, human, kappa_weights(np.arange(2.0), one)) for one in all_weights]
    levels: tuple[AlphaLevel, ...] = ("nominal", "ordinal", "interval")
    alphas = [krippendorff_alpha(np.stack([judge, human], axis=1), np.arange(2.0), one) for one in levels]
    for found in (kappas, alphas):
        first, *others = [one.interval for one in found if one is not None and one.interval is not None]
        assert len(others) == 2
        assert all(other == pytest.approx(first) for other in others)


def test_the_influence_on_alpha_is_the_derivative() -> None:
    """Of the ranks behind ordinal α, too."""
    random = np.random.default_rng(4)
    labels = np.clip(random.integers(0, 5, (60, 1)) + random.integers(-1, 2, (60, 3)), 0, 4)
    labels[random.random(labels.shape) < 0.2] = -1
    many = np.repeat(labels, 1000, axis=0)
    for level in ("nominal", "ordinal", "interval"):
        whole = krippendorff_alpha(many, np.arange(5.0), cast("AlphaLevel", level))
        assert whole is not None
        for row in (3, 25, 30):
            heavier = krippendorff_alpha(
                np.concatenate([many, labels[[row]]]), np.arange(5.0), cast("AlphaLevel", level)
            )
            assert heavier is not None
            assert (heavier.value - whole.value) * many.shape[0] == pytest.approx(
                whole.influence[1000 * row], rel=1e-2, abs=1e-4
            )
