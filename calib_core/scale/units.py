"""Units of work: what a worker does with a file, or with some blocks of its rows.

Nothing here knows who calls it. A unit names its files, so any worker that reaches them can do it, and its
result depends on nothing else.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar
from zipfile import ZIP_STORED, ZipInfo

import zstandard

from calib_core import readers
from calib_core.advice import Surface, current_surface, set_surface
from calib_core.errors import CalibError, Refused
from calib_core.readers.archives import ZIP_MAGIC
from calib_core.readers.companions import ARRAY_SCALES, ArrayFiles, expected_companions
from calib_core.readers.format import AS_IT_LIES, Reading, ReadOptions
from calib_core.readers.reading_cache import pack_bytes, program_digest, unpack_file
from calib_core.readers.token import npz
from calib_core.readers.token.arrays import StoredArray
from calib_core.scale.stores import (
    FileVersion,
    can_seek,
    file_name,
    is_remote,
    on_disk,
    open_file,
    sibling,
    version_of,
)
from calib_core.tokens.scales import ProbabilityScale
from calib_core.tokens.sums import MergeTree

ValueT = TypeVar("ValueT", Reading, npz.ReducedRows)

_ZIP_LOCAL_HEADER_BYTES: Final = 30
_ARRAY_SUFFIXES: Final = tuple(f"{scale}.npy" for scale in ARRAY_SCALES)


@dataclass(frozen=True, slots=True)
class FileRequest:
    """A file to be read, and how.

    Attributes
    ----------
    address : str
        An absolute path, or a URL.
    name : str
        What messages call the file.
    format : str or None
        A key of FORMATS; None recognises the file by its content.
    options : ReadOptions
        How its columns and rows are read.
    gold : str or None
        The absolute path of a table of right answers.
    surface : Surface
        Which surface messages are worded for; that of this process.
    """

    address: str
    name: str
    format: str | None = None
    options: ReadOptions = AS_IT_LIES
    gold: str | None = None
    surface: Surface = field(default_factory=current_surface)


@dataclass(frozen=True, slots=True)
class StoredRows:
    """Where the rows of an array are: its file, and the offset of its first value in bytes."""

    file: FileVersion
    offset: int


@dataclass(frozen=True, slots=True, eq=False)
class RowBlocks:
    """A file of positions that can be read in blocks.

    Attributes
    ----------
    found : FoundPositions
        Its arrays, of which only the headers are known.
    values, target : StoredRows
        Where they are.
    """

    found: npz.FoundPositions
    values: StoredRows
    target: StoredRows

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return -(-self.found.positions.n_positions // npz.rows_per_block(self.found.positions.values))


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """What a first look at a file shows.

    Attributes
    ----------
    files : tuple[FileVersion, ...]
        The file and those read together with it.
    blocks : RowBlocks or None
        Its blocks of rows; None where it can only be read as a whole.
    """

    files: tuple[FileVersion, ...]
    blocks: RowBlocks | None


@dataclass(frozen=True, slots=True)
class Unit:
    """Work that is done at once, by one worker.

    Attributes
    ----------
    file : int
        Number of the file, from 0.
    first_block, n_blocks : int
        The blocks of rows; 0 blocks stand for the whole file.
    n_bytes : int
        Size of what has to be read.
    """

    file: int
    first_block: int
    n_blocks: int
    n_bytes: int


MAX_UNIT_BLOCKS: Final = 64
_ENOUGH_UNITS: Final = 256


def blocks_per_unit(n_blocks: int) -> int:
    """How many blocks form one unit of work: a power of two, so that they are a subtree of the sum.

    Few large results spare the process that adds them up; with fewer than `_ENOUGH_UNITS`, workers would be
    idle. The number changes no bit of the result.
    """
    wanted = max(1, min(MAX_UNIT_BLOCKS, n_blocks // _ENOUGH_UNITS))
    return 1 << (wanted.bit_length() - 1)


def units_of(file: int, survey: Survey, per_unit: int) -> list[Unit]:
    """The units of a file, in order."""
    if survey.blocks is None:
        return [Unit(file, 0, 0, sum(version.size for version in survey.files))]
    positions, n_blocks = survey.blocks.found.positions, survey.blocks.n_blocks
    block_rows = npz.rows_per_block(positions.values)
    units: list[Unit] = []
    for first in range(0, n_blocks, per_unit):
        n_unit_blocks = min(per_unit, n_blocks - first)
        n_rows = min(n_unit_blocks * block_rows, positions.n_positions - first * block_rows)
        units.append(Unit(file, first, n_unit_blocks, n_rows * positions.values.row_bytes))
    return units


def unit_key(request: FileRequest, survey: Survey, unit: Unit) -> str | None:
    """The name of a unit's result: equal for equal files, options, blocks and program.

    None where a store does not tell one version of a file from another.
    """
    files = list(survey.files)
    if request.gold is not None:
        files.append(version_of(request.gold, Path(request.gold).name))
    if not all(file.version for file in files):
        return None
    wishes = asdict(request.options.in_plain_types())
    parts: list[Any] = [program_digest(), [asdict(file) for file in files], unit.first_block, unit.n_blocks]
    if not unit.n_blocks:
        parts += [request.name, request.surface]
    parts += [request.format, wishes]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("ascii")).hexdigest()


# --- The first look ---------------------------------------------------------------------------------------


def survey_stored_file(request: FileRequest, digest: str) -> Survey | str:
    """Finds out how a file can be read; a text says why it cannot.

    Parameters
    ----------
    request : FileRequest
        The file.
    digest : str
        `program_digest` of the process that asks.

    Raises
    ------
    OSError
        If the network fails, which another attempt may not.
    """
    try:
        if digest != program_digest():
            raise Refused("The workers run another version of Calib than this process. Install the same one.")
        main = version_of(request.address, request.name)
        files = (main, *_companions(main))
        return Survey(files, _find_blocks(request, files))
    except CalibError as refusal:
        return str(refusal)


def _companions(main: FileVersion) -> list[FileVersion]:
    """The files that are read together with a file, of those that exist."""
    found: list[FileVersion] = []
    local_name = Path(file_name(main.address))
    for other in expected_companions(local_name):
        try:
            found.append(version_of(sibling(main.address, other.name), other.name))
        except Refused:
            continue
    return found


def _find_blocks(request: FileRequest, files: Sequence[FileVersion]) -> RowBlocks | None:
    """The blocks of a file; None where it is to be read as a whole, which also says what is wrong with it."""
    main, *others = files
    if request.format not in (None, "npz") or request.options.rows or request.options.wide:
        return None
    if not can_seek(main.address, request.name):
        return None
    suffix = next((end for end in _ARRAY_SUFFIXES if file_name(main.address).lower().endswith(f".{end}")), "")
    try:
        with open_file(main, request.name) as stream:
            if suffix:
                return (
                    None
                    if request.options.columns
                    else _blocks_of_pair(request, stream, main, others, suffix)
                )
            if stream.read(len(ZIP_MAGIC)) != ZIP_MAGIC:
                return None
            return _blocks_of_archive(request, stream, main)
    except Refused:
        return None


def _blocks_of_pair(
    request: FileRequest, values: BinaryIO, main: FileVersion, others: Sequence[FileVersion], suffix: str
) -> RowBlocks | None:
    by_name = {file_name(file.address): file for file in others}
    target_name, metadata_name = (path.name for path in expected_companions(Path(file_name(main.address))))
    target_file, metadata_file = by_name.get(target_name), by_name.get(metadata_name)
    if target_file is None or not can_seek(target_file.address, target_name):
        return None
    scale: ProbabilityScale = next(scale for scale in ARRAY_SCALES if suffix == f"{scale}.npy")
    pair = ArrayFiles(scale, Path(request.name), Path(target_name), metadata_file and Path(metadata_name))
    with ExitStack() as stack:
        metadata = None
        if metadata_file is not None:
            metadata = stack.enter_context(open_file(metadata_file, metadata_name)).read()
        target = stack.enter_context(open_file(target_file, target_name))
        found = npz.pair_positions(values, target, metadata, pair, request.name)
        offsets = found.positions.values.position, found.positions.target.position
    return RowBlocks(
        _without_streams(found), StoredRows(main, offsets[0]), StoredRows(target_file, offsets[1])
    )


def _blocks_of_archive(request: FileRequest, stream: BinaryIO, main: FileVersion) -> RowBlocks | None:
    with npz.open_array_archive(stream, request.name) as archive:
        found = npz.archive_positions(archive, request.options.columns)
        if found is None or found.positions.text is not None:
            return None
        arrays = (found.positions.values, found.positions.target)
        members = [archive.members[array.name] for array in arrays]
        if any(member.compress_type != ZIP_STORED for member in members):
            return None
        headers = [array.position for array in arrays]
        offsets = [_data_offset(stream, member) for member in members]
    values, target = (StoredRows(main, sum(pair)) for pair in zip(offsets, headers, strict=True))
    return RowBlocks(_without_streams(found), values, target)


def _data_offset(stream: BinaryIO, member: ZipInfo) -> int:
    """Offset of a member's first byte; its local header may be longer than that of the directory."""
    stream.seek(member.header_offset)
    header = stream.read(_ZIP_LOCAL_HEADER_BYTES)
    lengths = (int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
    return member.header_offset + _ZIP_LOCAL_HEADER_BYTES + sum(lengths)


def _without_streams(found: npz.FoundPositions) -> npz.FoundPositions:
    """The same without open files, so that it can be sent."""
    nothing = io.BytesIO()
    positions = found.positions
    values, target = (
        array.part(0, array.shape[0], nothing) for array in (positions.values, positions.target)
    )
    return replace(found, positions=replace(positions, values=values, target=target))


# --- The work ---------------------------------------------------------------------------------------------


def do_unit(request: FileRequest, survey: Survey, unit: Unit) -> bytes | str:
    """Does one unit of work: the packed sums of blocks, or the packed reading of a file; a text says why not.

    Raises
    ------
    OSError
        If the network fails, which another attempt may not.
    """
    set_surface(request.surface)
    try:
        if unit.n_blocks and survey.blocks is not None:
            return packed(reduce_blocks(request.name, survey.blocks, unit.first_block, unit.n_blocks))
        return packed(read_whole(request, survey))
    except CalibError as refusal:
        return str(refusal)


def reduce_blocks(name: str, blocks: RowBlocks, first_block: int, n_blocks: int) -> npz.ReducedRows:
    """The sums of consecutive blocks.

    The bytes are numbers behind a header that was checked: no parser of a format runs, so they are added up
    in the worker itself rather than in a process that reads files.

    Raises
    ------
    Refused
        If the file has changed or ends early.
    """
    positions, tree = blocks.found.positions, MergeTree[npz.ReducedRows]()
    block_rows = npz.rows_per_block(positions.values)
    compiled = npz.has_compiled_code(positions)
    sampler = npz.sampler_of(positions, compiled=compiled)
    start = first_block * block_rows
    with (
        open_file(blocks.values.file, name) as values,
        open_file(blocks.target.file, positions.target.file) as target,
    ):
        _seek_row(values, blocks.values, positions.values, start)
        _seek_row(target, blocks.target, positions.target, start)
        for first in range(start, min(start + n_blocks * block_rows, positions.n_positions), block_rows):
            stop = min(first + block_rows, positions.n_positions)
            rows = positions.values.part(first, stop, values), positions.target.part(first, stop, target)
            tree.add(npz.reduce_rows(*rows, positions.scale, first, sampler, compiled=compiled))
    total = tree.total()
    if total is None:
        raise Refused(f"{name} has no block {first_block}.")
    return total.with_draws(sampler)


def _seek_row(stream: BinaryIO, stored: StoredRows, array: StoredArray, row: int) -> None:
    stream.seek(stored.offset + row * array.row_bytes)


def read_whole(request: FileRequest, survey: Survey) -> Reading:
    """The reading of a file, made in the process that reads files; raises as `calib_core.readers.read`."""
    with on_disk(survey.files, request.name) as path:
        reading = readers.read(
            path,
            name=request.name,
            format=request.format,
            options=request.options,
            gold=None if request.gold is None else Path(request.gold),
        )
    main = survey.files[0]
    if not is_remote(main.address) and version_of(main.address, request.name) != main:
        raise Refused(f"{request.name} has changed since it was first looked at. Run the command again.")
    return reading


# --- Results as bytes -------------------------------------------------------------------------------------


def packed(value: object) -> bytes:
    """A reading, or what rows come to, as bytes."""
    return zstandard.ZstdCompressor(level=1).compress(b"".join(pack_bytes(value)))


def unpacked(kind: type[ValueT], data: bytes | memoryview) -> ValueT | None:
    """The inverse of `packed`; None where the bytes are none of it."""
    try:
        plain = zstandard.ZstdDecompressor().decompress(data)
    except zstandard.ZstdError:
        return None
    return unpack_file(kind, io.BytesIO(plain))
