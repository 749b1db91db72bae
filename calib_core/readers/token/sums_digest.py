"""Is every byte of a file of sums the one that was written?

A Parquet file has no checksum of its own, and the library that reads it may end the whole program over
one wrong byte: so a damaged file has to be known before it is opened. The last entry of the metadata is
the SHA-256 digest of all the file's bytes, with zeros in the digest's own place.
"""

from __future__ import annotations

import hashlib
from typing import Final

DIGEST_KEY: Final = "calib-sums-seal"
BLANK_DIGEST: Final = "0" * 64
"""What stands in the digest's place before it is known."""

_DIGEST_PREFIX: Final = f'"{DIGEST_KEY}": "'.encode()
_SEARCHED_BYTES: Final = 2**18
"""The metadata lies at the end of a Parquet file, and the seal at the end of the metadata."""


def with_digest(data: bytes) -> bytes:
    """The file with its digest in the place that was left blank."""
    at = _digest_offset(data)
    if data[at : at + 64] != BLANK_DIGEST.encode():
        raise ValueError("no place was left for a seal")
    return data[:at] + hashlib.sha256(data).hexdigest().encode() + data[at + 64 :]


def has_digest(data: bytes) -> bool:
    """Whether the file has a seal, broken or not."""
    return _digest_offset(data) >= 0


def digest_matches(data: bytes) -> bool:
    """Whether the file has a seal that is not broken."""
    at = _digest_offset(data)
    if at < 0:
        return False
    digest = hashlib.sha256(memoryview(data)[:at])
    digest.update(BLANK_DIGEST.encode())
    digest.update(memoryview(data)[at + 64 :])
    return data[at : at + 64] == digest.hexdigest().encode()


def _digest_offset(data: bytes) -> int:
    """Where the digest begins; -1 where there is none."""
    at = data.rfind(_DIGEST_PREFIX, max(0, len(data) - _SEARCHED_BYTES))
    return at + len(_DIGEST_PREFIX) if at >= 0 else -1
