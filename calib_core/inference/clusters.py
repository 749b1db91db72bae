"""Which rows ask one question again, and how much less do they say than as many questions?

A file may ask each question in several trials, with other examples in the prompt. Their answers hang
together, so that a draw of the bootstrap takes all of a question's rows or none (a cluster bootstrap), and
the variance of a share is that of the questions' sums (Rao and Scott 1992, "A simple method for the analysis
of clustered binary data").
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.inference.pairing import KEY_SEPARATOR
from calib_core.methods.columns import column
from calib_core.runs import AnswerRun


def repeated_question_keys(run: AnswerRun) -> pl.Series | None:
    """Of each row a name of the question it asks, with its subject; None where no question comes again.

    Text, shape (rows,); a row that says nothing of trials is a question by itself.
    """
    told = column(run, "trial_of")
    if told.drop_nulls().len() < 2:
        return None
    subject = column(run, "subject").fill_null("")
    alone = pl.Series([f"{KEY_SEPARATOR}{row}" for row in range(told.len())])
    named = (subject + KEY_SEPARATOR + told).fill_null(alone)
    return named if named.n_unique() < named.len() else None


def cluster_numbers(run: AnswerRun, rows: NDArray[np.intp]) -> NDArray[np.intp] | None:
    """The question of each of these rows, numbered from 0 as they come; None where none comes again.

    rows: positions in `run.rows`, shape (n,); so is the result.
    """
    named = repeated_question_keys(run)
    if named is None:
        return None
    here = named.gather(pl.Series(rows, dtype=pl.UInt32))
    distinct = here.unique(maintain_order=True)
    if distinct.len() == here.len():
        return None
    number = pl.DataFrame({"question": distinct, "number": np.arange(distinct.len())})
    numbered = here.to_frame("question").join(number, on="question", maintain_order="left")
    return numbered["number"].to_numpy().astype(np.intp)


def design_effect(cluster: NDArray[np.intp] | None) -> float:
    """How many rows may say the same, as the trials of one question do: Σm²/Σm over questions of m rows, ≥ 1.

    By so much the variance of a sum grows where all answers to a question are right, or none (Kish 1965).
    question: as `question_numbers` gives it.
    """
    if cluster is None:
        return 1.0
    times = np.bincount(cluster)
    return float((times**2).sum() / times.sum())


def effective_sample_size(correct: NDArray[np.bool_], cluster: NDArray[np.intp]) -> float:
    """How many independent rows the share of right ones among these is worth, in [1, n].

    n over the design effect, which is the variance of the share by its questions over that of n independent
    rows; all rows right, or none: the number of questions, as the variance then says nothing.
    """
    n, questions = correct.size, int(cluster.max()) + 1
    share = float(correct.mean())
    if share in (0.0, 1.0) or questions < 2:
        return float(questions)
    sums = np.bincount(cluster, correct - share, minlength=questions)
    by_question = questions / (questions - 1) * float((sums**2).sum()) / n**2
    return float(np.clip(share * (1 - share) / by_question if by_question > 0 else n, 1.0, n))
