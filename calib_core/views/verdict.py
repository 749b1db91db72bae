"""The verdict on one run by one method."""

from __future__ import annotations

from calib_core.methods import METHODS
from calib_core.results.run_verdict import RunVerdict
from calib_core.views.reliability import used_tile
from calib_core.views.view import Tile, View
from calib_core.wording import format_percent, p_value_phrase


def verdict_view(result: RunVerdict) -> View:
    """The verdict, the numbers that it compares, and why."""
    return View(
        title=result.run,
        method_title=METHODS[result.method].title,
        headline=result.headline,
        tiles=(
            Tile("Verdict", result.words, result.reason, p_value_phrase(result.p, None)),
            Tile("Mean confidence", format_percent(result.mean_confidence)),
            Tile("Accuracy", format_percent(result.accuracy), f"Judged: {result.judged}."),
            used_tile(result.method, result.n_used, result.n_total),
        ),
        recipes=(result.recipe,),
        captions=(result.reason,),
        remarks=result.remarks,
    )
