"""Which model is both accurate and honest?  The verb `compare`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from calib_core.cli.input_files import InputFiles
from calib_core.cli.json_output import JsonElement
from calib_core.cli.options import (
    BinningOption,
    BinsOption,
    ColumnMappingOption,
    FilesArgument,
    FormatOption,
    GoldOption,
    JsonOption,
    LabelsOption,
    MethodOption,
    MetricOption,
    RenormaliseOption,
    SkipBadRowsOption,
    TogetherOption,
    UnparseableOption,
)
from calib_core.cli.rendering import ResultPrinter
from calib_core.cli.runner import CommandRequest, Runner
from calib_core.edges import Scheme
from calib_core.methods.method import MethodOptions
from calib_core.pairs import Labels
from calib_core.results.comparison import (
    BASE_METRICS,
    ComparisonPoint,
    MetricEstimate,
    compare_runs,
    estimate_metric,
)
from calib_core.results.evidence import Evidence
from calib_core.runs import Run


def compare(  # noqa: PLR0913  one parameter an option
    files: FilesArgument,
    *,
    as_json: JsonOption = False,
    methods: MethodOption = None,
    metrics: MetricOption = None,
    n_bins: BinsOption = 10,
    binning: BinningOption = "width",
    labels: LabelsOption = "top",
    renormalise: RenormaliseOption = None,
    unparseable: UnparseableOption = "own",
    skip_bad_rows: SkipBadRowsOption = False,
    format_id: FormatOption = None,
    column_mappings: ColumnMappingOption = None,
    gold: GoldOption = None,
    together: TogetherOption = False,
) -> int:
    """Which model is both accurate and honest? Accuracy against Brier score, one point a run and method.

    Skill is 1 − Brier/(a(1−a)), a being the accuracy: above 0 the confidence tells right from wrong. Metrics
    named with --metric stand beside them. All are of the top label.
    """
    source = InputFiles.from_options(
        files, format_id, column_mappings, skip_bad_rows=skip_bad_rows, gold=gold
    )
    wish = CommandRequest.from_options(
        methods, metrics, Scheme(binning, n_bins), MethodOptions(renormalise, "top", unparseable)
    )
    desk = _top_label_runner(labels)
    asked = (*BASE_METRICS, *(metric for metric in wish.metrics if metric not in BASE_METRICS))
    seen, numbers = _measure_runs(desk, desk.runs(source, together=together), wish, asked)
    store = {(id(seen[key][1]), metric): number for (key, metric), number in numbers.items()}
    result = compare_runs(
        {key: seen[key][1] for key in seen if all((key, metric) in numbers for metric in BASE_METRICS)},
        titles=_run_titles({key: run for key, (run, _) in seen.items()}),
        estimator=lambda evidence, metric, _scheme: store[id(evidence), metric],
    )
    if result.points and not as_json:
        ResultPrinter().print_comparison(result)
    elements: list[JsonElement] = []
    for point in result.points:
        more = [numbers[point.key, metric] for metric in asked[2:] if (point.key, metric) in numbers]
        elements.append(compare_element(seen[point.key][0], point, more))
    return desk.finish(elements, as_json=as_json)


def _top_label_runner(labels: Labels) -> Runner:
    desk = Runner()
    if labels != "top":
        desk.message("compare is of the top label: --labels changes nothing.")
    return desk


def _measure_runs(
    runner: Runner, runs: Iterable[Run], request: CommandRequest, metrics: Sequence[str]
) -> tuple[dict[str, tuple[Run, Evidence]], dict[tuple[str, str], MetricEstimate]]:
    """Each run seen by each method, by key, and its numbers by key and metric; what cannot be had is told."""
    seen: dict[str, tuple[Run, Evidence]] = {}
    numbers: dict[tuple[str, str], MetricEstimate] = {}
    for at, run in enumerate(runs):
        for evidence, number in runner.results(run, request, metrics, _evidence_and_measured):
            key = f"{at}:{evidence.method.id}"
            seen[key] = (run, evidence)
            numbers[key, number.metric] = number
    return seen, numbers


def compare_element(run: Run, point: ComparisonPoint, requested: Sequence[MetricEstimate]) -> JsonElement:
    """One point. metrics: those asked for by name, each with its interval, null ends where there is none."""
    return {
        "file": run.file,
        "run": run.label,
        "method": point.method,
        "accuracy": point.accuracy.value,
        "accuracy_low": point.accuracy.low,
        "accuracy_high": point.accuracy.high,
        "brier": point.brier.value,
        "brier_low": point.brier.low,
        "brier_high": point.brier.high,
        "skill": point.brier_skill,
        "n_used": point.n_used,
        "n_total": point.n_total,
        "judged": point.judged,
        "metrics": {one.metric: {"value": one.value, "low": one.low, "high": one.high} for one in requested},
        "recipe": point.recipe,
    }


def _evidence_and_measured(
    evidence: Evidence, metric_id: str, scheme: Scheme
) -> tuple[Evidence, MetricEstimate]:
    return evidence, estimate_metric(evidence, metric_id, scheme)


def _run_titles(runs: Mapping[str, Run]) -> dict[str, str]:
    """The label of each run, with its file where another file has a run of the same label."""
    files = {(run.file, run.label) for run in runs.values()}
    alike = Counter(label for _, label in files)
    return {
        key: run.label if alike[run.label] == 1 else f"{run.label} ({run.file})" for key, run in runs.items()
    }
