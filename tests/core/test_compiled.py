"""Where compiled functions come from: this process, another one, or NumPy."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from calib_core import compiled as compiled_module
from calib_core.compiled import compiled_version, load

MODULE = """
from calib_core.compiled import compiled

@compiled
def twice(numbers):
    return numbers * 2
"""


def twice(numbers: np.ndarray) -> np.ndarray:
    return numbers + numbers


@pytest.mark.parametrize("compiles", [True, False])
def test_a_process_that_may_not_compile_asks_another_one(
    compiles: bool,  # noqa: FBT001
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = f"compiled_twice_{compiles}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    asked: list[str] = []

    def ask(what: str) -> None:
        asked.append(what)
        if compiles:
            program = (
                f"import sys; sys.path[:0] = {sys.path}; import numpy, {name}; {name}.twice(numpy.ones(1))"
            )
            subprocess.run([sys.executable, "-c", program], check=True)

    def found() -> Callable[..., np.ndarray]:
        return compiled_version(twice, name, lambda function: function(np.ones(1)))

    monkeypatch.setattr(compiled_module._Process, "ask", staticmethod(ask))
    assert found() is twice
    assert load("it", lambda: found() is not twice) == compiles
    assert asked == ["it"]
    assert (found() is twice) == (not compiles)
    assert not list(tmp_path.glob("__pycache__/*.nbc")) or compiles
    monkeypatch.setattr(compiled_module._Process, "ask", None)
    assert found() is not twice
    assert load("it", lambda: False) is False
    assert asked == ["it"]


def test_without_numba_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calib_core.compiled.find_spec", lambda _: None)
    monkeypatch.setattr(compiled_module._Process, "ask", staticmethod(pytest.fail))
    assert not load("it", lambda: True)
    assert not compiled_module.is_kept()
