"""The verb `recalibrate`: stable names and shapes, the files it writes, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

import calib_core
from calib_core import readers
from calib_core.inference.recalibration import PENALTY
from calib_core.results.evidence import gather_evidence
from calib_core.results.recalibration import recalibrate
from calib_core.runs import AnswerRun
from core.cli_calls import Call, write
from core.token_run_builders import random_rows


@pytest.fixture
def quiz(tmp_path: Path) -> Path:
    """60 rows that say .9 and .6 and are right in two of three."""
    rows = "".join(f"q{at},{0.9 if at % 2 else 0.6},{int(at % 3 > 0)}\n" for at in range(60))
    return write(tmp_path, "quiz.csv", f"id,confidence,correct\n{rows}")


def test_element(call: Call, quiz: Path) -> None:
    answer = call("recalibrate", quiz, "--by", "isotonic", "--folds", "4", "--seed", "2", "--json")
    assert (answer.code, answer.err) == (0, "")
    element = answer.element
    (run,) = calib_core.load(quiz)
    result = recalibrate(gather_evidence(run, "given"), "isotonic", 4, 2)
    assert (element["file"], element["run"], element["method"], element["by"]) == (
        "quiz.csv",
        "quiz",
        "given",
        "isotonic",
    )
    assert (element["folds"], element["seed"]) == (4, 2)
    assert element["before"] == dict(result.before)
    assert element["after"] == dict(result.after)
    brier = result.differences["brier"]
    assert element["difference"]["brier"] == brier.value
    assert element["difference"]["interval"]["brier"] == [brier.low, brier.high]
    assert set(element["difference"]["interval"]) == {"ece", "brier", "nll"}
    assert element["parameters"] == {name: list(value) for name, value in result.map.parameters.items()}  # type: ignore[arg-type]
    assert (
        element["reading"] in call("recalibrate", quiz, "--by", "isotonic", "--folds", "4", "--seed", "2").out
    )


def test_a_map_is_written_and_applied(call: Call, quiz: Path, tmp_path: Path) -> None:
    written, python, rows = tmp_path / "map.json", tmp_path / "map.py", tmp_path / "rows.jsonl"
    answer = call("recalibrate", quiz, "-o", written, "--python", python, "--json")
    assert answer.code == 0
    assert json.loads(written.read_text())["parameters"] == answer.element["parameters"]
    assert python.read_text().startswith("# Platt, fitted to 60 rows")
    other = write(
        tmp_path,
        "other.jsonl",
        '{"id": "a", "confidence": 0.9, "correct": 1}\n{"id": "b", "confidence": 0.75, "correct": 0}\n'
        '{"id": "c", "confidence": null, "correct": 0}\n',
    )
    answer = call("recalibrate", other, "--apply", written, "-o", rows, "--json")
    assert (answer.code, answer.element["rows"], answer.element["n_total"]) == (0, 2, 3)
    assert "other, given: the map was fitted to another run or method, quiz, given." in answer.err
    assert answer.element["question"] in " ".join(answer.err.split())
    assert answer.element["column"] == "confidence.recalibrated"
    slope, intercept = json.loads(written.read_text())["parameters"].values()
    expected = [1 / (1 + np.exp(-(slope * np.log(c / (1 - c)) + intercept))) for c in (0.9, 0.75)]
    came, went = ([json.loads(line) for line in path.read_text().splitlines()] for path in (other, rows))
    new = [row.pop("confidence.recalibrated") for row in went]
    assert new[:2] == pytest.approx(expected)
    assert new[2] is None
    assert came == went
    (run,) = calib_core.load(rows)
    assert calib_core.score(run, method="given.recalibrated", metric="brier").value == pytest.approx(
        ((1 - expected[0]) ** 2 + expected[1] ** 2) / 2
    )


NOTES = 'Said "yes", then no\n(two lines)'


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".json", ".parquet"])
def test_the_rows_that_came_in_come_back_with_one_more_column(
    call: Call, quiz: Path, tmp_path: Path, ending: str
) -> None:
    written = tmp_path / "map.json"
    call("recalibrate", quiz, "-o", written)
    came = pl.DataFrame(
        {
            "note": [NOTES, None, "ü; |\t"],
            "ticket": [2**60 + 1, 7, 8],
            "confidence": [0.9, None, 0.75],
            "correct": [1, 0, None],
            "price": [0.1, 2.5, 1e-9],
        }
    )
    path, rows = tmp_path / f"service{ending}", tmp_path / f"out{ending}"
    match ending:
        case ".csv":
            path.write_text("\n" + came.write_csv())  # blank lines are no records
        case ".tsv":
            path.write_text(came.write_csv(separator="\t"))
        case ".jsonl":
            path.write_text(came.write_ndjson())
        case ".json":
            path.write_text(came.write_json())
        case _:
            came.write_parquet(path)
    assert call("recalibrate", path, "--apply", written, "-o", rows).code == 0
    match ending:
        case ".csv":
            went = pl.read_csv(rows)
        case ".tsv":
            went = pl.read_csv(rows, separator="\t")
        case ".jsonl":
            went = pl.read_ndjson(rows)
        case ".json":
            went = pl.read_json(rows)
        case _:
            went = pl.read_parquet(rows)
    assert went.columns == [*came.columns, "confidence.recalibrated"]
    assert went.drop("confidence.recalibrated").equals(came)
    fitted = calib_core.recalibrate(*calib_core.load(quiz)).map
    assert went["confidence.recalibrated"].to_list() == [fitted(0.9), None, fitted(0.75)]
    answer = call("recalibrate", rows, "--apply", written, "-o", tmp_path / f"twice{ending}")
    assert answer.code == 2
    assert "has a column 'confidence.recalibrated' already" in answer.err


@pytest.mark.parametrize(("note", "point"), [("x", ","), ("1.5", ".")])
def test_the_new_column_has_the_decimal_commas_of_the_file(
    note: str, point: str, call: Call, quiz: Path, tmp_path: Path
) -> None:
    written, rows = tmp_path / "map.json", tmp_path / "rows.csv"
    assert call("recalibrate", quiz, "-o", written).code == 0
    table = write(tmp_path, "table.csv", f"id;confidence;note\ns;0,9;{note}\nt;;\n")
    options = ("--map", "confidence=confidence:comma", "--apply", written)
    assert call("recalibrate", table, *options, "-o", rows).code == 0
    header, first, last = rows.read_text(encoding="utf-8").splitlines()
    value = calib_core.RecalibrationMap.from_json(written.read_text(encoding="utf-8"))(0.9)
    assert header == "id;confidence;note;confidence.recalibrated"
    assert first == f"s;0,9;{note};{str(float(value)).replace('.', point)}"
    assert last == "t;;;"


def test_rows_of_a_table_are_written_as_they_came_or_not_at_all(
    call: Call, quiz: Path, tmp_path: Path
) -> None:
    written = tmp_path / "map.json"
    call("recalibrate", quiz, "-o", written)
    answer = call("recalibrate", quiz, "--apply", written, "-o", tmp_path / "rows.parquet")
    assert (answer.code, ".csv, .tsv or .txt, as quiz.csv is written" in answer.err) == (2, True)
    again = write(tmp_path, "again.csv", quiz.read_text())
    answer = call("recalibrate", quiz, again, "--apply", written, "-o", tmp_path / "rows.csv")
    assert (answer.code, "name one file" in answer.err) == (2, True)
    two = write(
        tmp_path,
        "two.csv",
        "id,model,confidence,correct\n" + "".join(f"q{at},{'ab'[at % 2]},0.9,1\n" for at in range(4)),
    )
    rows = tmp_path / "one.csv"
    assert call("recalibrate", two, "--run", "a", "--apply", written, "-o", rows).code == 0
    assert pl.read_csv(rows)["confidence.recalibrated"].is_null().to_list() == [False, True, False, True]
    wide = write(tmp_path, "wide.csv", "id,a-p,a-ok,b-p,b-ok\n" + "q,0.9,1,0.8,0\n")
    mapping = ("--wide", "*-p=confidence", "--wide", "*-ok=correct")
    answer = call("recalibrate", wide, *mapping, "--apply", written, "-o", rows)
    assert (answer.code, "a row has several runs: name one --run" in answer.err) == (2, True)


def test_rows_of_another_format_are_written_in_the_own_one(call: Call, quiz: Path, tmp_path: Path) -> None:
    written, own, rows = tmp_path / "map.json", tmp_path / "own.parquet", tmp_path / "rows.jsonl"
    call("recalibrate", quiz, "-o", written)
    call("convert", quiz, "-o", own)
    assert call("recalibrate", own, "--apply", written, "-o", rows).code == 0
    (run,) = calib_core.load(rows)
    assert isinstance(run, AnswerRun)
    fitted = calib_core.recalibrate(*calib_core.load(quiz)).map
    column = run.rows["confidence.recalibrated"].to_numpy()
    assert np.array_equal(column, fitted(run.rows["confidence"].to_numpy()))
    assert run.rows["correct"].null_count() == 0
    assert any("given after platt recalibration" in note for note in readers.read(rows).notes)


def test_the_probability_of_an_event_is_recalibrated_with_or_without_outcomes(
    call: Call, tmp_path: Path
) -> None:
    judged = "".join(f"q{at},{0.9 if at % 2 else 0.6},{int(at % 3 > 0)}\n" for at in range(60))
    known = write(tmp_path, "known.csv", f"id,event_prob,event\n{judged}")
    written, rows = tmp_path / "map.json", tmp_path / "rows.csv"
    assert call("recalibrate", known, "--method", "event", "-o", written).code == 0
    service = write(tmp_path, "service.csv", "id,event_prob\nx,0.9\ny,0.2\n")
    assert call("recalibrate", service, "--apply", written, "-o", rows).code == 0
    fitted = calib_core.recalibrate(*calib_core.load(known))
    assert pl.read_csv(rows)["event_prob.recalibrated"].to_list() == fitted.map([0.9, 0.2]).tolist()
    (run,) = calib_core.load(known)
    assert isinstance(run, AnswerRun)
    applied = fitted.apply(run)
    assert applied.rows["event"].equals(run.rows["event"])
    assert applied.rows["event_prob"].to_list() == fitted.map(run.rows["event_prob"].to_numpy()).tolist()


def test_a_map_applied_to_its_own_rows_says_so(call: Call, quiz: Path, tmp_path: Path) -> None:
    written, rows = tmp_path / "map.json", tmp_path / "rows.csv"
    call("recalibrate", quiz, "-o", written)
    header, *lines = quiz.read_text().splitlines()
    for name, kept, is_own in (
        ("own", lines, True),
        ("turned", lines[::-1], True),
        ("others", [*lines[:-1], "q59,0.8,1"], False),
        ("fewer", lines[:-1], False),
    ):
        folder = tmp_path / name
        folder.mkdir()
        path = write(folder, "quiz.csv", "\n".join((header, *kept)) + "\n")
        answer = call("recalibrate", path, "--apply", written, "-o", rows, "--json")
        assert answer.code == 0
        assert ("quiz: the map was fitted to these rows" in answer.err) == is_own
        assert (answer.element["question"] is not None) == is_own
    document = json.loads(written.read_text())
    del document["rows_digest"]  # as an earlier version wrote it
    old = write(tmp_path, "old.json", json.dumps(document))
    assert call("recalibrate", quiz, "--apply", old, "-o", rows, "--json").element["question"] is None
    document["rows_digest"] = 7
    wrong = write(tmp_path, "wrong.json", json.dumps(document))
    assert "rows_digest: expected a text" in call("recalibrate", quiz, "--apply", wrong, "-o", rows).err


def test_a_map_is_applied_to_rows_of_a_service_that_have_no_outcome(
    call: Call, quiz: Path, tmp_path: Path
) -> None:
    written, rows = tmp_path / "map.json", tmp_path / "rows.csv"
    call("recalibrate", quiz, "-o", written)
    slope, intercept = json.loads(written.read_text())["parameters"].values()
    said = (0.9, 0.75, 0.5)
    expected = [1 / (1 + np.exp(-(slope * np.log(c / (1 - c)) + intercept))) for c in said]
    for outcomes in (("", "", ""), ("1", "", "0")):
        lines = "".join(f"s{at},{c},{y}\n" for at, (c, y) in enumerate(zip(said, outcomes, strict=True)))
        path = write(tmp_path, "service.csv", f"id,confidence,correct\n{lines}")
        answer = call("recalibrate", path, "--apply", written, "-o", rows)
        assert answer.code == 0
        n_without = outcomes.count("")
        assert f"3 rows of 3 recalibrated by platt, {n_without} of them without an outcome" in answer.out
        found = pl.read_csv(rows, schema_overrides={"correct": pl.String})
        assert found["confidence.recalibrated"].to_list() == pytest.approx(expected)
        assert found["correct"].fill_null("").to_list() == list(outcomes)
    path = write(tmp_path, "service.csv", "id,confidence\ns0,0.9\n")
    assert call("recalibrate", path, "--apply", written, "-o", rows).code == 0
    answer = call("recalibrate", path)
    assert (answer.code, "no row has both a confidence and an outcome" in answer.err) == (2, True)
    path = write(tmp_path, "empty.csv", "id,confidence,correct\ns0,,1\n")
    assert call("recalibrate", path, "--apply", written, "-o", rows).code == 2


def test_a_temperature_of_choices_is_applied_without_the_right_choice(call: Call, tmp_path: Path) -> None:
    def line(at: int, gold: str | None) -> str:
        probs = [0.7, 0.2, 0.1] if at % 2 else [0.2, 0.5, 0.3]
        row = {"id": f"q{at}", "choice_probs": probs, "choices": ["x", "y", "z"], "gold": gold}
        return json.dumps(row) + "\n"

    known = write(tmp_path, "known.jsonl", "".join(line(at, "xyz"[at % 3]) for at in range(60)))
    written, rows = tmp_path / "map.json", tmp_path / "rows.jsonl"
    call("recalibrate", known, "--by", "temperature", "--method", "choice_softmax", "-o", written)
    temperature = json.loads(written.read_text())["parameters"]["temperature"]
    service = write(tmp_path, "service.jsonl", "".join(line(at, None) for at in range(4)))
    answer = call("recalibrate", service, "--apply", written, "-o", rows)
    assert (answer.code, "4 of them without an outcome" in answer.out) == (0, True)
    found = [json.loads(line) for line in rows.read_text().splitlines()]
    powers = [np.array(probs) ** (1 / temperature) for probs in ([0.2, 0.5, 0.3], [0.7, 0.2, 0.1])]
    expected = [max(p / p.sum()) for p in powers] * 2
    assert [row["confidence.recalibrated"] for row in found] == pytest.approx(expected)
    assert all("correct" not in row for row in found)


def test_one_map_needs_one_run_and_method(call: Call, quiz: Path, tmp_path: Path) -> None:
    other = write(tmp_path, "second.csv", quiz.read_text())
    written = tmp_path / "map.json"
    answer = call("recalibrate", quiz, other, "-o", written)
    assert answer.code == 2
    assert "Name one: --run quiz --method given; --run second --method given" in answer.err
    assert not written.exists()
    assert call("recalibrate", quiz, other, "--run", "second", "-o", written).code == 0
    answer = call("recalibrate", quiz, "--run", "nobody")
    assert (answer.code, "there is no run 'nobody'. Runs: quiz" in answer.err) == (2, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--by", "spline"], "--by: expected one of temperature, platt"),
        (["-o", "map.txt"], "ends in .json"),
        (["--apply", "none.json"], "--apply needs a file for the rows"),
        (
            ["--apply", "none.json", "-o", "rows.parquet"],
            "none.json cannot be read (No such file or directory)",
        ),
        (["--apply", "quiz.csv", "-o", "rows.parquet"], "quiz.csv is not a map: expected a JSON document"),
        (
            ["--apply", "quiz.csv", "--python", "a.py", "-o", "rows.parquet"],
            "cannot be combined with --apply",
        ),
        (["--folds", "1"], "folds"),
        (["--method", "verbal"], "verbal is not available"),
    ],
)
def test_what_is_refused(
    call: Call, quiz: Path, options: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(quiz.parent)
    answer = call("recalibrate", quiz.name, *options, "--json")
    assert (answer.code, answer.elements) == (2, [])
    assert message in answer.err
    assert [path.name for path in quiz.parent.iterdir()] == ["quiz.csv"]


def test_an_input_is_never_overwritten(call: Call, quiz: Path, tmp_path: Path) -> None:
    written = tmp_path / "map.json"
    call("recalibrate", quiz, "-o", written)
    rows = write(tmp_path, "rows.jsonl", '{"id": "a", "confidence": 0.9, "correct": 1}\n')
    before = rows.read_bytes()
    answer = call("recalibrate", rows, "--apply", written, "-o", rows)
    assert (answer.code, rows.read_bytes()) == (2, before)
    assert "would be overwritten" in answer.err


@pytest.mark.parametrize("temperature", [0.7, 2.0])
def test_the_temperature_of_token_logits_is_found(call: Call, tmp_path: Path, temperature: float) -> None:
    """Positions read as questions; the oracle minimises the log loss of softmax(logits / T) itself."""
    rng = np.random.default_rng(3)
    true_logits = 2 * rng.normal(size=(2000, 12))
    probs = np.exp(true_logits) / np.exp(true_logits).sum(1, keepdims=True)
    target = (rng.random((2000, 1)) > probs.cumsum(1)).sum(1)
    logits = true_logits * temperature  # as of a model that is too sure, or not sure enough

    def loss(log_t: float) -> float:
        scaled = logits / np.exp(log_t)
        losses = logsumexp(scaled, axis=1) - scaled[np.arange(2000), target]
        return float(losses.sum() + PENALTY / 2 * log_t**2)

    expected = np.exp(minimize_scalar(loss, bounds=(-2, 2), method="bounded", options={"xatol": 1e-10}).x)
    metadata = json.dumps({"format": "calib-tokens", "version": 1})
    for more in ({}, {"meta": np.array(metadata)}):
        np.savez(tmp_path / "text.npz", allow_pickle=False, logits=logits, target=target, **more)
        words = ("--map", "target=gold", "--method", "choice_softmax", "--by", "temperature", "--json")
        element = call("recalibrate", tmp_path / "text.npz", *words).element
        assert element["target"] == "choices"
        assert element["parameters"]["temperature"] == pytest.approx(expected, rel=1e-5)
        assert element["parameters"]["temperature"] == pytest.approx(temperature, rel=0.05)
        assert element["gain"]
    (run,) = calib_core.load(logits=logits, gold=target)
    assert calib_core.recalibrate(run, by="temperature").map.parameters["temperature"] == pytest.approx(
        expected
    )


def test_sums_are_refused_with_what_to_do(call: Call, tmp_path: Path) -> None:
    probs, target = random_rows(50, 6, seed=4)
    np.savez(tmp_path / "text.npz", probs=probs, target=target)
    answer = call("recalibrate", tmp_path / "text.npz")
    assert answer.code == 2
    assert (
        "recalibration by tokens is not available: Recalibration needs individual confidences" in answer.err
    )
