"""The demo data match their manifest, and Calib reads all of them."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from calib_core.api import load
from demo import game24, label_judge, published
from demo.code.recipe import CodeRecipe
from demo.facts.recipe import FactsRecipe
from demo.manifest import record
from demo.recipe import Recipe

DATA = Path(__file__).parents[2] / "data"
MANIFEST: dict[str, Any] = json.loads((DATA / "MANIFEST.json").read_text(encoding="utf-8"))
FILES: list[str] = list(MANIFEST["files"])
OWN_WORDS = {"MANIFEST.json", "README.md"}
RECIPES: dict[str, int | None] = {
    **{recipe.version: recipe.seed for recipe in (CodeRecipe(), Recipe(), FactsRecipe())},
    game24.RECIPE: None,
    label_judge.RECIPE: label_judge.SEED,
    **{source.recipe: None for source in published.SOURCES},
}


@pytest.fixture(params=FILES)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def test_manifest_pins_every_file(name: str) -> None:
    content = (DATA / name).read_bytes()
    told = MANIFEST["files"][name]
    assert told["sha256"] == sha256(content).hexdigest()
    assert told["bytes"] == len(content)
    assert RECIPES[told["recipe"]] == told["seed"]
    assert told["exact"] == ("source" in told)
    assert told["recipe"] in MANIFEST["made_with"]


def test_every_file_is_read_whole(name: str) -> None:
    runs = load(DATA / name)
    assert sum(run.n_total for run in runs) == MANIFEST["files"][name]["rows"]
    assert all(run.row_counts.n_left_out == 0 and not run.row_counts.clipped for run in runs)
    assert len({run.label for run in runs}) == len(runs)


def test_nothing_lies_in_data_unlisted() -> None:
    there = {path.relative_to(DATA).as_posix() for path in DATA.rglob("*") if path.is_file()}
    assert there == OWN_WORDS | set(FILES)


def test_data_is_small_to_clone() -> None:
    assert sum(path.stat().st_size for path in DATA.iterdir()) < 11_000_000


def test_its_words_name_every_file() -> None:
    words = (DATA / "README.md").read_text(encoding="utf-8")
    assert [name for name in FILES if f"`{name}`" not in words] == []
    assert "Tiny models trained for this demo" in words


def test_rerunning_a_recipe_replaces_only_its_own_files(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text(name)
    record(tmp_path, {"a": 1, "b": 2}, recipe="R1.1", seed=3, made_with=("polars",))
    record(tmp_path, {"c": 3}, recipe="R2.1", seed=4, made_with=())
    record(tmp_path, {"b": 5}, recipe="R1.2", seed=3, made_with=())
    metadata = json.loads((tmp_path / "MANIFEST.json").read_text())
    assert {name: (one["rows"], one["recipe"], one["seed"]) for name, one in metadata["files"].items()} == {
        "b": (5, "R1.2", 3),
        "c": (3, "R2.1", 4),
    }
    assert metadata["files"]["c"]["sha256"] == sha256(b"c").hexdigest()
    assert list(metadata["made_with"]) == ["R1.2", "R2.1"]


def test_people_pass_as_many_as_the_file_without_its_gaps_says() -> None:
    panel = pl.read_parquet(DATA / label_judge.PANEL)
    made = label_judge.judged(panel)
    assert made.equals(pl.read_parquet(DATA / label_judge.NAME))
    assert made["human"].is_not_null().sum() == label_judge.N_LABELLED
    assert round((panel["error_type"] == "ok").sum() / panel.height, 4) == 0.9351
    ok = panel["error_type"].replace_strict({"ok": "pass"}, default="fail")
    assert (made["human"] == ok).drop_nulls().all()
