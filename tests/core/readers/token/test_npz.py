"""Archives and pairs of arrays are read, and unsupported ones are named in the refusal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calib_core import readers
from calib_core.errors import Refused
from calib_core.readers.format import Reading, ReadOptions
from calib_core.runs import TokenRun
from core.readers.token.array_files import PROBS, TARGET, distributions, npy, npz, pair, zipped
from fixture_files import FIXTURES

META = {
    "format": "calib-tokens",
    "version": 1,
    "model": "tiny",
    "checkpoint": "step10",
    "tokens_seen": 20,
    "vocab_size": 4,
}


def run_of(reading: Reading) -> TokenRun:
    (run,) = reading.good_runs
    assert isinstance(run, TokenRun)
    return run


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("name", ["text.npz", "text.bin", "text.csv"])
def test_an_archive_by_its_content_whatever_its_name(tmp_path: Path, name: str, compressed: bool) -> None:  # noqa: FBT001
    path = npz(tmp_path / name, compressed=compressed, probs=PROBS, target=TARGET)
    reading = readers.read(path)
    run = run_of(reading)
    assert (reading.format, reading.n_rows, reading.n_bad_rows) == ("npz", 4, 0)
    assert (run.file, run.label, run.sums.n_rows, run.sums.n_classes) == (name, "text", 4, 4)
    assert (reading.columns, reading.unused_columns) == (("probs", "target"), ())


@pytest.mark.parametrize("scale", ["probs", "logprobs", "logits"])
def test_a_pair_is_the_same_run_as_the_archive(tmp_path: Path, scale: Any) -> None:
    probs, target = distributions(30, 8)
    with np.errstate(divide="ignore"):
        values = probs if scale == "probs" else np.log(probs)
    one = run_of(readers.read(pair(tmp_path, "text", values, target, scale)))
    arrays: dict[str, Any] = {scale: values, "target": target}
    other = run_of(readers.read(npz(tmp_path / "text.npz", **arrays)))
    assert (one.label, one.file, one.format) == ("text", f"text.{scale}.npy", "npz")
    assert one.sums.draws is not None
    assert other.sums.draws is not None
    assert (one.sums.draws.all_labels == other.sums.draws.all_labels).all()
    assert (one.sums.all_labels.confidence == other.sums.all_labels.confidence).all()


def test_weights_are_not_used_and_that_is_said(tmp_path: Path) -> None:
    path = npz(tmp_path / "a.npz", probs=PROBS, target=TARGET, weight=np.arange(4.0))
    run = run_of(readers.read(path))
    in_memory = {"probs": PROBS, "target": TARGET, "weight": np.arange(4.0)}
    for one in (run, run_of(readers.read_values(in_memory, file="memory"))):
        assert one.row_counts.notes == ("weight is not used: positions of texts count alike",)


def test_what_the_metadata_says_of_the_run(tmp_path: Path) -> None:
    path = npz(tmp_path / "a.npz", probs=PROBS, target=TARGET, meta=np.array(json.dumps(META)))
    for reading in (readers.read(path), readers.read(pair(tmp_path, "a", PROBS, TARGET, **META))):
        run = run_of(reading)
        assert (run.label, run.info.tokens_seen, run.row_counts.notes) == ("tiny · step10", 20, ())


def test_another_size_of_the_vocabulary_is_remarked_on(tmp_path: Path) -> None:
    meta = np.array(json.dumps(META | {"vocab_size": 3}))
    reading = readers.read(npz(tmp_path / "a.npz", probs=PROBS, target=TARGET, meta=meta))
    (note,) = reading.notes
    assert note == "The metadata gives a vocabulary of 3, but the arrays have 4 classes, and these count."


def test_arrays_that_are_not_needed_are_not_opened(tmp_path: Path) -> None:
    members = {"probs.npy": npy(PROBS), "target.npy": npy(TARGET), "hidden.npy": b"no array"}
    reading = readers.read(zipped(tmp_path / "a.npz", members))
    assert (reading.n_rows, reading.unused_columns) == (4, ("hidden",))


def test_a_mapping_says_what_an_array_is(tmp_path: Path) -> None:
    path = npz(tmp_path / "a.npz", p=PROBS, labels=TARGET)
    reading = readers.read(path, options=ReadOptions({"p": "probs", "labels": "target"}))
    assert run_of(reading).sums.n_rows == 4
    with pytest.raises(Refused, match="none of which is recognised"):
        readers.read(path)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"probs": PROBS}, r"^a.npz has no target"),
        ({"target": TARGET}, r"^a.npz holds the arrays 'target', none of which is recognised"),
        ({"probs": PROBS, "target": TARGET[:2]}, r"^a.npz: 'target' has the shape \(2,\), but one class for"),
        ({"probs": PROBS, "labels": TARGET}, r"--map labels=target or --map labels=gold"),
        ({"probs": PROBS, "target": TARGET, "meta": np.array("{")}, "its metadata is not JSON"),
        ({"probs": PROBS, "target": TARGET, "meta": np.array("[]")}, "its metadata is not a JSON object"),
        ({"probs": PROBS, "target": TARGET, "meta": np.array([1])}, r"'meta' has the shape \(1,\) of int64"),
        ({"probs": PROBS, "target": TARGET, "meta": np.array('{"model": 3}')}, "'model' in its metadata"),
    ],
)
def test_archives_that_cannot_be_used(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused, match=message):
        readers.read(npz(tmp_path / "a.npz", **arrays))


def test_a_pickle_is_refused_and_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    values = npy(np.array([[0.5], {}], dtype=object), allow_pickle=True)
    path = zipped(tmp_path / "a.npz", {"probs.npy": values, "target.npy": npy(TARGET)})
    with pytest.raises(Refused, match="never unpacked"):
        readers.read(path)


@pytest.mark.parametrize("compressed", [False, True])
def test_a_member_with_other_bytes_is_refused(tmp_path: Path, compressed: bool) -> None:  # noqa: FBT001
    probs, target = distributions(200, 50)
    path = npz(tmp_path / "a.npz", compressed=compressed, probs=probs, target=target)
    data = bytearray(path.read_bytes())
    data[2000] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(Refused, match="cannot be unpacked"):
        readers.read(path)


def test_a_pair_with_something_wrong_names_the_file(tmp_path: Path) -> None:
    path = pair(tmp_path, "a", PROBS, TARGET.astype(float))
    with pytest.raises(Refused, match=r"^a.target.npy: 'target' holds float64"):
        readers.read(path)
    np.save(tmp_path / "a.target.npy", TARGET)
    (tmp_path / "a.meta.json").write_text("{")
    with pytest.raises(Refused, match=r"^a.meta.json: its metadata is not JSON"):
        readers.read(path)
    (tmp_path / "a.meta.json").unlink()
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(Refused, match=r"^a.probs.npy: 'probs' says that it has the shape"):
        readers.read(path)


@pytest.mark.parametrize("partner", ["a.target.npy", "a.meta.json"])
def test_a_companion_opened_alone_names_the_file_to_open(tmp_path: Path, partner: str) -> None:
    pair(tmp_path, "a", PROBS, TARGET, **META)
    with pytest.raises(Refused, match=rf"^{partner} belongs to a.probs.npy: open that file"):
        readers.read(tmp_path / partner)
    assert [path.name for path in readers.list_files(tmp_path)] == ["a.probs.npy"]


def test_a_pair_has_nothing_to_map(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="nothing in it can be mapped"):
        readers.read(pair(tmp_path, "a", PROBS, TARGET), options=ReadOptions({"probs": "logits"}))


def test_an_array_that_is_to_be_left_out_need_not_be_there(tmp_path: Path) -> None:
    options = ReadOptions({"id": ""})
    for path in (pair(tmp_path, "a", PROBS, TARGET), npz(tmp_path / "b.npz", probs=PROBS, target=TARGET)):
        (run,) = readers.read(path, options=options).good_runs
        assert isinstance(run, TokenRun)


def test_another_format_does_not_read_arrays(tmp_path: Path) -> None:
    path = npz(tmp_path / "a.npz", probs=PROBS, target=TARGET)
    for format_id in ("table", "canonical", "sums"):
        with pytest.raises(Refused, match=r"^a.npz"):
            readers.read(path, format=format_id)
    (tmp_path / "quiz.csv").write_text("confidence,correct\n0.5,1\n")
    with pytest.raises(Refused, match=r"holds no NumPy arrays"):
        readers.read(tmp_path / "quiz.csv", format="npz")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("token_level/dense_probs", {10: (0.141366, 0.143201), 20: (0.18165, 0.176518)}),
        ("token_level/dense_logits", {10: (0.141366, 0.143201), 20: (0.18165, 0.176518)}),
        ("token_level/dense_probs_f16", {10: (0.141377, 0.143208), 20: (0.181645, 0.176517)}),
        ("canonical/example.tokens", {10: (0.666667, 0.516667)}),
    ],
)
def test_figures_of_the_fixtures(name: str, expected: dict[int, tuple[float, float]]) -> None:
    run = run_of(readers.read(FIXTURES / f"{name}.npz"))
    for bins, figures in expected.items():
        found = [
            calibration_error(grid, bins) / run.sums.n_rows
            for grid in (run.sums.all_labels, run.sums.top_label)
        ]
        assert found == pytest.approx(figures, abs=1e-6)


def calibration_error(grid: Any, bins: int) -> float:
    gaps = np.zeros(bins)
    np.add.at(gaps, grid.cell // (3000 // bins), grid.correct - grid.confidence)
    return float(np.abs(gaps).sum())
