"""Do panels stand beside and below one another without touching, each on axes of its own?"""

from __future__ import annotations

import pytest

from calib_core.figures.grid import grid_of, layout_key


def test_one_panel_takes_the_whole_width() -> None:
    grid = grid_of(1, top=36)
    (cell,) = grid.cells
    assert (grid.columns, cell.across, cell.upper[1], cell.lower[0]) == (1, (0, 1), 1, pytest.approx(0))
    assert (cell.x, cell.y, cell.y_strip, cell.left) == ("x", "y", "y2", True)


@pytest.mark.parametrize("panels", [1, 2, 3, 4, 7])
def test_strips_lie_below_their_panels_and_nothing_overlaps(panels: int) -> None:
    grid = grid_of(panels, top=36)
    assert len(grid.cells) == panels
    for cell in grid.cells:
        assert 0 <= cell.lower[0] < cell.lower[1] < cell.upper[0] < cell.upper[1] <= 1
        assert 0 <= cell.across[0] < cell.across[1] <= 1 + 1e-12
    for one, next_ in zip(grid.cells, grid.cells[1:], strict=False):
        if next_.left:
            assert next_.upper[1] < one.lower[0]
        else:
            assert next_.across[0] > one.across[1]
            assert (next_.upper, next_.lower) == (one.upper, one.lower)


def test_more_rows_make_the_figure_taller_and_no_panel_smaller() -> None:
    two, four = grid_of(2, top=36), grid_of(4, top=36)

    def pixels(grid_height: int, span: tuple[float, float]) -> float:
        return (grid_height - 36 - 48) * (span[1] - span[0])

    assert pixels(two.height, two.cells[0].upper) == pytest.approx(pixels(four.height, four.cells[0].upper))


def test_every_axis_is_named_once() -> None:
    names = [name for cell in grid_of(5, top=0).cells for name in (cell.x, cell.y, cell.y_strip)]
    assert len(set(names)) == 15
    assert [layout_key(name) for name in ("x", "y2")] == ["xaxis", "yaxis2"]
