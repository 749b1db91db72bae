"""What the command line refuses or leaves to a decision, with which message and exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from calib_core.metrics import METRICS
from core.cli_calls import BAD, CHOICES, GOOD, NOTHING, VERBS, Call, write


def test_check_reports_a_file_without_usable_rows(call: Call, tmp_path: Path) -> None:
    answer = call("check", write(tmp_path, "quiz.csv", NOTHING), "--json")
    assert answer.code == 2
    element = answer.element
    assert (element["status"], element["usable"], element["accuracy"], element["rows"]) == (
        "refused",
        {},
        0.5,
        2,
    )
    assert "read as table" in element["message"]


def test_what_opens_a_refused_file_is_one_sentence_wherever_it_is_refused(call: Call, tmp_path: Path) -> None:
    rows = "".join(f"0.{number % 9 + 1},{number % 2}\n" for number in range(20))
    path = write(tmp_path, "quiz.csv", f"conf,hit\n{rows}")
    advice = "With --map conf=confidence --map hit=correct it loads: accuracy 0.5000 (10 of 20), "
    reported, as_json, scored = call("check", path), call("check", path, "--json"), call("score", path)
    assert (reported.code, as_json.code, scored.code) == (2, 2, 2)
    assert (reported.out.count(advice), reported.err.count(advice)) == (1, 1)
    assert (as_json.element["message"].count(advice), as_json.err.count(advice)) == (1, 1)
    assert scored.err.count(advice) == 1


def test_columns_that_may_have_a_role_are_named_wherever_a_file_is_refused(
    call: Call, tmp_path: Path
) -> None:
    """Nothing says which column is the confidence, so that none is proposed."""
    path = write(tmp_path, "quiz.csv", "llm,trust,hit\n" + "m,0.5,0\nm,0.7,1\n" * 20)
    advice = (
        "Possible columns; if right, add: --map llm=model\n"
        "'trust' is not used: its values from 0.5 to 0.7 could be a confidence, but its name does not say "
        "so. If it is the confidence: --map trust=confidence\n"
        "'hit' is not used: by its name and the values 0 and 1, it is the outcome, but no column says how "
        "sure the model was. If it is the outcome: --map hit=correct"
    )
    reported, scored = call("check", path), call("score", path)
    assert (reported.out.count(advice), reported.err.count(advice), scored.err.count(advice)) == (1, 1, 1)
    assert advice in call("check", path, "--json").element["message"]


def test_check_reports_a_file_that_cannot_be_read(call: Call, tmp_path: Path) -> None:
    answer = call("check", tmp_path / "gone.csv", write(tmp_path, "quiz.csv", GOOD), "--json")
    assert answer.code == 2
    gone, quiz = answer.elements
    assert (gone["file"], gone["status"], gone["usable"], gone["problems"]) == ("gone.csv", "refused", {}, [])
    assert (quiz["file"], quiz["status"]) == ("quiz.csv", "loads")


@pytest.mark.parametrize("verb", VERBS)
def test_an_empty_name_is_not_the_current_folder(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    path = write(tmp_path, "quiz.csv", GOOD)
    monkeypatch.chdir(tmp_path)
    answer = call(verb, path, "", "--json")
    assert (answer.code, answer.elements) == (2, [])
    assert "expected the name of a file, found ''" in answer.err


def test_p_true_is_not_divided_without_p_false(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, "quiz.csv", "p_true,correct\n0.5,1\n")
    answer = call("score", path, "--method", "p_true", "--renormalise", "--json")
    assert (answer.code, answer.elements) == (2, [])
    assert "p_true is not available: no column p_false" in answer.err


@pytest.mark.parametrize("verb", VERBS)
def test_bad_rows_are_left_out_when_chosen(call: Call, tmp_path: Path, verb: str) -> None:
    path = write(tmp_path, "quiz.csv", BAD)
    asked = call(verb, path, "--json")
    assert asked.code == 3
    assert "--skip-bad-rows" in asked.err
    assert verb == "check" or asked.elements == []
    chosen = call(verb, path, "--skip-bad-rows", "--json")
    assert (chosen.code, chosen.err) == (0, "")
    if verb != "check":
        assert ", n=2/3, 1 bad row left out" in chosen.elements[0]["recipe"]


@pytest.mark.parametrize("verb", VERBS)
def test_the_worst_exit_wins_and_good_files_are_printed(call: Call, tmp_path: Path, verb: str) -> None:
    good, bad = write(tmp_path, "good.csv", GOOD), write(tmp_path, "bad.csv", BAD)
    gone, nothing = tmp_path / "gone.csv", write(tmp_path, "nothing.csv", NOTHING)
    for paths, code in (([good], 0), ([good, gone], 2), ([nothing, good], 2), ([bad, gone, good], 3)):
        answer = call(verb, *paths, "--json")
        assert answer.code == code
        assert "good.csv" in {element["file"] for element in answer.elements}
        assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--method", "softmax"), "There is no method 'softmax'"),
        (("--metric", "ECE"), "There is no metric 'ECE'"),
        (("--method", "choice_softmax"), "choice_softmax is not available: no column choice_logprobs"),
        (
            ("--metric", "full_ece"),
            "full_ece by given is not available: “confidence in the file” gives one number",
        ),
        (("--method", "given", "--metric", "nll"), "nll by given is not available"),
        (("--labels", "all"), "no method has a usable row"),
        (("--bins", "0"), "--bins"),
        (("--bins", "1001"), "--bins"),
        (("--bins", "ten"), "--bins"),
        (("--binning", "equal"), "--binning"),
        (("--labels", "some"), "--labels"),
        (("--format", "nope"), "nope"),
        (("--map", "confidence"), "expected COLUMN=NAME, found 'confidence'"),
        (("--map", "=confidence"), "expected COLUMN=NAME"),
        (
            ("--map", "id=p_true", "--map", "id=confidence"),
            "--map: expected each column once, found 'id' twice",
        ),
        (("--map", "note=nothing"), "nothing"),
        (("--nonsense",), "--nonsense"),
    ],
)
@pytest.mark.parametrize("verb", ["score", "bins"])
def test_what_cannot_be_given_is_refused_with_its_reason(
    call: Call, tmp_path: Path, verb: str, words: tuple[str, ...], message: str
) -> None:
    answer = call(verb, write(tmp_path, "quiz.csv", GOOD), *words, "--json")
    assert answer.code == 2
    assert message in answer.err
    assert answer.elements == []


def test_a_refused_name_does_not_take_the_others_with_it(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, "quiz.csv", GOOD)
    answer = call(
        "score",
        path,
        "--metric",
        "ece",
        "--metric",
        "nll",
        "--method",
        "given",
        "--method",
        "verbal",
        "--json",
    )
    assert answer.code == 2
    assert [(element["method"], element["metric"]) for element in answer.elements] == [("given", "ece")]
    assert "verbal is not available" in answer.err
    assert "nll by given is not available" in answer.err


def test_a_metric_that_one_method_gives_is_not_refused_for_another(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, "quiz.jsonl", CHOICES)
    silent = call("score", path, "--metric", "full_ece", "--json")
    assert (silent.code, silent.element["method"], silent.err) == (0, "choice_softmax", "")
    both = ("--method", "given", "--method", "choice_softmax")
    told = call("score", path, "--metric", "ece", "--metric", "full_ece", *both, "--json")
    assert (told.code, len(told.elements)) == (0, 3)
    assert "full_ece by given is not available" in told.err
    lone = call("score", path, "--metric", "full_ece", *both, "--json")
    assert (lone.code, len(lone.elements)) == (2, 1)


def test_a_run_of_missing_values_is_reported_and_no_error(call: Call, tmp_path: Path) -> None:
    text = "model,confidence,correct\nm1,0.5,1\nm2,,0\n"
    answer = call("score", write(tmp_path, "quiz.csv", text), "--json")
    assert answer.code == 0
    assert {element["run"] for element in answer.elements} == {"m1"}
    assert "quiz.csv, m2: no method has a usable row." in answer.err


def test_natural_bins_of_many_values(call: Call, tmp_path: Path) -> None:
    rows = "".join(f"{k / 100},{k % 2}\n" for k in range(100))
    path = write(tmp_path, "quiz.csv", f"confidence,correct\n{rows}")
    answer = call("score", path, "--binning", "natural", "--json")
    assert answer.code == 0
    assert {element["metric"] for element in answer.elements} == {"verdict"} | {
        id_
        for id_, metric in METRICS.items()
        if metric.needs == "pairs" and (not metric.binned or metric.binning == "mass")
    }
    assert "up to 64 values" in answer.err
    assert call("bins", path, "--binning", "natural", "--json").code == 2


@pytest.mark.parametrize("verb", VERBS)
def test_no_path_of_the_machine_is_printed(call: Call, tmp_path: Path, verb: str) -> None:
    paths = [write(tmp_path, "bad.csv", BAD), write(tmp_path, "good.csv", GOOD), tmp_path / "gone.csv"]
    for words in ((), ("--json",)):
        answer = call(verb, *paths, *words)
        assert str(tmp_path) not in answer.out + answer.err
