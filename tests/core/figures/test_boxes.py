"""Is the box that is taken the one that hides least?"""

from __future__ import annotations

from calib_core.figures.label_placement import Box, box_array, least_crowded, overlaps

LEFT: Box = (0, 0, 10, 10)
MIDDLE: Box = (20, 0, 30, 10)
RIGHT: Box = (40, 0, 50, 10)


def inside(box: Box) -> Box:
    return box[0] + 2, box[1] + 2, box[2] - 2, box[3] - 2


def test_boxes_with_an_edge_in_common_do_not_overlap_unless_they_are_kept_apart() -> None:
    beside = box_array([(10, 0, 20, 10), (9, 9, 20, 20), inside(LEFT)])
    assert overlaps(box_array([LEFT]), beside).tolist() == [[False, True, True]]
    assert overlaps(box_array([LEFT]), beside, gap=1).tolist() == [[True, True, True]]
    assert overlaps(box_array([LEFT]), box_array([])).shape == (1, 0)


def test_the_first_that_covers_least_is_taken_and_lines_decide_among_equals_alone() -> None:
    boxes = [LEFT, MIDDLE, RIGHT]
    assert least_crowded(boxes, []) == LEFT
    assert least_crowded(boxes, [inside(LEFT)]) == MIDDLE
    assert least_crowded(boxes, [inside(LEFT)], [inside(MIDDLE)]) == RIGHT
    assert least_crowded([LEFT, MIDDLE], [inside(LEFT)], [inside(MIDDLE)] * 3) == MIDDLE
