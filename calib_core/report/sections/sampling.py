"""How many samples are enough?  One block a run with sampled answers, and one question worked out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from calib_core.analysis.question_clusters import QuestionClusters, question_clusters, questions, typical
from calib_core.analysis.samples import samples
from calib_core.analysis.samples_draws import USUAL, Plan
from calib_core.analysis.samples_result import NAMES, Sampled
from calib_core.confidence import METHODS
from calib_core.confidence.method import Options
from calib_core.confidence.subsets import codes
from calib_core.figures.clusters import clusters_figure, describe_clusters
from calib_core.figures.sampling import describe_sampling, sampling_figure
from calib_core.metrics import METRICS
from calib_core.metrics.brier import BRIER
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun
from calib_core.report.parts import Block, Drawn, Progress, Section, Table, Tile, not_drawn
from calib_core.report.subject import RunHere, Subject
from calib_core.wording import NOTHING, number, signed

ID, TITLE, QUESTION = "sampling", "Sampling", "How many samples are enough?"

SAMPLED: Final = "cluster_size"
"""A run that this method can be had of has samples."""

SHOWN: Final = (BRIER.id,)
"""Metrics that the tiles have whatever is asked for; what is drawn for no number here costs the most."""

NO_SAMPLES: Final = (
    "No run here has several sampled answers a question. The columns samples, samples_parsed or "
    "sample_cluster hold them, a list a row; the README says how."
)
WORKED: Final = "One question, worked out"
USED: Final = (
    "Questions with as many samples as the largest N', each of which can be judged: every N' stands on the "
    "same ones."
)
ENOUGH: Final = (
    "The smallest N' whose Brier score is practically that of the largest N' not greyed: the 95 % interval "
    "of the paired difference (mean over the repeats, bootstrap over the questions) lies inside the chosen ±."
)
CAPTION: Final = (
    "Pale: one standard deviation of the draws to either side; no interval over questions. On grey ground "
    "the parts overlap."
)


def section(subject: Subject, tell: Progress) -> Section:
    """The draws of every run with samples. Raises Unavailable where there is none."""
    runs = [run for run in subject.answers if SAMPLED in run.usable]
    if not runs:
        raise Unavailable(NO_SAMPLES)
    blocks: list[Block] = []
    refused: list[str] = []
    for at, run in enumerate(runs):
        def told(share: float, text: str, at: int = at, run: RunHere = run) -> None:
            tell((at + min(share, 1.0)) / len(runs), f"{run.title}: {text}")

        try:
            blocks += _blocks(subject, run, told, worked=not blocks)
        except Unavailable as reason:
            refused.append(f"{run.title}: {reason}")
    if not blocks:
        raise Unavailable(refused[0])
    return Section(ID, TITLE, QUESTION, (*blocks, *not_drawn(refused)))


def _blocks(subject: Subject, run: RunHere, tell: Progress, *, worked: bool) -> list[Block]:
    answers = run.report.run
    if not isinstance(answers, AnswerRun):
        return []
    options = Options(unparseable=subject.asked.options.unparseable)
    metric = next((id_ for id_ in subject.asked.metrics if id_ in USUAL), USUAL[0])
    result = samples(answers, Plan(metrics=(*SHOWN, metric)), options, progress=tell)
    made = [_block(run, result, metric)]
    return [*made, _worked(answers, options)] if worked else made


def _block(run: RunHere, result: Sampled, metric: str) -> Block:
    return Block(
        title=run.title,
        reading=result.reading,
        tiles=tuple(tiles(result)),
        recipes=(recipe(result, metric),),
        figures=(Drawn.of(
            lambda theme: sampling_figure(result, metric, theme), describe_sampling(result, metric),
            narrow=True,
        ),),
        tables=(Table.of(sizes_title(metric), size_rows(result, metric)), *_gaps(result)),
        captions=(result.measure, CAPTION) if result.measure else (CAPTION,),
        remarks=(*remarks(result), *result.greyed.values(), *result.refused.values()),
    )


def _gaps(result: Sampled) -> list[Table]:
    found = gap_rows(result)
    return [Table.of(gaps_title(result), found)] if found else []


def _worked(answers: AnswerRun, options: Options) -> Block:
    """A question of average agreement: its clusters, and the three confidences in numbers."""
    coded = codes(answers, options)
    places, titles = questions(answers, coded)
    at = typical(coded, places)
    result = question_clusters(answers, coded, places[at], options.unparseable)
    return Block(
        title=f"{WORKED}: {titles[at]}",
        reading=worked_reading(result),
        recipes=(result.sizes, *result.worked.values()),
        figures=(Drawn.of(
            lambda theme: clusters_figure(result, theme), describe_clusters(result), narrow=True
        ),),
        tables=(Table.of("", cluster_rows(result)),),
    )


def worked_reading(result: QuestionClusters) -> str:
    """What was chosen, and what would have been right."""
    return result.reading + ("" if result.gold is None else f" The right answer is {result.gold}.")


def cluster_rows(result: QuestionClusters) -> list[dict[str, object]]:
    """One row a sampled answer."""
    judged: Mapping[bool | None, str | None] = {True: "right", False: "wrong", None: None}
    return [
        {"Sampled answer": answer, "Samples": size, "Judged": judged[right]}
        for answer, size, _, right in result.to_frame().iter_rows()
    ]


def tiles(result: Sampled) -> list[Tile]:
    """What is enough, method by method."""
    return [
        *(_tile(result, method) for method in result.said),
        Tile("Rows used / total", f"{result.n_used:,} / {result.n_total:,}", USED),
    ]


def _tile(result: Sampled, method: str) -> Tile:
    size = next((each.size for each in result.enough if each.method == method), None)
    curve, against = result.curve(method, BRIER.id), result.against or result.sizes[-1]
    at = result.sizes.index(size or against)
    none = NOTHING if result.against is None else f"none < {against}"
    return Tile(
        f"{NAMES[method]}: enough at N'", str(size) if size else none, ENOUGH,
        f"Brier {number(curve.mean[at])} at N' = {result.sizes[at]}",
    )


def recipe(result: Sampled, metric: str) -> str:
    """How the curves of all methods were made."""
    return result.curve(next(iter(result.said)), metric).recipe.replace(", F_CN, ", ", ", 1)


def remarks(result: Sampled) -> list[str]:
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


def sizes_title(metric: str) -> str:
    """What the table of sizes has."""
    return f"{METRICS[metric].title}, mean ± standard deviation over the draws"


def size_rows(result: Sampled, metric: str) -> list[dict[str, object]]:
    """One row an N'."""
    curves = {NAMES[method]: result.curve(method, metric) for method in result.said}
    return [
        {
            "N'": size,
            **{name: _spread(curve.mean[at], curve.std[at]) for name, curve in curves.items()},
            "Draws": result.draws[size],
        }
        for at, size in enumerate(result.sizes)
    ]


def _spread(mean: float | None, std: float | None) -> str:
    return number(mean) if std is None else f"{number(mean)} ± {std:.4f}"


def gaps_title(result: Sampled) -> str:
    """What the table of paired differences has."""
    return f"Brier score less that at N' = {result.against}, enough within ±{result.enough[0].within:g}"


def gap_rows(result: Sampled) -> list[dict[str, object]]:
    """One row a method and N': the paired difference to the largest N' that is not greyed."""
    return [
        {
            "Confidence method": NAMES[each.method],
            "N'": size,
            "Difference": signed(gap.value),
            "95 % interval": f"{signed(gap.low)} to {signed(gap.high)}",
            "Enough": "yes" if gap.inside(each.within) else "no",
        }
        for each in result.enough
        for size, gap in result.gaps[each.method].items()
    ]
