"""The command line: `calib VERB FILE... [options]`, or `python -m calib_core` with the same arguments.

A verb's module is imported only when that verb is called, so `--help` does not wait for the libraries that
computing needs.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, Final, TextIO, cast

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command

from calib_core.advice import set_surface
from calib_core.cli.exit_codes import CLOSED_PIPE, REFUSED
from calib_core.cli.option_errors import option_error_text
from calib_core.cli.terminal import escape_unprintable, set_quiet
from calib_core.errors import CalibError
from calib_core.reader_process import start_ahead
from calib_core.version import VERSION

QUIET_OPTIONS: Final = ("-q", "--quiet")
_HELP_OPTIONS: Final = frozenset({"-h", "--help"})


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb as `--help` lists it.

    Attributes
    ----------
    function : tuple[str, str]
        The module that holds the verb's function, and the function's name.
    summary : str
        The first sentence of the function's docstring.
    """

    function: tuple[str, str]
    summary: str


VERBS: Final[Mapping[str, Verb]] = MappingProxyType(
    {
        "check": Verb(
            ("calib_core.cli.commands.check", "check"),
            "Report each file's format, usable methods and bad rows; files read together are reported as "
            "one.",
        ),
        "score": Verb(
            ("calib_core.cli.commands.score", "score"),
            "Compute every metric of every method, with intervals and a verdict.",
        ),
        "bins": Verb(
            ("calib_core.cli.commands.score", "bins"),
            "Print confidence and accuracy, bin by bin.",
        ),
        "sweep": Verb(
            ("calib_core.cli.commands.sweep", "sweep"),
            "Compute metrics over the number of bins M, compared with noise.",
        ),
        "audit": Verb(
            ("calib_core.cli.commands.audit", "audit"),
            "Compute the ECE under every convention in use, by tool.",
        ),
        "recalibrate": Verb(
            ("calib_core.cli.commands.recalibrate", "recalibrate"),
            "Fit a map from confidence to accuracy, evaluate it out of fold, and apply it.",
        ),
        "compare": Verb(
            ("calib_core.cli.commands.compare", "compare"),
            "Compare accuracy and Brier score, one line per run and method.",
        ),
        "samples": Verb(
            ("calib_core.cli.commands.samples", "samples"),
            "Find how many samples are enough for self-consistency.",
        ),
        "threshold": Verb(
            ("calib_core.cli.commands.threshold", "threshold"),
            "Find the confidence threshold at or above which answers are right often enough, "
            "with a guarantee.",
        ),
        "judge": Verb(
            ("calib_core.cli.commands.judge", "judge"),
            "Compare a judge's labels with people's, and estimate how many answers truly pass.",
        ),
        "gate": Verb(
            ("calib_core.cli.commands.gate", "gate"),
            "Check rules in a pipeline: metric limits, locked thresholds, no worse than a baseline.",
        ),
        "reduce": Verb(
            ("calib_core.cli.commands.reduce", "reduce"),
            "Save the sums of token-level files in one small, exact file.",
        ),
        "convert": Verb(
            ("calib_core.cli.commands.convert", "convert"),
            "Convert files to Calib's own format.",
        ),
        "report": Verb(
            ("calib_core.cli.commands.report", "report"),
            "Write a report: one HTML file with figures, tables, recipes and checksums.",
        ),
        "cache": Verb(
            ("calib_core.cli.commands.cache", "cache"),
            "Show or clear the cache of files that were read.",
        ),
        "app": Verb(
            ("calib_core.cli.commands.app", "app"),
            "Open the app in the browser, on the demo data or on a folder of predictions.",
        ),
    }
)


def program_name() -> str:
    """Returns the command the user typed: `calib` or `python -m calib_core`."""
    return "calib" if PurePath(sys.argv[0]).stem == "calib" else "python -m calib_core"


def _placeholder_command() -> None:
    """Stands in for a verb that is listed but not called."""


class _Verbs(TyperGroup):
    """Imports a verb where it is called, or where its options are completed."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:  # noqa: ANN401
        name, _, others = super().resolve_command(ctx, args)
        return name, None if name is None else get_command(load_verb(name)), others


def _new_app(**settings: Any) -> typer.Typer:  # noqa: ANN401  as Typer takes them
    return typer.Typer(
        help=(
            "Can a language model's confidence be believed? Exit code 0: done; 1: a rule of gate is broken; "
            "2: refused; 3: bad rows found."
        ),
        epilog="--version prints the version; --quiet after a verb suppresses progress and remarks.",
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        **settings,
    )


def build_listing() -> typer.Typer:
    """Builds an app that knows every verb's name and summary, and imports the one that is called."""
    app = _new_app(cls=_Verbs, add_completion=program_name() == "calib")
    for name, verb in VERBS.items():
        app.command(name, help=verb.summary)(_placeholder_command)
    return app


def load_verb(name: str) -> typer.Typer:
    """Imports one verb and builds an app that runs it.

    Parameters
    ----------
    name : str
        A key of VERBS.
    """
    module, function = VERBS[name].function
    app = _new_app(add_completion=False)
    app.command(
        epilog=f"{' or '.join(QUIET_OPTIONS)}: print no progress and no remarks on stderr, only refusals."
    )(getattr(import_module(module), function))
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit code.

    Parameters
    ----------
    arguments : Sequence[str] or None
        The arguments without the program's name; None takes them from `sys.argv`.

    Returns
    -------
    int
        0, or a code of `calib_core.cli.exit_codes`.
    """
    from_command_line = arguments is None
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show "·" is no reason to stop.
            stream.reconfigure(errors="backslashreplace")
    if cast("TextIO | None", sys.stdout) is None:
        return _report_closed_stdout("it is closed")
    reads_files = bool(arguments) and arguments[0] in VERBS and arguments[0] != "app"
    if from_command_line and reads_files and _HELP_OPTIONS.isdisjoint(arguments):
        start_ahead()
    is_quiet = reads_files and not set(QUIET_OPTIONS).isdisjoint(arguments)
    quiet_before = set_quiet(quiet=is_quiet)
    if is_quiet:
        arguments = [argument for argument in arguments if argument not in QUIET_OPTIONS]
    surface_before = set_surface("command line")
    try:
        exit_code = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_unwritten(sys.stdout)
        return CLOSED_PIPE
    except OSError as error:  # errors of reading arrive as Refused, so this one comes from printing
        _discard_unwritten(sys.stdout)
        return _report_closed_stdout(error.strerror or str(error))
    finally:
        set_surface(surface_before)
        set_quiet(quiet=quiet_before)
    return exit_code


def _run(arguments: Sequence[str]) -> int:
    arguments = arguments[1:] if arguments[:1] == ["--"] else arguments
    if arguments[:1] == ["--version"]:
        sys.stdout.write(f"calib {VERSION}\n")
        return 0
    try:
        listing = build_listing()
        return int(listing(arguments or ["--help"], prog_name=program_name(), standalone_mode=False) or 0)
    except (TyperException, CalibError) as error:
        message = str(error) if isinstance(error, CalibError) else option_error_text(error)
        verb = f" {arguments[0]}" if arguments and arguments[0] in VERBS else ""
        _write_error(f"{message}\nHelp: {program_name()}{verb} --help")
        if _wants_json(arguments):
            sys.stdout.write("[]\n")
        return REFUSED


def _wants_json(arguments: Sequence[str]) -> bool:
    """Whether the output is JSON; of `gate`, `--format json` says so, too."""
    return not {"--json", "--format=json"}.isdisjoint(arguments) or ("--format", "json") in pairwise(
        arguments
    )


def _write_error(message: str) -> None:
    sys.stderr.write(escape_unprintable(message) + "\n")
    sys.stderr.flush()


def _report_closed_stdout(reason: str) -> int:
    try:
        _write_error(f"Cannot write to standard output: {reason}.")
    except OSError:  # standard error may go to the same full disk
        _discard_unwritten(sys.stderr)
    return REFUSED


def _discard_unwritten(stream: TextIO) -> None:
    # Buffered output would otherwise raise again when Python closes the stream.
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    sys.exit(main())
