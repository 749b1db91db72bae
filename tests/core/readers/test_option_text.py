"""Messages name what to do as the command line does; Python names the keywords of `load` instead."""

from __future__ import annotations

import ast
import inspect
import shlex
import shutil
import subprocess

import pytest

import calib_core
from calib_core.readers.option_text import as_keywords, map_options, rows_option, wide_options

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
WIDE = {"*-said": "confidence", "* ok": "correct"}


def test_options_come_back_as_the_keywords_that_mean_the_same() -> None:
    text = f"With {rows_option('a.my items')} {map_options(MAPPING)} {wide_options(WIDE)} it loads: 40 rows."
    call = as_keywords(text).removeprefix("With ").removesuffix(" it loads: 40 rows.")
    parsed = ast.parse(f"f({call})", mode="eval").body
    assert isinstance(parsed, ast.Call)
    keywords = {word.arg: ast.literal_eval(word.value) for word in parsed.keywords}
    assert keywords == {"rows": "a.my items", "columns": MAPPING, "wide": WIDE}
    assert keywords.keys() <= inspect.signature(calib_core.load).parameters.keys()
    words = shlex.split(map_options(MAPPING))
    assert words[1::2] == [f"{column}={name}" for column, name in MAPPING.items()]


SHELLS = [shell for shell in ("bash", "zsh") if shutil.which(shell) is not None]


@pytest.mark.parametrize("shell", SHELLS)
def test_options_paste_into_a_shell_whatever_the_columns_are_called(shell: str) -> None:
    """In an interactive shell, in which "!" means an earlier command, and in a folder with matching files."""
    columns = [f"a{mark}b" for mark in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ ü\u00a0"]
    columns += ["=a", "~", "Conf (%)", "$HOME", "a!!b", "'\"", "{a,b}", "Correct?", "*"]
    mapping = dict.fromkeys(columns, "correct:Yes|No")
    options = f"{map_options(mapping)} {wide_options({'*-$x': 'correct'})} {rows_option('a.$b')}"
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
    assert words == [*expected, "--wide", "*-$x=correct", "--rows", "a.$b"]


@pytest.mark.parametrize(
    ("message", "reworded"),
    [
        ("another of them: --map METRIC=correct.", 'another of them: columns={"METRIC": "correct"}.'),
        ("Name them: --map COLUMN=id or --on COLUMN", 'Name them: columns={"COLUMN": "id"} or on="COLUMN"'),
        ("joined by --on THIS=THAT.", 'joined by on="THIS=THAT".'),
        ("or one that --on names, and", "or one that on= names, and"),
        ("joined on id: --gold TABLE (a CSV", 'joined on id: gold="TABLE" (a CSV'),
        (
            "the question: --map COLUMN=samples, once for each.",
            'the question: columns={"COLUMN": "samples"}, an entry for each.',
        ),
        (
            'Say which: --map-gold "my id=id" --map-gold y=correct',
            'Say which: gold_columns={"my id": "id", "y": "correct"}',
        ),
        ("Read it as a table: --format table", 'Read it as a table: format="table"'),
        ("holds none. Leave --format out.", "holds none. Leave format= out."),
        ("no column 'a' (--on). (--wide) (--rows)", "no column 'a' (on=). (wide=) (rows=)"),
        ("holds rows already: --rows a.b is for", 'holds rows already: rows="a.b" is for'),
        ("read as --rows a (3 rows), --rows b (2 rows).", 'read as rows="a" (3 rows), rows="b" (2 rows).'),
        ("documents were asked (--limit or --samples).", "documents were asked (--limit or --samples)."),
        (
            "With --map p=confidence --skip-bad-rows it loads without 1 bad row",
            'With columns={"p": "confidence"}, skip_bad_rows=True it loads without 1 bad row',
        ),
        ("no a--map b=c, no --mapping", "no a--map b=c, no --mapping"),
    ],
)
def test_each_option_has_its_keyword(message: str, reworded: str) -> None:
    assert as_keywords(message) == reworded
