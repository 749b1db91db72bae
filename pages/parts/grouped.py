"""What does the page Groups show?  Dots, paired differences, the table, small reliability diagrams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import polars as pl
import streamlit as st

from calib_core.analysis.evidence import AnswerEvidence
from calib_core.analysis.groups import Groups, by_rows, by_runs, parts_of
from calib_core.analysis.looking import Looking, bins_of, looking
from calib_core.analysis.reliability import THIN, Reliability, reliability
from calib_core.figures.dots import describe_dots, dots_figure
from calib_core.figures.reliability import describe_reliability
from calib_core.figures.small_multiples import small_reliability
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from calib_core.report.sections import groups as section
from calib_core.wording import count
from pages.parts import cache, show, tables
from pages.parts.exporting import Export, few, named
from pages.parts.grouping import MOST_PANELS, Choice
from pages.parts.literal import literal
from pages.parts.many import names_of

_DRAWING: Final = "Drawing the intervals …"


def result_of(choice: Choice) -> Groups:
    """The numbers of the groups, computed once, in the order wanted."""
    titles = {run.id: run.title for run in choice.many.runs}

    def compute() -> Groups:
        bar = st.progress(0.0, _DRAWING)
        what = (choice.seen, choice.grouping, choice.metric, choice.scheme)

        def tell(share: float) -> None:
            bar.progress(min(1.0, share), _DRAWING)

        if choice.grouping.of == "rows":
            result = by_rows(*what, titles=titles, progress=tell)
        else:
            result = by_runs(*what, titles=titles, against=choice.against, progress=tell)
        bar.empty()
        return result

    return cache.kept(("groups", *choice.key(), choice.against), compute).sorted(choice.sort)


def verdict(choice: Choice, result: Groups) -> None:
    """The reading, the ends of the range as tiles, and how the numbers were made."""
    show.reading(result.reading, _looking_at(choice, result))
    if tiles := section.tiles(choice.seen, result):
        show.tiles([tile._replace(below=literal(tile.below)) for tile in tiles])
    if result.groups:
        show.recipe(section.recipe(result))


def _looking_at(choice: Choice, result: Groups) -> Looking:
    """The dots, of which runs and by which method."""
    title = METRICS[result.metric].title
    titles = {run.id: run.title for run in choice.many.runs}
    by = result.grouping.title
    down = by if result.grouping.of == "rows" else f"runs, by {by}"
    return looking(
        f"{title} by {by}", [titles[id_] for id_ in choice.seen],
        list(choice.seen.values()), (title, f"down: {down}"),
        bins_of(choice.scheme) if METRICS[result.metric].binned else "",
    )


def dots(choice: Choice, result: Groups) -> None:
    """The figure, and how it is to be read."""
    show.figure(
        lambda theme: dots_figure(result, theme, choice.places), key="groups_dots", alt=describe_dots(result),
        export=export(choice, result, "Groups"),
    )
    st.caption(literal(section.caption(result)))
    if result.chance:
        st.caption(literal(result.chance.words))
    if told := section.several_told(len(choice.seen), len(choice.many.seen)):
        st.caption(f":material/info: {told} Choose them under Runs.")
    for told in section.remarks(result, {run.id: run.title for run in choice.many.runs}):
        st.caption(f":material/info: {literal(told)}")


def differences(choice: Choice, result: Groups) -> None:
    """Each level of a fact against another, on the same questions."""
    if not result.contrasts:
        return
    st.subheader(section.PAIRED, anchor=False)
    rows = section.difference_rows(result)
    frame = pl.DataFrame(rows, infer_schema_length=None)
    tables.plain(
        frame, key="differences", alt=count(len(rows), "paired difference"),
        export=replace(export(choice, result, "Paired differences"), frame=lambda: frame),
    )


def table(choice: Choice, result: Groups) -> None:
    """One row a group, and its download."""
    rows = section.rows(result)
    if rows:
        tables.plain(
            pl.DataFrame(rows, infer_schema_length=None), key="groups_table", alt=count(len(rows), "group"),
            export=export(choice, result, "Table of groups"),
        )


def export(choice: Choice, result: Groups, what: str) -> Export:
    """Every group's numbers."""
    titles = {run.id: run.title for run in choice.many.runs}
    scheme = choice.scheme
    bins = (scheme.binning, scheme.bins) if METRICS[result.metric].binned else ()
    return Export(
        named(*few(choice.seen, "runs"), choice.method.id, result.metric, *bins, "by", result.grouping.title),
        lambda: result.to_frame().with_columns(pl.col("run").replace_strict(titles, return_dtype=pl.String)),
        section.recipe(result), what,
        f"{METRICS[result.metric].title} by {result.grouping.title}, {choice.method.title}",
    )


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One small diagram; drawn: or why it cannot be."""

    title: str
    drawn: Reliability | str


def panels(choice: Choice) -> None:
    """Small reliability diagrams of the chosen groups."""
    def compute() -> tuple[int, list[Panel]]:
        chosen = list(_chosen(choice))
        return len(chosen), [_panel_of(choice, *one) for one in chosen[:MOST_PANELS]]

    number, drawn = cache.kept(("panels", *choice.key(), choice.panels), compute)
    if not drawn:
        return
    st.subheader("Reliability diagrams of the chosen groups", anchor=False)
    if number > MOST_PANELS:
        st.caption(f":material/block: The first {MOST_PANELS} of {number} are drawn.")
    wide = len(drawn) in (4, 7, 8)  # a fourth one that would stand alone
    with st.grid(4 if wide else 3, min_column_width=230 if wide else 260, gap="medium"):
        for at, panel in enumerate(drawn):
            with st.container():
                _panel(choice, panel, f"panel_{at}")


def _chosen(choice: Choice) -> Iterator[tuple[str, AnswerEvidence]]:
    """Title and evidence of every chosen group, run by run."""
    if choice.grouping.of == "runs":
        yield from ((choice.names[id_], choice.seen[id_]) for id_ in choice.panels)
        return
    titles = names_of([run for run in choice.many.runs if run.id in choice.seen])
    for run, evidence in choice.seen.items():
        parts = parts_of(evidence, choice.grouping)
        for name in (choice.names[id_] for id_ in choice.panels):
            if name in parts:
                yield (f"{name} · {titles[run]}" if len(choice.seen) > 1 else name), parts[name]


def _panel_of(choice: Choice, title: str, part: AnswerEvidence) -> Panel:
    try:
        return Panel(title, reliability(part, choice.metric, choice.scheme))
    except Unavailable as reason:
        return Panel(title, str(reason))


def _panel(choice: Choice, panel: Panel, key: str) -> None:
    st.subheader(literal(panel.title), anchor=False)
    result = panel.drawn
    if isinstance(result, str):
        st.caption(literal(result))
        return
    score = result.score
    few = f", fewer than {THIN}" if score.n_used < THIN else ""
    st.caption(f"{METRICS[choice.metric].title} {show.number(score.value)}, n = {score.n_used:,}{few}")
    show.figure(
        lambda theme: small_reliability(result, theme), key=key, alt=describe_reliability(result),
        export=Export(
            named(panel.title, choice.method.id, choice.metric, choice.scheme.binning, choice.scheme.bins),
            result.to_frame, result.recipe, "Reliability diagram", f"{panel.title}, {choice.method.title}",
        ),
    )
