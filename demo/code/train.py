"""Train the transformer on random pieces of the training text, and save checkpoints.

Interrupted training continues where it stopped and ends with the same numbers.
"""

# pyright: reportMissingImports=false

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from demo.code.recipe import CodeRecipe
from demo.generate import Tick
from demo.model import Chains

_SAVED_EVERY: Final = 128
_WARM_UP: Final = 50
_FALL: Final = 0.25
_DECAY: Final = 0.1


def new_model(recipe: CodeRecipe) -> Chains:
    """An untrained model; the same one for the same recipe."""
    torch.manual_seed(recipe.seed)
    return Chains(recipe.vocabulary, recipe.width, recipe.layers, recipe.heads)


def learn(text: NDArray[np.int64], recipe: CodeRecipe, work: Path, tick: Tick) -> None:
    """Trains on `text`, the concatenated training files, and writes `checkpoint(work, step)` files."""
    model = new_model(recipe)
    optimisers = _optimisers(model, recipe)
    done = _resumed(work / "latest.pt", model, optimisers)
    tick(done)
    model.train()
    tokens = torch.from_numpy(text)
    for step in range(done, recipe.steps):
        for optimiser, rate in zip(optimisers, (recipe.matrix_rate, recipe.rate), strict=True):
            for group in optimiser.param_groups:
                group["lr"] = rate * _share_of_rate(step, recipe)
        model.zero_grad()
        loss(model, _pieces(tokens, step, recipe)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimiser in optimisers:
            optimiser.step()
        tick(1)
        if step + 1 in recipe.checkpoints:
            _save(model.state_dict(), checkpoint(work, step + 1))
        if (step + 1) % _SAVED_EVERY == 0:
            states = [optimiser.state_dict() for optimiser in optimisers]
            state = {"step": step + 1, "model": model.state_dict(), "optimisers": states}
            _save(state, work / "latest.pt")


def checkpoint(work: Path, step: int) -> Path:
    """The file of the model after this many steps."""
    return work / f"step{step:05}.pt"


def restored(work: Path, step: int, recipe: CodeRecipe) -> Chains:
    """The model after this many steps of `learn`, ready to predict."""
    model = new_model(recipe)
    model.load_state_dict(torch.load(checkpoint(work, step), weights_only=True))
    return model.eval()


def loss(model: Chains, pieces: Tensor) -> Tensor:
    """Mean negative log-likelihood (nats) of each token after the first; pieces: int64 (windows, length)."""
    logits, _cache = model(pieces[:, :-1])
    return functional.cross_entropy(logits.flatten(0, 1), pieces[:, 1:].flatten())


def _pieces(tokens: Tensor, step: int, recipe: CodeRecipe) -> Tensor:
    """The windows of one step, one token longer than the context; they depend only on the step."""
    draw = torch.Generator().manual_seed(recipe.seed * 1_000_003 + step)
    start = torch.randint(len(tokens) - recipe.window, (recipe.batch, 1), generator=draw)
    return tokens[start + torch.arange(recipe.window + 1)]


def _optimisers(model: Chains, recipe: CodeRecipe) -> list[torch.optim.Optimizer]:
    """Muon for the weights within layers, AdamW for all other parameters."""
    within = [p for p in model.blocks.parameters() if p.ndim == 2]
    others = [p for p in model.parameters() if all(p is not one for one in within)]
    return [
        torch.optim.Muon(within, lr=recipe.matrix_rate, weight_decay=_DECAY),
        torch.optim.AdamW(others, lr=recipe.rate, weight_decay=_DECAY),
    ]


def _share_of_rate(step: int, recipe: CodeRecipe) -> float:
    """Share of the highest learning rate: rises for the first steps, and falls to 0 over the last quarter."""
    return min(1.0, (step + 1) / _WARM_UP, (recipe.steps - step) / (_FALL * recipe.steps))


def _resumed(path: Path, model: Chains, optimisers: Sequence[torch.optim.Optimizer]) -> int:
    """Restores the model and its optimisers; returns the steps already done, 0 if none."""
    if not path.exists():
        return 0
    state: dict[str, Any] = torch.load(path, weights_only=True)
    model.load_state_dict(state["model"])
    for optimiser, saved in zip(optimisers, state["optimisers"], strict=True):
        optimiser.load_state_dict(saved)
    return int(state["step"])


def _save(state: dict[str, Any], path: Path) -> None:
    """Saves atomically, because a partly written file would be taken for a checkpoint."""
    part = path.with_suffix(".part")
    torch.save(state, part)
    part.replace(path)
