"""The page Files: what each file is, what became of its rows, and what is wrong with it."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path

import pytest

import screens
from calib_core.methods import METHODS
from predictions import choices, quiz, write_csv, write_jsonl
from screens import Visit, page_text, table, tables


def test_one_line_per_file(data: Path, visit: Visit) -> None:
    write_csv(data / "good.csv", [*quiz(40, model="red"), *quiz(50, model="blue")])
    (data / "deeper").mkdir()
    write_jsonl(data / "deeper" / "four.jsonl", choices(30))
    write_csv(data / "bad.csv", [{"confidence": 1.5, "correct": 1}, {"confidence": 0.5, "correct": 0}])
    (data / "colours.csv").write_text("colour,size\nred,1\n")
    (data / "README.md").write_text("passed over")
    (data / ".hidden.csv").write_text("passed over")
    shown = table(visit("files"), "File", "State").set_index("File")
    assert sorted(shown.index) == ["bad.csv", "colours.csv", "deeper/four.jsonl", "good.csv"]
    assert shown["Rows"][["good.csv", "deeper/four.jsonl", "bad.csv"]].tolist() == [90, 30, 2]
    assert shown["Runs"][["good.csv", "deeper/four.jsonl"]].tolist() == [2, 1]
    assert shown["Bad rows"]["bad.csv"] == 1
    assert "From" not in shown.columns
    states = shown["State"]
    assert states["good.csv"] == states["deeper/four.jsonl"] == "loaded"
    assert len({states["good.csv"], states["bad.csv"], states["colours.csv"]}) == 3


def test_every_method_with_its_rows_or_its_reason(data: Path, visit: Visit) -> None:
    rows = quiz(100)
    for row in rows[:7]:
        row["verbal_confidence"] = ""
    for row in rows[5:9]:
        row["correct"] = row["gold"] = row["prediction"] = ""
    write_csv(data / "quiz.csv", rows)
    at = visit("files")
    shown = table(at, "Method", "Rows used").set_index("Method")
    assert shown["Rows used"]["Stated confidence"] == 91
    assert shown["Missing"]["Stated confidence"] == 9
    assert shown["Why"]["Stated confidence"] == "7 empty confidence; 2 no stored outcome"
    assert shown["Rows used"]["Confidence in the file"] == 96
    assert len(shown) == 2
    (others,) = (block for block in at.expander if "Unavailable methods" in block.label)
    needed = screens.plain(others.caption[0].value).split("\n")
    assert len(needed) == len(METHODS) - 2
    assert str(len(needed)) in others.label
    assert {line.split(":")[0].strip() for line in needed} == {
        method.heading for method in METHODS.values() if method.heading not in shown.index
    }


def test_many_rows_at_one_value_are_pointed_out(data: Path, visit: Visit) -> None:
    rows = [
        {**row, "confidence": 0.9 if number < 60 else row["confidence"] * 0.999}
        for number, row in enumerate(quiz(200))
    ]
    write_csv(data / "quiz.csv", rows)
    shown = table(visit("files"), "Method", "Rows used").set_index("Method")
    assert shown["Many rows at one value"]["Confidence in the file"] == "60 at 0.9"


def test_values_moved_onto_the_edge_are_counted(data: Path, visit: Visit) -> None:
    rows = [{"confidence": value, "correct": 1} for value in (1.0000000001, 1.0000002, 0.4)]
    write_jsonl(data / "over.jsonl", rows)
    assert "2 values of confidence clipped" in page_text(visit("files"))


def test_bad_rows_with_their_place_and_what_to_do(data: Path, visit: Visit) -> None:
    lines = [f'{{"id": "q{n}", "confidence": {1.5 if n % 2 else 0.5}, "correct": 1}}' for n in range(50)]
    (data / "half.jsonl").write_text("\n".join(lines) + "\n")
    at = visit("files")
    shown = table(at, "Row", "Found")
    assert shown["Row"].tolist() == shown["Line"].tolist() == list(range(2, 42, 2))
    assert set(shown["Column"]) == {"confidence"}
    assert set(shown["Found"]) == {"1.5"}
    text = page_text(at)
    assert re.search(r"Expected: .{5,}\n.*What to do: .{5,}", screens.plain(text))  # once, not in each line
    assert "25 of 50" in text


def test_what_differs_between_bad_rows_stands_with_each(data: Path, visit: Visit) -> None:
    values = [(2, -0.5), (0.5, 0.5), (0.25, -0.5)]
    write_jsonl(
        data / "odd.jsonl",
        [{"confidence": value, "path_logprobs": [logprob], "correct": 1} for value, logprob in values],
    )
    shown = table(visit("files"), "Row", "Found")
    assert shown["Column"].tolist() == ["confidence", "path_logprobs"]
    assert shown["Expected"].nunique() == 2


def test_kinds_of_trouble_are_distinguished(data: Path, visit: Visit) -> None:
    lines = ["id,confidence,correct", "a,0.5,1", "b,N/A,1", "c,0.5,maybe", "d,0.4,0,extra", "a,0.6,1"]
    (data / "mixed.csv").write_text("\n".join(lines) + "\n")
    rows = [row for frame in tables(visit("files"), "Row", "Found") for row in frame["Row"].tolist()]
    assert set(rows) >= {2, 3, 4, 5}


def test_a_refused_file_says_what_to_do(data: Path, visit: Visit) -> None:
    (data / "colours.csv").write_text("colour,size\nred,1\nblue,2\n")
    (data / "nothing.jsonl").write_text("")
    at = visit("files")
    messages = "\n".join(screens.plain(error.value) for error in at.error)
    assert len(at.error) == 2
    assert "colours.csv" in messages
    assert "colour" in messages
    assert "nothing.jsonl" in messages
    assert str(data) not in messages


MESSAGES: dict[str, tuple[str, str]] = {
    "no column": ("colour,size\nred,1\n", "Say below what a column means."),
    "percent": (
        "id,confidence,correct\n" + "".join(f"{i},{50 + i},{i % 2}\n" for i in range(40)),
        "Say that it is in percent.",
    ),
    "ratings": (
        "id,confidence,correct\n" + "".join(f"{i},{1 + i % 10},{i % 2}\n" for i in range(40)),
        "Say that it is out of 10, if that is the top of its scale.",
    ),
    "logarithms": (
        "id,confidence,correct\n" + "".join(f"{i},-0.{1 + i},{i % 2}\n" for i in range(40)),
        "Accept it as natural logarithms where that is suggested.",
    ),
    "commas": (
        "id;confidence;correct\n" + "".join(f"{i};0,{11 + i};{i % 2}\n" for i in range(40)),
        "Accept that they are decimal commas where that is suggested.",
    ),
    "letters": (
        "gold,m1,m2,m3\n" + "".join(f"{a},{a},{b},B\nC,C,D,A\n" for a, b in product("ABCD", "ABC")),
        "sampled answers to the question, below.",
    ),
    "several places": (
        json.dumps(
            {"a": [{"confidence": 0.5, "correct": 1}] * 3, "b": [{"confidence": 0.5, "correct": 1}] * 3}
        ),
        "Say which are meant: “*” (6 rows), “a” (3 rows), “b” (3 rows).",
    ),
}
"""What a file holds, and what its message says on the page."""


@pytest.mark.parametrize("kind", MESSAGES)
def test_messages_name_controls_of_the_page_and_no_options(kind: str, data: Path, visit: Visit) -> None:
    text, said = MESSAGES[kind]
    (data / f"odd.{'json' if text.startswith('{') else 'csv'}").write_text(text)
    shown = page_text(visit("files"))
    assert said in shown
    assert " --" not in shown


def test_a_long_refusal_folds_away_what_each_method_would_need(data: Path, visit: Visit) -> None:
    write_csv(data / "sure.csv", [{"id": row["id"], "gold": row["gold"]} for row in quiz(10)])
    at = visit("files")
    (shown,) = (screens.plain(error.value) for error in at.error)
    assert "no row has both a confidence and an outcome" in shown
    assert "choice_logprobs" not in shown
    (folded,) = (block for block in at.expander if "Unavailable methods" in block.label)
    assert "choice_logprobs" in screens.plain(folded.caption[0].value)


def test_columns_that_are_not_read_are_named(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", [{**row, "weather": "fine"} for row in quiz(10)])
    assert "weather" in page_text(visit("files"))


def test_a_run_a_block(data: Path, visit: Visit) -> None:
    write_csv(data / "two.csv", [*quiz(40, model="red"), *quiz(50, model="blue")])
    at = visit("files")
    text = page_text(at)
    assert "red" in text
    assert "blue" in text
    assert [frame["Rows used"].max() for frame in tables(at, "Method", "Rows used")] == [40, 50]


def test_lists_in_cells_of_a_csv(data: Path, visit: Visit) -> None:
    write_csv(data / "four.csv", choices(30))
    shown = table(visit("files"), "Method", "Rows used").set_index("Method")
    assert shown["Rows used"]["Logit, softmax over the choices"] == 30


def test_the_page_alone_shows_the_same(data: Path, visit: Visit) -> None:
    (data / "one.jsonl").write_text(json.dumps({"confidence": 0.5, "correct": 1}) + "\n")
    alone, whole = screens.open_single_page("files", {}), visit("files")
    assert table(alone, "File", "State").equals(table(whole, "File", "State"))


def test_files_that_need_a_decision_come_first(data: Path, visit: Visit) -> None:
    for number in range(31):
        write_csv(data / f"good{number:02}.csv", quiz(5))
    (data / "zz.csv").write_text("colour,size\nred,1\n")
    at = visit("files")
    assert len(table(at, "File", "State")) == 32
    shown = table(at, "File", "State")
    assert shown["File"][0] == "zz.csv"
    assert "colour" in shown["Why"][0]
    assert shown["Why"][1:].isna().all()
    names = [screens.plain(block.label) for block in at.expander if "Unavailable methods" not in block.label]
    assert names == ["zz.csv"]
    assert "Click a row to see the whole file." in page_text(at)
    screens.click_row(at, "files", 1)
    names = [screens.plain(block.label) for block in screens.run(at).expander]
    assert names[0] == "good00.csv"


def test_a_row_that_is_clicked_while_its_file_goes_opens_no_other_file(data: Path, visit: Visit) -> None:
    for number in range(8):
        write_csv(data / f"good{number}.csv", quiz(5))
    at = visit("files")
    screens.click_row(at, "files", 1)
    assert next(screens.plain(block.label) for block in screens.run(at).expander) == "good1.csv"
    (data / "good1.csv").unlink()
    labels = [screens.plain(block.label) for block in screens.run(at).expander]
    assert "good2.csv" not in labels


def test_the_reason_is_shown_beside_a_file_that_is_not_loaded(data: Path, visit: Visit) -> None:
    write_csv(data / "good.csv", quiz(5))
    write_csv(data / "sure.csv", [{"id": row["id"], "gold": row["gold"]} for row in quiz(10)])
    write_csv(data / "bad.csv", [{"confidence": 1.5, "correct": 1}, {"confidence": 0.5, "correct": 0}])
    at = visit("files")
    shown = table(at, "File", "Why")
    assert shown["File"].tolist() == ["bad.csv", "sure.csv", "good.csv"]
    assert shown["Why"][0] == "1 of 2 rows is bad"
    assert shown["Why"][1].startswith("no column confidence")
    (refused,) = at.error
    assert "\n- no column confidence" in refused.value  # a list, not a hyphen


def test_two_names_that_make_one_key_are_two_files(data: Path, visit: Visit) -> None:
    write_csv(data / "a b.csv", quiz(20))
    write_csv(data / "a-b.csv", quiz(30))
    assert table(visit("files"), "File", "Rows")["Rows"].tolist() == [20, 30]


def test_a_file_without_a_right_answer_is_suspected_here_and_on_its_pages(data: Path, visit: Visit) -> None:
    write_csv(data / "none.csv", [row | {"correct": 0} for row in quiz(40)])
    for page in ("files", "reliability", "concentration", "robustness", "abstention"):
        (warning,) = [box.value for box in visit(page).warning if "Suspicious" in box.value]
        assert "none of 40 answers counts as right" in warning
