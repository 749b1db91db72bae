"""Whatever is proposed for a table of predictions comes to exactly what the table was made from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from unittest.mock import ANY

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calib_core.readers.format import AS_IT_LIES, Reading, ReadOptions
from calib_core.results.evidence import AnswerEvidence
from calib_core.results.files import FileReport, check_file
from core.readers.conftest import ReadText

Cells = Sequence[object]
Sums = tuple[int, int, int, float]
"""Runs, rows, right answers, and the sum of the confidences."""

SAID_RIGHT: Final = ("is_correct", "right", "passed", "correct", "acc")
SAID_WRONG: Final = ("is_hallucination", "error", "wrong", "not_correct", "failed")
UNTOLD: Final = ("flagged", "judged", "reviewed")
WRITINGS: Final[Mapping[str, Callable[[bool], object]]] = {
    "numbers": int,
    "booleans": bool,
    "yes or no": lambda value: "yes" if value else "no",
    "Yes or No": lambda value: "Yes" if value else "No",
}
_PERCENTAGES: Final = ("confidence", "confidence_pct", "Conf (%)")
CONFIDENCE_FORMS: Final[Mapping[str, tuple[Sequence[str], Callable[[Any], Cells]]]] = {
    "plain": (("confidence", "conf", "certainty", "model_confidence"), np.ndarray.tolist),
    "percent": (_PERCENTAGES, lambda values: (values * 100).round(1).tolist()),
    "sign": (_PERCENTAGES, lambda values: [f"{value * 100:.1f}%" for value in values]),
    "inverted": (
        ("uncertainty", "prob_wrong", "hallucination_score"),
        lambda values: (1 - values).round(3).tolist(),
    ),
    "inverted in percent": (
        ("uncertainty",),
        lambda values: [f"{(1 - value) * 100:.1f}%" for value in values],
    ),
    "logarithm": (("logprob", "lp", "answer_logprob"), lambda values: np.log(values).tolist()),
    "words": (("conf", "certainty"), lambda values: np.where(values > 0.75, "high", "low").tolist()),
    "untold": (("risk",), lambda values: (1 - values).round(3).tolist()),
}
"""Form → names that such a column may have, and what it holds; of the last two a person knows the numbers."""
LABELS: Final[Mapping[str, tuple[str, ...]]] = {
    "prob_": ("neg", "pos"),
    "proba_": ("0", "1", "2"),
    "p_": ("A", "B", "C", "D"),
}
DECOYS: Final[Mapping[str, Callable[[np.random.Generator, int], Cells]]] = {
    "elapsed": lambda rng, n: rng.uniform(3, 60, n).round(2).tolist(),
    "completion_tokens": lambda rng, n: rng.integers(40, 900, n).tolist(),
    "tokens": lambda rng, n: rng.integers(40, 900, n).tolist(),
    "steps": lambda rng, n: rng.integers(3, 26, n).tolist(),
    "latency": lambda rng, n: rng.uniform(0, 1, n).round(3).tolist(),
    "temperature": lambda _rng, n: [0.7] * n,
    "n_steps": lambda rng, n: rng.integers(3, 26, n).tolist(),
    "cached": lambda rng, n: rng.choice([True, False], n).tolist(),
    "response": lambda rng, n: rng.choice(["Yes", "No"], n).tolist(),
    "question": lambda _rng, n: [f"Is {at} even?" for at in range(n)],
}


@dataclass(frozen=True)
class Table:
    """A table of predictions as someone may write it, and what it was made from."""

    columns: Mapping[str, Cells]
    layout: str
    exact: Sums
    told: str = ""
    """The column whose name says too little for it to be asked."""

    @property
    def text(self) -> str:
        rows = [dict(zip(self.columns, row, strict=True)) for row in zip(*self.columns.values(), strict=True)]
        return LAYOUTS[self.layout](rows)


Rows = Sequence[Mapping[str, object]]


def _csv(rows: Rows) -> str:
    lines = [[*rows[0]], *([_as_text(cell) for cell in row.values()] for row in rows)]
    return "".join(f"{','.join(line)}\n" for line in lines)


def _by_model(rows: Rows) -> str:
    half = len(rows) // 2
    return json.dumps({"small": rows[:half], "large": rows[half:]})


LAYOUTS: Final[Mapping[str, Callable[[Rows], str]]] = {
    "csv": _csv,
    "lines": lambda rows: "".join(f"{json.dumps(row)}\n" for row in rows),
    "list": json.dumps,
    "results": lambda rows: json.dumps({"model": "m", "accuracy": 0.5, "results": rows}),
    "indented": lambda rows: json.dumps({"model": "m", "accuracy": 0.5, "results": rows}, indent=1),
    "columns": lambda rows: json.dumps({"data": {name: [row[name] for row in rows] for name in rows[0]}}),
    "by model": _by_model,
}


def _as_text(cell: object) -> str:
    return cell if isinstance(cell, str) else json.dumps(cell)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    n = draw(st.integers(24, 40))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    confidence = rng.integers(505, 996, n) / 1000
    right = rng.random(n) < confidence
    right[:2] = True, False
    of_classes = draw(st.sampled_from(["", "", "", "one", "pipeline", "masses", *LABELS]))
    is_judged = np.ones(n, bool)
    columns: dict[str, Cells]
    told = ""
    if of_classes:
        columns = _of_classes(draw, rng, of_classes, confidence, right)
    else:
        columns, told = _confidence(draw, confidence)
        columns |= _outcome(draw, right, is_judged)
    decoys = sorted(DECOYS.keys() - ({"response"} if of_classes == "one" else set()))
    columns |= {
        name: DECOYS[name](rng, n)
        for name in draw(st.lists(st.sampled_from(decoys), unique=True, max_size=4))
    }
    columns |= _ids(draw, n)
    order = draw(st.permutations(sorted(columns)))
    layouts = [*LAYOUTS][of_classes == "pipeline" :]  # lists of objects are no cells of CSV
    layout = draw(st.sampled_from([layouts[0], *layouts]))
    n_runs = 1 + ("dataset" in columns or layout == "by model")
    exact = n_runs, int(is_judged.sum()), int(right[is_judged].sum()), float(confidence[is_judged].sum())
    return Table({name: columns[name] for name in order}, layout, exact, told)


def _confidence(draw: st.DrawFn, values: Any) -> tuple[dict[str, Cells], str]:
    """Return a column with the confidence in some form, and its name if that says nothing."""
    form = draw(st.sampled_from([*CONFIDENCE_FORMS]))
    names, write = CONFIDENCE_FORMS[form]
    name = draw(st.sampled_from(names))
    return {name: write(values)}, name if form in ("words", "untold") else ""


def _outcome(draw: st.DrawFn, right: Any, is_judged: Any) -> dict[str, Cells]:
    """Return a column with the outcome in some direction and writing, and sets which rows are judged."""
    writing = draw(st.sampled_from([*WRITINGS, "words", "abstaining"]))
    direction = draw(st.sampled_from([SAID_RIGHT, SAID_WRONG, UNTOLD]))
    read_as_it_is = {"correct"} if writing == "abstaining" else set[str]()  # what abstains is a bad row there
    name = draw(st.sampled_from([name for name in direction if name not in read_as_it_is]))
    if writing == "abstaining":
        is_judged[2::5] = False
    if writing in ("words", "abstaining"):
        words = np.where(is_judged, np.where(right, "correct", "incorrect"), "abstain")
        return {name: words.tolist()}
    is_turned = direction is SAID_WRONG or (direction is UNTOLD and draw(st.booleans()))
    cells: dict[str, Cells] = {name: [WRITINGS[writing](bool(value) != is_turned) for value in right]}
    if direction is SAID_RIGHT and draw(st.booleans()):
        other = draw(st.sampled_from([other for other in SAID_RIGHT if other != name]))
        cells |= {other: [WRITINGS[writing](bool(value) and at % 7 > 0) for at, value in enumerate(right)]}
    return cells


def _of_classes(
    draw: st.DrawFn, rng: np.random.Generator, prefix: str, confidence: Any, right: Any
) -> dict[str, Cells]:
    """Return the right class, the prediction, and the probability of one class or of each.

    The prefix is that of a column for each class, of which "masses" do not sum to 1; or "one" class has
    a column, or a "pipeline" has a list of all.
    """
    labels = LABELS["p_"] if prefix == "masses" else LABELS.get(prefix, ("neg", "pos"))
    n, k = len(right), len(labels)
    predicted = rng.permutation(np.arange(n) % k)
    gold = np.where(right, predicted, (predicted + 1) % k)
    is_judged = draw(st.booleans())
    gold_name = draw(st.sampled_from(["gold", "y_true", "target", *(() if is_judged else ["label"])]))
    columns: dict[str, Cells] = {gold_name: [labels[at] for at in gold]}
    if prefix == "one" or draw(st.booleans()):
        columns[draw(st.sampled_from(["pred", "y_pred", "prediction"]))] = [labels[at] for at in predicted]
    if is_judged:
        columns |= {draw(st.sampled_from(SAID_RIGHT)): right.tolist()}
    if prefix == "one":
        name = draw(st.sampled_from(["y_prob", "probability", "prob", "prob_pos"]))
        return columns | {name: np.where(predicted == 1, confidence, 1 - confidence).round(3).tolist()}
    others = (1 - confidence) / (k - 1)
    shares = [np.where(predicted == at, confidence, others) for at in range(k)]
    if prefix == "pipeline":
        pairs = [zip(labels, row, strict=True) for row in zip(*shares, strict=True)]
        scores = [[{"label": label, "score": share} for label, share in row] for row in pairs]
        return columns | {draw(st.sampled_from(["scores", "output"])): scores}
    prefix, mass = ("p_", 0.003) if prefix == "masses" else (prefix, 1)
    if prefix == "p_" and not is_judged and len(columns) == 1 and draw(st.booleans()):
        columns[gold_name] = gold.tolist()
    return columns | {
        f"{prefix}{label}": (mass * share).tolist() for label, share in zip(labels, shares, strict=True)
    }


def _ids(draw: st.DrawFn, n: int) -> dict[str, Cells]:
    """Return ids that are unique, or unique within another column, or none."""
    within = draw(st.sampled_from(["", "id", "part", "ds_name", "dataset", "subject"]))
    name = draw(st.sampled_from(["id", "question_id", "idx"]))
    if within == "id":
        return {name: list(range(n))}
    half = n // 2
    parts = {within: ["north" if at < half else "south" for at in range(n)]}
    return {name: [at % half if at < 2 * half else at for at in range(n)], **parts} if within else {}


def sums_of(report: FileReport) -> Sums:
    """Sum up what the first method makes of each run."""
    n, n_right, total = 0, 0, 0.0
    for run in report.runs:
        evidence = next(iter(run.survey.usable.values()))
        assert isinstance(evidence, AnswerEvidence)
        n, n_right = n + evidence.n_used, n_right + int(evidence.pairs.correct.sum())
        total += float(evidence.pairs.confidence.sum())
    return len(report.runs), n, n_right, total


def report_on(text: str, read_text: ReadText) -> tuple[FileReport, list[FileReport]]:
    """Return the report on a table, and those on it as it is proposed or asked, or else as it lies."""

    def read(further: ReadOptions = AS_IT_LIES) -> Reading:
        wishes = {key: getattr(further, key) for key in ("columns", "rows", "wide", "missing")}
        return read_text(text, "quiz", **wishes)

    report = check_file(read(), read_again=read)
    ways = () if report.proposal is None else report.proposal.readings
    found = [check_file(read(way.options)) for way in ways] or [report]
    return report, [one for one in found if one.status != "refused"]


@given(table=tables())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_proposed_is_what_the_table_was_made_from(table: Table, read_text: ReadText) -> None:
    report, usable = report_on(table.text, read_text)
    exact = pytest.approx(table.exact, abs=1e-6)
    if table.told:
        n_runs, n, n_right, _ = table.exact
        right = n_right / n if n_runs == 1 else ANY  # the accuracy is that of the first run
        asked = [*report.proposal.readings] if report.proposal and report.proposal.is_question else []
        is_asked_for_rows = table.layout == "by model" and "--rows" in report.message
        listed = {unused.column for unused in report.columns_not_used}
        assert is_asked_for_rows or table.told in listed.union(*(one.mapping for one in asked))
        assert bool(usable) == bool(asked)
        accuracies = [one.figures.accuracy for one in asked if "confidence" in str(one.mapping.values())]
        n_outcomes = len(table.columns.keys() & SAID_RIGHT)  # of two that disagree, both are asked about
        is_certain = n_outcomes == 1 and not table.columns.keys() & UNTOLD
        assert all(one == right for one in accuracies) if is_certain else not asked or right in accuracies
        assert "risk" not in str([one.mapping for one in asked]) or any(
            sums_of(one) == exact for one in usable
        )
    elif report.proposal is not None and report.proposal.is_question:
        assert any(sums_of(one) == exact for one in usable) or all(one.warnings for one in usable)
    else:
        (one,) = usable
        assert one.warnings or (one.status, sums_of(one)) == ("loads", exact)


@st.composite
def systems(draw: st.DrawFn) -> Table:
    """Draw a table in which each row has a confidence and an outcome of every system."""
    n, names = draw(st.integers(24, 40)), draw(st.sampled_from([("m1", "m2"), ("gpt", "claude", "llama")]))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    is_before = draw(st.booleans())
    outcome, is_turned = draw(st.sampled_from([("correct", False), ("is_correct", False), ("error", True)]))
    columns: dict[str, Cells] = {"question": DECOYS["question"](rng, n)}
    n_right, total = 0, 0.0
    for name in names:
        confidence = rng.integers(505, 996, n) / 1000
        right = rng.random(n) < confidence
        right[:2] = True, False
        cells = {"confidence": confidence.tolist(), outcome: (right != is_turned).astype(int).tolist()}
        columns |= {f"{name}_{key}" if is_before else f"{key}_{name}": cells[key] for key in cells}
        n_right, total = n_right + int(right.sum()), total + float(confidence.sum())
    return Table(
        columns, draw(st.sampled_from(["csv", "lines"])), (len(names), len(names) * n, n_right, total)
    )


@given(table=systems())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_systems_side_by_side_are_proposed_all_at_once(table: Table, read_text: ReadText) -> None:
    report, usable = report_on(table.text, read_text)
    assert report.proposal is not None
    assert any(sums_of(one) == pytest.approx(table.exact, abs=1e-6) for one in usable)
    assert report.proposal.is_question or len(usable) == 1


def test_ids_are_looked_at_again_without_a_column_that_does_not_fit(read_text: ReadText) -> None:
    scores = [{"label": "neg", "score": 0.4}, {"label": "pos", "score": 0.6}]
    rows = [
        {"y_true": "pos", "id": at % 12, "part": "north" if at < 12 else "south", "output": scores}
        for at in range(24)
    ]
    report, _ = report_on(json.dumps(rows), read_text)
    assert report.proposal is not None
    assert report.proposal.n_bad_rows == 0
    assert report.proposal.mapping["part"] == "subject"


def test_readings_that_differ_beyond_the_figures_of_the_first_run_are_both_asked(read_text: ReadText) -> None:
    rows = [
        {"certainty": 0.6, "dataset": dataset, "flagged": at % 2, "cached": (at + (dataset == "b")) % 2}
        for dataset in "ab"
        for at in range(12)
    ]
    report, _ = report_on(json.dumps(rows), read_text)
    assert report.proposal is not None
    asked = [tuple(one.mapping.items()) for one in report.proposal.readings]
    assert {name for one in asked for name, role in one if role.startswith("correct")} == {
        "flagged",
        "cached",
    }


N: Final = 40
RIGHT: Final = np.array([at % 5 > 0 for at in range(N)])
SURE: Final = np.array([(505 + 12 * at) / 1000 for at in range(N)])


def of_two_classes(n_positive: int) -> dict[str, Cells]:
    """The right class, the prediction, and the probability of the positive class."""
    predicted = np.arange(N) * 7 % N < n_positive
    names = {True: "pos", False: "neg"}
    return {
        "gold": [names[is_positive == right] for is_positive, right in zip(predicted, RIGHT, strict=True)],
        "y_pred": [names[is_positive] for is_positive in predicted],
        "y_prob": np.where(predicted, SURE, 1 - SURE).round(3).tolist(),
    }


YES_NO: Final = ["Yes" if at % 3 else "No" for at in range(N)]
HALVES: Final = of_two_classes(N // 2)
UNREAD: Final[Mapping[str, dict[str, Cells]]] = {
    "a class's probability beside a second answer": {**HALVES, "response": YES_NO},
    "a class's probability where one class is predicted four times": of_two_classes(4),
    "a label beside an answer that is none": {
        "label": HALVES["gold"],
        "y_pred": HALVES["y_pred"],
        "conf": SURE.tolist(),
        "answer": YES_NO,
    },
}


@pytest.mark.parametrize("name", UNREAD)
def test_what_the_table_was_made_from_is_asked_at_least(name: str, read_text: ReadText) -> None:
    _, usable = report_on(Table(UNREAD[name], layout="csv", exact=(0, 0, 0, 0.0)).text, read_text)
    exact = 1, N, int(RIGHT.sum()), float(SURE.sum())
    assert any(sums_of(one) == pytest.approx(exact, abs=1e-6) for one in usable)
