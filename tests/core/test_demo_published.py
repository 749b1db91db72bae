"""The files of known models hold facts of their sources, and give the figures stated there."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from calib_core.api import load, score
from calib_core.methods import METHODS
from calib_core.methods.method import MethodOptions
from calib_core.results.evidence import survey_methods
from calib_core.runs import AnswerRun
from demo.published import SOURCES, Published, SourceFileError, commonsenseqa_rows, find_file, write

DATA = Path(__file__).parents[2] / "data"
MANIFEST: Mapping[str, Any] = json.loads((DATA / "MANIFEST.json").read_text(encoding="utf-8"))
MMLU_PRO, MMLU, COMMONSENSEQA, MMLU_REDUX = SOURCES
STATED, TOKENS, WORDING = "verbal", "given.mean-token-probability", "given.wording"

FIGURES = {
    ("gpt-4.1-mini · MMLU-Pro", STATED): (0.7601, 0.1686, 11_861),
    ("gpt-4.1-mini · MMLU-Pro", TOKENS): (0.7494, 0.1417, 12_032),
    ("gpt-4.1-mini · MMLU-Pro", WORDING): (0.7494, 0.1904, 12_032),
    ("Qwen3-14B · MMLU-Pro", STATED): (0.7656, 0.1293, 11_862),
    ("Qwen3-14B · MMLU-Pro", TOKENS): (0.7566, 0.1197, 12_032),
    ("Qwen3-14B · MMLU-Pro", WORDING): (0.8291, 0.0840, 7_240),
    ("Qwen2.5-7B · MMLU-Pro", STATED): (0.5063, 0.3904, 12_010),
    ("Qwen2.5-7B · MMLU-Pro", TOKENS): (0.5054, 0.3670, 12_032),
    ("Qwen2.5-7B · MMLU-Pro", WORDING): (0.5065, 0.3350, 11_990),
    ("Llama-3.1-8B · MMLU-Pro", STATED): (0.4493, 0.3609, 11_425),
    ("Llama-3.1-8B · MMLU-Pro", TOKENS): (0.4267, 0.3942, 12_032),
    ("Llama-3.1-8B · MMLU-Pro", WORDING): (0.4267, 0.3336, 12_032),
    ("gpt-4-turbo · MMLU", "given"): (0.8096, 0.1553, 5_999),
    ("Llama-3-70B · MMLU", "given"): (0.7540, 0.1916, 5_995),
    ("Llama-3-8B · MMLU", "given"): (0.5676, 0.2024, 5_997),
    ("Mistral · MMLU", "given"): (0.5263, 0.4286, 5_949),
    ("Qwen2.5-7B Base · CommonsenseQA", "given"): (0.8862, 0.0252, 1_221),
    ("Qwen2.5-7B RLVR · CommonsenseQA", "given"): (0.9083, 0.0917, 1_221),
    ("Qwen2.5-7B RLVR-Classifier · CommonsenseQA", "given"): (0.9083, 0.1827, 1_221),
    ("Qwen2.5-7B Answer-Prob · CommonsenseQA", "given"): (0.9083, 0.0311, 1_221),
    ("Qwen2.5-7B RLCR · CommonsenseQA", "given"): (0.9132, 0.3024, 1_221),
}
"""Run and method → accuracy, ECE (M = 10, right-closed) and rows, computed exactly from the source files."""

AUTHORS_FIGURES = {
    "Qwen2.5-7B Base": (0.0987, 0.6205),
    "Qwen2.5-7B RLVR": (0.0917, 0.5),
    "Qwen2.5-7B RLVR-Classifier": (0.1184, 0.6533),
    "Qwen2.5-7B Answer-Prob": (0.0826, 0.6034),
    "Qwen2.5-7B RLCR": (0.1673, 0.7280),
}
"""Model → Brier score and AUROC as the authors state them in their metrics.json."""


def runs_of(one: Published) -> dict[str, AnswerRun]:
    """The runs of a file by their label, in order."""
    runs = {run.label: run for run in load(DATA / one.name) if isinstance(run, AnswerRun)}
    assert sum(run.rows.height for run in runs.values()) == MANIFEST["files"][one.name]["rows"]
    return runs


def test_every_run_gives_the_figures_of_its_source() -> None:
    found: dict[tuple[str, str], tuple[float, float, int]] = {}
    for one in (MMLU_PRO, MMLU, COMMONSENSEQA):
        for label, run in runs_of(one).items():
            for method, evidence in survey_methods(run).usable.items():
                accuracy, ece = (
                    round(score(run, method=method, metric=metric).value or 0.0, 4)
                    for metric in ("accuracy", "ece")
                )
                found[label, method] = (accuracy, ece, evidence.n_used)
                assert evidence.warnings == ()
    assert found == FIGURES


def test_brier_score_and_auroc_are_those_of_the_authors() -> None:
    found = {
        run.info.model: tuple(
            round(score(run, method="given", metric=metric).value or 0.0, 4) for metric in ("brier", "auroc")
        )
        for run in runs_of(COMMONSENSEQA).values()
    }
    assert found == AUTHORS_FIGURES


def panel_oracle(run: AnswerRun) -> dict[str, tuple[float, float]]:
    """Formula → accuracy of the vote and Brier score, in fractions; letters that are missing are left out."""
    right: list[bool] = []
    errors: dict[str, list[Fraction]] = {"cluster_number": [], "cluster_size": [], "pairwise": []}
    for gold, votes in run.rows.select("gold", "samples").iter_rows():
        found = Counter(vote for vote in votes if vote is not None)
        (letter, size), *others = found.most_common()
        right.append(letter == gold)
        pairwise = Fraction(1)
        for _, other in others:
            pairwise *= Fraction(size, size + other)
        confidences = (1 - Fraction(len(found), found.total()), Fraction(size, found.total()), pairwise)
        for name, confidence in zip(errors, confidences, strict=True):
            errors[name].append((confidence - right[-1]) ** 2)
    accuracy = sum(right) / len(right)
    return {name: (accuracy, float(sum(squares) / len(squares))) for name, squares in errors.items()}


def test_the_panel_gives_the_figures_of_its_votes() -> None:
    (run,) = runs_of(MMLU_REDUX).values()
    exact = panel_oracle(run)
    of_letters = MethodOptions(unparseable="drop")
    pairs = {method: METHODS[method].confidences(run, of_letters).pairs for method in exact}
    found = {
        method: (each.correct.mean(), np.mean((each.confidence - each.correct) ** 2))
        for method, each in pairs.items()
    }
    assert found == {name: pytest.approx(values, abs=1e-12) for name, values in exact.items()}
    assert {name: tuple(round(value, 4) for value in values) for name, values in exact.items()} == {
        "cluster_number": (0.8644, 0.1025),
        "cluster_size": (0.8644, 0.0890),
        "pairwise": (0.8644, 0.0887),
    }
    words = (DATA / "README.md").read_text(encoding="utf-8")
    assert "0.8644" in words
    assert all(f"{brier:.4f}" in words for _, brier in exact.values())


def test_the_panel_is_called_one_and_its_questions_are_grouped_by_what_is_wrong_with_them() -> None:
    ((label, run),) = runs_of(MMLU_REDUX).items()
    assert label == "Panel of 14 models · MMLU-Redux"
    votes = run.rows["samples"]
    assert votes.list.len().unique().to_list() == [14]
    assert set(votes.explode().unique()) == {"A", "B", "C", "D", None}
    assert votes.explode().null_count() == 207
    groups = run.group_columns["error_type"]
    assert dict(groups.value_counts().iter_rows()) == {
        "ok": 5330,
        "bad_question_clarity": 132,
        "wrong_groundtruth": 107,
        "multiple_correct_answers": 39,
        "no_correct_answer": 35,
        "expert": 32,
        "bad_options_clarity": 25,
    }
    metadata = json.loads(pl.read_parquet_metadata(DATA / MMLU_REDUX.name)["calib"])
    assert any("no samples of one model" in note for note in metadata["notes"])


def test_the_app_opens_on_a_known_model() -> None:
    listed = sorted(path.name for path in DATA.iterdir() if path.name in MANIFEST["files"])
    assert listed[: len(SOURCES)] == [one.name for one in SOURCES]
    assert next(iter(runs_of(MMLU_PRO))) == "gpt-4.1-mini · MMLU-Pro"
    assert {run.info.dataset for run in runs_of(MMLU_PRO).values()} == {"MMLU-Pro"}


@pytest.mark.parametrize("one", [MMLU_PRO, COMMONSENSEQA], ids=lambda one: one.dataset)
def test_models_were_asked_the_same_questions(one: Published) -> None:
    first, *others = (
        run.rows.select(name for name in ("id", "subject", "gold") if name in run.rows.columns)
        for run in runs_of(one).values()
    )
    assert first["id"].n_unique() == first.height
    assert first["gold"].null_count() == 0
    for other in others:
        assert other.equals(first)


def test_only_rows_about_the_same_question_share_an_id() -> None:
    """Outcomes of two models on one question correlate; on different questions they do not."""
    runs = {run.info.model or "": run.rows.select("id", "correct") for run in runs_of(MMLU).values()}
    right = {model: rows["correct"].fill_null(value=False).to_numpy() for model, rows in runs.items()}
    for model, rows in runs.items():
        for other, other_rows in runs.items():
            if model != other:
                is_paired = rows["id"].equals(other_rows["id"])
                assert is_paired or not set(rows["id"]) & set(other_rows["id"])
                correlation = float(np.corrcoef(right[model], right[other])[0, 1])
                assert correlation > 0.25 if is_paired else abs(correlation) < 0.05, (model, other)
    assert len({rows["id"][0] for rows in runs.values()}) == 2


def test_an_empty_answer_is_wrong_and_an_unparseable_one_is_left_out() -> None:
    empty: dict[str, int] = {}
    for label, run in runs_of(MMLU_PRO).items():
        is_empty = run.rows["prediction"].is_null()
        assert not run.rows["correct"].filter(is_empty).any()
        answered = run.rows.filter(~is_empty)
        assert answered["correct"].equals(answered["prediction"] == answered["gold"], check_names=False)
        empty[label.partition(" ")[0]] = int(is_empty.sum())
    assert empty == {"gpt-4.1-mini": 180, "Qwen3-14B": 113, "Qwen2.5-7B": 58, "Llama-3.1-8B": 605}
    unknown = {label: run.rows["correct"].null_count() for label, run in runs_of(MMLU).items()}
    assert list(unknown.values()) == [1, 5, 3, 51]


def test_fourteen_subjects() -> None:
    for run in runs_of(MMLU_PRO).values():
        assert run.rows["subject"].n_unique() == 14
        assert run.rows["subject"].null_count() == 0


@pytest.mark.parametrize("one", SOURCES, ids=lambda one: one.dataset)
def test_only_facts_are_kept_and_their_source_is_named(one: Published) -> None:
    facts = {"model", "params_b", "tuning", "id", "subject", "gold", "prediction", "correct"}
    facts |= {"samples", "error_type"}
    confidences = {"confidence", "verbal_confidence"}
    schema = pl.read_parquet_schema(DATA / one.name)
    assert {name for name in schema if not name.startswith("confidence.")} <= facts | confidences
    texts = [name for name, dtype in schema.items() if dtype == pl.String and name != "id"]
    rows = pl.read_parquet(DATA / one.name, columns=texts)
    assert not rows.filter(pl.any_horizontal(pl.col(texts).str.len_chars() > 30)).height  # no question
    assert MANIFEST["files"][one.name]["source"] == one.source
    words = (DATA / "README.md").read_text(encoding="utf-8")
    for named in ("repository", "commit", "copyright"):
        assert str(one.source[named]) in words
    metadata = json.loads(pl.read_parquet_metadata(DATA / one.name)["calib"])
    assert str(one.source["copyright"]) in metadata["notes"][-1]


def test_the_sources_give_the_same_files_again(extra_files: Path, tmp_path: Path) -> None:
    write(extra_files / "real", tmp_path)
    told = json.loads((tmp_path / "MANIFEST.json").read_text(encoding="utf-8"))
    for one in SOURCES:
        assert pl.read_parquet(tmp_path / one.name).equals(pl.read_parquet(DATA / one.name))
        if told["made_with"][one.recipe]["polars"] == MANIFEST["made_with"][one.recipe]["polars"]:
            assert told["files"][one.name] == MANIFEST["files"][one.name]


def test_a_source_that_is_missing_or_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceFileError, match=r"data-00000-of-00001\.arrow: found 0 times below "):
        commonsenseqa_rows(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.csv").write_text("")
    with pytest.raises(SourceFileError, match=r"x\.csv: found 2 times"):
        find_file(tmp_path, "x.csv")
    assert find_file(tmp_path, "x.csv", "b") == tmp_path / "b" / "x.csv"


def test_models_with_other_questions_are_refused(extra_files: Path, tmp_path: Path) -> None:
    source = extra_files / "real" / "mmlu-pro-verbal"
    for path in source.glob("mmlu_pro*.csv"):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        (tmp_path / path.name).write_text("".join(lines), encoding="utf-8")
    changed = next(tmp_path.glob("*Qwen3*"))
    head, first, *rest = changed.read_text(encoding="utf-8").splitlines(keepends=True)
    changed.write_text("".join((head, *rest, first)), encoding="utf-8")
    with pytest.raises(SourceFileError, match="same questions in the same order"):
        MMLU_PRO.rows(tmp_path)
