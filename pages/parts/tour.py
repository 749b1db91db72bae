"""Which step of the tour, of which run, by which confidence, how large?  The controls of the page Tour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calib_core.analysis.tour import STEP_KINDS, tour_step
from calib_core.analysis.tour_step import StepKind, TourStep
from calib_core.analysis.tour_subject import TourCandidate, TourSubject, default_tour_run, choice_reason
from pages.parts import cache, picking
from pages.parts.address import UrlState
from pages.parts.comparing import cached_measure
from pages.parts.runs import LoadedRun

STEP_NUMBERS = tuple(str(at) for at in range(1, len(STEP_KINDS) + 1))
"""Steps as the address has them."""


@dataclass(frozen=True, slots=True, eq=False)
class TourChoice:
    """What the page Tour shows. at: the step, from 1; large: for a projector; why: of this run, or ""."""

    subject: TourSubject
    runs: tuple[LoadedRun, ...]
    step_number: int
    large_type: bool
    run_reason: str

    @property
    def kind(self) -> StepKind:
        """The step."""
        return STEP_KINDS[self.step_number - 1]

    @property
    def run(self) -> LoadedRun:
        """The run that the tour is of."""
        return next(run for run in self.runs if run.id == self.subject.run)


def choose_tour(url_state: UrlState, runs: Sequence[LoadedRun]) -> TourChoice:
    """Run and method at the side; step and size of type stand in the page itself."""
    candidates = {run.id: TourCandidate(run.title, run.report.survey.usable) for run in runs}
    by_id, telling = {run.id: run for run in runs}, default_tour_run(candidates)
    run_id = picking.pick_run(url_state, by_id, telling).id
    usable = candidates[run_id].usable
    method = picking.pick_method(url_state, list(usable), next(iter(usable)))
    at = int(url_state.pick("step", STEP_NUMBERS, "1"))
    large = url_state.pick("large", ["1", "0"], "0") == "1"
    reason = choice_reason(candidates, run_id) if run_id == telling else ""
    return TourChoice(TourSubject(run_id, method, candidates), tuple(runs), at, large, reason)


def cached_step(choice: TourChoice) -> TourStep:
    """The step, computed once. Raises Unavailable where the data cannot give it."""
    everything = tuple((run.id, run.title, run.file.stamp) for run in choice.runs)
    return cache.cached_result(
        ("tour", choice.kind, choice.subject.run, choice.subject.method, everything),
        lambda: tour_step(
            choice.kind, choice.subject, cached_measure({run.report.run: run for run in choice.runs})
        ),
    )
