"""How are the sums of token-level runs saved, small and exact, and read again?

One Parquet file holds one or more runs: the table of `sums_table`, and as the metadata `calib` what no
table holds. It is sealed: whatever was altered or cut off since is refused.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast

import polars as pl

from calib_core.files.format import Format, Head
from calib_core.files.reading import Reading
from calib_core.files.saving import write_atomically
from calib_core.files.tables.canonical import METADATA_KEY, run_info_from_metadata
from calib_core.files.tables.raw import ReadProgress
from calib_core.files.token_level import seal
from calib_core.files.token_level.sums_checks import InvalidSumsError, check_sums, check_table, check_run_metadata
from calib_core.files.token_level.sums_table import SUMS_SCHEMA, RunMetadata, sums_from_table, sums_to_table, sums_metadata
from calib_core.problems import Refused, shorten
from calib_core.records import RowCounts, TokenRun

SUMS_FORMAT: Final = "calib-sums"
SUMS_VERSION: Final = 1

_INVALID_SUMS_ERRORS: Final = (InvalidSumsError, KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError)
"""What comes of metadata and tables that are not those of a sums file."""


def write_sums(runs: Sequence[TokenRun], path: Path) -> None:
    """Saves the sums of runs at `path`, all of them or nothing. Raises Refused as `saving.save`.

    A run's file and format are not saved: the runs that are read are of the new file.
    """
    frame = pl.concat([sums_to_table(number, run.sums) for number, run in enumerate(runs)])
    told: list[RunMetadata] = [
        {"label": run.label, "info": asdict(run.info), "ledger": _ledger_to_json(run.row_counts), **sums_metadata(run.sums)}
        for run in runs
    ]
    metadata = {"format": SUMS_FORMAT, "version": SUMS_VERSION, "runs": told, seal.DIGEST_KEY: seal.BLANK_DIGEST}
    buffer = io.BytesIO()
    frame.write_parquet(
        buffer,
        compression="zstd",
        compression_level=19,
        statistics=False,
        metadata={METADATA_KEY: json.dumps(metadata, allow_nan=False)},
    )
    write_atomically(seal.with_digest(buffer.getvalue()), path)


def recognises(head: Head) -> bool:
    """Whether the file says that it holds sums."""
    return head.kind == "parquet" and _stored_metadata(head).get("format") == SUMS_FORMAT


def read(head: Head, mapping: Mapping[str, str], progress: ReadProgress) -> Reading:
    """The runs whose sums a file holds. See `format.Read`."""
    if not recognises(head):
        raise Refused(f"{head.file} was to be read as {SUMS.title} and holds none. Leave --format out.")
    if mapping:
        raise Refused(f"{head.file} holds saved sums, of which no column can be read as another.")
    metadata = _stored_metadata(head)
    if metadata.get("version") != SUMS_VERSION:
        raise Refused(
            f"{head.file} holds sums of version {shorten(repr(metadata.get('version')))}, and this version "
            f"of the program reads version {SUMS_VERSION}. Reduce the token-level files again."
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
        proposed_mapping=MappingProxyType({}),
    )


def _read_runs(head: Head, metadata: Mapping[str, Any], progress: ReadProgress) -> Iterator[TokenRun]:
    if not seal.digest_matches(head.all_bytes):
        raise InvalidSumsError("its seal is broken")
    table = _scan_table(head)
    told = cast("list[Told]", metadata["runs"])
    if not told or dict(table.collect_schema()) != dict(SUMS_SCHEMA):
        raise InvalidSumsError("its columns are others")
    parts = _run_ranges(table)
    for number, run in enumerate(told):
        progress(number / len(told), f"run {number + 1:,} of {len(told):,}")
        check_run_metadata(run)
        rows = table.slice(*parts.pop(number, (0, 0))).collect()
        check_table(run, rows)
        sums = sums_from_table(run, rows)
        check_sums(sums)
        info, ledger = run_info_from_metadata(run["info"], head.file), _ledger_from_json(run["ledger"])
        yield TokenRun(head.file, SUMS.id, str(run["label"]), info, sums, ledger)
    if parts:
        raise InvalidSumsError("there are cells of no run")


def _scan_table(head: Head) -> pl.LazyFrame:
    """The cells of all runs, none of them unpacked: together they may take eighty times the file's room."""
    return pl.scan_parquet(io.BytesIO(head.all_bytes))


def _run_ranges(table: pl.LazyFrame) -> dict[int, tuple[int, int]]:
    """Where the cells of each run begin, and how many there are: they stand together."""
    lengths = table.select(pl.col("run").rle().alias("same")).unnest("same").collect()
    if lengths["value"].n_unique() != lengths.height:
        raise InvalidSumsError("the cells of a run do not stand together")
    starts = lengths["len"].cum_sum() - lengths["len"]
    return dict(zip(lengths["value"], zip(starts, lengths["len"], strict=True), strict=True))


def _stored_metadata(head: Head) -> Mapping[str, Any]:
    try:
        stored: object = json.loads((head.metadata or {}).get(METADATA_KEY, ""))
    except (ValueError, RecursionError):
        return {}
    return cast("Mapping[str, Any]", stored) if isinstance(stored, dict) else {}


def _ledger_to_json(ledger: RowCounts) -> RunMetadata:
    return {
        "read": ledger.n_rows,
        "left_out": ledger.n_left_out,
        "clipped": dict(ledger.clipped),
        "off_sum": ledger.n_off_sum,
        "notes": list(ledger.notes),
    }


def _ledger_from_json(stored: RunMetadata) -> RowCounts:
    """Raises TypeError or ValueError where a number is none."""
    return RowCounts(
        n_rows=int(stored["read"]),
        n_left_out=int(stored["left_out"]),
        clipped=MappingProxyType({str(name): int(number) for name, number in stored["clipped"].items()}),
        n_off_sum=int(stored["off_sum"]),
        notes=tuple(str(note) for note in stored["notes"]),
    )


def _damaged_sums(file: str, reason: str) -> Refused:
    return Refused(
        f"{file}: the sums in it cannot be used ({reason}): the file was altered, cut off or damaged since "
        f"it was written. Copy it again, or reduce the token-level files again."
    )


SUMS: Final = Format(
    "sums", "saved sums of token-level files", "the metadata of sums", recognises, read
)
