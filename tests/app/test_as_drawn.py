"""Is every figure on every page one that plotly takes, although it is sent without plotly's look at it?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

from screens import Visit

PAGES = (
    "reliability",
    "concentration",
    "robustness",
    "comparison",
    "abstention",
    "sampling",
    "methods",
    "groups",
)


def holds_nothing_unset(part: Any) -> bool:
    """Whether no name in it has the value null: such would be looked at in the browser."""
    if isinstance(part, dict):
        return all(value is not None and holds_nothing_unset(value) for value in part.values())
    return not isinstance(part, list) or all(map(holds_nothing_unset, part))


@pytest.mark.parametrize("page", PAGES)
def test_what_is_sent_is_a_figure(folder: Path, visit: Visit, page: str) -> None:
    assert folder.is_dir()
    runs = {"sampling": "ten", "groups": "four"}
    charts = visit(page, **({"run": runs[page]} if page in runs else {})).get("plotly_chart")
    assert charts or page == "methods"
    for chart in charts:
        sent = json.loads(chart.proto.spec)
        assert holds_nothing_unset(sent)
        assert len(go.Figure(sent).data) == len(sent["data"]) > 0


def test_plotly_does_not_build_it_again(folder: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which took half of a page's time."""
    assert folder.is_dir()

    def build(*_: Any, **__: Any) -> None:
        pytest.fail("plotly builds the figure again")

    monkeypatch.setattr(go.Figure, "__init__", build)
    assert visit("reliability").get("plotly_chart")
