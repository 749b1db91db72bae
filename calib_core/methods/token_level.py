"""How probable is the next token at each position of a text?

A token-level run holds sums and no rows, which `results.evidence` reads. This module contains the registry's
entry and the reason why the method is unavailable for a run of answers.
"""

from __future__ import annotations

from typing import Final, NoReturn

from calib_core.errors import Unavailable
from calib_core.methods.method import Method, MethodOptions
from calib_core.runs import AnswerRun


def _refuse_answers(_run: AnswerRun, _options: MethodOptions) -> NoReturn:
    """Raises Unavailable, since a run of answers has no distribution at each position."""
    raise Unavailable(
        "a run of answers, one row a question: a distribution over the vocabulary at each position is needed"
    )


TOKENS: Final = Method(
    id="tokens",
    title="token level",
    meaning=(
        "The probability of the likeliest next token at each position of a text; metrics of the "
        "distribution read every token's."
    ),
    source="top label for ECE, all classes for Full-ECE; Full-ECE paper (Liu et al. 2024)",
    needs="a distribution over the vocabulary and the right token at each position of a text",
    compute=_refuse_answers,
    run_kind="tokens",
    display_rank=1000,
    style=(0, "star-diamond", "solid"),
)
