"""The run being studied goes along to pages of several runs, and a list stays as it was put."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import screens
from pages.state.runs import UNNAMED_DATASET
from predictions import quiz, write_csv
from screens import Visit, address, choose, control, go, page_text


@pytest.fixture
def two_datasets(data: Path) -> Path:
    """Four models of the data set "large", and two in a file that names no data set."""
    rows = [{**row, "p_true": row["confidence"]} for row in quiz(50)]
    large = [{**row, "model": f"m{at}", "dataset": "large"} for row in rows for at in range(4)]
    write_csv(data / "large.csv", large)
    write_csv(data / "small set.csv", [{**row, "model": f"s{at}"} for row in rows[:40] for at in range(2)])
    return data


@pytest.mark.parametrize("page", ["comparison", "methods", "groups"])
def test_pages_of_several_runs_open_on_the_data_set_of_the_run(
    page: str, two_datasets: Path, visit: Visit
) -> None:
    takes_several = page == "methods"

    def shown(at: AppTest) -> str:
        if not takes_several:
            return control(at, "dataset").value
        (dataset,) = control(at, "datasets_shown").value
        return dataset

    assert two_datasets.is_dir()
    assert shown(visit(page)) == "large"
    at = go(choose(visit("reliability"), "run", "s0"), page)
    assert shown(at) == UNNAMED_DATASET
    assert control(at, "runs_shown").value == ["s0", "s1"]
    assert address(at)["run"] == "s0"
    at = go(choose(go(at, "reliability"), "run", "m0-large"), page)
    assert shown(at) == "large", "the run chosen last decides"
    if takes_several:
        choose(at, "datasets_shown", [UNNAMED_DATASET])
        at = go(choose(go(at, "comparison"), "dataset", "large"), page)
        assert shown(at) == "large", "the data set chosen last decides"
        choose(at, "datasets_shown", ["large", UNNAMED_DATASET])
    else:
        assert shown(choose(at, "dataset", "*")) == "*"
    at = go(choose(go(at, "reliability"), "run", "s1"), page)
    assert shown(at) == UNNAMED_DATASET, "also over a data set that was chosen before"


def test_a_data_set_without_a_name_is_called_as_its_file(two_datasets: Path, visit: Visit) -> None:
    at = visit("comparison")
    assert control(at, "dataset").options == ["large", "small set", "all (6 runs)"]
    assert "small set" in [heading.value for heading in go(at, "start").header]
    write_csv(two_datasets / "more.csv", quiz(30, model="s2"))
    assert control(visit("comparison"), "dataset").options[1] == "more, small set"


def test_the_run_comes_first_where_not_all_fit(data: Path, visit: Visit) -> None:
    rows = [
        {**row, "model": f"m{at:02}", "dataset": "large"} for at in range(14) for row in quiz(50, seed=at)
    ]
    write_csv(data / "large.csv", rows)
    at = go(choose(visit("reliability"), "run", "m13-large"), "groups")
    shown = control(at, "runs_shown")
    assert shown.value[0] == "m13-large"
    assert len(shown.value) < len(shown.options)


def test_the_method_that_was_chosen_is_among_those_compared(two_datasets: Path, visit: Visit) -> None:
    assert two_datasets.is_dir()
    at = choose(choose(visit("reliability"), "run", "s0"), "method", "p_true")
    assert "p_true" in control(go(at, "comparison"), "methods_shown").value


@pytest.mark.parametrize(
    ("page", "key", "message"),
    [
        ("comparison", "runs_shown", "Choose a run."),
        ("comparison", "methods_shown", "Choose a method."),
        ("robustness", "metrics_shown", "Choose a metric."),
        ("report", "reported_shown", "Choose a run."),
        ("report", "pages_shown", "Choose a section."),
    ],
)
def test_an_emptied_list_stays_empty(
    page: str, key: str, message: str, two_datasets: Path, visit: Visit
) -> None:
    assert two_datasets.is_dir()
    at = visit(page)
    before = control(at, key).value
    assert before
    choose(at, key, [])
    assert control(at, key).value == []
    assert [screens.plain(info.value) for info in at.info] == [message]
    at = visit(page, **address(at))
    assert control(at, key).value == [], "the address keeps it"
    assert message in page_text(at)
    choose(at, key, before[:1])
    assert control(at, key).value == before[:1]
    assert message not in page_text(at)


def test_another_data_set_has_its_runs(two_datasets: Path, visit: Visit) -> None:
    assert two_datasets.is_dir()
    at = choose(visit("comparison"), "runs_shown", [])
    at = choose(at, "dataset", UNNAMED_DATASET)
    assert control(at, "runs_shown").value == ["s0", "s1"]
    assert not screens.unmet_link_warnings(at)


def test_a_comparison_is_of_the_kind_of_the_run_that_was_studied(data: Path, visit: Visit) -> None:
    """Three judges and two solvers: neither kind is compared with the other, and each is named."""
    facts = {"dataset": "all"}
    events = [
        {"id": at, "event_prob": (at % 9 + 1) / 10, "event": at % 3 == 0, **facts, "model": model}
        for model in ("j0", "j1", "j2")
        for at in range(60)
    ]
    write_csv(data / "judges.csv", events)
    asked_once = [{name: row[name] for name in ("id", "confidence", "correct")} for row in quiz(60)]
    write_csv(data / "quiz.csv", [row | facts | {"model": f"s{at}"} for row in asked_once for at in range(2)])
    of_most = visit("comparison")
    of_solver = visit("comparison", run="s0-all")
    assert [control(at, "x").value for at in (of_most, of_solver)] == ["auroc", "accuracy"]
    asked = ["tells yes from no", "both accurate and well calibrated"]
    assert all(question in page_text(at) for question, at in zip(asked, (of_most, of_solver), strict=True))
    assert not any(
        question in page_text(at) for question, at in zip(asked, (of_solver, of_most), strict=True)
    )
    names = [set(screens.table(at, "No.", "Run")["Run"]) for at in (of_most, of_solver)]
    assert names == [{"j0", "j1", "j2"}, {"s0", "s1"}]
    assert "s0" in page_text(of_most)
    assert "Its probability is not that of an event" in page_text(of_most)
    assert "accuracy" not in control(of_most, "x").options
