"""Are the chains of sums what their questions and their recipe say they are?"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path
from random import Random

import polars as pl
import pytest

from demo.problems import (
    KINDS,
    LARGEST,
    SMALLEST,
    UNPRACTISED,
    Problem,
    draw,
    draw_many,
    runs,
    solve,
    with_options,
)
from demo.recipe import Recipe
from demo.sets import Problems, problems
from demo.tokens import VOCABULARY, decode, encode, pieces

DATA = Path(__file__).parents[2] / "data"

ANSWER = re.compile(r"Answer: (\d+) (\w+)$")
SIGNS = {
    "{} finds N.": "+",
    "{} buys N.": "+",
    "{} gets N.": "+",
    "{} loses N.": "-",
    "{} sells N.": "-",
    "{} gives away N.": "-",
    "Soon it is N times that.": "*",
}
FILES = ("chains-open.answers.parquet", "chains-choice.answers.parquet")


@pytest.fixture(params=FILES)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def rows(name: str) -> pl.DataFrame:
    return pl.read_parquet(DATA / name)


@pytest.fixture(scope="module")
def sets() -> Problems:
    return problems(Recipe())


def answer_in_words(question: str) -> int:
    """A second way to the answer, written without a look at the first: sentence by sentence."""
    first, *told = re.findall(r"[^.?]+[.?]", question.partition(" How many ")[0])
    start = re.fullmatch(r"(\w+) has (\d+) \w+\.", first)
    assert start is not None
    value = int(start[2])
    for sentence in told:
        (number,) = re.findall(r"\d+", sentence)
        form = sentence.strip().replace(number, "N").replace(start[1], "{}")
        value = {"+": value + int(number), "-": value - int(number), "*": value * int(number)}[SIGNS[form]]
    return value


def test_file_says_what_it_is(name: str) -> None:
    told = json.loads(pl.read_parquet_metadata(DATA / name)["calib"])
    assert (told["format"], told["version"]) == ("calib-answers", 1)
    assert told["model"] == "chains-0.2M"
    assert f"{told['dataset']}.answers.parquet" == name
    assert told["shots"] == 0
    assert round(told["params_b"] * 1e3, 1) == 0.2  # what the model's name says
    assert told["sampling"] == {"temperature": Recipe().temperature, "top_p": 1.0, "n": Recipe().samples}


def test_gold_follows_from_the_words(rows: pl.DataFrame) -> None:
    for question, gold in rows.select("question", "gold").iter_rows():
        number = int(gold.split(" ")[0])
        assert answer_in_words(question) == solve(question) == number, question


def test_gold_is_one_of_the_options_shown() -> None:
    rows = pl.read_parquet(DATA / "chains-choice.answers.parquet")
    for row in rows.iter_rows(named=True):
        assert len(set(row["choices"])) == 4
        assert Counter(row["choices"])[row["gold"]] == 1
        assert row["choices"][row["gold_index"]] == row["gold"]
        shown = re.findall(r"\d+", row["question"].split("Is it ")[1])
        assert [choice.split(" ")[0] for choice in row["choices"]] == shown
        assert row["choice_token_counts"] == [len(choice.split(" ")) for choice in row["choices"]]
        assert row["choice_char_counts"] == [len(choice) for choice in row["choices"]]
        assert len(row["choice_logprobs"]) == 4
        assert sum(map(math.exp, row["choice_logprobs"])) <= 1


def test_every_position_holds_gold_about_as_often() -> None:
    gold_index = pl.read_parquet(DATA / "chains-choice.answers.parquet")["gold_index"]
    assert all(200 <= (gold_index == at).sum() <= 310 for at in range(4))


def test_answers_are_read_off_the_stored_text(rows: pl.DataFrame) -> None:
    def read(text: str, tokens: int, choices: list[str] | None) -> str | None:
        said = ANSWER.search(text)
        if said is None or tokens == Recipe().longest:
            return None
        return said[1] if choices is None else f"{said[1]} {said[2]}"

    for row in rows.iter_rows(named=True):
        choices = row.get("choices")
        assert row["prediction"] == read(row["prediction_text"], len(row["path_logprobs"]), choices)
        assert row["correct"] == (row["prediction"] == row["gold"])
        assert row["status"] == ("no_answer" if row["prediction"] is None else "ok")
        sampled = zip(row["samples"], row["sample_token_counts"], strict=True)
        assert row["samples_parsed"] == [read(text, tokens, choices) for text, tokens in sampled]
        assert len(row["samples"]) == len(row["sample_logprobs"]) == Recipe().samples


def test_probabilities_belong_to_the_tokens_of_the_text(rows: pl.DataFrame) -> None:
    for row in rows.iter_rows(named=True):
        tokens = pieces(row["prediction_text"])
        assert len(row["path_logprobs"]) == len(tokens)
        assert all(value <= 0 for value in (*row["path_logprobs"], *row["sample_logprobs"]))
        assert row["sample_token_counts"] == [len(pieces(text)) for text in row["samples"]]
        assert 0 <= row["p_true"] <= 1 - row["p_false"] <= 1
        if row["prediction"] is not None:
            assert " ".join(tokens[row["answer_start"] : row["answer_end"]]) == row["prediction"]


def test_every_stored_number_is_a_number(rows: pl.DataFrame) -> None:
    of_an_answer = {"prediction", "prediction_index", "answer_start", "answer_end"}
    for column in rows.iter_columns():
        values = column.explode() if column.dtype == pl.List else column
        assert column.name in of_an_answer or not column.has_nulls()
        assert not values.dtype.is_float() or values.is_finite().all()


def test_stored_questions_are_the_generators(sets: Problems) -> None:
    for asked, name in ((sets.open, "chains-open"), (sets.choice, "chains-choice")):
        stored = pl.read_parquet(DATA / f"{name}.answers.parquet")
        assert stored["question"].to_list() == [problem.question for problem in asked]
        assert stored["subject"].to_list() == [problem.kind for problem in asked]
        assert stored["subject"].value_counts()["count"].to_list() == [Recipe().per_kind] * len(KINDS)


def test_no_test_problem_was_learnt_from(sets: Problems) -> None:
    learnt = {run for problem in (*sets.train, *sets.check) for run in runs(problem.calculation)}
    assert len(set(sets.asked)) == len(sets.asked) == 2 * len(KINDS) * Recipe().per_kind
    assert learnt.isdisjoint(sets.asked)
    assert UNPRACTISED not in {problem.kind for problem in (*sets.train, *sets.check)}


def test_no_problem_to_learn_judging_from_was_learnt_before(sets: Problems) -> None:
    train = {problem.calculation for problem in sets.train}
    assert train.isdisjoint(problem.calculation for problem in sets.check)


@pytest.mark.parametrize("kind", KINDS)
def test_a_drawn_problem_is_solved_from_its_words_and_stays_in_range(kind: str) -> None:
    random = Random(1)  # noqa: S311 - not for secrets
    for _ in range(200):
        problem = with_options(draw(kind, random), random)
        assert solve(problem.question) == answer_in_words(problem.question) == problem.answer
        assert len(problem.steps) == KINDS[kind][1]
        assert {step.operation for step in problem.steps} <= set(KINDS[kind][0])
        assert all(SMALLEST <= value <= LARGEST for value in (*problem.values, *problem.options))
        assert sorted({*problem.options}) == sorted(problem.options)
        assert problem.options.count(problem.answer) == 1
        assert problem.working.endswith(f"Answer: {problem.answer} {problem.thing}")


def test_draw_many_refuses_what_is_forbidden_even_inside_a_longer_chain() -> None:
    def drawn(kind: str, count: int, seed: int, forbidden: set[str]) -> list[Problem]:
        return draw_many([kind] * count, Random(seed), set(), forbidden=forbidden)  # noqa: S311 - as above

    forbidden = {" ".join(problem.calculation) for problem in drawn("two steps", 300, 2, set())}
    free = drawn("three steps", 2000, 3, set())
    held = drawn("three steps", 2000, 3, forbidden)
    assert any(not forbidden.isdisjoint(runs(problem.calculation)) for problem in free)
    assert all(forbidden.isdisjoint(runs(problem.calculation)) for problem in held)


def test_solve_refuses_words_it_does_not_know() -> None:
    with pytest.raises(ValueError, match="not a chain of steps"):
        solve("Mia has 7 pens. Mia paints 3. How many pens now?")


def test_runs_are_all_unbroken_parts() -> None:
    assert set(runs(("a", "b", "c"))) == {"a", "b", "c", "a b", "b c", "a b c"}


def test_text_and_tokens_are_one_to_one(rows: pl.DataFrame) -> None:
    assert len(set(VOCABULARY)) == len(VOCABULARY)
    assert all(len(encode(str(number))) == 1 for number in range(LARGEST + 1))
    for text in (*rows["question"], *rows["prediction_text"], *rows["samples"].explode()):
        assert decode(encode(text)) == text
