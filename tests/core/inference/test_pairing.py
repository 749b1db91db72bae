"""Two rows are paired only if they are the same question."""

from __future__ import annotations

from typing import Any

import pytest

from calib_core.errors import Unavailable
from calib_core.inference.pairing import common_questions, identifies_questions, number_questions
from calib_core.runs import AnswerRun
from core.run_builders import make_answer_run


def run(**columns: Any) -> AnswerRun:
    rows = len(next(iter(columns.values())))
    return make_answer_run({"correct": [True] * rows, **columns})


def paired_positions(first: AnswerRun, second: AnswerRun) -> list[tuple[int, int]]:
    at_first, at_second, keys = common_questions(first, second)
    assert keys.n_unique() == keys.len() == at_first.size
    return list(zip(at_first.tolist(), at_second.tolist(), strict=True))


def test_by_id_whatever_the_order() -> None:
    assert paired_positions(run(id=["a", "b", "c"]), run(id=["c", "x", "a"])) == [(0, 2), (2, 0)]


def test_an_id_counts_within_its_subject() -> None:
    first = run(id=["1", "1"], subject=["law", "art"])
    second = run(id=["1", "1"], subject=["art", "law"])
    assert paired_positions(first, second) == [(0, 1), (1, 0)]


def test_by_text_where_both_have_it_even_if_ids_differ() -> None:
    first = run(id=["1", "2"], question=["why?", "how?"])
    second = run(id=["9", "8"], question=["how?", "why?"])
    assert paired_positions(first, second) == [(0, 1), (1, 0)]


def test_equal_ids_of_other_questions_are_not_a_pair() -> None:
    with pytest.raises(Unavailable, match="no question in common"):
        common_questions(run(id=["1"], question=["why?"]), run(id=["1"], question=["how?"]))


def test_of_events_it_is_items_that_are_not_in_common() -> None:
    events, others = (run(id=[name], event_prob=[0.5], event=[True]) for name in "ab")
    with pytest.raises(Unavailable, match="no item in common"):
        common_questions(events, others)
    with pytest.raises(Unavailable, match="no question in common"):
        common_questions(events, run(id=["b"]))


def test_equal_texts_are_distinguished_by_id() -> None:
    first = run(id=["1", "2"], question=["why?", "why?"])
    second = run(id=["2", "1"], question=["why?", "why?"])
    assert paired_positions(first, second) == [(0, 1), (1, 0)]
    other = run(id=["1", "2"], question=["why?", "how?"])
    assert paired_positions(other, first) == paired_positions(first, other) == [(0, 0)]


def test_row_numbers_pair_nothing() -> None:
    with pytest.raises(Unavailable, match="need an id or the question's text"):
        common_questions(run(subject=["a"]), run(subject=["a"]))


def test_the_refusal_names_the_way_to_pair_by_row() -> None:
    with pytest.raises(Unavailable, match=r'columns=\{"row": "id"\}\.$'):
        common_questions(run(subject=["a"]), run(subject=["a"]))


def test_a_missing_id_pairs_nothing() -> None:
    with pytest.raises(Unavailable, match="need an id"):
        common_questions(run(id=["a", None]), run(id=["a", "b"]))


def test_repeated_questions_are_refused() -> None:
    with pytest.raises(Unavailable, match="occur twice"):
        common_questions(run(question=["why?", "why?"]), run(question=["why?", "how?"]))


def test_parts_of_a_key_do_not_run_together() -> None:
    first, second = run(subject=["a"], id=["bc"]), run(subject=["ab"], id=["c"])
    with pytest.raises(Unavailable, match="no question in common"):
        common_questions(first, second)


def test_equal_ids_with_other_right_answers_are_refused() -> None:
    first = run(id=["1", "2", "3"], gold=["4", "5", "6"])
    second = run(id=["1", "2", "3"], gold=["4.0", "5", "7"])
    with pytest.raises(Unavailable, match="1 of 3 equal ids have different right answers"):
        common_questions(first, second)
    assert paired_positions(first, run(id=["1", "2", "3"], gold=["4.0", None, "6"])) == [
        (0, 0),
        (1, 1),
        (2, 2),
    ]


def test_the_same_text_with_another_right_answer_is_another_question() -> None:
    first = run(question=["why?", "how?"], gold=["4", "5"])
    second = run(question=["how?", "why?"], gold=["6", "4"])
    assert paired_positions(first, second) == [(0, 1)]


def test_choices_in_another_order_have_the_same_right_answer() -> None:
    choices = [["yes", "no", "maybe"]] * 2
    first = run(id=["1", "2"], choices=choices, gold_index=[0, 1], answer_kind=["choice"] * 2)
    turned = run(
        id=["1", "2"], choices=[c[::-1] for c in choices], gold_index=[2, 1], answer_kind=["choice"] * 2
    )
    assert paired_positions(first, turned) == [(0, 0), (1, 1)]
    other = run(id=["1", "2"], choices=choices, gold_index=[1, 1], answer_kind=["choice"] * 2)
    with pytest.raises(Unavailable, match="1 of 2 equal ids"):
        common_questions(first, other)


def test_questions_of_many_runs_are_numbered_alike() -> None:
    runs = [run(id=["a", "b", "c"]), run(id=["c", "x"]), run(id=["x", "a"])]
    numbers = number_questions(runs)
    ids = [["a", "b", "c"], ["c", "x"], ["x", "a"]]
    assert [[numbers.keys[int(n)] for n in of_run] for of_run in numbers.by_run] == ids
    assert [part.tolist() for part in numbers.common(0, 2)] == [[0], [1]]
    assert [part.tolist() for part in numbers.common(1, 2)] == [[1], [0]]
    assert not identifies_questions(run(subject=["a"]))
