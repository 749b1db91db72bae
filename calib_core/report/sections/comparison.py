"""Which model is both accurate and honest?  One block a data set: every run by a few methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from calib_core.analysis.comparison import FIXED, Comparison, comparison
from calib_core.analysis.comparison_points import Measured, Point, measured
from calib_core.analysis.comparison_reading import lowest_brier, most_accurate, names_all, whose_all
from calib_core.analysis.comparison_trend import Trend
from calib_core.analysis.evidence import Evidence
from calib_core.analysis.intervals import coverage
from calib_core.analysis.preferred import preferred
from calib_core.bins import Scheme
from calib_core.confidence import METHODS
from calib_core.figures.comparison import comparison_figure, describe_comparison
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable, shorten
from calib_core.report.parts import Block, Drawn, Progress, Section, Table, Tile
from calib_core.report.subject import RunHere, Subject, by_dataset
from calib_core.wording import NOTHING, count, number, percent, signed, span

ID, TITLE, QUESTION = "comparison", "Comparison", "Which model is both accurate and honest?"

NUMBERS: Final = 2
"""How many numbers of a point are measured, each with an interval: accuracy and Brier score."""

CURVES: Final = "On grey ground, below a(1−a), a confidence tells right from wrong. "
TOGETHER: Final = "Do the two go together over the models?"
LEAST_TO_MOST: Final = "From the least to the most accurate"
SKILL: Final = (
    "Points with a lower Brier score than a constant confidence equal to the run's own accuracy (skill above "
    "0); below the number: how many with their whole interval."
)


def section(subject: Subject, tell: Progress) -> Section:
    """Accuracy against Brier score. Raises Unavailable where there are fewer than two runs to compare."""
    if len(subject.runs) < 2:
        raise Unavailable("There is one run only, and nothing to compare it with.")
    sets = by_dataset(subject.runs)
    blocks: list[Block] = []
    for at, (dataset, runs) in enumerate(sets.items()):
        block = _block(
            subject, dataset, runs, lambda share, text, at=at: tell((at + share) / len(sets), text)
        )
        blocks += [block] if block else []
    if not blocks:
        raise Unavailable("No run here gives both numbers.")
    return Section(ID, TITLE, QUESTION, tuple(blocks))


def _block(subject: Subject, dataset: str | None, runs: Sequence[RunHere], tell: Progress) -> Block | None:
    seen, refused = _seen(subject, runs)
    made: dict[tuple[Evidence, str, Scheme], Measured] = {}

    def told(evidence: Evidence, metric: str, scheme: Scheme) -> Measured:
        """Each once: the axes are what every point has anyway."""
        key = (evidence, metric, scheme)
        if key not in made:
            tell(min(1.0, len(made) / (NUMBERS * len(seen))), f"intervals of {evidence.run.label}")
            made[key] = measured(evidence, metric, scheme)
        return made[key]

    result = comparison(
        {key: evidence for key, (_, evidence) in seen.items()},
        titles={key: run.title for key, (run, _) in seen.items()},
        possible={id_ for run in runs for id_ in run.usable}, measure=told,
    )
    if not result.points:
        return None
    for key, why in result.refused.items():
        refused.append((seen[key][1].method.title, why, seen[key][0].title))
    places = {key: run.place for key, (run, _) in seen.items()}
    return Block(
        title=dataset or "",
        reading=result.reading,
        tiles=tuple(tiles(result)),
        recipes=(result.recipe,),
        figures=(Drawn.of(
            lambda theme: comparison_figure(result, theme, places=places), describe_comparison(result)
        ),),
        tables=(Table.of("Every point, the lowest Brier score first", rows(result)),),
        captions=(caption(result), *trends(result)),
        remarks=(*result.unlike, *_not_given(refused)),
    )


def _seen(
    subject: Subject, runs: Sequence[RunHere]
) -> tuple[dict[str, tuple[RunHere, Evidence]], list[tuple[str, str, str]]]:
    """Every run by every method shown, by the point's key; and what cannot be had, with the reason."""
    able = {id_ for run in runs for id_ in run.usable}
    methods = [id_ for id_ in METHODS if id_ in able and id_ in subject.asked.methods] or preferred(able)
    seen: dict[str, tuple[RunHere, Evidence]] = {}
    refused: list[tuple[str, str, str]] = []
    for at, run in enumerate(runs):
        for method in methods:
            try:
                seen[f"{at}:{method}"] = (run, subject.evidence(run, method).of_top)
            except Unavailable as reason:
                refused.append((METHODS[method].title, str(reason), run.title))
    return seen, refused


def _not_given(refused: Sequence[tuple[str, str, str]]) -> list[str]:
    """What is no point, the runs of one method and reason together; refused: method, reason, run."""
    found: dict[tuple[str, str], list[str]] = {}
    for method, why, run in refused:
        found.setdefault((method, why), []).append(run)
    return [f"No {method} of {', '.join(runs)}: {why}" for (method, why), runs in found.items()]


def tiles(result: Comparison) -> list[Tile]:
    """How many points, the best of each kind, and how many beat a constant."""
    points = result.points
    if not points:
        return []
    best, right = lowest_brier(points), most_accurate(points)
    judged = [point for point in points if point.skill is not None]
    sure = sum(point.brier.high is not None and point.brier.high < point.constant for point in judged)
    runs, methods = len({point.run for point in points}), len({point.method for point in points})
    return [
        Tile(
            "Points", str(len(points)), "One a run and confidence method.",
            f"{count(runs, 'run')}, {count(methods, 'method')}",
        ),
        Tile(
            "Lowest Brier score", number(best[0].brier.value), METRICS["brier"].help,
            shorten(whose_all(best), 60),
        ),
        Tile(
            "Most accurate", percent(right[0].accuracy.value),
            f"Judged: {right[0].judged}. {METRICS['accuracy'].help}",
            shorten(names_all(right), 60),
        ),
        Tile(
            "Below a(1−a)",
            f"{sum((point.skill or 0) > 0 for point in judged)} of {len(judged)}" if judged else NOTHING,
            SKILL, f"{sure} with the whole interval" if judged else "all rows have one outcome",
        ),
    ]


def caption(result: Comparison) -> str:
    """What the picture shows."""
    curves, told = CURVES if result.has_curves else "", coverage((result.x, result.y))
    return f"Colour and name: the run; shape: the method; bars: 95 % intervals. {curves}{told}"


def trends(result: Comparison) -> list[str]:
    """The ranks and the share of a(1−a), method by method; one sentence where no method has them."""
    if none := no_trend(result):
        return [none]
    if len(result.trends) == 1:
        return [result.trends[0].reading]
    several = len({trend.dataset for trend in result.trends}) > 1
    return [f"{trend_name(trend, several=several)}: {trend.reading}" for trend in result.trends]


def no_trend(result: Comparison) -> str | None:
    """Why no method has a rank correlation or a change, in a sentence; None where one has."""
    if not result.trends or any(trend.correlation or trend.change for trend in result.trends):
        return None
    reasons = list(dict.fromkeys(trend.why or "" for trend in result.trends))
    return f"No rank correlation: {'; '.join(reasons)}."


def trend_name(trend: Trend, *, several: bool) -> str:
    """The method, and the data set where there are several."""
    of = trend.dataset or "no data set named"
    return f"{METHODS[trend.method].title}, {of}" if several else METHODS[trend.method].title


def trend_rows(result: Comparison) -> list[dict[str, object]]:
    """One row a method and data set: the ranks, and the Brier score from the least to the most accurate."""
    several = len({trend.dataset for trend in result.trends}) > 1
    return [
        {
            "Confidence method": trend_name(trend, several=several),
            "Models": f"{trend.models}" if trend.points == trend.models
            else f"{trend.points} runs of {trend.models}, not independent",
            **_ranks(trend),
            **(_ends(trend, result) if result.has_curves else {}),
        }
        for trend in result.trends
    ]


def _ranks(trend: Trend) -> dict[str, object]:
    found = trend.correlation
    if found is None:
        return {"Rank correlation ρ": f"none: {trend.why}", "p": NOTHING}
    if not trend.independent:
        return {"Rank correlation ρ": signed(found.rho, "+.2f"), "p": NOTHING}
    ends = f"{signed(found.low, '+.2f')} to {signed(found.high, '+.2f')}"
    p = "< 0.001" if found.p < 0.001 else f"{found.p:.3f}"
    return {"Rank correlation ρ": f"{signed(found.rho, '+.2f')} ({ends})", "p": p}


def _ends(trend: Trend, result: Comparison) -> dict[str, object]:
    change = trend.change
    if change is None:
        return {
            LEAST_TO_MOST: f"none: {trend.unchanged}", "Brier score": NOTHING, "a(1−a) alone": NOTHING,
        }
    names = {point.key: point.name for point in result.points}
    ends = "" if change.low is None or change.high is None else (
        f" ({signed(change.low, '+.3f')} to {signed(change.high, '+.3f')})"
    )
    return {
        LEAST_TO_MOST: f"{names[change.least]} to {names[change.most]}",
        "Brier score": f"{signed(change.brier, '+.3f')}{ends}",
        "a(1−a) alone": signed(change.alone, "+.3f"),
    }


def rows(result: Comparison) -> list[dict[str, object]]:
    """One row a point, the lowest Brier score first."""
    return [_row(point, result) for point in result.by_brier]


def _row(point: Point, result: Comparison) -> dict[str, object]:
    axes = {one.metric: one for one in (point.x, point.y)}
    more: dict[str, object] = {}
    for id_ in dict.fromkeys((result.x, result.y)):
        if id_ not in FIXED:
            more |= {
                METRICS[id_].title: number(axes[id_].value),
                f"{METRICS[id_].title} 95 %": span(axes[id_].low, axes[id_].high),
            }
    accuracy, brier = point.accuracy, point.brier
    return {
        "Run": point.run,
        "Confidence method": METHODS[point.method].title,
        **more,
        "Accuracy": percent(accuracy.value),
        "Accuracy 95 %": span(accuracy.low, accuracy.high, ".1f", 100),
        "Brier": number(brier.value),
        "Brier 95 %": span(brier.low, brier.high),
        "Skill": signed(point.skill, "+.3f"),
        "ECE": number(point.ece),
        "Rows used / total": f"{point.n_used:,} / {point.n_total:,}",
        "Judged": point.judged,
    }
