"""The page Bin concentration: how the confidences spread over the bins, by run and method."""

from __future__ import annotations

from collections.abc import Sequence

from calib_core.edges import MAX_BINS
from calib_core.errors import Unavailable
from calib_core.figures.concentration import (
    cumulative_figure,
    describe_cumulative,
    describe_histogram,
    histogram_figure,
)
from calib_core.metrics import METRICS
from calib_core.results.concentration import Concentration, concentration_headline, measure_concentration
from calib_core.views.inputs import ReportInput, ReportRun
from calib_core.views.view import ProgressCallback, Section, Tile, View, ViewFigure, not_drawn_blocks
from calib_core.wording import format_number, format_percent

ID, TITLE = "concentration", "Bin concentration"
QUESTION = "How are the confidences distributed, and can the bins be trusted?"
HISTOGRAM_TITLE = "Histogram of confidences"


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Builds a block for every run and method; raises Unavailable if there is none."""
    blocks: list[View] = []
    refused: list[str] = []
    for index, run in enumerate(report_input.runs):
        progress(index / len(report_input.runs), run.title)
        for method in report_input.methods_for(run):
            try:
                blocks.append(_block(report_input, run, method))
            except Unavailable as reason:
                refused.append(f"{run.title}: {reason}")
    if not blocks:
        raise Unavailable(refused[0] if refused else "No run has one of these confidence methods.")
    return Section(ID, TITLE, QUESTION, (*blocks, *not_drawn_blocks(refused)))


def _block(report_input: ReportInput, run: ReportRun, method: str) -> View:
    result = measure_concentration(report_input.evidence(run, method), report_input.settings.scheme)
    return concentration_view(result, run.title)


def concentration_view(result: Concentration, title: str = "") -> View:
    """Both figures of one run with their numbers, under a title."""
    return View(
        title=title or result.run,
        method_title=result.title,
        headline=concentration_headline([result]),
        remarks=(result.warning,) if result.warning else (),
        tiles=tuple(concentration_tiles(result)),
        recipes=(result.recipe,),
        figures=(
            ViewFigure(
                lambda theme: histogram_figure([result], theme),
                describe_histogram([result]),
                HISTOGRAM_TITLE,
                narrow=True,
            ),
            ViewFigure(
                lambda theme: cumulative_figure([result], theme),
                describe_cumulative([result]),
                cumulative_title(result),
                narrow=True,
            ),
        ),
        captions=(concentration_caption([result]),),
    )


def cumulative_title(result: Concentration) -> str:
    """The heading above the cumulative curve."""
    return f"Cumulative share of {result.unit}, fullest bin first"


def concentration_caption(results: Sequence[Concentration]) -> str:
    """How to read both figures."""
    scale = ", each to its own scale" if len(results) > 1 else ""
    return (
        f"Amber: the two fullest bins. Fine strip: the same {results[0].unit} in {MAX_BINS:,} bins{scale}. "
        "The steeper the cumulative line rises, the fewer bins the ECE rests on."
    )


def concentration_tiles(result: Concentration) -> list[Tile]:
    """The tiles: how far the confidences spread."""
    unit = result.unit
    return [
        Tile("Two fullest bins", format_percent(result.top_two_share), f"Share of the {unit} in them."),
        Tile(
            "Effective bins",
            f"{format_number(result.effective_bins, '.1f')} of {result.n_bins}",
            f"1/Σw², w = a bin's share of the {unit}: so many full bins would be as spread out.",
        ),
        Tile(
            "Distinct values",
            format_number(result.n_distinct, ",d"),
            _help_or_unknown(result, "Different confidences."),
        ),
        Tile("ECE", format_number(result.ece), f"Of the same bins. {METRICS['ece'].help}"),
        Tile("At exactly 0", format_percent(result.share_at_zero), _certainty_help(result, "wrong")),
        Tile("At exactly 1", format_percent(result.share_at_one), _certainty_help(result, "right")),
        Tile(
            "Non-empty bins",
            f"{result.table.height} of {result.n_bins}",
            "Empty bins have no accuracy and add nothing to the ECE.",
        ),
        Tile(
            f"{unit.capitalize()} used / total",
            f"{result.n_used:,} / {result.n_total:,}",
            f"{unit.capitalize()} with confidence and outcome.",
        ),
    ]


def _certainty_help(result: Concentration, outcome: str) -> str:
    return _help_or_unknown(result, f"Share of the {result.unit} that are certain to be {outcome}.")


def _help_or_unknown(result: Concentration, text: str) -> str:
    """The help text, with a remark if the number is unknown because single confidences were not kept."""
    is_known = result.n_distinct is not None
    return text if is_known else f"{text} Not known: of a token-level run only sums are kept."
