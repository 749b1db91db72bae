"""Of which run does the tour tell, and why of that one?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from calib_core.analysis.evidence import AnswerEvidence, Evidence
from calib_core.records import AnswerRun

AGREEMENT_METHOD: Final = "cluster_size"
"""The method of the tour's fifth picture: the share of samples that agree."""


@dataclass(frozen=True, slots=True, eq=False)
class TourCandidate:
    """One run at hand. title: what it is called; usable: method id → evidence, at least one."""

    title: str
    usable: Mapping[str, Evidence]

    @property
    def first_evidence(self) -> Evidence:
        """By its first method: what does not depend on the method may be asked of this."""
        return next(iter(self.usable.values()))

    @property
    def name(self) -> str:
        """What it is called in a sentence: its model, where the file names it."""
        return self.first_evidence.run.info.model or self.title

    @property
    def has_answers(self) -> bool:
        """Whether it answers questions, and is no text."""
        return isinstance(self.first_evidence, AnswerEvidence)

    @property
    def has_readable_questions(self) -> bool:
        """Whether its questions can be read."""
        run = self.first_evidence.run
        return isinstance(run, AnswerRun) and run.has_columns("question")

    @property
    def has_samples(self) -> bool:
        """Whether its questions were answered several times."""
        return AGREEMENT_METHOD in self.usable


@dataclass(frozen=True, slots=True, eq=False)
class TourSubject:
    """What the tour tells of.

    run: key of the shown one among `runs`; method: its id, usable there; runs: all at hand, by key.
    """

    run: str
    method: str
    runs: Mapping[str, TourCandidate]

    @property
    def candidate(self) -> TourCandidate:
        """The run."""
        return self.runs[self.run]

    @property
    def evidence(self) -> Evidence:
        """The run by the method, each row by its top label."""
        return self.candidate.usable[self.method].top_label

    @property
    def name(self) -> str:
        """What the run is called in a sentence."""
        return self.candidate.name

    @property
    def unit_plural(self) -> str:
        """What there are many of: "answers", or "positions" of a text."""
        return "answers" if self.candidate.has_answers else "positions"


def default_tour_run(runs: Mapping[str, TourCandidate]) -> str:
    """The run that the tour shows where nobody has chosen one: see `why`. runs: one or more."""
    return max(runs, key=lambda key: _tour_rank(runs[key]))


def _tour_rank(candidate: TourCandidate) -> tuple[bool, bool, bool, int]:
    return candidate.has_answers, candidate.has_readable_questions, candidate.has_samples, candidate.first_evidence.n_used


def choice_reason(runs: Mapping[str, TourCandidate], chosen_key: str) -> str:
    """Why `most_telling` took this one, as a sentence."""
    if len(runs) == 1:
        return "It is the one run here."
    one = runs[chosen_key]
    unit = "rows" if one.has_answers else "positions"
    has = [
        *(["answers to questions"] if one.has_answers and not one.has_readable_questions else []),
        *(["questions that can be read"] if one.has_readable_questions else []),
        *(["several answers to each"] if one.has_samples else []),
    ]
    alike = [other for other in runs.values() if _tour_rank(other)[:3] == _tour_rank(one)[:3]]
    if len(alike) == 1:
        return f"It is the one run here that has {' and '.join(has)}." if has else f"It has the most {unit}."
    ties = sum(_tour_rank(other) == _tour_rank(one) for other in alike)
    of = f" with {' and '.join(has)}" if has else ""
    most = "has the most" if ties == 1 else "is the first with the most"
    return f"Of the {len(alike)} runs{of}, it {most} {unit}."
