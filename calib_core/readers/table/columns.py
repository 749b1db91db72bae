"""What does each column of the plain files hold, and who judges its values?

The names are fixed: people write files with them. A new column is one line here and one in
`records.ANSWER_SCHEMA`.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from types import MappingProxyType
from typing import Final, TypeAlias

import polars as pl

from calib_core.errors import Refused, shorten
from calib_core.readers.table.cells import (
    ColumnJudge,
    integer_judge,
    judge_amount,
    judge_billions,
    judge_display_text,
    judge_flag,
    judge_log_probability,
    judge_probability,
    judge_sample_text,
    judge_shots,
    judge_stated_probability,
    judge_text,
    lenient_judge,
)
from calib_core.readers.table.list_cells import distribution_judge, list_judge, some_finite_judge
from calib_core.runs import ANSWER_SCHEMA

_COUNT_LIST: Final = list_judge(integer_judge(1, pl.Int32()), pl.Int32())
_LOGPROB_LIST: Final = list_judge(judge_log_probability, pl.Float64())
_TEXT_LIST: Final = list_judge(judge_sample_text, pl.String())
_POSITION: Final = integer_judge(0, pl.Int32())

COLUMN_JUDGES: Final = MappingProxyType[str, ColumnJudge](
    {
        "id": judge_text,
        "trial_of": judge_text,
        "subject": judge_text,
        "question": judge_display_text,
        "status": judge_text,
        "answer_kind": judge_text,
        "choices": _TEXT_LIST,
        "gold": judge_text,
        "gold_index": _POSITION,
        "gold_all": _TEXT_LIST,
        "choice_logprobs": some_finite_judge(_LOGPROB_LIST),
        "choice_logprob_floor": judge_log_probability,
        "choice_other_mass": judge_probability,
        "choice_probs": distribution_judge(list_judge(judge_probability, pl.Float64())),
        "choice_token_counts": _COUNT_LIST,
        "choice_char_counts": _COUNT_LIST,
        "choice_byte_counts": _COUNT_LIST,
        "prediction": judge_text,
        "prediction_index": _POSITION,
        "prediction_text": judge_display_text,
        "correct": judge_flag,
        "samples": _TEXT_LIST,
        "samples_parsed": _TEXT_LIST,
        "sample_correct": list_judge(judge_flag, pl.Boolean()),
        "sample_cluster": list_judge(_POSITION, pl.Int32()),
        "correct_majority": judge_flag,
        "path_logprobs": _LOGPROB_LIST,
        "path_mean_prob": judge_probability,
        "answer_start": _POSITION,
        "answer_end": _POSITION,
        "answer_logprobs": _LOGPROB_LIST,
        "answer_mean_prob": judge_probability,
        "p_true": judge_probability,
        "p_false": judge_probability,
        "p_true_norm": judge_text,
        "verbal_confidence": judge_stated_probability,
        "confidence": judge_probability,
        "model": judge_text,
        "dataset": judge_text,
        "shots": judge_shots,
        "checkpoint": judge_text,
        "params_b": lenient_judge(judge_billions),
        "tuning": judge_text,
        "temperature": lenient_judge(judge_amount),
        "tokens_seen": lenient_judge(integer_judge(0, pl.Int64())),
    }
)
"""Column → who judges it: the columns of a row (`ANSWER_SCHEMA`) and those of its run (`INFO_COLUMNS`)."""

SINGLE_TEXT_COLUMNS: Final = frozenset(name for name, judge in COLUMN_JUDGES.items() if judge is judge_text)
"""Columns in which a list or an object is wrong even though it could be shown as text."""

LIST_COLUMNS: Final = frozenset(name for name, dtype in ANSWER_SCHEMA.items() if isinstance(dtype, pl.List))
"""Columns that hold a list, so that several columns of the file can be put together into one of them."""

PROBABILITY_COLUMNS: Final = frozenset(
    name for name, judge in COLUMN_JUDGES.items() if judge in (judge_probability, judge_stated_probability)
)
"""Columns of one number from 0 to 1, which people may have written as percentages."""

NUMERIC_COLUMNS: Final = frozenset(
    name
    for name, judge in COLUMN_JUDGES.items()
    if judge
    in (judge_probability, judge_stated_probability, judge_flag, _POSITION, _LOGPROB_LIST, _COUNT_LIST)
    or name in ("choice_logprobs", "choice_probs", "sample_cluster")
)
"""Columns of which only the number counts, or whether it is true, however it is written."""


# MERGED names: What do people call these columns elsewhere? A proposal, never applied unasked.

COLUMN_ALIASES: Final = MappingProxyType[str, tuple[str, ...]](
    {
        "id": (
            "id",
            "question_id",
            "qid",
            "doc_id",
            "sample_id",
            "example_id",
            "instance_id",
            "custom_id",
            "uid",
            "idx",
            "index",
            "key",
        ),
        "confidence": (
            "confidence",
            "conf",
            "prob",
            "probability",
            "p",
            "certainty",
            "score_conf",
            "confidence_score",
            "confidence_level",
            "confidences",
            "top_prob",
            "max_prob",
            "msp",
            "prediction_prob",
        ),
        "correct": (
            "correct",
            "is_correct",
            "acc",
            "accuracy",
            "score",
            "em",
            "exact_match",
            "hit",
            "passed",
            "grade",
            "judge",
            "y",
            "outcome",
            "correctness",
            "extracted_prom46_score",
        ),
        "gold": (
            "gold",
            "target",
            "label",
            "answer",
            "answer_key",
            "correct_answer",
            "correct_option",
            "ground_truth",
            "ground_truth_answer",
            "gt",
            "reference",
            "references",
            "gold_answer",
            "y_true",
            "expected",
            "solution",
        ),
        "prediction": (
            "prediction",
            "pred",
            "predicted",
            "model_answer",
            "parsed_answer",
            "extracted_answer",
            "final_answer",
            "response",
            "output",
            "completion",
            "generation",
            "answer_pred",
            "y_pred",
            "greedy",
        ),
        "verbal_confidence": (
            "verbal_confidence",
            "verbalized",
            "verbalized_confidence",
            "verbal_numerical_confidence",
            "stated_confidence",
            "self_reported",
            "conf_text",
            "extracted_prob",
        ),
        "p_true": ("p_true", "prob_true", "p(true)", "p_correct", "true_prob"),
        "p_false": ("p_false", "prob_false", "p(false)", "false_prob"),
        "choice_logprobs": (
            "choice_logprobs",
            "logprobs",
            "log_probs",
            "lls",
            "loglikelihoods",
            "choice_scores",
            "option_logprobs",
        ),
        "choice_probs": ("choice_probs", "probs", "probabilities", "softmax", "option_probs"),
        "samples": (
            "samples",
            "generations",
            "responses",
            "completions",
            "answers",
            "outputs",
            "sampled_answers",
            "predictions",
        ),
        "choices": ("choices", "options", "candidates", "endings"),
        "path_logprobs": ("path_logprobs", "token_logprobs", "completion_logprobs"),
        "path_mean_prob": (
            "path_mean_prob",
            "avg_prob",
            "mean_prob",
            "seq_prob",
            "logit_perplexity_confidence",
        ),
        "answer_logprobs": ("answer_logprobs", "answer_token_logprobs"),
        "answer_mean_prob": ("answer_mean_prob", "answer_prob", "extracted_seq_prob"),
        "question": ("question", "prompt", "input", "query", "problem", "text", "instruction", "ctx"),
        "model": ("model", "model_name", "model_id", "engine", "llm", "checkpoint_name"),
        "dataset": ("dataset", "task", "benchmark", "source", "data"),
        "subject": ("subject", "category", "topic", "domain", "subtask", "group", "subject_name"),
        "shots": ("shots", "n_shot", "num_fewshot", "k_shot", "fewshot", "n_shots"),
        "params_b": ("params_b", "params", "n_params", "size", "model_size", "num_parameters", "parameters"),
        "tuning": (
            "tuning",
            "tuned",
            "variant",
            "type",
            "instruct",
            "chat",
            "finetuned",
            "is_chat",
            "aligned",
        ),
        "temperature": ("temperature", "temp", "t"),
        "checkpoint": ("checkpoint", "step", "revision"),
        "tokens_seen": ("tokens_seen", "tokens", "training_tokens"),
    }
)
"""Contract name → names found in the wild, the likeliest first. What matters most comes first."""


SERIES_PREFIXES: Final = MappingProxyType[str, tuple[str, ...]](
    {
        "choice_probs": ("p", "prob", "choiceprob"),
        "choice_logprobs": ("logprob", "lp", "logit", "choicelogprob"),
        "samples": ("sample", "answer", "response", "generation"),
        "choices": ("option", "choice", ""),
    }
)
"""List → what stands, as `plain` spells it, before the letter or number of a column of one element."""

FitsName: TypeAlias = Callable[[Sequence[str], str], bool]
"""Whether the values of a column, or of all columns of one list, look like what the name stands for."""


def propose_names(columns: Sequence[str], used_names: Collection[str], fits: FitsName) -> dict[str, str]:
    """File column → the name it probably stands for, for each name the likeliest first.

    Columns that stand for one name are the elements of one list (`sample_0`, `sample_1`) or rivals
    among which a person has to choose. A column stands for one name only.

    columns: those of the file that nothing is read from; taken: names that are read already.
    """
    proposals: dict[str, str] = {}
    for name in COLUMN_ALIASES:
        if name not in used_names:
            for way in _candidate_columns(name, [column for column in columns if column not in proposals]):
                if fits(way, name):
                    proposals.update(dict.fromkeys(way, name))
    return proposals


def likeliest_columns(proposals: Mapping[str, str]) -> dict[str, str]:
    """The proposals without rivals: of each name the likeliest column, or all columns of one list."""
    return {column: name for name, ways in _candidates_by_name(proposals) for column in ways[0]}


def map_options(proposals: Mapping[str, str]) -> str:
    """The proposals as text for the command line: `--map conf=confidence --map "is ok=correct"`.

    Rivals of the likeliest column are named behind it.
    """
    chosen: list[str] = []
    rivals: list[str] = []
    for name, (first, *others) in _candidates_by_name(proposals):
        chosen += _map_options_of(first, name)
        rivals += [option for way in others for option in _map_options_of(way, name)]
    return " ".join(chosen) + (f" (or instead: {' '.join(rivals)})" if rivals else "")


def _candidates_by_name(proposals: Mapping[str, str]) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    """Each proposed name with the columns, or lists of them, that may stand for it, the likeliest first."""
    for name in dict.fromkeys(proposals.values()):
        columns = [column for column, meant in proposals.items() if meant == name]
        yield name, _candidate_columns(name, columns) or [(column,) for column in columns]


def _candidate_columns(name: str, columns: Sequence[str]) -> list[tuple[str, ...]]:
    """The columns, or series of columns, whose names may stand for `name`, the likeliest first."""
    spelt: dict[str, str] = {}
    for column in columns:
        spelt.setdefault(normalise_name(column), column)
    others = map(normalise_name, COLUMN_ALIASES.get(name, ()))
    ways: list[tuple[str, ...]] = [(spelt[other],) for other in others if other in spelt]
    for prefix in SERIES_PREFIXES.get(name, ()):
        start = 0 if f"{prefix}0" in spelt else 1
        for names in (string.ascii_lowercase, count(start)):
            keys = takewhile(spelt.__contains__, (f"{prefix}{key}" for key in names))
            way = tuple(spelt[key] for key in keys)
            if len(way) > 1 and list(way) == [column for column in columns if column in way]:
                ways.append(way)
    return ways


def _map_options_of(columns: Iterable[str], name: str) -> list[str]:
    return [f"--map {quote_if_spaced(f'{column}={name}')}" for column in columns]


def normalise_name(name: str) -> str:
    """A name without case, underscores, hyphens, spaces and full stops."""
    return name.lower().translate(str.maketrans("", "", "_- ."))


def quote_if_spaced(text: str) -> str:
    return f'"{text}"' if " " in text else text


# MERGED roles: Which column of the file is read as what: by its exact name, or because the person says so?


@dataclass(frozen=True, slots=True)
class ColumnRoles:
    """mapping: file column → contract name, as the person says; it wins over a column's own name.

    Several columns may be mapped to the name of a list: they are its elements, in the file's order. A
    column that is mapped to "" is left out. known: the names a column may be read as.
    """

    mapping: Mapping[str, str]
    known_names: tuple[str, ...] = tuple(COLUMN_JUDGES)

    @classmethod
    def from_mapping(
        cls, mapping: Mapping[str, str], file: str, known_names: tuple[str, ...] = tuple(COLUMN_JUDGES)
    ) -> ColumnRoles:
        """Raises Refused where a name is not known, or is given to two columns and is that of no list."""
        names = list(mapping.values())
        for column, name in mapping.items():
            if name and name not in known_names:
                raise Refused(
                    f"{file}: column {column!r} cannot be read as {name!r}, which is no name this program "
                    f"knows. It knows {', '.join(known_names)}."
                )
            if names.count(name) > 1 and name and name not in LIST_COLUMNS:
                raise Refused(f"{file}: two columns are to be read as {name!r}. Choose one of them.")
        return cls(mapping, known_names)

    def role(self, column: str) -> str | None:
        """What a column of the file is read as; None where it is not read."""
        if column in self.mapping:
            return self.mapping[column] or None
        return column if column in self.known_names and column not in self.mapping.values() else None

    def is_used(self, column: str) -> bool:
        """Whether a column of the file is read."""
        return self.role(column) is not None

    def combined_lists(self, column_order: Sequence[str]) -> dict[str, list[str]]:
        """The lists that are put together: name → its columns, in the order of the file's columns."""
        members: dict[str, list[str]] = {}
        for column in dict.fromkeys((*column_order, *self.mapping)):
            if self.mapping.get(column) in LIST_COLUMNS:
                members.setdefault(self.mapping[column], []).append(column)
        return {name: columns for name, columns in members.items() if len(columns) > 1}

    def used_roles(self, columns: Sequence[str]) -> dict[str, str]:
        """Column → the name it is read as, of those that are read."""
        return {column: role for column in columns if (role := self.role(column)) is not None}

    def unused_columns(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The columns of the file that nothing is read from."""
        return tuple(column for column in columns if not self.is_used(column))

    def propose(self, columns: Sequence[str], fits: FitsName) -> dict[str, str]:
        """What the columns that are not read, and not left out on purpose, probably stand for."""
        read_as = {role for column in columns if (role := self.role(column))}
        read_as |= COLUMN_ALIASES.keys() - set(self.known_names)
        free = [column for column in self.unused_columns(columns) if column not in self.mapping]
        return propose_names(free, read_as, fits)

    def check_columns_exist(self, columns: Sequence[str], file: str) -> None:
        """Raises Refused where a mapped column is not there."""
        absent = [column for column in self.mapping if column not in columns]
        if absent:
            raise Refused(f"{file} has no column {absent[0]!r}. Its columns are {column_list_text(columns)}.")


def no_known_column_message(columns: Sequence[str], proposals: Mapping[str, str], file: str) -> str:
    """Why a file of which no column is read cannot be used, and what to do."""
    looks = f"If they mean what they look like, say so: {map_options(proposals)}"
    return (
        f"{file} was taken for a table with the columns {column_list_text(columns)}, and none of these is a name "
        f"this program knows. A row a question needs a confidence and whether the answer was right "
        f"(confidence, correct), or probabilities of the choices and the right one (choice_probs, gold), or "
        f"sampled answers and the right one (samples, gold). "
        + (looks if proposals else "Say what a column means: --map COLUMN=confidence")
    )


def column_list_text(columns: Sequence[str]) -> str:
    """Column names for a message, cut where there are many."""
    shown = ", ".join(repr(shorten(column, 40)) for column in columns[:20])
    return (shown or "(none)") + (f" and {len(columns) - 20:,} more" if len(columns) > 20 else "")
