"""What is a confidence, and what would it be to be calibrated?  The first two steps of the tour."""

from __future__ import annotations

from typing import Final

import numpy as np

from calib_core.analysis.concentration import concentration
from calib_core.analysis.evidence import AnswerEvidence, Evidence
from calib_core.analysis.intervals import wilson
from calib_core.analysis.limits import FEW, TEN
from calib_core.analysis.questions import questions
from calib_core.analysis.reading import bin_name
from calib_core.analysis.recipe import recipe
from calib_core.analysis.tendency import Tendency, tendency
from calib_core.analysis.tour_step import ABOUT, OneAnswer, Option, Pair, SaidAndRight, Step
from calib_core.analysis.tour_subject import Subject
from calib_core.confidence.choices import choice_texts
from calib_core.problems import one_line
from calib_core.wording import count, every, percent, too_few

_QUESTION: Final = 200
_ANSWER: Final = 60
"""Letters of a question and of an answer in a sentence."""
_WRONG: Final = "it is wrong"
"""The other thing that a single confidence speaks of."""


def answer_step(subject: Subject) -> Step:
    """One question, its answer and its confidence; of a text, whose positions are not kept, all of them."""
    evidence = subject.evidence
    if not isinstance(evidence, AnswerEvidence):
        return _of_a_text(subject, evidence)
    pairs = evidence.confidences.pairs
    at = int(np.argmin(np.abs(pairs.confidence.astype(np.float64) - (evidence.mean_confidence or 0.0))))
    row = questions(evidence).frame.row(at, named=True)
    confidence, right = float(pairs.confidence[at]), bool(pairs.correct[at])
    text, answer = row.get("question"), row["answer"]
    return Step(
        kind="answer",
        heading=ABOUT["answer"],
        sentences=(
            (
                f"{_asked(text, row)} {subject.name} {_answered(answer)} and is {percent(confidence)} sure: "
                "that number is its confidence."
            ),
            (
                f"{_judged(right, row['gold'], answer)}, {_alone(confidence, right)}: "
                f"{_together(evidence.n_used)}."
            ),
        ),
        picture=OneAnswer(text, _options(evidence, at, answer), confidence, right),
        chosen="The question is the first whose confidence is nearest to the average.",
        recipe=recipe(evidence, None, None),
    )


def _asked(text: str | None, row: dict[str, object]) -> str:
    if text:
        return f"Asked “{one_line(text, _QUESTION)}”,"
    return f"On question {one_line(str(row['id']), _ANSWER)}," if row.get("id") else f"On row {row['row']},"


def _answered(answer: str | None) -> str:
    return f"answers “{one_line(answer, _ANSWER)}”" if answer else "gives an answer"


def _judged(right: bool, gold: str | None, answer: str | None) -> str:  # noqa: FBT001 (what it speaks of)
    if right:
        return "This time it is right"
    told = f" (right is “{one_line(gold, _ANSWER)}”)" if gold and gold != answer else ""
    return f"This time it is wrong{told}"


def _alone(confidence: float, right: bool) -> str:  # noqa: FBT001 (what it speaks of)
    """What one answer says of its confidence: nothing, unless that left no room for what happened."""
    if confidence == (0.0 if right else 1.0):
        off = "little" if right else "much"
        return f"so {percent(confidence)} was too {off}, but by how much nobody can tell from one answer"
    return f"and from one answer nobody can tell whether {percent(confidence)} is too much or too little"


def _together(n: int) -> str:
    return f"that takes {every(n)} answers together" if n > 1 else "that would take more than this one"


def _options(evidence: AnswerEvidence, at: int, answer: str | None) -> tuple[Option, ...]:
    """What the confidence is spread over: the choices of the question, or the answer and its being wrong."""
    pairs, whole = evidence.confidences.pairs, evidence.confidences.distribution
    if whole is None:
        confidence, right = float(pairs.confidence[at]), bool(pairs.correct[at])
        return (
            Option(answer or "its answer", confidence, chosen=True, right=right),
            Option(_WRONG, 1 - confidence, chosen=False, right=None),
        )
    begin, size = int(whole.start[at]), int(whole.sizes[at])
    texts = choice_texts(evidence.run.rows[[int(whole.rows[at])] * size], np.arange(size))
    top = int(whole.top_position[at])
    return tuple(
        Option(
            texts[place], float(whole.probs[begin + place]), chosen=place == top,
            right=place == int(whole.label[at]),
        )
        for place in range(size)
    )


def _of_a_text(subject: Subject, evidence: Evidence) -> Step:
    seen = concentration(evidence, TEN)
    fullest = seen.table.row(int(seen.table["count"].arg_max() or 0), named=True)
    return Step(
        kind="answer",
        heading=ABOUT["answer"],
        sentences=(
            (
                f"At each of {evidence.n_used:,} positions of a text, {subject.name} names the next token it "
                "holds most probable, and how probable: that number is its confidence, "
                f"{_average(evidence.mean_confidence)}."
            ),
            (
                "Of a text only sums are kept, so the picture shows all positions and not one: "
                f"{percent(fullest['share'])} of them have a confidence between {fullest['low']:.3g} and "
                f"{fullest['high']:.3g}, and of all, {percent(evidence.accuracy or 0.0)} are right."
            ),
        ),
        picture=seen,
        chosen="All positions are shown.",
        recipe=seen.recipe,
    )


def _average(mean: float | None) -> str:
    return f"{percent(mean or 0.0)} on average"


def bin_step(subject: Subject) -> Step:
    """What the answers of the fullest bin say, and how many of them are right."""
    evidence, noun = subject.evidence, subject.noun
    binned = evidence.top_sums.binned(TEN)
    at = int(np.argmax(binned.count))
    found = tendency(binned, alike=evidence.alike)
    n, right = int(binned.count[at]), int(binned.correct[at])
    said, share, there = float(binned.confidence[at]) / n, right / n, count(n, noun[:-1])
    low, high = (float(end[at]) for end in wilson(binned.correct, binned.count, evidence.alike))
    spread = f", give or take {100 * float(found.limit[at]) / n:.1f} points of chance"
    where = bin_name(binned, at)
    return Step(
        kind="bin",
        heading=ABOUT["bin"],
        sentences=(
            (
                f"Put the {noun} of {subject.name} into ten bins by confidence: in the fullest, {where}, it "
                f"says {percent(said)} on average, and calibrated means that {percent(said)} of the "
                f"{there} there should be right{spread if n >= FEW else ''}."
            ),
            (
                f"{right:,} of {n:,} {'is' if right == 1 else 'are'} right, which is {percent(share)}: "
                f"{_verdict(found, at, n, noun)}."
            ),
        ),
        picture=SaidAndRight((Pair(f"{where}, {there}", said, share, low, high, n),), noun),
        chosen=f"The bin is the one of ten with the most {noun}.",
        recipe=recipe(evidence, None, TEN),
    )


def _verdict(found: Tendency, at: int, n: int, noun: str) -> str:
    """Judged with all other bins, as the next step does."""
    if n < FEW:
        return too_few(n, noun[:-1])
    if not found.clear[at]:
        return f"as often as it says, as far as {n:,} {noun} can tell"
    return f"{'less' if found.over[at] else 'more'} often than it says, by more than chance"
