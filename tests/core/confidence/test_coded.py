"""Do equal texts get equal numbers, and different texts different ones, whatever their hashes?"""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.confidence import coded as module
from calib_core.confidence.coded import coded


def agrees(texts: list[str | None]) -> bool:
    numbers, distinct = coded(pl.Series(texts, dtype=pl.String))
    read = [distinct[int(number)] for number in numbers]
    return read == texts and distinct.n_unique() == distinct.len() == len(set(texts))


@given(st.lists(st.none() | st.text(max_size=20) | st.sampled_from(["a", "b", "a longer text of words"])))
def test_a_number_stands_for_its_text(texts: list[str | None]) -> None:
    assert agrees(texts)


@pytest.mark.parametrize("bits", [1, 3])
def test_texts_that_share_a_slot_are_told_apart(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SLOT_BITS", bits)
    monkeypatch.setattr(module, "_AT_ONCE", 7)
    assert agrees([None if at % 11 == 0 else str(at % 13) for at in range(100)])
    assert agrees([str(at) for at in range(100)])
