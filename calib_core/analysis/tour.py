"""What is calibration, told in six steps with the numbers of the data at hand?

Of which run: tour_subject.py. What a step is: tour_step.py. What each says: the other modules of the tour.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from calib_core.analysis.comparison_points import Measure, measured
from calib_core.analysis.tour_answer import answer_step, bin_step
from calib_core.analysis.tour_models import models_step
from calib_core.analysis.tour_samples import samples_step
from calib_core.analysis.tour_step import Kind, Step
from calib_core.analysis.tour_subject import Subject
from calib_core.analysis.tour_whole import bins_step, whole_step

_OF: Final[Mapping[Kind, Callable[[Subject], Step]]] = MappingProxyType({
    "answer": answer_step, "bin": bin_step, "whole": whole_step, "bins": bins_step, "samples": samples_step,
})

STEPS: Final[tuple[Kind, ...]] = (*_OF, "models")
"""In the order in which they are told."""


def tour_step(kind: Kind, subject: Subject, measure: Measure = measured) -> Step:
    """One step of the tour.

    measure: makes the numbers of the last step with their intervals, or takes them from a store. Raises
    Unavailable with the reason where the data cannot give the step.
    """
    return models_step(subject, measure) if kind == "models" else _OF[kind](subject)
