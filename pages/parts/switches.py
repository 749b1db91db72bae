"""Which switches does a method have?  Labels, renormalising, samples that do not parse → options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, cast

import streamlit as st

from calib_core.analysis.evidence import Evidence
from calib_core.confidence.method import MethodOptions, UnparseableRule
from calib_core.pairs import Labels
from calib_core.records import AnswerRun
from pages.parts.address import UrlState
from pages.parts.picking import pick_segment

LABEL_TITLES: Final[Mapping[str, str]] = {"top": "Top label", "all": "All labels"}
RENORMALISE_TITLES: Final[Mapping[str, str]] = {"yes": "Sum to 1", "no": "As it is"}
UNPARSEABLE_TITLES: Final[Mapping[str, str]] = {
    "own": "each a cluster of its own",
    "one": "one cluster together",
    "drop": "left out of N",
}


def pick_method_options(url_state: UrlState, evidence: Evidence) -> MethodOptions:
    """The controls of this method's switches, and what they are set to."""
    chosen = MethodOptions()
    if evidence.has_distribution:
        labels = pick_segment(
            url_state,
            "labels",
            LABEL_TITLES,
            label="Labels",
            help_="Top label: one pair a question. All labels: one pair a choice (Kadavath et al.).",
        )
        chosen = replace(chosen, labels=cast("Labels", labels))
    own = _default_renormalisation(evidence)
    if own is not None:
        wanted = pick_segment(
            url_state,
            "renormalise",
            RENORMALISE_TITLES,
            label="Probabilities",
            help_="Whether those of the alternatives are divided by their sum.",
            default="yes" if own else "no",
        )
        if (wanted == "yes") != own:
            chosen = replace(chosen, renormalise=wanted == "yes")
    if evidence.method.uses_samples:
        chosen = replace(chosen, unparseable=pick_unparseable_rule(url_state))
    return chosen


def pick_unparseable_rule(url_state: UrlState) -> UnparseableRule:
    """The control of samples in which no answer is found."""
    wanted = url_state.pick("unparseable", list(UNPARSEABLE_TITLES), "own")
    st.selectbox(
        "Samples that do not parse", list(UNPARSEABLE_TITLES), key="unparseable",
        format_func=lambda id_: UNPARSEABLE_TITLES[id_],
        help="What a sample counts as in which no answer is found; N is the number of samples.",
    )
    return cast("Unparseable", wanted)


def _default_renormalisation(evidence: Evidence) -> bool | None:
    """What the method does by default; None where there is nothing to switch."""
    column = evidence.method.renormalisation_column
    there = column is None or (isinstance(evidence.run, AnswerRun) and evidence.run.has_columns(column))
    return evidence.method.renormalises_by_default if there else None
