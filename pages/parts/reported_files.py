"""What does a report say of the files, and which command line reads them alike?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from calib_core.report.again import AMONG_FILES, Again
from calib_core.report.made import bytes_of, read_together
from calib_core.report.subject import Asked, FileHere, RunHere
from calib_core.wording import bad_rows
from pages.parts.cache import File, data_folder
from pages.parts.runs import Run, file_id

EACH_ITS_OWN: Final = (
    "Some files were read as a person said of them on the page Files, each in its own way, which one line "
    "cannot say."
)


def files_here(files: Sequence[File], good: Sequence[str]) -> tuple[FileHere, ...]:
    """Every file, with its checksum; of one that waits for a decision, that it does."""
    return tuple(
        FileHere(
            file.name, file.report, _refusal(file, good),
            bytes_of(read_together(file.listed.path, file.name, file.listed.gold)),
        )
        for file in files
    )


def _refusal(file: File, good: Sequence[str]) -> str | None:
    report = file.report
    if report is not None and report.status == "asks" and file_id(file) not in good:
        return f"{bad_rows(report.bad_rows, report.rows)}, and nobody has decided to leave them out."
    return file.refusal


def name_of(run: RunHere, runs: Sequence[Run]) -> str:
    """What the command line calls a run: its label, and where two have it, its title."""
    label = run.report.run.label
    return label if sum(other.report.run.label == label for other in runs) == 1 else run.title


def again(
    files: Sequence[File], good: Sequence[str], asked: tuple[Asked, tuple[str, ...], tuple[str, ...]],
    output: str,
) -> Again:
    """The line that makes the same report; asked: numbers, pages, runs (() = all)."""
    numbers, pages, runs = asked
    loaded = [file for file in files if _refusal(file, good) is None]
    bad = [file for file in files if file.report is not None and file.report.status == "asks"]
    skipped = [file for file in bad if file in loaded]
    whole = not any(file.uploaded for file in files) and len(skipped) in (0, len(bad))
    wishes = {file.wish for file in loaded}
    wish = next(iter(wishes)) if len(wishes) == 1 else None
    return Again(
        (".",) if whole else tuple(_path(file) for file in loaded),
        output, numbers, pages, runs, bool(skipped),
        wish.format if wish else None,
        dict(wish.columns) if wish else {},
        _relative(Path(wish.gold)) if wish and wish.gold else None,
        AMONG_FILES if wish is not None or not loaded else f"{AMONG_FILES} {EACH_ITS_OWN}",
    )


def _path(file: File) -> str:
    return file.name if file.uploaded else _relative(file.listed.path)


def _relative(path: Path) -> str:
    """The path below the data folder; the machine's own folders are nobody's business."""
    folder = data_folder().resolve()
    real = path if path.is_absolute() else path.absolute()
    return real.relative_to(folder).as_posix() if real.is_relative_to(folder) else path.name
