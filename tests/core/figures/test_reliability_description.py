"""The diagram's sentence for screen readers contains its main numbers."""

from __future__ import annotations

from dataclasses import replace

from calib_core.figures.palette import LIGHT
from calib_core.figures.reliability import describe_reliability, reliability_figure
from calib_core.metrics import METRICS
from core.figures.result_builders import THREE_BINS, make_reliability


def test_the_sentence_has_the_main_numbers() -> None:
    description = describe_reliability(make_reliability(pairs=THREE_BINS, run="<b>model</b> · quiz"))
    assert description == (
        "Reliability diagram of confidence in the file, <b>model</b> · quiz: ECE 0.2190, accuracy 75.0 %, "
        "mean confidence 72.1 %, 84 rows in 3 bins, widest gap −0.250 in 50–60 % (0.5, 0.6]."
    )


def test_one_row_in_one_bin_is_in_the_singular() -> None:
    one = make_reliability(pairs=([0.7], [1]))
    assert ", 1 row in 1 bin, widest gap −0.300 in 60–70 % (0.6, 0.7]." in describe_reliability(one)
    hovers = [text for trace in reliability_figure(one, LIGHT)["data"] for text in trace.get("hovertext", ())]
    assert len(hovers) == 2
    assert all("<br>1 row" in text and "1 rows" not in text for text in hovers)


def test_an_infinite_number_is_written_as_on_the_tiles() -> None:
    result = make_reliability(pairs=THREE_BINS)
    endless = replace(result, score=replace(result.score, metric="nll", value=float("inf")))
    assert f"{METRICS['nll'].title} ∞" in describe_reliability(endless)


def test_the_description_of_an_empty_figure_says_so() -> None:
    nothing = "empty. No row has both a confidence and an outcome."
    assert describe_reliability(make_reliability(pairs=([], []))).endswith(nothing)
