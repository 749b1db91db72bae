"""The registry holds every metric once, with complete entries and exact values."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from hypothesis import given

import calib_core.metrics
from calib_core.edges import Binning, Scheme
from calib_core.metrics import METRICS
from core import oracle
from core.edge_cases import CHECKED_BINS, agrees, any_rows, class_sums_of, fixed_pairs, some_pairs, sums_of
from core.oracle import Bins, Pair, Row

FOLDER = Path(calib_core.metrics.__file__).parent


def test_every_entry_has_its_line_in_the_registry() -> None:
    entry = re.compile(r"^[A-Z_]+: Final = Metric\(\n    id=\"(\w+)\"", re.MULTILINE)
    found = [id_ for path in FOLDER.glob("*.py") for id_ in entry.findall(path.read_text("utf-8"))]
    assert sorted(found) == sorted(METRICS)


def test_there_is_one_test_file_per_metric() -> None:
    tests = {path.stem.removeprefix("test_") for path in Path(__file__).parent.glob("test_*.py")}
    assert set(METRICS) <= tests


def test_ids_are_the_keys() -> None:
    assert [metric.id for metric in METRICS.values()] == list(METRICS)


def test_titles_and_recipe_names_are_unique() -> None:
    assert len({metric.title for metric in METRICS.values()}) == len(METRICS)
    assert len({metric.recipe_name for metric in METRICS.values()}) == len(METRICS)


@pytest.mark.parametrize("metric_id", METRICS)
def test_the_help_text_is_one_sentence_that_says_which_way_is_better(metric_id: str) -> None:
    metric = METRICS[metric_id]
    assert metric.meaning.endswith(".")
    assert ". " not in metric.meaning
    direction = {"lower": "lower is better", "higher": "higher is better", "zero": "nearest to 0 is best"}
    assert direction[metric.direction] in metric.meaning
    assert metric.source


def test_the_oracle_knows_every_metric_and_what_it_needs() -> None:
    assert set(METRICS) == {*oracle.OF_PAIRS, *oracle.OF_ROWS, *oracle.OF_SCALES, *oracle.OF_RANKS}
    assert {m.id for m in METRICS.values() if m.needs == "pairs"} == set(oracle.OF_PAIRS)


@pytest.mark.parametrize("bins", CHECKED_BINS)
@pytest.mark.parametrize("binning", ["width", "mass", "natural"])
def test_metrics_of_pairs_are_exact_on_edges_in_every_dtype(binning: Binning, bins: int) -> None:
    how = Bins(binning, bins)
    pairs = fixed_pairs(bins)
    assert [metric_id for metric_id in oracle.OF_PAIRS if not agrees(metric_id, pairs, how)] == []


@pytest.mark.parametrize("width", [2, 4, 8])
@pytest.mark.parametrize("bins", CHECKED_BINS)
def test_metrics_of_distributions_are_exact_on_edges_in_every_dtype(bins: int, width: int) -> None:
    rows = [
        Row((oracle.as_stored(m / bins, width), oracle.as_stored(1 - m / bins, width)), width, m % 2)
        for m in {0, 1, bins // 3, bins // 2, bins - 1, bins}
    ]
    how = Bins("width", bins)
    assert [metric_id for metric_id in oracle.OF_ROWS if not agrees(metric_id, rows, how)] == []


@given(some_pairs())
def test_metrics_of_pairs_keep_to_their_range(pairs: list[Pair]) -> None:
    sums = sums_of(pairs)
    for metric in (METRICS[metric_id] for metric_id in oracle.OF_PAIRS):
        value = metric.compute(sums, Scheme())
        assert value is None or (-math.inf if metric.low is None else metric.low) <= value
        assert value is None or value <= (math.inf if metric.high is None else metric.high)


@given(any_rows())
def test_metrics_of_distributions_keep_to_their_range(rows: list[Row]) -> None:
    """But for the ε by which stored rows may pass 1."""
    sums = class_sums_of(rows)
    for metric in (METRICS[metric_id] for metric_id in oracle.OF_ROWS):
        value = metric.compute(sums, Scheme())
        assert value is not None
        assert (0.0 if metric.low is None else metric.low) <= value
        assert value <= (math.inf if metric.high is None else metric.high + 1e-3)


@given(some_pairs())
def test_what_is_not_binned_does_not_change_with_the_bins(pairs: list[Pair]) -> None:
    sums = sums_of(pairs)
    for metric in (METRICS[metric_id] for metric_id in oracle.OF_PAIRS if not METRICS[metric_id].binned):
        assert metric.compute(sums, Scheme("width", 3)) == metric.compute(sums, Scheme("natural", 50))
