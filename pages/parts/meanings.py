"""What does each name that a column can be read as stand for, in a few words?  For the mapping on Files."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

MEANINGS: Final = MappingProxyType[str, str]({
    "confidence": "how sure the model is, 0 to 1",
    "correct": "whether the answer is right",
    "gold": "the right answer: text, letter or index from 0",
    "gold_index": "the right choice, counted from 0",
    "gold_all": "list: every right answer",
    "prediction": "the model's answer",
    "prediction_index": "the choice it takes, counted from 0",
    "prediction_text": "the whole output it answers with",
    "verbal_confidence": "the confidence it states",
    "p_true": "probability of “true” for its own answer",
    "p_false": "probability of “false”",
    "p_true_norm": "how p_true was made from both",
    "choices": "list: the choices' texts",
    "choice_logprobs": "list: a log-probability a choice",
    "choice_probs": "list: a probability a choice",
    "choice_logprob_floor": "what an unlisted choice has at most",
    "choice_other_mass": "probability of anything but the choices",
    "choice_token_counts": "list: tokens of each choice",
    "choice_char_counts": "list: characters of each choice",
    "choice_byte_counts": "list: bytes of each choice",
    "samples": "list: sampled answers, or whole outputs",
    "samples_parsed": "list: sampled answers, found already",
    "sample_correct": "list: whether each sample is right",
    "sample_cluster": "list: which samples are equal",
    "correct_majority": "whether the majority's answer is right",
    "path_logprobs": "list: a log-probability a token of the output",
    "path_mean_prob": "mean probability of its tokens",
    "answer_start": "first token of the answer in the output",
    "answer_end": "first token after the answer",
    "answer_logprobs": "list: a log-probability a token of the answer",
    "answer_mean_prob": "mean probability of the answer's tokens",
    "id": "which question it is",
    "question": "the question's text",
    "subject": "its subject",
    "status": "whether the request failed",
    "answer_kind": "number, text or choice",
    "model": "which model answered",
    "dataset": "which data set",
    "shots": "examples in the prompt",
    "checkpoint": "step of the training",
    "params_b": "size in billions of parameters",
    "tuning": "base, instruct …",
    "temperature": "of the sampling",
    "tokens_seen": "tokens trained on so far",
})
"""Contract name → its meaning; what is asked for most comes first."""
