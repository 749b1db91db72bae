"""Every figure on every page is valid for plotly, although it is sent without validation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

from screens import ANSWERS, Visit


def has_no_nulls(part: Any) -> bool:
    """Whether no key has the value null, which the browser would process."""
    if isinstance(part, dict):
        return all(value is not None and has_no_nulls(value) for value in part.values())
    return not isinstance(part, list) or all(map(has_no_nulls, part))


@pytest.mark.parametrize("page", ANSWERS)
def test_what_is_sent_is_a_figure(folder: Path, visit: Visit, page: str) -> None:
    assert folder.is_dir()
    charts = visit(page, **ANSWERS[page]).get("plotly_chart")
    assert charts or page == "methods"
    for chart in charts:
        sent = json.loads(chart.proto.spec)
        assert has_no_nulls(sent)
        assert len(go.Figure(sent).data) == len(sent["data"]) > 0


@pytest.mark.parametrize("page", ["reliability", "robustness"])
def test_the_browser_draws_it_once(folder: Path, visit: Visit, page: str) -> None:
    """Streamlit hands plotly a copy of each figure, which plotly would draw again if these differed."""
    assert folder.is_dir()
    for chart in visit(page).get("plotly_chart"):
        sent = json.loads(chart.proto.spec)
        assert "datarevision" in sent["layout"]
        assert "template" not in sent["layout"]
        assert all(isinstance(trace.get("meta", []), list) for trace in sent["data"])
        if chart.proto.selection_mode:  # Streamlit sets this mode, and would change the figure by it
            assert sent["layout"]["dragmode"] == "pan"


def test_plotly_does_not_build_it_again(folder: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Validation took half of a page's time."""
    assert folder.is_dir()

    def build(*_: Any, **__: Any) -> None:
        pytest.fail("plotly builds the figure again")

    monkeypatch.setattr(go.Figure, "__init__", build)
    assert visit("reliability").get("plotly_chart")
