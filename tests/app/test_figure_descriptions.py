"""Every figure has a description for screen readers, with numbers that the page shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import screens
from screens import ANSWERS, Visit, page_text, tiles

NUMBER = re.compile(r"(?<![\w.])[+−-]?\d[\d,]*(?:\.\d+)?(?![\w.]*\d)")
PAGES = {page: address for page, address in ANSWERS.items() if page != "methods"}
"""The page Methods is a table."""


def numbers_in_text(text: str) -> list[tuple[float, int]]:
    """Every number in a text and how many decimals it is written with."""
    plain = (found.replace(",", "").replace("−", "-") for found in NUMBER.findall(text))
    return [(float(number), len(number.partition(".")[2])) for number in plain]


def page_numbers(at: screens.AppTest) -> list[float]:
    """The numbers of its texts, tiles and tables; a share in a table is a percentage as well."""
    texts = [page_text(at), *tiles(at).values(), *(str(metric.delta) for metric in at.metric)]
    shown = [number for text in texts for number, _ in numbers_in_text(text)]
    for element in at.dataframe:
        for column in pl.from_pandas(element.value).get_columns():
            if column.dtype.is_numeric():
                own = [float(value) for value in column.drop_nulls()]
                shown += [*own, *(100 * value for value in own)]
            elif column.dtype == pl.String:
                shown += [number for cell in column.drop_nulls() for number, _ in numbers_in_text(cell)]
    return shown


def figure_descriptions(at: screens.AppTest) -> dict[str, str]:
    """The sentence of every figure, by the figure's key."""
    return {chart.key or "": chart.proto.alt for chart in at.get("plotly_chart")}


@pytest.mark.parametrize("page", PAGES)
def test_a_figure_s_sentence_has_numbers_of_the_page(folder: Path, visit: Visit, page: str) -> None:
    assert folder.is_dir()
    at = visit(page, **PAGES[page])
    shown, sentences = page_numbers(at), figure_descriptions(at)
    assert sentences
    assert len(set(sentences.values())) == len(sentences), "two figures say the same"
    for key, sentence in sentences.items():
        assert sentence.endswith("."), key
        found = numbers_in_text(sentence)
        told = [(number, digits) for number, digits in found if digits] or found  # 0.2190 rather than 10
        assert any(round(other, digits) == number for number, digits in told for other in shown), sentence


def test_numbers_are_found_as_they_are_written() -> None:
    told: Any = numbers_in_text(
        "ECE 0.2190, accuracy 75.0 %, 1,319 rows, gap −0.250 in (0.5, 0.6], M=10, p(True)"
    )
    assert told == [(0.219, 4), (75.0, 1), (1319.0, 0), (-0.25, 3), (0.5, 1), (0.6, 1), (10.0, 0)]
