"""Metrics and terms are named and explained in the words of what the probabilities are of."""

from __future__ import annotations

import pytest

from calib_core.inference.missingness import Missingness, missing_caveat
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.metrics.metric import Metric
from calib_core.terms import ANSWER_TERMS, EVENT_TERMS, MIXED_TERMS, common_terms
from calib_core.views.glossary import meaning_of, terms_in

OF_ANSWERS = ("confiden", "accura", "right", "wrong", "answer")


@pytest.mark.parametrize(
    "metric", [one for one in METRICS.values() if one.needs == "pairs"], ids=lambda m: m.id
)
def test_no_metric_of_an_event_is_explained_by_answers(metric: Metric) -> None:
    said = metric.worded(EVENT_TERMS)
    texts = (said.title, said.title_in_sentence, said.recipe_name, said.help, said.no_interval_reason or "")
    assert not [word for word in OF_ANSWERS for text in texts if word in text.lower()]
    assert metric.worded(ANSWER_TERMS) is metric
    assert metric.worded(MIXED_TERMS) is metric
    assert (said.id, said.compute, said.direction) == (metric.id, metric.compute, metric.direction)


def test_a_term_is_explained_in_the_words_of_its_run() -> None:
    for text in ("ECE-L1", "Brier score", "AUROC", "MCE"):
        (of_event,), (of_answer,) = terms_in(text, terms=EVENT_TERMS), terms_in(text)
        assert of_event.name == of_answer.name
        assert of_event.meaning != of_answer.meaning
        assert not [word for word in OF_ANSWERS if word in of_event.meaning]
        assert meaning_of(of_event.name, EVENT_TERMS) == of_event.meaning
    assert meaning_of("Share of yes", EVENT_TERMS).startswith(
        "The share of rows in which the event came true"
    )


def test_runs_of_both_kinds_have_words_that_are_true_of_both() -> None:
    answer, event = METHODS["given"].terms, METHODS["event"].terms
    assert common_terms([event, event]) is EVENT_TERMS
    assert common_terms([answer]) is ANSWER_TERMS
    assert common_terms([]) is ANSWER_TERMS
    assert common_terms([answer, event]).accuracy_title == "Share right or yes"


def test_rows_without_a_probability_are_told_by_how_often_they_hold_yes() -> None:
    lacking = Missingness(117, 0, 683, 531, 1e-60, of="event")
    assert lacking.finding == (
        "117 of 800 rows have no probability of yes and hold yes less often (0.0 % against 77.7 %)"
    )
    assert lacking.scope == " where it has a probability of yes"
    assert missing_caveat([("", lacking)]) == f"{lacking.finding}."
    assert Missingness(1, 1, 99, 50, 0.04, of="event").finding.startswith(
        "1 of 100 rows has no probability of yes and holds yes more often"
    )
    assert Missingness(9, 5, 90, 50, 0.9, of="event").scope == ""
