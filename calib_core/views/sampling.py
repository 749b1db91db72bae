"""The page Sampling: how many samples are enough, for each run with samples, and one worked example."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import polars as pl

from calib_core.errors import Unavailable
from calib_core.figures.question_clusters import describe_question_clusters, question_clusters_figure
from calib_core.figures.sampling import describe_sampling, sampling_figure
from calib_core.inference.missingness import ROWS_WITH_ONE, missing_caveat
from calib_core.methods import METHODS
from calib_core.methods.answers.subsample import sample_matrix
from calib_core.methods.method import MethodOptions
from calib_core.metrics import METRICS
from calib_core.metrics.brier import BRIER
from calib_core.results.columns import Column
from calib_core.results.question_clusters import (
    CLUSTER_COLUMNS,
    QuestionClusters,
    question_clusters,
    sampled_question_titles,
    typical_question,
)
from calib_core.results.sampling import (
    DEFAULT_METRICS,
    SAMPLING_COLUMNS,
    SampleSizeSweep,
    SamplingPlan,
    sample_size_sweep,
)
from calib_core.runs import AnswerRun
from calib_core.views.inputs import ReportInput, ReportRun
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
    reasons_by_title,
    text_lines,
    varying_columns,
)
from calib_core.wording import definite, join_names

ID, TITLE, QUESTION = "sampling", "Sampling", "How many samples are enough?"

SAMPLED_METHOD: Final = "cluster_size"
"""Runs that support this method have samples."""

NO_SAMPLES: Final = (
    "No run here has several sampled answers per question. The columns samples, samples_parsed or, for open "
    "text, sample_cluster hold them, one list per row; see the file formats."
)
EXAMPLE_TITLE: Final = "One question, worked out"
USED_QUESTIONS: Final = (
    "Those with as many samples as the largest N', all of them judged: every N' uses the same questions."
)
ENOUGH_HELP: Final = (
    "The smallest N' whose Brier score is practically that of the largest N' not greyed: the 95 % interval "
    "of the paired difference (mean over the repeats, bootstrap over the questions) lies inside the chosen ±."
)
HOW_TO_READ: Final = (
    "Shaded band: ±1 standard deviation over the draws, not an interval over questions. Grey: the subsets "
    "overlap."
)


_YES_OR_NO: Final = {True: "yes", False: "no"}


def sampled_runs(report_input: ReportInput) -> list[ReportRun]:
    """The runs with several samples for each question."""
    return [run for run in report_input.answer_runs if SAMPLED_METHOD in run.usable]


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Build the curves of every run with samples; raises Unavailable if there is none."""
    runs = sampled_runs(report_input)
    if not runs:
        raise Unavailable(NO_SAMPLES)
    views: list[View] = []
    refused: list[str] = []
    for index, run in enumerate(runs):

        def run_progress(share: float, text: str, index: int = index, run: ReportRun = run) -> None:
            progress((index + min(share, 1.0)) / len(runs), f"{run.title}: {text}")

        try:
            views += _run_views(report_input, run, run_progress, with_example=not views)
        except Unavailable as reason:
            refused.append(f"{run.title}: {reason}")
    if not views:
        raise Unavailable(refused[0])
    return Section(ID, TITLE, QUESTION, (*views, *not_drawn_views(refused)))


def _run_views(
    report_input: ReportInput, run: ReportRun, progress: ProgressCallback, *, with_example: bool
) -> list[View]:
    answer_run = run.report.run
    if not isinstance(answer_run, AnswerRun):
        return []
    options = MethodOptions(unparseable=report_input.settings.options.unparseable)
    metrics = metrics_beside_brier(
        next((id_ for id_ in report_input.settings.metrics if id_ in DEFAULT_METRICS), DEFAULT_METRICS[0])
    )
    result = sample_size_sweep(answer_run, SamplingPlan(metrics=metrics), options, progress=progress)
    views = [sampling_view(result, metrics, title=run.title)]
    return [*views, _example_view(answer_run, options)] if with_example else views


def metrics_beside_brier(metric: str) -> tuple[str, ...]:
    """The metric, and the Brier score, by which sizes are compared; others are computed only on request."""
    return tuple(dict.fromkeys((metric, BRIER.id)))


def _example_view(answer_run: AnswerRun, options: MethodOptions) -> View:
    """A question of average agreement."""
    samples = sample_matrix(answer_run, options)
    rows, titles = sampled_question_titles(answer_run, samples)
    index = typical_question(samples, rows)
    result = question_clusters(answer_run, samples, rows[index], options.unparseable)
    return question_view(result, title=f"{EXAMPLE_TITLE}: {titles[index]}")


def sampling_view(
    result: SampleSizeSweep,
    metrics: Sequence[str] = (),
    *,
    title: str = "",
    in_full: Callable[[], pl.DataFrame] | None = None,
) -> View:
    """Metrics over the number of samples, and how many are enough.

    Parameters
    ----------
    result : SampleSizeSweep
    metrics : sequence of str
        Ids of those in the table, the first of which is drawn; the first of the result where omitted.
    title : str
        The run's title; its label where omitted.
    in_full : Callable, optional
        Returns what goes into files, such as further metrics; the result's own table where omitted.
    """
    metrics = metrics or (result.curves[0].metric,)
    metric, title = metrics[0], title or result.run
    recipes = tuple(sampling_recipe(result, id_) for id_ in metrics)
    numbers = Numbers(
        in_full or result.to_frame, "\n".join(recipes), (metric, "n", *result.sizes, "seed", result.seed)
    )
    return View(
        title=title,
        headline=result.headline,
        caveat=missing_caveat([("", result.missing)], ROWS_WITH_ONE),
        recipes=recipes,
        figures=(
            ViewFigure(
                lambda theme: sampling_figure(result, metric, theme),
                describe_sampling(result, metric),
                "Over the number of samples",
                id="sampling",
                numbers=numbers,
            ),
        ),
        tables=(_size_table(result, metrics, numbers),),
        how_to_read=HOW_TO_READ,
        facts=_facts(result),
        left_out=(
            *result.unavailable.values(),
            *reasons_by_title({METHODS[id_].heading: why for id_, why in result.missing_baselines.items()}),
        ),
        subject=f"{title}, {METRICS[metric].title}",
        name=(title, *file_parts(result.mean_confidence, "methods")),
    )


def _size_table(result: SampleSizeSweep, metrics: Sequence[str], numbers: Numbers) -> ViewTable:
    """A row for each method, metric and N', and for each baseline; differences beside the Brier score."""
    is_compared = pl.col("metric") == (BRIER.id if BRIER.id in metrics else metrics[0])
    is_enough = (pl.col("gap_low") >= -pl.col("within")) & (pl.col("gap_high") <= pl.col("within"))
    frame = (
        result.to_frame()
        .filter(pl.col("metric").is_in(metrics))
        .with_columns(pl.when(is_compared).then(pl.col("gap", "gap_low", "gap_high")))
        .with_columns(is_enough=is_enough.replace_strict(_YES_OR_NO, default=None, return_dtype=pl.String))
    )
    columns = varying_columns(
        (*SAMPLING_COLUMNS, Column("is_enough", "Enough", help=ENOUGH_HELP)), frame, "metric"
    )
    if len(metrics) == 1:
        title = METRICS[metrics[0]].title
        columns = tuple(replace(one, title=title) if one.name == "mean" else one for one in columns)
    return ViewTable(
        "By number of samples",
        frame,
        columns,
        note=" ".join(text_lines(result.sufficiency_definition, *result.spread_caveats.values())),
        id="sizes_table",
        numbers=numbers,
    )


def _facts(result: SampleSizeSweep) -> tuple[Fact, ...]:
    """What each method is, which answers are judged, and which draws have no confidence."""
    return (
        Fact("Methods", " ".join(METHODS[id_].meaning for id_ in result.mean_confidence)),
        Fact("Right or wrong", f"Scored on {definite(result.judged)} of the drawn samples."),
        Fact("Questions", USED_QUESTIONS),
        *_baseline_facts(result),
        *(
            Fact(
                f"N' = {size}",
                f"{count:,} of {result.n_draws[size] * result.n_used:,} draws of a question are left out, as "
                "no sample parses.",
            )
            for size, count in result.n_without_confidence.items()
            if count
        ),
    )


def _baseline_facts(result: SampleSizeSweep) -> list[Fact]:
    if not result.baselines:
        return []
    answers = join_names(list(dict.fromkeys(definite(baseline.judged) for baseline in result.baselines)))
    fewer = {
        METHODS[
            baseline.method
        ].title: f"; {METHODS[baseline.method].title}: {baseline.n_questions:,} of them"
        for baseline in result.baselines
        if baseline.n_questions < result.n_used
    }
    text = f"Dashed lines, scored on {answers}, on the same questions{''.join(fewer.values())}."
    return [Fact("Without samples", text)]


def question_view(result: QuestionClusters, *, title: str, run: str = "") -> View:
    """The clusters of equal answers to one question, and the derivation of each confidence.

    Parameters
    ----------
    result : QuestionClusters
    title : str
    run : str
        The run's title; its label where omitted.
    """
    derivation = (result.sizes_text, *result.derivations.values())
    numbers = Numbers(result.to_frame, "\n".join(derivation))
    is_right = pl.col("right").replace_strict({True: "right", False: "wrong"}, return_dtype=pl.String)
    frame = result.to_frame().with_columns(is_right)
    return View(
        title=title,
        headline=result.headline + ("" if result.gold is None else f" The right answer is {result.gold}."),
        recipes=derivation,
        figures=(
            ViewFigure(
                lambda theme: question_clusters_figure(result, theme),
                describe_question_clusters(result),
                "Sampled answers",
                narrow=True,
                id="clusters",
                numbers=numbers,
            ),
        ),
        tables=(ViewTable("", frame, CLUSTER_COLUMNS, id="cluster_rows", numbers=numbers),),
        subject=f"{run or result.run}, {result.title}",
        name=(run or result.run, "row", result.row, "clusters"),
    )


def sampling_recipe(result: SampleSizeSweep, metric: str) -> str:
    """How the curves of all methods were computed."""
    return result.curve(next(iter(result.mean_confidence)), metric).recipe.replace(", F_CN, ", ", ", 1)
