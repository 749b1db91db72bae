"""How is an array read block by block, so that memory does not grow with it?"""

from __future__ import annotations

import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from calib_core.errors import Refused
from calib_core.readers.archives import translate_unpack_errors

BLOCK_BYTES: Final = 2 * 2**20
"""Bytes read at a time: enough to be fast, few enough that progress is told and memory stays small."""

MAX_CLASSES: Final = 2**20
"""No vocabulary is larger: a file that says so is something else."""

_HEADER_READERS: Final = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}

_HEADER_ERRORS: Final = (ValueError, TypeError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError)
"""What NumPy raises of a header that is none. It is parsed as a literal and never run."""


@dataclass(frozen=True, slots=True, eq=False)
class StoredArray:
    """A stored array of which only the header has been read; its values can be read once, in order.

    file: as messages call it; name: the array's own; shape: as stored, each ≥ 0; fortran: whether
    columns are stored one after another.
    """

    file: str
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_fortran: bool
    _stream: BinaryIO = field(repr=False)

    @classmethod
    def from_stream(cls, stream: BinaryIO, size: int, file: str, name: str) -> StoredArray:
        """The array whose NPY bytes, `size` of them, begin here.

        Raises Refused where they are no array, hold Python objects, or are not as many as the header
        says.
        """
        shape, fortran, dtype = _read_header(stream, file, name)
        if dtype.hasobject:
            raise Refused(
                f"{file}: {name!r} holds Python objects (a pickle), which are never unpacked, as they could "
                f"run code. Save plain numbers: numpy.asarray(values, dtype='float32')."
            )
        if min(shape, default=0) < 0:
            raise Refused(f"{file}: {name!r} has the shape {shape}, which no array can have. Save it again.")
        told, there = prod(shape) * dtype.itemsize, size - stream.tell()
        if told != there:
            raise Refused(
                f"{file}: {name!r} says that it has the shape {shape} of {dtype} ({told:,} bytes), and "
                f"{there:,} bytes follow. It may be cut off or half written: save it again."
            )
        return cls(file, name, shape, dtype, fortran, stream)

    @property
    def row_bytes(self) -> int:
        """Bytes of one row: of all that stands at one index of the first dimension."""
        return prod(self.shape[1:]) * self.dtype.itemsize

    def blocks(self, rows: int) -> Iterator[NDArray[Any]]:
        """The values in blocks of `rows` consecutive rows (the last may have fewer), in native byte order.

        Raises Refused where the bytes end early, or are not those that the archive's checksum is of.
        """
        for start in range(0, self.shape[0], rows):
            count = min(rows, self.shape[0] - start)
            yield self._read_values((count, *self.shape[1:]), f"at row {start + 1:,} of {self.shape[0]:,}")
        self._finish()

    def read_all(self) -> NDArray[Any]:
        """All values at once, of an array known to be small; raises as `blocks`."""
        values = self._read_values(self.shape, f"within its {prod(self.shape):,} values")
        self._finish()
        return values.reshape(self.shape[::-1]).T if self.is_fortran else values

    def _read_values(self, shape: tuple[int, ...], where: str) -> NDArray[Any]:
        wanted = prod(shape) * self.dtype.itemsize
        with translate_unpack_errors(self.file, self.name):
            data = self._stream.read(wanted)
        if len(data) != wanted:
            raise Refused(f"{self.file}: {self.name!r} ends {where}. Write or copy the file again.")
        values = np.frombuffer(data, self.dtype).reshape(shape)
        return values if self.dtype.isnative else values.astype(self.dtype.newbyteorder("="))

    def _finish(self) -> None:
        """An archive's checksum is only looked at once the end has been reached."""
        with translate_unpack_errors(self.file, self.name):
            self._stream.read(1)


def _read_header(stream: BinaryIO, file: str, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    reason = "its format is of another version"
    with translate_unpack_errors(file, name):
        try:
            read = _HEADER_READERS.get(npy.read_magic(stream))
            if read is not None:
                return read(stream)
        except _HEADER_ERRORS as error:
            reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
    raise Refused(
        f"{file}: {name!r} has no header that can be read as an array's ({reason}). "
        f"Save it again with numpy.save or numpy.savez."
    )
