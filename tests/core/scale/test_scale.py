"""Reading with real worker processes, also over HTTP: the same bits, nothing lost, nothing done twice."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import distributed
import fsspec
import numpy as np
import psutil
import pytest
from moto.server import ThreadedMotoServer

from calib_core import readers
from calib_core.advice import set_surface
from calib_core.cli.exit_codes import REFUSED
from calib_core.cli.many_files import ManyFiles
from calib_core.errors import Refused
from calib_core.readers.format import Reading
from calib_core.readers.reading_cache import pack_bytes
from calib_core.readers.token import npz as npz_format
from calib_core.readers.token.npz import ReducedRows
from calib_core.runs import TokenRun
from calib_core.scale import cluster as cluster_module
from calib_core.scale import stores, units
from calib_core.scale.cluster import RESUBMISSIONS, ClusterReader, ScaleSettings, connect
from calib_core.scale.stores import expand_pattern, list_address, open_file, path_of_address, version_of
from calib_core.scale.units import (
    FileRequest,
    blocks_per_unit,
    do_unit,
    survey_stored_file,
    unit_key,
    units_of,
)
from calib_core.tokens import row_scanner
from calib_core.tokens.row_scanner import compiled_scan_function
from calib_core.tokens.sums import MergeTree
from core.cli_calls import GOOD, Call, make_caller, write
from core.tokens.distributions import LONG, language, targets

ROWS = 2 * npz_format.REDUCED_ROWS + 300
"""Rows of the file of three blocks."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three blocks as an archive, the same compressed, one as a pair of arrays, and answers."""
    folder = tmp_path_factory.mktemp("runs")
    random = np.random.default_rng(7)
    probs = random.dirichlet(np.ones(3), ROWS).astype(np.float32)
    target = random.integers(0, 3, ROWS)
    probs[20_000, 0], target[40], target[30_000] = 7.0, -100, 3
    np.savez(folder / "whole.npz", probs=probs, target=target, meta=np.array(json.dumps({"model": "m"})))
    np.savez_compressed(folder / "packed.npz", probs=probs[:50], target=target[:50])
    np.save(folder / "pair.probs.npy", probs[:600])
    np.save(folder / "pair.target.npy", target[:600])
    write(folder, "quiz.csv", GOOD)
    return folder


@pytest.fixture(scope="module")
def bucket(folder: Path) -> Iterator[Any]:
    """A bucket `runs` with these files below `to/`, on an S3 server here that this environment names."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    settings = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_DEFAULT_REGION": "us-east-1"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**settings, "AWS_ENDPOINT_URL": f"http://{host}:{port}"}.items():
            patch.setenv(name, value)
        try:
            store = fsspec.filesystem("s3")
            store.mkdir("runs")
            store.put([str(path) for path in folder.iterdir()], "runs/to/")
            yield store
        finally:
            server.stop()


@pytest.fixture(scope="module")
def cluster(bucket: Any) -> Iterator[Any]:
    """Two worker processes, which inherit the address of the bucket's server."""
    del bucket
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50
    ) as cluster:
        yield cluster


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return make_caller(capsys)


def bytes_of(value: object) -> bytes:
    """All bits of a reading."""
    return b"".join(pack_bytes(value))


def surveyed(path: Path) -> tuple[FileRequest, units.Survey]:
    request = FileRequest(str(path), path.name)
    survey = survey_stored_file(request, units.program_digest())
    assert not isinstance(survey, str), survey
    return request, survey


# --- The order of addition --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """What was merged with what, as text."""

    text: str

    def merge(self, other: Part) -> Part:
        return Part(f"({self.text}{other.text})")


@pytest.mark.parametrize("n_parts", [1, 2, 3, 5, 8, 13, 16, 21])
@pytest.mark.parametrize("size", [2, 4, 8])
def test_subtrees_merged_elsewhere_change_nothing(n_parts: int, size: int) -> None:
    letters = [Part(chr(97 + number)) for number in range(n_parts)]
    one, other = MergeTree[Part](), MergeTree[Part]()
    for letter in letters:
        one.add(letter)
    for start in range(0, n_parts, size):
        subtree = MergeTree[Part]()
        for letter in letters[start : start + size]:
            subtree.add(letter)
        total = subtree.total()
        assert total is not None
        other.add(total, min(size, n_parts - start))
    assert one.total() == other.total()
    found = one.total()
    assert found is not None
    assert re.sub(r"[()]", "", found.text) == "".join(letter.text for letter in letters)


def test_a_subtree_out_of_place_is_no_subtree() -> None:
    tree = MergeTree[Part]()
    assert tree.total() is None
    tree.add(Part("a"))
    with pytest.raises(ValueError, match="2 parts after 1"):
        tree.add(Part("b"), 2)


@pytest.mark.parametrize(
    ("n_blocks", "per_unit"), [(0, 1), (1, 1), (511, 1), (512, 2), (1100, 4), (10**6, 64)]
)
def test_units_are_subtrees_and_enough(n_blocks: int, per_unit: int) -> None:
    assert blocks_per_unit(n_blocks) == per_unit


def test_compiled_code_adds_up_large_files_to_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(8)
    rows = language(random, 70, LONG, np.float16)
    np.savez(tmp_path / "long.npz", probs=rows, target=targets(random, rows))
    request, survey = surveyed(tmp_path / "long.npz")
    (work,) = units_of(0, survey, 1)
    plain = do_unit(request, survey, work)
    asked: list[np.dtype[Any]] = []

    def compiled(dtype: np.dtype[Any]) -> row_scanner.ScanFunction:
        asked.append(dtype)
        return compiled_scan_function(dtype)

    monkeypatch.setattr(row_scanner, "compiled_scan_function", compiled)
    assert do_unit(request, survey, work) == plain
    assert asked == []
    monkeypatch.setattr(npz_format, "MIN_COMPILED_BYTES", rows.nbytes)
    assert do_unit(request, survey, work) == plain
    assert asked == [rows.dtype]


def test_units_done_in_any_order_are_the_plain_reading_to_the_last_bit(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small blocks here; the plain reading is this process's, with the same blocks."""
    monkeypatch.setattr(npz_format, "REDUCED_ROWS", 64)
    path = folder / "pair.probs.npy"
    plain = readers.read_in_this_process(path, file=path.name)
    request, survey = surveyed(path)
    assert survey.blocks is not None
    assert survey.blocks.n_blocks == 10
    for per_unit in (1, 4):
        work = units_of(0, survey, per_unit)
        assert [unit.n_blocks for unit in work] == ([1] * 10 if per_unit == 1 else [4, 4, 2])
        positions = survey.blocks.found.positions
        assert sum(unit.n_bytes for unit in work) == positions.n_positions * positions.values.row_bytes
        done = {unit: do_unit(request, survey, unit) for unit in reversed(work)}
        tree = MergeTree[ReducedRows]()
        for unit in work:
            outcome = done[unit]
            assert isinstance(outcome, bytes)
            part = units.unpacked(ReducedRows, outcome)
            assert part is not None
            tree.add(part, unit.n_blocks)
        total = tree.total()
        assert total is not None
        found = survey.blocks.found
        whole = npz_format.reading_of_rows(found.positions, total, lambda _share, _text: None, found.notes)
        assert bytes_of(whole) == bytes_of(plain)
    monkeypatch.setattr(npz_format, "REDUCED_ROWS", 600)
    (one,) = readers.read_in_this_process(path, file=path.name).good_runs
    (parts,) = plain.good_runs
    assert isinstance(one, TokenRun)
    assert isinstance(parts, TokenRun)
    assert one.sums.draws is not None
    assert parts.sums.draws is not None
    assert (one.sums.draws.all_labels == parts.sums.draws.all_labels).all()
    assert one.sums.all_labels.confidence == pytest.approx(parts.sums.all_labels.confidence, rel=1e-12)


# --- Worker processes -------------------------------------------------------------------------------------


def read_with(
    cluster: Any, requests: list[FileRequest], resume: Path | None = None, tell: Any = None
) -> list[Any]:
    with distributed.Client(cluster) as opened:
        client: Any = opened
        reader = ClusterReader(
            client, ScaleSettings(None, 2, resume), tell if tell is not None else lambda _line: None
        )
        return [outcome for _, outcome in reader.read_all(requests)]


def test_the_data_of_a_file_read_in_blocks_have_the_name_that_is_given(folder: Path) -> None:
    request, survey = surveyed(folder / "whole.npz")
    request = replace(request, options=readers.ReadOptions(dataset="code"))
    done = ((unit, do_unit(request, survey, unit)) for unit in units_of(0, survey, 1))
    reading = cluster_module._combine(request, survey, done)
    assert isinstance(reading, Reading)
    assert [run.label for run in reading.good_runs] == ["m · code"]


def test_workers_give_the_bits_of_one_process_and_nothing_is_done_twice(
    folder: Path, cluster: Any, tmp_path: Path
) -> None:
    """One of the two workers is killed as soon as it is at work; then everything is found in the folder."""
    names = ["whole.npz", "packed.npz", "pair.probs.npy", "quiz.csv", "none.csv"]
    requests = [FileRequest(str(folder / name), name) for name in names]
    pids = [worker.process.pid for worker in cluster.workers.values()]
    killed: list[int] = []

    def kill_one() -> None:
        deadline = time.monotonic() + 60
        busy = psutil.Process(pids[0])
        before = busy.cpu_times().user
        while busy.cpu_times().user - before < 0.3 and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(pids[0], signal.SIGKILL)
        killed.append(pids[0])

    thread = threading.Thread(target=kill_one)
    thread.start()
    lines: list[str] = []
    outcomes = read_with(cluster, requests, tmp_path / "kept", lines.append)
    thread.join()
    assert killed
    for name, outcome in zip(names[:4], outcomes, strict=False):
        assert bytes_of(outcome) == bytes_of(readers.read(folder / name, name=name)), name
    assert str(outcomes[4]) == "none.csv cannot be opened (No such file or directory)."
    assert re.match(r"6 of 6 blocks done: 0\.4 of 0\.4 MB", lines[-1])

    kept = sorted(path.name for path in (tmp_path / "kept").iterdir())
    assert len(kept) == 6
    (tmp_path / "kept" / kept[0]).unlink()
    lines.clear()
    again = read_with(cluster, requests, tmp_path / "kept", lines.append)
    assert [bytes_of(one) for one in again[:4]] == [bytes_of(one) for one in outcomes[:4]]
    assert "6 of 6 blocks done, 5 of them kept from before" in lines[-1]
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == kept


class Forgetful:
    """A client whose scheduler gives up what it was given first, as with a worker that is killed."""

    def __init__(self, client: Any, n_given_up: int, *, status: str = "running") -> None:
        self._client, self._left, self.status = client, n_given_up, status
        self.n_submitted = 0

    def submit(self, *work: object, **options: Any) -> Any:
        self.n_submitted += 1
        future = self._client.submit(*work, **options)
        if self._left > 0:
            self._left -= 1
            self._client.cancel([future])
        return future

    def nthreads(self) -> dict[str, int]:
        return self._client.nthreads()


@pytest.mark.parametrize("n_given_up", [1, 4, RESUBMISSIONS])
def test_what_the_scheduler_gives_up_is_submitted_again(folder: Path, cluster: Any, n_given_up: int) -> None:
    request = FileRequest(str(folder / "pair.probs.npy"), "pair.probs.npy")
    with distributed.Client(cluster) as client:
        forgetful: Any = Forgetful(client, n_given_up)
        reader = ClusterReader(forgetful, ScaleSettings(None, 2), lambda _line: None)
        ((_, outcome),) = reader.read_all([request])
    assert bytes_of(outcome) == bytes_of(readers.read(folder / "pair.probs.npy", name="pair.probs.npy"))
    assert forgetful.n_submitted == 2 + n_given_up


def test_a_unit_is_not_submitted_for_ever(folder: Path, cluster: Any) -> None:
    with distributed.Client(cluster) as client:
        forgetful: Any = Forgetful(client, 1000)
        reader = ClusterReader(forgetful, ScaleSettings(None, 2), lambda _line: None)
        ((_, outcome),) = reader.read_all([FileRequest(str(folder / "quiz.csv"), "quiz.csv")])
    assert str(outcome) == "quiz.csv cannot be read: the scheduler gave it up 6 times."
    assert forgetful.n_submitted == RESUBMISSIONS + 1


def test_only_a_scheduler_that_is_not_reached_again_is_lost(
    folder: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "_START_SECONDS", 0.3)
    requests = [FileRequest(str(folder / "quiz.csv"), "quiz.csv")]
    with distributed.Client(cluster) as client:
        for status in ("closed", "connecting"):
            gone: Any = Forgetful(client, 1, status=status)
            with pytest.raises(Refused, match="The scheduler was lost"):
                list(ClusterReader(gone, ScaleSettings(None, 2), lambda _line: None).read_all(requests))
            assert gone.n_submitted == 1
        again: Any = Forgetful(client, 1, status="connecting")
        threading.Timer(0.1, setattr, (again, "status", "running")).start()
        ((_, outcome),) = ClusterReader(again, ScaleSettings(None, 2), lambda _line: None).read_all(requests)
    assert not isinstance(outcome, Refused)


def test_workers_here_keep_the_memory_of_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = {"MALLOC_TRIM_THRESHOLD_": str(2**28), "MALLOC_MMAP_THRESHOLD_": str(2**25)}
    for name in wanted:
        monkeypatch.delenv(name, raising=False)  # what other workers of this process were given stays there
    with connect(None, 1) as connected:
        client: Any = connected
        for name, n_bytes in wanted.items():
            assert list(client.run(os.environ.get, name).values()) == [n_bytes]


def test_what_is_kept_is_of_one_version_with_one_set_of_options(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes((folder / "whole.npz").read_bytes())
    request, survey = surveyed(path)
    unit, other = units_of(0, survey, 1)[:2]
    keys = {unit_key(request, survey, unit), unit_key(request, survey, other)}
    keys.add(unit_key(replace(request, format="npz"), survey, unit))
    os.utime(path, (1, 1))
    keys.add(unit_key(*surveyed(path), unit))
    assert len(keys) == 4
    assert None not in keys
    nameless = replace(survey, files=tuple(replace(file, version="") for file in survey.files))
    assert unit_key(request, nameless, unit) is None
    assert do_unit(request, survey, unit) == (
        "a.npz has changed since it was first looked at. Run the command again."
    )


@pytest.mark.usefixtures("for_command_line")
def test_a_worker_words_messages_for_the_process_that_asks(tmp_path: Path) -> None:
    path = write(tmp_path, "colours.csv", "colour,size\nred,1\n")
    request, survey = surveyed(path)
    (unit,) = units_of(0, survey, 1)
    set_surface("Python")  # as a worker's process begins
    assert unit_key(replace(request, surface="page"), survey, unit) != unit_key(request, survey, unit)
    done = do_unit(request, survey, unit)
    assert isinstance(done, bytes)
    reading = units.unpacked(Reading, done)
    assert reading is not None
    assert "--map COLUMN=confidence" in (reading.refusal or "")


def test_another_version_of_the_program_is_refused(folder: Path) -> None:
    outcome = survey_stored_file(FileRequest(str(folder / "quiz.csv"), "quiz.csv"), "another")
    assert isinstance(outcome, str)
    assert "another version of Calib" in outcome


def test_a_file_with_texts_is_read_by_one_worker(folder: Path, tmp_path: Path) -> None:
    with np.load(folder / "packed.npz") as arrays:
        np.savez(tmp_path / "a.npz", **arrays, text=np.arange(50) // 5)
    request, survey = surveyed(tmp_path / "a.npz")
    assert survey.blocks is None
    assert surveyed(folder / "whole.npz")[1].blocks is not None
    (run,) = units.read_whole(request, survey).good_runs
    assert isinstance(run, TokenRun)
    assert run.sums.texts is not None


def test_a_block_without_a_good_row_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npz_format, "REDUCED_ROWS", 4)
    probs, target = np.full((12, 2), 0.5), np.zeros(12, np.int64)
    probs[4:8] = np.nan
    np.savez(tmp_path / "a.npz", probs=probs, target=target)
    request, survey = surveyed(tmp_path / "a.npz")
    parts = [units.unpacked(ReducedRows, bytes_) for unit in units_of(0, survey, 1)
             if isinstance(bytes_ := do_unit(request, survey, unit), bytes)]  # fmt: skip
    assert [part and (part.sums.n_rows, part.n_bad_rows) for part in parts] == [(4, 0), (0, 4), (4, 0)]
    assert parts[1] is not None
    assert [row for row, _ in parts[1].problems[0].first_rows] == [4, 5, 6, 7]
    reading = readers.read_in_this_process(tmp_path / "a.npz", file="a.npz")
    assert (reading.n_rows, reading.n_bad_rows) == (12, 4)


# --- Elsewhere --------------------------------------------------------------------------------------------


class Handler(SimpleHTTPRequestHandler):
    """Serves files, and parts of them unless the path begins with /plain/; /to/… redirects."""

    counted: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.counted.append(f"{self.path} {self.headers.get('Range', '')}")
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", "file:///etc/hostname" if "file" in self.path else self.path[3:])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        plain = self.path.startswith("/plain/")
        path = Path(self.directory) / self.path.partition("?")[0].removeprefix("/plain").lstrip("/")
        if not path.is_file():
            self.send_error(404)
            return
        data = path.read_bytes()
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        start = int(asked[1]) if asked and not plain else 0
        end = int(asked[2]) + 1 if asked and asked[2] and not plain else len(data)
        self.send_response(206 if asked and not plain else 200)
        if asked and not plain:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")
        self.send_header("Content-Length", str(end - start))
        self.send_header("ETag", f'"{zlib.crc32(data)}"')
        self.end_headers()
        try:
            self.wfile.write(data[start:end])
        except (BrokenPipeError, ConnectionResetError):  # the rest is not wanted
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@dataclass
class Web:
    """A server and what it was asked for."""

    address: str
    asked: list[str] = field(default_factory=lambda: Handler.counted)


@pytest.fixture(scope="module")
def web(folder: Path) -> Iterator[Web]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield Web(f"http://127.0.0.1:{server.server_address[1]}")
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_command_line_reads_over_http_and_resumes(
    folder: Path, cluster: Any, web: Web, tmp_path: Path, call: Call
) -> None:
    scheduler = ("--scheduler", cluster.scheduler_address)
    address = f"{web.address}/to/whole.npz?secret=1"
    here, there = tmp_path / "here.parquet", tmp_path / "there.parquet"
    assert call("reduce", folder / "whole.npz", "-o", here, "--skip-bad-rows").code == 0
    options = ("-o", there, "--skip-bad-rows", *scheduler, "--resume", tmp_path / "kept", "--json")
    web.asked.clear()
    answer = call("reduce", "--remote", address, *options)
    assert answer.code == 0, answer.err
    assert answer.element["rows"] == ROWS - 3
    assert "3 of 3 blocks done: " in answer.err
    assert there.read_bytes() == here.read_bytes()
    assert "secret" not in answer.err + answer.out
    n_asked = len(web.asked)
    web.asked.clear()
    again = call("reduce", "--remote", address, *options)
    assert "3 of 3 blocks done, 3 of them kept from before" in again.err
    assert len(web.asked) < n_asked
    assert there.read_bytes() == here.read_bytes()

    scored = call("score", "--remote", f"{web.address}/plain/quiz.csv", folder / "quiz.csv",
                  "--metric", "ece", "--json", *scheduler)  # fmt: skip
    assert scored.code == 0, scored.err
    first, second = scored.elements
    assert first["value"] == second["value"]
    assert {first["file"], second["file"]} == {f"{folder.name}/quiz.csv", "plain/quiz.csv"}

    report = call(
        "report", "--remote", f"{web.address}/quiz.csv?secret=1", "-o", tmp_path / "r.html", *scheduler
    )
    assert report.code == 0, report.err
    html = (tmp_path / "r.html").read_text("utf-8")
    assert f"--remote {web.address}/quiz.csv" in html
    assert "secret" not in html
    swept = call("sweep", str(folder / "pa*.npy"), "--metric", "ece", "--json", "--skip-bad-rows", *scheduler)
    assert swept.code == 0, swept.err
    assert swept.element["file"] == "pair.probs.npy"


def test_what_cannot_be_read_over_http_is_refused_with_the_reason(web: Web) -> None:
    with pytest.raises(Refused, match=r"^a cannot be read: its server answers 404\.$"):
        version_of(f"{web.address}/none", "a")
    with pytest.raises(Refused, match=r"^a cannot be read: its server answers 302"):
        version_of(f"{web.address}/to/file", "a")
    with pytest.raises(OSError, match="refused"):
        version_of("http://127.0.0.1:9/a", "a")
    with pytest.raises(Refused, match="does not list its files"):
        list_address(f"{web.address}/")


def test_parts_over_http_are_the_file_s(web: Web, folder: Path) -> None:
    data = (folder / "whole.npz").read_bytes()
    file = version_of(f"{web.address}/whole.npz", "w")
    assert file.size == len(data)
    with open_file(file, "w") as stream:
        for at in (100_000, 5, len(data) - 10):
            stream.seek(at)
            assert stream.read(50) == data[at : at + 50]
        assert stream.read(1) == b""
    request = FileRequest(f"{web.address}/plain/whole.npz", "w")
    survey = survey_stored_file(request, units.program_digest())
    assert not isinstance(survey, str)
    assert survey.blocks is None  # without parts it is read as a whole
    packed = do_unit(request, survey, units_of(0, survey, 1)[0])
    assert isinstance(packed, bytes)
    reading = units.unpacked(readers.Reading, packed)
    assert reading is not None
    assert reading.n_rows == ROWS


def test_a_whole_file_over_the_limit_is_not_copied(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "MAX_SPOOLED_BYTES", 10)
    request = FileRequest(f"{web.address}/quiz.csv", "quiz.csv")
    survey = survey_stored_file(request, units.program_digest())
    assert not isinstance(survey, str)
    outcome = do_unit(request, survey, units_of(0, survey, 1)[0])
    assert isinstance(outcome, str)
    assert "can only be read as a whole" in outcome


def test_a_folder_of_a_store_is_listed_as_one_here(folder: Path) -> None:
    """By fsspec's own store of local files: the same calls as for s3:// and gs://."""
    write(folder, "README.md", "none")
    names = [path_of_address(address).name for address in list_address(f"file://{folder}")]
    assert names == ["packed.npz", "pair.probs.npy", "quiz.csv", "whole.npz"]
    assert [path.name for path in readers.list_files(folder)] == names
    matching = list_address(f"file://{folder}/*.npz")
    assert [path_of_address(address).name for address in matching] == ["packed.npz", "whole.npz"]
    request = FileRequest(f"file://{folder}/pair.probs.npy", "pair.probs.npy")
    survey = survey_stored_file(request, units.program_digest())
    assert not isinstance(survey, str)
    assert survey.blocks is not None
    assert all(file.version for file in survey.files)
    local = do_unit(*(found := surveyed(folder / "pair.probs.npy")), units_of(0, found[1], 1)[0])
    assert do_unit(request, survey, units_of(0, survey, 1)[0]) == local
    with pytest.raises(Refused, match="expected an address"):
        list_address(str(folder))
    with pytest.raises(Refused, match=r"Protocol not known|protocol"):
        list_address("nowhere://a/b")
    with pytest.raises(Refused, match="no prediction file"):
        list_address(f"file://{folder}/*.none")


def test_files_of_a_bucket_are_those_here(
    folder: Path, bucket: Any, cluster: Any, tmp_path: Path, call: Call
) -> None:
    scheduler = ("--scheduler", cluster.scheduler_address)
    names = [address.removeprefix("s3://runs/to/") for address in list_address("s3://runs/to")]
    assert names == ["packed.npz", "pair.probs.npy", "quiz.csv", "whole.npz"]
    here, there = tmp_path / "here.parquet", tmp_path / "there.parquet"
    assert call("reduce", folder / "whole.npz", "-o", here, "--skip-bad-rows").code == 0
    options = ("-o", there, "--skip-bad-rows", *scheduler, "--resume", tmp_path / "kept")
    answer = call("reduce", "--remote", "s3://runs/to/whole.npz", *options)
    assert answer.code == 0, answer.err
    assert there.read_bytes() == here.read_bytes()
    answers = call("score", "--remote", "s3://runs/to/*.csv", "--metric", "ece", "--json", *scheduler)
    local = call("score", folder / "quiz.csv", "--metric", "ece", "--json")
    assert answers.element["value"] == local.element["value"]
    opened = version_of("s3://runs/to/quiz.csv", "quiz.csv")
    bucket.pipe("runs/to/quiz.csv", b"another")
    with pytest.raises(Refused, match=r"quiz\.csv has changed"), open_file(opened, "quiz.csv"):
        pass
    answer = call("score", "--remote", "s3://runs/none.csv", *scheduler)
    assert (answer.code, "none.csv" in answer.err) == (2, True)


def test_a_pattern_here_stands_for_its_files(folder: Path) -> None:
    assert expand_pattern(folder / "quiz.csv") == (folder / "quiz.csv",)
    assert [path.name for path in expand_pattern(folder / "p*")] == ["packed.npz", "pair.probs.npy"]
    with pytest.raises(Refused, match="no prediction file of such a name"):
        expand_pattern(folder / "*.none")


def test_options_that_contradict_and_addresses_without_the_option(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", GOOD)
    assert "its own workers" in call("score", path, "--workers", "1", "--scheduler", "tcp://x:1").err
    assert "expected a folder, found the file 'a.csv'" in call("score", path, "--resume", path).err
    assert "FILE: expected at least one file or folder, found none" in call("score").err
    answer = call("score", "http://127.0.0.1:9/a.csv")
    assert (answer.code, "No such file" in answer.err) == (2, True)


def test_the_reader_is_closed_when_the_verb_ends(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[ManyFiles] = []

    def close(many: ManyFiles) -> None:
        closed.append(many)

    monkeypatch.setattr(ManyFiles, "close", close)
    assert call("score", tmp_path / "gone*.csv", "--resume", tmp_path).code == REFUSED
    assert len(closed) == 1


def test_without_the_extra_the_message_says_what_to_install(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys  # noqa: PLC0415

    monkeypatch.setitem(sys.modules, "distributed", None)
    answer = call("score", write(tmp_path, "a.csv", GOOD), "--workers", "1")
    assert (answer.code, "pip install 'calib[scale]'" in answer.err) == (2, True)
