"""Is a model over- or under-confident, too extreme or too timid, or is there no evidence of miscalibration?

One function, `judge`, gives the verdict on a run as seen by one method, so that every page, the report and
the command line say the same. The thresholds stand here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calib_core.bins import BinSums
from calib_core.inference.calibration_test import (
    CURVE_SHARE,
    CalibrationSums,
    CalibrationTest,
    cox_test,
    cox_test_of_sums,
)
from calib_core.inference.cluster_draws import count_clusters, too_few_clusters
from calib_core.inference.clusters import effective_number
from calib_core.inference.text_test import DEPENDENT_POSITIONS, cox_test_by_text, too_few_texts
from calib_core.terms import ANSWER_TERMS, EVENT_TERMS, TERMS, ProbabilityOf, Terms
from calib_core.tokens.texts import TextSums
from calib_core.wording import (
    ROUNDING_TOLERANCE,
    both_or_all,
    format_number,
    format_percent,
    join_names,
    p_value_phrase,
    plural,
)

MIN_ROWS: Final = 30
"""Fewer rows, positions or questions than this are too few to judge; a bin with fewer is drawn faded."""

SIGNIFICANCE_LEVEL: Final = 0.05
"""A p-value, or a q-value, up to this is clear."""

DEFAULT_TOLERANCE: Final = 0.02
"""Mean of |c − P(right)| up to which miscalibration is tolerable, unless the user sets another."""

RELATIVE_TOLERANCE: Final = 25.0
"""Times the tolerance, the share of the errors stated by which the level may be off: half of them for .02. Of
the right answers where they are fewer."""

ONE_DECIMAL: Final = 0.05
"""How far what has one decimal may be from what was meant."""

VerdictKind = Literal[
    "over",
    "under",
    "often",
    "rarely",
    "extreme",
    "timid",
    "uneven",
    "unclear",
    "tolerable",
    "none",
    "few",
    "dependent",
]

VERDICT_WORDS: Final[Mapping[VerdictKind, str]] = MappingProxyType(
    {
        "over": ANSWER_TERMS.over,
        "under": ANSWER_TERMS.under,
        "often": EVENT_TERMS.over,
        "rarely": EVENT_TERMS.under,
        "extreme": "too extreme",
        "timid": "too timid",
        "uneven": "uneven",
        "unclear": "miscalibrated in no clear direction",
        "tolerable": "miscalibrated but within tolerance",
        "none": "no evidence of miscalibration",
        "few": "too few rows",
        "dependent": "not judged",
    }
)
"""How each verdict is worded, in the order in which verdicts are counted."""

VERDICT_MARKS: Final[Mapping[VerdictKind, str]] = MappingProxyType(
    {
        "over": "▲",
        "under": "▼",
        "often": "▲",
        "rarely": "▼",
        "extreme": "◆",
        "timid": "◇",
        "uneven": "≠",
        "unclear": "±",
        "tolerable": "≈",
        "none": "≈",
        "few": "–",
        "dependent": "–",
    }
)
"""The shape before a verdict in tables and on buttons, so that colour is not alone."""

LEVEL_KINDS: Final[Mapping[ProbabilityOf, tuple[VerdictKind, VerdictKind]]] = MappingProxyType(
    {"answer": ("over", "under"), "event": ("often", "rarely")}
)
"""What a probability is of → the verdicts on a mean that is too high, and too low."""

UNTESTED: Final[frozenset[VerdictKind]] = frozenset({"few", "dependent"})
"""Verdicts without a test: of too few rows, and of positions whose texts are too few or not known."""

_VERBS: Final[Mapping[VerdictKind, tuple[str, str]]] = MappingProxyType(
    {
        "often": ("expects", "expect"),
        "rarely": ("expects", "expect"),
        "none": ("shows", "show"),
        "few": ("has", "have"),
    }
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one run as seen by one method.

    Attributes
    ----------
    kind : VerdictKind
        The verdict; `VERDICT_WORDS` has its wording. A level that is off is "over" or "under" of an answer,
        "often" or "rarely" of an event.
    p : float or None
        p-value of calibration, in (0, 1]; None without a test.
    level : float or None
        Mean confidence minus accuracy, in [−1, 1]; None without rows.
    slope : float or None
        Fitted β of Cox's recalibration: below 1 if the confidences are too extreme; None without a test,
        or if all confidences or all outcomes are equal.
    deviation : float or None
        Estimate of the mean of |c − P(right)|: by the curve of level and slope, or by groups of confidences
        where these are clearly off it; None without a test.
    reason : str
        Why this is the verdict, in a sentence or a few.
    test : CalibrationTest or None
        The test behind it; None for the kinds in `UNTESTED`.
    scope : str
        What it is about if not all rows, with a space before it: " where it has a confidence".
    of : {"answer", "event"}
        What the probabilities are of.
    """

    kind: VerdictKind
    p: float | None
    level: float | None
    slope: float | None
    deviation: float | None
    reason: str
    test: CalibrationTest | None
    scope: str = ""
    of: ProbabilityOf = "answer"

    @property
    def words(self) -> str:
        """The verdict in words: "over-confident"."""
        return VERDICT_WORDS[self.kind]

    @property
    def parts(self) -> dict[str, float | None]:
        """p-values of the level, the slope and the curve beyond them; None where there is no such test."""
        test = self.test
        return {
            "p_level": None if test is None else test.level_p,
            "p_slope": None if test is None else test.slope_p,
            "p_curve": None if test is None else test.curve_p,
        }

    @property
    def deviation_bound(self) -> float | None:
        """95 % upper bound of the mean of |c − P(right)|; None without a test."""
        return None if self.test is None else self.test.deviation_bound

    @property
    def miscalibrated(self) -> bool:
        """Whether calibration is rejected, within tolerance or not."""
        return self.kind != "none" and self.is_tested

    @property
    def is_tested(self) -> bool:
        """Whether there is a test behind it."""
        return self.kind not in UNTESTED

    def with_tolerance(self, tolerance: float) -> Verdict:
        """The verdict of the same test with another tolerance, at least 0."""
        if self.test is None:
            return self
        return replace(verdict_of_test(self.test, tolerance=tolerance, of=self.of), scope=self.scope)


def judge(
    confidence: ArrayLike,
    correct: ArrayLike,
    cluster: NDArray[np.intp] | None = None,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    sums: BinSums | None = None,
    of: ProbabilityOf = "answer",
    weight: NDArray[np.float64] | None = None,
) -> Verdict:
    """The verdict on rows.

    Parameters
    ----------
    confidence : array_like, shape (n,)
        Confidences in [0, 1].
    correct : array_like, shape (n,)
        Outcomes, 0 or 1.
    cluster : NDArray[np.intp], shape (n,), optional
        Cluster of each row, for example its question; None if the rows are independent.
    tolerance : float
        Mean of |c − P(right)| up to which miscalibration is tolerable, at least 0.
    sums : BinSums, optional
        The sums of these rows, where they are known; they are computed where omitted.
    of : {"answer", "event"}
        What the probabilities are of.
    weight : NDArray[np.float64], shape (n,), optional
        How many cases each row stands for, above 0; 1 each where omitted. The numbers are then weighted, and
        as many rows are needed in the effective number (Kish 1965).

    Raises
    ------
    ValueError
        If the shapes differ or a value is outside its range.
    """
    if weight is None:
        cells = CalibrationSums.from_pairs(confidence, correct, sums)
    else:
        cells = CalibrationSums.from_rows(np.asarray(confidence), np.asarray(correct), weight)
    if reason := untested_reason(np.size(correct), cluster, weight):
        return _untested("few", cells, reason, of)
    if weight is None and (cluster is None or count_clusters(cluster) == cells.n):
        return judge_sums(cells, tolerance=tolerance, of=of)
    return verdict_of_test(cox_test(confidence, correct, cluster, weight), tolerance=tolerance, of=of)


def untested_reason(
    n: int, cluster: NDArray[np.intp] | None = None, weight: NDArray[np.float64] | None = None
) -> str | None:
    """Why `judge` does not judge so many rows, as a sentence; None where it does, which takes no test.

    Parameters
    ----------
    n : int
        Number of rows.
    cluster, weight
        As in `judge`.
    """
    few = None
    if cluster is not None and (weight is not None or count_clusters(cluster) < n):
        few = too_few_clusters(cluster, weight)
    if weight is not None and (effective := effective_number(weight)) < MIN_ROWS * (1 - ROUNDING_TOLERANCE):
        worth = f", worth {format_number(effective, '.1f')} of equal weight"
        few = f"{plural(n, 'row')}{worth}, fewer than {MIN_ROWS}"
    if weight is None and n < MIN_ROWS:
        return _rows_reason(n)
    return f"Not judged: {few}." if few else None


def judge_sums(
    sums: CalibrationSums, *, tolerance: float = DEFAULT_TOLERANCE, of: ProbabilityOf = "answer"
) -> Verdict:
    """The verdict on independent rows, from their sums; equal to that of `judge` on the rows."""
    if sums.n < MIN_ROWS:
        return _untested("few", sums, _rows_reason(sums.n), of)
    return verdict_of_test(cox_test_of_sums(sums), tolerance=tolerance, of=of)


def judge_texts(
    sums: CalibrationSums, texts: TextSums | None, *, tolerance: float = DEFAULT_TOLERANCE
) -> Verdict:
    """The verdict on positions of texts, by text.

    Parameters
    ----------
    sums : CalibrationSums
        Of all positions.
    texts : TextSums or None
        Of the same positions, by text; None where it is not known which text each came from.
    tolerance : float
        As for `judge`.
    """
    if sums.n < MIN_ROWS:
        return _untested("few", sums, _rows_reason(sums.n))
    if texts is None:
        unknown = f"the file does not say which text each of its {sums.n:,} positions came from"
        return _untested("dependent", sums, f"Not judged: {unknown}, and {DEPENDENT_POSITIONS}.")
    if few := too_few_texts(texts):
        return _untested("dependent", sums, f"Not judged: {few}, as {DEPENDENT_POSITIONS}.")
    return verdict_of_test(cox_test_by_text(sums, texts), tolerance=tolerance)


def verdict_of_test(
    test: CalibrationTest, *, tolerance: float = DEFAULT_TOLERANCE, of: ProbabilityOf = "answer"
) -> Verdict:
    """The verdict that a test supports; the level is named first where level and slope are both clear."""
    kind = _kind(test, tolerance, of)
    slope = None if test.slope is None or test.only_outcome is not None else test.beta
    deviation = test.group_deviation if _curve_clear(test) else test.deviation
    return Verdict(
        kind,
        test.p,
        test.level,
        slope,
        deviation,
        _reason(test, kind, tolerance, TERMS[of]),
        test,
        of=of,
    )


def marked_verdict(words: str) -> str:
    """The words of a verdict after its shape.

    Examples
    --------
    >>> marked_verdict("too timid")
    '◇ too timid'
    """
    kind: VerdictKind = next(kind for kind in VERDICT_WORDS if VERDICT_WORDS[kind] == words)
    return f"{VERDICT_MARKS[kind]} {words}"


def count_verdicts(kinds: Sequence[VerdictKind]) -> str:
    """At least one verdict in words: "9 are over-confident and 1 shows no evidence of miscalibration"."""
    return join_names(
        [f"{count} {verdict_phrase(kind, count)}" for kind in VERDICT_WORDS if (count := kinds.count(kind))]
    )


def counted_kind(verdict: Verdict, q: float | None) -> VerdictKind:
    """The verdict as sentences count it: none where its q-value is not clear among all of the list."""
    return verdict.kind if q is None or q <= SIGNIFICANCE_LEVEL else "none"


def uncounted_note(judged: Iterable[tuple[Verdict, float | None]], noun: str) -> str:
    """What sentences leave out of their counts by q though a table names it, by its own p; "" for nothing.

    Parameters
    ----------
    judged : iterable of (Verdict, float or None)
        Each verdict with its q-value.
    noun : str
        What each verdict is on: "run".

    Examples
    --------
    >>> verdict = judge(np.repeat(0.9, 100), np.arange(100) < 82)
    >>> round(verdict.p, 3), uncounted_note([(verdict, 0.2)], "run"), uncounted_note([(verdict, 0.04)], "run")
    (0.013, '1 run has p ≤ 0.05 but q > 0.05 and does not count.', '')
    """
    n = sum(verdict.kind != counted_kind(verdict, q) for verdict, q in judged)
    if not n:
        return ""
    has, does = ("has", "does") if n == 1 else ("have", "do")
    level = f"{SIGNIFICANCE_LEVEL:g}"
    return f"{plural(n, noun)} {has} p ≤ {level} but q > {level} and {does} not count."


def verdict_recipe(tolerance: float = DEFAULT_TOLERANCE, terms: Terms = ANSWER_TERMS) -> str:
    """How a verdict is made, for recipes."""
    return (
        f"score test of logistic recalibration (Cox), α = 0 and β = 1, at {1 - CURVE_SHARE:g} of the level "
        f"{SIGNIFICANCE_LEVEL}, and of groups of {terms.confidences} beyond it at {CURVE_SHARE:g}; "
        f"tolerance {tolerance:g} of a 95 % upper bound of mean |c − P({terms.right})|"
    )


def verdicts_sentence(kinds: Sequence[VerdictKind], noun: str, scope: str = "") -> str:
    """The verdicts of several runs or groups counted, as in "Of 3 runs, 2 are over-confident and …".

    Parameters
    ----------
    kinds : sequence of VerdictKind
        At least one.
    noun : str
        What each verdict is on: "run".
    scope : str
        What follows the noun, with a space before it: " by subject".

    Examples
    --------
    >>> verdicts_sentence(["over", "over"], "run"), verdicts_sentence(["none"], "group", " by subject")
    ('Both runs are over-confident.', 'The only group by subject shows no evidence of miscalibration.')
    """
    n = len(kinds)
    if n == 1:
        return f"The only {noun}{scope} {verdict_phrase(kinds[0])}."
    if len(set(kinds)) == 1:
        return f"{both_or_all(n).capitalize()} {noun}s{scope} {verdict_phrase(kinds[0], n)}."
    return f"Of {plural(n, noun)}{scope}, {count_verdicts(kinds)}."


def disagreement_text(verdict: Verdict, name: str, p: float | None) -> str | None:
    """Why a metric's own p-value and the verdict say different things; None where they agree.

    Parameters
    ----------
    verdict : Verdict
    name : str
        The metric's name in a sentence: "ECE".
    p : float or None
        p-value of the metric against calibration, in [0, 1].

    Examples
    --------
    >>> verdict = judge(np.repeat(0.9, 100), np.arange(100) < 82)
    >>> text = disagreement_text(verdict, "ECE", 0.2)
    >>> text[:81], disagreement_text(verdict, "ECE", 0.01)
    ('ECE by itself is within chance (p = 0.200), but the verdict is not (p = 0.013): o', None)
    """
    if p is None or verdict.p is None or (p <= SIGNIFICANCE_LEVEL) == verdict.miscalibrated:
        return None
    own, joint = p_value_phrase(p, None), p_value_phrase(verdict.p, None)
    if verdict.miscalibrated:
        differs = "takes the signs of the gaps into account, while the metric adds up their sizes"
        if verdict.kind == "uneven":
            differs = "weighs each gap by how far it is beyond chance, which the metric does not"
        return (
            f"{name} by itself is within chance ({own}), but the verdict is not ({joint}): {verdict.words}. "
            f"The verdict {differs}."
        )
    why = (
        "Both test the same gap; the verdict's p-value is the more precise one."
        if verdict.test is not None and verdict.test.n_parts == 1
        else "The verdict covers several tests, of which one may look clear by chance; more rows would tell."
    )
    return f"{name} by itself is beyond chance ({own}), but the verdict is not ({joint}). {why}"


def chance_phrase(p: float | None, draws: int | None) -> str:
    """What a p-value says of chance; "" for None.

    Examples
    --------
    >>> chance_phrase(0.005, 199), chance_phrase(0.312, None), chance_phrase(None, None)
    ('not chance (p ≤ 0.005)', 'may be chance (p = 0.312)', '')
    """
    if p is None:
        return ""
    return f"{'not' if p <= SIGNIFICANCE_LEVEL else 'may be'} chance ({p_value_phrase(p, draws)})"


def verdict_phrase(kind: VerdictKind, count: int = 1) -> str:
    """The verdict with its verb: "is over-confident", or for several "have too few rows"."""
    singular_verb, plural_verb = _VERBS.get(kind, ("is", "are"))
    return f"{singular_verb if count == 1 else plural_verb} {VERDICT_WORDS[kind]}"


def score_suffix(kind: VerdictKind, score: str | None) -> str:
    """What follows a verdict on a score rather than on the model: " as a score (F_CS)"; "" elsewhere.

    Parameters
    ----------
    kind : VerdictKind
    score : str or None
        The score's name; None for a confidence of the model.
    """
    return f" as a score ({score})" if score and kind != "few" else ""


def top_label_verdict(verdict: Verdict) -> str:
    """The verdict in a sentence of its own, for numbers of all labels: "By its top label, the run is …"."""
    return f"By its top label, the run {verdict_phrase(verdict.kind)}."


def _kind(test: CalibrationTest, tolerance: float, of: ProbabilityOf) -> VerdictKind:
    if test.p > SIGNIFICANCE_LEVEL:
        return "none"
    if test.deviation_bound <= tolerance and not _relatively_large(test, tolerance):
        return "tolerable"
    return _direction(test, tolerance, of)


def _relatively_large(test: CalibrationTest, tolerance: float) -> bool:
    """Whether the level is off by much of what is stated to be wrong, or to be right where that is less."""
    stated = test.accuracy + test.level
    return abs(test.level) > RELATIVE_TOLERANCE * tolerance * min(stated, 1 - stated)


def _direction(test: CalibrationTest, tolerance: float, of: ProbabilityOf) -> VerdictKind:
    """The part that is clear by itself: the level first, single confidences where the rest is tolerable."""
    level_clear, slope_clear, curve_clear = _clear_parts(test)
    if curve_clear and (
        not (level_clear or slope_clear) or test.deviation <= tolerance < test.group_deviation
    ):
        return "uneven"
    if level_clear:
        over, under = LEVEL_KINDS[of]
        return over if test.level > 0 else under
    if slope_clear:
        return "extreme" if (test.slope or 0.0) > 0 else "timid"
    return "unclear"


def _clear_parts(test: CalibrationTest) -> tuple[bool, bool, bool]:
    """Whether level, slope and curve are each clear by their own test, after the one that they share."""
    logistic = test.logistic_p <= SIGNIFICANCE_LEVEL
    return (
        logistic and test.level_p <= SIGNIFICANCE_LEVEL,
        logistic and (1.0 if test.slope_p is None else test.slope_p) <= SIGNIFICANCE_LEVEL,
        _curve_clear(test),
    )


def _curve_clear(test: CalibrationTest) -> bool:
    return (
        test.p <= SIGNIFICANCE_LEVEL and (1.0 if test.curve_p is None else test.curve_p) <= SIGNIFICANCE_LEVEL
    )


def _rows_reason(n: int) -> str:
    rows = "1 row" if n == 1 else f"{n} rows"
    return f"Not judged: {rows}, fewer than {MIN_ROWS}."


def _untested(kind: VerdictKind, sums: CalibrationSums, reason: str, of: ProbabilityOf = "answer") -> Verdict:
    return Verdict(kind, None, sums.level if sums.total else None, None, None, reason, None, of=of)


_DIRECTION_TEXT: Final[Mapping[VerdictKind, str]] = MappingProxyType(
    {
        "over": "Confidence is higher than accuracy",
        "under": "Confidence is lower than accuracy",
        "often": "The probability of yes is higher than the share of yes",
        "rarely": "The probability of yes is lower than the share of yes",
        "extreme": "High {} are too high and low ones too low",
        "timid": "High {} are too low and low ones too high",
    }
)


def _reason(test: CalibrationTest, kind: VerdictKind, tolerance: float, terms: Terms) -> str:
    """What is off, by how much, and how clear that is by its own test; and what else has to be known."""
    if kind == "none":
        return " ".join(filter(None, [_not_rejected_text(test, terms), _one_decimal_text(test, terms)]))
    if kind == "tolerable":
        groups = f" over {test.n_fine_groups} groups of {terms.confidences}" if test.n_fine_groups > 1 else ""
        return (
            f"Miscalibration is clear ({p_value_phrase(test.p, None)}), but with 95 % confidence at most "
            f"{format_number(test.deviation_bound, '.3f')} on average{groups}, within the tolerance of "
            f"{tolerance:g}."
        )
    return " ".join(
        filter(
            None,
            [
                f"{_off_text(test, kind, terms)}.",
                _tolerance_text(test, tolerance, terms),
                _certain_text(test, terms),
                _one_decimal_text(test, terms),
                _slope_text(test, terms),
            ],
        )
    )


def _off_text(test: CalibrationTest, kind: VerdictKind, terms: Terms) -> str:
    """What is off; each p-value belongs to what is said before it."""
    level_clear, slope_clear, curve_clear = _clear_parts(test)
    # No mean of sizes is below the size of the mean; what 0 and 1 stand for counts for the former alone.
    grouped = format_number(max(test.group_deviation, abs(test.level)), ".3f")
    curve = f"({p_value_phrase(test.curve_p, None)}), by {grouped} on average"
    deviation = format_number(test.deviation, ".3f")
    if kind == "uneven":
        rest = ", some too high and others too low"
        if level_clear or slope_clear:
            rest = f"; by level and spread alone, {deviation} ({p_value_phrase(test.logistic_p, None)})"
        return f"Individual {terms.confidences} are off beyond level and spread {curve}{rest}"
    if kind == "unclear":
        together = p_value_phrase(test.logistic_p, None)
        return (
            f"Level and spread are off by {deviation} on average, which is clear for both together "
            f"({together}) but for neither alone"
        )
    beyond = f"; individual {terms.confidences} are off beyond that {curve} in all" if curve_clear else ""
    slope = p_value_phrase(test.slope_p, None)
    if any(kind in level_kinds for level_kinds in LEVEL_KINDS.values()):
        gap, level = format_number(abs(test.level), ".3f"), p_value_phrase(test.level_p, None)
        spread = "far" if (test.slope or 0.0) > 0 else "little"
        both = slope_clear and test.only_outcome is None
        also = f", and the {terms.confidences} are spread too {spread} ({slope})" if both else ""
        return f"{_DIRECTION_TEXT[kind]} by {gap} on average ({level}){also}{beyond}"
    direction = _DIRECTION_TEXT[kind].format(terms.confidences)
    if curve_clear:  # the fitted curve is not the run's
        return f"{direction} ({slope}){beyond}"
    return f"{direction}, by {deviation} on average ({slope})"


def _not_rejected_text(test: CalibrationTest, terms: Terms) -> str:
    """What was tested together, and which part would be clear had it been tested alone."""
    parts = {
        f"the mean {terms.confidence}": test.level_p,
        "its spread": test.slope_p,
        f"single {terms.confidences}": test.curve_p,
    }
    tested = {name: p for name, p in parts.items() if p is not None}
    chance = p_value_phrase(test.p, None)
    alone = [f"{p_value_phrase(p, None)} for {name}" for name, p in tested.items() if p <= SIGNIFICANCE_LEVEL]
    if len(tested) == 1:
        return f"The mean {terms.confidence} is off by no more than chance ({chance})."
    names = list(tested)
    text = f"Together, {', '.join(names[:-1])} and {names[-1]} are off by no more than chance ({chance})."
    return f"{text} Tested alone, {join_names(alone)}." if alone else text


def _tolerance_text(test: CalibrationTest, tolerance: float, terms: Terms) -> str:
    """Why what looks tolerable is not called so; "" where it does not look so."""
    looks = max(test.deviation, test.group_deviation if _curve_clear(test) else 0.0)
    if looks > tolerance:
        return ""
    if test.deviation_bound > tolerance:
        bound = format_number(test.deviation_bound, ".3f")
        return f"The mean deviation may be up to {bound}, more than the tolerance of {tolerance:g}."
    stated = test.accuracy + test.level
    wrong = stated >= 0.5
    rare, said = (1 - test.accuracy, 1 - stated) if wrong else (test.accuracy, stated)
    word = terms.wrong if wrong else terms.right
    return f"{format_percent(rare)} are {word}, not the stated {format_percent(said)}."


def _certain_text(test: CalibrationTest, terms: Terms) -> str:
    """Outcomes against what was stated to be certain: "2 answers with confidence 1 are wrong."."""
    parts = [
        f"{count:,} {terms.answer if count == 1 else f'{terms.answer}s'} with {terms.confidence} {value} "
        f"{'is' if count == 1 else 'are'} {outcome}"
        for count, value, outcome in (
            (test.n_wrong_at_one, 1, terms.wrong),
            (test.n_right_at_zero, 0, terms.right),
        )
        if count
    ]
    return f"{' and '.join(parts)}." if parts else ""


def _one_decimal_text(test: CalibrationTest, terms: Terms) -> str:
    """What 0 and 1 are taken for where all have one decimal and outcomes contradict them; "" elsewhere."""
    if test.half_width < ONE_DECIMAL:
        return ""
    parts = [
        text
        for count, text in (
            (test.n_wrong_at_one, f"1 represents {1 - ONE_DECIMAL:g} and more"),
            (test.n_right_at_zero, f"0 represents {ONE_DECIMAL:g} and less"),
        )
        if count
    ]
    return f"As all {terms.confidences} have one decimal, {' and '.join(parts)}." if parts else ""


def _slope_text(test: CalibrationTest, terms: Terms) -> str:
    """Why there is no slope where outcomes are equal."""
    if test.only_outcome is None or test.slope is None:
        return ""
    outcome = terms.right if test.only_outcome else terms.wrong
    return f"The slope is not defined, as every {terms.answer} is {outcome}."
