"""The pictures without bins show the numbers of their results, with a band where one is known."""

from __future__ import annotations

import numpy as np
import pytest

from calib_core.figures.layout import rounded_values
from calib_core.figures.palette import DARK, LIGHT, Theme
from calib_core.figures.reliability_without_bins import (
    corp_figure,
    describe_corp,
    describe_smooth,
    smooth_figure,
)
from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.results.reliability_without_bins import corp_reliability, smooth_reliability
from core.run_builders import given_evidence, make_answer_run


def rows(n: int = 400) -> AnswerEvidence:
    """Over-confident rows."""
    random = np.random.default_rng(2)
    confidence = random.random(n)
    return given_evidence(confidence.tolist(), (random.random(n) < confidence**2).astype(int).tolist())


def trace(figure: dict, name: str) -> dict:
    """The trace with this legend entry."""
    return next(trace for trace in figure["data"] if trace.get("name") == name)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_the_isotonic_line_turns_where_the_fit_does(theme: Theme) -> None:
    result = corp_reliability(rows())
    figure = corp_figure(result, theme)
    line = trace(figure, "isotonic fit")
    points = sorted(set(zip(line["x"], line["y"], strict=True)))
    ends = sorted(
        {
            (block[end], block["accuracy"])
            for block in result.blocks.iter_rows(named=True)
            for end in ("low", "high")
        }
    )
    assert np.array(points) == pytest.approx(np.array(ends), abs=5.1e-6)
    assert line["x"] == sorted(line["x"])
    assert len(line["hovertext"]) == len(line["x"])
    bars = next(one for one in figure["data"] if one["type"] == "bar")
    assert bars["y"] == result.histogram["count"].to_list()
    assert line["line"]["color"] == theme.bar


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_the_smooth_line_and_the_density_are_the_table(theme: Theme) -> None:
    result = smooth_reliability(rows())
    figure = smooth_figure(result, theme)
    assert trace(figure, "smoothed accuracy")["y"] == rounded_values(result.table["accuracy"])
    density = next(one for one in figure["data"] if one.get("yaxis") == "y2")
    assert density["y"] == rounded_values(result.table["density"])
    assert np.array(density["y"]) == pytest.approx(result.table["density"].to_numpy(), abs=5.1e-6)


def test_the_band_is_drawn_where_it_is_known_and_not_across_a_hole() -> None:
    outcomes = [1] * 21 + [0] * 79 + [1] * 89 + [0] * 11
    result = smooth_reliability(given_evidence([0.2] * 100 + [0.9] * 100, outcomes))
    areas = [one for one in smooth_figure(result, LIGHT)["data"] if one.get("fill") == "toself"]
    assert len(areas) == 2
    known = result.table.drop_nulls("calibrated_low")["confidence"]
    assert sum(len(area["x"]) for area in areas) == 2 * known.len()
    assert max(areas[0]["x"]) < 0.5 < min(areas[1]["x"])


def test_the_band_of_the_true_curve_is_that_of_the_table() -> None:
    result = corp_reliability(rows())
    area = trace(corp_figure(result, LIGHT), "true curve")
    assert area["x"] == [*result.table["confidence"], *reversed(result.table["confidence"])]
    ends = [*result.table["curve_low"], *reversed(result.table["curve_high"])]
    assert area["y"] == pytest.approx(ends, abs=1e-6)


def test_without_draws_there_is_no_band_and_no_entry_for_it() -> None:
    columns = {"confidence": [0.2, 0.8] * 10, "correct": [False, True] * 10, "trial_of": ["a", "b"] * 10}
    evidence = gather_evidence(make_answer_run(columns), "given")
    for figure in (
        corp_figure(corp_reliability(evidence), LIGHT),
        smooth_figure(smooth_reliability(evidence), LIGHT),
    ):
        assert not any(one.get("fill") == "toself" for one in figure["data"])
        assert not any("calibrated: 5" in one.get("name", "") for one in figure["data"])


def test_many_blocks_are_a_line_without_marks() -> None:
    random = np.random.default_rng(3)
    confidence = random.random(30_000)
    evidence = given_evidence(confidence.tolist(), (random.random(30_000) < confidence).astype(int).tolist())
    modes = {
        n: trace(corp_figure(corp_reliability(one), LIGHT), "isotonic fit")["mode"]
        for n, one in ((400, rows()), (30_000, evidence))
    }
    assert modes == {400: "lines+markers", 30_000: "lines"}


def test_the_descriptions_hold_the_numbers() -> None:
    corp, smooth = corp_reliability(rows()), smooth_reliability(rows())
    for part in (corp.miscalibration, corp.discrimination, corp.uncertainty):
        assert f"{part.value:.4f}" in describe_corp(corp)
    assert f"{corp.blocks.height} blocks" in describe_corp(corp)
    _, confidence, accuracy = max(
        (abs(row["gap"]), row["confidence"], row["accuracy"]) for row in corp.blocks.iter_rows(named=True)
    )
    widest = f"widest gap: confidence {confidence:.3f}, recalibrated {accuracy:.3f}."
    assert describe_corp(corp).endswith(widest)
    assert f"smooth ECE {smooth.smooth_ece.value:.4f}, 400 rows" in describe_smooth(smooth)
