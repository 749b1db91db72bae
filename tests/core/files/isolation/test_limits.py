"""May a small file cost what a small file can, and a large one more, in memory and in time?"""

from __future__ import annotations

import pytest

from calib_core.files.isolation.limits import MEMORY, MIB, Limits

GIB = 2**30


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MEMORY, raising=False)


def test_a_small_file_stays_within_what_a_bad_one_may_cost() -> None:
    for size in (0, 1000, 10 * MIB):
        limits = Limits.of(size, size)
        assert limits.memory + limits.answer <= 1.2 * GIB
        assert limits.seconds < 10
    limits = Limits.of(0, 0)
    assert limits.memory + limits.answer <= 0.9 * GIB
    assert limits.quiet == limits.seconds == 8.5


def test_a_large_one_may_take_more() -> None:
    limits = Limits.of(GIB, GIB)
    assert limits.memory == 640 * MIB + 4 * GIB + 2 * GIB
    assert limits.seconds == pytest.approx(8.5 + GIB / 1e7)
    assert limits.quiet == pytest.approx(8.5 + GIB / 1e8)
    assert limits.answer == pytest.approx(limits.memory * 0.4, abs=1)


def test_a_hole_has_nothing_in_it_to_unpack() -> None:
    assert Limits.of(GIB, 4096).memory <= 640 * MIB + GIB + 16 * 4096


def test_small_files_may_be_packed_well() -> None:
    assert Limits.of(40 * MIB, 40 * MIB).memory == (640 + 16 * 40) * MIB


def test_a_person_may_say_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MEMORY, "4096")
    assert Limits.of(10, 10).memory == 4 * GIB
    for wrong in ("", "0", "-1", "4 GB", "²", "9" * 40):
        monkeypatch.setenv(MEMORY, wrong)
        assert Limits.of(0, 0).memory == 640 * MIB


def test_an_archive_may_take_the_time_of_what_lies_in_it() -> None:
    packed, plain = (Limits.of(100 * MIB, 100 * MIB, archive=archive) for archive in (True, False))
    assert packed.seconds - 8.5 == pytest.approx(16 * (plain.seconds - 8.5))
    assert packed.quiet - 8.5 == pytest.approx(16 * (plain.quiet - 8.5))
    assert packed.memory == plain.memory
