"""What is known of a run over the number of samples N'?  Curves, gaps, baselines, as one frozen result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import polars as pl

from calib_core.analysis.samples_baselines import Baseline
from calib_core.analysis.samples_draws import SELF_CONSISTENCY
from calib_core.analysis.samples_enough import Enough, Gap, enough_of, read_enough, what_is_enough
from calib_core.confidence import METHODS

NAMES: Final = MappingProxyType({id_: METHODS[id_].brief for id_ in SELF_CONSISTENCY})
"""Method id → "F_CN", "F_CS", "F_PC"."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
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
class Sampled:
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
    samples: tuple[int, int]
    repeats: int
    seed: int
    n_used: int
    n_total: int
    curves: tuple[Curve, ...]
    greyed: Mapping[int, str]
    refused: Mapping[int, str]
    draws: Mapping[int, int]
    absent: Mapping[int, int]
    said: Mapping[str, tuple[float | None, ...]]
    right: tuple[float | None, ...]
    against: int | None
    gaps: Mapping[str, Mapping[int, Gap]]
    baselines: tuple[Baseline, ...]
    lacking: Mapping[str, str]
    judged: str
    recipe: str
    enough: tuple[Enough, ...] = ()
    reading: str = ""
    measure: str = ""

    def curve(self, method: str, metric: str) -> Curve:
        """The curve of this method and metric; KeyError where it was not asked for."""
        for curve in self.curves:
            if (curve.method, curve.metric) == (method, metric):
                return curve
        raise KeyError((method, metric))

    def at(self, within: float) -> Sampled:
        """The same draws with another measure of enough. within: above 0, in units of the Brier score."""
        against = self.against
        methods = dict.fromkeys(curve.method for curve in self.curves)
        found = tuple(
            enough_of(method, self.gaps[method], against, within) for method in methods if against is not None
        )
        return replace(
            self, enough=found, reading=read_enough(found, self.gaps, NAMES),
            measure=what_is_enough(found, self.gaps, NAMES, self.n_used),
        )

    def to_frame(self) -> pl.DataFrame:
        """One row a method, metric and size, then one a baseline and metric, without a size.

        run, method, metric, size, mean, std, draws, absent, n, greyed (why), f_cn_most (1 − 1/N'), gap,
        gap_low, gap_high (of the Brier score, to N' = against), within, enough (the smallest N'), said (the
        method's mean confidence), right (share of right majority answers), judged, recipe.
        """
        records = [record for curve in self.curves for record in self._records(curve)]
        records += [
            {
                "method": each.method, "metric": each.metric, "mean": each.value, "n": each.n,
                "judged": each.judged, "recipe": each.recipe,
            }
            for each in self.baselines
        ]
        return pl.DataFrame(
            [{name: {"run": self.run, **record}.get(name) for name in _SCHEMA} for record in records],
            schema=_SCHEMA,
        )

    def _records(self, curve: Curve) -> list[dict[str, object]]:
        enough = next((each for each in self.enough if each.method == curve.method), None)
        records: list[dict[str, object]] = []
        for at, size in enumerate(self.sizes):
            gap = self.gaps.get(curve.method, {}).get(size)
            records.append({
                "method": curve.method, "metric": curve.metric, "size": size, "mean": curve.mean[at],
                "std": curve.std[at], "draws": self.draws[size], "absent": self.absent[size],
                "n": self.n_used, "greyed": self.greyed.get(size), "f_cn_most": (size - 1) / size,
                "gap": gap and gap.value, "gap_low": gap and gap.low, "gap_high": gap and gap.high,
                "against": self.against, "within": enough and enough.within,
                "enough": enough and enough.size, "said": self.said[curve.method][at],
                "right": self.right[at], "judged": self.judged, "recipe": curve.recipe,
            })
        return records


_SCHEMA: Final[Mapping[str, type[pl.DataType]]] = MappingProxyType({
    "run": pl.String, "method": pl.String, "metric": pl.String, "size": pl.Int64, "mean": pl.Float64,
    "std": pl.Float64, "draws": pl.Int64, "absent": pl.Int64, "n": pl.Int64, "greyed": pl.String,
    "f_cn_most": pl.Float64, "gap": pl.Float64, "gap_low": pl.Float64, "gap_high": pl.Float64,
    "against": pl.Int64, "within": pl.Float64, "enough": pl.Int64, "said": pl.Float64, "right": pl.Float64,
    "judged": pl.String, "recipe": pl.String,
})
