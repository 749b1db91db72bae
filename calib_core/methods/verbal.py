"""How confident does the model say it is?"""

from __future__ import annotations

from typing import Final

from calib_core.errors import Unavailable
from calib_core.methods.answers.outcomes import answer_outcomes
from calib_core.methods.columns import missing_columns_phrase
from calib_core.methods.method import Confidences, Method, MethodOptions
from calib_core.methods.row_confidences import RowConfidences, pair_with_outcomes
from calib_core.runs import AnswerRun


def _verbal_confidences(run: AnswerRun, options: MethodOptions) -> Confidences:
    """The confidence that the model stated, as parsed by the tool that wrote the file."""
    if not run.has_columns("verbal_confidence"):
        raise Unavailable(
            f"{missing_columns_phrase(run, 'verbal_confidence')}: a confidence that the model wrote is needed"
        )
    confidences = RowConfidences(run.rows["verbal_confidence"], ("as stated",), computed=False)
    return pair_with_outcomes(run, confidences, answer_outcomes(run, "greedy", options))


VERBAL: Final = Method(
    id="verbal",
    title="stated confidence",
    meaning="The number that the model wrote when it was asked how sure it is.",
    source="a number the model wrote, as parsed",
    needs="the confidence that the model wrote (verbal_confidence); an outcome",
    compute=_verbal_confidences,
    display_rank=6,
    style=(5, "cross", "3px,6px"),
)
