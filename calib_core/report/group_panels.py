"""How do the groups look one by one?  Small reliability diagrams of the highest, as on the page Groups."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple

from calib_core.analysis.evidence import AnswerEvidence
from calib_core.analysis.groups import GroupResults, split_by_group
from calib_core.analysis.limits import MIN_ROWS
from calib_core.analysis.reliability import Reliability, reliability_diagram
from calib_core.figures.reliability import describe_reliability
from calib_core.figures.small_multiples import small_reliability_figure
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from calib_core.report.parts import ReportFigure
from calib_core.report.subject import ReportSettings
from calib_core.wording import format_number

MAX_SMALL_DIAGRAMS: Final = 6
"""So many diagrams are drawn, and of every run at least one."""


def default_diagram_keys(result: GroupResults, n_runs: int) -> list[str]:
    """Whose diagrams are drawn where nobody has chosen, each by its `Groups.key`; runs: how many."""
    return result.highest_groups(MAX_SMALL_DIAGRAMS if result.group_by.target == "runs" else max(1, MAX_SMALL_DIAGRAMS // n_runs))


def diagrams_heading(result: GroupResults, keys: Collection[str]) -> str:
    """What stands above the diagrams of these, the `first`."""
    thing = "group" if result.group_by.target == "rows" else "run"
    every = {group.name if thing == "group" else group.run for group in result.groups}
    if len(every) > 1 and every == set(keys):
        return f"Reliability diagrams of every {thing}"
    many = f"{len(keys)} {thing}s" if len(keys) > 1 else thing
    few = any(group.small for group in result.groups)
    rows = f", of {MIN_ROWS} rows or more" if few and thing == "group" else ""
    return f"Reliability diagrams of the {many} of highest {METRICS[result.metric].title}{rows}"


class GroupEvidence(NamedTuple):
    """What one diagram shows. key: as in `Groups.key`; run: its name where there are several, else ""."""

    key: str
    name: str
    run: str
    evidence: AnswerEvidence


def group_evidences(
    evidences: Mapping[str, AnswerEvidence], result: GroupResults, titles: Mapping[str, str], selected: Collection[str]
) -> Iterator[GroupEvidence]:
    """Each chosen diagram, in the order of the groups, runs together; titles: of the runs, by key."""
    if result.group_by.target == "runs":
        keys = [group.run for group in result.groups if group.run in selected]
        yield from (GroupEvidence(key, titles[key], "", evidences[key]) for key in keys)
        return
    sorted_ = {key: split_by_group(evidence, result.group_by) for key, evidence in evidences.items()}
    for name in dict.fromkeys(group.name for group in result.groups if group.name in selected):
        for key, own in sorted_.items():
            if name in own:
                yield GroupEvidence(name, name, titles[key] if len(evidences) > 1 else "", own[name])


def group_diagrams(
    evidences: Mapping[str, AnswerEvidence], result: GroupResults, titles: Mapping[str, str], settings: ReportSettings
) -> tuple[ReportFigure, ...]:
    """A diagram of each of the first groups and each run; arguments as in `parts`."""
    found: list[ReportFigure] = []
    for part in group_evidences(evidences, result, titles, default_diagram_keys(result, len(evidences))):
        try:
            found.append(_diagram_figure(part, reliability_diagram(part.evidence, settings.metric, settings.scheme)))
        except Unavailable:
            continue
    return tuple(found)


def diagram_note(result: Reliability) -> str:
    """What stands below a diagram's name: its number, on how many rows."""
    few = f", fewer than {MIN_ROWS}" if result.score.n_used < MIN_ROWS else ""
    value = f"{METRICS[result.score.metric].title} {format_number(result.score.value)}"
    return f"{value}, n = {result.score.n_used:,}{few}"


def _diagram_figure(group: GroupEvidence, result: Reliability) -> ReportFigure:
    return ReportFigure.from_drawing(
        lambda theme: small_reliability_figure(result, theme), describe_reliability(result),
        group.name, note=f"{group.run}: {diagram_note(result)}" if group.run else diagram_note(result),
    )
