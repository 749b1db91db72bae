"""How do the groups look one by one?  Small reliability diagrams of the largest, as on the page Groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from calib_core.analysis.evidence import AnswerEvidence
from calib_core.analysis.groupings import Grouping
from calib_core.analysis.groups import parts_of
from calib_core.analysis.reliability import THIN, Reliability, reliability
from calib_core.figures.reliability import describe_reliability
from calib_core.figures.small_multiples import small_reliability
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from calib_core.report.parts import Drawn
from calib_core.report.subject import Asked
from calib_core.wording import number

MOST: Final = 6
"""So many diagrams are drawn, and of every run at least one."""


def panels(
    seen: Mapping[str, AnswerEvidence], grouping: Grouping, titles: Mapping[str, str], asked: Asked
) -> tuple[Drawn, ...]:
    """A diagram a run and group; where runs are what is sorted, one a run. titles: of the runs, by key."""
    found: list[Drawn] = []
    for title, part in _parts(seen, grouping, titles):
        try:
            result = reliability(part, asked.metric, asked.scheme)
        except Unavailable:
            continue
        found.append(_drawn(title, result))
    return tuple(found)


def _parts(
    seen: Mapping[str, AnswerEvidence], grouping: Grouping, titles: Mapping[str, str]
) -> Iterator[tuple[str, AnswerEvidence]]:
    if grouping.of == "runs":
        yield from ((titles[key], evidence) for key, evidence in list(seen.items())[:MOST])
        return
    sorted_ = {key: parts_of(evidence, grouping) for key, evidence in seen.items()}
    rows = Counter[str]()
    for parts in sorted_.values():
        rows.update({name: part.n_total for name, part in parts.items()})
    names = sorted(sorted(rows, key=str.casefold), key=lambda name: -rows[name])
    for key, parts in sorted_.items():
        of = f" · {titles[key]}" if len(seen) > 1 else ""
        yield from (
            (f"{name}{of}", parts[name]) for name in names[: max(1, MOST // len(seen))] if name in parts
        )


def _drawn(title: str, result: Reliability) -> Drawn:
    few = f", fewer than {THIN}" if result.score.n_used < THIN else ""
    value = f"{METRICS[result.score.metric].title} {number(result.score.value)}"
    return Drawn.of(
        lambda theme: small_reliability(result, theme), describe_reliability(result),
        title, note=f"{value}, n = {result.score.n_used:,}{few}",
    )
