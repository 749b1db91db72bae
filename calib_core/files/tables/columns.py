"""What does each column of the plain files hold, and who judges its values?

The names are fixed: people write files with them. A new column is one line here and one in
`records.ANSWER_SCHEMA`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import polars as pl

from calib_core.files.tables import lists, numbers, words
from calib_core.files.tables.judged import Judge
from calib_core.records import ANSWER_SCHEMA

_COUNTS: Final = lists.list_of(numbers.whole(1, pl.Int32()), pl.Int32())
_LOGPROBS: Final = lists.list_of(numbers.log_probability, pl.Float64())
_TEXTS: Final = lists.list_of(words.sample, pl.String())
_INDEX: Final = numbers.whole(0, pl.Int32())

COLUMNS: Final = MappingProxyType[str, Judge]({
    "id": words.text,
    "trial_of": words.text,
    "subject": words.text,
    "question": words.prose,
    "status": words.text,
    "answer_kind": words.text,
    "choices": _TEXTS,
    "gold": words.text,
    "gold_index": _INDEX,
    "gold_all": _TEXTS,
    "choice_logprobs": lists.possible(_LOGPROBS),
    "choice_logprob_floor": numbers.log_probability,
    "choice_other_mass": numbers.probability,
    "choice_probs": lists.distribution(lists.list_of(numbers.probability, pl.Float64())),
    "choice_token_counts": _COUNTS,
    "choice_char_counts": _COUNTS,
    "choice_byte_counts": _COUNTS,
    "prediction": words.text,
    "prediction_index": _INDEX,
    "prediction_text": words.prose,
    "correct": words.flag,
    "samples": _TEXTS,
    "samples_parsed": _TEXTS,
    "sample_correct": lists.list_of(words.flag, pl.Boolean()),
    "sample_cluster": lists.list_of(_INDEX, pl.Int32()),
    "correct_majority": words.flag,
    "path_logprobs": _LOGPROBS,
    "path_mean_prob": numbers.probability,
    "answer_start": _INDEX,
    "answer_end": _INDEX,
    "answer_logprobs": _LOGPROBS,
    "answer_mean_prob": numbers.probability,
    "p_true": numbers.probability,
    "p_false": numbers.probability,
    "p_true_norm": words.text,
    "verbal_confidence": numbers.stated,
    "confidence": numbers.probability,
    "model": words.text,
    "dataset": words.text,
    "shots": numbers.shots,
    "checkpoint": words.text,
    "params_b": numbers.if_readable(numbers.billions),
    "tuning": words.text,
    "temperature": numbers.if_readable(numbers.amount),
    "tokens_seen": numbers.if_readable(numbers.whole(0, pl.Int64())),
})
"""Column → who judges it: the columns of a row (`ANSWER_SCHEMA`) and those of its run (`INFO_COLUMNS`)."""

ONE_TEXT: Final = frozenset(name for name, judge in COLUMNS.items() if judge is words.text)
"""Columns in which a list or an object is wrong even though it could be shown as text."""

LISTS: Final = frozenset(name for name, dtype in ANSWER_SCHEMA.items() if isinstance(dtype, pl.List))
"""Columns that hold a list, so that several columns of the file can be put together into one of them."""

PROBABILITIES: Final = frozenset(
    name for name, judge in COLUMNS.items() if judge in (numbers.probability, numbers.stated)
)
"""Columns of one number from 0 to 1, which people may have written as percentages."""

NUMBERS: Final = frozenset(
    name
    for name, judge in COLUMNS.items()
    if judge in (numbers.probability, numbers.stated, words.flag, _INDEX, _LOGPROBS, _COUNTS)
    or name in ("choice_logprobs", "choice_probs", "sample_cluster")
)
"""Columns of which only the number counts, or whether it is true, however it is written."""
