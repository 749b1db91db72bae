"""Which runs are checkpoints of one training, and where on its way does each stand?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from calib_core.records import RunInfo

TOKENS_AXIS: Final = "Tokens seen"  # noqa: S105  the title of an axis
STEPS_AXIS: Final = "Training step"

_STEP_PATTERN: Final = re.compile(r"(?:^|[^a-z])(?:step|checkpoint|ckpt|iter)[-_ ]?(\d{1,15})(?!\d)", re.IGNORECASE)
_DIGITS_PATTERN: Final = re.compile(r"\d{1,15}")
"""Of more digits than any training has steps, and than a float keeps, a number is a name."""


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


def checkpoint_step(checkpoint: str | None) -> int | None:
    """The step in a checkpoint's name: "step143000", "checkpoint-500", "8000"; None where there is none."""
    if checkpoint is None:
        return None
    text = checkpoint.strip()
    if _DIGITS_PATTERN.fullmatch(text):
        return int(text)
    found = _STEP_PATTERN.search(text)
    return int(found[1]) if found else None


def place_checkpoints(infos: Mapping[str, RunInfo], n_rows: Mapping[str, int]) -> CheckpointPlacement:
    """Puts runs on one axis, which is never of tokens and steps at once.

    infos, rows: run key → what is known of it, and how many rows its number stands on. The axis is of tokens
    seen, unless more runs have a step than have tokens. A line is a model on one data set with one number of
    shots, tuning and temperature; of two runs at one place the one of more rows stands there.
    """
    tokens = {run: info.tokens_seen for run, info in infos.items() if info.tokens_seen is not None}
    steps = {run: step for run, info in infos.items() if (step := checkpoint_step(info.checkpoint)) is not None}
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
    differing = [
        place for place in range(5) if len({own[place] for own in parts.values()}) > 1 or place == 0
    ]
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
