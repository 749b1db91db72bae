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
    """

    of: ProbabilityOf
    confidence: str
    confidences: str
    accuracy: str
    right: str
    wrong: str
    answer: str

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


ANSWER_TERMS: Final = Terms("answer", "confidence", "confidences", "accuracy", "right", "wrong", "answer")
EVENT_TERMS: Final = Terms("event", "probability of yes", "probabilities", "share of yes", "yes", "no", "row")

TERMS: Final[Mapping[ProbabilityOf, Terms]] = MappingProxyType({"answer": ANSWER_TERMS, "event": EVENT_TERMS})
"""What probabilities are of → their words."""
