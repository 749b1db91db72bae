"""How many samples are enough?  The blocks of the Sampling page around its figures."""

from __future__ import annotations

from typing import Final

import polars as pl
import streamlit as st

from calib_core.analysis.question_clusters import QuestionClusters, question_clusters, questions
from calib_core.analysis.samples import samples
from calib_core.analysis.samples_result import NAMES, Sampled
from calib_core.confidence import METHODS
from calib_core.figures.clusters import clusters_figure, describe_clusters
from calib_core.metrics import METRICS
from pages.parts import cache, show, tables
from pages.parts.address import pick_here
from pages.parts.literal import literal
from pages.parts.sampling import Sampling

USED: Final = (
    "Questions with as many samples as the largest N', each of which can be judged: every N' stands on the "
    "same ones."
)
ENOUGH: Final = (
    "The smallest N' whose Brier score is as good as the same as that of the largest N' which is not greyed: "
    "the 95 % interval of the paired difference (mean over the repeats, bootstrap over the questions) lies "
    "inside the chosen ±."
)


def computed(chosen: Sampling) -> Sampled:
    """The draws, with progress where they are not kept yet. Raises Unavailable where none can be made."""

    def compute() -> Sampled:
        bar = st.progress(0.0, "Drawing parts of the samples …")
        try:
            return samples(
                chosen.answers, chosen.plan, chosen.options,
                progress=lambda share, text: bar.progress(min(share, 1.0), f"Drawing parts: {text}"),
            )
        finally:
            bar.empty()

    return cache.kept(("samples", *chosen.key()), compute).at(chosen.within)


def verdict(chosen: Sampling, result: Sampled) -> None:
    """What is enough, a tile a method, how the numbers were made, and what has to be said besides."""
    st.subheader(literal(result.reading), anchor=False)
    show.tiles([
        *(_tile(result, method) for method in result.said),
        ("Rows used / total", f"{result.n_used:,} / {result.n_total:,}", USED),
    ])
    show.recipe(result.curve(next(iter(result.said)), chosen.metric).recipe.replace(", F_CN, ", ", ", 1))
    show.remarks(*_remarks(result))
    for why in (*result.greyed.values(), *result.refused.values()):
        st.caption(f":material/block: {literal(why)}")


def _tile(result: Sampled, method: str) -> tuple[str, str, str, str]:
    size = next((each.size for each in result.enough if each.method == method), None)
    curve, against = result.curve(method, "brier"), result.against or result.sizes[-1]
    at = result.sizes.index(size or against)
    none = "–" if result.against is None else f"none < {against}"
    return (
        f"{NAMES[method]}: enough at N'", str(size) if size else none, ENOUGH,
        f"Brier {show.number(curve.mean[at])} at N' = {result.sizes[at]}",
    )


def _remarks(result: Sampled) -> list[str]:
    """Whose answers are judged, draws without a confidence, and the baselines that there are not."""
    judged = dict.fromkeys(each.judged for each in result.baselines)
    told = [f"F_CN, F_CS and F_PC: {result.judged} of the drawn samples judged"]
    told += [f"level lines: {', '.join(judged)} judged, on the same questions"] if judged else []
    fewer = {METHODS[each.method].title: each.n for each in result.baselines if each.n < result.n_used}
    told += [f"{title}: {n:,} of them" for title, n in fewer.items()]
    told += [
        f"N' = {size}: left out {count:,} of {result.draws[size] * result.n_used:,} draws of a question, in "
        "which no sample parses"
        for size, count in result.absent.items()
        if count
    ]
    return [*told, *(f"no {METHODS[id_].title}: {why}" for id_, why in result.lacking.items())]


def table(chosen: Sampling, result: Sampled) -> None:
    """One row an N', and one a method and N' for the paired difference."""
    title = METRICS[chosen.metric].title
    st.markdown(f"**{title}, mean ± standard deviation over the draws**")
    curves = {NAMES[method]: result.curve(method, chosen.metric) for method in result.said}
    rows = [
        {
            "N'": size,
            **{name: _spread(curve.mean[at], curve.std[at]) for name, curve in curves.items()},
            "F_CN ≤": f"{(size - 1) / size:.4g}",
            "Draws": result.draws[size],
            "Greyed": "N' > N/2" if size in result.greyed else "",
        }
        for at, size in enumerate(result.sizes)
    ]
    tables.plain(pl.DataFrame(rows), key="sizes_table", alt=f"{title} of three methods at {len(rows)} N'")
    _gaps(result)
    show.download(
        "Table as CSV", result.to_frame, f"{chosen.run.id}-samples-{result.repeats}-{result.seed}.csv",
        key="download_samples",
    )


def _spread(mean: float | None, std: float | None) -> str:
    return show.number(mean) if std is None else f"{show.number(mean)} ± {std:.4f}"


def _gaps(result: Sampled) -> None:
    rows = [
        {
            "Method": NAMES[each.method],
            "N'": size,
            "Difference": _signed(gap.value),
            "95 % interval": f"{_signed(gap.low)} to {_signed(gap.high)}",
            "Enough": "yes" if gap.inside(each.within) else "no",
        }
        for each in result.enough
        for size, gap in result.gaps[each.method].items()
    ]
    if not rows:
        return
    within = f"{result.enough[0].within:g}"
    st.markdown(f"**Brier score less that at N' = {result.against}, enough within ±{within}**")
    tables.plain(pl.DataFrame(rows), key="gaps", alt=f"Paired Brier differences to N' = {result.against}")


def _signed(value: float) -> str:
    return f"{value:+.4f}".replace("-", "−")


def question(chosen: Sampling) -> None:
    """One question: its clusters as bars, and the three confidences worked out."""
    st.subheader("One question, worked out", anchor=False)
    coded = chosen.coded()
    places, titles = questions(chosen.answers, coded)
    place = pick_here(
        "place", "Question", titles,
        f"Of the first {len(titles):,} with samples; type to search, “tie” and “not parse” too.",
    )
    result = question_clusters(chosen.answers, coded, places[place], chosen.options.unparseable)
    with st.grid(2, min_column_width=430, gap="medium"):
        bars, words = st.container(), st.container()
    with bars:
        show.figure(clusters_figure(result, show.theme()), key="clusters", alt=describe_clusters(result))
    with words:
        _worked(result)


def _worked(result: QuestionClusters) -> None:
    gold = "" if result.gold is None else f" The right answer is {literal(result.gold)}."
    st.markdown(f"{literal(result.reading)}{gold}")
    st.code("\n".join([result.sizes, *result.worked.values()]), language=None, wrap_lines=True)
    tables.plain(
        result.to_frame().select(
            pl.col("answer").alias("Sampled answer"),
            pl.col("samples").alias("Samples"),
            pl.when("right").then(pl.lit("right")).when(~pl.col("right")).then(pl.lit("wrong")).alias("Judged"),
        ),
        key="cluster_rows", alt=f"{len(result.clusters)} clusters of one question",
    )
