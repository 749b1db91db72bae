"""What does the page Groups show?  Dots, paired differences, the table, small reliability diagrams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import polars as pl
import streamlit as st

from calib_core.analysis.bootstrap import COVERAGE
from calib_core.analysis.evidence import AnswerEvidence
from calib_core.analysis.groups import Group, Groups, by_rows, by_runs, parts_of
from calib_core.analysis.reliability import THIN, reliability
from calib_core.figures.dots import describe_dots, dots_figure
from calib_core.figures.reliability import describe_reliability
from calib_core.figures.small_multiples import small_reliability
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable, shorten
from pages.parts import cache, show
from pages.parts.grouping import MOST_PANELS, MOST_SERIES, Choice
from pages.parts.literal import literal
from pages.parts.many import names_of
from pages.parts.runs import slug

_DRAWING: Final = "Drawing the intervals …"
FEW_ROWS: Final = "A binned number of few rows is larger by chance alone"
STROKE: Final = (
    ": the upright stroke is where it would lie if the confidences were exactly right, so look at how far a "
    "dot is from its stroke"
)


def result_of(choice: Choice) -> Groups:
    """The numbers of the groups, computed once."""
    def compute() -> Groups:
        bar = st.progress(0.0, _DRAWING)
        what = (choice.seen, choice.grouping, choice.metric, choice.scheme)

        def tell(share: float) -> None:
            bar.progress(min(1.0, share), _DRAWING)

        if choice.grouping.of == "rows":
            result = by_rows(*what, sort=choice.sort, progress=tell)
        else:
            result = by_runs(*what, sort=choice.sort, against=choice.against, progress=tell)
        bar.empty()
        return result

    return cache.kept(("groups", *choice.key()), compute)


def verdict(choice: Choice, result: Groups) -> None:
    """The reading, the ends of the range as tiles, and how the numbers were made."""
    st.subheader(literal(result.reading), anchor=False)
    known = [(group.value, group) for group in result.groups if group.value is not None]
    metric = METRICS[result.metric]
    if known:
        least, most = (end(known, key=lambda one: one[0]) for end in (min, max))
        small, shown = sum(group.small for group in result.groups), choice.seen.values()
        used, total = sum(one.n_used for one in shown), sum(one.n_total for one in shown)
        kinds = (len({group.name for group in result.groups}), len(result.series))
        of, inner = ("Groups", "run") if result.grouping.of == "rows" else ("Runs", "group")
        show.tiles([
            (
                of, str(kinds[0]), f"Small: of fewer than {THIN} rows, drawn hollow.",
                f"{_count(kinds[1], inner)}, {small} small",
            ),
            (f"Lowest {metric.title}", show.number(least[0]), metric.meaning, _whose(least[1], result)),
            (f"Highest {metric.title}", show.number(most[0]), metric.meaning, _whose(most[1], result)),
            ("Rows used / total", f"{used:,} / {total:,}", "Of all runs that are drawn."),
        ])
    first = next(iter(result.groups), None)
    if first is not None:
        show.recipe(f"{first.name}: {first.recipe}" if len(result.groups) > 1 else first.recipe)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' if number != 1 else ''}"


def _whose(group: Group, result: Groups) -> str:
    """The group's name, and the run's where there are several."""
    more = f", {result.series[group.series]}" if len(result.series) > 1 else ""
    return literal(shorten(f"{group.name}{more}", 60))


def dots(choice: Choice, result: Groups) -> None:
    """The figure, and how it is to be read."""
    show.figure(dots_figure(result, show.theme()), key="groups_dots", alt=describe_dots(result))
    st.caption(_caption(result))
    if result.chance:
        st.caption(literal(result.chance.words))
    if choice.grouping.of == "rows" and len(choice.many.seen) > MOST_SERIES:
        st.caption(
            f":material/block: {MOST_SERIES} of {len(choice.many.seen)} runs are drawn: more cannot be told "
            "apart in one row. Choose them under Runs."
        )
    titles = {run.id: run.title for run in choice.many.runs}
    for run, count in result.without.items():
        if count:
            st.caption(
                f":material/info: **{literal(titles[run])}**: {count:,} used rows are in no group by "
                f"{literal(result.grouping.title)}."
            )
    for run, why in result.refused.items():
        st.caption(f":material/block: **{literal(titles[run])}**: {literal(why)}")


def _caption(result: Groups) -> str:
    """How the figure is read."""
    how = next((group.how for group in result.groups if group.how), None)
    told = f"Whiskers: {literal(how)}. " if how else "No interval is known for this number. "
    if how and "bootstrap" in how:
        told += f"{COVERAGE} "
    few = sum(group.small for group in result.groups)
    told += f"Hollow: fewer than {THIN} rows ({few} of {len(result.groups)}). "
    if any(value is not None for value in result.overall.values()):
        told += "Dashed: the whole run. "
    if METRICS[result.metric].binned:
        stroked = any(group.null_median is not None for group in result.groups)
        told += f"{FEW_ROWS}{STROKE if stroked else ''}."
    return told


def differences(result: Groups) -> None:
    """Each level of a fact against another, on the same questions."""
    if not result.contrasts:
        return
    st.markdown("**Paired differences, everything else equal, on the same questions**")
    rows = [
        {
            "Difference": f"{one.level} − {one.against}",
            METRICS[result.metric].title: "–" if one.difference is None else _signed(one.difference.value),
            "95 %": "–" if one.difference is None
            else f"{_signed(one.difference.low)} to {_signed(one.difference.high)}",
            "Questions": "–" if one.difference is None else f"{one.difference.questions:,}",
            "Pairs of runs": f"{len(one.pairs):,}",
            "Note": one.why or (one.difference.how if one.difference else ""),
        }
        for one in result.contrasts
    ]
    st.dataframe(
        pl.DataFrame(rows, infer_schema_length=None), key="differences", hide_index=True, placeholder="–",
        height="content" if len(rows) <= 12 else 420, alt=f"{len(rows)} paired differences",
    )


def _signed(value: float) -> str:
    return f"{value:+.4f}".replace("-", "−")


def table(choice: Choice, result: Groups) -> None:
    """One row a group, and its download."""
    name, kind = ("Group", "Run") if result.grouping.of == "rows" else ("Run", "Group")
    title = METRICS[result.metric].title
    rows = [
        {
            name: group.name,
            **({kind: result.series[group.series]} if len(result.series) > 1 else {}),
            title: show.number(group.value),
            "95 %": "–" if group.low is None else f"{group.low:.4f} to {group.high:.4f}",
            **(
                {"If calibrated": show.number(group.null_median), "p": show.number(group.p, ".3f")}
                if any(one.null_median is not None for one in result.groups)
                else {}
            ),
            "n": f"{group.n_used:,}" + (" (few)" if group.small else ""),
            "Share right": show.percent(group.accuracy),
            "Mean confidence": show.percent(group.mean_confidence),
            "Confidence − accuracy": "–" if group.bias is None else _signed(group.bias),
        }
        for group in result.groups
    ]
    if rows:
        st.dataframe(
            pl.DataFrame(rows, infer_schema_length=None), key="groups_table", hide_index=True,
            placeholder="–", height="content" if len(rows) <= 12 else 460, alt=f"{len(rows)} groups",
        )
    titles = {run.id: run.title for run in choice.many.runs}
    show.download(
        "Table as CSV",
        lambda: result.to_frame().with_columns(pl.col("run").replace_strict(titles, return_dtype=pl.String)),
        f"groups-{_file_name(result)}-{result.metric}.csv", key="download_groups",
    )


def _file_name(result: Groups) -> str:
    """The grouping's name in a file's name."""
    return slug(result.grouping.title)


def panels(choice: Choice) -> None:
    """Small reliability diagrams of the chosen groups."""
    chosen = list(_chosen(choice))
    if not chosen:
        return
    st.markdown("**Reliability diagrams of the chosen groups**")
    if len(chosen) > MOST_PANELS:
        st.caption(f":material/block: The first {MOST_PANELS} of {len(chosen)} are drawn.")
    with st.grid(3, min_column_width=260, gap="medium"):
        for at, (title, part) in enumerate(chosen[:MOST_PANELS]):
            with st.container():
                _panel(choice, title, part, f"panel_{at}")


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


def _panel(choice: Choice, title: str, part: AnswerEvidence, key: str) -> None:
    st.markdown(f"**{literal(title)}**")
    try:
        result = reliability(part, choice.metric, choice.scheme)
    except Unavailable as reason:
        st.caption(literal(str(reason)))
        return
    value = show.number(result.score.value)
    few = f", fewer than {THIN}" if part.n_used < THIN else ""
    st.caption(f"{METRICS[choice.metric].title} {value}, n={part.n_used:,}{few}")
    show.figure(small_reliability(result, show.theme()), key=key, alt=describe_reliability(result))
