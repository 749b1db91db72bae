"""What the scripts that complete a line in a shell ask the program, in the process of the tests."""

from __future__ import annotations

import re

import pytest

from calib_core.__main__ import main


def asked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], **environment: str) -> str:
    """What the program prints for the script of a shell that sets these variables."""
    monkeypatch.setattr("sys.argv", ["calib"])
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit, match=r"^0$"):
        main([])
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("calib score --method p_", {"p_true"}),
        ("calib recalibrate --by p", {"platt"}),
        ("calib judge --metric kap", {"kappa"}),
        ("calib score --labels ", {"top", "all"}),
    ],
)
def test_bash_is_told_ids(
    line: str, expected: set[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = line.split(" ")
    typed = {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}
    told = asked(monkeypatch, capsys, _CALIB_COMPLETE="complete_bash", **typed)
    assert set(told.split()) == expected


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_told_options(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """These may not be here."""
    typed = {"_TYPER_COMPLETE_FISH_ACTION": "get-args", "_TYPER_COMPLETE_ARGS": "calib score --me"}
    told = asked(monkeypatch, capsys, _CALIB_COMPLETE=f"complete_{shell}", **typed)
    assert set(re.findall(r"--me\w+", told)) == {"--method", "--metric"}
