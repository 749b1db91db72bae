"""At which token did a model name its choice, and how probable was each choice's letter there?

A server lists its likeliest tokens at each position. "A", " A" and "(A)" are one letter: their probabilities
are added up. A letter that is not listed is not known, and never 0: see `confidence.listed`.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from calib_core.readers.json_values import as_list, as_logprob, as_object, as_text, is_invalid_logprob
from calib_core.readers.table.raw import BrokenRecord

LETTERS: Final = string.ascii_uppercase
TRUTH_WORDS: Final = ("true", "false")

_AROUND_LETTER: Final = " \t\r\n\u2581\u0120\u010a().:*"
"""What may stand around the letter in a token: white space, also as tokenizers spell it, and punctuation."""
_TOKENIZER_SPACES: Final = str.maketrans("\u2581\u0120\u010a", "  \n")

_BEFORE_ANSWER: Final = r"(?:[\s*_`$(\[\"']|\\(?:boxed|text)\{)*"
_ANSWER_GROUP: Final = r"(?P<said>[A-Za-z]+|\d{1,3})(?![\w'])"
_CUE_GROUP: Final = r"(?P<cue>\s+(?i:is|are)\b(?:\s*:)?|[\s*_`\"']*[:=])"
_ANSWER_PATTERN: Final = re.compile(
    rf"(?<![A-Za-z])(?i:answers?)(?![A-Za-z]|_[A-Za-z]){_CUE_GROUP}?{_BEFORE_ANSWER}"
    rf"(?:(?i:(?:the\s+)?(?:option|choice)\s+){_BEFORE_ANSWER})?{_ANSWER_GROUP}"
)
_OPTION_PATTERN: Final = re.compile(
    rf"(?<![A-Za-z])(?i:option|choice)(?![A-Za-z]|_[A-Za-z]){_CUE_GROUP}{_BEFORE_ANSWER}{_ANSWER_GROUP}"
)
_LEADING_PATTERN: Final = re.compile(
    r"[\W_]*(?:(?i:option|choice)\s+[*_(\[\"']*)?(?P<said>[A-Za-z]+|\d{1,3})"
    r"(?:[).:\]*_`\"\n}]|'(?![A-Za-z])|,(?!\s*[A-Za-z]\b)|\s*$)"
)
_SENTENCE_END: Final = re.compile(r"[ \t]*(?:$|[\n).:,;\]}*_`\"'$])")
_MAX_LISTED_MASS: Final = 1.001
"""A list of likely tokens whose probabilities come to more is wrong."""

TopTokens: TypeAlias = tuple[tuple[str, object], ...]
"""The listed tokens of one position: (token, log-probability as it stands in the file)."""

SymbolParser: TypeAlias = Callable[[str], str | None]
"""Token → the symbol (a letter, or true or false) that it is, None for any other."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenPosition:
    """One generated token. logprob: as it stands in the file; top: the likeliest tokens, as listed."""

    token: str
    logprob: object
    top_tokens: TopTokens = ()


@dataclass(frozen=True, slots=True)
class SymbolMasses:
    """What a list of likely tokens says of symbols (letters, or true and false).

    logs: symbol → log-probability, its spellings added up; listed: probability of the whole list; floor: the
    smallest finite log-probability listed, which no unlisted token exceeds; merged: whether a symbol had
    several spellings; wrong: values of the list that are no log-probabilities.
    """

    logprobs: Mapping[str, float]
    listed_mass: float
    floor: float | None
    has_merged_spellings: bool
    invalid_values: tuple[object, ...] = ()

    def probability_of(self, symbol: str) -> float | None:
        """The probability of a symbol, None where it is not listed."""
        return math.exp(min(self.logprobs[symbol], 0.0)) if symbol in self.logprobs else None


def strip_around_letter(token: str) -> str:
    """The token without what may stand around a letter."""
    return token.strip(_AROUND_LETTER)


def choice_letters(n_choices: int) -> tuple[str, ...]:
    """What the choices are called: A to Z, then 1, 2, …"""
    return (*LETTERS[:n_choices], *map(str, range(1, n_choices - len(LETTERS) + 1)))


def symbol_among(letters: Collection[str]) -> SymbolParser:
    """The one of these letters that a token is."""
    return lambda token: found if (found := strip_around_letter(token)) in letters else None


letter_of_token: Final = symbol_among(frozenset(LETTERS))
"""The upper-case letter that a token is, None for any other token."""


def truth_of_token(token: str) -> str | None:
    """ "true" or "false" where a token is one of the two words, in whatever case."""
    found = strip_around_letter(token).lower()
    return found if found in TRUTH_WORDS else None


def parse_positions(content: object) -> tuple[TokenPosition, ...]:
    """The tokens in a list of objects with `token`, `logprob` and `top_logprobs`; () where it is none."""
    return tuple(
        TokenPosition(_token_text(part), part.get("logprob"), _top_tokens(part))
        for part in map(as_object, as_list(content))
    )


def path_logprobs(positions: Sequence[TokenPosition]) -> list[object] | None:
    """The log-probability of each token, None without any; as they stand in the file where one is wrong."""
    raw = [position.logprob for position in positions]
    if all(value is None for value in raw):
        return None
    return raw if any(map(is_invalid_logprob, raw)) else [as_logprob(value) for value in raw]


def invalid_top_logprobs(positions: Iterable[TokenPosition]) -> tuple[object, ...]:
    """Values in the lists of likely tokens that are no log-probabilities."""
    return tuple(
        value for position in positions for _, value in position.top_tokens if is_invalid_logprob(value)
    )


def find_answers(text: str, symbol_of: SymbolParser) -> list[tuple[int, str | None]]:
    """Where a text names its answer, and the symbol there, None where it names something else.

    At each "answer is", else at each "option is", else where the text begins with the answer.
    """
    for marker in (_ANSWER_PATTERN, _OPTION_PATTERN):
        marks = [(match, _symbol_of_match(match, symbol_of)) for match in marker.finditer(text)]
        if found := [(match.start("said"), said) for match, said in marks if said or match["cue"]]:
            return found
    match = _LEADING_PATTERN.match(text)
    said = None if match is None else _symbol_of_text(match["said"], symbol_of)
    return [] if match is None or said is None else [(match.start("said"), said)]


def find_answer_tokens(
    positions: Sequence[TokenPosition], symbol_of: SymbolParser
) -> list[tuple[int, str | None]]:
    """The tokens at which the answer is named: as `answers_in`, and None also of a longer token."""
    there = [at for at, position in enumerate(positions) if strip_around_letter(position.token)]
    if len(there) == 1:
        said = _symbol_of_text(positions[there[0]].token, symbol_of)
        return [] if said is None else [(there[0], said)]
    ends = token_ends([position.token for position in positions])
    whole = "".join(position.token for position in positions).translate(_TOKENIZER_SPACES)
    found = [(token_at(ends, at), said) for at, said in find_answers(whole, symbol_of)]
    return [
        (at, said if _symbol_of_text(positions[at].token, symbol_of) == said else None) for at, said in found
    ]


def symbol_masses(position: TokenPosition, symbol_of: SymbolParser) -> SymbolMasses:
    """Adds up the listed tokens by symbol: small letters count where no large one is listed.

    The generated token counts also where the list leaves it out, and bounds nothing then.
    """
    once = dict.fromkeys((token, as_logprob(raw)) for token, raw in position.top_tokens)
    listed = [(token, value) for token, value in once if value is not None]
    floor = min((value for _, value in listed if value > -math.inf), default=None)
    own = as_logprob(position.logprob)
    if own is not None and all(token != position.token for token, _ in position.top_tokens):
        listed.append((position.token, own))
    symbols = [symbol_of(token) for token, _ in listed]
    if not any(symbols):
        symbols = [symbol_of(token.upper()) for token, _ in listed]
    of: dict[str, list[float]] = {}
    for symbol, (_, value) in zip(symbols, listed, strict=True):
        if symbol is not None:
            of.setdefault(symbol, []).append(value)
    total = math.fsum([math.exp(value) for _, value in listed])
    wrong = invalid_top_logprobs([position])
    logs = {symbol: _log_sum_exp(values) for symbol, values in of.items()}
    return SymbolMasses(logs, total, floor, any(len(values) > 1 for values in of.values()), wrong)


def choice_fields(masses: SymbolMasses, letters: Sequence[str]) -> dict[str, object]:
    """What is listed of the choices' letters, as columns of a row; empty where none of them is listed.

    A letter that is not listed is null, and minus infinity where the list leaves nothing over for it.
    """
    if masses.invalid_values:
        return {"choice_logprobs": invalid_logprob_list(masses.invalid_values, len(letters))}
    if not any(letter in masses.logprobs for letter in letters):
        return {}
    unlisted = -math.inf if masses.listed_mass >= 1 else None
    inside = math.fsum(masses.probability_of(letter) or 0.0 for letter in letters)
    told: dict[str, object] = {
        "choice_logprobs": [masses.logprobs.get(letter, unlisted) for letter in letters]
    }
    if masses.floor is not None:
        told["choice_logprob_floor"] = masses.floor
    return told | {"choice_other_mass": min(max(masses.listed_mass - inside, 0.0), 1.0)}


def invalid_logprob_list(invalid_values: Sequence[object], n_choices: int) -> list[object]:
    """A list of `count` with the first wrong value, whose row is then found to be bad."""
    return [invalid_values[0], *([None] * (n_choices - 1))]


def mass_above_one(masses: SymbolMasses, column: str) -> BrokenRecord | None:
    """Why a list of likely tokens cannot be one, where its probabilities come to more than 1."""
    if masses.listed_mass <= _MAX_LISTED_MASS or masses.invalid_values:
        return None
    expected = "likely tokens whose probabilities come to at most 1"
    fix = "Log-probabilities of the model itself are needed, not scores or logits."
    return BrokenRecord(0, "list above 1", column, expected, f"{masses.listed_mass:.6g}", fix)


def token_ends(tokens: Iterable[str]) -> list[int]:
    """Where each token ends in the text they make."""
    ends: list[int] = []
    at = 0
    for token in tokens:
        at += len(token)
        ends.append(at)
    return ends


def token_at(ends: Sequence[int], offset: int) -> int:
    """The token that holds a character; ends: see `ends_of`."""
    return next(position for position, end in enumerate(ends) if offset < end)


def _symbol_of_match(match: re.Match[str], symbol_of: SymbolParser) -> str | None:
    """The symbol behind a marker. A small letter or "I" may be a word: it has to end the sentence."""
    word = match["said"]
    is_word = len(word) == 1 and (word.islower() or word == "I")
    if is_word and not _SENTENCE_END.match(match.string, match.end()):
        return None
    return _symbol_of_text(word, symbol_of)


def _symbol_of_text(token: str, symbol_of: SymbolParser) -> str | None:
    return symbol_of(token) or (symbol_of(token.upper()) if len(strip_around_letter(token)) == 1 else None)


def _token_text(part: Mapping[str, object]) -> str:
    return as_text(part.get("token")) or ""


def _top_tokens(part: Mapping[str, object]) -> TopTokens:
    listed = map(as_object, as_list(part.get("top_logprobs")))
    return tuple([(_token_text(other), other.get("logprob")) for other in listed])


def _log_sum_exp(values: Sequence[float]) -> float:
    """The log of Σ exp(value), at most 0 but where the values are too many."""
    most = max(values)
    if len(values) == 1 or most == -math.inf:
        return most
    total = most + math.log(math.fsum(math.exp(value - most) for value in values))
    return min(total, 0.0) if total <= math.log(_MAX_LISTED_MASS) else total
