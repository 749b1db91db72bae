"""Responses of text-generation-inference, without special tokens and rejected candidates."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from calib_core import readers
from calib_core.results.files import check_file
from core.readers.server_logs import confidences, only_run, outcomes, read_lines, table
from fixture_files import FIXTURES

Tokens = list[tuple[str, float]]


def entry(text: str, prob: float, *, special: bool = False) -> dict[str, Any]:
    return {"id": 1, "text": text, "logprob": math.log(prob), "special": special}


def generated_response(
    text: str, tokens: Tokens, tops: list[Tokens] | None = None, **more: Any
) -> dict[str, Any]:
    details = {
        "tokens": [entry(*token, special=token[0] == "</s>") for token in tokens],
        "top_tokens": None if tops is None else [[entry(*token) for token in top] for top in tops],
        "prefill": [{"id": 1, "text": "<s>", "logprob": None}],
    }
    return {"generated_text": text, "details": details, **more}


def test_special_tokens_are_not_part_of_the_path(tmp_path: Path) -> None:
    line = generated_response(" Paris", [(" Paris", 0.9), ("</s>", 0.7)], id="a", gold="Paris")
    run = only_run(read_lines(tmp_path, line))
    assert run.format == "tgi"
    assert confidences(run, "logit_path") == pytest.approx([0.9])
    assert outcomes(run, "logit_path") == [True]


@pytest.mark.parametrize("now", [{}, {"special": None}, {"special": "true"}])
def test_a_token_that_does_not_say_whether_it_is_special_is_bad(tmp_path: Path, now: dict[str, Any]) -> None:
    good, bad = (
        generated_response(" Paris", [(" Paris", 0.9), ("</s>", 0.7)], id=id_, gold="Paris") for id_ in "ab"
    )
    del bad["details"]["tokens"][1]["special"]
    bad["details"]["tokens"][1] |= now
    reading = read_lines(tmp_path, good, bad)
    assert reading.n_bad_rows == 1
    (found,) = reading.problems[0].first_cells
    assert found.column == "details.tokens.1.special"


def test_letters_of_the_top_tokens(tmp_path: Path) -> None:
    top = [(" B", 0.5), (" A", 0.3), (" C", 0.1)]
    line = generated_response(" B", [(" B", 0.5)], [top], id="a", gold="D")
    line["details"]["best_of_sequences"] = [generated_response(" A", [(" A", 0.3)])]
    reading = read_lines(tmp_path, line)
    run = only_run(reading)
    assert confidences(run, "choice_softmax") == pytest.approx([5 / 9])
    assert outcomes(run, "choice_softmax") == [False]
    assert "samples" not in run.rows.columns


def test_without_ids_a_table_is_joined_on_the_row(tmp_path: Path) -> None:
    gold = table(tmp_path, "row,gold\n2,Rome\n1,Paris\n")
    lines = [generated_response("Paris", [("Paris", 0.9)]), generated_response("Lyon", [("Lyon", 0.6)])]
    run = only_run(read_lines(tmp_path, *lines, gold=gold))
    assert outcomes(run, "logit_path") == [True, False]
    alone = check_file(read_lines(tmp_path, *lines))
    assert "joined on row: --gold TABLE" in alone.message


def test_a_failed_request_is_missing(tmp_path: Path) -> None:
    failed = {"error": "overloaded", "error_type": "overloaded", "id": "b", "gold": "x"}
    good = generated_response("Paris", [("Paris", 0.9)], id="a", gold="Paris")
    run = only_run(read_lines(tmp_path, good, failed))
    assert run.rows["status"].to_list() == [None, "error"]
    assert len(confidences(run, "logit_path")) == 1


def test_a_table_with_the_same_keys_and_plain_values_stays_a_table(tmp_path: Path) -> None:
    row = {"id": 1, "generated_text": "A", "details": "none", "confidence": 0.5, "correct": True}
    assert read_lines(tmp_path, row).format == "table"


def test_the_fixture(tmp_path: Path) -> None:
    path = FIXTURES / "tgi" / "generate_details.jsonl"
    assert "read as tgi, 2 rows" in check_file(readers.read(path)).message
    run = only_run(readers.read(path, gold=table(tmp_path, "row,answer\n1,Paris\n2,D\n")))
    assert confidences(run, "logit_path") == pytest.approx([0.9, 0.5], abs=1e-6)
    assert confidences(run, "choice_softmax") == pytest.approx([0.555556], abs=1e-6)


@pytest.mark.parametrize(("name", "rows"), [("all_params", "1 row "), ("load", "4 rows ")])
def test_real_answers_have_no_gold(extra_files: Path, name: str, rows: str) -> None:
    report = check_file(
        readers.read(extra_files / "real" / "tgi-top-tokens" / f"test_bloom_560m_{name}.json")
    )
    assert report.status == "refused"
    assert f"read as tgi, {rows}" in report.message
    assert "no gold answers" in report.message
