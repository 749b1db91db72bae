"""Which columns hold the labels of a judge and of people, by their names and values."""

from __future__ import annotations

import polars as pl
import pytest

from calib_core.readers.table.candidates import find_candidates
from calib_core.readers.table.names import says_who_labels
from calib_core.readers.table.plans import plans

N = 60
PASS = pl.Series(["pass" if at % 3 else "fail" for at in range(N)])
OTHER = pl.Series(["pass" if at % 4 else "fail" for at in range(N)])
GRADES = pl.Series([str(1 + at % 5) for at in range(N)])
SHARES = pl.Series([f"0.{10 + at}" for at in range(N)])
TEXTS = pl.Series([f"Because of {at}" for at in range(N)])


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("human_label", "human"),
        ("human", "human"),
        ("annotator_1", "human"),
        ("Annotator 2", "human"),
        ("expert_rating", "human"),
        ("rater_a", "human"),
        ("human_verdict", "human"),
        ("humanScore", "human"),
        ("manual_grade", "human"),
        ("winner_human", "human"),
        ("llm_judge", "judge"),
        ("judge_verdict", "judge"),
        ("gpt_4_judge_label", "judge"),
        ("verdict", "judge"),
        ("grader", "judge"),
        ("autorater_score", "judge"),
        ("winner_judge", "judge"),
        ("judgement", "judge"),
        ("humaneval", None),
        ("human_answer", None),
        ("human_reference", None),
        ("judge_explanation", None),
        ("judge_model", None),
        ("judge_id", None),
        ("annotator_id", None),
        ("label", None),
        ("llm_score", None),
        ("gold", None),
        ("correct", None),
        ("annotator_id_hash", None),
    ],
)
def test_what_a_header_says_of_who_gave_the_labels(header: str, expected: str | None) -> None:
    assert says_who_labels(header) == expected


def planned(read_as: dict[str, str] | None = None, **columns: pl.Series) -> list[dict[str, str]]:
    """The mappings that would be tried."""
    found = find_candidates(columns, read_as or {})
    return [dict(plan.columns) for plan in plans(found, read_as or {})]


def test_a_judge_is_proposed_beside_people() -> None:
    assert planned(llm_judge=PASS, human_label=OTHER) == [{"llm_judge": "judge", "human_label": "human"}]


def test_several_people_keep_their_names() -> None:
    assert planned(llm_judge=PASS, annotator_1=OTHER, annotator_2=PASS) == [
        {"llm_judge": "judge", "annotator_1": "human.annotator_1", "annotator_2": "human.annotator_2"}
    ]


def test_a_judge_alone_is_what_it_was() -> None:
    names = {name for one in planned(llm_judge=PASS, confidence=SHARES) for name in one.values()}
    assert "judge" not in names
    assert planned(llm_judge=PASS, confidence=SHARES, human_label=OTHER)[0].keys() & {"confidence"}
    assert not any("human" in one.values() for one in planned(confidence=SHARES, human_label=OTHER))


def test_where_a_confidence_is_known_people_say_the_outcome() -> None:
    found = planned(confidence=SHARES, llm_judge=PASS, human_label=OTHER)
    assert {name for one in found for name in one.values()} == {"confidence", "correct:pass"}


def test_labels_whose_name_does_not_say_whose_they_are_are_asked() -> None:
    found = find_candidates({"gpt4_grade": PASS, "human_label": OTHER}, {})
    assert {(one.name, one.clarity) for one in found} >= {("judge", "hinted"), ("human", "said")}
    assert planned(gpt4_grade=PASS, human_label=OTHER) == [{"gpt4_grade": "judge", "human_label": "human"}]


def test_beside_a_confidence_in_words_labels_are_people_s_by_their_name_alone() -> None:
    sure = pl.Series(["high" if at % 3 else "low" for at in range(PASS.len())])
    assert planned(judged=PASS, cached=OTHER) == [{"judged": "judge", "cached": "human"}]
    assert planned(judged=PASS, cached=OTHER, conf=sure) == []
    assert planned(judged=PASS, human_label=OTHER, conf=sure) == [{"judged": "judge", "human_label": "human"}]


def test_texts_and_scores_are_no_labels() -> None:
    assert planned(judge_reason=TEXTS, verdict=TEXTS, human_label=PASS, extra=GRADES) == []


def test_a_judges_grades_are_its_labels() -> None:
    found = planned({"judge_score": "judge_score"}, judge_score=GRADES, human_score=GRADES)
    assert found == [{"judge_score": "judge", "human_score": "human"}]


def test_what_a_judges_score_is_the_probability_of_is_asked() -> None:
    found = planned({"judge_score": "judge_score", "human": "human"}, judge_score=SHARES, human=PASS)
    assert found == [
        {"judge_score": "event_prob", "human": "event:pass"},
        {"judge_score": "event_prob", "human": "event:fail"},
    ]


def test_of_two_judges_one_is_chosen() -> None:
    found = planned(judge_a=PASS, judge_b=OTHER, human_label=PASS)
    assert [{"judge_a", "judge_b"} & one.keys() for one in found] == [{"judge_a"}, {"judge_b"}]


def test_a_column_of_judges_names_is_the_model_beside_their_labels() -> None:
    names = pl.Series(["oak" if at < N // 2 else "elm" for at in range(N)])
    columns = {"judge": names, "label": PASS, "human_label": OTHER}
    mapping = {"judge": "model", "label": "judge", "human_label": "human"}
    assert planned({"judge": "judge"}, **columns) == [mapping]
    assert planned(judge=PASS, label=PASS, human_label=OTHER)[0]["judge"] == "judge"
