"""How large is the model, how long is it trained, how much is it asked?  Every choice, in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that decides the data, but for the code itself.

    version: raised whenever a file would come out differently by intent; per_kind: questions of each
    kind in each of the two sets; train, check: problems the model learns from, and problems its own
    answers to which it learns to judge; width, layers, heads: the transformer; batch: sequences a
    step; temperature, samples: of the sampled answers; longest: tokens of an answer at most.
    """

    version: str = "R2.1"
    seed: int = 20
    per_kind: int = 170
    train: int = 2_000
    check: int = 6_000
    width: int = 64
    layers: int = 4
    heads: int = 4
    batch: int = 32
    steps: int = 2_000
    rate: float = 3e-3
    check_steps: int = 400
    check_rate: float = 5e-4
    temperature: float = 0.7
    samples: int = 16
    longest: int = 64
