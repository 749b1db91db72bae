"""What is a confidence, and what would it be to be calibrated?  The first two steps of the tour."""

from __future__ import annotations

from typing import Final

import numpy as np

from calib_core.analysis.concentration import measure_concentration
from calib_core.analysis.evidence import AnswerEvidence, Evidence
from calib_core.analysis.intervals import wilson_interval
from calib_core.analysis.limits import MIN_ROWS, DEFAULT_SCHEME
from calib_core.analysis.questions import questions_in_bin
from calib_core.analysis.reading import bin_name
from calib_core.analysis.recipe import recipe_text
from calib_core.analysis.tendency import Verdict, judge_calibration
from calib_core.analysis.tour_step import STEP_TITLES, SingleAnswer, AnswerOption, ConfidenceAccuracy, ConfidenceAccuracyPairs, TourStep
from calib_core.analysis.tour_subject import TourSubject
from calib_core.confidence.choices import choice_texts
from calib_core.problems import single_line
from calib_core.wording import plural, both_or_all, format_percent, too_few_phrase

_MAX_QUESTION_LETTERS: Final = 200
_MAX_ANSWER_LETTERS: Final = 60
"""Letters of a question and of an answer in a sentence."""
_WRONG_OPTION: Final = "it is wrong"
"""The other thing that a single confidence speaks of."""


def answer_step(subject: TourSubject) -> TourStep:
    """One question, its answer and its confidence; of a text, whose positions are not kept, all of them."""
    evidence = subject.evidence
    if not isinstance(evidence, AnswerEvidence):
        return _token_answer_step(subject, evidence)
    pairs = evidence.confidences.pairs
    at = int(np.argmin(np.abs(pairs.confidence.astype(np.float64) - (evidence.mean_confidence or 0.0))))
    row = questions_in_bin(evidence).frame.row(at, named=True)
    confidence, right = float(pairs.confidence[at]), bool(pairs.correct[at])
    text, answer = row.get("question"), row["answer"]
    return TourStep(
        kind="answer",
        heading=STEP_TITLES["answer"],
        sentences=(
            (
                f"{_asked_clause(text, row)} {subject.name} {_answered_clause(answer)} and is {format_percent(confidence)} sure: "
                "that number is its confidence."
            ),
            (
                f"{_outcome_clause(right, row['gold'], answer)}, {_single_answer_clause(confidence, right)}: "
                f"{_together_clause(evidence.n_used)}."
            ),
        ),
        picture=SingleAnswer(text, _answer_options(evidence, at, answer), confidence, right),
        selection_note="The question is the first whose confidence is nearest to the average.",
        recipe=recipe_text(evidence, None, None),
    )


def _asked_clause(text: str | None, row: dict[str, object]) -> str:
    if text:
        return f"Asked “{single_line(text, _MAX_QUESTION_LETTERS)}”,"
    return f"On question {single_line(str(row['id']), _MAX_ANSWER_LETTERS)}," if row.get("id") else f"On row {row['row']},"


def _answered_clause(answer: str | None) -> str:
    return f"answers “{single_line(answer, _MAX_ANSWER_LETTERS)}”" if answer else "gives an answer"


def _outcome_clause(right: bool, gold: str | None, answer: str | None) -> str:  # noqa: FBT001 (what it speaks of)
    if right:
        return "This time it is right"
    told = f" (right is “{single_line(gold, _MAX_ANSWER_LETTERS)}”)" if gold and gold != answer else ""
    return f"This time it is wrong{told}"


def _single_answer_clause(confidence: float, right: bool) -> str:  # noqa: FBT001 (what it speaks of)
    """What one answer says of its confidence: nothing, unless that left no room for what happened."""
    if confidence == (0.0 if right else 1.0):
        off = "little" if right else "much"
        return f"so {format_percent(confidence)} was too {off}, but by how much nobody can tell from one answer"
    return f"and from one answer nobody can tell whether {format_percent(confidence)} is too much or too little"


def _together_clause(n: int) -> str:
    return f"that takes {both_or_all(n)} answers together" if n > 1 else "that would take more than this one"


def _answer_options(evidence: AnswerEvidence, pair_index: int, answer: str | None) -> tuple[AnswerOption, ...]:
    """What the confidence is spread over: the choices of the question, or the answer and its being wrong."""
    pairs, whole = evidence.confidences.pairs, evidence.confidences.distribution
    if whole is None:
        confidence, right = float(pairs.confidence[pair_index]), bool(pairs.correct[pair_index])
        return (
            AnswerOption(answer or "its answer", confidence, chosen=True, right=right),
            AnswerOption(_WRONG_OPTION, 1 - confidence, chosen=False, right=None),
        )
    begin, size = int(whole.row_starts[pair_index]), int(whole.sizes[pair_index])
    texts = choice_texts(evidence.run.rows[[int(whole.rows[pair_index])] * size], np.arange(size))
    top = int(whole.top_index[pair_index])
    return tuple(
        AnswerOption(
            texts[place], float(whole.probs[begin + place]), chosen=place == top,
            right=place == int(whole.target[pair_index]),
        )
        for place in range(size)
    )


def _token_answer_step(subject: TourSubject, evidence: Evidence) -> TourStep:
    seen = measure_concentration(evidence, DEFAULT_SCHEME)
    fullest = seen.table.row(int(seen.table["count"].arg_max() or 0), named=True)
    return TourStep(
        kind="answer",
        heading=STEP_TITLES["answer"],
        sentences=(
            (
                f"At each of {evidence.n_used:,} positions of a text, {subject.name} names the next token it "
                "holds most probable, and how probable: that number is its confidence, "
                f"{_mean_clause(evidence.mean_confidence)}."
            ),
            (
                "Of a text only sums are kept, so the picture shows all positions and not one: "
                f"{format_percent(fullest['share'])} of them have a confidence between {fullest['low']:.3g} and "
                f"{fullest['high']:.3g}, and of all, {format_percent(evidence.accuracy or 0.0)} are right."
            ),
        ),
        picture=seen,
        selection_note="All positions are shown.",
        recipe=seen.recipe,
    )


def _mean_clause(mean: float | None) -> str:
    return f"{format_percent(mean or 0.0)} on average"


def bin_step(subject: TourSubject) -> TourStep:
    """What the answers of the fullest bin say, and how many of them are right."""
    evidence, noun = subject.evidence, subject.unit_plural
    binned = evidence.top_label_sums.binned(DEFAULT_SCHEME)
    at = int(np.argmax(binned.count))
    found = judge_calibration(binned, design_effect=evidence.design_effect)
    n, right = int(binned.count[at]), int(binned.correct[at])
    said, share, there = float(binned.confidence[at]) / n, right / n, plural(n, noun[:-1])
    low, high = (float(end[at]) for end in wilson_interval(binned.correct, binned.count, evidence.design_effect))
    spread = f", give or take {100 * float(found.chance_limit[at]) / n:.1f} points of chance"
    where = bin_name(binned, at)
    return TourStep(
        kind="bin",
        heading=STEP_TITLES["bin"],
        sentences=(
            (
                f"Put the {noun} of {subject.name} into ten bins by confidence: in the fullest, {where}, it "
                f"says {format_percent(said)} on average, and calibrated means that {format_percent(said)} of the "
                f"{there} there should be right{spread if n >= MIN_ROWS else ''}."
            ),
            (
                f"{right:,} of {n:,} {'is' if right == 1 else 'are'} right, which is {format_percent(share)}: "
                f"{_bin_verdict_clause(found, at, n, noun)}."
            ),
        ),
        picture=ConfidenceAccuracyPairs((ConfidenceAccuracy(f"{where}, {there}", said, share, low, high, n),), noun),
        selection_note=f"The bin is the one of ten with the most {noun}.",
        recipe=recipe_text(evidence, None, DEFAULT_SCHEME),
    )


def _bin_verdict_clause(judgement: Verdict, bin_index: int, n: int, unit_plural: str) -> str:
    """Judged with all other bins, as the next step does."""
    if n < MIN_ROWS:
        return too_few_phrase(n, unit_plural[:-1])
    if not judgement.significant[bin_index]:
        return f"as often as it says, as far as {n:,} {unit_plural} can tell"
    return f"{'less' if judgement.over_gap[bin_index] else 'more'} often than it says, by more than chance"
