"""List the modules that a CSV of 60 rows passes through until it is a picture, and count `load`'s functions.

Reads the file in this process, checks it and draws its reliability diagram, once to import and fill what is
kept, and once to note whose functions run. Then loads two arrays likewise. ARCHITECTURE.md quotes both.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Final

from calib_core import load, readers
from calib_core.figures.palette import LIGHT
from calib_core.figures.reliability import reliability_figure
from calib_core.results.evidence import gather_evidence
from calib_core.results.files import check_file
from calib_core.results.reliability import reliability_diagram

ROWS: Final = 60
ROOT: Final = Path(readers.__file__).parents[2]


def write_quiz(folder: Path) -> Path:
    """Write a table with an id, a confidence and an outcome in each row."""
    drawn = random.Random(3)  # noqa: S311
    rows = (f"q{at},{drawn.random():.3f},{drawn.randint(0, 1)}\n" for at in range(ROWS))
    path = folder / "quiz.csv"
    path.write_text("id,confidence,correct\n" + "".join(rows), encoding="utf-8")
    return path


def read_check_draw(path: Path) -> dict[str, Any]:
    """From the bytes of the file to its reliability diagram."""
    reading = readers.read_in_this_process(path, file=path.name)
    check_file(reading)
    (run,) = reading.good_runs
    return reliability_figure(reliability_diagram(gather_evidence(run, "given"), "ece"), LIGHT)


def load_arrays() -> None:
    """From two arrays to a run."""
    load(confidence=[0.3, 0.8], correct=[0, 1])


def functions_by_module(trip: Callable[[], object]) -> dict[str, set[str]]:
    """Return the names of the functions that run, by the path of their module; importing does not count."""
    found: dict[str, set[str]] = {}

    def note(frame: FrameType, _event: str, _argument: object) -> None:
        code = frame.f_code
        if code.co_filename.startswith(str(ROOT / "calib_core")) and code.co_name != "<module>":
            module = str(Path(code.co_filename).relative_to(ROOT))
            found.setdefault(module, set()).add(code.co_qualname)

    sys.setprofile(note)
    try:
        trip()
    finally:
        sys.setprofile(None)
    return found


def main() -> None:
    """Print every module with the number of its functions that ran."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_quiz(Path(folder))
        read_check_draw(path)
        found = functions_by_module(lambda: read_check_draw(path))
    for module, names in sorted(found.items()):
        print(f"{len(names):4} {module}")
    print(f"{len(found)} modules, {sum(map(len, found.values()))} functions")
    load_arrays()
    print(f"load of two arrays: {sum(map(len, functions_by_module(load_arrays).values()))} functions")


if __name__ == "__main__":
    main()
