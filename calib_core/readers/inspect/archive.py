"""Reads members of an Inspect log that is an archive, without trusting what the archive says of itself.

Members are unpacked in memory only, and never beyond `MAX_MEMBER_BYTES`, whatever sizes they claim. The
standard library does not decompress zstd yet, so every method is unpacked here from the member's raw bytes.
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import zstandard

from calib_core.errors import Refused, shorten
from calib_core.readers.archives import (
    COPY_AGAIN_ADVICE,
    MAX_LOG_MEMBERS,
    archive_error_text,
    checked_members,
    open_archive,
)
from calib_core.readers.file_access import open_regular_file
from calib_core.readers.table.json_reader import RepeatedKeyError, parse_json

MAX_MEMBER_BYTES: Final = 2**26
"""Limit for one unpacked member: a sample with its whole transcript."""

HEADER_MEMBER: Final = "header.json"
START_MEMBER: Final = "_journal/start.json"
"""Written when a run begins; the only header while the run goes on."""

SAMPLE_MEMBER: Final = re.compile(r"samples/(?P<id>.*)_epoch_(?P<epoch>\d+)\.json", re.DOTALL)

_LOCAL_HEADER_BYTES: Final = 30
"""Size of the fixed part of a member's local header, before the name."""
_ZIP_ZSTANDARD: Final = 93
"""Compression method of zstd in ZIP archives, which `zipfile` does not name."""


@dataclass(frozen=True, slots=True, eq=False)
class LogArchive:
    """An open log.

    Attributes
    ----------
    file : str
        The log's name, for messages.
    stream : BinaryIO
        The open file.
    members : Mapping[str, zipfile.ZipInfo]
        Name → member, in the archive's order; what the entries claim is not trusted.
    """

    file: str
    stream: BinaryIO
    members: Mapping[str, zipfile.ZipInfo]

    def read_json(self, name: str) -> object:
        """The JSON value in a member.

        Raises
        ------
        Refused
            If the member is not JSON, or its bytes are damaged or too many.
        """
        try:
            return parse_json(_unpack_member(self.stream, self.members[name], self.file).decode("utf-8-sig"))
        except RepeatedKeyError as error:
            fault = f"holds the key {shorten(str(error))!r} more than once in one object"
        except RecursionError:
            fault = "is nested too deeply to be read"
        except json.JSONDecodeError as error:
            fault = f"is not JSON ({shorten(str(error), 120)})"
        except ValueError as error:
            fault = f"is not JSON in UTF-8 ({shorten(str(error), 120)})"
        raise Refused(f"{self.file}: {_quoted_name(name)} in it {fault}. {COPY_AGAIN_ADVICE}")

    def packed_bytes(self, name: str) -> int:
        """Compressed size of a member, in bytes."""
        return self.members[name].compress_size


@contextmanager
def open_log_archive(path: Path, file: str) -> Generator[LogArchive]:
    """Opens the log at a path.

    Raises
    ------
    Refused
        If the list of members cannot be read or is not one that Inspect writes.
    """
    with open_regular_file(path, file) as stream, open_archive(stream, file, MAX_LOG_MEMBERS) as archive:
        yield LogArchive(file, stream, checked_members(archive, file))


def is_inspect_log(names: tuple[str, ...]) -> bool:
    """Whether an archive with members of these names is a log, complete or not."""
    return any(name in (HEADER_MEMBER, START_MEMBER) or SAMPLE_MEMBER.fullmatch(name) for name in names)


def _unpack_member(stream: BinaryIO, member: zipfile.ZipInfo, file: str) -> bytes:
    """The bytes of a member. Raises Refused where they are too many, damaged or encrypted."""
    quoted_name = _quoted_name(member.orig_filename)
    if member.flag_bits & 1:
        raise Refused(f"{file}: {quoted_name} in it is encrypted. Save it again without a password.")
    if max(member.file_size, member.compress_size) > MAX_MEMBER_BYTES:
        raise Refused(f"{file}: {quoted_name} in it is too large: {_too_large_message(member.file_size)}")
    try:
        data = _decompress(_read_packed(stream, member), member.compress_type)
    except (zlib.error, zstandard.ZstdError, ValueError) as error:
        raise Refused(
            f"{file}: {quoted_name} in it cannot be unpacked ({archive_error_text(error)}). "
            f"{COPY_AGAIN_ADVICE}"
        ) from None
    if len(data) != member.file_size:
        size = "larger" if len(data) > member.file_size else "smaller"
        fault = f"is {size} than the {member.file_size:,} bytes it claims"
        raise Refused(f"{file}: {quoted_name} in it {fault}. {COPY_AGAIN_ADVICE}")
    if zlib.crc32(data) != member.CRC:
        raise Refused(
            f"{file}: {quoted_name} in it is not as it was written (wrong checksum). {COPY_AGAIN_ADVICE}"
        )
    return data


def _too_large_message(claimed_bytes: int) -> str:
    return (
        f"{claimed_bytes:,} bytes are claimed, but at most {MAX_MEMBER_BYTES:,} are read. Log the samples "
        "without their events, or export one row per question."
    )


def _read_packed(stream: BinaryIO, member: zipfile.ZipInfo) -> bytes:
    """The compressed bytes of a member, as stored in the file."""
    stream.seek(member.header_offset)
    local = stream.read(_LOCAL_HEADER_BYTES)
    if len(local) < _LOCAL_HEADER_BYTES or not local.startswith(b"PK\x03\x04"):
        raise ValueError("nothing lies where it should")
    names = int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little")
    stream.seek(names, 1)
    packed = stream.read(member.compress_size)
    if len(packed) < member.compress_size:
        raise ValueError("its end is missing")
    return packed


def _decompress(packed: bytes, method: int) -> bytes:
    """The unpacked bytes: at most one more than `MAX_MEMBER_BYTES`."""
    if method == zipfile.ZIP_STORED:
        return packed
    if method == zipfile.ZIP_DEFLATED:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, MAX_MEMBER_BYTES + 1)
    if method == _ZIP_ZSTANDARD:
        decompressor = zstandard.ZstdDecompressor(max_window_size=MAX_MEMBER_BYTES)
        with decompressor.stream_reader(packed, read_across_frames=True) as reader:
            return reader.read(MAX_MEMBER_BYTES + 1)
    raise ValueError(f"its compression method, {method}, is not one that Inspect writes")


def _quoted_name(name: str) -> str:
    return repr(shorten(name))
