"""How are the numbers and names in a Parquet file's footer written?  In thrift's compact protocol.

Numbers are varints, and a struct is a sequence of fields, each with its type before it
(https://github.com/apache/thrift, doc/specs/thrift-compact-protocol.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

I64: Final = 6
BINARY: Final = 8
LIST: Final = 9
STRUCT: Final = 12

NUMBERS: Final = frozenset({4, 5, I64})
"""Types whose values are varints."""

_TRUE, _FALSE, _BYTE, _SET = 1, 2, 3, 10
_WIDTHS: Final = {_TRUE: 0, _FALSE: 0, _BYTE: 1, 7: 8}
"""Type → bytes of those whose values all have the same; as a field, true and false have none of their own."""

_LEVELS: Final = 64
"""A value that nests deeper is none of a footer."""


class Compact:
    """A place in bytes, which moves on as they are read.

    Raises IndexError past their end, ValueError where they are no such values.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def fields(self) -> Iterator[tuple[int, int]]:
        """Id and type of each field of a struct; its value is to be read before the next one is asked for."""
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self.number()
            yield field, head & 15

    def number(self) -> int:
        """A whole number with its sign."""
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def text(self) -> str:
        """A name."""
        start = self._moved(self._varint())
        return self._data[start : self._at].decode("utf-8", "replace")

    def length(self) -> int:
        """Of a list, whose head is read; the type of its elements is passed over."""
        head = self._byte()
        return head >> 4 if head >> 4 < 15 else self._varint()

    def skip(self, type_: int, level: int = 0) -> None:
        """Passes over one value."""
        if level > _LEVELS:
            raise ValueError("nested too deep")
        if type_ in _WIDTHS:
            self._moved(_WIDTHS[type_])
        elif type_ in NUMBERS:
            self._varint()
        elif type_ == BINARY:
            self._moved(self._varint())
        elif type_ in (LIST, _SET):
            element = self._data[self._at] & 15
            for _ in range(self.length()):
                self.skip(_BYTE if element in (_TRUE, _FALSE) else element, level + 1)
        elif type_ == STRUCT:
            for _, inner in self.fields():
                self.skip(inner, level + 1)
        else:
            raise ValueError("a type that a footer does not have")

    def _byte(self) -> int:
        return self._data[self._moved(1)]

    def _moved(self, size: int) -> int:
        """Where the place was before it moved on by so many bytes."""
        start, self._at = self._at, self._at + size
        if self._at > len(self._data):
            raise IndexError("the bytes end before the value does")
        return start

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("a number too long")
