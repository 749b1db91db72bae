"""What a message says to name has the words of the command line, of Python or of a page."""

from __future__ import annotations

import ast
import inspect
import re
import shlex
import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path
from threading import Thread

import pytest

import calib_core
from app_server import ROOT
from calib_core import readers
from calib_core.advice import (
    Advice,
    Surface,
    bracketed_option,
    current_surface,
    option_name,
    set_surface,
    to_say,
    worded,
)
from core.cli_calls import Call

MAPPING = {
    "conf": "confidence/100",
    "is ok": "correct:Yes|Mostly",
    "a.b=c": "given",
    "left out": "",
    'say "x"': "id",
    "Correct?": "confidence.a",
    "it's 100% $x!": "confidence.b",
    r"back\slash`": "subject",
}
EVERYTHING = Advice(
    rows="a.my items",
    columns=MAPPING,
    wide={"*-said": "confidence", "* ok": "correct"},
    missing=("not attempted", "C"),
    gold="right answers.csv",
    on="q=number",
    gold_columns={"my id": "id"},
    format="table",
    skip_bad_rows=True,
)


@pytest.fixture(autouse=True)
def surface_kept() -> None:
    """Each test begins as a Python process does."""
    set_surface("Python")


def test_python_is_given_a_call_of_load() -> None:
    parsed = ast.parse(f"f({EVERYTHING})", mode="eval").body
    assert isinstance(parsed, ast.Call)
    keywords = {word.arg: ast.literal_eval(word.value) for word in parsed.keywords}
    assert keywords == {**asdict(EVERYTHING), "missing": list(EVERYTHING.missing)}
    assert keywords.keys() <= inspect.signature(calib_core.load).parameters.keys()


def test_the_command_line_is_given_its_options(call: Call) -> None:
    set_surface("command line")
    words = shlex.split(str(EVERYTHING))
    mapped = [word for column, name in MAPPING.items() for word in ("--map", f"{column}={name}")]
    assert words == [
        *("--rows", "a.my items", *mapped),
        *("--wide", "*-said=confidence", "--wide", "* ok=correct"),
        *("--missing", "not attempted", "--missing", "C", "--gold", "right answers.csv", "--on", "q=number"),
        *("--map-gold", "my id=id", "--format", "table", "--skip-bad-rows"),
    ]
    known = call("score", "--help").out.split()
    assert {word for word in words if word.startswith("--")} <= set(known)


def test_a_page_is_given_columns_and_values() -> None:
    set_surface("page")
    assert str(Advice(columns={"a$": "correct", "my log": ""}, rows="a.b", skip_bad_rows=True)) == (
        "“a.b”, “a$” as “correct”, “my log”"
    )


SHELLS = [shell for shell in ("bash", "zsh") if shutil.which(shell) is not None]


@pytest.mark.parametrize("shell", SHELLS)
def test_options_paste_into_a_shell_whatever_the_columns_are_called(shell: str) -> None:
    """In an interactive shell, in which "!" means an earlier command, and in a folder with matching files."""
    columns = [f"a{mark}b" for mark in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ ü\u00a0"]
    columns += ["=a", "~", "Conf (%)", "$HOME", "a!!b", "'\"", "{a,b}", "Correct?", "*"]
    set_surface("command line")
    mapping = dict.fromkeys(columns, "correct:Yes|No")
    options = str(Advice(rows="a.$b", columns=mapping, wide={"*-$x": "correct"}))
    startup = "set -o history -H\n" if shell == "bash" else "setopt BANG_HIST\n"
    ran = subprocess.run(
        [shell, *(["--norc", "--noprofile"] if shell == "bash" else ["--no-rcs"])],
        input=f"{startup}printf '%s\\0' {options}\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    words = ran.stdout.split("\0")[:-1]
    expected = [word for column in columns for word in ("--map", f"{column}=correct:Yes|No")]
    assert words == ["--rows", "a.$b", *expected, "--wide", "*-$x=correct"]


@pytest.mark.parametrize(
    ("surface", "words"),
    [
        ("command line", ["--format", " (--map-gold)", "what it is: --map a=id", "Some: text"]),
        ("Python", ["format=", " (gold_columns=)", 'what it is: columns={"a": "id"}', "Some: in Python"]),
        ("page", ["the format", "", "below what it is.", "Some: on a page"]),
    ],
)
def test_the_words_around_an_option_are_those_of_the_surface(surface: Surface, words: list[str]) -> None:
    set_surface(surface)
    said = worded("text", in_python="in Python", on_page="on a page")
    name, bracketed = option_name("format"), bracketed_option("gold_columns")
    assert [name, bracketed, to_say("what it is", Advice(columns={"a": "id"})), f"Some: {said}"] == words


@pytest.mark.parametrize(
    ("surface", "advice"),
    [
        ("command line", "Say what a column means: --map COLUMN=confidence"),
        ("Python", 'Say what a column means: columns={"COLUMN": "confidence"}'),
        ("page", "Say below what a column means."),
    ],
)
def test_the_process_that_reads_files_words_messages_for_whoever_asks(
    surface: Surface, advice: str, tmp_path: Path
) -> None:
    """A file's own text is shown as it is, also where it looks like an option."""
    path = tmp_path / "colours.csv"
    path.write_text("--map a=b,size\nred,1\n")
    set_surface(surface)
    refusal = readers.read(path).refusal or ""
    assert refusal.endswith(advice)
    assert "(columns: '--map a=b', 'size')" in refusal


@pytest.mark.parametrize(
    ("surface", "how"),
    [("command line", "with --missing C"), ("Python", 'with missing=["C"]'), ("page", "as missing")],
)
def test_what_columns_may_be_is_worded_likewise(surface: Surface, how: str, tmp_path: Path) -> None:
    path = tmp_path / "graded.csv"
    path.write_text("id,confidence,grade\nq1,0.5,A\nq2,0.25,B\nq3,0.75,C\n")
    set_surface(surface)
    assert readers.read(path).candidates[0].why.endswith(f"C is not attempted: wrong, or left out {how}")


def test_a_surface_holds_for_all_threads_and_the_command_line_for_one_call(
    call: Call, tmp_path: Path
) -> None:
    assert set_surface("page") == "Python"
    seen: list[Surface] = []
    thread = Thread(target=lambda: seen.append(current_surface()))
    thread.start()
    thread.join()
    assert seen == ["page"]
    path = tmp_path / "colours.csv"
    path.write_text("colour,size\nred,1\n")
    assert "--map COLUMN=confidence" in call("score", path).err
    assert current_surface() == "page"


SAID_OTHERWISE = ("cli", "__main__.py", "advice.py", "reporting/provenance.py")
"""What serves the command line alone, below `calib_core`."""


def test_no_message_of_the_core_spells_an_option_itself() -> None:
    """Docstrings may: they are no messages."""
    pattern = re.compile(
        r"(?<![\w-])--(rows|map|map-gold|wide|missing|gold|on|format|skip-bad-rows)(?![\w-])"
    )
    core = ROOT / "calib_core"
    spelt: list[str] = []
    for path in core.rglob("*.py"):
        place = path.relative_to(core)
        if str(place).startswith(SAID_OTHERWISE):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        statements = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        spelt += [
            f"{place}:{node.lineno}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and node not in statements
            if isinstance(node.value, str) and pattern.search(node.value)
        ]
    assert spelt == []
