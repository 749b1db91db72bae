"""What do the tests of the core share: the command line, called within the test?"""

from __future__ import annotations

import pytest

from core.cli_words import Call, caller


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """`call("score", path, "--json")` → exit code, stdout and stderr."""
    return caller(capsys)
