"""Column mappings on the page Files: applied, saved and deleted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from streamlit.testing.v1.element_tree import PageLink

import screens
from calib_core.readers.table.columns import COLUMN_JUDGES
from pages.widgets.column_mapping import COLUMN_MEANINGS
from predictions import choices, quiz, samples, write_csv, write_jsonl
from screens import AppTest, Visit, choose, control, go, page_text, table, tiles

NAMES = {"confidence": "how sure", "correct": "was right", "id": "nr"}


def renamed_rows(rows: int, **more: str) -> list[dict[str, Any]]:
    """Rows whose column names are unknown to the program."""
    return [{NAMES[name]: row[name] for name in NAMES} | more for row in quiz(rows)]


def apply_mapping(at: AppTest, key: str, columns: dict[str, str]) -> AppTest:
    """Opens the controls, chooses these columns and their names, and applies."""
    if not control(at, f"reread_{key}").value:
        choose(at, f"reread_{key}", value=True)
    picker = next(picker for picker in at.multiselect if picker.key == f"columns_{key}")
    picker.set_value(list(columns))
    screens.run(at)
    for column, name in columns.items():
        next(box for box in at.selectbox if screens.plain(box.label) == column).set_value(name)
    screens.run(at)
    at.button(key=f"apply_{key}").click()
    return screens.run(at)


def file_states(at: AppTest) -> dict[str, str]:
    shown = table(at, "File", "State").set_index("File")["State"]
    return {str(name): str(value) for name, value in shown.items()}


def test_every_name_is_offered_with_its_meaning() -> None:
    assert COLUMN_MEANINGS.keys() == COLUMN_JUDGES.keys()


def test_a_mapping_is_applied_saved_and_deleted(data: Path, visit: Visit, tmp_path: Path) -> None:
    write_csv(data / "own.csv", renamed_rows(80))
    before = (data / "own.csv").read_bytes()
    at = visit("files")
    assert file_states(at) == {"own.csv": "confirm the columns"}
    at = apply_mapping(at, "own.csv", {"how sure": "confidence", "was right": "correct"})
    assert file_states(at) == {"own.csv": "loaded"}
    assert all(text in page_text(at) for text in ("saved on this machine", "how sure as confidence"))
    assert [block.proto.expanded for block in at.expander if "own" in block.label] == [True]
    again = visit("reliability")
    assert tiles(again)["Rows used / total"] == "80 / 80"
    at = go(again, "files")
    at.button(key="forget_own.csv").click()
    assert file_states(screens.run(at)) == {"own.csv": "confirm the columns"}
    assert "saved on this machine" not in page_text(at)
    assert list((tmp_path / "cache" / "calib" / "wishes").iterdir()) == []
    assert [path.name for path in data.iterdir()] == ["own.csv"]
    assert (data / "own.csv").read_bytes() == before


def test_one_click_applies_to_all_files_with_the_same_columns(data: Path, visit: Visit) -> None:
    """Of many files with the same question the first is open; one with other columns is separate."""
    rows = [{"conf": row["confidence"], "is_correct": row["correct"]} for row in quiz(40)]
    for name in "abcd":
        write_csv(data / f"{name}.csv", rows)
    write_csv(data / "other.csv", [row | {"extra": "x"} for row in rows])
    at = visit("files")
    opened = [screens.plain(block.label) for block in at.expander if block.proto.expanded]
    assert opened == ["a.csv"]
    assert not control(at, "reread_a.csv").value  # what is proposed needs no controls
    choose(at, "reread_a.csv", value=True)
    at.button(key="apply_all_a.csv").click()
    loaded = dict.fromkeys(["a.csv", "b.csv", "c.csv", "d.csv"], "loaded")
    assert file_states(screens.run(at)) == {**loaded, "other.csv": "confirm the columns"}


def test_a_proposal_is_shown_and_one_click_away(data: Path, visit: Visit) -> None:
    rows = [{"conf": row["confidence"], "is_correct": row["correct"]} for row in quiz(40)]
    write_csv(data / "likely.csv", rows)
    at = visit("files")
    assert file_states(at) == {"likely.csv": "confirm the columns"}
    (asked,) = (screens.plain(warning.value) for warning in at.warning)
    assert "--map" not in asked
    assert "'conf', 'is_correct'" in asked
    folded = [block.proto.expanded for block in at.expander if block.label == "Why it is not loaded as it is"]
    assert folded == [False], "what may be read comes before what was missed"
    assert not at.error
    taken_for = {box.label: box.value for box in at.selectbox}
    assert taken_for == {
        "Confidence": "conf",
        "How confidence is read": "confidence",
        "Right or wrong": "is_correct",
        "How right or wrong is read": "correct",
    }
    assert "40 rows · accuracy 40.0 % · mean confidence 68.3 %" in screens.plain(page_text(at))
    at.button(key="accept_likely.csv").click()
    at = screens.run(at)
    assert [title.value for title in at.title] == ["Reliability"]
    assert tiles(at)["Rows used / total"] == "40 / 40"
    assert file_states(go(at, "files")) == {"likely.csv": "loaded"}


def test_the_rows_of_several_places_are_one_click_away(data: Path, visit: Visit) -> None:
    rows = [{"conf": row["confidence"], "is_correct": row["correct"]} for row in quiz(40)]
    history = [{"step": 1, "loss": 0.5}, {"step": 2, "loss": 0.25}]
    (data / "nested.json").write_text(json.dumps({"history": history, "records": rows}))
    at = visit("files")
    shown = screens.plain(page_text(at))
    assert "Rows at records: conf as confidence, is_correct as correct." in shown
    assert "40 rows · accuracy 40.0 % · mean confidence 68.3 %" in shown
    at.button(key="accept_nested.json").click()
    at = screens.run(at)
    assert tiles(at)["Rows used / total"] == "40 / 40"
    assert file_states(go(at, "files")) == {"nested.json": "loaded"}


def test_a_suggestion_with_an_outcome_of_each_sample_needs_no_other_column(data: Path, visit: Visit) -> None:
    rows = [
        {
            "idx": 900 + row,
            "ys": [f"({row} + 4) * {sample % 3} = 24" for sample in range(8)],
            "infos": [{"r": int(sample % 3 == row % 5)} for sample in range(8)],
        }
        for row in range(40)
    ]
    (data / "games.json").write_text(json.dumps(rows))
    at = visit("files")
    assert "infos.r as sample_correct" in screens.plain(page_text(at))
    assert not at.button(key="accept_games.json").disabled
    at.button(key="accept_games.json").click()
    assert tiles(screens.run(at))["Rows used / total"] == "40 / 40"


def test_one_click_accepts_what_is_proposed_for_every_file(data: Path, visit: Visit) -> None:
    """Files of other columns have proposals of their own."""
    rows = [{"conf": row["confidence"], "is_correct": row["correct"]} for row in quiz(40)]
    write_csv(data / "a.csv", rows)
    write_csv(data / "b.csv", [{"prob": row["conf"], "hit": row["is_correct"]} for row in rows])
    write_csv(data / "c.csv", [{f"{name}-{key}": row[key] for name in ("small", "large") for key in row}
                               for row in rows])  # fmt: skip
    write_csv(data / "fine.csv", quiz(40))
    write_csv(data / "notes.csv", [{"remark": "x"}])
    at = visit("files")
    assert "3 files can be loaded once you accept their column mappings" in page_text(at)
    at.button(key="accept_all").click()
    at = screens.run(at)
    states = file_states(at)
    assert [states[name] for name in ("a.csv", "b.csv", "c.csv", "fine.csv")] == ["loaded"] * 4
    assert states["notes.csv"] == "refused"
    assert "6 runs" not in page_text(at)
    assert "5 runs" in page_text(at)
    assert not [button for button in at.button if button.key == "accept_all"]


def test_one_click_accepts_what_the_forms_show(data: Path, visit: Visit) -> None:
    """A changed column and an answered question count; what is still to be chosen leaves its file out."""
    rows = [
        {"conf": row["confidence"], "half": row["confidence"] / 2, "hit": row["correct"], "note": "x"}
        for row in quiz(40)
    ]
    for name in ("as-proposed", "changed", "spoilt"):
        write_csv(data / f"{name}.csv", rows)
    write_csv(data / "asked.csv", [{"certainty": row["conf"], "likelihood": row["half"], "right": row["hit"]}
                                   for row in rows])  # fmt: skip
    at = visit("files")
    assert at.button(key="accept_all").label == "Accept all 3 files"
    choose(at, "role_changed.csv_0_confidence", "half")
    choose(at, "reading_asked.csv", 1)
    at = choose(at, "role_spoilt.csv_0_confidence", "note")
    assert at.button(key="accept_all").label == "Accept all 3 files"
    at.button(key="accept_all").click()
    states = file_states(screens.run(at))
    assert states.pop("spoilt.csv") == "confirm the columns"
    assert set(states.values()) == {"loaded"}
    confidences = table(visit("start"), "run", "mean_confidence").set_index("run")["mean_confidence"]
    assert confidences.round(1).to_dict() == {"as-proposed": 68.3, "asked": 34.1, "changed": 34.1}


def test_what_a_suggestion_comes_to_is_what_its_diagram_says(data: Path, visit: Visit) -> None:
    """By the method with which the diagram opens, not by the first of several; and bad rows are named."""
    rows = [{"path_mean_prob": 0.25, "conf": row["confidence"], "hit": row["correct"]} for row in quiz(40)]
    write_csv(data / "two.csv", [*rows, {**rows[0], "conf": "often"}])
    at = visit("files")
    assert "41 rows, 1 of them bad · accuracy 40.0 % · mean confidence 68.3 %" in screens.plain(page_text(at))
    assert table(at, "File", "Why")["Why"].tolist() == ["would give accuracy 40.0 %, mean confidence 68.3 %"]
    at.button(key="accept_two.csv").click()
    at = screens.run(at)
    assert "1 of 41 rows is bad. Calib loads the file once you decide." in page_text(at)
    at.button(key="load_two.csv").click()
    at = go(screens.run(at), "reliability")
    assert "states 68.3 % on average and is right 40.0 %" in page_text(at)


def test_a_proposal_can_be_changed(data: Path, visit: Visit) -> None:
    rows = [{"conf": row["confidence"], "is_correct": row["correct"], "c2": 0.25} for row in quiz(40)]
    write_csv(data / "likely.csv", rows)
    at = apply_mapping(visit("files"), "likely.csv", {"is_correct": "correct", "c2": "confidence"})
    shown = table(at, "Method", "Many rows at one value")
    assert shown["Many rows at one value"][0] == "40 at 0.25"
    assert "conf as" not in page_text(at)


def test_of_equally_likely_columns_none_is_chosen(data: Path, visit: Visit) -> None:
    rows = [
        {"certainty": row["confidence"], "likelihood": row["confidence"] / 2, "right": row["correct"]}
        for row in quiz(40)
    ]
    write_csv(data / "two.csv", rows)
    write_csv(data / "one.csv", [{"conf": row["certainty"], "hit": row["right"]} for row in rows])
    write_csv(data / "other.csv", [{"prob": row["certainty"], "hit": row["right"]} for row in rows])
    at = visit("files")
    assert table(at, "File", "Why").set_index("File")["Why"]["two.csv"] == (
        "2 column mappings are equally likely"
    )
    at.button(key="accept_all").click()
    at = screens.run(at)
    assert file_states(at) == {"two.csv": "confirm the columns", "one.csv": "loaded", "other.csv": "loaded"}
    assert at.button(key="accept_two.csv").disabled
    at = choose(at, "reading_two.csv", 1)
    assert [box.value for box in at.selectbox][:3:2] == ["likelihood", "right"]
    at.button(key="accept_two.csv").click()
    assert "states 34.1 % on average" in page_text(screens.run(at))


def test_what_a_column_was_taken_for_can_be_changed(data: Path, visit: Visit) -> None:
    """What another choice comes to is shown, or why it cannot be read, before it is accepted."""
    rows = [
        {"sure": row["confidence"], "stars": number % 5 + 1, "note": "x", "was right": row["correct"]}
        for number, row in enumerate(quiz(40))
    ]
    write_csv(data / "own.csv", rows)
    at = visit("files")
    assert "from its name and values from" in screens.plain(page_text(at))
    assert "mean confidence 68.3 %" in screens.plain(page_text(at))
    at = choose(at, "role_own.csv_0_confidence", "stars")
    assert at.button(key="accept_own.csv").disabled
    form = next(box for box in at.selectbox if box.label == "How confidence is read")
    assert form.options == ["0 to 1", "in percent", "out of 10", "out of 5", "1 − x", "100 − x"]
    at = choose(at, str(form.key), "confidence/100")
    assert "mean confidence 3.0 %" in screens.plain(page_text(at))
    at.button(key="accept_own.csv").click()
    assert "states 3.0 % on average" in page_text(screens.run(at))


def test_on_which_scale_ratings_are_is_asked_and_can_be_answered(data: Path, visit: Visit) -> None:
    rows = [{"confidence": number % 11, "correct": number % 2} for number in range(44)]
    write_csv(data / "ratings.csv", rows)
    at = visit("files")
    shown = screens.plain(page_text(at))
    assert "from 0 to 10, but nothing says on which scale. Use this reading only if you know" in shown
    assert "Choose how confidence is read." in shown
    assert not at.radio, "there is no other reading to choose"
    assert at.button(key="accept_ratings.csv").disabled
    form = next(box for box in at.selectbox if box.label == "How confidence is read")
    assert form.value is None
    assert form.options[:3] == ["out of 10", "0 to 1", "in percent"]
    at = choose(at, str(form.key), "confidence/10")
    assert "accuracy 50.0 % · mean confidence 50.0 %" in screens.plain(page_text(at))
    at.button(key="accept_ratings.csv").click()
    assert "states 50.0 % on average" in page_text(screens.run(at))


def test_a_rating_needs_a_person(data: Path, visit: Visit) -> None:
    rows = [{"rating": number % 5 + 1, "correct": number % 2} for number in range(40)]
    at = upload(visit("files"), "stars.csv", rows)
    assert data.exists()
    assert control(at, "role_uploaded--stars.csv_0_confidence").value is None
    assert at.button(key="accept_uploaded--stars.csv").disabled
    at = choose(at, "role_uploaded--stars.csv_0_confidence", "rating")
    assert at.button(key="accept_uploaded--stars.csv").disabled, "on which scale, nobody has said"
    form = next(box for box in at.selectbox if box.label == "How confidence is read")
    at = choose(at, str(form.key), "confidence/5")
    at.button(key="accept_uploaded--stars.csv").click()
    assert "states 60.0 % on average" in page_text(screens.run(at))


@pytest.mark.parametrize("name", ["![x](http://calib.invalid/a.png)", "<b>sure</b>", ":red[sure] $y$"])
def test_headings_and_cells_of_a_dropped_file_are_shown_as_text(name: str, data: Path, visit: Visit) -> None:
    name = f"{name} confidence"
    rows = [{name: row["confidence"], "right?": row["correct"], "note": name} for row in quiz(40)]
    at = upload(visit("files"), f"{name.replace('/', '')}.csv", rows)
    assert data.exists()
    preview = next(frame.value for frame in at.dataframe if "note" in frame.value.columns)
    assert preview["note"].tolist() == [name] * 5
    assert list(preview.columns) == [name, "right?", "note"]
    assert [box.value for box in at.selectbox][:3:2] == [name, "right?"]
    at = choose(
        at, next(str(box.key) for box in at.selectbox if box.label == "How confidence is read"), "confidence"
    )
    assert not [text for text in (*at.markdown, *at.caption) if name in text.value]


def test_a_file_that_needs_nothing_has_a_link_to_its_diagram(data: Path, visit: Visit) -> None:
    assert data.exists()
    at = upload(visit("files"), "ready.csv", quiz(40))
    assert "ready.csv is loaded: 40 rows · accuracy 40.0 %" in screens.plain(page_text(at))
    links = [node for node in screens.walk(at.main) if isinstance(node, PageLink)]
    assert [link.proto.query_string for link in links if "reliability diagram" in link.value] == [
        "run=uploaded--ready"
    ]
    assert not [button for button in at.button if str(button.key).startswith("accept_")]


def upload(at: AppTest, name: str, rows: list[dict[str, Any]]) -> AppTest:
    """Drops a file on the page Files."""
    text = pl.DataFrame(rows).write_csv()
    at.file_uploader[0].set_value([(name, text.encode(), "text/csv")])
    return screens.run(at)


def test_a_column_can_be_left_out(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(60))
    at = apply_mapping(visit("files"), "quiz.csv", {"verbal_confidence": "left out"})
    shown = table(at, "Method", "Rows used").set_index("Method")
    assert shown["Rows used"].count() == 1
    assert "verbal_confidence left out" in page_text(at)


def test_parts_of_a_list_at_once(data: Path, visit: Visit) -> None:
    rows = [
        {"which": number, "gold": number % 3, "one": number % 3, "two": number % 2, "three": number % 3}
        for number in range(30)
    ]
    write_csv(data / "votes.csv", rows)
    at = visit("files")
    assert control(at, "reread_votes.csv").value  # nothing comes of it unless a person says something
    at.multiselect(key="columns_votes.csv").set_value(["which", "one", "two", "three"])
    screens.run(at)
    choose(at, "as_votes.csv_0", "id")
    choose(at, "all_votes.csv", "samples")
    assert control(at, "all_votes.csv").value is None
    at.button(key="apply_votes.csv").click()
    at = screens.run(at)
    assert file_states(at) == {"votes.csv": "loaded"}
    assert "which as id, one, two, three as samples" in page_text(at)
    shown = table(at, "Method", "Rows used").set_index("Method")["Rows used"].dropna()
    assert set(shown) == {30}


def test_choices_with_a_column_each_are_read_in_the_order_of_their_letters(data: Path, visit: Visit) -> None:
    """The columns lie D, C, B, A in the file; each answer with 0.7 is right."""
    letters = "ABCD"
    rows = [
        {f"lik_{letter}": 0.7 if letter == letters[number % 4] else 0.1 for letter in "DCBA"}
        | {"gold": letters[number % 4]}
        for number in range(40)
    ]
    write_csv(data / "letters.csv", rows)
    at = visit("files")
    at.multiselect(key="columns_letters.csv").set_value([f"lik_{letter}" for letter in "DCBA"])
    screens.run(at)
    choose(at, "all_letters.csv", "choice_probs")
    at.button(key="apply_letters.csv").click()
    at = screens.run(at)
    assert file_states(at) == {"letters.csv": "loaded"}
    assert "choice_probs is the list of 'lik_A', 'lik_B', 'lik_C', 'lik_D', in this order." in page_text(at)
    there = visit("reliability")
    assert "right 100.0 % of the time" in page_text(there)
    assert "choices in the order A, B, C, D" in page_text(there)


def test_the_order_of_a_list_can_be_chosen(data: Path, visit: Visit) -> None:
    """The probabilities were written under the wrong letters: what is called lik_A is that of D."""
    rows = [
        {"gold": "AD"[number % 2], "lik_A": 0.1, "lik_B": 0.2, "lik_C": 0.1, "lik_D": 0.6}
        for number in range(40)
    ]
    write_csv(data / "letters.csv", rows)
    names = [f"lik_{letter}" for letter in "ABCD"]
    at = choose(visit("files"), "reread_letters.csv", value=True)
    at.multiselect(key="columns_letters.csv").set_value(names)
    at = choose(screens.run(at), "all_letters.csv", "choice_probs")

    def order_control() -> Any:
        return next(picker for picker in at.multiselect if picker.label == "Order of choice_probs")

    assert order_control().value == names
    order_control().set_value(["lik_D", "lik_B"])  # the others follow
    at = screens.run(at)
    at.button(key="apply_letters.csv").click()
    at = screens.run(at)
    assert "choice_probs is the list of 'lik_D', 'lik_B', 'lik_A', 'lik_C', in this order." in page_text(at)
    at = choose(at, "reread_letters.csv", value=True)
    assert order_control().value == ["lik_D", "lik_B", "lik_A", "lik_C"]


def test_a_confidence_in_percent_is_proposed_and_read_as_such(data: Path, visit: Visit) -> None:
    rows = [{"conf": 100 * float(row["confidence"]), "is_correct": row["correct"]} for row in quiz(40)]
    write_csv(data / "percent.csv", rows)
    at = visit("files")
    forms = {box.label: box.value for box in at.selectbox if box.label.startswith("How")}
    assert forms == {"How confidence is read": "confidence/100", "How right or wrong is read": "correct"}
    at.button(key="accept_percent.csv").click()
    assert file_states(go(screens.run(at), "files")) == {"percent.csv": "loaded"}
    write_csv(data / "share.csv", quiz(40))
    shown = [tiles(visit("reliability", run=run, method="given"))["ECE"] for run in ("percent", "share")]
    assert shown[0] == shown[1]


def test_files_without_ids_are_paired_once_their_rows_are_numbered(data: Path, visit: Visit) -> None:
    rows = [{name: row[name] for name in ("confidence", "correct")} for row in quiz(40)]
    for name in ("one", "two"):
        write_csv(data / f"{name}.csv", rows)
    assert "Row number as question id” on the page Files" in screens.plain(page_text(visit("comparison")))
    for name in ("one", "two"):
        at = choose(visit("files"), f"reread_{name}.csv", value=True)
        choose(at, f"row_numbers_{name}.csv", value=True)
        at.button(key=f"apply_{name}.csv").click()
        assert file_states(screens.run(at))[f"{name}.csv"] == "loaded"
    assert "row as id" in screens.plain(page_text(at))
    assert "cannot be paired" not in page_text(visit("comparison"))
    write_csv(data / "ids.csv", quiz(40))
    at = choose(visit("files"), "reread_ids.csv", value=True)
    assert "row_numbers_ids.csv" not in {switch.key for switch in at.toggle}


def test_two_columns_cannot_be_one_value(data: Path, visit: Visit) -> None:
    write_csv(data / "own.csv", renamed_rows(20))
    at = choose(visit("files"), "reread_own.csv", value=True)
    proposed = at.multiselect(key="columns_own.csv").value
    at.multiselect(key="columns_own.csv").set_value(["how sure", "was right"])
    screens.run(at)
    for box in at.selectbox:
        if str(box.key).startswith("as_own.csv"):
            box.set_value("confidence")
    screens.run(at)
    assert at.button(key="apply_own.csv").disabled
    assert "choose one of them" in "\n".join(screens.plain(warning.value) for warning in at.warning)
    at.button(key="reset_own.csv").click()
    screens.run(at)
    assert at.multiselect(key="columns_own.csv").value == proposed == ["how sure", "was right", "nr"]


def test_reset_brings_every_control_back(data: Path, visit: Visit) -> None:
    rows = [{"samples": row["samples"], "verbal_confidence": 0.5, "gold": row["gold"]} for row in samples(40)]
    write_jsonl(data / "own.jsonl", rows)
    at = choose(visit("files"), "reread_own.jsonl", value=True)
    for kind in ("row_numbers", "majority", "shape"):
        choose(at, f"{kind}_own.jsonl", value=True)
    texts = ("rows", "missing", "wide", "on", "gold_columns")
    for kind in texts:
        control(at, f"{kind}_own.jsonl").set_value("a=b")
    screens.run(at).button(key="reset_own.jsonl").click()
    screens.run(at)
    assert not any(control(at, f"{kind}_own.jsonl").value for kind in ("row_numbers", "majority", "shape"))
    choose(at, "shape_own.jsonl", value=True)
    assert [control(at, f"{kind}_own.jsonl").value for kind in texts] == [""] * 5


def test_reset_takes_back_which_reading_is_meant(data: Path, visit: Visit) -> None:
    rows = [
        {"certainty": row["confidence"], "likelihood": row["confidence"] / 2, "right": row["correct"]}
        for row in quiz(40)
    ]
    write_csv(data / "two.csv", rows)
    at = choose(visit("files"), "reading_two.csv", 1)
    choose(at, "reread_two.csv", value=True)
    at.button(key="reset_two.csv").click()
    assert screens.run(at).button(key="accept_two.csv").disabled
    assert control(at, "reading_two.csv").value is None


@pytest.mark.parametrize(("reading", "used"), [(0, "36 / 40"), (1, "40 / 40")])
def test_what_is_missing_is_that_of_the_reading_that_is_chosen(
    data: Path, visit: Visit, reading: int, used: str
) -> None:
    """Grades C were left out by the reading in which they are wrong, too."""
    rows = [{"confidence": row["confidence"], "grade": "A" if row["correct"] else "B"} for row in quiz(40)]
    for row in rows[::10]:
        row["grade"] = "C"
    write_csv(data / "graded.csv", rows)
    at = choose(visit("files"), "reading_graded.csv", reading)
    at.button(key="accept_graded.csv").click()
    assert tiles(screens.run(at))["Rows used / total"] == used


def test_values_without_an_outcome_are_missing_where_a_person_names_the_columns(
    data: Path, visit: Visit
) -> None:
    rows = [{"x1": row["confidence"], "outcome": "pass" if row["correct"] else "fail"} for row in quiz(40)]
    rows[3]["outcome"] = rows[30]["outcome"] = "invalid"
    at = upload(visit("files"), "own.csv", rows)
    assert data.exists()
    choose(at, "role_uploaded--own.csv_0_confidence", "x1")
    assert "Read as missing: invalid." in screens.plain(page_text(at))
    at.button(key="accept_uploaded--own.csv").click()
    assert tiles(screens.run(at))["Rows used / total"] == "38 / 40"


def test_a_mapping_does_not_apply_to_a_file_with_other_columns(data: Path, visit: Visit) -> None:
    write_csv(data / "own.csv", renamed_rows(20))
    apply_mapping(visit("files"), "own.csv", {"how sure": "confidence", "was right": "correct"})
    write_csv(data / "own.csv", renamed_rows(30, more="x"))
    at = visit("files")
    assert file_states(at) == {"own.csv": "refused"}
    assert "The columns of this file have changed" in "\n".join(warning.value for warning in at.warning)
    choose(at, "reread_own.csv", value=True)
    assert at.multiselect(key="columns_own.csv").value == ["how sure", "was right"]
    at.button(key="apply_own.csv").click()
    assert file_states(screens.run(at)) == {"own.csv": "loaded"}


def test_a_mapping_that_does_not_work_is_not_kept_and_can_be_corrected(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(40))
    at = apply_mapping(visit("files"), "quiz.csv", {"question": "confidence"})
    assert file_states(at) == {"quiz.csv": "loaded"}
    (error,) = (screens.plain(error.value) for error in at.error)
    assert error.startswith("Not applied: ")
    assert "'question'" in error
    assert "Your mapping" not in page_text(at)
    assert control(at, "as_quiz.csv").value == "confidence", "what was chosen is still there"
    at = apply_mapping(at, "quiz.csv", {"verbal_confidence": "confidence"})
    assert file_states(at) == {"quiz.csv": "loaded"}
    assert not at.error
    assert "verbal_confidence as confidence" in page_text(at)


def test_each_word_of_a_confidence_is_given_a_number(data: Path, visit: Visit) -> None:
    rows = [{"confidence": ("high", "low")[row["correct"]], "correct": row["correct"]} for row in quiz(40)]
    write_csv(data / "words.csv", rows)
    at = visit("files")
    assert file_states(at) == {"words.csv": "give each word a number"}
    assert "--map" not in page_text(at)
    assert [field.label for field in at.number_input] == ["“high” means", "“low” means"]
    at.number_input[0].set_value(0.9)
    at = screens.run(at)
    assert "Give each word of confidence a number from 0 to 1." in screens.plain(page_text(at))
    assert at.button(key="accept_words.csv").disabled
    at.number_input[1].set_value(0.25)
    at = screens.run(at)
    assert "40 rows · accuracy 40.0 % · mean confidence 64.0 %" in screens.plain(page_text(at))
    at.button(key="accept_words.csv").click()
    assert "states 64.0 % on average" in screens.plain(screens.run(at).header[0].value)


def test_a_format_can_be_named(data: Path, visit: Visit) -> None:
    (data / "odd.csv").write_text("colour,size\nred,1\n")
    at = choose(visit("files"), "reread_odd.csv", value=True)
    choose(at, "format_odd.csv", "npz")
    at.button(key="apply_odd.csv").click()
    at = screens.run(at)
    assert file_states(at) == {"odd.csv": "refused"}
    assert "read as" in page_text(at)
    at.button(key="forget_odd.csv").click()
    assert "colour" in "\n".join(screens.plain(error.value) for error in screens.run(at).error)


def test_a_mapping_of_an_upload_applies_only_to_its_session(data: Path, visit: Visit, tmp_path: Path) -> None:
    text = "".join(json.dumps(row) + "\n" for row in renamed_rows(40)).encode()
    assert data.exists()
    at = visit("files")
    at.file_uploader[0].set_value([("own.jsonl", text, "")])
    at = apply_mapping(
        screens.run(at), "uploaded--own.jsonl", {"how sure": "confidence", "was right": "correct"}
    )
    assert file_states(at) == {"own.jsonl": "loaded"}
    assert "saved for this session" in page_text(at)
    assert not (tmp_path / "cache").exists()


def test_a_cache_that_cannot_be_written_is_reported(data: Path, visit: Visit, tmp_path: Path) -> None:
    write_csv(data / "own.csv", renamed_rows(20))
    (tmp_path / "cache").write_text("in the way")
    at = apply_mapping(visit("files"), "own.csv", {"how sure": "confidence", "was right": "correct"})
    assert file_states(at) == {"own.csv": "confirm the columns"}
    assert "cannot be saved" in "\n".join(error.value for error in at.error).replace("\u2060", "")
    assert str(tmp_path) not in page_text(at)


@pytest.mark.parametrize("name", ["![x](http://calib.invalid/a.png)", "<b>a</b>", ":red[x] $y$"])
def test_a_column_is_shown_as_text(name: str, data: Path, visit: Visit) -> None:
    rows = [{name: row["confidence"], "correct": row["correct"]} for row in quiz(30)]
    write_jsonl(data / "own.jsonl", rows)
    at = apply_mapping(visit("files"), "own.jsonl", {name: "confidence"})
    assert f"{name} as confidence" in page_text(at)
    assert file_states(at) == {"own.jsonl": "loaded"}
    captions = "\n".join(caption.value for caption in at.caption)
    assert name not in captions


def test_the_recognition_is_explained(data: Path, visit: Visit) -> None:
    write_jsonl(data / "four.jsonl", choices(30))
    text = page_text(visit("files"))
    assert "Recognised as table (CSV, JSON lines, Parquet or Arrow) because it has rows and columns" in text


def fill(at: AppTest, key: str, **texts: str) -> AppTest:
    """Types into the controls of the file's shape, and applies."""
    choose(at, f"shape_{key}", value=True)
    for name, text in texts.items():
        box = next(box for box in (*at.text_input, *at.text_area) if box.key == f"{name}_{key}")
        box.set_value(text)
    screens.run(at)
    at.button(key=f"apply_{key}").click()
    return screens.run(at)


def test_systems_side_by_side_are_named_on_the_page(data: Path, visit: Visit) -> None:
    rows = [
        {"A-conf": row["confidence"], "A-ok": "yes", "B-conf": 0.5, "B-ok": "N/A" if number else "no"}
        for number, row in enumerate(quiz(30))
    ]
    write_csv(data / "wide.csv", rows)
    at = choose(visit("files"), "reread_wide.csv", value=True)
    at.multiselect(key="columns_wide.csv").set_value([])  # instead of the columns of one system
    at = fill(screens.run(at), "wide.csv", wide="*-conf = confidence\n*-ok = correct", missing="N/A")
    assert file_states(at) == {"wide.csv": "loaded"}
    assert "systems side by side: *-conf as confidence, *-ok as correct; N/A as missing" in page_text(at)
    assert tiles(visit("reliability", run="a"))["Rows used / total"] == "30 / 30"
    assert tiles(visit("reliability", run="b"))["Rows used / total"] == "1 / 30"


def test_rows_below_a_key_are_named_on_the_page(data: Path, visit: Visit) -> None:
    rows = quiz(20)
    (data / "log.json").write_text(json.dumps({"dev": rows[:5], "test": rows}, default=str))
    at = visit("files")
    assert file_states(at) == {"log.json": "confirm the columns"}, "both places can be read: a person chooses"
    if not control(at, "reread_log.json").value:
        choose(at, "reread_log.json", value=True)
    at = fill(at, "log.json", rows="test")
    assert file_states(at) == {"log.json": "loaded"}
    assert "rows at test" in page_text(at)
    assert tiles(visit("reliability", run="log"))["Rows used / total"] == "20 / 20"


def test_outcomes_from_a_second_table_on_any_column(data: Path, visit: Visit) -> None:
    rows = quiz(20)
    write_csv(data / "said.csv", [{"key": row["id"], "confidence": row["confidence"]} for row in rows])
    write_csv(data / "labels.csv", [{"item": row["id"], "correct": row["correct"]} for row in rows])
    at = visit("files")
    if not control(at, "reread_said.csv").value:
        choose(at, "reread_said.csv", value=True)
    control(at, "gold_said.csv").select_index(1)
    screens.run(at)
    at = fill(at, "said.csv", on="key=item")
    assert file_states(at)["said.csv"] == "loaded"
    assert "right answers from labels.csv, joined on key=item" in page_text(at)
    assert tiles(visit("reliability", run="said"))["Rows used / total"] == "20 / 20"
