"""Several confidences of one answer are side by side on the pages, under the names of their columns."""

from __future__ import annotations

from pathlib import Path

import pytest

import calib_core
import screens
from predictions import quiz, write_csv
from screens import Visit, address, control, page_text, table, tiles

NAMES = ("_said_", "www.tokens.org")
METHODS = tuple(f"given.{name}" for name in NAMES)
TITLES = ("Said", "Www.tokens.org")


@pytest.fixture
def several(data: Path) -> Path:
    """quiz.csv: two confidences a row, and no column called confidence."""
    columns = dict(zip(("confidence", "verbal_confidence"), NAMES, strict=True))
    rows = [
        {f"confidence.{columns[name]}" if name in columns else name: value for name, value in row.items()}
        for row in quiz(80)
    ]
    return write_csv(data / "quiz.csv", rows)


def test_pages_take_them_from_the_address_and_show_their_numbers(several: Path, visit: Visit) -> None:
    (run,) = calib_core.load(several)
    numbers = {id_: calib_core.score(run, method=id_, metric="ece").value for id_ in METHODS}
    pages = {id_: visit("reliability", method=id_) for id_ in METHODS}
    assert {id_: tiles(at)["ECE"] for id_, at in pages.items()} == {
        id_: f"{number:.4f}" for id_, number in numbers.items()
    }
    at = pages[METHODS[1]]
    picker = control(at, "method")
    assert (picker.value, list(picker.options)) == (METHODS[1], list(TITLES))
    assert "www.tokens.org" not in picker.help  # it would become a link
    assert "www.tokens.org" in screens.plain(picker.help)
    assert address(at) == {"method": METHODS[1]}


@pytest.mark.usefixtures("several")
def test_they_are_compared_with_one_another(visit: Visit) -> None:
    at = visit("comparison", methods=",".join(METHODS))
    assert set(table(at, "Run", "Method")["Method"]) == {*TITLES}
    shown = [str(node.proto.body) for node in screens.walk(visit("methods").main) if node.type == "html"]
    assert all(any(f">{title}<" in html for html in shown) for title in TITLES)


def test_a_column_can_be_mapped_to_one_of_several(data: Path, visit: Visit) -> None:
    rows = [{"how sure?": row["confidence"], "correct": row["correct"]} for row in quiz(20)]
    write_csv(data / "own.csv", rows)
    at = screens.choose(visit("files"), "reread_own.csv", value=True)
    at.multiselect(key="columns_own.csv").set_value(["how sure?"])
    screens.run(at)
    screens.choose(at, "as_own.csv_0", "confidence.how_sure_")
    at.button(key="apply_own.csv").click()
    assert "how sure? as confidence.how_sure_" in page_text(screens.run(at))
    assert tiles(visit("reliability", method="given.how_sure_"))["Rows used / total"] == "20 / 20"
