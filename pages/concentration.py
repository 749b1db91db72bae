"""The page Bin concentration: where do the confidences lie, and can the bins be trusted?"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from calib_core.errors import Unavailable
from calib_core.results.concentration import Concentration, measure_concentration
from calib_core.results.view_caption import ViewCaption, bins_caption, view_caption
from calib_core.terms import common_terms
from calib_core.views.concentration import concentration_view
from pages.state.cache import cached_result
from pages.state.markdown import escape_markdown
from pages.widgets.run_choice import RunChoice, choose_confidences
from pages.widgets.shell import shell
from pages.widgets.summary import show_warnings
from pages.widgets.view import show_view


def available_results(choice: RunChoice) -> list[Concentration]:
    """Return the concentration by each chosen method; where one is not available, show its reason instead."""
    results: list[Concentration] = []
    for evidence in (choice.evidence, *choice.other_methods):
        try:
            result = cached_result(
                ("concentration", *choice.cache_key(evidence)),
                lambda evidence=evidence: measure_concentration(evidence, choice.scheme),
            )
        except Unavailable as reason:
            st.info(escape_markdown(f"{evidence.method.title}: {reason}"))
        else:
            results.append(result)
    return results


def _confidences_view_caption(choice: RunChoice, results: Sequence[Concentration]) -> ViewCaption:
    """Return the caption that says which run and methods the histogram is of."""
    evidences = {evidence.method.id: evidence for evidence in (choice.evidence, *choice.other_methods)}
    return view_caption(
        common_terms(result.terms for result in results).confidences.capitalize(),
        [choice.run.title],
        [evidences[result.method] for result in results],
        bins_caption(choice.scheme),
    )


def page() -> None:
    """Draw the page."""
    choice = shell("concentration", choose_confidences).choice
    show_warnings(*choice.evidence.warnings)
    if results := available_results(choice):
        view = concentration_view(results[0], results[1:], title=choice.run.title)
        show_view(view, _confidences_view_caption(choice, results))


if __name__ == "__main__":
    page()
