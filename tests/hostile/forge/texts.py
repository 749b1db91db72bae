"""The families `encodings`, `emptiness`, `big_texts` and `containers`: file name → content."""

from __future__ import annotations

import io
from typing import Final

import numpy as np
import polars as pl

from hostile.forge.archives import gzipped, zip_bytes, zstd
from hostile.forge.arrays import PICKLE, npy, npz
from hostile.forge.parquet import parquet, polars_parquet
from hostile.forge.records import LOG
from hostile.forge.rows import COLUMNS, GOOD_CSV, GOOD_JSONL, HEADER, jsonl

Content = str | bytes

MANY: Final = 100_000


def encodings() -> dict[str, Content]:
    """Texts in other encodings than UTF-8, and in broken UTF-8."""
    return {
        "utf16le_bom.csv": b"\xff\xfe" + GOOD_CSV.encode("utf-16-le"),
        "utf16be_bom.jsonl": b"\xfe\xff" + GOOD_JSONL.encode("utf-16-be"),
        "utf16_no_bom.csv": GOOD_CSV.encode("utf-16-le"),
        "latin1.csv": GOOD_CSV.replace("q3", "caf\xe9").encode("latin-1"),
        "bad_utf8.jsonl": GOOD_JSONL.encode().replace(b"q2", b"q\xff\xfe"),
        "nul_tail.csv": GOOD_CSV + "\0" * 4096,
        "overlong.csv": GOOD_CSV.encode().replace(b"q2", b"\xc0\xaf"),
    }


def emptiness() -> dict[str, Content]:
    """Files without rows, and files that end too early."""
    return {
        "no_rows.npz": npz(np.zeros((0, 4)), np.zeros(0, int)),
        "no_rows.parquet": polars_parquet(pl.DataFrame(COLUMNS)[:0]),
        "no_members.eval": zip_bytes([]),
        "no_samples.eval": zip_bytes(LOG[:1]),
        "cut.eval": zip_bytes(LOG)[:400],
        "cut.parquet": parquet(COLUMNS)[:-9],
        "cut_head.parquet": parquet(COLUMNS)[20:],
        "cut.npz": npz(np.eye(4), np.arange(4))[:300],
    }


def big_texts() -> dict[str, Content]:
    """Many bad rows, much in one cell, and what is odd so late that a guess from the first rows fails."""

    def rows(count: int, last: str, confidence: str = "0.5") -> str:
        body = "".join(f"q{number},{confidence},1\n" for number in range(1, count + 1))
        return f"{HEADER}{body}q{count + 1},{last}\n"

    late = [
        {"id": f"r{number}", "confidence": 0.5, "correct": 1} | ({"late": {"a": 1}} if number == 1200 else {})
        for number in range(1201)
    ]
    names = "".join(f",c{number}" for number in range(MANY))
    wide = HEADER.strip() + names + "\nq1,0.9,1" + ",0" * MANY + "\n"
    bad: dict[str, Content] = {
        f"bad_{count}.csv": GOOD_CSV + "".join(f"q{number},oops,1\n" for number in range(5, count + 5))
        for count in (19, 21, 5000)
    }
    return bad | {
        "late_key.jsonl": jsonl(late),
        "late_float.csv": rows(1500, "0.5,0", "1"),
        "late_word.csv": rows(1500, "high,1"),
        "many_answers.jsonl": jsonl([{"id": "s1", "answers": ["7"] * MANY, "gold": "7"}]),
        "long_decimals.csv": GOOD_CSV + "q5,0.5" + "0" * 5000 + ",1\n",
        "long_model_name.jsonl": GOOD_JSONL.replace("q1", "W" * MANY),
        "wide_100k.csv": wide,
    }


def containers() -> dict[str, Content]:
    """Contents that their names do not announce, and formats that are not read."""
    feather = io.BytesIO()
    pl.DataFrame(COLUMNS).write_ipc(feather)
    gz, zst = gzipped(GOOD_CSV.encode()), zstd(GOOD_CSV.encode())
    noise = np.random.default_rng(1).bytes(5000)
    return {
        "gz.csv": gz,
        "gz.jsonl": gz,
        "zst.csv": zst,
        "zst.jsonl": zst,
        "parquet.csv": parquet(COLUMNS),
        "npy.npz": npy(np.eye(4)),
        "npz.eval": npz(np.eye(4), np.arange(4)),
        "zip.csv": zip_bytes([{"name": "x.csv", "data": GOOD_CSV.encode()}]),
        "pdf.csv": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n",
        "sqlite.csv": b"SQLite format 3\0" + b"\0" * 84,
        "noise.jsonl": noise,
        "noise.npz": noise[::-1],
        "magic.parquet": b"PAR1" + b"\xff" * 60 + b"PAR1",
        "data.arrow": feather.getvalue(),
        "data.feather": feather.getvalue(),
        "data.pkl": PICKLE,
        "pickle.csv": PICKLE,
        "pickle.npz": PICKLE,
        "data.pt": zip_bytes([{"name": "archive/data.pkl", "data": PICKLE}]),
    }
