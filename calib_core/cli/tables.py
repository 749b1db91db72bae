"""How are results shown to a person at a terminal?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath

from rich.console import Console
from rich.table import Table
from rich.text import Text

from calib_core.analysis.check import FileReport, RunReport
from calib_core.analysis.reliability import Reliability
from calib_core.analysis.score import Score
from calib_core.cli.text import printable
from calib_core.files.names import as_options
from calib_core.problems import Problem


class Paper:
    """Prints on stdout; no text is taken for markup."""

    def __init__(self) -> None:
        self._console = Console(markup=False, emoji=False, highlight=False)
        if not self._console.is_terminal:
            self._console.width = 160  # a pipe or a file has no width of its own

    def scores(self, file: str, run: str, scores: Sequence[Score]) -> None:
        """The numbers of one run, each with its recipe."""
        rows = [(score.method, score.metric, number(score.value), score.recipe) for score in scores]
        self._table(_heading(file, run), ("method", "metric", "value", "recipe"), rows, right={"value"})
        self._remarks((score.method, score.judged, score.remarks) for score in scores)
        for remark in dict.fromkeys(score.remark for score in scores if score.remark):
            self.line(remark)
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
                ""
                if row["accuracy_low"] is None
                else f"{row['accuracy_low']:.3f} to {row['accuracy_high']:.3f}",
                f"{row['gap']:+.4f}",
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
        given = ((id_, evidence.confidences) for id_, evidence in report.survey.usable.items())
        self._remarks((id_, said.judged, said.remarks) for id_, said in given)
        ledger = report.run.ledger
        if report.accuracy is not None:
            self.line(f"Accuracy of the greedy answer: {report.accuracy:.4f}")
        if ledger.left_out:
            self.line(f"Bad rows of this run: {ledger.left_out:,}")
        if ledger.clipped:
            self.line(f"Moved onto 0 or 1, having been at most 1e-6 outside: {_counts(ledger.clipped)}")
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
        self.line(f"Bad: {problem.kind}, {problem.count:,} row{'s' if problem.count != 1 else ''}")
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


def number(value: float | None) -> str:
    """Four decimals, or why there are none."""
    return "not defined" if value is None else f"{value:.4f}"


def _heading(file: str, run: str) -> str:
    """The file and, where it says more than the file's name, the run."""
    return file if run == PurePath(file).stem else f"{file}: {run}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name}: {count:,}" for name, count in counts.items())


def _spikes(report: RunReport, method: str) -> str:
    return ", ".join(f"{spike.value:g} ({spike.count:,})" for spike in report.spikes.get(method, ()))
