"""A canonical file keeps every value exactly, in JSON that every parser reads."""

from __future__ import annotations

import json

import polars as pl
import pytest

from calib_core.reporting.export.canonical import to_canonical
from calib_core.runs import AnswerRun
from core.reporting.round_trip import KINDS, SOURCE, write_and_read
from core.run_builders import make_answer_run


@pytest.mark.parametrize("kind", KINDS)
def test_a_stored_third_stays_in_its_bin(kind: str) -> None:
    for dtype in (pl.Float16, pl.Float32, pl.Float64):
        stored = pl.Series([m / bins for bins in range(1, 60) for m in range(bins + 1)], dtype=dtype)
        run = make_answer_run({"confidence": stored, "correct": [True] * stored.len()})
        (again,) = write_and_read([run], kind).good_runs
        assert isinstance(again, AnswerRun)
        assert again.rows["confidence"].equals(stored.alias("confidence"), check_dtypes=True)


def test_json_lines_leave_nulls_out_and_know_no_infinity() -> None:
    lines = (
        to_canonical(
            [
                make_answer_run(
                    {
                        "path_logprobs": [[-0.1, float("-inf")], [-0.3], [-0.2], [-0.9]],
                        "correct": [True, False, True, None],
                        "confidence": pl.Series([0.3, 1 / 3, 0.7, 0.9], dtype=pl.Float32),
                    }
                )
            ],
            [SOURCE],
        )
        .to_json_lines()
        .decode()
        .splitlines()
    )
    first, *rows = [json.loads(line, parse_constant=pytest.fail) for line in lines]
    assert first["calib"]["dtypes"] == {"confidence": "Float32"}
    assert rows[0]["path_logprobs"] == [-0.1, "-inf"]
    assert "correct" not in rows[3]
    assert [row["source_row"] for row in rows] == [0, 1, 2, 3]
