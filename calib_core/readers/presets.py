"""Tools whose files are tables of records: how a file is recognised, and what its fields mean.

A tool is an entry of `PRESETS`, which becomes a format. `columns` says where its values are; `translate` is
for what no path can say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final, TypeAlias, cast

import polars as pl

from calib_core.errors import Refused
from calib_core.readers.detect import N_FIRST_OBJECTS
from calib_core.readers.eval_logs import LogEntry, LogRecord, LogTable, read_log_records, read_log_table
from calib_core.readers.format import JSON_KINDS, ContentKind, Format, Head, Reading, ReadOptions
from calib_core.readers.json_values import (
    BadValueError,
    as_finite_number,
    as_integer,
    as_list,
    as_name,
    as_object,
    as_text,
    is_cell_value,
    optional_object,
    optional_text,
)
from calib_core.readers.table.columnar import COLUMNAR_KINDS, first_columnar_values, open_columnar
from calib_core.readers.table.json_reader import ABSENT, parse_text, value_at
from calib_core.readers.table.raw import BrokenRecord, ReadProgress
from calib_core.readers.table.reader import sole_object
from calib_core.readers.table.shape import as_rows, path_root, rows_at, series_at
from calib_core.runs import RunInfo
from calib_core.wording import join_names

Row: TypeAlias = Mapping[str, object]
"""A record: its keys, or paths to nested fields → values."""

TABLE_COLUMNS: Final = frozenset({"confidence", "correct"})
"""Columns that together only a table written for Calib has, whatever else it contains."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A tool whose file is a table of records.

    Attributes
    ----------
    id, title, recognised_by, kinds
        As in `Format`.
    signatures
        Sets of paths: one of the first records has a value at each path of one of the sets.
    columns
        Path → name it is read as, as in `ReadOptions`. Of several paths for one name the first that has a
        value in the first records is read.
    rows
        Where the rows may be if the file is one JSON object: paths, and "" for the object itself.
    info
        Path in the first object of the file → "model" or "dataset".
    translate
        Record → the values that no path gives, to be added to it; None for a record that is not a row.
    """

    id: str
    title: str
    recognised_by: str
    signatures: tuple[frozenset[str], ...]
    columns: Mapping[str, str]
    rows: tuple[str, ...] = ("",)
    kinds: frozenset[ContentKind] = JSON_KINDS
    info: Mapping[str, str] = field(default_factory=dict[str, str])
    translate: Callable[[Row], Row | None] | None = None

    def format(self) -> Format:
        """Return the format of such files."""
        return Format(self.id, self.title, self.recognised_by, self.kinds, self.recognises, self.read)

    def recognises(self, head: Head) -> bool:
        """Return whether one of the first records has a value at each path of a signature."""
        paths = sorted(frozenset[str]().union(*self.signatures))
        return any(
            not row.keys() >= TABLE_COLUMNS and any(_has_values(row, paths) for paths in self.signatures)
            for row in self._first_rows(head, paths)
        )

    def read(self, head: Head, options: ReadOptions, progress: ReadProgress) -> Reading:
        """Read the runs of such a file. See `format.ReadFunction`."""
        paths = tuple(dict.fromkeys((*self.columns, *options.columns)))
        columns = self._chosen_columns(self._first_rows(head, paths))
        first = head.first_objects[0] if head.first_objects else None
        info = {name: text for path, name in self.info.items() if (text := as_name(value_at(first, path)))}
        found: set[str] = set()
        entries = self._entries(head, options, paths, found)
        first_entry = next(entries, None)
        if first_entry is None:
            raise Refused(
                f"{head.file} was recognised as {self.title}, but none of its records is an answer."
            )
        run_info = RunInfo(model=info.get("model"), dataset=info.get("dataset"))
        log = LogTable(chain([first_entry], entries), columns, run_info)
        reading = read_log_table(head, self.id, log, options, progress)
        return replace(
            reading,
            columns=tuple(name for name in reading.columns if name in found),
            unused_columns=tuple(name for name in reading.unused_columns if name in found),
            column_roles={name: role for name, role in reading.column_roles.items() if name in found},
        )

    def _chosen_columns(self, first_rows: Sequence[Row]) -> dict[str, str]:
        """Choose one path for each name."""
        read = [self._fields(row, [*self.columns]) for row in first_rows]
        rows = [fields for fields in read if fields is not None and not isinstance(fields, BrokenRecord)]
        columns: dict[str, str] = {}
        for name in dict.fromkeys(self.columns.values()):
            paths = [path for path, taken in self.columns.items() if taken == name]
            present = (path for path in paths if any(row.get(path) is not None for row in rows))
            columns[next(present, paths[0])] = name
        return columns

    def _first_rows(self, head: Head, paths: Sequence[str]) -> Sequence[Row]:
        """Return the first records, of a file of columns only the values at these paths."""
        if head.kind in COLUMNAR_KINDS:
            roots = _roots(paths, head.names)
            names = list(dict.fromkeys(roots.values()))
            values = first_columnar_values(head, names, N_FIRST_OBJECTS) if names else ()
            return _rows_of_columns(dict(zip(names, values, strict=False)), roots)
        lone = sole_object(head)
        if lone is None:
            return head.first_objects
        rows = self._rows_in(lone)
        return head.first_objects if rows is None else rows[:N_FIRST_OBJECTS]

    def _rows_in(self, lone: Row) -> Sequence[Row] | None:
        """Return the rows of an object, by id also a single one; None if it has none."""
        for path in self.rows:
            if (rows := as_rows(value_at(lone, path) if path else lone)) is not None:
                return rows
        id_, only = next(iter(lone.items())) if len(lone) == 1 else ("", None)
        row = as_object(only)
        return ({"id": id_, **row},) if any(_has_values(row, paths) for paths in self.signatures) else None

    def _records(self, head: Head, paths: Sequence[str], rows_path: str) -> Iterator[LogRecord]:
        """Yield the records of the file."""
        if head.kind in COLUMNAR_KINDS:
            roots = _roots(paths, head.names)
            for part in open_columnar(head, lambda name: name in roots.values()).slices:
                for row in _rows_of_columns(part.columns, roots):
                    yield LogRecord(row, None, part.share)
        elif (lone := sole_object(head)) is None:
            yield from read_log_records(head)
        elif (rows := rows_at(lone, rows_path, head.file) if rows_path else self._rows_in(lone)) is None:
            yield LogRecord(lone, None, 1.0)
        else:
            for number, row in enumerate(rows, 1):
                yield LogRecord(row, None, number / len(rows))

    def _entries(
        self, head: Head, options: ReadOptions, paths: Sequence[str], found: set[str]
    ) -> Iterator[LogEntry]:
        """Yield a row for each record that is one, and add what it has to `found`."""
        for record in self._records(head, paths, options.rows):
            if isinstance(record.value, BrokenRecord):
                yield LogEntry({}, record.line, record.share, record.value)
                continue
            fields = self._fields(record.value, paths)
            if isinstance(fields, BrokenRecord):
                yield LogEntry({}, record.line, record.share, fields)
                continue
            if fields is not None:
                found.update(fields)
                yield LogEntry(fields, record.line, record.share)

    def _fields(self, row: Row, paths: Sequence[str]) -> Row | BrokenRecord | None:
        """Return the plain values of a record, and those at these paths; None if it is not a row."""
        try:
            translated = self.translate(row) if self.translate else dict[str, object]()
        except BadValueError as bad:
            return bad.broken
        if translated is None:
            return None
        fields = {key: value for key, value in row.items() if is_cell_value(value)}
        fields |= {path: value for path in paths if (value := value_at(row, path, ABSENT)) is not ABSENT}
        return {**fields, **translated}


def _has_values(row: Row, paths: frozenset[str] | Sequence[str]) -> bool:
    return all(value_at(row, path) is not None for path in paths)


def _roots(paths: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Map each path to the column that it is or leads into; a path that leads nowhere is left out."""
    roots = {path: path if path in names else path_root(path, names) for path in paths}
    return {path: root for path, root in roots.items() if root is not None}


def _rows_of_columns(columns: Mapping[str, pl.Series], roots: Mapping[str, str]) -> list[Row]:
    """Turn columns into records with the values at these paths."""
    values = {
        path: (columns[root] if path == root else series_at(columns[root], path[len(root) + 1 :])).to_list()
        for path, root in roots.items()
    }
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


# --- What no path can say ---------------------------------------------------------------------------------


def _list_at(row: Row, *paths: str) -> list[object] | None:
    """Return the first list at one of these paths, also one written as text; None if there is none."""
    values = (value_at(row, path) for path in paths)
    parsed = (parse_text(value) if isinstance(value, str) else value for value in values)
    return next((cast("list[object]", value) for value in parsed if isinstance(value, list)), None)


def lighteval_values(row: Row) -> Row:
    """Tell a LightEval detail's choices from accepted answers, and one right choice from several.

    Before version 0.10 `predictions` hold what the task asks for: log-likelihoods, pairs of one and whether
    the choice is the likeliest text, or generated texts. In version 0.6 all cells are Python literals.
    """
    predictions, choices = _list_at(row, "predictions") or [], _list_at(row, "doc.choices", "choices") or []
    if predictions and all(isinstance(text, str) for text in predictions):
        return {
            "predictions": None,
            "samples": predictions,
            "gold_index": None,
            "gold": _list_at(row, "gold"),
        }
    index_path = "gold_index" if value_at(row, "doc.gold_index") is None else "doc.gold_index"
    golds = _list_at(row, index_path)
    golds = [value_at(row, index_path)] if golds is None else golds
    positions = [at for at in map(as_integer, golds) if at is not None and 0 <= at < len(choices)]
    texts = [choices[at] for at in positions] if len(positions) == len(golds) else None
    pairs = [
        cast("Sequence[object]", pair) for pair in predictions if isinstance(pair, list | tuple) and pair
    ]
    values: dict[str, object] = {}
    if pairs and len(pairs) == len(predictions):
        values["predictions"] = [pair[0] for pair in pairs]
    if _list_at(row, "model_response.text"):
        return {"doc.choices": None, index_path: None, "gold": texts}
    if len(golds) == 1:
        return {**values, index_path: golds[0]}
    return values if texts is None else {**values, index_path: None, "gold": texts}


def opencompass_values(row: Row) -> Row:
    """Give an OpenCompass prediction the choices of its `label: X` blocks, or its samples.

    A label names a choice and need not be the text that was scored, so it is not read as its text: the
    scores must not be divided by its length.
    """
    found = {key: block for key, block in row.items() if key.startswith(LABEL)}
    blocks = {
        key.removeprefix(LABEL): optional_object(None if isinstance(block, list) else block, key)
        for key, block in found.items()
    }
    predictions = as_list(row.get("prediction"))
    if blocks:
        scores = [_log_likelihood(block, f"{LABEL}{label}") for label, block in blocks.items()]
        labels = list(blocks)
        values: dict[str, object] = {"choice_logprobs": scores}
        for key, name in (("gold", "gold_index"), ("prediction", "prediction_index")):
            if (label := str(row.get(key))) in blocks:
                values |= {key: None, name: labels.index(label)}
            elif row.get(key) is not None and (key == "prediction" or not isinstance(row[key], str)):
                raise BadValueError(key, f"one of the labels {join_names(labels)}", row[key], "unknown label")
        return values
    if predictions:
        return {"prediction": None, "choice_probs" if "pred_label" in row else "samples": predictions}
    return {}


def opencompass_detail_values(row: Row) -> Row:
    """Give a detail of an OpenCompass result what the prediction it was made of gives.

    The blocks of the choices have lost `label: ` there, and the input that turns BPB into a sum.
    """
    origin = row.get("origin_prediction")
    blocks = {f"{LABEL}{key}": block for key, block in as_object(origin).items() if as_object(block)}
    if blocks:
        values = opencompass_values(
            {**blocks, "prediction": row.get("predictions"), "gold": row.get("references")}
        )
        indices = {name: at for name, at in values.items() if name in ("gold_index", "prediction_index")}
        given = {"predictions": None} if "prediction_index" in indices else {}
        given |= {"references": None} if "gold_index" in indices else {}
        return {"choice_logprobs": values["choice_logprobs"], **indices, **given}
    return {"samples": samples} if (samples := as_list(origin)) else {}


def _log_likelihood(block: Row, path: str) -> float | None:
    """Return the log-likelihood of an OpenCompass prompt, whose block lies at `path`.

    `PPL` is the mean loss of a token, of the question too, and says nothing without their number. `BPB` is
    that mean × tokens / bytes of the input, so it gives the sum.
    """
    stored, bits = (_optional_number(block.get(name), f"{path}.{name}") for name in ("Loglikelihood", "BPB"))
    if stored is not None:
        return stored
    text = optional_text(block.get("testing input"), f"{path}.testing input")
    return None if bits is None or text is None else -bits * len(text.encode())


def _optional_number(value: object, path: str) -> float | None:
    number = as_finite_number(value)
    if number is None and value is not None:
        raise BadValueError(path, "a number", value)
    return number


def promptfoo_values(row: Row) -> Row:
    """Give a Promptfoo result its provider and its judge, and no outcome where the request failed."""
    values = {
        "provider.label": value_at(row, "provider.label") or value_at(row, "provider.id"),
        **_judge_and_rating(row),
    }
    return {**values, "success": None} if row.get("failureReason") == REQUEST_FAILED else values


def _judge_and_rating(row: Row) -> Row:
    """Return the verdict of the first model that graded, and that of a person, where there are any.

    A rating in Promptfoo's viewer is a component of its own, and decides on `success`.
    """
    found: dict[str, object] = {}
    for part in as_list(value_at(row, "gradingResult.componentResults")):
        kind, verdict = as_text(value_at(as_object(part), "assertion.type")), as_object(part).get("pass")
        name = "human" if kind == "human" else "judge" if (kind or "").startswith(MODEL_GRADED) else ""
        if name and isinstance(verdict, bool):
            found.setdefault(name, "pass" if verdict else "fail")
    return found


def label_studio_values(row: Row) -> Row | None:
    """Give a task of Label Studio the choice of its first prediction, and those of its annotators."""
    predictions = [as_object(one) for one in as_list(row.get("predictions"))]
    values: dict[str, object] = {}
    if predictions:
        values = {
            "judge": _choice_of(predictions[0]),
            "judge_score": as_finite_number(predictions[0].get("score")),
        }
    for one in map(as_object, as_list(row.get("annotations"))):
        by = one.get("completed_by")
        person = as_object(by).get("id") if as_object(by) else by
        if one.get("was_cancelled") is not True and (choice := _choice_of(one)) is not None:
            values.setdefault("human" if person is None else f"human.{person}", choice)
    return values


def _choice_of(part: Row) -> str | None:
    """Return the only choice of an annotation or a prediction; None where there is none, or several."""
    chosen = [
        choice
        for one in as_list(part.get("result"))
        for choice in as_list(value_at(as_object(one), "value.choices"))
    ]
    return as_text(chosen[0]) if len(chosen) == 1 else None


def evals_values(row: Row) -> Row | None:
    """Keep the events of an OpenAI evals log that judge an answer."""
    is_match = row.get("type") == "match" and "correct" in as_object(row.get("data"))
    return {"data.picked": as_text(value_at(row, "data.picked"))} if is_match else None


LABEL: Final = "label: "
"""Begins the key of a choice's block in OpenCompass."""

MODEL_GRADED: Final = ("llm-rubric", "g-eval", "factuality", "model-graded")
"""How the types of Promptfoo's assertions begin in which a model grades."""

REQUEST_FAILED: Final = 2
"""Promptfoo's `failureReason` of a request that gave no answer; 1 is that of a wrong answer."""

# --- The presets ------------------------------------------------------------------------------------------

PRESETS: Final = (
    Preset(
        "lighteval",
        "details of LightEval",
        "doc with choices, and the model's response",
        (
            frozenset({"doc.query", "doc.gold_index", "model_response.logprobs"}),
            frozenset({"full_prompt", "num_effective_few_shots", "gold_index", "predictions"}),
        ),
        {
            "doc.id": "id",
            "doc.task_name": "dataset",
            "doc.query": "question",
            "example": "question",
            "doc.choices": "choices",
            "choices": "choices",
            "doc.gold_index": "gold_index",
            "gold_index": "gold_index",
            "gold": "gold",
            "model_response.logprobs": "choice_logprobs",
            "predictions": "choice_logprobs",
            "model_response.text": "samples",
            "samples": "samples",
            "num_asked_few_shots": "shots",
        },
        kinds=JSON_KINDS | COLUMNAR_KINDS,
        translate=lighteval_values,
    ),
    Preset(
        "opencompass",
        "predictions of OpenCompass",
        "prompts with their predictions by number",
        (
            frozenset({"origin_prompt", "prediction"}),
            frozenset({"in-context examples", "prediction"}),
        ),
        {"origin_prompt": "question"},
        translate=opencompass_values,
    ),
    Preset(
        "opencompass_details",
        "results of OpenCompass with details",
        "details by number, with predictions and references",
        (frozenset({"origin_prediction", "predictions", "references"}),),
        {
            "prompt": "question",
            "predictions": "prediction",
            "references": "gold",
            "correct": "correct",
        },
        rows=("details",),
        translate=opencompass_detail_values,
    ),
    Preset(
        "hle",
        "judged answers to Humanity's Last Exam",
        "judge_response with correct and confidence",
        (frozenset({"judge_response.correct", "judge_response.confidence"}),),
        {
            "judge_response.confidence": "verbal_confidence/100",
            "judge_response.correct": "correct",
            "judge_response.model_answer": "prediction",
            "judge_response.correct_answer": "gold",
        },
    ),
    Preset(
        "every_eval_ever",
        "samples of Every Eval Ever",
        "sample_id with its evaluation",
        (frozenset({"schema_version", "evaluation_id", "sample_id", "evaluation.is_correct"}),),
        {
            "sample_id": "id",
            "model_id": "model",
            "evaluation_name": "dataset",
            "input.raw": "question",
            "input.choices": "choices",
            "input.reference": "gold",
            "output.raw": "samples",
            "evaluation.is_correct": "correct",
        },
    ),
    Preset(
        "promptfoo",
        "results of Promptfoo",
        "results with provider, prompt, vars and success",
        (frozenset({"provider.id", "prompt.raw", "vars", "success"}),),
        {
            "testIdx": "trial_of",
            "provider.label": "model",
            "prompt.raw": "question",
            "response.output": "prediction_text",
            "response.logProbs": "path_logprobs",
            "success": "correct",
        },
        rows=("results.results",),
        translate=promptfoo_values,
    ),
    Preset(
        "deepeval",
        "a test run of DeepEval",
        "testCases with actualOutput and metricsData",
        (frozenset({"input", "actualOutput", "metricsData", "success"}),),
        {
            "order": "id",
            "input": "question",
            "actualOutput": "prediction_text",
            "expectedOutput": "gold",
            "success": "correct",
        },
        rows=("testCases", "testRunData.testCases"),
        info={"hyperparameters.model": "model", "testRunData.hyperparameters.model": "model"},
    ),
    Preset(
        "label_studio",
        "tasks of Label Studio",
        "data with annotations and predictions",
        (frozenset({"data", "annotations", "predictions"}),),
        {"id": "id", "data.text": "question"},
        translate=label_studio_values,
    ),
    Preset(
        "openai_evals",
        "a log of OpenAI evals",
        "a first line with the spec, and events below it",
        (frozenset({"spec.completion_fns", "spec.eval_name", "spec.run_id"}),),
        {
            "sample_id": "id",
            "data.correct": "correct",
            "data.expected": "gold",
            "data.picked": "prediction",
            "data.sampled": "prediction_text",
        },
        info={"spec.completion_fns.0": "model", "spec.eval_name": "dataset"},
        translate=evals_values,
    ),
)
"""The tools, each of which becomes a format."""
