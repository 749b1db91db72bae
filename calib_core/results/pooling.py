"""Which pairs of one position go into which bin, under ECE, classwise ECE and Full-ECE?

Figure 1 of the Full-ECE paper, for one position or question of the data at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.edges import Floats, bin_of
from calib_core.errors import Unavailable
from calib_core.pairs import Distribution
from calib_core.results.columns import Column, frame_of
from calib_core.results.evidence import AnswerEvidence, Evidence
from calib_core.results.questions import question_title
from calib_core.tokens.sums import ExamplePosition

MAX_RARE_OCCURRENCES: Final = 10
"""Largest number of occurrences that counts as rare.

Classwise ECE needs every class to occur. In the Full-ECE paper's test set 30 % of the vocabulary never does,
and 41 % occurs one to ten times.
"""

OCCURRENCE_COLUMNS: Final = (
    Column("occurs", "As the right class"),
    Column("classes", "Classes", "count"),
    Column("share", "Share of K", "share"),
    Column("positions", "Positions", "count"),
)

MAX_LISTED_CLASSES: Final = 20
"""Number of classes listed individually, besides the right one."""

MAX_LETTERED_CHOICES: Final = 26
"""Up to this number, choices are named by letters."""

_MAX_TITLE_LETTERS: Final = 90
"""Characters of a question in a title."""


@dataclass(frozen=True, slots=True, eq=False)
class PairPools:
    """One distribution, and where its pairs go.

    Attributes
    ----------
    run : str
    title : str
        Which position or question.
    table : pl.DataFrame
        One row for each listed class, largest probability first; a right class outside the
        `MAX_LISTED_CLASSES` largest comes last. Columns: label, prob, right, bin (from 1 to M), interval
        (the bin as text), and ece, cw and full (whether the metric pools this pair).
    hidden_probability : float
        Total probability of the classes that are not listed.
    n_hidden_classes : int
    n_classes : int
        K.
    n_bins : int
        M.
    summary : str
        How many pairs each metric takes from here.
    """

    run: str
    title: str
    table: pl.DataFrame
    hidden_probability: float
    n_hidden_classes: int
    n_classes: int
    n_bins: int
    summary: str

    @property
    def n_in_first_bin(self) -> int | None:
        """Pairs of all classes in the first bin; None where unlisted classes may lie above it."""
        shown = int((self.table["bin"] == 1).sum())
        if not self.n_hidden_classes:
            return shown
        # An unlisted class is at most as probable as the last of the largest, and as all unlisted together.
        largest = self.table.filter(~pl.col("right"))
        upper_bound = min([self.hidden_probability, *largest["prob"].tail(1)])
        bin_index = bin_of(np.array([upper_bound]), self.n_bins)
        return shown + self.n_hidden_classes if int(bin_index[0]) == 0 else None


def pools_of_position(run: str, example: ExamplePosition, bins: int) -> PairPools:
    """Where the pairs of one stored position go, with `bins` bins of equal width."""
    ids = list(example.ids[:MAX_LISTED_CLASSES])
    probs = list(example.probs[:MAX_LISTED_CLASSES])
    if example.target not in ids:
        ids.append(example.target)
        probs.append(example.target_prob)
    unlisted = float(sum(example.probs[MAX_LISTED_CLASSES:])) + example.rest_mass
    listed_target = example.target_prob if example.target not in example.ids[:MAX_LISTED_CLASSES] else 0.0
    return _build_pools(
        run,
        f"Position {example.row + 1:,}",
        [f"token {id_}" for id_ in ids],
        np.array(probs).astype(f"f{example.itemsize}"),
        ids.index(example.target),
        rest=max(0.0, unlisted - listed_target),
        classes=example.n_classes,
        bins=bins,
    )


def _require_distribution(evidence: Evidence) -> tuple[AnswerEvidence, Distribution]:
    """The evidence and its complete distribution; raises Unavailable without questions or distribution."""
    if not isinstance(evidence, AnswerEvidence):
        raise Unavailable(evidence.no_questions_reason or "")
    distribution = evidence.confidences.distribution
    if distribution is None or not distribution.normalised:
        raise Unavailable(evidence.no_distribution_reason or "")
    return evidence, distribution


def poolable_question_titles(evidence: Evidence) -> list[str]:
    """The title of every question with a complete distribution, in the file's order.

    Raises
    ------
    Unavailable
        Where the method has no distribution.
    """
    answers, distribution = _require_distribution(evidence)
    rows = answers.run.rows[distribution.rows]
    name = next((name for name in ("question", "id") if name in rows.columns), None)
    texts: Sequence[str | None] = rows[name].to_list() if name else [None] * rows.height
    return [
        question_title(row, text, _MAX_TITLE_LETTERS)
        for row, text in zip(rows["row"].to_list(), texts, strict=True)
    ]


def pools_of_question(evidence: Evidence, question_index: int, bins: int) -> PairPools:
    """Where the pairs of one question go.

    Parameters
    ----------
    evidence : Evidence
    question_index : int
        From 0, in the order of `poolable_question_titles`.
    bins : int
        M bins of equal width.

    Raises
    ------
    Unavailable
        Where the method has no distribution.
    IndexError
        For an index that does not exist.
    """
    title = poolable_question_titles(evidence)[question_index]
    answers, distribution = _require_distribution(evidence)
    start, size = int(distribution.row_starts[question_index]), int(distribution.sizes[question_index])
    probs = distribution.probs[start : start + size]
    right = int(distribution.target[question_index])
    order = np.argsort(-probs.astype(np.float64), kind="stable")
    shown = order[:MAX_LISTED_CLASSES].tolist()
    if right not in shown:
        shown.append(right)
    names = _choice_labels(answers, int(distribution.rows[question_index]), size)
    return _build_pools(
        evidence.run.label,
        title,
        [names[index] for index in shown],
        probs[shown],
        shown.index(right),
        rest=float(np.delete(probs, shown).sum(dtype=np.float64)),
        classes=size,
        bins=bins,
    )


def _choice_labels(evidence: AnswerEvidence, row: int, size: int) -> list[str]:
    """The choices of one row as text, each preceded by its letter or number."""
    rows = evidence.run.rows
    stored: list[str | None] = []
    if "choices" in rows.columns and rows["choices"][row] is not None:
        stored = rows["choices"][row].to_list()
    marks = [choice_mark(index, size) for index in range(size)]
    if len(stored) != size:
        return [f"choice {mark}" for mark in marks]
    return [
        f"{mark}: {' '.join(text.split())}" if text and text.strip() != mark else f"choice {mark}"
        for mark, text in zip(marks, stored, strict=True)
    ]


def choice_mark(index: int, size: int) -> str:
    """The letter of a choice; its number from 1 where there are more choices than letters."""
    return chr(ord("A") + index) if size <= MAX_LETTERED_CHOICES else str(index + 1)


def _build_pools(
    run: str,
    title: str,
    labels: list[str],
    probs: Floats,
    right: int,
    *,
    rest: float,
    classes: int,
    bins: int,
) -> PairPools:
    """Pools of these classes, largest probability first; a right class outside the largest comes last."""
    bin_index = bin_of(probs, bins)
    table = pl.DataFrame(
        {
            "label": labels,
            "prob": probs.astype(np.float64),
            "right": [index == right for index in range(len(labels))],
            "bin": bin_index + 1,
            "interval": [_bin_text(int(bin_), bins) for bin_ in bin_index],
            "ece": [index == 0 for index in range(len(labels))],
            "cw": [True] * len(labels),
            "full": [True] * len(labels),
        },
        schema_overrides={"label": pl.String, "bin": pl.Int64},
    )
    pools = PairPools(run, title, table, rest, classes - len(labels), classes, bins, summary="")
    return replace(pools, summary=_pools_sentences(pools))


def _bin_text(bin_: int, bins: int) -> str:
    return f"{'(' if bin_ else '['}{bin_ / bins:.4g}, {(bin_ + 1) / bins:.4g}]"


def _pools_sentences(pools: PairPools) -> str:
    top = pools.table.row(0, named=True)
    verdict = "right" if top["right"] else "wrong"
    n_first_bin = pools.n_in_first_bin
    first_bin_clause = (
        ""
        if n_first_bin is None
        else f"; {n_first_bin:,} of them {'lies' if n_first_bin == 1 else 'lie'} in the first bin"
    )
    return (
        f"ECE takes one pair from here, the top label's: {top['prob']:.3g}, {verdict}. "
        f"cw-ECE takes {pools.n_classes:,}, one per class, each into the bins of that class. Full-ECE puts "
        f"the same {pools.n_classes:,} into one set of bins{first_bin_clause}."
    )


def class_occurrence_table(occurrences: NDArray[np.int64]) -> pl.DataFrame:
    """How many classes of a vocabulary occur often enough for bins of their own.

    Parameters
    ----------
    occurrences : NDArray[np.int64], shape (K,)
        Number of positions at which each class is the right one; K ≥ 1.

    Returns
    -------
    pl.DataFrame
        One row for each kind of class: occurs (text), classes, share of the K classes, positions (their sum).
    """
    never, frequent = occurrences == 0, occurrences > MAX_RARE_OCCURRENCES
    kinds = {
        "never": never,
        f"1 to {MAX_RARE_OCCURRENCES} times": ~(never | frequent),
        f"more than {MAX_RARE_OCCURRENCES} times": frequent,
    }
    return frame_of(
        OCCURRENCE_COLUMNS,
        (
            {
                "occurs": occurs,
                "classes": int(kind.sum()),
                "share": float(kind.mean()),
                "positions": int(occurrences[kind].sum()),
            }
            for occurs, kind in kinds.items()
        ),
    )
