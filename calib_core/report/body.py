"""How do sections become the body of a document?  Headings, blocks, figures with their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from calib_core.report.html import bullets, code, paragraphs, table, tag, text, tiles
from calib_core.report.parts import Block, Drawn, Section, Table
from calib_core.report.recoloured import Changes, changes
from calib_core.report.table_html import to_html

_LONG: Final = 3
"""Blocks from which on the contents fold them away."""

_LETTER: Final = 6.6
_AROUND: Final = 10.0
"""Pixels of a letter in a table, and around a cell."""

_HALF: Final = 520.0
"""A table up to this wide stands beside a figure."""


class Body:
    """Writes sections and keeps their figures, which stand packed at the document's end."""

    def __init__(self) -> None:
        self.figures: list[Mapping[str, Mapping[str, Any] | Changes]] = []

    def section(self, own: Section) -> str:
        """One section: its question, then its blocks."""
        blocks = "".join(self._block(block, block_id(own, at)) for at, block in enumerate(own.blocks))
        head = paragraphs("kicker", [own.title]) + tag("h2", text(own.question))
        return tag("section", head + blocks, id=own.id)

    def _block(self, block: Block, id_: str) -> str:
        opening = (
            (tag("h3", text(block.title)) if block.title else "")
            + paragraphs("by", [block.by])
            + paragraphs("reading", [block.reading])
            + tiles(block.tiles)
            + code(block.recipes)
        )
        captions = tag("div", paragraphs("caption", block.captions), class_="captions")
        inside = tag("div", opening, class_="top-of-block") + self._shown(block)
        inside += "".join(map(to_html, block.paired)) + (captions if block.captions else "")
        inside += "".join(map(table, block.below))
        inside += bullets("remarks", block.remarks) + self._panels(block)
        return tag("article", inside, id=id_)

    def _shown(self, block: Block) -> str:
        """Figures and tables; where both fit side by side, so."""
        figures = [self._figure(drawn) for drawn in block.figures]
        tables = [table(made) for made in block.tables]
        halves = [figure for figure, drawn in zip(figures, block.figures, strict=True) if drawn.narrow]
        beside = len(halves) == 1 and bool(tables) and all(_width(made) < _HALF for made in block.tables)
        if beside:
            return tag("div", halves[0] + tag("div", "".join(tables)), class_="pair") + _but(figures, halves)
        paired = tag("div", "".join(halves), class_="pair") if halves else ""
        return paired + _but(figures, halves) + "".join(tables)

    def _panels(self, block: Block) -> str:
        """Small figures in rows of as many as fit."""
        panels = "".join(map(self._figure, block.panels))
        return tag("h4", text(block.panelled)) + tag("div", panels, class_="panels") if panels else ""

    def _figure(self, drawn: Drawn) -> str:
        number = len(self.figures)
        self.figures.append({"light": drawn.light, "dark": changes(drawn.light, drawn.dark)})
        height = drawn.light["layout"]["height"]
        canvas = tag(
            "div", "", class_="canvas", data_figure=str(number), aria_hidden="true",
            style=f"min-height:{height}px",
        )
        above = paragraphs("name", [drawn.title]) + paragraphs("note", [drawn.note])
        return tag(
            "figure", above + canvas + paragraphs("alt", [drawn.alt]),
            class_="narrow" if drawn.narrow else None, id=f"figure-{number + 1}",
        )


def _but(figures: Sequence[str], shown: Sequence[str]) -> str:
    return "".join(figure for figure in figures if figure not in shown)


def _width(made: Table) -> float:
    """About how many pixels wide a table is in small letters."""
    frame = made.frame
    return sum(
        _AROUND + _LETTER * max(map(len, (*name.split(), *frame[name].to_list())), default=0)
        for name in frame.columns
    )


def block_id(own: Section, at: int) -> str:
    """The place that the contents link to."""
    return f"{own.id}-{at + 1}"


def contents(sections: Sequence[Section]) -> str:
    """Every section, and of one with titled blocks these, folded where they are many."""
    items = "".join(
        tag("li", _link(own) + _blocks(own))
        for own in sections
    )
    items += tag("li", tag("a", "What do the numbers mean?", href="#terms"))
    items += tag("li", tag("a", "How is this report made again?", href="#again"))
    return tag("nav", tag("h2", "Contents") + tag("ol", items), aria_label="Contents")


def _link(own: Section) -> str:
    return tag("a", text(own.question), href=f"#{own.id}") + tag("span", f" {text(own.title)}")


def _blocks(own: Section) -> str:
    titled = [(at, block.title) for at, block in enumerate(own.blocks) if block.title]
    if len(titled) < 2:
        return ""
    listed = "".join(tag("li", tag("a", text(title), href=f"#{block_id(own, at)}")) for at, title in titled)
    summary = tag("summary", f"{len(titled)} parts")
    return tag("details", summary + tag("ul", listed), open="" if len(titled) < _LONG else None)
