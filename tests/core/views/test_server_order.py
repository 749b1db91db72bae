"""A server's own confidence stands beside the probability as a rank, without a threshold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calib_core.edges import Scheme
from calib_core.figures.abstention import SERVER_ORDER_NAME, abstention_figure
from calib_core.figures.palette import LIGHT
from calib_core.results.abstention import SERVER_CONFIDENCE, abstention_curve
from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.results.reliability import reliability_diagram
from calib_core.results.score import score
from calib_core.runs import RunInfo
from calib_core.views.abstention import curve_view
from calib_core.views.reliability import reliability_view
from core.confidence_runs import run_of


def evidence(lacking: int = 0) -> AnswerEvidence:
    """Forty decisions, of which `lacking` have no confidence of their server."""
    random = np.random.default_rng(3)
    top, of_server = random.uniform(0.5, 1, 40), random.permutation(40) // 2 * 25.0
    rows = [
        {
            "choice_probs": [float(p), 1 - float(p)],
            "gold_index": int(random.random() > p),
            "server_confidence": None if at < lacking else float(of_server[at]),
        }
        for at, p in enumerate(top)
    ]
    return gather_evidence(run_of(rows, RunInfo(choices_are="options")), "choice")


def test_the_curve_answers_the_highest_first() -> None:
    one = evidence()
    found = abstention_curve(one).server
    assert found is not None
    values = one.run.rows["server_confidence"].to_numpy()
    right = one.confidences.pairs.correct
    expected = [(values >= least, least) for least in sorted(set(values), reverse=True)]
    assert found.share.tolist() == pytest.approx([reached.mean() for reached, _ in expected])
    assert found.accuracy.tolist() == pytest.approx([right[reached].mean() for reached, _ in expected])
    assert found.auroc == score(one, "server_auroc").value


def test_it_is_drawn_listed_and_exported_without_a_threshold() -> None:
    curve = abstention_curve(evidence())
    assert curve.server is not None
    (line,) = [
        one for one in abstention_figure([curve], LIGHT)["data"] if one.get("name") == SERVER_ORDER_NAME
    ]
    assert line["y"] == pytest.approx(curve.server.accuracy.tolist(), abs=1e-6)
    assert line["mode"] == "lines"
    exported = curve.to_frame().filter(method=SERVER_CONFIDENCE)
    assert exported["share"].to_list() == curve.server.share.tolist()
    (recipe,) = exported["recipe"].unique()
    assert recipe.startswith("in the order of server_confidence, a rank; ")
    assert "≥ t" not in recipe
    assert curve.recipe in curve.to_frame()["recipe"].to_list()
    for name in ("threshold", "answered", "accuracy_low"):
        assert exported[name].null_count() == exported.height
    facts = dict(curve_view(curve).facts)
    assert (
        f"AUROC {curve.server.auroc:.4f}, that of the probability {curve.auroc:.4f}"
        in facts["Server's confidence"]
    )
    assert "in the order of the server's confidence" in curve_view(curve).figures[0].alt


def test_an_order_that_is_that_of_the_probability_is_not_drawn_again() -> None:
    run = evidence().run
    as_above_chance = run.rows["choice_probs"].list.max() * 2 - 1
    rows = run.rows.with_columns(server_confidence=as_above_chance)
    curve = abstention_curve(gather_evidence(replace(run, rows=rows), "choice"))
    assert SERVER_ORDER_NAME not in [one.get("name") for one in abstention_figure([curve], LIGHT)["data"]]
    assert SERVER_CONFIDENCE not in curve.to_frame()["method"].to_list()
    assert "Both are one order here." in dict(curve_view(curve).facts)["Server's confidence"]


def test_where_some_decisions_have_none_nothing_is_shown() -> None:
    curve = abstention_curve(evidence(lacking=1))
    assert curve.server is None
    assert SERVER_CONFIDENCE not in curve.to_frame()["method"].to_list()
    assert "Server's confidence" not in dict(curve_view(curve).facts)


def test_reliability_has_a_tile_of_it() -> None:
    for one, shown in ((evidence(), True), (evidence(lacking=1), False)):
        view = reliability_view(reliability_diagram(one, "ece", Scheme()), evidence=one)
        tiles = {tile.label: tile for tile in view.tiles}
        assert ("AUROC of the server's confidence" in tiles) == shown
    tile = reliability_view(reliability_diagram(evidence(), "ece", Scheme()), evidence=evidence()).tiles[2]
    assert tile.value == f"{score(evidence(), 'server_auroc').value:.4f}"
    assert tile.below == f"of the probability: {score(evidence(), 'auroc').value:.4f}"
