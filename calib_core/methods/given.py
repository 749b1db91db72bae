"""How confident is the model according to the file's own column `confidence`?"""

from __future__ import annotations

from typing import Final

from calib_core.errors import Unavailable
from calib_core.methods.answers.outcomes import answer_outcomes
from calib_core.methods.columns import missing_columns_phrase
from calib_core.methods.method import Confidences, Method, MethodOptions
from calib_core.methods.row_confidences import RowConfidences, pair_with_outcomes
from calib_core.runs import AnswerRun


def _given_confidences(run: AnswerRun, options: MethodOptions) -> Confidences:
    """The column `confidence` as stored."""
    if not run.has_columns("confidence"):
        raise Unavailable(
            f"{missing_columns_phrase(run, 'confidence')}: one number from 0 to 1 a question is needed"
        )
    confidences = RowConfidences(run.rows["confidence"], ("as given",), computed=False)
    return pair_with_outcomes(run, confidences, answer_outcomes(run, "greedy", options))


GIVEN: Final = Method(
    id="given",
    title="confidence in the file",
    meaning="The number that the file's column “confidence” holds, however it was made.",
    source="one column of the file, as it stands",
    needs="one number from 0 to 1 a question (confidence); an outcome",
    compute=_given_confidences,
    display_rank=5,
    style=(1, "hexagon", "14px,3px"),
)
