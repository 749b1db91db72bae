"""Are lists that stand one position off their targets noticed?"""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.readers.top_lists import ReadText, lines, logs, only_run


def shifted(by: int) -> str:
    chance = np.random.default_rng(0)
    truth = chance.integers(0, 50, 61)
    records = [
        {
            "target": int(truth[at + by]),
            "target_logprob": math.log(0.001),
            "vocab_size": 50,
            "top_ids": [int(truth[at]), (int(truth[at]) + 1) % 50],
            "top_logprobs": logs(0.7, 0.2),
            "doc": "a" if at < 50 else "b",
            "position": at,
        }
        for at in range(60)
    ]
    for record in records:
        if record["target"] in record["top_ids"]:
            record["target_logprob"] = record["top_logprobs"][record["top_ids"].index(record["target"])]
    return lines(*records)


@pytest.mark.parametrize(("by", "place"), [(1, "before"), (-1, "after")])
def test_lists_one_position_off_their_targets_are_noted(read_text: ReadText, by: int, place: str) -> None:
    (note,) = only_run(read_text(shifted(by))).row_counts.notes
    assert f"The target of the row {place} fits better than the row's own" in note
    assert f"give each list the target of the row {place}" in note
    assert "over the first 58 positions" in note


def test_lists_in_their_place_are_not(read_text: ReadText) -> None:
    assert only_run(read_text(shifted(0))).row_counts.notes == ()
