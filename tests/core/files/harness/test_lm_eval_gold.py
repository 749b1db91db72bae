"""Which readings of a target are tried, in which order, and what does `acc` decide?"""

from __future__ import annotations

import math
from typing import Any

import pytest

from calib_core.files.harness.lm_eval_docs import Doc, doc_of
from calib_core.files.harness.lm_eval_gold import golds_of
from core.files.harness_logs import choice_record

NUMBERS = [-1.0, -2.0, -3.0]


def doc(target: object, acc: float | None = None, *, choices: str = "xyz", **more: Any) -> Doc:
    record = choice_record(0, NUMBERS, target, choices=choices, **more)
    return doc_of(record if acc is None else record | {"acc": acc}, 1, 1.0, None)


@pytest.mark.parametrize(
    ("target", "right"),
    [
        ("y", (1,)), (" y ", (1,)), ("1", (1,)), (1, (1,)), ("[0, 2]", (0, 2)), ("[1]", (1,)), ("B", (1,)),
        ("(c)", (2,)), ("5", (5,)), ("D", ()), ("-1", ()), ("w", ()), ("1.5", ()), ("", None), (None, None),
    ],
)
def test_a_target_by_its_meaning(target: object, right: object) -> None:
    assert golds_of([doc(target)]).right == (right,)


def test_a_text_of_the_document_comes_last() -> None:
    options = {"choices": ["2", "0", "w"]}
    assert golds_of([doc("0", doc=options)]).right == ((0,),)
    assert golds_of([doc("w", doc=options)]).right == ((2,),)


def test_of_equal_choices_the_first() -> None:
    assert golds_of([doc("x", choices="xxy")]).right == ((0,),)


def test_acc_decides_between_text_and_position() -> None:
    found = golds_of([doc("0", 1.0, choices="210"), doc("1", 0.0, choices="210")])
    assert found.right == ((0,), (1,))
    assert (found.agreed, found.against) == (2, 0)
    assert golds_of([doc("0", 0.0, choices="210"), doc("1", 0.0, choices="210")]).right == ((2,), (1,))


def test_positions_counted_from_1_where_acc_says_so() -> None:
    found = golds_of([doc("1", 1.0), doc("2", 0.0)])
    assert (found.right, found.how) == (((0,), (1,)), "as a position counted from 1")


def test_one_contradiction_is_enough() -> None:
    found = golds_of([doc("x", 1.0), doc("x", 1.0), doc("x", 0.0)])
    assert found.right == (None, None, None)
    assert (found.agreed, found.against) == (2, 1)


def test_a_document_whose_numbers_are_none_contradicts_nothing() -> None:
    broken = doc_of(choice_record(0, ["nan", "-1", "-2"], "x", choices="xyz", acc=0.0), 1, 1.0, None)
    assert golds_of([doc("x", 1.0), broken]).right == ((0,), (0,))


def cloze(answer: str, best: int, acc: float | None) -> Doc:
    requests = {
        f"gen_args_{at}": {"arg_0": f"because {text}", "arg_1": " was small."}
        for at, text in enumerate(("the box", "the van", "the cup"))
    }
    numbers = [-1.0 if at == best else -2.0 for at in range(3)]
    record = choice_record(0, numbers, "was small.", arguments=requests, doc={"answer": answer})
    return doc_of(record if acc is None else record | {"acc": acc}, 1, 1.0, None)


def test_a_position_that_no_choice_has_speaks_against_a_field_of_the_document() -> None:
    found = golds_of([cloze("3", 2, 1.0), cloze("1", 2, 0.0)])
    assert (found.right, found.how) == (((2,), (0,)), "from doc.answer, counted from 1")


def test_a_field_of_the_document_is_not_believed_without_acc() -> None:
    found = golds_of([cloze("1", 1, None), cloze("0", 0, None)])
    assert (found.right, found.how, found.against) == ((None, None), "", 0)


def test_marks_of_the_document_are_believed_where_acc_is_their_share() -> None:
    shares = [math.exp(number) for number in NUMBERS]
    one = {"choices": [*"xyz"], "labels": [0, 1, 0]}
    told = {"one": one, "all": one | {"labels": [1, 0, 1]}}
    of = doc("0", (shares[0] + shares[2]) / sum(shares), doc=told)
    found = golds_of([of])
    assert (found.right, found.how) == (((0, 2),), "from doc.all.labels")
    assert golds_of([doc("0", 0.123, doc=told)]).right == (None,)
