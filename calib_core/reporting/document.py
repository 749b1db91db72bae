"""Writing a report as one HTML file that works offline.

plotly.js and the figures are embedded, compressed. The file's own content security policy allows no request,
and no script but the two written into the file. Where scripts do not run, the text alternative of each figure
is shown in its place.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from calib_core.figures.layout import without_unset
from calib_core.figures.palette import DARK, LIGHT, Theme
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.readers.merged_runs import files_of_run
from calib_core.reporting.html import (
    bullet_list,
    code_block,
    ece_brier_html,
    escape_text,
    fact_list,
    fit_on_paper,
    html_table,
    paragraphs,
    tag,
    tile_list,
)
from calib_core.reporting.provenance import Provenance, program_versions
from calib_core.results.run_names import real_name
from calib_core.views import files, summary
from calib_core.views.inputs import ReportInput
from calib_core.views.registry import SECTIONS
from calib_core.views.view import Fact, Section, View, ViewFigure, ViewTable, text_lines
from calib_core.wording import NO_VALUE, plural

_LINK_COLOURS: Final = {"light": "#0065A0", "dark": "#7CC4EE"}
_RAISED_COLOURS: Final = {"light": "#F5F7F9", "dark": "#1A202A"}

MORE_IN_APP: Final = "Open the files in Calib to choose other bins, methods and runs."

SUMMARY_METRICS: Final = ("ece", "accuracy")
"""The metrics that every summary shows and explains."""

MAX_BRIEF_METHODS: Final = 2
"""At most this many confidence methods are explained in a summary."""

MAX_BRIEF_FILES: Final = 3
"""Up to this many files have their checksums in a report without the page Files."""

_MAX_UNFOLDED_VIEWS: Final = 3
"""From this many views on, the contents fold the list of a section's views."""

_LETTER_WIDTH: Final = 6.6
"""Average width in pixels of a letter in a table."""

_CELL_PADDING: Final = 10.0
"""Horizontal padding of a cell, in pixels."""

_HALF_PAGE_WIDTH: Final = 520.0
"""Tables narrower than this, in pixels, fit beside a figure."""

# --- Dark colours -------------------------------------------------------------------------------------------
#
# A figure is stored once, together with the parts that a dark page changes.

ColourChanges: TypeAlias = "list[Any] | dict[str, ColourChanges]"
"""`[replacement]`, or the changes of the parts that differ, by key or by index in a list; `[]` for none."""


def colour_changes(light: object, dark: object) -> ColourChanges:
    """Lists what to replace in `light` to get `dark`; document.js applies the changes.

    Parameters
    ----------
    light, dark : object
        Two JSON values, such as a figure in two themes.

    Returns
    -------
    ColourChanges
        Empty if the values are equal.

    Examples
    --------
    >>> colour_changes({"width": 2, "color": "#000"}, {"width": 2, "color": "#fff"})
    {'color': ['#fff']}
    """
    light_parts, dark_parts = _children(light), _children(dark)
    same_type = type(light) is type(dark)
    if light_parts is None or dark_parts is None or not same_type or light_parts.keys() != dark_parts.keys():
        return [] if same_type and light == dark else [dark]
    changes = {key: colour_changes(part, dark_parts[key]) for key, part in light_parts.items()}
    return {key: change for key, change in changes.items() if change}


def _children(value: object) -> dict[str, Any] | None:
    """The parts of a mapping or list by key or index, as text; None for other values."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    if isinstance(value, list):
        return {str(index): part for index, part in enumerate(cast("list[Any]", value))}
    return None


# --- Body ---------------------------------------------------------------------------------------------------


class BodyWriter:
    """Writes sections as HTML and collects their figures, which are stored at the end of the document.

    Attributes
    ----------
    figures : list[Mapping[str, Mapping[str, Any] | ColourChanges]]
        Each figure for a light page, and its changes for a dark one, in the order of the document.
    """

    def __init__(self) -> None:
        self.figures: list[Mapping[str, Mapping[str, Any] | ColourChanges]] = []

    def section_html(self, section: Section) -> str:
        """Writes one section: its question, then its views; what several views say in facts is said once."""
        views, said = "", set[Fact]()
        for index, view in enumerate(section.views):
            new = tuple(fact for fact in view.facts if fact not in said)
            views += self.view_html(replace(view, facts=new), view_anchor(section, index))
            said.update(new)
        heading = paragraphs("kicker", [section.title]) + tag("h2", escape_text(section.question))
        n_cards = sum(map(_is_card, section.views))
        return tag("section", heading + views, class_="cards" if n_cards > 1 else None, id=section.id)

    def view_html(self, view: View, anchor: str) -> str:
        """Writes one view; `anchor` is its HTML id."""
        opening = (
            (tag("h3", escape_text(view.title)) if view.title else "")
            + paragraphs("by", [view.method_title])
            + paragraphs("reading", [view.headline])
            + paragraphs("caveat", [view.caveat])
            + tile_list(view.tiles)
            + code_block(view.recipes)
        )
        captions = paragraphs("caption", [view.how_to_read])
        captions = tag("div", captions, class_="captions") if captions else ""
        remarks = bullet_list("remarks", view.left_out) + fact_list(view.facts)
        tables = view.tables or view.ece_brier_tables
        if [figure.narrow for figure in view.figures] == [True] and captions and not tables:
            beside = tag("div", captions + remarks)
            content = tag("div", self._figure_html(view.figures[0]) + beside, class_="pair")
        else:
            content = self._figures_and_tables(view)
            content += "".join(ece_brier_html(fit_on_paper(table)) for table in view.ece_brier_tables)
            content += captions
            content += remarks
        content = tag("div", opening, class_="top-of-block") + content + self._small_figures(view)
        return tag("article", content, class_="card" if _is_card(view) else None, id=anchor)

    def _figures_and_tables(self, view: View) -> str:
        """Figures and tables, side by side where one narrow figure and its tables fit."""
        figures = [self._figure_html(figure) for figure in view.figures]
        tables = [html_table(table) for table in view.tables]
        halves = [html for html, figure in zip(figures, view.figures, strict=True) if figure.narrow]
        side_by_side = (
            len(halves) == 1
            and bool(tables)
            and all(_table_width(table) < _HALF_PAGE_WIDTH for table in view.tables)
        )
        if side_by_side:
            pair = tag("div", halves[0] + tag("div", "".join(tables)), class_="pair")
            return pair + _remaining(figures, halves)
        halves_html = tag("div", "".join(halves), class_="pair") if halves else ""
        return halves_html + _remaining(figures, halves) + "".join(tables)

    def _small_figures(self, view: View) -> str:
        """Small figures, as many in a row as fit."""
        panels = "".join(map(self._figure_html, view.small_figures))
        if not panels:
            return ""
        return tag("h4", escape_text(view.small_figures_heading)) + tag("div", panels, class_="panels")

    def _figure_html(self, figure: ViewFigure) -> str:
        number = len(self.figures)
        light, dark = (without_unset(figure.draw(theme)) for theme in (LIGHT, DARK))
        self.figures.append({"light": light, "dark": colour_changes(light, dark)})
        height = light["layout"]["height"]
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


def _is_card(view: View) -> bool:
    """Whether a view is small enough for two to stand side by side: an opening, and one narrow figure."""
    below = (
        view.tables,
        view.ece_brier_tables,
        view.small_figures,
        view.how_to_read,
        view.facts,
        view.left_out,
    )
    return [figure.narrow for figure in view.figures] == [True] and not any(below)


def _remaining(figures: Sequence[str], shown: Sequence[str]) -> str:
    return "".join(figure for figure in figures if figure not in shown)


def _table_width(table: ViewTable) -> float:
    """Estimated width of a table in small type, in pixels."""
    frame = table.texts()
    return sum(
        _CELL_PADDING + _LETTER_WIDTH * max(map(len, (*name.split(), *frame[name].to_list())), default=0)
        for name in frame.columns
    )


def view_anchor(section: Section, index: int) -> str:
    """The HTML id of a view, which the contents link to."""
    return f"{section.id}-{index + 1}"


def table_of_contents(sections: Sequence[Section]) -> str:
    """Links to every section and to its titled views, which are folded if there are many."""
    items = "".join(tag("li", _section_link(section) + _view_links(section)) for section in sections)
    items += tag("li", tag("a", "What do the numbers mean?", href="#terms"))
    items += tag("li", tag("a", "How can this report be reproduced?", href="#again"))
    return tag("nav", tag("h2", "Contents") + tag("ol", items), aria_label="Contents")


def _section_link(section: Section) -> str:
    return tag("a", escape_text(section.question), href=f"#{section.id}") + tag(
        "span", f" {escape_text(section.title)}"
    )


def _view_links(section: Section) -> str:
    titles = [(index, view.title) for index, view in enumerate(section.views) if view.title]
    if len(titles) < 2:
        return ""
    links = "".join(
        tag("li", tag("a", escape_text(title), href=f"#{view_anchor(section, index)}"))
        for index, title in titles
    )
    summary = tag("summary", f"{len(titles)} parts")
    return tag("details", summary + tag("ul", links), open="" if len(titles) < _MAX_UNFOLDED_VIEWS else None)


# --- Document -----------------------------------------------------------------------------------------------


def render_document(
    report_input: ReportInput,
    sections: Sequence[Section],
    left_out: Mapping[str, str],
    provenance: Provenance,
) -> str:
    """Writes the whole document.

    Parameters
    ----------
    report_input : ReportInput
        The runs and files of the report.
    sections : Sequence[Section]
        The sections, in order.
    left_out : Mapping[str, str]
        Page id → why the page has no section.
    provenance : Provenance
        When and by which command the report is made.

    Returns
    -------
    str
        HTML, to be encoded as UTF-8.
    """
    writer = BodyWriter()
    is_brief = all(section.id == summary.ID for section in sections)
    content = (
        "".join(writer.section_html(section) for section in sections)
        + (_brief_glossary_html(report_input) if is_brief else _glossary_html(report_input))
        + _reproduction_html(provenance, report_input, sections, left_out)
    )
    main = tag("main", content)
    script = read_asset("figures.js") + read_asset("document.js")
    sheet = tag(
        "div",
        _header_html(sections, provenance) + ("" if is_brief else table_of_contents(sections)) + main,
        class_="sheet brief" if is_brief else "sheet",
    )
    head = _head_html(script, provenance.front.title)
    figures = gzip_base64(json.dumps(writer.figures, allow_nan=False, separators=(",", ":")))
    data = "".join(
        tag("script", packed, type="application/octet-stream", id=id_)
        for id_, packed in (("plotly", plotly_script()[0]), ("figures", figures))
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n{head}</head>\n'
        f"<body>\n{sheet}\n{data}\n<script>{script}</script>\n</body></html>\n"
    )


def _head_html(script: str, title: str) -> str:
    """The head; its policy comes first because it does not apply to elements before it."""
    hashes = " ".join(f"'sha256-{_sha256_base64(code)}'" for code in (script, plotly_script()[1]))
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer"><meta name="robots" content="noindex">\n'
        f"<title>{escape_text(title)}</title>\n<style>{_style_sheet()}</style>\n"
    )


def _style_sheet() -> str:
    """The style sheet with the colours of the figure themes; print is always light."""
    light, dark = colour_variables(LIGHT), colour_variables(DARK)
    dark_chosen = ':root[data-theme="dark"]'
    return (
        f':root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) '
        f"{{ {dark} }} }}\n{dark_chosen} {{ {dark} color-scheme: dark; }}\n"
        f':root[data-theme="light"] {{ color-scheme: light; }}\n'
        f"{read_asset('document.css')}"
        f'@media print {{ :root, :root:not([data-theme="light"]), {dark_chosen} '
        f"{{ {light} color-scheme: light; }} }}\n"
    )


def colour_variables(theme: Theme) -> str:
    """The colours of a theme as CSS variables."""
    colours = {
        "page": theme.background,
        "text": theme.text,
        "muted": theme.muted_text,
        "line": theme.axis_line,
        "grid": theme.grid_line,
        "over": theme.overconfident,
        "link": _LINK_COLOURS[theme.name],
        "raised": _RAISED_COLOURS[theme.name],
    }
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())


def read_asset(name: str) -> str:
    """A style sheet or script of this package."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


@cache
def plotly_script() -> tuple[str, str]:
    """plotly.js, compressed as base64 and as source text."""
    # Imported here because it takes longer than the rest of the command line together.
    script: str = importlib.import_module("plotly.offline").get_plotlyjs()
    return gzip_base64(script), script


def gzip_base64(content: str) -> str:
    """The text gzipped, as base64; without a time stamp, so equal texts give equal bytes."""
    return base64.b64encode(gzip.compress(content.encode("utf-8"), 9, mtime=0)).decode("ascii")


def _sha256_base64(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def _header_html(sections: Sequence[Section], provenance: Provenance) -> str:
    """The header: title, author, date, note and main findings."""
    buttons = tag("button", "Dark colours", type="button", id="theme") + tag(
        "button", "Print or save as PDF", type="button", id="print"
    )
    no_figures_notice = (
        "This browser cannot unpack the figures. A sentence in the place of each figure gives the numbers."
    )
    front = provenance.front
    return tag(
        "header",
        tag("div", buttons, class_="tools")
        + tag("h1", escape_text(front.title))
        + paragraphs("byline", [front.byline(provenance.created_at.date())])
        + paragraphs("note", front.note.splitlines())
        + paragraphs("lead", dict.fromkeys(line for section in sections for line in section.lead))
        + tag("p", no_figures_notice, id="trouble", hidden=""),
        class_="top",
    )


def _scope_lines(provenance: Provenance, report_input: ReportInput, left_out: Mapping[str, str]) -> list[str]:
    """When and of what the report is made, what its runs are really called, and which sections it lacks."""
    files = {file for run in report_input.runs for file in files_of_run(run.report.run)}
    datasets = list(dict.fromkeys(run.report.run.info.dataset for run in report_input.runs))
    dataset_names = ", ".join(name for name in datasets[:8] if name)
    scope = f"{plural(len(report_input.runs), 'run')} of {plural(len(files), 'file')}" + (
        f": {dataset_names}" if dataset_names else ""
    )
    date = f"{provenance.created_at:%d %B %Y, %H:%M} {provenance.created_at:%Z}".strip().lstrip("0")
    left_out_text = "; ".join(
        f"{SECTIONS[id_].title} ({opening_sentence(why)})" for id_, why in left_out.items()
    )
    renamed = [run.title for run in report_input.runs if run.title != real_name(run.title)]
    names = "; ".join(f"“{title}” is {real_name(title)}" for title in renamed)
    return [
        scope,
        f"Made on {date} by {program_versions()}.",
        *text_lines(
            f"{names}." if names else "",
            f"Left out (nothing to show for these runs): {left_out_text}." if left_out_text else "",
        ),
    ]


def opening_sentence(reason: str) -> str:
    """The first sentence of a reason, without the advice that follows for the owner of the files.

    Examples
    --------
    >>> opening_sentence("No run has samples. The README says how to add them.")
    'No run has samples'
    """
    return reason.partition(". ")[0].rstrip(".")


def _glossary_html(report_input: ReportInput) -> str:
    """The section that explains each metric and confidence method in a sentence."""
    terms = report_input.terms
    # What needs a probability for every choice is never shown of an event.
    metrics = [
        metric.worded(terms) for metric in METRICS.values() if terms.of != "event" or metric.needs == "pairs"
    ]
    metric_table = ViewTable.from_rows(
        "Numbers",
        [{"Name": metric.title, "Meaning": metric.meaning, "Source": metric.source} for metric in metrics],
    )
    method_table = ViewTable.from_rows(
        "Methods",
        [
            {
                "Name": method.title,
                "Meaning": method.meaning,
                "Computed from": method.needs,
                "Source": method.source,
            }
            for method in METHODS.values()
            if terms.of in ("both", method.probability_of)
        ],
    )
    content = tag("h2", "What do the numbers mean?") + html_table(metric_table) + html_table(method_table)
    return tag("section", content, id="terms")


def _brief_glossary_html(report_input: ReportInput) -> str:
    """The meaning of the numbers and confidence methods of a summary, a line each."""
    metrics = dict.fromkeys((report_input.settings.metric, *SUMMARY_METRICS))
    methods = dict.fromkeys(
        method for run in report_input.runs if run.usable for method in report_input.methods_for(run)
    )
    worded = [METRICS[id_].worded(report_input.terms) for id_ in metrics]
    lines = [f"{metric.title}: {metric.meaning}" for metric in worded]
    lines += [f"{METHODS[id_].title}: {METHODS[id_].meaning}" for id_ in list(methods)[:MAX_BRIEF_METHODS]]
    return tag("section", tag("h2", "What do the numbers mean?") + bullet_list("remarks", lines), id="terms")


def _reproduction_html(
    provenance: Provenance,
    report_input: ReportInput,
    sections: Sequence[Section],
    left_out: Mapping[str, str],
) -> str:
    """The section with the command that makes the report again, and checksums unless shown before."""
    checksums = list(dict.fromkeys(read for file in report_input.files for read in file.files_read))
    has_files = any(section.id == files.ID for section in sections)
    if has_files:
        where, table = " The files' checksums stand under Files.", ""
    elif len(checksums) > MAX_BRIEF_FILES:
        where = f" {plural(len(checksums), 'file')}: the page Files of a full report has their checksums."
        table = ""
    else:
        rows = [{"File": read.name, "SHA-256": read.sha256 or NO_VALUE} for read in checksums]
        where, table = "", html_table(ViewTable.from_rows("", rows))
    content = (
        tag("h2", "How can this report be reproduced?")
        + paragraphs("byline", _scope_lines(provenance, report_input, left_out))
        + paragraphs("note", [provenance.where_to_run])
        + code_block([provenance.command])
        + paragraphs("note", [f"{MORE_IN_APP}{where}"])
        + table
    )
    return tag("section", content, id="again")
