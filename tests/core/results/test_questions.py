"""The questions of a bin are exactly those that the table counts in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.methods import METHODS
from calib_core.methods.method import MethodOptions
from calib_core.pairs import Labels
from calib_core.results.evidence import Evidence, gather_evidence
from calib_core.results.questions import MAX_SHOWN_QUESTIONS, questions_in_bin
from calib_core.results.reliability import reliability_diagram
from calib_core.runs import RunInfo
from core.edge_cases import WIDTHS, confidences, schemes
from core.oracle import Bins
from core.run_builders import block_evidence, choice_evidence, given_evidence, make_answer_run

PROBS = [[0.7, 0.2, 0.1], [0.2, 0.3, 0.5], [0.1, 0.8, 0.1]]
GOLD = [0, 1, 1]


def same_as_the_table(evidence: Evidence, metric: str, scheme: Scheme) -> None:
    """Bin by bin: as many questions, as many right ones, the same mean confidence."""
    table = reliability_diagram(evidence, metric, scheme).table
    for row in table.iter_rows(named=True):
        inside = questions_in_bin(evidence, metric, scheme, bin_number=row["bin"])
        assert inside.n_before_search == inside.frame.height == row["count"]
        assert int(inside.frame["right"].sum()) == round(row["accuracy"] * row["count"])
        assert inside.frame["confidence"].mean() == pytest.approx(row["confidence"], abs=1e-12)
    every = questions_in_bin(evidence, metric, scheme)
    assert every.n_before_search == table["count"].sum()
    empty = next(number for number in range(1, 1002) if number not in set(table["bin"].to_list()))
    assert questions_in_bin(evidence, metric, scheme, bin_number=empty).n_before_search == 0


@st.composite
def stored_confidences(draw: st.DrawFn) -> Evidence:
    width = draw(st.sampled_from(WIDTHS))
    values = draw(st.lists(confidences(width), min_size=1, max_size=20))
    correct = draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    return given_evidence(np.array(values, f"f{width}"), correct)


@given(stored_confidences(), schemes())
def test_one_confidence_per_question(evidence: Evidence, how: Bins) -> None:
    for metric in ("ece", "ace", "brier"):
        same_as_the_table(evidence, metric, Scheme(how.binning, how.bins))


@st.composite
def computed_choices(draw: st.DrawFn) -> dict[str, list[Any]]:
    """Log-probabilities with many ties after the softmax, as whole numbers of tenths have."""
    sizes = draw(st.lists(st.integers(2, 4), min_size=1, max_size=8))
    logprobs = [
        draw(st.lists(st.integers(0, 8).map(lambda tenths: -tenths / 10), min_size=size, max_size=size))
        for size in sizes
    ]
    return {"choice_logprobs": logprobs, "gold_index": [draw(st.integers(0, size - 1)) for size in sizes]}


@given(computed_choices(), schemes(), st.sampled_from(("top", "all")))
def test_choices_computed_and_pooled(columns: dict[str, list[Any]], how: Bins, labels: Labels) -> None:
    evidence = gather_evidence(make_answer_run(columns), "choice_softmax", MethodOptions(labels=labels))
    same_as_the_table(evidence, "ece", Scheme(how.binning, how.bins))
    same_as_the_table(evidence, "full_ece", Scheme("width", how.bins))


@pytest.mark.parametrize("scheme", [Scheme("natural"), Scheme("mass", 10)])
def test_computed_ties_split_by_rounding_stay_in_one_bin(scheme: Scheme) -> None:
    logprobs = [[-k / 10, -k / 10 - 0.5] for k in range(50)]  # one and the same softmax, but for rounding
    evidence = gather_evidence(
        make_answer_run({"choice_logprobs": logprobs, "gold_index": [0] * 50}), "choice_softmax"
    )
    assert np.unique(evidence.pairs.confidence).size > 1
    same_as_the_table(evidence, "ece", scheme)
    last = 1 if scheme.binning == "natural" else 10
    assert questions_in_bin(evidence, "ece", scheme, bin_number=last).n_before_search == 50


def test_what_is_shown_of_a_question() -> None:
    run = make_answer_run(
        {
            "id": ["q1", "q2", "q3"],
            "subject": ["law", "law", "art"],
            "question": ["Who?", "What?", "Where?"],
            "prediction": ["Ann", "a bridge", None],
            "gold": ["Ann", "a boat", "Rome"],
            "correct": [True, False, None],
            "confidence": [0.9, 0.8, 0.7],
        }
    )
    assert questions_in_bin(gather_evidence(run, "given")).frame.to_dicts() == [
        {
            "row": 1, "id": "q1", "subject": "law", "question": "Who?",
            "answer": "Ann", "gold": "Ann", "confidence": 0.9, "right": True,
        },
        {
            "row": 2, "id": "q2", "subject": "law", "question": "What?",
            "answer": "a bridge", "gold": "a boat", "confidence": 0.8, "right": False,
        },
    ]  # fmt: skip


def test_a_bare_file_still_has_rows_answers_and_gold() -> None:
    frame = questions_in_bin(given_evidence([0.9], [True])).frame
    assert frame.columns == ["row", "answer", "gold", "confidence", "right"]
    assert frame.row(0) == (1, None, None, 0.9, True)


def test_row_numbers_are_the_files() -> None:
    run = make_answer_run(
        {"row": np.array([2, 5, 9]), "confidence": [0.9, None, 0.7], "correct": [True, True, False]}
    )
    assert questions_in_bin(gather_evidence(run, "given")).frame["row"].to_list() == [2, 9]


@pytest.mark.parametrize(
    ("choices", "answers"),
    [
        ([["salt", "tin", "zinc"]] * 3, ["salt", "zinc", "tin"]),
        (None, ["A", "C", "B"]),
    ],
)
def test_choices_answer_with_their_top_label(choices: list[list[str]] | None, answers: list[str]) -> None:
    evidence = (
        choice_evidence(PROBS, GOLD) if choices is None else choice_evidence(PROBS, GOLD, choices=choices)
    )
    assert questions_in_bin(evidence).frame["answer"].to_list() == answers


@pytest.mark.parametrize(("metric", "labels"), [("ece", "all"), ("full_ece", "top")])
def test_every_label_is_a_question_of_its_own_choice(metric: str, labels: Labels) -> None:
    evidence = choice_evidence(
        PROBS, GOLD, MethodOptions(labels=labels), choices=[["salt", "tin", "zinc"]] * 3
    )
    frame = questions_in_bin(evidence, metric).frame
    assert frame["answer"].to_list() == ["salt", "tin", "zinc"] * 3
    assert frame["row"].to_list() == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert frame["confidence"].to_list() == [p for row in PROBS for p in row]
    assert frame.filter("right")["answer"].to_list() == ["salt", "tin", "tin"]
    assert questions_in_bin(evidence, metric, bin_number=8).frame.select("row", "answer").rows() == [
        (3, "tin")
    ]


def test_adaptive_ece_lists_its_own_bins() -> None:
    evidence = block_evidence((0.1, 5, 0), (0.5, 5, 3), (0.9, 10, 9))
    assert questions_in_bin(evidence, "ace", Scheme("width", 2), bin_number=1).frame[
        "confidence"
    ].unique().to_list() == [0.1, 0.5]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("", [1, 2, 3]),
        ("  ", [1, 2, 3]),
        ("ANN", [1]),
        (" boat ", [2]),
        ("q", [1, 2, 3]),
        (".", [3]),
        ("(", [3]),
        ("größe", [3]),
        ("nowhere", []),
    ],
)
def test_search_is_plain_text_in_any_case(text: str, rows: list[int]) -> None:
    run = make_answer_run(
        {
            "id": ["q1", "q2", "q3"],
            "prediction": ["Ann", None, "(GRÖSSE.) Größe"],
            "gold": ["x", "Boat", None],
            "correct": [True, False, True],
            "confidence": [0.9, 0.8, 0.7],
        }
    )
    found = questions_in_bin(gather_evidence(run, "given"), search=text)
    assert found.frame["row"].to_list() == rows
    assert found.n_before_search == 3
    assert found.search == text


@pytest.mark.parametrize("method", [id_ for id_, one in METHODS.items() if one.run_kind == "answers"])
def test_every_method_says_which_answer_it_judged(method: str) -> None:
    run = make_answer_run(
        {
            "choices": [["tin", "zinc"]] * 2,
            "choice_logprobs": [[-0.1, -2.0], [-3.0, -0.2]],
            "choice_token_counts": [[1, 2], [1, 1]],
            "samples": [["A", "A", "B"], ["B", "B", "B"]],
            "prediction": ["A", "B"],
            "gold": ["A", "A"],
            "gold_index": [0, 0],
            **{name: [[-0.1], [-0.2]] for name in ("path_logprobs", "answer_logprobs")},
            **{name: [0.4, 0.5] for name in ("p_true", "p_false", "verbal_confidence", "confidence")},
            "event_prob": [0.4, 0.5],
            "event": [True, False],
        }
    )
    info = RunInfo(choices_are="options") if method == "choice" else run.info
    said = gather_evidence(replace(run, info=info), method).confidences
    assert said.answers is not None
    expected = {"its own top label": ["tin", "zinc"], "event": [None, None]}.get(said.judged, ["A", "B"])
    expected = ["no", "yes"] if method == "choice" else expected
    assert said.answers.to_list() == expected


def test_search_stays_inside_the_bin() -> None:
    evidence = given_evidence([0.15, 0.95], [True, True], prediction=["same", "same"])
    assert questions_in_bin(evidence, bin_number=10, search="same").frame["row"].to_list() == [2]


def test_the_first_thousand_are_shown_and_all_are_kept() -> None:
    found = questions_in_bin(block_evidence((0.9, MAX_SHOWN_QUESTIONS + 5, 10)))
    assert (found.preview.height, found.to_frame().height, found.n_before_search) == (
        MAX_SHOWN_QUESTIONS,
        MAX_SHOWN_QUESTIONS + 5,
        MAX_SHOWN_QUESTIONS + 5,
    )


def test_refuses_what_the_diagram_refuses() -> None:
    run = make_answer_run(
        {"choice_logprobs": [[-2.0, -1.0]], "choice_token_counts": [[2, 1]], "gold_index": [0]}
    )
    evidence = gather_evidence(run, "choice_length_normalised", MethodOptions(renormalise=False))
    for metric, scheme in (("full_ece", Scheme()), ("cw_ece", Scheme("mass")), ("nope", Scheme())):
        with pytest.raises(Unavailable):
            questions_in_bin(evidence, metric, scheme)


@pytest.mark.parametrize("method", ["cluster_number", "cluster_size", "pairwise"])
def test_self_consistency_answers_with_the_majority(method: str) -> None:
    run = make_answer_run(
        {
            "samples": [["17", "$17.00", "18"], ["4", "5", "5"]],
            "gold": ["18", "5"],
            "prediction": ["18", "4"],
        }
    )
    frame = questions_in_bin(gather_evidence(run, method)).frame
    assert frame["right"].to_list() == [False, True]
    assert frame["answer"].to_list() == ["17", "5"]


@pytest.mark.parametrize(
    ("method", "columns"),
    [
        ("given", {"confidence": [0.4]}),
        ("verbal", {"verbal_confidence": [0.4]}),
        ("p_true", {"p_true": [0.4]}),
        ("logit_path", {"path_logprobs": [[-0.5, -0.1]]}),
        ("logit_answer", {"answer_logprobs": [[-0.5]]}),
    ],
)
def test_greedy_methods_answer_with_the_prediction(method: str, columns: dict[str, list[Any]]) -> None:
    run = make_answer_run({**columns, "prediction": ["Paris"], "gold": ["Rome"]})
    assert questions_in_bin(gather_evidence(run, method)).frame["answer"].to_list() == ["Paris"]
