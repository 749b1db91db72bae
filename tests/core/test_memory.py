"""What large runs take beside their columns, each measured in a process of its own (Linux)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
import pytest

from app_server import ROOT

ROWS: Final = 2_000_000
MOST_OF_SCORE: Final = 5.7
MOST_OF_CHECK: Final = 5.1
MOST_OF_WHAT_IS_KEPT: Final = 3.6
"""Times their columns that the process which computes may take: what it took when this was written, and the
copies of one or two columns more. Before sums were made part by part, the first two were 9.5 and 4.8; before
what is kept was read part by part, the last was 4.1."""

MEASURE: Final = """if True:
    import sys
    from pathlib import Path
    import calib_core
    from calib_core import readers
    from calib_core.readers.format import Reading
    from calib_core.readers.reading_cache import load_or_read
    from calib_core.readers.sandbox.worker_pool import end_idle_workers
    from calib_core.user_cache import CacheFolder
    from calib_core.results.files import check_file

    def score(path):
        calib_core.score(calib_core.load(path)[0])

    def check(path):
        report = check_file(readers.read(Path(path)))
        [run.spikes for run in report.runs]
        [run.suspicions for run in report.runs]

    def what_is_kept(path):
        kept, path = CacheFolder(Path(path).parent / "kept", 2**40), Path(path)
        load_or_read(
            kept, Reading, path, lambda: readers.read(path), name="x", gold=None, root=None, parameters={}
        )

    def held(field):
        status = Path("/proc/self/status").read_text()
        return int(status.split(field + ":")[1].split()[0]) * 1024

    work, few, large = sys.argv[1:]
    globals()[work](few)  # loads what is needed
    before = held("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the most from now on
    globals()[work](large)
    print(held("VmHWM") - before)
"""


def put_out(program: str, *arguments: str) -> int:
    """The number that a program prints in a process that gives back at once what is let go of."""
    variables = {"_RJEM_MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1])


def write_run(path: Path, rows: int) -> int:
    """Writes a run in which nearly every confidence is another; returns the bytes of its columns."""
    random = np.random.default_rng(7)
    confidence = random.beta(5, 2, rows)
    frame = pl.DataFrame({"confidence": confidence, "correct": random.random(rows) < confidence**1.2})
    frame.write_parquet(path)
    return int(frame.estimated_size())


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="Linux tells the most memory taken")
@pytest.mark.parametrize(
    ("work", "most"),
    [("score", MOST_OF_SCORE), ("check", MOST_OF_CHECK), ("what_is_kept", MOST_OF_WHAT_IS_KEPT)],
)
def test_a_large_run_takes_no_more_than_so_many_times_its_columns(
    tmp_path: Path, work: str, most: float
) -> None:
    few, large = tmp_path / "few.parquet", tmp_path / "large.parquet"
    write_run(few, 1_000)
    columns = write_run(large, ROWS)
    if work == "what_is_kept":
        put_out(MEASURE, work, str(few), str(large))  # and so keeps it
    assert put_out(MEASURE, work, str(few), str(large)) < most * columns
