"""Does calibration improve as training goes on?  Runs that are checkpoints → one line a model.

Which run stands where: checkpoints.py. How it is drawn: figures/training.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import polars as pl

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.inference.null import NullDistribution, null_distribution
from calib_core.inference.verdict import SIGNIFICANCE_LEVEL, WITHIN_CHANCE
from calib_core.metrics import METRICS
from calib_core.results.evidence import Evidence, get_metric
from calib_core.results.run_names import checkpoint_step
from calib_core.results.score import effective_scheme, score
from calib_core.runs import RunInfo
from calib_core.wording import NOT_DEFINED, both_or_all, format_number, plural

# MERGED checkpoints: Which runs are checkpoints of one training, and where on its way does each stand?

TOKENS_AXIS: Final = "Tokens seen"
STEPS_AXIS: Final = "Training step"


@dataclass(frozen=True, slots=True)
class PlacedRun:
    """One run on the axis. run: its key; at: tokens seen, or the step."""

    run: str
    position: float


@dataclass(frozen=True, slots=True)
class CheckpointPlacement:
    """Every run that stands somewhere on one axis, by line, in order of training.

    axis: PER_TOKEN or PER_STEP; lines: title → runs; without: run key → why it stands nowhere.
    """

    axis: str
    lines: Mapping[str, tuple[PlacedRun, ...]]
    unplaced: Mapping[str, str]


def place_checkpoints(infos: Mapping[str, RunInfo], n_rows: Mapping[str, int]) -> CheckpointPlacement:
    """Puts runs on one axis, which is never of tokens and steps at once.

    infos, rows: run key → what is known of it, and how many rows its number stands on. The axis is of tokens
    seen, unless more runs have a step than have tokens. A line is a model on one data set with one number of
    shots, tuning and temperature; of two runs at one place the one of more rows stands there.
    """
    tokens = {run: info.tokens_seen for run, info in infos.items() if info.tokens_seen is not None}
    steps = {
        run: step for run, info in infos.items() if (step := checkpoint_step(info.checkpoint)) is not None
    }
    axis, at = (TOKENS_AXIS, tokens) if len(tokens) >= len(steps) else (STEPS_AXIS, steps)
    other = steps if axis == TOKENS_AXIS else tokens
    without = {run: _unplaced_reason(infos[run], axis, other=run in other) for run in infos if run not in at}
    titles = _line_titles({run: infos[run] for run in at})
    lines: dict[str, list[PlacedRun]] = {}
    for run, where in sorted(at.items(), key=lambda item: (item[1], -n_rows[item[0]])):
        line = lines.setdefault(titles[run], [])
        if line and line[-1].position == where:
            without[run] = f"A run of no fewer rows stands at the same place of its line ({where:,})."
        else:
            line.append(PlacedRun(run, float(where)))
    order = dict.fromkeys(titles[run] for run in infos if run in titles)
    return CheckpointPlacement(axis, {title: tuple(lines[title]) for title in order}, without)


def _unplaced_reason(info: RunInfo, axis: str, *, other: bool) -> str:
    if other:
        known, lacks = ("steps", "tokens seen") if axis == TOKENS_AXIS else ("tokens seen", "a step")
        return f"It has {known} but not {lacks}, and the two are never drawn on one axis."
    if info.checkpoint is None:
        return "Its file names no checkpoint and no tokens seen."
    return f"The checkpoint {info.checkpoint!r} has no step in it, and tokens seen are not given."


def _line_titles(infos: Mapping[str, RunInfo]) -> dict[str, str]:
    """A name for each run's line: the model, and of the rest what tells lines apart."""
    parts = {run: _title_parts(info) for run, info in infos.items()}
    differing = [place for place in range(5) if len({own[place] for own in parts.values()}) > 1 or place == 0]
    return {
        run: " · ".join(word for place in differing if (word := own[place])) or "unnamed model"
        for run, own in parts.items()
    }


def _title_parts(info: RunInfo) -> tuple[str, str, str, str, str]:
    return (
        info.model or "",
        info.dataset or "",
        "" if info.shots is None else f"{info.shots}-shot",
        info.tuning or "",
        "" if info.temperature is None else f"temperature {info.temperature:g}",
    )


ONLY_CHECKPOINT: Final = "It is the only checkpoint of its model, and others have several."


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
class TrainingLine:
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
    lines: tuple[TrainingLine, ...]
    unplaced: Mapping[str, str]
    unavailable: Mapping[str, str]
    headline: str
    line_summaries: tuple[str, ...] = ()

    @property
    def followed_lines(self) -> tuple[TrainingLine, ...]:
        """The lines of several checkpoints; all where there is none."""
        return lines_to_follow(self.lines)

    def to_frame(self) -> pl.DataFrame:
        """One row a checkpoint: line and the fields of `Checkpoint`."""
        rows = [{"line": line.title, **asdict(point)} for line in self.lines for point in line.points]
        return pl.DataFrame(rows, schema=_TRAINING_SCHEMA)


_TRAINING_SCHEMA: Final[Mapping[str, type[pl.DataType]]] = {
    "line": pl.String,
    "run": pl.String,
    "label": pl.String,
    "at": pl.Float64,
    "value": pl.Float64,
    "null_median": pl.Float64,
    "null_low": pl.Float64,
    "null_high": pl.Float64,
    "p": pl.Float64,
    "draws": pl.Int64,
    "n_used": pl.Int64,
    "recipe": pl.String,
}


def training_curves(
    evidences: Mapping[str, Evidence],
    metric_id: str,
    scheme: Scheme | None = None,
    *,
    include_single: bool = False,
) -> Training:
    """The metric of every checkpoint among these runs.

    evidences: run key → what one method says of the run; alone: whether a model's only checkpoint is shown
    beside lines of several, which it has no training to compare with. Raises Unavailable for a metric that
    does not exist; a run that cannot give it is named in `refused`.
    """
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    placed = place_checkpoints(
        {key: evidence.run.info for key, evidence in evidences.items()},
        {key: evidence.n_used for key, evidence in evidences.items()},
    )
    refused: dict[str, str] = {}
    lines: list[TrainingLine] = []
    for title, runs in placed.lines.items():
        points: list[Checkpoint] = []
        for place in runs:
            try:
                points.append(_checkpoint(place, evidences[place.run], metric_id, scheme))
            except Unavailable as reason:
                refused[place.run] = str(reason)
        if points:
            lines.append(TrainingLine(title, tuple(points)))
    without = dict(placed.unplaced)
    if not include_single and any(len(line.points) > 1 for line in lines):
        without |= {line.points[0].run: ONLY_CHECKPOINT for line in lines if len(line.points) == 1}
        lines = [line for line in lines if len(line.points) > 1]
    return Training(
        metric=metric_id,
        bins=scheme.bins,
        axis=placed.axis,
        lines=tuple(lines),
        unplaced=without,
        unavailable=refused,
        headline=training_headline(metric_id, lines),
        line_summaries=tuple(line_summary(line, metric_id, placed.axis) for line in lines_to_follow(lines)),
    )


def lines_to_follow(lines: Sequence[TrainingLine]) -> tuple[TrainingLine, ...]:
    """The lines of several checkpoints; all where there is none."""
    return tuple(line for line in lines if len(line.points) > 1) or tuple(lines)


def _checkpoint(placed: PlacedRun, evidence: Evidence, metric_id: str, scheme: Scheme) -> Checkpoint:
    metric = get_metric(metric_id)
    found = score(evidence, metric_id, scheme)
    null: NullDistribution | None = None
    if found.value is not None and metric.binned:
        null = null_distribution(evidence, metric, (scheme,), (found.value,))
    return Checkpoint(
        run=placed.run,
        label=evidence.run.info.checkpoint or evidence.run.label,
        at=placed.position,
        value=found.value,
        null_median=null.median[0] if null else None,
        null_low=null.low[0] if null else None,
        null_high=null.high[0] if null else None,
        p=null.p[0] if null else None,
        draws=null.n_draws if null else None,
        n_used=found.n_used,
        recipe=found.recipe,
    )


def training_headline(metric_id: str, lines: Sequence[TrainingLine]) -> str:
    """One sentence on all lines: where the number is more than chance gives."""
    if not lines:
        return "No run here is a checkpoint that gives this number."
    metric = METRICS[metric_id].title
    trained = lines_to_follow(lines)
    first, last = trained[0].points[0], trained[0].points[-1]
    if first is last and len(trained) > 1:
        return f"Each of the {len(lines)} lines has one checkpoint, so there is no way to follow."
    if first is last:
        return f"{metric} is {_value_text(first)} at its only checkpoint{_chance_clause(first.p)}."
    if len(trained) == 1:
        name = f"{trained[0].title}: " if len(lines) > 1 else ""
        return f"{name}{metric} {_value_text(first)} → {_value_text(last)}{_ends_chance_clause(first, last)}."
    judged = [(line.points[0].p, line.points[-1].p) for line in trained]
    firsts = [first <= SIGNIFICANCE_LEVEL for first, last in judged if first is not None and last is not None]
    lasts = [last <= SIGNIFICANCE_LEVEL for first, last in judged if first is not None and last is not None]
    if len(lasts) == len(trained):
        of = f"{_count_phrase(lasts, 'lines')}, at the first of {_count_phrase(firsts)}"
        return f"{metric} is beyond chance at the last checkpoint of {of}."
    ends = [(line.points[0].value, line.points[-1].value) for line in trained]
    falls = [first is not None and last is not None and last < first for first, last in ends]
    return f"{metric} is lower at the last checkpoint than at the first of {_count_phrase(falls, 'lines')}."


def _count_phrase(flags: Sequence[bool], noun: str = "") -> str:
    """ "all 4 lines", "both lines", "3 of 4 lines", "none of the 4 lines"; without `of` "all", "3", "none"."""
    found, total = sum(flags), len(flags)
    if found == total:
        return f"{both_or_all(total)} {noun}" if noun else "both" if total == 2 else "all"
    if not noun:
        return str(found or "none")
    return f"{found or 'none'} of {'' if found else 'the '}{total} {noun}"


def line_summary(line: TrainingLine, metric_id: str, axis: str) -> str:
    """The first and the last number of a line, and how many of all its checkpoints are more than chance."""
    first, last = line.points[0], line.points[-1]
    opening = (
        f"{line.title}: {METRICS[metric_id].title} {_value_text(first)} at {_position_text(first.at, axis)}"
    )
    if first is not last:
        opening += f", {_value_text(last)} at {_position_text(last.at, axis)}"
    clear = [point.p <= SIGNIFICANCE_LEVEL for point in line.points if point.p is not None]
    if not clear:
        return f"{opening}."
    return f"{opening}; {sum(clear)} of {plural(len(clear), 'checkpoint')} beyond chance."


def _value_text(point: Checkpoint) -> str:
    return format_number(point.value, missing=NOT_DEFINED)


def _position_text(position: float, axis: str) -> str:
    return f"step {position:,.0f}" if axis == STEPS_AXIS else f"{position:,.0f} tokens"


def _chance_clause(p: float | None) -> str:
    if p is None:
        return ""
    return ": beyond chance" if p <= SIGNIFICANCE_LEVEL else ": within chance"


def _ends_chance_clause(first: Checkpoint, last: Checkpoint) -> str:
    if first.p is None or last.p is None:
        return ""
    was, is_ = ("beyond chance" if p <= SIGNIFICANCE_LEVEL else WITHIN_CHANCE for p in (first.p, last.p))
    return f": {was} at first and at the end" if was == is_ else f": {was} at first, {is_} at the end"
