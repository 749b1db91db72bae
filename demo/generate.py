"""What does the model answer?  Greedy or sampled continuations, with each token's log-probability."""

# pyright: reportMissingImports=false

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from demo.model import Chains
from demo.tokens import END, ID

Tick = Callable[[int], None]
"""Told how many more are done."""

_AT_ONCE: Final = 512


@dataclass(frozen=True, slots=True)
class Answer:
    """One continuation without its end token.

    logprobs: the model's own log-probability of each token (natural log, temperature 1), whatever
    temperature it was sampled at; ended: whether the model ended it, rather than the limit.
    """

    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]
    ended: bool


def log_probabilities(logits: Tensor) -> Tensor:
    """Log-softmax in float64 of the model's float32 logits."""
    return torch.log_softmax(logits.double(), -1)


def single(value: float) -> float:
    """A float64 kept to float32 precision, which is all that float32 logits can carry."""
    return float(torch.tensor(value, dtype=torch.float32))


@torch.no_grad()
def answers(
    model: Chains,
    prompts: Sequence[Sequence[int]],
    longest: int,
    pick: Callable[[Tensor], Tensor],
    tick: Tick,
) -> list[Answer]:
    """One answer a prompt, in the order of the prompts; prompts of one length go together.

    pick: logits (sequences, words) → token of each sequence.
    """
    by_length: dict[int, list[int]] = defaultdict(list)
    for place, prompt in enumerate(prompts):
        by_length[len(prompt)].append(place)
    found: dict[int, Answer] = {}
    for length in sorted(by_length):
        places = by_length[length]
        for start in range(0, len(places), _AT_ONCE):
            part = places[start : start + _AT_ONCE]
            batch = torch.tensor([prompts[place] for place in part])
            found.update(zip(part, _continue(model, batch, longest, pick), strict=True))
            tick(len(part))
    return [found[place] for place in range(len(prompts))]


def _continue(
    model: Chains, batch: Tensor, longest: int, pick: Callable[[Tensor], Tensor]
) -> list[Answer]:
    logits, cache = model(batch)
    tokens: list[Tensor] = []
    logprobs: list[Tensor] = []
    ended = torch.zeros(len(batch), dtype=torch.bool)
    while len(tokens) < longest and not bool(ended.all()):
        chosen = pick(logits[:, -1])
        tokens.append(chosen)
        logprobs.append(log_probabilities(logits[:, -1]).gather(1, chosen[:, None])[:, 0])
        ended |= chosen == ID[END]
        logits, cache = model(chosen[:, None], cache)
    rows = zip(torch.stack(tokens, 1).tolist(), torch.stack(logprobs, 1).tolist(), strict=True)
    return [_cut(of_one, their_logprobs) for of_one, their_logprobs in rows]


def _cut(tokens: list[int], logprobs: list[float]) -> Answer:
    ended = ID[END] in tokens
    stop = tokens.index(ID[END]) if ended else len(tokens)
    return Answer(tuple(tokens[:stop]), tuple(map(single, logprobs[:stop])), ended)


def greedy(logits: Tensor) -> Tensor:
    """The most probable token of each sequence."""
    return logits.argmax(-1)


def sampler(temperature: float, seed: int) -> Callable[[Tensor], Tensor]:
    """A `pick` that draws from softmax(logits / temperature), with a stream of its own."""
    stream = torch.Generator().manual_seed(seed)

    def pick(logits: Tensor) -> Tensor:
        chances = torch.softmax(logits.double() / temperature, -1)
        return torch.multinomial(chances, 1, generator=stream)[:, 0]

    return pick
