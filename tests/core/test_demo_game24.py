"""The file of puzzles holds facts of the logs that it was made from, and gives the figures of the logs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calib_core.api import load
from calib_core.methods import METHODS
from calib_core.methods.method import MethodOptions
from calib_core.runs import AnswerRun
from demo.game24 import NAME, SOURCE, expression, write

DATA = Path(__file__).parents[2] / "data"
ENTRY: Mapping[str, Any] = json.loads((DATA / "MANIFEST.json").read_text(encoding="utf-8"))["files"][NAME]


@pytest.fixture(scope="module")
def runs() -> list[AnswerRun]:
    return [run for run in load(DATA / NAME) if isinstance(run, AnswerRun)]


def brier_of_votes(run: AnswerRun, n_samples: int) -> Fraction:
    """Brier score of F_CS on the first samples of each puzzle, without those in no cluster, in fractions."""
    errors: list[Fraction] = []
    for clusters, right in run.rows.select("sample_cluster", "sample_correct").iter_rows():
        counted = [cluster for cluster in clusters[:n_samples] if cluster is not None]
        largest, size = Counter(counted).most_common(1)[0]
        errors.append((Fraction(size, len(counted)) - right[clusters.index(largest)]) ** 2)
    return sum(errors, Fraction()) / len(errors)


FIGURES = {
    "GPT-4, chain of thought": (2780, 0.0403, 49, 0.08, (0.1674, 0.1203, 0.1232)),
    "GPT-4, answer only": (276, 0.0734, 33, 0.09, (0.3709, 0.3354, 0.3260)),
}
"""Model → samples without an expression, share of right samples, puzzles with a right sample, accuracy of the
vote, and the Brier score of F_CS for N = 10, 40 and 100."""


def test_the_figures_of_the_logs(runs: list[AnswerRun]) -> None:
    words = (DATA / "README.md").read_text(encoding="utf-8")
    found: dict[str | None, tuple[int, float, int, float, tuple[float, ...]]] = {}
    for run in runs:
        clusters, right = run.rows["sample_cluster"], run.rows["sample_correct"]
        assert clusters.list.len().to_list() == right.list.len().to_list() == [100] * 100
        pairs = METHODS["cluster_size"].confidences(run, MethodOptions(unparseable="drop")).pairs
        brier = float(np.mean((pairs.confidence - pairs.correct) ** 2))
        assert brier == pytest.approx(float(brier_of_votes(run, 100)), abs=1e-12)
        of_samples = (
            clusters.explode().null_count(),
            round(float(right.explode().cast(float).to_numpy().mean()), 4),
        )
        votes = tuple(round(float(brier_of_votes(run, n)), 4) for n in (10, 40, 100))
        found[run.info.model] = (
            *of_samples,
            int(right.list.any().sum()),
            float(pairs.correct.mean()),
            votes,
        )
        row = (
            f"| {run.info.model} | {100 * of_samples[1]:.2f} % | {right.list.any().sum()} | "
            f"{int(pairs.correct.sum())} | {pairs.confidence.mean():.3f} | {brier:.4f} |"
        )
        assert row in words
    assert found == FIGURES


def test_members_of_a_cluster_are_all_right_or_all_wrong(runs: list[AnswerRun]) -> None:
    for run in runs:
        for clusters, right in run.rows.select("sample_cluster", "sample_correct").iter_rows():
            outcomes = {pair for pair in zip(clusters, right, strict=True) if pair[0] is not None}
            assert len(outcomes) == len(set(clusters) - {None})


def test_both_runs_are_of_the_same_puzzles(runs: list[AnswerRun]) -> None:
    first, second = (run.rows["id"] for run in runs)
    assert first.equals(second)
    assert first.n_unique() == 100


def test_only_facts_are_kept_and_their_source_is_named() -> None:
    head, *rows = map(json.loads, (DATA / NAME).read_text(encoding="utf-8").splitlines())
    assert {key for row in rows for key in row} == {"model", "id", "sample_cluster", "sample_correct"}
    assert ENTRY["source"] == SOURCE
    words = (DATA / "README.md").read_text(encoding="utf-8")
    for named in (SOURCE["commit"], SOURCE["copyright"]):
        assert str(named) in words
    assert any(str(SOURCE["copyright"]) in note for note in head["calib"]["notes"])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Steps:\n6 - 4 = 2\nAnswer: (6 - 4) * 12 = 24", "(6-4)*12"),
        ("Answer: 1 = 1\nAnswer: 2 * 12", "2*12"),
        ("Answer: (6 / 2) ≠ 24", None),
        ("Answer: No solution\n3 * 8 = 24", None),
        ("3 * 8 = 24", None),
    ],
)
def test_an_expression_is_the_last_answer_up_to_the_equals_sign(text: str, found: str | None) -> None:
    assert expression(text) == found


def test_the_logs_give_the_same_bytes_again(extra_files: Path, tmp_path: Path) -> None:
    write(extra_files / "real" / "tot-game24", tmp_path)
    assert (tmp_path / NAME).read_bytes() == (DATA / NAME).read_bytes()
    assert json.loads((tmp_path / "MANIFEST.json").read_text())["files"] == {NAME: ENTRY}
