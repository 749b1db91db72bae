r"""Tables of ECE and Brier score as LaTeX, for documents with `\usepackage{booktabs}`.

Text from files is escaped. The recipe of each number is a comment above the table. The program's own texts
compile with any LaTeX from 2020 on; names in scripts that pdfLaTeX does not know need LuaLaTeX or XeLaTeX and
a font that has them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from calib_core.views.view import FEW_BINS_MARK, EceBrierCell, EceBrierTable

_REPLACEMENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\symbol{34}",
        "·": r"\textperiodcentered{}",
        "–": r"\textendash{}",
        "−": "$-$",
        "†": r"\textdagger{}",
        "[": "{[}",
        "]": "{]}",
        "`": r"\textasciigrave{}",
        "'": r"\textquotesingle{}",
        "’": r"\textquoteright{}",
        "“": r"\textquotedblleft{}",
        "”": r"\textquotedblright{}",
        "…": r"\textellipsis{}",
        "±": r"$\pm$",
        "×": r"$\times$",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "≠": r"$\neq$",
        "≈": r"$\approx$",
        "∞": r"$\infty$",
        "∝": r"$\propto$",
        "²": "$^{2}$",
        "ρ": r"$\rho$",
        "Σ": r"$\Sigma$",
        "σ": r"$\sigma$",
        "∫": r"$\int$",
        "ö": r"\"o",
        "ł": r"\l{}",
        "Π": r"$\Pi$",
        "ℓ": r"$\ell$",
        "⌈": r"$\lceil$",
        "⌉": r"$\rceil$",
    }
)
"""Character → LaTeX. A bracket right after the end of a row would be taken for an optional argument; a
straight quotation mark is written by its number because the default font encoding has no name for it."""

_LIGATURE_GAPS: Final = re.compile(r"(?<=-)(?=-)|(?<=,)(?=,)")
"""Positions between characters that a font would join into a dash or a quotation mark."""


def escape_latex(text: str) -> str:
    r"""Escapes text so that LaTeX prints it character for character.

    White space is folded and control characters are removed.

    Examples
    --------
    >>> print(escape_latex("50 % of a_b -- see {x}"))
    50 \% of a\_b -{}- see \{x\}
    """
    return _LIGATURE_GAPS.sub("{}", "".join(_REPLACEMENTS.get(letter, letter) for letter in _one_line(text)))


def ece_brier_latex(table: EceBrierTable) -> str:
    """Writes one `table` environment: a row for each method, with its notes in small print below."""
    title = f"{escape_latex(table.title)}. Lowest in bold among numbers on the same rows."
    lines = [
        *(f"% {_one_line(note)}" for note in table.notes),
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{title}{_legend(table)}}}",
        rf"\begin{{tabular}}{{l{'rr' * len(table.columns)}}}",
        r"\toprule",
        *_heading(table),
        r"\midrule",
    ]
    for method, title in table.rows.items():
        entries = [table.cells.get((column, method)) for column in table.columns]
        lines += _row(title, entries, table.row_notes.get(method, ""))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def _one_line(text: str) -> str:
    printable = "".join(letter for letter in " ".join(text.split()) if letter.isprintable())
    return printable.encode("utf-8", "replace").decode()


def _legend(table: EceBrierTable) -> str:
    if not any(entry.warning for entry in table.cells.values()):
        return ""
    mark = _REPLACEMENTS[FEW_BINS_MARK]
    return f" {mark}: one or two bins hold most rows, so this ECE describes little else."


def _heading(table: EceBrierTable) -> list[str]:
    indices = range(len(table.columns))
    lines: list[str] = []
    notes = [
        rf"\footnotesize {escape_latex(text)}" if (text := table.column_notes.get(column)) else ""
        for column in table.columns
    ]
    names_by_part = [[escape_latex(names[part]) for names in table.columns.values()] for part in (0, 1)]
    for names in (*names_by_part, notes):  # data set, model, note
        if any(names):
            cells = "".join(rf" & \multicolumn{{2}}{{c}}{{{name}}}" for name in names)
            lines.append(rf"{cells} \\")
    rules = " ".join(rf"\cmidrule(lr){{{2 + 2 * index}-{3 + 2 * index}}}" for index in indices)
    return [*lines, rules, rf"{table.row_heading}{' & ECE & Brier' * len(table.columns)} \\"]


def _row(title: str, entries: list[EceBrierCell | None], small_print: str) -> list[str]:
    mark = _REPLACEMENTS[FEW_BINS_MARK]
    numbers = "".join(
        " & -- & --"
        if entry is None
        else f" & {_bold(entry.ece, bold=entry.best_ece)}{mark if entry.warning else ''}"
        f" & {_bold(entry.brier, bold=entry.best_brier)}"
        for entry in entries
    )
    lines = [rf"{escape_latex(title)}{numbers} \\"]
    if any(entry is not None and entry.small_print for entry in entries):
        small_cells = "".join(
            rf" & \multicolumn{{2}}{{r}}{{\footnotesize {escape_latex(entry.small_print if entry else '')}}}"
            for entry in entries
        )
        small_heading = rf"\footnotesize {escape_latex(small_print)}" if small_print else ""
        lines.append(rf"{small_heading}{small_cells} \\")
    return lines


def _bold(number: str, *, bold: bool) -> str:
    return rf"\textbf{{{escape_latex(number)}}}" if bold else escape_latex(number)
