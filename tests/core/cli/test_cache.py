"""What is kept of files that were read can be seen and deleted, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.cli_calls import Call


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of what was read, in a cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("CALIB_CACHE_MIB", "3000")
    return tmp_path / "calib" / "readings"


def test_nothing_is_kept_yet(call: Call, folder: Path) -> None:
    answer = call("cache")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == f"{folder}: 0 entries, 0.0 MiB (3,000.0 MiB at most, set by CALIB_CACHE_MIB)\n"
    assert not folder.exists()
    assert call("cache", "clear").out == f"0.0 MiB deleted from {folder}.\n"


def test_the_variable_sets_the_limit_only_where_it_is_set(
    call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CALIB_CACHE_MIB")
    assert call("cache").out == (
        f"{folder}: 0 entries, 0.0 MiB (2,048.0 MiB at most, unless set by CALIB_CACHE_MIB)\n"
    )


def test_what_was_read_is_counted_and_deleted(call: Call, folder: Path) -> None:
    folder.mkdir(parents=True)
    for name in ("entry", "other"):
        (folder / name).write_bytes(b"x" * 2**20)
    (folder.parent / "mappings").mkdir()
    assert call("cache", "show").out.startswith(f"{folder}: 2 entries, 2.0 MiB (")
    assert len(list(folder.iterdir())) == 2
    assert call("cache", "clear").out == f"2.0 MiB deleted from {folder}.\n"
    assert sorted(path.name for path in folder.parent.rglob("*")) == ["mappings", "readings"]


def test_what_cannot_be_done_is_refused(call: Call, folder: Path) -> None:
    assert call("cache", "sweep").code == 2
    folder.mkdir(parents=True)
    (folder / "nested").mkdir()
    answer = call("cache", "clear")
    assert answer.code == 2
    assert f"{folder} cannot be emptied (" in answer.err
