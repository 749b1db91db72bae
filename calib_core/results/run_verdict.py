"""Can the confidence of one run be believed? The verdict on a run as seen by one method."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl

from calib_core.inference.missingness import Missingness
from calib_core.inference.optimism import Optimism
from calib_core.inference.verdict import (
    Verdict,
    VerdictKind,
    score_suffix,
    verdict_phrase,
    verdict_recipe,
)
from calib_core.results.columns import Column, frame_of
from calib_core.results.display import Displayable
from calib_core.results.evidence import Evidence, RowUnit
from calib_core.terms import ANSWER_TERMS, TERMS, Terms

VERDICT_COLUMNS: Final = (
    Column("run", "run"),
    Column("method", "method", "method"),
    Column("metric"),
    Column("value"),
    Column("words", "verdict", "verdict"),
    Column("p", "p", "p"),
    Column("p_level", kind="p"),
    Column("p_slope", kind="p"),
    Column("p_curve", kind="p"),
    Column("level", f"{ANSWER_TERMS.confidence} − {ANSWER_TERMS.accuracy}", "signed"),
    Column("slope", "slope", "number", digits=2),
    Column("deviation", kind="number"),
    Column("deviation_bound", kind="number"),
    Column("tolerance", kind="number"),
    Column("reason"),
    Column("score_note"),
    Column("held_out_gap", kind="number"),
    Column("held_out_low", kind="number"),
    Column("held_out_high", kind="number"),
    Column("reading"),
    Column("n_used", "rows used", "count"),
    Column("n_total", "rows", "count"),
    Column("recipe"),
    Column("judged"),
    Column("remarks"),
)
"""The columns of a table of verdicts."""


def verdict_columns(terms: Terms) -> tuple[Column, ...]:
    """`VERDICT_COLUMNS` in these terms."""
    gap = f"{terms.confidence} − {terms.accuracy}"
    return tuple(replace(one, title=gap) if one.name == "level" else one for one in VERDICT_COLUMNS)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RunVerdict(Displayable):
    """The verdict on one run as seen by one method, by its top label; `str()` is its two sentences.

    Attributes
    ----------
    run, method : str
        The run's label and the method's id.
    verdict : Verdict
        The same as on every page, with the test behind it.
    headline : str
        The verdict as a sentence, with mean confidence and accuracy.
    mean_confidence, accuracy : float or None
        Of the top label, in [0, 1]; None without rows.
    tolerance : float
        Mean of |c − P(right)|, in [0, 1], up to which miscalibration is tolerable.
    n_used, n_total : int
        Rows or positions used, and in the file.
    recipe : str
        How the verdict was made.
    judged : str
        Which answer the outcome belongs to.
    remarks : tuple[str, ...]
        What a reader has to know about these rows.
    missing : Missingness or None
        Accuracy of the rows without a confidence beside that of the others; None where no row lacks one.
    score_note : str or None
        Whether the verdict is on a score or on the model; None where it is on the model.
    optimism : Optimism or None
        The parts of the gap of F_CS; None for another method, or where they are not known.
    """

    run: str
    method: str
    verdict: Verdict
    headline: str
    mean_confidence: float | None
    accuracy: float | None
    tolerance: float
    n_used: int
    n_total: int
    recipe: str
    judged: str
    remarks: tuple[str, ...] = ()
    missing: Missingness | None = None
    score_note: str | None = None
    optimism: Optimism | None = None

    @property
    def kind(self) -> VerdictKind:
        """Id of the verdict, such as "over"; `VERDICT_WORDS` lists them."""
        return self.verdict.kind

    @property
    def words(self) -> str:
        """The verdict in words: "over-confident"."""
        return self.verdict.words

    @property
    def reason(self) -> str:
        """One sentence on why this is the verdict."""
        return self.verdict.reason

    @property
    def p(self) -> float | None:
        """p-value of calibration, in [0, 1]; None without a test."""
        return self.verdict.p

    def __str__(self) -> str:
        return f"{self.headline} {self.reason}"

    def to_frame(self) -> pl.DataFrame:
        """One row: the fields of `to_dict`, the remarks joined into one text."""
        return frame_of(VERDICT_COLUMNS, [{**self.to_dict(), "remarks": "; ".join(self.remarks)}])

    def to_dict(self) -> dict[str, Any]:
        """The verdict as the command line prints it: `value` is its id, `reading` the headline."""
        held_out = self.optimism and self.optimism.held_out_gap
        return {
            "run": self.run,
            "method": self.method,
            "metric": "verdict",
            "value": self.kind,
            "words": self.words,
            "p": self.p,
            **self.verdict.parts,
            "level": self.verdict.level,
            "slope": self.verdict.slope,
            "deviation": self.verdict.deviation,
            "deviation_bound": self.verdict.deviation_bound,
            "tolerance": self.tolerance,
            "reason": self.reason,
            "score_note": self.score_note,
            "held_out_gap": held_out and held_out.value,
            "held_out_low": held_out and held_out.low,
            "held_out_high": held_out and held_out.high,
            "reading": self.headline,
            "n_used": self.n_used,
            "n_total": self.n_total,
            "recipe": self.recipe,
            "judged": self.judged,
            "remarks": list(self.remarks),
            "missing": self.missing and self.missing.to_dict(),
        }


def run_verdict(evidence: Evidence) -> RunVerdict:
    """The verdict on the evidence, with the tolerance of its options."""
    verdict = evidence.verdict
    return RunVerdict(
        run=evidence.run.label,
        method=evidence.method.id,
        verdict=verdict,
        headline=verdict_headline(
            evidence.run.label,
            verdict,
            evidence.mean_confidence,
            evidence.accuracy,
            n_used=evidence.n_used,
            unit=evidence.unit,
            score=evidence.method.score_name,
        ),
        mean_confidence=evidence.mean_confidence,
        accuracy=evidence.accuracy,
        tolerance=evidence.tolerance,
        n_used=evidence.n_used,
        n_total=evidence.n_total,
        recipe=(
            f"{verdict_recipe(evidence.tolerance, evidence.terms)}; {evidence.method.id}, "
            f"{evidence.corrections_text}n={evidence.n_used}/{evidence.n_total}"
            + (f", {evidence.weights_text}" if evidence.weights_text else "")
        ),
        judged=evidence.judged,
        remarks=evidence.remarks,
        missing=evidence.missingness,
        score_note=evidence.score_note,
        optimism=evidence.optimism,
    )


def verdict_headline(
    name: str,
    verdict: Verdict,
    mean_confidence: float | None,
    accuracy: float | None,
    *,
    n_used: int,
    unit: RowUnit,
    score: str | None = None,
) -> str:
    """The verdict on one run as a sentence.

    Parameters
    ----------
    name : str
        What the run is called.
    verdict : Verdict
    mean_confidence, accuracy : float or None
        Of the top label, in [0, 1]; None without rows.
    n_used : int
        Number of rows or positions with a confidence and an outcome.
    unit : {"rows", "positions"}
    score : str, optional
        As for `score_suffix`.
    """
    clause = f"{name} {verdict_phrase(verdict.kind)}{score_suffix(verdict.kind, score)}{verdict.scope}"
    if mean_confidence is None or accuracy is None:
        return f"{clause}: no {unit[:-1]} {TERMS[verdict.of].no_pair}."
    rows = f" in {n_used:,} {unit}" if verdict.kind == "none" else ""
    return f"{clause}{rows}: {TERMS[verdict.of].stated_and_observed(mean_confidence, accuracy)}."
