"""The page Sampling: how many samples are enough, for each run with samples, and one worked example."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from calib_core.errors import Unavailable
from calib_core.figures.question_clusters import describe_question_clusters, question_clusters_figure
from calib_core.figures.sampling import describe_sampling, sampling_figure
from calib_core.methods import METHODS
from calib_core.methods.answers.subsample import sample_matrix
from calib_core.methods.method import MethodOptions
from calib_core.metrics import METRICS
from calib_core.metrics.brier import BRIER
from calib_core.results.question_clusters import (
    QuestionClusters,
    question_clusters,
    sampled_question_titles,
    typical_question,
)
from calib_core.results.sampling import (
    DEFAULT_METRICS,
    METHOD_SYMBOLS,
    SampleSizeSweep,
    SamplingPlan,
    sample_size_sweep,
)
from calib_core.runs import AnswerRun
from calib_core.views.inputs import ReportInput, ReportRun
from calib_core.views.view import (
    ProgressCallback,
    Section,
    Tile,
    View,
    ViewFigure,
    ViewTable,
    not_drawn_blocks,
    text_lines,
)
from calib_core.wording import (
    NO_VALUE,
    as_cell,
    definite,
    format_interval,
    format_number,
    format_signed,
    join_names,
)

ID, TITLE, QUESTION = "sampling", "Sampling", "How many samples are enough?"

SAMPLED_METHOD: Final = "cluster_size"
"""Runs that support this method have samples."""

TILE_METRICS: Final = (BRIER.id,)
"""Metrics that the tiles always need; other metrics are computed only on request, as they take long."""

NO_SAMPLES: Final = (
    "No run here has several sampled answers per question. The columns samples, samples_parsed or, for open "
    "text, sample_cluster hold them, one list per row; see the file formats."
)
EXAMPLE_TITLE: Final = "One question, worked out"
USED_ROWS_HELP: Final = (
    "Questions with as many samples as the largest N', each of which can be judged: every N' stands on the "
    "same ones."
)
ENOUGH_HELP: Final = (
    "The smallest N' whose Brier score is practically that of the largest N' not greyed: the 95 % interval "
    "of the paired difference (mean over the repeats, bootstrap over the questions) lies inside the chosen ±."
)
SYMBOLS_EXPLAINED: Final = (
    "F_CN (cluster number): fewer different answers, higher confidence. F_CS (cluster size): the share of "
    "samples that give the majority answer. F_PC (pairwise comparison): how clearly the majority answer "
    "beats each other"
)
SAMPLING_CAPTION: Final = (
    "Shaded band: ±1 standard deviation over the draws, not an interval over questions. Grey: the subsets "
    "overlap."
)


def sampled_runs(report_input: ReportInput) -> list[ReportRun]:
    """The runs with several samples for each question."""
    return [run for run in report_input.answer_runs if SAMPLED_METHOD in run.usable]


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Builds the curves of every run with samples; raises Unavailable if there is none."""
    runs = sampled_runs(report_input)
    if not runs:
        raise Unavailable(NO_SAMPLES)
    blocks: list[View] = []
    refused: list[str] = []
    for index, run in enumerate(runs):

        def run_progress(share: float, text: str, index: int = index, run: ReportRun = run) -> None:
            progress((index + min(share, 1.0)) / len(runs), f"{run.title}: {text}")

        try:
            blocks += _run_blocks(report_input, run, run_progress, with_example=not blocks)
        except Unavailable as reason:
            refused.append(f"{run.title}: {reason}")
    if not blocks:
        raise Unavailable(refused[0])
    return Section(ID, TITLE, QUESTION, (*blocks, *not_drawn_blocks(refused)))


def _run_blocks(
    report_input: ReportInput, run: ReportRun, progress: ProgressCallback, *, with_example: bool
) -> list[View]:
    answer_run = run.report.run
    if not isinstance(answer_run, AnswerRun):
        return []
    options = MethodOptions(unparseable=report_input.settings.options.unparseable)
    metric = next(
        (id_ for id_ in report_input.settings.metrics if id_ in DEFAULT_METRICS), DEFAULT_METRICS[0]
    )
    result = sample_size_sweep(
        answer_run, SamplingPlan(metrics=(*TILE_METRICS, metric)), options, progress=progress
    )
    blocks = [_block(run, result, metric)]
    return [*blocks, _example_block(answer_run, options)] if with_example else blocks


def _block(run: ReportRun, result: SampleSizeSweep, metric: str) -> View:
    return View(
        title=run.title,
        headline=result.headline,
        tiles=tuple(sampling_tiles(result)),
        recipes=(sampling_recipe(result, metric),),
        figures=(
            ViewFigure(
                lambda theme: sampling_figure(result, metric, theme),
                describe_sampling(result, metric),
                narrow=True,
            ),
        ),
        tables=(ViewTable.from_rows(sizes_title(metric), size_rows(result, metric)), *_gap_tables(result)),
        captions=(result.sufficiency_definition, SAMPLING_CAPTION)
        if result.sufficiency_definition
        else (SAMPLING_CAPTION,),
        remarks=(*sampling_remarks(result), *result.spread_caveats.values(), *result.unavailable.values()),
    )


def _gap_tables(result: SampleSizeSweep) -> list[ViewTable]:
    rows = gap_rows(result)
    return [ViewTable.from_rows(gaps_title(result), rows)] if rows else []


def _example_block(answer_run: AnswerRun, options: MethodOptions) -> View:
    """A question of average agreement, with its clusters and the derivation of each confidence."""
    samples = sample_matrix(answer_run, options)
    rows, titles = sampled_question_titles(answer_run, samples)
    index = typical_question(samples, rows)
    result = question_clusters(answer_run, samples, rows[index], options.unparseable)
    return View(
        title=f"{EXAMPLE_TITLE}: {titles[index]}",
        headline=example_headline(result),
        recipes=(result.sizes_text, *result.derivations.values()),
        figures=(
            ViewFigure(
                lambda theme: question_clusters_figure(result, theme),
                describe_question_clusters(result),
                narrow=True,
            ),
        ),
        tables=(ViewTable.from_rows("", cluster_rows(result)),),
    )


def example_headline(result: QuestionClusters) -> str:
    """The chosen answer, and the right one if it is known."""
    return result.headline + ("" if result.gold is None else f" The right answer is {result.gold}.")


def cluster_rows(result: QuestionClusters) -> list[dict[str, object]]:
    """One row for each sampled answer."""
    judged: Mapping[bool | None, str | None] = {True: "right", False: "wrong", None: None}
    return [
        {"Sampled answer": answer, "Samples": size, "Judged": judged[right]}
        for answer, size, _, right in result.to_frame().iter_rows()
    ]


def sampling_tiles(result: SampleSizeSweep) -> list[Tile]:
    """The tiles: the sufficient N' of each method, and the rows used."""
    return [
        *(_enough_tile(result, method) for method in result.mean_confidence),
        Tile("Rows used / total", f"{result.n_used:,} / {result.n_total:,}", USED_ROWS_HELP),
    ]


def _enough_tile(result: SampleSizeSweep, method: str) -> Tile:
    """The answer that the headline gives for this method, with its Brier score."""
    found = next((found for found in result.sufficient_sizes if found.method == method), None)
    brier = dict(zip(result.sizes, result.curve(method, BRIER.id).mean, strict=True))
    name, help_ = METHOD_SYMBOLS[method], f"{METHODS[method].meaning} {ENOUGH_HELP}"
    if found is None:
        last = result.sizes[-1]
        return Tile(f"{name}: enough at N'", NO_VALUE, help_, _brier_text(brier, last))
    reference = found.reference_size
    size = found.answer_size or reference
    label = f"{name}: better at N'" if found.answer == "better" else f"{name}: enough at N'"
    against = f", {format_number(brier[reference])} at {reference}" if found.answer == "better" else ""
    return Tile(label, found.answer_text, help_, f"{_brier_text(brier, size)}{against}")


def _brier_text(brier: Mapping[int, float | None], size: int) -> str:
    return f"Brier {format_number(brier[size])} at N' = {size}"


def sampling_recipe(result: SampleSizeSweep, metric: str) -> str:
    """How the curves of all methods were computed."""
    return result.curve(next(iter(result.mean_confidence)), metric).recipe.replace(", F_CN, ", ", ", 1)


def sampling_remarks(result: SampleSizeSweep) -> list[str]:
    """Remarks on the judged answers, draws without a confidence, and missing baselines."""
    judged = dict.fromkeys(baseline.judged for baseline in result.baselines)
    remarks = [
        SYMBOLS_EXPLAINED,
        f"F_CN, F_CS and F_PC are scored on {definite(result.judged)} of the drawn samples",
    ]
    if judged:
        answers = join_names([definite(answer) for answer in judged])
        remarks.append(f"horizontal lines are scored on {answers}, on the same questions")
    smaller_counts = {
        METHODS[baseline.method].title: baseline.n_questions
        for baseline in result.baselines
        if baseline.n_questions < result.n_used
    }
    remarks += [f"{title}: {n:,} of them" for title, n in smaller_counts.items()]
    remarks += [
        f"N' = {size}: left out {count:,} of {result.n_draws[size] * result.n_used:,} draws of a question, "
        "in which no sample parses"
        for size, count in result.n_without_confidence.items()
        if count
    ]
    return [*remarks, *(f"no {METHODS[id_].title}: {why}" for id_, why in result.missing_baselines.items())]


def sizes_title(metric: str) -> str:
    """The title of the table of sizes."""
    return f"{METRICS[metric].title}, mean ± standard deviation over the draws"


def size_rows(result: SampleSizeSweep, metric: str) -> list[dict[str, object]]:
    """One row for each N'."""
    curves = {METHOD_SYMBOLS[method]: result.curve(method, metric) for method in result.mean_confidence}
    return [
        {
            "N'": size,
            **{name: _mean_and_sd(curve.mean[index], curve.std[index]) for name, curve in curves.items()},
            "Draws": result.n_draws[size],
        }
        for index, size in enumerate(result.sizes)
    ]


def _mean_and_sd(mean: float | None, std: float | None) -> str:
    return as_cell(format_number(mean) if std is None else f"{format_number(mean)} ± {std:.4f}")


def gaps_title(result: SampleSizeSweep) -> str:
    """The title of the table of paired differences."""
    tolerance = result.sufficient_sizes[0].tolerance
    return f"Difference in Brier score from N' = {result.reference_size} (tolerance ±{tolerance:g})"


def gap_rows(result: SampleSizeSweep) -> list[dict[str, object]]:
    """One row for each method and N': the paired difference to the largest N' that is not greyed."""
    return [
        {
            "Confidence method": METHOD_SYMBOLS[found.method],
            "N'": size,
            "Difference": as_cell(format_signed(difference.value)),
            "95 % interval": as_cell(format_interval(difference.low, difference.high, "+.4f")),
            "Enough": "yes" if difference.within_tolerance(found.tolerance) else "no",
        }
        for found in result.sufficient_sizes
        for size, difference in result.brier_differences[found.method].items()
    ]


def sampling_view(result: SampleSizeSweep) -> View:
    """The first metric over the number of samples."""
    metric = result.curves[0].metric
    return View(
        title=result.run,
        headline=result.headline,
        tiles=tuple(sampling_tiles(result)),
        recipes=(sampling_recipe(result, metric),),
        figures=(
            ViewFigure(
                lambda theme: sampling_figure(result, metric, theme),
                describe_sampling(result, metric),
                narrow=True,
            ),
        ),
        tables=(ViewTable.from_rows(sizes_title(metric), size_rows(result, metric)),),
        captions=text_lines(result.sufficiency_definition, SAMPLING_CAPTION),
        remarks=(*result.spread_caveats.values(), *result.unavailable.values()),
    )
