"""Sums are saved exactly and compactly, and an altered file is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from calib_core import readers
from calib_core.errors import Refused
from calib_core.readers.format import ReadOptions
from calib_core.readers.token import sums
from calib_core.readers.token.sums import write_sums
from calib_core.tokens.grid import GridSums
from calib_core.tokens.sums import TokenSums, UnstoredBounds
from core.readers.saved_sums import make_run, make_sums, read_runs, save_runs

GRID = ("group", "cell", "count", "correct", "confidence", "squared_confidence", "correct_confidence")


def unstored_bounds() -> UnstoredBounds:
    masses = {bins: np.random.default_rng(bins).random(bins) for bins in (1, 10, 1000)}
    return UnstoredBounds({1: 0, 10: 3, 1000: 40}, masses, 7)


def as_bytes(values: Any) -> bytes:
    return np.ascontiguousarray(values).tobytes()


def same_grid(one: GridSums, other: GridSums) -> bool:
    arrays = all(
        getattr(one, name).dtype == getattr(other, name).dtype
        and as_bytes(getattr(one, name)) == as_bytes(getattr(other, name))
        for name in GRID
    )
    names = ("n_rows", "n_groups", "log_loss_sum", "n_infinite_losses")
    return arrays and all(getattr(one, name) == getattr(other, name) for name in names)


VARIANTS: dict[str, Callable[[], TokenSums]] = {
    "all there is": make_sums,
    "no classes": lambda: make_sums(by_class=False),
    "no draws": lambda: make_sums(draws=False),
    "top k": lambda: replace(make_sums(by_class=False), unstored=unstored_bounds()),
    "one position": lambda: make_sums(rows=1),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_field_comes_back_to_the_last_bit(tmp_path: Path, variant: str) -> None:
    written = make_run(sums=VARIANTS[variant]())
    (again,) = read_runs(save_runs(tmp_path, written))
    assert (again.file, again.format) == ("all.parquet", "sums")
    assert (again.label, again.info, again.row_counts) == (written.label, written.info, written.row_counts)
    one, other = again.sums, written.sums
    for name in ("n_rows", "n_classes", "no_class_sums_reason", "sum_deviation"):
        assert getattr(one, name) == getattr(other, name), name
    fields = ("row", "target", "ids", "probs", "target_prob", "rest_mass", "n_classes")
    kept = [[getattr(example, name) for name in fields] for example in one.examples]
    assert kept == [[getattr(example, name) for name in fields] for example in other.examples]
    assert len(kept) == min(one.n_rows, 64)
    assert one.occurrences.dtype == other.occurrences.dtype
    assert (one.occurrences == other.occurrences).all()
    assert same_grid(one.top_label, other.top_label)
    assert same_grid(one.all_labels, other.all_labels)
    assert (one.by_class is None) == (other.by_class is None)
    assert one.by_class is None or other.by_class is None or same_grid(one.by_class, other.by_class)


def test_draws_that_do_not_fit_into_sixteen_bits_have_more() -> None:
    cells = {"draw": np.array([0]), "cell": np.array([1]), "count": np.array([40_000])}
    counts = sums._draw_counts(cells, 1)
    assert (counts.dtype, counts[0, 1]) == (np.int32, 40_000)
    assert sums._draw_counts({**cells, "count": np.array([2**15 - 1])}, 1).dtype == np.int16


@pytest.mark.parametrize("by_class", [True, False])
def test_draws_come_back(tmp_path: Path, by_class: bool) -> None:  # noqa: FBT001
    written = make_sums(seed=5, by_class=by_class).draws
    (again,) = read_runs(save_runs(tmp_path, make_run(sums=make_sums(seed=5, by_class=by_class))))
    draws = again.sums.draws
    assert draws is not None
    assert written is not None
    assert draws.seed == written.seed
    for one, other in ((draws.top_label, written.top_label), (draws.all_labels, written.all_labels)):
        assert one.dtype == np.int16  # as all fit
        assert (one == other).all()
    assert (draws.by_class is None) == (not by_class)
    if draws.by_class is not None and written.by_class is not None:
        assert draws.by_class.dtype == written.by_class.dtype
        assert (draws.by_class == written.by_class).all()


def test_what_a_top_k_file_does_not_store_comes_back(tmp_path: Path) -> None:
    (again,) = read_runs(
        save_runs(tmp_path, make_run(sums=replace(make_sums(by_class=False), unstored=unstored_bounds())))
    )
    found, expected = again.sums.unstored, unstored_bounds()
    assert found is not None
    assert (found.n_ambiguous, found.min_stored) == (expected.n_ambiguous, 7)
    assert list(found.mass_bounds) == [1, 10, 1000]
    assert all(
        as_bytes(found.mass_bounds[bins]) == as_bytes(expected.mass_bounds[bins])
        for bins in expected.mass_bounds
    )


def test_several_runs_in_one_file_in_their_order(tmp_path: Path) -> None:
    rows = {"b": 5, "a": 9, "c": 2}
    written = [
        make_run(label=label, sums=make_sums(rows=number, seed=number)) for label, number in rows.items()
    ]
    path = save_runs(tmp_path, *written)
    assert [(each.label, each.sums.n_rows) for each in read_runs(path)] == [("b", 5), ("a", 9), ("c", 2)]
    assert readers.read(path).n_rows == 3 * 41


def test_what_was_read_can_be_written_again_alike(tmp_path: Path) -> None:
    path = save_runs(tmp_path, make_run())
    first = path.read_bytes()
    write_sums(read_runs(path), path)
    assert path.read_bytes() == first


def test_a_file_is_small(tmp_path: Path) -> None:
    assert save_runs(tmp_path, make_run(sums=make_sums(rows=1000, classes=50))).stat().st_size < 600_000


def test_nothing_is_left_of_a_file_that_could_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "all.parquet").mkdir()
    with pytest.raises(Refused, match=r"all\.parquet is a folder"):
        save_runs(tmp_path, make_run())
    assert [path.name for path in tmp_path.iterdir()] == ["all.parquet"]


def test_a_sums_file_has_nothing_to_map_and_is_not_a_table(tmp_path: Path) -> None:
    path = save_runs(tmp_path, make_run())
    with pytest.raises(Refused, match="whose columns cannot be mapped"):
        readers.read(path, options=ReadOptions({"count": "confidence"}))
    with pytest.raises(Refused, match=r"^all.parquet"):
        readers.read(path, format="canonical").runs(skip_bad_rows=True)
    pl.DataFrame({"confidence": [0.5], "correct": [1]}).write_parquet(tmp_path / "quiz.parquet")
    with pytest.raises(Refused, match=r"cannot be read as saved sums .*: it holds none"):
        readers.read(tmp_path / "quiz.parquet", format="sums")
