"""Is the data what it says it is?  Asked of the finished frames, before anything is saved.

Each check raises `NotAsSaidError`; none is left out on the way to a file.
"""

# pyright: reportMissingImports=false

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any, Final

import polars as pl
import torch

from demo.generate import log_probabilities
from demo.model import Chains
from demo.problems import runs, solve
from demo.recipe import Recipe
from demo.tokens import END, ID, PAD, WORK, decode, encode, prompt
from demo.train import Lesson

_LINE: Final = re.compile(r"\d+ [+×-] \d+ = \d+\.")
_AT_ONCE: Final = 256
_ONE_IN: Final = 4
_NEAR: Final = 1e-4
"""Log-probabilities of one token may differ by this much between two orders of adding up."""


class NotAsSaidError(Exception):
    """The data is not what its description says; nothing is saved."""


def _insist(holds: bool, otherwise: str) -> None:  # noqa: FBT001 - it is the sentence's subject
    if not holds:
        raise NotAsSaidError(otherwise)


def digests(texts: Iterable[str]) -> set[str]:
    """sha256 of every run of lines of arithmetic that the texts contain."""
    return {sha256(run.encode()).hexdigest() for text in texts for run in runs(tuple(_LINE.findall(text)))}


def nothing_leaked(learnt: Iterable[str], asked: Iterable[str]) -> None:
    """No calculation that is asked for stands in a text that was learnt from, not even inside one.

    learnt: texts with their workings; asked: the whole right calculation of each test problem.
    """
    seen = digests(learnt)
    leaked = sum(sha256(calculation.encode()).hexdigest() in seen for calculation in asked)
    _insist(leaked == 0, f"{leaked} test problems occur in training text")


def clear_of(lessons: Sequence[Lesson], asked: Iterable[str]) -> list[Lesson]:
    """The lessons whose text holds no calculation that is asked for: a wrong answer can by accident."""
    forbidden = {sha256(calculation.encode()).hexdigest() for calculation in asked}
    return [one for one in lessons if forbidden.isdisjoint(digests([decode(one[0])]))]


def outcomes_hold(rows: pl.DataFrame) -> None:
    """Gold and correct, computed again from the words of each question, are those stored."""
    for row in rows.iter_rows(named=True):
        answer = str(solve(row["question"]))
        _insist(row["gold"].split(" ")[0] == answer, f"{row['id']}: gold is not {answer}")
        right = row["prediction"] is not None and row["prediction"].split(" ")[0] == answer
        _insist(row["correct"] == right, f"{row['id']}: outcome is not {right}")
        if "choices" in row:
            _insist(row["choices"].count(row["gold"]) == 1, f"{row['id']}: gold is not one of the options")
            _insist(row["choices"][row["gold_index"]] == row["gold"], f"{row['id']}: index of gold")


def greedy_holds(model: Chains, rows: pl.DataFrame) -> None:
    """Each stored greedy text takes the most probable token at every place, at the stored log-probability."""
    texts = list(zip(rows["question"], rows["prediction_text"], strict=True))
    for at, (tokens, logprobs) in enumerate(_read_again(model, texts)):
        chosen = logprobs.gather(1, tokens[:, None])[:, 0]
        best = logprobs.max(1).values
        _insist(bool((chosen >= best - _NEAR).all()), f"{rows['id'][at]}: not the greedy answer")
        stored = torch.tensor(rows["path_logprobs"][at].to_list(), dtype=torch.float64)
        _insist(
            bool((stored - chosen[: len(stored)]).abs().max() <= _NEAR),
            f"{rows['id'][at]}: other log-probabilities",
        )


def surprise(model: Chains, rows: pl.DataFrame, temperature: float) -> float:
    """How far the samples' log-probability is from what sampling at `temperature` gives, in standard errors.

    The log-probability of each sampled token (at that temperature) less its expectation has mean zero,
    whatever came before: so the sum over its standard deviation is a standard normal number.
    """
    drawn = Counter((row["question"], text) for row in rows.iter_rows(named=True) for text in row["samples"])
    total = variance = 0.0
    for times, (tokens, logprobs) in zip(drawn.values(), _read_again(model, list(drawn)), strict=True):
        tempered = torch.log_softmax(logprobs / temperature, -1)
        chances = tempered.exp()
        mean = (chances * tempered).sum(1)
        total += times * float((tempered.gather(1, tokens[:, None])[:, 0] - mean).sum())
        variance += times * float(((chances * tempered.square()).sum(1) - mean.square()).sum())
    return total / math.sqrt(variance)


def samples_hold(model: Chains, rows: pl.DataFrame, recipe: Recipe) -> None:
    """The samples are of the stated number, and (asked of one question in four) of the temperature."""
    _insist(set(rows["samples"].list.len()) == {recipe.samples}, "not the stated number of samples")
    off = surprise(model, rows.gather_every(_ONE_IN), recipe.temperature)
    _insist(abs(off) < 4, f"samples are {off:.1f} standard errors from temperature {recipe.temperature}")


@torch.no_grad()
def _read_again(model: Chains, texts: Sequence[tuple[str, str]]) -> Iterable[tuple[Any, Any]]:
    """(tokens, log-probabilities of all words at each) of each answer text, end included, in order.

    Read from the stored text in one pass, without the cache that the answers were made with.
    """
    longest = Recipe().longest
    for start in range(0, len(texts), _AT_ONCE):
        asked = [prompt(question, WORK) for question, _text in texts[start : start + _AT_ONCE]]
        said = [encode(text) for _question, text in texts[start : start + _AT_ONCE]]
        said = [tokens if len(tokens) == longest else [*tokens, ID[END]] for tokens in said]
        both = [[*a, *b] for a, b in zip(asked, said, strict=True)]
        width = max(map(len, both))
        logits, _cache = model(torch.tensor([[*t, *[ID[PAD]] * (width - len(t))] for t in both]))
        for one, a, b in zip(logits, asked, said, strict=True):
            yield torch.tensor(b), log_probabilities(one[len(a) - 1 : len(a) + len(b) - 1])
