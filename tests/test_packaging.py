"""The package is built, installed into a fresh environment, and used from there."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import sysconfig
import tarfile
import time
import venv
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path
from xml.etree import ElementTree as ET

import hatchling.build
import psutil
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets import Origin, Subprotocol
from websockets.sync.client import connect

from app_server import HOST, ROOT, Server, environment, wait_until_healthy
from calib_core.version import VERSION
from core.cli_calls import write
from test_requirements import PROJECT, requirements

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


def _run(
    *words: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None, timeout: float = 120
) -> str:
    done = subprocess.run(
        [*map(str, words)], cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=timeout
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


def test_it_scores_a_file_where_it_is_installed(core_installed: Installed) -> None:
    installed = core_installed
    place = installed.run("python", "-c", "import calib_core; print(calib_core.__file__)").strip()
    assert Path(place) == installed.packages / "calib_core" / "__init__.py"
    write(installed.home, "quiz.csv", "confidence,correct\n0.9,1\n0.9,0\n0.6,1\n0.6,1\n")
    (element,) = json.loads(installed.run("calib", "score", "quiz.csv", "--metric", "ece", "--json"))
    assert (element["run"], element["method"], element["value"]) == ("quiz", "given", pytest.approx(0.4))
    assert installed.run("calib", "--help").startswith("Usage: calib ")
    report = installed.home / "quiz.html"
    installed.run("calib", "report", "quiz.csv", "-o", report)
    assert f"Calib {VERSION}," in report.read_text(encoding="utf-8")


def needed(listed: Sequence[str]) -> dict[str, Distribution]:
    """What pip installs for these requirements, by name, as this environment has it."""
    found: dict[str, Distribution] = {}
    waiting = [(Requirement(line), {""}) for line in listed]
    while waiting:
        one, extras = waiting.pop()
        name = canonicalize_name(one.name)
        if name not in found and (
            one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in extras)
        ):
            found[name] = distribution(name)
            waiting += [(Requirement(line), {"", *one.extras}) for line in found[name].requires or ()]
    return found


@pytest.fixture(scope="module")
def core_installed(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel, and what it needs without extras as this environment has it."""
    folder = tmp_path_factory.mktemp("core")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    home, others = folder / "home", folder / "others"
    home.mkdir()
    others.mkdir()
    core = Installed(folder / "venv", home)
    python = core.environment / "bin" / "python"
    _run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", built[1])
    for package in needed(PROJECT["dependencies"]).values():
        for top in {path.parts[0] for path in package.files or ()} - {"..", "__pycache__"}:
            (others / top).symlink_to(str(package.locate_file(top)))
    (core.packages / "dependencies.pth").write_text(str(others), encoding="utf-8")
    return core


_NAMES = """
import json
from importlib.metadata import distributions
print(json.dumps([package.name for package in distributions()]))
"""


def _megabytes(packages: Iterable[Distribution]) -> float:
    paths = [Path(str(package.locate_file(path))) for package in packages for path in package.files or ()]
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


def test_an_installation_takes_what_the_documentation_says(core_installed: Installed) -> None:
    pins = requirements("requirements.txt") | requirements("constraints.txt")
    core = needed(PROJECT["dependencies"])
    app = needed([*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["app"]])
    if sys.platform != "linux" or any(pins[name] != Version(one.version) for name, one in app.items()):
        pytest.skip("the sizes are those of the pinned versions on Linux")
    (calib,) = distributions(name="calib", path=[str(core_installed.packages)])
    sizes = {name: _megabytes([package]) for name, package in {**core, "calib": calib}.items()}
    words = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w-]+) \| ([\d.]+) \|", words, re.MULTILINE)
    assert sizes == pytest.approx({name: float(size) for name, size in rows}, rel=0.25, abs=0.5)
    for command, packages in (("pip install .", core), ("pip install '.[app]'", app)):
        (told,) = re.findall(rf"`{re.escape(command)}`\s(?:takes\s)?(\d+) MB in (\d+)", words)
        assert int(told[1]) == len(packages) + 1
        assert int(told[0]) == pytest.approx(_megabytes([*packages.values(), calib]), rel=0.1)
    names = json.loads(core_installed.run("python", "-c", _NAMES))
    assert {canonicalize_name(name) for name in names} == sizes.keys()


_DAY = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import calib_core as cc
import polars as pl


def brier(run):
    return float(cc.score(run, metric="brier"))


if __name__ == "__main__":
    runs = cc.load(pl.read_csv("answers.csv"))
    small, large = runs
    for metric in ("ece", "brier"):
        print(metric, f"{cc.score(small, metric=metric):.3f}")
    print("best:", cc.compare(runs).to_frame()["run"][0])
    fitted = cc.recalibrate(small, by="platt")
    later = pl.read_csv("later.csv")
    mapped = later.with_columns(recalibrated=fitted.map(later["confidence"]))
    print("kept:", *mapped.columns)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        print("pool:", list(pool.map(brier, runs)) == [brier(run) for run in runs])
    print("bars:", cc.reliability(small).figure().data[0].type)
"""


def _answers(shifts: Mapping[str, float], n: int = 100) -> str:
    """A CSV of models, each so far too sure of itself, with columns that are not Calib's."""
    lines = ["ticket,model,region,confidence,correct"]
    for model, shift in shifts.items():
        for at in range(n):
            confidence = 0.55 + 0.4 * at / n
            lines.append(
                f'"{at}, {model}",{model},eu,{confidence:.3f},{int(at * 7 % n < n * (confidence - shift))}'
            )
    return "\n".join([*lines, ""])


def test_the_day_of_an_engineer(core_installed: Installed) -> None:
    """A script, a gate in a pipe, a map on the command line, a report: all with the core alone."""
    core = core_installed
    write(core.home, "answers.csv", _answers({"small": 0.25, "large": 0.02}))
    later = write(core.home, "later.csv", _answers({"small": 0.25}))
    write(core.home, "day.py", _DAY)
    lines = core.run("python", "day.py").splitlines()
    values = {metric: float(value) for metric, value in map(str.split, lines[:2])}
    assert values["ece"] == pytest.approx(0.25, abs=0.02)
    assert values["brier"] > values["ece"] / 2
    assert lines[2:] == [
        "best: large", "kept: ticket model region confidence correct recalibrated", "pool: True", "bars: bar",
    ]  # fmt: skip

    core.run("calib", "recalibrate", "answers.csv", "--run", "small", "-o", "map.json")
    core.run("calib", "recalibrate", "later.csv", "--apply", "map.json", "-o", "recalibrated.csv")
    written = (core.home / "recalibrated.csv").read_text(encoding="utf-8").splitlines()
    assert [line.rpartition(",")[0] for line in written] == later.read_text(encoding="utf-8").splitlines()
    assert written[0].endswith(",confidence.recalibrated")

    gate = "calib gate answers.csv --max ece={} --format junit | tee gate.xml"
    for limit, code, failures in ((0.5, 0, "0"), (0.1, 1, "1")):
        assert _in_bash(core, f"set -o pipefail; {gate.format(limit)}").returncode == code
        assert ET.parse(core.home / "gate.xml").getroot().attrib["failures"] == failures  # noqa: S314

    core.run("calib", "convert", "answers.csv", "-o", "answers.parquet")
    core.run("calib", "report", "answers.parquet", "--page", "all", "-o", "answers.html")
    refused = _in_bash(core, "calib app")
    assert (refused.returncode, "pip install 'calib[app]'" in refused.stderr) == (2, True)


def _in_bash(place: Installed, line: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A line of bash, with the programs of the environment."""
    path = {"PATH": f"{place.environment / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "--norc", "-c", line, "bash", *arguments],  # noqa: S607
        cwd=place.home, env=environment(place.home) | path,
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


_TAB = """
source ~/.bashrc
COMP_WORDS=(calib "$@")
COMP_CWORD=$#
_calib_completion calib
echo "${COMPREPLY[@]}"
"""


def test_a_shell_completes_verbs_options_and_ids(core_installed: Installed) -> None:
    """In bash; `tests/core/cli/test_completion.py` asks for more, as the scripts of the shells do."""
    done = _in_bash(core_installed, "calib --install-completion; true")
    assert (done.stderr, "bash completion installed" in done.stdout) == ("", True)
    for typed, expected in (
        (["re"], {"recalibrate", "reduce", "report"}),
        (["score", "quiz.csv", "--me"], {"--method", "--metric"}),
        (["score", "--metric", "auro"], {"auroc"}),
        (["score", "qu"], set[str]()),  # bash completes files itself
    ):
        assert set(_in_bash(core_installed, _TAB, *typed).stdout.split()) == expected, typed


def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    """A pinned base image, no cache of pip, not root at the end, and what else its rules ask for."""
    hadolint = Path(sysconfig.get_path("scripts")) / "hadolint"
    assert _run(hadolint, ROOT / "Dockerfile") == ""
    written = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    for good, bad, rule in (
        ("FROM python:3.11-slim", "FROM python", "DL3006"),
        ("USER 1000", "USER root", "DL3002"),
    ):
        found = subprocess.run(
            [hadolint, "-"], input=written.replace(good, bad), capture_output=True, text=True, check=False
        )
        assert (found.returncode, rule in found.stdout) == (1, True)


def _health_check() -> list[str]:
    """The command by which docker asks the container whether it is well."""
    (command,) = re.findall(
        r"^    CMD (\[.*\])$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE
    )
    return json.loads(command)


@pytest.mark.parametrize(("status", "code"), [(200, 0), (404, 0), (500, 1)])
def test_the_container_is_well_where_the_server_answers(status: int, code: int) -> None:
    """Also with 404, which the root is where the app is served below a path."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()

        def log_request(self, *_: object, **__: object) -> None:
            """Nothing is printed."""

    with HTTPServer((HOST, 0), Answer) as server:
        program, option, text = _health_check()
        text = text.replace("8501", str(server.server_port))
        with ThreadPoolExecutor(1) as pool:
            answered = pool.submit(server.handle_request)
            done = subprocess.run([sys.executable, option, text], check=False, timeout=60)
            answered.result()
    assert (program, done.returncode) == ("python", code)


def _builder() -> str | None:
    """The program that builds images here, if one does: the client of docker may lack its server."""
    for program in ("docker", "podman"):
        with suppress(FileNotFoundError, subprocess.TimeoutExpired):
            if (
                subprocess.run([program, "info"], capture_output=True, check=False, timeout=30).returncode
                == 0
            ):
                return program
    return None


def test_the_image_serves_the_dashboard_and_not_as_root() -> None:
    builder = _builder()
    if builder is None:
        pytest.skip("neither docker nor podman runs here")
    image = _run(builder, "build", "--quiet", ROOT, timeout=1200).strip()
    container = _run(builder, "run", "--detach", "--rm", image, "--base-path", "calib").strip()
    try:
        assert _run(builder, "exec", container, "id", "-u").strip() == "1000"
        deadline = time.monotonic() + 120
        ask = [builder, "exec", container, *_health_check()]
        while subprocess.run(ask, capture_output=True, check=False).returncode:
            assert time.monotonic() < deadline
            time.sleep(1)
    finally:
        _run(builder, "stop", container)


@pytest.fixture
def installed(core_installed: Installed) -> Iterator[Installed]:
    """The wheel, and whatever it may need: this environment's packages, for as long as the test lasts."""
    ours = [sysconfig.get_path("purelib"), *(path for path in sys.path if path.endswith("-packages"))]
    extras = core_installed.packages / "extras.pth"
    extras.write_text("\n".join(dict.fromkeys(ours)), encoding="utf-8")
    yield core_installed
    extras.unlink()


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
