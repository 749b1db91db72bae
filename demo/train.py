"""How does the model learn?  First to answer, then to judge its own answers to other problems."""

# pyright: reportMissingImports=false

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import torch
from torch import Tensor
from torch.nn import functional

from demo.generate import Tick, answers, sampler
from demo.model import Chains
from demo.problems import Problem
from demo.recipe import Recipe
from demo.tokens import CHECK, END, FALSE, ID, PAD, SAY, TRUE, VOCABULARY, WORK, decode, encode, prompt

Lesson = tuple[list[int], int]
"""Tokens, and where the part to learn begins."""


def lessons(problems: Sequence[Problem]) -> list[Lesson]:
    """Each problem answered step by step, and every third answered at once as well."""
    told: list[Lesson] = []
    for number, problem in enumerate(problems):
        ways = [(WORK, problem.working), (SAY, problem.said(problem.answer))]
        for mode, text in ways[: 2 if number % 3 == 0 else 1]:
            asked = prompt(problem.question, mode)
            told.append(([*asked, *encode(text), ID[END]], len(asked)))
    return told


def new_model(recipe: Recipe) -> Chains:
    """An untrained model; the same one for the same recipe."""
    torch.manual_seed(recipe.seed)
    return Chains(len(VOCABULARY), recipe.width, recipe.layers, recipe.heads)


def learn(model: Chains, told: Sequence[Lesson], recipe: Recipe, tick: Tick) -> None:
    """Trains on the lessons, in shuffled rounds, for `recipe.steps` steps."""
    _train(model, _rounds(told, recipe.steps, recipe), recipe.rate, tick)


def verdicts(model: Chains, problems: Sequence[Problem], recipe: Recipe, tick: Tick) -> list[Lesson]:
    """The model's own sampled answer to each problem, then `<check>`, then True or False.

    Only the verdict is learnt from these.
    """
    asked = [prompt(problem.question, WORK) for problem in problems]
    given = answers(model, asked, recipe.longest, sampler(recipe.temperature, recipe.seed + 1), tick)
    told: list[Lesson] = []
    for problem, start, answer in zip(problems, asked, given, strict=True):
        right = answer.ended and decode(answer.tokens).endswith(f"Answer: {problem.said(problem.answer)}")
        tokens = [*start, *answer.tokens, ID[CHECK], ID[TRUE if right else FALSE]]
        told.append((tokens, len(tokens) - 1))
    return told


def learn_to_check(
    model: Chains, judged: Sequence[Lesson], told: Sequence[Lesson], recipe: Recipe, tick: Tick
) -> None:
    """Goes on training on verdicts, with as many of the old lessons to keep the rest alive."""
    mixed = [*judged, *told[: len(judged)]]
    _train(model, _rounds(mixed, recipe.check_steps, recipe), recipe.check_rate, tick)


def _rounds(told: Sequence[Lesson], steps: int, recipe: Recipe) -> list[list[Lesson]]:
    """The lessons of each step: every lesson once, in a new order each time round."""
    random = Random(recipe.seed)  # noqa: S311 - a stream that can be had again is the point
    order: list[int] = []
    batches: list[list[Lesson]] = []
    for _step in range(steps):
        if len(order) < recipe.batch:
            order = random.sample(range(len(told)), len(told))
        batches.append([told[place] for place in order[: recipe.batch]])
        order = order[recipe.batch :]
    return batches


def _train(model: Chains, batches: Sequence[Sequence[Lesson]], rate: float, tick: Tick) -> None:
    """One step of AdamW a batch; the rate rises for a tenth of them at most, then falls to 0 (cosine)."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    warm_up = max(1, min(200, len(batches) // 10))
    model.train()
    for step, part in enumerate(batches):
        fall = 0.5 * (1 + math.cos(math.pi * step / len(batches)))
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / warm_up) * fall
        optimiser.zero_grad()
        loss(model, part).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        tick(1)


def loss(model: Chains, part: Sequence[Lesson]) -> Tensor:
    """Mean negative log-likelihood of the tokens to learn."""
    longest = max(len(tokens) for tokens, _start in part)
    tokens = torch.tensor([[*t, *[ID[PAD]] * (longest - len(t))] for t, _start in part])
    place = torch.arange(longest)
    start = torch.tensor([start for _tokens, start in part])[:, None]
    wanted = tokens.masked_fill((place < start) | (tokens == ID[PAD]), -100)[:, 1:]
    logits, _cache = model(tokens[:, :-1])
    return functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=-100)
