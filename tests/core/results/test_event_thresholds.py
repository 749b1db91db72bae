"""A threshold on the probability of an event calls items yes: precision, false yes, and no cascade."""

from __future__ import annotations

import pytest

from calib_core.errors import Unavailable
from calib_core.figures.abstention import abstention_figure, describe_abstention
from calib_core.figures.palette import LIGHT
from calib_core.inference.decision_loss import ErrorCosts
from calib_core.results.abstention import abstention_curve, guarantee_headline, guaranteed_threshold
from calib_core.results.cascade import cascade
from calib_core.results.comparison import compare_runs
from calib_core.results.defaults import default_methods, other_kind_note
from calib_core.results.evidence import Evidence, gather_evidence
from calib_core.results.threshold_cost import threshold_cost
from calib_core.runs import RunInfo
from calib_core.views.abstention import abstention_view, cost_view
from calib_core.views.comparison import comparison_view
from core.confidence_runs import run_of


def event_evidence(*blocks: tuple[float, int, int], model: str = "judge") -> Evidence:
    """Blocks of (probability, rows, those in which yes is true), each row an item of its own."""
    rows = [{"event_prob": p, "event": at < n_yes} for p, n, n_yes in blocks for at in range(n)]
    return gather_evidence(
        run_of([row | {"id": f"q{i}"} for i, row in enumerate(rows)], RunInfo(model=model)), "event"
    )


RARE = event_evidence((0.9, 200, 190), (0.1, 800, 40))


def test_what_is_called_yes_is_truly_yes_often_enough() -> None:
    found = guaranteed_threshold(abstention_curve(RARE), 0.9)
    assert guarantee_headline([found]) == (
        "Say yes when “probability of yes” is 0.9 or more: 20.0 % called yes, at least 90.9 % truly yes with "
        "95 % confidence."
    )
    assert found.headline.startswith(
        "Say yes when probability of yes ≥ 0.9: 20.0 % called yes, precision 95.0 %"
    )
    unmet = guaranteed_threshold(abstention_curve(RARE), 0.94)
    assert guarantee_headline([unmet]) == (
        "No threshold guarantees a precision of 94 %. On these rows alone, “probability of yes” reaches it "
        "from 0.9 on, with 20.0 % called yes."
    )
    assert "items of the highest probability: 95.0 % are truly yes, on new items at least" in (
        unmet.reason or ""
    )


def test_figure_and_tiles_name_what_they_show() -> None:
    view = abstention_view(guaranteed_threshold(abstention_curve(RARE), 0.9))
    assert [tile.label for tile in view.tiles] == ["Say yes from", "Called yes", "Precision"]
    layout = abstention_figure([abstention_curve(RARE)], LIGHT)["layout"]
    assert layout["xaxis"]["title"]["text"] == "Share of items called yes"
    assert layout["yaxis"]["title"]["text"] == "Precision of items called yes"
    assert describe_abstention([abstention_curve(RARE)]) == (
        "Precision over the share of items called yes. probability of yes: precision 23.0 % with all called "
        "yes, 23.0 % with the half of the highest probability of yes."
    )
    thresholds, of_all = view.tables
    assert [column.title for column in thresholds.columns][1:5] == [
        "Threshold", "Probability of yes ≥", "Called yes", "Rows called yes",
    ]  # fmt: skip
    assert "AURC" not in [column.title for column in of_all.columns]


def test_a_cost_is_that_of_a_false_yes() -> None:
    cost = threshold_cost(RARE, ErrorCosts(10, 1))
    assert cost.headline.startswith(
        "Believing “probability of yes” means calling yes from 90.0 % on. That costs 0.9 per item"
    )
    assert cost_view([cost], "judge").how_to_read == (
        "A false yes costs 10, an item handed on 1, a true yes nothing. Dashed: where a calibrated model "
        "would start to say yes."
    )


def test_an_event_has_no_cascade() -> None:
    with pytest.raises(Unavailable, match="no answer that a second run could give instead"):
        cascade(RARE, event_evidence((0.5, 100, 50)))


def test_events_are_placed_by_auroc_and_ranked_by_brier_score() -> None:
    timid = event_evidence((0.5, 200, 190), (0.2, 800, 40), model="timid")
    result = compare_runs({"timid": timid, "sharp": RARE})
    assert (result.x, result.y) == ("auroc", "brier")
    assert not result.has_reference_curves
    assert result.best_by == {"timid": (), "sharp": ("brier",)}
    assert result.headline == "judge forecasts best (Brier score 0.0500)."
    assert [point.key for point in result.points_by_number] == ["sharp", "timid"]
    view = comparison_view(result)
    assert view.how_to_read.startswith("Colour and number: the run, by Brier score")
    assert [table.title for table in view.tables] == ["Every point, the lowest Brier score first"]


def test_a_share_of_yes_ranks_nobody() -> None:
    often = event_evidence((0.9, 200, 190), (0.1, 800, 80), model="often")
    result = compare_runs({"often": often, "rare": RARE})
    assert all("accuracy" not in best for best in result.best_by.values())
    assert "accura" not in result.headline


def test_runs_of_one_kind_are_compared_and_the_others_named() -> None:
    answers = gather_evidence(
        run_of([{"id": f"q{i}", "confidence": 0.8, "correct": i % 5 > 0} for i in range(100)]), "given"
    )
    seen = {"answers": answers, "rare": RARE, "other": event_evidence((0.5, 100, 50), model="other")}
    of_most = compare_runs(seen)
    assert [point.key for point in of_most.points] == ["rare", "other"]
    assert of_most.unavailable == {
        "answers": "Its probability is not that of an event, so it is not compared with those that are."
    }
    of_answers = compare_runs(seen, of="answer")
    assert [point.key for point in of_answers.points] == ["answers"]
    assert (of_answers.x, of_answers.y) == ("accuracy", "brier")
    assert of_answers.unavailable.keys() == {"rare", "other"}


def test_methods_of_both_kinds_never_share_a_picture() -> None:
    assert default_methods(["given", "event", "verbal"]) == ["event"]
    assert other_kind_note(["given", "verbal"]) == ""
