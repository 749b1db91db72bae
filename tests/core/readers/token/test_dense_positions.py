"""Arrays of distributions are read in blocks, checked, and bad positions reported."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from calib_core.errors import BadRowsFound, Refused
from calib_core.readers.format import Reading
from calib_core.readers.table.run_split import Origin
from calib_core.readers.token import arrays, npz
from calib_core.readers.token.arrays import StoredArray
from calib_core.readers.token.npz import DensePositions, read_dense_positions
from calib_core.runs import RunInfo, TokenRun
from calib_core.tokens.scales import ProbabilityScale
from core.readers.token.array_files import PROBS, TARGET, distributions, npy


def stored_array(values: Any, name: str) -> StoredArray:
    data = npy(values)
    return StoredArray.from_stream(io.BytesIO(data), len(data), "a.npz", name)


def make_positions(values: Any, target: Any, scale: ProbabilityScale = "probs") -> DensePositions:
    origin = Origin("a.npz", "npz", RunInfo(model="tiny"))
    return DensePositions(
        stored_array(values, scale), stored_array(target, "target"), scale, origin, "a", (scale, "target")
    )


def read_positions(values: Any, target: Any, scale: ProbabilityScale = "probs") -> Reading:
    return read_dense_positions(make_positions(values, target, scale), lambda _share, _text: None)


def run_of(reading: Reading) -> TokenRun:
    (run,) = reading.good_runs
    assert isinstance(run, TokenRun)
    return run


def test_a_run_of_all_positions() -> None:
    reading = read_positions(PROBS, TARGET)
    run = run_of(reading)
    assert (reading.n_rows, reading.n_bad_rows, reading.format, run.label) == (4, 0, "npz", "tiny")
    assert (run.sums.n_rows, run.sums.n_classes, run.n_total) == (4, 4, 4)
    assert run.sums.occurrences.tolist() == [1, 1, 1, 1]
    assert run.sums.top_label.n_correct == 2
    assert run.sums.all_labels.n_pairs == 16


def test_bad_positions_are_told_with_row_and_reason() -> None:
    probs, target = PROBS.copy(), TARGET.copy()
    probs[1] *= 1.1
    probs[2, 3] = np.nan
    target[3] = 4
    reading = read_positions(probs, target)
    cells = [cell for problem in reading.problems for cell in problem.first_cells]
    assert sorted((cell.row, cell.column) for cell in cells) == [(2, "probs"), (3, "probs"), (4, "target")]
    assert {cell.file for cell in cells} == {"a.npz"}
    assert all(cell.expected and cell.found and cell.fix for cell in cells)
    assert [cell.found for cell in cells if cell.column == "target"] == ["4"]
    with pytest.raises(BadRowsFound, match="3 of 4 rows are bad"):
        reading.runs(skip_bad_rows=False)
    ledger = run_of(reading).row_counts
    assert (ledger.n_rows, ledger.n_left_out, run_of(reading).sums.n_rows) == (4, 3, 1)


def test_padding_is_neither_a_position_nor_a_fault() -> None:
    reading = read_positions(PROBS, np.array([0, -100, 3, -100]))
    run = run_of(reading)
    assert (reading.n_rows, reading.n_bad_rows, run.row_counts.n_rows, run.sums.n_rows) == (4, 0, 2, 2)
    assert any("2 targets are −100" in note for note in run.row_counts.notes)


def test_row_counts_include_clipped_values_and_inexact_sums() -> None:
    probs = PROBS.astype(np.float64)
    probs[0] = [0.7, 0.3 + 5e-7, 0.0, -5e-7]
    probs[1] *= 1.0005
    ledger = run_of(read_positions(probs, TARGET)).row_counts
    assert dict(ledger.clipped) == {"probs": 1}
    assert ledger.n_inexact_sums == 1


@pytest.mark.parametrize("scale", ["logprobs", "logits"])
def test_other_scales_are_the_same_distributions(scale: ProbabilityScale) -> None:
    values = np.log(PROBS.astype(np.float64)) + (2.0 if scale == "logits" else 0.0)
    sums, same = (
        run_of(read_positions(values, TARGET, scale)).sums,
        run_of(read_positions(PROBS, TARGET)).sums,
    )
    assert sums.all_labels.log_loss_sum == pytest.approx(same.all_labels.log_loss_sum, abs=1e-6)
    assert sums.top_label.confidence_sum == pytest.approx(same.top_label.confidence_sum, abs=1e-6)


def test_logits_called_logprobs_are_bad_and_logprobs_called_logits_are_not() -> None:
    logprobs = np.log(PROBS.astype(np.float64))
    with pytest.raises(Refused, match="all 4 positions are bad"):
        read_positions(logprobs + 2.0, TARGET, "logprobs")
    assert read_positions(logprobs, TARGET, "logits").n_bad_rows == 0


def test_the_size_of_blocks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    probs, target = distributions(50, 30)
    probs[7, 0], target[33] = 2.0, 30
    whole = read_positions(probs, target)
    monkeypatch.setattr(npz, "BLOCK_BYTES", 30 * 4 * 3)
    parts = read_positions(probs, target)
    assert parts.problems == whole.problems
    assert [cell.row for problem in parts.problems for cell in problem.first_cells] == [8, 34]
    one, other = run_of(parts).sums, run_of(whole).sums
    for name in ("cell", "count", "correct"):
        assert (getattr(one.all_labels, name) == getattr(other.all_labels, name)).all()
    assert one.draws is not None
    assert other.draws is not None
    assert (one.draws.all_labels == other.draws.all_labels).all()


def test_many_rows_are_read_in_whole_blocks_of_the_reducer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few left over would take nearly as long as a block."""
    monkeypatch.setattr(npz, "BLOCK_BYTES", 30 * 4 * 150)
    shares: list[float] = []
    probs, target = distributions(320, 30)
    read_dense_positions(make_positions(probs, target), lambda share, _text: shares.append(share))
    assert shares[:-1] == [128 / 320, 256 / 320, 1.0]


def test_progress_is_reported_after_every_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npz, "BLOCK_BYTES", 4 * 4)
    told: list[float] = []
    read_dense_positions(make_positions(PROBS, TARGET), lambda share, _text: told.append(share))
    assert told == [0.25, 0.5, 0.75, 1.0, 1.0]


def test_a_file_whose_beginning_is_all_bad_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npz, "BLOCK_BYTES", 4 * 4)
    monkeypatch.setattr(npz, "MAX_ALL_BAD_BYTES", 2 * 4 * 4)
    with pytest.raises(Refused, match=r"the first 2 positions are all bad, and no more were read.*\n.*row 1"):
        read_positions(PROBS + 1, TARGET)
    probs = PROBS.copy()
    probs[:3] += 1
    monkeypatch.setattr(npz, "MAX_ALL_BAD_BYTES", 4 * 4 * 4)
    assert read_positions(probs, TARGET).n_bad_rows == 3


def test_targets_one_position_off_are_remarked_on() -> None:
    probs, target = distributions(60, 200)
    notes = read_positions(probs[1:], target[:-1]).notes
    assert any("one position apart" in note for note in notes)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (PROBS[0], r"has the shape \(4,\), but one row per position"),
        (PROBS.reshape(2, 2, 4), r"has the shape \(2, 2, 4\).*Save probs.reshape\(-1, 4\)"),
        (PROBS.astype(complex), "holds complex numbers, but float16"),
        (PROBS.astype(int), "holds int64, but float16"),
        (PROBS.view(np.uint16), "holds uint16 .perhaps bfloat16, which NumPy does not have: save it as"),
        (PROBS.astype(np.float16).view("V2"), "perhaps bfloat16"),
        (PROBS.astype(np.longdouble), "holds float128, but"),
        (np.zeros((4, 4), [("a", "f8")]), "holds records of several fields"),
        (np.asfortranarray(PROBS), r"Fortran order.*numpy.ascontiguousarray\(probs\)"),
        (PROBS[:, :1].copy(), r"has 1 classes"),
        (np.zeros((0, 4)), r"holds no positions"),
    ],
)
def test_values_that_are_not_distributions(values: Any, message: str) -> None:
    with pytest.raises(Refused, match=rf"^a.npz: 'probs' {message}|^a.npz: 'probs' .*{message}"):
        make_positions(values, TARGET)


def test_too_many_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npz, "MAX_TOKEN_CLASSES", 3)
    with pytest.raises(Refused, match=r"has 4 classes .*2 to 3 are expected. Perhaps rows and columns"):
        make_positions(PROBS, TARGET)
    assert arrays.MAX_TOKEN_CLASSES == 2**20


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (TARGET.astype(float), r"holds float64, but whole numbers.*target.astype\('int64'\)"),
        (TARGET[:3], r"has the shape \(3,\), but one class for each of the 4 positions"),
        (TARGET.reshape(4, 1), r"has the shape \(4, 1\)"),
        (TARGET > 1, "holds bool"),
    ],
)
def test_targets_that_are_not_classes(target: Any, message: str) -> None:
    with pytest.raises(Refused, match=rf"^a.npz: 'target' {message}"):
        make_positions(PROBS, target)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint64", ">i4"])
def test_whole_numbers_of_any_size(dtype: str) -> None:
    assert run_of(read_positions(PROBS, TARGET.astype(dtype))).sums.occurrences.tolist() == [1, 1, 1, 1]


def test_a_target_beyond_int64_is_bad_and_no_padding() -> None:
    target = TARGET.astype(np.uint64)
    target[0] = 2**64 - 100  # the bits of −100
    reading = read_positions(PROBS, target)
    assert (reading.n_bad_rows, run_of(reading).row_counts.n_rows) == (1, 4)
