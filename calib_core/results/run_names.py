"""What is each run called, and which runs belong together? Short names, families of sizes, order of runs."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, Self

from calib_core.runs import RunInfo

_SIZE_PATTERN: Final = re.compile(r"(?<![a-z0-9.])(?:\d+x)?\d+(?:\.\d+)?[kmbt](?![a-z0-9])", re.IGNORECASE)
"""A number of parameters in a name: "7b", "13B", "0.2M", "35k", "8x7B"."""

_NAME_SEPARATORS: Final = re.compile(r"[\s_\-–·./]+")

_STEP_PATTERN: Final = re.compile(
    r"(?:^|[^a-z])(?:step|checkpoint|ckpt|iter)[-_ ]?(\d{1,15})(?!\d)", re.IGNORECASE
)

_DIGITS_PATTERN: Final = re.compile(r"\d{1,15}")
"""A number with more digits than any training has steps, or than a float holds, is a name."""


_OWNER_SEPARATOR, _PART_SEPARATOR, _WORD_SEPARATOR = "/", " · ", "_"
"""Between owner and model, between parts of a run's name, and between words of a file's name."""

_MAX_SHORT_LENGTH: Final = 20
"""Characters of a name that fit beside a point and in a control."""


class GivenName(str):
    """A name that the user gave a run for display: shown as it is, neither shortened nor extended.

    Attributes
    ----------
    real_name : str
        What the run is called by its file.
    """

    __slots__ = ("real_name",)
    real_name: str

    def __new__(cls, name: str, real_name: str) -> Self:
        """Return the name, which is a string like any other."""
        given = super().__new__(cls, name)
        given.real_name = real_name
        return given


def real_name(name: str) -> str:
    """What the run of this name is called by its file."""
    return name.real_name if isinstance(name, GivenName) else name


def full_name(name: str) -> str:
    """The name with the run's real one in brackets, if the user renamed the run for display.

    Examples
    --------
    >>> full_name(GivenName("Baseline", "red · quiz")), full_name("blue · quiz")
    ('Baseline (red · quiz)', 'blue · quiz')
    """
    if isinstance(name, GivenName) and not name.endswith(f"({name.real_name})"):
        return f"{name} ({name.real_name})"
    return name


def model_stem(model: str) -> str:
    """The model's name without its size, in lower case.

    Examples
    --------
    >>> model_stem("Llama-2-7b-chat")
    'llama-2-chat'
    """
    parts = (part for part in _NAME_SEPARATORS.split(_SIZE_PATTERN.sub(" ", model).lower()) if part)
    return "-".join(parts)


def size_families(infos: Mapping[str, RunInfo]) -> tuple[tuple[str, ...], ...]:
    """Families of runs: one model in several sizes.

    A family shares stem, tuning, data set, shots and temperature, and its stated numbers of parameters
    all differ. If two runs have the same size, their order would be arbitrary, so there is no family.

    Returns
    -------
    tuple[tuple[str, ...], ...]
        Keys of each family, smallest model first; families in the order of their first runs.
    """
    members: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for key, info in infos.items():
        if info.model is not None and info.params_b is not None:
            shared = (model_stem(info.model), info.tuning, info.dataset, info.shots, info.temperature)
            members[shared].append(key)
    families: list[tuple[str, ...]] = []
    for keys in members.values():
        sizes = {key: infos[key].params_b or 0.0 for key in keys}
        if 1 < len(keys) == len(set(sizes.values())):
            families.append(tuple(sorted(keys, key=sizes.__getitem__)))
    return tuple(families)


def count_models(infos: Mapping[str, RunInfo]) -> int:
    """Number of different models among these runs; a run whose file names none counts as its own.

    Name, size and tuning identify a model; shots, data set and the checkpoint of a training do not.
    """
    return len(
        {
            (key,) if info.model is None else (info.model, info.params_b, info.tuning)
            for key, info in infos.items()
        }
    )


def short_run_names(infos: Mapping[str, RunInfo], titles: Mapping[str, str]) -> dict[str, str]:
    """Short names: the model, and what distinguishes it from runs of the same name.

    Parameters
    ----------
    infos : Mapping[str, RunInfo]
    titles : Mapping[str, str]
        Full names, used where the file names no model or nothing else distinguishes runs. A `GivenName` is
        the short name, too.

    Returns
    -------
    dict[str, str]
        Key → name. Where a name is too long, parts that all names share at one end are left out.
    """
    given = {key: titles[key] for key in infos if isinstance(titles.get(key), GivenName)}
    if given:
        others = short_run_names({key: info for key, info in infos.items() if key not in given}, titles)
        taken = set(given.values())
        others = {key: titles[key] if name in taken else name for key, name in others.items()}
        return {key: given.get(key, others.get(key, "")) for key in infos}
    names = _distinguish(infos, titles)
    for separator, end in ((_OWNER_SEPARATOR, 0), (_PART_SEPARATOR, -1), (_PART_SEPARATOR, 0)):
        names = _strip_shared_parts(names, separator, end)
    if any(info.model for info in infos.values()):
        return names
    return _strip_shared_parts(_strip_shared_parts(names, _WORD_SEPARATOR, -1), _WORD_SEPARATOR, 0)


def name_with_model(name: str, info: RunInfo) -> str:
    """A short name for use in a sentence: with its model, if that was left out as all names share it."""
    if isinstance(name, GivenName):
        return name
    model = (info.model or "").rpartition(_OWNER_SEPARATOR)[2]
    return name if model in name else f"{model}{_PART_SEPARATOR}{name}"


def _strip_shared_parts(names: dict[str, str], separator: str, end: int) -> dict[str, str]:
    """The names without the parts they all share at one end (0: the first, −1: the last).

    Names remain unchanged where all are short, or where one would be left without a letter.
    """
    if max(map(len, names.values()), default=0) <= _MAX_SHORT_LENGTH or len(names) < 2:
        return names
    parts = {key: name.split(separator) for key, name in names.items()}
    while min(map(len, parts.values())) > 1 and len({own_parts[end] for own_parts in parts.values()}) == 1:
        parts = {key: own_parts[:-1] if end else own_parts[1:] for key, own_parts in parts.items()}
    stripped = {key: separator.join(own_parts) for key, own_parts in parts.items()}
    return stripped if all(any(map(str.isalpha, name)) for name in stripped.values()) else names


def _distinguish(infos: Mapping[str, RunInfo], titles: Mapping[str, str]) -> dict[str, str]:
    names = {key: info.model or titles[key] for key, info in infos.items()}
    for field in ("dataset", "shots", "checkpoint", "tuning", "temperature", "params_b"):
        n_uses = Counter(names.values())
        for name in (name for name, times in n_uses.items() if times > 1):
            keys = [key for key, other in names.items() if other == name]
            facts = {key: _fact_text(field, infos[key]) for key in keys}
            if len(set(facts.values())) > 1:
                names |= {key: f"{name} · {facts[key]}" for key in keys if facts[key]}
    n_uses = Counter(names.values())
    return {key: name if n_uses[name] == 1 else titles[key] for key, name in names.items()}


def _fact_text(field: str, info: RunInfo) -> str:
    value = getattr(info, field)
    if value is None:
        return ""
    if field == "params_b":
        return f"{value:g}B"
    return {"shots": f"{value}-shot", "temperature": f"T={value}"}.get(field, str(value))


# --- Names in little room -------------------------------------------------------------------------


def shorten_in_middle(names: Sequence[str], max_length: int) -> list[str]:
    """The names with an ellipsis in the middle of long ones, so that beginnings and what differs are kept.

    Of the ways to divide the room between beginning and end, the most even one is used by which all names
    still differ; where there is none, those that would be equal stay whole.

    Examples
    --------
    >>> shorten_in_middle(["Qwen2.5-7B-Instruct · quiz · 0-shot", "Qwen2.5-7B-Instruct · quiz · 5-shot"], 20)
    ['Qwen2.5-7…z · 0-shot', 'Qwen2.5-7…z · 5-shot']
    """
    room = max_length - 1
    splits = sorted(range(3, room - 2), key=lambda head: abs(2 * head - room))
    best = list(names)
    n_best = 0
    for head in splits:
        shortened = [_with_ellipsis(name, head, room - head) for name in names]
        n_different = len(set(shortened))
        if n_different > n_best:
            best, n_best = shortened, n_different
        if n_different == len(set(names)):
            break
    n_uses = Counter(best)
    n_whole = Counter(names)
    return [
        short if n_uses[short] == n_whole[name] else name for short, name in zip(best, names, strict=True)
    ]


def _with_ellipsis(name: str, head: int, tail: int) -> str:
    return name if len(name) <= head + tail + 1 else f"{name[:head].rstrip()}…{name[-tail:].lstrip()}"


# --- Order of runs, and checkpoints ---------------------------------------------------------------


def run_order(infos: Sequence[RunInfo]) -> list[int]:
    """The place of each run, from 0, which decides its colour and symbol on every page.

    Runs are ordered data set by data set, then as given: runs of one data set are shown together most
    often, and neighbouring positions look most different. Of the checkpoints of one training only the last
    takes part; the others follow the runs of their data set, since they lie on the same line.

    Returns
    -------
    list[int]
        In the order of `infos`; a permutation of 0 to n − 1.
    """
    last: dict[tuple[object, ...], int] = {}
    for info in infos:
        last[_training_key(info)] = max(last.get(_training_key(info), 0), _training_progress(info))

    def sort_key(index: int) -> tuple[str, bool]:
        info = infos[index]
        return info.dataset or "", _training_progress(info) < last[_training_key(info)]

    ordered = sorted(range(len(infos)), key=sort_key)
    return [ordered.index(index) for index in range(len(infos))]


def _training_key(info: RunInfo) -> tuple[object, ...]:
    return info.model, info.dataset, info.shots, info.tuning, info.temperature


def _training_progress(info: RunInfo) -> int:
    """Tokens seen, or the step; both grow over a training."""
    return info.tokens_seen or checkpoint_step(info.checkpoint) or 0


def checkpoint_step(checkpoint: str | None) -> int | None:
    """The step in a checkpoint's name; None where there is none.

    Examples
    --------
    >>> checkpoint_step("step143000"), checkpoint_step("checkpoint-500"), checkpoint_step("final")
    (143000, 500, None)
    """
    if checkpoint is None:
        return None
    text = checkpoint.strip()
    if _DIGITS_PATTERN.fullmatch(text):
        return int(text)
    match = _STEP_PATTERN.search(text)
    return int(match[1]) if match else None
