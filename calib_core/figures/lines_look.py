"""How is each line told from the others, where lines are runs, methods, or both?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from calib_core.analysis.lines import ReliabilityLines
from calib_core.figures.method_look import method_style
from calib_core.figures.run_look import run_style
from calib_core.figures.strokes import SeriesStyle
from calib_core.figures.theme import Theme


def styles_by_line(result: ReliabilityLines, style_indices: Mapping[str, int], theme: Theme) -> dict[str, SeriesStyle]:
    """Key of a line → its colour, dash and symbol.

    places: key → place of the line's run among all at hand. Lines that are methods of one run look as these
    methods do everywhere, lines that are runs as these runs do; where both differ, colour and dash say the
    run and the symbol says the method.
    """
    runs, methods = {line.run for line in result.lines}, {line.method for line in result.lines}
    looks: dict[str, SeriesStyle] = {}
    for at, line in enumerate(result.lines):
        own, method = run_style(style_indices.get(line.key, at), theme), method_style(line.method, theme)
        if len(methods) > 1:
            alone = len(runs) == 1
            own = method if alone else replace(own, symbol=method.symbol)
        looks[line.key] = own
    return looks
