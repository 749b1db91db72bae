"""In Python what a pipeline does with runs: check rules, and write a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from os import PathLike
from pathlib import Path

import polars as pl

from calib_core.api import explains_keywords
from calib_core.edges import Binning, Scheme
from calib_core.errors import Unavailable
from calib_core.methods.method import MethodOptions
from calib_core.metrics.accuracy import ACCURACY
from calib_core.readers.atomic_write import write_atomically
from calib_core.reporting.build import Report, build_report, selected_pages
from calib_core.reporting.provenance import DOCUMENT_TITLE, FrontMatter, Provenance
from calib_core.results.evidence import gather_evidence, get_metric, survey_methods
from calib_core.results.files import run_report
from calib_core.results.gate import (
    Measurement,
    Rule,
    RuleCheck,
    comparison_checks,
    gate_summary,
    limit_checks,
    measure,
)
from calib_core.runs import Run, as_run
from calib_core.values import Value
from calib_core.views.inputs import ReportInput, ReportSettings, titled_runs


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Gate(Value):
    """The rules of a gate, checked.

    Attributes
    ----------
    checks : tuple of RuleCheck
        Every rule for every run and method, run by run. The gate is true where it has passed.
    """

    checks: tuple[RuleCheck, ...]

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return f"<Gate {self.summary}>"

    @property
    def passed(self) -> bool:
        """Whether every rule was checked and holds."""
        return bool(self.checks) and all(check.held for check in self.checks)

    @property
    def summary(self) -> str:
        """The result in a sentence."""
        return gate_summary(self.checks)

    def to_frame(self) -> pl.DataFrame:
        """One row for each check: file, run, method, rule, value, low, high, limit, held, reason."""
        return pl.DataFrame(
            [
                (
                    *(one.file, one.run, one.method, one.rule.text, one.value),
                    *(one.interval or (None, None)),
                    *(one.rule.limit, one.held, one.reason),
                )
                for one in self.checks
            ],
            schema={
                **dict.fromkeys(("file", "run", "method", "rule"), pl.String),
                **dict.fromkeys(("value", "low", "high", "limit"), pl.Float64),
                "held": pl.Boolean,
                "reason": pl.String,
            },
            orient="row",
        )


@explains_keywords
def gate(  # noqa: PLR0913  one parameter an option, as on the command line
    runs: Run | Iterable[Run],
    *,
    max: Mapping[str, float] | None = None,  # noqa: A002  named as the command line's --max
    min: Mapping[str, float] | None = None,  # noqa: A002
    min_n: int | None = None,
    baseline: Run | Iterable[Run] | None = None,
    worse_by: Mapping[str, float] | None = None,
    significant: bool = False,
    method: str | None = None,
    bins: int = 10,
    binning: Binning = "width",
) -> Gate:
    """Check rules: metric limits, and no worse than a baseline.

    Parameters
    ----------
    runs : Run or iterable of Run
    max, min : Mapping[str, float], optional
        Id of a metric → the largest, or smallest, value that is allowed.
    min_n : int, optional
        The fewest rows with a confidence and an outcome.
    baseline : Run or iterable of Run, optional
        Earlier runs, each of which must be among the runs, too.
    worse_by : Mapping[str, float], optional
        Id of a metric → how much worse than in the baseline it may be.
    significant : bool
        Whether a rule is broken only if the whole 95 % interval is beyond the limit.
    method : str, optional
        Id of a confidence method; by default every one that a run has.
    bins, binning
        As in `score`.

    Returns
    -------
    Gate
        `passed` says whether all rules hold; `checks` has each of them.

    Raises
    ------
    calib_core.errors.Unavailable
        If there is no such metric.
    ValueError
        If there is no rule, or `worse_by` without a baseline.

    Examples
    --------
    >>> import calib_core
    >>> (run,) = calib_core.load(confidence=[0.9, 0.6] * 50, correct=[1, 0, 1, 1] * 25)
    >>> calib_core.gate(run, max={"ece": 0.5}, min_n=100)
    <Gate All 2 checks passed.>
    """
    rules = [
        *(Rule("max", metric, float(limit)) for metric, limit in (max or {}).items()),
        *(Rule("min", metric, float(limit)) for metric, limit in (min or {}).items()),
        *([] if min_n is None else [Rule("min-n", None, float(min_n))]),
        *(Rule("worse-by", metric, float(limit)) for metric, limit in (worse_by or {}).items()),
    ]
    if worse_by and baseline is None:
        raise ValueError("worse_by needs a baseline")
    if not rules and baseline is None:
        raise ValueError("give at least one rule: max, min, min_n, or a baseline with worse_by")
    for rule in rules:
        if rule.metric is not None:
            get_metric(rule.metric)
    scheme, given = Scheme(binning, bins), _as_runs(runs)
    checks: list[RuleCheck] = []
    measured: dict[int, dict[tuple[str, str], Measurement]] = {}
    for run in given:
        measured[id(run)], reason = _measure(run, rules, method, scheme)
        checks += limit_checks(run, rules, measured[id(run)], significant=significant, reason=reason)
    if baseline is not None:
        checks += comparison_checks(
            given,
            _as_runs(baseline),
            rules,
            measured,
            lambda run, compared: _measure(run, compared, method, scheme)[0],
            significant=significant,
        )
    return Gate(tuple(checks))


def _as_runs(runs: Run | Iterable[Run]) -> list[Run]:
    return [as_run(run) for run in ([runs] if isinstance(runs, Run) else runs)]


def _measure(
    run: Run, rules: Sequence[Rule], method: str | None, scheme: Scheme
) -> tuple[dict[tuple[str, str], Measurement], str]:
    """Method and metric → measurement, and why there is none; the accuracy where no rule has a metric."""
    evidences = (
        [gather_evidence(run, method)] if method is not None else list(survey_methods(run).usable.values())
    )
    metrics = dict.fromkeys(rule.metric for rule in rules if rule.metric is not None) or (ACCURACY.id,)
    found: dict[tuple[str, str], Measurement] = {}
    reasons: dict[str, None] = {}
    for evidence in evidences:
        for metric in metrics:
            try:
                found[evidence.method.id, metric] = measure(evidence, metric, scheme)
            except Unavailable as reason:
                reasons[str(reason)] = None
    return found, "; ".join(reasons)


@explains_keywords
def report(  # noqa: PLR0913  one parameter an option, as on the command line
    runs: Run | Iterable[Run],
    output: str | PathLike[str] | None = None,
    *,
    pages: Sequence[str] = (),
    methods: Sequence[str] = (),
    metrics: Sequence[str] = (),
    bins: int = 10,
    binning: Binning = "width",
    title: str = DOCUMENT_TITLE,
    author: str = "",
    note: str = "",
) -> Report:
    """Write a report: one HTML file with figures, tables and recipes.

    Parameters
    ----------
    runs : Run or iterable of Run
    output : str or PathLike, optional
        The file to write; by default none is, and the result has the document in `html`.
    pages : sequence of str
        Ids of pages, or "all"; by default a short summary.
    methods, metrics : sequence of str
        Ids; by default each run's default method and metrics in the app.
    bins, binning
        As in `score`.
    title, author, note : str
        What its top shows.

    Returns
    -------
    Report
        With the document in `html`, and the pages that have nothing to show in `left_out`.

    Raises
    ------
    calib_core.errors.Refused
        If a page is unknown, no page has anything to show, or the file cannot be written.
    """
    settings = ReportSettings(tuple(methods), tuple(metrics), Scheme(binning, bins), MethodOptions())
    given = _as_runs(runs)
    if not given:
        raise ValueError("at least one run is needed")
    page_ids = selected_pages(pages)
    names = ", ".join(dict.fromkeys(run.file for run in given))
    provenance = Provenance(
        datetime.now().astimezone(),
        f"calib_core.report(runs, pages={list(page_ids)})",
        f"In Python, with the runs that calib_core.load made of {names}.",
        FrontMatter(title, author, note),
    )
    report_input = ReportInput(titled_runs([run_report(run) for run in given]), (), settings)
    result = build_report(report_input, page_ids, provenance)
    if output is not None:
        write_atomically(result.html.encode("utf-8"), Path(output))
    return result
