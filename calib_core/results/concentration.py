"""Where do the confidences lie, and does the ECE rest on one or two bins?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.bins import Binned
from calib_core.edges import MAX_BINS, Scheme
from calib_core.inference.missingness import Missingness
from calib_core.methods import METHODS
from calib_core.metrics.ece import ECE
from calib_core.results.columns import Column, frame_of
from calib_core.results.display import Displayable
from calib_core.results.evidence import Evidence, RowUnit, refuse_weights
from calib_core.results.recipe import recipe_text
from calib_core.terms import Terms, common_terms
from calib_core.wording import both_or_all, format_percent

CONCENTRATED_SHARE: Final = 0.8
"""If the two fullest bins hold this share of the rows, the ECE rests on them alone."""

LOW_ECE: Final = 0.1
"""An ECE up to this would pass as good, so a reader wants to know what it rests on."""


def method_columns(results: Sequence[Concentration]) -> tuple[Column, ...]:
    """The columns of methods side by side."""
    terms = common_terms(result.terms for result in results)
    return (
        Column("method", "Method", "method"),
        Column("top_two", "Two fullest bins", "share"),
        Column("effective", "Effective bins", "number", "1/Σw²", digits=1),
        Column("ece", "ECE", "number", ECE.worded(terms).help),
        Column("at_zero", "At exactly 0", "share"),
        Column("at_one", "At exactly 1", "share"),
        Column("distinct", "Distinct values", "count"),
        Column("used", "Rows used", "count", f"Rows with a {terms.confidence} and an outcome."),
        Column("rows", "Rows", "count"),
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Concentration(Displayable):
    """How the confidences of one method spread over the bins of one scheme.

    Attributes
    ----------
    run, method, title : str
        The run's label, the method's id and title.
    scheme : Scheme
    table : pl.DataFrame
        One row for each non-empty bin, in drawing order: bin, low, high, count, share, fullest (1 = the
        fullest bin; ties by position) and cumulative (share of the bins up to this one, fullest first).
    fine_histogram : pl.DataFrame
        low, high and count over 1,000 bins of equal width.
    n_used, n_total : int
        Rows or positions used, and in the file.
    n_distinct : int or None
        Number of distinct confidences; None where single confidences are not kept (token level).
    top_two_share : float or None
        Share of rows in the two fullest bins; None without rows.
    effective_bins : float or None
        1 / Σw², with w the share of each bin; None without rows.
    share_at_zero, share_at_one : float or None
        Share of rows at exactly 0 and 1; None without rows, and where single confidences are not kept.
    ece : float or None
    warning : str or None
        That the ECE rests on one or two bins, where it does.
    missing : Missingness or None
        Accuracy of the rows without a confidence beside that of the others; None where no row lacks one.
    recipe : str
    unit : {"rows", "positions"}
        What is counted.
    """

    run: str
    method: str
    title: str
    scheme: Scheme
    table: pl.DataFrame
    fine_histogram: pl.DataFrame
    n_used: int
    n_total: int
    n_distinct: int | None
    top_two_share: float | None
    effective_bins: float | None
    share_at_zero: float | None
    share_at_one: float | None
    ece: float | None
    warning: str | None
    recipe: str
    unit: RowUnit = "rows"
    missing: Missingness | None = None

    @property
    def caution(self) -> str:
        """What a low ECE does not say that rests on one or two bins; "" for another."""
        if not self.warning or self.ece is None or self.ece > LOW_ECE:
            return ""
        more = "yes more often" if self.terms.of == "event" else "more right answers"
        return (
            f"A low ECE of so few bins does not say that higher {self.terms.confidence} means {more}: look "
            "at the Brier score and AUROC."
        )

    @property
    def terms(self) -> Terms:
        """The words for its probabilities and outcomes."""
        return METHODS[self.method].terms

    @property
    def n_bins(self) -> int:
        """Number of bins; of equal width including the empty ones."""
        return self.scheme.bins if self.scheme.binning == "width" else self.table.height

    def to_frame(self) -> pl.DataFrame:
        """The table, with run, method and recipe repeated in every row."""
        return self._with_provenance(self.table)

    def figure_frame(self) -> pl.DataFrame:
        """As `to_frame`, followed by the fine histogram; column bins is "chosen" or "finest"."""
        chosen = self.table.with_columns(bins=pl.lit("chosen"))
        share = self.fine_histogram["count"].to_numpy() / max(self.n_used, 1)
        finest = self.fine_histogram.with_columns(
            bin=pl.lit(None, pl.Int64), share=pl.Series(share), bins=pl.lit("finest")
        )
        return self._with_provenance(pl.concat([chosen, finest], how="diagonal"))

    def _with_provenance(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(
            run=pl.lit(self.run), method=pl.lit(self.method), recipe=pl.lit(self.recipe)
        )


def measure_concentration(evidence: Evidence, scheme: Scheme | None = None) -> Concentration:
    """How the top-label confidences of this evidence spread over the bins.

    Raises
    ------
    Unavailable
        Where there are too many natural bins.
    """
    scheme = scheme or Scheme()
    evidence = evidence.top_label
    refuse_weights(evidence, "The spread of the confidences")
    sums = evidence.sums
    binned = evidence.binned(ECE, scheme)
    n = sums.n_pairs
    share = binned.count.astype(np.float64) / n
    top_shares = np.sort(share)[:-3:-1]
    ece = ECE.compute(sums, scheme)
    return Concentration(
        run=evidence.run.label,
        method=evidence.method.id,
        title=evidence.method.title,
        scheme=scheme,
        table=_concentration_bins(binned, share),
        fine_histogram=sums.binned(Scheme("width", MAX_BINS)).to_frame().select("low", "high", "count"),
        n_used=evidence.n_used,
        n_total=evidence.n_total,
        n_distinct=evidence.n_distinct,
        top_two_share=float(top_shares.sum()) if n else None,
        effective_bins=float(1 / np.square(share).sum()) if n else None,
        share_at_zero=evidence.share_at(0.0),
        share_at_one=evidence.share_at(1.0),
        ece=ece,
        warning=few_bins_warning(evidence, scheme),
        recipe=recipe_text(evidence, None, scheme, binned.n_bins),
        unit=evidence.unit,
        missing=evidence.missingness,
    )


def _concentration_bins(binned: Binned, share: NDArray[np.float64]) -> pl.DataFrame:
    order = np.argsort(-share, kind="stable")
    fullest = np.empty(order.size, np.int64)
    fullest[order] = np.arange(1, order.size + 1)
    cumulative = np.empty(order.size)
    cumulative[order] = np.cumsum(binned.count[order]) / binned.count.sum()
    return binned.to_frame().select(
        "bin",
        "low",
        "high",
        "count",
        pl.Series("share", share, dtype=pl.Float64),
        pl.Series("fullest", fullest, dtype=pl.Int64),
        pl.Series("cumulative", cumulative, dtype=pl.Float64),
    )


def concentration_headline(results: Sequence[Concentration]) -> str:
    """One sentence on one or more methods; those without rows are ignored."""
    ranked = sorted(
        ((result.top_two_share, result) for result in results if result.top_two_share is not None),
        key=itemgetter(0),
    )
    if not ranked:
        return f"No {results[0].unit[:-1]} {results[0].terms.no_pair}."
    (low, lowest), (high, highest) = ranked[0], ranked[-1]
    if len(ranked) > 1 and format_percent(low) == format_percent(high):
        methods = f"{both_or_all(len(ranked))} methods"
        return f"The two fullest bins hold {format_percent(low)} of the {lowest.unit} by {methods}."
    if len(ranked) > 1:
        return (
            f"The two fullest bins hold from {format_percent(low)} of the {lowest.unit} (“{lowest.title}”) "
            f"to {format_percent(high)} (“{highest.title}”)."
        )
    if lowest.n_used == 1:
        return f"There is 1 {lowest.unit[:-1]}, so all lies in one bin."
    if lowest.table.height == 1:
        return f"{both_or_all(lowest.n_used).capitalize()} {lowest.unit} lie in one bin."
    return lowest.warning or (
        f"The two fullest of {lowest.n_bins:,} bins hold {format_percent(low)} of the {lowest.unit}, as if "
        f"only {lowest.effective_bins or 1:.1f} of the {lowest.n_bins:,} bins were used."
    )


def concentration_table(results: Sequence[Concentration]) -> pl.DataFrame:
    """One row for each method, with `method_columns`."""
    return frame_of(
        method_columns(results),
        (
            {
                "method": result.method,
                "top_two": result.top_two_share,
                "effective": result.effective_bins,
                "ece": result.ece,
                "at_zero": result.share_at_zero,
                "at_one": result.share_at_one,
                "distinct": result.n_distinct,
                "used": result.n_used,
                "rows": result.n_total,
            }
            for result in results
        ),
    )


def few_bins_warning(evidence: Evidence, scheme: Scheme) -> str | None:
    """Why the ECE of the top-label confidences rests on one or two bins; None where it doesn't.

    The self-consistency paper shows such an ECE for p(True). Schemes of at most two bins give no warning.

    Raises
    ------
    Unavailable
        Where there are too many natural bins.
    """
    evidence = evidence.top_label
    refuse_weights(evidence, "The spread of the confidences")
    ece = ECE.compute(evidence.sums, scheme)
    top_shares = np.sort(evidence.binned(ECE, scheme).count / max(evidence.sums.n_pairs, 1))[:-3:-1]
    if (
        ece is None
        or float(top_shares.sum()) < CONCENTRATED_SHARE
        or (scheme.binning != "natural" and scheme.bins <= 2)
    ):
        return None
    if float(top_shares[0]) >= CONCENTRATED_SHARE:
        opening, which = f"One bin holds {format_percent(float(top_shares[0]))}", "that bin"
    else:
        opening, which = (
            f"The two fullest bins hold {format_percent(float(top_shares.sum()))}",
            "those two bins",
        )
    return f"{opening} of the {evidence.unit}, so the ECE of {ece:.4f} mostly reflects {which}."
