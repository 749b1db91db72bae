"""Measure how fast workers reduce token-level files, and work out what that means for 1 TB and 1 PB.

Makes a pair of arrays of float16 in a temporary folder, reduces it with one and with two processes of this
machine by the code behind `calib reduce --workers`, and writes scale.md beside this script. A first reduction
that is not counted starts the processes and brings the file into the page cache.
"""

from __future__ import annotations

import os
import platform
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

from calib_core.errors import Refused
from calib_core.readers.token.npz import REDUCED_BYTES, ReducedRows
from calib_core.scale.cluster import ClusterReader, ScaleSettings, connect
from calib_core.scale.units import MAX_UNIT_BLOCKS, FileRequest, unpacked
from calib_core.user_cache import CacheFolder

CLASSES: Final = 128_000
BLOCKS: Final = 16
ROWS: Final = BLOCKS * (REDUCED_BYTES // (2 * CLASSES))
SEED: Final = 20261126
DISTINCT: Final = 128
WORKERS: Final = (1, 2)
REPEATS: Final = 1
SIZES: Final = {"1 TB": 1e12, "1 PB": 1e15}
CORE_HOUR: Final = 0.04
"""An assumed price of an hour of one processor core; scale it to yours."""
REPORT: Final = Path(__file__).with_suffix(".md")


@dataclass(frozen=True, slots=True)
class Rate:
    """What some workers do in a second, by the clock, and by the processor time that all of them use."""

    workers: int
    seconds: float
    processor: float
    size: int

    @property
    def per_second(self) -> float:
        """Bytes a second, of all workers."""
        return self.size / self.seconds

    @property
    def per_core(self) -> float:
        """Bytes a second of processor time: the rate of a worker that has a core of its own."""
        return self.size / self.processor


def write_arrays(folder: Path) -> Path:
    """Distributions over a Zipf vocabulary, in contexts of varying sharpness, and targets."""
    random = np.random.default_rng(SEED)
    common = -np.log(np.arange(1, CLASSES + 1, dtype=np.float32) + 2.7)
    path = folder / "text.probs.npy"
    values = np.lib.format.open_memmap(path, "w+", np.float16, (ROWS, CLASSES))
    probs = random.standard_normal((DISTINCT, CLASSES), dtype=np.float32) * 2 + common
    probs *= random.uniform(1, 1.8, (DISTINCT, 1)).astype(np.float32)
    probs -= probs.max(axis=1, keepdims=True)
    np.exp(probs, out=probs)
    probs /= probs.sum(axis=1, keepdims=True, dtype=np.float64).astype(np.float32)
    distinct = probs.astype(np.float16)
    for begin in range(0, ROWS, DISTINCT):
        values[begin : begin + DISTINCT] = np.roll(distinct, begin, axis=1)[: ROWS - begin]
    values.flush()
    np.save(folder / "text.target.npy", random.integers(0, CLASSES, ROWS))
    return path


def processor_seconds() -> float:
    """Processor time of this process so far."""
    return sum(os.times()[:2])


def measure(path: Path, workers: int) -> Rate:
    """The last of some reductions of the whole file."""
    request = FileRequest(str(path), path.name)
    seconds = processor = 0.0
    with connect(None, workers) as connected:
        client: Any = connected
        for _ in range(REPEATS + 1):
            before = sum(client.run(processor_seconds).values())
            begun = time.perf_counter()
            reader = ClusterReader(client, ScaleSettings(None, workers), lambda _line: None)
            ((_, outcome),) = reader.read_all([request])
            seconds = time.perf_counter() - begun
            processor = sum(client.run(processor_seconds).values()) - before
            assert not isinstance(outcome, Refused), outcome
    return Rate(workers, seconds, processor, path.stat().st_size)


def kept_results(path: Path, folder: Path) -> tuple[float, float]:
    """Bytes that are kept of a block, and seconds to add it to the others."""
    with connect(None, max(WORKERS)) as client:
        reader = ClusterReader(client, ScaleSettings(None, 1, folder), lambda _line: None)
        list(reader.read_all([FileRequest(str(path), path.name)]))
    files = sorted(folder.iterdir())
    kept = CacheFolder(folder, 1 << 62)
    begun = time.perf_counter()
    total: ReducedRows | None = None
    for file in files:
        data = kept.load(file.name)
        part = None if data is None else unpacked(ReducedRows, data)
        assert part is not None
        total = part if total is None else total.merge(part)
    return sum(file.stat().st_size for file in files) / len(files), (time.perf_counter() - begun) / len(files)


def lines(rates: list[Rate], kept: float, merge: float, load: tuple[float, float]) -> Iterator[str]:
    """The report."""
    yield "# Reading past one machine\n"
    yield (
        f"Written by `python benchmarks/scale.py`. {ROWS:,} × {CLASSES:,} distributions as float16 "
        f"(seed {SEED}; {DISTINCT} distinct rows, each time with their classes moved on), {BLOCKS} blocks of "
        f"{REDUCED_BYTES / 1e6:,.0f} MB, reduced to all sums (by class, with draws of the null). The "
        f"file is in the page cache, so a network adds its own time.\n"
    )
    yield "| workers | seconds | MB a second | processor seconds | MB a processor second |"
    yield "| --: | --: | --: | --: | --: |"
    for rate in rates:
        mb, each = rate.per_second / 1e6, rate.per_core / 1e6
        yield f"| {rate.workers} | {rate.seconds:.1f} | {mb:,.0f} | {rate.processor:.1f} | {each:,.0f} |"
    share = kept / REDUCED_BYTES
    yield (
        f"\nOf each block {kept / 1e6:.1f} MB are kept to resume ({share:.1%} of it); adding them to the "
        f"others takes {merge * 1000:,.0f} ms in the one process that does so. From 512 blocks on, workers "
        f"add up 2 to {MAX_UNIT_BLOCKS} blocks of a file first.\n"
    )
    slowest = min(rate.per_core for rate in rates)
    yield (
        "Where other programs want the processors, too (see the load), the clock says little. At the lower "
        f"rate of processor time ({slowest / 1e6:,.0f} MB a second), for workers that have a core each, and "
        f"at an assumed {CORE_HOUR} a core-hour. The hours of 100 and 1,000 workers suppose that nothing but "
        "the processor limits them, or are those of adding up, if they are more.\n"
    )
    yield "| size | worker-hours | price | hours with 100 workers | with 1,000 | hours of adding up | kept |"
    yield "| --- | --: | --: | --: | --: | --: | --: |"
    for name, size in SIZES.items():
        hours = size / slowest / 3600
        per_unit = min(MAX_UNIT_BLOCKS, max(1, int(size / REDUCED_BYTES) // 256))
        per_unit = 1 << (per_unit.bit_length() - 1)
        units = size / REDUCED_BYTES / per_unit
        adding = units * merge / 3600
        with_workers = " | ".join(f"{max(hours / n, adding):.2g}" for n in (100, 1000))
        yield (
            f"| {name} | {hours:.3g} | {hours * CORE_HOUR:.2g} | {with_workers} | {adding:.2g} | "
            f"{units * kept / 1e9:,.0f} GB |"
        )
    yield (
        f"\n{datetime.now(UTC):%Y-%m-%d}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"load {load[0]:.1f} before and {load[1]:.1f} after, Python {platform.python_version()}, numpy "
        f"{np.__version__}, distributed {version('distributed')}, numba {version('numba')}."
    )


def main() -> None:
    """Measures and writes."""
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = write_arrays(folder)
        rates = [measure(path, workers) for workers in WORKERS]
        kept, merge = kept_results(path, folder / "kept")
    text = "\n".join(lines(rates, kept, merge, (before, os.getloadavg()[0]))) + "\n"
    REPORT.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
