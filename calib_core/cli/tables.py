"""How are results shown to a person at a terminal?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from calib_core.analysis.check import FileReport, RunReport
from calib_core.analysis.comparison import Comparison
from calib_core.analysis.comparison_points import Measured
from calib_core.analysis.reliability import Reliability
from calib_core.analysis.samples_result import Sampled
from calib_core.analysis.score import Score
from calib_core.analysis.sweep import Sweep
from calib_core.cli.text import printable
from calib_core.files.tables.names import as_options
from calib_core.problems import Problem
from calib_core.wording import UNDEFINED, count, p_value, short, signed, span


class Paper:
    """Prints on stdout; no text is taken for markup."""

    def __init__(self) -> None:
        self._console = Console(markup=False, emoji=False, highlight=False)
        if not self._console.is_terminal:
            self._console.width = 160  # a pipe or a file has no width of its own

    def scores(self, file: str, run: str, scores: Sequence[Score]) -> None:
        """The numbers of one run, each with its recipe."""
        columns = ("method", "metric", "value", "p", "recipe")
        rows = [
            (one.method, one.metric, _found(one), _p(one.p, one.draws), one.recipe) for one in scores
        ]
        self._table(_heading(file, run), columns, rows, right={"value", "p"})
        self._remarks((score.method, score.judged, score.remarks) for score in scores)
        for remark in dict.fromkeys(score.remark for score in scores if score.remark):
            self.line(remark)
        self.line()

    def sweep(self, file: str, sweeps: Sequence[Sweep]) -> None:
        """The curves of one run: one row a metric and M; then what each comes to, and its recipe."""
        columns = ("method", "metric", "M", "value", "if exactly right", "p")
        rows = [_swept(record) for sweep in sweeps for record in sweep.to_frame().iter_rows(named=True)]
        self._table(_heading(file, sweeps[0].run), columns, rows, right=set(columns[2:]))
        for sweep in sweeps:
            self.line(f"{sweep.method}: {sweep.reading} {sweep.chance}".rstrip())
            for curve in sweep.curves:
                rsd = UNDEFINED if curve.rsd is None else f"{100 * curve.rsd:.2f} %"
                self.line(f"{curve.metric}: RSD {rsd}; {curve.recipe}")
                for remark in (*curve.remarks, *dict.fromkeys(curve.refused.values())):
                    self.line(f"{curve.metric}: {remark}")
        self.line()

    def samples(self, file: str, result: Sampled) -> None:
        """The curves of one run: one row a method, metric and N'; then what is enough, and the recipe."""
        columns = ("method", "metric", "N'", "mean", "std", "Brier difference", "greyed")
        rows = [_sampled(record) for record in result.to_frame().iter_rows(named=True)]
        self._table(_heading(file, result.run), columns, rows, right=set(columns[2:6]))
        self.line(f"{result.reading} {result.measure}".rstrip())
        for why in (*result.greyed.values(), *result.refused.values()):
            self.line(why)
        for method, why in result.lacking.items():
            self.line(f"{method} cannot stand beside them: {why}")
        self.line(result.recipe)
        self.line()

    def comparison(self, result: Comparison) -> None:
        """All points, the lowest Brier score first; then what they say together, method by method."""
        columns = ("run", "method", "accuracy", "Brier", "skill", "rows used", "judged")
        rows = [
            (
                point.run, point.method, _with_ends(point.accuracy), _with_ends(point.brier),
                number(point.skill), f"{point.n_used:,}/{point.n_total:,}", point.judged,
            )
            for point in result.by_brier
        ]
        self._table("Accuracy against Brier score", columns, rows, right={"skill", "rows used"})
        for text in (result.reading, *result.unlike):
            self.line(text)
        for trend in result.trends:
            of = f" on {trend.dataset}" if trend.dataset else ""
            self.line(f"{trend.method}{of}: {trend.reading}")
        self.line(result.recipe)
        self.line()

    def bins(self, file: str, diagram: Reliability) -> None:
        """One bin table, what it says, and its recipe."""
        columns = ("bin", "from, to", "count", "confidence", "accuracy", "accuracy 95 %", "gap")
        rows = [
            (
                str(row["bin"]),
                row["interval"],
                f"{row['count']:,}",
                number(row["confidence"]),
                number(row["accuracy"]),
                "" if row["accuracy_low"] is None else span(row["accuracy_low"], row["accuracy_high"], ".3f"),
                signed(row["gap"]),
            )
            for row in diagram.table.iter_rows(named=True)
        ]
        self._table(f"{_heading(file, diagram.run)}: {diagram.method}", columns, rows, right=set(columns))
        self.line(diagram.reading)
        self.line(f"{diagram.score.metric} {number(diagram.score.value)}: {diagram.score.recipe}")
        self._remarks([(diagram.method, diagram.judged, diagram.remarks)])
        self.line()

    def report(self, report: FileReport) -> None:
        """What one file is and can give."""
        self.line(report.message)
        for run in report.runs:
            self._run(report.file, run)
        for problem in report.problems:
            self._problem(problem)
        if report.proposals:
            self.line("Columns that may be meant, to be named so if they are:")
            self.line(f"  {as_options(report.proposals)}")
        if report.groups:
            self.line(f"Columns that make groups: {', '.join(report.groups)}")
        if report.unused:
            self.line(f"Columns that nothing is read from: {', '.join(report.unused)}")
        self.line()

    def line(self, text: str = "") -> None:
        """One line, or several, as they are."""
        self._console.print(printable(text), soft_wrap=True)

    def _run(self, file: str, report: RunReport) -> None:
        rows = [
            (method, f"{used:,}", _counts(report.missing.get(method, {})), _spikes(report, method))
            for method, used in report.usable.items()
        ]
        if rows:
            self._table(
                _heading(file, report.run.label), ("method", "rows used", "missing", "many rows at"), rows
            )
        given = report.survey.usable.items()
        self._remarks((id_, evidence.judged, evidence.remarks) for id_, evidence in given)
        ledger = report.run.ledger
        if report.accuracy is not None:
            self.line(f"Accuracy of the {report.whose}: {report.accuracy:.4f}")
        if ledger.left_out:
            self.line(f"Bad rows of this run: {ledger.left_out:,}")
        if ledger.clipped:
            moved = ", ".join(f"{name} ({rows:,})" for name, rows in ledger.clipped.items())
            self.line(f"Moved onto 0 or 1, having been at most 1e-6 outside: {moved}")
        if ledger.off_sum:
            self.line(f"Distributions whose sum is within 1e-3 of 1, used as stored: {ledger.off_sum:,}")
        for note in ledger.notes:
            self.line(note)

    def _remarks(self, methods: Iterable[tuple[str, str, tuple[str, ...]]]) -> None:
        """What was judged, and what else has to be known; said once of all the methods that share it."""
        said: dict[str, dict[str, None]] = {}
        for method, judged, remarks in methods:
            for remark in (f"{judged} judged", *remarks):
                said.setdefault(remark, {})[method] = None
        for remark, sharing in said.items():
            self.line(f"{', '.join(sharing)}: {remark}")

    def _problem(self, problem: Problem) -> None:
        self.line(f"Bad: {problem.kind}, {count(problem.count, 'row')}")
        for cell in problem.first:
            self.line(f"  {cell}")
        if problem.count > len(problem.first):
            self.line(f"  … and {problem.count - len(problem.first):,} more")

    def _table(
        self,
        title: str,
        columns: Sequence[str],
        rows: Iterable[Sequence[str]],
        *,
        right: set[str] | None = None,
    ) -> None:
        self.line(title)
        table = Table()
        for column in columns:
            table.add_column(column, justify="right" if column in (right or ()) else "left", overflow="fold")
        for row in rows:
            table.add_row(*(Text(printable(cell)) for cell in row))
        self._console.print(table)


def _found(score: Score) -> str:
    """The value, or the bounds in its stead."""
    return number(score.value) if score.low is None else f"{number(score.low)} to {number(score.high)}"


def _swept(record: Mapping[str, Any]) -> tuple[str, ...]:
    """One row of a sweep's table; record: a row of `Sweep.to_frame`."""
    low, high, band = record["low"], record["high"], ""
    value = number(record["value"]) if low is None else f"{number(low)} to {number(high)}"
    if record["null_median"] is not None:
        median, *ends = (number(record[f"null_{name}"]) for name in ("median", "low", "high"))
        band = f"{median} ({ends[0]} to {ends[1]})"
    p = _p(record["p"], record["draws"])
    return record["method"], record["metric"], str(record["bins"]), value, band, p


def _sampled(record: Mapping[str, Any]) -> tuple[str, ...]:
    """One row of the table over N'; record: a row of `Sampled.to_frame`."""
    size, std, gap = record["size"], record["std"], ""
    if record["gap"] is not None:
        gap = f"{signed(record['gap'])} ({span(record['gap_low'], record['gap_high'], '+.4f')})"
    return (
        record["method"], record["metric"], record["judged"] if size is None else str(size),
        number(record["mean"]), "" if std is None else number(std), gap, "yes" if record["greyed"] else "",
    )


def _with_ends(one: Measured) -> str:
    if one.low is None or one.high is None:
        return number(one.value)
    return f"{number(one.value)} ({number(one.low)} to {number(one.high)})"


def _p(p: float | None, draws: int | None) -> str:
    return "" if p is None else p_value(p, draws)


def number(value: float | None) -> str:
    """Four decimals, more of a number too small for them, or why there are none."""
    return UNDEFINED if value is None else short(value)


def _heading(file: str, run: str) -> str:
    """The file and, where it says more than the file's name, the run."""
    return file if run == PurePath(file).stem else f"{file}: {run}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name}: {rows:,}" for name, rows in counts.items())


def _spikes(report: RunReport, method: str) -> str:
    return ", ".join(f"{spike.value:g} ({spike.count:,})" for spike in report.spikes.get(method, ()))
