"""What does each column of the plain files hold, and who judges its values?

The names are fixed: people write files with them. A new column is one line here and one in
`records.ANSWER_SCHEMA`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import polars as pl

from calib_core.files.tables import lists, numbers, words
from calib_core.files.tables.judged import ColumnJudge
from calib_core.records import ANSWER_SCHEMA

_COUNT_LIST: Final = lists.list_judge(numbers.integer_judge(1, pl.Int32()), pl.Int32())
_LOGPROB_LIST: Final = lists.list_judge(numbers.judge_log_probability, pl.Float64())
_TEXT_LIST: Final = lists.list_judge(words.judge_sample_text, pl.String())
_POSITION: Final = numbers.integer_judge(0, pl.Int32())

COLUMN_JUDGES: Final = MappingProxyType[str, ColumnJudge]({
    "id": words.judge_text,
    "trial_of": words.judge_text,
    "subject": words.judge_text,
    "question": words.judge_display_text,
    "status": words.judge_text,
    "answer_kind": words.judge_text,
    "choices": _TEXT_LIST,
    "gold": words.judge_text,
    "gold_index": _POSITION,
    "gold_all": _TEXT_LIST,
    "choice_logprobs": lists.some_finite_judge(_LOGPROB_LIST),
    "choice_logprob_floor": numbers.judge_log_probability,
    "choice_other_mass": numbers.judge_probability,
    "choice_probs": lists.distribution_judge(lists.list_judge(numbers.judge_probability, pl.Float64())),
    "choice_token_counts": _COUNT_LIST,
    "choice_char_counts": _COUNT_LIST,
    "choice_byte_counts": _COUNT_LIST,
    "prediction": words.judge_text,
    "prediction_index": _POSITION,
    "prediction_text": words.judge_display_text,
    "correct": words.judge_flag,
    "samples": _TEXT_LIST,
    "samples_parsed": _TEXT_LIST,
    "sample_correct": lists.list_judge(words.judge_flag, pl.Boolean()),
    "sample_cluster": lists.list_judge(_POSITION, pl.Int32()),
    "correct_majority": words.judge_flag,
    "path_logprobs": _LOGPROB_LIST,
    "path_mean_prob": numbers.judge_probability,
    "answer_start": _POSITION,
    "answer_end": _POSITION,
    "answer_logprobs": _LOGPROB_LIST,
    "answer_mean_prob": numbers.judge_probability,
    "p_true": numbers.judge_probability,
    "p_false": numbers.judge_probability,
    "p_true_norm": words.judge_text,
    "verbal_confidence": numbers.judge_stated_probability,
    "confidence": numbers.judge_probability,
    "model": words.judge_text,
    "dataset": words.judge_text,
    "shots": numbers.judge_shots,
    "checkpoint": words.judge_text,
    "params_b": numbers.lenient_judge(numbers.judge_billions),
    "tuning": words.judge_text,
    "temperature": numbers.lenient_judge(numbers.judge_amount),
    "tokens_seen": numbers.lenient_judge(numbers.integer_judge(0, pl.Int64())),
})
"""Column → who judges it: the columns of a row (`ANSWER_SCHEMA`) and those of its run (`INFO_COLUMNS`)."""

SINGLE_TEXT_COLUMNS: Final = frozenset(name for name, judge in COLUMN_JUDGES.items() if judge is words.judge_text)
"""Columns in which a list or an object is wrong even though it could be shown as text."""

LIST_COLUMNS: Final = frozenset(name for name, dtype in ANSWER_SCHEMA.items() if isinstance(dtype, pl.List))
"""Columns that hold a list, so that several columns of the file can be put together into one of them."""

PROBABILITY_COLUMNS: Final = frozenset(
    name for name, judge in COLUMN_JUDGES.items() if judge in (numbers.judge_probability, numbers.judge_stated_probability)
)
"""Columns of one number from 0 to 1, which people may have written as percentages."""

NUMERIC_COLUMNS: Final = frozenset(
    name
    for name, judge in COLUMN_JUDGES.items()
    if judge in (numbers.judge_probability, numbers.judge_stated_probability, words.judge_flag, _POSITION, _LOGPROB_LIST, _COUNT_LIST)
    or name in ("choice_logprobs", "choice_probs", "sample_cluster")
)
"""Columns of which only the number counts, or whether it is true, however it is written."""
