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
    assert unmet.reason == (
        "of the 200 items of the highest probability, which come closest, 95.0 % are truly yes, on new items "
        "at least 90.9 % with 95 % confidence"
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


def test_events_are_placed_by_auroc_and_ranked_by_skill() -> None:
    timid = event_evidence((0.5, 200, 190), (0.2, 800, 40), model="timid")
    result = compare_runs({"timid": timid, "sharp": RARE})
    assert (result.x, result.y) == ("auroc", "brier")
    assert not result.has_reference_curves
    assert result.best_by == {"timid": (), "sharp": ("brier_skill",)}
    assert result.headline == "judge beats a constant guess by most (+0.718)."
    assert [point.key for point in result.points_by_number] == ["sharp", "timid"]
    view = comparison_view(result)
    assert view.how_to_read.startswith("Colour and number: the run, by skill")
    assert [table.title for table in view.tables] == ["Every point, the highest skill first"]


def test_a_low_brier_score_where_yes_is_rare_does_not_rank_first() -> None:
    """Always 10 % where 10 % are yes scores 0.09 for nothing; telling most of an even half apart, 0.16."""
    always = event_evidence((0.1, 500, 50), model="always")
    telling = event_evidence((0.8, 250, 200), (0.2, 250, 50), model="telling")
    result = compare_runs(
        {"always": always, "telling": telling}, titles={"always": "always", "telling": "telling"}
    )
    briers = [point.brier.value for point in result.points]
    assert briers == pytest.approx([0.09, 0.16])
    assert result.headline.startswith("telling beats a constant guess by most (+0.360)")
    assert result.best_by["always"] == ()
    assert result.caveats[0].startswith(
        "The share of yes ranges from 10.0 % to 50.0 %. The Brier score depends on it"
    )
    assert [column.name for column in result.columns][:3] == ["run", "method", "skill"]


def test_the_best_value_on_easier_rows_is_not_best() -> None:
    """A lead counts if it is one on the 100 items that both have, whatever the other rows of one are like."""
    rows = [(0.9, 50, 45), (0.1, 50, 5)]
    titles = {"few": "narrow", "all": "wide"}
    few = event_evidence(*rows, model="narrow")
    all_rows = event_evidence((0.95, 50, 45), (0.05, 50, 5), (0.5, 400, 200), model="wide")
    sharper = compare_runs({"few": few, "all": all_rows}, titles=titles)
    assert sharper.headline.startswith("narrow beats a constant guess by most (+0.640); its lead over")
    less_sharp = event_evidence((0.8, 50, 45), (0.2, 50, 5), model="narrow")
    duller = compare_runs({"few": less_sharp, "all": all_rows}, titles=titles)
    assert duller.headline == (
        "No run is best by its probabilities: the one with the best value does worse than another on the "
        "rows that both have."
    )
    assert duller.best_by["few"] == ()


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
