"""What do saved NumPy arrays hold: the distribution at every position of a text, or answers to questions?

One archive (NPZ) of `probs` (or `logprobs`, `logits`) and `target`, or a pair of files that may be mapped
into memory: `X.probs.npy` and `X.target.npy`.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, cast
from zipfile import ZipFile, ZipInfo

from calib_core.files import archives
from calib_core.files.folder import content, opened
from calib_core.files.format import Format, Head
from calib_core.files.partners import main_of, pair_of
from calib_core.files.reading import Reading
from calib_core.files.tables.canonical import info_of
from calib_core.files.tables.raw import Progress
from calib_core.files.tables.runs import Origin, stem_of
from calib_core.files.token_level.arrays import Array
from calib_core.files.token_level.npz_answers import read_answers
from calib_core.files.token_level.npz_roles import META, TARGET, token_arrays
from calib_core.files.token_level.positions import Positions, read_positions
from calib_core.problems import Refused, shorten

_META_LIMIT: Final = 2**20
"""Bytes of metadata: a run is described in a few hundred."""

Metadata = Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class _Archive:
    """An open archive. members: name → member of each array."""

    file: str
    archive: ZipFile
    members: Mapping[str, ZipInfo]
    stack: ExitStack = field(repr=False)

    def array(self, name: str) -> Array:
        """One array, to be read once; raises Refused where it is none."""
        member = self.members[name]
        stream = self.stack.enter_context(archives.member_stream(self.archive, member, self.file))
        return Array.at(stream, member.file_size, self.file, name)

    @property
    def metadata(self) -> Metadata:
        """What the archive says of its run; nothing where it says nothing."""
        if META not in self.members:
            return {}
        array = self.array(META)
        if array.shape or array.dtype.kind != "U" or array.dtype.itemsize > _META_LIMIT:
            raise Refused(
                f"{self.file}: {META!r} has the shape {array.shape} of {array.dtype}, and one text, the "
                f"metadata as JSON, is expected. Save numpy.array(json.dumps(metadata)), or leave it out."
            )
        return _parsed(str(array.whole()), self.file)


def recognises(head: Head) -> bool:
    """Whether the file is one array, an archive of arrays, or the metadata of an array beside it."""
    if head.kind in ("json object", "json lines"):
        return head.path is not None and main_of(head.path) is not None
    return head.kind == "npy" or (head.kind == "zip" and any(name.endswith(".npy") for name in head.names))


def read(head: Head, mapping: Mapping[str, str], progress: Progress) -> Reading:
    """The run whose arrays a file holds. See `format.Read`."""
    if head.path is None or not recognises(head):
        raise Refused(f"{head.file} was to be read as {NPZ.title} and holds no NumPy arrays.")
    if head.kind != "zip":
        return _read_pair(head, head.path, mapping, progress)
    with _opened(head.path, head.file) as archive:
        return _read_archive(head, archive, mapping, progress)


@contextmanager
def _opened(path: Path, file: str) -> Generator[_Archive]:
    with opened(path, file) as stream, archives.archive(stream, file) as archive, ExitStack() as stack:
        yield _Archive(file, archive, archives.arrays_of(archive, file), stack)


def _read_archive(
    head: Head, archive: _Archive, mapping: Mapping[str, str], progress: Progress
) -> Reading:
    names, metadata = tuple(archive.members), archive.metadata
    arrays = token_arrays(head.file, names, mapping, metadata, archive.array)
    origin = Origin(head.file, NPZ.id, info_of(metadata, head.file))
    if arrays is None:
        columns = [name for name in names if name != META]
        return read_answers(head, columns, mapping, archive.array, origin, progress)
    positions = Positions(
        archive.array(arrays.values),
        archive.array(arrays.target),
        arrays.scale,
        origin,
        label=stem_of(head.file),
        columns=names,
        unused=tuple(name for name in names if name not in (arrays.values, arrays.target, META)),
    )
    return read_positions(positions, progress, _notes(metadata, positions.classes))


def _read_pair(head: Head, path: Path, mapping: Mapping[str, str], progress: Progress) -> Reading:
    pair = pair_of(path, head.file)
    if mapping:
        raise Refused(f"{head.file} is one array, and its name says which: nothing in it can be mapped.")
    metadata: Metadata = {}
    if pair.meta is not None:
        metadata = _parsed(content(pair.meta, pair.meta.name), pair.meta.name)
    with opened(pair.values, head.file) as stream, opened(pair.target, pair.target.name) as targets:
        positions = Positions(
            Array.at(stream, _size(stream), head.file, pair.scale),
            Array.at(targets, _size(targets), pair.target.name, TARGET),
            pair.scale,
            Origin(head.file, NPZ.id, info_of(metadata, head.file)),
            label=stem_of(stem_of(head.file)),
            columns=(pair.scale, TARGET),
        )
        return read_positions(positions, progress, _notes(metadata, positions.classes))


def _size(stream: BinaryIO) -> int:
    size = stream.seek(0, 2)
    stream.seek(0)
    return size


def _parsed(text: str | bytes, file: str) -> Metadata:
    try:
        metadata: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused(f"{file}: its metadata is no JSON ({shorten(str(error), 120)}).") from None
    if not isinstance(metadata, dict):
        raise Refused(f'{file}: its metadata is no JSON object, such as {{"model": "name"}}.')
    return cast("Metadata", metadata)


def _notes(metadata: Metadata, classes: int) -> tuple[str, ...]:
    told = metadata.get("vocab_size")
    if not isinstance(told, int) or told == classes:
        return ()
    return (
        f"The metadata says a vocabulary of {told:,}, and the arrays have {classes:,} classes, which counts.",
    )


NPZ: Final = Format("npz", "token-level arrays", "NumPy arrays", recognises, read)
