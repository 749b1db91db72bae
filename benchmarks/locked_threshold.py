"""Measure locked thresholds: how often they hold their target on new answers, and what a gate says of those.

A threshold is locked on one data set of a question and checked against another of the same size, once from
the same model and once from one that has become worse. Writes locked_threshold.md beside this script.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from benchmark_page import date_line, percent, points_known, table, write_page
from threshold import (
    CONFIDENCE,
    MODELS,
    SEED,
    TARGET,
    Floats,
    Model,
    NewAnswers,
    Outcomes,
    drawn,
    run_of,
    threshold_of,
)

from calib_core.results.evidence import gather_evidence
from calib_core.results.locked_threshold import LockedThreshold, check_locked

REPEATS: Final = 1_000
ROWS: Final = 500
TITLES: Final = ("calibrated", "over-confident", "ten votes", "just below the target")
LOST: Final = 0.2
"""Share of the right answers that the worse model gets wrong."""


def is_held(point: float, confidence: Floats, correct: Outcomes) -> bool | None:
    """What the gate says of new answers."""
    locked = LockedThreshold("made", point, TARGET, CONFIDENCE, correct.size, "given")
    return check_locked(locked, gather_evidence(run_of(confidence, correct, 1), "given")).held


def counted(model: Model, n: int) -> list[str]:
    """The cells of one row."""
    random, new = np.random.default_rng((SEED, n)), NewAnswers.of(model)
    n_found = n_missed = n_passed = n_broken = 0
    for _ in range(REPEATS):
        point = threshold_of(*drawn(random, model, n, 1, 0), 1).point
        if point is None:
            continue
        n_found += 1
        n_missed += new.misses(point)
        confidence, correct = drawn(random, model, n, 1, 0)
        n_passed += is_held(point.threshold, confidence, correct) is True
        worse = correct & (random.random(n) >= LOST)
        n_broken += is_held(point.threshold, confidence, worse) is False
    of_found = [percent(count / n_found) if n_found else "–" for count in (n_passed, n_broken)]
    return [percent(n_found / REPEATS), percent(1 - n_missed / REPEATS), *of_found]


def page() -> Iterator[str]:
    """The page, line by line."""
    yield "# How often a locked threshold holds"
    yield ""
    yield (
        f"Written by `python benchmarks/locked_threshold.py`: seed {SEED}; {REPEATS:,} data sets of "
        f"n = {ROWS} per row; accuracy {percent(TARGET)} with {percent(CONFIDENCE)} confidence. Locked: sets "
        "in which a threshold is guaranteed. Holds: sets that lock no threshold of a lower accuracy on a "
        f"million new answers, at least 95 % by design, known to ± {points_known(0.05, REPEATS)} points. Of "
        "the locked ones, passes: `gate --lock` passes n new answers; breaks: it breaks when the model gets "
        f"{percent(LOST)} of its right answers wrong."
    )
    yield date_line()
    yield ""
    yield from table(
        ("confidences", "locked", "holds", "passes", "worse: breaks"),
        ((model.title, *counted(model, ROWS)) for model in MODELS if model.title in TITLES),
    )


if __name__ == "__main__":
    write_page(__file__, page())
