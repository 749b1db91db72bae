"""Reads a stored NumPy array block by block, so that memory does not grow with the array."""

from __future__ import annotations

import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from io import BytesIO
from math import prod
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from calib_core.errors import Refused
from calib_core.readers.archives import translate_unpack_errors

BLOCK_BYTES: Final = 16 * 2**20
"""Bytes read and added up at a time: enough to be fast, few enough for frequent progress."""

MAX_TOKEN_CLASSES: Final = 2**20
"""Upper limit of K; a file that claims more is something else."""

_HEADER_READERS: Final = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}

_HEADER_ERRORS: Final = (ValueError, TypeError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError)
"""Errors of NumPy for an invalid header, which is parsed as a literal and never executed."""


@dataclass(frozen=True, slots=True, eq=False)
class StoredArray:
    """A stored array of which only the header has been read; its values can be read once, in order.

    Attributes
    ----------
    file : str
        The file's name, for messages.
    name : str
        The array's name.
    shape : tuple[int, ...]
        As stored, each length ≥ 0.
    dtype : np.dtype
        As stored; never of Python objects.
    is_fortran : bool
        Whether the array is stored column by column.
    """

    file: str
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_fortran: bool
    _stream: BinaryIO = field(repr=False)

    @classmethod
    def from_stream(cls, stream: BinaryIO, size: int, file: str, name: str) -> StoredArray:
        """The array whose NPY bytes begin at the stream's position.

        Parameters
        ----------
        stream : BinaryIO
            The open file, at the first byte of the array.
        size : int
            Total number of bytes of the stream.
        file, name : str
            Names of file and array, for messages.

        Raises
        ------
        Refused
            If the bytes are not an array, hold Python objects, or are not as many as the header says.
        """
        shape, is_fortran, dtype = _read_header(stream, file, name)
        _check_plain(dtype, file, name)
        if min(shape, default=0) < 0:
            raise Refused(f"{file}: {name!r} has the shape {shape}, which no array can have. Save it again.")
        claimed_bytes, stored_bytes = prod(shape) * dtype.itemsize, size - stream.tell()
        if claimed_bytes != stored_bytes:
            raise Refused(
                f"{file}: {name!r} says that it has the shape {shape} of {dtype} ({claimed_bytes:,} "
                f"bytes), but {stored_bytes:,} bytes follow. It may be cut off or half written: save it "
                "again."
            )
        return cls(file, name, shape, dtype, is_fortran, stream)

    @classmethod
    def from_memory(cls, values: NDArray[Any], file: str, name: str) -> StoredArray:
        """The array of these values, as if it had been stored; raises Refused if it holds Python objects."""
        _check_plain(values.dtype, file, name)
        stream = BytesIO(np.ascontiguousarray(values).tobytes())
        return cls(file, name, values.shape, values.dtype, is_fortran=False, _stream=stream)

    @property
    def row_bytes(self) -> int:
        """Bytes of one row, that is, of everything at one index of the first dimension."""
        return prod(self.shape[1:]) * self.dtype.itemsize

    def blocks(self, rows: int) -> Iterator[NDArray[Any]]:
        """The values in blocks of `rows` consecutive rows (the last may have fewer), in native byte order.

        After the last block of an archive's array, `finish` verifies its checksum.

        Raises
        ------
        Refused
            If the bytes end early.
        """
        for start in range(0, self.shape[0], rows):
            count = min(rows, self.shape[0] - start)
            yield self._read_values((count, *self.shape[1:]), f"at row {start + 1:,} of {self.shape[0]:,}")

    @property
    def position(self) -> int:
        """Offset in the stream of the next value to be read."""
        return self._stream.tell()

    def part(self, start: int, stop: int, stream: BinaryIO | None = None) -> StoredArray:
        """The rows from `start` to before `stop`, as an array of their own.

        Parameters
        ----------
        start, stop : int
            0 ≤ start ≤ stop ≤ number of rows.
        stream : BinaryIO or None
            A stream at the first byte of row `start`; None for that of the array itself, whose rows before
            `start` have been read.
        """
        return replace(
            self, shape=(stop - start, *self.shape[1:]), _stream=self._stream if stream is None else stream
        )

    def finish(self) -> None:
        """Reads past the end, since an archive's checksum is only verified there.

        Raises
        ------
        Refused
            If the bytes do not match the archive's checksum.
        """
        with translate_unpack_errors(self.file, self.name):
            self._stream.read(1)

    def read_all(self) -> NDArray[Any]:
        """All values at once, for an array that is known to be small. Raises as `blocks` does."""
        values = self._read_values(self.shape, f"within its {prod(self.shape):,} values")
        self.finish()
        return values.reshape(self.shape[::-1]).T if self.is_fortran else values

    def _read_values(self, shape: tuple[int, ...], where: str) -> NDArray[Any]:
        n_bytes = prod(shape) * self.dtype.itemsize
        with translate_unpack_errors(self.file, self.name):
            data = self._stream.read(n_bytes)
        if len(data) != n_bytes:
            raise Refused(f"{self.file}: {self.name!r} ends {where}. Write or copy the file again.")
        values = np.frombuffer(data, self.dtype).reshape(shape)
        return values if self.dtype.isnative else values.astype(self.dtype.newbyteorder("="))


def _check_plain(dtype: np.dtype[Any], file: str, name: str) -> None:
    if dtype.hasobject:
        raise Refused(
            f"{file}: {name!r} holds Python objects (a pickle), which are never unpacked, as they could "
            f"run code. Save plain numbers: numpy.asarray(values, dtype='float32')."
        )


def _read_header(stream: BinaryIO, file: str, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether in Fortran order, and dtype. Raises Refused for an invalid header."""
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
