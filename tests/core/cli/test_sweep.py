"""The verb `sweep`: stable names and shapes, what is refused, and the printed text."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import calib_core
from calib_core.results.evidence import gather_evidence
from calib_core.results.robustness import SWEPT_METRICS, sweep_bins
from core.cli_calls import CHOICES, GOOD, GOOD_TEN_TIMES, Call, write
from core.token_run_builders import random_rows


def text_file(folder: Path) -> Path:
    probs, target = random_rows(50, 6, seed=4)
    np.savez(folder / "text.npz", probs=probs, target=target)
    return folder / "text.npz"


def list_file(folder: Path) -> Path:
    line = (
        '{"target": 0, "target_logprob": -0.693147, "top_ids": [0, 1], '
        '"top_logprobs": [-0.693147, -1.609438], "vocab_size": 50}\n'
    )
    return write(folder, "list.jsonl", line * 9)


def test_element(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, "quiz.csv", GOOD)
    answer = call("sweep", path, "--metric", "ece", "--bins", "5,10", "--ddof", "1", "--json")
    element = answer.element
    (run,) = calib_core.load(path)
    values = {
        str(bins): calib_core.score(run, method="given", metric="ece", bins=bins).value for bins in (5, 10)
    }
    assert answer.code == 0
    assert answer.err == ""
    assert (element["file"], element["run"], element["method"]) == ("quiz.csv", "quiz", "given")
    assert (element["metric"], element["values"], element["ddof"]) == ("ece", values, 1)
    known = np.array(list(values.values()), np.float64)
    assert element["rsd"] == pytest.approx(known.std(ddof=1) / known.mean())
    assert [element[name] for name in ("draws", "seed", "p", "null_median")] == [None, None, None, None]
    assert element["recipe"].startswith("ECE-L1, equal width, M=5, 10, right-closed, as given, n=4/4, RSD")
    assert (element["ceiling"], element["refused"]) == (None, {})
    assert element["reading"].startswith("ECE is ")
    assert element["chance"] == "Not judged: 4 rows, fewer than 30."
    assert (element["fitted_median"], element["rise_by_noise"], element["rise_p"]) == (None, None, None)


def test_enough_rows_have_a_null_at_every_m(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, "quiz.csv", GOOD_TEN_TIMES)
    element = call("sweep", path, "--metric", "ece", "--bins", "5,10", "--json").element
    assert (element["draws"], element["seed"]) == (199, 0)
    for name in ("p", "null_median", "null_low", "null_high"):
        assert set(element[name]) == {"5", "10"}


def test_the_rise_by_noise_is_named(call: Call, tmp_path: Path) -> None:
    rows = "".join(f"0.{50 + at % 50},{int(at % 3 > 0)}\n" for at in range(200))
    path = write(tmp_path, "quiz.csv", f"confidence,correct\n{rows}")
    element = call("sweep", path, "--metric", "ece", "--bins", "5,100", "--json").element
    (run,) = calib_core.load(path)
    (curve,) = sweep_bins(gather_evidence(run, "given"), ("ece",), (5, 100)).curves
    assert curve.fitted is not None
    assert element["fitted_median"] == dict(zip(("5", "100"), curve.fitted.median, strict=True))
    assert (element["rise_by_noise"], element["rise_p"]) == (
        curve.fitted.change_median,
        curve.fitted.change_p,
    )
    assert "fitted model: isotonic or smooth curve cross-fitted in 5 folds, fold seed 0" in element["recipe"]


def test_the_papers_seven_and_the_usual_metrics_if_none_are_named(call: Call, tmp_path: Path) -> None:
    words = ("--method", "choice_softmax", "--method", "given", "--json")
    elements = call("sweep", write(tmp_path, "quiz.jsonl", CHOICES), *words).elements
    had = [(element["method"], element["metric"]) for element in elements]
    assert had == [
        *(("choice_softmax", metric) for metric in SWEPT_METRICS),
        ("given", "ece"),
    ]
    assert list(elements[0]["values"]) == ["5", "10", "20", "50", "100", "200", "500"]


def test_bounds_and_refused_m_of_token_level_files(call: Call, tmp_path: Path) -> None:
    words = ("--metric", "full_ece", "--bins", "2,7,500", "--json")
    answer = call("sweep", list_file(tmp_path), *words)
    values = answer.element["values"]
    assert answer.code == 0
    assert isinstance(values["2"], float)
    assert values["7"] is None
    assert set(values["500"]) == {"low", "high"}
    assert values["500"]["low"] <= values["500"]["high"]
    assert "M=7 cannot be read off" in answer.element["refused"]["7"]
    assert "full_ece at M=7 is not available" in answer.err
    assert (answer.element["rsd"], answer.element["p"], answer.element["draws"]) == (None, None, None)
    score = call("score", list_file(tmp_path), "--metric", "full_ece", "--bins", "500", "--json").element
    assert "value" not in score
    assert (score["low"], score["high"]) == (values["500"]["low"], values["500"]["high"])


def test_token_level_files_are_swept_and_checked(call: Call, tmp_path: Path) -> None:
    path = text_file(tmp_path)
    elements = call("sweep", path, "--json").elements
    assert [element["metric"] for element in elements] == list(SWEPT_METRICS)
    assert all(element["rsd"] is not None for element in elements)
    assert [element["draws"] for element in elements] == [199, 19, 19, 199, 199]
    check = call("check", path, "--json").element
    assert (check["kind"], check["rows"], check["usable"]) == ("tokens", 50, {"tokens": 50})
    assert "Accuracy of the top label: " in call("check", path).out
    refused = call("score", path, "--metric", "auroc", "--json")
    assert (refused.code, refused.elements) == (2, [])
    assert "needs every single confidence" in refused.err


def test_a_person_reads_a_table(call: Call, tmp_path: Path) -> None:
    answer = call("sweep", list_file(tmp_path), "--bins", "2,7,500")
    assert answer.code == 0
    for said in ("tokens, full_ece: ", " to ", "cannot be read off", "its own bin"):
        assert said in answer.out
    assert answer.out.count("│ – │   – │") == 6  # neither p nor RSD
    wrong = write(tmp_path, "wrong.csv", "confidence,correct\n" + "0.9,0\n" * 40)
    assert call("sweep", wrong, "--metric", "ece", "--bins", "10").out.count("│ ≤ 0.005 │") == 1
    own = call("sweep", write(tmp_path, "quiz.csv", GOOD), "--metric", "ece", "--bins", "10").out
    assert re.search(r"given, ece: ECE is 0.4000 at M = 10\. Not judged: 4 rows", own)


@pytest.mark.parametrize("bins", ["", "5,", "0", "1001", "5.5", "five", "-5", "9" * 5000])
def test_what_is_not_a_list_of_m_is_refused(call: Call, tmp_path: Path, bins: str) -> None:
    answer = call("sweep", write(tmp_path, "quiz.csv", GOOD), f"--bins={bins}", "--json")
    assert (answer.code, answer.elements) == (2, [])
    assert "expected whole numbers from 1 to 1000" in answer.err
    assert len(answer.err) < 1000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--metric", "brier"), "Brier score has no bins"),
        (("--metric", "full_ece"), "one number per question"),
        (("--binning", "natural"), "no M to sweep"),
        (("--ddof", "2"), "--ddof: expected a whole number from 0 to 1, found '2'"),
    ],
)
def test_what_cannot_be_swept_is_refused(
    call: Call, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    answer = call("sweep", write(tmp_path, "quiz.csv", GOOD), *words, "--json")
    assert (answer.code, answer.elements) == (2, [])
    assert message in answer.err


def test_a_run_that_can_give_nothing_over_these_m_is_refused(call: Call, tmp_path: Path) -> None:
    answer = call("sweep", text_file(tmp_path), "--bins", "7", "--json")
    assert (answer.code, answer.out.strip()) == (2, "[]")
    assert "no metric can be swept over M = 7" in answer.err
    assert "divides it" in answer.err
