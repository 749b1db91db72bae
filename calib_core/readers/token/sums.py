"""Saves the sums of token-level runs in one small Parquet file, and reads them back exactly.

The cells of all runs form one table; what is not tabular is in the file's metadata. A digest of the whole
file is part of it, so that a file that was altered or cut off is refused.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.advice import option_name
from calib_core.bins import chunks
from calib_core.errors import Refused, shorten
from calib_core.readers.atomic_write import write_atomically
from calib_core.readers.format import Format, Head, Reading, ReadOptions
from calib_core.readers.table.canonical import METADATA_KEY, run_info_from_metadata
from calib_core.readers.table.raw import ReadProgress
from calib_core.readers.token.arrays import MAX_TOKEN_CLASSES
from calib_core.readers.token.sums_digest import BLANK_DIGEST, DIGEST_KEY, digest_matches, with_digest
from calib_core.runs import RowCounts, TokenRun
from calib_core.tokens.grid import GRID_CELLS, GridSums
from calib_core.tokens.sums import ExamplePosition, NullDraws, TokenSums, UnstoredBounds
from calib_core.tokens.texts import MAX_TEXT_NUMBER, TEXT_CELL_OF, TEXT_CELLS, TextSums

# --- Sums as a table ----------------------------------------------------------
#
# One row is one cell of one run. `part` says what it is a cell of; columns that the part does not need are
# 0.

TABLE_PARTS: Final = (
    "top", "all", "class", "occurrences", "draws_top", "draws_all", "draws_class", "unseen", "examples",
    "texts",
)  # fmt: skip
"""Parts of the table.

- top, all, class: the grids of the top label, of all labels and by class;
- occurrences: positions by right class;
- draws_top, draws_all, draws_class: outcomes drawn under the null hypothesis (`draw` is the draw's number);
- unseen: bounds A_j of a top-k file (`draw` is M, `cell` is j − 1, `confidence` is A_j);
- examples: largest entries of the example positions (`draw` is the position's number, `group` the class);
- texts: top labels by text and cell (`group` is the text's number).
"""

SUMS_SCHEMA: Final[Mapping[str, pl.DataType]] = MappingProxyType(
    {
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
    }
)

_GRID_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{name: name for name in ("group", "cell", "count", "correct", "confidence")},
        "squared": "squared_confidence",
        "confident_correct": "correct_confidence",
    }
)
"""Column → the array of `GridSums` that it holds."""

_PART_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        **dict.fromkeys(("top", "all", "class"), tuple(_GRID_COLUMNS)),
        "occurrences": ("group", "count"),
        **dict.fromkeys(("draws_top", "draws_all"), ("draw", "cell", "count")),
        "draws_class": ("draw", "group", "cell", "count"),
        "unseen": ("draw", "confidence"),
        "examples": ("draw", "group", "confidence"),
        "texts": ("group", "cell", "count", "correct", "confidence"),
    }
)
"""Part → the columns that are read of it."""

_DRAW_COUNTS: Final = ("draws_top", "draws_all")
"""Parts that are counts by draw and cell."""

RunMetadata = Mapping[str, Any]
"""The part of a run that is not tabular, as stored in JSON."""

PartColumns = Mapping[str, NDArray[Any]]
"""Column → values, of one part of one run."""

_EXAMPLE_KEYS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{name: name for name in ("row", "target", "target_prob")},
        "rest": "rest_mass",
        "classes": "n_classes",
        "width": "itemsize",
    }
)
"""Key in the metadata → the field of `ExamplePosition` that it holds."""


def sums_metadata(sums: TokenSums) -> RunMetadata:
    """The part of the sums that is not tabular, as a JSON object."""
    draws, unseen = sums.draws, sums.unstored
    return {
        "rows": sums.n_rows,
        "classes": sums.n_classes,
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
        else {
            "positions": {str(bins): n for bins, n in unseen.n_ambiguous.items()},
            "fewest": unseen.min_stored,
        },
        "examples": [
            {key: getattr(example, field) for key, field in _EXAMPLE_KEYS.items()}
            for example in sums.examples
        ],
        "texts": sums.texts is not None,
    }


def sums_to_table(run: int, sums: TokenSums) -> pl.DataFrame:
    """All cells of one run, with the columns of `SUMS_SCHEMA`."""
    return pl.concat(_part_frame(run, part, columns) for part, columns in _sums_parts(sums))


def sums_from_table(metadata: RunMetadata, table: pl.LazyFrame) -> TokenSums:
    """The inverse of `sums_metadata` and `sums_to_table`.

    Whether the numbers are possible sums is checked by `check_sums`. One part at a time is decompressed.

    Parameters
    ----------
    metadata : RunMetadata
        The run's part of the metadata.
    table : pl.LazyFrame
        The run's rows.

    Raises
    ------
    InvalidSumsError
        As `check_table`.
    KeyError, TypeError, ValueError, IndexError
        If something is missing or of the wrong type.
    """
    parts: dict[str, PartColumns] = {}
    drawn: dict[str, NDArray[np.int16 | np.int32]] = {}
    for part, frame in _part_frames(table):
        check_table(metadata, frame)
        columns = {name: frame[name].to_numpy() for name in _PART_COLUMNS[part]}
        if part in _DRAW_COUNTS and metadata["draws"] is not None:  # of all parts the largest by far
            drawn[part] = _draw_counts(columns, int(metadata["draws"]["number"]))
        else:
            parts[part] = columns
        del frame, columns
    empty = _empty_columns()
    rows, classes = int(metadata["rows"]), int(metadata["classes"])
    occurrences = np.zeros(classes, np.int64)
    right_classes = parts.get("occurrences", empty)
    occurrences[right_classes["group"]] = right_classes["count"]
    by_class = metadata["by_class"]
    return TokenSums(
        n_rows=rows,
        n_classes=classes,
        top_label=_grid_from_columns(metadata["top"], parts.get("top", empty)),
        all_labels=_grid_from_columns(metadata["all"], parts.get("all", empty)),
        by_class=None if by_class is None else _grid_from_columns(by_class, parts.get("class", empty)),
        no_class_sums_reason=None if metadata["no_classes"] is None else str(metadata["no_classes"]),
        occurrences=occurrences,
        sum_deviation=float(metadata["excess"]),
        draws=None if metadata["draws"] is None else _draws_from_parts(metadata["draws"], drawn, parts),
        unstored=None
        if metadata["unseen"] is None
        else _unseen_from_columns(metadata["unseen"], parts.get("unseen", empty)),
        examples=tuple(_examples_from_columns(metadata["examples"], parts.get("examples", empty))),
        texts=_texts_from_columns(parts.get("texts", empty)) if metadata.get("texts") else None,
    )


def _part_frames(table: pl.LazyFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Each part with its rows; contiguous parts, as they are written, are neither copied nor sorted."""
    lengths = _part_lengths(table)
    if lengths["value"].n_unique() != lengths.height:
        table = table.sort("part", maintain_order=True)
        lengths = _part_lengths(table)
    start = 0
    for length, part in lengths.select("len", pl.col("value").cast(pl.String)).iter_rows():
        yield part, table.slice(start, length).select("part", *_PART_COLUMNS[part]).collect()
        start += length


def _part_lengths(table: pl.LazyFrame) -> pl.DataFrame:
    return table.select("part").collect().select(pl.col("part").rle().alias("same")).unnest("same")


def _grid_metadata(grid: GridSums) -> RunMetadata:
    return {
        "rows": grid.n_rows,
        "groups": grid.n_groups,
        "log_loss": grid.log_loss_sum,
        "impossible": grid.n_infinite_losses,
    }


def _sums_parts(sums: TokenSums) -> Iterator[tuple[str, PartColumns]]:
    for part, grid in (("top", sums.top_label), ("all", sums.all_labels), ("class", sums.by_class)):
        if grid is not None:
            yield part, {column: getattr(grid, name) for column, name in _GRID_COLUMNS.items()}
    occurring = np.flatnonzero(sums.occurrences)
    yield "occurrences", {"group": occurring, "count": sums.occurrences[occurring]}
    if sums.draws is not None:
        for part, counts in (("draws_top", sums.draws.top_label), ("draws_all", sums.draws.all_labels)):
            cell, draw = np.nonzero(
                counts.T
            )  # sorted by cell: neighbouring counts are similar and compress to half the size
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
    if sums.texts is not None:
        names = ("cell", "count", "correct", "confidence")
        yield "texts", {"group": sums.texts.text} | {name: getattr(sums.texts, name) for name in names}


def _part_frame(run: int, part: str, columns: PartColumns) -> pl.DataFrame:
    height = max(len(values) for values in columns.values())
    same = {"run": run, "part": part}
    return pl.DataFrame(
        [
            pl.Series(name, np.ascontiguousarray(columns[name])).cast(dtype)
            if name in columns
            else pl.repeat(same.get(name, 0), height, dtype=dtype, eager=True).alias(name)
            for name, dtype in SUMS_SCHEMA.items()
        ]
    )


def _empty_columns() -> PartColumns:
    return {
        name: np.zeros(0, np.float64 if dtype.is_float() else np.int32) for name, dtype in SUMS_SCHEMA.items()
    }


def _grid_from_columns(metadata: RunMetadata, columns: PartColumns) -> GridSums:
    return GridSums(
        group=columns["group"].astype(np.int32),
        cell=columns["cell"].astype(np.int32),
        count=columns["count"].astype(np.int64),
        correct=columns["correct"].astype(np.int64),
        confidence=columns["confidence"].astype(np.float64),
        squared_confidence=columns["squared"].astype(np.float64),
        correct_confidence=columns["confident_correct"].astype(np.float64),
        n_rows=int(metadata["rows"]),
        n_groups=int(metadata["groups"]),
        log_loss_sum=float(metadata["log_loss"]),
        n_infinite_losses=int(metadata["impossible"]),
    )


def _draw_counts(cells: PartColumns, n_draws: int) -> NDArray[np.int16 | np.int32]:
    """Counts by draw and cell, shape (draws, GRID_CELLS), in sixteen bits where they fit."""
    fits = int(cells["count"].max(initial=0)) <= np.iinfo(np.int16).max
    counts: NDArray[np.int16 | np.int32] = np.zeros((n_draws, GRID_CELLS), np.int16 if fits else np.int32)
    for part in chunks(cells["count"].size):
        counts[cells["draw"][part], cells["cell"][part]] = cells["count"][part]
    return counts


def _draws_from_parts(
    metadata: RunMetadata,
    drawn: Mapping[str, NDArray[np.int16 | np.int32]],
    parts: Mapping[str, PartColumns],
) -> NullDraws:
    empty = _empty_columns()
    top_label, all_labels = (
        drawn[part] if part in drawn else _draw_counts(empty, int(metadata["number"]))
        for part in _DRAW_COUNTS
    )
    class_draws = parts.get("draws_class", empty)
    columns = [class_draws[name] for name in ("draw", "group", "cell", "count")]
    by_class = np.stack(columns, axis=1).astype(np.int32, copy=False) if metadata["by_class"] else None
    return NullDraws(int(metadata["seed"]), top_label, all_labels, by_class)


def _unseen_from_columns(metadata: RunMetadata, columns: PartColumns) -> UnstoredBounds:
    positions = {int(bins): int(number) for bins, number in metadata["positions"].items()}
    bins, mass = columns["draw"], columns["confidence"].astype(np.float64)
    return UnstoredBounds(
        positions, {m: mass[bins == m] for m in dict.fromkeys(bins.tolist())}, int(metadata["fewest"])
    )


def _examples_from_columns(
    metadata: Sequence[RunMetadata], columns: PartColumns
) -> Iterator[ExamplePosition]:
    for at, example in enumerate(metadata):
        mine = columns["draw"] == at
        yield ExamplePosition(
            row=int(example["row"]),
            target=int(example["target"]),
            ids=tuple(columns["group"][mine].tolist()),
            probs=tuple(columns["confidence"][mine].astype(np.float64).tolist()),
            target_prob=float(example["target_prob"]),
            rest_mass=float(example["rest"]),
            n_classes=int(example["classes"]),
            itemsize=int(example["width"]),
        )


def _texts_from_columns(columns: PartColumns) -> TextSums:
    return TextSums(
        text=columns["group"].astype(np.int32),
        cell=columns["cell"].astype(np.int32),
        count=columns["count"].astype(np.int64),
        correct=columns["correct"].astype(np.int64),
        confidence=columns["confidence"].astype(np.float64),
    )


# --- Checks of sums that were read --------------------------------------------
#
# A damaged or altered file must not pass for sums.

MAX_STORED_DRAWS: Final = 10_000
_CELL_SLACK: Final = 1e-3
"""How far a cell's mean confidence may lie outside the cell. A stored float16 is put into the cell whose
edge is nearest in float16, which may be off by 2.4e-4."""


class InvalidSumsError(Exception):
    """Numbers that cannot be the sums of a run; the message says which."""


def check_run_metadata(metadata: RunMetadata) -> None:
    """Checks the sizes of a run before memory is allocated for them.

    Raises
    ------
    InvalidSumsError
        If a size is impossible.
    KeyError, TypeError
        If the metadata lacks a size or has one of the wrong type.
    """
    _require(0 <= metadata["rows"] < 2**53, "its number of positions is not valid")
    _require(1 <= metadata["classes"] <= MAX_TOKEN_CLASSES, "its number of classes is not valid")
    _require(
        metadata["draws"] is None or 1 <= metadata["draws"]["number"] <= MAX_STORED_DRAWS,
        "its number of draws is not valid",
    )
    _require(
        (metadata["by_class"] is None) != (metadata["no_classes"] is None),
        "sums by class are both there and missing",
    )


def check_table(metadata: RunMetadata, table: pl.DataFrame) -> None:
    """Checks rows of one run before they are converted: `part`, and other columns of `SUMS_SCHEMA`.

    Raises
    ------
    InvalidSumsError
        If a value is missing, or a cell, class or count is out of range.
    """
    _require(not any(table.null_count().row(0)), "values are missing")
    max_draw = max(GRID_CELLS, MAX_STORED_DRAWS, len(metadata["examples"]))
    is_text = pl.col("part") == "texts"
    for name, upper in (
        ("draw", pl.lit(max_draw)),
        ("group", pl.when(is_text).then(MAX_TEXT_NUMBER + 1).otherwise(metadata["classes"])),
        ("cell", pl.when(is_text).then(TEXT_CELLS).otherwise(GRID_CELLS)),
        ("count", pl.lit(2**53)),
        ("correct", pl.lit(2**53)),
    ):
        if name in table.columns:
            in_range = table.select(pl.col(name).is_between(0, upper, closed="left").all()).item()
            _require(in_range, f"a {name} is out of range")


def check_sums(sums: TokenSums) -> None:
    """Checks that the parts of a run agree with one another.

    Raises
    ------
    InvalidSumsError
        If they do not.
    """
    _check_grid("top label", sums.top_label, sums.n_rows, sums.n_rows)
    _check_grid("all labels", sums.all_labels, sums.n_rows, sums.n_rows * sums.n_classes)
    _check_cells("top label", sums.top_label)
    # The first cell also has the classes that a top-k file does not store, whatever their probability.
    _check_cells("all labels", sums.all_labels, first_cell=int(sums.unstored is not None))
    _require(
        int(sums.all_labels.correct.sum()) == sums.n_rows, "not every position has exactly one right class"
    )
    _require(int(sums.occurrences.sum()) == sums.n_rows, "the right classes are not one per position")
    _require(
        math.isfinite(sums.sum_deviation) and sums.sum_deviation >= 0, "the sums of the rows are not valid"
    )
    if sums.by_class is not None:
        _check_classes(sums.by_class, sums)
    if sums.draws is not None:
        _check_draws(sums.draws, sums.n_rows)
    if sums.unstored is not None:
        _check_unseen(sums.unstored, sums.n_rows)
    if sums.texts is not None:
        _check_texts(sums.texts, sums.top_label)
    _require(all(_is_valid_example(example, sums) for example in sums.examples),
          "a kept position is not valid")  # fmt: skip


def _check_grid(grid_name: str, grid: GridSums, rows: int, pairs: int) -> None:
    """The counts of one grid are sorted, possible and complete."""
    _require(grid.n_rows == rows, f"the number of positions differs ({grid_name})")
    _require(int(grid.count.sum()) == pairs, f"the pairs do not add up ({grid_name})")
    key = grid.group.astype(np.int64) * GRID_CELLS + grid.cell
    _require((np.diff(key) > 0).all(), f"the cells are not in order ({grid_name})")
    is_possible = (grid.count > 0).all() and (grid.correct <= grid.count).all()
    _require(is_possible, f"more are right than there are ({grid_name})")
    _require(0 <= grid.n_infinite_losses <= rows, f"more are impossible than there are ({grid_name})")
    _require(
        math.isfinite(grid.log_loss_sum) and grid.log_loss_sum >= 0,
        f"the log loss is not valid ({grid_name})",
    )


def _check_cells(grid_name: str, grid: GridSums, *, first_cell: int = 0, check_squares: bool = True) -> None:
    """The sums of each cell from `first_cell` on are possible for confidences within that cell."""
    checked = grid.cell >= first_cell
    cell, count, confidence = grid.cell[checked], grid.count[checked], grid.confidence[checked]
    confident_correct, slack = grid.correct_confidence[checked], _CELL_SLACK * count
    low, high = cell / GRID_CELLS * count - slack, (cell + 1) / GRID_CELLS * count + slack
    _require(
        ((low <= confidence) & (confidence <= high)).all(), f"a confidence is outside its cell ({grid_name})"
    )
    inside = (-slack <= confident_correct) & (confident_correct <= confidence + slack)
    _require(inside.all(), f"a right confidence is outside its cell ({grid_name})")
    if check_squares:
        gap = np.abs(grid.squared_confidence[checked] - confidence * (confidence / count))
        _require((gap <= slack).all(), f"the squares do not fit their cell ({grid_name})")


def _check_classes(grid: GridSums, sums: TokenSums) -> None:
    _check_grid("by class", grid, sums.n_rows, sums.n_rows * sums.n_classes)
    _check_cells("by class", grid, check_squares=False)  # grids by class have no Σc²
    _require(grid.n_groups == sums.n_classes, "classes are missing")
    n_correct = np.bincount(grid.group, grid.correct, sums.n_classes)
    _require((n_correct == sums.occurrences).all(), "the right classes differ")


def _check_draws(draws: NullDraws, rows: int) -> None:
    _require(
        (draws.top_label.sum(axis=1, dtype=np.int64) <= rows).all(),
        "more outcomes are drawn than there are positions",
    )
    _require((draws.all_labels.sum(axis=1, dtype=np.int64) == rows).all(), "the draws do not add up")
    if draws.by_class is not None:
        draw, group, cell, count = draws.by_class.T
        key = (draw.astype(np.int64) * (int(group.max(initial=0)) + 1) + group) * GRID_CELLS + cell
        _require((np.diff(key) > 0).all() and (count > 0).all(), "the draws by class are not in order")
        drawn = np.bincount(draw, count)
        _require(
            (drawn == rows).all() and drawn.size <= len(draws.all_labels), "the draws by class do not add up"
        )


def _check_unseen(bounds: UnstoredBounds, rows: int) -> None:
    _require(bounds.min_stored >= 0, "the number of stored entries is negative")
    _require(
        all(0 <= number <= rows for number in bounds.n_ambiguous.values()), "too many positions are ambiguous"
    )
    for bins, mass in bounds.mass_bounds.items():
        _require(
            _is_valid_mass(mass, bins, rows) and bins in bounds.n_ambiguous,
            "the bounds on what is not stored are not valid",
        )


def _check_texts(texts: TextSums, top_label: GridSums) -> None:
    """The texts are sorted and together the top labels, cell by cell."""
    _require((np.diff(texts.key) > 0).all(), "the texts are not in order")
    _require(
        ((texts.count > 0) & (texts.correct <= texts.count)).all(), "the positions of a text are not valid"
    )
    cell = TEXT_CELL_OF[top_label.cell]
    for name, slack in (
        ("count", 0.0),
        ("correct", 0.0),
        ("confidence", _CELL_SLACK * max(top_label.n_rows, 1)),
    ):
        by_text = np.bincount(texts.cell, getattr(texts, name), TEXT_CELLS)
        gap = np.abs(by_text - np.bincount(cell, getattr(top_label, name), TEXT_CELLS))
        _require((gap <= slack).all(), "the texts do not add up")


def _is_valid_mass(mass: NDArray[np.float64], bins: int, rows: int) -> bool:
    return mass.shape == (bins,) and bool(((mass >= 0) & (mass <= rows * (1 + _CELL_SLACK))).all())


def _is_valid_example(example: ExamplePosition, sums: TokenSums) -> bool:
    are_probabilities = all(0 <= prob <= 1 + _CELL_SLACK for prob in example.probs)
    is_known_class = 0 <= example.target < sums.n_classes and example.itemsize in (2, 4, 8)
    return example.row >= 0 and is_known_class and are_probabilities


def _require(holds: object, message: str) -> None:
    if not holds:
        raise InvalidSumsError(message)


# --- The format ---------------------------------------------------------------

SUMS_FORMAT: Final = "calib-sums"
SUMS_VERSION: Final = 2
READABLE_VERSIONS: Final = (1, SUMS_VERSION)
"""Version 1 has no texts."""

_INVALID_SUMS_ERRORS: Final = (
    InvalidSumsError,
    KeyError,
    TypeError,
    ValueError,
    IndexError,
    OverflowError,
    AttributeError,
)
"""Errors that damaged metadata or tables cause while they are converted."""


def write_sums(runs: Sequence[TokenRun], path: Path) -> None:
    """Saves the sums of runs at `path`, completely or not at all.

    File and format of a run are not saved: a run that is read back belongs to the new file.

    Raises
    ------
    Refused
        If the file cannot be written.
    """
    frame = pl.concat([sums_to_table(number, run.sums) for number, run in enumerate(runs)])
    run_metadata: list[RunMetadata] = [
        {
            "label": run.label,
            "info": asdict(run.info),
            "ledger": _ledger_to_json(run.row_counts),
            **sums_metadata(run.sums),
        }
        for run in runs
    ]
    metadata = {
        "format": SUMS_FORMAT,
        "version": SUMS_VERSION,
        "runs": run_metadata,
        DIGEST_KEY: BLANK_DIGEST,
    }
    buffer = io.BytesIO()
    frame.write_parquet(
        buffer,
        compression="zstd",
        compression_level=19,
        statistics=False,
        metadata={METADATA_KEY: json.dumps(metadata, allow_nan=False)},
    )
    write_atomically(with_digest(buffer.getvalue()), path)


def recognises(head: Head) -> bool:
    """Whether the file's metadata says that it holds sums."""
    return _stored_metadata(head).get("format") == SUMS_FORMAT


def read(head: Head, options: ReadOptions, progress: ReadProgress) -> Reading:
    """The runs whose sums a file holds. See `Format.read`."""
    if not recognises(head):
        raise Refused(
            f"{head.file} cannot be read as {SUMS.title}: it holds none. Leave {option_name('format')} out."
        )
    if options.columns:
        raise Refused(f"{head.file} holds saved sums, whose columns cannot be mapped.")
    metadata = _stored_metadata(head)
    if metadata.get("version") not in READABLE_VERSIONS:
        raise Refused(
            f"{head.file} holds sums of version {shorten(repr(metadata.get('version')))}, but this version "
            f"of the program reads versions up to {SUMS_VERSION}. Reduce the token-level files again."
        )
    try:
        runs = tuple(_read_runs(head, metadata, progress))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged_sums(head.file, shorten(str(error), 200)) from None
    except _INVALID_SUMS_ERRORS as error:
        reason = str(error) if isinstance(error, InvalidSumsError) else "parts are missing"
        raise _damaged_sums(head.file, reason) from None
    progress(1.0, f"{len(runs):,} runs read")
    return Reading(
        file=head.file,
        format=SUMS.id,
        n_rows=sum(run.n_total for run in runs),
        n_bad_rows=0,
        problems=(),
        good_runs=runs,
        columns=head.names,
        unused_columns=(),
    )


def _read_runs(head: Head, metadata: Mapping[str, Any], progress: ReadProgress) -> Iterator[TokenRun]:
    if not digest_matches(head.all_bytes):
        raise InvalidSumsError("its checksum is wrong")
    table = _scan_table(head)
    run_metadata = cast("list[RunMetadata]", metadata["runs"])
    if not run_metadata or dict(table.collect_schema()) != _stored_schema(metadata):
        raise InvalidSumsError("its columns are not those it was written with")
    ranges = _run_ranges(table)
    for number, run in enumerate(run_metadata):
        progress(number / len(run_metadata), f"run {number + 1:,} of {len(run_metadata):,}")
        check_run_metadata(run)
        rows = table.slice(*ranges.pop(number, (0, 0))).cast({"part": SUMS_SCHEMA["part"]})
        sums = sums_from_table(run, rows)
        check_sums(sums)
        info, row_counts = run_info_from_metadata(run["info"], head.file), _ledger_from_json(run["ledger"])
        yield TokenRun(head.file, SUMS.id, str(run["label"]), info, sums, row_counts)
    if ranges:
        raise InvalidSumsError("some cells belong to no run")


def _stored_schema(metadata: Mapping[str, Any]) -> dict[str, pl.DataType]:
    """The columns of a file of that version."""
    n_parts = len(TABLE_PARTS) - (metadata["version"] < SUMS_VERSION)
    return {**SUMS_SCHEMA, "part": pl.Enum(TABLE_PARTS[:n_parts])}


def _scan_table(head: Head) -> pl.LazyFrame:
    """The cells of all runs, not yet decompressed: together they may take eighty times the file's size."""
    return pl.scan_parquet(io.BytesIO(head.all_bytes))


def _run_ranges(table: pl.LazyFrame) -> dict[int, tuple[int, int]]:
    """Run → first row and number of rows of its cells, which are contiguous."""
    lengths = table.select(pl.col("run").rle().alias("same")).unnest("same").collect()
    if lengths["value"].n_unique() != lengths.height:
        raise InvalidSumsError("the cells of a run are not contiguous")
    starts = lengths["len"].cum_sum() - lengths["len"]
    return dict(zip(lengths["value"], zip(starts, lengths["len"], strict=True), strict=True))


def _stored_metadata(head: Head) -> Mapping[str, Any]:
    try:
        stored: object = json.loads((head.metadata or {}).get(METADATA_KEY, ""))
    except (ValueError, RecursionError):
        return {}
    return cast("Mapping[str, Any]", stored) if isinstance(stored, dict) else {}


def _ledger_to_json(row_counts: RowCounts) -> RunMetadata:
    return {
        "read": row_counts.n_rows,
        "left_out": row_counts.n_left_out,
        "clipped": dict(row_counts.clipped),
        "off_sum": row_counts.n_inexact_sums,
        "notes": list(row_counts.notes),
    }


def _ledger_from_json(stored: RunMetadata) -> RowCounts:
    """Raises KeyError, TypeError or ValueError where a count is missing or not a number."""
    return RowCounts(
        n_rows=int(stored["read"]),
        n_left_out=int(stored["left_out"]),
        clipped=MappingProxyType({str(name): int(count) for name, count in stored["clipped"].items()}),
        n_inexact_sums=int(stored["off_sum"]),
        notes=tuple(str(note) for note in stored["notes"]),
    )


def _damaged_sums(file: str, reason: str) -> Refused:
    return Refused(
        f"{file}: the sums in it cannot be used ({reason}): the file was altered, cut off or damaged since "
        f"it was written. Copy it again, or reduce the token-level files again."
    )


SUMS: Final = Format(
    "sums",
    "saved sums of token-level files",
    "the metadata of sums",
    frozenset({"parquet"}),
    recognises,
    read,
)
