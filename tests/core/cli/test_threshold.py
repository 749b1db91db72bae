"""The verb `threshold`: the keys that scripts depend on, what is refused, and the printed words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from core.cli_calls import BAD, GOOD, Call, write

KEYS = {"run", "method", "threshold", "answered", "accuracy", "accuracy_low", "n_answered", "guaranteed"}


def blocks(*parts: tuple[float, int, int]) -> str:
    """A table of rows in blocks of (confidence, rows, right ones among them)."""
    lines = [f"{value},{int(at < right)}" for value, rows, right in parts for at in range(rows)]
    return "\n".join(("confidence,correct", *lines, ""))


def test_a_guaranteed_threshold_and_the_empirical_one(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, "run.csv", blocks((0.95, 200, 196), (0.8, 100, 77), (0.3, 100, 20)))
    answer = call("threshold", path, "--accuracy", "0.9", "--confidence", "0.95", "--json")
    element = answer.element
    assert (answer.code, answer.err) == (0, "")
    assert {*KEYS, "empirical"} <= element.keys()
    assert (element["threshold"], element["guaranteed"], element["reason"]) == (0.95, True, None)
    assert (element["answered"], element["accuracy"], element["n_answered"]) == (0.5, 0.98, 200)
    assert 0.9 <= element["accuracy_low"] < 0.98
    empirical = element["empirical"]
    assert (empirical["threshold"], empirical["n_answered"]) == (0.8, 300)
    assert empirical["accuracy_low"] < 0.9 < empirical["accuracy"]
    laxer = call("threshold", path, "--accuracy", ".85", "--json").element
    assert (laxer["threshold"], laxer["n_answered"]) == (0.8, 300)


def test_none_is_no_error_and_has_its_reason(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, "run.csv", blocks((0.95, 200, 100)))
    answer = call("threshold", path, "--json")
    element = answer.element
    assert answer.code == 0
    assert [element[key] for key in ("threshold", "answered", "accuracy", "accuracy_low", "n_answered")] == [
        None
    ] * 5
    assert (element["guaranteed"], element["empirical"]) == (False, None)
    # Of the three starts, whose bounds hold together with the confidence asked for.
    assert re.search(
        r"which come closest, 50\.0 % are right, on new questions at least 4\d\.\d % with 95 % confidence$",
        element["reason"],
    )
    none_right = call("threshold", write(tmp_path, "wrong.csv", blocks((0.95, 200, 0))), "--json").element
    assert none_right["reason"].endswith("200 most confident answers, which come closest, 0.0 % are right")
    one_right = call("threshold", write(tmp_path, "one.csv", blocks((0.95, 200, 1))), "--json").element
    assert one_right["reason"].endswith("which come closest, 0.5 % are right")  # not "at least 0.0 %"
    few = call("threshold", write(tmp_path, "few.csv", GOOD), "--json").element
    assert (few["guaranteed"], few["empirical"]["n_answered"]) == (False, 1)
    assert few["reason"] == (
        "4 questions are too few (an accuracy of 90 % with 95 % confidence takes at least 50)"
    )


def test_repeated_questions_are_counted_once(call: Call, tmp_path: Path) -> None:
    rows = "".join(f"q{at // 10}t{at % 10},q{at // 10},0.9,1\n" for at in range(400))
    path = write(tmp_path, "trials.csv", f"id,trial_of,confidence,correct\n{rows}")
    element = call("threshold", path, "--json").element
    assert element["guaranteed"] is False
    assert "40 different questions are too few" in element["reason"]


@pytest.mark.parametrize("words", [("--accuracy", "0"), ("--accuracy", "1"), ("--confidence", "95")])
def test_what_cannot_be_guaranteed_is_refused(call: Call, tmp_path: Path, words: tuple[str, ...]) -> None:
    answer = call("threshold", write(tmp_path, "run.csv", GOOD), *words, "--json")
    assert (answer.code, answer.elements) == (2, [])
    assert f"{words[0]}: expected a number between 0 and 1" in answer.err


def test_sums_have_no_threshold(call: Call) -> None:
    answer = call("threshold", Path(__file__).parents[3] / "data" / "code-gpt.sums.parquet", "--json")
    assert (answer.code, answer.elements) == (2, [])
    assert "token-level runs keep sums only" in answer.err


def test_what_is_printed(call: Call, tmp_path: Path) -> None:
    good = write(tmp_path, "run.csv", blocks((0.95, 200, 196), (0.3, 200, 20)))
    answer = call("threshold", good, "--labels", "all")
    assert "Answer when confidence ≥ 0.95: 50.0 % answered, accuracy 98.0 %, on new questions" in answer.out
    assert "Without a guarantee, confidence ≥ 0.95 reaches 98.0 % on these rows" in answer.out
    assert "--labels has no effect" in answer.err
    everything = call("threshold", good, "--accuracy", ".45").out
    assert "Every question can be answered: accuracy 54.0 %" in everything
    assert call("threshold", write(tmp_path, "bad.csv", BAD)).code == 3


def test_costs_say_what_believing_the_confidence_costs(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, "run.csv", blocks((0.95, 200, 100), (0.3, 200, 20)))
    costs = ("--cost-wrong", "10", "--cost-handed-on", "1")
    found = call("threshold", path, *costs, "--json").element["costs"]
    assert (found["believed_threshold"], found["believed_answered"], found["believed_cost"]) == (0.9, 0.5, 3)
    assert (found["cheapest_threshold"], found["cheapest_cost"], found["price"]) == (None, 1, 2)
    low, high = found["interval"]
    assert 0 < low < 2 < high
    printed = call("threshold", path, *costs).out
    assert "What a threshold costs" in printed
    assert "That costs 3 per question, 2 more than the best threshold" in printed
    assert call("threshold", path, "--json").element["costs"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--cost-wrong", "1"), "give both, or neither"),
        (("--cost-wrong", "0", "--cost-handed-on", "1"), "above 0"),
        (("--cost-wrong", "1", "--cost-handed-on", "nan"), "0 or more"),
    ],
)
def test_costs_that_are_none_are_refused(
    call: Call, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    answer = call("threshold", write(tmp_path, "run.csv", GOOD), *words, "--json")
    assert (answer.code, answer.elements) == (2, [])
    assert message in answer.err
