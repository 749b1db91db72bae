"""How do several runs or methods compare, bin by bin, on one diagram?  Evidences → one line each.

What is said of them together: lines_reading.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from calib_core.analysis.evidence import Evidence, draws_all_classes, metric_of
from calib_core.analysis.families import in_full, short_names
from calib_core.analysis.lines_reading import read_lines, unlike
from calib_core.analysis.lines_result import Line, label_of
from calib_core.analysis.reliability import reliability
from calib_core.analysis.score import scheme_for
from calib_core.analysis.tendency import tendency
from calib_core.bins import Scheme
from calib_core.metrics import DEFAULT
from calib_core.problems import Unavailable
from calib_core.records import RunInfo

MOST: Final = 6
TOO_MANY: Final = f"one diagram has {MOST} lines at most: more cannot be told apart."
"""Why a seventh line is not drawn."""


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Up to MOST lines of one metric and one way of binning.

    lines: in the order they were given; labels: key → what tells a line from the others, for short; common:
    what all of them share, run or method, "" where they share neither; refused: key → why it is no line;
    reading: the lines in a sentence or two; unlike: what keeps them from being compared as they stand, each
    a sentence.
    """

    metric: str
    scheme: Scheme
    lines: tuple[Line, ...]
    labels: Mapping[str, str]
    common: str
    refused: Mapping[str, str]
    reading: str
    unlike: tuple[str, ...]

    @property
    def recipe(self) -> str:
        """How the lines were made: once where that is the same for all, rows and all, else line by line."""
        made = {line.key: line.recipe for line in self.lines}
        if len(set(made.values())) == 1:
            return next(iter(made.values()))
        return "; ".join(f"{self.labels[key]}: {recipe}" for key, recipe in made.items())

    def to_frame(self) -> pl.DataFrame:
        """The numbers behind the diagram: one row a line and non-empty bin, as `Reliability` has them."""
        frames = [
            line.result.to_frame().with_columns(run=pl.lit(line.run), recipe=pl.lit(line.recipe))
            for line in self.lines
        ]
        return pl.concat(frames) if frames else pl.DataFrame()

    def summary(self) -> pl.DataFrame:
        """One row a line: run, method, the metric with its p, Brier score, what it says, rows, recipe."""
        return pl.DataFrame([_record(line) for line in self.lines], schema=_SCHEMA)


def lines(
    seen: Mapping[str, Evidence],
    metric_id: str = DEFAULT,
    scheme: Scheme | None = None,
    *,
    titles: Mapping[str, str] | None = None,
) -> Lines:
    """One line an evidence, all by the same metric and bins.

    seen: key → what one method says of one run; titles: key → what the run is called, its label if not said.
    Raises Unavailable for a metric that does not exist; who cannot give it, and who is one too many, is named
    in `refused`.
    """
    metric = metric_of(metric_id)
    scheme = scheme_for(metric, scheme or Scheme())
    called = titles or {key: evidence.run.label for key, evidence in seen.items()}
    made: list[Line] = []
    refused: dict[str, str] = {}
    for key, evidence in seen.items():
        if len(made) == MOST:
            refused[key] = TOO_MANY
            continue
        try:
            made.append(_line(key, called[key], evidence, metric_id, scheme, min(len(seen), MOST)))
        except Unavailable as reason:
            refused[key] = str(reason)
    infos = {line.key: seen[line.key].run.info for line in made}
    names = _names(made, infos)
    labels, common = label_of(made, names)
    in_words, _ = label_of(made, {key: in_full(name, infos[key]) for key, name in names.items()})
    return Lines(
        metric=metric_id,
        scheme=scheme,
        lines=tuple(made),
        labels=labels,
        common=common,
        refused=refused,
        reading=read_lines(made, in_words, metric),
        unlike=unlike(made, labels, infos, metric),
    )


def _names(made: list[Line], infos: Mapping[str, RunInfo]) -> dict[str, str]:
    """Key → the run's short name; two methods of one run call it the same."""
    of_run = {line.run: infos[line.key] for line in made}
    names = short_names(of_run, {title: title for title in of_run})
    return {line.key: names[line.run] for line in made}


def _line(
    key: str, title: str, evidence: Evidence, metric_id: str, scheme: Scheme, among: int
) -> Line:
    """Raises Unavailable where the evidence cannot give the metric or the bins; among: of how many lines."""
    metric = metric_of(metric_id)
    result = reliability(evidence, metric_id, scheme)
    dependent = draws_all_classes(metric) or evidence.options.labels == "all"
    return Line(
        key=key,
        run=title,
        method=evidence.method.id,
        result=result,
        leans=None if dependent else tendency(evidence.binned(metric, scheme), among, evidence.alike).kind,
        pooled=_pooled(evidence, dependent=dependent, all_classes=draws_all_classes(metric)),
        recipe=result.score.recipe if metric.binned else result.recipe,
    )


def _pooled(evidence: Evidence, *, dependent: bool, all_classes: bool) -> str:
    """"the top label of each question", "every class of each position (all classes, K=27)"."""
    of = "question" if evidence.unit == "rows" else "position of a text"
    if not dependent:
        return f"one pair a {of}"
    return f"a pair for every class of a {of} ({evidence.labels_text(all_classes=all_classes)})"


def _record(line: Line) -> dict[str, Any]:
    result, score = line.result, line.result.score
    return {
        "run": line.run, "method": line.method, "metric": score.metric, "value": score.value, "p": score.p,
        "brier": result.brier, "accuracy": result.accuracy, "mean_confidence": result.mean_confidence,
        "bins": result.table.height, "thin": result.thin, "n_used": score.n_used, "n_total": score.n_total,
        "judged": result.judged, "reading": result.reading, "remarks": "; ".join(result.remarks),
        "recipe": line.recipe,
    }


_SCHEMA: Final[Mapping[str, type[pl.DataType]]] = {
    "run": pl.String, "method": pl.String, "metric": pl.String, "value": pl.Float64, "p": pl.Float64,
    "brier": pl.Float64, "accuracy": pl.Float64, "mean_confidence": pl.Float64, "bins": pl.Int64,
    "thin": pl.Int64, "n_used": pl.Int64, "n_total": pl.Int64, "judged": pl.String, "reading": pl.String,
    "remarks": pl.String, "recipe": pl.String,
}
