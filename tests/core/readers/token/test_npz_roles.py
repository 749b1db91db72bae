"""Arrays are identified by their names, and ambiguous ones have to be named."""

from __future__ import annotations

from typing import Any

import pytest

from calib_core.errors import Refused
from calib_core.readers.token.arrays import StoredArray
from calib_core.readers.token.npz import TokenArrayNames, find_token_arrays


class Wide:
    """Replaces an array of which only the shape is used."""

    def __init__(self, classes: int) -> None:
        self.shape = (10, classes)


def find_names(*names: str, classes: int = 4, metadata: Any = None, **mapping: Any) -> TokenArrayNames | None:
    wide: Any = Wide(classes)

    def array(_name: str) -> StoredArray:
        return wide

    return find_token_arrays("a.npz", names, mapping, metadata or {}, array)


@pytest.mark.parametrize("scale", ["probs", "logprobs", "logits"])
@pytest.mark.parametrize("target", ["target", "token_ids", "input_ids"])
def test_names_of_token_level_files(scale: Any, target: str) -> None:
    assert find_names(scale, target) == TokenArrayNames(scale, scale, target)


@pytest.mark.parametrize("target", ["targets", "labels", "y"])
def test_other_names_are_asked_about_where_the_rows_may_be_questions(target: str) -> None:
    with pytest.raises(Refused, match=rf"{target!r} may be .*--map {target}=target or --map {target}=gold"):
        find_names("probs", target)
    assert find_names("probs", target, classes=257) == TokenArrayNames("probs", "probs", target)
    with pytest.raises(Refused, match="--map"):
        find_names("probs", target, classes=256)
    assert find_names("probs", target, metadata={"format": "calib-tokens"}) == TokenArrayNames(
        "probs", "probs", target
    )
    as_target: dict[str, Any] = {target: "target"}
    as_gold: dict[str, Any] = {target: "gold"}
    assert find_names("probs", target, **as_target) == TokenArrayNames("probs", "probs", target)
    assert find_names("probs", target, **as_gold) is None


def test_the_exact_name_wins() -> None:
    assert find_names("probs", "labels", "target", "y") == TokenArrayNames("probs", "probs", "target")


@pytest.mark.parametrize("names", [("probs", "gold"), ("probs", "gold_index"), ("confidence", "correct")])
def test_answers_are_not_positions(names: tuple[str, ...]) -> None:
    assert find_names(*names) is None


def test_a_person_may_say_what_an_array_is() -> None:
    assert find_names("p", "t", p="logits", t="target") == TokenArrayNames("p", "logits", "t")
    assert find_names("probs", "logits", "target", logits="") == TokenArrayNames("probs", "probs", "target")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("probs", "logits", "target"), "holds 'probs' and 'logits', but only one of them is.*--map logits="),
        (("probs", "target", "gold"), r"holds both 'target' .* and 'gold' .*--map gold= or --map target="),
        (("probs", "token_ids", "input_ids"), r".*--map token_ids=target or --map input_ids=target"),
        (("probs",), r"has no target: the class that is right at each position"),
        (("probs", "hidden"), r"has no target"),
        (("x", "y"), r"holds the arrays 'x', 'y', none of which is recognised.* and target.*probs and gold"),
        ((), r".*none of which is recognised"),
    ],
)
def test_an_ambiguous_array_has_to_be_named(names: tuple[str, ...], message: str) -> None:
    with pytest.raises(Refused, match=rf"^a.npz {message}"):
        find_names(*names)


def test_a_missing_array_cannot_be_mapped() -> None:
    with pytest.raises(Refused, match=r"a.npz has no array 'p'. Its arrays are 'probs', 'target'"):
        find_names("probs", "target", p="probs")


def test_metadata_that_says_answers_is_believed() -> None:
    assert find_names("probs", "target", metadata={"format": "calib-answers"}) is None
