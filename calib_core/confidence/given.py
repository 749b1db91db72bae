"""How sure is the model, by the file's own column?"""

from __future__ import annotations

from typing import Final

from calib_core.confidence.columns import lacking
from calib_core.confidence.method import Confidences, Method, Options
from calib_core.confidence.outcomes import outcomes
from calib_core.confidence.scalar import Scalar, judged
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun


def _of(run: AnswerRun, options: Options) -> Confidences:
    """The column `confidence` as it stands."""
    if not run.has("confidence"):
        raise Unavailable(f"{lacking(run, 'confidence')}: one number from 0 to 1 a question is needed")
    scalar = Scalar(run.rows["confidence"], ("as given",), computed=False)
    return judged(run, scalar, outcomes(run, "greedy", options))


GIVEN: Final = Method(
    id="given",
    title="confidence in the file",
    meaning="The number that the file's column “confidence” holds, however it was made.",
    source="one column of the file, as it stands",
    needs="one number from 0 to 1 a question (confidence); an outcome",
    of=_of,
    rank=5,
    look=(1, "hexagon", "14px,3px"),
)
