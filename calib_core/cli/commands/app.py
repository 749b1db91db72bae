"""The verb `app`: opens the app in the browser by running Streamlit on its script."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from calib_core.errors import Refused

HOST: Final = "127.0.0.1"
"""The app is served to this machine only: predictions stay private unless their owner shares them."""

PACKAGE: Final = Path(__file__).resolve().parents[2]
"""The folder `calib_core`."""


def script(package: Path = PACKAGE) -> Path:
    """Finds the app's script: the installed copy, or the repository's in a checkout.

    In both places `pages`, `.streamlit/config.toml` and the demo data lie beside the script.

    Parameters
    ----------
    package : Path
        The folder `calib_core`.

    Raises
    ------
    Refused
        If this installation has no app.
    """
    for folder in (package / "_app", package.parent):
        if (folder / "app.py").is_file() and (folder / ".streamlit" / "config.toml").is_file():
            return folder / "app.py"
    raise Refused("The app is not part of this installation. Install Calib again, with pip.")


def command(data: Path | None, port: int | None, path: Path) -> list[str]:
    """Builds the command that starts the app.

    Parameters
    ----------
    data : Path or None
        Absolute path of a folder of predictions; None opens the demo data.
    port : int or None
        None leaves the port to Streamlit.
    path : Path
        The app's script.
    """
    return [
        sys.executable, "-m", "streamlit", "run", str(path), f"--server.address={HOST}",
        *([] if port is None else [f"--server.port={port}"]),
        *([] if data is None else ["--", "--data", str(data)]),
    ]  # fmt: skip


def _folder(text: str) -> Path:
    if not text:  # Path("") would be the current folder
        raise typer.BadParameter("expected the name of a folder, found ''")
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
            help="A folder of prediction files. Default: CALIB_DATA, or else the demo data.",
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", metavar="PORT", min=1, max=65535, show_default=False, help="Default: 8501."),
    ] = None,
) -> int:
    """Open the app in the browser, on the demo data or on a folder of predictions.

    It is served to this machine alone; Ctrl-C ends it.
    """
    data_variable = os.environ.get("CALIB_DATA")
    folder = data or (Path(data_variable) if data_variable else None)
    if folder is not None and not folder.is_dir():
        raise Refused(f"{folder.name or folder}: no such folder.")
    path = script()
    arguments = command(folder.resolve() if folder else None, port, path)
    os.chdir(path.parent)  # Streamlit also takes settings from the folder it is started in
    return os.execv(arguments[0], arguments)  # noqa: S606  replaces this process, so that signals reach the server
