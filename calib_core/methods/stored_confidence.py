"""Methods that take a column of the file as it stands.

The column holds a confidence of any origin, or the one that the model wrote when it was asked. A file may
name several confidences of one answer, each of which is a method of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from calib_core.methods.answers.outcomes import RowConfidences, answer_outcomes, pair_with_outcomes
from calib_core.methods.method import Confidences, Method, MethodOptions
from calib_core.runs import AnswerRun


@dataclass(frozen=True, slots=True)
class _AsStored:
    """A method that takes a column as it stands; `phrase` says so in the recipe."""

    column: str
    phrase: str

    def __call__(self, run: AnswerRun, options: MethodOptions) -> Confidences:
        confidences = RowConfidences(run.rows[self.column], (self.phrase,), computed=False)
        return pair_with_outcomes(run, confidences, answer_outcomes(run, "greedy", options))


GIVEN: Final = Method(
    id="given",
    title="confidence in the file",
    meaning="The number in the file's column “confidence”, however computed; a column “confidence.NAME” "
    "is a separate method with that name.",
    source="one column of the file, unchanged",
    needs="one number from 0 to 1 per question (confidence); an outcome",
    compute=_AsStored("confidence", "as given"),
    columns=("confidence",),
    requirement="one number from 0 to 1 per question is needed",
    display_rank=5,
    headline_rank=2,
    style=(1, "hexagon", "14px,3px"),
)


def named_given(name: str) -> Method:
    """The method "given.NAME" of a file's column `confidence.NAME`, titled by the words of its name."""
    column = f"confidence.{name}"
    return replace(
        GIVEN,
        id=f"{GIVEN.id}.{name}",
        title=" ".join(re.split(r"[\s_-]+", name)).strip() or name,
        meaning=f"The number in the file's column “{column}”, however computed.",
        needs=f"one number from 0 to 1 per question ({column}); an outcome",
        compute=_AsStored(column, f"{name} as given"),
        columns=(column,),
        style=None,
    )


VERBAL: Final = Method(
    id="verbal",
    title="stated confidence",
    meaning="The number the model writes when asked how sure it is.",
    source="a number the model wrote, as parsed",
    needs="the confidence that the model wrote (verbal_confidence); an outcome",
    compute=_AsStored("verbal_confidence", "as stated"),
    columns=("verbal_confidence",),
    requirement="a confidence that the model wrote is needed",
    display_rank=6,
    headline_rank=1,
    style=(5, "cross", "3px,6px"),
)
