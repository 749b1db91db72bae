"""How does a table become a file, with how its numbers were made inside?

CSV and Parquet hold the numbers in full, with a column `recipe`; Markdown and LaTeX (with the package
booktabs) are for reading: rounded, the recipe below or in the caption. Text of files stands in each as text.
"""

from __future__ import annotations

import math
import re
from io import BytesIO
from typing import Final

import polars as pl

from calib_core.readers.table.csv_reader import escape_formulas
from calib_core.report.export.latex import escape_latex

# MERGED spreadsheet: How does a table become a CSV that a spreadsheet opens without running anything in it?
#
# A text cell that a spreadsheet would take for a formula is defused as `files.formulas` says; ids are
# restored where such a CSV is read again.


def safe_csv(frame: pl.DataFrame) -> bytes:
    """UTF-8 CSV with a header; numbers stay numbers, null is an empty cell. `frame` has no lists."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    return (
        frame.with_columns(escape_formulas(pl.col(name)).alias(name) for name in texts)
        .write_csv()
        .encode("utf-8")
    )


RECIPE_COLUMN: Final = "recipe"
MISSING_CELL: Final = "–"
_NUMERIC_CELL: Final = re.compile(r"[–∞]|[+−-]?[\d.,]+(?:e[+−-]?\d+)?(?: ?%)?")
_MARKDOWN_SPECIAL: Final = re.compile(
    r"[\\`*_{}\[\]<>&|~$:@#^]|(?<=[wW]{3})\.|(?<==)=|=(?==)|(?<=-)-|-(?=-)|!(?=\[)"
)
"""What a reader of Markdown, of any kind in use, may take for more than itself within a line."""


def with_recipe_column(frame: pl.DataFrame, recipe: str) -> pl.DataFrame:
    """The frame with a column `recipe`; one that has it keeps its own, row by row."""
    if RECIPE_COLUMN in frame.columns:
        return frame
    return frame.with_columns(pl.lit(recipe).alias(RECIPE_COLUMN))


def table_csv(frame: pl.DataFrame, recipe: str) -> bytes:
    """UTF-8 CSV as `spreadsheet.to_csv` writes it, with the recipe in every row."""
    return safe_csv(with_recipe_column(frame, recipe))


def table_parquet(frame: pl.DataFrame, recipe: str) -> bytes:
    """Parquet with a column `recipe`, and the same under that name in the file's metadata."""
    buffer = BytesIO()
    with_recipe_column(frame, recipe).write_parquet(buffer, metadata={RECIPE_COLUMN: recipe})
    return buffer.getvalue()


def table_markdown(frame: pl.DataFrame, recipe: str, title: str) -> bytes:
    """UTF-8 Markdown: the title, a table with pipes, the recipe."""
    cells = readable_cells(frame)
    is_numeric = [_is_numeric_column(cells[name]) for name in cells.columns]
    rows = [cells.columns, *cells.rows()]
    lines = [f"| {' | '.join(map(escape_markdown_cell, row))} |" for row in rows]
    rule = f"|{'|'.join(' ---: ' if numeric else ' --- ' for numeric in is_numeric)}|"
    recipe_lines = [f"Recipe: {escape_markdown_cell(line)}  " for line in _recipe_lines(recipe)]
    return "\n".join(
        [f"**{escape_markdown_cell(title)}**", "", lines[0], rule, *lines[1:], "", *recipe_lines, ""]
    ).encode()


def table_latex(frame: pl.DataFrame, recipe: str, title: str) -> bytes:
    """UTF-8 LaTeX: one `table` environment with the title and the recipe as its caption."""
    cells = readable_cells(frame)
    is_numeric = [_is_numeric_column(cells[name]) for name in cells.columns]
    rows = [_latex_row(row) for row in (cells.columns, *cells.rows())]
    recipe_text = " ".join(escape_latex(line) for line in _recipe_lines(recipe))
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape_latex(title)}. {{\footnotesize {recipe_text}}}}}",
            rf"\begin{{tabular}}{{{''.join('r' if numeric else 'l' for numeric in is_numeric)}}}",
            r"\toprule",
            rows[0],
            r"\midrule",
            *rows[1:],
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    ).encode()


def escape_markdown_cell(text: str) -> str:
    """Markdown for any reader that shows the text character for character, in one line."""
    folded = " ".join(text.encode("utf-8", "replace").decode().split())
    return _MARKDOWN_SPECIAL.sub(r"\\\g<0>", folded)


def readable_cells(frame: pl.DataFrame) -> pl.DataFrame:
    """All cells as text: numbers to four decimals or, if large or tiny, four digits; a dash for nothing."""
    return pl.DataFrame(
        {
            name: pl.Series(name, [_cell_text(value) for value in frame[name]], dtype=pl.String)
            for name in frame.columns
        }
    )


def _cell_text(value: object) -> str:
    match value:
        case None | "":
            return MISSING_CELL
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}".replace("-", "−")
        case float():
            return _number_text(value)
        case _:
            return str(value)


def _number_text(value: float) -> str:
    if math.isnan(value):
        return MISSING_CELL
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    format_spec = ".4f" if value == 0 or 0.001 <= abs(value) < 1000 else ".4g"
    return f"{'−' if value < 0 else ''}{abs(value):{format_spec}}"


def _latex_row(cells: tuple[str, ...] | list[str]) -> str:
    return rf"{' & '.join(map(escape_latex, cells))} \\"


def _is_numeric_column(column: pl.Series) -> bool:
    return all(_NUMERIC_CELL.fullmatch(cell) for cell in column)


def _recipe_lines(recipe: str) -> list[str]:
    return [line for line in recipe.splitlines() if line.strip()]
