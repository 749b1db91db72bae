"""A subset of the samples gives the same result as if it were the whole set."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from calib_core.errors import Unavailable
from calib_core.methods.answers.cluster import ABSENT_CODE
from calib_core.methods.answers.subsample import SampleMatrix, sample_matrix, subsample_confidences
from calib_core.methods.answers.unparseable import UnparseableRule
from calib_core.methods.method import MethodOptions
from core import confidence_oracle as oracle
from core.confidence_runs import Row, confidences, run_of, sampled_question

RULES: tuple[UnparseableRule, ...] = ("own", "one", "drop")
METHODS = ("cluster_number", "cluster_size", "pairwise")


def codes_of(*rows: Row, rule: UnparseableRule = "own") -> SampleMatrix:
    return sample_matrix(run_of(rows), MethodOptions(unparseable=rule))


@pytest.mark.parametrize("rule", RULES)
@given(rows=st.lists(st.lists(st.integers(ABSENT_CODE, 4), min_size=6, max_size=6), min_size=1, max_size=8))
def test_any_samples_say_what_the_definitions_say(rule: UnparseableRule, rows: list[list[int]]) -> None:
    drawn = np.array(rows, np.int32)
    values, majority, tied = subsample_confidences(drawn, rule)
    for at, row in enumerate(rows):
        texts = [None if code < 0 else str(code) for code in row if code != ABSENT_CODE]
        question: Row = {"answer_kind": "number", "gold": "0", "samples": texts}
        exact = oracle.cluster_samples(question, rule)
        if exact is None:
            assert (majority[at], tied[at]) == (-1, False)
            assert all(np.isnan(value[at]) for value in values)
            continue
        assert (majority[at], tied[at]) == (exact.answer, exact.tied)
        for method, value in zip(METHODS, values, strict=True):
            exact_confidence = oracle.self_consistency(question, method, rule)
            assert (
                np.isnan(value[at])
                if exact_confidence is None
                else value[at] == float(exact_confidence.confidence)
            )


@given(rule=st.sampled_from(RULES), rows=st.lists(sampled_question(), min_size=1, max_size=6))
def test_all_samples_say_what_the_methods_say(rule: UnparseableRule, rows: list[Row]) -> None:
    rows = [*rows, {"answer_kind": "number", "gold": "1", "samples": ["1", "2", "1"]}]
    run = run_of(rows)
    coded = sample_matrix(run, MethodOptions(unparseable=rule))
    values, majority, _ = subsample_confidences(coded.codes[coded.usable_rows], rule)
    right = coded.cluster_correct[coded.usable_rows, majority]
    for method, value in zip(METHODS, values, strict=True):
        result = confidences(method, run, unparseable=rule)
        assert result.pairs.rows.tolist() == coded.usable_rows.tolist()
        assert result.pairs.confidence.tolist() == value.tolist()
        assert result.pairs.correct.tolist() == right.astype(bool).tolist()


def test_codes_are_numbered_as_the_answers_came() -> None:
    coded = codes_of(
        {"gold": "2", "samples": ["x", "2", "1", "1.0", "$2", "3"]}, {"gold": "1", "samples": ["1", "2"]}
    )
    assert coded.codes.tolist() == [[-1, 0, 1, 1, 0, 2], [0, 1, -2, -2, -2, -2]]
    assert coded.n_samples.tolist() == [6, 2]
    assert coded.cluster_correct.tolist() == [[1, 0, 0, -1, -1, -1], [1, 0, -1, -1, -1, -1]]
    assert coded.judged == "majority answer"


def test_a_tie_goes_to_the_answer_drawn_first() -> None:
    drawn = np.array([[3, 0, 0, 3], [0, 3, 3, 0], [-1, 2, 1, ABSENT_CODE]], np.int32)
    _, majority, tied = subsample_confidences(drawn, "own")
    assert majority.tolist() == [3, 0, 2]
    assert tied.tolist() == [True, True, True]


def test_a_row_is_usable_where_whichever_answer_wins_is_judged() -> None:
    coded = codes_of(
        {"gold": "1", "samples": ["1", "2"]},
        {"samples": ["1", "2", "2"], "correct_majority": True},
        {"samples": ["2", "2"], "correct_majority": True},
        {"samples": ["1", "2", "1"], "sample_correct": [True, False, None]},
        {"samples": ["1", "2", "1"], "sample_correct": [True, None, True]},
        {"gold": "1", "samples": ["1"]},
        {"gold": "1", "samples": ["x", "y"]},
        {"gold": "1", "samples": ["1", "1"], "status": "error"},
        {"gold": "1", "samples": []},
    )
    assert coded.usable_rows.tolist() == [0, 2, 3]
    assert coded.cluster_correct[1].tolist() == [-1, 1, -1]


def test_clusters_that_the_file_labels_are_judged_by_its_judge() -> None:
    asked: Row = {"gold": "Paris", "samples": ["the capital", "Paris", "Rome"], "sample_cluster": [5, 5, -3]}
    coded = codes_of({**asked, "sample_correct": [True, True, False]}, asked)
    assert coded.codes.tolist() == [[0, 0, 1], [0, 0, 1]]
    assert coded.cluster_correct.tolist() == [[1, 0, -1], [0, 0, -1]]


@pytest.mark.parametrize(
    ("reason", "rows"),
    [
        ("^no column samples", [{"gold": "1"}]),
        ("only the majority of all samples is judged", [{"samples": ["1", "2"], "correct_majority": True}]),
        ("only one sample", [{"gold": "1", "samples": ["1"]}]),
        ("no row has two samples", [{"samples": ["1", "2"]}]),
    ],
)
def test_a_run_that_cannot_be_drawn_from_is_refused_with_the_reason(reason: str, rows: list[Row]) -> None:
    with pytest.raises(Unavailable, match=reason):
        codes_of(*rows)


def test_sixty_four_different_answers_are_exact() -> None:
    drawn: NDArray[np.int32] = np.arange(64, dtype=np.int32)[None, :]
    values, majority, tied = subsample_confidences(drawn, "own")
    assert [value.tolist() for value in values] == [[0.0], [1 / 64], [float(Fraction(1, 2**63))]]
    assert (majority.tolist(), tied.tolist()) == ([0], [True])
