"""What `import calib_core` offers in Python: `load`, `score`, and a function for each question of the app.

Results are frozen, know their recipe, turn into a table (`to_frame`) or a figure (`figure`), and show
themselves in a notebook.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from functools import partial, wraps
from inspect import Parameter, signature
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple, ParamSpec, TypeAlias, TypeVar, cast, overload

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from calib_core import notebook as _notebook
from calib_core import readers
from calib_core.edges import Binning, Scheme
from calib_core.errors import BadRowsFound, Refused, Unavailable
from calib_core.in_memory import TOKEN_ARRAYS, Values, plain_values
from calib_core.inference.decision_loss import ErrorCosts
from calib_core.inference.verdict import DEFAULT_TOLERANCE
from calib_core.methods.method import MethodOptions
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
from calib_core.results.corrections import with_corrections
from calib_core.results.defaults import default_compared_methods, default_evidence
from calib_core.results.evidence import AnswerEvidence, Evidence, gather_evidence, get_metric, survey_methods
from calib_core.results.files import FileReport, check_file, usable_runs
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
from calib_core.results.score import Score, Scores, effective_scheme, metric_availability
from calib_core.results.threshold_cost import ThresholdCost
from calib_core.results.threshold_cost import threshold_cost as cost_of_thresholds
from calib_core.results.training import Training, default_training_metrics, training_curves
from calib_core.results.uncertainty import score_with_interval
from calib_core.runs import ANSWER_SCHEMA, AnswerRun, Run, Runs, as_run
from calib_core.wording import join_names, plural

_notebook.register()

Rows: TypeAlias = "str | PathLike[str] | Mapping[str, Any] | Iterable[Mapping[str, Any]] | Any"
"""A file, a data frame or table (pandas, polars, Arrow), a list of dicts, or a dict of columns."""


_ParametersT = ParamSpec("_ParametersT")
_ResultT = TypeVar("_ResultT")

_OTHER_NAMES: Final = {"n_bins": "bins", "num_bins": "bins", "n_bin": "bins", "strategy": "binning"}
"""Keywords of other libraries → ours."""


def explains_keywords(function: Callable[_ParametersT, _ResultT]) -> Callable[_ParametersT, _ResultT]:
    """Let a function's TypeError for an argument that it doesn't take say how it is called."""
    parameters = signature(function).parameters
    known = list(parameters)
    first = [name for name in known if parameters[name].kind is Parameter.POSITIONAL_OR_KEYWORD]

    @wraps(function)
    def explained(*args: _ParametersT.args, **keywords: _ParametersT.kwargs) -> _ResultT:
        if len(args) > len(first):
            several = (
                f" Give several runs in a list: {function.__name__}([a, b])." if first == ["runs"] else ""
            )
            raise TypeError(
                f"{function.__name__} takes {join_names(first)} by position, and here are {len(args)} "
                f"arguments.{several} Its keywords are {', '.join(known)}."
            )
        for name in keywords:
            if name not in known:
                likely = _OTHER_NAMES.get(name) or next(iter(get_close_matches(name, known, 1)), "")
                hint = f" Is {likely} meant?" if likely in known else ""
                raise TypeError(
                    f"{function.__name__} has no keyword {name!r}.{hint} Its keywords are {', '.join(known)}."
                )
        return function(*args, **keywords)

    return explained


def load(  # noqa: PLR0913  one parameter an option, as on the command line
    source: Rows = None,
    correct: Any = None,  # noqa: ANN401  whatever NumPy takes
    *,
    name: str = "data",
    format: str | None = None,  # noqa: A002  named as the command line's --format
    columns: Mapping[str, str] | None = None,
    rows: str = "",
    wide: Mapping[str, str] | None = None,
    missing: Sequence[str | float] = (),
    dataset: str | Any = "",  # noqa: ANN401  a name, or whatever NumPy takes
    gold: str | PathLike[str] | Any = None,  # noqa: ANN401  a table's place, or whatever NumPy takes
    on: str = "",
    gold_columns: Mapping[str, str] | None = None,
    corrections: Rows = None,
    skip_bad_rows: bool = False,
    needs_outcomes: bool = True,
    **arrays: Any,  # noqa: ANN401  whatever NumPy takes
) -> list[Run]:
    """Load the runs of a file, a table or arrays.

    Tables and arrays are read and checked as a file with the same columns would be.

    Parameters
    ----------
    source : str, PathLike, data frame, list of dict, or dict of columns; optional
        A file; a table of pandas, polars or Arrow; one dict per row; or the columns by name. Named levels of
        an index are columns. With `correct` after it, an array of confidences.
    correct : array, optional
        Outcomes, 0 or 1, that belong to confidences: `load(confidence, correct)`.
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
        Path to the rows in JSON, with a star for every key at that step ("results.*"), or {dataset} for
        keys that are data sets; by default they are looked for.
    wide : Mapping[str, str], optional
        Pattern of columns ("*-confidence") → name to read them as, where several systems stand side by side
        in each row: each becomes a run, named by the text at the star.
    missing : sequence of str or float
        Values that count as missing, beside empty cells; of what is in memory, null, None and NaN count as
        missing, too.
    dataset : str or array
        What the data are called, if the file or table names no data set; one that is named there is kept. Or
        the array of that name.
    gold : str, PathLike or array, optional
        A table of right answers or outcomes, for a file that holds none; or the array of that name.
    on : str
        The column that `gold` is joined on, or "THIS=THAT"; by default the ids.
    gold_columns : Mapping[str, str], optional
        Column of the table `gold` → name to read it as ("correct", "correct:Yes|Mostly", "gold", "id" …); as
        --map-gold.
    corrections : str, PathLike, data frame, or list of dict, optional
        A table of questions by `id` (and `subject`, `model`, `dataset` … where ids repeat) that are left out
        (`leave_out`), or whose right answer (`gold`, `gold_index`) or outcome (`correct`, `event`) is
        corrected, perhaps with a `reason`; as --corrections. A run says in `corrections` what was changed.
    skip_bad_rows : bool
        Whether to leave bad rows out instead of refusing the file.
    needs_outcomes : bool
        Whether rows without any outcome are refused; False to apply a map to them (`Recalibration.apply`).
    **arrays
        Columns as arrays of one length, if there is no `source`: `confidence=`, `correct=`, `id=` and so on,
        or `event_prob=` and `event=`. Series with an index are paired by it. For a token-level run `probs=`,
        `logprobs=` or `logits=` of shape (T, K) or (B, T, K), and `target=`; with `gold=` instead, each row
        is a question with K choices.

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
    table = Path(cast("str | PathLike[str]", gold)) if isinstance(gold, (str, PathLike)) else None
    if gold is not None and table is None:
        arrays["gold"] = gold
    if correct is not None:
        arrays["correct"] = correct
    if dataset is None:
        dataset = ""
    if not isinstance(dataset, str):
        arrays["dataset"], dataset = dataset, ""
    given = _source_or_arrays(source, arrays)
    options = ReadOptions(
        columns or {}, rows, wide or {}, tuple(map(str, missing)), on, gold_columns or {}, dataset
    )
    with _opened(given, name, format, table, missing) as opened:
        read = _reader(opened, options, corrections)
        try:
            runs = usable_runs(
                read(AS_IT_LIES),
                skip_bad_rows=skip_bad_rows,
                read_again=read,
                needs="judge" if needs_outcomes else "confidences",
            )
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


@explains_keywords
def check(  # noqa: PLR0913  one parameter an option, as on the command line
    source: Rows,
    *,
    name: str = "data",
    format: str | None = None,  # noqa: A002  named as the command line's --format
    columns: Mapping[str, str] | None = None,
    rows: str = "",
    wide: Mapping[str, str] | None = None,
    missing: Sequence[str | float] = (),
    dataset: str = "",
    gold: str | PathLike[str] | None = None,
    on: str = "",
    gold_columns: Mapping[str, str] | None = None,
    corrections: Rows = None,
) -> FileReport:
    """Report what a file or table holds: format, usable methods, bad rows, and what its columns may mean.

    Parameters
    ----------
    source, name, format, columns, rows, wide, missing, dataset, gold, on, gold_columns, corrections
        As in `load`. The runs of the report have in `correction_effects` what corrections change.

    Returns
    -------
    FileReport
        With `status`, `full_message` in words, `problems`, and `to_frame()` of runs and methods.

    Raises
    ------
    calib_core.errors.Refused
        If the file does not exist, or cannot be read.

    Examples
    --------
    >>> import calib_core
    >>> calib_core.check([{"confidence": 0.9, "correct": 1}, {"confidence": 1.9, "correct": 0}]).status
    'asks'
    """
    options = ReadOptions(
        columns or {}, rows, wide or {}, tuple(map(str, missing)), on, gold_columns or {}, dataset
    )
    with _opened(source, name, format, None if gold is None else Path(gold), missing) as opened:
        read = _reader(opened, options, corrections)
        report = check_file(read(AS_IT_LIES), read_again=read)
        message = report.message.replace(opened.name, opened.called)
        return replace(report, file=opened.called, message=message)


def _source_or_arrays(source: Any, arrays: dict[str, Any]) -> Any:  # noqa: ANN401  as `load` takes them
    """What `load` reads; raises TypeError where it is given both a source and arrays, or neither."""
    kinds = (str, PathLike, Mapping, pl.LazyFrame)
    is_table = source is None or isinstance(source, kinds) or hasattr(source, "columns")
    if "correct" in arrays and not is_table and "confidence" not in arrays:
        arrays, source = {"confidence": source, **arrays}, None
    if source is None and arrays:
        return arrays
    if "gold" in arrays:
        raise TypeError(
            "gold can be an array only where the other columns are arrays; with a file, name a table."
        )
    if "dataset" in arrays:
        raise TypeError(
            "dataset can be an array only where the other columns are arrays; with a file, give one name."
        )
    if "correct" in arrays:
        raise TypeError(
            "correct as an array needs confidence as an array; for a file or table, name the column: "
            'columns={"COLUMN": "correct"}.'
        )
    if unknown := [name for name in arrays if name not in (*ANSWER_SCHEMA, *TOKEN_ARRAYS, "target")]:
        raise TypeError(_unknown_keyword_text(unknown[0]))
    if source is None or arrays:
        raise TypeError("load takes a file, table or list of dicts, or arrays by name: exactly one of them.")
    return cast("object", source)


def _corrections_table(corrections: Rows) -> Path | pl.DataFrame | Sequence[Mapping[str, object]] | None:
    """What a table of corrections is read from: a file or what is in memory; None for no table."""
    if corrections is None:
        return None
    if isinstance(corrections, (str, PathLike)):
        return Path(cast("str | PathLike[str]", corrections))
    values = plain_values(corrections)
    if isinstance(values, Mapping):
        raise Refused("corrections must be a file, a data frame or a list of dicts, not arrays.")
    return values


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
def _opened(
    given: Any,  # noqa: ANN401  any table
    name: str,
    format_id: str | None,
    gold: Path | None,
    missing: Sequence[str | float],
) -> Generator[_Opened]:
    """A file, which another process reads, or values in memory, which this one does.

    With a file of right answers beside them, values go through a file as well: that one is not trusted.
    """
    if isinstance(given, (str, PathLike)):
        path = Path(cast("str | PathLike[str]", given))
        yield _Opened(partial(readers.read, path, format=format_id, gold=gold), *[path.name] * 3)
        return
    file = name.replace("/", "_").replace("\0", "") or "data"
    called = "the table" if name in ("", "data") else name
    values = plain_values(given, missing)
    if gold is None:
        in_memory = f"{file}.parquet"  # a name that no text of a message has by chance
        yield _Opened(
            partial(readers.read_values, values, file=in_memory, format=format_id), in_memory, called, file
        )
        return
    with TemporaryDirectory(prefix="calib-") as folder:
        path = _write(values, Path(folder, file))
        yield _Opened(partial(readers.read, path, format=format_id, gold=gold), path.name, called, file)


def _reader(opened: _Opened, options: ReadOptions, corrections: Rows) -> Callable[[ReadOptions], Reading]:
    """Return what reads with these options and further ones, and corrects what was read."""
    table = _corrections_table(corrections)

    def read(further: ReadOptions) -> Reading:
        together = options.adding(further)
        return with_corrections(opened.read(options=together), table, together)

    return read


def _unknown_keyword_text(given: str) -> str:
    """Why `load` does not take this keyword beside a source, and what may be meant."""
    known = [name for name, one in signature(load).parameters.items() if one.kind is Parameter.KEYWORD_ONLY]
    bare = {name.replace("_", ""): name for name in known}
    likely = get_close_matches(given.lower().replace("_", ""), bare, 1)
    hint = f" Is {bare[likely[0]]} meant?" if likely else ""
    return (
        f"load has no keyword {given!r} for a file or table.{hint} Its keywords are {', '.join(known)}; "
        "columns as arrays are taken in place of a file or table."
    )


def _write(values: Values, stem: Path) -> Path:
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


def _evidence(run: Run, method: str | None, options: MethodOptions | None = None) -> Evidence:
    """The run as seen by a method; by default by its default method."""
    run = as_run(run)
    if method is None:
        evidence = default_evidence(run)
        if options is None or options == evidence.options:
            return evidence
        method = evidence.method.id
    return gather_evidence(run, method, options)


def _keyed(runs: Run | Iterable[Run]) -> dict[str, Run]:
    """The runs by short names that tell them apart."""
    given = [runs] if isinstance(runs, Run) else runs
    numbered = {str(index): as_run(run) for index, run in enumerate(given)}
    if not numbered:
        raise ValueError("at least one run is needed")
    titles = {key: run.label for key, run in numbered.items()}
    names = short_run_names({key: run.info for key, run in numbered.items()}, titles)
    repeated = len(set(names.values())) < len(names)
    return {f"{names[key]} ({key})" if repeated else names[key]: run for key, run in numbered.items()}


@overload
def score(
    run: Run,
    *,
    method: str | None = None,
    metric: str,
    bins: int = 10,
    binning: Binning = "width",
    labels: Labels = "top",
    renormalise: bool | None = None,
    held_out: bool = False,
) -> Score: ...
@overload
def score(
    run: Run,
    *,
    method: str | None = None,
    metric: None = None,
    bins: int = 10,
    binning: Binning = "width",
    labels: Labels = "top",
    renormalise: bool | None = None,
    held_out: bool = False,
) -> Scores: ...
@explains_keywords
def score(
    run: Run,
    *,
    method: str | None = None,
    metric: str | None = None,
    bins: int = 10,
    binning: Binning = "width",
    labels: Labels = "top",
    renormalise: bool | None = None,
    held_out: bool = False,
) -> Score | Scores:
    """Compute one metric of one method on one run, or every metric.

    Parameters
    ----------
    run : AnswerRun or TokenRun
        A run from `load`.
    method : str, optional
        Id of a confidence method, a key of `calib_core.methods.METHODS` or "given.NAME"; by default the
        run's default method in the app.
    metric : str, optional
        Id of a metric, a key of `calib_core.metrics.METRICS`; by default all that the run has.
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
    Score or Scores
        The value with its 95 % interval and its recipe. The value is None if the metric is not defined
        (AUROC of rows that are all right) or only its bounds are known (token-level files with the top k
        entries of each position); the interval is None where the metric or the run has none.
        Without a metric, the scores by id, and in `unavailable` why the others cannot be computed.

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
    scheme = Scheme(binning, bins)
    if metric is not None:
        return score_with_interval(evidence, metric, scheme)
    reasons = metric_availability(evidence, scheme)
    available = [id_ for id_, reason in reasons.items() if reason is None]
    return Scores(
        {id_: score_with_interval(evidence, id_, scheme) for id_ in available},
        {id_: reason for id_, reason in reasons.items() if reason is not None},
    )


@explains_keywords
def metric_value(
    confidence: ArrayLike,
    correct: ArrayLike,
    metric: str = "ece",
    *,
    bins: int = 10,
    binning: Binning = "width",
    weight: ArrayLike | None = None,
) -> float:
    """Compute one metric of two arrays, as a number alone: without interval, p-value or recipe.

    Parameters
    ----------
    confidence : array_like, shape (n,) or (n, K)
        Confidences, or the probabilities of K choices, in [0, 1].
    correct : array_like, shape (n,)
        Whether each is right, 0 or 1; with K choices, the index of the right one.
    metric : str
        Id of a metric, a key of `calib_core.metrics.METRICS`.
    bins, binning
        As in `score`.
    weight : array_like, shape (n,), optional
        How many cases each row stands for, at least 0; 1 each where omitted.

    Returns
    -------
    float
        NaN where the metric is not defined.

    Raises
    ------
    calib_core.errors.Refused
        If a value cannot be used.
    calib_core.errors.Unavailable
        If there is no such metric, or it needs the probabilities of all choices.

    Warns
    -----
    UserWarning
        If rows are left out, as they lack a confidence or an outcome (NaN, None).

    Examples
    --------
    >>> import calib_core
    >>> round(calib_core.metric_value([0.9, 0.9, 0.6, 0.6], [1, 0, 1, 1], "brier"), 3)
    0.285
    >>> calib_core.metric_value([[0.7, 0.3], [0.4, 0.6]], [0, 0], "accuracy")
    0.5
    """
    confidence = np.asarray(confidence)
    are_choices = confidence.ndim > 1 and confidence.shape[-1] > 1
    names = ("probs", "gold") if are_choices else ("confidence", "correct")
    columns = {names[0]: confidence, names[1]: correct, **({} if weight is None else {"weight": weight})}
    (run,) = load(columns)
    evidence, chosen, scheme = _evidence(run, None), get_metric(metric), Scheme(binning, bins)
    scheme = effective_scheme(chosen, scheme)
    if (reason := evidence.unavailable_reason(chosen, scheme)) is not None:
        raise Unavailable(reason)
    if evidence.n_used < evidence.n_total:
        left_out = f"{evidence.n_total - evidence.n_used:,} of {plural(evidence.n_total, 'row')} left out"
        reasons = join_names([f"{reason} ({n:,})" for reason, n in evidence.missing.items()])
        warnings.warn(f"{left_out}: {reasons}.", stacklevel=3)
    value = chosen.compute(evidence.sums_for(chosen, scheme), scheme)
    return float("nan") if value is None else value


@explains_keywords
def verdict(
    run: Run,
    *,
    method: str | None = None,
    tolerance: float = DEFAULT_TOLERANCE,
    held_out: bool = False,
) -> RunVerdict:
    """Judge whether one run's confidence can be believed: over- or under-confident, or no such evidence.

    For the probability of an event, it says whether yes is expected too often or too rarely.

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


@explains_keywords
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


@explains_keywords
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


@explains_keywords
def concentration(
    run: Run, *, method: str | None = None, bins: int = 10, binning: Binning = "width"
) -> Concentration:
    """Measure how the confidences are distributed over the bins, and whether the bins can be trusted.

    Parameters
    ----------
    run, method, bins, binning
        As in `reliability`.

    Returns
    -------
    Concentration

    Raises
    ------
    calib_core.errors.Unavailable
        As in `reliability`.
    ValueError
        If `bins` or `binning` is wrong.
    """
    return measure_concentration(_evidence(run, method), Scheme(binning, bins))


@explains_keywords
def abstention(run: Run, *, method: str | None = None) -> AbstentionCurve:
    """Follow the accuracy of the answered questions as the model answers only when it is confident.

    For the probability of an event, it is the precision of what is called yes: the share of yes among the
    rows with at least each probability.

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


@explains_keywords
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
        Seed of the draws, at least 0.

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
        raise ValueError(f"sizes must be one or more numbers of samples, each at least 1, not {list(sizes)}")
    metrics = tuple(dict.fromkeys((metric, BRIER.id)))
    return sample_size_sweep(
        as_run(run), SamplingPlan(None if sizes is None else tuple(sizes), repeats, seed, metrics=metrics)
    )


@explains_keywords
def threshold(
    run: Run, *, accuracy: float = 0.9, confidence: float = 0.95, method: str | None = None
) -> GuaranteedThreshold:
    """Find the confidence threshold at or above which answers are right often enough, with a guarantee.

    For the probability of an event, it is the one at or above which yes is true often enough.

    Parameters
    ----------
    run, method
        As in `score`.
    accuracy : float
        Target accuracy of the answered questions, or precision of what is called yes, in [0, 1].
    confidence : float
        Confidence of the guarantee, in (0, 1).

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


@explains_keywords
def threshold_cost(
    run: Run, *, cost_wrong: float, cost_handed_on: float, method: str | None = None
) -> ThresholdCost:
    """Compute what each threshold costs, and what it costs to believe the confidence.

    Parameters
    ----------
    run, method
        As in `score`.
    cost_wrong : float
        Cost of a wrong answer, above 0, in any unit; a right answer is free.
    cost_handed_on : float
        Cost of a question that is handed on instead of answered, 0 or more, in the same unit.

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


@explains_keywords
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
        A column for each of whose groups it is measured, too: "subject", or one of the file.
    labels_name : {"place", "answer"}, optional
        For pairs judged in both orders, whether a label such as "A" names the answer shown first, or the
        same answer in both orders; by default what people's labels of such pairs show.

    Returns
    -------
    JudgeResult
        Its `agreement`, `pass_rates` and `fairness` are separate results.

    Raises
    ------
    calib_core.errors.Unavailable
        If judge and people have fewer than two labelled rows or no label in common, there is no
        grouping `by`, or no label is one of `passing`.
    """
    return judge_result(as_run(run), passing, by, labels_name)


@explains_keywords
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


@explains_keywords
def recalibrate(
    run: Run,
    *,
    by: str = DEFAULT_MAP,
    method: str | None = None,
    folds: int = DEFAULT_FOLDS,
    seed: int = DEFAULT_SEED,
) -> Recalibration:
    """Fit a map of the confidences, and evaluate it on questions that it was not fitted to.

    Parameters
    ----------
    run, method
        As in `score`.
    by : {"temperature", "platt", "beta", "isotonic", "histogram"}
        The map.
    folds : int
        2 to 50. All rows of a question are in one fold.
    seed : int
        Seed by which questions are assigned to folds, at least 0.

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


@explains_keywords
def compare(
    runs: Run | Iterable[Run],
    *,
    methods: Sequence[str] | None = None,
    bins: int = 10,
    binning: Binning = "width",
    judged: JudgedChoice = "own",
) -> Comparison:
    """Compare runs by accuracy and Brier score, and find the best by paired differences.

    Runs whose probability is that of an event are compared by AUROC and Brier score, since a high share of
    yes is not a merit. Runs of answers and of events are not compared with each other: only those of the
    more frequent kind are compared, and the others are in `unavailable`.

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


@explains_keywords
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
        raise Unavailable("No run of answers has any of these methods.")
    return methods_table_of(evidences, Scheme(binning, bins), judged_choice=judged)


@explains_keywords
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
        that there is.
    method, metric, bins, binning
        As in `score`; without a method, the first run's.

    Returns
    -------
    GroupResults

    Raises
    ------
    calib_core.errors.Unavailable
        If these runs have no groups, or no grouping of this name, or the method or metric is missing.
    """
    keyed = {name: run for name, run in _keyed(runs).items() if isinstance(run, AnswerRun)}
    choices = group_by_choices(keyed)
    if not choices:
        raise Unavailable("These runs have no groups: no column and no property of the runs divides them.")
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
        raise Unavailable(
            f"There is no grouping “{by}” for these runs. Choose {join_names(list(by_title), 'or')}."
        )
    return by_title[by]


@explains_keywords
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
