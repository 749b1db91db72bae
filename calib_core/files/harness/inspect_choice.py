"""Which choice does each letter of an Inspect sample stand for, and how probable was each choice?

A solver that shuffles the choices writes its answer back in the data set's order and leaves the tokens as
they were: there the letters of the tokens are mapped through what the scorer says was shown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from calib_core.files.harness.inspect_sample import Sample, Score
from calib_core.files.harness.json_values import as_list, as_text
from calib_core.files.harness.letters import (
    Masses,
    above_one,
    among,
    answer_tokens,
    answers_in,
    bare,
    choice_fields,
    letters_of,
    masses,
)
from calib_core.files.tables.raw import Broken
from calib_core.problems import shorten

_SHUFFLED: Final = "Choices were shuffled"
_ANSWERED: Final = "\nShuffled answer:"
_LEAD: Final = re.compile(r"(?i)\b(?:the\s+)?(?:(?:correct|final|right|best)\s+)?answer(?:\s+is)?\W*$")
_WORDS: Final = ("A", "I")
"""Letters that are words as well."""
_FEW: Final = 2
"""More words than these before the answer may have led to it."""
_SEVERAL: Final = re.compile(r"[\s,]+")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The answer's token of a sample.

    at: its position; masses: what is listed there; letters: of the choices in the data set's order; reasoned:
    whether there is text before the answer.
    """

    at: int
    masses: Masses
    letters: tuple[str, ...]
    reasoned: bool

    @property
    def fields(self) -> dict[str, object]:
        """What is listed of the choices' letters, as columns of a row."""
        return choice_fields(self.masses, self.letters)


def right_letters(sample: Sample) -> tuple[str, ...]:
    """The letters of the right choices; () where the target is written in another way."""
    letters = letters_of(len(sample.choices))
    text = as_text(sample.target)
    parts = [text] if text is not None else [as_text(part) or "" for part in as_list(sample.target)]
    if text is not None and text.strip() not in letters:
        split = _SEVERAL.split(text.strip())
        parts = split if len(split) > 1 else list(text.strip())
    said = [part.strip() for part in parts]
    return tuple(sorted(set(said))) if said and all(part in letters for part in said) else ()


def chosen_of(sample: Sample, score: Score | None, scorer: str) -> Chosen | Broken | None:
    """The answer's token; None where there is none to be found; broken where it is not the scored answer's.

    score: what the scorer said; scorer: its column.
    """
    letters = letters_of(len(sample.choices))
    answer = _answer(sample, score, letters)
    shown = _shown(sample, score)
    expected = None if answer is None else letters[shown.index(letters.index(answer))] if shown else answer
    found = _tokens(sample, letters, expected)
    if not found:
        return None
    same = [each for each in found if expected in (None, each[1])]
    if not same or shown == ():
        return _differs(found[-1][1], answer or "", scorer)
    at, _ = same[-1]
    listed = masses(sample.places[at], among(letters))
    if (broken := above_one(listed, "top_logprobs")) is not None:
        return broken
    if shown:
        letters = tuple(letters[place] for place in sorted(range(len(letters)), key=shown.__getitem__))
    before = "".join(place.token for place in sample.places[:at])
    return Chosen(at, listed, letters, len(_LEAD.sub("", before).split()) > _FEW)


def _tokens(sample: Sample, letters: Sequence[str], said: str | None) -> list[tuple[int, str]]:
    """The tokens that are the answer's letter. said: the letter, where that is known.

    Where the text names no answer as answers are written, the only token that is the letter said.
    """
    named = answer_tokens(sample.places, among(letters))
    found = [(at, letter) for at, letter in named if letter is not None]
    if not found and said is not None and said not in _WORDS:
        only = [at for at, place in enumerate(sample.places) if bare(place.token) == said]
        found = [(at, said) for at in only] if len(only) == 1 else []
    return found


def _answer(sample: Sample, score: Score | None, letters: Sequence[str]) -> str | None:
    """The letter that was scored: as the scorer read it, else as the completion says it last."""
    said = (score.answer or "").strip() if score is not None else ""
    if said in letters:
        return said
    named = answers_in(sample.completions[0], among(letters)) if sample.completions else []
    found = [letter for _, letter in named if letter is not None]
    return found[-1] if found else None


def _shown(sample: Sample, score: Score | None) -> tuple[int, ...] | None:
    """The data set's position of each choice in the order shown to the model; None where it was not shuffled.

    () where it was, and the order cannot be told.
    """
    said = score.explanation if score is not None else ""
    if not said.startswith(_SHUFFLED):
        return None
    listed = "\n" + said.partition("\n")[2].partition(_ANSWERED)[0].strip() + "\n"
    texts: list[str] = []
    letters = letters_of(len(sample.choices))
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


def _differs(token: str, answer: str, scorer: str) -> Broken:
    return Broken(
        0,
        kind="answer and token differ",
        column=f"{scorer}.answer",
        expected=f"the letter of the token that was generated, {token!r}",
        found=shorten(answer),
        fix="The choices were probably shuffled and the log does not say how, so that nobody can tell which "
        "letter was which: leave the sample out, or run it again without the solver's shuffle.",
    )
