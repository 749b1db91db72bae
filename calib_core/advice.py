"""What to name when a file is read again, in the words of the surface that shows the message.

The command line has options, Python the keywords of `calib_core.load`, and a page its controls. A process
serves one of these surfaces, and messages are worded for it where they are made: the process that reads files
learns from each request whom it reads for. So no text is searched for options, and nothing in a file can be
taken for one.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Final, Literal, TypeAlias

Surface: TypeAlias = Literal["command line", "Python", "page"]
_Value: TypeAlias = str | bool | Sequence[str] | Mapping[str, str]

_SURFACE: Final[list[Surface]] = ["Python"]
_OPTION_NAMES: Final = {"columns": "map", "gold_columns": "map-gold", "skip_bad_rows": "skip-bad-rows"}
"""Keywords of `load` that the command line calls otherwise."""
_PLAIN: Final = re.compile(r"[\w@%+:,./-][\w@%+=:,./-]*")
"""What bash and zsh take as it is; zsh reads "=" at the start of a word as the path of a command."""
_ACTIVE_IN_DOUBLE_QUOTES: Final = frozenset('$`"\\!')


def current_surface() -> Surface:
    """Return the surface that this process serves; "Python" unless it was set."""
    return _SURFACE[0]


def set_surface(surface: Surface) -> Surface:
    """Have messages worded for this surface from now on, in all threads; return the one before."""
    before, _SURFACE[0] = _SURFACE[0], surface
    return before


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What to name when a file is read; as text, it has the words of the surface.

    Attributes
    ----------
    rows, columns, wide, missing, gold, on, gold_columns, format, skip_bad_rows
        As in `calib_core.load`; what is empty is not named.

    Examples
    --------
    >>> print(Advice(rows="a.b", columns={"p": "confidence/100", "is ok": "correct"}))
    rows="a.b", columns={"p": "confidence/100", "is ok": "correct"}
    """

    rows: str = ""
    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    wide: Mapping[str, str] = field(default_factory=dict[str, str])
    missing: Sequence[str] = ()
    gold: str = ""
    on: str = ""
    gold_columns: Mapping[str, str] = field(default_factory=dict[str, str])
    format: str = ""
    skip_bad_rows: bool = False

    def __str__(self) -> str:
        named = {one.name: value for one in fields(self) if (value := getattr(self, one.name))}
        match current_surface():
            case "command line":
                return " ".join(_as_options(keyword, value) for keyword, value in named.items())
            case "Python":
                return ", ".join(f"{keyword}={_as_literal(value)}" for keyword, value in named.items())
            case "page":
                return ", ".join(filter(None, map(_in_words, named.values())))


def worded(text: str, *, on_page: str, in_python: str | None = None) -> str:
    """Return the words of the surface, where those around an option differ as well.

    Parameters
    ----------
    text
        The words of the command line, and of Python unless `in_python` is given.
    on_page
        Those of a page.
    in_python
        Those of Python.
    """
    return {"command line": text, "Python": in_python or text, "page": on_page}[current_surface()]


def to_say(what: str, advice: Advice) -> str:
    """Return what a person has to say, to follow "Say": by naming this, or by a page's controls below."""
    return worded(f"{what}: {advice}", on_page=f"below {what}.")


def option_name(keyword: str) -> str:
    """Return what the surface calls a keyword of `load`, as in "--format", "format=" and "the format"."""
    option = f"--{_OPTION_NAMES.get(keyword, keyword)}"
    return worded(option, in_python=f"{keyword}=", on_page=f"the {keyword}")


def bracketed_option(keyword: str) -> str:
    """Return " (--rows)" and the like, to follow what was given so; "" on a page, where that is plain."""
    return worded(f" ({option_name(keyword)})", on_page="")


def quote_argument(text: str) -> str:
    """Quote a command-line argument where bash or zsh would read something else.

    In double quotes, which every shell has, unless it holds what is active even there.

    Examples
    --------
    >>> print(quote_argument("conf=confidence"), quote_argument("is ok=correct"), quote_argument("a$b=id"))
    conf=confidence "is ok=correct" 'a$b=id'
    """
    if _PLAIN.fullmatch(text):
        return text
    return shlex.quote(text) if _ACTIVE_IN_DOUBLE_QUOTES.intersection(text) else f'"{text}"'


def _as_options(keyword: str, value: _Value) -> str:
    option = option_name(keyword)
    arguments = [column if name is None else f"{column}={name}" for column, name in _pairs(value)]
    return " ".join(f"{option} {quote_argument(argument)}" for argument in arguments) or option


def _as_literal(value: _Value) -> str:
    if value is True:
        return "True"
    return json.dumps(dict(value) if isinstance(value, Mapping) else value, ensure_ascii=False)


def _in_words(value: _Value) -> str:
    return ", ".join(f"“{column}” as “{name}”" if name else f"“{column}”" for column, name in _pairs(value))


def _pairs(value: _Value) -> list[tuple[str, str | None]]:
    """Return columns and what they are read as, or other texts and None; nothing for True."""
    if isinstance(value, Mapping):
        return list(value.items())
    texts = () if isinstance(value, bool) else [value] if isinstance(value, str) else value
    return [(text, None) for text in texts]
