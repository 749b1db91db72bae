"""Two sessions on one server see only their own choice."""

from __future__ import annotations

from pathlib import Path

import calib_core
import screens
from predictions import choices, quiz, write_csv, write_jsonl
from screens import Visit, address, choose, go, tiles


def test_two_sessions_in_turn(data: Path, visit: Visit) -> None:
    (four,) = calib_core.load(write_jsonl(data / "four.jsonl", choices()))
    (open_,) = calib_core.load(write_csv(data / "quiz.csv", quiz(300)))
    mine = visit("reliability", run="four", m="20")
    yours = visit("reliability", run="quiz", method="given")
    for m, binning in ((5, "width"), (50, "mass"), (7, "width")):
        choose(mine, "m_typed", m)
        choose(yours, "binning", binning)
        for at, loaded, method, bins, way in (
            (mine, four, "choice_softmax", m, "width"),
            (yours, open_, "given", 10, binning),
        ):
            screens.run(at)
            number = calib_core.score(loaded, method=method, metric="ece", bins=bins, binning=way)  # type: ignore[arg-type]
            assert (tiles(at)["ECE"], at.text[0].value) == (f"{number.value:.4f}", number.recipe)
    assert address(mine) == {"run": "four", "m": "7"}
    assert address(yours) == {"run": "quiz", "method": "given"}


def test_a_bin_and_a_search_are_the_session_s_own(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(300))
    mine, yours = visit("reliability", bin="8"), visit("reliability", bin="8")
    choose(mine, "search", "q11")
    assert len(screens.table(mine, "question")) < len(screens.table(screens.run(yours), "question"))
    mine.button(key="close_bin").click()
    screens.run(mine)
    assert screens.tables(mine, "question") == []
    assert len(screens.tables(screens.run(yours), "question")) == 1


def test_one_session_changes_pages_while_another_stays(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(300))
    mine, yours = visit("reliability", m="20"), visit("reliability", m="50")
    go(mine, "concentration")
    choose(mine, "m_step", 5)
    assert "M=50" in screens.run(yours).text[0].value
    assert "M=5," in go(mine, "reliability").text[0].value


def test_a_file_read_by_one_is_read_for_all(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(300))
    mine, yours = visit("reliability"), visit("reliability")
    write_csv(data / "quiz.csv", quiz(310))
    assert tiles(screens.run(mine))["Rows used / total"] == "310 / 310"
    assert tiles(screens.run(yours))["Rows used / total"] == "310 / 310"
