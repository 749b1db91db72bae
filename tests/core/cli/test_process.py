"""The command line as a process: its start, its two outputs, its exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app_server import ROOT
from calib_core.__main__ import main
from calib_core.version import VERSION
from core.cli_calls import BAD, GOOD, VERBS, Call, write


def run_program(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """A fresh process."""
    return subprocess.run(
        [sys.executable, "-m", "calib_core", *map(str, words)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
        timeout=60,
    )


def test_help_says_what_there_is_and_waits_for_nothing_it_does_not_need() -> None:
    helped = run_program("--help")
    assert helped.returncode == 0
    for verb in VERBS:
        assert verb.encode() in helped.stdout
    code = (
        "import sys; from calib_core.__main__ import main; main(['--help']);"
        "sys.exit(str(sorted({'streamlit', 'plotly', 'pandas', 'pyarrow', 'scipy'} & set(sys.modules))))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert loaded.stderr.strip() == "[]"  # each of them costs more than all the rest


def test_stdout_of_a_fresh_process_is_json_in_any_locale(tmp_path: Path) -> None:
    path = write(tmp_path, "quiz.csv", "model,dataset,confidence,correct\nmé,d,0.9,1\n")
    done = run_program("score", path, "--json", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert done.returncode == 0
    assert json.loads(done.stdout)[0]["run"] == "mé · d"
    shown = run_program(
        "score", path, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="ascii"
    )
    assert shown.returncode == 0
    assert b"Traceback" not in shown.stderr


def run_redirected(line: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """The program ("$@") in a shell line; its output is buffered, as it is unless somebody asks otherwise."""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(
        ["/bin/sh", "-c", line, "sh", sys.executable, "-m", "calib_core", *words],
        cwd=ROOT,
        env=buffered,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("words", "line", "why"),
    [
        (("score",), '"$@" >&-', "it is closed"),
        (("bins", "--json"), '"$@" >&-', "it is closed"),
        (("bins", "--json"), '"$@" >/dev/full', "No space left on device"),
        (("--help",), '"$@" >/dev/full', "No space left on device"),
    ],
)
def test_a_result_that_cannot_be_printed_is_reported_in_one_line(
    tmp_path: Path, words: tuple[str, ...], line: str, why: str
) -> None:
    done = run_redirected(line, *words, write(tmp_path, "quiz.csv", GOOD))
    assert done.returncode == 2
    assert done.stderr == f"Cannot write to standard output: {why}.\n"


def test_a_table_that_cannot_be_printed_is_reported_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, "quiz.csv", GOOD)
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert main(["check", str(path)]) == 2
    assert capsys.readouterr().err == "Cannot write to standard output: No space left on device.\n"


def test_a_refusal_is_reported_even_on_a_full_disk() -> None:
    done = run_redirected('"$@" >/dev/full', "nothing", "--json")
    assert done.returncode == 2
    assert "No such command 'nothing'" in done.stderr
    assert done.stderr.endswith("standard output: No space left on device.\n")


def test_a_full_disk_under_both_outputs_is_still_an_exit_code() -> None:
    assert run_redirected('"$@" >/dev/full 2>&1', "--help").returncode == 2


def test_exit_codes_reach_the_shell(tmp_path: Path, call: Call) -> None:
    assert run_program("score", write(tmp_path, "bad.csv", BAD), "--json").returncode == 3
    unknown = call("sweep", tmp_path / "gone.csv", "--json")
    assert (unknown.code, unknown.elements) == (2, [])


def test_a_closed_pipe_is_no_broken_rule(tmp_path: Path) -> None:
    path = write(tmp_path, "quiz.csv", GOOD)
    code = tmp_path / "code"
    run_redirected(f'{{ "$@"; echo $? > "{code}"; }} | true', "gate", path, "--max", "brier=0")
    assert code.read_text().strip() == "141"


def test_standard_input_is_a_file(call: Call) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "calib_core", "score", "-", "--metric", "brier", "--json"],
        cwd=ROOT,
        input=GOOD.encode(),
        capture_output=True,
        check=False,
    )
    (element,) = json.loads(done.stdout)
    assert (done.returncode, element["file"], element["run"]) == (0, "stdin", "stdin")
    twice = call("score", "-", "-")
    assert (twice.code, "can be read only once" in twice.err) == (2, True)


def test_version_help_quiet_and_a_quoted_pattern(call: Call, tmp_path: Path) -> None:
    assert call("--version").out == f"calib {VERSION}\n"
    for words in (["-h"], ["score", "-h"]):
        assert call(*words).out == call(*words[:-1], "--help").out != ""
    path = write(tmp_path, "quiz.csv", GOOD)
    remarks = ("score", path, "--renormalise")
    assert "--renormalise has no effect" in call(*remarks).err
    quiet = call(*remarks, "--quiet")
    assert (quiet.err, quiet.out) == ("", call(*remarks).out)
    refused = call("score", tmp_path / "gone.csv", "-q")
    assert (refused.code, "gone.csv" in refused.err) == (2, True)
    quoted = call("score", tmp_path / "*.csv")
    assert (quoted.code, "without quotes" in quoted.err) == (2, True)
    assert "--workers N" in quoted.err
    strange = tmp_path / "really[1].csv"
    strange.write_text(GOOD)
    assert call("score", strange).code == 0
