"""What is a confidence method, what may be chosen about it, and what does it give?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

import polars as pl

from calib_core.pairs import Distribution, Labels, Pairs
from calib_core.records import AnswerRun

Unparseable = Literal["own", "one", "drop"]
"""A sample that does not parse: a cluster by itself, one cluster with the others, or left out of N."""


@dataclass(frozen=True, slots=True)
class Options:
    """The switches of the methods; the defaults are the papers'.

    renormalise: None = as the method does by default; labels: which labels of a row of choices are
    pooled (read by `analysis`, not by a method); unparseable: see `Unparseable`.
    """

    renormalise: bool | None = None
    labels: Labels = "top"
    unparseable: Unparseable = "own"


@dataclass(frozen=True, slots=True, eq=False)
class Confidences:
    """What a method says of every row it can serve.

    pairs: one pair a usable row; distribution: all choices' probabilities of the same rows, where
    the method has them; judged: whose outcome it is ("greedy answer", "majority answer", "its own top
    label"); recipe: what the method adds to the recipe, each a short phrase; missing: reason → rows
    without this confidence (pairs.n + Σ missing = rows of the run's frame); remarks: counted facts
    such as ties or samples that do not parse, each a short sentence; answers: the judged answer of
    each pair as text (String, null where the file does not say it), shape (pairs.n,); undistributed: why
    there is no distribution where the method has one as a rule, "" where that is the method's own nature.
    """

    pairs: Pairs
    judged: str
    recipe: tuple[str, ...]
    missing: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    remarks: tuple[str, ...] = ()
    distribution: Distribution | None = None
    answers: pl.Series | None = None
    undistributed: str = ""


@dataclass(frozen=True, slots=True)
class Method:
    """One way to a confidence.

    id: as in addresses and on the command line; title: for people; meaning: one plain sentence for the
    help text, on how the number is come by; source: paper and formula; needs: in plain words, the columns
    it is computed from; of: raises `problems.Unavailable` with the reason where the run cannot
    give it (no column, or not one usable row); renormalises: whether it reads
    `Options.renormalise`; sampled: whether it is made from several sampled answers, so that it reads
    `Options.unparseable` and its confidences fall on few values by construction.
    """

    id: str
    title: str
    meaning: str
    source: str
    needs: str
    of: Callable[[AnswerRun, Options], Confidences]
    renormalises: bool = False
    sampled: bool = False

    @property
    def brief(self) -> str:
        """The title without its family: "F_CS", "softmax over the choices"; where it has none, the title."""
        return self.title.rpartition(", ")[2]

    @property
    def help(self) -> str:
        """What it is, and its formula, for the help text wherever it is chosen."""
        return f"{self.meaning} {self.source}."
