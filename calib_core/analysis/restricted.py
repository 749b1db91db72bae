"""What does one method say of some rows of a run?  Evidence → evidence of fewer (or repeated) rows."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.analysis.evidence import AnswerEvidence
from calib_core.records import RowCounts

NOT_USABLE = "no confidence or outcome"
"""Why a row of the part is not used: which reason it was is known of the whole run only."""


def restrict_rows(evidence: AnswerEvidence, positions: NDArray[np.intp]) -> AnswerEvidence:
    """The evidence of the rows at these positions of `evidence.run.rows`; one may be named twice.

    The confidences are those of the whole run: nothing about them is computed anew. `n_total` is the
    number of rows named here; bad rows that were left out of the run are of no part.
    """
    whole, said = evidence.run, evidence.confidences
    pair_of = np.full(whole.rows.height, -1, np.intp)
    pair_of[said.pairs.rows] = np.arange(said.pairs.n)
    pairs = pair_of[positions]
    used = np.flatnonzero(pairs >= 0)
    pairs = pairs[used]
    lacking = positions.size - used.size
    run = replace(
        whole,
        rows=whole.rows[pl.Series(positions, dtype=pl.UInt32)],
        others=whole.group_columns[pl.Series(positions, dtype=pl.UInt32)] if whole.group_columns.width else whole.group_columns,
        ledger=RowCounts(n_rows=positions.size, notes=whole.row_counts.notes),
    )
    confidences = replace(
        said,
        pairs=replace(said.pairs.take(pairs), rows=used),
        missing=MappingProxyType({NOT_USABLE: lacking} if lacking else {}),
        remarks=(),
        distribution=said.distribution and replace(said.distribution.take(pairs), rows=used),
        answers=None if said.answers is None else said.answers[pl.Series(pairs, dtype=pl.UInt32)],
    )
    return AnswerEvidence(run, evidence.method, evidence.options, confidences)
