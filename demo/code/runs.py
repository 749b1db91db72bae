"""The models to evaluate, their names and their sums."""

# pyright: reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from calib_core.runs import RowCounts, RunInfo, TokenRun
from calib_core.tokens.dense import DenseReducer
from calib_core.tokens.texts import text_numbers
from demo.code.ngram import Counts
from demo.code.predict import Model, by_counts, by_network
from demo.code.recipe import CodeRecipe
from demo.code.train import new_model, restored
from demo.code.windows import Asked, said
from demo.generate import Tick

DATASET: Final = "stdlib-code"
TINY: Final = "Tiny model trained for this demo."


@dataclass(frozen=True, eq=False)
class Judged:
    """A run to compute.

    load: creates the model when it is needed; by_class: whether sums by class are kept, which makes a run
    nearly three times as large.
    """

    info: RunInfo
    load: Callable[[], Model]
    by_class: bool

    @property
    def label(self) -> str:
        """A unique name; the last checkpoint occurs at several temperatures."""
        known = self.info.label("")
        return known if self.info.temperature == 1 else f"{known} · temperature {self.info.temperature:g}"


def of_network(recipe: CodeRecipe, work: Path) -> list[Judged]:
    """The transformer at each checkpoint, then the last one at the other temperatures."""
    parameters = new_model(recipe).parameters_count()
    info = RunInfo(
        model=f"gpt-code-{parameters / 1e6:.1f}M", dataset=DATASET, params_b=parameters / 1e9, tuning="base"
    )
    wanted = [(step, 1.0) for step in recipe.checkpoints]
    wanted += [(recipe.steps, temperature) for temperature in recipe.temperatures]

    def at(step: int, temperature: float) -> Judged:
        return Judged(
            replace(
                info, checkpoint=f"step{step}", tokens_seen=recipe.tokens_seen(step), temperature=temperature
            ),
            lambda: by_network(restored(work, step, recipe), temperature),
            by_class=step == recipe.steps and temperature == 1,
        )

    return [at(step, temperature) for step, temperature in wanted]


def of_counts(recipe: CodeRecipe, counts: Counts, tokens: int) -> list[Judged]:
    """The n-gram model with each smoothing. tokens: length of the training text."""
    info = RunInfo(
        dataset=DATASET, params_b=counts.size / 1e9, tuning="base", temperature=1.0, tokens_seen=tokens
    )
    return [
        Judged(
            replace(info, model=f"{recipe.order}-gram-{name}"),
            lambda softness=softness: by_counts(counts, softness),
            by_class=False,
        )
        for name, softness in recipe.softness
    ]


def reduced(judged: Judged, asked: Asked, names: Sequence[str], recipe: CodeRecipe, tick: Tick) -> TokenRun:
    """The sums of one run over all positions; the distributions are float32, like a model's output.

    names: of the test files; each is a text.
    """
    reducer = DenseReducer(recipe.vocabulary, seed=recipe.seed, by_class=judged.by_class)
    texts = text_numbers([names[file] for file in asked.file]).reshape(len(asked.windows), -1)
    for (probs, target), text in zip(said(judged.load(), asked), texts, strict=True):
        reducer.add(probs, target, text)
        tick(1)
    ledger = RowCounts(n_rows=len(asked.target), n_inexact_sums=reducer.n_inexact_sums, notes=(TINY,))
    return TokenRun("", "", judged.label, judged.info, reducer.result(), ledger)
