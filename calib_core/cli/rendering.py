"""Printing of results for people: tables and sentences on standard output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

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
    format_number,
    format_p_value,
    format_short,
    format_signed,
    plural,
)

if TYPE_CHECKING:  # a verb waits for the modules of its own question alone
    from calib_core.results.best import PairedComparison
    from calib_core.results.files import FileReport, RunReport
    from calib_core.results.gate import RuleCheck
    from calib_core.results.reliability import Reliability
    from calib_core.results.score import Score
    from calib_core.views.view import View

_JUDGED_MEANINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "greedy answer": "the model's one answer in the file, not a sample",
        "majority answer": "the one that most samples give",
        "first sampled answer": "the first of the samples in the file",
        "its own top label": "the most probable one",
    }
)
"""What is judged to be right or wrong → what that is."""

MAX_REASONS: Final = 6
"""Number of verdicts up to which each has its reason below the table; of more, those without a test."""


MAX_CELLS_SHOWN_BRIEFLY: Final = 3
"""Bad cells of each kind that are shown where many files are checked at once."""


class ResultPrinter:
    """Prints results on stdout; text is never interpreted as markup."""

    def __init__(self) -> None:
        self._console = Console(markup=False, emoji=False, highlight=False)
        if not self._console.is_terminal:
            self._console.width = 160  # wide enough for the tables in a pipe or a file

    def print_scores(self, file: str, run: str, scores: Sequence[Score]) -> None:
        """Prints the scores of one run, each with its interval, and below them how they were made."""
        columns = ("method", "metric", "value", "95 %", "p")
        rows = [
            (
                score.method,
                score.metric,
                _value_or_bounds(score),
                "" if interval is None else format_interval(interval.low, interval.high),
                _p_value_cell(score.p, score.draws),
            )
            for score in scores
            for interval in (score.interval,)
        ]
        self._print_table(heading(file, run), columns, rows, right={"value", "p"})
        for line in recipe_lines(scores):
            self.print_line(line)
        self._print_remarks((score.method, score.judged, score.remarks) for score in scores)
        for remark in dict.fromkeys(score.remark for score in scores if score.remark):
            self.print_line(remark)
        self.print_line()

    def print_verdicts(self, verdicts: Sequence[Mapping[str, Any]], tolerance: float) -> None:
        """Prints all verdicts with their q, each from its JSON element."""
        columns = ("run", "method", "verdict", "p", "q", "confidence − accuracy", "slope", "rows")
        rows = [
            (
                element["run"],
                element["method"],
                element["words"],
                format_p_value(element["p"], None),
                format_p_value(element["q"], None),
                format_signed(element["level"]),
                format_number(element["slope"], ".2f"),
                f"{element['n_used']:,}/{element['n_total']:,}",
            )
            for element in verdicts
        ]
        self._print_table("Verdicts", columns, rows, right=set(columns[3:]))
        for element in verdicts if len(verdicts) <= MAX_REASONS else ():
            run = f"{element['run']}, {element['method']}: " if len(verdicts) > 1 else ""
            self.print_line(f"{run}{element['reason']}")
        if len(verdicts) > MAX_REASONS:
            for reason in dict.fromkeys(element["reason"] for element in verdicts if element["p"] is None):
                self.print_line(reason)
        n_tested = sum(element["p"] is not None for element in verdicts)
        self.print_line(
            f"Score test of logistic recalibration (Cox); tolerance {tolerance:g} of mean |confidence − "
            f"fitted accuracy|; q: Benjamini–Hochberg over {plural(n_tested, 'verdict')}. "
            "A metric's own p tests the gaps of all bins."
        )
        self.print_line()

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
        """Prints each rule for each run and method, broken ones first, then the summary."""
        columns = ("", "rule", "run", "method", "value", "note")
        rows = [
            (
                "passed" if check.held else "FAILED",
                check.rule.words,
                heading(check.file, check.run),
                check.method or "",
                check.value_words,
                check.reason,
            )
            for check in sorted(checks, key=lambda check: check.held)
        ]
        if rows:
            self._print_table("Rules", columns, rows)
        self.print_line(summary)

    def print_bins(self, file: str, diagram: Reliability) -> None:
        """Prints the bins of one diagram, its headline and its recipe."""
        columns = ("bin", "from, to", "count", "confidence", "accuracy", "accuracy 95 %", "gap")
        rows = [
            (
                str(row["bin"]),
                row["interval"],
                f"{row['count']:,}",
                value_text(row["confidence"]),
                value_text(row["accuracy"]),
                ""
                if row["accuracy_low"] is None
                else format_interval(row["accuracy_low"], row["accuracy_high"], ".3f"),
                format_signed(row["gap"]),
            )
            for row in diagram.table.iter_rows(named=True)
        ]
        self._print_table(
            f"{heading(file, diagram.run)}: {diagram.method}", columns, rows, right=set(columns)
        )
        self.print_line(diagram.headline)
        self.print_line(f"{diagram.score.metric} {value_text(diagram.score.value)}: {diagram.score.recipe}")
        self._print_remarks([(diagram.method, diagram.judged, diagram.remarks)])
        self.print_line()

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
            self._print_run(report.file, run)
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

    def print_view(self, view: View, title: str = "") -> None:
        """Prints the tables of a view, then what is said of them and how the numbers were computed.

        Parameters
        ----------
        view : View
        title : str
            Above the first table, such as the file and the run; the table's own by default.
        """
        for index, table in enumerate((*view.tables, *view.closing_tables)):
            texts = table.texts(with_ids=True)
            right = {column.title for column in table.columns if not column.has_words}
            above = title if title and not index else table.title
            self._print_table(above, texts.columns, texts.iter_rows(), right=right)
            if table.note:
                self.print_line(table.note)
        for line in (view.headline, view.caveat, *view.captions):
            if line:
                self.print_line(line)
        for name, text in view.facts:
            self.print_line(f"{name}: {text}")
        for line in (*view.recipes, *view.remarks, *view.left_out):
            self.print_line(line)
        self.print_line()

    def print_line(self, text: str = "") -> None:
        """Prints text without wrapping; the default is an empty line."""
        self._console.print(escape_unprintable(text), soft_wrap=True)

    def _print_run(self, file: str, report: RunReport) -> None:
        rows = [
            (method, f"{used:,}", _counts_text(report.missing.get(method, {})), _spikes_text(report, method))
            for method, used in report.usable.items()
        ]
        if rows:
            self._print_table(
                heading(file, report.run.label), ("method", "rows used", "missing", "many rows at"), rows
            )
        given = report.survey.usable.items()
        self._print_remarks((id_, evidence.judged, evidence.remarks) for id_, evidence in given)
        row_counts = report.run.row_counts
        if report.accuracy is not None:
            n_known, n_rows = report.n_known_outcomes, report.run.n_total - row_counts.n_left_out
            known = "" if n_known == n_rows else f", known of {n_known:,} of {n_rows:,} rows"
            self.print_line(f"Accuracy of the {report.judged}: {report.accuracy:.4f}{known}")
        if row_counts.n_left_out:
            self.print_line(f"Bad rows of this run: {row_counts.n_left_out:,}")
        if row_counts.clipped:
            moved = ", ".join(f"{name} ({rows:,})" for name, rows in row_counts.clipped.items())
            self.print_line(f"Values at most 1e-6 outside [0, 1], moved onto the edge: {moved}")
        if row_counts.n_inexact_sums:
            self.print_line(
                f"Distributions whose sum is within 1e-3 of 1, used as stored: {row_counts.n_inexact_sums:,}"
            )
        for note in () if given else row_counts.notes:  # the remarks of each method hold them
            self.print_line(note)

    def _print_remarks(self, methods: Iterable[tuple[str, str, tuple[str, ...]]]) -> None:
        """Prints the judged answer and the remarks of methods, methods that share one on one line."""
        methods_of_remark: dict[str, dict[str, None]] = {}
        for method, judged, remarks in methods:
            meaning = _JUDGED_MEANINGS.get(judged)
            for remark in (f"{judged} judged{f' ({meaning})' if meaning else ''}", *remarks):
                methods_of_remark.setdefault(remark, {})[method] = None
        for remark, sharing in methods_of_remark.items():
            self.print_line(f"{', '.join(sharing)}: {remark}")

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
    n_notes = len(report.notes)
    notes = f" ({plural(n_notes, 'note')}: check it alone)" if n_notes else ""
    return (
        f"{report.file}: {plural(report.n_rows, 'row')}, {plural(len(report.runs), 'run')}, read as "
        f"{report.format}. Rows used: {_counts_text(used)}{notes}"
    )


def recipe_lines(scores: Sequence[Score]) -> list[str]:
    """How scores were made, each fact once: what all metrics of a method share, then what is a metric's own.

    A method with one score has nothing to share, so that its line has the whole recipe.
    """
    scores_of: dict[str, list[Score]] = {}
    methods_of: dict[str, list[str]] = {}
    for score in scores:
        scores_of.setdefault(score.method, []).append(score)
        methods_of.setdefault(score.metric, []).append(score.method)
    lines: list[str] = []
    owners: dict[str, dict[str, list[str]]] = {}
    for method, of_method in scores_of.items():
        shared = _shared_parts(of_method)
        if shared:
            lines.append(f"{method}: {', '.join(shared)}")
        for score in of_method:
            own = ", ".join(part for part in score.recipe.split(", ") if part not in shared)
            how = f"{own}; 95 %: {score.interval.interval_method}" if score.interval else own
            owners.setdefault(how, {}).setdefault(score.metric, []).append(method)
    for how, methods_by_metric in owners.items():
        names = [
            metric if methods == methods_of[metric] else f"{metric} by {', '.join(methods)}"
            for metric, methods in methods_by_metric.items()
        ]
        lines.append(f"{', '.join(names)}: {how}")
    return lines


def _shared_parts(scores: Sequence[Score]) -> list[str]:
    """The parts that all recipes have, in their order; none of a single one."""
    first, *others = (score.recipe.split(", ") for score in scores)
    return [part for part in first if others and all(part in other for other in others)]


def _value_or_bounds(score: Score) -> str:
    """The value, or its bounds where only they are known."""
    return (
        value_text(score.value)
        if score.low is None
        else f"{value_text(score.low)} to {value_text(score.high)}"
    )


def _p_value_cell(p: float | None, draws: int | None) -> str:
    return "" if p is None else format_p_value(p, draws)


def value_text(value: float | None) -> str:
    """Formats a value to four decimals, or more for a very small one; None is "not defined"."""
    return NOT_DEFINED if value is None else format_short(value)


def heading(file: str, run: str) -> str:
    """The file, and the run unless its label is just the file's name."""
    return file if run == file_stem(file) else f"{file}: {run}"


def _counts_text(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name}: {rows:,}" for name, rows in counts.items())


def _spikes_text(report: RunReport, method: str) -> str:
    return ", ".join(f"{spike.value:g} ({spike.count:,})" for spike in report.spikes.get(method, ()))
