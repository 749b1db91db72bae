"""Which questions are in this bin?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.edges import Scheme, assign_bins
from calib_core.errors import Unavailable, single_line
from calib_core.methods.answers.normalise import choice_texts
from calib_core.metrics import DEFAULT_METRIC
from calib_core.pairs import Pairs
from calib_core.results.evidence import AnswerEvidence, Evidence, get_metric
from calib_core.results.score import effective_scheme

MAX_SHOWN_QUESTIONS: Final = 1000
"""How many questions a page shows; a download holds them all."""


def question_title(row: int, text: str | None, max_letters: int) -> str:
    """ "12: How many are …", or "Row 12" where the file has no text; limit: letters of the text."""
    return f"{row}: {single_line(text, max_letters)}" if text else f"Row {row}"


@dataclass(frozen=True, slots=True, eq=False)
class Questions:
    """The questions behind some pairs.

    frame: one row a pair: file (in a run of several), row (record number in the file), id, subject and
    question where the file has them, answer, gold, confidence, right; total: its rows before the search.
    """

    frame: pl.DataFrame
    n_before_search: int
    search: str

    @property
    def preview(self) -> pl.DataFrame:
        """The first SHOWN of the found questions."""
        return self.frame.head(MAX_SHOWN_QUESTIONS)

    def to_frame(self) -> pl.DataFrame:
        """All found questions."""
        return self.frame


def questions_in_bin(
    evidence: Evidence,
    metric_id: str = DEFAULT_METRIC,
    scheme: Scheme | None = None,
    *,
    bin_number: int | None = None,
    search: str = "",
) -> Questions:
    """The questions whose pair falls into bin `bin_number` (from 1; None: every bin).

    search: kept are rows in which any text contains it, letters of either case; "" keeps all.
    Raises Unavailable as `reliability` does, and for a run without questions.
    """
    if not isinstance(evidence, AnswerEvidence):
        raise Unavailable(evidence.no_questions_reason or "")
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    evidence.binned(metric, scheme)  # refuses what the diagram would refuse
    pairs = evidence.diagram_pairs(metric)
    inside = np.arange(pairs.n)
    if bin_number is not None:
        inside = np.flatnonzero(
            assign_bins(pairs.confidence, scheme, computed=pairs.computed) == bin_number - 1
        )
    rows = evidence.run.rows
    known = [name for name in ("file", "row", "id", "subject", "question", "gold") if name in rows.columns]
    frame = rows.select(known)[pairs.rows[inside]]
    if "gold" not in known:
        frame = frame.with_columns(gold=pl.lit(None, pl.String))
    frame = frame.select(
        pl.exclude("gold"),
        _answer_column(evidence, pairs, inside),
        "gold",
        pl.Series("confidence", pairs.confidence[inside], dtype=pl.Float64),
        pl.Series("right", pairs.correct[inside], dtype=pl.Boolean),
    )
    return Questions(_search_texts(frame, search), n_before_search=frame.height, search=search)


def _answer_column(evidence: AnswerEvidence, pairs: Pairs, positions: NDArray[np.intp]) -> pl.Series:
    """The judged answer of each pair; where a pair is about one choice, that choice's text or letter."""
    confidences = evidence.confidences
    if pairs is not confidences.pairs and confidences.distribution is not None:
        choices = [name for name in ("row", "choices") if name in evidence.run.rows.columns]
        rows = evidence.run.rows.select(choices)[pairs.rows[positions]]
        return choice_texts(rows, confidences.distribution.class_index[positions]).alias("answer")
    if confidences.answers is None:
        return pl.Series("answer", [None] * positions.size, dtype=pl.String)
    return confidences.answers[positions].alias("answer")


def _search_texts(frame: pl.DataFrame, text: str) -> pl.DataFrame:
    if not text.strip():
        return frame
    texts = [name for name in frame.columns if frame.schema[name] == pl.String]
    wanted = text.strip().lower()
    found = pl.col(texts).str.to_lowercase().str.contains(wanted, literal=True).fill_null(value=False)
    return frame.filter(pl.any_horizontal(found))
