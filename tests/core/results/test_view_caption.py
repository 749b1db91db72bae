"""The caption says what is shown: runs, methods, metric and rows."""

import pytest

from calib_core.edges import Scheme
from calib_core.results.view_caption import (
    ViewCaption,
    bins_caption,
    method_titles,
    metric_caption,
    rows_used_text,
)


def test_one_run_by_one_method_is_named_with_its_number_and_its_rows() -> None:
    caption = ViewCaption(
        "Reliability diagram",
        ("A",),
        ("p(True)",),
        "ECE, 10 bins of equal width",
        "90 of 100 rows",
    )
    assert (
        caption.sentence
        == "Reliability diagram of A by p(True): ECE, 10 bins of equal width, 90 of 100 rows."
    )


def test_two_are_named_more_are_counted_and_absent_parts_are_not_mentioned() -> None:
    assert ViewCaption("Table", ("A", "B"), ("x", "y", "z")).sentence == "Table of A and B by 3 methods."
    assert ViewCaption("Table", ("A", "B", "C"), ()).sentence == "Table of 3 runs."
    assert ViewCaption("Table", (), ()).sentence == "Table of 0 runs."


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], ""),
        ([(1300, 1319)], "1,300 of 1,319 rows"),
        ([(90, 100), (90, 100)], "90 of 100 rows each"),
        ([(90, 100), (80, 100)], "80 to 90 of 100 rows"),
        ([(90, 100), (1000, 2000)], "90 to 1,000 rows each"),
        ([(90, 100), (90, 200)], "90 rows each"),
    ],
)
def test_different_row_counts_are_given_as_a_range(rows: list[tuple[int, int]], words: str) -> None:
    assert rows_used_text(rows, "rows") == words


def test_bins_are_told_of_metrics_that_need_them() -> None:
    assert metric_caption("ece", Scheme("mass", 20)) == "ECE, 20 bins of equal mass"
    assert metric_caption("brier", Scheme("mass", 20)) == "Brier score"
    assert bins_caption(Scheme("width", 1)) == "1 bin of equal width"
    assert bins_caption(Scheme("natural")) == "one bin per distinct value"


def test_a_method_that_comes_twice_is_named_once() -> None:
    assert method_titles(["p_true", "verbal", "p_true"]) == ("p(True)", "stated confidence")
