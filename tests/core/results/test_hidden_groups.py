"""The scan finds a planted group, corrects for all that it tries, and shows no group twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from scipy.stats import false_discovery_control

from calib_core.errors import Unavailable
from calib_core.inference.group_difference import compare_groups, confidence_strata
from calib_core.inference.verdict import judge
from calib_core.results.evidence import AnswerEvidence, restrict_rows
from calib_core.results.hidden_groups import (
    ANSWER_ID,
    LENGTH_ID,
    MAX_LISTED,
    NO_COLUMN,
    Condition,
    HiddenGroups,
    hidden_group_evidence,
    hidden_groups,
    scan_groups,
    scanned_columns,
)
from calib_core.views.groups import hidden_groups_view
from core.run_builders import choice_evidence, given_evidence

N = 4000


def make_evidence(
    off: float = 0.0, *, n: int = N, seed: int = 0, groups: dict[str, Any] | None = None, **columns: Any
) -> AnswerEvidence:
    """Calibrated rows, but for law in language x, which is over-confident by `off`."""
    random = np.random.default_rng(seed)
    confidence = random.uniform(0.4, 0.95, n)
    subject, language = random.integers(0, 5, n), random.integers(0, 3, n)
    right = random.random(n) < confidence - off * ((subject == 0) & (language == 0))
    names = [("law", "sums", "art", "music", "maps")[at] for at in subject]
    evidence = given_evidence(confidence, right, subject=names, **columns)
    frame = pl.DataFrame({"language": [("x", "y", "z")[at] for at in language]} if groups is None else groups)
    return replace(evidence, run=replace(evidence.run, group_columns=frame))


def scanned(evidence: AnswerEvidence) -> HiddenGroups:
    return hidden_groups({"r": evidence}, titles={"r": "red"})


def test_a_planted_pair_is_listed_first_with_the_numbers_of_its_rows() -> None:
    evidence = make_evidence(0.35)
    result = scanned(evidence)
    first = result.groups[0]
    assert first.name == "subject: law, language: x"
    assert first.is_clear
    subject = evidence.run.rows["subject"].to_numpy()
    meets = (subject == "law") & (evidence.run.group_columns["language"].to_numpy() == "x")
    part = restrict_rows(evidence, np.flatnonzero(meets))
    assert (first.n, first.accuracy) == (part.n_used, part.accuracy)
    assert first.mean_confidence == pytest.approx(part.mean_confidence)
    assert first.verdict == part.verdict
    pairs = evidence.confidences.pairs
    strata = confidence_strata(pairs.confidence)
    _, alone = compare_groups(strata, pairs.correct, 1 - meets.astype(np.intp), 1)
    assert (first.difference, first.p) == (alone.difference[0], alone.p[0])
    # Of n_clear groups in n_tried, 5 % of the intervals may miss.
    half = stats.norm.isf(0.025 * result.n_clear / result.n_tried) * alone.error[0]
    assert (first.low, first.high) == pytest.approx((first.difference - half, first.difference + half))
    assert all((group.low <= 0 <= group.high) != group.is_clear for group in result.groups)
    assert result.headline.startswith(
        f"{result.n_clear} of the 23 groups tested are right more or less often than the other rows of the "
        "run"
    )
    clearest = f"subject: law, language: x: right {-100 * first.difference:.1f} points less"
    assert f"The clearest difference is in {clearest}" in result.headline


def test_the_family_is_every_group_with_rows_enough() -> None:
    """Five subjects, three languages and fifteen pairs."""
    result = scanned(make_evidence())
    assert result.n_tried == 5 + 3 + 15
    assert len(result.groups) == MAX_LISTED
    assert result.columns == ("subject", "language")
    small = make_evidence(n=300)
    counts = small.run.rows["subject"].value_counts()["count"].to_list()
    in_pairs = pl.DataFrame([small.run.rows["subject"], small.run.group_columns["language"]])
    pair_counts = in_pairs.group_by("subject", "language").len()["len"].to_list()
    assert scanned(small).n_tried == sum(count >= 30 for count in counts) + 3 + sum(
        count >= 30 for count in pair_counts
    )


def test_q_counts_every_group_of_every_run_also_those_not_listed() -> None:
    evidences = {"r": make_evidence(0.2), "s": make_evidence(seed=1)}
    tried = scan_groups(evidences, {key: scanned_columns(evidence) for key, evidence in evidences.items()})
    expected = false_discovery_control([group.p for group in tried])
    assert [group.q for group in tried] == pytest.approx(expected.tolist())
    result = hidden_groups(evidences)
    assert result.n_tried == len(tried) == 46
    assert [group.q for group in result.groups[:1]] == [tried[0].q]
    alone = hidden_groups({"r": evidences["r"]}).groups[0]
    assert alone.p == result.groups[0].p
    assert alone.q < result.groups[0].q
    assert set(result.series) == {"r", "s"}
    assert "The clearest difference is in subject: law, language: x of model · quiz" in result.headline


def test_nothing_clear_is_said_so() -> None:
    result = scanned(make_evidence())
    assert result.n_clear == 0
    assert result.headline == (
        "None of the 23 groups tested is right more or less often than the other rows of the run at "
        "the same confidence, beyond chance."
    )


def test_a_group_that_is_off_both_ways_stays_hidden_and_a_fact_says_so() -> None:
    random = np.random.default_rng(4)
    confidence, subject = random.uniform(0.4, 0.9, N), random.integers(0, 5, N)
    right = random.random(N) < confidence - 0.15 * (subject == 0) * np.sign(confidence - 0.65)
    evidence = given_evidence(confidence, right, subject=[f"s{at}" for at in subject])
    result = scanned(evidence)
    assert judge(confidence[subject == 0], right[subject == 0]).kind == "extreme"
    assert result.n_clear == 0
    facts = dict(hidden_groups_view(result).facts)
    assert "one that is too high at some confidences and too low at others" in facts["Limit"]


def test_a_pair_that_its_part_explains_is_not_listed() -> None:
    """Where a whole subject is off, its pairs are off as well, and say nothing more."""
    random = np.random.default_rng(3)
    confidence = random.uniform(0.4, 0.95, N)
    subject, language = random.integers(0, 5, N), random.integers(0, 3, N)
    right = random.random(N) < confidence - 0.3 * (subject == 0)
    evidence = given_evidence(confidence, right, subject=[f"s{at}" for at in subject])
    frame = pl.DataFrame({"language": [f"l{at}" for at in language]})
    result = scanned(replace(evidence, run=replace(evidence.run, group_columns=frame)))
    assert result.groups[0].name == "subject: s0"
    assert result.n_clear >= 4, "its three pairs are clear, too"
    assert not [group.name for group in result.groups if group.name.startswith("subject: s0,")]


def test_two_halves_are_one_group() -> None:
    half = ["even" if at % 2 else "odd" for at in range(N)]
    evidence = make_evidence(groups={"half": half})
    (column,) = [found for found in scanned_columns(evidence) if found.title == "half"]
    tried = scan_groups({"r": evidence}, {"r": [column]})
    assert len(tried) == 1
    assert tried[0].difference <= 0
    assert column.names[tried[0].mirror or 0] != column.names[tried[0].values[0]]
    some = make_evidence(groups={"half": [*half[:-40], *["none"] * 40]})
    (column,) = [found for found in scanned_columns(some) if found.title == "half"]
    assert len(scan_groups({"r": some}, {"r": [column]})) == 3


def test_a_pair_of_which_one_part_has_no_other_rows_is_that_part() -> None:
    """A category adds nothing to its own subjects."""
    evidence = make_evidence()
    category = evidence.run.rows["subject"].replace({"law": "words", "art": "words"}).alias("category")
    coarse = replace(evidence, run=replace(evidence.run, group_columns=pl.DataFrame([category])))
    tried = scan_groups({"r": coarse}, {"r": scanned_columns(coarse)})
    assert len(tried) == 5 + 4
    assert {len(group.columns) for group in tried} == {1}


def test_the_length_of_the_question_is_cut_into_quarters() -> None:
    questions = ["x" * (10 + at % 100) for at in range(N)]
    evidence = make_evidence(question=questions)
    (column,) = [found for found in scanned_columns(evidence) if found.id == LENGTH_ID]
    assert sorted(column.names) == [
        "10 to 34 characters",
        "35 to 59 characters",
        "60 to 84 characters",
        "85 to 109 characters",
    ]
    for question, code in zip(questions[:100], column.code[:100].tolist(), strict=True):
        low, _, high, _ = column.names[code].split()
        assert int(low) <= len(question) <= int(high)
    alike = make_evidence(question=["x" * 10] * N)
    assert LENGTH_ID not in [found.id for found in scanned_columns(alike)]
    lacking = make_evidence(question=[*questions[:-1], None])
    assert LENGTH_ID not in [found.id for found in scanned_columns(lacking)]


def test_the_place_of_the_answer_is_that_of_the_top_label() -> None:
    random = np.random.default_rng(0)
    probs = random.dirichlet([1, 1, 1], 300)
    evidence = choice_evidence(probs.tolist(), random.integers(0, 3, 300).tolist())
    (column,) = [found for found in scanned_columns(evidence) if found.id == ANSWER_ID]
    assert [column.names[code] for code in column.code] == [str(top + 1) for top in probs.argmax(axis=1)]


def test_one_click_opens_the_rows_of_a_group() -> None:
    evidence = make_evidence(0.35)
    group = scanned(evidence).groups[0]
    part = hidden_group_evidence(evidence, group.conditions)
    assert (part.n_used, part.accuracy) == (group.n, group.accuracy)
    assert set(part.run.rows["subject"]) == {"law"}
    assert part.verdict == group.verdict
    with pytest.raises(Unavailable, match="No row has subject tax"):
        hidden_group_evidence(evidence, [Condition("subject", "subject", "tax")])


def test_keys_and_rows_tell_groups_apart() -> None:
    result = scanned(make_evidence(0.35))
    keys = [group.key for group in result.groups]
    assert keys[0] == "r~subject=law~column:language=x"
    assert len(set(keys)) == len(keys)
    (table,) = hidden_groups_view(result).tables
    row, group = table.texts().row(0, named=True), result.groups[0]
    assert (row["Group"], row["Rows"], row["q"]) == ("subject: law, language: x", f"{group.n:,}", "< 0.001")
    assert row["Against the rest"].startswith("−")
    assert table.row_keys == tuple(keys)
    frame = result.to_frame()
    assert frame["group"].to_list() == [group.name for group in result.groups]
    assert frame["q"].to_list() == [group.q for group in result.groups]


def test_a_run_without_columns_or_with_few_questions_says_why() -> None:
    bare = given_evidence([0.5] * 100, [1, 0] * 50)
    result = scanned(bare)
    assert (result.groups, result.headline) == ((), NO_COLUMN)
    repeated = make_evidence(trial_of=[f"q{at % 10}" for at in range(N)])
    assert scanned(repeated).headline == (
        "Not scanned: only 50 different questions: with repeated questions, a p-value needs 60."
    )
    both = hidden_groups({"r": make_evidence(), "bare": bare})
    assert (both.n_tried, both.unavailable) == (23, {"bare": NO_COLUMN})


def test_progress_is_reported_up_to_one() -> None:
    told: list[float] = []
    hidden_groups({"r": make_evidence(), "s": make_evidence(seed=1)}, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1)
