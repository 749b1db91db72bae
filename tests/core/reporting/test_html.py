"""Text is escaped in the elements of a report, and numbers are in the right place."""

from __future__ import annotations

import pytest

from calib_core.reporting import html
from calib_core.views.view import Tile, ViewTable
from calib_core.wording import format_number
from report_html import read


@pytest.mark.parametrize("words", ["<b>x</b>", "a & b &lt;", "\"'><script>", "$x$ {y}", "é ∞ \u200d"])
def test_text_is_read_back_as_it_was(words: str) -> None:
    (paragraph,) = read(html.tag("p", html.escape_text(words), title=words)).all("p")
    assert (paragraph.text, paragraph.attributes["title"]) == (words, words)


@pytest.mark.parametrize(
    ("words", "shown"),
    [("a\u202eb", "a\\u202eb"), ("a\x00b\x1b[1m", "a\\x00b\\x1b[1m"), ("\ud800", "\\ud800")],
)
def test_invisible_and_bidirectional_characters_are_shown_by_code(words: str, shown: str) -> None:
    assert html.escape_text(words) == shown
    html.escape_text(words).encode("utf-8")


def test_a_table_has_headings_and_its_numbers_to_the_right() -> None:
    rows = [
        {"Run": "a<b", "n": 1200, "Value": "0.0123", "95 %": "0.01 to 0.02", "Gap": "−0.031", "Text": "9 x"},
        {"Run": "c", "n": 3, "Value": "–", "95 %": "–", "Gap": "+0.200", "Text": None},
    ]
    document = read(html.html_table(ViewTable.from_rows("A title", rows, "A note.")))
    assert [head.text for head in document.all("th")] == ["Run", "n", "Value", "95 %", "Gap", "Text"]
    right = [head.text for head in document.all("th", "number")]
    assert right == ["n", "Value", "95 %", "Gap"]
    assert document.rows == [
        ["a<b", "1,200", "0.0123", "0.01 to 0.02", "−0.031", "9 x"],
        ["c", "3", "–", "–", "+0.200", ""],
    ]
    assert document.all("caption")[0].text == "A title"
    assert document.all("p", "note")[0].text == "A note."
    assert html.html_table(ViewTable.from_rows("", [])) == ""


def test_a_tiny_number_stands_to_the_right_too() -> None:
    rows = [{"Value": format_number(-2.41e-07, ".2e"), "Other": f"{2.41e-07:.2e}"}]
    assert [
        cell.text for cell in read(html.html_table(ViewTable.from_rows("", rows))).all("td", "number")
    ] == [
        "−2.41e−07",
        "2.41e-07",
    ]


def test_tiles_say_what_they_mean() -> None:
    document = read(html.tile_list([Tile("ECE", "0.1", "Lower is better.", "p = 0.1"), Tile("n", "3")]))
    assert document.tiles == {"ECE": "0.1", "n": "3"}
    first, second = document.all("div")
    assert first.attributes["title"] == "Lower is better."
    assert "title" not in second.attributes
    assert html.tile_list([]) == ""


def test_a_long_name_is_not_a_checksum_and_yes_is_a_word() -> None:
    made = ViewTable.from_rows("", [{"File": "x" * 64, "SHA-256": "0a" * 32, "Equal": True}])
    cells = read(html.html_table(made)).all("td")
    assert [(cell.text, cell.attributes.get("class")) for cell in cells] == [
        ("x" * 64, None),
        ("0a" * 32, "hash"),
        ("yes", "short"),
    ]
