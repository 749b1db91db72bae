"""The checked rules of `gate` as Markdown for a pull request, and as JUnit XML for a test report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from xml.etree import ElementTree as ET

from calib_core.cli.rendering import heading
from calib_core.cli.terminal import escape_unprintable
from calib_core.reporting.export.table import escape_markdown_cell
from calib_core.results.gate import RuleCheck, gate_summary

MAX_MARKDOWN_ROWS: Final = 100
"""Rows of the table, broken rules first: a comment on GitHub has at most 65,536 characters."""

_STATES: Final = {
    "failed": "❌ **failed**",
    "not checked": "⚠️ **not checked**",
    "not decided": "❔ **not decided**",
    "passed": "✅ passed",
}
_MAX_REFUSALS: Final = 20
_MAX_CELL_CHARS: Final = 200
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold."""


def gate_markdown(checks: Sequence[RuleCheck], refusals: Sequence[str]) -> str:
    """Markdown fit for a comment on a pull request; text from files is shown literally.

    Parameters
    ----------
    checks : sequence of RuleCheck
    refusals : sequence of str
        What could not be read or computed.
    """
    lines = [f"**Calib: {gate_summary(checks, len(refusals))}**", ""]
    ordered = sorted(checks, key=lambda check: check.rank)
    if ordered:
        lines += ["| | Rule | Run | Method | Value | Note |", "| --- | --- | --- | --- | --- | --- |"]
        lines += [f"| {' | '.join(_markdown_cells(check))} |" for check in ordered[:MAX_MARKDOWN_ROWS]]
        lines.append("")
    if len(ordered) > MAX_MARKDOWN_ROWS:
        more = ordered[MAX_MARKDOWN_ROWS:]
        lines += [
            f"… and {len(more):,} more, {sum(check.held is False for check in more):,} of them failed.",
            "",
        ]
    if refusals:
        lines += ["Not checked:", ""]
        lines += [f"- {_markdown(refusal, 3 * _MAX_CELL_CHARS)}" for refusal in refusals[:_MAX_REFUSALS]]
        if len(refusals) > _MAX_REFUSALS:
            lines.append(f"- … and {len(refusals) - _MAX_REFUSALS:,} more")
        lines.append("")
    return "\n".join(lines)


def _markdown_cells(check: RuleCheck) -> list[str]:
    state = _STATES[check.state]
    cells = (
        check.rule.words,
        heading(check.file, check.run),
        check.method or "",
        check.value_words,
        check.reason,
    )
    return [state, *(_markdown(cell, _MAX_CELL_CHARS) for cell in cells)]


def _markdown(text: str, limit: int) -> str:
    short = text if len(text) <= limit else text[: limit - 1] + "…"
    return escape_markdown_cell(escape_unprintable(short))


def gate_junit(checks: Sequence[RuleCheck], refusals: Sequence[str]) -> str:
    """JUnit XML: a test case for each check, and an error for each file or metric that could not be used.

    Parameters
    ----------
    checks : sequence of RuleCheck
    refusals : sequence of str
        What could not be read or computed.

    References
    ----------
    The schema of Jenkins's xUnit plugin, junit-10.xsd.
    """
    counts = {
        "tests": str(len(checks) + len(refusals)),
        "failures": str(sum(check.held is False for check in checks)),
        "errors": str(sum(check.held is None for check in checks) + len(refusals)),
    }
    root = ET.Element("testsuites", {"name": "calib gate", **counts, "time": "0"})
    suite = ET.SubElement(root, "testsuite", {"name": "calib gate", **counts, "skipped": "0", "time": "0"})
    for check in checks:
        name = _xml(f"{check.rule.words}: {check.method}" if check.method else check.rule.words)
        case = ET.SubElement(
            suite, "testcase", classname=_xml(heading(check.file, check.run)), name=name, time="0"
        )
        text = _xml(f"{check.value_words}{f'; {check.reason}' if check.reason else ''}")
        if check.held is None:
            ET.SubElement(case, "error", message=text, type=check.state).text = text
        elif check.held:
            ET.SubElement(case, "system-out").text = text
        else:
            ET.SubElement(case, "failure", message=text, type="broken rule").text = text
    for number, refusal in enumerate(refusals, 1):
        case = ET.SubElement(
            suite, "testcase", classname="calib gate", name=f"not checked, {number}", time="0"
        )
        first_line = _xml(refusal.partition("\n")[0])
        ET.SubElement(case, "error", message=first_line, type="refused").text = _xml(refusal)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _xml(text: str) -> str:
    """The text without characters that XML, or a terminal that shows it, cannot hold."""
    return _NOT_XML.sub("\ufffd", escape_unprintable(text))
