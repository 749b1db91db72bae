"""A corrected run equals the run of a file that never held what was corrected, and remembers what it was."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calib_core as cc
from calib_core.edges import Scheme
from calib_core.errors import Refused
from calib_core.metrics import METRICS
from calib_core.readers.merged_runs import merge_runs
from calib_core.results.corrections import correction_effect
from calib_core.results.evidence import AnswerEvidence, gather_evidence, survey_methods
from calib_core.results.hidden_groups import hidden_groups
from calib_core.results.judge_comparison import compare_judges
from calib_core.results.methods_table import compare_methods
from calib_core.results.overview import summarise_runs
from calib_core.results.score import score
from calib_core.results.view_caption import rows_caption
from calib_core.runs import AnswerRun
from calib_core.views.methods import methods_recipe
from core.cli_calls import write
from core.readers.lm_eval_logs import choice_record, write_log
from fixture_files import FIXTURES

Row = dict[str, Any]
KINDS = ("judged", "stored", "letters", "positions", "samples", "everything")
LETTERS = "ABC"


def load(rows: Sequence[Row], corrections: Sequence[Mapping[str, object]] | None = None) -> AnswerRun:
    (run,) = cc.load(list(rows), corrections=corrections)
    assert isinstance(run, AnswerRun)
    return run


def numbers(run: AnswerRun) -> dict[str, Any]:
    """What all numbers of every method are made of, and one of them."""
    found: dict[str, Any] = {"n": run.n_total}
    for id_, evidence in survey_methods(run).usable.items():
        assert isinstance(evidence, AnswerEvidence)
        pairs, whole = evidence.pairs, evidence.confidences.distribution
        found[id_] = (
            pairs.confidence.tolist(),
            pairs.correct.tolist(),
            None if whole is None else (whole.probs.tolist(), whole.target.tolist()),
            dict(evidence.missing),
            METRICS["ece"].compute(evidence.sums, Scheme()),
        )
    return found


@st.composite
def tables(draw: st.DrawFn) -> list[Row]:
    kind = draw(st.sampled_from(KINDS))
    rows: list[Row] = []
    for number in range(draw(st.integers(4, 14))):
        gold, prediction = draw(st.sampled_from(LETTERS)), draw(st.sampled_from(LETTERS))
        weights = draw(st.lists(st.integers(1, 9), min_size=3, max_size=3))
        row: Row = {"id": f"q{number}", "gold": gold}
        if kind in ("judged", "stored", "everything"):
            row |= {"prediction": prediction, "confidence": draw(st.integers(1, 9)) / 10}
        if kind in ("stored", "everything"):
            row["correct"] = int(gold == prediction)
        if kind in ("letters", "positions", "everything"):
            row["choice_probs"] = [weight / sum(weights) for weight in weights]
        if kind in ("samples", "everything"):
            row["samples"] = draw(st.lists(st.sampled_from(LETTERS), min_size=2, max_size=4))
        if kind == "positions":
            row["gold_index"] = LETTERS.index(row.pop("gold"))
        rows.append(row)
    return rows


def with_golds(rows: Sequence[Row], golds: Mapping[str, str]) -> list[Row]:
    """The table as it would be with these right answers."""
    written: list[Row] = []
    for row in rows:
        gold = golds.get(row["id"])
        changes: Row = {}
        if gold is not None:
            changes = {"gold": gold} if "gold" in row else {"gold_index": LETTERS.index(gold)}
            if "correct" in row:
                changes["correct"] = int(row["prediction"] == gold)
        written.append(row | changes)
    return written


@given(rows=tables())
def test_corrections_that_change_nothing_leave_every_number_as_it_is(rows: list[Row]) -> None:
    said = [{"id": row["id"], "gold": row.get("gold") or LETTERS[row["gold_index"]]} for row in rows]
    nothing = [{"id": rows[0]["id"], "leave_out": "no"}]
    plain = numbers(load(rows))
    for corrections in (said, nothing):
        run = load(rows, corrections)
        assert numbers(run) == plain
        assert run.corrections is not None
        assert (run.corrections.n_left_out, run.corrections.n_corrected) == (0, 0)


@given(rows=tables(), data=st.data())
def test_leaving_questions_out_equals_the_file_without_them(rows: list[Row], data: st.DataObject) -> None:
    left_out = data.draw(st.sets(st.sampled_from([row["id"] for row in rows]), min_size=1, max_size=2))
    run = load(rows, [{"id": id_, "leave_out": True} for id_ in left_out])
    assert numbers(run) == numbers(load([row for row in rows if row["id"] not in left_out]))
    assert run.n_total == len(rows) - len(left_out)
    assert numbers(run.uncorrected) == numbers(load(rows))


@given(rows=tables(), data=st.data())
def test_a_corrected_answer_equals_the_file_with_that_answer(rows: list[Row], data: st.DataObject) -> None:
    ids = data.draw(st.sets(st.sampled_from([row["id"] for row in rows]), min_size=1, max_size=3))
    golds = {id_: data.draw(st.sampled_from(LETTERS)) for id_ in sorted(ids)}
    run = load(rows, [{"id": id_, "answer": gold} for id_, gold in golds.items()])
    before, after = load(rows), load(with_golds(rows, golds))
    assert numbers(run) == numbers(after)
    assert numbers(run.uncorrected) == numbers(before)
    assert run.uncorrected.rows.equals(before.rows)


@given(rows=tables(), data=st.data())
def test_effects_are_the_differences_of_the_two_runs(rows: list[Row], data: st.DataObject) -> None:
    ids = data.draw(st.sets(st.sampled_from([row["id"] for row in rows]), min_size=2, max_size=4))
    out, *others = sorted(ids)
    golds = {id_: data.draw(st.sampled_from(LETTERS)) for id_ in others}
    run = load(
        rows, [{"id": out, "leave_out": 1}, *({"id": id_, "gold": gold} for id_, gold in golds.items())]
    )
    before, after = load(rows), load([row for row in with_golds(rows, golds) if row["id"] != out])
    for id_, evidence in survey_methods(run).usable.items():
        effect = correction_effect(evidence)
        assert effect is not None
        was, is_now = (gather_evidence(one, id_) for one in (before, after))
        assert (effect.accuracy_before, effect.accuracy) == (was.accuracy, is_now.accuracy)
        assert effect.ece == score(is_now, "ece", with_remark=False).value
        assert effect.ece_before == score(was, "ece", with_remark=False).value
        outcomes = [_by_id(one) for one in (was, is_now)]
        both = outcomes[0].keys() & outcomes[1].keys()
        changes = [(outcomes[0][one], outcomes[1][one]) for one in both]
        assert effect.right_to_wrong == changes.count((True, False))
        assert effect.wrong_to_right == changes.count((False, True))


def _by_id(evidence: AnswerEvidence) -> dict[str, bool]:
    pairs = evidence.confidences.pairs
    ids = evidence.run.rows["id"].gather(pairs.rows.tolist())
    return dict(zip(ids, pairs.correct.tolist(), strict=True))


ANSWERS: list[Row] = [
    {
        "id": f"q{at}",
        "subject": "law" if at < 3 else "art",
        "gold": gold,
        "prediction": said,
        "confidence": sure,
    }
    for at, (gold, said, sure) in enumerate(
        [("A", "A", 0.9), ("B", "A", 0.8), ("C", "C", 0.6), ("D", "D", 0.7), ("A", "B", 0.3)]
    )
]


def test_a_run_says_what_was_changed_and_its_recipe_does() -> None:
    corrections = [
        {"id": "q1", "answer": "A", "reason": "key is *wrong*"},
        {"id": "q4", "leave_out": "yes"},
    ]
    run = load(ANSWERS, corrections)
    assert run.corrections is not None
    assert run.corrections.changes.rows() == [
        (2, "q1", "law", "right answer", "B", "A", "key is *wrong*"),
        (5, "q4", "art", "left out", "A", None, None),
    ]
    recipe = "with corrections corrections: 1 left out, 1 corrected"
    assert recipe in cc.score(run, metric="ece").recipe
    for result in (
        cc.reliability(run),
        cc.concentration(run),
        cc.abstention(run),
        cc.audit(run),
    ):
        assert recipe in result.recipe
    effect = correction_effect(gather_evidence(run, "given"))
    assert effect is not None
    assert (effect.right_to_wrong, effect.wrong_to_right) == (0, 1)
    assert (effect.n_used_before, effect.n_used) == (5, 4)
    assert effect.accuracy_before == float(Fraction(3, 5))
    assert effect.accuracy == 1.0
    assert pickle.loads(pickle.dumps(run)) == run  # noqa: S301  made above


def test_joint_recipes_say_what_was_corrected() -> None:
    rows = [
        row | {"id": f"q{at}", "kind": "xy"[at % 2], "confidence": 0.1 + at % 8 / 10}
        for at, row in enumerate(ANSWERS * 20)
    ]
    fixes = [{"id": "q1", "answer": "A"}, {"id": "q4", "leave_out": "yes"}]
    first, second, plain = load(rows, fixes), load(rows, fixes), load(rows)
    recipe = ", with corrections corrections: 1 left out, 1 corrected"
    assert recipe in cc.compare([first, second]).recipe
    assert "corrections" not in cc.compare([plain, plain]).recipe
    evidences = {name: gather_evidence(run, "given") for name, run in (("a", first), ("b", second))}
    assert recipe in hidden_groups(evidences).recipe
    assert recipe in methods_recipe(compare_methods({name: [one] for name, one in evidences.items()}))
    assert f"; {recipe[2:]}; " in summarise_runs({name: (one,) for name, one in evidences.items()}).recipe
    assert rows_caption([evidences["a"]]) == "99 of 99 rows, corrected by corrections"
    assert rows_caption([gather_evidence(plain, "given")]) == "100 of 100 rows"
    other = load(rows, [*fixes, {"id": "q6", "leave_out": 1}])
    assert ", with corrections corrections" in cc.compare([first, other]).recipe
    assert "left out" not in cc.compare([first, other]).recipe


def test_a_comparison_of_judges_says_what_was_corrected() -> None:
    rows = [
        {"id": f"q{at}", "judge": "pass" if at % 3 else "fail", "human": "pass" if at % 4 else "fail"}
        for at in range(60)
    ]
    first, second = load(rows, [{"id": "q1", "leave_out": 1}]), load(rows)
    recipe = compare_judges(first, second).recipe
    assert recipe.endswith("n=59, with corrections corrections: 1 left out, 0 corrected")
    assert compare_judges(second, second).recipe.endswith("n=60")


def test_without_corrections_there_is_no_effect() -> None:
    run = load(ANSWERS)
    assert run.corrections is None
    assert run.uncorrected is run
    assert correction_effect(gather_evidence(run, "given")) is None


def test_questions_that_repeat_in_other_subjects_are_told_apart_by_subject() -> None:
    rows = [row | {"id": f"q{at % 3}"} for at, row in enumerate(ANSWERS)]
    with pytest.raises(
        Refused,
        match=r"corrections, row 1: .* has 'q0' in several values of subject "
        r"\('law' and 'art'\).*Add the column subject to corrections\.",
    ):
        load(rows, [{"id": "q0", "leave_out": 1}])  # fmt: skip
    run = load(rows, [{"id": "q0", "subject": "art", "leave_out": 1}])
    assert run.rows["id"].to_list() == ["q0", "q1", "q2", "q1"]
    assert load(rows, [{"id": "q2", "leave_out": 1}]).n_total == 4


def test_questions_of_several_data_sets_are_told_apart_by_data_set() -> None:
    rows = [row | {"dataset": name} for name in ("arc", "mmlu") for row in ANSWERS]
    with pytest.raises(Refused, match="several values of dataset"):
        cc.load(rows, corrections=[{"id": "q0", "leave_out": 1}])
    arc, mmlu = cc.load(rows, corrections=[{"id": "q0", "dataset": "mmlu", "leave_out": 1}])
    assert (arc.n_total, mmlu.n_total) == (5, 4)


def test_a_correction_holds_for_every_model_unless_it_names_one() -> None:
    rows = [row | {"model": name} for name in ("x", "y") for row in ANSWERS]
    assert [run.n_total for run in cc.load(rows, corrections=[{"id": "q0", "leave_out": 1}])] == [4, 4]
    named = [{"id": "q0", "model": "y", "leave_out": 1}]
    assert [run.n_total for run in cc.load(rows, corrections=named)] == [5, 4]


@pytest.mark.parametrize("name", ["model", "dataset", "subject"])
def test_a_name_that_the_file_does_not_say_is_asked_for(name: str) -> None:
    rows = [{key: value for key, value in row.items() if key != "subject"} for row in ANSWERS]
    with pytest.raises(Refused, match=f"names questions by {name}, and nothing in .* says its {name}"):
        load(rows, [{"id": "q0", name: "x", "leave_out": 1}])


def test_a_table_of_other_ids_is_refused_and_single_ones_are_named() -> None:
    with pytest.raises(
        Refused,
        match=r"corrects no question of the table: its column 'id' holds z1 …, and the "
        r"file's ids are q0, q1, q2, q3, q4 …",
    ):
        load(ANSWERS, [{"id": "z1", "leave_out": 1}])  # fmt: skip
    report = cc.check(ANSWERS, corrections=[{"id": "q0", "leave_out": 1}, {"id": "z1", "gold": "A"}])
    assert "1 row of corrections names no question of the file (z1)." in report.notes
    (run,) = report.runs
    assert [effect.method for effect in run.correction_effects] == ["given"]


def test_a_file_without_ids_says_what_to_name() -> None:
    rows = [{"confidence": 0.5, "correct": 1}, {"confidence": 0.4, "correct": 0}]
    with pytest.raises(
        Refused, match=r'no column id, by which corrections names.*columns=\{"COLUMN": "id"\}'
    ):
        cc.load(rows, corrections=[{"id": "q0", "leave_out": 1}])
    (run,) = cc.load(rows, columns={"row": "id"}, corrections=[{"id": "row 2", "leave_out": 1}])
    assert run.n_total == 1


def test_leaving_out_everything_is_refused_and_a_run_of_several_is_named() -> None:
    every = [{"id": row["id"], "leave_out": 1} for row in ANSWERS]
    with pytest.raises(Refused, match="leaves out every question"):
        load(ANSWERS, every)
    rows = [row | {"model": name} for name in ("x", "y") for row in ANSWERS]
    report = cc.check(rows, corrections=[row | {"model": "x"} for row in every])
    assert [run.run.info.model for run in report.runs] == ["y"]
    assert any("leaves out every question of x: the run is left out" in note for note in report.notes)


# --- Outcomes that the file stores ------------------------------------------------------------------------


def test_an_outcome_without_an_answer_cannot_be_judged_again() -> None:
    rows = [{"id": f"q{at}", "gold": "A", "correct": at % 2, "confidence": 0.5} for at in range(4)]
    with pytest.raises(Refused) as refused:
        load(rows, [{"id": "q1", "gold": "B"}])
    assert "corrections, row 1, column 'gold'" in str(refused.value)
    assert "stores whether the answer to 'q1' is right, but no answer" in str(refused.value)
    assert "Give the outcome instead, in a column correct (1 or 0)" in str(refused.value)
    run = load(rows, [{"id": "q1", "correct": 0}])
    assert run.rows["correct"].to_list() == [False, False, False, True]
    assert run.corrections is not None
    assert run.corrections.changes.rows() == [(2, "q1", None, "outcome", "right", "wrong", None)]


def test_an_outcome_that_another_judgement_made_is_not_made_again() -> None:
    rows = [row | {"correct": int(at % 2 == 0)} for at, row in enumerate(ANSWERS)]
    with pytest.raises(Refused, match=r"do not follow from them: in 2 of 5 rows .*\(such as 'q3'\)"):
        load(rows, [{"id": "q1", "gold": "A"}])
    assert load(rows, [{"id": "q1", "gold": "A", "correct": 1}]).rows["correct"][1] is True


def test_free_text_that_was_never_compared_is_not_called_wrong() -> None:
    rows = [
        {"id": f"q{at}", "prediction": text, "correct": at % 2, "confidence": 0.5}
        for at, text in enumerate(["the old bridge", "a river", "in spring", "by boat"])
    ]
    with pytest.raises(Refused, match="unknown whether a text that differs from the corrected one is wrong"):
        load(rows, [{"id": "q1", "gold": "a stream"}])
    assert load(rows, [{"id": "q0", "gold": "the old bridge"}]).rows["correct"][0] is True


def test_an_outcome_given_for_answers_that_are_judged_by_gold() -> None:
    run = load(ANSWERS, [{"id": "q1", "correct": "yes"}])
    assert run.rows["correct"].to_list() == [True, True, True, True, False]
    assert "correct" not in run.uncorrected.rows.columns
    same = load(ANSWERS, [{"id": "q0", "correct": 1}])
    assert numbers(same) == numbers(load(ANSWERS))
    assert "correct" not in same.rows.columns


@pytest.mark.parametrize("more", [{"choice_probs": [0.5, 0.5]}, {"samples": ["A", "B"]}])
def test_an_outcome_alone_does_not_judge_choices_or_samples(more: Row) -> None:
    rows = [{"id": row["id"], "gold": "A", **more} for row in ANSWERS]
    with pytest.raises(Refused, match="holds choices or samples, which are judged by the right answer"):
        load(rows, [{"id": "q1", "correct": 1}])


def test_an_empty_answer_stays_wrong() -> None:
    rows = [row | {"correct": int(row["gold"] == row["prediction"])} for row in ANSWERS]
    rows[4] |= {"prediction": None}
    assert load(rows, [{"id": "q4", "gold": "C"}]).rows["correct"][4] is False


def test_one_of_several_right_answers_is_replaced_by_the_corrected_one() -> None:
    rows = [
        {"id": f"q{at}", "gold_all": ["18", "20"], "prediction": "20", "confidence": 0.5} for at in range(4)
    ]
    run = load(rows, [{"id": "q1", "gold": "18"}])
    assert survey_methods(run).usable["given"].accuracy == 0.75
    assert run.corrections is not None
    assert run.corrections.changes["before"].to_list() == ["18 | 20"]


def test_several_right_answers_replace_one() -> None:
    run = load(ANSWERS, [{"id": "q1", "gold_all": ["A", "C"]}, {"id": "q4", "gold_all": '["C", "D"]'}])
    plain = load([row | {"gold_all": None} for row in ANSWERS])
    both = {"q1": ["A", "C"], "q4": ["C", "D"]}
    other = [
        row | ({"gold": None, "gold_all": both[row["id"]]} if row["id"] in both else {"gold_all": None})
        for row in ANSWERS
    ]
    assert numbers(run) == numbers(load(other)) != numbers(plain)
    assert run.rows["gold"].to_list() == ["A", None, "C", "D", None]
    assert numbers(run.uncorrected) == numbers(load(ANSWERS))
    assert run.corrections is not None
    assert run.corrections.changes["after"].to_list() == ["A | C", "C | D"]
    rows = [{key: value for key, value in row.items() if key != "gold"} for row in ANSWERS]
    several = [row | {"gold_all": ["A", "B"]} for row in rows]
    same = load(several, [{"id": "q1", "gold_all": ["A", "B"]}])
    assert same.corrections is not None
    assert same.corrections.n_corrected == 0
    more = load(several, [{"id": "q2", "gold_all": ["C", "D"]}])
    accuracies = [survey_methods(one).usable["given"].accuracy for one in (load(several), more)]
    assert accuracies == [0.6, 0.8]


def test_events_are_corrected_by_what_came_true() -> None:
    rows = [{"id": f"q{at}", "event_prob": 0.5, "event": at % 2} for at in range(4)]
    run = load(rows, [{"id": "q0", "event": "true"}])
    assert run.rows["event"].to_list() == [True, True, False, True]
    assert run.corrections is not None
    assert run.corrections.changes.select("before", "after").row(0) == ("no", "yes")
    effect = correction_effect(gather_evidence(run, "event"))
    assert effect is not None
    assert effect.text.startswith("0 yes → no, 1 no → yes, share of yes 50.0 → 75.0 %")
    for wrong in ({"gold": "A"}, {"correct": 1}):
        with pytest.raises(Refused, match="in a column event"):
            load(rows, [{"id": "q0"} | wrong])


# --- Every format -----------------------------------------------------------------------------------------


def test_a_log_of_choices_equals_the_log_with_the_corrected_target(tmp_path: Path) -> None:
    scores = [[-1.0, -2.0, -3.0, -4.0], [-2.0, -1.0, -3.0, -4.0], [-3.0, -2.0, -1.0, -4.0]] * 4
    targets = [0, 2, 2] * 4
    logs = [
        write_log(
            tmp_path / name,
            "fx",
            [
                choice_record(at, row, target)
                for at, (row, target) in enumerate(zip(scores, golds, strict=True))
            ],
        )
        for name, golds in (("a", targets), ("b", [0, 1, *targets[2:]]))
    ]
    (plain,) = cc.load(logs[0])
    assert isinstance(plain, AnswerRun)
    id_ = plain.rows["id"][1]
    (run,) = cc.load(logs[0], corrections=[{"id": id_, "answer": "an old bridge"}])
    (other,) = cc.load(logs[1])
    assert isinstance(run, AnswerRun)
    assert isinstance(other, AnswerRun)
    assert numbers(run) == numbers(other) != numbers(plain)
    with pytest.raises(
        Refused, match=r"corrections, row 1, column 'gold'.*expected one choice.*found 'iron'"
    ):
        cc.load(logs[0], corrections=[{"id": id_, "gold": "iron"}])


@pytest.mark.parametrize(
    "path",
    [
        "inspect/v0.3.285/choice_eval.eval",
        "inspect/v0.3.285/gen_num_choices4.eval",
        "inspect/v0.3.160/choice_eval.eval",
        "lm_eval/shots0/fixture__tiny-7b/samples_fx_mcq_2026-01-02T03-04-05.678901.jsonl",
        "lm_eval/shots0/fixture__tiny-7b/samples_fx_gen_2026-01-02T03-04-05.678901.jsonl",
        "helm/with_logprobs/scenario_state.json",
    ],
)
def test_logs_of_tools_leave_out_and_correct(path: str) -> None:
    file = FIXTURES / path
    (plain,) = cc.load(file)
    assert isinstance(plain, AnswerRun)
    out, other = plain.rows["id"].to_list()[:2]
    (run,) = cc.load(file, corrections=[{"id": out, "leave_out": 1}])
    assert isinstance(run, AnswerRun)
    assert out not in run.rows["id"].to_list()
    assert numbers(run.uncorrected) == numbers(plain)
    row = plain.rows.row(1, named=True)
    gold = row.get("gold") or str(row.get("gold_index"))
    (same,) = cc.load(file, corrections=[{"id": other, "gold": gold}])
    assert isinstance(same, AnswerRun)
    assert numbers(same) == numbers(plain)


def test_answers_of_a_decision_server_are_left_out_and_corrected(tmp_path: Path) -> None:
    folder = FIXTURES / "decisions" / "systemone"
    log, gold = folder / "responses.jsonl", folder / "gold.csv"

    def runs(table: Path, corrections: Sequence[Mapping[str, object]] | None = None) -> dict[str, AnswerRun]:
        found = cc.load(log, gold=table, corrections=corrections)
        return {str(run.info.dataset): run for run in found if isinstance(run, AnswerRun)}

    with pytest.raises(Refused, match=r"'t-001' in several values of dataset \('team' and 'refund'\)"):
        runs(gold, [{"id": "t-001", "leave_out": 1}])
    run = runs(
        gold,
        [
            {"id": "t-001", "dataset": "team", "gold": "technical"},
            {"id": "t-001", "dataset": "refund", "event": "no"},
            {"id": "t-002", "dataset": "team", "leave_out": 1},
            {"id": "t-003", "dataset": "mood", "gold": "angry"},
        ],
    )
    text = gold.read_text("utf-8").replace("t-001,team,other", "t-001,team,technical")
    text = text.replace("t-001,refund,true", "t-001,refund,false").replace("t-003,mood,0", "t-003,mood,2")
    other = runs(write(tmp_path, "gold.csv", text))
    for name, plain in runs(gold).items():
        assert numbers(run[name].uncorrected) == numbers(plain) != numbers(run[name]), name
    assert numbers(run["refund"]) == numbers(other["refund"])
    assert numbers(run["mood"]) == numbers(other["mood"])
    without = replace(other["team"], rows=other["team"].rows.filter(pl.col("id") != "t-002"))
    assert numbers(run["team"]) == numbers(without) | {"n": run["team"].n_total}
    assert run["team"].n_total == other["team"].n_total - 1


def test_token_level_files_have_no_questions() -> None:
    with pytest.raises(Refused, match="holds positions of texts and no questions"):
        cc.load(FIXTURES / "canonical" / "example.tokens.npz", corrections=[{"id": "q0", "leave_out": 1}])


def test_parts_of_one_evaluation_are_merged_with_their_corrections(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        pl.DataFrame([row | {"id": f"{name}{row['id']}"} for row in ANSWERS]).write_csv(
            tmp_path / f"{name}.csv"
        )
    corrections = [{"id": "aq1", "gold": "A"}, {"id": "bq4", "leave_out": 1}, {"id": "cq0", "leave_out": 0}]
    parts = [cc.load(tmp_path / f"{name}.csv", corrections=corrections)[0] for name in "abc"]
    (run,) = merge_runs(parts, with_tables=True)
    assert isinstance(run, AnswerRun)
    assert run.corrections is not None
    assert (run.corrections.n_left_out, run.corrections.n_corrected) == (1, 1)
    (plain,) = merge_runs([cc.load(tmp_path / f"{name}.csv")[0] for name in "abc"], with_tables=True)
    assert isinstance(plain, AnswerRun)
    assert numbers(run.uncorrected) == numbers(plain)
    effect = correction_effect(gather_evidence(run, "given"))
    assert effect is not None
    assert (effect.wrong_to_right, effect.n_used_before, effect.n_used) == (1, 15, 14)


def test_groups_lose_the_same_rows() -> None:
    rows = [row | {"kind": "x" if at % 2 else "y"} for at, row in enumerate(ANSWERS * 3)]
    rows = [row | {"id": f"q{at}"} for at, row in enumerate(rows)]
    run = load(rows, [{"id": "q0", "leave_out": 1}, {"id": "q3", "leave_out": 1}])
    assert run.group_columns.height == run.rows.height == 13
    kinds = [row["kind"] for row in rows if row["id"] not in ("q0", "q3")]
    assert run.group_columns["kind"].cast(pl.String).to_list() == kinds


def test_the_tools_own_numbers_may_differ_because_of_corrections() -> None:
    file = FIXTURES / "inspect" / "v0.3.285" / "choice_eval.eval"
    (plain,) = cc.load(file)
    assert isinstance(plain, AnswerRun)
    (run,) = cc.load(file, corrections=[{"id": plain.rows["id"][0], "leave_out": 1}])
    assert isinstance(run, AnswerRun)
    assert plain.reported_metrics
    assert all(one.difference_reason for one in run.reported_metrics)
