"""The verb `gate`: rules that break a pipeline."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from calib_core.cli import options as cli_options
from calib_core.cli.exit_codes import BROKEN, REFUSED
from calib_core.cli.gate_formats import gate_junit, gate_markdown
from calib_core.cli.input_files import FilesGroup, InputFiles
from calib_core.cli.option_groups import OptionGroup, takes_options
from calib_core.cli.rendering import ResultPrinter
from calib_core.cli.runner import CommandRequest, Runner
from calib_core.errors import Refused, Unavailable, shorten
from calib_core.metrics.accuracy import ACCURACY
from calib_core.readers import FORMATS
from calib_core.results.evidence import gather_evidence, get_metric
from calib_core.results.gate import (
    Measurement,
    Rule,
    RuleCheck,
    RuleKind,
    check_judge,
    comparison_checks,
    gate_summary,
    limit_checks,
    measure,
    not_checked,
)
from calib_core.results.judge import JUDGE_METRICS, judge_metric_title, judge_result
from calib_core.results.locked_threshold import (
    LockedThreshold,
    check_absent,
    check_locked,
    question_of,
    read_locked,
)
from calib_core.runs import Run
from calib_core.wording import join_names

if TYPE_CHECKING:  # as in json_output
    from calib_core.cli.json_elements import GateElement

OUTPUT_FORMATS: Final = ("text", "markdown", "junit", "json")


@dataclass(frozen=True, slots=True)
class _Rules:
    """What is checked: limits, the earlier predictions, and whether an interval has to be beyond a limit."""

    limits: Sequence[Rule]
    baseline: Path | None
    significant: bool
    of_judge: bool = False
    passing: Sequence[str] = ()
    lock: Path | None = None
    locked: Sequence[LockedThreshold] = ()


def _read_rules(  # noqa: PLR0913  one parameter an option
    *,
    maxima: cli_options.MaxOption = None,
    minima: cli_options.MinOption = None,
    min_rows: cli_options.MinRowsOption = None,
    baseline: cli_options.BaselineOption = None,
    worse_by: cli_options.WorseByOption = None,
    significant: cli_options.SignificantOption = False,
    of_judge: cli_options.JudgeRulesOption = False,
    passing: cli_options.PassingOption = None,
    lock: cli_options.LockedOption = None,
) -> _Rules:
    if of_judge and (baseline or worse_by or significant or lock):
        raise Refused(
            "--judge can be combined with --max, --min and --min-n only; its interval always decides."
        )
    if passing and not of_judge:
        raise Refused("--pass needs --judge.")
    limits = [
        *_metric_rules("max", maxima, of_judge=of_judge),
        *_metric_rules("min", minima, of_judge=of_judge),
        *([] if min_rows is None else [Rule("min-n", None, float(min_rows), of_judge)]),
        *_metric_rules("worse-by", worse_by),
    ]
    if baseline is None and worse_by:
        raise Refused("--worse-by needs --baseline FILE.")
    if not limits and baseline is None and lock is None:
        raise Refused("Give at least one rule: --max, --min, --min-n, --lock, or --baseline with --worse-by.")
    locked = () if lock is None else _read_lock(lock)
    return _Rules(limits, baseline, significant, of_judge, passing or (), lock, locked)


def _read_lock(path: Path) -> tuple[LockedThreshold, ...]:
    try:
        return read_locked(path.read_bytes(), path.name)
    except OSError as error:
        raise Refused(
            f"{path.name} cannot be read: {error.strerror}. Name a file that threshold --lock wrote."
        ) from None


@takes_options
def gate(
    *,
    as_json: cli_options.JsonOption = False,
    rules: Annotated[_Rules, OptionGroup(_read_rules)],
    format_id: cli_options.GateFormatOption = None,
    choice: cli_options.ChoiceGroup,
    scheme: cli_options.SchemeGroup,
    options: cli_options.MethodGroup,
    input_files: FilesGroup,
) -> int:
    """Check rules in a pipeline: metric limits, locked thresholds, no worse than a baseline.

    Exit code 0: every rule holds; 1: a rule is broken. A rule is checked for every usable method, or for
    those named by --method. A metric without a value breaks its rule. Exit code 2: a file cannot be used, or
    with --judge the labels are too few to decide.
    """
    output, file_format = _chosen_formats(format_id or (), as_json=as_json)
    input_files = replace(input_files, format=file_format)
    runner = Runner(choice.runs)
    if choice.metrics:
        runner.message("gate takes its metrics from the rules: --metric has no effect.")
    if rules.of_judge:
        checks = _judge_checks(runner, input_files, rules)
    else:
        metrics = [rule.metric for rule in rules.limits if rule.metric]
        request = CommandRequest.from_options(replace(choice, metrics=metrics), scheme, options)
        checks = _Measuring(runner, request).checks(input_files, rules)
    if any(check.held is False for check in checks):
        runner.exit_code = max(runner.exit_code, BROKEN)
    elif any(check.held is None for check in checks):
        runner.exit_code = max(runner.exit_code, REFUSED)
    if output == "text":
        ResultPrinter().print_gate(checks, gate_summary(checks, len(runner.refusals)))
    elif output != "json":
        write = gate_markdown if output == "markdown" else gate_junit
        sys.stdout.write(write(checks, runner.refusals))
        sys.stdout.flush()
    unusable = [
        not_checked(rule, file, "", reason)
        for file, reason in runner.unusable.items()
        for rule in rules.limits or (Rule("present"),)
    ]
    return runner.finish([gate_element(check) for check in (*checks, *unusable)], as_json=output == "json")


def _judge_checks(runner: Runner, input_files: InputFiles, rules: _Rules) -> list[RuleCheck]:
    """Every rule for the judge of every run."""
    checks: list[RuleCheck] = []
    for run in runner.runs(input_files, needs="judge"):
        try:
            result = judge_result(run, rules.passing)
        except Unavailable as reason:
            checks += [
                not_checked(rule, run.file, run.label, str(reason), n_total=run.n_total)
                for rule in rules.limits
            ]
        else:
            checks += [check for rule in rules.limits for check in check_judge(rule, run, result)]
    return checks


class _Measuring:
    """Computes what the rules need, of the files and of the baseline."""

    def __init__(self, runner: Runner, request: CommandRequest) -> None:
        self._runner, self._request = runner, request

    def checks(self, input_files: InputFiles, rules: _Rules) -> list[RuleCheck]:
        """Every rule for every run and method, run by run."""
        runs = list(self._runner.runs(input_files))
        checks: list[RuleCheck] = []
        measured_runs: dict[int, dict[tuple[str, str], Measurement]] = {}
        for run in runs:
            n_refused = len(self._runner.refusals)
            measured = measured_runs[id(run)] = self._measure(run, self._request.metrics)
            reason = "; ".join(self._runner.refusals[n_refused:])
            checks += limit_checks(run, rules.limits, measured, significant=rules.significant, reason=reason)
        checks += self._lock_checks(runs, rules)
        if rules.baseline is None:
            return checks
        earlier = replace(input_files, paths=(rules.baseline,))
        return checks + comparison_checks(
            runs,
            list(self._runner.runs(earlier)),
            rules.limits,
            measured_runs,
            lambda run, compared: self._measure(run, [rule.metric for rule in compared if rule.metric]),
            significant=rules.significant,
        )

    def _lock_checks(self, runs: Sequence[Run], rules: _Rules) -> Iterator[RuleCheck]:
        """Every locked threshold for each run of its question; one without a run was not checked."""
        for locked in rules.locked:
            named = [run for run in runs if question_of(run) == locked.question]
            of_model = [run for run in named if run.info.model == locked.model]
            if not named:
                yield check_absent(
                    locked, rules.lock.name if rules.lock else "", "no run in the files has this question"
                )
            for run in of_model or named:
                try:
                    evidence = gather_evidence(run, locked.method, self._request.options)
                except Unavailable as reason:
                    yield check_absent(locked, run.file, str(reason))
                else:
                    yield check_locked(locked, evidence)

    def _measure(self, run: Run, metrics: Sequence[str]) -> dict[tuple[str, str], Measurement]:
        """Method and metric → measurement; the accuracy where no metric is asked for."""
        wanted = tuple(dict.fromkeys(metrics)) or (ACCURACY.id,)
        request = replace(self._request, metrics=tuple(dict.fromkeys(metrics)))
        found = self._runner.results(run, request, wanted, measure)
        return {(one.evidence.method.id, one.metric): one for one in found}


def _metric_rules(kind: RuleKind, texts: Sequence[str] | None, *, of_judge: bool = False) -> list[Rule]:
    """Reads METRIC=X; raises Refused where it is something else."""
    rules: list[Rule] = []
    for text in texts or ():
        metric, _, number = text.partition("=")
        limit = _parse_number(number)
        example = "brier=.01" if kind == "worse-by" else "kappa=.6" if of_judge else "ece=.05"
        if not metric.strip() or limit is None or (kind == "worse-by" and limit < 0):
            least = " of 0 or more" if kind == "worse-by" else ""
            raise Refused(
                f"--{kind}: expected METRIC=NUMBER with a number{least}, such as {example}, "
                f"found {shorten(text)!r}."
            )
        rules.append(Rule(kind, metric.strip(), limit, of_judge))
        _check_in_range(rules[-1])
    return rules


def _check_in_range(rule: Rule) -> None:
    """Raises Refused for an unknown metric, and for a limit that every run or none would keep."""
    if rule.is_of_judge:
        _check_judge_rule(rule)
        return
    try:
        metric = get_metric(rule.metric or "")
    except Unavailable as reason:
        raise Refused(f"--{rule.kind}: {reason}") from None
    if rule.limit is None or rule.kind == "worse-by":
        return
    low, high = metric.low, metric.high
    if (low is None or rule.limit >= low) and (high is None or rule.limit <= high):
        return
    span = f"up to {high:g}" if low is None else f"from {low:g} {'on' if high is None else f'to {high:g}'}"
    raise Refused(
        f"--{rule.kind}: expected a limit of {metric.name} {span}, found {rule.limit:g}. "
        "Percentages are divided by 100: 5 % is 0.05."
    )


def _check_judge_rule(rule: Rule) -> None:
    """As `_check_in_range`, for a rule about a judge."""
    if rule.metric not in JUDGE_METRICS:
        known = join_names(JUDGE_METRICS)
        raise Refused(
            f"--{rule.kind}: a judge has no metric {shorten(rule.metric or '')!r}. Metrics: {known}."
        )
    low = -1 if rule.metric in ("kappa", "alpha") else 0
    if rule.metric != "bias" and rule.limit is not None and not low <= rule.limit <= 1:
        raise Refused(
            f"--{rule.kind}: expected a limit of {judge_metric_title(rule.metric)} from {low} to 1, found "
            f"{rule.limit:g}. Percentages are divided by 100: 5 % is 0.05."
        )


def _parse_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _chosen_formats(formats: Sequence[str], *, as_json: bool) -> tuple[str, str | None]:
    """The output format and the files' format; raises Refused where a name is neither, or two are given."""
    outputs = [name for name in formats if name in OUTPUT_FORMATS]
    inputs = [name for name in formats if name not in OUTPUT_FORMATS]
    if unknown := [name for name in inputs if name not in FORMATS]:
        known = ", ".join((*OUTPUT_FORMATS, *FORMATS))
        raise Refused(f"--format: expected one of {known}, found {shorten(unknown[0])!r}.")
    if len(inputs) > 1 or len({*outputs, *(["json"] if as_json else [])}) > 1:
        raise Refused("--format: give at most one output format and one file format.")
    return ("json" if as_json else outputs[0] if outputs else "text"), (inputs[0] if inputs else None)


def gate_element(check: RuleCheck) -> GateElement:
    """One rule for one run and method as JSON.

    Parameters
    ----------
    check : RuleCheck
    """
    return {
        "file": check.file,
        "rule": check.rule.text,
        "run": check.run,
        "method": check.method,
        "value": check.value,
        "limit": check.rule.limit,
        "interval": None if check.interval is None else list(check.interval),
        "held": check.held,
        "kind": check.rule.kind,
        "metric": check.rule.metric,
        "reason": check.reason,
        "n_used": check.n_used,
        "n_total": check.n_total,
    }
