"""Has a number changed between two runs on the same questions? Said by the interval of the difference alone.

That one of two numbers is clear and the other is not, or that their intervals overlap, says nothing of a
change. A change is claimed where the p-value of the paired difference, corrected for all differences that are
shown together (Holm), is clear.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.inference.bootstrap import PairedDifference
from calib_core.inference.multiplicity import holm
from calib_core.inference.verdict import MIN_ROWS, SIGNIFICANCE_LEVEL
from calib_core.results.evidence import AnswerEvidence, Evidence
from calib_core.results.uncertainty import paired_difference
from calib_core.terms import ANSWER_TERMS, Terms
from calib_core.wording import format_interval, format_signed, plural

NO_ROWS_TO_PAIR: Final = (
    "A token-level run keeps sums and no single positions, so two runs cannot be paired, and how much the "
    "positions of one text depend on one another is not known."
)
"""An interval that takes them for independent may be too narrow (benchmarks/unpaired.md)."""
HOLM_NOTE: Final = "corrected for {} (Holm)"


@dataclass(frozen=True, slots=True)
class Contrast:
    """A metric in one set of runs less the same metric in another, on the same questions.

    Attributes
    ----------
    reference_level, level : str
        What the two sides are called.
    run_pairs : tuple[tuple[str, str], ...]
        Keys of the paired runs: of `reference_level`, of `level`.
    difference : PairedDifference or None
        Level − reference level, averaged over the pairs.
    reason : str or None
        Why there is no difference.
    p : float or None
        p-value of no difference, corrected for all that are shown together; None without a difference, and
        with fewer than `MIN_ROWS` questions.
    """

    reference_level: str
    level: str
    run_pairs: tuple[tuple[str, str], ...]
    difference: PairedDifference | None
    reason: str | None
    p: float | None = None

    @property
    def is_clear(self) -> bool:
        """Whether a change may be claimed."""
        return self.p is not None and self.p <= SIGNIFICANCE_LEVEL


def measure_contrast(
    reference_level: str,
    level: str,
    run_pairs: Sequence[tuple[str, str]],
    evidence_pairs: Sequence[tuple[Evidence, Evidence]],
    metric_id: str,
    scheme: Scheme | None = None,
) -> Contrast:
    """The contrast of paired runs, without a correction; its `reason` says why there is no difference.

    Parameters
    ----------
    reference_level, level, run_pairs
        As in `Contrast`.
    evidence_pairs : sequence of (Evidence, Evidence)
        The evidence of each pair of runs.
    metric_id : str
    scheme : Scheme, optional
    """
    paired = [
        (first, second)
        for first, second in evidence_pairs
        if isinstance(first, AnswerEvidence) and isinstance(second, AnswerEvidence)
    ]
    keys = tuple(run_pairs)
    if len(paired) < len(evidence_pairs):
        return Contrast(reference_level, level, keys, None, NO_ROWS_TO_PAIR)
    try:
        difference = paired_difference(paired, metric_id, scheme)
    except Unavailable as reason:
        return Contrast(reference_level, level, keys, None, str(reason))
    p = difference.p if difference.n_questions >= MIN_ROWS else None
    return Contrast(reference_level, level, keys, difference, None, p)


def correct_contrasts(contrasts: Sequence[Contrast]) -> tuple[Contrast, ...]:
    """The contrasts that are shown together, with their p-values corrected by Holm's method."""
    corrected = iter(holm([contrast.p for contrast in contrasts if contrast.p is not None]))
    return tuple(
        contrast if contrast.p is None else replace(contrast, p=next(corrected)) for contrast in contrasts
    )


def change_phrase(contrast: Contrast) -> str:
    """What may be said of a difference: "higher", "lower", "no clear change", "too few questions …"."""
    difference = contrast.difference
    if difference is None:
        return f"not tested: {contrast.reason}"
    if contrast.p is None:
        return f"not tested: fewer than {MIN_ROWS} questions"
    if not contrast.is_clear:
        return "no clear change"
    return "higher" if difference.value > 0 else "lower"


def difference_text(difference: PairedDifference, terms: Terms = ANSWER_TERMS) -> str:
    """The difference with its interval and its questions: "−0.01 (95 % −0.03 to …) on 400 questions"."""
    interval = format_interval(difference.low, difference.high, "+.4f")
    questions = plural(difference.n_questions, terms.question)
    return f"{format_signed(difference.value)} (95 % {interval}) on {questions}"


def correction_note(contrasts: Sequence[Contrast]) -> str:
    """Which differences were corrected together, as the end of a sentence; "" for fewer than two."""
    n_tested = sum(contrast.p is not None for contrast in contrasts)
    return HOLM_NOTE.format(f"{n_tested} differences") if n_tested > 1 else ""
