"""The families `npz_files`, `parquet_files` and `zips`: file name → content."""

from __future__ import annotations

import stat
from typing import Any

import numpy as np
import polars as pl

from hostile.forge.archives import packed_member, zip_bytes, zstd
from hostile.forge.arrays import Mkdir, npy, npy_claiming, npz
from hostile.forge.parquet import parquet, polars_parquet
from hostile.forge.records import EXTRA, LOG
from hostile.forge.rows import COLUMNS, DISTRIBUTIONS


def npz_files() -> dict[str, bytes]:
    """Arrays that lie about their shape, run code, or mean something else than they seem to."""
    probs, gold = np.array([row[:4] for row in DISTRIBUTIONS]), np.array([0, 1, 3])
    four = np.vstack([probs, probs[:1]])
    huge = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
    objects = npy(np.array([[0.7, 0.3], Mkdir()], dtype=object), allow_pickle=True)
    return {
        "objects.npz": npz(objects, gold),
        "lying_shape.npz": npz(npy_claiming(huge, b"\0" * 64), gold),
        "short.npz": npz(npy(probs)[:-8], gold),
        "negative.npz": npz(npy_claiming(huge.replace("1000", "-1000")), gold),
        "lengths.npz": npz(probs, gold[:2]),
        "code_header.npz": npz(npy_claiming("__import__('os').mkdir('PICKLE_WAS_RUN')"), gold),
        "one_dim.npz": npz(probs[0], gold),
        "no_probs.npz": zip_bytes([{"name": "x.npy", "data": npy(probs)}]),
        "complex.npz": npz(probs + 0j, gold),
        "structured.npz": npz(np.zeros(3, [("a", "f8")]), gold),
        "traversal.npz": npz(probs, gold, **{"../../outside/pwned": probs}),
        "bad_crc.npz": zip_bytes(
            [
                {"name": "probs.npy", "data": npy(probs), "crc": 1},
                {"name": "gold.npy", "data": npy(gold)},
            ]
        ),
        "big_endian.npz": npz(probs.astype(">f8"), gold.astype(">i4")),
        "fortran.npz": npz(np.asfortranarray(probs), gold),
        "extra.npz": npz(probs, gold, hidden=np.zeros((3, 9))),
        "float_gold.npz": npz(probs, gold.astype(float)),
        "nan_row.npz": npz(np.vstack([probs, probs[:1] * np.nan]), [*gold, 0]),
        "gold_range.npz": npz(four, [*gold, 9]),
    }


def parquet_files() -> dict[str, bytes]:
    """Columns of odd types, and files whose footer and pages disagree."""
    frame, confidence = pl.DataFrame(COLUMNS), pl.col("confidence")
    lists = pl.DataFrame(
        {
            "id": ["d1", "d2", "d3"],
            "probs": [list(row[:4]) for row in DISTRIBUTIONS],
            "gold": [row[4] for row in DISTRIBUTIONS],
        }
    )
    two_more = pl.DataFrame({"id": ["q5", "q6"], "confidence": [float("nan"), None], "correct": [1, 1]})
    long_ids = pl.DataFrame({"id": ["x" * 50] * 400, "confidence": [0.5] * 400, "correct": [1] * 400})
    flipped = bytearray(polars_parquet(long_ids))
    flipped[20:120] = bytes(byte ^ 0x5A for byte in flipped[20:120])
    frames = {
        "dictionary": frame.with_columns(pl.col("id").cast(pl.Categorical)),
        "decimal": frame.with_columns(confidence.cast(pl.Decimal(12, 4))),
        "float_correct": frame.with_columns(pl.col("correct").cast(pl.Float64)),
        "bool_correct": frame.with_columns(pl.col("correct") == 1),
        "text_numbers": frame.with_columns(confidence.cast(pl.String)),
        "nested_extra": frame.with_columns(z=pl.struct(a="id", b=pl.concat_list(confidence))),
        "huge_cells": frame.with_columns(question=pl.lit("x" * 5_000_000)),
        "null_column": frame.with_columns(z=pl.lit(None)),
        "lists": lists,
        "dates": frame.with_columns(z=pl.lit("2024-01-02").str.to_date()),
        "struct": frame.select(row=pl.struct("confidence", "correct")),
        "nan_and_null": pl.concat([frame, two_more]),
    }
    # Two columns of one length differ in one letter, which the bytes then lose.
    same_name = parquet({"id": ["a"], "confidenc1": [0.5], "confidence": [0.1], "correct": [1]})
    return {f"{name}.parquet": polars_parquet(one) for name, one in frames.items()} | {
        "many_groups.parquet": polars_parquet(frame, row_group_size=1),
        "plain.parquet": parquet(COLUMNS),
        "same_name.parquet": same_name.replace(b"confidenc1", b"confidence"),
        "bad_page.parquet": bytes(flipped),
        "noise_page.parquet": parquet(COLUMNS, fill=b"\xff"),
        "few_values.parquet": parquet(COLUMNS, values=3),
        "few_rows.parquet": parquet(COLUMNS, rows=3),
        "negative_rows.parquet": parquet(COLUMNS, rows=-1),
        "encrypted.parquet": parquet(COLUMNS)[:-4] + b"PARE",
    }


def zips() -> dict[str, bytes]:
    """Sound Inspect logs with one more member whose name, size, checksum or method lies."""
    lies: dict[str, dict[str, Any]] = {
        "traversal.eval": {"name": "../../outside/pwned.json"},
        "absolute.eval": {"name": "/pwned_absolute.json"},
        "backslash.eval": {"name": "..\\..\\outside\\pwned.json"},
        "nul_name.eval": {"name": "samples/9_epoch_1.json\0.txt"},
        "symlink.eval": {"data": b"../../outside/secret.csv", "attr": (stat.S_IFLNK | 0o777) << 16},
        "duplicate.eval": {"name": LOG[1]["name"]},
        "encrypted.eval": {"flags": 0x801},
        "method_99.eval": {"method": 99},
        "bad_crc.eval": {"crc": 1},
        "huge_size.eval": {"size": 0xFFFFFFF0},
        "not_json.eval": {"data": b"{'id': 1}"},
        "short_size.eval": packed_member(EXTRA["name"], EXTRA["data"]) | {"size": 5},
        "deep_json.eval": {"data": b"[" * 100_000},
    }
    return {name: zip_bytes([*LOG, EXTRA | lie]) for name, lie in lies.items()} | {
        "no_index.eval": zip_bytes(LOG)[:-60],
        "no_header.eval": zip_bytes(LOG[1:]),
        "stored.eval": zip_bytes(LOG),
        "deflated.eval": zip_bytes(packed_member(member["name"], member["data"]) for member in LOG),
        "zstd.eval": zip_bytes(member | {"method": 93, "packed": zstd(member["data"])} for member in LOG),
    }
