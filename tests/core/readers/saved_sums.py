"""Builders of saved sums: a run, written and read in one line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calib_core import readers
from calib_core.readers.token.sums import write_sums
from calib_core.runs import RowCounts, RunInfo, TokenRun
from calib_core.tokens.dense import DenseReducer
from calib_core.tokens.sums import TokenSums
from core.readers.token.array_files import distributions


def make_sums(
    rows: int = 40,
    classes: int = 12,
    seed: int = 0,
    text: NDArray[np.int64] | None = None,
    **options: Any,
) -> TokenSums:
    """The sums of random distributions."""
    reducer = DenseReducer(classes, **options)
    reducer.add(*distributions(rows, classes, seed), text)
    return reducer.result()


def make_run(**options: Any) -> TokenRun:
    """A run with every field of its info."""
    info = RunInfo("tiny", shots=0, checkpoint="step1", params_b=0.1, temperature=1 / 3, tokens_seen=2**40)
    ledger = RowCounts(41, 1, MappingProxyType({"probs": 2}), 3, ("One.", "Two."))
    return replace(TokenRun("a.npz", "npz", "tiny · step1", info, make_sums(), ledger), **options)


def save_runs(folder: Path, *runs: TokenRun) -> Path:
    """A file of these runs."""
    path = folder / "all.parquet"
    write_sums(runs, path)
    return path


def read_runs(path: Path) -> tuple[TokenRun, ...]:
    """The runs of a file of sums."""
    runs = readers.read(path).runs(skip_bad_rows=False)
    assert all(isinstance(run, TokenRun) for run in runs)
    return tuple(run for run in runs if isinstance(run, TokenRun))
