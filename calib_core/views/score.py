"""One number: a metric of one method on one run."""

from __future__ import annotations

from calib_core.methods import METHODS
from calib_core.results.score import Score
from calib_core.views.reliability import metric_tile, used_tile
from calib_core.views.view import Tile, View, text_lines
from calib_core.wording import format_interval


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
        tiles=(*tiles, used_tile(result.method, result.n_used, result.n_total)),
        recipes=tuple(recipes),
        remarks=text_lines(result.remark, *result.remarks),
    )
