"""The text of each position is read from arrays and lists, kept in sums, and asked for where it is wrong."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from calib_core import api, readers
from calib_core.errors import Refused
from calib_core.readers.format import ReadOptions
from calib_core.readers.token.sums import TABLE_PARTS, InvalidSumsError, check_sums
from calib_core.readers.token.sums_digest import BLANK_DIGEST, DIGEST_KEY, with_digest
from calib_core.runs import TokenRun
from calib_core.tokens.texts import TextSums, text_numbers
from core.readers.saved_sums import make_run, make_sums, read_runs, save_runs
from core.readers.token.array_files import PROBS, TARGET, distributions, npz
from core.readers.topk_files import GOOD, ReadText, lines, only_run


def texts_of(run: object) -> TextSums | None:
    assert isinstance(run, TokenRun)
    return run.sums.texts


def read_texts(path: Path, **mapping: str) -> TextSums | None:
    (run,) = readers.read(path, options=ReadOptions(columns=mapping)).good_runs
    return texts_of(run)


def sizes_by_number(texts: TextSums | None) -> dict[int, int]:
    assert texts is not None
    return dict(zip(np.unique(texts.text).tolist(), texts.sizes.tolist(), strict=True))


@pytest.mark.parametrize("text", [[3, 1, 3, 3], ["3", "1", "3", "3"], np.array([3, 1, 3, 3], ">u2")])
@pytest.mark.parametrize("compressed", [False, True])
def test_an_array_of_numbers_or_names(tmp_path: Path, text: Any, compressed: bool) -> None:  # noqa: FBT001
    path = npz(tmp_path / "a.npz", compressed=compressed, probs=PROBS, target=TARGET, text=text)
    three, one = text_numbers(["3", "1"]).tolist()
    assert sizes_by_number(read_texts(path)) == {three: 3, one: 1}
    reading = readers.read(path)
    assert (reading.columns, reading.unused_columns) == (("probs", "target", "text"), ())


def test_a_verdict_by_text_from_the_file_to_the_word(tmp_path: Path) -> None:
    probs, target = distributions(1_200, 6)
    arrays: dict[str, Any] = {"probs": probs, "target": target}
    (known,) = api.load(npz(tmp_path / "known.npz", **arrays, text=np.arange(1_200) // 12))
    (unknown,) = api.load(npz(tmp_path / "unknown.npz", **arrays))
    assert api.verdict(known).kind == "none"
    assert api.verdict(known).p is not None
    assert str(api.verdict(unknown)).startswith("unknown is not judged: states ")
    assert (api.verdict(unknown).kind, api.verdict(unknown).p) == ("dependent", None)


def test_another_name_can_be_mapped_and_an_array_left_out(tmp_path: Path) -> None:
    path = npz(tmp_path / "a.npz", probs=PROBS, target=TARGET, document=[1, 1, 2, 2])
    assert read_texts(path) is None
    assert sizes_by_number(read_texts(path, document="text")) == sizes_by_number(
        read_texts(npz(tmp_path / "b.npz", probs=PROBS, target=TARGET, text=[1, 1, 2, 2]))
    )
    path = npz(tmp_path / "a.npz", probs=PROBS, target=TARGET, text=[1, 1, 2, 2], other=[1, 2, 3, 4])
    assert read_texts(path, text="") is None
    with pytest.raises(
        Refused, match=r"'text', 'other', and one of them is the text\. Say which: --map text"
    ):
        read_texts(path, other="text")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ([1, 2, 3], r"'text' has the shape \(3,\), but one text for each of the 4 positions is expected"),
        (np.zeros((4, 2), int), r"'text' has the shape \(4, 2\), but one text for each"),
        ([0.5, 1.0, 2.0, 3.0], "'text' holds float64, but whole numbers or text"),
        (np.array([b"a"] * 4), r"'text' holds \|S1, but whole numbers or text"),
    ],
)
def test_an_array_that_names_no_texts_is_refused(tmp_path: Path, text: Any, message: str) -> None:
    with pytest.raises(Refused, match=message):
        readers.read(npz(tmp_path / "a.npz", probs=PROBS, target=TARGET, text=text))


def records(**columns: list[Any]) -> str:
    values = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return lines(*({**GOOD, **row} for row in values))


def test_a_column_of_texts_else_of_documents(read_text: ReadText) -> None:
    a, b = text_numbers(["a", "b"]).tolist()
    by_text = records(text=["a", "b", "a"], doc=["x", "x", "y"], position=[0, 1, 0])
    assert sizes_by_number(texts_of(only_run(read_text(by_text)))) == {a: 2, b: 1}
    by_doc = records(doc=["a", "a", "b"], position=[0, 1, 0])
    assert sizes_by_number(texts_of(only_run(read_text(by_doc)))) == {a: 2, b: 1}
    numbers = records(text=[7, 7, 8])
    assert set(sizes_by_number(texts_of(only_run(read_text(numbers))))) == set(text_numbers([7, 8]).tolist())


def test_texts_are_not_known_where_one_is_missing(read_text: ReadText) -> None:
    assert texts_of(only_run(read_text(records(text=["a", None, "a"])))) is None
    assert texts_of(only_run(read_text(records(target=[1, 1])))) is None


def test_bad_rows_are_in_no_text(read_text: ReadText) -> None:
    text = records(text=["a", "a", "b"], target_logprob=[0.5, *[GOOD["target_logprob"]] * 2])
    run = only_run(read_text(text), skip_bad_rows=True)
    assert sorted(sizes_by_number(texts_of(run)).values()) == [1, 1]


def with_texts(seed: int = 0) -> TokenRun:
    return make_run(sums=make_sums(seed=seed, text=np.arange(40) // 4))


def test_sums_keep_texts_to_the_last_bit_and_merge_after(tmp_path: Path) -> None:
    run = with_texts()
    (again,) = read_runs(save_runs(tmp_path, run))
    for one, other in ((run, again), (run, read_runs(save_runs(tmp_path, again))[0])):
        before, after = texts_of(one), texts_of(other)
        assert before is not None
        assert after is not None
        for name in ("text", "cell", "count", "correct", "confidence"):
            assert getattr(before, name).tobytes() == getattr(after, name).tobytes()
            assert getattr(before, name).dtype == getattr(after, name).dtype
    merged = again.sums.merge(with_texts(seed=1).sums)
    assert set(sizes_by_number(merged.texts).values()) == {8}
    check_sums(merged)


def as_first_version(path: Path) -> Path:
    """Rewrites saved sums as the first version of the format had them: without the part `texts`."""
    metadata = json.loads(pl.read_parquet_metadata(path)["calib"])
    for run in metadata["runs"]:
        del run["texts"]
    metadata |= {"version": 1, DIGEST_KEY: BLANK_DIGEST}
    parts = pl.Enum([part for part in TABLE_PARTS if part != "texts"])
    frame = pl.read_parquet(path).filter(pl.col("part") != "texts")
    buffer = io.BytesIO()
    frame.with_columns(pl.col("part").cast(pl.String).cast(parts)).write_parquet(
        buffer, metadata={"calib": json.dumps(metadata)}
    )
    path.write_bytes(with_digest(buffer.getvalue()))
    return path


def test_sums_of_the_first_version_have_no_texts(tmp_path: Path) -> None:
    runs = read_runs(as_first_version(save_runs(tmp_path, with_texts())))
    assert [run.sums.n_rows for run in runs] == [40]
    assert all(texts_of(run) is None for run in runs)
    assert all(texts_of(run) is None for run in read_runs(save_runs(tmp_path, *runs)))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("count", "the texts do not add up"),
        ("correct", "the texts do not add up"),
        ("confidence", "the texts do not add up"),
        ("order", "the texts are not in order"),
        ("none", "the positions of a text are not valid"),
    ],
)
def test_texts_that_do_not_fit_are_found(name: str, message: str) -> None:
    sums = with_texts().sums
    texts = sums.texts
    assert texts is not None
    wrong = {
        "count": replace(texts, count=texts.count + 1),
        "correct": replace(texts, correct=np.minimum(texts.correct + 1, texts.count)),
        "confidence": replace(texts, confidence=texts.confidence * 1.1),
        "order": replace(texts, text=texts.text[::-1]),
        "none": replace(texts, count=texts.count * 0),
    }
    check_sums(sums)
    with pytest.raises(InvalidSumsError, match=message):
        check_sums(replace(sums, texts=wrong[name]))
