"""The token-level demo files match their recipe, and the code that makes them works."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from calib_core.api import load, score
from calib_core.results.evidence import gather_evidence
from calib_core.results.robustness import PAPER_BINS, sweep_bins
from calib_core.results.run_verdict import run_verdict
from calib_core.runs import TokenRun
from calib_core.tokens.grid import GRID_CELLS
from calib_core.tokens.sums import N_DRAWS
from calib_core.tokens.texts import text_numbers
from demo.code import text
from demo.code.ngram import Counts, counted, distribution
from demo.code.recipe import CodeRecipe
from demo.code.text import Source, Texts, library, split
from demo.code.windows import asked, said
from demo.code.work import work_folder

DATA = Path(__file__).parents[2] / "data"
RECIPE = CodeRecipe()
LAST = f"step{RECIPE.steps}"


def token_runs(name: str) -> list[TokenRun]:
    return [run for run in load(DATA / name) if isinstance(run, TokenRun)]


@pytest.fixture(scope="module")
def networks() -> list[TokenRun]:
    return token_runs("code-gpt.sums.parquet")


@pytest.fixture(scope="module")
def ngrams() -> list[TokenRun]:
    return token_runs("code-ngram.sums.parquet")


@pytest.fixture(scope="module")
def top() -> pl.DataFrame:
    return pl.read_parquet(DATA / "code-top20.tokens.parquet")


@pytest.fixture(scope="module")
def dense() -> dict[str, NDArray[Any]]:
    with np.load(DATA / "code-dense.tokens.npz", allow_pickle=False) as archive:
        return dict(archive)


def test_one_network_at_every_checkpoint_and_temperature(networks: list[TokenRun]) -> None:
    settings = [(run.info.checkpoint, run.info.tokens_seen, run.info.temperature) for run in networks]
    assert settings == [
        *((f"step{step}", RECIPE.tokens_seen(step), 1.0) for step in RECIPE.checkpoints),
        *((LAST, RECIPE.tokens_seen(RECIPE.steps), temperature) for temperature in RECIPE.temperatures),
    ]
    infos = [run.info for run in networks]
    ((model, _dataset, params_b, _tuning),) = {(i.model, i.dataset, i.params_b, i.tuning) for i in infos}
    assert params_b is not None
    assert model == f"gpt-code-{params_b * 1e3:.1f}M"


def test_one_ngram_model_a_smoothing(ngrams: list[TokenRun]) -> None:
    names = [name for name, _softness in RECIPE.softness]
    assert [run.info.model for run in ngrams] == [f"{RECIPE.order}-gram-{name}" for name in names]
    assert all(run.info.tokens_seen and run.info.params_b and run.info.tuning == "base" for run in ngrams)
    assert {(run.info.checkpoint, run.info.temperature) for run in ngrams} == {(None, 1.0)}


def test_all_are_asked_the_same_positions(networks: list[TokenRun], ngrams: list[TokenRun]) -> None:
    for run in (*networks, *ngrams):
        assert (run.sums.n_rows, run.sums.n_classes) == (RECIPE.positions, RECIPE.vocabulary)
        assert (run.sums.occurrences == networks[0].sums.occurrences).all()
        assert run.sums.sum_deviation < 1e-6 * RECIPE.positions
        assert run.sums.draws is not None
        assert len(run.sums.draws.all_labels) == len(run.sums.draws.top_label) == N_DRAWS
        assert "Tiny model trained for this demo." in run.row_counts.notes


def test_sums_by_class_are_kept_of_the_last_checkpoint(
    networks: list[TokenRun], ngrams: list[TokenRun]
) -> None:
    kept = [run.label for run in (*networks, *ngrams) if run.sums.by_class is not None]
    assert kept == [networks[len(RECIPE.checkpoints) - 1].label]


def test_every_position_has_its_text(
    networks: list[TokenRun],
    ngrams: list[TokenRun],
    top: pl.DataFrame,
    dense: dict[str, NDArray[Any]],
) -> None:
    names = top["doc"].unique().to_list()
    assert len(names) == RECIPE.texts
    numbers = np.sort(text_numbers(names))
    for run in (*networks, *ngrams):
        assert run.sums.texts is not None
        assert (np.unique(run.sums.texts.text) == numbers).all()
        assert set(run.sums.texts.sizes.tolist()) == {RECIPE.positions // RECIPE.texts}
        assert run_verdict(gather_evidence(run, "tokens")).verdict.kind != "dependent"
    assert set(dense["text"].tolist()) == set(names)
    for name in ("code-top20.tokens.parquet", "code-dense.tokens.npz"):
        (run,) = token_runs(name)
        assert run.sums.texts is not None
        assert np.unique(run.sums.texts.text).size == RECIPE.texts


def test_temperature_moves_confidence_and_no_answer(networks: list[TokenRun]) -> None:
    warm, *colder = networks[len(RECIPE.checkpoints) - 1 :]
    assert {run.sums.top_label.n_correct for run in colder} == {warm.sums.top_label.n_correct}
    confidence_sum = {run.info.temperature: run.sums.top_label.confidence_sum for run in (warm, *colder)}
    assert confidence_sum[0.5] > confidence_sum[1.0]


def test_softer_counts_are_less_sure(ngrams: list[TokenRun]) -> None:
    witten_bell, hard, soft = (run.sums.top_label.confidence_sum for run in ngrams)
    assert hard > witten_bell > soft


def test_the_largest_entries_are_in_order_and_the_rest_is_what_they_leave(top: pl.DataFrame) -> None:
    assert top.height == RECIPE.top_positions
    logs, ids = np.stack(top["top_logprobs"].to_list()), np.stack(top["top_ids"].to_list())
    assert logs.shape == ids.shape == (RECIPE.top_positions, RECIPE.top)
    assert (np.diff(logs, axis=1) <= 0).all()
    assert all(len(set(row)) == RECIPE.top for row in ids.tolist())
    assert 0 <= ids.min() <= ids.max() < RECIPE.vocabulary
    left = 1 - np.exp(logs.astype(np.float64)).sum(1)
    assert np.abs(left - top["rest_mass"].to_numpy()).max() < 1e-5


def test_a_target_has_one_probability(top: pl.DataFrame) -> None:
    for row in top.iter_rows(named=True):
        if row["target"] in row["top_ids"]:
            place = row["top_ids"].index(row["target"])
            assert row["target_logprob"] == row["top_logprobs"][place]
            assert row["target_rank"] <= place + 1
        else:
            assert row["target_rank"] > RECIPE.top - row["top_logprobs"].count(row["target_logprob"])
            assert row["target_logprob"] <= row["top_logprobs"][-1]


def test_top_file_says_where_each_position_stands(top: pl.DataFrame) -> None:
    assert top.select("doc", "position").is_unique().all()
    assert top["doc"].str.ends_with(".py").all()
    metadata = json.loads(pl.read_parquet_metadata(DATA / "code-top20.tokens.parquet")["calib"])
    assert (metadata["format"], metadata["vocab_size"], metadata["k"]) == (
        "calib-tokens",
        RECIPE.vocabulary,
        RECIPE.top,
    )
    assert (metadata["checkpoint"], metadata["temperature"]) == (LAST, 1.0)


def test_dense_file_holds_whole_distributions(dense: dict[str, NDArray[Any]]) -> None:
    probs, target = dense["probs"], dense["target"]
    assert (probs.shape, probs.dtype) == ((RECIPE.dense_positions, RECIPE.vocabulary), np.float16)
    assert target.shape == (RECIPE.dense_positions,)
    assert np.abs(probs.astype(np.float64).sum(1) - 1).max() < 1e-3
    metadata = json.loads(str(dense["meta"]))
    assert (metadata["format"], metadata["checkpoint"], metadata["temperature"]) == (
        "calib-tokens",
        LAST,
        1.0,
    )


def test_dense_and_top_are_of_one_model(dense: dict[str, NDArray[Any]], top: pl.DataFrame) -> None:
    both = top.gather_every(RECIPE.top_positions // RECIPE.dense_positions)
    assert both["doc"].to_list() == dense["text"].tolist()
    assert both["target"].to_list() == dense["target"].tolist()
    largest = np.exp(both["top_logprobs"].list.first().to_numpy())
    assert np.abs(largest - dense["probs"].max(axis=1).astype(np.float64)).max() < 2**-11


def smoothed(tokens: list[int], before: list[int], word: int, softness: Fraction, classes: int) -> Fraction:
    """P(word | before) by the formula, in fractions and by looking at every place of the text."""
    shorter = smoothed(tokens, before[1:], word, softness, classes) if before else Fraction(1, classes)
    size = len(before)
    seen = [tokens[at + size] for at in range(len(tokens) - size) if tokens[at : at + size] == before]
    if not seen:
        return shorter
    trust = softness * len(set(seen))
    return (seen.count(word) + trust * shorter) / (len(seen) + trust)


@pytest.mark.parametrize("softness", [Fraction(1), Fraction(1, 8), Fraction(8)])
def test_counts_smooth_as_the_formula_says(softness: Fraction) -> None:
    tokens = np.random.default_rng(3).integers(0, 4, 60).tolist()
    counts = counted(np.array(tokens), 4, 3)
    for before in ([0, 1], [3, 3], [2], []):
        found = distribution(counts, np.array(before, np.int64), float(softness))
        wanted = [float(smoothed(tokens, before, word, softness, 4)) for word in range(4)]
        assert found == pytest.approx(wanted, abs=1e-15)


def test_a_context_never_seen_is_cut_short() -> None:
    counts: Counts = counted(np.array([0, 1, 0, 1, 2]), 4, 3)
    seen_last = distribution(counts, np.array([1]), 1.0)
    assert (distribution(counts, np.array([3, 1]), 1.0) == seen_last).all()
    assert counts.size == 3 + 3 + 3


def test_counts_refuse_what_no_whole_number_holds() -> None:
    with pytest.raises(ValueError, match="6 tokens out of 2048 do not fit"):
        counted(np.zeros(9, np.int64), 2_048, 6)


def test_every_position_is_where_it_says() -> None:
    recipe = CodeRecipe(window=8, texts=2, windows_per_text=2, predicted=3)
    files = [np.arange(100 * n, 100 * n + size) for n, size in enumerate((5, 20, 17, 40))]
    positions = asked(files, recipe)
    found = [files[file][place] for file, place in zip(positions.file, positions.place, strict=True)]
    assert positions.target.tolist() == found
    assert len(set(found)) == recipe.positions == 12
    assert positions.windows.shape == (4, 9)
    assert set(positions.file) == {1, 2}, "the first files that hold two windows"
    with pytest.raises(ValueError, match="1 files have 17 tokens, 2 are asked for"):
        asked(files[:2], recipe)


def test_every_nth_position_is_taken_through_all_windows() -> None:
    recipe = CodeRecipe(window=8, texts=2, windows_per_text=2, predicted=4)
    positions = asked([np.arange(20), np.arange(100, 130)], recipe)

    def shown(window: NDArray[np.int64]) -> NDArray[np.float64]:
        return window[-recipe.window // 2 :, None].astype(np.float64)  # what comes next, as a probability

    pieces = list(said(shown, positions, 2))
    assert [target.tolist() for _, target in pieces] == [probs[:, 0].tolist() for probs, _ in pieces]
    assert np.concatenate([target for _, target in pieces]).tolist() == positions.target[::2].tolist()


def test_library_leaves_tests_and_tables_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left_out = ("test/t.py", "a/idle_test/t.py", "encodings/cp1.py", "_sysconfigdata_x.py")
    for name in ("b.py", "a/c.py", *left_out):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"# coding: latin-1\r\nx = '\xe4'\r\n")
    monkeypatch.setattr(text.sysconfig, "get_path", lambda _name: str(tmp_path))
    assert library() == [Source(name, "# coding: latin-1\nx = 'ä'\n") for name in ("a/c.py", "b.py")]


def test_split_shares_no_file_and_comes_out_again() -> None:
    sources = [Source(f"{n}.py", "") for n in range(50)]
    halves = split(sources, 0.1, seed=1)
    assert (len(halves.train), len(halves.test)) == (45, 5)
    assert sorted((*halves.train, *halves.test), key=lambda one: int(one.name[:-3])) == sources
    assert split(sources, 0.1, seed=1) == halves != split(sources, 0.1, seed=2)


def test_another_text_or_recipe_is_kept_elsewhere(tmp_path: Path) -> None:
    one, other = Texts((Source("a", "x"),), ()), Texts((Source("a", "y"),), ())
    folders = {
        work_folder(tmp_path, recipe, texts)
        for recipe, texts in ((RECIPE, one), (RECIPE, other), (CodeRecipe(seed=11), one), (CodeRecipe(), one))
    }
    assert len(folders) == 3
    assert all(folder.is_dir() and folder.parent == tmp_path for folder in folders)


def test_words_tell_what_the_sums_say(networks: list[TokenRun], ngrams: list[TokenRun]) -> None:
    words = (DATA / "README.md").read_text(encoding="utf-8")
    for run in (*networks, *ngrams):
        sums = run.sums
        means = [
            total / sums.n_rows
            for total in (
                sums.all_labels.log_loss_sum,
                sums.top_label.n_correct,
                sums.top_label.confidence_sum,
            )
        ]
        verdict = run_verdict(gather_evidence(run, "tokens")).words
        row = (
            " | ".join(["", f"{run.info.tokens_seen:,}", *(f"{mean:.3f}" for mean in means), verdict]) + " |"
        )
        (line,) = [line for line in words.splitlines() if line.endswith(row)]
        assert line.startswith(f"| {run.info.model}")
    never = int((networks[0].sums.occurrences == 0).sum())
    assert f"{never:,} of the {RECIPE.vocabulary:,} tokens are never the right one" in words


def test_words_tell_what_the_sweep_says(networks: list[TokenRun]) -> None:
    words = (DATA / "README.md").read_text(encoding="utf-8")
    checkpoints = networks[: len(RECIPE.checkpoints)]
    full_ece = [score(run, metric="full_ece").value or 0.0 for run in checkpoints]
    assert ", ".join(f"{value:.4f}" for value in full_ece) in words
    peak = full_ece.index(max(full_ece))
    assert 0 < peak < len(full_ece) - 1, "it rises and then falls"
    assert full_ece[0] < full_ece[-1] < full_ece[peak]
    assert any(now < then for now, then in pairwise(full_ece[peak + 1 :])), "not at every checkpoint"
    last, cold = (sweep_bins(gather_evidence(run, "tokens")).curves for run in networks[-2:])
    for curve in last:
        above = [
            value is not None and value > high
            for value, high in zip(curve.values, curve.null.high if curve.null else (), strict=True)
        ]
        if curve.metric in ("ece", "full_ece", "cw_ece"):
            assert sum(above) > len(PAPER_BINS) / 2
    rsd = [{curve.metric: curve.rsd or 0.0 for curve in curves} for curves in (last, cold)]
    for phrase in (
        f"varies more (RSD {rsd[0]['full_ece']:.2f}) than classwise ECE ({rsd[0]['cw_ece']:.2f})",
        f"it hardly varies ({rsd[1]['full_ece']:.2f})",
    ):
        assert phrase in words
    test = run_verdict(gather_evidence(networks[-2], "tokens")).verdict
    assert f"(p = {test.p:.3f}, within the tolerance)" in words


def test_no_checkpoint_has_all_its_probabilities_in_one_bin(networks: list[TokenRun]) -> None:
    assert all(run.sums.all_labels.cell.max() > GRID_CELLS // 2 for run in networks)
