"""Small files in common published formats are read, or refused with the option to type.

Sentences and numbers are ours; `test_real_files.py` reads such files of other people where there are any.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from calib_core import readers
from calib_core.errors import Refused
from calib_core.readers.format import Reading, ReadOptions
from calib_core.results.files import check_file, usable_runs
from calib_core.runs import AnswerRun
from core.readers import inspect_logs
from core.readers.answer_run_checks import answer_runs
from core.readers.proposed_mappings import figures, proposed_mapping, tried_report


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def load_run(reading: Reading) -> AnswerRun:
    (run,) = answer_runs(usable_runs(reading, skip_bad_rows=True))
    return run


def test_a_white_space_table_of_grades_and_confidences(tmp_path: Path) -> None:
    path = tmp_path / "quiz_no_abst_norm_logits.txt"
    rows = ["Correct 0.95", "Wrong 0.85", "Unparseable 0.75", "Correct 0.65", "Wrong 0.55"] * 4
    path.write_text("\n".join(["grade confidence_level", *rows, ""]), encoding="utf-8")
    report = tried_report(path)
    assert (report.status, report.format) == ("refused", "table")
    assert report.proposal is not None
    assert "--map confidence_level=confidence --map grade=correct" in report.proposal.summary
    run = load_run(readers.read(path, options=ReadOptions(proposed_mapping(path))))
    assert (run.rows.height, run.rows["confidence"].null_count()) == (20, 0)
    # Gaps of the bins: 1 − .95, 0 − .85, 1 − .65 and 0 − .55, a quarter of the rows each.
    assert figures(run, "given") == pytest.approx((16, 0.5, (0.05 + 0.85 + 0.35 + 0.55) / 4))


VERBAL = (
    "",
    "category",
    "correct_answer",
    "extracted_answer",
    "verbal_numerical_confidence",
    "logit_perplexity_confidence",
    "verbal_linguistic_confidence",
    "token_length",
)


def verbal_table(folder: Path, hedged: float = 0.8) -> Path:
    """Twelve answers with three confidences each; one has no answer, one is not stated."""
    rows: list[list[object]] = [
        [
            at,
            "law" if at % 2 else "chemistry",
            "ABCDEFGHIJ"[at % 10],
            "ABCDEFGHIJ"[(at + at % 3) % 10],
            0.95,
            0.75,
            hedged,
            100 + at,
        ]
        for at in range(12)
    ]
    rows[3][3] = ""
    rows[4][4] = ""
    return write_table(folder / "quiz_eval_all_None.csv", VERBAL, rows)


def test_a_table_with_several_confidences_a_row(tmp_path: Path) -> None:
    """An empty answer is missing; a confidence that is not stated lowers the n of its method alone."""
    path = verbal_table(tmp_path)
    reading = readers.read(path, options=ReadOptions(proposed_mapping(path)))
    assert check_file(reading).status == "loads"
    run = load_run(reading)
    assert (run.rows.height, run.rows["subject"].n_unique()) == (12, 2)
    # Right where 3 divides the number: 0, 3 (no answer), 6, 9.
    assert figures(run, "verbal") == pytest.approx((10, 0.3, 0.65))
    assert figures(run, "logit_path") == pytest.approx((11, 3 / 11, 0.75 - 3 / 11))


def test_confidences_above_one_are_bad_rows(tmp_path: Path) -> None:
    path = verbal_table(tmp_path, hedged=1.2)
    reading = readers.read(
        path,
        options=ReadOptions({"verbal_linguistic_confidence": "confidence", "category": "subject"}),
    )
    (problem,) = reading.problems
    assert (problem.kind, problem.count, reading.n_bad_rows) == ("out of range", 12, 12)


def test_a_table_of_summaries_is_refused(tmp_path: Path) -> None:
    header = ("", "law_accuracy", "law_ece_verbal", "law_auroc_verbal", "law_sample_size")
    path = write_table(tmp_path / "category_df.csv", header, [("model-a", 0.71, 0.12, "", 120)] * 3)
    report = check_file(readers.read(path))
    assert report.status == "refused"
    assert "has no column that Calib recognises" in report.message


def test_stated_sequence_and_answer_probabilities(tmp_path: Path) -> None:
    """A stated probability of −1 means that none was found: the row is bad."""
    header = (
        "question",
        "target",
        "response",
        "ans_tok",
        "token_probs",
        "seq_prob",
        "extracted_answer",
        "extracted_ans_tok",
        "extracted_seq_prob",
        "extracted_prob",
        "prom46_score",
        "extracted_prom46_score",
    )
    rows: list[list[object]] = [
        [
            f"What lies under stone {at}?",
            "moss",
            "Guess: moss\nProbability: 0.9",
            "['mo', 'ss']",
            "[0.9, 0.8]",
            0.85,
            "moss",
            "['moss']",
            0.75,
            0.9,
            "{'verdict': 'same'}",
            float(at % 4 > 0),
        ]
        for at in range(20)
    ]
    rows[7][9] = -1.0
    path = write_table(tmp_path / "stones_verb_test.csv", header, rows)
    reading = readers.read(path, options=ReadOptions(proposed_mapping(path)))
    report = check_file(reading)
    assert (report.status, report.n_bad_rows) == ("asks", 1)
    assert [(cell.column, cell.found) for problem in report.problems for cell in problem.first_cells] == [
        ("extracted_prob", "-1.0")
    ]
    run = load_run(reading)
    right = 14 / 19
    for method, confidence in (("verbal", 0.9), ("logit_path", 0.85), ("logit_answer", 0.75)):
        assert figures(run, method) == pytest.approx((19, right, abs(confidence - right)))


def test_votes_of_several_columns(tmp_path: Path) -> None:
    voters = [f"maker_model-{at}" for at in range(4)]
    rows: list[list[object]] = [
        [f"How many legs has beast {at}?", "['2', '4', '6', '8']", at % 4, "ok", *["ABCD"[at % 4]] * 3, "A"]
        for at in range(8)
    ]
    path = write_table(
        tmp_path / "all.csv", ("question", "choices", "groundtruth_answer", "error_type", *voters), rows
    )
    samples = dict.fromkeys(voters, "samples")
    reading = readers.read(path, options=ReadOptions({"groundtruth_answer": "gold", **samples}))
    report = check_file(reading)
    assert (report.status, report.n_rows, report.n_bad_rows) == ("loads", 8, 0)
    assert "In 2 rows gold is one choice's position or letter, as in all others, and also" in report.message
    assert set(load_run(reading).rows["samples"].list.len()) == {4}
    by_place = readers.read(
        path, options=ReadOptions({"groundtruth_answer": "gold_index", "choices": "", **samples})
    )
    # All four agree where the right choice is the first, else three do: the gap is that of the latter.
    assert figures(load_run(by_place), "cluster_size") == pytest.approx((8, 1.0, 0.75 * 0.25))


SOLUTIONS = [
    {
        "question": f"What is {at} + 2?",
        "ground_truth": f"It is <<{at}+2={at + 2}>>{at + 2}.\nA: {at + 2}",
        "small": {"is_correct": True, "solution": f"{at + 2}\nA: {at + 2}"},
        "large": {"is_correct": False, "solution": "7\nA: 7"},
    }
    for at in range(5)
]
PROGRAMS = [
    {
        "question": f"What is {at} + 2?",
        "options": ["A)1", "B)2", "C)3"],
        "answer": "C",
        "generated": [f"\nans = {at} + 2"] * 3,
        "prediction": "C",
        "generated_prediction": str(at + 2),
    }
    for at in range(5)
]
PUZZLES = [
    {"idx": 900 + at, "ys": ["2 * 3 = 6\nAnswer: 2 * 3 * 4 = 24"] * 3, "infos": [{"r": 1}] * 3}
    for at in range(5)
]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (SOLUTIONS, ("read as table, 5 rows", "samples, samples_parsed, sample_cluster")),
        (PROGRAMS, ("read as table, 5 rows", "samples, samples_parsed, sample_cluster")),
        (PUZZLES, ("'ys'", "(samples, gold)")),
    ],
    ids=["solutions", "programs", "puzzles"],
)
def test_what_cannot_be_used_as_it_is_is_told_what_would_be(
    rows: list[dict[str, Any]], said: tuple[str, ...], tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "outputs.jsonl", rows)
    report = check_file(readers.read(path))
    assert report.status == "refused"
    assert [part for part in (path.name, *said) if part not in report.message] == []


def test_an_lm_eval_log_of_greedy_answers_is_refused_with_its_accuracy(tmp_path: Path) -> None:
    until = {"until": ["\n\n"], "do_sample": False, "temperature": 0.0}
    path = write_lines(
        tmp_path / "samples_sums_2026-01-02T03-04-05.678901.jsonl",
        [
            {
                "doc_id": at,
                "doc": {"problem": f"{at} + 3", "answer": str(at + 3)},
                "target": str(at + 3),
                "arguments": {"gen_args_0": {"arg_0": f"{at} + 3 =", "arg_1": until}},
                "resps": [[" 0"]],
                "filtered_resps": [" 0"],
                "filter": "none",
                "metrics": ["exact_match"],
                "doc_hash": f"{at:064x}",
                "exact_match": 0.0,
            }
            for at in range(10)
        ],
    )
    report = check_file(readers.read(path))
    assert report.status == "refused"
    assert [part for part in (path.name, "10 rows", "0 of 10") if part not in report.message] == []


def test_an_inspect_log_of_outcomes_alone_says_rows_and_accuracy(tmp_path: Path) -> None:
    scored = [inspect_logs.sample(at, value="C" if at < 4 else "I") for at in range(5)]
    reading = inspect_logs.read_json_log(
        tmp_path, inspect_logs.log_of(scored, results=inspect_logs.results(0.8))
    )
    report = check_file(reading)
    assert (report.status, report.n_rows) == ("refused", 5)
    assert "Accuracy where outcomes are known: 0.8000" in report.message
    assert [each.value for each in inspect_logs.run_of(reading).reported_metrics] == [0.8]


def test_an_inspect_log_that_is_not_scored_is_refused(tmp_path: Path) -> None:
    unscored = [inspect_logs.sample(at, scores=None) for at in range(5)]
    report = check_file(inspect_logs.read_json_log(tmp_path, inspect_logs.log_of(unscored)))
    assert (report.status, report.n_rows) == ("refused", 5)
    assert "Accuracy" not in report.message


def chat_completion(**logprobs: Any) -> dict[str, Any]:
    """A chat completion that was saved as it came."""
    message = {"role": "assistant", "content": '{"name": "moss"}', "refusal": None}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "some-model",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message, **logprobs}],
    }


def test_saved_chat_answers_without_gold_are_refused_with_what_to_give(tmp_path: Path) -> None:
    tokens = [
        {"token": text, "logprob": logprob, "bytes": None, "top_logprobs": []}
        for text, logprob in (('{"', -1e-5), ("name", 0.0), ('":"', -6e-7), ('moss"}', -0.2))
    ]
    one, many = tmp_path / "completion.json", tmp_path / "load.json"
    one.write_text(json.dumps(chat_completion(logprobs={"content": tokens, "refusal": None}), indent=4))
    many.write_text(json.dumps([chat_completion(logprobs=None)] * 9, indent=2))
    for path, said in ((one, "read as openai, 1 row (id chatcmpl-"), (many, "read as openai, 9 rows")):
        report = check_file(readers.read(path))
        assert report.status == "refused"
        assert said in report.message
        assert "no gold answers" in report.message


@pytest.mark.parametrize(("count", "rows"), [(1, "1 row "), (4, "4 rows ")])
def test_saved_tgi_answers_have_no_gold(count: int, rows: str, tmp_path: Path) -> None:
    details = {
        "finish_reason": "length",
        "generated_tokens": 1,
        "seed": 0,
        "top_tokens": None,
        "best_of_sequences": None,
        "prefill": [{"id": 1, "text": "Moss", "logprob": None}],
        "tokens": [{"id": 2, "text": " grows", "logprob": -0.3, "special": False}],
    }
    answers = [{"generated_text": " grows", "details": details}] * count
    path = tmp_path / "snapshot.json"
    path.write_text(json.dumps(answers[0] if count == 1 else answers, indent=2))
    report = check_file(readers.read(path))
    assert report.status == "refused"
    assert f"read as tgi, {rows}" in report.message
    assert "no gold answers" in report.message


NINE_OF_TWELVE = [at % 4 > 0 for at in range(12)]
SURE = [0.5 + at / 25 for at in range(12)]
CITIES = ("Bern", "Oslo", "Rome")


def test_a_header_of_several_words_is_split_at_its_commas(tmp_path: Path) -> None:
    """A last word that is a known name, as in "gpt-3 confidence", does not make white space the delimiter."""
    header = ("Question", "Best Answer", "gpt-3", "gpt-3 judge acc", "gpt-3 confidence", "t5 judge acc")
    rows = [
        ("What is it?", "Bern", "Bern", int(right), sure, int(not right))
        for right, sure in zip(NINE_OF_TWELVE, SURE, strict=True)
    ]
    path = write_table(tmp_path / "quiz.csv", (*header, "t5 confidence"), [(*row, 0.5) for row in rows])
    assert readers.read(path).columns == (*header, "t5 confidence")
    proposal = tried_report(path).proposal
    assert proposal is not None
    assert dict(proposal.wide) == {"* confidence": "confidence", "* judge acc": "correct"}


@pytest.mark.parametrize(
    ("form", "labels"),
    [("choice{}_probs", "ABC"), *product(("p({})", "prob[{}]", "pred_{}_prob"), ("ABC", CITIES))],
)
def test_the_label_of_a_choice_may_stand_inside_the_name(
    tmp_path: Path, form: str, labels: Sequence[str]
) -> None:
    rows = [
        (labels[at * at % 3], *(0.6 if at % 3 == choice else 0.2 for choice in range(3))) for at in range(12)
    ]
    header = ("gold", *map(form.format, labels))
    path = write_table(tmp_path / "quiz.csv", header, rows)
    assert proposed_mapping(path) == dict.fromkeys(header[1:], "choice_probs")
    run = load_run(readers.read(path, options=ReadOptions(proposed_mapping(path))))
    # at % 3 = at² % 3 where it is 0 or 1: two of three are right, with confidence .6
    assert figures(run, "choice_softmax") == pytest.approx((12, 2 / 3, 2 / 3 - 0.6))


def test_a_table_of_right_answers_makes_answer_that_of_the_model(tmp_path: Path) -> None:
    said = [CITIES[(at + (not right)) % 3] for at, right in enumerate(NINE_OF_TWELVE)]
    rows = [{"qid": at, "answer": text, "confidence": SURE[at]} for at, text in enumerate(said)]
    path = write_lines(tmp_path / "quiz.jsonl", rows)
    key = write_table(
        tmp_path / "key.csv", ("qid", "expected_answer"), [(at, CITIES[at % 3]) for at in range(12)]
    )

    def read(further: ReadOptions) -> Reading:
        return readers.read(path, options=ReadOptions(gold_on="qid").adding(further), gold=key)

    proposal = check_file(read(ReadOptions()), read_again=read).proposal
    assert proposal is not None
    assert proposal.mapping["answer"] == "prediction"
    assert proposal.outcome.startswith("accuracy 0.7500 (9 of 12)")


@pytest.mark.parametrize("wrap", [lambda cell: cell, lambda cell: [cell]])
def test_a_prediction_that_is_an_object_is_read_by_its_fields(tmp_path: Path, wrap: Any) -> None:
    rows = [
        {
            "text": f"t{at}",
            "gold": CITIES[at % 3],
            "prediction": wrap({"label": CITIES[(at + (not right)) % 3], "score": SURE[at]}),
        }
        for at, right in enumerate(NINE_OF_TWELVE)
    ]
    report = tried_report(write_lines(tmp_path / "quiz.jsonl", rows))
    assert report.proposal is not None
    assert report.proposal.unsaid
    assert report.proposal.outcome.startswith("accuracy 0.7500 (9 of 12), mean confidence 0.7200")
    assert "'prediction' is left out: 12 of 12 values are not one text" in report.message


def test_lists_of_token_numbers_are_no_ids(tmp_path: Path) -> None:
    rows = [
        {"id": [at, 7, 9], "text": ["The", " answer"], "confidence": SURE[at], "correct": right}
        for at, right in enumerate(NINE_OF_TWELVE)
    ]
    reading = readers.read(write_lines(tmp_path / "quiz.jsonl", rows))
    assert figures(load_run(reading), "given")[:2] == (12, 0.75)
    assert any("'id' is left out: 12 of 12 values" in note for note in reading.notes)


def test_an_answer_that_is_a_list_of_one_is_proposed_by_its_path(tmp_path: Path) -> None:
    rows = [
        {"prediction": ["ABC"[(at + (not right)) % 3]], "gold": "ABC"[at % 3], "confidence": SURE[at]}
        for at, right in enumerate(NINE_OF_TWELVE)
    ]
    path = write_lines(tmp_path / "quiz.jsonl", rows)
    assert proposed_mapping(path) == {"prediction.0": "prediction"}
    rows[3]["prediction"] = ["A", "B"]
    assert tried_report(write_lines(path, rows)).proposal is None


def test_what_lacks_beside_a_confidence_is_what_is_right(tmp_path: Path) -> None:
    path = write_table(tmp_path / "quiz.csv", ("logprob", "text"), [(-sure, "x") for sure in SURE])
    (unused,) = tried_report(path).columns_not_used
    assert unused.why.endswith("it is the confidence, but no column says what is right")


def test_objects_over_several_lines_one_after_another(tmp_path: Path) -> None:
    """As `jq .` prints JSON lines."""
    rows = [
        {"confidence": sure, "correct": right, "meta": {"at": 1}}
        for sure, right in zip(SURE, NINE_OF_TWELVE, strict=True)
    ]
    path = tmp_path / "quiz.json"
    path.write_text("\n".join(json.dumps(row, indent=2) for row in rows))
    assert figures(load_run(readers.read(path)), "given")[:2] == (12, 0.75)
    path.write_text(path.read_text()[:-3])
    with pytest.raises(Refused, match="may be half written"):
        readers.read(path)


def test_what_judged_the_same_answers_makes_runs(tmp_path: Path) -> None:
    rows = [
        (f"q{at}", by, SURE[at], int((right and by == "flexible") or at % 2))
        for at, right in enumerate(NINE_OF_TWELVE)
        for by in ("strict", "flexible")
    ]
    path = write_table(tmp_path / "quiz.csv", ("doc_id", "filter", "confidence", "exact_match"), rows)
    report = tried_report(path)
    assert report.proposal is not None
    assert report.proposal.mapping["filter"] == "model"
    assert report.proposal.outcome.endswith("in the first of 2 runs")
    (run,) = report.runs
    assert "If not: --map doc_id=id --map filter=model" in run.run.row_counts.notes[0]


def test_an_id_that_is_the_same_in_all_rows_is_none(tmp_path: Path) -> None:
    rows = [("batch-7", sure, int(right)) for sure, right in zip(SURE, NINE_OF_TWELVE, strict=True)]
    path = write_table(tmp_path / "quiz.csv", ("id", "confidence", "correct"), rows)
    assert proposed_mapping(path) == {"id": ""}
    rows[3:6] = [(f"q{at % 2}", *row[1:]) for at, row in enumerate(rows[3:6])]
    assert proposed_mapping(write_table(path, ("id", "confidence", "correct"), rows)) == {"id": "trial_of"}


def test_a_task_of_each_row_is_no_data_set(tmp_path: Path) -> None:
    for n_tasks, is_data in ((12, False), (3, True)):
        rows = [
            (f"t{at % n_tasks}", sure, int(right))
            for at, (sure, right) in enumerate(zip(SURE, NINE_OF_TWELVE, strict=True))
        ]
        path = write_table(tmp_path / "quiz.csv", ("task", "confidence", "passed"), rows)
        assert ("task" in proposed_mapping(path)) == is_data


def test_grades_beside_right_and_wrong_are_asked_in_both_readings(tmp_path: Path) -> None:
    grades = [
        "correct" if right else ("incorrect", "idk", "abstain")[at // 4]
        for at, right in enumerate(NINE_OF_TWELVE)
    ]
    rows = list(zip(grades, SURE, strict=True))
    path = write_table(tmp_path / "quiz.csv", ("label", "confidence"), rows)
    proposal = tried_report(path).proposal
    assert proposal is not None
    assert proposal.unsaid
    found = {one.missing: one.outcome.partition(",")[0] for one in proposal.readings}
    assert found == {
        ("abstain", "idk"): "accuracy 0.9000 (9 of 10)",
        ("abstain",): "accuracy 0.8182 (9 of 11)",
    }
    others = ("maybe", "partly", "no idea", "skip")
    rows = [*((other, 0.5) for other in others), *rows]
    assert tried_report(write_table(path, ("label", "confidence"), rows)).proposal is None


@pytest.mark.parametrize("name", ["answers", "gold"])
def test_a_table_of_right_answers_may_list_several(tmp_path: Path, name: str) -> None:
    said = [CITIES[(at + (not right)) % 3] for at, right in enumerate(NINE_OF_TWELVE)]
    rows = [{"id": at, "prediction": text, "confidence": SURE[at]} for at, text in enumerate(said)]
    key = [{"id": at, name: [CITIES[at % 3], "the same"]} for at in range(12)]
    reading = readers.read(
        write_lines(tmp_path / "quiz.jsonl", rows), gold=write_lines(tmp_path / "key.jsonl", key)
    )
    assert figures(load_run(reading), "given")[:2] == (12, 0.75)


def test_the_distribution_of_predict_proba_is_one_whatever_it_is_called(tmp_path: Path) -> None:
    rows = [(at % 2, json.dumps([0.7, 0.3] if at % 4 else [0.2, 0.8])) for at in range(12)]
    path = write_table(tmp_path / "quiz.csv", ("y_true", "y_proba"), rows)
    assert proposed_mapping(path) == {"y_true": "gold", "y_proba": "choice_probs"}
