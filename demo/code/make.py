"""Make the token-level data, recipe R1: train, predict, sum up, save (`python -m demo r1`)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console
from rich.progress import Progress

from calib_core.readers.token.sums import write_sums
from calib_core.runs import TokenRun
from demo.bars import bar, bars
from demo.code.ngram import counted
from demo.code.positions import save_dense, save_top
from demo.code.recipe import CodeRecipe
from demo.code.runs import Judged, of_counts, of_network, reduced
from demo.code.text import library, split
from demo.code.tokens import encoded, learnt
from demo.code.train import learn
from demo.code.windows import Asked, asked
from demo.code.work import work_folder
from demo.manifest import record

GPT: Final = "code-gpt.sums.parquet"
NGRAM: Final = "code-ngram.sums.parquet"
TOP: Final = "code-top20.tokens.parquet"
DENSE: Final = "code-dense.tokens.npz"


def make(folder: Path, work: Path | None, console: Console) -> None:
    """Makes everything and replaces the recipe's files in `folder`; `work` as in `work_folder`."""
    recipe = CodeRecipe()
    texts = split(library(), recipe.test_share, recipe.seed)
    kept = work_folder(work, recipe, texts)
    encoding = learnt(texts.train, recipe.vocabulary)
    train = np.concatenate(encoded(encoding, texts.train))
    test = encoded(encoding, texts.test)
    positions = asked(test, recipe)
    names = [source.name for source in texts.test]
    console.print(
        f"{len(texts.train)} files of {len(train):,} tokens to learn from, {len(texts.test)} of "
        f"{sum(map(len, test)):,} to predict in, at {len(positions.target):,} positions; kept in {kept}"
    )
    with bars(console) as progress:
        learn(train, recipe, kept, bar(progress, "learning", recipe.steps))
        judged = of_network(recipe, kept)
        networks = [_run(one, positions, names, recipe, progress) for one in judged]
        counts = counted(train, recipe.vocabulary, recipe.order)
        ngrams = [
            _run(one, positions, names, recipe, progress) for one in of_counts(recipe, counts, len(train))
        ]
    write_sums(networks, folder / GPT)
    write_sums(ngrams, folder / NGRAM)
    last = judged[len(recipe.checkpoints) - 1]
    rows = {
        GPT: sum(run.n_total for run in networks),
        NGRAM: sum(run.n_total for run in ngrams),
        TOP: save_top(folder / TOP, last.info, last.load(), positions, names, recipe),
        DENSE: save_dense(folder / DENSE, last.info, last.load(), positions, names, recipe),
    }
    tools = ("torch", "tokenizers", "numpy", "polars")
    record(folder, rows, recipe=recipe.version, seed=recipe.seed, made_with=tools)


def _run(
    judged: Judged, positions: Asked, names: list[str], recipe: CodeRecipe, progress: Progress
) -> TokenRun:
    return reduced(judged, positions, names, recipe, bar(progress, judged.label, recipe.windows))
