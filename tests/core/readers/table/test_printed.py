"""Which printed values are read, and as what."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.readers.table.json_reader import value_at
from calib_core.readers.table.printed import MAX_DEPTH, parse_printed

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False) | TEXTS,
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(TEXTS, parts, max_size=4),
    max_leaves=20,
)


@given(st.lists(VALUES, max_size=4) | st.dictionaries(TEXTS, VALUES, max_size=4))
def test_what_python_prints_is_read_back(value: object) -> None:
    assert parse_printed(repr(value)) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'p': array([0.1, 0.9], dtype=float32), 'ok': True}", {"p": [0.1, 0.9], "ok": True}),
        ("{'a': {'b': ('x', None)}}", {"a": {"b": ["x", None]}}),
        ("{1: 'one'}", {"1": "one"}),
        (" [[0.5 0.5]\n [nan 1. ]] ", [[0.5, 0.5], [None, 1.0]]),
        (repr(np.arange(2000)), [0, 1, 2, ..., 1997, 1998, 1999]),
        ("[np.float64(0.5), np.str_('a)')]", [0.5, "a)"]),
    ],
)
def test_a_printed_value(text: str, value: object) -> None:
    assert parse_printed(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{'a' 1}",
        "{'a': 1 'b': 2}",
        "{'a': }",
        "{1, 2}",
        "[1, 2",
        "[1] [2]",
        "['a''b']",
        "[[1][2]]",
        "[__import__('os')]",
        "[1 + 1]",
        "array([1, 2",
        "[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2),
        "[" * 100_000,
        f"[{'9' * 5000}]",
    ],
)
def test_other_text_is_no_printed_value(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_printed(text)


def test_a_path_leads_into_a_printed_value() -> None:
    assert value_at({"judge": "{'score': 1.0, 'by': ['m', nan]}"}, "judge.score") == 1.0
    assert value_at({"judge": "{'score': 1.0, 'by': ['m', nan]}"}, "judge.by.1", "absent") is None
