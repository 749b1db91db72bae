"""What `import calib_core` offers in Python: `load`, `score`, and a function for each question of the app.

Results are frozen, know their recipe, turn into a table (`to_frame`) or a figure (`figure`), and show
themselves in a notebook.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from inspect import Parameter, signature
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple, TypeAlias, cast

import numpy as np
import polars as pl

from calib_core import notebook as _notebook
from calib_core import readers
from calib_core.edges import Binning, Scheme
from calib_core.errors import BadRowsFound, Refused, Unavailable
from calib_core.inference.decision_loss import ErrorCosts
from calib_core.inference.verdict import DEFAULT_TOLERANCE
from calib_core.methods.method import MethodOptions
from calib_core.metrics import DEFAULT_METRIC
from calib_core.metrics.brier import BRIER
from calib_core.pairs import Labels
from calib_core.readers.format import AS_IT_LIES, Reading, ReadOptions
from calib_core.results.abstention import (
    AbstentionCurve,
    GuaranteedThreshold,
    abstention_curve,
    guaranteed_threshold,
)
from calib_core.results.audit import ConventionAudit, audit_conventions
from calib_core.results.comparison import Comparison, compare_runs
from calib_core.results.concentration import Concentration, measure_concentration
from calib_core.results.defaults import default_compared_methods, default_evidence
from calib_core.results.evidence import AnswerEvidence, Evidence, gather_evidence, survey_methods
from calib_core.results.files import usable_runs
from calib_core.results.groups import (
    GroupBy,
    GroupResults,
    group_by_choices,
    groups_of_rows,
    groups_of_runs,
    ordered_levels,
)
from calib_core.results.judge import JudgeResult, judge_result
from calib_core.results.judge_fairness import LabelsName
from calib_core.results.judged_answer import JudgedChoice
from calib_core.results.methods_table import MethodsTable
from calib_core.results.methods_table import compare_methods as methods_table_of
from calib_core.results.recalibration import DEFAULT_FOLDS, DEFAULT_MAP, DEFAULT_SEED, Recalibration
from calib_core.results.recalibration import recalibrate as recalibration_of
from calib_core.results.reliability import Reliability, reliability_diagram
from calib_core.results.robustness import PAPER_BINS, SWEPT_METRICS, Sweep
from calib_core.results.robustness import sweep_bins as sweep_of
from calib_core.results.run_names import short_run_names
from calib_core.results.run_verdict import RunVerdict, run_verdict
from calib_core.results.sampling import SampleSizeSweep, SamplingPlan, sample_size_sweep
from calib_core.results.score import Score
from calib_core.results.threshold_cost import ThresholdCost
from calib_core.results.threshold_cost import threshold_cost as cost_of_thresholds
from calib_core.results.training import Training, default_training_metrics, training_curves
from calib_core.results.uncertainty import score_with_interval
from calib_core.runs import ANSWER_SCHEMA, AnswerRun, Run, Runs, TokenRun
from calib_core.wording import join_names

__all__ = [
    "AbstentionCurve",
    "Comparison",
    "Concentration",
    "ConventionAudit",
    "GroupResults",
    "GuaranteedThreshold",
    "JudgeResult",
    "MethodsTable",
    "Recalibration",
    "Reliability",
    "Run",
    "RunVerdict",
    "SampleSizeSweep",
    "Score",
    "Sweep",
    "Training",
    "abstention",
    "audit",
    "compare",
    "compare_methods",
    "concentration",
    "groups",
    "judge",
    "load",
    "recalibrate",
    "reliability",
    "sampling",
    "score",
    "sweep",
    "threshold",
    "threshold_cost",
    "training",
    "verdict",
]

_notebook.register()

Rows: TypeAlias = "str | PathLike[str] | Mapping[str, Any] | Iterable[Mapping[str, Any]] | Any"
"""A file, a data frame or table (pandas, polars, Arrow), a list of dicts, or a dict of columns."""

_Values: TypeAlias = "pl.DataFrame | list[dict[str, Any]] | dict[str, np.ndarray[Any, Any]]"
"""A table, rows, or arrays of which one is a distribution, as the readers take them."""

TOKEN_ARRAYS: Final = ("probs", "logprobs", "logits")
"""Arrays of shape (T, K) that make a token-level run together with `target`, of shape (T,)."""


def load(  # noqa: PLR0913  one parameter an option, as on the command line
    source: Rows = None,
    *,
    name: str = "data",
    format: str | None = None,  # noqa: A002  named as the command line's --format
    columns: Mapping[str, str] | None = None,
    rows: str = "",
    wide: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    gold: str | PathLike[str] | Any = None,  # noqa: ANN401  a table's place, or whatever NumPy takes
    on: str = "",
    gold_columns: Mapping[str, str] | None = None,
    skip_bad_rows: bool = False,
    **arrays: Any,  # noqa: ANN401  whatever NumPy takes
) -> list[Run]:
    """Load the runs of a file, a table or arrays.

    Tables and arrays are read and checked as a file with the same columns would be.

    Parameters
    ----------
    source : str, PathLike, data frame, list of dict, or dict of columns; optional
        A file; a table of pandas, polars or Arrow; one dict per row; or the columns by name.
    name : str
        What a run is called in results if `source` is not a file and no column says the model.
    format : str, optional
        Id of the file's format, as on the command line; by default it is recognised from the content.
    columns : Mapping[str, str], optional
        Column of the file, or path to a nested field ("signals.stated") → name to read it as, and what its
        values mean ("confidence/100", "confidence:inverted", "confidence:high=0.9|low=0.3", "correct:not"),
        as --map.
        {"row": "id"} takes the number of each row as its id, so that files with the same questions in the
        same order can be paired.
    rows : str
        Path to the rows in a file that holds one JSON object, with a star for every key at that step
        ("results.*"); by default they are looked for.
    wide : Mapping[str, str], optional
        Pattern of columns ("*-confidence") → name to read them as, where several systems stand side by side
        in each row: each becomes a run, named by the text at the star.
    missing : sequence of str
        Values that count as missing.
    gold : str, PathLike or array, optional
        A table of right answers or outcomes, for a file that holds none; or the array of that name.
    on : str
        The column that `gold` is joined on, or "THIS=THAT"; by default the ids.
    gold_columns : Mapping[str, str], optional
        Column of the table `gold` → name to read it as ("correct", "correct:Yes|Mostly", "gold", "id" …); as
        --map-gold.
    skip_bad_rows : bool
        Whether to leave bad rows out instead of refusing the file.
    **arrays
        Columns as arrays of one length, if there is no `source`: `confidence=`, `correct=`, `id=` and so on;
        for a token-level run `probs=`, `logprobs=` or `logits=` of shape (T, K), and `target=`; with `gold=`
        instead, each row is a question with K choices.

    Returns
    -------
    list of AnswerRun or TokenRun
        The runs in the order of the rows.

    Raises
    ------
    calib_core.errors.Refused
        If the file does not exist, or file, table or arrays cannot be used.
    calib_core.errors.BadRowsFound
        If rows are bad and `skip_bad_rows` is False.
    TypeError
        If both a source and arrays are given, or neither.

    Examples
    --------
    >>> import calib_core
    >>> (run,) = calib_core.load(confidence=[0.9, 0.9, 0.6, 0.6], correct=[1, 0, 1, 1])
    >>> round(calib_core.score(run, metric="brier").value, 4)
    0.285
    """
    table: Path | None = None
    if isinstance(gold, (str, PathLike)):
        table = Path(cast("str | PathLike[str]", gold))
    elif gold is not None:
        if source is not None:
            raise TypeError("gold as an array goes with arrays by name; beside a file, name a table.")
        arrays["gold"] = gold
    unknown = [array for array in arrays if array not in (*ANSWER_SCHEMA, *TOKEN_ARRAYS, "target")]
    if source is not None and unknown:
        raise TypeError(_unknown_keyword_text(unknown[0]))
    if (source is None) == (not arrays):
        raise TypeError("load takes a file, table or list of dicts, or arrays by name: exactly one of them.")
    options = ReadOptions(columns or {}, rows, wide or {}, missing, on, gold_columns or {})
    given = arrays if source is None else source
    with _opened(given, name, format, table) as opened:

        def read(further: ReadOptions = AS_IT_LIES) -> Reading:
            return opened.read(options=options.adding(further))

        try:
            runs = usable_runs(read(), skip_bad_rows=skip_bad_rows, read_again=read, needs="judge")
        except BadRowsFound as bad:
            problems = [
                replace(
                    kind,
                    first_cells=tuple(replace(cell, file=opened.called) for cell in kind.first_cells),
                )
                for kind in bad.problems
            ]
            option = "skip_bad_rows=True"
            raise BadRowsFound(opened.called, bad.n_bad_rows, bad.n_rows, problems, option=option) from None
        except Refused as reason:
            message = str(reason)
            if table is None or table.name != opened.name:
                named = rf"(?<![\w.-]){re.escape(opened.name)}"
                message = re.sub(named, lambda _: opened.called, message)
            raise Refused(message) from None
    return Runs(replace(run, file=opened.file) for run in runs)


class _Opened(NamedTuple):
    """What `load` reads.

    Attributes
    ----------
    read : Callable
        Reads it with further options.
    name, called : str
        What messages of the readers call it, and what they are to call it.
    file : str
        The file of its runs.
    """

    read: Callable[..., Reading]
    name: str
    called: str
    file: str


@contextmanager
def _opened(given: Any, name: str, format_id: str | None, gold: Path | None) -> Generator[_Opened]:  # noqa: ANN401  any table
    """A file, which another process reads, or values in memory, which this one does.

    With a file of right answers beside them, values go through a file as well: that one is not trusted.
    """
    if isinstance(given, (str, PathLike)):
        path = Path(cast("str | PathLike[str]", given))
        yield _Opened(partial(readers.read, path, format=format_id, gold=gold), *[path.name] * 3)
        return
    file = name.replace("/", "_").replace("\0", "") or "data"
    called = "the table" if name in ("", "data") else name
    values = _plain_values(given)
    if gold is None:
        in_memory = f"{file}.parquet"  # a name that no text of a message has by chance
        yield _Opened(
            partial(readers.read_values, values, file=in_memory, format=format_id), in_memory, called, file
        )
        return
    with TemporaryDirectory(prefix="calib-") as folder:
        path = _write(values, Path(folder, file))
        yield _Opened(partial(readers.read, path, format=format_id, gold=gold), path.name, called, file)


def _unknown_keyword_text(given: str) -> str:
    """Why `load` does not take this keyword beside a source, and what may be meant."""
    known = [name for name, one in signature(load).parameters.items() if one.kind is Parameter.KEYWORD_ONLY]
    bare = {name.replace("_", ""): name for name in known}
    likely = get_close_matches(given.lower().replace("_", ""), bare, 1)
    hint = f" Is {bare[likely[0]]} meant?" if likely else ""
    return (
        f"load takes no keyword {given!r} beside a file or table.{hint} Its keywords are {', '.join(known)}; "
        "columns as arrays are taken in place of a file or table."
    )


def _plain_values(source: Any) -> _Values:  # noqa: ANN401  any table
    """The table, rows or arrays as the readers take them."""
    try:
        if isinstance(source, Mapping):
            return _columns(cast("Mapping[str, Any]", source))
        if hasattr(source, "__arrow_c_stream__") or hasattr(source, "__dataframe__"):
            return pl.DataFrame(source)
        return [json.loads(json.dumps(dict(row), default=_plain)) for row in source]
    except (TypeError, ValueError, pl.exceptions.PolarsError) as reason:
        where = _mixed_column(source)
        raise Refused(
            f"{where or 'These rows cannot be read as a table'}: {reason}. Give a file, a data frame, a list "
            "of dicts, or arrays of one length, with values of one type in each column."
        ) from reason


def _columns(columns: Mapping[str, Any]) -> pl.DataFrame | dict[str, np.ndarray[Any, Any]]:
    """The columns as a table, or arrays by name where one is a distribution over classes."""
    arrays = {name: np.asarray(values) for name, values in columns.items()}
    if any(name in arrays and arrays[name].ndim == 2 for name in TOKEN_ARRAYS):
        return arrays
    return pl.DataFrame([_series(name, values) for name, values in arrays.items()])


def _write(values: _Values, stem: Path) -> Path:
    """Write values to a file, whose name is the stem and what its content needs."""
    if isinstance(values, pl.DataFrame):
        path = stem.with_name(f"{stem.name}.parquet")
        values.write_parquet(path)
    elif isinstance(values, Mapping):
        path = stem.with_name(f"{stem.name}.npz")
        np.savez(path, **cast("dict[str, Any]", values))
    else:
        path = stem.with_name(f"{stem.name}.jsonl")
        path.write_text("".join(f"{json.dumps(row)}\n" for row in values), encoding="utf-8")
    return path


def _mixed_column(source: Any) -> str:  # noqa: ANN401  any table
    """Which column of a data frame holds values that are no column; "" if that cannot be told."""
    for name in getattr(source, "columns", ()):
        try:
            pl.Series(source[name])
        except (TypeError, ValueError, pl.exceptions.PolarsError):
            return f"The column {name!r} cannot be read"
    return ""


def _series(name: str, values: np.ndarray[Any, Any]) -> pl.Series:
    """A column of values, or of lists where the array has two dimensions or holds lists."""
    series = pl.Series(name, values.tolist()) if values.dtype == object else pl.Series(name, values)
    return series.arr.to_list() if isinstance(series.dtype, pl.Array) else series


def _plain(value: Any) -> Any:  # noqa: ANN401  a value of any library
    """NumPy's numbers and arrays as those of Python."""
    if isinstance(value, (np.generic, np.ndarray)):
        return cast("Any", value).tolist()
    raise TypeError(f"{type(value).__name__} is no number, text, list or dict")


def _as_run(value: object) -> Run:
    """The value, which has to be a run; raises TypeError for anything else, such as the list of `load`."""
    if isinstance(value, AnswerRun | TokenRun):
        return value
    kind = "list" if isinstance(value, list) else value.__class__.__name__
    hint = "take one of the list" if kind in ("list", "tuple") else "make runs with calib_core.load"
    raise TypeError(f"a run is expected, not {kind}: {hint}")


def _evidence(run: Run, method: str | None, options: MethodOptions | None = None) -> Evidence:
    """The run as seen by a method; by default by the one that stands for the run in the app."""
    run = _as_run(run)
    if method is None:
        evidence = default_evidence(run)
        if options is None or options == evidence.options:
            return evidence
        method = evidence.method.id
    return gather_evidence(run, method, options)


def _keyed(runs: Run | Iterable[Run]) -> dict[str, Run]:
    """The runs by short names that tell them apart."""
    given = [runs] if isinstance(runs, Run) else runs
    numbered = {str(index): _as_run(run) for index, run in enumerate(given)}
    if not numbered:
        raise ValueError("at least one run is needed")
    titles = {key: run.label for key, run in numbered.items()}
    names = short_run_names({key: run.info for key, run in numbered.items()}, titles)
    repeated = len(set(names.values())) < len(names)
    return {f"{names[key]} ({key})" if repeated else names[key]: run for key, run in numbered.items()}


def score(
    run: Run,
    *,
    method: str | None = None,
    metric: str = DEFAULT_METRIC,
    bins: int = 10,
    binning: Binning = "width",
    labels: Labels = "top",
    renormalise: bool | None = None,
    held_out: bool = False,
) -> Score:
    """Compute one metric of one method on one run.

    Parameters
    ----------
    run : AnswerRun or TokenRun
        A run from `load`.
    method : str, optional
        Id of a confidence method, a key of `calib_core.methods.METHODS` or "given.NAME"; by default the one
        that stands for the run in the app.
    metric : str
        Id of a metric, a key of `calib_core.metrics.METRICS`; by default the ECE.
    bins : int
        Number of bins M, 1 to 1000.
    binning : {"width", "mass", "natural"}
        Equal-width bins, equal-mass bins, or one bin per distinct confidence.
    labels : {"top", "all"}
        Whether a row of choices contributes its top label or one pair per choice.
    renormalise : bool, optional
        Whether the method renormalises its probabilities; by default as the method does.
    held_out : bool
        Of F_CS, whether half of the samples choose the answer and its share is counted on the others.

    Returns
    -------
    Score
        The value with its 95 % interval and its recipe. The value is None if the metric is not defined
        (AUROC of rows that are all right) or only its bounds are known (token-level files with the top k
        entries of each position); the interval is None where the metric or the run has none.

    Raises
    ------
    calib_core.errors.Unavailable
        If the method or metric cannot be computed for this run.
    ValueError
        If M is outside 1 to 1000.
    """
    evidence = _evidence(
        run, method, MethodOptions(renormalise=renormalise, labels=labels, held_out=held_out)
    )
    return score_with_interval(evidence, metric, Scheme(binning, bins))


def verdict(
    run: Run,
    *,
    method: str | None = None,
    tolerance: float = DEFAULT_TOLERANCE,
    held_out: bool = False,
) -> RunVerdict:
    """Judge whether one run's confidence can be believed: over- or under-confident, or no such evidence.

    Parameters
    ----------
    run, method
        As in `score`.
    tolerance : float
        Mean deviation of the fitted accuracy from the confidence, in [0, 1], up to which miscalibration is
        tolerable.
    held_out : bool
        As in `score`.

    Returns
    -------
    RunVerdict
        The verdict that the app and `calib score` show, in words, with its reason and p-value.

    Raises
    ------
    calib_core.errors.Unavailable
        If the method cannot be computed for this run.
    ValueError
        If the tolerance is outside [0, 1].

    Examples
    --------
    >>> import calib_core
    >>> (run,) = calib_core.load(confidence=[0.9] * 50, correct=[1, 0] * 25)
    >>> print(calib_core.verdict(run).headline)
    data is over-confident: states 90.0 % on average and is right 50.0 % of the time.
    """
    if not 0 <= tolerance <= 1:
        raise ValueError(f"tolerance must be from 0 to 1, not {tolerance!r}")
    evidence = _evidence(run, method, MethodOptions(held_out=held_out))
    return run_verdict(evidence.with_tolerance(tolerance))


def sweep(  # noqa: PLR0913  as `score`, and what is swept
    run: Run,
    *,
    method: str | None = None,
    metric: str | Sequence[str] = SWEPT_METRICS,
    bins: Sequence[int] = PAPER_BINS,
    ddof: int = 0,
    binning: Binning = "width",
    labels: Labels = "top",
    renormalise: bool | None = None,
    held_out: bool = False,
) -> Sweep:
    """Compute one or more metrics of one method over several numbers of bins.

    Parameters
    ----------
    run, method, binning, labels, renormalise, held_out
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
    evidence = _evidence(
        run, method, MethodOptions(renormalise=renormalise, labels=labels, held_out=held_out)
    )
    metrics = (metric,) if isinstance(metric, str) else tuple(metric)
    swept = sweep_of(evidence, metrics, bins, ddof, binning=binning)
    if not swept.curves:
        raise Unavailable("; ".join(dict.fromkeys(swept.unavailable.values())) or "No metric was named.")
    return swept


def reliability(
    run: Run,
    *,
    method: str | None = None,
    metric: str = "ece",
    bins: int = 10,
    binning: Binning = "width",
    labels: Labels = "top",
    renormalise: bool | None = None,
    held_out: bool = False,
) -> Reliability:
    """Compare confidence with accuracy, bin by bin.

    Parameters
    ----------
    run, method, metric, bins, binning, labels, renormalise, held_out
        As in `score`.

    Returns
    -------
    Reliability

    Raises
    ------
    calib_core.errors.Unavailable
        If the method or metric cannot be computed for this run.
    ValueError
        If M is outside 1 to 1000.
    """
    evidence = _evidence(
        run, method, MethodOptions(renormalise=renormalise, labels=labels, held_out=held_out)
    )
    return reliability_diagram(evidence, metric, Scheme(binning, bins))


def concentration(
    run: Run, *, method: str | None = None, bins: int = 10, binning: Binning = "width"
) -> Concentration:
    """Measure how the confidences are distributed over the bins, and whether the bins can be trusted.

    Parameters, result and errors are as in `reliability`.
    """
    return measure_concentration(_evidence(run, method), Scheme(binning, bins))


def abstention(run: Run, *, method: str | None = None) -> AbstentionCurve:
    """Follow the accuracy of the answered questions as the model answers only when it is confident.

    Parameters
    ----------
    run, method
        As in `score`.

    Returns
    -------
    AbstentionCurve

    Raises
    ------
    calib_core.errors.Unavailable
        For a token-level run, which keeps no single confidences, and where no row is usable.
    """
    return abstention_curve(_evidence(run, method))


def sampling(
    run: Run,
    *,
    metric: str = BRIER.id,
    sizes: Sequence[int] | None = None,
    repeats: int = 100,
    seed: int = 0,
) -> SampleSizeSweep:
    """Find how many sampled answers per question are enough.

    Parameters
    ----------
    run : AnswerRun
        A run with several samples per question.
    metric : str
        Id of a metric that needs one confidence per row. The Brier score is always computed as well.
    sizes : sequence of int, optional
        Numbers of samples N'; by default those of the self-consistency paper that most questions have.
    repeats : int
        Number of subsets drawn for each N', at least 1.
    seed : int
        Of the draws, at least 0.

    Returns
    -------
    SampleSizeSweep

    Raises
    ------
    calib_core.errors.Unavailable
        If the run has no samples.
    ValueError
        For a number of samples below 1.
    """
    if sizes is not None and min(sizes, default=0) < 1:
        raise ValueError(f"sizes are one or more numbers of samples, each at least 1, not {list(sizes)}")
    metrics = tuple(dict.fromkeys((metric, BRIER.id)))
    return sample_size_sweep(
        _as_run(run), SamplingPlan(None if sizes is None else tuple(sizes), repeats, seed, metrics=metrics)
    )


def threshold(
    run: Run, *, accuracy: float = 0.9, confidence: float = 0.95, method: str | None = None
) -> GuaranteedThreshold:
    """Find the confidence from which on answers are right often enough, with a guarantee.

    Parameters
    ----------
    run, method
        As in `score`.
    accuracy : float
        That the answered questions should have, in [0, 1].
    confidence : float
        Of the guarantee, in (0, 1).

    Returns
    -------
    GuaranteedThreshold
        `point` is None where no threshold can be guaranteed, with the `reason`.

    Raises
    ------
    calib_core.errors.Unavailable
        For a token-level run, where no row is usable, and for a confidence outside (0, 1).
    ValueError
        If the accuracy is outside [0, 1].
    """
    if not 0 <= accuracy <= 1:
        raise ValueError(f"accuracy must be from 0 to 1, not {accuracy!r}")
    return guaranteed_threshold(abstention(run, method=method), accuracy, confidence)


def threshold_cost(
    run: Run, *, cost_wrong: float, cost_handed_on: float, method: str | None = None
) -> ThresholdCost:
    """Compute what each threshold costs, and what it costs to believe the confidence.

    Parameters
    ----------
    run, method
        As in `score`.
    cost_wrong : float
        Of a wrong answer, above 0, in any unit; a right answer is free.
    cost_handed_on : float
        Of a question that is handed on instead of answered, 0 or more, in the same unit.

    Returns
    -------
    ThresholdCost
        `steps()` has the cost of every threshold; `price` is None with too few questions or outcomes.

    Raises
    ------
    calib_core.errors.Unavailable
        For other costs, for a token-level run, and where no row is usable.
    """
    return cost_of_thresholds(_evidence(run, method), ErrorCosts(cost_wrong, cost_handed_on))


def judge(
    run: Run,
    *,
    passing: Sequence[str] = (),
    by: str | None = None,
    labels_name: LabelsName | None = None,
) -> JudgeResult:
    """Compare a judge's labels with people's, and estimate how many answers truly pass.

    Parameters
    ----------
    run : AnswerRun
        A run with a column `judge`, and `human` or several `human.NAME`, which may lack a label in most rows.
    passing : sequence of str
        The labels that pass; "pass", "yes", "true", "correct" and the like are known.
    by : str, optional
        A column by whose groups it is measured, too: "subject", or one of the file.
    labels_name : {"place", "answer"}, optional
        In pairs that are judged in both orders, whether a label such as "A" names the answer shown first, or
        the same answer in both; by default what people's labels of such pairs show.

    Returns
    -------
    JudgeResult
        Its `agreement`, `pass_rates` and `fairness` are results of their own.

    Raises
    ------
    calib_core.errors.Unavailable
        If judge and people have fewer than two labelled rows or no label in common, nothing called `by`
        groups the rows, or no label is one of `passing`.
    """
    return judge_result(run, passing, by, labels_name)


def audit(run: Run, *, method: str | None = None) -> ConventionAudit:
    """Compute the ECE under every convention in use: edges, bins, norms, and the tools that have them.

    Parameters
    ----------
    run, method
        As in `score`.

    Returns
    -------
    ConventionAudit
        `published_sentence("0.037")` says which conventions give a published figure.

    Raises
    ------
    calib_core.errors.Unavailable
        If no row is usable.
    """
    return audit_conventions(_evidence(run, method))


def recalibrate(
    run: Run,
    *,
    by: str = DEFAULT_MAP,
    method: str | None = None,
    folds: int = DEFAULT_FOLDS,
    seed: int = DEFAULT_SEED,
) -> Recalibration:
    """Fit a map of the confidences, and judge it on questions that it was not fitted to.

    Parameters
    ----------
    run, method
        As in `score`.
    by : {"temperature", "platt", "beta", "isotonic", "histogram"}
        The map.
    folds : int
        2 to 50. All rows of a question are in one fold.
    seed : int
        By which questions are dealt into folds, at least 0.

    Returns
    -------
    Recalibration
        `map` is fitted to all rows, for use on others; `map.to_python()` is its code.

    Raises
    ------
    calib_core.errors.Unavailable
        For a token-level run, an unknown map, or fewer questions than folds.
    ValueError
        For a number of folds outside 2 to 50, or a negative seed.
    """
    return recalibration_of(_evidence(run, method), by, folds, seed)


def compare(
    runs: Run | Iterable[Run],
    *,
    methods: Sequence[str] | None = None,
    bins: int = 10,
    binning: Binning = "width",
    judged: JudgedChoice = "own",
) -> Comparison:
    """Compare runs by accuracy and Brier score, and find the best by paired differences.

    Parameters
    ----------
    runs : iterable of Run
        Runs on the same questions.
    methods : sequence of str, optional
        Ids of confidence methods; by default all that the runs have, if they can be told apart in a figure.
    bins, binning
        As in `score`.
    judged : {"own", "greedy", "majority"}
        Which answer the outcomes are of: each method's own, or one answer for all methods, so that only the
        confidences differ.

    Returns
    -------
    Comparison
        Runs and methods without a number are in `unavailable`, with the reason.

    Raises
    ------
    calib_core.errors.Unavailable
        If no run has one of the methods.
    ValueError
        For another answer to judge by.
    """
    keyed = _keyed(runs)
    surveys = {name: survey_methods(run) for name, run in keyed.items()}
    available = {id_ for survey in surveys.values() for id_ in survey.usable}
    chosen = list(methods or default_compared_methods(available, len(keyed)))
    evidences = {
        f"{name}, {id_}": (name, survey.usable[id_].top_label)
        for name, survey in surveys.items()
        for id_ in chosen
        if id_ in survey.usable
    }
    if not evidences:
        raise Unavailable(f"No run has {join_names(chosen) or 'a confidence method'}.")
    return compare_runs(
        {key: evidence for key, (_, evidence) in evidences.items()},
        scheme=Scheme(binning, bins),
        titles={key: name for key, (name, _) in evidences.items()},
        available_methods=available,
        judged_choice=judged,
    )


def compare_methods(
    runs: Run | Iterable[Run],
    *,
    methods: Sequence[str] | None = None,
    bins: int = 10,
    binning: Binning = "width",
    judged: JudgedChoice = "own",
) -> MethodsTable:
    """Compare the confidence methods of each run, by ECE and Brier score on their common rows.

    Parameters
    ----------
    runs, methods, bins, binning, judged
        As in `compare`.

    Returns
    -------
    MethodsTable

    Raises
    ------
    calib_core.errors.Unavailable
        If no run of answers has one of the methods.
    """
    evidences = {
        name: [
            evidence
            for evidence in survey_methods(run, only=methods).usable.values()
            if isinstance(evidence, AnswerEvidence)
        ]
        for name, run in _keyed(runs).items()
    }
    if not any(evidences.values()):
        raise Unavailable("No run of answers has one of these confidence methods.")
    return methods_table_of(evidences, Scheme(binning, bins), judged_choice=judged)


def groups(
    runs: Run | Iterable[Run],
    *,
    by: str | None = None,
    method: str | None = None,
    metric: str = "ece",
    bins: int = 10,
    binning: Binning = "width",
) -> GroupResults:
    """Find where calibration is worst: by subject or another column, or by what tells the runs apart.

    Parameters
    ----------
    runs : Run or iterable of Run
        Runs of answers.
    by : str, optional
        "subject", a column's name, or a fact such as "shots" in which the runs differ; by default the first
        of those there are.
    method, metric, bins, binning
        As in `score`; without a method, the first run's.

    Returns
    -------
    GroupResults

    Raises
    ------
    calib_core.errors.Unavailable
        If nothing groups these runs, nothing of this name does, or the method or metric is missing.
    """
    keyed = {name: run for name, run in _keyed(runs).items() if isinstance(run, AnswerRun)}
    choices = group_by_choices(keyed)
    if not choices:
        raise Unavailable(
            "These runs have no groups: neither a column nor a fact about the runs splits them."
        )
    group_by = _named_grouping(choices.values(), by)
    method = method or default_evidence(next(iter(keyed.values()))).method.id
    evidences = {name: gather_evidence(run, method) for name, run in keyed.items()}
    scheme, titles = Scheme(binning, bins), {name: name for name in keyed}
    if group_by.target == "rows":
        return groups_of_rows(evidences, group_by, metric, scheme, titles=titles)
    levels = ordered_levels({name: run.info for name, run in keyed.items()}, group_by.id)
    reference = levels[0] if len(levels) > 1 else None
    return groups_of_runs(evidences, group_by, metric, scheme, titles=titles, reference=reference)


def _named_grouping(choices: Iterable[GroupBy], by: str | None) -> GroupBy:
    by_title = {choice.title: choice for choice in choices}
    if by is None:
        return next(iter(by_title.values()))
    if by not in by_title:
        raise Unavailable(f"Nothing called “{by}” groups these runs. There is {join_names(list(by_title))}.")
    return by_title[by]


def training(
    runs: Iterable[Run],
    *,
    metric: str | None = None,
    method: str | None = None,
    bins: int = 10,
    binning: Binning = "width",
) -> Training:
    """Follow a metric over the checkpoints of a training.

    Parameters
    ----------
    runs : iterable of Run
        Runs that name a checkpoint or how many tokens were seen.
    metric : str, optional
        Id of a metric; by default Full-ECE for token-level runs, ECE for others.
    method, bins, binning
        As in `score`; without a method, the first run's.

    Returns
    -------
    Training
        Runs that are not on a line are in `unplaced`, with the reason.

    Raises
    ------
    calib_core.errors.Unavailable
        If the first run lacks the method.
    """
    keyed, scheme = _keyed(runs), Scheme(binning, bins)
    if not keyed:
        raise Unavailable("There is no run.")
    method = method or default_evidence(next(iter(keyed.values()))).method.id
    evidences = {name: gather_evidence(run, method) for name, run in keyed.items()}
    metric = metric or default_training_metrics(next(iter(evidences.values())), scheme)[0]
    return training_curves(evidences, metric, scheme)
