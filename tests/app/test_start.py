"""The page Start: every run with its numbers, and the links to the other pages."""

from __future__ import annotations

import html
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from streamlit.testing.v1.element_tree import PageLink

import calib_core
import screens
from app_server import ROOT
from calib_core.figures.palette import DARK, LIGHT
from calib_core.results.evidence import survey_methods
from predictions import choices, quiz, samples, write_csv, write_jsonl
from screens import Visit, address, table


def test_pages_load_neither_pandas_nor_the_list_of_all_emojis(
    files_of_every_kind: Path, tmp_path: Path
) -> None:
    """Streamlit would, for tables that are not Arrow and for labels: 60 MB, and half a second of a core."""
    program = f"""if True:
        import sys
        from streamlit.testing.v1 import AppTest
        for page in ("pages/files.py", "pages/robustness.py", "pages/judge.py", "app.py"):
            at = AppTest.from_file(f"{ROOT}/{{page}}", default_timeout=120).run()
            assert at.dataframe and not at.exception, (page, at.exception)
            print(page, *(sys.modules.keys() & {{"pandas", "streamlit.emojis"}}))"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=os.environ | {"XDG_CACHE_HOME": str(tmp_path), "CALIB_DATA": str(files_of_every_kind)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["pages/files.py", "pages/robustness.py", "pages/judge.py", "app.py"]


def test_one_row_per_run_and_every_method_on_demand(data: Path, visit: Visit) -> None:
    write_jsonl(data / "choice.jsonl", choices(model="blue", dataset="four"))
    write_csv(data / "quiz.csv", [*quiz(200, model="red"), *quiz(100, seed=6, model="green")])
    runs = [*calib_core.load(data / "choice.jsonl"), *calib_core.load(data / "quiz.csv")]
    methods = {run.label: list(survey_methods(run).usable) for run in runs}
    assert methods["red"] == methods["green"] == ["verbal", "given"]
    metrics = ("accuracy", "brier", "ece")
    expected = [
        (
            run.info.model,
            run.n_total,
            *(
                round(calib_core.score(run, method=method, metric=metric).value or 0, 12)
                for metric in metrics
            ),
        )
        for run in runs
        for method in methods[run.label]
    ]
    assert [run.label for run in runs] == ["blue · four", "red", "green"]
    at = visit("start")
    assert rows_of(at) == [expected[0], expected[-4], expected[-2]]
    text = screens.page_text(at)
    assert {"logit, softmax over the choices", "stated confidence"} <= set(text.splitlines())
    screens.choose(at, "_every", value=True)
    assert address(at) == {"every": "1"}
    assert rows_of(at) == expected


def rows_of(at: screens.AppTest) -> list[tuple[object, ...]]:
    """The rows of all tables, in order."""
    rows: list[tuple[object, ...]] = []
    for found in screens.tables(at, "run", "ece"):
        shown = found[["run", "used", "accuracy", "brier", "ece"]]
        rows += shown.assign(accuracy=shown["accuracy"] / 100).round(12).itertuples(index=False, name=None)
    return rows


def test_a_table_for_each_data_set_without_its_name(data: Path, visit: Visit) -> None:
    rows = quiz(60)
    for dataset in ("four", "![five](http://x.test)"):
        write_csv(data / f"{len(dataset)}.csv", [{**row, "model": "red", "dataset": dataset} for row in rows])
    write_csv(data / "z.csv", quiz(60))
    at = visit("start")
    assert [screens.plain(heading.value) for heading in at.header] == [
        "All 3 runs are over-confident.",
        "![five](http://x.test)",
        "four",
        "z",
    ]
    assert [list(found["run"]) for found in screens.tables(at, "run", "ece")] == [["red"], ["red"], ["z"]]


def test_many_data_sets_share_the_last_table(data: Path, visit: Visit) -> None:
    rows = [{**row, "model": "red", "dataset": f"d{at:02}"} for at in range(22) for row in quiz(31)]
    write_csv(data / "quiz.csv", rows)
    at = visit("start")
    assert [heading.value for heading in at.header][-2:] == ["d18", "3 further data sets"]
    *_, last = screens.tables(at, "run", "ece")
    assert list(last["run"]) == ["red · d19", "red · d20", "red · d21"]


def test_a_file_dropped_on_start_is_shown_there(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(50))
    at = visit("start")
    at.file_uploader[0].set_value(
        [("mine.csv", b"model,confidence,correct\n" + b"m,0.9,1\n" * 40, "text/csv")]
    )
    screens.run(at)
    assert "mine.csv is loaded: 40 rows" in screens.page_text(at)
    assert [list(found["run"]) for found in screens.tables(at, "run", "ece")] == [["m · uploaded", "quiz"]]


def test_own_files_come_before_those_of_the_folder(data: Path, visit: Visit) -> None:
    write_csv(data / "a.csv", [{**row, "model": "red", "dataset": "quiz"} for row in quiz(40)])
    at = visit("start")
    mine = b"model,dataset,confidence,correct\n" + b"red,exam,0.9,1\n" * 40
    at.file_uploader[0].set_value([("mine.csv", mine, "text/csv")])
    at = screens.go(screens.run(at), "start")
    assert [heading.value for heading in at.header] == ["exam", "quiz"]


def test_no_folder_needs_to_be_there_to_open_own_files(visit: Visit) -> None:
    at = visit("start")
    at.file_uploader[0].set_value([("mine.csv", b"confidence,correct\n" + b"0.9,1\n" * 40, "text/csv")])
    assert list(table(screens.run(at), "run", "used")["used"]) == [40]


def test_the_bad_rows_of_a_dropped_file_are_decided_on_once_and_there(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(50))
    at = visit("start")
    at.file_uploader[0].set_value(
        [("mine.csv", b"confidence,correct\n2.5,1\n" + b"0.9,1\n" * 40, "text/csv")]
    )
    assert [warning.value for warning in screens.run(at).warning if "1 of 41 rows" in warning.value] == [
        "1 of 41 rows is bad. Calib loads the file once you decide."
    ]
    at.button(key="load_uploaded--mine.csv").click()
    assert "mine.csv is loaded: 41 rows" in screens.page_text(screens.run(at))


def test_what_is_accepted_on_start_opens_its_diagram(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(50))
    at = visit("start")
    cells = "".join(f"{50 + at}%,{'pass' if at % 3 else 'fail'}\n" for at in range(40))
    at.file_uploader[0].set_value([("mine.csv", f"Conf (%),Is it correct?\n{cells}".encode(), "text/csv")])
    screens.run(at).button(key="accept_uploaded--mine.csv").click()
    assert screens.run(at).title[0].value == "Reliability"
    assert screens.tiles(at)["Rows used / total"] == "40 / 40"


def test_reliability_and_tour_open_with_the_method_that_start_shows(data: Path, visit: Visit) -> None:
    write_jsonl(data / "ten.jsonl", samples())
    assert "self-consistency, F_CS" in screens.page_text(visit("start")).splitlines()
    for page in ("reliability", "tour"):
        method = screens.control(visit(page), "method")
        assert method.value == "cluster_size"
        assert method.options[0] != "self-consistency, F_CS"  # which is not simply the first


def test_the_sparkline_is_an_embedded_picture(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(200, model='"/><script>x</script>'))
    (curve,) = table(visit("start"), "run", "curve")["curve"]
    assert curve.startswith("data:image/svg+xml,")
    assert "script" not in curve


def test_a_row_leads_to_its_diagram(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", [*quiz(50, model="red"), *quiz(60, seed=6, model="green")])
    at = visit("start", every="1")
    shown = table(at, "run", "title")
    (place,) = [
        at_
        for at_, (run, title) in enumerate(zip(shown["run"], shown["title"], strict=True))
        if (run, title) == ("green", "confidence in the file")
    ]
    screens.click_cell(at, "overview_1", place)
    screens.run(at)
    assert at.title[0].value == "Reliability"
    assert address(at) == {"run": "green", "method": "given"}
    assert screens.tiles(at)["Rows used / total"] == "60 / 60"


def test_ticked_rows_are_compared(data: Path, visit: Visit) -> None:
    models = ("red", "green", "blue")
    rows = [{**row, "model": model, "dataset": "quiz"} for model in models for row in quiz(50)]
    write_csv(data / "quiz.csv", [*rows, *({**row, "dataset": "else"} for row in quiz(40, model="red"))])
    at = visit("start")
    button = at.button(key="compare_ticked")
    assert (button.label, button.disabled) == ("Compare", True)
    screens.tick_rows(at, "overview_1", 0, 2)
    at = screens.run(at)
    assert at.title[0].value == "Start", "a tick opens nothing"
    button = at.button(key="compare_ticked")
    assert (button.label, button.disabled) == ("Compare 2 runs", False)
    button.click()
    at = screens.run(at)
    assert at.title[0].value == "Comparison"
    assert screens.control(at, "runs_shown").value == ["red-quiz", "blue-quiz"]
    at = visit("start")
    screens.tick_rows(at, "overview_1", 1)
    screens.tick_rows(at, "overview_2", 0)
    screens.run(at).button(key="compare_ticked").click()
    at = screens.run(at)
    assert screens.control(at, "dataset").value == "*"
    assert screens.control(at, "runs_shown").value == ["green-quiz", "red-else"]


def test_a_click_on_a_table_that_is_no_longer_there_opens_no_other_run(data: Path, visit: Visit) -> None:
    for number in range(3):
        write_csv(data / f"run{number}.csv", quiz(50, seed=number))
    at = visit("start")
    for row in (2, 0):
        screens.click_cell(at, "overview_1", row)
        (data / f"run{row}.csv").unlink()
        assert screens.run(at).title[0].value == "Start"


def test_a_row_of_a_file_whose_bad_rows_are_left_out(data: Path, visit: Visit) -> None:
    rows = quiz(50)
    rows[7]["confidence"] = "85%"
    write_csv(data / "quiz.csv", rows)
    at = visit("start", good="quiz.csv")
    screens.click_cell(at, "overview_1", 0)
    screens.run(at)
    assert address(at)["good"] == "quiz.csv"
    assert screens.tiles(at)["Rows used / total"].endswith(" / 50")


def test_the_headline_and_the_two_links(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", [*quiz(400, model="red"), *quiz(400, seed=6, model="green")])
    at = visit("start", run="red", method="given")
    text = screens.page_text(at)
    assert "Both runs are over-confident." in text
    assert "q: Benjamini–Hochberg over the verdicts of the list" in text
    assert page_links(at) == {"First run", "Tour"}
    links = [link.proto for link in screens.walk(at.main) if isinstance(link, PageLink)]
    assert {link.query_string for link in links} == {"run=red&method=given"}
    shown = table(at, "run", "ece")
    assert list(shown.columns)[:4] == ["run", "verdict", "ece", "curve"]  # a phone shows the first two
    write_csv(data / "quiz.csv", [*quiz(4, model="red")])
    at = visit("start")
    assert "red, the only run loaded, has too few rows for a verdict." in screens.page_text(at)
    assert page_links(at) == {"First run"}  # a tour of four rows would teach nothing


def test_a_button_for_each_verdict_filters_the_tables(data: Path, visit: Visit) -> None:
    rows = {
        "over": [(0.9, 60), (0.8, 50)],
        "under": [(0.3, 90), (0.4, 95)],
        "fine": [(0.8, 80), (0.6, 60)],
    }
    for name, blocks in rows.items():
        pairs = [
            {"confidence": said, "correct": int(at < right)} for said, right in blocks for at in range(100)
        ]
        write_csv(data / f"{name}.csv", pairs)
    at = visit("start")
    buttons = screens.control(at, "_verdict")
    assert [html.unescape(label) for label in buttons.options] == [
        ":orange[▲] over-confident **1**",
        ":green[▼] under-confident **1**",
        ":blue[≈] no evidence of miscalibration **1**",
    ]
    screens.choose(at, "_verdict", value=["over", "none"])
    assert address(at) == {"verdict": "over,none"}
    shown = table(at, "run", "verdict")
    assert list(shown["verdict"]) == ["≈ no evidence of miscalibration", "▲ over-confident"]
    assert list(table(visit("start", verdict="under,nosuch"), "run")["run"]) == ["under"]
    assert len(table(visit("start", verdict="few"), "run")) == 3  # there is none: all are shown


def test_verdicts_have_the_colours_of_figures() -> None:
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["theme"]
    for colours in (LIGHT, DARK):
        config = theme[colours.name]
        assert config["orangeColor"] == colours.overconfident
        assert config["greenColor"] == colours.underconfident
        assert config["orangeTextColor"] == colours.overconfident_text
        assert config["greenTextColor"] == colours.underconfident_text


def test_a_verdict_that_headlines_do_not_count_says_so(data: Path, visit: Visit) -> None:
    for number in range(30):
        right = 82 if number == 3 else 90
        pairs = [{"confidence": 0.9, "correct": int(at < right)} for at in range(100)]
        write_csv(data / f"{number:02}.csv", pairs)
    at = visit("start")
    assert table(at, "run", "verdict")["verdict"][3] == "≈ over-confident, q > 0.05"
    assert "All 30 runs show no evidence of miscalibration." in screens.page_text(at)
    assert "1 run has p ≤ 0.05 but q > 0.05 and does not count." in screens.page_text(at)


def test_files_that_are_not_loaded_are_counted_with_the_way_to_them(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(50))
    for page in ("start", "reliability"):
        assert "not loaded" not in screens.page_text(visit(page))
    write_csv(data / "a.csv", [{"colour": "red"}])
    assert links_to_files(visit("start")) == ["1 of 2 files is not loaded"]
    write_csv(data / "b.csv", [{"colour": "red"}])
    assert links_to_files(visit("start", run="quiz")) == ["2 of 3 files are not loaded"]


def page_links(at: screens.AppTest) -> set[str]:
    return {link.label for link in screens.walk(at.main) if isinstance(link, PageLink)}


def links_to_files(at: screens.AppTest) -> list[str]:
    """The links to Files on the page itself."""
    links = [link.label for link in screens.walk(at.main) if isinstance(link, PageLink)]
    return [label for label in links if "loaded" in label]


def test_two_files_with_runs_of_one_name_are_distinguished(data: Path, visit: Visit) -> None:
    write_csv(data / "first.csv", quiz(50, model="red"))
    write_csv(data / "second.csv", quiz(70, seed=6, model="red"))
    at = visit("start")
    assert sorted(set(table(at, "run", "ece")["run"])) == ["red (first.csv)", "red (second.csv)"]
    at = visit("reliability", run="red--second.csv")
    assert screens.tiles(at)["Rows used / total"] == "70 / 70"


def test_the_demo_data_stands_in_for_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CALIB_DATA", raising=False)
    at = screens.visit("start", {})
    known = screens.tables(at, "run", "ece")[0]
    assert list(known["run"]) == ["gpt-4.1-mini", "Qwen3-14B", "Qwen2.5-7B", "Llama-3.1-8B"]
    assert list(known["ece"].round(4)) == [0.1686, 0.1293, 0.3904, 0.3609]
    assert screens.plain(at.header[0].value) == "MMLU-Pro"
    assert "Demo data" in screens.page_text(at)


def test_its_own_folder_is_not_called_demo_data(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(50))
    assert "Demo data" not in screens.page_text(visit("start"))
