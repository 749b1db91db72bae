"""A misread file is suspected by its accuracy, and a good one is not."""

from __future__ import annotations

import numpy as np
import pytest

from calib_core.methods import METHODS
from calib_core.methods.method import MethodOptions
from calib_core.methods.misreading import misreading_warnings
from calib_core.results.evidence import gather_evidence
from core.confidence_runs import Row, run_of

LETTERS = "ABCD"


def warnings_of(rows: list[Row], method: str) -> tuple[str, ...]:
    run = run_of(rows)
    return misreading_warnings(run, METHODS[method].confidences(run, MethodOptions()))


def choice_rows(n: int, shift: int = 0, *, reverse: bool = False, right_share: float = 0.8) -> list[Row]:
    """Questions of four choices, of which gold names the top one in this share; then gold is misread."""
    random = np.random.default_rng(7)
    rows: list[Row] = []
    for number in range(n):
        top = number % 4
        right = top if random.random() < right_share else int(random.integers(4))
        gold = 3 - right if reverse else (right + shift) % 4
        rows.append({"choice_probs": [0.7 if at == top else 0.1 for at in range(4)], "gold_index": gold})
    return rows


def test_not_one_right_answer_comes_with_an_example() -> None:
    rows: list[Row] = [
        {"confidence": 0.5, "prediction": "A", "gold": "['A']", "answer_kind": "text"} for _ in range(12)
    ]
    (warning,) = warnings_of(rows, "given")
    assert warning == (
        "Suspicious: none of 12 answers counts as right. Check which columns were taken for the outcome and "
        "the right answer. Answer 'A', for example, counts as wrong where gold is \"['A']\"."
    )


@pytest.mark.parametrize("kind", ["text", "choice", "number"])
@pytest.mark.parametrize(("n_turned", "n_found"), [(1, 0), (2, 2)])
def test_outcomes_that_contradict_the_answers_are_suspicious(kind: str, n_turned: int, n_found: int) -> None:
    """Of 20 rows; in a text another answer than gold may be right, in a number or choice it may not."""
    good = "4" if kind == "number" else "B"

    def row(number: int, *, is_equal: bool) -> Row:
        answer = good if is_equal else "7" if kind == "number" else "C"
        right = is_equal != (number < n_turned)
        return {"confidence": 0.5, "prediction": answer, "gold": good, "correct": right, "answer_kind": kind}

    equal, different = (
        [warning for warning in warnings_of(rows, "given") if "contradicts the answer" in warning]
        for rows in ([row(number, is_equal=equal) for number in range(20)] for equal in (True, False))
    )
    assert len(equal) + len(different) == (n_found if kind != "text" else n_found // 2)
    assert all(f"in {n_turned} of 20 rows" in warning for warning in equal)
    assert all(
        f"row 1 counts as wrong with answer '{good}' and gold '{good}'" in warning for warning in equal
    )


@pytest.mark.parametrize(("n_right", "n", "expected"), [(0, 9, 0), (0, 10, 1), (2, 100, 1), (3, 100, 0)])
def test_hardly_a_right_answer_is_suspicious(n_right: int, n: int, expected: int) -> None:
    rows: list[Row] = [{"confidence": 0.5, "correct": number < n_right} for number in range(n)]
    found = warnings_of(rows, "given")
    assert len(found) == expected
    assert all(f"of {n} answers" in warning for warning in found)


@pytest.mark.parametrize(("n_right", "expected"), [(19, 1), (20, 0)])
@pytest.mark.parametrize("choices", [{"choices": list("abcd")}, {"choice_logits": [1.0, 2.0, 3.0, 4.0]}])
def test_far_below_guessing_is_suspicious(choices: Row, n_right: int, expected: int) -> None:
    """Guessing gets 50 of 200, with a standard deviation of √37.5 = 6.12: five of them below is 19.4."""
    rows: list[Row] = [{"confidence": 0.5, "correct": number < n_right, **choices} for number in range(200)]
    found = warnings_of(rows, "given")
    assert len(found) == expected
    assert all("far below the 0.250 of guessing among the choices" in warning for warning in found)


def asked_again(times: int) -> list[Row]:
    """200 answers of four choices, 16 of them right; each question is asked this many times."""
    return [
        {"id": f"q{number // times}", "confidence": 0.5, "correct": number < 16, "choices": list("abcd")}
        for number in range(200)
    ]


def test_a_question_asked_again_is_no_further_evidence_of_being_below_chance() -> None:
    assert len(warnings_of(asked_again(1), "given")) == 1
    assert warnings_of(asked_again(4), "given") == ()


def test_two_choices_can_only_be_swapped() -> None:
    rows: list[Row] = [
        {"choice_probs": [0.8, 0.2] if number % 2 else [0.2, 0.8], "gold_index": number % 2}
        for number in range(60)
    ]
    assert any("with the choices swapped" in warning for warning in warnings_of(rows, "choice_softmax"))


@pytest.mark.parametrize(
    ("rows", "explanation"),
    [
        (choice_rows(200, 1), "shifted by one (as if gold were counted from 1)"),
        (choice_rows(200, 3), "shifted by one the other way"),
        (choice_rows(200, reverse=True), "in reverse order"),
    ],
)
def test_an_order_that_would_turn_the_accuracy_round_is_named(rows: list[Row], explanation: str) -> None:
    found = [warning for warning in warnings_of(rows, "choice_softmax") if "with the choices" in warning]
    assert len(found) == 1
    assert explanation in found[0]


def test_a_good_file_is_not_suspected() -> None:
    assert warnings_of(choice_rows(200), "choice_softmax") == ()


def test_guessing_is_rarely_suspected() -> None:
    """Of 200 files of 100 answers at random none has an order six standard deviations above chance."""
    random = np.random.default_rng(3)
    for _ in range(200):
        rows: list[Row] = [
            {
                "choice_probs": [0.7 if at == top else 0.1 for at in range(4)],
                "gold_index": int(random.integers(4)),
            }
            for top in random.integers(4, size=100)
        ]
        assert warnings_of(rows, "choice_softmax") == ()


def sample_rows(n_marked: int) -> list[Row]:
    """Four questions of ten samples, of which so many mark an answer."""
    texts = ["The answer is 7."] * n_marked + ["I would rather not say."] * (40 - n_marked)
    return [{"samples": texts[at::4][::-1], "gold": "7", "answer_kind": "number"} for at in range(4)]


def test_samples_that_hardly_mark_an_answer_are_suspected() -> None:
    evidence = gather_evidence(run_of(sample_rows(4)), "cluster_size")
    (warning,) = [text for text in evidence.warnings if "samples" in text]
    assert warning == (
        "Suspicious: an answer can be read in only 4 of 40 samples. Check that the column holds answers, "
        "and how they are marked. A sample is 'I would rather not say.', for example."
    )


def test_samples_of_which_some_mark_an_answer_are_not_suspected() -> None:
    assert gather_evidence(run_of(sample_rows(5)), "cluster_size").warnings == ()
