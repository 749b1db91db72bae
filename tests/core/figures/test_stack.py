"""Do panels that share an axis stand one below the other without touching?"""

from __future__ import annotations

import pytest

from calib_core.figures.layout import BOTTOM
from calib_core.figures.stack import heading, stack_of
from calib_core.figures.theme import LIGHT


@pytest.mark.parametrize("panels", [1, 2, 3])
def test_panels_fill_the_plot_and_leave_room_for_headings(panels: int) -> None:
    stack = stack_of(panels, top=40, each=200)
    plot = stack.height - 40 - BOTTOM
    assert [round((high - low) * plot) for low, high in stack.down] == [200] * panels
    assert stack.down[-1][0] == pytest.approx(0)
    for (low, _), (_, below) in zip(stack.down, stack.down[1:], strict=False):
        assert low > below - 1e-9
    assert stack.lowest == ("y" if panels == 1 else f"y{panels}")
    assert [stack.key(place) for place in range(panels)] == ["yaxis", "yaxis2", "yaxis3"][:panels]


def test_a_heading_stands_on_its_panel() -> None:
    stack = stack_of(2, top=0, each=100)
    short, long = heading("Values", LIGHT, stack, 1), heading("Values " * 9, LIGHT, stack)
    assert (short["y"], long["y"]) == (stack.down[1][1], stack.down[0][1])
    assert long["font"]["size"] < short["font"]["size"]
