"""The recipe beside every number: it contains everything that changes the number."""

from __future__ import annotations

import pytest

from calib_core.edges import Scheme
from calib_core.methods.method import MethodOptions
from calib_core.results.evidence import gather_evidence, get_metric
from calib_core.results.recipe import labels_text, recipe_text, rows_text, scheme_text
from calib_core.results.score import score
from core.run_builders import block_evidence, choice_evidence, given_evidence, make_answer_run

PROBS = [[0.7, 0.2, 0.1], [0.2, 0.3, 0.5], [0.1, 0.8, 0.1]]


@pytest.mark.parametrize(
    ("scheme", "realised", "text"),
    [
        (Scheme("width", 10), None, "equal width, M=10, right-closed"),
        (Scheme("width", 15), 4, "equal width, M=15, right-closed"),
        (Scheme("mass", 10), 10, "equal mass, M=10"),
        (Scheme("mass", 10), 8, "equal mass, M=10 (8 realised)"),
        (Scheme("mass", 10), None, "equal mass, M=10"),
        (Scheme("natural"), 11, "natural bins (11 values)"),
        (Scheme("natural"), 1, "natural bins (1 value)"),
        (Scheme("natural"), None, "natural bins"),
    ],
)
def test_scheme(scheme: Scheme, realised: int | None, text: str) -> None:
    assert scheme_text(scheme, realised) == text


def test_rows_used_total_and_left_out() -> None:
    run = make_answer_run({"confidence": [0.5, None, 0.7], "correct": [True, True, None]}, left_out=2)
    assert rows_text(gather_evidence(run, "given")) == "n=1/5, 2 bad rows left out"
    one = make_answer_run({"confidence": [0.5], "correct": [True]}, left_out=1)
    assert rows_text(gather_evidence(one, "given")) == "n=1/2, 1 bad row left out"
    assert rows_text(block_evidence((0.5, 3, 1))) == "n=3/3"


def test_labels_are_named_where_there_are_choices() -> None:
    top = choice_evidence(PROBS, [0, 1, 1])
    every = choice_evidence(PROBS, [0, 1, 1], MethodOptions(labels="all"))
    assert labels_text(top) == labels_text(top, get_metric("ece")) == "top label"
    assert labels_text(every) == labels_text(every, get_metric("ece")) == "all labels, K=3"
    for evidence in (top, every):
        assert labels_text(evidence, get_metric("full_ece")) == "all classes, K=3"
        assert labels_text(evidence, get_metric("nll")) == "all classes, K=3"
    assert labels_text(block_evidence((0.5, 3, 1)), get_metric("ece")) is None


def test_differing_numbers_of_choices_are_reported() -> None:
    probs = [[0.7, 0.3], *PROBS, [0.4, 0.3, 0.2, 0.1]]
    every = choice_evidence(probs, [0, 1, 1, 0, 0], MethodOptions(labels="all"))
    assert labels_text(every, get_metric("ece")) == "all labels, K=2–4"
    assert labels_text(every, get_metric("cw_ece")) == "all classes, K=2–4"


def test_the_whole_line() -> None:
    assert score(choice_evidence(PROBS * 10, [0, 1, 1] * 10), "ece").recipe == (
        "ECE-L1, equal width, M=10, right-closed, top label, probabilities as stored, n=30/30, "
        "p over R=199 draws, seed 0"
    )
    assert score(given_evidence([0.2, 0.4], [0, 1]), "brier").recipe == "Brier, as given, n=2/2"
    assert recipe_text(given_evidence([0.2, 0.4], [0, 1]), None, None) == "as given, n=2/2"


@pytest.mark.parametrize("labels", ["top", "all"])
def test_no_phrase_is_repeated(labels: str) -> None:
    logprobs = [[-0.1, -2.0], [-1.0, -0.5], [-3.0, -0.2]]
    counts = [[1, 2], [2, 2], [1, 3]]
    run = make_answer_run(
        {"choice_logprobs": logprobs, "choice_token_counts": counts, "gold_index": [0, 1, 0]}
    )
    for method in ("choice_softmax", "choice_length_normalised"):
        line = score(
            gather_evidence(run, method, MethodOptions(labels="all" if labels == "all" else "top")), "ece"
        ).recipe
        phrases = line.split(", ")
        assert len(phrases) == len(set(phrases)), line
        assert f"{labels} label{'s' if labels == 'all' else ''}" in phrases
