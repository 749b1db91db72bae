"""The option `--dataset` names the data of files that name none, on every verb that reads files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import calib_core
from calib_core.__main__ import VERBS
from calib_core.readers.table.run_split import MAX_DATASET_LENGTH
from calib_core.runs import AnswerRun, Run
from core.cli_calls import GOOD, GOOD_TEN_TIMES, Call, write

NAME = "Trivia *2*"
READS_NOTHING = {"cache", "app"}


def with_dataset(names: str) -> str:
    """Four rows; the data set of each is a word of `names`, "-" for none."""
    lines = ["confidence,correct,dataset"]
    lines += [f"0.{at},1,{'' if name == '-' else name}" for at, name in enumerate(names.split(), 1)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("verb", sorted(VERBS.keys() - READS_NOTHING))
def test_every_verb_that_reads_files_has_the_option(verb: str, call: Call) -> None:
    assert "--dataset" in call(verb, "--help").out


def test_runs_of_two_files_are_of_one_data_set(call: Call, tmp_path: Path) -> None:
    files = [write(tmp_path, f"{name}.csv", GOOD_TEN_TIMES) for name in ("old", "new")]
    found = call("compare", *files, "--dataset", NAME, "--json").elements
    assert [one["run"] for one in found] == [f"old · {NAME}", f"new · {NAME}"]
    assert [one["run"] for one in call("compare", *files, "--json").elements] == ["old", "new"]


def test_a_name_in_the_file_is_kept_and_it_is_said(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", with_dataset("own own own own"))
    report = calib_core.check(path, dataset=NAME)
    assert [one.run.info.dataset for one in report.runs] == ["own"]
    assert [one.run.label for one in report.runs] == ["own"]
    (note,) = [note for note in report.notes if NAME in note]
    assert note == f"The file names its data set itself (own), so “{NAME}” is not used."
    assert not [note for note in calib_core.check(path).notes if "data set" in note]


def test_only_the_runs_without_one_get_the_name(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", with_dataset("own own - -"))
    report = calib_core.check(path, dataset=NAME)
    assert [one.run.info.dataset for one in report.runs] == ["own", NAME]
    assert [one.run.label for one in report.runs] == ["own", f"a · {NAME}"]
    assert not [note for note in report.notes if NAME in note]


def test_a_name_is_one_line_of_limited_length(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", GOOD_TEN_TIMES)
    (run,) = calib_core.load(path, dataset="two\nlines " + "x" * 100)
    assert run.info.dataset is not None
    assert run.info.dataset.startswith("two lines x")
    assert len(run.info.dataset) <= MAX_DATASET_LENGTH
    for none in ("  ", None):
        (unnamed,) = calib_core.load(path, dataset=none)
        assert unnamed.info.dataset is None
    assert call("score", path, "--dataset", "a\nb", "--json").elements[0]["run"] == "a · a b"


def test_a_model_comes_before_the_name(tmp_path: Path) -> None:
    rows = "model,shots,confidence,correct\nred,5,0.9,1\nred,5,0.3,0\nblue,5,0.9,1\n"
    found = calib_core.load(write(tmp_path, "a.csv", rows), dataset=NAME)
    assert [run.label for run in found] == [f"red · {NAME} · 5-shot", f"blue · {NAME} · 5-shot"]


def test_what_is_in_memory_is_named_as_a_file_is() -> None:
    rows = [{"confidence": 0.9, "correct": 1}, {"confidence": 0.3, "correct": 0}]
    tokens = {"probs": np.full((4, 2), 0.5), "target": np.array([0, 1, 0, 1])}
    runs: list[Run] = [
        *calib_core.load(rows, dataset=NAME),
        *calib_core.load([0.9, 0.3], [1, 0], dataset=NAME),
        *calib_core.load(**tokens, dataset=NAME),
    ]
    assert [(run.label, run.info.dataset) for run in runs] == [(f"data · {NAME}", NAME)] * 3
    (run,) = calib_core.load([0.9, 0.3], [1, 0], dataset=["own", "own"])
    assert run.info.dataset == "own"
    with pytest.raises(TypeError, match="give one name"):
        calib_core.load(rows, dataset=["own", "own"])


def test_parts_of_one_run_are_called_as_their_files_begin(call: Call, tmp_path: Path) -> None:
    for part in ("law", "art"):
        write(tmp_path, f"exam-{part}.csv", GOOD)
    found = call("score", tmp_path, "--together", "--dataset", NAME, "--metric", "brier", "--json").element
    assert (found["run"], found["n_used"]) == (f"exam · {NAME}", 8)


def test_a_converted_file_names_it(call: Call, tmp_path: Path) -> None:
    out = tmp_path / "named.answers.parquet"
    assert call("convert", write(tmp_path, "a.csv", GOOD), "--dataset", NAME, "-o", out).code == 0
    (run,) = calib_core.load(out)
    assert isinstance(run, AnswerRun)
    assert run.info.dataset == NAME
