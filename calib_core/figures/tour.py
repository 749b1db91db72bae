"""How is each step of the tour drawn?  By the figure of what it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from calib_core.analysis.comparison import Comparison
from calib_core.analysis.concentration import Concentration
from calib_core.analysis.question_clusters import QuestionClusters
from calib_core.analysis.reliability import Reliability
from calib_core.analysis.sweep import Sweep
from calib_core.analysis.tour_step import SingleAnswer, TourPicture, ConfidenceAccuracyPairs
from calib_core.figures.clusters import question_clusters_figure, describe_question_clusters
from calib_core.figures.concentration import describe_histogram, histogram_figure
from calib_core.figures.enlarged import enlarge_figure
from calib_core.figures.layout import Figure
from calib_core.figures.one_answer import describe_single_answer, single_answer_figure
from calib_core.figures.ranking import describe_ranking, ranking_figure
from calib_core.figures.reliability import describe_reliability, reliability_figure
from calib_core.figures.robustness import describe_metric_values, metric_values_figure
from calib_core.figures.said_right import describe_confidence_accuracy, confidence_accuracy_figure
from calib_core.figures.theme import Theme

MIN_HEIGHT: Final = 380
MIN_HEIGHT_LARGE: Final = 600
"""Pixels of height: two bars alone are to fill a screen's half, too, and most of a projector's."""


def tour_figure(picture: TourPicture, theme: Theme, *, large: bool = False) -> Figure:
    """The picture of a step; large: to be read from the back of a room."""
    figure, _ = _DRAW_AND_DESCRIBE[type(picture)]
    drawn = enlarge_figure(figure(picture, theme)) if large else figure(picture, theme)
    drawn["layout"]["height"] = max(MIN_HEIGHT_LARGE if large else MIN_HEIGHT, drawn["layout"]["height"])
    return drawn


def describe_tour(picture: TourPicture) -> str:
    """The picture in a sentence, for who cannot see it: text, not HTML."""
    _, told = _DRAW_AND_DESCRIBE[type(picture)]
    return told(picture)


# Each function takes the kind of picture it stands beside, which a dict has no type for.
_DRAW_AND_DESCRIBE: Final[Mapping[type[TourPicture], tuple[Callable[[Any, Theme], Figure], Callable[[Any], str]]]] = {
    SingleAnswer: (single_answer_figure, describe_single_answer),
    ConfidenceAccuracyPairs: (confidence_accuracy_figure, describe_confidence_accuracy),
    Reliability: (reliability_figure, describe_reliability),
    Sweep: (
        lambda picture, theme: metric_values_figure([picture], theme),
        lambda picture: describe_metric_values([picture]),
    ),
    QuestionClusters: (question_clusters_figure, describe_question_clusters),
    Comparison: (ranking_figure, describe_ranking),
    Concentration: (
        lambda picture, theme: histogram_figure([picture], theme),
        lambda picture: describe_histogram([picture]),
    ),
}
"""How each kind of picture is drawn, and how it is told."""
