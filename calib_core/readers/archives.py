"""Lists the members of a ZIP archive and streams arrays (NPZ) or log entries out of it.

Nothing is ever extracted to a file or unpickled, and only the members that are needed are opened.
"""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import BinaryIO, Final, cast

from calib_core.errors import Refused, shorten

ZIP_MAGIC: Final = b"PK\x03\x04"
NPY_MAGIC: Final = b"\x93NUMPY"

MAX_MEMBERS: Final = 1000
"""Limit on members, checked before they are listed: no archive of predictions has so many arrays."""

MAX_LOG_MEMBERS: Final = 100_000
"""The limit for a log, which has one member for each answer to each question."""

_BYTES_PER_MEMBER: Final = 160
"""Typical bytes that one member takes in the central directory, with a name of about 100 characters."""

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
        raise Refused(f"{file} is an archive of {members:,} members, and at most {max_members:,} are read.")
    try:
        archive = zipfile.ZipFile(stream)
    except (*_ZIP_ERRORS, OSError) as error:
        raise Refused(
            f"{file} is an archive that cannot be opened ({archive_error_text(error)}). {COPY_AGAIN_ADVICE}"
        ) from None
    with archive:
        yield archive


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
                f"{file} has the member {shown}, a name that leads out of the archive: NumPy writes no such "
                f"names. Save the arrays again with numpy.savez."
            )
        name, suffix = member.filename[:-4], member.filename[-4:]
        if suffix != ".npy":
            continue
        if name in members:
            raise Refused(f"{file} has two members named {shown}: which one is meant is not clear. Keep one.")
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
