"""Checks of top-k lists: padding, repetitions, sums, missing values."""

from __future__ import annotations

import math
from typing import Any

import pytest

from calib_core.errors import BadRowsFound
from core.readers.topk_files import GOOD, METADATA, ReadText, lines, log_probabilities, only_run


def test_lists_in_any_order_and_their_pads(read_text: ReadText) -> None:
    records = [
        {**GOOD, "top_ids": [1, 0], "top_logprobs": log_probabilities(0.3, 0.5)},
        {**GOOD, "top_ids": [0, 1, -1, -1], "top_logprobs": [*log_probabilities(0.5, 0.3), -1.0, "-inf"]},
        {**GOOD, "top_ids": [0, 1, 0, 0], "top_logprobs": [*log_probabilities(0.5, 0.3), "-inf", "-inf"]},
        {**GOOD, "top_ids": [0, 1, None], "top_logprobs": [*log_probabilities(0.5, 0.3), None]},
    ]
    sums = only_run(read_text(lines(*records))).sums
    assert sums.n_rows == 4
    assert sums.all_labels.count.tolist() == [28, 4, 4]
    assert sums.unstored is not None
    assert sums.unstored.min_stored == 2


def test_padding_is_not_a_position(read_text: ReadText) -> None:
    pad = {"target": -100, "top_ids": [0, 1], "top_logprobs": ["nan", 3], "vocab_size": 9}
    reading = read_text(lines(GOOD, pad, pad))
    run = only_run(reading)
    assert (reading.n_rows, reading.n_bad_rows, run.n_total, run.sums.n_rows) == (3, 0, 1, 1)
    assert run.row_counts.notes == ("2 targets are −100, which is padding: these rows are not positions.",)


def test_missing_values_lower_n_and_are_not_a_fault(read_text: ReadText) -> None:
    records = [
        GOOD,
        {**GOOD, "target": None},
        {**GOOD, "top_ids": []},
        {**GOOD, "top_logprobs": None},
        {**GOOD, "vocab_size": None},
        {**GOOD, "top_ids": [-1, -1]},
        {**GOOD, "top_logprobs": [*log_probabilities(0.5), None]},
        {**GOOD, "top_ids": [0, None]},
    ]
    reading = read_text(lines(*records))
    run = only_run(reading)
    assert (reading.n_bad_rows, run.n_total, run.row_counts.n_left_out, run.sums.n_rows) == (0, 8, 0, 1)


@pytest.mark.parametrize(
    ("changed", "kind", "column", "found"),
    [
        ({"target": 9}, "target outside the vocabulary", "target", "9"),
        ({"target": -1}, "target outside the vocabulary", "target", "-1"),
        ({"target": 1.5}, "not a class", "target", "1.5"),
        ({"target": "x"}, "not a class", "target", "x"),
        ({"top_ids": [0, 9]}, "class outside the vocabulary", "top_ids", "9"),
        ({"top_ids": [0, -2]}, "not a whole number", "top_ids", "-2"),
        ({"top_ids": [1, 1]}, "repeated class", "top_ids", "1"),
        ({"top_ids": [0, 1, 2]}, "lists of different lengths", "top_logprobs", "2 instead of 3"),
        ({"top_ids": "none"}, "not a list", "top_ids", "none"),
        ({"top_logprobs": ["nan", -1]}, "not a number", "top_logprobs", "nan"),
        ({"top_logprobs": [0.0011, -9]}, "out of range", "top_logprobs", "0.0011"),
        ({"target_logprob": "nan"}, "not a number", "target_logprob", "nan"),
        ({"target_logprob": 0.5}, "out of range", "target_logprob", "0.5"),
        ({"target": 5, "target_logprob": None}, "target without a probability", "target", "5"),
        (
            {"top_logprobs": log_probabilities(0.7, 0.3015)},
            "more than all the probability",
            "top_logprobs",
            "1.0015",
        ),
        (
            {"target": 5, "target_logprob": math.log(0.21), "top_logprobs": log_probabilities(0.5, 0.295)},
            "more than all the probability",
            "top_logprobs",
            "1.005",
        ),
        (
            {"target": 5, "target_logprob": math.log(0.2), "top_logprobs": log_probabilities(0.5, 0.1)},
            "target above the list",
            "target_logprob",
            "0.2",
        ),
        ({"target_logprob": math.log(0.31)}, "two probabilities of the target", "target_logprob", "0.31"),
        (
            {"top_logprobs": log_probabilities(0.5, 0.02), "target_logprob": None},
            "less than all the probability",
            "top_logprobs",
            "0.52",
        ),
        ({"rest_mass": 0.5}, "another rest", "rest_mass", "0.5"),
        ({"vocab_size": 0}, "not a whole number", "vocab_size", "0"),
    ],
)
def test_present_but_wrong_values_are_bad_rows(
    read_text: ReadText, changed: dict[str, Any], kind: str, column: str, found: str
) -> None:
    reading = read_text(lines(GOOD, {**GOOD, **changed}, GOOD))
    assert [(problem.kind, problem.count) for problem in reading.problems] == [(kind, 1)]
    (cell,) = reading.problems[0].first_cells
    assert (cell.row, cell.line, cell.column, cell.found) == (2, 2, column, found)
    assert cell.expected
    assert cell.fix
    with pytest.raises(BadRowsFound):
        reading.runs(skip_bad_rows=False)
    run = only_run(reading, skip_bad_rows=True)
    assert (run.n_total, run.row_counts.n_left_out, run.sums.n_rows) == (3, 1, 2)


def test_a_record_that_is_none_is_bad(read_text: ReadText) -> None:
    reading = read_text(lines(GOOD) + "{oops\n" + lines(GOOD))
    assert [(problem.kind, problem.count) for problem in reading.problems] == [("not JSON", 1)]
    assert (only_run(reading, skip_bad_rows=True).row_counts.n_left_out, reading.n_bad_rows) == (1, 1)


def test_a_logarithm_a_little_above_zero_is_clipped_and_counted(read_text: ReadText) -> None:
    record = {"target": 0, "top_ids": [0], "top_logprobs": [0.0009], "vocab_size": 9, "target_logprob": 1e-4}
    run = only_run(read_text(lines(record, GOOD)))
    assert dict(run.row_counts.clipped) == {"top_logprobs": 1, "target_logprob": 1}
    assert run.sums.all_labels.confidence[-1] == 1.0


def test_a_sum_a_little_off_is_used_as_stored_and_counted(read_text: ReadText) -> None:
    over = {**GOOD, "top_logprobs": log_probabilities(0.7, 0.3005), "target_logprob": None}
    whole = {**GOOD, "vocab_size": 9, "top_logprobs": log_probabilities(0.7, 0.3), "target_logprob": None}
    run = only_run(read_text(lines(over, whole, GOOD)))
    assert run.row_counts.n_inexact_sums == 1
    assert run.sums.sum_deviation == pytest.approx(0.0005)


def test_an_impossible_target_is_known(read_text: ReadText) -> None:
    sums = only_run(read_text(lines({**GOOD, "target": 5, "target_logprob": "-inf"}))).sums
    assert (sums.all_labels.n_infinite_losses, sums.all_labels.n_correct, sums.top_label.n_correct) == (
        1,
        1,
        0,
    )


def widest_bound(read_text: ReadText, *records: dict[str, Any]) -> float:
    unseen = only_run(read_text(lines(*records))).sums.unstored
    assert unseen is not None
    return float(unseen.mass_bounds[12][1])


def test_an_appended_target_is_told_by_its_list_being_longer(read_text: ReadText) -> None:
    told = {
        **GOOD,
        "target": 5,
        "top_logprobs": log_probabilities(0.3, 0.2),
        "target_logprob": math.log(0.01),
    }
    added = {
        **told,
        "top_ids": [0, 1, 5],
        "top_logprobs": log_probabilities(0.3, 0.2, 0.01),
        "target_logprob": None,
    }
    other = {**GOOD, "top_logprobs": log_probabilities(0.6, 0.4), "target_logprob": None}
    assert widest_bound(read_text, told, other) == pytest.approx(0.49)
    assert widest_bound(read_text, added, other) == pytest.approx(0.49)
    metadata = {"calib": {**METADATA, "k": 2}}
    assert widest_bound(read_text, metadata, added) == pytest.approx(0.49)


def test_a_target_that_ends_a_list_as_long_as_others_is_one_of_the_largest(read_text: ReadText) -> None:
    record = {
        **GOOD,
        "vocab_size": 99,
        "target": 1,
        "top_logprobs": log_probabilities(0.9, 0.01),
        "target_logprob": None,
    }
    assert widest_bound(read_text, record) == 0  # nothing that is left is above .01
