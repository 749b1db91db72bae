"""The pages describe a token-level run correctly: positions, pooled classes, sums."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import screens
from calib_core.api import load, score
from screens import Visit, choose, figure, page_text, tiles
from token_files import CLASSES, positions, write_npz, write_topk


@pytest.fixture
def token_file(data: Path) -> Path:
    return write_npz(data / "plays.npz", positions(), model="gpt", dataset="plays")


def test_ece_is_of_the_top_label(token_file: Path, visit: Visit) -> None:
    at = visit("reliability")
    number = score(load(token_file)[0], method="tokens", metric="ece")
    assert tiles(at)["ECE"] == f"{number.value:.4f}"
    assert tiles(at)["Positions used / total"] == "300 / 300"
    assert at.text[0].value == number.recipe
    assert number.draws == 199
    assert number.p is None
    assert screens.plain(at.metric[0].delta) == ""
    assert sum(count for _, count in screens.targets(at)) == 300
    assert any("error_y" in trace for trace in figure(at, "reliability")["data"])
    assert figure(at, "reliability")["layout"]["yaxis2"].get("type") is None


def test_full_ece_has_a_diagram_of_all_classes(token_file: Path, visit: Visit) -> None:
    at = visit("reliability", metric="full_ece")
    drawn = figure(at, "reliability")
    assert drawn["layout"]["xaxis"]["type"] == "log"
    assert sum(part for _, part in screens.targets(at)) == pytest.approx(1, abs=1e-3)
    assert not any("error_y" in trace for trace in drawn["data"])
    number = score(load(token_file)[0], method="tokens", metric="full_ece")
    assert f"differ from observed frequencies by {number.value:.4f} per position" in page_text(at)
    assert "No whiskers: the pairs of one position or question depend on one another." in page_text(at)
    choose(at, "_logx", value=False)
    drawn = figure(at, "reliability")
    assert sum(count for _, count in screens.targets(at)) == 300 * CLASSES
    assert drawn["layout"]["yaxis2"]["type"] == "log"
    assert not any("error_y" in trace for trace in drawn["data"])
    choose(at, "_log", value=False)
    assert screens.address(at) == {"metric": "full_ece", "logx": "0", "log": "0"}
    assert figure(at, "reliability")["layout"]["yaxis2"].get("type") is None
    choose(at, "_log", value=True)
    choose(at, "_logx", value=True)
    assert screens.address(at) == {"metric": "full_ece"}


def test_there_are_no_questions_behind_a_bin(token_file: Path, visit: Visit) -> None:
    assert token_file.exists()
    at = visit("reliability", bin="3")
    assert "Token-level runs keep sums only" in page_text(at)
    assert "Click a point or a row for more" not in page_text(at)
    assert screens.tables(at, "id") == []


@pytest.mark.parametrize("page", ["reliability", "concentration"])
def test_an_m_that_the_grid_does_not_serve_offers_the_nearest(
    page: str, token_file: Path, visit: Visit
) -> None:
    assert token_file.exists()
    at = visit(page, m="7")
    assert "M=7 cannot be read off a grid of 3,000 cells" in page_text(at)
    next(button for button in at.button if button.label == "Use M = 6").click()
    screens.run(at)
    assert screens.address(at) == {"m": "6"}
    assert "M=6" in at.text[0].value


def test_bins_of_equal_mass_are_not_offered(token_file: Path, visit: Visit) -> None:
    assert token_file.exists()
    at = visit("reliability", binning="mass")
    assert [told.value for told in at.sidebar.caption if "Binning" in told.value] == ["Binning: Width"]
    with pytest.raises(AssertionError, match="no control 'binning'"):
        screens.control(at, "binning")
    assert len(screens.unmet_link_warnings(at, "binning", "mass")) == 1
    reasons = "".join(screens.plain(caption.value) for caption in at.sidebar.caption)
    assert "every single confidence" in reasons


def test_the_largest_entries_alone_give_an_interval(data: Path, visit: Visit) -> None:
    (run,) = load(write_topk(data / "top.jsonl", model="api"))
    number = score(run, method="tokens", metric="full_ece", bins=500)
    assert number.low is not None
    at = visit("reliability", metric="full_ece", m="500")
    assert tiles(at) == {
        "Full-ECE": f"{number.low:.4f} to {number.high:.4f}",
        "Positions used / total": "200 / 200",
    }
    assert "only an interval is known" in page_text(at)
    assert at.get("plotly_chart") == []


def test_concentration_counts_positions(token_file: Path, visit: Visit) -> None:
    assert token_file.exists()
    at = visit("concentration")
    (row,) = screens.table(at, "Method", "Effective bins").to_dict("records")
    assert (row["Rows used"], row["Rows"]) == (300, 300)
    assert math.isnan(row["Distinct values"])
    assert math.isnan(row["At exactly 0"])
    assert figure(at, "cumulative")["layout"]["yaxis"]["title"]["text"] == "Share of positions"
    assert figure(at, "histogram")["layout"]["yaxis"]["title"]["text"] == "Share of positions"


def test_start_and_files_know_the_run(token_file: Path, visit: Visit) -> None:
    assert token_file.exists()
    at = visit("start")
    assert screens.table(at, "run", "ece")["run"].to_list() == ["gpt"]
    assert [heading.value for heading in at.header][1:] == ["plays"]
    assert "token level" in page_text(at).splitlines()
    assert "300 rows read" in page_text(visit("files"))
