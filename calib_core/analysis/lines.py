"""How do several runs or methods compare, bin by bin, on one diagram?  Evidences → one line each.

What is said of them together: lines_reading.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from calib_core.analysis.evidence import Evidence, bins_all_classes, get_metric
from calib_core.analysis.families import name_with_model, short_run_names
from calib_core.analysis.lines_reading import lines_headline, line_caveats
from calib_core.analysis.lines_result import ReliabilityLine, line_labels
from calib_core.analysis.reliability import reliability_diagram
from calib_core.analysis.score import effective_scheme
from calib_core.analysis.tendency import judge_calibration
from calib_core.bins import Scheme
from calib_core.metrics import DEFAULT_METRIC
from calib_core.problems import Unavailable
from calib_core.records import RunInfo

MAX_LINES: Final = 6
TOO_MANY_LINES: Final = f"one diagram has {MAX_LINES} lines at most: more cannot be told apart."
"""Why a seventh line is not drawn."""


@dataclass(frozen=True, slots=True, eq=False)
class ReliabilityLines:
    """Up to MOST lines of one metric and one way of binning.

    lines: in the order they were given; labels: key → what tells a line from the others, for short; common:
    what all of them share, run or method, "" where they share neither; refused: key → why it is no line;
    reading: the lines in a sentence or two; unlike: what keeps them from being compared as they stand, each
    a sentence.
    """

    metric: str
    scheme: Scheme
    lines: tuple[ReliabilityLine, ...]
    labels: Mapping[str, str]
    shared_label: str
    unavailable: Mapping[str, str]
    headline: str
    caveats: tuple[str, ...]

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
        return pl.DataFrame([_summary_row(line) for line in self.lines], schema=_SUMMARY_SCHEMA)


def reliability_lines(
    evidences: Mapping[str, Evidence],
    metric_id: str = DEFAULT_METRIC,
    scheme: Scheme | None = None,
    *,
    titles: Mapping[str, str] | None = None,
) -> ReliabilityLines:
    """One line an evidence, all by the same metric and bins.

    seen: key → what one method says of one run; titles: key → what the run is called, its label if not said.
    Raises Unavailable for a metric that does not exist; who cannot give it, and who is one too many, is named
    in `refused`.
    """
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    called = titles or {key: evidence.run.label for key, evidence in evidences.items()}
    made: list[ReliabilityLine] = []
    refused: dict[str, str] = {}
    for key, evidence in evidences.items():
        if len(made) == MAX_LINES:
            refused[key] = TOO_MANY_LINES
            continue
        try:
            made.append(_reliability_line(key, called[key], evidence, metric_id, scheme, min(len(evidences), MAX_LINES)))
        except Unavailable as reason:
            refused[key] = str(reason)
    infos = {line.key: evidences[line.key].run.info for line in made}
    names = _line_run_names(made, infos)
    labels, common = line_labels(made, names)
    in_words, _ = line_labels(made, {key: name_with_model(name, infos[key]) for key, name in names.items()})
    return ReliabilityLines(
        metric=metric_id,
        scheme=scheme,
        lines=tuple(made),
        labels=labels,
        shared_label=common,
        unavailable=refused,
        headline=lines_headline(made, in_words, metric),
        caveats=line_caveats(made, labels, infos, metric),
    )


def _line_run_names(result_lines: list[ReliabilityLine], infos: Mapping[str, RunInfo]) -> dict[str, str]:
    """Key → the run's short name; two methods of one run call it the same."""
    of_run = {line.run: infos[line.key] for line in result_lines}
    names = short_run_names(of_run, {title: title for title in of_run})
    return {line.key: names[line.run] for line in result_lines}


def _reliability_line(
    key: str, title: str, evidence: Evidence, metric_id: str, scheme: Scheme, n_verdicts: int
) -> ReliabilityLine:
    """Raises Unavailable where the evidence cannot give the metric or the bins; among: of how many lines."""
    metric = get_metric(metric_id)
    result = reliability_diagram(evidence, metric_id, scheme)
    dependent = bins_all_classes(metric) or evidence.options.labels == "all"
    return ReliabilityLine(
        key=key,
        run=title,
        method=evidence.method.id,
        result=result,
        verdict=None if dependent else judge_calibration(evidence.binned(metric, scheme), n_verdicts, evidence.design_effect).kind,
        pooling_text=_pooling_text(evidence, dependent=dependent, all_classes=bins_all_classes(metric)),
        recipe=result.score.recipe if metric.binned else result.recipe,
    )


def _pooling_text(evidence: Evidence, *, dependent: bool, all_classes: bool) -> str:
    """"the top label of each question", "every class of each position (all classes, K=27)"."""
    of = "question" if evidence.unit == "rows" else "position of a text"
    if not dependent:
        return f"one pair a {of}"
    return f"a pair for every class of a {of} ({evidence.labels_text(all_classes=all_classes)})"


def _summary_row(line: ReliabilityLine) -> dict[str, Any]:
    result, score = line.result, line.result.score
    return {
        "run": line.run, "method": line.method, "metric": score.metric, "value": score.value, "p": score.p,
        "brier": result.brier, "accuracy": result.accuracy, "mean_confidence": result.mean_confidence,
        "bins": result.table.height, "thin": result.n_thin_bins, "n_used": score.n_used, "n_total": score.n_total,
        "judged": result.judged, "reading": result.headline, "remarks": "; ".join(result.remarks),
        "recipe": line.recipe,
    }


_SUMMARY_SCHEMA: Final[Mapping[str, type[pl.DataType]]] = {
    "run": pl.String, "method": pl.String, "metric": pl.String, "value": pl.Float64, "p": pl.Float64,
    "brier": pl.Float64, "accuracy": pl.Float64, "mean_confidence": pl.Float64, "bins": pl.Int64,
    "thin": pl.Int64, "n_used": pl.Int64, "n_total": pl.Int64, "judged": pl.String, "reading": pl.String,
    "remarks": pl.String, "recipe": pl.String,
}
