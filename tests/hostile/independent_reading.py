"""What the bytes of a spoilt file really say, read without any code of the core.

`RECORDS` splits a file into records; a record that is identical to one of the good file must give the same
result as there. For changed records of a plain table, `VALUES` says what each one holds.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
import pyarrow as pa
import zstandard

Key = Any
Told = Mapping[str, Any]


class UnclearError(Exception):
    """The bytes can be read in more than one way, or in none: the program may say what it likes of them."""


def lines(data: bytes) -> list[bytes]:
    """Lines that are not blank."""
    text = data.removeprefix(b"\xef\xbb\xbf")
    if b"\n" not in text:
        text = text.replace(b"\r", b"\n")
    return [line.strip() for line in text.split(b"\n") if line.strip()]


def jsonl(data: bytes) -> list[Key]:
    """Lines, without the white space around them."""
    return list(lines(data))


def elements(data: bytes) -> list[Key]:
    """The elements of a JSON list, each as its text."""
    found = _json(data)
    if not isinstance(found, list):
        raise UnclearError
    return [repr(element) for element in found]


def table(data: bytes) -> list[Key]:
    """The records of CSV with its header, each as a tuple of cells."""
    header, *records = _cells(data)
    return [(tuple(header), tuple(record)) for record in records]


def unzstd(data: bytes) -> bytes:
    """What a zstd file holds, of all its frames."""
    with zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True) as reader:
        return reader.read()


def unzip(data: bytes) -> bytes:
    """What the last member of a zip file holds."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.read(archive.infolist()[-1])


RECORDS: Final[Mapping[str, Callable[[bytes], list[Key]]]] = {
    "csv": table,
    "jsonl": jsonl,
    "json": elements,
    "topk": jsonl,
    "gzip": lambda data: table(gzip.decompress(data)),
    "zstd": lambda data: jsonl(unzstd(data)),
    "zip": lambda data: table(unzip(data)),
}
"""Name → a file's records, in its order, each as something that is equal where the records are."""


def parts(contents: Mapping[str, bytes]) -> Counter[Key]:
    """The records of a log and of the files beside it, as text, and what stands above them, marked `ABOVE`.

    Of an archive its bytes, which its own checksums guard.
    """
    found = Counter[Key]()
    for name, data in contents.items():
        if name.endswith(".json"):
            try:
                found.update(_parts_of_json(name, _json(data)))
            except ValueError:
                raise UnclearError from None
        elif name.endswith(".csv"):
            header, *records = lines(data) or [b""]
            found.update([(ABOVE, name, header), *((name, record) for record in records)])
        else:
            found.update((name, line) for line in lines(data))
    return found


ABOVE: Final = "above the records"


def _parts_of_json(name: str, value: Any) -> list[Key]:
    lists = [key for key in ("request_states", "samples") if isinstance(value, dict) and key in value]
    if isinstance(value, list):
        return [(name, repr(element)) for element in value]
    if not lists or not isinstance(value[lists[0]], list):
        return [(ABOVE, name, repr(value))]
    above = {key: part for key, part in value.items() if key != lists[0]}
    return [(ABOVE, name, repr(above)), *((name, repr(element)) for element in value[lists[0]])]


def values_of_csv(data: bytes) -> list[Told]:
    """Column → cell, of each record."""
    header, *records = _cells(data)
    if len(set(header)) < len(header):
        raise UnclearError
    return [dict(zip(header, record, strict=False)) for record in records]


def values_of_jsonl(data: bytes) -> list[Told]:
    """Key → value, of each line; {} of a line that is no object."""
    found: list[Told] = []
    for line in lines(data):
        try:
            value = _json(line)
        except (ValueError, UnclearError):
            value = {}
        found.append(value if isinstance(value, dict) else {})
    return found


def values_of_json(data: bytes) -> list[Told]:
    """The same of the elements of a list."""
    return [value if isinstance(value, dict) else {} for value in _json(data)]


def values_of_parquet(data: bytes) -> Sequence[Told]:
    """What the library itself reads: nothing else tells of a page's bytes."""
    return pl.read_parquet(io.BytesIO(data)).to_dicts()


def values_of_arrow(data: bytes) -> Sequence[Told]:
    """What the library itself reads."""
    is_file = data.startswith(b"ARROW1")
    return (pa.ipc.open_file(data) if is_file else pa.ipc.open_stream(data)).read_all().to_pylist()


VALUES: Final[Mapping[str, Callable[[bytes], Sequence[Told]]]] = {
    "csv": values_of_csv,
    "jsonl": values_of_jsonl,
    "json": values_of_json,
    "parquet": values_of_parquet,
    "arrow": values_of_arrow,
    "gzip": lambda data: values_of_csv(gzip.decompress(data)),
    "zstd": lambda data: values_of_jsonl(unzstd(data)),
    "zip": lambda data: values_of_csv(unzip(data)),
}
"""Name → what each record says, under the file's own names."""


def document(name: str, data: bytes) -> Any:
    """All that a file says, as dicts, lists and plain values; of an archive, that of each member by name."""
    return _DOCUMENTS.get(Path(name).suffix, lambda _name, data: json_document(data))(name, data)


def _members(_name: str, data: bytes) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {member: document(member, archive.read(member)) for member in archive.namelist()}


_DOCUMENTS: Final[Mapping[str, Callable[[str, bytes], Any]]] = {
    ".csv": lambda _, data: values_of_csv(data),
    ".parquet": lambda _, data: values_of_parquet(data),
    **dict.fromkeys((".arrow", ".feather"), lambda _, data: values_of_arrow(data)),
    ".gz": lambda name, data: document(name.removesuffix(".gz"), gzip.decompress(data)),
    ".zst": lambda name, data: document(name.removesuffix(".zst"), unzstd(data)),
    ".npy": lambda _, data: np.load(io.BytesIO(data)).tolist(),
    **dict.fromkeys((".npz", ".eval", ".zip"), _members),
}
"""How a file's name ends → what it says; any other file is JSON."""


def json_document(data: bytes) -> Any:
    """A JSON file, or JSON lines as a list; a line that is no JSON stands there as its text."""
    text = data.decode("utf-8-sig", "replace")
    try:
        return json.loads(text)
    except ValueError:
        return [_json_or_text(line) for line in text.splitlines() if line.strip()]


def _json_or_text(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return line


def tokens(probs: np.ndarray, target: np.ndarray) -> tuple[int, int, float]:
    """Positions, how many of them are right, and the sum of the top labels' probabilities."""
    top = probs.astype(np.float64)
    at = top.argmax(axis=1)
    return len(top), int((at == target).sum()), float(top[np.arange(len(top)), at].sum())


def whole_number(text: str) -> bool:
    """Whether a cell is the plain text of a number, so that there is no doubt about what it says."""
    return text.strip().lstrip("-").replace(".", "", 1).isdecimal() and text.isascii()


def _cells(data: bytes) -> list[list[str]]:
    text = data.decode("utf-8-sig")
    if "\r" in text.replace("\r\n", "") or "\0" in text:
        raise UnclearError  # mixed line ends: it is ambiguous which of them end a record
    try:
        found = [record for record in csv.reader(io.StringIO(text, newline=""), strict=True) if record]
    except csv.Error:
        raise UnclearError from None
    if not found or text[0] in "\r\n":
        raise UnclearError
    return found


def _json(data: bytes) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise UnclearError
        return dict(pairs)

    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=once)
    except (RecursionError, UnicodeDecodeError):
        raise UnclearError from None
