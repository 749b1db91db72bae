"""Reliability lines of several runs and methods: the same bins, headline and caveats."""

from __future__ import annotations

import numpy as np
import pytest

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.inference.pairing import row_number_advice
from calib_core.inference.verdict import SIGNIFICANCE_LEVEL
from calib_core.methods import METHODS
from calib_core.methods.method import MethodOptions
from calib_core.results.changes import difference_text
from calib_core.results.evidence import AnswerEvidence, Evidence, gather_evidence
from calib_core.results.lines import MAX_LINES, TOO_MANY_LINES, reliability_lines
from calib_core.results.reliability import reliability_diagram
from calib_core.results.score import score
from calib_core.results.uncertainty import paired_difference
from core.comparison_runs import model_run
from core.run_builders import block_evidence, choice_evidence, given_evidence, make_answer_run
from core.token_run_builders import dense_evidence, random_rows

GIVEN = METHODS["given"].title


def quiz(*rights: int) -> dict[str, Evidence]:
    """Runs of 200 rows that are right so often, and say 0.8 where right, 0.3 where wrong."""
    return {f"m{right}": model_run(f"m{right}", right) for right in rights}


def test_each_line_is_the_diagram_of_its_run_on_the_same_bins() -> None:
    seen, scheme = quiz(60, 140), Scheme("mass", 7)
    lines = reliability_lines(seen, "mce", scheme)
    assert [line.key for line in lines.lines] == ["m60", "m140"]
    for line in lines.lines:
        alone = reliability_diagram(seen[line.key], "mce", scheme)
        assert line.result.table.equals(alone.table)
        assert line.result.score == alone.score
        assert line.recipe == alone.score.recipe
    assert lines.to_frame().height == sum(line.result.table.height for line in lines.lines)
    assert set(lines.to_frame()["recipe"]) == {line.recipe for line in lines.lines}


def test_the_summary_has_one_row_per_line_with_the_number_s_own_recipe() -> None:
    evidences = quiz(60, 140)
    frame = reliability_lines(evidences, titles={"m60": "sixty", "m140": "more"}).summary()
    assert frame["run"].to_list() == ["sixty", "more"]
    for key, row in zip(evidences, frame.iter_rows(named=True), strict=True):
        number = score(evidences[key], "ece")
        assert (row["value"], row["p"], row["recipe"]) == (number.value, number.p, number.recipe)
        assert (row["accuracy"], row["brier"]) == (evidences[key].accuracy, evidences[key].brier)
        assert (row["n_used"], row["n_total"]) == (200, 200)
    assert reliability_lines({}).summary().columns == frame.columns


def test_a_seventh_line_is_refused_with_the_reason() -> None:
    evidences = quiz(*range(20, 160, 20))
    lines = reliability_lines(evidences)
    assert len(evidences) == MAX_LINES + 1
    assert len(lines.lines) == MAX_LINES
    assert lines.unavailable == {"m140": TOO_MANY_LINES}


def test_runs_without_the_metric_do_not_count_towards_the_limit() -> None:
    able = quiz(*range(20, 140, 20))
    evidences = {"odd": given_evidence([0.5, 0.7], [1, 0]), **able}
    lines = reliability_lines(evidences, "cw_ece")
    assert set(lines.unavailable) == set(evidences)
    assert "not a whole distribution" in lines.unavailable["odd"]
    assert lines.headline == "None of the chosen runs can be drawn."
    assert lines.recipe == ""
    assert lines.to_frame().is_empty()
    with pytest.raises(Unavailable, match="no metric 'rouge'"):
        reliability_lines(able, "rouge")


def test_the_lowest_and_the_highest_are_named_and_the_metric_says_which_is_better() -> None:
    values = {key: score(one, "ece").value or 0.0 for key, one in quiz(60, 140, 100).items()}
    least, most = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    headline = reliability_lines(quiz(60, 140, 100)).headline
    assert headline.startswith(
        f"Lowest ECE: {least}, {values[least]:.4f}; highest: {most}, {values[most]:.4f}."
    )
    headline = reliability_lines(quiz(60, 140, 100), "accuracy").headline
    assert headline.startswith("Highest accuracy: m140, 0.7000; lowest: m60, 0.3000.")


def test_two_lines_have_a_paired_difference_and_what_may_be_claimed() -> None:
    evidences = quiz(60, 140)
    first, second = evidences.values()
    assert isinstance(first, AnswerEvidence)
    assert isinstance(second, AnswerEvidence)
    difference = paired_difference([(first, second)], "brier")
    lines = reliability_lines(evidences, "brier")
    assert lines.difference_sentence.startswith(
        f"Brier score of m140 minus that of m60: {difference_text(difference)}, p"
    )
    assert ("m140 is " in lines.difference_sentence) == (difference.p <= SIGNIFICANCE_LEVEL)
    same = reliability_lines({"m60": evidences["m60"], "other": model_run("other", 60)}, "brier")
    assert same.difference_sentence.endswith("no clear change.")
    assert not reliability_lines(quiz(60, 100, 140), "brier").difference_sentence
    assert not reliability_lines(quiz(60), "brier").difference_sentence


def test_lines_that_share_no_question_say_why_there_is_no_difference() -> None:
    lines = reliability_lines({"a": given_evidence([0.5] * 40, [1, 0] * 20), **quiz(60)}, "brier")
    assert lines.difference_sentence == (
        "Brier score question by question: not tested: model · quiz and m60 · quiz cannot be paired: both "
        f"need an id or the question's text in every row. {row_number_advice()}"
    )


def test_a_signed_metric_is_best_near_zero() -> None:
    evidences = {
        "low": block_evidence((0.2, 100, 45)),
        "near": block_evidence((0.5, 100, 51)),
        "high": block_evidence((0.9, 100, 60)),
    }
    headline = reliability_lines(evidences, "bias", titles={key: key for key in evidences}).headline
    assert "nearest to 0: near, −0.0100; farthest from it: high, 0.3000." in headline


def test_equal_numbers_are_said_to_be_equal() -> None:
    evidences = {"a": block_evidence((0.8, 100, 60)), "b": block_evidence((0.8, 200, 120))}
    assert reliability_lines(evidences, titles={"a": "a", "b": "b"}).headline == (
        "Both lines have the same ECE, 0.2000. Both are over-confident."
    )


def test_ties_at_an_end_are_all_named() -> None:
    evidences = {
        "a": block_evidence((0.8, 100, 60)),
        "b": block_evidence((0.8, 200, 120)),
        "c": block_evidence((0.9, 100, 50)),
    }
    headline = reliability_lines(evidences, titles={key: key for key in evidences}).headline
    assert headline.startswith("Lowest ECE: a and b, 0.2000; highest: c, 0.4000.")


def test_three_that_share_an_end_are_listed() -> None:
    seen = {key: block_evidence((0.8, 100, 60)) for key in "abd"} | {"c": block_evidence((0.9, 100, 50))}
    headline = reliability_lines(seen, titles={key: key for key in seen}).headline
    assert headline.startswith("Lowest ECE: a, b and d, 0.2000; highest: c, 0.4000.")


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (
            (0.9, 100, 50),
            "a · as given: over-confident, states 90.0 % on average and is right 50.0 % of the time.",
        ),
        (
            (0.9, 5, 4),
            (
                "a · as given: 5 rows are too few for a verdict, states 90.0 % on average and is right 80.0 "
                "% of the time."
            ),
        ),
    ],
)
def test_one_line_alone_is_named_in_its_sentence(block: tuple[float, int, int], message: str) -> None:
    lines = reliability_lines({"a": block_evidence(block)}, titles={"a": "a"})
    assert lines.headline == message.replace("as given", METHODS["given"].short_title)


def test_one_model_asked_with_more_shots_is_named_though_its_lines_are_not() -> None:
    qwen = "Qwen/Qwen2.5-1.5B-Instruct"
    evidences = {f"{shots}": model_run(qwen, 60 + shots, shots=shots) for shots in (0, 5)}
    lines = reliability_lines(evidences, titles={key: f"{qwen} · quiz · {key}-shot" for key in evidences})
    assert list(lines.labels.values()) == ["0-shot", "5-shot"]
    assert lines.headline.startswith("Lowest ECE: Qwen2.5-1.5B-Instruct · 5-shot, ")


def test_verdicts_are_counted_and_chance_is_not_one() -> None:
    evidences = {
        "over": block_evidence((0.9, 200, 100)),
        "under": block_evidence((0.3, 200, 150)),
        "level": block_evidence((0.5, 200, 101)),
        "few": block_evidence((0.9, 5, 0)),
    }
    assert reliability_lines(evidences).headline.endswith(
        "Of the 4 lines, 1 is over-confident, 1 is under-confident, 1 shows no evidence of miscalibration "
        "and 1 has too few rows."
    )


def test_calibrated_lines_are_not_said_to_be_over_confident() -> None:
    random = np.random.default_rng(5)
    seen: dict[str, Evidence] = {}
    for key in "abcdef":
        confidence = random.uniform(0.1, 0.9, 400)
        seen[key] = given_evidence(confidence, random.random(400) < confidence)
    lines = reliability_lines(seen)
    assert len(set(lines.labels.values())) == 6
    assert lines.headline.endswith("All 6 show no evidence of miscalibration.")


def test_one_line_speaks_for_itself() -> None:
    (line,) = (result := reliability_lines(quiz(60))).lines
    assert result.headline == f"m60 · {GIVEN}: o{line.result.headline[1:].replace(': states', ', states')}"


def test_an_undefined_number_is_neither_lowest_nor_highest() -> None:
    right = given_evidence([0.5] * 40, [1] * 40)
    one = reliability_lines({"right": right, "m60": model_run("m60", 60, unsure=0.9)}, "auroc").headline
    assert "AUROC 0.0000. The value is unknown or infinite for 1 of the 2 lines." in one
    assert (
        "AUROC is not known for any of the 2 lines."
        in reliability_lines({"a": right, "b": right}, "auroc").headline
    )


def test_shared_settings_are_not_repeated_for_each_line() -> None:
    by_run = reliability_lines(quiz(60, 140))
    assert (by_run.shared_label, dict(by_run.labels)) == (GIVEN, {"m60": "m60", "m140": "m140"})
    run = make_answer_run(
        {"confidence": [0.4] * 40, "verbal_confidence": [0.6] * 40, "correct": [True, False] * 20}
    )
    of_one = reliability_lines(
        {id_: gather_evidence(run, id_) for id_ in ("given", "verbal")},
        titles=dict.fromkeys(("given", "verbal"), "the quiz"),
    )
    assert of_one.shared_label == "the quiz"
    assert dict(of_one.labels) == {id_: METHODS[id_].heading for id_ in ("given", "verbal")}
    mixed = reliability_lines({**quiz(60), "verbal": gather_evidence(run, "verbal")})
    assert mixed.shared_label == ""
    assert mixed.labels["m60"] == f"m60 · {GIVEN}"


def test_methods_have_short_distinct_names_beside_a_run() -> None:
    brief = {METHODS[id_].title.rpartition(", ")[2] for id_ in METHODS}
    assert len(brief) == len(METHODS)
    sampled = make_answer_run({"samples": [["1", "1", "2"]] * 40, "gold": ["1"] * 40})
    lines = reliability_lines({"s": gather_evidence(sampled, "cluster_size"), **quiz(60)})
    assert lines.labels["s"].endswith(" · F_CS")


def test_the_recipe_is_reported_once_where_it_is_one() -> None:
    assert reliability_lines(quiz(60, 140)).recipe == score(quiz(60)["m60"], "ece").recipe
    two = reliability_lines(
        {"a": block_evidence((0.8, 100, 60)), "b": block_evidence((0.8, 200, 120))},
        titles={"a": "a", "b": "b"},
    )
    assert two.recipe.startswith("a: ECE-L1")
    assert "; b: ECE-L1" in two.recipe


def test_lines_with_different_settings_have_a_remark() -> None:
    assert reliability_lines(quiz(60, 140)).caveats == ()
    other = {"m60": model_run("m60", 60), "sums": model_run("sums", 100, dataset="sums")}
    (caveat,) = reliability_lines(other).caveats
    assert caveat.startswith(
        "The lines come from 2 data sets with different questions: quiz (m60); sums (sums"
    )
    rows = make_answer_run(
        {
            "choice_probs": [[0.7, 0.3], [0.2, 0.8]] * 20,
            "gold_index": [0, 1] * 20,
            "confidence": [0.5] * 40,
            "correct": [True, False] * 20,
        }
    )
    judged = reliability_lines({id_: gather_evidence(rows, id_) for id_ in ("given", "choice_softmax")})
    assert any(text.startswith("The lines are judged by different outcomes: ") for text in judged.caveats)


def test_token_and_answer_lines_differ_in_what_is_pooled() -> None:
    probs, target = random_rows(300, 5)
    tokens = dense_evidence(probs, target)
    answers = given_evidence([0.6] * 200, [1, 0] * 100)
    lines = reliability_lines({"t": tokens, "a": answers})
    pooled = [text for text in lines.caveats if text.startswith("The lines pool different pairs")]
    assert len(lines.lines) == 2
    assert len(pooled) == 1
    assert "one pair per position of a text" in pooled[0]
    assert "one pair per question" in pooled[0]


def test_mixed_label_pooling_has_a_remark_and_no_verdict() -> None:
    every = choice_evidence([[0.7, 0.3], [0.2, 0.8]] * 20, [0, 1] * 20, MethodOptions(labels="all"))
    lines = reliability_lines({"all": every, "top": given_evidence([0.6] * 40, [1, 0] * 20)})
    assert [line.verdict and line.verdict.kind for line in lines.lines] == [None, "none"]
    over = {"all": every, "a": block_evidence((0.9, 200, 100)), "b": block_evidence((0.8, 200, 90))}
    assert reliability_lines(over).headline.endswith(
        "Of the 2 lines that pool one pair per row or position, 2 are over-confident."
    )
    assert any("a pair for every class of a question (all labels, K=2)" in text for text in lines.caveats)


def test_many_more_rows_are_remarked_with_what_that_does() -> None:
    evidences = {"a": block_evidence((0.8, 40, 24)), "b": block_evidence((0.8, 400, 240))}
    assert "The lines have 40 to 400 rows or positions; with fewer rows, ECE is larger by chance." in (
        reliability_lines(evidences).caveats
    )
    assert "The lines have 40 to 400 rows or positions." in reliability_lines(evidences, "brier").caveats


def test_twice_as_many_rows_are_remarked_and_fewer_are_not() -> None:
    rows = "The lines have 40 to 80 rows or positions."
    twice = reliability_lines(
        {"a": block_evidence((0.8, 40, 24)), "b": block_evidence((0.8, 80, 48))}, "brier"
    )
    assert rows in twice.caveats
    nearly = reliability_lines(
        {"a": block_evidence((0.8, 40, 24)), "b": block_evidence((0.8, 79, 48))}, "brier"
    )
    assert nearly.caveats == ()
