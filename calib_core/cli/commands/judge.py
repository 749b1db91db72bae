"""The verb `judge`: may a judge's labels be believed, by people's labels of some of the rows?"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from calib_core.cli import options as cli_options
from calib_core.cli.input_files import FilesGroup
from calib_core.cli.json_output import JsonElement
from calib_core.cli.option_groups import takes_options
from calib_core.cli.rendering import ResultPrinter, heading
from calib_core.cli.runner import Runner
from calib_core.errors import Refused, Unavailable, shorten
from calib_core.results.judge import JUDGE_METRICS, JudgeResult, judge_result
from calib_core.views.judge import judge_view
from calib_core.wording import join_names

if TYPE_CHECKING:  # as in json_output
    from calib_core.cli.json_elements import JudgeElement


@takes_options
def judge(
    *,
    as_json: cli_options.JsonOption = False,
    metrics: cli_options.JudgeMetricOption = None,
    by: cli_options.GroupColumnOption = None,
    passing: cli_options.PassingOption = None,
    labels_name: cli_options.LabelsNameOption = None,
    runs: cli_options.RunOption = None,
    input_files: FilesGroup,
) -> int:
    """Compare a judge's labels with people's, and estimate how many answers truly pass.

    Needs a column `judge` with a label in each row, and a column `human`, or several `human.NAME`, with
    people's labels of some rows.
    """
    for metric in metrics or ():
        if metric not in JUDGE_METRICS:
            raise Refused(
                f"--metric: a judge has no metric {shorten(metric)!r}. Metrics: {join_names(JUDGE_METRICS)}."
            )
    runner, printer = Runner(runs), ResultPrinter()
    elements: list[JsonElement] = []
    for run in runner.runs(input_files, needs="judge"):
        try:
            result = judge_result(run, passing or (), by, labels_name)
        except Unavailable as reason:
            runner.refuse(f"{run.file}, {run.label}: {reason}")
            continue
        _say_what_is_missing(runner, result, metrics or [])
        elements += [
            judge_element(run.file, run.n_total, each) for each in result.numbers(metrics or JUDGE_METRICS)
        ]
        if not as_json:
            printer.print_view(judge_view(result, metrics or JUDGE_METRICS), heading(run.file, run.label))
    return runner.finish(elements, as_json=as_json)


def _say_what_is_missing(runner: Runner, result: JudgeResult, asked: list[str]) -> None:
    """Refuses what was asked for by name and is not there; of the rest says what a person could change."""
    where = f"{result.labels.file}, {result.labels.run}"
    for metric in asked:
        if metric in result.missing:
            runner.refuse(f"{where}: {metric} cannot be computed: {result.missing[metric]}.")
    if not asked and result.labels.passes is None and "sensitivity" in result.missing:
        runner.message(f"{where}: {result.missing['sensitivity']}.")
    for reason in result.left_out:
        runner.message(f"{where}: {reason}")


def judge_element(file: str, n_total: int, number: dict[str, object]) -> JudgeElement:
    """A number of `JudgeResult.numbers` as JSON."""
    interval = cast("tuple[float, float] | None", number["interval"])
    listed = None if interval is None else list(interval)
    return cast("JudgeElement", {"file": file, **number, "n_total": n_total, "interval": listed})
