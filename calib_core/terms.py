"""Words for what a probability is of, and for what came of it: an answer that is right, or an event.

Everything that is computed on pairs of probability and outcome holds for both. A sentence, an axis or a
heading about them takes its nouns from here, and is written once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from calib_core.wording import format_percent

ProbabilityOf = Literal["answer", "event"]
"""Whether a probability is that of the answer being right, or of an event, *yes*, being true."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The words for pairs of one kind.

    Attributes
    ----------
    of : {"answer", "event"}
        What the probabilities are of.
    confidence : str
        The probability: "confidence".
    confidences : str
        Several of them: "confidences".
    accuracy : str
        The share of rows with the outcome 1: "accuracy".
    right, wrong : str
        The outcomes 1 and 0: "right".
    answer : str
        What a row holds: "answer".
    question, questions : str
        What is answered or forecast, once in a file unless it is repeated: "question".
    to_answer, answered : str
        What is done from a threshold on: "answer", "answered".
    precision : str
        The share of the outcome 1 among those: "accuracy".
    hit : str
        What these are then: "right".
    highest : str
        Those of the highest probabilities, with their number before it: "most confident answers".
    wrong_answer, right_answer : str
        One of those that turns out to be wrong or right: "wrong answer".
    method : str
        Where the probabilities come from: "confidence method".
    """

    of: ProbabilityOf
    confidence: str
    confidences: str
    accuracy: str
    right: str
    wrong: str
    answer: str
    question: str
    questions: str
    to_answer: str
    answered: str
    precision: str
    hit: str
    highest: str
    wrong_answer: str
    right_answer: str
    method: str

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


ANSWER_TERMS: Final = Terms(
    "answer", "confidence", "confidences", "accuracy", "right", "wrong", "answer",
    question="question",
    questions="questions",
    to_answer="answer",
    answered="answered",
    precision="accuracy",
    hit="right",
    highest="most confident answers",
    wrong_answer="wrong answer",
    right_answer="right answer",
    method="confidence method",
)  # fmt: skip
EVENT_TERMS: Final = Terms(
    "event", "probability of yes", "probabilities", "share of yes", "yes", "no", "row",
    question="item",
    questions="items",
    to_answer="say yes",
    answered="called yes",
    precision="precision",
    hit="truly yes",
    highest="items of the highest probability",
    wrong_answer="false yes",
    right_answer="true yes",
    method="method",
)  # fmt: skip

TERMS: Final[Mapping[ProbabilityOf, Terms]] = MappingProxyType({"answer": ANSWER_TERMS, "event": EVENT_TERMS})
"""What probabilities are of → their words."""
