"""Write a judge's labels beside people's: `python -m demo.label_judge`, recipe R9.

The panel of 14 models (recipe R8) judges whether MMLU's label of a question is right: it passes where more
than half of the panel give the label's letter. The people are the authors of MMLU-Redux, who checked every
question: a question passes where they found nothing wrong with it. Their labels are kept for a random part
of the questions alone, as people have them; over all questions 0.9351 pass.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from demo.manifest import record
from demo.published import SOURCES

RECIPE: Final = "R9.1"
SEED: Final = 9
NAME: Final = "5-mmlu-redux-judge.answers.parquet"
PANEL: Final = "4-mmlu-redux.answers.parquet"
N_LABELLED: Final = 600
DATA: Final = Path(__file__).resolve().parents[1] / "data"


def judged(panel: pl.DataFrame) -> pl.DataFrame:
    """One row per question: the judge's label and score, and for a random part what people say.

    Examples
    --------
    >>> panel = pl.DataFrame(
    ...     {"id": ["q"], "error_type": ["ok"], "gold": ["A"], "samples": [["A", "A", None, "B"]]}
    ... )
    >>> judged(panel).select("judge", "judge_score", "human").row(0)
    ('fail', 0.5, 'pass')
    """
    n_equal = [
        sum(letter == gold for letter in letters)
        for letters, gold in zip(panel["samples"], panel["gold"], strict=True)
    ]
    score = pl.Series(n_equal) / panel["samples"].list.len()
    chosen = np.random.default_rng(SEED).permutation(panel.height)[:N_LABELLED]
    is_labelled = pl.Series(np.isin(np.arange(panel.height), chosen))
    return panel.select(
        pl.lit("Panel of 14 models").alias("model"),
        pl.lit("MMLU's own labels").alias("dataset"),
        "id",
        pl.when(score > 0.5).then(pl.lit("pass")).otherwise(pl.lit("fail")).alias("judge"),
        score.round(4).alias("judge_score"),
        pl.when(is_labelled)
        .then(pl.when(pl.col("error_type") == "ok").then(pl.lit("pass")).otherwise(pl.lit("fail")))
        .alias("human"),
        pl.col("gold").alias("letter"),
    )


def main(folder: Path = DATA) -> None:
    """Write the file and its entry in the manifest."""
    rows = judged(pl.read_parquet(folder / PANEL))
    rows.write_parquet(folder / NAME, compression="zstd", compression_level=22)
    (source,) = (one for one in SOURCES if one.recipe.startswith("R8."))
    record(
        folder,
        {NAME: rows.height},
        recipe=RECIPE,
        seed=SEED,
        made_with=("numpy", "polars"),
        source=source.source,
    )


if __name__ == "__main__":
    main()
