"""Which runs can be shown, and under which id and name?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final
from zlib import crc32

from calib_core.edges import Scheme
from calib_core.readers.merged_runs import group_parts, merge_parts, tables_as_parts
from calib_core.results.comparison import MetricEstimate, MetricEstimator, estimate_metric
from calib_core.results.evidence import Evidence
from calib_core.results.files import RunReport, run_report
from calib_core.results.groups import GroupBy, group_by_choices
from calib_core.results.run_names import real_name, run_order
from calib_core.runs import AnswerRun
from calib_core.runs import Run as AnyRun
from pages.state.cache import MAX_RESULTS, FileStamp, LoadedFile, cached_result

MAX_MEASURES = 4096
"""How many metric estimates are kept; each costs a bootstrap and takes little memory."""


@dataclass(frozen=True, slots=True, eq=False)
class LoadedRun:
    """One run that a page can show.

    Attributes
    ----------
    id : str
        ASCII id for the address, made of the run's label and, where that is not unique, its file's name. The
        name that a person gives its data is left out, so naming the data does not change the id.
    title : str
        What pages call the run: a `GivenName` where the person renamed it.
    file : LoadedFile
        The file of the run, or a stand-in for its files where there are several.
    report : RunReport
    part_files : tuple of LoadedFile
        The files of the run.
    style_index : int
        Place among all runs (uploaded ones first), which sets a run's colour, dash and symbol on every page.
    is_pinned : bool
        Whether the person wants the run first in every list.
    """

    id: str
    title: str
    file: LoadedFile
    report: RunReport
    part_files: tuple[LoadedFile, ...]
    style_index: int
    is_pinned: bool = False

    @property
    def source(self) -> tuple[str, FileStamp, str]:
        """What tells its numbers from those of any other run, also of another version of its file."""
        return (self.file.name, self.file.stamp, self.id)

    @property
    def real_title(self) -> str:
        """The title that the run has by its file."""
        return real_name(self.title)


UPLOADED_PREFIX: Final = "uploaded--"
"""Of the ids of files and runs that are a session's own; a slug has no two hyphens in a row."""

UNNAMED_DATASET: Final = "_"
"""Id of the data set of runs whose files name none; a slug has no underscore."""

MAX_NAMED_FILES: Final = 2
"""Up to so many files name a data set that has no name."""


def slug(text: str, *, exact: bool = False) -> str:
    """Return the text as lower-case ASCII letters, digits, dots and hyphens.

    A checksum is added where letters of other scripts are lost, or, if `exact`, wherever anything is.
    """
    plain = re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-")
    lossless = plain == text if exact else all(one.isascii() or one == "·" for one in text)
    return plain if plain and lossless else f"{plain or 'run'}-{crc32(text.encode('utf-8', 'replace')):08x}"


def file_id(file: LoadedFile) -> str:
    """Return the file's id for address and widget keys, which no other file has, on disk or uploaded."""
    return f"{UPLOADED_PREFIX if file.is_uploaded else ''}{slug(file.name, exact=True)}"


def dataset_id(run: LoadedRun) -> str:
    """Return the id of the run's data set for the address."""
    name = run.report.run.info.dataset
    return UNNAMED_DATASET if name is None else slug(name)


def dataset_titles(runs: Sequence[LoadedRun]) -> dict[str, str]:
    """Return data set id → what pages call it, those that files name first.

    Runs whose files name none are one data set, as they may be the answers of several models to the same
    questions. It is called as its files are.
    """
    titles = {slug(name): name for run in runs if (name := run.report.run.info.dataset) is not None}
    unnamed = dict.fromkeys(run.file.name for run in runs if run.report.run.info.dataset is None)
    if unnamed:
        names = [PurePosixPath(name).stem for name in unnamed]
        titles[UNNAMED_DATASET] = (
            ", ".join(names) if len(names) <= MAX_NAMED_FILES else f"No data set named ({len(names)} files)"
        )
    return titles


def loaded_runs(files: Sequence[LoadedFile], accepted_file_ids: Iterable[str]) -> tuple[LoadedRun, ...]:
    """Return the runs of all loaded files, with the parts of one evaluation merged into one run.

    Parameters
    ----------
    files : Sequence of LoadedFile
    accepted_file_ids : Iterable of str
        Ids of the files with bad rows whose good rows are loaded; others with bad rows are left out.
    """
    accepted = set(accepted_file_ids)
    waiting = [
        file
        for file in files
        if file.report and file.report.status == "asks" and file_id(file) not in accepted
    ]
    loaded = [
        (file, report)
        for file in files
        if file.report and file.report.status != "refused" and file not in waiting
        for report in file.report.runs
        if report.usable or report.has_judge_and_people
    ]
    named = _with_named_parts(loaded)
    as_read = {id(report): pair for (_, report), pair in zip(named, loaded, strict=True)}
    groups = [
        group if len(group) > 1 else [as_read[id(report)] for _, report in group]
        for group in _group_parts(named)
    ]
    merged = [_merge_parts(parts, waiting, max_merged=len(groups)) for parts in groups]
    slugs = [slug(_label_in_file(report.run, file.mapping.dataset)) for file, report, _ in merged]
    n_same_id = Counter((file.is_uploaded, id_) for id_, (file, _, _) in zip(slugs, merged, strict=True))
    labels = Counter((file.is_uploaded, slug(report.run.label)) for file, report, _ in merged)
    has_both = len({file.is_uploaded for file, _, _ in merged}) == 2
    runs: list[LoadedRun] = []
    for slug_, (file, report, parts) in zip(slugs, merged, strict=True):
        label = report.run.label
        id_ = slug_ if n_same_id[file.is_uploaded, slug_] == 1 else f"{slug_}--{slug(file.name, exact=True)}"
        title = label if labels[file.is_uploaded, slug(label)] == 1 else f"{label} ({file.name})"
        runs.append(
            LoadedRun(
                id=f"{UPLOADED_PREFIX}{id_}" if file.is_uploaded else id_,
                title=f"{title} · uploaded" if file.is_uploaded and has_both else title,
                file=file,
                report=report,
                part_files=parts,
                style_index=0,
            )
        )
    style_indices = _style_indices(runs)
    return tuple(replace(run, style_index=style_indices[run.id]) for run in runs)


def _label_in_file(run: AnyRun, given_dataset: str) -> str:
    """Return the run's label without the name that a person gave its data; "" where there is none."""
    if not given_dataset or run.info.dataset != given_dataset:
        return run.label
    named, unnamed = run.info.label(""), replace(run.info, dataset=None).label("")
    if unnamed and run.label.startswith(named):
        return unnamed + run.label.removeprefix(named)
    name, _, number = run.label.rpartition(f" · {given_dataset}")  # called as its file is
    return name + number


def runs_with_tolerance(runs: Sequence[LoadedRun], tolerance: float | None) -> tuple[LoadedRun, ...]:
    """Return the runs, judged with this tolerance; None for the default, with which they are loaded."""
    if tolerance is None:
        return tuple(runs)
    return tuple(
        replace(
            run,
            report=cached_result(
                ("tolerance", *run.source, tolerance),
                lambda report=run.report: replace(report, survey=report.survey.with_tolerance(tolerance)),
                max_results=max(MAX_RESULTS, len(runs)),
            ),
        )
        for run in runs
    )


def judged_with(runs: Sequence[LoadedRun]) -> float | None:
    """Return the tolerance that all runs are judged with; None for the default."""
    evidences = (evidence for run in runs for evidence in run.report.survey.usable.values())
    return next((evidence.options.tolerance for evidence in evidences), None)


def _style_indices(runs: Sequence[LoadedRun]) -> dict[str, int]:
    """Return run id → style index, in order of the ids, uploaded ones before those of the folder."""
    indices: dict[str, int] = {}
    for uploaded in (True, False):
        own = sorted((run for run in runs if run.file.is_uploaded is uploaded), key=lambda run: run.id)
        order = run_order([run.report.run.info for run in own])
        indices |= {run.id: len(indices) + index for run, index in zip(own, order, strict=True)}
    return indices


def _with_named_parts(
    loaded: Sequence[tuple[LoadedFile, RunReport]],
) -> list[tuple[LoadedFile, RunReport]]:
    """Make the tables that are to be read as one run the parts of it, as `--together` does."""
    named: dict[tuple[str, bool], list[int]] = {}
    for position, (file, _) in enumerate(loaded):
        if file.mapping.run_name:
            named.setdefault((file.mapping.run_name, file.is_uploaded), []).append(position)
    parts = list(loaded)
    for (name, _), positions in named.items():
        files = tuple((loaded[at][0].listing.path, loaded[at][0].stamp) for at in positions)
        labels = tuple(loaded[at][1].run.label for at in positions)
        reports = [loaded[at][1] for at in positions]
        described = cached_result(
            ("parts", name, files, labels),
            lambda reports=reports, name=name: [
                replace(report, run=run)
                for report, run in zip(
                    reports, tables_as_parts([report.run for report in reports], name), strict=True
                )
            ],
        )
        for at, report in zip(positions, described, strict=True):
            parts[at] = (loaded[at][0], report)
    return parts


def _group_parts(loaded: Sequence[tuple[LoadedFile, RunReport]]) -> list[list[tuple[LoadedFile, RunReport]]]:
    """Return files with their reports, grouped by evaluation; uploads are never merged with files on disk."""
    positions = {id(report.run): position for position, (_, report) in enumerate(loaded)}
    runs_by_origin = [
        [report.run for file, report in loaded if file.is_uploaded is is_uploaded]
        for is_uploaded in (False, True)
    ]
    grouped = cached_result(
        ("grouped", *((file.listing.path, file.stamp, report.run.label) for file, report in loaded)),
        lambda: [
            [positions[id(run)] for run in parts] for runs in runs_by_origin for parts in group_parts(runs)
        ],
    )
    return [[loaded[position] for position in group] for group in grouped]


def _merge_parts(
    parts: Sequence[tuple[LoadedFile, RunReport]], waiting: Sequence[LoadedFile], max_merged: int
) -> tuple[LoadedFile, RunReport, tuple[LoadedFile, ...]]:
    """Return the parts of one evaluation as one report, with a stand-in file and the files of the parts.

    Parameters
    ----------
    parts : Sequence of (LoadedFile, RunReport)
    waiting : Sequence of LoadedFile
        Files with bad rows that nobody has decided on.
    max_merged : int
        How many merged runs are kept.
    """
    file, report = parts[0]
    files = tuple(file for file, _ in parts)
    if len(parts) == 1:
        return file, report, files
    notes = _missing_part_notes(report.run, waiting)
    stamp = replace(file.stamp, part_stamps=tuple(part.stamp for part in files[1:]))
    report = cached_result(
        ("united", stamp, tuple(part.name for part in files), notes),
        lambda: run_report(merge_parts([report.run for _, report in parts], *notes)),
        max_results=max(MAX_RESULTS, max_merged),
    )
    return replace(file, listing=replace(file.listing, name=report.run.file, stamp=stamp)), report, files


def _missing_part_notes(run: AnyRun, waiting: Sequence[LoadedFile]) -> tuple[str, ...]:
    """Return a note on the parts that are left out since their bad rows are undecided."""
    evaluation = isinstance(run, AnswerRun) and run.evaluation
    others = [(file.name, report.run) for file in waiting if file.report for report in file.report.runs]
    names = [
        name for name, other in others if isinstance(other, AnswerRun) and other.evaluation == evaluation
    ]
    if not names:
        return ()
    listed = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    return (f"Left out until you decide on their bad rows: {listed}.",)


def cached_groupings(runs: Sequence[LoadedRun]) -> dict[str, GroupBy]:
    """Return every grouping that splits these runs, looked for once; those of sums alone have none."""
    answers = {run.id: run.report.run for run in runs if isinstance(run.report.run, AnswerRun)}
    sources = (run.source for run in runs if run.id in answers)
    return cached_result(("groupings", *sources), lambda: group_by_choices(answers))


def cached_measure(runs: Mapping[AnyRun, LoadedRun]) -> MetricEstimator:
    """Return an estimator that computes each metric with its interval once.

    Parameters
    ----------
    runs : Mapping of Run to LoadedRun
        The runs whose evidence may be estimated. They are matched by identity, since a file on disk and an
        upload may share both file name and label.
    """

    def measure(evidence: Evidence, metric: str, scheme: Scheme) -> MetricEstimate:
        run = runs[evidence.run]
        options = replace(evidence.options, tolerance=None)  # it decides on words only
        key = ("measured", *run.source, evidence.method.id, options, evidence.judged, metric, scheme)
        return cached_result(key, lambda: estimate_metric(evidence, metric, scheme), max_results=MAX_MEASURES)

    return measure
