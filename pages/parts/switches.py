"""Which switches does a method have?  Labels, renormalising, samples that do not parse → options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, cast

import streamlit as st

from calib_core.analysis.evidence import Evidence
from calib_core.confidence.method import Options, Unparseable
from calib_core.pairs import Labels
from calib_core.records import AnswerRun
from pages.parts.address import Address
from pages.parts.picking import segments

LABELS: Final[Mapping[str, str]] = {"top": "Top label", "all": "All labels"}
RENORMALISE: Final[Mapping[str, str]] = {"yes": "Sum to 1", "no": "As it is"}
UNPARSEABLE: Final[Mapping[str, str]] = {
    "own": "each a cluster of its own",
    "one": "one cluster together",
    "drop": "left out of N",
}


def options(address: Address, evidence: Evidence) -> Options:
    """The controls of this method's switches, and what they are set to."""
    chosen = Options()
    if evidence.has_distribution:
        labels = segments(
            address,
            "labels",
            LABELS,
            label="Labels",
            help_="Top label: one pair a question. All labels: one pair a choice (Kadavath et al.).",
        )
        chosen = replace(chosen, labels=cast("Labels", labels))
    own = _renormalises_by_itself(evidence)
    if own is not None:
        wanted = segments(
            address,
            "renormalise",
            RENORMALISE,
            label="Probabilities",
            help_="Whether those of the alternatives are divided by their sum.",
            default="yes" if own else "no",
        )
        if (wanted == "yes") != own:
            chosen = replace(chosen, renormalise=wanted == "yes")
    if evidence.method.sampled:
        chosen = replace(chosen, unparseable=unparseable(address))
    return chosen


def unparseable(address: Address) -> Unparseable:
    """The control of samples in which no answer is found."""
    wanted = address.pick("unparseable", list(UNPARSEABLE), "own")
    st.selectbox(
        "Samples that do not parse", list(UNPARSEABLE), key="unparseable",
        format_func=lambda id_: UNPARSEABLE[id_],
        help="What a sample counts as in which no answer is found; N is the number of samples.",
    )
    return cast("Unparseable", wanted)


def _renormalises_by_itself(evidence: Evidence) -> bool | None:
    """What the method does by default; None where there is nothing to switch."""
    column = evidence.method.renormalises_with
    there = column is None or (isinstance(evidence.run, AnswerRun) and evidence.run.has(column))
    return evidence.method.renormalised if there else None
