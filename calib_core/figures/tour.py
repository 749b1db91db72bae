"""How is each step of the tour drawn?  By the figure of what it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

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
    figure, _ = _PICTURES[type(picture)]
    drawn = enlarged(figure(picture, theme)) if large else figure(picture, theme)
    drawn["layout"]["height"] = max(LEAST_LARGE if large else LEAST, drawn["layout"]["height"])
    return drawn


def describe_tour(picture: Picture) -> str:
    """The picture in a sentence, for who cannot see it: text, not HTML."""
    _, told = _PICTURES[type(picture)]
    return told(picture)


# Each function takes the kind of picture it stands beside, which a dict has no type for.
_PICTURES: Final[Mapping[type[Picture], tuple[Callable[[Any, Theme], Figure], Callable[[Any], str]]]] = {
    OneAnswer: (one_answer_figure, describe_one_answer),
    SaidAndRight: (said_right_figure, describe_said_right),
    Reliability: (reliability_figure, describe_reliability),
    Sweep: (
        lambda picture, theme: values_figure([picture], theme),
        lambda picture: describe_robustness([picture]),
    ),
    QuestionClusters: (clusters_figure, describe_clusters),
    Comparison: (ranking_figure, describe_ranking),
    Concentration: (
        lambda picture, theme: histogram_figure([picture], theme),
        lambda picture: describe_histogram([picture]),
    ),
}
"""How each kind of picture is drawn, and how it is told."""
