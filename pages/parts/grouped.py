"""What does the page Groups show?  Dots, paired differences, the table, small reliability diagrams."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import polars as pl
import streamlit as st

from calib_core.analysis.groups import Groups, by_rows, by_runs
from calib_core.analysis.looking import Looking, bins_of, looking
from calib_core.analysis.reliability import Reliability, reliability
from calib_core.figures.dots import describe_dots, dots_figure
from calib_core.figures.reliability import describe_reliability
from calib_core.figures.small_multiples import small_reliability
from calib_core.figures.text import without_middle
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from calib_core.report import group_panels
from calib_core.report.group_panels import Part
from calib_core.report.sections import groups as section
from calib_core.wording import count
from pages.parts import cache, show, tables
from pages.parts.exporting import Export, few, named
from pages.parts.grouping import MOST_PANELS, Choice
from pages.parts.literal import literal
from pages.parts.many import names_of

CHOSEN: Final = "Reliability diagrams of the chosen groups"
ONE_LINE: Final = 26
"""Letters of a diagram's name: diagrams stand in line where no name takes two lines."""

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
        show.recipe(result.recipe)


def _looking_at(choice: Choice, result: Groups) -> Looking:
    """The dots, of which runs and by which method."""
    title = METRICS[result.metric].title
    titles = {run.id: run.title for run in choice.many.runs}
    by = result.grouping.title
    return looking(
        f"{title} by {by}", [titles[id_] for id_ in choice.seen], list(choice.seen.values()),
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
        result.recipe, what,
        f"{METRICS[result.metric].title} by {result.grouping.title}, {choice.method.title}",
    )


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One small diagram; drawn: or why it cannot be."""

    part: Part
    drawn: Reliability | str


def panels(choice: Choice, result: Groups) -> None:
    """Small reliability diagrams of the chosen groups, else of the highest, in the order of the figure."""
    usual = choice.panels or group_panels.first(result, len(choice.seen))
    dots = [key for group in result.groups if (key := result.key(group)) in usual]
    shown = list(dict.fromkeys(dots))[:MOST_PANELS]
    titles = names_of([run for run in choice.many.runs if run.id in choice.seen])
    drawn = cache.kept(
        ("panels", *choice.key(), tuple(sorted(shown))),
        lambda: [_panel_of(choice, part) for part in group_panels.parts(choice.seen, result, titles, shown)],
    )
    if not drawn:
        return
    drawn = sorted(drawn, key=lambda panel: shown.index(panel.part.key))[:MOST_PANELS]
    st.subheader(CHOSEN if choice.panels else group_panels.heading(result, shown), anchor=False)
    if len(dots) > MOST_PANELS:
        st.caption(f":material/block: The first {MOST_PANELS} of {len(dots)} are drawn.")
    wide = len(drawn) in (4, 7, 8)  # a fourth one that would stand alone
    with st.grid(4 if wide else 3, min_column_width=230 if wide else 260, gap="medium"):
        for at, panel in enumerate(drawn):
            with st.container():
                _panel(choice, panel, f"panel_{at}")


def _panel_of(choice: Choice, part: Part) -> Panel:
    try:
        return Panel(part, reliability(part.evidence, choice.metric, choice.scheme))
    except Unavailable as reason:
        return Panel(part, str(reason))


def _panel(choice: Choice, panel: Panel, key: str) -> None:
    name, run = panel.part.name, panel.part.run
    st.subheader(literal(without_middle(name, ONE_LINE)), anchor=False)
    result = panel.drawn
    if isinstance(result, str):
        st.caption(literal(result))
        return
    below = [without_middle(run, ONE_LINE + 8)] if run else []
    st.caption("  \n".join(map(literal, [*below, group_panels.note(result)])))
    title = f"{name} · {run}" if run else name
    show.figure(
        lambda theme: small_reliability(result, theme), key=key, alt=describe_reliability(result),
        export=Export(
            named(title, choice.method.id, choice.metric, choice.scheme.binning, choice.scheme.bins),
            result.to_frame, result.recipe, "Reliability diagram", f"{title}, {choice.method.title}",
        ),
    )
