"""The verb `app`: opens the app in the browser by running Streamlit on its script."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final

import typer

from calib_core.cli.option_groups import OptionGroup, takes_options
from calib_core.errors import Refused

HOST: Final = "127.0.0.1"
"""The app is served to this machine only: predictions stay private unless their owner shares them."""

_ALL_NETWORKS: Final = ("0.0.0.0", "::")  # noqa: S104

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


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How the app is served.

    Attributes
    ----------
    port : int or None
        None leaves the port to Streamlit.
    address : str
        The address that it listens at.
    base_path : str
        The path below which a reverse proxy serves it; "" for none.
    headless : bool
        Whether no browser is opened.
    host : str
        The public host name at which a proxy serves the app by HTTPS; "" for none.
    frames : tuple of str
        Sites that may show it in a frame.
    """

    port: int | None = None
    address: str = HOST
    base_path: str = ""
    headless: bool = False
    host: str = ""
    frames: tuple[str, ...] = ()

    def settings(self) -> list[str]:
        """The same as options of Streamlit."""
        return [
            f"--server.address={self.address}",
            *([] if self.port is None else [f"--server.port={self.port}"]),
            *([f"--server.baseUrlPath={self.base_path.strip('/')}"] if self.base_path else []),
            *(["--server.headless=true"] if self.headless else []),
            *(_public_name(self.host) if self.host else _no_public_name(self.address)),
            # Within a page of another site, browsers send the cookie for uploads only if it is so marked.
            *(["--server.xsrfCookieSameSite=none"] if self.frames and self.host else []),
        ]


def _public_name(host: str) -> list[str]:
    """The settings for a proxy's name: the server answers to it, and takes WebSockets of its pages."""
    names = ("127.0.0.1", "localhost", host)
    return [
        *(f"--server.allowedHosts={name}" for name in names),
        f"--browser.serverAddress={host}",
        "--browser.serverPort=443",
    ]


def _no_public_name(address: str) -> list[str]:
    """The setting without which Streamlit asks another machine what this one's address is, to print it."""
    return ["--browser.serverAddress=localhost"] if address in _ALL_NETWORKS else []


def command(data: Path | None, server: ServerOptions, path: Path) -> list[str]:
    """Builds the command that starts the app.

    Parameters
    ----------
    data : Path or None
        Absolute path of a folder of predictions; None opens the demo data.
    server : ServerOptions
    path : Path
        The app's script.
    """
    return [
        sys.executable, "-m", "streamlit", "run", str(path), *server.settings(),
        *([] if data is None else ["--", "--data", str(data)]),
    ]  # fmt: skip


def _folder(text: str) -> Path:
    if not text:  # Path("") would be the current folder
        raise typer.BadParameter("expected the name of a folder, found ''")
    return Path(text)


def _server_options(
    *,
    port: Annotated[
        int | None,
        typer.Option("--port", metavar="PORT", min=1, max=65535, help="Default: 8501."),
    ] = None,
    address: Annotated[
        str,
        typer.Option(
            "--address",
            metavar="ADDRESS",
            help="Address to listen on: 0.0.0.0 for all networks, as in a container. Anyone who can "
            "reach it sees the predictions.",
        ),
    ] = HOST,
    base_path: Annotated[
        str, typer.Option("--base-path", metavar="PATH", help="The path under which a proxy serves the app.")
    ] = "",
    headless: Annotated[bool, typer.Option("--headless", help="Don't open a browser.")] = False,
    host: Annotated[
        str,
        typer.Option(
            "--host",
            metavar="NAME",
            help="The public host name at which a proxy serves the app by HTTPS; requests for other names "
            "are refused.",
        ),
    ] = "",
    frames: Annotated[
        list[str] | None,
        typer.Option(
            "--frame",
            metavar="SITE",
            help="A site that may show the app in a frame, such as https://a.example. Repeatable. "
            "Default: none.",
        ),
    ] = None,
) -> ServerOptions:
    return ServerOptions(port, address, base_path, headless, host, tuple(frames or ()))


@takes_options
def app(
    *,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="FOLDER",
            parser=_folder,
            help="A folder of prediction files. Default: CALIB_DATA, or else the demo data.",
        ),
    ] = None,
    server: Annotated[ServerOptions, OptionGroup(_server_options)],
) -> int:
    """Open the app in the browser, on the demo data or on a folder of predictions.

    It is served to this machine alone unless --address says otherwise; Ctrl-C ends it. It needs the extra
    `app` of the installation.
    """
    if find_spec("streamlit") is None:
        raise Refused(
            "The app needs packages that this installation lacks: pip install 'calib[app]' (of a checkout: "
            "pip install '.[app]')."
        )
    data_variable = os.environ.get("CALIB_DATA")
    folder = data or (Path(data_variable) if data_variable else None)
    if folder is not None and not folder.is_dir():
        raise Refused(f"{folder.name or folder}: no such folder.")
    path = script()
    arguments = command(folder.resolve() if folder else None, server, path)
    if server.frames:
        os.environ["CALIB_FRAMES"] = " ".join(server.frames)
    os.chdir(path.parent)  # Streamlit also takes settings from the folder it is started in
    return os.execv(arguments[0], arguments)  # noqa: S606  replaces this process, so that signals reach the server
