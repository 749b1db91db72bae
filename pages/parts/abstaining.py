"""Which run may refuse, by which confidences, and how right shall it be?  The Abstention page's parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import polars as pl
import streamlit as st

from calib_core.analysis.abstention import Abstention, abstention
from calib_core.analysis.abstention_reading import target_text
from calib_core.analysis.evidence import Evidence
from calib_core.analysis.looking import Looking, looking
from calib_core.analysis.preferred import preferred, telling
from calib_core.confidence import METHODS
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun
from calib_core.report.sections import abstention as section
from calib_core.wording import count
from pages.parts import cache, picking, show, tables
from pages.parts.address import Address
from pages.parts.exporting import Export, few, named
from pages.parts.literal import literal
from pages.parts.many import METHODS_HELP
from pages.parts.runs import Run
from pages.parts.several import several

D = TypeVar("D", bound="float | None")

@dataclass(frozen=True, slots=True, eq=False)
class Abstaining:
    """One run seen by several methods. wanted: an accuracy; threshold: a confidence, or None."""

    run: Run
    evidences: tuple[Evidence, ...]
    wanted: float
    threshold: float | None


def choose_abstention(address: Address, runs: Sequence[Run]) -> Abstaining:
    """Run, methods, the accuracy that is wanted and a threshold. Raises Unavailable where no run fits."""
    fit = {run.id: run for run in runs if isinstance(run.report.run, AnswerRun)}
    if not fit:
        raise Unavailable(section.TOKENS_ONLY)
    used = {id_: max(one.n_used for one in run.report.survey.usable.values()) for id_, run in fit.items()}
    run = picking.one_run(address, fit, telling(used))
    usable = run.report.survey.usable
    methods = several(
        address, "methods", list(usable), label="Confidence methods",
        titled=lambda id_: METHODS[id_].title, default=preferred(usable), help_=METHODS_HELP,
    )
    wanted = _share(
        address, "wanted", section.WANTED, "Accuracy wanted",
        "0.9 or 90 %: the largest share answered with as much.",
    )
    threshold = _share(
        address, "threshold", None, "Confidence threshold t",
        "0.8 or 80 %: what answering when confidence ≥ t gives. Empty: none.",
    )
    chosen = [id_ for id_ in usable if id_ in methods]
    return Abstaining(run, tuple(usable[id_] for id_ in chosen), wanted, threshold)


def _share(address: Address, key: str, default: D, label: str, help_: str) -> float | D:
    """A share typed as 0.9 or 90 %; the default where nothing is typed, and, told, where it is no share."""
    usual = _written(default)
    typed = address.pick(key, None, usual).strip()
    parsed = _parsed(typed)
    if parsed is None and typed:
        st.caption(f":material/error: Not a share from 0 to 1: {literal(typed[:40])}.")
    found = default if parsed is None else parsed
    address.put(key, _written(found))
    address.note(key, _written(found), usual)
    st.text_input(label, key=key, help=help_)
    return found


def _written(share: float | None) -> str:
    return "" if share is None else f"{share:.6g}"


def _parsed(text: str) -> float | None:
    number = text.removesuffix("%").strip().replace(",", ".")
    try:
        share = float(number)
    except ValueError:
        return None
    share = share / 100 if text.endswith("%") else share
    return share if 0 <= share <= 1 else None


def curves(wanted: Abstaining) -> list[Abstention]:
    """The curve of each method."""
    run = wanted.run
    return [
        cache.kept(
            ("abstention", run.file.name, run.file.stamp, run.id, evidence.method.id),
            lambda evidence=evidence: abstention(evidence),
            most=4 * cache.LARGE_RESULTS,
        )
        for evidence in wanted.evidences
    ]


def looking_at(wanted: Abstaining) -> Looking:
    """The curves, of which run and by which methods."""
    return looking("Accuracy of those answered", [wanted.run.title], wanted.evidences)


def recipes(made: Sequence[Abstention]) -> str:
    """How each line was made, one below the other."""
    return "\n".join(section.recipes(made))


def tiles(wanted: Abstaining, made: Sequence[Abstention]) -> None:
    """At the wanted accuracy, at the threshold, and answering all: of the line that answers most."""
    *first, rows = section.tiles(wanted.evidences, made, wanted.wanted)
    show.tiles([*first, rows._replace(help=literal(rows.help))])  # it has reasons in words of the file


def table(wanted: Abstaining, made: Sequence[Abstention]) -> None:
    """One row a method: at the wanted accuracy, at the threshold, and over all thresholds."""
    rows = section.rows(made, wanted.wanted, wanted.threshold)
    shown = tables.unlike(pl.DataFrame(rows, infer_schema_length=None), "Rows used / total", "Judged")
    tables.plain(
        shown, key="answering",
        alt=f"{count(shown.height, 'method')} at an accuracy of {target_text(wanted.wanted)}",
        export=replace(export(wanted, made), what="Methods table"),
    )
    st.caption(section.AURC)


def export(wanted: Abstaining, made: Sequence[Abstention]) -> Export:
    """Every step of every curve."""
    methods = few((curve.method for curve in made), "methods")
    return Export(
        named(wanted.run.id, *methods, "abstention"), lambda: pl.concat([curve.to_frame() for curve in made]),
        recipes(made), "Accuracy of those answered", wanted.run.title,
    )

