"""Which rows do the instances of a HELM run become, and which of its log-probabilities were never recorded?

HELM writes 0.0 where a model's interface gives no log-probability. Where all of a run are exactly 0.0 there
are none; a single one among others may be a rounding or a lost value, which nobody can tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from calib_core.files.harness.helm_spec import RunSpec
from calib_core.files.harness.json_values import as_finite_number, is_invalid_logprob
from calib_core.files.harness.translated import LogEntry
from calib_core.files.reading import Reading
from calib_core.files.tables.raw import BrokenRecord
from calib_core.records import AnswerRun
from calib_core.wording import plural as plural

LOGPROB_FIELDS: Final = ("max_prob", "tokens", "logprobs", "choice_token_counts", "choice_probs")
"""Fields that are made from log-probabilities."""

CONFIDENCE_COLUMNS: Final = ("choice_logprobs", "choice_probs", "path_logprobs", "confidence", "samples")
"""Columns of which a method may make a confidence."""


@dataclass(frozen=True, slots=True, eq=False)
class HelmInstance:
    """One instance of a run: a question, as asked in one trial, perturbed or not.

    fields: further ones; logprob: of what was generated, as in the file, None where there is none; tied:
    whether the outcome lies between 0 and 1; broken: why it cannot be read.
    """

    id: str | None
    trial: int
    perturbation: str | None
    split: str | None
    fields: dict[str, object]
    logprob: object = None
    is_tied: bool = False
    broken: BrokenRecord | None = None


def has_no_logprobs(instances: Sequence[HelmInstance]) -> bool:
    """Whether the run has log-probabilities and all of them are exactly 0."""
    there = [item.logprob for item in instances if item.logprob is not None]
    return bool(there) and all(value == 0 for value in there)


def main_split(instances: Sequence[HelmInstance]) -> str | None:
    """The split whose rows are the run's: test, else valid, else the first one there is."""
    there = list(dict.fromkeys(item.split for item in instances if item.split))
    return next((split for split in ("test", "valid", *there) if split in there), None)


def instance_entries(instances: Sequence[HelmInstance], spec: RunSpec) -> Iterator[LogEntry]:
    """A row for each item. Copies (perturbed, of another split) are runs of their own."""
    none, split = has_no_logprobs(instances), main_split(instances)
    trials = len({item.trial for item in instances}) > 1
    for at, item in enumerate(instances, 1):
        share = at / len(instances)
        if item.broken is not None:
            yield LogEntry({}, share=share, broken=item.broken)
            continue
        fields = {name: value for name, value in item.fields.items() if not (none and name in LOGPROB_FIELDS)}
        fields["dataset"] = spec.dataset_name(item.perturbation, item.split if item.split != split else None)
        again = f" (trial {item.trial})" if item.trial else ""
        fields["instance_id"] = None if item.id is None else f"{item.id}{again}"
        fields["trial_of"] = item.id if trials else None
        fields["subject"] = spec.subject
        yield LogEntry(fields, share=share, broken=None if none else _logprob_fault(item.logprob))


def _logprob_fault(logprob: object) -> BrokenRecord | None:
    """What is wrong with a single log-probability, which is exactly 0 or none at all."""
    if logprob is None or not (is_invalid_logprob(logprob) or as_finite_number(logprob) == 0):
        return None
    if is_invalid_logprob(logprob):
        expected = "a natural logarithm of a probability, at most 0"
        return BrokenRecord(0, "out of range", "logprob", expected, str(logprob), "Take the instance out.")
    fix = "If the model was certain write a number just below 0; else leave the instance out."
    expected = "a log-probability below 0: exactly 0.0 is what HELM writes where it was not recorded"
    return BrokenRecord(0, "log-probability 0.0", "logprob", expected, "0.0", fix)


def instance_notes(instances: Sequence[HelmInstance], spec: RunSpec, outcome: str | None) -> Iterator[str]:
    """What a reader of the numbers has to know of the run."""
    if has_no_logprobs(instances):
        yield "logprob is exactly 0.0 in every row, which means: not recorded. No confidence comes from it."
    if outcome is not None:
        yield f"Right or wrong is read from {outcome}; another of the metrics: --map METRIC=correct."
        if ties := sum(1 for item in instances if item.is_tied):
            tied = f"{outcome} lies between 0 and 1 (a tie among choices)"
            yield f"In {plural(ties, 'row')} {tied}: no outcome there."
    perturbed = Counter(item.perturbation for item in instances if item.perturbation)
    for name, count in perturbed.items():
        yield f"{count:,} rows are copies perturbed by {name}: a run of their own."
    split = main_split(instances)
    for name, count in Counter(item.split for item in instances).items():
        if name is not None and name != split:
            yield f"{count:,} rows are of the split {name}, not {split}: a run of their own."
    if (trials := len({item.trial for item in instances})) > 1:
        yield (
            f"Questions come {trials:,} times, once for each train_trial_index: an interval takes all rows "
            f"of a question together, while p counts each row by itself."
        )
    if (differing := spec.differing_shots) is not None:
        yield differing


def refuse_without_logprobs(reading: Reading, instances: Sequence[HelmInstance]) -> Reading:
    """The reading, refused where no log-probability was recorded and nothing else gives a confidence."""
    runs = [run for run in reading.good_runs if isinstance(run, AnswerRun)]
    if not has_no_logprobs(instances) or any(_has_other_confidence(run) for run in runs):
        return reading
    right = [value for run in runs for value in _outcomes_of_run(run)]
    told = f"Accuracy of the {len(right):,} with an outcome: {sum(right) / len(right):.4f}. " if right else ""
    if right and len(runs) > 1 and (first := _outcomes_of_run(runs[0])):
        told = f"{told[:-2]} ({sum(first) / len(first):.4f} of the {len(first):,} of {runs[0].label}). "
    return replace(
        reading,
        refusal=(
            f"{reading.file}: read as {reading.format}, {reading.n_rows:,} rows. {told}logprob is exactly 0.0 "
            f"in every row, which means that none was recorded (HELM writes 0.0 where a model's interface "
            f"gives none): there is no confidence in the file, so nothing in it can be calibrated. Run it on "
            f"a model that gives log-probabilities."
        ),
    )


def _outcomes_of_run(run: AnswerRun) -> list[bool]:
    return run.rows["correct"].drop_nulls().to_list() if "correct" in run.rows.columns else []


def _has_other_confidence(run: AnswerRun) -> bool:
    """Whether a run has something else to make a confidence of than one log-probability a row."""
    return any(run.has_columns(name) for name in CONFIDENCE_COLUMNS)
