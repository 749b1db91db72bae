"""Options of the command line in messages: how they are written, and what `calib_core.load` calls them.

A message is plain text from the process that reads a file to the page, terminal or notebook that shows it,
and names what to do as the command line does. Other callers reword that text: Python by `as_keywords`, the
pages by `pages.state.markdown.without_options`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Final

from calib_core.runs import ANSWER_SCHEMA, INFO_COLUMNS, schema_name

_KNOWN_NAMES: Final = frozenset((*ANSWER_SCHEMA, *INFO_COLUMNS))
_NAME_OF_PAIR: Final = re.compile(r"=(?P<name>[^=:/]*)(?=[:/]|$)")
_PLAIN: Final = re.compile(r"[\w@%+:,./-][\w@%+=:,./-]*")
"""What bash and zsh take as it is; zsh reads "=" at the start of a word as the path of a command."""
_ACTIVE_IN_DOUBLE_QUOTES: Final = frozenset('$`"\\!')


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


def split_pair(text: str) -> tuple[str, str]:
    """Split COLUMN=NAME before the name; the column, and what follows the name, may contain "=" as well.

    Examples
    --------
    >>> split_pair("a=b=correct"), split_pair("sure=confidence:high=0.9|low=0.3"), split_pair("a=")
    (('a=b', 'correct'), ('sure', 'confidence:high=0.9|low=0.3'), ('a', ''))
    """
    places = list(_NAME_OF_PAIR.finditer(text))
    known = (place for place in places if schema_name(place["name"]) in _KNOWN_NAMES)
    place = next(known, places[0] if places else None)
    return ("", text) if place is None else (text[: place.start()], text[place.start() + 1 :])


def map_options(mapping: Mapping[str, str], option: str = "map") -> str:
    """Write a mapping as command-line options; `option` is "map" or "map-gold".

    Examples
    --------
    >>> map_options({"conf": "confidence", "is ok": "correct"})
    '--map conf=confidence --map "is ok=correct"'
    """
    return " ".join(f"--{option} {quote_argument(f'{column}={name}')}" for column, name in mapping.items())


def rows_option(path: str) -> str:
    """Write the path of the rows as a command-line option; "" for no path.

    Examples
    --------
    >>> rows_option("results.my items")
    '--rows "results.my items"'
    """
    return f"--rows {quote_argument(path)}" if path else ""


def wide_options(wide: Mapping[str, str]) -> str:
    """Write patterns of columns as command-line options.

    Examples
    --------
    >>> wide_options({"*-evals": "correct"})
    '--wide "*-evals=correct"'
    """
    return " ".join(f"--wide {quote_argument(f'{pattern}={name}')}" for pattern, name in wide.items())


def missing_options(values: Iterable[str]) -> str:
    """Write the values that count as missing as command-line options.

    Examples
    --------
    >>> missing_options(["not attempted"])
    '--missing "not attempted"'
    """
    return " ".join(f"--missing {quote_argument(value)}" for value in values)


ARGUMENT: Final = r"""(?:"[^"]*"|'[^']*')+|[^\s"']*[^\s"',.;:)]"""
"""Pattern of an argument as `quote_argument` writes it, without the punctuation that may follow."""
_OPTION: Final = (
    rf"--(?:(?:map|map-gold|wide|rows|missing) (?:{ARGUMENT})"
    r"|gold TABLE|on [A-Z]+(?:=[A-Z]+)?|format \w+|skip-bad-rows)"
)
_OPTIONS: Final = re.compile(rf"(?<![\w-]){_OPTION}(?: {_OPTION})*")
_BARE_OPTION: Final = re.compile(r"(?<![\w-])--(map|map-gold|wide|rows|gold|on|missing)(?![\w-])")
_KEYWORDS: Final = {"map": "columns", "map-gold": "gold_columns", "wide": "wide"}
"""Options that take a pair → the keyword that takes a mapping."""
_PHRASES: Final = {
    "Leave --format out": "Leave format= out",
    "--map COLUMN=samples, once for each": 'columns={"COLUMN": "samples"}, an entry for each',
}
"""What is worded otherwise around an option."""


def unquote_argument(argument: str) -> str:
    """Return the text of an argument that `quote_argument` wrote."""
    return "".join(shlex.split(argument)) if argument[:1] in ("'", '"') else argument


def as_keywords(message: str) -> str:
    """Name the keywords of `calib_core.load` where a message names options of the command line.

    Examples
    --------
    >>> as_keywords('With --rows a.b --map p=confidence/100 --map "is ok=correct" it loads.')
    'With rows="a.b", columns={"p": "confidence/100", "is ok": "correct"} it loads.'
    >>> as_keywords("nothing lies at 'a' (--rows).")
    "nothing lies at 'a' (rows=)."
    """
    for words, in_python in _PHRASES.items():
        message = message.replace(words, in_python)
    return _BARE_OPTION.sub(_bare_keyword, _OPTIONS.sub(_keywords, message))


def _bare_keyword(option: re.Match[str]) -> str:
    return f"{_KEYWORDS.get(option[1], option[1])}="


def _keywords(options: re.Match[str]) -> str:
    """The keywords for options that stand side by side; those of a mapping are one keyword."""
    values: dict[str, list[str]] = {}
    for option in re.findall(_OPTION, options[0]):
        name, _, argument = option.removeprefix("--").partition(" ")
        if name == "skip-bad-rows":
            values["skip_bad_rows"] = ["True"]
            continue
        argument = unquote_argument(argument)
        if name in _KEYWORDS:
            column, role = split_pair(argument)
            argument = f"{_quoted(column)}: {_quoted(role)}"
        else:
            argument = _quoted(argument)
        values.setdefault(name, []).append(argument)
    for name, keyword in _KEYWORDS.items():
        if name in values:
            values[keyword] = [f"{{{', '.join(values.pop(name))}}}"]
    if missing := values.pop("missing", None):
        values["missing"] = [f"[{', '.join(missing)}]"]
    if skipped := values.pop("skip_bad_rows", None):
        values["skip_bad_rows"] = skipped
    return ", ".join(f"{keyword}={value[-1]}" for keyword, value in values.items())


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
