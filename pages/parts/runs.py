"""Which runs can be looked at, and under which id and name?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from zlib import crc32

from calib_core.analysis.check import RunReport, run_report
from calib_core.analysis.run_places import run_places
from calib_core.files.harness.united import parts_of, together
from calib_core.records import AnswerRun
from calib_core.records import Run as AnyRun
from pages.parts.cache import File, kept


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One run to look at.

    id: for the address, ASCII, the same as long as the file says the same; file: it is from, or what stands
    for its files where there are several; parts: these; place: among all runs at hand (`run_places`),
    uploaded ones last, which gives a run its colour, dash and symbol on every page.
    """

    id: str
    title: str
    file: File
    report: RunReport
    parts: tuple[File, ...]
    place: int


def slug(text: str) -> str:
    """Lower-case ASCII letters, digits and hyphens; a checksum where letters of other scripts were lost."""
    plain = re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-")
    lossless = all(character.isascii() or character == "·" for character in text)
    return plain if plain and lossless else f"{plain or 'run'}-{crc32(text.encode('utf-8', 'replace')):08x}"


def file_id(file: File) -> str:
    """The file in the address and in the keys of its controls; that of an upload is no other file's."""
    return f"uploaded--{slug(file.name)}" if file.uploaded else slug(file.name)


def runs_of(files: Sequence[File], good: Iterable[str]) -> tuple[Run, ...]:
    """The runs of all files that load; of a file with bad rows only if its id is in `good`.

    Runs that are parts of one evaluation (`files.united`) are one.
    """
    chosen = set(good)
    waiting = [
        file for file in files if file.report and file.report.status == "asks" and file_id(file) not in chosen
    ]
    loaded = [
        (file, report)
        for file in files
        if file.report and file.report.status != "refused" and file not in waiting
        for report in file.report.runs
        if report.usable
    ]
    wholes = [_whole(parts, waiting) for parts in _parts(loaded)]
    labels = Counter((file.uploaded, slug(report.run.label)) for file, report, _ in wholes)
    runs: list[Run] = []
    for file, report, parts in wholes:
        label = report.run.label
        alone = labels[file.uploaded, slug(label)] == 1
        id_ = slug(label) if alone else f"{slug(label)}--{slug(file.name)}"
        title = label if alone else f"{label} ({file.name})"
        runs.append(
            Run(
                id=f"uploaded--{id_}" if file.uploaded else id_,
                title=f"{title} · uploaded" if file.uploaded else title,
                file=file,
                report=report,
                parts=parts,
                place=0,
            )
        )
    places = _places(runs)
    return tuple(replace(run, place=places[run.id]) for run in runs)


def _places(runs: Sequence[Run]) -> dict[str, int]:
    """Run id → its place: by the ids, those of the folder before those uploaded."""
    places: dict[str, int] = {}
    for uploaded in (False, True):
        own = sorted((run for run in runs if run.file.uploaded is uploaded), key=lambda run: run.id)
        found = run_places([run.report.run.info for run in own])
        places |= {run.id: len(places) + place for run, place in zip(own, found, strict=True)}
    return places


def _parts(loaded: Sequence[tuple[File, RunReport]]) -> list[list[tuple[File, RunReport]]]:
    """Files and reports, those of one evaluation together; what one session uploaded stays its own."""
    of = {id(report.run): (file, report) for file, report in loaded}
    sides = [[report.run for file, report in loaded if file.uploaded is own] for own in (False, True)]
    return [[of[id(run)] for run in parts] for runs in sides for parts in parts_of(runs)]


def _whole(
    parts: Sequence[tuple[File, RunReport]], waiting: Sequence[File]
) -> tuple[File, RunReport, tuple[File, ...]]:
    """The parts of one evaluation as one report, and a file that stands for theirs; waiting: undecided."""
    file, report = parts[0]
    files = tuple(file for file, _ in parts)
    if len(parts) == 1:
        return file, report, files
    lacking = _lacking(report.run, waiting)
    stamp = replace(file.stamp, others=tuple(one.stamp for one in files[1:]))
    report = kept(
        ("united", stamp, tuple(one.name for one in files), lacking),
        lambda: run_report(together([report.run for _, report in parts], *lacking)),
    )
    return replace(file, listed=replace(file.listed, name=report.run.file, stamp=stamp)), report, files


def _lacking(run: AnyRun, waiting: Sequence[File]) -> tuple[str, ...]:
    """What is said of the parts that are not there, as nobody has decided on their bad rows."""
    whole = isinstance(run, AnswerRun) and run.part_of
    others = [(file.name, report.run) for file in waiting if file.report for report in file.report.runs]
    names = [name for name, other in others if isinstance(other, AnswerRun) and other.part_of == whole]
    if not names:
        return ()
    listed = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    return (f"Not part of it, as their bad rows are undecided: {listed}.",)
