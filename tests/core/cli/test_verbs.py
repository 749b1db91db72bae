"""A verb is imported when it is called, and not before."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from app_server import ROOT
from calib_core.__main__ import VERBS

HEAVY = ("numpy", "pandas", "plotly", "polars", "pyarrow", "rich", "scipy", "starlette", "streamlit")


@pytest.mark.parametrize("words", ["", "--help", "chek", "app --help", "cache --help"])
def test_what_computes_nothing_loads_no_library(words: str) -> None:
    code = (
        f"import sys; from calib_core.__main__ import main; main({words.split()!r});"
        f"sys.exit(str(sorted(set({HEAVY!r}) & set(sys.modules))))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == "[]"


def test_the_list_of_verbs_says_what_each_says_of_itself() -> None:
    for name, verb in VERBS.items():
        module, function = verb.function
        found = getattr(import_module(module), function)
        assert found.__name__ == name
        assert " ".join((found.__doc__ or "").split("\n\n")[0].split()) == " ".join(verb.summary.split())
