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
from calib_core.files.folder import read_bytes, open_regular_file
from calib_core.files.format import Format, Head
from calib_core.files.partners import main_file_of, array_files_of
from calib_core.files.reading import Reading
from calib_core.files.tables.canonical import run_info_from_metadata
from calib_core.files.tables.raw import ReadProgress
from calib_core.files.tables.runs import Origin, file_stem
from calib_core.files.token_level.arrays import StoredArray
from calib_core.files.token_level.npz_answers import read_answers
from calib_core.files.token_level.npz_roles import METADATA_ARRAY, TARGET_ARRAY, find_token_arrays
from calib_core.files.token_level.positions import DensePositions, read_dense_positions
from calib_core.problems import Refused, shorten

_MAX_METADATA_BYTES: Final = 2**20
"""Bytes of metadata: a run is described in a few hundred."""

ArrayMetadata = Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class _ArrayArchive:
    """An open archive. members: name → member of each array."""

    file: str
    archive: ZipFile
    members: Mapping[str, ZipInfo]
    stack: ExitStack = field(repr=False)

    def open_array(self, name: str) -> StoredArray:
        """One array, to be read once; raises Refused where it is none."""
        member = self.members[name]
        stream = self.stack.enter_context(archives.open_member(self.archive, member, self.file))
        return StoredArray.from_stream(stream, member.file_size, self.file, name)

    @property
    def metadata(self) -> ArrayMetadata:
        """What the archive says of its run; nothing where it says nothing."""
        if METADATA_ARRAY not in self.members:
            return {}
        array = self.open_array(METADATA_ARRAY)
        if array.shape or array.dtype.kind != "U" or array.dtype.itemsize > _MAX_METADATA_BYTES:
            raise Refused(
                f"{self.file}: {METADATA_ARRAY!r} has the shape {array.shape} of {array.dtype}, and one text, the "
                f"metadata as JSON, is expected. Save numpy.array(json.dumps(metadata)), or leave it out."
            )
        return _parse_metadata(str(array.read_all()), self.file)


def recognises(head: Head) -> bool:
    """Whether the file is one array, an archive of arrays, or the metadata of an array beside it."""
    if head.kind in ("json object", "json lines"):
        return head.path is not None and main_file_of(head.path) is not None
    return head.kind == "npy" or (head.kind == "zip" and any(name.endswith(".npy") for name in head.names))


def read(head: Head, mapping: Mapping[str, str], progress: ReadProgress) -> Reading:
    """The run whose arrays a file holds. See `format.Read`."""
    if head.path is None or not recognises(head):
        raise Refused(f"{head.file} was to be read as {NPZ.title} and holds no NumPy arrays.")
    if head.kind != "zip":
        return _read_array_files(head, head.path, mapping, progress)
    with _open_array_archive(head.path, head.file) as archive:
        return _read_archive(head, archive, mapping, progress)


@contextmanager
def _open_array_archive(path: Path, file: str) -> Generator[_ArrayArchive]:
    with open_regular_file(path, file) as stream, archives.open_archive(stream, file) as archive, ExitStack() as stack:
        yield _ArrayArchive(file, archive, archives.npy_members(archive, file), stack)


def _read_archive(
    head: Head, archive: _ArrayArchive, mapping: Mapping[str, str], progress: ReadProgress
) -> Reading:
    names, metadata = tuple(archive.members), archive.metadata
    arrays = find_token_arrays(head.file, names, mapping, metadata, archive.open_array)
    origin = Origin(head.file, NPZ.id, run_info_from_metadata(metadata, head.file))
    if arrays is None:
        columns = [name for name in names if name != METADATA_ARRAY]
        return read_answers(head, columns, mapping, archive.open_array, origin, progress)
    positions = DensePositions(
        archive.open_array(arrays.values),
        archive.open_array(arrays.target),
        arrays.scale,
        origin,
        label=file_stem(head.file),
        columns=names,
        unused_columns=tuple(name for name in names if name not in (arrays.values, arrays.target, METADATA_ARRAY)),
    )
    return read_dense_positions(positions, progress, _vocabulary_notes(metadata, positions.n_classes))


def _read_array_files(head: Head, path: Path, mapping: Mapping[str, str], progress: ReadProgress) -> Reading:
    pair = array_files_of(path, head.file)
    if mapping:
        raise Refused(f"{head.file} is one array, and its name says which: nothing in it can be mapped.")
    metadata: ArrayMetadata = {}
    if pair.metadata is not None:
        metadata = _parse_metadata(read_bytes(pair.metadata, pair.metadata.name), pair.metadata.name)
    with open_regular_file(pair.values, head.file) as stream, open_regular_file(pair.target, pair.target.name) as targets:
        positions = DensePositions(
            StoredArray.from_stream(stream, _stream_size(stream), head.file, pair.scale),
            StoredArray.from_stream(targets, _stream_size(targets), pair.target.name, TARGET_ARRAY),
            pair.scale,
            Origin(head.file, NPZ.id, run_info_from_metadata(metadata, head.file)),
            label=file_stem(file_stem(head.file)),
            columns=(pair.scale, TARGET_ARRAY),
        )
        return read_dense_positions(positions, progress, _vocabulary_notes(metadata, positions.n_classes))


def _stream_size(stream: BinaryIO) -> int:
    size = stream.seek(0, 2)
    stream.seek(0)
    return size


def _parse_metadata(text: str | bytes, file: str) -> ArrayMetadata:
    try:
        metadata: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused(f"{file}: its metadata is no JSON ({shorten(str(error), 120)}).") from None
    if not isinstance(metadata, dict):
        raise Refused(f'{file}: its metadata is no JSON object, such as {{"model": "name"}}.')
    return cast("Metadata", metadata)


def _vocabulary_notes(metadata: ArrayMetadata, n_classes: int) -> tuple[str, ...]:
    told = metadata.get("vocab_size")
    if not isinstance(told, int) or told == n_classes:
        return ()
    return (
        f"The metadata says a vocabulary of {told:,}, and the arrays have {n_classes:,} classes, which counts.",
    )


NPZ: Final = Format("npz", "token-level arrays", "NumPy arrays", recognises, read)
