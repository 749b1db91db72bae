"""Samples logs of lm-evaluation-harness: choices, samples, filters, and faults in them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from calib_core import readers
from calib_core.errors import Unavailable
from calib_core.readers.format import Reading
from calib_core.results.evidence import gather_evidence
from calib_core.results.files import check_file
from calib_core.runs import AnswerRun
from core.readers.lm_eval_logs import choice_record, lines, name_of, with_acc, write_log

THIRDS = [-0.5, -1.5, -2.5, -3.5]


def only_run(reading: Reading) -> AnswerRun:
    (run,) = reading.good_runs
    assert isinstance(run, AnswerRun)
    return run


def write(tmp_path: Path, *records: dict[str, Any]) -> Reading:
    return readers.read(write_log(tmp_path, "quiz", records))


def test_choices_with_their_raw_numbers_and_lengths_without_the_delimiter(tmp_path: Path) -> None:
    records = [with_acc(choice_record(at, THIRDS, str(2 * at)), 2 * at) for at in range(2)]
    run = only_run(write(tmp_path, *records))
    assert run.format == "lm_eval"
    assert run.rows["id"].to_list() == ["0", "1"]
    assert run.rows["question"].to_list() == ["question 0", "question 1"]
    assert run.rows["choices"].to_list()[0] == ["salt", "an old bridge", "café", "zinc"]
    assert run.rows["choice_logprobs"].to_list()[0] == THIRDS
    assert run.rows["choice_char_counts"].to_list()[0] == [4, 13, 4, 4]
    assert run.rows["choice_byte_counts"].to_list()[0] == [4, 13, 5, 4]
    assert run.rows["gold_index"].to_list() == [0, 2]


def test_length_normalised_is_by_characters_and_says_so(tmp_path: Path) -> None:
    record = choice_record(0, [-2.0, -4.0], "1", choices=("salt", "an old bridge"))
    run = only_run(write(tmp_path, record))
    confidences = gather_evidence(run, "choice_length_normalised").confidences
    weights = [math.exp(-2 / 4), math.exp(-4 / 13)]
    assert confidences.pairs.confidence[0] == pytest.approx(weights[1] / sum(weights), abs=1e-12)
    assert confidences.pairs.correct.tolist() == [True]
    assert "character" in confidences.recipe[0]
    assert gather_evidence(run, "choice_softmax").confidences.pairs.correct.tolist() == [False]


def test_numbers_and_flags_may_be_native_and_the_whole_one_list(tmp_path: Path) -> None:
    """As versions before 0.4.2 wrote it, arguments as lists and no filter, hash or metrics."""
    record = {
        "doc_id": 0,
        "doc": {"question": "Q"},
        "target": 1,
        "acc": 1.0,
        "arguments": [["Q", " yes"], ["Q", " no"]],
        "resps": [[[-2.0, False]], [[-0.5, True]]],
        "filtered_resps": [[-2.0, False], [-0.5, True]],
    }
    path = tmp_path / "pretrained__fixture__tiny-7b_quiz.jsonl"
    path.write_text(json.dumps([record], indent=1))
    run = only_run(readers.read(path))
    assert run.rows["choice_logprobs"].to_list() == [[-2.0, -0.5]]
    assert run.rows["choices"].to_list() == [["yes", "no"]]
    assert gather_evidence(run, "choice_softmax").confidences.pairs.correct.tolist() == [True]
    assert run.label == "pretrained__fixture__tiny-7b_quiz"


def test_the_logs_of_lmms_eval_are_read(tmp_path: Path) -> None:
    path = tmp_path / "mme.json"
    path.write_text(json.dumps({"args": {}, "model_configs": {}, "logs": [choice_record(0, THIRDS, "0")]}))
    assert only_run(readers.read(path)).rows.height == 1


def test_letters_are_scored_and_the_texts_of_the_document_shown(tmp_path: Path) -> None:
    doc = {"question": "Which?", "choices": ["Paris", "Rome", "2", "Bern"]}
    records = [with_acc(choice_record(0, THIRDS, "2", choices="ABCD", doc=doc), 2)]
    run = only_run(write(tmp_path, *records))
    assert run.rows["choices"].to_list() == [["Paris", "Rome", "2", "Bern"]]
    assert run.rows["choice_char_counts"].to_list() == [[1, 1, 1, 1]]
    assert run.rows["gold_index"].to_list() == [2]


def test_without_a_space_before_the_choice_nothing_is_cut(tmp_path: Path) -> None:
    requests = {"gen_args_0": {"arg_0": "Q", "arg_1": "salt"}, "gen_args_1": {"arg_0": "Q", "arg_1": "zinc"}}
    run = only_run(write(tmp_path, choice_record(0, [-1, -2], "0", arguments=requests)))
    assert run.rows["choices"].to_list() == [["salt", "zinc"]]


def test_the_second_half_without_the_question_is_not_a_choice(tmp_path: Path) -> None:
    asked = [("Q", " salt"), ("Q", " zinc"), ("", " salt"), ("", " zinc")]
    requests = {f"gen_args_{at}": {"arg_0": one, "arg_1": two} for at, (one, two) in enumerate(asked)}
    reading = write(tmp_path, choice_record(0, [-1.0, -2.0, -9.0, -0.1], "0", arguments=requests, acc=1.0))
    assert only_run(reading).rows["choice_logprobs"].to_list() == [[-1.0, -2.0]]
    assert "without the question" in " ".join(reading.notes)


def cloze_record(doc_id: int, best: int, answer: object, **doc: object) -> dict[str, Any]:
    requests = {
        f"gen_args_{at}": {"arg_0": f"The box did not fit the van because {text}", "arg_1": " was too small."}
        for at, text in enumerate(("the box", "the van"))
    }
    numbers = [-1.0, -2.0] if best == 0 else [-2.0, -1.0]
    return choice_record(doc_id, numbers, "was too small.", arguments=requests, doc={"answer": answer, **doc})


@pytest.mark.parametrize("first", [0, 1])
def test_a_cloze_task_has_its_gold_in_the_document_counted_as_acc_says(tmp_path: Path, first: int) -> None:
    records = [cloze_record(0, 0, first), cloze_record(1, 0, str(first + 1)), cloze_record(2, 1, first + 1)]
    known = [with_acc(record, right) for record, right in zip(records, (0, 1, 1), strict=True)]
    reading = write(tmp_path, *known)
    run = only_run(reading)
    assert run.rows["choices"].to_list()[0] == ["box", "van"]
    assert run.rows["gold_index"].to_list() == [0, 1, 1]
    assert "doc.answer" in " ".join(reading.notes)
    with pytest.raises(Unavailable, match="length is unknown"):
        gather_evidence(run, "choice_length_normalised")


def test_a_target_that_contradicts_acc_is_read_in_the_next_way(tmp_path: Path) -> None:
    """Choices "1" and "0": acc shows that target "1" is meant as a position here."""
    records = [
        with_acc(choice_record(at, numbers, "1", choices=("1", "0")), 1)
        for at, numbers in enumerate(([-1.0, -2.0], [-2.0, -1.0]))
    ]
    reading = write(tmp_path, *records)
    assert only_run(reading).rows["gold_index"].to_list() == [1, 1]
    assert "as a position" in " ".join(reading.notes)


def test_text_comes_before_position(tmp_path: Path) -> None:
    records = [with_acc(choice_record(0, THIRDS, "0", choices=("3", "2", "1", "0")), 3)]
    assert only_run(write(tmp_path, *records)).rows["gold_index"].to_list() == [3]


def test_where_no_reading_agrees_acc_alone_judges_the_top_label(tmp_path: Path) -> None:
    records = [
        choice_record(0, [-0.5, -1.5], "0", choices=("x", "y"), acc=1.0),
        choice_record(1, [-0.5, -1.5], "0", choices=("x", "y"), acc=0.0),
    ]
    reading = write(tmp_path, *records)
    run = only_run(reading)
    confidences = gather_evidence(run, "given").confidences
    share = 1 / (1 + math.exp(-1))
    assert confidences.pairs.confidence.tolist() == pytest.approx([share, share], abs=1e-12)
    assert confidences.pairs.correct.tolist() == [True, False]
    assert "No reading of target agrees" in " ".join(reading.notes)
    with pytest.raises(Unavailable):
        gather_evidence(run, "choice_softmax")


def test_several_right_choices_leave_the_top_label_judged_by_acc(tmp_path: Path) -> None:
    records = [choice_record(0, THIRDS, "[0, 2]", acc=1.0), choice_record(1, THIRDS, "[1, 2]", acc=0.0)]
    run = only_run(write(tmp_path, *records))
    assert run.rows["gold_all"].to_list() == [["salt", "café"], ["an old bridge", "café"]]
    assert gather_evidence(run, "given").confidences.pairs.correct.tolist() == [True, False]
    with pytest.raises(Unavailable):
        gather_evidence(run, "choice_softmax")


def test_true_and_false_are_also_p_true(tmp_path: Path) -> None:
    records = [
        with_acc(choice_record(0, [-0.25, -1.5], "0", choices=("True", "False")), 0),
        with_acc(choice_record(1, [-0.25, -1.5], "1", choices=("True", "False")), 1),
    ]
    run = only_run(write(tmp_path, *records))
    confidences = gather_evidence(run, "p_true").confidences
    assert confidences.pairs.confidence.tolist() == pytest.approx([math.exp(-0.25)] * 2)
    assert confidences.pairs.correct.tolist() == [True, False]
    assert run.rows["p_false"].to_list() == pytest.approx([math.exp(-1.5)] * 2)


MISNAMED = {
    f"gen_args{separator}{at}": {"arg_0": "Q", "arg_1": f" {at}"} for at, separator in enumerate("__W_")
}
"""Requests of which one would come first by its key."""


@pytest.mark.parametrize(
    ("record", "column", "found"),
    [
        (choice_record(1, ["-1.0", "nan", "-2", "-3"], "0"), "filtered_resps", "nan"),
        (choice_record(1, ["-inf"] * 4, "0"), "filtered_resps", "-inf"),
        (choice_record(1, ["0.5", "-1", "-2", "-3"], "0"), "filtered_resps", "0.5"),
        (choice_record(1, [-1.0] * 3, "0"), "filtered_resps", "3: "),
        (choice_record(1, THIRDS, "4"), "target", "4"),
        (choice_record(1, THIRDS, "lead"), "target", "lead"),
        (choice_record(0, THIRDS, "0"), "doc_id", "0"),
        (choice_record(1, THIRDS, "0", arguments=MISNAMED), "arguments.gen_argsW2", "gen_argsW2"),
    ],
)
def test_a_bad_record_is_reported_by_its_field(
    tmp_path: Path, record: dict[str, Any], column: str, found: str
) -> None:
    reading = write(tmp_path, choice_record(0, THIRDS, "0"), record)
    assert (reading.n_rows, reading.n_bad_rows) == (2, 1)
    (cell,) = (cell for problem in reading.problems for cell in problem.first_cells)
    assert (cell.row, cell.line, cell.column) == (2, 2, column)
    assert found in cell.found
    assert only_run(reading).rows.height == 1


def test_one_impossible_choice_has_probability_0(tmp_path: Path) -> None:
    run = only_run(write(tmp_path, choice_record(0, ["-inf", "-1", "-1", "-inf"], "1")))
    distribution = gather_evidence(run, "choice_softmax").confidences.distribution
    assert distribution is not None
    assert distribution.probs.tolist() == [0.0, 0.5, 0.5, 0.0]


def test_without_a_target_a_row_is_missing_and_not_bad(tmp_path: Path) -> None:
    reading = write(tmp_path, choice_record(0, THIRDS, "0"), choice_record(1, THIRDS, None))
    assert reading.n_bad_rows == 0
    evidence = gather_evidence(only_run(reading), "choice_softmax")
    assert (evidence.n_used, dict(evidence.missing)) == (1, {"no gold": 1})


def test_a_line_that_is_not_a_record_is_a_bad_row(tmp_path: Path) -> None:
    path = tmp_path / name_of("quiz")
    path.write_text(lines([choice_record(0, THIRDS, "0")]) + '{"doc_id": 1, "re\n[1]\n')
    reading = readers.read(path)
    assert (reading.n_rows, reading.n_bad_rows) == (3, 2)
    assert {problem.kind for problem in reading.problems} == {"not JSON", "not an object"}


def test_the_log_likelihood_of_one_text_is_not_a_confidence(tmp_path: Path) -> None:
    record = choice_record(0, [-0.1], "x", choices=("x",), acc=1.0)
    report = check_file(write(tmp_path, record))
    assert report.status == "refused"
    assert "1 of 1" in report.message


def test_subtasks_joined_in_one_file_are_distinguished_by_their_hash(tmp_path: Path) -> None:
    records = [choice_record(0, THIRDS, "0", doc_hash=sha) for sha in ("a" * 64, "b" * 64)]
    run = only_run(write(tmp_path, *records))
    assert run.rows["id"].to_list() == [f"0 ({'a' * 64})", f"0 ({'b' * 64})"]


def test_a_doc_id_that_may_be_wrong_gives_way_to_the_hash(tmp_path: Path) -> None:
    """`--samples` with an unsorted list writes the ids of other documents."""
    run = only_run(write(tmp_path, choice_record(7, THIRDS, "0"), choice_record(2, THIRDS, "0")))
    assert run.rows["id"].to_list() == [f"{7:064x}", f"{2:064x}"]
    ranks = only_run(write(tmp_path, choice_record(1, THIRDS, "0"), choice_record(0, THIRDS, "0")))
    assert ranks.rows["id"].to_list() == ["1", "0"]


def test_little_mass_on_the_choices_is_noted(tmp_path: Path) -> None:
    far = write(tmp_path, choice_record(0, [-14.0, -15.0, -16.0, -17.0], "0"))
    assert "outside the choices" in " ".join(far.notes)
    near = write(tmp_path, choice_record(0, THIRDS, "0"))
    assert "outside the choices" not in " ".join(near.notes)


def test_a_category_of_the_documents_makes_groups(tmp_path: Path) -> None:
    records = [choice_record(at, THIRDS, "0", doc={"category": "ab"[at % 2]}) for at in range(8)]
    assert only_run(write(tmp_path, *records)).group_columns["doc.category"].to_list() == ["a", "b"] * 4
