"""Lists that columns may form: probabilities of choices, sampled answers with their outcomes, choices."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Final, cast

import polars as pl

from calib_core.errors import shorten
from calib_core.readers.format import Candidate
from calib_core.readers.table.column_values import MIN_FITTING, Column, fits
from calib_core.readers.table.columns import (
    LIST_COLUMNS,
    in_order_of_suffix,
)
from calib_core.readers.table.list_cells import combine_columns
from calib_core.readers.table.names import (
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
    "choice_logprobs": ("logprob", "lp", "choicelogprob"),
    "choice_logits": ("logit", "choicelogit"),
    "samples": ("sample", "answer", "response", "generation"),
    "choices": ("option", "choice", ""),
}
"""List → what precedes the letter or number in the normalised name of a column with one element."""
LABEL_KEYS: Final = ("label", "class", "choice", "option", "token", "answer", "text")
SCORE_KEYS: Final = ("score", "prob", "probability", "p", "confidence")
"""Keys of the objects in a list of choices with their probabilities, as classifiers write them."""

_WITHOUT_LETTER: Final = re.compile(r"(?P<prefix>.*?)[-_. ]?(?P<label>[A-Za-z]|[0-9]+)", re.DOTALL)
_WITHOUT_WORD: Final = re.compile(r"(?P<prefix>.*)[-_. ](?P<label>[^-_. ]+)", re.DOTALL)


def list_columns(values: Mapping[str, pl.Series], read_as: Mapping[str, str]) -> Iterator[Candidate]:
    """Yield columns of lists with a usual spelling, and lists of right answers."""
    for column in sorted(values.keys() - read_as.keys()):
        for name in (*LIST_COLUMNS, "gold"):
            if spelling_rank(column, name) is None or (name == "gold" and not _is_list(values[column])):
                continue
            if name == "gold" or (fits(values[column], name) and not _is_empty(values[column])):
                yield Candidate({column: name}, "said", "its name")


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
        Path → the lists there, such as `scores.label` and `scores.score`.
    """
    for label, score in product(lists, lists):
        (where, _, key), (place, _, number) = label.rpartition("."), score.rpartition(".")
        is_named = where == place and key in LABEL_KEYS and number in SCORE_KEYS
        if is_named and fits(lists[score], "choice_probs", MIN_FITTING):
            names = {label: "choices", score: "choice_probs"}
            yield Candidate(names, "said", f"lists of {key} and {number}")


def lists_of_columns(columns: Sequence[Column]) -> Iterator[Candidate]:
    """Yield the columns that form one list: a probability for each choice, sampled answers, choices."""
    yield from _distributions(columns)
    by_normalised: dict[str, Column] = {}
    for column in columns:
        by_normalised.setdefault(normalise_name(column.name), column)
    for name, prefixes in SERIES_PREFIXES.items():
        for prefix in prefixes:
            start = 0 if f"{prefix}0" in by_normalised else 1
            numbers = (str(number) for number in range(start, start + len(by_normalised)))
            for suffixes in (string.ascii_lowercase, numbers):
                members: list[Column] = []
                for suffix in suffixes:
                    if (column := by_normalised.get(f"{prefix}{suffix}")) is None:
                        break
                    members.append(column)
                are_texts = name not in ("samples", "choices") or not any(one.are_shares for one in members)
                if len(members) > 1 and are_texts and fits(_combined(members), name):
                    names = dict.fromkeys((column.name for column in members), name)
                    yield Candidate(names, "said", "their names")


def _combined(columns: Sequence[Column]) -> pl.Series:
    return combine_columns([column.raw for column in columns])


def _distributions(columns: Sequence[Column]) -> Iterator[Candidate]:
    """Yield columns of one beginning that says probability and whose rows sum to 1, or to less."""
    shares = {column.name: column for column in columns if _are_probabilities(column)}
    families: dict[tuple[str, str], dict[str, Column]] = {}
    for pattern in (_WITHOUT_LETTER, _WITHOUT_WORD):
        for name, column in shares.items():
            if (match := pattern.fullmatch(name)) is not None and _says_probability(match["prefix"]):
                families.setdefault((pattern.pattern, match["prefix"]), {})[match["label"]] = column
    used: set[str] = set()
    for members in families.values():
        names = in_order_of_suffix([column.name for column in members.values()])
        if len(members) < 2 or used & {*names}:
            continue
        combined = _combined([shares[name] for name in names])
        labels = [label.lower() for label in members]
        is_series = sorted(labels) == [*string.ascii_lowercase[: len(labels)]] or all(
            map(str.isdecimal, labels)
        )
        if fits(combined, "choice_probs", 0.5 if is_series else MIN_FITTING):
            used |= {*names}
            yield Candidate(
                dict.fromkeys(names, "choice_probs"), "said", "their names, and rows that sum to 1"
            )
        elif is_series and _are_masses(combined):
            used |= {*names}
            why = "their names, and rows that sum to less than 1: probabilities within a larger vocabulary"
            yield Candidate(dict.fromkeys(names, "choice_masses"), "hinted", why)


def _are_probabilities(column: Column) -> bool:
    n_inside = sum(0 <= number <= 1 for number in column.numbers)
    return column.are_numbers and 2 * n_inside >= len(column.numbers)


def _says_probability(prefix: str) -> bool:
    words = name_words(prefix)
    return bool(words) and (
        words in (("p",), ("softmax",)) or any(word in WORDS["confidence"] for word in words)
    )


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
        Column or path → its first values, the same rows of each.

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
    '3 columns hold letters of choices: m1, m2, m3. Name those ...: --map COLUMN=samples, once for each.'
    """
    columns = [Column(name, raw) for name, raw in values.items() if not raw.dtype.is_nested()]
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
    return (
        f"{len(of_letters)} columns hold letters of choices: {shown}. Name those that are sampled answers to "
        f"the question: --map COLUMN=samples, once for each."
    )


def _is_choice_letter(text: str) -> bool:
    return len(text) == 1 and "A" <= text <= "J"
