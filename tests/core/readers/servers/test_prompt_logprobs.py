"""Choices are scored from vLLM's prompt log-probabilities if their tokens are certain."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from calib_core import readers
from calib_core.readers.servers.openai import prompt_logprobs
from calib_core.readers.servers.responses import ServerAnswer, score_choices
from core.readers.server_logs import confidences, only_run, outcomes, read_lines, table
from fixture_files import FIXTURES


def entry(text: str, logprob: float, rank: int) -> dict[str, Any]:
    return {"logprob": logprob, "rank": rank, "decoded_token": text}


def likely_tokens(own: tuple[str, float], *, listed: bool = False) -> dict[str, Any]:
    """Two likely tokens and the prompt's own, which is the second of them where it is listed."""
    two = {"1": entry(" the", -0.5, 1), "2": entry(" of", -1.5, 2)}
    return {**two, "2": entry(*own, 2)} if listed else {**two, "9": entry(*own, 40)}


def scored_prompt(id_: str, *ends: tuple[str, float], ids: list[int] | None = None) -> dict[str, Any]:
    """A completion whose prompt is "Capital ?" and the ends."""
    prompt = [None, likely_tokens((" ?", -2.0)), *(likely_tokens(end) for end in ends)]
    choice = {"index": 0, "text": "x", "finish_reason": "length", "prompt_logprobs": prompt}
    return {"custom_id": id_, "object": "text_completion", "model": "m", "choices": [choice]} | (
        {} if ids is None else {"prompt_token_ids": ids}
    )


def test_choices_that_end_a_prompt_are_scored(tmp_path: Path) -> None:
    lines = [
        scored_prompt("q/0", (" Paris", math.log(0.7))),
        scored_prompt("q/1", (" Ly", math.log(0.05)), ("on", math.log(0.8))),
        scored_prompt("q/2", (" Nice", math.log(0.02))),
    ]
    gold = table(tmp_path, "custom_id,gold\nq,Paris\n")
    run = only_run(read_lines(tmp_path, *lines, gold=gold))
    assert run.rows["choices"].to_list() == [["Paris", "Lyon", "Nice"]]
    assert run.rows["choice_token_counts"].to_list() == [[1, 2, 1]]
    assert confidences(run, "choice_softmax") == pytest.approx([0.7 / 0.76])
    assert outcomes(run, "choice_softmax") == [True]


def test_how_many_responses_a_question_has_is_said(tmp_path: Path) -> None:
    lines = [scored_prompt(f"q/{at}", (f" {at}", -1.0)) for at in range(3)]
    further = [scored_prompt(f"r/{at}", (f" {at}", -1.0)) for at in range(2)]
    even = read_lines(tmp_path, *lines, gold=table(tmp_path, "custom_id,gold\nq,1\n"))
    assert "Responses whose ids differ by /0, /1 … (3 each) are" in " ".join(even.notes)
    uneven = read_lines(tmp_path, *lines, *further, gold=table(tmp_path, "custom_id,gold\nq,1\nr,1\n"))
    assert "(2 to 3 each)" in " ".join(uneven.notes)


def test_one_prompt_answered_several_times_has_no_choices(tmp_path: Path) -> None:
    lines = [scored_prompt(f"q/{at}", (" Paris", -0.3)) for at in range(3)]
    reading = read_lines(tmp_path, *lines, gold=table(tmp_path, "custom_id,gold\nq,x\n"))
    run = only_run(reading)
    assert run.rows["samples"].to_list() == [["x", "x", "x"]]
    assert any("the log-probabilities of the prompt are not used" in note for note in reading.notes)


def test_the_prompt_s_own_token_is_known_by_its_id_by_its_rank_or_not() -> None:
    known = [None, likely_tokens((" ?", -2.0)), likely_tokens((" a", -3.0), listed=True)]
    assert prompt_logprobs({"prompt_logprobs": known, "prompt_token_ids": [5, 9, 2]}) == (
        ("", None),
        (" ?", -2.0),
        (" a", -3.0),
    )
    assert prompt_logprobs({"prompt_logprobs": known}) is None
    alone = {"9": entry(" ?", -2.0, 1)}  # how many likely tokens are listed may differ between positions
    assert prompt_logprobs({"prompt_logprobs": [None, alone, likely_tokens((" a", -3.0))]}) == (
        ("", None),
        (" ?", -2.0),
        (" a", -3.0),
    )
    assert prompt_logprobs({"prompt_logprobs": known}, {"prompt_token_ids": [5, 9]}) is None  # of another one
    assert prompt_logprobs({"prompt_logprobs": known, "prompt_token_ids": [5, 9, 77]}) is None
    assert prompt_logprobs({"prompt_logprobs": [None, {"3": entry("x", -1.0, 7)}]}) == (
        ("", None),
        ("x", -1.0),
    )
    for nothing in ({}, {"prompt_logprobs": None}, {"prompt_logprobs": [None]}, {"prompt_logprobs": 5}):
        assert prompt_logprobs(nothing) == ()
    reading = readers.read(FIXTURES / "vllm" / "prompt_logprobs.jsonl")
    assert any("prompt_token_ids is missing" in note for note in reading.notes)


def test_a_choice_is_the_fewest_last_tokens_that_make_one_up() -> None:
    echoes = [tuple((text, -1.0) for text in texts) for texts in (("It", " Par", "is"), ("It", " Nice"))]
    found = score_choices(
        [ServerAnswer(None, echoed_tokens=echo) for echo in echoes], ["is", "Paris", "Nice"]
    )
    assert found is not None
    assert found.choices == ("is", "Nice")
