"""Unpacks compressed files, and streams the members of ZIP archives: arrays (NPZ), log entries, or one file.

Nothing is ever extracted to a file or unpickled, and only the members that are needed are opened. The sizes
that an archive claims are not trusted: the memory limit of the reading process bounds what is unpacked.
"""

from __future__ import annotations

import io
import lzma
import stat
import struct
import sys
import zipfile
import zlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import BinaryIO, Final, Literal, TypeAlias, cast

from calib_core.errors import Refused, shorten
from calib_core.readers.companions import ARROW_METADATA
from calib_core.readers.content import CHUNK_BYTES, Content
from calib_core.readers.folder import is_ignored
from calib_core.readers.table.raw import ReadProgress

ZIP_MAGIC: Final = b"PK\x03\x04"
NPY_MAGIC: Final = b"\x93NUMPY"

Compression: TypeAlias = Literal["gzip", "zstd", "bz2"]
"""How a file is compressed as a whole, as pyarrow calls it."""

_COMPRESSION_MAGICS: Final[Mapping[bytes, Compression]] = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bz2",
}

MAGIC_BYTES: Final = 6
"""First bytes of a file that suffice for `compression_of` and `is_packed`, and to tell an array."""

PACKED_SUFFIXES: Final = (".gz", ".zst", ".bz2", ".zip")
"""Lower-case endings that packing adds to a file's name. What a file is, only its content says."""

MAX_MEMBERS: Final = 1000
"""Limit on members, checked before they are listed: no archive of predictions has so many arrays."""

MAX_LOG_MEMBERS: Final = 100_000
"""The limit for a log, which has one member for each answer to each question."""

_BYTES_PER_MEMBER: Final = 160
"""Typical bytes that one member takes in the central directory, with a name of about 100 characters."""

_LOCAL_HEADER_BYTES: Final = 30
"""Size of the fixed part of a member's local header, before the name."""

_MAX_LISTED: Final = 10
"""Limit on the names of members that a message lists."""

_END_RECORD_SPAN: Final = 22 + 2**16
"""Bytes at the end of an archive that hold its end record: 22 bytes and a comment of up to 64 KiB."""

COPY_AGAIN_ADVICE: Final = "It may be cut off, half written or damaged: write or copy it again."

_ZIP_ERRORS: Final = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
)
"""What the standard library raises for a damaged archive."""


# --- Compressed files -------------------------------------------------------------------------------------


def compression_of(start: bytes) -> Compression | None:
    """Return how a file that begins with these bytes is compressed; None if it is not."""
    return next((name for magic, name in _COMPRESSION_MAGICS.items() if start.startswith(magic)), None)


def is_packed(start: bytes) -> bool:
    """Return whether a file that begins with these bytes is a ZIP archive or compressed as a whole."""
    return start.startswith(ZIP_MAGIC) or compression_of(start) is not None


def decompress(content: Content, compression: Compression, progress: ReadProgress) -> Content:
    """Unpack a compressed file in memory.

    Raises
    ------
    Refused
        The file is damaged or cut off, or something else follows the compressed data.
    """
    import pyarrow as pa  # noqa: PLC0415  a tenth of a second that only such files take

    try:
        with pa.CompressedInputStream(content.stream(), compression) as stream:
            return _read_unpacked(cast("BinaryIO", stream), content.file, progress)
    except (OSError, ValueError) as error:
        raise Refused(
            f"{content.file} is compressed with {compression} and cannot be unpacked "
            f"({archive_error_text(error)}). {COPY_AGAIN_ADVICE}"
        ) from None


def _read_unpacked(stream: BinaryIO, file: str, progress: ReadProgress) -> Content:
    """Read an unpacking stream to its end, in chunks."""
    unpacked = io.BytesIO()
    while chunk := stream.read(CHUNK_BYTES):
        unpacked.write(chunk)
        progress(0.0, f"unpacking, {unpacked.tell():,} bytes so far")
    return Content(unpacked.getvalue(), file)


# --- ZIP archives -----------------------------------------------------------------------------------------


def count_members(stream: BinaryIO) -> int:
    """Count the members of an archive without listing them.

    Returns
    -------
    int
        The number in the end record, or the number that the central directory has room for if that is
        larger. 0 if there is no end record; opening the archive then raises the error.
    """
    size = stream.seek(0, 2)
    start = max(0, size - _END_RECORD_SPAN)
    stream.seek(start)
    tail = stream.read()
    end_record = tail.rfind(b"PK\x05\x06")
    if end_record < 0:
        stream.seek(0)
        return 0
    n_members, directory_bytes = struct.unpack("<HI", tail[end_record + 10 : end_record + 16].ljust(6, b"\0"))
    locator = tail[max(0, end_record - 20) : end_record]
    if locator[:4] == b"PK\x06\x07":  # ZIP64: the numbers are in a record of their own
        stream.seek(min(int.from_bytes(locator[8:16], "little"), size))
        n_members, directory_bytes = struct.unpack("<QQ", stream.read(56)[32:48].ljust(16, b"\0"))
    stream.seek(0)
    return max(n_members, min(directory_bytes, size) // _BYTES_PER_MEMBER)


@contextmanager
def open_archive(stream: BinaryIO, file: str, max_members: int = MAX_MEMBERS) -> Generator[zipfile.ZipFile]:
    """Open the archive in an open file.

    Raises
    ------
    Refused
        The archive has more than `max_members` members or cannot be opened.
    """
    if (members := count_members(stream)) > max_members:
        raise Refused(f"{file} is an archive of {members:,} members, but at most {max_members:,} are read.")
    try:
        archive = zipfile.ZipFile(stream)
    except (*_ZIP_ERRORS, OSError) as error:
        raise Refused(
            f"{file} is an archive that cannot be opened ({archive_error_text(error)}). {COPY_AGAIN_ADVICE}"
        ) from None
    with archive:
        yield archive


def read_only_file(archive: zipfile.ZipFile, file: str, progress: ReadProgress) -> Content:
    """Unpack the one data file of an archive in memory.

    What a folder of predictions ignores is ignored here too: hidden files, README and the like, and the
    metadata of a data set beside its Arrow file.

    Raises
    ------
    Refused
        The archive has no data file or several, or its one data file is encrypted, damaged or not as large
        as it claims.
    """
    members = checked_members(archive, file)
    holds_arrow = any(name.lower().endswith(".arrow") for name in members)
    names = [
        name
        for name, member in members.items()
        if not member.is_dir()
        and not any(map(is_ignored, PurePosixPath(name).parts))
        and not (holds_arrow and PurePosixPath(name).name in ARROW_METADATA)
    ]
    if len(names) != 1:
        listed = ", ".join(repr(shorten(name)) for name in names[:_MAX_LISTED])
        more = ", …" if len(names) > _MAX_LISTED else ""
        found = f"{len(names):,} files that may hold data ({listed}{more})" if names else "no data file"
        raise Refused(
            f"{file} is a zip archive with {found}, but exactly one is expected. Unpack it, and open the "
            "files that hold predictions."
        )
    member = members[names[0]]
    shown = repr(shorten(member.filename))
    if member.flag_bits & 1:
        raise Refused(f"{file}: {shown} in it is encrypted. Pack it again without a password.")
    claimed_size, member.file_size = member.file_size, sys.maxsize  # so that all of it is read
    with open_member(archive, member, file) as stream, translate_unpack_errors(file, member.filename):
        content = _read_unpacked(stream, file, progress)
    if len(content) != claimed_size:
        raise Refused(
            f"{file}: {shown} in it has {len(content):,} bytes, and the archive claims {claimed_size:,}. "
            f"{COPY_AGAIN_ADVICE}"
        )
    return content


def checked_members(archive: zipfile.ZipFile, file: str) -> Mapping[str, zipfile.ZipInfo]:
    """Map each name to its member, in the archive's order.

    Raises
    ------
    Refused
        A name leads out of the archive or occurs twice, or a member is a link or overlaps another: a small
        archive could unpack to many large files.
    """
    members: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        name = member.orig_filename
        if escapes_archive(name):
            raise _unsound_member(file, name, "a name that leads out of the archive")
        if stat.S_ISLNK(member.external_attr >> 16):
            raise _unsound_member(file, name, "a link to another file")
        if name in members:
            raise _unsound_member(
                file, name, "a name that it holds twice, so it is unclear which one is meant"
            )
        members[name] = member
    end = 0
    for member in sorted(members.values(), key=lambda member: member.header_offset):
        if member.header_offset < end:
            raise _unsound_member(file, member.orig_filename, "which lies on the bytes of another member")
        end = member.header_offset + _LOCAL_HEADER_BYTES + member.compress_size
    return members


def _unsound_member(file: str, name: str, fault: str) -> Refused:
    return Refused(
        f"{file} has the member {shorten(name)!r}, {fault}. It may be damaged or malicious: pack it again."
    )


def npy_members(archive: zipfile.ZipFile, file: str) -> Mapping[str, zipfile.ZipInfo]:
    """Map the name of each array (`NAME.npy`) to its member, in the archive's order.

    Raises
    ------
    Refused
        A name occurs twice or leads out of the archive, or a member is encrypted.
    """
    members: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        shown = repr(shorten(member.orig_filename))
        if escapes_archive(member.orig_filename):
            raise Refused(
                f"{file} has the member {shown}, a name that leads out of the archive: NumPy does not "
                "write such names. Save the arrays again with numpy.savez."
            )
        name, suffix = member.filename[:-4], member.filename[-4:]
        if suffix != ".npy":
            continue
        if name in members:
            raise Refused(
                f"{file} has two members named {shown}, so it is unclear which one is meant. Keep one."
            )
        if member.flag_bits & 1:
            raise Refused(f"{file}: its member {shown} is encrypted. Save it again without a password.")
        members[name] = member
    return members


@contextmanager
def open_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, file: str) -> Generator[BinaryIO]:
    """Open one member as a stream of unpacked bytes; raises Refused if it cannot be unpacked."""
    with translate_unpack_errors(file, member.filename):
        stream = archive.open(member)
    try:
        yield cast("BinaryIO", stream)
    finally:
        stream.close()


@contextmanager
def translate_unpack_errors(file: str, name: str) -> Generator[None]:
    """Turn what the standard library raises for a damaged member into `Refused`."""
    try:
        yield
    except _ZIP_ERRORS as error:
        shown = repr(shorten(name))
        raise Refused(
            f"{file}: {shown} in it cannot be unpacked ({archive_error_text(error)}). {COPY_AGAIN_ADVICE}"
        ) from None


def escapes_archive(name: str) -> bool:
    """Return whether a member of this name would be unpacked outside the target folder."""
    parts = name.replace("\\", "/").split("/")
    return ".." in parts or name.startswith(("/", "\\")) or "\x00" in name or parts[0].endswith(":")


def archive_error_text(error: Exception) -> str:
    """Return the standard library's message for a damaged archive, shortened."""
    return shorten(str(error) or type(error).__name__, 120)
