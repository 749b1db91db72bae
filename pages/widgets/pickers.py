"""Sidebar controls of a run, a method and its options, and the selection of a point by a click."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, TypeVar, cast
from zlib import crc32

import streamlit as st

from calib_core.inference.verdict import DEFAULT_TOLERANCE
from calib_core.methods import METHODS, in_order
from calib_core.methods.answers.unparseable import UnparseableRule
from calib_core.methods.method import MethodOptions
from calib_core.pairs import Labels
from calib_core.results.defaults import default_run
from calib_core.results.evidence import Evidence
from calib_core.results.run_names import full_name, shorten_in_middle
from calib_core.runs import AnswerRun, TokenRun
from calib_core.wording import plural
from pages.state.markdown import escape_markdown
from pages.state.runs import LoadedRun
from pages.state.url import UrlState
from pages.widgets.number_inputs import decimal_input

_T = TypeVar("_T")

ROW_CLICKS: Final[tuple[Literal["single-row", "single-cell"], ...]] = ("single-row", "single-cell")
"""Selection mode of a table in which a click anywhere in a row selects the row."""

MAX_VISIBLE_TITLE: Final = 28
"""Letters of a run's title that fit into its select box."""

MAX_VISIBLE_FILE_NAME: Final = 60
"""Letters of the run's file that take two lines at most."""

LABEL_TITLES: Final[Mapping[str, str]] = {"top": "Top label", "all": "All labels"}
RENORMALISE_TITLES: Final[Mapping[str, str]] = {"yes": "Sum to 1", "no": "As it is"}
HELD_OUT_TITLES: Final[Mapping[str, str]] = {"no": "All samples", "yes": "Held out"}
UNPARSEABLE_TITLES: Final[Mapping[str, str]] = {
    "own": "each a separate cluster",
    "one": "one cluster together",
    "drop": "left out of N",
}


def select_box(
    url_state: UrlState,
    key: str,
    label: str,
    options: Sequence[str],
    default: str,
    *,
    help_: str | Callable[[str], str],
    title_of: Callable[[str], str] = str,
    disabled: bool = False,
) -> str:
    """Draw a select box whose value the address keeps, and return the value.

    Parameters
    ----------
    url_state : UrlState
    key, label : str
    options : Sequence of str
        May be empty; the box is then empty, too.
    default : str
    help_ : str or Callable
        Or what returns it for the chosen option.
    title_of : Callable
        Returns what the box shows of an option.
    disabled : bool
    """
    chosen = url_state.pick(key, options, default)
    index = options.index(chosen) if options else None
    help_ = help_ if isinstance(help_, str) else help_(chosen)
    st.selectbox(label, options, index, key=key, format_func=title_of, help=help_, disabled=disabled)
    return chosen


def pick_second_run(
    url_state: UrlState, label: str, others: Mapping[str, LoadedRun], none: str, help_: str
) -> LoadedRun | None:
    """Draw the control of a run that is compared with the page's; None where none is chosen."""
    titles = shorten_in_middle([other.title for other in others.values()], MAX_VISIBLE_TITLE)
    labels = dict(zip(others, titles, strict=True))
    second = select_box(
        url_state,
        "second",
        label,
        ["", *others],
        "",
        title_of=lambda id_: labels.get(id_, none),
        help_=help_,
        disabled=not others,
    )
    return others.get(second)


def pick_run(url_state: UrlState, runs: Mapping[str, LoadedRun], default: str) -> LoadedRun:
    """Draw the control of the run, and below it the full title if the box cuts it off, and the run's size.

    Pages of several runs begin with the data set of the run that was chosen last.
    """
    titles = [f"{'★ ' if run.is_pinned else ''}{run.title}" for run in runs.values()]
    labels = dict(zip(runs, shorten_in_middle(titles, MAX_VISIBLE_TITLE + 2), strict=True))
    id_ = select_box(
        url_state,
        "run",
        "Run",
        list(runs),
        default,
        title_of=lambda id_: labels[id_],
        help_="One model on one data set. Type to search.",
    )
    if "run" in url_state.touched:
        url_state.forget("dataset", "datasets")
    run = runs[id_]
    is_named_in_full = len(run.title) <= MAX_VISIBLE_TITLE and run.title == run.real_title
    full_title = "" if is_named_in_full else f"{full_name(run.title)}: "
    [file_name] = shorten_in_middle([run.file.name], MAX_VISIBLE_FILE_NAME)
    st.caption(escape_markdown(f"{full_title}{run_size_text(run)}, {file_name}"))
    return run


def usual_run(
    runs: Mapping[str, LoadedRun], n_used: Mapping[str, int], preferred: Collection[str] = ()
) -> str:
    """Return the id of the run that a page begins with: pinned, else one's own, else preferred."""
    pinned = {id_: n for id_, n in n_used.items() if runs[id_].is_pinned}
    own = {id_: n for id_, n in n_used.items() if runs[id_].file.is_uploaded}
    own = {id_: n for id_, n in own.items() if id_ in preferred} or own
    return default_run(pinned or own or {id_: n for id_, n in n_used.items() if id_ in preferred} or n_used)


def run_size_text(run: LoadedRun) -> str:
    """Return the size of a run, as in "1,319 rows" or "16,384 positions"."""
    return plural(run.report.run.n_total, "position" if isinstance(run.report.run, TokenRun) else "row")


def pick_method(url_state: UrlState, usable: Sequence[str], default: str) -> str:
    """Draw the control of the method, and return its id."""
    return select_box(
        url_state,
        "method",
        "Method",
        usable,
        default,
        title_of=lambda id_: METHODS[id_].heading,
        help_=lambda id_: escape_markdown(METHODS[id_].help),
    )


def pick_method_options(url_state: UrlState, evidence: Evidence) -> MethodOptions:
    """Draw the controls of the method's options, and return the options."""
    options = MethodOptions()
    if evidence.has_distribution:
        labels = pick_segment(
            url_state,
            "labels",
            LABEL_TITLES,
            label="Labels",
            help_="Top label: one pair per question. All labels: one pair per choice (Kadavath et al.).",
        )
        options = replace(options, labels=cast("Labels", labels))
    default = _default_renormalisation(evidence)
    if default is not None:
        selected = pick_segment(
            url_state,
            "renormalise",
            RENORMALISE_TITLES,
            label="Probabilities",
            help_="Divide the probabilities of the alternatives by their sum.",
            default="yes" if default else "no",
        )
        if (selected == "yes") != default:
            options = replace(options, renormalise=selected == "yes")
    if evidence.method.uses_samples:
        options = replace(options, unparseable=pick_unparseable_rule(url_state))
    if evidence.method.holds_out:
        selected = pick_segment(
            url_state,
            "held_out",
            HELD_OUT_TITLES,
            label="Share counted on",
            help_="Held out: half of the samples choose the answer, and its share is counted on the others.",
        )
        options = replace(options, held_out=selected == "yes")
    return options


def pick_tolerance(url_state: UrlState) -> float | None:
    """Draw the control of the verdict's tolerance; None where it is the default."""
    tolerance = decimal_input(
        url_state,
        "tolerance",
        "Tolerance of the verdict",
        (DEFAULT_TOLERANCE, 0.0, 1.0),
        "Miscalibration that is clear is called tolerable where what is stated is at most this far from what "
        "comes true, on average.",
        step=0.005,
    )
    return None if tolerance == DEFAULT_TOLERANCE else tolerance


def pick_unparseable_rule(url_state: UrlState) -> UnparseableRule:
    """Draw the control of how samples without a readable answer count."""
    rule = select_box(
        url_state,
        "unparseable",
        "Samples that do not parse",
        list(UNPARSEABLE_TITLES),
        "own",
        title_of=lambda id_: UNPARSEABLE_TITLES[id_],
        help_="How to count samples without a readable answer. N is the number of samples.",
    )
    return cast("UnparseableRule", rule)


def _default_renormalisation(evidence: Evidence) -> bool | None:
    """Return whether the method renormalises by default; None where there is nothing to switch."""
    column = evidence.method.renormalisation_column
    has_column = column is None or (isinstance(evidence.run, AnswerRun) and evidence.run.has_columns(column))
    return evidence.method.renormalises_by_default if has_column else None


def methods_and_default(runs: Sequence[LoadedRun]) -> tuple[list[str], str]:
    """Return the methods that any of the runs gives, and the one that most of them give."""
    given = in_order(id_ for run in runs for id_ in run.report.survey.usable)
    return given, max(given, key=lambda id_: sum(id_ in run.report.survey.usable for run in runs), default="")


def pick_segment(
    url_state: UrlState, key: str, titles: Mapping[str, str], *, label: str, help_: str, default: str = ""
) -> str:
    """Draw a choice of few options side by side and return the chosen one; a single option is only named.

    Parameters
    ----------
    url_state : UrlState
    key : str
    titles : Mapping of str to str
        Option → its title.
    label, help_ : str
    default : str
        The first option where empty.
    """
    picked = url_state.pick(key, list(titles), default or next(iter(titles)))
    if len(titles) == 1:
        st.caption(f"{label}: {titles[picked]}", help=help_)
    else:
        st.segmented_control(
            label,
            list(titles),
            default=picked,
            key=key,
            required=True,
            format_func=lambda id_: titles[id_],
            help=help_,
        )
    return picked


def rows_key(name: str, *rows: object) -> str:
    """Return the key of a table whose rows can be clicked: another one where any of its rows is another.

    A click is the position of a row. One on a table that has meanwhile been replaced thus comes to nothing,
    where it would otherwise select what is now in this place.
    """
    return f"{name}_{crc32(repr(rows).encode()):08x}"


def selected_point(allowed: Collection[str], url_key: str = "at") -> str | None:
    """Return the key of the selected point in the address; None where it is not among `allowed`."""
    key = st.query_params.get(url_key, "")
    return key if key in allowed else None


def select_point(clicked: Sequence[Any], url_key: str = "at") -> None:
    """Put what was clicked into the address, so that a link shows the same; nothing clears it.

    Parameters
    ----------
    clicked : Sequence
        The custom data of a point of a figure, which begins with its key; the key of a row, or nothing where
        a second click cleared it.
    url_key : str
    """
    if clicked:
        st.query_params[url_key] = str(clicked[0])
    else:
        st.query_params.pop(url_key, None)


def clicked_point_data(key: str) -> Sequence[Any]:
    """Return the custom data of the point that is selected in a figure; empty where none is."""
    points = st.session_state[key].selection.points
    return points[0].get("customdata") or () if points else ()


def selected_row_value(key: str, values: Sequence[_T], selected: _T | None = None) -> _T | None:
    """Return the value of the row that was clicked in a table; None where the click cleared the selection.

    Parameters
    ----------
    key : str
        Of a table with `ROW_CLICKS` as its selection mode.
    values : Sequence
        One per row.
    selected : optional
        The value selected before, whose row the table is drawn with as ticked: a click on any cell of that
        row, or on its box, clears it.
    """
    selection = st.session_state[key].selection
    if selected in values and not selection.rows:
        return None  # the box was cleared; the browser then names the first cell, which nobody clicked
    row = clicked_row(selection)
    value = None if row is None else values[row]
    return None if selection.cells and value == selected else value


def clicked_row_data(key: str, values: Sequence[_T], selected: _T | None = None) -> Sequence[_T]:
    """Return `selected_row_value` as a figure's click gives it: empty where the click cleared the row."""
    value = selected_row_value(key, values, selected)
    return () if value is None else (value,)


def clicked_row(selection: Any) -> int | None:  # noqa: ANN401 (Streamlit has no type for it)
    """Return the index of the row of which a cell or the box was clicked; None where none is selected."""
    if selection.cells:
        return selection.cells[0][0]
    return selection.rows[0] if selection.rows else None
