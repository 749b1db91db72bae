"""The recipe of a number: how it was made and on how many rows, as one line in the same form everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from calib_core.edges import Scheme
from calib_core.metrics.metric import Metric
from calib_core.results.evidence import Evidence
from calib_core.runs import AnswerRun
from calib_core.wording import join_names, plural


def scheme_text(scheme: Scheme, n_realised: int | None = None, swept_bins: Sequence[int] = ()) -> str:
    """The bins, as in "equal width, M=10, right-closed" or "equal mass, M=10 (8 realised)".

    Parameters
    ----------
    scheme : Scheme
    n_realised : int, optional
        Number of non-empty bins, for equal-mass and natural bins.
    swept_bins : sequence of int, optional
        Every M of a sweep, of which `scheme` has the first.
    """
    bins = ", ".join(map(str, swept_bins or (scheme.bins,)))
    if scheme.binning == "width":
        return f"equal width, M={bins}, right-closed"
    if scheme.binning == "mass":
        fewer = f" ({n_realised} realised)" if n_realised not in (None, scheme.bins) else ""
        return f"equal mass, M={bins}{fewer}"
    if n_realised is None:
        return "natural bins"
    return f"natural bins ({n_realised} value{'s' if n_realised != 1 else ''})"


def rows_text(evidence: Evidence, n_used: int | None = None) -> str:
    """The rows, as in "n=1300/1319, 3 bad rows left out"; `n_used` replaces the number of used rows.

    Where rows have weights, it goes on as in ", weighted by column weight, effective n=870.3".
    """
    left_out = evidence.run.row_counts.n_left_out
    parts = [
        f"n={evidence.n_used if n_used is None else n_used}/{evidence.n_total}",
        evidence.weights_text,
        f"{plural(left_out, 'bad row')} left out" if left_out else None,
    ]
    return ", ".join(part for part in parts if part)


def joint_rows_text(evidences: Iterable[Evidence]) -> str:
    """What was done to rows of some of several runs, for a recipe they share: corrections, and weights.

    "with corrections fixes.csv: 12 left out, 7 corrected, weighted by column weight"; "" for neither. Where
    runs were corrected unalike, only the tables are named.
    """
    evidences = tuple(evidences)
    runs = [evidence.run for evidence in evidences]
    corrections = [run.corrections for run in runs if isinstance(run, AnswerRun) and run.corrections]
    parts = [*dict.fromkeys(one.recipe for one in corrections)]
    if len(parts) > 1:
        parts = [f"with corrections {join_names([*dict.fromkeys(one.file for one in corrections)])}"]
    if any(evidence.weight is not None for evidence in evidences):
        parts.append("weighted by column weight")
    return ", ".join(parts)


def labels_text(evidence: Evidence, metric: Metric | None = None) -> str | None:
    """Which labels are pooled, and out of how many: "top label", "all classes, K=4"; None without choices."""
    all_classes = metric is not None and metric.needs == "distribution" and metric.required_sums != "ranks"
    return evidence.labels_text(all_classes=all_classes)


def recipe_text(
    evidence: Evidence,
    metric: Metric | None,
    scheme: Scheme | None,
    n_realised: int | None = None,
    swept_bins: Sequence[int] = (),
) -> str:
    """The whole recipe, such as "ECE-L1, equal width, M=10, right-closed, top label, n=1319/1319".

    Parameters
    ----------
    evidence : Evidence
    metric : Metric or None
        None for a picture of the confidences alone.
    scheme : Scheme or None
        None where nothing is binned.
    n_realised, swept_bins
        As in `scheme_text`.
    """
    parts = [
        metric.worded(evidence.terms).recipe_name if metric else None,
        scheme_text(scheme, n_realised, swept_bins) if scheme else None,
        labels_text(evidence, metric),
        *evidence.recipe_parts,
        rows_text(evidence),
    ]
    return ", ".join(part for part in parts if part)
