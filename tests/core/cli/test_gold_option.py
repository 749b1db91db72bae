"""Every verb that reads files takes right answers from the named table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import calib_core
from calib_core.errors import Refused
from calib_core.runs import AnswerRun
from core.cli_calls import make_caller, write
from core.readers.server_logs import letter_answer, table

FOUR = (("A", 0.7), ("B", 0.1), ("C", 0.1), ("D", 0.1))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(letter_answer(FOUR, id_)) + "\n" for id_ in "abcd"))
    return path


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return table(tmp_path, "custom_id,answer\na,A\nb,A\nc,A\nd,B\n")


def test_scores_are_against_the_named_table(
    log: Path, gold: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("score", log, "--gold", gold, "--method", "choice_softmax", "--metric", "accuracy", "--json")
    answer = make_caller(capsys)(*words)
    assert answer.code == 0, answer.err
    assert answer.element["value"] == 0.75


@pytest.mark.parametrize("verb", ["check", "bins", "sweep", "compare"])
def test_other_verbs_read_with_it_too(
    log: Path, gold: Path, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = make_caller(capsys)(verb, log, "--gold", gold, "--json")
    assert answer.code == 0, answer.err


@pytest.mark.parametrize("verb", ["check", "score", "bins", "sweep", "samples", "compare", "convert"])
def test_every_verb_that_reads_answers_has_the_option(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--gold" in make_caller(capsys)(verb, "--help").out


def test_without_it_the_message_says_how_to_give_one(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = make_caller(capsys)("score", log)
    assert answer.code == 2
    assert "--gold TABLE" in " ".join(answer.err.split())


def test_columns_of_the_table_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = make_caller(capsys)
    said = write(tmp_path, "said.csv", "q,confidence\none,0.9\ntwo,0.8\n")
    gold = write(tmp_path, "verdicts.csv", "q,our=verdict\none,wrong\ntwo,fine\n")
    words = ("--gold", gold, "--on", "q", "--map-gold", "our=verdict=correct:fine")
    answer = call("score", said, *words, "--metric", "accuracy", "--json")
    assert answer.element["value"] == 0.5
    (run,) = calib_core.load(said, gold=gold, on="q", gold_columns={"our=verdict": "correct:fine"})
    assert calib_core.score(run, metric="brier").value == pytest.approx((0.81 + 0.04) / 2)
    with pytest.raises(
        Refused, match=r'gold_columns=\{"COLUMN": "correct"\} or gold_columns=\{"COLUMN": "human"\}$'
    ):
        calib_core.load(said, gold=gold, on="q")
    without = call("score", said, "--map-gold", "x=gold")
    assert without.code == 2
    assert "--map-gold: expected a table to go with it, --gold TABLE" in without.err


def test_labels_of_people_stand_in_a_table_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = make_caller(capsys)
    rows = "".join(f"{at},{'pass' if at % 3 else 'fail'}\n" for at in range(30))
    judged = write(tmp_path, "judged.csv", f"id,judge\n{rows}")
    people = write(tmp_path, "people.csv", "id,label\n0,fail\n1,pass\n2,fail\n")
    refused = call("check", judged)
    assert refused.code == 2
    assert "--gold TABLE --map-gold COLUMN=human" in refused.out
    answer = call("check", judged, "--gold", people, "--map-gold", "label=human.anna")
    assert answer.code == 0
    assert "Labels of people.csv, joined on id: 3 of 30 rows have one." in answer.out
    (run,) = calib_core.load(judged, gold=people, gold_columns={"label": "human"})
    assert isinstance(run, AnswerRun)
    assert run.rows["human"].to_list()[:4] == ["fail", "pass", "fail", None]
