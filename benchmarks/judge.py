"""How often do the intervals of a judge against people hold, and how often are its tests wrong?

Writes benchmarks/judge.md in about four minutes: `python benchmarks/judge.py`. A judge labels 1,000 rows and
people some of them. Its sensitivity and the share that truly passes vary; its specificity is .9. In the
clustered half, questions have five rows, whose truth and whose errors of the judge are correlated, and people
label whole questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from benchmark_page import date_line, percent, points_known, table, write_page
from calib_core.inference.agreement import (
    AlphaLevel,
    KappaWeights,
    Measure,
    cohen_kappa,
    kappa_weights,
    krippendorff_alpha,
    mean_bias,
    share_of,
    share_within,
)
from calib_core.inference.group_difference import compare_groups
from calib_core.inference.labels_needed import labels_for_pass_rate
from calib_core.inference.multiplicity import holm
from calib_core.inference.order_effect import order_effect
from calib_core.inference.paired_test import paired_test
from calib_core.inference.pass_rate import pass_rates, shortest

SEED: Final = 20261128
REPEATS: Final = 600
N_ROWS: Final = 1000
ROWS_PER_QUESTION: Final = 5
SPECIFICITY: Final = 0.9
CORRELATION: Final = 0.5
"""Of the normal variables behind truth and errors of the rows of one question."""
SENSITIVITIES: Final = (0.7, 0.85, 0.95)
BASE_RATES: Final = (0.5, 0.8, 0.95)
LABELS: Final = (50, 100, 200)
LABELS_OF_QUESTIONS: Final = (100, 200, 400)

Bools = NDArray[np.bool_]


class Setting(NamedTuple):
    """What a data set is drawn from."""

    n_labels: int
    sensitivity: float
    base_rate: float
    clustered: bool


class DataSet(NamedTuple):
    """Labels of judge and people, which rows people labelled, and the question of each row."""

    judge: Bools
    human: Bools
    labelled: Bools
    question: NDArray[np.intp] | None


def normals(random: np.random.Generator, *, clustered: bool) -> NDArray[np.float64]:
    """A standard normal variable for each row, correlated within questions where they have several rows."""
    own = random.standard_normal(N_ROWS)
    if not clustered:
        return own
    shared = np.repeat(random.standard_normal(N_ROWS // ROWS_PER_QUESTION), ROWS_PER_QUESTION)
    return CORRELATION**0.5 * shared + (1 - CORRELATION) ** 0.5 * own


def judged_by(random: np.random.Generator, human: Bools, sensitivity: float, *, clustered: bool) -> Bools:
    """Labels of a judge."""
    errs = normals(random, clustered=clustered) < ndtri(np.where(human, 1 - sensitivity, 1 - SPECIFICITY))
    return human ^ errs


def draw(random: np.random.Generator, setting: Setting) -> DataSet:
    """One data set."""
    human = normals(random, clustered=setting.clustered) < ndtri(setting.base_rate)
    judge = judged_by(random, human, setting.sensitivity, clustered=setting.clustered)
    labelled = np.zeros(N_ROWS, bool)
    if not setting.clustered:
        labelled[: setting.n_labels] = True
        return DataSet(judge, human, labelled, None)
    labelled[: setting.n_labels] = True  # whole questions, as rows of one question lie together
    return DataSet(judge, human, labelled, np.arange(N_ROWS) // ROWS_PER_QUESTION)


def true_values(setting: Setting) -> dict[str, float]:
    """What each measure estimates."""
    rate, sensitivity = setting.base_rate, setting.sensitivity
    agreement = rate * sensitivity + (1 - rate) * SPECIFICITY
    judged = rate * sensitivity + (1 - rate) * (1 - SPECIFICITY)
    expected = rate * judged + (1 - rate) * (1 - judged)
    return {
        "agreement": agreement,
        "κ": (agreement - expected) / (1 - expected),
        "sensitivity": sensitivity,
        "specificity": SPECIFICITY,
        **dict.fromkeys(("Rogan–Gladen", "PPI++", "labelled", "shorter"), rate),
    }


Ends = tuple[float, float] | None


def ends(measure: Measure | None) -> Ends:
    """Ends of the interval."""
    return None if measure is None else measure.interval


def intervals(data: DataSet) -> dict[str, Ends]:
    """The interval of each measure."""
    judge, human = data.judge[data.labelled], data.human[data.labelled]
    question = None if data.question is None else data.question[data.labelled]
    rates = pass_rates(*data)
    by_name = dict(zip(("Rogan–Gladen", "PPI++", "labelled"), rates[1:], strict=True))
    by_name["shorter"] = shortest(rates)
    return {
        "agreement": ends(share_of(judge == human, question)),
        "κ": ends(cohen_kappa(judge.astype(np.intp), human.astype(np.intp), 1 - np.eye(2), question)),
        "sensitivity": ends(share_within(judge, human, question)) if human.any() else None,
        "specificity": ends(share_within(~judge, ~human, question)) if not human.all() else None,
        **{name: rate.interval for name, rate in by_name.items()},
    }


def held(setting: Setting) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """Share of intervals that hold the truth, their mean length, and the share of data sets with one."""
    random = np.random.default_rng([SEED, *(int(1000 * value) for value in setting)])
    truth = true_values(setting)
    found: dict[str, list[tuple[bool, float]]] = {name: [] for name in truth}
    for _ in range(REPEATS):
        for name, interval in intervals(draw(random, setting)).items():
            if interval is not None:
                low, high = interval
                found[name].append((low - 1e-12 <= truth[name] <= high + 1e-12, high - low))
    return (
        {name: float(np.mean([hit for hit, _ in all_])) if all_ else np.nan for name, all_ in found.items()},
        {
            name: float(np.mean([width for _, width in all_])) if all_ else np.nan
            for name, all_ in found.items()
        },
        {name: len(all_) / REPEATS for name, all_ in found.items()},
    )
