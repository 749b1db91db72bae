"""What is shown by default has enough rows to be judged."""

from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods import METHODS
from calib_core.results.defaults import (
    MAX_DEFAULT_METHODS,
    METHOD_PREFERENCE,
    default_method,
    default_methods,
    default_run,
)


def test_the_first_run_with_rows_enough_is_shown_first() -> None:
    assert default_run({"tiny": MIN_ROWS - 1, "first": MIN_ROWS, "largest": 10 * MIN_ROWS}) == "first"
    assert default_run({"first": MIN_ROWS, "tiny": 1}) == "first"


def test_where_none_has_enough_it_is_the_one_with_the_most_and_of_equals_the_first() -> None:
    assert default_run({"two": 2, "nine": 9, "also nine": 9, "none": 0}) == "nine"
    assert default_run({"none": 0}) == "none"


def test_methods_stand_in_the_registrys_order_and_are_few() -> None:
    of_answers = [id_ for id_, method in METHODS.items() if method.probability_of == "answer"]
    preferred = [id_ for id_ in METHOD_PREFERENCE if id_ in of_answers][:MAX_DEFAULT_METHODS]
    shown = default_methods(of_answers)
    assert len(shown) == MAX_DEFAULT_METHODS
    assert shown == [id_ for id_ in METHODS if id_ in preferred]
    assert default_methods(METHODS) == ["event"]
    assert default_methods({"verbal", "given"}) == ["verbal", "given"]


def test_the_method_that_stands_for_a_run_is_the_one_a_person_would_use() -> None:
    preferred = ["event", "choice", "verbal", "given", "given.b", "choice_softmax", "cluster_size", "p_true"]
    for place, method in enumerate(preferred):
        later = [*METHODS, "given.b"] if place == 0 else [*preferred[place:], "cluster_number", "logit_path"]
        for usable in (later, later[::-1], set(later)):
            assert default_method(usable) == method
    assert default_method(["pairwise", "cluster_number"]) == "cluster_number"  # ties go by registration
    assert default_method(["given.b", "given.a"]) == "given.a"
    assert default_method(["tokens"]) == "tokens"
