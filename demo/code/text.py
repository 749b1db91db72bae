"""Which text is learnt from, and which is predicted?  Python's own standard library, split by file."""

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
        "idlelib",
        "lib2to3",
        "pydoc_data",
        "site-packages",
        "test",
        "tests",
        "turtledemo",
    }
)
"""Folders that are passed over: tests, generated tables, programs that are no library, what pip installed."""

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
    """Every file that is taken, in the order of the names, with the line ends of Unix."""
    root = Path(sysconfig.get_path("stdlib"))
    names = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py"))
    return [_read(root, name) for name in names if _taken(name)]


def _taken(name: str) -> bool:
    *folders, file = name.split("/")
    machines = any(folder.startswith("config-") for folder in folders)
    return LEFT_OUT.isdisjoint(folders) and not machines and not file.startswith(_GENERATED)


def _read(root: Path, name: str) -> Source:
    with tokenize.open(root / name) as file:  # knows the coding line
        return Source(name, file.read())


def split(sources: list[Source], share: float, seed: int) -> Texts:
    """Shuffles the files and takes about `share` of them for the test; the same split for the same seed."""
    order = Random(seed).sample(sources, len(sources))  # noqa: S311 - a stream that can be had again is the point
    count = round(share * len(order))
    return Texts(train=tuple(order[count:]), test=tuple(order[:count]))
