"""Does calibration improve as training goes on?  Runs that are checkpoints → one line a model.

Which run stands where: checkpoints.py. How it is drawn: figures/training.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import polars as pl

from calib_core.analysis.checkpoints import PER_STEP, Placed, placing
from calib_core.analysis.evidence import Evidence, metric_of
from calib_core.analysis.limits import CLEAR
from calib_core.analysis.null import Null, null_of
from calib_core.analysis.score import scheme_for, score
from calib_core.analysis.tendency import WITHIN
from calib_core.bins import Scheme
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from calib_core.wording import UNDEFINED, count, every, number

ALONE: Final = "It is the only checkpoint of its model, and others have several."


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """One point.

    run: the key it was given under; label: the checkpoint's name; at: tokens seen, or the step; value: the
    metric there, None where it is not defined; null_median, null_low, null_high, p, draws: as in `null.Null`,
    None where there is none; recipe: of the number.
    """

    run: str
    label: str
    at: float
    value: float | None
    null_median: float | None
    null_low: float | None
    null_high: float | None
    p: float | None
    draws: int | None
    n_used: int
    recipe: str


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """The checkpoints of one model (and data set, temperature …) in order of training."""

    title: str
    points: tuple[Checkpoint, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """The lines of one metric over one axis.

    metric, bins: what is drawn; axis: "Tokens seen" or "Training step"; without: run key → why it is no
    point of a line; refused: run key → why it cannot give the metric; reading: one sentence on all lines,
    which claims nothing the null does not allow; ends: one on the first and last
    point of each line that is followed, and on how many are beyond chance.
    """

    metric: str
    bins: int
    axis: str
    lines: tuple[Line, ...]
    without: Mapping[str, str]
    refused: Mapping[str, str]
    reading: str
    ends: tuple[str, ...] = ()

    @property
    def followed(self) -> tuple[Line, ...]:
        """The lines of several checkpoints; all where there is none."""
        return followed(self.lines)

    def to_frame(self) -> pl.DataFrame:
        """One row a checkpoint: line and the fields of `Checkpoint`."""
        rows = [{"line": line.title, **asdict(point)} for line in self.lines for point in line.points]
        return pl.DataFrame(rows, schema=_SCHEMA)


_SCHEMA: Final[Mapping[str, type[pl.DataType]]] = {
    "line": pl.String, "run": pl.String, "label": pl.String, "at": pl.Float64, "value": pl.Float64,
    "null_median": pl.Float64, "null_low": pl.Float64, "null_high": pl.Float64, "p": pl.Float64,
    "draws": pl.Int64, "n_used": pl.Int64, "recipe": pl.String,
}


def training(
    evidences: Mapping[str, Evidence], metric_id: str, scheme: Scheme | None = None, *, alone: bool = False
) -> Training:
    """The metric of every checkpoint among these runs.

    evidences: run key → what one method says of the run; alone: whether a model's only checkpoint is shown
    beside lines of several, which it has no training to compare with. Raises Unavailable for a metric that
    does not exist; a run that cannot give it is named in `refused`.
    """
    metric = metric_of(metric_id)
    scheme = scheme_for(metric, scheme or Scheme())
    placed = placing(
        {key: evidence.run.info for key, evidence in evidences.items()},
        {key: evidence.n_used for key, evidence in evidences.items()},
    )
    refused: dict[str, str] = {}
    lines: list[Line] = []
    for title, runs in placed.lines.items():
        points: list[Checkpoint] = []
        for place in runs:
            try:
                points.append(_point(place, evidences[place.run], metric_id, scheme))
            except Unavailable as reason:
                refused[place.run] = str(reason)
        if points:
            lines.append(Line(title, tuple(points)))
    without = dict(placed.without)
    if not alone and any(len(line.points) > 1 for line in lines):
        without |= {line.points[0].run: ALONE for line in lines if len(line.points) == 1}
        lines = [line for line in lines if len(line.points) > 1]
    return Training(
        metric=metric_id,
        bins=scheme.bins,
        axis=placed.axis,
        lines=tuple(lines),
        without=without,
        refused=refused,
        reading=read_training(metric_id, lines),
        ends=tuple(read_line(line, metric_id, placed.axis) for line in followed(lines)),
    )


def followed(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines of several checkpoints; all where there is none."""
    return tuple(line for line in lines if len(line.points) > 1) or tuple(lines)


def _point(place: Placed, evidence: Evidence, metric_id: str, scheme: Scheme) -> Checkpoint:
    metric = metric_of(metric_id)
    found = score(evidence, metric_id, scheme)
    null: Null | None = None
    if found.value is not None and metric.binned:
        null = null_of(evidence, metric, (scheme,), (found.value,))
    return Checkpoint(
        run=place.run,
        label=evidence.run.info.checkpoint or evidence.run.label,
        at=place.at,
        value=found.value,
        null_median=null.median[0] if null else None,
        null_low=null.low[0] if null else None,
        null_high=null.high[0] if null else None,
        p=null.p[0] if null else None,
        draws=null.draws if null else None,
        n_used=found.n_used,
        recipe=found.recipe,
    )


def read_training(metric_id: str, lines: Sequence[Line]) -> str:
    """One sentence on all lines: where the number is more than chance gives."""
    if not lines:
        return "No run here is a checkpoint that gives this number."
    metric = METRICS[metric_id].title
    trained = followed(lines)
    first, last = trained[0].points[0], trained[0].points[-1]
    if first is last and len(trained) > 1:
        return f"Each of the {len(lines)} lines has one checkpoint, so there is no way to follow."
    if first is last:
        return f"{metric} is {_told(first)} at its only checkpoint{_alone(first.p)}."
    if len(trained) == 1:
        name = f"{trained[0].title}: " if len(lines) > 1 else ""
        return f"{name}{metric} {_told(first)} → {_told(last)}{_both(first, last)}."
    judged = [(line.points[0].p, line.points[-1].p) for line in trained]
    firsts = [first <= CLEAR for first, last in judged if first is not None and last is not None]
    lasts = [last <= CLEAR for first, last in judged if first is not None and last is not None]
    if len(lasts) == len(trained):
        of = f"{_how_many(lasts, 'lines')}, at the first of {_how_many(firsts)}"
        return f"{metric} is beyond chance at the last checkpoint of {of}."
    ends = [(line.points[0].value, line.points[-1].value) for line in trained]
    falls = [first is not None and last is not None and last < first for first, last in ends]
    return f"{metric} is lower at the last checkpoint than at the first of {_how_many(falls, 'lines')}."


def _how_many(true: Sequence[bool], of: str = "") -> str:
    """"all 4 lines", "both lines", "3 of 4 lines", "none of the 4 lines"; without `of` "all", "3", "none"."""
    found, total = sum(true), len(true)
    if found == total:
        return f"{every(total)} {of}" if of else "both" if total == 2 else "all"
    if not of:
        return str(found or "none")
    return f"{found or 'none'} of {'' if found else 'the '}{total} {of}"


def read_line(line: Line, metric_id: str, axis: str) -> str:
    """The first and the last number of a line, and how many of all its checkpoints are more than chance."""
    first, last = line.points[0], line.points[-1]
    opening = f"{line.title}: {METRICS[metric_id].title} {_told(first)} at {_place(first.at, axis)}"
    if first is not last:
        opening += f", {_told(last)} at {_place(last.at, axis)}"
    clear = [point.p <= CLEAR for point in line.points if point.p is not None]
    if not clear:
        return f"{opening}."
    return f"{opening}; {sum(clear)} of {count(len(clear), 'checkpoint')} beyond chance."


def _told(point: Checkpoint) -> str:
    return number(point.value, none=UNDEFINED)


def _place(at: float, axis: str) -> str:
    return f"step {at:,.0f}" if axis == PER_STEP else f"{at:,.0f} tokens"


def _alone(p: float | None) -> str:
    if p is None:
        return ""
    return ": beyond chance" if p <= CLEAR else ": within chance"


def _both(first: Checkpoint, last: Checkpoint) -> str:
    if first.p is None or last.p is None:
        return ""
    was, is_ = ("beyond chance" if p <= CLEAR else WITHIN for p in (first.p, last.p))
    return f": {was} at first and at the end" if was == is_ else f": {was} at first, {is_} at the end"
