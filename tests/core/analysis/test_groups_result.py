"""Does the frame of many groups hold what each of them holds?"""

from __future__ import annotations

from core.figures.dot_groups import make_group, make_groups


def test_one_row_a_group_with_its_series_by_title() -> None:
    frame = make_groups(make_group("law", 0.3, low=0.2, high=0.4, n=20), make_group("sums", None)).to_frame()
    assert frame.select("name", "series", "value", "low", "n_used", "small").rows() == [
        ("law", "r", 0.3, 0.2, 20, True), ("sums", "r", None, None, 100, False),
    ]
    assert make_groups().to_frame().columns == frame.columns
