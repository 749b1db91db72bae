"""Of which run does the tour tell, and why of that one?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from calib_core.analysis.evidence import AnswerEvidence, Evidence
from calib_core.records import AnswerRun

AGREEMENT: Final = "cluster_size"
"""The method of the tour's fifth picture: the share of samples that agree."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """One run at hand. title: what it is called; usable: method id → evidence, at least one."""

    title: str
    usable: Mapping[str, Evidence]

    @property
    def any(self) -> Evidence:
        """By its first method: what does not depend on the method may be asked of this."""
        return next(iter(self.usable.values()))

    @property
    def name(self) -> str:
        """What it is called in a sentence: its model, where the file names it."""
        return self.any.run.info.model or self.title

    @property
    def answers(self) -> bool:
        """Whether it answers questions, and is no text."""
        return isinstance(self.any, AnswerEvidence)

    @property
    def readable(self) -> bool:
        """Whether its questions can be read."""
        run = self.any.run
        return isinstance(run, AnswerRun) and run.has("question")

    @property
    def sampled(self) -> bool:
        """Whether its questions were answered several times."""
        return AGREEMENT in self.usable


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """What the tour tells of.

    run: key of the shown one among `runs`; method: its id, usable there; runs: all at hand, by key.
    """

    run: str
    method: str
    runs: Mapping[str, Candidate]

    @property
    def shown(self) -> Candidate:
        """The run."""
        return self.runs[self.run]

    @property
    def evidence(self) -> Evidence:
        """The run by the method, each row by its top label."""
        return self.shown.usable[self.method].of_top

    @property
    def name(self) -> str:
        """What the run is called in a sentence."""
        return self.shown.name

    @property
    def noun(self) -> str:
        """What there are many of: "answers", or "positions" of a text."""
        return "answers" if self.shown.answers else "positions"


def most_telling(runs: Mapping[str, Candidate]) -> str:
    """The run that the tour shows where nobody has chosen one: see `why`. runs: one or more."""
    return max(runs, key=lambda key: _telling(runs[key]))


def _telling(one: Candidate) -> tuple[bool, bool, bool, int]:
    return one.answers, one.readable, one.sampled, one.any.n_used


def why(runs: Mapping[str, Candidate], run: str) -> str:
    """Why `most_telling` took this one, as a sentence."""
    if len(runs) == 1:
        return "It is the one run here."
    one = runs[run]
    unit = "rows" if one.answers else "positions"
    has = [
        *(["answers to questions"] if one.answers and not one.readable else []),
        *(["questions that can be read"] if one.readable else []),
        *(["several answers to each"] if one.sampled else []),
    ]
    alike = [other for other in runs.values() if _telling(other)[:3] == _telling(one)[:3]]
    if len(alike) == 1:
        return f"It is the one run here that has {' and '.join(has)}." if has else f"It has the most {unit}."
    ties = sum(_telling(other) == _telling(one) for other in alike)
    of = f" with {' and '.join(has)}" if has else ""
    most = "has the most" if ties == 1 else "is the first with the most"
    return f"Of the {len(alike)} runs{of}, it {most} {unit}."
