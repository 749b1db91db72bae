"""What has to be known of the numbers of an Inspect log, and why may the tool's own differ from ours?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from calib_core.files.harness.inspect_header import LogHeader
from calib_core.files.harness.inspect_question import QuestionReader
from calib_core.problems import shorten
from calib_core.records import ReportedMetric
from calib_core.wording import plural

_MAX_SHOWN_SCORERS: Final = 5


def log_notes(reader: QuestionReader, header: LogHeader, scorers: Sequence[str], max_samples: int) -> Iterator[str]:
    """Sentences on the whole log, once it has been read. epochs: most samples of one question."""
    yield from _answer_notes(reader, header, max_samples)
    yield from _score_notes(reader, scorers)
    yield from _letter_notes(reader)


def _answer_notes(reader: QuestionReader, header: LogHeader, max_samples: int) -> Iterator[str]:
    counts, temperature = reader.counts, header.info.temperature
    if max_samples > 1:
        yield f"{counts['records']:,} samples of {counts['questions']:,} questions, in {max_samples:,} epochs."
    if header.is_greedy and (max_samples > 1 or counts["choices left"]):
        yield "At temperature 0 the answers to a question are copies of one another: the first alone is read."
    elif reader.has_multiple_answers and temperature is None:
        yield "The log does not say at which temperature its answers were sampled."
    elif not reader.has_multiple_answers and temperature:
        yield f"Each answer was sampled once, at temperature {temperature:g}, and stands for the greedy one."
    if counts["failed"]:
        yield f"{plural(counts['failed'], 'sample')} ended with an error: missing, neither right nor wrong."
    if counts["refused"]:
        said = "stopped by a content filter: missing here, counted by the tool."
        yield f"{plural(counts['refused'], 'question')} {said}"
    if counts["limited"]:
        yield f"{plural(counts['limited'], 'sample')} hit a limit (of tokens, messages or time)."
    if counts["invalid"]:
        yield f"{plural(counts['invalid'], 'sample')} marked as invalidated, and read all the same."


def _score_notes(reader: QuestionReader, scorers: Sequence[str]) -> Iterator[str]:
    counts = reader.counts
    if reader.scorer is None and scorers:
        yield f"No score is read, as a scorer gives several values: choose one. {_other_score_options(scorers)}"
    elif len(scorers) > 1:
        others = [name for name in scorers if name != reader.scorer]
        yield f"Right or wrong is what {reader.score_field} says. {_other_score_options(others)}"
    if counts["partial"]:
        said = "scored as partly right, which is no outcome: missing, never rounded."
        yield f"{plural(counts['partial'], 'sample')} {said}"
    if counts["unscored"]:
        yield f"{plural(counts['unscored'], 'sample')} not scored: no outcome."
    if counts["several right"]:
        said = "with several right choices, all of which have to be named."
        yield f"{plural(counts['several right'], 'question')} {said}"


def _letter_notes(reader: QuestionReader) -> Iterator[str]:
    counts = reader.counts
    if counts["no letter"]:
        yield f"{plural(counts['no letter'], 'question')} without a token that is the answer's letter."
    if counts["unlisted"]:
        yield (
            f"{plural(counts['unlisted'], 'question')} (of {counts['letters']:,}) with a letter that is not "
            f"among the listed tokens: its probability is not known, and bounded by the smallest listed one."
        )
    if counts["reasoned"]:
        yield (
            f"{plural(counts['reasoned'], 'question')} with text before the answer: the letters' "
            f"probabilities are those after that reasoning."
        )


def reported_accuracies(reader: QuestionReader, header: LogHeader, max_samples: int) -> tuple[ReportedMetric, ...]:
    """The tool's accuracies, each with why ours may differ."""
    return tuple(_explain_difference(reader, name, each, max_samples) for name, each in header.results)


def _explain_difference(reader: QuestionReader, name: str, reported: ReportedMetric, max_samples: int) -> ReportedMetric:
    counts = reader.counts
    if name != reader.scorer and len({name, reader.scorer, "score"}) > 2:
        return replace(reported, why=f"by the scorer {shorten(name)}, and {reader.score_field} is read here")
    if reader.has_multiple_answers and max_samples > 1:
        why = f"the mean over all {max_samples:,} answers to each question, not of the majority answer"
        return replace(reported, why=why)
    if reader.has_multiple_answers:
        return replace(reported, why="of the first of several answers, not of the majority answer")
    why = [
        f"{counts[count]:,} {what}"
        for count, what in (
            ("partial", "partly right: counted with their share there, missing here"),
            ("refused", "stopped by a content filter: counted there, missing here"),
        )
        if counts[count]
    ]
    return replace(reported, method="", why="; ".join(why))


def _other_score_options(scorers: Sequence[str]) -> str:
    options = ", ".join(f"--map {_quote_if_spaced(f'scores.{name}=correct')}" for name in scorers[:_MAX_SHOWN_SCORERS])
    return f"Another score: {shorten(options, 400)}"


def _quote_if_spaced(text: str) -> str:
    return f'"{text}"' if " " in text else text
