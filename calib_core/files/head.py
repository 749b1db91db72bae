"""What do the bytes of a file look like, before it is decided what they mean?"""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final, cast

from calib_core.files import archives, lookalikes
from calib_core.files.content import CHUNK_BYTES, Content, as_content
from calib_core.files.folder import read_first_bytes as beginning_of
from calib_core.files.folder import open_regular_file
from calib_core.files.format import Head
from calib_core.files.harness.inspect_archive import is_inspect_log
from calib_core.files.tables import parquet
from calib_core.files.tables.json_lines import BOM, RepeatedKeyError, numbered_lines, parse_json
from calib_core.files.tables.raw import ReadProgress
from calib_core.files.token_level import arrays, seal
from calib_core.problems import Refused, shorten

N_FIRST_OBJECTS: Final = 20
"""JSON objects looked at: the first alone may be an error record."""

_SNIFFED_BYTES: Final = 2**20


def _ignore_progress(_share: float, _text: str) -> None:
    """Is told, and tells nobody."""


def read_head(path: Path, file: str, progress: ReadProgress = _ignore_progress) -> Head:
    """A first look at a file; raises as `head_of`.

    Arrays and archives of them may be larger than memory: of these only the kind and the names are read.
    """
    first = beginning_of(path, file, len(arrays.NPY_MAGIC))
    if first.startswith(arrays.NPY_MAGIC):
        return Head(file, Content(b""), "npy", path=path)
    if first.startswith(archives.ZIP_MAGIC):
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
    if beginning.startswith(parquet.PARQUET_MAGIC):
        return _parquet_head(content, file)
    end = content.read(max(_SNIFFED_BYTES, len(content) - len(parquet.PARQUET_MAGIC)), _SNIFFED_BYTES)
    if (title := lookalikes.identify_bytes(beginning + end)) is not None:
        raise Refused(lookalikes.unsupported_message(file, title))
    _check_text(content, file, progress)
    if start == b"[":
        return _json_list_head(content, file)
    return _json_head(content, file) if start == b"{" else Head(file, content, "text")


def _archive_head(path: Path, file: str) -> Head:
    """The names in an archive of arrays or of a log. Raises Refused where it is another one, or damaged."""
    with open_regular_file(path, file) as stream:
        if archives.count_members(stream) > archives.MAX_LOG_MEMBERS:
            title = lookalikes.identify_bytes(stream.read(_SNIFFED_BYTES)) or "a zip archive"
            raise Refused(lookalikes.unsupported_message(file, title))
        with archives.open_archive(stream, file, archives.MAX_LOG_MEMBERS) as archive:
            names = tuple(archive.namelist())
    if any(name.endswith(".npy") for name in names) or is_inspect_log(names):
        return Head(file, Content(b""), "zip", names=names, path=path)
    raise Refused(lookalikes.unsupported_message(file, lookalikes.identify_members(names)))


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
    if seal.has_digest(data) and not seal.digest_matches(data):
        raise Refused(
            f"{file} holds saved sums and is not as it was written: it was altered, cut off or damaged. Copy "
            f"it again, or reduce the token-level files again."
        )
    parquet.check_footer(data, file)
    names = tuple(parquet.parquet_schema(data, file))
    return Head(file, Content(data, file), "parquet", names=names, metadata=parquet.parquet_metadata(data))


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
    return 1 + sum(content.read(start, min(CHUNK_BYTES, offset - start)).count(b"\n") for start in range(0, offset, CHUNK_BYTES))


def _json_list_head(content: Content, file: str) -> Head:
    records = _parse_whole_json(content, file)
    if not isinstance(records, list):
        raise Refused(f"{file}: a JSON list is expected where the file begins with '['. {lookalikes.EXPORT_ADVICE}")
    elements = tuple(cast("list[object]", records))
    if not elements:
        raise Refused(f"{file} holds an empty JSON list: there are no rows in it.")
    objects = [cast("Mapping[str, object]", part) for part in elements[:N_FIRST_OBJECTS] if isinstance(part, dict)]
    if not objects:
        raise Refused(
            f"{file}: a JSON list of objects is expected, and its first element is "
            f"{shorten(repr(elements[0]))}. {lookalikes.EXPORT_ADVICE}"
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
