"""How are the chains of sums made again?  Recipe R2: train, ask, check, save (`python -m demo r2`)."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from rich.console import Console
from rich.progress import Progress

from demo import checks
from demo.bars import bar, bars
from demo.model import Chains
from demo.predict import predict
from demo.recipe import Recipe
from demo.sets import Problems, problems
from demo.tokens import decode
from demo.train import Lesson, learn, learn_to_check, lessons, new_model, verdicts
from demo.write import frame, save


def trained(recipe: Recipe, sets: Problems, progress: Progress) -> Chains:
    """The model, after checking that nothing it learnt from holds a test problem."""
    model, told = new_model(recipe), lessons(sets.train)
    learn(model, told, recipe, bar(progress, "learning to answer", recipe.steps))
    judged = verdicts(model, sets.check, recipe, bar(progress, "answering other problems", recipe.check))
    judged = _without(judged, sets.asked)
    learnt = [decode(tokens) for tokens, _start in (*told, *judged)]
    checks.nothing_leaked([*learnt, *(problem.working for problem in sets.check)], sets.asked)
    learn_to_check(model, judged, told, recipe, bar(progress, "learning to judge", recipe.check_steps))
    return model


def _without(judged: list[Lesson], asked: list[str]) -> list[Lesson]:
    """The lessons whose text holds none of the calculations asked for: a wrong answer can by accident."""
    kept = [decode(tokens) for tokens, _start in judged]
    return [one for one, text in zip(judged, kept, strict=True) if not any(c in text for c in asked)]


def predicted(recipe: Recipe, sets: Problems, model: Chains, progress: Progress) -> dict[str, pl.DataFrame]:
    """Data set → its rows, checked against the model and against the words of the questions."""
    tables: dict[str, pl.DataFrame] = {}
    both = (("open", sets.open), ("choice", sets.choice))
    for seed, (name, asked) in enumerate(both, start=recipe.seed + 2):
        tick = bar(progress, f"answering chains-{name}", len(asked) * (1 + recipe.samples))
        rows = frame(name, predict(model, asked, recipe, seed, tick))
        checks.outcomes_hold(rows)
        checks.greedy_holds(model, rows)
        checks.samples_hold(model, rows, recipe)
        tables[f"chains-{name}"] = rows
    return tables


def make(folder: Path, console: Console) -> None:
    """Makes everything again and replaces the recipe's files in `folder`."""
    recipe = Recipe()
    with bars(console) as progress:
        sets = problems(recipe)
        model = trained(recipe, sets, progress)
        tables = predicted(recipe, sets, model, progress)
    save(folder, tables, recipe, model.parameters_count())
    for name, rows in tables.items():
        console.print(f"{name}: {rows.height:,} questions, greedy answer right in {rows['correct'].sum():,}")
