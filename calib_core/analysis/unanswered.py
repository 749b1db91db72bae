"""What if a question whose samples all fail to parse counts as answered wrongly, and without confidence?

By default such a row has no self-consistency and lowers n (decision 0004). Counting it is the stricter
reading: a model that cannot write an answer down is not let off.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.analysis.evidence import AnswerEvidence
from calib_core.confidence.answers import AnswerNormaliser
from calib_core.confidence.clusters import cluster_samples
from calib_core.confidence.columns import column, first_reason, unanswered_reason
from calib_core.confidence.method import Confidences, Method, MethodOptions
from calib_core.confidence.outcomes import JUDGED_ANSWER_NAMES
from calib_core.confidence.right import row_positions, gold_forms
from calib_core.confidence.sampled import has_samples
from calib_core.confidence.self_consistency import UNPARSEABLE_PHRASES
from calib_core.pairs import Pairs
from calib_core.records import AnswerRun

NO_SAMPLE_PARSES = "no sample parses"
"""The reason under which `missing` counts these rows."""


def unparsed_rows(evidence: AnswerEvidence) -> NDArray[np.intp]:
    """Positions of the rows that have samples, of which none parses, and something to be right about.

    Empty for a method that is not made from several samples.
    """
    if not evidence.method.uses_samples:
        return np.zeros(0, np.intp)
    run = evidence.run
    normaliser = AnswerNormaliser.for_run(run)
    clusters = cluster_samples(run, normaliser, evidence.options.unparseable)
    silent = (clusters.n_samples > 0) & (clusters.majority_size == 0) & _judgeable_rows(run, normaliser)
    return np.setdiff1d(np.flatnonzero(silent), evidence.confidences.pairs.rows).astype(np.intp)


def with_unparsed_as_wrong(evidence: AnswerEvidence) -> AnswerEvidence:
    """The evidence with those rows at confidence 0 and wrong; itself where there are none."""
    silent = unparsed_rows(evidence)
    if not silent.size:
        return evidence
    said = evidence.confidences
    order = np.argsort(np.concatenate([said.pairs.rows, silent]), kind="stable")
    zeros = np.zeros(silent.size, said.pairs.confidence.dtype)
    pairs = Pairs(
        np.concatenate([said.pairs.confidence, zeros])[order],
        np.concatenate([said.pairs.correct, np.zeros(silent.size, np.bool_)])[order],
        np.concatenate([said.pairs.rows, silent])[order],
        said.pairs.computed,
    )
    left = {reason: count for reason, count in said.missing.items() if reason != NO_SAMPLE_PARSES}
    remaining = said.missing.get(NO_SAMPLE_PARSES, silent.size) - silent.size
    confidences = replace(
        said,
        pairs=pairs,
        recipe=(*said.recipe, counted_wrong_text(silent.size)),
        missing=MappingProxyType(left | ({NO_SAMPLE_PARSES: remaining} if remaining else {})),
        answers=None if said.answers is None else _extend_answers(said.answers, silent.size, order),
    )
    return AnswerEvidence(evidence.run, evidence.method, evidence.options, confidences)


def evidence_of_unparsed_run(run: AnswerRun, method: Method, options: MethodOptions) -> AnswerEvidence | None:
    """What a method of several samples says of a run of which no sample parses: of no row anything.

    As such a run gives no confidence, `gather` refuses it; `with_unanswered` makes pairs of it. None where
    the method is another, a sample parses, or there is no row that could be counted.
    """
    if not method.uses_samples or not has_samples(run):
        return None
    normaliser = AnswerNormaliser.for_run(run)
    clusters = cluster_samples(run, normaliser, options.unparseable)
    if clusters.majority_size.any():
        return None
    why = first_reason(
        run.rows.height,
        ("no samples", pl.Series(clusters.n_samples == 0)),
        (NO_SAMPLE_PARSES, pl.Series(_judgeable_rows(run, normaliser))),
        ("no gold", row_positions(run) >= 0),
    )
    reasons = unanswered_reason(run).fill_null(why).to_list()
    if NO_SAMPLE_PARSES not in reasons:
        return None
    nothing = Pairs(np.zeros(0), np.zeros(0, np.bool_), np.zeros(0, np.intp), computed=True)
    said = Confidences(
        nothing,
        JUDGED_ANSWER_NAMES["majority"],
        (UNPARSEABLE_PHRASES[options.unparseable],),
        MappingProxyType(dict(Counter(reasons))),
        answers=pl.Series("answer", [], dtype=pl.String),
    )
    return AnswerEvidence(run, method, options, said)


def counted_wrong_text(n_rows: int) -> str:
    """What the recipe says of so many rows, at least one."""
    return f"no sample parses = confidence 0 and wrong ({n_rows:,} row{'s' if n_rows > 1 else ''})"


def _extend_answers(answers: pl.Series, n_added: int, order: NDArray[np.intp]) -> pl.Series:
    lengthened = pl.concat([answers, pl.repeat(None, n_added, dtype=answers.dtype, eager=True)])
    return lengthened[pl.Series(order, dtype=pl.UInt32)]


def _judgeable_rows(run: AnswerRun, normaliser: AnswerNormaliser) -> NDArray[np.bool_]:
    """Which rows have a right answer that a sample could have met, or a judgement of their samples.

    A row whose status says that there is nothing to judge has neither.
    """
    by_gold = row_positions(run).is_in(gold_forms(run, normaliser)["row"].implode())
    judged = column(run, "sample_correct").list.drop_nulls().list.len().fill_null(0) > 0
    known = by_gold | judged | column(run, "correct_majority").is_not_null()
    return (known & unanswered_reason(run).is_null()).to_numpy()
