"""Export of tables as CSV, Parquet, Markdown and LaTeX, each with the recipe of its numbers.

CSV and Parquet have full precision and a column `recipe`. Markdown and LaTeX (with the package booktabs) are
rounded for reading, with the recipe below or in the caption. Text from files is escaped in each.
"""

from __future__ import annotations

import re
from io import BytesIO
from typing import Final

import polars as pl

from calib_core.readers.table.csv_reader import escape_formulas
from calib_core.reporting.export.latex import escape_latex
from calib_core.wording import cell_text

RECIPE_COLUMN: Final = "recipe"
_NUMERIC_CELL: Final = re.compile(
    r"[–∞]|[+−-]?[\d.,]+(?:e[+−-]?\d+)?(?: ?%)?(?: \(few\))?(?: ?(?:±|to|/) ?[+−-]?[\d.,]+ ?%?)?"
)
_MARKDOWN_SPECIAL: Final = re.compile(
    r"[\\`*_{}\[\]<>&|~$:@#^]|(?<=[wW]{3})\.|(?<==)=|=(?==)|(?<=-)-|-(?=-)|!(?=\[)"
)
"""Characters with a meaning within a line of Markdown, in any dialect in use."""


def safe_csv(frame: pl.DataFrame) -> bytes:
    """Writes UTF-8 CSV in which no spreadsheet program takes a text for a formula.

    `escape_formulas` marks such cells; reading the CSV back restores them. Null is an empty cell.

    Parameters
    ----------
    frame : pl.DataFrame
        Columns of numbers, booleans and text, without lists.
    """
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    return (
        frame.with_columns(escape_formulas(pl.col(name)).alias(name) for name in texts)
        .write_csv()
        .encode("utf-8")
    )


def with_recipe_column(frame: pl.DataFrame, recipe: str) -> pl.DataFrame:
    """Adds a column `recipe`, unless the frame has one already."""
    if RECIPE_COLUMN in frame.columns:
        return frame
    return frame.with_columns(pl.lit(recipe).alias(RECIPE_COLUMN))


def table_csv(frame: pl.DataFrame, recipe: str) -> bytes:
    """Writes CSV as `safe_csv` does, with the recipe in every row."""
    return safe_csv(with_recipe_column(frame, recipe))


def table_parquet(frame: pl.DataFrame, recipe: str) -> bytes:
    """Writes Parquet with the recipe as a column and in the file's metadata."""
    buffer = BytesIO()
    with_recipe_column(frame, recipe).write_parquet(buffer, metadata={RECIPE_COLUMN: recipe})
    return buffer.getvalue()


def table_markdown(frame: pl.DataFrame, recipe: str, title: str) -> bytes:
    """Writes UTF-8 Markdown: the title, a pipe table, the recipe."""
    cells = readable_cells(frame)
    is_numeric = [is_numeric_column(cells[name]) for name in cells.columns]
    rows = [cells.columns, *cells.rows()]
    lines = [f"| {' | '.join(map(escape_markdown_cell, row))} |" for row in rows]
    rule = f"|{'|'.join(' ---: ' if numeric else ' --- ' for numeric in is_numeric)}|"
    recipe_lines = [f"Recipe: {escape_markdown_cell(line)}  " for line in _recipe_lines(recipe)]
    return "\n".join(
        [f"**{escape_markdown_cell(title)}**", "", lines[0], rule, *lines[1:], "", *recipe_lines, ""]
    ).encode()


def table_latex(frame: pl.DataFrame, recipe: str, title: str) -> bytes:
    """Writes UTF-8 LaTeX: one `table` environment with title and recipe as its caption."""
    cells = readable_cells(frame)
    is_numeric = [is_numeric_column(cells[name]) for name in cells.columns]
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
    """Escapes text so that Markdown shows it character for character, on one line."""
    folded = " ".join(text.encode("utf-8", "replace").decode().split())
    return _MARKDOWN_SPECIAL.sub(r"\\\g<0>", folded)


def readable_cells(frame: pl.DataFrame) -> pl.DataFrame:
    """Formats all cells as text: numbers to four decimals, or four digits if large or tiny; "–" for null."""
    return pl.DataFrame(
        {
            name: pl.Series(name, [cell_text(value) for value in frame[name]], dtype=pl.String)
            for name in frame.columns
        }
    )


def _latex_row(cells: tuple[str, ...] | list[str]) -> str:
    return rf"{' & '.join(map(escape_latex, cells))} \\"


def is_numeric_column(column: pl.Series) -> bool:
    """Whether all cells that are not empty are numbers or intervals, which align right."""
    cells = [cell for cell in column if cell]
    return bool(cells) and all(_NUMERIC_CELL.fullmatch(cell) for cell in cells)


def _recipe_lines(recipe: str) -> list[str]:
    return [line for line in recipe.splitlines() if line.strip()]
