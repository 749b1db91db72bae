"""Save single positions: the largest entries of each (Parquet), or whole distributions (NPZ)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.runs import RunInfo
from demo.code.predict import Model
from demo.code.recipe import CodeRecipe
from demo.code.runs import TINY
from demo.code.windows import Asked, said

_SCHEMA = {
    "doc": pl.String,
    "position": pl.Int32,
    "target": pl.Int32,
    "target_logprob": pl.Float64,
    "target_rank": pl.Int32,
    "top_ids": pl.List(pl.Int32),
    "top_logprobs": pl.List(pl.Float32),
    "rest_mass": pl.Float64,
}


def save_top(
    path: Path, info: RunInfo, model: Model, asked: Asked, names: Sequence[str], recipe: CodeRecipe
) -> int:
    """Writes the `recipe.top` largest entries of positions spread over the texts; returns how many positions.

    names: of the test files. All log-probabilities, including the target's, are rounded to float32 first, so
    that a token has only one probability.
    """
    every = recipe.positions // recipe.top_positions
    pieces = [_top(probs, target, recipe.top) for probs, target in said(model, asked, every)]
    rows = pl.concat(pieces).with_columns(
        doc=pl.Series([names[file] for file in asked.file[::every]]),
        position=pl.Series(asked.place[::every], dtype=pl.Int32),
    )
    told = {**_metadata(info, recipe), "k": recipe.top, "sorted": True, "target_appended": False}
    rows.select(*_SCHEMA).cast(pl.Schema(_SCHEMA)).write_parquet(
        path, compression="zstd", compression_level=19, metadata={"calib": json.dumps(told)}
    )
    return rows.height


def save_dense(
    path: Path, info: RunInfo, model: Model, asked: Asked, names: Sequence[str], recipe: CodeRecipe
) -> int:
    """Writes whole distributions in float16 at positions spread over the texts; returns how many.

    names: of the test files; each is a text.
    """
    every = recipe.positions // recipe.dense_positions
    pieces = list(said(model, asked, every))
    target = np.concatenate([target for _probs, target in pieces]).astype(np.int32)
    probs = np.concatenate([probs for probs, _target in pieces]).astype(np.float16)
    text = np.array([names[file] for file in asked.file[::every]])
    meta = np.array(json.dumps(_metadata(info, recipe)))
    np.savez_compressed(path, probs=probs, target=target, text=text, meta=meta)
    return len(target)


def _top(probs: NDArray[np.float32], target: NDArray[np.int64], top: int) -> pl.DataFrame:
    ids = np.argsort(-probs, axis=1, kind="stable")[:, :top]
    right = probs[np.arange(len(target)), target]
    logs = np.log(np.take_along_axis(probs, ids, 1))
    return pl.DataFrame(
        {
            "target": target,
            "target_logprob": np.log(right).astype(np.float64),
            "target_rank": 1 + np.count_nonzero(probs > right[:, None], axis=1),
            "top_ids": ids,
            "top_logprobs": logs,
            "rest_mass": 1 - np.take_along_axis(probs, ids, 1).astype(np.float64).sum(1),
        }
    ).with_columns(pl.col("top_ids", "top_logprobs").arr.to_list())


def _metadata(info: RunInfo, recipe: CodeRecipe) -> dict[str, object]:
    names = ("model", "params_b", "tuning", "dataset", "checkpoint", "tokens_seen", "temperature")
    told = asdict(info)
    return {
        "format": "calib-tokens",
        "version": 1,
        **{name: told[name] for name in names},
        "vocab_size": recipe.vocabulary,
        "created_by": f"python -m demo r1, recipe {recipe.version}, seed {recipe.seed}",
        "notes": [TINY],
    }
