"""Compressed files, zip archives with one data file and Arrow files are read as what lies in them."""

from __future__ import annotations

import bz2
import gzip
import io
import stat
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import zstandard

import token_files
from calib_core import readers
from calib_core.errors import Refused
from calib_core.readers import archives
from calib_core.readers.detect import read_head
from calib_core.readers.format import Reading
from calib_core.readers.sandbox import worker_pool
from calib_core.runs import AnswerRun, TokenRun
from core.readers.token.array_files import npz, zipped
from fixture_files import FIXTURES
from predictions import quiz, write_csv, write_jsonl

PACKERS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "gz": gzip.compress,
    "zst": zstandard.compress,
    "bz2": bz2.compress,
    "zip": lambda data: zip_of({"quiz": data}),
}
"""Ending → what packs bytes so."""


def zip_of(members: Mapping[str, bytes], **changes: Any) -> bytes:
    """A deflated archive; changes: what is altered in the last member's entry before the list is written."""
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        for attribute, value in changes.items():
            setattr(archive.infolist()[-1], attribute, value)
    return stored.getvalue()


def read(path: Path, data: bytes | None = None, **options: Any) -> Reading:
    """The file read in this process, written first if its bytes are given."""
    if data is not None:
        path.write_bytes(data)
    return readers.read_in_this_process(path, file=path.name, **options)


def rows_of(reading: Reading) -> pl.DataFrame:
    (run,) = reading.runs(skip_bad_rows=False)
    assert isinstance(run, AnswerRun)
    return run.rows


def arrow(frame: pl.DataFrame) -> bytes:
    stored = io.BytesIO()
    frame.write_ipc_stream(stored)
    return stored.getvalue()


def parquet(frame: pl.DataFrame) -> bytes:
    stored = io.BytesIO()
    frame.write_parquet(stored)
    return stored.getvalue()


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "arrow"])
def test_what_is_packed_is_read_as_if_it_lay_there(tmp_path: Path, packer: str, kind: str) -> None:
    plain = write_csv(tmp_path / "quiz.csv", quiz(40))
    data = {
        "csv": plain.read_bytes,
        "jsonl": lambda: write_jsonl(tmp_path / "quiz.jsonl", quiz(40)).read_bytes(),
        "parquet": lambda: parquet(pl.DataFrame(quiz(40))),
        "arrow": lambda: arrow(pl.DataFrame(quiz(40))),
    }[kind]()
    path = tmp_path / f"quiz.{kind}.{packer}"
    reading = read(path, PACKERS[packer](data))
    assert (reading.file, reading.format, reading.n_rows) == (path.name, "table", 40)
    assert reading.good_runs[0].label == "quiz"
    assert rows_of(reading).equals(rows_of(read(plain)))
    assert reading.group_columns == read(plain).group_columns


def test_the_name_of_a_packed_file_does_not_matter(tmp_path: Path) -> None:
    data = gzip.compress(b"confidence,correct\n0.5,1\n")
    assert rows_of(read(tmp_path / "quiz.csv", data)).height == 1


@pytest.mark.parametrize("packer", ["gz", "zst", "bz2"])
def test_parts_that_were_packed_one_by_one_are_all_read(tmp_path: Path, packer: str) -> None:
    first, second = b"id,confidence,correct\na,0.5,1\n", b"b,0.25,0\n"
    data = PACKERS[packer](first) + PACKERS[packer](second)
    assert rows_of(read(tmp_path / "quiz", data))["id"].to_list() == ["a", "b"]


@pytest.mark.parametrize("packer", ["gz", "zst", "bz2"])
def test_a_cut_damaged_or_longer_file_is_refused(tmp_path: Path, packer: str) -> None:
    data = PACKERS[packer](write_csv(tmp_path / "quiz.csv", quiz(400)).read_bytes())
    for spoilt in (data[:-1], data[: len(data) // 2], data[:6], data + b"more", data + data[:9]):
        with pytest.raises(Refused, match=r"^quiz.x is compressed with .* cannot be unpacked.*copy it again"):
            read(tmp_path / "quiz.x", spoilt)


def test_unpacking_reports_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "CHUNK_BYTES", 1000)
    texts: list[str] = []
    data = gzip.compress(b"confidence,correct\n" + b"0.5,1\n" * 1000)
    read(tmp_path / "quiz", data, progress=lambda _share, text: texts.append(text))
    assert [text for text in texts if text.startswith("unpacking")] == [
        f"unpacking, {n:,} bytes so far" for n in (*range(1000, 7000, 1000), 6019)
    ]


@pytest.mark.parametrize(
    ("inside", "title"),
    [
        (gzip.compress(b"confidence\n"), "a gzip archive"),
        (zip_of({"quiz.csv": b"confidence\n"}), "a zip archive"),
        (zip_of({"probs.npy": b""}), r"a NumPy archive \(NPZ\)"),
        (b"\x93NUMPY\x01\x00", "a NumPy array"),
    ],
    ids=["gzip", "zip", "npz", "npy"],
)
@pytest.mark.parametrize("packer", ["gz", "zst", "zip"])
def test_only_one_layer_is_unpacked(tmp_path: Path, packer: str, inside: bytes, title: str) -> None:
    with pytest.raises(Refused, match=rf"^quiz.x is .*, and in it is {title}: .* only once. Unpack it"):
        read(tmp_path / "quiz.x", PACKERS[packer](inside))


@pytest.mark.parametrize("packer", ["gz", "zst", "bz2", "zip"])
def test_a_packed_file_gets_the_time_of_what_is_in_it(
    tmp_path: Path, packer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[bool] = []
    for_file = worker_pool.Limits.for_file

    def spy(size: int, stored: int, *, is_archive: bool) -> worker_pool.Limits:
        told.append(is_archive)
        return for_file(size, stored, is_archive=is_archive)

    monkeypatch.setattr(worker_pool.Limits, "for_file", spy)
    text = b"confidence,correct\n0.5,1\n"
    for data in (text, PACKERS[packer](text)):
        (tmp_path / "quiz").write_bytes(data)
        assert rows_of(readers.read(tmp_path / "quiz")).height == 1
    assert told == [False, True]


# --- Zip archives ---

CSV: Final = b"confidence,correct\n0.5,1\n"


def test_what_a_folder_ignores_is_ignored_in_an_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as archive:
        archive.mkdir("run")
        for name in ("README.txt", "notes.md", "LICENSE", ".DS_Store", ".git/config"):
            archive.writestr(f"run/{name}", "x")
        archive.writestr("__MACOSX/run/._quiz.csv", "x")
        archive.writestr("run/quiz.csv", CSV)
    assert rows_of(read(tmp_path / "run.zip")).height == 1


def test_the_metadata_of_a_data_set_is_ignored_beside_its_arrow_file(tmp_path: Path) -> None:
    rows = arrow(pl.read_csv(CSV))
    described = {"d/dataset_info.json": b"{}", "d/state.json": b"{}"}
    path = zipped(tmp_path / "set.zip", {**described, "d/data-00000-of-00001.arrow": rows})
    assert rows_of(read(path)).height == 1
    with pytest.raises(
        Refused, match=r"3 files that may hold data \('d/dataset_info.json', 'd/state.json', "
    ):
        read(zipped(path, {**described, "d/quiz.csv": CSV}))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (zip_of({"a.csv": CSV, "b/c.csv": CSV}), r"with 2 files that may hold data \('a.csv', 'b/c.csv'\)"),
        (
            zip_of(dict.fromkeys(map(str, range(2000)), CSV)),
            r"with 2,000 files .*'8', '9', …\), but exactly one is",
        ),
        (
            zip_of({"README": b"x"}),
            "is a zip archive with no data file, but exactly one is expected. Unpack it",
        ),
        (zip_of({"../quiz.csv": CSV}), r"member '../quiz.csv', a name that leads out of the archive"),
        (zip_of({"quiz.csv": CSV}, external_attr=(stat.S_IFLNK | 0o777) << 16), "a link to another file"),
        (zip_of({"quiz.csv": CSV}, flag_bits=1), r"'quiz.csv' in it is encrypted.*without a password"),
        (zip_of({"quiz.csv": CSV}, CRC=1), r"'quiz.csv' in it cannot be unpacked \(Bad CRC"),
        (zip_of({"quiz.csv": CSV}, file_size=7), r"has 25 bytes, and the archive claims 7\."),
        (zip_of({"quiz.csv": CSV}, file_size=2**31), r"has 25 bytes, and the archive claims 2,147,483,648"),
        (zip_of({"README": b"x" * 99, "quiz.csv": CSV}, header_offset=0), "lies on the bytes of another"),
    ],
    ids=["two", "many", "none", "slip", "link", "encrypted", "crc", "short", "long", "overlap"],
)
def test_an_archive_that_is_not_one_sound_data_file_is_refused(
    tmp_path: Path, data: bytes, message: str
) -> None:
    with pytest.raises(Refused, match=rf"^quiz.zip.*{message}"):
        read(tmp_path / "quiz.zip", data)


def test_arrays_and_logs_in_archives_stay_what_they_are(tmp_path: Path) -> None:
    path = npz(tmp_path / "a.npz", probs=np.eye(2), gold=np.arange(2))
    assert read_head(path, "a.npz").kind == "zip"
    log = next((FIXTURES / "inspect").rglob("choice_eval.eval"))
    assert (read_head(log, "log").kind, read(log).format) == ("zip", "inspect")


# --- Files that belong to others ---


def test_a_packed_table_of_right_answers_is_joined(tmp_path: Path) -> None:
    gold = {
        "gz": gzip.compress(b"id,correct_answer\nq1,A\n"),
        "arrow": arrow(pl.DataFrame({"id": ["q1"], "gold": "A"})),
    }
    (tmp_path / "log.csv").write_text("id,confidence,prediction\nq1,0.5,A\n")
    for name, data in gold.items():
        (tmp_path / name).write_bytes(data)
        reading = read(tmp_path / "log.csv", gold=tmp_path / name)
        assert rows_of(reading)["gold"].to_list() == ["A"]


def test_the_results_beside_a_packed_samples_log_are_used(tmp_path: Path) -> None:
    folder = FIXTURES / "lm_eval/shots0/fixture__tiny-7b"
    samples = next(folder.glob("samples_fx_mcq_*.jsonl"))
    results = next(folder.glob("results_*.json"))
    (tmp_path / results.name).write_bytes(results.read_bytes())
    packed = tmp_path / f"{samples.name}.gz"
    reading = read(packed, gzip.compress(samples.read_bytes()))
    (run,), (plain,) = reading.good_runs, read(samples).good_runs
    assert isinstance(run, AnswerRun)
    assert run.reported_metrics
    assert (run.label, run.info) == (plain.label, plain.info)
    assert list(readers.list_files(tmp_path)) == [packed]


def test_token_level_lists_in_arrow_give_the_sums_of_their_json_lines(tmp_path: Path) -> None:
    lines = token_files.write_topk(tmp_path / "top.jsonl", rows=40)
    frame = pl.read_ndjson(lines)
    table = frame.to_arrow().replace_schema_metadata({"note": "x"})
    with pa.OSFile(str(tmp_path / "top.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    runs = [read(path).good_runs[0] for path in (lines, tmp_path / "top.arrow")]
    sums = [run.sums.top_label for run in runs if isinstance(run, TokenRun)]
    assert len(sums) == 2
    assert sums[0].n_correct == sums[1].n_correct
    assert runs[0].row_counts == runs[1].row_counts
