"""A changed byte is noticed wherever it is."""

from __future__ import annotations

import hashlib
import json

import pytest

from calib_core.readers.token import sums_digest

METADATA = {
    "notes": f'"{sums_digest.DIGEST_KEY}": "',
    "x": 1,
    sums_digest.DIGEST_KEY: sums_digest.BLANK_DIGEST,
}
FILE = b"PAR1 numbers " + json.dumps(METADATA).encode() + b" PAR1"


def test_the_digest_is_that_of_the_file_with_zeros_in_its_place() -> None:
    file_bytes = sums_digest.with_digest(FILE)
    assert len(file_bytes) == len(FILE)
    assert file_bytes == FILE.replace(
        sums_digest.BLANK_DIGEST.encode(), hashlib.sha256(FILE).hexdigest().encode()
    )
    assert sums_digest.digest_matches(file_bytes)


def test_any_other_byte_breaks_it() -> None:
    file_bytes = sums_digest.with_digest(FILE)
    for at in range(len(file_bytes)):
        changed = bytearray(file_bytes)
        changed[at] ^= 1
        assert not sums_digest.digest_matches(bytes(changed)), at


def test_other_files_have_none() -> None:
    assert not sums_digest.has_digest(b"PAR1 nothing PAR1")
    assert not sums_digest.digest_matches(b"PAR1 nothing PAR1")
    assert sums_digest.has_digest(FILE)
    assert not sums_digest.digest_matches(FILE)


def test_a_digest_needs_its_placeholder() -> None:
    for data in (b"nothing", sums_digest.with_digest(FILE)):
        with pytest.raises(ValueError, match="no place"):
            sums_digest.with_digest(data)
