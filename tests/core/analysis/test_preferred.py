"""Is what is shown first something that can be judged?"""

from calib_core.analysis.limits import FEW
from calib_core.analysis.preferred import MOST, PREFERRED, preferred, telling
from calib_core.confidence import METHODS


def test_the_first_run_with_rows_enough_is_shown_first() -> None:
    assert telling({"tiny": FEW - 1, "first": FEW, "largest": 10 * FEW}) == "first"
    assert telling({"first": FEW, "tiny": 1}) == "first"


def test_where_none_has_enough_it_is_the_one_with_the_most_and_of_equals_the_first() -> None:
    assert telling({"two": 2, "nine": 9, "also nine": 9, "none": 0}) == "nine"
    assert telling({"none": 0}) == "none"


def test_methods_stand_in_the_registrys_order_and_are_few() -> None:
    shown = preferred(METHODS)
    assert len(shown) == MOST
    assert shown == [id_ for id_ in METHODS if id_ in PREFERRED[:MOST]]
    assert preferred({"verbal", "given"}) == ["verbal", "given"]
