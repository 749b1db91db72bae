"""Rules that runs have to satisfy before a pipeline goes on: limits, and no worse than a baseline."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from calib_core.edges import Scheme
from calib_core.errors import Unavailable, shorten
from calib_core.inference.intervals import unpaired_difference_interval
from calib_core.inference.missingness import missing_caveat
from calib_core.inference.paired_test import MIN_COMMON_QUESTIONS
from calib_core.metrics.accuracy import ACCURACY
from calib_core.metrics.metric import Direction
from calib_core.results.evidence import AnswerEvidence, Evidence, get_metric
from calib_core.results.judge import JudgeResult, judge_metric_title
from calib_core.results.score import score
from calib_core.results.uncertainty import metric_interval, paired_difference
from calib_core.runs import Run
from calib_core.terms import EVENT_TERMS
from calib_core.wording import (
    ROUNDING_TOLERANCE,
    as_clause,
    format_number,
    format_short,
    p_value_phrase,
    plural,
)

RuleKind = Literal["max", "min", "min-n", "worse-by", "present", "lock"]
"""A metric at most or at least a limit; enough rows; a metric not much worse than in the baseline; a run of
the baseline that is in the files, too; a locked threshold that new answers do not contradict."""

MAX_LABELS_ADVISED: Final = 100_000
"""Labels beyond which it is of no use to say how many would decide."""

_SIGNS: Final[Mapping[RuleKind, str]] = {"max": "≤", "min": "≥", "min-n": "≥", "lock": "≥"}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a gate.

    Attributes
    ----------
    kind : {"max", "min", "min-n", "worse-by", "present", "lock"}
    metric : str or None
        Id of the metric, for "max", "min", "worse-by" and "lock".
    limit : float or None
        The largest or smallest value that is allowed, the fewest rows, or how much worse the metric may be;
        None for "present".
    is_of_judge : bool
        Whether it is about a judge's labels, and the metric one of `JUDGE_METRICS`.
    """

    kind: RuleKind
    metric: str | None = None
    limit: float | None = None
    is_of_judge: bool = False

    @property
    def text(self) -> str:
        """The rule as it is typed: "max ece=0.05", "min-n 500", "worse-by brier=0.01", "present"."""
        limit = "" if self.limit is None else f"{self.limit:.15g}"
        return " ".join(
            part for part in (self.kind, f"{self.metric}={limit}" if self.metric else limit) if part
        )

    @property
    def words(self) -> str:
        """The rule as it is read: "ECE ≤ 0.05", "rows ≥ 500", "Brier at most 0.01 worse"."""
        if self.kind == "present":
            return "run of the baseline is there"
        limit = f"{self.limit:,.15g}"
        name = _metric_name(self) if self.metric else "labelled rows" if self.is_of_judge else "rows"
        if self.kind == "lock":
            name = f"{name if self.metric else EVENT_TERMS.precision} from the locked threshold on"
        return (
            f"{name} at most {limit} worse"
            if self.kind == "worse-by"
            else f"{name} {_SIGNS[self.kind]} {limit}"
        )


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """One rule for one run and method.

    Attributes
    ----------
    rule : Rule
    file, run : str
        Display name of the run's file, and the run's label.
    method : str or None
        Id of the method; None for a rule about the whole run.
    value : float or None
        The metric, the number of rows, or how much worse than the baseline the metric is (positive: worse).
        None where it is not defined.
    interval : (float, float) or None
        95 % interval of the value, or the bounds between which it is known to be.
    held : bool or None
        None where it could not be checked or decided, which does not count as passing.
    reason : str
        What broke the rule, how the value was compared, or why it could not be checked; "" where the numbers
        say it all.
    n_used, n_total : int
        Rows used, and in the file.
    """

    rule: Rule
    file: str
    run: str
    method: str | None
    value: float | None
    interval: tuple[float, float] | None
    held: bool | None
    reason: str
    n_used: int
    n_total: int

    @property
    def state(self) -> Literal["failed", "not checked", "not decided", "passed"]:
        """Whether the rule held, in a word or two; not decided where the value is known but not clear."""
        if self.held is None:
            return "not checked" if self.value is None and self.interval is None else "not decided"
        return "passed" if self.held else "failed"

    @property
    def rank(self) -> int:
        """Broken rules first, then those that are open."""
        return ("failed", "not checked", "not decided", "passed").index(self.state)

    @property
    def value_words(self) -> str:
        """The value with its interval: "0.0612 (95 % 0.0412 to 0.0790)", "412", "not defined"."""
        if self.held is None:
            return "not checked"
        if self.rule.kind == "present":
            return "yes" if self.held else "no"
        if self.value is None and self.interval is None:
            return "not defined"
        if self.rule.kind == "min-n":
            return f"{self.value:,.0f}"
        ends = "" if self.interval is None else " to ".join(map(_short, self.interval))
        if self.value is None:
            return ends
        return f"{_short(self.value)} (95 % {ends})" if ends else _short(self.value)


def _metric_name(rule: Rule) -> str:
    if rule.is_of_judge:
        return judge_metric_title(rule.metric or "")
    return get_metric(rule.metric or "").name


def _short(value: float) -> str:
    return format_number(value) if abs(value) == float("inf") else format_short(value)


@dataclass(frozen=True, slots=True)
class Measurement:
    """One metric of one run and method, with what its comparison with a baseline needs.

    Attributes
    ----------
    evidence : Evidence
    metric : str
    scheme : Scheme
    value : float or None
        None where the metric is not defined, or only its bounds are known.
    interval : (float, float) or None
        95 % interval, or the bounds.
    null_median : float or None
        What the metric would be if the run were calibrated; None where that is not known.
    note : str
        Of which rows the value is, if those without a confidence are right more or less often; else "".
    """

    evidence: Evidence
    metric: str
    scheme: Scheme
    value: float | None
    interval: tuple[float, float] | None
    null_median: float | None = None
    note: str = ""


def measure(evidence: Evidence, metric: str, scheme: Scheme) -> Measurement:
    """One metric with its interval; raises Unavailable where the evidence does not support the metric.

    The accuracy is that of all rows with an outcome; other metrics are of those with a confidence, too.
    """
    missing, of = evidence.missingness, f"those with a {evidence.terms.confidence}"
    if metric == ACCURACY.id:
        evidence, of = evidence.top_label.every_outcome, "all rows with an outcome"
    note = as_clause(missing_caveat([("", missing)], f"the value is of {of}"))
    found = score(evidence, metric, scheme)
    if found.low is not None and found.high is not None:
        return Measurement(evidence, metric, scheme, None, (found.low, found.high), note=note)
    interval = metric_interval(evidence, metric, scheme)
    ends = None if interval is None else (interval.low, interval.high)
    return Measurement(evidence, metric, scheme, found.value, ends, found.null_median, note)


def check_limit(rule: Rule, measured: Measurement, *, significant: bool = False) -> RuleCheck:
    """Whether a metric keeps to its limit.

    Parameters
    ----------
    rule : Rule
        Of kind "max" or "min".
    measured : Measurement
        Of the rule's metric.
    significant : bool
        Whether the rule is broken only if the whole interval is beyond the limit; without an interval the
        value decides.
    """
    limit, reason = _limit_of(rule), ""
    value, interval = measured.value, measured.interval
    if value is None and interval is None:
        held, reason = False, f"{_title(measured)} is not defined for these rows"
    elif value is None and interval is not None:
        # Known only between two bounds: held if both hold, unless only a clear breach counts.
        worst = interval[0 if (rule.kind == "max") == significant else 1]
        held, reason = _keeps(rule.kind, worst, limit), "known only within these bounds"
    else:
        held = _keeps(rule.kind, value or 0.0, limit)
        if significant and not held and interval is not None:
            held = _keeps(rule.kind, interval[0 if rule.kind == "max" else 1], limit)
            reason = "beyond the limit, but not clearly" if held else ""
        reason = "; ".join(filter(None, (reason, _against_verdict(measured, held=held))))
    return _check(rule, measured.evidence, value, interval, held=held, reason=reason, note=measured.note)


def _title(measured: Measurement) -> str:
    return get_metric(measured.metric).worded(measured.evidence.terms).title


def _against_verdict(measured: Measurement, *, held: bool) -> str:
    """What the verdict says where a rule on a distance from calibration says the contrary; "" elsewhere."""
    verdict = measured.evidence.verdict
    speaks = verdict.is_tested and verdict.kind != "tolerable"
    if measured.null_median is None or not speaks or held != verdict.miscalibrated:
        return ""
    if held:
        return f"within the limit, though clearly {verdict.words} ({p_value_phrase(verdict.p, None)})"
    return (
        f"{verdict.words} ({p_value_phrase(verdict.p, None)}): from {measured.evidence.n_used:,} rows a "
        f"calibrated model would show {format_short(measured.null_median)}"
    )


def check_size(rule: Rule, evidence: Evidence) -> RuleCheck:
    """Whether enough rows have a confidence and an outcome."""
    n_used = evidence.n_used
    return _check(rule, evidence, n_used, None, held=n_used >= _limit_of(rule), reason="")


def check_no_worse(
    rule: Rule, measured: Measurement, baseline: Measurement, *, significant: bool = False
) -> RuleCheck:
    """Whether a metric is at most so much worse than in the baseline.

    Paired by question where the two share at least `MIN_COMMON_QUESTIONS` questions, or
    `MIN_QUESTIONS_OVER_BINS` for a sum over bins; otherwise on all rows of each. A metric that is best at 0
    is compared by its distance from 0, without an interval.

    Parameters
    ----------
    rule : Rule
        Of kind "worse-by".
    measured, baseline : Measurement
        Of the rule's metric.
    significant : bool
        Whether the rule is broken only if the whole interval of the difference is beyond the limit.
    """
    metric, limit = get_metric(measured.metric), _limit_of(rule)
    if measured.value is None or baseline.value is None:
        name = "the run" if measured.value is None else "the baseline"
        # A baseline without a number cannot be fallen short of.
        return _check(
            rule,
            measured.evidence,
            None,
            None,
            held=measured.value is not None,
            reason=f"{metric.title} has no value in {name}",
        )
    difference, interval, comparison = _how_much_worse(measured, baseline, metric.direction)
    held = _keeps("max", difference, limit)
    if significant and not held and interval is not None and _keeps("max", interval[0], limit):
        held, comparison = True, f"beyond the limit, but not clearly; {comparison}"
    note = measured.note
    return _check(rule, measured.evidence, difference, interval, held=held, reason=comparison, note=note)


def check_judge(rule: Rule, run: Run, result: JudgeResult) -> list[RuleCheck]:
    """Whether a judge clearly keeps to a limit, once for each way in which the metric is computed.

    The 95 % interval decides: the rule holds if it lies within the limit, and is broken if it lies beyond.
    Otherwise, or without an interval, it is not decided.

    Parameters
    ----------
    rule : Rule
        Of kind "max", "min" or "min-n".
    run : Run
        The run that the result is of.
    result : JudgeResult
    """
    n_labelled, limit = result.agreement.n_labelled, _limit_of(rule)
    label = (run.file, run.label)
    if rule.kind == "min-n":
        held = n_labelled >= limit
        return [RuleCheck(rule, *label, None, n_labelled, None, held, "", n_labelled, run.n_total)]
    numbers = [one for one in result.numbers((rule.metric or "",)) if one["chosen"] is not False]
    if not numbers:
        reason = result.missing.get(rule.metric or "")
        if reason is None and result.pass_rates is not None:
            reason = result.pass_rates.caveat
        return [RuleCheck(rule, *label, None, None, None, None, reason or "", n_labelled, run.n_total)]
    checks: list[RuleCheck] = []
    for one in numbers:
        value, interval, n = one["value"], one["interval"], one["n_labelled"]
        held, reason = _decided(rule.kind, limit, value, interval, n)
        reason = reason or one["reason"] or ""
        checks.append(RuleCheck(rule, *label, one["method"], value, interval, held, reason, n, run.n_total))
    return checks


def _decided(
    kind: RuleKind, limit: float, value: float | None, interval: tuple[float, float] | None, n: int
) -> tuple[bool | None, str]:
    """Whether an interval lies within a limit or beyond it; None and why where it does neither."""
    if value is None or interval is None:
        return None, ""
    low, high = interval
    worst, best = (high, low) if kind == "max" else (low, high)
    if _keeps(kind, worst, limit):
        return True, ""
    if not _keeps(kind, best, limit):
        return False, ""
    gap = abs(value - limit)
    half = abs(value - (worst if _keeps(kind, value, limit) else best))
    needed = math.ceil(n * (half / gap) ** 2) if gap > 0 else None
    labels = f"{n:,} labelled rows are too few: the interval contains the limit"
    if needed is None or needed > MAX_LABELS_ADVISED:
        return None, labels
    return None, f"{labels}; about {needed:,} would decide, if the value stayed the same"


def check_missing(rule: Rule, run: Run, method: str | None, reason: str) -> RuleCheck:
    """A rule that is broken because there is nothing to measure."""
    nothing = (None, None)
    return RuleCheck(
        rule, run.file, run.label, method, *nothing, held=False, reason=reason, n_used=0, n_total=run.n_total
    )


def not_checked(
    rule: Rule, file: str, run: str, reason: str, *, method: str | None = None, n_total: int = 0
) -> RuleCheck:
    """A rule that could not be checked, for a run or, where `run` is "", for a whole file."""
    return RuleCheck(rule, file, run, method, None, None, held=None, reason=reason, n_used=0, n_total=n_total)


Measurements: TypeAlias = Mapping[tuple[str, str], Measurement]
"""Ids of method and metric → what was measured of a run."""


def limit_checks(
    run: Run, rules: Sequence[Rule], measured: Measurements, *, significant: bool, reason: str = ""
) -> list[RuleCheck]:
    """The rules that need no baseline, for every method; all broken where no method has a usable row.

    Parameters
    ----------
    run : Run
    rules : sequence of Rule
    measured : Measurements
        Of the run, for the metrics of the rules.
    significant : bool
        As in `check_limit`.
    reason : str
        Why rules without a measurement are not checked; "" where they are broken.
    """
    checks: list[RuleCheck] = []
    for rule in rules:
        if rule.kind == "worse-by":
            continue
        if rule.kind == "min-n":
            evidences = {method: one.evidence for (method, _), one in measured.items()}
            found = [check_size(rule, evidence) for evidence in evidences.values()]
        else:
            found = [
                check_limit(rule, one, significant=significant)
                for (_, metric), one in measured.items()
                if metric == rule.metric
            ]
        if not found and (reason or measured):
            why = reason or f"no method of this run has {rule.metric}"
            found = [not_checked(rule, run.file, run.label, why)]
        checks += found or [check_missing(rule, run, None, "no method has a usable row")]
    return checks


def baseline_checks(
    run: Run, rules: Sequence[Rule], measured: Measurements, before: Measurements, *, significant: bool
) -> list[RuleCheck]:
    """The rules that compare a run with the baseline: broken where a method of the baseline is gone."""
    checks: list[RuleCheck] = []
    for rule in rules:
        if rule.kind != "worse-by":
            continue
        found = [
            check_no_worse(rule, measured[method, metric], old, significant=significant)
            if (method, metric) in measured
            else check_missing(rule, run, method, "in the baseline, but not in the files")
            for (method, metric), old in before.items()
            if metric == rule.metric
        ]
        checks += found or [
            not_checked(rule, run.file, run.label, f"no method of the baseline has {rule.metric}")
        ]
    return checks


def comparison_checks(
    runs: Sequence[Run],
    baseline: Sequence[Run],
    rules: Sequence[Rule],
    measured: Mapping[int, Measurements],
    measure_before: Callable[[Run, Sequence[Rule]], Measurements],
    *,
    significant: bool,
) -> list[RuleCheck]:
    """Whether each run of the baseline is still there, and what the rules that compare the two say of it.

    Parameters
    ----------
    runs, baseline : sequence of Run
    rules : sequence of Rule
    measured : Mapping[int, Measurements]
        `id` of each of the runs → what was measured of it.
    measure_before : callable
        A run of the baseline and the rules that compare it → its measurements.
    significant : bool
        As in `check_no_worse`.
    """
    compared = [rule for rule in rules if rule.kind == "worse-by"]
    matched = match_runs(runs, baseline)
    checks: list[RuleCheck] = []
    for run, match in matched:
        checks.append(check_present(run, match))
        if match is None:
            gone = "the run is in the baseline, but not in the files"
            checks += [not_checked(rule, run.file, run.label, gone) for rule in compared]
        elif compared:
            before = measure_before(run, compared)
            checks += baseline_checks(match, compared, measured[id(match)], before, significant=significant)
    found = {id(match) for _, match in matched}
    return checks + [
        not_checked(rule, run.file, run.label, "the run is not in the baseline")
        for run in runs
        if id(run) not in found
        for rule in compared
    ]


def match_runs(runs: Sequence[Run], baseline: Sequence[Run]) -> list[tuple[Run, Run | None]]:
    """Each run of the baseline with the run of the files that it is compared with, None where it is missing.

    Runs match by their label, several of one label in their order. A single run is compared with the single
    run of the baseline, whatever they are called.
    """
    if len(runs) == len(baseline) == 1:
        return [(baseline[0], runs[0])]
    waiting: dict[str, list[Run]] = {}
    for run in runs:
        waiting.setdefault(run.label, []).append(run)
    return [(run, waiting[run.label].pop(0) if waiting.get(run.label) else None) for run in baseline]


def check_present(run: Run, match: Run | None) -> RuleCheck:
    """Whether a run of the baseline is in the files, too."""
    if match is None:
        return check_missing(Rule("present"), run, None, "in the baseline, but not in the files")
    reason = "" if run.label == match.label else f"compared with {shorten(run.label)}"
    nothing, n = (None, None, None), match.n_total
    return RuleCheck(
        Rule("present"), match.file, match.label, *nothing, held=True, reason=reason, n_used=n, n_total=n
    )


def _keeps(kind: RuleKind, value: float, limit: float) -> bool:
    if kind == "max":
        return value <= limit + ROUNDING_TOLERANCE
    return value >= limit - ROUNDING_TOLERANCE


def _limit_of(rule: Rule) -> float:
    if rule.limit is None:
        raise ValueError(f"the rule {rule.text!r} has no limit")
    return rule.limit


def _check(
    rule: Rule,
    evidence: Evidence,
    value: float | None,
    interval: tuple[float, float] | None,
    *,
    held: bool,
    reason: str,
    note: str = "",
) -> RuleCheck:
    run, method = evidence.run, evidence.method.id
    reason = "; ".join(filter(None, (note, reason)))
    return RuleCheck(
        rule, run.file, run.label, method, value, interval, held, reason, evidence.n_used, evidence.n_total
    )


def _how_much_worse(
    measured: Measurement, baseline: Measurement, direction: Direction
) -> tuple[float, tuple[float, float] | None, str]:
    """How much worse (positive) than the baseline, with its interval, and how the two were compared."""
    new, old = measured.value or 0.0, baseline.value or 0.0
    if direction == "zero":
        return abs(new) - abs(old), None, "distances from 0, on all rows of each"
    sign = 1 if direction == "lower" else -1
    try:
        value, low, high, n = _paired(baseline, measured)
    except Unavailable as reason:
        ends = unpaired_difference_interval(new, measured.interval, old, baseline.interval)
        value, comparison = new - old, f"on all rows of each: {as_clause(str(reason))}"
    else:
        ends, comparison = (low, high), f"paired on {plural(n, measured.evidence.terms.question)}"
    if sign < 0 and ends is not None:
        ends = (-ends[1], -ends[0])
    # Two infinite values are equally bad.
    worse = 0.0 if math.isnan(value) else sign * value
    return worse, ends, comparison


def _paired(baseline: Measurement, measured: Measurement) -> tuple[float, float, float, int]:
    """New − old on the common questions, its interval, and the number of questions."""
    sides = baseline.evidence, measured.evidence
    first, second = sides
    if not isinstance(first, AnswerEvidence) or not isinstance(second, AnswerEvidence):
        raise Unavailable("Token-level runs keep sums only.")
    found = paired_difference([(first, second)], measured.metric, measured.scheme)
    if found.n_questions < MIN_COMMON_QUESTIONS:
        raise Unavailable(f"Only {plural(found.n_questions, first.terms.question)} in common.")
    return found.value, found.low, found.high, found.n_questions


def gate_summary(checks: Sequence[RuleCheck], n_refused: int = 0) -> str:
    """The result in a sentence; what could not be checked has not passed.

    Parameters
    ----------
    checks : sequence of RuleCheck
    n_refused : int
        Number of files, methods and metrics that could not be used.

    Examples
    --------
    >>> gate_summary([]), gate_summary([], 1)
    ('Nothing was checked.', 'Nothing was checked: 1 refusal.')
    """
    n_unchecked = sum(check.state == "not checked" for check in checks)
    checks = [check for check in checks if check.state != "not checked"]
    n_broken = sum(check.held is False for check in checks)
    n_open = sum(check.held is None for check in checks)
    refusals = plural(n_refused, "refusal")
    if not n_refused and n_unchecked:
        n_refused, refusals = n_unchecked, f"{plural(n_unchecked, 'rule')} not checked"
    if not checks:
        return f"Nothing was checked: {refusals}." if n_refused else "Nothing was checked."
    if n_broken:
        also = f", and there {'was' if n_refused == 1 else 'were'} {refusals}" if n_refused else ""
        not_decided = f", {n_open:,} could not be decided" if n_open else ""
        return f"{n_broken:,} of {plural(len(checks), 'check')} failed{not_decided}{also}."
    if n_open:
        return f"Not passed: {n_open:,} of {plural(len(checks), 'check')} could not be decided."
    if n_refused:
        held = "The check held" if len(checks) == 1 else f"All {len(checks):,} checks held"
        return f"Not passed: {refusals}. {held}."
    return "The check passed." if len(checks) == 1 else f"All {len(checks):,} checks passed."
