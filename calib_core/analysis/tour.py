"""What is calibration, told in six steps with the numbers of the data at hand?

Of which run: tour_subject.py. What a step is: tour_step.py. What each says: the other modules of the tour.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from calib_core.analysis.comparison_points import MetricEstimator, estimate_metric
from calib_core.analysis.tour_answer import answer_step, bin_step
from calib_core.analysis.tour_models import models_step
from calib_core.analysis.tour_samples import samples_step
from calib_core.analysis.tour_step import StepKind, TourStep
from calib_core.analysis.tour_subject import TourSubject
from calib_core.analysis.tour_whole import bins_step, overall_step

_STEP_BUILDERS: Final[Mapping[StepKind, Callable[[TourSubject], TourStep]]] = MappingProxyType({
    "answer": answer_step, "bin": bin_step, "whole": overall_step, "bins": bins_step, "samples": samples_step,
})

STEP_KINDS: Final[tuple[StepKind, ...]] = (*_STEP_BUILDERS, "models")
"""In the order in which they are told."""


def tour_step(kind: StepKind, subject: TourSubject, estimator: MetricEstimator = estimate_metric) -> TourStep:
    """One step of the tour.

    measure: makes the numbers of the last step with their intervals, or takes them from a store. Raises
    Unavailable with the reason where the data cannot give the step.
    """
    return models_step(subject, estimator) if kind == "models" else _STEP_BUILDERS[kind](subject)
