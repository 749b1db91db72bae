"""Is a run before and after recalibration what its rows say, and does its map survive as JSON and Python?"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import calib_core
from calib_core.errors import Refused, Unavailable
from calib_core.inference.recalibration import EPSILON, MAP_KINDS, Levels, out_of_fold
from calib_core.methods.method import MethodOptions
from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.results.recalibration import (
    COVERAGE,
    MOST_UNCONFIRMED,
    SUMS_ONLY,
    Recalibration,
    recalibrate,
)
from calib_core.results.recalibration_map import RecalibrationMap
from core.run_builders import choice_evidence, given_evidence
from core.token_run_builders import random_rows


def evidence_of(c: np.ndarray, y: np.ndarray, **columns: list[str]) -> AnswerEvidence:
    return given_evidence(c, y.tolist(), id=[str(at) for at in range(c.size)], **columns)


def over_confident(n: int = 400, seed: int = 0) -> AnswerEvidence:
    random = np.random.default_rng(seed)
    c = np.round(random.uniform(0.5, 1, n), 2)
    return evidence_of(c, random.random(n) < c - 0.25)


def test_every_number_is_that_of_the_held_out_rows() -> None:
    evidence = over_confident()
    result = recalibrate(evidence, "platt", folds=4, seed=3)
    pairs = evidence.confidences.pairs
    confidence = pairs.confidence.astype(np.float64)
    p = out_of_fold(MAP_KINDS["platt"], confidence, pairs.correct, None, 4, 3)
    assert result.after["brier"] == pytest.approx(float(((p - pairs.correct) ** 2).mean()))
    assert result.after["nll"] == pytest.approx(float(-np.log(np.where(pairs.correct, p, 1 - p)).mean()))
    assert result.before["ece"] == calib_core.score(evidence.run, method="given", metric="ece").value
    change = (p - pairs.correct) ** 2 - (pairs.confidence - pairs.correct) ** 2
    half = 1.9659 * change.std(ddof=1) / np.sqrt(change.size)
    brier = result.differences["brier"]
    assert brier.value == pytest.approx(change.mean())
    assert (brier.low, brier.high) == (
        pytest.approx(change.mean() - half, abs=1e-5),
        pytest.approx(change.mean() + half, abs=1e-5),
    )
    assert result.gains
    assert result.headline.startswith("Platt recalibration lowers the Brier score: −0.0")
    assert "4 folds by question, seed 3" in result.recipe
    assert result.to_frame()["after"].to_list() == [
        result.after[metric] for metric in ("ece", "brier", "nll")
    ]


def test_the_map_is_fitted_to_all_rows() -> None:
    evidence = over_confident()
    pairs = evidence.confidences.pairs
    fitted = recalibrate(evidence, "beta").map
    assert dict(fitted.parameters) == MAP_KINDS["beta"].fit(
        Levels.from_pairs(pairs.confidence.astype(np.float64), pairs.correct)
    )


def test_a_calibrated_run_has_nothing_to_gain() -> None:
    random = np.random.default_rng(1)
    c = np.round(random.uniform(0.2, 1, 500), 2)
    result = recalibrate(evidence_of(c, random.random(500) < c), "isotonic")
    assert not result.gains
    assert result.headline.startswith("No clear gain: Isotonic recalibration changes the Brier score by +0.0")


def test_a_lower_score_within_chance_is_no_gain() -> None:
    random = np.random.default_rng(0)
    c = np.round(random.uniform(0.5, 1, 100), 2)
    result = recalibrate(evidence_of(c, random.random(100) < c - 0.12), "platt")
    assert result.differences["brier"].value < -0.03
    assert not result.gains
    assert result.headline.startswith("No clear gain")


def test_an_infinite_loss_has_no_difference() -> None:
    c = np.array([1.0, 0.6] * 30)
    result = recalibrate(evidence_of(c, np.arange(60) % 5 > 0), "histogram")
    assert result.before["nll"] == float("inf")
    assert np.isfinite(result.after["nll"])
    assert "nll" not in result.differences
    assert result.no_difference["nll"] == "The log loss is infinite: 6 outcomes had probability 0."


def test_a_temperature_is_of_all_choices_where_there_are_some() -> None:
    random = np.random.default_rng(2)
    logits = random.standard_normal((300, 4))
    chance, stated = (np.exp(t * logits) / np.exp(t * logits).sum(axis=1, keepdims=True) for t in (1, 2.5))
    evidence = choice_evidence(stated.tolist(), [int(random.choice(4, p=row)) for row in chance])
    result = recalibrate(evidence, "temperature")
    assert result.map.target == "choices"
    assert result.map.parameters["temperature"] == pytest.approx(2.5, rel=0.2)
    assert result.recalibrated.has_distribution
    assert np.array_equal(result.recalibrated.confidences.pairs.correct, evidence.confidences.pairs.correct)
    assert recalibrate(evidence, "platt").map.target == "confidence"
    with pytest.raises(Unavailable, match="temperature of all choices"):
        result.map.of_evidence(over_confident())
    with pytest.raises(Unavailable, match="top label"):
        recalibrate(gather_evidence(evidence.run, "choice_softmax", MethodOptions(labels="all")), "platt")


def test_rows_without_ids_are_compared_too() -> None:
    evidence = given_evidence(np.tile([0.6, 0.9], 40), (np.arange(80) % 3 > 0).tolist())
    assert "brier" in recalibrate(evidence, "platt").differences


def test_what_cannot_be_recalibrated_says_why(tmp_path: Path) -> None:
    few = evidence_of(
        np.array([0.1, 0.9, 0.8, 0.7] * 2), np.array([0, 1, 1, 0] * 2), trial_of=["a", "a", "b", "b"] * 2
    )
    with pytest.raises(Unavailable, match=r"5 folds need at least 5 questions .* there are 2"):
        recalibrate(few, "platt")
    with pytest.raises(Unavailable, match=r"There is no map 'spline'\. Maps: temperature, platt"):
        recalibrate(over_confident(), "spline")
    with pytest.raises(ValueError, match="folds must be from 2 to 50"):
        recalibrate(over_confident(), "platt", folds=1)
    unjudged = recalibrate(over_confident(20), "platt")
    assert unjudged.headline == "Platt: not judged. 20 questions, fewer than 30."
    nearly_all_right = evidence_of(np.linspace(0.9, 0.99, 200), (np.arange(200) >= 9).astype(int))
    assert recalibrate(nearly_all_right, "platt").headline == (
        "Platt: not judged. 9 wrong answers, fewer than 10."
    )
    one_more = evidence_of(np.linspace(0.9, 0.99, 200), (np.arange(200) >= 10).astype(int))
    assert "not judged" not in recalibrate(one_more, "platt").headline
    probs, target = random_rows(50, 6, seed=4)
    np.savez(tmp_path / "text.npz", probs=probs, target=target)
    with pytest.raises(Unavailable, match="keeps sums only") as refusal:
        recalibrate(gather_evidence(calib_core.load(tmp_path / "text.npz")[0], "tokens"), "platt")
    assert str(refusal.value) == SUMS_ONLY


def test_the_shares_of_the_caption_are_the_measured_ones() -> None:
    page = (Path(__file__).parents[3] / "benchmarks" / "recalibration.md").read_text(encoding="utf-8")
    unconfirmed, _, held = (
        [float(cell.removesuffix(" %")) for cell in re.findall(r"\d+\.\d %", part)]
        for part in page.split("\n## ")[1:]
    )
    assert len(held) == len(unconfirmed) >= 5 * 7 * len(MAP_KINDS)
    assert max(unconfirmed) == MOST_UNCONFIRMED
    assert (min(held), max(held)) == COVERAGE


# --- The map as JSON and as Python ------------------------------------------------------------------------


def fitted(by: str) -> Recalibration:
    return recalibrate(over_confident(200), by)


@pytest.mark.parametrize("by", MAP_KINDS)
def test_json_and_python_give_the_same_values(by: str) -> None:
    result = fitted(by)
    again = RecalibrationMap.from_json(result.map.to_json().encode(), "MAP.json")
    other = evidence_of(np.array([0.0, 0.123, 0.5, 0.777, 0.98, 1.0]), np.array([0, 1, 0, 1, 1, 0]))
    applied = again.of_evidence(other).confidences.pairs.confidence
    assert np.array_equal(applied, result.map.of_evidence(other).confidences.pairs.confidence)
    names: dict[str, Any] = {}
    exec(result.map.to_python(), names)  # noqa: S102  the code that Calib wrote
    by_python = [names["recalibrate"](c) for c in other.confidences.pairs.confidence.tolist()]
    assert by_python == pytest.approx(applied.tolist(), abs=1e-12)


def test_python_of_choices_gives_the_same_values() -> None:
    probs = [[0.9 - at % 5 / 10, 0.1 + at % 5 / 10] for at in range(40)]
    evidence = choice_evidence(probs, [at % 3 % 2 for at in range(40)])
    result = recalibrate(evidence, "temperature")
    again = RecalibrationMap.from_json(result.map.to_json())
    distribution = again.of_evidence(evidence).confidences.distribution
    assert distribution is not None
    names: dict[str, Any] = {}
    exec(result.map.to_python(), names)  # noqa: S102  the code that Calib wrote
    assert names["recalibrate"]([0.9, 0.1]) == pytest.approx(distribution.probs[:2].tolist(), abs=1e-12)
    assert sum(names["recalibrate"]([1.0, 0.0])) == pytest.approx(1)


def test_a_hostile_run_name_stays_a_comment() -> None:
    result = fitted("platt")
    hostile = RecalibrationMap(
        **{
            **{name: getattr(result.map, name) for name in result.map.__slots__},
            "run": 'x"\nimport os\r\u2028raise SystemExit',
        }
    )
    names: dict[str, Any] = {}
    exec(hostile.to_python(), names)  # noqa: S102  the code that Calib wrote
    assert "os" not in names
    assert hostile.to_python().count("\n") == result.map.to_python().count("\n")


def changed(by: str, values: dict[str, object]) -> bytes:
    document = json.loads(fitted(by).map.to_json())
    return json.dumps({**document, **values}).encode()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "expected a JSON document"),
        (b"\xff\xfe", "expected a JSON document"),
        (b"[" * 100_000, "expected a JSON document"),
        (b"[1]", "expected a JSON object with calib_map"),
        (b'{"calib_map": NaN}', "expected a JSON document"),
        (b'{"calib_map": true}', "calib_map: expected 1, found True"),
        (b" " * 8_000_001, "at most 8,000,000"),
    ],
)
def test_what_is_no_map_is_refused(data: bytes, expected: str) -> None:
    with pytest.raises(Refused, match=f"^bad.json.*{expected}"):
        RecalibrationMap.from_json(data, "bad.json")


@pytest.mark.parametrize(
    ("by", "values", "expected"),
    [
        ("platt", {"calib_map": 2}, "calib_map: expected 1, found 2"),
        ("platt", {"by": "spline"}, "by: expected one of temperature"),
        ("platt", {"by": ["platt"]}, "by: expected a text"),
        ("platt", {"target": "choices"}, 'target: expected "confidence", or "choices" for a temperature'),
        ("platt", {"epsilon": 0.1}, "epsilon: expected 0.0001"),
        ("platt", {"parameters": []}, "parameters: expected an object"),
        ("platt", {"parameters": {"slope": 1}}, 'parameters: expected the keys "slope", "intercept"'),
        ("platt", {"parameters": {"slope": True, "intercept": 0}}, "slope: expected a number, found True"),
        ("platt", {"parameters": {"slope": 10**400, "intercept": 0}}, "slope: expected a finite number"),
        ("temperature", {"parameters": {"temperature": 0}}, "temperature: expected a number from 0.05 to 20"),
        ("beta", {"parameters": {"a": -1, "b": 1, "intercept": 0}}, "a: expected a number from 0"),
        (
            "isotonic",
            {"parameters": {"confidence": [0.5, 0.4], "probability": [0, 1]}},
            "confidence: expected ascending",
        ),
        (
            "isotonic",
            {"parameters": {"confidence": [], "probability": []}},
            "probability: expected 0 numbers",
        ),
        (
            "histogram",
            {"parameters": {"edges": [0.5], "probability": [1]}},
            "probability: expected 2 numbers",
        ),
        (
            "histogram",
            {"parameters": {"edges": [0.5], "probability": [0, 2]}},
            "probability: expected numbers from 0 to 1",
        ),
        (
            "histogram",
            {"parameters": {"edges": "0.5", "probability": [0, 1]}},
            "edges: expected a list of numbers",
        ),
        ("platt", {"run": 3}, "run: expected a text"),
        ("platt", {"n_rows": -1}, "n_rows: expected a whole number"),
        ("platt", {"folds": 2.5}, "folds: expected a whole number"),
    ],
)
def test_a_map_with_a_wrong_value_is_refused(by: str, values: dict[str, object], expected: str) -> None:
    with pytest.raises(Refused) as refusal:
        RecalibrationMap.from_json(changed(by, values), "MAP.json")
    assert str(refusal.value).startswith(f"MAP.json, {expected}")
    assert "Make the map again" in str(refusal.value)


def test_the_epsilon_is_the_centre_of_the_finest_bin() -> None:
    assert json.loads(fitted("platt").map.to_json())["epsilon"] == EPSILON == pytest.approx(1 / 6000)


def test_a_fitted_map_is_a_function_of_arrays_and_applies_to_other_runs() -> None:
    rng = np.random.default_rng(3)
    confidence = rng.uniform(0.5, 0.99, 400)
    correct = rng.uniform(size=400) < confidence - 0.2
    (fitted_on,) = calib_core.load(confidence=confidence[:300], correct=correct[:300])
    later = {"id": [f"q{at}" for at in range(100)], "confidence": confidence[300:], "correct": correct[300:]}
    (other,) = calib_core.load(later)
    result = calib_core.recalibrate(fitted_on)
    slope, intercept = (result.map.parameters[name] for name in ("slope", "intercept"))
    assert isinstance(slope, float)
    assert isinstance(intercept, float)
    expected = 1 / (1 + np.exp(-(slope * np.log(confidence / (1 - confidence)) + intercept)))
    assert result.map(confidence) == pytest.approx(expected)
    assert result.map(confidence.reshape(20, 20)).shape == (20, 20)
    assert float(result.map(0.9)) == pytest.approx(float(result.map([0.9])[0]))
    assert np.isnan(result.map([0.9, np.nan])).tolist() == [False, True]
    applied = result.apply(other)
    assert applied.rows["id"].to_list() == later["id"]
    assert calib_core.score(applied, metric="brier").value == pytest.approx(
        np.mean((expected[300:] - correct[300:]) ** 2)
    )
    without_outcomes = [{"confidence": 0.9, "correct": None}, {"confidence": None, "correct": None}]
    rows = result.apply(*calib_core.load([*without_outcomes, {"confidence": 0.6, "correct": 1}])).rows
    assert rows["confidence"].to_list() == [*result.map([0.9]), None, *result.map([0.6])]
    assert rows["correct"].to_list() == [None, None, True]
    with pytest.raises(Refused, match="no row has both a confidence and an outcome"):
        calib_core.load(without_outcomes)
    rows = result.apply(*calib_core.load(without_outcomes, needs_outcomes=False)).rows
    assert rows["confidence"].to_list() == [*result.map([0.9]), None]
    with pytest.raises(ValueError, match=r"found 90\. Divide percentages by 100"):
        result.map([90.0])
    with pytest.raises(TypeError, match=r"expected a run, not DataFrame: make runs with calib_core\.load"):
        result.apply(pl.DataFrame(later))  # type: ignore[arg-type]


def test_a_temperature_of_all_choices_is_a_function_of_their_probabilities() -> None:
    probs = np.array([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3]] * 30)
    (run,) = calib_core.load(probs=probs, gold=np.arange(60) % 3)
    result = calib_core.recalibrate(run, by="temperature", method="choice_softmax")
    temperature = result.map.parameters["temperature"]
    powers = probs ** (1 / temperature)  # type: ignore[operator]
    expected = powers / powers.sum(axis=1, keepdims=True)
    assert result.map(probs) == pytest.approx(expected)
    assert result.apply(run).rows["confidence"].to_numpy() == pytest.approx(expected.max(axis=1))
    for wrong in (0.9, [0.9, 0.05], [[0.9, 0.2]]):
        with pytest.raises(ValueError, match="probabilities of all choices"):
            result.map(wrong)
