"""Which numbers did lm-evaluation-harness work out itself, and which of ours should they equal?"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

from calib_core.errors import CalibError
from calib_core.readers.file_access import read_first_bytes
from calib_core.readers.json_values import as_list, as_object
from calib_core.readers.lm_eval.documents import Document
from calib_core.readers.table.json_reader import RepeatedKeyError, parse_json
from calib_core.runs import ReportedMetric, RunInfo

# MERGED lm_eval_results: What does the results file beside a samples log say?  Of which model, task and shots the rows are.

MAX_RESULTS_BYTES: Final = 64 * 2**20
"""A results file of more bytes is not read: the real ones are of some ten thousand."""

SAMPLES_NAME: Final = re.compile(
    r"(?:.*/)?samples_(?P<task>.+)_(?P<stamp>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl", re.DOTALL
)
_HUB_CACHE_PATH: Final = re.compile(r"(?:^|[/\\])models--([^/\\]+?)--([^/\\]+)(?:[/\\]|$)")

JsonObject = Mapping[str, object]


@dataclass(frozen=True, slots=True, eq=False)
class TaskResults:
    """What is known of a samples log beside its rows. told: the results file's own object, {} without one.

    task, stamp: from the log's name, "" where it has another; family: the benchmark that the task is a
    subject of, None where it is one by itself; subject: what it is called there.
    """

    results_file: JsonObject = field(default_factory=dict[str, object])
    task: str = ""
    timestamp: str = ""
    benchmark: str | None = None
    subject: str | None = None

    @property
    def config(self) -> JsonObject:
        """The task's own settings, {} where they are not known."""
        return object_at(object_at(self.results_file, "configs"), self.task)

    @property
    def scores(self) -> JsonObject:
        """The task's "metric,filter" → value, as the tool added them up."""
        return object_at(object_at(self.results_file, "results"), self.task)

    @property
    def delimiter(self) -> str | None:
        """What stands between context and choice, None where it is not known."""
        told = self.config.get("target_delimiter")
        return told if isinstance(told, str) else None

    def n_documents(self, kind: str) -> int | None:
        """How many documents the task has ("original") or was asked ("effective"); None where not known."""
        return _non_negative_integer(
            object_at(object_at(self.results_file, "n-samples"), self.task).get(kind)
        )

    def is_lower_better(self, metric: str) -> bool:
        """Whether less of a metric is better, as far as the results file says."""
        return object_at(object_at(self.results_file, "higher_is_better"), self.task).get(metric) is False

    @property
    def evaluation_id(self) -> str | None:
        """What the files of one evaluation have in common, None where the task stands by itself."""
        if self.benchmark is None:
            return None
        date = self.results_file.get("date")
        when = f"{date}" if isinstance(date, int | float) else self.timestamp
        return f"lm-evaluation-harness {self.benchmark} {when} {self.config.get('dataset_path')}"


def find_results(file: str, companions: Mapping[str, Path], docs: Mapping[str, object]) -> TaskResults:
    """What is known of the log called `file`. docs: a document's own fields, which may name its subject."""
    named = SAMPLES_NAME.fullmatch(file)
    task, stamp = (named["task"], named["stamp"]) if named else ("", "")
    path = companions.get(f"results_{stamp}.json")
    held = as_object(None) if path is None else _read_results(path)
    if task not in object_at(held, "results") and task not in object_at(held, "configs"):
        held = as_object(None)
    family, subject = _benchmark_and_subject(held, task, docs)
    return TaskResults(held, task, stamp, family, subject)


def run_info_from_results(results: TaskResults, sampling: JsonObject) -> RunInfo:
    """The run as the results file tells of it; sampling: the settings of the generated answers."""
    config, held = object_at(results.results_file, "config"), results.results_file
    parameters = config.get("model_num_parameters")
    known = _non_negative_integer(parameters) or 0
    shots = object_at(held, "n-shot").get(results.task, results.config.get("num_fewshot"))
    return RunInfo(
        model=_model_name(
            held.get("model_name")
            or _model_argument(config, "pretrained")
            or _model_argument(config, "model")
        ),
        dataset=results.benchmark or results.task or None,
        shots=_non_negative_integer(shots),
        checkpoint=_revision(config),
        params_b=known / 1e9 if known > 0 else None,
        tuning="chat" if held.get("chat_template") else None,
        temperature=_sampling_temperature(sampling),
    )


def results_notes(results: TaskResults, n_documents: int) -> Iterator[str]:
    """What a reader of the numbers has to know of how the rows came about."""
    original, effective = results.n_documents("original"), results.n_documents("effective")
    if original is not None and effective is not None and effective < original:
        yield f"{effective:,} of {original:,} documents were asked (--limit or --samples)."
    if effective is not None and n_documents != effective:
        yield f"The results file speaks of {effective:,} documents, this file holds {n_documents:,}."
    if results.results_file.get("chat_template"):
        yield "Tuning is taken to be chat, as a chat template was applied: a guess."


def object_at(parent: JsonObject, key: str) -> JsonObject:
    """The object under a key, {} where there is none."""
    return as_object(parent.get(key))


def is_sampled(settings: JsonObject) -> bool | None:
    """Whether generated answers were drawn at random; None where the log does not say."""
    drawn, temperature = settings.get("do_sample"), settings.get("temperature")
    if isinstance(drawn, bool):
        return drawn
    if isinstance(temperature, int | float):
        return temperature > 0
    return False if settings else None


def is_majority_vote(results: TaskResults, name: str) -> bool:
    """Whether a filter lets the sampled answers vote: by what it does, else by its name."""
    listed = as_list(results.config.get("filter_list"))
    for step in map(as_object, listed):
        if step.get("name") == name:
            functions = [as_object(each).get("function") for each in as_list(step.get("filter"))]
            return "majority_vote" in functions
    return name.startswith("maj@")


def _read_results(path: Path) -> JsonObject:
    """The object in a results file, {} where it cannot be read: the rows are usable without."""
    try:
        data = read_first_bytes(path, path.name, MAX_RESULTS_BYTES + 1)
        value = parse_json(data.decode("utf-8-sig")) if len(data) <= MAX_RESULTS_BYTES else None
    except (CalibError, ValueError, RecursionError, RepeatedKeyError):
        return {}
    return as_object(value)


def _benchmark_and_subject(
    results_file: JsonObject, task: str, document: JsonObject
) -> tuple[str | None, str | None]:
    """The benchmark that a task is a subject of and its name there: mmlu_anatomy → mmlu, anatomy.

    By the groups of the results file whose name the task's begins with, the largest first, if all tasks
    below are of one data set; else by the task's alias, or the subject that its documents name.
    """
    configs, children = object_at(results_file, "configs"), object_at(results_file, "group_subtasks")
    own = str(object_at(configs, task).get("dataset_path"))
    for group in sorted((group for group in children if task.startswith(f"{group}_")), key=len):
        leaves = _leaf_tasks(children, group)
        if task in leaves and {str(object_at(configs, leaf).get("dataset_path")) for leaf in leaves} == {own}:
            return group, task.removeprefix(f"{group}_")
    config, scores = object_at(configs, task), object_at(object_at(results_file, "results"), task)
    for name in (config.get("task_alias"), scores.get("alias"), document.get("subject")):
        if isinstance(name, str) and name and task.endswith(f"_{name}"):
            return task.removesuffix(f"_{name}"), name
    return None, None


def _leaf_tasks(children: JsonObject, group: str, visited: frozenset[str] = frozenset()) -> set[str]:
    """The tasks of a group and of the groups in it."""
    found: set[str] = set()
    for child in as_list(children.get(group)):
        if isinstance(child, str) and child not in visited:
            below = (
                _leaf_tasks(children, child, visited | {group}) if as_list(children.get(child)) else {child}
            )
            found |= below
    return found


def _model_name(name: object) -> str | None:
    """The model's name; of a path on somebody's machine what names the model in it."""
    if not isinstance(name, str) or not name.strip():
        return None
    cached = _HUB_CACHE_PATH.search(name)
    if cached:
        return f"{cached[1]}/{cached[2]}"
    if name.startswith(("/", "./", "../", "~")) or "\\" in name or name[1:3] in (":/", ":\\"):
        return re.split(r"[/\\]", name.rstrip("/\\"))[-1] or None
    return name


def _revision(config: JsonObject) -> str | None:
    """The checkpoint: a revision that somebody asked for, not the main one."""
    for value in (_model_argument(config, "revision"), config.get("model_revision")):
        if isinstance(value, str) and value.strip() and value != "main":
            return value
    return None


def _model_argument(config: JsonObject, name: str) -> object:
    """One of the model's arguments: an object, or "k=v,k=v" in older versions."""
    arguments = config.get("model_args")
    if isinstance(arguments, str):
        found = re.search(rf"(?:^|,)\s*{name}=([^,]+)", arguments)
        return found[1].strip() if found else None
    return object_at(config, "model_args").get(name)


def _sampling_temperature(settings: JsonObject) -> float | None:
    """Of the generated answers: 0 where the most likely token was always taken."""
    if is_sampled(settings) is False:
        return 0.0
    value = settings.get("temperature")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None


def _non_negative_integer(value: object) -> int | None:
    """A whole number from 0 on."""
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    return cast("int", value) if known else None


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
_WHY_FIRST_SAMPLE: Final = (
    "It is of the first sample alone; with several samples the majority answer is judged here."
)
_WHY_SAMPLED: Final = (
    "Its answers are drawn at random: a sample is no greedy answer, and is not judged as one."
)
_WHY_OTHER_FILTER: Final = "Another filter's outcome; it can be chosen as the column correct."
_WHY_OTHER_METRIC: Final = "Another metric; one of 0 and 1 can be chosen as the column correct."
_WHY_PROBABILITY_SHARE: Final = "It is the right choices' share of the probability, not an accuracy."
_WHY_SEVERAL_GOLD: Final = (
    "Several choices are right in some rows, of which no method has a top label that is judged."
)


def reported_task_metrics(
    docs: Sequence[Document],
    results: TaskResults,
    filters: Sequence[str],
    outcome_score: str | None,
    *,
    uses_top_share: bool,
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
        found.append(
            ReportedMetric(_score_title(key, filters), value, (size or counts[key]) or None, method, why)
        )
    return tuple(found)


def _score_title(key: str, filters: Sequence[str]) -> str:
    """ "acc" of a file with one filter, "exact_match,maj@8" of one with several."""
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
    key: str,
    docs: Sequence[Document],
    results: TaskResults,
    outcome_score: str | None,
    *,
    uses_top_share: bool,
) -> tuple[str | None, str]:
    """The method whose accuracy a number should be, None where there is none, and why they may differ."""
    metric, _, name = key.partition(",")
    first = next((doc for doc in docs if doc.kind != "nothing"), None)
    if first is None or metric in _WHY_NO_METHOD:
        return None, _WHY_NO_METHOD.get(metric, "")
    if first.kind == "choice":
        return _method_of_choices(metric, docs, uses_top_share=uses_top_share)
    if len(first.samples) > 1 and is_sampled(first.generation_settings) is not False:
        return (
            ("cluster_size", _WHY_VOTES_DIFFER)
            if is_majority_vote(results, name)
            else (None, _WHY_FIRST_SAMPLE)
        )
    if key == outcome_score:
        return "", ""
    if is_sampled(first.generation_settings):
        return None, _WHY_SAMPLED
    return None, _WHY_OTHER_FILTER if outcome_score is not None and metric == outcome_score.partition(",")[
        0
    ] else _WHY_OTHER_METRIC


def _method_of_choices(
    metric: str, docs: Sequence[Document], *, uses_top_share: bool
) -> tuple[str | None, str]:
    if metric == "acc" and any(doc.score("acc") not in (None, 0.0, 1.0) for doc in docs):
        return None, _WHY_PROBABILITY_SHARE
    if uses_top_share:
        return ("", "") if metric == "acc" else (None, _WHY_SEVERAL_GOLD)
    return _CHOICE_METHODS.get(metric), ""
