"""At which token did a model name its choice, and how probable was each choice's letter there?

A server lists its most likely tokens at each position. "A", " A" and "(A)" are the same letter, so their
probabilities are added up. The probability of a letter that is not listed is unknown, never 0.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, TypeAlias

from calib_core.readers.json_values import (
    as_logprob,
    as_object,
    is_invalid_logprob,
    optional_list,
    optional_object,
    optional_objects,
    optional_text,
)
from calib_core.readers.table.raw import BrokenRecord

LETTERS: Final = string.ascii_uppercase
TRUTH_WORDS: Final = ("true", "false")

_AROUND_LETTER: Final = " \t\r\n\u2581\u0120\u010a().:*"
"""What may surround the letter in a token: white space, also as tokenizers spell it, and punctuation."""

TOKENIZER_SPACES: Final = str.maketrans("\u2581\u0120\u010a", "  \n")
"""Translates the white-space characters of tokenizers (SentencePiece, byte-level BPE) to plain ones."""

_BEFORE_ANSWER: Final = r"(?:[\s*_`$(\[\"']|\\(?:boxed|text)\{)*"
_ANSWER_GROUP: Final = r"(?P<answer>[A-Za-z]+|\d{1,3})(?![\w'])"
_CUE_GROUP: Final = r"(?P<cue>\s+(?i:is|are)\b(?:\s*:)?|[\s*_`\"']*[:=])"
_ANSWER_PATTERN: Final = re.compile(
    rf"(?<![A-Za-z])(?i:answers?)(?![A-Za-z]|_[A-Za-z]){_CUE_GROUP}?{_BEFORE_ANSWER}"
    rf"(?:(?i:(?:the\s+)?(?:option|choice)\s+){_BEFORE_ANSWER})?{_ANSWER_GROUP}"
)
_OPTION_PATTERN: Final = re.compile(
    rf"(?<![A-Za-z])(?i:option|choice)(?![A-Za-z]|_[A-Za-z]){_CUE_GROUP}{_BEFORE_ANSWER}{_ANSWER_GROUP}"
)
_LEADING_PATTERN: Final = re.compile(
    r"[\W_]*(?:(?i:option|choice)\s+[*_(\[\"']*)?(?P<answer>[A-Za-z]+|\d{1,3})"
    r"(?:[).:\]*_`\"\n}]|'(?![A-Za-z])|,(?!\s*[A-Za-z]\b)|\s*$)"
)
_SENTENCE_END: Final = re.compile(r"[ \t]*(?:$|[\n).:,;\]}*_`\"'$])")
_MAX_LISTED_MASS: Final = 1.001
"""A list of likely tokens whose probabilities sum to more is wrong."""

TopTokens: TypeAlias = tuple[tuple[str, object], ...]
"""The listed tokens of one position: (token, log-probability as in the file)."""

SymbolParser: TypeAlias = Callable[[str], str | None]
"""Token → the symbol that it spells (a letter, or true or false); None for any other token."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenPosition:
    """One generated token.

    Attributes
    ----------
    token
        Its text.
    logprob
        Its log-probability as in the file, not yet checked.
    top_tokens
        The most likely tokens at this position, as listed.
    """

    token: str
    logprob: object
    top_tokens: TopTokens = ()


@dataclass(frozen=True, slots=True)
class SymbolMasses:
    """The probabilities that a list of likely tokens gives to symbols (letters, or true and false).

    Attributes
    ----------
    logprobs
        Symbol → log-probability, summed over its spellings.
    listed_mass
        Total probability of the listed tokens.
    floor
        The smallest finite log-probability listed; no unlisted token exceeds it. None if none is listed.
    has_merged_spellings
        Whether a symbol occurred in several spellings.
    invalid_values
        Listed values that cannot be log-probabilities.
    """

    logprobs: Mapping[str, float]
    listed_mass: float
    floor: float | None
    has_merged_spellings: bool
    invalid_values: tuple[object, ...] = ()

    def probability_of(self, symbol: str) -> float | None:
        """Return the probability of a symbol, None if it is not listed."""
        return math.exp(min(self.logprobs[symbol], 0.0)) if symbol in self.logprobs else None


def strip_around_letter(token: str) -> str:
    """Strip white space and punctuation around a letter off a token.

    Examples
    --------
    >>> strip_around_letter(" (A)")
    'A'
    """
    return token.strip(_AROUND_LETTER)


def choice_letters(n_choices: int) -> tuple[str, ...]:
    """Return the letters of `n_choices` choices: A to Z, then 1, 2, …"""
    return (*LETTERS[:n_choices], *map(str, range(1, n_choices - len(LETTERS) + 1)))


def symbol_among(letters: Collection[str]) -> SymbolParser:
    """Make a parser that recognises tokens that spell one of these letters."""
    return lambda token: letter if (letter := strip_around_letter(token)) in letters else None


letter_of_token: Final = symbol_among(frozenset(LETTERS))
"""The upper-case letter that a token spells; None for any other token."""


def truth_of_token(token: str) -> str | None:
    """Return "true" or "false" for a token that is one of the two words, in any case; else None."""
    word = strip_around_letter(token).lower()
    return word if word in TRUTH_WORDS else None


def parse_positions(content: object, path: str) -> tuple[TokenPosition, ...]:
    """Read the list of objects with `token`, `logprob` and `top_logprobs` at this path of its record.

    Raises
    ------
    BadValueError
        A list, object or text is something else.
    """
    return tuple(
        TokenPosition(_token_text(part, own), part.get("logprob"), _top_tokens(part, f"{own}.top_logprobs"))
        for part, own in optional_objects(content, path)
    )


def path_logprobs(positions: Sequence[TokenPosition]) -> list[object] | None:
    """Return the log-probability of each token; None if there is none.

    If one of them is invalid, all are returned as in the file, so that the row is reported as bad.
    """
    raw = [position.logprob for position in positions]
    if all(value is None for value in raw):
        return None
    return raw if any(map(is_invalid_logprob, raw)) else [as_logprob(value) for value in raw]


def invalid_top_logprobs(positions: Iterable[TokenPosition]) -> tuple[object, ...]:
    """Return the values in the lists of likely tokens that cannot be log-probabilities."""
    return tuple(
        value for position in positions for _, value in position.top_tokens if is_invalid_logprob(value)
    )


def find_answers(text: str, symbol_of: SymbolParser) -> list[tuple[int, str | None]]:
    """Find the places where a text names its answer.

    These are all places after "answer is"; without any, those after "option is"; without any, the
    beginning of the text if it begins with an answer.

    Returns
    -------
    list of (int, str or None)
        Offset of each answer in the text, and its symbol; None where the answer is not a symbol.
    """
    for pattern in (_ANSWER_PATTERN, _OPTION_PATTERN):
        candidates = [(match, _symbol_of_match(match, symbol_of)) for match in pattern.finditer(text)]
        if answers := [
            (match.start("answer"), symbol) for match, symbol in candidates if symbol or match["cue"]
        ]:
            return answers
    match = _LEADING_PATTERN.match(text)
    symbol = None if match is None else _symbol_of_text(match["answer"], symbol_of)
    return [] if match is None or symbol is None else [(match.start("answer"), symbol)]


def find_answer_tokens(
    positions: Sequence[TokenPosition], symbol_of: SymbolParser
) -> list[tuple[int, str | None]]:
    """Find the tokens at which the answer is named.

    Returns
    -------
    list of (int, str or None)
        Index of each token, and its symbol as in `find_answers`; None also if the token is longer than the
        symbol, so that its probability is not that of the symbol.
    """
    nonblank = [index for index, position in enumerate(positions) if strip_around_letter(position.token)]
    if len(nonblank) == 1:
        symbol = _symbol_of_text(positions[nonblank[0]].token, symbol_of)
        return [] if symbol is None else [(nonblank[0], symbol)]
    ends = token_ends([position.token for position in positions])
    text = "".join(position.token for position in positions).translate(TOKENIZER_SPACES)
    answers = [(token_at(ends, offset), symbol) for offset, symbol in find_answers(text, symbol_of)]
    return [
        (index, symbol if _symbol_of_text(positions[index].token, symbol_of) == symbol else None)
        for index, symbol in answers
    ]


def symbol_masses(position: TokenPosition, symbol_of: SymbolParser) -> SymbolMasses:
    """Add up the probabilities of the listed tokens by symbol.

    Lower-case letters count only if no upper-case one is listed. The generated token counts even if the
    list leaves it out; then it is no lower bound for the others.
    """
    distinct = dict.fromkeys((token, as_logprob(raw)) for token, raw in position.top_tokens)
    listed = [(token, value) for token, value in distinct if value is not None]
    floor = min((value for _, value in listed if value > -math.inf), default=None)
    generated = as_logprob(position.logprob)
    if generated is not None and all(token != position.token for token, _ in position.top_tokens):
        listed.append((position.token, generated))
    symbols = [symbol_of(token) for token, _ in listed]
    if not any(symbols):
        symbols = [symbol_of(token.upper()) for token, _ in listed]
    logprobs_by_symbol: dict[str, list[float]] = {}
    for symbol, (_, value) in zip(symbols, listed, strict=True):
        if symbol is not None:
            logprobs_by_symbol.setdefault(symbol, []).append(value)
    total = math.fsum([math.exp(value) for _, value in listed])
    invalid = invalid_top_logprobs([position])
    logprobs = {symbol: _log_sum_exp(values) for symbol, values in logprobs_by_symbol.items()}
    return SymbolMasses(
        logprobs, total, floor, any(len(values) > 1 for values in logprobs_by_symbol.values()), invalid
    )


def choice_fields(masses: SymbolMasses, letters: Sequence[str]) -> dict[str, object]:
    """Return the log-probabilities of the choices' letters as columns of a row.

    Returns
    -------
    dict
        `choice_logprobs` (one value per letter), `choice_logprob_floor` and `choice_other_mass`; empty if
        no letter is listed. A letter that is not listed is None, or minus infinity if the listed tokens
        already sum to 1.
    """
    if masses.invalid_values:
        return {"choice_logprobs": invalid_logprob_list(masses.invalid_values, len(letters))}
    if not any(letter in masses.logprobs for letter in letters):
        return {}
    unlisted_logprob = -math.inf if masses.listed_mass >= 1 else None
    choice_mass = math.fsum(masses.probability_of(letter) or 0.0 for letter in letters)
    fields: dict[str, object] = {
        "choice_logprobs": [masses.logprobs.get(letter, unlisted_logprob) for letter in letters]
    }
    if masses.floor is not None:
        fields["choice_logprob_floor"] = masses.floor
    return fields | {"choice_other_mass": min(max(masses.listed_mass - choice_mass, 0.0), 1.0)}


def invalid_logprob_list(invalid_values: Sequence[object], n_choices: int) -> list[object]:
    """Return a list of `n_choices` values with the first invalid one, so that the row is reported as bad."""
    return [invalid_values[0], *([None] * (n_choices - 1))]


def mass_above_one(masses: SymbolMasses, column: str) -> BrokenRecord | None:
    """Return the fault of a list of likely tokens whose probabilities sum to more than 1; else None."""
    if masses.listed_mass <= _MAX_LISTED_MASS or masses.invalid_values:
        return None
    expected = "likely tokens whose probabilities come to at most 1"
    fix = "Log-probabilities of the model itself are needed, not scores or logits."
    return BrokenRecord(0, "list above 1", column, expected, f"{masses.listed_mass:.6g}", fix)


def token_ends(tokens: Iterable[str]) -> list[int]:
    """Return the end offset of each token in their joined text.

    Examples
    --------
    >>> token_ends(["The", " answer"])
    [3, 10]
    """
    return list(accumulate(map(len, tokens)))


def token_at(ends: Sequence[int], offset: int) -> int:
    """Return the index of the token that holds the character at `offset`; `ends` as from `token_ends`."""
    return next(index for index, end in enumerate(ends) if offset < end)


def _symbol_of_match(match: re.Match[str], symbol_of: SymbolParser) -> str | None:
    """Return the symbol of a match; "I" or a lower-case letter may be a word and must end the sentence."""
    word = match["answer"]
    is_word = len(word) == 1 and (word.islower() or word == "I")
    if is_word and not _SENTENCE_END.match(match.string, match.end()):
        return None
    return _symbol_of_text(word, symbol_of)


def _symbol_of_text(token: str, symbol_of: SymbolParser) -> str | None:
    return symbol_of(token) or (symbol_of(token.upper()) if len(strip_around_letter(token)) == 1 else None)


def _token_text(part: Mapping[str, object], path: str) -> str:
    return optional_text(part.get("token"), f"{path}.token") or ""


def _top_tokens(part: Mapping[str, object], path: str) -> TopTokens:
    listed = optional_list(part.get("top_logprobs"), path)
    return tuple([_top_token(candidate, path, index) for index, candidate in enumerate(listed)])


def _top_token(candidate: object, path: str, index: int) -> tuple[str, object]:
    entry = as_object(candidate)
    token = entry.get("token")
    if not isinstance(token, str):  # rare, and the path takes as long as all the rest
        token = _token_text(optional_object(candidate, f"{path}.{index}"), f"{path}.{index}")
    return token, entry.get("logprob")


def _log_sum_exp(values: Sequence[float]) -> float:
    """Return log Σ exp(value), rounded down to 0 if it exceeds 0 by no more than the tolerance."""
    largest = max(values)
    if len(values) == 1 or largest == -math.inf:
        return largest
    total = largest + math.log(math.fsum(math.exp(value - largest) for value in values))
    return min(total, 0.0) if total <= math.log(_MAX_LISTED_MASS) else total
