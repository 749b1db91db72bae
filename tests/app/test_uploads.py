"""Uploaded files are stored for their session only, and nothing is left of them afterwards."""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
import time
from collections import OrderedDict
from pathlib import Path

import pytest

from calib_core.errors import Refused
from pages.state import uploads
from pages.state.mappings import FileMapping
from pages.state.uploads import FOLDER_PREFIX, LOCK_FILE, SessionUploads


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Temporary files of this test alone, as on a server that has had no upload."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(uploads, "_server_path", None)


def test_only_the_owner_may_enter_the_folder(tmp_path: Path) -> None:
    mine = SessionUploads()
    mine.add("a.csv", b"a")
    (path,) = mine.paths_by_label.values()
    assert path.read_bytes() == b"a"
    assert path.is_relative_to(tmp_path)
    assert [stat.S_IMODE(one.stat().st_mode) for one in (path, path.parent, path.parent.parent)] == [
        0o600,
        0o700,
        0o700,
    ]


@pytest.mark.parametrize(
    "label",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "..",
        ".",
        "",
        ".hidden",
        "a\0b.csv",
        "a\nb",
        "*?[q].csv",
        "\udcff",
        "http://calib.invalid/a.csv",
        "x" * 5000,
        "C:\\a.csv",
        "CON",
        LOCK_FILE,
    ],
)
def test_a_name_from_the_browser_is_only_a_label(label: str, tmp_path: Path) -> None:
    mine = SessionUploads()
    mine.add(label, b"a")
    ((shown, path),) = mine.paths_by_label.items()
    assert len(shown) <= 200
    assert "\0" not in shown
    assert path.parent.parent.parent == tmp_path
    assert path.read_bytes() == b"a"


def test_names_that_differ_in_odd_marks_only_stay_two() -> None:
    mine = SessionUploads()
    mine.add("a b.csv", b"1")
    mine.add("a?b.csv", b"2")
    held = {label: path.read_bytes() for label, path in mine.paths_by_label.items()}
    assert held == {"a b.csv": b"1", "a?b.csv": b"2"}


def test_uploading_the_same_name_replaces_the_file() -> None:
    mine = SessionUploads()
    mine.add("a.csv", b"1")
    mine.add("a.csv", b"22")
    assert [path.read_bytes() for path in mine.paths_by_label.values()] == [b"22"]


def test_a_file_that_was_removed_does_not_come_back() -> None:
    mine = SessionUploads()
    mine.take("1", "a.csv", b"a")
    mine.remove("a.csv")
    mine.take("1", "a.csv", b"a")
    assert not mine


def test_the_newest_are_all_that_came_since_they_were_last_shown() -> None:
    mine = SessionUploads()
    for file_id, label in enumerate(("a.csv", "b.csv")):
        mine.take(str(file_id), label, b"a")
    assert (mine.newest, mine.is_shown) == (["a.csv", "b.csv"], False)
    mine.note_shown()
    assert (mine.newest, mine.is_shown) == (["a.csv", "b.csv"], True)
    mine.take("2", "c.csv", b"a")
    assert (mine.newest, mine.is_shown) == (["c.csv"], False)


def test_a_mapping_set_by_a_late_click_is_not_that_of_the_next_file() -> None:
    mine = SessionUploads()
    mine.add("a.csv", b"a")
    (path,) = mine.paths_by_label.values()
    mine.remove("a.csv")
    mine.mappings.save(path, FileMapping("table"))
    mine.add("a.csv", b"b")
    assert mine.paths_by_label == {"a.csv": path}
    assert mine.mappings.for_files([path]) == {}


def test_companion_files_find_each_other() -> None:
    mine = SessionUploads()
    for label in ("run.probs.npy", "run.target.npy", "alone.csv"):
        mine.add(label, b"a")
    assert set(mine.paths_by_label) == {"run.probs.npy", "alone.csv"}


def test_the_uploads_of_a_session_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MAX_SESSION_BYTES", 10)
    mine = SessionUploads()
    mine.add("a.csv", b"x" * 8)
    mine.add("a.csv", b"x" * 10)
    with pytest.raises(Refused, match=r"b\.csv was not uploaded"):
        mine.add("b.csv", b"x")
    mine.remove("a.csv")
    mine.add("b.csv", b"x" * 10)


def test_a_file_is_kept_without_a_look_at_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Path] = []
    stat_of = Path.stat

    def note(path: Path, **how: bool) -> os.stat_result:
        looked.append(path)
        return stat_of(path, **how)

    mine = SessionUploads()
    mine.add("first.csv", b"a")
    monkeypatch.setattr(Path, "stat", note)
    for number in range(200):
        mine.add(f"{number}.csv", b"a")
    assert len(looked) <= 2 * 200
    assert len(mine.paths_by_label) == 201


def test_nothing_is_left_of_a_closed_session(tmp_path: Path) -> None:
    mine, yours = SessionUploads(), SessionUploads()
    mine.add("a.csv", b"a")
    yours.add("a.csv", b"b")
    mine.results["ece"] = OrderedDict({("ece",): 0.1})
    mine.remove_all()
    assert not mine
    assert mine.results == {}
    assert [path.read_bytes() for path in tmp_path.rglob("a.csv")] == [b"b"]


def test_nothing_is_left_of_a_server(tmp_path: Path) -> None:
    SessionUploads().add("a.csv", b"a")
    uploads.remove_server_folder()
    assert list(tmp_path.iterdir()) == []


def test_a_server_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    def left(name: str, *, lock: bool = True) -> Path:
        folder = tmp_path / f"{FOLDER_PREFIX}{name}"
        folder.mkdir()
        (folder / "a.csv").write_text("a")
        if lock:
            (folder / LOCK_FILE).write_text("")
        return folder

    dead, living = left("dead"), left("living")
    young, old = left("young", lock=False), left("old", lock=False)
    os.utime(old, (0, time.time() - 2 * uploads.UNLOCKED_GRACE_SECONDS))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / f"{FOLDER_PREFIX}link").symlink_to(elsewhere)
    with (living / LOCK_FILE).open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        uploads.remove_abandoned_folders()
    assert [folder.exists() for folder in (living, young, elsewhere)] == [True, True, True]
    assert [folder.exists() for folder in (dead, old)] == [False, False]


def test_a_session_that_reconnects_in_time_keeps_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[bool] = []
    there = [True]

    class Runtime:
        def is_active_session(self, _session: str) -> bool:
            return there[0]

    monkeypatch.setattr(uploads, "exists", lambda: True)
    monkeypatch.setattr(uploads, "get_instance", Runtime)
    monkeypatch.setattr(
        uploads, "_on_disconnect", lambda _hold, *, reconnected=False: waits.append(reconnected)
    )
    mine = SessionUploads()
    mine.add("a.csv", b"a")
    hold = uploads._SessionHold(mine, "s")
    uploads._end_session(hold, reconnected=False)
    assert (bool(mine), waits) == (True, [True])
    there[0] = False
    uploads._end_session(hold, reconnected=True)  # left again just now: one more wait
    assert (bool(mine), waits) == (True, [True, False])
    uploads._end_session(hold, reconnected=False)
    assert not mine
