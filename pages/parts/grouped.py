"""What does the page Groups show?  Dots, paired differences, the table, small reliability diagrams."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import polars as pl
import streamlit as st

from calib_core.analysis.groups import GroupResults, groups_of_rows, groups_of_runs
from calib_core.analysis.looking import ViewCaption, bins_caption, view_caption
from calib_core.analysis.reliability import Reliability, reliability_diagram
from calib_core.figures.dots import describe_groups, groups_figure
from calib_core.figures.reliability import describe_reliability
from calib_core.figures.small_multiples import small_reliability_figure
from calib_core.figures.text import truncate_middle
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from calib_core.report import group_panels
from calib_core.report.group_panels import GroupEvidence
from calib_core.report.sections import groups as section
from calib_core.wording import plural
from pages.parts import cache, show, tables
from pages.parts.exporting import Export, stem_parts, make_file_stem
from pages.parts.grouping import MAX_DIAGRAMS, GroupsChoice
from pages.parts.literal import escape_markdown
from pages.parts.many import short_names_by_id

CHOSEN_DIAGRAMS_HEADING: Final = "Reliability diagrams of the chosen groups"
MAX_NAME_LENGTH: Final = 26
"""Letters of a diagram's name: diagrams stand in line where no name takes two lines."""

_DRAWING_MESSAGE: Final = "Drawing the intervals …"


def cached_groups(choice: GroupsChoice) -> GroupResults:
    """The numbers of the groups, computed once, in the order wanted."""
    titles = {run.id: run.title for run in choice.selection.runs}

    def compute() -> GroupResults:
        bar = st.progress(0.0, _DRAWING_MESSAGE)
        what = (choice.evidences, choice.grouping, choice.metric, choice.scheme)

        def tell(share: float) -> None:
            bar.progress(min(1.0, share), _DRAWING_MESSAGE)

        if choice.grouping.target == "rows":
            result = groups_of_rows(*what, titles=titles, progress=tell)
        else:
            result = groups_of_runs(*what, titles=titles, reference=choice.against, progress=tell)
        bar.empty()
        return result

    return cache.cached_result(("groups", *choice.cache_key(), choice.against), compute).sorted_by(choice.sort)


def show_groups_summary(choice: GroupsChoice, result: GroupResults) -> None:
    """The reading, the ends of the range as tiles, and how the numbers were made."""
    show.show_headline(result.headline, _groups_view_caption(choice, result))
    if tiles := section.groups_tiles(choice.evidences, result):
        show.show_tiles([tile._replace(below=escape_markdown(tile.below)) for tile in tiles])
    if result.groups:
        show.show_recipe(result.recipe)


def _groups_view_caption(choice: GroupsChoice, result: GroupResults) -> ViewCaption:
    """The dots, of which runs and by which method."""
    title = METRICS[result.metric].title
    titles = {run.id: run.title for run in choice.selection.runs}
    by = result.group_by.title
    return view_caption(
        f"{title} by {by}", [titles[id_] for id_ in choice.evidences], list(choice.evidences.values()),
        bins_caption(choice.scheme) if METRICS[result.metric].binned else "",
    )


def show_groups_figure(choice: GroupsChoice, result: GroupResults) -> None:
    """The figure, and how it is to be read."""
    show.show_figure(
        lambda theme: groups_figure(result, theme, choice.style_indices), key="groups_dots", alt=describe_groups(result),
        export=groups_export(choice, result, "Groups"),
    )
    st.caption(escape_markdown(section.groups_caption(result)))
    if result.chance_expectation:
        st.caption(escape_markdown(result.chance_expectation.sentence))
    for told in section.groups_remarks(result, {run.id: run.title for run in choice.selection.runs}):
        st.caption(f":material/info: {escape_markdown(told)}")


def show_differences(choice: GroupsChoice, result: GroupResults) -> None:
    """Each level of a fact against another, on the same questions."""
    if not result.contrasts:
        return
    st.subheader(section.PAIRED_TITLE, anchor=False)
    rows = section.paired_difference_rows(result)
    frame = pl.DataFrame(rows, infer_schema_length=None)
    tables.show_table(
        frame, key="differences", alt=plural(len(rows), "paired difference"),
        export=replace(groups_export(choice, result, "Paired differences"), frame=lambda: frame),
    )


def show_groups_table(choice: GroupsChoice, result: GroupResults) -> None:
    """One row a group, and its download."""
    rows = section.group_rows(result)
    if rows:
        tables.show_table(
            pl.DataFrame(rows, infer_schema_length=None), key="groups_table", alt=plural(len(rows), "group"),
            export=groups_export(choice, result, "Table of groups"),
        )


def groups_export(choice: GroupsChoice, result: GroupResults, content: str) -> Export:
    """Every group's numbers."""
    titles = {run.id: run.title for run in choice.selection.runs}
    scheme = choice.scheme
    bins = (scheme.binning, scheme.bins) if METRICS[result.metric].binned else ()
    return Export(
        make_file_stem(*stem_parts(choice.evidences, "runs"), choice.method.id, result.metric, *bins, "by", result.group_by.title),
        lambda: result.to_frame().with_columns(pl.col("run").replace_strict(titles, return_dtype=pl.String)),
        result.recipe, content,
        f"{METRICS[result.metric].title} by {result.group_by.title}, {choice.method.title}",
    )


@dataclass(frozen=True, slots=True, eq=False)
class GroupDiagram:
    """One small diagram; drawn: or why it cannot be."""

    group: GroupEvidence
    result: Reliability | str


def show_group_diagrams(choice: GroupsChoice, result: GroupResults) -> None:
    """Small reliability diagrams of the chosen groups, else of the highest, in the order of the figure."""
    usual = choice.diagram_keys or group_panels.default_diagram_keys(result, len(choice.evidences))
    dots = [key for group in result.groups if (key := result.group_key(group)) in usual]
    shown = list(dict.fromkeys(dots))[:MAX_DIAGRAMS]
    titles = short_names_by_id([run for run in choice.selection.runs if run.id in choice.evidences])
    drawn = cache.cached_result(
        ("panels", *choice.cache_key(), tuple(sorted(shown))),
        lambda: [_group_diagram(choice, part) for part in group_panels.group_evidences(choice.evidences, result, titles, shown)],
    )
    if not drawn:
        return
    drawn = sorted(drawn, key=lambda panel: shown.index(panel.group.key))[:MAX_DIAGRAMS]
    st.subheader(CHOSEN_DIAGRAMS_HEADING if choice.diagram_keys else group_panels.diagrams_heading(result, shown), anchor=False)
    if len(dots) > MAX_DIAGRAMS:
        st.caption(f":material/block: The first {MAX_DIAGRAMS} of {len(dots)} are drawn.")
    wide = len(drawn) in (4, 7, 8)  # a fourth one that would stand alone
    with st.grid(4 if wide else 3, min_column_width=230 if wide else 260, gap="medium"):
        for at, panel in enumerate(drawn):
            with st.container():
                _show_group_diagram(choice, panel, f"panel_{at}")


def _group_diagram(choice: GroupsChoice, group: GroupEvidence) -> GroupDiagram:
    try:
        return GroupDiagram(group, reliability_diagram(group.evidence, choice.metric, choice.scheme))
    except Unavailable as reason:
        return GroupDiagram(group, str(reason))


def _show_group_diagram(choice: GroupsChoice, diagram: GroupDiagram, key: str) -> None:
    name, run = diagram.group.name, diagram.group.run
    st.subheader(escape_markdown(truncate_middle(name, MAX_NAME_LENGTH)), anchor=False)
    result = diagram.result
    if isinstance(result, str):
        st.caption(escape_markdown(result))
        return
    below = [truncate_middle(run, MAX_NAME_LENGTH + 8)] if run else []
    st.caption("  \n".join(map(escape_markdown, [*below, group_panels.diagram_note(result)])))
    title = f"{name} · {run}" if run else name
    show.show_figure(
        lambda theme: small_reliability_figure(result, theme), key=key, alt=describe_reliability(result),
        export=Export(
            make_file_stem(title, choice.method.id, choice.metric, choice.scheme.binning, choice.scheme.bins),
            result.to_frame, result.recipe, "Reliability diagram", f"{title}, {choice.method.title}",
        ),
    )
