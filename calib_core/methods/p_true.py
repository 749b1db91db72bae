"""How probable is "True" when the model is asked whether its own answer is true?"""

from __future__ import annotations

from typing import Final

import polars as pl

from calib_core.errors import Unavailable
from calib_core.methods.answers.outcomes import RowConfidences, answer_outcomes, pair_with_outcomes
from calib_core.methods.columns import column, first_reason, missing_columns_phrase
from calib_core.methods.method import Confidences, Method, MethodOptions
from calib_core.runs import AnswerRun

ALREADY_DIVIDED: Final = "true_false"
"""Value of `p_true_norm` for a P(True) that the file already divides by P(True) + P(False)."""


def _p_true_confidences(run: AnswerRun, options: MethodOptions) -> Confidences:
    """P(True) as stored, or its share of P(True) + P(False) if the options say so.

    References
    ----------
    Kadavath et al. (2022), arXiv:2207.05221.
    Wang et al. (2024), arXiv:2403.09849.
    """
    p_true = run.rows["p_true"]
    divided = (column(run, "p_true_norm") == ALREADY_DIVIDED).fill_null(value=False)
    n_divided = int((divided & p_true.is_not_null()).sum())
    remarks = (f"rows already divided in the file: {n_divided:,}",) if n_divided else ()
    if n_divided == p_true.len() - p_true.null_count():
        confidences = RowConfidences(p_true, ("P(True) of the two, divided in the file",), computed=False)
    elif options.renormalise is True:
        if not run.has_columns("p_false"):
            raise Unavailable(
                f"{missing_columns_phrase(run, 'p_false')}: the share of P(True) + P(False) needs both"
            )
        shares, reason = _share_of_true(p_true, run.rows["p_false"], divided)
        confidences = RowConfidences(
            shares, ("P(True) of the two",), computed=True, missing_reason=reason, remarks=remarks
        )
    else:
        confidences = RowConfidences(p_true, ("P(True) as stored",), computed=False, remarks=remarks)
    return pair_with_outcomes(run, confidences, answer_outcomes(run, run.info.p_true_of, options))


def _share_of_true(p_true: pl.Series, p_false: pl.Series, divided: pl.Series) -> tuple[pl.Series, pl.Series]:
    """P(True) / (P(True) + P(False)) unless already divided, as Float64, and why a row has none."""
    true, false = p_true.cast(pl.Float64), p_false.cast(pl.Float64)
    reason = first_reason(
        true.len(),
        ("empty confidence", true.is_null()),
        ("no p_false", false.is_null() & ~divided),
        ("p_true and p_false are both 0", (true + false == 0) & ~divided),
    )
    return true.zip_with(divided, true / (true + false)), reason


P_TRUE: Final = Method(
    id="p_true",
    title="p(True)",
    meaning="The probability of “true” when the model is asked whether its own answer is true.",
    source="P(True) after asking the model whether its answer is true; Kadavath et al. 2022, "
    "Wang et al., arXiv 2403.09849",
    needs="the probability of the answer True (p_true), with p_false for the share of the two; an outcome",
    compute=_p_true_confidences,
    columns=("p_true",),
    requirement="the probability of the answer True is needed",
    renormalises_by_default=False,
    renormalisation_column="p_false",
    is_baseline=True,
    display_rank=2,
    headline_rank=5,
    style=(3, "triangle-up", "8px,3px,2px,3px"),
)
