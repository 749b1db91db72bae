"""The printed output: every number with its recipe, every problem with its place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from calib_core.cli.rendering import element_value_text
from core.cli_calls import BAD, CHOICES, GOOD, NOTHING, Call, write


def test_numbers() -> None:
    assert [element_value_text(value) for value in (0.12345, None, float("inf"))] == [
        "0.1235",
        "not defined",
        "inf",
    ]


def test_scores_are_shown_beside_their_recipe(call: Call, tmp_path: Path) -> None:
    out = call("score", write(tmp_path, "quiz.csv", GOOD), "--metric", "ece", "--metric", "brier").out
    assert out.startswith("quiz.csv\n")
    lines = out.splitlines()
    (ece,) = [line for line in lines if line.startswith("│ given  │ ece")]
    assert "0.4000" in ece
    assert lines.count("given: as given, n=4/4") == 1
    assert "ece: ECE-L1, equal width, M=10, right-closed" in lines  # four rows have no p-value
    assert any(line.startswith("brier: Brier; 95 %: t interval") for line in lines)


def test_every_score_has_its_whole_recipe_in_the_lines_below(call: Call, tmp_path: Path) -> None:
    """What a line says of a metric and what another says of its method make up the recipe."""
    rows = (CHOICES.replace('"id": "', f'"id": "{number}') for number in range(20))
    path = write(tmp_path, "quiz.jsonl", "".join(rows))
    words = ("--method", "choice_softmax", "--method", "given")
    words += ("--metric", "ece", "--metric", "brier", "--metric", "full_ece")
    out, elements = call("score", path, *words).out, call("score", path, *words, "--json").elements
    texts = [line.split(": ", 1) for line in out.splitlines() if ": " in line]
    lines = dict(texts)  # remarks come before, and begin with a method, too
    for element in elements:
        method, metric = element["method"], element["metric"]
        (own,) = [
            text
            for names, text in lines.items()
            if names == metric or re.match(rf"{metric} by (\w+, )*{method}(,|$)", names)
        ]
        own, _, interval = own.partition("; 95 %: ")
        parts = [*own.split(", "), *lines[method].split(", ")]
        assert sorted(parts) == sorted(element["recipe"].split(", "))
        assert interval == (element["interval_method"] or "")
    assert len(elements) == 5


def test_a_wrong_option_is_answered_with_the_help_of_its_verb(call: Call) -> None:
    assert call("score", "quiz.csv", "--metrik", "ece").err.endswith(" score --help\n")
    assert call("scores", "quiz.csv").err.endswith((" -m calib_core --help\n", "calib --help\n"))


def test_the_smallest_possible_p_is_written_as_a_bound(call: Call, tmp_path: Path) -> None:
    wrong = write(tmp_path, "wrong.csv", "confidence,correct\n" + "0.9,0\n" * 40)
    assert call("score", wrong, "--metric", "ece").out.count("│ ≤ 0.005 │") == 1


def test_a_remark_is_reported_once(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, "quiz.jsonl", '{"choice_probs": [1.0, 0.0], "gold": "1"}\n')
    out = call("score", path, "--metric", "nll").out
    assert out.count("Infinite: the right answer was given probability 0 in 1 of 1 row.") == 1


SAMPLED = (
    '{"gold": "1", "samples": ["1", "2"], "confidence": 0.5, "correct": 1}\n'
    '{"gold": "1", "samples": ["1", "x"], "confidence": 0.5, "correct": 1}\n'
)


@pytest.mark.parametrize("verb", ["score", "check"])
def test_judged_answer_and_remarks_are_printed_once(call: Call, tmp_path: Path, verb: str) -> None:
    lines = call(verb, write(tmp_path, "quiz.jsonl", SAMPLED)).out.splitlines()
    three = "cluster_number, cluster_size, pairwise"
    assert lines.count(f"{three}: majority answer judged (the one that most samples give)") == 1
    assert lines.count(f"{three}: 1 tie, the first sampled answer taken") == 1
    assert lines.count(f"{three}: 1 sample does not parse") == 1
    greedy = "given: greedy answer judged (the model's one answer in the file, not a sample)"
    assert lines.count(greedy) == 1


@pytest.mark.parametrize(("verb", "of"), [("score", "given"), ("check", "given"), ("bins", "Rows")])
def test_a_suspicious_accuracy_is_said(call: Call, tmp_path: Path, verb: str, of: str) -> None:
    wrong = write(tmp_path, "wrong.csv", "confidence,correct\n" + "0.9,0\n" * 40)
    warning = "Suspicious: none of 40 answers counts as right."
    assert call(verb, wrong).out.count(f"{of}: {warning}") == 1
    assert any(warning in remark for remark in call("check", wrong, "--json").element["remarks"]["given"])


def test_check_lists_suspicions_with_an_example(call: Call, tmp_path: Path) -> None:
    """The same is suspected of both methods, and listed once."""
    rows = "".join(f"q{number},0.9,0.8,0\n" for number in range(40))
    wrong = write(tmp_path, "wrong.csv", f"id,confidence,verbal_confidence,correct\n{rows}")
    (warning,) = call("check", wrong, "--json").element["warnings"]
    assert warning == {
        "kind": "accuracy_near_zero",
        "message": "none of 40 answers counts as right. Check which columns were taken for the outcome and "
        "the right answer.",
        "example": "row 1 (id 'q0'): confidence 0.8, counts as wrong",
    }
    good = write(tmp_path, "quiz.csv", GOOD)
    assert [one["warnings"] for one in call("check", good, tmp_path / "gone.csv", "--json").elements] == [
        [],
        [],
    ]


def test_judged_answer_and_remarks_are_printed_with_bins(call: Call, tmp_path: Path) -> None:
    lines = call("bins", write(tmp_path, "q.jsonl", SAMPLED), "--method", "pairwise").out.splitlines()
    assert "Outcome: majority answer judged (the one that most samples give)" in lines
    assert "Rows: 1 sample does not parse" in lines


def test_bins_are_read_aloud(call: Call, tmp_path: Path) -> None:
    out = call("bins", write(tmp_path, "quiz.csv", GOOD)).out
    assert "quiz.csv: given, ece 0.4000\n" in out
    assert (
        "4 rows are too few for a verdict: states 65.0 % on average and is right 50.0 % of the time." in out
    )
    assert "\nECE-L1, equal width" in out


def test_a_gap_below_zero_has_a_minus_sign(call: Call, tmp_path: Path) -> None:
    out = call("bins", write(tmp_path, "quiz.csv", "confidence,correct\n0.4,1\n")).out
    (row,) = [line for line in out.splitlines() if "(0.3, 0.4]" in line]
    assert "−0.600" in row
    assert "-" not in row


def test_check_names_the_place_of_every_bad_value(call: Call, tmp_path: Path) -> None:
    out = call("check", write(tmp_path, "quiz.csv", BAD)).out
    assert "quiz.csv: 3 rows, 1 bad row, 1 run, read as table." in out
    assert "Bad: out of range, 1 row" in out
    assert "quiz.csv, row 2 (line 3), column 'confidence': expected a number from 0 to 1, found '1.8'." in out
    assert "Bad rows of this run: 1" in out


def test_check_counts_what_is_not_shown(call: Call, tmp_path: Path) -> None:
    rows = "0.5,1\n" + "1.5,1\n" * 25
    out = call("check", write(tmp_path, "quiz.csv", f"confidence,correct\n{rows}")).out
    assert "Bad: out of range, 25 rows" in out
    assert out.count("found '1.5'") == 20
    assert "… and 5 more" in out


def test_check_of_many_files_has_a_line_for_each_that_loads(call: Call, tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv", "c.csv"):
        write(tmp_path, name, "confidence,correct\n0.9,1\n0.8,0\n")
    assert "┃" in call("check", tmp_path).out
    write(tmp_path, "d.csv", "confidence,correct\n" + "5,1\n" * 6 + "0.9,1\n" * 9)
    write(tmp_path, "e.csv", "sure,right\nyes,1\n")
    answer = call("check", tmp_path)
    lines = answer.out.splitlines()
    assert lines[:3] == [f"{name}.csv: 2 rows, 1 run, read as table. Rows used: given: 2" for name in "abc"]
    assert lines[3] == "d.csv: 15 rows, 6 bad rows, 1 run, read as table."
    assert lines[4] == "Bad: out of range, 6 rows"
    assert lines[5].startswith("  d.csv, row 1 (line 2), column 'confidence': expected a number from 0 to 1")
    assert lines[6:8] == [f"  row {row} (line {row + 1}), column 'confidence': found '5'" for row in (2, 3)]
    assert lines[8] == "  … and 3 more"
    assert "e.csv has no column that Calib recognises" in answer.out
    assert "┃" not in answer.out
    assert answer.code == 3


def test_check_of_a_file_without_confidence(call: Call, tmp_path: Path) -> None:
    out = call("check", write(tmp_path, "quiz.csv", NOTHING)).out
    assert "no row has both a confidence and an outcome" in out
    assert "Accuracy of the greedy answer: 0.5000\n" in out
    without_one = call("check", write(tmp_path, "less.csv", f"{NOTHING}c,,\n")).out
    assert "Accuracy of the greedy answer: 0.5000, known of 2 of 3 rows" in without_one


def test_check_shows_the_row_counts(call: Call, tmp_path: Path) -> None:
    rows = "1.0000005,1,x\n" * 30 + ",1,x\n0.4,0,x\n"
    out = call("check", write(tmp_path, "quiz.csv", f"confidence,correct,note\n{rows}")).out
    assert "Values at most 1e-6 outside [0, 1], clipped: confidence (30)" in out
    assert "1 (30)" in out
    assert ": 1 " in out
    assert "Columns not read: note" in out


def test_check_proposes_columns(call: Call, tmp_path: Path) -> None:
    text = "id,confidence,correct,model_name\nq1,0.9,1,m\n"
    out = call("check", write(tmp_path, "quiz.csv", text)).out
    assert "--map model_name=model" in out
