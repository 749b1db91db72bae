"""A judge against people: labels of both, the true pass rate, how many labels it takes, and groups."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from calib_core.figures.layout import (
    BOTTOM_MARGIN,
    LABEL_SIZE,
    SMALL_SIZE,
    TEXT_SIZE,
    Figure,
    annotation,
    axis,
    base_layout,
    empty_trace,
    flowing_legend,
    flowing_legend_growth,
    flowing_legend_margin,
    halo,
    legend_names,
    logarithmic_axis,
    rounded_values,
    share_ticks,
    silent_trace,
    vertical_line,
)
from calib_core.figures.palette import SeriesStyle, Theme, blend
from calib_core.figures.text import escape_for_plotly, truncate_middle, wrap_lines
from calib_core.inference.group_contrasts import GroupContrast
from calib_core.inference.pass_rate import PASS_RATE_TITLES, PassRate, PassRateMethod
from calib_core.results.judge_agreement import JudgeAgreement
from calib_core.results.judge_fairness import FAIRNESS_TITLES, FairnessId, JudgeFairness
from calib_core.results.judge_pass_rate import PassRates
from calib_core.wording import format_interval, format_percent, format_points, p_value_phrase, plural

_CELL_HEIGHT: Final = 105
"""Pixels of a row of few labels …"""
_MIN_CELL_HEIGHT: Final = 38
_MAX_TABLE_HEIGHT: Final = 420
"""… and of the rows of many together."""
_MAX_LABEL: Final = 16
_LEAST_SHADE: Final = 0.14
"""Opacity of a cell with few rows; one with all of its column has 0.34 more, which text can be read on."""
_RATE_ROW: Final = 56
_CURVE_HEIGHT: Final = 4 * _RATE_ROW
"""Pixels: both figures of the pass rate are equally high."""
_GROUP_ROW: Final = 34
_MAX_GROUP: Final = 26
MAX_GROUPS: Final = 8
"""Comparisons of groups that are drawn, those with the smallest p."""


def cell_key(judge: int, human: int) -> str:
    """The key of a cell: the places of both labels among the names.

    Examples
    --------
    >>> cell_key(0, 1)
    '0-1'
    """
    return f"{judge}-{human}"


def confusion_figure(result: JudgeAgreement, theme: Theme, *, chosen: str | None = None) -> Figure:
    """Labelled rows by the label of the judge and of people, a cell each, which can be clicked.

    Parameters
    ----------
    result : JudgeAgreement
    theme : Theme
    chosen : str, optional
        Key of the cell that is outlined.
    """
    table, names = result.table, result.labels.names
    n = len(names)
    sums = table.sum(axis=0)
    cells = [(judge, human) for judge in range(n) for human in range(n)]
    shades = [
        _LEAST_SHADE + 0.34 * table[cell] / max(1, sums[cell[1]]) if table[cell] else 0.04 for cell in cells
    ]
    shares = {cell: _share_of(int(table[cell]), int(sums[cell[1]])) for cell in cells}
    hues = (theme.overconfident, theme.bar)
    colours = [
        blend(hues[judge == human], theme.background, shade)
        for (judge, human), shade in zip(cells, shades, strict=True)
    ]
    keys = [cell_key(*cell) for cell in cells]
    outline = [theme.highlight_outline if key == chosen else theme.background for key in keys]
    shown = [truncate_middle(name, _MAX_LABEL) for name in names]
    trace = {
        "type": "bar",
        "x": [human for _, human in cells],
        "base": [judge - 0.48 for judge, _ in cells],
        "y": [0.96] * len(cells),
        "width": 0.97,
        "marker": {
            "color": colours,
            "line": {"color": outline, "width": [4 if key == chosen else 0 for key in keys]},
        },
        "customdata": [[key] for key in keys],
        "hoverinfo": "text",
        "hovertext": [
            f"<b>{plural(int(table[judge, human]), 'row')}</b><br>judge: {escape_for_plotly(names[judge])}, "
            f"people: {escape_for_plotly(names[human])}<br>{shares[judge, human]} of the rows with this "
            "label from people"
            for judge, human in cells
        ],
        "unselected": {"marker": {"opacity": 1}},
        "showlegend": False,
    }
    height = max(_MIN_CELL_HEIGHT * n, min(_CELL_HEIGHT * n, _MAX_TABLE_HEIGHT))
    layout = base_layout(theme, height=height + 40 + 24, top=40)
    layout["margin"] |= {"l": 8, "b": 24}
    layout["hovermode"] = "closest"
    ticks: dict[str, Any] = {
        "tickvals": list(range(n)),
        "ticks": "",
        "showgrid": False,
        "showline": False,
        "automargin": True,
    }
    tick_font = {"size": TEXT_SIZE, "color": theme.text}
    layout["xaxis"] = axis(
        theme,
        "People",
        range=[-0.5, n - 0.5],
        ticktext=[escape_for_plotly(name) for name in shown],
        side="top",
        tickfont=tick_font,
        standoff=4,
        **ticks,
    )
    layout["yaxis"] = axis(
        theme,
        "Judge",
        range=[n - 0.5, -0.5],
        ticktext=[escape_for_plotly(name) for name in shown],
        tickfont=tick_font,
        **ticks,
    )
    size = 22 if n == 2 else TEXT_SIZE + 3 if n < 5 else LABEL_SIZE
    small = f"<br><span style='font-size:{SMALL_SIZE}px'>{{}}</span>" if n < 4 else ""
    layout["annotations"] = [
        annotation(
            theme,
            f"{table[cell]:,}{small.format(shares[cell])}",
            x=cell[1],
            y=cell[0],
            font={"size": size, "color": theme.text},
        )
        for cell in cells
    ]
    return {"data": [trace], "layout": layout}


def _share_of(count: int, of: int) -> str:
    return format_percent(count / of) if of else "–"


def describe_confusion(result: JudgeAgreement) -> str:
    """Describe the figure for screen readers, as plain text."""
    table, names = result.table, result.labels.names
    if len(names) > 3:
        return f"Labelled rows by label of the judge and of people, {len(names)} labels. {result.headline}"
    cells = (
        f"judge {names[judge]}, people {names[human]}: {table[judge, human]:,}"
        for judge in range(len(names))
        for human in range(len(names))
    )
    return f"Labelled rows by label. {'; '.join(cells)}. {result.headline}"


def pass_rate_figure(result: PassRates, theme: Theme) -> Figure:
    """The pass rate by each method with its 95 % interval; the shortest that holds is drawn boldly."""
    chosen = result.chosen
    data = [_rate_trace(rate, at, theme, is_chosen=rate == chosen) for at, rate in enumerate(result.rates)]
    ends = [end for rate in result.rates for end in (rate.value, *(rate.interval or ())) if end is not None]
    low, high = min(ends), max(ends)
    room = max(0.04, 0.12 * (high - low))
    layout = base_layout(theme, height=_CURVE_HEIGHT + BOTTOM_MARGIN + 24, top=24)
    layout["margin"] |= {"l": 8}
    names = [
        f"<b>{PASS_RATE_TITLES[rate.method]}</b>" if rate == chosen else PASS_RATE_TITLES[rate.method]
        for rate in result.rates
    ]
    layout |= {
        "hovermode": "closest",
        "showlegend": False,
        "xaxis": axis(
            theme,
            "Answers that pass",
            standoff=6,
            range=[max(-0.01, low - room), min(1.01, high + room)],
            tickformat=".0%",
            nticks=6,
        ),
        "yaxis": axis(
            theme,
            range=[len(names) - 0.45, -0.55],
            tickvals=list(range(len(names))),
            ticktext=names,
            ticks="",
            automargin=True,
            tickfont={"size": SMALL_SIZE, "color": theme.text},
        ),
        "annotations": [
            annotation(
                theme,
                _rate_label(rate),
                xref="x" if rate.value is not None else "x domain",
                x=rate.value if rate.value is not None else 0.5,
                y=at,
                yshift=16,
                font={"size": LABEL_SIZE, "color": theme.text, "shadow": halo(theme)},
            )
            for at, rate in enumerate(result.rates)
        ],
    }
    return {"data": data, "layout": layout}


def _rate_trace(rate: PassRate, at: int, theme: Theme, *, is_chosen: bool) -> dict[str, Any]:
    if rate.value is None:
        return empty_trace()
    colour = theme.overconfident if rate.method == "judged" else theme.bar
    low, high = rate.interval or (rate.value, rate.value)
    return {
        "type": "scatter",
        "mode": "markers",
        "cliponaxis": False,
        "x": [round(rate.value, 6)],
        "y": [at],
        "marker": {
            "size": 15 if is_chosen else 11,
            "symbol": "diamond-open" if rate.method == "judged" else "circle",
            "color": colour,
            "line": {"color": colour, "width": 2},
        },
        "error_x": {
            "type": "data",
            "symmetric": False,
            "color": colour,
            "thickness": 5 if is_chosen else 2,
            "width": 5,
            "array": [round(max(0.0, high - rate.value), 6)],
            "arrayminus": [round(max(0.0, rate.value - low), 6)],
        },
        "hoverinfo": "text",
        "hovertext": [
            f"<b>{PASS_RATE_TITLES[rate.method]}</b><br>{_rate_label(rate)}<br>{escape_for_plotly(rate.reason)}"
        ],
    }


def _rate_label(rate: PassRate) -> str:
    if rate.value is None:
        return wrap_lines(f"not computed: {rate.reason}", 46)
    interval = "" if rate.interval is None else f" ({format_interval(*rate.interval, '.1f', 100)})"
    return f"{format_percent(rate.value)}{interval}"


def describe_pass_rate(result: PassRates) -> str:
    """Describe the figure for screen readers, as plain text."""
    rates = (f"{PASS_RATE_TITLES[rate.method]}: {_rate_label(rate)}" for rate in result.rates)
    return f"Answers that pass. {'; '.join(rates).replace('<br>', ' ')}. {result.shortest_text}"


def labels_needed_figure(result: PassRates, theme: Theme) -> Figure:
    """Half the length of the interval over the number of labels, with the labels at hand on it."""
    curve, colours = result.curve(), theme.series_colours
    styles: dict[PassRateMethod, tuple[str, SeriesStyle]] = {
        "ppi": (PASS_RATE_TITLES["ppi"], SeriesStyle(colours[0], "solid", "circle")),
        "labelled": (PASS_RATE_TITLES["labelled"], SeriesStyle(colours[4], "7px,4px", "square")),
    }
    counts = curve["labels"].to_list()
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "x": counts,
            "y": rounded_values(curve[id_]),
            "line": style.line(),
            "hoverinfo": "text",
            "hovertext": [
                f"<b>{name}</b><br>{plural(count, 'label')}: ± {100 * width:.1f} points"
                for count, width in zip(counts, curve[id_].to_list(), strict=True)
            ],
        }
        for id_, (name, style) in styles.items()
    ]
    at_hand = _at_hand(result)
    data += [
        silent_trace(
            "markers",
            [result.labels.n_labelled],
            [round(at_hand[id_], 5)],
            marker=style.marker(theme, 13),
            cliponaxis=False,
        )
        for id_, (_, style) in styles.items()
    ]
    top = flowing_legend_margin(legend_names(data))
    layout = base_layout(theme, height=_CURVE_HEIGHT + BOTTOM_MARGIN + 24, top=top)
    layout["legend"] |= flowing_legend(legend_names(data))
    highest = min(0.5, 1.1 * max(float(curve["labelled"][0]), *at_hand.values()))
    layout |= {
        "hovermode": "closest",
        "xaxis": logarithmic_axis(
            theme,
            "Labels of people",
            counts[0],
            counts[-1],
            standoff=6,
            **_count_ticks(counts[0], counts[-1]),
        ),
        "yaxis": axis(theme, "Known to within ±", range=[0, highest], **share_ticks(highest)),
        "annotations": [
            annotation(
                theme,
                f"{result.labels.n_labelled:,} at hand",
                xref="x",
                yref="y domain",
                y=0.99,
                yanchor="top",
                x=math.log10(result.labels.n_labelled),
                xanchor="left",
                xshift=6,
                font={"size": LABEL_SIZE, "color": theme.muted_text, "shadow": halo(theme)},
            )
        ],
        "shapes": [
            vertical_line(result.labels.n_labelled, color=theme.muted_text, width=1.4, dash="2px,3px")
        ],
    }
    return {"data": data, "layout": layout}


def _count_ticks(low: int, high: int) -> dict[str, Any]:
    """Ticks at 1, 2 and 5 times the powers of ten; over more than two decades, at these powers alone."""
    steps = (1, 2, 5) if high < 100 * low else (1,)
    ticks = [step * 10**power for power in range(len(str(high))) for step in steps]
    shown = [tick for tick in ticks if low <= tick <= high]
    return {"tickvals": shown, "ticktext": [f"{tick:,}" for tick in shown], "dtick": None}


def _at_hand(result: PassRates) -> dict[PassRateMethod, float]:
    """Half the length of the interval with the labels at hand, by method."""
    n_labels = np.array([result.labels.n_labelled], np.float64)
    return {method: float(width[0]) for method, width in result.half_widths(n_labels).items()}


def describe_labels_needed(result: PassRates) -> str:
    """Describe the figure for screen readers, as plain text."""
    at_hand = _at_hand(result)
    widths = " and ".join(
        f"± {100 * width:.1f} points by {PASS_RATE_TITLES[id_]}" for id_, width in at_hand.items()
    )
    with_these = f"With {result.labels.n_labelled:,}: {widths}."
    return f"How near the pass rate is known, over the number of labels. {with_these}"


def fairness_figure(result: JudgeFairness, theme: Theme) -> Figure:
    """How much more often the judge agrees, or passes at equal labels of people, in each group."""
    shown = sorted(
        ((id_, one) for id_, all_ in result.contrasts.items() for one in all_), key=lambda each: each[1].p
    )[:MAX_GROUPS]
    rows = {(one.column, one.group): one for _, one in reversed(shown)}
    rows = dict(reversed(rows.items()))
    places = {key: at for at, key in enumerate(rows)}
    colours = theme.series_colours
    styles = {
        "agrees": SeriesStyle(colours[0], "", "circle"),
        "favours": SeriesStyle(colours[1], "", "diamond"),
    }
    data: list[dict[str, Any]] = []
    shifts: dict[FairnessId, float] = {"agrees": -0.14, "favours": 0.14}
    for id_, shift in shifts.items():
        ones = [one for each, one in shown if each == id_]
        if not ones:
            continue
        style = styles[id_]
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "cliponaxis": False,
                "name": FAIRNESS_TITLES[id_],
                "x": [round(one.difference, 6) for one in ones],
                "y": [places[one.column, one.group] + shift for one in ones],
                "marker": {
                    "size": 11,
                    "color": style.colour,
                    "line": {"color": style.colour, "width": 1.6},
                    "symbol": [style.symbol if one.is_clear else f"{style.symbol}-open" for one in ones],
                },
                "error_x": {
                    "type": "data",
                    "symmetric": False,
                    "color": style.colour,
                    "thickness": 1.6,
                    "width": 3,
                    "array": [round(one.high - one.difference, 6) for one in ones],
                    "arrayminus": [round(one.difference - one.low, 6) for one in ones],
                },
                "hoverinfo": "text",
                "hovertext": [
                    f"<b>{_group_name(one, 80)}</b>"
                    f"<br>{FAIRNESS_TITLES[id_]}: {format_points(one.difference)} points"
                    f"<br>n = {one.n:,}, {p_value_phrase(one.p_holm, None)}, corrected"
                    for one in ones
                ],
            }
        )
    top = flowing_legend_margin(legend_names(data)) + 4
    panel_height = _GROUP_ROW * max(2, len(rows)) + flowing_legend_growth(legend_names(data))
    layout = base_layout(theme, height=top + BOTTOM_MARGIN + panel_height, top=top)
    layout["legend"] |= flowing_legend(legend_names(data))
    layout["margin"] |= {"l": 8}
    layout |= {
        "hovermode": "closest",
        "xaxis": axis(
            theme,
            "More often than elsewhere",
            standoff=6,
            tickformat="+.0%",
            zeroline=True,
            zerolinecolor=theme.axis_line,
            nticks=6,
        ),
        "yaxis": axis(
            theme,
            range=[len(rows) - 0.4, -0.6],
            tickvals=list(range(len(rows))),
            ticks="",
            automargin=True,
            ticktext=[_group_name(one, _MAX_GROUP) for one in rows.values()],
        ),
    }
    return {"data": data or [empty_trace()], "layout": layout}


def _group_name(one: GroupContrast, max_length: int) -> str:
    return escape_for_plotly(truncate_middle(f"{one.column}: {one.group}", max_length))


def describe_fairness(result: JudgeFairness) -> str:
    """Describe the figure for screen readers, as plain text."""
    return f"How much more often the judge agrees or passes, by group. {result.groups_headline}"
