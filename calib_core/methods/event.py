"""The probability of an event, against whether it came true.

Decisions, judges' scores and classifiers of two classes state the probability of *yes*. One below a half is
as good a forecast as one above it, and there is no answer that may be right.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from calib_core.methods.answers.outcomes import Outcomes, RowConfidences, pair_with_outcomes, require_known
from calib_core.methods.columns import column, first_reason
from calib_core.methods.method import Confidences, Method, MethodOptions
from calib_core.runs import AnswerRun

YES_OR_NO: Final = "event"
"""What the outcome belongs to, where an answer would be named."""


def event_probabilities(run: AnswerRun, _options: MethodOptions) -> Confidences:
    """The column `event_prob` with the outcome `event`."""
    outcome, stated = column(run, "event"), run.rows["event_prob"]
    outcomes = Outcomes(
        judged=YES_OR_NO,
        correct=outcome,
        unknown_reason=first_reason(run.rows.height, ("no outcome of the event", outcome.is_null())),
        answers=pl.Series("answer", [None], dtype=pl.String).new_from_index(0, run.rows.height),
    )
    probabilities = RowConfidences(
        stated,
        ("probability of yes as given",),
        computed=False,
        missing_reason=first_reason(run.rows.height, ("no probability", stated.is_null())),
    )
    return pair_with_outcomes(run, probabilities, require_known(outcomes))


EVENT: Final = Method(
    id="event",
    title="probability of yes",
    meaning="The probability of an event, in the file's column “event_prob”, against whether it came true.",
    source="one column of the file, unchanged",
    needs="the probability of an event (event_prob); whether it came true (event)",
    compute=event_probabilities,
    columns=("event_prob",),
    requirement="the probability of an event is needed",
    probability_of="event",
    headline_rank=0,
    style=(3, "star-triangle-up", "2px,2px,8px,2px"),
)
