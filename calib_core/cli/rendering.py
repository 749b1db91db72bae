"""Printing of results for people: tables and sentences on standard output."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from calib_core.cli.terminal import escape_unprintable
from calib_core.errors import Problem, cell_lines
from calib_core.readers.table.run_split import file_stem
from calib_core.wording import (
    NOT_DEFINED,
    as_clause,
    format_interval,
    format_p_value,
    format_short,
    format_signed,
    plural,
    shared_remarks,
)

if TYPE_CHECKING:  # a verb waits for the modules of its own question alone
    from calib_core.results.best import PairedComparison
    from calib_core.results.files import FileReport, RunReport
    from calib_core.results.gate import RuleCheck
    from calib_core.views.view import View

MAX_CELLS_SHOWN_BRIEFLY: Final = 3
"""Bad cells of each kind that are shown where many files are checked at once."""


class _Output(Console):
    """Standard output; `main` decides what a closed pipe means."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class ResultPrinter:
    """Prints results on stdout; text is never interpreted as markup."""

    def __init__(self) -> None:
        self._console = _Output(markup=False, emoji=False, highlight=False)
        if not self._console.is_terminal:
            self._console.width = 160  # wide enough for the tables in a pipe or a file
        self._noted: set[tuple[str, str]] = set()

    def print_pairs(
        self, comparison: PairedComparison, names: Mapping[str, str], recipes: Mapping[str, str]
    ) -> None:
        """Prints every pair by every metric, and why pairs are missing.

        Parameters
        ----------
        comparison : PairedComparison
        names : Mapping[str, str]
            Key of each point → its name.
        recipes : Mapping[str, str]
            Metric id → how its differences were tested.
        """
        columns = ("metric", "first", "second", "first − second", "95 %", "p", "p, Holm", "common questions")
        rows = [
            (
                metric,
                names[pair.first],
                names[pair.second],
                format_signed(pair.test.difference),
                format_interval(pair.test.low, pair.test.high, "+.4f"),
                format_p_value(pair.test.p, None),
                format_p_value(pair.p_holm, None),
                f"{pair.test.n_clusters:,}",
            )
            for metric, pairs in comparison.pairs.items()
            for pair in pairs
        ]
        self._print_table("Paired differences", columns, rows, right=set(columns[3:]))
        for (first, second), reason in comparison.unpaired.items():
            self.print_line(f"{names[first]} and {names[second]} cannot be compared: {as_clause(reason)}.")
        for metric, recipe in recipes.items():
            self.print_line(f"{metric}: {recipe or 'no pair'}")
        self.print_line()

    def print_gate(self, checks: Sequence[RuleCheck], summary: str) -> None:
        """Prints each rule for each run and method, then the summary."""
        columns = ("", "rule", "run", "method", "value", "note")
        rows = [
            (
                "FAILED" if check.held is False else check.state,
                check.rule.words,
                heading(check.file, check.run),
                check.method or "",
                check.value_words,
                check.reason,
            )
            for check in sorted(checks, key=lambda check: check.rank)
        ]
        if rows:
            self._print_table("Rules", columns, rows)
        self.print_line(summary)

    def print_report(self, report: FileReport, *, briefly: bool = False) -> None:
        """Prints what a file is, its runs and its problems.

        With `briefly`, a file that loads is one line, of another one the runs are left out, and of each
        problem only the first rows are shown.
        """
        if briefly and report.status == "loads" and not report.warnings:
            self.print_line(_report_line(report))
            return
        self.print_line(report.message)
        for run in () if briefly else report.runs:
            self._print_run(report.file, run, report.notes)
        for warning in report.warnings if briefly else (one.text for one in report.suspicions):
            self.print_line(warning)
        for problem in report.problems:
            self._print_problem(problem, MAX_CELLS_SHOWN_BRIEFLY if briefly else len(problem.first_cells))
        if report.advice:
            self.print_line(report.advice)
        if report.group_columns:
            self.print_line(f"Columns that make groups: {', '.join(report.group_columns)}")
        if report.unused_columns:
            self.print_line(f"Columns not read: {', '.join(report.unused_columns)}")
        self.print_line()

    def print_view(self, view: View, title: str = "", *, file: str = "", notes: Iterable[str] = ()) -> None:
        """Prints the tables of a view, then what is said of them and how the numbers were computed.

        Parameters
        ----------
        view : View
        title : str
            Above the first table, such as the file and the run; the table's own by default.
        file, notes : str, iterable of str
            A file, and notes on its rows among the facts, which are printed once.
        """
        for index, table in enumerate(view.tables):
            texts = table.texts(with_ids=True)
            right = {column.title for column in table.columns if not column.has_words}
            above = title if title and not index else table.title
            self._print_table(above, texts.columns, texts.iter_rows(), right=right)
            if table.note:
                self.print_line(table.note)
        for line in (view.headline, view.caveat):
            if line:
                self.print_line(line)
        for name, text in view.facts:
            if (file, text) not in self._noted:
                self.print_line(f"{name}: {text}")
        self._noted.update((file, note) for note in notes)
        for line in (*view.recipes, *view.left_out):
            self.print_line(line)
        self.print_line()

    def print_line(self, text: str = "") -> None:
        """Prints text without wrapping; the default is an empty line."""
        self._console.print(escape_unprintable(text), soft_wrap=True)

    def _print_run(self, file: str, report: RunReport, said: Collection[str]) -> None:
        """Prints a run; `said` are notes on the file, which are not repeated."""
        rows = [
            (method, f"{used:,}", _counts_text(report.missing.get(method, {})), _spikes_text(report, method))
            for method, used in report.usable.items()
        ]
        if rows:
            self._print_table(
                heading(file, report.run.label), ("method", "rows used", "missing", "many rows at"), rows
            )
        given = report.survey.usable.items()
        self._print_remarks(
            (id_, evidence.judged, tuple(text for text in evidence.remarks if text not in said))
            for id_, evidence in given
        )
        row_counts = report.run.row_counts
        if report.accuracy is not None:
            n_known, n_rows = report.n_known_outcomes, report.run.n_total - row_counts.n_left_out
            known = "" if n_known == n_rows else f", known of {n_known:,} of {n_rows:,} rows"
            self.print_line(
                f"Accuracy of the {report.judged}: {report.accuracy:.4f}{known}{report.unweighted_note}"
            )
        if report.has_judge_and_people:
            self.print_line(f"{heading(file, report.run.label)}: {report.judge_text} (calib judge {file})")
        if row_counts.n_left_out:
            self.print_line(f"Bad rows of this run: {row_counts.n_left_out:,}")
        if row_counts.clipped:
            moved = ", ".join(f"{name} ({rows:,})" for name, rows in row_counts.clipped.items())
            self.print_line(f"Values at most 1e-6 outside [0, 1], clipped: {moved}")
        if row_counts.n_inexact_sums:
            self.print_line(
                f"Distributions whose sum is within 1e-3 of 1, used as stored: {row_counts.n_inexact_sums:,}"
            )
        for note in () if given else row_counts.notes:  # the remarks of each method hold them
            if note not in said:
                self.print_line(note)

    def _print_remarks(self, methods: Iterable[tuple[str, str, tuple[str, ...]]]) -> None:
        """Prints the judged answer and the remarks of methods, methods that share one on one line."""
        for sharing, remark in shared_remarks(methods):
            self.print_line(f"{sharing}: {remark}")

    def _print_problem(self, problem: Problem, n_cells: int) -> None:
        self.print_line(f"Bad: {problem.kind}, {plural(problem.count, 'row')}")
        shown = problem.first_cells[:n_cells]
        for line in cell_lines(shown):
            self.print_line(f"  {line}")
        if problem.count > len(shown):
            self.print_line(f"  … and {problem.count - len(shown):,} more")

    def _print_table(
        self,
        title: str,
        columns: Sequence[str],
        rows: Iterable[Sequence[str]],
        *,
        right: set[str] | None = None,
    ) -> None:
        self.print_line(title)
        table = Table()
        for column in columns:
            table.add_column(column, justify="right" if column in (right or ()) else "left", overflow="fold")
        for row in rows:
            table.add_row(*(Text(escape_unprintable(cell)) for cell in row))
        self._console.print(table)


def _report_line(report: FileReport) -> str:
    """A file that loads, on one line: its rows and runs, and how many rows each method can use."""
    used: dict[str, int] = {}
    for run in report.runs:
        for method, n_rows in run.usable.items():
            used[method] = used.get(method, 0) + n_rows
    judges = dict.fromkeys(run.judge_text for run in report.runs if run.has_judge_and_people)
    used_text = "; ".join(filter(None, (_counts_text(used), *judges)))
    n_notes = len(report.notes)
    notes = f" ({plural(n_notes, 'note')}: check it alone)" if n_notes else ""
    return (
        f"{report.file}: {plural(report.n_rows, 'row')}, {plural(len(report.runs), 'run')}, read as "
        f"{report.format}. Rows used: {used_text}{notes}"
    )


def element_value_text(value: float | None) -> str:
    """Formats a value to four decimals, or more for a very small one; None is "not defined"."""
    return NOT_DEFINED if value is None else format_short(value)


def heading(file: str, run: str) -> str:
    """The file, and the run unless its label is just the file's name."""
    return file if run == file_stem(file) else f"{file}: {run}"


def _counts_text(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name}: {rows:,}" for name, rows in counts.items())


def _spikes_text(report: RunReport, method: str) -> str:
    return ", ".join(f"{spike.value:g} ({spike.count:,})" for spike in report.spikes.get(method, ()))
