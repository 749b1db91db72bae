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
    CalibrationSums,
    CalibrationTest,
    cox_test,
    cox_test_of_sums,
)
from calib_core.inference.cluster_draws import count_clusters, too_few_clusters
from calib_core.wording import both_or_all, format_number, join_names, p_value_phrase, plural

MIN_ROWS: Final = 30
"""Fewer rows, positions or questions than this are too few to judge; a bin with fewer is drawn faded."""

SIGNIFICANCE_LEVEL: Final = 0.05
"""A p-value, or a q-value, up to this is clear."""

DEFAULT_TOLERANCE: Final = 0.02
"""Mean of |c − fitted curve| up to which miscalibration is tolerable, unless the user sets another."""

VerdictKind = Literal["over", "under", "extreme", "timid", "tolerable", "none", "few"]

VERDICT_WORDS: Final[Mapping[VerdictKind, str]] = MappingProxyType(
    {
        "over": "over-confident",
        "under": "under-confident",
        "extreme": "too extreme",
        "timid": "too timid",
        "tolerable": "miscalibrated but within tolerance",
        "none": "no evidence of miscalibration",
        "few": "too few rows",
    }
)
"""How each verdict is worded, in the order in which verdicts are counted."""

_VERBS: Final[Mapping[VerdictKind, tuple[str, str]]] = MappingProxyType(
    {"none": ("shows", "show"), "few": ("has", "have")}
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one run as seen by one method.

    Attributes
    ----------
    kind : {"over", "under", "extreme", "timid", "tolerable", "none", "few"}
        The verdict; `VERDICT_WORDS` has its wording.
    p : float or None
        p-value of calibration, in [0, 1]; None for too few rows.
    level : float or None
        Mean confidence minus accuracy, in [−1, 1]; None without rows.
    slope : float or None
        Fitted β of Cox's recalibration: below 1 if the confidences are too extreme; None for too few rows,
        or if all confidences or all outcomes are equal.
    deviation : float or None
        Mean of |c − fitted curve|, which is compared with the tolerance; None for too few rows.
    reason : str
        One sentence on why this is the verdict.
    test : CalibrationTest or None
        The test behind it; None for too few rows.
    scope : str
        What it is about if not all rows, with a space before it: " where it has a confidence".
    """

    kind: VerdictKind
    p: float | None
    level: float | None
    slope: float | None
    deviation: float | None
    reason: str
    test: CalibrationTest | None
    scope: str = ""

    @property
    def words(self) -> str:
        """The verdict in words: "over-confident"."""
        return VERDICT_WORDS[self.kind]

    @property
    def miscalibrated(self) -> bool:
        """Whether calibration is rejected, within tolerance or not."""
        return self.kind not in {"none", "few"}

    def with_tolerance(self, tolerance: float) -> Verdict:
        """The verdict of the same test with another tolerance, at least 0."""
        if self.test is None:
            return self
        return replace(verdict_of_test(self.test, tolerance=tolerance), scope=self.scope)


def judge(
    confidence: ArrayLike,
    correct: ArrayLike,
    cluster: NDArray[np.intp] | None = None,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    sums: BinSums | None = None,
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
        Mean of |c − fitted curve| up to which miscalibration is tolerable, at least 0.
    sums : BinSums, optional
        The sums of these rows, where they are known; they are computed where omitted.

    Raises
    ------
    ValueError
        If the shapes differ or a value is outside its range.
    """
    cells = CalibrationSums.from_pairs(confidence, correct, sums)
    if cells.n < MIN_ROWS:
        return _too_few(cells, _rows_reason(cells.n))
    if cluster is None or count_clusters(cluster) == cells.n:
        return judge_sums(cells, tolerance=tolerance)
    if reason := too_few_clusters(cluster):
        return _too_few(cells, f"Not judged: {reason}.")
    return verdict_of_test(cox_test(confidence, correct, cluster, sums=cells), tolerance=tolerance)


def judge_sums(sums: CalibrationSums, *, tolerance: float = DEFAULT_TOLERANCE) -> Verdict:
    """The verdict on independent rows, from their sums; equal to that of `judge` on the rows."""
    if sums.n < MIN_ROWS:
        return _too_few(sums, _rows_reason(sums.n))
    return verdict_of_test(cox_test_of_sums(sums), tolerance=tolerance)


def verdict_of_test(test: CalibrationTest, *, tolerance: float = DEFAULT_TOLERANCE) -> Verdict:
    """The verdict that a test supports; the level is named first where level and slope are both clear."""
    kind = _kind(test, tolerance)
    slope = None if test.slope is None or test.only_outcome is not None else test.beta
    return Verdict(kind, test.p, test.level, slope, test.deviation, _reason(test, kind, tolerance), test)


def count_verdicts(kinds: Sequence[VerdictKind]) -> str:
    """At least one verdict in words: "9 are over-confident and 1 shows no evidence of miscalibration"."""
    return join_names(
        [f"{count} {verdict_phrase(kind, count)}" for kind in VERDICT_WORDS if (count := kinds.count(kind))]
    )


Q_TEXT: Final = f"q ≤ {SIGNIFICANCE_LEVEL:g}"
"""What counts a verdict among several."""


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


def verdict_recipe(tolerance: float = DEFAULT_TOLERANCE) -> str:
    """How a verdict is made, for recipes."""
    return (
        f"score test of logistic recalibration (Cox), α = 0 and β = 1, p ≤ {SIGNIFICANCE_LEVEL}, tolerance "
        f"{tolerance:g} of mean |c − fitted curve|"
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


def verdict_phrase(kind: VerdictKind, count: int = 1) -> str:
    """The verdict with its verb: "is over-confident", or for several "have too few rows"."""
    singular_verb, plural_verb = _VERBS.get(kind, ("is", "are"))
    return f"{singular_verb if count == 1 else plural_verb} {VERDICT_WORDS[kind]}"


def top_label_verdict(verdict: Verdict) -> str:
    """The verdict in a sentence of its own, for numbers of all labels: "By its top label, the run is …"."""
    return f"By its top label, the run {verdict_phrase(verdict.kind)}."


def _kind(test: CalibrationTest, tolerance: float) -> VerdictKind:
    if test.p > SIGNIFICANCE_LEVEL:
        return "none"
    if test.deviation <= tolerance:
        return "tolerable"
    return _direction(test)


def _direction(test: CalibrationTest) -> VerdictKind:
    """The clear part, the level first; if neither is clear alone, the clearer one."""
    slope_p = 1.0 if test.slope_p is None else test.slope_p
    if test.level_p > SIGNIFICANCE_LEVEL and slope_p > SIGNIFICANCE_LEVEL and test.n_wrong_at_one:
        return "extreme" if test.n_right_at_zero else "over"
    if test.level_p > SIGNIFICANCE_LEVEL and slope_p > SIGNIFICANCE_LEVEL and test.n_right_at_zero:
        return "under"
    if test.level_p <= max(SIGNIFICANCE_LEVEL, slope_p):
        return "over" if test.level > 0 else "under"
    return "extreme" if (test.slope or 0.0) > 0 else "timid"


def _rows_reason(n: int) -> str:
    rows = "1 row" if n == 1 else f"{n} rows"
    return f"Not judged: {rows}, fewer than {MIN_ROWS}."


def _too_few(sums: CalibrationSums, reason: str) -> Verdict:
    level = -float(sums.residual.sum()) / sums.n if sums.n else None
    return Verdict("few", None, level, None, None, reason, None)


_DIRECTION_TEXT: Final[Mapping[VerdictKind, str]] = MappingProxyType(
    {
        "over": "Confidence is higher than accuracy",
        "under": "Confidence is lower than accuracy",
        "extreme": "High confidences are too high and low ones too low",
        "timid": "High confidences are too low and low ones too high",
    }
)


def _reason(test: CalibrationTest, kind: VerdictKind, tolerance: float) -> str:
    """What is off, by how much, and how clear it is; and why there is no slope where outcomes are equal."""
    if test.only_outcome is not None and test.slope is not None:
        outcome = "right" if test.only_outcome else "wrong"
        without_slope = _reason(replace(test, only_outcome=None, slope=None), kind, tolerance)
        return f"{without_slope} The slope is not defined, as every answer is {outcome}."
    if kind == "none":
        chance = p_value_phrase(test.p, None)
        return f"Neither the mean confidence nor its spread is off by more than chance ({chance})."
    deviation = format_number(test.deviation, ".3f")
    if kind == "tolerable":
        return (
            f"Miscalibration is clear ({p_value_phrase(test.p, None)}), but {deviation} on average, "
            f"within the tolerance of {tolerance:g}."
        )
    impossible = _impossible_text(test)
    if impossible:
        return f"{impossible}, which no calibrated model can do; the mean deviation is {deviation}."
    both = _both_text(test, kind)
    if kind in {"over", "under"}:
        gap = format_number(abs(test.level), ".3f")
        return f"{_DIRECTION_TEXT[kind]} by {gap} on average ({p_value_phrase(test.p, None)}){both}."
    return f"{_DIRECTION_TEXT[kind]}, by {deviation} on average ({p_value_phrase(test.p, None)})."


def _both_text(test: CalibrationTest, kind: VerdictKind) -> str:
    if kind not in {"over", "under"} or test.slope is None or (test.slope_p or 1.0) > SIGNIFICANCE_LEVEL:
        return ""
    return ", and the confidences are spread too " + ("far" if test.slope > 0 else "little")


def _impossible_text(test: CalibrationTest) -> str:
    """The impossible outcomes in words: "2 answers with confidence 1 are wrong"; empty if there are none."""
    parts = [
        f"{count:,} {'answer' if count == 1 else 'answers'} with confidence {value} "
        f"{'is' if count == 1 else 'are'} {outcome}"
        for count, value, outcome in (
            (test.n_wrong_at_one, 1, "wrong"),
            (test.n_right_at_zero, 0, "right"),
        )
        if count
    ]
    return " and ".join(parts)
