"""Which numbers did lm-evaluation-harness work out itself, and which of ours should they equal?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from calib_core.files.harness.lm_eval_docs import Document
from calib_core.files.harness.lm_eval_results import TaskResults, is_majority_vote, is_sampled
from calib_core.records import ReportedMetric

_CHOICE_METHODS: Final = {"acc": "choice_softmax", "acc_norm": "choice_length_normalised"}
_WHY_NO_METHOD: Final = {
    "acc_bytes": "It divides by bytes; here a choice's length is counted in characters.",
    "acc_mutual_info": "It subtracts the log-probability without the question, which no method here does.",
    "brier_score": "It is the Brier score of all choices, not an accuracy.",
}
_WHY_VOTES_DIFFER: Final = (
    "The tool lets an answer that cannot be read win the vote and compares texts as its filter cut them out; "
    "here such a sample is nobody's vote, and answers are compared in their normal form."
)
_WHY_FIRST_SAMPLE: Final = "It is of the first sample alone; with several samples the majority answer is judged here."
_WHY_SAMPLED: Final = "Its answers are drawn at random: a sample is no greedy answer, and is not judged as one."
_WHY_OTHER_FILTER: Final = "Another filter's outcome; it can be chosen as the column correct."
_WHY_OTHER_METRIC: Final = "Another metric; one of 0 and 1 can be chosen as the column correct."
_WHY_PROBABILITY_SHARE: Final = "It is the right choices' share of the probability, not an accuracy."
_WHY_SEVERAL_GOLD: Final = "Several choices are right in some rows, of which no method has a top label that is judged."


def reported_task_metrics(
    docs: Sequence[Document], results: TaskResults, filters: Sequence[str], outcome_score: str | None, *, uses_top_share: bool
) -> tuple[ReportedMetric, ...]:
    """What the tool says of the task: from the results file, else the mean over the records.

    filters: in the file's order; judged: the "metric,filter" that is read as the greedy answer's outcome;
    given: whether the top label's share stands as a given confidence, as the right choice is not known alone.
    """
    rows = results.scores.get("sample_len", results.n_documents("effective"))
    told = dict(_scores_of_results(results)) or dict(_mean_scores(docs))
    counts = {key: sum(key in doc.scores for doc in docs) for key in told}
    size = rows if isinstance(rows, int) and not isinstance(rows, bool) else None
    found: list[ReportedMetric] = []
    for key, value in told.items():
        method, why = _matching_method(key, docs, results, outcome_score, uses_top_share=uses_top_share)
        found.append(ReportedMetric(_score_title(key, filters), value, (size or counts[key]) or None, method, why))
    return tuple(found)


def _score_title(key: str, filters: Sequence[str]) -> str:
    """"acc" of a file with one filter, "exact_match,maj@8" of one with several."""
    return key if len(filters) > 1 else key.partition(",")[0]


def _scores_of_results(results: TaskResults) -> Iterator[tuple[str, float]]:
    for key, value in results.scores.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            continue
        if "," in key and "_stderr," not in key:
            yield key, float(value)


def _mean_scores(docs: Sequence[Document]) -> Iterator[tuple[str, float]]:
    for key in dict.fromkeys(key for doc in docs for key in doc.scores):
        values = [doc.scores[key] for doc in docs if key in doc.scores]
        yield key, sum(values) / len(values)


def _matching_method(
    key: str, docs: Sequence[Document], results: TaskResults, outcome_score: str | None, *, uses_top_share: bool
) -> tuple[str | None, str]:
    """The method whose accuracy a number should be, None where there is none, and why they may differ."""
    metric, _, name = key.partition(",")
    first = next((doc for doc in docs if doc.kind != "nothing"), None)
    if first is None or metric in _WHY_NO_METHOD:
        return None, _WHY_NO_METHOD.get(metric, "")
    if first.kind == "choice":
        return _method_of_choices(metric, docs, uses_top_share=uses_top_share)
    if len(first.samples) > 1 and is_sampled(first.generation_settings) is not False:
        return ("cluster_size", _WHY_VOTES_DIFFER) if is_majority_vote(results, name) else (None, _WHY_FIRST_SAMPLE)
    if key == outcome_score:
        return "", ""
    if is_sampled(first.generation_settings):
        return None, _WHY_SAMPLED
    return None, _WHY_OTHER_FILTER if outcome_score is not None and metric == outcome_score.partition(",")[0] else _WHY_OTHER_METRIC


def _method_of_choices(metric: str, docs: Sequence[Document], *, uses_top_share: bool) -> tuple[str | None, str]:
    if metric == "acc" and any(doc.score("acc") not in (None, 0.0, 1.0) for doc in docs):
        return None, _WHY_PROBABILITY_SHARE
    if uses_top_share:
        return ("", "") if metric == "acc" else (None, _WHY_SEVERAL_GOLD)
    return _CHOICE_METHODS.get(metric), ""
