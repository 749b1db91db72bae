"""How is the calibration error computed elsewhere? The conventions in use, each as data.

A convention says into which bins confidences fall and how the gaps of the bins become one number. Some are
those of a tool, by its name and version; the others are every combination of the usual choices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import Binned, BinSums, Counts
from calib_core.edges import DEFAULT_SCHEME, Binning, Closed, Floats64, Scheme, bin_between, inner_edges
from calib_core.errors import Unavailable

Norm = Literal["l1", "l2", "max"]
"""How the gaps of the bins become one number: weighted mean, root of the weighted mean square, largest."""

EdgeRule = Literal[
    "exact",
    "numpy linspace",
    "torch linspace",
    "quotient",
    "division",
    "percentile",
    "midpoint",
    "values or midpoint",
    "row blocks",
    "kernel",
]
"""How a tool finds the bin of a confidence; "exact" is the rule of `calib_core.edges`."""

CheckedAgainst = Literal["tool", "formula", "ours"]
"""What a convention is verified against: values that the tool computed, its published code, or our tests."""

NORM_TITLES: Final[Mapping[Norm, str]] = MappingProxyType(
    {"l1": "mean gap", "l2": "root mean square gap", "max": "largest gap"}
)
"""Norm → its name on screen."""


@dataclass(frozen=True, slots=True)
class Convention:
    """One way to compute the calibration error of pairs (confidence, outcome).

    Attributes
    ----------
    id : str
    title : str
        Name shown to people.
    source : str
        Where the convention is defined: a function of a package, a script, a paper.
    tool, version : str or None
        The tool whose convention it is, and the version that was verified; None for a plain combination, and
        for a tool whose published formula alone was verified.
    bins : int or None
        M; None where the data decide how many bins there are.
    binning : {"width", "mass", "natural"} or None
        None without bins.
    closed : {"left", "right"} or None
        Side on which bins hold their edges; None without edges.
    norm : {"l1", "l2", "max"}
    edges : EdgeRule
        How the bin of a confidence is found.
    one_alone : bool
        Whether a confidence of exactly 1 is a bin of its own, as bins closed on the left have it if nobody
        makes an exception of the last.
    debiased : bool
        Whether the sampling variance of the accuracy is subtracted from each squared gap.
    rows_per_bin : int or None
        Rows of a bin, where that is fixed rather than M.
    drops_last_bin : bool
        Whether the last bin is left out of the sum, but not of the number of rows.
    tolerance : float
        How far the value may be from the tool's.
    """

    id: str
    title: str
    source: str
    tool: str | None = None
    version: str | None = None
    bins: int | None = 10
    binning: Binning | None = "width"
    closed: Closed | None = "right"
    norm: Norm = "l1"
    edges: EdgeRule = "exact"
    one_alone: bool = False
    debiased: bool = False
    rows_per_bin: int | None = None
    drops_last_bin: bool = False
    tolerance: float = 1e-9

    @property
    def check(self) -> CheckedAgainst:
        """What the value is verified against."""
        return "tool" if self.version else "formula" if self.tool else "ours"

    @property
    def scheme(self) -> Scheme | None:
        """The bins, where they are ours: closed on the right or of equal mass; otherwise None."""
        if self.edges != "exact" or self.closed != "right" or self.binning is None or self.bins is None:
            return None
        return Scheme(self.binning, self.bins)

    @property
    def is_default(self) -> bool:
        """Whether this is the ECE that Calib shows unless asked otherwise."""
        return self.id == DEFAULT_ID

    @property
    def check_note(self) -> str:
        """What the value was verified against, as a sentence."""
        if self.check == "tool":
            return f"Verified against {self.tool} {self.version} itself, to {self.tolerance:g}."
        if self.check == "formula":
            return "Verified against the published formula, not against the tool itself."
        return "Calib's own."

    @property
    def checked_against(self) -> str:
        """The same in a few words: "scikit-learn 1.9.1"."""
        if self.check == "tool":
            _, by, library = (self.version or "").partition(" by ")
            return library if by else f"{self.tool} {self.version}"
        return "published formula" if self.check == "formula" else "Calib's own"


def _combination(binning: Binning, bins: int, closed: Closed, norm: Norm) -> Convention:
    side = f", {closed}-closed" if binning == "width" else ""
    return Convention(
        id=f"{binning}-{bins}{f'-{closed}' if binning == 'width' else ''}-{norm}",
        title=f"equal {binning}, M = {bins}{side}, {NORM_TITLES[norm]}",
        source="Naeini et al. 2015, doi:10.1609/aaai.v29i1.9602; Guo et al. 2017, arXiv:1706.04599",
        bins=bins,
        binning=binning,
        closed=closed,
        norm=norm,
    )


DEFAULT_ID: Final = f"{DEFAULT_SCHEME.binning}-{DEFAULT_SCHEME.bins}-right-l1"
"""Id of the convention of the ECE that Calib shows by default."""

_BINNINGS: Final[tuple[tuple[Binning, Closed], ...]] = (
    ("width", "right"),
    ("width", "left"),
    ("mass", "right"),
)

_COMBINATIONS: Final = tuple(
    _combination(binning, bins, closed, norm)
    for norm in NORM_TITLES
    for binning, closed in _BINNINGS
    for bins in (10, 15)
)

_NETCAL: Final = partial(Convention, tool="netcal", version="1.4.0", closed="left", edges="numpy linspace")
_SCIKIT_LEARN: Final = partial(Convention, tool="scikit-learn", version="1.9.1", bins=5)
_RELPLOT: Final = partial(Convention, tool="relplot", version="1.0.3")
_UNCERTAINTY_CALIBRATION: Final = partial(
    Convention, tool="uncertainty-calibration", version="0.1.4", bins=15
)
_HELM: Final = partial(Convention, tool="HELM")
_HLE: Final = partial(Convention, bins=None, binning="mass", norm="l2", edges="row blocks", rows_per_bin=100)

_TOOLS: Final = (
    *(
        Convention(
            id=f"torchmetrics-{norm}",
            title=f"torchmetrics, M = 15, {NORM_TITLES[norm]}",
            source="torchmetrics.functional.classification.binary_calibration_error(n_bins=15)",
            tool="torchmetrics",
            version="1.9.0",
            bins=15,
            closed="left",
            norm=norm,
            edges="torch linspace",
            one_alone=True,
        )
        for norm in NORM_TITLES
    ),
    _NETCAL(id="netcal-ece", title="netcal, ECE(10)", source="netcal.metrics.ECE(bins=10)"),
    _NETCAL(id="netcal-mce", title="netcal, MCE(10)", source="netcal.metrics.MCE(bins=10)", norm="max"),
    _SCIKIT_LEARN(
        id="scikit-learn-uniform",
        title="scikit-learn, calibration_curve, uniform, M = 5",
        source="sklearn.calibration.calibration_curve(n_bins=5, strategy='uniform'), weighted by count",
        edges="numpy linspace",
    ),
    _SCIKIT_LEARN(
        id="scikit-learn-quantile",
        title="scikit-learn, calibration_curve, quantile, M = 5",
        source="sklearn.calibration.calibration_curve(n_bins=5, strategy='quantile'), weighted by count",
        binning="mass",
        edges="percentile",
    ),
    _RELPLOT(
        id="relplot-binned",
        title="relplot, binnedECE, M = 10",
        source="relplot.metrics.binnedECE(nbins=10)",
        closed="left",
        edges="division",
        one_alone=True,
    ),
    _RELPLOT(
        id="relplot-smooth",
        title="relplot, smECE, kernel cut at ±1/2",
        source="relplot.metrics.smECE; Błasiok, Nakkiran 2023, arXiv:2309.12236",
        bins=None,
        binning=None,
        closed=None,
        edges="kernel",
    ),
    _UNCERTAINTY_CALIBRATION(
        id="uncertainty-calibration-ece",
        title="uncertainty-calibration, get_ece, M = 15",
        source="calibration.get_ece(num_bins=15)",
        edges="quotient",
    ),
    _UNCERTAINTY_CALIBRATION(
        id="uncertainty-calibration-ece-em",
        title="uncertainty-calibration, get_ece_em, M = 15",
        source="calibration.get_ece_em(num_bins=15)",
        binning="mass",
        edges="midpoint",
    ),
    _UNCERTAINTY_CALIBRATION(
        id="uncertainty-calibration-verified",
        title="uncertainty-calibration, get_calibration_error (debiased)",
        source="calibration.get_calibration_error(p=2, debias=True); Kumar et al. 2019, arXiv:1909.10155",
        binning="mass",
        norm="l2",
        edges="values or midpoint",
        debiased=True,
    ),
    _HELM(
        id="helm-ece-10",
        title="HELM, ece_10_bin",
        source="HELM, ece_10_bin: calibration.get_ece_em(num_bins=10) of uncertainty-calibration",
        version="ece_10_bin by uncertainty-calibration 0.1.4",
        binning="mass",
        edges="midpoint",
    ),
    _HELM(
        id="helm-ece-1",
        title="HELM, ece_1_bin",
        source="HELM, ece_1_bin: calibration.get_ece(num_bins=1) of uncertainty-calibration",
        version="ece_1_bin by uncertainty-calibration 0.1.4",
        bins=1,
        edges="quotient",
    ),
    _HLE(
        id="hle",
        title="Humanity's Last Exam, calib_err (last bin dropped)",
        source="Humanity's Last Exam, run_judge_results.py, calib_err(p='2', beta=100); arXiv:2501.14249",
        tool="Humanity's Last Exam",
        drops_last_bin=True,
    ),
    _HLE(
        id="hle-all-bins",
        title="Humanity's Last Exam, calib_err with its last bin",
        source="Humanity's Last Exam, run_judge_results.py, with a loop over every bin",
        tool="Humanity's Last Exam, mended",
    ),
    Convention(
        id="rlcr",
        title="RLCR's authors",
        source="Damani et al. 2025, arXiv:2507.16806: the ECE of their metrics.json",
        tool="RLCR",
        closed="left",
        edges="numpy linspace",
    ),
)

CONVENTIONS: Final[Mapping[str, Convention]] = MappingProxyType(
    {convention.id: convention for convention in (*_COMBINATIONS, *_TOOLS)}
)
"""Every convention by id: first the combinations, then those of tools."""


# --- The bins of a convention -------------------------------------------------------------------------------


def _exact(convention: Convention, c: Floats64) -> NDArray[np.intp]:
    closed = convention.closed or "right"
    return bin_between(c, inner_edges(convention.bins or 1, c.dtype, closed), closed)


def _numpy_linspace(convention: Convention, c: Floats64) -> NDArray[np.intp]:
    edges = np.linspace(0.0, 1.0, (convention.bins or 1) + 1)
    return bin_between(c, edges[1:-1], convention.closed or "right")


def _torch_linspace(convention: Convention, c: Floats64) -> NDArray[np.intp]:
    """PyTorch counts the second half of its edges down from 1, and rounds each once (fused multiply-add)."""
    bins = convention.bins or 1
    step, half = Fraction(1.0 / bins), (bins + 1) // 2
    edges = [float(step * m if m < half else 1 - step * (bins - m)) for m in range(1, bins + 1)]
    return bin_between(c, np.array(edges), "left")


def _quotient(convention: Convention, c: Floats64) -> NDArray[np.intp]:
    bins = convention.bins or 1
    return bin_between(c, np.arange(1, bins) / bins, "right")


def _division(convention: Convention, c: Floats64) -> NDArray[np.intp]:
    return (c / (1.0 / (convention.bins or 1))).astype(np.intp)


def _percentile(convention: Convention, c: Floats64) -> NDArray[np.intp]:
    edges = np.percentile(c, np.linspace(0, 1, (convention.bins or 1) + 1) * 100)
    return bin_between(c, edges[1:-1], "right")


def _midpoint(convention: Convention, c: Floats64) -> NDArray[np.intp]:
    parts = np.array_split(np.sort(c), min(convention.bins or 1, c.size))
    edges = [(below[-1] + above[0]) / 2.0 for below, above in pairwise(parts)]
    return bin_between(c, np.unique([*edges, 1.0]), "right")


def _values_or_midpoint(convention: Convention, c: Floats64) -> NDArray[np.intp]:
    """A bin for each value where there are fewer values than a quarter of the rows."""
    values, position = np.unique(c, return_inverse=True)
    return position if values.size < c.size / 4 else _midpoint(convention, c)


def _row_blocks(convention: Convention, c: Floats64) -> NDArray[np.intp]:
    """Blocks of `rows_per_bin` sorted rows, the last with the remainder; ties stay in the file's order."""
    size = convention.rows_per_bin or 1
    blocks = c.size // size
    fewest = 2 if convention.drops_last_bin else 1
    if blocks < fewest:
        raise Unavailable(f"{convention.title} needs {fewest * size} rows, and there are {c.size:,}.")
    index = np.empty(c.size, np.intp)
    index[np.argsort(c, kind="stable")] = np.minimum(np.arange(c.size) // size, blocks - 1)
    return index


_BIN_INDEX: Final[Mapping[EdgeRule, Callable[[Convention, Floats64], NDArray[np.intp]]]] = MappingProxyType(
    {
        "exact": _exact,
        "numpy linspace": _numpy_linspace,
        "torch linspace": _torch_linspace,
        "quotient": _quotient,
        "division": _division,
        "percentile": _percentile,
        "midpoint": _midpoint,
        "values or midpoint": _values_or_midpoint,
        "row blocks": _row_blocks,
    }
)


# --- The smooth error of relplot ----------------------------------------------------------------------------

_RELPLOT_HALVINGS: Final = 10
"""Halvings of the bandwidth's interval [0, 1]."""

_RELPLOT_POINTS: Final = 200
"""Points at which the smoothed error is evaluated, unless 10 for each bandwidth are more."""

_RELPLOT_FLOOR: Final = 1e-4
"""Added to the smoothed number of rows at each point."""


def _relplot_smooth_error(confidence: Floats64, correct: NDArray[np.bool_]) -> float:
    """The smooth ECE as relplot computes it: its kernel is cut, and the error divided by the rows it keeps.

    `metrics.smooth_ece` has the whole kernel, whose weights sum to 1.
    """
    residual = confidence - correct
    narrow, wide = 0.0, 1.0
    for _ in range(_RELPLOT_HALVINGS):
        middle = (narrow + wide) / 2
        if middle < 1e-3 or middle < _relplot_error_at(middle, confidence, residual):
            narrow = middle
        else:
            wide = middle
    return _relplot_error_at(wide, confidence, residual)


def _relplot_error_at(bandwidth: float, confidence: Floats64, residual: Floats64) -> float:
    points = np.linspace(0, 1, max(round(10 / bandwidth), _RELPLOT_POINTS))
    error = _relplot_smoothed(bandwidth, confidence, residual, points)
    rows = _relplot_smoothed(bandwidth, confidence, np.ones_like(residual), points)
    return float(np.abs(error).sum() / (rows + _RELPLOT_FLOOR).sum())


def _relplot_smoothed(bandwidth: float, confidence: Floats64, weight: Floats64, points: Floats64) -> Floats64:
    """Weights divided between the nodes of a grid, smoothed by a kernel that is cut at ±1/2 and reflected."""
    intervals = max(2000, round(20 / bandwidth)) // 2
    nodes = np.arange(intervals + 1) / intervals
    place = confidence * intervals
    below = np.minimum(place.astype(np.intp), intervals - 1)
    upper = weight * (place - below)
    at_nodes = np.bincount(below, weight - upper, intervals + 1) + np.bincount(
        below + 1, upper, intervals + 1
    )
    reflected = np.concatenate([at_nodes[:0:-1], at_nodes, at_nodes[-2::-1]])
    kernel = np.exp(-((nodes - 0.5) ** 2) / (2 * bandwidth**2)) / (np.sqrt(2 * np.pi) * bandwidth)
    length = reflected.size + kernel.size - 1
    convolved = np.fft.irfft(np.fft.rfft(reflected, length) * np.fft.rfft(kernel, length), length)
    start = intervals + (intervals + 1) // 2
    return np.interp(points, nodes, convolved[start : start + intervals + 1])


# --- The value of a convention ------------------------------------------------------------------------------


def error_of_pairs(convention: Convention, confidence: Floats64, correct: NDArray[np.bool_]) -> float:
    """The calibration error of pairs under a convention, in [0, 1].

    Parameters
    ----------
    convention : Convention
    confidence : NDArray[np.float64], shape (n,)
        In [0, 1]; at least one.
    correct : NDArray[np.bool_], shape (n,)

    Raises
    ------
    Unavailable
        Where the convention needs more rows.
    """
    if convention.scheme is not None:
        binned = BinSums.from_pairs(confidence, correct).binned(convention.scheme)
        return error_of_bins(convention, binned)
    if convention.edges == "kernel":
        return _relplot_smooth_error(confidence, correct)
    index = _BIN_INDEX[convention.edges](convention, confidence)
    count = np.bincount(index)
    confidence_sum = np.bincount(index, confidence).astype(np.float64)
    n_correct = np.bincount(index, correct.astype(np.float64)).astype(np.float64)
    kept = np.flatnonzero(count)[: -1 if convention.drops_last_bin else None]
    return _error(convention, count[kept], confidence_sum[kept], n_correct[kept], confidence.size)


def error_of_bins(convention: Convention, binned: Binned) -> float:
    """The calibration error from the sums of the convention's own bins, of which none is empty."""
    n = int(binned.count.sum())
    return _error(convention, binned.count, binned.confidence, binned.correct.astype(np.float64), n)


def _error(convention: Convention, count: Counts, confidence: Floats64, correct: Floats64, n: int) -> float:
    gap = np.abs(correct - confidence) / count
    if convention.norm == "max":
        return float(gap.max())
    if convention.norm == "l1":
        return float((count * gap).sum() / n)
    squares = gap**2
    if convention.debiased:
        accuracy = correct / count
        variance = accuracy * (1 - accuracy) / np.maximum(count - 1, 1)
        squares = np.where(count > 1, squares - variance, 0.0)
    return float(np.sqrt(max(float((count * squares).sum() / n), 0.0)))
