"""The results file beside a samples log: model, task and shots of the rows, and the tool's own metrics."""

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

_JsonObject = Mapping[str, object]

MAX_RESULTS_BYTES: Final = 64 * 2**20
"""Larger results files are not read; real ones have some ten thousand bytes."""

SAMPLES_NAME: Final = re.compile(
    r"(?:.*/)?samples_(?P<task>.+)_(?P<stamp>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl(?:\.\w+)?",
    re.DOTALL,
)
_HUB_CACHE_PATH: Final = re.compile(r"(?:^|[/\\])models--([^/\\]+?)--([^/\\]+)(?:[/\\]|$)")

_CHOICE_METHODS: Final = {"acc": "choice_softmax", "acc_norm": "choice_length_normalised"}
_WHY_NO_METHOD: Final = {
    "acc_bytes": "It divides by bytes; here a choice's length is counted in characters.",
    "acc_mutual_info": "It subtracts the log-probability without the question, which no method here does.",
    "brier_score": "It is the Brier score of all choices, not an accuracy.",
}
_WHY_VOTES_DIFFER: Final = (
    "The tool lets unreadable answers win the vote and compares texts as its filter extracted them; here "
    "an unreadable sample has no vote, and answers are compared in their normal form."
)
_WHY_FIRST_SAMPLE: Final = (
    "It uses the first sample only; with several samples the majority answer is judged here."
)
_WHY_SAMPLED: Final = (
    "Its answers are drawn at random: a sample is not a greedy answer, and is not judged as one."
)
_WHY_OTHER_FILTER: Final = "Another filter's outcome; it can be chosen as the column correct."
_WHY_OTHER_METRIC: Final = "Another metric; one of 0 and 1 can be chosen as the column correct."
_WHY_PROBABILITY_SHARE: Final = "It is the right choices' share of the probability, not an accuracy."
_WHY_SEVERAL_GOLD: Final = "In some rows several choices are right, so no method judges a top label there."


@dataclass(frozen=True, slots=True, eq=False)
class TaskResults:
    """What is known of a samples log from its name and its results file.

    Attributes
    ----------
    results_file : _JsonObject
        The object in the results file; {} without one.
    task, timestamp : str
        From the log's name; "" where the name has another form.
    benchmark : str or None
        The benchmark that the task is a subject of; None where the task is a benchmark of its own.
    subject : str or None
        The task's name within the benchmark.
    """

    results_file: _JsonObject = field(default_factory=dict[str, object])
    task: str = ""
    timestamp: str = ""
    benchmark: str | None = None
    subject: str | None = None

    @property
    def config(self) -> _JsonObject:
        """The task's settings; {} where they are not known."""
        return object_at(object_at(self.results_file, "configs"), self.task)

    @property
    def scores(self) -> _JsonObject:
        """ "metric,filter" → value, as the tool aggregated the task."""
        return object_at(object_at(self.results_file, "results"), self.task)

    @property
    def delimiter(self) -> str | None:
        """The text between context and choice; None where it is not known."""
        delimiter = self.config.get("target_delimiter")
        return delimiter if isinstance(delimiter, str) else None

    def n_documents(self, kind: str) -> int | None:
        """Number of documents the task has ("original") or that were run ("effective"); None if unknown."""
        return _non_negative_integer(
            object_at(object_at(self.results_file, "n-samples"), self.task).get(kind)
        )

    def is_lower_better(self, metric: str) -> bool:
        """Whether lower values of a metric are better, as far as the results file says."""
        return object_at(object_at(self.results_file, "higher_is_better"), self.task).get(metric) is False

    @property
    def evaluation_id(self) -> str | None:
        """An id that the files of one evaluation share; None for a task that is not part of a benchmark."""
        if self.benchmark is None:
            return None
        date = self.results_file.get("date")
        when = f"{date}" if isinstance(date, int | float) else self.timestamp
        return f"lm-evaluation-harness {self.benchmark} {when} {self.config.get('dataset_path')}"


def find_results(file: str, companions: Mapping[str, Path], docs: Mapping[str, object]) -> TaskResults:
    """Everything that the log's name and its results file say of the task.

    Parameters
    ----------
    file : str
        Name of the samples log.
    companions : Mapping[str, Path]
        File name → path of the files in the log's folder.
    docs : Mapping[str, object]
        Fields of the log's first document, which may name its subject.
    """
    name_match = SAMPLES_NAME.fullmatch(file)
    task, stamp = (name_match["task"], name_match["stamp"]) if name_match else ("", "")
    path = companions.get(f"results_{stamp}.json")
    content = as_object(None) if path is None else _read_results(path)
    if task not in object_at(content, "results") and task not in object_at(content, "configs"):
        content = as_object(None)
    benchmark, subject = _benchmark_and_subject(content, task, docs)
    return TaskResults(content, task, stamp, benchmark, subject)


def run_info_from_results(results: TaskResults, sampling: _JsonObject) -> RunInfo:
    """The run as the results file describes it.

    Parameters
    ----------
    results : TaskResults
        The task and its results file.
    sampling : _JsonObject
        Settings of the generated answers; {} for choices.
    """
    config, results_file = object_at(results.results_file, "config"), results.results_file
    stored_parameters = config.get("model_num_parameters")
    n_parameters = _non_negative_integer(stored_parameters) or 0
    shots = object_at(results_file, "n-shot").get(results.task, results.config.get("num_fewshot"))
    return RunInfo(
        model=_model_name(
            results_file.get("model_name")
            or _model_argument(config, "pretrained")
            or _model_argument(config, "model")
        ),
        dataset=results.benchmark or results.task or None,
        shots=_non_negative_integer(shots),
        checkpoint=_revision(config),
        params_b=n_parameters / 1e9 if n_parameters > 0 else None,
        tuning="chat" if results_file.get("chat_template") else None,
        temperature=_sampling_temperature(sampling),
    )


def results_notes(results: TaskResults, n_documents: int) -> Iterator[str]:
    """Notes on how the rows came about: limits, missing documents, chat templates."""
    original, effective = results.n_documents("original"), results.n_documents("effective")
    if original is not None and effective is not None and effective < original:
        yield f"{effective:,} of {original:,} documents were asked (--limit or --samples)."
    if effective is not None and n_documents != effective:
        yield f"The results file counts {effective:,} documents, but this file holds {n_documents:,}."
    if results.results_file.get("chat_template"):
        yield "Tuning is taken to be chat, as a chat template was applied: a guess."


def object_at(parent: _JsonObject, key: str) -> _JsonObject:
    """The object under a key; {} where there is none."""
    return as_object(parent.get(key))


def is_sampled(settings: _JsonObject) -> bool | None:
    """Whether generated answers were sampled at random; None where the log does not say."""
    do_sample, temperature = settings.get("do_sample"), settings.get("temperature")
    if isinstance(do_sample, bool):
        return do_sample
    if isinstance(temperature, int | float):
        return temperature > 0
    return False if settings else None


def is_majority_vote(results: TaskResults, name: str) -> bool:
    """Whether a filter takes a majority vote: by its steps, else by its name."""
    for step in map(as_object, as_list(results.config.get("filter_list"))):
        if step.get("name") == name:
            functions = [as_object(part).get("function") for part in as_list(step.get("filter"))]
            return "majority_vote" in functions
    return name.startswith("maj@")


def _read_results(path: Path) -> _JsonObject:
    """The object in a results file; {} where it cannot be read, since the rows are usable without it."""
    try:
        data = read_first_bytes(path, path.name, MAX_RESULTS_BYTES + 1)
        value = parse_json(data.decode("utf-8-sig")) if len(data) <= MAX_RESULTS_BYTES else None
    except (CalibError, ValueError, RecursionError, RepeatedKeyError):
        return {}
    return as_object(value)


def _benchmark_and_subject(
    results_file: _JsonObject, task: str, document: _JsonObject
) -> tuple[str | None, str | None]:
    """The benchmark that a task is a subject of, and its name there: mmlu_anatomy → mmlu, anatomy.

    Taken from the largest group of the results file whose name begins the task's name, if all tasks below it
    use one data set; else from the task's alias or the subject that its documents name.
    """
    configs, children = object_at(results_file, "configs"), object_at(results_file, "group_subtasks")
    dataset = str(object_at(configs, task).get("dataset_path"))
    for group in sorted((group for group in children if task.startswith(f"{group}_")), key=len):
        leaves = _leaf_tasks(children, group)
        if task in leaves and {str(object_at(configs, leaf).get("dataset_path")) for leaf in leaves} == {
            dataset
        }:
            return group, task.removeprefix(f"{group}_")
    config, scores = object_at(configs, task), object_at(object_at(results_file, "results"), task)
    for name in (config.get("task_alias"), scores.get("alias"), document.get("subject")):
        if isinstance(name, str) and name and task.endswith(f"_{name}"):
            return task.removesuffix(f"_{name}"), name
    return None, None


def _leaf_tasks(children: _JsonObject, group: str, visited: frozenset[str] = frozenset()) -> set[str]:
    """The tasks of a group and of the groups within it."""
    tasks: set[str] = set()
    for child in as_list(children.get(group)):
        if isinstance(child, str) and child not in visited:
            below = (
                _leaf_tasks(children, child, visited | {group}) if as_list(children.get(child)) else {child}
            )
            tasks |= below
    return tasks


def _model_name(name: object) -> str | None:
    """The model's name; for a path on someone's machine, the part of it that names the model."""
    if not isinstance(name, str) or not name.strip():
        return None
    cached = _HUB_CACHE_PATH.search(name)
    if cached:
        return f"{cached[1]}/{cached[2]}"
    if name.startswith(("/", "./", "../", "~")) or "\\" in name or name[1:3] in (":/", ":\\"):
        return re.split(r"[/\\]", name.rstrip("/\\"))[-1] or None
    return name


def _revision(config: _JsonObject) -> str | None:
    """The checkpoint: a revision that was asked for explicitly; None for the main branch."""
    for value in (_model_argument(config, "revision"), config.get("model_revision")):
        if isinstance(value, str) and value.strip() and value != "main":
            return value
    return None


def _model_argument(config: _JsonObject, name: str) -> object:
    """One of the model's arguments, which are an object or, in older versions, "k=v,k=v"."""
    arguments = config.get("model_args")
    if isinstance(arguments, str):
        found = re.search(rf"(?:^|,)\s*{name}=([^,]+)", arguments)
        return found[1].strip() if found else None
    return object_at(config, "model_args").get(name)


def _sampling_temperature(settings: _JsonObject) -> float | None:
    """Temperature of the generated answers; 0 where decoding was greedy."""
    if is_sampled(settings) is False:
        return 0.0
    value = settings.get("temperature")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None


def _non_negative_integer(value: object) -> int | None:
    """The value if it is a whole number from 0 to 2⁵³ − 1, else None."""
    is_valid = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    return cast("int", value) if is_valid else None


# --- The tool's own metrics ---------------------------------------------------


def reported_task_metrics(
    docs: Sequence[Document],
    results: TaskResults,
    filters: Sequence[str],
    outcome_score: str | None,
    *,
    stored_outcomes: Sequence[str],
    judging_metric: str | None,
    uses_top_share: bool,
) -> tuple[ReportedMetric, ...]:
    """The tool's own metrics of the task: from the results file, else the mean over the records.

    Parameters
    ----------
    docs : Sequence[Document]
        The documents of the file.
    results : TaskResults
        The task and its results file.
    filters : Sequence[str]
        Names of the filters, in the file's order.
    outcome_score : str or None
        The "metric,filter" that is read as the outcome of the greedy answer.
    stored_outcomes : Sequence[str]
        The metrics that say of each document with choices whether its most likely one is right.
    judging_metric : str or None
        The one of these that judges the top label, where it is taken from there.
    uses_top_share : bool
        Whether the top label's share is used as the confidence, because no single right choice is known.
    """
    n_reported = results.scores.get("sample_len", results.n_documents("effective"))
    values = dict(_scores_of_results(results)) or dict(_mean_scores(docs))
    counts = {key: sum(key in doc.scores for doc in docs) for key in values}
    n_rows = n_reported if isinstance(n_reported, int) and not isinstance(n_reported, bool) else None
    metrics: list[ReportedMetric] = []
    for key, value in values.items():
        method, why = _matching_method(
            key,
            docs,
            results,
            outcome_score,
            stored_outcomes=stored_outcomes,
            judging_metric=judging_metric,
            uses_top_share=uses_top_share,
        )
        metrics.append(
            ReportedMetric(_score_title(key, filters), value, (n_rows or counts[key]) or None, method, why)
        )
    return tuple(metrics)


def _score_title(key: str, filters: Sequence[str]) -> str:
    """ "acc" in a file with one filter, "exact_match,maj@8" in a file with several."""
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
    stored_outcomes: Sequence[str],
    judging_metric: str | None,
    uses_top_share: bool,
) -> tuple[str | None, str]:
    """The method whose accuracy a metric should equal (None: there is none), and why they may differ."""
    metric, _, filter_name = key.partition(",")
    first = next((doc for doc in docs if doc.kind != "nothing"), None)
    if first is None or metric in _WHY_NO_METHOD:
        return None, _WHY_NO_METHOD.get(metric, "")
    if first.kind == "choice":
        return _method_of_choices(
            metric, docs, stored_outcomes, judging_metric, uses_top_share=uses_top_share
        )
    if len(first.samples) > 1 and is_sampled(first.generation_settings) is not False:
        return (
            ("cluster_size", _WHY_VOTES_DIFFER)
            if is_majority_vote(results, filter_name)
            else (None, _WHY_FIRST_SAMPLE)
        )
    if key == outcome_score:
        return "", ""
    if is_sampled(first.generation_settings):
        return None, _WHY_SAMPLED
    is_same_metric = outcome_score is not None and metric == outcome_score.partition(",")[0]
    return None, _WHY_OTHER_FILTER if is_same_metric else _WHY_OTHER_METRIC


def _method_of_choices(
    metric: str,
    docs: Sequence[Document],
    stored_outcomes: Sequence[str],
    judging_metric: str | None,
    *,
    uses_top_share: bool,
) -> tuple[str | None, str]:
    if metric == "acc" and any(doc.score("acc") not in (None, 0.0, 1.0) for doc in docs):
        return None, _WHY_PROBABILITY_SHARE
    if uses_top_share:
        return ("", "") if metric == (judging_metric or "acc") else (None, _WHY_SEVERAL_GOLD)
    return _CHOICE_METHODS.get(metric, "choice_softmax" if metric in stored_outcomes else None), ""
