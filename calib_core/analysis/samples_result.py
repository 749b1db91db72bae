"""What is known of a run over the number of samples N'?  Curves, gaps, baselines, as one frozen result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import polars as pl

from calib_core.analysis.samples_baselines import Baseline
from calib_core.analysis.samples_draws import SELF_CONSISTENCY_METHODS
from calib_core.analysis.samples_enough import SufficientSize, BrierDifference, sufficient_size, sufficient_size_headline, sufficiency_definition
from calib_core.confidence import METHODS

METHOD_SYMBOLS: Final = MappingProxyType({id_: METHODS[id_].short_title for id_ in SELF_CONSISTENCY_METHODS})
"""Method id → "F_CN", "F_CS", "F_PC"."""


@dataclass(frozen=True, slots=True, eq=False)
class SampleSizeCurve:
    """One metric of one method over N'.

    mean, std: over the draws that define the metric, one per size, None where none does; std: the
    population's (ddof 0), None where there is one draw only.
    """

    method: str
    metric: str
    mean: tuple[float | None, ...]
    std: tuple[float | None, ...]
    recipe: str


@dataclass(frozen=True, slots=True, eq=False)
class SampleSizeSweep:
    """The metrics of one run over N'; every size stands on the same `n_used` questions.

    sizes: ascending; samples: the fewest and the most samples of these questions; greyed: size → why its
    spread is not to be believed; refused: size asked for → why it is not among `sizes`; draws: size → draws;
    absent: size → draws of a question in which no sample parses, left out; said: method → mean confidence
    at each size; right: share of right majority answers at each size; gaps: method → size → paired Brier
    difference to `against`, the largest size not greyed (None: all are); enough: one a method; baselines:
    of other methods, on the same questions; lacking: method → why it has none; reading: what is enough;
    measure: what is called so.
    """

    run: str
    sizes: tuple[int, ...]
    sample_range: tuple[int, int]
    repeats: int
    seed: int
    n_used: int
    n_total: int
    curves: tuple[SampleSizeCurve, ...]
    spread_caveats: Mapping[int, str]
    unavailable: Mapping[int, str]
    draws: Mapping[int, int]
    n_without_confidence: Mapping[int, int]
    mean_confidence: Mapping[str, tuple[float | None, ...]]
    accuracy: tuple[float | None, ...]
    reference_size: int | None
    brier_differences: Mapping[str, Mapping[int, BrierDifference]]
    baselines: tuple[Baseline, ...]
    missing_baselines: Mapping[str, str]
    judged: str
    recipe: str
    sufficient_sizes: tuple[SufficientSize, ...] = ()
    headline: str = ""
    sufficiency_definition: str = ""

    def curve(self, method: str, metric: str) -> SampleSizeCurve:
        """The curve of this method and metric; KeyError where it was not asked for."""
        for curve in self.curves:
            if (curve.method, curve.metric) == (method, metric):
                return curve
        raise KeyError((method, metric))

    def with_tolerance(self, tolerance: float) -> SampleSizeSweep:
        """The same draws with another measure of enough. within: above 0, in units of the Brier score."""
        against = self.reference_size
        methods = dict.fromkeys(curve.method for curve in self.curves)
        found = tuple(
            sufficient_size(method, self.brier_differences[method], against, tolerance) for method in methods if against is not None
        )
        return replace(
            self, enough=found, reading=sufficient_size_headline(found, self.brier_differences, METHOD_SYMBOLS),
            measure=sufficiency_definition(found, self.brier_differences, METHOD_SYMBOLS, self.n_used),
        )

    def to_frame(self) -> pl.DataFrame:
        """One row a method, metric and size, then one a baseline and metric, without a size.

        run, method, metric, size, mean, std, draws, absent, n, greyed (why), f_cn_most (1 − 1/N'), gap,
        gap_low, gap_high (of the Brier score, to N' = against), within, enough (the smallest N'), said (the
        method's mean confidence), right (share of right majority answers), judged, recipe.
        """
        records = [record for curve in self.curves for record in self._curve_rows(curve)]
        records += [
            {
                "method": each.method, "metric": each.metric, "mean": each.value, "n": each.n_questions,
                "judged": each.judged, "recipe": each.recipe,
            }
            for each in self.baselines
        ]
        return pl.DataFrame(
            [{name: {"run": self.run, **record}.get(name) for name in _SWEEP_SCHEMA} for record in records],
            schema=_SWEEP_SCHEMA,
        )

    def _curve_rows(self, curve: SampleSizeCurve) -> list[dict[str, object]]:
        enough = next((each for each in self.sufficient_sizes if each.method == curve.method), None)
        records: list[dict[str, object]] = []
        for at, size in enumerate(self.sizes):
            gap = self.brier_differences.get(curve.method, {}).get(size)
            records.append({
                "method": curve.method, "metric": curve.metric, "size": size, "mean": curve.mean[at],
                "std": curve.std[at], "draws": self.draws[size], "absent": self.n_without_confidence[size],
                "n": self.n_used, "greyed": self.spread_caveats.get(size), "f_cn_most": (size - 1) / size,
                "gap": gap and gap.value, "gap_low": gap and gap.low, "gap_high": gap and gap.high,
                "against": self.reference_size, "within": enough and enough.tolerance,
                "enough": enough and enough.size, "said": self.mean_confidence[curve.method][at],
                "right": self.accuracy[at], "judged": self.judged, "recipe": curve.recipe,
            })
        return records


_SWEEP_SCHEMA: Final[Mapping[str, type[pl.DataType]]] = MappingProxyType({
    "run": pl.String, "method": pl.String, "metric": pl.String, "size": pl.Int64, "mean": pl.Float64,
    "std": pl.Float64, "draws": pl.Int64, "absent": pl.Int64, "n": pl.Int64, "greyed": pl.String,
    "f_cn_most": pl.Float64, "gap": pl.Float64, "gap_low": pl.Float64, "gap_high": pl.Float64,
    "against": pl.Int64, "within": pl.Float64, "enough": pl.Int64, "said": pl.Float64, "right": pl.Float64,
    "judged": pl.String, "recipe": pl.String,
})
