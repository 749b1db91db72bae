"""Tables with a part of a run each are read as one run where a person says so, and apart again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.cli_calls import make_caller
from predictions import quiz, write_csv
from screens import AppTest, Visit, page_text, table


def runs(page: AppTest) -> list[str]:
    return [option for box in page.selectbox if box.label == "Run" for option in box.options]


def rows(seed: int, n: int) -> list[dict[str, Any]]:
    columns = ("confidence", "correct")
    return [{name: row[name] for name in columns} | {"id": at} for at, row in enumerate(quiz(n, seed=seed))]


def test_one_table_a_subject_is_one_run(data: Path, visit: Visit, capsys: pytest.CaptureFixture[str]) -> None:
    for seed, name in enumerate(("m-law", "m-art", "other")):
        write_csv(data / f"{name}.csv", rows(seed, 60 + seed))
    assert runs(visit("reliability")) == ["m-art", "m-law", "other"]
    page = visit("files")
    page.toggle(key="join_tables").set_value(True).run()
    page.text_input(key="join_pattern").set_value("nothing*").run()
    assert page.button(key="join").disabled
    page.text_input(key="join_pattern").set_value("m-*.csv").run()
    assert page.button(key="join").label == "Read these 2 files as one run"
    page.button(key="join").click().run()
    assert "They are still" not in page_text(page)
    assert "m: one run of 2 files" in page.expander[0].label
    reliability = visit("reliability", run="m")
    assert runs(reliability) == ["m", "other"]
    paths = [data / "m-art.csv", data / "m-law.csv"]
    together = make_caller(capsys)("score", *paths, "--together", "--metric", "ece", "--json").elements[0]
    assert together["n_used"] == 121
    tiles = {metric.label: metric.value for metric in reliability.metric}
    assert tiles["Rows used / total"] == "121 / 121"
    assert tiles["ECE"] == f"{together['value']:.4f}"
    assert {"m-art", "m-law"} <= set(table(visit("groups"), "Group", "Verdict")["Group"])
    page = visit("files")
    assert "a part of the run m" in page_text(page)
    page.button(key="part_m").click().run()
    assert runs(visit("reliability")) == ["m-art", "m-law", "other"]


def test_the_tables_of_two_models_become_two_runs(data: Path, visit: Visit) -> None:
    """Their columns are the same, and nothing in them names the model."""
    for model in ("m1", "m2"):
        for seed, subject in enumerate(("law", "art")):
            write_csv(data / f"{model}-{subject}.csv", rows(seed, 60))
    page = visit("files")
    page.toggle(key="join_tables").set_value(True).run()
    for model in ("m1", "m2"):
        page.text_input(key="join_pattern").set_value(f"{model}-*").run()
        page.button(key="join").click().run()
    assert runs(visit("reliability")) == ["m1", "m2"]


def test_tables_of_other_columns_stay_apart(data: Path, visit: Visit) -> None:
    write_csv(data / "m-law.csv", rows(1, 60))
    write_csv(data / "m-art.csv", [{**row, "subject": "art"} for row in rows(2, 60)])
    page = visit("files")
    page.toggle(key="join_tables").set_value(True).run()
    page.text_input(key="join_pattern").set_value("m-*").run()
    page.button(key="join").click().run()
    assert "They are still 2 runs: their columns" in page_text(page)
    assert runs(visit("reliability")) == ["m-art", "m-law"]
    assert not visit("comparison").exception
