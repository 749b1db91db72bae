"""Which subjects, shots, sizes, tunings are off?  One block a data set that something sorts into groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from calib_core.analysis.evidence import AnswerEvidence
from calib_core.analysis.families import short_names
from calib_core.analysis.groupings import Grouping, groupings, level_order
from calib_core.analysis.groups import Group, Groups, by_rows, by_runs
from calib_core.analysis.intervals import coverage
from calib_core.analysis.limits import FEW
from calib_core.confidence import METHODS
from calib_core.figures.dots import describe_dots, dots_figure
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable, shorten
from calib_core.report.group_panels import first, heading, panels
from calib_core.report.parts import Block, Drawn, Progress, Section, Table, Tile
from calib_core.report.subject import RunHere, Subject, by_dataset, most_given
from calib_core.wording import NOTHING, count, number, p_value, percent, signed, span

ID, TITLE, QUESTION = "groups", "Groups", "Which subjects, shots, sizes, tunings are off?"

MOST_SERIES: Final = 4
"""So many runs are told apart in one row of the figure."""
TOO_MANY: Final = "more cannot be told apart in one row."
NOTHING_SORTS: Final = (
    "Nothing sorts these runs into groups. Groups come from a column of the file (“subject”, or any column "
    "of 2 to 100 different texts, whole numbers or booleans), or from what several runs say of themselves "
    "(“shots”, “params_b”, “tuning”, “model”): choose more runs, or give such a column."
)
FEW_ROWS: Final = "A binned number of few rows is larger by chance alone"
STROKE: Final = ": look at how far a dot is from its stroke, the number if the confidences were exactly right"
PAIRED: Final = "Paired differences, everything else equal, on the same questions"


def section(subject: Subject, tell: Progress) -> Section:
    """The groups of every data set, by the method that most of its runs give. Raises Unavailable without."""
    sets = by_dataset(subject.answers)
    blocks: list[Block] = []
    for at, (dataset, runs) in enumerate(sets.items()):
        block = _block(
            subject, dataset, runs, lambda share, text, at=at: tell((at + share) / len(sets), text)
        )
        blocks += [block] if block else []
    if not blocks:
        raise Unavailable(NOTHING_SORTS)
    return Section(ID, TITLE, QUESTION, tuple(blocks))


def _block(subject: Subject, dataset: str | None, runs: Sequence[RunHere], tell: Progress) -> Block | None:
    """None where nothing sorts these runs, or none of them gives the number."""
    method = most_given(runs, subject.asked.methods)
    if method is None:
        return None
    keyed = {str(at): run for at, run in enumerate(runs) if method in run.usable}
    seen: dict[str, AnswerEvidence] = {}
    for key, run in keyed.items():
        evidence = subject.evidence(run, method)
        if isinstance(evidence, AnswerEvidence):
            seen[key] = evidence
    ways = groupings({key: evidence.run for key, evidence in seen.items()})
    if not ways:
        return None
    grouping, *others = ways.values()
    shown = dict(list(seen.items())[:MOST_SERIES]) if grouping.of == "rows" else seen
    def told(share: float) -> None:
        tell(min(share, 1.0), dataset or "")

    result = _computed(subject, shown, grouping, told)
    if not result.groups:
        return None
    said = (several_told(len(shown), len(seen)), others_told(others))
    title = " · ".join(part for part in (dataset, f"by {grouping.title}") if part)
    block = _of((title, METHODS[method].title), shown, result, keyed, said)
    names = short_names(
        {key: one.run.info for key, one in shown.items()}, {key: keyed[key].title for key in shown}
    )
    small = panels(shown, result, names, subject.asked)
    return replace(block, panels=small, panelled=heading(result, first(result, len(shown))))


def _computed(
    subject: Subject, seen: Mapping[str, AnswerEvidence], grouping: Grouping, tell: Callable[[float], None]
) -> Groups:
    asked = subject.asked
    if grouping.of == "rows":
        return by_rows(seen, grouping, asked.metric, asked.scheme, progress=tell)
    against = next(iter(levels_against(seen, grouping)), None)
    return by_runs(seen, grouping, asked.metric, asked.scheme, against=against, progress=tell)


def _of(
    titled: tuple[str, str], seen: Mapping[str, AnswerEvidence], result: Groups, runs: Mapping[str, RunHere],
    said: Sequence[str],
) -> Block:
    differing = difference_rows(result)
    places = {key: run.place for key, run in runs.items()} if result.grouping.of == "rows" else None
    return Block(
        title=titled[0],
        by=titled[1],
        reading=result.reading,
        tiles=tuple(tiles(seen, result)),
        recipes=(result.recipe,),
        figures=(Drawn.of(lambda theme: dots_figure(result, theme, places), describe_dots(result)),),
        tables=(
            *([Table.of(PAIRED, differing)] if differing else []), Table.of("", rows(result)),
        ),
        captions=(caption(result), *((result.chance.words,) if result.chance else ())),
        remarks=(
            *remarks(result, {key: run.title for key, run in runs.items()}), *(text for text in said if text)
        ),
    )


def levels_against(seen: Mapping[str, AnswerEvidence], grouping: Grouping) -> list[str]:
    """The levels of a fact that others can be compared with, the usual one first; [] where there are none."""
    if grouping.of == "rows" or grouping.id == "dataset":
        return []
    levels = level_order({key: evidence.run.info for key, evidence in seen.items()}, grouping.id)
    return levels if len(levels) > 1 else []


def several_told(shown: int, of: int) -> str:
    """That not all runs are drawn, where so."""
    if shown == of:
        return ""
    return f"{shown} of {of} runs are drawn: {TOO_MANY}"


def others_told(others: Sequence[Grouping]) -> str:
    """By what else the page can sort."""
    if not others:
        return ""
    return f"In Calib the page Groups sorts them by {', '.join(one.title for one in others)} as well."


def tiles(seen: Mapping[str, AnswerEvidence], result: Groups) -> list[Tile]:
    """The ends of the range."""
    known = [(group.value, group) for group in result.groups if group.value is not None]
    if not known:
        return []
    metric = METRICS[result.metric]
    least, most = (end(known, key=lambda one: one[0]) for end in (min, max))
    small = sum(group.small for group in result.groups)
    used, total = sum(one.n_used for one in seen.values()), sum(one.n_total for one in seen.values())
    kinds = (len({group.name for group in result.groups}), len(result.series))
    of, inner = ("Groups", "run") if result.grouping.of == "rows" else ("Runs", "group")
    return [
        Tile(
            of, str(kinds[0]), f"Small: of fewer than {FEW} rows, drawn hollow.",
            f"{count(kinds[1], inner)}, {small} small",
        ),
        Tile(f"Lowest {metric.title}", number(least[0]), metric.help, _whose(least[1], result)),
        Tile(f"Highest {metric.title}", number(most[0]), metric.help, _whose(most[1], result)),
        Tile("Rows used / total", f"{used:,} / {total:,}", "Of all runs that are drawn."),
    ]


def _whose(group: Group, result: Groups) -> str:
    """The group's name, and the run's where there are several."""
    more = f", {result.series[group.series]}" if len(result.series) > 1 else ""
    return shorten(f"{group.name}{more}", 60)


def caption(result: Groups) -> str:
    """How the figure is read."""
    how = next((group.how for group in result.groups if group.how), None)
    told = f"Whiskers: {how}. " if how else "No interval is known for this number. "
    if how and "bootstrap" in how:
        told += f"{coverage((result.metric,))} "
    few = sum(group.small for group in result.groups)
    told += f"Hollow: fewer than {FEW} rows ({few} of {len(result.groups)}). "
    if any(value is not None for value in result.overall.values()):
        told += "Dashed: the whole run. "
    if METRICS[result.metric].binned:
        stroked = any(group.null_median is not None for group in result.groups)
        told += f"{FEW_ROWS}{STROKE if stroked else ''}."
    return told.strip()


def remarks(result: Groups, titles: Mapping[str, str]) -> list[str]:
    """Rows in no group, and runs without a dot; titles: of the runs, by key."""
    told = [
        f"{titles[run]}: {rows_:,} used rows are in no group by {result.grouping.title}."
        for run, rows_ in result.without.items()
        if rows_
    ]
    return told + [f"{titles[run]}: {why}" for run, why in result.refused.items()]


def difference_rows(result: Groups) -> list[dict[str, object]]:
    """Each level of a fact against another, on the same questions."""
    return [
        {
            "Difference": f"{one.level} − {one.against}",
            METRICS[result.metric].title: NOTHING if one.difference is None else signed(one.difference.value),
            "95 %": NOTHING if one.difference is None
            else f"{signed(one.difference.low)} to {signed(one.difference.high)}",
            "Questions": NOTHING if one.difference is None else f"{one.difference.questions:,}",
            "Pairs of runs": f"{len(one.pairs):,}",
            "Note": one.why or (one.difference.how if one.difference else ""),
        }
        for one in result.contrasts
    ]


def rows(result: Groups) -> list[dict[str, object]]:
    """One row a group."""
    name, kind = ("Group", "Run") if result.grouping.of == "rows" else ("Run", "Group")
    title = METRICS[result.metric].title
    calibrated = any(one.null_median is not None for one in result.groups)
    return [
        {
            name: group.name,
            **({kind: result.series[group.series]} if len(result.series) > 1 else {}),
            title: number(group.value),
            "95 %": span(group.low, group.high),
            **(
                {"If calibrated": number(group.null_median), "p": p_value(group.p, group.draws)}
                if calibrated
                else {}
            ),
            "Rows used": f"{group.n_used:,}" + (" (few)" if group.small else ""),
            "Accuracy": percent(group.accuracy),
            "Mean confidence": percent(group.mean_confidence),
            "Gap": signed(group.bias),
        }
        for group in result.groups
    ]
