"""Which place has each run among all at hand?  It is what gives a run its look, the same on every page."""

from __future__ import annotations

from collections.abc import Sequence

from calib_core.analysis.checkpoints import checkpoint_step
from calib_core.records import RunInfo


def run_order(infos: Sequence[RunInfo]) -> list[int]:
    """The place of each run, from 0, each once: data set by data set, and there in the order given.

    Runs of one data set are what stands together most often, and neighbours look least alike. Of the
    checkpoints of one training only the last is among them: the others come after the runs of their data set,
    for they stand on its line.
    """
    last: dict[tuple[object, ...], int] = {}
    for info in infos:
        last[_training_key(info)] = max(last.get(_training_key(info), 0), _training_progress(info))

    def sort_key(index: int) -> tuple[str, bool]:
        info = infos[index]
        return info.dataset or "", _training_progress(info) < last[_training_key(info)]

    ordered = sorted(range(len(infos)), key=sort_key)
    return [ordered.index(at) for at in range(len(infos))]


def _training_key(info: RunInfo) -> tuple[object, ...]:
    return info.model, info.dataset, info.shots, info.tuning, info.temperature


def _training_progress(info: RunInfo) -> int:
    """Tokens seen, or the step: the two grow together."""
    return info.tokens_seen or checkpoint_step(info.checkpoint) or 0
