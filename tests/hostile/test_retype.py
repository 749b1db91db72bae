"""A value of another type moves no number in silence; `make fuzz-types` is a longer run."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest

from hostile.good_files import goods
from hostile.retype import GONE, Document, Retyped, Retyper, is_lawful

CHANGES_OF_EACH_FILE = 3


@pytest.fixture(scope="module")
def retyper(tmp_path_factory: pytest.TempPathFactory) -> Retyper:
    """The good files with JSON in them."""
    known = goods(tmp_path_factory.mktemp("goods"))
    return Retyper(tmp_path_factory.mktemp("work") / "file", known)


def test_no_number_changes_in_silence(retyper: Retyper) -> None:
    outcomes = Counter[str]()
    silent: list[str] = []
    for seed in range(CHANGES_OF_EACH_FILE * len(retyper.goods)):
        good, name, change = retyper.drawn(seed)
        outcome, is_silent = retyper.result(good, name, change)
        outcomes[outcome] += 1
        if is_silent:
            silent.append(f"seed {seed}, {good.id}: {change}")
    assert silent == []
    assert outcomes.keys() == {"loads", "asks", "refused"}


def test_a_change_in_silence_is_noticed(retyper: Retyper) -> None:
    """Another number as a confidence is not told from the one that stood there."""
    good = next(good for good in retyper.goods if good.id == "jsonl-quiz")
    change = Retyped((3, "confidence"), 0.5, 0.125)
    assert retyper.result(good, good.main, change) == ("loads", True)
    assert retyper.result(good, good.main, Retyped((3, "confidence"), 0.5, {"a": 1})) == ("asks", False)


def test_each_kind_of_value_is_exchanged() -> None:
    value = [{"text": "a", "number": 1.5, "flag": True, "list": [1], "object": {"b": 1}, "null": None}]
    for data in (json.dumps(value).encode(), json.dumps(value[0]).encode() + b"\n{}\n"):
        document = Document(data)
        drawn = [document.drawn(random.Random(seed)) for seed in range(300)]  # noqa: S311  not keys
        assert {change.path[1] for change in drawn if len(change.path) > 1} == value[0].keys()
        assert all(document.with_change(change) != data for change in drawn)
        assert GONE in [change.now for change in drawn]
    assert str(document.drawn(random.Random(5))) == str(document.drawn(random.Random(5)))  # noqa: S311


@pytest.mark.parametrize(
    ("field", "was", "now", "lawful"),
    [
        ("confidence", 0.25, "0.5", True),
        ("confidence", 0.25, "x", False),
        ("confidence", 0.25, True, False),
        ("gold", "4", 1, True),
        ("gold", "4", ["x"], True),
        ("gold", "4", True, False),
        ("gold", "4", float("nan"), False),
        ("gold", "4", {"a": 1}, False),
        ("target", "4", ["x"], False),
        ("target", "4", 1, False),
        ("correct", 0, True, True),
        ("correct", "no", {"a": 1}, False),
    ],
)
def test_what_may_stand_in_a_field(field: str, was: object, now: object, *, lawful: bool) -> None:
    assert is_lawful(Retyped((0, field), was, now)) is lawful


def test_a_sample_less_is_lawful_and_a_choice_less_is_not() -> None:
    assert is_lawful(Retyped((0, "samples", 1), "4", GONE))
    assert not is_lawful(Retyped((0, "choices", 1), "4", GONE))
