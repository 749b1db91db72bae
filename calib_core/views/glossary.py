"""The terms that a newcomer may not know, each with one sentence: a term is explained nowhere else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from calib_core.inference.verdict import MIN_ROWS, SIGNIFICANCE_LEVEL
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.terms import ANSWER_TERMS, EVENT_TERMS, Terms


@dataclass(frozen=True, slots=True)
class Term:
    """What a term means.

    Attributes
    ----------
    name : str
        As it is written on screen.
    meaning : str
        One sentence.
    source : str
        Where it is defined; "" for a word of this program.
    pattern : str
        Regular expression that finds it in a text; "" where the name itself does.
    event_meaning : str
        The sentence where the probabilities are of an event; "" where it is the same.
    """

    name: str
    meaning: str
    source: str = ""
    pattern: str = ""
    event_meaning: str = ""

    def worded(self, terms: Terms) -> Term:
        """The same term, explained in the words of these probabilities."""
        return (
            replace(self, meaning=self.event_meaning) if self.event_meaning and terms.of == "event" else self
        )

    def is_in(self, text: str) -> bool:
        """Whether the text has the term, as a word of its own."""
        return re.search(rf"(?<![\w-])(?:{self.pattern or re.escape(self.name)})(?![\w-])", text) is not None


def _of_metric(name: str, id_: str, pattern: str = "") -> Term:
    metric, of_event = METRICS[id_], METRICS[id_].worded(EVENT_TERMS)
    return Term(
        name,
        metric.meaning,
        metric.source,
        pattern,
        event_meaning="" if of_event == metric else of_event.meaning,
    )


def _of_method(name: str, id_: str) -> Term:
    return Term(name, METHODS[id_].meaning, "self-consistency paper (Wang et al. 2024)")


_TERMS: Final = (
    Term(
        "a(1 − a)",
        "The Brier score of always stating the average outcome a, as the best constant guess does.",
        "Murphy 1973",
        r"a\(1 ?− ?a\)",
    ),
    _of_metric("ACE", "ace"),
    _of_metric("AURC", "aurc"),
    _of_metric("AUROC", "auroc"),
    Term(
        "Benjamini–Hochberg",
        "A correction for many tests: on average, few of the results that it calls clear are chance.",
        "Benjamini, Hochberg 1995",
    ),
    Term(
        "bootstrap",
        "The number is computed again on many samples of the same questions, drawn with replacement; their "
        "spread gives the interval.",
        "Efron 1979",
        "[Bb]ootstrap",
    ),
    _of_metric("Brier score", "brier", "Brier(?: score)?"),
    Term(
        "calibrated model",
        "A model whose probabilities come true as often as they say; on a limited number of rows, chance "
        "alone gives it an error above 0.",
    ),
    Term(
        "CORP",
        "A reliability diagram without bins: the share that comes true is fitted so that it never falls as "
        "the probability rises.",
        "Dimitriadis, Gneiting, Jordan 2021",
    ),
    _of_metric("cw-ECE", "cw_ece"),
    Term(
        "ddof",
        "What is subtracted from the number of values before the sum of squares is divided by it: 0 gives "
        "the spread of these very values.",
        "numpy.std",
        r"ddof(?: ?= ?\d)?",
    ),
    _of_metric("ECE", "ece", "ECE(?:-L1)?"),
    Term(
        "effective bins",
        "The number of equally full bins that would be as concentrated as these, 1/Σw² of their shares w.",
        "Hill 1973, order 2",
        "[Ee]ffective bins",
    ),
    Term("equal mass", "Bins of about equally many rows.", pattern="[Ee]qual mass"),
    _of_method("F_CN", "cluster_number"),
    _of_method("F_CS", "cluster_size"),
    _of_method("F_PC", "pairwise"),
    _of_metric("Full-ECE", "full_ece"),
    Term(
        "greedy",
        "The answer made of the most likely token at each step, without chance.",
        pattern="[Gg]reedy",
    ),
    Term(
        "held-out",
        "Computed on samples or rows that took no part in choosing or fitting what is judged.",
        pattern="[Hh]eld[- ]out",
    ),
    Term("Holm", "A correction for several tests: even one chance finding stays rare.", "Holm 1979"),
    Term(
        "isotonic",
        "Fitted so that the share that comes true never falls as the probability rises.",
        "Zadrozny, Elkan 2002",
        "[Ii]sotonic",
    ),
    Term("M", "The number of bins.", pattern=r"M(?= [=≤≥]| and |[,.)]|$)"),
    _of_metric("MCE", "mce"),
    Term(
        "N′",
        "How many of the sampled answers to a question a confidence is computed from.",
        "self-consistency paper (Wang et al. 2024)",
        "N['′]",
    ),
    Term("natural bins", "A bin for each value that the probabilities take.", pattern="[Nn]atural bins"),
    Term(
        "out of fold",
        "Each row is recalibrated by a map that was fitted to other questions.",
        pattern="[Oo]ut of fold",
    ),
    Term(
        "p",
        "How often chance alone would give a result at least as extreme: a small p speaks against chance.",
        pattern="p(?= [=≤<>])",
    ),
    Term(
        "Platt",
        "A logistic curve through the log-odds of the probability, with a level and a slope.",
        "Platt 1999",
    ),
    Term(
        "probability of yes",
        "The probability of an event, such as that an answer passes: 10 % is as good a forecast as 90 % if "
        "yes then comes true as often.",
        pattern="[Pp]robability of yes",
    ),
    Term(
        "q",
        "p adjusted for all the tests of a list, so that few of the clear ones are chance; up to "
        f"{SIGNIFICANCE_LEVEL:g} counts as clear.",
        "Benjamini, Hochberg 1995",
        r"q(?: \(rest\))?(?= [=≤<>]|$)",
    ),
    Term(
        "right-closed",
        "A probability on the edge of two bins belongs to the lower one: 0.8 lies in (0.7, 0.8].",
        pattern="[Rr]ight-closed",
    ),
    Term(
        "RSD",
        "Relative standard deviation: how far the values of a metric at different M spread, in percent of "
        "their mean.",
        "Full-ECE paper (Liu et al. 2024)",
    ),
    Term(
        "share of yes",
        "The share of rows in which the event came true: what accuracy is for answers, but neither high nor "
        "low is better.",
        pattern="[Ss]hare of yes",
        event_meaning="The share of rows in which the event came true; neither high nor low is better.",
    ),
    _of_metric("skill", "brier_skill", "(?:Brier )?[Ss]kill(?: score)?"),
    _of_metric("Smooth ECE", "smooth_ece", "[Ss]mooth ECE"),
    Term(
        "Spearman",
        "A rank correlation: 1 where two orders agree, −1 where one is the reverse of the other.",
        "Spearman 1904",
    ),
    Term(
        "tolerance",
        "How far probabilities may be off on average before a verdict calls them miscalibrated in a "
        "direction.",
        pattern="[Tt]olerance",
    ),
    Term(
        "top label",
        "The answer to which the model gives the highest probability, which is its confidence.",
        "Guo et al. 2017",
        "[Tt]op label",
    ),
    Term(
        "verdict",
        f"The result of a calibration test of at least {MIN_ROWS} rows, the same on every page.",
        "Cox 1958",
        "[Vv]erdicts?",
    ),
    Term(
        "Wilson",
        "An interval of a share that stays within 0 and 100 % and holds for small numbers, too.",
        "Wilson 1927",
    ),
)

GLOSSARY: Final[Mapping[str, Term]] = MappingProxyType(
    {term.name: term for term in sorted(_TERMS, key=lambda term: term.name.casefold())}
)
"""Term → what it means, in alphabetical order."""


def terms_in(*texts: str, terms: Terms = ANSWER_TERMS) -> tuple[Term, ...]:
    """Return the terms that occur in any of the texts, each once, in the order of the glossary.

    Parameters
    ----------
    *texts : str
    terms : Terms
        The words for the probabilities that the texts are about.

    Examples
    --------
    >>> [term.name for term in terms_in("cw-ECE with M = 10, not chance (p ≤ 0.005)", "Skill by shop")]
    ['cw-ECE', 'M', 'p', 'skill']
    """
    found = (term for term in GLOSSARY.values() if any(term.is_in(text) for text in texts))
    return tuple(term.worded(terms) for term in found)


def meaning_of(title: str, terms: Terms = ANSWER_TERMS) -> str:
    """Return what the title of a column or tile means where it is a term; "" elsewhere.

    Examples
    --------
    >>> meaning_of("RSD") == GLOSSARY["RSD"].meaning, meaning_of("Model")
    (True, '')
    """
    found = terms_in(title, terms=terms) if title else ()
    return found[0].meaning if found else ""
