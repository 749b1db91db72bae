"""Percentages are distinguished from probabilities, and a single slip from a whole column."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from calib_core.errors import Refused
from calib_core.readers.format import Reading
from calib_core.readers.table import csv_reader
from core.readers.answer_run_checks import answer_runs

ReadText = Callable[..., Reading]


def test_one_value_above_one_is_a_slip_and_most_are_percentages(read_text: ReadText) -> None:
    slip = read_text("confidence,correct\n0.9,1\n0.8,0\n87,1\n")
    assert (slip.refusal, slip.n_bad_rows) == (None, 1)
    percent = read_text("conf,correct\n0.9,1\n1,0\n87,1\n55,1\n,0\n9,1\n", columns={"conf": "confidence"})
    assert percent.refusal == (
        "quiz.csv: column 'conf' looks like percentages: most of its numbers are above 1 (such as 87), "
        "but numbers from 0 to 1 are expected. Have it divided by 100: --map conf=confidence/100"
    )
    assert (percent.n_rows, percent.n_bad_rows, percent.good_runs) == (6, 3, ())


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (("0", "1", "7", "10", "8"), "looks like ratings: its numbers are whole and most are above 1"),
        (("0", "7", "8"), "Have it divided by the top of its scale, such as 10:"),
        (("2.6", "5.5", "7.0"), None),
        (("3", "12", "14"), None),
        (("0", "1", "10"), None),
        (("3", "21", "14"), "looks like percentages"),
    ],
)
def test_small_numbers_are_no_percentages(
    read_text: ReadText, cells: tuple[str, ...], says: str | None
) -> None:
    reading = read_text("confidence,correct\n" + "".join(f"{cell},1\n" for cell in cells))
    refusal = reading.refusal or ""
    assert (says is None) == ("looks like" not in refusal)
    assert (says or "") in refusal
    if says and "looks like ratings" in says:
        assert refusal.endswith(
            "(such as 7), but numbers from 0 to 1 are expected. Have it divided by the top of its scale, "
            "such as 10: --map confidence=confidence/10"
        )


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


@pytest.mark.parametrize("cells", [("85", "7.5", "100", ""), ("85%", "7.5 %", "100%", "")])
@pytest.mark.parametrize("name", ["confidence", "verbal_confidence", "p_true"])
def test_a_column_in_percent_is_divided_as_the_user_says(
    read_text: ReadText, name: str, cells: tuple[str, ...]
) -> None:
    lines = "\n".join(f"{cell},1" for cell in cells)
    reading = read_text(f"how sure,correct\n{lines}\n", columns={"how sure": f"{name}/100"})
    (run,) = answer_runs(reading.runs(skip_bad_rows=False))
    assert run.rows[name].to_list() == [0.85, 0.075, 1.0, None]
    assert f"{name} is 'how sure' divided by 100." in reading.notes


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (("95", "0.9", "80", "100"), "1 number below 1 (such as 0.9)"),
        (("0.95", "0.9", "80", "0", "1"), "2 numbers below 1 (such as 0.95)"),
        (("95", "0.9", "80.5", "100"), None),
        (("95", "0.9%", "80", "100"), None),
        (("95", "0", "1", "100"), None),
    ],
)
def test_shares_of_1_among_whole_percentages_are_noted(
    read_text: ReadText, monkeypatch: pytest.MonkeyPatch, cells: tuple[str, ...], found: str | None
) -> None:
    monkeypatch.setattr(csv_reader, "ROWS_PER_SLICE", 2)
    lines = "\n".join(f"{cell},1" for cell in cells)
    reading = read_text(f"sure,correct\n{lines}\n", columns={"sure": "confidence/100"})
    notes = [note for note in reading.notes if "percentages of 'sure' are whole" in note]
    assert len(notes) == (found is not None)
    assert all(str(found) in note for note in notes)


def test_a_value_outside_is_bad_and_shown_as_it_stands(read_text: ReadText) -> None:
    reading = read_text("conf,correct\n85,1\n120,1\nhigh,0\n-3%,0\n", columns={"conf": "confidence/100"})
    cells = [cell for problem in reading.problems for cell in problem.first_cells]
    assert sorted((cell.row, cell.found, cell.expected) for cell in cells) == [
        (2, "120", "a number from 0 to 100"),
        (3, "high", "a number from 0 to 100"),
        (4, "-3%", "a number from 0 to 100"),
    ]


def test_another_scale_is_taken_too(read_text: ReadText) -> None:
    reading = read_text("rating,correct\n10,1\n7,0\n", columns={"rating": "confidence/10"})
    (run,) = answer_runs(reading.runs(skip_bad_rows=False))
    assert run.rows["confidence"].to_list() == [1.0, 0.7]


@pytest.mark.parametrize("name", ["gold/100", "correct/2", "confidence/0", "confidence/ten"])
def test_only_a_probability_can_be_divided(read_text: ReadText, name: str) -> None:
    with pytest.raises(Refused, match="column 'conf' cannot be"):
        read_text("conf,correct\n85,1\n", columns={"conf": name})


@pytest.mark.parametrize(
    ("cells", "proposed"),
    [
        (("85", "7.5", "100"), {"conf": "confidence/100"}),
        (("85%", "7.5%", "100%"), {"conf": "confidence/100"}),
        (("0.85", "0.075", "1"), {"conf": "confidence"}),
        (("2.6", "5.5", "7.0"), {}),
        (("85", "120", "40"), {}),
    ],
)
def test_the_scale_is_proposed_where_the_values_say_so(
    read_text: ReadText, cells: tuple[str, ...], proposed: dict[str, str]
) -> None:
    lines = "\n".join(f"{cell},1" for cell in cells)
    reading = read_text(f"conf,correct\n{lines}\n")
    assert dict(reading.proposed_mapping) == proposed
    if proposed:
        loaded = read_text(f"conf,correct\n{lines}\n", columns=dict(proposed))
        assert (loaded.refusal, loaded.n_bad_rows) == (None, 0)


def test_every_whole_percent_is_the_nearest_number(read_text: ReadText) -> None:
    """35 / 100 is 0.35, and not the next number above, which falls into another bin."""
    lines = "\n".join(f"{percent}%,{percent},1" for percent in range(101))
    reading = read_text(f"verbal_confidence,conf,correct\n{lines}\n", columns={"conf": "confidence/100"})
    (run,) = answer_runs(reading.runs(skip_bad_rows=False))
    exact = [percent / 100 for percent in range(101)]
    assert run.rows["verbal_confidence"].to_list() == exact
    assert run.rows["confidence"].to_list() == exact


def test_logarithms_are_no_percentages(read_text: ReadText) -> None:
    logs = read_text("conf,correct\n-0.1,1\n0,1\n-3.5,0\n", columns={"conf": "confidence"})
    assert logs.refusal == (
        "quiz.csv: column 'conf' looks like logarithms of probabilities: no number is above 0 and most are "
        "below (such as -0.1), but numbers from 0 to 1 are expected. Have it read as natural logarithms: "
        "--map conf=confidence:log"
    )
    reading = read_text("conf,correct\n-0.1,1\n0,1\n-3.5,0\n", columns={"conf": "confidence:log"})
    (run,) = answer_runs(reading.good_runs)
    assert run.rows["confidence"].to_list() == pytest.approx([0.904837418, 1, 0.030197383])


@pytest.mark.parametrize("column", ["confidence", "p_true", "verbal_confidence"])
def test_a_number_below_zero_is_not_advised_to_be_divided(read_text: ReadText, column: str) -> None:
    reading = read_text(f"id,{column},correct\na,-0.1,1\nb,0.8,0\nc,170,1\nd,0.3,1\n")
    assert reading.refusal is None
    (problem,) = reading.problems
    assert (problem.kind, problem.count) == ("out of range", 2)
    below, above = sorted(problem.first_cells, key=lambda cell: cell.row)
    assert "are read with :log, as in confidence:log" in below.fix
    assert "divide" not in below.fix
    assert "confidence:log" not in above.fix


def test_logarithms_beside_a_usable_confidence_are_left_out(read_text: ReadText) -> None:
    reading = read_text("id,p_true,confidence,correct\na,0.9,-0.1,1\nb,0.8,-2,0\nc,0.7,0,1\n")
    assert (reading.refusal, reading.n_bad_rows) == (None, 0)
    assert any("confidence" in note for note in reading.notes)


def test_the_advice_for_a_stated_confidence_allows_what_is_expected(read_text: ReadText) -> None:
    reading = read_text("id,verbal_confidence,correct\na,85%,1\nb,very,0\nc,0.7,1\n")
    (cell,) = reading.problems[0].first_cells
    assert str(cell) == (
        "quiz.csv, row 2 (line 3), column 'verbal_confidence': expected a number from 0 to 1, or a "
        "percentage with its sign, found 'very'. Write 0.85 or 85%; "
        "leave the cell empty if the value is not known."
    )
