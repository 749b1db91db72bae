"""How does a person take a figure or a table away?  One small menu under each, the same on every page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import polars as pl
import streamlit as st

from calib_core.figures.theme import LIGHT, Theme
from calib_core.problems import Unavailable
from calib_core.report import figure_file, tabular
from pages.parts.as_shown import as_shown
from pages.parts.literal import literal
from pages.parts.runs import slug

MOST_LETTERS: Final = 120
"""Of a file's name: with its ending it is one on every system."""

FONT: Final = "static/static/media/SourceSansVF-Upright*.woff2"
"""Where Streamlit keeps the letters that its pages are set in, and so the figures on them."""

FIRST: Final = " (the first {:,} of {:,} rows; the CSV has them all)"
"""Said in the title of a file to be read that holds no more."""

Draw = Callable[[Theme], Mapping[str, Any]]
"""Draws a figure with the colours of a theme."""


@dataclass(frozen=True, slots=True, eq=False)
class Export:
    """What of a figure or a table goes into a file.

    name: of the file without its ending, run, method, metric, binning and M as far as they apply, as `named`
    gives it; frame: the numbers in full; recipe: how they were made, a line or more; what: the figure or
    table in a few words, which is what its menu is called; of: whose it is, for the title of a file; excerpt:
    whether a table may show its first rows alone, which its files to be read then say.
    """

    name: str
    frame: Callable[[], pl.DataFrame]
    recipe: str
    what: str = "Figure"
    of: str = ""
    excerpt: bool = False

    @property
    def title(self) -> str:
        """What and whose, for the top of a file."""
        return f"{self.what}: {self.of}" if self.of else self.what


def named(*parts: str | int) -> str:
    """The parts joined to a file's name; of a long one the beginning and a checksum."""
    name = "-".join(slug(str(part)) for part in parts)
    if len(name) <= MOST_LETTERS:
        return name
    return f"{name[:MOST_LETTERS].rstrip('-.')}-{crc32(name.encode()):08x}"


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of file: its name, its MIME type, what it is good for."""

    label: str
    mime: str
    help: str


PICTURES: Final[Mapping[figure_file.Kind, _Kind]] = {
    "png": _Kind("PNG", "image/png", "A picture for slides and documents, 1,600 pixels wide."),
    "svg": _Kind("SVG", "image/svg+xml", "A drawing that stays sharp at any size."),
}
TABLES: Final[Mapping[str, _Kind]] = {
    "csv": _Kind(
        "CSV", "text/csv",
        "The numbers in full. Text that a spreadsheet would run as a formula has an apostrophe in front.",
    ),
    "parquet": _Kind("Parquet", "application/vnd.apache.parquet", "The numbers in full, with their types."),
    "md": _Kind("Markdown", "text/markdown", "The table as it is to be read, rounded."),
    "tex": _Kind(
        "LaTeX", "text/x-tex",
        "The table as it is to be read, rounded; for a document with \\usepackage{booktabs}.",
    ),
}


def few(names: Iterable[str], things: str) -> list[str]:
    """One or two names as parts of a file's name; of more, how many there are: "3-methods"."""
    found = list(dict.fromkeys(names))
    return found if len(found) < 3 else [f"{len(found)}-{things}"]


def figure(draw: Draw, export: Export, key: str) -> None:
    """The menu of a figure: a picture, or the numbers behind it."""
    key = f"figure_{key}"

    def body() -> None:
        with st.container(horizontal=True, gap="small"):
            wanted = _pictures(key)
            _download(export, f"{key}_csv", "csv", lambda: tabular.csv(export.frame(), export.recipe))
            _download(
                export, f"{key}_parquet", "parquet", lambda: tabular.parquet(export.frame(), export.recipe)
            )
        if reason := figure_file.lacking():
            st.caption(f":material/block: {literal(reason)}")
        elif wanted is not None:
            _picture(draw, export, key, wanted)

    _menu(export, key, body)


def table(
    export: Export,
    key: str,
    shown: pl.DataFrame | None = None,
    columns: Mapping[str, Any] | None = None,
    latex: Callable[[], bytes] | None = None,
) -> None:
    """The menu of a table.

    shown: as it is to be read, where that is not the numbers in full, columns: how its columns are headed and
    written, as for st.dataframe; latex: writes it in a form of its own.
    """
    key = f"table_{key}"

    def read(write: Callable[[pl.DataFrame, str, str], bytes]) -> bytes:
        frame = export.frame() if shown is None else shown
        whole = export.frame().height if export.excerpt else frame.height
        first = FIRST.format(frame.height, whole) if frame.height < whole else ""
        return write(as_shown(frame, columns or {}), export.recipe, f"{export.title}{first}")

    def body() -> None:
        with st.container(horizontal=True, gap="small"):
            _download(export, f"{key}_csv", "csv", lambda: tabular.csv(export.frame(), export.recipe))
            _download(export, f"{key}_md", "md", lambda: read(tabular.markdown))
            _download(export, f"{key}_tex", "tex", latex or (lambda: read(tabular.latex)))

    _menu(export, key, body)


@st.fragment
def _menu(export: Export, key: str, body: Callable[[], None]) -> None:
    """The button, and behind it the files; a click in it runs this alone and not the page."""
    with st.container(horizontal=True, horizontal_alignment="right", key=f"menu_{key}"):
        # The words in bold are for the ear: the style sheet hides them from the eye.
        menu = st.popover(
            f"Export **{literal(export.what)}**", icon=":material/download:", key=f"export_{key}",
            type="tertiary", on_change="rerun",
        )
    if menu.open:
        with menu:
            st.caption(literal(export.name))
            body()


def _download(export: Export, key: str, ending: str, made: Callable[[], bytes]) -> None:
    """A file that is made when it is asked for."""
    kind = TABLES[ending]
    st.download_button(
        kind.label, data=made, file_name=f"{export.name}.{ending}", mime=kind.mime, key=f"save_{key}",
        on_click="ignore", help=kind.help,
    )


def _pictures(key: str) -> figure_file.Kind | None:
    """The kind of picture that was just asked for."""
    lacking = figure_file.lacking() is not None
    asked: figure_file.Kind | None = None
    for id_, kind in PICTURES.items():
        if st.button(kind.label, key=f"draw_{key}_{id_}", disabled=lacking, help=kind.help):
            asked = id_
    return asked


def _picture(draw: Draw, export: Export, key: str, kind: figure_file.Kind) -> None:
    """Draws the picture, which takes seconds, and offers it; says why where it cannot be had."""
    try:
        with st.spinner("Drawing the picture …", show_time=True):
            made = figure_file.picture(
                draw(LIGHT), kind, title=export.title, recipe=export.recipe, font=_letters()
            )
    except Unavailable as reason:
        st.error(literal(str(reason)))
        return
    st.download_button(
        f"Save the {PICTURES[kind].label} ({len(made) / 1000:,.0f} kB)", data=made,
        file_name=f"{export.name}.{kind}", mime=PICTURES[kind].mime, key=f"save_{key}_{kind}",
        on_click="ignore", type="primary", icon=":material/download:",
    )


def _letters() -> bytes | None:
    """The letters of the page, for a picture that looks like it; None where they are not found."""
    found = sorted(Path(st.__file__).parent.glob(FONT))
    return found[0].read_bytes() if found else None
