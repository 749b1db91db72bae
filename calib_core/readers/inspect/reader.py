"""Reads Inspect logs: an archive (`.eval`) or one JSON object, of a finished or an unfinished run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain, islice
from time import monotonic
from typing import Final

from calib_core.advice import Advice
from calib_core.errors import Refused, shorten
from calib_core.readers.eval_logs import LogEntry, LogTable, read_log_table
from calib_core.readers.format import Format, Head, Reading, ReadOptions
from calib_core.readers.inspect.archive import (
    HEADER_MEMBER,
    SAMPLE_MEMBER,
    START_MEMBER,
    LogArchive,
    is_inspect_log,
    open_log_archive,
)
from calib_core.readers.inspect.samples import (
    QUESTION_COLUMNS,
    InspectSample,
    QuestionReader,
    find_graders,
    parse_sample,
)
from calib_core.readers.json_values import as_float, as_integer, as_list, as_object, as_text, is_object
from calib_core.readers.table.columns import role_of
from calib_core.readers.table.raw import ReadProgress, as_json_text
from calib_core.readers.table.reader import PARSED_SHARE
from calib_core.runs import ReportedMetric, RunInfo
from calib_core.wording import join_names, plural

# --- The header of a log ------------------------------------------------------

_SHOT_KEYS: Final = ("fewshot", "num_fewshot", "n_shot", "shots")
_UNFINISHED_NOTES: Final[Mapping[str, str]] = {
    "started": "The run was not finished when this log was written",
    "cancelled": "The run was cancelled",
    "error": "The run ended with an error",
}


@dataclass(frozen=True, slots=True, eq=False)
class LogHeader:
    """What a log says of its run before any sample.

    Attributes
    ----------
    info : RunInfo
        What distinguishes the run from others.
    status : str
        "success", "started", "cancelled" or "error".
    n_questions : int or None
        Number of questions that were to be asked; None where the log does not say.
    n_epochs : int
        How often each question is asked.
    results : tuple[tuple[str, ReportedMetric], ...]
        The tool's own accuracies, each with the scorer's name as in the samples.
    is_invalidated : bool
        Whether the log is marked as not to be used.
    """

    info: RunInfo
    status: str
    n_questions: int | None
    n_epochs: int
    results: tuple[tuple[str, ReportedMetric], ...]
    is_invalidated: bool

    @property
    def is_greedy(self) -> bool:
        """Whether decoding was greedy, so that repeated answers to a question are copies."""
        return self.info.temperature == 0

    def notes(self, n_questions: int) -> Iterator[str]:
        """Notes on a run that is unfinished, limited or invalidated; n_questions: questions in the log."""
        has_more = self.n_questions is not None and self.n_questions > n_questions
        of_total = f" of {self.n_questions:,}" if has_more else ""
        if self.status in _UNFINISHED_NOTES:
            yield f"{_UNFINISHED_NOTES[self.status]}: {n_questions:,}{of_total} questions are in it."
        elif of_total:
            yield f"{n_questions:,}{of_total} questions of the data set are in this log."
        if self.is_invalidated:
            yield "The log is marked as invalidated: somebody has found that the run should not be used."


def parse_header(record: Mapping[str, object]) -> LogHeader:
    """The header of a log.

    Parameters
    ----------
    record : Mapping[str, object]
        The archive's header, the whole log as one object, or what was written when the run began.
    """
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
    """Number of questions to be asked: the data set's size, or the limit if that is smaller."""
    dataset, limit = as_object(run.get("dataset")), as_object(run.get("config")).get("limit")
    total = as_integer(dataset.get("samples"))
    n_limit = as_integer(limit)
    return min(total, n_limit) if total is not None and n_limit is not None else total


def _shot_count(record: Mapping[str, object], run: Mapping[str, object]) -> int | None:
    """Number of examples in the prompt, where an argument of the task or of a step says so."""
    steps = map(as_object, as_list(as_object(record.get("plan")).get("steps")))
    arguments = [as_object(run.get("task_args")), *(as_object(step.get("params")) for step in steps)]
    counts = [
        shots
        for part in arguments
        for name in _SHOT_KEYS
        if (shots := as_integer(part.get(name))) is not None
    ]
    return counts[0] if counts and counts[0] >= 0 else None


def _reported_results(results: Mapping[str, object]) -> Iterator[tuple[str, ReportedMetric]]:
    """The tool's own accuracies, each with its scorer's name."""
    scores = [*map(as_object, as_list(results.get("scores")))]
    if "metrics" in results:  # logs of the first versions have a single scorer
        scores.append(results)
    for score in scores:
        name = as_text(score.get("name")) or as_text(as_object(score.get("scorer")).get("name")) or "score"
        scored = as_integer(score.get("scored_samples"))
        for metric, stored in as_object(score.get("metrics")).items():
            value = as_float(as_object(stored).get("value"))
            if value is not None and math.isfinite(value) and metric in ("accuracy", "mean"):
                yield name, ReportedMetric(f"{name}: {metric}", value, scored)


# --- Notes, and the tool's own accuracies -------------------------------------

_MAX_SHOWN_SCORERS: Final = 5


def log_notes(
    reader: QuestionReader, header: LogHeader, scorers: Sequence[str], max_samples: int
) -> Iterator[str]:
    """Notes on a log that has been read to its end.

    Parameters
    ----------
    reader : QuestionReader
        The reader with its counts.
    header : LogHeader
        The log's header.
    scorers : Sequence[str]
        Names of all scores in the log.
    max_samples : int
        Largest number of samples of one question.
    """
    yield from _answer_notes(reader, header, max_samples)
    yield from _score_notes(reader, scorers)
    yield from _letter_notes(reader)


def _answer_notes(reader: QuestionReader, header: LogHeader, max_samples: int) -> Iterator[str]:
    counts, temperature = reader.counts, header.info.temperature
    if max_samples > 1:
        questions = f"{counts['questions']:,} questions"
        yield f"{counts['records']:,} samples of {questions}, in {max_samples:,} epochs."
    if header.is_greedy and (max_samples > 1 or counts["choices left"]):
        yield "At temperature 0 the answers to a question are copies of one another: the first alone is read."
    elif reader.has_multiple_answers and temperature is None:
        yield "The log does not say at which temperature its answers were sampled."
    elif not reader.has_multiple_answers and temperature:
        yield f"Each answer was sampled once, at temperature {temperature:g}, and is taken as the greedy one."
    if counts["failed"]:
        yield f"{plural(counts['failed'], 'sample')} ended with an error: missing, neither right nor wrong."
    if counts["refused"]:
        note = "stopped by a content filter: missing here, counted by the tool."
        yield f"{plural(counts['refused'], 'question')} {note}"
    if counts["limited"]:
        yield f"{plural(counts['limited'], 'sample')} hit a limit (of tokens, messages or time)."
    if counts["invalid"]:
        yield f"{plural(counts['invalid'], 'sample')} marked as invalidated, but read all the same."


def _score_notes(reader: QuestionReader, scorers: Sequence[str]) -> Iterator[str]:
    counts = reader.counts
    if reader.scorer is None and scorers:
        options = _other_score_options(scorers)
        yield f"No score is read, as a scorer gives several values: choose one. {options}"
    elif len(scorers) > 1:
        others = [name for name in scorers if name != reader.scorer]
        yield f"Outcomes are read from {reader.score_field}. {_other_score_options(others)}"
    if len(reader.graders) > 1:
        judge, *people = reader.graders
        yield f"Grades of {judge} are labels of a judge, those of {join_names(people)} labels of people."
    if counts["partial"]:
        note = "scored as partly right, which is not an outcome: missing, never rounded."
        yield f"{plural(counts['partial'], 'sample')} {note}"
    if counts["unscored"]:
        yield f"{plural(counts['unscored'], 'sample')} not scored: no outcome."
    if counts["several right"]:
        note = "with several right choices, all of which have to be named."
        yield f"{plural(counts['several right'], 'question')} {note}"


def _letter_notes(reader: QuestionReader) -> Iterator[str]:
    counts = reader.counts
    if counts["no letter"]:
        yield f"{plural(counts['no letter'], 'question')} without a token that is the answer's letter."
    if counts["unlisted"]:
        yield (
            f"{plural(counts['unlisted'], 'question')} (of {counts['letters']:,}) with a letter that is not "
            "among the listed tokens: its probability is unknown, and at most the smallest listed one."
        )
    if counts["reasoned"]:
        yield (
            f"{plural(counts['reasoned'], 'question')} with text before the answer: the letters' "
            f"probabilities are those after that reasoning."
        )


def reported_accuracies(
    reader: QuestionReader, header: LogHeader, max_samples: int
) -> tuple[ReportedMetric, ...]:
    """The tool's own accuracies, each with why the one computed here may differ."""
    return tuple(
        _explain_difference(reader, name, reported, max_samples) for name, reported in header.results
    )


def _explain_difference(
    reader: QuestionReader, name: str, reported: ReportedMetric, max_samples: int
) -> ReportedMetric:
    counts = reader.counts
    if name != reader.scorer and len({name, reader.scorer, "score"}) > 2:
        return replace(
            reported,
            difference_reason=f"by the scorer {shorten(name)}, and {reader.score_field} is read here",
        )
    if reader.has_multiple_answers and max_samples > 1:
        reason = f"the mean over all {max_samples:,} answers to each question, not of the majority answer"
        return replace(reported, difference_reason=reason)
    if reader.has_multiple_answers:
        return replace(
            reported, difference_reason="of the first of several answers, not of the majority answer"
        )
    differences = [
        f"{counts[key]:,} {difference}"
        for key, difference in (
            ("partial", "partly right: counted with their share there, missing here"),
            ("refused", "stopped by a content filter: counted there, missing here"),
        )
        if counts[key]
    ]
    return replace(reported, method="", difference_reason="; ".join(differences))


def _other_score_options(scorers: Sequence[str]) -> str:
    shown = (Advice(columns={f"scores.{name}": "correct"}) for name in scorers[:_MAX_SHOWN_SCORERS])
    options = ", ".join(map(str, shown))
    return f"Another score: {shorten(options, 400)}"


# --- The format ---------------------------------------------------------------

N_FIRST_QUESTIONS: Final = 20
"""Questions read ahead to find the scorers and whether questions have several answers."""

LOG_PROGRESS_SECONDS: Final = 0.25
"""Least time between two reports of progress."""

_LOG_KEYS: Final = ("samples", "results", "plan", "stats")


@dataclass(frozen=True, slots=True, eq=False)
class _InspectLog:
    """A log that is being read; questions: the samples of each, with the share of the log read so far."""

    header: LogHeader
    questions: Iterator[tuple[Sequence[InspectSample], float]]
    max_samples: int


def recognises(head: Head) -> bool:
    """Whether the file is a log, complete or not."""
    if head.kind == "zip":
        return is_inspect_log(head.names)
    if len(head.first_objects) != 1:
        return False
    log = head.first_objects[0]
    return isinstance(log.get("eval"), dict) and "status" in log and any(key in log for key in _LOG_KEYS)


def read(head: Head, options: ReadOptions, progress: ReadProgress) -> Reading:
    """The run of a log. See `Format.read`."""
    if not recognises(head):
        raise Refused(f"{head.file} is not {INSPECT.title}.")
    with ExitStack() as stack:
        if head.kind == "zip" and head.path is not None:
            log = _log_of_archive(stack.enter_context(open_log_archive(head.path, head.file)))
        else:
            log = _log_of_object(head.first_objects[0], head.file)
        return _read_log(head, log, options, progress)


def _read_log(head: Head, log: _InspectLog, options: ReadOptions, progress: ReadProgress) -> Reading:
    first = [*islice(log.questions, N_FIRST_QUESTIONS)]
    samples = [sample for question, _ in first for sample in question]
    scorers = [*dict.fromkeys(name for sample in samples for name in sample.scores)]
    fields = {f"scores.{name}": name for name in scorers}
    mapped = (
        fields[field] for field, name in options.columns.items() if name == "correct" and field in fields
    )
    scorer = next(mapped, next((name for name in scorers if _is_single_valued(name, samples)), None))
    max_completions = max((len(sample.completions) for sample in samples), default=1)
    has_multiple_answers = (log.max_samples > 1 or max_completions > 1) and not log.header.is_greedy
    graders = find_graders(scorers)
    if len(graders) < 2 and head.gold_path is None and "human" not in map(role_of, options.columns.values()):
        graders = {}  # a model's grades alone are an outcome
    reader = QuestionReader(scorer, has_multiple_answers, graders)
    columns = _column_roles(scorer, fields, has_multiple_answers=has_multiple_answers)
    if has_multiple_answers:
        named = {field: _role_of_samples(field, name, fields) for field, name in options.columns.items()}
        options = replace(options, columns=named)
    notes: list[str] = []
    reported: dict[str, tuple[ReportedMetric, ...]] = {}
    info = replace(log.header.info, path_of="sample_0") if has_multiple_answers else log.header.info

    def entries() -> Iterator[LogEntry]:
        last_report = monotonic()
        for question, share in chain(first, log.questions):
            yield reader.entry(question, share)
            # Filling a slice of the table may take long, so progress is also reported in between.
            if monotonic() - last_report > LOG_PROGRESS_SECONDS:
                last_report = monotonic()
                progress(PARSED_SHARE * share, f"{reader.counts['records']:,} samples read")
        notes.extend(log.header.notes(reader.counts["questions"]))
        notes.extend(log_notes(reader, log.header, scorers, log.max_samples))
        reported[""] = reported_accuracies(reader, log.header, log.max_samples)

    log_table = LogTable(entries(), columns, info, reported, notes)
    return read_log_table(head, INSPECT.id, log_table, options, progress)


def _column_roles(
    scorer: str | None, fields: Mapping[str, str], *, has_multiple_answers: bool
) -> dict[str, str]:
    """Field → column; the scores of other scorers are not read unless the mapping asks for them."""
    others = [*fields, *(f"{field}.answer" for field in fields)]
    columns = {**QUESTION_COLUMNS, **dict.fromkeys(others, "")}
    if scorer is not None:
        columns[f"scores.{scorer}"] = "sample_correct" if has_multiple_answers else "correct"
        columns[f"scores.{scorer}.answer"] = "" if has_multiple_answers else "prediction"
    return columns


def _role_of_samples(field: str, role: str, fields: Mapping[str, str]) -> str:
    return "sample_correct" if role == "correct" and field in fields else role


def _is_single_valued(name: str, samples: Iterable[InspectSample]) -> bool:
    """Whether a scorer gives one value per sample; the user chooses which of several counts."""
    return not any(sample.scores[name].is_part for sample in samples if name in sample.scores)


def _log_of_archive(archive: LogArchive) -> _InspectLog:
    """The log in an archive, read one question at a time, so that memory does not grow with it."""
    header_name = next((name for name in (HEADER_MEMBER, START_MEMBER) if name in archive.members), None)
    if header_name is None:
        raise Refused(
            f"{archive.file} has the samples of an Inspect log but neither {HEADER_MEMBER} nor "
            f"{START_MEMBER}, which say what run they belong to. Copy the log again, or let Inspect "
            "recover it."
        )
    names: dict[str, list[tuple[int, str]]] = {}
    for name in archive.members:
        if match := SAMPLE_MEMBER.fullmatch(name):
            names.setdefault(match["id"], []).append((int(match["epoch"][:9]), name))
    header = parse_header(as_object(archive.read_json(header_name)))
    _check_samples(archive.file, header, len(names))

    def questions() -> Iterator[tuple[Sequence[InspectSample], float]]:
        total = sum(archive.packed_bytes(name) for members in names.values() for _, name in members) or 1
        done = 0
        for members in names.values():
            samples: list[InspectSample] = []
            for _, name in sorted(members):
                samples.append(parse_sample(_require_object(archive.read_json(name), archive.file, name)))
                done += archive.packed_bytes(name)
            for question in _split_repeats(samples):
                yield question, done / total

    return _InspectLog(header, questions(), max(map(len, names.values())))


def _log_of_object(log: Mapping[str, object], file: str) -> _InspectLog:
    """The log that is a single JSON object."""
    header = parse_header(log)
    by_id: dict[str, list[InspectSample]] = {}
    for number, stored in enumerate(as_list(log.get("samples")), 1):
        sample = parse_sample(_require_object(stored, file, f"sample {number:,}"))
        by_id.setdefault(as_json_text(sample.id) or f"\0{number}", []).append(sample)
    _check_samples(file, header, len(by_id))
    for samples in by_id.values():
        samples.sort(key=lambda sample: sample.epoch)
    grouped = [question for samples in by_id.values() for question in _split_repeats(samples)]
    parts = ((question, number / len(grouped)) for number, question in enumerate(grouped, 1))
    return _InspectLog(header, parts, max(map(len, grouped)))


def _split_repeats(samples: Sequence[InspectSample]) -> list[Sequence[InspectSample]]:
    """The samples of one id as questions: a repeated epoch starts another question of that id."""
    n_seen: Counter[tuple[str | None, int]] = Counter()
    questions: dict[tuple[str | None, int], list[InspectSample]] = {}
    for sample in samples:
        key = (as_json_text(sample.id), sample.epoch)
        questions.setdefault((key[0], n_seen[key]), []).append(sample)
        n_seen[key] += 1
    return [*questions.values()]


def _require_object(value: object, file: str, name: str) -> Mapping[str, object]:
    if is_object(value):
        return as_object(value)
    raise Refused(f"{file}: {shorten(name)} in it is not a JSON object. Write or copy the log again.")


def _check_samples(file: str, header: LogHeader, n_questions: int) -> None:
    """Raises Refused where the log has no samples; the message quotes the results in its header."""
    if n_questions:
        return
    results = [f"{metric.name} {metric.value:.4f}" for _, metric in header.results]
    quoted = f" It only says: {', '.join(results[:5])}." if results else ""
    raise Refused(
        f"{file} is an Inspect log without samples (status {shorten(header.status)!r}), so it has no rows."
        f"{quoted} Run the evaluation with its samples logged (log_samples)."
    )


INSPECT: Final = Format(
    "inspect",
    "an Inspect log",
    "the members header.json or _journal/start.json and samples, or the keys eval and status",
    frozenset({"zip", "json object", "json lines"}),
    recognises,
    read,
)
