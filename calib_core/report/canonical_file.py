"""How is a canonical answers file written, as Parquet and as JSON lines?"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import polars as pl

from calib_core.files.tables.canonical import DTYPES_KEY, METADATA_KEY

_NARROW_FLOATS: Final = (pl.Float16(), pl.Float32())
"""Dtypes that JSON has no word for, and that decide where a value falls between bins (decision 0002)."""


@dataclass(frozen=True, slots=True, eq=False)
class CanonicalFile:
    """A canonical answers file before it is written. rows: no column of them is null throughout.

    metadata: as it is written; notes: the sentences in it.
    """

    rows: pl.DataFrame
    metadata: Mapping[str, object]
    notes: tuple[str, ...]

    def to_parquet(self) -> bytes:
        """As Parquet, every value in the dtype it was read in."""
        buffer = io.BytesIO()
        self.rows.write_parquet(buffer, compression="zstd", metadata={METADATA_KEY: _compact_json(self.metadata)})
        return buffer.getvalue()

    def to_json_lines(self) -> bytes:
        """As JSON lines: the metadata, then one object a row, nulls left out, −∞ as the text "-inf"."""
        narrow = {name: str(_element_dtype(dtype)) for name, dtype in self.rows.schema.items()
                  if _element_dtype(dtype) in _NARROW_FLOATS}  # fmt: skip
        metadata = {**self.metadata, DTYPES_KEY: narrow} if narrow else self.metadata
        lines = [_compact_json({METADATA_KEY: metadata})]
        lines += [
            _compact_json({name: _json_value(value) for name, value in row.items() if value is not None})
            for row in self.rows.iter_rows(named=True)
        ]
        return ("\n".join(lines) + "\n").encode()


def _element_dtype(dtype: pl.DataType) -> pl.DataType:
    return cast("pl.DataType", dtype.inner) if isinstance(dtype, pl.List) else dtype


def _json_value(value: Any) -> Any:  # noqa: ANN401  whatever a cell holds
    if isinstance(value, list):
        return [_json_value(part) for part in cast("list[Any]", value)]
    return "-inf" if value == float("-inf") else value


def _compact_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
