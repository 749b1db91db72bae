"""How do several runs or methods compare, bin by bin, on one diagram?  Evidences → one line each.

What is said of them together: lines_reading.py.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.inference.verdict import VerdictKind, count_verdicts, judge_calibration, verdict_phrase
from calib_core.methods import METHODS
from calib_core.metrics import DEFAULT_METRIC
from calib_core.metrics.metric import Direction, Metric
from calib_core.results.evidence import Evidence, bins_all_classes, get_metric
from calib_core.results.reliability import Reliability, reliability_diagram
from calib_core.results.run_names import name_with_model, short_run_names
from calib_core.results.score import effective_scheme
from calib_core.runs import RunInfo
from calib_core.wording import both_or_all, format_short, join_names

# MERGED lines_result: What is one line of a diagram with several, and what tells it from the others?


@dataclass(frozen=True, slots=True, eq=False)
class ReliabilityLine:
    """One run seen by one method.

    key: as it was given; run: what the run is called in full; method: its id; result: its diagram, its own
    bins; leans: its tendency, judged as one of so many lines, None where pairs of one row depend on one
    another; pooled: what a pair is; recipe: of the number.
    """

    key: str
    run: str
    method: str
    result: Reliability
    verdict: VerdictKind | None
    pooling_text: str
    recipe: str


def line_labels(lines: Sequence[ReliabilityLine], names: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """Key → what tells a line from the others: run, method, or both; and what they all share besides.

    names: key → the run's short name. A line alone is called by both, and where two would be called the same
    they have their keys besides.
    """
    labels, common = _labels_and_common(lines, names)
    times = Counter(labels.values())
    return {key: name if times[name] == 1 else f"{name} ({key})" for key, name in labels.items()}, common


def _labels_and_common(
    lines: Sequence[ReliabilityLine], names: Mapping[str, str]
) -> tuple[dict[str, str], str]:
    runs = {line.run for line in lines}
    methods = {line.method for line in lines}
    if len(lines) > 1 and len(runs) == 1:
        return {line.key: METHODS[line.method].title for line in lines}, lines[0].run
    if len(lines) > 1 and len(methods) == 1:
        return {line.key: names[line.key] for line in lines}, METHODS[lines[0].method].title
    return {line.key: f"{names[line.key]} · {METHODS[line.method].short_title}" for line in lines}, ""


# MERGED lines_reading: What do several reliability lines say together, and what keeps them from being compared?

_EXTREME_WORDS: Final[Mapping[Direction, tuple[str, str]]] = {
    "lower": ("Lowest {}", "highest"),
    "higher": ("Highest {}", "lowest"),
    "zero": ("{} nearest to 0", "farthest from it"),
}
"""What the better and the worse end of a metric are called."""

UNEQUAL_ROWS_RATIO: Final = 2
"""So many times as many pairs, and a difference of numbers of pairs is spoken of."""


def lines_headline(lines: Sequence[ReliabilityLine], labels: Mapping[str, str], metric: Metric) -> str:
    """The best and the worst number, and how many lines say more than they are right.

    labels: key → what the line is called.
    """
    if not lines:
        return "None of the chosen lines can be drawn."
    if len(lines) == 1:
        return _single_line_headline(labels[lines[0].key], lines[0].result.headline)
    return " ".join(
        text for text in (_extremes_sentence(lines, labels, metric), _verdicts_sentence(lines)) if text
    )


def _single_line_headline(label: str, reading: str) -> str:
    """ "A says 75.0 % …", "5 rows are too few to judge by: A says …"; what says nothing after "A: "."""
    before, says, rest = reading.replace("Says ", "says ", 1).partition("says ")
    return f"{before}{label} {says}{rest}" if says else f"{label}: {reading}"


def _extremes_sentence(lines: Sequence[ReliabilityLine], labels: Mapping[str, str], metric: Metric) -> str:
    known = {line.key: line.result.score.value for line in lines}
    values = {key: value for key, value in known.items() if value is not None and math.isfinite(value)}
    if not values:
        return f"{metric.title} is not known for any of the {len(lines)} lines."
    told = ""
    if lacking := len(lines) - len(values):
        told = f" It is not known, or infinite, for {lacking} of the {len(lines)}."
    shown = {key: format_short(value) for key, value in values.items()}
    if len(set(shown.values())) == 1:
        return (
            f"{_same_value_opening(values, labels, metric, len(lines))} {next(iter(shown.values()))}.{told}"
        )
    far = {
        key: -value if metric.direction == "higher" else abs(value) if metric.direction == "zero" else value
        for key, value in values.items()
    }
    best, worst = min(far, key=far.__getitem__), max(far, key=far.__getitem__)
    first, last = _EXTREME_WORDS[metric.direction]
    opening = first.format(metric.title_in_sentence)
    return (
        f"{opening[0].upper()}{opening[1:]}: {_labels_with_value(best, shown, labels)}, {shown[best]}; "
        f"{last}: {_labels_with_value(worst, shown, labels)}, {shown[worst]}.{told}"
    )


def _same_value_opening(
    values: Mapping[str, float], labels: Mapping[str, str], metric: Metric, n_lines: int
) -> str:
    """The beginning of a sentence on lines that have one number."""
    if len(values) == 1:
        return f"{labels[next(iter(values))]}: {metric.title}"
    which = both_or_all(n_lines).capitalize() if len(values) == n_lines else str(len(values))
    return f"{which} lines have the same {metric.title_in_sentence},"


def _labels_with_value(key: str, shown: Mapping[str, str], labels: Mapping[str, str]) -> str:
    """The line's label, and those of others with the very same number."""
    return join_names([labels[other] for other, number in shown.items() if number == shown[key]])


def _verdicts_sentence(lines: Sequence[ReliabilityLine]) -> str:
    """How many lines are over-confident, how many under-confident, how many neither."""
    leans: list[VerdictKind] = [line.verdict for line in lines if line.verdict is not None]
    if not leans:
        return ""
    if len(set(leans)) == 1 and len(leans) == len(lines):
        return f"{both_or_all(len(leans)).capitalize()} {verdict_phrase(leans[0], len(leans))}."
    of = "" if len(leans) == len(lines) else " that pool one pair a row or position"
    return f"Of the {len(leans)} lines{of}, {count_verdicts(leans)}." if len(leans) > 1 else ""


def line_caveats(
    lines: Sequence[ReliabilityLine], labels: Mapping[str, str], infos: Mapping[str, RunInfo], metric: Metric
) -> tuple[str, ...]:
    """What differs between the lines besides run and method, each a sentence."""
    told: list[str] = []
    judged = _keys_by_value({line.key: line.result.judged for line in lines})
    if len(judged) > 1:
        told.append(f"The lines judge different answers: {_groups_text(judged, labels)}.")
    datasets = _keys_by_value({line.key: infos[line.key].dataset or "not named" for line in lines})
    if len(datasets) > 1:
        told.append(
            f"The lines are of {len(datasets)} data sets, so of different questions: "
            f"{_groups_text(datasets, labels)}."
        )
    pooled = _keys_by_value({line.key: line.pooling_text for line in lines})
    if len(pooled) > 1:
        told.append(f"What is pooled differs: {_groups_text(pooled, labels)}.")
    counts = sorted(line.result.score.n_used for line in lines)
    if counts and counts[-1] >= UNEQUAL_ROWS_RATIO * max(counts[0], 1):
        chance = (
            f": on fewer, {metric.title} is larger by chance alone"
            if (metric.binned and metric.direction == "lower")
            else ""
        )
        told.append(f"The lines stand on {counts[0]:,} to {counts[-1]:,} rows or positions{chance}.")
    return tuple(told)


def _keys_by_value(values: Mapping[str, str]) -> dict[str, list[str]]:
    """Value → the keys that have it, in order."""
    found: dict[str, list[str]] = {}
    for key, value in values.items():
        found.setdefault(value, []).append(key)
    return found


def _groups_text(keys_by_value: Mapping[str, Sequence[str]], labels: Mapping[str, str]) -> str:
    """ "greedy answer (A, B); majority answer (C)"."""
    return "; ".join(
        f"{value} ({' / '.join(labels[key] for key in keys)})" for value, keys in keys_by_value.items()
    )


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
            made.append(
                _reliability_line(
                    key, called[key], evidence, metric_id, scheme, min(len(evidences), MAX_LINES)
                )
            )
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
        verdict=None
        if dependent
        else judge_calibration(evidence.binned(metric, scheme), n_verdicts, evidence.design_effect).kind,
        pooling_text=_pooling_text(evidence, dependent=dependent, all_classes=bins_all_classes(metric)),
        recipe=result.score.recipe if metric.binned else result.recipe,
    )


def _pooling_text(evidence: Evidence, *, dependent: bool, all_classes: bool) -> str:
    """ "the top label of each question", "every class of each position (all classes, K=27)"."""
    of = "question" if evidence.unit == "rows" else "position of a text"
    if not dependent:
        return f"one pair a {of}"
    return f"a pair for every class of a {of} ({evidence.labels_text(all_classes=all_classes)})"


def _summary_row(line: ReliabilityLine) -> dict[str, Any]:
    result, score = line.result, line.result.score
    return {
        "run": line.run,
        "method": line.method,
        "metric": score.metric,
        "value": score.value,
        "p": score.p,
        "brier": result.brier,
        "accuracy": result.accuracy,
        "mean_confidence": result.mean_confidence,
        "bins": result.table.height,
        "thin": result.n_thin_bins,
        "n_used": score.n_used,
        "n_total": score.n_total,
        "judged": result.judged,
        "reading": result.headline,
        "remarks": "; ".join(result.remarks),
        "recipe": line.recipe,
    }


_SUMMARY_SCHEMA: Final[Mapping[str, type[pl.DataType]]] = {
    "run": pl.String,
    "method": pl.String,
    "metric": pl.String,
    "value": pl.Float64,
    "p": pl.Float64,
    "brier": pl.Float64,
    "accuracy": pl.Float64,
    "mean_confidence": pl.Float64,
    "bins": pl.Int64,
    "thin": pl.Int64,
    "n_used": pl.Int64,
    "n_total": pl.Int64,
    "judged": pl.String,
    "reading": pl.String,
    "remarks": pl.String,
    "recipe": pl.String,
}
