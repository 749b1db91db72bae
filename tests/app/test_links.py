"""A link restores the choice in a fresh session, and the rest of it where a run is missing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

import screens
from pages.state.runs import slug
from pages.state.url import URL_KEYS
from pages.widgets import shell
from pages.widgets.pages import PAGES
from predictions import quiz, samples, write_csv, write_jsonl
from screens import SCRIPTS, Visit, address, choose, figure, page_text, tiles
from token_files import write_checkpoints

Steps = list[tuple[str, Any]]

BY_HAND: Final[dict[str, Steps]] = {
    "reliability": [
        ("run", "green-quiz"),
        ("method", "verbal"),
        ("m_step", 20),
        ("binning", "mass"),
        ("metric", "mce"),
        ("_log", True),
        ("lines_shown", ["green-quiz~verbal", "red-quiz~given"]),
    ],
    "concentration": [("run", "green-quiz"), ("beside", ["given"]), ("m_typed", 12)],
    "robustness": [
        ("run", "green-quiz"),
        ("beside_runs_shown", ["red-quiz"]),
        ("metrics_shown", ["ece", "mce"]),
        ("ms", "5, 9, 20"),
        ("ddof", "1"),
    ],
    "comparison": [("runs_shown", ["green-quiz"]), ("x", "bias"), ("y", "ece"), ("m_step", 15)],
    "abstention": [
        ("run", "green-quiz"),
        ("methods_shown", ["verbal"]),
        ("wanted", "0.6"),
        ("sure", "90 %"),
        ("threshold", "70 %"),
        ("second", "red-quiz"),
        ("cost", "1"),
        ("second_cost", "2.5"),
    ],
    "recalibrate": [
        ("run", "green-quiz"),
        ("method", "verbal"),
        ("map", "isotonic"),
        ("folds_typed", 3),
        ("seed_typed", 4),
    ],
    "sampling": [("run", "nine"), ("metric", "ece"), ("sizes", "2, 4"), ("seed_typed", 3), ("_place", 5)],
    "methods": [("runs_shown", ["green-quiz"]), ("sort", "method"), ("common", "own")],
    "groups": [
        ("method", "verbal"),
        ("runs_shown", ["green-quiz"]),
        ("metric", "brier"),
        ("sort", "name"),
        ("groups_shown", ["words"]),
    ],
    "training": [("metric", "ece"), ("also_shown", ["brier", "accuracy"]), ("m_step", 20)],
}
"""Page → controls and what a hand sets them to: the green run, or the samples nine, where a run is chosen."""

GONE: Final = {"sampling": "nine.jsonl", "training": "gpt-000400.npz"}
"""Page → the file that is taken away, else the green model's rows."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs for every page."""
    made = tmp_path_factory.mktemp("every-page")
    write_csv(made / "red.csv", quiz(90, model="red", dataset="quiz"))
    write_csv(made / "green.csv", quiz(80, seed=6, model="green", dataset="quiz"))
    write_jsonl(made / "ten.jsonl", samples(30))
    write_jsonl(made / "nine.jsonl", samples(25, seed=8))
    write_checkpoints(made)
    return made


@pytest.fixture
def runs_for_every_page(made: Path, data: Path) -> Path:
    """A folder with links to these files, which a test may take away."""
    for path in made.iterdir():
        os.link(path, data / path.name)
    return data


def main_content(at: AppTest) -> list[Any]:
    """Everything that a person sees of the page's main part."""
    charts = [figure(at, chart.key) for chart in at.get("plotly_chart") if chart.key]
    frames = [element.value.astype(object).fillna("").to_dict() for element in at.dataframe]
    return [page_text(at), tiles(at), charts, frames]


def choose_steps(at: AppTest, steps: Steps) -> AppTest:
    for key, value in steps:
        choose(at, key, value)
    return at


@pytest.mark.parametrize("page", list(BY_HAND))
def test_what_was_chosen_by_hand_is_shown_by_its_link_and_the_rest_where_a_run_is_gone(
    page: str, runs_for_every_page: Path, visit: Visit
) -> None:
    plain = visit(page)
    before = main_content(plain)
    at = choose_steps(plain, BY_HAND[page])
    chosen = main_content(at)
    assert before != chosen, "the choice changes nothing"
    again = visit(page, **address(at))
    assert main_content(again) == chosen
    assert address(again) == address(at)
    assert screens.unmet_link_warnings(again) == []
    copied = visit(page, **copied_choice(again))
    assert main_content(copied) == chosen, "the link to be copied is the same page"
    a_run_that_is_not_here_is_said_once(page, runs_for_every_page, visit, copied_choice(at))


def copied_choice(at: AppTest) -> dict[str, str]:
    link = screens.copied_link(at)
    return dict(parse_qsl(urlsplit(link).query))


def a_run_that_is_not_here_is_said_once(
    page: str, runs_for_every_page: Path, visit: Visit, link: dict[str, str]
) -> None:
    """A file is taken away: the link says that its run is not here, and shows the rest."""
    params = link | ({"at": "gpt-plays-step400"} if page == "training" else {})
    gone = next(runs_for_every_page.glob(GONE.get(page, "green.csv")), None)
    assert gone is not None, sorted(path.name for path in runs_for_every_page.iterdir())
    gone.unlink()
    there = visit(page, **params)
    (told,) = screens.unmet_link_warnings(there)
    assert {"sampling": "nine", "training": "gpt-plays-step400"}.get(page, "green-quiz") in told
    assert there.get("plotly_chart") or page == "methods"
    assert there.header[0].value
    assert screens.unmet_link_warnings(screens.run(there)) == [], "said once"
    assert main_content(there) == main_content(visit(page, **address(there)))


def test_several_missing_things_are_one_message(runs_for_every_page: Path, visit: Visit) -> None:
    assert runs_for_every_page.is_dir()
    at = visit("reliability", run="nobody", method="magic", metric="rouge", m="20")
    (told,) = screens.unmet_link_warnings(at)
    assert "run “nobody”, method “magic”, metric “rouge”, which are not available here" in told
    assert tiles(at)["ECE"]


@pytest.mark.parametrize(
    ("page", "key"), [("reliability", "bin"), ("robustness", "place"), ("sampling", "place")]
)
def test_a_missing_bin_or_question_is_reported_once(
    page: str, key: str, runs_for_every_page: Path, visit: Visit
) -> None:
    assert runs_for_every_page.is_dir()
    at = visit(page, **{key: "99999"})
    assert len(screens.unmet_link_warnings(at, key, "99999")) == 1
    assert key not in address(at)
    assert screens.unmet_link_warnings(screens.run(at)) == []


@pytest.mark.parametrize(("page", "key"), [("comparison", "at"), ("training", "at")])
def test_a_missing_point_is_reported_once(
    page: str, key: str, runs_for_every_page: Path, visit: Visit
) -> None:
    assert runs_for_every_page.is_dir()
    at = visit(page, **{key: "nobody:given"})
    assert len(screens.unmet_link_warnings(at, key, "nobody:given")) == 1
    assert key not in address(at)
    assert screens.unmet_link_warnings(screens.run(at)) == []


def test_a_point_of_another_page_is_not_requested(runs_for_every_page: Path, visit: Visit) -> None:
    assert runs_for_every_page.is_dir()
    at = screens.go(visit("comparison", at="green-quiz:given"), "training")
    assert screens.unmet_link_warnings(at) == []
    assert address(screens.go(at, "comparison"))["at"] == "green-quiz:given"


def test_what_is_looked_for_in_a_bin_is_in_the_link(runs_for_every_page: Path, visit: Visit) -> None:
    assert runs_for_every_page.is_dir()
    at = choose(visit("reliability", run="green-quiz", method="given", bin="8"), "search", "is 11")
    assert address(at)["search"] == "is 11"
    assert main_content(visit("reliability", **address(at))) == main_content(at)
    choose(at, "m_step", 20)
    assert not {"bin", "search"} & set(address(at))


def test_the_link_to_copy_is_the_page_s_own_choice_alone(runs_for_every_page: Path, visit: Visit) -> None:
    assert runs_for_every_page.is_dir()
    at = choose_steps(visit("robustness"), BY_HAND["robustness"])
    at = screens.go(at, "reliability")
    assert {"beside_runs", "metrics", "ms"} <= set(address(at))
    assert copied_choice(at) == {"run": "green-quiz", "method": "verbal"}


def test_every_page_has_the_control_and_every_key_its_page(
    runs_for_every_page: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that no page names as its own would be left out of every link to be copied."""
    assert runs_for_every_page.is_dir()
    picked = {key for page in PAGES.values() for key in page.body_keys}
    real: Callable[..., dict[str, str]] = shell.shared_values

    def noted(page: str, now: dict[str, str], own: set[str]) -> dict[str, str]:
        picked.update(own)
        return real(page, now, own)

    monkeypatch.setattr(shell, "shared_values", noted)
    for page in SCRIPTS:
        link = screens.copied_link(visit(page, run="green-quiz", method="verbal"))
        assert urlsplit(link).path == f"/{'' if page == 'start' else page}"
    rare = {"labels", "renormalise", "held_out", "good", "against", "cost", "second_cost", "judged", "demo"}
    rare |= {"passes", "named"}  # of the page Judge
    assert set(URL_KEYS) - picked <= rare


def test_a_link_is_short_enough_for_a_chat(data: Path, visit: Visit) -> None:
    """Twelve runs with the long names that runs have; everything chosen that can be."""
    models = [f"meta-llama/Llama-{of}-{size}b-chat-hf" for of in (2, 3) for size in (7, 13, 70)]
    runs = [(model, shots) for model in models for shots in (0, 5)]
    for number, (model, shots) in enumerate(runs):
        rows = quiz(40, seed=number, model=model, dataset="mmlu-pro", shots=str(shots))
        write_csv(data / f"{number}.csv", rows)
    chosen = [slug(f"{model} · mmlu-pro · {shots}-shot") for model, shots in runs][::2]
    bins: Steps = [("m_typed", 137), ("binning", "mass")]
    pages: dict[str, list[Steps]] = {
        "reliability": [
            [("lines_shown", [f"{id_}~given" for id_ in chosen]), ("metric", "mce"), *bins, ("_log", True)]
        ],
        "robustness": [
            [("beside_runs_shown", chosen[1:]), ("ms", "5, 10, 15, 20, 50, 100, 200"), ("ddof", "1")]
        ],
        "comparison": [[("runs_shown", chosen), ("x", "bias"), ("y", "mce")], bins],
        "groups": [[("runs_shown", chosen[:4]), ("metric", "mce"), ("sort", "name"), *bins]],
    }
    for page, changes in pages.items():
        at = visit(page)
        for together in changes:  # none changes what another offers
            for key, value in together:
                screens.control(at, key).set_value(value)
            screens.run(at)
        link = "https://calib.example.org" + screens.copied_link(at)
        assert len(link) < 300, (page, len(link), link)
        assert main_content(visit(page, **copied_choice(at))) == main_content(at)


@pytest.mark.parametrize("page", list(BY_HAND))
def test_a_control_begins_with_what_is_chosen_where_the_message_that_sets_it_is_lost(
    page: str, runs_for_every_page: Path, visit: Visit
) -> None:
    """Streamlit sends it once, and drops it if the script begins again before it is sent."""
    assert runs_for_every_page.is_dir()
    at = visit(page, **address(choose_steps(visit(page), BY_HAND[page])))
    sent = {key: sent_values(proto) for key, proto in controls(at).items() if proto.set_value}
    later = {key: proto for key, proto in controls(screens.run(at)).items() if key in sent}
    unsent = {key: default_values(proto) for key, proto in later.items() if not proto.set_value}
    assert len(unsent) >= 3
    assert unsent == {key: sent[key] for key in unsent}


def controls(at: AppTest) -> dict[str, Any]:
    """Key → message that draws the control."""
    nodes = (*screens.walk(at.sidebar), *screens.walk(at.main))
    return {str(node.key): node.proto for node in nodes if hasattr(getattr(node, "proto", None), "set_value")}


def sent_values(proto: Any) -> list[Any]:
    for name in ("raw_values", "raw_value"):
        if hasattr(proto, name):
            values = getattr(proto, name)
            return [values] if isinstance(values, str) else list(values)
    return [proto.value]


def default_values(proto: Any) -> list[Any]:
    if not hasattr(proto, "options"):
        return [proto.default]
    chosen = [proto.default] if isinstance(proto.default, int) else [int(index) for index in proto.default]
    return [getattr(option, "content", option) for option in (proto.options[index] for index in chosen)]
