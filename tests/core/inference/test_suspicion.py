"""A misread or faulty file is suspected, one just short of it is not, and honest ones are not."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from calib_core.errors import Suspicion
from calib_core.inference import suspicion
from calib_core.inference.suspicion import outcomes_disagree, suspicions
from calib_core.methods import METHODS
from calib_core.methods.method import MethodOptions
from calib_core.results.evidence import gather_evidence
from core.confidence_runs import Row, run_of

pytestmark = pytest.mark.usefixtures("for_command_line")

LETTERS = "ABCD"


def found(rows: list[Row], method: str = "given") -> dict[str, Suspicion]:
    """Kind → what is suspicious about these rows."""
    run = run_of(rows)
    return {one.kind: one for one in suspicions(run, METHODS[method].confidences(run, MethodOptions()))}


def warnings_of(rows: list[Row], method: str) -> tuple[str, ...]:
    return tuple(one.text for one in found(rows, method).values())


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
        "the right answer. For example, row 1: confidence 0.5, counts as wrong; answer 'A', gold \"['A']\"."
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
    assert all(f"row 1: counts as wrong; answer '{good}', gold '{good}'" in warning for warning in equal)


def test_outcomes_that_contradict_the_answers_are_one_suspicion_where_none_is_right() -> None:
    rows: list[Row] = [
        {"confidence": 0.5, "prediction": "B", "gold": "B", "correct": number < 1} for number in range(60)
    ]
    assert list(found(rows)) == ["accuracy_near_zero"]
    assert list(found(rows[:40])) == ["outcome_contradicts_answer"]


@pytest.mark.parametrize(("n_right", "n", "expected"), [(0, 9, 0), (0, 10, 1), (2, 100, 1), (3, 100, 0)])
def test_hardly_a_right_answer_is_suspicious(n_right: int, n: int, expected: int) -> None:
    rows: list[Row] = [{"confidence": 0.5, "correct": number < n_right} for number in range(n)]
    texts = warnings_of(rows, "given")
    assert len(texts) == expected
    assert all(f"of {n} answers" in warning for warning in texts)


@pytest.mark.parametrize(("n_right", "expected"), [(19, 1), (20, 0)])
@pytest.mark.parametrize("choices", [{"choices": list("abcd")}, {"choice_logits": [1.0, 2.0, 3.0, 4.0]}])
def test_far_below_guessing_is_suspicious(choices: Row, n_right: int, expected: int) -> None:
    """Guessing gets 50 of 200, with a standard deviation of √37.5 = 6.12: five of them below is 19.4."""
    rows: list[Row] = [{"confidence": 0.5, "correct": number < n_right, **choices} for number in range(200)]
    texts = warnings_of(rows, "given")
    assert len(texts) == expected
    assert all("far below the 0.250 expected from guessing among the choices" in warning for warning in texts)


def asked_again(times: int) -> list[Row]:
    """200 answers of four choices, 16 of them right; each question is asked this many times."""
    return [
        {
            "trial_of": f"q{number // times}",
            "confidence": 0.5,
            "correct": number < 16,
            "choices": list("abcd"),
        }
        for number in range(200)
    ]


def test_a_question_asked_again_is_no_further_evidence_of_being_below_chance() -> None:
    assert len(warnings_of(asked_again(1), "given")) == 1
    assert warnings_of(asked_again(4), "given") == ()


@pytest.mark.parametrize(("kind", "n_found"), [("choice", 1), ("text", 0)])
def test_a_text_that_is_none_of_the_choices_is_no_guess_among_them(kind: str, n_found: int) -> None:
    """Of 400 answers, 40 are right and 40 another choice."""
    rows: list[Row] = [
        {
            "confidence": 0.5,
            "prediction": "abcd"[number % 2] if number < 80 else f"answer {number}",
            "correct": number < 80 and number % 2 == 0,
            "choices": list("abcd"),
            "answer_kind": kind,
        }
        for number in range(400)
    ]
    assert list(found(rows)) == ["below_chance"] * n_found


def test_an_example_needs_no_answers() -> None:
    rows: list[Row] = [{"id": f"q{number}", "confidence": 0.25, "correct": False} for number in range(12)]
    assert found(rows)["accuracy_near_zero"].example == "row 1 (id 'q0'): confidence 0.25, counts as wrong"


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [("0", "A", True), ("3.0", "d", True), ("12", "A", False), ("0", "AB", False), ("x", "A", False)],
)
def test_numbers_beside_letters_may_be_positions(gold: str, answer: str, *, expected: bool) -> None:
    rows: list[Row] = [
        {"id": f"q{at}", "confidence": 0.5, "gold": gold, "prediction": answer} for at in range(30)
    ]
    message = found(rows)["accuracy_near_zero"].message
    assert ("COLUMN" in message and "gold_index:from1" in message) == expected


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
    texts = [warning for warning in warnings_of(rows, "choice_softmax") if "with the choices" in warning]
    assert len(texts) == 1
    assert explanation in texts[0]
    assert "counts as wrong" in texts[0], "an example that would be right in that order"


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
        "and how they are marked. For example, row 1: sample 'I would rather not say.'."
    )


def test_samples_of_which_some_mark_an_answer_are_not_suspected() -> None:
    assert gather_evidence(run_of(sample_rows(5)), "cluster_size").warnings == ()


# --- Confidence against outcome ---------------------------------------------------------------------------


def turned_round(n_above: int) -> list[Row]:
    """15 right answers below 15 wrong ones, but for two that are above so many of them.

    The AUROC is 2·n_above/225, and its standard deviation √(31/(12·225)) = .107, three of which below .45 is
    .129.
    """
    wrong: list[Row] = [{"confidence": 0.5 + number / 100, "correct": False} for number in range(15)]
    right: list[Row] = [{"confidence": 0.1, "correct": True} for _ in range(13)]
    return wrong + right + [{"confidence": 0.495 + n_above / 100, "correct": True} for _ in range(2)]


@pytest.mark.parametrize(("n_above", "expected"), [(14, True), (15, False)])
def test_right_answers_with_lower_confidences_are_suspicious(n_above: int, *, expected: bool) -> None:
    one = found(turned_round(n_above)).get("auroc_below_half")
    assert (one is not None) == expected
    if one is not None:
        assert "(AUROC 0.124; 0.5 is no better than chance)" in one.message
        assert "--map COLUMN=confidence:inverted" in one.message
        assert "--map COLUMN=correct:not" in one.message
        assert one.example == "row 15: confidence 0.64, counts as wrong"


def test_a_question_asked_again_is_no_further_evidence_of_a_confidence_turned_round() -> None:
    rows = turned_round(0)
    assert "auroc_below_half" in found([{**row, "trial_of": str(at)} for at, row in enumerate(rows)])
    assert "auroc_below_half" not in found([{**row, "trial_of": str(at // 3)} for at, row in enumerate(rows)])


@pytest.mark.parametrize(("n_high", "expected"), [(590, False), (610, True)])
def test_a_model_that_knows_a_little_less_than_nothing_is_not_suspected(
    n_high: int, *, expected: bool
) -> None:
    """Of 1,000 right answers 400 are above the wrong ones: AUROC .405 and .395, which n would call clear."""
    rows: list[Row] = [
        {"confidence": 0.9 if number < n_above else 0.6, "correct": correct}
        for correct, n_above in ((True, 400), (False, n_high))
        for number in range(1000)
    ]
    assert ("auroc_below_half" in found(rows)) == expected


def told_apart(n_right: int, n_wrong: int, *, n_values: int = 1) -> list[Row]:
    """Right answers above wrong ones, each with this many confidences."""
    return [
        {"confidence": base + number % n_values / 1000, "correct": correct}
        for correct, base, n in ((True, 0.7, n_right), (False, 0.2, n_wrong))
        for number in range(n)
    ]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (told_apart(20, 20), True),
        (told_apart(20, 20, n_values=2), True),
        (told_apart(20, 20, n_values=3), False),
        (told_apart(21, 19), False),
        (told_apart(50, 50, n_values=50), True),
        (told_apart(51, 49, n_values=50), False),
        ([*told_apart(60, 60), {"confidence": 0.7, "correct": False}], False),
    ],
)
def test_a_confidence_that_is_a_function_of_the_outcome_is_suspicious(
    rows: list[Row], *, expected: bool
) -> None:
    one = found(rows).get("confidence_tells_outcome")
    assert (one is not None) == expected
    assert one is None or "probably made from the outcome" in one.message


def of_two_classes(n_no: int, n_yes: int, n_no_above: int = 0) -> list[Row]:
    """Rows that predict "no" with 0.2 but for some with 0.7, and rows that predict "yes" with 0.5."""
    no = [0.7] * n_no_above + [0.2] * (n_no - n_no_above)
    return [
        {"confidence": confidence, "prediction": prediction, "gold": "yes" if at % 3 else "no"}
        for at, (prediction, confidence) in enumerate(
            [*(("no", one) for one in no), *(("yes", 0.5) for _ in range(n_yes))]
        )
    ]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (of_two_classes(15, 5), True),
        (of_two_classes(14, 5), False),
        (of_two_classes(40, 4), False),
        (of_two_classes(40, 10, n_no_above=2), True),
        (of_two_classes(40, 10, n_no_above=3), False),
        ([*of_two_classes(15, 5), {"confidence": 0.2, "prediction": "no answer", "gold": "no"}], False),
        ([*of_two_classes(15, 5), {"confidence": 0.2, "prediction": "no", "gold": "unknown"}], False),
        ([{**row, "choices": ["no", "yes", "unknown"]} for row in of_two_classes(15, 5)], False),
    ],
)
def test_the_probability_of_one_of_two_classes_is_no_confidence(rows: list[Row], *, expected: bool) -> None:
    one = found(rows).get("one_sided_class")
    assert (one is not None) == expected
    if one is not None:
        assert "--map COLUMN=confidence:class:yes" in one.message
        assert "confidence 0.2," in one.example
        assert "answer 'no'" in one.example


def test_a_computed_probability_of_the_answer_is_not_that_of_a_class() -> None:
    rows: list[Row] = [{**row, "path_logprobs": [log(row["confidence"])]} for row in of_two_classes(15, 5)]
    assert "one_sided_class" not in found(rows, "logit_path")


# --- Outcomes, and rows that repeat -----------------------------------------------------------------------


@pytest.mark.parametrize(("n_differing", "expected"), [(1, False), (2, True)])
def test_columns_of_outcomes_that_disagree_are_suspicious(n_differing: int, *, expected: bool) -> None:
    one = outcomes_disagree("judged", "em", n_differing, 20, "row 119: right by 'judged', wrong by 'em'")
    assert (one is not None) == expected
    if one is not None:
        assert "'judged' and 'em' differ in 2 of the first 20 rows" in one.message
        assert one.example == "row 119: right by 'judged', wrong by 'em'"


def test_few_outcomes_may_disagree() -> None:
    assert outcomes_disagree("judged", "em", 9, 9, "") is None


def varied_rows(n: int, decimals: int = 9) -> list[Row]:
    """Answers among four letters with calibrated confidences, rounded."""
    random = np.random.default_rng(5)
    return [
        {
            "confidence": (confidence := round(random.uniform(0.3, 1), decimals)),
            "gold": (gold := LETTERS[random.integers(4)]),
            "prediction": gold if random.random() < confidence else LETTERS[random.integers(4)],
        }
        for _ in range(n)
    ]


def with_ids(rows: list[Row], **columns: list[str]) -> list[Row]:
    """The rows with new ids, and further columns."""
    return [
        {**row, "id": f"q{at}", **{name: texts[at] for name, texts in columns.items()}}
        for at, row in enumerate(rows)
    ]


@pytest.mark.parametrize("times", [2, 4])
def test_a_file_that_holds_its_rows_again_is_suspicious(times: int) -> None:
    one = found(with_ids(varied_rows(50) * times))["rows_repeat"]
    assert f"{50 * (times - 1)} of {50 * times} rows equal another row" in one.message
    assert one.example.startswith("row 51 (id 'q50'): confidence 0.8")
    assert one.example.endswith(", all as in row 1 (id 'q0')")


@pytest.mark.parametrize("together", [1, 3, 7, 2**21])
def test_equal_rows_are_found_in_every_part_that_is_looked_through(
    monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    monkeypatch.setattr(suspicion, "_SORTED_TOGETHER", together)
    rows = varied_rows(30)
    assert suspicion._row_contents(run_of(with_ids(rows))) is None
    for row in rows:
        contents = suspicion._row_contents(run_of(with_ids([*rows, row])))
        assert contents is not None
        assert (contents.len(), contents.n_unique()) == (31, 30)


@pytest.mark.parametrize(("n", "expected"), [(39, False), (40, True)])
def test_few_rows_twice_may_be_chance(n: int, *, expected: bool) -> None:
    """One half to the power of 40 is below 1e-12."""
    assert ("rows_repeat" in found(with_ids(varied_rows(n) * 2))) == expected


@pytest.mark.parametrize(("n_copied", "expected"), [(4, False), (30, True)])
def test_some_rows_twice_are_suspicious(n_copied: int, *, expected: bool) -> None:
    rows = varied_rows(200)
    assert ("rows_repeat" in found(with_ids([*rows, *rows[:n_copied]]))) == expected


@pytest.mark.parametrize(("n_alike", "expected"), [(179, False), (180, True)])
def test_rows_with_one_confidence_may_be_more_alike_than_others(n_alike: int, *, expected: bool) -> None:
    """Of 200 pairs; those of a classifier with a confidence for each leaf of a tree are alike, too."""
    rows: list[Row] = [
        {
            "confidence": 0.3 + number / 400,
            "prediction": f"answer {number}{other if number >= n_alike else ''}",
            "correct": number % 2 == 0,
        }
        for number in range(200)
        for other in ("", "'")
    ]
    singles: list[Row] = [
        {"confidence": 0.9 + number / 10**4, "prediction": f"{number}", "correct": True}
        for number in range(400)
    ]
    assert ("rows_repeat" in found(with_ids(rows + singles))) == expected


def test_rows_that_count_as_one_question_are_no_suspicion() -> None:
    rows = varied_rows(50) * 2
    names = [f"question {at % 50}" for at in range(100)]
    assert "rows_repeat" not in found(with_ids(rows, question=names))
    assert "rows_repeat" not in found(with_ids(rows, trial_of=names))


@pytest.mark.parametrize("decimals", [1, 2, 3])
def test_rows_that_are_equal_by_rounding_are_no_suspicion(decimals: int) -> None:
    assert found(with_ids(varied_rows(400, decimals))) == {}


# --- Probabilities of events ----------------------------------------------------------------------


def event_rows(*blocks: tuple[float, int, int]) -> list[Row]:
    """Rows of (probability, rows, those in which yes is true), each with a text of its own."""
    return [
        {"event_prob": stated, "event": at < n_yes, "question": f"{stated} {at}"}
        for stated, n, n_yes in blocks
        for at in range(n)
    ]


def test_a_rare_event_is_not_suspicious_nor_are_low_probabilities() -> None:
    assert found(event_rows((0.05, 1900, 90), (0.3, 100, 30)), "event") == {}
    assert found(event_rows((0.01, 300, 3)), "event") == {}
    assert found(event_rows((0.2, 40, 0)), "event") == {}


def test_an_event_in_a_file_of_choices_is_not_guessed_among_them() -> None:
    rows: list[Row] = [
        {**row, "choices": list("ab"), "gold": "a"} for row in event_rows((0.1, 300, 30), (0.2, 100, 20))
    ]
    assert found(rows, "event") == {}


def test_probabilities_that_fall_where_yes_is_true_are_suspicious_in_words_of_yes() -> None:
    (one,) = found(event_rows((0.2, 100, 70), (0.8, 100, 30)), "event").values()
    assert one.kind == "auroc_below_half"
    assert "rows with no have a higher probability of yes than rows with yes (AUROC 0.300" in one.text
    assert "event_prob:inverted" in one.text
    assert "event:not" in one.text
    assert "yes and no may be swapped" in one.text
    assert "probability of yes 0.8, counts as no" in one.text
    assert found(event_rows((0.2, 100, 40), (0.8, 100, 60)), "event") == {}


def test_probabilities_that_tell_yes_from_no_without_fault_may_be_made_from_the_outcome() -> None:
    (one,) = found(event_rows((0.9, 60, 60), (0.2, 60, 0)), "event").values()
    assert one.kind == "confidence_tells_outcome"
    assert "all 60 rows with yes have a probability of 0.9 or more" in one.text
    assert not any(word in one.text for word in ("confidence", "right", "wrong", "answer"))
