"""What is kept on disk is whole, private and bounded, whoever else writes there."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app_server import ROOT
from calib_core import user_cache
from calib_core.user_cache import DEFAULT_MIB, CacheFolder, max_cache_bytes

BLOCK = 4096


@pytest.fixture
def cache(tmp_path: Path) -> CacheFolder:
    return CacheFolder(tmp_path / "cache" / "readings", 10 * BLOCK)


def age(cache: CacheFolder, *keys: str) -> None:
    """Makes the entries look as if they were last used long ago, one after the other."""
    for second, key in enumerate(keys):
        os.utime(cache.folder / key, (1000 + second, 1000 + second))


def test_what_is_kept_is_for_its_owner_only(cache: CacheFolder) -> None:
    cache.save("a", [b"one ", bytearray(b"two"), memoryview(b"")])
    found = cache.load("a")
    assert found is not None
    assert bytes(found) == b"one two"
    assert cache.load("b") is None
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in cache.folder.iterdir()] == [0o600]


def test_a_folder_that_others_may_read_is_closed(cache: CacheFolder) -> None:
    cache.folder.mkdir(parents=True)
    cache.folder.chmod(0o755)
    cache.save("a", [b"one"])
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("damage", [b"", b"short", b"\0" * 40, None, slice(-1), slice(1, None)])
@pytest.mark.parametrize("together", [4, 2**20])
def test_a_damaged_entry_counts_as_absent_and_goes(
    cache: CacheFolder, damage: bytes | slice | None, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_cache, "_PART_BYTES", together)  # bytes of it that are read together
    cache.save("a", [b"numbers of a file"])
    assert cache.load("a") == b"numbers of a file"
    path = cache.folder / "a"
    whole = path.read_bytes()
    path.write_bytes(
        bytes([whole[0] ^ 1]) + whole[1:]
        if damage is None
        else damage
        if isinstance(damage, bytes)
        else whole[damage]
    )
    assert cache.load("a") is None
    assert list(cache.folder.iterdir()) == []


def test_an_entry_cut_off_after_its_checksum_was_looked_at_counts_as_absent(
    cache: CacheFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.save("a", [b"numbers of a file, many of them"])
    with (cache.folder / "a").open("r+b") as file:
        file.truncate(60)
    monkeypatch.setattr(user_cache, "_checksum_holds", lambda _file: True)
    assert cache.load("a") is None


def test_an_entry_that_cannot_be_removed_is_left(cache: CacheFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows, where one that another process reads stays."""
    remove = Path.unlink

    def unlink(path: Path, missing_ok: bool = False) -> None:  # noqa: FBT001, FBT002 - as Path.unlink has it
        if path.name == "a":
            raise PermissionError
        remove(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", unlink)
    for key in "abcdef":
        cache.save(key, [b"x" * (2 * BLOCK - 100)])
        age(cache, *sorted(path.name for path in cache.folder.iterdir()))
    assert sorted(path.name for path in cache.folder.iterdir()) == ["a", "c", "d", "e", "f"]


def test_the_entries_used_longest_ago_make_room(cache: CacheFolder) -> None:
    for key in "abcd":
        cache.save(key, [b"x" * (2 * BLOCK - 100)])
    age(cache, *"abcd")
    assert cache.load("a") is not None  # used just now
    cache.save("e", [b"x" * (6 * BLOCK - 100)])
    assert sorted(path.name for path in cache.folder.iterdir()) == ["a", "d", "e"]


def test_entries_of_a_time_to_come_make_room_first(cache: CacheFolder) -> None:
    for key in "abcd":
        cache.save(key, [b"x" * (2 * BLOCK - 100)])
    age(cache, *"abcd")
    ahead = time.time() + 10**8
    for key in "cd":
        os.utime(cache.folder / key, (ahead, ahead))
    cache.save("e", [b"x" * (5 * BLOCK - 100)])
    assert sorted(path.name for path in cache.folder.iterdir()) == ["a", "b", "e"]


def test_many_small_entries_stay_within_the_size(cache: CacheFolder) -> None:
    for number in range(40):
        cache.save(f"{number:02d}", [b"x"])
    assert len(list(cache.folder.iterdir())) == 10
    assert cache.load("39") is not None


def test_what_is_larger_than_the_cache_is_not_kept(cache: CacheFolder) -> None:
    cache.save("a", [b"x"])
    cache.save("b", (b"x" * BLOCK for _ in range(11)))
    assert [path.name for path in cache.folder.iterdir()] == ["a"]


def test_an_entry_that_fails_half_way_leaves_nothing(cache: CacheFolder) -> None:
    def parts() -> list[bytes]:
        raise TypeError

    cache.save("a", [b"before"])
    with pytest.raises(TypeError):
        cache.save("a", (part for _ in range(1) for part in [b"half", *parts()]))
    found = cache.load("a")
    assert found is not None
    assert bytes(found) == b"before"
    assert [path.name for path in cache.folder.iterdir()] == ["a"]


def write(program: str, *arguments: object) -> subprocess.Popen[str]:
    """A process that writes to a cache and loads nothing else, which it would take a second for."""
    words = [sys.executable, "-c", f"{LOAD}{program}", *map(str, arguments)]
    return subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)


LOAD = """
import sys, time
from pathlib import Path
from calib_core.user_cache import CacheFolder
"""
OFTEN = f"""
for _ in range(30):
    CacheFolder(Path(sys.argv[1]), {10 * BLOCK}).save("a", [sys.argv[2].encode() * 5000] * 3)
"""
HALF = f"""
def parts():
    yield b"half" * {2 * BLOCK}
    print("begun", flush=True)
    time.sleep(60)
CacheFolder(Path(sys.argv[1]), {20 * BLOCK}).save("a", parts())
"""


def test_two_processes_that_write_at_once_leave_one_whole_entry(cache: CacheFolder) -> None:
    writers = [write(OFTEN, cache.folder, letter) for letter in "xy"]
    seen: set[bytes] = set()
    while any(writer.poll() is None for writer in writers):
        if (found := cache.load("a")) is not None:
            seen.add(bytes(found))
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    found = cache.load("a")
    assert found is not None
    assert seen | {bytes(found)} <= {b"x" * 15000, b"y" * 15000}
    assert [path.name for path in cache.folder.iterdir()] == ["a"]


def test_a_process_killed_while_it_writes_leaves_the_entry_before(cache: CacheFolder) -> None:
    cache.save("a", [b"before"])
    with write(HALF, cache.folder) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "begun\n"
        writer.kill()
    time.sleep(0.05)  # the clock of files has ticked: what is used now was used later
    found = cache.load("a")
    assert found is not None
    assert bytes(found) == b"before"
    assert cache.size() == (2, 9 * BLOCK)
    cache.save("b", [b"x" * (2 * BLOCK - 100)])  # what was left unfinished makes room
    assert sorted(path.name for path in cache.folder.iterdir()) == ["a", "b"]


def test_a_disk_that_refuses_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    cache = CacheFolder(tmp_path / "file", 10 * BLOCK)
    cache.save("a", [b"x"])
    assert cache.load("a") is None
    assert cache.clear() == 0


def test_clearing_removes_what_was_left_unfinished_too(cache: CacheFolder) -> None:
    cache.save("a", [b"x"])
    (cache.folder / ".unfinished-1").write_bytes(b"x" * (BLOCK + 1))
    assert cache.clear() == 3 * BLOCK
    assert list(cache.folder.iterdir()) == []


@pytest.mark.parametrize(
    ("setting", "mib"), [("", DEFAULT_MIB), ("0", 0), ("12", 12), ("-1", DEFAULT_MIB), ("all", DEFAULT_MIB)]
)
def test_the_size_is_a_setting(setting: str, mib: int) -> None:
    assert max_cache_bytes({"CALIB_CACHE_MIB": setting}) == mib * 2**20
    assert max_cache_bytes({}) == DEFAULT_MIB * 2**20
