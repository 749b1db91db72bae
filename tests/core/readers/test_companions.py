"""Companion files are read together and listed once."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from calib_core.errors import Refused
from calib_core.readers import companions, file_access
from calib_core.readers.companions import (
    array_files_of,
    existing_companions,
    expected_companions,
    is_companion,
    main_file_of,
)
from calib_core.readers.folder import list_files


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")


@pytest.mark.parametrize("scale", ["probs", "logprobs", "logits"])
@pytest.mark.parametrize("stem", ["X.", "a.b.", ""])
def test_a_pair_by_its_names(tmp_path: Path, scale: str, stem: str) -> None:
    touch(tmp_path, f"{stem}{scale}.npy", f"{stem}target.npy", f"{stem}meta.json")
    main = tmp_path / f"{stem}{scale}.npy"
    pair = array_files_of(main, "said")
    assert (pair.scale, pair.values, pair.target.name) == (scale, main, f"{stem}target.npy")
    assert pair.metadata == tmp_path / f"{stem}meta.json"
    assert main_file_of(tmp_path / f"{stem}target.npy") == main_file_of(tmp_path / f"{stem}meta.json") == main
    assert {path.name for path in expected_companions(main)} == {f"{stem}target.npy", f"{stem}meta.json"}


def test_a_folder_is_looked_through_once_for_all_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[object] = []
    listed = os.listdir
    monkeypatch.setattr(os, "listdir", lambda folder: looks.append(folder) or listed(folder))
    names = [f"{number}.jsonl" for number in range(20)]
    touch(tmp_path, *names, "X.columns.npy")
    for times in (10**8, -(10**8)):  # of a time to come, nothing tells what changed since
        os.utime(tmp_path, (0, time.time() + times))
        for name in names:
            assert existing_companions(tmp_path / name).keys() == {"X.columns.npy"}
    assert len(looks) == 2 * 20  # the system's own time of change is of just now
    monkeypatch.setattr(file_access, "SETTLED_SECONDS", -60.0)
    for name in names:
        existing_companions(tmp_path / name)
    assert len(looks) == 2 * 20 + 1
    touch(tmp_path, "Y.COLUMNS.npy")
    assert existing_companions(tmp_path / names[0]).keys() == {"X.columns.npy", "Y.COLUMNS.npy"}


def test_metadata_may_be_left_out(tmp_path: Path) -> None:
    touch(tmp_path, "X.probs.npy", "X.target.npy")
    assert array_files_of(tmp_path / "X.probs.npy", "X.probs.npy").metadata is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("X.probs.npy", r"^X.probs.npy needs the file X.target.npy beside it, which is not there"),
        ("Y.npy", r"^Y.npy is one NumPy array, and nothing says what it holds"),
        ("Z.target.npy", r"^Z.target.npy belongs to Z.logits.npy: open that file"),
        ("alone.target.npy", r"^alone.target.npy is one NumPy array"),
    ],
)
def test_what_is_not_a_pair_is_refused_with_what_to_do(tmp_path: Path, name: str, message: str) -> None:
    touch(tmp_path, "X.probs.npy", "Y.npy", "Z.target.npy", "Z.logits.npy", "alone.target.npy")
    with pytest.raises(Refused, match=message):
        array_files_of(tmp_path / name, name)


def test_a_scan_lists_a_pair_once(tmp_path: Path) -> None:
    touch(tmp_path, "X.probs.npy", "X.target.npy", "X.meta.json", "a/Y.target.npy", "Z.meta.json")
    names = [path.name for path in list_files(tmp_path)]
    assert names == ["X.probs.npy", "Z.meta.json", "Y.target.npy"]


def test_the_metadata_of_a_saved_data_set_is_not_listed_beside_its_rows(tmp_path: Path) -> None:
    touch(tmp_path, "saved/data-00000-of-00001.arrow", "saved/state.json", "saved/dataset_info.json")
    touch(tmp_path, "saved/metrics.json", "dataset_dict.json", "state.json", "other/dataset_info.json")
    listed = [path.relative_to(tmp_path).as_posix() for path in list_files(tmp_path)]
    assert listed == [
        "other/dataset_info.json",
        "saved/data-00000-of-00001.arrow",
        "saved/metrics.json",
        "state.json",
    ]


def test_other_files_are_not_companions(tmp_path: Path) -> None:
    touch(tmp_path, "quiz.csv", "X.probs.npy", "Xtarget.npy")
    assert not is_companion(tmp_path / "quiz.csv")
    assert not is_companion(tmp_path / "Xtarget.npy")
    assert expected_companions(tmp_path / "quiz.csv") == ()


def test_a_companion_that_links_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "data", tmp_path / "outside"
    touch(inside, "X.probs.npy")
    touch(outside, "secret.npy")
    (inside / "X.target.npy").symlink_to(outside / "secret.npy")
    with pytest.raises(Refused, match=r"needs the file X.target.npy"):
        array_files_of(inside / "X.probs.npy", "X.probs.npy")


def test_both_may_be_links_into_one_store(tmp_path: Path) -> None:
    touch(tmp_path, "store/1", "store/2")
    (tmp_path / "data").mkdir()
    for name, to in (("X.probs.npy", "1"), ("X.target.npy", "2")):
        (tmp_path / "data" / name).symlink_to(tmp_path / "store" / to)
    assert array_files_of(tmp_path / "data" / "X.probs.npy", "X.probs.npy").target.name == "X.target.npy"


def test_of_many_sums_by_class_those_of_the_likest_names_are_taken_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(companions, "MAX_COLUMN_SUMS_FILES", 2)
    touch(tmp_path, "run7.jsonl", "a.columns.npy", "run.columns.npy", "run7.columns.npy", "s.columns.npy")
    assert [*existing_companions(tmp_path / "run7.jsonl")] == ["run7.columns.npy", "run.columns.npy"]
