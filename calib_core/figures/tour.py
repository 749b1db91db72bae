"""How is each step of the tour drawn?  By the figure of what it shows."""

from __future__ import annotations

from typing import Final

from calib_core.analysis.comparison import Comparison
from calib_core.analysis.concentration import Concentration
from calib_core.analysis.question_clusters import QuestionClusters
from calib_core.analysis.reliability import Reliability
from calib_core.analysis.sweep import Sweep
from calib_core.analysis.tour_step import OneAnswer, Picture, SaidAndRight
from calib_core.figures.clusters import clusters_figure, describe_clusters
from calib_core.figures.concentration import describe_histogram, histogram_figure
from calib_core.figures.enlarged import enlarged
from calib_core.figures.layout import Figure
from calib_core.figures.one_answer import describe_one_answer, one_answer_figure
from calib_core.figures.ranking import describe_ranking, ranking_figure
from calib_core.figures.reliability import describe_reliability, reliability_figure
from calib_core.figures.robustness import describe_robustness, values_figure
from calib_core.figures.said_right import describe_said_right, said_right_figure
from calib_core.figures.theme import LIGHT, Theme

LEAST: Final = 380
LEAST_LARGE: Final = 600
"""Pixels of height: two bars alone are to fill a screen's half, too, and most of a projector's."""


def tour_figure(picture: Picture, theme: Theme, *, large: bool = False) -> Figure:
    """The picture of a step; large: to be read from the back of a room."""
    drawn = _drawn(picture, theme)[0]
    drawn = enlarged(drawn) if large else drawn
    drawn["layout"]["height"] = max(LEAST_LARGE if large else LEAST, drawn["layout"]["height"])
    return drawn


def describe_tour(picture: Picture) -> str:
    """The picture in a sentence, for who cannot see it: text, not HTML."""
    return _drawn(picture, LIGHT)[1]


def _drawn(picture: Picture, theme: Theme) -> tuple[Figure, str]:  # noqa: PLR0911 (one a kind of picture)
    """The figure and its sentence."""
    match picture:
        case OneAnswer():
            return one_answer_figure(picture, theme), describe_one_answer(picture)
        case SaidAndRight():
            return said_right_figure(picture, theme), describe_said_right(picture)
        case Reliability():
            return reliability_figure(picture, theme), describe_reliability(picture)
        case Sweep():
            return values_figure([picture], theme), describe_robustness([picture])
        case QuestionClusters():
            return clusters_figure(picture, theme), describe_clusters(picture)
        case Comparison():
            return ranking_figure(picture, theme), describe_ranking(picture)
        case Concentration():
            return histogram_figure([picture], theme), describe_histogram([picture])
