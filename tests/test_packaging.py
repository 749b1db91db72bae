"""The package is built, installed into a fresh environment, and used from there."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import sysconfig
import tarfile
import time
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import hatchling.build
import psutil
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets import Origin, Subprotocol
from websockets.sync.client import connect

from app_server import HOST, ROOT, Server, environment, wait_until_healthy
from calib_core.version import VERSION
from core.cli_calls import write

APP = "calib_core/_app"
SHIPPED = ("calib_core", "pages", "data", ".streamlit", "app.py")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An sdist, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    (sdist,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel


@dataclass(frozen=True)
class Installed:
    """A fresh environment with the wheel in it, and an empty folder to work in."""

    environment: Path
    home: Path

    @property
    def packages(self) -> Path:
        """Where pip put the wheel."""
        (found,) = self.environment.glob("lib/python*/site-packages")
        return found

    def run(self, *words: str | Path) -> str:
        """What a program of the environment prints."""
        program = self.environment / "bin" / words[0]
        return _run(program, *words[1:], cwd=self.home, env=environment(self.home))


@pytest.fixture(scope="session")
def installed(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel alone is installed; what it depends on is this environment's."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    home = folder / "home"
    home.mkdir()
    fresh = Installed(folder / "venv", home)
    python = fresh.environment / "bin" / "python"
    _run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", built[1])
    ours = [sysconfig.get_path("purelib"), *(path for path in sys.path if path.endswith("-packages"))]
    (fresh.packages / "dependencies.pth").write_text("\n".join(dict.fromkeys(ours)), encoding="utf-8")
    return fresh


def _run(*words: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [*map(str, words)], cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _shipped() -> set[str]:
    """The files of the checkout that are to be in the wheel, as paths in it."""
    listed = _run("git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *SHIPPED)
    names = [name for name in listed.splitlines() if (ROOT / name).is_file()]
    return {name if name.startswith("calib_core/") else f"{APP}/{name}" for name in names}


def _content(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return sorted(archive.namelist())


def test_the_wheel_has_one_package_and_all_that_the_app_needs(built: tuple[Path, Path]) -> None:
    names = _content(built[1])
    info = f"calib-{VERSION}.dist-info"
    assert {name.partition("/")[0] for name in names} == {"calib_core", info}
    files = {name for name in names if not name.startswith(f"{info}/")}
    assert f"{APP}/app.py" in files
    assert f"{APP}/.streamlit/config.toml" in files
    assert f"{info}/licenses/LICENSE" in names
    for ending in (".css", ".js", ".parquet", ".npz"):
        assert any(name.endswith(ending) for name in files)
    if (ROOT / ".git").exists():
        assert files == _shipped()


def test_a_wheel_of_the_checkout_is_that_of_the_sdist(
    built: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    wheel = tmp_path / hatchling.build.build_wheel(str(tmp_path))
    assert _content(wheel) == _content(built[1])
    with tarfile.open(built[0]) as archive:
        tops = {name.split("/")[1] for name in archive.getnames() if "/" in name}
    assert {"LICENSE", "README.md", "SECURITY.md", "CHANGELOG.md", "pyproject.toml", *SHIPPED} <= tops


def test_it_scores_a_file_where_it_is_installed(installed: Installed) -> None:
    place = installed.run("python", "-c", "import calib_core; print(calib_core.__file__)").strip()
    assert Path(place) == installed.packages / "calib_core" / "__init__.py"
    write(installed.home, "quiz.csv", "confidence,correct\n0.9,1\n0.9,0\n0.6,1\n0.6,1\n")
    (element,) = json.loads(installed.run("calib", "score", "quiz.csv", "--metric", "ece", "--json"))
    assert (element["run"], element["method"], element["value"]) == ("quiz", "given", pytest.approx(0.4))
    assert installed.run("calib", "--help").startswith("Usage: calib ")
    report = installed.home / "quiz.html"
    installed.run("calib", "report", "quiz.csv", "-o", report)
    assert f"Calib {VERSION}," in report.read_text(encoding="utf-8")


APP_PACKAGES = ("streamlit", "pandas", "starlette", "altair", "pydeck", "tornado")


@pytest.fixture
def core_installed(built: tuple[Path, Path], tmp_path: Path) -> Installed:
    """The wheel with what this environment has, but for what the app alone needs."""
    folder = tmp_path / "core"
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    home, others = folder / "home", folder / "others"
    home.mkdir()
    others.mkdir()
    core = Installed(folder / "venv", home)
    python = core.environment / "bin" / "python"
    _run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", built[1])
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.lower().startswith((*APP_PACKAGES, "calib")) and entry.suffix != ".pth":
            (others / entry.name).symlink_to(entry)
    (core.packages / "dependencies.pth").write_text(str(others), encoding="utf-8")
    return core


def test_the_core_works_without_the_packages_of_the_app(core_installed: Installed) -> None:
    core = core_installed
    write(core.home, "quiz.csv", "id,confidence,correct\na,0.9,1\nb,0.9,0\nc,0.6,1\nd,0.6,1\n")
    for words in (
        ("convert", "quiz.csv", "-o", "quiz.parquet"),
        ("check", "quiz.parquet"),
        ("score", "quiz.parquet"),
        ("report", "quiz.parquet", "--page", "all", "-o", "quiz.html"),
        ("gate", "quiz.parquet", "--max", "brier=1"),
    ):
        core.run("calib", *words)
    code = "import calib_core as cc; print(cc.reliability(*cc.load('quiz.csv')).figure().data[0].type)"
    assert core.run("python", "-c", code).strip() == "bar"
    calib = core.environment / "bin" / "calib"
    done = subprocess.run(
        [calib, "app"], cwd=core.home, env=environment(core.home), capture_output=True, text=True, check=False
    )
    assert (done.returncode, "pip install 'calib[app]'" in done.stderr) == (2, True)


@pytest.fixture
def opened_server(installed: Installed, tmp_path: Path) -> Iterator[Server]:
    """`calib app` on a free port, called from a folder whose Streamlit settings are not the app's."""
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / ".streamlit").mkdir(parents=True)
    (elsewhere / ".streamlit" / "config.toml").write_text(
        '[server]\naddress = "0.0.0.0"\nbaseUrlPath = "another"\n[theme]\nprimaryColor = "#ff0000"\n', "utf-8"
    )
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
    settings = {"STREAMLIT_SERVER_HEADLESS": "true", "STREAMLIT_SERVER_ADDRESS": "0.0.0.0"}  # noqa: S104
    log = tmp_path / "server.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [installed.environment / "bin" / "calib", "app", "--port", str(port)],
            cwd=elsewhere, env=environment(installed.home) | settings,
            stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    server = Server(f"http://{HOST}:{port}", process, log)
    try:
        wait_until_healthy(server, port)
        yield server
    finally:
        server.stop()


def test_the_app_opens_on_the_demo_data(opened_server: Server, installed: Installed) -> None:
    place = installed.packages / APP
    before = {path for path in place.rglob("*") if "__pycache__" not in path.parts}
    connection = HTTPConnection(HOST, int(opened_server.url.rpartition(":")[2]), timeout=10)
    connection.request("GET", "/reliability")
    answer = connection.getresponse()
    assert answer.status == 200
    assert "default-src 'none'" in (answer.headers["Content-Security-Policy"] or "")
    connection.close()
    messages = page(opened_server, "reliability")
    session = next(message.new_session for message in messages if message.HasField("new_session"))
    assert Path(session.main_script_path) == place / "app.py"
    assert session.config.disable_data_export
    assert session.custom_theme.light.primary_color == "#006BA7"
    drawn = [message.delta.new_element for message in messages if message.delta.HasField("new_element")]
    assert [element.exception.message for element in drawn if element.HasField("exception")] == []
    assert any(element.HasField("plotly_chart") for element in drawn)
    assert "Traceback" not in opened_server.log()
    assert listening(opened_server.pid) == {HOST}
    assert {path for path in place.rglob("*") if "__pycache__" not in path.parts} == before


def page(server: Server, name: str) -> list[ForwardMsg]:
    """What the server sends a browser that opens a page, until the page is done."""
    address = server.url.replace("http", "ws") + "/_stcore/stream"
    ask = BackMsg()
    ask.rerun_script.page_name = name
    messages: list[ForwardMsg] = []
    deadline = time.monotonic() + 60
    with connect(
        address, origin=Origin(server.url), subprotocols=[Subprotocol("streamlit")], max_size=None
    ) as line:
        line.send(ask.SerializeToString())
        while not (messages and messages[-1].HasField("script_finished")):
            content = line.recv(timeout=max(0.0, deadline - time.monotonic()))
            assert isinstance(content, bytes)
            messages.append(ForwardMsg.FromString(content))
    return messages


def listening(pid: int) -> set[str]:
    """The addresses on which a process waits for callers."""
    found = psutil.Process(pid).net_connections(kind="tcp")
    return {connection.laddr.ip for connection in found if connection.status == psutil.CONN_LISTEN}
