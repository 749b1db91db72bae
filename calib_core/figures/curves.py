"""What is one swept metric of one run as a line over M, and how do figures of such lines begin?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from calib_core.analysis.sweep import Curve, Sweep
from calib_core.figures.bin_axis import bin_axis
from calib_core.figures.layout import TEXT_SIZE, note, paper
from calib_core.figures.run_look import run_look
from calib_core.figures.stack import Stack, heading_place, stack_of
from calib_core.figures.strokes import metric_line, points
from calib_core.figures.text import plain
from calib_core.figures.theme import Theme
from calib_core.metrics import METRICS
from calib_core.problems import shorten

_ENTRY: Final = 19
"""Pixels of one line of the legend."""

_BESIDE: Final = 25
"""Letters of an entry that has another beside it …"""

_NAME: Final = 44
"""… and of a run's name, which has none: it is as long as a telephone is wide."""


def short(metric: str) -> str:
    """The metric's name where room is scarce: "ECE", "K·cw-ECE", "mass-weighted Full-ECE"."""
    name, _, kind = METRICS[metric].recipe.replace("-L1", "").partition(", ")
    return f"{kind} {name}".strip()


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
        return short(self.curve.metric)

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
    one_column = len(results) > 1 or _too_long([entry["name"] for entry in entries])
    lines = len(entries) if one_column else -(-len(entries) // 2)
    top = 14 + _ENTRY * lines
    stack = stack_of(panels, top=top, each=300 if panels == 1 else 200)
    layout = paper(theme, height=stack.height, top=top)
    if one_column:
        layout["legend"]["entrywidth"] = 0.98
    layout |= {"hovermode": "closest", "annotations": [], "shapes": []}
    bins = sorted({bins for result in results for bins in result.bins})
    layout["xaxis"] = bin_axis(theme, bins, anchor=stack.lowest)
    return layout, stack


def _too_long(names: Sequence[str]) -> bool:
    """Whether two of these names do not fit beside one another on a telephone."""
    alone = len(names) % 2  # the last of an odd number has the line to itself
    return any(len(name) > _BESIDE for name in names[: len(names) - alone])


def line_of(
    each: Drawn, theme: Theme, yaxis: str, values: Sequence[float | None], words: Sequence[str]
) -> dict[str, Any]:
    """The line of one curve, a point at each M; words: what the hover says of each, as plotly's HTML."""
    line = metric_line(each.curve.metric, theme)
    name = f"<b>{plain(each.title)}</b>" + ("" if each.alone else f"<br>{plain(shorten(each.run, _NAME))}")
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


def heading(text: str, theme: Theme, stack: Stack, place: int = 0) -> dict[str, Any]:
    """Words above the panel at this place."""
    font = {"size": TEXT_SIZE, "color": theme.text}
    return note(theme, f"<b>{plain(text)}</b>", font=font, **heading_place(stack, place))


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
        entries.append(_entry(f"{short(metric)}{rsd}", mode, line=line, **symbol))
    entries += [
        _entry(shorten(each.run, _NAME), "markers", marker=each.marker(theme.text, theme))
        for each in {each.place: each for each in drawn if not each.alone}.values()
    ]
    if not relative and any(each.curve.null for each in drawn if each.place == 0):
        whose = "" if drawn[0].alone else " (first run)"
        line = {"color": theme.muted, "width": 9}
        entries.append(_entry(f"if calibrated: 5–95 %{whose}", "lines", line=line, opacity=0.35))
    return entries


def _entry(name: str, mode: str, **look: Any) -> dict[str, Any]:  # noqa: ANN401
    """One entry of the legend: a trace that is nowhere."""
    return {
        "type": "scatter", "mode": mode, "x": [None], "y": [None], "name": plain(name), "showlegend": True,
        "hoverinfo": "skip", **look,
    }
