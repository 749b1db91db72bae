"""Does calibration improve as training goes on?  One block: every model's checkpoints as a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from calib_core.analysis.checkpoints import PER_STEP, placing
from calib_core.analysis.evidence import Evidence
from calib_core.analysis.limits import CLEAR
from calib_core.analysis.training import Checkpoint, Training, training
from calib_core.confidence import METHODS
from calib_core.figures.training import describe_training, training_figure
from calib_core.figures.training_axis import at_text
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from calib_core.report.parts import Block, Drawn, Progress, Section, Table, Tile
from calib_core.report.subject import RunHere, Subject, most_given
from calib_core.wording import number, p_value, span

ID, TITLE, QUESTION = "training", "Training", "Does calibration improve as training goes on?"

NO_CHECKPOINT: Final = (
    "No run here is a checkpoint of a training. Put one file a checkpoint into the data folder, each with "
    "“tokens_seen” (a whole number) or “checkpoint” (“step500”, “checkpoint-500” or digits): as a column, "
    "or in the file's metadata (for an NPZ the text array “meta”). Runs of one model are then one line."
)
CAPTION: Final = (
    "Pale: the number if a checkpoint's confidences were exactly right (5th to 95th percentile; dotted: the "
    "median)."
)


def section(subject: Subject, tell: Progress) -> Section:
    """The lines of each metric asked for. Raises Unavailable where no run is a checkpoint."""
    keyed = {str(at): run for at, run in enumerate(subject.runs)}
    placed = placing(
        {key: run.report.run.info for key, run in keyed.items()},
        {key: run.report.run.n_total for key, run in keyed.items()},
    )
    on_axis = [keyed[place.run] for line in placed.lines.values() for place in line]
    if not on_axis:
        raise Unavailable(NO_CHECKPOINT)
    method = most_given(on_axis, subject.asked.methods)
    if method is None:
        raise Unavailable("No checkpoint here gives one of these confidences.")
    evidences: dict[str, Evidence] = {}
    refused: dict[str, str] = {}
    for at, (key, run) in enumerate(keyed.items()):
        tell(at / len(keyed), run.title)
        try:
            evidences[key] = subject.evidence(run, method)
        except Unavailable as reason:
            refused[key] = str(reason)
    blocks: list[Block] = []
    for metric in subject.asked.every_metric:
        result = training(evidences, metric, subject.asked.scheme)
        if result.lines:
            blocks.append(_block(METHODS[method].title, result, keyed, refused))
    if not blocks:
        raise Unavailable("No run here is a checkpoint that gives this number.")
    return Section(ID, TITLE, QUESTION, tuple(blocks))


def _block(
    method: str, result: Training, runs: dict[str, RunHere], refused: Mapping[str, str]
) -> Block:
    reasons = {**refused, **result.without, **result.refused}
    places = {key: run.place for key, run in runs.items()}
    return Block(
        title="",
        by=method,
        reading=result.reading,
        tiles=tuple(tiles(result)),
        recipes=tuple(recipes(result)),
        figures=(
            Drawn.of(lambda theme: training_figure(result, theme, places=places), describe_training(result)),
        ),
        tables=(Table.of("", rows(result)),),
        captions=(*result.ends, CAPTION),
        remarks=tuple(_left_out({runs[key].title: why for key, why in reasons.items()})),
    )


def _left_out(reasons: Mapping[str, str]) -> list[str]:
    """Why runs are not on the axis, those of one reason together; reasons: by the run's title."""
    found: dict[str, list[str]] = {}
    for title, why in reasons.items():
        found.setdefault(why, []).append(title)
    return [f"Not drawn: {', '.join(titles)}: {why}" for why, titles in found.items()]


def tiles(result: Training) -> list[Tile]:
    """The number at both ends, of several lines from least to most, and how often it is beyond chance."""
    metric, points = METRICS[result.metric], [point for line in result.followed for point in line.points]
    if not points:
        return []
    firsts, lasts = ([line.points[at] for line in result.followed] for at in (0, -1))
    told = [_end(f"{metric.title} at first", firsts, metric.help)]
    if firsts != lasts:
        told.append(_end(f"{metric.title} at the end", lasts, metric.help))
    told.append(Tile("Checkpoints", f"{len(points):,}", "Of all lines together."))
    if judged := [point.p <= CLEAR for point in points if point.p is not None]:
        help_ = f"Checkpoints whose {metric.title} is larger than chance gives, p up to {CLEAR:g}."
        told.append(Tile("Beyond chance", f"{sum(judged):,} of {len(judged):,}", help_))
    return told


def _end(label: str, points: Sequence[Checkpoint], help_: str) -> Tile:
    known = [point.value for point in points if point.value is not None]
    alone = len(points) == 1
    low, high = min(known, default=None), max(known, default=None)
    value = number(low) if alone else span(low, high)
    null = points[0].null_median if alone else None
    return Tile(label, value, help_, "" if null is None else f"if calibrated {number(null)}")


def recipes(result: Training) -> list[str]:
    """How the points were made: one line where that is the same for all but the rows."""
    made = {point.recipe for line in result.lines for point in line.points}
    return sorted(made) or ["No checkpoint."]


def rows(result: Training) -> list[dict[str, object]]:
    """One row a checkpoint."""
    place = "Step" if result.axis == PER_STEP else "Tokens seen"
    names = place, METRICS[result.metric].title
    return [_row(line.title, point, *names) for line in result.lines for point in line.points]


def _row(line: str, point: Checkpoint, place: str, metric: str) -> dict[str, object]:
    return {
        "Checkpoint": point.label,
        place: at_text(point.at),
        metric: number(point.value),
        "If calibrated": number(point.null_median),
        "5–95 %": span(point.null_low, point.null_high),
        "p": p_value(point.p, point.draws),
        "Rows used": f"{point.n_used:,}",
        "Line": line,
    }
