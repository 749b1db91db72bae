"""The frame of a picture contains title, recipe and font, with all texts escaped."""

from __future__ import annotations

from xml.dom import minidom

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.figures.text import text_width
from calib_core.reporting.export import kaleido_process
from calib_core.reporting.export.kaleido_process import (
    PictureFrame,
    clean_figure,
    frame_svg,
    svg_figure,
    wrap_text,
)

INNER = (
    '<svg class="main-svg" xmlns="http://www.w3.org/2000/svg" width="560" height="700" style="" '
    'viewBox="0 0 560 700"><rect width="5" height="5"/><text>Confidence</text></svg>'
)
HOSTILE = 'a </text><script>alert(1)</script> & "b" $x^2$ \x00\x08\ufffe ]]> <!--'


def parse_frame(frame: PictureFrame, font: bytes | None = None) -> minidom.Element:
    root = minidom.parseString(frame_svg(INNER, frame, font)).documentElement  # noqa: S318  our own
    assert root is not None
    return root


def texts(root: minidom.Element, tag: str) -> list[str]:
    return [
        "".join(part.data for part in one.childNodes if isinstance(part, minidom.Text))
        for one in root.getElementsByTagName(tag)
    ]


def test_title_above_recipe_below_on_white() -> None:
    frame = PictureFrame(560, 700, "Reliability diagram: red", "ECE-L1, M=10\nsecond")
    root = parse_frame(frame)
    assert texts(root, "title") == ["Reliability diagram: red"]
    assert texts(root, "desc") == ["ECE-L1, M=10\nsecond"]
    assert texts(root, "text") == ["Reliability diagram: red", "ECE-L1, M=10", "second", "Confidence"]
    places = [float(one.getAttribute("y")) for one in root.getElementsByTagName("text")[:3]]
    assert places[0] < frame.top_height < frame.top_height + 700 < places[1] < places[2] < frame.total_height
    inner = root.getElementsByTagName("svg")[0]
    assert [inner.getAttribute(name) for name in ("x", "y", "width", "height", "viewBox")] == [
        "0",
        str(frame.top_height),
        "560",
        "700",
        "0 0 560 700",
    ]
    paper = root.getElementsByTagName("rect")[0]
    assert (paper.getAttribute("fill"), paper.getAttribute("height")) == ("#FFFFFF", str(frame.total_height))
    assert root.getAttribute("role") == "img"


def test_letters_are_put_inside() -> None:
    (style,) = texts(parse_frame(PictureFrame(560, 700, "t", "r"), b"wOF2"), "style")
    assert style.startswith('@font-face{font-family:"Source Sans"')
    assert "base64,d09GMg==" in style
    assert texts(parse_frame(PictureFrame(560, 700, "t", "r")), "style") == []


def test_hostile_text_stays_text() -> None:
    root = parse_frame(PictureFrame(560, 700, HOSTILE, HOSTILE))
    assert root.getElementsByTagName("script") == []
    assert texts(root, "title")[0].startswith('a </text><script>alert(1)</script> & "b" $x^2$')
    figure = {"layout": {"title": f"x{HOSTILE}"}, "data": [{"x": [1, None], "text": ["\x07a"]}]}
    assert clean_figure(figure)["data"] == [{"x": [1, None], "text": ["\ufffda"]}]
    assert "\x00" not in clean_figure(figure)["layout"]["title"]


def test_a_lone_half_of_a_letter_is_replaced() -> None:
    assert "\ud800" not in frame_svg(INNER, PictureFrame(560, 700, "a\ud800b", ""), None)
    frame_svg(INNER, PictureFrame(560, 700, "a\ud800b", "\udfff"), None).encode()


@given(st.text(max_size=400), st.integers(60, 900))
def test_lines_fit_and_lose_nothing_but_the_end(text: str, width: int) -> None:
    lines = wrap_text(text, 12, width, 3)
    assert len(lines) <= 3
    for line in lines:
        assert 0.9 * text_width(line, 12) <= width + 12
    everything = wrap_text(text, 12, width, 10_000)
    assert "".join("".join(everything).split()) == "".join(kaleido_process.clean_xml_text(text).split())


def test_a_cut_recipe_says_where_the_rest_is() -> None:
    lines = PictureFrame(560, 700, "t", "\n".join(f"line {at}" for at in range(30))).recipe_lines
    assert len(lines) == 8
    assert lines[-1] == "… The full recipe is in the column recipe of the CSV."


def test_without_a_recipe_nothing_is_below() -> None:
    frame = PictureFrame(560, 700, "t", "")
    assert frame.total_height == frame.top_height + 700


@pytest.mark.parametrize("kind", ["images", "xaxis"])
def test_a_sheet_is_the_picture_alone(kind: str) -> None:
    frame = PictureFrame(560, 700, "t", "r")
    layout = svg_figure("<svg/>", frame)["layout"]
    assert (layout["width"], layout["height"]) == (560, frame.total_height)
    assert layout[kind]
    assert layout["images"][0]["source"] == "data:image/svg+xml;base64,PHN2Zy8+"
