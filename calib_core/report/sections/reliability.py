"""Is it right as often as it says?  One block a run, method and metric: what its page shows."""

from __future__ import annotations

from typing import Final

import polars as pl

from calib_core.analysis.evidence import Evidence
from calib_core.analysis.limits import FEW
from calib_core.analysis.questions import questions as questions_of
from calib_core.analysis.reliability import Reliability, reliability
from calib_core.analysis.score import Score, score
from calib_core.confidence import METHODS
from calib_core.figures.reliability import describe_reliability, reliability_figure
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable, shorten
from calib_core.records import TokenRun
from calib_core.report.parts import Block, Drawn, Progress, Section, Table, Tile, not_drawn
from calib_core.report.subject import RunHere, Subject
from calib_core.wording import NOTHING, chance, number, percent, signed, span

ID, TITLE, QUESTION = "reliability", "Reliability", "Is it right as often as it says?"


QUESTIONS: Final = 50
"""So many questions of a bin stand in a report: the page has more, and its download all."""
LETTERS: Final = 240
"""Of each of their texts."""


def section(subject: Subject, tell: Progress) -> Section:
    """A diagram of every run. Raises Unavailable where no run gives one."""
    blocks: list[Block] = []
    refused: list[str] = []
    for at, run in enumerate(subject.runs):
        tell(at / len(subject.runs), run.title)
        for method in subject.methods_of(run):
            for metric in subject.asked.every_metric:
                try:
                    blocks.append(_block(subject, run, method, metric))
                except Unavailable as reason:
                    refused.append(f"{run.title}: {reason}")
    if not blocks:
        raise Unavailable(refused[0] if refused else "No run gives one of these confidences.")
    return Section(ID, TITLE, QUESTION, (*blocks, *not_drawn(refused)))


def _block(subject: Subject, run: RunHere, method: str, metric: str) -> Block:
    """Raises Unavailable where neither a diagram nor bounds can be had."""
    evidence = subject.evidence(run, method)
    by = METHODS[method].title
    try:
        result = reliability(evidence, metric, subject.asked.scheme)
    except Unavailable as reason:
        known = score(evidence, metric, subject.asked.scheme)
        tile = number_tile(known)
        return Block(run.title, by, tiles=(tile,), recipes=(known.recipe,), remarks=(str(reason),))
    named = METRICS[metric]
    return Block(
        title=run.title,
        by=by,
        reading=result.reading,
        tiles=tuple(tiles(evidence, result)),
        recipes=(result.score.recipe if named.binned else result.recipe,),
        figures=(Drawn.of(
            lambda theme: reliability_figure(result, theme, log_counts=crowded(evidence, metric)),
            describe_reliability(result), narrow=True,
        ),),
        tables=(Table.of("Bin by bin", bin_rows(result), caption(result)),),
        below=questions(evidence, result, subject.asked.bin),
        remarks=tuple(text for text in (result.score.remark, *result.remarks) if text),
    )


def questions(evidence: Evidence, result: Reliability, bin_: int | None) -> tuple[Table, ...]:
    """The first questions of the bin that is asked for; () where it is empty or a row has no question."""
    place = result.table.filter(pl.col("bin") == pl.lit(bin_, pl.Int64))
    if place.is_empty() or evidence.no_questions:
        return ()
    found = questions_of(evidence, result.score.metric, result.scheme, bin_number=bin_)
    rows = [
        {
            **{name.capitalize(): _brief(row[name]) for name in row if name not in ("confidence", "right")},
            "Confidence": f"{row['confidence']:.4f}",
            "It is": "right" if row["right"] else "wrong",
        }
        for row in found.frame.head(QUESTIONS).iter_rows(named=True)
    ]
    first = f"the first {QUESTIONS} of " if found.total > QUESTIONS else ""
    return (Table.of(f"Questions in {place['interval'].item()}, {first}{found.total:,}", rows),)


def _brief(value: object) -> object:
    return shorten(value, LETTERS) if isinstance(value, str) else value


def crowded(evidence: Evidence, metric: str) -> bool:
    """Whether the first bin of the diagram dwarfs all others: every class of a vocabulary is in it."""
    return isinstance(evidence.run, TokenRun) and METRICS[metric].needs == "distribution"


def tiles(evidence: Evidence, result: Reliability) -> list[Tile]:
    """The number, and what it has to be seen beside."""
    return [
        number_tile(result.score),
        Tile("Brier score", number(result.brier), METRICS["brier"].help),
        Tile(
            "Accuracy", percent(result.accuracy),
            f"Judged: {result.judged}. {METRICS['accuracy'].help}",
        ),
        Tile("Mean confidence", percent(result.mean_confidence), "The average of what it says."),
        Tile(
            f"{evidence.unit.capitalize()} used / total",
            f"{result.score.n_used:,} / {result.score.n_total:,}",
            rows_help(evidence),
        ),
    ]


def number_tile(found: Score) -> Tile:
    """The value, or the interval in which it lies where no more is known; by what chance it is as large."""
    metric = METRICS[found.metric]
    value = number(found.value)
    if found.value is None and found.low is not None and found.high is not None:
        value = span(found.low, found.high)
    p = chance(found.p, found.draws)
    return Tile(metric.title, value, metric.help, p and f"by chance: {p}")


def rows_help(evidence: Evidence) -> str:
    """Why fewer rows are used than there are."""
    parts = [f"{count:,} {reason}" for reason, count in evidence.missing.items() if count]
    if left_out := evidence.run.ledger.left_out:
        parts.append(f"{left_out:,} bad rows left out")
    return f"Not used: {'; '.join(parts)}." if parts else "Every row has a confidence and an outcome."


def caption(result: Reliability) -> str:
    """How diagram and table are read."""
    whiskers = (
        "No whiskers: the pairs of one position or question depend on one another."
        if result.of_pairs == "labels"
        else "Whiskers: 95 % Wilson interval of the accuracy."
    )
    return (
        f"Gap = confidence − accuracy: above zero is over-confident. Empty bins are left out. "
        f"Faded: fewer than {FEW} {result.of_pairs} ({result.thin} of {result.table.height} bins). "
        f"{whiskers}"
    )


def bin_rows(result: Reliability) -> list[dict[str, object]]:
    """One row a non-empty bin, as it is read."""
    return [
        {
            "Bin": row["interval"],
            "n": f"{row['count']:,}",
            "Confidence": f"{row['confidence']:.3f}",
            "Accuracy": f"{row['accuracy']:.3f}",
            "95 %": span(row["accuracy_low"], row["accuracy_high"], ".3f")
            if row["accuracy_low"] is not None else NOTHING,
            "Gap": signed(row["gap"], "+.3f"),
            "Part of gap": percent(row["share"]),
        }
        for row in result.table.iter_rows(named=True)
    ]
