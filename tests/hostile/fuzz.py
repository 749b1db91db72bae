"""A spoilt file leads to a result or a message, and no number changes silently.

    python tests/hostile/fuzz.py --number 100000 --seed 7          (make fuzz N=100000 SEED=7)
    python tests/hostile/fuzz.py --types --number 10000 --seed 7   (make fuzz-types N=10000 SEED=7)

One process corrupts and reads (`--read`); another gives it the seeds and notices if it dies or hangs. A file
that causes this is read again as in the app, in a separate process, and must produce a message there.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import select
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import psutil

HERE: Final = Path(__file__).resolve().parent
SECONDS: Final = 10.0
"""How much processor time one mutant may take: how long it takes hangs on what else the machine does."""
WAIT_SECONDS: Final = 120.0
"""How long a reading process may take to start, or to read."""
OUTCOMES: Final = ("refused", "asks", "told", "equal", "lawful", "mixed", "silent", "ended", "crash")
"""What may come of a spoilt file: what `verdict.OUTCOMES` says, or the reading process ended or crashed."""


def spoiler(folder: Path, *, types: bool) -> Any:
    """What makes the spoilt file of each seed, from good files made in an empty folder."""
    from hostile.good_files import goods  # noqa: PLC0415  the parent needs none of it
    from hostile.mutate import Corrupter  # noqa: PLC0415
    from hostile.retype import Retyper  # noqa: PLC0415

    return (Retyper if types else Corrupter)(goods(folder))


def read_on(*, types: bool) -> None:
    """Reads the mutant of each seed that comes in; one JSON object a line goes out."""
    from hostile.verdict import Judge  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as work:
        made_anew = spoiler(Path(made), types=types)
        judge = Judge(Path(work), made_anew.goods)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        gc.freeze()
        gc.set_threshold(100_000)  # as in `tests/conftest.py`
        for line in sys.stdin:
            spoilt = made_anew.spoilt(int(line))
            try:
                said = judge.faults(spoilt.good, spoilt.files)
            except MemoryError:
                raise  # this process has no limit: the file is read again in one that has
            except BaseException:  # noqa: BLE001  a panic is no Exception
                said = {"outcome": "crash", "faults": [traceback.format_exc()[-2000:]]}
            of = {"seed": int(line), "good": spoilt.good.id, "way": spoilt.way}
            sys.stdout.write(json.dumps(of | said) + "\n")
            sys.stdout.flush()


class Reader:
    """The reading process, started again where it ended."""

    def __init__(self, *, types: bool) -> None:
        self._types = types
        self._process = _start(types=types)

    def judged(self, seed: int) -> dict[str, Any]:
        """What is said of this seed's mutant; of one that ended the process, or hung, that."""
        line = answer(self._process, b"%d\n" % seed, SECONDS)
        if line:
            return json.loads(line)
        status = self._process.poll()
        self.stop()
        self._process = _start(types=self._types)
        how = "was not done in time" if status is None else f"ended with {status}"
        faults = list(_apart(seed, how, types=self._types))
        return {"seed": seed, "good": "?", "way": "any", "outcome": "ended", "faults": faults}

    def stop(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                assert pipe is not None
                pipe.close()


def _apart(seed: int, how: str, *, types: bool) -> Iterator[str]:
    """What ends a process must do so in one of its own, as the app reads it, and become a message here."""
    from calib_core import readers  # noqa: PLC0415
    from calib_core.errors import Refused  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as work:
        spoilt = spoiler(Path(made), types=types).spoilt(seed)
        good = spoilt.good
        for name, data in spoilt.files.items():
            (Path(work) / name).write_bytes(data)
        try:
            gold = Path(work) / good.gold if good.gold else None
            readers.read(Path(work) / good.main, gold=gold).runs(skip_bad_rows=True)
        except Refused as refusal:
            if good.main in str(refusal):
                return
        yield f"{good.id}: the reading process {how}, and in one of its own it was read"


def _start(*, types: bool) -> subprocess.Popen[bytes]:
    """A reading process that has read the good files. Raises RuntimeError where it does not come so far."""
    paths = os.pathsep.join((str(HERE.parent.parent), str(HERE.parent)))
    process = subprocess.Popen(
        [sys.executable, __file__, "--read", *(["--types"] if types else [])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": paths, "POLARS_MAX_THREADS": "1"},
    )
    if answer(process, b"", WAIT_SECONDS) != b"ready\n":
        process.kill()
        raise RuntimeError("the reading process did not start; it said why above")
    return process


def answer(process: subprocess.Popen[bytes], asked: bytes, seconds: float) -> bytes:
    """The next line of what it says; b"" where it ended, or said nothing in so much processor time."""
    assert process.stdin is not None
    assert process.stdout is not None
    before, until = _processor_seconds(process), time.monotonic() + WAIT_SECONDS
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(asked)
        process.stdin.flush()
    ready: list[Any] = []
    while not ready and time.monotonic() < until and _processor_seconds(process) - before < seconds:
        ready, _, _ = select.select([process.stdout], [], [], 0.2)
    line = process.stdout.readline() if ready else b""
    if ready and not line:
        process.wait()
    return line


def _processor_seconds(process: subprocess.Popen[bytes]) -> float:
    """The processor time that it used so far."""
    times = psutil.Process(process.pid).cpu_times()
    return times.user + times.system


def judged(seeds: Iterable[int], *, types: bool = False) -> Iterator[dict[str, Any]]:
    """What is said of each seed's mutant."""
    reader = Reader(types=types)
    try:
        for seed in seeds:
            yield reader.judged(seed)
    finally:
        reader.stop()


def main() -> int:
    """The command line: 1 where anything was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--number", type=int, default=20_000, help="how many files are spoilt")
    parser.add_argument("--seed", type=int, default=0, help="of the first one")
    parser.add_argument("--types", action="store_true", help="give values of JSON another type instead")
    parser.add_argument("--read", action="store_true", help=argparse.SUPPRESS)
    wish = parser.parse_args()
    if wish.read:
        read_on(types=wish.types)
        return 0
    begun, found, outcomes = time.monotonic(), 0, Counter[tuple[str, str]]()
    for said in judged(range(wish.seed, wish.seed + wish.number), types=wish.types):
        outcomes[said["way"], said["outcome"]] += 1
        found += bool(said["faults"])
        if said["outcome"] == "mixed":
            print(f"seed {said['seed']}, {said['good']}: to be read by a person, see silence.py", flush=True)  # noqa: T201
        for fault in said["faults"]:
            print(f"seed {said['seed']}, {said['good']}: {fault}", flush=True)  # noqa: T201
    print(table(outcomes))  # noqa: T201
    print(f"{wish.number:,} spoilt files in {time.monotonic() - begun:.0f} s: {found:,} faults")  # noqa: T201
    return 1 if found else 0


def table(outcomes: Mapping[tuple[str, str], int]) -> str:
    """How often each way of spoiling led to each outcome, and the sums, as Markdown."""
    ways, names = sorted({way for way, _ in outcomes}), OUTCOMES
    rows = {way: [outcomes.get((way, name), 0) for name in names] for way in ways}
    rows["all"] = [sum(column) for column in zip(*rows.values(), strict=True)]
    lines = [["", *names], ["---", *["--:"] * len(names)]]
    lines += [[way, *(f"{count:,}" for count in counts)] for way, counts in rows.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
