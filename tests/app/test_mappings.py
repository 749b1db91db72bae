"""Saved column mappings are stored completely, found again, and ignored where they are invalid."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from calib_core.user_cache import user_cache_folder
from pages.state.mappings import (
    CachedMappings,
    FileMapping,
    MappingStore,
    SessionMappings,
    fingerprint,
)

COLUMNS = ["conf", "s 1", "x"]
SAID = FileMapping(
    "table",
    (("conf", "confidence"), ("s 1", "samples"), ("x", "")),
    columns_fingerprint=fingerprint(COLUMNS),
    dataset="Trivia ä",
)


@pytest.fixture
def cache(tmp_path: Path) -> CachedMappings:
    return CachedMappings(tmp_path / "cache" / "wishes")


def test_a_mapping_is_found_by_another_process(cache: CachedMappings, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    cache.save(path, SAID)
    assert CachedMappings(cache.folder).for_files([tmp_path / "b.csv", path]) == {path: SAID}


def test_the_same_file_by_another_path_has_the_same_mapping(cache: CachedMappings, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    cache.save(tmp_path / "real" / "a.csv", SAID)
    other = tmp_path / "link" / "a.csv"
    assert cache.for_files([other]) == {other: SAID}


def test_another_file_of_the_same_name_has_none(cache: CachedMappings, tmp_path: Path) -> None:
    cache.save(tmp_path / "one" / "a.csv", SAID)
    assert cache.for_files([tmp_path / "two" / "a.csv"]) == {}


def test_a_deleted_mapping_leaves_no_file(cache: CachedMappings, tmp_path: Path) -> None:
    cache.save(tmp_path / "a.csv", SAID)
    cache.delete(tmp_path / "a.csv")
    cache.delete(tmp_path / "a.csv")
    assert list(cache.folder.iterdir()) == []


def test_a_failed_write_leaves_the_one_before(
    cache: CachedMappings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.save(tmp_path / "a.csv", SAID)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(json, "dump", full)
    with pytest.raises(OSError, match="No space"):
        cache.save(tmp_path / "a.csv", FileMapping("npz"))
    assert cache.for_files([tmp_path / "a.csv"]) == {tmp_path / "a.csv": SAID}
    assert len(list(cache.folder.iterdir())) == 1


def test_others_on_the_machine_cannot_read_it(cache: CachedMappings, tmp_path: Path) -> None:
    cache.save(tmp_path / "a.csv", SAID)
    (kept,) = cache.folder.iterdir()
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "held",
    [
        "",
        "[]",
        "null",
        "{}",
        '{"version": 2, "format": "npz"}',
        "[" * 100_000,
        "\udcff",
        '{"version": 1, "columns": [["a"]]}',
        '{"version": 1, "columns": [[1, 2]]}',
    ],
)
def test_an_invalid_mapping_file_counts_as_none(held: str, cache: CachedMappings, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    cache.save(path, SAID)
    (kept,) = cache.folder.iterdir()
    kept.write_bytes(held.encode("utf-8", "surrogateescape"))
    assert cache.for_files([path]) == {}


def test_names_that_are_not_text(cache: CachedMappings, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff.csv")
    mapping = FileMapping(columns=(("\udcff", "confidence"),), columns_fingerprint=fingerprint(["\udcff"]))
    cache.save(path, mapping)
    assert cache.for_files([path]) == {path: mapping}


def test_a_mapping_applies_to_the_columns_it_was_saved_for() -> None:
    assert SAID.applies_to(COLUMNS)
    assert not SAID.applies_to(["conf", "s 1"])
    assert not SAID.applies_to(["s 1", "conf", "x"])
    assert FileMapping("npz").applies_to(["anything"])
    assert fingerprint(["a", "b"]) != fingerprint(["a,b"])


def test_a_session_keeps_its_own(tmp_path: Path) -> None:
    mine: MappingStore = SessionMappings()
    mine.save(tmp_path / "a.csv", SAID)
    assert mine.for_files([tmp_path / "a.csv"]) == {tmp_path / "a.csv": SAID}
    assert SessionMappings().for_files([tmp_path / "a.csv"]) == {}
    mine.delete(tmp_path / "a.csv")
    assert mine.for_files([tmp_path / "a.csv"]) == {}


def test_the_folder_by_the_custom_of_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/h")
    assert user_cache_folder({"XDG_CACHE_HOME": "/c"}, "linux") == Path("/c/calib")
    assert user_cache_folder({"XDG_CACHE_HOME": "here"}, "linux") == Path("/h/.cache/calib")
    assert user_cache_folder({}, "linux") == Path("/h/.cache/calib")
    assert user_cache_folder({"XDG_CACHE_HOME": "/c"}, "darwin") == Path("/h/Library/Caches/calib")
