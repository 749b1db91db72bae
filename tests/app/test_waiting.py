"""Is a person who waits told what for, and only then?"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from pages.state.progress import (
    DEFAULT_MESSAGE,
    KINDS_WITH_OWN_PROGRESS,
    MESSAGES,
    time,
    waiting_spinner,
    with_progress,
)
from screens import Visit, run


class Bar:
    """Stands in for Streamlit's: keeps what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[float, str]] = []

    def progress(self, share: float, text: str) -> Bar:
        self.told.append((share, text))
        return self

    def empty(self) -> None:
        self.told.append((1.0, "gone"))


@pytest.fixture
def spun(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """The sentences beside a turning wheel."""
    found: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr(st, "spinner", lambda text, **more: found.append((text, more)) or nullcontext())
    return found


def test_a_result_is_waited_for_once_with_its_own_sentence(
    folder: Path, visit: Visit, spun: list[tuple[str, dict[str, Any]]]
) -> None:
    assert folder.is_dir()
    st.cache_resource.clear()
    at = visit("robustness", run="red")
    assert (MESSAGES["sweep"], {"show_time": True}) in spun
    spun.clear()
    run(at)
    assert spun == []


@pytest.mark.parametrize("kind", KINDS_WITH_OWN_PROGRESS)
def test_nobody_tells_twice(kind: str, spun: list[tuple[str, dict[str, Any]]]) -> None:
    with waiting_spinner(kind):
        assert spun == []
    with waiting_spinner("something new"):
        assert [text for text, _ in spun] == [DEFAULT_MESSAGE]
    assert kind not in MESSAGES


def test_of_many_it_is_told_how_many_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    bar, now = Bar(), [0.0]
    monkeypatch.setattr(st, "progress", bar.progress)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    seen: list[str] = []
    for one in with_progress("abcd", "Drawing:"):
        seen.append(one)
        now[0] += 0.3
    assert seen == list("abcd")
    assert bar.told == [(0.5, "Drawing: 2 of 4 done …"), (0.75, "Drawing: 3 of 4 done …"), (1.0, "gone")]


def test_what_is_done_at_once_is_not_spoken_of(monkeypatch: pytest.MonkeyPatch) -> None:
    bar = Bar()
    monkeypatch.setattr(st, "progress", bar.progress)
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    assert list(with_progress("abc", "Drawing:")) == list("abc")
    assert bar.told == []
