"""What is one line of a diagram with several, and what tells it from the others?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calib_core.analysis.reliability import Reliability
from calib_core.analysis.tendency import VerdictKind
from calib_core.confidence import METHODS


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


def _labels_and_common(lines: Sequence[ReliabilityLine], names: Mapping[str, str]) -> tuple[dict[str, str], str]:
    runs = {line.run for line in lines}
    methods = {line.method for line in lines}
    if len(lines) > 1 and len(runs) == 1:
        return {line.key: METHODS[line.method].title for line in lines}, lines[0].run
    if len(lines) > 1 and len(methods) == 1:
        return {line.key: names[line.key] for line in lines}, METHODS[lines[0].method].title
    return {line.key: f"{names[line.key]} · {METHODS[line.method].short_title}" for line in lines}, ""
