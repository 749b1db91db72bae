"""Options of groups, on the command line and as the values that a verb takes."""

from __future__ import annotations

from inspect import signature
from typing import Annotated, TypeAlias

import typer

from calib_core.cli.option_groups import OptionGroup, takes_options

Number: TypeAlias = Annotated[int, typer.Option()]
Words: TypeAlias = Annotated[list[str] | None, typer.Option()]


def inner(*, low: Number = 1, words: Words = None) -> tuple[int, Words]:
    return low, words


def outer(*, size: Number = 2, pair: Annotated[tuple[int, Words], OptionGroup(inner)]) -> dict[str, object]:
    return {"size": size, "pair": pair}


@takes_options
def verb(
    *,
    words: Annotated[str, typer.Option()] = "",
    group: Annotated[dict[str, object], OptionGroup(outer)],
    last: Number = 9,
) -> int:
    seen.append((words, group, last))
    return 0


seen: list[object] = []


def run(*arguments: str) -> object:
    app = typer.Typer()
    app.command()(verb)
    app(arguments, standalone_mode=False)
    return seen.pop()


def test_the_options_of_a_group_stand_where_the_group_does() -> None:
    assert list(signature(verb).parameters) == ["words", "size", "low", "last"]


def test_a_group_is_what_its_function_makes_of_its_options() -> None:
    assert run() == ("", {"size": 2, "pair": (1, None)}, 9)
    assert run("--low", "5", "--size", "6", "--last", "7") == ("", {"size": 6, "pair": (5, None)}, 7)


def test_an_option_of_the_verb_replaces_that_of_its_groups() -> None:
    assert run("--words", "a") == ("a", {"size": 2, "pair": (1, None)}, 9)
