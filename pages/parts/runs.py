"""Which runs can be looked at, and under which id and name?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from zlib import crc32

from calib_core.analysis.check import RunReport
from pages.parts.cache import File


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One run to look at. id: for the address, ASCII, the same as long as the file says the same."""

    id: str
    title: str
    file: File
    report: RunReport


def slug(text: str) -> str:
    """Lower-case ASCII letters, digits and hyphens; a checksum where letters of other scripts were lost."""
    plain = re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-")
    lossless = all(character.isascii() or character == "·" for character in text)
    return plain if plain and lossless else f"{plain or 'run'}-{crc32(text.encode('utf-8', 'replace')):08x}"


def runs_of(files: Sequence[File], good: Iterable[str]) -> tuple[Run, ...]:
    """The runs of all files that load; of a file with bad rows only if its id is in `good`."""
    chosen = set(good)
    reports = [
        (file, report)
        for file in files
        if file.report
        and (file.report.status == "loads" or (file.report.status == "asks" and slug(file.name) in chosen))
        for report in file.report.runs
        if report.usable
    ]
    labels = Counter(slug(report.run.label) for _, report in reports)
    runs: list[Run] = []
    for file, report in reports:
        label = report.run.label
        alone = labels[slug(label)] == 1
        runs.append(
            Run(
                id=slug(label) if alone else f"{slug(label)}--{slug(file.name)}",
                title=label if alone else f"{label} ({file.name})",
                file=file,
                report=report,
            )
        )
    return tuple(runs)
