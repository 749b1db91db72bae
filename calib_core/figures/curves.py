"""What is one swept metric of one run as a line over M, and how do figures of such lines begin?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from calib_core.analysis.sweep import SweepCurve, Sweep
from calib_core.figures.bin_axis import bin_count_axis
from calib_core.figures.layout import legend_entry, legend_margin, base_layout
from calib_core.figures.run_look import run_style
from calib_core.figures.stack import PanelStack, stack_panels
from calib_core.figures.strokes import band_legend_entry, metric_line_style, marker_style
from calib_core.figures.text import escape_for_plotly, truncate_middle
from calib_core.figures.theme import Theme
from calib_core.metrics import METRICS

_MAX_RUN_NAME: Final = 44
"""Letters of a run's name in the legend: as wide as a telephone."""


def without_redundant_curves(curves: Sequence[SweepCurve]) -> list[SweepCurve]:
    """All but K·cw-ECE beside cw-ECE: as K times that, it has its RSD and would hide its relative curve."""
    with_cw = any(curve.metric == "cw_ece" for curve in curves)
    return [curve for curve in curves if not (with_cw and curve.metric == "cw_ece_sum")]


@dataclass(frozen=True, slots=True)
class RunCurve:
    """One curve with where it belongs.

    place: of its run among those drawn, from 0; known: of its run among all at hand, which gives it its
    symbol; alone: whether there is only one run.
    """

    curve: SweepCurve
    run: str
    run_index: int
    style_index: int
    single_run: bool

    def marker(self, colour: str, theme: Theme) -> dict[str, Any]:
        """The run's symbol in this colour."""
        return marker_style(colour, run_style(self.style_index, theme).symbol, theme)

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


def run_curves(results: Sequence[Sweep], style_indices: Sequence[int] = ()) -> Iterator[RunCurve]:
    """Every curve of every run, run by run; places: of the runs among all at hand, else among these."""
    for place, result in enumerate(results):
        known = style_indices[place] if style_indices else place
        for curve in result.curves:
            yield RunCurve(curve, result.run, place, known, single_run=len(results) == 1)


def sweep_layout(
    theme: Theme, results: Sequence[Sweep], entries: Sequence[dict[str, Any]], *, panels: int
) -> tuple[dict[str, Any], PanelStack]:
    """The layout of a figure over M without its vertical axes, and where its panels stand."""
    top, alone = legend_margin([each["name"] for each in entries], one_per_line=len(results) > 1)
    stack = stack_panels(panels, top=top, panel_height=300 if panels == 1 else 200)
    layout = base_layout(theme, height=stack.height, top=top, one_per_line=alone)
    layout |= {"hovermode": "closest", "annotations": [], "shapes": []}
    bins = sorted({bins for result in results for bins in result.bins})
    layout["xaxis"] = bin_count_axis(theme, bins, anchor=stack.bottom_axis)
    return layout, stack


def curve_line(
    run_curve: RunCurve, theme: Theme, yaxis: str, values: Sequence[float | None], hover_texts: Sequence[str]
) -> dict[str, Any]:
    """The line of one curve, a point at each M; words: what the hover says of each, as plotly's HTML."""
    line = metric_line_style(run_curve.curve.metric, theme)
    of = "" if run_curve.single_run else f"<br>{escape_for_plotly(truncate_middle(run_curve.run, _MAX_RUN_NAME))}"
    name = f"<b>{escape_for_plotly(run_curve.title)}</b>{of}"
    return {
        "type": "scatter", "mode": "lines+markers", "yaxis": yaxis, "cliponaxis": False, "showlegend": False,
        "x": list(run_curve.curve.bins), "y": [None if value is None else round(value, 7) for value in values],
        "line": line, "marker": run_curve.marker(line["color"], theme),
        "unselected": {"marker": {"opacity": 1}}, "hoverinfo": "text",
        "hovertext": [
            f"{name}<br>M = {bins:,}<br>{told}" for bins, told in zip(run_curve.curve.bins, hover_texts, strict=True)
        ],
        "meta": {"metric": run_curve.curve.metric, "run": run_curve.run_index},
    }


def sweep_legend(curves: Sequence[RunCurve], theme: Theme, *, relative: bool) -> list[dict[str, Any]]:
    """A line a metric (with the RSD of each run, in the runs' order), a symbol a run, and the band."""
    entries: list[dict[str, Any]] = []
    for metric in dict.fromkeys(each.curve.metric for each in curves):
        own = [each.curve for each in curves if each.curve.metric == metric]
        told = ", ".join(f"{100 * curve.rsd:.1f}" for curve in own if curve.rsd is not None)
        rsd = f" (RSD {told} %)" if relative and told else ""
        line = metric_line_style(metric, theme)
        symbol = {"marker": curves[0].marker(line["color"], theme)} if curves[0].single_run else {}
        mode = "lines+markers" if curves[0].single_run else "lines"
        entries.append(legend_entry(f"{METRICS[metric].title}{rsd}", mode, line=line, **symbol))
    entries += [
        legend_entry(truncate_middle(each.run, _MAX_RUN_NAME), "markers", marker=each.marker(theme.text, theme))
        for each in {each.run_index: each for each in curves if not each.single_run}.values()
    ]
    if not relative and any(each.curve.null for each in curves if each.run_index == 0):
        whose = "" if curves[0].single_run else " (first run)"
        entries.append(band_legend_entry(theme, whose))
    return entries
