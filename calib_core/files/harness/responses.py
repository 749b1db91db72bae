"""What did a server answer, whatever shape its answer has?

Only what a row needs is kept of an answer's tokens: a log may be larger than the memory for all its lists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from calib_core.files.harness.letters import (
    SymbolMasses,
    TokenPosition,
    SymbolParser,
    find_answer_tokens,
    strip_around_letter,
    letter_of_token,
    symbol_masses,
    path_logprobs,
    truth_of_token,
    invalid_top_logprobs,
)
from calib_core.files.tables.raw import BrokenRecord


@dataclass(frozen=True, slots=True, eq=False)
class AnswerSymbol:
    """The letter, or the word true or false, that an answer comes to.

    at: position of its token; what: the symbol; masses: what is listed there; first: whether nothing but
    blank tokens stands before it.
    """

    position: int
    symbol: str
    masses: SymbolMasses
    is_first: bool


@dataclass(frozen=True, slots=True, eq=False)
class ServerAnswer:
    """One generated answer.

    text: None where there is none; path: log-probability of each token, as in the file where one is wrong,
    null where one is not known, None where there are none; wrong: listed log-probabilities that are wrong;
    letter, truth: see `Symbol`; echo: (token, log-probability) of prompt and answer, where the answer repeats
    its prompt, or of the prompt alone, where that is scored; unclear: whether its scores cannot be read;
    refused: whether the model refused.
    """

    text: str | None
    path_logprobs: Sequence[object] | None = None
    invalid_top_logprobs: tuple[object, ...] = ()
    letter: AnswerSymbol | None = None
    truth: AnswerSymbol | None = None
    echo: tuple[tuple[str, object], ...] = ()
    is_unclear: bool = False
    is_refused: bool = False

    @classmethod
    def from_positions(cls, text: str | None, positions: Sequence[TokenPosition], *, is_refused: bool = False) -> ServerAnswer:
        """From all its tokens, special ones left out."""
        return cls(
            text,
            path_logprobs(positions),
            invalid_top_logprobs(positions),
            _find_symbol(positions, letter_of_token),
            _find_symbol(positions, truth_of_token),
            refused=is_refused,
        )


@dataclass(frozen=True, slots=True, eq=False)
class ServerResponse:
    """What came back for one question.

    id: as the log has it; status: as in the column of that name, None where all went well; own: further plain
    fields of the record; line, share: as in `translated.Entry`; broken: why the record cannot be read.
    """

    id: str | None = None
    model: str | None = None
    status: str | None = None
    answers: tuple[ServerAnswer, ...] = ()
    extra_fields: Mapping[str, object] = field(default_factory=dict[str, object])
    line: int | None = None
    share: float = 0.0
    broken: BrokenRecord | None = None


def _find_symbol(positions: Sequence[TokenPosition], symbol_of: SymbolParser) -> AnswerSymbol | None:
    found = find_answer_tokens(positions, symbol_of)
    if not found or (what := found[-1][1]) is None:  # the last that is said is the answer
        return None
    at = found[-1][0]
    before = any(strip_around_letter(position.token) for position in positions[:at])
    return AnswerSymbol(at, what, symbol_masses(positions[at], symbol_of), not before)
