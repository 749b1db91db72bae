"""The verb `reduce`: adds up parts of a run, writes all or nothing, never over its input."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from calib_core import readers
from calib_core.cli.commands.reduce import reduce
from calib_core.runs import TokenRun
from core.cli_calls import Answer, write
from core.readers.token.array_files import distributions, npz, pair

Reduce = Callable[..., Answer]
PROBS, TARGET = distributions(12, 6)

pytestmark = pytest.mark.usefixtures("for_command_line")


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Reduce:
    """The verb alone, as the command line calls it."""
    app = typer.Typer(add_completion=False)
    app.command()(reduce)

    def run(*words: str | Path) -> Answer:
        capsys.readouterr()
        code = int(app([str(word) for word in words], standalone_mode=False) or 0)
        out, err = capsys.readouterr()
        return Answer(code, out, err)

    return run


def rows_by_run(path: Path) -> dict[str, int]:
    """Label → rows of a file of sums."""
    found = readers.read(path).runs(skip_bad_rows=False)
    return {run.label: run.sums.n_rows for run in found if isinstance(run, TokenRun)}


def write_part(folder: Path, name: str, start: int = 0, end: int = 12, **meta: object) -> Path:
    arrays: dict[str, Any] = {"probs": PROBS[start:end], "target": TARGET[start:end]}
    if meta:
        arrays["meta"] = np.array(json.dumps(meta))
    return npz(folder / name, **arrays)


def test_one_element_per_written_run(tmp_path: Path, call: Reduce) -> None:
    first, second = write_part(tmp_path, "a.npz"), pair(tmp_path, "b", PROBS[:5], TARGET[:5])
    output = tmp_path / "sums.parquet"
    answer = call(first, second, "-o", output, "--json")
    assert (answer.code, answer.err) == (0, "")
    same = {"n_total": 12, "classes": 6, "output": str(output)}
    assert answer.elements == [
        {"file": "a.npz", "files": ["a.npz"], "run": "a", "rows": 12} | same,
        {"file": "b.probs.npy", "files": ["b.probs.npy"], "run": "b", "rows": 5} | same | {"n_total": 5},
    ]
    assert rows_by_run(output) == {"a": 12, "b": 5}


def test_what_a_person_sees(tmp_path: Path, call: Reduce) -> None:
    answer = call(write_part(tmp_path, "a.npz"), "-o", tmp_path / "sums.parquet")
    assert answer.code == 0
    assert "a: 12 positions, 6 classes" in answer.out
    assert "sums.parquet: 1 run, " in answer.out


def test_parts_of_one_run_become_one(tmp_path: Path, call: Reduce) -> None:
    for name, start, end in (("a.npz", 0, 5), ("b.npz", 5, 12)):
        write_part(tmp_path, name, start, end, model="tiny", checkpoint="step1")
    write_part(tmp_path, "c.npz", model="tiny", checkpoint="step2")
    write_part(tmp_path, "whole.npz", model="whole")
    output = tmp_path / "out" / "sums.parquet"
    output.parent.mkdir()
    answer = call(*sorted(tmp_path.glob("*.npz")), "-o", output, "--json")
    assert [(e["run"], e["files"], e["rows"]) for e in answer.elements] == [
        ("tiny · step1", ["a.npz", "b.npz"], 12),
        ("tiny · step2", ["c.npz"], 12),
        ("whole", ["whole.npz"], 12),
    ]
    found = [run for run in readers.read(output).good_runs if isinstance(run, TokenRun)]
    added, whole = found[0].sums, found[2].sums
    assert (added.all_labels.cell == whole.all_labels.cell).all()
    assert (added.all_labels.count == whole.all_labels.count).all()
    assert added.all_labels.confidence == pytest.approx(whole.all_labels.confidence, abs=1e-12)


def test_sums_can_be_added_to_more_parts(tmp_path: Path, call: Reduce) -> None:
    first = tmp_path / "first.parquet"
    assert call(write_part(tmp_path, "a.npz", 0, 5, model="tiny"), "-o", first).code == 0
    output = tmp_path / "both.parquet"
    assert call(first, write_part(tmp_path, "b.npz", 5, 12, model="tiny"), "-o", output).code == 0
    assert rows_by_run(output) == {"tiny": 12}


def test_a_folder_lists_a_pair_once(tmp_path: Path, call: Reduce) -> None:
    (tmp_path / "data").mkdir()
    pair(tmp_path / "data", "b", PROBS, TARGET, model="tiny")
    answer = call(tmp_path / "data", "-o", tmp_path / "sums.parquet", "--json")
    assert (answer.code, [element["run"] for element in answer.elements]) == (0, ["tiny"])


def test_bad_rows_are_asked_about(tmp_path: Path, call: Reduce) -> None:
    target = TARGET.copy()
    target[3] = 99
    path, output = npz(tmp_path / "a.npz", probs=PROBS, target=target), tmp_path / "sums.parquet"
    answer = call(path, "-o", output, "--json")
    assert (answer.code, answer.elements, output.exists()) == (3, [], False)
    for word in ("1 of 12 rows is bad", "row 4", "'target'", "'99'", "--skip-bad-rows"):
        assert word in answer.err
    assert "Nothing was written" in answer.err
    answer = call(path, "-o", output, "--json", "--skip-bad-rows")
    assert (answer.code, answer.element["rows"], answer.element["n_total"]) == (0, 11, 12)
    (run,) = readers.read(output).good_runs
    assert (run.row_counts.n_rows, run.row_counts.n_left_out) == (12, 1)


def test_one_file_that_is_refused_keeps_all_from_being_written(tmp_path: Path, call: Reduce) -> None:
    good, output = write_part(tmp_path, "a.npz"), tmp_path / "sums.parquet"
    output.write_text("older")
    answers = write(tmp_path, "quiz.csv", "confidence,correct\n0.5,1\n")
    gone = tmp_path / "none.npz"
    for bad, said in ((answers, "quiz.csv holds answers"), (gone, "none.npz cannot be opened")):
        answer = call(good, bad, "-o", output, "--json")
        assert (answer.code, answer.elements) == (2, [])
        assert said in answer.err
        assert "Nothing was written to sums.parquet" in answer.err
    assert output.read_text() == "older"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "quiz.csv", "sums.parquet"]


def test_an_input_is_never_written_over(tmp_path: Path, call: Reduce) -> None:
    path = write_part(tmp_path, "a.npz")
    main = pair(tmp_path, "b", PROBS, TARGET, model="tiny")
    linked = tmp_path / "link.npz"
    linked.symlink_to(path)
    partners = (main, tmp_path / "b.target.npy", tmp_path / "b.meta.json")
    for output in (path, linked, Path(os.path.relpath(path)), *partners):
        before = output.read_bytes()
        answer = call(path, main, "-o", output)
        assert (answer.code, output.read_bytes()) == (2, before)
        assert f"{output.name} is one of the files that are read, and would be overwritten" in answer.err


def test_a_file_given_twice_is_read_once(tmp_path: Path, call: Reduce) -> None:
    path = write_part(tmp_path, "a.npz", model="tiny")
    (tmp_path / "again.npz").symlink_to(path)
    answer = call(path, tmp_path / "again.npz", "-o", tmp_path / "sums.parquet", "--json")
    assert (answer.code, answer.element["rows"]) == (0, 12)
    assert "again.npz was given twice and is read only once" in answer.err


def test_a_circular_link_is_refused(tmp_path: Path, call: Reduce) -> None:
    path = tmp_path / "self.npz"
    path.symlink_to(path)
    answer = call(path, "-o", tmp_path / "sums.parquet", "--json")
    assert (answer.code, answer.elements) == (2, [])
    assert "self.npz cannot be opened" in answer.err


def test_parts_that_do_not_fit_are_refused(tmp_path: Path, call: Reduce) -> None:
    meta = np.array('{"model": "tiny"}')
    probs = PROBS[:, :5] / PROBS[:, :5].sum(1, keepdims=True)
    other = npz(tmp_path / "b.npz", probs=probs, target=TARGET % 5, meta=meta)
    answer = call(write_part(tmp_path, "a.npz", model="tiny"), other, "-o", tmp_path / "sums.parquet")
    assert answer.code == 2
    assert "one has 6 classes, the other 5" in answer.err


@pytest.mark.parametrize(
    ("output", "message"), [("", "is a folder"), ("none/sums.parquet", "none/sums.parquet cannot be written")]
)
def test_an_output_that_cannot_be_written(tmp_path: Path, call: Reduce, output: str, message: str) -> None:
    answer = call(write_part(tmp_path, "a.npz"), "-o", tmp_path / output, "--json")
    assert (answer.code, answer.elements) == (2, [])
    assert message in answer.err
    assert str(tmp_path) not in answer.err


def test_a_file_is_replaced_in_one_step(tmp_path: Path, call: Reduce) -> None:
    path, output = write_part(tmp_path, "a.npz"), tmp_path / "sums.parquet"
    output.write_text("older")
    kept = os.stat(output).st_ino  # noqa: PTH116
    assert call(path, "-o", output).code == 0
    assert os.stat(output).st_ino != kept  # noqa: PTH116
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.npz", "sums.parquet"]


def test_an_option_says_what_an_array_is(tmp_path: Path, call: Reduce) -> None:
    path = npz(tmp_path / "a.npz", probs=PROBS, labels=TARGET)
    refused = call(path, "-o", tmp_path / "sums.parquet")
    assert refused.code == 2
    assert "--map labels=target" in refused.err
    assert call(path, "-o", tmp_path / "sums.parquet", "--map", "labels=target").code == 0
