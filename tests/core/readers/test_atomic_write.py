"""A file is written completely or not at all, and nothing needed is lost."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from calib_core.errors import Refused
from calib_core.readers.atomic_write import check_output_path, write_atomically


def test_what_is_saved_takes_the_place_of_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "out.parquet"
    for data in (b"first", b"second"):
        write_atomically(data, target)
        assert target.read_bytes() == data
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_what_was_there_survives_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    target = tmp_path / "out.parquet"
    target.write_bytes(b"good")

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    owner = os if step == "fsync" else Path
    monkeypatch.setattr(owner, step, fail)
    told = f"{tmp_path.name}/out.parquet cannot be written (No space left on device)."
    with pytest.raises(Refused, match=f"^{re.escape(told)}$"):
        write_atomically(b"half", target)
    assert target.read_bytes() == b"good"
    assert list(tmp_path.iterdir()) == [target]


def test_the_temporary_file_is_hidden_and_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Path] = []
    replace = Path.replace

    def look(self: Path, target: Path) -> Path:
        seen.append(self)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", look)
    write_atomically(b"1", tmp_path / "out")
    write_atomically(b"2", tmp_path / "out")
    assert all(path.name.startswith(".") and path.parent == tmp_path for path in seen)
    assert len(set(seen)) == 2


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"out\.parquet cannot be written"):
        write_atomically(b"1", tmp_path / "none" / "out.parquet")


def test_only_a_file_is_replaced(tmp_path: Path) -> None:
    """Whoever may do all would lose /dev/null to a file, and a pipe's reader would wait for ever."""
    os.mkfifo(tmp_path / "pipe")
    for path in (Path("/dev/null"), tmp_path / "pipe"):
        with pytest.raises(Refused, match="is not a regular file"):
            write_atomically(b"1", path)
    with pytest.raises(Refused, match="is a folder"):
        write_atomically(b"1", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.parametrize("how", ["itself", "another way to it", "a link", "a hard link"])
def test_an_input_is_never_replaced(tmp_path: Path, how: str) -> None:
    source, link = tmp_path / "in.csv", tmp_path / "link.csv"
    source.write_text("confidence,correct\n")
    (tmp_path / "sub").mkdir()
    if how == "a link":
        link.symlink_to(source)
    elif how == "a hard link":
        link.hardlink_to(source)
    target = {"itself": source, "another way to it": tmp_path / "sub" / ".." / "in.csv"}.get(how, link)
    with pytest.raises(Refused, match="is one of the files that are read, and would be overwritten"):
        check_output_path(target, [tmp_path / "other.csv", source])
    check_output_path(tmp_path / "new.csv", [source])
