"""Archives that are not Inspect logs are refused, and nothing in them is trusted."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

import pytest

from calib_core.errors import Refused
from calib_core.readers.inspect import archive
from calib_core.readers.inspect.archive import is_inspect_log, open_log_archive
from core.readers.inspect_logs import eval_log, frames, log_of, members_of, parse, sample

GOOD = members_of(log_of([sample(1)]))


def parse_with_member(tmp_path: Path, name: str, data: bytes, method: int = zipfile.ZIP_STORED) -> None:
    parse(eval_log(tmp_path / "quiz.eval", {**GOOD, name: data}, method))


@pytest.mark.parametrize("method", [0, 8, 93])
def test_members_are_unpacked_across_frames(tmp_path: Path, method: int) -> None:
    path = eval_log(tmp_path / "quiz.eval", {"header.json": b'{"a": "' + b"x" * 300_000 + b'"}'}, method)
    with open_log_archive(path, "quiz.eval") as log:
        assert log.read_json("header.json") == {"a": "x" * 300_000}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not JSON"),
        (b"{'a': 1}", "is not JSON"),
        (b"\xff", "is not JSON in UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"id": 1, "id": 2}', "the key 'id' more than once"),
        (b"3", "is not a JSON object"),
    ],
)
def test_what_is_not_a_sample_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(Refused, match=f"^quiz.eval: .*samples/9_epoch_1.json.* in it .*{message}"):
        parse_with_member(tmp_path, "samples/9_epoch_1.json", data)


@pytest.mark.parametrize("name", ["../9.json", "/9.json", "a\\..\\..\\9.json", "C:/9.json"])
def test_names_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    path = eval_log(tmp_path / "quiz.eval", {**GOOD, "A" * len(name): b"{}"}, zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"A" * len(name), name.encode()))
    with pytest.raises(Refused, match="a name that leads out of the archive"):
        parse(path)


def test_a_link_and_a_name_held_twice_are_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("samples/9_epoch_1.json")
    link.external_attr = 0o120777 << 16
    path = eval_log(tmp_path / "quiz.eval", GOOD)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, b"/etc/passwd")
    with pytest.raises(Refused, match=r"the member 'samples/9_epoch_1.json', a link to another file"):
        parse(path)
    path = eval_log(tmp_path / "twice.eval", {**GOOD, "samples/2_epoch_1.json": b"{}"})
    path.write_bytes(path.read_bytes().replace(b"samples/2_", b"samples/1_"))
    with pytest.raises(Refused, match="a name that it holds twice"):
        parse(path)


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [
        (8, b"\x01", "is encrypted"),
        (10, b"\x63", "its compression method, 99, is not one that Inspect writes"),
        (16, b"\x00\x00\x00\x00", "wrong checksum"),
        (24, b"\x05\x00\x00\x00", "larger than the 5 bytes it claims"),
        (24, b"\xff\xff\x00\x00", "smaller than the 65,535 bytes it claims"),
        (24, b"\xf0\xff\xff\xff", r"too large: 4,294,967,280 bytes are claimed, but at most 67,108,864"),
        (42, b"\x07\x00\x00\x00", "cannot be unpacked|lies on the bytes of another"),
    ],
)
@pytest.mark.parametrize("method", [0, 8, 93])
def test_the_declared_size_of_a_member_is_not_trusted(
    tmp_path: Path, at: int, value: bytes, message: str, method: int
) -> None:
    path = eval_log(tmp_path / "quiz.eval", GOOD, method)
    data = bytearray(path.read_bytes())
    start = data.index(b"PK\x01\x02")  # the first member listed is the sample
    data[start + at : start + at + len(value)] = value
    path.write_bytes(data)
    with pytest.raises(Refused, match=message):
        parse(path)


@pytest.mark.parametrize("method", [8, 93])
def test_no_member_is_unpacked_beyond_the_limit(method: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_MEMBER_BYTES", 2**20)
    content = bytes(2**21)
    packed = frames(content) if method == 93 else zlib.compress(content, wbits=-zlib.MAX_WBITS)
    assert len(archive._decompress(packed, method)) == 2**20 + 1


def test_members_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    path = eval_log(tmp_path / "quiz.eval", {**GOOD, "samples/2_epoch_1.json": b"{}"})
    data = bytearray(path.read_bytes())
    last = data.rindex(b"PK\x01\x02")
    data[last + 42 : last + 46] = b"\x00\x00\x00\x00"
    path.write_bytes(data)
    with pytest.raises(Refused, match="lies on the bytes of another member"):
        parse(path)


def test_samples_without_a_header_are_refused(tmp_path: Path) -> None:
    path = eval_log(tmp_path / "quiz.eval", {"samples/1_epoch_1.json": GOOD["samples/1_epoch_1.json"]})
    with pytest.raises(Refused, match=r"neither header.json nor _journal/start.json"):
        parse(path)


def test_many_samples_are_listed(tmp_path: Path) -> None:
    many = members_of(log_of([sample(number) for number in range(1_200)]))
    assert parse(eval_log(tmp_path / "quiz.eval", many)).n_rows == 1_200


def test_only_what_is_needed_is_unpacked(tmp_path: Path) -> None:
    bad = {"summaries.json": b"?", "reductions.json": b"?", "_journal/summaries/1.json": b"?"}
    assert parse(eval_log(tmp_path / "quiz.eval", {**bad, **GOOD})).n_rows == 1


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("header.json", True),
        ("_journal/start.json", True),
        ("samples/a/b_epoch_12.json", True),
        ("samples/a.json", False),
        ("x/header.json", False),
        ("samples/a_epoch_1.json.txt", False),
    ],
)
def test_names_of_a_log(name: str, *, is_one: bool) -> None:
    assert is_inspect_log(("x", name)) == is_one
