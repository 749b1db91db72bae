"""Metrics over N' are those of the drawn subsamples, and reproducible by seed."""

from __future__ import annotations

import itertools
import statistics
from pathlib import Path

import numpy as np
import pytest

from calib_core.api import load
from calib_core.errors import Unavailable
from calib_core.methods.answers.unparseable import UnparseableRule
from calib_core.methods.method import MethodOptions
from calib_core.results import sampling
from calib_core.results.evidence import gather_evidence
from calib_core.results.sampling import SamplingPlan, sample_size_sweep
from calib_core.results.score import score
from core.run_builders import make_answer_run
from core.sampled_runs import (
    METHODS,
    METRICS,
    drawn_parts,
    exact_values,
    make_questions,
    make_run,
    without_none,
)
from core.token_run_builders import random_rows

RULES: tuple[UnparseableRule, ...] = ("own", "one", "drop")


@pytest.mark.parametrize("rule", RULES)
def test_each_draw_is_that_of_exact_fractions(rule: UnparseableRule) -> None:
    questions = make_questions()
    result = sample_size_sweep(
        make_run(questions), SamplingPlan((2, 4), 6, 5), MethodOptions(unparseable=rule)
    )
    for at, size in enumerate((2, 4)):
        parts = drawn_parts(questions, size, 6, 5)
        for method, metric in itertools.product(METHODS, METRICS):
            curve = result.curve(method, metric)
            values = exact_values(parts, method, metric, rule)
            wanted = [float(value) for value in values if value is not None]
            assert curve.mean[at] == pytest.approx(statistics.fmean(wanted), abs=1e-12)
            assert curve.std[at] == pytest.approx(statistics.pstdev(wanted), abs=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_every_sample_is_one_draw_that_the_method_itself_gives(rule: UnparseableRule) -> None:
    options = MethodOptions(unparseable=rule)
    run = make_run(make_questions(40, 6))
    result = sample_size_sweep(run, SamplingPlan((3, 6), 4), options)
    for method, metric in itertools.product(METHODS, METRICS):
        curve = result.curve(method, metric)
        assert curve.mean[1] == pytest.approx(
            score(gather_evidence(run, method, options), metric).value, abs=1e-14
        )
        assert curve.std[1] is None
    assert result.n_draws == {3: 4, 6: 1}
    assert "only one subset, so no spread" in result.spread_caveats[6]
    assert result.accuracy[1] == result.curve("pairwise", "accuracy").mean[1]


def test_parts_are_drawn_evenly_and_without_replacement() -> None:
    """Against the mean over all ordered parts: 3 of 5 samples, of which two agree at first sight only."""
    question = {"id": "a", "answer_kind": "number", "gold": "1", "samples": ["1", "2", "2", "1", "?"]}
    every = [
        question | {"samples": [question["samples"][at] for at in places]}
        for places in itertools.permutations(range(5), 3)
    ]
    run = make_run([question])
    repeats = 1500
    result = sample_size_sweep(run, SamplingPlan((3,), repeats, metrics=("brier", "accuracy")))
    for method, metric in itertools.product(METHODS, ("brier", "accuracy")):
        values = [float(value) for value in exact_values([[part] for part in every], method, metric, "own")]
        off = without_none(result.curve(method, metric).mean)[0] - statistics.fmean(values)
        assert abs(off) < 4 * statistics.pstdev(values) / repeats**0.5
        assert result.curve(method, metric).std[0] == pytest.approx(statistics.pstdev(values), rel=0.1)


def test_the_same_seed_gives_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(make_questions(30, 8))
    first = sample_size_sweep(run, SamplingPlan((2, 4), 10, 3)).to_frame()
    assert first.equals(sample_size_sweep(run, SamplingPlan((2, 4), 10, 3)).to_frame())
    assert not first.equals(sample_size_sweep(run, SamplingPlan((2, 4), 10, 4)).to_frame())
    monkeypatch.setattr(sampling, "_MAX_SHUFFLED", 1)
    apart = sample_size_sweep(run, SamplingPlan((2, 4), 10, 3)).to_frame()
    assert np.allclose(first["mean"], apart["mean"], atol=1e-14)
    assert np.allclose(first["gap"].fill_null(0), apart["gap"].fill_null(0), atol=1e-14)


def test_an_additional_size_does_not_change_the_others() -> None:
    run = make_run(make_questions(30, 8))
    alone, beside = (
        sample_size_sweep(run, SamplingPlan((4,), 5)),
        sample_size_sweep(run, SamplingPlan((2, 4), 5)),
    )
    for one, two in zip(alone.curves, beside.curves, strict=True):
        assert (one.mean[0], one.std[0]) == (two.mean[1], two.std[1])


def test_all_sizes_stand_on_the_same_questions() -> None:
    questions = make_questions(9, 8, lost=0)
    questions[0]["samples"] = questions[0]["samples"][:5]
    result = sample_size_sweep(make_run(questions), SamplingPlan((2, 8), 5))
    assert (result.n_used, result.n_total, result.sample_range) == (8, 9, (8, 8))
    assert result.recipe.endswith(", n=8/9")
    assert result.n_draws == {2: 5, 8: 1}
    short = sample_size_sweep(make_run(questions), SamplingPlan((2, 4), 5))
    assert (short.n_used, short.sample_range) == (9, (5, 8))
    assert set(short.spread_caveats) == {4}
    parts = drawn_parts(questions, 2, 5, 0)
    wanted = statistics.fmean(map(float, exact_values(parts, "cluster_size", "brier", "own")))
    assert short.curve("cluster_size", "brier").mean[0] == pytest.approx(wanted, abs=1e-12)


def test_a_draw_of_which_nothing_parses_is_left_out_and_counted() -> None:
    questions = [
        {"id": "a", "answer_kind": "number", "gold": "1", "samples": ["1", "?", "?", "?"]},
        {"id": "b", "answer_kind": "number", "gold": "2", "samples": ["2", "2", "2", "2"]},
    ]
    result = sample_size_sweep(make_run(questions), SamplingPlan((2,), 50))
    parts = drawn_parts(questions, 2, 50, 0)
    lost = sum(part[0]["samples"] == ["?", "?"] for part in parts)
    assert 10 < lost < 40
    assert result.n_without_confidence == {2: lost}
    assert result.to_frame()["absent"][0] == lost


def test_mean_confidence_and_accuracy_of_the_draws() -> None:
    questions = make_questions(lost=0)
    result = sample_size_sweep(make_run(questions), SamplingPlan((4,), 7))
    bias = sample_size_sweep(make_run(questions), SamplingPlan((4,), 7, metrics=("bias",)))
    for method in METHODS:
        said, right = without_none(result.mean_confidence[method])[0], without_none(result.accuracy)[0]
        assert said - right == pytest.approx(bias.curve(method, "bias").mean[0], abs=1e-12)
    assert without_none(result.mean_confidence["cluster_number"])[0] <= 1 - 1 / 4


def test_baselines_stand_on_the_same_questions_and_say_whose_answer() -> None:
    questions = make_questions(10, 8)
    for question in questions[:3]:
        question["samples"] = question["samples"][:2]
    p_true = [0.1 * row for row in range(10)]
    greedy = [row % 2 == 0 for row in range(10)]
    run = make_run(questions, p_true=p_true, correct=greedy)
    result = sample_size_sweep(run, SamplingPlan((4,), 2, metrics=("brier", "accuracy")))
    assert result.n_used == 7
    wanted = statistics.fmean((p_true[row] - greedy[row]) ** 2 for row in range(3, 10))
    found = {(each.method, each.metric): each for each in result.baselines}
    assert found["p_true", "brier"].value == pytest.approx(wanted)
    assert found["p_true", "accuracy"].value == pytest.approx(3 / 7)
    assert (found["p_true", "brier"].n_questions, found["p_true", "brier"].judged) == (7, "greedy answer")
    assert set(result.missing_baselines) == {"logit_path", "logit_answer"}
    assert result.judged == "majority answer"


def test_the_frame_has_every_number_with_its_recipe() -> None:
    run = make_run(make_questions(20, 8), p_true=[0.5] * 20, correct=[True] * 20)
    result = sample_size_sweep(run, SamplingPlan((2, 4, 8), 3, 7))
    frame = result.to_frame()
    assert frame.height == 3 * 4 * 3 + 3  # AUROC of answers that are all right is not defined
    assert frame["recipe"].null_count() == frame["judged"].null_count() == 0
    row = frame.row(0, named=True)
    assert row["recipe"].startswith("Brier, F_CN, N'=2, 4, 8 of N=8, answers compared as numbers, ")
    assert "unparseable samples own clusters" in row["recipe"]
    assert "drawn without replacement, 3 repeats, seed 7, ties to the first drawn" in row["recipe"]
    assert row["recipe"].endswith("n=20/20")
    assert (row["f_cn_most"], row["against"], row["draws"]) == (0.5, 4, 3)
    drawn = {(row["method"], row["size"]): (row["said"], row["right"]) for row in frame.head(36).to_dicts()}
    assert drawn == {
        (method, size): (result.mean_confidence[method][at], result.accuracy[at])
        for method in METHODS
        for at, size in enumerate(result.sizes)
    }  # what the lower panel of the figure draws
    assert "ECE-L1, equal width, M=10, right-closed, F_CS" in result.curve("cluster_size", "ece").recipe


def test_progress_grows_to_the_end() -> None:
    told: list[tuple[float, str]] = []
    plan = SamplingPlan((2, 4), 5)
    sample_size_sweep(
        make_run(make_questions()), plan, progress=lambda share, text: told.append((share, text))
    )
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert told[-1] == (1.0, "5 of 5 repeats")


def test_impossible_sample_sizes_are_refused() -> None:
    run = make_run(make_questions())
    with pytest.raises(Unavailable, match="does not use samples"):
        sample_size_sweep(run, SamplingPlan(methods=("p_true",)))
    with pytest.raises(Unavailable, match="whole distribution"):
        sample_size_sweep(run, SamplingPlan(metrics=("full_ece",)))
    with pytest.raises(Unavailable, match="no column samples"):
        sample_size_sweep(make_answer_run({"confidence": [0.5], "correct": [True]}))
    for wrong in (SamplingPlan(repeats=0), SamplingPlan(seed=-1)):
        with pytest.raises(ValueError, match="1 repeat or more"):
            sample_size_sweep(run, wrong)
    with pytest.raises(ValueError, match="within above 0"):
        sample_size_sweep(run, tolerance=0)


def test_positions_of_a_text_have_no_samples(tmp_path: Path) -> None:
    probs, target = random_rows(20, 5, seed=1)
    np.savez(tmp_path / "text.npz", probs=probs, target=target)
    (run,) = load(tmp_path / "text.npz")
    with pytest.raises(Unavailable, match="token-level"):
        sample_size_sweep(run)
