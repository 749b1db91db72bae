"""What does the head of an Inspect log say of its run, before any sample is looked at?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from calib_core.files.harness.json_values import as_list, as_object, as_float, as_text, as_integer
from calib_core.records import ReportedMetric, RunInfo

_SHOT_KEYS: Final = ("fewshot", "num_fewshot", "n_shot", "shots")
_UNFINISHED_NOTES: Final[Mapping[str, str]] = {
    "started": "The run was not finished when this log was written",
    "cancelled": "The run was cancelled",
    "error": "The run ended with an error",
}


@dataclass(frozen=True, slots=True, eq=False)
class LogHeader:
    """The run of a log.

    info: what tells it from others; status: success, started, cancelled or error; samples: questions of its
    data set, None = not said; epochs: times each is asked; results: the numbers that the tool worked out, by
    the scorer's name in the samples; invalidated: whether somebody has said that it is not to be used.
    """

    info: RunInfo
    status: str
    n_questions: int | None
    n_epochs: int
    results: tuple[tuple[str, ReportedMetric], ...]
    is_invalidated: bool

    @property
    def is_greedy(self) -> bool:
        """Whether the same question is given the same answer each time."""
        return self.info.temperature == 0

    def notes(self, n_questions: int) -> Iterator[str]:
        """What has to be known of the run. questions: how many are in the log."""
        of = f" of {self.n_questions:,}" if self.n_questions is not None and self.n_questions > n_questions else ""
        if self.status in _UNFINISHED_NOTES:
            yield f"{_UNFINISHED_NOTES[self.status]}: {n_questions:,}{of} questions are in it."
        elif of:
            yield f"{n_questions:,}{of} questions of the data set are in this log."
        if self.is_invalidated:
            yield "The log is marked as invalidated: somebody has found that the run should not be used."


def parse_header(record: Mapping[str, object]) -> LogHeader:
    """The head of a log: its own member, the whole log, or what was written when the run began."""
    run, results = as_object(record.get("eval")), as_object(record.get("results"))
    settings = (run.get("model_generate_config"), as_object(record.get("plan")).get("config"))
    temperatures = (as_float(as_object(part).get("temperature")) for part in settings)
    info = RunInfo(
        model=as_text(run.get("model")) or None,
        dataset=as_text(run.get("task")) or None,
        shots=_shot_count(record, run),
        temperature=next((value for value in temperatures if value is not None), None),
    )
    return LogHeader(
        info=info,
        status=as_text(record.get("status")) or "started",
        n_questions=_question_count(run),
        n_epochs=as_integer(as_object(run.get("config")).get("epochs")) or 1,
        results=tuple(_reported_results(results)),
        is_invalidated=record.get("invalidated") is True,
    )


def _question_count(run: Mapping[str, object]) -> int | None:
    """How many questions were to be asked."""
    dataset, limit = as_object(run.get("dataset")), as_object(run.get("config")).get("limit")
    total = as_integer(dataset.get("samples"))
    asked = as_integer(limit)
    return min(total, asked) if total is not None and asked is not None else total


def _shot_count(record: Mapping[str, object], run: Mapping[str, object]) -> int | None:
    """The number of examples, where the task or one of its steps was given one."""
    steps = map(as_object, as_list(as_object(record.get("plan")).get("steps")))
    said = [as_object(run.get("task_args")), *(as_object(step.get("params")) for step in steps)]
    found = [shots for part in said for name in _SHOT_KEYS if (shots := as_integer(part.get(name))) is not None]
    return found[0] if found and found[0] >= 0 else None


def _reported_results(results: Mapping[str, object]) -> Iterator[tuple[str, ReportedMetric]]:
    """The accuracies that the tool worked out, each with its scorer's name."""
    scores = [*map(as_object, as_list(results.get("scores")))]
    if "metrics" in results:  # logs of its first versions: one scorer
        scores.append(results)
    for score in scores:
        name = as_text(score.get("name")) or as_text(as_object(score.get("scorer")).get("name")) or "score"
        scored = as_integer(score.get("scored_samples"))
        for metric, stored in as_object(score.get("metrics")).items():
            value = as_float(as_object(stored).get("value"))
            if value is not None and math.isfinite(value) and metric in ("accuracy", "mean"):
                yield name, ReportedMetric(f"{name}: {metric}", value, scored)
