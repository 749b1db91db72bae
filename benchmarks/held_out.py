"""Measure how much of a self-consistency gap comes from few samples, and whether holding out removes it.

Draws runs of a sampler that is right exactly as often as its answer is probable, and of one that is not,
scores each as the program does, and writes held_out.md beside this script. Other ways to hold samples out are
compared on the same kind of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import polars as pl
from benchmark_page import date_line, percent, points_known, table, write_page
from numpy.typing import NDArray

from calib_core.inference.optimism import Optimism
from calib_core.methods.method import MethodOptions
from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.runs import AnswerRun, RowCounts, RunInfo

SEED: Final = 20261128
REPEATS: Final = 200
ROWS: Final = 400
SIZES: Final = (4, 8, 16, 40)
ODD_AND_EVEN: Final = (3, 4, 5, 8, 16)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

ANSWERS: Final[dict[str, tuple[int, float]]] = {
    "2 answers": (2, 1.0),
    "8 answers, peaked": (8, 0.15),
    "8 answers, flat": (8, 1.0),
    "8 answers, nearly uniform": (8, 20.0),
}
"""Number of answers, and the concentration of the Dirichlet distribution that their probabilities have."""

SHARPENED: Final = "8 answers, flat, sampled too sharply"
"""Samples with probabilities in proportion to the squares of those that the right answer has."""


def draw(random: np.random.Generator, probability: Floats, size: int) -> Ints:
    """Answers with these probabilities, shape (rows, size)."""
    return (random.random((len(probability), size, 1)) > probability.cumsum(1)[:, None, :-1]).sum(2)


def drawn(random: np.random.Generator, kind: str, size: int) -> tuple[Ints, Ints]:
    """Samples of each question, shape (rows, size), and its right answer."""
    n_answers, concentration = ANSWERS.get(kind, ANSWERS["8 answers, flat"])
    probability = random.dirichlet(np.full(n_answers, concentration), ROWS)
    right = draw(random, probability, 1)[:, 0]
    if kind == SHARPENED:
        probability = probability**2 / (probability**2).sum(1, keepdims=True)
    return draw(random, probability, size), right


def run_of(samples: Ints, right: Ints) -> AnswerRun:
    """The run of these samples."""
    frame = pl.DataFrame(
        {
            "row": np.arange(1, ROWS + 1),
            "gold": pl.Series(right).cast(pl.String),
            "samples": pl.Series(samples.ravel()).cast(pl.String).reshape(samples.shape).arr.to_list(),
        }
    )
    return AnswerRun("made.jsonl", "table", "made", RunInfo(), frame, RowCounts(n_rows=ROWS))


# --- As the program scores them ---------------------------------------------------------------------------


def measured(kind: str, size: int) -> list[str]:
    """A row of the first table."""
    random = np.random.default_rng(SEED)
    parts: list[Optimism] = []
    rejected = np.zeros(2)
    for _ in range(REPEATS):
        run = run_of(*drawn(random, kind, size))
        evidences: list[AnswerEvidence] = [
            gather_evidence(run, "cluster_size", MethodOptions(held_out=held_out))
            for held_out in (False, True)
        ]
        rejected += [evidence.verdict.miscalibrated for evidence in evidences]
        found = evidences[0].optimism
        assert found is not None
        parts.append(found)
    optimism = np.array([part.optimism.value for part in parts])
    holds = [part.optimism.low <= optimism.mean() <= part.optimism.high for part in parts]
    rest = np.array([part.held_out_gap.value for part in parts])
    clear = [part.held_out_gap.low > 0 or part.held_out_gap.high < 0 for part in parts]
    return [
        kind,
        str(size),
        f"{np.mean([part.gap for part in parts]):+.3f}",
        percent(rejected[0] / REPEATS),
        f"{optimism.mean():+.3f}",
        percent(float(np.mean(holds))),
        f"{rest.mean():+.3f}",
        percent(float(np.mean(clear))),
        percent(rejected[1] / REPEATS),
    ]


# --- Other ways to hold samples out -----------------------------------------------------------------------


def counts_of(samples: Ints) -> Ints:
    """How many samples give each answer."""
    return (samples[:, :, None] == np.arange(8)).sum(1)


def most_frequent(samples: Ints, random: np.random.Generator) -> Ints:
    """The most frequent answer; ties are broken by lot."""
    counts = counts_of(samples)
    return (counts + random.random(counts.shape) / 2).argmax(1)


def share(samples: Ints, answer: Ints) -> Floats:
    """Share of the samples with this answer."""
    return (samples == answer[:, None]).mean(1)


def by_first(numerator: int) -> Callable[[Ints, np.random.Generator], tuple[Floats, Ints]]:
    """The first quarters choose the answer, which is judged, and the other samples count."""

    def held_out(samples: Ints, random: np.random.Generator) -> tuple[Floats, Ints]:
        begin = numerator * samples.shape[1] // 4
        answer = most_frequent(samples[:, :begin], random)
        return share(samples[:, begin:], answer), answer

    return held_out


def by_halves(samples: Ints, random: np.random.Generator) -> tuple[Floats, Ints]:
    """Each half chooses for the other; the majority of all is judged."""
    half = samples.shape[1] // 2
    shares = [
        share(samples[:, half:], most_frequent(samples[:, :half], random)),
        share(samples[:, :half], most_frequent(samples[:, half:], random)),
    ]
    return (shares[0] + shares[1]) / 2, most_frequent(samples, random)


def by_all_others(samples: Ints, random: np.random.Generator) -> tuple[Floats, Ints]:
    """All others choose for each sample; the majority of all is judged."""
    counts = counts_of(samples)
    largest = counts.max(1)
    winners = (counts == largest[:, None]).sum(1)
    nearly = (counts == largest[:, None] - 1).sum(1) * (largest > 1)
    alone = np.where(winners == 1, largest / samples.shape[1] / (1 + nearly), 0.0)
    return alone, most_frequent(samples, random)


WAYS: Final = {
    "first half chooses, the others count": by_first(2),
    "first three quarters choose": by_first(3),
    "each half for the other, majority judged": by_halves,
    "all others for each sample, majority judged": by_all_others,
}


def compared() -> Iterator[list[str]]:
    """The rows of the second table."""
    for name, way in WAYS.items():
        cells = [name]
        for size in ODD_AND_EVEN:
            random = np.random.default_rng(SEED)
            gaps: list[float] = []
            for _ in range(REPEATS):
                samples, right = drawn(random, "8 answers, peaked", size)
                value, answer = way(samples, random)
                gaps.append(float(np.mean(value - (answer == right))))
            cells.append(f"{np.mean(gaps):+.3f} ({np.std(gaps):.3f})")
        yield cells


def page() -> Iterator[str]:
    """The page, line by line."""
    yield "# Self-consistency from few samples"
    yield ""
    yield (
        f"Written by `python benchmarks/held_out.py`: seed {SEED}; {REPEATS} runs of {ROWS} questions per "
        "cell. Each answer is sampled as often as it is right, except in the last four rows. A gap is mean "
        f"confidence minus accuracy. A share near 5 % is known to ± {points_known(0.05, REPEATS)} points."
    )
    yield ""
    yield from table(
        [
            "probabilities of the answers",
            "N",
            "gap of F_CS",
            "verdict on it rejects",
            "of the gap, optimism",
            "95 % interval holds its mean",
            "held-out gap",
            "95 % interval excludes 0",
            "verdict on the held-out score rejects",
        ],
        (measured(kind, size) for kind in (*ANSWERS, SHARPENED) for size in SIZES),
    )
    yield ""
    yield (
        "Single held-out shares vary by chance, too, so that a verdict on them as scores rejects. What they "
        "say of the model is the gap of their mean, with its interval."
    )
    yield ""
    yield "## Other ways to hold samples out"
    yield ""
    yield (
        "Mean gap, and its standard deviation over runs, where the sampler is right as often as it says (8 "
        "answers, peaked). Where fewer samples choose than are judged by, the gap falls below 0."
    )
    yield ""
    yield from table(["held out", *(f"N = {size}" for size in ODD_AND_EVEN)], compared())
    yield ""
    yield date_line()


if __name__ == "__main__":
    write_page(__file__, page())
