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
from typing import Final

from calib_core.confidence import METHODS
from calib_core.figures.theme import DARK, LIGHT, Theme
from calib_core.metrics import METRICS
from calib_core.report.body import BodyWriter, table_of_contents
from calib_core.report.html import code_block, paragraphs, html_table, tag
from calib_core.report.made import Provenance, program_versions
from calib_core.report.parts import Section, ReportTable
from calib_core.report.sections import SECTIONS
from calib_core.report.subject import ReportInput
from calib_core.wording import plural

_FOLDER: Final = Path(__file__).parent
_LINK_COLOURS: Final = {"light": "#0065A0", "dark": "#7CC4EE"}
_RAISED_COLOURS: Final = {"light": "#F5F7F9", "dark": "#1A202A"}

DOCUMENT_TITLE: Final = "Calibration report"
MORE_IN_APP: Final = "Every number here can be looked into in Calib, where bins, methods and runs are chosen."


def render_document(
    report_input: ReportInput, sections: Sequence[Section], left_out: Mapping[str, str], provenance: Provenance
) -> str:
    """The whole file as text, to be written as UTF-8. left_out: page id → why it has nothing to say."""
    body = BodyWriter()
    inside = "".join(body.section_html(own) for own in sections) + _glossary_html() + _reproduction_html(provenance)
    main = tag("main", inside)
    script = (_FOLDER / "document.js").read_text(encoding="utf-8")
    sheet = tag("div", _header_html(report_input, sections, left_out, provenance) + table_of_contents(sections) + main, class_="sheet")
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
        "page": theme.background, "text": theme.text, "muted": theme.muted_text, "line": theme.axis_line, "grid": theme.grid_line,
        "over": theme.overconfident, "link": _LINK_COLOURS[theme.name], "raised": _RAISED_COLOURS[theme.name],
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
    report_input: ReportInput, sections: Sequence[Section], left_out: Mapping[str, str], provenance: Provenance
) -> str:
    """Title, what all runs come to, what it is of, date, and which pages had nothing to say."""
    files = {run.report.run.file for run in report_input.runs}
    sets = list(dict.fromkeys(run.report.run.info.dataset for run in report_input.runs))
    named = ", ".join(name for name in sets[:8] if name)
    of = f"{plural(len(report_input.runs), 'run')} of {plural(len(files), 'file')}" + (f": {named}" if named else "")
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
        tag("div", buttons, class_="tools") + tag("h1", DOCUMENT_TITLE)
        + "".join(paragraphs("lead", own.lead) for own in sections) + paragraphs("byline", lines)
        + tag("p", trouble, id="trouble", hidden=""),
        class_="top",
    )


def first_sentence(reason: str) -> str:
    """The first sentence of a reason: what to do about it is for who has the files."""
    return reason.partition(". ")[0].rstrip(".")


def _glossary_html() -> str:
    """What each number and each confidence is, in a sentence."""
    numbers = ReportTable.from_rows("Numbers", [
        {"Name": metric.title, "Meaning": metric.meaning, "Source": metric.source}
        for metric in METRICS.values()
    ])
    confidences = ReportTable.from_rows("Confidence methods", [
        {
            "Name": method.title, "Meaning": method.meaning, "Computed from": method.needs,
            "Source": method.source,
        }
        for method in METHODS.values()
    ])
    inside = tag("h2", "What do the numbers mean?") + html_table(numbers) + html_table(confidences)
    return tag("section", inside, id="terms")


def _reproduction_html(provenance: Provenance) -> str:
    """The line that makes it again."""
    inside = (
        tag("h2", "How is this report made again?")
        + paragraphs("note", [provenance.where_to_run])
        + code_block([provenance.command])
        + paragraphs("note", [f"With {program_versions()}. The files' checksums stand under Files.", MORE_IN_APP])
    )
    return tag("section", inside, id="again")
