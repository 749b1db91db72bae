"""Table files contain the numbers and the recipe, whatever the texts are."""

from __future__ import annotations

import io
import re
from itertools import pairwise

import polars as pl
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from calib_core.reporting.export import table
from core.reporting.export.test_latex import printed_text
from core.views.ece_brier_tables import HOSTILE

RECIPE = "ECE-L1, equal width, M=10, right-closed, n=3/3"
NAMES = [
    "=1+1",
    HOSTILE,
    "plain",
    ":smile: **b** www.x.invalid a@b.invalid http://x.invalid ![i](u) a--b ==c==",
]


def frame() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "run": NAMES,
            "value": [0.123456789, None, -2.0, 1e-7],
            "n": [12345, 1, 2, -3],
            "enough": [True, False, None, True],
        }
    )


def markdown_cells(markdown: bytes) -> list[list[str]]:
    """What a reader of Markdown shows of the table, row by row."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown.decode())
    rows: list[list[str]] = []
    for before, token in pairwise(tokens):
        if token.type == "tr_open":
            rows.append([])
        if before.type in ("th_open", "td_open"):
            parts = token.children or []
            assert {part.type for part in parts} <= {"text", "text_special"}
            rows[-1].append("".join(part.content for part in parts))
    return rows


def test_csv_has_the_numbers_in_full_and_the_recipe_in_each_row() -> None:
    back = pl.read_csv(table.table_csv(frame(), RECIPE))
    assert back["value"].to_list() == frame()["value"].to_list()
    assert back["recipe"].to_list() == [RECIPE] * 4
    assert back["run"].to_list() == ["'=1+1", *NAMES[1:]]


def test_a_table_keeps_a_recipe_column_of_its_own() -> None:
    own = frame().with_columns(recipe=pl.Series(["a", "b", "c", "d"]))
    assert pl.read_csv(table.table_csv(own, RECIPE))["recipe"].to_list() == ["a", "b", "c", "d"]


def test_parquet_has_types_and_the_recipe_twice() -> None:
    written = table.table_parquet(frame(), RECIPE)
    assert pl.read_parquet(io.BytesIO(written)).drop("recipe").equals(frame())
    metadata = pyarrow.parquet.read_metadata(io.BytesIO(written)).metadata
    assert metadata is not None
    assert metadata[b"recipe"].decode() == RECIPE


def test_markdown_shows_each_cell_as_it_is() -> None:
    rows = markdown_cells(table.table_markdown(frame(), RECIPE, "Runs"))
    assert rows[0] == ["run", "value", "n", "enough"]
    assert [row[0] for row in rows[1:]] == NAMES
    assert [row[1] for row in rows[1:]] == ["0.1235", "–", "−2.0000", "1e-07"]
    assert [row[2] for row in rows[1:]] == ["12,345", "1", "2", "−3"]
    assert [row[3] for row in rows[1:]] == ["yes", "no", "–", "yes"]


def test_markdown_has_title_alignment_and_recipe() -> None:
    lines = table.table_markdown(frame(), f"{RECIPE}\nsecond", "Runs").decode().splitlines()
    assert lines[0] == "**Runs**"
    assert lines[3] == "| --- | ---: | ---: | --- |"
    assert lines[-2:] == [f"Recipe: {RECIPE}  ", "Recipe: second  "]


@given(st.text(max_size=60))
def test_no_text_is_more_than_itself_in_markdown(text: str) -> None:
    clean = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", "x", text).encode("utf-8", "replace").decode()
    rows = markdown_cells(table.table_markdown(pl.DataFrame({"a": ["x", clean]}), RECIPE, "T"))
    folded = " ".join(clean.split())
    assert len(rows) == 3
    assert rows[2] == [folded or "–"]


def test_latex_is_one_table_with_title_and_recipe() -> None:
    latex = table.table_latex(frame(), RECIPE, "50 % of $x$").decode()
    assert latex.startswith("\\begin{table}\n")
    assert rf"\caption{{50 \% of \$x\$. {{\footnotesize {RECIPE}}}}}" in latex
    assert r"\begin{tabular}{lrrl}" in latex
    body = latex.split("\\midrule\n")[1].split("\\bottomrule")[0].splitlines()
    assert [printed_text(row.removesuffix(r" \\").split(" & ")[0]) for row in body[:2]] == NAMES[:2]
    assert len(body) == 4


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0.0000"),
        (0.00099, "0.00099"),
        (0.001, "0.0010"),
        (999.5, "999.5000"),
        (12345.6, "1.235e+04"),
        (float("nan"), "–"),
        (float("inf"), "∞"),
        (float("-inf"), "−∞"),
        (-0.5, "−0.5000"),
    ],
)
def test_numbers_are_rounded_for_reading(number: float, text: str) -> None:
    assert table.readable_cells(pl.DataFrame({"a": [number]}))["a"].to_list() == [text]


def test_an_empty_table_is_one() -> None:
    empty = frame().clear()
    assert len(markdown_cells(table.table_markdown(empty, RECIPE, "T"))) == 1
    assert table.table_latex(empty, RECIPE, "T").decode().count(r"\\") == 1
    assert pl.read_csv(table.table_csv(empty, RECIPE)).columns == [*frame().columns, "recipe"]


@pytest.mark.parametrize(
    ("cells", "is_numeric"),
    [
        (["0.5", "1,200", "–", "−3.0e-05"], True),
        (["0.1 to 0.2", "0.3 ± 0.1", "12 / 90", "0.0100 (few)", "50 %"], True),
        (["0.5", ""], True),
        (["", ""], False),
        (["0.5", "x"], False),
    ],
)
def test_columns_of_numbers_and_intervals_align_right(cells: list[str], is_numeric: bool) -> None:  # noqa: FBT001
    assert table.is_numeric_column(pl.Series(cells)) is is_numeric
