"""How often is an honest file suspected? Each check of `calib_core.inference.suspicion`, on made files.

Run: PYTHONPATH=. python benchmarks/suspicion.py (ten minutes)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from statistics import NormalDist
from typing import Any, Final

import numpy as np
import polars as pl
from benchmark_page import date_line, table, write_page
from numpy.typing import NDArray

from calib_core.inference.suspicion import CHECKS
from calib_core.methods import METHODS
from calib_core.methods.method import MethodOptions
from calib_core.runs import ANSWER_SCHEMA, AnswerRun, RowCounts, RunInfo

SEED: Final = 20261128
ROWS: Final = {10: 3_000, 30: 3_000, 100: 3_000, 1_000: 500}
"""Rows → data sets."""
LETTERS: Final = np.array(list("ABCD"))
VERBAL: Final = np.array([0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0])
VERBAL_SHARES: Final = np.array([0.03, 0.04, 0.08, 0.15, 0.2, 0.25, 0.2, 0.05])

Columns = dict[str, Any]
Maker = Callable[[np.random.Generator, int], Columns]


def normal_scores(
    random: np.random.Generator, correct: NDArray[np.bool_], auroc: float
) -> NDArray[np.float64]:
    """Confidences in (0, 1) with this AUROC."""
    score = random.standard_normal(correct.size) + NormalDist().inv_cdf(auroc) * 2**0.5 * correct
    return 1 / (1 + np.exp(-score))


def scored(auroc: float, accuracy: float, decimals: int | None = None) -> Maker:
    """Rows with an outcome and a confidence, rounded where `decimals` says."""

    def make(random: np.random.Generator, n: int) -> Columns:
        correct = random.random(n) < accuracy
        confidence = normal_scores(random, correct, auroc)
        return {
            "confidence": confidence if decimals is None else confidence.round(decimals),
            "correct": correct,
        }

    return make


def rarely_confident(accuracy: float) -> Maker:
    """Confidences of 0.5, and in five of a hundred rows of 0.9, that say nothing."""

    def make(random: np.random.Generator, n: int) -> Columns:
        return {
            "confidence": np.where(random.random(n) < 0.05, 0.9, 0.5),
            "correct": random.random(n) < accuracy,
        }

    return make


def repeated(random: np.random.Generator, n: int) -> Columns:
    """Each question five times, with one outcome and nearly one confidence, which says nothing."""
    question = np.arange(n) // 5
    return {
        "confidence": np.clip(random.random(n)[question] + 0.01 * random.random(n), 0, 1),
        "correct": (random.random(n) < 0.5)[question],
        "trial_of": question.astype(str),
    }


def calibrated(decimals: int) -> Maker:
    """Letters as answers and golds, with calibrated confidences rounded to so many decimals."""

    def make(random: np.random.Generator, n: int) -> Columns:
        confidence = (0.25 + 0.75 * random.beta(4, 2, n)).round(decimals)
        return {"confidence": confidence, **letters(random, random.random(n) < confidence)}

    return make


def verbal(random: np.random.Generator, n: int) -> Columns:
    """Letters as answers and golds, with stated confidences of eight values that are too high."""
    confidence = random.choice(VERBAL, n, p=VERBAL_SHARES)
    return {"verbal_confidence": confidence, **letters(random, random.random(n) < 0.8 * confidence)}


def half_precision(random: np.random.Generator, n: int) -> Columns:
    """Letters as answers and golds, with confidences from logarithms in bfloat16, most of them near 1."""
    logs = -random.gamma(0.5, 0.3, n).astype(np.float32)
    logs = (logs.view(np.uint32) & 0xFFFF0000).view(np.float32)
    confidence = np.exp(logs.astype(np.float64))
    return {"confidence": confidence, **letters(random, random.random(n) < 0.9 * confidence)}


def letters(random: np.random.Generator, correct: NDArray[np.bool_]) -> Columns:
    """Answers among four choices with these outcomes, and their golds."""
    gold = random.integers(4, size=correct.size)
    answer = np.where(correct, gold, (gold + random.integers(1, 4, size=correct.size)) % 4)
    return {"gold": LETTERS[gold], "prediction": LETTERS[answer], "correct": correct}


def two_classes(random: np.random.Generator, n: int) -> Columns:
    """Yes or no, the probability of the answer given, which is below one half in some rows."""
    gold, correct = random.random(n) < 0.3, random.random(n) < 0.8
    names = np.array(["no", "yes"])
    return {
        "confidence": normal_scores(random, correct, 0.7),
        "correct": correct,
        "gold": names[gold.astype(int)],
        "prediction": names[(gold == correct).astype(int)],
    }


def choices(n_choices: int, skill: float) -> Maker:
    """A distribution over choices whose top label is right in this share of rows, beyond guessing."""

    def make(random: np.random.Generator, n: int) -> Columns:
        probs = random.dirichlet(np.ones(n_choices), n)
        gold = np.where(random.random(n) < skill, probs.argmax(axis=1), random.integers(n_choices, size=n))
        return {"choice_probs": probs.tolist(), "gold_index": gold}

    return make


def sampled(random: np.random.Generator, n: int) -> Columns:
    """Five samples a question, of which two of three mark an answer; half of these are right."""
    is_right = random.random((n, 5)) < 0.5
    number = np.where(is_right, 7, random.integers(8, 12, (n, 5)))
    marked = random.random((n, 5)) < 2 / 3
    return {
        "samples": [
            [
                f"The answer is {value}." if mark else "I cannot tell."
                for value, mark in zip(*row, strict=True)
            ]
            for row in zip(number, marked, strict=True)
        ],
        "gold": np.full(n, "7"),
        "answer_kind": np.full(n, "number"),
    }


KINDS: Final[Mapping[str, tuple[str, Maker]]] = {
    "AUROC .5, continuous, accuracy .5": ("given", scored(0.5, 0.5)),
    "AUROC .5, one decimal, accuracy .9": ("given", scored(0.5, 0.9, 1)),
    "AUROC .5, two values, accuracy .95": ("given", rarely_confident(0.95)),
    "AUROC .5, two values, accuracy .05": ("given", rarely_confident(0.05)),
    "AUROC .5, each question five times": ("given", repeated),
    "AUROC .45, continuous, accuracy .5": ("given", scored(0.45, 0.5)),
    "AUROC .9, continuous, accuracy .5": ("given", scored(0.9, 0.5)),
    "AUROC .95, continuous, accuracy .5": ("given", scored(0.95, 0.5)),
    "AUROC .95, one decimal, accuracy .5": ("given", scored(0.95, 0.5, 1)),
    "calibrated, two decimals": ("given", calibrated(2)),
    "calibrated, three decimals": ("given", calibrated(3)),
    "stated, eight values": ("verbal", verbal),
    "from bfloat16": ("given", half_precision),
    "yes or no": ("given", two_classes),
    "guessing among four choices": ("choice_softmax", choices(4, 0.0)),
    "four choices, accuracy .4": ("choice_softmax", choices(4, 0.2)),
    "guessing between two choices": ("choice_softmax", choices(2, 0.0)),
    "five samples": ("cluster_size", sampled),
}
"""What the files hold → the method that reads them, and what makes one."""


def made_run(columns: Columns, n: int) -> AnswerRun:
    """A run with these columns and an id for each row."""
    series = [pl.Series(name, values).cast(ANSWER_SCHEMA[name]) for name, values in columns.items()]
    numbers = pl.Series("row", range(1, n + 1))
    rows = pl.DataFrame([numbers, numbers.cast(pl.String).alias("id"), *series])
    return AnswerRun("made.jsonl", "table", "made", RunInfo(), rows, RowCounts(n))


def false_alarms() -> Iterator[list[str]]:
    """What a file holds, its rows, data sets, and the share that each check suspects."""
    for place, (title, (method, make)) in enumerate(KINDS.items()):
        for n, repeats in ROWS.items():
            n_files = repeats // 10 if METHODS[method].uses_samples else repeats  # grouping answers is slow
            random, n_found = np.random.default_rng([SEED, place, n]), np.zeros(len(CHECKS), np.int64)
            for _ in range(n_files):
                run = made_run(make(random, n), n)
                confidences = METHODS[method].confidences(run, MethodOptions())
                n_found += [check(run, confidences) is not None for check in CHECKS]
            yield [title, f"{n:,}", f"{n_files:,}", *(f"{100 * count / n_files:.2f}" for count in n_found)]


def lines() -> Iterator[str]:
    """The page, line by line."""
    yield "# How often an honest file is suspected"
    yield ""
    yield (
        f"Written by `python benchmarks/suspicion.py`, seed {SEED}: per cent of data sets in which a check "
        f"of `calib_core/inference/suspicion.py` finds something. Where none of 3,000 is suspected, the rate "
        f"is below 0.1 % with a confidence of 95 %; of 500, below 0.6 %."
    )
    yield ""
    yield from table(
        ["what the file holds", "rows", "data sets", *(check.__name__ for check in CHECKS)], false_alarms()
    )
    yield from ("", date_line())


if __name__ == "__main__":
    write_page(__file__, lines())
