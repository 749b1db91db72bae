"""Is F_CN = 1 − |C|/N, as one quotient of whole numbers?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.errors import Unavailable
from core import confidence_oracle as oracle
from core.confidence_runs import FEWER, Row, agrees, confidences, run_of, sampled_question


@pytest.mark.parametrize("rule", ["own", "one", "drop"])
@FEWER
@given(rows=st.lists(sampled_question(), min_size=1, max_size=6))
def test_it_is_the_exact_number(rule: str, rows: list[Row]) -> None:
    expected = [oracle.self_consistency(row, "cluster_number", rule) for row in rows]
    if any(expected):
        assert agrees(confidences("cluster_number", run_of(rows), unparseable=rule), expected)
    else:
        with pytest.raises(Unavailable):
            confidences("cluster_number", run_of(rows), unparseable=rule)


def test_a_confidence_of_whole_numbers_is_the_nearest_double() -> None:
    samples = [str(answer) for answer in (*range(3), *[0] * 7)]
    result = confidences("cluster_number", run_of([{"gold": "0", "samples": samples}]))
    assert result.pairs.confidence.tolist() == [7 / 10]  # 1 − 3/10 in doubles is 0.7, 1 − 0.3 need not be
    assert confidences(
        "cluster_number", run_of([{"gold": "0", "samples": ["0"] * 16}])
    ).pairs.confidence.tolist() == [0.9375]


@pytest.mark.parametrize("n", range(2, 33))
def test_every_quotient_is_rounded_once(n: int) -> None:
    rows: list[Row] = [
        {"gold": "0", "samples": [str(min(at, clusters - 1)) for at in range(n)]}
        for clusters in range(1, n + 1)
    ]
    result = confidences("cluster_number", run_of(rows))
    assert result.pairs.confidence.tolist() == [(n - clusters) / n for clusters in range(1, n + 1)]


def test_the_ceiling_is_remarked() -> None:
    rows: list[Row] = [{"gold": "0", "samples": ["0"] * 16}, {"gold": "0", "samples": ["0"] * 4}]
    assert confidences("cluster_number", run_of(rows)).remarks == (
        "F_CN is at most 1 − 1/N = 0.9375 with these samples",
    )


def test_the_weakness_on_multiple_choice_is_remarked() -> None:
    row: Row = {"gold": "red", "choices": ["red", "blue"], "samples": ["red", "blue", "red"]}
    assert any("multiple choice" in text for text in confidences("cluster_number", run_of([row])).remarks)
