"""How is the confidence in one answer drawn?  One bar a thing that may be the answer, the chosen one full."""

from __future__ import annotations

from typing import Any, Final

from calib_core.analysis.tour_step import SingleAnswer, AnswerOption
from calib_core.figures.layout import TEXT_SIZE, Figure, axis, annotation, base_layout
from calib_core.figures.text import escape_for_plotly
from calib_core.figures.theme import Theme, blend
from calib_core.problems import shorten
from calib_core.wording import format_percent

MAX_OPTIONS: Final = 8
"""So many options have a bar; the less probable ones share one."""

_OPTION_HEIGHT: Final = 62
_MAX_OPTION_NAME: Final = 44
"""Pixels of one bar with its name above it, and letters of that name."""


def single_answer_figure(result: SingleAnswer, theme: Theme) -> Figure:
    """Each option's probability, in the order of the file; ✓ and ✗ say which is right where that is known."""
    options = _shown_options(result.options)
    layout = base_layout(theme, height=64 + _OPTION_HEIGHT * len(options), top=14)
    layout["margin"] |= {"l": 14}
    layout |= {
        "hovermode": "closest", "bargap": 0.5,
        "xaxis": axis(
            theme, "Confidence", standoff=6, range=[0, 1.14], tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1],
            tickformat=".0%",
        ),
        "yaxis": axis(
            theme, range=[len(options) - 0.6, -0.6], showticklabels=False, ticks="", showgrid=False
        ),
        "annotations": [
            annotation(
                theme, _option_label(option), x=0, xanchor="left", y=at - 0.38, yanchor="middle", align="left",
                font={"size": TEXT_SIZE, "color": theme.text},
            )
            for at, option in enumerate(options)
        ],
    }
    return {"data": [_option_bars(options, theme)], "layout": layout}


def _shown_options(options: tuple[AnswerOption, ...]) -> list[AnswerOption]:
    """The most probable ones in the order of the file, and the rest as one."""
    if len(options) <= MAX_OPTIONS:
        return list(options)
    order = sorted(range(len(options)), key=lambda at: (not options[at].chosen, -options[at].confidence))
    kept = sorted(order[: MAX_OPTIONS - 1])
    rest = [options[at] for at in order[MAX_OPTIONS - 1 :]]
    right = any(option.right for option in rest)
    mass = sum(option.confidence for option in rest)
    return [*(options[at] for at in kept), AnswerOption(f"{len(rest)} others", mass, chosen=False, right=right)]


def _option_label(option: AnswerOption) -> str:
    mark = {True: " ✓ right", False: " ✗ wrong" if option.chosen else "", None: ""}[option.right]
    name = f"{escape_for_plotly(shorten(option.text, _MAX_OPTION_NAME))}{mark}"
    return f"<b>{name}</b>" if option.chosen else name


def _option_bars(options: list[AnswerOption], theme: Theme) -> dict[str, Any]:
    quiet = blend(theme.count_bar, theme.background, 0.75)
    return {
        "type": "bar", "orientation": "h", "x": [round(option.confidence, 5) for option in options],
        "y": [at + 0.08 for at in range(len(options))], "width": 0.42, "showlegend": False,
        "text": [format_percent(option.confidence) for option in options], "textposition": "outside",
        "textfont": {"size": TEXT_SIZE, "color": theme.text}, "constraintext": "none", "cliponaxis": False,
        "hoverinfo": "text", "unselected": {"marker": {"opacity": 1}},
        "hovertext": [
            f"<b>{escape_for_plotly(shorten(option.text, 80))}</b><br>{format_percent(option.confidence)}" for option in options
        ],
        "marker": {"color": [theme.bar if option.chosen else quiet for option in options]},
    }


def describe_single_answer(result: SingleAnswer) -> str:
    """The bars in words, for who cannot see them: text, not HTML."""
    told = "; ".join(
        f"{shorten(option.text, _MAX_OPTION_NAME)}: {format_percent(option.confidence)}" for option in _shown_options(result.options)
    )
    judged = "right" if result.right else "wrong"
    return f"One answer, {judged}, confidence {format_percent(result.confidence)}. {told}."
