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
    words = app.command(tmp_path, 8600, ROOT / "app.py")
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
