"""Every group has the metric of its own rows, its interval, and its place in the order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from scipy.stats import false_discovery_control

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.methods.method import MethodOptions
from calib_core.metrics import METRICS
from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.results.groups import GroupBy, groups_of_rows, groups_of_runs, split_by_group
from calib_core.results.score import score
from calib_core.results.uncertainty import metric_interval, simultaneous_interval
from calib_core.runs import RunInfo
from calib_core.views.groups import groups_view
from core.real_choices import real_choices
from core.run_builders import choice_evidence, given_evidence

SUBJECT = GroupBy("subject", "subject", "rows")
SHOTS = GroupBy("shots", "shots", "runs")

CONFIDENCE = [0.9, 0.8, 0.7, 0.6, 0.5, None, 0.3, 0.2]
RIGHT = [1, 0, 1, 1, 0, 1, 0, 1]
SUBJECTS = ["b", "a", "b", "a", None, "a", "c", "b"]


def make_evidence(**info: Any) -> AnswerEvidence:
    evidence = given_evidence(CONFIDENCE, RIGHT, subject=SUBJECTS, id=[str(at) for at in range(len(RIGHT))])
    told: dict[str, Any] = {"model": "m", **info}
    return replace(evidence, run=replace(evidence.run, info=RunInfo(**told)))


def subject_evidence(subject: str) -> AnswerEvidence:
    """The rows of one subject as a run of their own."""
    rows = [at for at, own in enumerate(SUBJECTS) if own == subject]
    return given_evidence([CONFIDENCE[at] for at in rows], [RIGHT[at] for at in rows])


@pytest.mark.parametrize("metric", ["ece", "brier", "accuracy", "auroc"])
def test_a_group_is_what_its_rows_alone_would_be(metric: str) -> None:
    result = groups_of_rows({"r": make_evidence()}, SUBJECT, metric, Scheme("width", 5))
    assert {group.name for group in result.groups} == {"a", "b", "c"}
    for group in result.groups:
        part = subject_evidence(group.name)
        number, ends = (
            score(part, metric, Scheme("width", 5)),
            metric_interval(part, metric, Scheme("width", 5)),
        )
        assert group.value == number.value
        assert (group.verdict, group.null_median) == (part.verdict, number.null_median)
        assert (group.low, group.high) == ((None, None) if ends is None else (ends.low, ends.high))
        assert (group.n_used, group.n_total) == (part.n_used, part.n_total)
        assert (group.accuracy, group.mean_confidence) == (part.accuracy, part.mean_confidence)
    assert result.overall == {"r": score(make_evidence(), metric, Scheme("width", 5)).value}


def test_groups_of_different_size_have_their_debiased_ece_beside() -> None:
    """One row has none; of two rows in a bin and one in another, 2·d₁·d₂ / n."""
    pair = given_evidence([0.8, 0.8, 0.7, 0.7], [0, 1, 1, 0], subject=["a", "a", "a", "b"])
    result = groups_of_rows({"r": pair}, SUBJECT, "ece", Scheme("width", 10))
    found = {group.name: group.debiased for group in result.groups}
    assert found["a"] == pytest.approx(2 * 0.8 * -0.2 / 3 / 1)
    assert set(groups_of_rows({"r": pair}, SUBJECT, "brier").to_frame()["debiased"]) == {None}
    assert groups_view(result).tables[0].texts()["Debiased squared ECE"].n_unique() == 2
    equal = given_evidence([0.8, 0.8, 0.7, 0.7], [0, 1, 1, 0], subject=["a", "a", "b", "b"])
    (table,) = groups_view(groups_of_rows({"r": equal}, SUBJECT, "ece")).tables
    assert "Debiased squared ECE" not in table.texts().columns


def test_bias_is_confidence_minus_accuracy() -> None:
    (group,) = [
        one for one in groups_of_rows({"r": make_evidence()}, SUBJECT, "ece").groups if one.name == "a"
    ]
    assert group.bias == pytest.approx(0.7 - 0.5)


def test_rows_in_no_group_are_counted() -> None:
    assert groups_of_rows({"r": make_evidence()}, SUBJECT, "brier").n_ungrouped == {"r": 1}


@pytest.mark.parametrize(
    ("sort", "names"), [("name", ["a", "b", "c"]), ("n", ["b", "a", "c"]), ("value", ["a", "b", "c"])]
)
def test_groups_are_sorted_as_requested(sort: Any, names: list[str]) -> None:
    result = groups_of_rows({"r": make_evidence()}, SUBJECT, "brier", order=sort)
    values = {group.name: group.value for group in result.groups}
    assert [group.name for group in result.groups] == names
    assert all(
        groups_of_rows({"r": make_evidence()}, SUBJECT, "brier", order=before).sorted_by(sort).groups
        == result.groups
        for before in ("name", "n", "value")
    )
    if sort == "value":
        assert names == sorted(values, key=lambda name: -(values[name] or 0))


def test_a_group_without_a_number_comes_last() -> None:
    result = groups_of_rows({"r": make_evidence()}, SUBJECT, "auroc", order="value")
    assert (result.groups[-1].name, result.groups[-1].value) == ("c", None)


def test_progress_is_reported_up_to_one() -> None:
    told: list[float] = []
    groups_of_rows({"r": make_evidence(), "s": make_evidence()}, SUBJECT, "brier", progress=told.append)
    assert told == pytest.approx([1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6, 1])
    told.clear()
    groups_of_runs(
        {"r": make_evidence(shots=0), "s": make_evidence(shots=5)}, SHOTS, "brier", progress=told.append
    )
    assert told == sorted(told)
    assert 0 < told[0] <= told[-1] <= 1


def test_few_rows_are_marked() -> None:
    confidence, right = [0.5] * 60, [1, 0] * 30
    subjects = ["many"] * 30 + ["few"] * 29 + ["one"]
    result = groups_of_rows({"r": given_evidence(confidence, right, subject=subjects)}, SUBJECT, "brier")
    assert {group.name: group.has_few_rows for group in result.groups} == {
        "many": False,
        "few": True,
        "one": True,
    }


def test_groups_of_several_runs_are_shown_together() -> None:
    runs = {"r": make_evidence(shots=0), "s": make_evidence(shots=5)}
    result = groups_of_rows(runs, SUBJECT, "brier", order="name")
    assert [(group.name, group.run) for group in result.groups] == [
        (name, run) for name in "abc" for run in "rs"
    ]
    assert dict(result.series) == {"r": "m · 0-shot", "s": "m · 5-shot"}


def test_one_model_asked_with_more_shots_is_named_in_the_sentence() -> None:
    runs = {f"{shots}": make_evidence(shots=shots, model="Qwen/Qwen2.5-1.5B-Instruct") for shots in (0, 5)}
    result = groups_of_rows(runs, SUBJECT, "brier")
    assert dict(result.series) == {"0": "0-shot", "5": "5-shot"}


def test_runs_of_one_name_are_distinguished_by_key_and_title() -> None:
    off = given_evidence([0.9] * 4, [0, 0, 0, 1], subject=["a", "a", "b", "b"])
    seen_ = {"r": make_evidence(), "s": off}
    alike = groups_of_rows(seen_, SUBJECT, "brier", titles={"r": "m", "s": "m"})
    assert alike.headline == "All 5 groups by subject have too few rows."
    assert alike.subheadline == "All 5 groups by subject in 2 runs have too few rows."
    titled = groups_of_rows(seen_, SUBJECT, "brier", titles={"r": "one", "s": "two"})
    assert titled.series == {"r": "m", "s": "two"}


def test_a_run_without_such_rows_says_so() -> None:
    result = groups_of_rows({"r": make_evidence(), "s": given_evidence([0.5], [1])}, SUBJECT, "brier")
    assert result.unavailable == {"s": "Its rows have no subject."}
    assert list(result.series) == ["r"]


def test_a_run_that_cannot_give_the_metric_says_why() -> None:
    result = groups_of_rows({"r": make_evidence()}, SUBJECT, "full_ece")
    assert "one number per question" in result.unavailable["r"]
    assert result.groups == ()
    with pytest.raises(Unavailable):
        groups_of_rows({"r": make_evidence()}, SUBJECT, "no_such_metric")


def test_all_labels_of_a_group_are_those_of_its_rows() -> None:
    probs = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3]]
    gold, names = [0, 1, 0, 2], ["a", "b", "a", "b"]
    whole_run = choice_evidence(probs, gold, MethodOptions(labels="all"), subject=names)
    for group in groups_of_rows({"r": whole_run}, SUBJECT, "ece").groups:
        rows = [at for at, name in enumerate(names) if name == group.name]
        part = choice_evidence(
            [probs[at] for at in rows], [gold[at] for at in rows], MethodOptions(labels="all")
        )
        assert group.value == pytest.approx(score(part, "ece").value or 0)
        assert "all labels, K=3" in group.recipe


def test_parts_are_the_rows_of_each_group() -> None:
    parts = split_by_group(make_evidence(), SUBJECT)
    assert list(parts) == ["b", "a", "c"]
    assert parts["b"].confidences.pairs.confidence.tolist() == [0.9, 0.7, 0.2]


def test_runs_grouped_by_a_fact_are_one_dot_each_and_compared() -> None:
    runs = {"few": make_evidence(shots=0), "many": make_evidence(shots=5), "unknown": make_evidence()}
    result = groups_of_runs(runs, SHOTS, "brier")
    assert [(group.run, group.series) for group in result.groups] == [("few", "0-shot"), ("many", "5-shot")]
    assert list(result.series) == ["0-shot", "5-shot"]
    assert result.unavailable == {"unknown": "Its file gives no number of shots."}
    (contrast,) = result.contrasts
    assert contrast.difference is not None
    assert (contrast.difference.value, contrast.difference.n_questions) == (0, 7)
    assert result.headline.startswith("5-shot − 0-shot of m: Brier score +0.0000")
    assert result.subheadline == f"Both runs have too few rows. {result.headline}"
    assert result.overall == {}


def test_the_frame_has_one_row_per_group() -> None:
    frame = groups_of_rows({"r": make_evidence()}, SUBJECT, "brier").to_frame()
    assert sorted(frame["name"]) == ["a", "b", "c"]
    assert frame["series"].unique().to_list() == ["m"]
    assert groups_of_rows({}, SUBJECT, "brier").to_frame().columns == frame.columns


def many_groups(off: float = 0.0, **columns: Any) -> AnswerEvidence:
    """80 groups of 100 rows, the first four over-confident by so much."""
    random = np.random.default_rng(0)
    confidence = random.uniform(0.3, 0.9, 8000)
    group = np.arange(8000) % 80
    right = random.random(8000) < confidence - off * (group < 4)
    return given_evidence(confidence, right, subject=[f"g{at:02}" for at in group], **columns)


def test_q_values_count_every_group_and_headlines_count_by_q() -> None:
    result = groups_of_rows({"r": many_groups()}, SUBJECT, "brier")
    ps = [group.verdict.p for group in result.groups]
    assert sum(p is not None and p <= 0.05 for p in ps) >= 1, "by chance, some are clear alone"
    q_values = false_discovery_control([p for p in ps if p is not None])
    assert [group.q for group in result.groups] == pytest.approx(q_values.tolist())
    rests = [group.rest for group in result.groups if group.rest is not None]
    assert len(rests) == 80
    rest_q_values = false_discovery_control([rest.p for rest in rests])
    assert [rest.q for rest in rests] == pytest.approx(rest_q_values.tolist())
    assert (
        result.headline == "None of the 80 groups by subject with enough rows is worse than chance explains."
    )
    assert result.subheadline.startswith("All 80 groups by subject show no evidence of miscalibration. ")
    assert "none of 80 groups" in result.subheadline


def test_groups_that_are_off_come_first_and_differ_from_the_rest() -> None:
    result = groups_of_rows({"r": many_groups(0.3)}, SUBJECT, "ece")
    first = result.groups[:4]
    assert {group.name for group in first} == {"g00", "g01", "g02", "g03"}
    assert {group.counted_kind for group in first} == {"over"}
    assert {group.rest is not None and group.rest.is_clear for group in first} == {True}
    assert [group.bias for group in first] == sorted((group.bias or 0 for group in first), reverse=True)
    assert result.headline.startswith(f"Calibration is worst in {first[0].name}, where the model states ")
    assert result.headline.endswith(" 4 of 80 groups by subject are clearly miscalibrated.")
    assert result.subheadline.startswith(
        "Of 80 groups by subject, 4 are over-confident and 76 show no evidence of miscalibration. "
    )


def test_intervals_of_gaps_hold_together() -> None:
    """Each is as wide as one of 80 has to be (Bonferroni), and none is given on few rows."""
    evidence = many_groups(0.3)
    (first, *_) = groups_of_rows({"r": evidence}, SUBJECT, "ece").groups
    alone = split_by_group(evidence, SUBJECT)[first.name]
    wanted = simultaneous_interval(alone, METRICS["bias"], 80)
    single = metric_interval(alone, "bias")
    assert wanted is not None
    assert single is not None
    assert (first.bias_low, first.bias_high) == (wanted.low, wanted.high)
    low, high = 1 - 0.025 / 80, 0.975  # of Student's t, with two rows added
    ratio = stats.t.ppf(low, 101) / stats.t.ppf(high, 101)
    assert (wanted.high - wanted.low) / (single.high - single.low) == pytest.approx(ratio)
    few = groups_of_rows({"r": make_evidence()}, SUBJECT, "ece").groups
    assert {(group.bias_low, group.bias_high) for group in few if group.has_few_rows} == {(None, None)}


def test_a_group_is_compared_with_all_other_rows_also_those_in_no_group() -> None:
    evidence = many_groups(0.3)
    pairs = evidence.confidences.pairs
    alone = evidence.run.rows["subject"].to_list()
    named = [name if name == "g01" else None for name in alone]
    rows = evidence.run.rows.with_columns(subject=pl.Series(named, dtype=pl.String))
    only = replace(evidence, run=replace(evidence.run, rows=rows))
    (group,) = groups_of_rows({"r": only}, SUBJECT, "brier").groups
    (same,) = [one for one in groups_of_rows({"r": evidence}, SUBJECT, "brier").groups if one.name == "g01"]
    assert group.rest is not None
    assert same.rest is not None
    assert (group.rest.value, group.rest.p) == (same.rest.value, same.rest.p)
    assert pairs.n == 8000


def test_few_repeated_questions_are_not_compared() -> None:
    rows = 8000
    evidence = many_groups(0.3, trial_of=[f"q{at % 50}" for at in range(rows)])
    groups = groups_of_rows({"r": evidence}, SUBJECT, "brier").groups
    assert {group.rest for group in groups} == {None}
    assert {group.verdict.kind for group in groups} == {"few"}


def test_real_choices_by_subject_and_by_shots(extra_files: Path) -> None:
    """Four subjects of 100 questions; the notes of the two logs say ECE .2386 and .2154."""
    runs = {
        f"{shots}": gather_evidence(real_choices(extra_files, shots), "choice_softmax") for shots in (0, 5)
    }
    result = groups_of_rows(runs, SUBJECT, "ece")
    assert {(group.n_used, group.has_few_rows) for group in result.groups} == {(100, False)}
    assert len(result.groups) == 8
    assert {key: round(value or 0, 4) for key, value in result.overall.items()} == {"0": 0.2386, "5": 0.2154}
    (contrast,) = groups_of_runs(runs, SHOTS, "ece").contrasts
    assert contrast.difference is not None
    assert round(contrast.difference.value, 3) == round(0.2154 - 0.2386, 3)
    assert contrast.difference.n_questions == 399  # machine_learning asks one question twice


def test_another_metric_does_not_judge_the_groups_again() -> None:
    evidence = make_evidence()
    first, again = split_by_group(evidence, SUBJECT), split_by_group(evidence, SUBJECT)
    assert first is again
    other = GroupBy("dataset", "data set", "rows")
    assert set(evidence.last_split) == {SUBJECT}
    split_by_group(evidence, other)
    assert set(evidence.last_split) == {other}, "one split is kept, not all"
