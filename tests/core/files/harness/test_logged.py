"""Are the records of a JSON log read one by one, with their line, and what is no record told apart?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from calib_core.files.harness.logged import records_of
from calib_core.files.head import head_of
from calib_core.files.tables.raw import Broken
from calib_core.problems import Refused


def test_lines_with_their_numbers_and_their_share() -> None:
    head = head_of(b'{"a": NaN}\n\n{"a": 2}\n', "log.jsonl")
    found = list(records_of(head))
    assert [record.line for record in found] == [1, 3]
    assert found[1].value == {"a": 2}
    assert found[-1].share == 1.0


def test_a_list_and_a_list_within_an_object() -> None:
    listed = head_of(b'[{"a": 1}, 7]', "log.json")
    first, second = records_of(listed)
    assert (first.value, first.line, first.share) == ({"a": 1}, None, 0.5)
    assert isinstance(second.value, Broken)
    wrapped = head_of(b'{"logs": [{"a": 1}], "args": {}}', "log.json")
    assert [record.value for record in records_of(wrapped, "logs")] == [{"a": 1}]
    assert list(records_of(replace(wrapped, objects=({"logs": 3},)), "logs")) == []


@pytest.mark.parametrize(
    ("line", "kind"), [(b"{oh", "not JSON"), (b"[1]", "not an object"), (b"[" * 99_999, "not JSON")]
)
def test_a_line_that_is_no_record(line: bytes, kind: str) -> None:
    first, second, third = records_of(head_of(b'{"a": 1}\n' + line + b'\n{"a": 2}\n', "log.jsonl"))
    assert isinstance(second.value, Broken)
    assert second.value.kind == kind
    assert (first.value, third.value) == ({"a": 1}, {"a": 2})


def test_a_key_twice_is_refused_with_its_line() -> None:
    with pytest.raises(Refused, match=r"log.jsonl, line 2: .*'a' more than once"):
        list(records_of(head_of(b'{"a": 1}\n{"b": {"a": 1, "a": 2}}\n', "log.jsonl")))
