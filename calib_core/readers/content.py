"""Gives repeated access to the bytes of a file, without holding all bytes of a large one in memory."""

from __future__ import annotations

import io
import os
import weakref
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from calib_core.errors import Refused
from calib_core.readers.file_access import open_regular_file

MAX_BYTES_IN_MEMORY: Final = 2**26
"""Size up to which a file is held in memory; a larger one is read in chunks each time."""

CHUNK_BYTES: Final = 2**22
"""Bytes read at a time: enough for a fast parser, and little compared with the columns."""

MAX_LINE_BYTES: Final = 2**28
"""Limit on the length of a line; a longer one is not a record."""


class Content:
    """The bytes of a file, in memory or read from its handle as needed.

    The handle is closed when the object is garbage-collected.

    Parameters
    ----------
    data
        All bytes. For a large file, use `from_path`.
    file
        What messages call the file.
    """

    def __init__(self, data: bytes, file: str = "the file") -> None:
        self.file = file
        self._data = data
        self._size = len(data)
        self._handle = -1

    @classmethod
    def from_path(cls, path: Path, file: str) -> Content:
        """Open a regular file; raises Refused if there is none or it cannot be read."""
        with open_regular_file(path, file) as stream:
            size = os.fstat(stream.fileno()).st_size
            if size <= MAX_BYTES_IN_MEMORY:
                return cls(stream.read(), file)
            content = cls(b"", file)
            content._size = size
            content._handle = os.dup(stream.fileno())
        weakref.finalize(content, os.close, content._handle)
        return content

    def __len__(self) -> int:
        return self._size

    def read(self, start: int, size: int) -> bytes:
        """Read `size` bytes from `start`, fewer at the end of the file."""
        if self._handle < 0:
            return self._data[start : start + size]
        return os.pread(self._handle, max(0, min(size, self._size - start)), start)

    def read_all(self) -> bytes:
        """Read all bytes at once, for formats that cannot be read in chunks."""
        if self._handle < 0:
            return self._data
        data = self.read(0, self._size)  # in one piece, as joining chunks would take the memory twice
        return data if len(data) == self._size else b"".join(self.chunks())  # Linux reads 2 GiB at a time

    def chunks(self, start: int = 0) -> Iterator[bytes]:
        """Yield the bytes from `start` on in chunks of `CHUNK_BYTES`; the last one may be shorter."""
        while chunk := self.read(start, CHUNK_BYTES):
            yield chunk
            start += len(chunk)

    def checksum(self) -> int:
        """Return the CRC-32 of all bytes."""
        checksum = 0
        for chunk in self.chunks():
            checksum = zlib.crc32(chunk, checksum)
        return checksum

    def line_blocks(self, start: int, line_ending: bytes = b"\n") -> Iterator[bytes]:
        """Yield the bytes from `start` on in blocks of whole lines; only the last line may lack its ending.

        Raises
        ------
        Refused
            A line is longer than `MAX_LINE_BYTES`.
        """
        pending: list[bytes] = []
        for chunk in self.chunks(start):
            end = chunk.rfind(line_ending) + 1
            if end:
                yield b"".join((*pending, memoryview(chunk)[:end]))
                pending = []
            pending.append(chunk[end:])
            if CHUNK_BYTES * len(pending) > MAX_LINE_BYTES + CHUNK_BYTES:
                raise Refused(
                    f"{self.file}: a line of it is longer than {MAX_LINE_BYTES // 2**20} MiB. The file may "
                    "be damaged: write it again, with one record per line."
                )
        if remainder := b"".join(pending):
            yield remainder

    def stream(self, start: int = 0) -> io.BytesIO | io.BufferedReader:
        """Return the bytes from `start` on as a stream whose position 0 is `start`."""
        if self._handle < 0:
            return io.BytesIO(self._data[start:] if start else self._data)
        return io.BufferedReader(_ContentStream(self, start), CHUNK_BYTES)


class _ContentStream(io.RawIOBase):
    """A `Content` from byte `start` on, as a readable and seekable stream."""

    def __init__(self, content: Content, start: int) -> None:
        self._content = content
        self._start = start
        self._at = start

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        origin = {os.SEEK_SET: self._start, os.SEEK_CUR: self._at, os.SEEK_END: len(self._content)}[whence]
        self._at = origin + offset
        return self._at - self._start

    def readinto(self, buffer: Any, /) -> int:  # noqa: ANN401  as in io.RawIOBase
        view = memoryview(buffer).cast("B")
        data = self._content.read(self._at, len(view))
        view[: len(data)] = data
        self._at += len(data)
        return len(data)


def as_content(data: bytes | Content, file: str = "the file") -> Content:
    """Wrap bytes in a `Content`; return a `Content` unchanged."""
    return data if isinstance(data, Content) else Content(data, file)
