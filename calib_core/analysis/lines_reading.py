"""What do several reliability lines say together, and what keeps them from being compared?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from calib_core.analysis.lines_result import Line
from calib_core.analysis.tendency import Kind, being, counted
from calib_core.metrics.metric import Better, Metric
from calib_core.records import RunInfo
from calib_core.wording import every, listed, short

_ENDS: Final[Mapping[Better, tuple[str, str]]] = {
    "lower": ("Lowest {}", "highest"),
    "higher": ("Highest {}", "lowest"),
    "zero": ("{} nearest to 0", "farthest from it"),
}
"""What the better and the worse end of a metric are called."""

APART: Final = 2
"""So many times as many pairs, and a difference of numbers of pairs is spoken of."""


def read_lines(lines: Sequence[Line], labels: Mapping[str, str], metric: Metric) -> str:
    """The best and the worst number, and how many lines say more than they are right.

    labels: key → what the line is called.
    """
    if not lines:
        return "None of the chosen lines can be drawn."
    if len(lines) == 1:
        return _of_one(labels[lines[0].key], lines[0].result.reading)
    return " ".join(text for text in (_ends(lines, labels, metric), _leanings(lines)) if text)


def _of_one(label: str, reading: str) -> str:
    """"A says 75.0 % …", "5 rows are too few to judge by: A says …"; what says nothing after "A: "."""
    before, says, rest = reading.replace("Says ", "says ", 1).partition("says ")
    return f"{before}{label} {says}{rest}" if says else f"{label}: {reading}"


def _ends(lines: Sequence[Line], labels: Mapping[str, str], metric: Metric) -> str:
    known = {line.key: line.result.score.value for line in lines}
    values = {key: value for key, value in known.items() if value is not None and math.isfinite(value)}
    if not values:
        return f"{metric.title} is not known for any of the {len(lines)} lines."
    told = ""
    if lacking := len(lines) - len(values):
        told = f" It is not known, or infinite, for {lacking} of the {len(lines)}."
    shown = {key: short(value) for key, value in values.items()}
    if len(set(shown.values())) == 1:
        return f"{_alike(values, labels, metric, len(lines))} {next(iter(shown.values()))}.{told}"
    far = {key: -value if metric.better == "higher" else abs(value) if metric.better == "zero" else value
           for key, value in values.items()}
    best, worst = min(far, key=far.__getitem__), max(far, key=far.__getitem__)
    first, last = _ENDS[metric.better]
    opening = first.format(metric.in_sentence)
    return (
        f"{opening[0].upper()}{opening[1:]}: {_whose(best, shown, labels)}, {shown[best]}; "
        f"{last}: {_whose(worst, shown, labels)}, {shown[worst]}.{told}"
    )


def _alike(values: Mapping[str, float], labels: Mapping[str, str], metric: Metric, lines: int) -> str:
    """The beginning of a sentence on lines that have one number."""
    if len(values) == 1:
        return f"{labels[next(iter(values))]}: {metric.title}"
    which = every(lines).capitalize() if len(values) == lines else str(len(values))
    return f"{which} lines have the same {metric.in_sentence},"


def _whose(key: str, shown: Mapping[str, str], labels: Mapping[str, str]) -> str:
    """The line's label, and those of others with the very same number."""
    return listed([labels[other] for other, number in shown.items() if number == shown[key]])


def _leanings(lines: Sequence[Line]) -> str:
    """How many lines are over-confident, how many under-confident, how many neither."""
    leans: list[Kind] = [line.leans for line in lines if line.leans is not None]
    if not leans:
        return ""
    if len(set(leans)) == 1 and len(leans) == len(lines):
        return f"{every(len(leans)).capitalize()} {being(leans[0], len(leans))}."
    of = "" if len(leans) == len(lines) else " that pool one pair a row or position"
    return f"Of the {len(leans)} lines{of}, {counted(leans)}." if len(leans) > 1 else ""


def unlike(
    lines: Sequence[Line], labels: Mapping[str, str], infos: Mapping[str, RunInfo], metric: Metric
) -> tuple[str, ...]:
    """What differs between the lines besides run and method, each a sentence."""
    told: list[str] = []
    judged = _by({line.key: line.result.judged for line in lines})
    if len(judged) > 1:
        told.append(f"The lines judge different answers: {_groups(judged, labels)}.")
    datasets = _by({line.key: infos[line.key].dataset or "not named" for line in lines})
    if len(datasets) > 1:
        told.append(f"The lines are of {len(datasets)} data sets, so of different questions: "
                    f"{_groups(datasets, labels)}.")
    pooled = _by({line.key: line.pooled for line in lines})
    if len(pooled) > 1:
        told.append(f"What is pooled differs: {_groups(pooled, labels)}.")
    counts = sorted(line.result.score.n_used for line in lines)
    if counts and counts[-1] >= APART * max(counts[0], 1):
        chance = f": on fewer, {metric.title} is larger by chance alone" if (
            metric.binned and metric.better == "lower"
        ) else ""
        told.append(f"The lines stand on {counts[0]:,} to {counts[-1]:,} rows or positions{chance}.")
    return tuple(told)


def _by(values: Mapping[str, str]) -> dict[str, list[str]]:
    """Value → the keys that have it, in order."""
    found: dict[str, list[str]] = {}
    for key, value in values.items():
        found.setdefault(value, []).append(key)
    return found


def _groups(found: Mapping[str, Sequence[str]], labels: Mapping[str, str]) -> str:
    """"greedy answer (A, B); majority answer (C)"."""
    return "; ".join(
        f"{value} ({' / '.join(labels[key] for key in keys)})" for value, keys in found.items()
    )
