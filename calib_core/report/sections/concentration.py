"""Where do the confidences lie, and can the bins be trusted?  One block a run and method."""

from __future__ import annotations

from collections.abc import Sequence

from calib_core.analysis.concentration import Concentration, concentration, reading
from calib_core.bins import MAX_BINS
from calib_core.figures.concentration import describe_histogram, histogram_figure
from calib_core.figures.cumulative import cumulative_figure, describe_cumulative
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from calib_core.report.parts import Block, Drawn, Progress, Section, Tile, not_drawn
from calib_core.report.subject import RunHere, Subject
from calib_core.wording import number, percent

ID, TITLE = "concentration", "Bin concentration"
QUESTION = "Where do the confidences lie, and can the bins be trusted?"


def section(subject: Subject, tell: Progress) -> Section:
    """Histogram and cumulative share of every run. Raises Unavailable where no run gives them."""
    blocks: list[Block] = []
    refused: list[str] = []
    for at, run in enumerate(subject.runs):
        tell(at / len(subject.runs), run.title)
        for method in subject.methods_of(run):
            try:
                blocks.append(_block(subject, run, method))
            except Unavailable as reason:
                refused.append(f"{run.title}: {reason}")
    if not blocks:
        raise Unavailable(refused[0] if refused else "No run gives one of these confidences.")
    return Section(ID, TITLE, QUESTION, (*blocks, *not_drawn(refused)))


def _block(subject: Subject, run: RunHere, method: str) -> Block:
    result = concentration(subject.evidence(run, method), subject.asked.scheme)
    return Block(
        title=run.title,
        by=result.title,
        reading=reading([result]),
        remarks=(result.warning,) if result.warning else (),
        tiles=tuple(tiles(result)),
        recipes=(result.recipe,),
        figures=(
            Drawn.of(
                lambda theme: histogram_figure([result], theme), describe_histogram([result]),
                HISTOGRAM, narrow=True,
            ),
            Drawn.of(
                lambda theme: cumulative_figure([result], theme), describe_cumulative([result]),
                cumulative_title(result), narrow=True,
            ),
        ),
        captions=(caption([result]),),
    )


HISTOGRAM = "Histogram of confidences"


def cumulative_title(result: Concentration) -> str:
    """What stands above the cumulative line."""
    return f"Cumulative share of {result.unit}, fullest bin first"


def caption(results: Sequence[Concentration]) -> str:
    """How both figures of these are read."""
    scale = ", each to its own scale" if len(results) > 1 else ""
    return (
        f"Amber: the two fullest bins. Fine strip: the same {results[0].unit} in {MAX_BINS:,} bins{scale}. "
        "The steeper the cumulative line rises, the fewer bins the ECE rests on."
    )


def tiles(result: Concentration) -> list[Tile]:
    """How far the confidences spread."""
    unit = result.unit
    return [
        Tile("Two fullest bins", percent(result.top_two), f"Share of the {unit} in them."),
        Tile(
            "Effective bins",
            f"{number(result.effective, '.1f')} of {result.bins}",
            f"1/Σw², w = a bin's share of the {unit}: so many full bins would be as spread out.",
        ),
        Tile("Distinct values", number(result.distinct, ",d"), _known(result, "Different confidences.")),
        Tile("ECE", number(result.ece), f"Of the same bins. {METRICS['ece'].help}"),
        Tile("At exactly 0", percent(result.at_zero), _certain(result, "wrong")),
        Tile("At exactly 1", percent(result.at_one), _certain(result, "right")),
        Tile(
            "Non-empty bins",
            f"{result.table.height} of {result.bins}",
            "Empty bins have no accuracy and add nothing to the ECE.",
        ),
        Tile(
            f"{unit.capitalize()} used / total",
            f"{result.n_used:,} / {result.n_total:,}",
            f"{unit.capitalize()} with confidence and outcome.",
        ),
    ]


def _certain(result: Concentration, outcome: str) -> str:
    return _known(result, f"Share of the {result.unit} that are certain to be {outcome}.")


def _known(result: Concentration, text: str) -> str:
    """The help of a number that single confidences are needed for."""
    kept = result.distinct is not None
    return text if kept else f"{text} Not known: of a token-level run only sums are kept."
