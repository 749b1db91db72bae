"""What kind of file is this?  A first look at the bytes, before a format is chosen."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final, cast

from calib_core.errors import Refused, shorten
from calib_core.readers.archives import (
    MAGIC_BYTES,
    MAX_LOG_MEMBERS,
    NPY_MAGIC,
    ZIP_MAGIC,
    compression_of,
    count_members,
    decompress,
    is_packed,
    open_archive,
    read_only_file,
)
from calib_core.readers.content import CHUNK_BYTES, Content, as_content
from calib_core.readers.file_access import open_regular_file, read_first_bytes
from calib_core.readers.format import Head
from calib_core.readers.inspect.archive import is_inspect_log
from calib_core.readers.table.arrow_reader import arrow_schema, is_arrow
from calib_core.readers.table.json_reader import BOM, RepeatedKeyError, numbered_lines, parse_json
from calib_core.readers.table.parquet_reader import (
    PARQUET_MAGIC,
    check_footer,
    parquet_metadata,
    parquet_schema,
)
from calib_core.readers.table.raw import ReadProgress, ignore_progress
from calib_core.readers.token.sums_digest import digest_matches, has_digest

N_FIRST_OBJECTS: Final = 20
"""JSON objects that are looked at: the first alone may be an error record."""

_SNIFFED_BYTES: Final = 2**20

EXPORT_ADVICE: Final = (
    "Export one row per question as CSV, JSON lines or Parquet, with columns such as id, confidence, correct."
)

_MAGIC_TITLES: Final = (
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"%PDF", "a PDF document"),
    (b"SQLite format 3", "an SQLite database"),
    (b"FEA1", "a Feather file of the first version (write it again: version 2 is read)"),
    (b"\x80\x02", "a Python pickle"),
    (b"\x80\x03", "a Python pickle"),
    (b"\x80\x04", "a Python pickle"),
    (b"\x80\x05", "a Python pickle"),
    (b"version https://git-lfs", "a Git LFS pointer (fetch the file itself with git lfs pull)"),
)

_ZIP_MEMBER_TITLES: Final = (
    (b".npy", "a NumPy archive (NPZ)"),
    (b"xl/workbook.xml", "an Excel workbook (save the sheet as CSV)"),
    (b"data.pkl", "a PyTorch file"),
)

_TITLES_BY_KEYS: Final[tuple[tuple[frozenset[str], str], ...]] = (
    (
        frozenset({"results", "configs", "n-shot"}),
        "an lm-evaluation-harness results file (no rows: choose the samples_….jsonl of --log_samples)",
    ),
    (
        frozenset({"scenario_spec", "adapter_spec"}),
        "a HELM run specification (no rows: choose scenario_state.json or per_instance_stats.json)",
    ),
    (
        frozenset({"instance_id", "predicted_text", "stats"}),
        "HELM's predictions for its web pages (choose the scenario_state.json of the same run)",
    ),
    (
        frozenset({"instance_id", "train_trial_index", "request"}),
        "HELM's requests for its web pages (choose the scenario_state.json of the same run)",
    ),
    (
        frozenset({"id", "epoch", "input", "target", "messages", "output"}),
        "a sample taken out of an Inspect log (choose the .eval or .json log itself)",
    ),
    (
        frozenset({"id", "epoch", "input", "target", "scores"}),
        "the summaries of an Inspect log (no log-probabilities: choose the .eval or .json log itself)",
    ),
)

_TABLE_COLUMNS: Final = frozenset({"confidence", "correct"})
"""Columns that only a table written for Calib has, whatever else it contains."""

_BEGINNING_OF_OBJECT: Final = re.compile(r"^(?=\{)", re.MULTILINE)
_YAML_LIST: Final = re.compile(rb"(?:#[^\n]*\n\s*)*(?:---\s+)?- [A-Za-z_]\w*:(?:\s|$)")
"""A list of objects in YAML, possibly below comments."""


# --- Files that are not read: what are they? A refusal names them -----------------------------------------


def identify_bytes(data: bytes) -> str | None:
    """Name the kind of a file that is neither Parquet nor text; None if it may be text."""
    if data.startswith(ZIP_MAGIC):
        return next((title for marker, title in _ZIP_MEMBER_TITLES if marker in data), "a zip archive")
    if data.startswith(b"PK\x05\x06"):
        return "an empty zip archive"
    for magic, title in _MAGIC_TITLES:
        if data.startswith(magic):
            return title
    if data[257:262] == b"ustar":
        return "a tar archive (unpack it, and open the files in it)"
    if data.endswith(b"PAR1") and b"\x00" in data:
        return "a Parquet file whose beginning is missing"
    return _identify_text(data[:512].lstrip())


def _identify_text(start: bytes) -> str | None:
    """Name the kind of a text that is not a table, by its beginning."""
    if start[:15].lower().startswith((b"<!doctype html", b"<html")):
        return "an HTML page (perhaps the error page of a download)"
    if start.startswith(b'data: {"'):
        return "a stream of server-sent events (save the whole response as JSON instead)"
    if _YAML_LIST.match(start):
        return "a YAML file"
    return "an XML file" if start.startswith(b"<?xml") else None


def identify_members(names: Iterable[str]) -> str | None:
    """Name the kind of an archive by the names of its members; None if any tool may have written it."""
    joined_names = "\n".join(names).encode("utf-8", "replace")
    return next((title for marker, title in _ZIP_MEMBER_TITLES if marker in joined_names), None)


def identify_objects(objects: Iterable[Mapping[str, object]]) -> str | None:
    """Name the file that such JSON objects are from, by their keys; None if no known tool wrote them."""
    for record in objects:
        for keys, title in _TITLES_BY_KEYS:
            if keys <= record.keys() and not record.keys() & _TABLE_COLUMNS:
                return title
    return None


def identify_columns(names: Iterable[str]) -> str | None:
    """Name the file that has such columns; None if no known tool wrote it."""
    return identify_objects([dict.fromkeys(names)])


def unsupported_message(file: str, title: str) -> str:
    """Say what a file is and what to give instead."""
    return f"{file} looks like {title}, which this version does not read. {EXPORT_ADVICE}"


# --- Files that may be read -------------------------------------------------------------------------------


def read_head(path: Path, file: str, progress: ReadProgress = ignore_progress) -> Head:
    """Take a first look at a file, which is unpacked if it is compressed; raises as `head_of_content`.

    Of arrays and of archives of arrays or logs, only the kind and the names of members are read, as they may
    exceed memory.
    """
    first = read_first_bytes(path, file, MAGIC_BYTES)
    if first.startswith(NPY_MAGIC):
        return Head(file, Content(b""), "npy", path=path)
    if first.startswith(ZIP_MAGIC):
        head = _archive_head(path, file, progress)
    elif (compression := compression_of(first)) is not None:
        content = decompress(Content.from_path(path, file), compression, progress)
        head = _unpacked_head(content, f"compressed with {compression}", progress)
    else:
        head = head_of_content(Content.from_path(path, file), file, progress)
    return replace(head, path=path)


def head_of_content(data: bytes | Content, file: str, progress: ReadProgress = ignore_progress) -> Head:
    """Take a first look at the bytes of a file.

    Raises
    ------
    Refused
        The file is empty, half written, not UTF-8 text, or of a kind that is not read.
    """
    content = as_content(data, file)
    start = _first_byte(content)
    if start == b"":
        raise Refused(f"{file} is empty. Write the predictions again, or choose another file.")
    beginning = content.read(0, _SNIFFED_BYTES)
    if beginning.startswith(PARQUET_MAGIC):
        return _parquet_head(content, file)
    if is_arrow(beginning):
        data = content.read_all()
        names, metadata = arrow_schema(data, file)
        return Head(file, content, "arrow", names=names, metadata=metadata)
    end = content.read(max(_SNIFFED_BYTES, len(content) - len(PARQUET_MAGIC)), _SNIFFED_BYTES)
    if (title := identify_bytes(beginning + end)) is not None:
        raise Refused(unsupported_message(file, title))
    _check_text(content, file, progress)
    if start == b"[":
        return _json_list_head(content, file)
    return _json_head(content, file) if start == b"{" else Head(file, content, "text")


def _archive_head(path: Path, file: str, progress: ReadProgress) -> Head:
    """List the names in an archive of arrays or of a log, or look at the one file in any other archive.

    Raises
    ------
    Refused
        The archive is damaged, holds no data file or several, or is a file of another tool.
    """
    with open_regular_file(path, file) as stream:
        if count_members(stream) > MAX_LOG_MEMBERS:
            title = identify_bytes(stream.read(_SNIFFED_BYTES)) or "a zip archive"
            raise Refused(unsupported_message(file, title))
        with open_archive(stream, file, MAX_LOG_MEMBERS) as archive:
            names = tuple(archive.namelist())
            if any(name.endswith(".npy") for name in names) or is_inspect_log(names):
                return Head(file, Content(b""), "zip", names=names)
            if (title := identify_members(names)) is not None:
                raise Refused(unsupported_message(file, title))
            content = read_only_file(archive, file, progress)
    return _unpacked_head(content, "a zip archive", progress)


def _unpacked_head(content: Content, packing: str, progress: ReadProgress) -> Head:
    """Take a first look at the one file that was packed; raises Refused if it is packed itself."""
    beginning = content.read(0, _SNIFFED_BYTES)
    if is_packed(beginning) or beginning.startswith(NPY_MAGIC):
        raise Refused(
            f"{content.file} is {packing}, and in it is {identify_bytes(beginning)}: only text, Parquet and "
            f"Arrow files are unpacked, and only once. Unpack it, and open what is in it."
        )
    return head_of_content(content, content.file, progress)


def _first_byte(content: Content) -> bytes:
    """Return the first byte after a byte order mark that is not white space; b"" if there is none."""
    for index, chunk in enumerate(content.chunks()):
        text = chunk.removeprefix(BOM) if index == 0 else chunk
        if stripped := text.lstrip():
            return stripped[:1]
    return b""


def _parquet_head(content: Content, file: str) -> Head:
    data = content.read_all()
    if has_digest(data) and not digest_matches(data):
        raise Refused(
            f"{file} holds saved sums that are not as they were written: the file was altered, cut off or "
            "damaged. Copy it again, or reduce the token-level files again."
        )
    check_footer(data, file)
    names = tuple(parquet_schema(data, file))
    return Head(file, content, "parquet", names=names, metadata=parquet_metadata(data))


def _check_text(content: Content, file: str, progress: ReadProgress) -> None:
    """Raise Refused if the bytes are not UTF-8 text; a NUL byte is reported first, as it tells more."""
    save = "Save it as UTF-8 text."
    start = content.read(0, 200)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Refused(f"{file} is text in UTF-16, but UTF-8 is expected. {save}")
    nul, invalid = _find_non_text(content, progress)
    if nul is not None:
        wide = 4 * start.count(b"\x00") > len(start)
        cause = "it may be in UTF-16" if wide else "it is not text, or a crashed writer never wrote its end"
        raise Refused(
            f"{file} holds a NUL byte on line {_line_number_at(content, nul):,}, but UTF-8 text is "
            f"expected: {cause}. {save}"
        )
    if invalid is not None:
        raise Refused(
            f"{file} is not text in UTF-8: line {_line_number_at(content, invalid):,} holds the byte "
            f"{content.read(invalid, 1)[0]:#04x}, which cannot stand there. It may be in Latin-1 or "
            f"Windows-1252, or not text at all. {save}"
        )


def _find_non_text(content: Content, progress: ReadProgress) -> tuple[int | None, int | None]:
    """Return the offsets of the first NUL byte and of the first byte that is not UTF-8; None for no such."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    offset, invalid, in_character = 0, None, False
    for chunk in content.chunks():
        if (nul := chunk.find(b"\x00")) >= 0:
            return offset + nul, invalid
        if invalid is None and (in_character or not chunk.isascii()):
            try:
                decoder.decode(chunk, final=offset + len(chunk) >= len(content))
            except UnicodeDecodeError as error:
                # error.object begins with the bytes left over from the previous chunk
                invalid = offset + len(chunk) - len(error.object) + error.start
            in_character = bool(decoder.getstate()[0])
        offset += len(chunk)
        progress(0.0, f"looking at the text, {offset:,} of {len(content):,} bytes")
    return None, invalid


def _line_number_at(content: Content, offset: int) -> int:
    """Return the number, from 1, of the line that holds the byte at `offset`."""
    return 1 + sum(
        content.read(start, min(CHUNK_BYTES, offset - start)).count(b"\n")
        for start in range(0, offset, CHUNK_BYTES)
    )


def _json_list_head(content: Content, file: str) -> Head:
    records = _parse_whole_json(content, file)
    if not isinstance(records, list):
        raise Refused(f"{file}: a JSON list is expected where the file begins with '['. {EXPORT_ADVICE}")
    elements = tuple(cast("list[object]", records))
    if not elements:
        raise Refused(f"{file} holds an empty JSON list: it has no rows.")
    objects = [
        cast("Mapping[str, object]", part) for part in elements[:N_FIRST_OBJECTS] if isinstance(part, dict)
    ]
    tables: dict[str, object] = {str(at): part for at, part in enumerate(elements) if isinstance(part, list)}
    if len(tables) == len(elements) and any(
        isinstance(row, dict) for row in cast("list[object]", elements[0])
    ):
        return Head(file, content, "json object", (tables,))
    if not objects:
        raise Refused(
            f"{file}: a JSON list of objects is expected, and its first element is "
            f"{shorten(repr(elements[0]))}. {EXPORT_ADVICE}"
        )
    return Head(file, content, "json list", tuple(objects), elements)


def _json_head(content: Content, file: str) -> Head:
    """Tell JSON lines from one object that spans several lines.

    The file holds JSON lines if the first line is an object; if it is not, a later one of the first may be.
    """
    lines = [line for _, line, _ in islice(numbered_lines(content), N_FIRST_OBJECTS)]
    objects = [_parse_object_line(line) for line in lines]
    if objects[0] is None and (len(lines) == 1 or not any(objects)):
        if records := _indented_records(content):
            return Head(file, content, "json list", records[:N_FIRST_OBJECTS], records)
        whole = _parse_whole_json(content, file)
        if isinstance(whole, dict):
            return Head(file, content, "json object", (cast("Mapping[str, object]", whole),))
    return Head(file, content, "json lines", tuple(part for part in objects if part is not None))


def _parse_object_line(line: bytes) -> Mapping[str, object] | None:
    try:
        value = parse_json(line.decode())
    except RepeatedKeyError:
        return {}  # reported with its line number when the records are read
    except (ValueError, RecursionError):
        return None
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else None


def _indented_records(content: Content) -> tuple[Mapping[str, object], ...]:
    """Return the objects of a text with several, one after another, each over several lines; () for others.

    Such an object begins with a brace at the beginning of a line, as no object inside one does.
    """
    parts = _BEGINNING_OF_OBJECT.split(content.read_all().decode("utf-8-sig"))
    objects = [_parse_object_line(part.encode()) for part in parts if part.strip()]
    known = tuple(part for part in objects if part)
    return known if 1 < len(known) == len(objects) else ()


def _parse_whole_json(content: Content, file: str) -> object:
    try:
        return parse_json(content.read_all().decode("utf-8-sig"))
    except RepeatedKeyError as repeated:
        raise Refused(
            f"{file}: an object has the key {shorten(str(repeated))!r} more than once, so it is unclear "
            "which value is meant. Keep one."
        ) from None
    except RecursionError:
        raise Refused(f"{file}: the JSON in it is nested too deeply to be read.") from None
    except ValueError as error:
        raise Refused(
            f"{file} begins like JSON but is not valid JSON ({shorten(str(error), 200)}). It may be half "
            "written: write it again, with one JSON object per line."
        ) from None
