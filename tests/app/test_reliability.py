"""The page Reliability shows the numbers of the core and the questions of the bin."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import calib_core
import screens
from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.metrics import METRICS
from calib_core.results.evidence import Evidence, bins_all_classes, gather_evidence
from calib_core.results.score import score as score_of
from core.oracle import OF_RANKS, OF_SCALES
from predictions import choices, quiz, samples, write_csv, write_jsonl
from screens import ShowFolder, Visit, address, choose, figure, page_text, run, table, targets, tiles
from token_files import positions, write_npz

QUESTION = ("question", "confidence", "right")


def format_value(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}".replace("-", "−")


@pytest.fixture(scope="module")
def of_choices(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Evidence]:
    """A folder with one file of choices, and what a method makes of it."""
    folder = tmp_path_factory.mktemp("choices")
    (run,) = calib_core.load(write_jsonl(folder / "four.jsonl", choices(90)))
    return folder, gather_evidence(run, "choice_softmax")


@pytest.mark.parametrize("metric", [id_ for id_ in METRICS if id_ not in (*OF_SCALES, *OF_RANKS)])
@pytest.mark.parametrize("m", [1, 7, 20])
def test_the_tiles_are_the_scores(
    metric: str, m: int, of_choices: tuple[Path, Evidence], show_folder: ShowFolder, visit: Visit
) -> None:
    folder, evidence = of_choices
    show_folder(folder)
    at = visit("reliability", metric=metric, m=str(m))

    def score(id_: str) -> float | None:
        return score_of(evidence, id_, Scheme("width", m), with_remark=False).value

    accuracy, brier = score("accuracy"), score("brier")
    assert accuracy is not None
    chosen = at.metric[0]
    in_one_bin = metric == "full_ece" and m == 1
    shown = "0" if in_one_bin else format_value(score(metric))
    assert (screens.plain(chosen.label), chosen.value) == (METRICS[metric].title, shown)
    assert (screens.plain(chosen.delta) == "one bin: says nothing") == in_one_bin
    assert tiles(at)["Brier score"] == format_value(brier)
    assert tiles(at)["Rows used / total"] == "90 / 90"
    if not bins_all_classes(METRICS[metric]):
        assert f"right {100 * accuracy:.1f} % of the time" in screens.plain(at.header[0].value)


@pytest.mark.parametrize("binning", ["width", "mass", "natural"])
def test_the_table_and_the_bars_are_the_bins(binning: str, data: Path, visit: Visit) -> None:
    rows = quiz(400)
    write_csv(data / "quiz.csv", rows)
    at = visit("reliability", method="verbal", binning=binning, m="15")
    sums = BinSums.from_pairs([row["verbal_confidence"] for row in rows], [row["correct"] for row in rows])
    expected = sums.table(15, binning)  # type: ignore[arg-type]
    bins = table(at, "Bin", "Gap")
    assert bins["n"].tolist() == expected["count"].to_list()
    said, right = (100 * expected[name] for name in ("confidence", "accuracy"))
    assert bins["Confidence"].tolist() == pytest.approx(said.to_list(), abs=1e-10)
    assert bins["Accuracy"].tolist() == pytest.approx(right.to_list(), abs=1e-10)
    gap = (expected["confidence"] - expected["accuracy"]).to_list()
    assert bins["Gap"].tolist() == pytest.approx(gap, abs=1e-12)
    assert targets(at) == list(zip(expected["bin"], expected["count"], strict=True))


def test_the_recipe_says_how(data: Path, visit: Visit) -> None:
    rows = quiz(100)
    rows[3]["confidence"] = ""
    write_csv(data / "quiz.csv", rows)
    at = visit("reliability", method="given", m="7", binning="mass")
    (loaded,) = calib_core.load(data / "quiz.csv")
    number = calib_core.score(loaded, method="given", metric="ece", bins=7, binning="mass")
    assert at.text[0].value == number.recipe
    assert "n=99/100" in number.recipe
    assert tiles(at)["Rows used / total"] == "99 / 100"


def test_logarithmic_counts_change_the_lower_panel_alone(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(300))
    at = visit("reliability")
    before, numbers = figure(at, "reliability"), tiles(at)
    after = figure(screens.choose(at, "_log", value=True), "reliability")
    assert (before["layout"]["yaxis2"].get("type"), after["layout"]["yaxis2"]["type"]) == (None, "log")
    assert (before["data"], before["layout"]["yaxis"]) == (after["data"], after["layout"]["yaxis"])
    assert tiles(at) == numbers
    assert figure(visit("reliability", **screens.address(at)), "reliability") == after


def test_the_questions_of_a_bin(data: Path, visit: Visit) -> None:
    rows = quiz(300)
    write_csv(data / "quiz.csv", rows)
    at = visit("reliability", method="given", bin="9")
    inside = [row for row in rows if 0.8 < row["confidence"] <= 0.9]
    found = table(at, *QUESTION)
    assert found["id"].tolist() == [row["id"] for row in inside]
    assert found["confidence"].tolist() == [row["confidence"] for row in inside]
    assert found["right"].tolist() == [("wrong", "right")[row["correct"]] for row in inside]
    assert found["gold"].tolist() == [row["gold"] for row in inside]
    assert len(found) == table(at, "Bin", "Gap").set_index("Bin")["n"]["(0.8, 0.9]"]
    assert "(0.8, 0.9]" in page_text(at)


def test_a_search_narrows_and_can_find_nothing(data: Path, visit: Visit) -> None:
    rows = quiz(300)
    write_csv(data / "quiz.csv", rows)
    at = visit("reliability", method="given", bin="9")
    screens.choose(at, "search", " IS 11")
    wanted = [row["id"] for row in rows if 0.8 < row["confidence"] <= 0.9 and "is 11" in row["question"]]
    assert 0 < len(wanted) < 20
    assert table(at, *QUESTION)["id"].tolist() == wanted
    screens.choose(at, "search", "nowhere (.*) to be found")
    assert table(at, *QUESTION).empty
    screens.choose(at, "search", "")
    assert len(table(at, *QUESTION)) == sum(0.8 < row["confidence"] <= 0.9 for row in rows)


def test_the_first_thousand_are_shown(data: Path, visit: Visit) -> None:
    rows = [{**row, "confidence": 0.7} for row in quiz(1200)]
    write_csv(data / "quiz.csv", rows)
    at = visit("reliability", method="given", bin="7")
    assert table(at, *QUESTION)["id"].tolist() == [row["id"] for row in rows[:1000]]
    assert "1,200" in page_text(at)
    assert "1,000" in page_text(at)


def test_closing_the_questions_takes_the_bin_out_of_the_address(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(300))
    at = visit("reliability", method="given", bin="9")
    at.button(key="close_bin").click()
    run(at)
    assert screens.address(at) == {"method": "given"}
    assert screens.tables(at, *QUESTION) == []


@pytest.mark.parametrize("bin_", ["99", "0", "-1", "x", "9.0", "9" * 30, "9" * 5000, "٩٩"])
def test_a_missing_bin_lists_nothing(bin_: str, data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(60))
    assert screens.tables(visit("reliability", bin=bin_), *QUESTION) == []


def test_all_labels_pool_every_choice(data: Path, visit: Visit) -> None:
    (loaded,) = calib_core.load(write_jsonl(data / "four.jsonl", choices(90)))
    at = visit("reliability", labels="all")
    number = calib_core.score(loaded, method="choice_softmax", metric="ece", labels="all")
    assert tiles(at)["ECE"] == format_value(number.value)
    assert sum(count for _, count in targets(at)) == 360
    assert tiles(at)["Rows used / total"] == "90 / 90"


def test_samples_that_do_not_parse_can_be_left_out_of_n(data: Path, visit: Visit) -> None:
    write_jsonl(data / "ten.jsonl", samples())
    own, dropped = visit("reliability"), visit("reliability", unparseable="drop")
    assert tiles(own)["ECE"] != tiles(dropped)["ECE"]
    assert own.text[0].value != dropped.text[0].value


def test_a_share_can_be_counted_on_samples_that_did_not_choose_the_answer(data: Path, visit: Visit) -> None:
    (loaded,) = calib_core.load(write_jsonl(data / "ten.jsonl", samples()))
    at = choose(visit("reliability"), "held_out", "yes")
    number = calib_core.score(loaded, method="cluster_size", metric="ece", held_out=True)
    assert number.value != calib_core.score(loaded, method="cluster_size", metric="ece").value
    assert (tiles(at)["ECE"], at.text[0].value) == (format_value(number.value), number.recipe)
    assert address(at)["held_out"] == "yes"
    choose(at, "held_out", "no")
    assert "held_out" not in address(at)


def test_a_run_with_outcomes_of_its_majority_only_says_why_nothing_is_held_out(
    data: Path, visit: Visit
) -> None:
    rows = [{"sample_cluster": [0, 0, 1], "correct_majority": at % 2} for at in range(40)]
    write_jsonl(data / "open.jsonl", rows)
    at = visit("reliability", held_out="yes")
    assert "sample_correct, whether each sample is right, is missing" in page_text(at)


def test_rows_that_are_all_right_have_no_auroc(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", [{**row, "correct": 1} for row in quiz(40)])
    assert tiles(visit("reliability", method="given", metric="auroc"))["AUROC"] == "–"


def test_the_page_alone_shows_the_same(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(80))
    alone = screens.open_single_page("reliability", {"method": "given", "m": "20"})
    whole = visit("reliability", method="given", m="20")
    assert tiles(alone) == tiles(whole)
    assert figure(alone, "reliability") == figure(whole, "reliability")


def test_one_row_is_enough_to_be_shown(data: Path, visit: Visit) -> None:
    (data / "one.csv").write_text("confidence,correct\n0.25,0\n")
    at = visit("reliability")
    assert tiles(at)["ECE"] == "0.2500"
    assert targets(at) == [(3, 1)]


def test_the_isotonic_view_shows_the_parts_of_the_brier_score(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(300))
    (loaded,) = calib_core.load(data / "quiz.csv")
    at = visit("reliability", method="given")
    before = tiles(at)
    screens.choose(at, "_view", value="isotonic")
    assert screens.address(at) == {"method": "given", "view": "isotonic"}
    after = tiles(at)
    for part in ("miscalibration", "discrimination", "uncertainty"):
        value = calib_core.score(loaded, method="given", metric=f"brier_{part}").value
        assert after.pop(part.capitalize()) == format_value(value)
    assert after == before
    assert {trace.get("name") for trace in figure(at, "corp")["data"]} >= {"isotonic fit"}
    rows = table(at, "Bin", "Gap")
    assert rows["n"].sum() == 300
    assert rows["Accuracy"].is_monotonic_increasing
    assert "Over-confident: recalibration would lower" in page_text(at)
    again = visit("reliability", **screens.address(at))
    assert figure(again, "corp") == figure(at, "corp")
    screens.choose(again, "_view", value="bins")
    assert screens.address(again) == {"method": "given"}
    assert figure(again, "reliability")


def test_the_smooth_view_shows_the_smooth_ece(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(300))
    (loaded,) = calib_core.load(data / "quiz.csv")
    at = visit("reliability", method="given", view="smooth")
    value = calib_core.score(loaded, method="given", metric="smooth_ece").value
    assert tiles(at)["Smooth ECE"] == format_value(value)
    line = next(one for one in figure(at, "smooth")["data"] if one.get("name") == "smoothed accuracy")
    assert len(line["x"]) == 513


def test_a_view_that_is_not_there_is_said_and_bins_are_shown(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(60))
    at = visit("reliability", view="*splines*")
    assert "\\*splines\\*" in at.warning[0].value
    assert figure(at, "reliability")


def test_a_text_has_no_view_without_bins_and_says_why(data: Path, visit: Visit) -> None:
    write_npz(data / "text.npz", positions(), model="text")
    at = visit("reliability", view="isotonic")
    assert "needs the single confidence of each row" in at.warning[0].value
    assert "Isotonic and smooth views are not available" in page_text(at)
    assert figure(at, "reliability")


def test_the_questions_of_a_bin_can_be_the_wrong_ones_alone(data: Path, visit: Visit) -> None:
    rows = quiz(300)
    write_csv(data / "quiz.csv", rows)
    at = visit("reliability", method="given", bin="9")
    inside = [row for row in rows if 0.8 < row["confidence"] <= 0.9]
    right = [row["id"] for row in inside if row["correct"]]
    wrong = [row["id"] for row in inside if not row["correct"]]
    assert len(right) != len(wrong)
    labels = screens.control(at, "_outcome").options
    assert list(labels) == [f"All {len(inside)}", f"Right {len(right)}", f"Wrong {len(wrong)}"]
    screens.choose(at, "_outcome", "wrong")
    assert table(at, *QUESTION)["id"].tolist() == wrong
    assert screens.address(at) == {"method": "given", "bin": "9", "outcome": "wrong"}
    assert f"{len(wrong)} of {len(inside)} rows" in page_text(at)
    assert table(visit("reliability", **screens.address(at)), *QUESTION)["id"].tolist() == wrong
    at.button(key="close_bin").click()
    assert screens.address(run(at)) == {"method": "given"}
    assert (
        table(visit("reliability", method="given", bin="9", outcome="right"), *QUESTION)["id"].tolist()
        == right
    )


def test_the_replications_reading_is_one_click_away(data: Path, visit: Visit) -> None:
    path = write_jsonl(data / "four.jsonl", choices(90))
    at = visit("reliability", m="20", binning="mass", metric="brier", bin="3")
    (button,) = [button for button in at.button if button.label == "As in the MMLU replication"]
    button.click()
    run(at)
    assert screens.address(at) == {"method": "choice_length_normalised", "labels": "all", "renormalise": "no"}
    (loaded,) = calib_core.load(path)
    number = calib_core.score(
        loaded, method="choice_length_normalised", metric="ece", labels="all", renormalise=False
    )
    assert tiles(at)["ECE"] == format_value(number.value)
    assert at.text[0].value == number.recipe
    assert "not renormalised" in number.recipe


def test_the_replications_reading_is_disabled_without_choices(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(60))
    assert visit("reliability").button(key="mmlu").disabled


def test_cw_ece_is_shown_class_by_class(data: Path, visit: Visit) -> None:
    (loaded,) = calib_core.load(write_npz(data / "text.npz", positions(300), model="gpt", dataset="plays"))
    at = visit("reliability", metric="cw_ece")
    number = calib_core.score(loaded, method="tokens", metric="cw_ece").value
    assert number is not None
    classes = table(at, "Class", "class-k-ECE")
    assert classes["class-k-ECE"].is_monotonic_decreasing
    assert classes["class-k-ECE"].mean() == pytest.approx(number, abs=1e-12)
    assert f"Reliability of {classes['Class'][0]}" in page_text(at)
    assert figure(at, "class")["layout"]["xaxis"]["type"] == "log"
    third = classes["Class"][2]
    chosen = visit("reliability", metric="cw_ece", **{"class": third.removeprefix("token ")})
    assert f"Reliability of {third}" in page_text(chosen)
    wrong = visit("reliability", metric="cw_ece", **{"class": "60"})
    assert f"Reliability of {classes['Class'][0]}" in page_text(wrong)
    assert any("60" in warning.value for warning in wrong.warning)


def test_a_vocabulary_s_diagram_is_logarithmic_until_switched(data: Path, visit: Visit) -> None:
    write_npz(data / "text.npz", positions(300), model="gpt", dataset="plays")
    at = visit("reliability", metric="full_ece")
    assert figure(at, "reliability")["layout"]["xaxis"]["type"] == "log"
    linear = figure(screens.choose(at, "_logx", value=False), "reliability")
    assert linear["layout"]["xaxis"].get("type") is None
    assert linear["layout"]["yaxis2"]["type"] == "log"
    assert screens.address(at)["logx"] == "0"


def test_a_vocabulary_in_one_bin_is_no_0_by_chance(data: Path, visit: Visit) -> None:
    probs, target = positions(300)
    flat = (probs + 1) / (probs + 1).sum(axis=1, keepdims=True)
    assert flat.max() < 0.2
    write_npz(data / "text.npz", (flat.astype("float32"), target), model="gpt", dataset="plays")
    at = visit("reliability", metric="full_ece", m="5")
    assert tiles(at)["Full-ECE"] != "0.0000"
    assert screens.plain(at.metric[0].delta) == "one bin: says nothing"
    assert "fall into one bin, 0–20 % [0, 0.2]" in page_text(at)


def test_the_table_beside_the_figure_leaves_out_what_is_said_twice(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("reliability", run="red", method="verbal")
    (bins,) = [table for table in at.dataframe if str(table.key).startswith("bins_")]
    hidden = {name for name, config in json.loads(bins.proto.columns).items() if config.get("hidden")}
    assert hidden - {"_index"} == {"Bin", "95 %"}
    assert hidden - {"_index"} < {*bins.value.columns}  # the table's menu shows them, and files have them


def test_the_largest_part_of_the_gap_fills_its_room(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("reliability", run="red", method="verbal")
    (bins,) = [table for table in at.dataframe if str(table.key).startswith("bins_")]
    column = json.loads(bins.proto.columns)["Part of gap"]["type_config"]
    assert column["type"] == "progress"
    assert column["max_value"] == pytest.approx(bins.value["Part of gap"].max())
    assert 0 < column["max_value"] < 100
