"""Does calibration improve as training goes on?  Runs that are checkpoints → one line a model.

Which run stands where: checkpoints.py. How it is drawn: figures/training.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

import polars as pl

from calib_core.analysis.checkpoints import PER_STEP, Placed, placing
from calib_core.analysis.evidence import Evidence, metric_of
from calib_core.analysis.limits import CLEAR
from calib_core.analysis.null import Null, null_of
from calib_core.analysis.score import scheme_for, score
from calib_core.bins import Scheme
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """One point.

    run: the key it was given under; label: the checkpoint's name; at: tokens seen, or the step; value: the
    metric there, None where it is not defined; null_median, null_low, null_high, p: as in `null.Null`, None
    where there is none; recipe: of the number.
    """

    run: str
    label: str
    at: float
    value: float | None
    null_median: float | None
    null_low: float | None
    null_high: float | None
    p: float | None
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
    point of a line; refused: run key → why it cannot give the metric; reading: one sentence on each line's
    first and last point, which claims nothing the null does not allow.
    """

    metric: str
    bins: int
    axis: str
    lines: tuple[Line, ...]
    without: Mapping[str, str]
    refused: Mapping[str, str]
    reading: str

    def to_frame(self) -> pl.DataFrame:
        """One row a checkpoint: line and the fields of `Checkpoint`."""
        rows = [{"line": line.title, **asdict(point)} for line in self.lines for point in line.points]
        return pl.DataFrame(rows, schema=_SCHEMA)


_SCHEMA: Final[Mapping[str, type[pl.DataType]]] = {
    "line": pl.String, "run": pl.String, "label": pl.String, "at": pl.Float64, "value": pl.Float64,
    "null_median": pl.Float64, "null_low": pl.Float64, "null_high": pl.Float64, "p": pl.Float64,
    "n_used": pl.Int64, "recipe": pl.String,
}


def training(evidences: Mapping[str, Evidence], metric_id: str, scheme: Scheme | None = None) -> Training:
    """The metric of every checkpoint among these runs.

    evidences: run key → what one method says of the run. Raises Unavailable for a metric that does not
    exist; a run that cannot give it is named in `refused`.
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
    return Training(
        metric=metric_id,
        bins=scheme.bins,
        axis=placed.axis,
        lines=tuple(lines),
        without=placed.without,
        refused=refused,
        reading=_reading(metric_id, placed.axis, lines),
    )


def _point(place: Placed, evidence: Evidence, metric_id: str, scheme: Scheme) -> Checkpoint:
    metric = metric_of(metric_id)
    number = score(evidence, metric_id, scheme)
    null: Null | None = None
    if number.value is not None and metric.binned:
        null = null_of(evidence, metric, (scheme,), (number.value,))
    return Checkpoint(
        run=place.run,
        label=evidence.run.info.checkpoint or evidence.run.label,
        at=place.at,
        value=number.value,
        null_median=null.median[0] if null else None,
        null_low=null.low[0] if null else None,
        null_high=null.high[0] if null else None,
        p=null.p[0] if null else None,
        n_used=number.n_used,
        recipe=number.recipe,
    )


def _reading(metric_id: str, axis: str, lines: list[Line]) -> str:
    if not lines:
        return "No run here is a checkpoint that gives this number."
    title = METRICS[metric_id].title
    if len(lines) == 1:
        return f"{title} is {_of_line(lines[0], axis)}."
    trained = [line for line in lines if len(line.points) > 1]
    told = [f"{line.title}: {title} is {_of_line(line, axis)}." for line in trained or lines]
    if trained and (alone := len(lines) - len(trained)):
        told.append(f"{alone} more model{'s have' if alone > 1 else ' has'} one checkpoint.")
    return " ".join(told)


def _of_line(line: Line, axis: str) -> str:
    """The first and the last number, and what of them is more than chance."""
    first, last = line.points[0], line.points[-1]
    opening = f"{_number(first.value)} at {_place(first.at, axis)}"
    if first is last:
        return opening + _alone(first.p)
    told = f"{opening} and {_number(last.value)} at {_place(last.at, axis)}{_both(first, last)}"
    between = [point.p for point in line.points[1:-1] if point.p is not None]
    if not between:
        return told
    clear = sum(p <= CLEAR for p in between)
    if len(between) == 1:
        return f"{told}; the one between is {'beyond' if clear else 'within'} it"
    return f"{told}; {clear} of the {len(between)} between {'is' if clear == 1 else 'are'} beyond it"


def _number(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.4f}"


def _place(at: float, axis: str) -> str:
    return f"step {at:,.0f}" if axis == PER_STEP else f"{at:,.0f} tokens"


def _alone(p: float | None) -> str:
    if p is None:
        return ""
    return ": beyond chance" if p <= CLEAR else ": within chance"


def _both(first: Checkpoint, last: Checkpoint) -> str:
    if first.p is None or last.p is None or first.value is None or last.value is None:
        return ""
    was, is_ = first.p <= CLEAR, last.p <= CLEAR
    if was and is_:
        return ": both are beyond chance"
    if was:
        return ": beyond chance at first, within it at the end"
    if is_:
        return ": within chance at first, beyond it at the end"
    return ": both are within chance"
