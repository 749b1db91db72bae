"""The page Bin concentration: where the confidences lie, and when the bins are not to be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import calib_core
import screens
from calib_core.methods import METHODS
from predictions import choices, quiz, write_csv, write_jsonl
from screens import Visit, choose, figure, page_text, tiles


def write(path: Path, *blocks: tuple[float, int, int]) -> None:
    """Rows in blocks of (confidence, rows, right ones among them)."""
    lines = [f"{value},{int(at < right)}" for value, rows, right in blocks for at in range(rows)]
    path.write_text("\n".join(["confidence,correct", *lines]) + "\n")


def numbers(at: AppTest) -> dict[str, Any]:
    """The row of the only method."""
    frame = screens.table(at, "Method", "Effective bins")
    assert len(frame) == 1
    return {str(name): value for name, value in frame.iloc[0].items()}


def test_the_numbers_of_a_file_worked_out_by_hand(data: Path, visit: Visit) -> None:
    write(data / "few.csv", (0.0, 2, 0), (0.35, 3, 1), (0.95, 4, 4), (1.0, 1, 1))
    found = numbers(visit("concentration"))
    # Bins of ten: 2, 3 and 5 rows of 10. 1/Σw² = 100/38.
    assert found["Two fullest bins"] == pytest.approx(80.0)
    assert found["Effective bins"] == pytest.approx(100 / 38)
    assert (found["At exactly 0"], found["At exactly 1"]) == (pytest.approx(20.0), pytest.approx(10.0))
    assert (found["Distinct values"], found["Rows used"], found["Rows"]) == (4, 10, 10)
    assert found["ECE"] == pytest.approx(0.025)


def test_the_ece_is_the_score(data: Path, visit: Visit) -> None:
    (loaded,) = calib_core.load(write_csv(data / "quiz.csv", quiz(300)))
    at = visit("concentration", method="given", m="15", binning="mass")
    number = calib_core.score(loaded, method="given", metric="ece", bins=15, binning="mass")
    assert numbers(at)["ECE"] == number.value
    assert "equal mass, M=15" in at.text[0].value
    assert "n=300/300" in at.text[0].value


def test_a_low_ece_from_one_bin_has_a_warning(data: Path, visit: Visit) -> None:
    write(data / "flat.csv", (0.52, 190, 98), (0.9, 10, 9))
    at = visit("concentration")
    ece = numbers(at)["ECE"]
    assert ece < 0.05
    assert (
        f"One bin holds 95.0 % of the rows, so the ECE of {ece:.4f} mostly reflects that bin."
        in page_text(at)
    )
    assert tiles(at) == {}


def test_an_ece_on_many_bins_is_not(data: Path, visit: Visit) -> None:
    write(data / "spread.csv", *((tenth / 10 - 0.05, 40, 4 * tenth - 2) for tenth in range(1, 11)))
    at = visit("concentration")
    assert numbers(at)["Effective bins"] == pytest.approx(10.0)
    assert "of the rows, so the ECE" not in page_text(at)


def ece_by_method(at: AppTest) -> dict[str, float]:
    """Title → ECE of the methods side by side; empty where there is only one."""
    frame = screens.table(at, "Method", "ECE")
    return dict(zip(frame["Method"], frame["ECE"], strict=True)) if len(frame) > 1 else {}


def test_three_methods_side_by_side(data: Path, visit: Visit) -> None:
    (loaded,) = calib_core.load(write_jsonl(data / "four.jsonl", choices()))
    at = visit("concentration", m="20", **{"with": "p_true,choice_length_normalised"})
    chosen = ("choice_softmax", "p_true", "choice_length_normalised")
    assert ece_by_method(at) == {
        METHODS[method].heading: calib_core.score(loaded, method=method, metric="ece", bins=20).value
        for method in chosen
    }
    assert screens.address(at) == {"m": "20", "with": "p_true,choice_length_normalised"}
    recipes = "\n".join(code.value for code in at.text)
    assert recipes.count("M=20") == recipes.count("n=240/240") == 3


def test_the_histogram_holds_every_row_of_every_method(data: Path, visit: Visit) -> None:
    write_jsonl(data / "four.jsonl", choices())
    one = figure(visit("concentration"), "histogram")
    two = figure(visit("concentration", **{"with": "p_true"}), "histogram")
    assert len(two["data"]) > len(one["data"])


def test_choosing_beside_goes_into_the_address_and_out_again(data: Path, visit: Visit) -> None:
    write_jsonl(data / "four.jsonl", choices())
    at = choose(visit("concentration"), "beside", ["p_true"])
    assert METHODS["p_true"].heading in ece_by_method(at)
    assert screens.address(at) == {"with": "p_true"}
    choose(at, "beside", [])
    assert screens.address(at) == {}
    assert ece_by_method(at) == {}


@pytest.mark.parametrize(("page", "noted"), [("concentration", "_beside"), ("robustness", "_metrics")])
def test_what_was_chosen_just_before_the_page_was_left_is_there_on_the_way_back(
    page: str, noted: str, data: Path, visit: Visit
) -> None:
    write_jsonl(data / "four.jsonl", choices())
    at = visit("reliability")
    chosen = ["p_true"] if page == "concentration" else ["cw_ece"]
    at.session_state[f"{noted}_changed"] = chosen  # by the callback of a run that a link ended
    at = screens.go(at, page)
    assert screens.control(at, "beside" if page == "concentration" else "metrics_shown").value == chosen


@pytest.mark.parametrize("page", ["reliability", "files", "start"])
def test_methods_beside_survive_a_page_without_that_control(page: str, data: Path, visit: Visit) -> None:
    write_jsonl(data / "four.jsonl", choices())
    at = screens.go(visit("concentration", **{"with": "p_true"}), page)
    assert screens.address(at) == {"with": "p_true"}
    at = screens.go(at, "concentration")
    assert list(ece_by_method(at)) == [METHODS["choice_softmax"].heading, METHODS["p_true"].heading]
    assert screens.control(at, "beside").value == ["p_true"]


def test_a_method_shown_beside_can_become_the_chosen_one(data: Path, visit: Visit) -> None:
    write_jsonl(data / "four.jsonl", choices())
    at = choose(visit("concentration", **{"with": "p_true"}), "method", "p_true")
    assert ece_by_method(at) == {}


def test_natural_bins_are_refused_for_the_method_beside_that_has_too_many(data: Path, visit: Visit) -> None:
    rows = quiz(400)
    write_csv(data / "quiz.csv", rows)
    verbal = len({row["verbal_confidence"] for row in rows})
    at = visit("concentration", method="verbal", binning="natural", **{"with": "given"})
    assert (numbers(at)["Distinct values"], ece_by_method(at)) == (verbal, {})
    assert "Natural bins" in page_text(at)
    assert "64" in page_text(at)


def test_the_page_alone_shows_the_same(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(80))
    alone, whole = screens.open_single_page("concentration", {"m": "20"}), visit("concentration", m="20")
    assert numbers(alone) == numbers(whole)
