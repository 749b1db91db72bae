"""Which runs are at hand, and how does each look at first sight?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from calib_core.analysis.evidence import Evidence
from calib_core.analysis.limits import TEN
from calib_core.analysis.overview_look import Look, look_of
from calib_core.analysis.overview_reading import headline
from calib_core.analysis.recipe import scheme_text
from calib_core.analysis.tendency import WORDS
from calib_core.metrics import METRICS
from calib_core.wording import every


@dataclass(frozen=True, slots=True, eq=False)
class Overview:
    """Every run at first sight.

    first: each run by its first method, the highest ECE first; every: each run by each of its methods,
    likewise; headline, more: what the first ones come to, `more` "" where that is all; recipe: how
    the numbers are made.
    """

    first: tuple[Look, ...]
    every: tuple[Look, ...]
    headline: str
    more: str
    recipe: str

    def to_frame(self) -> pl.DataFrame:
        """One row a run and method.

        run, method, title, rows, used, confidence, accuracy, brier, ece, verdict, recipe.
        """
        return frame_of(self.every).with_columns(recipe=pl.lit(self.recipe))


def overview(runs: Mapping[str, Sequence[Evidence]]) -> Overview:
    """Runs by name, each by the methods it gives, of which the first is the one that is shown first."""
    # All that may be shown is judged together, so that a verdict stays what it is where less is shown.
    judged = sum(map(len, runs.values()))
    looks = {name: [look_of(name, one, judged) for one in own] for name, own in runs.items()}
    first = _worst_first([look for own in looks.values() for look in own[:1]])
    told, more = headline(first)
    return Overview(
        first=first,
        every=_worst_first([look for own in looks.values() for look in own]),
        headline=told,
        more=more,
        recipe=_recipe(judged),
    )


def frame_of(looks: Sequence[Look]) -> pl.DataFrame:
    """One row a look, without its curve; accuracy, brier, ece: null where not defined."""
    return pl.DataFrame([_record(look) for look in looks], schema=_SCHEMA)


_SCHEMA: Final = pl.Schema({
    "run": pl.String(), "method": pl.String(), "title": pl.String(), "rows": pl.Int64(), "used": pl.Int64(),
    "confidence": pl.Float64(), "accuracy": pl.Float64(), "brier": pl.Float64(), "ece": pl.Float64(),
    "verdict": pl.String(),
})


def _record(look: Look) -> dict[str, object]:
    named: dict[str, object] = {name: getattr(look, name) for name in _SCHEMA if name != "verdict"}
    return named | {"verdict": WORDS[look.kind]}


def _worst_first(looks: Sequence[Look]) -> tuple[Look, ...]:
    return tuple(sorted(looks, key=lambda look: -(look.ece or 0.0)))


def _recipe(judged: int) -> str:
    """"ECE-L1, equal width, M=10, right-closed, top label; over- or under-confident: …"."""
    together = "" if judged < 2 else f", {every(judged)} verdicts together (Bonferroni)"
    return (
        f"accuracy; Brier; {METRICS['ece'].recipe}, {scheme_text(TEN)}, top label; over- or under-confident: "
        f"mean gap beyond chance at 95 %{together}"
    )
