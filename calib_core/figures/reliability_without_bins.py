"""The reliability diagrams without bins, isotonic and smooth, and their descriptions for screen readers."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from calib_core.figures.layout import (
    Figure,
    axis,
    base_layout,
    calibration_line,
    legend_margin,
    legend_names,
    probability_axis,
    rounded_values,
    silent_trace,
    unit_square_outline,
)
from calib_core.figures.marks import BAND_OPACITY, band_legend_entry, band_trace, legend_entry
from calib_core.figures.palette import Theme, with_opacity
from calib_core.methods import METHODS
from calib_core.results.reliability_without_bins import CorpReliability, SmoothReliability
from calib_core.terms import Terms
from calib_core.wording import format_number, plural

_PLOT_HEIGHT: Final = 450
"""Height of both panels together, in pixels."""

_SQUARE_DOMAIN: Final = [0.275, 1]
_LOWER_DOMAIN: Final = [0, 0.22]
"""The square and the panel below it, as fractions of the plot's height."""

_MAX_POINT_MARKS: Final = 60
"""Up to this many points of the isotonic curve are marked."""


def corp_figure(result: CorpReliability, theme: Theme) -> Figure:
    """The isotonic curve over its consistency band, and the histogram of the confidences below.

    Parameters
    ----------
    result : CorpReliability
    theme : Theme
        Colours.

    Notes
    -----
    The curve has a point at both ends of each block of equal fitted accuracy; these receive hover.
    """
    ends = result.table.filter(_is_block_end())
    by_block = {row["block"]: row for row in result.blocks.iter_rows(named=True)}
    texts = [_block_text(by_block[block], result.terms) for block in ends["block"]]
    curve = {
        **_curve_trace(ends["confidence"], ends["recalibrated"], theme, "isotonic fit"),
        "mode": "lines+markers" if ends.height <= _MAX_POINT_MARKS else "lines",
        "marker": {"size": 6, "color": theme.bar, "line": {"color": theme.background, "width": 1}},
        "hoverinfo": "text",
        "hovertext": texts,
    }
    return _figure(
        theme,
        [
            *_band(result.table, theme),
            *_curve_band(result.table, theme),
            calibration_line(theme.text),
            curve,
            _count_bars(result, theme),
        ],
        "Count (rows)",
        result.terms,
    )


def smooth_figure(result: SmoothReliability, theme: Theme) -> Figure:
    """The smooth curve over the band of a calibrated model, and the density of the confidences below."""
    table, terms = result.table, result.terms
    texts = [
        f"{terms.confidence} {confidence:.3f}<br>{terms.accuracy} {format_number(accuracy, '.3f')}"
        for confidence, accuracy in table.select("confidence", "accuracy").iter_rows()
    ]
    curve = {
        **_curve_trace(table["confidence"], table["accuracy"], theme, f"smoothed {terms.accuracy}"),
        "mode": "lines",
        "hoverinfo": "text",
        "hovertext": texts,
    }
    density = silent_trace(
        "lines",
        rounded_values(table["confidence"]),
        rounded_values(table["density"]),
        yaxis="y2",
        line={"color": theme.count_bar, "width": 1.6},
        fill="tozeroy",
        fillcolor=with_opacity(theme.count_bar, 0.35),
    )
    return _figure(
        theme, [*_band(table, theme), calibration_line(theme.text), curve, density], "Density", terms
    )


def _is_block_end() -> pl.Expr:
    """Whether a cell is the first or the last of its block."""
    block = pl.col("block")
    return ((block != block.shift(1)) | (block != block.shift(-1))).fill_null(value=True)


def _block_text(block: dict[str, Any], terms: Terms) -> str:
    """The hover text of a block."""
    return (
        f"<b>{block['low']:.3f} to {block['high']:.3f}</b><br>{plural(block['count'], 'row')}"
        f"<br>{terms.confidence} {block['confidence']:.3f}<br>recalibrated {block['accuracy']:.3f}"
    )


def _curve_trace(x: pl.Series, y: pl.Series, theme: Theme, name: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": rounded_values(x),
        "y": rounded_values(y),
        "name": name,
        "line": {"color": theme.bar, "width": 2.6},
        "cliponaxis": False,
        "connectgaps": False,
    }


def _band(table: pl.DataFrame, theme: Theme) -> list[dict[str, Any]]:
    """The band of a calibrated model, one area for each stretch where it is known, and its legend entry."""
    known = table.with_columns(stretch=pl.col("calibrated_low").is_null().cum_sum()).drop_nulls(
        ["calibrated_low", "calibrated_high"]
    )
    areas = [
        band_trace(
            part["confidence"].to_list(),
            part["calibrated_low"].to_list(),
            part["calibrated_high"].to_list(),
            theme.muted_text,
        )
        for part in known.partition_by("stretch", maintain_order=True)
    ]
    return [*areas, band_legend_entry(theme)] if areas else []


def _curve_band(table: pl.DataFrame, theme: Theme) -> list[dict[str, Any]]:
    """The band of the true curve, and its legend entry; nothing where it is not known."""
    known = table.drop_nulls(["curve_low", "curve_high"])
    if known.is_empty():
        return []
    confidence, low, high = (known[name].to_list() for name in ("confidence", "curve_low", "curve_high"))
    line = {"color": theme.bar, "width": 9}
    return [
        band_trace(confidence, low, high, theme.bar, name="true curve"),
        legend_entry("true curve: 95 %, everywhere at once", "lines", line=line, opacity=BAND_OPACITY),
    ]


def _count_bars(result: CorpReliability, theme: Theme) -> dict[str, Any]:
    """The histogram of the confidences."""
    bars = result.histogram
    return {
        "type": "bar",
        "yaxis": "y2",
        "x": rounded_values((bars["low"] + bars["high"]) / 2),
        "y": bars["count"].to_list(),
        "width": rounded_values(bars["high"] - bars["low"]),
        "marker": {"color": theme.count_bar, "line": {"color": theme.background, "width": 0.5}},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _figure(theme: Theme, data: list[dict[str, Any]], lower_title: str, terms: Terms) -> Figure:
    top, one_per_line = legend_margin(legend_names(data))
    layout = base_layout(theme, height=_PLOT_HEIGHT + top + 48, top=top, one_per_line=one_per_line)
    return {
        "data": data,
        "layout": layout
        | {
            "hovermode": "closest",
            "xaxis": probability_axis(
                theme,
                terms.confidence_title,
                standoff=6,
                anchor="y2",
                constrain="domain",
                constraintoward="left",
            ),
            "yaxis": probability_axis(
                theme,
                terms.share_axis,
                domain=_SQUARE_DOMAIN,
                scaleanchor="x",
                constrain="domain",
                constraintoward="bottom",
            ),
            "yaxis2": axis(theme, lower_title, domain=_LOWER_DOMAIN, rangemode="tozero", nticks=4),
            "shapes": [unit_square_outline(theme)],
        },
    }


def describe_corp(result: CorpReliability) -> str:
    """Describe the isotonic diagram for screen readers, as plain text."""
    widest = result.blocks.sort(pl.col("gap").abs(), descending=True).row(0, named=True)
    return (
        f"Isotonic reliability diagram of {METHODS[result.method].title}, {result.run}: miscalibration "
        f"{format_number(result.miscalibration.value)}, discrimination "
        f"{format_number(result.discrimination.value)}, uncertainty "
        f"{format_number(result.uncertainty.value)}, {plural(int(result.table['count'].sum()), 'row')} in "
        f"{plural(result.blocks.height, 'block')} of equal fitted {result.terms.accuracy}; widest "
        f"gap: {result.terms.confidence} "
        f"{widest['confidence']:.3f}, recalibrated {widest['accuracy']:.3f}."
    )


def describe_smooth(result: SmoothReliability) -> str:
    """Describe the smooth diagram for screen readers, as plain text."""
    known, terms = result.table.drop_nulls("accuracy"), result.terms
    widest = known.sort((pl.col("accuracy") - pl.col("confidence")).abs(), descending=True).row(0, named=True)
    return (
        f"Smooth reliability diagram of {METHODS[result.method].title}, {result.run}: smooth ECE "
        f"{format_number(result.smooth_ece.value)}, {plural(result.smooth_ece.n_used, 'row')}; widest gap at "
        f"{terms.confidence} {widest['confidence']:.3f}, where the smoothed {terms.accuracy} is "
        f"{widest['accuracy']:.3f}."
    )
