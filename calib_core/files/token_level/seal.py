"""Is every byte of a file of sums the one that was written?

A Parquet file has no checksum of its own, and the library that reads it may end the whole program over
one wrong byte: so a damaged file has to be known before it is opened. The last entry of the metadata is
the SHA-256 digest of all the file's bytes, with zeros in the digest's own place.
"""

from __future__ import annotations

import hashlib
from typing import Final

NAME: Final = "calib-sums-seal"
BLANK: Final = "0" * 64
"""What stands in the digest's place before it is known."""

_MARK: Final = f'"{NAME}": "'.encode()
_TAIL: Final = 2**18
"""The metadata lies at the end of a Parquet file, and the seal at the end of the metadata."""


def sealed(data: bytes) -> bytes:
    """The file with its digest in the place that was left blank."""
    at = _place(data)
    if data[at : at + 64] != BLANK.encode():
        raise ValueError("no place was left for a seal")
    return data[:at] + hashlib.sha256(data).hexdigest().encode() + data[at + 64 :]


def is_sealed(data: bytes) -> bool:
    """Whether the file has a seal, broken or not."""
    return _place(data) >= 0


def is_whole(data: bytes) -> bool:
    """Whether the file has a seal that is not broken."""
    at = _place(data)
    if at < 0:
        return False
    digest = hashlib.sha256(memoryview(data)[:at])
    digest.update(BLANK.encode())
    digest.update(memoryview(data)[at + 64 :])
    return data[at : at + 64] == digest.hexdigest().encode()


def _place(data: bytes) -> int:
    """Where the digest begins; -1 where there is none."""
    at = data.rfind(_MARK, max(0, len(data) - _TAIL))
    return at + len(_MARK) if at >= 0 else -1
