"""Which files of a folder may hold predictions?"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from calib_core.errors import Refused
from calib_core.readers.companions import is_companion
from calib_core.readers.file_access import BROKEN_LINK, LINK_LEAVES_FOLDER, not_regular_message, os_error_text

IGNORED_NAMES: Final = frozenset(
    {"manifest.json", "license", "license.txt", "licence", "licence.txt", "__macosx"}
)
"""Lower-case names of files and folders that never hold predictions."""


@dataclass(frozen=True, slots=True)
class FolderListing:
    """The files of a folder.

    Attributes
    ----------
    files
        Files that may hold predictions, sorted by their path below the folder.
    skipped
        Path → why this file is not read, as a sentence that names it by its path below the folder.
    """

    files: tuple[Path, ...]
    skipped: Mapping[Path, str]


def list_files(folder: Path) -> tuple[Path, ...]:
    """Return the files of `list_folder`; raises as it does."""
    return list_folder(folder).files


def list_folder(folder: Path) -> FolderListing:
    """List the regular files in a folder and its subfolders.

    Names that `is_ignored` accepts are left out, and so are files that are read together with another one
    (X.target.npy with X.probs.npy) or describe it (dataset_info.json beside an Arrow file). A link is
    followed only if it stays inside the folder, and no folder is entered twice.

    Raises
    ------
    Refused
        There is no such folder, or it cannot be opened.
    """
    try:
        top = folder.resolve(strict=True)
        pending = _entries(folder, top)
    except (OSError, RuntimeError, ValueError) as error:
        name = folder.name or str(folder)
        raise Refused(f"{name} is not a folder that can be opened ({os_error_text(error)}).") from None
    files: list[Path] = []
    skipped: dict[Path, str] = {}
    visited = {top}
    while pending:
        path, target = pending.pop()
        if is_ignored(path.name):
            continue
        reason = ""
        if target is None:
            target, reason = _resolve_inside(path, top)
        if target is None:
            skipped[path] = f"{path.relative_to(folder).as_posix()} {reason}"
        elif stat.S_ISDIR(mode := _file_mode(target)):
            if target not in visited:
                visited.add(target)
                pending.extend(_entries_or_empty(path, target))
        elif not stat.S_ISREG(mode):
            skipped[path] = f"{path.relative_to(folder).as_posix()}: {not_regular_message(mode)}"
        elif not is_companion(path):
            files.append(path)
    return FolderListing(tuple(files), skipped)


def _entries(folder: Path, target: Path) -> list[tuple[Path, Path | None]]:
    """List a folder in reverse order of names, so that popping from the end goes forward.

    Each path comes with what it resolves to below the resolved folder `target`; None for a link.
    """
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_symlink()) for entry in entries]
    return [(folder / name, None if is_link else target / name) for name, is_link in sorted(found)[::-1]]


def _entries_or_empty(folder: Path, target: Path) -> list[tuple[Path, Path | None]]:
    try:
        return _entries(folder, target)
    except OSError:
        return []


def _resolve_inside(path: Path, root: Path) -> tuple[Path | None, str]:
    """Resolve a path; (None, why) if it leads out of `root` or nowhere."""
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):  # a broken link, or a loop of links
        return None, BROKEN_LINK
    return (target, "") if target.is_relative_to(root) else (None, LINK_LEAVES_FOLDER)


def is_ignored(name: str) -> bool:
    """Return whether a file or folder of this name is ignored without a message.

    These are hidden ones, README*, *.md, and those of `IGNORED_NAMES`.
    """
    lowered = name.lower()
    return lowered.startswith((".", "readme")) or lowered.endswith(".md") or lowered in IGNORED_NAMES


def _file_mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except OSError:  # deleted since the folder was listed
        return 0
