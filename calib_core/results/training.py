"""Does calibration improve as training goes on? Runs that are checkpoints, as one line for each model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice, pairwise
from typing import Final

import polars as pl

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.inference.multiplicity import benjamini_hochberg
from calib_core.inference.null import NullDistribution, null_distribution
from calib_core.inference.verdict import Verdict, counted_kind, uncounted_note
from calib_core.metrics import METRICS
from calib_core.metrics.accuracy import ACCURACY
from calib_core.metrics.metric import Metric
from calib_core.results.changes import (
    Contrast,
    change_phrase,
    correct_contrasts,
    correction_note,
    difference_text,
    measure_contrast,
)
from calib_core.results.columns import Column, frame_of
from calib_core.results.display import Displayable
from calib_core.results.evidence import Evidence, bins_all_classes, get_metric
from calib_core.results.run_names import checkpoint_step
from calib_core.results.score import effective_scheme, metric_availability, score
from calib_core.runs import RunInfo, TokenRun
from calib_core.terms import TERMS, Terms, common_terms
from calib_core.wording import (
    NOT_DEFINED,
    as_clause,
    compact_count,
    format_significant,
    join_names,
    plural,
)

TOKENS_AXIS: Final = "Tokens seen"
STEPS_AXIS: Final = "Training step"

TOKEN_METRICS: Final = ("full_ece", "nll", "accuracy")
"""What is followed over the training of token-level runs: Full-ECE, and beside it loss and accuracy."""

ANSWER_METRICS: Final = ("ece", "accuracy")
"""The same for runs of answers."""

EVENT_METRICS: Final = ("ece", "auroc")
"""The same for probabilities of an event."""

ONLY_CHECKPOINT: Final = "The run is the only checkpoint of its model, and other models have several."
"""Why a model's only checkpoint is not shown beside lines of several."""


@dataclass(frozen=True, slots=True)
class PlacedRun:
    """One run on the axis of training.

    Attributes
    ----------
    run : str
        Its key.
    position : float
        Tokens seen, or the training step.
    """

    run: str
    position: float


@dataclass(frozen=True, slots=True)
class CheckpointPlacement:
    """All runs that have a position on one axis, by line, in order of training.

    Attributes
    ----------
    axis : str
        `TOKENS_AXIS` or `STEPS_AXIS`.
    lines : Mapping[str, tuple[PlacedRun, ...]]
        Title → its runs.
    unplaced : Mapping[str, str]
        Run key → why it has no position.
    """

    axis: str
    lines: Mapping[str, tuple[PlacedRun, ...]]
    unplaced: Mapping[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """One point of a line.

    Attributes
    ----------
    run : str
        Its key.
    label : str
        Name of the checkpoint.
    position : float
        Tokens seen, or the training step.
    value : float or None
        The metric; None where it is not defined.
    null_median, null_low, null_high : float or None
        As in `NullDistribution`; None where there is no null distribution.
    verdict : Verdict
        The verdict on the checkpoint, by its top label whatever the metric is.
    q : float or None
        q-value of the verdict among those of all checkpoints drawn (Benjamini–Hochberg); None if it has no
        p-value.
    n_used : int
    recipe : str
    is_one_bin : bool
        Whether the probabilities of all classes lie in one bin, as those of an untrained model do. Their gaps
        cancel there, so the metric is 0 whatever the model knows.
    """

    run: str
    label: str
    position: float
    value: float | None
    null_median: float | None
    null_low: float | None
    null_high: float | None
    verdict: Verdict
    q: float | None
    n_used: int
    recipe: str
    is_one_bin: bool = False

    @property
    def is_miscalibrated(self) -> bool:
        """Whether calibration is rejected, given how many checkpoints are drawn."""
        return self.verdict.is_tested and counted_kind(self.verdict, self.q) != "none"


@dataclass(frozen=True, slots=True, eq=False)
class TrainingLine:
    """The checkpoints of one model on one data set, in order of training.

    Attributes
    ----------
    title : str
    points : tuple[Checkpoint, ...]
    change : Contrast or None
        The metric at the last checkpoint that says something less that at the first, on the same questions,
        with its p-value corrected over all lines; None for a single one.
    steps : tuple[Contrast, ...]
        The metric at each such checkpoint less that at the one before, corrected over all steps of all lines.
    """

    title: str
    points: tuple[Checkpoint, ...]
    change: Contrast | None = None
    steps: tuple[Contrast, ...] = ()

    @property
    def informative_points(self) -> tuple[Checkpoint, ...]:
        """The checkpoints whose value says something: all but those whose probabilities share one bin."""
        return tuple(point for point in self.points if not point.is_one_bin)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Training(Displayable):
    """One metric over training, one line for each model.

    Attributes
    ----------
    metric : str
    bins : int
        M.
    axis : str
        "Tokens seen" or "Training step".
    lines : tuple[TrainingLine, ...]
    unplaced : Mapping[str, str]
        Run key → why it is not on a line.
    unavailable : Mapping[str, str]
        Run key → why it does not support the metric.
    headline : str
        One sentence on all lines, which claims a change only by the interval of the difference.
    line_summaries : tuple[str, ...]
        For each followed line its ends, the change, and how many of its checkpoints are miscalibrated.
    step_summaries : tuple[str, ...]
        For each followed line of several checkpoints, whether the metric improves from each to the next.
    remarks : tuple[str, ...]
        What a reader has to know about the rows of any checkpoint.
    """

    metric: str
    bins: int
    axis: str
    lines: tuple[TrainingLine, ...]
    unplaced: Mapping[str, str]
    unavailable: Mapping[str, str]
    headline: str
    line_summaries: tuple[str, ...] = ()
    step_summaries: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def followed_lines(self) -> tuple[TrainingLine, ...]:
        """The lines with several checkpoints, or all lines where there is none."""
        return lines_to_follow(self.lines)

    @property
    def points(self) -> tuple[Checkpoint, ...]:
        """The checkpoints of all lines."""
        return tuple(point for line in self.lines for point in line.points)

    @property
    def terms(self) -> Terms:
        """The words for the probabilities of the checkpoints."""
        return _terms(self.lines)

    @property
    def worded_metric(self) -> Metric:
        """The metric in these terms."""
        return METRICS[self.metric].worded(self.terms)

    @property
    def caveat(self) -> str:
        """Which values mean nothing, and why; "" where all mean something."""
        merged = list(dict.fromkeys(point.label for point in self.points if point.is_one_bin))
        if not merged:
            return ""
        return (
            f"Hollow: at {join_names(merged)} all probabilities lie in one bin, where gaps cancel and "
            f"{self.worded_metric.title_in_sentence} is 0 whatever the model knows."
        )

    @property
    def no_test_reason(self) -> str:
        """Why the change of no line is tested, as a sentence; "" where one is, or the reasons differ."""
        reason = shared_reason(self.followed_lines)
        return f"The change is not tested: {as_clause(reason)}." if reason else ""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the table of checkpoints."""
        is_in_steps = self.axis == STEPS_AXIS
        return (
            Column("line", "Line"),
            Column("run"),
            Column("label", "Checkpoint"),
            Column("at", "Step", "count", dtype=pl.Float64)
            if is_in_steps
            else Column("at", TOKENS_AXIS, "amount"),
            Column("value", self.worded_metric.title, "number"),
            Column("null_median", "If calibrated", "number"),
            Column("null_low", "5–95 %", "number", upper="null_high"),
            Column("null_high", kind="number"),
            Column("verdict", "Verdict", "verdict"),
            Column("p", kind="p"),
            Column("q", "q", "p"),
            Column("n_used", "Rows used", "count"),
            Column("recipe"),
        )

    def to_frame(self) -> pl.DataFrame:
        """One row for each checkpoint: line and the fields of `Checkpoint`; `at` is its position."""
        return frame_of(
            self.columns,
            (
                {
                    "line": line.title,
                    "at": point.position,
                    **asdict(point),
                    "verdict": point.verdict.words,
                    "p": point.verdict.p,
                }
                for line in self.lines
                for point in line.points
            ),
        )


def training_curves(
    evidences: Mapping[str, Evidence],
    metric_id: str,
    scheme: Scheme | None = None,
    *,
    include_single: bool = False,
) -> Training:
    """The metric of every checkpoint among these runs.

    Parameters
    ----------
    evidences : Mapping[str, Evidence]
        Run key → the run as seen by one method.
    metric_id : str
    scheme : Scheme, optional
        Ten bins of equal width where omitted.
    include_single : bool
        Whether to show a model's only checkpoint beside lines of several.

    Returns
    -------
    Training
        A run that does not support the metric is in `unavailable`.

    Raises
    ------
    Unavailable
        For an unknown metric.
    """
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    placement = place_checkpoints(
        {key: evidence.run.info for key, evidence in evidences.items()},
        {key: evidence.n_used for key, evidence in evidences.items()},
    )
    unavailable: dict[str, str] = {}
    lines: list[TrainingLine] = []
    for title, runs in placement.lines.items():
        points: list[Checkpoint] = []
        for placed_run in runs:
            try:
                points.append(_checkpoint(placed_run, evidences[placed_run.run], metric_id, scheme))
            except Unavailable as reason:
                unavailable[placed_run.run] = str(reason)
        if points:
            lines.append(TrainingLine(title, tuple(points)))
    unplaced = dict(placement.unplaced)
    if not include_single and any(len(line.points) > 1 for line in lines):
        unplaced |= {line.points[0].run: ONLY_CHECKPOINT for line in lines if len(line.points) == 1}
        lines = [line for line in lines if len(line.points) > 1]
    lines = _with_changes(_with_q_values(lines), evidences, metric_id, scheme)
    followed = lines_to_follow(lines)
    return Training(
        metric=metric_id,
        bins=scheme.bins,
        axis=placement.axis,
        lines=tuple(lines),
        unplaced=unplaced,
        unavailable=unavailable,
        headline=training_headline(metric_id, lines, placement.axis),
        line_summaries=tuple(
            line_summary(
                line,
                metric_id,
                placement.axis,
                with_change=len(followed) > 1,
                with_reason=shared_reason(followed) is None,
            )
            for line in followed
        ),
        step_summaries=tuple(
            f"{line.title}: {summary}" if len(followed) > 1 else summary
            for line in followed
            if (summary := steps_summary(line, metric_id))
        ),
        remarks=tuple(
            dict.fromkeys(
                remark for line in lines for point in line.points for remark in evidences[point.run].remarks
            )
        ),
    )


def default_training_metrics(evidence: Evidence, scheme: Scheme | None = None) -> tuple[str, ...]:
    """The metrics that are followed over training unless others are chosen, the leading one first.

    Parameters
    ----------
    evidence : Evidence
        Of one of the checkpoints.
    scheme : Scheme, optional
    """
    wanted = TOKEN_METRICS if isinstance(evidence.run, TokenRun) else ANSWER_METRICS
    wanted = EVENT_METRICS if evidence.terms.of == "event" else wanted
    available = metric_availability(evidence, scheme or Scheme())
    return tuple(id_ for id_ in wanted if available[id_] is None)


def _with_q_values(lines: Sequence[TrainingLine]) -> list[TrainingLine]:
    """The lines with the q-values of the verdicts on all their checkpoints together."""
    q_values = iter(benjamini_hochberg([point.verdict.p for line in lines for point in line.points]))
    return [
        replace(line, points=tuple(replace(point, q=next(q_values)) for point in line.points))
        for line in lines
    ]


def _with_changes(
    lines: Sequence[TrainingLine], evidences: Mapping[str, Evidence], metric_id: str, scheme: Scheme
) -> list[TrainingLine]:
    """The lines with the change from first to last checkpoint, and from each to the next.

    Both kinds are corrected over all lines, each by itself.
    """

    def contrast(first: Checkpoint, last: Checkpoint) -> Contrast:
        pair = [(evidences[first.run], evidences[last.run])]
        runs = ((first.run, last.run),)
        return measure_contrast(first.label, last.label, runs, pair, metric_id, scheme)

    followed = [points for line in lines if len(points := line.informative_points) > 1]
    changes = iter(correct_contrasts([contrast(points[0], points[-1]) for points in followed]))
    steps = iter(correct_contrasts([contrast(*pair) for points in followed for pair in pairwise(points)]))
    return [
        replace(line, change=next(changes), steps=tuple(islice(steps, len(line.informative_points) - 1)))
        if len(line.informative_points) > 1
        else line
        for line in lines
    ]


def lines_to_follow(lines: Sequence[TrainingLine]) -> tuple[TrainingLine, ...]:
    """The lines with several checkpoints, or all lines where there is none."""
    return tuple(line for line in lines if len(line.points) > 1) or tuple(lines)


def _checkpoint(placed: PlacedRun, evidence: Evidence, metric_id: str, scheme: Scheme) -> Checkpoint:
    metric = get_metric(metric_id)
    metric_score = score(evidence, metric_id, scheme)
    null: NullDistribution | None = None
    if metric_score.value is not None and metric.binned:
        null = null_distribution(evidence, metric, (scheme,), (metric_score.value,))
    return Checkpoint(
        run=placed.run,
        label=evidence.run.info.checkpoint or evidence.run.label,
        position=placed.position,
        value=metric_score.value,
        null_median=null.median[0] if null else None,
        null_low=null.low[0] if null else None,
        null_high=null.high[0] if null else None,
        verdict=evidence.verdict,
        q=evidence.verdict.p,
        n_used=metric_score.n_used,
        recipe=metric_score.recipe,
        is_one_bin=metric_score.value is not None and _is_one_bin(evidence, metric, scheme),
    )


def _is_one_bin(evidence: Evidence, metric: Metric, scheme: Scheme) -> bool:
    """Whether a metric over all classes together has all its pairs in one bin."""
    if not bins_all_classes(metric) or metric.required_sums == "classes":
        return False
    try:
        return evidence.class_sums_for(metric).binned(scheme).n_bins == 1
    except Unavailable:  # bounds stand for it
        return False


# --- Placing runs on the axis ---------------------------------------------------------------------


def place_checkpoints(infos: Mapping[str, RunInfo], n_rows: Mapping[str, int]) -> CheckpointPlacement:
    """Place runs on one axis, which never mixes tokens and steps.

    The axis shows tokens seen, unless more runs have a step than tokens. A line is a model on one data
    set with one number of shots, tuning and temperature; of two runs at the same position, the one with
    more rows is placed.

    Parameters
    ----------
    infos : Mapping[str, RunInfo]
    n_rows : Mapping[str, int]
        Run key → number of rows its metric is computed from.
    """
    tokens = {run: info.tokens_seen for run, info in infos.items() if info.tokens_seen is not None}
    steps = {
        run: step for run, info in infos.items() if (step := checkpoint_step(info.checkpoint)) is not None
    }
    axis, positions = (TOKENS_AXIS, tokens) if len(tokens) >= len(steps) else (STEPS_AXIS, steps)
    other_positions = steps if axis == TOKENS_AXIS else tokens
    unplaced = {
        run: _unplaced_reason(infos[run], axis, other=run in other_positions)
        for run in infos
        if run not in positions
    }
    titles = _line_titles({run: infos[run] for run in positions})
    lines: dict[str, list[PlacedRun]] = {}
    for run, position in sorted(positions.items(), key=lambda item: (item[1], -n_rows[item[0]])):
        line = lines.setdefault(titles[run], [])
        if line and line[-1].position == position:
            unplaced[run] = f"A run of no fewer rows stands at the same place of its line ({position:,})."
        else:
            line.append(PlacedRun(run, float(position)))
    order = dict.fromkeys(titles[run] for run in infos if run in titles)
    return CheckpointPlacement(axis, {title: tuple(lines[title]) for title in order}, unplaced)


def _unplaced_reason(info: RunInfo, axis: str, *, other: bool) -> str:
    if other:
        available, missing = ("steps", "tokens seen") if axis == TOKENS_AXIS else ("tokens seen", "a step")
        return f"It has {available} but not {missing}, and the two are never drawn on one axis."
    if info.checkpoint is None:
        return "The file names no checkpoint and no tokens seen."
    return f"The checkpoint {info.checkpoint!r} has no step in it, and tokens seen are not given."


def _line_titles(infos: Mapping[str, RunInfo]) -> dict[str, str]:
    """Run key → title of its line: the model, and whatever else distinguishes the lines."""
    parts = {run: _title_parts(info) for run, info in infos.items()}
    differing = [
        index
        for index in range(5)
        if len({run_parts[index] for run_parts in parts.values()}) > 1 or index == 0
    ]
    return {
        run: " · ".join(part for index in differing if (part := run_parts[index])) or "unnamed model"
        for run, run_parts in parts.items()
    }


def _title_parts(info: RunInfo) -> tuple[str, str, str, str, str]:
    return (
        info.model or "",
        info.dataset or "",
        "" if info.shots is None else f"{info.shots}-shot",
        info.tuning or "",
        "" if info.temperature is None else f"temperature {info.temperature:g}",
    )


# --- The curves in words --------------------------------------------------------------------------


def training_headline(metric_id: str, lines: Sequence[TrainingLine], axis: str) -> str:
    """One sentence on all lines: the metric at their ends, and whether it has changed.

    Checkpoints whose probabilities all lie in one bin say nothing and are left out.

    Parameters
    ----------
    metric_id : str
    lines : sequence of TrainingLine
    axis : str
        `TOKENS_AXIS` or `STEPS_AXIS`.
    """
    if not lines:
        return "No run is a checkpoint with this metric."
    metric = METRICS[metric_id].worded(_terms(lines)).title
    followed = lines_to_follow(lines)
    if len(followed) == 1:
        name = f"{followed[0].title}: " if len(lines) > 1 else ""
        return f"{name}{metric} {_line_clause(followed[0], axis)}."
    if all(len(line.points) == 1 for line in followed):
        return f"Each of the {len(lines)} lines has one checkpoint, so there is no change to follow."
    counts = Counter(_change_kind(line) for line in followed)
    parts = [f"{phrase} on {counts[kind]}" for kind, phrase in _CHANGE_PHRASES.items() if kind in counts]
    note = correction_note([line.change for line in followed if line.change is not None])
    note_clause = f" (paired differences, {note})" if note else ""
    return f"Of {len(followed)} lines, {metric} {join_names(parts)}{note_clause}."


_CHANGE_PHRASES: Final[Mapping[str, str]] = {
    "lower": "falls",
    "higher": "rises",
    "unclear": "does not clearly change",
    "seen lower": "falls without a test",
    "seen higher": "rises without a test",
    "unknown": "cannot be followed",
}


def _change_kind(line: TrainingLine) -> str:
    """The key in `_CHANGE_PHRASES` of what may be said of a line."""
    change, points = line.change, line.informative_points
    if change is not None and change.difference is not None and change.p is not None:
        return change_phrase(change) if change.is_clear else "unclear"
    direction = _shown_direction(points[0], points[-1]) if points else 0
    return f"seen {'higher' if direction > 0 else 'lower'}" if direction else "unknown"


def _line_clause(line: TrainingLine, axis: str) -> str:
    """What follows the metric's name for one line: its ends, and the change as tested or as seen."""
    points = line.informative_points
    if not points:
        return "is uninformative here: at each checkpoint all probabilities lie in one bin"
    first, last = points[0], points[-1]
    if len(points) == 1:
        only = "its only checkpoint" if len(line.points) == 1 else "the only checkpoint that says something"
        verdict = f": {first.verdict.words}{first.verdict.scope}" if first.verdict.is_tested else ""
        return f"is {_value_text(first)} at {only}{verdict}"
    start, end = (
        f"{_value_text(point)} at {_position_text(point.position, axis)}" for point in (first, last)
    )
    change, direction = line.change, _shown_direction(first, last)
    if change is not None and change.difference is not None and change.p is not None:
        difference = difference_text(change.difference, _terms([line]))
        if change.is_clear:
            verb = "rises" if change.difference.value > 0 else "falls"
            return f"{verb} from {start} to {end}: {difference}"
        return f"does not clearly change from {start} to {end}: {difference}"
    if not direction:
        return f"is {start} and {end}; the change is not tested"
    n_steps = len(points) - 1
    n_alike = sum(_shown_direction(*pair) == direction for pair in pairwise(points))
    steps = f", in {n_alike} of {n_steps} steps" if n_steps > 1 else ""
    return f"{'rises' if direction > 0 else 'falls'} from {start} to {end}{steps}; not tested"


def _shown_direction(earlier: Checkpoint, later: Checkpoint) -> int:
    """1 where the value as written rises, −1 where it falls, 0 where both are alike or one is not known."""
    if earlier.value is None or later.value is None or _value_text(earlier) == _value_text(later):
        return 0
    return 1 if later.value > earlier.value else -1


def shared_reason(lines: Sequence[TrainingLine]) -> str | None:
    """Why the changes of all lines are not tested; None if one is, or they have reasons of their own."""
    reasons = {line.change.reason if line.change else None for line in lines}
    return reasons.pop() if len(reasons) == 1 else None


def line_summary(
    line: TrainingLine, metric_id: str, axis: str, *, with_change: bool = False, with_reason: bool = False
) -> str:
    """The ends of a line, their difference or why it is not tested, and how many are miscalibrated."""
    points = line.informative_points or line.points
    first, last = points[0], points[-1]
    position = _position_text(first.position, axis)
    title = METRICS[metric_id].worded(_terms([line])).title
    opening = f"{line.title}: {title} {_value_text(first)} at {position}"
    if first is not last:
        opening += f", {_value_text(last)} at {_position_text(last.position, axis)}"
        if with_change and line.change and line.change.difference:
            opening += (
                f": {change_phrase(line.change)}, {difference_text(line.change.difference, _terms([line]))}"
            )
    judged = [point for point in line.points if point.verdict.is_tested]
    n_miscalibrated = sum(point.is_miscalibrated for point in judged)
    count = f"; {n_miscalibrated} of {plural(len(judged), 'checkpoint')} miscalibrated" if judged else ""
    uncounted = uncounted_note([(point.verdict, point.q) for point in judged], "checkpoint")
    reason = line.change.reason if line.change and with_reason else None
    untested = f"The change is not tested: {as_clause(reason)}." if reason else ""
    return " ".join(filter(None, [f"{opening}{count}.", uncounted, untested]))


def steps_summary(line: TrainingLine, metric_id: str) -> str:
    """Whether a metric improves from every checkpoint to the next; "" where that has no meaning.

    Improving throughout is claimed only where each step is clear, and denied only where a step is clearly the
    other way, by the paired differences corrected for all steps (Holm).
    """
    metric, terms = METRICS[metric_id], _terms([line])
    direction = metric.direction
    is_no_merit = terms.of == "event" and metric is ACCURACY
    if direction == "zero" or is_no_merit or not line.steps:
        return ""
    rises = direction == "higher"
    verb, changed = ("rise", "higher") if rises else ("fall", "lower")
    question = f"Does {metric.worded(terms).title_in_sentence} {verb} throughout?"
    n_steps = len(line.steps)
    phrases = [change_phrase(step) for step in line.steps]
    n_clear = phrases.count(changed)
    note = correction_note(line.steps)
    if n_clear == n_steps:
        each = f"each of the {n_steps} steps is" if n_steps > 1 else "the one step is"
        return f"{question} Yes: {each} clearly {changed}{f', {note}' if note else ''}."
    against = next((step for step in line.steps if step.is_clear and change_phrase(step) != changed), None)
    if against is not None and against.difference is not None:
        where = f"from {against.reference_level} to {against.level}"
        opposite = "lower" if rises else "higher"
        return f"{question} No: clearly {opposite} {where}, {difference_text(against.difference, terms)}."
    points = line.informative_points
    if any(point.value is None for point in points):
        return f"{question} Undecided: not every checkpoint has a value."
    n_as_wished = sum(_shown_direction(*pair) == (1 if rises else -1) for pair in pairwise(points))
    as_they_stand = f"the values {verb} in {n_as_wished} of {plural(n_steps, 'step')}"
    if any(step.difference is None for step in line.steps):
        return f"{question} As observed, {as_they_stand}, but not every step can be tested."
    return f"{question} Undecided: {as_they_stand}, {n_clear} of them clearly{f', {note}' if note else ''}."


def _terms(lines: Sequence[TrainingLine]) -> Terms:
    return common_terms(TERMS[point.verdict.of] for line in lines for point in line.points)


def _value_text(point: Checkpoint) -> str:
    return NOT_DEFINED if point.value is None else format_significant(point.value)


def _position_text(position: float, axis: str) -> str:
    return f"step {position:,.0f}" if axis == STEPS_AXIS else f"{compact_count(round(position))} tokens"
