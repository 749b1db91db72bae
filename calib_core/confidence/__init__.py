"""Which confidences can be had, and from what?  A run → pairs of (confidence, outcome); METHODS."""

from __future__ import annotations

from typing import Final

from calib_core.confidence.choice_length_normalised import CHOICE_LENGTH_NORMALISED
from calib_core.confidence.choice_softmax import CHOICE_SOFTMAX
from calib_core.confidence.cluster_number import CLUSTER_NUMBER
from calib_core.confidence.cluster_size import CLUSTER_SIZE
from calib_core.confidence.given import GIVEN
from calib_core.confidence.logit_answer import LOGIT_ANSWER
from calib_core.confidence.logit_path import LOGIT_PATH
from calib_core.confidence.method import Method
from calib_core.confidence.p_true import P_TRUE
from calib_core.confidence.pairwise import PAIRWISE
from calib_core.confidence.tokens import TOKENS
from calib_core.confidence.verbal import VERBAL

METHODS: Final[dict[str, Method]] = {
    CHOICE_SOFTMAX.id: CHOICE_SOFTMAX,
    CHOICE_LENGTH_NORMALISED.id: CHOICE_LENGTH_NORMALISED,
    LOGIT_PATH.id: LOGIT_PATH,
    LOGIT_ANSWER.id: LOGIT_ANSWER,
    P_TRUE.id: P_TRUE,
    CLUSTER_NUMBER.id: CLUSTER_NUMBER,
    CLUSTER_SIZE.id: CLUSTER_SIZE,
    PAIRWISE.id: PAIRWISE,
    VERBAL.id: VERBAL,
    GIVEN.id: GIVEN,
    TOKENS.id: TOKENS,
}
"""Every method, by id, in the order in which they are shown."""
