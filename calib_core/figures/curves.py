"""What is one swept metric of one run as a line over M, and how do figures of such lines begin?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from calib_core.analysis.sweep import Curve, Sweep
from calib_core.figures.bin_axis import bin_axis
from calib_core.figures.layout import entry, legend_room, paper
from calib_core.figures.run_look import run_look
from calib_core.figures.stack import Stack, stack_of
from calib_core.figures.strokes import band_entry, metric_line, points
from calib_core.figures.text import plain, without_middle
from calib_core.figures.theme import Theme
from calib_core.metrics import METRICS

_NAME: Final = 44
"""Letters of a run's name in the legend: as wide as a telephone."""


def of_own_spread(curves: Sequence[Curve]) -> list[Curve]:
    """All but K·cw-ECE beside cw-ECE: as K times that, it has its RSD and would hide its relative curve."""
    with_cw = any(curve.metric == "cw_ece" for curve in curves)
    return [curve for curve in curves if not (with_cw and curve.metric == "cw_ece_sum")]


@dataclass(frozen=True, slots=True)
class Drawn:
    """One curve with where it belongs.

    place: of its run among those drawn, from 0; known: of its run among all at hand, which gives it its
    symbol; alone: whether there is only one run.
    """

    curve: Curve
    run: str
    place: int
    known: int
    alone: bool

    def marker(self, colour: str, theme: Theme) -> dict[str, Any]:
        """The run's symbol in this colour."""
        return points(colour, run_look(self.known, theme).symbol, theme)

    @property
    def title(self) -> str:
        """The metric's short name, as the papers have it: "cw-ECE"."""
        return METRICS[self.curve.metric].title

    @property
    def scale(self) -> str:
        """Curves of one panel: never a metric of [0, 1] on one axis with one of [0, 2]."""
        if self.curve.metric == "cw_ece":
            return "K"
        return "2" if METRICS[self.curve.metric].high == 2 else "1"


def drawn_of(results: Sequence[Sweep], places: Sequence[int] = ()) -> Iterator[Drawn]:
    """Every curve of every run, run by run; places: of the runs among all at hand, else among these."""
    for place, result in enumerate(results):
        known = places[place] if places else place
        for curve in result.curves:
            yield Drawn(curve, result.run, place, known, alone=len(results) == 1)


def begin(
    theme: Theme, results: Sequence[Sweep], entries: Sequence[dict[str, Any]], *, panels: int
) -> tuple[dict[str, Any], Stack]:
    """The layout of a figure over M without its vertical axes, and where its panels stand."""
    top, alone = legend_room([each["name"] for each in entries], alone=len(results) > 1)
    stack = stack_of(panels, top=top, each=300 if panels == 1 else 200)
    layout = paper(theme, height=stack.height, top=top, alone=alone)
    layout |= {"hovermode": "closest", "annotations": [], "shapes": []}
    bins = sorted({bins for result in results for bins in result.bins})
    layout["xaxis"] = bin_axis(theme, bins, anchor=stack.lowest)
    return layout, stack


def line_of(
    each: Drawn, theme: Theme, yaxis: str, values: Sequence[float | None], words: Sequence[str]
) -> dict[str, Any]:
    """The line of one curve, a point at each M; words: what the hover says of each, as plotly's HTML."""
    line = metric_line(each.curve.metric, theme)
    of = "" if each.alone else f"<br>{plain(without_middle(each.run, _NAME))}"
    name = f"<b>{plain(each.title)}</b>{of}"
    return {
        "type": "scatter", "mode": "lines+markers", "yaxis": yaxis, "cliponaxis": False, "showlegend": False,
        "x": list(each.curve.bins), "y": [None if value is None else round(value, 7) for value in values],
        "line": line, "marker": each.marker(line["color"], theme),
        "unselected": {"marker": {"opacity": 1}}, "hoverinfo": "text",
        "hovertext": [
            f"{name}<br>M = {bins:,}<br>{told}" for bins, told in zip(each.curve.bins, words, strict=True)
        ],
        "meta": {"metric": each.curve.metric, "run": each.place},
    }


def legend_of(drawn: Sequence[Drawn], theme: Theme, *, relative: bool) -> list[dict[str, Any]]:
    """A line a metric (with the RSD of each run, in the runs' order), a symbol a run, and the band."""
    entries: list[dict[str, Any]] = []
    for metric in dict.fromkeys(each.curve.metric for each in drawn):
        own = [each.curve for each in drawn if each.curve.metric == metric]
        told = ", ".join(f"{100 * curve.rsd:.1f}" for curve in own if curve.rsd is not None)
        rsd = f" (RSD {told} %)" if relative and told else ""
        line = metric_line(metric, theme)
        symbol = {"marker": drawn[0].marker(line["color"], theme)} if drawn[0].alone else {}
        mode = "lines+markers" if drawn[0].alone else "lines"
        entries.append(entry(f"{METRICS[metric].title}{rsd}", mode, line=line, **symbol))
    entries += [
        entry(without_middle(each.run, _NAME), "markers", marker=each.marker(theme.text, theme))
        for each in {each.place: each for each in drawn if not each.alone}.values()
    ]
    if not relative and any(each.curve.null for each in drawn if each.place == 0):
        whose = "" if drawn[0].alone else " (first run)"
        entries.append(band_entry(theme, whose))
    return entries
