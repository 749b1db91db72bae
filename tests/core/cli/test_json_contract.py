"""The keys that scripts depend on for verdicts, intervals and pairs: more may come, none may go."""

from __future__ import annotations

from pathlib import Path

import pytest

from calib_core.inference.verdict import LEVEL_KINDS, VERDICT_WORDS, VerdictKind
from calib_core.metrics import METRICS
from core.cli_calls import Call
from predictions import quiz, write_csv
from token_files import positions, write_npz

Block = tuple[float, int, int]

ROWS: dict[VerdictKind, tuple[Block, ...]] = {
    "over": ((0.9, 200, 140),),
    "under": ((0.6, 200, 170),),
    "often": ((0.9, 200, 120),),
    "rarely": ((0.3, 200, 120),),
    "extreme": ((0.95, 200, 150), (0.05, 200, 50)),
    "timid": ((0.7, 200, 190), (0.3, 200, 10)),
    "none": ((0.8, 200, 160),),
    "uneven": ((0.6, 300, 158), (0.8, 300, 276), (0.95, 300, 271)),
    "unclear": ((0.4, 500, 172), (0.6, 500, 298)),
    "tolerable": ((0.7, 40_000, 28_400),),
    "few": ((0.9, 20, 3),),
}
"""Verdict → (confidence, rows, right ones) of a run that has it."""


@pytest.mark.parametrize("kind", ROWS)
def test_a_verdict(kind: VerdictKind, tmp_path: Path, call: Call) -> None:
    of_event = kind in LEVEL_KINDS["event"]
    stated, outcome = ("event_prob", "event") if of_event else ("confidence", "correct")
    rows = [{stated: said, outcome: int(at < right)} for said, n, right in ROWS[kind] for at in range(n)]
    path = write_csv(tmp_path / "run.csv", rows)
    element = call("score", path, "--metric", "verdict", "--json").element
    assert element["value"] == kind
    assert element["metric"] == "verdict"
    assert {"run", "method", "p", "level", "slope", "reason"} <= element.keys()
    assert isinstance(element["level"], float)
    assert isinstance(element["reason"], str)
    assert (element["p"] is None) == (kind == "few")
    has_one_confidence = len(ROWS[kind]) == 1
    assert (element["slope"] is None) == (kind == "few" or has_one_confidence)
    assert {"p_level", "p_slope", "p_curve"} <= element.keys()


def test_positions_of_unknown_texts(tmp_path: Path, call: Call) -> None:
    path = write_npz(tmp_path / "run.npz", positions(), texts_known=False)
    element = call("score", path, "--metric", "verdict", "--json").element
    assert (element["value"], element["words"]) == ("dependent", "not judged")
    assert {element[name] for name in ("p", "q", "p_level", "p_slope", "p_curve", "slope")} == {None}
    assert isinstance(element["level"], float)
    assert element["reason"].startswith("Not judged: the file does not say which text each of its 300 ")
    assert {score["p"] for score in call("score", path, "--json").elements} == {None}


def test_every_verdict_has_a_case() -> None:
    assert {*ROWS, "dependent"} == VERDICT_WORDS.keys()


def test_scores_have_interval_and_null(tmp_path: Path, call: Call) -> None:
    path = write_csv(tmp_path / "run.csv", quiz(120))
    elements = call("score", path, "--method", "given", "--json").elements
    added = {
        *("ece_debiased_sq", "brier_skill", "aurc", "smooth_ece"),
        *("brier_miscalibration", "brier_discrimination", "brier_uncertainty"),
    }
    assert added <= METRICS.keys()
    assert added <= {element["metric"] for element in elements}
    keys = {"run", "method", "metric", "value", "bins", "n_used", "n_total", "recipe"}
    keys |= {"interval", "interval_method", "p", "null_median"}
    for element in (element for element in elements if element["metric"] != "verdict"):
        assert keys <= element.keys()
        assert (element["interval"] is None) == (element["interval_method"] is None)
        assert (element["p"] is None) == (element["null_median"] is None)
        if element["interval"] is not None:
            low, high = element["interval"]
            assert low <= element["value"] <= high


def test_pairs_and_the_best(tmp_path: Path, call: Call) -> None:
    path = write_csv(tmp_path / "run.csv", [*quiz(60, model="red"), *quiz(60, model="green", seed=6)])
    points = call("compare", path, "--method", "given", "--json").elements
    assert {point["best"] for point in points} <= {True, False}
    pairs = call("compare", path, "--method", "given", "--pairs", "--json").elements
    keys = {"metric", "a", "b", "difference", "interval", "p", "p_holm", "n_common", "clusters"}
    for pair in pairs:
        assert keys <= pair.keys()
        assert {"run", "method"} <= pair["a"].keys() & pair["b"].keys()
        assert pair["interval"][0] <= pair["difference"] <= pair["interval"][1]
        assert 0 <= pair["p"] <= pair["p_holm"] <= 1
