"""What did a server answer, whatever shape its answer has?

Only what a row needs is kept of an answer's tokens: a log may be larger than the memory for all its lists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from calib_core.files.harness.letters import (
    Masses,
    Position,
    SymbolOf,
    answer_tokens,
    bare,
    letter_of,
    masses,
    path_of,
    truth_of,
    wrong_in,
)
from calib_core.files.tables.raw import Broken


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """The letter, or the word true or false, that an answer comes to.

    at: position of its token; what: the symbol; masses: what is listed there; first: whether nothing but
    blank tokens stands before it.
    """

    at: int
    what: str
    masses: Masses
    first: bool


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """One generated answer.

    text: None where there is none; path: log-probability of each token, as in the file where one is wrong,
    null where one is not known, None where there are none; wrong: listed log-probabilities that are wrong;
    letter, truth: see `Symbol`; echo: (token, log-probability) of prompt and answer, where the answer repeats
    its prompt, or of the prompt alone, where that is scored; unclear: whether its scores cannot be read;
    refused: whether the model refused.
    """

    text: str | None
    path: Sequence[object] | None = None
    wrong: tuple[object, ...] = ()
    letter: Symbol | None = None
    truth: Symbol | None = None
    echo: tuple[tuple[str, object], ...] = ()
    unclear: bool = False
    refused: bool = False

    @classmethod
    def of(cls, text: str | None, positions: Sequence[Position], *, refused: bool = False) -> Answer:
        """From all its tokens, special ones left out."""
        return cls(
            text,
            path_of(positions),
            wrong_in(positions),
            _symbol(positions, letter_of),
            _symbol(positions, truth_of),
            refused=refused,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Response:
    """What came back for one question.

    id: as the log has it; status: as in the column of that name, None where all went well; own: further plain
    fields of the record; line, share: as in `translated.Entry`; broken: why the record cannot be read.
    """

    id: str | None = None
    model: str | None = None
    status: str | None = None
    answers: tuple[Answer, ...] = ()
    own: Mapping[str, object] = field(default_factory=dict[str, object])
    line: int | None = None
    share: float = 0.0
    broken: Broken | None = None


def _symbol(positions: Sequence[Position], symbol_of: SymbolOf) -> Symbol | None:
    found = answer_tokens(positions, symbol_of)
    if not found or (what := found[-1][1]) is None:  # the last that is said is the answer
        return None
    at = found[-1][0]
    before = any(bare(position.token) for position in positions[:at])
    return Symbol(at, what, masses(positions[at], symbol_of), not before)
