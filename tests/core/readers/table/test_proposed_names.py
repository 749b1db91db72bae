"""The likeliest names are proposed, rivals listed, and columns of one list kept together."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytest

from calib_core.readers.option_text import map_options
from calib_core.readers.table.columns import (
    COLUMN_ALIASES,
    COLUMN_JUDGES,
    LIST_COLUMNS,
    SERIES_PREFIXES,
    likeliest_columns,
    mapping_variants,
    propose_names,
)


def by_name(columns: Sequence[str], taken: Collection[str] = ()) -> dict[str, str]:
    """What is proposed where every column looks right."""
    return propose_names(columns, taken, lambda _way, _name: True)


def test_every_proposal_is_a_name_the_program_knows() -> None:
    assert set(COLUMN_ALIASES) <= set(COLUMN_JUDGES)
    assert all(name in others for name, others in COLUMN_ALIASES.items())
    assert set(SERIES_PREFIXES) <= LIST_COLUMNS & set(COLUMN_ALIASES)


def test_spelling_does_not_matter() -> None:
    assert by_name(["Is-Correct", "Conf.", "P(True)"]) == {
        "Is-Correct": "correct",
        "Conf.": "confidence",
        "P(True)": "p_true",
    }


def test_rivals_are_named_the_likeliest_first() -> None:
    proposals = by_name(["prob", "conf", "score"])
    assert proposals == {"conf": "confidence", "prob": "confidence", "score": "correct"}
    assert mapping_variants(proposals) == [
        {"conf": "confidence", "score": "correct"},
        {"prob": "confidence", "score": "correct"},
    ]


def test_names_that_are_read_are_not_proposed() -> None:
    assert by_name(["prob", "conf"], {"confidence"}) == {}


def test_a_column_stands_for_one_name() -> None:
    assert by_name(["answer", "answers", "label"]) == {
        "label": "gold",
        "answer": "gold",
        "answers": "samples",
    }


def test_a_column_that_looks_wrong_is_not_proposed() -> None:
    proposals = propose_names(["conf", "prob"], (), lambda way, _name: way != ("conf",))
    assert proposals == {"prob": "confidence"}


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        (["p_A", "p_B", "p_C"], "choice_probs"),
        (["prob_0", "prob_1"], "choice_probs"),
        (["logprob_A", "logprob_B"], "choice_logprobs"),
        (["logit_A", "logit_B"], "choice_logits"),
        (["sample_1", "sample_2", "sample_3"], "samples"),
        (["Option A", "Option B"], "choices"),
        (["A", "B", "C", "D"], "choices"),
    ],
)
def test_one_column_per_element_is_proposed_for_its_list(columns: list[str], name: str) -> None:
    assert by_name(columns) == dict.fromkeys(columns, name)
    assert map_options(by_name(columns)) == " ".join(f"--map {_quoted(column, name)}" for column in columns)


def test_the_elements_are_proposed_in_the_order_of_their_letters() -> None:
    assert list(by_name(["p_C", "p_A", "p_B"])) == ["p_A", "p_B", "p_C"]


def _quoted(column: str, name: str) -> str:
    return f'"{column}={name}"' if " " in column else f"{column}={name}"


@pytest.mark.parametrize("columns", [["p_A"], ["p_B", "p_C"], ["sample_0", "sample_2"]])
def test_one_column_alone_or_a_gap_is_not_a_list(columns: list[str]) -> None:
    assert by_name(columns) == {}


def test_of_rivals_the_likeliest_alone_is_taken() -> None:
    proposals = {
        "p": "confidence",
        "conf": "confidence",
        "s1": "samples",
        "sample_1": "samples",
        "sample_2": "samples",
        "ok": "correct",
    }
    assert likeliest_columns(proposals) == {
        "conf": "confidence",
        "sample_1": "samples",
        "sample_2": "samples",
        "ok": "correct",
    }


def test_proposals_as_text_for_the_command_line() -> None:
    assert map_options({"conf": "confidence", "is ok": "correct"}) == (
        '--map conf=confidence --map "is ok=correct"'
    )
    assert map_options({}) == ""
