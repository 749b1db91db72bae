"""Which problems are learnt from, and which are asked?  A recipe → four sets that share nothing."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from demo.problems import KINDS, UNPRACTISED, Problem, draw_many, with_options
from demo.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Problems:
    """Four sets without a calculation in common; no asked one is even a part of one learnt from.

    train: learnt from; check: the model learns to judge its own answers to these; open, choice: asked.
    """

    train: list[Problem]
    check: list[Problem]
    open: list[Problem]
    choice: list[Problem]

    @property
    def asked(self) -> list[str]:
        """The right calculation of every test problem."""
        return [" ".join(problem.calculation) for problem in (*self.open, *self.choice)]


def problems(recipe: Recipe) -> Problems:
    """All problems of a recipe, the same ones each time. Half of those to learn from have options."""
    random = Random(recipe.seed)  # noqa: S311 - a stream that can be had again is the point
    practised = [kind for kind in KINDS if kind != UNPRACTISED]
    each = [kind for kind in KINDS for _ in range(recipe.per_kind)]
    taken: set[str] = set()
    is_open = draw_many(each, random, taken, forbidden=set())
    choice = [with_options(problem, random) for problem in draw_many(each, random, taken, forbidden=set())]
    forbidden = set(taken)
    count = recipe.train + recipe.check
    in_turn = [practised[n % len(practised)] for n in range(count)]
    drawn = draw_many(in_turn, random, taken, forbidden=forbidden)
    mixed = [with_options(p, random) if n // len(practised) % 2 else p for n, p in enumerate(drawn)]
    return Problems(mixed[: recipe.train], mixed[recipe.train :], is_open, choice)
