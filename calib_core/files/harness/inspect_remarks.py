"""What has to be known of the numbers of an Inspect log, and why may the tool's own differ from ours?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from calib_core.files.harness.inspect_header import Header
from calib_core.files.harness.inspect_question import Reader
from calib_core.problems import shorten
from calib_core.records import Reported
from calib_core.wording import count

_SHOWN: Final = 5


def remarks(reader: Reader, header: Header, scorers: Sequence[str], epochs: int) -> Iterator[str]:
    """Sentences on the whole log, once it has been read. epochs: most samples of one question."""
    yield from _of_answers(reader, header, epochs)
    yield from _of_scores(reader, scorers)
    yield from _of_letters(reader)


def _of_answers(reader: Reader, header: Header, epochs: int) -> Iterator[str]:
    counts, temperature = reader.counts, header.info.temperature
    if epochs > 1:
        yield f"{counts['records']:,} samples of {counts['questions']:,} questions, in {epochs:,} epochs."
    if header.greedy and (epochs > 1 or counts["choices left"]):
        yield "At temperature 0 the answers to a question are copies of one another: the first alone is read."
    elif reader.several and temperature is None:
        yield "The log does not say at which temperature its answers were sampled."
    elif not reader.several and temperature:
        yield f"Each answer was sampled once, at temperature {temperature:g}, and stands for the greedy one."
    if counts["failed"]:
        yield f"{count(counts['failed'], 'sample')} ended with an error: missing, neither right nor wrong."
    if counts["refused"]:
        said = "stopped by a content filter: missing here, counted by the tool."
        yield f"{count(counts['refused'], 'question')} {said}"
    if counts["limited"]:
        yield f"{count(counts['limited'], 'sample')} hit a limit (of tokens, messages or time)."
    if counts["invalid"]:
        yield f"{count(counts['invalid'], 'sample')} marked as invalidated, and read all the same."


def _of_scores(reader: Reader, scorers: Sequence[str]) -> Iterator[str]:
    counts = reader.counts
    if reader.scorer is None and scorers:
        yield f"No score is read, as a scorer gives several values: choose one. {_choose(scorers)}"
    elif len(scorers) > 1:
        others = [name for name in scorers if name != reader.scorer]
        yield f"Right or wrong is what {reader.column} says. {_choose(others)}"
    if counts["partial"]:
        said = "scored as partly right, which is no outcome: missing, never rounded."
        yield f"{count(counts['partial'], 'sample')} {said}"
    if counts["unscored"]:
        yield f"{count(counts['unscored'], 'sample')} not scored: no outcome."
    if counts["several right"]:
        said = "with several right choices, all of which have to be named."
        yield f"{count(counts['several right'], 'question')} {said}"


def _of_letters(reader: Reader) -> Iterator[str]:
    counts = reader.counts
    if counts["no letter"]:
        yield f"{count(counts['no letter'], 'question')} without a token that is the answer's letter."
    if counts["unlisted"]:
        yield (
            f"{count(counts['unlisted'], 'question')} (of {counts['letters']:,}) with a letter that is not "
            f"among the listed tokens: its probability is not known, and bounded by the smallest listed one."
        )
    if counts["reasoned"]:
        yield (
            f"{count(counts['reasoned'], 'question')} with text before the answer: the letters' "
            f"probabilities are those after that reasoning."
        )


def reported(reader: Reader, header: Header, epochs: int) -> tuple[Reported, ...]:
    """The tool's accuracies, each with why ours may differ."""
    return tuple(_compared(reader, name, each, epochs) for name, each in header.results)


def _compared(reader: Reader, name: str, each: Reported, epochs: int) -> Reported:
    counts = reader.counts
    if name != reader.scorer and len({name, reader.scorer, "score"}) > 2:
        return replace(each, why=f"by the scorer {shorten(name)}, and {reader.column} is read here")
    if reader.several and epochs > 1:
        why = f"the mean over all {epochs:,} answers to each question, not of the majority answer"
        return replace(each, why=why)
    if reader.several:
        return replace(each, why="of the first of several answers, not of the majority answer")
    why = [
        f"{counts[count]:,} {what}"
        for count, what in (
            ("partial", "partly right: counted with their share there, missing here"),
            ("refused", "stopped by a content filter: counted there, missing here"),
        )
        if counts[count]
    ]
    return replace(each, method="", why="; ".join(why))


def _choose(scorers: Sequence[str]) -> str:
    options = ", ".join(f"--map {_quoted(f'scores.{name}=correct')}" for name in scorers[:_SHOWN])
    return f"Another score: {shorten(options, 400)}"


def _quoted(text: str) -> str:
    return f'"{text}"' if " " in text else text
