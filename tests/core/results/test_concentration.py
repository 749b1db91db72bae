"""Where the confidences lie, and the warning that a good ECE may rest on one or two bins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from calib_core.edges import Binning, Scheme
from calib_core.errors import Unavailable
from calib_core.methods.method import MethodOptions
from calib_core.results.concentration import (
    CONCENTRATED_SHARE,
    LOW_ECE,
    concentration_headline,
    concentration_table,
    measure_concentration,
)
from core.edge_cases import schemes, some_pairs
from core.oracle import Bins, Pair
from core.run_builders import block_evidence, choice_evidence, given_evidence

PROBS = [[0.7, 0.2, 0.1], [0.2, 0.3, 0.5], [0.1, 0.8, 0.1]]


def test_the_numbers_of_a_small_case() -> None:
    result = measure_concentration(block_evidence((0.0, 2, 0), (0.15, 1, 0), (0.95, 4, 4), (1.0, 3, 3)))
    assert result.table.select("bin", "count", "fullest").rows() == [(1, 2, 2), (2, 1, 3), (10, 7, 1)]
    assert result.table["share"].to_list() == pytest.approx([0.2, 0.1, 0.7])
    assert result.table["cumulative"].to_list() == pytest.approx([0.9, 1.0, 0.7])
    assert result.top_two_share == pytest.approx(0.9)
    assert result.effective_bins == pytest.approx(1 / (0.04 + 0.01 + 0.49))
    assert (result.share_at_zero, result.share_at_one) == (0.2, 0.3)
    assert (result.n_distinct, result.n_used, result.n_total, result.n_bins) == (4, 10, 10, 10)
    assert result.fine_histogram["count"].to_list() == [2, 1, 4, 3]
    assert result.recipe == "equal width, M=10, right-closed, as given, n=10/10"


@given(some_pairs(widths=(8,), min_size=2), schemes())
def test_shares_and_their_bounds(pairs: list[Pair], how: Bins) -> None:
    result = measure_concentration(
        given_evidence([pair.confidence for pair in pairs], [pair.correct for pair in pairs]),
        Scheme(how.binning, how.bins),
    )
    shares = result.table["share"].to_numpy()
    assert shares.sum() == pytest.approx(1, abs=1e-12)
    assert sorted(result.table["fullest"].to_list()) == list(range(1, result.table.height + 1))
    assert result.table["cumulative"].max() == 1.0
    assert result.top_two_share == pytest.approx(np.sort(shares)[-2:].sum())
    assert result.effective_bins is not None
    assert 1 - 1e-12 <= result.effective_bins <= result.table.height + 1e-12
    assert result.fine_histogram["count"].sum() == len(pairs)


def test_equally_full_bins_are_as_many_as_they_are() -> None:
    assert measure_concentration(
        block_evidence((0.1, 5, 1), (0.5, 5, 1), (0.9, 5, 1))
    ).effective_bins == pytest.approx(3)


@pytest.mark.parametrize(
    ("parts", "scheme", "message"),
    [
        (
            ((0.45, 85, 38), (0.75, 10, 7), (0.95, 5, 5)),
            Scheme(),
            "One bin holds 85.0 % of the rows, so the ECE of 0.",
        ),
        (
            ((0.45, 50, 22), (0.55, 40, 22), (0.95, 10, 9)),
            Scheme(),
            "The two fullest bins hold 90.0 % of the rows, so",
        ),
        (
            ((0.45, 50, 50), (0.55, 50, 50)),
            Scheme(),
            "The two fullest bins hold 100.0 % of the rows, so the ECE of 0.5000 mostly reflects those two b",
        ),
        (((0.45, 100, 45),), Scheme("width", 3), "One bin holds 100.0 % of the rows, so"),
        (((0.55, 100, 55),), Scheme("mass"), "One bin holds 100.0 % of the rows, so"),
        (
            ((0.45, 50, 22), (0.55, 50, 28)),
            Scheme("natural"),
            "The two fullest bins hold 100.0 % of the rows, so",
        ),
    ],
)
def test_a_concentrated_confidence_has_a_warning(
    parts: tuple[tuple[float, int, int], ...], scheme: Scheme, message: str
) -> None:
    result = measure_concentration(block_evidence(*parts), scheme)
    assert result.warning is not None
    assert result.warning.startswith(message)
    assert result.ece is not None
    assert ("Brier score and AUROC" in result.caution) == (result.ece <= LOW_ECE)


@pytest.mark.parametrize(
    ("parts", "scheme"),
    [
        (tuple((m / 10, 10, m) for m in range(1, 11)), Scheme()),
        (((0.45, 79, 30), (0.55, 0, 0), (0.75, 0, 0), (0.85, 11, 9), (0.95, 10, 9)), Scheme("width", 2)),
        (((0.45, 100, 45),), Scheme("width", 1)),
        (((0.45, 50, 22), (0.55, 50, 28)), Scheme("mass", 2)),
    ],
)
def test_no_warning_where_rows_are_spread_or_few_bins_were_asked_for(
    parts: tuple[tuple[float, int, int], ...], scheme: Scheme
) -> None:
    assert measure_concentration(block_evidence(*parts), scheme).warning is None


def test_the_threshold_is_the_one_that_is_written_down() -> None:
    assert CONCENTRATED_SHARE == 0.8
    assert (
        measure_concentration(block_evidence((0.45, 400, 180), (0.55, 399, 210), (0.95, 201, 190))).warning
        is None
    )
    assert (
        measure_concentration(block_evidence((0.45, 400, 180), (0.55, 400, 210), (0.95, 200, 190))).warning
        is not None
    )


@pytest.mark.parametrize("binning", ["width", "mass", "natural"])
def test_it_is_of_the_top_label_whatever_is_pooled(binning: Binning) -> None:
    scheme = Scheme(binning)
    top = measure_concentration(choice_evidence(PROBS, [0, 1, 1]), scheme)
    every = measure_concentration(choice_evidence(PROBS, [0, 1, 1], MethodOptions(labels="all")), scheme)
    assert every.table.equals(top.table)
    assert every.recipe == top.recipe
    assert "top label" in every.recipe
    assert every.ece == top.ece


def test_natural_bins_of_many_values_are_refused_for_all_labels_too() -> None:
    probs = [[0.5 + k / 200, 0.5 - k / 200] for k in range(80)]
    with pytest.raises(Unavailable, match="up to 64 values"):
        measure_concentration(
            choice_evidence(probs, [0] * 80, MethodOptions(labels="all")), Scheme("natural")
        )


def test_bins_counts_what_the_scheme_makes() -> None:
    evidence = block_evidence((0.1, 5, 1), (0.5, 5, 1), (0.9, 5, 1))
    assert [
        measure_concentration(evidence, scheme).n_bins for scheme in (Scheme("width", 50), Scheme("natural"))
    ] == [
        50,
        3,
    ]


def test_frame_carries_its_recipe() -> None:
    result = measure_concentration(block_evidence((0.1, 5, 1), (0.5, 5, 1)))
    assert result.to_frame()["recipe"].to_list() == [result.recipe] * 2


def test_what_is_drawn_is_the_bins_and_the_strip_below() -> None:
    result = measure_concentration(block_evidence((0.0, 2, 0), (0.15, 1, 0), (0.95, 7, 4)))
    drawn = result.figure_frame().select("bins", "bin", "low", "high", "count", "share", "recipe")
    assert drawn.rows() == [
        ("chosen", 1, 0.0, 0.1, 2, 0.2, result.recipe),
        ("chosen", 2, 0.1, 0.2, 1, 0.1, result.recipe),
        ("chosen", 10, 0.9, 1.0, 7, 0.7, result.recipe),
        ("finest", None, 0.0, 0.001, 2, 0.2, result.recipe),
        ("finest", None, 0.149, 0.15, 1, 0.1, result.recipe),
        ("finest", None, 0.949, 0.95, 7, 0.7, result.recipe),
    ]


def test_zero_and_one_are_exactly_these() -> None:
    nearly = float(np.nextafter(1, 0))
    result = measure_concentration(given_evidence([0.0, -0.0, 1e-300, nearly, 1.0], [0, 0, 0, 1, 1]))
    assert (result.share_at_zero, result.share_at_one) == (0.4, 0.2)


def test_methods_side_by_side() -> None:
    results = [
        measure_concentration(block_evidence((0.1, 5, 1), (0.5, 5, 1))),
        measure_concentration(block_evidence((1.0, 4, 4))),
    ]
    frame = concentration_table(results)
    assert frame["method"].to_list() == [result.method for result in results]
    assert frame["top_two"].to_list() == [1.0, 1.0]
    assert frame["effective"].to_list() == [2.0, 1.0]
    assert frame["at_one"].to_list() == [0.0, 1.0]
    assert frame["distinct"].to_list() == [2, 1]
    assert frame["used"].to_list() == frame["rows"].to_list() == [10, 4]


def test_the_sentence_says_what_the_page_shows() -> None:
    two = measure_concentration(block_evidence((0.15, 1, 0), (0.55, 3, 1), (0.95, 6, 4)))
    assert concentration_headline([two]) == (
        "The two fullest bins hold 90.0 % of the rows, so the ECE of 0.2500 mostly reflects those two bins."
    )
    one = measure_concentration(block_evidence((0.95, 6, 4)))
    none = replace(one, top_two_share=None)
    assert concentration_headline([one]) == "All 6 rows lie in one bin."
    assert (
        concentration_headline([none])
        == concentration_headline([none, none])
        == "No row has both a confidence and an outcome."
    )
    assert concentration_headline([none, two]) == concentration_headline([two])
    assert concentration_headline([one, two]) == (
        f"The two fullest bins hold from 90.0 % of the rows (“{two.title}”) to 100.0 % (“{one.title}”)."
    )
    nearly = replace(two, top_two_share=0.90004)
    assert (
        concentration_headline([two, nearly])
        == "The two fullest bins hold 90.0 % of the rows by both methods."
    )
    assert (
        concentration_headline([one, one]) == "The two fullest bins hold 100.0 % of the rows by both methods."
    )
    assert (
        concentration_headline([measure_concentration(block_evidence((0.95, 1, 1)))])
        == "There is 1 row, so all lies in one bin."
    )
    assert (
        concentration_headline([measure_concentration(block_evidence((0.95, 2, 1)))])
        == "Both rows lie in one bin."
    )
