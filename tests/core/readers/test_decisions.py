"""Every shape of a decision server's response gives the numbers that were worked out from it by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from calib_core.edges import Scheme
from calib_core.errors import BadRowsFound, Refused, Unavailable
from calib_core.metrics import METRICS
from calib_core.readers import Reading, ReadOptions, read_in_this_process
from calib_core.readers.merged_runs import merge_runs
from calib_core.results.evidence import AnswerEvidence, gather_evidence, survey_methods
from calib_core.results.score import score
from calib_core.runs import AnswerRun, Run
from core.cli_calls import Call
from fixture_files import FIXTURES

SHAPES = sorted(path.name for path in (FIXTURES / "decisions").iterdir() if path.is_dir())


def reading_of(path: Path, gold: Path | None = None, **options: Any) -> Reading:
    return read_in_this_process(path, file=path.name, gold=gold, options=ReadOptions(**options))


def runs_of(reading: Reading) -> dict[str, AnswerRun]:
    """Question → its run."""
    runs = [run for run in reading.runs(skip_bad_rows=False) if isinstance(run, AnswerRun)]
    return {str(run.info.dataset): run for run in runs}


def shape(name: str) -> tuple[Reading, dict[str, Any]]:
    folder = FIXTURES / "decisions" / name
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    return reading_of(folder / "responses.jsonl", folder / "gold.csv"), expected


def value(run: Run, method: str, metric: str) -> float:
    found = score(gather_evidence(run, method), metric).value
    assert found is not None
    return found


def top_label_numbers(run: Run) -> dict[str, float]:
    evidence = gather_evidence(run, "choice")
    assert isinstance(evidence, AnswerEvidence)
    names = {"accuracy": "accuracy", "ece": "ece", "brier_top": "brier", "brier_all": "brier_multi"}
    numbers = {name: value(run, "choice", metric) for name, metric in names.items()}
    return {"n": evidence.n_used, "mean_top": evidence.mean_confidence or 0.0, **numbers}


def as_expected(found: dict[str, float], expected: dict[str, float]) -> bool:
    return all(math.isclose(found[name], expected[name], rel_tol=0, abs_tol=1e-9) for name in found)


@pytest.mark.parametrize("name", SHAPES)
def test_every_question_has_its_numbers(name: str) -> None:
    reading, expected = shape(name)
    assert reading.format == "decisions"
    runs = runs_of(reading)
    assert runs.keys() == expected["by_question"].keys()
    for question, numbers in expected["by_question"].items():
        assert as_expected(top_label_numbers(runs[question]), numbers), question
    assert math.isclose(value(runs["refund"], "event", "ece"), expected["p_true_ece"], abs_tol=1e-9)


@pytest.mark.parametrize("name", SHAPES)
def test_a_scale_has_its_score_its_error_and_a_calibration_for_each_cut(name: str) -> None:
    reading, expected = shape(name)
    run, numbers = runs_of(reading)["mood"], expected["by_question"]["mood"]
    assert math.isclose(value(run, "choice", "rps"), numbers["rps"], abs_tol=1e-9)
    assert math.isclose(value(run, "choice", "expectation_error"), numbers["mean_abs_error"], abs_tol=1e-9)
    cuts = {cut: value(run, f"at_least.{cut}", "ece") for cut in numbers["ece_at_least"]}
    assert as_expected(cuts, numbers["ece_at_least"])
    usable = survey_methods(run).usable
    assert list(usable) == ["choice", "at_least.1", "at_least.2", "at_least.3"]


@pytest.mark.parametrize("name", SHAPES)
def test_all_questions_together_have_the_pooled_numbers_and_are_resampled_by_request(name: str) -> None:
    reading, expected = shape(name)
    (run,) = merge_runs(runs_of(reading).values(), with_tables=True)
    assert as_expected(top_label_numbers(run), expected["pooled"])
    evidence = gather_evidence(run, "choice")
    assert isinstance(evidence, AnswerEvidence)
    assert evidence.cluster is not None
    assert int(evidence.cluster.max()) + 1 <= expected["rows"]
    n_missing = sum(evidence.missing.values())
    assert evidence.n_used + n_missing == expected["answers"] + expected["not_answered"]


# --- What is refused, and what is counted -------------------------------------------------------------------


def write(folder: Path, *responses: object, name: str = "responses.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(one) + "\n" for one in responses), "utf-8")
    return path


def choice(probs: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "choice", "probabilities": probs, **fields}


def response(id_: str, **answers: Any) -> dict[str, Any]:
    return {"custom_id": id_, "model": "m", "answers": answers}


def gold_of(folder: Path, *lines: str) -> Path:
    path = folder / "gold.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


GOOD = {"a": 0.6, "b": 0.4}


@pytest.mark.parametrize(
    ("answer", "column", "found"),
    [
        (choice({"a": 1.2, "b": 0.0}), "answers.team.probabilities.a", "1.2"),
        (choice({"a": None, "b": 1.0}), "answers.team.probabilities.a", "null"),
        (choice({"a": "0.6", "b": 0.4}), "answers.team.probabilities.a", "0.6"),
        (choice({"a": 0.6, "b": 0.3}), "answers.team.probabilities", "0.9"),
        (
            {"type": "choice", "choice": "a", "confidence": 0.8},
            "answers.team.probabilities",
            "only a confidence",
        ),
        ({"type": "noul", "confidence": 0.8}, "answers.team", "only a confidence"),
        ({"type": "noul", "noul": 1.5}, "answers.team.noul", "1.5"),
        ({"type": "score", "probabilities": {"0": 0.5, "2": 0.5}}, "answers.team.probabilities", "[0, 2]"),
    ],
)
def test_what_is_no_distribution_names_line_and_question(
    tmp_path: Path, answer: dict[str, Any], column: str, found: str
) -> None:
    path = write(tmp_path, response("1", team=choice(GOOD)), response("2", team=answer))
    reading = reading_of(path, gold_of(tmp_path, "custom_id,question,answer", "1,team,a"))
    (problem,) = reading.problems
    (cell,) = problem.first_cells
    assert (cell.row, cell.line, cell.column) == (2, 2, column)
    assert found in cell.found
    with pytest.raises(BadRowsFound):
        reading.runs(skip_bad_rows=False)
    assert [run.n_total for run in reading.runs(skip_bad_rows=True)] == [2]


@pytest.mark.parametrize(
    ("gold", "column", "found"),
    [
        ("1,team,c", "team in gold.csv, row 1", "c"),
        ("1,spam,perhaps", "spam in gold.csv, row 1", "perhaps"),
        ("1,mood,3", "mood in gold.csv, row 1", "3"),
        ("7,team,a", "team in gold.csv, row 1", "7, team"),
        ("1,mod,0", "mod in gold.csv, row 1", "1, mod"),
    ],
)
def test_gold_that_is_no_option_or_meets_no_answer_is_told(
    tmp_path: Path, gold: str, column: str, found: str
) -> None:
    mood = {"type": "score", "probabilities": {"0": 0.3, "1": 0.7}, "legend": {"0": "calm", "1": "tense"}}
    path = write(tmp_path, response("1", team=choice(GOOD), spam={"type": "noul", "noul": 0.2}, mood=mood))
    reading = reading_of(path, gold_of(tmp_path, "custom_id,question,answer", gold))
    cells = [cell for problem in reading.problems for cell in problem.first_cells]
    assert [(cell.column, cell.found) for cell in cells] == [(column, found)]


def test_one_question_is_answered_once_for_each_id(tmp_path: Path) -> None:
    gold = gold_of(tmp_path, "custom_id,question,answer", "1,team,a", "2,team,a")
    once = response("1", team=choice(GOOD))
    reading = reading_of(write(tmp_path, once, response("2", team=choice(GOOD)), once), gold)
    assert [problem.kind for problem in reading.problems] == ["repeated id"]
    twice = {"custom_id": "1", "answers": [{"name": "team", **choice(GOOD)}] * 2}
    reading = reading_of(write(tmp_path, twice, response("2", team=choice(GOOD))), gold)
    assert [problem.kind for problem in reading.problems] == ["repeated question"]


def test_contradicting_gold_and_gold_of_other_questions_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, response("1", team=choice(GOOD)))
    with pytest.raises(Refused, match="row 2: 'team' of '1' has another answer"):
        reading_of(path, gold_of(tmp_path, "custom_id,question,answer", "1,team,a", "1,team,b"))
    with pytest.raises(Refused, match="one column for each question: 'team'"):
        reading_of(path, gold_of(tmp_path, "custom_id,colour", "1,red"))


def test_what_has_no_distribution_is_counted_by_its_reason(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        response("1", team=choice(GOOD), place={"type": "box", "box": [0, 0, 1, 1]}),
        response("2", team={"type": "refusal"}),
        {"custom_id": "3", "response": None, "error": {"code": "expired"}},
        {"custom_id": "4", "response": {"prompt_feedback": {"block_reason": "safety"}}},
        response("5", other=choice(GOOD)),
        response("6", team={"type": "hunch", "p": 0.5}),
    )
    lines = ["custom_id,team,other", *(f"{id_},a," for id_ in "123456"), "5,,b"]
    reading = reading_of(path, gold_of(tmp_path, *lines[:5], "5,a,b", "6,a,"))
    run = runs_of(reading)["team"]
    missing = survey_methods(run).usable["choice"].missing
    kinds = ("blocked", "error", "missing", "refused", "unknown type")
    assert missing == {f"status: {kind}": 1 for kind in kinds}
    (note,) = [note for note in reading.notes if note.startswith("Questions without a distribution")]
    for text in (
        "1 of a failed request",
        "1 blocked",
        "1 refused",
        "1 missing",
        "1 a box",
        "1 of an unknown type",
    ):
        assert text in note


def test_without_gold_the_table_is_asked_for(tmp_path: Path) -> None:
    reading = reading_of(write(tmp_path, response("t-1", team=choice(GOOD, confidence=0.2))))
    assert reading.needs_gold
    assert "custom_id t-1" in (reading.refusal or "")
    assert not reading.candidates


# --- Shapes beyond the recorded ones ------------------------------------------------------------------------


def test_options_keep_their_json_type(tmp_path: Path) -> None:
    listed = [
        {"value": True, "probability": 0.5},
        {"value": "true", "probability": 0.3},
        {"value": "no", "probability": 0.2},
    ]
    path = write(
        tmp_path, {"custom_id": "1", "answers": [{"type": "choice", "name": "ok", "probabilities": listed}]}
    )
    golds = write(tmp_path, {"custom_id": "1", "question": "ok", "answer": True}, name="gold.jsonl")
    run = runs_of(reading_of(path, golds))["ok"]
    assert run.rows["choices"].to_list() == [["true", '"true"', "no"]]
    assert run.rows["gold_index"].to_list() == [0]


def test_answers_without_a_name_are_those_of_the_request_in_order(tmp_path: Path) -> None:
    answers = [
        {"type": "predicate", "name": None, "probability": 0.2},
        {"type": "predicate", "probability": 0.7},
    ]
    request = {"questions": [{"type": "predicate", "name": "spam"}, {"type": "predicate", "name": "urgent"}]}
    path = write(
        tmp_path, {"custom_id": "1", "request": request, "response": {"model": "m", "answers": answers}}
    )
    runs = runs_of(reading_of(path, gold_of(tmp_path, "custom_id,spam,urgent", "1,no,yes")))
    found = {name: run.rows["event_prob"].to_list() for name, run in runs.items()}
    assert found == {"spam": [0.2], "urgent": [0.7]}
    path = write(tmp_path, {"custom_id": "1", "response": {"model": "m", "answers": answers}})
    assert runs_of(reading_of(path, gold_of(tmp_path, "custom_id,#1", "1,no"))).keys() == {"#1", "#2"}


@pytest.mark.parametrize(
    "record",
    [
        {
            "custom_id": "1",
            "output": json.dumps({"model": "m", "answers": [{"name": "team", **choice(GOOD)}]}),
        },
        {"custom_id": "1", "body": {"model": "m", "answers": {"team": choice(GOOD)}}},
        {
            "custom_id": "1",
            "model": "m",
            "response": [
                {
                    "id": "team",
                    "label": "a",
                    "probabilities": [{"label": k, "probability": p} for k, p in GOOD.items()],
                }
            ],
        },
        {"state_hash": "1", "model": "m", "question": "team", "answer": choice(GOOD), "gold": "b"},
        {"case_id": "1", "model": "m", "answers": {"team": choice(GOOD)}, "expect": {"team": "b"}},
    ],
)
def test_other_envelopes_hold_the_same_answer(tmp_path: Path, record: dict[str, Any]) -> None:
    has_gold = record.keys() & {"gold", "expect"}
    gold = None if has_gold else gold_of(tmp_path, "custom_id,question,answer", "1,team,b")
    run = runs_of(reading_of(write(tmp_path, record), gold))["team"]
    columns = {name: run.rows[name].to_list() for name in ("id", "choices", "choice_probs", "gold")}
    assert columns == {"id": ["1"], "choices": [["a", "b"]], "choice_probs": [[0.6, 0.4]], "gold": ["b"]}
    assert run.info.model == "m"


PYTHON_RESULTS: dict[str, dict[str, Any]] = {
    "spam": {"value": True, "probability_true": 0.2, "confidence": 0.6},
    "team": {"selected_key": "b", "probabilities": GOOD, "confidence": 0.2, "prediction_set": ["a", "b"]},
    "mood": {"expected_score": 0.9, "probabilities": [0.3, 0.5, 0.2], "confidence": 0.1, "selected_key": "1"},
}
"""`BooleanResult`, `ChoiceResult` and `ScoreResult` of MediaPipe as `dataclasses.asdict` gives them."""


@pytest.mark.parametrize(
    "record", [{"response": PYTHON_RESULTS}, {"answers": PYTHON_RESULTS}, PYTHON_RESULTS]
)
def test_results_of_mediapipe_in_python_are_read(record: dict[str, Any], tmp_path: Path) -> None:
    """The value of a yes-or-no question is p above a threshold that was set, and no top label."""
    path = write(tmp_path, {"custom_id": "1", **record})
    runs = runs_of(reading_of(path, gold_of(tmp_path, "custom_id,spam,team,mood", "1,no,b,2")))
    assert runs["spam"].rows.select("event_prob", "event").rows() == [(0.2, False)]
    assert runs["team"].rows["choice_probs"].to_list() == [[0.6, 0.4]]
    assert runs["team"].rows["prediction"].to_list() == ["b"]
    assert runs["mood"].info.choices_are == "levels"
    assert runs["mood"].rows.select("choice_probs", "gold_index").rows() == [([0.3, 0.5, 0.2], 2)]
    assert {one["server_confidence"].item() for one in (run.rows for run in runs.values())} == {0.6, 0.2, 0.1}


def test_levels_in_another_order_than_the_expected_score_says_are_bad(tmp_path: Path) -> None:
    mood = {**PYTHON_RESULTS["mood"], "expected_score": 1.1}
    path = write(
        tmp_path,
        *(
            {"custom_id": id_, "response": {"mood": one}}
            for id_, one in (("1", PYTHON_RESULTS["mood"]), ("2", mood))
        ),
    )
    reading = reading_of(path, gold_of(tmp_path, "custom_id,mood", "1,2"))
    (problem,) = reading.problems
    (cell,) = problem.first_cells
    assert (cell.row, cell.column) == (2, "response.answers.mood.expected_score")
    assert "Σ level · p, which is 0.9" in cell.expected


def test_a_level_is_named_by_its_number_or_its_label_and_a_scale_may_be_options(tmp_path: Path) -> None:
    mood = {
        "type": "score",
        "probabilities": {"1": 0.5, "0": 0.3, "2": 0.2},
        "legend": {"0": "calm", "1": "tense", "2": "cannot tell"},
    }
    path = write(tmp_path, *(response(id_, mood=mood) for id_ in "123"))
    gold = gold_of(tmp_path, "custom_id,question,answer", "1,mood,calm", "2,mood,1", "3,mood,2.0")
    run = runs_of(reading_of(path, gold))["mood"]
    assert run.rows["gold_index"].to_list() == [0, 1, 2]
    assert run.info.choices_are == "levels"
    run = runs_of(reading_of(path, gold, columns={"mood": "choice"}))["mood"]
    assert list(survey_methods(run).usable) == ["choice"]
    with pytest.raises(Unavailable, match="no order"):
        value(run, "choice", "rps")
    with pytest.raises(Refused, match="answers no question 'moood'"):
        reading_of(path, gold, columns={"moood": "choice"})


# --- A derived confidence is no probability -----------------------------------------------------------------


def derived_confidences(probs: list[float]) -> dict[str, float]:
    """What servers print as confidence, by formula."""
    k, top = len(probs), max(probs)
    mode, ordered = probs.index(top), sorted(probs, reverse=True)
    spread = sum(p * abs(i - mode) for i, p in enumerate(probs))
    uniform = sum(abs(i - mode) for i in range(k)) / k
    entropy = -sum(p * math.log(p) for p in probs if p)
    return {
        "above chance": (top - 1 / k) / (1 - 1 / k),
        "concentration": max(0.0, 1 - spread / uniform),
        "top": top,
        "top times mass": 0.97 * top,
        "entropy": 1 - entropy / math.log(k),
        "margin": ordered[0] - ordered[1],
        "margin to the top": (ordered[0] - ordered[1]) / top,
        "certainty": top**2,
    }


@pytest.mark.parametrize("k", [*range(2, 51)])
def test_no_derived_confidence_is_read_as_a_probability(k: int, tmp_path: Path) -> None:
    weights = [(3 * at + k) % 7 + 1 for at in range(k)]
    probs = [weight / sum(weights) for weight in weights]
    options = {f"o{at}": p for at, p in enumerate(probs)}
    levels = {str(at): p for at, p in enumerate(probs)}
    records = [
        response(
            str(number),
            team=choice(options, confidence=derived),
            mood={"type": "score", "probabilities": levels, "confidence": derived},
            spam={"type": "noul", "noul": probs[0], "confidence": derived},
        )
        for number, derived in enumerate(derived_confidences(probs).values())
    ]
    lines = [f"{number},o0,0,yes" for number in range(len(records))]
    reading = reading_of(write(tmp_path, *records), gold_of(tmp_path, "custom_id,team,mood,spam", *lines))
    assert not reading.candidates
    for name, run in runs_of(reading).items():
        usable = survey_methods(run).usable
        assert not {"given", "verbal"} & usable.keys()
        for evidence in usable.values():
            assert isinstance(evidence, AnswerEvidence)
            assert len(set(evidence.confidences.pairs.confidence.tolist())) == 1, name
        assert usable["choice"].mean_confidence == pytest.approx(
            max(probs[0], 1 - probs[0]) if name == "spam" else max(probs)
        )
    assert any("it is not a probability, and is read as a rank only" in note for note in reading.notes)


def all_numbers(run: AnswerRun) -> dict[tuple[str, str], object]:
    """Every metric of every method, and the verdicts."""
    found: dict[tuple[str, str], object] = {}
    for method, evidence in survey_methods(run).usable.items():
        found[method, "verdict"] = evidence.verdict
        for metric in METRICS:
            if not evidence.unavailable_reason(METRICS[metric], Scheme()):
                found[method, metric] = score(evidence, metric)
    return found


@pytest.mark.parametrize("question", ["refund", "team", "mood"])
def test_a_derived_confidence_moves_the_auroc_of_its_order_and_no_other_number(question: str) -> None:
    reading, _ = shape("gemini")
    run = runs_of(reading)[question]
    assert run.has_columns("server_confidence")
    shuffled = pl.Series(np.random.default_rng(1).random(run.rows.height))
    other, none = (
        replace(run, rows=run.rows.with_columns(server_confidence=values))
        for values in (shuffled, pl.lit(None, pl.Float64))
    )
    numbers, of_none = all_numbers(run), all_numbers(none)
    of_ranks = ("choice", "server_auroc")
    assert set(numbers) - set(of_none) == {of_ranks}
    assert {key: value for key, value in numbers.items() if key != of_ranks} == of_none
    assert {key for key, value in all_numbers(other).items() if value != numbers[key]} == {of_ranks}


# --- Written out and read again -----------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_the_canonical_file_gives_the_same_numbers(tmp_path: Path, ending: str, call: Call) -> None:
    path = write(
        tmp_path,
        *(
            response(
                str(n),
                spam={"type": "noul", "noul": 0.25},
                team=choice({"a": 0.33, "b": 0.33, "c": 0.33}),
                mood={"type": "score", "probabilities": {"0": 0.2, "1": 0.5, "2": 0.3}},
            )
            for n in range(30)
        ),
    )
    gold = gold_of(
        tmp_path, "custom_id,team,mood,spam", *(f"{n},{'abc'[n % 3]},{n % 3},{n % 2}" for n in range(30))
    )
    written = tmp_path / f"same.answers.{ending}"
    assert call("convert", path, "--gold", gold, "-o", written).code == 0
    before, after = runs_of(reading_of(path, gold)), runs_of(reading_of(written))
    assert before.keys() == after.keys()
    for name, run in before.items():
        assert survey_methods(run).usable.keys() == survey_methods(after[name]).usable.keys()
        assert top_label_numbers(run) == top_label_numbers(after[name])
    assert value(after["mood"], "choice", "rps") == value(before["mood"], "choice", "rps")
    assert len(merge_runs(after.values(), with_tables=True)) == 1


# --- What tools keep of decisions -------------------------------------------------------------------------


def recorded(rows: list[dict[str, Any]], tmp_path: Path) -> dict[str, AnswerRun]:
    path = tmp_path / "recorded.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    reading = reading_of(path)
    assert (reading.format, reading.n_bad_rows) == ("decisions", 0)
    return runs_of(reading)


CHOICE: dict[str, Any] = {
    "type": "choice",
    "choice": "sales",
    "confidence": 0.25,
    "probabilities": {"sales": 0.5, "help": 0.3, "other": 0.2},
}


@pytest.mark.parametrize("noul", [{"type": "noul", "noul": 0.2}, {"type": "boolean", "probability": 0.2}])
def test_a_log_of_jevcal_is_read_by_its_raw_response_and_outcomes(
    noul: dict[str, Any], tmp_path: Path
) -> None:
    """Its `probability` of a choice is the derived confidence; outcomes are lines of their own."""
    fields = {
        "team": {"value": "sales", "probability": 0.25, "raw": {"kind": "native", "probability": 0.25}},
        "spam": {"value": False, "probability": 0.2, "raw": {"kind": "native", "probability": 0.2}},
    }
    raw = {"model": "jev", "answers": {"team": CHOICE, "spam": noul}}
    lines: list[dict[str, Any]] = []
    for id_ in ("r1", "r2"):
        result = {"requestId": id_, "decisionName": "d", "backendId": "jev", "fields": fields, "raw": raw}
        lines.append({"kind": "decision", "result": result, "input": {"input": "…"}})
    for field, right in (("team", "help"), ("spam", True)):
        lines.append(
            {"kind": "outcome", "requestId": "r1", "outcome": {"field": field, "actualValue": right}}
        )
    runs = recorded(lines, tmp_path)
    assert runs["team"].rows.select("id", "gold").rows() == [("r1", "help"), ("r2", None)]
    assert runs["team"].rows["choice_probs"].to_list() == [[0.5, 0.3, 0.2]] * 2
    assert runs["spam"].rows.select("event_prob", "event").rows() == [(0.2, True), (0.2, None)]


def test_a_score_breakdown_of_deepeval_has_levels_without_an_order(tmp_path: Path) -> None:
    """As `QuestionOutcome` of deepeval 4.3.1 says it; levels stand there by their texts."""
    outcomes = [
        {"question": "Polite?", "type": "noul", "value": 0.2, "probabilities": {"true": 0.2, "false": 0.8}},
        {"question": "Tone", "type": "score", "value": 0.55, "probabilities": {"calm": 0.3, "tense": 0.7}},
        {"question": "Team", **CHOICE, "value": 0.5},
    ]
    gold = {"Polite?": "no", "Tone": "tense", "Team": "other"}
    runs = recorded([{"score_breakdown": outcomes, "gold": gold}] * 2, tmp_path)
    assert runs["Polite?"].rows["event_prob"].to_list() == [0.2, 0.2]
    assert runs["Tone"].info.choices_are == "options"
    assert runs["Tone"].rows["choice_probs"].to_list() == [[0.3, 0.7]] * 2
    assert runs["Team"].rows["gold"].to_list() == ["other"] * 2


@pytest.mark.parametrize("indent", [None, 2])
def test_results_of_promptfoo_hold_responses_as_text_on_one_line_or_many(
    indent: int | None, tmp_path: Path
) -> None:
    answers = [{"type": "predicate", "name": "spam", "probability": 0.2}]
    output = json.dumps({"model": "g", "answers": answers})
    result = {"provider": {"id": "p"}, "prompt": {"raw": "q"}, "vars": {}, "success": True}
    results = [{**result, "response": {"output": output}, "gold": {"spam": right}} for right in (True, False)]
    path = tmp_path / "output.json"
    path.write_text(json.dumps({"results": {"version": 3, "results": results}}, indent=indent))
    reading = reading_of(path)
    assert reading.format == "decisions"
    assert runs_of(reading)["spam"].rows["event_prob"].to_list() == [0.2, 0.2]
