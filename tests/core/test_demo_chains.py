"""The chains of sums match their questions and their recipe."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from calib_core.api import load
from core.demo_chains_oracle import answer_in_words
from demo.problems import KINDS, LARGEST, runs, solve
from demo.recipe import Recipe, Size
from demo.sets import Problems, problems
from demo.tokens import VOCABULARY, decode, encode, pieces

DATA = Path(__file__).parents[2] / "data"

ANSWER = re.compile(r"Answer: (\d+) (\w+)$")
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


def parameters(size: Size) -> int:
    """How many numbers such a transformer has, counted by hand: embedding, layers, last norm."""
    w = size.width
    attention = 3 * w * w + w * w
    feed_forward = w * 4 * w + 4 * w + 4 * w * w + w
    return len(VOCABULARY) * w + size.layers * (attention + feed_forward + 2 * 2 * w) + 2 * w


def test_file_says_what_it_is(name: str) -> None:
    metadata = json.loads(pl.read_parquet_metadata(DATA / name)["calib"])
    assert (metadata["format"], metadata["version"]) == ("calib-answers", 1)
    assert f"{metadata['dataset']}.answers.parquet" == name
    assert metadata["shots"] == 0
    assert metadata["sampling"] == {"temperature": Recipe().temperature, "top_p": 1.0, "n": Recipe().samples}
    assert metadata["created_by"] == f"python -m demo, recipe {Recipe().version}, seed {Recipe().seed}"


def test_each_model_is_as_large_as_its_name_says(rows: pl.DataFrame) -> None:
    stored = rows.select("model", "params_b", "tuning").unique(maintain_order=True).rows()
    sizes = [(size.name, parameters(size) / 1e9, "base") for size in Recipe().sizes]
    place = [size.name for size in Recipe().sizes].index(Recipe().tuned)
    sizes.insert(place + 1, (f"{Recipe().tuned}-tuned", sizes[place][1], "tuned"))
    assert stored == sizes[::-1]  # the largest first: pages open on the first run of a file
    for model, params_b, _tuning in sizes:
        size = model.split("-")[1]
        shown = f"{params_b * 1e6:.0f}k" if size.endswith("k") else f"{params_b * 1e3:.1f}M"
        assert size == shown


def test_the_project_reads_six_runs(name: str) -> None:
    runs_read = load(DATA / name)
    assert {(run.info.model, run.info.params_b, run.info.tuning) for run in runs_read} == set(
        pl.read_parquet(DATA / name).select("model", "params_b", "tuning").rows()
    )
    assert len(runs_read) == 6
    assert {run.info.dataset for run in runs_read} == {name.partition(".")[0]}


def test_accuracy_is_spread_and_grows_with_size(rows: pl.DataFrame) -> None:
    right = dict(rows.group_by("model").agg(pl.col("correct").mean()).iter_rows())
    by_size = [right[size.name] for size in Recipe().sizes]
    assert by_size == sorted(by_size)
    assert by_size[0] <= 0.3
    assert by_size[-1] >= 0.8


def test_gold_follows_from_the_words(rows: pl.DataFrame) -> None:
    for question, gold in rows.select("question", "gold").unique().iter_rows():
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
    rows = pl.read_parquet(DATA / "chains-choice.answers.parquet").unique("id")
    assert all(200 <= (rows["gold_index"] == at).sum() <= 310 for at in range(4))


def test_answers_are_read_off_the_stored_text(rows: pl.DataFrame) -> None:
    def read(text: str, tokens: int, choices: list[str] | None) -> str | None:
        answer = ANSWER.search(text)
        if answer is None or tokens == Recipe().longest:
            return None
        return answer[1] if choices is None else f"{answer[1]} {answer[2]}"

    for row in rows.iter_rows(named=True):
        choices = row.get("choices")
        assert row["prediction"] == read(row["prediction_text"], len(row["path_logprobs"]), choices)
        assert row["correct"] == (row["prediction"] == row["gold"])
        assert row["status"] == ("no_answer" if row["prediction"] is None else "ok")


def test_every_sample_is_an_answer_or_none(rows: pl.DataFrame) -> None:
    form = r"^\d+ [a-z]+$" if "choices" in rows.columns else r"^\d+$"
    assert rows["samples_parsed"].list.len().unique().to_list() == [Recipe().samples]
    assert rows["samples_parsed"].explode().drop_nulls().str.contains(form).all()


def test_samples_lean_to_the_greedy_answer(rows: pl.DataFrame) -> None:
    for one in rows.drop_nulls("prediction").partition_by("model"):
        pairs = zip(one["samples_parsed"].to_list(), one["prediction"], strict=True)
        agreeing = sum(samples.count(answer) for samples, answer in pairs) / (Recipe().samples * one.height)
        assert 0.1 < agreeing < 1


def test_probabilities_belong_to_the_tokens_of_the_text(rows: pl.DataFrame) -> None:
    for row in rows.iter_rows(named=True):
        tokens = pieces(row["prediction_text"])
        assert len(row["path_logprobs"]) == len(tokens)
        assert all(value <= 0 for value in row["path_logprobs"])
        assert min(row["p_true"], row["p_false"]) >= 0
        assert row["p_true"] + row["p_false"] <= 1 + 1e-6  # each was rounded to float32
        if row["prediction"] is not None:
            assert " ".join(tokens[row["answer_start"] : row["answer_end"]]) == row["prediction"]


def test_every_stored_number_is_a_number(rows: pl.DataFrame) -> None:
    of_an_answer = {"prediction", "prediction_index", "samples_parsed", "answer_start", "answer_end"}
    for column in rows.iter_columns():
        values = column.explode() if column.dtype == pl.List else column
        assert column.name in of_an_answer or not column.has_nulls()
        assert not values.dtype.is_float() or values.is_finite().all()


def test_stored_questions_are_the_generators(sets: Problems) -> None:
    for asked, name in ((sets.open, "chains-open"), (sets.choice, "chains-choice")):
        rows = pl.read_parquet(DATA / f"{name}.answers.parquet")
        for stored in rows.partition_by("model"):
            assert stored["question"].to_list() == [problem.question for problem in asked]
            assert stored["subject"].to_list() == [problem.kind for problem in asked]
            assert stored["subject"].value_counts()["count"].to_list() == [Recipe().per_kind] * len(KINDS)


def test_no_test_problem_was_learnt_from(sets: Problems) -> None:
    problems = (*sets.train, *sets.tune, *sets.check)
    learnt = {run for problem in problems for run in runs(problem.calculation)}
    assert len(set(sets.asked)) == len(sets.asked) == 2 * len(KINDS) * Recipe().per_kind
    assert learnt.isdisjoint(sets.asked)


def test_no_problem_to_learn_judging_from_was_learnt_before(sets: Problems) -> None:
    learnt = {problem.calculation for problem in (*sets.train, *sets.tune)}
    assert learnt.isdisjoint(problem.calculation for problem in sets.check)


def test_text_and_tokens_are_one_to_one(rows: pl.DataFrame) -> None:
    assert len(set(VOCABULARY)) == len(VOCABULARY)
    assert all(len(encode(str(number))) == 1 for number in range(LARGEST + 1))
    for text in (*rows["question"].unique(), *rows["prediction_text"].unique()):
        assert decode(encode(text)) == text
