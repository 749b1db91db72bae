"""Which run may refuse, by which confidences, and how right shall it be?  The Abstention page's parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import polars as pl
import streamlit as st

from calib_core.analysis.abstention import AbstentionCurve, abstention_curve
from calib_core.analysis.abstention_reading import target_text
from calib_core.analysis.evidence import Evidence
from calib_core.analysis.looking import ViewCaption, view_caption
from calib_core.analysis.preferred import default_methods, default_run
from calib_core.confidence import METHODS
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun
from calib_core.report.sections import abstention as section
from calib_core.wording import plural
from pages.parts import cache, picking, show, tables
from pages.parts.address import UrlState
from pages.parts.exporting import Export, stem_parts, make_file_stem
from pages.parts.literal import escape_markdown
from pages.parts.many import METHODS_HELP
from pages.parts.runs import LoadedRun
from pages.parts.several import multiselect

DefaultT = TypeVar("D", bound="float | None")

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
        raise Unavailable(section.NO_SINGLE_CONFIDENCES)
    used = {id_: max(one.n_used for one in run.report.survey.usable.values()) for id_, run in fit.items()}
    run = picking.pick_run(url_state, fit, default_run(used))
    usable = run.report.survey.usable
    methods = multiselect(
        url_state, "methods", list(usable), label="Confidence methods",
        title_of=lambda id_: METHODS[id_].title, default=default_methods(usable), help_=METHODS_HELP,
    )
    wanted = _share_input(
        url_state, "wanted", section.DEFAULT_TARGET_ACCURACY, "Accuracy wanted",
        "0.9 or 90 %: the largest share answered with as much.",
    )
    threshold = _share_input(
        url_state, "threshold", None, "Confidence threshold t",
        "0.8 or 80 %: what answering when confidence ≥ t gives. Empty: none.",
    )
    chosen = [id_ for id_ in usable if id_ in methods]
    return AbstentionChoice(run, tuple(usable[id_] for id_ in chosen), wanted, threshold)


def _share_input(url_state: UrlState, key: str, default: DefaultT, label: str, help_: str) -> float | DefaultT:
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
        cache.cached_result(
            ("abstention", run.file.name, run.file.stamp, run.id, evidence.method.id),
            lambda evidence=evidence: abstention_curve(evidence),
            max_results=4 * cache.MAX_LARGE_RESULTS,
        )
        for evidence in choice.evidences
    ]


def abstention_view_caption(choice: AbstentionChoice) -> ViewCaption:
    """The curves, of which run and by which methods."""
    return view_caption("Accuracy of those answered", [choice.run.title], choice.evidences)


def curve_recipes(curves: Sequence[AbstentionCurve]) -> str:
    """How each line was made, one below the other."""
    return "\n".join(section.abstention_recipes(curves))


def show_abstention_tiles(choice: AbstentionChoice, curves: Sequence[AbstentionCurve]) -> None:
    """At the wanted accuracy, at the threshold, and answering all: of the line that answers most."""
    *first, rows = section.abstention_tiles(choice.evidences, curves, choice.target_accuracy)
    show.show_tiles([*first, rows._replace(help=escape_markdown(rows.help))])  # it has reasons in words of the file


def show_abstention_table(choice: AbstentionChoice, curves: Sequence[AbstentionCurve]) -> None:
    """One row a method: at the wanted accuracy, at the threshold, and over all thresholds."""
    rows = section.abstention_rows(curves, choice.target_accuracy, choice.threshold)
    shown = tables.drop_constant_columns(pl.DataFrame(rows, infer_schema_length=None), "Rows used / total", "Judged")
    tables.show_table(
        shown, key="answering",
        alt=f"{plural(shown.height, 'method')} at an accuracy of {target_text(choice.target_accuracy)}",
        export=replace(abstention_export(choice, curves), what="Methods table"),
    )
    st.caption(section.AURC_NOTE)


def abstention_export(choice: AbstentionChoice, curves: Sequence[AbstentionCurve]) -> Export:
    """Every step of every curve."""
    methods = stem_parts((curve.method for curve in curves), "methods")
    return Export(
        make_file_stem(choice.run.id, *methods, "abstention"), lambda: pl.concat([curve.to_frame() for curve in curves]),
        curve_recipes(curves), "Accuracy of those answered", choice.run.title,
    )

