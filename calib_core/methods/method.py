"""What is a confidence method, what may be chosen about it, and what does it give?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

import polars as pl

from calib_core.methods.answers.unparseable import UnparseableRule
from calib_core.pairs import Distribution, Labels, Pairs
from calib_core.runs import AnswerRun


@dataclass(frozen=True, slots=True)
class MethodOptions:
    """The switches of the methods; the defaults are the papers'.

    renormalise: None = as the method does by default; labels: which labels of a row of choices are
    pooled (read by `analysis`, not by a method); unparseable: see `Unparseable`.
    """

    renormalise: bool | None = None
    labels: Labels = "top"
    unparseable: UnparseableRule = "own"


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
    no_distribution_reason: str = ""


MethodStyle = tuple[int, str, str]
"""Place among the theme's colours of methods, symbol, and dash, both as plotly names them."""


@dataclass(frozen=True, slots=True)
class Method:
    """All that is known of one way to a confidence; every list of methods is derived from these entries.

    Attributes
    ----------
    id : str
        As in addresses and on the command line.
    title : str
        For people.
    meaning : str
        One plain sentence for the help text, on how the number is come by.
    source : str
        Paper and formula.
    needs : str
        In plain words, the columns it is computed from.
    of : callable
        A run and the options → its confidences; raises `problems.Unavailable` with the reason where the run
        cannot give them (no column, or not one usable row).
    reads : {"answers", "tokens"}
        The kind of run: answers to questions, or the positions of a text.
    renormalised : bool or None
        What it does where `Options.renormalise` is None; None = it does not read that option.
    renormalises_with : str or None
        The column without which it cannot renormalise; None = those it needs anyway.
    sampled : bool
        Whether it is made from several sampled answers, so that it reads `Options.unparseable` and its
        confidences fall on few values by construction.
    baseline : bool
        Whether it stands beside the confidences of samples, as one that needs none.
    rank : int
        Where not all can be shown at first those of the lowest rank are; of equal ranks the first registered.
    look : (int, str, str) or None
        How it is drawn wherever methods are told apart: colour, symbol, which no other method has, and dash;
        None = a symbol and a dash that are left over.
    """

    id: str
    title: str
    meaning: str
    source: str
    needs: str
    compute: Callable[[AnswerRun, MethodOptions], Confidences]
    run_kind: Literal["answers", "tokens"] = "answers"
    renormalises_by_default: bool | None = None
    renormalisation_column: str | None = None
    uses_samples: bool = False
    is_baseline: bool = False
    display_rank: int = 100
    style: MethodStyle | None = None

    @property
    def renormalises(self) -> bool:
        """Whether it reads `Options.renormalise`."""
        return self.renormalises_by_default is not None

    @property
    def short_title(self) -> str:
        """The title without its family: "F_CS", "softmax over the choices"; where it has none, the title."""
        return self.title.rpartition(", ")[2]

    @property
    def help(self) -> str:
        """What it is, and its formula, for the help text wherever it is chosen."""
        return f"{self.meaning} {self.source}."
