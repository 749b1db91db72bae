"""One number, or several: metrics of methods on one run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from calib_core.inference.missingness import ROWS_WITH_ONE, Missingness, missing_caveat
from calib_core.methods import METHODS
from calib_core.results.evidence import Evidence
from calib_core.results.score import SCORE_COLUMNS, Score, Scores
from calib_core.terms import common_terms
from calib_core.views.view import Fact, Tile, View, ViewTable, text_lines
from calib_core.wording import (
    format_interval,
    format_number,
    format_significant,
    shared_remarks,
)


def score_view(result: Score) -> View:
    """One number with its interval, its rows and its recipe."""
    interval = result.interval
    tiles = [metric_tile(result)]
    recipes = [result.recipe]
    if interval is not None:
        tiles.append(Tile("95 % interval", format_interval(interval.low, interval.high)))
        recipes.append(f"interval: {interval.interval_method}")
    return View(
        title=result.run,
        method_title=METHODS[result.method].title,
        caveat=missing_caveat([("", result.missing)], ROWS_WITH_ONE),
        tiles=(*tiles, used_tile(result.method, result.n_used, result.n_total)),
        terms=METHODS[result.method].terms,
        recipes=tuple(recipes),
        facts=(
            *(Fact("Chance", text) for text in text_lines(result.noise_floor_text)),
            *(Fact("Rows", text) for text in text_lines(result.remark, *result.remarks)),
        ),
    )


def scores_view(results: Sequence[Score]) -> View:
    """Several numbers of one run as a table, and how each was made."""
    frame = pl.concat(result.to_frame() for result in results)
    return View(
        title=results[0].run,
        terms=common_terms(METHODS[result.method].terms for result in results),
        caveat=missing_caveat(
            places_of_methods((result.method, result.missing) for result in results), ROWS_WITH_ONE
        ),
        recipes=recipe_lines(results),
        tables=(
            ViewTable(
                "",
                frame.with_columns(pl.coalesce("value", "low").alias("value")),
                SCORE_COLUMNS,
            ),
        ),
        facts=(
            *(
                Fact(*each)
                for each in shared_remarks((one.method, one.judged, one.remarks) for one in results)
            ),
            *(Fact("Values", remark) for remark in dict.fromkeys(one.remark for one in results) if remark),
        ),
    )


def all_scores_view(result: Scores) -> View:
    """Every metric of one run as a table."""
    return scores_view(list(result.scores.values()))


def places_of_methods(
    missing: Iterable[tuple[str, Missingness | None]],
) -> list[tuple[str, Missingness | None]]:
    """What is missing from each method, by id, as `missing_caveat` takes it; a single method has no name."""
    by_method = dict(missing)
    if len(by_method) == 1:
        return [("", only) for only in by_method.values()]
    return [(f"by “{METHODS[method].title}”", of_method) for method, of_method in by_method.items()]


def recipe_lines(scores: Sequence[Score]) -> tuple[str, ...]:
    """How scores were made, each fact once: what all metrics of a method share, then what is a metric's own.

    A method with one score has nothing to share, so that its line has the whole recipe.
    """
    scores_of: dict[str, list[Score]] = {}
    methods_of: dict[str, list[str]] = {}
    for score in scores:
        scores_of.setdefault(score.method, []).append(score)
        methods_of.setdefault(score.metric, []).append(score.method)
    lines: list[str] = []
    owners: dict[str, dict[str, list[str]]] = {}
    for method, of_method in scores_of.items():
        shared = _shared_parts(of_method)
        if shared:
            lines.append(f"{method}: {', '.join(shared)}")
        for score in of_method:
            own = ", ".join(part for part in score.recipe.split(", ") if part not in shared)
            how = f"{own}; 95 %: {score.interval.interval_method}" if score.interval else own
            owners.setdefault(how, {}).setdefault(score.metric, []).append(method)
    for how, methods_by_metric in owners.items():
        names = [
            metric if methods == methods_of[metric] else f"{metric} by {', '.join(methods)}"
            for metric, methods in methods_by_metric.items()
        ]
        lines.append(f"{', '.join(names)}: {how}")
    return tuple(lines)


def _shared_parts(scores: Sequence[Score]) -> list[str]:
    """The parts that all recipes have, in their order; none of a single one."""
    first, *others = (score.recipe.split(", ") for score in scores)
    return [part for part in first if others and all(part in other for other in others)]


def metric_tile(result: Score, *, says_nothing: bool = False) -> Tile:
    """The value or its bounds, and what a calibrated model would score.

    Parameters
    ----------
    result : Score
    says_nothing : bool
        Whether all labels lie in one bin, where the value is near 0 whatever the model says.
    """
    metric = result.worded_metric
    if says_nothing:
        # Not "0.0000", which reads as a measured number that happens to be small.
        return Tile(metric.title, format_number(result.value, ".2g"), metric.help, "one bin: says nothing")
    value = format_significant(result.value)
    if result.value is None and result.low is not None and result.high is not None:
        value = format_interval(result.low, result.high)
    noise = result.noise_floor_text
    floor = f"calibrated model: {format_significant(result.null_median)}" if noise else ""
    return Tile(metric.title, value, " ".join(text_lines(noise, metric.help)), floor)


def used_tile(method: str, n_used: int, n_total: int, help_: str = "") -> Tile:
    """The tile of the rows, or positions, that a result stands on."""
    unit = "Positions" if METHODS[method].run_kind == "tokens" else "Rows"
    help_ = help_ or f"With a {METHODS[method].terms.confidence} and an outcome."
    return Tile(f"{unit} used / total", f"{n_used:,} / {n_total:,}", help_)


def unused_rows_help(evidence: Evidence) -> str:
    """Why some rows are not used."""
    parts = [f"{count:,} {reason}" for reason, count in evidence.missing.items() if count]
    if left_out := evidence.run.row_counts.n_left_out:
        parts.append(f"{left_out:,} bad rows left out")
    if not parts:
        return f"Every row has a {evidence.terms.confidence} and an outcome."
    return f"Not used: {'; '.join(parts)}."
