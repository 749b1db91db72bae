"""Does each convention give what its tool gives?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
import pytest

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.metrics import METRICS
from calib_core.metrics.conventions import CONVENTIONS, DEFAULT_ID, Convention, error_of_pairs

ROOT: Final = Path(__file__).parents[3]
TABLE: Final[dict[str, Any]] = json.loads(
    (ROOT / "tests" / "fixtures" / "conventions.json").read_text(encoding="utf-8")
)
PUBLISHED_RLCR: Final = {
    "Base": 0.003685503685503741,
    "RLVR": 0.09172809172809171,
    "RLVR-Classifier": 0.18274195715601962,
    "Answer-Prob": 0.03106463414440928,
    "RLCR": 0.30239148239148245,
}
"""`ece` in the authors' metrics.json, which rounds a last digit now and then."""


def data_set(name: str) -> tuple[np.ndarray, np.ndarray]:
    data = TABLE["data"][name]
    return np.array(data["confidence"]), np.array(data["correct"], np.bool_)


def test_every_convention_of_an_installable_tool_has_its_values() -> None:
    checked = {id_ for id_, convention in CONVENTIONS.items() if convention.check == "tool"}
    assert checked == set(TABLE["values"])
    for id_ in checked:
        convention = CONVENTIONS[id_]
        tool = "uncertainty-calibration" if convention.tool == "HELM" else convention.tool
        assert str(convention.version).endswith(TABLE["versions"][tool])


@pytest.mark.parametrize("convention", TABLE["values"])
def test_the_value_is_the_tools(convention: str) -> None:
    for name, value in TABLE["values"][convention].items():
        ours = error_of_pairs(CONVENTIONS[convention], *data_set(name))
        assert ours == pytest.approx(value, abs=CONVENTIONS[convention].tolerance), name


def test_the_data_tell_the_tools_apart() -> None:
    """On edges the tools disagree: a convention that merely repeats another's would be found."""
    rows = {id_: tuple(round(value, 9) for value in row.values()) for id_, row in TABLE["values"].items()}
    same = [{"netcal-ece", "relplot-binned"}]  # these part where a confidence of 1 shares a bin
    by_values: dict[tuple[float, ...], set[str]] = {}
    for id_, row in rows.items():
        by_values.setdefault(row, set()).add(id_)
    assert [ids for ids in by_values.values() if len(ids) > 1] in ([], same)


def published_script(c: np.ndarray, y: np.ndarray, *, all_bins: bool) -> float:
    """calib_err(p='2', beta=100) as its published code says: 100 sorted rows a bin, the rest in the last."""
    order = np.argsort(c, kind="stable")
    c, y = c[order], y[order]
    starts = list(range(0, c.size - c.size % 100, 100))
    ends = [*starts[1:], c.size]
    total = 0.0
    for start, end in list(zip(starts, ends, strict=True))[: None if all_bins else -1]:
        total += (end - start) / c.size * (c[start:end].mean() - y[start:end].mean()) ** 2
    return float(np.sqrt(total))


def test_the_script_of_humanitys_last_exam() -> None:
    random = np.random.default_rng(3)
    c = random.choice([0.0, 0.5, 0.9, 0.95, 1.0], 351)
    y = random.random(351) < 0.4
    for id_, all_bins in (("hle", False), ("hle-all-bins", True)):
        assert error_of_pairs(CONVENTIONS[id_], c, y) == pytest.approx(
            published_script(c, y, all_bins=all_bins), abs=1e-12
        )
    with pytest.raises(Unavailable, match="needs 200 rows, and there are 199"):
        error_of_pairs(CONVENTIONS["hle"], c[:199], y[:199])


@pytest.mark.parametrize("system", PUBLISHED_RLCR)
def test_the_figures_of_rlcrs_authors(system: str) -> None:
    rows = pl.read_parquet(ROOT / "data" / "3-commonsenseqa.answers.parquet").filter(
        pl.col("model").str.ends_with(f" {system}")
    )
    assert rows.height == 1_221
    value = error_of_pairs(CONVENTIONS["rlcr"], rows["confidence"].to_numpy(), rows["correct"].to_numpy())
    assert value == pytest.approx(PUBLISHED_RLCR[system], abs=1e-9)


def naive(convention: Convention, c: np.ndarray, y: np.ndarray) -> float:
    """A combination of equal width, bin by bin, for confidences that are whole hundredths."""
    gaps: list[tuple[int, float]] = []
    bins = convention.bins or 0
    hundredths = np.round(c * 100).astype(int) * bins
    for index in range(bins):
        low, high = 100 * index, 100 * (index + 1)
        if convention.closed == "right":
            inside = ((hundredths > low) | (index == 0)) & (hundredths <= high)
        else:
            inside = (hundredths >= low) & ((hundredths < high) | (index == bins - 1))
        if inside.any():
            gaps.append((int(inside.sum()), abs(c[inside].mean() - y[inside].mean())))
    if convention.norm == "max":
        return max(gap for _, gap in gaps)
    power = 1 if convention.norm == "l1" else 2
    return float(sum(n * gap**power for n, gap in gaps) / c.size) ** (1 / power)


@pytest.mark.parametrize("id_", [id_ for id_ in CONVENTIONS if id_.startswith("width-")])
def test_combinations_of_equal_width(id_: str) -> None:
    random = np.random.default_rng(5)
    c = np.round(random.integers(0, 21, 200) / 20, 2)
    y = random.random(200) < c * 0.8
    value = error_of_pairs(CONVENTIONS[id_], c, y)
    assert value == pytest.approx(naive(CONVENTIONS[id_], c, y), abs=1e-12)


@pytest.mark.parametrize("bins", [10, 15])
def test_combinations_of_equal_mass_are_our_metrics(bins: int) -> None:
    c, y = data_set("stated")
    sums, scheme = BinSums.from_pairs(c, y), Scheme("mass", bins)
    assert error_of_pairs(CONVENTIONS[f"mass-{bins}-l1"], c, y) == METRICS["ece"].compute(sums, scheme)
    assert error_of_pairs(CONVENTIONS[f"mass-{bins}-max"], c, y) == METRICS["mce"].compute(sums, scheme)


def test_the_default_is_the_ece_shown_elsewhere() -> None:
    c, y = data_set("fifteenths")
    assert error_of_pairs(CONVENTIONS[DEFAULT_ID], c, y) == pytest.approx(
        METRICS["ece"].compute(BinSums.from_pairs(c, y), Scheme()), abs=1e-15
    )
    assert [id_ for id_, convention in CONVENTIONS.items() if convention.is_default] == [DEFAULT_ID]
