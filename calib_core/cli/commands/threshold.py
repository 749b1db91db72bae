"""The verb `threshold`: from which confidence on may the model answer?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from calib_core.cli import options as cli_options
from calib_core.cli.input_files import FilesGroup
from calib_core.cli.json_output import JsonElement
from calib_core.cli.option_groups import OptionGroup, takes_options
from calib_core.cli.rendering import ResultPrinter, heading
from calib_core.cli.runner import CommandRequest, Runner
from calib_core.edges import Scheme
from calib_core.errors import Refused
from calib_core.metrics.accuracy import ACCURACY
from calib_core.readers.atomic_write import check_output_path, write_atomically
from calib_core.results.abstention import (
    GuaranteedThreshold,
    OperatingPoint,
    abstention_curve,
    guaranteed_threshold,
)
from calib_core.results.defaults import by_kind
from calib_core.results.evidence import Evidence
from calib_core.results.locked_threshold import LockedThreshold, lock, locked_method, write_locked
from calib_core.results.threshold_cost import ThresholdCost, threshold_cost
from calib_core.views.abstention import abstention_view, cost_view
from calib_core.wording import plural

if TYPE_CHECKING:  # as in json_output
    from calib_core.cli.json_elements import Missing, Threshold, ThresholdCosts, ThresholdElement


@dataclass(frozen=True, slots=True)
class _Target:
    """What a threshold has to reach, and the file that it is locked in."""

    accuracy: float
    confidence: float
    lock_file: Path | None

    def check_lock_file(self, inputs: Sequence[Path]) -> None:
        """Refuse a file that would overwrite an input."""
        if self.lock_file is not None:
            check_output_path(self.lock_file, inputs)

    def lock(self, locked: Sequence[LockedThreshold], runner: Runner) -> None:
        """Write the locked thresholds, unless something was refused."""
        if self.lock_file is not None and locked and not runner.exit_code:
            write_atomically(write_locked(locked), self.lock_file)
            runner.message(f"{plural(len(locked), 'threshold')} locked in {self.lock_file.name}.")


def _read_target(
    *,
    accuracy: cli_options.TargetAccuracyOption = 0.9,
    confidence: cli_options.ConfidenceLevelOption = 0.95,
    lock_file: cli_options.LockOption = None,
) -> _Target:
    for option, value in (("--accuracy", accuracy), ("--confidence", confidence)):
        if not 0 < value < 1:
            raise Refused(f"{option}: expected a number between 0 and 1, such as 0.9, found {value:g}.")
    return _Target(accuracy, confidence, lock_file)


@takes_options
def threshold(
    *,
    as_json: cli_options.JsonOption = False,
    target: Annotated[_Target, OptionGroup(_read_target)],
    costs: cli_options.ErrorCostsGroup,
    choice: cli_options.ChoiceGroup,
    binning: cli_options.BinningOption = "width",
    options: cli_options.MethodGroup,
    input_files: FilesGroup,
) -> int:
    """Find the confidence threshold at or above which answers are right often enough, with a guarantee.

    For a probability of yes, it is the one at or above which yes is true often enough.

    The threshold is the smallest one that passes tests in a fixed order. Beside it stands the empirical
    threshold, which only reaches the target on the rows it was chosen on. With --cost-wrong and
    --cost-handed-on, it says what believing the confidence costs. --lock writes one threshold per question.
    """
    runner, printer = Runner(choice.runs, warns=False), ResultPrinter()
    unused = {
        "--metric": bool(choice.metrics), "--labels": options.labels != "top", "--binning": binning != "width"
    }  # fmt: skip
    for option, is_given in unused.items():
        if is_given:
            runner.message(f"threshold uses individual confidences or probabilities: {option} has no effect.")
    request = CommandRequest.from_options(
        cli_options.Choice(methods=choice.methods), Scheme(), replace(options, labels="top")
    )

    def find(
        evidence: Evidence, _metric: str, _scheme: Scheme
    ) -> tuple[GuaranteedThreshold, ThresholdCost | None]:
        found = guaranteed_threshold(abstention_curve(evidence), target.accuracy, target.confidence)
        return found, None if costs is None else threshold_cost(evidence, costs)

    target.check_lock_file(input_files.paths)
    elements: list[JsonElement] = []
    locked: list[LockedThreshold] = []
    for run in runner.runs(input_files):
        found = runner.results(run, request, (ACCURACY.id,), find)
        elements += [threshold_element(run.file, *result) for result in found]
        kept = locked_method([one.curve.method for one, _ in found])
        locked += [lock(run, one) for one, _ in found if one.curve.method == kept]
        if not as_json:
            by_method = {one.curve.method: (one, cost) for one, cost in found}
            for kind in by_kind(by_method):
                (first, *others), priced = (
                    [by_method[id_][0] for id_ in kind],
                    [cost for id_ in kind if (cost := by_method[id_][1])],
                )
                printer.print_view(abstention_view(first, others), heading(run.file, first.curve.run))
                if priced:
                    printer.print_view(cost_view(priced, first.curve.run), "What a threshold costs")
    target.lock(locked, runner)
    return runner.finish(elements, as_json=as_json)


def threshold_element(
    file: str, found: GuaranteedThreshold, cost: ThresholdCost | None = None
) -> ThresholdElement:
    """The guaranteed and the empirical threshold as JSON; numbers are null where there is no threshold.

    Parameters
    ----------
    file : str
        Display name of the file.
    found : GuaranteedThreshold
    cost : ThresholdCost, optional
        What believing the confidence costs, where costs were given.
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
        "missing": cast("Missing | None", found.curve.missing and found.curve.missing.to_dict()),
        "costs": cost and _costs_element(cost),
    }


def _costs_element(cost: ThresholdCost) -> ThresholdCosts:
    row, price = cost.row(), cost.price
    return {
        "wrong": cost.costs.wrong,
        "handed_on": cost.costs.handed_on,
        "believed_threshold": cost.believed,
        "believed_answered": row["believed_share"],
        "believed_cost": cost.believed_cost,
        "cheapest_threshold": row["cheapest"],
        "cheapest_answered": row["cheapest_share"],
        "cheapest_cost": row["cheapest_cost"],
        "price": price and price.value,
        "interval": None if price is None else [price.low, price.high],
        "recipe": cost.recipe,
    }


def _point_element(point: OperatingPoint | None, low: float | None) -> Threshold:
    return {
        "threshold": point and point.threshold,
        "answered": point and point.coverage,
        "accuracy": point and point.accuracy,
        "accuracy_low": low,
        "n_answered": point and point.n_answered,
    }
