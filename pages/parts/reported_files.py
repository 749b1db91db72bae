"""What does a report say of the files, and which command line reads them alike?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from calib_core.report.again import RUN_IN_DATA_FOLDER, ReportCommand
from calib_core.report.made import file_checksums, files_read_with
from calib_core.report.subject import ReportSettings, ReportFile, ReportRun
from calib_core.wording import bad_rows_phrase
from pages.parts.cache import LoadedFile, data_folder
from pages.parts.runs import LoadedRun, file_id

DIFFERENT_MAPPINGS_NOTE: Final = (
    "Some files were read as a person said of them on the page Files, each in its own way, which one line "
    "cannot say."
)


def report_files(files: Sequence[LoadedFile], accepted_file_ids: Sequence[str]) -> tuple[ReportFile, ...]:
    """Every file, with its checksum; of one that waits for a decision, that it does."""
    return tuple(
        ReportFile(
            file.name, file.report, _refusal(file, accepted_file_ids),
            file_checksums(files_read_with(file.listing.path, file.name, file.listing.gold)),
        )
        for file in files
    )


def _refusal(file: LoadedFile, accepted_file_ids: Sequence[str]) -> str | None:
    report = file.report
    if report is not None and report.status == "asks" and file_id(file) not in accepted_file_ids:
        return f"{bad_rows_phrase(report.bad_rows, report.rows)}, and nobody has decided to leave them out."
    return file.refusal


def run_name(run: ReportRun, runs: Sequence[LoadedRun]) -> str:
    """What the command line calls a run: its label, and where two have it, its title."""
    label = run.report.run.label
    return label if sum(other.report.run.label == label for other in runs) == 1 else run.title


def report_command(
    files: Sequence[LoadedFile], accepted_file_ids: Sequence[str], request: tuple[ReportSettings, tuple[str, ...], tuple[str, ...]],
    output: str,
) -> ReportCommand:
    """The line that makes the same report; asked: numbers, pages, runs (() = all)."""
    numbers, pages, runs = request
    loaded = [file for file in files if _refusal(file, accepted_file_ids) is None]
    bad = [file for file in files if file.report is not None and file.report.status == "asks"]
    skipped = [file for file in bad if file in loaded]
    whole = not any(file.is_uploaded for file in files) and len(skipped) in (0, len(bad))
    wishes = {file.mapping for file in loaded}
    wish = next(iter(wishes)) if len(wishes) == 1 else None
    return ReportCommand(
        (".",) if whole else tuple(_command_path(file) for file in loaded),
        output, numbers, pages, runs, bool(skipped),
        wish.format if wish else None,
        dict(wish.columns) if wish else {},
        _relative_path(Path(wish.gold)) if wish and wish.gold else None,
        RUN_IN_DATA_FOLDER if wish is not None or not loaded else f"{RUN_IN_DATA_FOLDER} {DIFFERENT_MAPPINGS_NOTE}",
    )


def _command_path(file: LoadedFile) -> str:
    return file.name if file.is_uploaded else _relative_path(file.listing.path)


def _relative_path(path: Path) -> str:
    """The path below the data folder; the machine's own folders are nobody's business."""
    folder = data_folder().resolve()
    real = path if path.is_absolute() else path.absolute()
    return real.relative_to(folder).as_posix() if real.is_relative_to(folder) else path.name
