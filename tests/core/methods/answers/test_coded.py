"""Equal texts get equal numbers, different texts different ones."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from calib_core.methods.answers.normalise import encode_texts

TEXTS = st.lists(st.none() | st.text(max_size=20) | st.sampled_from(["a", "b", "a longer text of words"]))


@given(TEXTS)
def test_a_number_stands_for_its_text(texts: list[str | None]) -> None:
    numbers, distinct = encode_texts(pl.Series("text", texts, dtype=pl.String))
    assert [distinct[int(number)] for number in numbers] == texts
    assert distinct.n_unique() == distinct.len() == len(set(texts))
