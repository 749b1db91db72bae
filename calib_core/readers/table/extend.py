"""Writes a table again as it came, with one more column: its other cells stay as they are."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from calib_core.errors import Refused
from calib_core.readers.detect import read_head
from calib_core.readers.format import ContentKind, Head
from calib_core.readers.table.csv_reader import (
    COMMAS,
    DIALECTS,
    CsvDialect,
    has_regular_records,
    header_of,
    is_blank_record,
)
from calib_core.readers.table.json_reader import numbered_lines

_SUFFIXES: Final[Mapping[ContentKind, tuple[str, ...]]] = {
    "text": (".csv", ".tsv", ".txt"),
    "json lines": (".jsonl", ".ndjson", ".json"),
    "json list": (".json",),
    "parquet": (".parquet",),
}
_N_FIRST_RECORDS: Final = 100
_DECIMAL: Final = re.compile(r"[-+]?\d+([.,])\d+")


@dataclass(frozen=True, slots=True)
class ExtensibleTable:
    """A file of which every record is a row: delimited text, JSON lines, a JSON list, or Parquet.

    Attributes
    ----------
    head : Head
    """

    head: Head

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Endings of a file of the same kind."""
        return _SUFFIXES[self.head.kind]

    def with_column(self, name: str, values: Mapping[int, float]) -> bytes:
        """The file with a column after its others.

        Parameters
        ----------
        name : str
        values : Mapping[int, float]
            Number of a record, from 1 → its value. The others get none.

        Raises
        ------
        Refused
            If the file has a column of this name.
        """
        match self.head.kind:
            case "parquet":
                return self._parquet(name, values)
            case "text":
                return self._text(name, values)
            case "json list":
                return self._json_list(name, values)
            case _:
                return self._json_lines(name, values)

    def _refuse_repeated(self, name: str, names: object) -> None:
        if name in cast("list[str]", names):
            raise Refused(
                f"{self.head.file} has a column {name!r} already. Apply the map to the file that it was made "
                "from, or take the column out."
            )

    def _text(self, name: str, values: Mapping[int, float]) -> bytes:
        content = self.head.content
        dialect = _dialect(self.head)
        records = [record for record in dialect.records(content)[0] if not is_blank_record(record)]
        marks = {
            found[1] for record in records for cell in record if (found := _DECIMAL.fullmatch(cell.strip()))
        }
        point = "," if marks == {","} and dialect.may_have_decimal_commas else "."
        output = io.StringIO()
        line_end = "\r\n" if b"\r\n" in content.read(0, 2**16) else "\n"
        writer = csv.writer(output, delimiter=dialect.delimiter, lineterminator=line_end)
        for number, record in enumerate(records):
            if number == 0:
                self._refuse_repeated(name, [cell.strip() for cell in record])
                writer.writerow([*record, name])
            else:
                value = values.get(number)
                writer.writerow([*record, "" if value is None else repr(value).replace(".", point)])
        return output.getvalue().encode("utf-8")

    def _json_lines(self, name: str, values: Mapping[int, float]) -> bytes:
        lines: list[bytes] = []
        for number, (_, line, _) in enumerate(numbered_lines(self.head.content), 1):
            record = _object(line)
            if record is None:  # a bad row that is left out
                lines.append(line)
                continue
            self._refuse_repeated(name, list(record))
            cell = f"{json.dumps(name)}: {json.dumps(values.get(number))}}}".encode()
            start = line[:-1].rstrip()
            lines.append(start + (b", " if record else b"") + cell)
        return b"\n".join(lines) + b"\n"

    def _json_list(self, name: str, values: Mapping[int, float]) -> bytes:
        records: list[object] = []
        for number, element in enumerate(self.head.list_elements, 1):
            if isinstance(element, dict):
                record = cast("dict[str, object]", element)
                self._refuse_repeated(name, list(record))
                records.append({**record, name: values.get(number)})
            else:
                records.append(element)
        return (json.dumps(records, ensure_ascii=False, indent=1) + "\n").encode("utf-8")

    def _parquet(self, name: str, values: Mapping[int, float]) -> bytes:
        import pyarrow as pa  # noqa: PLC0415  a tenth of a second that only Parquet files take
        import pyarrow.parquet as pq  # noqa: PLC0415

        try:
            table = pq.read_table(io.BytesIO(self.head.all_bytes))  # pyright: ignore[reportUnknownMemberType]
        except (OSError, ValueError, NotImplementedError) as error:
            raise Refused(f"{self.head.file} cannot be written with another column ({error}).") from None
        self._refuse_repeated(name, table.column_names)
        column = pa.array([values.get(number) for number in range(1, table.num_rows + 1)], pa.float64())
        output = io.BytesIO()
        extended = table.append_column(name, column)
        pq.write_table(extended, output, compression="zstd")  # pyright: ignore[reportUnknownMemberType]
        return output.getvalue()


def extensible_table(path: Path, file: str) -> ExtensibleTable | None:
    """The table in a file that was read before; None where its records are not rows of one file.

    Parameters
    ----------
    path : Path
    file : str
        What messages call the file.
    """
    head = read_head(path, file)
    return ExtensibleTable(head) if head.kind in _SUFFIXES else None


def _dialect(head: Head) -> CsvDialect:
    """The dialect of most columns among those in which the first records are as wide as the header."""
    regular = [one for one in DIALECTS if has_regular_records(head.content, one, _N_FIRST_RECORDS)]
    return max(regular, key=lambda one: len(header_of(head.content, one)), default=COMMAS)


def _object(line: bytes) -> dict[str, object] | None:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", value) if isinstance(value, dict) else None
