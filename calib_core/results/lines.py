"""How do several runs or methods compare, bin by bin, in one reliability diagram? One line each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.inference.missingness import ROWS_WITH_ONE, missing_caveat
from calib_core.inference.multiplicity import benjamini_hochberg
from calib_core.inference.verdict import (
    Verdict,
    VerdictKind,
    count_verdicts,
    counted_kind,
    uncounted_note,
    verdict_phrase,
)
from calib_core.methods import METHODS
from calib_core.metrics import DEFAULT_METRIC, METRICS
from calib_core.metrics.metric import Direction, Metric
from calib_core.results.changes import change_phrase, difference_text, measure_contrast
from calib_core.results.columns import Column, frame_of
from calib_core.results.evidence import Evidence, bins_all_classes, get_metric
from calib_core.results.reliability import Reliability, reliability_diagram
from calib_core.results.run_names import name_with_model, short_run_names
from calib_core.results.score import effective_scheme
from calib_core.runs import RunInfo
from calib_core.terms import Terms, common_terms
from calib_core.wording import both_or_all, format_short, join_names, p_value_phrase

MAX_LINES: Final = 6

TOO_MANY_LINES: Final = f"one diagram shows {MAX_LINES} lines at most; more cannot be told apart."
"""Why a seventh line is not drawn."""

UNEQUAL_ROWS_RATIO: Final = 2
"""A line with this many times as many pairs as another is pointed out."""


@dataclass(frozen=True, slots=True, eq=False)
class ReliabilityLine:
    """One run seen by one method, as a line of the diagram.

    Attributes
    ----------
    key : str
        As passed to `reliability_lines`.
    run : str
        Full name of the run.
    method : str
        The method's id.
    result : Reliability
        Its diagram, with its own bins.
    verdict : Verdict or None
        The verdict on this run and method; None where the line pools every label, which it does not judge.
    pooling_text : str
        What a pair is.
    recipe : str
        How the number was made.
    """

    key: str
    run: str
    method: str
    result: Reliability
    verdict: Verdict | None
    pooling_text: str
    recipe: str


@dataclass(frozen=True, slots=True, eq=False)
class ReliabilityLines:
    """At most `MAX_LINES` lines, of one metric and one binning scheme.

    Attributes
    ----------
    metric : str
        Its id.
    scheme : Scheme
    lines : tuple[ReliabilityLine, ...]
        In the order of the evidences.
    labels : Mapping[str, str]
        Key → short label that distinguishes the line.
    shared_label : str
        The run or method that all lines share, "" where they share neither.
    unavailable : Mapping[str, str]
        Key → why it has no line.
    headline : str
        The lines in one or two sentences.
    caveats : tuple[str, ...]
        Sentences on differences between the lines that limit the comparison.
    difference_sentence : str
        How far two lines differ on the questions that both have; "" unless there are two.
    """

    metric: str
    scheme: Scheme
    lines: tuple[ReliabilityLine, ...]
    labels: Mapping[str, str]
    shared_label: str
    unavailable: Mapping[str, str]
    headline: str
    caveats: tuple[str, ...]
    difference_sentence: str = ""

    @property
    def terms(self) -> Terms:
        """The words for the probabilities and outcomes of all lines."""
        return common_terms(METHODS[line.method].terms for line in self.lines)

    @property
    def recipe(self) -> str:
        """The recipe all lines share, number of rows included, or otherwise one recipe a line."""
        recipes = {line.key: line.recipe for line in self.lines}
        if len(set(recipes.values())) == 1:
            return next(iter(recipes.values()))
        return "; ".join(f"{self.labels[key]}: {recipe}" for key, recipe in recipes.items())

    def to_frame(self) -> pl.DataFrame:
        """The numbers behind the diagram: one row for each line and non-empty bin, as in `Reliability`."""
        frames = [
            line.result.to_frame().with_columns(run=pl.lit(line.run), recipe=pl.lit(line.recipe))
            for line in self.lines
        ]
        return pl.concat(frames) if frames else pl.DataFrame()

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the table of lines; where it has the metric's number anyway, it has it once."""
        terms = self.terms
        metric, brier, accuracy = (METRICS[id_].worded(terms) for id_ in (self.metric, "brier", "accuracy"))
        has_own = self.metric in ("brier", "accuracy")
        return (
            Column("run"),
            Column("method"),
            Column("metric"),
            Column("value", "" if has_own else metric.title, "number", metric.help),
            Column(
                "p",
                "p",
                "p",
                "Probability of a value at least this large from a perfectly calibrated model.",
                draws="draws",
            ),
            Column("brier", brier.title, "number", brier.help),
            Column("accuracy", terms.accuracy_title, "share", accuracy.help),
            Column("mean_confidence", f"Mean {terms.confidence}", "share"),
            Column("bins", kind="count"),
            Column("thin", kind="count"),
            Column("n_used", "Rows used", "count"),
            Column("n_total", "Rows", "count"),
            Column("judged", "Judged"),
            Column("reading", "Verdict"),
            Column("remarks", "Remarks"),
            Column("recipe", "Recipe"),
            Column("draws", kind="count"),
        )

    def summary(self) -> pl.DataFrame:
        """One row for each line: the metric with its p-value, Brier score, accuracy, rows, recipe."""
        return frame_of(self.columns, map(_summary_row, self.lines))


def reliability_lines(
    evidences: Mapping[str, Evidence],
    metric_id: str = DEFAULT_METRIC,
    scheme: Scheme | None = None,
    *,
    titles: Mapping[str, str] | None = None,
) -> ReliabilityLines:
    """One line for each evidence, all by the same metric and bins.

    Parameters
    ----------
    evidences : Mapping[str, Evidence]
        Key → one run as seen by one method.
    metric_id : str
    scheme : Scheme, optional
        Ten bins of equal width where omitted.
    titles : Mapping[str, str], optional
        Key → full name of the run; its label where omitted.

    Returns
    -------
    ReliabilityLines
        An evidence that does not support the metric, or exceeds `MAX_LINES`, is in `unavailable`.

    Raises
    ------
    Unavailable
        For an unknown metric.
    """
    metric = get_metric(metric_id).worded(common_terms(one.terms for one in evidences.values()))
    scheme = effective_scheme(metric, scheme or Scheme())
    names = titles or {key: evidence.run.label for key, evidence in evidences.items()}
    lines: list[ReliabilityLine] = []
    unavailable: dict[str, str] = {}
    for key, evidence in evidences.items():
        if len(lines) == MAX_LINES:
            unavailable[key] = TOO_MANY_LINES
            continue
        try:
            lines.append(_reliability_line(key, names[key], evidence, metric_id, scheme))
        except Unavailable as reason:
            unavailable[key] = str(reason)
    infos = {line.key: evidences[line.key].run.info for line in lines}
    short_names = _line_run_names(lines, infos)
    labels, shared = line_labels(lines, short_names)
    sentence_labels, _ = line_labels(
        lines,
        {key: name_with_model(name, infos[key]) for key, name in short_names.items()},
        in_sentence=True,
    )
    return ReliabilityLines(
        metric=metric_id,
        scheme=scheme,
        lines=tuple(lines),
        labels=labels,
        shared_label=shared,
        unavailable=unavailable,
        headline=lines_headline(lines, sentence_labels, metric),
        caveats=line_caveats(lines, sentence_labels, infos, metric),
        difference_sentence=_difference_sentence(lines, sentence_labels, evidences, metric, scheme),
    )


def line_labels(
    lines: Sequence[ReliabilityLine], names: Mapping[str, str], *, in_sentence: bool = False
) -> tuple[dict[str, str], str]:
    """What distinguishes each line, and what all of them share.

    Parameters
    ----------
    lines : sequence of ReliabilityLine
    names : Mapping[str, str]
        Key → short name of the run.
    in_sentence : bool
        Whether the labels stand within sentences, where a method has no capital.

    Returns
    -------
    labels : dict[str, str]
        Key → run, method or both, whichever differs; both for a single line. Equal labels get the key added.
    shared : str
        The run or method that all lines share, "" where they share neither.
    """
    labels, common = _labels_and_common(lines, names, in_sentence=in_sentence)
    n_uses = Counter(labels.values())
    return {key: name if n_uses[name] == 1 else f"{name} ({key})" for key, name in labels.items()}, common


def _labels_and_common(
    lines: Sequence[ReliabilityLine], names: Mapping[str, str], *, in_sentence: bool
) -> tuple[dict[str, str], str]:
    runs = {line.run for line in lines}
    methods = {line.method for line in lines}
    if len(lines) > 1 and len(runs) == 1:
        named = {line.key: METHODS[line.method] for line in lines}
        return {key: by.title if in_sentence else by.heading for key, by in named.items()}, lines[0].run
    if len(lines) > 1 and len(methods) == 1:
        return {line.key: names[line.key] for line in lines}, METHODS[lines[0].method].title
    return {line.key: f"{names[line.key]} · {METHODS[line.method].short_title}" for line in lines}, ""


def _line_run_names(result_lines: list[ReliabilityLine], infos: Mapping[str, RunInfo]) -> dict[str, str]:
    """Key → short name of the run, which does not depend on the method."""
    infos_by_run = {line.run: infos[line.key] for line in result_lines}
    names = short_run_names(infos_by_run, {title: title for title in infos_by_run})
    return {line.key: names[line.run] for line in result_lines}


def _reliability_line(
    key: str, title: str, evidence: Evidence, metric_id: str, scheme: Scheme
) -> ReliabilityLine:
    """One line; raises Unavailable where the evidence lacks the metric or the bins."""
    metric = get_metric(metric_id)
    result = reliability_diagram(evidence, metric_id, scheme)
    dependent = bins_all_classes(metric) or evidence.options.labels == "all"
    return ReliabilityLine(
        key=key,
        run=title,
        method=evidence.method.id,
        result=result,
        verdict=None if dependent else evidence.verdict,
        pooling_text=_pooling_text(evidence, dependent=dependent, all_classes=bins_all_classes(metric)),
        recipe=result.score.recipe if metric.binned else result.recipe,
    )


def _pooling_text(evidence: Evidence, *, dependent: bool, all_classes: bool) -> str:
    """ "one pair per question", "a pair for every class of a position of a text (all classes, K=27)"."""
    unit = "question" if evidence.unit == "rows" else "position of a text"
    if not dependent:
        return f"one pair per {unit}"
    return f"a pair for every class of a {unit} ({evidence.labels_text(all_classes=all_classes)})"


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
        "draws": score.draws,
    }


# --- The lines in words ---------------------------------------------------------------------------


_EXTREME_WORDS: Final[Mapping[Direction, tuple[str, str]]] = {
    "lower": ("Lowest {}", "highest"),
    "higher": ("Highest {}", "lowest"),
    "zero": ("{} nearest to 0", "farthest from it"),
}
"""Direction of a metric → words for its better and its worse end."""


def lines_headline(lines: Sequence[ReliabilityLine], labels: Mapping[str, str], metric: Metric) -> str:
    """The best and the worst value, and how many lines are over- or under-confident.

    Parameters
    ----------
    lines : sequence of ReliabilityLine
    labels : Mapping[str, str]
        Key → label of the line.
    metric : Metric
    """
    if not lines:
        return "None of the chosen runs can be drawn."
    if len(lines) == 1:
        return _single_line_headline(labels[lines[0].key], lines[0].result.headline)
    return " ".join(
        text for text in (_extremes_sentence(lines, labels, metric), _verdicts_sentence(lines)) if text
    )


def _difference_sentence(
    lines: Sequence[ReliabilityLine],
    labels: Mapping[str, str],
    evidences: Mapping[str, Evidence],
    metric: Metric,
    scheme: Scheme,
) -> str:
    """The paired difference of the metric between two lines, and what may be claimed of it."""
    if len(lines) != 2:
        return ""
    first, second = (line.key for line in lines)
    contrast = measure_contrast(
        labels[first],
        labels[second],
        [(first, second)],
        [(evidences[first], evidences[second])],
        metric.id,
        scheme,
    )
    difference, terms = contrast.difference, evidences[first].terms
    if difference is None:
        return f"{metric.title} {terms.question} by {terms.question}: {change_phrase(contrast)}"
    verdict = change_phrase(contrast)
    if contrast.is_clear:
        verdict = f"{labels[second]} is {verdict}"
    p = p_value_phrase(contrast.p, difference.n_draws or None)
    parts = (difference_text(difference, terms), p, verdict)
    return (
        f"{metric.title} of {labels[second]} minus that of {labels[first]}: {', '.join(filter(None, parts))}."
    )


def _single_line_headline(label: str, reading: str) -> str:
    """The diagram's headline after the label: "A: over-confident, states 75.0 % on average and …"."""
    said = f"{label}: {reading[0].lower()}{reading[1:]}"
    return said.replace(": states ", ", states ").replace(": gives yes ", ", gives yes ")


def _extremes_sentence(lines: Sequence[ReliabilityLine], labels: Mapping[str, str], metric: Metric) -> str:
    all_values = {line.key: line.result.score.value for line in lines}
    values = {key: value for key, value in all_values.items() if value is not None and math.isfinite(value)}
    if not values:
        return f"{metric.title} is not known for any of the {len(lines)} lines."
    missing_note = ""
    if n_missing := len(lines) - len(values):
        missing_note = f" The value is unknown or infinite for {n_missing} of the {len(lines)} lines."
    value_texts = {key: format_short(value) for key, value in values.items()}
    if len(set(value_texts.values())) == 1:
        return (
            f"{_same_value_opening(values, labels, metric, len(lines))} "
            f"{next(iter(value_texts.values()))}.{missing_note}"
        )
    distance = {
        key: -value if metric.direction == "higher" else abs(value) if metric.direction == "zero" else value
        for key, value in values.items()
    }
    best, worst = min(distance, key=distance.__getitem__), max(distance, key=distance.__getitem__)
    best_phrase, worst_word = _EXTREME_WORDS[metric.direction]
    opening = best_phrase.format(metric.title_in_sentence)
    return (
        f"{opening[0].upper()}{opening[1:]}: {_labels_with_value(best, value_texts, labels)}, "
        f"{value_texts[best]}; {worst_word}: {_labels_with_value(worst, value_texts, labels)}, "
        f"{value_texts[worst]}.{missing_note}"
    )


def _same_value_opening(
    values: Mapping[str, float], labels: Mapping[str, str], metric: Metric, n_lines: int
) -> str:
    """The beginning of a sentence on lines that share one value."""
    if len(values) == 1:
        return f"{labels[next(iter(values))]}: {metric.title}"
    count = both_or_all(n_lines).capitalize() if len(values) == n_lines else str(len(values))
    return f"{count} lines have the same {metric.title_in_sentence},"


def _labels_with_value(key: str, value_texts: Mapping[str, str], labels: Mapping[str, str]) -> str:
    """The label of the line, joined with those of other lines of the same shown value."""
    return join_names([labels[other] for other, text in value_texts.items() if text == value_texts[key]])


def _verdicts_sentence(lines: Sequence[ReliabilityLine]) -> str:
    """How many lines are over-confident, under-confident …, counted by the q-values of their verdicts."""
    judged = [line.verdict for line in lines if line.verdict is not None]
    q_values = benjamini_hochberg([verdict.p for verdict in judged])
    verdicts: list[VerdictKind] = [
        counted_kind(verdict, q) for verdict, q in zip(judged, q_values, strict=True)
    ]
    if not verdicts:
        return ""
    uncounted = uncounted_note(zip(judged, q_values, strict=True), "line")
    if len(set(verdicts)) == 1 and len(verdicts) == len(lines):
        same = f"{both_or_all(len(verdicts)).capitalize()} {verdict_phrase(verdicts[0], len(verdicts))}."
        return f"{same} {uncounted}".rstrip()
    restriction = "" if len(verdicts) == len(lines) else " that pool one pair per row or position"
    counts = f"Of the {len(verdicts)} lines{restriction}, {count_verdicts(verdicts)}. {uncounted}"
    return counts.rstrip() if len(verdicts) > 1 else ""


def line_caveats(
    lines: Sequence[ReliabilityLine], labels: Mapping[str, str], infos: Mapping[str, RunInfo], metric: Metric
) -> tuple[str, ...]:
    """Differences between the lines other than run and method, as sentences."""
    missing = ((f"in {labels[line.key]}", line.result.score.missing) for line in lines)
    caveats = [caveat] if (caveat := missing_caveat(missing, ROWS_WITH_ONE)) else []
    judged_answers = _keys_by_value({line.key: line.result.judged for line in lines})
    if len(judged_answers) > 1:
        caveats.append(f"The lines are judged by different outcomes: {_groups_text(judged_answers, labels)}.")
    datasets = _keys_by_value({line.key: infos[line.key].dataset or "not named" for line in lines})
    if len(datasets) > 1:
        caveats.append(
            f"The lines come from {len(datasets)} data sets with different questions: "
            f"{_groups_text(datasets, labels)}."
        )
    pooling = _keys_by_value({line.key: line.pooling_text for line in lines})
    if len(pooling) > 1:
        caveats.append(f"The lines pool different pairs: {_groups_text(pooling, labels)}.")
    row_counts = sorted(line.result.score.n_used for line in lines)
    if row_counts and row_counts[-1] >= UNEQUAL_ROWS_RATIO * max(row_counts[0], 1):
        bias_note = (
            f"; with fewer rows, {metric.title} is larger by chance"
            if (metric.binned and metric.direction == "lower")
            else ""
        )
        caveats.append(
            f"The lines have {row_counts[0]:,} to {row_counts[-1]:,} rows or positions{bias_note}."
        )
    return tuple(caveats)


def _keys_by_value(values: Mapping[str, str]) -> dict[str, list[str]]:
    """Value → the keys that have it, in order."""
    keys_by_value: dict[str, list[str]] = {}
    for key, value in values.items():
        keys_by_value.setdefault(value, []).append(key)
    return keys_by_value


def _groups_text(keys_by_value: Mapping[str, Sequence[str]], labels: Mapping[str, str]) -> str:
    """ "greedy answer (A, B); majority answer (C)"."""
    return "; ".join(
        f"{value} ({' / '.join(labels[key] for key in keys)})" for value, keys in keys_by_value.items()
    )
