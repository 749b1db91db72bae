"""A file of sums that was altered, cut or damaged is refused, never misread."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from calib_core import readers
from calib_core.errors import Refused
from calib_core.readers.token import sums_digest
from calib_core.readers.token.sums import write_sums
from core.readers.saved_sums import make_run, make_sums, read_runs, save_runs


def alter_file(path: Path, change: Callable[[dict[str, Any], pl.DataFrame], pl.DataFrame]) -> None:
    """Writes the file again with a new digest, after a change of its metadata (in place) or table."""
    metadata = json.loads(pl.read_parquet_metadata(io.BytesIO(path.read_bytes()))["calib"])
    frame = change(metadata, pl.read_parquet(io.BytesIO(path.read_bytes())))
    buffer = io.BytesIO()
    metadata = {name: metadata[name] for name in metadata if name != sums_digest.DIGEST_KEY} | {
        sums_digest.DIGEST_KEY: sums_digest.BLANK_DIGEST
    }
    frame.write_parquet(buffer, metadata={"calib": json.dumps(metadata)})
    path.write_bytes(sums_digest.with_digest(buffer.getvalue()))


def test_a_file_written_again_by_another_program_is_refused(tmp_path: Path) -> None:
    path = save_runs(tmp_path, make_run())
    again = io.BytesIO()
    metadata = pl.read_parquet_metadata(io.BytesIO(path.read_bytes()))["calib"]
    pl.read_parquet(io.BytesIO(path.read_bytes())).write_parquet(again, metadata={"calib": metadata})
    path.write_bytes(again.getvalue())
    with pytest.raises(Refused, match=r"all.parquet holds saved sums that are not as they were written"):
        readers.read(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda frame: frame.with_columns(run=pl.col("run") + 1),
            "pairs do not add up|cells belong to no run",
        ),
        (
            lambda frame: pl.concat([frame, frame.with_columns(run=pl.lit(7, pl.Int32))]),
            "cells belong to no run",
        ),
        (lambda frame: frame.drop("squared"), "its columns are not those it was written with"),
        (lambda frame: frame.with_columns(count=pl.col("count") + 1), "pairs do not add up"),
        (
            lambda frame: frame.with_columns(cell=3000),
            "its columns are not those it was written with|out of range",
        ),
        (lambda frame: frame.head(0), "pairs do not add up"),
        (lambda frame: pl.concat([frame, frame]), "in order|add up"),
    ],
)
def test_impossible_sums_are_refused_whatever_the_digest(
    tmp_path: Path, change: Callable[[pl.DataFrame], pl.DataFrame], message: str
) -> None:
    path = save_runs(tmp_path, make_run())
    alter_file(path, lambda _, frame: change(frame))
    with pytest.raises(Refused, match=rf"^all.parquet: the sums in it cannot be used \(.*(?:{message}).*\):"):
        readers.read(path)
    write_sums([make_run()], path)
    alter_file(path, lambda _, frame: frame)
    assert len(read_runs(path)) == 1


@pytest.mark.parametrize("key", ["rows", "excess", "label", "info", "ledger", "examples", "top", "draws"])
def test_metadata_that_lacks_something_is_refused(tmp_path: Path, key: str) -> None:
    path = save_runs(tmp_path, make_run())

    def change(metadata: dict[str, Any], frame: pl.DataFrame) -> pl.DataFrame:
        del metadata["runs"][0][key]
        return frame

    alter_file(path, change)
    with pytest.raises(Refused, match="cannot be used"):
        readers.read(path)


def test_another_version_is_refused_by_name(tmp_path: Path) -> None:
    path = save_runs(tmp_path, make_run())
    alter_file(path, lambda metadata, frame: metadata.update(version=3) or frame)
    with pytest.raises(
        Refused, match=r"sums of version 3, but this version of the program reads versions up to 2"
    ):
        readers.read(path)


@pytest.mark.parametrize("runs", [None, [], 3, [[]], [{}], "x"])
def test_metadata_of_another_form_is_refused(tmp_path: Path, runs: object) -> None:
    path = save_runs(tmp_path, make_run())
    alter_file(path, lambda metadata, frame: metadata.update(runs=runs) or frame)
    with pytest.raises(Refused, match="cannot be used"):
        readers.read(path)


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.99])
def test_a_cut_file_is_refused(tmp_path: Path, kept: float) -> None:
    path = save_runs(tmp_path, make_run())
    data = path.read_bytes()
    path.write_bytes(data[: int(kept * len(data))])
    with pytest.raises(Refused, match=r"^all.parquet"):
        readers.read(path)


def test_a_byte_changed_anywhere_is_refused_before_the_file_is_opened(tmp_path: Path) -> None:
    path = save_runs(tmp_path, make_run(sums=make_sums(rows=5, classes=4, draws=False)))
    data = path.read_bytes()
    for at in range(0, len(data), max(1, len(data) // 150)):
        changed = bytearray(data)
        changed[at] ^= 0x41
        path.write_bytes(changed)
        with pytest.raises(Refused):
            readers.read(path)
