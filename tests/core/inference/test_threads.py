"""Products of small matrices are left to one thread: several wait for one another where a machine is busy."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import time
import numpy as np
from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.inference.directional import BinMeans, directional_interval
from calib_core.inference.verdict import judge

random = np.random.default_rng(0)
said = random.beta(5, 2, 600)
right = random.random(600) < said**1.5
bins = BinMeans.from_bins(BinSums.from_pairs(said, right).binned(Scheme("width", 25)))

def work():
    for _ in range(20):
        judge(said, right)
        directional_interval(bins, 0.005, 1.0)

work()
of_all, of_this = time.process_time(), time.thread_time()
work()
of_all, of_this = time.process_time() - of_all, time.thread_time() - of_this
print((of_all - of_this) / of_all)
"""


def test_other_threads_have_nothing_to_do() -> None:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "4"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=True, stdout=subprocess.PIPE, text=True, env=environment
    )
    assert float(done.stdout) < 0.1
