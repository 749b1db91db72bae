"""Measure the most memory that the demo's start takes, and that a run of ten million rows takes.

Starts the server on the demo data as `make run` does, opens Start in a session that speaks with it as a
browser does, and waits until all files are read. Then has the command line and the Python interface read a
Parquet file of ten million rows, each in a process of its own. Looks at the memory of all processes together
meanwhile. Writes memory.md beside this script.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
import polars as pl
from benchmark_page import date_line, table, write_page
from load import Session, read_all

import app_server
from memory_watch import EVERY_SECONDS, Memory, MemoryWatch, memory_held

ROWS: Final = 10_000_000
FEW_ROWS: Final = 100
SEED: Final = 20261126
STARTS: Final = 3
IDLE_SECONDS: Final = 15.0
"""How long the server is left alone after all is read: by then the processes that read have ended."""

IN_PYTHON: Final = "import calib_core, sys; calib_core.score(calib_core.load(sys.argv[1])[0])"
WAYS: Final = {
    "`calib score`": ("-m", "calib_core", "score"),
    "`calib check`": ("-m", "calib_core", "check"),
    "`calib_core.load` and `score`": ("-c", IN_PYTHON),
}
"""How the file is read → the arguments of Python before its path."""

INTRODUCTION: Final = (
    "Written by `python benchmarks/memory.py`. The most memory that all processes hold together, the one "
    f"that reads files among them, looked at every {1000 * EVERY_SECONDS:.0f} ms: each page that no file "
    "holds once, and of pages of files, the code of libraries above all, as many as the process has that has "
    "most, as the others share them with it. Alone on a machine this is the sum of the processes' PSS but "
    "for what only the smaller of them have mapped; PSS counts less where other programs run the same "
    "libraries. The system can take pages of files back at any time. 1 MB is 10⁶ bytes."
)
DEMO: Final = (
    "The server starts on the demo data with nothing kept on disk, and a session opens Start and Files until "
    f"all is read. Later: {IDLE_SECONDS:.0f} s after that. One process reads them, as there are few."
)


def mb(size: float) -> str:
    """Bytes in MB."""
    return f"{size / 1e6:,.0f}"


# --- The demo -------------------------------------------------------------------------------------


async def start_demo(home: Path) -> tuple[Memory, Memory]:
    """The most that the start takes, and what is held later."""
    with MemoryWatch() as watch:
        server = app_server.start(None, home)
        try:
            async with AsyncExitStack() as stack:
                session = await Session.connect(stack, server.url)
                await session.view("")
                await read_all(session)
                await asyncio.sleep(IDLE_SECONDS)
                return watch.peak, memory_held()
        finally:
            server.stop()


def demo_rows(folder: Path) -> Iterator[Sequence[str]]:
    """The most that each of some starts takes."""
    for number in range(1, STARTS + 1):
        peak, later = asyncio.run(start_demo(folder / f"home-{number}"))
        yield f"{number}", mb(peak.total), mb(peak.files), mb(later.total)


# --- Ten million rows -----------------------------------------------------------------------------


def write_run(path: Path, rows: int) -> int:
    """Writes a run with a different confidence in nearly every row; returns the bytes of its columns."""
    random = np.random.default_rng(SEED)
    confidence = random.beta(5, 2, rows)
    frame = pl.DataFrame({"confidence": confidence, "correct": random.random(rows) < confidence**1.2})
    frame.write_parquet(path)
    return int(frame.estimated_size())


def peak_of(arguments: Sequence[str]) -> Memory:
    """The most that a Python process with these arguments takes, in which all has to go well."""
    command = [sys.executable, *arguments]
    with MemoryWatch() as watch:
        subprocess.run(command, cwd=app_server.ROOT, stdout=subprocess.DEVNULL, check=True)  # noqa: S603 - ours
    return watch.peak


def large_rows(folder: Path, rows: int) -> Iterator[Sequence[str]]:
    """What each way of reading takes, beside the same for a few rows, and the columns."""
    large, few = folder / "large.parquet", folder / "few.parquet"
    columns = write_run(large, rows)
    write_run(few, FEW_ROWS)
    for way, arguments in WAYS.items():
        most, alone = (peak_of([*arguments, str(path)]).total for path in (large, few))
        more = most - alone
        yield way, mb(columns), mb(most), mb(alone), mb(more), f"{more / columns:.1f}"


# --- The page -------------------------------------------------------------------------------------


def lines(rows: int) -> Iterator[str]:
    """The page, while it is measured."""
    yield "# Memory"
    yield ""
    yield INTRODUCTION
    with TemporaryDirectory(prefix="calib-memory-") as temporary:
        folder = Path(temporary)
        yield ""
        yield "## Start of the demo"
        yield ""
        yield DEMO
        yield ""
        titles = ("start", "at most, MB", "of it pages of files, MB", "later, MB")
        yield from table(titles, demo_rows(folder))
        yield ""
        yield f"## A run of {rows:,} rows"
        yield ""
        yield (
            "One Parquet file of the columns confidence (float64, nearly every one another) and correct "
            "(bool), without ids. Columns: their bytes when they are read, a bit for each bool. Few rows: "
            f"the same on {FEW_ROWS} rows, so mostly code. More: the difference, also in times the columns. "
            "Measured once."
        )
        yield ""
        titles = ("", "columns, MB", "at most, MB", "few rows, MB", "more, MB", "× columns")
        yield from table(titles, large_rows(folder, rows))
    yield ""
    yield f"{date_line()} polars {version('polars')}, streamlit {version('streamlit')}."


def main() -> None:
    """Measures, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    write_page(__file__, lines(parser.parse_args().rows))


if __name__ == "__main__":
    main()
