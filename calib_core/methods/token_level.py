"""How probable is the next token at each position of a text?

A token-level run holds sums and no rows, which `results.evidence` reads; here is the registry's entry alone.
"""

from __future__ import annotations

from typing import Final

from calib_core.methods.method import Method

TOKENS: Final = Method(
    id="tokens",
    title="token level",
    meaning=(
        "The probability of the most likely next token at each position of a text; metrics of the "
        "distribution use the probabilities of all tokens."
    ),
    source="top label for ECE, all classes for Full-ECE; Full-ECE paper (Liu et al. 2024)",
    needs="a distribution over the vocabulary and the right token at each position of a text",
    compute=None,
    requirement="a distribution over the vocabulary at each position is needed",
    run_kind="tokens",
    display_rank=1000,
    style=(0, "star-diamond", "solid"),
)
