"""The address and the sidebar hold the same choice on every page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import calib_core
import screens
from app_server import ROOT
from pages.state.url import URL_KEYS
from predictions import quiz, samples, write_csv, write_jsonl
from screens import Visit, address, choose, control, go, page_text, tiles, unmet_link_warnings


def test_a_link_sets_all_controls(folder: Path, visit: Visit) -> None:
    params = {"run": "green", "method": "given", "metric": "mce", "m": "17", "binning": "mass"}
    at = visit("reliability", **params)
    assert [control(at, key).value for key in ("run", "method", "metric", "binning")] == [
        "green",
        "given",
        "mce",
        "mass",
    ]
    assert control(at, "m_step").value == control(at, "m_typed").value == 17
    green = calib_core.load(folder / "quiz.csv")[1]
    number = calib_core.score(green, method="given", metric="mce", bins=17, binning="mass")
    assert at.metric[0].value == f"{number.value:.4f}"
    assert at.text[0].value == number.recipe
    assert address(at) == params


def test_what_is_chosen_goes_into_the_address(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("reliability")
    steps = [("run", "red"), ("method", "given"), ("metric", "ace"), ("binning", "mass"), ("m_step", 50)]
    for key, value in steps:
        choose(at, key, value)
    assert address(at) == {"run": "red", "method": "given", "metric": "ace", "binning": "mass", "m": "50"}
    assert tiles(visit("reliability", **address(at))) == tiles(at)


def test_defaults_stay_out_of_the_address(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("reliability", run="four", m="10", metric="ece", binning="width", labels="top")
    assert address(at) == {"run": "four"}, "a run that was chosen is carried along"
    choose(at, "m_step", 20)
    choose(at, "m_step", 10)
    assert address(at) == {"run": "four"}


def test_parameters_of_others_are_left_alone(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = choose(visit("reliability", lang="en"), "m_step", 20)
    assert address(at) == {"lang": "en", "m": "20"}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("run", "nobody"),
        ("method", "magic"),
        ("method", "given"),
        ("metric", "rouge"),
        ("m", "0"),
        ("m", "1001"),
        ("m", "ten"),
        ("m", "-5"),
        ("m", "10.0"),
        ("m", "९"),
        ("m", "9" * 5000),
        ("binning", "log"),
        ("binning", "natural"),
        ("labels", "some"),
        ("renormalise", "perhaps"),
        ("with", "magic"),
        ("with", "p_true,given"),
        ("with", "p_true,p_true,magic"),
    ],
)
def test_an_invalid_link_says_so_and_shows_the_rest(key: str, value: str, folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    page = "concentration" if key == "with" else "reliability"
    method = {"renormalise": {"method": "choice_length_normalised"}}.get(key, {})
    at = visit(page, **{**method, key: value})
    (message,) = unmet_link_warnings(at, key, value.rpartition(",")[2][:50])
    assert len(message) < 200
    assert address(at) == {**method, **({"with": "p_true"} if "p_true," in value else {})}
    assert tiles(at) == tiles(visit(page, **address(at)))
    screens.run(at)
    assert unmet_link_warnings(at) == [], "said once, when the link is opened"


def test_an_invalid_parameter_does_not_affect_the_rest(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("reliability", run="green", method="magic", m="20")
    assert address(at) == {"run": "green", "m": "20"}
    assert len(unmet_link_warnings(at, "method", "magic")) == 1


def test_a_valid_link_raises_no_warning(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("reliability", run="green", m="1000", binning="mass", metric="auroc")
    assert unmet_link_warnings(at) == []


@pytest.mark.parametrize("m", [1, 3, 10, 50, 777, 1000])
def test_the_slider_and_the_typed_number_are_one(m: int, folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = choose(visit("reliability"), "m_typed", m)
    assert control(at, "m_step").value == control(at, "m_typed").value == m
    assert f"M={m}," in at.text[0].value
    assert address(at) == ({} if m == 10 else {"m": str(m)})
    choose(at, "m_step", 15)
    assert control(at, "m_typed").value == 15
    assert "M=15," in at.text[0].value
    assert [int(option) for option in control(at, "m_step").options] == [5, 10, 15, 20, 50, 100, 200, 500]


def test_the_last_change_of_m_wins(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("reliability")
    for key, value in (("m_typed", 33), ("m_step", 100), ("m_typed", 34), ("m_typed", 35), ("m_step", 5)):
        choose(at, key, value)
        assert f"M={value}," in at.text[0].value


def test_of_two_quick_moves_the_second_wins_despite_a_late_address(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("reliability", run="green", method="given")
    moves = [("m_step", 20), ("m_step", 50), ("m_typed", 51), ("metric", "mce"), ("binning", "mass")]
    for key, value in moves:
        late = address(at)
        choose(at, key, value)
        at.query_params.clear()
        at.query_params.update(late)
    choose(at, "m_step", 100)
    expected = {"run": "green", "method": "given", "m": "100", "metric": "mce", "binning": "mass"}
    assert address(at) == expected
    assert at.text[0].value.startswith("MCE, equal mass, M=100")
    at.query_params.clear()
    screens.run(at)
    assert address(at) == {}, "a link to the page itself, with nothing moved, is a link"


def test_a_control_is_not_set_again_to_what_it_shows(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = choose(visit("reliability"), "m_step", 20)
    assert not control(at, "m_step").proto.set_value, "it would undo the key pressed since"
    assert not control(at, "run").proto.set_value


def test_a_late_browser_value_is_not_taken_as_typed(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("reliability", run="green", method="given", m="5")
    before = control(at, "m_typed").key, control(at, "m_step").key
    choose(at, "m_step", 15)
    assert control(at, "m_typed").key != before[0], "another control: what the old one held is nobody's"
    assert control(at, "m_step").key == before[1], "the same one: the focus stays on it"
    step = control(at, "m_step").key
    choose(at, "m_typed", 40)
    assert control(at, "m_step").key != step


def test_the_choice_goes_along_to_other_pages_and_back(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("reliability", run="green", method="given", metric="mce")
    choose(at, "m_typed", 37)
    kept, numbers = address(at), tiles(at)
    for page in ("concentration", "files", "start", "reliability"):
        at = go(at, page)
        assert address(at) == kept, page
    assert tiles(at) == numbers
    assert tiles(screens.run(at)) == numbers
    at = go(at, "concentration")
    assert control(at, "m_typed").value == 37
    assert control(at, "run").value == "green"
    assert "M=37" in at.text[0].value


def test_a_choice_made_on_one_page_is_made_on_all(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = choose(visit("concentration"), "m_step", 200)
    assert "M=200" in go(at, "reliability").text[0].value


def test_the_default_of_one_page_is_not_carried_to_another(data: Path, visit: Visit) -> None:
    """Sampling opens with the Brier score, Reliability with the ECE; only a choice goes along."""
    write_jsonl(data / "sampled.jsonl", samples())
    at = visit("sampling")
    assert control(at, "metric").value == "brier"
    at = go(at, "reliability")
    assert control(at, "metric").value == "ece"
    assert "metric" not in address(at)
    at = choose(go(at, "sampling"), "metric", "accuracy")
    assert control(go(at, "reliability"), "metric").value == "accuracy"


def test_another_m_closes_the_bin(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    for key, value in (
        ("m_step", 20),
        ("m_typed", 11),
        ("binning", "mass"),
        ("method", "p_true"),
        ("run", "red"),
        ("metric", "mce"),
    ):
        at = visit("reliability", bin="6")
        assert "Questions in" in page_text(at)
        choose(at, key, value)
        assert "bin" not in address(at), key
        assert "Questions in" not in page_text(at)


def test_the_bin_stays_when_nothing_of_it_changes(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = choose(visit("reliability", bin="6"), "_log", value=True)
    assert address(at) == {"bin": "6", "log": "1"}
    at = go(go(at, "concentration"), "reliability")
    assert address(at) == {"bin": "6", "log": "1"}
    assert "Questions in" in page_text(at)


def test_every_key_of_the_address_is_asked_for_somewhere() -> None:
    """An unused key would be carried from page to page for nothing."""
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "pages").rglob("*.py"))
    source += (ROOT / "app.py").read_text(encoding="utf-8")
    named = {key for key in URL_KEYS if len(re.findall(rf'"{key}"', source)) > 1}
    assert named == set(URL_KEYS)


def test_used_rows_have_the_same_name_everywhere() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "pages").rglob("*.py"))
    assert re.findall(r'"[Uu]sed / total', source) == []


@pytest.mark.parametrize("page", screens.SCRIPTS)
def test_every_control_says_what_it_does(page: str, everything: Path, visit: Visit) -> None:
    assert everything.is_dir()
    at = visit(page)
    boxes = [
        *at.selectbox,
        *at.multiselect,
        *at.toggle,
        *at.text_input,
        *at.number_input,
        *at.select_slider,
        *at.get("button_group"),
    ]
    shown = [box for box in boxes if box.proto.label_visibility.value == 0]
    assert [box.proto.label for box in shown if not box.proto.help] == []


def test_a_long_name_is_read_below_its_box(data: Path, visit: Visit) -> None:
    name = "a model whose name is longer than the box is wide [v2]"
    write_csv(data / "quiz.csv", [*quiz(50, model=name), *quiz(50, seed=6, model="short")])
    for page in ("reliability", "abstention"):
        at = visit(page, run=control(visit(page), "run").value)
        below = [screens.plain(caption.value) for caption in at.sidebar.caption]
        assert f"{name}: 50 rows, quiz.csv" in below
        short = choose(at, "run", "short")
        assert "50 rows, quiz.csv" in [screens.plain(caption.value) for caption in short.sidebar.caption]


def test_a_run_that_a_page_cannot_show_is_kept_for_the_others(everything: Path, visit: Visit) -> None:
    assert everything.is_dir()
    at = choose(visit("reliability"), "run", "gpt · plays · step400")
    chosen = address(at)["run"]
    assert "step400" in chosen
    for page in ("abstention", "sampling"):
        at = go(at, page)
        assert "The run chosen before" in page_text(at)
        assert "step400" in page_text(at)
        assert "run" not in address(at)
    assert "The run chosen before" in page_text(screens.run(at)), "it stays as long as it holds"
    at = go(at, "reliability")
    assert address(at)["run"] == chosen
    assert "The run chosen before" not in page_text(at)
    at = choose(go(at, "abstention"), "run", "red")
    assert "The run chosen before" not in page_text(at)
    assert control(go(at, "reliability"), "run").value == "red"


def test_pages_of_several_runs_say_that_they_cannot_show_the_one_chosen(
    everything: Path, visit: Visit
) -> None:
    assert everything.is_dir()
    for run, page in (("red", "training"), ("gpt · plays · step400", "groups")):
        at = choose(visit("reliability"), "run", run)
        chosen = address(at)["run"]
        at = go(at, page)
        said = f"The run chosen before, {run}, has nothing to show on this page."
        assert said in page_text(at)
        assert address(at)["run"] == chosen
        assert "chosen before" not in page_text(go(at, "comparison")), "it shows every run"
    at = go(choose(visit("reliability"), "run", "gpt · plays · step400"), "training")
    assert "chosen before" not in page_text(at)


def test_a_method_that_was_a_runs_default_does_not_stick_to_the_next_run(data: Path, visit: Visit) -> None:
    rows = [{**row, "p_true": row["confidence"]} for row in quiz(60)]
    write_csv(data / "two.csv", [{**row, "model": model} for row in rows for model in ("two", "three")])
    only = [{key: row[key] for key in ("correct", "p_true")} | {"model": "one"} for row in rows]
    write_csv(data / "one.csv", [*only, *only])  # more rows: the page begins with it
    at = visit("reliability")
    first = control(at, "method").value
    at = choose(at, "run", "two")
    assert control(at, "method").value != first
    assert "method" not in address(at)
    at = choose(at, "method", first)
    assert address(choose(at, "run", "three"))["method"] == first, "one that was chosen is kept"
