"""The format of a file is detected from its bytes alone."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from calib_core.errors import Refused
from calib_core.readers import content as content_module
from calib_core.readers.detect import head_of_content, read_head
from calib_core.readers.format import Head
from core.readers.token.array_files import npy, npz, zipped

OBJECT = '{"id": "q1", "confidence": 0.9}'


def head_of(content: str | bytes) -> Head:
    return head_of_content(content if isinstance(content, bytes) else content.encode(), "quiz")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("id,confidence\n", "text"),
        (OBJECT, "json lines"),
        ("\ufeff\n " + OBJECT + "\n" + OBJECT, "json lines"),
        ("{broken\n" + OBJECT, "json lines"),
        (f"[{OBJECT}]", "json list"),
        (json.dumps({"a": {"b": 1}}, indent=2), "json object"),
        ('{"a": 1, "a": 2}', "json lines"),
    ],
)
def test_text_of_every_kind(content: str, kind: str) -> None:
    assert head_of(content).kind == kind


def test_parquet_by_its_magic_with_columns_and_metadata() -> None:
    buffer = io.BytesIO()
    pl.DataFrame({"id": ["a"]}).write_parquet(buffer, metadata={"calib": "{}"})
    head = head_of(buffer.getvalue())
    assert (head.kind, head.names) == ("parquet", ("id",))
    assert head.metadata is not None
    assert head.metadata["calib"] == "{}"


def test_twenty_objects_are_looked_at() -> None:
    assert len(head_of((OBJECT + "\n") * 30).first_objects) == 20
    assert len(head_of(f"[{', '.join([OBJECT] * 30)}]").list_elements) == 30


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "quiz is empty"),
        (b" \n\t", "quiz is empty"),
        (b"\xef\xbb\xbf", "quiz is empty"),
        ("id,x\n".encode("utf-16"), "UTF-16.*UTF-8"),
        ("id,confidence,correct\n".encode("utf-16-le"), "NUL byte on line 1.*UTF-16"),
        (b"id,x\n1,2\n\x00\x00", "NUL byte on line 3"),
        ("id,x\n1,é\n".encode("latin-1"), "not text in UTF-8: line 2 holds the byte 0xe9"),
        (b"id,x\n\xc0\xaf\n", "line 2 holds the byte 0xc0"),
        (b"id\n\xc3", "line 2 holds the byte 0xc3"),
        (b"\xff" * 16, "line 1 holds the byte 0xff"),
        (b"\xff" * 4 + b"\x40" + b"\0" * 11, "an Arrow file that cannot be read"),
        (b"[]", "empty JSON list"),
        (b"[1, 2]", "list of objects is expected"),
        (b'[{"a": 1}, {"a"', "begins like JSON but is not valid JSON.*half written"),
        (b'[{"a": 1, "a": 2}]', "the key 'a' more than once"),
        (b"{oops", "begins like JSON but is not valid JSON"),
        (b"[" * 200_000, "nested too deep"),
        (b"PAR1", "Parquet file that cannot be read"),
        (b"PK\x03\x04....xl/workbook.xml", "looks like an Excel workbook .*, which this version does not"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(content: bytes, message: str) -> None:
    with pytest.raises(Refused, match=message):
        head_of(content)


@pytest.mark.parametrize("piece", [1, 2, 3, 5])
def test_a_letter_across_two_pieces_is_still_a_letter(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content_module, "CHUNK_BYTES", piece)
    assert head_of("é😀é😀\n").kind == "text"
    with pytest.raises(Refused, match=r"line 2 holds the byte 0xff"):
        head_of("é😀\n".encode() + b"ab\xff")


def test_arrays_are_known_by_their_first_bytes_and_not_read(tmp_path: Path) -> None:
    path = npz(tmp_path / "quiz.csv", probs=np.eye(2), target=np.arange(2))
    head = read_head(path, "quiz")
    assert (head.kind, head.all_bytes, head.path) == ("zip", b"", path)
    assert head.names == ("probs.npy", "target.npy")
    path.write_bytes(npy(np.eye(2)))
    head = read_head(path, "quiz")
    assert (head.kind, head.all_bytes, head.path) == ("npy", b"", path)


def test_an_array_larger_than_memory_is_not_read_to_be_known(tmp_path: Path) -> None:
    path = tmp_path / "a.probs.npy"
    with path.open("wb") as stream:
        stream.write(npy(np.eye(2)))
        stream.truncate(2**42)  # a hole: no disk is used
    assert read_head(path, "a.probs.npy").kind == "npy"


def test_other_files_are_read_and_keep_their_path(tmp_path: Path) -> None:
    path = tmp_path / "quiz.csv"
    path.write_text("id,confidence\n")
    head = read_head(path, "quiz")
    assert (head.kind, head.all_bytes, head.path) == ("text", b"id,confidence\n", path)


@pytest.mark.parametrize(
    "members",
    [
        ["header.json"],
        ["_journal/start.json", *map(str, range(1000))],
        ["samples/a/b_epoch_2.json"],
    ],
)
def test_of_a_log_that_is_an_archive_the_names_alone_are_read(tmp_path: Path, members: list[str]) -> None:
    head = read_head(zipped(tmp_path / "a.zip", dict.fromkeys(members, b"{")), "a.zip")
    assert (head.kind, head.all_bytes, head.names) == ("zip", b"", tuple(members))


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (["xl/workbook.xml"], "an Excel workbook"),
        (["archive/data.pkl"], "a PyTorch file"),
    ],
)
def test_other_archives_are_refused_by_name(tmp_path: Path, members: list[str], message: str) -> None:
    path = zipped(tmp_path / "a.zip", dict.fromkeys(members, b"{}"))
    with pytest.raises(Refused, match=rf"^a.zip looks like {message}"):
        read_head(path, "a.zip")
