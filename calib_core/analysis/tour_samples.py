"""What do several answers say that one does not?  The fifth step of the tour."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from calib_core.analysis.evidence import AnswerEvidence, Evidence
from calib_core.analysis.intervals import wilson
from calib_core.analysis.question_clusters import QuestionClusters, question_clusters
from calib_core.analysis.recipe import recipe
from calib_core.analysis.tour_step import ABOUT, Pair, SaidAndRight, Step
from calib_core.analysis.tour_subject import AGREEMENT, Candidate, Subject
from calib_core.confidence import METHODS
from calib_core.confidence.columns import column
from calib_core.confidence.method import Options
from calib_core.confidence.subsets import codes
from calib_core.problems import Unavailable, one_line
from calib_core.wording import count, percent

_QUESTION: Final = 160
_ANSWER: Final = 40
"""Letters of a question and of an answer in a sentence."""


def samples_step(subject: Subject) -> Step:
    """One question asked several times; where no run has that, the run's confidences beside one another."""
    sampled = {key: one for key, one in subject.runs.items() if one.sampled}
    if not sampled:
        return _without(subject)
    own = subject.run in sampled
    run = subject.run if own else max(sampled, key=lambda key: sampled[key].usable[AGREEMENT].n_used)
    one = sampled[run]
    evidence = one.usable[AGREEMENT]
    if not isinstance(evidence, AnswerEvidence):
        raise TypeError(type(evidence))
    elsewhere = "" if own else (
        f"{subject.shown.title} has none, so this is {one.title}, of the runs with several answers to a "
        "question the first with the most rows. "
    )
    opening, picture, which = _one_question(one, evidence)
    return Step(
        kind="samples",
        heading=ABOUT["samples"],
        sentences=(opening, _over_all(one, evidence, subject.method if own else None)),
        picture=picture,
        chosen=f"{elsewhere}{which}",
        recipe=recipe(evidence, None, None),
    )


def _one_question(
    one: Candidate, evidence: AnswerEvidence
) -> tuple[str, QuestionClusters | SaidAndRight, str]:
    """What the samples of a question say, its picture, and which it is; of all where none can be judged."""
    try:
        question, picture = _typical(evidence)
    except Unavailable:
        told = (
            f"{one.name} was asked each question several times: the share of samples that give the same "
            f"answer, its agreement, is {percent(evidence.mean_confidence or 0.0)} on average, and can "
            "serve as its confidence."
        )
        return told, _of_all(one), "Shown is each confidence that the run gives."
    which = "The question is the first whose agreement is nearest to the average."
    return _asked(one, question, picture), picture, which


def _typical(evidence: AnswerEvidence) -> tuple[str, QuestionClusters]:
    """The question whose agreement is nearest to the average, in words and as clusters."""
    pairs = evidence.confidences.pairs
    near = np.abs(pairs.confidence.astype(np.float64) - (evidence.mean_confidence or 0.0))
    place = int(pairs.rows[int(np.argmin(near))])
    found = question_clusters(evidence.run, codes(evidence.run, Options()), place)
    text: str | None = column(evidence.run, "question")[place]
    told = f"“{one_line(text, _QUESTION)}”" if text else f"question {found.row} of its file"
    return told, found


def _asked(one: Candidate, question: str, picture: QuestionClusters) -> str:
    chosen = picture.clusters[0]
    agree = f"{chosen.size} agree{'s' if chosen.size == 1 else ''}"
    return (
        f"Asked {picture.counted} times {question}, {one.name} gives {_several(picture.number)}: "
        f"{agree} on “{one_line(chosen.answer, _ANSWER)}”, so its agreement, "
        f"{percent(chosen.size / picture.counted)}, can serve as its confidence."
    )


def _several(number: int) -> str:
    return f"{number} different answers" if number > 1 else "1 answer only"


def _over_all(one: Candidate, evidence: Evidence, method: str | None) -> str:
    """What agreement says over all questions, and beside it the method that the tour is of."""
    beside = ""
    if method not in (None, AGREEMENT):
        other = one.usable[method]
        on = "" if other.n_used == evidence.n_used else f" on {count(other.n_used, 'question')}"
        beside = (
            f", against {other.brier or 0.0:.4f} of “{other.method.title}”{on}, which says "
            f"{percent(other.mean_confidence or 0.0)} and is right {percent(other.accuracy or 0.0)} of the "
            "time"
        )
    of = f"Over all {evidence.n_used:,} questions" if evidence.n_used > 1 else "On its 1 question"
    return (
        f"{of} agreement is {percent(evidence.mean_confidence or 0.0)} on "
        f"average, and the answer most often given is right {percent(evidence.accuracy or 0.0)} of the time: "
        f"a Brier score (lower is better) of {evidence.brier or 0.0:.4f}{beside}."
    )


def _without(subject: Subject) -> Step:
    usable = {id_: own.of_top for id_, own in subject.shown.usable.items()}
    return Step(
        kind="samples",
        heading=ABOUT["samples"],
        sentences=(
            (
                f"{_once(subject)}, so agreement between answers cannot be shown on this data: it would be "
                "one more confidence, the share of samples that give the same answer."
            ),
            _instead(subject, usable),
        ),
        picture=_of_all(subject.shown),
        chosen="Shown instead: each confidence that the run gives.",
        recipe=recipe(subject.evidence, None, None),
    )


def _once(subject: Subject) -> str:
    """That nothing was asked several times."""
    if len(subject.runs) > 1:
        return f"Not one of the {len(subject.runs)} runs here has a question with several sampled answers"
    n = subject.evidence.n_used
    told = count(n, subject.noun[:-1])
    if subject.shown.answers:
        return f"{subject.name} gave its {told} once{' each' if n > 1 else ''}"
    return f"{subject.name} has {told} of a text and no sampled answers"


def _instead(subject: Subject, usable: Mapping[str, Evidence]) -> str:
    if len(usable) == 1:
        own = subject.evidence
        return (
            f"The run gives 1 confidence, “{own.method.title}”, which says "
            f"{percent(own.mean_confidence or 0.0)} on average and is right {percent(own.accuracy or 0.0)} "
            "of the time."
        )
    low, high = (end(usable.values(), key=lambda own: own.brier or 0.0) for end in (min, max))
    score = "the Brier score (lower is better)"
    opening = f"{subject.name} gives {len(usable)} confidences: {score}"
    if f"{low.brier or 0.0:.4f}" == f"{high.brier or 0.0:.4f}":
        return f"{opening} is {low.brier or 0.0:.4f} by each of them."
    return (
        f"{opening} goes from {low.brier or 0.0:.4f} by “{low.method.title}” to {high.brier or 0.0:.4f} by "
        f"“{high.method.title}”."
    )


def _of_all(one: Candidate) -> SaidAndRight:
    unit = "answers" if one.answers else "positions"
    return SaidAndRight(tuple(_pair(own.of_top) for own in one.usable.values()), unit)


def _pair(own: Evidence) -> Pair:
    count = own.top_sums.pairs
    low, high = wilson(np.array([own.top_sums.right]), np.array([count]), own.alike)
    return Pair(
        METHODS[own.method.id].title, own.mean_confidence or 0.0, own.accuracy or 0.0, float(low[0]),
        float(high[0]), count,
    )
