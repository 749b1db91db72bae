"""What every verb does with its input: read files, compute results, print refusals, keep the exit code.

A file, method or metric that cannot be used is reported and does not stop the others.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from rich.console import Console

from calib_core.cli.exit_codes import BAD_ROWS, REFUSED
from calib_core.cli.input_files import InputFiles, display_names, files_of_path, skipped_reasons
from calib_core.cli.json_output import JsonElement, json_document
from calib_core.cli.options import Choice
from calib_core.cli.terminal import escape_unprintable, is_quiet
from calib_core.edges import Scheme
from calib_core.errors import BadRowsFound, CalibError, Refused, Unavailable, shorten, single_line
from calib_core.methods.method import MethodOptions
from calib_core.readers.atomic_write import check_output_path, resolved_path
from calib_core.readers.companions import expected_companions
from calib_core.readers.merged_runs import merge_runs
from calib_core.readers.table.run_split import file_stem
from calib_core.results.corrections import correction_effect, correction_note
from calib_core.results.defaults import default_evidence
from calib_core.results.evidence import Evidence, gather_evidence, get_method, get_metric, survey_methods
from calib_core.results.files import Needs, usable_runs
from calib_core.results.score import metric_availability
from calib_core.runs import Run, TokenRun

_ResultT = TypeVar("_ResultT")


@dataclass(frozen=True, slots=True)
class CommandRequest:
    """What is to be computed.

    Attributes
    ----------
    methods, metrics : tuple[str, ...]
        Ids given by name, without repetition; () if none was.
    scheme : Scheme
        The bins.
    options : MethodOptions
        Options of the confidence methods.
    """

    methods: tuple[str, ...]
    metrics: tuple[str, ...]
    scheme: Scheme
    options: MethodOptions

    @classmethod
    def from_options(
        cls, choice: Choice, scheme: Scheme, options: MethodOptions, *, besides: Sequence[str] = ()
    ) -> CommandRequest:
        """Builds the request from what was typed; `besides` may be named with --metric, too.

        Raises
        ------
        Unavailable
            If a method or metric does not exist.
        """
        methods, metrics = dict.fromkeys(choice.methods or ()), dict.fromkeys(choice.metrics or ())
        option = "--method"
        try:
            for method_id in methods:
                get_method(method_id)
            option = "--metric"
            for metric_id in metrics:
                if metric_id not in besides:
                    get_metric(metric_id)
        except Unavailable as reason:
            raise Unavailable(f"{option}: {reason}") from None
        return cls(tuple(methods), tuple(metrics), scheme, options)


_NUMBER: Final = re.compile(r"[0-9][0-9.,]*")
_MAX_NAMES_SHOWN: Final = 3
_MAX_LABELS_SHOWN: Final = 20
_MAX_MESSAGE_CHARS: Final = 120
"""Characters of a message that are repeated where it holds for other files, too."""


@dataclass(slots=True)
class _RepeatedMessage:
    """A printed message, the file it names, and the names of the other files that it holds for."""

    text: str
    file_name: str
    other_names: dict[str, None] = field(default_factory=dict[str, None])


def _names_of_file(name: str) -> re.Pattern[str]:
    """Matches the display name of a file, and its stem where it stands as a word of its own."""
    return re.compile(rf"{re.escape(name)}|(?<![\w.-]){re.escape(file_stem(name))}(?![\w.-])")


class Runner:
    """Prints messages on stderr and keeps the worst exit code.

    Of messages that differ only in the name of the file and in numbers, the first is printed; the others are
    counted and summarised at the end.

    Parameters
    ----------
    run_labels : sequence of str, optional
        Labels of the runs that are meant; all where omitted.
    warns : bool
        Whether to print what suggests a misreading of a run; False where the verb's own output says it.

    Attributes
    ----------
    exit_code : int
        The exit code so far.
    refusals : list[str]
        Every message that raised it.
    unusable : dict[str, str]
        Display name of each file or folder that could not be used → why.
    """

    def __init__(self, run_labels: Sequence[str] | None = None, *, warns: bool = True) -> None:
        self._run_labels = tuple(run_labels or ())
        self._warns = warns
        self.exit_code = 0
        self.refusals: list[str] = []
        self.unusable: dict[str, str] = {}
        self._file_names: list[str] = []
        self._printed: dict[str, _RepeatedMessage] = {}
        self._console = Console(stderr=True, markup=False, emoji=False, highlight=False, soft_wrap=True)

    def message(self, message: str) -> None:
        """Prints a remark, if it is not like one before and --quiet was not given; keeps the exit code."""
        if not is_quiet():
            self._print(message)

    def _print(self, message: str) -> None:
        name = next((name for name in self._file_names if name in message), None)
        if name is not None:
            pattern = _NUMBER.sub("#", _names_of_file(name).sub("\0", message))
            first = self._printed.setdefault(pattern, _RepeatedMessage(message, name))
            if first.file_name != name:
                first.other_names[name] = None
                return
        self._console.print(escape_unprintable(message))

    def refuse(self, message: str, code: int = REFUSED) -> None:
        """Prints why something requested is not available, and raises the exit code to at least `code`."""
        self.exit_code = max(self.exit_code, code)
        self.refusals.append(message)
        self._print(message)

    def report_bad_rows(self, bad_rows: BadRowsFound) -> str:
        """Prints which rows are bad and the option that leaves them out; returns the message."""
        message = f"{bad_rows}\nTo leave the bad rows out, add --skip-bad-rows."
        self.refuse(message, BAD_ROWS)
        return message

    def finish(self, elements: Sequence[JsonElement], *, as_json: bool) -> int:
        """Prints the JSON list, even an empty one, if `as_json`; returns the exit code."""
        for repeated in self._printed.values():
            if names := list(repeated.other_names):
                shown = ", ".join(names[:_MAX_NAMES_SHOWN]) + (", …" if len(names) > _MAX_NAMES_SHOWN else "")
                count = f"{len(names):,} other file{'s' if len(names) > 1 else ''}"
                text = single_line(repeated.text, _MAX_MESSAGE_CHARS)
                self._console.print(escape_unprintable(f"Also for {count} ({shown}): {text}"))
        if as_json:
            sys.stdout.write(json_document(elements) + "\n")
            sys.stdout.flush()
        return self.exit_code

    def input_files(self, input_files: InputFiles) -> Iterator[tuple[Path, str]]:
        """Yields every file and its display name; refuses a folder without prediction files."""
        parts: dict[Path, int] = {}
        many = input_files.many
        for path in input_files.paths:
            try:
                for found in (path,) if many is None else many.list_paths(path):
                    parts |= files_of_path(found)
            except CalibError as reason:
                self.refuse(str(reason))
                self.unusable[str(path)] = str(reason)
            for reason in skipped_reasons(path):
                self.message(reason)
        if many is not None:
            for address in many.remote:
                try:
                    parts |= many.list_remote(address)
                except CalibError as reason:
                    self.refuse(str(reason))
        names = display_names(parts)
        input_files.start(names)
        self._file_names = sorted(names.values(), key=len, reverse=True)
        yield from names.items()

    def runs(self, input_files: InputFiles, *, needs: Needs = "outcomes") -> Iterator[Run]:
        """Yields the runs that have what is needed and are meant, merged where files are read together.

        Prints why a file cannot be used, and refuses a label that no run has.
        """
        runs = self._usable_runs(input_files, needs)
        if input_files.together:
            runs = iter(merge_runs(runs, with_tables=True))
        return self._labelled(runs) if self._run_labels else runs

    def _labelled(self, runs: Iterator[Run]) -> Iterator[Run]:
        others: dict[str, None] = {}
        found: set[str] = set()
        for run in runs:
            if run.label in self._run_labels:
                found.add(run.label)
                yield run
            else:
                others[run.label] = None
        for label in self._run_labels:
            if label not in found:
                listed = "; ".join(shorten(other) for other in [*found, *others][:_MAX_LABELS_SHOWN])
                self.refuse(f"--run: there is no run {shorten(label)!r}. Runs: {listed or 'none'}")

    def _usable_runs(self, input_files: InputFiles, needs: Needs) -> Iterator[Run]:
        for path, name in self.input_files(input_files):
            try:
                runs = usable_runs(
                    input_files.read(path, name),
                    skip_bad_rows=input_files.skip_bad_rows,
                    read_again=partial(input_files.read, path, name),
                    needs=needs,
                )
            except BadRowsFound as bad_rows:
                self.unusable[name] = self.report_bad_rows(bad_rows)
            except CalibError as reason:
                self.refuse(str(reason))
                self.unusable[name] = str(reason)
            else:
                for run in runs:
                    self._tell_corrections(run)
                yield from runs

    def _tell_corrections(self, run: Run) -> None:
        """Prints what corrections change in a run, by the method that stands for it."""
        if isinstance(run, TokenRun) or run.corrections is None:
            return
        try:
            effect = correction_effect(default_evidence(run))
        except Unavailable:  # a judge's labels without a confidence
            effect = None
        by = "" if effect is None else f" By {effect.method}: {effect.text}."
        self.message(f"{run.file}, {run.label}: {correction_note(run.corrections)}{by}")

    def results(
        self,
        run: Run,
        request: CommandRequest,
        metrics: Sequence[str],
        compute: Callable[[Evidence, str, Scheme], _ResultT],
    ) -> list[_ResultT]:
        """Computes one result for every available method and metric of a run.

        A method or metric requested by name is refused if no combination with it is available; otherwise
        its missing combinations are printed, as are bins that do not fit. Other missing combinations are
        skipped silently.

        Parameters
        ----------
        run : Run
            The run.
        request : CommandRequest
            The requested methods, metrics, bins and options.
        metrics : Sequence[str]
            Ids of the metrics to compute.
        compute : Callable[[Evidence, str, Scheme], _ResultT]
            Computes the result of one method and metric; raises Unavailable where there is none.
        """
        results: list[_ResultT] = []
        computed: set[str] = set()
        missing: list[tuple[str, str, str]] = []
        evidences = list(self._evidences(run, request))
        self._report_unused_options(run, request, evidences)
        if self._warns:
            for suspicion in dict.fromkeys(found for one in evidences for found in one.suspicions):
                self.message(f"{run.file}, {run.label}: {suspicion.text}")
        for evidence in evidences:
            available = metric_availability(evidence, request.scheme)
            for metric in metrics:
                try:
                    results.append(compute(evidence, metric, request.scheme))
                    computed |= {evidence.method.id, metric}
                except Unavailable as reason:
                    if metric in request.metrics or available.get(metric) is None:
                        missing.append((evidence.method.id, metric, str(reason)))
        for method, metric, reason in missing:
            message = f"{run.file}, {run.label}: {metric} by {method} is not available: {reason}"
            never_computed = {method, metric} & ({*request.methods, *request.metrics} - computed)
            if never_computed or not results:
                self.refuse(message)
            elif request.methods or metric not in request.metrics:
                self.message(message)
        return results

    def _report_unused_options(
        self, run: Run, request: CommandRequest, evidences: Sequence[Evidence]
    ) -> None:
        methods = [evidence.method for evidence in evidences]
        renormalise, unaffected = request.options.renormalise, dict[str, list[str]]()
        if renormalise is not None:
            option = "--renormalise" if renormalise else "--no-renormalise"
            unaffected[option] = [method.id for method in methods if not method.renormalises]
        if request.options.unparseable != MethodOptions().unparseable:
            unaffected["--unparseable"] = [method.id for method in methods if not method.uses_samples]
        if request.options.held_out:
            unaffected["--held-out"] = [method.id for method in methods if not method.holds_out]
        for option, ids in unaffected.items():
            if ids:
                self.message(f"{run.file}, {run.label}: {option} has no effect on {', '.join(ids)}.")

    def _evidences(self, run: Run, request: CommandRequest) -> Iterator[Evidence]:
        """Yields the evidence of the requested methods, or of all usable ones."""
        if request.methods:
            for method_id in request.methods:
                try:
                    yield gather_evidence(run, method_id, request.options)
                except Unavailable as reason:
                    self.refuse(f"{run.file}, {run.label}: {method_id} is not available: {reason}")
            return
        survey = survey_methods(run, request.options)
        yield from survey.usable.values()
        if not survey.usable:
            reasons = "".join(f"\n- {reason}" for reason in dict.fromkeys(survey.unavailable.values()))
            # A run with only missing values is not an error, unless an option was requested for it.
            tell = self.message if request.options == MethodOptions() else self.refuse
            tell(f"{run.file}, {run.label}: no method has a usable row.{reasons}")


def input_paths(runner: Runner, input_files: InputFiles, output: Path, verb: str) -> dict[Path, str]:
    """Lists the input files of a verb that writes a file, each once.

    Parameters
    ----------
    runner : Runner
        Prints messages.
    input_files : InputFiles
        The files, and how they are read.
    output : Path
        The file that will be written.
    verb : str
        The verb, for a message.

    Returns
    -------
    dict[Path, str]
        File → its display name.

    Raises
    ------
    Refused
        If there is no file, or the output would overwrite an input file or something that is not a file.
    """
    check_output_path(output)
    inputs: dict[Path, str] = {}
    seen_paths: set[Path] = set()
    for path, name in runner.input_files(input_files):
        check_output_path(output, (path, *expected_companions(path), *input_files.tables))
        if resolved_path(path) in seen_paths:
            runner.message(f"{name} was given twice and is read only once.")
            continue
        seen_paths.add(resolved_path(path))
        inputs[path] = name
    if not inputs and not runner.exit_code:
        raise Refused(f"There is no file to {verb}.")
    return inputs
