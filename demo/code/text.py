"""The training and test text: Python's standard library, split by file."""

from __future__ import annotations

import sysconfig
import tokenize
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

LEFT_OUT: Final = frozenset(
    {
        "__phello__",
        "encodings",
        "idle_test",
        "pydoc_data",
        "site-packages",
        "test",
        "tests",
    }
)
"""Folders left out: tests, generated tables, installed packages."""

_GENERATED: Final = "_sysconfigdata"


@dataclass(frozen=True, slots=True)
class Source:
    """One file. name: its path in the library, with `/`."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Texts:
    """Two lists of files without a file in common."""

    train: tuple[Source, ...]
    test: tuple[Source, ...]


def library() -> list[Source]:
    """Every file used, sorted by name, with Unix line ends."""
    root = Path(sysconfig.get_path("stdlib"))
    names = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py"))
    return [_read(root, name) for name in names if _taken(name)]


def _taken(name: str) -> bool:
    *folders, file = name.split("/")
    machines = any(folder.startswith("config-") for folder in folders)
    return LEFT_OUT.isdisjoint(folders) and not machines and not file.startswith(_GENERATED)


def _read(root: Path, name: str) -> Source:
    with tokenize.open(root / name) as file:  # respects the encoding declaration
        return Source(name, file.read())


def split(sources: list[Source], share: float, seed: int) -> Texts:
    """Shuffles the files and puts about `share` of them into the test set; the seed determines the split."""
    order = Random(seed).sample(sources, len(sources))  # noqa: S311 - has to be reproducible
    count = round(share * len(order))
    return Texts(train=tuple(order[count:]), test=tuple(order[:count]))
