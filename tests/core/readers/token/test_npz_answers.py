"""An archive with one row per question is read as a table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from calib_core import readers
from calib_core.errors import Refused
from calib_core.readers.format import ReadOptions
from calib_core.readers.token import npz as npz_reader
from calib_core.runs import AnswerRun
from core.readers.token.array_files import npy, npz, zipped

PROBS = np.array([[0.7, 0.1, 0.1, 0.1], [0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])
GOLD = np.array([0, 1, 3])


def read_rows(path: Path, columns: Mapping[str, str] | None = None) -> pl.DataFrame:
    (run,) = readers.read(path, options=ReadOptions(columns or {})).runs(skip_bad_rows=False)
    assert isinstance(run, AnswerRun)
    assert run.format == "npz"
    return run.rows


@pytest.mark.parametrize(
    ("probs", "gold"),
    [
        (PROBS, GOLD),
        (PROBS.astype(">f8"), GOLD.astype(">i4")),
        (np.asfortranarray(PROBS), GOLD.astype(float)),
        (PROBS, np.array(["A", "B", "D"])),
    ],
)
def test_probabilities_and_the_right_choice(tmp_path: Path, probs: np.ndarray, gold: np.ndarray) -> None:
    rows = read_rows(npz(tmp_path / "a.npz", probs=probs, gold=gold))
    assert rows["choice_probs"].to_list() == PROBS.tolist()
    assert rows["gold_index"].to_list() == [0, 1, 3]


@pytest.mark.parametrize(
    ("name", "column", "shift"),
    [
        ("logprobs", "choice_logprobs", 0),
        ("choice_logprobs", "choice_logprobs", 0),
        ("logits", "choice_logits", 5),
    ],
)
def test_log_probabilities_and_logits(tmp_path: Path, name: str, column: str, shift: float) -> None:
    arrays: dict[str, Any] = {name: np.log(PROBS) + shift, "gold": GOLD}
    rows = read_rows(npz(tmp_path / "a.npz", **arrays))
    assert rows[column].to_list() == (np.log(PROBS) + shift).tolist()


def test_the_stored_dtype_is_kept(tmp_path: Path) -> None:
    rows = read_rows(npz(tmp_path / "a.npz", probs=PROBS.astype(np.float32), gold=GOLD))
    assert rows["choice_probs"].dtype == pl.List(pl.Float32)


def test_columns_without_choices(tmp_path: Path) -> None:
    right = np.array([True, False])
    path = npz(tmp_path / "a.npz", confidence=np.array([0.9, 0.2]), correct=right, x=np.ones((2, 2, 2)))
    assert read_rows(path)["correct"].to_list() == [True, False]
    assert readers.read(path).unused_columns == ("x",)


def test_labels_are_gold_once_mapped(tmp_path: Path) -> None:
    path = npz(tmp_path / "a.npz", probs=PROBS, labels=GOLD)
    assert read_rows(path, columns={"labels": "gold"})["gold_index"].to_list() == [0, 1, 3]


def test_bad_rows_are_told_by_the_array(tmp_path: Path) -> None:
    probs = PROBS.copy()
    probs[1] = np.nan
    reading = readers.read(npz(tmp_path / "a.npz", probs=probs, gold=np.array([0, 1, 9])))
    places = sorted((cell.row, cell.column) for problem in reading.problems for cell in problem.first_cells)
    assert (reading.n_rows, reading.n_bad_rows, places) == (3, 2, [(2, "probs"), (3, "gold")])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"probs": PROBS, "gold": GOLD[:2]}, r"'probs' has 3 rows and 'gold' has 2"),
        ({"probs": PROBS.astype(complex), "gold": GOLD}, "'probs' holds complex128, but numbers or text"),
        ({"probs": PROBS.astype(np.longdouble), "gold": GOLD}, "'probs' holds float128, but numbers or text"),
        ({"probs": PROBS, "gold": np.array(1)}, r"'gold' has the shape \(\), but one value or one list"),
        ({"probs": PROBS[:0], "gold": GOLD[:0]}, "but no rows"),
        ({"probs": PROBS, "gold": GOLD.astype("S1")}, r"'gold' holds \|S1"),
    ],
)
def test_what_is_not_a_table_is_refused(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused, match=rf"^a.npz.*{message}"):
        readers.read(npz(tmp_path / "a.npz", **arrays))


def test_arrays_too_large_to_keep_are_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npz_reader, "MAX_ANSWER_BYTES", 100)
    path = zipped(tmp_path / "a.npz", {"probs.npy": npy(PROBS), "gold.npy": npy(GOLD)})
    with pytest.raises(Refused, match=r"at most 0 MiB are read.*name the right classes target"):
        readers.read_in_this_process(path, file="a.npz")
