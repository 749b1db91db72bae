"""Which files does a verb read that writes one, each once, and none of them the one it writes?"""

from __future__ import annotations

from pathlib import Path

from calib_core.cli.desk import Desk
from calib_core.cli.sources import Source
from calib_core.files.partners import companions
from calib_core.files.saving import check_target, real
from calib_core.problems import Refused


def inputs_beside(desk: Desk, source: Source, output: Path, verb: str) -> dict[Path, str]:
    """Every file and its name, each once; verb: as a message says it.

    Raises Refused where there is none, or the output would take the place of one or of what is no file.
    """
    check_target(output)
    inputs: dict[Path, str] = {}
    known: set[Path] = set()
    for path, name in desk.files(source):
        check_target(output, (path, *companions(path), *([source.gold] if source.gold else [])))
        if real(path) in known:
            desk.tell(f"{name} was given twice and is read once.")
            continue
        known.add(real(path))
        inputs[path] = name
    if not inputs and not desk.code:
        raise Refused(f"There is no file to {verb}.")
    return inputs
