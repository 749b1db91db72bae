"""With what was a report made, when, and how is it made again?"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

from calib_core.files.folder import open_regular_file
from calib_core.files.partners import expected_companions
from calib_core.problems import Refused
from calib_core.report.subject import FileChecksum
from calib_core.version import VERSION

_CHUNK_SIZE: Final = 1 << 20
"""Bytes read at a time."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """When: with its time zone. command: the line that makes it again; place: where it is to be typed."""

    created_at: datetime
    command: str
    where_to_run: str


@cache
def program_versions() -> str:
    """The program and what its output depends on: "Calib 0.1.0, Python 3.11.7, numpy 2.4.6, …"."""
    others = ", ".join(f"{name} {version(name)}" for name in ("numpy", "polars", "plotly"))
    return f"Calib {VERSION}, Python {platform.python_version()}, {others}"


def file_checksums(paths: Iterable[tuple[Path, str]]) -> tuple[FileChecksum, ...]:
    """Size and checksum of files, each with its name; of one that cannot be read neither."""
    return tuple(_checksum_or_blank(path, name) for path, name in paths)


def _checksum_or_blank(path: Path, name: str) -> FileChecksum:
    try:
        return file_checksum(path, name)
    except Refused:
        return FileChecksum(name, 0, "")


def file_checksum(path: Path, name: str) -> FileChecksum:
    """Size and checksum of a file as it is now; raises Refused where it cannot be read."""
    digest, size = hashlib.sha256(), 0
    with open_regular_file(path, name) as stream:
        while piece := stream.read(_CHUNK_SIZE):
            digest.update(piece)
            size += len(piece)
    return FileChecksum(name, size, digest.hexdigest())


def files_read_with(path: Path, name: str, gold: Path | None = None) -> list[tuple[Path, str]]:
    """The file, those beside it that are read with it, and the table of right answers; each with its name."""
    beside = [(other, other.name) for other in expected_companions(path) if other.is_file()]
    return [(path, name), *beside, *([(gold, gold.name)] if gold else [])]
