"""Export of figures as PNG and SVG.

Kaleido, an optional dependency (requirements-export.txt), draws a figure with Chromium or Chrome. It runs in
a separate process, one at a time, which is killed afterwards together with everything it started.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import Any, Final, Literal, TypeAlias

from calib_core.errors import Unavailable
from calib_core.figures.layout import without_unset
from calib_core.figures.palette import Theme
from calib_core.reporting.export.kaleido_process import (
    FONT_FILE,
    JOB_FILE,
    PICTURE_FILE,
    PictureFrame,
    clean_figure,
)
from calib_core.reporting.export.slide import SlideTexts, slide_of_figure

PictureFormat: TypeAlias = Literal["png", "svg"]

PNG_WIDTH: Final = 1600
"""Width of a PNG in pixels: enough for a slide, or for a printed column at 300 dots per inch."""

SLIDE_PNG_WIDTH: Final = 1920
"""Width of a slide's PNG in pixels."""

FIGURE_WIDTH: Final = 800
SQUARE_WIDTH: Final = 560
LOW_SQUARE_WIDTH: Final = 420
LOW_HEIGHT: Final = 330
"""Width in pixels of a figure, of one with a square panel, and of a square one below LOW_HEIGHT."""

TIMEOUT_SECONDS: Final = 60.0
"""Time limit for one picture; on an idle machine one takes two or three seconds."""

KILL_WAIT_SECONDS: Final = 10.0
"""How long to wait until killed processes are gone, which takes a while on a busy machine."""

MAX_TEMP_PATH: Final = 20
"""Longest path of the temporary folder: the browser's socket in it may have a path of at most 107 bytes."""

SHORT_TEMP_FOLDER: Final = "/tmp"  # noqa: S108  tempfile creates a private folder in it

INSTALL_COMMAND: Final = "python -m pip install -r requirements-export.txt"
BROWSER_VARIABLE: Final = "BROWSER_PATH"
_PROJECT_ROOT: Final = Path(__file__).resolve().parents[3]
_CHILD_PROGRAM: Final = (
    "import sys; sys.path.extend(sys.argv[2:]); from calib_core.reporting.export import kaleido_process; "
    "kaleido_process.main(sys.argv[1])"
)
_LOG: Final = logging.getLogger(__name__)
_ONE_AT_A_TIME: Final = Lock()


def unavailable_reason() -> str | None:
    """Why pictures cannot be drawn on this machine and how to change that; None if they can."""
    if importlib.util.find_spec("kaleido") is None:
        return f"PNG and SVG need Kaleido, which is not installed. {_install_command()}"
    browser = os.environ.get(BROWSER_VARIABLE)
    if browser and not (Path(browser).is_file() and os.access(browser, os.X_OK)):
        return (
            f"PNG and SVG need a browser. {BROWSER_VARIABLE} names none that can be run: "
            "name another, or unset it."
        )
    if find_browser() is None:
        return (
            "PNG and SVG need a Chromium or Chrome, and none was found. Type: sudo apt-get install chromium "
            f"(Debian, Ubuntu), or kaleido_get_chrome; or name one in the variable {BROWSER_VARIABLE}."
        )
    return None


def _install_command() -> str:
    """The sentence with the command that installs Kaleido in this environment."""
    # Installed from a wheel, the program has no folder with a requirements file.
    if not (_PROJECT_ROOT / "requirements-export.txt").is_file():
        return "Type: python -m pip install kaleido"
    in_venv = Path(sys.prefix) == _PROJECT_ROOT / ".venv"
    return f"Type in the program's folder: {'.venv/bin/' if in_venv else ''}{INSTALL_COMMAND}"


def find_browser() -> str | None:
    """Path of the browser Kaleido uses: BROWSER_PATH, Kaleido's own or the system's; None without one."""
    if browser := os.environ.get(BROWSER_VARIABLE):
        return browser
    chromium: Any = importlib.import_module("choreographer.browsers.chromium")
    return chromium.Chromium.find_browser(skip_local=False)


def render_picture(
    plotly_figure: Mapping[str, Any],
    picture_format: PictureFormat,
    *,
    title: str,
    recipe: str,
    font: bytes | None = None,
    timeout: float = TIMEOUT_SECONDS,
) -> bytes:
    """Draws a figure on white with its title above and its recipe below.

    Parameters
    ----------
    plotly_figure : Mapping[str, Any]
        The figure in the colours of `palette.LIGHT`.
    picture_format : {"png", "svg"}
        The format of the picture.
    title, recipe : str
        Plain text, unescaped.
    font : bytes or None
        A WOFF2 font to embed; None uses the system's.
    timeout : float
        Time limit in seconds.

    Returns
    -------
    bytes
        The content of the file.

    Raises
    ------
    Unavailable
        If Kaleido or a browser is missing, or drawing fails or takes too long; the message says what to do.
    """
    figure = clean_figure(without_unset(plotly_figure))
    width, height = picture_size(figure)
    job = {
        "figure": figure,
        "scale": PNG_WIDTH / width,
        "frame": asdict(PictureFrame(width, height, title, recipe)),
    }
    return _render(job, picture_format, font, timeout)


def render_slide(
    plotly_figure: Mapping[str, Any],
    picture_format: PictureFormat,
    texts: SlideTexts,
    theme: Theme,
    *,
    font: bytes | None = None,
    timeout: float = TIMEOUT_SECONDS,
) -> bytes:
    """Draws a slide of 16:9 with the figure, what was found, its main numbers and the recipe.

    Parameters
    ----------
    plotly_figure : Mapping[str, Any]
        The figure in the colours of the theme.
    picture_format : {"png", "svg"}
        The format of the picture; a PNG has 1,920 × 1,080 pixels.
    texts : SlideTexts
        What stands around the figure.
    theme : Theme
        The colours.
    font : bytes or None
        A WOFF2 font to embed; None uses the system's.
    timeout : float
        Time limit in seconds.

    Raises
    ------
    Unavailable
        As for `render_picture`.
    """
    figure, slide = slide_of_figure(clean_figure(without_unset(plotly_figure)), texts, theme.name)
    fields = asdict(slide)
    job = {
        "figure": figure,
        "scale": SLIDE_PNG_WIDTH / slide.width,
        "slide": {name: fields[name] for name in fields if name not in ("width", "total_height")},
    }
    return _render(job, picture_format, font, timeout)


def _render(
    figure_job: Mapping[str, Any], picture_format: PictureFormat, font: bytes | None, timeout: float
) -> bytes:
    """Draws a picture in its own process; raises Unavailable where that fails."""
    if reason := unavailable_reason():
        raise Unavailable(reason)
    job = {**figure_job, "kind": picture_format, "browser": find_browser(), "seconds": timeout}
    if not _ONE_AT_A_TIME.acquire(timeout=timeout):
        raise Unavailable("Other pictures are being drawn. Try again in a minute.")
    try:
        with tempfile.TemporaryDirectory(
            prefix="calib-picture-", dir=_temp_folder(), ignore_cleanup_errors=True
        ) as folder:
            return _run_kaleido(Path(folder), job, font, timeout)
    finally:
        _ONE_AT_A_TIME.release()


def _temp_folder() -> str:
    """The folder for temporary files, or SHORT_TEMP_FOLDER where its path is too long."""
    default = tempfile.gettempdir()
    return (
        default
        if len(default) <= MAX_TEMP_PATH or not os.access(SHORT_TEMP_FOLDER, os.W_OK)
        else SHORT_TEMP_FOLDER
    )


def picture_size(figure: Mapping[str, Any]) -> tuple[int, int]:
    """Width and height of a figure in pixels; a square panel takes the whole width."""
    layout: Mapping[str, Any] = figure["layout"]
    height = int(layout.get("height") or 450)
    y_axis: Mapping[str, Any] = layout.get("yaxis", {})
    if "scaleanchor" not in y_axis:
        return FIGURE_WIDTH, height
    width = LOW_SQUARE_WIDTH if height < LOW_HEIGHT else SQUARE_WIDTH
    margin: Mapping[str, int] = layout.get("margin", {})
    low, high = y_axis.get("domain", (0, 1))
    side = (width - margin.get("l", 0) - margin.get("r", 0)) / (high - low)
    return width, round(side) + margin.get("t", 0) + margin.get("b", 0)


def _run_kaleido(folder: Path, job: Mapping[str, Any], font: bytes | None, timeout: float) -> bytes:
    (folder / JOB_FILE).write_text(json.dumps(job), "utf-8")
    if font is not None:
        (folder / FONT_FILE).write_bytes(font)
    import_paths = (_PROJECT_ROOT, Path(importlib.import_module("kaleido").__file__ or "").parents[1])
    process = subprocess.Popen(  # noqa: S603  this program itself
        [sys.executable, "-I", "-B", "-c", _CHILD_PROGRAM, str(folder), *map(str, import_paths)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd="/",
        env={**os.environ, "TMPDIR": str(folder)},
        start_new_session=True,
    )
    try:
        _, error_output = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Unavailable(
            f"Drawing the picture was stopped after {timeout:g} s. Try again when the machine is less busy."
        ) from None
    finally:
        _terminate(process, folder)
    picture = folder / PICTURE_FILE
    if picture.exists():
        return picture.read_bytes()
    _LOG.warning("no picture: %s", error_output.decode("utf-8", "replace")[-2000:])
    raise Unavailable("The browser that draws pictures failed. Try again; the terminal says more.")


def _terminate(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Kills the process and everything it started, and waits until all are gone."""
    process.kill()
    process.wait()
    if process.stderr is not None:
        process.stderr.close()
    deadline = time.monotonic() + KILL_WAIT_SECONDS
    while _kill_leftovers(folder) and time.monotonic() < deadline:
        time.sleep(0.02)


def _kill_leftovers(folder: Path) -> int:
    """Kills processes whose command line contains the folder; returns how many there were."""
    n_killed = 0
    for command_line in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # the process has ended, or belongs to another user
            if os.fsencode(folder) in command_line.read_bytes():
                os.kill(int(command_line.parent.name), signal.SIGKILL)
                n_killed += 1
    return n_killed
