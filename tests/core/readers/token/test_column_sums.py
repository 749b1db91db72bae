"""Column sums are read from the companion of a top-k file, and from nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from calib_core.api import load, score
from calib_core.errors import Refused, Unavailable
from calib_core.readers.folder import list_files
from calib_core.tokens.topk import CLASS_SUMS_MISMATCH

FULL = np.array([[0.6, 0.2, 0.15, 0.05], [0.5, 0.3, 0.1, 0.1]])


def write_column_sums(folder: Path, name: object = "x.columns.npy", rows: int = 2) -> Path:
    told = {"format": "calib-tokens", "version": 1, "vocab_size": 4, "column_sums": name}
    lines = [json.dumps({"calib": told})]
    lines += [
        json.dumps({"target": right, "top_ids": [0, 1], "top_logprobs": np.log(FULL[right, :2]).tolist()})
        for right in range(rows)
    ]
    path = folder / "x.tokens.jsonl"
    path.write_text("\n".join(lines))
    return path


def test_classwise_ece_is_that_of_the_whole_distributions(tmp_path: Path) -> None:
    np.save(tmp_path / "x.columns.npy", FULL.sum(axis=0))
    (run,) = load(write_column_sums(tmp_path))
    # M = 5: (0.4, 0.6] holds .6 and .5 of class 0, (.2, .4] .3 of class 1, all else lies in the first bin.
    gaps = abs(1 - 1.1) + abs(1 - 0.3) + abs(0 - 0.2) + 0.25 + 0.15
    assert score(run, method="tokens", metric="cw_ece", bins=5).value == pytest.approx(gaps / 8, abs=1e-12)
    with pytest.raises(Unavailable, match="exact up to M = 5"):
        score(run, method="tokens", metric="cw_ece", bins=10)


def test_the_sums_are_not_a_file_of_their_own(tmp_path: Path) -> None:
    np.save(tmp_path / "x.columns.npy", FULL.sum(axis=0))
    path = write_column_sums(tmp_path)
    assert list_files(tmp_path) == (path,)


def test_sums_of_more_positions_give_the_reason(tmp_path: Path) -> None:
    np.save(tmp_path / "x.columns.npy", FULL.sum(axis=0))
    (run,) = load(write_column_sums(tmp_path, rows=1))
    with pytest.raises(Unavailable) as reason:
        score(run, method="tokens", metric="cw_ece")
    assert str(reason.value) == CLASS_SUMS_MISMATCH


@pytest.mark.parametrize("name", ["../x.columns.npy", "/x/x.columns.npy", "x.npy", 7, "sub/x.columns.npy"])
def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, name: object) -> None:
    with pytest.raises(Refused, match=r"is the name of a file beside it that ends in \.columns\.npy"):
        load(write_column_sums(tmp_path, name))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="no such file lies beside it"):
        load(write_column_sums(tmp_path))


@pytest.mark.parametrize(
    ("sums", "message"),
    [
        (np.ones(3), "one sum per class is expected"),
        (np.ones(4, np.int64), "one sum per class is expected"),
        (np.ones((2, 2)), "one sum per class is expected"),
        (np.array([1, 1, np.nan, 1]), "finite and not below 0"),
        (np.array([1, 1, -1.0, 1]), "finite and not below 0"),
    ],
)
def test_a_file_without_sums_is_refused(tmp_path: Path, sums: np.ndarray, message: str) -> None:
    np.save(tmp_path / "x.columns.npy", sums)
    with pytest.raises(Refused, match=message):
        load(write_column_sums(tmp_path))
