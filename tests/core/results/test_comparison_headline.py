"""The headline names a best run only where it is alone and has enough rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from calib_core.methods import METHODS
from calib_core.results.comparison import compare_runs
from calib_core.results.evidence import AnswerEvidence, Evidence, gather_evidence
from core.comparison_runs import model_run
from core.run_builders import make_answer_run


def with_method(method: str, evidence: AnswerEvidence) -> Evidence:
    return replace(evidence, method=METHODS[method])


def test_two_methods_that_say_the_same_are_no_better_than_one_another() -> None:
    evidences = {
        id_: with_method(id_, model_run("a", 83)) for id_ in ("choice_softmax", "choice_length_normalised")
    }
    assert compare_runs(evidences).headline == (
        "a, judged by its logit, softmax over the choices, beats a constant guess by most (+0.715); a by its "
        "logit, length-normalised scores the same."
    )
    evidences |= {"b": with_method("choice_softmax", model_run("b", 30))}
    assert compare_runs(evidences).headline == (
        "a, judged by its logit, softmax over the choices, beats a constant guess by most (+0.715); a by its "
        "logit, length-normalised scores the same. It is also the most accurate (41.5 %)."
    )


def test_runs_that_cannot_be_told_from_the_best_are_named_with_it() -> None:
    seen: dict[str, Evidence] = {"a": model_run("a", 120), "b": model_run("b", 118), "c": model_run("c", 60)}
    accuracy = compare_runs(seen).headline.partition(". ")[2]
    assert accuracy == "It is also the most accurate (60.0 %); its lead over b may be chance."
    seen |= {name: model_run(name, 119) for name in "defg"}
    accuracy = compare_runs(seen).headline.partition(". ")[2]
    assert accuracy == "It is also the most accurate (60.0 %); its lead over 5 others may be chance."


def with_ids(evidence: AnswerEvidence, start: int) -> AnswerEvidence:
    """The same rows as other questions, numbered from `start` on."""
    rows = evidence.run.rows.with_columns(
        id=pl.Series([f"q{start + at}" for at in range(evidence.run.rows.height)])
    )
    return gather_evidence(replace(evidence.run, rows=rows), "given")


def test_the_highest_of_those_compared_is_not_called_the_highest_of_all() -> None:
    """Nothing is said of the one with the best value, which shares no question with two of the others."""
    seen: dict[str, Evidence] = {
        "a": model_run("a", 80),
        "b": model_run("b", 60),
        "c": with_ids(model_run("c", 120), 500),
    }
    comparison = compare_runs(seen)
    assert comparison.headline.endswith(
        ". No run can be called the most accurate: the one with the best value cannot be compared with every "
        "other."
    )
    assert all("accuracy" not in best for best in comparison.best_by.values())
    seen["c"] = with_ids(model_run("c", 40), 500)
    assert compare_runs(seen).headline.endswith(
        ". Of the 2 runs that can be compared, a is also the most accurate (40.0 %)."
    )


def test_where_no_two_runs_share_questions_that_is_said_once() -> None:
    seen: dict[str, Evidence] = {"a": model_run("a", 80), "b": with_ids(model_run("b", 60), 500)}
    comparison = compare_runs(seen)
    assert comparison.headline == "No two runs can be compared on the same questions."
    (said,) = (remark for remark in comparison.remarks if "question in common" in remark)
    assert said == "1 of 1 pair of points cannot be compared: the two runs have no question in common."


def with_confidences(evidence: AnswerEvidence, n_with: int, column: str = "confidence") -> AnswerEvidence:
    """The same run with so many confidences, or outcomes, from the first row on."""
    known = pl.int_range(evidence.run.rows.height, eager=True) < n_with
    rows = evidence.run.rows.with_columns(pl.when(known).then(column).alias(column))
    return gather_evidence(replace(evidence.run, rows=rows), "given")


def test_a_number_of_some_rows_says_of_how_many() -> None:
    for n_with, note in ((179, " on 179 of 200 rows"), (180, "")):
        part = with_confidences(model_run("a", 120), n_with, "correct")
        headline = compare_runs({"a": part, "b": model_run("b", 30)}).headline
        assert "beats a constant guess by most (+0.7" in headline
        assert f"{note}). It is also the most accurate (" in headline
        assert headline.endswith(f" %{note}).")


def test_values_of_a_run_that_lacks_a_tenth_of_its_confidences_win_nothing_but_accuracy() -> None:
    """The first run is best by far where it has a confidence."""
    a, others = (
        model_run("a", 120),
        {"b": model_run("b", 80, unsure=0.4), "c": model_run("c", 60, unsure=0.4)},
    )
    lacking, nearly = with_confidences(a, 180), with_confidences(a, 181)
    hollow = compare_runs({"a": lacking, **others})
    assert hollow.headline.startswith("b beats a constant guess by most (+0.")
    assert hollow.headline.endswith(". a is the most accurate (60.0 %).")
    assert hollow.best_by["a"] == ("accuracy",)
    assert hollow.caveats == (
        "Not ranked: a lacks confidences on 10.0 % of rows, which are right less often.",
    )
    full = compare_runs({"a": nearly, **others})
    assert full.headline.startswith("a beats a constant guess by most (+0.")
    assert full.best_by["a"] == ("brier_skill", "accuracy", "brier")
    assert full.caveats == ()
    two = compare_runs({"a": lacking, "b": with_confidences(others["b"], 100), "c": others["c"]})
    assert two.headline.startswith("No run is best by its confidences: the others lack one on a tenth")
    assert two.caveats[0] == "Not ranked: a and b lack confidences on a tenth or more of their rows."
    sure = {name: model_run(name, 100, sure=0.2, unsure=0.9) for name in "bc"}
    none = compare_runs({"a": lacking, **sure}).headline
    assert none.startswith(
        "No run with a confidence on nearly every row beats a constant guess. a is the most"
    )


def test_a_difference_that_questions_share_is_clear_though_the_intervals_overlap() -> None:
    random = np.random.default_rng(5)
    said = random.uniform(0, 0.9, 3000)
    right = random.random(3000) < said
    seen: dict[str, Evidence] = {
        name: gather_evidence(
            make_answer_run(
                {"id": [f"q{at}" for at in range(3000)], "confidence": said + off, "correct": right},
                label=name,
            ),
            "given",
        )
        for name, off in (("a", 0.0), ("b", 0.07))
    }
    comparison = compare_runs(seen)
    a, b = (point.brier for point in comparison.points)
    assert a.high is not None
    assert b.low is not None
    assert a.high > b.low
    assert comparison.headline.startswith("a beats a constant guess by most (+0.2")
    assert comparison.best_by == {"a": ("brier_skill", "accuracy", "brier"), "b": ("accuracy",)}


def test_worse_than_always_saying_the_accuracy_is_never_best() -> None:
    seen: dict[str, Evidence] = {
        "a": model_run("a", 100, sure=0.2, unsure=0.9),
        "b": model_run("b", 101, sure=0.1, unsure=0.9),
    }
    assert compare_runs(seen).headline.startswith("No run beats a constant guess. ")


def test_few_rows_are_described_as_few_and_never_beat_many() -> None:
    two = model_run("a", 1, of=2)
    assert compare_runs({"a": two}).headline == (
        "2 rows are too few for a verdict: a has accuracy 50.0 % and Brier score 0.0650."
    )
    assert "too few" not in compare_runs({"a": model_run("a", 15, of=30)}).headline
    seen: dict[str, Evidence] = {"a": two, "b": model_run("b", 80), "c": model_run("c", 60)}
    comparison = compare_runs(seen)
    assert comparison.headline.endswith(". It is also the most accurate (40.0 %).")
    assert "1 of 3 points has fewer than 30 rows, too few to be called the best." in comparison.remarks
    assert compare_runs({"a": model_run("a", 1, of=1)}).headline.startswith(
        "1 row is too few for a verdict: "
    )


def test_one_model_asked_with_more_shots_is_named_though_its_points_are_not() -> None:
    qwen = "Qwen/Qwen2.5-1.5B-Instruct"
    seen: dict[str, Evidence] = {
        f"{shots}": model_run(qwen, right, shots=shots) for shots, right in ((0, 60), (5, 120))
    }
    comparison = compare_runs(seen, titles={key: f"{qwen} · quiz · {key}-shot" for key in seen})
    assert [point.name for point in comparison.points] == ["0-shot", "5-shot"]
    assert comparison.headline == (
        "Qwen2.5-1.5B-Instruct · 5-shot beats a constant guess by most (+0.750). It is also the most "
        "accurate (60.0 %)."
    )


def test_the_number_of_methods_is_stated_where_some_are_left_out() -> None:
    evidences = {"a": model_run("a", 120), "b": model_run("b", 60)}
    told = compare_runs(evidences, available_methods=("given", "p_true", "verbal")).remarks
    assert told == ("1 of 3 methods is compared.",)
    assert compare_runs(evidences, available_methods=("given",)).remarks == ()
