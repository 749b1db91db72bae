"""Where do the confidences lie, and can the bins be trusted?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.analysis.basis import Unit
from calib_core.analysis.evidence import Evidence, metric_of
from calib_core.analysis.recipe import recipe
from calib_core.bins import MAX_BINS, Binned, Scheme
from calib_core.wording import every, percent

CONCENTRATED: Final = 0.8
"""Two bins that hold this share of the rows carry the ECE between them."""

GOOD_ECE: Final = 0.1
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
    finest: pl.DataFrame
    n_used: int
    n_total: int
    distinct: int | None
    top_two: float | None
    effective: float | None
    at_zero: float | None
    at_one: float | None
    ece: float | None
    warning: str | None
    recipe: str
    unit: Unit = "rows"

    @property
    def bins(self) -> int:
        """Bins of the scheme, empty ones included where they are fixed beforehand."""
        return self.scheme.bins if self.scheme.binning == "width" else self.table.height

    def to_frame(self) -> pl.DataFrame:
        """The table with run, method and recipe beside every row."""
        return self._told(self.table)

    def drawn(self) -> pl.DataFrame:
        """As `to_frame`, and below the finest bins; bins: "chosen" or "finest", which each row is one of."""
        chosen = self.table.with_columns(bins=pl.lit("chosen"))
        share = self.finest["count"].to_numpy() / max(self.n_used, 1)
        finest = self.finest.with_columns(
            bin=pl.lit(None, pl.Int64), share=pl.Series(share), bins=pl.lit("finest")
        )
        return self._told(pl.concat([chosen, finest], how="diagonal"))

    def _told(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(
            run=pl.lit(self.run), method=pl.lit(self.method), recipe=pl.lit(self.recipe)
        )


def concentration(evidence: Evidence, scheme: Scheme | None = None) -> Concentration:
    """Where the confidences of this evidence lie; raises Unavailable for too many natural bins."""
    scheme = scheme or Scheme()
    evidence = evidence.of_top
    ece = metric_of("ece")
    sums = evidence.sums
    binned = evidence.binned(ece, scheme)
    n = sums.pairs
    share = binned.count / n
    two = np.sort(share)[:-3:-1]
    value = ece.of(sums, scheme)
    return Concentration(
        run=evidence.run.label,
        method=evidence.method.id,
        title=evidence.method.title,
        scheme=scheme,
        table=_table(binned, share),
        finest=sums.binned(Scheme("width", MAX_BINS)).to_frame().select("low", "high", "count"),
        n_used=evidence.n_used,
        n_total=evidence.n_total,
        distinct=evidence.distinct,
        top_two=float(two.sum()) if n else None,
        effective=float(1 / np.square(share).sum()) if n else None,
        at_zero=evidence.share_at(0.0),
        at_one=evidence.share_at(1.0),
        ece=value,
        warning=None if value is None else _warning(value, two, scheme, evidence.unit),
        recipe=recipe(evidence, None, scheme, binned.size),
        unit=evidence.unit,
    )


def _table(binned: Binned, share: NDArray[np.float64]) -> pl.DataFrame:
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


def reading(results: Sequence[Concentration]) -> str:
    """What the page shows in one sentence; results: one or more methods, those without rows passed over."""
    known = sorted(
        ((result.top_two, result) for result in results if result.top_two is not None), key=itemgetter(0)
    )
    if not known:
        return f"No {results[0].unit[:-1]} has both a confidence and an outcome."
    (least, first), (most, last) = known[0], known[-1]
    if len(known) > 1 and percent(least) == percent(most):
        by = f"{every(len(known))} methods"
        return f"The two fullest bins hold {percent(least)} of the {first.unit} by {by}."
    if len(known) > 1:
        return (
            f"The two fullest bins hold from {percent(least)} of the {first.unit} (“{first.title}”) to "
            f"{percent(most)} (“{last.title}”)."
        )
    if first.n_used == 1:
        return f"There is 1 {first.unit[:-1]}, so all lies in one bin."
    if first.table.height == 1:
        return f"{every(first.n_used).capitalize()} {first.unit} lie in one bin."
    return (
        f"The two fullest of {first.bins:,} bins hold {percent(least)} of the {first.n_used:,} {first.unit}, "
        f"which are as spread out as over {first.effective or 1:.1f} equally full bins."
    )


def compare(results: Sequence[Concentration]) -> pl.DataFrame:
    """One row a method: title, top_two, effective, ece, at_zero, at_one, distinct, used, rows."""
    return pl.DataFrame(
        {
            "title": [result.title for result in results],
            "top_two": [result.top_two for result in results],
            "effective": [result.effective for result in results],
            "ece": [result.ece for result in results],
            "at_zero": [result.at_zero for result in results],
            "at_one": [result.at_one for result in results],
            "distinct": [result.distinct for result in results],
            "used": [result.n_used for result in results],
            "rows": [result.n_total for result in results],
        }
    )


def _warning(ece: float, two: NDArray[np.float64], scheme: Scheme, unit: Unit) -> str | None:
    """The self-consistency paper's point about p(True): a low ECE may rest on one or two bins.

    two: shares of the fullest bins, fullest first, shape (1,) or (2,). Nothing is said where no more
    than two bins were asked for.
    """
    if float(two.sum()) < CONCENTRATED or (scheme.binning != "natural" and scheme.bins <= 2):
        return None
    if float(two[0]) >= CONCENTRATED:
        where = f"One bin holds {percent(float(two[0]))} of the {unit}"
    else:
        where = f"The two fullest bins hold {percent(float(two.sum()))} of the {unit}"
    if ece > GOOD_ECE:
        return f"{where}: the ECE of {ece:.4f} describes little else."
    return (
        f"{where}, so the ECE of {ece:.4f} says little more than that their average confidence is near "
        "their accuracy. It does not say that higher confidence is righter: look at the Brier score and "
        "AUROC before trusting it."
    )
