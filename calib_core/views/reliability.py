"""The page Reliability: is a model right as often as it says? One view for each run, method and metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

import polars as pl

from calib_core.edges import Scheme
from calib_core.errors import Unavailable, shorten
from calib_core.figures.classwise import classwise_figure, describe_classwise
from calib_core.figures.layout import Figure
from calib_core.figures.lines import allows_bars, describe_lines, lines_figure
from calib_core.figures.palette import Theme
from calib_core.figures.reliability import describe_reliability, reliability_figure
from calib_core.figures.reliability_log import log_reliability_figure
from calib_core.figures.reliability_without_bins import (
    corp_figure,
    describe_corp,
    describe_smooth,
    smooth_figure,
)
from calib_core.inference.missingness import missing_caveat
from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.results.classwise import CLASS_COLUMNS, Classwise, classwise, is_classwise
from calib_core.results.columns import Column
from calib_core.results.evidence import Evidence
from calib_core.results.lines import ReliabilityLines
from calib_core.results.questions import questions_in_bin as questions_of
from calib_core.results.reliability import AllLabels, Reliability, reliability_diagram
from calib_core.results.reliability_without_bins import CorpReliability, SmoothReliability
from calib_core.results.run_names import full_name
from calib_core.results.score import Score, score
from calib_core.views.inputs import ReportInput, ReportRun
from calib_core.views.score import metric_tile, score_view, unused_rows_help, used_tile
from calib_core.views.view import (
    Fact,
    Numbers,
    ProgressCallback,
    Section,
    Tile,
    View,
    ViewFigure,
    ViewTable,
    not_drawn_views,
    text_lines,
)
from calib_core.wording import (
    BinReading,
    format_number,
    format_percent,
    format_short,
    format_significant,
    judged_phrase,
    plural,
)

ID, TITLE, QUESTION = "reliability", "Reliability", "Is the model right as often as it says?"
EVENT_QUESTION: Final = "Is yes true as often as the model says?"

DIAGRAM_TITLE: Final = "Reliability diagram"
BINS_TITLE: Final = "Per-bin table"
CLASSES_TITLE: Final = "ECE of each class, largest first"
CLASSES_FACT: Final = (
    "class-k-ECE compares the probability of class k with how often k is right, bin by bin, and adds up the "
    "gaps; cw-ECE is the mean over all classes (Full-ECE paper, eq. 4, 6 and 7)."
)
CLASSES_HOW_TO_READ: Final = "A class that is seldom right gives little to judge it by."
MAX_CLASSES: Final = 20
"""At most this many classes are listed; the app's download has all."""
MAX_QUESTIONS: Final = 50
"""At most this many questions of a bin are listed; the app's download has all."""
SMALLEST_PERCENT: Final = 5e-3
"""A smaller share has significant digits instead of one decimal of a percent."""
MAX_TEXT_LENGTH: Final = 240
"""Longest text of a question or answer, in characters."""


class Axes(NamedTuple):
    """Which axes of a diagram are logarithmic.

    Attributes
    ----------
    log_probability : bool
        Both axes of the square; the lower panel then holds each bin's part of the sum.
    log_counts : bool
        That of the counts in the lower panel.
    """

    log_probability: bool
    log_counts: bool = False


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Builds the diagrams of every run; raises Unavailable if there is none."""
    views: list[View] = []
    refused: list[str] = []
    for index, run in enumerate(report_input.runs):
        progress(index / len(report_input.runs), run.title)
        for method in report_input.methods_for(run):
            for metric in report_input.settings.all_metrics:
                try:
                    views.append(_run_view(report_input, run, method, metric))
                except Unavailable as reason:
                    refused.append(f"{run.title}: {reason}")
    if not views:
        raise Unavailable(refused[0] if refused else "No run has any of these methods.")
    return Section(ID, TITLE, QUESTION, (*views, *not_drawn_views(refused)))


def _run_view(report_input: ReportInput, run: ReportRun, method: str, metric: str) -> View:
    """One diagram, or bounds of the metric; raises Unavailable if there is neither."""
    evidence, settings = report_input.evidence(run, method), report_input.settings
    try:
        result = reliability_diagram(evidence, metric, settings.scheme)
    except Unavailable as reason:
        bounds = score(evidence, metric, settings.scheme)
        return replace(score_view(bounds), title=run.title, caveat=str(reason))
    if is_classwise(metric):
        view = classwise_view(
            classwise(evidence, metric, settings.scheme), result, evidence=evidence, title=run.title
        )
    else:
        view = reliability_view(result, evidence=evidence, title=run.title)
        questions = bin_question_tables(evidence, result, settings.bin_number)
        view = replace(view, tables=(*view.tables, *questions))
    return replace(view, caveat=view.caveat or next(iter(evidence.warnings), ""))


def reliability_view(
    result: Reliability,
    *,
    evidence: Evidence | None = None,
    title: str = "",
    axes: Axes | None = None,
    chosen: int | None = None,
    left_out: Sequence[str] = (),
) -> View:
    """The diagram and its bins.

    Parameters
    ----------
    result : Reliability
    evidence : Evidence, optional
        What the result was made from, which knows why rows are not used.
    title : str
        The run's title; its label where omitted.
    axes : Axes, optional
        Logarithmic for the probabilities of a whole vocabulary where omitted.
    chosen : int, optional
        Number of the bin that is outlined.
    left_out : sequence of str
        What else is not shown, and why.
    """
    recipe = result.score.recipe if METRICS[result.score.metric].binned else result.recipe
    return replace(
        _run_and_method(result, title, result.scheme),
        headline=result.headline,
        caveat=" ".join(text_lines(missing_caveat([("", result.score.missing)]), result.warning)),
        tiles=tuple(reliability_tiles(result, evidence)),
        recipes=(recipe,),
        figures=(_diagram(result, axes, chosen),),
        tables=(
            ViewTable(
                BINS_TITLE,
                result.table,
                result.columns,
                id="bins",
                row_keys=tuple(map(str, result.table["bin"])),
                numbers=Numbers(result.to_frame, result.recipe),
            ),
        ),
        how_to_read=how_to_read_bins(result),
        facts=_facts_on_rows(result),
        left_out=tuple(left_out),
    )


def _run_and_method(result: Reliability | Classwise, title: str, scheme: Scheme) -> View:
    """The view's names: those of the run, the method, the metric and the bins."""
    title, method = title or result.run, METHODS[result.method].title
    bins = (scheme.binning,) if scheme.binning == "natural" else (scheme.binning, scheme.bins)
    return View(
        title=title,
        method_title=method,
        subject=f"{full_name(title)}, {method}",
        name=(title, result.method, result.score.metric, *bins),
        terms=METHODS[result.method].terms,
    )


def _diagram(result: Reliability, axes: Axes | None = None, chosen: int | None = None) -> ViewFigure:
    """The diagram of all classes, or of one."""
    axes = axes or Axes(log_probability=result.pools_vocabulary)
    return ViewFigure(
        lambda theme: draw_reliability(result, theme, axes, chosen),
        describe_reliability(result),
        f"Reliability of {result.part}" if result.part else DIAGRAM_TITLE,
        narrow=True,
        note=result.headline if result.part else "",
        id="class" if result.part else "reliability",
        numbers=Numbers(result.to_frame, result.recipe, text_lines(result.part)),
    )


def draw_reliability(result: Reliability, theme: Theme, axes: Axes, chosen: int | None) -> Figure:
    """The diagram on these axes."""
    if axes.log_probability:
        return log_reliability_figure(result, theme, selected=chosen)
    return reliability_figure(result, theme, log_counts=axes.log_counts, selected=chosen)


def how_to_read_bins(result: Reliability) -> str:
    """How to read the diagram and its table."""
    whiskers = (
        "Each probability is weighted by itself, as if one answer were sampled from each distribution."
        if result.pair_unit == "sampled answers"
        else "No whiskers: the pairs of one position or question depend on one another."
        if result.pair_unit == "labels"
        else f"Whiskers: 95 % Wilson interval of the {result.terms.accuracy}."
    )
    worth = " of equal weight" if "effective" in result.table.columns else ""
    return (
        f"Gap = {result.terms.confidence} − {result.terms.accuracy}; above zero: {result.terms.over}. "
        f"Faded: {worth and 'worth '}fewer than {MIN_ROWS} {result.pair_unit}{worth} "
        f"({result.n_thin_bins} of {plural(result.table.height, 'bin')}). {whiskers}"
    )


def _facts_on_rows(result: Reliability | Classwise) -> tuple[Fact, ...]:
    note = result.score_note if isinstance(result, Reliability) else None
    return (
        Fact("Outcome", judged_phrase(result.judged)),
        *(Fact("Chance", text) for text in text_lines(result.score.noise_floor_text)),
        *(Fact("Score", text) for text in text_lines(note)),
        *(Fact("Value", text) for text in text_lines(result.score.remark)),
        *(Fact("Rows", text) for text in result.remarks),
    )


# --- Class by class -----------------------------------------------------------------------------------------


def classwise_view(
    result: Classwise,
    overall: Reliability | None = None,
    *,
    evidence: Evidence | None = None,
    title: str = "",
    axes: Axes | None = None,
    chosen: int | None = None,
    max_classes: int = MAX_CLASSES,
    left_out: Sequence[str] = (),
) -> View:
    """The ECE of every class, and the diagram of one.

    Parameters
    ----------
    result : Classwise
    overall : Reliability, optional
        The diagram of all classes, which knows accuracy and mean confidence.
    evidence, title, axes, left_out
        As for `reliability_view`.
    chosen : int, optional
        The class of the diagram; the one farthest off where omitted.
    max_classes : int
        Number of classes that are listed.
    """
    first = result.table.head(max_classes)
    one = result.diagram_of(int(first["class"][0]) if chosen is None else chosen)
    numbers = Numbers(result.to_frame, result.recipe, ("classes",))
    tiles = (metric_tile(result.score), used_tile(result.method, result.score.n_used, result.score.n_total))
    return replace(
        _run_and_method(result, title, result.scheme),
        headline=result.headline,
        tiles=tiles if overall is None else tuple(reliability_tiles(overall, evidence)),
        recipes=(result.recipe,),
        figures=(
            ViewFigure(
                lambda theme: classwise_figure(result, theme, selected=chosen),
                describe_classwise(result),
                CLASSES_TITLE,
                narrow=True,
                id="classes",
                numbers=numbers,
            ),
            _diagram(one, axes),
        ),
        tables=(
            ViewTable(
                f"The {max_classes} classes farthest off"
                if result.n_classes > max_classes
                else "Every class",
                first,
                CLASS_COLUMNS,
                id="class_rows",
                row_keys=tuple(map(str, first["class"])),
                numbers=numbers,
            ),
        ),
        how_to_read=f"{CLASSES_HOW_TO_READ} {how_to_read_bins(one)}",
        facts=(Fact("Classes", CLASSES_FACT), *_facts_on_rows(result)),
        left_out=tuple(left_out),
    )


# --- Several lines on one diagram ---------------------------------------------------------------------------


def lines_view(
    result: ReliabilityLines,
    *,
    style_indices: Mapping[str, int] | None = None,
    chosen: str | None = None,
    as_bars: bool = False,
    left_out: Sequence[str] = (),
) -> View:
    """Several runs or methods as lines on one diagram.

    Parameters
    ----------
    result : ReliabilityLines
    style_indices : Mapping of str to int, optional
        Key of a line → position of its run among all runs.
    chosen : str, optional
        Key of the line that is ringed.
    as_bars : bool
        Whether bars of each bin take the place of the lines, where that is possible (`allows_bars`).
    left_out : sequence of str
        Lines that are not drawn, and why.
    """
    caveat, *caveats = result.caveats or ("",)
    as_bars = as_bars and allows_bars(result)
    bins = (result.metric, result.scheme.binning, result.scheme.bins)
    labels = pl.Series("line", [result.labels[line.key] for line in result.lines], pl.String)
    frame = result.summary().with_columns(labels)
    of = f": {result.shared_label}" if result.shared_label else ""
    return View(
        method_title=result.shared_label,
        headline=" ".join(text_lines(result.headline, result.difference_sentence)),
        caveat=caveat,
        recipes=text_lines(result.recipe),
        figures=(
            ViewFigure(
                lambda theme: lines_figure(
                    result, theme, style_indices=style_indices or {}, selected=chosen, as_bars=as_bars
                ),
                describe_lines(result),
                f"On one diagram{of}",
                narrow=True,
                id="lines_figure",
                numbers=Numbers(result.to_frame, result.recipe, bins),
            ),
        ),
        tables=(
            ViewTable(
                plural(len(result.lines), "line"),
                frame,
                (Column("line", "Line"), *result.columns),
                id="line_rows",
                row_keys=tuple(line.key for line in result.lines),
                numbers=Numbers(result.summary, result.recipe, bins),
            ),
        ),
        how_to_read=how_to_read_lines(result, as_bars=as_bars),
        facts=tuple(Fact("Lines", text) for text in caveats),
        left_out=tuple(left_out),
        subject=result.shared_label,
        name=("lines", len(result.lines)),
        terms=result.terms,
    )


def how_to_read_lines(result: ReliabilityLines, *, as_bars: bool = False) -> str:
    """How to read the diagram of several lines, or of their bars."""
    thin = sum(line.result.n_thin_bins for line in result.lines)
    n_bins = sum(line.result.table.height for line in result.lines)
    marks = (
        f"Each bar is the {result.terms.accuracy} in a bin; pale bars"
        if as_bars
        else "Each point is a bin; small hollow points"
    )
    pairs = f"have fewer than {MIN_ROWS} pairs"
    if any("effective" in line.result.table.columns for line in result.lines):
        pairs = f"are worth fewer than {MIN_ROWS} pairs of equal weight"
    return (
        f"Below the diagonal: {result.terms.over}. {marks} {pairs} ({thin} of {n_bins} bins). "
        f"Lower panel: share of each {'run or method' if as_bars else 'line'}'s pairs."
    )


# --- Without bins -------------------------------------------------------------------------------------------


def corp_view(result: CorpReliability, *, title: str = "") -> View:
    """The isotonic diagram, the parts of the Brier score, and the bins that the fit finds."""
    return replace(
        _without_bins(result, title, "corp"),
        tiles=tuple(corp_tiles(result)),
        figures=(
            ViewFigure(
                partial(corp_figure, result),
                describe_corp(result),
                "Isotonic reliability diagram",
                narrow=True,
                id="corp",
                numbers=Numbers(result.to_frame, result.recipe),
            ),
        ),
        tables=(
            ViewTable(
                "Bins found by the fit",
                result.blocks,
                result.columns,
                id="blocks",
                numbers=Numbers(
                    lambda: result.blocks.with_columns(recipe=pl.lit(result.recipe)),
                    result.recipe,
                    ("bins",),
                ),
            ),
        ),
        how_to_read=(
            f"Line: fitted {result.terms.accuracy} that never falls as the {result.terms.confidence} rises; "
            f"below the diagonal: {result.terms.over}. Lower panel: rows in 50 equal bins. "
            f"{_band_text(result)}"
        ),
        facts=(
            Fact("Parts", "Brier score = miscalibration − discrimination + uncertainty."),
            *(Fact("Band of the curve", text) for text in text_lines(result.curve_text)),
        ),
    )


def corp_tiles(result: CorpReliability) -> list[Tile]:
    """The tiles of the three parts of the Brier score, the first with what chance would give."""
    chance = ""
    if result.miscalibration.null_median is not None:
        chance = f"calibrated model: {format_short(result.miscalibration.null_median)}"
    parts = {
        "Miscalibration": (result.miscalibration, chance),
        "Discrimination": (result.discrimination, ""),
        "Uncertainty": (result.uncertainty, ""),
    }
    return [_part_tile(name, part, below) for name, (part, below) in parts.items()]


def smooth_view(result: SmoothReliability, *, title: str = "") -> View:
    """The smooth diagram and its error."""
    return replace(
        _without_bins(result, title, "smooth"),
        tiles=(_part_tile(result.smooth_ece.worded_metric.title, result.smooth_ece),),
        figures=(
            ViewFigure(
                partial(smooth_figure, result),
                describe_smooth(result),
                "Smooth reliability diagram",
                narrow=True,
                id="smooth",
                numbers=Numbers(result.to_frame, result.recipe),
            ),
        ),
        how_to_read=(
            f"Line: each {result.terms.confidence} less the gap around it; below the diagonal: "
            f"{result.terms.over}. No line: no rows nearby. Lower panel: density of rows. "
            f"{_band_text(result)}"
        ),
        facts=(Fact("Line", "Averaged with a Gaussian kernel, as wide as the smooth ECE."),),
    )


def _part_tile(name: str, part: Score, below: str = "") -> Tile:
    return Tile(name, format_number(part.value), part.worded_metric.help, below)


def _without_bins(result: CorpReliability | SmoothReliability, title: str, name: str) -> View:
    """The view's names and headline."""
    title, method = title or result.run, METHODS[result.method].title
    return View(
        title=title,
        method_title=method,
        headline=result.headline,
        recipes=(result.recipe,),
        subject=f"{full_name(title)}, {method}",
        name=(title, result.method, name),
        terms=result.terms,
    )


def _band_text(result: CorpReliability | SmoothReliability) -> str:
    """What the band is, or why there is none."""
    if result.no_null_reason:
        return f"No band: {result.no_null_reason}."
    return "Grey band: 5–95 % range of a perfectly calibrated model."


# --- Questions ----------------------------------------------------------------------------------------------


def bin_question_tables(
    evidence: Evidence, result: Reliability, bin_number: int | None
) -> tuple[ViewTable, ...]:
    """The first questions of the bin; () if the bin is empty or the file has no questions."""
    bin_row = result.table.filter(pl.col("bin") == pl.lit(bin_number, pl.Int64))
    if bin_row.is_empty() or evidence.no_questions_reason:
        return ()
    terms = evidence.terms
    questions = questions_of(evidence, result.score.metric, result.scheme, bin_number=bin_number)
    rows = [
        {
            **{
                name.capitalize(): _shortened(row[name])
                for name in row
                if name not in ("confidence", "right")
            },
            terms.confidence_title: f"{row['confidence']:.4f}",
            terms.outcomes: terms.right if row["right"] else terms.wrong,
        }
        for row in questions.frame.head(MAX_QUESTIONS).iter_rows(named=True)
    ]
    bin_text = BinReading(bin_row["percent"].item(), bin_row["interval"].item())
    first = f"the first {MAX_QUESTIONS} of " if questions.n_before_search > MAX_QUESTIONS else ""
    return (
        ViewTable.from_rows(
            f"Questions in {bin_text}, {first}{questions.n_before_search:,}",
            rows,
        ),
    )


def _shortened(value: object) -> object:
    return shorten(value, MAX_TEXT_LENGTH) if isinstance(value, str) else value


# --- Tiles --------------------------------------------------------------------------------------------------


def reliability_tiles(result: Reliability, evidence: Evidence | None = None) -> list[Tile]:
    """The tiles: the metric, and the numbers to read it with."""
    in_one_bin = (
        result.pair_unit == "labels" and result.table.height == 1 and not is_classwise(result.score.metric)
    )
    of_labels = result.all_labels
    used = (result.method, result.score.n_used, result.score.n_total)
    of_server = METRICS["server_auroc"]
    has_ranks = evidence is not None and not evidence.unavailable_reason(of_server, result.scheme)
    return [
        metric_tile(result.score, says_nothing=in_one_bin),
        *(
            [Tile("Brier score", format_number(result.brier), METRICS["brier"].worded(result.terms).help)]
            if of_labels is None
            else _all_labels_tiles(result, of_labels)
        ),
        *([_server_tile(evidence)] if evidence is not None and has_ranks else ()),
        used_tile(*used) if evidence is None else used_tile(*used, unused_rows_help(evidence)),
    ]


def _server_tile(evidence: Evidence) -> Tile:
    """How well a server's own confidence orders the decisions, beside their probability."""
    of_server, own = (score(evidence, id_, with_remark=False) for id_ in ("server_auroc", "auroc"))
    metric = of_server.worded_metric
    return Tile(
        metric.title,
        format_number(of_server.value),
        metric.help,
        f"of the probability: {format_number(own.value)}",
    )


def _all_labels_tiles(result: Reliability, numbers: AllLabels) -> list[Tile]:
    """The numbers of every label, and the accuracy, which is of the top label and says so."""
    return [
        Tile("Brier score, all labels", format_significant(numbers.brier), METRICS["brier"].help),
        Tile(
            "Mean probability",
            _percent_or_short(numbers.mean_probability),
            "Over every label of every row, right or wrong.",
            f"right labels: {_percent_or_short(numbers.share_right)}",
        ),
        Tile(
            "Accuracy, top label",
            format_percent(result.accuracy),
            f"Judged: {result.judged}. {METRICS['accuracy'].help}",
        ),
    ]


def _percent_or_short(share: float | None) -> str:
    """A share in percent; where that would be 0.0 %, with significant digits."""
    return format_percent(share) if share is None or share >= SMALLEST_PERCENT else format_short(share)
