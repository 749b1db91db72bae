"""Which of many answers are equal?  Texts of many rows → whole numbers, each distinct text read once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.confidence.answers import KINDS, Kind, Normaliser, named_index, of_kind, text_form
from calib_core.confidence.coded import coded
from calib_core.confidence.numbers import is_percent

UNPARSED: Final = -1
_MANY: Final = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """Answers of several rows.

    rows: intp, positions of the rows in the run, shape (r,); count: int64, answers of each, shape (r,);
    text: String, the answers end to end; output: bool, shape (r,), whether the texts of a row are whole
    outputs (read by `Normaliser.readings`) rather than answers that stand alone (`Normaliser.forms`).
    """

    rows: NDArray[np.intp]
    count: NDArray[np.int64]
    text: pl.Series
    output: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class AnswerCodes:
    """Which answers are equal, and what was done to tell.

    code: int32, shape (answers,), from 0 on, equal within a row just where two answers have one normal
    form, −1 where an answer has none; found: whether some stand at a marker in a longer output; percent:
    whether some are numbers with a percent sign.
    """

    code: NDArray[np.int32]
    found: bool = False
    percent: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _Sort:
    """Answers of rows of one kind, by the number of their distinct text."""

    kind: Kind
    whole: bool
    rows: NDArray[np.intp]
    count: NDArray[np.int64]
    numbers: NDArray[np.uint32]
    distinct: pl.Series


def answer_codes(normaliser: Normaliser, answers: Answers) -> AnswerCodes:
    """The answers as whole numbers."""
    numbers, distinct = coded(answers.text)
    kinds = normaliser.kind.gather(pl.Series(answers.rows, dtype=pl.UInt32))
    parts: list[AnswerCodes] = []
    code = np.empty(0, np.int32)
    for kind in KINDS:
        is_kind = (kinds == kind).to_numpy()
        for whole in (False, True):
            here = is_kind & (answers.output == whole)
            if here.all():
                return _codes(normaliser, _Sort(kind, whole, answers.rows, answers.count, numbers, distinct))
            if here.any():
                of_sort = np.repeat(here, answers.count)
                rows, count = answers.rows[here], answers.count[here]
                parts.append(_codes(normaliser, _Sort(kind, whole, rows, count, numbers[of_sort], distinct)))
                code = code if code.size else np.full(numbers.size, UNPARSED, np.int32)
                code[of_sort] = parts[-1].code
    return AnswerCodes(code, any(part.found for part in parts), any(part.percent for part in parts))


def _codes(normaliser: Normaliser, sort: _Sort) -> AnswerCodes:
    if sort.kind == "choice":
        return _choice_codes(normaliser, sort)
    one, row = of_kind(sort.kind), pl.zeros(sort.distinct.len(), dtype=pl.UInt32, eager=True)
    forms = alone = one.forms(row, sort.distinct)
    if sort.whole:
        forms = one.readings(row, sort.distinct)
    percent = sort.kind == "number" and bool(is_percent(sort.distinct.filter(forms.is_not_null())).any())
    found = bool(forms.ne_missing(alone).any())
    return AnswerCodes(_numbered(forms).take(sort.numbers), found, percent)


def _numbered(forms: pl.Series) -> NDArray[np.int32]:
    """Equal forms → equal numbers, null → −1."""
    numbers, distinct = coded(forms)
    code = np.arange(distinct.len(), dtype=np.int32)
    code[distinct.is_null().to_numpy()] = UNPARSED
    return code[numbers]


def _choice_codes(normaliser: Normaliser, sort: _Sort) -> AnswerCodes:
    """The index of the choice that each answer names: equal text first, then letter, then index."""
    named = named_index(sort.distinct).fill_null(UNPARSED).cast(pl.Int32).to_numpy()
    index = named.take(sort.numbers)
    most = normaliser.choices.gather(pl.Series(sort.rows, dtype=pl.UInt32)).fill_null(_MANY).to_numpy()
    if int(named.max(initial=UNPARSED)) >= int(most.min(initial=_MANY)):
        index[index >= np.repeat(most, sort.count)] = UNPARSED
    _put_listed(index, normaliser, sort)
    found = sort.whole and _put_read(index, normaliser, sort)
    return AnswerCodes(index, found)


def _put_listed(index: NDArray[np.int32], normaliser: Normaliser, sort: _Sort) -> None:
    """Sets the index of the answers whose text is one of their row's choices."""
    places = normaliser.place(text_form(sort.distinct))
    maybe = places.is_not_null().to_numpy()
    if not maybe.any():
        return
    at = np.flatnonzero(maybe.take(sort.numbers))
    row = pl.Series(np.repeat(sort.rows, sort.count)[at], dtype=pl.UInt32)
    # Joined by whole numbers: texts of millions of samples would be hashed once more.
    found = normaliser.index_of(row, places.gather(pl.Series(sort.numbers[at])))
    known = found.is_not_null().to_numpy()
    index[at[known]] = found.drop_nulls().cast(pl.Int32).to_numpy()


def _put_read(index: NDArray[np.int32], normaliser: Normaliser, sort: _Sort) -> bool:
    """Sets the index of the outputs which name a choice at a marker; says whether there is any."""
    at = np.flatnonzero(index == UNPARSED)
    row = np.repeat(sort.rows, sort.count)[at].astype(np.uint32)
    asked = pl.DataFrame({"row": row, "number": sort.numbers[at]})
    pairs = asked.unique()
    texts = sort.distinct.gather(pairs["number"].cast(pl.UInt32))
    read = pairs.with_columns(index=named_index(normaliser.readings(pairs["row"], texts)))
    found = asked.join(read, on=["row", "number"], how="left", maintain_order="left")["index"]
    index[at] = found.fill_null(UNPARSED).cast(pl.Int32).to_numpy()
    return found.null_count() < found.len()
