"""What would others call the ECE of this run? One run under every convention in use."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.edges import DEFAULT_SCHEME
from calib_core.errors import Unavailable
from calib_core.methods.answers.unparseable import UNPARSEABLE_PHRASES
from calib_core.methods.method import MethodOptions
from calib_core.metrics import METRICS
from calib_core.metrics.conventions import (
    CONVENTIONS,
    DEFAULT_ID,
    NORM_TITLES,
    Convention,
    Norm,
    error_of_bins,
    error_of_pairs,
)
from calib_core.results.columns import Column, frame_of
from calib_core.results.display import Displayable
from calib_core.results.evidence import AnswerEvidence, Evidence, gather_evidence, refuse_weights
from calib_core.results.recipe import recipe_text
from calib_core.wording import ROUNDING_TOLERANCE, as_clause, format_short, plural

AUDITED_METRIC: Final = "ece"
"""The metric that is computed differently by different tools."""

AUDIT_COLUMNS: Final = (
    Column("run"),
    Column("method"),
    Column("convention"),
    Column("title", "Convention"),
    Column("tool"),
    Column("version"),
    Column("bins", "M", "count"),
    Column("binning", "Bins"),
    Column("closed", "Closed"),
    Column("norm", "Combined as"),
    Column("value", "Value", "number"),
    Column("default", dtype=pl.Boolean),
    Column("verified", "Checked against"),
    Column("source", "Source"),
    Column("recipe"),
)

_NEEDS_ROWS: Final = "Needs individual confidences, but a token-level run keeps sums only."

PUBLISHED_EXPECTED: Final = "Type the ECE as it was published, such as 0.037 or 3.7 %."
"""What is expected where a published figure cannot be read."""

_PUBLISHED: Final = re.compile(
    r"(?P<whole>\d{0,3})(?:[.,](?P<decimals>\d{0,12}))?\s*(?P<percent>%?)", re.ASCII
)


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A calibration error as it was published, with the digits that were given.

    Attributes
    ----------
    text : str
        As typed.
    value : float
        In [0, 1].
    half_unit : float
        Half a unit of the last digit.
    """

    text: str
    value: float
    half_unit: float

    @classmethod
    def parse(cls, text: str) -> PublishedFigure | None:
        """The figure from "0.037", ".037", "3.7 %" or "3.7", a number above 1 being a percentage.

        Returns None if the text is no such number.

        Examples
        --------
        >>> PublishedFigure.parse("3.70 %").matches(0.03704), PublishedFigure.parse("3.7").matches(0.0375)
        (True, True)
        """
        found = _PUBLISHED.fullmatch(text.strip())
        if found is None or not (found["whole"] or found["decimals"]):
            return None
        decimals = found["decimals"] or ""
        number = float(f"{found['whole'] or '0'}.{decimals or '0'}")
        scale = 100 if found["percent"] or number > 1 else 1
        if number > scale:
            return None
        return cls(text.strip(), number / scale, 0.5 * 10.0 ** -len(decimals) / scale)

    def matches(self, value: float) -> bool:
        """Whether the value is this figure when rounded to its digits; a half may be rounded either way."""
        return abs(value - self.value) <= self.half_unit + ROUNDING_TOLERANCE


@dataclass(frozen=True, slots=True)
class ConventionValue:
    """The calibration error under one convention.

    Attributes
    ----------
    convention : Convention
        With the number and kind of bins that the rows gave, where the convention leaves them open.
    value : float
        In [0, 1].
    """

    convention: Convention
    value: float

    @property
    def text(self) -> str:
        """ "0.0037 (netcal, ECE(10))"."""
        return f"{format_short(self.value)} ({self.convention.title})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConventionAudit(Displayable):
    """The ECE of one run and method under every convention that applies to them.

    Attributes
    ----------
    run, method, metric : str
        The run's label, and the ids of method and metric.
    values : tuple[ConventionValue, ...]
        In the order of `CONVENTIONS`, then the variants of this method.
    not_applicable : Mapping[str, str]
        Title of a convention → why it does not apply.
    n_used, n_total : int
        Rows or positions used, and in the file.
    recipe : str
        Of the default.
    headline : str
    """

    run: str
    method: str
    metric: str
    values: tuple[ConventionValue, ...]
    not_applicable: Mapping[str, str]
    n_used: int
    n_total: int
    recipe: str
    headline: str

    @property
    def default(self) -> ConventionValue:
        """The ECE that Calib shows unless asked otherwise."""
        return next(each for each in self.values if each.convention.is_default)

    def of_norm(self, norm: Norm) -> list[ConventionValue]:
        """The values whose gaps are combined this way, from lowest to highest."""
        return sorted(
            (each for each in self.values if each.convention.norm == norm), key=lambda each: each.value
        )

    @property
    def range_note(self) -> str:
        """Which conventions give the lowest and the highest value, and how far other norms reach."""
        means = self.of_norm("l1")
        parts = [f"Lowest: {means[0].text}. Highest: {means[-1].text}."]
        for norm in ("l2", "max"):
            if others := self.of_norm(norm):
                ends = dict.fromkeys(format_short(each.value) for each in (others[0], others[-1]))
                parts.append(f"{NORM_TITLES[norm].capitalize()}: {' to '.join(ends)}.")
        return " ".join(parts)

    @property
    def not_applicable_note(self) -> str:
        """How many conventions do not apply, and why, each reason once; "" where all do."""
        counts = Counter(self.not_applicable.values())
        notes = [
            f"{plural(count, 'convention')} not applicable: {as_clause(why)}."
            for why, count in counts.items()
        ]
        return " ".join(notes)

    def published_sentence(self, text: str) -> str:
        """Which conventions give a published figure, to the digits typed; else what to type."""
        published = PublishedFigure.parse(text)
        if published is None:
            return PUBLISHED_EXPECTED
        matching = self.matching(published)
        if not matching:
            nearest = min(self.values, key=lambda each: abs(each.value - published.value))
            return f"No convention gives {published.text}. Nearest: {nearest.text}."
        names = "; ".join(each.convention.title for each in matching)
        count = f"{len(matching)} of {plural(len(self.values), 'convention')}"
        return f"{count} {'gives' if len(matching) == 1 else 'give'} {published.text}: {names}."

    def matching(self, published: PublishedFigure) -> list[ConventionValue]:
        """The values that are this figure when rounded to as many digits."""
        return [each for each in self.values if published.matches(each.value)]

    def to_frame(self) -> pl.DataFrame:
        """One row for each convention.

        Columns: run, method, convention, title, tool, version, bins, binning, closed, norm, value, default,
        verified, source, recipe (of the default).
        """
        records = (
            {
                "run": self.run,
                "method": self.method,
                "convention": each.convention.id,
                "title": each.convention.title,
                "tool": each.convention.tool,
                "version": each.convention.version,
                "bins": each.convention.bins,
                "binning": each.convention.binning,
                "closed": each.convention.closed,
                "norm": each.convention.norm,
                "value": each.value,
                "default": each.convention.is_default,
                "verified": each.convention.check_note,
                "source": each.convention.source,
                "recipe": self.recipe,
            }
            for each in self.values
        )
        return frame_of(AUDIT_COLUMNS, records)


def audit_conventions(evidence: Evidence, metric: str = AUDITED_METRIC) -> ConventionAudit:
    """Compute the ECE of one method on one run under every convention in use.

    Parameters
    ----------
    evidence : Evidence
    metric : str
        Only "ece" has conventions.

    Raises
    ------
    Unavailable
        For another metric, or where no row is usable.

    Notes
    -----
    Tools get the stored confidences as float64, rows in the order of the file.
    """
    if metric != AUDITED_METRIC:
        raise Unavailable(f"Conventions are known for {AUDITED_METRIC} only; the largest gap is among them.")
    if not evidence.n_used:
        raise Unavailable(f"No row {evidence.terms.no_pair}.")
    refuse_weights(evidence, "The ECE of other tools")
    values: list[ConventionValue] = []
    not_applicable: dict[str, str] = {}
    for convention in CONVENTIONS.values():
        try:
            values.append(_value_under(convention, evidence))
        except Unavailable as reason:
            not_applicable[convention.title] = str(reason)
    values += _variants(evidence)
    return ConventionAudit(
        run=evidence.run.label,
        method=evidence.method.id,
        metric=metric,
        values=tuple(values),
        not_applicable=MappingProxyType(not_applicable),
        n_used=evidence.n_used,
        n_total=evidence.n_total,
        recipe=recipe_text(evidence, METRICS[metric], CONVENTIONS[DEFAULT_ID].scheme),
        headline=audit_headline(values),
    )


def _value_under(convention: Convention, evidence: Evidence) -> ConventionValue:
    """The value under a convention; raises Unavailable where it does not apply."""
    if convention.scheme is not None:
        binned = evidence.binned(METRICS[AUDITED_METRIC], convention.scheme)
        return ConventionValue(convention, error_of_bins(convention, binned))
    if not isinstance(evidence, AnswerEvidence):
        raise Unavailable(_NEEDS_ROWS)
    confidence = evidence.pairs.confidence.astype(np.float64)
    value = error_of_pairs(convention, confidence, evidence.pairs.correct)
    return ConventionValue(realised(convention, confidence), value)


def realised(convention: Convention, confidence: NDArray[np.float64]) -> Convention:
    """The convention with the number and kind of bins that these confidences give it."""
    if convention.rows_per_bin:
        return replace(convention, bins=confidence.size // convention.rows_per_bin)
    if convention.edges == "values or midpoint":
        n_values = np.unique(confidence).size
        if n_values < confidence.size / 4:
            return replace(convention, binning="natural", bins=n_values)
    return convention


def _variants(evidence: Evidence) -> Iterator[ConventionValue]:
    """The default convention with other readings of the rows, where the method leaves a choice of them."""
    if not isinstance(evidence, AnswerEvidence):
        return
    default = CONVENTIONS[DEFAULT_ID]
    for id_, words, options in _other_options(evidence):
        try:
            other = gather_evidence(evidence.run, evidence.method.id, options)
            error = _value_under(default, other).value
        except Unavailable:
            continue
        yield ConventionValue(replace(default, id=id_, title=f"{default.title}; {words}"), error)
    distribution = evidence.confidences.distribution
    if distribution is None or evidence.options.labels != "top":
        return
    last = distribution.last_top_index
    if (last != distribution.top_index).any():
        pairs = replace(distribution.top_label_pairs(), correct=last == distribution.target)
        error = error_of_bins(default, pairs.sums().binned(DEFAULT_SCHEME))
        title = f"{default.title}; of equally probable choices the last"
        yield ConventionValue(replace(default, id="ties-last", title=title), error)


def _other_options(evidence: AnswerEvidence) -> Iterator[tuple[str, str, MethodOptions]]:
    """Id, words and options of each other way in which the method can read the rows."""
    method, options = evidence.method, evidence.options
    if method.renormalises:
        now = method.renormalises_by_default if options.renormalise is None else options.renormalise
        words = "not renormalised" if now else "renormalised"
        yield words.replace(" ", "-"), words, replace(options, renormalise=not now)
    if method.uses_samples:
        for rule, words in UNPARSEABLE_PHRASES.items():
            if rule != options.unparseable:
                yield f"unparseable-{rule}", words, replace(options, unparseable=rule)


# --- The audit in words -----------------------------------------------------------------------------------


def audit_headline(values: Sequence[ConventionValue]) -> str:
    """The lowest and the highest ECE among the conventions that average the gaps, which all call it ECE."""
    means = sorted((each for each in values if each.convention.norm == "l1"), key=lambda each: each.value)
    low, high = format_short(means[0].value), format_short(means[-1].value)
    if low == high:
        return f"ECE is {low} under all {len(means)} conventions that average the gaps."
    return f"ECE ranges from {low} to {high}, depending on the convention."
