"""Lists that columns may form: probabilities of choices, sampled answers with their outcomes, choices."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Final, NamedTuple, cast

import polars as pl

from calib_core.advice import Advice, worded
from calib_core.errors import shorten
from calib_core.readers.format import Candidate
from calib_core.readers.table.column_values import MIN_FITTING, ColumnValues, fits
from calib_core.readers.table.columns import (
    CHOICE_MASSES,
    CHOICE_SCORES,
    LIST_COLUMNS,
    in_order_of_suffix,
)
from calib_core.readers.table.list_cells import as_lists, combine_columns
from calib_core.readers.table.names import (
    NOUNS,
    WORDS,
    meanings,
    name_words,
    normalise_name,
    spelling_rank,
)
from calib_core.runs import is_missing

MIN_REPEATING_SHARE: Final = 0.2
"""Least share of rows with two equal texts in lists that are taken for sampled answers."""
SERIES_PREFIXES: Final = {
    "samples": ("sample", "answer", "response", "generation"),
    "choices": ("option", "choice", ""),
}
"""List → what precedes the letter or number in the normalised name of a column with one element."""
LABEL_KEYS: Final = ("label", "class", "choice", "option", "token", "answer", "text")
SCORE_KEYS: Final = ("score", "prob", "probability", "p", "confidence")
"""Keys of the objects in a list of choices with their probabilities, as classifiers write them; or, with an
s, of the lists of both."""
_SUM_OF_MASSES: Final = "rows that sum to less than 1: probabilities within a larger vocabulary"

_WITHOUT_LETTER: Final = re.compile(r"(?P<prefix>.*?)[-_. ]?(?P<label>[A-Za-z]|(?<![0-9])[0-9]+)", re.DOTALL)
_WITHOUT_WORD: Final = re.compile(r"(?P<prefix>.*)[-_. ](?P<label>[^-_. ]+)", re.DOTALL)
_LABELS_INSIDE: Final = (re.compile(r"[^-_. ()\[\]]+"), re.compile(r"(?<=[a-z])[A-Z](?![A-Za-z0-9])"))
"""What may be a label inside a name: a word of it, or a capital at a word's end ("choiceA_probs")."""


def list_columns(values: Mapping[str, pl.Series], read_as: Mapping[str, str]) -> Iterator[Candidate]:
    """Yield columns of lists with a usual spelling, and lists of right answers."""
    for column in sorted(values.keys() - read_as.keys()):
        for name in (*LIST_COLUMNS, "gold"):
            if spelling_rank(column, name) is None or (name == "gold" and not _is_list(values[column])):
                continue
            if name == "gold" or (fits(values[column], name) and not _is_empty(values[column])):
                yield Candidate({column: name}, "said", "its name")
            elif name == "choice_probs" and _are_masses(as_lists(values[column])[0]):
                yield Candidate({column: CHOICE_MASSES}, "hinted", f"its name, and {_SUM_OF_MASSES}")


def _is_list(raw: pl.Series) -> bool:
    match raw.dtype:
        case pl.List(inner=inner):
            return not inner.is_nested()
        case _:
            return False


def _is_empty(raw: pl.Series) -> bool:
    return raw.len() == int(is_missing(raw).sum())


def find_scored_choices(lists: Mapping[str, pl.Series]) -> Iterator[Candidate]:
    """Yield the choices and probabilities in lists of objects such as {"label": "a", "score": 0.9}.

    Parameters
    ----------
    lists : Mapping[str, pl.Series]
        Path → the lists there, such as `scores.label` and `scores.score`, or `labels` and `scores`.
    """
    for label, score in product(lists, lists):
        (where, _, key), (place, _, number) = label.rpartition("."), score.rpartition(".")
        is_named = where == place and any(
            key.removesuffix(end) in LABEL_KEYS and number.removesuffix(end) in SCORE_KEYS
            for end in ("", "s")
            if key.endswith(end) and number.endswith(end)
        )
        if is_named and fits(lists[score], "choice_probs", MIN_FITTING):
            names = {label: "choices", score: "choice_probs"}
            yield Candidate(names, "said", f"lists of {key} and {number}")


def lists_of_columns(
    columns: Sequence[ColumnValues], answers: Sequence[frozenset[str]]
) -> Iterator[Candidate]:
    """Yield the columns that form one list: a probability for each choice, sampled answers, choices.

    Parameters
    ----------
    columns : sequence of ColumnValues
    answers : sequence of frozenset of str
        The values of each column that may be answers, in lower case.
    """
    yield from _distributions(columns, answers)
    by_normalised: dict[str, ColumnValues] = {}
    for column in columns:
        by_normalised.setdefault(normalise_name(column.name), column)
    for name, prefixes in SERIES_PREFIXES.items():
        for prefix in prefixes:
            start = 0 if f"{prefix}0" in by_normalised else 1
            numbers = (str(number) for number in range(start, start + len(by_normalised)))
            for suffixes in (string.ascii_lowercase, numbers):
                members: list[ColumnValues] = []
                for suffix in suffixes:
                    if (column := by_normalised.get(f"{prefix}{suffix}")) is None:
                        break
                    members.append(column)
                are_texts = name not in ("samples", "choices") or not any(one.are_shares for one in members)
                if len(members) > 1 and are_texts and fits(_combined(members), name):
                    names = dict.fromkeys((column.name for column in members), name)
                    yield Candidate(names, "said", "their names")


def _combined(columns: Sequence[ColumnValues]) -> pl.Series:
    return combine_columns([column.raw for column in columns])


class _Family(NamedTuple):
    """What columns of one list have in common.

    Attributes
    ----------
    kind : {"beginning", "labelled", "around", "object", "letters", "unnamed", "answers"}
        Where in their names it is: at the beginning, of "labelled" one that means a list only before labels;
        "object" is the object whose keys they are; those of the last three have nothing in common, but are
        letters, say nothing otherwise, or are the answers themselves.
    frame : str
    name : str
        The list that they are.
    """

    kind: str
    frame: str = ""
    name: str = "choice_probs"


def _distributions(columns: Sequence[ColumnValues], answers: Sequence[frozenset[str]]) -> Iterator[Candidate]:
    """Yield columns with a number for each choice: probabilities that sum to 1, or to less, or logarithms.

    Their names begin with a word for probability, or what they differ in are letters or numbers in a row, or
    all the values of an answer.
    """
    families: dict[_Family, dict[str, ColumnValues]] = {}
    known = frozenset[str]().union(*answers)
    for column in columns:
        for family, label in _families(column.name, known):
            is_possible = column.are_numbers if family.name != "choice_probs" else _are_probabilities(column)
            if is_possible:
                families.setdefault(family, {})[label] = column
    used: set[str] = set()
    for find in (_as_distribution, _as_masses):
        for family, members in families.items():
            names = in_order_of_suffix([column.name for column in members.values()])
            is_labelled = _are_series(members) or any(
                len(values) > 1 and values <= members.keys() for values in answers
            )
            if len(names) < 2 or used & {*names} or not (is_labelled or family.kind == "beginning"):
                continue
            one = find(family, names, _combined([*members.values()]), is_labelled=is_labelled)
            if one is not None:
                used |= {*names}
                yield one


def _as_distribution(
    family: _Family, names: Sequence[str], combined: pl.Series, *, is_labelled: bool
) -> Candidate | None:
    if not fits(combined, family.name, 0.5 if is_labelled else MIN_FITTING):
        return None
    why = "their names" + (", and rows that sum to 1" if family.name == "choice_probs" else "")
    return Candidate(dict.fromkeys(names, family.name), "said", why)


def _as_masses(
    family: _Family, names: Sequence[str], combined: pl.Series, *, is_labelled: bool
) -> Candidate | None:
    is_possible = is_labelled and family.name == "choice_probs" and family.kind != "unnamed"
    if not (is_possible and _are_masses(combined)):
        return None
    return Candidate(dict.fromkeys(names, CHOICE_MASSES), "hinted", f"their names, and {_SUM_OF_MASSES}")


def _families(name: str, answers: Collection[str]) -> Iterator[tuple[_Family, str]]:
    """Yield the families that a column may belong to by its name, and what it is called within each."""
    for pattern in (_WITHOUT_LETTER, _WITHOUT_WORD):
        if (match := pattern.fullmatch(name)) is not None and (listed := _list_named(match["prefix"])):
            kind = "beginning" if _says_probability(match["prefix"]) else "labelled"
            yield _Family(kind, f"{pattern.pattern} {match['prefix']}", listed), _as_label(match["label"])
    for match in (one for pattern in _LABELS_INSIDE for one in pattern.finditer(name)):
        before, after = name[: match.start()], name[match.end() :]
        if after and (listed := _list_named(f"{before} {after}")):
            yield _Family("around", f"{before}*{after}", listed), _as_label(match[0])
    parent, _, key = name.rpartition(".")
    if parent:
        spelt = (one for one in CHOICE_SCORES if spelling_rank(parent, one) is not None)
        yield _Family("object", parent, next(spelt, "choice_probs")), _as_label(key)
    elif len(name) == 1:
        yield _Family("letters"), _as_label(name)
    elif not meanings(name):
        yield _Family("unnamed"), _as_label(name)
    if _as_label(name) in answers:
        yield _Family("answers"), _as_label(name)


def _as_label(text: str) -> str:
    return text.strip().lower()


def _are_series(labels: Iterable[str]) -> bool:
    """Return whether labels are the first letters of the alphabet in any order, or all numbers."""
    found = sorted(labels)
    return found == [*string.ascii_lowercase[: len(found)]] or all(map(str.isdecimal, found))


def _are_probabilities(column: ColumnValues) -> bool:
    n_inside = sum(0 <= number <= 1 for number in column.numbers)
    return column.are_numbers and 2 * n_inside >= len(column.numbers)


def _says_probability(prefix: str) -> bool:
    words = name_words(prefix)
    return bool(words) and (
        words in (("p",), ("softmax",)) or any(word in WORDS["confidence"] for word in words)
    )


def _list_named(prefix: str) -> str | None:
    """Return the list of choices that a name says by what is before a label; None where it says none."""
    words = {*name_words(prefix)}
    if words & {"logit", "logits"}:
        return "choice_logits"
    if words & WORDS["confidence:log"] or "log" in words:
        return "choice_logprobs"
    return "choice_probs" if _says_probability(prefix) or (words and words <= NOUNS) else None


def _are_masses(raw: pl.Series) -> bool:
    sums = raw.cast(pl.List(pl.Float64), strict=False).list.sum().drop_nulls()
    return sums.len() > 0 and bool(((sums > 0) & (sums <= 1)).all())


# --- Sampled answers and their outcomes -------------------------------------------------------------------


def find_sampled_answers(values: Mapping[str, pl.Series]) -> tuple[str, str] | None:
    """Find the column of sampled answers and that of their outcomes, by their values alone.

    The answers are lists of texts; the outcomes are lists of right and wrong, as long as the answers in every
    row. Some answers to one question are the same, which choices never are, and the same answer has always
    the same outcome, which lists that have nothing to do with each other do not.

    Parameters
    ----------
    values : Mapping[str, pl.Series]
        ColumnValues or path → its first values, the same rows of each.

    Returns
    -------
    tuple of (str, str) or None
        The column of the answers and that of the outcomes; None unless exactly one pair fits.

    Examples
    --------
    >>> ys = pl.Series([["6", "6", "7"], ["1", "2", "2"], ["3", "3", "3"]])
    >>> find_sampled_answers({"ys": ys, "infos.r": pl.Series([[1, 1, 0], [0, 1, 1], [0, 0, 0]])})
    ('ys', 'infos.r')
    """
    lists = {name: [_as_list(value) for value in raw.to_list()] for name, raw in values.items()}
    answers = {
        name: rows for name, rows in lists.items() if _are_all(rows, lambda value: isinstance(value, str))
    }
    outcomes = {name: rows for name, rows in lists.items() if _are_all(rows, _is_zero_or_one)}
    pairs = [
        (text, flag)
        for text, flag in product(answers, outcomes)
        if spelling_rank(text, "choices") is None and _are_judged_alike(answers[text], outcomes[flag])
    ]
    return pairs[0] if len(pairs) == 1 else None


def _as_list(value: object) -> list[object] | None:
    return cast("list[object]", value) if isinstance(value, list) else None


def _is_zero_or_one(value: object) -> bool:
    return isinstance(value, bool | int | float) and value in (0, 1)


def _are_all(rows: Sequence[list[object] | None], is_kind: Callable[[object], bool]) -> bool:
    """Return whether every row has a list of several values, all of a kind."""
    return bool(rows) and all(row is not None and len(row) > 1 and all(map(is_kind, row)) for row in rows)


def _are_judged_alike(
    answers: Sequence[list[object] | None], outcomes: Sequence[list[object] | None]
) -> bool:
    """Return whether lists of answers and of outcomes go together, as `find_sampled_answers` says."""
    n_repeating = 0
    seen: set[bool] = set()
    for texts, flags in zip(answers, outcomes, strict=True):
        if texts is None or flags is None or len(texts) != len(flags):
            return False
        known: dict[object, bool] = {}
        for text, flag in zip(texts, map(bool, flags), strict=True):
            if known.setdefault(text, flag) != flag:
                return False
        n_repeating += len(known) < len(texts)
        seen |= set(known.values())
    return len(seen) == 2 and n_repeating >= MIN_REPEATING_SHARE * len(answers)


def choice_letters_note(values: Mapping[str, pl.Series]) -> str | None:
    """Say that columns hold letters of choices, which may be sampled answers; None if fewer than 3 do.

    Whether they are samples of one model, the values cannot tell, so that nothing is proposed.

    Examples
    --------
    >>> votes = pl.Series(["A", "B", "B", "D"])
    >>> choice_letters_note({"m1": votes, "m2": votes, "m3": votes})  # doctest: +ELLIPSIS
    '3 columns hold letters of choices: m1, m2, m3. Name ... columns={"COLUMN": "samples"}, an entry ...'
    """
    columns = [ColumnValues(name, raw) for name, raw in values.items() if not raw.dtype.is_nested()]
    of_letters = [
        column.name
        for column in columns
        if len(set(column.present)) > 1
        and not any(name == "gold" for name, _ in meanings(column.name))
        and sum(map(_is_choice_letter, column.present)) >= MIN_FITTING * len(column.present)
    ]
    if len(of_letters) < 3:
        return None
    shown = ", ".join(shorten(name, 40) for name in of_letters[:3]) + (", …" if len(of_letters) > 3 else "")
    option = Advice(columns={"COLUMN": "samples"})
    how = worded(
        f": {option}, once for each.", in_python=f": {option}, an entry for each.", on_page=", below."
    )
    return (
        f"{len(of_letters)} columns hold letters of choices: {shown}. Name those that are sampled answers to "
        f"the question{how}"
    )


def _is_choice_letter(text: str) -> bool:
    return len(text) == 1 and "A" <= text <= "J"
