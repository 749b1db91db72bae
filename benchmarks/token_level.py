"""Compare the cost of token-level sums with a plain read of the same memory map.

Makes T × K distributions as float16 and float32 in a temporary folder, sums them up through memory maps of
a few rows each, and writes token_level.md beside this script. Every time is that of a run in a separate
process, so that its peak memory is its own. NumPy alone, compiled code (the extra `fast`) and two processes
of it, each with half of the rows, take turns. Processor time of shorter rows is measured for each number of
classes, and of loading the compiled code, which tells how many positions repay it.
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
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import product
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.edges import Scheme
from calib_core.readers.token.npz import MIN_COMPILED_BYTES, MIN_COMPILED_POSITIONS
from calib_core.tokens.dense import DenseReducer, load_compiled
from calib_core.tokens.row_scanner import compiled_scan_function
from calib_core.tokens.sums import TokenSums

ROWS: Final = 16_384
CLASSES: Final = 128_000
SEED: Final = 20261121
MAPPED_ROWS: Final = 128
AT_ONCE: Final = 64
PAPER: Final = (5, 10, 20, 50, 100, 200, 500)
DTYPES: Final = ("float16", "float32")
NUMPY, COMPILED, TWO_WORKERS = "NumPy", "compiled", "compiled, two workers"
CODES: Final = (NUMPY, COMPILED, TWO_WORKERS)
LIMITS: Final = {("float16", TWO_WORKERS): 3.0, ("float32", TWO_WORKERS): 2.0}
"""Stored dtype and code → plain reads that the sums should take at most, on both cores."""
SPEED_UP: Final = 1.7
"""How many times as fast as one worker two should be."""
PEAK: Final = 300
SWEEP: Final = 1.3
ROW_CLASSES: Final = (2, 10, 100, 1_000, 2_000, 10_000)
ROW_VALUES: Final = 2**23
"""Numbers of classes of shorter rows, and how many values are measured."""
REPORT: Final = Path(__file__).with_suffix(".md")
KEPT: Final = {
    "ECE, Full-ECE": (False, False),
    "ECE, Full-ECE, draws of the null": (False, True),
    "ECE, Full-ECE, classwise": (True, False),
    "all of it": (True, True),
}
"""What is kept → (with sums by class, with draws)."""


@dataclass(frozen=True, slots=True)
class Run:
    """One pass: seconds of the sums and of the plain read, peak memory above idle in MB, the result."""

    dtype: str
    code: str
    kept: str
    rows: int
    seconds: float
    read: float
    peak: float
    listed: float
    full_ece: float
    one_m: float
    seven_m: float

    @property
    def ratio(self) -> float:
        """Time of the sums, in plain reads."""
        return self.seconds / self.read


def write_files(folder: Path, rows: int) -> None:
    """The same distributions as float16 and float32: a Zipf vocabulary, contexts of varying sharpness."""
    random = np.random.default_rng(SEED)
    common = -np.log(np.arange(1, CLASSES + 1, dtype=np.float32) + 2.7)
    target = np.empty(rows, np.int64)
    with (folder / "float16").open("wb") as half, (folder / "float32").open("wb") as single:
        for begin in range(0, rows, AT_ONCE):
            count = min(AT_ONCE, rows - begin)
            probs = random.standard_normal((count, CLASSES), dtype=np.float32)
            probs *= 2
            probs += common
            probs *= random.uniform(1, 1.8, (count, 1)).astype(np.float32)
            probs -= probs.max(axis=1, keepdims=True)
            np.exp(probs, out=probs)
            probs /= probs.sum(axis=1, keepdims=True, dtype=np.float64).astype(np.float32)
            up_to = np.cumsum(probs, axis=1, dtype=np.float64)
            for row in range(count):
                target[begin + row] = np.searchsorted(up_to[row], random.random() * up_to[row, -1])
            single.write(probs.data)
            half.write(probs.astype(np.float16).data)
    np.save(folder / "target.npy", np.minimum(target, CLASSES - 1))


def slices(path: Path, part: range) -> Iterator[tuple[int, NDArray[Any]]]:
    """Rows as memory maps of some rows each, because mapped rows count as memory while mapped."""
    dtype = np.dtype(path.name)
    for begin in range(part.start, part.stop, MAPPED_ROWS):
        count = min(MAPPED_ROWS, part.stop - begin)
        offset = begin * CLASSES * dtype.itemsize
        yield begin, np.memmap(path, dtype, "r", offset=offset, shape=(count, CLASSES))


def bare_read(path: Path, rows: int) -> float:
    """Seconds for the maximum of all bytes, read as unsigned 64-bit numbers from one memory map."""
    size = rows * CLASSES * np.dtype(path.name).itemsize // 8
    mapped = np.memmap(path, np.uint64, "r", shape=(size,))
    begun = time.perf_counter()
    np.max(mapped)
    return time.perf_counter() - begun


_both_ready: Barrier


def prepare(dtype: str) -> None:
    """Compiles what can be compiled."""
    compiled_scan_function(np.dtype(dtype))


def sums_of(path: Path, part: range, code: str, kept: str) -> tuple[TokenSums, float]:
    """The sums of some rows, and the peak memory of this process."""
    target = np.load(path.parent / "target.npy")
    by_class, draws = KEPT[kept]
    reducer = DenseReducer(
        CLASSES, seed=SEED, by_class=by_class, draws=draws, first_row=part.start, compiled=code != NUMPY
    )
    for begin, block in slices(path, part):
        reducer.add(block, target[begin : begin + block.shape[0]])
    assert reducer.problems == ()
    return reducer.result(), peak_memory()


def added_up(path: Path, rows: int, code: str, kept: str) -> tuple[float, TokenSums]:
    """Seconds until ECE and Full-ECE (and classwise ECE) are known at all seven M, and the sums."""
    if code != NUMPY:
        prepare(path.name)
    begun = time.perf_counter()
    sums, _ = sums_of(path, range(rows), code, kept)
    metrics(sums, PAPER)
    return time.perf_counter() - begun, sums


def added_up_by_two(path: Path, rows: int, kept: str) -> tuple[float, TokenSums, float]:
    """The same by two processes that are ready, and the peak memory of both."""
    halves = range(rows // 2), range(rows // 2, rows)
    context = get_context("spawn")
    both_ready = context.Barrier(2)
    with ProcessPoolExecutor(2, context, get_ready, (path.name, both_ready)) as workers:
        idle = sum(workers.map(idle_memory, range(2)))
        begun = time.perf_counter()
        first, second = workers.map(sums_of, [path] * 2, halves, [COMPILED] * 2, [kept] * 2)
        sums = first[0].merge(second[0])
        metrics(sums, PAPER)
        return time.perf_counter() - begun, sums, first[1] + second[1] - idle


def get_ready(dtype: str, both_ready: Barrier) -> None:
    """Makes a process ready to add up, and remembers the barrier at which it meets the other one."""
    global _both_ready  # noqa: PLW0603  each process has its own
    prepare(dtype)
    _both_ready = both_ready


def idle_memory(_: int) -> float:
    """Peak memory so far of a process; each of the two has one such task, as it waits for the other."""
    _both_ready.wait()
    return peak_memory()


def metrics(sums: TokenSums, bins: tuple[int, ...]) -> list[float]:
    """ECE, Full-ECE and, if available, K·cw-ECE at each M."""
    grids = [grid for grid in (sums.top_label, sums.all_labels, sums.by_class) if grid is not None]
    return [
        float(grid.binned(Scheme("width", m)).absolute_gap.sum()) / sums.n_rows
        for m in bins
        for grid in grids
    ]


def peak_memory() -> float:
    """Peak resident memory of this process in MB, including mapped files (Linux)."""
    # Not getrusage: its maximum starts at that of the parent process.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def best(what: Callable[[], object], times: int = 20) -> float:
    """Seconds of the fastest of several calls."""
    seconds: list[float] = []
    for _ in range(times):
        begun = time.perf_counter()
        what()
        seconds.append(time.perf_counter() - begun)
    return min(seconds)


def child(path: Path, rows: int, code: str, kept: str) -> Run:
    """Measure one pass, in a process that does nothing else: the sums first, so that the peak is theirs."""
    if code == TWO_WORKERS:
        (seconds, sums, peak), (again, *_) = (added_up_by_two(path, rows, kept) for _ in range(2))
    else:
        idle = peak_memory()
        (seconds, sums), (again, _) = (added_up(path, rows, code, kept) for _ in range(2))
        peak = peak_memory() - idle
    seconds = min(seconds, again)
    return Run(
        dtype=path.name,
        code=code,
        kept=kept,
        rows=rows,
        seconds=seconds,
        read=min(bare_read(path, rows) for _ in range(3)),
        peak=peak,
        listed=float(sums.all_labels.count[sums.all_labels.cell > 0].sum()) / rows,
        full_ece=metrics(sums, (10,))[1],
        one_m=seconds + best(lambda: metrics(sums, (10,))),
        seven_m=seconds + best(lambda: metrics(sums, PAPER)),
    )


def measured(folder: Path, dtype: str, rows: int, code: str, kept: str) -> Run:
    """Run `child` in a separate process."""
    command = [sys.executable, __file__, "--child", str(folder / dtype), str(rows), code, kept]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - this script
    return Run(**json.loads(done.stdout))


def line(run: Run) -> str:
    """One row of the table."""
    limit = LIMITS.get((run.dtype, run.code))
    n_processes = 2 if run.code == TWO_WORKERS else 1
    verdict = "met" if run.ratio <= (limit or np.inf) and run.peak < PEAK * n_processes else "missed"
    return (
        f"| {run.dtype} | {run.code} | {run.kept} | {run.rows:,} | {run.read:.2f} | {run.seconds:.2f} "
        f"| {run.ratio:.1f} | {limit or ''} | {run.peak:.0f} | {verdict} |"
    )


# --- Rows of any length -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RowCost:
    """Processor time of rows of float16, in µs a position: a bare sum, and all sums by either code."""

    classes: int
    rows: int
    bare: float
    numpy: float
    compiled: float


def row_costs() -> tuple[float, list[RowCost]]:
    """Processor seconds to load compiled code that is on disk, and the costs by number of classes."""
    begun = time.process_time()
    load_compiled(np.dtype(np.float16))
    loading = time.process_time() - begun
    return loading, [row_cost(classes) for classes in ROW_CLASSES]


def row_cost(classes: int) -> RowCost:
    """The cheapest of some passes each, which take turns."""
    rows = max(2**11, min(2**15, ROW_VALUES // classes))
    random = np.random.default_rng(SEED)
    probs = random.standard_normal((rows, classes)) * 2 - np.log(np.arange(1, classes + 1) + 2.7)
    probs = np.exp(probs * random.uniform(1, 1.8, (rows, 1)))
    values = (probs / probs.sum(axis=1, keepdims=True)).astype(np.float16)
    target = random.integers(0, classes, rows)

    def reduce(*, compiled: bool) -> None:
        reducer = DenseReducer(classes, compiled=compiled)
        reducer.add(values, target)
        reducer.result()

    best_seconds = [np.inf] * 3
    for _ in range(4):
        for place, what in enumerate(
            (
                lambda: values.sum(dtype=np.float32),
                lambda: reduce(compiled=False),
                lambda: reduce(compiled=True),
            )
        ):
            begun = time.process_time()
            what()
            best_seconds[place] = min(best_seconds[place], time.process_time() - begun)
    return RowCost(classes, rows, *(1e6 * seconds / rows for seconds in best_seconds))


def cost_lines(loading: float, costs: list[RowCost]) -> list[str]:
    """The table of rows of any length."""
    return [
        "| K | positions | bare sum, µs | NumPy, µs | × | compiled, µs | × | repaid from | MB |",
        "| --: | --: | --: | --: | --: | --: | --: | --: | --: |",
        *(
            f"| {cost.classes:,} | {cost.rows:,} | {cost.bare:.2f} | {cost.numpy:.1f} | "
            f"{cost.numpy / cost.bare:.1f} | {cost.compiled:.1f} | {cost.compiled / cost.bare:.1f} | "
            f"{(repaid := 1e6 * loading / (cost.numpy - cost.compiled)):,.0f} | "
            f"{repaid * cost.classes * 2 / 1e6:,.1f} |"
            for cost in costs
        ),
    ]


def machine(load: tuple[float, float]) -> str:
    """The machine and versions of the measurement."""
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores "
        f"(one is used; both by two workers), load {load[0]:.1f} before and {load[1]:.1f} after, "
        f"Python {platform.python_version()}, numpy {version('numpy')}, numba {version('numba')}; files in "
        "the page cache."
    )


def report(runs: list[Run], halves: list[Run], costs: tuple[float, list[RowCost]], on: str) -> str:
    """The tables, as Markdown."""
    whole = runs[0]
    introduction = (
        "Written by `python benchmarks/token_level.py`. Seconds from the first row to the metrics at all "
        f"seven M, including the checks of every row, for {whole.rows:,} × {CLASSES:,} distributions "
        f"(seed {SEED}; {whole.listed:.0f} entries per row above 1/3000; Full-ECE at M = 10 is "
        f"{whole.full_ece:.4f}). "
        "Read: the maximum of the same bytes as unsigned 64-bit numbers, from one memory map, fastest of "
        "three, on one core. Sums: fastest of two; compiled code after it was compiled. Two workers: "
        "processes that have loaded the code, each with half of the rows; their sums are merged. Peak: "
        "resident memory "
        f"above the idle processes in MB, including mapped rows; the target is at most {PEAK} for each."
    )
    table = [
        "| stored | code | kept | rows | read | sums | × read | at most | peak | |",
        "| --- | --- | --- | --: | --: | --: | --: | --: | --: | --- |",
        *map(line, [*halves, *runs]),
    ]
    linear = [
        f"{run.dtype}, {run.code}: {run.seconds / half.seconds:.2f} times the seconds for twice the rows"
        for half in halves
        for run in runs
        if (run.dtype, run.code, run.kept) == (half.dtype, half.code, half.kept)
    ]
    speed_up = [
        f"{two.dtype}, {two.kept}: {one.seconds / two.seconds:.2f}"
        for two in runs
        for one in runs
        if two.code == TWO_WORKERS and (one.dtype, one.code, one.kept) == (two.dtype, COMPILED, two.kept)
    ]
    sweep = [
        f"{run.dtype}, {run.code}, {run.kept}: {run.seven_m / run.one_m:.3f}"
        for run in runs
        if run.kept != "all of it" and run.code != TWO_WORKERS
    ]
    costs_introduction = (
        "Processor time in µs a position of float16 distributions in memory, all sums and draws included, "
        "the least of four passes that take turns; “×”: in bare sums (`values.sum()` in float32). Loading "
        f"compiled code from disk takes {costs[0]:.2f} s of processor; the last two columns say from how "
        "many positions of this K, and from how large a file, that is repaid. Files use compiled code from "
        f"{MIN_COMPILED_POSITIONS:,} positions or {MIN_COMPILED_BYTES / 2**20:.0f} MiB on."
    )
    return (
        "\n\n".join(
            [
                "# Token-level sums of a large vocabulary",
                introduction,
                "\n".join(table),
                f"Linear: {'; '.join(linear)}.",
                f"Two workers, times as fast as one (at least {SPEED_UP}): {'; '.join(speed_up)}.",
                f"Seven M compared with one, including reading (at most {SWEEP}): {'; '.join(sweep)}.",
                "## Rows of any length",
                costs_introduction,
                "\n".join(cost_lines(*costs)),
                on,
            ]
        )
        + "\n"
    )


def main() -> None:
    """Measures, writes the tables and prints them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="T; fewer need less disk: 0.8 MB a row")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        print(json.dumps(asdict(child(Path(asked.child[0]), int(asked.child[1]), *asked.child[2:]))))
        return
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, asked.rows)
        both = list(product(DTYPES, CODES))
        runs = [measured(folder, dtype, asked.rows, code, kept) for kept in KEPT for dtype, code in both]
        halves = [
            measured(folder, dtype, asked.rows // 2, code, "ECE, Full-ECE")
            for dtype, code in both
            if code != TWO_WORKERS
        ]
    text = report(runs, halves, row_costs(), machine((before, os.getloadavg()[0])))
    REPORT.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
