"""How are the same questions asked from the command line?  `calib VERB FILE... [options]`.

`python -m calib_core` is the same command. A verb's module is imported when the verb is called: listing them
waits for none of the libraries that computing takes.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath
from types import MappingProxyType
from typing import Final, TextIO, cast

import typer
from typer.exceptions import TyperException

from calib_core.cli.exit_codes import REFUSED
from calib_core.cli.terminal import escape_unprintable
from calib_core.errors import CalibError
from calib_core.reader_process import start_ahead


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb as the list of verbs shows it.

    function: the module that holds it, and its name there; summary: the beginning of its docstring.
    """

    function: tuple[str, str]
    summary: str


VERBS: Final[Mapping[str, Verb]] = MappingProxyType(
    {
        "check": Verb(
            ("calib_core.cli.commands.check", "check"),
            "What is each file, what can it give, and what is wrong with it?",
        ),
        "score": Verb(
            ("calib_core.cli.commands.score", "score"),
            "How good is each method, as one number a metric?",
        ),
        "bins": Verb(
            ("calib_core.cli.commands.score", "bins"),
            "Is it right as often as it says, bin by bin?",
        ),
        "sweep": Verb(
            ("calib_core.cli.commands.sweep", "sweep"),
            "Does the number depend on M, and by how much more than noise makes it?",
        ),
        "compare": Verb(
            ("calib_core.cli.commands.compare", "compare"),
            "Which model is both accurate and honest? Accuracy against Brier score, one point a run and method.",
        ),
        "samples": Verb(
            ("calib_core.cli.commands.samples", "samples"),
            "How many samples are enough for self-consistency?",
        ),
        "reduce": Verb(
            ("calib_core.cli.commands.reduce", "reduce"),
            "Which sums do these token-level files come to?  All runs are saved in one small, exact file.",
        ),
        "convert": Verb(
            ("calib_core.cli.commands.convert", "convert"),
            "What do these files hold, in the project's own format?  It reads back to the same numbers.",
        ),
        "report": Verb(
            ("calib_core.cli.commands.report", "report"),
            "What do these files say, as one HTML file to send: figures, tables, recipes, checksums?",
        ),
        "app": Verb(
            ("calib_core.cli.commands.app", "app"),
            "Opens the app in the browser, on the demo data or on a folder of predictions.",
        ),
    }
)


def program() -> str:
    """What a person types to come here: `calib` where that command was called."""
    return "calib" if PurePath(sys.argv[0]).stem == "calib" else "python -m calib_core"


def _not_loaded() -> None:
    """Stands for a verb where verbs are only listed."""


def _typer() -> typer.Typer:
    return typer.Typer(
        help=(
            "Can a language model's confidence be believed? Exit code 0: done; 2: refused; 3: bad rows found."
        ),
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )


def listing() -> typer.Typer:
    """Every verb with its summary: what `--help` shows, and what an unknown verb is compared with."""
    verbs = _typer()
    for name, verb in VERBS.items():
        verbs.command(name, help=verb.summary)(_not_loaded)
    return verbs


def loaded(name: str) -> typer.Typer:
    """One verb, ready to be called."""
    module, function = VERBS[name].function
    verb = _typer()
    verb.command()(getattr(import_module(module), function))
    return verb


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line (without the program's name); returns its exit code."""
    own = arguments is None
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="backslashreplace"
            )  # a terminal that cannot show "·" is no reason to stop
    if cast("TextIO | None", sys.stdout) is None:
        return _report_closed_stdout("it is closed")
    if own and arguments and arguments[0] in VERBS and arguments[0] != "app" and "--help" not in arguments:
        start_ahead()
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_unwritten(sys.stdout)
        return 1
    except OSError as wrong:  # reading turns its own into Refused: this one is of printing
        _discard_unwritten(sys.stdout)
        return _report_closed_stdout(wrong.strerror or str(wrong))
    return code


def _run(arguments: Sequence[str]) -> int:
    arguments = arguments[1:] if arguments[:1] == ["--"] else arguments
    try:
        if arguments and arguments[0] in VERBS:
            return _called(loaded(arguments[0]), arguments[1:], f"{program()} {arguments[0]}")
        return _called(listing(), arguments or ["--help"], program())
    except (TyperException, CalibError) as wrong:
        message = wrong.format_message() if isinstance(wrong, TyperException) else str(wrong)
        _tell(f"{message}\nHelp: {program()} VERB --help")
        if "--json" in arguments:
            sys.stdout.write("[]\n")
        return REFUSED


def _called(app: typer.Typer, words: Sequence[str], name: str) -> int:
    return int(app(words, prog_name=name, standalone_mode=False) or 0)


def _tell(message: str) -> None:
    sys.stderr.write(escape_unprintable(message) + "\n")
    sys.stderr.flush()


def _report_closed_stdout(reason: str) -> int:
    try:
        _tell(f"Nothing more can be printed on standard output: {reason}.")
    except OSError:  # it may be the same full disk
        _discard_unwritten(sys.stderr)
    return REFUSED


def _discard_unwritten(stream: TextIO) -> None:
    # What is still unwritten would otherwise fail once more when Python closes the stream.
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    sys.exit(main())
