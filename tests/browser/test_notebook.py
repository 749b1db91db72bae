"""Results of the Python interface in a page of a browser, as in the output of notebook cells."""

from __future__ import annotations

from pathlib import Path

import pytest

import calib_core
from calib_core import notebook
from window import Browse


@pytest.mark.parametrize("ground", ["#ffffff", "#111111"])
def test_results_draw_themselves_in_the_colours_of_the_notebook(
    browse: Browse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ground: str
) -> None:
    monkeypatch.setattr(notebook, "_FIRST_ONLY", {})
    (run,) = calib_core.load(confidence=[0.95, 0.9, 0.55, 0.3], correct=[1, 0, 1, 0])
    results = calib_core.reliability(run), calib_core.concentration(run), calib_core.score(run, metric="ece")
    outputs = "".join(f"<div>{result._repr_html_()}</div>" for result in results)  # pyright: ignore[reportPrivateUsage]
    page_file = tmp_path / "notebook.html"
    page_file.write_text(
        f'<!doctype html><meta charset="utf-8"><body style="background: {ground}"><p>Mine</p>{outputs}',
        encoding="utf-8",
    )
    window = browse(width=900)
    window.page.goto(page_file.as_uri())
    page = window.page
    page.wait_for_function("document.querySelectorAll('.calib-result figure.drawn .main-svg').length >= 3")
    grounds = page.locator(".calib-result").evaluate_all(
        "results => results.map(result => getComputedStyle(result).backgroundColor)"
    )
    is_dark = ground == "#111111"
    assert [max(map(int, colour[4:-1].split(","))) < 60 for colour in grounds] == [is_dark] * 3
    assert page.locator(".calib-result .trouble:visible").count() == 0
    body = page.locator("body").evaluate("body => getComputedStyle(body).margin")
    assert body == "8px", "the style of a result changes the notebook"
    assert window.errors == []
    page.set_viewport_size({"width": 420, "height": 900})
    page.wait_for_function(
        "[...document.querySelectorAll('.canvas')].every(box => box.querySelector('.main-svg')"
        ".getBoundingClientRect().width <= 420)"
    )
