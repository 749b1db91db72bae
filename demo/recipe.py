"""How large are the models, how long do they learn, how much are they asked?  Every choice, in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Size:
    """One transformer: its name, its shape, and for how many steps it learns to answer."""

    name: str
    width: int
    layers: int
    heads: int
    steps: int


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that decides the data, but for the code itself.

    version: raised whenever a file would come out differently by intent; per_kind: questions of each
    kind in each of the two sets; train, tune, check: problems a model learns from, problems one of them
    is tuned on, and problems its own answers to which it learns to judge; sizes: the models; tuned:
    the name of the one that is tuned as well; batch: sequences a step; matrix_rate, rate: of the
    weights within layers (Muon), and of all others (AdamW); tune_share, check_share: these rates,
    times this, when it goes on learning; temperature, samples: of the sampled answers; longest: tokens
    of an answer at most.
    """

    version: str = "R2.3"
    seed: int = 20
    per_kind: int = 170
    train: int = 30_000
    tune: int = 1_000
    check: int = 3_000
    sizes: tuple[Size, ...] = (
        Size("chains-35k", 36, 2, 2, 280),
        Size("chains-0.1M", 44, 4, 2, 400),
        Size("chains-0.2M", 64, 4, 4, 550),
        Size("chains-0.4M", 88, 4, 4, 550),
        Size("chains-0.8M", 128, 4, 4, 2_600),
    )
    tuned: str = "chains-0.2M"
    batch: int = 64
    matrix_rate: float = 0.03
    rate: float = 4e-3
    tune_steps: int = 220
    tune_share: float = 0.5
    check_steps: int = 160
    check_share: float = 0.3
    temperature: float = 0.7
    samples: int = 64
    longest: int = 64
