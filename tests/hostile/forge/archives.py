"""Zip, gzip and zstd files, byte by byte, so that each of their sizes and checksums can lie.

A bomb is never unpacked in memory: one unit is compressed once, and its compressed form repeated.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Mapping
from functools import reduce
from operator import xor
from typing import Any, Final

Member = Mapping[str, Any]
"""A member of a zip file.

name, data; and what may lie: method, packed (the stored bytes), flags, crc, size (unpacked), attr (external
attributes), offset (of an earlier member whose bytes are used again).
"""

STORED_TIME: Final = (0, 0x21)
"""Midnight of 1 January 1980, as DOS time and date: the bytes do not depend on the clock."""


def zip_bytes(members: Iterable[Member]) -> bytes:
    """A zip file of these members, in their order."""
    body, directory, count = bytearray(), bytearray(), 0
    for member in members:
        count += 1
        data, name = member.get("data", b""), member["name"].encode()
        at, packed = member.get("offset", len(body)), member.get("packed", data)
        common = struct.pack(
            "<HHHHHIIIHH",
            20,
            member.get("flags", 0x800),
            member.get("method", 0),
            *STORED_TIME,
            member.get("crc", zlib.crc32(data)),
            len(packed),
            member.get("size", len(data)),
            len(name),
            0,
        )
        if "offset" not in member:
            body += b"PK\3\4" + common + name + packed
        place = struct.pack("<HHHII", 0, 0, 0, member.get("attr", 0), at)
        directory += b"PK\1\2\x1e\3" + common + place + name
    end = struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), len(body), 0)
    return bytes(body + directory + b"PK\5\6" + end)


def deflated(head: bytes, unit: bytes = b"", times: int = 0) -> tuple[bytes, int, int]:
    """Raw deflate of `head + unit * times`, its CRC-32 and its unpacked size in bytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(unit) + packer.flush(zlib.Z_FULL_FLUSH)
    size = len(head) + len(unit) * times
    return first + again * times + packer.flush(zlib.Z_FINISH), _repeated_crc(head, unit, times), size


def _repeated_crc(head: bytes, unit: bytes, times: int) -> int:
    """CRC-32 of `head + unit * times`, in steps that are doubled: thousands of units take a second each time.

    What a unit makes of a CRC is linear in its bits (each an XOR of its own), but for a constant.
    """
    crc, constant = zlib.crc32(head), zlib.crc32(unit)
    of_bits = [zlib.crc32(unit, 1 << bit) ^ constant for bit in range(32)] if times else []

    def step(crc: int) -> int:
        return reduce(xor, (made for bit, made in enumerate(of_bits) if crc >> bit & 1), constant)

    while times:
        if times & 1:
            crc = step(crc)
        of_bits, constant = [step(made) ^ constant for made in of_bits], step(constant)
        times >>= 1
    return crc


def gzipped(head: bytes, unit: bytes = b"", times: int = 0) -> bytes:
    """A gzip file of `head + unit * times`."""
    packed, crc, size = deflated(head, unit, times)
    return b"\x1f\x8b\x08\0\0\0\0\0\2\xff" + packed + struct.pack("<II", crc, size)


def packed_member(name: str, head: bytes, unit: bytes = b"", times: int = 0) -> dict[str, Any]:
    """A deflated member of a zip file that holds `head + unit * times`."""
    packed, crc, size = deflated(head, unit, times)
    return {"name": name, "method": 8, "packed": packed, "crc": crc, "size": size}


def zstd(data: bytes, fill: bytes = b"", times: int = 0) -> bytes:
    """A legal zstd frame without a content size, window 2 MiB (RFC 8878).

    The data lie in one stored block; `times` blocks of 128 KiB of one byte each follow, 4 bytes apiece.
    """

    def block(kind: int, size: int, content: bytes, *, last: bool) -> bytes:
        return struct.pack("<I", size << 3 | kind << 1 | last)[:3] + content

    stored = block(0, len(data), data, last=not times)
    if not times:
        return b"\x28\xb5\x2f\xfd\x00\x58" + stored
    repeated = block(1, 131_072, fill, last=False) * (times - 1) + block(1, 131_072, fill, last=True)
    return b"\x28\xb5\x2f\xfd\x00\x58" + stored + repeated
