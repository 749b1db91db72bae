"""Each cell has its method's numbers on the stated rows, and the best are those not clearly beaten."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from calib_core.edges import Scheme
from calib_core.methods import METHODS
from calib_core.methods.method import MethodOptions
from calib_core.results.evidence import AnswerEvidence, survey_methods
from calib_core.results.judged_answer import judged_by, judged_choices
from calib_core.results.methods_table import (
    NO_COMMON_ROWS,
    MethodsTable,
    compare_methods,
)
from calib_core.results.score import score
from calib_core.runs import AnswerRun
from core.confidence_runs import run_of

HALF, FULL = Fraction(1, 2), Fraction(1)


def row(confidence: float | None, said: float | None, right: int, **more: Any) -> dict[str, Any]:
    return {"confidence": confidence, "verbal_confidence": said, "correct": bool(right), **more}


RUN = run_of(
    [
        row(0.5, 1.0, 1),
        row(0.5, 0.5, 0),
        row(1.0, 0.5, 1),
        row(None, 0.0, 1),
        row(0.5, None, 1),
    ]
)
"""Both methods: the first three rows; one each: the fourth and the fifth."""


def evidences_of(run: AnswerRun, *methods: str) -> list[AnswerEvidence]:
    usable = [each for each in survey_methods(run).usable.values() if isinstance(each, AnswerEvidence)]
    return [each for each in usable if not methods or each.method.id in methods]


def table(run: AnswerRun = RUN, *methods: str, **options: Any) -> MethodsTable:
    return compare_methods({"a": evidences_of(run, *methods)}, **options)


def brier(pairs: list[tuple[Fraction, int]]) -> float:
    return float(sum((c - right) ** 2 for c, right in pairs) / len(pairs))


def test_by_default_every_method_stands_on_the_same_rows() -> None:
    result = table()
    given, verbal = result.cells["a", "given"], result.cells["a", "verbal"]
    assert (given.n_used, given.n_total, verbal.n_used, verbal.n_total) == (3, 5, 3, 5)
    assert given.brier == pytest.approx(brier([(HALF, 1), (HALF, 0), (FULL, 1)]))
    assert verbal.brier == pytest.approx(brier([(FULL, 1), (HALF, 0), (HALF, 1)]))
    assert given.accuracy == pytest.approx(2 / 3)
    assert given.ece == pytest.approx(0)
    assert "rows common to the methods shown, n=3/5" in given.recipe
    assert given.recipe.startswith("ECE-L1, equal width, M=10")


def test_own_rows_have_no_best_method() -> None:
    result = table(row_choice="own")
    given, verbal = result.cells["a", "given"], result.cells["a", "verbal"]
    assert (given.n_used, verbal.n_used) == (4, 4)
    assert given.brier == pytest.approx(brier([(HALF, 1), (HALF, 0), (FULL, 1), (HALF, 1)]))
    assert "common" not in given.recipe
    assert not any((cell.best_ece, cell.best_brier) != (False, False) for cell in result.cells.values())
    assert result.headline == "No comparison: the methods use different rows or outcomes."


def test_a_single_method_is_not_marked_as_best() -> None:
    result = table(RUN, "given")
    assert result.cells["a", "given"].n_used == 4
    assert not result.cells["a", "given"].best_brier
    assert result.headline == "No comparison: each run has only one method."
    assert table(RUN, "given", row_choice="own").headline == result.headline


REPEATED = run_of([row(0.5, 1.0, 1), row(0.5, 0.5, 0), row(1.0, 0.5, 1)] * 20)


def test_ties_are_all_best() -> None:
    result = table(REPEATED)
    assert [result.cells["a", id_].best_brier for id_ in ("given", "verbal")] == [True, True]
    assert [result.cells["a", id_].best_ece for id_ in ("given", "verbal")] == [True, True]
    assert result.headline == (
        "Neither method clearly has the lowest Brier score; “stated confidence” comes first with "
        "0.1667 (60 rows)."
    )


def test_three_of_one_score_are_told_apart_no_more_than_two() -> None:
    shared = evidences_of(REPEATED)
    third = replace(shared[0], method=METHODS["p_true"])
    assert compare_methods({"a": [*shared, third]}).headline.startswith(
        "None of the 3 methods clearly has the lowest Brier score; “"
    )


def test_below_thirty_rows_nobody_is_best() -> None:
    few = table(run_of([row(0.9, 0.1, 1), row(0.1, 0.9, 0)] * 14))
    assert not any(cell.best_brier or cell.best_ece for cell in few.cells.values())
    assert few.headline == (
        "No method wins by Brier score: only 28 questions in common; at least 30 are needed (28 rows)."
    )
    assert table(run_of([row(0.9, 0.1, 1), row(0.1, 0.9, 0)] * 15)).cells["a", "given"].best_brier


def test_a_difference_is_judged_by_question_not_by_row() -> None:
    """Two of 40 questions are worse, each asked 50 times: clear by row, and not by question."""
    said = [0.8 if question % 3 else 0.3 for question in range(40)]
    rows = [
        row(
            c + (0.35 if question in {0, 3} else 0),
            c,
            question % 3 > 0,
            trial_of=f"q{question}",
            id=f"{question}-{trial}",
        )
        for question, c in enumerate(said)
        for trial in range(50)
    ]
    assert [cell.best_brier for cell in table(run_of(rows)).cells.values()] == [True, True]
    alone = run_of([{**one, "trial_of": None} for one in rows])
    assert sorted(cell.best_brier for cell in table(alone).cells.values()) == [False, True]


def test_all_methods_can_be_judged_by_one_answer() -> None:
    run = run_of(
        [
            {
                "answer_kind": "number",
                "gold": "1",
                "samples": ["1", "1", "2"],
                "p_true": 0.5,
                "correct": False,
            },
            {
                "answer_kind": "number",
                "gold": "1",
                "samples": ["2", "2", "1"],
                "p_true": 0.25,
                "correct": True,
            },
            {
                "answer_kind": "number",
                "gold": "1",
                "samples": ["1", "1", "1"],
                "p_true": 0.75,
                "correct": None,
            },
        ]
    )
    assert judged_choices(run, MethodOptions()) == ("own", "majority", "greedy")
    majority, greedy = (table(run, judged_choice=choice) for choice in ("majority", "greedy"))
    p_true = majority.cells["a", "p_true"]
    assert p_true.brier == pytest.approx(float((HALF**2 + Fraction(1, 16)) / 2))
    assert {cell.judged for cell in majority.cells.values()} == {"majority answer"}
    size = greedy.cells["a", "cluster_size"]
    assert (size.judged, size.n_used, size.accuracy) == ("greedy answer", 2, 0.5)
    assert size.brier == pytest.approx(float((Fraction(4, 9) + Fraction(1, 9)) / 2))
    assert "judged by the greedy answer" in size.recipe
    assert judged_choices(RUN, MethodOptions()) == ("own",)


def test_where_no_run_has_every_method_they_stand_as_registered() -> None:
    apart = {"a": evidences_of(RUN, "given"), "b": evidences_of(RUN, "verbal")}
    assert compare_methods(apart).methods == ("verbal", "given")


WORSE = run_of([row(0.9, 0.1, 1), row(0.8, 0.2, 1), row(0.1, 0.9, 0)] * 12)
BETTER = run_of([row(0.1, 0.9, 1), row(0.2, 0.8, 1), row(0.3, 0.6, 1)] * 12)


def test_the_best_is_the_lowest() -> None:
    cells = table(WORSE).cells
    assert [cells["a", id_].best_brier for id_ in ("given", "verbal")] == [True, False]
    assert [cells["a", id_].best_ece for id_ in ("given", "verbal")] == [False, False], (
        "36 questions are too few"
    )
    more = table(run_of([row(0.9, 0.1, 1), row(0.8, 0.2, 1), row(0.1, 0.9, 0)] * 20)).cells
    assert [more["a", id_].best_ece for id_ in ("given", "verbal")] == [True, False]


def test_rows_are_in_order_of_brier_over_the_runs_that_have_them_all() -> None:
    assert table(WORSE).methods == ("given", "verbal")
    assert table(BETTER).methods == ("verbal", "given")
    both = {"a": evidences_of(WORSE), "b": evidences_of(BETTER)}
    means = {
        id_: sum(compare_methods(both).cells[run, id_].brier or 0 for run in "ab") / 2
        for id_ in ("given", "verbal")
    }
    assert compare_methods(both).methods == tuple(sorted(means, key=means.__getitem__))
    assert compare_methods(both, order="method").methods == ("verbal", "given")
    assert compare_methods(both, order="method").ordered("brier").methods == compare_methods(both).methods
    assert compare_methods(both).ordered("method").methods == ("verbal", "given")
    lacking = {"a": evidences_of(WORSE), "b": evidences_of(BETTER, "given")}
    assert compare_methods(lacking).methods == ("given", "verbal")


def test_several_runs_are_counted_not_averaged() -> None:
    result = compare_methods({"a": evidences_of(WORSE), "b": evidences_of(BETTER)})
    assert result.headline == (
        "By Brier score, stated confidence wins on 1 of 2 runs and confidence in the file on 1."
    )


def test_no_common_row_is_reported() -> None:
    result = table(run_of([row(0.5, None, 1), row(None, 0.5, 1)]))
    assert result.cells == {}
    assert result.unavailable == {("a", "given"): NO_COMMON_ROWS, ("a", "verbal"): NO_COMMON_ROWS}
    assert "every method shown" in result.headline


def test_an_ece_of_one_bin_is_flagged() -> None:
    result = table(run_of([row(0.95, at / 20, at % 2) for at in range(20)]))
    assert "One bin holds 100.0 % of the rows" in (result.cells["a", "given"].warning or "")
    assert result.cells["a", "verbal"].warning is None


SILENT = run_of(
    [
        {"answer_kind": "number", "gold": "1", "samples": ["1", "1"], "p_true": 0.5, "correct": True},
        {"answer_kind": "number", "gold": "1", "samples": ["no", "idea"], "p_true": 0.25, "correct": False},
    ]
)


def test_a_question_without_a_parsed_sample() -> None:
    left_out = table(SILENT)
    assert {cell.n_used for cell in left_out.cells.values()} == {1}
    counted = table(SILENT, unparsed_choice="wrong")
    assert {cell.n_used for cell in counted.cells.values()} == {2}
    assert counted.cells["a", "cluster_size"].brier == 0
    assert counted.cells["a", "cluster_size"].accuracy == 1 / 2
    assert counted.cells["a", "p_true"].brier == pytest.approx(float((HALF**2 + Fraction(1, 16)) / 2))
    assert {cell.judged for cell in counted.cells.values()} == {"majority answer", "greedy answer"}
    assert "confidence 0 and wrong (1 row)" in counted.cells["a", "cluster_size"].recipe


def test_the_recipe_counts_those_of_the_common_rows_alone() -> None:
    silent = {"answer_kind": "number", "gold": "1", "samples": ["no", "idea"], "correct": False}
    rows = [
        {"answer_kind": "number", "gold": "1", "samples": ["1", "1"], "p_true": 0.5, "correct": True},
        silent | {"p_true": 0.25},
        silent | {"p_true": None},
        silent | {"p_true": None},
    ]
    of_common = table(run_of(rows), unparsed_choice="wrong").cells["a", "cluster_size"]
    assert of_common.n_used == 2
    assert "confidence 0 and wrong (1 row)" in of_common.recipe
    own = table(run_of(rows), unparsed_choice="wrong", row_choice="own").cells["a", "cluster_size"]
    assert "confidence 0 and wrong (3 rows)" in own.recipe


def test_m_is_the_chosen_one() -> None:
    assert "M=3" in table(scheme=Scheme("width", 3)).cells["a", "given"].recipe


def test_the_frame_has_one_row_per_cell() -> None:
    frame = compare_methods({"a": evidences_of(WORSE), "b": evidences_of(BETTER)}).to_frame()
    assert frame.select("run", "method").rows() == [
        ("a", "given"),
        ("a", "verbal"),
        ("b", "given"),
        ("b", "verbal"),
    ]
    assert frame.columns == compare_methods({}).to_frame().columns


def test_no_outcome_is_drawn_until_a_p_value_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[AnswerEvidence] = []
    real = AnswerEvidence.null_draws

    def null_draws(self: AnswerEvidence, *of: Any) -> Any:
        made.append(self)
        return real(self, *of)

    monkeypatch.setattr(AnswerEvidence, "null_draws", null_draws)
    runs = {"enough": WORSE, "too few": RUN}
    alone = compare_methods({name: evidences_of(run, "given") for name, run in runs.items()})
    cells = [*alone.cells.values(), *table(WORSE).cells.values()]
    assert not made
    for cell in cells:
        whole = score(cell.evidence, "ece", with_remark=False)
        assert (cell.ece, cell.p, cell.recipe) == (whole.value, whole.p, whole.recipe)
        assert cell.p is not None or "p over R=" not in cell.recipe
    assert alone.to_frame()["p"].to_list() == [cell.p for cell in alone.cells.values()]
    assert {cell.p is None for cell in cells} == {True, False}


def test_an_event_is_not_compared_with_the_confidence_in_an_answer() -> None:
    rows = [{**row(0.5, 0.9, at % 2), "event_prob": 0.2, "event": at % 5 == 0} for at in range(60)]
    both, answers = table(run_of(rows)), table(run_of(rows), "given", "verbal")
    assert set(both.cells) == {("a", "given"), ("a", "verbal"), ("a", "event")}
    assert not both.paired
    assert both.headline == "No comparison: the methods use different rows or outcomes."
    assert answers.paired
    assert (both.terms.of, answers.terms.of) == ("both", "answer")


def test_an_event_stays_judged_by_itself_whichever_answer_is_chosen() -> None:
    rows = [{"event_prob": 0.2, "event": at % 5 == 0, "correct": True, "confidence": 0.5} for at in range(60)]
    (event,) = evidences_of(run_of(rows), "event")
    assert judged_by(event, "greedy") is event
