"""What if it may refuse?  One block a run of answers: share answered against accuracy, by a few methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from calib_core.analysis.abstention import FORMULA, Abstention, Answering, abstention
from calib_core.analysis.abstention_reading import CHOSEN_HERE, reading, target_text, threshold_text
from calib_core.analysis.evidence import Evidence
from calib_core.analysis.limits import FEW
from calib_core.analysis.preferred import preferred
from calib_core.confidence import METHODS
from calib_core.figures.abstention import abstention_figure, describe_abstention
from calib_core.problems import Unavailable
from calib_core.report.parts import Block, Drawn, Progress, Section, Table, Tile, not_drawn
from calib_core.report.sections.reliability import rows_help
from calib_core.report.subject import RunHere, Subject
from calib_core.wording import NOTHING, number, percent

ID, TITLE, QUESTION = "abstention", "Abstention", "What if it may refuse?"

WANTED: Final = 0.9
"""The accuracy that is wanted where nobody says another."""

CAPTION: Final = (
    "From right to left fewer questions are answered, the surest last. Pale: 95 % Wilson interval of each "
    f"accuracy of {FEW} answers or more. {CHOSEN_HERE}"
)
AURC: Final = f"AURC, the area under risk against coverage: {FORMULA}; lower is better."
TOKENS_ONLY: Final = (
    "Refusing needs the confidence of every single question. The runs here are token-level sums, "
    "which do not keep them."
)


def section(subject: Subject, tell: Progress) -> Section:
    """The curves of every run. Raises Unavailable where no run keeps single confidences."""
    runs = subject.answers
    if not runs:
        raise Unavailable(TOKENS_ONLY)
    blocks: list[Block] = []
    refused: list[str] = []
    for at, run in enumerate(runs):
        tell(at / len(runs), run.title)
        asked = [id_ for id_ in run.usable if id_ in subject.asked.methods]
        made: dict[str, tuple[Evidence, Abstention]] = {}
        for method in asked or preferred(run.usable):
            try:
                evidence = subject.evidence(run, method)
                made[method] = evidence, abstention(evidence)
            except Unavailable as reason:
                refused.append(f"{run.title}, {METHODS[method].title}: {reason}")
        if made:
            blocks.append(_block(run, list(made.values())))
    if not blocks:
        raise Unavailable(refused[0] if refused else "No run gives one of these confidences.")
    return Section(ID, TITLE, QUESTION, (*blocks, *not_drawn(refused)))


def _block(run: RunHere, found: Sequence[tuple[Evidence, Abstention]]) -> Block:
    evidences, made = zip(*found, strict=True)
    return Block(
        title=run.title,
        reading=reading(made, WANTED),
        tiles=tuple(tiles(evidences, made, WANTED)),
        recipes=tuple(recipes(made)),
        figures=(Drawn.of(
            lambda theme: abstention_figure(made, theme, wanted=WANTED, threshold=None),
            describe_abstention(made),
        ),),
        tables=(Table.of("", rows(made, WANTED, None), AURC),),
        captions=(CAPTION,),
        remarks=unlike(evidences),
    )


def unlike(evidences: Sequence[Evidence]) -> tuple[str, ...]:
    """That the lines judge different answers, where they do."""
    judged = tuple(dict.fromkeys(evidence.judged for evidence in evidences))
    return (f"The lines judge different answers: {', '.join(judged)}.",) if len(judged) > 1 else ()


def recipes(made: Sequence[Abstention]) -> list[str]:
    """How each line was made."""
    return [f"{METHODS[curve.method].title}: {curve.recipe}" for curve in made]


def tiles(evidences: Sequence[Evidence], made: Sequence[Abstention], wanted: float) -> list[Tile]:
    """At the wanted accuracy, and answering all: of the line that answers most."""
    found = [(curve, answering) for curve in made if (answering := curve.for_accuracy(wanted))]
    curve, most = max(found, key=lambda one: one[1].share, default=(made[0], None))
    title = METHODS[curve.method].title
    evidence = next(one for one in evidences if one.method.id == curve.method)
    return [
        Tile(
            f"Answered at {target_text(wanted)}", percent(most.share if most else None),
            f"The largest share of questions that {title} answers with the accuracy wanted.", title,
        ),
        Tile(
            "By confidence ≥", threshold_text(most.threshold) if most else NOTHING,
            "The threshold that gives it, chosen on these same rows.",
        ),
        Tile(
            "Lower end there", percent(most.low if most else None),
            "Of the 95 % Wilson interval of the accuracy on those answered.",
            f"n = {most.answered:,}" if most else "",
        ),
        Tile(
            "Accuracy, answering all", percent(curve.all.accuracy), f"Judged: {curve.judged}.",
            curve.judged,
        ),
        Tile("Rows used / total", f"{curve.n_used:,} / {curve.n_total:,}", rows_help(evidence)),
    ]


def rows(made: Sequence[Abstention], wanted: float, threshold: float | None) -> list[dict[str, str]]:
    """One row a method: at the wanted accuracy, at the threshold, and over all thresholds."""
    return [_row(curve, wanted, threshold) for curve in made]


def _row(curve: Abstention, wanted: float, threshold: float | None) -> dict[str, str]:
    at = curve.for_accuracy(wanted)
    best = curve.best
    never = f"never: at best {percent(best.accuracy)} (n = {best.answered:,})"
    row = {
        "Confidence method": METHODS[curve.method].title,
        "t": threshold_text(at.threshold) if at else NOTHING,
        f"Answered at {target_text(wanted)}": percent(at.share) if at else never,
        "Their accuracy": _right(at),
    }
    if threshold is not None:
        typed = curve.at_threshold(threshold)
        row[f"Answered at t = {threshold:g}"] = percent(typed.share)
        row[f"Their accuracy at t = {threshold:g}"] = _right(typed)
    return row | {
        "AUROC": number(curve.auroc),
        "AURC": number(curve.area),
        "Accuracy of all": percent(curve.all.accuracy),
        "Rows used / total": f"{curve.n_used:,} / {curve.n_total:,}",
        "Judged": curve.judged,
    }


def _right(answering: Answering | None) -> str:
    """"90.1 % (87.0 % to 92.6 %)", with a dash where nothing is answered."""
    if answering is None or answering.accuracy is None:
        return NOTHING
    ends = f"{percent(answering.low)} to {percent(answering.high)}"
    return f"{percent(answering.accuracy)} ({ends}), n = {answering.answered:,}"
