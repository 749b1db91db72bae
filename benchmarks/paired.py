"""Measure paired differences: whether their intervals hold the truth, and how often the best is missed.

Two models, or two confidences of one model, answer the same questions; the truth is taken from a sample of
two million. Writes paired.md beside this script.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from benchmark_page import date_line, percent, points_known, table, write_page
from numpy.typing import NDArray

from calib_core.edges import Scheme
from calib_core.inference.multiplicity import holm
from calib_core.inference.paired_test import PairedTest, paired_test
from calib_core.metrics import METRICS
from calib_core.results.best import ece_tests
from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.results.uncertainty import influence_of_one_more, side_of_one_more
from calib_core.runs import AnswerRun, RowCounts, RunInfo

SEED: Final = 20261123
REPEATS: Final = 400
REPEATS_OF_LARGE: Final = 200
REPEATS_OF_BEST: Final = 400
TRUTH_ROWS: Final = 2_000_000
ROWS: Final = (30, 100, 300, 1_000, 10_000)
QUESTIONS: Final = (30, 60, 200)
TRIALS: Final = 5
N_METHODS: Final = 6

Floats = NDArray[np.float64]
Answers = tuple[Floats, NDArray[np.bool_]]
SMOOTH: Final = [id_ for id_, metric in METRICS.items() if metric.is_smooth and metric.direction != "zero"]
MEASURED: Final = (*SMOOTH, "ece")


def logistic(logit: Floats) -> Floats:
    """1 / (1 + exp(−x))."""
    return 1 / (1 + np.exp(-logit))


@dataclass(frozen=True, slots=True)
class Rivals:
    """Two that answer the same questions.

    Attributes
    ----------
    title : str
    one_model : bool
        Whether both are confidences in the same answers.
    answer : callable
        Random generator, difficulty and luck of each row → confidences and outcomes of both.
    """

    title: str
    one_model: bool
    answer: Callable[[np.random.Generator, Floats, Floats], tuple[Answers, Answers]]


def equal_models(random: np.random.Generator, difficulty: Floats, luck: Floats) -> tuple[Answers, Answers]:
    """Two calibrated models that are equally good, and often right on the same questions."""
    chances = [logistic(1 + difficulty + 0.5 * random.standard_normal(luck.size)) for _ in range(2)]
    own_luck = np.where(random.random(luck.size) < 0.5, luck, random.random(luck.size))
    return (chances[0], luck < chances[0]), (chances[1], own_luck < chances[1])


def over_confident(random: np.random.Generator, difficulty: Floats, luck: Floats) -> tuple[Answers, Answers]:
    """One set of outcomes, stated too extremely by the second."""
    del random
    chance = logistic(1 + difficulty)
    correct = luck < chance
    return (chance, correct), (logistic(1.3 * (1 + difficulty) + 0.3), correct)


def constant(random: np.random.Generator, difficulty: Floats, luck: Floats) -> tuple[Answers, Answers]:
    """One set of outcomes; the second always states .7."""
    del random
    chance = logistic(1 + difficulty)
    correct = luck < chance
    return (chance, correct), (np.full(luck.size, 0.7), correct)


def accurate(random: np.random.Generator, difficulty: Floats, luck: Floats) -> tuple[Answers, Answers]:
    """Two models right in about 95 %, both over-confident, the second better."""
    first, second = logistic(3.2 + difficulty), logistic(3.6 + difficulty)
    own_luck = np.where(random.random(luck.size) < 0.5, luck, random.random(luck.size))
    return (np.sqrt(first), luck < first), (np.sqrt(second), own_luck < second)


def votes(random: np.random.Generator, difficulty: Floats, luck: Floats) -> tuple[Answers, Answers]:
    """One set of outcomes; the second states the share of ten votes."""
    chance = logistic(1 + difficulty)
    correct = luck < chance
    return (chance, correct), (random.binomial(10, chance) / 10, correct)


RIVALS: Final = (
    Rivals("two equal models", one_model=False, answer=equal_models),
    Rivals("calibrated against too extreme", one_model=True, answer=over_confident),
    Rivals("calibrated against always .7", one_model=True, answer=constant),
    Rivals("two over-confident, .95 right", one_model=False, answer=accurate),
    Rivals("calibrated against ten votes", one_model=True, answer=votes),
)


def drawn(random: np.random.Generator, n_questions: int, trials: int) -> tuple[Floats, Floats]:
    """Difficulty and luck of each row; trials of one question share the one and half of them the other."""
    difficulty = np.repeat(random.standard_normal(n_questions), trials)
    own, shared = random.random(difficulty.size), np.repeat(random.random(n_questions), trials)
    return difficulty, np.where(random.random(own.size) < 0.5 * (trials > 1), shared, own)


def evidences_of(answers: Sequence[Answers], cluster: NDArray[np.intp] | None) -> dict[str, AnswerEvidence]:
    """One run as seen by one method for each, on the same rows."""
    evidences: dict[str, AnswerEvidence] = {}
    for place, (confidence, correct) in enumerate(answers):
        rows = pl.DataFrame(
            {"row": np.arange(1, correct.size + 1), "confidence": confidence, "correct": correct}
        )
        if cluster is not None:
            rows = rows.with_columns(trial_of=pl.Series(cluster).cast(pl.String))
        run = AnswerRun("made", "table", "made", RunInfo(), rows, RowCounts(n_rows=correct.size))
        evidences[str(place)] = gather_evidence(run, "given")
    return evidences


def tests_of(
    rivals: Rivals, answers: tuple[Answers, Answers], cluster: NDArray[np.intp] | None
) -> dict[str, PairedTest]:
    """Every metric's test of first minus second, as the program does it."""
    tests: dict[str, PairedTest] = {}
    evidences = evidences_of(answers, cluster)
    pairs = [evidence.pairs for evidence in evidences.values()]
    for id_ in SMOOTH:
        (first, of_first), (second, of_second) = (METRICS[id_].value_and_influence(c, y) for c, y in answers)
        if np.isfinite(first) and np.isfinite(second):
            sides = [side_of_one_more(METRICS[id_], side) for side in pairs]
            one_more = 0.0 if rivals.one_model else influence_of_one_more(METRICS[id_], *sides)
            tests[id_] = paired_test(first - second, of_first - of_second, cluster, one_more=one_more)
    for _, _, test in ece_tests(evidences, cluster, Scheme()):
        tests["ece"] = test
    return tests


def coverages() -> Iterator[tuple[str, str, dict[str, float]]]:
    """Rivals, size, and the share of data sets whose interval holds the true difference, by metric."""
    for place, rivals in enumerate(RIVALS):
        random = np.random.default_rng([SEED, place])
        truth = {
            id_: test.difference
            for id_, test in tests_of(
                rivals, rivals.answer(random, *drawn(random, TRUTH_ROWS, 1)), None
            ).items()
        }
        sizes = [(f"n = {n:,}", n, 1) for n in ROWS]
        sizes += [(f"{n} questions × {TRIALS}", n, TRIALS) for n in QUESTIONS]
        for size, n, trials in sizes:
            random = np.random.default_rng([SEED, place, n, trials])
            repeats = REPEATS if n < 10_000 else REPEATS_OF_LARGE
            held: defaultdict[str, list[bool]] = defaultdict(list)
            cluster = None if trials == 1 else np.repeat(np.arange(n), trials)
            for _ in range(repeats):
                answers = rivals.answer(random, *drawn(random, n, trials))
                for id_, test in tests_of(rivals, answers, cluster).items():
                    held[id_].append(test.low - 1e-12 <= truth[id_] <= test.high + 1e-12)
            shares = {id_: sum(hits) / len(hits) for id_, hits in held.items()}
            print(rivals.title, size, {id_: round(share, 3) for id_, share in shares.items()}, flush=True)
            yield rivals.title, size, shares


def best_sets() -> Iterator[tuple[str, int, dict[str, float]]]:
    """How often a pair of equals is clear, and a really better one is found to be the best."""
    for n in ROWS[:-1]:
        random = np.random.default_rng([SEED, 99, n])
        false_pair: defaultdict[str, int] = defaultdict(int)
        lost: defaultdict[str, int] = defaultdict(int)
        alone: defaultdict[str, int] = defaultdict(int)
        for _ in range(REPEATS_OF_BEST):
            difficulty, luck = drawn(random, n, 1)
            chance = logistic(1 + difficulty)
            correct = luck < chance
            noisy = [logistic(1 + difficulty + 0.7 * random.standard_normal(n)) for _ in range(N_METHODS)]
            for id_, p in _family(noisy, correct).items():
                false_pair[id_] += min(p.values()) <= 0.05
            extreme = [logistic(1.3 * (1 + difficulty) + 0.6 + random.standard_normal(n)) for _ in noisy[1:]]
            for id_, p in _family([chance, *extreme], correct).items():
                worse = {pair for pair, value in p.items() if value <= 0.05 and pair[0] == 0}
                lost[id_] += any(pair[1] < 0 for pair in worse)
                alone[id_] += len(worse) == N_METHODS - 1 and all(pair[1] > 0 for pair in worse)
        for title, counts in (
            ("equal methods: any pair clear", false_pair),
            ("one better: it is called worse", lost),
            ("one better: it alone is best", alone),
        ):
            print(title, n, dict(counts), flush=True)
            yield title, n, {id_: counts[id_] / REPEATS_OF_BEST for id_ in ("brier", "brier_skill", "ece")}


def _family(confidences: list[Floats], correct: NDArray[np.bool_]) -> dict[str, dict[tuple[int, int], float]]:
    """Metric → (i, ±j) → corrected p of i against j, where −j means that i is the worse one."""
    tests: dict[str, list[tuple[int, int, PairedTest]]] = {"brier": [], "brier_skill": []}
    for i in range(len(confidences)):
        for j in range(i + 1, len(confidences)):
            for id_, found in tests.items():
                first, second = (METRICS[id_].value_and_influence(confidences[k], correct) for k in (i, j))
                found.append((i, j, paired_test(first[0] - second[0], first[1] - second[1])))
    evidences = evidences_of([(c, correct) for c in confidences], None)
    tests["ece"] = [(int(i), int(j), test) for i, j, test in ece_tests(evidences, None, Scheme())]
    result: dict[str, dict[tuple[int, int], float]] = {}
    for id_, found in tests.items():
        p_values = holm([test.p for _, _, test in found])
        worse_sign = 1 if id_ == "brier_skill" else -1
        result[id_] = {
            (i, j if test.difference * worse_sign > 0 else -j): p
            for (i, j, test), p in zip(found, p_values, strict=True)
        }
    return result


def page_lines() -> Iterator[str]:
    """What paired.md says, line by line as it is measured."""
    yield "# How far paired differences can be trusted"
    yield ""
    yield (
        f"Written by `python benchmarks/paired.py`: seed {SEED}; {REPEATS} data sets per cell, "
        f"{REPEATS_OF_LARGE} for n = 10,000. A share near 95 % is known to ± {points_known(0.95, REPEATS)} "
        f"points ({REPEATS} data sets). ECE has ten bins of equal width. Differences of equal outcomes are "
        "0, and so are their intervals."
    )
    yield date_line()
    yield ""
    yield "## 95 % intervals of the difference that hold the truth"
    yield ""
    yield from table(
        ["rivals", "size", *MEASURED],
        ([title, size, *(percent(shares[id_]) for id_ in MEASURED)] for title, size, shares in coverages()),
        n_texts=2,
    )
    yield ""
    yield f"## The best of {N_METHODS} confidences of one model, p ≤ .05 after Holm"
    yield ""
    yield from table(
        ["what happens", "n", "brier", "brier_skill", "ece"],
        (
            [title, f"{n:,}", *(percent(shares[id_]) for id_ in ("brier", "brier_skill", "ece"))]
            for title, n, shares in best_sets()
        ),
        n_texts=2,
    )


if __name__ == "__main__":
    write_page(__file__, page_lines())
