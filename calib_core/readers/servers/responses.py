"""What did a server answer, whatever shape its answer has?

Only what a row needs is kept of an answer's tokens: a log may be larger than the memory for all its lists.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Final

from calib_core.readers.choice_letters import (
    SymbolMasses,
    SymbolParser,
    TokenPosition,
    find_answer_tokens,
    invalid_top_logprobs,
    letter_of_token,
    path_logprobs,
    strip_around_letter,
    symbol_masses,
    truth_of_token,
)
from calib_core.readers.json_values import as_logprob, is_invalid_logprob
from calib_core.readers.table.raw import BrokenRecord


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
    def from_positions(
        cls, text: str | None, positions: Sequence[TokenPosition], *, is_refused: bool = False
    ) -> ServerAnswer:
        """From all its tokens, special ones left out."""
        return cls(
            text,
            path_logprobs(positions),
            invalid_top_logprobs(positions),
            _find_symbol(positions, letter_of_token),
            _find_symbol(positions, truth_of_token),
            is_refused=is_refused,
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


# MERGED response_groups: Which responses are answers to one question, asked one by one?  Ids that differ only by "/0", "/1" …
#
# The person's table of right answers decides: where it has the id before the number, and none with it, the
# responses of one such id are one question: its choices, each scored as the end of the prompt, or its samples.

_NUMBERED_ID: Final = re.compile(r"(?P<stem>.+)/(?P<number>[0-9]{1,6})")

_TokenLogprobs = tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class ScoredChoices:
    """Choices scored as ends of one prompt: texts, sums of log-probabilities, and numbers of tokens."""

    choices: tuple[str, ...]
    sums: tuple[object, ...]
    counts: tuple[int, ...]


def group_by_stem(responses: Sequence[ServerResponse]) -> dict[str, list[int]]:
    """Stem → positions of its responses in the order of their numbers; {} where not every id is numbered."""
    found: dict[str, list[tuple[int, int]]] = {}
    for at, response in enumerate(responses):
        match = _NUMBERED_ID.fullmatch(response.id or "")
        if match is None:
            return {}
        found.setdefault(match["stem"], []).append((int(match["number"]), at))
    return {stem: [at for _, at in sorted(numbered)] for stem, numbered in found.items()}


def merge_by_stem(
    responses: Sequence[ServerResponse], stems: Mapping[str, list[int]]
) -> list[ServerResponse]:
    """One response for each stem, all answers of its responses in it, in the order of their first."""
    together: list[ServerResponse] = []
    for stem, places in stems.items():
        parts = [responses[at] for at in places]
        first = responses[min(places)]
        answers = tuple(answer for part in parts for answer in part.answers)
        status = next((part.status for part in parts if part.status), None)
        broken = next((part.broken for part in parts if part.broken), None)
        together.append(replace(first, id=stem, answers=answers, status=status, broken=broken))
    return together


def score_choices(answers: Sequence[ServerAnswer], choices: Collection[str] = ()) -> ScoredChoices | None:
    """The choices that answers which repeat their prompt score; None where they are none.

    choices: their texts, where they are known; else a choice begins where the answers first differ.
    """
    echoes = [answer.echo for answer in answers]
    if len(echoes) < 2 or not all(echoes):
        return None
    tokens = [[token for token, _ in echo] for echo in echoes]
    if all(each == tokens[0] for each in tokens):
        return None  # one prompt, answered several times
    alike = sum(1 for _ in takewhile(_all_equal, zip(*tokens, strict=False)))
    starts = [_choice_start(echo, choices, alike) for echo in echoes]
    ends = [echo[start:] for echo, start in zip(echoes, starts, strict=True)]
    if not all(ends):
        return None
    texts = tuple("".join(token for token, _ in end).strip() for end in ends)
    return ScoredChoices(texts, tuple(_sum_logprobs(end) for end in ends), tuple(len(end) for end in ends))


def _all_equal(tokens: tuple[str, ...]) -> bool:
    return len(set(tokens)) == 1


def _choice_start(echo: _TokenLogprobs, choices: Collection[str], n_common: int) -> int:
    """Where the choice begins: as few tokens from the end as make up the text of one of the choices."""
    known = {choice.strip() for choice in choices}
    end = ""
    for at in range(len(echo) - 1, -1, -1):
        end = echo[at][0] + end
        if end.strip() in known:
            return at
    return n_common


def _sum_logprobs(end: _TokenLogprobs) -> object:
    """The sum of the log-probabilities, the first wrong value itself, None where one is not known."""
    for _, value in end:
        if is_invalid_logprob(value):
            return value
    known = [as_logprob(value) for _, value in end]
    found = [value for value in known if value is not None]
    return math.fsum(found) if len(found) == len(known) else None
