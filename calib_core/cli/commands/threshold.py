"""The verb `threshold`: from which confidence on may the model answer?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from calib_core.cli.input_files import InputFiles, takes_files
from calib_core.cli.json_output import JsonElement
from calib_core.cli.options import (
    BinningOption,
    ConfidenceLevelOption,
    HeldOutOption,
    JsonOption,
    LabelsOption,
    MethodOption,
    MetricOption,
    RenormaliseOption,
    RunOption,
    TargetAccuracyOption,
    UnparseableOption,
)
from calib_core.cli.rendering import ResultPrinter, heading
from calib_core.cli.runner import CommandRequest, Runner
from calib_core.edges import Scheme
from calib_core.errors import Refused
from calib_core.methods.method import MethodOptions
from calib_core.metrics.accuracy import ACCURACY
from calib_core.pairs import Labels
from calib_core.results.abstention import (
    GuaranteedThreshold,
    OperatingPoint,
    abstention_curve,
    guaranteed_threshold,
)
from calib_core.results.evidence import Evidence
from calib_core.views.abstention import abstention_view

if TYPE_CHECKING:  # as in json_output
    from calib_core.cli.json_elements import Threshold, ThresholdElement


@takes_files
def threshold(  # noqa: PLR0913  one parameter an option
    input_files: InputFiles,
    *,
    as_json: JsonOption = False,
    accuracy: TargetAccuracyOption = 0.9,
    confidence: ConfidenceLevelOption = 0.95,
    run_labels: RunOption = None,
    methods: MethodOption = None,
    metrics: MetricOption = None,
    binning: BinningOption = "width",
    labels: LabelsOption = "top",
    renormalise: RenormaliseOption = None,
    unparseable: UnparseableOption = "own",
    held_out: HeldOutOption = False,
) -> int:
    """Find the confidence from which on answers are right often enough, with a guarantee.

    The threshold is the smallest one that passes tests in a fixed order. Beside it stands the empirical
    threshold, which only reaches the target on the rows it was chosen on.
    """
    for option, value in (("--accuracy", accuracy), ("--confidence", confidence)):
        if not 0 < value < 1:
            raise Refused(f"{option}: expected a number between 0 and 1, such as 0.9, found {value:g}.")
    runner, printer = Runner(run_labels, warns=False), ResultPrinter()
    _tell_unused_options(runner, metrics, labels, binning)
    request = CommandRequest.from_options(
        methods, None, Scheme(), MethodOptions(renormalise, "top", unparseable, held_out=held_out)
    )
    find = partial(_find_threshold, accuracy, confidence)
    elements: list[JsonElement] = []
    for run in runner.runs(input_files):
        found = runner.results(run, request, (ACCURACY.id,), find)
        elements += [threshold_element(run.file, result) for result in found]
        if found and not as_json:
            printer.print_view(abstention_view(found[0], found[1:]), heading(run.file, found[0].curve.run))
    return runner.finish(elements, as_json=as_json)


def _find_threshold(
    accuracy: float, confidence: float, evidence: Evidence, _metric: str, _scheme: Scheme
) -> GuaranteedThreshold:
    return guaranteed_threshold(abstention_curve(evidence), accuracy, confidence)


def _tell_unused_options(runner: Runner, metrics: Sequence[str] | None, labels: Labels, binning: str) -> None:
    unused = {"--metric": bool(metrics), "--labels": labels != "top", "--binning": binning != "width"}
    for option, is_given in unused.items():
        if is_given:
            runner.message(f"threshold uses the accuracy by single confidences: {option} has no effect.")


def threshold_element(file: str, found: GuaranteedThreshold) -> ThresholdElement:
    """The guaranteed and the empirical threshold as JSON; numbers are null where there is no threshold.

    Parameters
    ----------
    file : str
        Display name of the file.
    found : GuaranteedThreshold
    """
    empirical = found.empirical
    return {
        "file": file,
        "run": found.curve.run,
        "method": found.curve.method,
        **_point_element(found.point, found.accuracy_low),
        "guaranteed": found.point is not None,
        "reason": found.reason,
        "empirical": None if empirical is None else _point_element(empirical, found.empirical_low),
        "target_accuracy": found.target_accuracy,
        "confidence": found.confidence,
        "n_used": found.curve.n_used,
        "n_total": found.curve.n_total,
        "judged": found.curve.judged,
        "recipe": found.recipe,
        "remarks": list(found.curve.remarks),
    }


def _point_element(point: OperatingPoint | None, low: float | None) -> Threshold:
    return {
        "threshold": point and point.threshold,
        "answered": point and point.coverage,
        "accuracy": point and point.accuracy,
        "accuracy_low": low,
        "n_answered": point and point.n_answered,
    }
