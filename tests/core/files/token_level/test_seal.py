"""Is a changed byte noticed wherever it is?"""

from __future__ import annotations

import hashlib
import json

import pytest

from calib_core.files.token_level import seal

METADATA = {"notes": f'"{seal.NAME}": "', "x": 1, seal.NAME: seal.BLANK}
FILE = b"PAR1 numbers " + json.dumps(METADATA).encode() + b" PAR1"


def test_the_digest_is_that_of_the_file_with_zeros_in_its_place() -> None:
    whole = seal.sealed(FILE)
    assert len(whole) == len(FILE)
    assert whole == FILE.replace(seal.BLANK.encode(), hashlib.sha256(FILE).hexdigest().encode())
    assert seal.is_whole(whole)


def test_any_other_byte_breaks_it() -> None:
    whole = seal.sealed(FILE)
    for at in range(len(whole)):
        changed = bytearray(whole)
        changed[at] ^= 1
        assert not seal.is_whole(bytes(changed)), at


def test_other_files_have_none() -> None:
    assert not seal.is_sealed(b"PAR1 nothing PAR1")
    assert not seal.is_whole(b"PAR1 nothing PAR1")
    assert seal.is_sealed(FILE)
    assert not seal.is_whole(FILE)


def test_a_seal_needs_its_place() -> None:
    for data in (b"nothing", seal.sealed(FILE)):
        with pytest.raises(ValueError, match="no place"):
            seal.sealed(data)
