"""Progress messages appear only while somebody waits, and say what for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import Event
from typing import Any
from unittest.mock import Mock

import pytest
import streamlit as st
from streamlit.elements import spinner

from pages.state.cache import cached_result
from pages.state.progress import (
    DEFAULT_MESSAGE,
    DELAY_SECONDS,
    KINDS_WITH_OWN_PROGRESS,
    MESSAGES,
    progress_bar,
    time,
    waiting_spinner,
    with_progress,
)
from screens import Visit, run


class Bar:
    """Replaces Streamlit's progress bar and keeps its calls."""

    def __init__(self) -> None:
        self.told: list[tuple[float, str]] = []

    def progress(self, share: float, text: str) -> Bar:
        self.told.append((share, text))
        return self

    def empty(self) -> None:
        self.told.append((1.0, "gone"))


@pytest.fixture
def spinner_texts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """Texts of all spinners."""
    found: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr(st, "spinner", lambda text, **more: found.append((text, more)) or nullcontext())
    return found


def test_a_result_is_waited_for_once_with_its_own_sentence(
    folder: Path, visit: Visit, spinner_texts: list[tuple[str, dict[str, Any]]]
) -> None:
    assert folder.is_dir()
    st.cache_resource.clear()
    at = visit("robustness", run="red")
    assert (MESSAGES["sweep"], {"show_time": True}) in spinner_texts
    spinner_texts.clear()
    run(at)
    assert spinner_texts == []


def test_the_result_that_was_used_least_recently_is_computed_again(
    spinner_texts: list[tuple[str, dict[str, Any]]],
) -> None:
    computed: list[int] = []

    def look_at(number: int) -> None:
        cached_result(("numbers", number), lambda: computed.append(number), max_results=2)

    for number in (1, 2, 1, 3, 1, 2):
        look_at(number)
    assert computed == [1, 2, 3, 2]
    assert len(spinner_texts) == 4


def test_sessions_that_want_one_result_wait_for_the_first_of_them(
    spinner_texts: list[tuple[str, dict[str, Any]]],
) -> None:
    computed: list[int] = []
    begun, may_end = Event(), Event()

    def compute() -> int:
        computed.append(1)
        begun.set()
        assert may_end.wait(10)
        return 7

    with ThreadPoolExecutor(3) as sessions:
        first = sessions.submit(cached_result, ("shared", 1), compute)
        assert begun.wait(10)
        others = [sessions.submit(cached_result, ("shared", 1), compute) for _ in range(2)]
        while len(spinner_texts) < 3:  # until both wait
            time.sleep(0.01)
        may_end.set()
        assert [session.result(10) for session in (first, *others)] == [7, 7, 7]
    assert computed == [1]


def test_a_result_that_failed_is_tried_again(spinner_texts: list[tuple[str, dict[str, Any]]]) -> None:
    with pytest.raises(ZeroDivisionError):
        cached_result(("failing", 1), lambda: 1 // 0)
    assert cached_result(("failing", 1), lambda: 5) == 5
    assert len(spinner_texts) == 2


@pytest.mark.parametrize("kind", KINDS_WITH_OWN_PROGRESS)
def test_progress_is_not_reported_twice(kind: str, spinner_texts: list[tuple[str, dict[str, Any]]]) -> None:
    with waiting_spinner(kind):
        assert spinner_texts == []
    with waiting_spinner("something new"):
        assert [text for text, _ in spinner_texts] == [DEFAULT_MESSAGE]
    assert kind not in MESSAGES


def test_progress_over_many_items_counts_those_done(monkeypatch: pytest.MonkeyPatch) -> None:
    bar, now = Bar(), [0.0]
    monkeypatch.setattr(st, "progress", bar.progress)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    seen: list[str] = []
    for one in with_progress("abcd", "Drawing:"):
        seen.append(one)
        now[0] += 0.3
    assert seen == list("abcd")
    assert bar.told == [(0.5, "Drawing: 2 of 4 done …"), (0.75, "Drawing: 3 of 4 done …"), (1.0, "gone")]


def test_a_bar_moves_only_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser draws it anew each time."""
    bar, now = Bar(), [0.0]
    monkeypatch.setattr(st, "progress", bar.progress)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with progress_bar() as show:
        for number in range(18):
            now[0] = number / 16
            show(number / 12, f"{number}")
    assert bar.told == [(5 / 12, "5"), (0.75, "9"), (1.0, "13"), (1.0, "17"), (1.0, "gone")]


def test_a_spinner_shows_the_message_until_there_is_a_bar(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first report of a long computation may be long in coming."""
    bar, now = Bar(), [0.0]

    @contextmanager
    def spinner(text: str, *, show_time: bool) -> Iterator[None]:
        bar.told.append((0.0, f"{text} {show_time}"))
        yield
        bar.told.append((0.0, "no spinner"))

    monkeypatch.setattr(st, "progress", bar.progress)
    monkeypatch.setattr(st, "spinner", spinner)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    spins = [(0.0, "Waiting … True"), (0.0, "no spinner")]
    with progress_bar("Waiting …") as show:
        show(0.1, "too early")
        assert bar.told == spins[:1]
        now[0] = 1.0
        show(0.5, "half")
        now[0] = 2.0
        show(0.6, "more")
    assert bar.told == [*spins, (0.5, "half"), (0.6, "more"), (1.0, "gone")]
    bar.told.clear()
    with progress_bar("Waiting …"):
        assert bar.told == spins[:1]
    assert bar.told == spins


def test_quick_work_shows_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    bar = Bar()
    monkeypatch.setattr(st, "progress", bar.progress)
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    assert list(with_progress("abc", "Drawing:")) == list("abc")
    assert bar.told == []


def test_a_person_is_told_within_a_third_of_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    delays: list[float] = []
    monkeypatch.setattr(threading, "Timer", lambda delay, _act: delays.append(delay) or Mock())
    monkeypatch.setattr(spinner, "add_script_run_ctx", lambda _timer: None)
    monkeypatch.setattr(st._main, "_transient", lambda *_, **__: (Mock(), Mock()), raising=False)
    monkeypatch.setattr(spinner, "enqueue_message", lambda _message: None)
    with waiting_spinner("sweep"):
        pass
    assert delays == [DELAY_SECONDS]
    assert DELAY_SECONDS <= 1 / 3
