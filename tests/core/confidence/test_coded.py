"""Do equal texts get equal numbers, and different texts different ones, in however many parts?"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.confidence import coded as module
from calib_core.confidence.coded import coded, in_parts, looked_up

TEXTS = st.lists(st.none() | st.text(max_size=20) | st.sampled_from(["a", "b", "a longer text of words"]))


def agrees(texts: list[str | None]) -> bool:
    numbers, distinct = coded(pl.Series("text", texts, dtype=pl.String))
    read = [distinct[int(number)] for number in numbers]
    return read == texts and distinct.n_unique() == distinct.len() == len(set(texts))


@given(TEXTS)
def test_a_number_stands_for_its_text(texts: list[str | None]) -> None:
    assert agrees(texts)


@pytest.mark.parametrize("part", [1, 7, 40])
@given(texts=TEXTS)
def test_parts_come_to_one_numbering(part: int, texts: list[str | None]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PART", part)
        patch.setattr(module, "WORKERS", 3)
        patch.setattr(module, "_FEW", 4)
        assert agrees(texts)
        assert agrees([None if at % 11 == 0 else str(at % 13) for at in range(100)])
        assert agrees([str(at) for at in range(100)])


@pytest.mark.parametrize("bits", [1, 3, 20])
@given(texts=TEXTS)
def test_texts_of_one_slot_are_told_apart(bits: int, texts: list[str | None]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PART", 8)
        patch.setattr(module, "_FEW", 4)
        patch.setattr(module, "_BITS", bits)
        assert agrees(["a", "a", "a", "b", *texts])
        assert agrees(["a"] * 10 + [None if at % 11 == 0 else str(at % 13) for at in range(100)])


def test_each_number_is_looked_up_in_whatever_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PART", 2)
    numbers = np.array([3, 0, 0, 2, 1, 3, 1], np.uint32)
    assert looked_up(np.array([5, -1, 7, 9], np.int32), numbers).tolist() == [9, 5, 5, 7, -1, 9, -1]
    assert looked_up(np.array([5], np.int32), numbers[:0]).tolist() == []


@pytest.mark.parametrize("size", [0, 1, 9, 10, 11, 97])
def test_parts_are_all_there_once(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PART", 5)
    parts = in_parts(lambda part: list(range(size))[part], size)
    assert [at for part in parts for at in part] == list(range(size))
    assert all(len(part) <= 5 for part in parts)
