"""What lies in an archive (a zip), and how is an array (NPZ) streamed out of it?

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

MAX_MEMBERS: Final = 1000
"""More is refused before the list of them is read: no archive of predictions has so many arrays."""

MAX_LOG_MEMBERS: Final = 100_000
"""As many are listed at all: a log has one for each answer to each question."""

_BYTES_PER_MEMBER: Final = 160
"""Bytes that the list of members has for one, its name of about a hundred characters included."""

_END_RECORD_SPAN: Final = 22 + 2**16
"""Where the end record of an archive lies: 22 bytes, and a comment of at most so many before them."""

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
"""What the standard library raises of an archive that is not what it says it is."""


def count_members(stream: BinaryIO) -> int:
    """How many members the end record tells of; 0 where there is none, which opening it will say.

    A list of members that is longer than so many need counts for as many as it has room for.
    """
    size = stream.seek(0, 2)
    start = max(0, size - _END_RECORD_SPAN)
    stream.seek(start)
    tail = stream.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0:
        stream.seek(0)
        return 0
    number, listed = struct.unpack("<HI", tail[at + 10 : at + 16].ljust(6, b"\0"))
    locator = tail[max(0, at - 20) : at]
    if locator[:4] == b"PK\x06\x07":  # the numbers did not fit: they stand in a record of their own
        stream.seek(min(int.from_bytes(locator[8:16], "little"), size))
        number, listed = struct.unpack("<QQ", stream.read(56)[32:48].ljust(16, b"\0"))
    stream.seek(0)
    return max(number, min(listed, size) // _BYTES_PER_MEMBER)


@contextmanager
def open_archive(stream: BinaryIO, file: str, max_members: int = MAX_MEMBERS) -> Generator[zipfile.ZipFile]:
    """The archive in an open file. Raises Refused where its list of members is too long or cannot be read."""
    if (members := count_members(stream)) > max_members:
        raise Refused(f"{file} is an archive of {members:,} members, and at most {max_members:,} are read.")
    try:
        opened = zipfile.ZipFile(stream)
    except (*_ZIP_ERRORS, OSError) as error:
        raise Refused(
            f"{file} is an archive that cannot be opened ({archive_error_text(error)}). {COPY_AGAIN_ADVICE}"
        ) from None
    with opened:
        yield opened


def npy_members(archive: zipfile.ZipFile, file: str) -> Mapping[str, zipfile.ZipInfo]:
    """Name → member of each array (`NAME.npy`) in an archive, in its order.

    Raises Refused where a name is held twice or leads out of the archive, or a member is encrypted.
    """
    found: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        shown = repr(shorten(member.orig_filename))
        if escapes_archive(member.orig_filename):
            raise Refused(
                f"{file} has the member {shown}, a name that leads out of the archive: NumPy writes no such "
                f"names. Save the arrays again with numpy.savez."
            )
        name, ending = member.filename[:-4], member.filename[-4:]
        if ending != ".npy":
            continue
        if name in found:
            raise Refused(f"{file} has two members named {shown}: which one is meant is not clear. Keep one.")
        if member.flag_bits & 1:
            raise Refused(f"{file}: its member {shown} is encrypted. Save it again without a password.")
        found[name] = member
    return found


@contextmanager
def open_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, file: str) -> Generator[BinaryIO]:
    """The unpacked bytes of one member, one after another. Raises Refused where they cannot be had."""
    with translate_unpack_errors(file, member.filename):
        stream = archive.open(member)
    try:
        yield cast("BinaryIO", stream)
    finally:
        stream.close()


@contextmanager
def translate_unpack_errors(file: str, name: str) -> Generator[None]:
    """Turns what the standard library raises of damaged members into Refused."""
    try:
        yield
    except _ZIP_ERRORS as error:
        shown = repr(shorten(name))
        raise Refused(
            f"{file}: {shown} in it cannot be unpacked ({archive_error_text(error)}). {COPY_AGAIN_ADVICE}"
        ) from None


def escapes_archive(name: str) -> bool:
    """Whether a member's name would lead out of the folder that an archive is unpacked into."""
    parts = name.replace("\\", "/").split("/")
    return ".." in parts or name.startswith(("/", "\\")) or "\x00" in name or parts[0].endswith(":")


def archive_error_text(error: Exception) -> str:
    """What the standard library says of an archive, in short."""
    return shorten(str(error) or type(error).__name__, 120)
