"""Words for what a probability is of, and for what came of it: an answer that is right, or an event.

Everything that is computed on pairs of probability and outcome holds for both. A sentence, an axis or a
heading about them takes its nouns from here, and is written once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from calib_core.wording import format_percent

ProbabilityOf = Literal["answer", "event"]
"""Whether a probability is that of the answer being right, or of an event, *yes*, being true."""

Of = Literal["answer", "event", "both"]
"""The same of several runs, which may differ."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The words for pairs of one kind, or for those of runs of both.

    Attributes
    ----------
    of : {"answer", "event", "both"}
        What the probabilities are of.
    confidence : str
        The probability: "confidence".
    confidences : str
        Several of them: "confidences".
    accuracy : str
        The share of rows with the outcome 1: "accuracy".
    right, wrong : str
        The outcomes 1 and 0: "right".
    answer, answers : str
        What a row holds, and rows: "answer".
    over, under : str
        What a bin is whose probabilities are too high, or too low: "over-confident".
    share_right : str
        The accuracy of some of the rows: "share right".
    share_axis : str
        Title of its axis.
    question, questions : str
        What is answered or forecast, once in a file unless it is repeated: "question".
    to_answer, answered : str
        What is done from a threshold on: "answer", "answered".
    precision : str
        The share of the outcome 1 where that is done: "accuracy".
    hit : str
        What these are then: "right".
    highest : str
        Those of the highest probabilities, with their number before it: "most confident answers".
    right_answer, wrong_answer : str
        What answering may lead to: "wrong answer".
    """

    of: Of
    confidence: str
    confidences: str
    accuracy: str
    right: str
    wrong: str
    answer: str
    answers: str
    over: str
    under: str
    share_right: str
    share_axis: str
    question: str
    questions: str
    to_answer: str
    answered: str
    precision: str
    hit: str
    highest: str
    right_answer: str
    wrong_answer: str

    @property
    def confidence_title(self) -> str:
        """The probability as a heading: "Confidence", "Probability of yes"."""
        return self.confidence.capitalize()

    @property
    def accuracy_title(self) -> str:
        """The share as a heading: "Accuracy", "Share of yes"."""
        return self.accuracy.capitalize()

    @property
    def gap(self) -> str:
        """What the gap of a bin is, as a sentence: "Confidence − accuracy."."""
        return f"{self.confidence_title} − {self.accuracy}."

    @property
    def no_pair(self) -> str:
        """Why there is nothing to compute where rows lack one of the two: "has both a … and an outcome"."""
        return f"has both a {self.confidence} and an outcome"

    @property
    def outcome_help(self) -> str:
        """What the outcome of a row says."""
        return "Whether the event came true." if self.of == "event" else "Whether the judged answer is right."

    @property
    def outcomes(self) -> str:
        """Both outcomes as a heading: "Right or wrong"."""
        return f"{self.right} or {self.wrong}".capitalize()

    def stated_and_observed(self, confidence: float, accuracy: float) -> str:
        """Mean probability and share of the outcome 1, both in [0, 1], as the rest of a sentence.

        Examples
        --------
        >>> ANSWER_TERMS.stated_and_observed(0.72, 0.61)
        'states 72.0 % on average and is right 61.0 % of the time'
        >>> EVENT_TERMS.stated_and_observed(0.72, 0.61)
        'gives yes 72.0 % on average, and yes is true 61.0 % of the time'
        """
        stated, observed = format_percent(confidence), format_percent(accuracy)
        if self.of == "event":
            return f"gives yes {stated} on average, and yes is true {observed} of the time"
        return f"states {stated} on average and is right {observed} of the time"

    def of_them_right(self, share: str) -> str:
        """How many of the rows that were just named have the outcome 1, as a clause.

        Examples
        --------
        >>> ANSWER_TERMS.of_them_right("80.1 %")
        '80.1 % of them are right'
        >>> EVENT_TERMS.of_them_right("80.1 %")
        'yes is true in 80.1 % of them'
        """
        return (
            f"yes is true in {share} of them" if self.of == "event" else f"{share} of them are {self.right}"
        )

    def right_how_often(self, often: str, *, of_one: bool = False) -> str:
        """How often rows have the outcome 1, as the rest of a sentence about them.

        Examples
        --------
        >>> ANSWER_TERMS.right_how_often("less often")
        'are right less often'
        >>> EVENT_TERMS.right_how_often("less often")
        'hold yes less often'
        """
        if self.of == "event":
            return f"{'holds' if of_one else 'hold'} yes {often}"
        return f"{'is' if of_one else 'are'} {self.right} {often}"


ANSWER_TERMS: Final = Terms(
    of="answer",
    confidence="confidence",
    confidences="confidences",
    accuracy="accuracy",
    right="right",
    wrong="wrong",
    answer="answer",
    answers="answers",
    over="over-confident",
    under="under-confident",
    share_right="share right",
    share_axis="Accuracy (share right)",
    question="question",
    questions="questions",
    to_answer="answer",
    answered="answered",
    precision="accuracy",
    hit="right",
    highest="most confident answers",
    right_answer="right answer",
    wrong_answer="wrong answer",
)
EVENT_TERMS: Final = Terms(
    of="event",
    confidence="probability of yes",
    confidences="probabilities",
    accuracy="share of yes",
    right="yes",
    wrong="no",
    answer="row",
    answers="rows",
    over="yes too often",
    under="yes too rarely",
    share_right="share of yes",
    share_axis="Share of yes",
    question="item",
    questions="items",
    to_answer="say yes",
    answered="called yes",
    precision="precision",
    hit="truly yes",
    highest="items of the highest probability",
    right_answer="true yes",
    wrong_answer="false yes",
)
MIXED_TERMS: Final = Terms(
    of="both",
    confidence="probability",
    confidences="probabilities",
    accuracy="share right or yes",
    right="right or yes",
    wrong="wrong or no",
    answer="row",
    answers="rows",
    over="too high",
    under="too low",
    share_right="share right or yes",
    share_axis="Share right or yes",
    question="item",
    questions="items",
    to_answer="act",
    answered="acted on",
    precision="precision",
    hit="right or yes",
    highest="items of the highest probability",
    right_answer="hit",
    wrong_answer="mistake",
)
"""For a heading over runs of answers and runs of events."""

TERMS: Final[Mapping[ProbabilityOf, Terms]] = MappingProxyType({"answer": ANSWER_TERMS, "event": EVENT_TERMS})
"""What probabilities are of → their words."""


def common_terms(each: Iterable[Terms]) -> Terms:
    """The words for all of these: those that they share, or those for both kinds; of none, those of answers.

    Examples
    --------
    >>> common_terms([EVENT_TERMS, EVENT_TERMS]).accuracy
    'share of yes'
    >>> common_terms([EVENT_TERMS, ANSWER_TERMS]).accuracy
    'share right or yes'
    """
    kinds = set(each) or {ANSWER_TERMS}
    return kinds.pop() if len(kinds) == 1 else MIXED_TERMS
