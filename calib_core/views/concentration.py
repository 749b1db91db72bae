"""The page Bin concentration: how the confidences spread over the bins, by run and method."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import polars as pl

from calib_core.edges import MAX_BINS
from calib_core.errors import Unavailable
from calib_core.figures.concentration import (
    cumulative_figure,
    describe_cumulative,
    describe_histogram,
    histogram_figure,
)
from calib_core.inference.missingness import ROWS_WITH_ONE, missing_caveat
from calib_core.results.concentration import (
    Concentration,
    concentration_headline,
    concentration_table,
    measure_concentration,
    method_columns,
)
from calib_core.results.run_names import full_name
from calib_core.terms import common_terms
from calib_core.views.inputs import ReportInput
from calib_core.views.score import places_of_methods
from calib_core.views.view import (
    Fact,
    Numbers,
    ProgressCallback,
    Section,
    View,
    ViewFigure,
    ViewTable,
    file_parts,
    not_drawn_views,
    text_lines,
)
from calib_core.wording import join_names

ID, TITLE = "concentration", "Bin concentration"
QUESTION = "How are the confidences distributed, and can the bins be trusted?"
EVENT_QUESTION: Final = "How are the probabilities distributed, and can the bins be trusted?"


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
        raise Unavailable(refused[0] if refused else "No run has any of these methods.")
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
    terms = common_terms(each.terms for each in results)
    title = title or result.run
    method = "" if others else result.title
    recipes = tuple(f"{each.title}: {each.recipe}" if others else each.recipe for each in results)
    bins = (result.scheme.binning, result.scheme.bins)

    caveat, *caveats = text_lines(*_caveats(results)) or ("",)

    def numbers(frame: Callable[[], pl.DataFrame], content: str) -> Numbers:
        return Numbers(frame, "\n".join(recipes), (content, *bins))

    return View(
        title=title,
        method_title=method,
        headline=concentration_headline(results),
        caveat=caveat,
        recipes=recipes,
        figures=(
            ViewFigure(
                lambda theme: histogram_figure(results, theme),
                describe_histogram(results),
                f"Histogram of {terms.confidences}",
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
        tables=(_method_table(results, numbers),),
        how_to_read=_how_to_read(results),
        facts=(
            *(Fact("ECE", text) for text in caveats),
            *(Fact(each.title, each.warning) for each in results if others and each.warning),
        ),
        subject=", ".join(filter(None, (full_name(title), method))),
        name=(title, *file_parts((each.method for each in results), "methods")),
        terms=terms,
    )


def _method_table(
    results: Sequence[Concentration], numbers: Callable[[Callable[[], pl.DataFrame], str], Numbers]
) -> ViewTable:
    frame = concentration_table(results)
    return ViewTable(
        "", frame, method_columns(results), id="methods", numbers=numbers(lambda: frame, "table")
    )


def _caveats(results: Sequence[Concentration]) -> Iterator[str]:
    """What is missing, and where a low ECE says little, by how many methods it may be; gravest first."""
    places = places_of_methods((result.method, result.missing) for result in results)
    yield missing_caveat(places, ROWS_WITH_ONE, max_findings=1)
    if len(results) == 1:
        yield results[0].caution
    elif names := [f"“{result.title}”" for result in results if result.warning]:
        yield (
            f"By {join_names(names)} the ECE rests on one or two bins: look at the Brier score and AUROC "
            "before trusting it."
        )


def _how_to_read(results: Sequence[Concentration]) -> str:
    scale = ", each to its own scale" if len(results) > 1 else ""
    return (
        f"Amber: the two fullest bins. Fine strip: the same {results[0].unit} in {MAX_BINS:,} bins{scale}. "
        "The steeper the cumulative line rises, the fewer bins the ECE rests on."
    )
