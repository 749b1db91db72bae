"""Measure how the program's work grows: with rows, classes, numbers of bins, runs and files.

Times each kind of work at several sizes, fits the exponent of size to the processor time, and writes
growth.md beside this script.
"""

from __future__ import annotations

import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from benchmark_page import date_line, table, write_page

import calib_core
from calib_core.figures.comparison import comparison_figure
from calib_core.figures.palette import LIGHT
from calib_core.readers import ReadOptions, read_in_this_process, read_values
from calib_core.results.comparison import MetricEstimator, estimate_metric, estimate_value, place_runs
from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.results.files import survey_file
from calib_core.results.methods_table import compare_methods
from calib_core.runs import AnswerRun, Run
from calib_core.tokens.dense import DenseReducer
from calib_core.views.methods import methods_view

SEED: Final = 20261130
REPEATS: Final = 3
ENOUGH: Final = 1.1
"""An exponent up to this counts as 1, times logarithms."""

Work = Callable[[], object]
Prepare = Callable[[int], Work]
"""Size → what is timed, on data of its own, so that nothing is found in a cache."""


@dataclass(frozen=True, slots=True)
class Growth:
    """One kind of work.

    Attributes
    ----------
    work : str
        What is done.
    of : str
        What the size counts.
    sizes : tuple[int, ...]
        At least four.
    prepare : Prepare
        Makes the data.
    why : str
        Why the exponent may be above 1.
    """

    work: str
    of: str
    sizes: tuple[int, ...]
    prepare: Prepare
    why: str = ""


_random: Final = np.random.default_rng(SEED)


def answers(rows: int, questions: int = 0) -> pl.DataFrame:
    """A table of calibrated answers; questions: ids that other tables share."""
    confidence = _random.beta(4, 2, rows)
    first = 0 if questions else int(_random.integers(10**9))
    ids = [f"q{first + number}" for number in range(rows)]
    return pl.DataFrame({"id": ids, "confidence": confidence, "correct": _random.random(rows) < confidence})


def answer_run(rows: int) -> Run:
    """A run of such answers."""
    (run,) = calib_core.load(answers(rows))
    return run


def read_table(folder: Path) -> Prepare:
    """Reading one table in this process."""

    def prepare(rows: int) -> Work:
        path = folder / f"table-{rows}.parquet"
        answers(rows).write_parquet(path)
        return lambda: read_in_this_process(path, file=path.name)

    return prepare


def read_tables(folder: Path) -> Prepare:
    """Reading many small tables, one after another."""

    def prepare(files: int) -> Work:
        paths = [folder / f"small-{number}.csv" for number in range(files)]
        for path in paths:
            answers(200).write_csv(path)
        return lambda: [read_in_this_process(path, file=path.name) for path in paths]

    return prepare


def surveyed(files: int) -> Work:
    """What every method makes of small tables that were read, with the verdict on each."""
    made = [read_values(answers(1_000), file=f"model-{number}") for number in range(files)]
    return lambda: [survey_file(reading) for reading in made]


def read_systems(folder: Path) -> Prepare:
    """Reading a table of systems side by side, of ten columns each, of which two are read."""

    def prepare(systems: int) -> Work:
        path = folder / f"systems-{systems}.csv"
        made = {
            f"s{at}-{name}": _random.random(60).round(3) for at in range(systems) for name in "abcdefghij"
        }
        outcomes = {f"s{at}-b": _random.integers(0, 2, 60) for at in range(systems)}
        pl.DataFrame(made | outcomes).write_csv(path)
        options = ReadOptions(wide={"*-a": "confidence", "*-b": "correct"})
        return lambda: read_in_this_process(path, file=path.name, options=options)

    return prepare


def evidences(runs: int) -> dict[str, AnswerEvidence]:
    """Runs of 1,000 answers, a model each."""
    loaded = [calib_core.load(answers(1_000), name=f"model-{number}")[0] for number in range(runs)]
    return {run.label: gather_evidence(run, "given") for run in loaded if isinstance(run, AnswerRun)}


def tabulated(runs: int) -> Work:
    """The table of the page Methods."""
    made = evidences(runs)
    return lambda: methods_view(compare_methods({name: [one] for name, one in made.items()}))


def placed(estimator: MetricEstimator) -> Prepare:
    """The points of the page Comparison, with the ECE on an axis."""

    def prepare(runs: int) -> Work:
        made = evidences(runs)
        return lambda: comparison_figure(
            place_runs(made, "accuracy", "ece", estimator=estimator).picture, LIGHT
        )

    return prepare


def scored(rows: int) -> Work:
    """ECE with its interval and null, and the verdict."""
    run = answer_run(rows)
    return lambda: (calib_core.score(run, metric="ece"), calib_core.verdict(run))


def scored_by_all(rows: int) -> Work:
    """Every metric, with intervals."""
    run = answer_run(rows)
    return lambda: calib_core.score(run)


def swept(rows: int) -> Work:
    """The default metrics over the paper's M."""
    run = answer_run(rows)
    return lambda: calib_core.sweep(run)


def scored_with_bins(bins: int) -> Work:
    """ECE of 100,000 answers at one M."""
    run = answer_run(100_000)
    return lambda: calib_core.score(run, metric="ece", bins=bins)


def swept_over(n: int) -> Work:
    """ECE of 20,000 answers over so many M."""
    run = answer_run(20_000)
    return lambda: calib_core.sweep(run, metric="ece", bins=range(2, 2 + n))


def compared(runs: int) -> Work:
    """Runs of 500 questions, compared in pairs."""
    loaded = [calib_core.load(answers(500, 500), name=f"model-{number}")[0] for number in range(runs)]
    return lambda: calib_core.compare(loaded)


def reduced(rows: int, classes: int) -> Work:
    """Distributions of float16, reduced to all sums and draws by compiled code."""
    probs = np.exp(2 * _random.standard_normal((rows, classes), np.float32))
    probs *= 1 / np.arange(1, classes + 1, dtype=np.float32)
    probs /= probs.sum(axis=1, keepdims=True)
    values, target = probs.astype(np.float16), _random.integers(0, classes, rows)

    def work() -> None:
        reducer = DenseReducer(classes, compiled=True)
        reducer.add(values, target)
        reducer.result()

    return work


def kinds(folder: Path) -> tuple[Growth, ...]:
    """Everything that is measured."""
    rows = (4_000, 16_000, 64_000, 256_000)
    return (
        Growth(
            "read a Parquet table of answers",
            "rows",
            (16_000, 64_000, 256_000, 1_024_000),
            read_table(folder),
        ),
        Growth("read tables of 200 answers", "files", (8, 16, 32, 64, 128), read_tables(folder)),
        Growth("try every method on tables of 1,000 answers, and judge", "files", (8, 16, 32, 64), surveyed),
        Growth("read systems side by side", "systems", (25, 50, 100, 200), read_systems(folder)),
        Growth("table of methods, of runs of 1,000 answers", "runs", (50, 100, 200, 400), tabulated),
        Growth("points by ECE, before their intervals", "runs", (10, 20, 40, 80), placed(estimate_value)),
        Growth("points by ECE with their intervals", "runs", (10, 20, 40, 80), placed(estimate_metric)),
        Growth("ECE with null, and the verdict", "rows", (16_000, 64_000, 256_000, 1_024_000), scored),
        Growth("every metric with its interval", "rows", rows, scored_by_all),
        Growth("sweep of the default metrics over 7 M", "rows", rows, swept),
        Growth("ECE of 100,000 answers", "M", (5, 20, 80, 320, 1_000), scored_with_bins),
        Growth(
            "sweep of ECE over several M, 20,000 answers", "numbers of bins", (4, 8, 16, 32, 64), swept_over
        ),
        Growth(
            "compare runs on 500 questions",
            "runs",
            (8, 32, 64, 128, 256),
            compared,
            "every two runs are tested against each other: the square",
        ),
        Growth(
            "reduce positions of 100 classes",
            "positions",
            (4_000, 16_000, 64_000, 256_000),
            lambda size: reduced(size, 100),
        ),
        Growth(
            "reduce 1,024 positions of few classes",
            "K",
            (125, 250, 500, 1_000, 2_000, 4_000),
            lambda size: reduced(1_024, size),
        ),
        Growth(
            "reduce 512 positions of many classes",
            "K",
            (8_000, 16_000, 32_000, 64_000, 128_000),
            lambda size: reduced(512, size),
        ),
    )


def seconds_of(prepare: Prepare, size: int) -> float:
    """Median processor time of this process."""
    found: list[float] = []
    for _ in range(REPEATS):
        work = prepare(size)
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return float(np.median(found))


def rows_of_table(folder: Path) -> Iterator[list[str]]:
    """One row per kind of work."""
    for growth in kinds(folder):
        growth.prepare(growth.sizes[0])()  # loads and compiles what is needed
        seconds = [seconds_of(growth.prepare, size) for size in growth.sizes]
        exponent = float(np.polyfit(np.log(growth.sizes), np.log(seconds), 1)[0])
        last = float(np.diff(np.log(seconds[-2:]))[0] / np.diff(np.log(growth.sizes[-2:]))[0])
        verdict = "at most 1" if exponent <= ENOUGH else growth.why or "above 1"
        sizes = ", ".join(f"{size:,}" for size in growth.sizes)
        times = ", ".join(f"{second:.3g}" for second in seconds)
        yield [growth.work, growth.of, sizes, times, verdict, f"{exponent:.2f}", f"{last:.2f}"]


def lines(folder: Path) -> Iterator[str]:
    """The page, line by line."""
    before = os.getloadavg()[0]
    yield "# How the work grows"
    yield ""
    yield (
        f"Written by `python benchmarks/growth.py` (seed {SEED}). Seconds are the processor time of this "
        f"process, all its threads together, median of {REPEATS} on data of their own. The exponent b is "
        "that of seconds ∝ sizeᵇ, by least squares of the logarithms over all sizes, and between the last "
        f"two alone, where fixed costs weigh least; up to {ENOUGH} counts as 1."
    )
    yield ""
    titles = ["work", "size", "sizes", "seconds", "growth", "exponent", "of the last two"]
    yield from table(titles, rows_of_table(folder), n_texts=5)
    yield ""
    yield (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, load {before:.1f} before and "
        f"{os.getloadavg()[0]:.1f} after, numba {version('numba')}. {date_line()}"
    )


def main() -> None:
    """Measures and writes."""
    with tempfile.TemporaryDirectory() as name:
        write_page(__file__, lines(Path(name)))


if __name__ == "__main__":
    main()
