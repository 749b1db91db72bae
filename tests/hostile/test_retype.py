"""A value of another type moves no number in silence; `make fuzz-types` is a longer run."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from hostile.good_files import Good, goods
from hostile.retype import Document, Retyper
from hostile.silence import GONE, Change, changes_of, is_lawful
from hostile.verdict import Judge

CHANGES_OF_EACH_FILE = 3


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> tuple[Good, ...]:
    """The good files."""
    return goods(tmp_path_factory.mktemp("goods"))


def test_no_number_changes_in_silence(known: tuple[Good, ...], tmp_path: Path) -> None:
    retyper = Retyper(known)
    judge = Judge(tmp_path / "work", retyper.goods)
    outcomes = Counter[str]()
    faults: list[str] = []
    for seed in range(CHANGES_OF_EACH_FILE * len(retyper.goods)):
        spoilt = retyper.spoilt(seed)
        said = judge.faults(spoilt.good, spoilt.files)
        outcomes[said["outcome"]] += 1
        faults += [f"seed {seed}, {spoilt.good.id}: {fault}" for fault in said["faults"]]
    assert faults == []
    assert outcomes.keys() >= {"equal", "told", "asks", "refused"}


def test_a_change_in_silence_is_noticed(known: tuple[Good, ...], tmp_path: Path) -> None:
    """A file that says something else than what is read moves numbers that it does not account for."""
    good = next(good for good in known if good.id == "jsonl-quiz")
    judge, retyper = Judge(tmp_path / "work", [good]), Retyper([good])

    def retyped(now: object) -> dict[str, bytes]:
        return dict(retyper.changed(good, good.main, Change((3, "confidence"), 0.5, now)).files)

    other = retyped(0.125)
    assert judge.faults(good, other) == {"outcome": "lawful", "faults": []}
    assert judge.faults(good, retyped({"a": 1})) == {"outcome": "asks", "faults": []}
    silent = judge.faults(good, retyped(now=True), read=other)
    assert silent["outcome"] == "silent"
    assert any("moved in silence" in fault and "→ True" in fault for fault in silent["faults"])


def test_another_order_may_move_numbers_only_where_answers_are_joined_on_the_row(
    known: tuple[Good, ...], tmp_path: Path
) -> None:
    plain, numbered = (next(good for good in known if good.id == id_) for id_ in ("jsonl-quiz", "tgi"))
    judge = Judge(tmp_path / "work", [plain, numbered])

    def turned(good: Good, files: Mapping[str, bytes]) -> dict[str, bytes]:
        return {**files, good.main: b"".join(reversed(files[good.main].splitlines(keepends=True)))}

    assert judge.faults(plain, turned(plain, plain.files)) == {"outcome": "equal", "faults": []}
    assert judge.faults(numbered, turned(numbered, numbered.files)) == {"outcome": "lawful", "faults": []}
    other = Retyper([plain]).changed(plain, plain.main, Change((3, "confidence"), 0.5, 0.125)).files
    silent = judge.faults(plain, turned(plain, plain.files), read=turned(plain, other))
    assert silent["outcome"] == "silent"
    assert "numbers moved in silence: the same records in another order" in silent["faults"]


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
        ("confidence", 0.25, 0.125, True),
        ("confidence", "0.25", "1", True),
        ("confidence", 0.25, 1.5, False),
        ("confidence", 0.25, -0.5, False),
        ("confidence", 0.25, "x", False),
        ("confidence", 0.25, True, False),
        ("choice_logprobs", -0.25, float("-inf"), True),
        ("choice_logprobs", -0.25, 0.5, False),
        ("choice_logprobs", -0.25, 1e-9, True),
        ("choice_logprobs", -0.25, 1e-5, False),
        ("target", 3, 4, True),
        ("target", 3, 0.5, False),
        ("gold", "4", 1, True),
        ("gold", "4", "-1", True),
        ("gold", "4", ["x"], True),
        ("gold", "4", True, False),
        ("gold", "4", float("nan"), False),
        ("gold", "4", {"a": 1}, False),
        ("question", "Who?", "Whom?", True),
        ("question", "Who?", " ", False),
        ("target", "4", ["x"], False),
        ("correct", 0, True, True),
        ("correct", "no", "np", False),
        ("correct", "no", {"a": 1}, False),
    ],
)
def test_what_may_stand_in_a_field(field: str, was: object, now: object, *, lawful: bool) -> None:
    assert is_lawful(Change((0, field), was, now)) is lawful


def test_the_range_of_a_field_is_that_of_all_its_values() -> None:
    assert is_lawful(Change((0, "loss"), 0.5, 1.5, others=[0.5, 2]))
    assert is_lawful(Change((0, "share"), 1, 0.5, others=[1, 0.25]))
    assert is_lawful(Change((0, "label: A", "BPB"), 0.7, 2))
    assert not is_lawful(Change((0, "label: A", "BPB"), 0.7, -1))
    assert is_lawful(Change((0, "percent"), 80, 2.5, others=[80, 100]))


def test_a_sample_less_is_lawful_and_a_choice_less_is_not() -> None:
    assert is_lawful(Change((0, "samples", 1), "4", GONE))
    assert not is_lawful(Change((0, "choices", 1), "4", GONE))


def test_a_token_less_is_lawful_where_the_list_alone_counts_them() -> None:
    assert is_lawful(Change((0, "response", "logProbs", 1), -0.5, GONE))
    assert not is_lawful(Change((0, "response", "logProbs"), [-0.5], GONE))
    assert not is_lawful(Change((0, "details", "tokens", 1), {"logprob": -0.5}, GONE))


def test_what_files_say_differently_is_found_wherever_records_stand() -> None:
    good = {
        "a.csv": b"id,p\na,0.5\nb,0.25\n",
        "b.json": b'{"x": {"p": 0.5}}',
        "c.jsonl": b'{"p": 1}\n{"p": 2}\n',
    }
    moved = {
        "a.csv": b"id,p\nb,0.25\na,0.5\n",
        "b.json": b'{"y": {"p": 0.5}}',
        "c.jsonl": b'{"p": 2}\n{"p": 1}\n',
    }
    assert changes_of(good, moved) == ([], [])
    others = {"a.csv": b"id,p\na,0.5\nb,0.75\n", "b.json": b'{"x": {}}', "c.jsonl": b'{"p": 1}\n{"p": 2\n'}
    assert changes_of(good, others) == (
        ["a.csv, 0.p: '0.25' → '0.75'"],
        ["b.json, 0.p: 0.5 → nothing", """c.jsonl, 0: {'p': 2} → '{"p": 2'"""],
    )
