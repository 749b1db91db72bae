"""The questions about Python's library are right, and the stored answers match their description."""

from __future__ import annotations

import json
import math
import platform
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from calib_core.api import load, score
from calib_core.runs import AnswerRun
from demo.facts import library
from demo.facts.questions import Facts, facts, place
from demo.facts.recipe import FactsRecipe
from demo.facts.subjects import SUBJECTS, Subject
from demo.facts.textbook import asked, copies, practising, reading, statements, whole

DATA = Path(__file__).parents[2] / "data"
NAME = "facts.answers.parquet"
RECIPE = FactsRecipe()
MANIFEST: dict[str, Any] = json.loads((DATA / "MANIFEST.json").read_text(encoding="utf-8"))
BY_NAME = {subject.name: subject for subject in SUBJECTS}
RUN = ("model", "params_b", "tuning", "shots")
FIXED = (
    "id",
    "subject",
    "question",
    "answer_kind",
    "choices",
    "gold",
    "gold_index",
    "choice_token_counts",
    "choice_char_counts",
    "dataset",
)


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    return pl.read_parquet(DATA / NAME)


@pytest.fixture(scope="module")
def known() -> Facts:
    return facts(RECIPE)


def python_made_with() -> str:
    return MANIFEST["made_with"][RECIPE.version]["python"]


def test_file_says_what_it_is() -> None:
    metadata = json.loads(pl.read_parquet_metadata(DATA / NAME)["calib"])
    assert (metadata["format"], metadata["version"], metadata["dataset"]) == ("calib-answers", 1, "facts")
    assert (metadata["logprob_base"], metadata["logprobs_are"]) == ("e", "raw")
    assert (DATA / NAME).stat().st_size <= 300_000


def test_two_sizes_base_and_tuned_without_and_with_shots(rows: pl.DataFrame) -> None:
    runs = rows.select(RUN).unique(maintain_order=True).rows()
    sizes = sorted({params for _model, params, _tuning, _shots in runs})
    assert len(sizes) == len(RECIPE.sizes) == 2
    wanted = [
        (f"facts-{params * 1e3:.1f}M{'-tuned' * (tuning == 'tuned')}", params, tuning, shots)
        for params in sizes
        for tuning in ("base", "tuned")
        for shots in RECIPE.shots
    ]
    assert runs == wanted
    assert rows.height == len(wanted) * len(SUBJECTS) * RECIPE.asked


def test_every_run_is_asked_the_same(rows: pl.DataFrame) -> None:
    first, *others = (part.select(FIXED) for part in rows.partition_by(RUN, maintain_order=True))
    assert all(first.equals(other) for other in others)
    assert first["subject"].unique(maintain_order=True).to_list() == list(BY_NAME)
    assert set(first["subject"].value_counts()["count"]) == {RECIPE.asked}
    assert first["question"].n_unique() == first["id"].n_unique() == first.height


def test_gold_is_right_and_the_other_options_are_not(rows: pl.DataFrame) -> None:
    """Of every fact that this Python knows; another version may lack a few, or have other numbers."""
    exact = platform.python_version() == python_made_with()
    asked_of = rows.select("subject", "question", "choices", "gold", "gold_index").unique().rows()
    facts = {subject.name: subject.facts() for subject in SUBJECTS}
    found = [row for row in asked_of if BY_NAME[row[0]].key(row[1]) in facts[row[0]]]
    assert len(found) >= (1 if exact else 0.8) * len(asked_of)
    wrong = []
    for name, question, choices, gold, at in found:
        key = BY_NAME[name].key(question)
        assert choices[at] == gold
        assert len(set(choices)) == RECIPE.options
        right = [choice for choice in choices if _holds(BY_NAME[name], key, choice)]
        if not facts[name][key] == gold == "".join(right):
            wrong.append(question)
    assert len(wrong) <= (0 if exact else 0.2) * len(found), wrong


def _holds(subject: Subject, key: str, option: str) -> bool:
    """`holds`, where an option may name a module or a class that another Python does not have."""
    try:
        return subject.holds(key, option)
    except (ImportError, LookupError):
        return False


def test_stored_questions_are_those_read_off_the_library(rows: pl.DataFrame, known: Facts) -> None:
    """All of them on the Python they were made with; most of them on another."""
    stored = rows.head(len(known.asked)).select("subject", "question", "choices", "gold").rows()
    again = [
        (one.fact.subject.name, one.fact.question, list(one.options), one.fact.answer) for one in known.asked
    ]
    if platform.python_version() == python_made_with():
        assert stored == again
    questions = {question for _subject, question, _options, _gold in again}
    assert sum(question in questions for _subject, question, _choices, _gold in stored) >= 0.6 * len(stored)


def test_stored_numbers_belong_to_the_options(rows: pl.DataFrame) -> None:
    for row in rows.iter_rows(named=True):
        assert len(row["choice_logprobs"]) == len(row["choice_token_counts"]) == RECIPE.options
        assert all(-math.inf < value <= 0 for value in row["choice_logprobs"])
        assert row["choice_char_counts"] == [len(choice) for choice in row["choices"]]
        counts = zip(row["choice_token_counts"], row["choice_char_counts"], strict=True)
        assert all(1 <= tokens <= 1 + characters for tokens, characters in counts)  # the space before it
    assert rows.null_count().row(0) == (0,) * rows.width


def test_length_matters(rows: pl.DataFrame) -> None:
    differ = [len(set(counts)) > 1 for counts in rows["choice_token_counts"].head(429)]
    assert sum(differ) > len(differ) / 2


def test_both_readings_are_scored_against_gold() -> None:
    """The program's accuracies are those of the largest number, worked out here without it."""
    for run in load(DATA / NAME):
        assert isinstance(run, AnswerRun)
        for method, per_token in (("choice_softmax", False), ("choice_length_normalised", True)):
            right = []
            for row in run.rows.iter_rows(named=True):
                scores = row["choice_logprobs"]
                if per_token:
                    scores = [s / n for s, n in zip(scores, row["choice_token_counts"], strict=True)]
                right.append(max(range(4), key=scores.__getitem__) == row["gold_index"])
            value = score(run, method=method, metric="accuracy").value
            assert value == pytest.approx(sum(right) / len(right))


def test_subjects_differ_and_more_is_known_of_what_was_read(rows: pl.DataFrame, known: Facts) -> None:
    best = rows.with_columns(right=pl.col("choice_logprobs").list.arg_max() == pl.col("gold_index"))
    by_subject = best.group_by("subject").agg(pl.col("right").mean())["right"].to_list()
    assert max(by_subject) - min(by_subject) > 0.1
    read = {one.fact.question: copies(one.fact, RECIPE) for one in known.asked}
    best = best.with_columns(copies=pl.col("question").replace_strict(read, default=None))
    assert best["copies"].null_count() < 0.4 * best.height
    never, often = (best.filter(pl.col("copies") == times)["right"].to_list() for times in (0, 6))
    assert sum(never) / len(never) + 0.2 < sum(often) / len(often)


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_facts_of_a_subject_hold_in_this_python(subject: Subject) -> None:
    facts = subject.facts()
    assert len(facts) >= RECIPE.asked + RECIPE.practice
    for key, answer in facts.items():
        assert subject.holds(key, answer)
        assert subject.key(subject.question(key)) == key
    assert all("{key}" in way and "{answer}" in way for way in subject.textbook)
    assert not any(subject.exam.split("{key}")[0] in way for way in subject.textbook)


@pytest.mark.parametrize(
    ("subject", "key", "right", "wrong"),
    [
        ("functions", "copytree", "shutil", "zipfile"),
        ("classes", "TextWrapper", "textwrap", "shutil"),
        ("methods", "extractfile", "tarfile.TarFile", "zipfile.ZipFile"),
        ("first parameters", "shutil.copytree", "src", "dst"),
        ("second parameters", "shutil.copytree", "dst", "src"),
        ("exceptions", "FileNotFoundError", "OSError", "ValueError"),
        ("constants", "ZIP_DEFLATED", "zipfile", "tarfile"),
        ("documentation", "glob.escape", "Escape all special characters.", "Parse the source."),
        ("media types", ".csv", "text/csv", "text/html"),
        ("entities", "eacute", "latin small letter e with acute", "latin small letter e with grave"),
        ("numbers", "HTTP status NOT_FOUND", "404", "403"),
    ],
)
def test_a_known_fact_is_stated(subject: str, key: str, right: str, wrong: str) -> None:
    asked_of = BY_NAME[subject]
    assert asked_of.facts()[key] == right
    assert asked_of.holds(key, right)
    assert not asked_of.holds(key, wrong)


def test_modules_are_there_once() -> None:
    assert len(set(library.MODULES)) == len(library.MODULES)


def test_once_drops_what_occurs_twice() -> None:
    assert library.once([("a", 1), ("b", 2), ("a", 3)]) == {"b": 2}


def test_place_is_the_same_for_everybody() -> None:
    assert place(30, "copies", "x") == place(30, "copies", "x") != place(31, "copies", "x")
    assert place("a", "bc") != place("ab", "c")


def test_too_few_facts_are_refused() -> None:
    with pytest.raises(ValueError, match=r"too few, \d+ are needed"):
        facts(replace(RECIPE, asked=2_000))


def test_no_fact_is_both_asked_and_practised(known: Facts) -> None:
    practised = {(fact.subject.name, fact.key) for fact in known.practice}
    assert practised.isdisjoint((one.fact.subject.name, one.fact.key) for one in known.asked)
    assert len(practised) == len(SUBJECTS) * RECIPE.practice
    for subject in SUBJECTS:
        of_subject = [one.fact for one in known.asked if one.fact.subject is subject]
        of_subject += known.practised(subject)
        assert max(Counter(fact.answer for fact in of_subject).values()) <= RECIPE.same_answer


def test_textbook_states_a_fact_as_often_as_drawn(known: Facts) -> None:
    counts = Counter(statements(known, RECIPE))
    for one in known.asked[::7]:
        ways = {way.format(key=one.fact.key, answer=one.fact.answer) for way in one.fact.subject.textbook}
        assert sum(counts[way] for way in ways) == copies(one.fact, RECIPE)
    assert {copies(one.fact, RECIPE) for one in known.asked} == set(RECIPE.copies)


def test_base_model_reads_few_practice_questions_and_the_tuned_one_all(known: Facts) -> None:
    def practised(rounds: Any) -> set[str]:
        text = "".join({whole(document) for part in rounds for document in part})
        return {fact.question for fact in known.practice if asked(fact.question) in text}

    few, every = practised(reading(known, replace(RECIPE, rounds=8))), practised(practising(known, RECIPE))
    assert len(few) <= len(SUBJECTS) * RECIPE.base_practice
    assert few < every == {fact.question for fact in known.practice}
