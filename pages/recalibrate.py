"""The page Recalibrate: would another scale of the confidences help?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from calib_core.errors import Unavailable
from calib_core.inference.recalibration import MAP_KINDS
from calib_core.results.evidence import Evidence
from calib_core.results.recalibration import (
    DEFAULT_FOLDS,
    DEFAULT_MAP,
    DEFAULT_SEED,
    MAX_FOLDS,
    SUMS_ONLY,
    Recalibration,
    parameters_text,
    recalibrate,
)
from calib_core.results.reliability import Reliability
from calib_core.results.view_caption import view_caption
from calib_core.runs import AnswerRun
from calib_core.views.recalibrate import recalibration_diagrams, recalibration_view
from pages.state.cache import cached_result
from pages.state.markdown import escape_markdown
from pages.state.runs import LoadedRun
from pages.state.url import UrlState
from pages.widgets.copyable_text import show_copyable_text
from pages.widgets.export import make_file_stem
from pages.widgets.figure import side_by_side
from pages.widgets.number_inputs import whole_number_input
from pages.widgets.pickers import pick_segment
from pages.widgets.run_choice import pick_run_and_method
from pages.widgets.shell import shell
from pages.widgets.summary import show_warnings
from pages.widgets.view import (
    show_how_computed,
    show_left_out,
    show_opening,
    show_view_figure,
    show_view_table,
)

MAX_FOLD_SEED: Final = 999_999
MAX_SHOWN_CODE: Final = 3_000
"""Characters of Python that are shown; a map with more is only downloaded."""


@dataclass(frozen=True, slots=True, eq=False)
class RecalibrateChoice:
    """What the page Recalibrate shows.

    Attributes
    ----------
    run : LoadedRun
    evidence : Evidence
        Of the run by the chosen method.
    by : str
        Key of `MAP_KINDS`.
    folds, seed : int
    """

    run: LoadedRun
    evidence: Evidence
    by: str
    folds: int
    seed: int

    @property
    def cache_key(self) -> tuple[object, ...]:
        """What distinguishes a result of this choice."""
        return (
            *self.run.source,
            self.evidence.method.id,
            self.evidence.options,
            self.by,
            self.folds,
            self.seed,
        )

    @property
    def file_stem(self) -> str:
        """Run, method and map, for the names of downloads."""
        return make_file_stem(self.run.id, self.evidence.method.id, self.by)


def choose_recalibration(url_state: UrlState, runs: Sequence[LoadedRun]) -> RecalibrateChoice:
    """Draw the sidebar controls: run, method, map, folds and seed.

    Raises
    ------
    Unavailable
        Where no run has a confidence per answer.
    """
    answer_runs = [run for run in runs if isinstance(run.report.run, AnswerRun)]
    if not answer_runs:
        raise Unavailable(SUMS_ONLY)
    run, evidence = pick_run_and_method(url_state, answer_runs)
    by = pick_segment(
        url_state,
        "map",
        {id_: kind.title for id_, kind in MAP_KINDS.items()},
        label="Map",
        help_="\n".join(f"- **{kind.title}**: {kind.meaning}" for kind in MAP_KINDS.values()),
        default=DEFAULT_MAP,
    )
    folds = whole_number_input(
        url_state,
        "folds",
        "Folds",
        (DEFAULT_FOLDS, 2, MAX_FOLDS),
        "Questions are split into this many folds. Each fold is scored with a map fitted to the others.",
    )
    seed = whole_number_input(
        url_state, "seed", "Seed", (DEFAULT_SEED, 0, MAX_FOLD_SEED), "The same seed gives the same folds."
    )
    return RecalibrateChoice(run, evidence, by, folds, seed)


def cached_recalibration(choice: RecalibrateChoice) -> tuple[Recalibration, tuple[Reliability, Reliability]]:
    """Return the recalibration with its diagrams before and after, computed once."""

    def compute() -> tuple[Recalibration, tuple[Reliability, Reliability]]:
        result = recalibrate(choice.evidence, choice.by, choice.folds, choice.seed)
        return result, recalibration_diagrams(result)

    return cached_result(("recalibration", *choice.cache_key), compute)


def show_map(choice: RecalibrateChoice, result: Recalibration) -> None:
    """Draw the map that is fitted to all rows: its numbers, its file and its Python."""
    st.subheader("The map", anchor=False)
    fitted = result.map
    st.caption(
        f"{MAP_KINDS[fitted.by].meaning} Fitted to {fitted.n_rows:,} rows. "
        f"{escape_markdown(MAP_KINDS[fitted.by].source)}."
    )
    show_copyable_text(parameters_text(fitted))
    python = fitted.to_python()
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            "Map (JSON)",
            data=fitted.to_json,
            file_name=f"{choice.file_stem}.json",
            mime="application/json",
            key="map_json",
            on_click="ignore",
            icon=":material/download:",
            help="For calib recalibrate FILE --apply MAP.json -o OUT.parquet.",
        )
        st.download_button(
            "Python",
            data=python,
            file_name=f"{choice.file_stem}.py",
            mime="text/x-python",
            key="map_python",
            on_click="ignore",
            icon=":material/download:",
            help="A function that needs only Python's math module.",
        )
    if len(python) <= MAX_SHOWN_CODE:
        with st.expander("The map as Python", type="compact"):
            show_copyable_text(python)


def page() -> None:
    """Draw the page."""
    choice = shell("recalibrate", choose_recalibration).choice
    show_warnings(*choice.evidence.warnings)
    try:
        result, diagrams = cached_recalibration(choice)
    except Unavailable as reason:
        st.info(escape_markdown(str(reason)))
        return
    view = recalibration_view(result, diagrams, title=choice.run.title)
    show_opening(view)
    for cell, figure in zip(side_by_side(), view.figures, strict=True):
        with cell:
            st.subheader(figure.title, anchor=False)
            show_view_figure(view, figure)
    st.caption(view.how_to_read)
    caption = view_caption(
        f"{MAP_KINDS[choice.by].title} recalibration", [choice.run.title], [choice.evidence], "ECE, 10 bins"
    )
    show_how_computed(view, caption)
    for table in view.tables:
        show_view_table(view, table)
    show_left_out(view)
    show_map(choice, result)


if __name__ == "__main__":
    page()
