"""The functions that `import calib_core` offers: `load`, `score` and `sweep`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

from calib_core import readers
from calib_core.edges import Binning, Scheme
from calib_core.errors import Unavailable
from calib_core.methods.method import MethodOptions
from calib_core.pairs import Labels
from calib_core.readers.format import Reading, ReadOptions
from calib_core.results.evidence import gather_evidence
from calib_core.results.files import usable_runs
from calib_core.results.robustness import PAPER_BINS, SWEPT_METRICS, Sweep
from calib_core.results.robustness import sweep_bins as sweep_of
from calib_core.results.score import Score
from calib_core.results.score import score as score_of
from calib_core.runs import Run

__all__ = ["Run", "Score", "Sweep", "load", "score", "sweep"]


def load(  # noqa: PLR0913  one parameter an option, as on the command line
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002  named as the command line's --format
    columns: Mapping[str, str] | None = None,
    rows: str = "",
    wide: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    gold: str | PathLike[str] | None = None,
    on: str = "",
    skip_bad_rows: bool = False,
) -> list[Run]:
    """Load the runs of one file.

    Parameters
    ----------
    path : str or PathLike
        The file.
    format : str, optional
        Id of the file's format, as on the command line; by default it is recognised from the content.
    columns : Mapping[str, str], optional
        Column of the file, or path to a nested field ("signals.stated") → name to read it as; as --map.
    rows : str
        Path to the rows in a file that holds one JSON object; by default they are looked for.
    wide : Mapping[str, str], optional
        Pattern of columns ("*-confidence") → name to read them as, where several systems stand side by side
        in each row: each becomes a run, named by the text at the star.
    missing : sequence of str
        Values that count as missing.
    gold : str or PathLike, optional
        A table of right answers or outcomes, for a file that holds none.
    on : str
        The column that `gold` is joined on, or "THIS=THAT"; by default the ids.
    skip_bad_rows : bool
        Whether to leave bad rows out instead of refusing the file.

    Returns
    -------
    list of AnswerRun or TokenRun
        The runs in the order of the file.

    Raises
    ------
    calib_core.errors.Refused
        If the file does not exist or cannot be used.
    calib_core.errors.BadRowsFound
        If rows are bad and `skip_bad_rows` is False.
    """
    options = ReadOptions(columns or {}, rows, wide or {}, missing, on)

    def read(more_columns: Mapping[str, str], more_wide: Mapping[str, str]) -> Reading:
        return readers.read(
            Path(path),
            format=format,
            options=options.adding(more_columns, more_wide),
            gold=None if gold is None else Path(gold),
        )

    return list(usable_runs(read({}, {}), skip_bad_rows=skip_bad_rows, read_again=read))


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
    """Compute one metric of one method on one run.

    Parameters
    ----------
    run : AnswerRun or TokenRun
        A run from `load`.
    method : str
        Id of a confidence method, a key of `calib_core.methods.METHODS` or "given.NAME".
    metric : str
        Id of a metric, a key of `calib_core.metrics.METRICS`.
    bins : int
        Number of bins M, 1 to 1000.
    binning : {"width", "mass", "natural"}
        Equal-width bins, equal-mass bins, or one bin per distinct confidence.
    labels : {"top", "all"}
        Whether a row of choices contributes its top label or one pair per choice.
    renormalise : bool, optional
        Whether the method renormalises its probabilities; by default as the method does.

    Returns
    -------
    Score
        The value with its recipe. The value is None if the metric is not defined (AUROC of rows that are all
        right) or only its bounds are known (token-level files with the top k entries of each position).

    Raises
    ------
    calib_core.errors.Unavailable
        If the method or metric cannot be computed for this run.
    ValueError
        If M is outside 1 to 1000.
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
    """Compute one or more metrics of one method over several numbers of bins.

    Parameters
    ----------
    run, method, binning, labels, renormalise
        As in `score`.
    metric : str or sequence of str
        Ids of the metrics.
    bins : sequence of int
        Numbers of bins M, 1 to 1000 each; by default the seven of the Full-ECE paper.
    ddof : {0, 1}
        Delta degrees of freedom of the relative standard deviation.

    Returns
    -------
    Sweep
        The curve of each metric, with its relative standard deviation and its null distribution.

    Raises
    ------
    calib_core.errors.Unavailable
        If the method, or every one of the metrics, cannot be computed for this run.
    ValueError
        If an M is outside 1 to 1000, or ddof is neither 0 nor 1.
    """
    evidence = gather_evidence(run, method, MethodOptions(renormalise=renormalise, labels=labels))
    metrics = (metric,) if isinstance(metric, str) else tuple(metric)
    swept = sweep_of(evidence, metrics, bins, ddof, binning=binning)
    if not swept.curves:
        raise Unavailable("; ".join(dict.fromkeys(swept.unavailable.values())) or "No metric was named.")
    return swept
