"""One answer of a model server, whatever the shape of its response.

Of an answer's tokens only what a row needs is kept, since all lists of a log may not fit into memory.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile
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
from calib_core.readers.eval_logs import LogRecord
from calib_core.readers.json_values import (
    BadValueError,
    as_logprob,
    as_name,
    is_invalid_logprob,
    optional_name,
)
from calib_core.readers.table.raw import BrokenRecord
from calib_core.readers.table.run_split import REPEATED_ID


@dataclass(frozen=True, slots=True, eq=False)
class AnswerSymbol:
    """The letter, or the word true or false, that an answer states.

    Attributes
    ----------
    position : int
        Position of the symbol's token.
    symbol : str
        The symbol.
    masses : SymbolMasses
        Log-probabilities listed at that position.
    is_first : bool
        Whether only blank tokens come before it.
    """

    position: int
    symbol: str
    masses: SymbolMasses
    is_first: bool


@dataclass(frozen=True, slots=True, eq=False)
class ServerAnswer:
    """One generated answer.

    Attributes
    ----------
    text : str or None
        The generated text.
    path_logprobs : Sequence[object] or None
        Log-probability (nats) of each token: None where unknown, and as stored where invalid. None without
        any.
    invalid_top_logprobs : tuple[object, ...]
        Listed log-probabilities that are invalid.
    letter, truth : AnswerSymbol or None
        The letter, or the word true or false, that the answer states.
    echoed_tokens : tuple[tuple[str, object], ...]
        (token, log-probability) of prompt and answer if the answer repeats its prompt, or of the prompt alone
        if the server scored it.
    is_unclear : bool
        Whether the prompt's log-probabilities cannot be assigned to its tokens.
    is_refused : bool
        Whether the model refused to answer.
    """

    text: str | None
    path_logprobs: Sequence[object] | None = None
    invalid_top_logprobs: tuple[object, ...] = ()
    letter: AnswerSymbol | None = None
    truth: AnswerSymbol | None = None
    echoed_tokens: tuple[tuple[str, object], ...] = ()
    is_unclear: bool = False
    is_refused: bool = False

    @classmethod
    def from_positions(
        cls, text: str | None, positions: Sequence[TokenPosition], *, is_refused: bool = False
    ) -> ServerAnswer:
        """The answer with these tokens, special ones left out."""
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
    """The response to one question.

    Attributes
    ----------
    id : str or None
        As in the log.
    model : str or None
        Name of the model.
    status : str or None
        "error" or "refused"; None for a regular answer.
    answers : tuple[ServerAnswer, ...]
        The generated answers; () after an error.
    extra_fields : Mapping[str, object]
        Further plain fields of the record.
    line : int or None
        Line of the record, from 1.
    share : float
        Share of the file read up to this record, in [0, 1].
    broken : BrokenRecord or None
        Why the record cannot be read.
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
    """The last symbol that the text states, which is the answer; None where there is none."""
    symbols = find_answer_tokens(positions, symbol_of)
    if not symbols or (symbol := symbols[-1][1]) is None:
        return None
    position = symbols[-1][0]
    has_text_before = any(strip_around_letter(token.token) for token in positions[:position])
    return AnswerSymbol(position, symbol, symbol_masses(positions[position], symbol_of), not has_text_before)


ROW_NUMBER_ID: Final = "row"
"""The id column of a log without ids: the record's number, from 1."""


def response_of_record(
    record: LogRecord, number: int, id_field: str, parse: Callable[[Mapping[str, object]], ServerResponse]
) -> ServerResponse:
    """The response in one record of a log.

    Parameters
    ----------
    record : LogRecord
        The record.
    number : int
        Its number, from 1.
    id_field : str
        The field with its id, or `ROW_NUMBER_ID`.
    parse : Callable
        The response in a record, without id and line; raises BadValueError where a value has a wrong type.
    """
    value = record.value
    if isinstance(value, BrokenRecord):
        return ServerResponse(line=record.line, share=record.share, broken=value)
    id_ = str(number) if id_field == ROW_NUMBER_ID else as_name(value.get(id_field))
    try:
        if id_ is None:
            optional_name(value.get(id_field), id_field)
        response = parse(value)
    except BadValueError as bad:
        response = ServerResponse(broken=bad.broken)
    return replace(response, id=id_, line=record.line, share=record.share)


# --- Responses to one question ------------------------------------------------
#
# The ids of such responses differ only by a final "/0", "/1" and so on. The table of right answers decides:
# if it has the ids without the numbers, and none with them, the responses of one such id belong to one
# question. They are its samples or, where each response scores one choice at the end of the prompt, its
# choices.

_NUMBERED_ID: Final = re.compile(r"(?P<stem>.+)/(?P<number>[0-9]{1,6})")

_TokenLogprobs = tuple[tuple[str, object], ...]
"""(token, log-probability as stored) for each token of an echo."""


@dataclass(frozen=True, slots=True)
class ScoredChoices:
    """Choices scored as continuations of one prompt.

    Attributes
    ----------
    choices : tuple[str, ...]
        Their texts.
    sums : tuple[object, ...]
        Sum of log-probabilities (nats) of each: None where unknown, and as stored where one is invalid.
    counts : tuple[int, ...]
        Number of tokens of each.
    """

    choices: tuple[str, ...]
    sums: tuple[object, ...]
    counts: tuple[int, ...]


def group_by_stem(responses: Sequence[ServerResponse]) -> dict[str, list[int]]:
    """Id without its number → positions of its responses, by number; {} unless every id is numbered.

    Examples
    --------
    >>> group_by_stem([ServerResponse(id="q1/1"), ServerResponse(id="q1/0"), ServerResponse(id="q2/0")])
    {'q1': [1, 0], 'q2': [2]}
    """
    by_stem: dict[str, list[tuple[int, int]]] = {}
    for at, response in enumerate(responses):
        match = _NUMBERED_ID.fullmatch(response.id or "")
        if match is None:
            return {}
        by_stem.setdefault(match["stem"], []).append((int(match["number"]), at))
    return {stem: [at for _, at in sorted(numbered)] for stem, numbered in by_stem.items()}


def merge_by_stem(
    responses: Sequence[ServerResponse], stems: Mapping[str, list[int]], id_field: str
) -> list[ServerResponse]:
    """One response per stem with the answers of all its responses, in the order of their numbers.

    id_field: what a message calls the id where two responses have the same.
    """
    merged: list[ServerResponse] = []
    for stem, positions in stems.items():
        parts = [responses[at] for at in positions]
        first = responses[min(positions)]
        answers = tuple(answer for part in parts for answer in part.answers)
        failed = next((part for part in parts if part.status or not part.answers), None)
        status = None if failed is None else failed.status or "error"
        broken = next((part.broken for part in parts if part.broken), None)
        repeated = next((one.id for one, other in pairwise(parts) if one.id == other.id), None)
        if broken is None and repeated is not None:
            broken = BrokenRecord(
                0, REPEATED_ID, id_field, "an id that is not yet taken", repr(repeated), "Keep one of them."
            )
        merged.append(replace(first, id=stem, answers=answers, status=status, broken=broken))
    return merged


def score_choices(answers: Sequence[ServerAnswer], choices: Collection[str] = ()) -> ScoredChoices | None:
    """The choices that answers with an echo of their prompt score; None where they do not score choices.

    Parameters
    ----------
    answers : Sequence[ServerAnswer]
        The answers to one question.
    choices : Collection[str]
        The choices' texts; if empty, a choice begins where the answers first differ.
    """
    echoes = [answer.echoed_tokens for answer in answers]
    if len(echoes) < 2 or not all(echoes):
        return None
    tokens = [[token for token, _ in echo] for echo in echoes]
    if all(prompt == tokens[0] for prompt in tokens):
        return None  # several answers to one prompt
    n_common = sum(1 for _ in takewhile(_all_equal, zip(*tokens, strict=False)))
    starts = [_choice_start(echo, choices, n_common) for echo in echoes]
    ends = [echo[start:] for echo, start in zip(echoes, starts, strict=True)]
    if not all(ends):
        return None
    texts = tuple("".join(token for token, _ in end).strip() for end in ends)
    return ScoredChoices(texts, tuple(_sum_logprobs(end) for end in ends), tuple(len(end) for end in ends))


def _all_equal(tokens: tuple[str, ...]) -> bool:
    return len(set(tokens)) == 1


def _choice_start(echo: _TokenLogprobs, choices: Collection[str], n_common: int) -> int:
    """Position at which the choice begins: the fewest final tokens that make up a choice's text."""
    known = {choice.strip() for choice in choices}
    end = ""
    for at in range(len(echo) - 1, -1, -1):
        end = echo[at][0] + end
        if end.strip() in known:
            return at
    return n_common


def _sum_logprobs(end: _TokenLogprobs) -> object:
    """The sum of the log-probabilities; the first invalid value itself; None where one is unknown."""
    for _, value in end:
        if is_invalid_logprob(value):
            return value
    logprobs = [as_logprob(value) for _, value in end]
    values = [value for value in logprobs if value is not None]
    return math.fsum(values) if len(values) == len(logprobs) else None
