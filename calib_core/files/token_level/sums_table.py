"""How do the sums of a token-level run become rows of one table, and sums again, to the last bit?

One row is one cell: part says of what (`PARTS`), run of which run; the other columns hold what that part
needs, and 0 elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.tokens.grid import CELLS, Grid
from calib_core.tokens.sums import Draws, Example, TokenSums, Unseen

PARTS: Final = (
    "top", "all", "class", "occurrences", "draws_top", "draws_all", "draws_class", "unseen", "examples",
)  # fmt: skip
"""The grids of the top label, of all labels and by class; positions by right class; drawn outcomes
(`draw` numbers the draw, in draws_class by class); the A_j of a top-k file (`draw` is M, `cell` j − 1,
`confidence` A_j); and the largest entries of the positions kept (`draw` numbers them, `group` is the
class)."""

SCHEMA: Final[Mapping[str, pl.DataType]] = MappingProxyType({
    "run": pl.Int32(),
    "part": pl.Enum(PARTS),
    "draw": pl.Int32(),
    "group": pl.Int32(),
    "cell": pl.Int32(),
    "count": pl.Int64(),
    "correct": pl.Int64(),
    "confidence": pl.Float64(),
    "squared": pl.Float64(),
    "confident_correct": pl.Float64(),
})

_GRID: Final = ("group", "cell", "count", "correct", "confidence", "squared", "confident_correct")

Told = Mapping[str, Any]
"""The part of a run that is no table, as JSON holds it."""

Columns = Mapping[str, NDArray[Any]]

_EXAMPLE: Final = ("row", "target", "target_prob", "rest", "classes", "width")


def told_of(sums: TokenSums) -> Told:
    """What of the sums is kept beside the table."""
    draws, unseen = sums.draws, sums.unseen
    return {
        "rows": sums.rows,
        "classes": sums.classes,
        "top": _told_of_grid(sums.top),
        "all": _told_of_grid(sums.all),
        "by_class": None if sums.by_class is None else _told_of_grid(sums.by_class),
        "no_classes": sums.no_classes,
        "excess": sums.excess,
        "draws": None
        if draws is None
        else {"seed": draws.seed, "number": len(draws.all), "by_class": draws.by_class is not None},
        "unseen": None
        if unseen is None
        else {"positions": {str(bins): n for bins, n in unseen.positions.items()}, "fewest": unseen.fewest},
        "examples": [
            {name: getattr(example, name) for name in _EXAMPLE}
            for example in sums.examples
        ],
    }


def table_of(run: int, sums: TokenSums) -> pl.DataFrame:
    """All cells of one run, columns as in `SCHEMA`."""
    return pl.concat(_frame(run, part, columns) for part, columns in _parts(sums))


def sums_of(told: Told, table: pl.DataFrame) -> TokenSums:
    """The sums of one run again. table: its rows of `table_of`.

    Raises KeyError, TypeError, ValueError or IndexError where something is missing or of the wrong type;
    whether the numbers can be sums at all is asked by `sums_checks`.
    """
    parts = {
        part: {name: frame[name].to_numpy() for name in SCHEMA if name != "part"}
        for part, frame in _standing_together(table)
    }
    none = _nothing()
    rows, classes = int(told["rows"]), int(told["classes"])
    occurrences = np.zeros(classes, np.int64)
    found = parts.get("occurrences", none)
    occurrences[found["group"]] = found["count"]
    by_class = told["by_class"]
    return TokenSums(
        rows=rows,
        classes=classes,
        top=_grid(told["top"], parts.get("top", none)),
        all=_grid(told["all"], parts.get("all", none)),
        by_class=None if by_class is None else _grid(by_class, parts.get("class", none)),
        no_classes=None if told["no_classes"] is None else str(told["no_classes"]),
        occurrences=occurrences,
        excess=float(told["excess"]),
        draws=None if told["draws"] is None else _draws(told["draws"], parts),
        unseen=None if told["unseen"] is None else _unseen(told["unseen"], parts.get("unseen", none)),
        examples=tuple(_examples(told["examples"], parts.get("examples", none))),
    )


def _standing_together(table: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Each part and its rows; where they stand together, as they are written, nothing is copied or sorted."""
    lengths = table.select(pl.col("part").rle().alias("same")).unnest("same")
    if lengths["value"].n_unique() != lengths.height:
        table = table.sort("part", maintain_order=True)
        lengths = table.select(pl.col("part").rle().alias("same")).unnest("same")
    start = 0
    for length, part in lengths.select("len", pl.col("value").cast(pl.String)).iter_rows():
        yield part, table.slice(start, length)
        start += length


def _told_of_grid(grid: Grid) -> Told:
    names = ("rows", "groups", "log_loss", "impossible")
    return {name: getattr(grid, name) for name in names}


def _parts(sums: TokenSums) -> Iterator[tuple[str, Columns]]:
    for part, grid in (("top", sums.top), ("all", sums.all), ("class", sums.by_class)):
        if grid is not None:
            yield part, {name: getattr(grid, name) for name in _GRID}
    occurring = np.flatnonzero(sums.occurrences)
    yield "occurrences", {"group": occurring, "count": sums.occurrences[occurring]}
    if sums.draws is not None:
        for part, counts in (("draws_top", sums.draws.top), ("draws_all", sums.draws.all)):
            cell, draw = np.nonzero(counts.T)  # neighbours in a cell are alike: half the file
            yield part, {"draw": draw, "cell": cell, "count": counts[draw, cell]}
        if sums.draws.by_class is not None:
            names = ("draw", "group", "cell", "count")
            yield "draws_class", dict(zip(names, sums.draws.by_class.T, strict=True))
    if sums.unseen is not None:
        for bins, mass in sums.unseen.mass.items():
            yield "unseen", {"draw": np.full(bins, bins), "cell": np.arange(bins), "confidence": mass}
    for at, example in enumerate(sums.examples):
        ids = np.array(example.ids, np.int64)
        yield "examples", {"draw": np.full(ids.size, at), "group": ids, "confidence": np.array(example.probs)}


def _frame(run: int, part: str, columns: Columns) -> pl.DataFrame:
    height = max(len(values) for values in columns.values())
    same = {"run": run, "part": part}
    return pl.DataFrame([
        pl.Series(name, np.ascontiguousarray(columns[name])).cast(dtype)
        if name in columns
        else pl.repeat(same.get(name, 0), height, dtype=dtype, eager=True).alias(name)
        for name, dtype in SCHEMA.items()
    ])


def _nothing() -> Columns:
    return {name: np.zeros(0, np.float64 if dtype.is_float() else np.int32) for name, dtype in SCHEMA.items()}


def _grid(told: Told, columns: Columns) -> Grid:
    return Grid(
        group=columns["group"].astype(np.int32),
        cell=columns["cell"].astype(np.int32),
        count=columns["count"].astype(np.int64),
        correct=columns["correct"].astype(np.int64),
        confidence=columns["confidence"].astype(np.float64),
        squared=columns["squared"].astype(np.float64),
        confident_correct=columns["confident_correct"].astype(np.float64),
        rows=int(told["rows"]),
        groups=int(told["groups"]),
        log_loss=float(told["log_loss"]),
        impossible=int(told["impossible"]),
    )


def _draws(told: Told, parts: Mapping[str, Columns]) -> Draws:
    none, number = _nothing(), int(told["number"])
    dense: dict[str, NDArray[np.int32]] = {}
    for part in ("draws_top", "draws_all"):
        found = parts.get(part, none)
        dense[part] = np.zeros((number, CELLS), np.int32)
        dense[part][found["draw"], found["cell"]] = found["count"]
    found = parts.get("draws_class", none)
    columns = [found[name] for name in ("draw", "group", "cell", "count")]
    by_class = np.stack(columns, axis=1).astype(np.int32) if told["by_class"] else None
    return Draws(int(told["seed"]), dense["draws_top"], dense["draws_all"], by_class)


def _unseen(told: Told, columns: Columns) -> Unseen:
    positions = {int(bins): int(number) for bins, number in told["positions"].items()}
    bins, mass = columns["draw"], columns["confidence"].astype(np.float64)
    return Unseen(positions, {m: mass[bins == m] for m in dict.fromkeys(bins.tolist())}, int(told["fewest"]))


def _examples(told: Sequence[Told], columns: Columns) -> Iterator[Example]:
    for at, example in enumerate(told):
        mine = columns["draw"] == at
        yield Example(
            row=int(example["row"]),
            target=int(example["target"]),
            ids=tuple(columns["group"][mine].tolist()),
            probs=tuple(columns["confidence"][mine].astype(np.float64).tolist()),
            target_prob=float(example["target_prob"]),
            rest=float(example["rest"]),
            classes=int(example["classes"]),
            width=int(example["width"]),
        )
