"""Which app does `calib app` open, and on which folder?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app_server import ROOT
from calib_core.cli.commands import app
from calib_core.errors import Refused
from core.cli_calls import Call


def test_in_a_checkout_the_app_is_the_repositorys(tmp_path: Path) -> None:
    assert app.script() == ROOT / "app.py"
    words = app.command(tmp_path, app.ServerOptions(8600), ROOT / "app.py")
    assert words[1:] == [
        "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.address=127.0.0.1", "--server.port=8600",
        "--", "--data", str(tmp_path),
    ]  # fmt: skip
    with pytest.raises(Refused, match="Install Calib again"):
        app.script(tmp_path / "calib_core")


def test_the_app_is_told_where_a_relative_folder_is(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _program, words: started.append(words))
    (tmp_path / "mine").mkdir()
    for words, named in ((("--data", "mine"), None), ((), "mine")):
        monkeypatch.chdir(tmp_path)
        monkeypatch.delenv("CALIB_DATA", raising=False)
        if named:
            monkeypatch.setenv("CALIB_DATA", named)
        call("app", *words)
        assert started[-1][-2:] == ["--data", str(tmp_path / "mine")]
        assert Path.cwd() == ROOT
    monkeypatch.chdir(tmp_path)
    for wrong in ("gone", ""):
        assert call("app", "--data", wrong).code == 2
    assert len(started) == 2


def test_the_server_is_told_where_and_for_whom_it_serves(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _program, words: started.append(words))
    monkeypatch.setenv("CALIB_FRAMES", "")
    monkeypatch.delenv("CALIB_DATA", raising=False)
    monkeypatch.chdir(ROOT)
    words = ("--address", "0.0.0.0", "--base-path", "/calib/", "--headless", "--host", "calib.example.org")  # noqa: S104
    call("app", *words, "--frame", "https://a.example", "--frame", "https://*.b.example")
    assert started[-1][5:] == [
        "--server.address=0.0.0.0", "--server.baseUrlPath=calib", "--server.headless=true",
        "--server.allowedHosts=127.0.0.1", "--server.allowedHosts=localhost",
        "--server.allowedHosts=calib.example.org", "--browser.serverAddress=calib.example.org",
        "--browser.serverPort=443", "--server.xsrfCookieSameSite=none",
    ]  # fmt: skip
    for everywhere in ("0.0.0.0", "::"):  # noqa: S104  Streamlit would ask elsewhere for a name to print
        call("app", "--address", everywhere)
        assert started[-1][5:] == [f"--server.address={everywhere}", "--browser.serverAddress=localhost"]
    assert os.environ["CALIB_FRAMES"] == "https://a.example https://*.b.example"


def test_without_the_extra_the_app_says_what_to_install(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "find_spec", lambda _name: None)
    answer = call("app")
    assert (answer.code, "pip install 'calib[app]'" in answer.err) == (2, True)
