"""Results in a notebook: the blocks of a report, drawn in the output of a cell."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from calib_core.errors import Unavailable
from calib_core.figures.abstention import abstention_figure, describe_abstention
from calib_core.figures.classwise import classwise_figure, describe_classwise
from calib_core.figures.comparison import comparison_figure, describe_comparison
from calib_core.figures.groups import describe_groups, groups_figure
from calib_core.figures.palette import DARK, LIGHT, THEMES
from calib_core.figures.reliability import describe_reliability, reliability_figure
from calib_core.figures.reliability_log import log_reliability_figure
from calib_core.figures.robustness import (
    describe_metric_values,
    describe_relative_values,
    metric_values_figure,
    relative_values_figure,
)
from calib_core.figures.sampling import describe_sampling, sampling_figure
from calib_core.figures.training import describe_training, training_figure
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.report.blocks import Block, ReportFigure, ReportTable, Tile
from calib_core.report.document import BodyWriter, colour_variables, gzip_base64, plotly_script, read_asset
from calib_core.report.ece_brier_table import ece_brier_table
from calib_core.report.html import tag
from calib_core.report.sections.abstention import (
    ABSTENTION_CAPTION,
    AURC_NOTE,
    DEFAULT_CONFIDENCE,
    DEFAULT_TARGET_ACCURACY,
    abstention_recipes,
    abstention_rows,
)
from calib_core.report.sections.comparison import comparison_caption, comparison_rows, comparison_tiles
from calib_core.report.sections.concentration import concentration_block
from calib_core.report.sections.groups import group_rows, groups_caption, verdicts_caption
from calib_core.report.sections.methods import methods_legend, methods_recipe, methods_tiles
from calib_core.report.sections.recalibrate import recalibration_block
from calib_core.report.sections.reliability import (
    CLASSES_TITLE,
    CLASSWISE_CAPTION,
    bin_rows,
    class_rows,
    metric_tile,
    reliability_caption,
    top_label_tiles,
    used_tile,
)
from calib_core.report.sections.robustness import (
    RELATIVE_TITLE,
    ROBUSTNESS_CAPTION,
    VALUES_TITLE,
    audit_block,
    bin_counts_text,
    full_ece_tiles,
    robustness_rows,
    robustness_tiles,
    sweep_refusals,
)
from calib_core.report.sections.sampling import (
    SAMPLING_CAPTION,
    sampling_recipe,
    sampling_tiles,
    size_rows,
    sizes_title,
)
from calib_core.report.sections.training import (
    TRAINING_CAPTION,
    training_recipes,
    training_rows,
    training_tiles,
)
from calib_core.results.abstention import AbstentionCurve, GuaranteedThreshold, guaranteed_threshold
from calib_core.results.audit import ConventionAudit
from calib_core.results.classwise import Classwise
from calib_core.results.comparison import Comparison
from calib_core.results.concentration import Concentration
from calib_core.results.display import register_display
from calib_core.results.groups import GroupResults
from calib_core.results.methods_table import MethodsTable
from calib_core.results.recalibration import Recalibration
from calib_core.results.reliability import Reliability
from calib_core.results.robustness import Sweep
from calib_core.results.run_verdict import RunVerdict
from calib_core.results.sampling import SampleSizeSweep
from calib_core.results.score import Score
from calib_core.results.training import Training
from calib_core.wording import format_interval, format_percent, p_value_phrase

ResultT = TypeVar("ResultT")

_FIRST_ONLY: Final[dict[str, None]] = {}
"""Holds a key once plotly.js has been written: one copy serves all results of a session."""

_STYLE: Final = """
.calib-result {
  background: var(--page); color: var(--text); padding: .6rem .8rem; overflow: auto;
  font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
.calib-result article { margin-top: 0; }
.calib-result td { overflow-wrap: break-word; }
.calib-result :is(p, dt, dd) { text-align: left; }
.calib-result .tiles :is(dt, dd) { margin: 0 !important; } /* pages around notebooks indent lists */
.calib-result .trouble { display: none; }
.calib-result.without-plotly .trouble { display: block; }
"""
_WITHOUT_PLOTLY: Final = (
    "The figures need the output of the first cell that showed a result: run that cell again, or all cells."
)


@dataclass(frozen=True, slots=True)
class BlockDisplay:
    """A block of a report as the output of a cell.

    Attributes
    ----------
    block : Block
    """

    block: Block

    def figure(self, theme: str, index: int) -> Any:  # noqa: ANN401  a plotly figure
        """One of the block's figures; see `Displayable.figure`."""
        if theme not in THEMES:
            raise ValueError(f"theme must be one of {', '.join(THEMES)}, not {theme!r}")
        figures = self.block.figures
        if not figures:
            raise Unavailable("This result has no figure.")
        if not 0 <= index < len(figures):
            raise Unavailable(f"This result has no figure {index}: there are {len(figures)}, counted from 0.")
        drawing = figures[index].light if theme == "light" else figures[index].dark
        # Imported here because it takes longer than everything else.
        return importlib.import_module("plotly.graph_objects").Figure(drawing)

    def html(self) -> str:
        """The block with its style and script, and plotly.js where it is the first with a figure."""
        writer = BodyWriter()
        content = writer.block_html(self.block, "")
        figures = json.dumps(writer.figures, allow_nan=False, separators=(",", ":"))
        key = hashlib.sha256((content + figures).encode("utf-8")).hexdigest()[:16]
        packed = ""
        if writer.figures:
            packed = tag("div", gzip_base64(figures), class_="calib-figures", hidden="")
            if "plotly" not in _FIRST_ONLY:
                _FIRST_ONLY["plotly"] = None
                packed += tag("div", plotly_script()[0], class_="calib-plotly", hidden="")
            packed += tag("p", _WITHOUT_PLOTLY, class_="trouble")
        script = (
            f"(() => {{\n{read_asset('figures.js')}{read_asset('notebook.js')}"
            f"showResult({json.dumps(key)});\n}})();"
        )
        return tag(
            "div",
            tag("style", _style_sheet()) + content + packed + tag("script", script),
            class_="calib-result",
            data_key=key,
        )


def _style_sheet() -> str:
    """The report's style sheet, nested so that it changes nothing else in the notebook."""
    dark = '.calib-result[data-theme="dark"]'
    return (
        f".calib-result {{ {colour_variables(LIGHT)} color-scheme: light; }}\n"
        f"{dark} {{ {colour_variables(DARK)} color-scheme: dark; }}\n"
        f".calib-result {{\n{read_asset('document.css')}}}\n{_STYLE}"
    )


def show_as(kind: type[ResultT], make_block: Callable[[ResultT], Block]) -> None:
    """Register the block that shows results of one class."""
    register_display(kind, lambda result: BlockDisplay(make_block(result)))


def _text_lines(*lines: str | None) -> tuple[str, ...]:
    return tuple(line for line in lines if line)


def score_block(result: Score) -> Block:
    """One number with its interval, its rows and its recipe."""
    interval = result.interval
    tiles = [metric_tile(result)]
    recipes = [result.recipe]
    if interval is not None:
        tiles.append(Tile("95 % interval", format_interval(interval.low, interval.high)))
        recipes.append(f"interval: {interval.interval_method}")
    return Block(
        title=result.run,
        method_title=METHODS[result.method].title,
        tiles=(*tiles, used_tile(result.method, result.n_used, result.n_total)),
        recipes=tuple(recipes),
        remarks=_text_lines(result.remark, *result.remarks),
    )


def verdict_block(result: RunVerdict) -> Block:
    """The verdict, the numbers that it compares, and why."""
    return Block(
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


def reliability_block(result: Reliability) -> Block:
    """The diagram; on logarithmic axes where the classes are a whole vocabulary."""
    of_vocabulary = result.pair_unit == "labels" and METHODS[result.method].run_kind == "tokens"
    draw = log_reliability_figure if of_vocabulary else reliability_figure
    return Block(
        title=result.run,
        method_title=METHODS[result.method].title,
        headline=result.headline,
        tiles=(
            metric_tile(result.score),
            *top_label_tiles(result),
            used_tile(result.method, result.score.n_used, result.score.n_total),
        ),
        recipes=(result.score.recipe if METRICS[result.score.metric].binned else result.recipe,),
        figures=(
            ReportFigure.from_drawing(
                lambda theme: draw(result, theme), describe_reliability(result), narrow=True
            ),
        ),
        tables=(ReportTable.from_rows("Bin by bin", bin_rows(result), reliability_caption(result)),),
        remarks=_text_lines(result.warning, result.score.remark, *result.remarks),
    )


def classwise_block(result: Classwise) -> Block:
    """The ECE of every class."""
    return Block(
        title=result.run,
        method_title=METHODS[result.method].title,
        headline=result.headline,
        tiles=(
            metric_tile(result.score),
            used_tile(result.method, result.score.n_used, result.score.n_total),
        ),
        recipes=(result.recipe,),
        figures=(
            ReportFigure.from_drawing(
                lambda theme: classwise_figure(result, theme), describe_classwise(result), CLASSES_TITLE
            ),
        ),
        tables=(ReportTable.from_rows(CLASSES_TITLE, class_rows(result), CLASSWISE_CAPTION),),
        remarks=_text_lines(result.score.remark, *result.remarks),
    )


def sweep_block(result: Sweep) -> Block:
    """Metrics over M."""
    results = [result]
    title = f"RSD over M in {{{bin_counts_text(result.bins)}}}, ddof {result.ddof}"
    return Block(
        title=result.run,
        method_title=METHODS[result.method].title,
        headline=result.headline,
        tiles=(*robustness_tiles(result), *full_ece_tiles(result)),
        recipes=tuple(curve.recipe for curve in result.curves),
        figures=(
            ReportFigure.from_drawing(
                lambda theme: metric_values_figure(results, theme),
                describe_metric_values(results),
                VALUES_TITLE,
                narrow=True,
            ),
            ReportFigure.from_drawing(
                lambda theme: relative_values_figure(results, theme),
                describe_relative_values(results),
                RELATIVE_TITLE,
                narrow=True,
            ),
        ),
        tables=(ReportTable.from_rows(title, robustness_rows(results)),),
        captions=_text_lines(result.chance_note, ROBUSTNESS_CAPTION),
        remarks=tuple(sweep_refusals(result)),
    )


def abstention_block(result: AbstentionCurve) -> Block:
    """Accuracy over the share of questions answered."""
    return threshold_block(guaranteed_threshold(result, DEFAULT_TARGET_ACCURACY, DEFAULT_CONFIDENCE))


def threshold_block(result: GuaranteedThreshold) -> Block:
    """The guaranteed threshold on its curve, and the empirical one beside it."""
    curve, curves, thresholds = result.curve, [result.curve], [result]
    return Block(
        title=curve.run,
        method_title=METHODS[curve.method].title,
        headline=result.headline,
        tiles=(used_tile(curve.method, curve.n_used, curve.n_total),),
        recipes=tuple(abstention_recipes(thresholds)),
        figures=(
            ReportFigure.from_drawing(
                lambda theme: abstention_figure(
                    curves, theme, target_accuracy=result.target_accuracy, guaranteed=thresholds
                ),
                describe_abstention(curves, thresholds),
            ),
        ),
        tables=(ReportTable.from_rows("", abstention_rows(thresholds, None), AURC_NOTE),),
        captions=(result.empirical_note, ABSTENTION_CAPTION),
        remarks=curve.remarks,
    )


def comparison_block(result: Comparison) -> Block:
    """Accuracy against Brier score of several runs."""
    return Block(
        title="",
        headline=result.headline,
        tiles=tuple(comparison_tiles(result)),
        recipes=(result.recipe,),
        figures=(
            ReportFigure.from_drawing(
                lambda theme: comparison_figure(result, theme), describe_comparison(result)
            ),
        ),
        tables=(ReportTable.from_rows("Every point, the highest skill first", comparison_rows(result)),),
        captions=(comparison_caption(result),),
        remarks=(*result.caveats, *_reasons(result.unavailable)),
    )


def methods_block(result: MethodsTable) -> Block:
    """ECE and Brier score of every run by every method: a table, no figure."""
    names = {run: run for run in result.runs}
    reasons = {f"{run}, {METHODS[id_].title}": why for (run, id_), why in result.unavailable.items()}
    return Block(
        title="",
        headline=result.headline,
        tiles=tuple(methods_tiles(result, names)),
        recipes=(methods_recipe(result),),
        ece_brier_tables=(ece_brier_table(result, {run: ("", run) for run in result.runs}),),
        captions=tuple(methods_legend(result)),
        remarks=_reasons(reasons),
    )


def sampling_block(result: SampleSizeSweep) -> Block:
    """The first metric over the number of samples."""
    metric = result.curves[0].metric
    return Block(
        title=result.run,
        headline=result.headline,
        tiles=tuple(sampling_tiles(result)),
        recipes=(sampling_recipe(result, metric),),
        figures=(
            ReportFigure.from_drawing(
                lambda theme: sampling_figure(result, metric, theme),
                describe_sampling(result, metric),
                narrow=True,
            ),
        ),
        tables=(ReportTable.from_rows(sizes_title(metric), size_rows(result, metric)),),
        captions=_text_lines(result.sufficiency_definition, SAMPLING_CAPTION),
        remarks=(*result.spread_caveats.values(), *result.unavailable.values()),
    )


def groups_block(result: GroupResults) -> Block:
    """The metric of every group."""
    return Block(
        title=f"By {result.group_by.title}",
        headline=result.headline,
        recipes=(result.recipe,),
        figures=(
            ReportFigure.from_drawing(lambda theme: groups_figure(result, theme), describe_groups(result)),
        ),
        tables=(ReportTable.from_rows("", group_rows(result)),),
        captions=_text_lines(result.subheadline, groups_caption(result), verdicts_caption(result)),
        remarks=_reasons(result.unavailable),
    )


def training_block(result: Training) -> Block:
    """A metric over the checkpoints of a training."""
    return Block(
        title="",
        headline=result.headline,
        tiles=tuple(training_tiles(result)),
        recipes=tuple(training_recipes(result)),
        figures=(
            ReportFigure.from_drawing(
                lambda theme: training_figure(result, theme), describe_training(result)
            ),
        ),
        tables=(ReportTable.from_rows("", training_rows(result)),),
        captions=(*result.line_summaries, *result.step_summaries, TRAINING_CAPTION),
        remarks=_reasons({**result.unplaced, **result.unavailable}),
    )


def _reasons(reasons: Mapping[str, str]) -> tuple[str, ...]:
    """Why something is missing, a line each."""
    return tuple(f"{name}: {reason}" for name, reason in reasons.items())


def register() -> None:
    """Let results show themselves in notebooks from now on."""
    show_as(Score, score_block)
    show_as(RunVerdict, verdict_block)
    show_as(Reliability, reliability_block)
    show_as(Classwise, classwise_block)
    show_as(Concentration, lambda result: concentration_block(result, result.run))
    show_as(Sweep, sweep_block)
    show_as(AbstentionCurve, abstention_block)
    show_as(GuaranteedThreshold, threshold_block)
    show_as(Comparison, comparison_block)
    show_as(MethodsTable, methods_block)
    show_as(SampleSizeSweep, sampling_block)
    show_as(GroupResults, groups_block)
    show_as(Training, training_block)
    show_as(ConventionAudit, lambda result: audit_block(result, result.run))
    show_as(Recalibration, lambda result: recalibration_block(result, result.run))
