"""What is one step of the tour?  A heading, two sentences with this data's numbers, and its picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

import polars as pl

from calib_core.analysis.comparison import Comparison
from calib_core.analysis.concentration import Concentration
from calib_core.analysis.question_clusters import QuestionClusters
from calib_core.analysis.reliability import Reliability
from calib_core.analysis.sweep import Sweep

StepKind = Literal["answer", "bin", "whole", "bins", "samples", "models"]


STEP_TITLES: Final[Mapping[StepKind, str]] = MappingProxyType({
    "answer": "What a confidence is",
    "bin": "What calibrated means",
    "whole": "Over-confident or not, and where",
    "bins": "Why one number is not enough",
    "samples": "Several answers instead of one",
    "models": "Which model to trust",
})
"""Step → what it is about; its heading, but of the whole, where the data decides that."""


@dataclass(frozen=True, slots=True)
class AnswerOption:
    """One thing that may be the answer. chosen: whether it is judged; right: None where not known."""

    text: str
    confidence: float
    chosen: bool
    right: bool | None


@dataclass(frozen=True, slots=True)
class SingleAnswer:
    """The answer to one question. question: None where the file has no texts; options: as they were given."""

    question: str | None
    options: tuple[AnswerOption, ...]
    confidence: float
    right: bool

    def to_frame(self) -> pl.DataFrame:
        """One row an option: answer, confidence, chosen, right."""
        return pl.DataFrame(
            [(one.text, one.confidence, one.chosen, one.right) for one in self.options],
            schema={"answer": pl.String, "confidence": pl.Float64, "chosen": pl.Boolean, "right": pl.Boolean},
            orient="row",
        )


@dataclass(frozen=True, slots=True)
class ConfidenceAccuracy:
    """What some answers say and how many are right: shares; low, high: 95 % Wilson of `right`."""

    name: str
    mean_confidence: float
    accuracy: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class ConfidenceAccuracyPairs:
    """Several such pairs. unit: what is counted."""

    pairs: tuple[ConfidenceAccuracy, ...]
    unit: str

    def to_frame(self) -> pl.DataFrame:
        """One row a pair: name, said, right, right_low, right_high, count."""
        return pl.DataFrame(
            [(one.name, one.mean_confidence, one.accuracy, one.low, one.high, one.count) for one in self.pairs],
            schema={
                "name": pl.String, "said": pl.Float64, "right": pl.Float64, "right_low": pl.Float64,
                "right_high": pl.Float64, "count": pl.Int64,
            },
            orient="row",
        )


TourPicture: TypeAlias = (
    SingleAnswer | ConfidenceAccuracyPairs | Reliability | Sweep | QuestionClusters | Comparison | Concentration
)


@dataclass(frozen=True, slots=True, eq=False)
class TourStep:
    """One step.

    heading: what it is about, and what there is to see where the data decides that; sentences: two, with
    numbers of this data; chosen: what of the data is shown and by which rule; recipe: how the numbers are
    made.
    """

    kind: StepKind
    heading: str
    sentences: tuple[str, str]
    picture: TourPicture
    selection_note: str
    recipe: str

    def to_frame(self) -> pl.DataFrame:
        """The numbers of the picture, with the recipe beside every row."""
        return self.picture.to_frame().with_columns(recipe=pl.lit(self.recipe))
