"""How does a person take a figure or a table away?  One small menu under each, the same on every page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import polars as pl
import streamlit as st

from calib_core.errors import Unavailable
from calib_core.figures.palette import LIGHT, Theme
from calib_core.report.export.figure import PictureFormat, render_picture, unavailable_reason
from calib_core.report.export.table import table_csv, table_latex, table_markdown, table_parquet
from pages.state.markdown import escape_markdown
from pages.state.runs import slug

# MERGED as_shown: What does a table's file say that is to be read?  The headings and the numbers as the page shows them.


def as_displayed(frame: pl.DataFrame, columns: Mapping[str, Any]) -> pl.DataFrame:
    """The frame with the headings and number formats of its columns' configuration.

    columns: name → what st.column_config gives; a column that is not there keeps its name and its values.
    Raises polars' DuplicateError where two columns have one heading: a file would have one of them only.
    """
    made: list[pl.Series] = []
    for name in frame.columns:
        config: Mapping[str, Any] = columns.get(name) or {}
        form = (config.get("type_config") or {}).get("format")
        heading = config.get("label")
        values = frame[name]
        if form is not None and values.dtype.is_numeric():
            texts = [None if value is None else _format_number(value, form) for value in values]
            values = pl.Series(texts, dtype=pl.String)
        made.append(values.alias(name if heading is None else heading))
    return pl.DataFrame(made)


def _format_number(value: float, number_format: str) -> str:
    match number_format:
        case "localized":
            text = f"{value:,}"
        case _:
            text = number_format % value
    return text.replace("-", "−")


MAX_STEM_LENGTH: Final = 120
"""Of a file's name: with its ending it is one on every system."""

FONT_PATTERN: Final = "static/static/media/SourceSansVF-Upright*.woff2"
"""Where Streamlit keeps the letters that its pages are set in, and so the figures on them."""

EXCERPT_NOTE: Final = " (the first {:,} of {:,} rows; the CSV has them all)"
"""Said in the title of a file to be read that holds no more."""

DrawFunction = Callable[[Theme], Mapping[str, Any]]
"""Draws a figure with the colours of a theme."""


@dataclass(frozen=True, slots=True, eq=False)
class Export:
    """What of a figure or a table goes into a file.

    name: of the file without its ending, run, method, metric, binning and M as far as they apply, as `named`
    gives it; frame: the numbers in full; recipe: how they were made, a line or more; what: the figure or
    table in a few words, which is what its menu is called; of: whose it is, for the title of a file; excerpt:
    whether a table may show its first rows alone, which its files to be read then say.
    """

    file_stem: str
    frame: Callable[[], pl.DataFrame]
    recipe: str
    content: str = "Figure"
    subject: str = ""
    excerpt: bool = False

    @property
    def title(self) -> str:
        """What and whose, for the top of a file."""
        return f"{self.content}: {self.subject}" if self.subject else self.content


def make_file_stem(*parts: str | int) -> str:
    """The parts joined to a file's name; of a long one the beginning and a checksum."""
    name = "-".join(slug(str(part)) for part in parts)
    if len(name) <= MAX_STEM_LENGTH:
        return name
    return f"{name[:MAX_STEM_LENGTH].rstrip('-.')}-{crc32(name.encode()):08x}"


@dataclass(frozen=True, slots=True)
class _FileType:
    """A kind of file: its name, its MIME type, what it is good for."""

    label: str
    mime: str
    help: str


PICTURE_TYPES: Final[Mapping[PictureFormat, _FileType]] = {
    "png": _FileType("PNG", "image/png", "A picture for slides and documents, 1,600 pixels wide."),
    "svg": _FileType("SVG", "image/svg+xml", "A drawing that stays sharp at any size."),
}
TABLE_TYPES: Final[Mapping[str, _FileType]] = {
    "csv": _FileType(
        "CSV",
        "text/csv",
        "The numbers in full. Text that a spreadsheet would run as a formula has an apostrophe in front.",
    ),
    "parquet": _FileType(
        "Parquet", "application/vnd.apache.parquet", "The numbers in full, with their types."
    ),
    "md": _FileType("Markdown", "text/markdown", "The table as it is to be read, rounded."),
    "tex": _FileType(
        "LaTeX",
        "text/x-tex",
        "The table as it is to be read, rounded; for a document with \\usepackage{booktabs}.",
    ),
}


def stem_parts(names: Iterable[str], noun: str) -> list[str]:
    """One or two names as parts of a file's name; of more, how many there are: "3-methods"."""
    found = list(dict.fromkeys(names))
    return found if len(found) < 3 else [f"{len(found)}-{noun}"]


def figure_export_menu(draw: DrawFunction, export: Export, key: str) -> None:
    """The menu of a figure: a picture, or the numbers behind it."""
    key = f"figure_{key}"

    def menu_body() -> None:
        with st.container(horizontal=True, gap="small"):
            wanted = _picture_buttons(key)
            _table_download(export, f"{key}_csv", "csv", lambda: table_csv(export.frame(), export.recipe))
            _table_download(
                export, f"{key}_parquet", "parquet", lambda: table_parquet(export.frame(), export.recipe)
            )
        if reason := unavailable_reason():
            st.caption(f":material/block: {escape_markdown(reason)}")
        elif wanted is not None:
            _offer_picture(draw, export, key, wanted)

    _export_menu(export, key, menu_body)


def table_export_menu(
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

    def write_readable(write: Callable[[pl.DataFrame, str, str], bytes]) -> bytes:
        frame = export.frame() if shown is None else shown
        whole = export.frame().height if export.excerpt else frame.height
        first = EXCERPT_NOTE.format(frame.height, whole) if frame.height < whole else ""
        return write(as_displayed(frame, columns or {}), export.recipe, f"{export.title}{first}")

    def menu_body() -> None:
        with st.container(horizontal=True, gap="small"):
            _table_download(export, f"{key}_csv", "csv", lambda: table_csv(export.frame(), export.recipe))
            _table_download(export, f"{key}_md", "md", lambda: write_readable(table_markdown))
            _table_download(export, f"{key}_tex", "tex", latex or (lambda: write_readable(table_latex)))

    _export_menu(export, key, menu_body)


@st.fragment
def _export_menu(export: Export, key: str, body: Callable[[], None]) -> None:
    """The button, and behind it the files; a click in it runs this alone and not the page."""
    with st.container(horizontal=True, horizontal_alignment="right", key=f"menu_{key}"):
        # The words in bold are for the ear: the style sheet hides them from the eye.
        menu = st.popover(
            f"Export **{escape_markdown(export.content)}**",
            icon=":material/download:",
            key=f"export_{key}",
            type="tertiary",
            on_change="rerun",
        )
    if menu.open:
        with menu:
            st.caption(escape_markdown(export.file_stem))
            body()


def _table_download(export: Export, key: str, extension: str, build: Callable[[], bytes]) -> None:
    """A file that is made when it is asked for."""
    kind = TABLE_TYPES[extension]
    st.download_button(
        kind.label,
        data=build,
        file_name=f"{export.file_stem}.{extension}",
        mime=kind.mime,
        key=f"save_{key}",
        on_click="ignore",
        help=kind.help,
    )


def _picture_buttons(key: str) -> PictureFormat | None:
    """The kind of picture that was just asked for."""
    lacking = unavailable_reason() is not None
    asked: PictureFormat | None = None
    for id_, kind in PICTURE_TYPES.items():
        if st.button(kind.label, key=f"draw_{key}_{id_}", disabled=lacking, help=kind.help):
            asked = id_
    return asked


def _offer_picture(draw: DrawFunction, export: Export, key: str, picture_format: PictureFormat) -> None:
    """Draws the picture, which takes seconds, and offers it; says why where it cannot be had."""
    try:
        with st.spinner("Drawing the picture …", show_time=True):
            made = render_picture(
                draw(LIGHT), picture_format, title=export.title, recipe=export.recipe, font=_page_font()
            )
    except Unavailable as reason:
        st.error(escape_markdown(str(reason)))
        return
    st.download_button(
        f"Save the {PICTURE_TYPES[picture_format].label} ({len(made) / 1000:,.0f} kB)",
        data=made,
        file_name=f"{export.file_stem}.{picture_format}",
        mime=PICTURE_TYPES[picture_format].mime,
        key=f"save_{key}_{picture_format}",
        on_click="ignore",
        type="primary",
        icon=":material/download:",
    )


def _page_font() -> bytes | None:
    """The letters of the page, for a picture that looks like it; None where they are not found."""
    found = sorted(Path(st.__file__).parent.glob(FONT_PATTERN))
    return found[0].read_bytes() if found else None
