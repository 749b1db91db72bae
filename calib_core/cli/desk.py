"""What is asked for, what is given and what refused, so that no bad file or wish stops another?"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from rich.console import Console

from calib_core.analysis.check import usable_runs
from calib_core.analysis.evidence import Evidence, gather, method_of, metric_of, survey
from calib_core.analysis.score import available_metrics
from calib_core.bins import Scheme
from calib_core.cli.elements import Element, document
from calib_core.cli.exit_codes import BAD_ROWS, REFUSED
from calib_core.cli.sources import Source, files_in, names_of, passed_over
from calib_core.cli.text import printable
from calib_core.confidence.method import Options
from calib_core.files.harness.united import united
from calib_core.problems import BadRowsFound, CalibError, Unavailable
from calib_core.records import Run

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be computed; methods, metrics: those asked for by name, () = none was."""

    methods: tuple[str, ...]
    metrics: tuple[str, ...]
    scheme: Scheme
    options: Options

    @classmethod
    def of(
        cls, methods: Sequence[str] | None, metrics: Sequence[str] | None, scheme: Scheme, options: Options
    ) -> Wish:
        """From the options as typed; raises Unavailable for a method or metric that does not exist."""
        wish = cls(tuple(dict.fromkeys(methods or ())), tuple(dict.fromkeys(metrics or ())), scheme, options)
        for method_id in wish.methods:
            method_of(method_id)
        for metric_id in wish.metrics:
            metric_of(metric_id)
        return wish


class Desk:
    """Speaks on stderr and remembers the worst exit code."""

    def __init__(self) -> None:
        self.code = 0
        self._console = Console(stderr=True, markup=False, emoji=False, highlight=False, soft_wrap=True)

    def tell(self, message: str) -> None:
        """Prints a message that changes no exit code."""
        self._console.print(printable(message))

    def refuse(self, message: str, code: int = REFUSED) -> None:
        """Prints why something asked for is not given; the worst code wins."""
        self.code = max(self.code, code)
        self.tell(message)

    def ask(self, bad: BadRowsFound) -> str:
        """Prints which rows are bad, and the option that leaves them out; returns what it printed."""
        message = f"{bad}\nTo leave the bad rows out, add --skip-bad-rows."
        self.refuse(message, BAD_ROWS)
        return message

    def leave(self, elements: Sequence[Element], *, as_json: bool) -> int:
        """Prints the list, empty or not, where JSON was asked for; returns the exit code."""
        if as_json:
            sys.stdout.write(document(elements) + "\n")
            sys.stdout.flush()
        return self.code

    def files(self, source: Source) -> Iterator[tuple[Path, str]]:
        """Every file and its name; a folder that holds none is refused."""
        parts: dict[Path, int] = {}
        for path in source.paths:
            try:
                parts |= files_in(path)
            except CalibError as reason:
                self.refuse(str(reason))
            for reason in passed_over(path):
                self.tell(reason)
        yield from names_of(parts).items()

    def runs(self, source: Source, *, together: bool = False) -> Iterator[Run]:
        """Every run that can be computed with; the files of the others are refused or asked about.

        together: whether the parts of one evaluation are one run.
        """
        runs = self._usable_runs(source)
        return iter(united(runs)) if together else runs

    def _usable_runs(self, source: Source) -> Iterator[Run]:
        for path, name in self.files(source):
            try:
                runs = usable_runs(source.read(path, name), skip_bad_rows=source.skip_bad_rows)
            except BadRowsFound as bad:
                self.ask(bad)
            except CalibError as reason:
                self.refuse(str(reason))
            else:
                yield from runs

    def results(
        self,
        run: Run,
        wish: Wish,
        metrics: Sequence[str],
        make: Callable[[Evidence, str, Scheme], Result],
    ) -> list[Result]:
        """`make` of every method and metric of the run that can be had.

        A method or metric asked for by name is refused if nothing of it can be had, else its lacking
        combinations are told, as are bins that do not fit; the rest is left out in silence.
        """
        made: list[Result] = []
        given: set[str] = set()
        lacking: list[tuple[str, str, str]] = []
        evidences = list(self._evidences(run, wish))
        self._tell_of_idle_switches(run, wish, evidences)
        for evidence in evidences:
            available = available_metrics(evidence, wish.scheme)
            for metric in metrics:
                try:
                    made.append(make(evidence, metric, wish.scheme))
                    given |= {evidence.method.id, metric}
                except Unavailable as reason:
                    if metric in wish.metrics or available[metric] is None:
                        lacking.append((evidence.method.id, metric, str(reason)))
        for method, metric, reason in lacking:
            line = f"{run.file}, {run.label}: {metric} by {method} cannot be given: {reason}"
            unmet = {method, metric} & ({*wish.methods, *wish.metrics} - given)
            if unmet or not made:
                self.refuse(line)
            elif wish.methods or metric not in wish.metrics:
                self.tell(line)
        return made

    def _tell_of_idle_switches(self, run: Run, wish: Wish, evidences: Sequence[Evidence]) -> None:
        methods = [evidence.method for evidence in evidences]
        wished, idle = wish.options.renormalise, dict[str, list[str]]()
        if wished is not None:
            switch = "--renormalise" if wished else "--no-renormalise"
            idle[switch] = [method.id for method in methods if not method.renormalises]
        if wish.options.unparseable != Options().unparseable:
            idle["--unparseable"] = [method.id for method in methods if not method.sampled]
        for switch, ids in idle.items():
            if ids:
                self.tell(f"{run.file}, {run.label}: {switch} changes nothing of {', '.join(ids)}.")

    def _evidences(self, run: Run, wish: Wish) -> Iterator[Evidence]:
        """The methods asked for, or all that are usable."""
        if wish.methods:
            for method_id in wish.methods:
                try:
                    yield gather(run, method_id, wish.options)
                except Unavailable as reason:
                    self.refuse(f"{run.file}, {run.label}: {method_id} cannot be given: {reason}")
            return
        surveyed = survey(run, wish.options)
        yield from surveyed.usable.values()
        if not surveyed.usable:
            reasons = "".join(f"\n- {reason}" for reason in dict.fromkeys(surveyed.refused.values()))
            # Options are asked for as names are; with none, a run of missing values alone is no fault.
            say = self.tell if wish.options == Options() else self.refuse
            say(f"{run.file}, {run.label}: no method has a usable row.{reasons}")
