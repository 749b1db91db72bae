"""The HTML table labels each cell, and escapes every name."""

from __future__ import annotations

from html.parser import HTMLParser

from calib_core.report.html import ece_brier_html
from core.views.ece_brier_tables import HOSTILE, make_table


class Read(HTMLParser):
    """Tags met, and the text of each cell of each row."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.rows: list[list[str]] = []
        self.strong: list[str] = []
        self.titles: list[str] = []
        self.spans: list[int] = []
        self._inside: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self._inside.append(tag)
        self.titles += [value or "" for name, value in attrs if name == "title"]
        if tag == "tr":
            self.rows.append([])
            self.spans.append(0)
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.spans[-1] += int(dict(attrs).get("colspan") or 1)

    def handle_endtag(self, tag: str) -> None:
        assert self._inside.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data
        if "strong" in self._inside:
            self.strong.append(data)


def test_every_cell_is_where_it_belongs() -> None:
    read = Read(ece_brier_html(make_table()))
    assert read.rows == [
        ["", "quiz", "sums"],
        ["", "model-a", "model-b"],
        ["Method", "ECE", "Brier", "ECE", "Brier"],
        ["p(True)", "0.1000", "0.2000", "0.3000", "0.4000"],
        ["accuracy 61.3 %, n 1,000, greedy", "accuracy 61.3 %, n 1,000, greedy"],
        ["confidence in the file", "0.0500", "0.2500", "–", "–"],
        ["accuracy 61.3 %, n 1,000, greedy", ""],
    ]
    assert read.spans == [5, 5, 5, 5, 4, 5, 4]
    assert read.strong == ["0.2000", "0.0500"]


def test_what_is_flagged_says_why() -> None:
    html = ece_brier_html(make_table(flag='one "bin" <b>'))
    assert Read(html).rows[3][1] == "0.1000†"
    assert 'one "bin" <b>' in Read(html).titles


def test_names_are_only_text() -> None:
    read = Read(ece_brier_html(make_table(name=HOSTILE, below=HOSTILE)))
    assert read.tags <= {"div", "table", "caption", "thead", "tbody", "tr", "td", "th", "span", "strong"}
    assert read.rows[1][1] == HOSTILE
    assert read.rows[4] == [HOSTILE, HOSTILE]


def test_invisible_and_bidirectional_characters_are_shown_by_code() -> None:
    steered, shown = "a\u202eb\x1b[1m", "a\\u202eb\\x1b[1m"
    html = ece_brier_html(make_table(name=steered, below=steered, flag=steered))
    read = Read(html)
    assert (read.rows[1][1], read.rows[4][0]) == (shown, shown)
    assert shown in read.titles
    assert not {"\u202e", "\x1b"} & set(html)


def test_without_a_second_line_a_method_has_one_row() -> None:
    assert len(Read(ece_brier_html(make_table(below=""))).rows) == 5
