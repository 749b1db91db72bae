"""How are the bytes of a file read more than once, without holding all those of a large one?"""

from __future__ import annotations

import io
import os
import weakref
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from calib_core.errors import Refused
from calib_core.readers.folder import open_regular_file

MAX_BYTES_IN_MEMORY: Final = 2**26
"""Bytes of a file that is held whole; of a larger one pieces are read each time they are needed."""

CHUNK_BYTES: Final = 2**22
"""Bytes read at a time: enough that a fast parser is fast, little beside what the columns need."""

MAX_LINE_BYTES: Final = 2**28
"""Bytes in one line; a longer one is no record."""


class Content:
    """All bytes of a file: held, or read from its handle, which is closed when nobody needs it any more.

    file: as messages call it.
    """

    def __init__(self, data: bytes, file: str = "the file") -> None:
        self.file = file
        self._data = data
        self._size = len(data)
        self._handle = -1

    @classmethod
    def from_path(cls, path: Path, file: str) -> Content:
        """Those of a regular file. Raises Refused, naming it `file`, where there is none to be read."""
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
        """The bytes from `start`, `size` of them where there are so many."""
        if self._handle < 0:
            return self._data[start : start + size]
        return os.pread(self._handle, max(0, min(size, self._size - start)), start)

    def read_all(self) -> bytes:
        """All bytes at once: for what cannot be read in pieces."""
        return self._data if self._handle < 0 else b"".join(self.chunks())

    def chunks(self, start: int = 0) -> Iterator[bytes]:
        """The bytes from `start` on, piece by piece, each of `PIECE` bytes but the last."""
        while piece := self.read(start, CHUNK_BYTES):
            yield piece
            start += len(piece)

    def checksum(self) -> int:
        """The CRC-32 of all bytes."""
        checksum = 0
        for piece in self.chunks():
            checksum = zlib.crc32(piece, checksum)
        return checksum

    def line_blocks(self, start: int, line_ending: bytes = b"\n") -> Iterator[bytes]:
        """The bytes from `start` on in blocks of whole lines; only the last may lack the end of its line.

        Raises Refused as soon as a line is longer than any record is.
        """
        kept: list[bytes] = []
        for piece in self.chunks(start):
            cut = piece.rfind(line_ending) + 1
            if cut:
                yield b"".join((*kept, memoryview(piece)[:cut]))
                kept = []
            kept.append(piece[cut:])
            if CHUNK_BYTES * len(kept) > MAX_LINE_BYTES + CHUNK_BYTES:
                raise Refused(
                    f"{self.file}: a line of it is longer than {MAX_LINE_BYTES // 2**20} MiB, which no record is. "
                    f"It may be damaged: write it again, one record a line."
                )
        if rest := b"".join(kept):
            yield rest

    def stream(self, start: int = 0) -> io.BytesIO | io.BufferedReader:
        """The bytes from `start` on as a stream, whose position counts from there."""
        if self._handle < 0:
            return io.BytesIO(self._data[start:] if start else self._data)
        return io.BufferedReader(_ContentStream(self, start), CHUNK_BYTES)


class _ContentStream(io.RawIOBase):
    """A content from some byte on, read as a file is."""

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

    def readinto(self, buffer: Any, /) -> int:  # noqa: ANN401  the standard library has no name for it here
        view = memoryview(buffer).cast("B")
        data = self._content.read(self._at, len(view))
        view[: len(data)] = data
        self._at += len(data)
        return len(data)


def as_content(data: bytes | Content, file: str = "the file") -> Content:
    """Bytes as a content; a content as it is."""
    return data if isinstance(data, Content) else Content(data, file)
