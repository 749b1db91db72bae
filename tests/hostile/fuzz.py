"""A spoilt file leads to a result or a message, and no number changes silently.

    python tests/hostile/fuzz.py --number 100000 --seed 7      (make fuzz N=100000 SEED=7)

One process corrupts and reads (`--read`); another gives it the seeds and notices if it dies or hangs. A file
that causes this is read again as in the app, in a separate process, and must produce a message there.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import select
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
SECONDS: Final = 10.0
"""How long one mutant may take."""
START_SECONDS: Final = 60.0


def spoilt(goods: Any, seed: int) -> tuple[Any, dict[str, bytes]]:
    """The good file that this seed falls to, and its files with one of them spoilt."""
    from hostile.mutate import mutant  # noqa: PLC0415  the parent needs none of it

    good, name, changes, chance = drawn(goods, seed)
    return good, {**good.files, name: mutant(chance, good.files[name], changes)}


def drawn(goods: Any, seed: int) -> tuple[Any, str, list[Any], random.Random]:
    """The good file for this seed, the name of the file to spoil, the changes, and the random generator."""
    from hostile.mutate import draw_changes  # noqa: PLC0415  the parent needs none of it

    chance = random.Random(seed)  # noqa: S311  spoilt files, not keys
    good = goods[seed % len(goods)]
    name = good.main if chance.random() < 0.8 else chance.choice(sorted(good.files))
    return good, name, draw_changes(chance, text=name not in good.binary), chance


def read_on() -> None:
    """Reads the mutant of each seed that comes in; one JSON object a line goes out."""
    from hostile.good_files import goods  # noqa: PLC0415
    from hostile.verdict import Judge  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as work:
        known = goods(Path(made))
        judge = Judge(Path(work), known)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        for line in sys.stdin:
            seed = int(line)
            try:
                good, files = spoilt(known, seed)
                said = judge.faults(good, files)
            except MemoryError:
                raise  # this process has no limit: the file is read again in one that has
            except BaseException:  # noqa: BLE001  a panic is no Exception
                said = {"outcome": "crash", "faults": [traceback.format_exc()[-2000:]]}
            sys.stdout.write(json.dumps({"seed": seed, "good": known[seed % len(known)].id, **said}) + "\n")
            sys.stdout.flush()


class Reader:
    """The reading process, started again where it ended."""

    def __init__(self) -> None:
        self._process = _start()

    def judged(self, seed: int) -> dict[str, Any]:
        """What is said of this seed's mutant; of one that ended the process, or hung, that."""
        line = _answer(self._process, b"%d\n" % seed, SECONDS)
        if line:
            return json.loads(line)
        status = self._process.poll()
        self.stop()
        self._process = _start()
        how = f"was not done after {SECONDS:.0f} s" if status is None else f"ended with {status}"
        return {"seed": seed, "good": "?", "outcome": "ended", "faults": list(_apart(seed, how))}

    def stop(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                assert pipe is not None
                pipe.close()


def _apart(seed: int, how: str) -> Iterator[str]:
    """What ends a process must do so in one of its own, as the app reads it, and become a message here."""
    from calib_core import readers  # noqa: PLC0415
    from calib_core.errors import Refused  # noqa: PLC0415
    from hostile.good_files import goods  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as work:
        good, contents = spoilt(goods(Path(made)), seed)
        for name, data in contents.items():
            (Path(work) / name).write_bytes(data)
        try:
            readers.read(Path(work) / good.main, gold=Path(work) / good.gold if good.gold else None)
        except Refused as refusal:
            if good.main in str(refusal):
                return
        yield f"{good.id}: the reading process {how}, and in one of its own it was read"


def _start() -> subprocess.Popen[bytes]:
    """A reading process that has read the good files. Raises RuntimeError where it does not come so far."""
    paths = os.pathsep.join((str(HERE.parent.parent), str(HERE.parent)))
    process = subprocess.Popen(
        [sys.executable, __file__, "--read"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": paths, "POLARS_MAX_THREADS": "1"},
    )
    if _answer(process, b"", START_SECONDS) != b"ready\n":
        process.kill()
        raise RuntimeError("the reading process did not start; it said why above")
    return process


def _answer(process: subprocess.Popen[bytes], asked: bytes, seconds: float) -> bytes:
    """The next line of what it says; b"" where it ended, or said nothing for so long."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(asked)
        process.stdin.flush()
    ready, _, _ = select.select([process.stdout], [], [], seconds)
    line = process.stdout.readline() if ready else b""
    if ready and not line:
        process.wait()
    return line


def judged(seeds: Iterable[int]) -> Iterator[dict[str, Any]]:
    """What is said of each seed's mutant."""
    reader = Reader()
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
    parser.add_argument("--read", action="store_true", help=argparse.SUPPRESS)
    wish = parser.parse_args()
    if wish.read:
        read_on()
        return 0
    begun, found, outcomes = time.monotonic(), 0, dict[str, int]()
    for said in judged(range(wish.seed, wish.seed + wish.number)):
        outcomes[said["outcome"]] = outcomes.get(said["outcome"], 0) + 1
        found += bool(said["faults"])
        for fault in said["faults"]:
            print(f"seed {said['seed']}, {said['good']}: {fault}", flush=True)  # noqa: T201
    told = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(outcomes.items()))
    print(f"{wish.number:,} spoilt files in {time.monotonic() - begun:.0f} s: {told}; {found:,} faults")  # noqa: T201
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
