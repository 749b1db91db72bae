"""Which step of the tour, of which run, by which confidence, how large?  The controls of the page Tour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calib_core.analysis.tour import STEPS, tour_step
from calib_core.analysis.tour_step import Kind, Step
from calib_core.analysis.tour_subject import Candidate, Subject, most_telling, why
from pages.parts import cache, picking
from pages.parts.address import Address
from pages.parts.comparing import numbers_of
from pages.parts.runs import Run

NUMBERED = tuple(str(at) for at in range(1, len(STEPS) + 1))
"""Steps as the address has them."""


@dataclass(frozen=True, slots=True, eq=False)
class Touring:
    """What the page Tour shows. at: the step, from 1; large: for a projector; why: of this run, or ""."""

    subject: Subject
    runs: tuple[Run, ...]
    at: int
    large: bool
    why: str

    @property
    def kind(self) -> Kind:
        """The step."""
        return STEPS[self.at - 1]

    @property
    def run(self) -> Run:
        """The run that the tour is of."""
        return next(run for run in self.runs if run.id == self.subject.run)


def choose_tour(address: Address, runs: Sequence[Run]) -> Touring:
    """Run and method at the side; step and size of type stand in the page itself."""
    candidates = {run.id: Candidate(run.title, run.report.survey.usable) for run in runs}
    by_id, telling = {run.id: run for run in runs}, most_telling(candidates)
    run_id = picking.one_run(address, by_id, telling).id
    usable = candidates[run_id].usable
    method = picking.method(address, list(usable), next(iter(usable)))
    at = int(address.pick("step", NUMBERED, "1"))
    large = address.pick("large", ["1", "0"], "0") == "1"
    reason = why(candidates, run_id) if run_id == telling else ""
    return Touring(Subject(run_id, method, candidates), tuple(runs), at, large, reason)


def computed(chosen: Touring) -> Step:
    """The step, computed once. Raises Unavailable where the data cannot give it."""
    everything = tuple((run.id, run.title, run.file.stamp) for run in chosen.runs)
    return cache.kept(
        ("tour", chosen.kind, chosen.subject.run, chosen.subject.method, everything),
        lambda: tour_step(
            chosen.kind, chosen.subject, numbers_of({run.report.run: run for run in chosen.runs})
        ),
    )
