"""Every figure and table of every page can be downloaded with its numbers and its recipe."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest
from streamlit.testing.v1 import AppTest

import screens
from calib_core.errors import Unavailable
from export_menus import menu_keys, open_menus
from pages.widgets import export
from pages.widgets.export import MAX_STEM_LENGTH, make_file_stem
from predictions import write_csv
from screens import Visit, page_text

PAGES: Final = [page for page in screens.SCRIPTS if page != "report"]
"""Those of figures and tables: the page Report has none of its own, as a test here says."""

NAME: Final = re.compile(r"[a-z0-9.-]{1,140}\.(csv|parquet|md|tex)")


def every_figure_and_table_has_its_menu(at: screens.AppTest) -> None:
    found = menu_keys(at)
    charts = [chart.key for chart in at.get("plotly_chart")]
    assert [f"export_figure_{key}" for key in charts] == [key for key in found if "_figure_" in key]
    tables = [key for key in found if "_table_" in key]
    # the tables of Start, one for each data set, are exported as one
    shown = {re.sub(r"^overview_\d+_[0-9a-f]{8}$", "overview", str(table.key)) for table in at.dataframe}
    assert len(tables) == len(set(tables)) >= len(shown)
    assert charts or at.dataframe or tables


def test_beside_its_file_the_page_report_has_the_diagrams_it_begins_with(
    everything: Path, visit: Visit
) -> None:
    assert everything
    at = visit("report")
    assert (len(at.get("plotly_chart")), len(at.dataframe), len(menu_keys(at))) == (4, 0, 4)


DRAWN: Final[dict[str, tuple[str, str, str]]] = {
    "reliability": ("reliability", "accuracy", "y"),
    "concentration": ("cumulative", "cumulative", "y"),
    "robustness": ("sweep_figure", "value", "y"),
    "comparison": ("comparison", "brier", "y"),
    "abstention": ("abstention", "accuracy", "y"),
    "sampling": ("sampling", "mean", "y"),
    "groups": ("groups_dots", "value", "x"),
    "training": ("training", "value", "y"),
}
"""Page → its main figure, a column of the figure's table, and the axis that draws it."""


def the_csv_has_the_numbers_that_are_drawn(
    at: AppTest, offered: dict[str, Any], key: str, name: str, axis: str
) -> None:
    frame = pl.read_csv(offered[f"save_figure_{key}_csv"][1](), infer_schema_length=None)
    inside = {round(float(value), 4) for value in frame[name].drop_nulls()}
    drawn = [
        {round(float(value), 4) for value in trace[axis] if isinstance(value, int | float)}
        for trace in screens.figure(at, key)["data"]
        if isinstance(trace.get(axis), list)
    ]
    assert inside
    shown = set().union(*drawn)
    assert len(inside & shown) >= min(3, len(inside)), (sorted(inside)[:5], sorted(shown)[:20])


SLIDES: Final = ("concentration", "robustness", "comparison", "abstention", "sampling", "groups", "training")
"""Pages whose headline stands on the slide of a figure."""


def the_slide_has_the_headline(at: AppTest, exports: list[export.Export]) -> None:
    found = [one for one in exports if one.headline == screens.plain(at.header[0].value)]
    assert found
    own = screens.tiles(at)
    assert {tile.label for tile in found[0].tiles} <= own.keys()


@pytest.mark.parametrize("page", PAGES)
def test_figures_and_tables_are_taken_away_with_their_numbers(
    page: str, everything: Path, visit: Visit, offered: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert everything
    exports: list[export.Export] = []
    real = export._export_menu

    def noted(one: export.Export, key: str, body: Any) -> None:
        if key.startswith("figure_"):
            exports.append(one)
        real(one, key, body)

    monkeypatch.setattr(export, "_export_menu", noted)
    at = visit(page)
    every_figure_and_table_has_its_menu(at)
    if page in SLIDES:
        the_slide_has_the_headline(at, exports)
    at = open_menus(at)
    if page in DRAWN:
        the_csv_has_the_numbers_that_are_drawn(at, offered, *DRAWN[page])
    files = {key: made for key, made in offered.items() if key.startswith("save_")}
    assert len({name for name, _ in files.values() if name.endswith(".csv")}) >= 1
    for key, (name, made) in files.items():
        assert NAME.fullmatch(name), name
        content: bytes = made()
        menu, _, ending = key.rpartition("_")
        assert name.endswith(f".{ending}")
        if ending == "csv":
            frame = pl.read_csv(content, infer_schema_length=None)
            assert frame.height > 0, name
            assert "recipe" in frame.columns
            assert frame["recipe"].null_count() == 0
        elif ending == "parquet":
            csv = pl.read_csv(files[f"{menu}_csv"][1](), infer_schema_length=None)
            assert pl.read_parquet(io.BytesIO(content)).columns == csv.columns
        elif ending == "md":
            assert content.decode().startswith("**")
            assert "\n|" in content.decode()
        else:
            assert content.decode().rstrip().endswith(r"\end{table}")
    assert menu_keys(at)


def test_the_histogram_s_numbers_have_its_strip_too(
    everything: Path, visit: Visit, offered: dict[str, Any]
) -> None:
    assert everything
    at = open_menus(visit("concentration"))
    frame = pl.read_csv(offered["save_figure_histogram_csv"][1](), infer_schema_length=None)
    traces = screens.figure(at, "histogram")["data"]
    strip = next(trace for trace in traces if trace.get("error_y", {}).get("thickness"))
    assert frame.filter(bins="finest")["share"].round(6).to_list() == strip["y"]
    assert frame.group_by("bins").agg(pl.col("count").sum())["count"].n_unique() == 1


def test_the_name_says_run_method_metric_and_bins(
    everything: Path, visit: Visit, offered: dict[str, Any]
) -> None:
    assert everything
    open_menus(visit("reliability", run="red", method="verbal", metric="brier", m="20", binning="mass"))
    assert offered["save_table_bins_csv"][0] == "red-verbal-brier-mass-20.csv"
    open_menus(visit("reliability", run="red", method="verbal", binning="natural"))
    assert offered["save_table_bins_csv"][0] == "red-verbal-ece-natural.csv"


def test_formulas_are_defused_and_text_is_text(data: Path, visit: Visit, offered: dict[str, Any]) -> None:
    rows = [
        {"id": '=HYPERLINK("x")', "model": "$x$ | <b>", "confidence": 0.85, "correct": at % 2}
        for at in range(40)
    ]
    write_csv(data / "bad.csv", [{**row, "id": f"{row['id']}{at}"} for at, row in enumerate(rows)])
    open_menus(visit("reliability", bin="9"))
    assert "'=HYPERLINK" in offered["save_table_question_rows_csv"][1]().decode()
    assert r"\$x\$ \| \<b\>" in offered["save_table_bins_md"][1]().decode()
    assert r"\$x\$ \textbar{} \textless{}b\textgreater{}" in offered["save_table_bins_tex"][1]().decode()


def request_picture(at: AppTest, kind: str) -> AppTest:
    """After a click on a picture's button."""
    at.button(key=f"draw_figure_reliability_{kind}").click()
    return screens.run(at)


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_a_picture_is_drawn_when_asked_for(
    kind: str, everything: Path, visit: Visit, offered: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert everything
    asked: list[dict[str, Any]] = []

    def picture(drawn: dict[str, Any], kind: str, **more: Any) -> bytes:
        asked.append({"drawn": drawn, "kind": kind, **more})
        return b"picture"

    monkeypatch.setattr(export, "unavailable_reason", lambda: None)
    monkeypatch.setattr(export, "render_picture", picture)
    at = open_menus(visit("reliability", run="red", method="verbal"))
    assert not asked
    request_picture(at, kind)
    (order,) = asked
    assert (order["kind"], offered[f"save_figure_reliability_{kind}"]) == (
        kind,
        (f"red-verbal-ece-width-10.{kind}", b"picture"),
    )
    assert order["title"].startswith("Reliability diagram: ")
    assert "stated confidence" in order["title"]
    assert order["recipe"].startswith("ECE-L1, equal width, M=10")
    assert order["drawn"]["layout"]["font"]["color"] == "#0B0F14"
    assert order["font"][:4] == b"wOF2"


@pytest.mark.parametrize("dark", [False, True])
def test_a_slide_says_what_was_found_and_its_numbers(
    everything: Path, visit: Visit, offered: dict[str, Any], monkeypatch: pytest.MonkeyPatch, *, dark: bool
) -> None:
    assert everything
    asked: list[tuple[Any, ...]] = []

    def slide(*order: Any, **_: object) -> bytes:
        asked.append(order)
        return b"slide"

    monkeypatch.setattr(export, "unavailable_reason", lambda: None)
    monkeypatch.setattr(export, "render_slide", slide)
    at = open_menus(visit("reliability", run="red", method="verbal"))
    at.toggle(key="dark_figure_reliability").set_value(dark)
    at.button(key="draw_figure_reliability_slide_png").click()
    at = screens.run(at)
    ((drawn, kind, texts, theme),) = asked
    assert (kind, theme.name) == ("png", "dark" if dark else "light")
    assert drawn["layout"]["font"]["color"] == theme.text
    assert texts.title == screens.plain(at.header[0].value)
    assert texts.subtitle == "Reliability diagram: red, stated confidence"
    assert texts.recipe.startswith("ECE-L1, equal width, M=10")
    assert "n=" in texts.recipe
    assert {label: value for label, value, _ in texts.tiles}.items() <= screens.tiles(at).items()
    assert texts.tiles[0][0] == "ECE"
    name = f"red-verbal-ece-width-10-slide{'-dark' if dark else ''}.png"
    assert offered["save_figure_reliability_slide_png"] == (name, b"slide")


def test_why_a_picture_cannot_be_had(everything: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    assert everything
    monkeypatch.setattr(export, "unavailable_reason", lambda: "PNG and SVG need Kaleido. Type: pip install X")
    at = open_menus(visit("reliability"))
    assert at.button(key="draw_figure_reliability_png").disabled
    assert at.button(key="draw_figure_reliability_svg").disabled
    assert "PNG and SVG need Kaleido. Type: pip install X" in page_text(at)


def test_a_picture_that_fails_says_why(
    everything: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert everything

    def picture(*_: object, **__: object) -> bytes:
        raise Unavailable("stopped after 60 s *now*")

    monkeypatch.setattr(export, "unavailable_reason", lambda: None)
    monkeypatch.setattr(export, "render_picture", picture)
    at = request_picture(open_menus(visit("reliability")), "png")
    assert [screens.plain(error.value) for error in at.error] == ["stopped after 60 s *now*"]


def test_names_of_files_are_safe_and_short() -> None:
    assert make_file_stem("A_b/c", "ECE", 10) == "a-b-c-ece-10"
    long = make_file_stem(*("model" * 10 for _ in range(9)), "one")
    other = make_file_stem(*("model" * 10 for _ in range(9)), "two")
    assert len(long) <= MAX_STEM_LENGTH + 9
    assert long != other
    assert make_file_stem("модель") != make_file_stem("другая")
