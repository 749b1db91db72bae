"""Annotations of models and people on the same things, as MLflow, Phoenix and Langfuse keep them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from calib_core import readers
from calib_core.errors import Refused
from calib_core.readers.annotations import ANNOTATION_TOOLS
from calib_core.readers.detect import read_head
from calib_core.readers.format import Reading
from calib_core.runs import AnswerRun
from core.readers.conftest import ReadText
from core.readers.test_presets import read
from fixture_files import FIXTURES

FILES = {
    "mlflow/traces.jsonl": ("mlflow_traces", "tiny · correctness", ("true", "false")),
    "mlflow/frame.json": ("mlflow_traces", "tiny · correctness", ("true", "false")),
    "phoenix/annotations.json": ("phoenix", "correctness", ("correct", "incorrect")),
    "phoenix/frame.json": ("phoenix", "correctness", ("correct", "incorrect")),
    "langfuse/scores.json": ("langfuse", "correctness", ("true", "false")),
}


def the_run(reading: Reading) -> AnswerRun:
    (run,) = reading.good_runs
    assert isinstance(run, AnswerRun)
    return run


@pytest.mark.parametrize("name", FILES)
def test_a_judges_annotations_stand_beside_peoples(name: str) -> None:
    format_, label, (yes, no) = FILES[name]
    reading = read(name)
    assert (reading.format, reading.n_bad_rows) == (format_, 0)
    run = the_run(reading)
    assert run.label == label
    assert run.rows["judge"].to_list() == [yes, yes, yes, no, no]
    assert run.rows["human.ann"].to_list() == [yes, yes, no, no, None]
    assert run.rows["human.bob"].to_list() == [None, yes, no, None, None]
    assert run.rows["id"].n_unique() == 5


@pytest.mark.parametrize("name", FILES)
def test_no_other_format_recognises_the_file(name: str) -> None:
    head = read_head(FIXTURES / name, name)
    kinds = [one.id for one in readers.FORMATS.values() if head.kind in one.kinds and one.recognises(head)]
    assert kinds[0] == FILES[name][0]
    assert {*kinds} <= {FILES[name][0], "table"}


def test_every_tool_has_a_file() -> None:
    assert {tool.id for tool in ANNOTATION_TOOLS} == {format_ for format_, _, _ in FILES.values()}


def test_what_a_program_gave_is_counted() -> None:
    note = "Annotations that are neither a judge's nor a person's are not read: 5 of CODE."
    assert note in read("mlflow/traces.jsonl").notes


def span(of: str, kind: str, label: str | None, name: str = "good", **more: Any) -> dict[str, Any]:
    return {"span_id": of, "name": name, "annotator_kind": kind, "result": {"label": label, **more}}


def test_each_name_is_a_run_and_an_item_without_people_stays(read_text: ReadText) -> None:
    records = [
        span("s1", "LLM", "yes", score=0.75), span("s1", "HUMAN", "no"), span("s2", "LLM", "no"),
        span("s1", "LLM", "rude", name="tone"), span("s1", "HUMAN", "polite", name="tone"),
    ]  # fmt: skip
    good, tone = read_text(json.dumps(records)).good_runs
    assert isinstance(good, AnswerRun)
    assert good.rows.select("id", "judge", "judge_score", "human").rows() == [
        ("s1", "yes", 0.75, "no"),
        ("s2", "no", None, None),
    ]
    assert (good.label, tone.label) == ("good", "tone")


def test_a_label_that_its_annotator_contradicts_is_a_bad_row(read_text: ReadText) -> None:
    records = [
        span("s1", "LLM", "yes"),
        span("s1", "HUMAN", "yes"),
        span("s1", "HUMAN", "no"),
        span("s1", "LLM", "yes"),
    ]
    reading = read_text("".join(json.dumps(record) + "\n" for record in records))
    (problem,) = reading.problems
    assert (problem.kind, problem.count) == ("repeated annotation", 1)
    assert problem.first_cells[0].found == "yes and no"
    assert the_run(reading).rows["human"].to_list() == ["yes"]


def test_annotations_of_programs_alone_are_refused(read_text: ReadText) -> None:
    with pytest.raises(Refused, match="no annotation in it is by a model or a person: they are by CODE"):
        read_text(json.dumps([span("s1", "CODE", "yes"), span("s2", "CODE", "no")]))


def test_an_overridden_assessment_of_mlflow_does_not_count(read_text: ReadText) -> None:
    def assessment(value: object, **more: object) -> dict[str, object]:
        source = {"source_type": "HUMAN", "source_id": "ann"}
        return {"assessment_name": "good", "source": source, "feedback": {"value": value}, **more}

    info = {"trace_id": "t1", "assessments": [assessment(3, valid=False), assessment(4, valid=True)]}
    run = the_run(
        read_text(json.dumps({"info": info}) + "\n" + json.dumps({"info": {**info, "trace_id": "t2"}}))
    )
    assert run.rows["human.ann"].to_list() == ["4", "4"]


@pytest.mark.parametrize(
    ("data_type", "value", "text", "label", "score"),
    [
        ("BOOLEAN", 1, "True", "true", None),
        ("CATEGORICAL", 0, "poor", "poor", None),
        ("NUMERIC", 0.25, None, None, 0.25),
        ("NUMERIC", 4.0, None, "4", None),
    ],
)
def test_scores_of_langfuse_as_they_were_before(
    data_type: str,
    value: float,
    text: str | None,
    label: str | None,
    score: float | None,
    read_text: ReadText,
) -> None:
    """`traceId` and `stringValue`, as `BaseScore` and `CategoricalScore` of its package say."""
    one = {"name": "good", "dataType": data_type, "value": value, "stringValue": text}
    records = [
        {**one, "traceId": of, "observationId": None, "source": source}
        for of in ("t1", "t2")
        for source in ("EVAL", "ANNOTATION")
    ]
    run = the_run(read_text(json.dumps({"data": records, "meta": {"page": 1}})))
    assert run.rows["id"].to_list() == ["t1", "t2"]
    for column, expected in (("judge", label), ("judge_score", score), ("human", label)):
        if expected is not None:
            assert run.rows[column].to_list() == [expected] * 2
