"""How does a report become one file that works offline and asks nothing of any host?

plotly.js and the figures are inside, packed; the file's own policy lets nothing be fetched and runs no script
but the two that it was written with. Without scripts every figure is the sentence that stands for it.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from calib_core.figures.palette import DARK, LIGHT, Theme
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.report.blocks import Block, ReportFigure, ReportTable, Section
from calib_core.report.html import (
    bullet_list,
    code_block,
    ece_brier_html,
    escape_text,
    html_table,
    paragraphs,
    tag,
    tile_list,
)
from calib_core.report.inputs import ReportInput
from calib_core.report.provenance import Provenance, program_versions
from calib_core.report.sections import SECTIONS
from calib_core.wording import plural

# MERGED recoloured: What does a dark page draw otherwise than a light one?  Two forms of a figure → where they differ.
#
# Of a figure only colours differ, so a report holds it once, and beside it what a dark page changes.

ColourChanges: TypeAlias = "list[Any] | dict[str, ColourChanges]"
"""[what stands there instead], or the changes of the parts that differ, by key or by place in a list."""


def colour_changes(light: object, dark: object) -> ColourChanges:
    """What turns one into the other, as document.js does it; empty where they are the same."""
    own, other = _children(light), _children(dark)
    alike = type(light) is type(dark)
    if own is None or other is None or not alike or own.keys() != other.keys():
        return [] if alike and light == dark else [dark]
    found = {key: colour_changes(part, other[key]) for key, part in own.items()}
    return {key: change for key, change in found.items() if change}


def _children(value: object) -> dict[str, Any] | None:
    """The parts of a mapping or a list by their names; None of anything else."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    if isinstance(value, list):
        return {str(at): part for at, part in enumerate(cast("list[Any]", value))}
    return None


# MERGED body: How do sections become the body of a document?  Headings, blocks, figures with their places.

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
        blocks = "".join(
            self._block_html(block, block_anchor(section, at)) for at, block in enumerate(section.blocks)
        )
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
        beside = (
            len(halves) == 1
            and bool(tables)
            and all(_table_width(made) < _HALF_PAGE_WIDTH for made in block.tables)
        )
        if beside:
            return tag("div", halves[0] + tag("div", "".join(tables)), class_="pair") + _remaining(
                figures, halves
            )
        paired = tag("div", "".join(halves), class_="pair") if halves else ""
        return paired + _remaining(figures, halves) + "".join(tables)

    def _small_figures(self, block: Block) -> str:
        """Small figures in rows of as many as fit."""
        panels = "".join(map(self._figure_html, block.small_figures))
        return (
            tag("h4", escape_text(block.small_figures_heading)) + tag("div", panels, class_="panels")
            if panels
            else ""
        )

    def _figure_html(self, figure: ReportFigure) -> str:
        number = len(self.figures)
        self.figures.append({"light": figure.light, "dark": colour_changes(figure.light, figure.dark)})
        height = figure.light["layout"]["height"]
        canvas = tag(
            "div",
            "",
            class_="canvas",
            data_figure=str(number),
            aria_hidden="true",
            style=f"min-height:{height}px",
        )
        above = paragraphs("name", [figure.title]) + paragraphs("note", [figure.note])
        return tag(
            "figure",
            above + canvas + paragraphs("alt", [figure.alt]),
            class_="narrow" if figure.narrow else None,
            id=f"figure-{number + 1}",
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
    items = "".join(tag("li", _section_link(own) + _block_links(own)) for own in sections)
    items += tag("li", tag("a", "What do the numbers mean?", href="#terms"))
    items += tag("li", tag("a", "How is this report made again?", href="#again"))
    return tag("nav", tag("h2", "Contents") + tag("ol", items), aria_label="Contents")


def _section_link(section: Section) -> str:
    return tag("a", escape_text(section.question), href=f"#{section.id}") + tag(
        "span", f" {escape_text(section.title)}"
    )


def _block_links(section: Section) -> str:
    titled = [(at, block.title) for at, block in enumerate(section.blocks) if block.title]
    if len(titled) < 2:
        return ""
    listed = "".join(
        tag("li", tag("a", escape_text(title), href=f"#{block_anchor(section, at)}")) for at, title in titled
    )
    summary = tag("summary", f"{len(titled)} parts")
    return tag(
        "details", summary + tag("ul", listed), open="" if len(titled) < _MAX_UNFOLDED_BLOCKS else None
    )


_FOLDER: Final = Path(__file__).parent
_LINK_COLOURS: Final = {"light": "#0065A0", "dark": "#7CC4EE"}
_RAISED_COLOURS: Final = {"light": "#F5F7F9", "dark": "#1A202A"}

DOCUMENT_TITLE: Final = "Calibration report"
MORE_IN_APP: Final = "Every number here can be looked into in Calib, where bins, methods and runs are chosen."


def render_document(
    report_input: ReportInput,
    sections: Sequence[Section],
    left_out: Mapping[str, str],
    provenance: Provenance,
) -> str:
    """The whole file as text, to be written as UTF-8. left_out: page id → why it has nothing to say."""
    body = BodyWriter()
    inside = (
        "".join(body.section_html(own) for own in sections)
        + _glossary_html()
        + _reproduction_html(provenance)
    )
    main = tag("main", inside)
    script = (_FOLDER / "document.js").read_text(encoding="utf-8")
    sheet = tag(
        "div",
        _header_html(report_input, sections, left_out, provenance) + table_of_contents(sections) + main,
        class_="sheet",
    )
    figures = _gzip_base64(json.dumps(body.figures, allow_nan=False, separators=(",", ":")))
    data = "".join(
        tag("script", packed, type="application/octet-stream", id=id_)
        for id_, packed in (("plotly", _plotly_script()[0]), ("figures", figures))
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n{_head_html(script)}</head>\n'
        f"<body>\n{sheet}\n{data}\n<script>{script}</script>\n</body></html>\n"
    )


def _head_html(script: str) -> str:
    """The policy comes first: what stands above it would not be under it."""
    allowed = " ".join(f"'sha256-{_sha256_base64(own)}'" for own in (script, _plotly_script()[1]))
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer"><meta name="robots" content="noindex">\n'
        f"<title>{DOCUMENT_TITLE}</title>\n<style>{_style_sheet()}</style>\n"
    )


def _style_sheet() -> str:
    """The sheet, with the colours of the figures' themes; paper is always light."""
    light, dark = _colour_variables(LIGHT), _colour_variables(DARK)
    named = ':root[data-theme="dark"]'
    return (
        f':root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) '
        f"{{ {dark} }} }}\n{named} {{ {dark} color-scheme: dark; }}\n"
        f':root[data-theme="light"] {{ color-scheme: light; }}\n'
        f"{(_FOLDER / 'document.css').read_text(encoding='utf-8')}"
        f'@media print {{ :root, :root:not([data-theme="light"]), {named} '
        f"{{ {light} color-scheme: light; }} }}\n"
    )


def _colour_variables(theme: Theme) -> str:
    said = {
        "page": theme.background,
        "text": theme.text,
        "muted": theme.muted_text,
        "line": theme.axis_line,
        "grid": theme.grid_line,
        "over": theme.overconfident,
        "link": _LINK_COLOURS[theme.name],
        "raised": _RAISED_COLOURS[theme.name],
    }
    return " ".join(f"--{name}: {colour};" for name, colour in said.items())


@cache
def _plotly_script() -> tuple[str, str]:
    """plotly.js packed, and as it runs."""
    # Loaded here: it costs more than all the rest of the command line.
    script: str = importlib.import_module("plotly.offline").get_plotlyjs()
    return _gzip_base64(script), script


def _gzip_base64(content: str) -> str:
    """As base64 of gzip, the same for the same words."""
    return base64.b64encode(gzip.compress(content.encode("utf-8"), 9, mtime=0)).decode("ascii")


def _sha256_base64(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def _header_html(
    report_input: ReportInput,
    sections: Sequence[Section],
    left_out: Mapping[str, str],
    provenance: Provenance,
) -> str:
    """Title, what all runs come to, what it is of, date, and which pages had nothing to say."""
    files = {run.report.run.file for run in report_input.runs}
    sets = list(dict.fromkeys(run.report.run.info.dataset for run in report_input.runs))
    named = ", ".join(name for name in sets[:8] if name)
    of = f"{plural(len(report_input.runs), 'run')} of {plural(len(files), 'file')}" + (
        f": {named}" if named else ""
    )
    buttons = tag("button", "Dark colours", type="button", id="theme") + tag(
        "button", "Print or save as PDF", type="button", id="print"
    )
    when = f"{provenance.created_at:%d %B %Y, %H:%M} {provenance.created_at:%Z}".strip().lstrip("0")
    nothing = "; ".join(f"{SECTIONS[id_].title} ({first_sentence(why)})" for id_, why in left_out.items())
    lines = [of, f"Made on {when} by {program_versions()}."]
    lines += [f"Left out, as these runs have nothing to say to it: {nothing}."] if nothing else []
    trouble = "This browser cannot unpack the figures: the sentence in the place of each has its numbers."
    return tag(
        "header",
        tag("div", buttons, class_="tools")
        + tag("h1", DOCUMENT_TITLE)
        + "".join(paragraphs("lead", own.lead) for own in sections)
        + paragraphs("byline", lines)
        + tag("p", trouble, id="trouble", hidden=""),
        class_="top",
    )


def first_sentence(reason: str) -> str:
    """The first sentence of a reason: what to do about it is for who has the files."""
    return reason.partition(". ")[0].rstrip(".")


def _glossary_html() -> str:
    """What each number and each confidence is, in a sentence."""
    numbers = ReportTable.from_rows(
        "Numbers",
        [
            {"Name": metric.title, "Meaning": metric.meaning, "Source": metric.source}
            for metric in METRICS.values()
        ],
    )
    confidences = ReportTable.from_rows(
        "Confidence methods",
        [
            {
                "Name": method.title,
                "Meaning": method.meaning,
                "Computed from": method.needs,
                "Source": method.source,
            }
            for method in METHODS.values()
        ],
    )
    inside = tag("h2", "What do the numbers mean?") + html_table(numbers) + html_table(confidences)
    return tag("section", inside, id="terms")


def _reproduction_html(provenance: Provenance) -> str:
    """The line that makes it again."""
    inside = (
        tag("h2", "How is this report made again?")
        + paragraphs("note", [provenance.where_to_run])
        + code_block([provenance.command])
        + paragraphs(
            "note", [f"With {program_versions()}. The files' checksums stand under Files.", MORE_IN_APP]
        )
    )
    return tag("section", inside, id="again")
