"""Tables of records that tools write are recognised by their content and read with no option."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calib_core import readers
from calib_core.errors import Refused
from calib_core.methods import METHODS
from calib_core.methods.method import MethodOptions
from calib_core.readers.detect import read_head
from calib_core.readers.format import AS_IT_LIES, Reading
from calib_core.readers.presets import PRESETS, Preset
from calib_core.readers.table.raw import ignore_progress
from calib_core.results.files import check_file
from core.readers.answer_run_checks import answer_runs
from core.readers.conftest import ReadText
from fixture_files import FIXTURES

Pairs = list[tuple[float, bool]]

# The four choices of LightEval's questions have one length, so dividing by it leaves their order as it is.
LETTER_SCORES: Final = (
    (-0.25, -2.0, -3.0, -4.0),
    (-1.5, -0.5, -2.5, -3.0),
    (-2.0, -1.0, -1.25, -3.5),
    (-0.125, -4.0, -5.0, -6.0),
)
TWO_SCORES: Final = ((-4.0, -3.0), (-2.5, -5.0), (-3.25, -3.75))


def top_labels(scores: Sequence[Sequence[float]], golds: Sequence[int]) -> Pairs:
    """The softmax of the likeliest choice, and whether it is the right one."""
    return [
        (math.exp(max(row)) / sum(map(math.exp, row)), row.index(max(row)) == gold)
        for row, gold in zip(scores, golds, strict=True)
    ]


READ: Final[dict[str, tuple[str, str, Mapping[str, Pairs]]]] = {
    "lighteval/details_mmlu_0.13.parquet": (
        "lighteval",
        "choice_softmax",
        {"mmlu:abstract_algebra|0": top_labels(LETTER_SCORES, (0, 1, 2, 0))},
    ),
    "lighteval/details_mmlu_0.8.parquet": (
        "lighteval",
        "choice_softmax",
        {"5-shot": top_labels(LETTER_SCORES[:3], (0, 1, 2))},
    ),
    "lighteval/details_mmlu_0.6.parquet": (
        "lighteval",
        "choice_softmax",
        {"5-shot": top_labels(LETTER_SCORES[:3], (0, 1, 2))},
    ),
    "lighteval/details_gsm8k_0.13.parquet": (
        "lighteval",
        "cluster_size",
        {"gsm8k|0": [(0.75, True), (0.75, False), (0.75, True)]},
    ),
    "opencompass/ppl.json": ("opencompass", "choice_softmax", {"ppl": top_labels(TWO_SCORES, (1, 0, 1))}),
    "opencompass/ll.json": ("opencompass", "choice_softmax", {"ll": top_labels(TWO_SCORES, (1, 0, 1))}),
    "opencompass/samples.json": (
        "opencompass",
        "cluster_size",
        {"samples": [(0.75, True), (0.75, False), (1.0, True)]},
    ),
    "opencompass/details_ll.json": (
        "opencompass_details",
        "choice_softmax",
        {"details_ll": top_labels(TWO_SCORES, (1, 0, 1))},
    ),
    "opencompass/details_samples.json": (
        "opencompass_details",
        "cluster_size",
        {"details_samples": [(0.75, True), (0.75, False), (1.0, True)]},
    ),
    "hle/judged_hle_tiny.json": (
        "hle",
        "verbal",
        {"tiny": [(0.95, True), (0.8, False), (1.0, False), (0.3, True)]},
    ),
    "promptfoo/capitals.jsonl": (
        "promptfoo",
        "logit_path",
        {
            "fake:sure": [
                ((math.exp(-0.0625) + math.exp(-0.125)) / 2, True),
                (math.exp(-0.25), True),
                ((math.exp(-1.5) + math.exp(-0.75)) / 2, False),
            ],
            "fake:unsure": [(math.exp(-1.0), False), (math.exp(-0.5), True)],
        },
    ),
    "wandb/answers.table.json": (
        "table",
        "given",
        {"answers.table": [(0.9, True), (0.75, True), (0.625, False)]},
    ),
    "mlflow/answers.json": ("table", "given", {"answers": [(0.9, True), (0.75, True), (0.625, False)]}),
}
"""File → its format, a method, and the pairs of each run, worked out by hand."""

UNSURE: Final[dict[str, tuple[str, str, list[bool]]]] = {
    "every_eval_ever/made-up_samples.jsonl": (
        "every_eval_ever",
        "made-up/tiny · capitals",
        [True, False, True],
    ),
    "deepeval/latest_test_run.json": ("deepeval", "tiny", [True, True, False]),
    "openai_evals/capitals.jsonl": ("openai_evals", "tiny · capitals.dev.v0", [True, True, False]),
}
"""File without any confidence → its format, its run, and the outcomes."""


def read(name: str, **options: Any) -> Reading:
    path = FIXTURES / name
    return readers.read_in_this_process(path, file=path.name, **options)


def pairs(reading: Reading, method: str) -> dict[str, Pairs]:
    """Run → its pairs."""
    found: dict[str, Pairs] = {}
    for run in answer_runs(reading.runs(skip_bad_rows=False)):
        given = METHODS[method].confidences(run, MethodOptions()).pairs
        found[run.label] = list(zip(given.confidence.tolist(), given.correct.tolist(), strict=True))
    return found


@pytest.mark.parametrize("name", READ)
def test_a_file_of_the_tool_is_read_as_it_is(name: str) -> None:
    format_, method, expected = READ[name]
    reading = read(name)
    assert reading.format == format_
    found = pairs(reading, method)
    assert found.keys() == expected.keys()
    for run, rows in expected.items():
        assert [right for _, right in found[run]] == [right for _, right in rows]
        assert [value for value, _ in found[run]] == pytest.approx([value for value, _ in rows], abs=1e-12)


@pytest.mark.parametrize("name", [name for name in READ if name.startswith("lighteval/")])
def test_details_of_lighteval_saved_by_datasets_are_the_same(name: str, read_text: ReadText) -> None:
    """The library `datasets` saves what it loads as an Arrow stream."""
    format_, method, expected = READ[name]
    table = pq.read_table(FIXTURES / name)
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    reading = read_text(stream.getvalue(), "data-00000-of-00001.arrow")
    assert reading.format == format_
    (found,), (rows,) = pairs(reading, method).values(), expected.values()
    assert found == pairs(read(name), method).popitem()[1]
    assert len(found) == len(rows)


@pytest.mark.parametrize("name", UNSURE)
def test_a_file_without_confidence_says_what_is_missing(name: str) -> None:
    format_, label, outcomes = UNSURE[name]
    report = check_file(reading := read(name))
    (run,) = answer_runs(reading.good_runs)
    assert (report.format, report.status, run.label) == (format_, "refused", label)
    assert run.rows["correct"].to_list() == outcomes
    assert "- no column confidence: one number from 0 to 1 per question is needed" in report.message


@pytest.mark.parametrize("name", [*READ, *UNSURE])
def test_no_other_format_recognises_the_file(name: str) -> None:
    format_ = {**READ, **UNSURE}[name][0]
    head = read_head(FIXTURES / name, name)
    recognising = [
        one.id for one in readers.FORMATS.values() if head.kind in one.kinds and one.recognises(head)
    ]
    assert [id_ for id_ in recognising if id_ != "table"] == [id_ for id_ in [format_] if id_ != "table"]


def test_every_preset_has_a_file() -> None:
    of_judges = {"label_studio"}  # in test_judge_presets.py
    read_here = {one[0] for one in (*READ.values(), *UNSURE.values())} - {"table"}
    assert {preset.id for preset in PRESETS} == read_here | of_judges


# --- One column, or the users' own words ------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.id)
def test_a_table_with_one_of_the_columns_is_a_table(preset: Preset, read_text: ReadText) -> None:
    for path in (path for signature in preset.signatures for path in signature):
        rows = [{"confidence": 0.5, "correct": 1}, {"confidence": 0.25, "correct": 0}]
        content = "\n".join(json.dumps({**row, **nested(path)}) for row in rows)
        assert read_text(content, "quiz.jsonl").format == "table"


def nested(path: str) -> dict[str, Any]:
    """An object with a value at this path."""
    key, _, rest = path.partition(".")
    return {key: nested(rest) if rest else "x"}


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.id)
def test_a_table_written_for_calib_stays_a_table(preset: Preset, read_text: ReadText) -> None:
    for signature in preset.signatures:
        row: dict[str, Any] = {"confidence": 0.5, "correct": 1}
        for path in sorted(signature):
            key, _, rest = path.partition(".")
            row[key] = {**row.get(key, {}), **nested(rest)} if rest else "x"
        assert read_text("\n".join([json.dumps(row)] * 2), "quiz.jsonl").format == "table"


def test_the_users_mapping_wins() -> None:
    told = {"score": "correct", "latencyMs": "temperature", "vars.country": "subject"}
    (first, _) = answer_runs(read("promptfoo/capitals.jsonl", options=options(told)).good_runs)
    assert first.rows["subject"].to_list() == ["France", "Peru", "Chad"]
    reading = read("promptfoo/capitals.jsonl", options=options(told))
    assert reading.column_roles["score"] == "correct"
    assert "success" not in reading.column_roles
    with pytest.raises(Refused, match=r"no column 'vars\.town'"):
        read("promptfoo/capitals.jsonl", options=options({"vars.town": "subject"}))


def options(columns: Mapping[str, str]) -> readers.ReadOptions:
    return readers.ReadOptions(columns=columns)


def test_a_parquet_file_takes_the_users_mapping_too() -> None:
    reading = read(
        "lighteval/details_mmlu_0.13.parquet", options=options({"metric.acc": "correct", "doc.id": ""})
    )
    (run,) = answer_runs(reading.good_runs)
    assert run.rows["correct"].to_list() == [True, True, False, True]
    assert "id" not in reading.column_roles.values()


def test_a_format_that_is_forced_on_another_file_is_refused(read_text: ReadText, tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text("id,confidence,correct\na,0.5,1\n")
    for preset in PRESETS:
        with pytest.raises(Refused, match="none of its records is an answer"):
            preset.read(read_head(path, "quiz.csv"), AS_IT_LIES, ignore_progress)
        told = rf"^quiz.csv cannot be read as {re.escape(preset.title)}: .*, found text such as CSV\. "
        with pytest.raises(Refused, match=told):
            read_text("id,confidence,correct\na,0.5,1\n", format=preset.id)


# --- What is odd in the files of some tools ---------------------------------------------------------------


def test_a_promptfoo_file_of_one_object_holds_the_same_rows(read_text: ReadText) -> None:
    lines = (FIXTURES / "promptfoo/capitals.jsonl").read_text(encoding="utf-8").splitlines()
    whole = {"evalId": "x", "results": {"version": 3, "results": [*map(json.loads, lines)], "stats": {}}}
    for indent in (None, 2):
        reading = read_text(json.dumps(whole, indent=indent), "out.json")
        assert (reading.format, pairs(reading, "logit_path")) == (
            "promptfoo",
            pairs(read("promptfoo/capitals.jsonl"), "logit_path"),
        )


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", ["promptfoo/capitals.jsonl", "every_eval_ever/made-up_samples.jsonl"])
def test_a_single_record_is_a_row(name: str, indent: int | None, read_text: ReadText) -> None:
    first = json.loads((FIXTURES / name).read_text(encoding="utf-8").splitlines()[0])
    (run,) = answer_runs(read_text(json.dumps(first, indent=indent), "one.json").good_runs)
    assert run.rows["correct"].to_list() == [True]


def test_a_judged_file_of_one_question_is_one_row(read_text: ReadText) -> None:
    """Humanity's Last Exam keeps its answers by id, and a single one is no table for any other file."""
    all_rows = json.loads((FIXTURES / "hle/judged_hle_tiny.json").read_text(encoding="utf-8"))
    for indent in (None, 4):
        reading = read_text(json.dumps({"66e8a2": all_rows["66e8a2"]}, indent=indent), "one.json")
        (run,) = answer_runs(reading.good_runs)
        assert reading.format == "hle"
        assert run.rows.select("id", "verbal_confidence", "correct").rows() == [("66e8a2", 0.8, False)]


def test_a_request_that_failed_has_no_outcome_in_promptfoo() -> None:
    _, unsure = answer_runs(read("promptfoo/capitals.jsonl").good_runs)
    assert unsure.rows["correct"].to_list() == [False, True, None]


def test_deepevals_saved_run_is_read_as_the_latest_one(read_text: ReadText) -> None:
    latest = json.loads((FIXTURES / "deepeval/latest_test_run.json").read_text(encoding="utf-8"))
    (run,) = answer_runs(read_text(json.dumps(latest["testRunData"]), "test_run.json").good_runs)
    assert run.rows["correct"].to_list() == [True, True, False]


def test_rows_of_openai_evals_are_the_judged_answers(read_text: ReadText) -> None:
    reading = read("openai_evals/capitals.jsonl")
    assert reading.n_rows == 3
    text = (FIXTURES / "openai_evals/capitals.jsonl").read_text(encoding="utf-8")
    unjudged = "\n".join(line for line in text.splitlines() if '"match"' not in line)
    doubled = text + json.dumps({"sample_id": "x", "type": "metrics", "data": {"correct": True}})
    assert read_text(doubled, "log.jsonl").n_rows == 3
    with pytest.raises(Refused, match="recognised as a log of OpenAI evals, but none of its records"):
        read_text(unjudged, "log.jsonl")
    broken = text.replace(
        '"type": "match", "data": {"correct": false', '"type": "match", "data": {"correct": 0.5'
    )
    (problem,) = read_text(broken, "log.jsonl").problems
    assert (problem.first_cells[0].line, problem.first_cells[0].column) == (8, "data.correct")


def test_the_perplexity_of_a_token_alone_is_no_probability(read_text: ReadText) -> None:
    """Older versions store no BPB: the mean loss of a token does not say how long the question is."""
    rows = json.loads((FIXTURES / "opencompass/ppl.json").read_text(encoding="utf-8"))
    for row in rows.values():
        for key in ("label: A", "label: B"):
            del row[key]["BPB"]
    report = check_file(read_text(json.dumps(rows), "ppl.json"))
    assert (report.format, report.status) == ("opencompass", "refused")
    assert report.runs[0].accuracy == pytest.approx(2 / 3)


def test_labels_of_opencompass_may_stand_in_any_order(read_text: ReadText) -> None:
    """A letter is looked up among the labels, and no label is taken for the text that was scored."""
    row = {
        "in-context examples": "",
        "label: B": {"Loglikelihood": -1.0},
        "label: A": {"Loglikelihood": -3.0},
        "prediction": "B",
    }
    rows = {str(at): row | {"gold": gold} for at, gold in enumerate("BA")}
    reading = read_text(json.dumps(rows), "ll.json")
    assert pairs(reading, "choice_softmax") == {
        "ll": [(pytest.approx(1 / (1 + math.exp(-2))), right) for right in (True, False)]
    }
    (run,) = check_file(reading).runs
    assert run.accuracy == pytest.approx(1 / 2)
    assert "choice_length_normalised" not in run.usable


def test_a_path_that_the_file_lacks_is_not_listed(read_text: ReadText) -> None:
    text = (FIXTURES / "promptfoo/capitals.jsonl").read_text(encoding="utf-8")
    assert "response.logProbs" in read_text(text).columns
    reading = read_text(text.replace('"logProbs"', '"other"'))
    assert "response.logProbs" not in (*reading.columns, *reading.column_roles)


def test_conditional_probabilities_of_opencompass_are_those_of_its_choices(read_text: ReadText) -> None:
    rows = {
        str(at): {
            "in-context examples": "",
            "testing input": "made up",
            "prompt": "made up",
            "choices": ["A", "B"],
            "prediction": [0.25, 0.75],
            "pred_label": 1,
            "gold": gold,
        }
        for at, gold in enumerate((1, 0))
    }
    reading = read_text(json.dumps(rows), "clp.json")
    assert pairs(reading, "choice_softmax") == {"clp": [(0.75, True), (0.75, False)]}


def as_parquet(rows: list[dict[str, Any]]) -> bytes:
    target = io.BytesIO()
    pl.DataFrame(rows).write_parquet(target)
    return target.getvalue()


def lighteval_row(gold: object, **response: object) -> dict[str, Any]:
    return {
        "doc": {"query": "made up", "choices": ["2", "0", "1"], "gold_index": gold},
        "model_response": {"logprobs": [-1.0, -2.0, -3.0], "text": [], **response},
    }


@pytest.mark.parametrize("write", [as_parquet, json.dumps], ids=["Parquet", "JSON"])
def test_lightevals_gold_is_a_position(write: Callable[[Any], str | bytes], read_text: ReadText) -> None:
    """Also where the choices are numbers, and where several are right."""
    (run,) = answer_runs(read_text(write([lighteval_row([0]), lighteval_row([1])]), "details").good_runs)
    assert run.rows["gold_index"].to_list() == [0, 1]
    (run,) = answer_runs(
        read_text(write([lighteval_row([0, 2]), lighteval_row([1, 2])]), "details").good_runs
    )
    assert run.rows["gold_all"].to_list() == [["2", "1"], ["0", "1"]]
    assert run.rows["gold_index"].null_count() == 2
    (run,) = answer_runs(read_text(write([lighteval_row([0]), lighteval_row([])]), "details").good_runs)
    assert run.rows["gold_index"].to_list() == [0, None]


def test_texts_of_an_older_lighteval_are_samples(read_text: ReadText) -> None:
    row = {
        "full_prompt": "made up",
        "num_effective_few_shots": 0,
        "gold_index": [],
        "choices": [],
        "predictions": ["4", "4", "5"],
        "gold": ["4"],
    }
    literal = {key: str(value) for key, value in row.items()}
    for content in (json.dumps([row, row]), as_parquet([literal, literal])):
        reading = read_text(content, "details")
        assert reading.format == "lighteval"
        (rows,) = pairs(reading, "cluster_size").values()
        assert rows == [(pytest.approx(2 / 3), True)] * 2


SPOILT_KEYS: Final = ("judge_response", "prediction", "data", "provider", "label: A", "evaluation", "success")


@pytest.mark.parametrize("value", [None, 3, [], {}, [[]], [{"a": 1}], "[" * 5_000, 1e400])
def test_any_value_at_the_paths_leads_to_a_reading_or_a_message(value: object, read_text: ReadText) -> None:
    for name in (name for name in (*READ, *UNSURE) if name.endswith((".json", ".jsonl"))):
        text = (FIXTURES / name).read_text(encoding="utf-8")
        lines = [text] if name.endswith(".json") else text.splitlines()
        for key in (key for key in SPOILT_KEYS if f'"{key}"' in text):

            def spoil(found: dict[str, Any], key: str = key) -> dict[str, Any]:
                return found | {key: value} if key in found else found

            spoilt = [json.dumps(json.loads(line, object_hook=spoil)) for line in lines]
            try:
                report = check_file(read_text("\n".join(spoilt), "spoilt.json"))
            except Refused as refused:
                assert "spoilt.json" in str(refused)  # noqa: PT017  some are read, some are refused
            else:
                assert report.n_rows > 0 or "holds rows in several places" in report.message
