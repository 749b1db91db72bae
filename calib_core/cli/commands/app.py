"""How is the app opened?  The verb `app`: Streamlit on the app's script, with the settings beside it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from calib_core.errors import Refused

HOST: Final = "127.0.0.1"
"""Predictions are private until their owner says otherwise: no other machine reaches the app."""

PACKAGE: Final = Path(__file__).resolve().parents[2]


def script(package: Path = PACKAGE) -> Path:
    """The app's script: the installed one, in a checkout the repository's.

    Beside it lie `pages`, `.streamlit/config.toml` and the demo data, in both. package: the folder
    `calib_core`. Raises Refused where there is no app.
    """
    for folder in (package / "_app", package.parent):
        if (folder / "app.py").is_file() and (folder / ".streamlit" / "config.toml").is_file():
            return folder / "app.py"
    raise Refused("The app is not part of this installation. Install Calib again, with pip.")


def command(data: Path | None, port: int | None, path: Path) -> list[str]:
    """The words that start the app; data: an absolute path, None = the demo data; path: of its script."""
    return [
        sys.executable, "-m", "streamlit", "run", str(path), f"--server.address={HOST}",
        *([] if port is None else [f"--server.port={port}"]),
        *([] if data is None else ["--", "--data", str(data)]),
    ]  # fmt: skip


def _folder(text: str) -> Path:
    if not text:  # as a path it would mean the current folder
        raise typer.BadParameter("a folder's name is empty")
    return Path(text)


def app(
    *,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="FOLDER",
            show_default=False,
            parser=_folder,
            help="A folder of prediction files; if none is named, the one in CALIB_DATA, else the demo data.",
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", metavar="PORT", min=1, max=65535, show_default=False, help="8501 if none is named."
        ),
    ] = None,
) -> int:
    """Opens the app in the browser, on the demo data or on a folder of predictions.

    It is served to this machine alone; Ctrl-C ends it.
    """
    asked = os.environ.get("CALIB_DATA")
    folder = data or (Path(asked) if asked else None)
    if folder is not None and not folder.is_dir():
        raise Refused(f"{folder.name or folder}: no such folder.")
    path = script()
    words = command(folder.resolve() if folder else None, port, path)
    os.chdir(path.parent)  # Streamlit also takes settings from the folder it is started in
    os.execv(words[0], words)  # noqa: S606  this program itself, whose signals then reach the server
