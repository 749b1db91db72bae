"""The export menu below every figure and table, with a slide of every figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import polars as pl
import streamlit as st

from calib_core.errors import Unavailable
from calib_core.figures.palette import DARK, LIGHT
from calib_core.reporting.export.figure import (
    PictureFormat,
    render_picture,
    render_slide,
    unavailable_reason,
)
from calib_core.reporting.export.slide import SlideTexts
from calib_core.reporting.export.table import (
    RECIPE_COLUMN,
    table_csv,
    table_latex,
    table_markdown,
    table_parquet,
)
from calib_core.results.run_names import GivenName, full_name
from calib_core.views.view import Draw, Tile
from pages.state.markdown import escape_markdown
from pages.state.progress import with_partial_note
from pages.state.run_preferences import renamed_runs
from pages.state.runs import slug
from pages.widgets.verdicts import words_of_cells

MAX_STEM_LENGTH: Final = 120
"""Length of a file's name without its ending that every system accepts."""

FONT_PATTERN: Final = "static/static/media/SourceSansVF-Upright*.woff2"
"""Where Streamlit keeps the font of its pages, in which exported figures are set too."""

EXCERPT_NOTE: Final = " (the first {:,} of {:,} rows; the CSV has all)"
"""Added to the title of a Markdown or LaTeX table that holds only the first rows."""


@dataclass(frozen=True, slots=True)
class _FileType:
    """A type of file: its name, MIME type, and what it is good for."""

    label: str
    mime: str
    help: str


PICTURE_TYPES: Final[Mapping[PictureFormat, _FileType]] = {
    "png": _FileType("PNG", "image/png", "A picture for slides and documents, 1,600 pixels wide."),
    "svg": _FileType("SVG", "image/svg+xml", "A drawing that stays sharp at any size."),
}
SLIDE_TYPES: Final[Mapping[PictureFormat, _FileType]] = {
    "png": _FileType(
        "Slide PNG",
        "image/png",
        "A whole slide, 1,920 × 1,080 pixels: the finding, the figure, its numbers and its recipe.",
    ),
    "svg": _FileType("Slide SVG", "image/svg+xml", "The same slide, sharp at any size."),
}
TABLE_TYPES: Final[Mapping[str, _FileType]] = {
    "csv": _FileType(
        "CSV",
        "text/csv",
        "All digits. An apostrophe is put before text that a spreadsheet would run as a formula.",
    ),
    "parquet": _FileType("Parquet", "application/vnd.apache.parquet", "All digits, with column types."),
    "md": _FileType("Markdown", "text/markdown", "The table as shown, rounded."),
    "tex": _FileType(
        "LaTeX",
        "text/x-tex",
        "The table as shown, rounded; for a document with \\usepackage{booktabs}.",
    ),
}


@dataclass(frozen=True, slots=True, eq=False)
class Export:
    """What of a figure or a table goes into a file.

    Attributes
    ----------
    file_stem : str
        Name of the file without its ending, as `make_file_stem` returns it: run, method, metric, binning, M
        as far as they apply.
    frame : Callable
        Returns the numbers in full.
    recipe : str
        How they were computed, one line or more.
    content : str
        The figure or table in a few words, which also names its menu.
    subject : str
        What the numbers are of, for the title of a file.
    excerpt : bool
        Whether a table may show only its first rows, which its Markdown and LaTeX files then say.
    headline : str
        The finding in a sentence, the title of a slide; the content where it is empty.
    tiles : Sequence of Tile
        The numbers beside the figure on a slide.
    """

    file_stem: str
    frame: Callable[[], pl.DataFrame]
    recipe: str
    content: str = "Figure"
    subject: str = ""
    excerpt: bool = False
    headline: str = ""
    tiles: Sequence[Tile] = ()

    @property
    def slide_texts(self) -> SlideTexts:
        """What a slide says around the figure; without a headline, the content is its title."""
        title, subtitle = (self.headline, self.title) if self.headline else (self.content, self.subject)
        return SlideTexts(title, subtitle, self.recipe, [(t.label, t.value, t.below) for t in self.tiles])

    @property
    def title(self) -> str:
        """Content and subject, for the top of a file."""
        return f"{self.content}: {self.subject}" if self.subject else self.content


def make_file_stem(*parts: str | int) -> str:
    """Return the parts joined to a file name; of a long one, the beginning and a checksum."""
    name = "-".join(slug(str(part)) for part in parts)
    if len(name) <= MAX_STEM_LENGTH:
        return name
    return f"{name[:MAX_STEM_LENGTH].rstrip('-.')}-{crc32(name.encode()):08x}"


def figure_export_menu(draw: Draw, export: Export, key: str) -> None:
    """Draw the export menu of a figure: a picture, or the numbers behind it."""
    key, export = f"figure_{key}", _with_real_names(_with_partial_note(export))

    def menu_body() -> None:
        with st.container(horizontal=True, gap="small"):
            picture_format = _picture_buttons(key, PICTURE_TYPES)
            _table_download(export, f"{key}_csv", "csv", lambda: table_csv(export.frame(), export.recipe))
            _table_download(
                export, f"{key}_parquet", "parquet", lambda: table_parquet(export.frame(), export.recipe)
            )
        slide_key = f"{key}_slide"
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            slide_format = _picture_buttons(slide_key, SLIDE_TYPES)
            is_dark = st.toggle("Dark slide", st.context.theme.type == "dark", key=f"dark_{key}")
        if reason := unavailable_reason():
            st.caption(f":material/block: {escape_markdown(reason)}")
        elif picture_format is not None:
            _offer_picture(
                lambda: render_picture(
                    draw(LIGHT), picture_format, title=export.title, recipe=export.recipe, font=_page_font()
                ),
                PICTURE_TYPES[picture_format],
                f"{export.file_stem}.{picture_format}",
                f"{key}_{picture_format}",
            )
        elif slide_format is not None:
            theme = DARK if is_dark else LIGHT
            _offer_picture(
                lambda: render_slide(draw(theme), slide_format, export.slide_texts, theme, font=_page_font()),
                SLIDE_TYPES[slide_format],
                f"{export.file_stem}-slide{'-dark' if is_dark else ''}.{slide_format}",
                f"{slide_key}_{slide_format}",
            )

    _export_menu(export, key, menu_body)


def table_export_menu(
    export: Export,
    key: str,
    shown: pl.DataFrame | None = None,
    columns: Mapping[str, Any] | None = None,
    latex: Callable[[], bytes] | None = None,
) -> None:
    """Draw the export menu of a table.

    Parameters
    ----------
    export : Export
    key : str
    shown : pl.DataFrame, optional
        The table as it is displayed, where that is not the numbers in full.
    columns : Mapping of str to Any, optional
        Column configuration, as for `st.dataframe`.
    latex : Callable, optional
        Writes LaTeX in a layout of its own.
    """
    key, export = f"table_{key}", _with_real_names(_with_partial_note(export))
    real_names = renamed_runs()  # files are made in another thread, which knows no session

    def write_readable(write: Callable[[pl.DataFrame, str, str], bytes]) -> bytes:
        frame = export.frame() if shown is None else _name_in_full(shown, real_names)
        n_rows = export.frame().height if export.excerpt else frame.height
        note = EXCERPT_NOTE.format(frame.height, n_rows) if frame.height < n_rows else ""
        return write(as_displayed(frame, columns or {}), export.recipe, f"{export.title}{note}")

    def menu_body() -> None:
        with st.container(horizontal=True, gap="small"):
            _table_download(export, f"{key}_csv", "csv", lambda: table_csv(export.frame(), export.recipe))
            _table_download(export, f"{key}_md", "md", lambda: write_readable(table_markdown))
            _table_download(export, f"{key}_tex", "tex", latex or (lambda: write_readable(table_latex)))

    _export_menu(export, key, menu_body)


def _with_partial_note(export: Export) -> Export:
    """Return the export, which says so where it stands on part of the folder."""
    note = with_partial_note("")
    if not note:
        return export

    def noted_frame() -> pl.DataFrame:
        frame = export.frame()
        has_recipe = RECIPE_COLUMN in frame.columns
        return frame.with_columns(pl.col(RECIPE_COLUMN) + note) if has_recipe else frame

    return replace(export, frame=noted_frame, recipe=export.recipe + note)


def _with_real_names(export: Export) -> Export:
    """Return the export with the real name of each run behind the one that the user gave it."""
    real_names = renamed_runs()
    if not real_names:
        return export
    texts = f"{export.title}\n{export.recipe}"
    note = "".join(f"; “{name}” is {real}" for name, real in real_names.items() if name in texts)
    frame = export.frame
    return replace(export, frame=lambda: _name_in_full(frame(), real_names), recipe=f"{export.recipe}{note}")


def _name_in_full(frame: pl.DataFrame, real_names: Mapping[str, str]) -> pl.DataFrame:
    """Return the frame with both names in cells that hold a name for display."""
    in_full = {name: full_name(GivenName(name, real)) for name, real in real_names.items()}
    return frame.with_columns(pl.col(pl.String).replace(in_full)) if in_full else frame


def as_displayed(frame: pl.DataFrame, columns: Mapping[str, Any]) -> pl.DataFrame:
    """Return the frame with the headings and number formats of its column configuration.

    Parameters
    ----------
    frame : pl.DataFrame
    columns : Mapping of str to Any
        Column → configuration as `st.column_config` returns it. A column without one keeps name and values.

    Raises
    ------
    polars.exceptions.DuplicateError
        Where two columns have the same heading, since a file would hold only one of them.
    """
    displayed: list[pl.Series] = []
    for name in frame.columns:
        config: Mapping[str, Any] = columns.get(name) or {}
        number_format = (config.get("type_config") or {}).get("format")
        heading = config.get("label")
        values = frame[name]
        if number_format is not None and values.dtype.is_numeric():
            texts = [None if value is None else _format_number(value, number_format) for value in values]
            values = pl.Series(texts, dtype=pl.String)
        if values.dtype == pl.List(pl.String):
            values = words_of_cells(values)
        displayed.append(values.alias(name if heading is None else heading))
    return pl.DataFrame(displayed)


def _format_number(value: float, number_format: str) -> str:
    match number_format:
        case "localized":
            text = f"{value:,}"
        case _:
            text = number_format % value
    return text.replace("-", "−")


@st.fragment
def _export_menu(export: Export, key: str, body: Callable[[], None]) -> None:
    """Draw the button and behind it the files; a click inside reruns this fragment only."""
    with st.container(horizontal=True, horizontal_alignment="right", key=f"menu_{key}"):
        # The words in bold are for screen readers; the style sheet hides them.
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
    """Draw the button of a file that is built on the click."""
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


def _picture_buttons(key: str, types: Mapping[PictureFormat, _FileType]) -> PictureFormat | None:
    """Draw a button per picture format, and return the format that was just clicked."""
    is_unavailable = unavailable_reason() is not None
    clicked: PictureFormat | None = None
    for id_, kind in types.items():
        if st.button(kind.label, key=f"draw_{key}_{id_}", disabled=is_unavailable, help=kind.help):
            clicked = id_
    return clicked


def _offer_picture(render: Callable[[], bytes], kind: _FileType, file_name: str, key: str) -> None:
    """Draw the picture, which takes seconds, and offer it for download; say why where that fails."""
    try:
        with st.spinner("Drawing the picture …", show_time=True):
            picture = render()
    except Unavailable as reason:
        st.error(escape_markdown(str(reason)))
        return
    st.download_button(
        f"Save the {kind.label} ({len(picture) / 1000:,.0f} kB)",
        data=picture,
        file_name=file_name,
        mime=kind.mime,
        key=f"save_{key}",
        on_click="ignore",
        type="primary",
        icon=":material/download:",
    )


def _page_font() -> bytes | None:
    """Return the font of the page, for a picture that looks like it; None where it is not found."""
    paths = sorted(Path(st.__file__).parent.glob(FONT_PATTERN))
    return paths[0].read_bytes() if paths else None
