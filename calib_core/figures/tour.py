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
from calib_core.figures.theme import Theme

LEAST: Final = 380
LEAST_LARGE: Final = 600
"""Pixels of height: two bars alone are to fill a screen's half, too, and most of a projector's."""


def tour_figure(picture: Picture, theme: Theme, *, large: bool = False) -> Figure:
    """The picture of a step; large: to be read from the back of a room."""
    drawn = _drawn(picture, theme)
    drawn = enlarged(drawn) if large else drawn
    drawn["layout"]["height"] = max(LEAST_LARGE if large else LEAST, drawn["layout"]["height"])
    return drawn


def _drawn(picture: Picture, theme: Theme) -> Figure:  # noqa: PLR0911 (one a kind of picture)
    match picture:
        case OneAnswer():
            return one_answer_figure(picture, theme)
        case SaidAndRight():
            return said_right_figure(picture, theme)
        case Reliability():
            return reliability_figure(picture, theme)
        case Sweep():
            return values_figure([picture], theme)
        case QuestionClusters():
            return clusters_figure(picture, theme)
        case Comparison():
            return ranking_figure(picture, theme)
        case Concentration():
            return histogram_figure([picture], theme)


def describe_tour(picture: Picture) -> str:  # noqa: PLR0911 (one a kind of picture)
    """The picture in a sentence, for who cannot see it: text, not HTML."""
    match picture:
        case OneAnswer():
            return describe_one_answer(picture)
        case SaidAndRight():
            return describe_said_right(picture)
        case Reliability():
            return describe_reliability(picture)
        case Sweep():
            return describe_robustness([picture])
        case QuestionClusters():
            return describe_clusters(picture)
        case Comparison():
            return describe_ranking(picture)
        case Concentration():
            return describe_histogram([picture])
