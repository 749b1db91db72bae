"""Which of many answers are equal?  Texts of many rows → whole numbers, each distinct text read once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.confidence.answers import ANSWER_KINDS, AnswerKind, AnswerNormaliser, named_choice_index, normaliser_of_kind, text_form
from calib_core.confidence.coded import encode_texts
from calib_core.confidence.numbers import is_percent

UNPARSED_CODE: Final = -1
_UNLIMITED: Final = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True, eq=False)
class AnswerTexts:
    """Answers of several rows.

    rows: intp, positions of the rows in the run, shape (r,); count: int64, answers of each, shape (r,);
    text: String, the answers end to end; output: bool, shape (r,), whether the texts of a row are whole
    outputs (read by `Normaliser.readings`) rather than answers that stand alone (`Normaliser.forms`).
    """

    rows: NDArray[np.intp]
    counts: NDArray[np.int64]
    texts: pl.Series
    is_output: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class EncodedAnswers:
    """Which answers are equal, and what was done to tell.

    code: int32, shape (answers,), from 0 on, equal within a row just where two answers have one normal
    form, −1 where an answer has none; found: whether some stand at a marker in a longer output; percent:
    whether some are numbers with a percent sign.
    """

    codes: NDArray[np.int32]
    found_at_marker: bool = False
    has_percent: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _AnswersOfKind:
    """Answers of rows of one kind, by the number of their distinct text."""

    kind: AnswerKind
    is_output: bool
    rows: NDArray[np.intp]
    counts: NDArray[np.int64]
    text_ids: NDArray[np.uint32]
    distinct: pl.Series


def encode_answers(normaliser: AnswerNormaliser, answers: AnswerTexts) -> EncodedAnswers:
    """The answers as whole numbers."""
    numbers, distinct = encode_texts(answers.texts)
    kinds = normaliser.kind.gather(pl.Series(answers.rows, dtype=pl.UInt32))
    parts: list[EncodedAnswers] = []
    code = np.empty(0, np.int32)
    for kind in ANSWER_KINDS:
        is_kind = (kinds == kind).to_numpy()
        for whole in (False, True):
            here = is_kind & (answers.is_output == whole)
            if here.all():
                return _encode_kind(normaliser, _AnswersOfKind(kind, whole, answers.rows, answers.counts, numbers, distinct))
            if here.any():
                of_sort = np.repeat(here, answers.counts)
                rows, count = answers.rows[here], answers.counts[here]
                parts.append(_encode_kind(normaliser, _AnswersOfKind(kind, whole, rows, count, numbers[of_sort], distinct)))
                code = code if code.size else np.full(numbers.size, UNPARSED_CODE, np.int32)
                code[of_sort] = parts[-1].codes
    return EncodedAnswers(code, any(part.found_at_marker for part in parts), any(part.has_percent for part in parts))


def _encode_kind(normaliser: AnswerNormaliser, answers: _AnswersOfKind) -> EncodedAnswers:
    if answers.kind == "choice":
        return _encode_choices(normaliser, answers)
    one, row = normaliser_of_kind(answers.kind), pl.zeros(answers.distinct.len(), dtype=pl.UInt32, eager=True)
    forms = alone = one.answer_forms(row, answers.distinct)
    if answers.is_output:
        forms = one.output_forms(row, answers.distinct)
    percent = answers.kind == "number" and bool(is_percent(answers.distinct.filter(forms.is_not_null())).any())
    found = bool(forms.ne_missing(alone).any())
    return EncodedAnswers(_encode_forms(forms).take(answers.text_ids), found, percent)


def _encode_forms(forms: pl.Series) -> NDArray[np.int32]:
    """Equal forms → equal numbers, null → −1."""
    numbers, distinct = encode_texts(forms)
    code = np.arange(distinct.len(), dtype=np.int32)
    code[distinct.is_null().to_numpy()] = UNPARSED_CODE
    return code[numbers]


def _encode_choices(normaliser: AnswerNormaliser, answers: _AnswersOfKind) -> EncodedAnswers:
    """The index of the choice that each answer names: equal text first, then letter, then index."""
    named = named_choice_index(answers.distinct).fill_null(UNPARSED_CODE).cast(pl.Int32).to_numpy()
    index = named.take(answers.text_ids)
    most = normaliser.n_choices.gather(pl.Series(answers.rows, dtype=pl.UInt32)).fill_null(_UNLIMITED).to_numpy()
    if int(named.max(initial=UNPARSED_CODE)) >= int(most.min(initial=_UNLIMITED)):
        index[index >= np.repeat(most, answers.counts)] = UNPARSED_CODE
    _set_listed_choices(index, normaliser, answers)
    found = answers.is_output and _set_marked_choices(index, normaliser, answers)
    return EncodedAnswers(index, found)


def _set_listed_choices(index: NDArray[np.int32], normaliser: AnswerNormaliser, answers: _AnswersOfKind) -> None:
    """Sets the index of the answers whose text is one of their row's choices."""
    places = normaliser.form_place(text_form(answers.distinct))
    maybe = places.is_not_null().to_numpy()
    if not maybe.any():
        return
    at = np.flatnonzero(maybe.take(answers.text_ids))
    row = pl.Series(np.repeat(answers.rows, answers.counts)[at], dtype=pl.UInt32)
    # Joined by whole numbers: texts of millions of samples would be hashed once more.
    found = normaliser.index_in_row(row, places.gather(pl.Series(answers.text_ids[at])))
    known = found.is_not_null().to_numpy()
    index[at[known]] = found.drop_nulls().cast(pl.Int32).to_numpy()


def _set_marked_choices(index: NDArray[np.int32], normaliser: AnswerNormaliser, answers: _AnswersOfKind) -> bool:
    """Sets the index of the outputs which name a choice at a marker; says whether there is any."""
    at = np.flatnonzero(index == UNPARSED_CODE)
    row = np.repeat(answers.rows, answers.counts)[at].astype(np.uint32)
    asked = pl.DataFrame({"row": row, "number": answers.text_ids[at]})
    pairs = asked.unique()
    texts = answers.distinct.gather(pairs["number"].cast(pl.UInt32))
    read = pairs.with_columns(index=named_choice_index(normaliser.output_forms(pairs["row"], texts)))
    found = asked.join(read, on=["row", "number"], how="left", maintain_order="left")["index"]
    index[at] = found.fill_null(UNPARSED_CODE).cast(pl.Int32).to_numpy()
    return found.null_count() < found.len()
