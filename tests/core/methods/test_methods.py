"""The registry has every method once, and all satisfy the common properties and the worked example."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calib_core.methods
from calib_core.errors import Unavailable
from calib_core.methods import METHODS
from calib_core.methods.method import Confidences, MethodOptions
from calib_core.readers import read
from calib_core.runs import AnswerRun, RunInfo
from core.confidence_runs import (
    FEWER,
    LOGS,
    TOLERANCE,
    WORKED,
    Row,
    choice_question,
    confidences,
    run_of,
    sampled_question,
)
from fixture_files import FIXTURES

OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"renormalise": True, "unparseable": "one"},
    {"renormalise": False, "unparseable": "drop"},
)


def test_ids_are_the_keys_and_titles_are_unique() -> None:
    assert [method.id for method in METHODS.values()] == list(METHODS)
    assert len({method.title for method in METHODS.values()}) == len(METHODS)


def test_short_titles_distinguish_the_members_of_a_family() -> None:
    assert METHODS["cluster_size"].short_title == "F_CS"
    assert METHODS["choice_softmax"].short_title == "softmax over the choices"
    assert METHODS["p_true"].short_title == METHODS["p_true"].title
    assert len({method.short_title for method in METHODS.values()}) == len(METHODS)


def test_every_entry_file_has_its_line_in_the_registry() -> None:
    folder = Path(calib_core.methods.__file__).parent
    entry = re.compile(r"^[A-Z_]+: Final = Method\(\n    id=\"(\w+)\"", re.MULTILINE)
    entries = [id_ for file in folder.glob("*.py") for id_ in entry.findall(file.read_text("utf-8"))]
    assert sorted(entries) == sorted(METHODS)


@st.composite
def question(draw: st.DrawFn) -> Row:
    """A question with anything a row may have, each column now and then without a value."""
    probability = st.one_of(st.none(), st.integers(0, 20).map(lambda n: n / 20), st.floats(0, 1))
    path = st.one_of(st.none(), st.lists(LOGS, max_size=5))
    return {
        **draw(st.one_of(choice_question(), st.just({}))),
        **draw(st.one_of(sampled_question(), st.just({}))),
        **{
            name: draw(probability)
            for name in ("confidence", "verbal_confidence", "p_true", "p_false", "event_prob")
        },
        **{name: draw(path) for name in ("path_logprobs", "answer_logprobs")},
        **{name: draw(st.sampled_from([True, False, None])) for name in ("correct", "event")},
    }


def confidences_or_reason(method: str, run: AnswerRun, options: dict[str, Any]) -> Confidences | str:
    """What a method says of a run, or the reason why it says nothing."""
    try:
        return confidences(method, run, **options)
    except Unavailable as reason:
        return str(reason)


def pairs_by_row(
    run: AnswerRun, result: Confidences | str
) -> list[tuple[float, bool, str | None, int]] | str:
    """The pairs of a run by its record numbers, or the reason why there are none."""
    if isinstance(result, str):
        return result
    assert result.answers is not None
    record = run.rows["row"].to_numpy()[result.pairs.rows].tolist()
    pairs = zip(
        result.pairs.confidence.tolist(),
        result.pairs.correct.tolist(),
        result.answers.to_list(),
        record,
        strict=True,
    )
    return sorted(pairs, key=lambda pair: pair[-1])


@pytest.mark.parametrize("method", METHODS)
@FEWER
@given(
    rows=st.lists(question(), min_size=1, max_size=8), options=st.sampled_from(OPTIONS), random=st.randoms()
)
def test_every_confidence_is_a_probability_of_a_row_of_the_run_wherever_that_stands(
    method: str, rows: list[Row], options: dict[str, Any], random: Any
) -> None:
    run = run_of(rows)
    result = confidences_or_reason(method, run, options)
    order = list(range(len(rows)))
    random.shuffle(order)
    shuffled = AnswerRun(run.file, run.format, run.label, run.info, run.rows[order], run.row_counts)
    assert pairs_by_row(run, result) == pairs_by_row(
        shuffled, confidences_or_reason(method, shuffled, options)
    )
    if isinstance(result, str):
        return
    assert np.all((result.pairs.confidence >= 0) & (result.pairs.confidence <= 1))
    assert result.pairs.sums().n_pairs == result.pairs.n  # the floor below takes them as they are
    assert np.all(np.diff(result.pairs.rows) > 0)
    if result.distribution is not None:
        assert np.array_equal(result.distribution.rows, result.pairs.rows)
        assert result.distribution.probs.size == result.distribution.sizes.sum()


@pytest.mark.parametrize("method", METHODS)
def test_a_run_without_rows_or_without_columns_is_refused(method: str) -> None:
    for rows in ([], [{}]):
        with pytest.raises(Unavailable):
            METHODS[method].confidences(run_of(rows), MethodOptions())


@pytest.mark.parametrize("method", [id_ for id_, method in METHODS.items() if method.run_kind == "answers"])
def test_the_message_names_every_column_that_would_do(method: str) -> None:
    entry = METHODS[method]
    with pytest.raises(Unavailable) as refusal:
        entry.confidences(run_of([{"correct": True, "gold": "a"}]), MethodOptions())
    message = str(refusal.value)
    assert entry.columns
    assert all(name in message for name in entry.columns)
    assert message.endswith(entry.requirement)


@pytest.mark.parametrize("method", [id_ for id_, method in METHODS.items() if method.run_kind == "answers"])
@pytest.mark.parametrize("status", ["error", "refused", "unscored"])
def test_a_row_without_an_answer_is_missing_whatever_stands_in_it(method: str, status: str) -> None:
    choices: Row = {"choice_logprobs": [-0.5, -1.5], "choice_token_counts": [1, 2], "gold_index": 1}
    answers: Row = {"samples": ["a", "b"], "answer_kind": "choice", "gold": "b", "correct": True}
    tokens: Row = {"path_logprobs": [-1.0], "answer_logprobs": [-1.0]}
    numbers: Row = {"p_true": 0.5, "p_false": 0.5, "verbal_confidence": 0.5, "confidence": 0.5}
    numbers |= {"event_prob": 0.5, "event": False}
    row = {**choices, **answers, **tokens, **numbers}
    rows = [{**row, "status": result} for result in ("ok", status, "no_answer", None)]
    info = RunInfo(choices_are="options" if method == "choice" else None)
    result = confidences(method, run_of(rows, info))
    assert result.pairs.rows.tolist() == [0, 2, 3]
    assert dict(result.missing) == {f"status: {status}": 1}


WORKED_OUT: tuple[tuple[str, dict[str, Any], str, float, bool], ...] = (
    ("choice_softmax", {}, "mc-1", 0.740741, True),
    ("logit_path", {}, "gsm-1", 0.79, True),
    ("logit_answer", {}, "gsm-1", 0.65, True),
    ("p_true", {}, "gsm-1", 0.56, True),
    ("p_true", {"renormalise": True}, "gsm-1", 0.8, True),
    ("cluster_number", {}, "gsm-1", 0.25, False),
    ("cluster_size", {}, "gsm-1", 0.5, False),
    ("pairwise", {}, "gsm-1", 0.444444, False),
    ("verbal", {}, "gsm-1", 0.9, True),
)


@pytest.mark.parametrize(("method", "options", "name", "confidence", "correct"), WORKED_OUT)
def test_the_worked_example(
    *, method: str, options: dict[str, Any], name: str, confidence: float, correct: bool
) -> None:
    _check_worked_example(run_of(WORKED), method, options, (name, confidence, correct))


@pytest.mark.parametrize("file", ["example.answers.jsonl", "example.answers.parquet"])
def test_the_worked_example_from_its_files(file: str) -> None:
    reading = read(FIXTURES / "canonical" / file)
    (run,) = reading.good_runs
    assert isinstance(run, AnswerRun)
    for method, options, *expected in WORKED_OUT:
        if method != "choice_softmax":
            _check_worked_example(run, method, options, tuple(expected))
    result = confidences("choice_softmax", run)
    assert run.rows["id"].gather(pl.Series(result.pairs.rows)).to_list() == ["mc-1", "gpt-1"]
    assert result.pairs.confidence.tolist() == pytest.approx([0.740741, 0.823529], abs=1e-6)
    assert result.pairs.correct.tolist() == [True, False]
    assert "at most 0.0867 too high" in result.remarks[0]  # .823529 - .736842
    assert result.distribution is None


def _check_worked_example(
    run: AnswerRun, method: str, options: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    name, confidence, correct = expected
    result = confidences(method, run, **options)
    assert run.rows["id"].gather(pl.Series(result.pairs.rows)).to_list() == [name]
    assert result.pairs.confidence.tolist() == pytest.approx([confidence], abs=1e-6)
    assert result.pairs.correct.tolist() == [correct]
    assert sum(result.missing.values()) == 2


def test_an_unknown_choice_of_the_worked_example_is_a_missing_distribution() -> None:
    result = confidences("choice_softmax", run_of(WORKED))
    assert result.missing["a choice's log-probability is unknown"] == 1
    assert result.pairs.confidence[0] == pytest.approx(
        math.exp(-0.385662) / sum(map(math.exp, (-4.017384, -0.385662, -1.514128))), abs=TOLERANCE
    )


@pytest.mark.parametrize("method_id", METHODS)
def test_the_help_text_is_one_sentence_and_its_formula(method_id: str) -> None:
    method = METHODS[method_id]
    assert method.meaning.endswith(".")
    assert ". " not in method.meaning
    assert method.help == f"{method.meaning} {method.source}."


def test_no_two_methods_are_explained_alike() -> None:
    assert len({method.meaning for method in METHODS.values()}) == len(METHODS)
