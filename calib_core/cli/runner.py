"""Which files does a verb read that writes one, each once, and none of them the one it writes?"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from rich.console import Console

from calib_core.cli.exit_codes import BAD_ROWS, REFUSED
from calib_core.cli.input_files import InputFiles, display_names, files_of_path, skipped_reasons
from calib_core.cli.json_output import JsonElement, json_document
from calib_core.cli.terminal import escape_unprintable
from calib_core.edges import Scheme
from calib_core.errors import BadRowsFound, CalibError, Refused, Unavailable
from calib_core.methods.method import MethodOptions
from calib_core.readers.atomic_write import check_output_path, resolved_path
from calib_core.readers.companions import expected_companions
from calib_core.readers.merged_runs import merge_runs
from calib_core.results.evidence import Evidence, gather_evidence, get_method, get_metric, survey_methods
from calib_core.results.files import usable_runs
from calib_core.results.score import metric_availability
from calib_core.runs import Run

# MERGED desk: What is asked for, what is given and what refused, so that no bad file or wish stops another?

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class CommandRequest:
    """What is to be computed; methods, metrics: those asked for by name, () = none was."""

    methods: tuple[str, ...]
    metrics: tuple[str, ...]
    scheme: Scheme
    options: MethodOptions

    @classmethod
    def from_options(
        cls,
        methods: Sequence[str] | None,
        metrics: Sequence[str] | None,
        scheme: Scheme,
        options: MethodOptions,
    ) -> CommandRequest:
        """From the options as typed; raises Unavailable for a method or metric that does not exist."""
        wish = cls(tuple(dict.fromkeys(methods or ())), tuple(dict.fromkeys(metrics or ())), scheme, options)
        for method_id in wish.methods:
            get_method(method_id)
        for metric_id in wish.metrics:
            get_metric(metric_id)
        return wish


class Runner:
    """Speaks on stderr and remembers the worst exit code."""

    def __init__(self) -> None:
        self.code = 0
        self._console = Console(stderr=True, markup=False, emoji=False, highlight=False, soft_wrap=True)

    def message(self, message: str) -> None:
        """Prints a message that changes no exit code."""
        self._console.print(escape_unprintable(message))

    def refuse(self, message: str, code: int = REFUSED) -> None:
        """Prints why something asked for is not given; the worst code wins."""
        self.code = max(self.code, code)
        self.message(message)

    def report_bad_rows(self, bad: BadRowsFound) -> str:
        """Prints which rows are bad, and the option that leaves them out; returns what it printed."""
        message = f"{bad}\nTo leave the bad rows out, add --skip-bad-rows."
        self.refuse(message, BAD_ROWS)
        return message

    def finish(self, elements: Sequence[JsonElement], *, as_json: bool) -> int:
        """Prints the list, empty or not, where JSON was asked for; returns the exit code."""
        if as_json:
            sys.stdout.write(json_document(elements) + "\n")
            sys.stdout.flush()
        return self.code

    def input_files(self, input_files: InputFiles) -> Iterator[tuple[Path, str]]:
        """Every file and its name; a folder that holds none is refused."""
        parts: dict[Path, int] = {}
        for path in input_files.paths:
            try:
                parts |= files_of_path(path)
            except CalibError as reason:
                self.refuse(str(reason))
            for reason in skipped_reasons(path):
                self.message(reason)
        yield from display_names(parts).items()

    def runs(self, input_files: InputFiles, *, together: bool = False) -> Iterator[Run]:
        """Every run that can be computed with; the files of the others are refused or asked about.

        together: whether the parts of one evaluation are one run.
        """
        runs = self._usable_runs(input_files)
        return iter(merge_runs(runs)) if together else runs

    def _usable_runs(self, input_files: InputFiles) -> Iterator[Run]:
        for path, name in self.input_files(input_files):
            try:
                runs = usable_runs(input_files.read(path, name), skip_bad_rows=input_files.skip_bad_rows)
            except BadRowsFound as bad:
                self.report_bad_rows(bad)
            except CalibError as reason:
                self.refuse(str(reason))
            else:
                yield from runs

    def results(
        self,
        run: Run,
        request: CommandRequest,
        metrics: Sequence[str],
        compute: Callable[[Evidence, str, Scheme], ResultT],
    ) -> list[ResultT]:
        """`make` of every method and metric of the run that can be had.

        A method or metric asked for by name is refused if nothing of it can be had, else its lacking
        combinations are told, as are bins that do not fit; the rest is left out in silence.
        """
        made: list[ResultT] = []
        given: set[str] = set()
        lacking: list[tuple[str, str, str]] = []
        evidences = list(self._evidences(run, request))
        self._report_unused_options(run, request, evidences)
        for evidence in evidences:
            available = metric_availability(evidence, request.scheme)
            for metric in metrics:
                try:
                    made.append(compute(evidence, metric, request.scheme))
                    given |= {evidence.method.id, metric}
                except Unavailable as reason:
                    if metric in request.metrics or available[metric] is None:
                        lacking.append((evidence.method.id, metric, str(reason)))
        for method, metric, reason in lacking:
            line = f"{run.file}, {run.label}: {metric} by {method} cannot be given: {reason}"
            unmet = {method, metric} & ({*request.methods, *request.metrics} - given)
            if unmet or not made:
                self.refuse(line)
            elif request.methods or metric not in request.metrics:
                self.message(line)
        return made

    def _report_unused_options(
        self, run: Run, request: CommandRequest, evidences: Sequence[Evidence]
    ) -> None:
        methods = [evidence.method for evidence in evidences]
        wished, idle = request.options.renormalise, dict[str, list[str]]()
        if wished is not None:
            switch = "--renormalise" if wished else "--no-renormalise"
            idle[switch] = [method.id for method in methods if not method.renormalises]
        if request.options.unparseable != MethodOptions().unparseable:
            idle["--unparseable"] = [method.id for method in methods if not method.uses_samples]
        for switch, ids in idle.items():
            if ids:
                self.message(f"{run.file}, {run.label}: {switch} changes nothing of {', '.join(ids)}.")

    def _evidences(self, run: Run, request: CommandRequest) -> Iterator[Evidence]:
        """The methods asked for, or all that are usable."""
        if request.methods:
            for method_id in request.methods:
                try:
                    yield gather_evidence(run, method_id, request.options)
                except Unavailable as reason:
                    self.refuse(f"{run.file}, {run.label}: {method_id} cannot be given: {reason}")
            return
        surveyed = survey_methods(run, request.options)
        yield from surveyed.usable.values()
        if not surveyed.usable:
            reasons = "".join(f"\n- {reason}" for reason in dict.fromkeys(surveyed.unavailable.values()))
            # Options are asked for as names are; with none, a run of missing values alone is no fault.
            say = self.message if request.options == MethodOptions() else self.refuse
            say(f"{run.file}, {run.label}: no method has a usable row.{reasons}")


def input_paths(runner: Runner, input_files: InputFiles, output: Path, verb: str) -> dict[Path, str]:
    """Every file and its name, each once; verb: as a message says it.

    Raises Refused where there is none, or the output would take the place of one or of what is no file.
    """
    check_output_path(output)
    inputs: dict[Path, str] = {}
    known: set[Path] = set()
    for path, name in runner.input_files(input_files):
        check_output_path(
            output, (path, *expected_companions(path), *([input_files.gold] if input_files.gold else []))
        )
        if resolved_path(path) in known:
            runner.message(f"{name} was given twice and is read once.")
            continue
        known.add(resolved_path(path))
        inputs[path] = name
    if not inputs and not runner.code:
        raise Refused(f"There is no file to {verb}.")
    return inputs
