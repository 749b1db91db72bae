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

from calib_core.files.harness.json_values import as_list, as_logprob, as_object, as_text, is_wrong
from calib_core.files.tables.raw import Broken

LETTERS: Final = string.ascii_uppercase
TRUTH: Final = ("true", "false")

_AROUND: Final = " \t\r\n\u2581\u0120\u010a().:*"
"""What may stand around the letter in a token: white space, also as tokenizers spell it, and punctuation."""
_SPACES: Final = str.maketrans("\u2581\u0120\u010a", "  \n")

_BEFORE: Final = r"(?:[\s*_`$(\[\"']|\\(?:boxed|text)\{)*"
_SAID: Final = r"(?P<said>[A-Za-z]+|\d{1,3})(?![\w'])"
_CUE: Final = r"(?P<cue>\s+(?i:is|are)\b(?:\s*:)?|[\s*_`\"']*[:=])"
_ANSWER: Final = re.compile(
    rf"(?<![A-Za-z])(?i:answers?)(?![A-Za-z]|_[A-Za-z]){_CUE}?{_BEFORE}"
    rf"(?:(?i:(?:the\s+)?(?:option|choice)\s+){_BEFORE})?{_SAID}"
)
_OPTION: Final = re.compile(rf"(?<![A-Za-z])(?i:option|choice)(?![A-Za-z]|_[A-Za-z]){_CUE}{_BEFORE}{_SAID}")
_LEADING: Final = re.compile(
    r"[\W_]*(?:(?i:option|choice)\s+[*_(\[\"']*)?(?P<said>[A-Za-z]+|\d{1,3})"
    r"(?:[).:\]*_`\"\n}]|'(?![A-Za-z])|,(?!\s*[A-Za-z]\b)|\s*$)"
)
_ENDS: Final = re.compile(r"[ \t]*(?:$|[\n).:,;\]}*_`\"'$])")
_ABOVE: Final = 1.001
"""A list of likely tokens whose probabilities come to more is wrong."""

Listed: TypeAlias = tuple[tuple[str, object], ...]
"""The listed tokens of one position: (token, log-probability as it stands in the file)."""

SymbolOf: TypeAlias = Callable[[str], str | None]
"""Token → the symbol (a letter, or true or false) that it is, None for any other."""


@dataclass(frozen=True, slots=True, eq=False)
class Position:
    """One generated token. logprob: as it stands in the file; top: the likeliest tokens, as listed."""

    token: str
    logprob: object
    top: Listed = ()


@dataclass(frozen=True, slots=True)
class Masses:
    """What a list of likely tokens says of symbols (letters, or true and false).

    logs: symbol → log-probability, its spellings added up; listed: probability of the whole list; floor: the
    smallest finite log-probability listed, which no unlisted token exceeds; merged: whether a symbol had
    several spellings; wrong: values of the list that are no log-probabilities.
    """

    logs: Mapping[str, float]
    listed: float
    floor: float | None
    merged: bool
    wrong: tuple[object, ...] = ()

    def of(self, symbol: str) -> float | None:
        """The probability of a symbol, None where it is not listed."""
        return math.exp(min(self.logs[symbol], 0.0)) if symbol in self.logs else None


def bare(token: str) -> str:
    """The token without what may stand around a letter."""
    return token.strip(_AROUND)


def letters_of(count: int) -> tuple[str, ...]:
    """What the choices are called: A to Z, then 1, 2, …"""
    return (*LETTERS[:count], *map(str, range(1, count - len(LETTERS) + 1)))


def among(letters: Collection[str]) -> SymbolOf:
    """The one of these letters that a token is."""
    return lambda token: found if (found := bare(token)) in letters else None


letter_of: Final = among(frozenset(LETTERS))
"""The upper-case letter that a token is, None for any other token."""


def truth_of(token: str) -> str | None:
    """"true" or "false" where a token is one of the two words, in whatever case."""
    found = bare(token).lower()
    return found if found in TRUTH else None


def positions_of(content: object) -> tuple[Position, ...]:
    """The tokens in a list of objects with `token`, `logprob` and `top_logprobs`; () where it is none."""
    return tuple(
        Position(_token(part), part.get("logprob"), _top(part)) for part in map(as_object, as_list(content))
    )


def path_of(positions: Sequence[Position]) -> list[object] | None:
    """The log-probability of each token, None without any; as they stand in the file where one is wrong."""
    raw = [position.logprob for position in positions]
    if all(value is None for value in raw):
        return None
    return raw if any(map(is_wrong, raw)) else [as_logprob(value) for value in raw]


def wrong_in(positions: Iterable[Position]) -> tuple[object, ...]:
    """Values in the lists of likely tokens that are no log-probabilities."""
    return tuple(value for position in positions for _, value in position.top if is_wrong(value))


def answers_in(text: str, symbol_of: SymbolOf) -> list[tuple[int, str | None]]:
    """Where a text names its answer, and the symbol there, None where it names something else.

    At each "answer is", else at each "option is", else where the text begins with the answer.
    """
    for marker in (_ANSWER, _OPTION):
        marks = [(match, _named(match, symbol_of)) for match in marker.finditer(text)]
        if found := [(match.start("said"), said) for match, said in marks if said or match["cue"]]:
            return found
    match = _LEADING.match(text)
    said = None if match is None else _symbol(match["said"], symbol_of)
    return [] if match is None or said is None else [(match.start("said"), said)]


def answer_tokens(positions: Sequence[Position], symbol_of: SymbolOf) -> list[tuple[int, str | None]]:
    """The tokens at which the answer is named: as `answers_in`, and None also of a longer token."""
    there = [at for at, position in enumerate(positions) if bare(position.token)]
    if len(there) == 1:
        said = _symbol(positions[there[0]].token, symbol_of)
        return [] if said is None else [(there[0], said)]
    ends = ends_of([position.token for position in positions])
    whole = "".join(position.token for position in positions).translate(_SPACES)
    found = [(holding(ends, at), said) for at, said in answers_in(whole, symbol_of)]
    return [(at, said if _symbol(positions[at].token, symbol_of) == said else None) for at, said in found]


def masses(position: Position, symbol_of: SymbolOf) -> Masses:
    """Adds up the listed tokens by symbol: small letters count where no large one is listed.

    The generated token counts also where the list leaves it out, and bounds nothing then.
    """
    once = dict.fromkeys((token, as_logprob(raw)) for token, raw in position.top)
    listed = [(token, value) for token, value in once if value is not None]
    floor = min((value for _, value in listed if value > -math.inf), default=None)
    own = as_logprob(position.logprob)
    if own is not None and all(token != position.token for token, _ in position.top):
        listed.append((position.token, own))
    symbols = [symbol_of(token) for token, _ in listed]
    if not any(symbols):
        symbols = [symbol_of(token.upper()) for token, _ in listed]
    of: dict[str, list[float]] = {}
    for symbol, (_, value) in zip(symbols, listed, strict=True):
        if symbol is not None:
            of.setdefault(symbol, []).append(value)
    total = math.fsum([math.exp(value) for _, value in listed])
    wrong = wrong_in([position])
    logs = {symbol: _together(values) for symbol, values in of.items()}
    return Masses(logs, total, floor, any(len(values) > 1 for values in of.values()), wrong)


def choice_fields(found: Masses, letters: Sequence[str]) -> dict[str, object]:
    """What is listed of the choices' letters, as columns of a row; empty where none of them is listed.

    A letter that is not listed is null, and minus infinity where the list leaves nothing over for it.
    """
    if found.wrong:
        return {"choice_logprobs": bad_list(found.wrong, len(letters))}
    if not any(letter in found.logs for letter in letters):
        return {}
    unlisted = -math.inf if found.listed >= 1 else None
    inside = math.fsum(found.of(letter) or 0.0 for letter in letters)
    told: dict[str, object] = {"choice_logprobs": [found.logs.get(letter, unlisted) for letter in letters]}
    if found.floor is not None:
        told["choice_logprob_floor"] = found.floor
    return told | {"choice_other_mass": min(max(found.listed - inside, 0.0), 1.0)}


def bad_list(wrong: Sequence[object], count: int) -> list[object]:
    """A list of `count` with the first wrong value, whose row is then found to be bad."""
    return [wrong[0], *([None] * (count - 1))]


def above_one(found: Masses, column: str) -> Broken | None:
    """Why a list of likely tokens cannot be one, where its probabilities come to more than 1."""
    if found.listed <= _ABOVE or found.wrong:
        return None
    expected = "likely tokens whose probabilities come to at most 1"
    fix = "Log-probabilities of the model itself are needed, not scores or logits."
    return Broken(0, "list above 1", column, expected, f"{found.listed:.6g}", fix)


def ends_of(tokens: Iterable[str]) -> list[int]:
    """Where each token ends in the text they make."""
    ends: list[int] = []
    at = 0
    for token in tokens:
        at += len(token)
        ends.append(at)
    return ends


def holding(ends: Sequence[int], at: int) -> int:
    """The token that holds a character; ends: see `ends_of`."""
    return next(position for position, end in enumerate(ends) if at < end)


def _named(match: re.Match[str], symbol_of: SymbolOf) -> str | None:
    """The symbol behind a marker. A small letter or "I" may be a word: it has to end the sentence."""
    word = match["said"]
    is_word = len(word) == 1 and (word.islower() or word == "I")
    if is_word and not _ENDS.match(match.string, match.end()):
        return None
    return _symbol(word, symbol_of)


def _symbol(token: str, symbol_of: SymbolOf) -> str | None:
    return symbol_of(token) or (symbol_of(token.upper()) if len(bare(token)) == 1 else None)


def _token(part: Mapping[str, object]) -> str:
    return as_text(part.get("token")) or ""


def _top(part: Mapping[str, object]) -> Listed:
    listed = map(as_object, as_list(part.get("top_logprobs")))
    return tuple([(_token(other), other.get("logprob")) for other in listed])


def _together(values: Sequence[float]) -> float:
    """The log of Σ exp(value), at most 0 but where the values are too many."""
    most = max(values)
    if len(values) == 1 or most == -math.inf:
        return most
    total = most + math.log(math.fsum(math.exp(value - most) for value in values))
    return min(total, 0.0) if total <= math.log(_ABOVE) else total
