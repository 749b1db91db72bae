"""Which letters do a log's questions choose from, where nothing in it says so?  What the whole file shows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from calib_core.files.harness.json_values import as_text, as_integer
from calib_core.files.harness.letters import LETTERS
from calib_core.files.harness.responses import ServerAnswer

_LETTER_PATTERN: Final = re.compile(r"^[(\[]?\s*([A-Za-z])\s*[)\].:]*$")

_WHY_GOLD: Final = "{last} is the last letter that is a right answer"
_WHY_ANSWERED: Final = "{last} is the last letter that at least a tenth of the answers name"
_WHY_LISTED: Final = "at least half of the lists of likely tokens hold each of these"


@dataclass(frozen=True, slots=True)
class InferredLetters:
    """So many first letters are the choices; why: what of the file says so."""

    n_letters: int
    reason: str

    @property
    def note(self) -> str:
        """To stand after the number of rows that are read so."""
        beyond = self.n_letters - len(LETTERS)
        last = str(beyond) if beyond > 0 else LETTERS[self.n_letters - 1]
        names = f"A and {last}" if self.n_letters == 2 else f"A to {last}"
        why = self.reason.format(last=last)
        return f"the choices are not told and are taken to be {names}: in the whole file, {why}"


def letter_index(gold: object) -> int | None:
    """Position of the choice that a right answer names as a letter."""
    match = _LETTER_PATTERN.match((as_text(gold) or "").strip())
    return None if match is None else LETTERS.index(match[1].upper())


def infer_letters(golds: Sequence[Mapping[str, object]], answers: Iterable[ServerAnswer]) -> InferredLetters | None:
    """The letters that the questions choose from, None where the right answers are no letters, or one only.

    Up to the last letter that is a right answer, that a tenth of the rows with a letter answer with, or
    that is listed, with all before it, in at least half of these. golds: what is known of each question.
    """
    known = [gold["gold"] for gold in golds if gold.get("gold") is not None]
    right = [at for value in known if (at := letter_index(value)) is not None]
    right += [at for gold in golds if (at := as_integer(gold.get("gold_index"))) is not None]
    if known and not right:
        return None
    symbols = [answer.letter for answer in answers if answer.letter]
    answered = Counter(symbol.symbol for symbol in symbols)
    given = [LETTERS.index(what) for what, count in answered.items() if 10 * count >= len(symbols)]
    listed = Counter(letter for symbol in symbols for letter in symbol.masses.logprobs)
    run = 0
    while run < len(LETTERS) and 2 * listed[LETTERS[run]] >= max(len(symbols), 1):
        run += 1
    last = max((*right, *given, run - 1), default=-1)
    if last < 1:
        return None
    why = next(why for why, at in ((_WHY_GOLD, right), (_WHY_ANSWERED, given), (_WHY_LISTED, [run - 1])) if last in at)
    return InferredLetters(last + 1, why)
