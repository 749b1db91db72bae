"""Token-level runs made in memory, as a file would give them, and their distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calib_core.methods.method import MethodOptions
from calib_core.pairs import Distribution
from calib_core.results.evidence import TokenEvidence, gather_evidence
from calib_core.runs import RowCounts, RunInfo, TokenRun
from calib_core.tokens.dense import DenseReducer
from calib_core.tokens.sums import TokenSums
from calib_core.tokens.topk import TopKEntries
from core.topk_builders import reduce_topk


def random_rows(
    n: int, classes: int, seed: int = 0, *, sharp: float = 0.5, off: float = 1.0
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Distributions, and right classes drawn from them to the power `off` (1: exactly calibrated)."""
    random = np.random.default_rng(seed)
    probs = random.dirichlet(np.full(classes, sharp), n)
    truth = probs**off / (probs**off).sum(axis=1, keepdims=True)
    label = (random.random((n, 1)) > truth.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return probs, label


def distribution(
    probs: NDArray[Any] | Sequence[Sequence[float]], label: Sequence[int] | NDArray[Any]
) -> Distribution:
    """The same as choices of answers; rows may differ in length."""
    sizes = np.array([len(row) for row in probs], np.int64)
    flat = np.concatenate([np.asarray(row) for row in probs]) if sizes.size else np.zeros(0)
    rows = np.arange(sizes.size)
    return Distribution(flat, sizes, np.asarray(label, np.int64), rows, computed=False, normalised=True)


def dense_sums(
    probs: NDArray[Any],
    target: NDArray[Any],
    *,
    by_class: bool = True,
    text: NDArray[np.int64] | None = None,
) -> TokenSums:
    """Every entry stored; text: number of each position's text."""
    reducer = DenseReducer(probs.shape[1], by_class=by_class)
    reducer.add(probs, target, text)
    return reducer.result()


def token_run(sums: TokenSums, *notes: str) -> TokenRun:
    """A run of these sums."""
    ledger = RowCounts(n_rows=sums.n_rows, notes=notes)
    return TokenRun("text.npz", "npz", "model · text", RunInfo(), sums, ledger)


def dense_evidence(
    probs: NDArray[Any],
    target: NDArray[Any],
    options: MethodOptions | None = None,
    *,
    by_class: bool = True,
    text: NDArray[np.int64] | None = None,
) -> TokenEvidence:
    """Every entry stored, seen by the method `tokens`."""
    sums = dense_sums(probs, target, by_class=by_class, text=text)
    return gather_evidence(token_run(sums), "tokens", options)


def top_k_evidence(
    probs: NDArray[Any], target: NDArray[np.int64], k: int, options: MethodOptions | None = None
) -> TokenEvidence:
    """The k largest entries of each position and the target's probability, seen by the method `tokens`."""
    ids = np.argsort(-probs, axis=1, kind="stable")[:, :k]
    n, classes = probs.shape
    rows = np.arange(n)
    entries = TopKEntries(
        probs=np.take_along_axis(probs, ids, axis=1).ravel(),
        ids=ids.ravel().astype(np.int64),
        sizes=np.full(n, k, np.int64),
        target=target,
        target_prob=probs[rows, target],
        row=rows.astype(np.int64),
        n_classes=classes,
    )
    return gather_evidence(token_run(reduce_topk(entries, seed=0)), "tokens", options)
