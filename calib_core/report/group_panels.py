"""How do the groups look one by one?  Small reliability diagrams of the highest, as on the page Groups."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple

from calib_core.analysis.evidence import AnswerEvidence
from calib_core.analysis.groups import Groups, parts_of
from calib_core.analysis.limits import FEW
from calib_core.analysis.reliability import Reliability, reliability
from calib_core.figures.reliability import describe_reliability
from calib_core.figures.small_multiples import small_reliability
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from calib_core.report.parts import Drawn
from calib_core.report.subject import Asked
from calib_core.wording import number

MOST: Final = 6
"""So many diagrams are drawn, and of every run at least one."""


def first(result: Groups, runs: int) -> list[str]:
    """Whose diagrams are drawn where nobody has chosen, each by its `Groups.key`; runs: how many."""
    return result.highest(MOST if result.grouping.of == "runs" else max(1, MOST // runs))


def heading(result: Groups, drawn: Collection[str]) -> str:
    """What stands above the diagrams of these, the `first`."""
    thing = "group" if result.grouping.of == "rows" else "run"
    every = {group.name if thing == "group" else group.run for group in result.groups}
    if len(every) > 1 and every == set(drawn):
        return f"Reliability diagrams of every {thing}"
    many = f"{len(drawn)} {thing}s" if len(drawn) > 1 else thing
    few = any(group.small for group in result.groups)
    rows = f", of {FEW} rows or more" if few and thing == "group" else ""
    return f"Reliability diagrams of the {many} of highest {METRICS[result.metric].title}{rows}"


class Part(NamedTuple):
    """What one diagram shows. key: as in `Groups.key`; run: its name where there are several, else ""."""

    key: str
    name: str
    run: str
    evidence: AnswerEvidence


def parts(
    seen: Mapping[str, AnswerEvidence], result: Groups, titles: Mapping[str, str], chosen: Collection[str]
) -> Iterator[Part]:
    """Each chosen diagram, in the order of the groups, runs together; titles: of the runs, by key."""
    if result.grouping.of == "runs":
        keys = [group.run for group in result.groups if group.run in chosen]
        yield from (Part(key, titles[key], "", seen[key]) for key in keys)
        return
    sorted_ = {key: parts_of(evidence, result.grouping) for key, evidence in seen.items()}
    for name in dict.fromkeys(group.name for group in result.groups if group.name in chosen):
        for key, own in sorted_.items():
            if name in own:
                yield Part(name, name, titles[key] if len(seen) > 1 else "", own[name])


def panels(
    seen: Mapping[str, AnswerEvidence], result: Groups, titles: Mapping[str, str], asked: Asked
) -> tuple[Drawn, ...]:
    """A diagram of each of the first groups and each run; arguments as in `parts`."""
    found: list[Drawn] = []
    for part in parts(seen, result, titles, first(result, len(seen))):
        try:
            found.append(_drawn(part, reliability(part.evidence, asked.metric, asked.scheme)))
        except Unavailable:
            continue
    return tuple(found)


def note(result: Reliability) -> str:
    """What stands below a diagram's name: its number, on how many rows."""
    few = f", fewer than {FEW}" if result.score.n_used < FEW else ""
    value = f"{METRICS[result.score.metric].title} {number(result.score.value)}"
    return f"{value}, n = {result.score.n_used:,}{few}"


def _drawn(part: Part, result: Reliability) -> Drawn:
    return Drawn.of(
        lambda theme: small_reliability(result, theme), describe_reliability(result),
        part.name, note=f"{part.run}: {note(result)}" if part.run else note(result),
    )
