"""Which choice does each letter of an Inspect sample stand for, and how probable was each choice?

A solver that shuffles the choices writes its answer back in the data set's order and leaves the tokens as
they were: there the letters of the tokens are mapped through what the scorer says was shown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from calib_core.files.harness.inspect_sample import InspectSample, SampleScore
from calib_core.files.harness.json_values import as_list, as_text
from calib_core.files.harness.letters import (
    SymbolMasses,
    mass_above_one,
    symbol_among,
    find_answer_tokens,
    find_answers,
    strip_around_letter,
    choice_fields,
    choice_letters,
    symbol_masses,
)
from calib_core.files.tables.raw import BrokenRecord
from calib_core.problems import shorten

_SHUFFLED_PREFIX: Final = "Choices were shuffled"
_SHUFFLED_ANSWER_MARK: Final = "\nShuffled answer:"
_ANSWER_LEAD: Final = re.compile(r"(?i)\b(?:the\s+)?(?:(?:correct|final|right|best)\s+)?answer(?:\s+is)?\W*$")
_WORD_LETTERS: Final = ("A", "I")
"""Letters that are words as well."""
_MAX_LEAD_WORDS: Final = 2
"""More words than these before the answer may have led to it."""
_TARGET_SEPARATOR: Final = re.compile(r"[\s,]+")


@dataclass(frozen=True, slots=True)
class AnswerToken:
    """The answer's token of a sample.

    at: its position; masses: what is listed there; letters: of the choices in the data set's order; reasoned:
    whether there is text before the answer.
    """

    position: int
    masses: SymbolMasses
    letters: tuple[str, ...]
    is_after_reasoning: bool

    @property
    def fields(self) -> dict[str, object]:
        """What is listed of the choices' letters, as columns of a row."""
        return choice_fields(self.masses, self.letters)


def gold_letters(sample: InspectSample) -> tuple[str, ...]:
    """The letters of the right choices; () where the target is written in another way."""
    letters = choice_letters(len(sample.choices))
    text = as_text(sample.target)
    parts = [text] if text is not None else [as_text(part) or "" for part in as_list(sample.target)]
    if text is not None and text.strip() not in letters:
        split = _TARGET_SEPARATOR.split(text.strip())
        parts = split if len(split) > 1 else list(text.strip())
    said = [part.strip() for part in parts]
    return tuple(sorted(set(said))) if said and all(part in letters for part in said) else ()


def find_answer_token(sample: InspectSample, score: SampleScore | None, scorer: str) -> AnswerToken | BrokenRecord | None:
    """The answer's token; None where there is none to be found; broken where it is not the scored answer's.

    score: what the scorer said; scorer: its column.
    """
    letters = choice_letters(len(sample.choices))
    answer = _scored_letter(sample, score, letters)
    shown = _shown_order(sample, score)
    expected = None if answer is None else letters[shown.index(letters.index(answer))] if shown else answer
    found = _letter_tokens(sample, letters, expected)
    if not found:
        return None
    same = [each for each in found if expected in (None, each[1])]
    if not same or shown == ():
        return _token_mismatch(found[-1][1], answer or "", scorer)
    at, _ = same[-1]
    listed = symbol_masses(sample.positions[at], symbol_among(letters))
    if (broken := mass_above_one(listed, "top_logprobs")) is not None:
        return broken
    if shown:
        letters = tuple(letters[place] for place in sorted(range(len(letters)), key=shown.__getitem__))
    before = "".join(place.token for place in sample.positions[:at])
    return AnswerToken(at, listed, letters, len(_ANSWER_LEAD.sub("", before).split()) > _MAX_LEAD_WORDS)


def _letter_tokens(sample: InspectSample, letters: Sequence[str], expected_letter: str | None) -> list[tuple[int, str]]:
    """The tokens that are the answer's letter. said: the letter, where that is known.

    Where the text names no answer as answers are written, the only token that is the letter said.
    """
    named = find_answer_tokens(sample.positions, symbol_among(letters))
    found = [(at, letter) for at, letter in named if letter is not None]
    if not found and expected_letter is not None and expected_letter not in _WORD_LETTERS:
        only = [at for at, place in enumerate(sample.positions) if strip_around_letter(place.token) == expected_letter]
        found = [(at, expected_letter) for at in only] if len(only) == 1 else []
    return found


def _scored_letter(sample: InspectSample, score: SampleScore | None, letters: Sequence[str]) -> str | None:
    """The letter that was scored: as the scorer read it, else as the completion says it last."""
    said = (score.answer or "").strip() if score is not None else ""
    if said in letters:
        return said
    named = find_answers(sample.completions[0], symbol_among(letters)) if sample.completions else []
    found = [letter for _, letter in named if letter is not None]
    return found[-1] if found else None


def _shown_order(sample: InspectSample, score: SampleScore | None) -> tuple[int, ...] | None:
    """The data set's position of each choice in the order shown to the model; None where it was not shuffled.

    () where it was, and the order cannot be told.
    """
    said = score.explanation if score is not None else ""
    if not said.startswith(_SHUFFLED_PREFIX):
        return None
    listed = "\n" + said.partition("\n")[2].partition(_SHUFFLED_ANSWER_MARK)[0].strip() + "\n"
    texts: list[str] = []
    letters = choice_letters(len(sample.choices))
    for letter, following in zip(letters, (*letters[1:], None), strict=True):
        _, mark, rest = listed.partition(f"\n{letter}) ")
        end = rest.find(f"\n{following}) ") if following is not None else len(rest)
        if not mark or end < 0:
            return ()
        texts.append(rest[:end].strip())
        listed = rest[end:]
    choices = [choice.strip() for choice in sample.choices]
    known = len(set(choices)) == len(choices) and sorted(texts) == sorted(choices)
    return tuple(map(choices.index, texts)) if known else ()


def _token_mismatch(token: str, answer: str, scorer: str) -> BrokenRecord:
    return BrokenRecord(
        0,
        kind="answer and token differ",
        column=f"{scorer}.answer",
        expected=f"the letter of the token that was generated, {token!r}",
        found=shorten(answer),
        fix="The choices were probably shuffled and the log does not say how, so that nobody can tell which "
        "letter was which: leave the sample out, or run it again without the solver's shuffle.",
    )
