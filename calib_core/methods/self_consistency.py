"""How far do the sampled answers to a question agree?

The three self-consistency methods of Wang et al. (2024), arXiv:2403.09849. The samples of a question are
clustered by equal answers; the answer of the largest cluster is judged, and a formula of the cluster sizes is
its confidence. Answers in open text, which the paper cannot compare, come with their clusters
(`sample_cluster`) and outcomes (`sample_correct`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import Unavailable
from calib_core.methods.answers.agreement import pairwise_confidence
from calib_core.methods.answers.cluster import (
    OPEN_ANSWERS_NEED,
    SAMPLE_COLUMNS,
    SAMPLES_REQUIRED,
    Clusters,
    cluster_samples,
)
from calib_core.methods.answers.extract import marked_answers, may_have_marker
from calib_core.methods.answers.gold_match import has_gold
from calib_core.methods.answers.held_out import hold_out
from calib_core.methods.answers.normalise import AnswerNormaliser
from calib_core.methods.answers.outcomes import (
    MIN_FREE_TEXT_ROWS,
    Outcomes,
    RowConfidences,
    majority_outcomes,
    pair_with_outcomes,
    require_known,
)
from calib_core.methods.answers.unparseable import UNPARSEABLE_PHRASES, UnparseableRule
from calib_core.methods.columns import column, first_reason, usable_rows
from calib_core.methods.method import Confidences, Method, MethodOptions
from calib_core.runs import AnswerRun, kept_for_last_run

_NEEDS: Final = (
    "several sampled answers per question (samples, samples_parsed or, for open text, sample_cluster); "
    "gold, or whether each is right (sample_correct)"
)

NO_SAMPLE_PARSES: Final = "no sample parses"
"""Why a row has no confidence though it has samples."""

HELD_OUT_PHRASE: Final = "held out: answer chosen on the first half of the samples, counted on the others"
"""The recipe's phrase where other samples count than those that choose the answer."""

HELD_OUT_JUDGED: Final = "majority answer of half of the samples"
"""The answer that is judged there."""

COMPARED_WHOLE: Final = "compared as a whole text"
"""The end of a remark on samples that mark no answer."""

ConfidenceFormula = Callable[[Clusters, NDArray[np.intp]], NDArray[np.float64]]
"""Clusters of a run and positions of its usable rows → confidences of those rows, float64 in [0, 1]."""

RemarkFormula = Callable[[Clusters, NDArray[np.intp]], tuple[str, ...]]
"""Clusters of a run and positions of its usable rows → what a reader of the confidence must know."""


def _no_remarks(_clusters: Clusters, _rows: NDArray[np.intp]) -> tuple[str, ...]:
    return ()


def self_consistency(
    run: AnswerRun,
    options: MethodOptions,
    formula: ConfidenceFormula,
    remark: RemarkFormula = _no_remarks,
    *,
    held_out: bool = False,
) -> Confidences:
    """Judge the majority answer of each row, with a confidence from its clusters.

    A row is used if it has N ≥ 2 samples and at least one of them parses.

    Parameters
    ----------
    run : AnswerRun
        A run with sampled answers.
    options : MethodOptions
        Of these, `unparseable` is read.
    formula : callable
        The confidence.
    remark : callable, optional
        Further remarks.
    held_out : bool, default False
        Whether half of the samples choose the answer and the formula is of the others (`hold_out`).

    Raises
    ------
    Unavailable
        If no row has enough samples and an outcome.
    """
    normaliser, clusters, outcomes, n_whole = _cached_clusters(run, options.unparseable)
    reason = _missing_reasons(run, normaliser, clusters)
    n_counted, phrases = clusters.n_counted, ()
    if held_out:
        clusters, phrases = hold_out(clusters), (HELD_OUT_PHRASE,)
        reason = reason.fill_null(_missing_half(clusters))
        outcomes = _held_out_outcomes(run, normaliser, clusters)
    _require_judged(run, clusters, outcomes)
    rows, _missing = usable_rows(run, reason.fill_null(outcomes.unknown_reason))
    # No answer is a wrong one, though one without a confidence.
    is_wrong = ((reason == NO_SAMPLE_PARSES) & outcomes.correct.is_null() & has_gold(run)).fill_null(
        value=False
    )
    outcomes = replace(outcomes, correct=outcomes.correct.set(is_wrong, value=False))
    values = np.full(reason.len(), np.nan)
    values[rows] = formula(clusters, rows)
    confidences = RowConfidences(
        pl.Series("confidence", values, nan_to_null=True),
        (
            _sample_count_phrase(n_counted[rows]),
            *phrases,
            *_equality_phrases(normaliser, clusters, rows),
            UNPARSEABLE_PHRASES[options.unparseable],
        ),
        computed=True,
        missing_reason=reason,
        remarks=(
            *_cluster_remarks(clusters, rows),
            *_whole_output_remark(clusters, n_whole),
            *_open_text_remark(normaliser, clusters, rows),
            *remark(clusters, rows),
        ),
    )
    return replace(
        pair_with_outcomes(run, confidences, outcomes),
        n_samples=int(clusters.n_samples.sum()),
        n_unparsed=int(clusters.n_unparsed.sum()),
    )


@kept_for_last_run
def _cached_clusters(
    run: AnswerRun, unparseable: UnparseableRule
) -> tuple[AnswerNormaliser, Clusters, Outcomes, int]:
    normaliser = AnswerNormaliser.for_run(run)
    clusters = cluster_samples(run, normaliser, unparseable)
    outcomes = majority_outcomes(run, normaliser, clusters)
    return normaliser, clusters, outcomes, _count_whole_outputs(run, normaliser, clusters)


def _count_whole_outputs(run: AnswerRun, normaliser: AnswerNormaliser, clusters: Clusters) -> int:
    """Number of outputs that are compared whole as texts, as they mark no answer, while others do."""
    if not clusters.samples.found_at_marker:
        return 0
    is_output = column(run, "samples_parsed").is_null() & pl.Series(~clusters.has_labels)
    texts = column(run, "samples").filter(is_output & (normaliser.kind == "text")).explode().drop_nulls()
    likely = texts.filter(may_have_marker(texts))
    is_marked = np.zeros(likely.len(), np.bool_)
    for whole, _ in marked_answers(likely):
        is_marked |= whole.is_not_null().to_numpy()
    return texts.len() - int(is_marked.sum())


def _missing_reasons(run: AnswerRun, normaliser: AnswerNormaliser, clusters: Clusters) -> pl.Series:
    """Why a row has no confidence, null where it has one; raises Unavailable if no row has one."""
    reason = first_reason(
        run.rows.height,
        ("no samples", pl.Series(clusters.n_samples == 0)),
        (NO_SAMPLE_PARSES, pl.Series(clusters.majority_size == 0)),
        ("one sample only", pl.Series(clusters.n_counted == 1)),
    )
    sampled = clusters.n_samples > 0
    if np.all(clusters.n_samples[sampled] == 1):
        raise Unavailable("every row has only one sample; several sampled answers per question are needed")
    if np.all(clusters.majority_size[sampled] == 0):
        kinds = " or ".join(sorted(set(normaliser.kind.filter(pl.Series(sampled)).to_list())))
        raise Unavailable(
            f"no sample parses as a {kinds}: an answer stands alone (samples_parsed), or where the output "
            f"marks it: \\boxed{{}}, ####, “the answer is”, “Answer:”; {OPEN_ANSWERS_NEED}"
        )
    return reason


def _missing_half(clusters: Clusters) -> pl.Series:
    """Why a row with several samples has no held-out share, null where it has one."""
    return first_reason(
        clusters.n_counted.size,
        ("no sample parses in the first half", pl.Series(clusters.majority_first < 0)),
        ("no sample counts in the second half", pl.Series(clusters.n_counted == 0)),
    )


def _held_out_outcomes(run: AnswerRun, normaliser: AnswerNormaliser, clusters: Clusters) -> Outcomes:
    # `correct_majority` judges the majority of all samples; half of them may choose another answer.
    without = replace(run, rows=run.rows.drop("correct_majority", strict=False))
    return replace(majority_outcomes(without, normaliser, clusters), judged=HELD_OUT_JUDGED)


def _require_judged(run: AnswerRun, clusters: Clusters, outcomes: Outcomes) -> None:
    """Raise Unavailable, with the columns that would do, where no majority answer has an outcome."""
    if outcomes.correct.is_null().all() and not run.has_columns("sample_correct"):
        if clusters.has_labels.any():
            raise Unavailable(
                "sample_cluster says which samples mean the same; sample_correct, whether each sample is "
                "right, is missing"
            )
        if not has_gold(run).any():
            raise Unavailable(f"no gold to compare the samples with; {OPEN_ANSWERS_NEED}")
    require_known(outcomes)


def _sample_count_phrase(n_counted: NDArray[np.int64]) -> str:
    low, high = int(n_counted.min()), int(n_counted.max())
    return f"N={low}" if low == high else f"N={low}–{high}"


def _equality_phrases(
    normaliser: AnswerNormaliser, clusters: Clusters, rows: NDArray[np.intp]
) -> tuple[str, ...]:
    """Recipe phrases on which samples count as equal."""
    if clusters.has_labels[rows].all():
        return ("clusters as labelled in the file",)
    kinds = normaliser.kinds(pl.Series(rows))
    compared = f"answers compared as {' or '.join(f'{kind}s' for kind in kinds)}"
    extracted = ("read where an output marks its answer",) if clusters.samples.found_at_marker else ()
    return (compared, *extracted, *(("percent signs dropped",) if clusters.samples.has_percent else ()))


def _cluster_remarks(clusters: Clusters, rows: NDArray[np.intp]) -> tuple[str, ...]:
    ties = int(clusters.is_tied[rows].sum())
    unparsed = int(clusters.n_unparsed.sum())
    remarks: list[str] = []
    if ties:
        remarks.append(f"{ties:,} tie{'s' if ties > 1 else ''}, the first sampled answer taken")
    if unparsed:
        remarks.append(f"{unparsed:,} samples do not parse" if unparsed > 1 else "1 sample does not parse")
    return tuple(remarks)


def _whole_output_remark(clusters: Clusters, n_whole: int) -> tuple[str, ...]:
    """How many outputs mark no answer, so that their whole text counts as one; () where all do."""
    if not n_whole:
        return ()
    n_samples = int(clusters.n_samples.sum())
    are = "mark no answer and are" if n_whole > 1 else "marks no answer and is"
    return (f"{n_whole:,} of {n_samples:,} samples {are} {COMPARED_WHOLE}",)


def _open_text_remark(
    normaliser: AnswerNormaliser, clusters: Clusters, rows: NDArray[np.intp]
) -> tuple[str, ...]:
    """A warning that samples are compared as texts, where hardly any two are equal."""
    is_text = (normaliser.kind == "text").to_numpy() & ~clusters.has_labels
    n_parsed = clusters.n_samples - clusters.n_unparsed
    n_text = int(is_text[rows].sum())
    n_apart = int((is_text & (n_parsed > 1) & (clusters.groups.n_groups == n_parsed))[rows].sum())
    if n_text < MIN_FREE_TEXT_ROWS or 2 * n_apart <= n_text:
        return ()
    return (f"in {n_apart:,} of {n_text:,} rows no two samples are equal as texts: {OPEN_ANSWERS_NEED}",)


# --- F_CN: number of clusters -------------------------------------------------------------------------------


def _f_cn(clusters: Clusters, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    # (N − |C|)/N is rounded only once, 1 − |C|/N twice.
    return (clusters.n_counted[rows] - clusters.n_clusters[rows]) / clusters.n_counted[rows]


def _f_cn_ceiling_remark(clusters: Clusters, rows: NDArray[np.intp]) -> tuple[str, ...]:
    # Unanimous samples are still one cluster, so F_CN stays below 1 however confident the model is.
    largest_n = int(clusters.n_counted[rows].max())
    return (f"F_CN is at most 1 − 1/N = {(largest_n - 1) / largest_n:.4g} with these samples",)


def _cluster_number_confidences(run: AnswerRun, options: MethodOptions) -> Confidences:
    """F_CN = 1 − |C|/N, in [0, 1 − 1/N]."""
    confidences = self_consistency(run, options, _f_cn, _f_cn_ceiling_remark)
    note = multiple_choice_note(run)
    return replace(confidences, remarks=(*confidences.remarks, note)) if note else confidences


def multiple_choice_note(run: AnswerRun) -> str | None:
    """How few values F_CN can take on multiple choice; None for a run of open answers.

    With K options and N samples that all parse there are 1 to min(K, N) clusters, so that F_CN lies between
    1 − min(K, N)/N and 1 − 1/N. The paper itself says that it is weak there.
    """
    if not run.has_columns("choices"):
        return None
    weakness = "F_CN says little on multiple choice"
    n_options = _longest_list(run, "choices")
    n_samples = max(_longest_list(run, name) for name in ("samples", "samples_parsed", "sample_cluster"))
    most_clusters = min(n_options, n_samples)
    if most_clusters < 2:
        return f"{weakness}: there are no more clusters than options"
    low, high = ((n_samples - clusters) / n_samples for clusters in (most_clusters, 1))
    return (
        f"{weakness}: {n_options} options and {n_samples} samples leave it {most_clusters} values, "
        f"{low:.4g} to {high:.4g}, where all samples parse"
    )


def _longest_list(run: AnswerRun, name: str) -> int:
    """Length of the longest list in a column; 0 where the run has none."""
    if not run.has_columns(name):
        return 0
    lengths = run.rows[name].list.len().max()
    return lengths if isinstance(lengths, int) else 0


CLUSTER_NUMBER: Final = Method(
    id="cluster_number",
    title="self-consistency, F_CN",
    meaning=(
        "F_CN is 1 minus the number of clusters of equal sampled answers divided by the number "
        "of samples: fewer different answers, higher confidence."
    ),
    source="F_CN = 1 − |C|/N; Wang et al., arXiv 2403.09849",
    needs=_NEEDS,
    compute=_cluster_number_confidences,
    columns=SAMPLE_COLUMNS,
    requirement=SAMPLES_REQUIRED,
    uses_samples=True,
    style=(2, "diamond", "2px,3px"),
)


# --- F_CS: size of the largest cluster ----------------------------------------------------------------------


def _f_cs(clusters: Clusters, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    return clusters.majority_size[rows] / clusters.n_counted[rows]


def _cluster_size_confidences(run: AnswerRun, options: MethodOptions) -> Confidences:
    """F_CS = n_i/N of the majority cluster i, in [1/N, 1]; held out, in [0, 1]."""
    return self_consistency(run, options, _f_cs, held_out=options.held_out)


CLUSTER_SIZE: Final = Method(
    id="cluster_size",
    title="self-consistency, F_CS",
    meaning=(
        "F_CS is the share of samples in the largest cluster of equal sampled answers, the majority answer."
    ),
    source="F_CS = n_i/N of the majority cluster i; Wang et al., arXiv 2403.09849",
    needs=_NEEDS,
    compute=_cluster_size_confidences,
    columns=SAMPLE_COLUMNS,
    requirement=SAMPLES_REQUIRED,
    uses_samples=True,
    holds_out=True,
    display_rank=1,
    headline_rank=4,
    style=(0, "circle", "solid"),
)


# --- F_PC: the majority against each other cluster ----------------------------------------------------------


def _f_pc(clusters: Clusters, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """F_PC of each row; equal clusterings have bitwise equal values."""
    values = np.full(clusters.n_clusters.size, np.nan)
    for block, sizes in clusters.groups.size_tables(rows):
        values[block] = pairwise_confidence(sizes, clusters.n_unparsed[block], clusters.rule)
    return values[rows]


def _pairwise_confidences(run: AnswerRun, options: MethodOptions) -> Confidences:
    """F_PC = Π_{j≠i} n_i/(n_i + n_j) of the majority cluster i, in (0, 1]."""
    return self_consistency(run, options, _f_pc)


PAIRWISE: Final = Method(
    id="pairwise",
    title="self-consistency, F_PC",
    meaning=(
        "F_PC multiplies how clearly the largest cluster of equal sampled answers beats each other cluster."
    ),
    source="F_PC = Π_{j≠i} n_i/(n_i + n_j) of the majority cluster i; Wang et al., arXiv 2403.09849",
    needs=_NEEDS,
    compute=_pairwise_confidences,
    columns=SAMPLE_COLUMNS,
    requirement=SAMPLES_REQUIRED,
    uses_samples=True,
    style=(1, "square", "7px,4px"),
)
