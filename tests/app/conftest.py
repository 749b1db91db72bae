"""Shared fixtures of the app tests: a data folder of their own, and the app opened on it."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import app_test, local_script_runner

import comparison_files as side_by_side
import report_cache
import screens
from calib_core.advice import set_surface
from pages.state import cache
from predictions import choices, judged, quiz, samples, write_csv, write_jsonl
from screens import ShowFolder, Visit
from token_files import positions, write_checkpoints, write_npz


@pytest.fixture(scope="session", autouse=True)
def installed_once() -> Iterator[None]:
    """Streamlit asks every installed package for components at each session of AppTest; here once."""
    once = functools.cache(manifest_scanner.scan_component_manifests)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", once)
        yield


@pytest.fixture(scope="session", autouse=True)
def compiled_once() -> Iterator[None]:
    """A server compiles a page once for all its sessions; AppTest at each, which takes a tenth of it."""
    scripts = ScriptCache()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app_test, "ScriptCache", lambda: scripts)
        patch.setattr(local_script_runner, "ScriptCache", lambda: scripts)
        yield


@pytest.fixture(scope="session", autouse=True)
def awaited_asleep() -> Iterator[None]:
    """AppTest asks each millisecond whether a script has ended, which takes the script's time."""
    look = local_script_runner.require_widgets_deltas

    def wait(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
        assert runner._script_thread is not None
        runner._script_thread.join(timeout)
        look(runner, 0.1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_script_runner, "require_widgets_deltas", wait)
        yield


@pytest.fixture(autouse=True)
def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that another test has, too, is read once for both, and what follows from it computed once.

    The process that reads files stays for the next test; a server ends it once its folder is read.
    """
    monkeypatch.setattr(cache, "end_idle_workers", lambda: None)
    monkeypatch.setattr(cache, "_read_report", report_cache.report)
    monkeypatch.setattr(cache, "_file_version", report_cache.version)


@pytest.fixture(autouse=True)
def for_pages() -> Iterator[None]:
    """Messages are worded for pages, as those of the server are from its start."""
    before = set_surface("page")
    yield
    set_surface(before)


@pytest.fixture
def nothing_computed() -> None:
    """Forgets what other tests computed, for a test that counts computations."""
    cache._server_store().results.clear()


@pytest.fixture(autouse=True)
def wait_for_all_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page shows the whole folder, however slow the machine, and nothing read is kept on disk.

    `test_background_reading.py` says otherwise.
    """
    monkeypatch.setenv("CALIB_CACHE_MIB", "0")
    monkeypatch.setattr(cache, "FIRST_PAGE_SECONDS", math.inf)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that the app takes for its data, and a cache folder that is not the person's."""
    folder = tmp_path / "predictions"
    folder.mkdir()
    monkeypatch.setenv("CALIB_DATA", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def visit(data: Path) -> Visit:
    """`visit("reliability", m="20")`: that page in a fresh session on the folder `data`."""

    def open_page(page: str, **params: str) -> screens.AppTest:
        assert data.parent.is_dir()
        return screens.visit(page, params)

    return open_page


@pytest.fixture(scope="session")
def three_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the fixture `folder`."""
    made = tmp_path_factory.mktemp("three")
    write_three_files(made)
    return made


@pytest.fixture(scope="session")
def files_of_every_kind(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the fixture `everything`."""
    made = tmp_path_factory.mktemp("everything")
    write_three_files(made)
    write_checkpoints(made)
    write_npz(made / "text.npz", positions(), model="text")
    write_csv(made / "judged.csv", judged())
    return made


def write_three_files(place: Path) -> None:
    write_jsonl(place / "four.jsonl", choices(120))
    write_csv(place / "quiz.csv", [*quiz(150, model="red"), *quiz(160, seed=6, model="green")])
    write_jsonl(place / "ten.jsonl", samples())


@pytest.fixture
def show_folder(data: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ShowFolder]:
    """`show_folder(made)`: the app's folder is one that several tests have, and none of them may change.

    What was computed for one of them is still known to the others.
    """
    assert data.is_dir()  # the cache folder is the test's own
    shown: dict[Path, list[tuple[str, int]]] = {}

    def files(made: Path) -> list[tuple[str, int]]:
        return sorted((path.name, path.stat().st_mtime_ns) for path in made.iterdir())

    def show(made: Path) -> Path:
        monkeypatch.setenv("CALIB_DATA", str(made))
        shown[made] = files(made)
        return made

    yield show
    assert {made: files(made) for made in shown} == shown


@pytest.fixture
def folder(show_folder: ShowFolder, three_files: Path) -> Path:
    """Three files: four.jsonl with choices, quiz.csv with a red and a green model, ten.jsonl with samples."""
    return show_folder(three_files)


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Key of a menu's button → (the file's name, what makes it)."""
    sent: dict[str, Any] = {}
    real = st.download_button

    def button(label: str, **options: Any) -> bool:
        sent[options["key"]] = (options["file_name"], options["data"])
        return real(label, **options)

    monkeypatch.setattr(st, "download_button", button)
    return sent


@pytest.fixture
def everything(show_folder: ShowFolder, files_of_every_kind: Path) -> Path:
    """Answers of every kind, a training, and positions of a text."""
    return show_folder(files_of_every_kind)


@pytest.fixture
def models(data: Path) -> Path:
    """The file of `tests/comparison_files.py`."""
    return side_by_side.write_comparison_file(data)
