"""Shared fixtures of the core tests: the command line, called within the test process, and its words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from calib_core.advice import current_surface, set_surface
from core.cli_calls import Call, make_caller


@pytest.fixture(autouse=True)
def surface_restored() -> Iterator[None]:
    """A test may have messages worded for another surface; the next test has them as it would alone."""
    before = current_surface()
    yield
    set_surface(before)


@pytest.fixture
def for_command_line() -> None:
    """Messages are worded as for the command line, also those of what the test calls itself."""
    set_surface("command line")


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """`call("score", path, "--json")` → exit code, stdout and stderr."""
    return make_caller(capsys)
