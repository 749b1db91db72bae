"""What does the head of an Inspect log say of its run, before any sample is looked at?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from calib_core.files.harness.json_values import as_list, as_object, as_real, as_text, as_whole
from calib_core.records import Reported, RunInfo

_SHOTS: Final = ("fewshot", "num_fewshot", "n_shot", "shots")
_UNFINISHED: Final[Mapping[str, str]] = {
    "started": "The run was not finished when this log was written",
    "cancelled": "The run was cancelled",
    "error": "The run ended with an error",
}


@dataclass(frozen=True, slots=True, eq=False)
class Header:
    """The run of a log.

    info: what tells it from others; status: success, started, cancelled or error; samples: questions of its
    data set, None = not said; epochs: times each is asked; results: the numbers that the tool worked out, by
    the scorer's name in the samples; invalidated: whether somebody has said that it is not to be used.
    """

    info: RunInfo
    status: str
    samples: int | None
    epochs: int
    results: tuple[tuple[str, Reported], ...]
    invalidated: bool

    @property
    def greedy(self) -> bool:
        """Whether the same question is given the same answer each time."""
        return self.info.temperature == 0

    def notes(self, questions: int) -> Iterator[str]:
        """What has to be known of the run. questions: how many are in the log."""
        of = f" of {self.samples:,}" if self.samples is not None and self.samples > questions else ""
        if self.status in _UNFINISHED:
            yield f"{_UNFINISHED[self.status]}: {questions:,}{of} questions are in it."
        elif of:
            yield f"{questions:,}{of} questions of the data set are in this log."
        if self.invalidated:
            yield "The log is marked as invalidated: somebody has found that the run should not be used."


def header_of(record: Mapping[str, object]) -> Header:
    """The head of a log: its own member, the whole log, or what was written when the run began."""
    run, results = as_object(record.get("eval")), as_object(record.get("results"))
    settings = (run.get("model_generate_config"), as_object(record.get("plan")).get("config"))
    temperatures = (as_real(as_object(part).get("temperature")) for part in settings)
    info = RunInfo(
        model=as_text(run.get("model")) or None,
        dataset=as_text(run.get("task")) or None,
        shots=_shots(record, run),
        temperature=next((value for value in temperatures if value is not None), None),
    )
    return Header(
        info=info,
        status=as_text(record.get("status")) or "started",
        samples=_samples(run),
        epochs=as_whole(as_object(run.get("config")).get("epochs")) or 1,
        results=tuple(_results(results)),
        invalidated=record.get("invalidated") is True,
    )


def _samples(run: Mapping[str, object]) -> int | None:
    """How many questions were to be asked."""
    dataset, limit = as_object(run.get("dataset")), as_object(run.get("config")).get("limit")
    total = as_whole(dataset.get("samples"))
    asked = as_whole(limit)
    return min(total, asked) if total is not None and asked is not None else total


def _shots(record: Mapping[str, object], run: Mapping[str, object]) -> int | None:
    """The number of examples, where the task or one of its steps was given one."""
    steps = map(as_object, as_list(as_object(record.get("plan")).get("steps")))
    said = [as_object(run.get("task_args")), *(as_object(step.get("params")) for step in steps)]
    found = [shots for part in said for name in _SHOTS if (shots := as_whole(part.get(name))) is not None]
    return found[0] if found and found[0] >= 0 else None


def _results(results: Mapping[str, object]) -> Iterator[tuple[str, Reported]]:
    """The accuracies that the tool worked out, each with its scorer's name."""
    scores = [*map(as_object, as_list(results.get("scores")))]
    if "metrics" in results:  # logs of its first versions: one scorer
        scores.append(results)
    for score in scores:
        name = as_text(score.get("name")) or as_text(as_object(score.get("scorer")).get("name")) or "score"
        scored = as_whole(score.get("scored_samples"))
        for metric, stored in as_object(score.get("metrics")).items():
            value = as_real(as_object(stored).get("value"))
            if value is not None and math.isfinite(value) and metric in ("accuracy", "mean"):
                yield name, Reported(f"{name}: {metric}", value, scored)
