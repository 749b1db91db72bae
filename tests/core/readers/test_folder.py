"""Which files of a folder are listed, and which are never opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from calib_core.errors import Refused
from calib_core.readers.file_access import LINK_LEAVES_FOLDER, read_bytes
from calib_core.readers.folder import list_files, list_folder


def touch(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def names(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in list_files(folder)]


def test_files_of_subfolders_sorted_without_what_is_passed_over(tmp_path: Path) -> None:
    touch(
        tmp_path,
        "b.csv",
        "a/z.csv",
        "a/.hidden",
        ".git/x.csv",
        "README",
        "readme.txt",
        "a/notes.MD",
        "MANIFEST.json",
        "LICENSE",
        "__MACOSX/x.csv",
    )
    touch(tmp_path, "a/a.csv", "c.parquet", "[q]*.csv")
    assert names(tmp_path) == ["[q]*.csv", "a/a.csv", "a/z.csv", "b.csv", "c.parquet"]


def test_an_empty_folder_has_no_files(tmp_path: Path) -> None:
    assert list_files(tmp_path) == ()


def test_no_folder_is_refused(tmp_path: Path) -> None:
    touch(tmp_path, "a.csv")
    for path in (tmp_path / "none", tmp_path / "a.csv"):
        with pytest.raises(Refused, match=f"{path.name} is not a folder"):
            list_files(path)


def test_links_are_followed_only_within_the_folder(tmp_path: Path) -> None:
    inside, outside = tmp_path / "data", tmp_path / "outside"
    touch(inside, "a.csv", "sub/b.csv")
    touch(outside, "secret.csv")
    for name, target in {
        "out.csv": outside / "secret.csv",
        "outfolder": outside,
        "in.csv": inside / "a.csv",
        "round": inside,
        "nowhere.csv": inside / "none.csv",
        "self.csv": inside / "self.csv",
    }.items():
        (inside / name).symlink_to(target)
    assert names(inside) == ["a.csv", "in.csv", "sub/b.csv"]


def test_a_folder_that_may_not_be_entered_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch(tmp_path, "a.csv", "locked/b.csv")
    listed = os.scandir

    def refuse(path: Path) -> object:
        if path.name == "locked":
            raise PermissionError
        return listed(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert names(tmp_path) == ["a.csv"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_neither_found_nor_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    assert list_files(tmp_path) == ()
    with pytest.raises(Refused, match=r"pipe.csv: a pipe cannot be read: save it to a file first"):
        read_bytes(tmp_path / "pipe.csv", "pipe.csv")


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"^runs cannot be opened \(it is a folder\): name a file in it"):
        read_bytes(tmp_path, "runs")


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="needs a device")  # noqa: PTH110
def test_a_device_is_not_a_file() -> None:
    with pytest.raises(Refused, match=r"^quiz: a device cannot be read: save it to a file"):
        read_bytes(Path("/dev/null"), "quiz")


def test_content_of_a_file(tmp_path: Path) -> None:
    touch(tmp_path, "a.csv")
    assert read_bytes(tmp_path / "a.csv", "a.csv") == b"x"


@pytest.mark.parametrize("name", ["none.csv", "", "a\0b"])
def test_what_cannot_be_opened_is_refused_without_its_path(name: str, tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"^quiz ") as refusal:
        read_bytes(tmp_path / name, "quiz")
    assert str(tmp_path) not in str(refusal.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_skipped_entry_is_reported(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    touch(outside, "secret.csv")
    touch(inside, "a.csv", "sub/b.csv")
    os.mkfifo(inside / "sub" / "pipe.csv")
    for name, target in {
        "out.csv": outside / "secret.csv",
        "out": outside,
        "nowhere.csv": inside / "none.csv",
        "circle.csv": inside / "circle.csv",
        ".hidden.csv": outside / "secret.csv",
        "in.csv": inside / "a.csv",
    }.items():
        (inside / name).symlink_to(target)
    found = list_folder(inside)
    assert [path.relative_to(inside).as_posix() for path in found.files] == ["a.csv", "in.csv", "sub/b.csv"]
    assert {path.relative_to(inside).as_posix(): why for path, why in found.skipped.items()} == {
        "circle.csv": "circle.csv is a link that leads nowhere.",
        "nowhere.csv": "nowhere.csv is a link that leads nowhere.",
        "out": f"out {LINK_LEAVES_FOLDER}",
        "out.csv": f"out.csv {LINK_LEAVES_FOLDER}",
        "sub/pipe.csv": "sub/pipe.csv: a pipe cannot be read: save it to a file first.",
    }
