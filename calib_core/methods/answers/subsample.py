"""What would the self-consistency confidences be with fewer samples?

The samples of every row are clustered once; the confidences of any subset then follow by counting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import Unavailable
from calib_core.methods.answers.agreement import pairwise_confidence
from calib_core.methods.answers.cluster import (
    ABSENT_CODE,
    SAMPLE_COLUMNS,
    SAMPLES_REQUIRED,
    Clusters,
    cluster_samples,
    has_samples,
)
from calib_core.methods.answers.gold_match import samples_correct
from calib_core.methods.answers.normalise import AnswerNormaliser
from calib_core.methods.answers.outcomes import JUDGED_ANSWER_NAMES, majority_outcomes
from calib_core.methods.answers.unparseable import (
    UNPARSED_CODE,
    UnparseableRule,
    counted_samples,
    unparsed_clusters,
)
from calib_core.methods.columns import missing_columns_phrase, unanswered_reason
from calib_core.methods.method import MethodOptions
from calib_core.runs import AnswerRun

MAX_MATRIX_CELLS: Final = 1 << 28
"""Largest table of samples, rows × most samples."""


@dataclass(frozen=True, slots=True, eq=False)
class SampleMatrix:
    """The samples of a run as cluster codes.

    Attributes
    ----------
    codes : NDArray[np.int32], shape (rows, n_max)
        Cluster of each sample within its row, in sampling order and numbered from 0 by first sample; −1 for
        a sample that does not parse, −2 for no sample.
    n_samples : NDArray[np.int64], shape (rows,)
        Number of samples in the file.
    cluster_correct : NDArray[np.int8], shape (rows, n_max)
        Whether the answer of each cluster is right, 1 or 0; −1 if unknown or no such cluster.
    usable_rows : NDArray[np.intp], shape (n,)
        Rows, ascending, with at least two samples that count and an outcome for every cluster, so that the
        majority of any subset has an outcome.
    judged : str
        The answer whose outcome it is, in words.
    """

    codes: NDArray[np.int32]
    n_samples: NDArray[np.int64]
    cluster_correct: NDArray[np.int8]
    usable_rows: NDArray[np.intp]
    judged: str


class SubsampleConfidences(NamedTuple):
    """Confidences from a subset of each row's samples, shape (rows,); NaN where there is none."""

    cluster_number: NDArray[np.float64]
    cluster_size: NDArray[np.float64]
    pairwise: NDArray[np.float64]


def sample_matrix(run: AnswerRun, options: MethodOptions) -> SampleMatrix:
    """Encode the samples of a run, with an outcome for each cluster.

    A cluster is judged by its first member in the file: against gold, otherwise by `sample_correct` (the
    other way round where the file labels the clusters). `correct_majority` judges only one cluster, so it is
    not enough.

    Raises
    ------
    Unavailable
        If the run does not have several samples per question, or no row is usable.
    """
    if not has_samples(run):
        raise Unavailable(f"{missing_columns_phrase(run, *SAMPLE_COLUMNS)}: {SAMPLES_REQUIRED}")
    normaliser = AnswerNormaliser.for_run(run)
    clusters = cluster_samples(run, normaliser, options.unparseable)
    code = _code_matrix(clusters)
    correct = _cluster_correct(run, normaliser, clusters, code)
    judged = ((correct >= 0).sum(axis=1) == clusters.groups.n_groups) & (clusters.groups.n_groups > 0)
    answered = unanswered_reason(run).is_null().to_numpy()
    usable = np.flatnonzero(judged & (clusters.n_counted >= 2) & answered)
    if not usable.size:
        raise Unavailable(_no_usable_rows_reason(run, clusters))
    return SampleMatrix(code, clusters.n_samples, correct, usable, JUDGED_ANSWER_NAMES["majority"])


def subsample_confidences(
    codes: NDArray[np.int32], rule: UnparseableRule
) -> tuple[SubsampleConfidences, NDArray[np.int32], NDArray[np.bool_]]:
    """Confidences and majority of a subset of each row's samples.

    Parameters
    ----------
    codes : NDArray[np.int32], shape (rows, n)
        As in `SampleMatrix.codes`, in the order drawn.
    rule : {"own", "one", "drop"}
        How samples that do not parse count.

    Returns
    -------
    confidences : SubsampleConfidences
        NaN where no sample parses or fewer than two count.
    majority : NDArray[np.int32], shape (rows,)
        Code of the largest cluster, −1 if no sample parses; a tie goes to the cluster drawn first.
    is_tied : NDArray[np.bool_], shape (rows,)
        Whether another cluster is as large.
    """
    rows = codes.shape[0]
    sizes, unparsed = _count_codes(codes)
    largest = sizes.max(axis=1, initial=0)
    counted = counted_samples(sizes.sum(axis=1) + unparsed, unparsed, rule)
    parsed = (sizes > 0).sum(axis=1)
    number = parsed + unparsed_clusters(unparsed, rule)
    # The first drawn sample of a largest cluster.
    there = codes >= 0
    size_of_each = sizes[np.arange(rows)[:, None], np.where(there, codes, 0)] if sizes.size else 0
    chosen = ((size_of_each == largest[:, None]) & there).argmax(axis=1)
    parses = largest > 0
    says = parses & (counted >= 2)
    values = np.full((3, rows), np.nan)
    values[0, says] = ((counted - number)[says]) / counted[says]
    values[1, says] = largest[says] / counted[says]
    ascending = np.sort(sizes[says], axis=1)
    widest = max(1, int(parsed.max(initial=0)))
    values[2, says] = pairwise_confidence(ascending[:, -widest:], unparsed[says], rule)
    tied = parses & ((sizes == largest[:, None]).sum(axis=1) > 1)
    winner = np.where(parses, codes[np.arange(rows), chosen], np.int32(UNPARSED_CODE))
    return SubsampleConfidences(*values), winner, tied


def _count_codes(
    codes: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Samples of each code of each row, shape (rows, codes), and those that do not parse, shape (rows,)."""
    rows = codes.shape[0]
    # Two columns before code 0: no such sample, does not parse.
    width = int(codes.max(initial=UNPARSED_CODE)) - ABSENT_CODE + 1
    begin: NDArray[np.intp] = np.arange(rows, dtype=np.intp)[:, None] * width - ABSENT_CODE
    cell: NDArray[np.intp] = codes + begin
    table = np.bincount(cell.ravel(), minlength=rows * width).reshape(rows, width)
    return table[:, 2:], table[:, 1]


def _code_matrix(clusters: Clusters) -> NDArray[np.int32]:
    """The code of every sample, shape (rows, n_max)."""
    samples, groups = clusters.samples, clusters.groups
    rows, most = samples.counts.size, int(samples.counts.max(initial=0))
    if rows * most > MAX_MATRIX_CELLS:
        raise Unavailable(f"{rows:,} rows × {most:,} samples are too many to draw from")
    row = np.repeat(np.arange(rows), groups.n_groups)
    first = groups.in_row_order(groups.first_positions)
    order = np.lexsort((first, row))
    local = np.empty(row.size, np.int32)
    local[order] = np.arange(row.size) - np.repeat(
        np.cumsum(groups.n_groups) - groups.n_groups, groups.n_groups
    )
    # The groups of a row are in the order of their samples' numbers, so these keys ascend.
    key = (row << 32) + samples.codes[samples.starts[row] + first]
    table = samples.code_table(np.arange(rows)).copy()
    where, position = np.nonzero(table >= 0)
    table[where, position] = local[np.searchsorted(key, (where << 32) + table[where, position])]
    return table


def _cluster_correct(
    run: AnswerRun, normaliser: AnswerNormaliser, clusters: Clusters, codes: NDArray[np.int32]
) -> NDArray[np.int8]:
    """Whether an answer of each cluster is right: 1, 0, −1 unknown; shape (rows, n_max), by code."""
    groups = clusters.groups
    row = np.repeat(np.arange(groups.n_groups.size), groups.n_groups)
    first = groups.in_row_order(groups.first_positions)
    known = samples_correct(run, normaliser, row, first)
    correct = np.full(codes.shape, UNPARSED_CODE, np.int8)
    correct[row, codes[row, first]] = known.cast(pl.Int8).fill_null(UNPARSED_CODE).to_numpy()
    # The majority of all samples is judged as the methods judge it, by `correct_majority` too.
    outcome = majority_outcomes(run, normaliser, clusters).correct
    at = np.flatnonzero((clusters.majority_size > 0) & outcome.is_not_null().to_numpy())
    correct[at, codes[at, clusters.majority_first[at]]] = outcome.gather(at).cast(pl.Int8).to_numpy()
    return correct


def _no_usable_rows_reason(run: AnswerRun, clusters: Clusters) -> str:
    """Why no row is usable."""
    if run.has_columns("correct_majority") and not (
        run.has_columns("gold") or run.has_columns("gold_all") or run.has_columns("gold_index")
    ):
        return (
            "only the majority of all samples is judged (correct_majority): fewer samples may have another, "
            "so gold or sample_correct is needed"
        )
    if (clusters.n_counted < 2).all():
        return "every row has only one sample; several sampled answers per question are needed"
    return (
        "no row has two samples, a readable answer, and an outcome for each answer (gold or sample_correct)"
    )
