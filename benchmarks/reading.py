"""What does reading a file cost, checks of every value included, beside a plain polars read of the same file?

Makes files of good predictions in a folder that is gone afterwards, reads each in turn by polars (all
columns, nothing checked) and by `calib_core.files.read`, and writes reading.md beside this script. A large
file of JSON lines is read in a process of its own, so that its peak of memory is its own.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from calib_core import files
from calib_core.records import AnswerRun

ROWS: Final = 1_000_000
LISTED: Final = 250_000
LARGE: Final = 2**30
SEED: Final = 20261122
LIMIT: Final = 1.5
NAN_LIMIT: Final = 10.0
REPORT: Final = Path(__file__).with_suffix(".md")
SUBJECTS: Final = ("law", "mathematics", "physics", "history", "biology")
ASKED: Final = (
    "A train leaves the station at noon and arrives after three stops. Which of these statements, number {}, "
    "follows from what the passage says of its passengers, and why do the other three not?"
)

HEADER: Final = (
    "| file | rows | MB | polars | ours | × polars | at most | | least | × polars |",
    "| --- | --: | --: | --: | --: | --: | --: | --- | --: | --: |",
)
INTRODUCTION: Final = (
    "Written by `python benchmarks/reading.py`. Seconds of the fastest read of each, taken in turn in one "
    "run, files in the page cache. polars: all columns of the same file into memory, nothing checked. Ours: "
    "`files.read`, in a process of its own: text and structure looked through, every value judged, repeated "
    "ids looked for, runs told apart, and the rows handed back. MB are of the file. Least: polars as before, "
    "and what no reader can leave out, here and unchecked: whether ids repeat (`hash().n_unique()`), and "
    "lists in cells of CSV, which polars leaves as text, made into numbers (`str.json_decode`)."
)


@dataclass(frozen=True, slots=True)
class Cost:
    """One file. Seconds are the fastest read's; least: see `_least`; limit: ours by plain."""

    name: str
    rows: int
    size: int
    plain: float
    ours: float
    least: float
    limit: float

    @property
    def line(self) -> str:
        """One row of the table."""
        ratio = self.ours / self.plain
        return (
            f"| {self.name} | {self.rows:,} | {self.size / 1e6:.0f} | {self.plain:.3f} | {self.ours:.3f} "
            f"| {ratio:.2f} | {self.limit:g} | {'met' if ratio <= self.limit else 'missed'} "
            f"| {self.least:.3f} | {self.least / self.plain:.2f} |"
        )


def plain_rows(rows: int) -> pl.DataFrame:
    """One confidence a question."""
    random = np.random.default_rng(SEED)
    confidence = random.beta(5, 2, rows).round(6)
    subjects = np.array(SUBJECTS)[random.integers(0, len(SUBJECTS), rows)]
    ids = [f"q{at}" for at in range(rows)]
    correct = random.random(rows) < confidence
    return pl.DataFrame({"id": ids, "subject": subjects, "confidence": confidence, "correct": correct})


def listed_rows(rows: int, begin: int = 0) -> pl.DataFrame:
    """Four choices a question, with their texts and log-probabilities."""
    random = np.random.default_rng(SEED + begin)
    logs = np.log(random.dirichlet(np.ones(4), rows)).clip(-40).round(6)
    return pl.DataFrame({
        "id": [f"q{begin + at}" for at in range(rows)],
        "question": [ASKED.format(begin + at) for at in range(rows)],
        "choices": [["salt", "an old bridge", "zinc", "none of these"]] * rows,
        "choice_logprobs": logs.tolist(),
        "gold_index": random.integers(0, 4, rows),
    })


def made(
    folder: Path, rows: int, listed: int
) -> Iterator[tuple[str, Path, int, Callable[[Path], Any], float]]:
    """(what, file, rows, polars' reader, limit) of each file, written as it is asked for."""
    plain, lists = plain_rows(rows), listed_rows(listed)
    for name, frame in (("plain columns", plain), ("lists", lists)):
        path = folder / f"{name[:5]}.csv"
        in_cells = pl.format("[{}]", pl.col(pl.List(pl.Float64)).cast(pl.List(pl.String)).list.join(", "))
        frame.drop("choices", strict=False).with_columns(in_cells).write_csv(path)
        yield f"CSV, {name}", path, frame.height, pl.read_csv, LIMIT
        path = folder / f"{name[:5]}.jsonl"
        frame.write_ndjson(path)
        yield f"JSON lines, {name}", path, frame.height, pl.read_ndjson, LIMIT
        path = folder / f"{name[:5]}.parquet"
        frame.write_parquet(path)
        yield f"Parquet, {name}", path, frame.height, pl.read_parquet, LIMIT
    path = folder / "nan.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for at, row in enumerate(plain.iter_rows(named=True)):
            stream.write(json.dumps(row | {"loss": float("nan") if at % 10 == 0 else 1.5}) + "\n")
    yield "JSON lines with NaN (read by polars without)", path, rows, _without_nan(path), NAN_LIMIT


def _without_nan(path: Path) -> Callable[[Path], Any]:
    """Reads the same lines with nulls, prepared beforehand: NaN polars refuses."""
    other = path.with_suffix(".nulls")
    other.write_bytes(path.read_bytes().replace(b": NaN", b": null"))
    return lambda _: pl.read_ndjson(other)


def seconds(read: Callable[[Path], object], path: Path) -> float:
    """Seconds that a reader takes."""
    begun = time.perf_counter()
    read(path)
    return time.perf_counter() - begun


def cost(name: str, path: Path, rows: int, plain: Callable[[Path], Any], limit: float, times: int) -> Cost:
    """Both readers in turn, the fastest of each."""
    reading = files.read(path)
    assert (reading.rows, reading.bad_rows, reading.refusal) == (rows, 0, None)
    readers = (plain, files.read, partial(_least, plain))
    each = ([seconds(read, path) for read in readers] for _ in range(times))
    first, ours, least = (min(column) for column in zip(*each, strict=True))
    return Cost(name, rows, path.stat().st_size, first, ours, least, limit)


def _least(plain: Callable[[Path], Any], path: Path) -> object:
    """Reads as polars does, and does what no reader of predictions can leave out."""
    rows: pl.DataFrame = plain(path)
    repeated = rows["id"].hash().n_unique() < rows.height
    if rows.schema.get("choice_logprobs") == pl.String:
        rows = rows.with_columns(pl.col("choice_logprobs").str.json_decode(pl.List(pl.Float64)))
    return rows, repeated


def why(costs: list[Cost]) -> str:
    """The sentence on limits that nobody can meet."""
    beyond = "; ".join(cost.name for cost in costs if cost.least > cost.limit * cost.plain)
    return f"The least alone takes longer than the limit, so that no reader meets it: {beyond or 'none'}."


def write_large(path: Path, size: int) -> int:
    """JSON lines of ordinary columns, so many bytes; gives the rows."""
    rows = 0
    with path.open("wb") as stream:
        while stream.tell() < size:
            listed_rows(50_000, rows).write_ndjson(stream)
            rows += 50_000
    return rows


def child(path: Path) -> dict[str, float]:
    """The reading of the large file in this process: seconds, the longest silence, memory."""
    idle = peak_memory()
    told = [time.perf_counter()]

    def progress(_share: float, _text: str) -> None:
        told.append(time.perf_counter())

    reading = files.parse(path, file=path.name, progress=progress)
    told.append(time.perf_counter())
    kept = sum(run.rows.estimated_size() for run in reading.good_runs if isinstance(run, AnswerRun))
    silence = max(after - before for before, after in pairwise(told))
    return {
        "rows": reading.rows,
        "seconds": told[-1] - told[0],
        "silence": silence,
        "peak": peak_memory() - idle,
        "kept": kept / 2**20,
    }


def peak_memory() -> float:
    """The most resident memory of this process so far, in MiB (Linux)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def large(path: Path, size: int) -> str:
    """The sentence on the large file."""
    rows = write_large(path, size)
    command = [sys.executable, __file__, "--child", str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - this script
    told, there = json.loads(done.stdout), path.stat().st_size
    assert told["rows"] == rows
    return (
        f"JSON lines of {there / 2**30:.2f} GiB ({rows:,} rows: id, question, choices, choice_logprobs, "
        f"gold_index): {told['seconds']:.1f} s, {there / 1e6 / told['seconds']:.0f} MB/s; at most "
        f"{told['peak']:,.0f} MiB resident above the idle process, of which the columns that result need "
        f"{told['kept']:,.0f} MiB; longest time without a sign of progress {told['silence']:.2f} s."
    )


def machine(before: float) -> str:
    """What it was measured on; before: the machine's load then."""
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"load {before:.1f} before and {os.getloadavg()[0]:.1f} after, Python {platform.python_version()}, "
        f"polars {version('polars')}, numpy {version('numpy')}."
    )


def main() -> None:
    """Measures, and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", type=Path, help="read this file here, and print what it took")
    for name, default in (("rows", ROWS), ("listed", LISTED), ("large", LARGE), ("times", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    if given.child is not None:
        print(json.dumps(child(given.child)))
        return
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        costs = [cost(*one, given.times) for one in made(Path(folder), given.rows, given.listed)]
        sentence = large(Path(folder) / "large.jsonl", given.large)
    table = "\n".join((*HEADER, *(one.line for one in costs)))
    parts = ("# Reading files", INTRODUCTION, table, why(costs), sentence, machine(before))
    print(text := "\n\n".join(parts) + "\n")
    REPORT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
