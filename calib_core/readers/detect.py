"""What do the bytes of a file look like, before it is decided what they mean?"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final, cast

from calib_core.errors import Refused, shorten
from calib_core.readers.archives import MAX_LOG_MEMBERS, ZIP_MAGIC, count_members, open_archive
from calib_core.readers.content import CHUNK_BYTES, Content, as_content
from calib_core.readers.folder import open_regular_file
from calib_core.readers.folder import read_first_bytes as beginning_of
from calib_core.readers.format import Head
from calib_core.readers.inspect.archive import is_inspect_log
from calib_core.readers.table.json_reader import BOM, RepeatedKeyError, numbered_lines, parse_json
from calib_core.readers.table.parquet_reader import (
    PARQUET_MAGIC,
    check_footer,
    parquet_metadata,
    parquet_schema,
)
from calib_core.readers.table.raw import ReadProgress
from calib_core.readers.token.arrays import NPY_MAGIC
from calib_core.readers.token.sums_digest import digest_matches, has_digest

# MERGED lookalikes: What is this file, if it is none that is read here? Told cheaply, so that a refusal can name it.

EXPORT_ADVICE: Final = (
    "Export one row a question as CSV, JSON lines or Parquet, with columns such as id, confidence, correct."
)

_MAGIC_TITLES: Final = (
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"%PDF", "a PDF document"),
    (b"SQLite format 3", "an SQLite database"),
    (b"ARROW1", "an Arrow or Feather file"),
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
"""Columns of a table that somebody made to be read here, whatever else is in it."""

_YAML_LIST: Final = re.compile(rb"(?:#[^\n]*\n\s*)*(?:---\s+)?- [A-Za-z_]\w*:(?:\s|$)")
"""A list of objects in YAML, perhaps below remarks."""


def identify_bytes(data: bytes) -> str | None:
    """What a file that is neither Parquet nor text seems to be; None where it may be text."""
    if data.startswith(b"PK\x03\x04"):
        return next((title for mark, title in _ZIP_MEMBER_TITLES if mark in data), "a zip archive")
    if data.startswith(b"PK\x05\x06"):
        return "an empty zip archive"
    for magic, title in _MAGIC_TITLES:
        if data.startswith(magic):
            return title
    if data.endswith(b"PAR1") and b"\x00" in data:
        return "a Parquet file whose beginning is missing"
    return _identify_text(data[:512].lstrip())


def _identify_text(start: bytes) -> str | None:
    """What a text is that is no table, by its beginning."""
    if start[:15].lower().startswith((b"<!doctype html", b"<html")):
        return "an HTML page (perhaps the error page of a download)"
    if start.startswith(b'data: {"'):
        return "a stream of server-sent events (save the whole response as JSON instead)"
    if _YAML_LIST.match(start):
        return "a YAML file"
    return "an XML file" if start.startswith(b"<?xml") else None


def identify_members(names: Iterable[str]) -> str:
    """What an archive with members of these names seems to be."""
    listed = "\n".join(names).encode("utf-8", "replace")
    return next((title for mark, title in _ZIP_MEMBER_TITLES if mark in listed), "a zip archive")


def identify_objects(objects: Iterable[Mapping[str, object]]) -> str | None:
    """The tool that wrote such JSON objects, by the keys one of them has; None where it is none known."""
    for record in objects:
        for keys, title in _TITLES_BY_KEYS:
            if keys <= record.keys() and not record.keys() & _TABLE_COLUMNS:
                return title
    return None


def identify_columns(names: Iterable[str]) -> str | None:
    """The tool that wrote a Parquet file or a table with such columns; None where it is none known."""
    return identify_objects([dict.fromkeys(names)])


def unsupported_message(file: str, title: str) -> str:
    """The message that names what a file is and says what would be read."""
    return f"{file} looks like {title}, which this version does not read. {EXPORT_ADVICE}"


N_FIRST_OBJECTS: Final = 20
"""JSON objects looked at: the first alone may be an error record."""

_SNIFFED_BYTES: Final = 2**20


def _ignore_progress(_share: float, _text: str) -> None:
    """Is told, and tells nobody."""


def read_head(path: Path, file: str, progress: ReadProgress = _ignore_progress) -> Head:
    """A first look at a file; raises as `head_of`.

    Arrays and archives of them may be larger than memory: of these only the kind and the names are read.
    """
    first = beginning_of(path, file, len(NPY_MAGIC))
    if first.startswith(NPY_MAGIC):
        return Head(file, Content(b""), "npy", path=path)
    if first.startswith(ZIP_MAGIC):
        return _archive_head(path, file)
    return replace(head_of_content(Content.from_path(path, file), file, progress), path=path)


def head_of_content(data: bytes | Content, file: str, progress: ReadProgress = _ignore_progress) -> Head:
    """A first look at a whole file.

    Raises Refused where it is empty, no text in UTF-8, half written, or of a kind that is not read.
    """
    content = as_content(data, file)
    start = _first_byte(content)
    if start == b"":
        raise Refused(f"{file} is empty. Write the predictions again, or choose another file.")
    beginning = content.read(0, _SNIFFED_BYTES)
    if beginning.startswith(PARQUET_MAGIC):
        return _parquet_head(content, file)
    end = content.read(max(_SNIFFED_BYTES, len(content) - len(PARQUET_MAGIC)), _SNIFFED_BYTES)
    if (title := identify_bytes(beginning + end)) is not None:
        raise Refused(unsupported_message(file, title))
    _check_text(content, file, progress)
    if start == b"[":
        return _json_list_head(content, file)
    return _json_head(content, file) if start == b"{" else Head(file, content, "text")


def _archive_head(path: Path, file: str) -> Head:
    """The names in an archive of arrays or of a log. Raises Refused where it is another one, or damaged."""
    with open_regular_file(path, file) as stream:
        if count_members(stream) > MAX_LOG_MEMBERS:
            title = identify_bytes(stream.read(_SNIFFED_BYTES)) or "a zip archive"
            raise Refused(unsupported_message(file, title))
        with open_archive(stream, file, MAX_LOG_MEMBERS) as archive:
            names = tuple(archive.namelist())
    if any(name.endswith(".npy") for name in names) or is_inspect_log(names):
        return Head(file, Content(b""), "zip", names=names, path=path)
    raise Refused(unsupported_message(file, identify_members(names)))


def _first_byte(content: Content) -> bytes:
    """The first byte that is no white space, after a byte order mark; b"" where there is none."""
    begun = 0
    for piece in content.chunks():
        text = piece.removeprefix(BOM) if begun == 0 else piece
        if inside := text.lstrip():
            return inside[:1]
        begun += len(piece)
    return b""


def _parquet_head(content: Content, file: str) -> Head:
    data = content.read_all()
    if has_digest(data) and not digest_matches(data):
        raise Refused(
            f"{file} holds saved sums and is not as it was written: it was altered, cut off or damaged. Copy "
            f"it again, or reduce the token-level files again."
        )
    check_footer(data, file)
    names = tuple(parquet_schema(data, file))
    return Head(file, Content(data, file), "parquet", names=names, metadata=parquet_metadata(data))


def _check_text(content: Content, file: str, progress: ReadProgress) -> None:
    """Raises Refused where the bytes are no text in UTF-8. A NUL byte says more than a wrong one does."""
    save = "Save it as UTF-8 text."
    start = content.read(0, 200)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Refused(f"{file} is text in UTF-16, and UTF-8 is expected. {save}")
    nul, wrong = _find_non_text(content, progress)
    if nul is not None:
        wide = 4 * start.count(b"\x00") > len(start)
        cause = "it may be in UTF-16" if wide else "it is no text, or a crashed writer never wrote its end"
        raise Refused(
            f"{file} holds a NUL byte on line {_line_number_at(content, nul):,}, and UTF-8 text is expected: "
            f"{cause}. {save}"
        )
    if wrong is not None:
        raise Refused(
            f"{file} is not text in UTF-8: line {_line_number_at(content, wrong):,} holds the byte "
            f"{content.read(wrong, 1)[0]:#04x}, which cannot stand there. It may be in Latin-1 or "
            f"Windows-1252, or no text at all. {save}"
        )


def _find_non_text(content: Content, progress: ReadProgress) -> tuple[int | None, int | None]:
    """Where the first NUL byte stands, and where the first that is no UTF-8; None where there is none."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    at, wrong, pending = 0, None, False
    for piece in content.chunks():
        if (nul := piece.find(b"\x00")) >= 0:
            return at + nul, wrong
        if wrong is None and (pending or not piece.isascii()):
            try:
                decoder.decode(piece, final=at + len(piece) >= len(content))
            except UnicodeDecodeError as error:  # its object begins with what was kept of the piece before
                wrong = at + len(piece) - len(error.object) + error.start
            pending = bool(decoder.getstate()[0])
        at += len(piece)
        progress(0.0, f"looking at the text, {at:,} of {len(content):,} bytes")
    return None, wrong


def _line_number_at(content: Content, offset: int) -> int:
    """The line, from 1, on which a byte stands."""
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
        raise Refused(f"{file} holds an empty JSON list: there are no rows in it.")
    objects = [
        cast("Mapping[str, object]", part) for part in elements[:N_FIRST_OBJECTS] if isinstance(part, dict)
    ]
    if not objects:
        raise Refused(
            f"{file}: a JSON list of objects is expected, and its first element is "
            f"{shorten(repr(elements[0]))}. {EXPORT_ADVICE}"
        )
    return Head(file, content, "json list", tuple(objects), elements)


def _json_head(content: Content, file: str) -> Head:
    """JSON lines where the first line is an object, or else any of the first; else one object."""
    lines = [line for _, line, _ in islice(numbered_lines(content), N_FIRST_OBJECTS)]
    objects = [_parse_object_line(line) for line in lines]
    if objects[0] is None and (len(lines) == 1 or not any(objects)):
        whole = _parse_whole_json(content, file)
        if isinstance(whole, dict):
            return Head(file, content, "json object", (cast("Mapping[str, object]", whole),))
    return Head(file, content, "json lines", tuple(part for part in objects if part is not None))


def _parse_object_line(line: bytes) -> Mapping[str, object] | None:
    try:
        value = parse_json(line.decode())
    except RepeatedKeyError:
        return {}  # said with its line when the records are read
    except (ValueError, RecursionError):
        return None
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else None


def _parse_whole_json(content: Content, file: str) -> object:
    try:
        return parse_json(content.read_all().decode("utf-8-sig"))
    except RepeatedKeyError as repeated:
        raise Refused(
            f"{file}: an object has the key {shorten(str(repeated))!r} more than once, so which value "
            f"is meant is not clear. Keep one."
        ) from None
    except RecursionError:
        raise Refused(f"{file}: the JSON in it is nested too deep to be read.") from None
    except ValueError as error:
        raise Refused(
            f"{file} begins like JSON and is not ({shorten(str(error), 200)}). It may be half written: "
            f"write it again, as one JSON object a line."
        ) from None
