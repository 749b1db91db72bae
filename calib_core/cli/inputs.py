"""Which files does a verb read that writes one, each once, and none of them the one it writes?"""

from __future__ import annotations

from pathlib import Path

from calib_core.cli.desk import Runner
from calib_core.cli.sources import InputFiles
from calib_core.files.partners import expected_companions
from calib_core.files.saving import check_output_path, resolved_path
from calib_core.problems import Refused


def input_paths(runner: Runner, input_files: InputFiles, output: Path, verb: str) -> dict[Path, str]:
    """Every file and its name, each once; verb: as a message says it.

    Raises Refused where there is none, or the output would take the place of one or of what is no file.
    """
    check_output_path(output)
    inputs: dict[Path, str] = {}
    known: set[Path] = set()
    for path, name in runner.input_files(input_files):
        check_output_path(output, (path, *expected_companions(path), *([input_files.gold] if input_files.gold else [])))
        if resolved_path(path) in known:
            runner.message(f"{name} was given twice and is read once.")
            continue
        known.add(resolved_path(path))
        inputs[path] = name
    if not inputs and not runner.code:
        raise Refused(f"There is no file to {verb}.")
    return inputs
