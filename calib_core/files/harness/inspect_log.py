"""What does an Inspect log hold: an archive (`.eval`) or one JSON object, finished or still being written?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain, islice
from time import monotonic
from typing import Final

from calib_core.files.format import Format, Head
from calib_core.files.harness.inspect_archive import HEADER_MEMBER, SAMPLE_MEMBER, START_MEMBER, LogArchive, is_inspect_log, open_log_archive
from calib_core.files.harness.inspect_header import LogHeader, parse_header
from calib_core.files.harness.inspect_question import QUESTION_COLUMNS, QuestionReader
from calib_core.files.harness.inspect_remarks import log_notes, reported_accuracies
from calib_core.files.harness.inspect_sample import InspectSample, parse_sample
from calib_core.files.harness.json_values import as_list, as_object, is_object
from calib_core.files.harness.translated import LogEntry, LogTable, read_log_table
from calib_core.files.reading import Reading
from calib_core.files.tables.raw import ReadProgress, as_json_text
from calib_core.files.tables.table import PARSED_SHARE
from calib_core.problems import Refused, shorten
from calib_core.records import ReportedMetric

N_FIRST_QUESTIONS: Final = 20
"""Questions that show which scorers there are and whether a sample has several answers."""

PROGRESS_INTERVAL_SECONDS: Final = 0.25
"""Seconds after which the progress is told again."""

_LOG_KEYS: Final = ("samples", "results", "plan", "stats")


@dataclass(frozen=True, slots=True, eq=False)
class _InspectLog:
    """A log on its way. questions: the samples of each, and the share of the log read with them."""

    header: LogHeader
    questions: Iterator[tuple[Sequence[InspectSample], float]]
    max_samples: int


def recognises(head: Head) -> bool:
    """Whether the file is a log, or the remains of one."""
    if head.kind == "zip":
        return is_inspect_log(head.names)
    if head.kind not in ("json object", "json lines") or len(head.first_objects) != 1:
        return False
    log = head.first_objects[0]
    return isinstance(log.get("eval"), dict) and "status" in log and any(key in log for key in _LOG_KEYS)


def read(head: Head, mapping: Mapping[str, str], progress: ReadProgress) -> Reading:
    """The run of a log. See `format.Read`."""
    if not recognises(head):
        raise Refused(f"{head.file} was to be read as {INSPECT.title} and is none.")
    with ExitStack() as stack:
        if head.kind == "zip" and head.path is not None:
            log = _log_of_archive(stack.enter_context(open_log_archive(head.path, head.file)))
        else:
            log = _log_of_object(head.first_objects[0], head.file)
        return _read_log(head, log, mapping, progress)


def _read_log(head: Head, log: _InspectLog, mapping: Mapping[str, str], progress: ReadProgress) -> Reading:
    first = [*islice(log.questions, N_FIRST_QUESTIONS)]
    samples = [sample for question, _ in first for sample in question]
    scorers = [*dict.fromkeys(name for sample in samples for name in sample.scores)]
    fields = {f"scores.{name}": name for name in scorers}
    meant = (fields[field] for field, meaning in mapping.items() if meaning == "correct" and field in fields)
    scorer = next(meant, next((name for name in scorers if _is_single_valued(name, samples)), None))
    answers = max((len(sample.completions) for sample in samples), default=1)
    several = (log.max_samples > 1 or answers > 1) and not log.header.is_greedy
    reader = QuestionReader(scorer, several)
    columns = _column_roles(scorer, fields, has_multiple_answers=several)
    if several:
        mapping = {field: _role_of_samples(field, meaning, fields) for field, meaning in mapping.items()}
    notes: list[str] = []
    tool: dict[str, tuple[ReportedMetric, ...]] = {}
    info = replace(log.header.info, path_of="sample_0") if several else log.header.info

    def entries() -> Iterator[LogEntry]:
        told = monotonic()
        for question, share in chain(first, log.questions):
            yield reader.entry(question, share)
            if monotonic() - told > PROGRESS_INTERVAL_SECONDS:  # a slice of the table may be long in coming
                told = monotonic()
                progress(PARSED_SHARE * share, f"{reader.counts['records']:,} samples read")
        notes.extend(log.header.notes(reader.counts["questions"]))
        notes.extend(log_notes(reader, log.header, scorers, log.max_samples))
        tool[""] = reported_accuracies(reader, log.header, log.max_samples)

    translated = LogTable(entries(), columns, info, tool, notes)
    return read_log_table(head, INSPECT.id, translated, mapping, progress)


def _column_roles(scorer: str | None, fields: Mapping[str, str], *, has_multiple_answers: bool) -> dict[str, str]:
    """Field → what it is read as; the scores of other scorers are left out until somebody asks for them."""
    others = [*fields, *(f"{field}.answer" for field in fields)]
    columns = {**QUESTION_COLUMNS, **dict.fromkeys(others, "")}
    if scorer is not None:
        columns[f"scores.{scorer}"] = "sample_correct" if has_multiple_answers else "correct"
        columns[f"scores.{scorer}.answer"] = "" if has_multiple_answers else "prediction"
    return columns


def _role_of_samples(field: str, role: str, fields: Mapping[str, str]) -> str:
    return "sample_correct" if role == "correct" and field in fields else role


def _is_single_valued(name: str, samples: Iterable[InspectSample]) -> bool:
    """Whether a scorer gave one value a sample: which of several is meant, a person has to say."""
    return not any(sample.scores[name].is_part for sample in samples if name in sample.scores)


def _log_of_archive(archive: LogArchive) -> _InspectLog:
    """The log in an archive, a question at a time: samples that are not asked for are never unpacked."""
    start = next((name for name in (HEADER_MEMBER, START_MEMBER) if name in archive.members), None)
    if start is None:
        raise Refused(
            f"{archive.file} has the samples of an Inspect log and neither {HEADER_MEMBER} nor {START_MEMBER}, which say "
            f"of what run they are. Copy the log again, or let Inspect recover it."
        )
    names: dict[str, list[tuple[int, str]]] = {}
    for name in archive.members:
        if match := SAMPLE_MEMBER.fullmatch(name):
            names.setdefault(match["id"], []).append((int(match["epoch"][:9]), name))
    header = parse_header(as_object(archive.read_json(start)))
    _check_samples(archive.file, header, len(names))

    def questions() -> Iterator[tuple[Sequence[InspectSample], float]]:
        total = sum(archive.packed_bytes(name) for each in names.values() for _, name in each) or 1
        done = 0
        for each in names.values():
            samples: list[InspectSample] = []
            for _, name in sorted(each):
                samples.append(parse_sample(_require_object(archive.read_json(name), archive.file, name)))
                done += archive.packed_bytes(name)
            for question in _split_repeats(samples):
                yield question, done / total

    return _InspectLog(header, questions(), max(map(len, names.values())))


def _log_of_object(log: Mapping[str, object], file: str) -> _InspectLog:
    """The log that is one JSON object."""
    header = parse_header(log)
    found: dict[str, list[InspectSample]] = {}
    for number, stored in enumerate(as_list(log.get("samples")), 1):
        sample = parse_sample(_require_object(stored, file, f"sample {number:,}"))
        found.setdefault(as_json_text(sample.id) or f"\0{number}", []).append(sample)
    _check_samples(file, header, len(found))
    for samples in found.values():
        samples.sort(key=lambda sample: sample.epoch)
    grouped = [question for samples in found.values() for question in _split_repeats(samples)]
    parts = ((question, number / len(grouped)) for number, question in enumerate(grouped, 1))
    return _InspectLog(header, parts, max(map(len, grouped)))


def _split_repeats(samples: Sequence[InspectSample]) -> list[Sequence[InspectSample]]:
    """The samples of one id: one a question and epoch; a repeated epoch is another question of that id."""
    times: Counter[tuple[str | None, int]] = Counter()
    parts: dict[tuple[str | None, int], list[InspectSample]] = {}
    for sample in samples:
        key = (as_json_text(sample.id), sample.epoch)
        parts.setdefault((key[0], times[key]), []).append(sample)
        times[key] += 1
    return [*parts.values()]


def _require_object(value: object, file: str, name: str) -> Mapping[str, object]:
    if is_object(value):
        return as_object(value)
    raise Refused(f"{file}: {shorten(name)} in it is no JSON object. Write or copy the log again.")


def _check_samples(file: str, header: LogHeader, n_questions: int) -> None:
    """Raises Refused where the log has no samples, with what it says without them."""
    if n_questions:
        return
    said = [f"{each.name} {each.value:.4f}" for _, each in header.results]
    known = f" It only says: {', '.join(said[:5])}." if said else ""
    raise Refused(
        f"{file} is an Inspect log without samples (status {shorten(header.status)!r}), so it has no rows."
        f"{known} Run the evaluation with its samples logged (log_samples)."
    )


INSPECT: Final = Format(
    "inspect",
    "an Inspect log",
    "the members header.json or _journal/start.json and samples, or the keys eval and status",
    recognises,
    read,
)
