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
from calib_core.report.body import Body, contents
from calib_core.report.html import code, paragraphs, table, tag
from calib_core.report.made import Made, program
from calib_core.report.parts import Section, Table
from calib_core.report.sections import SECTIONS
from calib_core.report.subject import Subject
from calib_core.wording import count

_HERE: Final = Path(__file__).parent
_LINK: Final = {"light": "#0065A0", "dark": "#7CC4EE"}
_RAISED: Final = {"light": "#F5F7F9", "dark": "#1A202A"}

TITLE: Final = "Calibration report"
MORE_IN_APP: Final = "Every number here can be looked into in Calib, where bins, methods and runs are chosen."


def document(
    subject: Subject, sections: Sequence[Section], left_out: Mapping[str, str], made: Made
) -> str:
    """The whole file as text, to be written as UTF-8. left_out: page id → why it has nothing to say."""
    body = Body()
    inside = "".join(body.section(own) for own in sections) + _terms() + _again(made)
    main = tag("main", inside)
    script = (_HERE / "document.js").read_text(encoding="utf-8")
    sheet = tag("div", _top(subject, sections, left_out, made) + contents(sections) + main, class_="sheet")
    figures = _packed(json.dumps(body.figures, allow_nan=False, separators=(",", ":")))
    data = "".join(
        tag("script", packed, type="application/octet-stream", id=id_)
        for id_, packed in (("plotly", _plotly()[0]), ("figures", figures))
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n{_head(script)}</head>\n'
        f"<body>\n{sheet}\n{data}\n<script>{script}</script>\n</body></html>\n"
    )


def _head(script: str) -> str:
    """The policy comes first: what stands above it would not be under it."""
    allowed = " ".join(f"'sha256-{_digest(own)}'" for own in (script, _plotly()[1]))
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer"><meta name="robots" content="noindex">\n'
        f"<title>{TITLE}</title>\n<style>{_style()}</style>\n"
    )


def _style() -> str:
    """The sheet, with the colours of the figures' themes; paper is always light."""
    light, dark = _colours(LIGHT), _colours(DARK)
    named = ':root[data-theme="dark"]'
    return (
        f':root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) '
        f"{{ {dark} }} }}\n{named} {{ {dark} color-scheme: dark; }}\n"
        f':root[data-theme="light"] {{ color-scheme: light; }}\n'
        f"{(_HERE / 'document.css').read_text(encoding='utf-8')}"
        f'@media print {{ :root, :root:not([data-theme="light"]), {named} '
        f"{{ {light} color-scheme: light; }} }}\n"
    )


def _colours(theme: Theme) -> str:
    said = {
        "page": theme.page, "text": theme.text, "muted": theme.muted, "line": theme.line, "grid": theme.grid,
        "over": theme.over, "link": _LINK[theme.name], "raised": _RAISED[theme.name],
    }
    return " ".join(f"--{name}: {colour};" for name, colour in said.items())


@cache
def _plotly() -> tuple[str, str]:
    """plotly.js packed, and as it runs."""
    # Loaded here: it costs more than all the rest of the command line.
    script: str = importlib.import_module("plotly.offline").get_plotlyjs()
    return _packed(script), script


def _packed(words: str) -> str:
    """As base64 of gzip, the same for the same words."""
    return base64.b64encode(gzip.compress(words.encode("utf-8"), 9, mtime=0)).decode("ascii")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def _top(
    subject: Subject, sections: Sequence[Section], left_out: Mapping[str, str], made: Made
) -> str:
    """Title, what all runs come to, what it is of, date, and which pages had nothing to say."""
    files = {run.report.run.file for run in subject.runs}
    sets = list(dict.fromkeys(run.report.run.info.dataset for run in subject.runs))
    named = ", ".join(name for name in sets[:8] if name)
    of = f"{count(len(subject.runs), 'run')} of {count(len(files), 'file')}" + (f": {named}" if named else "")
    buttons = tag("button", "Dark colours", type="button", id="theme") + tag(
        "button", "Print or save as PDF", type="button", id="print"
    )
    when = f"{made.when:%d %B %Y, %H:%M} {made.when:%Z}".strip().lstrip("0")
    nothing = "; ".join(f"{SECTIONS[id_].title} ({briefly(why)})" for id_, why in left_out.items())
    lines = [of, f"Made on {when} by {program()}."]
    lines += [f"Left out, as these runs have nothing to say to it: {nothing}."] if nothing else []
    trouble = "This browser cannot unpack the figures: the sentence in the place of each has its numbers."
    return tag(
        "header",
        tag("div", buttons, class_="tools") + tag("h1", TITLE)
        + "".join(paragraphs("lead", own.lead) for own in sections) + paragraphs("byline", lines)
        + tag("p", trouble, id="trouble", hidden=""),
        class_="top",
    )


def briefly(why: str) -> str:
    """The first sentence of a reason: what to do about it is for who has the files."""
    return why.partition(". ")[0].rstrip(".")


def _terms() -> str:
    """What each number and each confidence is, in a sentence."""
    numbers = Table.of("Numbers", [
        {"Name": metric.title, "Meaning": metric.meaning, "Source": metric.source}
        for metric in METRICS.values()
    ])
    confidences = Table.of("Confidence methods", [
        {
            "Name": method.title, "Meaning": method.meaning, "Computed from": method.needs,
            "Source": method.source,
        }
        for method in METHODS.values()
    ])
    inside = tag("h2", "What do the numbers mean?") + table(numbers) + table(confidences)
    return tag("section", inside, id="terms")


def _again(made: Made) -> str:
    """The line that makes it again."""
    inside = (
        tag("h2", "How is this report made again?")
        + paragraphs("note", [made.place])
        + code([made.command])
        + paragraphs("note", [f"With {program()}. The files' checksums stand under Files.", MORE_IN_APP])
    )
    return tag("section", inside, id="again")
