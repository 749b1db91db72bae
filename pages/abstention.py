"""The page Abstention: what if the model only answers when it is confident?"""

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
from calib_core.results.defaults import default_methods
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
from pages.widgets.pickers import pick_run, usual_run
from pages.widgets.run_selection import METHODS_HELP
from pages.widgets.shell import shell
from pages.widgets.summary import show_headline, show_provenance, show_remarks, show_tiles, show_warnings
from pages.widgets.table import drop_constant_columns, show_table

DefaultT = TypeVar("DefaultT", bound="float | None")


@dataclass(frozen=True, slots=True, eq=False)
class AbstentionChoice:
    """What the page Abstention shows: one run scored by several methods.

    Attributes
    ----------
    run : LoadedRun
    evidences : tuple of Evidence
        The run's evidence by each chosen method, in the order of the registry.
    target_accuracy : float
        Accuracy that the answered questions should reach, from 0 to 1.
    threshold : float or None
        Confidence from which a question is answered; None where none was typed.
    """

    run: LoadedRun
    evidences: tuple[Evidence, ...]
    target_accuracy: float
    threshold: float | None


def choose_abstention(url_state: UrlState, runs: Sequence[LoadedRun]) -> AbstentionChoice:
    """Draw the sidebar controls: run, methods, target accuracy and confidence threshold.

    Raises
    ------
    Unavailable
        Where no run has a confidence per answer.
    """
    answer_runs = {run.id: run for run in runs if isinstance(run.report.run, AnswerRun)}
    if not answer_runs:
        raise Unavailable(NO_SINGLE_CONFIDENCES)
    n_used = {
        id_: max(evidence.n_used for evidence in run.report.survey.usable.values())
        for id_, run in answer_runs.items()
    }
    run = pick_run(url_state, answer_runs, usual_run(answer_runs, n_used))
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
    target_accuracy = _share_input(
        url_state,
        "wanted",
        DEFAULT_TARGET_ACCURACY,
        "Target accuracy",
        "Type 0.9 or 90 %. The table shows the largest share answered at this accuracy.",
    )
    threshold = _share_input(
        url_state,
        "threshold",
        None,
        "Confidence threshold t",
        (
            "Type 0.8 or 80 % to see coverage and accuracy when the model answers only from this confidence "
            "on. Leave empty for none."
        ),
    )
    selected = [id_ for id_ in usable if id_ in methods]
    return AbstentionChoice(run, tuple(usable[id_] for id_ in selected), target_accuracy, threshold)


def _share_input(
    url_state: UrlState, key: str, default: DefaultT, label: str, help_: str
) -> float | DefaultT:
    """Draw a text field for a share such as 0.9 or 90 %; an invalid text is reported and the default used."""
    default_text = _share_text(default)
    text = url_state.pick(key, None, default_text).strip()
    share = _parse_share(text)
    if share is None and text:
        st.caption(
            f":material/error: Type a number from 0 to 1, or a percentage: {escape_markdown(text[:40])}."
        )
    value = default if share is None else share
    url_state.set_widget(key, _share_text(value))
    url_state.remember(key, _share_text(value), default_text)
    st.text_input(label, key=key, help=help_)
    return value


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
    """Return the curve of each chosen method, each computed once."""
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
    """Return the caption that says which run and methods the curves are of."""
    return view_caption("Accuracy of answered questions", [choice.run.title], choice.evidences)


def show_abstention_tiles(choice: AbstentionChoice, curves: Sequence[AbstentionCurve]) -> None:
    """Draw the tiles: at the target accuracy, at the threshold and with every question answered."""
    *first, rows = abstention_tiles(choice.evidences, curves, choice.target_accuracy)
    # The help of the last tile quotes texts of the file.
    show_tiles([*first, rows._replace(help=escape_markdown(rows.help))])


def curve_recipes(curves: Sequence[AbstentionCurve]) -> str:
    """Return the recipe of each curve, one per line."""
    return "\n".join(abstention_recipes(curves))


def abstention_export(choice: AbstentionChoice, curves: Sequence[AbstentionCurve]) -> Export:
    """Return the export of every step of every curve."""
    methods = stem_parts((curve.method for curve in curves), "methods")
    return Export(
        make_file_stem(choice.run.id, *methods, "abstention"),
        lambda: pl.concat([curve.to_frame() for curve in curves]),
        curve_recipes(curves),
        "Accuracy of answered questions",
        choice.run.title,
        headline=abstention_headline(curves, choice.target_accuracy),
        tiles=abstention_tiles(choice.evidences, curves, choice.target_accuracy),
    )


def show_abstention_table(choice: AbstentionChoice, curves: Sequence[AbstentionCurve]) -> None:
    """Draw one row per method: at the target accuracy, at the threshold, and over all thresholds."""
    rows = abstention_rows(curves, choice.target_accuracy, choice.threshold)
    shown = drop_constant_columns(pl.DataFrame(rows, infer_schema_length=None), "Rows used / total", "Judged")
    show_table(
        shown,
        key="answering",
        alt=f"{plural(shown.height, 'method')} at an accuracy of {target_text(choice.target_accuracy)}",
        export=replace(abstention_export(choice, curves), content="Methods table"),
    )
    st.caption(AURC_NOTE)


def page() -> None:
    """Draw the page."""
    choice = shell("abstention", choose_abstention).choice
    curves = cached_curves(choice)
    show_headline(abstention_headline(curves, choice.target_accuracy))
    show_warnings(*dict.fromkeys(text for evidence in choice.evidences for text in evidence.warnings))
    show_abstention_tiles(choice, curves)
    show_figure(
        lambda theme: abstention_figure(
            curves, theme, target_accuracy=choice.target_accuracy, threshold=choice.threshold
        ),
        key="abstention",
        alt=describe_abstention(curves),
        export=abstention_export(choice, curves),
    )
    show_provenance(abstention_view_caption(choice), curve_recipes(curves))
    st.caption(ABSTENTION_CAPTION)
    show_remarks(*judged_answers_caveat(choice.evidences))
    show_abstention_table(choice, curves)


if __name__ == "__main__":
    page()
