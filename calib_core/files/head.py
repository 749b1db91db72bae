"""What do the bytes of a file look like, before it is decided what they mean?"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final, cast

from calib_core.files import archives, arrays, lookalikes, parquet, seal
from calib_core.files.folder import beginning, content, opened
from calib_core.files.format import Head
from calib_core.files.json_lines import RepeatedKeyError, lines_of, parse
from calib_core.problems import Refused, shorten

LOOKED_AT: Final = 20
"""JSON objects looked at: the first alone may be an error record."""

_PIECE: Final = 2**20
_LOOKED_INTO: Final = 2**20
_BLANK: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*")


def head_at(path: Path, file: str) -> Head:
    """A first look at a file; raises as `head_of`.

    Arrays and archives of them may be larger than memory: of these only the kind and the names are read.
    """
    first = beginning(path, file, len(arrays.MAGIC))
    if first.startswith(arrays.MAGIC):
        return Head(file, b"", "npy", path=path)
    if first.startswith(archives.MAGIC):
        return _archive(path, file)
    return replace(head_of(content(path, file), file), path=path)


def head_of(data: bytes, file: str) -> Head:
    """A first look at a whole file.

    Raises Refused where it is empty, no text in UTF-8, half written, or of a kind that is not read.
    """
    start = _first(data)
    if start == b"":
        raise Refused(f"{file} is empty. Write the predictions again, or choose another file.")
    if data.startswith(parquet.MAGIC):
        return _parquet(data, file)
    if (title := lookalikes.of_bytes(data)) is not None:
        raise Refused(lookalikes.refusal(file, title))
    _check_text(data, file)
    if start == b"[":
        return _json_list(data, file)
    return _json(data, file) if start == b"{" else Head(file, data, "text")


def _archive(path: Path, file: str) -> Head:
    """The names in an archive that holds arrays. Raises Refused where it is another archive, or damaged."""
    with opened(path, file) as stream:
        if archives.counted(stream) > archives.MAX_MEMBERS:
            title = lookalikes.of_bytes(stream.read(_LOOKED_INTO)) or "a zip archive"
            raise Refused(lookalikes.refusal(file, title))
        with archives.archive(stream, file) as archive:
            names = tuple(archive.namelist())
    if any(name.endswith(".npy") for name in names):
        return Head(file, b"", "zip", names=names, path=path)
    raise Refused(lookalikes.refusal(file, lookalikes.of_members(names)))


def _first(data: bytes) -> bytes:
    """The first byte that is no white space, after a byte order mark; b"" where there is none."""
    blank = _BLANK.match(data)
    end = blank.end() if blank else 0
    return data[end : end + 1]


def _parquet(data: bytes, file: str) -> Head:
    if seal.is_sealed(data) and not seal.is_whole(data):
        raise Refused(
            f"{file} holds saved sums and is not as it was written: it was altered, cut off or damaged. Copy "
            f"it again, or reduce the token-level files again."
        )
    names = tuple(parquet.schema_of(data, file))
    return Head(file, data, "parquet", names=names, metadata=parquet.metadata_of(data))


def _check_text(data: bytes, file: str) -> None:
    """Raises Refused where the bytes are no text in UTF-8."""
    save = "Save it as UTF-8 text."
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Refused(f"{file} is text in UTF-16, and UTF-8 is expected. {save}")
    if (nul := data.find(b"\x00")) >= 0:
        line = data.count(b"\n", 0, nul) + 1
        wide = 4 * data[:200].count(b"\x00") > len(data[:200])
        cause = "it may be in UTF-16" if wide else "it is no text, or a crashed writer never wrote its end"
        raise Refused(
            f"{file} holds a NUL byte on line {line:,}, and UTF-8 text is expected: {cause}. {save}"
        )
    if (at := _undecodable(data)) is not None:
        line = data.count(b"\n", 0, at) + 1
        raise Refused(
            f"{file} is not text in UTF-8: line {line:,} holds the byte {data[at]:#04x}, which cannot stand "
            f"there. It may be in Latin-1 or Windows-1252, or no text at all. {save}"
        )


def _undecodable(data: bytes) -> int | None:
    """Where the first byte stands that is no UTF-8; None where all are.

    Looked at in pieces: as one text the bytes would take up to four times their room.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), _PIECE):
        piece = data[start : start + _PIECE]
        try:
            decoder.decode(piece, final=start + _PIECE >= len(data))
        except UnicodeDecodeError as error:  # its object begins with what was kept of the piece before
            return start + len(piece) - len(error.object) + error.start
    return None


def _json_list(data: bytes, file: str) -> Head:
    records = _whole(data, file)
    if not isinstance(records, list):
        raise Refused(f"{file}: a JSON list is expected where the file begins with '['. {lookalikes.INSTEAD}")
    elements = tuple(cast("list[object]", records))
    if not elements:
        raise Refused(f"{file} holds an empty JSON list: there are no rows in it.")
    objects = [cast("Mapping[str, object]", part) for part in elements[:LOOKED_AT] if isinstance(part, dict)]
    if not objects:
        raise Refused(
            f"{file}: a JSON list of objects is expected, and its first element is "
            f"{shorten(repr(elements[0]))}. {lookalikes.INSTEAD}"
        )
    return Head(file, data, "json list", tuple(objects), elements)


def _json(data: bytes, file: str) -> Head:
    """JSON lines where the first line is an object, or else any of the first; else one object."""
    lines = [line for _, line, _ in islice(lines_of(data), LOOKED_AT)]
    objects = [_object(line) for line in lines]
    if objects[0] is None and (len(lines) == 1 or not any(objects)):
        whole = _whole(data, file)
        if isinstance(whole, dict):
            return Head(file, data, "json object", (cast("Mapping[str, object]", whole),))
    return Head(file, data, "json lines", tuple(part for part in objects if part is not None))


def _object(line: bytes) -> Mapping[str, object] | None:
    try:
        value = parse(line.decode())
    except RepeatedKeyError:
        return {}  # said with its line when the records are read
    except (ValueError, RecursionError):
        return None
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else None


def _whole(data: bytes, file: str) -> object:
    try:
        return parse(data.decode("utf-8-sig"))
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
