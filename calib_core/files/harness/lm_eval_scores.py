"""Which numbers did lm-evaluation-harness work out itself, and which of ours should they equal?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from calib_core.files.harness.lm_eval_docs import Doc
from calib_core.files.harness.lm_eval_results import Results, has_majority, is_sampled
from calib_core.records import Reported

_OF_CHOICES: Final = {"acc": "choice_softmax", "acc_norm": "choice_length_normalised"}
_NO_TWIN: Final = {
    "acc_bytes": "It divides by bytes; here a choice's length is counted in characters.",
    "acc_mutual_info": "It subtracts the log-probability without the question, which no method here does.",
    "brier_score": "It is the Brier score of all choices, not an accuracy.",
}
_VOTE: Final = (
    "The tool lets an answer that cannot be read win the vote and compares texts as its filter cut them out; "
    "here such a sample is nobody's vote, and answers are compared in their normal form."
)
_FIRST: Final = "It is of the first sample alone; with several samples the majority answer is judged here."
_RANDOM: Final = "Its answers are drawn at random: a sample is no greedy answer, and is not judged as one."
_OTHER: Final = "Another filter's outcome; it can be chosen as the column correct."
_UNREAD: Final = "Another metric; one of 0 and 1 can be chosen as the column correct."
_PARTS: Final = "It is the right choices' share of the probability, not an accuracy."
_SEVERAL: Final = "Several choices are right in some rows, of which no method has a top label that is judged."


def reported_of(
    docs: Sequence[Doc], results: Results, filters: Sequence[str], judged: str | None, *, given: bool
) -> tuple[Reported, ...]:
    """What the tool says of the task: from the results file, else the mean over the records.

    filters: in the file's order; judged: the "metric,filter" that is read as the greedy answer's outcome;
    given: whether the top label's share stands as a given confidence, as the right choice is not known alone.
    """
    rows = results.scores.get("sample_len", results.size("effective"))
    told = dict(_told(results)) or dict(_means(docs))
    counts = {key: sum(key in doc.scores for doc in docs) for key in told}
    size = rows if isinstance(rows, int) and not isinstance(rows, bool) else None
    found: list[Reported] = []
    for key, value in told.items():
        method, why = _twin(key, docs, results, judged, given=given)
        found.append(Reported(_title(key, filters), value, (size or counts[key]) or None, method, why))
    return tuple(found)


def _title(key: str, filters: Sequence[str]) -> str:
    """"acc" of a file with one filter, "exact_match,maj@8" of one with several."""
    return key if len(filters) > 1 else key.partition(",")[0]


def _told(results: Results) -> Iterator[tuple[str, float]]:
    for key, value in results.scores.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            continue
        if "," in key and "_stderr," not in key:
            yield key, float(value)


def _means(docs: Sequence[Doc]) -> Iterator[tuple[str, float]]:
    for key in dict.fromkeys(key for doc in docs for key in doc.scores):
        values = [doc.scores[key] for doc in docs if key in doc.scores]
        yield key, sum(values) / len(values)


def _twin(
    key: str, docs: Sequence[Doc], results: Results, judged: str | None, *, given: bool
) -> tuple[str | None, str]:
    """The method whose accuracy a number should be, None where there is none, and why they may differ."""
    metric, _, name = key.partition(",")
    first = next((doc for doc in docs if doc.kind != "nothing"), None)
    if first is None or metric in _NO_TWIN:
        return None, _NO_TWIN.get(metric, "")
    if first.kind == "choice":
        return _of_choices(metric, docs, given=given)
    if len(first.samples) > 1 and is_sampled(first.settings) is not False:
        return ("cluster_size", _VOTE) if has_majority(results, name) else (None, _FIRST)
    if key == judged:
        return "", ""
    if is_sampled(first.settings):
        return None, _RANDOM
    return None, _OTHER if judged is not None and metric == judged.partition(",")[0] else _UNREAD


def _of_choices(metric: str, docs: Sequence[Doc], *, given: bool) -> tuple[str | None, str]:
    if metric == "acc" and any(doc.score("acc") not in (None, 0.0, 1.0) for doc in docs):
        return None, _PARTS
    if given:
        return ("", "") if metric == "acc" else (None, _SEVERAL)
    return _OF_CHOICES.get(metric), ""
