"""Text from a file is drawn literally, and numbers are formatted for people."""

from __future__ import annotations

import pytest

from calib_core.figures.text import escape_for_plotly, truncate_middle, wrap_lines
from calib_core.wording import compact_count


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("a<b>c</b>", "a&lt;b&gt;c&lt;/b&gt;"),
        ('<a href="https://x.test">y</a>', '&lt;a href="https://x.test"&gt;y&lt;/a&gt;'),
        ("AT&T &lt;", "AT&amp;T &amp;lt;"),
        ("two\nlines\t and <br>", "two lines and &lt;br&gt;"),
        ("model-a · quiz", "model-a · quiz"),
    ],
)
def test_plain_takes_all_meaning_from_markup(text: str, drawn: str) -> None:
    assert escape_for_plotly(text) == drawn


@pytest.mark.parametrize(
    ("count", "written"),
    [
        (0, "0"),
        (422, "422"),
        (9_999, "9,999"),
        (10_000, "10k"),
        (12_345, "12.3k"),
        (123_456, "123k"),
        (999_499, "999k"),
        (999_500, "1M"),
        (1_319_000, "1.32M"),
        (2_000_000_000, "2B"),
        (300_000_000_000, "300B"),
        (12_800_000_000_000, "12.8T"),
    ],
)
def test_compact_has_five_letters_at_most(count: int, written: str) -> None:
    assert compact_count(count) == written
    assert len(compact_count(count)) <= 5


def test_runs_that_differ_at_the_end_are_distinguished() -> None:
    assert truncate_middle("llama-3.1-8B-step500", 12) == "llama…tep500"
    assert truncate_middle("llama", 5) == "llama"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a\\u202eb"),
        ("a\x1b[1m\x00", "a\\x1b[1m\\x00"),
        ("\ud800", "\\ud800"),
        ("👩\u200d🔬", "👩\u200d🔬"),
    ],
)
def test_invisible_and_bidirectional_characters_are_shown_by_code(text: str, shown: str) -> None:
    assert escape_for_plotly(text) == shown
    assert wrap_lines(text, 40) == shown


def test_lines_break_between_words_and_escape_each() -> None:
    assert wrap_lines("logit, softmax over the choices", 22) == "logit, softmax over<br>the choices"
    assert wrap_lines("<b>one</b> two", 5) == "&lt;b&gt;one&lt;/b&gt;<br>two"
    assert wrap_lines("unbreakable", 4) == "unbreakable"
    assert wrap_lines("", 4) == ""
