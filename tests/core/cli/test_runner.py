"""Messages on stderr, and the exit code, which is that of the worst."""

from __future__ import annotations

from pathlib import Path

import pytest

from calib_core.cli.exit_codes import BAD_ROWS
from calib_core.cli.input_files import InputFiles
from calib_core.cli.options import Choice
from calib_core.cli.runner import CommandRequest, Runner
from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.methods import METHODS
from calib_core.methods.method import MethodOptions
from calib_core.results.score import score
from core.cli_calls import write
from core.run_builders import make_answer_run


def default_request() -> CommandRequest:
    return CommandRequest.from_options(Choice(), Scheme(), MethodOptions())


def test_the_worst_code_wins_in_any_order() -> None:
    desk = Runner()
    assert desk.exit_code == 0
    desk.message("nothing wrong")
    assert desk.exit_code == 0
    desk.refuse("bad rows", BAD_ROWS)
    desk.refuse("refused")
    assert desk.exit_code == BAD_ROWS


def test_messages_go_to_stderr_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    Runner().message("[red]m[/red] :smile: \x1b[2J " + "long " * 60)
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "[red]m[/red] :smile: \\x1b[2J " + "long " * 60 + "\n"


def test_names_asked_for_twice_count_once() -> None:
    request = CommandRequest.from_options(
        Choice(methods=["given", "given"], metrics=["ece", "brier", "ece"]), Scheme(), MethodOptions()
    )
    assert (request.methods, request.metrics) == (("given",), ("ece", "brier"))


def test_unknown_names_are_refused_before_any_file_is_opened() -> None:
    with pytest.raises(Unavailable, match="no method 'x'"):
        CommandRequest.from_options(Choice(methods=["x"]), Scheme(), MethodOptions())
    with pytest.raises(Unavailable, match="no metric 'x'"):
        CommandRequest.from_options(Choice(metrics=["x"]), Scheme(), MethodOptions())


def test_unrequested_results_are_left_out_silently(capsys: pytest.CaptureFixture[str]) -> None:
    run = make_answer_run({"confidence": [0.5], "correct": [True]})
    desk = Runner()

    def only_brier(_evidence: object, metric: str, _scheme: Scheme) -> str:
        if metric != "brier":
            raise Unavailable("a reason")
        return metric

    assert desk.results(run, default_request(), ("full_ece", "brier"), only_brier) == ["brier"]
    assert (desk.exit_code, capsys.readouterr().err) == (0, "")


@pytest.mark.parametrize(
    ("wished", "switch"), [(None, ""), (True, "--renormalise"), (False, "--no-renormalise")]
)
def test_a_switch_that_a_method_does_not_have_is_reported(
    capsys: pytest.CaptureFixture[str], *, wished: bool | None, switch: str
) -> None:
    numbers = {"confidence": [0.5], "verbal_confidence": [0.5], "p_true": [0.5], "p_false": [0.5]}
    run = make_answer_run({**numbers, "correct": [True]})
    desk = Runner()
    made = desk.results(
        run, CommandRequest.from_options(Choice(), Scheme(), MethodOptions(wished)), ("ece",), score
    )
    methods = [one.method for one in made]
    assert {"p_true", "verbal", "given"} <= set(methods)
    idle = ", ".join(id_ for id_ in methods if not METHODS[id_].renormalises)
    said = f"quiz.csv, model · quiz: {switch} has no effect on {idle}.\n" if switch else ""
    assert (desk.exit_code, capsys.readouterr().err) == (0, said)


def test_the_unparseable_rule_is_reported_as_unused_by_other_methods(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = {"gold": ["4"], "samples_parsed": [["4", "four", "4"]], "confidence": [0.5], "correct": [True]}
    desk = Runner()
    request = CommandRequest.from_options(Choice(), Scheme(), MethodOptions(None, "top", "one"))
    made = desk.results(make_answer_run(asked), request, ("ece",), score)
    methods = [one.method for one in made]
    assert {"cluster_number", "cluster_size", "pairwise", "given"} <= set(methods)
    idle = ", ".join(id_ for id_ in methods if not METHODS[id_].uses_samples)
    said = f"quiz.csv, model · quiz: --unparseable has no effect on {idle}.\n"
    assert (desk.exit_code, capsys.readouterr().err) == (0, said)


def test_holding_out_is_reported_as_unused_by_other_methods(capsys: pytest.CaptureFixture[str]) -> None:
    asked = {"gold": ["4"], "samples_parsed": [["4", "four", "4"]], "confidence": [0.5], "correct": [True]}
    request = CommandRequest.from_options(Choice(), Scheme(), MethodOptions(held_out=True))
    Runner().results(make_answer_run(asked), request, ("ece",), score)
    said = "--held-out has no effect on cluster_number, pairwise, given.\n"
    assert capsys.readouterr().err == f"quiz.csv, model · quiz: {said}"


def test_nothing_at_all_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    run = make_answer_run({"confidence": [0.5], "correct": [True]})
    desk = Runner()

    def never(_evidence: object, _metric: str, _scheme: Scheme) -> str:
        raise Unavailable("a reason")

    assert desk.results(run, default_request(), ("ece",), never) == []
    assert desk.exit_code == 2
    assert capsys.readouterr().err == "quiz.csv, model · quiz: ece by given is not available: a reason\n"


def test_alike_messages_of_many_files_are_said_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(5):
        write(tmp_path, f"subject{number}.csv", "conf,hit\n" + "0.5,1\n" * (number + 1))
    write(tmp_path, "other.csv", "confidence,correct\nhigh,1\n")
    runner = Runner()
    assert list(runner.runs(InputFiles((tmp_path,)))) == []
    runner.finish([], as_json=False)
    lines = capsys.readouterr().err.splitlines()
    assert sum("has no column that Calib recognises (columns: 'conf', 'hit')" in line for line in lines) == 2
    assert lines[-1].startswith(
        "Also for 4 other files (subject1.csv, subject2.csv, subject3.csv, …): subject0.csv has no column"
    )
    assert any("other.csv" in line for line in lines)


def test_a_stem_is_recognised_as_a_word_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runner = Runner()
    stems = ("cat", "dog", "catdog")
    for stem in stems:
        write(tmp_path, f"{stem}.csv", "confidence,correct\n0.5,1\n")
    list(runner.input_files(InputFiles((tmp_path,))))
    for stem in stems:
        runner.message(f"{stem}.csv, {stem}: 3 concatenated dogmas are absent.")
    runner.message("cat.csv, cat: 7 concatenated dogmas are absent.")
    runner.finish([], as_json=False)
    assert capsys.readouterr().err.splitlines() == [
        "cat.csv, cat: 3 concatenated dogmas are absent.",
        "cat.csv, cat: 7 concatenated dogmas are absent.",
        "Also for 2 other files (dog.csv, catdog.csv): cat.csv, cat: 3 concatenated dogmas are absent.",
    ]
