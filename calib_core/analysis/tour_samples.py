"""What do several answers say that one does not?  The fifth step of the tour."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from calib_core.analysis.evidence import AnswerEvidence, Evidence
from calib_core.analysis.intervals import wilson_interval
from calib_core.analysis.question_clusters import QuestionClusters, question_clusters
from calib_core.analysis.recipe import recipe_text
from calib_core.analysis.tour_step import STEP_TITLES, ConfidenceAccuracy, ConfidenceAccuracyPairs, TourStep
from calib_core.analysis.tour_subject import AGREEMENT_METHOD, TourCandidate, TourSubject
from calib_core.confidence import METHODS
from calib_core.confidence.columns import column
from calib_core.confidence.method import MethodOptions
from calib_core.confidence.subsets import sample_matrix
from calib_core.problems import Unavailable, single_line
from calib_core.wording import plural, format_percent

_MAX_SAMPLED_QUESTION_LETTERS: Final = 160
_MAX_SAMPLED_ANSWER_LETTERS: Final = 40
"""Letters of a question and of an answer in a sentence."""


def samples_step(subject: TourSubject) -> TourStep:
    """One question asked several times; where no run has that, the run's confidences beside one another."""
    sampled = {key: one for key, one in subject.runs.items() if one.has_samples}
    if not sampled:
        return _step_without_samples(subject)
    own = subject.run in sampled
    run = subject.run if own else max(sampled, key=lambda key: sampled[key].usable[AGREEMENT_METHOD].n_used)
    one = sampled[run]
    evidence = one.usable[AGREEMENT_METHOD]
    if not isinstance(evidence, AnswerEvidence):
        raise TypeError(type(evidence))
    elsewhere = "" if own else (
        f"{subject.candidate.title} has none, so this is {one.title}, of the runs with several answers to a "
        "question the first with the most rows. "
    )
    opening, picture, which = _question_or_all(one, evidence)
    return TourStep(
        kind="samples",
        heading=STEP_TITLES["samples"],
        sentences=(opening, _over_all_sentence(one, evidence, subject.method if own else None)),
        picture=picture,
        selection_note=f"{elsewhere}{which}",
        recipe=recipe_text(evidence, None, None),
    )


def _question_or_all(
    candidate: TourCandidate, evidence: AnswerEvidence
) -> tuple[str, QuestionClusters | ConfidenceAccuracyPairs, str]:
    """What the samples of a question say, its picture, and which it is; of all where none can be judged."""
    try:
        question, picture = _typical_question_clusters(evidence)
    except Unavailable:
        told = (
            f"{candidate.name} was asked each question several times: the share of samples that give the same "
            f"answer, its agreement, is {format_percent(evidence.mean_confidence or 0.0)} on average, and can "
            "serve as its confidence."
        )
        return told, _confidence_accuracy_by_method(candidate), "Shown is each confidence that the run gives."
    which = "The question is the first whose agreement is nearest to the average."
    return _agreement_sentence(candidate, question, picture), picture, which


def _typical_question_clusters(evidence: AnswerEvidence) -> tuple[str, QuestionClusters]:
    """The question whose agreement is nearest to the average, in words and as clusters."""
    pairs = evidence.confidences.pairs
    near = np.abs(pairs.confidence.astype(np.float64) - (evidence.mean_confidence or 0.0))
    place = int(pairs.rows[int(np.argmin(near))])
    found = question_clusters(evidence.run, sample_matrix(evidence.run, MethodOptions()), place)
    text: str | None = column(evidence.run, "question")[place]
    told = f"“{single_line(text, _MAX_SAMPLED_QUESTION_LETTERS)}”" if text else f"question {found.row} of its file"
    return told, found


def _agreement_sentence(candidate: TourCandidate, question: str, clusters: QuestionClusters) -> str:
    chosen = clusters.clusters[0]
    agree = f"{chosen.size} agree{'s' if chosen.size == 1 else ''}"
    return (
        f"Asked {clusters.n_samples} times {question}, {candidate.name} gives {_answer_count_text(clusters.n_clusters)}: "
        f"{agree} on “{single_line(chosen.answer, _MAX_SAMPLED_ANSWER_LETTERS)}”, so its agreement, "
        f"{format_percent(chosen.size / clusters.n_samples)}, can serve as its confidence."
    )


def _answer_count_text(n_answers: int) -> str:
    return f"{n_answers} different answers" if n_answers > 1 else "1 answer only"


def _over_all_sentence(candidate: TourCandidate, evidence: Evidence, method: str | None) -> str:
    """What agreement says over all questions, and beside it the method that the tour is of."""
    beside = ""
    if method not in (None, AGREEMENT_METHOD):
        other = candidate.usable[method]
        on = "" if other.n_used == evidence.n_used else f" on {plural(other.n_used, 'question')}"
        beside = (
            f", against {other.brier or 0.0:.4f} of “{other.method.title}”{on}, which says "
            f"{format_percent(other.mean_confidence or 0.0)} and is right {format_percent(other.accuracy or 0.0)} of the "
            "time"
        )
    of = f"Over all {evidence.n_used:,} questions" if evidence.n_used > 1 else "On its 1 question"
    return (
        f"{of} agreement is {format_percent(evidence.mean_confidence or 0.0)} on "
        f"average, and the answer most often given is right {format_percent(evidence.accuracy or 0.0)} of the time: "
        f"a Brier score (lower is better) of {evidence.brier or 0.0:.4f}{beside}."
    )


def _step_without_samples(subject: TourSubject) -> TourStep:
    usable = {id_: own.top_label for id_, own in subject.candidate.usable.items()}
    return TourStep(
        kind="samples",
        heading=STEP_TITLES["samples"],
        sentences=(
            (
                f"{_no_samples_clause(subject)}, so agreement between answers cannot be shown on this data: it would be "
                "one more confidence, the share of samples that give the same answer."
            ),
            _other_methods_sentence(subject, usable),
        ),
        picture=_confidence_accuracy_by_method(subject.candidate),
        selection_note="Shown instead: each confidence that the run gives.",
        recipe=recipe_text(subject.evidence, None, None),
    )


def _no_samples_clause(subject: TourSubject) -> str:
    """That nothing was asked several times."""
    if len(subject.runs) > 1:
        return f"Not one of the {len(subject.runs)} runs here has a question with several sampled answers"
    n = subject.evidence.n_used
    told = plural(n, subject.unit_plural[:-1])
    if subject.candidate.has_answers:
        return f"{subject.name} gave its {told} once{' each' if n > 1 else ''}"
    return f"{subject.name} has {told} of a text and no sampled answers"


def _other_methods_sentence(subject: TourSubject, usable: Mapping[str, Evidence]) -> str:
    if len(usable) == 1:
        own = subject.evidence
        return (
            f"The run gives 1 confidence, “{own.method.title}”, which says "
            f"{format_percent(own.mean_confidence or 0.0)} on average and is right {format_percent(own.accuracy or 0.0)} "
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


def _confidence_accuracy_by_method(candidate: TourCandidate) -> ConfidenceAccuracyPairs:
    unit = "answers" if candidate.has_answers else "positions"
    return ConfidenceAccuracyPairs(tuple(_confidence_accuracy(own.top_label) for own in candidate.usable.values()), unit)


def _confidence_accuracy(evidence: Evidence) -> ConfidenceAccuracy:
    count = evidence.top_label_sums.n_pairs
    low, high = wilson_interval(np.array([evidence.top_label_sums.n_correct]), np.array([count]), evidence.design_effect)
    return ConfidenceAccuracy(
        METHODS[evidence.method.id].title, evidence.mean_confidence or 0.0, evidence.accuracy or 0.0, float(low[0]),
        float(high[0]), count,
    )
