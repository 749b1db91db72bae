"""The right browser is chosen, and one is installed only where that is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

import chromium

ORDINARY_USER = 1000
SUPERUSER = 0


def program(folder: Path, name: str, script: str = "exit 0") -> Path:
    """An executable shell script `name` in `folder`."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_takes_the_named_one_before_any_on_path(tmp_path: Path) -> None:
    program(tmp_path, "chromium")
    named = program(tmp_path, "mine")
    assert chromium.find({"PATH": str(tmp_path), "CHROMIUM": str(named)}) == named
    assert chromium.find({"PATH": str(tmp_path), "CHROMIUM": "mine"}) == named


def test_takes_the_first_name_found_on_path(tmp_path: Path) -> None:
    other = program(tmp_path, "google-chrome")
    assert chromium.find({"PATH": str(tmp_path), "CHROMIUM": ""}) == other
    first = program(tmp_path, "chromium-browser")
    assert chromium.find({"PATH": str(tmp_path)}) == first


def test_a_wrong_name_is_an_error_and_installs_nothing(tmp_path: Path) -> None:
    program(tmp_path, "chromium")
    program(tmp_path, "apt-get", f"touch '{tmp_path}/asked'")
    environment = {"PATH": str(tmp_path), "CHROMIUM": "nowhere/chrome"}
    with pytest.raises(chromium.NoChromiumError, match="nowhere/chrome"):
        chromium.find_or_install(environment, SUPERUSER)
    assert not (tmp_path / "asked").exists()


def test_only_the_superuser_installs(tmp_path: Path) -> None:
    program(tmp_path, "apt-get", f"touch '{tmp_path}/asked'")
    with pytest.raises(chromium.NoChromiumError, match="apt-get install --yes chromium"):
        chromium.find_or_install({"PATH": str(tmp_path)}, ORDINARY_USER)
    assert not (tmp_path / "asked").exists()


def test_the_superuser_gets_debians_package(tmp_path: Path) -> None:
    script = f"""case "$*" in *" install "*"chromium"*) :>'{tmp_path}/chromium';; esac
echo "$*" >>'{tmp_path}/said'
/bin/chmod 755 '{tmp_path}/chromium' 2>/dev/null
exit 0"""
    program(tmp_path, "apt-get", script)
    assert chromium.find_or_install({"PATH": str(tmp_path)}, SUPERUSER) == tmp_path / "chromium"
    update, install = (tmp_path / "said").read_text().splitlines()
    assert update == "-qq update"
    assert install.startswith("-qq install --yes")


def test_a_package_that_cannot_be_installed_is_reported(tmp_path: Path) -> None:
    program(tmp_path, "apt-get", "exit 100")
    with pytest.raises(chromium.NoChromiumError, match="none was found"):
        chromium.find_or_install({"PATH": str(tmp_path)}, SUPERUSER)
