"""Are percentages told from probabilities, and a slip from a whole column?"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from calib_core.readers.format import Reading
from calib_core.readers.table import csv_reader

ReadText = Callable[..., Reading]


def test_one_value_above_one_is_a_slip_and_most_are_percentages(read_text: ReadText) -> None:
    slip = read_text("confidence,correct\n0.9,1\n0.8,0\n87,1\n")
    assert (slip.refusal, slip.n_bad_rows) == (None, 1)
    percent = read_text("conf,correct\n0.9,1\n1,0\n87,1\n55,1\n,0\n9,1\n", columns={"conf": "confidence"})
    assert percent.refusal == (
        "quiz.csv: column 'conf' looks like percentages: most of its numbers are above 1 (such as 87), and "
        "numbers from 0 to 1 are expected. Divide the column by 100."
    )
    assert (percent.n_rows, percent.n_bad_rows, percent.good_runs) == (6, 3, ())


@pytest.mark.parametrize("column", ["p_true", "path_mean_prob", "verbal_confidence"])
def test_any_column_of_probabilities_may_hold_percentages(read_text: ReadText, column: str) -> None:
    assert "looks like percentages" in (read_text(f"id,{column}\n1,90\n2,80\n").refusal or "")
    assert "looks like" not in (read_text(f"id,{column}\n1,90\n2,180\n").refusal or "")
    assert "looks like" not in (read_text(f"id,{column}\n1,90\n2,0.8\n").refusal or "")


def test_percentages_are_weighed_over_all_slices(
    read_text: ReadText, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_reader, "ROWS_PER_SLICE", 2)
    few = "confidence\n0.1\n0.2\n50\n60\n0.3\n"
    assert read_text(few).refusal is None
    assert "such as 50" in (read_text(f"{few}70\n").refusal or read_text(f"{few}70\n80\n").refusal or "")
