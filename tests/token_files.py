"""Token-level files made from seeds, which the tests of the pages write and open."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

CLASSES = 60
STEPS = (100, 400, 1600, 6400)

Rows = tuple[NDArray[np.float32], NDArray[np.int64]]


def positions(rows: int = 300, seed: int = 1, sharp: float = 1.0) -> Rows:
    """Distributions over CLASSES tokens, and right ones drawn from them; sharp: how much too sure it is."""
    random = np.random.default_rng(seed)
    scores = random.normal(0, 1.6, (rows, CLASSES)) - 1.2 * np.log(np.arange(1, CLASSES + 1))
    truth = _softmax(scores)
    target = (random.random((rows, 1)) > truth.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return _softmax(sharp * scores).astype(np.float32), target


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def write_npz(path: Path, rows: Rows, *, texts_known: bool = True, **meta: Any) -> Path:
    """The rows, three of each text, as dense NPZ, with what is known of the run."""
    probs, target = rows
    text: dict[str, Any] = {"text": np.arange(target.size) // 3} if texts_known else {}
    np.savez(path, probs=probs, target=target, meta=np.array(json.dumps(meta)), **text)
    return path


def write_checkpoints(folder: Path, steps: Sequence[int] = STEPS, model: str = "gpt") -> list[Path]:
    """One file a checkpoint, each less sure of itself than the one before; the last is calibrated."""
    sharp = np.linspace(2.5, 1.0, len(steps))
    return [
        write_npz(
            folder / f"{model}-{step:06d}.npz",
            positions(seed=at, sharp=float(sharp[at])),
            model=model,
            dataset="plays",
            checkpoint=f"step{step}",
        )
        for at, step in enumerate(steps)
    ]


def write_topk(path: Path, kept: int = 8, rows: int = 200, **meta: Any) -> Path:
    """The `kept` largest of each position, and the right one's own."""
    probs, target = positions(rows, seed=7, sharp=1.3)
    log = np.log(probs.astype(np.float64))
    with path.open("w", encoding="utf-8") as file:
        for own, right in zip(log, target, strict=True):
            order = np.argsort(-own, kind="stable")[:kept]
            file.write(
                json.dumps(
                    {
                        "target": int(right),
                        "target_logprob": float(own[right]),
                        "top_ids": order.tolist(),
                        "top_logprobs": own[order].tolist(),
                        "vocab_size": CLASSES,
                        **meta,
                    }
                )
                + "\n"
            )
    return path
