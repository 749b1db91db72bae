"""How was this number made, and on how many rows does it stand?  One line, the same everywhere."""

from __future__ import annotations

from calib_core.analysis.evidence import Evidence
from calib_core.bins import Scheme
from calib_core.metrics.metric import Metric


def scheme_text(scheme: Scheme, realised: int | None = None) -> str:
    """"equal width, M=10, right-closed", "equal mass, M=10 (8 realised)", "natural bins (11 values)"."""
    if scheme.binning == "width":
        return f"equal width, M={scheme.bins}, right-closed"
    if scheme.binning == "mass":
        fewer = f" ({realised} realised)" if realised not in (None, scheme.bins) else ""
        return f"equal mass, M={scheme.bins}{fewer}"
    if realised is None:
        return "natural bins"
    return f"natural bins ({realised} value{'s' if realised != 1 else ''})"


def rows_text(evidence: Evidence) -> str:
    """"n=1300/1319, 3 bad rows left out"."""
    left_out = evidence.run.ledger.left_out
    tail = f", {left_out:,} bad row{'s' if left_out > 1 else ''} left out" if left_out else ""
    return f"n={evidence.n_used}/{evidence.n_total}{tail}"


def labels_text(evidence: Evidence, metric: Metric | None = None) -> str | None:
    """Which labels are pooled, of how many: "top label", "all classes, K=4"; None without choices."""
    distribution = evidence.confidences.distribution
    if distribution is None:
        return None
    all_classes = metric is not None and metric.needs == "distribution"
    if not all_classes and evidence.options.labels == "top":
        return "top label"
    low, high = int(distribution.sizes.min()), distribution.classes
    choices = f"K={low}" if low == high else f"K={low}–{high}"
    return f"{'all classes' if all_classes else 'all labels'}, {choices}"


def recipe(
    evidence: Evidence, metric: Metric | None, scheme: Scheme | None, realised: int | None = None
) -> str:
    """"ECE-L1, equal width, M=10, right-closed, top label, n=1319/1319".

    metric: None for a picture of the confidences alone; scheme: None where nothing is binned.
    """
    parts = [
        metric.recipe if metric else None,
        scheme_text(scheme, realised) if scheme else None,
        labels_text(evidence, metric),
        *evidence.confidences.recipe,
        rows_text(evidence),
    ]
    return ", ".join(part for part in parts if part)
