"""Measure how often runs of one model are judged differently on a published finding.

Draws data sets of one model whose probabilities are off by a known temperature, judges on each whether
Full-ECE depends less on M than cw-ECE, and writes published.md beside this script.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

import numpy as np
import polars as pl
from benchmark_page import date_line, table, write_page

from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.results.published import compare_rsd
from calib_core.results.robustness import sweep_bins
from calib_core.runs import ANSWER_SCHEMA, AnswerRun, RowCounts, RunInfo

SEED: Final = 20261125
DATA_SETS: Final = 20
CLASSES_AND_ROWS: Final = ((4, 300), (4, 2_000), (20, 300))
TEMPERATURES: Final = (1.0, 0.8, 0.5)
METRICS: Final = ("full_ece", "cw_ece")


def drawn(temperature: float, classes: int, rows: int, random: np.random.Generator) -> AnswerEvidence:
    """Rows whose right class is drawn at temperature 1, and whose probabilities are stated at another."""
    logits = random.normal(0, 2, (rows, classes))
    truth = np.exp(logits)
    truth /= truth.sum(1, keepdims=True)
    stated = np.exp(logits / temperature)
    stated /= stated.sum(1, keepdims=True)
    right = (random.random((rows, 1)) > truth.cumsum(1)).sum(1).clip(0, classes - 1)
    columns = {"row": np.arange(1, rows + 1), "choice_probs": stated.tolist(), "gold_index": right}
    made = pl.DataFrame(columns, schema_overrides={name: ANSWER_SCHEMA[name] for name in columns})
    run = AnswerRun("made", "table", "made", RunInfo(), made, RowCounts(n_rows=rows))
    evidence = gather_evidence(run, "choice_softmax")
    if not isinstance(evidence, AnswerEvidence):
        raise TypeError(evidence)
    return evidence


def kinds(temperature: float, classes: int, rows: int) -> Counter[str]:
    """How often the finding holds, does not hold, and cannot be told."""
    random = np.random.default_rng([SEED, classes, rows, round(100 * temperature)])
    sweeps = (sweep_bins(drawn(temperature, classes, rows, random), METRICS) for _ in range(DATA_SETS))
    return Counter(compare_rsd({"made": sweep}).findings[0].kind for sweep in sweeps)


def rows_of_table() -> Iterator[list[str]]:
    """One row for each model and number of rows."""
    for classes, rows in CLASSES_AND_ROWS:
        for temperature in TEMPERATURES:
            found = kinds(temperature, classes, rows)
            counts = [str(found[kind]) for kind in ("holds", "fails", "unknown")]
            yield [f"{temperature:g}", str(classes), f"{rows:,}", *counts]


def lines() -> Iterator[str]:
    """The page."""
    yield "# A published finding, judged on data sets of one model"
    yield ""
    yield (
        f"Full-ECE depends less on M than cw-ECE: how often that holds, does not hold, or cannot be told, in "
        f"{DATA_SETS} data sets drawn from each model. A judgement is worth having if data sets of one model "
        "are not judged both ways: then one of “holds” and “does not hold” is 0 in each row. Temperature 1 "
        "is a calibrated model, of which all is noise."
    )
    yield ""
    yield from table(
        ("Temperature", "Classes", "Rows", "Holds", "Does not hold", "Cannot be told"), rows_of_table(), 1
    )
    yield ""
    yield f"Logits are normal with standard deviation 2; seed {SEED}. {date_line()}"


if __name__ == "__main__":
    write_page(__file__, lines())
