"""Which files in one folder are read together?  Arrays with their targets, a log with its results."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from calib_core.errors import Refused
from calib_core.readers.file_access import file_exists, is_in_same_folder, is_settled
from calib_core.tokens.scales import ProbabilityScale

ARRAY_SCALES: Final[tuple[ProbabilityScale, ...]] = ("probs", "logprobs", "logits")
"""What an array of distributions may hold; the file name says which (`X.probs.npy`)."""

TARGET_SUFFIX: Final = "target.npy"
METADATA_SUFFIX: Final = "meta.json"
COLUMN_SUMS_SUFFIX: Final = "columns.npy"
"""Probability sums by class that go with a file of top-k lists; its metadata names the file."""

MAX_COLUMN_SUMS_FILES: Final = 64
"""Limit on the files of class sums that are opened for one file of top-k lists."""

HELM_SCENARIO_STATE: Final = "scenario_state.json"
HELM_INSTANCE_STATS: Final = "per_instance_stats.json"
HELM_RUN_FILES: Final = (HELM_SCENARIO_STATE, HELM_INSTANCE_STATS, "run_spec.json", "stats.json")
"""The files of one HELM run that are read together."""

HELM_FILES_WITHOUT_PREDICTIONS: Final = ("run_spec.json", "stats.json", "scenario.json", "instances.json")
"""Files of a HELM run that hold no predictions."""

_RESULTS_NAME: Final = re.compile(r"results_(?P<stamp>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.json")
_SAMPLES_NAME: Final = re.compile(
    r"samples_.+_(?P<stamp>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl(?:\.\w+)?"
)
"""`samples_<task>_<time>.jsonl`, perhaps packed, beside the `results_<time>.json` of the same time."""

ARROW_METADATA: Final = {
    "dataset_info.json": "*.arrow",
    "state.json": "*.arrow",
    "dataset_dict.json": "*/*.arrow",
}
"""What Hugging Face datasets saves with a data set → the files that hold the rows, below the same folder."""

_SAVE_ADVICE: Final = (
    "Save the distributions as X.probs.npy (or X.logprobs.npy, X.logits.npy) and the right classes as "
    "X.target.npy beside it, or both in one archive: numpy.savez(file, probs=…, target=…)."
)


@dataclass(frozen=True, slots=True)
class ArrayFiles:
    """An array of distributions and the files that belong to it.

    Attributes
    ----------
    scale
        What the values are: probabilities, log-probabilities or logits.
    values, target
        The array and the right classes.
    metadata
        None if there is no such file.
    """

    scale: ProbabilityScale
    values: Path
    target: Path
    metadata: Path | None


def is_companion(path: Path) -> bool:
    """Return whether a file only belongs to another: its target, metadata, class sums or results."""
    return (
        main_file_of(path) is not None
        or _stem_before(path, COLUMN_SUMS_SUFFIX) is not None
        or _has_samples_file(path)
        or _describes_arrow_files(path)
    )


def main_file_of(path: Path) -> Path | None:
    """Return the main file that this one belongs to; None if there is none.

    The main file of a target or metadata file is the array; that of the other files of a HELM run is
    `scenario_state.json`, or `per_instance_stats.json` if that is missing.
    """
    for suffix in (TARGET_SUFFIX, METADATA_SUFFIX):
        if (stem := _stem_before(path, suffix)) is not None:
            names = (path.with_name(f"{stem}{scale}.npy") for scale in ARRAY_SCALES)
            return next((name for name in names if file_exists(name)), None)
    main_names = (
        (HELM_SCENARIO_STATE, HELM_INSTANCE_STATS)
        if path.name in HELM_FILES_WITHOUT_PREDICTIONS
        else (HELM_SCENARIO_STATE,)
    )
    if path.name in (*HELM_FILES_WITHOUT_PREDICTIONS, HELM_INSTANCE_STATS):
        return next((main for name in main_names if file_exists(main := path.with_name(name))), None)
    return None


def _has_samples_file(path: Path) -> bool:
    """Return whether a results file of lm-evaluation-harness has a samples log of the same time beside it."""
    results = _RESULTS_NAME.fullmatch(path.name)
    return results is not None and any(path.parent.glob(f"samples_*_{results['stamp']}.jsonl*"))


def _describes_arrow_files(path: Path) -> bool:
    """Return whether this is metadata of a data set whose rows lie beside it, or in folders beside it."""
    pattern = ARROW_METADATA.get(path.name)
    return pattern is not None and any(path.parent.glob(pattern))


def expected_companions(path: Path) -> tuple[Path, ...]:
    """Return the files that are read together with this one if they exist.

    For an array, its target and metadata; for a samples log of lm-evaluation-harness, the results written
    at the same time; for a HELM file, the other files of its run; for any other file, ().
    """
    for scale in ARRAY_SCALES:
        if (stem := _stem_before(path, f"{scale}.npy")) is not None:
            return (path.with_name(stem + TARGET_SUFFIX), path.with_name(stem + METADATA_SUFFIX))
    if (log := _SAMPLES_NAME.fullmatch(path.name)) is not None:
        return (path.with_name(f"results_{log['stamp']}.json"),)
    if path.name in HELM_RUN_FILES:
        return tuple(path.with_name(name) for name in HELM_RUN_FILES if name != path.name)
    return ()


def existing_companions(path: Path) -> dict[str, Path]:
    """Map name → path of the existing files that may be read together with this one.

    These are its companions, the main file that it belongs to, and files of class sums, which its metadata
    may name: those whose names are most like its own if there are many. All lie in the same folder, with
    links followed.
    """
    main = main_file_of(path)
    others = [*expected_companions(path), *(() if main is None else (main,)), *_column_sums_files(path)]
    return {other.name: other for other in others if is_in_same_folder(path, other)}


def _column_sums_files(path: Path) -> list[Path]:
    try:
        candidates = [path.with_name(name) for name in _column_sums_names(path.parent)]
    except (OSError, ValueError):
        return []
    sums = [other for other in candidates if _stem_before(other, COLUMN_SUMS_SUFFIX) is not None]
    sums.sort(key=lambda other: (-_common_prefix_length(other.name, path.name), other.name))
    return [other for other in sums[:MAX_COLUMN_SUMS_FILES] if other.name != path.name]


def _column_sums_names(folder: Path) -> list[str]:
    """Return which names in a folder end as those of class sums do, remembered while nothing changed there.

    A folder is asked about for each of its files, of which there may be thousands.
    """
    status = folder.stat()
    look = _remembered_names if is_settled(status) else _remembered_names.__wrapped__
    return look(folder.absolute(), status.st_ino, status.st_mtime_ns)


@lru_cache(maxsize=4)
def _remembered_names(folder: Path, _inode: int, _changed: int) -> list[str]:
    length = len(COLUMN_SUMS_SUFFIX)
    names = os.listdir(folder)  # noqa: PTH208  as texts: each is a path only where it is wanted
    return [name for name in names if name[-length:].lower() == COLUMN_SUMS_SUFFIX]


def _common_prefix_length(first: str, second: str) -> int:
    """Return the length of the longest common prefix of two names."""
    return next(
        (index for index, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), len(first)
    )


def array_files_of(path: Path, file: str) -> ArrayFiles:
    """Find the files that belong to an array.

    Parameters
    ----------
    path
        The array, `X.probs.npy`, `X.logprobs.npy` or `X.logits.npy`.
    file
        What messages call the file.

    Raises
    ------
    Refused
        The name does not say what the array holds, or the target is missing or a link to another folder.
    """
    for scale in ARRAY_SCALES:
        if (stem := _stem_before(path, f"{scale}.npy")) is not None:
            target, metadata = path.with_name(stem + TARGET_SUFFIX), path.with_name(stem + METADATA_SUFFIX)
            if not is_in_same_folder(path, target):
                raise Refused(
                    f"{file} needs the file {target.name} beside it, which is not there. {_SAVE_ADVICE}"
                )
            return ArrayFiles(scale, path, target, metadata if is_in_same_folder(path, metadata) else None)
    if (main := main_file_of(path)) is not None:
        raise Refused(f"{file} belongs to {main.name}: open that file, and this one is read with it.")
    raise Refused(f"{file} is one NumPy array, and nothing says what it holds. {_SAVE_ADVICE}")


def _stem_before(path: Path, suffix: str) -> str | None:
    """Return the part of the name before the suffix, with its dot; None if the suffix differs."""
    name = path.name
    if name.lower() == suffix:
        return ""
    return name[: -len(suffix)] if name.lower().endswith(f".{suffix}") else None
