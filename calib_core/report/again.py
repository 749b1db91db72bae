"""By which command line is a report made again, with the same numbers?"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from calib_core.bins import Scheme
from calib_core.confidence.method import Options
from calib_core.report.subject import Asked

TYPED_THERE = "To be typed in the folder it was typed in, where Calib can be found (README)."
AMONG_FILES = (
    "To be typed in the folder of the files, where Calib can be found (PYTHONPATH names its folder; README)."
)


@dataclass(frozen=True, slots=True)
class Again:
    """The words of a report's command line, as they were typed or could have been.

    files: paths; output: the file written; pages, runs: () = all; format, columns, gold: how every file is
    read; place: where it is to be typed.
    """

    files: tuple[str, ...]
    output: str
    asked: Asked
    pages: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    skip_bad_rows: bool = False
    format: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    gold: str | None = None
    place: str = TYPED_THERE

    @property
    def line(self) -> str:
        """The line, quoted for a shell."""
        return shlex.join(["python", "-m", "calib_core", *self.words])

    @property
    def words(self) -> list[str]:
        """What follows the program's name."""
        which = (*_each("--page", self.pages), *_each("--run", self.runs))
        options = (*self._numbers(), *self._reading(), *which)
        # A name that begins with a hyphen is no option: nothing behind "--" is.
        return ["report", *options, "-o", self.output, "--", *self.files]

    def _numbers(self) -> Iterator[str]:
        asked, usual, scheme = self.asked, Options(), Scheme()
        yield from _each("--method", asked.methods)
        yield from _each("--metric", asked.metrics)
        if asked.scheme.bins != scheme.bins:
            yield from ("--bins", str(asked.scheme.bins))
        if asked.scheme.binning != scheme.binning:
            yield from ("--binning", asked.scheme.binning)
        if asked.bin is not None:
            yield from ("--bin", str(asked.bin))
        if asked.options.labels != usual.labels:
            yield from ("--labels", asked.options.labels)
        if asked.options.renormalise is not None:
            yield "--renormalise" if asked.options.renormalise else "--no-renormalise"
        if asked.options.unparseable != usual.unparseable:
            yield from ("--unparseable", asked.options.unparseable)

    def _reading(self) -> Iterator[str]:
        if self.skip_bad_rows:
            yield "--skip-bad-rows"
        if self.format is not None:
            yield from ("--format", self.format)
        yield from _each("--map", [f"{column}={name}" for column, name in self.columns.items()])
        if self.gold is not None:
            yield from ("--gold", self.gold)


def _each(option: str, values: Sequence[str]) -> Iterator[str]:
    """The option once a value; one that begins with a hyphen is joined to it, or it would be an option."""
    for value in values:
        yield from (f"{option}={value}",) if value.startswith("-") else (option, value)
