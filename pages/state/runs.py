"""Which runs can be looked at, and under which id and name?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from zlib import crc32

from calib_core.edges import Scheme
from calib_core.readers.merged_runs import group_parts, merge_parts
from calib_core.results.comparison import MetricEstimate, MetricEstimator, estimate_metric
from calib_core.results.evidence import Evidence
from calib_core.results.files import RunReport, run_report
from calib_core.results.run_names import run_order
from calib_core.runs import AnswerRun
from calib_core.runs import Run as AnyRun
from pages.state.cache import LoadedFile, cached_result


@dataclass(frozen=True, slots=True, eq=False)
class LoadedRun:
    """One run to look at.

    id: for the address, ASCII, the same as long as the file says the same; file: it is from, or what stands
    for its files where there are several; parts: these; place: among all runs at hand (`run_places`),
    uploaded ones last, which gives a run its colour, dash and symbol on every page.
    """

    id: str
    title: str
    file: LoadedFile
    report: RunReport
    part_files: tuple[LoadedFile, ...]
    style_index: int


def slug(text: str) -> str:
    """Lower-case ASCII letters, digits and hyphens; a checksum where letters of other scripts were lost."""
    plain = re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-")
    lossless = all(character.isascii() or character == "·" for character in text)
    return plain if plain and lossless else f"{plain or 'run'}-{crc32(text.encode('utf-8', 'replace')):08x}"


def file_id(file: LoadedFile) -> str:
    """The file in the address and in the keys of its controls; that of an upload is no other file's."""
    return f"uploaded--{slug(file.name)}" if file.is_uploaded else slug(file.name)


def loaded_runs(files: Sequence[LoadedFile], accepted_file_ids: Iterable[str]) -> tuple[LoadedRun, ...]:
    """The runs of all files that load; of a file with bad rows only if its id is in `good`.

    Runs that are parts of one evaluation (`files.united`) are one.
    """
    chosen = set(accepted_file_ids)
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
    wholes = [_merge_parts(parts, waiting) for parts in _group_parts(loaded)]
    labels = Counter((file.is_uploaded, slug(report.run.label)) for file, report, _ in wholes)
    runs: list[LoadedRun] = []
    for file, report, parts in wholes:
        label = report.run.label
        alone = labels[file.is_uploaded, slug(label)] == 1
        id_ = slug(label) if alone else f"{slug(label)}--{slug(file.name)}"
        title = label if alone else f"{label} ({file.name})"
        runs.append(
            LoadedRun(
                id=f"uploaded--{id_}" if file.is_uploaded else id_,
                title=f"{title} · uploaded" if file.is_uploaded else title,
                file=file,
                report=report,
                part_files=parts,
                style_index=0,
            )
        )
    places = _style_indices(runs)
    return tuple(replace(run, style_index=places[run.id]) for run in runs)


def _style_indices(runs: Sequence[LoadedRun]) -> dict[str, int]:
    """Run id → its place: by the ids, those of the folder before those uploaded."""
    places: dict[str, int] = {}
    for uploaded in (False, True):
        own = sorted((run for run in runs if run.file.is_uploaded is uploaded), key=lambda run: run.id)
        found = run_order([run.report.run.info for run in own])
        places |= {run.id: len(places) + place for run, place in zip(own, found, strict=True)}
    return places


def _group_parts(loaded: Sequence[tuple[LoadedFile, RunReport]]) -> list[list[tuple[LoadedFile, RunReport]]]:
    """Files and reports, those of one evaluation together; what one session uploaded stays its own."""
    of = {id(report.run): (file, report) for file, report in loaded}
    sides = [[report.run for file, report in loaded if file.is_uploaded is own] for own in (False, True)]
    return [[of[id(run)] for run in parts] for runs in sides for parts in group_parts(runs)]


def _merge_parts(
    parts: Sequence[tuple[LoadedFile, RunReport]], waiting: Sequence[LoadedFile]
) -> tuple[LoadedFile, RunReport, tuple[LoadedFile, ...]]:
    """The parts of one evaluation as one report, and a file that stands for theirs; waiting: undecided."""
    file, report = parts[0]
    files = tuple(file for file, _ in parts)
    if len(parts) == 1:
        return file, report, files
    lacking = _missing_part_notes(report.run, waiting)
    stamp = replace(file.stamp, part_stamps=tuple(one.stamp for one in files[1:]))
    report = cached_result(
        ("united", stamp, tuple(one.name for one in files), lacking),
        lambda: run_report(merge_parts([report.run for _, report in parts], *lacking)),
    )
    return replace(file, listing=replace(file.listing, name=report.run.file, stamp=stamp)), report, files


def _missing_part_notes(run: AnyRun, waiting: Sequence[LoadedFile]) -> tuple[str, ...]:
    """What is said of the parts that are not there, as nobody has decided on their bad rows."""
    whole = isinstance(run, AnswerRun) and run.evaluation
    others = [(file.name, report.run) for file in waiting if file.report for report in file.report.runs]
    names = [name for name, other in others if isinstance(other, AnswerRun) and other.evaluation == whole]
    if not names:
        return ()
    listed = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    return (f"Not part of it, as their bad rows are undecided: {listed}.",)


# MERGED comparing__to__runs: moved.

MAX_MEASURES = 4096
"""How many numbers with their intervals are kept: each costs a bootstrap and takes no room."""


def cached_measure(runs: Mapping[AnyRun, LoadedRun]) -> MetricEstimator:
    """Numbers with their intervals, each computed once; runs: whose rows may be asked for → as shown.

    By the run itself, not by its file's name and label: a file of the folder and an upload may share both.
    """

    def measure(evidence: Evidence, metric: str, scheme: Scheme) -> MetricEstimate:
        run = runs[evidence.run]
        source = (run.id, run.file.name, run.file.stamp)
        key = ("measured", *source, evidence.method.id, evidence.options, metric, scheme)
        return cached_result(key, lambda: estimate_metric(evidence, metric, scheme), max_results=MAX_MEASURES)

    return measure
