"""What does a file in the canonical answers format hold?  A table that says of which run it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast, get_args

from calib_core.files.format import Format, Head
from calib_core.files.raw import Progress
from calib_core.files.reading import Reading
from calib_core.files.runs import Origin
from calib_core.files.table import read_rows
from calib_core.problems import Refused, shorten
from calib_core.records import AnswerOf, RunInfo

KEY: Final = "calib"
VERSION: Final = 1

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "model": (str,),
    "dataset": (str,),
    "shots": (int,),
    "checkpoint": (str,),
    "params_b": (int, float),
    "tuning": (str,),
    "temperature": (int, float),
    "tokens_seen": (int,),
    "path_of": (str,),
    "p_true_of": (str,),
    "answer_normaliser": (str,),
}


def recognises(head: Head) -> bool:
    """Whether the file carries the project's metadata."""
    if head.kind == "parquet":
        return KEY in (head.metadata or {})
    return head.kind == "json lines" and bool(head.objects) and set(head.objects[0]) == {KEY}


def read(head: Head, mapping: Mapping[str, str], progress: Progress) -> Reading:
    """The runs of a canonical answers file. See `format.Read`."""
    metadata = metadata_of(head, "calib-answers", VERSION)
    origin = Origin(head.file, CANONICAL.id, info_of(metadata, head.file))
    return read_rows(head, mapping, progress, origin, skip=int(head.kind == "json lines"))


def metadata_of(head: Head, written: str, version: int) -> Mapping[str, object]:
    """The metadata object of a file, which has to be written in this format and version.

    Raises Refused where it is none, or of another format or version.
    """
    if not recognises(head):
        raise Refused(
            f"{head.file} was to be read as {written!r} and carries no {KEY!r} metadata. "
            f"Read it as a table: --format table"
        )
    try:
        stored: object = json.loads((head.metadata or {})[KEY]) if head.metadata else head.objects[0][KEY]
    except ValueError:
        stored = None
    if not isinstance(stored, dict):
        raise Refused(
            f"{head.file}: its {KEY!r} metadata is no JSON object. Read it as a table: --format table"
        )
    metadata = cast("Mapping[str, object]", stored)
    if (metadata.get("format"), metadata.get("version")) != (written, version):
        shown = shorten(f"{metadata.get('format')!r}, version {metadata.get('version')!r}")
        raise Refused(
            f"{head.file}: its metadata says {shown}; this version reads {written!r}, version {version}. "
            f"Write it with a version that is read, or read it as a table: --format table"
        )
    return metadata


def info_of(metadata: Mapping[str, object], file: str) -> RunInfo:
    """What a canonical file's metadata says of the run; raises Refused where a field is of the wrong type."""
    told: dict[str, Any] = {}
    for name, types in _TYPES.items():
        value = metadata.get(name)
        if value is None:
            continue
        wrong = not isinstance(value, types) or isinstance(value, bool)
        if wrong or (name in ("path_of", "p_true_of") and value not in get_args(AnswerOf)):
            shown = shorten(repr(value))
            raise Refused(f"{file}: {name!r} in its metadata cannot be {shown}. Mend or remove it.")
        told[name] = float(cast("float", value)) if float in types else value
    return RunInfo(**told)


CANONICAL: Final = Format("canonical", "the project's own answers format", recognises, read)
