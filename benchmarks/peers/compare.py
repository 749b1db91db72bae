"""Compare the time, the memory and the results of other libraries for the same numbers.

ECE of up to ten million pairs (confidence, outcome) at the seven M of the Full-ECE paper: our sums are
computed once and evaluated seven times, the others are called once per M, as intended by their authors. Then
ECE at one M, and ECE of distributions over K classes. Libraries take turns in every round, so that noise
affects all equally; a ratio is the median over the rounds. Writes peers.md beside this folder and the figure
docs/peers.svg.
"""

# pyright: reportMissingImports=false, reportMissingModuleSource=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# (the other libraries are only in requirements.txt beside this file)

from __future__ import annotations

import argparse
import ctypes
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any, Final
from unittest import mock

import calibration
import matplotlib as mpl
import numba as _numba  # so that our code is compiled, as with the extra `fast`  # noqa: F401
import numpy as np
import relplot
import torch
from matplotlib.figure import Figure
from netcal.metrics import ECE
from numpy.typing import NDArray
from sklearn.calibration import calibration_curve
from torchmetrics.functional.classification import binary_calibration_error, multiclass_calibration_error

from calib_core import bins as our_bins
from calib_core.bins import MIN_COMPILED_PAIRS, BinSums
from calib_core.edges import Scheme
from calib_core.metrics import METRICS

ROOT: Final = Path(__file__).parents[2]
REPORT: Final = ROOT / "benchmarks" / "peers.md"
FIGURE: Final = ROOT / "docs" / "peers.svg"

OURS: Final = "calib_core"
WITHOUT_NUMBA: Final = "calib_core without Numba"
SEED: Final = 20261121
BINS: Final = (5, 10, 20, 50, 100, 200, 500)
SIZES: Final = (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
LARGEST: Final = 10_000_000
MEDIUM: Final = 1_000_000
ROUNDS: Final = 5
LONGEST: Final = 20.0
"""Seconds; a library that would need more is left out."""

Values = NDArray[np.floating[Any]]
Labels = NDArray[np.integer[Any]]


# --- The libraries ------------------------------------------------------------------------------------------


def ours(confidence: Values, correct: Values, bins: Sequence[int]) -> list[float]:
    """Sums of the pairs, evaluated at every M. Like the others, this does not copy the pairs."""
    sums = BinSums.from_pairs(confidence, correct, copy=False)
    return [METRICS["ece"].compute(sums, Scheme("width", m)) or 0.0 for m in bins]


def ours_without_numba(confidence: Values, correct: Values, bins: Sequence[int]) -> list[float]:
    """The same without compiled code."""
    with mock.patch.object(our_bins, "compiled_add_pairs", return_value=our_bins.add_pairs):
        return ours(confidence, correct, bins)


def torchmetrics_(confidence: Values, correct: Values, bins: Sequence[int]) -> list[float]:
    """`binary_calibration_error` with the L1 norm."""
    preds, target = torch.from_numpy(confidence), torch.from_numpy(correct.astype(np.int64))
    return [
        float(binary_calibration_error(preds, target, n_bins=m, norm="l1", validate_args=False)) for m in bins
    ]


def netcal_(confidence: Values, correct: Values, bins: Sequence[int]) -> list[float]:
    """`ECE(bins).measure`."""
    return [float(ECE(m).measure(confidence, correct)) for m in bins]


def relplot_(confidence: Values, correct: Values, bins: Sequence[int]) -> list[float]:
    """`metrics.binnedECE`."""
    return [float(relplot.metrics.binnedECE(confidence, correct, nbins=m)) for m in bins]


def sklearn_(confidence: Values, correct: Values, bins: Sequence[int]) -> list[float]:
    """`calibration_curve` and the counts it does not return, like most hand-written code."""
    values: list[float] = []
    for m in bins:
        accuracy, mean = calibration_curve(correct, confidence, n_bins=m, strategy="uniform")
        edges = np.linspace(0.0, 1.0, m + 1)
        count = np.bincount(np.searchsorted(edges[1:-1], confidence), minlength=m)
        weight = count[count > 0] / confidence.size
        values.append(float((weight * np.abs(accuracy - mean)).sum()))
    return values


def uncertainty_calibration(confidence: Values, correct: Values, bins: Sequence[int]) -> list[float]:
    """`get_ece`."""
    labels = correct.astype(np.int64)
    return [float(calibration.get_ece(confidence, labels, num_bins=m)) for m in bins]


PEERS: Final[Mapping[str, Callable[[Values, Values, Sequence[int]], list[float]]]] = {
    OURS: ours,
    WITHOUT_NUMBA: ours_without_numba,
    "relplot": relplot_,
    "scikit-learn": sklearn_,
    "torchmetrics": torchmetrics_,
    "netcal": netcal_,
    "uncertainty-calibration": uncertainty_calibration,
}


def our_top_label(probs: Values, target: Labels) -> list[float]:
    """ECE of the top label."""
    top = probs.argmax(axis=1)
    return ours(np.take_along_axis(probs, top[:, np.newaxis], axis=1)[:, 0], top == target, (10,))


def relplot_top_label(probs: Values, target: Labels) -> list[float]:
    """`binnedECE` of the pairs that relplot makes."""
    confidence, correct = relplot.metrics.multiclass_logits_to_confidences(probs, target, probs=True)
    return relplot_(confidence, correct, (10,))


def torchmetrics_top_label(probs: Values, target: Labels) -> list[float]:
    """`multiclass_calibration_error` with the L1 norm."""
    preds, labels = torch.from_numpy(probs), torch.from_numpy(target)
    value = multiclass_calibration_error(
        preds, labels, num_classes=probs.shape[1], n_bins=10, validate_args=False
    )
    return [float(value)]


TOP_LABEL: Final[Mapping[str, Callable[[Values, Labels], list[float]]]] = {
    OURS: our_top_label,
    "relplot": relplot_top_label,
    "torchmetrics": torchmetrics_top_label,
    "netcal": lambda probs, target: [float(ECE(10).measure(probs, target))],
    "uncertainty-calibration": lambda probs, target: [
        float(calibration.get_ece(probs, target, num_bins=10, mode="top-label"))
    ],
}
"""scikit-learn has calibration curves of binary outcomes only."""


def our_classwise(probs: Values, target: Labels) -> list[float]:
    """ECE of each class, averaged over the classes."""
    rows, classes = probs.shape
    group = np.tile(np.arange(classes), rows)
    right = (np.arange(classes) == target[:, np.newaxis]).ravel()
    sums = BinSums.from_pairs(probs.ravel(), right, group=group, n_rows=rows, n_groups=classes, copy=False)
    return [METRICS["cw_ece"].compute(sums, Scheme("width", 10)) or 0.0]


CLASSWISE: Final[Mapping[str, Callable[[Values, Labels], list[float]]]] = {
    OURS: our_classwise,
    "uncertainty-calibration": lambda probs, target: [
        float(calibration.get_ece(probs, target, num_bins=10, mode="marginal"))
    ],
}
"""The others have no classwise ECE."""


# --- The data -----------------------------------------------------------------------------------------------

CASES: Final = {
    "double precision": "nearly all confidences different, float64",
    "single precision": "the same in float32",
    "tenths": "0, 0.1, …, 1, float64: confidences that lie on edges",
}


def pairs(rows: int, case: str = "double precision") -> tuple[Values, Values]:
    """The confidences and outcomes of one case, from the seed; shape (rows,) each."""
    random = np.random.default_rng(SEED)
    confidence = random.beta(5, 2, rows)
    if case == "tenths":
        confidence = np.round(confidence, 1)
    # Gaps of both signs: with one sign alone every binning gives the same ECE.
    chance = confidence + 0.1 * np.sin(8 * np.pi * confidence)
    correct = (random.random(rows) < chance).astype(np.float64)
    return confidence.astype(np.float32 if case == "single precision" else np.float64), correct


def distributions(rows: int, classes: int) -> tuple[Values, Labels]:
    """Distributions over the classes, shape (rows, classes), and labels drawn from flatter ones."""
    random = np.random.default_rng(SEED)
    probs = random.dirichlet(np.full(classes, 2 / classes), rows)
    flat = np.cumsum(0.8 * probs + 0.2 / classes, axis=1)
    return probs, (flat < random.random((rows, 1))).sum(axis=1).clip(max=classes - 1)


# --- The measurements ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class Taken:
    """What one library took for one input, in every round, and what it returned."""

    seconds: list[float] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)

    def ratio(self, to: Taken) -> float:
        """Its time as a multiple of another's in the same round; the median of the rounds."""
        return median(own / other for own, other in zip(self.seconds, to.seconds, strict=True))

    def apart(self, other: Taken) -> float:
        """Largest difference of its numbers from another's."""
        return max(abs(a - b) for a, b in zip(self.numbers, other.numbers, strict=True))


Growth = dict[int, dict[str, Taken]]
"""Times and numbers by size and library."""


def timed(calls: Mapping[str, Callable[[], list[float]]], rounds: int = ROUNDS) -> dict[str, Taken]:
    """Processor seconds of all calls, in turn in every round."""
    taken = {name: Taken() for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            begun = time.process_time()
            taken[name].numbers = call()
            taken[name].seconds.append(time.process_time() - begun)
    return taken


def over(sizes: Sequence[int], calls_at: Callable[[int], Mapping[str, Callable[[], list[float]]]]) -> Growth:
    """Times by size, ascending; without a library whose time, if it grew as the size does, passed LONGEST."""
    growth: Growth = {}
    for size in sizes:
        calls = calls_at(size)
        if growth:
            before = max(growth)
            most = LONGEST * before / size
            calls = {
                name: calls[name] for name, taken in growth[before].items() if median(taken.seconds) <= most
            }
        growth[size] = timed(calls)
        print(size, {name: f"{median(taken.seconds):.3g} s" for name, taken in growth[size].items()})
    return growth


def exponent(growth: Growth, name: str, least: int) -> str:
    """The a of time ∝ size^a, by least squares on the logarithms, from the size `least` on."""
    points = [(size, median(taken[name].seconds)) for size, taken in growth.items() if name in taken]
    sizes, seconds = np.log([point for point in points if point[0] >= least]).T
    return f"{np.polyfit(sizes, seconds, 1)[0]:.2f}" if sizes.size > 1 else "–"


def peak_memory(name: str, rows: int) -> float:
    """Most memory in MB that a library's seven ECE needed beyond their input, on Linux; in a new process."""
    PEERS[name](*pairs(10_000), BINS)  # what is imported late
    confidence, correct = pairs(rows)
    ctypes.CDLL(None).malloc_trim(0)  # what making them needed
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = _status("VmRSS")
    PEERS[name](confidence, correct, BINS)
    return (_status("VmHWM") - before) / 1000


def _status(entry: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(entry))


LOADING: Final = """import sys, time
import numpy as np
from calib_core import bins
begun = time.process_time()
bins.compiled_add_pairs(np.dtype(np.float64))
print(time.process_time() - begun)
"""


def loading_seconds() -> float:
    """Processor seconds in which Numba and code that it compiled before are loaded, in new processes."""
    command = [sys.executable, "-c", LOADING]
    return median(
        float(subprocess.run(command, capture_output=True, check=True).stdout)  # noqa: S603  our own program
        for _ in range(ROUNDS)
    )


# --- The page -----------------------------------------------------------------------------------------------


def markdown(titles: Sequence[str], rows: Sequence[Sequence[str]], n_texts: int = 1) -> str:
    """A table; columns after `n_texts` are numbers."""
    rule = [" --- " if at < n_texts else " --: " for at in range(len(titles))]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(["| " + " | ".join(titles) + " |", "|" + "|".join(rule) + "|", *lines])


def growth_table(growth: Growth, names: Sequence[str], least: int = 0, symbol: str = "") -> str:
    """Ratio and seconds of every library at every size, and how they grow."""

    def cell(taken: Mapping[str, Taken], name: str) -> str:
        if name not in taken:
            return "–"
        return f"{taken[name].ratio(taken[OURS]):.1f} ({median(taken[name].seconds):.2g} s)"

    rows = [
        [name, *(cell(taken, name) for taken in growth.values()), exponent(growth, name, least)]
        for name in names
    ]
    return markdown(["library", *(f"{symbol}{size:,}" for size in growth), "exponent"], rows)


def agreement_table() -> str:
    """The largest difference of each library's seven ECE from ours, and its time, case by case."""
    taken: dict[str, dict[str, Taken]] = {}
    for case in CASES:
        confidence, correct = pairs(MEDIUM, case)
        taken[case] = timed(
            {name: partial(peer, confidence, correct, BINS) for name, peer in PEERS.items()}, 3
        )
    rows = [
        [
            name,
            "this tree" if name.startswith(OURS) else version(name),
            *(
                f"{run[name].apart(run[OURS]):.1e} ({run[name].ratio(run[OURS]):.1f})"
                for run in taken.values()
            ),
        ]
        for name in PEERS
    ]
    return markdown(["library", "version", *CASES], rows, 2)


def memory_table(growth: Growth) -> str:
    """Peak memory from a million pairs on, each in a new process."""
    sizes = [size for size in growth if size >= MEDIUM]
    rows: list[list[str]] = []
    for name in PEERS:
        row = [name]
        for size in sizes:
            if name not in growth[size]:
                row.append("–")
                continue
            with ProcessPoolExecutor(1, get_context("spawn")) as process:
                row.append(f"{process.submit(peak_memory, name, size).result():,.0f} MB")
        rows.append(row)
    return markdown(["library", *(f"{size:,}" for size in sizes)], rows)


def draw(growth: Growth, caption: str) -> None:
    """Time against pairs, one line per library; dark on white, so that it is legible on any page."""
    mpl.rcParams |= {
        "svg.hashsalt": "peers",
        "svg.fonttype": "none",
        "font.size": 9,
    }
    figure = Figure(figsize=(7.2, 4.0), layout="constrained")
    axes = figure.subplots()
    colours = ("#0b5cad", "#b35900", "#6b4fa0", "#00756b", "#a3314f", "#5c6670")
    for name, colour in zip((name for name in PEERS if name != WITHOUT_NUMBA), colours, strict=True):
        points = [(size, median(taken[name].seconds)) for size, taken in growth.items() if name in taken]
        width, weight = (2.4, "bold") if name == OURS else (1.2, "normal")
        axes.plot(*zip(*points, strict=True), "o-", color=colour, linewidth=width, markersize=4)
        # Beside the last point, or above it where other lines go on.
        beside = points[-1][0] == max(growth)
        place = {"xytext": (7, 0), "va": "center"} if beside else {"xytext": (0, 7), "ha": "center"}
        axes.annotate(name, points[-1], textcoords="offset points", color=colour, weight=weight, **place)
    axes.set(xscale="log", yscale="log", xlabel="pairs", ylabel="processor time", title=caption)
    axes.set_xticks(list(growth), [f"{size:,}" for size in growth])
    axes.set_xlim(right=max(growth) * 4)
    axes.yaxis.set_major_formatter(lambda seconds, _: f"{seconds:g} s")
    axes.grid(color="#d9dde2", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.minorticks_off()
    figure.savefig(FIGURE, metadata={"Date": None})


EXPLANATION: Final = """Where the numbers differ, and why:

- Edges. Ours are closed on the right, (0.2, 0.4], and a stored 0.3 lies exactly at 3/10; so are those of
  scikit-learn and uncertainty-calibration. torchmetrics, netcal and relplot close theirs on the left, and
  compute the edges as multiples of a rounded 1/M, so that a tenth may fall on either side. If confidences
  lie on edges, this changes the second digit.
- Precision. torchmetrics, netcal and relplot add float32 confidences in float32; ours are added in
  float64, in which float32 values are exact. torchmetrics also turns top labels' probabilities into float32.
- The remaining differences, below 1e-11, come from the order of addition."""

LEFT_OUT: Final = (
    "Left out: torch-uncertainty 0.13.0, whose calibration error is the class of torchmetrics with a plot "
    "added, and which needs torchvision and Lightning even to be imported."
)


def page(largest: int) -> Iterator[str]:
    """The parts of peers.md; draws the figure on the way."""
    sizes = [size for size in SIZES if size <= largest]
    load = os.getloadavg()[0]
    taken_on = (
        f"{datetime.now(UTC):%Y-%m-%d}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"load {load:.1f} before, Python {platform.python_version()}, numpy {version('numpy')}, "
        f"torch {version('torch')}, one thread, {ROUNDS} interleaved rounds, seed {SEED}."
    )
    for peer in PEERS.values():
        peer(*pairs(100), BINS)  # what is imported late

    def seven(rows: int) -> dict[str, Callable[[], list[float]]]:
        confidence, correct = pairs(rows)
        return {name: partial(peer, confidence, correct, BINS) for name, peer in PEERS.items()}

    million = pairs(MEDIUM)

    def one(bins: int) -> dict[str, Callable[[], list[float]]]:
        return {name: partial(peer, *million, (bins,)) for name, peer in PEERS.items()}

    def of_classes(
        functions: Mapping[str, Callable[[Values, Labels], list[float]]], classes: int
    ) -> dict[str, Callable[[], list[float]]]:
        probs, target = distributions(10_000, classes)
        return {name: partial(function, probs, target) for name, function in functions.items()}

    yield "# The same numbers from other libraries"
    yield (
        "Written by `make bench-peers` (`python benchmarks/peers/compare.py`). A cell is the processor time "
        f"that a library takes, as a multiple of the time of `{OURS}` in the same round (median of the "
        "rounds), and in brackets its median in seconds. No library copies the pairs that it is given (ours: "
        "`copy=False`). The exponent is the a of time ∝ size^a, fitted by "
        "least squares. A dash: left out, since its time at the size before, if it grew as the size does, "
        f"would pass {LONGEST:.0f} s."
    )
    growth = over(sizes, seven)
    draw(growth, "ECE at seven M: processor time by number of pairs")
    yield f"## By number of pairs\n\nECE at M = {', '.join(map(str, BINS))}; exponent from 100,000 pairs on."
    yield growth_table(growth, list(PEERS), least=100_000)
    saved = median(growth[MEDIUM][WITHOUT_NUMBA].seconds) - median(growth[MEDIUM][OURS].seconds)
    loading = loading_seconds()
    yield (
        f"Here and below, Numba is loaded before {OURS} is called. Loading it, and code that it compiled "
        f"before, takes {loading:.2f} s; adding up a million pairs, it saves {saved * 1000:.0f} ms. Where it "
        f"is not loaded, it is used from {MIN_COMPILED_PAIRS:,} pairs on, which mostly are added up twice: "
        "their confidences and the squares of these."
    )
    yield "Most memory beyond the input, each in its own process:"
    yield memory_table(growth)
    yield "## By M\n\nOne ECE of a million pairs."
    yield growth_table(over((10, 100, 1000), one), list(PEERS), symbol="M = ")
    yield "## By number of classes\n\n10,000 distributions over K classes, M = 10. ECE of the top label:"
    top = over((4, 100, 1000), partial(of_classes, TOP_LABEL))
    yield growth_table(top, list(TOP_LABEL), symbol="K = ")
    yield "Classwise ECE, averaged over the classes:"
    classwise = over((4, 100, 1000), partial(of_classes, CLASSWISE))
    yield growth_table(classwise, list(CLASSWISE), symbol="K = ")
    apart = max(
        taken[name].apart(taken[OURS]) for run in (top, classwise) for taken in run.values() for name in taken
    )
    yield f"The largest difference from ours in these two tables is {apart:.1e}."
    cases = "; ".join(f"{name}: {meaning}" for name, meaning in CASES.items())
    yield (
        "## Agreement\n\nThe largest difference of the seven ECE from ours, for a million pairs, and in "
        f"brackets the ratio of times. {cases[0].upper()}{cases[1:]}."
    )
    yield agreement_table()
    yield EXPLANATION
    yield LEFT_OUT
    yield taken_on


def main() -> None:
    """Measures, draws, and writes and prints the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, choices=SIZES[2:], default=LARGEST, help="most pairs")
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    text = "\n\n".join(page(parser.parse_args().largest)) + "\n"
    REPORT.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    sys.exit(main())
