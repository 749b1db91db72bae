"""What do people call these columns elsewhere? A proposal, never applied unasked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Final

OTHER_NAMES: Final = MappingProxyType[str, tuple[str, ...]]({
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
        "judge", "y", "outcome", "correctness",
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
    "path_mean_prob": ("path_mean_prob", "avg_prob", "mean_prob", "seq_prob"),
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


def propose(columns: Iterable[str], taken: Collection[str]) -> dict[str, str]:
    """File column → the name it probably stands for: one column a name, one name a column.

    columns: those of the file that nothing is read from; taken: names that are read already.
    """
    by_spelling: dict[str, str] = {}
    for column in columns:
        by_spelling.setdefault(_plain(column), column)
    proposals: dict[str, str] = {}
    for name, others in OTHER_NAMES.items():
        if name in taken:
            continue
        spelt = (by_spelling.get(_plain(other)) for other in others)
        column = next((column for column in spelt if column and column not in proposals), None)
        if column is not None:
            proposals[column] = name
    return proposals


def as_options(proposals: Mapping[str, str]) -> str:
    """The proposals as text for the command line: `--map conf=confidence --map "is ok"=correct`."""
    return " ".join(f"--map {_quoted(f'{column}={name}')}" for column, name in proposals.items())


def _plain(name: str) -> str:
    """A name without case, underscores, hyphens, spaces and full stops."""
    return name.lower().translate(str.maketrans("", "", "_- ."))


def _quoted(text: str) -> str:
    return f'"{text}"' if " " in text else text
