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

from calib_core.views.view import FEW_BINS_MARK, EceBrierBlock, EceBrierCell, EceBrierTable

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
    """Writes one `table` environment: a block for each data set, in it a row for each method."""
    title = f"{escape_latex(table.title)}. Lowest in bold among numbers on the same rows."
    width = max((len(block.columns) for block in table.blocks), default=0)
    lines = [
        *(f"% {_one_line(note)}" for note in table.notes),
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{title}{_legend(table)}}}",
        rf"\begin{{tabular}}{{l{'rr' * width}}}",
        r"\toprule",
    ]
    above: list[str] = []
    for block in table.blocks:
        if block.headings != above:
            lines += [r"\midrule"] * bool(above) + _headings(block, table.row_heading, width)
        lines += [r"\midrule", *_block(block, width)]
        above = block.headings
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def _one_line(text: str) -> str:
    printable = "".join(letter for letter in " ".join(text.split()) if letter.isprintable())
    return printable.encode("utf-8", "replace").decode()


def _legend(table: EceBrierTable) -> str:
    if not table.warnings:
        return ""
    mark = _REPLACEMENTS[FEW_BINS_MARK]
    return f" {mark}: one or two bins hold most rows, so this ECE mostly reflects those."


def _headings(block: EceBrierBlock, row_heading: str, width: int) -> list[str]:
    """The names of the columns, and which number of a pair is which."""
    indices = range(len(block.columns))
    blank = " & " * 2 * (width - len(block.columns))
    names = "".join(rf" & \multicolumn{{2}}{{c}}{{{escape_latex(name)}}}" for name in block.columns.values())
    rules = " ".join(rf"\cmidrule(lr){{{2 + 2 * index}-{3 + 2 * index}}}" for index in indices)
    return [
        rf"{names}{blank} \\",
        rules,
        rf"{row_heading}{' & ECE & Brier' * len(block.columns)}{blank} \\",
    ]


def _block(block: EceBrierBlock, width: int) -> list[str]:
    """The name of the data set with notes on its columns, where there are any, then the rows."""
    lines: list[str] = []
    blank = " & " * 2 * (width - len(block.columns))
    if block.title or block.column_notes:
        texts = [escape_latex(", ".join(block.column_notes.get(column, ()))) for column in block.columns]
        notes = "".join(rf" & \multicolumn{{2}}{{r}}{{\footnotesize {text}}}" for text in texts)
        lines.append(rf"\textit{{{escape_latex(block.title)}}}{notes}{blank} \\")
    for row, title in block.rows.items():
        name = escape_latex(title)
        if note := ", ".join(block.row_notes.get(row, ())):
            name += rf" {{\footnotesize {escape_latex(note)}}}"
        entries = [block.cells.get((column, row)) for column in block.columns]
        lines.append(rf"{name}{''.join(map(_numbers, entries))}{blank} \\")
    return lines


def _numbers(entry: EceBrierCell | None) -> str:
    """The two cells of one pair of numbers."""
    if entry is None:
        return " & -- & --"
    mark = _REPLACEMENTS[FEW_BINS_MARK] if entry.warning else ""
    ece, brier = _bold(entry.ece, bold=entry.best_ece), _bold(entry.brier, bold=entry.best_brier)
    return f" & {ece}{mark} & {brier}"


def _bold(number: str, *, bold: bool) -> str:
    return rf"\textbf{{{escape_latex(number)}}}" if bold else escape_latex(number)
