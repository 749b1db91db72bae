"""One reading serves both decisions about bad rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from calib_core.errors import BadCell, BadRowsFound, Problem, Refused
from calib_core.readers.format import Reading


def reading(bad_rows: int) -> Reading:
    cell = BadCell("quiz.csv", 5, 6, "confidence", "a number from 0 to 1", "1.2", "Mend it.")
    problems = (Problem("out of range", bad_rows, (cell,)),) if bad_rows else ()
    return Reading("quiz.csv", "table", 5, bad_rows, problems, (), (), ())


def test_without_bad_rows_no_decision_is_needed() -> None:
    assert reading(0).runs(skip_bad_rows=False) == ()


def test_with_bad_rows_nothing_is_loaded_until_somebody_chooses() -> None:
    with pytest.raises(
        BadRowsFound, match=r"1 of 5 rows is bad.*\n.*row 5 \(line 6\), column 'confidence'.*'1.2'"
    ):
        reading(1).runs(skip_bad_rows=False)
    assert reading(1).runs(skip_bad_rows=True) == ()


@pytest.mark.parametrize("skip_bad_rows", [False, True])
def test_where_nothing_can_be_used_there_is_nothing_to_choose(*, skip_bad_rows: bool) -> None:
    refused = replace(reading(1), refusal="quiz.csv: counted from 1.")
    with pytest.raises(Refused, match=r"^quiz.csv: counted from 1.$"):
        refused.runs(skip_bad_rows=skip_bad_rows)
