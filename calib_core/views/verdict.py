"""The verdict on one run by one method, or those on several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from calib_core.inference.missingness import missing_caveat
from calib_core.inference.verdict import marked_verdict, verdict_recipe
from calib_core.methods import METHODS
from calib_core.methods.token_level import TOKENS
from calib_core.results.columns import Column, frame_of
from calib_core.results.run_verdict import RunVerdict, verdict_columns
from calib_core.terms import common_terms
from calib_core.views.score import used_tile
from calib_core.views.view import Fact, Tile, View, ViewTable, text_lines
from calib_core.wording import format_percent, p_value_phrase, plural

MAX_REASONS: Final = 6
"""Number of verdicts up to which each has its reason below the table; of more, those without a test."""


def verdict_view(result: RunVerdict) -> View:
    """The verdict, the numbers that it compares, and why."""
    terms = METHODS[result.method].terms
    return View(
        title=result.run,
        method_title=METHODS[result.method].title,
        headline=result.headline,
        caveat=missing_caveat([("", result.missing)]),
        tiles=(
            Tile("Verdict", marked_verdict(result.words), result.reason, p_value_phrase(result.p, None)),
            Tile(f"Mean {terms.confidence}", format_percent(result.mean_confidence)),
            Tile(terms.accuracy.capitalize(), format_percent(result.accuracy), f"Judged: {result.judged}."),
            used_tile(result.method, result.n_used, result.n_total),
        ),
        terms=terms,
        recipes=(result.recipe,),
        facts=(
            Fact("Why", result.reason),
            *(Fact("Score", note) for note in text_lines(result.score_note)),
            *(Fact("Rows", remark) for remark in result.remarks),
        ),
    )


def verdicts_view(verdicts: Sequence[Mapping[str, Any]], tolerance: float, caveat: str = "") -> View:
    """All verdicts with their q.

    Parameters
    ----------
    verdicts : sequence of Mapping
        Fields of `RunVerdict.to_dict`, and `q`.
    tolerance : float
    caveat : str
        What changes how they are to be read; "" for nothing.
    """
    terms = common_terms(METHODS[str(each["method"])].terms for each in verdicts)
    shown = tuple(column for column in verdict_columns(terms) if column.title)
    columns = (*shown, Column("q", "q", "p"))
    n_tested = sum(each["p"] is not None for each in verdicts)
    q_text = f"; q: Benjamini–Hochberg over {plural(n_tested, 'verdict')}" if n_tested else ""
    has_p = any(each["method"] != TOKENS.id for each in verdicts)
    own_p = " A metric's own p tests the gaps of its bins." if has_p else ""
    return View(
        caveat=caveat,
        terms=terms,
        recipes=(f"Verdict: {verdict_recipe(tolerance, terms)}{q_text}.{own_p}",),
        tables=(ViewTable("Verdicts", frame_of(columns, verdicts), columns),),
        facts=_reasons(verdicts),
    )


def _reasons(verdicts: Sequence[Mapping[str, Any]]) -> tuple[Fact, ...]:
    if len(verdicts) <= MAX_REASONS:
        return tuple(
            Fact(f"{one['run']}, {one['method']}", " ".join(text_lines(one["reason"], one["score_note"])))
            for one in verdicts
        )
    untested = dict.fromkeys(one["reason"] for one in verdicts if one["p"] is None)
    return tuple(Fact("Without a test", reason) for reason in untested)
