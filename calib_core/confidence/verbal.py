"""How sure does the model say it is?"""

from __future__ import annotations

from typing import Final

from calib_core.confidence.columns import lacking
from calib_core.confidence.method import Confidences, Method, Options
from calib_core.confidence.outcomes import outcomes
from calib_core.confidence.scalar import Scalar, judged
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun


def _of(run: AnswerRun, options: Options) -> Confidences:
    """The confidence the model wrote, as parsed from its words by whoever made the file."""
    if not run.has("verbal_confidence"):
        raise Unavailable(f"{lacking(run, 'verbal_confidence')}: a confidence that the model wrote is needed")
    scalar = Scalar(run.rows["verbal_confidence"], ("as stated",), computed=False)
    return judged(run, scalar, outcomes(run, "greedy", options))


VERBAL: Final = Method(
    id="verbal",
    title="stated confidence",
    meaning="The number that the model wrote when it was asked how sure it is.",
    source="a number the model wrote, as parsed",
    needs="the confidence that the model wrote (verbal_confidence); an outcome",
    of=_of,
    rank=6,
    look=(5, "cross", "3px,6px"),
)
