"""Small Parquet files, byte by byte, so that the footer and the pages can lie.

Thrift's compact protocol and plain pages, as https://parquet.apache.org/docs/file-format/ describes them.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl

INT32: Final = 5
INT64: Final = 6
BINARY: Final = 8
LIST: Final = 9
STRUCT: Final = 12

PHYSICAL: Final = {float: (5, "<d"), int: (2, "<q"), str: (6, "")}
"""Python type → physical type of the column, and how a cell is packed."""


def varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def value(kind: int, content: Any) -> bytes:
    """A number (zigzag), a text (with its length), or bytes that are a list or a struct already."""
    if kind in {INT32, INT64}:
        return varint(content * 2 if content >= 0 else -content * 2 - 1)
    return varint(len(content)) + content if kind == BINARY else content


def record(*fields: tuple[int, int, Any]) -> bytes:
    """A struct of (field number, type, content)."""
    stored, last = b"", 0
    for number, kind, content in fields:
        stored += bytes([(number - last) << 4 | kind]) + value(kind, content)
        last = number
    return stored + b"\0"


def listing(kind: int, items: Sequence[bytes]) -> bytes:
    """A list of encoded items."""
    count = len(items)
    header = bytes([count << 4 | kind]) if count < 15 else bytes([0xF0 | kind]) + varint(count)
    return header + b"".join(items)


def parquet(
    columns: Mapping[str, Sequence[Any]],
    *,
    rows: int | None = None,
    groups: int = 1,
    values: int | None = None,
    page_size: int | None = None,
    fill: bytes | None = None,
    schema: Sequence[bytes] | None = None,
    copies: int = 1,
) -> bytes:
    """A plain Parquet file of required columns of float, int or str.

    Parameters
    ----------
    columns
        Name → cells, all of one length.
    rows, values, page_size
        What the footer and the page headers claim, where that is not the truth.
    groups
        How often the footer names the one row group.
    fill
        A byte that stands in place of every byte of the pages.
    schema
        Elements that stand in the footer in place of the true ones.
    copies
        How many columns name the same page.
    """
    body, chunks, elements = b"PAR1", list[bytes](), list[bytes]()
    height = len(next(iter(columns.values())))
    claimed, each = height if values is None else values, height if rows is None else rows
    for name, cells in columns.items():
        kind, pack = PHYSICAL[type(cells[0])]
        data = b"".join(_cell(cell, pack) for cell in cells)
        size, at = len(data) if page_size is None else page_size, len(body)
        about = record((1, INT32, claimed), (2, INT32, 0), (3, INT32, 3), (4, INT32, 3))
        page = record((1, INT32, 0), (2, INT32, size), (3, INT32, size), (5, STRUCT, about))
        body += page + (data if fill is None else fill * len(data))
        for copy in range(copies):
            label = (name if copies == 1 else f"{name}{copy}").encode()
            chunk = record(
                (1, INT32, kind),
                (2, LIST, listing(INT32, [value(INT32, 0)])),
                (3, LIST, listing(BINARY, [value(BINARY, label)])),
                (4, INT32, 0),
                (5, INT64, claimed),
                (6, INT64, len(page) + size),
                (7, INT64, len(page) + size),
                (9, INT64, at),
            )
            chunks.append(record((2, INT64, at), (3, STRUCT, chunk)))
            utf8 = [] if pack else [(6, INT32, 0)]
            elements.append(record((1, INT32, kind), (3, INT32, 0), (4, BINARY, label), *utf8))
    root = record((4, BINARY, b"schema"), (5, INT32, len(elements)))
    group = record((1, LIST, listing(STRUCT, chunks)), (2, INT64, len(body)), (3, INT64, each))
    footer = record(
        (1, INT32, 1),
        (2, LIST, listing(STRUCT, schema or [root, *elements])),
        (3, INT64, each * groups),
        (4, LIST, listing(STRUCT, [group] * groups)),
    )
    return body + footer + struct.pack("<I", len(footer)) + b"PAR1"


def polars_parquet(frame: pl.DataFrame, **options: Any) -> bytes:
    """The frame as polars writes it."""
    stored = io.BytesIO()
    frame.write_parquet(stored, **options)
    return stored.getvalue()


def _cell(cell: Any, pack: str) -> bytes:
    return struct.pack(pack, cell) if pack else struct.pack("<I", len(cell)) + cell.encode()
