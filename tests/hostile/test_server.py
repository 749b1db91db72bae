"""The app's own server survives the worst files, within its limits.

The other tests import files in a separate process. Here the files are in the folder of a server that is
started as usual, and a visitor opens the page that reads and shows them all.
"""

from __future__ import annotations

import os
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Final

import psutil
import pytest
from streamlit.proto.Alert_pb2 import Alert

import app_server
from hostile.resource_watch import Port, Watch, resident
from pages.widgets.file_status import UNREAD
from server_visit import visit

WORST: Final = (
    "bombs/deep_schema.parquet",
    "bombs/page_size.parquet",
    "bombs/zstd_member_lies.eval",
    "bombs/gzip.csv",
    "bombs/array.npz",
    "bombs/deep.jsonl",
    "bombs/line.jsonl",
    "npz_files/objects.npz",
    "filesystem/fifo.csv",
    "filesystem/link_to_zero.csv",
)
"""Stacks that overflow, bombs, lies about sizes, what never ends: one of each kind that killed a server."""

GOOD: Final = "parquet_files/plain.parquet"
SECONDS: Final = 60.0
"""For all of them together: each alone has 10 s, which the other tests hold it to."""


@pytest.fixture(scope="module")
def worst_files(hostile: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of them all, without their folders, and one good file."""
    folder = tmp_path_factory.mktemp("worst")
    for name in (*WORST, GOOD):
        source, here = hostile / "data" / name, folder / Path(name).name
        if source.is_fifo():
            os.mkfifo(here)
        elif source.is_symlink():
            here.symlink_to(source.readlink())
        elif source.exists():
            os.link(source, here)
    return folder


def test_one_server_reads_the_worst_files_and_answers_after(
    worst_files: Path, port: Port, tmp_path_factory: pytest.TempPathFactory
) -> None:
    server = app_server.start(worst_files, tmp_path_factory.mktemp("home"))
    try:
        born = psutil.Process(server.pid).create_time()
        with Watch(server.pid, resident(server.pid), port) as watch:
            until = time.monotonic() + SECONDS
            shown = visit(server, "files", SECONDS)
            while any(UNREAD in text for text in shown.texts):  # files this large are not waited for
                shown = visit(server, "files", until - time.monotonic())
        names = {path.name for path in worst_files.iterdir()} - {Path(GOOD).name}
        errors = [text for kind, text in shown.alerts if kind == Alert.ERROR]
        (table,) = [table for table in shown.tables if "Why" in table.columns]
        why = dict(table.select("File", "Why").iter_rows())
        assert names | {Path(GOOD).name} == set(why)
        assert all(why[name] for name in names)
        # They are of the same kind, and only the first is shown in full.
        assert len(shown.blocks) == len(errors) == 1
        assert shown.failed == []
        assert any("1 loaded" in text for text in shown.texts)
        assert watch.extra_bytes <= 2**30
        assert watch.requests == 0
        assert psutil.Process(server.pid).create_time() == born
        assert server.process.poll() is None
        assert _status(server.url) == 200
        assert "Traceback" not in server.log()
    finally:
        server.stop()


def _status(url: str) -> int:
    connection = HTTPConnection(url.removeprefix("http://"), timeout=5)
    try:
        connection.request("GET", "/_stcore/health")
        return connection.getresponse().status
    finally:
        connection.close()
