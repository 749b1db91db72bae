"""Limits of memory and time by the size of a file."""

from __future__ import annotations

import os

import pytest

from calib_core.readers.sandbox.limits import MEMORY_VARIABLE, MIB, Limits

GIB = 2**30


@pytest.fixture(autouse=True)
def without_memory_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MEMORY_VARIABLE, raising=False)


@pytest.fixture(autouse=True)
def idle_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests say how much else the machine has to do."""
    monkeypatch.setattr(os, "getloadavg", lambda: (0.3, 9.0, 9.0))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)


@pytest.mark.parametrize(("load", "factor"), [(1.9, 1.0), (2.0, 1.0), (5.0, 2.5), (16.0, 8.0), (90.0, 8.0)])
def test_a_machine_with_other_work_gets_more_time(
    load: float, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    idle = Limits.for_file(GIB, GIB, is_archive=True)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    busy = Limits.for_file(GIB, GIB, is_archive=True)
    assert busy.idle_seconds == pytest.approx(factor * idle.idle_seconds)
    assert busy.total_seconds == pytest.approx(factor * idle.total_seconds)
    assert (busy.memory_bytes, busy.answer_bytes) == (idle.memory_bytes, idle.answer_bytes)


def test_a_system_that_does_not_count_its_load_is_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "getloadavg")
    assert Limits.for_file(0, 0).total_seconds == 8.5


def test_a_small_file_gets_the_smallest_limits() -> None:
    for size in (0, 1000, 10 * MIB):
        limits = Limits.for_file(size, size)
        assert limits.memory_bytes + limits.answer_bytes <= 1.2 * GIB
        assert limits.total_seconds < 10
    limits = Limits.for_file(0, 0)
    assert limits.memory_bytes + limits.answer_bytes <= 0.9 * GIB
    assert limits.idle_seconds == limits.total_seconds == 8.5


def test_a_large_file_may_use_more() -> None:
    limits = Limits.for_file(GIB, GIB)
    assert limits.memory_bytes == 640 * MIB + 4 * GIB + 2 * GIB
    assert limits.total_seconds == pytest.approx(8.5 + GIB / 1e7)
    assert limits.idle_seconds == pytest.approx(8.5 + GIB / 1e8)
    assert limits.answer_bytes == pytest.approx(limits.memory_bytes * 0.4, abs=1)


def test_a_sparse_file_needs_no_room_for_unpacking() -> None:
    assert Limits.for_file(GIB, 4096).memory_bytes <= 640 * MIB + GIB + 16 * 4096


def test_small_files_may_be_packed_well() -> None:
    assert Limits.for_file(40 * MIB, 40 * MIB).memory_bytes == (640 + 16 * 40) * MIB


def test_the_limit_can_be_set_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MEMORY_VARIABLE, "4096")
    assert Limits.for_file(10, 10).memory_bytes == 4 * GIB
    for wrong in ("", "0", "-1", "4 GB", "²", "9" * 40):
        monkeypatch.setenv(MEMORY_VARIABLE, wrong)
        assert Limits.for_file(0, 0).memory_bytes == 640 * MIB


def test_an_archive_may_take_the_time_of_what_lies_in_it() -> None:
    packed, plain = (Limits.for_file(100 * MIB, 100 * MIB, is_archive=archive) for archive in (True, False))
    assert packed.total_seconds - 8.5 == pytest.approx(16 * (plain.total_seconds - 8.5))
    assert packed.idle_seconds - 8.5 == pytest.approx(16 * (plain.idle_seconds - 8.5))
    assert packed.memory_bytes == plain.memory_bytes
