"""An array is read completely, in blocks, and refused if header and bytes disagree."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import numpy as np
import pytest

from calib_core.errors import Refused
from calib_core.readers.token.arrays import StoredArray
from core.readers.token.array_files import npy


def array(data: bytes) -> StoredArray:
    return StoredArray.from_stream(io.BytesIO(data), len(data), "a.npy", "probs")


def array_with_header(header: str, data: bytes = b"") -> bytes:
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


SHAPED = "{{'descr': '<f8', 'fortran_order': False, 'shape': {}, }}"
VALUES = np.arange(35, dtype=np.float32).reshape(7, 5)


@pytest.mark.parametrize("rows", [1, 3, 7, 100])
@pytest.mark.parametrize("dtype", ["<f2", "<f4", ">f4", "<f8", ">i2", "<u4"])
def test_blocks_are_the_rows_in_order_and_native(rows: int, dtype: str) -> None:
    blocks = list(array(npy(VALUES.astype(dtype))).blocks(rows))
    assert all(len(block) == rows for block in blocks[:-1])
    assert all(block.dtype.isnative for block in blocks)
    together = np.concatenate(blocks)
    assert together.dtype == np.dtype(dtype).newbyteorder("=")
    assert (together == VALUES).all()


def test_a_row_is_as_large_as_its_columns() -> None:
    assert (array(npy(VALUES)).row_bytes, array(npy(VALUES[:, 0].copy())).row_bytes) == (20, 4)


@pytest.mark.parametrize("values", [VALUES, np.asfortranarray(VALUES), np.array("text"), VALUES[0]])
def test_whole_arrays_in_any_order(values: np.ndarray) -> None:
    read = array(npy(values)).read_all()
    assert read.shape == values.shape
    assert (read == values).all()


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_both_versions_of_the_header(version: tuple[int, int]) -> None:
    assert array(npy(VALUES, version=version)).shape == (7, 5)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (npy(VALUES)[:-1], r"has the shape \(7, 5\) of float32 \(140 bytes\), but 139 bytes follow"),
        (npy(VALUES) + b"x", r"but 141 bytes follow"),
        (array_with_header(SHAPED.format("(10**12,)")), "no header that can be read"),
        (array_with_header(SHAPED.format("(10000000,)"), b"\0" * 64), r"80,000,000 bytes.*64 bytes follow"),
        (array_with_header(SHAPED.format("(-3, 4)")), r"which no array can have"),
        (array_with_header("__import__('os').mkdir('RUN')"), "no header that can be read"),
        (array_with_header("(" * 3000), "no header that can be read"),
        (b"\x93NUMPY\x07\x00", "another version"),
        (b"\x93NUM", "no header that can be read"),
        (b"PK nothing of the kind", "no header that can be read"),
        (npy(np.array([{}, 1], dtype=object), allow_pickle=True), r"Python objects \(a pickle\), which are"),
    ],
)
def test_what_is_not_an_array_is_refused(
    data: bytes, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Refused, match=rf"^a.npy: 'probs' .*{message}"):
        array(data)
    assert list(tmp_path.iterdir()) == []


def test_bytes_that_end_early_are_reported_with_their_row() -> None:
    data = npy(VALUES)
    cut = StoredArray.from_stream(io.BytesIO(data[:-25]), len(data), "a.npy", "probs")
    with pytest.raises(Refused, match=r"'probs' ends at row 5 of 7"):
        list(cut.blocks(2))
