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

from calib_core.tokens.grid import GRID_CELLS, GridSums
from calib_core.tokens.sums import NullDraws, ExamplePosition, TokenSums, UnstoredBounds

TABLE_PARTS: Final = (
    "top", "all", "class", "occurrences", "draws_top", "draws_all", "draws_class", "unseen", "examples",
)  # fmt: skip
"""The grids of the top label, of all labels and by class; positions by right class; drawn outcomes
(`draw` numbers the draw, in draws_class by class); the A_j of a top-k file (`draw` is M, `cell` j − 1,
`confidence` A_j); and the largest entries of the positions kept (`draw` numbers them, `group` is the
class)."""

SUMS_SCHEMA: Final[Mapping[str, pl.DataType]] = MappingProxyType({
    "run": pl.Int32(),
    "part": pl.Enum(TABLE_PARTS),
    "draw": pl.Int32(),
    "group": pl.Int32(),
    "cell": pl.Int32(),
    "count": pl.Int64(),
    "correct": pl.Int64(),
    "confidence": pl.Float64(),
    "squared": pl.Float64(),
    "confident_correct": pl.Float64(),
})

_GRID_COLUMNS: Final = ("group", "cell", "count", "correct", "confidence", "squared", "confident_correct")

RunMetadata = Mapping[str, Any]
"""The part of a run that is no table, as JSON holds it."""

PartColumns = Mapping[str, NDArray[Any]]

_EXAMPLE_FIELDS: Final = ("row", "target", "target_prob", "rest", "classes", "width")


def sums_metadata(sums: TokenSums) -> RunMetadata:
    """What of the sums is kept beside the table."""
    draws, unseen = sums.draws, sums.unstored
    return {
        "rows": sums.rows,
        "classes": sums.classes,
        "top": _grid_metadata(sums.top_label),
        "all": _grid_metadata(sums.all_labels),
        "by_class": None if sums.by_class is None else _grid_metadata(sums.by_class),
        "no_classes": sums.no_class_sums_reason,
        "excess": sums.sum_deviation,
        "draws": None
        if draws is None
        else {"seed": draws.seed, "number": len(draws.all_labels), "by_class": draws.by_class is not None},
        "unseen": None
        if unseen is None
        else {"positions": {str(bins): n for bins, n in unseen.n_ambiguous.items()}, "fewest": unseen.min_stored},
        "examples": [
            {name: getattr(example, name) for name in _EXAMPLE_FIELDS}
            for example in sums.examples
        ],
    }


def sums_to_table(run: int, sums: TokenSums) -> pl.DataFrame:
    """All cells of one run, columns as in `SCHEMA`."""
    return pl.concat(_part_frame(run, part, columns) for part, columns in _sums_parts(sums))


def sums_from_table(metadata: RunMetadata, table: pl.DataFrame) -> TokenSums:
    """The sums of one run again. table: its rows of `table_of`.

    Raises KeyError, TypeError, ValueError or IndexError where something is missing or of the wrong type;
    whether the numbers can be sums at all is asked by `sums_checks`.
    """
    parts = {
        part: {name: frame[name].to_numpy() for name in SUMS_SCHEMA if name != "part"}
        for part, frame in _part_frames(table)
    }
    none = _empty_columns()
    rows, classes = int(metadata["rows"]), int(metadata["classes"])
    occurrences = np.zeros(classes, np.int64)
    found = parts.get("occurrences", none)
    occurrences[found["group"]] = found["count"]
    by_class = metadata["by_class"]
    return TokenSums(
        rows=rows,
        classes=classes,
        top_label=_grid_from_columns(metadata["top"], parts.get("top", none)),
        all_labels=_grid_from_columns(metadata["all"], parts.get("all", none)),
        by_class=None if by_class is None else _grid_from_columns(by_class, parts.get("class", none)),
        no_class_sums_reason=None if metadata["no_classes"] is None else str(metadata["no_classes"]),
        occurrences=occurrences,
        sum_deviation=float(metadata["excess"]),
        draws=None if metadata["draws"] is None else _draws_from_parts(metadata["draws"], parts),
        unstored=None if metadata["unseen"] is None else _unseen_from_columns(metadata["unseen"], parts.get("unseen", none)),
        examples=tuple(_examples_from_columns(metadata["examples"], parts.get("examples", none))),
    )


def _part_frames(table: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Each part and its rows; where they stand together, as they are written, nothing is copied or sorted."""
    lengths = table.select(pl.col("part").rle().alias("same")).unnest("same")
    if lengths["value"].n_unique() != lengths.height:
        table = table.sort("part", maintain_order=True)
        lengths = table.select(pl.col("part").rle().alias("same")).unnest("same")
    start = 0
    for length, part in lengths.select("len", pl.col("value").cast(pl.String)).iter_rows():
        yield part, table.slice(start, length)
        start += length


def _grid_metadata(grid: GridSums) -> RunMetadata:
    names = ("rows", "groups", "log_loss", "impossible")
    return {name: getattr(grid, name) for name in names}


def _sums_parts(sums: TokenSums) -> Iterator[tuple[str, PartColumns]]:
    for part, grid in (("top", sums.top_label), ("all", sums.all_labels), ("class", sums.by_class)):
        if grid is not None:
            yield part, {name: getattr(grid, name) for name in _GRID_COLUMNS}
    occurring = np.flatnonzero(sums.occurrences)
    yield "occurrences", {"group": occurring, "count": sums.occurrences[occurring]}
    if sums.draws is not None:
        for part, counts in (("draws_top", sums.draws.top_label), ("draws_all", sums.draws.all_labels)):
            cell, draw = np.nonzero(counts.T)  # neighbours in a cell are alike: half the file
            yield part, {"draw": draw, "cell": cell, "count": counts[draw, cell]}
        if sums.draws.by_class is not None:
            names = ("draw", "group", "cell", "count")
            yield "draws_class", dict(zip(names, sums.draws.by_class.T, strict=True))
    if sums.unstored is not None:
        for bins, mass in sums.unstored.mass_bounds.items():
            yield "unseen", {"draw": np.full(bins, bins), "cell": np.arange(bins), "confidence": mass}
    for at, example in enumerate(sums.examples):
        ids = np.array(example.ids, np.int64)
        yield "examples", {"draw": np.full(ids.size, at), "group": ids, "confidence": np.array(example.probs)}


def _part_frame(run: int, part: str, columns: PartColumns) -> pl.DataFrame:
    height = max(len(values) for values in columns.values())
    same = {"run": run, "part": part}
    return pl.DataFrame([
        pl.Series(name, np.ascontiguousarray(columns[name])).cast(dtype)
        if name in columns
        else pl.repeat(same.get(name, 0), height, dtype=dtype, eager=True).alias(name)
        for name, dtype in SUMS_SCHEMA.items()
    ])


def _empty_columns() -> PartColumns:
    return {name: np.zeros(0, np.float64 if dtype.is_float() else np.int32) for name, dtype in SUMS_SCHEMA.items()}


def _grid_from_columns(metadata: RunMetadata, columns: PartColumns) -> GridSums:
    return GridSums(
        group=columns["group"].astype(np.int32),
        cell=columns["cell"].astype(np.int32),
        count=columns["count"].astype(np.int64),
        correct=columns["correct"].astype(np.int64),
        confidence=columns["confidence"].astype(np.float64),
        squared=columns["squared"].astype(np.float64),
        confident_correct=columns["confident_correct"].astype(np.float64),
        rows=int(metadata["rows"]),
        groups=int(metadata["groups"]),
        log_loss=float(metadata["log_loss"]),
        impossible=int(metadata["impossible"]),
    )


def _draws_from_parts(metadata: RunMetadata, parts: Mapping[str, PartColumns]) -> NullDraws:
    none, number = _empty_columns(), int(metadata["number"])
    dense: dict[str, NDArray[np.int32]] = {}
    for part in ("draws_top", "draws_all"):
        found = parts.get(part, none)
        dense[part] = np.zeros((number, GRID_CELLS), np.int32)
        dense[part][found["draw"], found["cell"]] = found["count"]
    found = parts.get("draws_class", none)
    columns = [found[name] for name in ("draw", "group", "cell", "count")]
    by_class = np.stack(columns, axis=1).astype(np.int32) if metadata["by_class"] else None
    return NullDraws(int(metadata["seed"]), dense["draws_top"], dense["draws_all"], by_class)


def _unseen_from_columns(metadata: RunMetadata, columns: PartColumns) -> UnstoredBounds:
    positions = {int(bins): int(number) for bins, number in metadata["positions"].items()}
    bins, mass = columns["draw"], columns["confidence"].astype(np.float64)
    return UnstoredBounds(positions, {m: mass[bins == m] for m in dict.fromkeys(bins.tolist())}, int(metadata["fewest"]))


def _examples_from_columns(metadata: Sequence[RunMetadata], columns: PartColumns) -> Iterator[ExamplePosition]:
    for at, example in enumerate(metadata):
        mine = columns["draw"] == at
        yield ExamplePosition(
            row=int(example["row"]),
            target=int(example["target"]),
            ids=tuple(columns["group"][mine].tolist()),
            probs=tuple(columns["confidence"][mine].astype(np.float64).tolist()),
            target_prob=float(example["target_prob"]),
            rest=float(example["rest"]),
            classes=int(example["classes"]),
            width=int(example["width"]),
        )
