"""Responses of OpenAI-style servers: letters, samples, failures, and right answers from a table."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from calib_core import readers
from calib_core.errors import BadRowsFound, Refused
from calib_core.readers.servers.responses import ServerAnswer, ServerResponse, group_by_stem, merge_by_stem
from calib_core.results.files import check_file, usable_runs
from core.readers.server_logs import (
    batch,
    chat,
    confidences,
    letter_answer,
    log,
    only_run,
    outcomes,
    read_lines,
    table,
    token,
)

FOUR = (("A", 0.7), ("B", 0.1), ("C", 0.1), ("D", 0.1))
OTHER = (("D", 0.4), ("C", 0.3), ("B", 0.2), ("A", 0.1))


def test_letters_are_a_distribution_and_their_raw_mass_is_the_given_one(tmp_path: Path) -> None:
    reading = read_lines(tmp_path, letter_answer(FOUR, "a", gold="A"), letter_answer(OTHER, "b", gold="C"))
    run = only_run(reading)
    assert (run.format, run.info.model, run.rows["id"].to_list()) == ("openai", "gpt-x", ["a", "b"])
    assert confidences(run, "choice_softmax") == pytest.approx([0.7, 0.4], abs=1e-12)
    assert outcomes(run, "choice_softmax") == [True, False]
    assert confidences(run, "given") == pytest.approx([0.7, 0.4], abs=1e-12)
    assert confidences(run, "logit_answer") == pytest.approx([0.7, 0.4], abs=1e-12)


def test_spellings_of_a_letter_are_added_up_and_other_tokens_are_the_other_mass(tmp_path: Path) -> None:
    listed = (("A", 0.4), (" A", 0.2), ("\u0120B", 0.1), ("(C)", 0.1), ("The", 0.15), ("d", 0.02))
    reading = read_lines(tmp_path, letter_answer(listed, "a", gold="A"), letter_answer(OTHER, "b", gold="C"))
    row = only_run(reading).rows.row(0, named=True)
    assert row["choice_logprobs"] == pytest.approx([log(0.6), log(0.1), log(0.1), None])
    assert row["choice_logprob_floor"] == pytest.approx(log(0.02))
    assert row["choice_other_mass"] == pytest.approx(0.17)
    assert row["confidence"] == pytest.approx(0.6)
    assert any("spellings" in note for note in reading.notes)


def test_a_letter_that_is_not_listed_is_unknown_and_zero_only_where_nothing_is_left(tmp_path: Path) -> None:
    sentinel = letter_answer((("A", 1.0), ("B", 0.0)), "c", gold="A")
    reading = read_lines(
        tmp_path, letter_answer(FOUR, "a", gold="A"), letter_answer(FOUR[:2], "b", gold="D"), sentinel
    )
    run = only_run(reading)
    assert run.rows["choice_logprobs"].to_list()[1][2:] == [None, None]
    assert run.rows["choice_logprobs"].to_list()[2] == [0.0, -math.inf, -math.inf, -math.inf]
    assert confidences(run, "choice_softmax") == pytest.approx([0.7, 0.875, 1.0], abs=1e-12)
    assert any("In 1 row a letter is not listed" in note for note in reading.notes)


def test_a_letter_behind_its_marker_is_noted_as_conditional_on_the_text(tmp_path: Path) -> None:
    tokens = [token([(text, 0.9)]) for text in ("A", " long", " way", ".", " Answer", ":")]
    tokens.append(token([(" B", 0.6), (" A", 0.3), (" C", 0.05), (" D", 0.05)]))
    long = batch("a", chat("A long way. Answer: B", tokens=tokens), gold="B")
    reading = read_lines(tmp_path, long, letter_answer(FOUR, "b", gold="D"))
    run = only_run(reading)
    assert run.rows["prediction"].to_list() == ["B", "A"]
    assert run.rows["answer_start"].to_list() == [6, 0]
    assert confidences(run, "choice_softmax") == pytest.approx([0.6, 0.7])
    assert confidences(run, "logit_path")[0] == pytest.approx((6 * 0.9 + 0.6) / 7)
    assert any("text precedes the letter" in note for note in reading.notes)


def test_letters_within_a_text_are_not_an_answer(tmp_path: Path) -> None:
    tokens = [token([(text, 0.9)]) for text in ("A", " good", " one")]
    reading = read_lines(
        tmp_path, batch("a", chat("A good one", tokens=tokens), gold="B"), letter_answer(FOUR, "b", gold="D")
    )
    run = only_run(reading)
    assert run.rows["choice_logprobs"].null_count() == 1
    assert run.rows["prediction"].to_list() == ["A good one", "A"]


def test_failures_and_refusals_are_missing_and_counted(tmp_path: Path) -> None:
    reading = read_lines(
        tmp_path,
        letter_answer(FOUR, "a", gold="A"),
        batch("b", None, gold="A"),
        batch("c", {"error": {"message": "rate"}}, 429, gold="A"),
        batch("d", chat(None, refusal="I cannot"), gold="A"),
        batch("e", chat("B"), gold="A"),
    )
    run = only_run(reading)
    assert run.rows["status"].to_list() == [None, "error", "error", "refused", None]
    assert confidences(run, "choice_softmax") == pytest.approx([0.7])
    assert check_file(reading).runs[0].accuracy == 0.5
    said = "Of 5 responses 2 failed or expired, 1 refused, 1 without log-probabilities."
    assert said in reading.notes


def test_several_answers_are_samples_and_none_is_the_greedy_one(tmp_path: Path) -> None:
    bodies = [chat("The answer is 18.", "18", "It is 19", "none"), chat("7", "8", "7", "7")]
    lines = [batch(str(at), body, gold=str(18 - 11 * at)) for at, body in enumerate(bodies)]
    run = only_run(read_lines(tmp_path, *lines))
    assert run.info.path_of == "sample_0"
    assert "prediction" not in run.rows.columns or run.rows["prediction"].null_count() == 2
    assert confidences(run, "cluster_size") == pytest.approx([0.5, 0.75])
    assert outcomes(run, "cluster_size") == [True, True]


def test_true_and_false_give_p_true_of_a_proposed_answer(tmp_path: Path) -> None:
    lines = [
        letter_answer((("True", 0.6), (" true", 0.1), ("False", 0.2)), "a", gold="True"),
        letter_answer((("False", 0.8), ("True", 0.15)), "b", gold="True"),
        letter_answer((("False", 0.8), ("True", 0.1)), "c", gold="False"),
    ]
    run = only_run(read_lines(tmp_path, *lines))
    assert confidences(run, "p_true") == pytest.approx([0.7, 0.15, 0.1])
    assert outcomes(run, "p_true") == [True, True, False]
    assert run.rows["p_false"].to_list() == pytest.approx([0.2, 0.8, 0.8])


@pytest.mark.parametrize("wrong", [0.5, float("nan"), "high"])
def test_an_invalid_log_probability_is_a_bad_row_with_its_line(tmp_path: Path, wrong: object) -> None:
    line = letter_answer(FOUR, "b", gold="A")
    content = line["response"]["body"]["choices"][0]["logprobs"]["content"]
    content[0]["logprob"] = wrong
    reading = read_lines(tmp_path, letter_answer(FOUR, "a", gold="A"), line)
    with pytest.raises(BadRowsFound, match=r"row 2 \(line 2\), column 'logprobs'"):
        usable_runs(reading)
    assert confidences(only_run(reading), "choice_softmax") == pytest.approx([0.7])


def test_a_list_summing_above_one_and_an_invalid_listed_value_are_bad_rows(tmp_path: Path) -> None:
    above = letter_answer((("A", 0.9), ("B", 0.4)), "b", gold="A")
    listed = letter_answer(FOUR, "c", gold="A")
    listed["response"]["body"]["choices"][0]["logprobs"]["content"][0]["top_logprobs"][2]["logprob"] = 0.7
    reading = read_lines(tmp_path, letter_answer(FOUR, "a", gold="A"), above, listed)
    places = {(cell.row, cell.column) for problem in reading.problems for cell in problem.first_cells}
    assert places == {(2, "top_logprobs"), (3, "top_logprobs")}


def test_one_response_alone_a_list_of_them_and_the_responses_interface(tmp_path: Path) -> None:
    gold = table(tmp_path, "id,gold\nchatcmpl-1,B\nr1,B\n")
    body = chat("B", tokens=[token([("B", 0.8), ("A", 0.2)])])
    said = {"type": "output_text", "text": "B", "logprobs": [token([("B", 0.8), ("A", 0.2)])]}
    reply = {
        "id": "r1",
        "object": "response",
        "model": "gpt-x",
        "status": "completed",
        "output": [{"type": "reasoning"}, {"type": "message", "content": [said]}],
    }
    for name, value in (("one.json", body), ("list.json", [body]), ("reply.json", reply)):
        path = tmp_path / name
        path.write_text(json.dumps(value, indent=1))
        run = only_run(readers.read(path, gold=gold))
        assert confidences(run, "choice_softmax") == pytest.approx([0.8])


def test_legacy_answers_and_echoed_choices_scored_one_by_one(tmp_path: Path) -> None:
    def scored(number: int, ends: list[tuple[str, float]]) -> dict[str, Any]:
        tokens = ["Capital", ":", *(text for text, _ in ends)]
        logs = [None, -0.7, *(math.log(prob) for _, prob in ends)]
        legacy = {"text": "".join(tokens), "logprobs": {"tokens": tokens, "token_logprobs": logs}}
        body = {"object": "text_completion", "choices": [{**legacy, "finish_reason": "length"}]}
        return batch(f"cap/{number}", {**body, "usage": {"prompt_tokens": len(tokens)}})

    ends = ([(" Paris", 0.7)], [(" Ly", 0.05), ("on", 0.8)], [(" Nice", 0.02)])
    lines = [scored(number, end) for number, end in enumerate(ends)]
    gold = table(tmp_path, "id,gold\ncap,Paris\n")
    run = only_run(read_lines(tmp_path, *lines, gold=gold))
    assert run.rows["choices"].to_list() == [["Paris", "Lyon", "Nice"]]
    assert confidences(run, "choice_softmax") == pytest.approx([0.7 / 0.76])
    assert confidences(run, "choice_length_normalised") == pytest.approx([0.7 / 0.92])
    alone = read_lines(tmp_path, *lines)
    assert any("--gold TABLE" in note and "before the number" in note for note in alone.notes)
    assert check_file(alone).status == "refused"


def test_choices_that_begin_alike_are_distinguished_by_the_table(tmp_path: Path) -> None:
    def scored(number: int, end: str, prob: float) -> dict[str, Any]:
        tokens, logs = ["Q:", " New", end], [None, math.log(0.5), math.log(prob)]
        choice = {"text": "", "finish_reason": "x", "logprobs": {"tokens": tokens, "token_logprobs": logs}}
        return batch(f"q/{number}", {"object": "text_completion", "choices": [choice]})

    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps({"id": "q", "gold": "New York", "choices": ["New York", "New Jersey"]}))
    run = only_run(read_lines(tmp_path, scored(0, " York", 0.6), scored(1, " Jersey", 0.2), gold=path))
    assert run.rows["choice_token_counts"].to_list() == [[2, 2]]
    assert run.rows["choice_logprobs"].to_list()[0] == pytest.approx([math.log(0.3), math.log(0.1)])


def test_batch_input_and_streamed_pieces_are_refused_by_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="input of an OpenAI batch: questions only"):
        read_lines(tmp_path, {"custom_id": "a", "method": "POST", "url": "/v1", "body": {}})
    with pytest.raises(Refused, match="pieces of a streamed answer"):
        read_lines(tmp_path, {"choices": [{"delta": {"content": "A"}, "finish_reason": None}]})


def test_a_table_with_the_same_keys_and_plain_values_stays_a_table(tmp_path: Path) -> None:
    rows = [{"custom_id": "a", "response": "B", "choices": ["x", "y"], "confidence": 0.5, "correct": True}]
    assert read_lines(tmp_path, *rows).format == "table"


def test_damaged_lines_and_repeated_ids_are_bad_rows(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    good = json.dumps(letter_answer(FOUR, "a", gold="A"))
    path.write_text(f"{good}\n{{half\n{good}\n")
    reading = readers.read(path)
    assert (reading.n_rows, reading.n_bad_rows) == (3, 2)
    assert {cell.line for problem in reading.problems for cell in problem.first_cells} == {2, 3}


def test_letters_that_the_file_does_not_say_are_named_with_what_shows_them(tmp_path: Path) -> None:
    def letter_notes(*lines: dict[str, Any], **options: Any) -> list[str]:
        notes = read_lines(tmp_path, *lines, **options).notes
        return [note for note in notes if "are taken to be" in note]

    (right,) = letter_notes(letter_answer(FOUR[:2], "a", gold="A"), letter_answer(FOUR[:2], "b", gold="C"))
    assert right == (
        "In 2 rows the choices are not listed and are taken to be A to C: in the whole file, C is the "
        "last letter that is a right answer."
    )
    (listed,) = letter_notes(letter_answer(FOUR, "a", gold="A"), letter_answer(FOUR, "b", gold="B"))
    assert "A to D: in the whole file, at least half of the lists of likely tokens hold each" in listed
    named = (("D", 0.5), ("A", 0.5))
    (given,) = letter_notes(letter_answer(FOUR[:2], "a", gold="A"), letter_answer(named, "b", gold="B"))
    assert "A to D: in the whole file, D is the last letter that at least a tenth of" in given
    (half,) = letter_notes(letter_answer(FOUR, "a", gold="A"), letter_answer(FOUR[:2], "b", gold="B"))
    assert "A to D: in the whole file, at least half of the lists of likely tokens hold each" in half
    rest = [letter_answer(FOUR[:2], f"q{at}", gold="B") for at in range(10)]
    (tenth,) = letter_notes(letter_answer(named, "b", gold="B"), *rest[:9])
    assert "A to D: in the whole file, D is the last letter that at least a tenth of" in tenth
    (less,) = letter_notes(letter_answer(named, "b", gold="B"), *rest)
    assert "taken to be A and B:" in less
    (two,) = letter_notes(letter_answer(FOUR[:2], "a", gold="A"), letter_answer(FOUR[:2], "b", gold="B"))
    assert "taken to be A and B:" in two
    choices = {"choices": ["red", "blue"], "gold": "red"}
    assert letter_notes(letter_answer(FOUR[:2], "a", **choices)) == []


def test_answers_of_one_question_are_in_order_of_their_numbers_and_told_by_its_first_line() -> None:
    responses = [
        ServerResponse(id="q/1", answers=(ServerAnswer("second"),), line=7),
        ServerResponse(id="q/0", answers=(ServerAnswer("first"),), line=8),
    ]
    (merged,) = merge_by_stem(responses, group_by_stem(responses), "custom_id")
    assert [answer.text for answer in merged.answers] == ["first", "second"]
    assert (merged.id, merged.line) == ("q", 7)


def test_a_question_of_which_one_response_has_no_answer_is_missing() -> None:
    responses = [
        ServerResponse(id="q/0", answers=(ServerAnswer("first"),)),
        ServerResponse(id="q/1"),
    ]
    (merged,) = merge_by_stem(responses, group_by_stem(responses), "custom_id")
    assert merged.status == "error"


def test_a_response_that_stands_there_twice_is_no_second_answer() -> None:
    responses = [ServerResponse(id=f"q/{at}", answers=(ServerAnswer("same"),)) for at in (0, 1, 1)]
    (merged,) = merge_by_stem(responses, group_by_stem(responses), "custom_id")
    assert merged.broken is not None
    assert (merged.broken.column, merged.broken.found) == ("custom_id", "'q/1'")
