"""The tour: five steps about one run, by buttons, by address, and in large type."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from streamlit.testing.v1.element_tree import PageLink

import screens
from predictions import quiz, write_csv
from screens import Visit, address, page_text, walk
from token_files import positions, write_npz

HEADINGS = [
    "What a confidence is",
    "What calibrated means",
    "Over-confident, and where",
    "How far off, in one number",
    "Which model to trust",
]
KINDS = ("answer", "bin", "whole", "bins", "models")


def heading(at: screens.AppTest) -> str:
    (found,) = [*at.header, *at.subheader]
    return found.value


def font_size(at: screens.AppTest) -> float:
    """Size of the figure's letters, in pixels."""
    return screens.figure(at, "tour_picture_whole")["layout"]["font"]["size"]


def press_button(at: screens.AppTest, key: str) -> screens.AppTest:
    screens.control(at, key).click()
    return screens.run(at)


def test_five_steps_by_the_button_and_back(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("tour", run="red", method="given")
    seen = [heading(at)]
    for step in range(2, 6):
        press_button(at, "tour_next")
        seen.append(heading(at))
        assert address(at)["step"] == str(step)
        assert f"{step} of 5" in page_text(at)
        assert screens.figure(at, f"tour_picture_{KINDS[step - 1]}")["data"]
    assert seen == HEADINGS
    assert screens.control(at, "tour_next").disabled
    press_button(at, "tour_back")
    assert heading(at) == HEADINGS[3]
    assert not screens.control(at, "tour_back").disabled


def test_the_arrow_keys_are_those_of_the_buttons(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("tour")
    keys = {button.key: button.proto.shortcut for button in at.button if button.proto.shortcut}
    assert keys == {"tour_back": "left", "tour_next": "right"}
    assert screens.control(at, "tour_back").disabled


def test_step_run_and_size_from_the_address(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("tour", run="red", method="given", step="3", large="1")
    assert heading(at) == HEADINGS[2]
    assert "red states " in page_text(at)
    small = font_size(visit("tour", run="red", method="given", step="3"))
    assert font_size(at) > small
    press_button(at, "tour_4")
    assert address(at) == {"run": "red", "method": "given", "step": "4", "large": "1"}
    press_button(at, "tour_size")
    assert address(at) == {"run": "red", "method": "given", "step": "4"}


def test_an_impossible_step_is_told_and_the_first_is_shown(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("tour", step="9")
    assert screens.unmet_link_warnings(at, "step", "9")
    assert heading(at) == HEADINGS[0]


def test_the_run_that_other_pages_show_is_chosen_and_the_page_says_why(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("tour")
    text = page_text(at)
    assert screens.control(at, "run").value == screens.control(visit("reliability"), "run").value
    assert (
        "Tour of four by logit, softmax over the choices: 120 of 120 rows. This run is the first of the 4 "
        "loaded that has at least 30 answers."
    ) in text
    other = page_text(visit("tour", run="red"))
    assert "Tour of red by stated confidence: " in other
    assert "the first of" not in other


def test_a_step_leads_to_its_page_with_the_run(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("tour", run="red", method="given", step="4")
    (link,) = [node for node in walk(at.main) if isinstance(node, PageLink)]
    assert link.proto.query_string == "run=red&method=given"
    assert "Robustness" in link.label


def test_marks_that_no_legend_names_are_told(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    keys = {
        step: [screens.plain(caption.value) for caption in visit("tour", step=step).main.caption][1:]
        for step in "12345"
    }
    assert keys["3"] == ["Dot: mean confidence and accuracy of a bin. Faded: fewer than 30 rows."]
    assert keys["2"] == keys["4"] == []
    assert keys["5"] == ["Lines: 95 % intervals, where they are wider than the marks."]


def test_a_calibrated_run_is_not_called_over_confident(data: Path, visit: Visit) -> None:
    chance = random.Random(3)  # noqa: S311 (rows, not keys)
    rows = quiz(1500)
    for row in rows:
        row["correct"] = int(chance.random() < row["confidence"])
    write_csv(data / "quiz.csv", rows)
    at = visit("tour", method="given", step="3")
    assert heading(at) == "No evidence of miscalibration"
    assert "over-confident" not in page_text(at).lower()
    write_csv(data / "quiz.csv", quiz(1500))
    at = visit("tour", method="given", step="3")
    assert heading(at) == "Over-confident, and where"
    assert "The largest part of the gap is in " in page_text(at)


@pytest.mark.parametrize("step", ["1", "2", "3", "4", "5"])
def test_a_text_alone_has_every_step(step: str, data: Path, visit: Visit) -> None:
    write_npz(data / "text.npz", positions())
    at = visit("tour", step=step)
    assert ("positions" if step in "1234" else "token level") in page_text(at)
    assert at.get("plotly_chart")


def test_the_last_step_leads_on(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("tour", run="red", method="given", step="5")
    links = {node.label: node.proto for node in walk(at.main) if isinstance(node, PageLink)}
    own, further = links["**Open your own files**"], links["**Open red**"]
    assert own.page == "files"
    assert (further.page, further.query_string) == ("reliability", "run=red&method=given")
    assert len(links) == 3


def test_texts_of_a_file_are_shown_as_text(data: Path, visit: Visit) -> None:
    hostile = "![x](http://x.test) **b** $x^2$"
    rows = [row | dict.fromkeys(("question", "prediction", "gold", "model"), hostile) for row in quiz(40)]
    write_csv(data / "quiz.csv", rows)
    for step in "125":
        at = visit("tour", step=step)
        assert hostile in page_text(at)
        shown = [element.value for element in at.markdown]
        assert not any("![x](" in text or "$x^" in text for text in shown)
