"""Results in a notebook: their views, drawn in the output of a cell."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from calib_core.errors import Unavailable
from calib_core.figures.layout import without_unset
from calib_core.figures.palette import DARK, LIGHT, THEMES
from calib_core.reporting.document import BodyWriter, colour_variables, gzip_base64, plotly_script, read_asset
from calib_core.reporting.html import tag
from calib_core.results.display import register_display
from calib_core.views.registry import VIEWS
from calib_core.views.view import View

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_FIRST_ONLY: Final[dict[str, None]] = {}
"""Holds a key once plotly.js has been written: one copy serves all results of a session."""

_STYLE: Final = """
.calib-result {
  background: var(--page); color: var(--text); padding: .6rem .8rem; overflow: auto;
  font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
.calib-result article { margin-top: 0; }
.calib-result td { overflow-wrap: break-word; }
.calib-result :is(p, dt, dd) { text-align: left; }
.calib-result .tiles :is(dt, dd) { margin: 0 !important; } /* pages around notebooks indent lists */
.calib-result .trouble { display: none; }
.calib-result.without-plotly .trouble { display: block; }
"""
_WITHOUT_PLOTLY: Final = (
    "The figures need the output of the first cell that showed a result: run that cell again, or all cells."
)


@dataclass(frozen=True, slots=True)
class ViewDisplay:
    """A view as the output of a cell.

    Attributes
    ----------
    view : View
    """

    view: View

    def figure(self, theme: str, index: int) -> Figure:
        """One of the view's figures; see `Displayable.figure`."""
        if theme not in THEMES:
            raise ValueError(f"theme must be one of {', '.join(THEMES)}, not {theme!r}")
        figures = self.view.figures
        if not figures:
            raise Unavailable("This result has no figure.")
        if not 0 <= index < len(figures):
            raise Unavailable(f"This result has no figure {index}: there are {len(figures)}, counted from 0.")
        drawing = without_unset(figures[index].draw(THEMES[theme]))
        # Imported here because it takes longer than everything else.
        return importlib.import_module("plotly.graph_objects").Figure(drawing)

    def html(self) -> str:
        """The view with its style and script, and plotly.js where it is the first with a figure."""
        writer = BodyWriter()
        content = writer.view_html(self.view, "")
        figures = json.dumps(writer.figures, allow_nan=False, separators=(",", ":"))
        key = hashlib.sha256((content + figures).encode("utf-8")).hexdigest()[:16]
        packed = ""
        if writer.figures:
            packed = tag("div", gzip_base64(figures), class_="calib-figures", hidden="")
            if "plotly" not in _FIRST_ONLY:
                _FIRST_ONLY["plotly"] = None
                packed += tag("div", plotly_script()[0], class_="calib-plotly", hidden="")
            packed += tag("p", _WITHOUT_PLOTLY, class_="trouble")
        script = (
            f"(() => {{\n{read_asset('figures.js')}{read_asset('notebook.js')}"
            f"showResult({json.dumps(key)});\n}})();"
        )
        return tag(
            "div",
            tag("style", _style_sheet()) + content + packed + tag("script", script),
            class_="calib-result",
            data_key=key,
        )


def _style_sheet() -> str:
    """The report's style sheet, nested so that it changes nothing else in the notebook."""
    dark = '.calib-result[data-theme="dark"]'
    return (
        f".calib-result {{ {colour_variables(LIGHT)} color-scheme: light; }}\n"
        f"{dark} {{ {colour_variables(DARK)} color-scheme: dark; }}\n"
        f".calib-result {{\n{read_asset('document.css')}}}\n{_STYLE}"
    )


def register() -> None:
    """Let results show themselves in notebooks from now on."""
    for kind, view in VIEWS.items():
        register_display(kind, partial(_display, view))


def _display(view: Callable[[Any], View], result: object) -> ViewDisplay:
    return ViewDisplay(view(result))
