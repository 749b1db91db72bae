"""What does the results file beside a samples log say?  Of which model, task and shots the rows are."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

from calib_core.files.folder import beginning
from calib_core.files.harness.json_values import as_list, as_object
from calib_core.files.tables.json_lines import RepeatedKeyError, parse
from calib_core.problems import CalibError
from calib_core.records import RunInfo

LARGEST: Final = 64 * 2**20
"""A results file of more bytes is not read: the real ones are of some ten thousand."""

NAME: Final = re.compile(
    r"(?:.*/)?samples_(?P<task>.+)_(?P<stamp>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl", re.DOTALL
)
_IN_CACHE: Final = re.compile(r"(?:^|[/\\])models--([^/\\]+?)--([^/\\]+)(?:[/\\]|$)")

Told = Mapping[str, object]


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """What is known of a samples log beside its rows. told: the results file's own object, {} without one.

    task, stamp: from the log's name, "" where it has another; family: the benchmark that the task is a
    subject of, None where it is one by itself; subject: what it is called there.
    """

    told: Told = field(default_factory=dict[str, object])
    task: str = ""
    stamp: str = ""
    family: str | None = None
    subject: str | None = None

    @property
    def config(self) -> Told:
        """The task's own settings, {} where they are not known."""
        return part(part(self.told, "configs"), self.task)

    @property
    def scores(self) -> Told:
        """The task's "metric,filter" → value, as the tool added them up."""
        return part(part(self.told, "results"), self.task)

    @property
    def delimiter(self) -> str | None:
        """What stands between context and choice, None where it is not known."""
        told = self.config.get("target_delimiter")
        return told if isinstance(told, str) else None

    def size(self, kind: str) -> int | None:
        """How many documents the task has ("original") or was asked ("effective"); None where not known."""
        return _whole(part(part(self.told, "n-samples"), self.task).get(kind))

    def is_loss(self, metric: str) -> bool:
        """Whether less of a metric is better, as far as the results file says."""
        return part(part(self.told, "higher_is_better"), self.task).get(metric) is False

    @property
    def group(self) -> str | None:
        """What the files of one evaluation have in common, None where the task stands by itself."""
        if self.family is None:
            return None
        date = self.told.get("date")
        when = f"{date}" if isinstance(date, int | float) else self.stamp
        return f"lm-evaluation-harness {self.family} {when} {self.config.get('dataset_path')}"


def results_of(file: str, beside: Mapping[str, Path], docs: Mapping[str, object]) -> Results:
    """What is known of the log called `file`. docs: a document's own fields, which may name its subject."""
    named = NAME.fullmatch(file)
    task, stamp = (named["task"], named["stamp"]) if named else ("", "")
    path = beside.get(f"results_{stamp}.json")
    held = as_object(None) if path is None else _held(path)
    if task not in part(held, "results") and task not in part(held, "configs"):
        held = as_object(None)
    family, subject = _family(held, task, docs)
    return Results(held, task, stamp, family, subject)


def info_of(results: Results, sampling: Told) -> RunInfo:
    """The run as the results file tells of it; sampling: the settings of the generated answers."""
    config, held = part(results.told, "config"), results.told
    parameters = config.get("model_num_parameters")
    known = _whole(parameters) or 0
    shots = part(held, "n-shot").get(results.task, results.config.get("num_fewshot"))
    return RunInfo(
        model=_model(held.get("model_name") or _argument(config, "pretrained") or _argument(config, "model")),
        dataset=results.family or results.task or None,
        shots=_whole(shots),
        checkpoint=_revision(config),
        params_b=known / 1e9 if known > 0 else None,
        tuning="chat" if held.get("chat_template") else None,
        temperature=_temperature(sampling),
    )


def notes_of(results: Results, documents: int) -> Iterator[str]:
    """What a reader of the numbers has to know of how the rows came about."""
    original, effective = results.size("original"), results.size("effective")
    if original is not None and effective is not None and effective < original:
        yield f"{effective:,} of {original:,} documents were asked (--limit or --samples)."
    if effective is not None and documents != effective:
        yield f"The results file speaks of {effective:,} documents, this file holds {documents:,}."
    if results.told.get("chat_template"):
        yield "Tuning is taken to be chat, as a chat template was applied: a guess."


def part(whole: Told, key: str) -> Told:
    """The object under a key, {} where there is none."""
    return as_object(whole.get(key))


def is_sampled(settings: Told) -> bool | None:
    """Whether generated answers were drawn at random; None where the log does not say."""
    drawn, temperature = settings.get("do_sample"), settings.get("temperature")
    if isinstance(drawn, bool):
        return drawn
    if isinstance(temperature, int | float):
        return temperature > 0
    return False if settings else None


def has_majority(results: Results, name: str) -> bool:
    """Whether a filter lets the sampled answers vote: by what it does, else by its name."""
    listed = as_list(results.config.get("filter_list"))
    for step in map(as_object, listed):
        if step.get("name") == name:
            functions = [as_object(each).get("function") for each in as_list(step.get("filter"))]
            return "majority_vote" in functions
    return name.startswith("maj@")


def _held(path: Path) -> Told:
    """The object in a results file, {} where it cannot be read: the rows are usable without."""
    try:
        data = beginning(path, path.name, LARGEST + 1)
        value = parse(data.decode("utf-8-sig")) if len(data) <= LARGEST else None
    except (CalibError, ValueError, RecursionError, RepeatedKeyError):
        return {}
    return as_object(value)


def _family(held: Told, task: str, document: Told) -> tuple[str | None, str | None]:
    """The benchmark that a task is a subject of and its name there: mmlu_anatomy → mmlu, anatomy.

    By the groups of the results file whose name the task's begins with, the largest first, if all tasks
    below are of one data set; else by the task's alias, or the subject that its documents name.
    """
    configs, children = part(held, "configs"), part(held, "group_subtasks")
    own = str(part(configs, task).get("dataset_path"))
    for group in sorted((group for group in children if task.startswith(f"{group}_")), key=len):
        leaves = _leaves(children, group)
        if task in leaves and {str(part(configs, leaf).get("dataset_path")) for leaf in leaves} == {own}:
            return group, task.removeprefix(f"{group}_")
    config, scores = part(configs, task), part(part(held, "results"), task)
    for name in (config.get("task_alias"), scores.get("alias"), document.get("subject")):
        if isinstance(name, str) and name and task.endswith(f"_{name}"):
            return task.removesuffix(f"_{name}"), name
    return None, None


def _leaves(children: Told, group: str, seen: frozenset[str] = frozenset()) -> set[str]:
    """The tasks of a group and of the groups in it."""
    found: set[str] = set()
    for child in as_list(children.get(group)):
        if isinstance(child, str) and child not in seen:
            below = _leaves(children, child, seen | {group}) if as_list(children.get(child)) else {child}
            found |= below
    return found


def _model(name: object) -> str | None:
    """The model's name; of a path on somebody's machine what names the model in it."""
    if not isinstance(name, str) or not name.strip():
        return None
    cached = _IN_CACHE.search(name)
    if cached:
        return f"{cached[1]}/{cached[2]}"
    if name.startswith(("/", "./", "../", "~")) or "\\" in name or name[1:3] in (":/", ":\\"):
        return re.split(r"[/\\]", name.rstrip("/\\"))[-1] or None
    return name


def _revision(config: Told) -> str | None:
    """The checkpoint: a revision that somebody asked for, not the main one."""
    for value in (_argument(config, "revision"), config.get("model_revision")):
        if isinstance(value, str) and value.strip() and value != "main":
            return value
    return None


def _argument(config: Told, name: str) -> object:
    """One of the model's arguments: an object, or "k=v,k=v" in older versions."""
    arguments = config.get("model_args")
    if isinstance(arguments, str):
        found = re.search(rf"(?:^|,)\s*{name}=([^,]+)", arguments)
        return found[1].strip() if found else None
    return part(config, "model_args").get(name)


def _temperature(settings: Told) -> float | None:
    """Of the generated answers: 0 where the most likely token was always taken."""
    if is_sampled(settings) is False:
        return 0.0
    value = settings.get("temperature")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None


def _whole(value: object) -> int | None:
    """A whole number from 0 on."""
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    return cast("int", value) if known else None
