"""What do the methods say on average at each N', and how often is the majority right?  The lower panel."""

from __future__ import annotations

from typing import Any, Final

from calib_core.analysis.samples_result import METHOD_SYMBOLS, SampleSizeSweep
from calib_core.figures.method_look import method_style
from calib_core.figures.sampling_levels import LabelledLevel
from calib_core.figures.theme import Theme
from calib_core.wording import NOT_DEFINED, format_number

CONFIDENCE_AXIS_RANGE: Final = (0.0, 1.08)
"""Ends of the lower axis."""


def mean_confidence_lines(result: SampleSizeSweep, theme: Theme) -> list[dict[str, Any]]:
    """Mean confidence of each method, the accuracy they speak of, and the most that F_CN can say."""
    x = list(result.sizes)
    traces: list[dict[str, Any]] = []
    common = {"type": "scatter", "yaxis": "y2", "showlegend": False, "hoverinfo": "text", "x": x}
    if "cluster_number" in result.mean_confidence:
        most = [(size - 1) / size for size in x]
        colour = method_style("cluster_number", theme).colour
        words = [f"F_CN is at most<br>1 − 1/{size} = {end:.4g}" for size, end in zip(x, most, strict=True)]
        traces.append(common | {
            "mode": "lines+markers", "y": most, "hovertext": words, "meta": {"ceiling": True},
            "line": {"color": colour, "width": 1.4, "dash": "6px,5px"},
            "marker": {"symbol": "line-ew-open", "size": 16, "color": colour, "line": {"width": 2}},
        })
    traces.append(common | {
        "mode": "lines" if len(x) > 1 else "markers", "marker": {"color": theme.muted_text, "size": 7},
        "y": [rounded(right) for right in result.accuracy], "meta": {"accuracy": True},
        "line": {"color": theme.muted_text, "width": 2, "dash": "2px,3px"},
        "hovertext": [
            f"accuracy of the majority<br>N' = {size}: {four_decimals(value)}"
            for size, value in zip(x, result.accuracy, strict=True)
        ],
    })
    for method, said in result.mean_confidence.items():
        own = method_style(method, theme)
        traces.append(common | {
            "mode": "lines+markers", "y": [rounded(value) for value in said], "cliponaxis": False,
            "line": own.line(), "marker": own.marker(theme, 8), "meta": {"said": method},
            "hovertext": [
                f"<b>{METHOD_SYMBOLS[method]}</b><br>N' = {size}<br>mean confidence {four_decimals(value)}"
                for size, value in zip(x, said, strict=True)
            ],
        })
    return traces


def mean_confidence_labels(result: SampleSizeSweep) -> list[LabelledLevel]:
    """What is in the lower panel besides the methods, named where it ends."""
    last = result.sizes[-1]
    labels = [LabelledLevel((last - 1) / last, "F_CN's ceiling, 1−1/N'", has_line=False)]
    if (right := result.accuracy[-1]) is not None:
        labels.append(LabelledLevel(right, "accuracy", has_line=False))
    wanted = labels if "cluster_number" in result.mean_confidence else labels[1:]
    return sorted(wanted, key=lambda level: level.value)


def four_decimals(value: float | None) -> str:
    """Four decimals, or why there are none."""
    return format_number(value, missing=NOT_DEFINED)


def rounded(value: float | None) -> float | None:
    """Without digits that no pixel shows."""
    return None if value is None else round(value, 7)
