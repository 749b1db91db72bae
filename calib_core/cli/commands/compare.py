"""The verb `compare`: accuracy against Brier score, one point for each run and method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from calib_core.cli import options as cli_options
from calib_core.cli.input_files import FilesGroup
from calib_core.cli.json_output import JsonElement
from calib_core.cli.option_groups import takes_options
from calib_core.cli.rendering import ResultPrinter
from calib_core.cli.runner import CommandRequest, Runner
from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.metrics import METRICS
from calib_core.metrics.accuracy import ACCURACY
from calib_core.results.best import RANKED_FOR, compare_pairs, paired_recipe
from calib_core.results.comparison import (
    BASE_METRICS,
    Comparison,
    ComparisonPoint,
    MetricEstimate,
    compare_runs,
    estimate_metric,
    of_one_kind,
)
from calib_core.results.evidence import Evidence, kind_of
from calib_core.results.judged_answer import JudgedChoice, judged_by
from calib_core.results.recipe import joint_rows_text
from calib_core.runs import Run
from calib_core.views.comparison import comparison_view
from calib_core.wording import as_clause

if TYPE_CHECKING:  # as in json_output
    from calib_core.cli.json_elements import CompareElement, Missing, PairElement, Side

GATE_ADVICE: Final = (
    "The interval of one such difference: calib gate FILE --baseline OTHER --worse-by METRIC=0 --significant"
)


@takes_options
def compare(
    *,
    as_json: cli_options.JsonOption = False,
    choice: cli_options.ChoiceGroup,
    scheme: cli_options.SchemeGroup,
    options: cli_options.MethodGroup,
    judged: cli_options.JudgedOption = "own",
    pairs: cli_options.PairsOption = False,
    input_files: FilesGroup,
) -> int:
    """Compare accuracy and Brier score, one line per run and method.

    Skill is 1 − Brier/(a(1−a)), a being the accuracy: above 0 the confidence tells right from wrong. Metrics
    named with --metric are added. All use the top label.

    For a probability of yes, AUROC takes the place of accuracy, as a high share of yes is not a merit, and
    the best are by Brier score. Runs of the two kinds are not compared with each other.

    Best: all that cannot be told apart from the best on common questions (paired t, Holm over all
    pairs). --pairs prints these differences, by skill, accuracy and Brier score, or --metric.
    """
    request = CommandRequest.from_options(choice, scheme, replace(options, labels="top"))
    runner = Runner(choice.runs)
    if options.labels != "top":
        runner.message("compare uses the top label: --labels has no effect.")
    runs = runner.runs(input_files)
    if pairs:
        return _print_pairs(runner, runs, request, judged, as_json=as_json)
    metric_ids = (*BASE_METRICS, *(metric for metric in request.metrics if metric not in BASE_METRICS))
    evidences, estimates = _measure_runs(runner, runs, request, metric_ids, _estimator_judged_by(judged))
    estimate_of = {
        (id(evidences[key][1].run), evidences[key][1].method.id, metric): estimate
        for (key, metric), estimate in estimates.items()
    }
    result = compare_runs(
        {
            key: evidences[key][1]
            for key in evidences
            if all((key, metric) in estimates for metric in BASE_METRICS)
        },
        titles=_run_titles({key: run for key, (run, _) in evidences.items()}),
        judged_choice=judged,
        estimator=lambda evidence, metric, scheme: (
            estimate_of.get((id(evidence.run), evidence.method.id, metric))
            or estimate_metric(evidence, metric, scheme)
        ),
    )
    if result.points and not as_json:
        x, y = (METRICS[id_].worded(result.terms).title for id_ in (result.x, result.y))
        reasons = {
            f"{run.label} by “{evidence.method.title}”": result.unavailable[key]
            for key, (run, evidence) in evidences.items()
            if key in result.unavailable
        }
        ResultPrinter().print_view(comparison_view(result, left_out=reasons), f"{x} against {y}")
    elements: list[JsonElement] = []
    for point in result.points:
        requested = [
            estimates[point.key, metric] for metric in metric_ids[2:] if (point.key, metric) in estimates
        ]
        elements.append(compare_element(evidences[point.key][0], point, requested, result))
    return runner.finish(elements, as_json=as_json)


def _measure_runs(
    runner: Runner,
    runs: Iterable[Run],
    request: CommandRequest,
    metrics: Sequence[str],
    measure: Callable[[Evidence, str, Scheme], tuple[Evidence, MetricEstimate]],
) -> tuple[dict[str, tuple[Run, Evidence]], dict[tuple[str, str], MetricEstimate]]:
    """Returns run and evidence by key, and estimates by key and metric; prints what is missing."""
    evidences: dict[str, tuple[Run, Evidence]] = {}
    estimates: dict[tuple[str, str], MetricEstimate] = {}
    for index, run in enumerate(runs):
        for evidence, estimate in runner.results(run, request, metrics, measure):
            key = f"{index}:{evidence.method.id}"
            evidences[key] = (run, evidence)
            estimates[key, estimate.metric] = estimate
    return evidences, estimates


def _print_pairs(
    runner: Runner,
    runs: Iterable[Run],
    request: CommandRequest,
    judged: JudgedChoice,
    *,
    as_json: bool,
) -> int:
    """Prints every pair of runs and methods; refuses a metric whose differences cannot be tested."""
    measured, _ = _measure_runs(runner, runs, request, (ACCURACY.id,), _estimator_judged_by(judged))
    kept, left_out = of_one_kind({key: evidence for key, (_, evidence) in measured.items()})
    evidences = {key: judged_by(evidence, judged) for key, evidence in kept.items()}
    run_of = {key: run for key, (run, _) in measured.items() if key in kept}
    metrics = request.metrics or RANKED_FOR[kind_of(kept.values())]
    for key, reason in left_out.items():
        run, evidence = measured[key]
        runner.message(f"{run.label}, {evidence.method.id}: {as_clause(reason)}.")
    try:
        comparison = compare_pairs(evidences, metrics)
    except Unavailable as reason:
        raise Unavailable(f"{reason} {GATE_ADVICE}") from None
    titles = _run_titles(run_of)
    names = {key: f"{titles[key]}, {evidence.method.id}" for key, evidence in evidences.items()}
    are_paired = any(comparison.pairs.values())
    say = runner.message if are_paired else runner.refuse
    for (first, second), reason in comparison.unpaired.items():
        say(f"{names[first]} and {names[second]} cannot be compared: {as_clause(reason)}.")
    sides: dict[str, Side] = {
        key: {"file": run.file, "run": run.label, "method": evidences[key].method.id}
        for key, run in run_of.items()
    }
    elements: list[PairElement] = [
        {
            "metric": metric,
            "a": sides[pair.first],
            "b": sides[pair.second],
            "difference": pair.test.difference,
            "interval": [pair.test.low, pair.test.high],
            "p": pair.test.p,
            "p_holm": pair.p_holm,
            "n_common": pair.test.n_rows,
            "clusters": pair.test.n_clusters,
        }
        for metric, pairs in comparison.pairs.items()
        for pair in pairs
    ]
    if not as_json and (are_paired or not comparison.unpaired):
        rows = joint_rows_text(evidences.values())
        recipes = {
            metric: ", ".join(filter(None, (paired_recipe(comparison, metric), rows))) for metric in metrics
        }
        ResultPrinter().print_pairs(comparison, names, recipes)
    return runner.finish(elements, as_json=as_json)


def compare_element(
    run: Run, point: ComparisonPoint, requested: Sequence[MetricEstimate], result: Comparison
) -> CompareElement:
    """One point of the comparison as JSON.

    Parameters
    ----------
    run : Run
        The run of the point.
    point : ComparisonPoint
        Accuracy, Brier score and skill of the run by one method.
    requested : Sequence[MetricEstimate]
        Metrics named with --metric; the ends of an interval are null where there is none.
    result : Comparison
        Of all points: it says by which metrics no other point of the data set is clearly better; `best` is by
        the first of those that rank, the skill.
    """
    best_by = result.best_by[point.key]
    return {
        "file": run.file,
        "run": run.label,
        "method": point.method,
        "accuracy": point.accuracy.value,
        "accuracy_low": point.accuracy.low,
        "accuracy_high": point.accuracy.high,
        "accuracy_of_all": point.accuracy_of_all.value,
        "accuracy_of_all_low": point.accuracy_of_all.low,
        "accuracy_of_all_high": point.accuracy_of_all.high,
        "brier": point.brier.value,
        "brier_low": point.brier.low,
        "brier_high": point.brier.high,
        "skill": point.brier_skill,
        "best": next(iter(result.paired.pairs)) in best_by,
        "best_by": list(best_by),
        "n_used": point.n_used,
        "n_total": point.n_total,
        "judged": point.judged,
        "metrics": {
            estimate.metric: {"value": estimate.value, "low": estimate.low, "high": estimate.high}
            for estimate in requested
        },
        "recipe": point.recipe,
        "missing": cast("Missing | None", point.missing and point.missing.to_dict()),
    }


def _estimator_judged_by(
    judged: JudgedChoice,
) -> Callable[[Evidence, str, Scheme], tuple[Evidence, MetricEstimate]]:
    """A function that returns the evidence as it is, and a metric of it as judged by the chosen answer."""
    return lambda evidence, metric_id, scheme: (
        evidence,
        estimate_metric(judged_by(evidence, judged), metric_id, scheme),
    )


def _run_titles(runs: Mapping[str, Run]) -> dict[str, str]:
    """The label of each run, followed by its file where a run of another file has the same label."""
    distinct_runs = {(run.file, run.label) for run in runs.values()}
    label_counts = Counter(label for _, label in distinct_runs)
    return {
        key: run.label if label_counts[run.label] == 1 else f"{run.label} ({run.file})"
        for key, run in runs.items()
    }
