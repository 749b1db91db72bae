"""The HTML table labels each cell, and escapes every name."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

from calib_core.reporting.html import ece_brier_html, fit_on_paper
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
        ["", "model-a", "model-b"],
        ["Method", "ECE", "Brier", "ECE", "Brier"],
        ["quiz", "n 1,00061.3 % right", ""],
        ["p(True)", "0.1000", "0.2000", "0.3000", "0.4000"],
        ["confidence in the file", "0.0500", "0.2500", "–", "–"],
        ["", "model-c"],
        ["Method", "ECE", "Brier"],
        ["sums", ""],
        ["confidence in the file", "0.5", "0.6"],
    ]
    assert read.spans == [5] * 5 + [3] * 4
    assert read.strong == ["0.2000", "0.0500"]


def test_equal_headings_stand_once() -> None:
    table = make_table()
    html = ece_brier_html(replace(table, blocks=(table.blocks[0], replace(table.blocks[0], title="more"))))
    assert [row[0] for row in Read(html).rows] == [
        "",
        "Method",
        *("quiz", "p(True)", "confidence in the file"),
        *("more", "p(True)", "confidence in the file"),
    ]


def test_on_paper_a_wide_block_has_several_parts() -> None:
    (block, other) = make_table().blocks
    wide = replace(block, columns={name: name for name in "abcdefghi"})
    fitted = fit_on_paper(replace(make_table(), blocks=(wide, other)))
    assert ["".join(part.columns) for part in fitted.blocks] == ["abc", "def", "ghi", "c"]
    assert list(fitted.blocks[0].rows) == list(block.rows)
    assert [list(part.rows) for part in fitted.blocks[1:]] == [[], [], list(other.rows)]
    narrow = replace(wide, columns={name: name for name in "abcd"})
    assert len(fit_on_paper(replace(make_table(), blocks=(narrow,))).blocks) == 1


def test_what_is_flagged_says_why() -> None:
    html = ece_brier_html(make_table(flag='one "bin" <b>'))
    assert Read(html).rows[3][1] == "0.1000†"
    assert 'one "bin" <b>' in Read(html).titles


def test_names_are_only_text() -> None:
    read = Read(ece_brier_html(make_table(name=HOSTILE, dataset=HOSTILE, note=HOSTILE)))
    assert read.tags <= {"div", "table", "caption", "tbody", "tr", "td", "th", "span", "strong"}
    assert read.rows[0][1] == HOSTILE
    assert read.rows[2][:2] == [HOSTILE, f"{HOSTILE}61.3 % right"]


def test_invisible_and_bidirectional_characters_are_shown_by_code() -> None:
    steered, shown = "a\u202eb\x1b[1m", "a\\u202eb\\x1b[1m"
    html = ece_brier_html(make_table(name=steered, dataset=steered, flag=steered))
    read = Read(html)
    assert (read.rows[0][1], read.rows[2][0]) == (shown, shown)
    assert shown in read.titles
    assert not {"\u202e", "\x1b"} & set(html)
