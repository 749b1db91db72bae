"""Are the values of thrift's compact protocol read, and bytes that are none told?"""

from __future__ import annotations

import pytest

from calib_core.files.tables.thrift import BINARY, I64, LIST, STRUCT, Compact


def test_a_struct_is_its_fields() -> None:
    data = bytes([1 << 4 | I64, 0x96, 0x01, 2 << 4 | BINARY, 2]) + b"ab" + bytes([0 << 4 | 5, 40, 1, 0])
    reader = Compact(data)
    found: dict[int, object] = {}
    for field, type_ in reader.fields():
        found[field] = reader.text() if type_ == BINARY else reader.number()
    assert found == {1: 75, 3: "ab", 20: -1}


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (1, b""),
        (3, b"\x07"),
        (I64, b"\xff\x01"),
        (7, b"\0" * 8),
        (BINARY, b"\x03abc"),
        (LIST, bytes([2 << 4 | 1, 1, 2])),
        (LIST, bytes([15 << 4 | 5, 16]) + b"\x02" * 16),
        (STRUCT, bytes([1 << 4 | STRUCT, 1 << 4 | 2, 0, 0])),
    ],
)
def test_a_value_is_passed_over(type_: int, value: bytes) -> None:
    reader = Compact(value + bytes([84]))
    reader.skip(type_)
    assert reader.number() == 42


@pytest.mark.parametrize(("type_", "value"), [(11, b"\0"), (I64, b"\xff" * 11), (STRUCT, bytes([28]) * 200)])
def test_what_is_no_value_is_told(type_: int, value: bytes) -> None:
    with pytest.raises(ValueError, match=r"type|long|deep"):
        Compact(value).skip(type_)


@pytest.mark.parametrize(
    ("type_", "value"), [(BINARY, b"\x05ab"), (7, b"\0"), (STRUCT, b""), (LIST, b"\x25\x02")]
)
def test_bytes_that_end_too_soon_are_told(type_: int, value: bytes) -> None:
    with pytest.raises(IndexError):
        Compact(value).skip(type_)
