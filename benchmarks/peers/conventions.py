"""Let other tools compute the calibration error of confidences on edges, and keep their values.

Writes tests/fixtures/conventions.json: small data sets, and what each tool gives for them. The suite compares
`calib_core.metrics.conventions` with it, so that it needs none of the tools.
"""

# pyright: reportMissingImports=false, reportMissingModuleSource=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
# (the other libraries are only in requirements.txt beside this file)

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Final

import calibration
import numpy as np
import relplot
import torch
from netcal.metrics import ECE, MCE
from numpy.typing import NDArray
from sklearn.calibration import calibration_curve
from torchmetrics.functional.classification import binary_calibration_error

TABLE: Final = Path(__file__).parents[2] / "tests" / "fixtures" / "conventions.json"
SEED: Final = 20261126

Confidences = NDArray[np.float64]
Outcomes = NDArray[np.int64]


def torchmetrics_(norm: str) -> Callable[[Confidences, Outcomes], float]:
    """`binary_calibration_error` at its default of 15 bins."""

    def value(c: Confidences, y: Outcomes) -> float:
        return float(binary_calibration_error(torch.from_numpy(c), torch.from_numpy(y), n_bins=15, norm=norm))

    return value


def sklearn_(strategy: str) -> Callable[[Confidences, Outcomes], float]:
    """`calibration_curve` at its default of 5 bins, weighted by the counts that it does not return."""

    def value(c: Confidences, y: Outcomes) -> float:
        accuracy, confidence = calibration_curve(y, c, n_bins=5, strategy=strategy)
        quantiles = np.linspace(0, 1, 6)
        edges = quantiles if strategy == "uniform" else np.percentile(c, quantiles * 100)
        count = np.bincount(np.searchsorted(edges[1:-1], c), minlength=5)
        return float((count[count > 0] / c.size * np.abs(accuracy - confidence)).sum())

    return value


TOOLS: Final[Mapping[str, tuple[str, Callable[[Confidences, Outcomes], float]]]] = {
    "torchmetrics-l1": ("torchmetrics", torchmetrics_("l1")),
    "torchmetrics-l2": ("torchmetrics", torchmetrics_("l2")),
    "torchmetrics-max": ("torchmetrics", torchmetrics_("max")),
    "netcal-ece": ("netcal", lambda c, y: float(ECE(10).measure(c, y))),
    "netcal-mce": ("netcal", lambda c, y: float(MCE(10).measure(c, y))),
    "scikit-learn-uniform": ("scikit-learn", sklearn_("uniform")),
    "scikit-learn-quantile": ("scikit-learn", sklearn_("quantile")),
    "relplot-binned": ("relplot", lambda c, y: float(relplot.metrics.binnedECE(c, y, nbins=10))),
    "relplot-smooth": ("relplot", lambda c, y: float(relplot.metrics.smECE(c, y))),
    "uncertainty-calibration-ece": (
        "uncertainty-calibration",
        lambda c, y: float(calibration.get_ece(c, y, num_bins=15)),
    ),
    "uncertainty-calibration-ece-em": (
        "uncertainty-calibration",
        lambda c, y: float(calibration.get_ece_em(c, y, num_bins=15)),
    ),
    "uncertainty-calibration-verified": (
        "uncertainty-calibration",
        lambda c, y: float(calibration.get_calibration_error(c, y, p=2, debias=True)),
    ),
    "helm-ece-10": ("uncertainty-calibration", lambda c, y: float(calibration.get_ece_em(c, y, num_bins=10))),
    "helm-ece-1": ("uncertainty-calibration", lambda c, y: float(calibration.get_ece(c, y, num_bins=1))),
}
"""Id of the convention → its distribution, and the tool's value."""


def data_sets() -> dict[str, tuple[list[float], list[int]]]:
    """Confidences on edges, with ties, at 0 and at 1, and a set of which nearly all values differ."""
    random = np.random.default_rng(SEED)
    levels = {
        "tenths": np.arange(11) / 10,
        "fifteenths": np.arange(16) / 15,
        "stated": np.array([0.0, 0.5, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0]),
        "constant": np.array([1.0]),
    }
    confidences: dict[str, Confidences] = {
        name: values[random.integers(0, values.size, 90)] for name, values in levels.items()
    }
    confidences["computed tenths"] = np.cumsum(np.full(10, 0.1), dtype=np.float64)[random.integers(0, 9, 90)]
    confidences["continuous"] = random.beta(4, 2, 120)
    return {
        # Gaps of both signs: with one sign alone, every binning gives the same ECE.
        name: (c.tolist(), (random.random(c.size) < c + 0.2 * np.sin(20 * c)).astype(int).tolist())
        for name, c in confidences.items()
    }


def main() -> None:
    """Runs every tool on every data set and writes the table."""
    warnings.simplefilter("ignore")
    sets = data_sets()
    values = {
        id_: {name: tool(np.array(c), np.array(y)) for name, (c, y) in sets.items()}
        for id_, (_, tool) in TOOLS.items()
    }
    table = {
        "made by": "benchmarks/peers/conventions.py",
        "versions": {name: version(name) for name in sorted({name for name, _ in TOOLS.values()})},
        "data": {name: {"confidence": c, "correct": y} for name, (c, y) in sets.items()},
        "values": values,
    }
    TABLE.write_text(json.dumps(table) + "\n", encoding="utf-8")
    for id_, row in values.items():
        print(id_, {name: round(value, 6) for name, value in row.items()})


if __name__ == "__main__":
    main()
