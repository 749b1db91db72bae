"""One metric of one method on one run, as a number with its recipe, remarks and p-value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import polars as pl

from calib_core.edges import Scheme
from calib_core.inference.bootstrap import Interval
from calib_core.inference.missingness import Missingness
from calib_core.inference.null import NullDistribution, null_distribution
from calib_core.inference.verdict import chance_phrase, disagreement_text
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.metrics.metric import Metric
from calib_core.results.columns import Column, frame_of
from calib_core.results.display import Displayable
from calib_core.results.evidence import Evidence, get_metric
from calib_core.results.recipe import recipe_text
from calib_core.wording import format_significant

SCORE_COLUMNS: Final = (
    Column("run"),
    Column("method", "method", "method"),
    Column("metric", "metric", "metric"),
    Column("value", "value", "mixed", upper="high"),
    Column("bins", kind="count"),
    Column("n_used", kind="count"),
    Column("n_total", kind="count"),
    Column("recipe"),
    Column("judged"),
    Column("remarks"),
    Column("remark"),
    Column("low", kind="number"),
    Column("high", kind="number"),
    Column("p", "p", "p", draws="draws"),
    Column("null_median", kind="number"),
    Column("draws", kind="count"),
    Column("interval_low", "95 %", "number", upper="interval_high"),
    Column("interval_high", kind="number"),
    Column("interval_method"),
    Column("n_effective", kind="number"),
)
"""The columns of a table of scores."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Score(Displayable):
    """One metric of one method on one run.

    Attributes
    ----------
    run, method, metric : str
        The run's label, and the ids of method and metric.
    value : float or None
        None where the metric is not defined for these rows, or only bounds are known.
    bins : int or None
        M; of natural bins, how many there are; None for a metric without bins.
    n_used, n_total : int
        Rows or positions used, and in the file.
    recipe : str
        How the number was made.
    judged : str
        Which answer the outcome belongs to.
    remarks : tuple[str, ...]
        What a reader has to know about these rows.
    remark : str or None
        A remark on this value.
    low, high : float or None
        Bounds of the metric, where only those are known.
    p : float or None
        Share of draws from the confidences themselves in which the number is at least as large
        (`inference.null.NullDistribution`); at least 1 / (1 + draws). None, like `null_median` and `draws`,
        where there is no null distribution.
    null_median : float or None
        Median of the metric over these draws.
    draws : int or None
        Number of draws.
    interval : Interval or None
        The 95 % interval; None where the metric has none, and where none was asked for (`score` of this
        module computes none, `results.uncertainty.score_with_interval` does).
    missing : Missingness or None
        Accuracy of the rows without a confidence beside that of the others; None where no row lacks one.
    n_effective : float or None
        Number of rows of equal weight worth as much as those used; None where all count alike.
    """

    run: str
    method: str
    metric: str
    value: float | None
    bins: int | None
    n_used: int
    n_total: int
    recipe: str
    judged: str
    remarks: tuple[str, ...] = ()
    remark: str | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    null_median: float | None = None
    draws: int | None = None
    interval: Interval | None = None
    missing: Missingness | None = None
    n_effective: float | None = None

    def __float__(self) -> float:
        if self.value is None:
            raise ValueError(f"{self.metric} has no single value here: {self.remark or 'it is not defined'}")
        return self.value

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else str(self)

    @property
    def worded_metric(self) -> Metric:
        """The metric, named and explained in the terms of the method."""
        return METRICS[self.metric].worded(METHODS[self.method].terms)

    @property
    def noise_floor_text(self) -> str:
        """What a calibrated model would score, and whether the value may be chance; "" without a p-value."""
        if self.null_median is None or self.value is None or self.p is None:
            return ""
        chance = chance_phrase(self.p, self.draws)
        verb = "" if chance.startswith("may be") else "is "
        own = f"{format_significant(self.value)} {verb}{chance}"
        floor = format_significant(self.null_median)
        return f"A calibrated model with these rows would score about {floor}; {own}."

    def to_frame(self) -> pl.DataFrame:
        """One row with a column for each field; the remarks are joined into one text.

        The interval is three columns: interval_low, interval_high and interval_method.
        """
        fields = self.to_dict()
        fields["interval_low"], fields["interval_high"] = fields.pop("interval") or (None, None)
        return frame_of(SCORE_COLUMNS, [{**fields, "remarks": "; ".join(self.remarks)}])

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, as the command line prints them: the interval is [low, high] or None."""
        interval = self.interval
        return {
            **asdict(self),
            "interval": None if interval is None else [interval.low, interval.high],
            "interval_method": None if interval is None else interval.interval_method,
            "missing": self.missing and self.missing.to_dict(),
        }


def score(
    evidence: Evidence,
    metric_id: str,
    scheme: Scheme | None = None,
    *,
    with_remark: bool = True,
    with_p: bool = True,
) -> Score:
    """Compute one metric from the evidence.

    Parameters
    ----------
    evidence : Evidence
    metric_id : str
    scheme : Scheme, optional
        The bins; ten of equal width by default, and replaced where the metric prescribes its own.
    with_remark : bool
        Whether to look for a remark on the value; that takes the verdict, and so most of the time.
    with_p : bool
        Whether to draw outcomes, which takes most of the rest; the recipe is that of the value alone where
        none are drawn.

    Returns
    -------
    Score

    Raises
    ------
    Unavailable
        With the reason, where the evidence does not support the metric.
    """
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    sums = evidence.sums_for(metric, scheme)
    n_realised = None
    if metric.binned and scheme.binning != "width":
        n_realised = evidence.binned(metric, scheme).n_bins
    bins = n_realised if scheme.binning == "natural" else scheme.bins
    low, high = evidence.bounds(metric, scheme) or (None, None)
    value = metric.compute(sums, scheme) if low is None else None
    draws = with_p and value is not None
    null = null_distribution(evidence, metric, (scheme,), (value,)) if draws else None
    recipe = recipe_text(evidence, metric, scheme if metric.binned else None, n_realised)
    return Score(
        run=evidence.run.label,
        method=evidence.method.id,
        metric=metric.id,
        value=value,
        bins=bins if metric.binned else None,
        n_used=evidence.n_used,
        n_total=evidence.n_total,
        recipe=f"{recipe}, {null.recipe_text}" if null else recipe,
        judged=evidence.judged,
        remarks=evidence.remarks,
        remark=_remark(evidence, metric, scheme, null) if with_remark else None,
        low=low,
        high=high,
        p=null.p[0] if null else None,
        null_median=null.median[0] if null else None,
        draws=null.n_draws if null else None,
        missing=evidence.missingness,
        n_effective=None if evidence.weight is None else evidence.n_effective,
    )


def _remark(evidence: Evidence, metric: Metric, scheme: Scheme, null: NullDistribution | None) -> str | None:
    """What a reader has to know about this value."""
    return (
        (metric.remark and metric.remark(evidence.sums_for(metric, scheme)))
        or evidence.exactness_note(metric, scheme)
        or (_disagreement(evidence, metric, null.p[0]) if null else None)
    )


def _disagreement(evidence: Evidence, metric: Metric, p: float | None) -> str | None:
    """Why p and the verdict differ, for a metric of the pairs that the verdict is on."""
    if metric.needs == "distribution" or evidence.options.labels != "top":
        return None
    return disagreement_text(evidence.verdict, metric.name, p)


def effective_scheme(metric: Metric, scheme: Scheme) -> Scheme:
    """The bins the metric really uses: a metric defined on equal-mass bins ignores another choice."""
    return Scheme("mass", scheme.bins) if metric.binning == "mass" else scheme


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scores(Displayable, Mapping[str, Score]):
    """Several metrics of one method on one run, by id: `scores["ece"]`.

    Attributes
    ----------
    scores : Mapping[str, Score]
        In the order of `calib_core.metrics.METRICS`; at least one.
    unavailable : Mapping[str, str]
        Id of each other metric → why it cannot be computed.
    """

    scores: Mapping[str, Score]
    unavailable: Mapping[str, str]

    def __getitem__(self, metric: str) -> Score:
        return self.scores[metric]

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        values = [(id_, one.value) for id_, one in self.scores.items()]
        shown = [f"{id_}={'none' if value is None else f'{value:.4g}'}" for id_, value in values[:6]]
        more = [f"{len(values) - 6} more"] if len(values) > 6 else []
        return f"<Scores {', '.join([*shown, *more])}>"

    def to_frame(self) -> pl.DataFrame:
        """One row for each metric, as `Score.to_frame`."""
        return pl.concat(one.to_frame() for one in self.scores.values())


def metric_availability(evidence: Evidence, scheme: Scheme) -> dict[str, str | None]:
    """Every registered metric id → None where this evidence supports it, otherwise the reason."""
    return {
        id_: evidence.unavailable_reason(metric, effective_scheme(metric, scheme))
        for id_, metric in METRICS.items()
    }
