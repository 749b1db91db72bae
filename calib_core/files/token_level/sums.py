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
from calib_core.files.saving import save
from calib_core.files.tables.canonical import KEY, info_of
from calib_core.files.tables.raw import Progress
from calib_core.files.token_level import seal
from calib_core.files.token_level.sums_checks import WrongError, check_sums, check_table, check_told
from calib_core.files.token_level.sums_table import SCHEMA, Told, sums_of, table_of, told_of
from calib_core.problems import Refused, shorten
from calib_core.records import Ledger, TokenRun

FORMAT: Final = "calib-sums"
VERSION: Final = 1

_WRONG: Final = (WrongError, KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError)
"""What comes of metadata and tables that are not those of a sums file."""


def write_sums(runs: Sequence[TokenRun], path: Path) -> None:
    """Saves the sums of runs at `path`, all of them or nothing. Raises Refused as `saving.save`.

    A run's file and format are not saved: the runs that are read are of the new file.
    """
    frame = pl.concat([table_of(number, run.sums) for number, run in enumerate(runs)])
    told: list[Told] = [
        {"label": run.label, "info": asdict(run.info), "ledger": _told_of(run.ledger), **told_of(run.sums)}
        for run in runs
    ]
    metadata = {"format": FORMAT, "version": VERSION, "runs": told, seal.NAME: seal.BLANK}
    buffer = io.BytesIO()
    frame.write_parquet(
        buffer,
        compression="zstd",
        compression_level=19,
        statistics=False,
        metadata={KEY: json.dumps(metadata, allow_nan=False)},
    )
    save(seal.sealed(buffer.getvalue()), path)


def recognises(head: Head) -> bool:
    """Whether the file says that it holds sums."""
    return head.kind == "parquet" and _metadata(head).get("format") == FORMAT


def read(head: Head, mapping: Mapping[str, str], progress: Progress) -> Reading:
    """The runs whose sums a file holds. See `format.Read`."""
    if not recognises(head):
        raise Refused(f"{head.file} was to be read as {SUMS.title} and holds none. Leave --format out.")
    if mapping:
        raise Refused(f"{head.file} holds saved sums, of which no column can be read as another.")
    metadata = _metadata(head)
    if metadata.get("version") != VERSION:
        raise Refused(
            f"{head.file} holds sums of version {shorten(repr(metadata.get('version')))}, and this version "
            f"of the program reads version {VERSION}. Reduce the token-level files again."
        )
    try:
        runs = tuple(_runs(head, metadata, progress))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged(head.file, shorten(str(error), 200)) from None
    except _WRONG as error:
        reason = str(error) if isinstance(error, WrongError) else "parts are missing"
        raise _damaged(head.file, reason) from None
    progress(1.0, f"{len(runs):,} runs read")
    return Reading(
        file=head.file,
        format=SUMS.id,
        rows=sum(run.n_total for run in runs),
        bad_rows=0,
        problems=(),
        good_runs=runs,
        columns=head.names,
        unused=(),
        proposals=MappingProxyType({}),
    )


def _runs(head: Head, metadata: Mapping[str, Any], progress: Progress) -> Iterator[TokenRun]:
    if not seal.is_whole(head.data):
        raise WrongError("its seal is broken")
    table = _table(head)
    told = cast("list[Told]", metadata["runs"])
    if not told or dict(table.collect_schema()) != dict(SCHEMA):
        raise WrongError("its columns are others")
    parts = _places(table)
    for number, run in enumerate(told):
        progress(number / len(told), f"run {number + 1:,} of {len(told):,}")
        check_told(run)
        rows = table.slice(*parts.pop(number, (0, 0))).collect()
        check_table(run, rows)
        sums = sums_of(run, rows)
        check_sums(sums)
        info, ledger = info_of(run["info"], head.file), _ledger(run["ledger"])
        yield TokenRun(head.file, SUMS.id, str(run["label"]), info, sums, ledger)
    if parts:
        raise WrongError("there are cells of no run")


def _table(head: Head) -> pl.LazyFrame:
    """The cells of all runs, none of them unpacked: together they may take eighty times the file's room."""
    return pl.scan_parquet(io.BytesIO(head.data))


def _places(table: pl.LazyFrame) -> dict[int, tuple[int, int]]:
    """Where the cells of each run begin, and how many there are: they stand together."""
    lengths = table.select(pl.col("run").rle().alias("same")).unnest("same").collect()
    if lengths["value"].n_unique() != lengths.height:
        raise WrongError("the cells of a run do not stand together")
    starts = lengths["len"].cum_sum() - lengths["len"]
    return dict(zip(lengths["value"], zip(starts, lengths["len"], strict=True), strict=True))


def _metadata(head: Head) -> Mapping[str, Any]:
    try:
        stored: object = json.loads((head.metadata or {}).get(KEY, ""))
    except (ValueError, RecursionError):
        return {}
    return cast("Mapping[str, Any]", stored) if isinstance(stored, dict) else {}


def _told_of(ledger: Ledger) -> Told:
    return {
        "read": ledger.read,
        "left_out": ledger.left_out,
        "clipped": dict(ledger.clipped),
        "off_sum": ledger.off_sum,
        "notes": list(ledger.notes),
    }


def _ledger(told: Told) -> Ledger:
    """Raises TypeError or ValueError where a number is none."""
    return Ledger(
        read=int(told["read"]),
        left_out=int(told["left_out"]),
        clipped=MappingProxyType({str(name): int(number) for name, number in told["clipped"].items()}),
        off_sum=int(told["off_sum"]),
        notes=tuple(str(note) for note in told["notes"]),
    )


def _damaged(file: str, reason: str) -> Refused:
    return Refused(
        f"{file}: the sums in it cannot be used ({reason}): the file was altered, cut off or damaged since "
        f"it was written. Copy it again, or reduce the token-level files again."
    )


SUMS: Final = Format(
    "sums", "saved sums of token-level files", "the metadata of sums", recognises, read
)
