"""Which numbers of self-consistency are about a score, and which are about the model?"""

from __future__ import annotations

from pathlib import Path

import pytest

import calib_core
from calib_core.methods.method import MethodOptions
from calib_core.methods.self_consistency import HELD_OUT_PHRASE
from calib_core.reporting.html import escape_text
from calib_core.results.evidence import gather_evidence
from calib_core.results.judged_answer import judged_by
from calib_core.results.overview import summarise_runs
from calib_core.results.reliability import reliability_diagram
from calib_core.results.run_verdict import run_verdict
from calib_core.runs import AnswerRun
from calib_core.views.inputs import applicable_options
from core.cli_calls import Call
from core.run_builders import make_answer_run
from core.sampled_runs import METHODS, make_questions, make_run

DATA = Path(__file__).parents[3] / "data" / "chains-open.answers.parquet"
RUN = make_run(make_questions(rows=60, samples=6))


@pytest.fixture(scope="module")
def demo() -> AnswerRun:
    run = calib_core.load(DATA)[-1]
    assert isinstance(run, AnswerRun)
    return run


@pytest.mark.parametrize("method", METHODS)
def test_the_verdict_is_on_the_score(method: str) -> None:
    evidence = gather_evidence(RUN, method)
    suffix = f" as a score ({evidence.method.short_title})"
    assert suffix in run_verdict(evidence).headline
    assert suffix in reliability_diagram(evidence, "ece").headline
    assert evidence.score_note is not None
    assert run_verdict(evidence).score_note == reliability_diagram(evidence, "ece").score_note
    assert f"{evidence.method.short_title} as a score" in evidence.score_note


def test_a_confidence_of_the_model_and_too_few_rows_have_no_such_words() -> None:
    given = gather_evidence(make_answer_run({"confidence": [0.9] * 40, "correct": [True] * 40}), "given")
    assert (given.score_note, given.optimism) == (None, None)
    assert "score" not in run_verdict(given).headline
    few = run_verdict(gather_evidence(make_run(make_questions(rows=20)), "cluster_size"))
    assert few.kind == "few"
    assert "score" not in few.headline
    assert few.optimism is None


def test_the_only_run_of_start_is_judged_in_the_same_words() -> None:
    evidence = gather_evidence(RUN, "cluster_size")
    assert summarise_runs({RUN.label: [evidence]}).headline == run_verdict(evidence).headline


def test_the_parts_are_the_same_from_either_reading() -> None:
    own, held_out = (gather_evidence(RUN, "cluster_size", MethodOptions(held_out=on)) for on in (False, True))
    assert own.optimism is not None
    assert own.optimism == held_out.optimism
    assert own.optimism.gap == pytest.approx(own.verdict.level)
    assert own.optimism.held_out_gap.value == pytest.approx(held_out.verdict.level)
    assert own.score_note != held_out.score_note


def test_there_are_no_parts_where_another_answer_is_judged() -> None:
    greedy = make_run(make_questions(rows=60), prediction=[str(row) for row in range(60)])
    evidence = gather_evidence(greedy, "cluster_size")
    assert evidence.optimism is not None
    assert judged_by(evidence, "greedy").optimism is None
    assert gather_evidence(RUN, "pairwise").optimism is None
    majority = make_answer_run({"sample_cluster": [[0, 0, 1]] * 40, "correct_majority": [True, False] * 20})
    judged = gather_evidence(majority, "cluster_size")
    assert judged.optimism is None
    assert judged.score_note is not None
    assert "too high" in judged.score_note


def test_rows_of_a_question_count_together() -> None:
    questions = make_questions(rows=60)
    trials = make_run([*questions, *questions], trial_of=[str(row) for row in range(60)] * 2)
    alone, repeated = (gather_evidence(run, "cluster_size").optimism for run in (make_run(questions), trials))
    assert alone is not None
    assert repeated is not None
    assert repeated.optimism.high == pytest.approx(alone.optimism.high)


def test_a_report_scores_the_other_two_once() -> None:
    options = MethodOptions(held_out=True)
    assert applicable_options(options, gather_evidence(RUN, "pairwise")) == MethodOptions()
    assert applicable_options(options, gather_evidence(RUN, "cluster_size")) == options


@pytest.mark.parametrize("verb", ["score", "bins", "sweep", "compare", "audit"])
def test_verbs_hold_out(verb: str, call: Call, demo: AnswerRun) -> None:
    words = (verb, DATA, "--run", demo.label, "--method", "cluster_size", "--json")
    own, held_out = (call(*words, *more).elements for more in ((), ("--held-out",)))
    assert not any(HELD_OUT_PHRASE in element["recipe"] for element in own)
    told = [element for element in held_out if element.get("metric") != "verdict"]
    assert told
    assert all(HELD_OUT_PHRASE in element["recipe"] for element in told)


def test_the_demo_says_what_is_left_for_the_model(call: Call, demo: AnswerRun) -> None:
    own, held_out = (calib_core.verdict(demo, method="cluster_size", held_out=on) for on in (False, True))
    assert own.optimism is not None
    gap = own.optimism.held_out_gap
    assert held_out.verdict.level == pytest.approx(gap.value)
    words = ("score", DATA, "--run", demo.label, "--method", "cluster_size", "--metric", "verdict")
    element = call(*words, "--json").element
    assert (element["held_out_gap"], element["held_out_low"], element["held_out_high"]) == (
        gap.value,
        gap.low,
        gap.high,
    )
    assert element["score_note"] == own.score_note
    assert f"{own.reason} {own.score_note}" in " ".join(call(*words).out.split())


def test_the_report_says_it_too(call: Call, demo: AnswerRun, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    page = ("--page", "reliability", "--method", "cluster_size", "--run", demo.label)
    call("report", DATA, *page, "--held-out", "-o", path)
    note = calib_core.verdict(demo, method="cluster_size", held_out=True).score_note
    assert note is not None
    text = path.read_text(encoding="utf-8")
    assert escape_text(note) in text
    assert HELD_OUT_PHRASE in text
