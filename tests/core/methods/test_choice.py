"""The top label of a decision is its likeliest choice, and the stored choice only breaks ties."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from calib_core.errors import Unavailable
from calib_core.methods import METHODS, choice, in_order, methods_of
from calib_core.results.evidence import survey_methods
from calib_core.results.score import score
from calib_core.runs import RunInfo, forget_last_run
from core.confidence_runs import confidences, run_of

OPTIONS, LEVELS = RunInfo(choices_are="options"), RunInfo(choices_are="levels")


def decision(probs: list[float], gold: int, prediction: str | None = None) -> dict[str, Any]:
    choices = list("abcdef"[: len(probs)])
    return {"choices": choices, "choice_probs": probs, "gold_index": gold, "prediction": prediction}


@pytest.mark.parametrize(
    ("probs", "prediction", "top"),
    [
        ([0.4, 0.4, 0.2], None, "a"),
        ([0.4, 0.4, 0.2], "b", "b"),
        ([0.4, 0.4, 0.2], "c", "a"),
        ([0.2, 0.5, 0.3], "a", "b"),
        ([0.2, 0.5, 0.3], "elsewhere", "b"),
    ],
)
def test_the_stored_choice_breaks_ties_only(probs: list[float], prediction: str | None, top: str) -> None:
    result = confidences("choice", run_of([decision(probs, 1, prediction)], OPTIONS))
    assert result.answers is not None
    assert result.answers.to_list() == [top]
    assert result.pairs.confidence.tolist() == [max(probs)]
    assert result.pairs.correct.tolist() == [top == "b"]


def test_a_stored_choice_that_trails_clearly_is_told() -> None:
    rows = [decision([0.2, 0.5, 0.3], 1, "a"), decision([0.3, 0.304, 0.396], 1, "c")]
    (remark,) = confidences("choice", run_of(rows, OPTIONS)).remarks
    assert remark.startswith("in 1 row the stored choice is not the likeliest, by up to 0.3")
    near = [decision([0.498, 0.502], 1, "a")]
    assert confidences("choice", run_of(near, OPTIONS)).remarks == ()


def test_an_event_is_read_over_yes_and_no_and_half_is_yes() -> None:
    rows = [
        {"event_prob": 0.25, "event": False},
        {"event_prob": 0.5, "event": True},
        {"event_prob": 0.5, "event": False},
        {"event_prob": 0.75, "event": None},
    ]
    run = run_of(rows, OPTIONS)
    result = confidences("choice", run)
    assert result.answers is not None
    assert result.answers.to_list() == ["no", "yes", "yes"]
    assert result.pairs.confidence.tolist() == [0.75, 0.5, 0.5]
    assert result.pairs.correct.tolist() == [True, True, False]
    assert list(survey_methods(run).usable) == ["event", "choice"]
    assert list(survey_methods(run_of(rows)).usable) == ["event"]


def test_sums_are_left_as_printed_and_the_worst_is_told() -> None:
    run = run_of([decision([0.33, 0.33, 0.32], 0), decision([0.5, 0.3, 0.2], 0)], OPTIONS)
    result = confidences("choice", run)
    assert result.pairs.confidence.tolist() == [0.33, 0.5]
    assert result.remarks == ("1 row has probabilities that do not sum to 1 as printed, at worst 0.98",)
    evidence = survey_methods(run).usable["choice"]
    assert score(evidence, "brier_multi").value == pytest.approx(
        (0.67**2 + 0.33**2 + 0.32**2 + 0.5**2 + 0.3**2 + 0.2**2) / 2
    )
    renormalised = confidences("choice", run, renormalise=True)
    assert renormalised.pairs.confidence.tolist() == pytest.approx([0.33 / 0.98, 0.5])


def test_one_method_reads_the_probabilities_of_a_decision_and_of_any_other_run() -> None:
    rows = [decision([0.6, 0.4], 0)]
    assert list(survey_methods(run_of(rows, OPTIONS)).usable) == ["choice"]
    assert list(survey_methods(run_of(rows)).usable) == ["choice_softmax"]
    with pytest.raises(Unavailable, match="not a decision"):
        confidences("choice", run_of(rows))


def test_each_cut_of_a_scale_is_an_event() -> None:
    run = run_of([decision([0.25, 0.25, 0.5], 1)], LEVELS)
    assert [id_ for id_ in methods_of(run) if "." in id_] == ["at_least.1", "at_least.2"]
    found = {id_: METHODS[id_].compute for id_ in ("at_least.1", "at_least.2")}
    assert all(found.values())
    pairs = survey_methods(run).usable
    assert [pairs[id_].mean_confidence for id_ in found] == [0.75, 0.5]
    assert [pairs[id_].accuracy for id_ in found] == [1.0, 0.0]
    assert METHODS["at_least.2"].probability_of == "event"
    assert in_order(["at_least.10", "at_least.9", "choice"]) == ["choice", "at_least.9", "at_least.10"]


def test_no_cut_is_beyond_the_scale_and_options_have_none() -> None:
    row = decision([0.25, 0.25, 0.5], 1)
    for info, cut, reason in ((LEVELS, 3, "no level 3"), (OPTIONS, 1, "no order")):
        with pytest.raises(Unavailable, match=reason):
            confidences(f"at_least.{cut}", run_of([row], info))
    with pytest.raises(KeyError):
        METHODS["at_least.0"]


def test_the_distribution_is_made_once_for_all_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Mock(wraps=choice._positions)
    monkeypatch.setattr(choice, "_positions", made)
    run = run_of([decision([0.2, 0.5, 0.3], 1), decision([0.3, 0.3, 0.4], 2)], LEVELS)
    forget_last_run()
    assert {"choice", "at_least.1", "at_least.2"} <= survey_methods(run).usable.keys()
    assert made.call_count == 1
