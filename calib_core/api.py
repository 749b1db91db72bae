"""What does `import calib_core` offer?  `load`, `score` and `sweep`: from a file to its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

from calib_core import readers
from calib_core.edges import Binning, Scheme
from calib_core.errors import Unavailable
from calib_core.methods.method import MethodOptions
from calib_core.pairs import Labels
from calib_core.results.evidence import gather_evidence
from calib_core.results.files import usable_runs
from calib_core.results.robustness import PAPER_BINS, SWEPT_METRICS, Sweep
from calib_core.results.robustness import sweep_bins as sweep_of
from calib_core.results.score import Score
from calib_core.results.score import score as score_of
from calib_core.runs import Run

__all__ = ["Run", "Score", "Sweep", "load", "score", "sweep"]


def load(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002  named as the command line's --format
    columns: Mapping[str, str] | None = None,
    skip_bad_rows: bool = False,
) -> list[Run]:
    """The runs of one file, in the file's order.

    format: an id of `files.FORMATS`, None = recognised by content; columns: file column → the name it
    is to be read as; skip_bad_rows: leave bad rows out.
    Raises `problems.Refused` for a file that is not there or cannot be used, `problems.BadRowsFound`
    where rows are bad and skip_bad_rows is False.
    """
    reading = readers.read(Path(path), format=format, columns=columns)
    return list(usable_runs(reading, skip_bad_rows=skip_bad_rows))


def score(
    run: Run,
    *,
    method: str,
    metric: str,
    bins: int = 10,
    binning: Binning = "width",
    labels: Labels = "top",
    renormalise: bool | None = None,
) -> Score:
    """One metric of one method on one run, with its recipe.

    method: an id of `confidence.METHODS`; metric: an id of `metrics.METRICS`; bins: M, 1 to 1000;
    binning: "width", "mass" or "natural"; labels: "top", or "all" for one pair a choice; renormalise:
    None = as the method does by default. The value is None where the metric is not defined (AUROC of
    rows that are all right), or only bounds of it are known (token-level lists of the largest entries).
    Raises `problems.Unavailable` where the run cannot give the method or metric, ValueError for M
    outside 1 to 1000.
    """
    evidence = gather_evidence(run, method, MethodOptions(renormalise=renormalise, labels=labels))
    return score_of(evidence, metric, Scheme(binning, bins))


def sweep(
    run: Run,
    *,
    method: str,
    metric: str | Sequence[str] = SWEPT_METRICS,
    bins: Sequence[int] = PAPER_BINS,
    ddof: int = 0,
    binning: Binning = "width",
    labels: Labels = "top",
    renormalise: bool | None = None,
) -> Sweep:
    """One metric of one method, or several, over a set of M, with the RSD and the null of each.

    metric: an id, or several; bins: M, 1 to 1000 each, the seven of the Full-ECE paper by default; ddof: of
    the RSD, 0 or 1; the rest as in `score`. Raises `problems.Unavailable` where the run cannot give the
    method or none of the metrics, ValueError for M outside 1 to 1000 or another ddof.
    """
    evidence = gather_evidence(run, method, MethodOptions(renormalise=renormalise, labels=labels))
    metrics = (metric,) if isinstance(metric, str) else tuple(metric)
    swept = sweep_of(evidence, metrics, bins, ddof, binning=binning)
    if not swept.curves:
        raise Unavailable("; ".join(dict.fromkeys(swept.unavailable.values())) or "No metric was named.")
    return swept
