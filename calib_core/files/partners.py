"""Which files beside each other are read together?  Arrays with their targets, a log with its results."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from calib_core.files.isolation.handles import beside, is_there
from calib_core.problems import Refused
from calib_core.tokens.scales import Scale

SCALES: Final[tuple[Scale, ...]] = ("probs", "logprobs", "logits")
"""What an array of distributions may hold, and so is called."""

TARGET: Final = "target.npy"
META: Final = "meta.json"
COLUMNS: Final = "columns.npy"
"""Sums by class of a file of top lists, named in its metadata."""

MOST_COLUMNS: Final = 64
"""Files of such sums that are kept at hand for one file."""

HELM_STATE: Final = "scenario_state.json"
HELM_STATS: Final = "per_instance_stats.json"
HELM_RUN: Final = (HELM_STATE, HELM_STATS, "run_spec.json", "stats.json")
"""The files of one HELM run that are read together."""

HELM_OTHERS: Final = ("run_spec.json", "stats.json", "scenario.json", "instances.json")
"""Files of a HELM run that hold no predictions."""

_RESULTS: Final = re.compile(r"results_(?P<stamp>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.json")
_SAMPLES_LOG: Final = re.compile(r"samples_.+_(?P<stamp>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl")
"""`samples_<task>_<time>.jsonl`, beside the `results_<time>.json` of the same time."""

_SAVE: Final = (
    "Save the distributions as X.probs.npy (or X.logprobs.npy, X.logits.npy) and the right classes as "
    "X.target.npy beside it, or both in one archive: numpy.savez(file, probs=…, target=…)."
)


@dataclass(frozen=True, slots=True)
class Pair:
    """The files of one pair. scale: what the values are; meta: None where there is none."""

    scale: Scale
    values: Path
    target: Path
    meta: Path | None


def is_partner(path: Path) -> bool:
    """Whether a file is only the target, metadata, sums by class or results of a file beside it."""
    return main_of(path) is not None or _stem(path, COLUMNS) is not None or _has_samples(path)


def main_of(path: Path) -> Path | None:
    """The file that this one is only read with; None where there is none, or it stands alone.

    Of a target or metadata the array, of a HELM run's other files its states, else its statistics.
    """
    for ending in (TARGET, META):
        if (stem := _stem(path, ending)) is not None:
            names = (path.with_name(f"{stem}{scale}.npy") for scale in SCALES)
            return next((name for name in names if is_there(name)), None)
    leading = (HELM_STATE, HELM_STATS) if path.name in HELM_OTHERS else (HELM_STATE,)
    if path.name in (*HELM_OTHERS, HELM_STATS):
        return next((main for name in leading if is_there(main := path.with_name(name))), None)
    return None


def _has_samples(path: Path) -> bool:
    """Whether a results file of lm-evaluation-harness lies beside a samples log of the same time."""
    results = _RESULTS.fullmatch(path.name)
    return results is not None and any(path.parent.glob(f"samples_*_{results['stamp']}.jsonl"))


def companions(path: Path) -> tuple[Path, ...]:
    """The other files that are read with this one where they are there; () where it stands alone.

    Of an array its target and metadata; of a samples log of lm-evaluation-harness the results written at
    the same time; of a HELM file the others of its run's folder that describe it.
    """
    for scale in SCALES:
        if (stem := _stem(path, f"{scale}.npy")) is not None:
            return (path.with_name(stem + TARGET), path.with_name(stem + META))
    if (log := _SAMPLES_LOG.fullmatch(path.name)) is not None:
        return (path.with_name(f"results_{log['stamp']}.json"),)
    if path.name in HELM_RUN:
        return tuple(path.with_name(name) for name in HELM_RUN if name != path.name)
    return ()


def read_with(path: Path) -> dict[str, Path]:
    """Name → path of the files that may be read with this one and are there; none leads elsewhere.

    Beside its companions the array that it is only a part of, and the files of sums by class that its
    metadata may name: those whose names are most like its own, if there are many.
    """
    main = main_of(path)
    others = [*companions(path), *(() if main is None else (main,)), *_columns_beside(path)]
    return {other.name: other for other in others if beside(path, other)}


def _columns_beside(path: Path) -> list[Path]:
    try:
        sums = [other for other in path.parent.iterdir() if _stem(other, COLUMNS) is not None]
    except (OSError, ValueError):
        return []
    sums.sort(key=lambda other: (-_alike(other.name, path.name), other.name))
    return [path.with_name(other.name) for other in sums[:MOST_COLUMNS] if other.name != path.name]


def _alike(one: str, other: str) -> int:
    """How many characters two names begin with in common."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))


def pair_of(path: Path, file: str) -> Pair:
    """The pair that an array's file begins. file: as messages call it.

    Raises Refused where its name says nothing of what it holds, or where its target is not there or is a
    link that leads to another folder than the array's own.
    """
    for scale in SCALES:
        if (stem := _stem(path, f"{scale}.npy")) is not None:
            target, meta = path.with_name(stem + TARGET), path.with_name(stem + META)
            if not beside(path, target):
                raise Refused(f"{file} needs the file {target.name} beside it, which is not there. {_SAVE}")
            return Pair(scale, path, target, meta if beside(path, meta) else None)
    if (main := main_of(path)) is not None:
        raise Refused(f"{file} belongs to {main.name}: open that file, and this one is read with it.")
    raise Refused(f"{file} is one NumPy array, and nothing says what it holds. {_SAVE}")


def _stem(path: Path, ending: str) -> str | None:
    """What stands before the ending, with the full stop after it; None where the name ends otherwise."""
    name = path.name
    if name.lower() == ending:
        return ""
    return name[: -len(ending)] if name.lower().endswith(f".{ending}") else None
