"""The digest by which a damaged file of sums is detected before it is opened.

A Parquet file has no checksum of its own, and a single wrong byte may crash the library that reads it. So the
last entry of the metadata is the SHA-256 digest of the whole file, computed with zeros in the digest's place.
"""

from __future__ import annotations

import hashlib
from typing import Final

DIGEST_KEY: Final = "calib-sums-seal"
BLANK_DIGEST: Final = "0" * 64
"""Placeholder in the digest's place while the digest is computed."""

_DIGEST_PREFIX: Final = f'"{DIGEST_KEY}": "'.encode()
_SEARCHED_BYTES: Final = 2**18
"""Bytes searched at the end of the file, where Parquet has the metadata and the metadata the digest."""


def with_digest(data: bytes) -> bytes:
    """The file with its digest written over the placeholder.

    Raises
    ------
    ValueError
        If the file has no placeholder.
    """
    at = _digest_offset(data)
    if data[at : at + 64] != BLANK_DIGEST.encode():
        raise ValueError("no place was left for the checksum")
    return data[:at] + hashlib.sha256(data).hexdigest().encode() + data[at + 64 :]


def has_digest(data: bytes) -> bool:
    """Whether the file has a digest, right or wrong."""
    return _digest_offset(data) >= 0


def digest_matches(data: bytes) -> bool:
    """Whether the file has a digest and the digest is right."""
    at = _digest_offset(data)
    if at < 0:
        return False
    digest = hashlib.sha256(memoryview(data)[:at])
    digest.update(BLANK_DIGEST.encode())
    digest.update(memoryview(data)[at + 64 :])
    return data[at : at + 64] == digest.hexdigest().encode()


def _digest_offset(data: bytes) -> int:
    """Offset of the digest; −1 where there is none."""
    at = data.rfind(_DIGEST_PREFIX, max(0, len(data) - _SEARCHED_BYTES))
    return at + len(_DIGEST_PREFIX) if at >= 0 else -1
