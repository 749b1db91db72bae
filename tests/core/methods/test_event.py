"""The probability of an event is paired with whether it came true, and says so in words of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from calib_core.errors import Unavailable
from calib_core.methods.method import MethodOptions
from calib_core.results.evidence import gather_evidence
from calib_core.results.run_verdict import run_verdict
from core.cli_calls import make_caller
from core.confidence_runs import confidences, run_of
from predictions import write_csv


def events(*blocks: tuple[float, int, int]) -> list[dict[str, Any]]:
    """Rows of (probability, rows, those in which yes is true)."""
    return [{"event_prob": stated, "event": at < n_yes} for stated, n, n_yes in blocks for at in range(n)]


def test_every_row_with_both_is_a_pair_and_the_others_are_counted() -> None:
    rows = [*events((0.2, 2, 1)), {"event_prob": 0.9, "event": None}, {"event_prob": None, "event": True}]
    result = confidences("event", run_of(rows))
    assert result.pairs.confidence.tolist() == [0.2, 0.2]
    assert result.pairs.correct.tolist() == [True, False]
    assert dict(result.missing) == {"no outcome of the event": 1, "no probability": 1}


def test_without_an_outcome_there_is_nothing_to_judge_by() -> None:
    with pytest.raises(Unavailable, match="no outcome of the event"):
        confidences("event", run_of([{"event_prob": 0.5}]))


@pytest.mark.parametrize(
    ("blocks", "kind", "headline", "reason"),
    [
        (
            ((0.9, 200, 120),),
            "often",
            "made expects yes too often: gives yes 90.0 % on average, and yes is true 60.0 % of the time.",
            "The probability of yes is higher than the share of yes by 0.300 on average (p < 0.001).",
        ),
        (
            ((0.3, 200, 120),),
            "rarely",
            "made expects yes too rarely: gives yes 30.0 % on average, and yes is true 60.0 % of the time.",
            "The probability of yes is lower than the share of yes by 0.300 on average (p < 0.001).",
        ),
    ],
)
def test_the_verdict_is_on_yes(
    *, blocks: tuple[tuple[float, int, int], ...], kind: str, headline: str, reason: str
) -> None:
    result = run_verdict(gather_evidence(run_of(events(*blocks)), "event", MethodOptions()))
    assert result.kind == kind
    assert result.headline == headline
    assert result.reason == reason


@pytest.mark.parametrize(
    "blocks", [((0.95, 200, 150), (0.05, 200, 50)), ((0.5, 100, 50),), ((1.0, 60, 50), (0.0, 60, 10))]
)
def test_no_reason_speaks_of_answers(blocks: tuple[tuple[float, int, int], ...]) -> None:
    result = run_verdict(gather_evidence(run_of(events(*blocks)), "event", MethodOptions()))
    for word in ("confiden", "accura", "right", "wrong", "answer"):
        assert word not in str(result)
    assert result.verdict.with_tolerance(0.5).of == "event"


def test_a_map_is_applied_to_the_probabilities_and_leaves_them_those_of_the_event(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = make_caller(capsys)
    rows = events((0.6, 200, 80), (0.3, 200, 30))
    known = write_csv(tmp_path / "known.csv", rows)
    told = [{**row, "event": "" if at % 3 else int(row["event"])} for at, row in enumerate(rows)]
    new = write_csv(tmp_path / "new.csv", told)
    fitted, output = tmp_path / "map.json", tmp_path / "recalibrated.csv"
    assert call("recalibrate", known, "--method", "event", "-o", fitted).code == 0
    assert "platt of probability of yes, out of fold" in call("recalibrate", known).out
    assert call("recalibrate", new, "--apply", fitted, "-o", output).code == 0
    came, went = pl.read_csv(new), pl.read_csv(output)
    assert went.drop("event_prob.recalibrated").equals(came)
    assert set(went["event_prob.recalibrated"].round(1)) == {0.4, 0.2}
