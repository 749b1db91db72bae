"""Whatever happens to the folder of what was read, a server shows the numbers of the files, and no error."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pytest

import app_server
from app_server import Server
from predictions import quiz, write_csv
from server_visit import visit

SECONDS = 60.0
RUNS = 12


@dataclass(frozen=True)
class Servers:
    """Servers on one folder of predictions, which share a cache folder; all end with the module."""

    place: Path
    started: list[Server] = field(default_factory=list[Server])

    @property
    def files(self) -> Path:
        return self.place / "predictions"

    def kept(self) -> list[Path]:
        return [*(self.place / "cache" / "calib" / "readings").glob("[!.]*")]

    def start(self, **variables: str | None) -> Server:
        """One more server; variables: of its environment, None to take one away."""
        plain = app_server.environment

        def environment(home: Path) -> dict[str, str]:
            own = {**plain(home), "XDG_CACHE_HOME": str(self.place / "cache"), **variables}
            return {name: value for name, value in own.items() if value is not None}

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(app_server, "environment", environment)
            self.started.append(app_server.start(self.files, self.place / f"home-{len(self.started)}"))
        return self.started[-1]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    servers = Servers(tmp_path_factory.mktemp("troubles"))
    servers.files.mkdir()
    for seed in range(RUNS):
        write_csv(servers.files / f"run-{seed}.csv", quiz(120 + seed, seed=seed))
    yield servers
    for server in servers.started:
        server.stop()


def all_runs(server: Server) -> pl.DataFrame:
    """The table of Start once it has every run."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        shown = visit(server, "", SECONDS)
        assert shown.failed == []
        if shown.tables and shown.tables[0].height == RUNS:
            assert "Traceback" not in server.log()
            return shown.tables[0]
    raise TimeoutError


@pytest.fixture(scope="module")
def of_two(servers: Servers) -> list[pl.DataFrame]:
    """What two servers show that read the folder at once, after one that was killed while it read it."""
    killed = servers.start()
    os.kill(killed.pid, signal.SIGKILL)  # it reads the folder from its start
    killed.process.wait()
    two = [servers.start(), servers.start()]
    with ThreadPoolExecutor(2) as together:
        tables = [*together.map(all_runs, two)]
    until = time.monotonic() + SECONDS
    while len(servers.kept()) < RUNS and time.monotonic() < until:
        time.sleep(0.1)
    for server in two:
        server.stop()
    return tables


def test_two_servers_may_read_and_keep_the_same_files_at_once(
    servers: Servers, of_two: list[pl.DataFrame]
) -> None:
    assert of_two[0].equals(of_two[1])
    assert len(servers.kept()) == RUNS


def test_what_was_kept_and_is_damaged_or_of_another_time_is_read_again(
    servers: Servers, of_two: list[pl.DataFrame]
) -> None:
    for at, path in enumerate(servers.kept()):
        whole = path.read_bytes()
        path.write_bytes((b"", whole[: len(whole) // 2], b"\0" * len(whole), whole)[at % 4])
        then = time.time() + (10**8 if at % 8 < 4 else -(10**8))
        os.utime(path, (then, then))
    assert all_runs(servers.start()).equals(of_two[0])


def test_nothing_is_written_where_nobody_may_write(servers: Servers, of_two: list[pl.DataFrame]) -> None:
    ahead = time.time() + 10**8
    for path in servers.files.iterdir():
        path.chmod(0o444)
        os.utime(path, (ahead, ahead))
    held = {path.name: path.read_bytes() for path in servers.files.iterdir()}
    servers.files.chmod(0o555)
    try:
        assert all_runs(servers.start(HOME=None, XDG_CACHE_HOME="/dev/null/cache")).equals(of_two[0])
    finally:
        servers.files.chmod(0o755)
    assert {path.name: path.read_bytes() for path in servers.files.iterdir()} == held
