"""A figure becomes a picture, or a message says what to do."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import chromium as chromium_lookup
from calib_core.errors import Unavailable
from calib_core.reporting.export import figure

FIGURE: dict[str, Any] = {
    "data": [{"type": "bar", "x": ["$x^2$", "<b>b", "c\x01"], "y": [1, 3, 2]}],
    "layout": {"height": 300, "xaxis": {"title": {"text": "$x^2$ Confidence"}}, "margin": {"t": 10}},
}


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Chromium, for Kaleido too."""
    found = chromium_lookup.find()
    monkeypatch.setenv(figure.BROWSER_VARIABLE, str(found))
    return found


@pytest.fixture
def own_temp_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for the pictures of this test alone: other tests draw theirs at the same time."""
    with TemporaryDirectory(prefix="own-", dir="/tmp") as folder:  # short, as a socket's path has to be
        monkeypatch.setattr(figure, "_temp_folder", lambda: folder)
        yield Path(folder)


def leftover_processes(own_temp_folder: Path) -> list[str]:
    """Processes that a picture has left behind."""
    found: list[str] = []
    for told in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = told.read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if f"{own_temp_folder}/calib-picture-" in words:
            found.append(words)
    return found


def test_without_kaleido_the_line_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure.importlib.util, "find_spec", lambda _: None)
    reason = figure.unavailable_reason()
    assert reason is not None
    assert "Kaleido" in reason
    assert reason.endswith("python -m pip install -r requirements-export.txt")
    with pytest.raises(Unavailable, match="requirements-export"):
        figure.render_picture(FIGURE, "png", title="t", recipe="r")


def test_the_extra_is_what_the_line_installs() -> None:
    lines = (Path(__file__).parents[4] / "requirements-export.txt").read_text().splitlines()
    assert [line for line in lines if line.startswith("kaleido==")]
    assert "requirements-export.txt" in figure.INSTALL_COMMAND


def test_without_a_browser_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(figure.BROWSER_VARIABLE, raising=False)
    monkeypatch.setattr(figure, "find_browser", lambda: None)
    reason = figure.unavailable_reason()
    assert reason is not None
    assert "apt-get install chromium" in reason
    assert "BROWSER_PATH" in reason


@pytest.mark.parametrize("named", ["/nonexistent", "/usr", "requirements.txt"])
def test_a_program_that_is_not_a_browser(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(figure.BROWSER_VARIABLE, named)
    assert "BROWSER_PATH names none" in (figure.unavailable_reason() or "")


def test_a_square_panel_is_as_wide_as_the_picture() -> None:
    margin = {"l": 56, "r": 14, "t": 50, "b": 48}
    tall = {"layout": {"height": 560, "margin": margin, "yaxis": {"scaleanchor": "x", "domain": [0.5, 1]}}}
    assert figure.picture_size(tall) == (560, 2 * 490 + 98)
    low = {"layout": {"height": 300, "margin": margin, "yaxis": {"scaleanchor": "x"}}}
    assert figure.picture_size(low) == (420, 350 + 98)
    assert figure.picture_size({"layout": {"height": 410}}) == (800, 410)


@pytest.mark.browser
def test_one_that_takes_too_long_is_ended(browser: Path, own_temp_folder: Path) -> None:
    assert browser
    begun = time.monotonic()
    with pytest.raises(Unavailable, match=r"stopped after 1\.5 s"):
        figure.render_picture(FIGURE, "png", title="t", recipe="r", timeout=1.5)
    assert time.monotonic() - begun < 20
    assert leftover_processes(own_temp_folder) == []


def test_slow_deletion_is_waited_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    there = [3, 1, 0]
    monkeypatch.setattr(figure, "_kill_leftovers", lambda _: there.pop(0))
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        figure._terminate(process, tmp_path)
        assert process.returncode == -signal.SIGKILL
    assert there == []


@pytest.mark.browser
def test_others_are_waited_for_only_so_long(browser: Path) -> None:
    assert browser
    with figure._ONE_AT_A_TIME, pytest.raises(Unavailable, match="Other pictures are being drawn"):
        figure.render_picture(FIGURE, "png", title="t", recipe="r", timeout=0.2)


def test_a_browser_that_ends_at_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, own_temp_folder: Path
) -> None:
    monkeypatch.setenv(figure.BROWSER_VARIABLE, "/bin/false")
    with pytest.raises(Unavailable, match="failed"):
        figure.render_picture(FIGURE, "png", title="t", recipe="r")
    assert "no picture" in caplog.text
    assert "/bin/false" in caplog.text
    assert leftover_processes(own_temp_folder) == []


@pytest.mark.browser
def test_an_svg(browser: Path, own_temp_folder: Path) -> None:
    """A PNG is taken in the browser's test of exports."""
    assert browser
    svg = figure.render_picture(FIGURE, "svg", title="Run $a$", recipe="ECE, M=10").decode()
    for words in ("<title>Run $a$</title>", "<desc>ECE, M=10</desc>", "$x^2$ Confidence", ">$x^2$<"):
        assert words in svg
    assert "MathJax" not in svg
    assert leftover_processes(own_temp_folder) == []


def test_the_order_is_plain_data() -> None:
    drawn = {"data": [{"x": (1, 2), "name": None}], "layout": {"height": 300}}
    assert json.loads(json.dumps(figure.clean_figure(drawn))) == {
        "data": [{"x": [1, 2], "name": None}],
        "layout": {"height": 300},
    }
