"""Which runs are at hand, and how does each look at first sight?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from calib_core.analysis.evidence import Evidence
from calib_core.analysis.limits import DEFAULT_SCHEME
from calib_core.analysis.overview_look import RunSummary, run_summary
from calib_core.analysis.overview_reading import overview_headline
from calib_core.analysis.recipe import scheme_text
from calib_core.analysis.tendency import VERDICT_WORDS
from calib_core.metrics import METRICS
from calib_core.wording import both_or_all


@dataclass(frozen=True, slots=True, eq=False)
class Overview:
    """Every run at first sight.

    first: each run by its first method, the highest ECE first; every: each run by each of its methods,
    likewise; headline, more: what the first ones come to, `more` "" where that is all; recipe: how
    the numbers are made.
    """

    by_default_method: tuple[RunSummary, ...]
    by_every_method: tuple[RunSummary, ...]
    headline: str
    subheadline: str
    recipe: str

    def to_frame(self) -> pl.DataFrame:
        """One row a run and method.

        run, method, title, rows, used, confidence, accuracy, brier, ece, verdict, recipe.
        """
        return overview_frame(self.by_every_method).with_columns(recipe=pl.lit(self.recipe))


def summarise_runs(runs: Mapping[str, Sequence[Evidence]]) -> Overview:
    """Runs by name, each by the methods it gives, of which the first is the one that is shown first."""
    # All that may be shown is judged together, so that a verdict stays what it is where less is shown.
    judged = sum(map(len, runs.values()))
    looks = {name: [run_summary(name, one, judged) for one in own] for name, own in runs.items()}
    first = _worst_first([look for own in looks.values() for look in own[:1]])
    told, more = overview_headline(first)
    return Overview(
        by_default_method=first,
        by_every_method=_worst_first([look for own in looks.values() for look in own]),
        headline=told,
        subheadline=more,
        recipe=_overview_recipe(judged),
    )


def overview_frame(summaries: Sequence[RunSummary]) -> pl.DataFrame:
    """One row a look, without its curve; accuracy, brier, ece: null where not defined."""
    return pl.DataFrame([_overview_row(look) for look in summaries], schema=_OVERVIEW_SCHEMA)


_OVERVIEW_SCHEMA: Final = pl.Schema({
    "run": pl.String(), "method": pl.String(), "title": pl.String(), "rows": pl.Int64(), "used": pl.Int64(),
    "confidence": pl.Float64(), "accuracy": pl.Float64(), "brier": pl.Float64(), "ece": pl.Float64(),
    "verdict": pl.String(),
})


def _overview_row(summary: RunSummary) -> dict[str, object]:
    named: dict[str, object] = {name: getattr(summary, name) for name in _OVERVIEW_SCHEMA if name != "verdict"}
    return named | {"verdict": VERDICT_WORDS[summary.verdict]}


def _worst_first(summaries: Sequence[RunSummary]) -> tuple[RunSummary, ...]:
    return tuple(sorted(summaries, key=lambda look: -(look.ece or 0.0)))


def _overview_recipe(n_verdicts: int) -> str:
    """"ECE-L1, equal width, M=10, right-closed, top label; over- or under-confident: …"."""
    together = "" if n_verdicts < 2 else f", {both_or_all(n_verdicts)} verdicts together (Bonferroni)"
    return (
        f"accuracy; Brier; {METRICS['ece'].recipe_name}, {scheme_text(DEFAULT_SCHEME)}, top label; over- or under-confident: "
        f"mean gap beyond chance at 95 %{together}"
    )
