"""Writes a run and reads it again, with all of its numbers, for the tests of converting."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from calib_core import readers
from calib_core.edges import Scheme
from calib_core.metrics import METRICS
from calib_core.readers.format import Reading
from calib_core.reporting.export.canonical import CanonicalFile, ConvertedSource, to_canonical
from calib_core.results.evidence import survey_methods
from calib_core.results.score import effective_scheme, metric_availability
from calib_core.runs import AnswerRun, Run

SOURCE = ConvertedSource("quiz.csv", "0" * 64, 3)
KINDS = ("parquet", "jsonl")


def write_and_read(runs: Sequence[Run], kind: str, *, notes: Sequence[str] = ()) -> Reading:
    """The runs as one canonical file of that kind, read again."""
    return read_again(to_canonical(runs, [SOURCE], notes), kind)


def read_again(made: CanonicalFile, kind: str) -> Reading:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"again.{kind}"
        path.write_bytes(made.to_parquet() if kind == "parquet" else made.to_json_lines())
        reading = readers.read_in_this_process(path, file=path.name)
    assert (reading.format, reading.n_bad_rows, reading.refusal) == ("canonical", 0, None)
    return reading


def content(run: AnswerRun) -> tuple[Any, ...]:
    """Everything that numbers are computed from: values with dtypes, groups, and run info."""
    told = [name for name in run.rows.columns if name != "row" and run.has_columns(name)]
    others = run.group_columns.select(pl.all().cast(pl.String))
    return (
        run.info,
        {name: (str(run.rows.schema[name]), run.rows[name].to_list()) for name in told},
        {name: values for name in others.columns if any(values := others[name].to_list())},
    )


def all_metrics(run: Run, bins: Sequence[int] = (3, 10)) -> dict[tuple[str, str, int], Any]:
    """Every metric of every method with n, or the reason why there is none."""
    found: dict[tuple[str, str, int], Any] = {}
    surveyed = survey_methods(run)
    for method, evidence in surveyed.usable.items():
        for number in bins:
            refused = metric_availability(evidence, Scheme("width", number))
            for metric in METRICS.values():
                scheme = effective_scheme(metric, Scheme("width", number))
                value = (
                    metric.compute(evidence.sums_for(metric, scheme), scheme)
                    if refused[metric.id] is None
                    else "refused"
                )
                found[method, metric.id, number] = (evidence.n_used, value)
    return found | {(method, "", 0): "refused" for method in surveyed.unavailable}
