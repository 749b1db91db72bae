"""How probable is "True" when the model is asked whether its own answer is true?"""

from __future__ import annotations

from typing import Final

import polars as pl

from calib_core.confidence.columns import column, first_reason, lacking
from calib_core.confidence.method import Confidences, Method, Options
from calib_core.confidence.outcomes import outcomes
from calib_core.confidence.scalar import Scalar, judged
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun

DIVIDED: Final = "true_false"
"""Value of p_true_norm for a P(True) that its file has already divided by P(True) + P(False)."""


def _of(run: AnswerRun, options: Options) -> Confidences:
    """P(True) as stored, or its share of P(True) + P(False) where that is asked for."""
    if not run.has("p_true"):
        raise Unavailable(f"{lacking(run, 'p_true')}: the probability of the answer True is needed")
    p_true = run.rows["p_true"]
    divided = (column(run, "p_true_norm") == DIVIDED).fill_null(value=False)
    count = int((divided & p_true.is_not_null()).sum())
    remarks = (f"rows already divided in the file: {count:,}",) if count else ()
    if count == p_true.len() - p_true.null_count():
        scalar = Scalar(p_true, ("P(True) of the two, divided in the file",), computed=False)
    elif options.renormalise is True:
        if not run.has("p_false"):
            raise Unavailable(f"{lacking(run, 'p_false')}: the share of P(True) + P(False) needs both")
        shares, why = _share_of_two(p_true, run.rows["p_false"], divided)
        scalar = Scalar(shares, ("P(True) of the two",), computed=True, why=why, remarks=remarks)
    else:
        scalar = Scalar(p_true, ("P(True) as stored",), computed=False, remarks=remarks)
    return judged(run, scalar, outcomes(run, run.info.p_true_of, options))


def _share_of_two(p_true: pl.Series, p_false: pl.Series, divided: pl.Series) -> tuple[pl.Series, pl.Series]:
    """P(True)/(P(True) + P(False)), Float64, and why a row has none; a row already divided stays as it is."""
    true, false = p_true.cast(pl.Float64), p_false.cast(pl.Float64)
    why = first_reason(
        true.len(),
        ("empty confidence", true.is_null()),
        ("no p_false", false.is_null() & ~divided),
        ("p_true and p_false are both 0", (true + false == 0) & ~divided),
    )
    return true.zip_with(divided, true / (true + false)), why


P_TRUE: Final = Method(
    id="p_true",
    title="p(True)",
    meaning=(
        "The probability that the model gives to “true” when it is asked whether its own answer is "
        "true."
    ),
    source="P(True) after asking the model whether its answer is true; Kadavath et al. 2022, "
    "Wang et al., arXiv 2403.09849",
    needs="the probability of the answer True (p_true), with p_false for the share of the two; an outcome",
    of=_of,
    renormalised=False,
    renormalises_with="p_false",
    baseline=True,
    rank=2,
    look=(3, "triangle-up", "8px,3px,2px,3px"),
)
