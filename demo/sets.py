"""Which problems are learnt from, and which are asked?  A recipe → five sets that share nothing asked."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from demo.problems import KINDS, Problem, draw_clear, draw_many, with_options
from demo.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Problems:
    """Five sets; no calculation that is asked is even a part of one learnt from.

    train: learnt from, short ones more than once; tune: learnt from in the second style; check: a model
    learns to judge its own answers to these, none of which is in train or tune; open, choice: asked.
    """

    train: list[Problem]
    tune: list[Problem]
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
    each = [kind for kind in KINDS for _ in range(recipe.per_kind)]
    asked: set[str] = set()
    is_open = draw_many(each, random, asked)
    choice = [with_options(problem, random) for problem in draw_many(each, random, asked)]
    check = _learnt(recipe.check, random, asked, set())
    others = {" ".join(problem.calculation) for problem in check}
    tune = _learnt(recipe.tune, random, asked, others)
    return Problems(_learnt(recipe.train, random, asked, others), tune, check, is_open, choice)


def _learnt(count: int, random: Random, asked: set[str], others: set[str]) -> list[Problem]:
    """So many problems, the kinds in turn, with options every other round."""
    kinds = list(KINDS)
    drawn = [draw_clear(kinds[n % len(kinds)], random, asked, others) for n in range(count)]
    return [with_options(p, random) if n // len(kinds) % 2 else p for n, p in enumerate(drawn)]
