"""How do sections become the body of a document?  Headings, blocks, figures with their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from calib_core.report.html import bullet_list, code_block, paragraphs, html_table, tag, escape_text, tile_list
from calib_core.report.parts import Block, ReportFigure, Section, ReportTable
from calib_core.report.recoloured import ColourChanges, colour_changes
from calib_core.report.table_html import ece_brier_html

_MAX_UNFOLDED_BLOCKS: Final = 3
"""Blocks from which on the contents fold them away."""

_LETTER_WIDTH: Final = 6.6
_CELL_PADDING: Final = 10.0
"""Pixels of a letter in a table, and around a cell."""

_HALF_PAGE_WIDTH: Final = 520.0
"""A table up to this wide stands beside a figure."""


class BodyWriter:
    """Writes sections and keeps their figures, which stand packed at the document's end."""

    def __init__(self) -> None:
        self.figures: list[Mapping[str, Mapping[str, Any] | ColourChanges]] = []

    def section_html(self, section: Section) -> str:
        """One section: its question, then its blocks."""
        blocks = "".join(self._block_html(block, block_anchor(section, at)) for at, block in enumerate(section.blocks))
        head = paragraphs("kicker", [section.title]) + tag("h2", escape_text(section.question))
        return tag("section", head + blocks, id=section.id)

    def _block_html(self, block: Block, anchor: str) -> str:
        opening = (
            (tag("h3", escape_text(block.title)) if block.title else "")
            + paragraphs("by", [block.method_title])
            + paragraphs("reading", [block.headline])
            + tile_list(block.tiles)
            + code_block(block.recipes)
        )
        captions = tag("div", paragraphs("caption", block.captions), class_="captions")
        inside = tag("div", opening, class_="top-of-block") + self._figures_and_tables(block)
        inside += "".join(map(ece_brier_html, block.ece_brier_tables)) + (captions if block.captions else "")
        inside += "".join(map(html_table, block.closing_tables))
        inside += bullet_list("remarks", block.remarks) + self._small_figures(block)
        return tag("article", inside, id=anchor)

    def _figures_and_tables(self, block: Block) -> str:
        """Figures and tables; where both fit side by side, so."""
        figures = [self._figure_html(drawn) for drawn in block.figures]
        tables = [html_table(made) for made in block.tables]
        halves = [figure for figure, drawn in zip(figures, block.figures, strict=True) if drawn.narrow]
        beside = len(halves) == 1 and bool(tables) and all(_table_width(made) < _HALF_PAGE_WIDTH for made in block.tables)
        if beside:
            return tag("div", halves[0] + tag("div", "".join(tables)), class_="pair") + _remaining(figures, halves)
        paired = tag("div", "".join(halves), class_="pair") if halves else ""
        return paired + _remaining(figures, halves) + "".join(tables)

    def _small_figures(self, block: Block) -> str:
        """Small figures in rows of as many as fit."""
        panels = "".join(map(self._figure_html, block.small_figures))
        return tag("h4", escape_text(block.small_figures_heading)) + tag("div", panels, class_="panels") if panels else ""

    def _figure_html(self, figure: ReportFigure) -> str:
        number = len(self.figures)
        self.figures.append({"light": figure.light, "dark": colour_changes(figure.light, figure.dark)})
        height = figure.light["layout"]["height"]
        canvas = tag(
            "div", "", class_="canvas", data_figure=str(number), aria_hidden="true",
            style=f"min-height:{height}px",
        )
        above = paragraphs("name", [figure.title]) + paragraphs("note", [figure.note])
        return tag(
            "figure", above + canvas + paragraphs("alt", [figure.alt]),
            class_="narrow" if figure.narrow else None, id=f"figure-{number + 1}",
        )


def _remaining(figures: Sequence[str], shown: Sequence[str]) -> str:
    return "".join(figure for figure in figures if figure not in shown)


def _table_width(table: ReportTable) -> float:
    """About how many pixels wide a table is in small letters."""
    frame = table.frame
    return sum(
        _CELL_PADDING + _LETTER_WIDTH * max(map(len, (*name.split(), *frame[name].to_list())), default=0)
        for name in frame.columns
    )


def block_anchor(section: Section, index: int) -> str:
    """The place that the contents link to."""
    return f"{section.id}-{index + 1}"


def table_of_contents(sections: Sequence[Section]) -> str:
    """Every section, and of one with titled blocks these, folded where they are many."""
    items = "".join(
        tag("li", _section_link(own) + _block_links(own))
        for own in sections
    )
    items += tag("li", tag("a", "What do the numbers mean?", href="#terms"))
    items += tag("li", tag("a", "How is this report made again?", href="#again"))
    return tag("nav", tag("h2", "Contents") + tag("ol", items), aria_label="Contents")


def _section_link(section: Section) -> str:
    return tag("a", escape_text(section.question), href=f"#{section.id}") + tag("span", f" {escape_text(section.title)}")


def _block_links(section: Section) -> str:
    titled = [(at, block.title) for at, block in enumerate(section.blocks) if block.title]
    if len(titled) < 2:
        return ""
    listed = "".join(tag("li", tag("a", escape_text(title), href=f"#{block_anchor(section, at)}")) for at, title in titled)
    summary = tag("summary", f"{len(titled)} parts")
    return tag("details", summary + tag("ul", listed), open="" if len(titled) < _MAX_UNFOLDED_BLOCKS else None)
