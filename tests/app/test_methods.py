"""The page Methods: every method on the stated rows, and the paper's table beside it."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import screens
from calib_core.api import load, score
from calib_core.results import methods_table
from calib_core.results.evidence import AnswerEvidence, survey_methods
from calib_core.results.methods_table import compare_methods
from predictions import quiz, samples, write_csv, write_jsonl
from screens import Visit, choose, page_text

CELL = re.compile(r"<t[hd][^>]*>(.*?)</t[hd]>")


def table_html(at: AppTest) -> list[str]:
    """The HTML of every table of ECE and Brier, in the page's order."""
    bodies = [node.proto.body for node in screens.walk(at.main) if getattr(node, "type", "") == "html"]
    return [body for body in bodies if "<table" in body]


def rows(html: str) -> list[list[str]]:
    """The texts of the cells of each row, without notes on the row."""
    parts = re.findall(r"<tr.*?</tr>", re.sub(r'(?<!">)<span>[^<]*</span>(?=</th>)', "", html))
    return [[unescape(re.sub(r"<[^>]*>", "", cell)) for cell in CELL.findall(part)] for part in parts]


def numbers_by_method(at: AppTest) -> dict[str, list[str]]:
    """Method → its numbers in the table of the loaded runs."""
    own = [row for row in rows(table_html(at)[0]) if len(row) > 1 and "accuracy " not in row[0]]
    return {row[0]: row[1:] for row in own if re.match(r"[\d–]", row[1])}


@pytest.fixture
def two_runs(data: Path) -> Path:
    """quiz.csv: red has 150 rows and lacks 10 stated confidences; green has 160."""
    red: list[dict[str, Any]] = quiz(150, model="red", dataset="sums")
    for row in red[:10]:
        row["verbal_confidence"] = ""
    return write_csv(data / "quiz.csv", [*red, *quiz(160, seed=6, model="green", dataset="sums")])


def test_every_method_on_the_common_rows(two_runs: Path, visit: Visit) -> None:
    at = visit("methods")
    red, green = load(two_runs)
    shown = numbers_by_method(at)
    assert set(shown) == {"Stated confidence", "Confidence in the file"}
    wanted = score(green, method="given", metric="brier")
    assert shown["Confidence in the file"][3] == f"{wanted.value:.4f}"
    stated = score(red, method="verbal", metric="ece")
    assert stated.n_used == 140
    assert shown["Stated confidence"][0].rstrip("†") == f"{stated.value:.4f}"
    table = compare_methods(
        {
            run.label: [
                each for each in survey_methods(run).usable.values() if isinstance(each, AnswerEvidence)
            ]
            for run in (red, green)
        }
    )
    assert screens.plain(at.header[0].value) == table.headline
    assert screens.tiles(at) == {}
    assert "rows: common to the methods of a run" in at.text[0].value
    assert "n 140<" in table_html(at)[0]
    assert "scored on the greedy answer" in page_text(at)
    assert "n 150" not in table_html(at)[0]
    assert "rows common to the methods shown, n=140/150" in page_text(at)
    assert [cell for cell in rows(table_html(at)[0])[0] if cell] == ["red", "green"]
    n_best = sum(cell.best_ece + cell.best_brier for cell in table.cells.values())
    assert table_html(at)[0].count("<strong") == n_best


def test_what_is_not_clearly_beaten_is_bold_and_the_rest_is_not(data: Path, visit: Visit) -> None:
    """The stated confidence tells right from wrong, the other is always 0.9."""
    asked = [
        {
            "id": f"q{at}",
            "verbal_confidence": 0.95 if at % 4 else 0.1,
            "confidence": 0.9,
            "correct": int(at % 4 > 0),
        }
        for at in range(80)
    ]
    write_csv(data / "quiz.csv", asked)
    at = visit("methods")
    assert screens.plain(at.header[0].value) == (
        "“stated confidence” has the lowest Brier score, 0.0044 (80 rows)."
    )
    assert table_html(at)[0].count("<strong") == 2
    assert "Holm over 1 pair" in at.text[0].value


def test_each_on_its_own_rows(two_runs: Path, visit: Visit) -> None:
    at = choose(visit("methods"), "common", "own")
    assert screens.address(at)["common"] == "own"
    wanted = score(load(two_runs)[0], method="given", metric="brier")
    assert numbers_by_method(at)["Confidence in the file"][1] == f"{wanted.value:.4f}"
    assert "n 140–150<" in table_html(at)[0]


def test_runs_methods_and_m_are_chosen(two_runs: Path, visit: Visit) -> None:
    assert two_runs.is_file()
    at = visit("methods", methods="given", m="3", runs="green-sums")
    assert list(numbers_by_method(at)) == ["Confidence in the file"]
    assert len(numbers_by_method(at)["Confidence in the file"]) == 2
    wanted = score(load(two_runs)[1], method="given", metric="ece", bins=3)
    assert numbers_by_method(at)["Confidence in the file"][0].rstrip("†") == f"{wanted.value:.4f}"
    assert "<strong" not in table_html(at)[0]
    assert screens.plain(at.header[0].value) == "No comparison: each run has only one method."
    assert not any("Bold" in caption.value for caption in at.caption)
    assert screens.tiles(at) == {}
    assert not any(getattr(node, "type", "") == "page_link" for node in screens.walk(at.main))


def test_many_runs_of_one_method_have_one_row_each(data: Path, visit: Visit) -> None:
    made = [quiz(60, seed=seed, model=f"m{seed}", dataset="sums") for seed in range(8)]
    write_csv(data / "quiz.csv", [{**row, "verbal_confidence": ""} for rows in made for row in rows])
    at = visit("methods", runs=",".join(f"m{seed}-sums" for seed in range(7)))
    table = screens.table(at, "Run", "ECE", "Brier score", "Accuracy", "Rows used")
    assert len(table) == 7
    assert "Method" not in table.columns
    wanted = score(load(data / "quiz.csv")[3], method="given", metric="brier")
    assert table["Brier score"][3] == wanted.value
    assert table["Rows used"][3] == 60
    (way,) = [node for node in screens.walk(at.main) if getattr(node, "type", "") == "page_link"]
    assert "runs=m0-sums" in way.proto.query_string


@pytest.mark.usefixtures("nothing_computed")
def test_neither_table_waits_for_outcomes_drawn(
    data: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AnswerEvidence, "null_draws", lambda *_of: pytest.fail("outcomes were drawn"))
    made = [quiz(60, seed=seed, model=f"m{seed}", dataset="sums") for seed in range(7)]
    write_csv(data / "quiz.csv", [row for rows in made for row in rows])
    assert len(screens.table(visit("methods", methods="given"), "Run", "ECE")) == 7
    assert table_html(visit("methods"))


def test_the_order_follows_brier_or_kind(data: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    write_csv(data / "quiz.csv", quiz(150))
    made = screens.record_results(monkeypatch, methods_table, "compare_methods")
    at = visit("methods")
    by_brier = list(numbers_by_method(at))
    values = [float(numbers_by_method(at)[name][1]) for name in by_brier]
    assert values == sorted(values)
    choose(at, "sort", "method")
    assert list(numbers_by_method(at)) == ["Stated confidence", "Confidence in the file"]
    assert len(made) == 1


def test_a_link_keeps_the_answer_that_every_method_is_judged_by(data: Path, visit: Visit) -> None:
    """Every second greedy answer is wrong while the majority of the samples is right."""
    made = [
        {
            "id": f"q{at}",
            "gold": "7",
            "prediction": "78"[at % 2],
            "samples": ["7", "7", "9"],
            "confidence": 0.8,
        }
        for at in range(40)
    ]
    write_jsonl(data / "ten.jsonl", made)
    at = choose(visit("methods"), "judged", "majority")
    assert screens.address(at)["judged"] == "majority"
    assert "scored on the majority answer" in page_text(at)
    assert "scored on the greedy answer" not in page_text(at)
    assert table_html(visit("methods", **screens.address(at)))[0] == table_html(at)[0]
    assert "judged" not in screens.address(choose(at, "judged", "own"))
    write_jsonl(data / "more.jsonl", made)
    at = visit("methods", methods="given", judged="majority")
    (way,) = [node for node in screens.walk(at.main) if getattr(node, "type", "") == "page_link"]
    assert "judged=majority" in way.proto.query_string


def test_a_question_without_a_readable_sample(data: Path, visit: Visit) -> None:
    made = samples(30)
    for row in made[:4]:
        row["samples"] = ["no", "idea"]
    write_jsonl(data / "ten.jsonl", [{**row, "answer_kind": "number"} for row in made])
    at = visit("methods")
    assert "<span>n 26</span>" in table_html(at)[0]
    before = numbers_by_method(at)["Self-consistency, F_CS"]
    choose(at, "unanswered", "wrong")
    assert "n 30<" in table_html(at)[0]
    assert "scored on the majority answer" in page_text(at)
    assert "no sample parses = confidence 0 and wrong (4 rows)" in page_text(at)
    assert numbers_by_method(at)["Self-consistency, F_CS"] != before


def test_the_published_table_is_labelled_and_whole(two_runs: Path, visit: Visit) -> None:
    assert two_runs.is_file()
    at = visit("methods")
    published = rows(table_html(at)[1])
    assert published[3] == [
        "Logit w/ Path",
        "0.394",
        "0.399",
        "0.414",
        "0.414",
        "0.178",
        "0.265",
        "0.233",
        "0.252",
    ]
    assert published[-1] == [
        "Self-consistency, F_PC",
        "0.052",
        "0.220",
        "0.065",
        "0.219",
        "0.143",
        "0.203",
        "0.054",
        "0.174",
    ]
    text = page_text(at)
    assert "Published table: other models and data, not computed here" in text
    assert "N = 16 samples (temperature 0.6 for the pretrained models, 1.0 for the instruct models)" in text


def test_the_page_opens_on_two_data_sets_with_the_paper_s_methods(data: Path, visit: Visit) -> None:
    """Three of four have all six methods; the first two of these are shown, one block each."""
    of_paper = {"p_true": 0.5, "path_mean_prob": 0.7, "answer_mean_prob": 0.8, "prediction": "7"}
    made = [{**row, "model": "red", "dataset": "plain"} for row in samples(40)]
    for dataset in ("first", "second", "third"):
        made += [{**row, **of_paper, "model": "red", "dataset": dataset} for row in samples(40)]
    write_jsonl(data / "sampled.jsonl", made)
    at = visit("methods")
    assert [row[0] for row in rows(table_html(at)[0]) if row[0] in ("first", "second", "third")] == [
        "first",
        "second",
    ]
    assert screens.address(at) == {}
    choose(at, "datasets_shown", ["third"])
    assert screens.address(at) == {"datasets": "third", "dataset": "third"}
    assert [row[0] for row in rows(table_html(at)[0])][2] == "third"
    carried = visit("methods", dataset="plain")
    assert [row[0] for row in rows(table_html(carried)[0])][2] == "plain"
    assert len(table_html(visit("methods", dataset="*"))) == 2
    assert len(screens.unmet_link_warnings(visit("methods", dataset="none"), "dataset", "none")) == 1


def test_confidences_that_are_missing_from_wrong_answers_are_told(data: Path, visit: Visit) -> None:
    made: list[dict[str, Any]] = quiz(200, model="red", dataset="sums")
    for row in [row for row in made if not row["correct"]][:30]:
        row["verbal_confidence"] = ""
    write_csv(data / "quiz.csv", made)
    (caveat,) = [one.value for one in visit("methods").caption if "have no confidence" in one.value]
    assert (
        "By stated confidence in red, 30 of 200 rows have no confidence and are right less often"
        in screens.plain(caveat)
    )


def test_no_common_row_says_what_is_wrong(data: Path, visit: Visit) -> None:
    made: list[dict[str, Any]] = quiz(40)
    for at, row in enumerate(made):
        row["confidence" if at % 2 else "verbal_confidence"] = ""
    write_csv(data / "quiz.csv", made)
    text = page_text(visit("methods"))
    assert "No row of this run can be used by every method shown." in text


def test_what_a_run_cannot_give_is_reported(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("methods", dataset="*")
    assert "Not shown (" in page_text(at)
    assert any("–" in row for row in rows(table_html(at)[0]))


def test_an_empty_folder_has_the_usual_message(data: Path, visit: Visit) -> None:
    assert data.is_dir()
    assert "The data folder has no prediction files" in page_text(visit("methods"))


def test_names_of_a_file_are_text(data: Path, visit: Visit) -> None:
    hostile = '<img src=http://calib.invalid/b.png> <a href="http://calib.invalid">a</a>'
    write_csv(data / "quiz.csv", quiz(40, model=hostile, dataset=hostile))
    own = table_html(visit("methods"))[0]
    assert "<img" not in own
    assert "<a " not in own
    assert hostile in unescape(own)


def test_the_page_alone_shows_the_same(two_runs: Path, visit: Visit) -> None:
    assert two_runs.is_file()
    assert table_html(screens.open_single_page("methods", {"m": "5"})) == table_html(visit("methods", m="5"))


def test_a_single_run_without_parsed_samples_keeps_its_rows(data: Path, visit: Visit) -> None:
    made = [
        {**row, "samples": ["no", "idea"], "answer_kind": "number", "confidence": 0.5, "correct": 1}
        for row in samples(12)
    ]
    write_jsonl(data / "silent.jsonl", made)
    at = visit("methods")
    assert list(numbers_by_method(at)) == ["Confidence in the file"]
    choose(at, "unanswered", "wrong")
    found = numbers_by_method(at)
    assert {name for name in found if name.startswith("Self-consistency")} == {
        "Self-consistency, F_CN",
        "Self-consistency, F_CS",
        "Self-consistency, F_PC",
    }
    assert found["Self-consistency, F_CS"][:2] == ["0.0000†", "0.0000"]
    assert "no sample parses = confidence 0 and wrong (12 rows)" in page_text(at)
    choose(at, "methods_shown", ["cluster_size"])
    assert list(numbers_by_method(at)) == ["Self-consistency, F_CS"]


def test_the_paper_is_judged_on_these_runs(data: Path, visit: Visit) -> None:
    write_jsonl(data / "sampled.jsonl", [{**row, "p_true": 0.5, "dataset": "gsm8k"} for row in samples(60)])
    at = visit("methods")
    text = page_text(at)
    assert "Your runs beside the paper" in text
    assert (
        "Published: one of F_CN, F_CS and F_PC has the lowest Brier score, in all 8 columns. Here: " in text
    )
    assert "no run here is of multiple choice" in text
    shown = screens.table(at, "Number", "Mistral-7B (paper)").set_index("Number")
    (own,) = (name for name in shown.columns if name.endswith(" − paper"))
    wanted = score(load(data / "sampled.jsonl")[0], method="cluster_size", metric="brier").value
    assert wanted is not None
    assert shown[own.removesuffix(" − paper")]["Brier, F_CS"] == wanted
    assert shown[own]["Brier, F_CS"] == wanted - 0.185
    mixtral = screens.table(visit("methods", paper="3"), "Number", "Mistral-7B (paper)").set_index("Number")
    assert mixtral[own]["Brier, F_CS"] == wanted - 0.156


def test_f_cn_on_multiple_choice_says_how_few_values_it_has(data: Path, visit: Visit) -> None:
    row = {"choices": ["2", "3", "5"], "gold_index": 0, "samples": ["2", "2", "3", "5", "2", "2", "2", "2"]}
    write_jsonl(data / "choice.jsonl", [{"id": f"q{at}", **row} for at in range(40)])
    note = "F_CN says little on multiple choice: 3 options and 8 samples leave it 3 values, 0.625 to 0.875"
    assert note in page_text(visit("methods"))
    (data / "choice.jsonl").unlink()
    write_jsonl(data / "open.jsonl", samples(40))
    assert "multiple choice: 3" not in page_text(visit("methods"))
