"""Which methods, metrics and options can be chosen for a run, and why the others cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

import calib_core
import screens
from calib_core.methods import METHODS
from predictions import write_csv
from screens import Visit, address, choose, control, tiles, unmet_link_warnings


def test_another_run_keeps_what_it_can_give(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("reliability", method="p_true", m="20", metric="mce")
    choose(at, "run", "red")
    assert (control(at, "method").value, control(at, "metric").value) == ("verbal", "mce")
    assert address(at) == {"run": "red", "m": "20", "metric": "mce"}
    assert unmet_link_warnings(at) == [], "nobody asked for the impossible"


def test_what_a_run_cannot_give_is_listed_with_its_reason(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("reliability", run="red")
    offered = set(control(at, "method").options)
    reasons = {screens.plain(caption.value) for caption in at.sidebar.caption}
    for method in METHODS.values():
        told = [reason for reason in reasons if reason.startswith(method.heading)]
        assert (method.heading in offered, len(told)) in ((True, 0), (False, 1)), method.title
    why = next(reason for reason in reasons if reason.startswith(METHODS["p_true"].heading))
    assert "p_true" in why


def test_natural_bins_are_offered_up_to_64_values(data: Path, visit: Visit) -> None:
    def rows(values: int) -> list[dict[str, float]]:
        return [{"confidence": number / 128, "correct": number % 2} for number in range(values)] * 2

    write_csv(data / "few.csv", rows(64))
    write_csv(data / "many.csv", rows(65))
    few, many = visit("reliability", run="few"), visit("reliability", run="many")
    assert (len(control(few, "binning").options), len(control(many, "binning").options)) == (3, 2)
    choose(few, "binning", "natural")
    assert len(screens.targets(few)) == 64
    assert control(few, "m_step").disabled
    assert control(few, "m_typed").disabled
    assert "64 values" in few.text[0].value
    choose(few, "run", "many")
    assert control(few, "binning").value == "width"
    assert not control(few, "m_step").disabled


def test_labels_and_renormalising_are_offered_where_they_mean_something(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()

    def keys(at: screens.AppTest) -> set[str]:
        return {str(getattr(node, "key", "")) for node in screens.walk(at.sidebar)}

    switches = {"labels", "renormalise", "unparseable", "held_out"}
    assert keys(visit("reliability")) & switches == {"labels"}
    normalised = visit("reliability", method="choice_length_normalised")
    assert keys(normalised) & switches == {"labels", "renormalise"}
    assert keys(visit("reliability", method="p_true")) & switches == {"renormalise"}
    assert keys(visit("reliability", run="ten")) & switches == {"unparseable", "held_out"}
    pairwise = visit("reliability", run="ten", method="pairwise")
    assert keys(pairwise) & switches == {"unparseable"}
    assert keys(visit("reliability", run="red")) & switches == set()


@pytest.mark.parametrize(("method", "own"), [("choice_length_normalised", "yes"), ("p_true", "no")])
def test_the_renormalise_switch_changes_the_number(method: str, own: str, folder: Path, visit: Visit) -> None:
    (loaded,) = calib_core.load(folder / "four.jsonl")
    at = visit("reliability", method=method)
    assert control(at, "renormalise").value == own
    for value in ("yes", "no"):
        choose(at, "renormalise", value)
        number = calib_core.score(loaded, method=method, metric="ece", renormalise=value == "yes")
        assert (at.metric[0].value, at.text[0].value) == (f"{number.value:.4f}", number.recipe)
        assert address(at) == {"method": method, **({"renormalise": value} if value != own else {})}


def test_a_switch_of_another_method_disappears(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = choose(visit("reliability", method="p_true"), "renormalise", "yes")
    choose(at, "method", "choice_length_normalised")
    fresh = visit("reliability", **address(at))
    assert tiles(at) == tiles(fresh)
    choose(at, "method", "choice_softmax")
    assert tiles(at) == tiles(visit("reliability"))


def test_full_ece_is_not_available_in_equal_mass_bins(folder: Path, visit: Visit) -> None:
    assert folder.is_dir()
    at = visit("reliability", metric="full_ece")
    assert control(at, "metric").value == "full_ece"
    offered = len(control(at, "metric").options)
    choose(at, "binning", "mass")
    assert control(at, "metric").value == "ece"
    assert len(control(at, "metric").options) < offered
    text = "\n".join(screens.plain(caption.value) for caption in at.sidebar.caption)
    assert "Full-ECE" in text
    assert "equal-width" in text
