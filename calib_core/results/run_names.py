"""moved."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from calib_core.runs import RunInfo

# MERGED families: Which runs are one model in several sizes, how many models are there, and what is each called for short?

_SIZE_PATTERN: Final = re.compile(r"(?<![a-z0-9.])(?:\d+x)?\d+(?:\.\d+)?[kmbt](?![a-z0-9])", re.IGNORECASE)
"""A number of parameters in a name: "7b", "13B", "0.2M", "35k", "8x7B"."""

_OWNER_SEPARATOR, _PART_SEPARATOR, _WORD_SEPARATOR = "/", " · ", "_"
"""What stands between whose a model is and its name, parts of a run's name, and words of a file's."""

_MAX_SHORT_LENGTH: Final = 20
"""Letters of a name that can be read beside a point and in a control."""

_NAME_SEPARATORS: Final = re.compile(r"[\s_\-–·./]+")


def model_stem(model: str) -> str:
    """The model's name without its size, in lower case: "Llama-2-7b-chat" → "llama-2-chat"."""
    parts = (part for part in _NAME_SEPARATORS.split(_SIZE_PATTERN.sub(" ", model).lower()) if part)
    return "-".join(parts)


def size_families(infos: Mapping[str, RunInfo]) -> tuple[tuple[str, ...], ...]:
    """The keys of runs that are one model in several sizes, smallest first; one tuple a family.

    One family: the same stem, tuning, data set, shots and temperature, and numbers of parameters that are
    stated and all differ. Where two runs of a family are of one size nobody knows which of them follows the
    next smaller one, so they are none. In the order of their first runs.
    """
    kin: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for key, info in infos.items():
        if info.model is not None and info.params_b is not None:
            same = (model_stem(info.model), info.tuning, info.dataset, info.shots, info.temperature)
            kin[same].append(key)
    found: list[tuple[str, ...]] = []
    for keys in kin.values():
        sizes = {key: infos[key].params_b or 0.0 for key in keys}
        if 1 < len(keys) == len(set(sizes.values())):
            found.append(tuple(sorted(keys, key=sizes.__getitem__)))
    return tuple(found)


def count_models(infos: Mapping[str, RunInfo]) -> int:
    """How many models these runs are of; a run whose file names none is one of its own.

    A model is told by name, size, tuning and checkpoint: asked with more shots or about another data set it
    is the same.
    """
    return len(
        {
            (key,) if info.model is None else (info.model, info.params_b, info.tuning, info.checkpoint)
            for key, info in infos.items()
        }
    )


def short_run_names(infos: Mapping[str, RunInfo], titles: Mapping[str, str]) -> dict[str, str]:
    """What each run is called where room is scarce: its model, and what tells it from those called the same.

    titles: what it is called in full, used where the file names no model or nothing else tells runs apart.
    Where a name is longer than there is room for, what all of them share at an end is left out.
    """
    names = _distinguish(infos, titles)
    for between, end in ((_OWNER_SEPARATOR, 0), (_PART_SEPARATOR, -1), (_PART_SEPARATOR, 0)):
        names = _strip_shared_parts(names, between, end)
    if any(info.model for info in infos.values()):
        return names
    return _strip_shared_parts(_strip_shared_parts(names, _WORD_SEPARATOR, -1), _WORD_SEPARATOR, 0)


def name_with_model(name: str, info: RunInfo) -> str:
    """A short name as a sentence has it: with its model, where that is left out as all names share it."""
    model = (info.model or "").rpartition(_OWNER_SEPARATOR)[2]
    return name if model in name else f"{model}{_PART_SEPARATOR}{name}"


def _strip_shared_parts(names: dict[str, str], separator: str, end: int) -> dict[str, str]:
    """The names without the parts that all have in common at one end (0: the first, −1: the last).

    As they are where all are short, and where one would be left without a letter.
    """
    if max(map(len, names.values()), default=0) <= _MAX_SHORT_LENGTH or len(names) < 2:
        return names
    parts = {key: name.split(separator) for key, name in names.items()}
    while min(map(len, parts.values())) > 1 and len({own[end] for own in parts.values()}) == 1:
        parts = {key: own[:-1] if end else own[1:] for key, own in parts.items()}
    left = {key: separator.join(own) for key, own in parts.items()}
    return left if all(any(map(str.isalpha, name)) for name in left.values()) else names


def _distinguish(infos: Mapping[str, RunInfo], titles: Mapping[str, str]) -> dict[str, str]:
    names = {key: info.model or titles[key] for key, info in infos.items()}
    for field in ("dataset", "shots", "checkpoint", "tuning", "temperature", "params_b"):
        alike = Counter(names.values())
        for name in (name for name, times in alike.items() if times > 1):
            keys = [key for key, own in names.items() if own == name]
            said = {key: _fact_text(field, infos[key]) for key in keys}
            if len(set(said.values())) > 1:
                names |= {key: f"{name} · {said[key]}" for key in keys if said[key]}
    alike = Counter(names.values())
    return {key: name if alike[name] == 1 else titles[key] for key, name in names.items()}


def _fact_text(field: str, info: RunInfo) -> str:
    value = getattr(info, field)
    if value is None:
        return ""
    if field == "params_b":
        return f"{value:g}B"
    return {"shots": f"{value}-shot", "temperature": f"T={value}"}.get(field, str(value))


# MERGED run_places: Which place has each run among all at hand?  It is what gives a run its look, the same on every page.


def run_order(infos: Sequence[RunInfo]) -> list[int]:
    """The place of each run, from 0, each once: data set by data set, and there in the order given.

    Runs of one data set are what stands together most often, and neighbours look least alike. Of the
    checkpoints of one training only the last is among them: the others come after the runs of their data set,
    for they stand on its line.
    """
    last: dict[tuple[object, ...], int] = {}
    for info in infos:
        last[_training_key(info)] = max(last.get(_training_key(info), 0), _training_progress(info))

    def sort_key(index: int) -> tuple[str, bool]:
        info = infos[index]
        return info.dataset or "", _training_progress(info) < last[_training_key(info)]

    ordered = sorted(range(len(infos)), key=sort_key)
    return [ordered.index(at) for at in range(len(infos))]


def _training_key(info: RunInfo) -> tuple[object, ...]:
    return info.model, info.dataset, info.shots, info.tuning, info.temperature


def _training_progress(info: RunInfo) -> int:
    """Tokens seen, or the step: the two grow together."""
    return info.tokens_seen or checkpoint_step(info.checkpoint) or 0


_STEP_PATTERN: Final = re.compile(
    r"(?:^|[^a-z])(?:step|checkpoint|ckpt|iter)[-_ ]?(\d{1,15})(?!\d)", re.IGNORECASE
)


_DIGITS_PATTERN: Final = re.compile(r"\d{1,15}")
"""Of more digits than any training has steps, and than a float keeps, a number is a name."""


def checkpoint_step(checkpoint: str | None) -> int | None:
    """The step in a checkpoint's name: "step143000", "checkpoint-500", "8000"; None where there is none."""
    if checkpoint is None:
        return None
    text = checkpoint.strip()
    if _DIGITS_PATTERN.fullmatch(text):
        return int(text)
    found = _STEP_PATTERN.search(text)
    return int(found[1]) if found else None
