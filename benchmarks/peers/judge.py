"""Let other tools compute agreement and pass rates of small data sets, and keep their values.

Writes tests/fixtures/judge.json: Cohen's κ of scikit-learn, Krippendorff's α of krippendorff, and the mean
and interval of PPI++ of ppi-python. The suite compares `calib_core.inference` with it, so that it needs none
of the tools.
"""

# pyright: reportMissingImports=false, reportMissingModuleSource=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportMissingTypeStubs=false
# (the other libraries are only in requirements.txt beside this file)

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import krippendorff
import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from sklearn.metrics import cohen_kappa_score

TABLE: Final = Path(__file__).parents[2] / "tests" / "fixtures" / "judge.json"
SEED: Final = 20261129


def kappas(random: np.random.Generator) -> list[dict[str, Any]]:
    """Labels of judge and person, and κ by its weights."""
    found: list[dict[str, Any]] = []
    for n, n_labels, noise in ((30, 2, 0.2), (60, 3, 0.5), (120, 5, 0.3), (200, 5, 0.8)):
        human = random.integers(0, n_labels, n)
        judge = np.where(random.random(n) < noise, random.integers(0, n_labels, n), human)
        found.append(
            {
                "judge": judge.tolist(),
                "human": human.tolist(),
                "kappa": {
                    str(weights).lower(): float(
                        cohen_kappa_score(judge, human, labels=np.arange(n_labels), weights=weights)
                    )
                    for weights in (None, "linear", "quadratic")
                },
            }
        )
    return found


def alphas(random: np.random.Generator) -> list[dict[str, Any]]:
    """Labels of several people, −1 where one gave none, and α by its level."""
    found: list[dict[str, Any]] = []
    for n, people, values in ((25, 2, [0, 1]), (40, 3, [1, 2, 3, 4, 5]), (60, 4, [1, 2, 4, 8])):
        truth = random.integers(0, len(values), (n, 1))
        labels = np.where(
            random.random((n, people)) < 0.3, random.integers(0, len(values), (n, people)), truth
        )
        labels[random.random((n, people)) < 0.2] = -1
        by_person = np.where(labels < 0, np.nan, np.array(values, float)[labels]).T
        found.append(
            {
                "labels": labels.tolist(),
                "values": values,
                "alpha": {
                    level: float(
                        krippendorff.alpha(
                            reliability_data=by_person, level_of_measurement=level, value_domain=values
                        )
                    )
                    for level in ("nominal", "ordinal", "interval")
                },
            }
        )
    return found


def pass_rates(random: np.random.Generator) -> list[dict[str, Any]]:
    """Which rows pass by judge and person, the first ones labelled, and PPI++ with its interval."""
    found: list[dict[str, Any]] = []
    for n, n_labelled, rate, noise in ((200, 40, 0.7, 0.15), (300, 100, 0.9, 0.1), (150, 30, 0.5, 0.5)):
        human = random.random(n) < rate
        judge = human ^ (random.random(n) < noise)
        truth, said, rest = (
            values.astype(float) for values in (human[:n_labelled], judge[:n_labelled], judge[n_labelled:])
        )
        # ppi_mean_ci centres λ at the estimate without power tuning; covariance and variance stay the same.
        low, high = ppi_mean_ci(truth, said, rest, alpha=0.05)
        found.append(
            {
                "judge": judge.astype(int).tolist(),
                "human": human[:n_labelled].astype(int).tolist(),
                "value": float(np.squeeze(ppi_mean_pointestimate(truth, said, rest))),
                "interval": [float(np.squeeze(low)), float(np.squeeze(high))],
            }
        )
    return found


def main() -> None:
    """Runs the tools on every data set and writes the table."""
    random = np.random.default_rng(SEED)
    table = {
        "made by": "benchmarks/peers/judge.py",
        "versions": {name: version(name) for name in ("krippendorff", "ppi-python", "scikit-learn")},
        "kappa": kappas(random),
        "alpha": alphas(random),
        "pass_rate": pass_rates(random),
    }
    TABLE.write_text(json.dumps(table) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
