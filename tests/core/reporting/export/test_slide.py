"""A slide is 16:9 and says what was found, its numbers and its recipe, with every text escaped."""

from __future__ import annotations

from typing import Any
from xml.dom import minidom

import pytest

from calib_core.figures.palette import DARK, LIGHT
from calib_core.reporting.export import kaleido_process
from calib_core.reporting.export.slide import (
    MAX_TILES,
    SLIDE_HEIGHT,
    SLIDE_WIDTH,
    SlideTexts,
    slide_of_figure,
    slide_svg,
)
from core.reporting.export.test_picture_frame import HOSTILE, INNER, texts

WIDE: dict[str, Any] = {"data": [], "layout": {"height": 410, "yaxis": {}}}
SQUARE: dict[str, Any] = {"data": [], "layout": {"height": 576, "yaxis": {"scaleanchor": "x"}}}
TILES = [("ECE", "0.1686", "95 %: 0.161 to 0.176"), ("Accuracy", "76.0 %", ""), ("Brier score", "0.1942", "")]
SAID = SlideTexts("Says 92.8 %, is right 76.0 %.", "Diagram: red, stated", "ECE-L1, M=10, n=9/10", TILES)


def drawn(figure: dict[str, Any], said: SlideTexts = SAID, theme: str = "light") -> minidom.Element:
    _, slide = slide_of_figure(figure, said, theme)
    root = minidom.parseString(slide_svg(INNER, slide, None)).documentElement  # noqa: S318  our own
    assert root is not None
    return root


@pytest.mark.parametrize("figure", [WIDE, SQUARE])
def test_the_number_model_and_recipe_are_in_the_picture(figure: dict[str, Any]) -> None:
    assert SLIDE_WIDTH * 9 == SLIDE_HEIGHT * 16
    root = drawn(figure)
    assert root.getAttribute("viewBox") == f"0 0 {SLIDE_WIDTH} {SLIDE_HEIGHT}"
    shown = " ".join(texts(root, "text"))
    for text in (
        SAID.title,
        SAID.subtitle,
        SAID.recipe,
        "ECE 0.1686 95 %: 0.161 to 0.176",
        "Accuracy 76.0 %",
    ):
        assert text in shown
    for one in root.getElementsByTagName("text")[:-1]:  # the last is the figure's own
        assert 0 < float(one.getAttribute("x")) < SLIDE_WIDTH
        assert 0 < float(one.getAttribute("y")) < SLIDE_HEIGHT


@pytest.mark.parametrize(
    ("figure", "said"),
    [(WIDE, SAID), (SQUARE, SAID), (WIDE, SlideTexts("t" * 500, "", "")), (WIDE, SlideTexts("t", "", ""))],
)
def test_the_figure_has_the_form_of_its_place(figure: dict[str, Any], said: SlideTexts) -> None:
    fitted, slide = slide_of_figure(figure, said, "light")
    left, top, width, height = slide.figure_place
    assert 0 < left < left + width <= SLIDE_WIDTH
    assert 0 < top < top + height < SLIDE_HEIGHT
    assert slide.figure_width / slide.figure_height == pytest.approx(width / height, rel=0.01)
    assert (fitted["layout"]["width"], fitted["layout"]["height"]) == (
        slide.figure_width,
        slide.figure_height,
    )
    assert figure["layout"]["height"] in (410, 576), "the page's figure stays as it is"


def test_a_figure_of_many_rows_keeps_its_height() -> None:
    many = {"data": [], "layout": {"height": 1200}}
    assert slide_of_figure(many, SAID, "light")[1].figure_height == pytest.approx(1200, abs=1)


def test_light_and_dark() -> None:
    for theme in (LIGHT, DARK):
        root = drawn(WIDE, theme=theme.name)
        assert root.getElementsByTagName("rect")[0].getAttribute("fill") == theme.background
        assert root.getElementsByTagName("text")[0].getAttribute("fill") == theme.text


def test_hostile_text_stays_text() -> None:
    said = SlideTexts(HOSTILE, HOSTILE, HOSTILE, [(HOSTILE, HOSTILE, HOSTILE)] * 9)
    for figure in (WIDE, SQUARE):
        root = drawn(figure, said)
        assert root.getElementsByTagName("script") == []
        assert "<script>" in texts(root, "title")[0]
        bars = [one for one in root.getElementsByTagName("rect") if one.getAttribute("width") == "3"]
        assert len(bars) == MAX_TILES


def test_a_slide_survives_its_way_to_the_drawing_process() -> None:
    from dataclasses import asdict  # noqa: PLC0415

    _, slide = slide_of_figure(SQUARE, SAID, "dark")
    fields = {name: value for name, value in asdict(slide).items() if name not in ("width", "total_height")}
    assert slide_svg(INNER, kaleido_process._frame_of_job({"slide": fields}), None) == slide_svg(  # type: ignore[arg-type]
        INNER, slide, None
    )
