"""What do several reliability lines say together, and what keeps them from being compared?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from calib_core.analysis.lines_result import ReliabilityLine
from calib_core.analysis.tendency import VerdictKind, verdict_phrase, count_verdicts
from calib_core.metrics.metric import Direction, Metric
from calib_core.records import RunInfo
from calib_core.wording import both_or_all, join_names, format_short

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
    return " ".join(text for text in (_extremes_sentence(lines, labels, metric), _verdicts_sentence(lines)) if text)


def _single_line_headline(label: str, reading: str) -> str:
    """"A says 75.0 % …", "5 rows are too few to judge by: A says …"; what says nothing after "A: "."""
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
        return f"{_same_value_opening(values, labels, metric, len(lines))} {next(iter(shown.values()))}.{told}"
    far = {key: -value if metric.direction == "higher" else abs(value) if metric.direction == "zero" else value
           for key, value in values.items()}
    best, worst = min(far, key=far.__getitem__), max(far, key=far.__getitem__)
    first, last = _EXTREME_WORDS[metric.direction]
    opening = first.format(metric.title_in_sentence)
    return (
        f"{opening[0].upper()}{opening[1:]}: {_labels_with_value(best, shown, labels)}, {shown[best]}; "
        f"{last}: {_labels_with_value(worst, shown, labels)}, {shown[worst]}.{told}"
    )


def _same_value_opening(values: Mapping[str, float], labels: Mapping[str, str], metric: Metric, n_lines: int) -> str:
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
        told.append(f"The lines are of {len(datasets)} data sets, so of different questions: "
                    f"{_groups_text(datasets, labels)}.")
    pooled = _keys_by_value({line.key: line.pooling_text for line in lines})
    if len(pooled) > 1:
        told.append(f"What is pooled differs: {_groups_text(pooled, labels)}.")
    counts = sorted(line.result.score.n_used for line in lines)
    if counts and counts[-1] >= UNEQUAL_ROWS_RATIO * max(counts[0], 1):
        chance = f": on fewer, {metric.title} is larger by chance alone" if (
            metric.binned and metric.direction == "lower"
        ) else ""
        told.append(f"The lines stand on {counts[0]:,} to {counts[-1]:,} rows or positions{chance}.")
    return tuple(told)


def _keys_by_value(values: Mapping[str, str]) -> dict[str, list[str]]:
    """Value → the keys that have it, in order."""
    found: dict[str, list[str]] = {}
    for key, value in values.items():
        found.setdefault(value, []).append(key)
    return found


def _groups_text(keys_by_value: Mapping[str, Sequence[str]], labels: Mapping[str, str]) -> str:
    """"greedy answer (A, B); majority answer (C)"."""
    return "; ".join(
        f"{value} ({' / '.join(labels[key] for key in keys)})" for value, keys in keys_by_value.items()
    )
