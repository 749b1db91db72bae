"""What if it may refuse?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import polars as pl
import streamlit as st

from calib_core.errors import Unavailable
from calib_core.figures.abstention import abstention_figure, describe_abstention
from calib_core.methods import METHODS
from calib_core.report.sections.abstention import (
    ABSTENTION_CAPTION,
    AURC_NOTE,
    DEFAULT_TARGET_ACCURACY,
    NO_SINGLE_CONFIDENCES,
    abstention_recipes,
    abstention_rows,
    abstention_tiles,
    judged_answers_caveat,
)
from calib_core.results.abstention import AbstentionCurve, abstention_curve, abstention_headline, target_text
from calib_core.results.defaults import default_methods, default_run
from calib_core.results.evidence import Evidence
from calib_core.results.view_caption import ViewCaption, view_caption
from calib_core.runs import AnswerRun
from calib_core.wording import plural
from pages.state.cache import MAX_LARGE_RESULTS, cached_result
from pages.state.markdown import escape_markdown
from pages.state.runs import LoadedRun
from pages.state.url import UrlState
from pages.widgets.export import Export, make_file_stem, stem_parts
from pages.widgets.figure import show_figure
from pages.widgets.multiselect import multiselect
from pages.widgets.pickers import pick_run
from pages.widgets.run_selection import METHODS_HELP
from pages.widgets.shell import shell
from pages.widgets.summary import show_headline, show_recipe, show_remarks, show_tiles
from pages.widgets.table import drop_constant_columns, show_table

# MERGED abstaining: Which run may refuse, by which confidences, and how right shall it be?  The Abstention page's parts.

DefaultT = TypeVar("DefaultT", bound="float | None")


@dataclass(frozen=True, slots=True, eq=False)
class AbstentionChoice:
    """One run seen by several methods. wanted: an accuracy; threshold: a confidence, or None."""

    run: LoadedRun
    evidences: tuple[Evidence, ...]
    target_accuracy: float
    threshold: float | None


def choose_abstention(url_state: UrlState, runs: Sequence[LoadedRun]) -> AbstentionChoice:
    """Run, methods, the accuracy that is wanted and a threshold. Raises Unavailable where no run fits."""
    fit = {run.id: run for run in runs if isinstance(run.report.run, AnswerRun)}
    if not fit:
        raise Unavailable(NO_SINGLE_CONFIDENCES)
    used = {id_: max(one.n_used for one in run.report.survey.usable.values()) for id_, run in fit.items()}
    run = pick_run(url_state, fit, default_run(used))
    usable = run.report.survey.usable
    methods = multiselect(
        url_state,
        "methods",
        list(usable),
        label="Confidence methods",
        title_of=lambda id_: METHODS[id_].title,
        default=default_methods(usable),
        help_=METHODS_HELP,
    )
    wanted = _share_input(
        url_state,
        "wanted",
        DEFAULT_TARGET_ACCURACY,
        "Accuracy wanted",
        "0.9 or 90 %: the largest share answered with as much.",
    )
    threshold = _share_input(
        url_state,
        "threshold",
        None,
        "Confidence threshold t",
        "0.8 or 80 %: what answering when confidence ≥ t gives. Empty: none.",
    )
    chosen = [id_ for id_ in usable if id_ in methods]
    return AbstentionChoice(run, tuple(usable[id_] for id_ in chosen), wanted, threshold)


def _share_input(
    url_state: UrlState, key: str, default: DefaultT, label: str, help_: str
) -> float | DefaultT:
    """A share typed as 0.9 or 90 %; the default where nothing is typed, and, told, where it is no share."""
    usual = _share_text(default)
    typed = url_state.pick(key, None, usual).strip()
    parsed = _parse_share(typed)
    if parsed is None and typed:
        st.caption(f":material/error: Not a share from 0 to 1: {escape_markdown(typed[:40])}.")
    found = default if parsed is None else parsed
    url_state.set_widget(key, _share_text(found))
    url_state.remember(key, _share_text(found), usual)
    st.text_input(label, key=key, help=help_)
    return found


def _share_text(share: float | None) -> str:
    return "" if share is None else f"{share:.6g}"


def _parse_share(text: str) -> float | None:
    number = text.removesuffix("%").strip().replace(",", ".")
    try:
        share = float(number)
    except ValueError:
        return None
    share = share / 100 if text.endswith("%") else share
    return share if 0 <= share <= 1 else None


def cached_curves(choice: AbstentionChoice) -> list[AbstentionCurve]:
    """The curve of each method."""
    run = choice.run
    return [
        cached_result(
            ("abstention", run.file.name, run.file.stamp, run.id, evidence.method.id),
            lambda evidence=evidence: abstention_curve(evidence),
            max_results=4 * MAX_LARGE_RESULTS,
        )
        for evidence in choice.evidences
    ]


def abstention_view_caption(choice: AbstentionChoice) -> ViewCaption:
    """The curves, of which run and by which methods."""
    return view_caption("Accuracy of those answered", [choice.run.title], choice.evidences)


def curve_recipes(curves: Sequence[AbstentionCurve]) -> str:
    """How each line was made, one below the other."""
    return "\n".join(abstention_recipes(curves))


def show_abstention_tiles(choice: AbstentionChoice, curves: Sequence[AbstentionCurve]) -> None:
    """At the wanted accuracy, at the threshold, and answering all: of the line that answers most."""
    *first, rows = abstention_tiles(choice.evidences, curves, choice.target_accuracy)
    show_tiles(
        [*first, rows._replace(help=escape_markdown(rows.help))]
    )  # it has reasons in words of the file


def show_abstention_table(choice: AbstentionChoice, curves: Sequence[AbstentionCurve]) -> None:
    """One row a method: at the wanted accuracy, at the threshold, and over all thresholds."""
    rows = abstention_rows(curves, choice.target_accuracy, choice.threshold)
    shown = drop_constant_columns(pl.DataFrame(rows, infer_schema_length=None), "Rows used / total", "Judged")
    show_table(
        shown,
        key="answering",
        alt=f"{plural(shown.height, 'method')} at an accuracy of {target_text(choice.target_accuracy)}",
        export=replace(abstention_export(choice, curves), content="Methods table"),
    )
    st.caption(AURC_NOTE)


def abstention_export(choice: AbstentionChoice, curves: Sequence[AbstentionCurve]) -> Export:
    """Every step of every curve."""
    methods = stem_parts((curve.method for curve in curves), "methods")
    return Export(
        make_file_stem(choice.run.id, *methods, "abstention"),
        lambda: pl.concat([curve.to_frame() for curve in curves]),
        curve_recipes(curves),
        "Accuracy of those answered",
        choice.run.title,
    )


def page() -> None:
    """Draws the page."""
    wanted = shell("abstention", choose_abstention).choice
    made = cached_curves(wanted)
    show_headline(abstention_headline(made, wanted.target_accuracy), abstention_view_caption(wanted))
    show_abstention_tiles(wanted, made)
    show_recipe(curve_recipes(made))
    show_remarks(*judged_answers_caveat(wanted.evidences))
    show_figure(
        lambda theme: abstention_figure(
            made, theme, target_accuracy=wanted.target_accuracy, threshold=wanted.threshold
        ),
        key="abstention",
        alt=describe_abstention(made),
        export=abstention_export(wanted, made),
    )
    st.caption(ABSTENTION_CAPTION)
    show_abstention_table(wanted, made)


if __name__ == "__main__":
    page()
