"""The view caption: what a page shows, once, below its main figure, and of the loaded data."""

from __future__ import annotations

from pathlib import Path

import pytest

import screens
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from screens import Visit

MARK = ":material/visibility: "
HEADED = sorted(set(screens.SCRIPTS) - {"start", "files", "judge", "report", "tour", "training"})
"""Pages on which a finding stands first and a figure or table second; `folder` has no judge or training."""


def view_captions(at: screens.AppTest) -> list[str]:
    """The view captions of the page: captions, or labels of what opens to the recipe."""
    found = [screens.plain(caption.value) for caption in at.caption]
    found += [screens.plain(expander.label) for expander in at.expander]
    return [text.removeprefix(MARK) for text in found if text.startswith(MARK)]


@pytest.mark.parametrize("page", HEADED)
def test_the_view_caption_is_below_the_main_figure_and_opens_to_the_recipe(
    page: str, folder: Path, visit: Visit
) -> None:
    assert folder.is_dir()
    at = visit(page)
    (line,) = view_captions(at)
    nodes = list(screens.walk(at.main))
    own = next(node for node in nodes if screens.plain(getattr(node, "label", "") or "") == MARK + line)
    main = next(node for node in nodes if node.type in ("plotly_chart", "html") and node is not nodes[0])
    assert nodes.index(main) < nodes.index(own)
    assert isinstance(own, screens.Block)
    assert [code.value for code in own.text][:1] == [at.main.text[0].value]
    assert "upward" not in line  # the axes of the figure say it
    assert line.endswith(".")


def test_the_view_caption_of_start_is_below_its_tables(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("start")
    (line,) = view_captions(at)
    nodes = list(screens.walk(at.main))
    own = next(node for node in nodes if screens.plain(getattr(node, "label", "") or "") == MARK + line)
    assert nodes.index(at.dataframe[-1]) < nodes.index(own)


def test_the_view_caption_names_run_method_metric_bins_and_rows(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("reliability", run="red", m="20", binning="mass")
    (line,) = view_captions(at)
    assert line == (
        "Reliability diagram of red by stated confidence: ECE, 20 bins of equal mass, 150 of 150 rows."
    )
    (line,) = view_captions(visit("start"))
    assert line == (
        "Table of 4 runs by 3 methods: confidence, accuracy, Brier score and ECE, 10 bins of equal width, "
        "60 to 160 rows each."
    )


@pytest.mark.parametrize("page", ["files", "report", "tour"])
def test_pages_without_one_finding_say_what_they_are_of(page: str, folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    (line,) = view_captions(visit(page))
    assert {
        "files": "3 files, 3 loaded, 4 runs.",
        "report": " section of 4 runs by each run's default ",
        "tour": " rows.",
    }[page] in line


def test_the_help_of_a_chosen_metric_and_method_is_the_registries(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("reliability", run="red", metric="auroc")
    assert screens.control(at, "metric").help == METRICS["auroc"].help
    assert screens.plain(screens.control(at, "method").help) == METHODS["verbal"].help
    number = next(metric for metric in at.metric if metric.label == "AUROC")
    assert "higher is better" in number.help
