"""Where do the confidences lie, and can the bins be trusted?"""

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
from calib_core.results.evidence import Evidence, RowUnit, get_metric
from calib_core.results.recipe import recipe_text
from calib_core.wording import both_or_all, format_percent

CONCENTRATED_SHARE: Final = 0.8
"""Two bins that hold this share of the rows carry the ECE between them."""

LOW_ECE: Final = 0.1
"""An ECE up to here is one that people would call good, and so would want to know what it rests on."""


@dataclass(frozen=True, slots=True, eq=False)
class Concentration:
    """How one method's confidences spread over the bins of one scheme.

    table: one row a non-empty bin, as drawn: bin, low, high, count, share, fullest (1 = the fullest bin;
    ties by position), cumulative (share of the bins up to this one, fullest first). finest: low, high,
    count over 1,000 equal-width bins. top_two: share of rows in the two fullest bins; effective: 1/Σw²,
    w = share of each bin; at_zero, at_one: share of rows at exactly 0 and 1; distinct: different
    confidences; all of the top label's pairs, None without rows. at_zero, at_one and distinct are None,
    too, where single confidences are not kept (token level). unit: what is counted.
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

    @property
    def n_bins(self) -> int:
        """Bins of the scheme, empty ones included where they are fixed beforehand."""
        return self.scheme.bins if self.scheme.binning == "width" else self.table.height

    def to_frame(self) -> pl.DataFrame:
        """The table with run, method and recipe beside every row."""
        return self._with_provenance(self.table)

    def figure_frame(self) -> pl.DataFrame:
        """As `to_frame`, and below the finest bins; bins: "chosen" or "finest", which each row is one of."""
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
    """Where the confidences of this evidence lie; raises Unavailable for too many natural bins."""
    scheme = scheme or Scheme()
    evidence = evidence.top_label
    ece = get_metric("ece")
    sums = evidence.sums
    binned = evidence.binned(ece, scheme)
    n = sums.n_pairs
    share = binned.count / n
    two = np.sort(share)[:-3:-1]
    value = ece.compute(sums, scheme)
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
        top_two_share=float(two.sum()) if n else None,
        effective_bins=float(1 / np.square(share).sum()) if n else None,
        share_at_zero=evidence.share_at(0.0),
        share_at_one=evidence.share_at(1.0),
        ece=value,
        warning=None if value is None else _low_ece_warning(value, two, scheme, evidence.unit),
        recipe=recipe_text(evidence, None, scheme, binned.size),
        unit=evidence.unit,
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
    """What the page shows in one sentence; results: one or more methods, those without rows passed over."""
    known = sorted(
        ((result.top_two_share, result) for result in results if result.top_two_share is not None),
        key=itemgetter(0),
    )
    if not known:
        return f"No {results[0].unit[:-1]} has both a confidence and an outcome."
    (least, first), (most, last) = known[0], known[-1]
    if len(known) > 1 and format_percent(least) == format_percent(most):
        by = f"{both_or_all(len(known))} methods"
        return f"The two fullest bins hold {format_percent(least)} of the {first.unit} by {by}."
    if len(known) > 1:
        return (
            f"The two fullest bins hold from {format_percent(least)} of the {first.unit} (“{first.title}”) to "
            f"{format_percent(most)} (“{last.title}”)."
        )
    if first.n_used == 1:
        return f"There is 1 {first.unit[:-1]}, so all lies in one bin."
    if first.table.height == 1:
        return f"{both_or_all(first.n_used).capitalize()} {first.unit} lie in one bin."
    return (
        f"The two fullest of {first.n_bins:,} bins hold {format_percent(least)} of the {first.n_used:,} {first.unit}, "
        f"which are as spread out as over {first.effective_bins or 1:.1f} equally full bins."
    )


def concentration_table(results: Sequence[Concentration]) -> pl.DataFrame:
    """One row a method: title, top_two, effective, ece, at_zero, at_one, distinct, used, rows."""
    return pl.DataFrame(
        {
            "title": [result.title for result in results],
            "top_two": [result.top_two_share for result in results],
            "effective": [result.effective_bins for result in results],
            "ece": [result.ece for result in results],
            "at_zero": [result.share_at_zero for result in results],
            "at_one": [result.share_at_one for result in results],
            "distinct": [result.n_distinct for result in results],
            "used": [result.n_used for result in results],
            "rows": [result.n_total for result in results],
        }
    )


def _low_ece_warning(
    ece: float, top_shares: NDArray[np.float64], scheme: Scheme, unit: RowUnit
) -> str | None:
    """The self-consistency paper's point about p(True): a low ECE may rest on one or two bins.

    two: shares of the fullest bins, fullest first, shape (1,) or (2,). Nothing is said where no more
    than two bins were asked for.
    """
    if float(top_shares.sum()) < CONCENTRATED_SHARE or (scheme.binning != "natural" and scheme.bins <= 2):
        return None
    if float(top_shares[0]) >= CONCENTRATED_SHARE:
        where = f"One bin holds {format_percent(float(top_shares[0]))} of the {unit}"
    else:
        where = f"The two fullest bins hold {format_percent(float(top_shares.sum()))} of the {unit}"
    if ece > LOW_ECE:
        return f"{where}: the ECE of {ece:.4f} describes little else."
    return (
        f"{where}, so the ECE of {ece:.4f} says little more than that their average confidence is near "
        "their accuracy. It does not say that higher confidence is righter: look at the Brier score and "
        "AUROC before trusting it."
    )
