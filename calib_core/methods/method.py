"""What is a confidence method? The class of the registry's entries, their options and their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, get_args

import polars as pl

from calib_core.errors import Suspicion, Unavailable
from calib_core.methods.answers.unparseable import UnparseableRule
from calib_core.methods.columns import missing_columns_phrase
from calib_core.pairs import Distribution, Labels, Pairs, UnpairedOutcomes
from calib_core.runs import AnswerRun
from calib_core.terms import TERMS, ProbabilityOf, Terms


@dataclass(frozen=True, slots=True)
class MethodOptions:
    """Options of the methods; the defaults are those of the papers.

    Attributes
    ----------
    renormalise : bool or None
        Whether probabilities are divided by their sum; None means as the method does by default.
    labels : {"top", "all"}
        Which labels of a row of choices are pooled; `results.evidence` applies it, not the method.
    unparseable : {"own", "one", "drop"}
        How samples without a readable answer count; see `UnparseableRule`.
    tolerance : float or None
        Mean of |c − P(right)|, in [0, 1], up to which miscalibration is tolerable; None means the default
        of the verdict. `results.evidence` applies it, not the method.
    held_out : bool
        Whether a share of samples is counted on those that did not choose the answer; see
        `methods.answers.held_out`. Only a method that `holds_out` reads it.

    Raises
    ------
    ValueError
        If one of the first three has another value.
    """

    renormalise: bool | None = None
    labels: Labels = "top"
    unparseable: UnparseableRule = "own"
    tolerance: float | None = None
    held_out: bool = False

    def __post_init__(self) -> None:
        for name, allowed in (
            ("renormalise", (None, True, False)),
            ("labels", get_args(Labels)),
            ("unparseable", get_args(UnparseableRule)),
        ):
            if (value := getattr(self, name)) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(map(str, allowed))}, not {value!r}")


@dataclass(frozen=True, slots=True, eq=False)
class Confidences:
    """The result of a method for one run.

    Attributes
    ----------
    pairs : Pairs
        One pair per usable row.
    judged : str
        The answer whose outcome it is: "greedy answer", "majority answer", "its own top label".
    recipe : tuple of str
        Short phrases that the method adds to the recipe.
    missing : Mapping[str, int]
        Reason → number of rows without this confidence; `pairs.n` and these add up to the rows of the run.
    remarks : tuple of str
        Counted facts such as ties or samples without a readable answer, each a short sentence.
    distribution : Distribution or None
        Probabilities of all choices of the same rows, if the method has them.
    answers : pl.Series of String or None, shape (pairs.n,)
        The judged answer of each pair as text; null where the file does not contain it.
    no_distribution_reason : str
        Why this run has no distribution although the method usually has one; "" if it never has one.
    n_samples, n_unparsed : int
        Sampled answers of the run, and those in which no answer was found; 0 for a method without samples.
    suspicions : tuple of Suspicion
        What suggests that the file means something else than it was taken for; `results.evidence` has it
        checked, not the method.
    unpaired : UnpairedOutcomes or None
        Outcomes of the judged answer in rows that have no confidence; None if there are none.
    probability_of : {"answer", "event"}
        That of the method, which sets it.
    """

    pairs: Pairs
    judged: str
    recipe: tuple[str, ...]
    missing: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    remarks: tuple[str, ...] = ()
    distribution: Distribution | None = None
    answers: pl.Series | None = None
    no_distribution_reason: str = ""
    n_samples: int = 0
    n_unparsed: int = 0
    suspicions: tuple[Suspicion, ...] = ()
    unpaired: UnpairedOutcomes | None = None
    probability_of: ProbabilityOf = "answer"

    @property
    def terms(self) -> Terms:
        """The words for these probabilities and outcomes."""
        return TERMS[self.probability_of]


MethodStyle = tuple[int, str, str]
"""Index of the method's colour in the theme, then its symbol and dash as plotly names them."""


@dataclass(frozen=True, slots=True)
class Method:
    """One confidence method: how it is computed, and all that other modules need to know about it.

    Attributes
    ----------
    id : str
        Key used in URLs and on the command line.
    title : str
        Name shown to people, as it stands within a sentence.
    meaning : str
        One plain sentence for the help text, on how the confidence is computed.
    source : str
        Paper and formula.
    needs : str
        In plain words, the columns it is computed from.
    compute : callable or None
        A run that has one of `columns`, and the options → its confidences; raises `errors.Unavailable` with
        the reason if the run does not have what the method needs. To be called through `confidences`. None
        for the method of token-level runs, whose sums `results.evidence` reads.
    columns : tuple of str
        Columns of which the run must have at least one; () if `compute` alone can tell.
    requirement : str
        What these columns hold, worded as the end of a message: "the probability of the answer True is
        needed".
    probability_of : {"answer", "event"}
        What the confidence is a probability of: that the answer is right, or that an event is true. Whatever
        is worded about its numbers takes its words from `terms`.
    run_kind : {"answers", "tokens"}
        Kind of run: answers to questions, or token positions of a text.
    renormalises_by_default : bool or None
        Whether the method renormalises if `MethodOptions.renormalise` is None; None means that the method
        ignores that option.
    renormalisation_column : str or None
        Column that renormalising needs in addition; None means that it needs none.
    uses_samples : bool
        Whether the confidence is computed from several sampled answers: it then depends on
        `MethodOptions.unparseable` and takes only few distinct values.
    holds_out : bool
        Whether the method reads `MethodOptions.held_out`.
    is_baseline : bool
        Whether the method serves as a baseline for those from samples, as it needs none itself.
    display_rank : int
        If not all methods can be shown at once, those of lower rank come first; ties go by registration.
    headline_rank : int
        Where a run has several methods, the one of lowest rank stands for the run, on Start, in the tour and
        where none is chosen; ties go by registration. The ranks follow what a person who uses the model's
        answers has to go by: the number the model states, else the one its file calls its confidence, else
        the probability of the chosen answer, else how many samples agree on it (F_CS; F_CN counts different
        answers only, and falls as more are drawn), and then what takes a second question to the model or
        averages over tokens.
    style : (int, str, str) or None
        Colour, symbol and dash in figures that compare methods, where no two methods share a symbol; None
        means any symbol and dash left over.
    """

    id: str
    title: str
    meaning: str
    source: str
    needs: str
    compute: Callable[[AnswerRun, MethodOptions], Confidences] | None
    columns: tuple[str, ...] = ()
    requirement: str = ""
    probability_of: ProbabilityOf = "answer"
    run_kind: Literal["answers", "tokens"] = "answers"
    renormalises_by_default: bool | None = None
    renormalisation_column: str | None = None
    uses_samples: bool = False
    holds_out: bool = False
    is_baseline: bool = False
    display_rank: int = 100
    headline_rank: int = 100
    style: MethodStyle | None = None

    def confidences(self, run: AnswerRun, options: MethodOptions) -> Confidences:
        """The confidences of a run.

        Raises
        ------
        Unavailable
            With the reason, if the run does not have what the method needs.
        """
        if self.compute is None:
            raise Unavailable(f"a run of answers, one row per question: {self.requirement}")
        if self.columns and not any(run.has_columns(name) for name in self.columns):
            raise Unavailable(f"{missing_columns_phrase(run, *self.columns)}: {self.requirement}")
        found = self.compute(run, options)
        if found.probability_of == self.probability_of:
            return found
        return replace(found, probability_of=self.probability_of)

    @property
    def terms(self) -> Terms:
        """The words for its probabilities, and for their outcomes."""
        return TERMS[self.probability_of]

    @property
    def renormalises(self) -> bool:
        """Whether the method reads `MethodOptions.renormalise`."""
        return self.renormalises_by_default is not None

    @property
    def heading(self) -> str:
        """The title in lists, legends and tables: with a capital, unless it begins with a symbol.

        Examples
        --------
        >>> from calib_core.methods import METHODS
        >>> METHODS["verbal"].heading, METHODS["p_true"].heading, METHODS["given.mean-token"].heading
        ('Stated confidence', 'p(True)', 'Mean token')
        """
        return self.title if self.title[1:2] == "(" else self.title[:1].upper() + self.title[1:]

    @property
    def short_title(self) -> str:
        """The title without its family, if it has one: "F_CS", "softmax over the choices"."""
        return self.title.rpartition(", ")[2]

    @property
    def score_name(self) -> str | None:
        """What a verdict on it is on, "F_CS", where that is a score rather than a confidence of the model."""
        return self.short_title if self.uses_samples else None

    @property
    def help(self) -> str:
        """Meaning and source, for help texts."""
        return f"{self.meaning} {self.source}."
