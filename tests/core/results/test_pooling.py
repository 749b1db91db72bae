"""Each pair of one position or question goes where its metric puts it."""

from __future__ import annotations

import numpy as np
import pytest

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.results.evidence import gather_evidence
from calib_core.results.pooling import (
    MAX_LISTED_CLASSES,
    class_occurrence_table,
    poolable_question_titles,
    pools_of_position,
    pools_of_question,
)
from calib_core.tokens.dense import DenseReducer
from calib_core.tokens.sums import ExamplePosition
from core.run_builders import choice_evidence, given_evidence, make_answer_run


def example(probs: list[float], target: int, *, kept: int, classes: int | None = None) -> ExamplePosition:
    """A position whose `kept` largest of these probabilities are stored."""
    order = np.argsort(-np.array(probs), kind="stable")
    ids = tuple(int(at) for at in order[:kept])
    return ExamplePosition(
        row=9,
        target=target,
        ids=ids,
        probs=tuple(probs[at] for at in ids),
        target_prob=probs[target],
        rest_mass=sum(probs[at] for at in order[kept:]),
        n_classes=classes or len(probs),
        itemsize=8,
    )


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_a_stored_tenth_falls_where_the_sums_have_it(dtype: str) -> None:
    probs = np.array([[0.7, 0.3, 0.0]], dtype)
    reducer = DenseReducer(3)
    reducer.add(probs, np.array([1]))
    sums = reducer.result()
    (kept,) = sums.examples
    shown = set(pools_of_position("run", kept, 10).table["bin"].to_list())
    assert shown == {7, 3, 1} == set((sums.all_labels.binned(Scheme("width", 10)).index + 1).tolist())


def test_a_position_pair_by_pair() -> None:
    result = pools_of_position("run", example([0.1, 0.6, 0.3], 2, kept=3), 10)
    table = result.table
    assert table["label"].to_list() == ["token 1", "token 2", "token 0"]
    assert table["right"].to_list() == [False, True, False]
    assert table["bin"].to_list() == [6, 3, 1]
    assert table["interval"].to_list() == ["(0.5, 0.6]", "(0.2, 0.3]", "[0, 0.1]"]
    assert table["ece"].to_list() == [True, False, False]
    assert table["cw"].all()
    assert table["full"].all()
    assert (result.title, result.n_classes, result.n_hidden_classes, result.hidden_probability) == (
        "Position 10",
        3,
        0,
        0,
    )
    assert result.n_in_first_bin == 1
    assert result.summary == (
        "ECE takes one pair from here, the top label's: 0.6, wrong. cw-ECE takes 3, one per class, each "
        "into the bins of that class. Full-ECE puts the same 3 into one set of bins; 1 of them lies in "
        "the first bin."
    )


def test_the_largest_are_shown_and_the_rest_is_added_up() -> None:
    probs = [0.5, *[0.5 / 99] * 99]
    result = pools_of_position("run", example(probs, 0, kept=64), 10)
    assert (result.table.height, result.n_hidden_classes) == (MAX_LISTED_CLASSES, 80)
    assert sum(result.table["prob"].to_list()) + result.hidden_probability == pytest.approx(1)
    assert result.n_in_first_bin == 99


@pytest.mark.parametrize("target", [30, 90])
def test_the_right_class_is_shown_however_small(target: int) -> None:
    probs = [0.5, *[0.5 / 99] * 99]
    result = pools_of_position("run", example(probs, target, kept=64), 10)
    assert result.table.height == MAX_LISTED_CLASSES + 1
    assert result.table.row(-1, named=True)["label"] == f"token {target}"
    assert result.table["right"].to_list() == [False] * MAX_LISTED_CLASSES + [True]
    assert sum(result.table["prob"].to_list()) + result.hidden_probability == pytest.approx(1)
    assert result.n_hidden_classes == 79


def test_nothing_is_claimed_where_hidden_classes_may_be_in_higher_bins() -> None:
    result = pools_of_position("run", example([0.4, 0.3, 0.2, 0.1], 0, kept=1), 10)
    assert (result.n_hidden_classes, result.n_in_first_bin) == (3, None)
    assert "first bin" not in result.summary
    # A rest that is itself in the first bin holds nothing larger.
    assert pools_of_position("run", example([0.91, 0.05, 0.04], 0, kept=1), 10).n_in_first_bin == 2


def test_the_bins_are_those_of_the_metrics() -> None:
    probs = [[0.3, 0.14, 0.56], [0.07, 0.55, 0.38]]
    evidence = choice_evidence(probs, [0, 1])
    for place, row in enumerate(probs):
        for bins in (10, 50, 100):
            table = pools_of_question(evidence, place, bins).table
            outcome = [at == place for at in range(3)]
            binned = BinSums.from_pairs(row, outcome).binned(Scheme("width", bins))
            assert sorted(set(table["bin"])) == (binned.index + 1).tolist()


def test_a_question_with_its_choices() -> None:
    evidence = choice_evidence(
        [[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]],
        [2, 1],
        question=["How  many?", "Where?"],
        choices=[["one", "two", "C"], ["here", "there", "nowhere"]],
    )
    assert poolable_question_titles(evidence) == ["1: How many?", "2: Where?"]
    result = pools_of_question(evidence, 0, 10)
    assert result.table["label"].to_list() == ["choice C", "B: two", "A: one"]
    assert result.table["right"].to_list() == [True, False, False]
    assert "0.7, right" in result.summary
    assert pools_of_question(evidence, 1, 10).table["right"].to_list() == [False, True, False]


def test_rows_without_texts_are_called_by_number() -> None:
    evidence = choice_evidence([[0.4, 0.6]], [0])
    assert poolable_question_titles(evidence) == ["Row 1"]
    assert pools_of_question(evidence, 0, 5).table["label"].to_list() == ["choice B", "choice A"]


def test_one_confidence_per_question_has_no_distribution() -> None:
    with pytest.raises(Unavailable, match="not a whole distribution"):
        poolable_question_titles(given_evidence([0.5], [1]))
    run = make_answer_run({"choice_probs": [[0.4, 0.6]], "gold_index": [0]})
    assert poolable_question_titles(gather_evidence(run, "choice_softmax")) == ["Row 1"]


def test_classes_are_grouped_by_zero_one_to_ten_and_more_occurrences() -> None:
    table = class_occurrence_table(np.array([0, 0, 1, 10, 11], np.int64))
    assert table.rows() == [
        ("never", 2, 0.4, 0),
        ("1 to 10 times", 2, 0.4, 11),
        ("more than 10 times", 1, 0.2, 11),
    ]
