"""Errors of options say the option, what was expected and what was found, in no library's words."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from calib_core.cli.option_errors import option_error_text
from core.cli_calls import GOOD, Call, write

LIBRARY_WORDS = ("Input should", "Value error", "Invalid value", "Missing ", "requires an argument")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("score", "--bins", "0"), "--bins: expected a whole number from 1 to 1000, found '0'."),
        (("score", "--bins", "many"), "--bins: expected a whole number from 1 to 1000, found 'many'."),
        (("score", "--bins", "2.5"), "--bins: expected a whole number from 1 to 1000, found '2.5'."),
        (("score", "--tolerance", "3"), "--tolerance: expected a number from 0 to 1, found '3'."),
        (("score", "--tolerance", "low"), "--tolerance: expected a number from 0 to 1, found 'low'."),
        (("samples", "--repeats", "0"), "--repeats: expected a whole number of 1 or more, found '0'."),
        (("threshold", "--accuracy", "high"), "--accuracy: expected a number, found 'high'."),
        (("score", "--binning", "odd"), "--binning: expected one of width, mass, natural, found 'odd'."),
        (("score", "--map", "conf"), "--map: expected COLUMN=NAME, found 'conf'."),
        (("score", "--map", "a=b", "--map", "a=c"), "--map: expected each column once, found 'a' twice."),
        (("score", "--map"), "--map: expected a value, found nothing."),
        (("score", "--json=3"), "--json: expected no value, found one."),
        (("score", ""), "FILE: expected the name of a file, found ''."),
        (("score", "--format", "odd"), "--format: expected one of topk, sums, "),
        (("score", "--method", "odd"), "--method: There is no method 'odd'. Methods: choice_softmax, "),
        (("score", "--metric", "odd"), "--metric: There is no metric 'odd'. Metrics: ece, "),
        (("gate", "--max", "odd=1"), "--max: There is no metric 'odd'. Metrics: ece, "),
        (("report",), "-o: expected OUT.html, found nothing."),
        (("score", "--resume", "quiz.csv"), "--resume: expected a folder, found the file 'quiz.csv'."),
    ],
)
def test_an_option_says_what_it_expected_and_found(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    verb, *options = words
    answer = call(verb, write(tmp_path, "quiz.csv", GOOD), *options)
    assert answer.code == 2
    assert answer.err.startswith(message)
    assert not any(word in answer.err for word in LIBRARY_WORDS)


def test_arguments_are_named_as_the_help_does(call: Call) -> None:
    assert call("check").err.startswith("FILE: expected at least one, found nothing.\n")
    assert call("cache", "burn").err.startswith("ACTION: expected one of show, clear, found 'burn'.\n")


@pytest.mark.parametrize(
    ("words", "limits", "message"),
    [
        ("0 is not in the range 1<=x<=9.", (1, 9), "--it: expected a whole number from 1 to 9, found '0'."),
        (
            "'x' is not a valid int range.",
            (1, None),
            "--it: expected a whole number of 1 or more, found 'x'.",
        ),
        ("'x' is not one of 'a', 'b'.", (None, None), "--it: expected one of a, b, found 'x'."),
        ("something else.", (None, None), "--it: something else."),
    ],
)
def test_the_words_of_the_oldest_version_are_replaced_too(
    words: str, limits: tuple[int | None, int | None], message: str
) -> None:
    """Typer 0.27 judges values without pydantic."""
    low, high = limits
    parameter: Any = SimpleNamespace(opts=["--it"], type=SimpleNamespace(min=low, max=high))
    assert option_error_text(typer.BadParameter(words, param=parameter)) == message
