"""From a file's bytes to `score` and `bins` on the command line: every number is exact to 1e-12.

The files hold what bins are got wrong by: k/N, 0 and 1, values on the edges m/M and a last digit or
1e-12 beside them, in text, JSON and Parquet of every float dtype.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from core import oracle
from core.cli_calls import Answer, Call
from core.edge_cases import close, fixed_pairs
from core.oracle import Bins, Exact, Pair, Row
from fixture_files import FIXTURES

Writer = Callable[[Path, Sequence[Pair]], Path]

FEW_BINS = (10, 15, 1000)
"""Edges of one decimal, of none that ends, and of three decimals; `tests/core/test_bins.py` has other M."""


def as_csv(folder: Path, pairs: Sequence[Pair]) -> Path:
    path = folder / "quiz.csv"
    rows = "".join(f"q{at},{pair.confidence!r},{pair.correct}\n" for at, pair in enumerate(pairs))
    path.write_text(f"id,confidence,correct\n{rows}", encoding="utf-8")
    return path


def as_jsonl(folder: Path, pairs: Sequence[Pair]) -> Path:
    path = folder / "quiz.jsonl"
    rows = [
        {"id": at, "confidence": pair.confidence, "correct": pair.correct} for at, pair in enumerate(pairs)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def as_parquet(folder: Path, pairs: Sequence[Pair]) -> Path:
    path = folder / "quiz.parquet"
    dtype = {2: np.float16, 4: np.float32, 8: np.float64}[pairs[0].width]
    frame = pl.DataFrame(
        {
            "confidence": pl.Series(np.array([pair.confidence for pair in pairs], dtype)),
            "correct": [bool(pair.correct) for pair in pairs],
        }
    )
    frame.write_parquet(path)
    return path


FILES: dict[str, tuple[Writer, int]] = {
    "csv": (as_csv, 8),
    "jsonl": (as_jsonl, 8),
    "parquet float64": (as_parquet, 8),
    "parquet float32": (as_parquet, 4),
    "parquet float16": (as_parquet, 2),
}


def exact_table(pairs: Sequence[Pair], how: Bins) -> list[dict[str, Any]]:
    """The non-empty bins as fractions."""
    numbers = sorted(set(oracle.indices(pairs, how)))
    return [
        {
            "low": Fraction(number, how.bins),
            "high": Fraction(number + 1, how.bins),
            "count": Fraction(len(inside)),
            "confidence": sum((Fraction(pair.confidence) for pair in inside), Fraction(0)) / len(inside),
            "accuracy": Fraction(sum(pair.correct for pair in inside), len(inside)),
        }
        for number, inside in zip(numbers, oracle.members(pairs, how), strict=True)
    ]


def same_scores(answer: Answer, expected: dict[str, Exact]) -> None:
    assert answer.code == 0
    values = {
        element["metric"]: element["value"] for element in answer.elements if element["metric"] != "verdict"
    }
    assert set(values) == set(expected)
    for metric, exact in expected.items():
        value = float("inf") if values[metric] == "inf" else values[metric]
        if metric == "smooth_ece":  # sums of a kernel, not exact
            assert value == pytest.approx(exact, abs=oracle.SMOOTH_TOLERANCE)
        else:
            assert close(value, exact), (metric, value, exact)


def same_table(answer: Answer, pairs: Sequence[Pair], how: Bins) -> None:
    assert answer.code == 0
    table, expected = answer.element["bins"], exact_table(pairs, how)
    assert len(table) == len(expected)
    for row, exact in zip(table, expected, strict=True):
        for name, value in exact.items():
            assert close(row[name], value), (name, row, exact)


@pytest.mark.parametrize("bins", FEW_BINS)
@pytest.mark.parametrize("kind", FILES)
def test_one_confidence_per_question(call: Call, tmp_path: Path, kind: str, bins: int) -> None:
    writer, width = FILES[kind]
    pairs = [pair for pair in fixed_pairs(bins) if pair.width == width]
    path, how = writer(tmp_path, pairs), Bins("width", bins)
    same_scores(
        call("score", path, "--bins", bins, "--json"),
        {metric: of(pairs, how) for metric, of in oracle.OF_PAIRS.items()},
    )
    same_table(call("bins", path, "--bins", bins, "--json"), pairs, how)


@pytest.mark.parametrize("binning", ["mass", "natural"])
@pytest.mark.parametrize("bins", [1, 7, 100])
def test_other_bins(call: Call, tmp_path: Path, binning: str, bins: int) -> None:
    pairs = [pair for pair in fixed_pairs(5) if pair.width == 8][:60]  # natural bins are of 64 values at most
    how = Bins("mass" if binning == "mass" else "natural", bins)
    words = ("--binning", binning, "--bins", bins, "--json")
    answer = call("score", as_csv(tmp_path, pairs), *words)
    same_scores(answer, {metric: of(pairs, how) for metric, of in oracle.OF_PAIRS.items()})


def some_rows(width: int) -> list[Row]:
    """Distributions over four choices in the dtype of a file; their sums are off 1 by rounding alone."""
    rng = np.random.default_rng(7)
    sharp = rng.dirichlet([0.3] * 4, 60)
    round_ = np.array(
        [[0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25], [0.5, 0.5, 0.0, 0.0], [0.7, 0.15, 0.1, 0.05]]
    )
    probs = np.concatenate([sharp, round_]).astype(f"f{width}")
    labels = [int(row.argmax()) if at % 3 else at % 4 for at, row in enumerate(probs)]
    return [Row(tuple(map(float, row)), width, label) for row, label in zip(probs, labels, strict=True)]


def top_pairs(rows: Sequence[Row]) -> list[Pair]:
    """The first of the largest probabilities of each row."""
    return [
        Pair(max(row.probs), row.width, int(row.probs.index(max(row.probs)) == row.label)) for row in rows
    ]


def choices_file(folder: Path, rows: Sequence[Row], width: int) -> Path:
    if width == 8:
        path = folder / "quiz.jsonl"
        lines = [{"choice_probs": row.probs, "gold": str(row.label)} for row in rows]
        path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        return path
    path = folder / "quiz.parquet"
    inner = pl.Float32() if width == 4 else pl.Float16()
    probs = pl.Series("choice_probs", [list(row.probs) for row in rows]).cast(pl.List(inner))
    pl.DataFrame([probs, pl.Series("gold", [str(row.label) for row in rows])]).write_parquet(path)
    return path


@pytest.mark.parametrize("bins", FEW_BINS)
@pytest.mark.parametrize("width", [2, 4, 8])
def test_every_choice(call: Call, tmp_path: Path, width: int, bins: int) -> None:
    rows, how = some_rows(width), Bins("width", bins)
    path = choices_file(tmp_path, rows, width)
    top, every = top_pairs(rows), oracle.all_pairs(rows)
    expected = {metric: of(top, how) for metric, of in oracle.OF_PAIRS.items()}
    expected |= {metric: of(rows, how) for metric, of in oracle.OF_ROWS.items()}
    same_scores(call("score", path, "--bins", bins, "--json"), expected)
    pooled = {metric: oracle.OF_PAIRS[metric](every, how) for metric in ("ece", "mce", "brier")}
    words = [word for metric in pooled for word in ("--metric", metric)]
    same_scores(call("score", path, "--bins", bins, "--labels", "all", *words, "--json"), pooled)
    same_table(call("bins", path, "--bins", bins, "--json"), top, how)
    same_table(call("bins", path, "--bins", bins, "--labels", "all", "--json"), every, how)
    same_table(call("bins", path, "--bins", bins, "--metric", "full_ece", "--json"), every, how)


@pytest.mark.parametrize("bins", FEW_BINS)
def test_fractions_of_samples(call: Call, tmp_path: Path, bins: int) -> None:
    """Of N answers k are equal, every k and N up to 16: k/N is the nearest float64 to the fraction."""
    rows: list[dict[str, Any]] = []
    pairs: list[Pair] = []
    for number in range(2, 17):
        for agreeing in range(1, number + 1):
            others = [f"other {at}" for at in range(number - agreeing)]
            right = (agreeing + number) % 3 > 0
            rows.append({"samples": ["Paris"] * agreeing + others, "gold": "paris" if right else "Rome"})
            pairs.append(Pair(float(Fraction(agreeing, number)), 8, int(right)))
    path, how = tmp_path / "quiz.jsonl", Bins("width", bins, computed=True)
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    words = ("--method", "cluster_size", "--bins", bins, "--json")
    same_scores(
        call("score", path, *words), {metric: of(pairs, how) for metric, of in oracle.OF_PAIRS.items()}
    )
    same_table(call("bins", path, *words), pairs, how)


def test_the_worked_example(call: Call) -> None:
    path = FIXTURES / "canonical" / "example.answers.jsonl"
    accuracies = call("score", path, "--metric", "accuracy", "--json")
    biases = call("score", path, "--metric", "bias", "--json")
    right = {element["method"]: element["value"] for element in accuracies.elements}
    confidence = {
        element["method"]: element["value"] + right[element["method"]] for element in biases.elements
    }
    assert right == {
        "choice_softmax": 0.5, "choice_length_normalised": 1, "logit_path": 1, "logit_answer": 1, "p_true": 1,
        "cluster_number": 0, "cluster_size": 0, "pairwise": 0, "verbal": 1,
    }  # fmt: skip
    for method, value in {
        "choice_softmax": (0.68 / 0.918 + 0.7 / 0.85) / 2, "logit_path": 0.79, "logit_answer": 0.65,
        "p_true": 0.56, "cluster_number": 0.25, "cluster_size": 0.5, "pairwise": 4 / 9, "verbal": 0.9,
    }.items():  # fmt: skip
        assert confidence[method] == pytest.approx(value, abs=1e-6)
    halved = call("score", path, "--method", "p_true", "--renormalise", "--metric", "bias", "--json").element
    assert halved["value"] == pytest.approx(0.8 - 1, abs=1e-6)
