"""The page Bin concentration: how the confidences spread over the bins, by run and method."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from calib_core.edges import MAX_BINS
from calib_core.errors import Unavailable
from calib_core.figures.concentration import (
    cumulative_figure,
    describe_cumulative,
    describe_histogram,
    histogram_figure,
)
from calib_core.metrics.ece import ECE
from calib_core.results.concentration import (
    METHOD_COLUMNS,
    Concentration,
    concentration_headline,
    concentration_table,
    measure_concentration,
)
from calib_core.results.run_names import full_name
from calib_core.views.inputs import ReportInput
from calib_core.views.view import (
    Fact,
    Numbers,
    ProgressCallback,
    Section,
    Tile,
    View,
    ViewFigure,
    ViewTable,
    file_parts,
    not_drawn_views,
)
from calib_core.wording import format_number, format_percent, join_names

ID, TITLE = "concentration", "Bin concentration"
QUESTION = "How are the confidences distributed, and can the bins be trusted?"


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Build a view for every run and method; raises Unavailable if there is none."""
    views: list[View] = []
    refused: list[str] = []
    for index, run in enumerate(report_input.runs):
        progress(index / len(report_input.runs), run.title)
        for method in report_input.methods_for(run):
            try:
                evidence = report_input.evidence(run, method)
                result = measure_concentration(evidence, report_input.settings.scheme)
            except Unavailable as reason:
                refused.append(f"{run.title}: {reason}")
            else:
                views.append(concentration_view(result, title=run.title))
    if not views:
        raise Unavailable(refused[0] if refused else "No run has one of these confidence methods.")
    return Section(ID, TITLE, QUESTION, (*views, *not_drawn_views(refused)))


def concentration_view(
    result: Concentration, others: Sequence[Concentration] = (), *, title: str = ""
) -> View:
    """How the confidences of one method spread, or of several side by side.

    Parameters
    ----------
    result : Concentration
    others : sequence of Concentration
        By further methods of the same run.
    title : str
        The run's title; its label where omitted.
    """
    results = (result, *others)
    title = title or result.run
    method = "" if others else result.title
    recipes = tuple(f"{each.title}: {each.recipe}" if others else each.recipe for each in results)
    bins = (result.scheme.binning, result.scheme.bins)

    def numbers(frame: Callable[[], pl.DataFrame], content: str) -> Numbers:
        return Numbers(frame, "\n".join(recipes), (content, *bins))

    return View(
        title=title,
        method_title=method,
        headline=concentration_headline(results),
        caveat=_caveat(results),
        tiles=() if others else tuple(concentration_tiles(result)),
        recipes=recipes,
        figures=(
            ViewFigure(
                lambda theme: histogram_figure(results, theme),
                describe_histogram(results),
                "Histogram of confidences",
                narrow=not others,
                id="histogram",
                numbers=numbers(lambda: pl.concat(each.figure_frame() for each in results), "histogram"),
            ),
            ViewFigure(
                lambda theme: cumulative_figure(results, theme),
                describe_cumulative(results),
                f"Cumulative share of {result.unit}, fullest bin first",
                narrow=not others,
                id="cumulative",
                numbers=numbers(lambda: pl.concat(each.to_frame() for each in results), "cumulative"),
            ),
        ),
        tables=(_method_table(results, numbers),) if others else (),
        how_to_read=_how_to_read(results),
        facts=tuple(Fact(each.title, each.warning) for each in results if others and each.warning),
        subject=", ".join(filter(None, (full_name(title), method))),
        name=(title, *file_parts((each.method for each in results), "methods")),
    )


def _method_table(
    results: Sequence[Concentration], numbers: Callable[[Callable[[], pl.DataFrame], str], Numbers]
) -> ViewTable:
    frame = concentration_table(results)
    return ViewTable("Methods", frame, METHOD_COLUMNS, id="methods", numbers=numbers(lambda: frame, "table"))


def _caveat(results: Sequence[Concentration]) -> str:
    """Where the ECE says little, by how many methods it may be."""
    warned = [result for result in results if result.warning]
    if len(results) == 1 or not warned:
        return results[0].warning or ""
    names = join_names([f"“{result.title}”" for result in warned])
    return (
        f"By {names} the ECE rests on one or two bins: look at the Brier score and AUROC before trusting it."
    )


def _how_to_read(results: Sequence[Concentration]) -> str:
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
        Tile("ECE", format_number(result.ece), f"Of the same bins. {ECE.help}"),
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
