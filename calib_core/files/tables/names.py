"""What do people call these columns elsewhere? A proposal, never applied unasked."""

from __future__ import annotations

import string
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count, takewhile
from types import MappingProxyType
from typing import Final, TypeAlias

COLUMN_ALIASES: Final = MappingProxyType[str, tuple[str, ...]]({
    "id": (
        "id", "question_id", "qid", "doc_id", "sample_id", "example_id", "instance_id", "custom_id", "uid",
        "idx", "index", "key",
    ),
    "confidence": (
        "confidence", "conf", "prob", "probability", "p", "certainty", "score_conf", "confidence_score",
        "confidence_level", "confidences", "top_prob", "max_prob", "msp", "prediction_prob",
    ),
    "correct": (
        "correct", "is_correct", "acc", "accuracy", "score", "em", "exact_match", "hit", "passed", "grade",
        "judge", "y", "outcome", "correctness", "extracted_prom46_score",
    ),
    "gold": (
        "gold", "target", "label", "answer", "answer_key", "correct_answer", "correct_option",
        "ground_truth", "ground_truth_answer", "gt", "reference", "references", "gold_answer", "y_true",
        "expected", "solution",
    ),
    "prediction": (
        "prediction", "pred", "predicted", "model_answer", "parsed_answer", "extracted_answer",
        "final_answer", "response", "output", "completion", "generation", "answer_pred", "y_pred", "greedy",
    ),
    "verbal_confidence": (
        "verbal_confidence", "verbalized", "verbalized_confidence", "verbal_numerical_confidence",
        "stated_confidence", "self_reported", "conf_text", "extracted_prob",
    ),
    "p_true": ("p_true", "prob_true", "p(true)", "p_correct", "true_prob"),
    "p_false": ("p_false", "prob_false", "p(false)", "false_prob"),
    "choice_logprobs": (
        "choice_logprobs", "logprobs", "log_probs", "lls", "loglikelihoods", "choice_scores",
        "option_logprobs",
    ),
    "choice_probs": ("choice_probs", "probs", "probabilities", "softmax", "option_probs"),
    "samples": (
        "samples", "generations", "responses", "completions", "answers", "outputs", "sampled_answers",
        "predictions",
    ),
    "choices": ("choices", "options", "candidates", "endings"),
    "path_logprobs": ("path_logprobs", "token_logprobs", "completion_logprobs"),
    "path_mean_prob": ("path_mean_prob", "avg_prob", "mean_prob", "seq_prob", "logit_perplexity_confidence"),
    "answer_logprobs": ("answer_logprobs", "answer_token_logprobs"),
    "answer_mean_prob": ("answer_mean_prob", "answer_prob", "extracted_seq_prob"),
    "question": ("question", "prompt", "input", "query", "problem", "text", "instruction", "ctx"),
    "model": ("model", "model_name", "model_id", "engine", "llm", "checkpoint_name"),
    "dataset": ("dataset", "task", "benchmark", "source", "data"),
    "subject": ("subject", "category", "topic", "domain", "subtask", "group", "subject_name"),
    "shots": ("shots", "n_shot", "num_fewshot", "k_shot", "fewshot", "n_shots"),
    "params_b": ("params_b", "params", "n_params", "size", "model_size", "num_parameters", "parameters"),
    "tuning": (
        "tuning", "tuned", "variant", "type", "instruct", "chat", "finetuned", "is_chat", "aligned",
    ),
    "temperature": ("temperature", "temp", "t"),
    "checkpoint": ("checkpoint", "step", "revision"),
    "tokens_seen": ("tokens_seen", "tokens", "training_tokens"),
})
"""Contract name → names found in the wild, the likeliest first. What matters most comes first."""


SERIES_PREFIXES: Final = MappingProxyType[str, tuple[str, ...]]({
    "choice_probs": ("p", "prob", "choiceprob"),
    "choice_logprobs": ("logprob", "lp", "logit", "choicelogprob"),
    "samples": ("sample", "answer", "response", "generation"),
    "choices": ("option", "choice", ""),
})
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
    return [f"--map {_quote_if_spaced(f'{column}={name}')}" for column in columns]


def normalise_name(name: str) -> str:
    """A name without case, underscores, hyphens, spaces and full stops."""
    return name.lower().translate(str.maketrans("", "", "_- ."))


def _quote_if_spaced(text: str) -> str:
    return f'"{text}"' if " " in text else text
